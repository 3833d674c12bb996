"""phloat sweep: many runs of a model, and a table of their results."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import phloat as ph
from phloat.cli import models
from phloat.cli.console import Console, Interrupted, as_json
from phloat.errors import ConvergenceError, InputError
from phloat.files.model import require_request
from phloat.many.store import EnsembleFolder

TABLE, SUMMARY = "samples.csv", "summary.json"


def sweep_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Runs a model with varying parameters."""
    model = models.load_file(args.model)
    require_request(model, "sweep")
    if args.samples is not None:
        if args.samples < 1:
            raise InputError(f"--samples is {args.samples}; give at least one run")
        model = replace(model, sweep=replace(require_request(model, "sweep"), samples=args.samples))
    models.try_outputs(model)
    folder = Path(args.output or f"{models.stem(model)}.sweep")
    if args.overwrite and folder.is_dir():
        _clear(folder)
    console.title(model.name or model.label)
    try:
        found = ph.io.run_sweep(model, workers=args.workers, save=folder, progress=False if console.quiet else None)
    except KeyboardInterrupt as error:
        raise Interrupted(_interrupted(folder)) from error
    if not found.ok.any():
        raise ConvergenceError(f"all {len(found)} runs failed; the first: {found.failed[0].error}")
    data = {"model": args.model, "name": model.name, "folder": str(folder), **_statistics(found)}
    data["table"] = str(_write_table(found, folder))
    (folder / SUMMARY).write_text(as_json(data) + "\n", encoding="utf-8")
    _print_summary(console, data, found, folder)
    return data


def _clear(folder: Path) -> None:
    """Removes the sweep in a folder."""
    where = EnsembleFolder(folder)
    if not where.exists:
        raise InputError(f"{str(folder)!r} exists and has no sweep in it; --overwrite replaces sweeps only")
    for pattern in ("ensemble.json", "*.npy", "*.npz", TABLE, SUMMARY):
        for file in folder.glob(pattern):
            file.unlink()


def _interrupted(folder: Path) -> str:
    try:
        found = ph.io.load_ensemble(folder)
    except InputError:
        return "interrupted before anything was written; nothing is left"
    done = len(found) - found.missing
    return f"interrupted; {done} of {len(found)} runs are kept in {folder}; the same command continues with the rest"


def _statistics(found: ph.types.Ensemble) -> dict[str, Any]:
    """Statistics of the parameters and the scalar outputs."""
    return {
        "samples": len(found),
        "sampling": found.samples.sampling,
        "failed": [{"sample": f.sample, "parameters": f.parameters, "error": f.error} for f in found.failed],
        "parameters": {name: _spread(x) for name, x in found.parameters.items()},
        "outputs": {name: _spread(found[name][found.ok]) for name, shape in found.shapes.items() if not shape},
    }


def _spread(x: np.ndarray) -> dict[str, float]:
    deviation = float(x.std(ddof=1)) if len(x) > 1 else 0.0
    return {"mean": float(x.mean()), "std": deviation, "min": float(x.min()), "max": float(x.max())}


def _write_table(found: ph.types.Ensemble, folder: Path) -> Path:
    """Writes every sample with its parameters and scalar outputs."""
    numbers = [name for name, shape in found.shapes.items() if not shape]
    columns = [np.arange(len(found)), *found.parameters.values(), *(found[name] for name in numbers)]
    models.write_table(folder / TABLE, ["sample", *found.parameters, *numbers], np.column_stack(columns))
    return folder / TABLE


def _print_summary(console: Console, data: dict[str, Any], found: ph.types.Ensemble, folder: Path) -> None:
    console.say(f"  {len(found)} runs ({found.samples.sampling}), {len(found.failed)} failed")
    rows = [
        (name, s["mean"], s["std"], s["min"], s["max"])
        for part in ("parameters", "outputs")
        for name, s in data[part].items()
    ]
    console.table(("", "mean", "deviation", "min", "max"), rows)
    for failed in found.failed[:3]:
        console.note(f"sample {failed.sample} failed: {failed.error}")
    console.say(f"all samples: {folder / TABLE}")
