"""Threads that divide the ranges of bodies among themselves: one thread leads, the others take ranges until it sets STOP.

    lead:    sets the job, resets NEXT_RANGE and RANGES_DONE, takes ranges, then waits until RANGES_DONE reaches their number
    others:  take the next range while there is one, run the job on it, increment RANGES_DONE

Results do not depend on which thread runs a range, so all bits are the same with any number of threads. Waiting threads spin: a
system call would last as long as a range.
"""

from typing import Any

from numba.core import cgutils, types

from phloat.motion.kernel.machine.uncompiled import intrinsic

ir: Any = vars(cgutils)["ir"]

MOST_RANGES = 16
# indices of the shared counters: number of threads, job, next range, ranges done, whether threads stop, on separate cache lines;
# and for each range a body whose D is singular (−1: none)
THREAD_COUNT, JOB, NEXT_RANGE, RANGES_DONE, STOP, SINGULAR_BODY, COUNTERS_SIZE = 0, 1, 16, 32, 48, 64, 64 + MOST_RANGES


def _address(context: Any, builder: Any, kind: Any, counters: Any, index: Any) -> Any:
    """Pointer to counters[index]."""
    data = counters if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, counters).data
    return builder.gep(data, [index])


@intrinsic
def load_atomic(typing, counters, index):
    """Loads counters[index], which other threads change."""

    def code(context, builder, signature, args):
        return builder.load_atomic(_address(context, builder, signature.args[0], *args), ordering="acquire", align=8)

    return types.int64(counters, types.intp), code


@intrinsic
def store_atomic(typing, counters, index, value):
    """Stores a value in counters[index]; all writes before it are visible to threads that load it."""

    def code(context, builder, signature, args):
        builder.store_atomic(
            args[2], _address(context, builder, signature.args[0], *args[:2]), ordering="release", align=8
        )
        return context.get_dummy_value()

    return types.none(counters, types.intp, types.int64), code


@intrinsic
def fetch_increment(typing, counters, index):
    """Adds 1 to counters[index] and returns the value before."""

    def code(context, builder, signature, args):
        unit = ir.Constant(ir.IntType(64), 1)
        return builder.atomic_rmw("add", _address(context, builder, signature.args[0], *args), unit, ordering="acq_rel")

    return types.int64(counters, types.intp), code


@intrinsic
def no_inline(typing):
    """Marks the function that calls this as not to be inlined: it is compiled once, not in each of its callers."""

    def code(context, builder, signature, args):
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), code
