"""Threads that share what is done range by range: one leads, the others take ranges until it lets them go.

    lead:    a job, tickets from 0 on; takes ranges as all others do, then waits until every range is done
    others:  look for a ticket, do its range, say so

Who does a range changes nothing in it, so a run has the same bits with any number of threads. Waiting is looking again and again:
a jump through the operating system would last as long as a range.
"""

from typing import Any

from numba.core import cgutils, types

from phloat.motion.kernel.machine.uncompiled import intrinsic

ir: Any = vars(cgutils)["ir"]

MOST_RANGES = 16
# of a crew: its size, the job, the next range, ranges done, whether all may go, each in a line of the cache of its own; and for
# each range a body that went wrong
HANDS, JOB, NEXT, DONE, LEAVE, WRONG, CREW_SIZE = 0, 1, 16, 32, 48, 64, 64 + MOST_RANGES


def _slot(context: Any, builder: Any, kind: Any, crew: Any, place: Any) -> Any:
    numbers = crew if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, crew).data
    return builder.gep(numbers, [place])


@intrinsic
def look(typing, crew, place):
    """A number that others change."""

    def code(context, builder, signature, args):
        return builder.load_atomic(_slot(context, builder, signature.args[0], *args), ordering="acquire", align=8)

    return types.int64(crew, types.intp), code


@intrinsic
def tell(typing, crew, place, value):
    """A number that others look at; what was written before it is there when they see it."""

    def code(context, builder, signature, args):
        builder.store_atomic(
            args[2], _slot(context, builder, signature.args[0], *args[:2]), ordering="release", align=8
        )
        return context.get_dummy_value()

    return types.none(crew, types.intp, types.int64), code


@intrinsic
def draw(typing, crew, place):
    """The number as it was, one more for who comes next."""

    def code(context, builder, signature, args):
        one = ir.Constant(ir.IntType(64), 1)
        return builder.atomic_rmw("add", _slot(context, builder, signature.args[0], *args), one, ordering="acq_rel")

    return types.int64(crew, types.intp), code


@intrinsic
def once(typing):
    """The function this stands in is compiled as it is, and not again into all that call it."""

    def code(context, builder, signature, args):
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), code
