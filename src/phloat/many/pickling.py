"""Pickles for other processes: functions of the user's own scripts travel by value, as other processes cannot import them.

A lambda, a function of `__main__` or of a notebook goes as its code, its defaults, what it encloses and the globals that it
names. Functions of installed packages go by name, as pickle has it.
"""

from __future__ import annotations

import builtins
import dis
import importlib
import io
import marshal
import pickle
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from phloat.errors import InputError

INSTALLED = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib"))
GLOBAL = {"LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_NAME"}


def dumps(what: str, thing: object) -> bytes:
    """A pickle that a fresh process on this or another machine with the same Python can open."""
    file = io.BytesIO()
    try:
        _Pickler(file, protocol=5).dump(thing)
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise InputError(f"{what} cannot be sent to other processes: {error}") from error
    return file.getvalue()


def installed(module: str | None) -> bool:
    """Whether every process has this module: ours, one of the standard library, or of an installed package."""
    if module is None or module == "__main__":
        return False
    if module.partition(".")[0] in ("phloat", "builtins"):
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is None or any(folder in Path(file).resolve().parents for folder in INSTALLED)


def global_names(code: CodeType) -> Iterator[str]:
    """The globals that a function and those inside it use."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in GLOBAL:
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from global_names(constant)


class _Pickler(pickle.Pickler):
    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, FunctionType) and not (installed(thing.__module__) and _importable(thing)):
            code = thing.__code__
            named = {n: thing.__globals__[n] for n in dict.fromkeys(global_names(code)) if n in thing.__globals__}
            state = (thing.__defaults__, thing.__kwdefaults__, named)
            made = (marshal.dumps(code), thing.__name__, thing.__qualname__, thing.__closure__)
            return _function, made, state, None, None, _set_state
        if isinstance(thing, CellType):
            try:
                return _cell, (), thing.cell_contents, None, None, _set_cell
            except ValueError:  # an empty one
                return _cell, ()
        if isinstance(thing, ModuleType):
            return importlib.import_module, (thing.__name__,)
        if isinstance(thing, type) and not installed(thing.__module__):
            raise pickle.PicklingError(f"class {thing.__qualname__} is not installed there; put it into a package")
        return NotImplemented


def _importable(thing: Any) -> bool:
    """Whether importing its qualified name gives this function."""
    at: Any = sys.modules.get(thing.__module__)
    for name in thing.__qualname__.split("."):
        at = getattr(at, name, None)
    return at is thing


def _function(code: bytes, name: str, qualname: str, closure: tuple[CellType, ...] | None) -> FunctionType:
    scope: dict[str, object] = {"__builtins__": builtins, "__name__": "phloat.many.pickling"}
    out = FunctionType(marshal.loads(code), scope, name, None, closure)
    out.__qualname__ = qualname
    return out


def _set_state(function: FunctionType, state: tuple[Any, Any, dict[str, object]]) -> None:
    """Sets defaults and globals after the function exists, since it may refer to itself."""
    function.__defaults__, function.__kwdefaults__ = state[0], state[1]
    function.__globals__.update(state[2])


def _cell() -> CellType:
    return CellType()


def _set_cell(cell: CellType, value: object) -> None:
    cell.cell_contents = value
