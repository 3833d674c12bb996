"""Pickles for other processes: functions of the user's scripts are pickled by value, as other processes cannot import them.

A lambda or a function of `__main__` or of a notebook is pickled as its code, its defaults, its closure and the globals that it
uses; functions of installed packages are pickled by name.
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


def dumps(label: str, value: object) -> bytes:
    """A pickle that a new process with the same Python can load, here or on another machine; raises InputError with the label."""
    file = io.BytesIO()
    try:
        _Pickler(file, protocol=5).dump(value)
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise InputError(f"{label} cannot be sent to other processes: {error}") from error
    return file.getvalue()


def installed(module: str | None) -> bool:
    """Whether every process can import this module: of phloat, of the standard library, or of an installed package."""
    if module is None or module == "__main__":
        return False
    if module.partition(".")[0] in ("phloat", "builtins"):
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is None or any(folder in Path(file).resolve().parents for folder in INSTALLED)


def global_names(code: CodeType) -> Iterator[str]:
    """The names of globals that a function and the functions inside it use."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in GLOBAL:
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from global_names(constant)


class _Pickler(pickle.Pickler):
    """A pickler that pickles functions of modules that are not installed by value."""

    def reducer_override(self, item: Any) -> Any:
        if isinstance(item, FunctionType) and not (installed(item.__module__) and _importable(item)):
            code = item.__code__
            scope = {n: item.__globals__[n] for n in dict.fromkeys(global_names(code)) if n in item.__globals__}
            state = (item.__defaults__, item.__kwdefaults__, scope)
            arguments = (marshal.dumps(code), item.__name__, item.__qualname__, item.__closure__)
            return _function, arguments, state, None, None, _set_state
        if isinstance(item, CellType):
            try:
                return _cell, (), item.cell_contents, None, None, _set_cell
            except ValueError:  # an empty cell
                return _cell, ()
        if isinstance(item, ModuleType):
            return importlib.import_module, (item.__name__,)
        if isinstance(item, type) and not installed(item.__module__):
            raise pickle.PicklingError(f"class {item.__qualname__} is not installed there; put it into a package")
        return NotImplemented


def _importable(function: Any) -> bool:
    """Whether importing its qualified name gives this function."""
    target: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        target = getattr(target, name, None)
    return target is function


def _function(code: bytes, name: str, qualname: str, closure: tuple[CellType, ...] | None) -> FunctionType:
    """A function from its code, without defaults and globals."""
    scope: dict[str, object] = {"__builtins__": builtins, "__name__": "phloat.many.pickling"}
    out = FunctionType(marshal.loads(code), scope, name, None, closure)
    out.__qualname__ = qualname
    return out


def _set_state(function: FunctionType, state: tuple[Any, Any, dict[str, object]]) -> None:
    """Sets defaults and globals after the function exists, because it may refer to itself."""
    function.__defaults__, function.__kwdefaults__ = state[0], state[1]
    function.__globals__.update(state[2])


def _cell() -> CellType:
    return CellType()


def _set_cell(cell: CellType, value: object) -> None:
    cell.cell_contents = value
