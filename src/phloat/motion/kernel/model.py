"""The constants of a run, as tables and buffers."""

from typing import NamedTuple

import numpy as np

from phloat.motion.kernel.machine.block_solve import OPERATION
from phloat.motion.kernel.machine.compiler import hot
from phloat.motion.kernel.machine.pointers import pointer, table
from phloat.motion.kernel.tables import BODY_COLUMNS, END_COLUMNS, ENTRY_COLUMNS, INC_COLUMNS, ROW_COLUMNS, TERM_COLUMNS


class KernelModel(NamedTuple):
    """The constants of a run: tables, numbers, and the program that factorises S."""

    bodies: np.ndarray
    ends: np.ndarray
    entries: np.ndarray
    rows: np.ndarray
    terms: np.ndarray
    incidences: np.ndarray
    data: np.ndarray
    indices: np.ndarray
    program: np.ndarray
    order: np.ndarray
    blocks: np.ndarray
    entry_of: np.ndarray
    sweep: np.ndarray
    assembly: np.ndarray
    ends_by_body: np.ndarray  # ends by body
    factors: np.ndarray  # parts of w that depend on the step size: offset, count
    offsets: np.ndarray  # offsets in w: λ, c, pivots, S and its size, δλ, number of multipliers, saved λ
    ranges: np.ndarray  # of bodies, each with a workspace: first, beyond the last
    threads: np.ndarray  # counters shared by the threads (machine.threads); the only array here that changes


@hot
def main_tables(bodies, ends, entries, rows, terms):
    """Tables of known width; the widths are imported by name, which makes them literals for the compiler."""
    return (
        table(bodies, BODY_COLUMNS),
        table(ends, END_COLUMNS),
        table(entries, ENTRY_COLUMNS),
        table(rows, ROW_COLUMNS),
        table(terms, TERM_COLUMNS),
    )


@hot
def as_pointers(m):
    """The model with pointers and tables of known width in place of arrays."""
    bodies, ends, entries, rows, terms = main_tables(m.bodies, m.ends, m.entries, m.rows, m.terms)
    return KernelModel(
        bodies,
        ends,
        entries,
        rows,
        terms,
        table(m.incidences, INC_COLUMNS),
        pointer(m.data),
        pointer(m.indices),
        table(m.program, OPERATION),
        m.order,
        table(m.blocks, 3),
        table(m.entry_of, 2),
        table(m.sweep, 4),
        table(m.assembly, 3),
        pointer(m.ends_by_body),
        table(m.factors, 2),
        pointer(m.offsets),
        table(m.ranges, 2),
        pointer(m.threads),
    )
