"""The JSON Schema of model files, for editors: it comes from the same tables that files are read by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from phloat.files.control import CONTROLLER
from phloat.files.inputs import SIGNAL
from phloat.files.reading import MODEL
from phloat.system.plain import VERSION
from phloat.system.words.joints import JOINT
from phloat.system.words.matter import BEAM_MATERIAL, BEAM_SECTION, DAMPING, ELASTIC
from phloat.system.words.numbers import UNIT_TEXT
from phloat.system.words.parts import INNER

PUBLISHED = Path(__file__).with_name("model.schema.json")
SHARED = {
    "bodies": next(f.kind for f in INNER.fields if f.key == "bodies"),
    "joint": JOINT,
    "signal": SIGNAL,
    "controller": CONTROLLER,
    "system": INNER,
    "beam material": BEAM_MATERIAL,
    "section": BEAM_SECTION,
    "material": ELASTIC,
    "damping": DAMPING,
}


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a model file."""
    with_unit = {
        "type": "string",
        "pattern": UNIT_TEXT,
        "examples": ["6 mm", "200 GPa", "30 deg", "1200 rpm", "2 kN/m"],
    }
    shared = {name: kind.schema() for name, kind in SHARED.items()}
    whole = _referring(MODEL.schema(), shared)
    whole["properties"]["phloat"] = {"const": VERSION, "description": "the version of the format"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "phloat model",
        "description": "A mechanism, its start, its inputs and what is asked of it. Numbers are SI, or texts with a unit.",
        **whole,
        "$defs": {"with unit": with_unit, **{name: _inside(name, shared) for name in shared}},
    }


def _inside(name: str, shared: dict[str, Any]) -> Any:
    """A shared part, which may hold others."""
    return _referring(shared[name], {other: part for other, part in shared.items() if other != name})


def _referring(part: Any, shared: dict[str, Any]) -> Any:
    """The same with a reference wherever a shared part stands in full."""
    if isinstance(part, list):
        return [_referring(item, shared) for item in part]
    if not isinstance(part, dict):
        return part
    bare = {key: value for key, value in part.items() if key != "description"}
    for name, whole in shared.items():
        if bare == whole:
            said = {"description": part["description"]} if "description" in part else {}
            return {"$ref": f"#/$defs/{name}", **said}
    return {key: _referring(value, shared) for key, value in part.items()}


def published() -> str:
    """The schema as the text that is published with the package."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
