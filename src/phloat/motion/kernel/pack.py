"""A system at a state as the flat buffers and tables of the compiled step."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from phloat.bodies.area_force import AreaForce
from phloat.bodies.body import Port
from phloat.joints.laws import Law
from phloat.joints.rows import FIRST, FUNCTIONS, INERTIAL, SECOND, SEPARATION, Row
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.arrays import AXES, Arrays, arrays_of
from phloat.motion.kernel.law_calls import law_address
from phloat.motion.kernel.machine.block_solve import plan_elimination
from phloat.motion.kernel.machine.simd import FOUR
from phloat.motion.kernel.machine.threads import COUNTERS_SIZE
from phloat.motion.kernel.machine.workspace import (
    Buffer,
    body_workspace,
    factor_ranges,
    int32_table,
    pad_rows,
    padded_length,
    ranges,
    shared_workspace,
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
COST = 1.2  # of new factors, in iterations with old ones, for bodies with at most SMALL_BODY unknowns …
SMALL_BODY, UNKNOWNS_PER_ITERATION = 15, 6.0  # … and one more for each so many unknowns above that


@dataclass(eq=False)
class Side:
    """One end of an entry: a port of a body (or the ground) and the directions of the joint there (rows), or a surface."""

    body: int
    port: Port | None
    triad: np.ndarray
    position: np.ndarray
    area: AreaForce | None = None


@dataclass(eq=False)
class Scalar:
    """One row of an entry: its mode (closed, compliant, given), law, and the joint coordinate whose whole turns it counts."""

    row: Row
    mode: int
    law: Law = NO_LAW
    coordinate: str = ""


@cache
def uses_directions(row: Row) -> bool:
    """Whether a row acts on directions of its ports."""
    return row.function == "spin" or any(FIRST <= a < INERTIAL for a in row.vectors)


@cache
def has_geometric_tangent(row: Row) -> bool:
    """Whether the forces of a row on a body change as that body moves: both vectors of a term move with it."""
    movable = [(a, b) for _, a, b in row.terms + row.other_terms if max(a, b) < INERTIAL]
    return row.follows or (row.has_gap and any(min(a, b) not in FIRSTS or max(a, b) not in SECONDS for a, b in movable))


@dataclass(eq=False)
class Entry:
    """The connection of two ends: closed rows of a joint, springs and dampers, or given efforts."""

    name: str
    first: Side
    second: Side
    rows: list[Scalar]


@dataclass(eq=False)
class Packed:
    """The buffers of a run, and the offsets of its saved numbers."""

    model: KernelModel
    w: np.ndarray
    iw: np.ndarray
    gravity: np.ndarray
    entries: list[Entry]
    arrays: dict[str, Arrays]
    first: int  # offset in w of the saved numbers: states, works, losses, energies
    saved_count: int
    lasting: int  # numbers of w that a resumed run needs; after them are workspaces
    multipliers: int


@cache
def coincides(row: Row) -> int:
    """i if a row is c · e_i, else −1; most rows are, and take a short path."""
    (factor, a, b), single_product = row.terms[0], len(row.terms) == 1 and row.function == "product"
    return b - INERTIAL if single_product and factor == 1.0 and a == SEPARATION and b >= INERTIAL else -1


def side(system: System, end: End) -> Side:
    """The Side of an end of a joint, with its directions as rows."""
    if not end.body:
        return Side(-1, None, end.triad.T, end.at)
    return Side(list(system.bodies).index(end.body), system.bodies[end.body].port(end.port), end.triad.T, np.zeros(3))


def packed(system: System, state: State, entries: list[Entry]) -> Packed:
    """Packs a system at a state into buffers; entries with unknown multipliers come first."""
    entries = sorted(entries, key=lambda entry: entry.rows[0].mode == t.GIVEN)
    data, index, w, iw = Buffer(), Buffer(), Buffer(), Buffer()
    data.append(0.0)
    w.reserve(t.SCRATCH_SIZE)
    iw.reserve(t.I_HEADER)
    bodies = np.zeros((len(system.bodies), t.BODY_COLUMNS), dtype=np.int64)
    first = w.size
    for i, (name, body) in enumerate(system.bodies.items()):
        bodies[i, t.W_Q] = w.reserve(t.Q_ETA + body.coordinates)
        bodies[i, t.W_V] = w.reserve(t.V_RATE + body.coordinates)
        bodies[i, t.W_THETA] = w.append(float(state[f"{name}.theta"]) if f"{name}.theta" in state.layout else 0.0)
    works = w.reserve(2 * len(entries))
    for i in range(len(bodies)):
        bodies[i, t.W_LOSS], bodies[i, t.W_ENERGY] = w.reserve(1), w.reserve(3)
    saved_count = w.size - first
    arrays = {name: arrays_of(body) for name, body in system.bodies.items()}
    shared: dict[Arrays, np.ndarray] = {}
    for i, constants_of_body in enumerate(arrays.values()):
        if constants_of_body not in shared:
            shared[constants_of_body] = constants(constants_of_body, data, index, w)
        bodies[i] += shared[constants_of_body]
        body_workspace(bodies[i], w)
    shared_workspace(bodies, w)
    model = _Tables(entries, list(arrays.values()), bodies, data, index, w).kernel_model(works)
    lasting = w.size
    for start, end in model.ranges[1:]:  # the first range uses the workspace above
        model.bodies[start:end, t.W_T] = w.reserve(t.SCRATCH_SIZE)
        shared_workspace(model.bodies[start:end], w)
    numbers, gravity = w.array(float), system.gravity.astype(float)
    numbers[t.TOLERATED] = ROUND_OFF
    numbers[t.COSTLY] = COST + max(0, int(bodies[:, t.SIZE].max()) - SMALL_BODY) / UNKNOWNS_PER_ITERATION
    numbers[t.FLOOR] = 1e-3 * (max(body.extent for body in system.bodies.values()) or 1.0)
    return Packed(
        *(model, numbers, iw.array(int), gravity, entries, arrays),
        *(first, saved_count, lasting, sum(len(entry.rows) for entry in entries)),
    )


def constants(arrays: Arrays, data: Buffer, index: Buffer, w: Buffer) -> np.ndarray:
    """Writes the constants of a body; returns the columns of the table of bodies that equal bodies share."""
    row = np.zeros(t.BODY_COLUMNS, dtype=np.int64)
    body = arrays.body
    n, lin, rot = body.coordinates, arrays.linear, arrays.turning
    D, triples, values = arrays.membrane
    more = padded_length(len(D)) - len(D)  # strains of zero, as four are computed at a time
    D, viscosity = np.pad(D, ((0, more), (0, 0))), np.pad(arrays.T, (0, more)) if arrays.T.size else arrays.T
    j0, j1, N = arrays.rotary
    c0, Gamma = arrays.coupling
    row[[t.N_ETA, t.N_LIN, t.N_ROT, t.SIZE]] = n, lin, rot, lin + rot + n
    stripped, numbers = strips(n, triples, values)
    row[[t.N_STRAIN, t.N_QUAD, t.DAMPED]] = len(D), len(stripped), arrays.damped
    long = row[t.LONG] = padded_length(n)
    offsets: dict[int, Any] = {
        t.D_MASS: np.concatenate([[body.inertia.m, body.elastic.time], viscosity.ravel()]),
        t.D_J0: j0,
        t.D_J1: pad_rows(j1),
        t.D_C0: pad_rows(c0),  # after j1
        t.D_N: pad_rows(N),
        t.D_GAMMA: pad_rows(Gamma.transpose(0, 2, 1)),  # after N
        t.D_MFF: pad_rows(arrays.M_ff),
        t.D_K: pad_rows(arrays.K),
        t.D_RD: pad_rows(arrays.R_d),
        t.D_D: pad_rows(D),
        t.D_Q: numbers,
    }
    for column, value in offsets.items():
        row[column] = data.append(value)
    row[t.I_QUAD] = index.append([number for strip in stripped for number in strip])
    coordinates_of_strain = [(set(np.flatnonzero(D[a])) | set(triples[triples[:, 0] == a, 1])) for a in range(len(D))]
    strains_of_coordinate = [[a for a in range(len(D)) if k in coordinates_of_strain[a]] for k in range(n)]
    row[t.I_STRAINS] = index.append(
        index.size + n + 1 + np.cumsum([0, *(len(strains) for strains in strains_of_coordinate)])
    )
    index.append(np.array([a for strains in strains_of_coordinate for a in strains]))
    row[t.WIDE] = wide = padded_length(lin + rot + n)
    row[t.W_DW] = w.reserve(wide * wide)
    row[t.W_D0] = w.reserve(2 * n * long)
    return row


@dataclass(eq=False)
class _Tables:
    """Tables of ends, entries, rows and incidences."""

    entry_list: list[Entry]
    arrays: list[Arrays]
    bodies: np.ndarray
    data: Buffer
    index: Buffer
    w: Buffer
    factors: dict[float, int] = field(default_factory=dict)  # offsets in data of the factors of terms
    terms: list[tuple[int, int, int]] = field(default_factory=list)

    def kernel_model(self, works: int) -> KernelModel:
        ends: list[np.ndarray] = []
        rows: list[np.ndarray] = []
        incidences: list[np.ndarray] = []
        entries = np.zeros((len(self.entry_list), t.ENTRY_COLUMNS), dtype=np.int64)
        lam = 0
        for j, entry in enumerate(self.entry_list):
            unknown = entry.rows[0].mode != t.GIVEN
            entries[j, [t.J_ROW, t.J_ROWS, t.J_LAM, t.J_UNKNOWN]] = len(rows), len(entry.rows), lam, unknown
            entries[j, t.J_WORK] = works + 2 * j
            entries[j, t.J_EXTRA] = any(has_geometric_tangent(scalar.row) for scalar in entry.rows)
            entries[j, t.J_RATES] = any(scalar.mode == t.COMPLIANT and not scalar.row.has_gap for scalar in entry.rows)
            lam += len(entry.rows)
            triads = t.PLAIN_TRIAD * any(uses_directions(scalar.row) for scalar in entry.rows)
            triads = t.ORTHONORMAL if any(scalar.row.follows for scalar in entry.rows) else triads
            for column, inc, port_side in ((t.J_A, t.J_INC_A, entry.first), (t.J_B, t.J_INC_B, entry.second)):
                entries[j, column], entries[j, inc] = len(ends), -1
                ends.append(self._end(port_side, triads))
                ends[-1][t.E_ENTRY] = j
                if unknown and port_side.body >= 0:
                    entries[j, inc] = len(incidences)
                    incidences.append(self._incidence(port_side, j, entry, len(ends) - 1))
            rows += [self._row(row) for row in entry.rows]
        table = self._by_body(entries, ends, incidences)
        on_bodies = np.array([end[t.E_BODY] for end in ends], dtype=int)
        self.bodies[:, t.N_END] = np.bincount(on_bodies[on_bodies >= 0], minlength=len(self.bodies))
        self.bodies[:, t.FIRST_END] = np.cumsum(self.bodies[:, t.N_END]) - self.bodies[:, t.N_END]
        ends_by_body = np.argsort(on_bodies, kind="stable")[np.sum(on_bodies < 0) :]
        return self._model({"ends": ends, "entries": entries, "rows": rows, "incidences": table}, ends_by_body)

    def _by_body(self, entries: np.ndarray, ends: list[np.ndarray], incidences: list[np.ndarray]) -> np.ndarray:
        """The table of incidences, sorted by body; sets their indices in entries and bodies."""
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
            self.bodies[i, t.W_SOL] = self.w.reserve(int((self.bodies[i, t.WIDE] + 1) * counts.sum()))
        return table

    def _model(self, tables: dict[str, Any], ends_by_body: np.ndarray) -> KernelModel:
        """The model: all tables, offsets of λ and S, the order of elimination of S, and the contributions to its blocks."""
        entries, incidences = tables["entries"], tables["incidences"]
        unknown = int(entries[:, t.J_UNKNOWN].sum())
        multipliers = int(entries[:unknown, t.J_ROWS].sum())
        offsets = np.zeros(8, dtype=np.int64)
        offsets[t.LAM] = self.w.reserve(int(entries[:, t.J_ROWS].sum()))
        for column in (t.RIGHT, t.PIVOTS, t.DELTA, t.SAVED):
            offsets[column] = self.w.reserve(multipliers)
        pairs = []
        for first, count in self.bodies[:, [t.FIRST_INC, t.N_INC]].tolist():
            pairs += list(product(range(first, first + count), repeat=2))
        coupled = [(int(incidences[a, t.G_ENTRY]), int(incidences[b, t.G_ENTRY])) for a, b in pairs]
        blocks = entries[:unknown, [t.J_BLOCK, t.J_ROWS, t.J_LAM]]
        plan = plan_elimination(blocks[:, 1].tolist(), blocks[:, 2].tolist(), coupled, self.w.size)
        offsets[t.S_AT], offsets[t.S_SIZE], offsets[t.MULTIPLIERS] = self.w.reserve(plan.size), plan.size, multipliers
        blocks[:, 0] = entries[:unknown, t.J_BLOCK] = [plan.offsets[j, j] for j in range(unknown)]
        assembly = [(a, b, plan.offsets[c]) for (a, b), c in zip(pairs, coupled, strict=True)]
        tables = tables | {"bodies": self.bodies, "terms": self.terms, "blocks": blocks, "assembly": assembly}
        return KernelModel(
            **{name: int32_table(table, COLUMNS[name]) for name, table in tables.items()},
            data=self.data.array(float),
            indices=self.index.array(np.int64),
            program=plan.program,
            order=plan.order,
            entry_of=plan.entry_of,
            sweep=plan.sweep,
            ends_by_body=ends_by_body,
            factors=int32_table(factor_ranges(self.bodies, incidences, offsets), 2),
            offsets=offsets,
            ranges=ranges(self.bodies),
            threads=np.zeros(COUNTERS_SIZE, dtype=np.int64),
        )

    def _end(self, port_side: Side, triads: int) -> np.ndarray:
        row = np.zeros(t.END_COLUMNS, dtype=np.int64)
        row[t.E_BODY], slopes = port_side.body, 0
        if port_side.area is not None:
            return self._surface(row, port_side)
        if port_side.body >= 0:
            assert port_side.port is not None
            x, Phi, Psi = self.arrays[port_side.body].port(port_side.port)
            row[[t.E_X, t.E_PHI, t.E_PSI]] = [self.data.append(values) for values in (x, pad_rows(Phi), pad_rows(Psi))]
            if (Phi_2 := self.arrays[port_side.body].shortening(port_side.port)) is not None:
                row[t.E_SHORT], slopes = self.data.append(pad_rows(Phi_2)), int(self.bodies[port_side.body, t.LONG])
        for column in (t.E_START, t.E_END, t.E_MEAN):
            row[column] = self.w.reserve(t.PORT_SIZE + slopes)
        frame = np.concatenate([port_side.position, port_side.triad.ravel()])
        row[t.E_FRAME0], row[t.E_FRAME1] = self.w.append(frame), self.w.append(frame)
        row[t.E_OUT] = self.w.reserve(t.OUT_SIZE)
        row[t.E_TURNS] = triads
        return row

    def _surface(self, row: np.ndarray, port_side: Side) -> np.ndarray:
        """The end of a pressure: its polynomials about the mass centre, the generalised force and a workspace."""
        assert port_side.area is not None
        arrays = self.arrays[port_side.body]
        rows = port_side.area.about(*arrays.shift).components(arrays.linear, AXES[arrays.turning])
        row[[t.E_X, t.E_PHI]] = self.data.append(rows.constant), self.data.append(pad_rows(rows.linear))
        row[t.E_PSI] = self.data.append(pad_rows(rows.quadratic)) if rows.quadratic.any() else -1
        wide, long = self.bodies[port_side.body, [t.WIDE, t.LONG]]
        size = wide + (2 + 2 * len(rows.constant)) * long + padded_length(len(rows.constant)) + FOUR
        row[[t.E_START, t.E_END, t.E_MEAN]] = self.w.reserve(max(int(size), t.PORT_SIZE))
        row[[t.E_FRAME0, t.E_FRAME1]] = self.w.reserve(t.FRAME_SIZE)
        row[t.E_OUT], row[t.E_TURNS] = self.w.reserve(t.OUT_SIZE), t.AREA
        return row

    def _incidence(self, port_side: Side, j: int, entry: Entry, end: int) -> np.ndarray:
        row = np.zeros(t.INC_COLUMNS, dtype=np.int64)
        wide = int(self.bodies[port_side.body, t.WIDE])
        row[[t.G_END, t.G_ENTRY, t.G_ROWS]] = end, j, len(entry.rows)
        size = len(entry.rows) * wide + FOUR
        row[t.G_MEAN], row[t.G_HAT] = self.w.reserve(size), self.w.reserve(size)
        return row

    def _factor(self, factor: float) -> int:
        if factor not in self.factors:
            self.factors[factor] = self.data.append(factor)
        return self.factors[factor]

    def _row(self, scalar: Scalar) -> np.ndarray:
        row, joint_row = np.zeros(t.ROW_COLUMNS, dtype=np.int64), scalar.row
        row[[t.R_FUNCTION, t.R_TERM]] = FUNCTIONS.index(joint_row.function), len(self.terms)
        row[[t.R_P, t.R_Q]] = len(joint_row.terms), len(joint_row.other_terms)
        row[[t.R_AXIS, t.R_MODE]] = coincides(joint_row), scalar.mode
        row[[t.R_POWER, t.R_FOLLOWS]] = joint_row.length_power, joint_row.follows
        self.terms += [(a, b, self._factor(factor)) for factor, a, b in joint_row.terms + joint_row.other_terms]
        memory = np.zeros(t.ROW_SIZE)
        memory[[t.COEF_MEAN, t.COEF_END]] = 1.0  # constant for products
        memory[t.TURN_COSINE] = np.cos(joint_row.turn_limit) if joint_row.turn_limit < np.pi else -1.0
        memory[[t.LEAST, t.SLOWEST, t.LEFT, t.LEFT_RATE]] = np.inf
        memory[[t.MOST, t.FASTEST]] = -np.inf
        row[t.R_COEF] = self.w.append(memory)
        row[t.R_LAW] = self.w.append([scalar.law.stiffness, scalar.law.rest, scalar.law.damping, *scalar.law.numbers])
        row[t.R_CALL] = -1 if scalar.law.function is None else self.index.append(law_address(scalar.law.function))
        for pieces, place, count in (
            (scalar.law.spring, t.R_SPRING, t.R_N_SPRING),
            (scalar.law.damper, t.R_DAMPER, t.R_N_DAMPER),
        ):
            if not pieces.empty:
                row[place], row[count] = self.data.append(pieces.flat), len(pieces.bounds)
        return row
