"""Laws written as functions, called by pointer: a new law is compiled by itself, and the kernel is not compiled again."""

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba as nb
from numba import extending, types
from numba.core.cgutils import ir
from numba.np.unsafe import ndarray

from phloat.joints import scalar
from phloat.joints.laws import LawFunction, mean_effort
from phloat.motion.kernel.machine.uncompiled import UNCOMPILED, intrinsic, laws

to_fixed_tuple: Any = ndarray.to_fixed_tuple
CALLED = types.void(*[types.float64] * 4, types.CPointer(types.float64), types.CPointer(types.float64))
EFFORT, WEIGHT, ENERGY, OUTPUTS = range(4)  # outputs of a law
_addresses = itertools.count(1)
_compiled: list[Any] = []  # references that keep compiled laws alive


def _compile_scalar(name: str) -> None:
    """Makes the function of this name in joints.scalar compile as that of `math`."""
    function = getattr(math, name)

    @extending.overload(getattr(scalar, name))
    def overloaded(x):
        return lambda x: function(x)


for _name in scalar.NAMES:
    _compile_scalar(_name)


@extending.overload(scalar.atan2)
def _atan2(y, x):
    return lambda y, x: math.atan2(y, x)


@extending.overload(scalar.where)
def _select(condition, yes, no):
    def choose(condition, yes, no):
        return yes if condition else no

    return choose


@lru_cache(maxsize=256)
def law_address(function: LawFunction) -> int:
    """Address of a compiled law: (x₀, x₁, rate, h, numbers, out) → effort over the step, h ∂effort/∂x₁, energy at x₁."""
    compiled: Callable[..., Any] = (lambda f: f) if UNCOMPILED else nb.njit(error_model="numpy", nogil=True)
    spring, damper, mean = compiled(function.spring), compiled(function.damper), compiled(mean_effort)
    actuator = compiled(function.actuator)
    length = len(function.numbers)

    @compiled
    def parameters(numbers):  # a tuple of known length, for functions with that many arguments
        return numbers[:length] if UNCOMPILED else to_fixed_tuple(nb.carray(numbers, (length,)), length)

    @compiled
    def spring_of(x, values):
        return spring(x, *values)

    def law(x0, x1, rate, h, numbers, out):
        values = parameters(numbers)
        effort, slope, energy = mean(spring_of, x0, x1, values)
        damper_effort, damper_slope = damper(0.5 * (x0 + x1), rate, *values)
        motor, by_x, by_v = actuator(0.5 * (x0 + x1), rate, *values)
        out[EFFORT], out[ENERGY] = effort + damper_effort + motor, energy
        out[WEIGHT] = 0.5 * h * (slope + by_x) + damper_slope + by_v

    if UNCOMPILED:
        address = next(_addresses)
        laws[address] = law
        return address
    called: Any = nb.cfunc(CALLED, error_model="numpy")(law)
    _compiled.append(called)
    return int(called.address)


@intrinsic
def call_law(typing, address, x0, x1, rate, h, w, numbers, out):
    """Calls the law at an address with its numbers at w[numbers]; writes effort, weight and energy to w[out]."""

    def code(context, builder, signature, args):
        double = ir.DoubleType()
        kind = ir.FunctionType(ir.VoidType(), [double] * 4 + [double.as_pointer()] * 2)
        called = builder.inttoptr(args[0], kind.as_pointer())
        buf = signature.args[5]
        data = context.make_array(buf)(context, builder, args[5]).data if isinstance(buf, types.Array) else args[5]
        places = [builder.gep(data, [args[6]]), builder.gep(data, [args[7]])]
        builder.call(called, [*args[1:5], *places])
        return context.get_dummy_value()

    real, integer = types.float64, types.int64
    return types.void(integer, real, real, real, real, w, integer, integer), code
