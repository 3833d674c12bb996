"""Mathematical functions for laws, which Numba compiles, JAX traces and Python calls.

Use them instead of `math` and NumPy in the functions of a law, and `where` instead of `if`; both values of `where` are evaluated.
"""

from __future__ import annotations

import math
from typing import Any

NAMES = ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "acos", "atan", "fabs", "floor")


def _function(name: str) -> Any:
    plain, of_arrays = getattr(math, name), {"fabs": "abs"}.get(name, name)

    def function(x: Any) -> Any:
        if hasattr(x, "__array_namespace__"):  # of JAX, of NumPy
            return getattr(x.__array_namespace__(), of_arrays)(x)
        try:
            return plain(x)
        except (
            ValueError
        ):  # √−1, log −1: compiled code returns NaN too, and `where` evaluates the branch that it does not take
            return math.nan

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"math.{name} of a number, or the same of an array."
    return function


sqrt, exp, log, sin, cos, tan, tanh, acos, atan, fabs, floor = map(_function, NAMES)


def atan2(y: Any, x: Any) -> Any:
    """math.atan2 of numbers, or its array version."""
    if hasattr(y, "__array_namespace__"):
        return y.__array_namespace__().atan2(y, x)
    return math.atan2(y, x)


def where(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` if the condition holds, else `no`."""
    if hasattr(condition, "__array_namespace__"):
        return condition.__array_namespace__().where(condition, yes, no)
    return yes if condition else no
