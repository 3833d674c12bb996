"""SIMD vectors of four numbers, which the compiler does not generate for loops as short as these.

load(a, k)         a[k], …, a[k + 3]           broadcast(x)         x four times       plus(a, b, c)    a + b c
store(a, k, v)     the reverse                  pack(a, b, c, d)  four numbers       minus(a, b, c)   a − b c
total(v)           the sum of the four         totals(a, b, c, d)  four such sums   times(a, b), add(a, b), absolute(v)
largest_of(v)      the largest of the four     maximum(a, b)       of each place
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from numba.core import cgutils, types
from numba.extending import models, register_model

from phloat.motion.kernel.machine.uncompiled import intrinsic

ir: Any = vars(cgutils)["ir"]  # llvmlite.ir
FOUR = 4
_vector, _index_type = ir.VectorType(ir.DoubleType(), FOUR), ir.IntType(32)
_fused = ("contract",)  # a product and a sum may become one operation (FMA)


class Four(types.Type):
    """Numba type of a vector of four numbers."""

    def __init__(self) -> None:
        super().__init__(name="Four")


four, number, offset = Four(), types.float64, types.uintp


@register_model(Four)
class _FourModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _vector)


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """A pointer to four consecutive numbers of an array, from index `place`."""
    numbers = array if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(numbers, [index]), _vector.as_pointer())


def _mix(builder: Any, a: Any, b: Any, indices: list[int]) -> Any:
    """Shuffles vectors: the entries `indices` (0 to 7) of the concatenation of a and b, as a vector of four."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_index_type, FOUR), indices))


def instruction(result: Any, *kinds: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that makes an intrinsic with these types from a function (builder, *values) → value that writes its code."""

    def decorated(write: Callable[..., Any]) -> Any:
        @wraps(write)  # Numba reads the number of arguments
        def define(typing: Any, *_: Any) -> tuple[Any, Callable[..., Any]]:
            return result(*kinds), lambda context, builder, signature, values: write(builder, *values)

        return intrinsic(define)

    return decorated


@intrinsic
def load(typing, array, index):
    def code(context, builder, signature, args):
        return builder.load(_address(context, builder, signature.args[0], *args), align=8)

    return four(array, offset), code


@intrinsic
def store(typing, array, index, values):
    def code(context, builder, signature, args):
        builder.store(args[2], _address(context, builder, signature.args[0], args[0], args[1]), align=8)
        return context.get_dummy_value()

    return types.none(array, offset, four), code


@instruction(four, number)
def broadcast(builder, value):
    first = builder.insert_element(ir.Constant(_vector, ir.Undefined), value, ir.Constant(_index_type, 0))
    return _mix(builder, first, first, [0] * FOUR)


@instruction(four, number, number, number, number)
def pack(builder, a, b, c, d):
    out = ir.Constant(_vector, ir.Undefined)
    for k, value in enumerate((a, b, c, d)):
        out = builder.insert_element(out, value, ir.Constant(_index_type, k))
    return out


@instruction(four, four, four, four)
def plus(builder, a, b, c):
    return builder.fadd(a, builder.fmul(b, c, flags=_fused), flags=_fused)


@instruction(four, four, four, four)
def minus(builder, a, b, c):
    return builder.fsub(a, builder.fmul(b, c, flags=_fused), flags=_fused)


@instruction(four, four, four)
def times(builder, a, b):
    return builder.fmul(a, b, flags=_fused)


@instruction(four, four, four)
def add(builder, a, b):
    return builder.fadd(a, b)


@instruction(four, four, four)
def maximum(builder, a, b):
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


@instruction(four, four)
def absolute(builder, a):
    name, kind = f"llvm.fabs.v{FOUR}f64", ir.FunctionType(_vector, [_vector])
    return builder.call(builder.module.declare_intrinsic(name, (), kind), [a])


@instruction(number, four)
def total(builder, value):
    a, b, c, d = (builder.extract_element(value, ir.Constant(_index_type, k)) for k in range(FOUR))
    return builder.fadd(builder.fadd(a, c), builder.fadd(b, d))


@instruction(number, four)
def largest_of(builder, value):
    halves = [_mix(builder, value, value, [k, k + 1, 0, 0]) for k in (0, 2)]
    two = builder.select(builder.fcmp_ordered(">", *halves), *halves)
    a, b = (builder.extract_element(two, ir.Constant(_index_type, k)) for k in range(2))
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


@instruction(four, four, four, four, four)
def totals(builder, a, b, c, d):
    first = builder.fadd(_mix(builder, a, b, [0, 4, 2, 6]), _mix(builder, a, b, [1, 5, 3, 7]))
    second = builder.fadd(_mix(builder, c, d, [0, 4, 2, 6]), _mix(builder, c, d, [1, 5, 3, 7]))
    return builder.fadd(_mix(builder, first, second, [0, 1, 4, 5]), _mix(builder, first, second, [2, 3, 6, 7]))
