"""Four numbers at a time: the vectors of the processor, which the compiler does not find in loops as short as ours.

load(a, k)         a[k], …, a[k + 3]           broadcast(x)         x four times       plus(a, b, c)    a + b c
store(a, k, v)     and back                    pack(a, b, c, d)  four numbers       less(a, b, c)    a − b c
total(v)           the sum of the four         totals(a, b, c, d)  four such sums   times(a, b), size(v) = |v|
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from numba.core import cgutils, types
from numba.extending import models, register_model

from phloat.motion.kernel.machine.uncompiled import intrinsic

ir: Any = vars(cgutils)["ir"]  # the instructions that Numba is made of
FOUR = 4
_vector, _place = ir.VectorType(ir.DoubleType(), FOUR), ir.IntType(32)
_may = ("contract",)  # a product and a sum may become one operation


class Four(types.Type):
    """The type of four numbers side by side."""

    def __init__(self) -> None:
        super().__init__(name="Four")


four, number, offset = Four(), types.float64, types.uintp


@register_model(Four)
class _FourModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _vector)


def _at(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """A pointer to four consecutive numbers of an array, from index `place`."""
    numbers = array if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(numbers, [place]), _vector.as_pointer())


def _mixed(builder: Any, a: Any, b: Any, places: list[int]) -> Any:
    """Shuffles vectors: the entries `places` (0 to 7) of the concatenation of a and b, as a vector of four."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_place, FOUR), places))


def instruction(result: Any, *kinds: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator: an intrinsic with these types from the function that writes its code, (builder, values) → value."""

    def decorated(write: Callable[..., Any]) -> Any:
        @wraps(write)  # Numba reads how many arguments there are
        def define(typing: Any, *_: Any) -> tuple[Any, Callable[..., Any]]:
            return result(*kinds), lambda context, builder, signature, values: write(builder, *values)

        return intrinsic(define)

    return decorated


@intrinsic
def load(typing, array, place):
    def code(context, builder, signature, args):
        return builder.load(_at(context, builder, signature.args[0], *args), align=8)

    return four(array, offset), code


@intrinsic
def store(typing, array, place, values):
    def code(context, builder, signature, args):
        builder.store(args[2], _at(context, builder, signature.args[0], args[0], args[1]), align=8)
        return context.get_dummy_value()

    return types.none(array, offset, four), code


@instruction(four, number)
def broadcast(builder, value):
    one = builder.insert_element(ir.Constant(_vector, ir.Undefined), value, ir.Constant(_place, 0))
    return _mixed(builder, one, one, [0] * FOUR)


@instruction(four, number, number, number, number)
def pack(builder, a, b, c, d):
    out = ir.Constant(_vector, ir.Undefined)
    for k, value in enumerate((a, b, c, d)):
        out = builder.insert_element(out, value, ir.Constant(_place, k))
    return out


@instruction(four, four, four, four)
def plus(builder, a, b, c):
    return builder.fadd(a, builder.fmul(b, c, flags=_may), flags=_may)


@instruction(four, four, four, four)
def less(builder, a, b, c):
    return builder.fsub(a, builder.fmul(b, c, flags=_may), flags=_may)


@instruction(four, four, four)
def times(builder, a, b):
    return builder.fmul(a, b, flags=_may)


@instruction(four, four)
def size(builder, a):
    name, kind = f"llvm.fabs.v{FOUR}f64", ir.FunctionType(_vector, [_vector])
    return builder.call(builder.module.declare_intrinsic(name, (), kind), [a])


@instruction(number, four)
def total(builder, value):
    a, b, c, d = (builder.extract_element(value, ir.Constant(_place, k)) for k in range(FOUR))
    return builder.fadd(builder.fadd(a, c), builder.fadd(b, d))


@instruction(four, four, four, four, four)
def totals(builder, a, b, c, d):
    first = builder.fadd(_mixed(builder, a, b, [0, 4, 2, 6]), _mixed(builder, a, b, [1, 5, 3, 7]))
    second = builder.fadd(_mixed(builder, c, d, [0, 4, 2, 6]), _mixed(builder, c, d, [1, 5, 3, 7]))
    return builder.fadd(_mixed(builder, first, second, [0, 1, 4, 5]), _mixed(builder, first, second, [2, 3, 6, 7]))
