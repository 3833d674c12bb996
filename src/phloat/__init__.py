"""phloat: port-Hamiltonian flexible multibody dynamics.

Public names are in `phloat` itself (listed in `phloat/names.py`) and in the namespaces below. They are loaded when the first of
them is asked for, so that a part of this package that needs little (`phloat.twin`: NumPy and JAX) can be used where the rest is
not installed.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phloat import (
        control as control,
        errors as errors,
        io as io,
        random as random,
        reduction as reduction,
        twin as twin,
        types as types,
    )
    from phloat.fem import shapes as shapes
    from phloat.names import *

NAMESPACES = {name: f"phloat.{name}" for name in ("control", "errors", "io", "random", "reduction", "twin", "types")}
NAMESPACES["shapes"] = "phloat.fem.shapes"


def __getattr__(name: str) -> Any:
    if name in NAMESPACES:
        return import_module(NAMESPACES[name])
    if name.startswith("__") and name not in ("__all__", "__version__"):
        raise AttributeError(f"module 'phloat' has no attribute {name!r}")
    names = import_module("phloat.names")
    if name == "__all__":
        return public_names(names)
    if not hasattr(names, name):
        without_twin = {space: module for space, module in NAMESPACES.items() if space != "twin"}  # it needs JAX
        homes = [space for space, module in without_twin.items() if hasattr(import_module(module), name)]
        hint = "".join(f"; it is phloat.{space}.{name}" for space in homes)
        raise AttributeError(f"module 'phloat' has no attribute {name!r}{hint}")
    globals()[name] = getattr(names, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted([*public_names(import_module("phloat.names")), *NAMESPACES])


def public_names(namespace: ModuleType) -> list[str]:
    """Names that a namespace of phloat offers, in alphabetical order."""
    if hasattr(namespace, "__all__"):
        return sorted(namespace.__all__)
    found = vars(namespace).items()
    return sorted(name for name, thing in found if not name.startswith("_") and not isinstance(thing, ModuleType))
