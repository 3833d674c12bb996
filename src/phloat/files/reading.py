"""Model files read and written: `load_model`, `save_model`."""

from __future__ import annotations

import json
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
from phloat.files.asked import MODES, RESPONSE, SIMULATE, SWEEP
from phloat.files.control import CONTROLLER
from phloat.files.dimensions import check_parameters
from phloat.files.inputs import INPUTS, in_space, written_inputs
from phloat.files.model import Model
from phloat.files.outputs import OUTPUT, read_output
from phloat.files.start import START, Start
from phloat.files.text import of_plain, parsed, read_text
from phloat.system.parts import Parts, parts
from phloat.system.plain import VERSION, said
from phloat.system.system import System
from phloat.system.words.groups import Field, MapOf, Record
from phloat.system.words.kinds import NAME, Known, Pen, Word
from phloat.system.words.node import Node
from phloat.system.words.numbers import Count
from phloat.system.words.parts import HEAD, INNER, read_tables

MODEL = Record(
    "a model",
    (
        Field("phloat", Count(1), f"the version of the format: {VERSION}"),
        Field("name", NAME, "what the model is called", ""),
        Field("about", Word(what="a text"), "what it is for", ""),
        *HEAD,
        *INNER.fields,
        Field("start", START, "the state at the start", None),
        Field("inputs", INPUTS, "what enters the ports over time, by name", {}),
        Field("controller", CONTROLLER, "what acts on ports by what it sees there", None),
        Field("simulate", SIMULATE, "a run", None),
        Field("modes", MODES, "natural frequencies and shapes", None),
        Field("response", RESPONSE, "a frequency response", None),
        Field("sweep", SWEEP, "many runs with parameters that vary", None),
        Field("outputs", MapOf(OUTPUT), "numbers of a run, by names of your own", {}),
        Field("$schema", NAME, "for editors", ""),
    ),
    Model,
)
REQUESTS = {"simulate": SIMULATE, "modes": MODES, "response": RESPONSE, "sweep": SWEEP}


def load_model(path: str | Path) -> Model:
    """The model in a YAML or JSON file; what is wrong with it is said with line and key.

    Nothing in a file is ever run, and it can name files of its own folder only.
    """
    path = Path(path)
    return replace(read_model(read_text(path), path.name, folder=path.parent), path=path)


def read_model(text: str, file: str = "model.yaml", *, folder: Path | None = None) -> Model:
    """The model in a text; files that it names are looked for in the folder."""
    return replace(_model(parsed(text, file), folder), text=text)


def from_plain(data: Mapping[str, Any], *, folder: Path | None = None) -> Model:
    """The model in plain data, such as `plain(system)` gives."""
    return replace(_model(of_plain(dict(data)), folder), text=to_yaml(dict(data)))


def _model(root: Node, folder: Path | None) -> Model:
    _version(root)
    root.only([f.key for f in MODEL.fields], "a model")
    plane = root.child("plane").text if "plane" in (root.entries or {}) else None
    known = read_tables(root, Known(folder=folder, plane=plane))
    given = MODEL.arguments(root, known)
    inner = {f.argument: given[f.argument] for f in INNER.fields if f.argument in given}
    whole = replace(INNER.made(root, inner), gravity=given.get("gravity"), plane=plane)
    sizes_or_said(whole, root)
    start = given.get("start") or Start()
    inputs = {name: in_space(value, plane is None) for name, value in given.get("inputs", {}).items()}
    outputs = {name: read_output(value) for name, value in given.get("outputs", {}).items()}
    asked = {word: given[word] for word in ("name", "about", *REQUESTS) if word in given}
    check_parameters(known.units)
    rest: dict[str, Any] = {
        "control": given.get("controller"),
        "names": known.tables,
        "root": root,
        "met": tuple(known.units),
    }
    return Model(whole, start=start, inputs=inputs, outputs=outputs, **rest, **asked)


def _version(root: Node) -> None:
    entries = root.entries or {}
    if "phloat" not in entries:
        root.wrong(f"'phloat' is missing: a model begins with 'phloat: {VERSION}', the version of its format")
    found = Count(1).read(root.child("phloat"), Known())
    if found > VERSION:
        root.child("phloat").wrong(
            f"it is of format {found}, and this phloat reads up to {VERSION}; update phloat, or save the model for {VERSION}"
        )


# --- writing ----------------------------------------------------------------------------------------------------------


def save_model(model: Model | System, path: str | Path) -> None:
    """Write a model, or a system alone, as YAML or (where the path ends in .json) as JSON; load_model reads the same again.

    Numbers are written in SI units with all their digits. Meshes and matrices go to .npz files beside it.
    """
    path = Path(path)
    if path.suffix.lower() not in (".yaml", ".yml", ".json"):
        raise InputError(f"{path.name!r} ends in {path.suffix!r}; a model is written to .yaml or .json")
    data = plain_model(model, path)
    text = to_json(data) if path.suffix.lower() == ".json" else to_yaml(data)
    path.write_text(text, encoding="utf-8")


def plain_model(model: Model | System, path: Path | None = None) -> dict[str, Any]:
    """A model in plain data."""
    if isinstance(model, System):
        model = Model(parts(model))
    if not isinstance(model, Model):
        raise InputError(f"{type(model).__name__} is neither a Model nor a System")
    store = None if path is None else Beside(path)
    data = said(model.parts, arrays=store, names=model.names)
    head = {"phloat": data.pop("phloat")} | {
        word: getattr(model, word) for word in ("name", "about") if getattr(model, word)
    }
    out = head | data
    if start := START.write(model.start, Pen()):
        out["start"] = start
    if model.inputs:
        out["inputs"] = written_inputs(model.inputs)
    if model.control is not None:
        out["controller"] = CONTROLLER.write(model.control, Pen(arrays=store))
    for word, record in REQUESTS.items():
        if (asked := getattr(model, word)) is not None:
            out[word] = record.write(asked, Pen())
    if model.outputs:
        out["outputs"] = {name: OUTPUT.write(output, Pen()) for name, output in model.outputs.items()}
    return out


class Beside:
    """Arrays in files beside a model, called as the model and what they are of."""

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
# How much a file may ask for. Python may ask for more: a file can come from anywhere, and is refused before memory is taken.


ELEMENTS = 2_000  # of a beam, or of a piece of one
CELLS = 200_000  # of all bodies of a file, elements of beams among them


def sizes_or_said(parts: Parts, root: Node | None) -> int:
    """How many elements and cells there will be, or a sentence where they are too many for a file."""
    total = 0
    for name, part in parts.bodies.items():
        node = _child(_child(root, "bodies"), name)
        if isinstance(part, Parts):
            total += sizes_or_said(part, _child(node, "system"))
        else:
            total += _said_of(part, node)
        if total > CELLS:
            _refused(
                node or root,
                f"up to here the bodies have {_much(total)} elements and cells; a file has at most {CELLS}",
            )
    return total


def _said_of(part: Construction, node: Node | None) -> int:
    step = next((step for step in part.steps if step.method == "discretise"), None)
    given = step.arguments[0] if step is not None and step.arguments else None
    recipe = part.recipe
    if isinstance(recipe, Beam | Split):
        each = int(given) if isinstance(given, int | np.integer) else max(len(given or ()) - 1, 0)
        pieces = recipe.pieces if isinstance(recipe, Split) else 1
        if each > ELEMENTS or pieces > ELEMENTS:
            most = max(each, pieces)
            _refused(
                node,
                f"{_much(most)} {'elements' if most == each else 'pieces'}; a beam in a file has at most {ELEMENTS}",
            )
        return each * pieces
    shape = getattr(recipe, "outline", getattr(recipe, "mesh", None))
    if shape is None or step is None:
        return 0
    cells = _cells(shape, given) * 2.0 ** (_axes(shape) * min(int(step.options.get("refine") or 0), 100))
    if cells > CELLS:
        _refused(node, f"about {_much(cells)} cells; a file has at most {CELLS}")
    return int(cells)


def _cells(shape: Any, given: Any) -> float:
    """How many cells an outline makes of the number or numbers that it is given."""
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


def _refused(node: Node | None, message: str) -> None:
    if node is None:
        raise InputError(message)
    node.wrong(message)


def _much(count: float) -> str:
    return f"{int(count)}" if count < 1e6 else f"{count:.1e}"


def _child(node: Node | None, key: str) -> Node | None:
    return node.entries.get(key) if node is not None and node.entries is not None else None


# --- writing ---------------------------------------------------------------------------------------------------------
#
# Plain data as text that people like to read: YAML in blocks, what is short on one line; or JSON.


WIDTH = 110
BARE = re.compile(r"[A-Za-zµ][\w .()/^%-]*[\w)%]|[A-Za-zµ]")
RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "nan", "inf"}


def to_yaml(data: dict[str, Any]) -> str:
    """YAML of plain data, the same text for the same data."""
    out: list[str] = []
    for key, value in data.items():
        if out and isinstance(value, (dict, list)) and value:
            out.append("")
        out += _entry(key, value, 0)
    return "\n".join(out) + "\n"


def to_json(data: dict[str, Any]) -> str:
    """JSON of plain data."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _entry(key: str, value: Any, depth: int) -> list[str]:
    pad, name = "  " * depth, _word(key, is_key=True)
    flat = _flat(value)
    top = depth == 0 and isinstance(value, (dict, list)) and value and not _plain_list(value)
    if not top and len(pad) + len(name) + 2 + len(flat) <= WIDTH:
        return [f"{pad}{name}: {flat}"]
    if isinstance(value, dict) and value:
        return [f"{pad}{name}:", *(line for k, v in value.items() for line in _entry(k, v, depth + 1))]
    if isinstance(value, list) and value and not _plain_list(value):
        return [f"{pad}{name}:", *(line for item in value for line in _item(item, depth + 1))]
    return [f"{pad}{name}: {flat}"]


def _item(value: Any, depth: int) -> list[str]:
    pad, flat = "  " * depth, _flat(value)
    if len(pad) + 2 + len(flat) <= WIDTH or not isinstance(value, dict) or not value:
        return [f"{pad}- {flat}"]
    lines = [line for k, v in value.items() for line in _entry(k, v, depth + 1)]
    return [f"{pad}- {lines[0].lstrip()}", *lines[1:]]


def _plain_list(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(x, (dict, list)) for x in value)


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_word(k, is_key=True)}: {_flat(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flat, value)) + "]"
    if isinstance(value, str):
        return _word(value)
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value, allow_nan=False)


def _number(value: float) -> str:
    """All digits, as few characters as that takes."""
    text = json.dumps(value, allow_nan=False)
    if "e" in text or not text.endswith(".0"):
        return text
    digits = text[:-2].rstrip("0")
    zeros = len(text) - 2 - len(digits)
    return text if zeros < 5 else f"{digits or '0'}e{zeros}"


def _word(text: str, *, is_key: bool = False) -> str:
    if is_key and re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text):
        return text
    bare = BARE.fullmatch(text) and text.lower() not in RESERVED and "  " not in text
    return text if bare else json.dumps(text, ensure_ascii=False)
