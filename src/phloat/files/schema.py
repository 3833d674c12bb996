"""The JSON Schema of model files, for editors: built from the same kinds that read the files."""

from __future__ import annotations

import json
from typing import Any

from phloat.files.control import CONTROLLER
from phloat.files.inputs import SIGNAL
from phloat.files.model_files import MODEL
from phloat.format.joints import JOINT
from phloat.format.kinds import WITH_UNIT, Kind
from phloat.format.materials import BEAM_MATERIAL, BEAM_SECTION, DAMPING, ELASTIC
from phloat.format.system import BODIES, SYSTEM, VERSION

SHARED: dict[str, Kind] = {
    "bodies": BODIES,
    "joint": JOINT,
    "signal": SIGNAL,
    "controller": CONTROLLER,
    "system": SYSTEM,
    "beam material": BEAM_MATERIAL,
    "section": BEAM_SECTION,
    "material": ELASTIC,
    "damping": DAMPING,
}


def model_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a model file."""
    shared = {name: kind.schema() for name, kind in SHARED.items()}
    whole = _with_references(MODEL.schema(), shared)
    whole["properties"]["phloat"] = {"const": VERSION, "description": "the version of the format"}
    definitions = {
        name: _with_references(part, {other: p for other, p in shared.items() if other != name})
        for name, part in shared.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "phloat model",
        "description": "A mechanism, its initial state, inputs and requests. Numbers are SI, or texts with a unit.",
        **whole,
        "$defs": {"with unit": WITH_UNIT, **definitions},
    }


def _with_references(part: Any, shared: dict[str, Any]) -> Any:
    """The same with a reference in place of every shared part."""
    if isinstance(part, list):
        return [_with_references(item, shared) for item in part]
    if not isinstance(part, dict):
        return part
    bare = {key: value for key, value in part.items() if key != "description"}
    for name, whole in shared.items():
        if bare == whole:
            return {"$ref": f"#/$defs/{name}", **{k: v for k, v in part.items() if k == "description"}}
    return {key: _with_references(value, shared) for key, value in part.items()}


def schema_text() -> str:
    """The schema as text."""
    return json.dumps(model_schema(), indent=1, ensure_ascii=False) + "\n"
