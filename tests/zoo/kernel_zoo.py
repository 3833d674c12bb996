"""Functions of the compiled step as they are written."""

import types


def as_written(function, **others):
    """A compiled function without its compiler, with others in the place of those it calls."""
    plain = getattr(function, "py_func", function)
    return types.FunctionType(plain.__code__, {**plain.__globals__, **others}, plain.__name__)
