"""phloat sweep: many runs of a model, and a table of them."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import phloat as ph
from phloat.cli import models
from phloat.cli.faults import Interrupted
from phloat.cli.talk import Talk, as_json
from phloat.errors import ConvergenceError, InputError
from phloat.files.model import wanted
from phloat.many.store import EnsembleFolder

TABLE, SUMMARY = "samples.csv", "summary.json"


def sweep(asked: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Many runs with parameters that vary."""
    model = models.loaded(asked.model)
    wanted(model, "sweep")
    if asked.samples is not None:
        if asked.samples < 1:
            raise InputError(f"--samples is {asked.samples}; ask for at least one run")
        model = replace(model, sweep=replace(wanted(model, "sweep"), samples=asked.samples))
    models.try_outputs(model)
    folder = Path(asked.output or f"{models.stem(model)}.sweep")
    if asked.overwrite and folder.is_dir():
        _emptied(folder)
    talk.title(model.name or model.called)
    try:
        found = ph.run_sweep(model, workers=asked.workers, save=folder, progress=False if talk.quiet else None)
    except KeyboardInterrupt as error:
        raise Interrupted(_kept(folder)) from error
    if not found.ok.any():
        raise ConvergenceError(f"all {len(found)} runs failed; the first: {found.failed[0].error}")
    data = {"model": asked.model, "name": model.name, "folder": str(folder), **_summed(found)}
    data["table"] = str(_table(found, folder))
    (folder / SUMMARY).write_text(as_json(data) + "\n", encoding="utf-8")
    _say(talk, data, found, folder)
    return data


def _emptied(folder: Path) -> None:
    """Without the sweep that is in it."""
    where = EnsembleFolder(folder)
    if not where.exists:
        raise InputError(f"{str(folder)!r} is there and holds no sweep; --overwrite replaces sweeps only")
    for pattern in ("ensemble.json", "*.npy", "*.npz", TABLE, SUMMARY):
        for file in folder.glob(pattern):
            file.unlink()


def _kept(folder: Path) -> str:
    try:
        found = ph.load_ensemble(folder)
    except InputError:
        return "interrupted before anything was written; nothing is left"
    done = len(found) - found.missing
    return f"interrupted; {done} of {len(found)} runs are kept in {folder}; the same command goes on with the rest"


def _summed(found: ph.Ensemble) -> dict[str, Any]:
    """Statistics of parameters and of outputs that are numbers."""
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


def _table(found: ph.Ensemble, folder: Path) -> Path:
    """Every sample with its parameters and those outputs that are numbers."""
    numbers = [name for name, shape in found.shapes.items() if not shape]
    columns = [np.arange(len(found)), *found.parameters.values(), *(found[name] for name in numbers)]
    models.write_table(folder / TABLE, ["sample", *found.parameters, *numbers], np.column_stack(columns))
    return folder / TABLE


def _say(talk: Talk, data: dict[str, Any], found: ph.Ensemble, folder: Path) -> None:
    talk.say(f"  {len(found)} runs ({found.samples.sampling}), {len(found.failed)} failed")
    rows = [
        (name, s["mean"], s["std"], s["min"], s["max"])
        for part in ("parameters", "outputs")
        for name, s in data[part].items()
    ]
    talk.table(("", "mean", "deviation", "least", "largest"), rows)
    for failed in found.failed[:3]:
        talk.note(f"sample {failed.sample} failed: {failed.error}")
    talk.say(f"all samples: {folder / TABLE}")
