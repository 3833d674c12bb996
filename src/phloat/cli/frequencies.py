"""phloat modes and phloat response: linear analysis at the start of a model."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import phloat as ph
from phloat.cli import models
from phloat.cli.console import Console, as_json, six_digits
from phloat.errors import InputError
from phloat.files.model import Model
from phloat.files.requests import ModesRequest

HERTZ = 1.0 / (2.0 * np.pi)


def modes_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Computes natural frequencies and mode shapes."""
    model = _with_request(models.load_file(args.model), args)
    endings = [models.require_suffix(path, (".html", *models.PICTURES, ".csv", ".json")) for path in args.output]
    along = model.modes is not None and model.modes.along is not None
    if along and {".html", *models.PICTURES} & set(endings):
        raise InputError(
            f"{model.label} has modes along a quantity, which can be written as .csv; for shapes use --at-start"
        )
    console.title(model.name or model.label)
    found = ph.io.run_modes(model)
    data = _along_data(found) if isinstance(found, ph.io.ModesAlong) else _modes_data(found)
    data = {"model": args.model, "name": model.name, **data, "files": args.output}
    for path, suffix in zip(args.output, endings, strict=True):
        if suffix == ".html" and isinstance(found, ph.types.Modes):
            ph.to_html(found, path, title=model.name or models.stem(model))
        elif suffix in models.PICTURES and isinstance(found, ph.types.Modes):
            ph.plot(found).savefig(path)
        elif suffix == ".json":
            Path(path).write_text(as_json(data) + "\n", encoding="utf-8")
        else:
            models.write_table(Path(path), *_modes_table(found))
    _print_modes(found, data, console)
    return data


def _with_request(model: Model, args: argparse.Namespace) -> Model:
    """The model with the options of the command."""
    request = model.modes or ModesRequest()
    if args.count is not None:
        if args.count < 1:
            raise InputError(f"--count is {args.count}; give at least one mode")
        request = replace(request, count=args.count)
    if args.lock:
        request = replace(request, lock=tuple(args.lock))
    if args.at_start:
        request = replace(request, along=None)
    return replace(model, modes=request)


def _modes_data(found: ph.types.Modes) -> dict[str, Any]:
    growth = np.zeros(len(found)) if found.growth is None else found.growth
    ratios = _ratios(found)
    out = [
        {"omega": w, "hertz": w * HERTZ, "rigid": k < found.rigid, "growth": growth[k], "damping": ratios[k]}
        for k, w in enumerate(found.omega)
    ]
    return {"rigid": found.rigid, "modes": out}


def _ratios(found: ph.types.Modes) -> list[float | None]:
    """The damping ratio of each mode; None for modes under loads or a spin, which have growth rates instead."""
    if found.growth is not None:
        return [None] * len(found)
    poles = found.poles
    return [float(-p.real / abs(p)) if abs(p) else 0.0 for p in poles]


def _along_data(found: ph.io.ModesAlong) -> dict[str, Any]:
    return {"along": found.quantity, "values": found.values, "omega": found.omega}


def _print_modes(found: ph.types.Modes | ph.io.ModesAlong, data: dict[str, Any], console: Console) -> None:
    if isinstance(found, ph.io.ModesAlong):
        heads = (found.quantity, *(f"ω{k} (rad/s)" for k in range(found.omega.shape[1])))
        console.table(heads, [(float(x), *map(float, row)) for x, row in zip(found.values, found.omega, strict=True)])
    else:
        rows = [(k, float(m["omega"]), float(m["hertz"]), _remark(m)) for k, m in enumerate(data["modes"])]
        console.table(("mode", "ω (rad/s)", "f (Hz)", ""), rows)
    for path in data["files"]:
        console.say(f"written: {path}")


def _remark(mode: dict[str, Any]) -> str:
    if mode["rigid"]:
        return "rigid"
    if mode["growth"] > 0:
        return f"grows, {mode['growth']:.3g} 1/s"
    return f"damping ratio {mode['damping']:.3g}" if mode["damping"] else ""


def _modes_table(found: ph.types.Modes | ph.io.ModesAlong) -> tuple[list[str], np.ndarray]:
    if isinstance(found, ph.io.ModesAlong):
        heads = [found.quantity, *(f"omega_{k}" for k in range(found.omega.shape[1]))]
        return heads, np.column_stack([found.values, found.omega])
    return ["mode", "omega", "hertz"], np.column_stack([np.arange(len(found)), found.omega, found.omega * HERTZ])


# --- response --------------------------------------------------------------------------------------------------------


def response_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Computes H(jω) between ports."""
    endings = [models.require_suffix(path, (*models.PICTURES, ".csv", ".json")) for path in args.output]
    model = models.load_file(args.model)
    found = ph.io.run_response(model)
    peaks = [_peak(found, output, given) for output in found.outputs for given in found.inputs]
    data = {"model": args.model, "name": model.name, "inputs": found.inputs, "outputs": found.outputs, "peaks": peaks}
    data |= {"omega": found.omega, "real": found.values.real, "imag": found.values.imag, "files": args.output}
    for path, suffix in zip(args.output, endings, strict=True):
        if suffix in models.PICTURES:
            ph.plot(found).savefig(path)
        elif suffix == ".json":
            Path(path).write_text(as_json(data) + "\n", encoding="utf-8")
        else:
            models.write_table(Path(path), *_response_table(found))
    console.title(model.name or model.label)
    first, last = (six_digits(float(w)) for w in found.omega[[0, -1]])
    console.say(f"  {len(found.omega)} frequencies from {first} to {last} rad/s")
    heads = ("output", "input", "largest |H|", "at ω (rad/s)", "f (Hz)", "peaks (rad/s)")
    console.table(heads, [_row(peak) for peak in peaks])
    for path in args.output:
        console.say(f"written: {path}")
    return data


def _row(p: dict[str, Any]) -> tuple[object, ...]:
    peaks = ", ".join(map(six_digits, p["peaks"][:6]))
    return p["output"], p["input"], p["largest"], p["omega"], p["omega"] * HERTZ, peaks


def _peak(found: ph.types.Response, output: str, given: str) -> dict[str, Any]:
    """The largest magnitude of one response, and its peaks."""
    size = np.abs(found[output, given])
    top = int(size.argmax())
    peaks = np.flatnonzero((size[1:-1] > size[:-2]) & (size[1:-1] >= size[2:])) + 1
    at = [float(w) for w in found.omega[peaks]]
    return {
        "output": output,
        "input": given,
        "largest": float(size[top]),
        "omega": float(found.omega[top]),
        "peaks": at,
    }


def _response_table(found: ph.types.Response) -> tuple[list[str], np.ndarray]:
    heads, table = ["omega"], [found.omega]
    for output in found.outputs:
        for given in found.inputs:
            line = found[output, given]
            heads += [f"{output} from {given}, magnitude", f"{output} from {given}, phase"]
            table += [np.abs(line), np.angle(line)]
    return heads, np.column_stack(table)
