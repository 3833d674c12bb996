"""Functions of the compiled step by themselves: called from Python, or without compilation."""

import types

from phloat.motion.kernel.machine.compiler import entry


def from_python(*functions):
    """Inner functions of the kernel, compiled so that Python can call them."""
    return [entry(getattr(function, "py_func", function)) for function in functions]


def as_written(function, **others):
    """The Python function of a compiled one; the keywords replace global names that it uses."""
    plain = getattr(function, "py_func", function)
    return types.FunctionType(plain.__code__, {**plain.__globals__, **others}, plain.__name__)
