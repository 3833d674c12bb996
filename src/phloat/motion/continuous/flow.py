"""A system as F(t, y, ẏ) = 0 for integrators: residual, derivatives, consistent initial values, states in and out."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.spatial.transform import Rotation

from phloat.algebra.sparse import csr
from phloat.motion.continuous import evaluate as ev, residual as compiled
from phloat.motion.continuous.pattern import DENSE, JacobianPattern, by_velocity, drive_map, linear_solver, y_layout
from phloat.motion.initial.saddle import SaddleSystem
from phloat.motion.inputs.signals import CENTRAL
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.step import snapshot
from phloat.motion.run.compilation import announce_compilation
from phloat.motion.run.run import Run
from phloat.motion.run.states import load_state
from phloat.system.state import State

CLOSING, CLOSED = 4, 1e-13  # maximum number of corrections of gaps, and their tolerance
SINGULAR = 1e14  # condition of rows that cannot be closed
EMPTY = np.zeros(0)
SLOW = 0.1  # s: coordinates with shorter time constants hardly move to close a gap
TURN_STEP = 0.02  # radians between the configurations of a difference along the motion


class Flow:
    """The equations of `evaluate` for one run, with the mass matrix M(η) or a constant one (`constant_mass`)."""

    def __init__(self, run: Run, mass: str = "full") -> None:
        announce_compilation(compiled.dae_residual, "the equations in continuous time")
        self.run, self.task, self.assembly = run, run.task, run.assembly
        self.evaluations = self.jacobians = 0
        self.offsets = y_layout(self.assembly, mass)
        self.model, self.w, task = run.packed.model, run.packed.w, run.task
        self.size = int(self.offsets.sizes[ev.LENGTH])
        edges = [0, *self.offsets.sizes.tolist()]
        self.q, self.v, self.d, self.lam, self.mu = map(slice, edges[:-1], edges[1:])  # parts of y
        self.pattern = JacobianPattern(self.model, self.offsets)
        template = self.pattern.template
        self._columns = *self.pattern.groups, template.indptr, template.indices
        self._work = tuple(np.empty((3, self.size)))
        self.maps = [drive_map(motion, task.system.ports.shape(motion.name)[0]) for motion in self.assembly.drives]
        diagonal = self.saddle(self.inputs(task.t_0), self.start()).diagonal()
        self.masses = diagonal[: self.v.stop - self.v.start]
        self.offsets.scale[:] = 1.0 / (self.masses + SLOW**2 * self._stiffness())

    @cached_property
    def kinds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Indices in y of numbers of one body and one kind (positions, rotations, deformations), and of their rates."""
        out = []
        for b, q, v in zip(self.model.bodies, self.pattern.q, self.pattern.v, strict=True):
            lin, rigid, n = int(b[t.N_LIN]), int(b[t.N_LIN] + b[t.N_ROT]), int(b[t.N_ETA])
            out += [(q[:lin], v[:lin]), (q[lin : len(q) - n], v[lin:rigid]), (q[len(q) - n :], v[rigid:])]
        out += [(numbers, numbers[:0]) for numbers, _ in self.pattern.d]
        return [pair for pair in out if len(pair[0])]

    # --- inputs ------------------------------------------------------------------------------------------------------

    def inputs(self, time: float, rates: bool = False) -> np.ndarray:
        """The inputs s at t, or their rates: prescribed efforts, then (v, ω) of each drive and, if not integrated, its position."""
        values = {name: signal.rate(time) if rates else signal.at(time) for name, signal in self.run.signals.items()}
        parts = [np.array([values[name][k] for name, k in self.assembly.efforts])]
        for motion, L in zip(self.assembly.drives, self.maps, strict=True):
            parts.append(L @ values[motion.name] if motion.name in values else np.zeros(6))
            if not by_velocity(self.assembly, motion):
                parts.append(motion.positions(motion.start, self.run.signals, np.array([time, time]))[0])
        return np.concatenate(parts)

    # --- residual and derivatives ------------------------------------------------------------------------------------

    def residual(self, s: np.ndarray, y: np.ndarray, yd: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Writes F(t, y, ẏ) to `out` and returns it."""
        self.evaluations += 1
        return self._evaluate(s, y, yd, out)

    def _evaluate(
        self,
        s: np.ndarray,
        y: np.ndarray,
        yd: np.ndarray,
        out: np.ndarray,
        unit: np.ndarray = EMPTY,
        by_y: np.ndarray = EMPTY,
    ) -> np.ndarray:
        """Writes F to `out`, ∂F/∂y to `by_y` unless that is empty, and what depends on (t, y) to w."""
        model = self.model, self.w, self.offsets, self.run.packed.gravity
        compiled.dae_residual(*model, s, y, yd, out, unit, *self._columns, by_y, *self._work)
        return out

    def _update(self, s: np.ndarray, y: np.ndarray) -> None:
        """Writes what depends on (t, y) to w."""
        self._evaluate(s, y, y, np.empty(self.size))

    def derivatives(self, s: np.ndarray, y: np.ndarray, yd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂F/∂y and ∂F/∂ẏ, as data of matrices of the pattern."""
        template = self.pattern.template
        self.jacobians += 1
        by_y, by_yd = np.zeros(template.nnz), np.zeros(template.nnz)
        self._evaluate(s, y, yd, np.empty(self.size), self._units(y), by_y)
        filled, ones = self.pattern.mass
        by_yd[filled], by_yd[ones] = self._blocks(s, y)[: len(filled)], 1.0
        return by_y, by_yd

    def matrix(self, data: np.ndarray) -> np.ndarray | sp.csc_array:
        """A matrix of the pattern; dense for small systems."""
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
        out = np.empty(len(self.pattern.block_indices[0]))
        self._update(s, y)
        compiled.blocks(self.model, self.w, self.offsets, out)
        return out

    def _stiffness(self) -> np.ndarray:
        """The diagonal of the stiffness matrix for v."""
        parts = []
        for arrays in self.assembly.packed.arrays.values():
            rigid = np.zeros(arrays.linear + arrays.turning)
            parts += [rigid, np.diagonal(arrays.K) + (arrays.membrane[0] ** 2).sum(axis=0)]
        return np.concatenate(parts)

    def _units(self, y: np.ndarray) -> np.ndarray:
        """Magnitudes to which differences are relative."""
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
        for row in self.offsets.drives:
            if row[ev.V_Y] >= 0:
                y[row[ev.V_Y] :][: row[ev.V_SIZE]] = w[row[ev.V_AT] :][: row[ev.V_SIZE]]
        return y

    def consistent(self, time: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """y with its multipliers, and ẏ: M v̇ = f + Gᵀλ subject to the time derivative of the rate equations of the rows."""
        s, y, yd = self.inputs(time), y.copy(), np.zeros(self.size)
        y[self.lam], y[self.mu] = 0.0, 0.0
        residual = self.residual(s, y, yd, np.empty(self.size))
        yd[: self.lam.start] = -residual[: self.lam.start]
        yd[self.v] = 0.0
        matrix, count = csr(self.saddle(s, y)), self.v.stop - self.v.start
        rhs = -self._row_drift(s, y, yd) - self._row_rates_by_inputs(self.inputs(time, rates=True), s, y)
        yd[self.v], y[self.lam] = SaddleSystem(matrix[:count, :count], matrix[count:, :count]).solve(
            -residual[self.v], rhs
        )
        return y, yd

    def _row_drift(self, s: np.ndarray, y: np.ndarray, yd: np.ndarray) -> np.ndarray:
        """Ġ v and the terms of drives, at constant inputs: a sixth-order difference along the motion."""
        count = self.lam.stop - self.lam.start
        fast = max(float(np.abs(y[self.v]).max(initial=0.0)), float(np.abs(self._velocities(s)).max(initial=0.0)))
        if not count or fast == 0.0:
            return np.zeros(count)
        step, out, zero = TURN_STEP / fast, np.zeros(count), np.zeros(self.size)
        F = np.empty(self.size)
        for k, weight in CENTRAL.items():
            inputs = self._advanced_inputs(s, k * step)
            out += weight / step * self.residual(inputs, y + k * step * yd, zero, F)[self.lam]
        return out

    def _velocities(self, s: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(0), *(s[row[ev.V_U] : row[ev.V_U] + 6] for row in self.offsets.drives)])

    def _advanced_inputs(self, s: np.ndarray, step: float) -> np.ndarray:
        """The inputs with prescribed positions of drives moved along their velocities for a time `step`."""
        out, zero = s.copy(), np.zeros(self.size)
        compiled.steer(self.model, self.w, self.offsets, s, zero)
        for row in self.offsets.drives:
            if row[ev.V_Y] < 0:
                out[row[ev.V_VALUE] :][: row[ev.V_SIZE]] += step * self.w[row[ev.V_RATE] :][: row[ev.V_SIZE]]
        return out

    def _row_rates_by_inputs(self, rates: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The accelerations of rows by the rates of velocity inputs, in which rows are linear."""
        inputs = s.copy()
        for row in self.offsets.drives:
            inputs[row[ev.V_U] : row[ev.V_U] + 6] = rates[row[ev.V_U] : row[ev.V_U] + 6]
        resting = y.copy()
        resting[self.v] = 0.0
        return self.residual(inputs, resting, np.zeros(self.size), np.empty(self.size))[self.lam]

    def close_joints(self, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """y with gaps closed and velocities that satisfy the rows; multipliers are unchanged.

        Positions move as with μ, so that stiff coordinates hardly change; the change of velocities has the least kinetic energy.
        """
        count, rows = self.v.stop - self.v.start, self.lam.stop - self.lam.start
        if not rows:
            return y
        zero, F, out = np.zeros(self.size), np.empty(self.size), y.copy()
        saddle = self.saddle(s, y)
        solve = linear_solver(saddle.toarray() if self.size <= DENSE else saddle)
        G = saddle[count:, :count].toarray()
        nearer = self.offsets.scale[:, None] * G.T
        if solve is None or np.linalg.cond(G @ nearer) > SINGULAR:  # a dead point, where rows repeat each other
            return y
        for _ in range(CLOSING):
            gap = self.residual(s, out, zero, F)[self.mu].copy()
            if np.abs(gap).max() < CLOSED:
                break
            change = -nearer @ np.linalg.solve(G @ nearer, gap)
            compiled.displace(self.model, self.offsets, out.copy(), change, out)
        for _ in range(2):  # the second removes round-off
            miss = self.residual(s, out, zero, F)[self.lam]
            out[self.v] += solve(np.concatenate([zero[:count], -miss]))[:count]
        return out

    # --- states out --------------------------------------------------------------------------------------------------

    def powers(self, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Powers of each entry on its two bodies, then dissipated by each body, then neglected in it."""
        out = np.empty(2 * (len(self.model.entries) + len(self.model.bodies)))
        self._update(s, y)
        compiled.powers(self.model, self.w, self.offsets, out)
        return out

    def snapshot(
        self, time: float, s: np.ndarray, y: np.ndarray, works: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The numbers of an output row, multipliers of all entries and energies of springs, with the works up to this time."""
        packed, model, w = self.run.packed, self.model, self.w
        self._update(s, y)
        compiled.settle_gaps(model, w, self.offsets, time)
        entries, bodies, kinetic = 2 * len(model.entries), len(model.bodies), model.bodies[:, t.W_ENERGY] - packed.first
        energies = np.full(bodies, np.nan)
        compiled.kinetic_energies(model, w, self.offsets, energies)
        if entries:
            w[model.entries[0, t.J_WORK] :][:entries] = works[:entries]
        w[model.bodies[:, t.W_LOSS]] = works[entries : entries + bodies]
        numbers, springs = np.empty(packed.saved_count), np.empty(len(model.entries))
        snapshot(model, w, packed.gravity, packed.first, numbers, springs)
        numbers[kinetic] = np.where(np.isnan(energies), numbers[kinetic], energies)
        return numbers, w[model.offsets[t.LAM] :][: packed.multipliers].copy(), springs

    def state(self, s: np.ndarray, y: np.ndarray) -> State:
        """y as a State."""
        self._update(s, y)
        return self.run.state()

    def reload(self, state: State) -> np.ndarray:
        """y from another state; drives keep their positions."""
        w, E = self.w, self.model.ends
        for end in E:
            w[end[t.E_FRAME0] :][: t.FRAME_SIZE] = w[end[t.E_FRAME1] :][: t.FRAME_SIZE]
        load_state(self.assembly, state)
        return self.start()
