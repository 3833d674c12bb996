"""phloat: port-Hamiltonian flexible multibody dynamics.

The public names are those of `phloat.names`. They are loaded when the first of them is asked for, so that a part of this package
that needs little (`phloat.twin`: NumPy and JAX) can be used where the rest is not installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phloat.names import *


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name not in ("__all__", "__version__"):
        raise AttributeError(f"module 'phloat' has no attribute {name!r}")
    if name == "twin":  # JAX is needed from here on
        return import_module("phloat.twin")
    names = import_module("phloat.names")
    if not hasattr(names, name):
        raise AttributeError(f"module 'phloat' has no attribute {name!r}")
    globals()[name] = getattr(names, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(import_module("phloat.names").__all__)
