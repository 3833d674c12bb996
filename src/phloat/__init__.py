"""phloat: port-Hamiltonian flexible multibody dynamics.

Public names are in `phloat` itself (listed in `phloat/names.py`) and in the namespaces below. A name loads its own module when it
is first used, so that little is imported for little, and a part that needs little (`phloat.twin`: NumPy and JAX) can be used where
the rest is not installed.
"""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
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
    if name == "__all__":
        return sorted(name for name in modules_of_names() if not name.startswith("_"))
    if name not in modules_of_names():
        raise AttributeError(f"module 'phloat' has no attribute {name!r}{hint_for(name)}")
    globals()[name] = getattr(import_module(modules_of_names()[name]), name)
    return globals()[name]


def hint_for(name: str) -> str:
    """The end of the message about an unknown name: where it is, or the names that may be meant."""
    from phloat.synonyms import suggestions

    without_twin = {space: module for space, module in NAMESPACES.items() if space != "twin"}  # it needs JAX
    homes = [space for space, module in without_twin.items() if hasattr(import_module(module), name)]
    if homes:
        return "".join(f"; it is phloat.{space}.{name}" for space in homes)
    spaces = {space: public_names(import_module(module)) for space, module in without_twin.items()}
    found = suggestions(name, [*__dir__(), *(f"{space}.{inner}" for space, names in spaces.items() for inner in names)])
    return f"; did you mean {', '.join(found)}?" if found else "; dir(phloat) lists all names"


@cache
def modules_of_names() -> dict[str, str]:
    """The module of each name in `phloat/names.py`, which is read and not imported."""
    tree = ast.parse(Path(__file__).with_name("names.py").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), *NAMESPACES])


def public_names(namespace: ModuleType) -> list[str]:
    """Names that a namespace of phloat offers, in alphabetical order."""
    if hasattr(namespace, "__all__"):
        return sorted(namespace.__all__)
    found = vars(namespace).items()
    return sorted(name for name, thing in found if not name.startswith("_") and not isinstance(thing, ModuleType))
