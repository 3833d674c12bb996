"""Model files as commands take them: read, with a few words of the command line in place of theirs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import phloat as ph
from phloat.errors import InputError
from phloat.files.locate import errors_at
from phloat.files.model import Model
from phloat.files.outputs import Output
from phloat.files.requests import Simulate
from phloat.format.units import Dimension, parse_number

TIME = Dimension(s=1)
PICTURES = (".png", ".svg", ".pdf")


def loaded(path: str) -> Model:
    """The model in a file; a folder is something else."""
    if Path(path).is_dir():
        raise InputError(f"{path!r} is a folder, and a model is a file; `phloat view {path}` looks at a run")
    return ph.load_model(path)


def timed(model: Model, t_end: str | None, dt: str | None) -> Model:
    """The model with another end, or another step."""
    given: dict[str, Any] = {
        name: seconds(f"--{name.replace('_', '-')}", text) for name, text in (("t_end", t_end), ("dt", dt)) if text
    }
    if not given:
        return model
    if model.simulate is not None:
        return replace(model, simulate=replace(model.simulate, **given))
    if "t_end" not in given:
        raise InputError(f"{model.label} does not ask for simulate; give --t-end beside --dt")
    return replace(model, simulate=Simulate(given.pop("t_end"), **given))


def seconds(what: str, text: str) -> float:
    """A time with its unit, or in seconds."""
    try:
        found = parse_number(text)
    except InputError as error:
        raise InputError(f"{what}: {error}; write 2, 2s or 500ms") from error
    if found.dimension not in (None, TIME):
        raise InputError(f"{what} is {text!r}, and no time; write 2, 2s or 500ms")
    return found.value


def stem(model: Model) -> str:
    """What files made of a model are called after."""
    assert model.path is not None
    return model.path.stem


# --- outputs ---------------------------------------------------------------------------------------------------------


def try_outputs(model: Model) -> None:
    """Ask for the outputs of a run that has just begun: a wrong name shows now, and not after the run."""
    if isinstance(model.system, ph.System) and model.outputs:
        lam = np.zeros((1, model.system.multipliers.size))
        begun = ph.Result(model.system, np.zeros(1), model.state.e[None], lam)
        outputs(model, begun)


def outputs(model: Model, result: Any) -> dict[str, np.ndarray]:
    """The outputs by name; an error points at the output."""
    found = {}
    for name, output in model.outputs.items():
        with errors_at(_at(model, name)):
            found[name] = output.value(result)
    return found


def _at(model: Model, name: str) -> Any:
    entries = getattr(model.root, "entries", None) or {}
    inside = getattr(entries.get("outputs"), "entries", None) or {}
    return inside.get(name) or model.root


def over_time(output: Output) -> bool:
    return output.take is None


def names_of(name: str, shape: tuple[int, ...]) -> list[str]:
    """The columns of an output over time: its name, or that with x, y, z behind it."""
    if not shape:
        return [name]
    if len(shape) == 1 and shape[0] <= 3:
        return [f"{name}.{axis}" for axis in "xyz"[: shape[0]]]
    return [f"{name}[{','.join(map(str, index))}]" for index in np.ndindex(*shape)]


def write_table(path: Path, heads: list[str], table: np.ndarray) -> None:
    """Numbers with all their digits, as CSV."""
    quoted = ['"' + head.replace('"', '""') + '"' if any(c in head for c in ',"\n') else head for head in heads]
    rows = (",".join(map(repr, row)) for row in np.asarray(table, dtype=float).tolist())
    path.write_text("\n".join([",".join(quoted), *rows]) + "\n", encoding="utf-8")


def ending(path: str, known: tuple[str, ...]) -> str:
    """How a file to be written ends, or a sentence."""
    found = Path(path).suffix.lower()
    if found not in known:
        raise InputError(f"{path!r} ends in {found or 'nothing'}; it can end in {', '.join(known)}")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"there is no folder {str(Path(path).parent)!r} for {Path(path).name!r}; make it first")
    return found
