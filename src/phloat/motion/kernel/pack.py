"""A system at a state as flat buffers: what the compiled step works on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from phloat.bodies.body import Port
from phloat.joints.laws import Law
from phloat.joints.rows import FIRST, FUNCTIONS, INERTIAL, SECOND, SEPARATION, Row
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.arrays import Arrays, arrays_of
from phloat.motion.kernel.law_calls import law_address
from phloat.motion.kernel.machine.block_solve import eliminated
from phloat.motion.kernel.machine.simd import FOUR
from phloat.motion.kernel.machine.threads import CREW_SIZE
from phloat.motion.kernel.machine.workspace import (
    Buffer,
    factor_ranges,
    fours,
    padded,
    ranges,
    room,
    share,
    short,
    strips,
)
from phloat.motion.kernel.model import KernelModel
from phloat.motion.kernel.newton import ROUND_OFF
from phloat.system.connection import End
from phloat.system.state import State
from phloat.system.system import System

NO_LAW = Law()
COLUMNS = {
    "bodies": t.BODY_COLUMNS,
    "ends": t.END_COLUMNS,
    "entries": t.ENTRY_COLUMNS,
    "rows": t.ROW_COLUMNS,
    "terms": t.TERM_COLUMNS,
    "incidences": t.INC_COLUMNS,
    "blocks": 3,
    "assembly": 3,
}
FIRSTS, SECONDS = range(FIRST, FIRST + 3), range(SECOND, SECOND + 3)
COST = 1.2  # new factors of bodies with up to so many unknowns, in iterations with old ones …
SMALL, MORE = 15, 6.0  # … and one more for every so many of the largest beyond that


@dataclass(eq=False)
class Side:
    """One end of an entry: a port of a body (or the ground) and the directions of the joint there (rows)."""

    body: int
    port: Port | None
    triad: np.ndarray
    at: np.ndarray


@dataclass(eq=False)
class Scalar:
    """One row of an entry: how its λ comes about, its law, and its gap at the start (of an angle with its turns)."""

    row: Row
    mode: int
    law: Law = NO_LAW
    gap: float = 0.0


@cache
def uses_directions(row: Row) -> bool:
    """Whether a row acts on directions of its ports."""
    return row.function == "spin" or any(FIRST <= a < INERTIAL for a in row.vectors)


@cache
def changes(row: Row) -> bool:
    """Whether the forces of a row on a body change as that body moves: both vectors of a term move with it."""
    movable = [(a, b) for _, a, b in row.terms + row.other_terms if max(a, b) < INERTIAL]
    return row.follows or (row.has_gap and any(min(a, b) not in FIRSTS or max(a, b) not in SECONDS for a, b in movable))


@dataclass(eq=False)
class Entry:
    """What stands between two ends: the closed rows of a joint, springs and dampers, or given efforts."""

    name: str
    first: Side
    second: Side
    rows: list[Scalar]


@dataclass(eq=False)
class Packed:
    """The buffers, and where what changes from outside stands in them."""

    model: KernelModel
    w: np.ndarray
    iw: np.ndarray
    gravity: np.ndarray
    entries: list[Entry]
    arrays: dict[str, Arrays]
    first: int  # kept numbers begin here …
    kept: int  # … and are so many
    lasting: int  # numbers of w that a run goes on from; behind them are workspaces
    multipliers: int


@cache
def coincides(row: Row) -> int:
    """i if a row is c · e_i, else −1: most rows are, and have a quick path."""
    (factor, a, b), one = row.terms[0], len(row.terms) == 1 and row.function == "product"
    return b - INERTIAL if one and factor == 1.0 and a == SEPARATION and b >= INERTIAL else -1


def side(system: System, end: End) -> Side:
    """An end of a joint; directions as rows."""
    if not end.body:
        return Side(-1, None, end.triad.T, end.at)
    return Side(list(system.bodies).index(end.body), system.bodies[end.body].port(end.port), end.triad.T, np.zeros(3))


def packed(system: System, state: State, entries: list[Entry]) -> Packed:
    """Everything in buffers; entries with unknown multipliers come first."""
    entries = sorted(entries, key=lambda entry: entry.rows[0].mode == t.GIVEN)
    data, index, w, iw = Buffer(), Buffer(), Buffer(), Buffer()
    data.put(0.0)
    w.room(t.SCRATCH_SIZE)
    iw.room(t.I_HEADER)
    bodies = np.zeros((len(system.bodies), t.BODY_COLUMNS), dtype=np.int64)
    first = w.size
    for i, (name, body) in enumerate(system.bodies.items()):
        bodies[i, t.W_Q] = w.room(t.Q_ETA + body.coordinates)
        bodies[i, t.W_V] = w.room(t.V_RATE + body.coordinates)
        bodies[i, t.W_THETA] = w.put(float(state[f"{name}.theta"]) if f"{name}.theta" in state.layout else 0.0)
    works = w.room(2 * len(entries))
    for i in range(len(bodies)):
        bodies[i, t.W_LOSS], bodies[i, t.W_ENERGY] = w.room(1), w.room(3)
    kept = w.size - first
    arrays = {name: arrays_of(body) for name, body in system.bodies.items()}
    shared: dict[Arrays, np.ndarray] = {}
    for i, known in enumerate(arrays.values()):
        if known not in shared:
            shared[known] = constants(known, data, index, w)
        bodies[i] += shared[known]
        room(bodies[i], w)
    share(bodies, w)
    model = _Tables(entries, list(arrays.values()), bodies, data, index, w).filled(works)
    lasting = w.size
    for start, end in model.ranges[1:]:  # the first has the workspace that is there
        model.bodies[start:end, t.W_T] = w.room(t.SCRATCH_SIZE)
        share(model.bodies[start:end], w)
    numbers, gravity = w.made(float), system.gravity.astype(float)
    numbers[t.TOLERATED] = ROUND_OFF
    numbers[t.COSTLY] = COST + max(0, int(bodies[:, t.SIZE].max()) - SMALL) / MORE
    numbers[t.FLOOR] = 1e-3 * (max(body.extent for body in system.bodies.values()) or 1.0)
    return Packed(
        *(model, numbers, iw.made(int), gravity, entries, arrays),
        *(first, kept, lasting, sum(len(entry.rows) for entry in entries)),
    )


def constants(arrays: Arrays, data: Buffer, index: Buffer, w: Buffer) -> np.ndarray:
    """The columns of the table of bodies that equal bodies share."""
    row = np.zeros(t.BODY_COLUMNS, dtype=np.int64)
    body = arrays.body
    n, lin, rot = body.coordinates, arrays.linear, arrays.turning
    D, triples, values = arrays.membrane
    j0, j1, N = arrays.rotary
    c0, Gamma = arrays.coupling
    row[[t.N_ETA, t.N_LIN, t.N_ROT, t.SIZE]] = n, lin, rot, lin + rot + n
    stripped, numbers = strips(n, triples, values)
    row[[t.N_STRAIN, t.N_QUAD, t.DAMPED]] = len(D), len(stripped), arrays.damped
    long = row[t.LONG] = fours(n)
    offsets: dict[int, Any] = {
        t.D_MASS: np.concatenate([[body.inertia.m, body.elastic.time], arrays.T.ravel()]),
        t.D_J0: j0,
        t.D_J1: padded(j1),
        t.D_C0: padded(c0),  # after j1
        t.D_N: padded(N),
        t.D_GAMMA: padded(Gamma.transpose(0, 2, 1)),  # after N
        t.D_MFF: padded(arrays.M_ff),
        t.D_K: padded(arrays.K),
        t.D_RD: padded(arrays.R_d),
        t.D_D: padded(D),
        t.D_Q: numbers,
    }
    for column, value in offsets.items():
        row[column] = data.put(value)
    row[t.I_QUAD] = index.put([number for strip in stripped for number in strip])
    coordinates_of_strain = [(set(np.flatnonzero(D[a])) | set(triples[triples[:, 0] == a, 1])) for a in range(len(D))]
    strains_of_coordinate = [[a for a in range(len(D)) if k in coordinates_of_strain[a]] for k in range(n)]
    row[t.I_STRAINS] = index.put(
        index.size + n + 1 + np.cumsum([0, *(len(strains) for strains in strains_of_coordinate)])
    )
    index.put(np.array([a for strains in strains_of_coordinate for a in strains]))
    row[t.WIDE] = wide = fours(lin + rot + n)
    row[t.W_DW] = w.room(wide * wide)
    row[t.W_D0] = w.room(2 * n * long)
    return row


@dataclass(eq=False)
class _Tables:
    """Tables of ends, entries, rows and incidences."""

    made: list[Entry]
    arrays: list[Arrays]
    bodies: np.ndarray
    data: Buffer
    index: Buffer
    w: Buffer
    factors: dict[float, int] = field(default_factory=dict)  # of terms, in data
    terms: list[tuple[int, int, int]] = field(default_factory=list)

    def filled(self, works: int) -> KernelModel:
        ends: list[np.ndarray] = []
        rows: list[np.ndarray] = []
        incidences: list[np.ndarray] = []
        entries = np.zeros((len(self.made), t.ENTRY_COLUMNS), dtype=np.int64)
        lam = 0
        for j, entry in enumerate(self.made):
            unknown = entry.rows[0].mode != t.GIVEN
            entries[j, [t.J_ROW, t.J_ROWS, t.J_LAM, t.J_UNKNOWN]] = len(rows), len(entry.rows), lam, unknown
            entries[j, t.J_WORK] = works + 2 * j
            entries[j, t.J_EXTRA] = any(changes(one.row) for one in entry.rows)
            entries[j, t.J_RATES] = any(one.mode == t.COMPLIANT and not one.row.has_gap for one in entry.rows)
            lam += len(entry.rows)
            triads = t.PLAIN_TRIAD * any(uses_directions(one.row) for one in entry.rows)
            triads = t.ORTHONORMAL if any(one.row.follows for one in entry.rows) else triads
            for column, inc, one in ((t.J_A, t.J_INC_A, entry.first), (t.J_B, t.J_INC_B, entry.second)):
                entries[j, column], entries[j, inc] = len(ends), -1
                ends.append(self._end(one, triads))
                ends[-1][t.E_ENTRY] = j
                if unknown and one.body >= 0:
                    entries[j, inc] = len(incidences)
                    incidences.append(self._incidence(one, j, entry, len(ends) - 1))
            rows += [self._row(row) for row in entry.rows]
        table = self._by_body(entries, ends, incidences)
        on_bodies = np.array([end[t.E_BODY] for end in ends], dtype=int)
        self.bodies[:, t.N_END] = np.bincount(on_bodies[on_bodies >= 0], minlength=len(self.bodies))
        self.bodies[:, t.FIRST_END] = np.cumsum(self.bodies[:, t.N_END]) - self.bodies[:, t.N_END]
        ends_by_body = np.argsort(on_bodies, kind="stable")[np.sum(on_bodies < 0) :]
        return self._model({"ends": ends, "entries": entries, "rows": rows, "incidences": table}, ends_by_body)

    def _by_body(self, entries: np.ndarray, ends: list[np.ndarray], incidences: list[np.ndarray]) -> np.ndarray:
        """The table of incidences, body by body; entries and bodies get their places in it."""
        owners = np.array([ends[row[t.G_END]][t.E_BODY] for row in incidences], dtype=int)
        order = np.argsort(owners, kind="stable")
        place, table = np.argsort(order), np.array(incidences, dtype=np.int64).reshape(-1, t.INC_COLUMNS)[order]
        for inc in (t.J_INC_A, t.J_INC_B):
            mask = entries[:, inc] >= 0
            entries[mask, inc] = place[entries[mask, inc]]
        for i in dict.fromkeys(owners.tolist()):
            mine = np.flatnonzero(owners[order] == i)
            counts = table[mine, t.G_ROWS]
            table[mine, t.G_COLUMN] = np.cumsum(counts) - counts
            self.bodies[i, [t.FIRST_INC, t.N_INC, t.N_MULT]] = mine[0], len(mine), counts.sum()
            self.bodies[i, t.W_SOL] = self.w.room(int(self.bodies[i, t.WIDE] * counts.sum()))
        return table

    def _model(self, tables: dict[str, Any], ends_by_body: np.ndarray) -> KernelModel:
        """All tables, with λ and S, the order in which S is eliminated, and who adds to its blocks."""
        entries, incidences = tables["entries"], tables["incidences"]
        unknown = int(entries[:, t.J_UNKNOWN].sum())
        multipliers = int(entries[:unknown, t.J_ROWS].sum())
        offsets = np.zeros(8, dtype=np.int64)
        offsets[t.LAM] = self.w.room(int(entries[:, t.J_ROWS].sum()))
        for column in (t.RIGHT, t.PIVOTS, t.DELTA, t.SAVED):
            offsets[column] = self.w.room(multipliers)
        pairs = []
        for first, count in self.bodies[:, [t.FIRST_INC, t.N_INC]].tolist():
            pairs += list(product(range(first, first + count), repeat=2))
        coupled = [(int(incidences[a, t.G_ENTRY]), int(incidences[b, t.G_ENTRY])) for a, b in pairs]
        blocks = entries[:unknown, [t.J_BLOCK, t.J_ROWS, t.J_LAM]]
        plan = eliminated(blocks[:, 1].tolist(), blocks[:, 2].tolist(), coupled, self.w.size)
        offsets[t.S_AT], offsets[t.S_SIZE], offsets[t.MULTIPLIERS] = self.w.room(plan.size), plan.size, multipliers
        blocks[:, 0] = entries[:unknown, t.J_BLOCK] = [plan.offsets[j, j] for j in range(unknown)]
        assembly = [(a, b, plan.offsets[c]) for (a, b), c in zip(pairs, coupled, strict=True)]
        tables = tables | {"bodies": self.bodies, "terms": self.terms, "blocks": blocks, "assembly": assembly}
        return KernelModel(
            **{name: short(table, COLUMNS[name]) for name, table in tables.items()},
            data=self.data.made(float),
            indices=self.index.made(np.int64),
            program=plan.program,
            order=plan.order,
            entry_of=plan.entry_of,
            sweep=plan.sweep,
            held=ends_by_body,
            factors=short(factor_ranges(self.bodies, incidences, offsets), 2),
            where=offsets,
            ranges=ranges(self.bodies),
            crew=np.zeros(CREW_SIZE, dtype=np.int64),
        )

    def _end(self, one: Side, triads: int) -> np.ndarray:
        row = np.zeros(t.END_COLUMNS, dtype=np.int64)
        row[t.E_BODY] = one.body
        if one.body >= 0:
            assert one.port is not None
            x, Phi, Psi = self.arrays[one.body].port(one.port)
            row[[t.E_X, t.E_PHI, t.E_PSI]] = [self.data.put(values) for values in (x, padded(Phi), padded(Psi))]
        for column in (t.E_START, t.E_END, t.E_MEAN):
            row[column] = self.w.room(t.PORT_SIZE)
        frame = np.concatenate([one.at, one.triad.ravel()])
        row[t.E_FRAME0], row[t.E_FRAME1], row[t.E_OUT] = self.w.put(frame), self.w.put(frame), self.w.room(t.OUT_SIZE)
        row[t.E_TURNS] = triads
        return row

    def _incidence(self, one: Side, j: int, entry: Entry, end: int) -> np.ndarray:
        row = np.zeros(t.INC_COLUMNS, dtype=np.int64)
        wide = int(self.bodies[one.body, t.WIDE])
        row[[t.G_END, t.G_ENTRY, t.G_ROWS]] = end, j, len(entry.rows)
        size = len(entry.rows) * wide + FOUR
        row[t.G_MEAN], row[t.G_HAT] = self.w.room(size), self.w.room(size)
        return row

    def _factor(self, factor: float) -> int:
        if factor not in self.factors:
            self.factors[factor] = self.data.put(factor)
        return self.factors[factor]

    def _row(self, one: Scalar) -> np.ndarray:
        row, of = np.zeros(t.ROW_COLUMNS, dtype=np.int64), one.row
        row[[t.R_FUNCTION, t.R_TERM]] = FUNCTIONS.index(of.function), len(self.terms)
        row[[t.R_P, t.R_Q]] = len(of.terms), len(of.other_terms)
        row[[t.R_AXIS, t.R_POWER, t.R_FOLLOWS, t.R_MODE]] = coincides(of), of.length_power, of.follows, one.mode
        self.terms += [(a, b, self._factor(factor)) for factor, a, b in of.terms + of.other_terms]
        memory = np.zeros(t.ROW_SIZE)
        memory[[t.COEF_MEAN, t.COEF_END]] = 1.0  # of products; those of other functions change
        memory[t.TURN_COSINE] = np.cos(of.turn_limit) if of.turn_limit < np.pi else -1.0
        memory[[t.GAP0, t.GAP1, t.TARGET0, t.TARGET1]] = one.gap
        memory[[t.LEAST, t.SLOWEST, t.LEFT, t.LEFT_RATE]] = np.inf
        memory[[t.MOST, t.FASTEST]] = -np.inf
        row[t.R_COEF] = self.w.put(memory)
        row[t.R_LAW] = self.w.put([one.law.stiffness, one.law.rest, one.law.damping, *one.law.numbers])
        row[t.R_CALL] = -1 if one.law.function is None else self.index.put(law_address(one.law.function))
        for pieces, place, count in (
            (one.law.spring, t.R_SPRING, t.R_N_SPRING),
            (one.law.damper, t.R_DAMPER, t.R_N_DAMPER),
        ):
            if not pieces.empty:
                row[place], row[count] = self.data.put(pieces.flat), len(pieces.bounds)
        return row
