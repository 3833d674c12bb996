"""Quasi-static deformation in a given motion, so that no oscillations start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr, dependencies, diagonal, row_lengths, stacked, zero_matrix
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError
from phloat.motion.deformation import check_state
from phloat.motion.initial.accelerations import convective, moving_start
from phloat.motion.initial.equilibrium import BALANCED, CLOSED, GOOD_ENOUGH
from phloat.motion.initial.saddle import solve_refined
from phloat.motion.initial.set_moving import VelocityProblem
from phloat.motion.initial.statics import Statics, statics
from phloat.motion.initial.stiffness import inertia_slopes
from phloat.motion.initial.velocities import dependent_rows, mass, velocity_rows, with_velocities
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.law_ranges import warn_of_ranges_at
from phloat.system.state import State
from phloat.system.system import System
from phloat.system.terms import terms

NEWTON_STEPS = 40
LOAD_STEPS = (1, 8, 40)


@one_thread()
def settle(system: System, state: State, *, u: Mapping[str, object] | Inputs | None = None, t: float = 0.0) -> State:
    """The state with the quasi-static deformation that its motion, loads and inputs at t cause: η̇ = η̈ = 0.

    Rigid motion changes only as far as joints and their rates require. Unknowns are η, the accelerations a of the
    frames and λ: M(η) (a, 0) = (J − R) z + Gᵀλ + B u with gaps closed and G a = B_λ u̇ + Ḃ_λ u − Ġ w.
    σ = C⁻¹ε(η), plus the pre-stress of `state`.

    Parameters
    ----------
    system : System
    state : State
        Positions and velocities that agree with the joints (`place`, `set_moving`).
    u : dict, optional
        Inputs as for `simulate`.
    t : float
        Time at which the inputs are taken, s.

    Returns
    -------
    State
        A start from which a run has no oscillations caused by the start itself.

    Raises
    ------
    AccuracyError
        Newton's method does not converge: the motion may be too fast for a steady shape.

    Examples
    --------
    A blade that spins at 100 rad/s is longer by ρ ω² L³ / 3E = 0.1286 mm:

    >>> section, alu = ph.Rectangle(0.02, 0.01), ph.Material(E=70e9, rho=2700.0)
    >>> blade = ph.Beam(length=1.0, section=section, material=alu).discretise(4)
    >>> rotor = ph.connect({"blade": blade}, [ph.Revolute("ground", "blade.P", name="hub")], plane="xy")
    >>> spinning = ph.set_moving(rotor, ph.place(rotor), {"hub.angle_rate": 100.0})
    >>> print((1e3 * ph.settle(rotor, spinning)["blade.u_f"][-1, 0]).round(4))
    0.1286
    """
    state, inputs, time = moving_start(system, state, u, t)
    best = (np.inf, "")
    for steps in LOAD_STEPS:
        candidate = state
        for k in range(1, steps + 1):
            motion = _steady_motion(system, state, inputs, time, k / steps)
            candidate, residual, body = motion.solve(candidate)
            if residual > GOOD_ENOUGH:
                break
        else:
            warn_of_ranges_at(system, candidate)
            return check_state(system, candidate, t=time)
        best = min(best, (residual, body))
    raise AccuracyError(
        f"no settled deformation was found: forces stay out of balance by {best[0]:.1e} of their size, most on {best[1]!r}; "
        "the motion may be too fast for a steady shape"
    )


class Loads(NamedTuple):
    """At a state: forces f on w without Gᵀλ and M a, sums of magnitudes of their terms, M, G, and the right side of G a = rhs."""

    f: np.ndarray
    size: np.ndarray
    M: Matrix
    G: Matrix
    rhs: np.ndarray


@dataclass(frozen=True, eq=False)
class SteadyMotion:
    """A fraction of a motion as equations for η, a and λ: velocities scaled by √part, loads by part."""

    task: Statics
    w: np.ndarray
    u: np.ndarray
    u_rate: np.ndarray

    def solve(self, state: State) -> tuple[State, float, str]:
        """Newton's method. Returns the best state, its largest relative residual, and the body where that is."""
        state = predicted = self.with_consistent_velocities(state)
        loads = self.loads(state)
        a, lam = np.zeros(int(self.task.rigid.sum())), np.zeros(loads.G.shape[0])
        best: tuple[float, State, str] = (np.inf, state, "")
        stalled = 0
        for _ in range(NEWTON_STEPS):
            step, a, lam = self.newton_step(predicted, loads, a, lam, -self.task.gap(state))
            if not np.isfinite(step).all():
                break
            state, predicted = self.task.predict(state, predicted, step, 1.0)
            state = self.with_consistent_velocities(state)
            loads = self.loads(state)
            residual, body = self.residual(state, loads, a, lam)
            stalled = 0 if residual < 0.5 * best[0] else stalled + 1
            best = min(best, (residual, state, body), key=lambda attempt: attempt[0])
            if residual < BALANCED or stalled > 3:
                break
        return best[1], best[0], best[2]

    def with_consistent_velocities(self, state: State) -> State:
        """The state with the velocities nearest to w that satisfy joints and drives; η̇ = 0 where possible."""
        G, B_lam = velocity_rows(self.task.system, state)
        w = np.where(self.task.rigid, self.w, 0.0)
        M = mass(self.task.system, state)
        task = VelocityProblem(
            M=M,
            G=G,
            b=B_lam @ self.u - G @ w,
            w=np.zeros_like(w),
            fixed=np.zeros_like(self.task.rigid),
            rigid=self.task.rigid,
            owners=self.task.system.multipliers,
            cause="the motion and the drives",
            background=float(np.sqrt(w @ (M @ w))),
        )
        return with_velocities(self.task.system, state, w + task.velocities())

    def loads(self, state: State) -> Loads:
        """Forces and matrices at a state."""
        indices = self.task.indices
        matrices = terms(self.task.system, state)
        push = matrices.B @ self.u
        f = ((matrices.J - matrices.R) @ matrices.z + push)[indices]
        size = (abs(matrices.J) @ np.abs(matrices.z) + np.abs(push))[indices]
        rhs = matrices.B_lam @ self.u_rate + convective(self.task.system, state, self.u)
        return Loads(f, size, csr(matrices.E[indices][:, indices]), csr(matrices.G[:, indices]), rhs)

    def residual(self, state: State, loads: Loads, a: np.ndarray, lam: np.ndarray) -> tuple[float, str]:
        """The largest residual force relative to the sum of |its terms| (or the scaled gap, if larger), and its body's name."""
        M_r = loads.M[:, self.task.rigid]
        residuals = np.abs(loads.f + loads.G.T @ lam - M_r @ a) / self.task.force_scale
        size = (loads.size + abs(loads.G).T @ np.abs(lam) + abs(M_r) @ np.abs(a)) / self.task.force_scale
        relative = residuals / (size + 1e-3 * max(size.max(initial=0.0), self.task.force, 1e-300))
        gap = self.task.largest_gap(state)
        largest = float(relative.max(initial=0.0))
        return max(largest, gap * BALANCED / CLOSED), self.task.body_of(int(np.argmax(relative)))

    def newton_step(
        self, predicted: State, loads: Loads, a: np.ndarray, lam: np.ndarray, b: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Solves K δ + M_r a − Gᵀλ = f, G δ = b, G_r a = rhs, M_rr δ_r − G_rᵀ ν = 0 for δ, a, λ: frames move only to close gaps."""
        G, M_r = loads.G, csr(loads.M[:, self.task.rigid])
        G_r, M_rr = csr(G[:, self.task.rigid]), csr(M_r[self.task.rigid])
        n, r, m = M_r.shape[0], len(a), G.shape[0]
        K = self.task.stiffness(predicted, lam) + inertial_stiffness(self.task.system, predicted, a)
        independent = np.delete(np.arange(m), dependent_rows(dependencies(G_r)))
        G_I, k = csr(G_r[independent]), len(independent)
        onto = csr(sp.eye_array(n, format="csr")[self.task.rigid])
        A = stacked(
            [
                [K, M_r, -G.T, zero_matrix(n, k)],
                [G, zero_matrix(m, r), zero_matrix(m, m), zero_matrix(m, k)],
                [zero_matrix(k, n), G_I, zero_matrix(k, m), zero_matrix(k, k)],
                [M_rr @ onto, zero_matrix(r, r), zero_matrix(r, m), -G_I.T],
            ]
        )
        unit, rate = 1.0 / self.task.force_scale, self.task.rate
        weight = 1.0 / row_lengths(csr(G @ sp.diags_array(unit)))
        rows = np.concatenate([unit, weight, weight[independent] / rate, rate * unit[self.task.rigid]])
        columns = np.concatenate([unit, rate * unit[self.task.rigid], weight, weight[independent] / rate])
        rhs = np.concatenate([loads.f, b, loads.rhs[independent], np.zeros(r)])
        x = solve_refined(A, rhs, rows, columns, soft=(np.arange(n, n + m), np.arange(n + r, n + r + m)))
        return x[:n], x[n : n + r], x[n + r : n + r + m]


def inertial_stiffness(system: System, state: State, a: np.ndarray) -> Matrix:
    """−∂/∂η of inertia forces at η̇ = η̈ = 0, for constant accelerations a of the frames."""
    blocks, start = [], 0
    for name, body in system.bodies.items():
        pose, frame = state.pose(name), np.zeros(6)
        frame[list(body.active)] = a[start : start + len(body.active)]
        start += len(body.active)
        K = -inertia_slopes(body, pose)[1]
        K[:, 6:] += body.inertia.momentum_slope(pose.eta, np.concatenate([frame, np.zeros(body.coordinates)]))
        blocks.append(K[np.ix_(body.columns, body.columns)])
    return diagonal(blocks)


def _steady_motion(system: System, state: State, inputs: Inputs, t: float, part: float) -> SteadyMotion:
    """A fraction of the loads; velocities by its square root, so that inertia forces grow in proportion."""
    driven = np.zeros(system.ports.size, dtype=bool)
    for name, joint in system.joints.items():
        if joint.driven:
            driven[system.ports[name]] = True
    lighter = system if part == 1.0 else replace(system, gravity=part * system.gravity)
    u = inputs.at(t) * np.where(driven, np.sqrt(part), part)
    task = statics(lighter, state, u)
    return SteadyMotion(task, np.sqrt(part) * state.e[task.indices], u, part * inputs.rate(t))
