"""Laws that are written as functions, called by pointer: a new law is compiled by itself and the kernel is not compiled again."""

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba as nb
from numba import extending, types
from numba.core.cgutils import ir

from phloat.joints import scalar
from phloat.joints.law_functions import LawFunction, mean_effort
from phloat.motion.kernel.machine.uncompiled import PLAIN, intrinsic, laws

CALLED = types.void(*[types.float64] * 4, types.CPointer(types.float64), types.CPointer(types.float64))
EFFORT, WEIGHT, ENERGY, OUTPUTS = range(4)  # what a law writes
_addresses = itertools.count(1)

# what the functions of joints.scalar mean in compiled code
for _name in scalar.NAMES:
    exec(
        f"import math\n@extending.overload(scalar.{_name})\ndef _{_name}(x):\n    return lambda x: math.{_name}(x)",
        {"extending": extending, "scalar": scalar},
    )


@extending.overload(scalar.atan2)
def _atan2(y, x):
    return lambda y, x: math.atan2(y, x)


@extending.overload(scalar.where)
def _where(condition, yes, no):
    def choose(condition, yes, no):
        return yes if condition else no

    return choose


BODY = """
def law(x0, x1, rate, h, numbers, out):
    mean, slope, energy = mean_effort(spring, x0, x1{numbers})
    effort, steep = damper(rate{numbers})
    out[0], out[1], out[2] = mean + effort, 0.5 * h * slope + steep, energy
"""


@lru_cache(maxsize=256)
def law_address(function: LawFunction) -> int:
    """Where the compiled law is: (x₀, x₁, rate, h, numbers, out) → effort over the step, h ∂effort/∂x₁, energy at x₁."""
    numbers = "".join(f", numbers[{k}]" for k in range(len(function.numbers)))
    make: Callable[..., Any] = (lambda f: f) if PLAIN else nb.njit(error_model="numpy", nogil=True)
    known = {"spring": make(function.spring), "damper": make(function.damper), "mean_effort": make(mean_effort)}
    exec(BODY.format(numbers=numbers), known)
    if PLAIN:
        address = next(_addresses)
        laws[address] = known["law"]
        return address
    compiled: Any = nb.cfunc(CALLED, error_model="numpy")(known["law"])
    _compiled.append(compiled)  # as long as it may be called
    return int(compiled.address)


_compiled: list[Any] = []


@intrinsic
def call_law(typing, address, x0, x1, rate, h, w, numbers, out):
    """The law at an address, with its numbers at w[numbers], into w[out]."""

    def code(context, builder, signature, args):
        double = ir.DoubleType()
        kind = ir.FunctionType(ir.VoidType(), [double] * 4 + [double.as_pointer()] * 2)
        called = builder.inttoptr(args[0], kind.as_pointer())
        held = signature.args[5]
        data = context.make_array(held)(context, builder, args[5]).data if isinstance(held, types.Array) else args[5]
        places = [builder.gep(data, [args[6]]), builder.gep(data, [args[7]])]
        builder.call(called, [*args[1:5], *places])
        return context.get_dummy_value()

    real, whole = types.float64, types.int64
    return types.void(whole, real, real, real, real, w, whole, whole), code
