"""Four numbers at a time: the vectors of the processor, which the compiler does not find in loops as short as ours.

load(a, k)         a[k], …, a[k + 3]           broadcast(x)         x four times       plus(a, b, c)    a + b c
store(a, k, v)     and back                    pack(a, b, c, d)  four numbers       less(a, b, c)    a − b c
total(v)           the sum of the four         totals(a, b, c, d)  four such sums   times(a, b), size(v) = |v|
"""

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
    """Where four numbers of an array begin."""
    numbers = array if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(numbers, [place]), _vector.as_pointer())


def _mixed(builder: Any, a: Any, b: Any, places: list[int]) -> Any:
    """Four of the eight numbers of a and b."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_place, FOUR), places))


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


@intrinsic
def broadcast(typing, value):
    def code(context, builder, signature, args):
        one = builder.insert_element(ir.Constant(_vector, ir.Undefined), args[0], ir.Constant(_place, 0))
        return _mixed(builder, one, one, [0] * FOUR)

    return four(number), code


@intrinsic
def pack(typing, a, b, c, d):
    def code(context, builder, signature, args):
        out = ir.Constant(_vector, ir.Undefined)
        for k, value in enumerate(args):
            out = builder.insert_element(out, value, ir.Constant(_place, k))
        return out

    return four(number, number, number, number), code


@intrinsic
def plus(typing, a, b, c):
    def code(context, builder, signature, args):
        return builder.fadd(args[0], builder.fmul(args[1], args[2], flags=_may), flags=_may)

    return four(four, four, four), code


@intrinsic
def less(typing, a, b, c):
    def code(context, builder, signature, args):
        return builder.fsub(args[0], builder.fmul(args[1], args[2], flags=_may), flags=_may)

    return four(four, four, four), code


@intrinsic
def times(typing, a, b):
    def code(context, builder, signature, args):
        return builder.fmul(args[0], args[1], flags=_may)

    return four(four, four), code


@intrinsic
def size(typing, a):
    def code(context, builder, signature, args):
        name, kind = f"llvm.fabs.v{FOUR}f64", ir.FunctionType(_vector, [_vector])
        return builder.call(builder.module.declare_intrinsic(name, (), kind), args)

    return four(four), code


@intrinsic
def total(typing, a):
    def code(context, builder, signature, args):
        a, b, c, d = (builder.extract_element(args[0], ir.Constant(_place, k)) for k in range(FOUR))
        return builder.fadd(builder.fadd(a, c), builder.fadd(b, d))

    return number(four), code


@intrinsic
def totals(typing, a, b, c, d):
    def code(context, builder, signature, args):
        a, b, c, d = args
        first = builder.fadd(_mixed(builder, a, b, [0, 4, 2, 6]), _mixed(builder, a, b, [1, 5, 3, 7]))
        second = builder.fadd(_mixed(builder, c, d, [0, 4, 2, 6]), _mixed(builder, c, d, [1, 5, 3, 7]))
        return builder.fadd(_mixed(builder, first, second, [0, 1, 4, 5]), _mixed(builder, first, second, [2, 3, 6, 7]))

    return four(four, four, four, four), code
