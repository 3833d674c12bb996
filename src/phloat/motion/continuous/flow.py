"""A system in motion as F(t, y, ẏ) = 0, for schemes: residual, derivatives, consistent starts, states in and out."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.spatial.transform import Rotation

from phloat.algebra.sparse import csr
from phloat.motion.continuous import evaluate as at, residual as compiled
from phloat.motion.continuous.pattern import DENSE, JacobianPattern, by_velocity, drive_map, linear_solver, y_layout
from phloat.motion.initial.saddle import SaddleSystem
from phloat.motion.inputs.signals import FIRST
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.step import snapshot
from phloat.motion.run.assembly import load_state
from phloat.motion.run.compilation import compile_apart
from phloat.motion.run.driver import Run
from phloat.system.state import State

CLOSING, CLOSED = 4, 1e-13  # corrections of gaps at most, and what counts as closed
SINGULAR = 1e14  # condition of rows that cannot be closed
SLOW = 0.1  # s: what is stiffer than this hardly moves to close a gap
TURN = 0.02  # radians between the configurations of a difference along the motion


class Flow:
    """The equations of `evaluate` for one run."""

    def __init__(self, run: Run) -> None:
        compile_apart(compiled.jacobian, "the equations in continuous time", "warm_continuous")
        self.run, self.task, self.assembly = run, run.task, run.assembly
        self.evaluations = self.jacobians = 0
        self.places = y_layout(self.assembly)
        self.model, self.w, task = run.packed.model, run.packed.w, run.task
        self.size = int(self.places.sizes[at.LENGTH])
        edges = [0, *self.places.sizes.tolist()]
        self.q, self.v, self.d, self.lam, self.mu = map(slice, edges[:-1], edges[1:])  # parts of y
        self.pattern = JacobianPattern(self.model, self.places)
        self.maps = [drive_map(motion, task.system.ports.shape(motion.name)[0]) for motion in self.assembly.moving]
        whole = self.saddle(self.inputs(task.t_0), self.start()).diagonal()
        self.masses = whole[: self.v.stop - self.v.start]
        self.places.scale[:] = 1.0 / (self.masses + SLOW**2 * self._stiffness())

    @cached_property
    def kinds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Numbers of y that are of one kind and one body, so of one size, and their rates: places, turns, deformations."""
        out = []
        for b, q, v in zip(self.model.bodies, self.pattern.q, self.pattern.v, strict=True):
            lin, rigid, n = int(b[t.N_LIN]), int(b[t.N_LIN] + b[t.N_ROT]), int(b[t.N_ETA])
            out += [(q[:lin], v[:lin]), (q[lin : len(q) - n], v[lin:rigid]), (q[len(q) - n :], v[rigid:])]
        out += [(numbers, numbers[:0]) for numbers, _ in self.pattern.d]
        return [pair for pair in out if len(pair[0])]

    # --- inputs ------------------------------------------------------------------------------------------------------

    def inputs(self, time: float, rates: bool = False) -> np.ndarray:
        """s at t: given efforts, then of every drive (v, ω) and, unless it is integrated, where it is. Or their rates."""
        of = {name: signal.rate(time) if rates else signal.at(time) for name, signal in self.run.signals.items()}
        parts = [np.array([of[name][k] for name, k in self.assembly.given])]
        for motion, L in zip(self.assembly.moving, self.maps, strict=True):
            parts.append(L @ of[motion.name] if motion.name in of else np.zeros(6))
            if not by_velocity(self.assembly, motion):
                parts.append(motion.moved(motion.start, self.run.signals, np.array([time, time]))[0])
        return np.concatenate(parts)

    # --- residual and derivatives ------------------------------------------------------------------------------------

    def residual(self, s: np.ndarray, y: np.ndarray, yd: np.ndarray, out: np.ndarray) -> np.ndarray:
        """F(t, y, ẏ) into `out`."""
        self.evaluations += 1
        compiled.dae_residual(self.model, self.w, self.places, self.run.packed.gravity, s, y, yd, out)
        return out

    def derivatives(self, s: np.ndarray, y: np.ndarray, yd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂F/∂y and ∂F/∂ẏ, as the data of matrices of the pattern."""
        template = self.pattern.template
        self.jacobians += 1
        by_y, by_yd = np.zeros(template.nnz), np.zeros(template.nnz)
        start, groups = self.pattern.groups
        compiled.jacobian(
            *(self.model, self.w, self.places, self.run.packed.gravity, s, y, yd, self._units(y)),
            *(start, groups, template.indptr, template.indices, by_y),
        )
        filled, ones = self.pattern.mass
        by_yd[filled], by_yd[ones] = self._blocks(s, y)[: len(filled)], 1.0
        return by_y, by_yd

    def matrix(self, data: np.ndarray) -> np.ndarray | sp.csc_array:
        """A matrix of the pattern; dense where it is small."""
        template = self.pattern.template
        if self.size > DENSE:
            return sp.csc_array((data, template.indices, template.indptr), shape=template.shape)
        out = np.zeros(template.shape, dtype=data.dtype, order="F")
        out[self._entries] = data
        return out

    @cached_property
    def _entries(self) -> tuple[np.ndarray, np.ndarray]:
        template = self.pattern.template
        return template.indices, np.repeat(np.arange(self.size), np.diff(template.indptr))

    def saddle(self, s: np.ndarray, y: np.ndarray) -> sp.csc_array:
        """[M −Gᵀ; G 0] at y."""
        matrix, which, sign = self.pattern.saddle
        return sp.csc_array((sign * self._blocks(s, y)[which], matrix.indices, matrix.indptr), shape=matrix.shape)

    def _blocks(self, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        at.update(self.model, self.w, self.places, s, y)
        out = np.empty(len(self.pattern.places_of_blocks[0]))
        compiled.blocks(self.model, self.w, self.places, out)
        return out

    def _stiffness(self) -> np.ndarray:
        """The stiffness of every coordinate alone."""
        parts = []
        for arrays in self.assembly.packed.arrays.values():
            rigid = np.zeros(arrays.linear + arrays.turning)
            parts += [rigid, np.diagonal(arrays.K) + (arrays.membrane[0] ** 2).sum(axis=0)]
        return np.concatenate(parts)

    def _units(self, y: np.ndarray) -> np.ndarray:
        """Sizes that differences are relative to."""
        out = np.ones(self.size)
        for numbers in (part for pair in self.kinds for part in pair if len(part)):
            out[numbers] = max(float(np.abs(y[numbers]).max()), 0.1)
        return out

    # --- consistent states -------------------------------------------------------------------------------------------

    def start(self) -> np.ndarray:
        """y from the buffers: positions and velocities; multipliers are zero."""
        w, y = self.w, np.zeros(self.size)
        for b, q, v in zip(self.model.bodies, self.pattern.q, self.pattern.v, strict=True):
            n, lin, rot, Q, V = (int(b[c]) for c in (t.N_ETA, t.N_LIN, t.N_ROT, t.W_Q, t.W_V))
            turn = np.zeros(0)
            if rot == 1:
                turn = w[[int(b[t.W_THETA])]]
            elif rot == 3:
                turn = Rotation.from_matrix(w[Q + 3 : Q + 12].reshape(3, 3)).as_quat(scalar_first=True)
            y[q] = np.concatenate([w[Q : Q + lin], turn, w[Q + 12 : Q + 12 + n]])
            y[v] = np.concatenate([w[V : V + lin], w[V + 6 - rot if rot == 1 else V + 3 :][:rot], w[V + 6 : V + 6 + n]])
        for row in self.places.drives:
            if row[at.V_Y] >= 0:
                y[row[at.V_Y] :][: row[at.V_SIZE]] = w[row[at.V_AT] :][: row[at.V_SIZE]]
        return y

    def consistent(self, time: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """y with its multipliers, and ẏ: M v̇ = f + Gᵀλ with the rates of the rows held."""
        s, y, yd = self.inputs(time), y.copy(), np.zeros(self.size)
        y[self.lam], y[self.mu] = 0.0, 0.0
        at_rest = self.residual(s, y, yd, np.empty(self.size))
        yd[: self.lam.start] = -at_rest[: self.lam.start]
        yd[self.v] = 0.0
        matrix, count = csr(self.saddle(s, y)), self.v.stop - self.v.start
        right = -self._along(s, y, yd) - self._by_inputs(self.inputs(time, rates=True), s, y)
        yd[self.v], y[self.lam] = SaddleSystem(matrix[:count, :count], matrix[count:, :count]).solve(
            -at_rest[self.v], right
        )
        return y, yd

    def _along(self, s: np.ndarray, y: np.ndarray, yd: np.ndarray) -> np.ndarray:
        """Ġ v and what drives add, at fixed inputs: a difference of sixth order along the motion."""
        count = self.lam.stop - self.lam.start
        fast = max(float(np.abs(y[self.v]).max(initial=0.0)), float(np.abs(self._velocities(s)).max(initial=0.0)))
        if not count or fast == 0.0:
            return np.zeros(count)
        step, out, zero = TURN / fast, np.zeros(count), np.zeros(self.size)
        F = np.empty(self.size)
        for k, weight in FIRST.items():
            there = self._stepped(s, k * step)
            out += weight / step * self.residual(there, y + k * step * yd, zero, F)[self.lam]
        return out

    def _velocities(self, s: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(0), *(s[row[at.V_U] : row[at.V_U] + 6] for row in self.places.drives)])

    def _stepped(self, s: np.ndarray, step: float) -> np.ndarray:
        """Given positions of drives moved along their velocities."""
        out, zero = s.copy(), np.zeros(self.size)
        at.steer(self.model, self.w, self.places, s, zero)
        for row in self.places.drives:
            if row[at.V_Y] < 0:
                out[row[at.V_VALUE] :][: row[at.V_SIZE]] += step * self.w[row[at.V_RATE] :][: row[at.V_SIZE]]
        return out

    def _by_inputs(self, rates: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """What the rates of velocity inputs add to the accelerations of rows: rows are linear in them."""
        given = s.copy()
        for row in self.places.drives:
            given[row[at.V_U] : row[at.V_U] + 6] = rates[row[at.V_U] : row[at.V_U] + 6]
        resting = y.copy()
        resting[self.v] = 0.0
        return self.residual(given, resting, np.zeros(self.size), np.empty(self.size))[self.lam]

    def closed(self, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """y with gaps closed and velocities that agree with them; multipliers are left alone.

        Places move as μ moves them, so that stiff coordinates stay; velocities are the nearest in the kinetic energy.
        """
        count, rows = self.v.stop - self.v.start, self.lam.stop - self.lam.start
        if not rows:
            return y
        zero, F, out = np.zeros(self.size), np.empty(self.size), y.copy()
        saddle = self.saddle(s, y)
        solve = linear_solver(saddle.toarray() if self.size <= DENSE else saddle)
        G = saddle[count:, :count].toarray()
        nearer = self.places.scale[:, None] * G.T
        if solve is None or np.linalg.cond(G @ nearer) > SINGULAR:  # a dead point, where rows repeat each other
            return y
        for _ in range(CLOSING):
            gap = self.residual(s, out, zero, F)[self.mu].copy()
            if np.abs(gap).max() < CLOSED:
                break
            change = -nearer @ np.linalg.solve(G @ nearer, gap)
            compiled.displace(self.model, self.places, out.copy(), change, out)
        for _ in range(2):  # the second for round-off
            miss = self.residual(s, out, zero, F)[self.lam]
            out[self.v] += solve(np.concatenate([zero[:count], -miss]))[:count]
        return out

    # --- states out --------------------------------------------------------------------------------------------------

    def powers(self, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Of every entry on its two bodies, then the losses of bodies."""
        out = np.empty(2 * len(self.model.entries) + len(self.model.bodies))
        at.update(self.model, self.w, self.places, s, y)
        compiled.powers(self.model, self.w, self.places, y, out, 0)
        return out

    def snapshot(
        self, time: float, s: np.ndarray, y: np.ndarray, done: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Kept numbers, multipliers of all entries and energies of springs, with the works done up to here."""
        packed, model, w = self.run.packed, self.model, self.w
        at.update(model, w, self.places, s, y)
        compiled.settle_gaps(model, w, self.places, time)
        entries = 2 * len(model.entries)
        if entries:
            w[model.entries[0, t.J_WORK] :][:entries] = done[:entries]
        w[model.bodies[:, t.W_LOSS]] = done[entries:]
        kept, springs = np.empty(packed.kept), np.empty(len(model.entries))
        snapshot(model, w, packed.gravity, packed.first, kept, springs)
        return kept, w[model.where[t.LAM] :][: packed.multipliers].copy(), springs

    def state(self, s: np.ndarray, y: np.ndarray) -> State:
        """y as a state."""
        at.update(self.model, self.w, self.places, s, y)
        return self.run.state()

    def reload(self, state: State) -> np.ndarray:
        """y from another state; drives go on from where they are."""
        w, E = self.w, self.model.ends
        for end in E:
            w[end[t.E_FRAME0] :][: t.FRAME_SIZE] = w[end[t.E_FRAME1] :][: t.FRAME_SIZE]
        load_state(self.assembly, state)
        return self.start()
