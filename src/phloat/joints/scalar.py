"""Functions for laws, which are written once: Numba compiles them, JAX traces them, Python calls them.

Use these instead of `math` and NumPy in the functions of a law, and `where` instead of `if`: both branches are evaluated.
"""

from __future__ import annotations

import math
from typing import Any

NAMES = ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "atan", "fabs")


def _traced(x: Any) -> bool:
    return type(x).__module__.startswith("jax")


def _function(name: str) -> Any:
    plain, other = getattr(math, name), {"atan": "arctan", "fabs": "abs"}.get(name, name)

    def function(x: Any) -> Any:
        if _traced(x):
            import jax.numpy as jnp

            return getattr(jnp, other)(x)
        return plain(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"math.{name} of a number, or of an array that JAX traces."
    return function


sqrt, exp, log, sin, cos, tan, tanh, atan, fabs = map(_function, NAMES)


def where(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` if the condition holds, else `no`."""
    if _traced(condition):
        import jax.numpy as jnp

        return jnp.where(condition, yes, no)
    return yes if condition else no
