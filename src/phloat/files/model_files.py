"""Reading and writing model files with `load_model` and `save_model`, and their JSON schema."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from phloat.bodies import outlines
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.split import Split
from phloat.bodies.construction import Construction
from phloat.errors import InputError
from phloat.fem.mesh import Mesh
from phloat.files.inputs import CONTROLLER, INPUTS, SIGNAL, in_space
from phloat.files.locate import check_parameters
from phloat.files.model import Model
from phloat.files.requests import MODES, OUTPUT, RESPONSE, SIMULATE, SWEEP
from phloat.files.start import START, Start
from phloat.files.text import parse, read_text, to_json, to_yaml
from phloat.format.joints import JOINT
from phloat.format.kinds import NAME, WITH_UNIT, Context, Count, Kind, Text, Writer
from phloat.format.materials import BEAM_MATERIAL, BEAM_SECTION, DAMPING, ELASTIC
from phloat.format.node import Node, child
from phloat.format.records import Key, MapOf, Record
from phloat.format.system import BODIES, HEAD, SYSTEM, VERSION, plain_parts, read_tables
from phloat.system.parts import Parts, parts
from phloat.system.system import System

TITLE_KEYS = Key("name", NAME, "name of the model", ""), Key("about", Text(what="a text"), "what the model is for", "")
TITLE = Record("a title", TITLE_KEYS, Model)
USE = Record(
    "the use of a model",
    (
        Key("start", START, "the initial state", Start()),
        Key("inputs", INPUTS, "inputs over time, by port", {}),
        Key("controller", CONTROLLER, "the controller", None, "control"),
        Key("simulate", SIMULATE, "a run", None),
        Key("modes", MODES, "natural frequencies and shapes", None),
        Key("response", RESPONSE, "a frequency response", None),
        Key("sweep", SWEEP, "many runs with varying parameters", None),
        Key("outputs", MapOf(OUTPUT), "outputs of a run, by names of your choice", {}),
    ),
    Model,
)
SUFFIXES = (".yaml", ".yml", ".json")
FORMAT = Key("phloat", Count(1), f"the version of the format: {VERSION}")
SCHEMA = Key("$schema", NAME, "for editors", "")
MODEL = Record("a model", (FORMAT, *TITLE.keys, *HEAD, *SYSTEM.keys, *USE.keys, SCHEMA), Model)


def load_model(path: str | Path) -> Model:
    """The model in a YAML or JSON file.

    Nothing in a file is executed, and it can refer only to files in its own folder.

    Parameters
    ----------
    path : path
        The file, with numbers in SI units or with units, such as "30 cm".

    Returns
    -------
    Model
        `system` and `state` for `simulate`, `linearise`, …; `inputs` by port; and the requests `simulate`, `modes`, `response` and
        `sweep`, each None if it is not in the file.

    Raises
    ------
    FileError
        With the line and the key of a mistake.

    Examples
    --------
    >>> from pathlib import Path
    >>> text = "{phloat: 1, plane: xy, bodies: {slider: {point mass: 33.4 g}}, simulate: {t_end: 50 ms, dt: 1 ms}}"
    >>> _ = Path("slider.yaml").write_text(text)
    >>> model = ph.io.load_model("slider.yaml")
    >>> round(ph.parameters(model.system)["slider.mass"], 4), model.simulate.t_end
    (0.0334, 0.05)
    """
    path = Path(path)
    return replace(parse_model(read_text(path, *SUFFIXES), path.name, folder=path.parent), path=path)


def parse_model(text: str, file: str = "model.yaml", *, folder: Path | None = None) -> Model:
    """The model in a text of a model file; files that it refers to are in `folder`. Raises FileError with line and key."""
    root = parse(text, file)
    _check_version(root)
    root.require_keys([k.key for k in MODEL.keys], "a model")
    context = read_tables(root, Context(folder=folder))
    arguments = MODEL.arguments(root, context)
    plane = arguments.get("plane")
    system = {k.argument: arguments[k.argument] for k in SYSTEM.keys if k.argument in arguments}
    mechanism = replace(SYSTEM.build(root, system), gravity=arguments.get("gravity"), plane=plane)
    check_sizes(mechanism, root)
    check_parameters(context.units)
    rest = {k.argument: arguments[k.argument] for k in (*TITLE.keys, *USE.keys) if k.argument in arguments}
    rest["inputs"] = {name: in_space(value, plane is None) for name, value in rest.get("inputs", {}).items()}
    return Model(mechanism, text=text, names=context.tables, root=root, units=tuple(context.units), **rest)


def _check_version(root: Node) -> None:
    version = child(root, "phloat")
    if version is None:
        root.fail(f"'phloat' is missing: a model begins with 'phloat: {VERSION}', the version of its format")
    if (number := Count(1).read(version, Context())) > VERSION:
        version.fail(f"its format is {number}, and this phloat reads up to {VERSION}; update phloat")


# --- writing ----------------------------------------------------------------------------------------------------------


def save_model(model: Model | System, path: str | Path) -> None:
    """Writes a model or a system to a file, YAML or (.json) JSON, from which `load_model` reads the same model.

    Numbers are written in SI units with all digits. Meshes and matrices are written to .npz files in the same folder.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path.name!r} ends in {path.suffix!r}; a model is written to .yaml or .json")
    data = plain_model(model, path)
    text = to_json(data) if path.suffix.lower() == ".json" else to_yaml(data)
    path.write_text(text, encoding="utf-8")


def plain_model(model: Model | System, path: Path | None = None) -> dict[str, Any]:
    """A model as plain data; `path` is the file it is for, in whose folder arrays are written."""
    if isinstance(model, System):
        model = Model(parts(model))
    if not isinstance(model, Model):
        raise InputError(f"{type(model).__name__} is neither a Model nor a System")
    store = None if path is None else array_writer(path)
    data, writer = plain_parts(model.parts, model.names, store), Writer(arrays=store)
    return {"phloat": VERSION} | TITLE.write(model, writer) | data | USE.write(model, writer)


def array_writer(path: Path) -> Callable[[str, Mapping[str, Any]], str]:
    """A function (name, arrays) that writes arrays to a file in the folder of a model and returns the name of that file."""
    used = set[str]()

    def write(name: str, arrays: Mapping[str, Any]) -> str:
        word = re.sub(r"[^\w-]+", "_", name)
        while word in used:
            word += "_"
        used.add(word)
        file = f"{path.stem}.{word}.npz"
        np.savez_compressed(path.with_name(file), **dict(arrays))
        return file

    return write


# --- limits ----------------------------------------------------------------------------------------------------------
#
# Files can come from unknown sources, so large models are refused before they take memory. There are no such limits in Python.


MAX_ELEMENTS = 2_000  # elements of a beam or of a piece of a beam
MAX_CELLS = 200_000  # cells of all bodies of a file, elements of beams included


def check_sizes(parts: Parts, root: Node) -> int:
    """The number of elements and cells of all bodies. Raises FileError if it is too large for a file."""
    total = 0
    for name, part in parts.bodies.items():
        node = child(root, "bodies", name) or root
        if isinstance(part, Parts):
            total += check_sizes(part, child(node, "system") or node)
        else:
            total += _body_size(part, node)
        if total > MAX_CELLS:
            node.fail(f"the bodies up to here have {_number(total)} elements and cells; at most {MAX_CELLS} are read")
    return total


def _body_size(part: Construction, node: Node) -> int:
    """The number of elements or cells of a body. Raises FileError if it is too large."""
    step = next((step for step in part.steps if step.method == "discretise"), None)
    cells = step.arguments[0] if step is not None and step.arguments else None
    recipe = part.recipe
    if isinstance(recipe, Beam | Split):
        elements = int(cells) if isinstance(cells, int | np.integer) else max(len(cells or ()) - 1, 0)
        pieces = recipe.pieces if isinstance(recipe, Split) else 1
        if elements > MAX_ELEMENTS or pieces > MAX_ELEMENTS:
            largest = _number(max(elements, pieces))
            node.fail(f"{largest} elements or pieces; a beam in a file has at most {MAX_ELEMENTS} of each")
        return elements * pieces
    shape = getattr(recipe, "outline", getattr(recipe, "mesh", None))
    if shape is None or step is None:
        return 0
    count = _cells(shape, cells) * 2.0 ** (_axes(shape) * min(int(step.options.get("refine") or 0), 100))
    if count > MAX_CELLS:
        node.fail(f"about {_number(count)} cells; a file has at most {MAX_CELLS}")
    return int(count)


def _cells(shape: Any, numbers: Any) -> float:
    """The approximate number of cells of an outline, for numbers of cells along the longest side or along each side."""
    if isinstance(shape, Mesh):
        return float(shape.cells.shape[0])
    counts = np.ravel(numbers or 0.0).tolist()
    n = float(counts[0])
    if len(counts) > 1:
        return math.prod(counts)
    if isinstance(shape, outlines.BracketOutline):
        t = shape.thickness
        return n**3 * (shape.a + shape.b) / t * max(shape.width / t, 1.0)
    if isinstance(shape, outlines.PlateDisc):
        return n * max(12.0, n * math.pi * (shape.radius + shape.inner) / (shape.radius - shape.inner))
    if isinstance(shape, outlines.TubeOutline):
        sides = [shape.length, shape.outer - shape.inner, math.pi * (shape.outer + shape.inner)]
    else:
        sides = [getattr(shape, side) for side in "abc" if hasattr(shape, side)]
    return math.prod(max(1.0, n * side / max(sides)) for side in sides)


def _axes(shape: Any) -> int:
    """The dimension of an outline or mesh, 2 or 3."""
    if isinstance(shape, Mesh):
        return shape.points.shape[1]
    flat = outlines.RectangleOutline | outlines.PlateRectangle | outlines.PlateDisc
    return 2 if isinstance(shape, flat) else 3


def _number(count: float) -> str:
    """A count as text, in scientific notation from a million on."""
    return f"{int(count)}" if count < 1e6 else f"{count:.1e}"


# --- the schema -------------------------------------------------------------------------------------------------------
#
# JSON Schema for editors, built from the kinds that read the files.


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
    model = _with_references(MODEL.schema(), shared)
    model["properties"]["phloat"] = {"const": VERSION, "description": "the version of the format"}
    definitions = {
        name: _with_references(part, {shared_name: p for shared_name, p in shared.items() if shared_name != name})
        for name, part in shared.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "phloat model",
        "description": "A mechanism, its initial state, inputs and requests. Numbers are SI, or texts with a unit.",
        **model,
        "$defs": {"with unit": WITH_UNIT, **definitions},
    }


def _with_references(part: Any, shared: dict[str, Any]) -> Any:
    """The schema `part` with references in place of shared parts."""
    if isinstance(part, list):
        return [_with_references(item, shared) for item in part]
    if not isinstance(part, dict):
        return part
    bare = {key: value for key, value in part.items() if key != "description"}
    for name, shared_part in shared.items():
        if bare == shared_part:
            return {"$ref": f"#/$defs/{name}", **{k: v for k, v in part.items() if k == "description"}}
    return {key: _with_references(value, shared) for key, value in part.items()}


def schema_text() -> str:
    """The JSON schema of model files as text."""
    return json.dumps(model_schema(), indent=1, ensure_ascii=False) + "\n"
