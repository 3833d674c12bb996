"""phloat run: a motion into a folder, with its outputs and a page."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import phloat as ph
from phloat.cli import models
from phloat.cli.faults import Interrupted
from phloat.cli.talk import Talk, as_json, number
from phloat.errors import ConvergenceError, InputError
from phloat.files.model import Model, wanted
from phloat.motion.saving.files import held
from phloat.motion.saving.saved import Folder
from phloat.motion.told import deformation_said

PAGE, TABLE, SUMMARY = "page.html", "outputs.csv", "summary.json"


def run(asked: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Simulate a model."""
    model = models.timed(models.loaded(asked.model), None if asked.resume else asked.t_end, asked.dt)
    if asked.resume and (asked.output or asked.overwrite or asked.dt):
        raise InputError("--resume goes on in its folder with its step; leave -o, --overwrite and --dt away")
    wanted(model, "simulate")
    models.try_outputs(model)
    linear = not isinstance(model.system, ph.System)
    if asked.resume and linear:
        raise InputError(f"{model.called} is linear, and its runs are not saved; run it again")
    folder = Path(asked.resume) if asked.resume else _folder(model, asked.output, asked.overwrite)
    talk.title(model.name or model.called)
    begin = time.perf_counter()
    result = _moved(model, asked, folder, linear, talk)
    took = time.perf_counter() - begin
    data = _written(model, result, folder, page=not asked.no_page)
    data = {"model": asked.model, "name": model.name, "folder": str(folder), **data, "seconds": took}
    (folder / SUMMARY).write_text(as_json(data) + "\n", encoding="utf-8")
    _say(talk, data, took)
    return data


def _folder(model: Model, wanted: str | None, overwrite: bool) -> Path:
    """Where the run goes: the folder asked for, or the first free one of the model's name."""
    first = Path(wanted or f"{models.stem(model)}.run")
    if overwrite and first.is_dir():
        if not _holds_a_run(first):
            raise InputError(f"{str(first)!r} is there and holds no run; --overwrite replaces runs only")
        _emptied(first)
        return first
    if wanted is None:
        numbered = (Path(f"{models.stem(model)}.run-{k}") for k in range(2, 10_000))
        while first.exists() and (not first.is_dir() or any(first.iterdir())):
            first = next(numbered)
    elif first.exists() and not first.is_dir():
        raise InputError(f"{wanted!r} is a file; a run is saved in a folder of its own")
    elif first.is_dir() and _holds_a_run(first):
        raise InputError(
            f"{wanted!r} holds a run already; give another folder, --overwrite it, or go on: --resume {wanted}"
        )
    return first


def _holds_a_run(folder: Path) -> bool:
    return (folder / "run.json").exists() or (folder / SUMMARY).exists()


def _emptied(folder: Path) -> None:
    """Without the run, and what was made of it."""
    with held(folder):  # not while another process writes there
        Folder(folder).emptied()
    for name in (PAGE, TABLE, SUMMARY):
        (folder / name).unlink(missing_ok=True)


def _moved(model: Model, asked: argparse.Namespace, folder: Path, linear: bool, talk: Talk) -> Any:
    """The motion; what is written of it is kept, whatever happens."""
    progress = False if talk.quiet else None
    try:
        if linear:
            return ph.run(model, threads=asked.threads)
        if not asked.resume:
            return ph.run(model, save=folder, progress=progress, threads=asked.threads)
        t_end = models.seconds("--t-end", asked.t_end) if asked.t_end else None
        return ph.resume(
            folder,
            model.system,  # type: ignore[arg-type]  # mechanisms come here only
            u=dict(model.inputs),
            controller=model.controller,
            t_end=t_end,
            progress=progress,
            threads=asked.threads,
        )
    except KeyboardInterrupt as error:
        raise Interrupted(_kept(model, asked.model, folder)) from error
    except ConvergenceError as error:
        if error.result is not None and (folder / "run.json").exists():
            raise ConvergenceError(
                f"{error}; the motion up to there is kept: phloat view {folder}", error.result
            ) from error
        raise


def _kept(model: Model, path: str, folder: Path) -> str:
    """What an interrupted run leaves, and how to go on."""
    where = Folder(folder)
    if not where.taken:
        if folder.is_dir() and not any(folder.iterdir()):
            os.rmdir(folder)
        return "interrupted before anything was written; nothing is left"
    said = where.description()
    if not said["pieces"]:
        _emptied(folder)
        return "interrupted before anything was written; nothing is left"
    _copy(model, folder)
    return (
        f"interrupted; {said['rows']} times up to t = {said['times'][1]:g} s are kept in {folder}; "
        f"go on with: phloat run {path} --resume {folder}"
    )


# --- what is left ----------------------------------------------------------------------------------------------------


def _written(model: Model, result: Any, folder: Path, *, page: bool) -> dict[str, Any]:
    """Outputs, page and model beside the run; what there is to say of it."""
    folder.mkdir(parents=True, exist_ok=True)
    found = models.outputs(model, result)
    single = {name: value for name, value in found.items() if not models.over_time(model.outputs[name])}
    series = {name: value for name, value in found.items() if name not in single}
    if series:
        heads = [head for name, value in series.items() for head in models.names_of(name, value.shape[1:])]
        table = np.column_stack([result.t, *(value.reshape(len(result), -1) for value in series.values())])
        models.write_table(folder / TABLE, ["t", *heads], table)
    _copy(model, folder)
    if page:
        ph.to_html(result, folder / PAGE, title=model.name or models.stem(model), u=dict(model.inputs) or None)
    about = {"times": len(result), "t_start": result.t[0], "t_end": result.t[-1], "dt": _dt(model, result)}
    return {
        **about,
        "scheme": _scheme(result),
        "energy": _energy(model, result),
        "deformation": dict(result.info.get("deformation", {})),
        "outputs": single,
        "series": {name: _range(value) for name, value in series.items()},
        "table": str(folder / TABLE) if series else None,
        "page": str(folder / PAGE) if page else None,
    }


def _copy(model: Model, folder: Path) -> None:
    """The model as it was given, under its own name; model.json is the system itself."""
    assert model.path is not None
    name = model.path.name if model.path.name != "model.json" else "model-given.json"
    (folder / name).write_text(model.text, encoding="utf-8")


def _dt(model: Model, result: Any) -> float | None:
    said: Any = result.info.get("dt") if isinstance(result, ph.Result) else None
    return said if said is not None or model.simulate is None else model.simulate.dt


def _scheme(result: Any) -> str:
    said: Any = result.info.get("scheme", {}) if isinstance(result, ph.Result) else {}
    return str(said.get("name", "Midpoint"))


def _energy(model: Model, result: Any) -> dict[str, Any]:
    """At both ends, and what the books miss beside the largest energy or work."""
    if isinstance(result, ph.Result):
        ledger = ph.energy_ledger(result, u=dict(model.inputs))
        missing, supplied = ledger.relative, float(sum(line[-1] for line in ledger.supplied.values()))
    else:
        largest = max(float(np.abs(x).max(initial=0.0)) for x in (result.energy, result.works, result.lost))
        missing = float(np.abs(result.residual).max()) / largest if largest else 0.0
        supplied = float(result.works[-1].sum())
    return {"start": result.energy[0], "end": result.energy[-1], "supplied": supplied, "residual": missing}


def _range(value: np.ndarray) -> dict[str, Any]:
    return {"min": value.min(axis=0), "max": value.max(axis=0), "last": value[-1]}


def _say(talk: Talk, data: dict[str, Any], took: float) -> None:
    energy = data["energy"]
    said = {
        "motion": f"{data['times']} times to t = {data['t_end']:g} s by {data['scheme']}, in {took:.2g} s",
        "energy": f"{energy['start']:.6g} J → {energy['end']:.6g} J, the books close to {energy['residual']:.0e}",
    }
    if far := data["deformation"]:
        said["deformation"] = deformation_said(far)
    talk.facts(said)
    for name, value in data["outputs"].items():
        talk.say(f"  {name} = {_spelled(value)}")
    for name, ends in data["series"].items():
        talk.say(f"  {name}: {_spelled(ends['min'])} … {_spelled(ends['max'])}, at the end {_spelled(ends['last'])}")
    if data["page"]:
        talk.say(f"look at it: phloat view {data['folder']}")
    else:
        talk.say(f"it is in {data['folder']}")


def _spelled(value: Any) -> str:
    array = np.asarray(value)
    return (
        number(float(array)) if array.ndim == 0 else "(" + ", ".join(number(float(x)) for x in array.ravel()[:3]) + ")"
    )
