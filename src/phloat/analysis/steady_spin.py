"""Steady spin: the system rotates about an axis as a whole, at rest in the rotating frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.elimination import free_motions
from phloat.algebra.sparse import Matrix, csr, diagonal, row_lengths, stacked, zero_matrix
from phloat.analysis.ground_in_spin import circulation, require_same_all_round
from phloat.analysis.tangent import warn_of_sections
from phloat.errors import AccuracyError, InputError, finite, number
from phloat.joints.ends import unit
from phloat.motion.deformation import STRETCHED_LITTLE, check_state
from phloat.motion.initial.place import place
from phloat.motion.initial.saddle import SaddleSystem, solve_refined
from phloat.motion.initial.statics import forces, statics
from phloat.motion.initial.stiffness import inertia_slopes, stiffness
from phloat.motion.initial.velocities import require_closed, velocity_rows, with_velocities
from phloat.motion.inputs.inputs import as_inputs
from phloat.motion.law_ranges import warn_of_ranges_at
from phloat.system.state import State
from phloat.system.system import System, fits

NEWTON = 60
CONVERGED = 1e-10
LOAD_STEPS = (1, 4, 16)
DENSE = 600  # free motions up to which the shortest step is computed with full matrices
ROUND_OFF = 1e-11  # stiffness of a motion that counts as none, relative to its terms


def steady_spin(
    system: System,
    *,
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    rate: float,
    about: Sequence[float] = (0.0, 0.0, 0.0),
    near: State | Mapping[str, object] | None = None,
    u: Mapping[str, object] | None = None,
) -> State:
    """The state in which the whole system rotates at `rate` (rad/s) about an inertial axis through the point `about`.

    Its deformation, joint angles and multipliers balance centrifugal and all other forces; `near` is a start that selects one of
    several such states. Driven joints rotate with the system. `linearise` accepts this state. Gravity and loads in inertial axes
    must be along the axis (InputError).
    """
    if system.plane and np.abs(np.cross(np.asarray(axis, dtype=float), (0, 0, 1))).max() > 0:
        raise InputError(f"axis is {axis!r}; a system in the plane xy spins about z only")
    spin, point = number("rate", rate) * unit("axis", axis), finite("about", about, (3,))
    normal_part = np.linalg.norm(np.cross(system.gravity, spin))
    if normal_part > 1e-12 * np.linalg.norm(system.gravity) * abs(rate):
        raise InputError(
            f"gravity {tuple(map(float, system.gravity))} is not along the axis: it would rotate in the rotating frame, and no "
            "spin is steady; connect without gravity, or spin about it"
        )
    start = place(system, {} if near is None else near) if not isinstance(near, State) else fits(system, near)
    require_closed(system, start)
    inputs = as_inputs(system, u).at(0.0)
    _require_steady_loads(system, spin, inputs)
    smallest = np.inf
    for steps in LOAD_STEPS:
        state = start
        for k in range(1, steps + 1):
            state, residual = _newton(system, state, np.sqrt(k / steps) * spin, point, k / steps * inputs)
        if residual < CONVERGED:
            require_same_all_round(system, state, spin, point)
            warn_of_ranges_at(system, state, stacklevel=3)
            warn_of_sections(system, state)
            return check_state(system, state, level=4, stretch=STRETCHED_LITTLE)
        smallest = min(smallest, residual)
    raise AccuracyError(
        f"no steady spin at {rate:g} rad/s was found: the residual of the forces is {smallest:.1e} of their size; start nearer "
        "with near=…, or reduce the rate"
    )


def _require_steady_loads(system: System, spin: np.ndarray, u: np.ndarray) -> None:
    """Raises InputError for a load in inertial axes that is not along the spin: it would rotate in the rotating frame."""
    for name, actuator in system.actuators.items():
        if actuator.axes == "body" or not u[system.ports[name]].any():
            continue
        for vector, _ in actuator.forces:
            if np.linalg.norm(np.cross(vector, spin)) > 1e-12 * np.linalg.norm(vector) * np.linalg.norm(spin):
                direction = tuple(float(x) for x in (vector / np.linalg.norm(vector)).round(3))
                raise InputError(
                    f"load {name!r} along {direction} in inertial axes is not along the axis: it would rotate in the rotating "
                    "frame, and no spin is steady; use axes='body', or leave it out of u"
                )


def _with_spin(system: System, state: State, spin: np.ndarray, about: np.ndarray) -> State:
    """The state with the velocities of a rigid rotation about a point."""
    parts = []
    for name, body in system.bodies.items():
        pose = state.pose(name)
        w = np.concatenate([pose.A.T @ np.cross(spin, pose.r_P - about), pose.A.T @ spin, np.zeros(body.coordinates)])
        parts.append(w[body.columns])
    return with_velocities(system, state, np.concatenate(parts))


def _newton(system: System, state: State, spin: np.ndarray, about: np.ndarray, u: np.ndarray) -> tuple[State, float]:
    """Newton's method for [K −Gᵀ; G 0] (δq, λ) = (f, −gap), with the shortest δq in scaled units if it is not unique."""
    task = statics(system, state, u)
    scale = 1.0 / task.force_scale
    weight = sp.diags_array(scale)
    error = np.inf
    for _ in range(NEWTON):
        moving = _with_spin(system, state, spin, about)
        f, size = forces(system, moving, u)
        scaled = csr(velocity_rows(system, moving)[0] @ weight)
        joints = SaddleSystem(csr(sp.eye_array(len(f))), scaled)
        gap = task.gap(state)
        residual, lam = joints.solve(scale * f, np.zeros(len(gap)))
        terms = scale * size + abs(scaled).T @ np.abs(lam)
        error = float(np.abs(residual).max(initial=0.0) / max(terms.max(initial=0.0), 1e-300))
        error = max(error, float(np.abs(gap).max(initial=0.0)) / task.length)
        K = _stiffness(system, moving, lam, u) + circulation(system, moving, spin, about)[0]
        particular = joints.solve(np.zeros(len(f)), -gap)[0]
        step = _constrained_step(csr(weight @ K @ weight), scaled, residual, particular)
        state = task.displace(state, scale * step)
        if error < CONVERGED:  # the last step improves soft motions, such as the twist of a thin blade
            break
    return _with_spin(system, state, spin, about), error


def _stiffness(system: System, state: State, lam: np.ndarray, u: np.ndarray) -> Matrix:
    """The derivative of the forces by positions, those of inertia included, (velocities, velocities)."""
    inertial = []
    for name, body in system.bodies.items():
        by_w, by_eta, N = inertia_slopes(body, state.pose(name))
        inertial.append(-(by_eta + by_w @ N)[np.ix_(body.columns, body.columns)])
    return csr(stiffness(system, state, lam, u) + diagonal(inertial))


def _constrained_step(K: Matrix, G: Matrix, f: np.ndarray, particular: np.ndarray) -> np.ndarray:
    """The shortest δ with G δ = G `particular` that solves K δ = f on the motions that the joints allow."""
    n, joints = len(f), G.shape[0]
    if n - joints > DENSE:
        saddle = stacked([[K, -G.T], [G, zero_matrix(joints, joints)]])
        units = np.concatenate([np.ones(n), 1.0 / row_lengths(G)])
        rest = np.concatenate([f - K @ particular, np.zeros(joints)])
        return np.asarray(particular + solve_refined(saddle, rest, units, units, (np.arange(n + joints),) * 2)[:n])
    Z, free = free_motions(G, np.ones(n))
    if not len(free):
        return particular
    reduced, sizes = csr(Z.T @ K @ Z), abs(Z).T @ (abs(K) @ abs(Z))
    terms, size = (abs(a).max(axis=0).toarray().ravel() for a in (sizes, reduced))
    # a soft motion beside stiff ones counts as much as these; a free one, whose stiffness is round-off, does not move
    unit = np.where(size > ROUND_OFF * terms, 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0)), 0.0)
    z = la.lstsq(unit[:, None] * reduced.toarray() * unit, unit * (Z.T @ (f - K @ particular)), cond=1e-11)[0]
    return np.asarray(particular + Z @ (unit * z))
