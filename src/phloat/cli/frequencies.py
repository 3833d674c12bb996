"""phloat modes and phloat response: linear analysis about the start of a model."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import phloat as ph
from phloat.cli import models
from phloat.cli.talk import Talk, as_json, number
from phloat.errors import InputError
from phloat.files.model import Model
from phloat.files.requests import ModesRequest

HERTZ = 1.0 / (2.0 * np.pi)


def modes(asked: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Natural frequencies and shapes."""
    model = _asking(models.loaded(asked.model), asked)
    endings = [models.ending(path, (".html", *models.PICTURES, ".csv", ".json")) for path in asked.output]
    along = model.modes is not None and model.modes.along is not None
    if along and {".html", *models.PICTURES} & set(endings):
        raise InputError(
            f"{model.label} asks for modes along a quantity, which give a .csv; shapes are of one: --at-start"
        )
    talk.title(model.name or model.label)
    found = ph.run_modes(model)
    data = _along(found) if isinstance(found, ph.ModesAlong) else _at_start(found)
    data = {"model": asked.model, "name": model.name, **data, "files": asked.output}
    for path, suffix in zip(asked.output, endings, strict=True):
        if suffix == ".html" and isinstance(found, ph.Modes):
            ph.to_html(found, path, title=model.name or models.stem(model))
        elif suffix in models.PICTURES and isinstance(found, ph.Modes):
            ph.plot(found).savefig(path)
        elif suffix == ".json":
            Path(path).write_text(as_json(data) + "\n", encoding="utf-8")
        else:
            models.write_table(Path(path), *_table(found))
    _say(found, data, talk)
    return data


def _asking(model: Model, asked: argparse.Namespace) -> Model:
    """The model with the modes that the command asks for."""
    wanted = model.modes or ModesRequest()
    if asked.count is not None:
        if asked.count < 1:
            raise InputError(f"--count is {asked.count}; ask for at least one mode")
        wanted = replace(wanted, count=asked.count)
    if asked.lock:
        wanted = replace(wanted, lock=tuple(asked.lock))
    if asked.at_start:
        wanted = replace(wanted, along=None)
    return replace(model, modes=wanted)


def _at_start(found: ph.Modes) -> dict[str, Any]:
    growth = np.zeros(len(found)) if found.growth is None else found.growth
    ratios = _ratios(found)
    out = [
        {"omega": w, "hertz": w * HERTZ, "rigid": k < found.rigid, "growth": growth[k], "damping": ratios[k]}
        for k, w in enumerate(found.omega)
    ]
    return {"rigid": found.rigid, "modes": out}


def _ratios(found: ph.Modes) -> list[float | None]:
    """The damping ratio of each mode; None where loads or a spin make modes of another kind."""
    if found.growth is not None:
        return [None] * len(found)
    poles = found.poles
    return [float(-p.real / abs(p)) if abs(p) else 0.0 for p in poles]


def _along(found: ph.ModesAlong) -> dict[str, Any]:
    return {"along": found.quantity, "values": found.values, "omega": found.omega}


def _say(found: ph.Modes | ph.ModesAlong, data: dict[str, Any], talk: Talk) -> None:
    if isinstance(found, ph.ModesAlong):
        heads = (found.quantity, *(f"ω{k} (rad/s)" for k in range(found.omega.shape[1])))
        talk.table(heads, [(float(x), *map(float, row)) for x, row in zip(found.values, found.omega, strict=True)])
    else:
        rows = [(k, float(m["omega"]), float(m["hertz"]), _word(m)) for k, m in enumerate(data["modes"])]
        talk.table(("mode", "ω (rad/s)", "f (Hz)", ""), rows)
    for path in data["files"]:
        talk.say(f"written: {path}")


def _word(mode: dict[str, Any]) -> str:
    if mode["rigid"]:
        return "rigid"
    if mode["growth"] > 0:
        return f"grows, {mode['growth']:.3g} 1/s"
    return f"damping ratio {mode['damping']:.3g}" if mode["damping"] else ""


def _table(found: ph.Modes | ph.ModesAlong) -> tuple[list[str], np.ndarray]:
    if isinstance(found, ph.ModesAlong):
        heads = [found.quantity, *(f"omega_{k}" for k in range(found.omega.shape[1]))]
        return heads, np.column_stack([found.values, found.omega])
    return ["mode", "omega", "hertz"], np.column_stack([np.arange(len(found)), found.omega, found.omega * HERTZ])


# --- response --------------------------------------------------------------------------------------------------------


def response(asked: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """H(jω) between ports."""
    endings = [models.ending(path, (*models.PICTURES, ".csv", ".json")) for path in asked.output]
    model = models.loaded(asked.model)
    found = ph.run_response(model)
    peaks = [_peak(found, output, given) for output in found.outputs for given in found.inputs]
    data = {"model": asked.model, "name": model.name, "inputs": found.inputs, "outputs": found.outputs, "peaks": peaks}
    data |= {"omega": found.omega, "real": found.values.real, "imag": found.values.imag, "files": asked.output}
    for path, suffix in zip(asked.output, endings, strict=True):
        if suffix in models.PICTURES:
            ph.plot(found).savefig(path)
        elif suffix == ".json":
            Path(path).write_text(as_json(data) + "\n", encoding="utf-8")
        else:
            models.write_table(Path(path), *_lines(found))
    talk.title(model.name or model.label)
    first, last = (number(float(w)) for w in found.omega[[0, -1]])
    talk.say(f"  {len(found.omega)} frequencies from {first} to {last} rad/s")
    heads = ("output", "input", "largest |H|", "at ω (rad/s)", "f (Hz)", "peaks (rad/s)")
    talk.table(heads, [_row(peak) for peak in peaks])
    for path in asked.output:
        talk.say(f"written: {path}")
    return data


def _row(p: dict[str, Any]) -> tuple[object, ...]:
    tops = ", ".join(map(number, p["peaks"][:6]))
    return p["output"], p["input"], p["largest"], p["omega"], p["omega"] * HERTZ, tops


def _peak(found: ph.Response, output: str, given: str) -> dict[str, Any]:
    """Where one line is largest, and where it has tops."""
    size = np.abs(found[output, given])
    top = int(size.argmax())
    tops = np.flatnonzero((size[1:-1] > size[:-2]) & (size[1:-1] >= size[2:])) + 1
    at = [float(w) for w in found.omega[tops]]
    return {
        "output": output,
        "input": given,
        "largest": float(size[top]),
        "omega": float(found.omega[top]),
        "peaks": at,
    }


def _lines(found: ph.Response) -> tuple[list[str], np.ndarray]:
    heads, table = ["omega"], [found.omega]
    for output in found.outputs:
        for given in found.inputs:
            line = found[output, given]
            heads += [f"{output} from {given}, magnitude", f"{output} from {given}, phase"]
            table += [np.abs(line), np.angle(line)]
    return heads, np.column_stack(table)
