"""Functions of the compiled step without compilation, to replace functions that they call."""

import types


def as_written(function, **others):
    """The Python function of a compiled one; the keywords replace global names that it uses."""
    plain = getattr(function, "py_func", function)
    return types.FunctionType(plain.__code__, {**plain.__globals__, **others}, plain.__name__)
