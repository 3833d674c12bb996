"""The sparsity pattern of ∂F/∂y, groups of independent columns, and matrices of the equations of motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from scipy.linalg import get_lapack_funcs

from phloat.algebra.sparse import Matrix
from phloat.algebra.threads import one_thread
from phloat.motion.continuous import evaluate as ev
from phloat.motion.continuous.constant_mass import VECTORS
from phloat.motion.inputs.drives import Coordinate, Frame, Moving, Path, Swivel
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.machine.simd import FOUR
from phloat.motion.kernel.model import KernelModel
from phloat.motion.run.states import RunBuffers


@dataclass(frozen=True, eq=False)
class JacobianPattern:
    """The entries of ∂F/∂y column by column; those of ∂F/∂ẏ are a subset."""

    model: KernelModel
    offsets: ev.Numbering

    @property
    def size(self) -> int:
        return int(self.offsets.sizes[ev.LENGTH])

    # --- parts of y --------------------------------------------------------------------------

    @cached_property
    def q(self) -> list[np.ndarray]:
        """Indices in y of the positions of each body."""
        starts = self.offsets.bodies[:, ev.Y_Q]
        return [int(o) + np.arange(n) for o, n in zip(starts, position_counts(self.model), strict=True)]

    @cached_property
    def v(self) -> list[np.ndarray]:
        """Indices in y of the velocities of each body."""
        starts, sizes = self.offsets.bodies[:, ev.Y_V], self.model.bodies[:, t.SIZE]
        return [int(o) + np.arange(int(n)) for o, n in zip(starts, sizes, strict=True)]

    @cached_property
    def d(self) -> list[tuple[np.ndarray, int]]:
        """Indices in y of the position of each drive by velocity, and its entry."""
        integrated = [row for row in self.offsets.drives if row[ev.V_Y] >= 0]
        return [(int(row[ev.V_Y]) + np.arange(int(row[ev.V_SIZE])), self._owner(row)) for row in integrated]

    def _owner(self, drive: np.ndarray) -> int:
        """The entry whose frame or target a drive moves."""
        J, E, R = self.model.entries, self.model.ends, self.model.rows
        place = int(drive[ev.V_AT])
        for j, entry in enumerate(J):
            frame = int(E[entry[t.J_A], t.E_FRAME1])
            rows = R[entry[t.J_ROW] : entry[t.J_ROW] + entry[t.J_ROWS], t.R_COEF] + t.TARGET1
            if frame <= place < frame + 12 or place in rows:
                return j
        raise AssertionError(drive)

    def lam(self, j: int, column: int = ev.Y_LAM) -> np.ndarray:
        """Indices in y of the multipliers λ (or μ) of an entry."""
        entry = self.model.entries[j]
        mine = self.offsets.rows[entry[t.J_ROW] : entry[t.J_ROW] + entry[t.J_ROWS], column]
        return mine[mine >= 0]

    def bodies_of(self, j: int) -> list[int]:
        ends = (int(self.model.ends[self.model.entries[j, c], t.E_BODY]) for c in (t.J_A, t.J_B))
        return [i for i in ends if i >= 0]

    # --- entries -----------------------------------------------------------------------------------------------------

    @cached_property
    def blocks(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(columns, rows) of dense blocks: the variables, and the equations that depend on them."""
        entries = range(len(self.model.entries))
        entries_at: dict[int, list[int]] = {i: [] for i in range(len(self.q))}
        for j in entries:
            for i in self.bodies_of(j):
                entries_at[i].append(j)
        out = []
        for i, entries_of in entries_at.items():
            neighbours = sorted({i} | {k for j in entries_of for k in self.bodies_of(j)})
            multipliers = [self.lam(j, c) for j in entries_of for c in (ev.Y_LAM, ev.Y_MU)]
            rows = _union([self.q[i], *(self.v[k] for k in neighbours), *multipliers])
            out += [(self.q[i], rows), (self.v[i], rows)]
        for j in entries:
            out.append((self.lam(j), _union(self.v[i] for i in self.bodies_of(j))))
            out.append((self.lam(j, ev.Y_MU), _union(self.q[i] for i in self.bodies_of(j))))
        for numbers, j in self.d:
            forces = [self.v[i] for i in self.bodies_of(j)] + [self.lam(j), self.lam(j, ev.Y_MU)]
            out.append((numbers, _union([numbers, *forces])))
        return [(columns, rows) for columns, rows in out if len(columns)]

    @cached_property
    def template(self) -> sp.csc_array:
        """A matrix with all possible entries; its data are the numbers of the entries."""
        rows = [np.arange(0)] * self.size
        for columns, mine in self.blocks:
            for c in columns:
                rows[c] = mine
        indptr = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
        return sp.csc_array(
            (np.arange(indptr[-1], dtype=float), np.concatenate([np.arange(0), *rows]), indptr),
            shape=(self.size, self.size),
        )

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Offsets of the groups in the list of columns, and that list, by greedy colouring of the blocks."""
        used_rows: list[set[int]] = []
        members: list[list[np.ndarray]] = []
        for columns, rows in self.blocks:
            row_set = set(rows.tolist())
            k = next((k for k, used in enumerate(used_rows) if not row_set & used), len(used_rows))
            if k == len(used_rows):
                used_rows.append(set())
                members.append([])
            used_rows[k] |= row_set
            members[k].append(columns)
        groups = [
            [int(columns[k]) for columns in blocks if k < len(columns)]
            for blocks in members
            for k in range(max(len(columns) for columns in blocks))
        ]
        start = np.cumsum([0, *(len(g) for g in groups)])
        return start.astype(np.int64), np.array([c for g in groups for c in g], dtype=np.int64)

    # --- ∂F/∂ẏ and the saddle [M −Gᵀ; G 0] from the blocks of M and G ------------------------------------------------

    @cached_property
    def block_indices(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns in y of the numbers of `residual.blocks`: M of bodies, then G of rows."""
        rows, columns = [], []
        for v in self.v:
            rows.append(np.repeat(v, len(v)))
            columns.append(np.tile(v, len(v)))
        for j in range(len(self.model.entries)):
            for lam in self.lam(j):
                for i in self.bodies_of(j):
                    columns.append(self.v[i])
                    rows.append(np.full(len(self.v[i]), lam))
        empty = np.zeros(0, dtype=int)
        return np.concatenate([empty, *rows]).astype(int), np.concatenate([empty, *columns]).astype(int)

    @cached_property
    def mass(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the entries of the template that M fills, and of those that are one (q̇, ḋ)."""
        lengths = sum(len(v) ** 2 for v in self.v)
        rows, columns = (part[:lengths] for part in self.block_indices)
        sizes = self.offsets.sizes
        ones = np.r_[0 : sizes[ev.AT_V], sizes[ev.AT_D] : sizes[ev.AT_LAM]]
        return self._entry_numbers(rows, columns), self._entry_numbers(ones, ones)

    def _entry_numbers(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.asarray(sp.csc_matrix(self.template)[rows, columns]).ravel().astype(np.int64)

    @cached_property
    def saddle(self) -> tuple[sp.csc_array, np.ndarray, np.ndarray]:
        """[M −Gᵀ; G 0] for (v, λ), and for each of its entries the number among the blocks and the sign."""
        sizes, (rows, columns) = self.offsets.sizes, self.block_indices
        first, lam = int(sizes[ev.AT_V]), int(sizes[ev.AT_LAM])
        count = int(sizes[ev.AT_D]) - first
        r = np.where(rows >= lam, rows - lam + count, rows - first)
        c, number = columns - first, np.arange(len(rows))
        of_row = rows >= lam
        which = np.concatenate([number, number[of_row]])
        sign = np.concatenate([np.ones(len(rows)), -np.ones(int(of_row.sum()))])
        size = count + int(sizes[ev.AT_MU]) - lam
        entries = (np.arange(len(which)) + 1.0, (np.concatenate([r, c[of_row]]), np.concatenate([c, r[of_row]])))
        matrix = sp.csc_array(sp.coo_array(entries, shape=(size, size)))
        assert matrix.nnz == len(which)  # a row never has two ports of one body
        order = matrix.data.astype(int) - 1
        return matrix, which[order], sign[order]


def _union(parts: Iterable[np.ndarray]) -> np.ndarray:
    return np.unique(np.concatenate([np.zeros(0, dtype=int), *parts])).astype(int)


# --- layout of y ------------------------------------------------------------------------------------------------------
#
# Offsets in y, in the inputs s and in the buffers of the kernel.


KINDS = {Coordinate: ev.COORDINATE, Frame: ev.FRAME, Swivel: ev.SWIVEL}


def position_counts(model: KernelModel) -> list[int]:
    """The number of position variables of each body in y: rotations in space are quaternions."""
    return [int(b[t.N_LIN] + b[t.N_ETA]) + (4 if b[t.N_ROT] == 3 else int(b[t.N_ROT])) for b in model.bodies]


def y_layout(run: RunBuffers, mass: str = "full") -> ev.Numbering:
    """The offset tables; extends the buffer w of the run, which gets S/m of bodies with a constant mass matrix."""
    model, packed = run.packed.model, run.packed
    B, E, J, R = model.bodies, model.ends, model.entries, model.rows
    lengths = position_counts(model)
    q, v = sum(lengths), int(B[:, t.SIZE].sum())
    offsets = [np.cumsum([0, *lengths[:-1]]), q + np.cumsum([0, *B[:-1, t.SIZE]]), np.full(len(B), -1)]
    bodies = np.stack(offsets, axis=1).astype(np.int64)

    length = len(packed.w)
    rows = np.full((len(R), 5), -1, dtype=np.int64)
    rows[:, ev.R_RATE] = length + ev.RATE_SIZE * np.arange(len(R))
    length += ev.RATE_SIZE * len(R)
    unknown = np.flatnonzero((R[:, t.R_MODE] == t.CLOSED) & (R[:, t.R_DROPPED] == 0))
    for entry in J:
        for r in range(entry[t.J_ROW], entry[t.J_ROW] + entry[t.J_ROWS]):
            for column, end in ((ev.G_A, entry[t.J_A]), (ev.G_B, entry[t.J_B])):
                if E[end, t.E_BODY] >= 0:
                    rows[r, column] = length
                    length += int(B[E[end, t.E_BODY], t.SIZE])
    ends = np.full((len(E), 2), -1, dtype=np.int64)
    drives = np.full((len(run.drives), 7), -1, dtype=np.int64)
    start, d, s = 0, q + v, len(run.efforts)
    for k, motion in enumerate(run.drives):
        place, kind = int(run.drive_indices[start]), KINDS[type(motion)]
        start += len(motion.start)
        drives[k, [ev.V_KIND, ev.V_SIZE, ev.V_U, ev.V_AT]] = kind, len(motion.start), s, place
        s += 6
        if by_velocity(run, motion):
            drives[k, ev.V_Y] = d
            d += len(motion.start)
        else:
            drives[k, ev.V_VALUE] = s
            s += len(motion.start)
        if kind == ev.COORDINATE:
            r = int(np.flatnonzero(R[:, t.R_COEF] + t.TARGET1 == place)[0])
            drives[k, ev.V_RATE] = rows[r, ev.R_RATE] + ev.TARGET_RATE
        else:
            offset = 0 if kind == ev.FRAME else 3
            e = int(np.flatnonzero(E[:, t.E_FRAME1] == place - offset)[0])
            ends[e] = length, length + t.FRAME_SIZE
            drives[k, ev.V_RATE] = length + offset
            length += t.FRAME_SIZE + t.PORT_SIZE + int(B[:, t.LONG].max())
    count = len(unknown)
    rows[unknown, ev.Y_LAM], rows[unknown, ev.Y_MU] = d + np.arange(count), d + count + np.arange(count)
    sizes = np.array([q, q + v, d, d + count, d + 2 * count], dtype=np.int64)
    w, end = [packed.w, np.zeros(length + FOUR - len(packed.w))], length + FOUR  # a padded row may reach beyond
    for i, arrays in enumerate(packed.arrays.values()):
        if mass != "full" and (n := arrays.body.coordinates):
            bodies[i, ev.SHIFT] = end
            w += [arrays.shift[1].ravel(), np.zeros(VECTORS + n)]
            end += 4 * n + VECTORS
    packed.w = np.concatenate(w)
    printed = np.array([mass == "printed"], dtype=np.int64)
    return ev.Numbering(bodies, rows, ends, drives, run.effort_indices, sizes, np.ones(v), printed)


def by_velocity(run: RunBuffers, motion: Moving) -> bool:
    """Whether the position of a drive is integrated: its input is a velocity."""
    signal = run.signals.get(motion.name)
    return signal is not None and not isinstance(signal, Path)


def drive_map(motion: Moving, inputs: int) -> np.ndarray:
    """(v, ω) of a drive per input of its port, (6, inputs); of a coordinate the first number is its rate."""
    out = np.zeros((6, inputs))
    if isinstance(motion, Coordinate):
        out[0, motion.component] = 1.0
    elif isinstance(motion, Frame):
        out[: motion.linear, : motion.linear] = np.eye(motion.linear)
        if motion.turning == 1:
            out[5, motion.linear] = 1.0
        elif motion.turning == 3:
            out[3:, motion.linear :] = np.eye(3)
    else:
        out[3:] = motion.triad.T[:, list(motion.axes)]
    return out


# --- linear equations of a step: dense for small systems, where that is faster, else sparse ------------------------------


DENSE = 250  # unknowns


Solve = Callable[[np.ndarray], np.ndarray]  # x of A x = b from b


def linear_solver(A: np.ndarray | Matrix) -> Solve | None:
    """A function that returns x of A x = b; None if A is singular."""
    if isinstance(A, np.ndarray):
        getrf, getrs = get_lapack_funcs(("getrf", "getrs"), (A,))
        with one_thread():
            lu, pivots, info = getrf(A)
        return None if info > 0 else lambda b: getrs(lu, pivots, b)[0]
    try:
        return spla.splu(sp.csc_array(A)).solve
    except RuntimeError:  # exactly singular
        return None


def bordered(A: np.ndarray | Matrix, B: np.ndarray | Matrix, C: np.ndarray | Matrix) -> np.ndarray | Matrix:
    """[A B; C 0]."""
    if isinstance(A, np.ndarray):
        return np.block([[A, B], [C, np.zeros((C.shape[0], B.shape[1]))]])
    return sp.block_array([[A, B], [C, None]], format="csc") if C.shape[0] else A
