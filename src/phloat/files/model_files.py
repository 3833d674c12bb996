"""Reading and writing of model files: `load_model`, `save_model`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
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
from phloat.files.control import CONTROLLER
from phloat.files.dimensions import check_parameters
from phloat.files.inputs import INPUTS, in_space, write_inputs
from phloat.files.model import Model
from phloat.files.outputs import OUTPUT
from phloat.files.requests import MODES, RESPONSE, SIMULATE, SWEEP
from phloat.files.start import START
from phloat.files.text import parse, plain_nodes, read_model_text, to_json, to_yaml
from phloat.format.kinds import NAME, Context, Count, Text, Writer
from phloat.format.node import Node, child
from phloat.format.records import Key, MapOf, Record
from phloat.format.system import HEAD, SYSTEM, VERSION, plain_parts, read_tables
from phloat.system.parts import Parts, parts
from phloat.system.system import System

MODEL = Record(
    "a model",
    (
        Key("phloat", Count(1), f"the version of the format: {VERSION}"),
        Key("name", NAME, "name of the model", ""),
        Key("about", Text(what="a text"), "what the model is for", ""),
        *HEAD,
        *SYSTEM.keys,
        Key("start", START, "the initial state", None),
        Key("inputs", INPUTS, "inputs over time, by port", {}),
        Key("controller", CONTROLLER, "the controller", None),
        Key("simulate", SIMULATE, "a run", None),
        Key("modes", MODES, "natural frequencies and shapes", None),
        Key("response", RESPONSE, "a frequency response", None),
        Key("sweep", SWEEP, "many runs with varying parameters", None),
        Key("outputs", MapOf(OUTPUT), "outputs of a run, by names of your choice", {}),
        Key("$schema", NAME, "for editors", ""),
    ),
    Model,
)
REQUESTS = {"simulate": SIMULATE, "modes": MODES, "response": RESPONSE, "sweep": SWEEP}


def load_model(path: str | Path) -> Model:
    """The model in a YAML or JSON file.

    Nothing in a file is ever run, and it can name files of its own folder only.

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
    return replace(parse_model(read_model_text(path), path.name, folder=path.parent), path=path)


def parse_model(text: str, file: str = "model.yaml", *, folder: Path | None = None) -> Model:
    """The model in a text; files that it names are in the folder."""
    return replace(_model(parse(text, file), folder), text=text)


def from_plain(data: Mapping[str, Any], *, folder: Path | None = None) -> Model:
    """The model in plain data, such as `plain(system)` returns."""
    return replace(_model(plain_nodes(dict(data)), folder), text=to_yaml(dict(data)))


def _model(root: Node, folder: Path | None) -> Model:
    _check_version(root)
    root.require_keys([k.key for k in MODEL.keys], "a model")
    context = read_tables(root, Context(folder=folder))
    given = MODEL.arguments(root, context)
    plane = given.get("plane")
    system = {k.argument: given[k.argument] for k in SYSTEM.keys if k.argument in given}
    whole = replace(SYSTEM.build(root, system), gravity=given.get("gravity"), plane=plane)
    check_sizes(whole, root)
    check_parameters(context.units)
    inputs = {name: in_space(value, plane is None) for name, value in given.get("inputs", {}).items()}
    rest = {word: given[word] for word in ("name", "about", "start", "outputs", *REQUESTS) if word in given}
    return Model(
        whole,
        inputs=inputs,
        control=given.get("controller"),
        names=context.tables,
        root=root,
        units=tuple(context.units),
        **rest,
    )


def _check_version(root: Node) -> None:
    version = root.child("phloat")
    if version is None:
        root.fail(f"'phloat' is missing: a model begins with 'phloat: {VERSION}', the version of its format")
    if (found := Count(1).read(version, Context())) > VERSION:
        version.fail(
            f"its format is {found}, and this phloat reads up to {VERSION}; update phloat, or save the model for {VERSION}"
        )


# --- writing ----------------------------------------------------------------------------------------------------------


def save_model(model: Model | System, path: str | Path) -> None:
    """Writes a model, or a system alone, as YAML, or as JSON if the path ends in .json; load_model reads the same model.

    Numbers are written in SI units with all their digits. Meshes and matrices are written to .npz files beside it.
    """
    path = Path(path)
    if path.suffix.lower() not in (".yaml", ".yml", ".json"):
        raise InputError(f"{path.name!r} ends in {path.suffix!r}; a model is written to .yaml or .json")
    data = plain_model(model, path)
    text = to_json(data) if path.suffix.lower() == ".json" else to_yaml(data)
    path.write_text(text, encoding="utf-8")


def plain_model(model: Model | System, path: Path | None = None) -> dict[str, Any]:
    """A model as plain data; `path` is that of its file, beside which arrays are written."""
    if isinstance(model, System):
        model = Model(parts(model))
    if not isinstance(model, Model):
        raise InputError(f"{type(model).__name__} is neither a Model nor a System")
    store = None if path is None else ArrayFiles(path)
    data = plain_parts(model.parts, arrays=store, names=model.names)
    head = {"phloat": data.pop("phloat")} | {
        word: getattr(model, word) for word in ("name", "about") if getattr(model, word)
    }
    out = head | data
    if start := START.write(model.start, Writer()):
        out["start"] = start
    if model.inputs:
        out["inputs"] = write_inputs(model.inputs)
    if model.control is not None:
        out["controller"] = CONTROLLER.write(model.control, Writer(arrays=store))
    for word, record in REQUESTS.items():
        if (asked := getattr(model, word)) is not None:
            out[word] = record.write(asked, Writer())
    if model.outputs:
        out["outputs"] = {name: OUTPUT.write(output, Writer()) for name, output in model.outputs.items()}
    return out


class ArrayFiles:
    """Writes arrays to files beside a model, named after the model and a body."""

    def __init__(self, path: Path) -> None:
        self.path, self.used = path, set[str]()

    def __call__(self, name: str, arrays: Mapping[str, Any]) -> str:
        word = re.sub(r"[^\w-]+", "_", name)
        while word in self.used:
            word += "_"
        self.used.add(word)
        file = f"{self.path.stem}.{word}.npz"
        np.savez_compressed(self.path.with_name(file), **dict(arrays))
        return file


# --- limits ----------------------------------------------------------------------------------------------------------
#
# A file can come from anywhere, so that large models are refused before they take memory. Python has no such limits.


MAX_ELEMENTS = 2_000  # of a beam, or of a piece of one
MAX_CELLS = 200_000  # of all bodies of a file, elements of beams included


def check_sizes(parts: Parts, root: Node | None) -> int:
    """The number of elements and cells. Raises FileError if they are too many for a file."""
    total = 0
    for name, part in parts.bodies.items():
        node = child(child(root, "bodies"), name)
        if isinstance(part, Parts):
            total += check_sizes(part, child(node, "system"))
        else:
            total += _body_size(part, node)
        if total > MAX_CELLS:
            _refuse(
                node or root,
                f"the bodies up to this one have {_number(total)} elements and cells; a file has at most {MAX_CELLS}",
            )
    return total


def _body_size(part: Construction, node: Node | None) -> int:
    step = next((step for step in part.steps if step.method == "discretise"), None)
    given = step.arguments[0] if step is not None and step.arguments else None
    recipe = part.recipe
    if isinstance(recipe, Beam | Split):
        each = int(given) if isinstance(given, int | np.integer) else max(len(given or ()) - 1, 0)
        pieces = recipe.pieces if isinstance(recipe, Split) else 1
        if each > MAX_ELEMENTS or pieces > MAX_ELEMENTS:
            most = max(each, pieces)
            _refuse(
                node,
                f"{_number(most)} {'elements' if most == each else 'pieces'}; a beam in a file has at most {MAX_ELEMENTS}",
            )
        return each * pieces
    shape = getattr(recipe, "outline", getattr(recipe, "mesh", None))
    if shape is None or step is None:
        return 0
    cells = _cells(shape, given) * 2.0 ** (_axes(shape) * min(int(step.options.get("refine") or 0), 100))
    if cells > MAX_CELLS:
        _refuse(node, f"about {_number(cells)} cells; a file has at most {MAX_CELLS}")
    return int(cells)


def _cells(shape: Any, given: Any) -> float:
    """How many cells an outline has, given their number along its longest side or along each."""
    if isinstance(shape, Mesh):
        return float(shape.cells.shape[0])
    counts = [float(n) for n in np.atleast_1d(np.asarray(given, dtype=float))] if given is not None else [0.0]
    n = counts[0]
    if len(counts) > 1:
        return math.prod(counts)
    if isinstance(shape, outlines.BracketOutline):
        t = shape.thickness
        return n**3 * (shape.a + shape.b) / t * max(shape.width / t, 1.0)
    if isinstance(shape, outlines.PlateDisc):
        return n * max(12.0, n * math.pi * (shape.radius + shape.inner) / (shape.radius - shape.inner))
    return _along(n, _sides(shape))


def _sides(shape: Any) -> Sequence[float]:
    if isinstance(shape, outlines.TubeOutline):
        return shape.length, shape.outer - shape.inner, math.pi * (shape.outer + shape.inner)
    return tuple(getattr(shape, side) for side in "abc" if hasattr(shape, side))


def _along(n: float, sides: Sequence[float]) -> float:
    return math.prod(max(1.0, n * side / max(sides)) for side in sides)


def _axes(shape: Any) -> int:
    if isinstance(shape, Mesh):
        return shape.points.shape[1]
    flat = outlines.RectangleOutline | outlines.PlateRectangle | outlines.PlateDisc
    return 2 if isinstance(shape, flat) else 3


def _refuse(node: Node | None, message: str) -> None:
    if node is None:
        raise InputError(message)
    node.fail(message)


def _number(count: float) -> str:
    return f"{int(count)}" if count < 1e6 else f"{count:.1e}"
