"""Where ∂F/∂y has entries, which columns may be nudged together, and the matrices made of it."""

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
from phloat.motion.continuous import evaluate as at
from phloat.motion.inputs.drives import Coordinate, Frame, Moving, Path, Swivel
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.model import KernelModel
from phloat.motion.run.assembly import RunBuffers


@dataclass(frozen=True, eq=False)
class JacobianPattern:
    """The entries of ∂F/∂y column by column; ∂F/∂ẏ has its own among them."""

    model: KernelModel
    places: at.Numbering

    @property
    def size(self) -> int:
        return int(self.places.sizes[at.LENGTH])

    # --- which numbers of y belong together --------------------------------------------------------------------------

    @cached_property
    def q(self) -> list[np.ndarray]:
        """Positions of each body."""
        starts = self.places.bodies[:, at.Y_Q]
        return [int(o) + np.arange(n) for o, n in zip(starts, position_counts(self.model), strict=True)]

    @cached_property
    def v(self) -> list[np.ndarray]:
        """Velocities of each body."""
        starts, sizes = self.places.bodies[:, at.Y_V], self.model.bodies[:, t.SIZE]
        return [int(o) + np.arange(int(n)) for o, n in zip(starts, sizes, strict=True)]

    @cached_property
    def d(self) -> list[tuple[np.ndarray, int]]:
        """What each drive by velocity has moved, and its entry."""
        integrated = [row for row in self.places.drives if row[at.V_Y] >= 0]
        return [(int(row[at.V_Y]) + np.arange(int(row[at.V_SIZE])), self._owner(row)) for row in integrated]

    def _owner(self, drive: np.ndarray) -> int:
        """The entry whose frame or target a drive moves."""
        J, E, R = self.model.entries, self.model.ends, self.model.rows
        place = int(drive[at.V_AT])
        for j, entry in enumerate(J):
            frame = int(E[entry[t.J_A], t.E_FRAME1])
            rows = R[entry[t.J_ROW] : entry[t.J_ROW] + entry[t.J_ROWS], t.R_COEF] + t.TARGET1
            if frame <= place < frame + 12 or place in rows:
                return j
        raise AssertionError(drive)

    def lam(self, j: int, column: int = at.Y_LAM) -> np.ndarray:
        """Multipliers λ (or μ) of an entry."""
        entry = self.model.entries[j]
        mine = self.places.rows[entry[t.J_ROW] : entry[t.J_ROW] + entry[t.J_ROWS], column]
        return mine[mine >= 0]

    def bodies_of(self, j: int) -> list[int]:
        ends = (int(self.model.ends[self.model.entries[j, c], t.E_BODY]) for c in (t.J_A, t.J_B))
        return [i for i in ends if i >= 0]

    # --- entries -----------------------------------------------------------------------------------------------------

    @cached_property
    def blocks(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(columns, rows): what depends on what."""
        entries = range(len(self.model.entries))
        touching: dict[int, list[int]] = {i: [] for i in range(len(self.q))}
        for j in entries:
            for i in self.bodies_of(j):
                touching[i].append(j)
        out = []
        for i, mine in touching.items():
            near = sorted({i} | {k for j in mine for k in self.bodies_of(j)})
            held = [self.lam(j, c) for j in mine for c in (at.Y_LAM, at.Y_MU)]
            rows = _joined([self.q[i], *(self.v[k] for k in near), *held])
            out += [(self.q[i], rows), (self.v[i], rows)]
        for j in entries:
            out.append((self.lam(j), _joined(self.v[i] for i in self.bodies_of(j))))
            out.append((self.lam(j, at.Y_MU), _joined(self.q[i] for i in self.bodies_of(j))))
        for numbers, j in self.d:
            forces = [self.v[i] for i in self.bodies_of(j)] + [self.lam(j), self.lam(j, at.Y_MU)]
            out.append((numbers, _joined([numbers, *forces])))
        return [(columns, rows) for columns, rows in out if len(columns)]

    @cached_property
    def template(self) -> sp.csc_array:
        """A matrix with an entry wherever there may be one; its data are the numbers of the entries."""
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
        """Where each group of columns starts, and the columns: greedy, block by block."""
        taken: list[set[int]] = []
        members: list[list[np.ndarray]] = []
        for columns, rows in self.blocks:
            mine = set(rows.tolist())
            k = next((k for k, others in enumerate(taken) if not mine & others), len(taken))
            if k == len(taken):
                taken.append(set())
                members.append([])
            taken[k] |= mine
            members[k].append(columns)
        groups = [
            [int(columns[k]) for columns in together if k < len(columns)]
            for together in members
            for k in range(max(len(columns) for columns in together))
        ]
        start = np.cumsum([0, *(len(g) for g in groups)])
        return start.astype(np.int64), np.array([c for g in groups for c in g], dtype=np.int64)

    # --- ∂F/∂ẏ and the saddle [M −Gᵀ; G 0] from the blocks of M and G ------------------------------------------------

    @cached_property
    def places_of_blocks(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of y for the numbers that `residual.blocks` gives: M of bodies, then G of rows (negative: of λ)."""
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
        """Numbers of entries of the template that M fills, and of those that are one: q̇, ḋ."""
        lengths = sum(len(v) ** 2 for v in self.v)
        rows, columns = (part[:lengths] for part in self.places_of_blocks)
        sizes = self.places.sizes
        ones = np.r_[0 : sizes[at.AT_V], sizes[at.AT_D] : sizes[at.AT_LAM]]
        return self._found(rows, columns), self._found(ones, ones)

    def _found(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.asarray(sp.csc_matrix(self.template)[rows, columns]).ravel().astype(np.int64)

    @cached_property
    def saddle(self) -> tuple[sp.csc_array, np.ndarray, np.ndarray]:
        """[M −Gᵀ; G 0] for (v, λ), and for each of its entries the number among the blocks and the sign."""
        sizes, (rows, columns) = self.places.sizes, self.places_of_blocks
        first, lam = int(sizes[at.AT_V]), int(sizes[at.AT_LAM])
        count = int(sizes[at.AT_D]) - first
        r = np.where(rows >= lam, rows - lam + count, rows - first)
        c, number = columns - first, np.arange(len(rows))
        of_row = rows >= lam
        which = np.concatenate([number, number[of_row]])
        sign = np.concatenate([np.ones(len(rows)), -np.ones(int(of_row.sum()))])
        size = count + int(sizes[at.AT_MU]) - lam
        entries = (np.arange(len(which)) + 1.0, (np.concatenate([r, c[of_row]]), np.concatenate([c, r[of_row]])))
        matrix = sp.csc_array(sp.coo_array(entries, shape=(size, size)))
        assert matrix.nnz == len(which)  # a row never holds two ports of one body
        order = matrix.data.astype(int) - 1
        return matrix, which[order], sign[order]


def _joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    return np.unique(np.concatenate([np.zeros(0, dtype=int), *parts])).astype(int)


# --- layout of y ------------------------------------------------------------------------------------------------------
#
# Places of a system in y, in the inputs s and in the buffers of the kernel.


KINDS = {Coordinate: at.COORDINATE, Frame: at.FRAME, Swivel: at.SWIVEL}


def position_counts(model: KernelModel) -> list[int]:
    """How many numbers of y the position of each body has: rotations in space are quaternions."""
    return [int(b[t.N_LIN] + b[t.N_ETA]) + (4 if b[t.N_ROT] == 3 else int(b[t.N_ROT])) for b in model.bodies]


def y_layout(run: RunBuffers) -> at.Numbering:
    """The tables; the buffer w of the run grows by what they need."""
    model, packed = run.packed.model, run.packed
    B, E, J, R = model.bodies, model.ends, model.entries, model.rows
    lengths = position_counts(model)
    q, v = sum(lengths), int(B[:, t.SIZE].sum())
    bodies = np.stack([np.cumsum([0, *lengths[:-1]]), q + np.cumsum([0, *B[:-1, t.SIZE]])], axis=1).astype(np.int64)

    room = len(packed.w)
    rows = np.full((len(R), 5), -1, dtype=np.int64)
    rows[:, at.R_RATE] = room + at.RATE_SIZE * np.arange(len(R))
    room += at.RATE_SIZE * len(R)
    unknown = np.flatnonzero((R[:, t.R_MODE] == t.CLOSED) & (R[:, t.R_DROPPED] == 0))
    for entry in J:
        for r in range(entry[t.J_ROW], entry[t.J_ROW] + entry[t.J_ROWS]):
            for column, end in ((at.G_A, entry[t.J_A]), (at.G_B, entry[t.J_B])):
                if E[end, t.E_BODY] >= 0:
                    rows[r, column] = room
                    room += int(B[E[end, t.E_BODY], t.SIZE])
    ends = np.full((len(E), 2), -1, dtype=np.int64)
    drives = np.full((len(run.moving), 7), -1, dtype=np.int64)
    start, d, s = 0, q + v, len(run.given)
    for k, motion in enumerate(run.moving):
        place, kind = int(run.moving_at[start]), KINDS[type(motion)]
        start += len(motion.start)
        drives[k, [at.V_KIND, at.V_SIZE, at.V_U, at.V_AT]] = kind, len(motion.start), s, place
        s += 6
        if by_velocity(run, motion):
            drives[k, at.V_Y] = d
            d += len(motion.start)
        else:
            drives[k, at.V_VALUE] = s
            s += len(motion.start)
        if kind == at.COORDINATE:
            r = int(np.flatnonzero(R[:, t.R_COEF] + t.TARGET1 == place)[0])
            drives[k, at.V_RATE] = rows[r, at.R_RATE] + at.TARGET_RATE
        else:
            offset = 0 if kind == at.FRAME else 3
            e = int(np.flatnonzero(E[:, t.E_FRAME1] == place - offset)[0])
            ends[e] = room, room + t.FRAME_SIZE
            drives[k, at.V_RATE] = room + offset
            room += t.FRAME_SIZE + t.PORT_SIZE
    count = len(unknown)
    rows[unknown, at.Y_LAM], rows[unknown, at.Y_MU] = d + np.arange(count), d + count + np.arange(count)
    sizes = np.array([q, q + v, d, d + count, d + 2 * count], dtype=np.int64)
    packed.w = np.concatenate([packed.w, np.zeros(room - len(packed.w))])
    return at.Numbering(bodies, rows, ends, drives, run.given_at, sizes, np.ones(v))


def by_velocity(run: RunBuffers, motion: Moving) -> bool:
    """Whether what a drive has moved must be integrated: a position is given, and what nobody moves stays."""
    signal = run.signals.get(motion.name)
    return signal is not None and not isinstance(signal, Path)


def drive_map(motion: Moving, inputs: int) -> np.ndarray:
    """(v, ω) of what a drive moves per input of its port, (6, inputs); of a coordinate the first number is its rate."""
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


# --- linear equations of a step: dense up to a size where that is faster, sparse beyond it ------------------------------


DENSE = 250  # unknowns


Solve = Callable[[np.ndarray], np.ndarray]  # x of A x = b from b


def linear_solver(A: np.ndarray | Matrix) -> Solve | None:
    """The function that solves A x = b; None where A is singular."""
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
