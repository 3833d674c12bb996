"""Model files read and written: `load_model`, `save_model`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.files.asked import MODES, RESPONSE, SIMULATE, SWEEP
from phloat.files.control import CONTROLLER
from phloat.files.dimensions import check_parameters
from phloat.files.inputs import INPUTS, in_space, written_inputs
from phloat.files.limits import sizes_or_said
from phloat.files.model import Model
from phloat.files.outputs import OUTPUT, read_output
from phloat.files.start import START, Start
from phloat.files.text import of_plain, parsed, read_text
from phloat.files.yaml_text import to_json, to_yaml
from phloat.system.parts import parts
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
