"""Model files for the commands: reading with options of the command line, outputs, tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import phloat as ph
from phloat.cli.console import Console, as_json
from phloat.errors import InputError
from phloat.files.locate import errors_at
from phloat.files.model import Model
from phloat.files.requests import Simulate
from phloat.format.node import child
from phloat.format.units import Dimension, parse_number

TIME = Dimension(s=1)
PICTURES = (".png", ".svg", ".pdf")


def load_file(path: str) -> Model:
    """The model in a file. Raises InputError for a folder."""
    if Path(path).is_dir():
        raise InputError(f"{path!r} is a folder, and a model is a file; `phloat view {path}` shows a run")
    return ph.io.load_model(path)


def with_times(model: Model, t_end: str | None, dt: str | None) -> Model:
    """The model with another end or another step."""
    given: dict[str, Any] = {
        name: seconds(f"--{name.replace('_', '-')}", text) for name, text in (("t_end", t_end), ("dt", dt)) if text
    }
    if not given:
        return model
    if model.simulate is not None:
        return replace(model, simulate=replace(model.simulate, **given))
    if "t_end" not in given:
        raise InputError(f"{model.label} has no simulate; give --t-end too")
    return replace(model, simulate=Simulate(given.pop("t_end"), **given))


def seconds(what: str, text: str) -> float:
    """A time with a unit, or in seconds."""
    try:
        found = parse_number(text)
    except InputError as error:
        raise InputError(f"{what}: {error}; write 2, 2s or 500ms") from error
    if found.dimension not in (None, TIME):
        raise InputError(f"{what} is {text!r}, which is not a time; write 2, 2s or 500ms")
    return found.value


def stem(model: Model) -> str:
    """The name of the model file without its suffix, for files made of it."""
    assert model.path is not None
    return model.path.stem


def title(model: Model) -> str:
    """The name of a model, or else that of its file, for pages."""
    return model.name or stem(model)


# --- outputs ---------------------------------------------------------------------------------------------------------


def try_outputs(model: Model) -> None:
    """Computes the outputs of the initial state, so that a wrong name raises before the run and not after it."""
    if isinstance(model.system, ph.System) and model.outputs:
        lam = np.zeros((1, model.system.multipliers.size))
        initial = ph.Result(model.system, np.zeros(1), model.state.e[None], lam)
        outputs(model, initial)


def outputs(model: Model, result: Any) -> dict[str, np.ndarray]:
    """The outputs by name. Raises FileError at an output that cannot be computed."""
    found = {}
    for name, output in model.outputs.items():
        with errors_at(child(child(model.root, "outputs"), name) or model.root):
            found[name] = output.value(result)
    return found


def column_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """The names of the columns of an output over time: its name, with x, y, z for vectors."""
    if not shape:
        return [name]
    if len(shape) == 1 and shape[0] <= 3:
        return [f"{name}.{axis}" for axis in "xyz"[: shape[0]]]
    return [f"{name}[{','.join(map(str, index))}]" for index in np.ndindex(*shape)]


def write_table(path: Path, heads: list[str], table: np.ndarray) -> None:
    """Writes numbers with all their digits as CSV."""
    quoted = ['"' + head.replace('"', '""') + '"' if any(c in head for c in ',"\n') else head for head in heads]
    rows = (",".join(map(repr, row)) for row in np.asarray(table, dtype=float).tolist())
    path.write_text("\n".join([",".join(quoted), *rows]) + "\n", encoding="utf-8")


def require_suffix(path: str, known: tuple[str, ...]) -> str:
    """The suffix of a file to be written. Raises InputError if it is not among the known, or the folder is missing."""
    found = Path(path).suffix.lower()
    if found not in known:
        raise InputError(f"{path!r} ends in {found or 'nothing'}; it can end in {', '.join(known)}")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"there is no folder {str(Path(path).parent)!r} for {Path(path).name!r}; create it first")
    return found


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
    """Writes what the suffix of each file says: the data as JSON, a table as CSV, the page or picture of a value, or a text."""
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
        console.say(f"written: {path}")
