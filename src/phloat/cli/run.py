"""phloat run, phloat sweep and phloat view: runs in a folder, with their outputs, and the page of a run in a browser."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import phloat as ph
from phloat.cli import models
from phloat.cli.console import Console, Interrupted, as_json, six_digits
from phloat.errors import ConvergenceError, InputError
from phloat.files.model import Model, require_request
from phloat.files.requests import ModesRequest
from phloat.many.results import Ensemble
from phloat.many.store import EnsembleFolder
from phloat.motion.result_tables import describe_deformation
from phloat.motion.saving.files import locked
from phloat.motion.saving.folder import RunFolder

PAGE, TABLE, SUMMARY, SAMPLES = "page.html", "outputs.csv", "summary.json", "samples.csv"
SERIES = "series.{}.csv"  # of a sweep: an output over time, with a column for each sample
MAX_SERIES = 3_000_000  # numbers of such a file, at most
MAX_ROWS = 20  # of statistics on the terminal
PAGES = (".html", ".htm")
TEXT_BROWSERS = ("www-browser", "links", "elinks", "lynx", "w3m")
REPLACED = ".replaced"  # in the folder of a run: the run before, until the new one has begun
NOTHING_WRITTEN = "interrupted before anything was written; nothing is left"


def run_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Simulates a model, or continues a run, and writes outputs, page and summary beside it; returns the summary as JSON data."""
    model = models.with_times(models.load_file(args.model), None if args.resume else args.t_end, args.dt)
    if args.resume and (args.output or args.overwrite or args.dt):
        raise InputError("--resume goes on in its folder with its step; leave out -o, --overwrite and --dt")
    require_request(model, "simulate")
    models.check_outputs(model)
    linear = not isinstance(model.system, ph.System)
    if args.resume and linear:
        raise InputError(f"{model.label} is linear, and its runs cannot be resumed; run it again")
    folder = Path(args.resume) if args.resume else _run_folder(model, args.output, args.overwrite)
    console.title(model.name or model.label)
    begin = time.perf_counter()
    with _replaced_run(folder) if args.overwrite else nullcontext():
        result = _simulate(model, args, folder, linear, console)
        seconds = time.perf_counter() - begin
    data = {"model": args.model, "name": model.name, "folder": str(folder)}
    data |= _write_results(model, result, folder, page=not args.no_page) | {"seconds": seconds}
    (folder / SUMMARY).write_text(as_json(data) + "\n", encoding="utf-8")
    _print_summary(console, data)
    return data


def _run_folder(model: Model, requested: str | None, overwrite: bool) -> Path:
    """The folder to write the run to: `requested`, or MODEL.run, MODEL.run-2, … Raises InputError if it is a file or has a run,
    unless `overwrite`."""
    first = Path(requested or f"{models.stem(model)}.run")
    has_run = (first / "run.json").exists() or (first / SUMMARY).exists()
    if overwrite and first.is_dir():
        if not has_run:
            raise InputError(f"{str(first)!r} exists and has no run in it; --overwrite replaces runs only")
        return first
    if requested is None:
        numbered = (Path(f"{models.stem(model)}.run-{k}") for k in range(2, 10_000))
        while first.exists() and (not first.is_dir() or any(first.iterdir())):
            first = next(numbered)
    elif first.exists() and not first.is_dir():
        raise InputError(f"{requested!r} is a file; a run is saved in a folder")
    elif has_run:
        alternatives = f"give another folder, --overwrite it, or continue it: --resume {requested}"
        raise InputError(f"there is a run in {requested!r} already; {alternatives}")
    return first


@contextmanager
def _replaced_run(folder: Path) -> Iterator[None]:
    """Moves the saved run of a folder, its page, table and summary out of the way, and back if the new run fails before its first
    rows."""
    if not folder.is_dir():
        yield
        return
    aside = folder / REPLACED
    with locked(folder):  # not while another process writes there
        aside.mkdir(exist_ok=True)
        for file in [*RunFolder(folder).files(), *(folder / name for name in (PAGE, TABLE, SUMMARY))]:
            if file.exists():
                file.replace(aside / file.name)
    try:
        yield
    except BaseException:
        if not (folder / "t.000000.npy").exists():
            RunFolder(folder).clear()
            for file in aside.iterdir():
                file.replace(folder / file.name)
        raise
    finally:
        shutil.rmtree(aside)


def _simulate(model: Model, args: argparse.Namespace, folder: Path, linear: bool, console: Console) -> Any:
    """Simulates or resumes and returns the result. Raises Interrupted or ConvergenceError; what was saved until then stays in the
    folder."""
    progress = False if console.quiet else None
    try:
        if not args.resume:
            save = None if linear else folder
            return ph.io.run_model(model, save=save, progress=progress, threads=args.threads)
        options: dict[str, Any] = {"u": dict(model.inputs), "controller": model.controller, "threads": args.threads}
        t_end = models.to_seconds("--t-end", args.t_end) if args.t_end else None
        return ph.resume(folder, model.system, t_end=t_end, progress=progress, **options)  # type: ignore[arg-type]
    except KeyboardInterrupt as error:
        raise Interrupted(_interrupted_run(model, args.model, folder)) from error
    except ConvergenceError as error:
        if error.result is None or not (folder / "run.json").exists():
            raise
        kept = f"{error}; the motion up to then is kept: phloat view {folder}"
        raise ConvergenceError(kept, error.result) from error


def _interrupted_run(model: Model, path: str, folder: Path) -> str:
    """The message of an interrupted run: saved times and how to continue. Removes the folder of a run without rows."""
    run_folder = RunFolder(folder)
    if not run_folder.exists:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        return NOTHING_WRITTEN
    description = run_folder.description()
    if not description["pieces"]:
        RunFolder(folder).clear()
        return NOTHING_WRITTEN
    _copy_model(model, folder)
    saved = f"{description['rows']} times up to t = {description['times'][1]:g} s are kept in {folder}"
    return f"interrupted; {saved}; continue with: phloat run {path} --resume {folder}"


# --- results ---------------------------------------------------------------------------------------------------------


def _write_results(model: Model, result: Any, folder: Path, *, page: bool) -> dict[str, Any]:
    """Writes the outputs as a table, the page and a copy of the model to the folder of the run; returns a summary for JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    values = models.compute_outputs(model, result)
    single = {name: value for name, value in values.items() if model.outputs[name].take is not None}
    series = {name: value for name, value in values.items() if name not in single}
    if series:
        heads = [head for name, value in series.items() for head in models.column_names(name, value.shape[1:])]
        table = np.column_stack([result.t, *(value.reshape(len(result), -1) for value in series.values())])
        models.write_table(folder / TABLE, ["t", *heads], table)
    _copy_model(model, folder)
    if page:
        ph.to_html(result, folder / PAGE, **models.page_options(model))
    info: dict[str, Any] = dict(result.info) if isinstance(result, ph.Result) else {}
    dt = info.get("dt") or (model.simulate.dt if model.simulate else None)
    return {
        **{"times": len(result), "t_start": result.t[0], "t_end": result.t[-1], "dt": dt},
        "scheme": info.get("scheme", {}).get("name", "Midpoint"),
        "energy": _energy_summary(model, result),
        "deformation": dict(result.info.get("deformation", {})),
        "shaping": _shaping(model),
        "outputs": single,
        "series": {n: {"min": x.min(axis=0), "max": x.max(axis=0), "last": x[-1]} for n, x in series.items()},
        "table": str(folder / TABLE) if series else None,
        "page": str(folder / PAGE) if page else None,
    }


def _copy_model(model: Model, folder: Path) -> None:
    """Copies the model file to the folder of the run; a file model.json is renamed, since the saved system has that name."""
    assert model.path is not None
    name = model.path.name if model.path.name != "model.json" else "model-given.json"
    (folder / name).write_text(model.text, encoding="utf-8")


def _energy_summary(model: Model, result: Any) -> dict[str, Any]:
    """Energy at the start and at the end (J), energy supplied through ports (J), and the residual of the energy balance
    relative to the largest energy or work."""
    if isinstance(result, ph.Result):
        ledger = ph.energy_ledger(result)
        missing, supplied = ledger.relative, float(sum(line[-1] for line in ledger.supplied.values()))
    else:
        largest = max(float(np.abs(x).max(initial=0.0)) for x in (result.energy, result.works, result.lost))
        missing = float(np.abs(result.residual).max()) / largest if largest else 0.0
        supplied = float(result.works[-1].sum())
    return {"start": result.energy[0], "end": result.energy[-1], "supplied": supplied, "residual": missing}


def _shaping(model: Model) -> dict[str, float]:
    """The times (s) by which shaped commands of servos and inputs are longer, by port."""
    controllers = model.controller if isinstance(model.controller, list) else [model.controller]
    commands = {**model.inputs, **{c.joint: c.reference for c in controllers if isinstance(c, ph.control.Servo)}}
    added = {name: float(getattr(getattr(c, "function", c), "added", 0.0)) for name, c in commands.items()}
    return {name: time for name, time in added.items() if time}


def _print_summary(console: Console, data: dict[str, Any]) -> None:
    """Prints times, energy balance, outputs with their range, and the command that shows the page."""
    energy, times = data["energy"], f"{data['times']} times to t = {data['t_end']:g} s by {data['scheme']}"
    ends = f"{energy['start']:.6g} J → {energy['end']:.6g} J"
    facts = {"motion": f"{times}, in {data['seconds']:.2g} s"}
    facts["energy"] = f"{ends}, relative residual of the balance {energy['residual']:.0e}"
    if far := data["deformation"]:
        facts["deformation"] = describe_deformation(far)
    if data["shaping"]:
        facts["shaping"] = ", ".join(
            f"the command of {name} is {added:.4g} s longer" for name, added in data["shaping"].items()
        )
    console.facts(facts)
    for name, value in data["outputs"].items():
        console.print_lines(f"  {name} = {_value_text(value)}")
    for name, series in data["series"].items():
        low, high, last = (_value_text(series[key]) for key in ("min", "max", "last"))
        console.print_lines(f"  {name}: {low} … {high}, at the end {last}")
    console.print_lines(f"view it: phloat view {data['folder']}" if data["page"] else f"written: {data['folder']}")


def _value_text(value: Any) -> str:
    """A number, or the first three components of an array, with six digits."""
    numbers = [six_digits(float(x)) for x in np.ravel(value)[:3]]
    return numbers[0] if np.ndim(value) == 0 else f"({', '.join(numbers)})"


# --- view ------------------------------------------------------------------------------------------------------------


def view_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Opens the page of a run, of a model or of a file in a browser, and writes it first if needed."""
    path = Path(args.what)
    is_page = path.suffix.lower() in PAGES
    if not path.exists():
        raise InputError(f"there is no {args.what!r}; give a folder with a run, a model file or a page")
    if args.modes and (path.is_dir() or is_page):
        raise InputError(f"--modes is for model files, and {args.what!r} is not one")
    page = _run_page(path, args.output) if path.is_dir() else path if is_page else _model_page(args, console)
    opened = not args.no_browser and open_page(page)
    console.print_lines(f"{'opened' if opened else 'open in a browser'}: {page.resolve().as_uri()}")
    return {"what": args.what, "page": str(page), "opened": opened}


def _run_page(folder: Path, output: str | None) -> Path:
    """The path of the page of a run; it is written if it is missing or older than the run, or if `output` is given."""
    page, run = folder / PAGE, folder / "run.json"
    if not run.exists():
        if page.exists() and output is None:
            return page
        if EnsembleFolder(folder).exists:
            raise InputError(
                f"{str(folder)!r} is a sweep, which has no page; its tables are {SAMPLES} and {SERIES.format('…')}"
            )
        raise InputError(f"{str(folder)!r} has no run and no page; `phloat run model.yaml -o {folder}` makes one")
    if output is None and page.exists() and page.stat().st_mtime >= run.stat().st_mtime:
        return page
    if output:
        models.require_suffixes([output], PAGES)
    return ph.to_html(ph.io.load_result(folder), output or page, **_page_options(folder))


def _page_options(folder: Path) -> dict[str, Any]:
    """Title, inputs and plots for the page of a run, read from the copy of the model's file; without one the folder's name."""
    for file in sorted(folder.iterdir()):
        if file.suffix in (".yaml", ".yml", ".json") and file.name not in ("run.json", "model.json", SUMMARY):
            try:
                model = ph.io.load_model(file)
            except (OSError, InputError):  # a file that the model refers to, such as a mesh, is not in the folder
                continue
            return models.page_options(model) | {"title": model.name or folder.stem}
    return {"title": folder.stem}


def _model_page(args: argparse.Namespace, console: Console) -> Path:
    """Writes the page of a model: of its simulation, or of its modes with --modes or without `simulate`; returns the path."""
    model = models.load_file(args.what)
    page = args.output or f"{models.stem(model)}.html"
    models.require_suffixes([page], PAGES)
    if model.simulate is not None and not args.modes:
        models.check_outputs(model)
        result: Any = ph.io.run_model(model, progress=False if console.quiet else None)
        return ph.to_html(result, page, **models.page_options(model))
    result = ph.io.run_modes(replace(model, modes=replace(model.modes or ModesRequest(), along=None)))
    return ph.to_html(result, page, title=models.title(model))


def open_page(page: Path) -> bool:
    """Opens a page in a graphical browser; returns False if there is none or no display."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        browser = webbrowser.get()
        if getattr(browser, "name", "") in TEXT_BROWSERS:
            return False
        return bool(browser.open(page.resolve().as_uri()))
    except (webbrowser.Error, OSError):
        return False


# --- sweep -----------------------------------------------------------------------------------------------------------


def sweep_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Simulates a model for all samples of its `sweep`, writes a table and a summary; returns the summary as JSON data."""
    model = models.load_file(args.model)
    request = require_request(model, "sweep")
    if args.samples is not None:
        if args.samples < 1:
            raise InputError(f"--samples is {args.samples}; give at least one run")
        model = replace(model, sweep=replace(request, samples=args.samples))
    models.check_outputs(model)
    folder = Path(args.output or f"{models.stem(model)}.sweep")
    if args.overwrite and folder.is_dir():
        if not EnsembleFolder(folder).exists:
            raise InputError(f"{str(folder)!r} exists and has no sweep in it; --overwrite replaces sweeps only")
        for pattern in ("ensemble.json", "*.npy", "*.npz", SERIES.format("*"), SAMPLES, SUMMARY):
            for file in folder.glob(pattern):
                file.unlink()
    console.title(model.name or model.label)
    try:
        ensemble = ph.io.run_sweep(model, workers=args.workers, save=folder, progress=False if console.quiet else None)
    except KeyboardInterrupt as error:
        raise Interrupted(_interrupted_sweep(folder)) from error
    if not ensemble.ok.any():
        raise ConvergenceError(f"all {len(ensemble)} runs failed; the first: {ensemble.failed[0].error}")
    columns = _sample_columns(ensemble)
    table = [np.arange(len(ensemble)), *ensemble.parameters.values(), *columns.values()]
    models.write_table(folder / SAMPLES, ["sample", *ensemble.parameters, *columns], np.column_stack(table))
    data = {
        **{"model": args.model, "name": model.name, "folder": str(folder)},
        "samples": len(ensemble),
        "sampling": ensemble.samples.sampling,
        "failed": [{"sample": f.sample, "parameters": f.parameters, "error": f.error} for f in ensemble.failed],
        "parameters": {name: _statistics(x) for name, x in ensemble.parameters.items()},
        "outputs": {name: _statistics(values[ensemble.ok]) for name, values in columns.items()},
        "table": str(folder / SAMPLES),
        "series": _write_series(ensemble, folder),
    }
    (folder / SUMMARY).write_text(as_json(data) + "\n", encoding="utf-8")
    console.print_lines(f"  {len(ensemble)} runs ({ensemble.samples.sampling}), {len(ensemble.failed)} failed")
    rows = [(name, *one.values()) for part in ("parameters", "outputs") for name, one in data[part].items()]
    console.table(("", "mean", "deviation", "min", "max"), rows[:MAX_ROWS])
    if len(rows) > MAX_ROWS:
        console.note(f"{len(rows) - MAX_ROWS} more numbers are in {folder / SUMMARY}")
    for failed in ensemble.failed[:3]:
        console.note(f"sample {failed.sample} failed: {failed.error}")
    console.print_lines(f"all samples: {folder / SAMPLES}")
    for name, file in data["series"].items():
        where = file or f"ph.io.load_ensemble({str(folder)!r})[{name!r}], too large for a table"
        console.print_lines(f"{name} over time: {where}")
    return data


def _sample_columns(ensemble: Ensemble) -> dict[str, np.ndarray]:
    """The outputs that are not functions of time as columns by name, (samples,)."""
    out: dict[str, np.ndarray] = {}
    for name, shape in ensemble.shapes.items():
        if not ensemble.over_time(name):
            heads = models.column_names(name, shape)
            out |= dict(zip(heads, ensemble[name].reshape(len(ensemble), -1).T, strict=True))
    return out


def _write_series(ensemble: Ensemble, folder: Path) -> dict[str, str | None]:
    """Writes each output over time as a table with a column for each sample; {output: file, or None if it would be too large}."""
    files: dict[str, str | None] = {}
    for name, shape in ensemble.shapes.items():
        if ensemble.t is None or not ensemble.over_time(name):
            continue
        files[name] = None
        if len(ensemble) * int(np.prod(shape)) <= MAX_SERIES:
            heads = [head for k in range(len(ensemble)) for head in models.column_names(f"sample {k}", shape[1:])]
            values = np.moveaxis(ensemble[name], 1, 0).reshape(shape[0], -1)
            file = folder / SERIES.format(re.sub(r"[^\w .()-]", "_", name))
            models.write_table(file, ["t", *heads], np.column_stack([ensemble.t, values]))
            files[name] = str(file)
    return files


def _interrupted_sweep(folder: Path) -> str:
    """The message of an interrupted sweep: the number of computed runs, and how to continue."""
    try:
        ensemble = ph.io.load_ensemble(folder)
    except InputError:
        return NOTHING_WRITTEN
    finished = len(ensemble) - ensemble.missing
    return f"interrupted; {finished} of {len(ensemble)} runs are kept in {folder}; the same command continues with the rest"


def _statistics(x: np.ndarray) -> dict[str, float]:
    """Mean, standard deviation (of a sample, n − 1), minimum and maximum."""
    deviation = float(x.std(ddof=1)) if len(x) > 1 else 0.0
    return {"mean": float(x.mean()), "std": deviation, "min": float(x.min()), "max": float(x.max())}
