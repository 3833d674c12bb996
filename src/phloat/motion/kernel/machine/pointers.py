"""Buffers and integer tables as the compiled functions take them: plain pointers.

A NumPy array is seven machine words or more as an argument, and each index is tested for negative values. `pointer(a)` is one
word; `table(a, columns)` is a table of int32 whose width is known at compile time, with t[i, k] and len(t).
"""

import operator
from typing import Any

from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import models, register_model

from phloat.motion.kernel.machine.uncompiled import intrinsic


class Table(types.Type):
    """Numba type of an int32 table with this number of columns."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        super().__init__(name=f"Table({columns})")


@register_model(Table)
class _TableModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("numbers", types.CPointer(types.int32)), ("rows", types.intp)])


@intrinsic
def pointer(typing, array):
    if array.layout != "C":
        raise TypingError(f"a pointer to {array}, whose numbers are not consecutive")

    def code(context, builder, signature, args):
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), code


@intrinsic(prefer_literal=True)
def table(typing, array, columns):
    def code(context, builder, signature, args):
        array_struct = context.make_array(signature.args[0])(context, builder, args[0])
        out = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        out.numbers, out.rows = array_struct.data, cgutils.unpack_tuple(builder, array_struct.shape)[0]
        return out._getvalue()

    return Table(columns.literal_value)(array, columns), code


@infer_global(operator.getitem)
class _Entry(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.int64, args[0], types.UniTuple(types.int64, 2)) if isinstance(args[0], Table) else None


@lower_builtin(operator.getitem, Table, types.UniTuple)
def _entry(context, builder, signature, args):
    table_struct = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0])
    row, column = cgutils.unpack_tuple(builder, args[1])
    start = builder.mul(row, context.get_constant(types.int64, signature.args[0].columns))
    number = builder.load(builder.gep(table_struct.numbers, [builder.add(start, column)]))
    return builder.sext(number, context.get_value_type(types.int64))


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.intp, args[0]) if isinstance(args[0], Table) else None


@lower_builtin(len, Table)
def _length(context, builder, signature, args):
    return cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0]).rows
