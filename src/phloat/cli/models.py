"""Model files on the command line: reading, times with units, outputs of the model, written tables and pictures."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import phloat as ph
from phloat.algebra.units import Dimension, parse_number
from phloat.cli.console import Console, as_json
from phloat.errors import InputError, require_folder
from phloat.files.locate import errors_at
from phloat.files.model import Model
from phloat.files.requests import Simulate
from phloat.format.node import child
from phloat.motion.result import Efforts

TIME = Dimension(s=1)
PICTURES = (".png", ".svg", ".pdf")


def load_file(path: str) -> Model:
    """Reads a model file. Raises InputError if the path is a folder."""
    if Path(path).is_dir():
        raise InputError(f"{path!r} is a folder, and a model is a file; `phloat view {path}` shows a run")
    return ph.io.load_model(path)


def with_times(model: Model, t_end: str | None, dt: str | None) -> Model:
    """The model with the end time and the step of the options --t-end and --dt, for those that are not None."""
    texts = {"t_end": t_end, "dt": dt}
    times: dict[str, Any] = {n: to_seconds(f"--{n.replace('_', '-')}", text) for n, text in texts.items() if text}
    if model.simulate is not None:
        return replace(model, simulate=replace(model.simulate, **times))
    if times and "t_end" not in times:
        raise InputError(f"{model.label} has no simulate; give --t-end too")
    return replace(model, simulate=Simulate(**times)) if times else model


def to_seconds(label: str, text: str) -> float:
    """The time (s) written in `text`, with or without a unit. Raises InputError naming the option `label` if it is not a time."""
    try:
        number = parse_number(text)
    except InputError as error:
        raise InputError(f"{label}: {error}; write 2, 2s or 500ms") from error
    if number.dimension not in (None, TIME):
        raise InputError(f"{label} is {text!r}, which is not a time; write 2, 2s or 500ms")
    return number.value


def stem(model: Model) -> str:
    """The name of the model file without its suffix, the default name of files that a command writes."""
    assert model.path is not None
    return model.path.stem


def title(model: Model) -> str:
    """The title of a page: the name of the model, or of its file if it has none."""
    return model.name or stem(model)


# --- outputs ---------------------------------------------------------------------------------------------------------


def check_outputs(model: Model) -> None:
    """Computes the outputs and plots of the initial state, so that a wrong name raises FileError before the simulation and not
    after it."""
    if isinstance(model.system, ph.System) and (model.outputs or page_options(model)["plots"]):
        lam, efforts = np.zeros((2, model.system.multipliers.size)), Efforts((), np.zeros((2, 0)))
        initial = ph.Result(model.system, np.arange(2.0), np.array([model.state.e] * 2), lam, efforts=efforts)
        whole = {name: replace(output, start=None, end=None) for name, output in model.outputs.items()}
        compute_outputs(replace(model, outputs=whole), initial)
        with errors_at(child(model.root, "simulate", "plots") or model.root):
            ph.show(initial, u=dict(model.inputs) or None, plots=page_options(model)["plots"])


def page_options(model: Model) -> dict[str, Any]:
    """The options of `to_html` for a run of a model: title, inputs, and the plots that it opens with."""
    plots = model.simulate.plots if model.simulate else ()
    return {"title": title(model), "u": dict(model.inputs) or None, "plots": plots or None}


def compute_outputs(model: Model, result: Any) -> dict[str, np.ndarray]:
    """The outputs of the model for a result, by name. Raises FileError with the line of an output that cannot be computed."""
    values = {}
    for name, output in model.outputs.items():
        with errors_at(child(model.root, "outputs", name) or model.root):
            values[name] = output.value(result)
    return values


def column_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """The names of the columns of an output of that shape at each time: its name, with x, y, z for vectors and [i,j] for arrays."""
    if not shape:
        return [name]
    if len(shape) == 1 and shape[0] <= 3:
        return [f"{name}.{axis}" for axis in "xyz"[: shape[0]]]
    return [f"{name}[{','.join(map(str, index))}]" for index in np.ndindex(*shape)]


def write_table(path: Path, heads: list[str], table: np.ndarray) -> None:
    """Writes a table of numbers as CSV, with all digits."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([heads, *np.asarray(table, dtype=float).tolist()])


def require_suffixes(paths: Iterable[str], suffixes: tuple[str, ...]) -> None:
    """Raises InputError if the suffix of a file to be written is not in `suffixes`, or its folder does not exist."""
    for path in paths:
        if (suffix := Path(path).suffix.lower()) not in suffixes:
            raise InputError(f"{path!r} ends in {suffix or 'nothing'}; it can end in {', '.join(suffixes)}")
        require_folder(path)


def write_files(
    console: Console,
    paths: list[str],
    data: dict[str, Any],
    *,
    plotted: Any = None,
    table: tuple[list[str], np.ndarray] | None = None,
    title: str = "",
    text: str = "",
) -> None:
    """Writes files by suffix: .json the data, .csv the table, .html the page of `plotted`, pictures its plot, .txt the text."""
    for path in paths:
        suffix = Path(path).suffix.lower()
        if suffix == ".html":
            ph.to_html(plotted, path, title=title)
        elif suffix in PICTURES:
            ph.plot(plotted).savefig(path)
        elif suffix == ".csv" and table is not None:
            write_table(Path(path), *table)
        else:
            Path(path).write_text((as_json(data) if suffix == ".json" else text) + "\n", encoding="utf-8")
        console.print_lines(f"written: {path}")
