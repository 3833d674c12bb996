"""Small motion about a steady one: M q̈ + (Γ + R) q̇ + (BᵀC⁻¹B + K_g) q = Gᵀλ + B u,  G q = 0.

q are small motions (δx, δφ, δη) of the bodies in axes that move with them. About a steady motion w₀ (rest, or a spin of the
whole system about an axis) their velocities are δw = q̇ + N q with N = [[ω×, v×], [0, ω×]] for each frame, so that with the inertial
forces h(η, w)

    Γ = M N − ∂h/∂w,      K_g = K_loads − ∂h/∂η − (∂h/∂w) N.

K_loads are gravity, pre-stress, multipliers, springs and forces at ports.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from phloat.algebra.elimination import CANCELLED, ROUNDED
from phloat.algebra.sparse import Matrix, csr, diagonal, largest, zero_matrix
from phloat.analysis.ground_in_spin import circulation, require_same_all_round
from phloat.bodies.beams.beam import Beam
from phloat.bodies.body import Body
from phloat.errors import InputError, SectionInertiaWarning
from phloat.motion.initial.saddle import SaddleSystem
from phloat.motion.initial.statics import forces
from phloat.motion.initial.stiffness import block_norms, inertia_slopes, loads_stiffness, motion_kinds, spring_rows
from phloat.motion.initial.velocities import mass, velocity_indices, velocity_rows
from phloat.system.state import Pose, State
from phloat.system.system import System

BALANCED = 1e-6  # residual of an equilibrium, relative to its forces
ROUND_OFF = 1e-14  # relative to the magnitudes of the terms of a force
STEADY = 1e-9  # deviation from a rigid motion that is round-off, relative to the largest velocity


@dataclass(frozen=True, eq=False)
class SmallMotion:
    """Matrices on the velocities of all bodies, M, Γ (skew up to round-off) and K_g, and the multipliers of the steady state."""

    M: Matrix
    gamma: Matrix
    K_g: Matrix
    K_size: Matrix  # the sums of the magnitudes of the terms of K_g
    lam: np.ndarray
    spin: np.ndarray  # inertial, zero at rest
    dampers: tuple[str, ...] = ()  # to the ground in a spin, whose forces depend on positions and have no potential


def small_motion(system: System, state: State, u: np.ndarray) -> SmallMotion:
    """The matrices of small motion about a steady state under inputs u; raises InputError if the state is not steady."""
    if _is_unloaded(system, state, u):  # no stiffness of loads, whatever the size of the bodies
        n = system.loose.split
        none, M = zero_matrix(n, n), csr(system.loose.E[:n, :n])
        return SmallMotion(M, none, none, none, np.zeros(system.multipliers.size), np.zeros(3))
    spin, about = common_spin(system, state)
    if spin.any():
        require_same_all_round(system, state, spin, about)
    warn_of_sections(system, state)
    _require_joints(system, state)
    M = mass(system, state)
    lam = balancing_multipliers(system, state, u, M)
    K, sizes = loads_stiffness(system, state, lam, u)
    size = M.shape[0]
    if not spin.any() and not np.any(state.e[velocity_indices(system)]):
        return SmallMotion(M, zero_matrix(size, size), K, sizes, lam, spin)
    gammas, K_h, K_h_size = [], [], []
    for name, body in system.bodies.items():
        pose, c = state.pose(name), np.ix_(body.columns, body.columns)
        by_w, by_eta, N = inertia_slopes(body, pose)
        M_b = body.inertia.at(pose.eta).M
        gamma = M_b @ N - by_w
        K_h.append(-(by_eta + by_w @ N)[c])
        by_w, by_eta, N, M_b = (block_norms(a, motion_kinds(np.arange(len(N)))) for a in (by_w, by_eta, N, M_b))
        K_h_size.append((by_eta + by_w @ N)[c] + _inertia_round_off(body, pose)[c])
        gammas.append(np.where(np.abs(gamma) > ROUND_OFF * (M_b @ N + by_w), gamma, 0.0)[c])
    K_d, K_d_size, dampers = circulation(system, state, spin, about)
    K, sizes = csr(K + diagonal(K_h) + K_d), csr(sizes + diagonal(K_h_size) + K_d_size)
    return SmallMotion(M, diagonal(gammas), K, sizes, lam, spin, dampers)


def _inertia_round_off(body: Body, pose: Pose) -> np.ndarray:
    """The size of inertial terms whose fraction CANCELLED is their round-off: Ω²√(m_i m_j), or Ω√(m_i m_j) for unit steps.

    Each term is a sum over the coordinates of the body, in an order that depends on the processor.
    """
    rate = float(np.linalg.norm(pose.omega))
    root = np.sqrt(np.diag(body.inertia.at(pose.eta).M))
    relative = max(ROUNDED, float(np.finfo(float).eps) * len(root))
    return np.asarray(relative / CANCELLED * max(rate, rate**2) * np.outer(root, root))


def _is_unloaded(system: System, state: State, u: np.ndarray) -> bool:
    """Whether the system is at rest, undeformed, and without loads and springs."""
    blocks = [n for n in system.layout if n.rpartition(".")[2] in ("v_P", "omega", "eta_dot", "eta", "sigma")]
    springs = any(law.stores for element in system.elements.values() for law in element.laws)
    return not (springs or np.any(u) or np.any(system.gravity) or any(state.e[system.layout[n]].any() for n in blocks))


def _require_joints(system: System, state: State) -> None:
    """Raises InputError if the velocities violate a joint that is not driven."""
    G, B_lam = velocity_rows(system, state)
    w = state.e[velocity_indices(system)]
    miss = np.abs(G @ w)
    miss[np.unique(B_lam.tocoo().row)] = 0.0
    if miss.max(initial=0.0) > STEADY * max(np.abs(w).max(initial=0.0), 1e-300) * max(1.0, largest(G)):
        k = int(np.argmax(miss))
        raise InputError(
            f"velocities violate joint {system.multipliers.owner(k)!r} by {miss[k]:.3g}; compute them with set_moving(system, …)"
        )


def balancing_multipliers(system: System, state: State, u: np.ndarray, M: Matrix) -> np.ndarray:
    """The multipliers λ that balance all forces, (multipliers,); raises InputError with the largest residual if none do."""
    (f, size), G = forces(system, state, u), velocity_rows(system, state)[0]
    saddle = SaddleSystem(M, G)
    x, lam = saddle.solve(f, np.zeros(G.shape[0]))
    springs, _, noise = spring_rows(system, state)
    unbalanced, in_joints = _spread_noise(saddle, M, abs(springs).T @ noise)
    lam = np.where(np.abs(lam) > np.maximum(_round_off(saddle, size), in_joints), lam, 0.0)
    rest = np.maximum(np.abs(M @ x) - unbalanced, 0.0)
    size = size + abs(G).T @ np.abs(lam)
    scale = np.sqrt(M.diagonal())  # forces of all kinds, over the roots of their masses
    relative = (rest / scale) / max(float((size / scale).max(initial=0.0)), 1e-300)
    if (ratio := float(relative.max(initial=0.0))) > BALANCED:
        k = int(np.argmax(relative))
        owner = system.layout.owner(int(velocity_indices(system)[k]))
        raise InputError(
            f"the state is no equilibrium: the force on {owner!r} is {rest[k]:.3g} (N, or N m), "
            f"{ratio:.1e} of the forces there; use equilibrium(system, state) or steady_spin(system, …), and give its inputs as u="
        )
    return lam


def _spread_noise(saddle: SaddleSystem, M: Matrix, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What round-off `noise` of the forces of springs leaves unbalanced, also on bodies behind joints, and in multipliers."""
    none = np.zeros(saddle.G.shape[0])
    if not noise.any():
        return noise, none
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(3, len(noise)))
    solutions = [saddle.solve(sign * noise, none) for sign in signs]
    forces, multipliers = (np.max([np.abs(part) for part in parts], axis=0) for parts in zip(*solutions, strict=True))
    return noise + 4.0 * abs(M) @ forces, 4.0 * multipliers


def _round_off(saddle: SaddleSystem, size: np.ndarray) -> np.ndarray:
    """The round-off of each multiplier for forces of these sizes."""
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(3, len(size)))
    none = np.zeros(saddle.G.shape[0])
    noise = [np.abs(saddle.solve(ROUND_OFF * sign * size, none)[1]) for sign in signs]
    return np.asarray(np.max(noise, axis=0))


def common_spin(system: System, state: State) -> tuple[np.ndarray, np.ndarray]:
    """The angular velocity of all bodies in inertial axes, (3,), and a point of its axis.

    Raises InputError if they do not move as one rigid body.
    """
    w = state.e[velocity_indices(system)]
    fastest = np.abs(w).max(initial=0.0)
    if not fastest:
        return np.zeros(3), np.zeros(3)
    poses = {name: state.pose(name) for name in system.bodies}
    spins = {name: pose.A @ pose.omega for name, pose in poses.items() if system.bodies[name].rotates}
    spin = next(iter(spins.values()), np.zeros(3))
    first = next(iter(poses.values()))
    drift = first.A @ first.v_P - np.cross(spin, first.r_P)
    for name, pose in poses.items():
        slip = pose.A @ pose.v_P - drift - np.cross(spin, pose.r_P)
        spin_difference = spins.get(name, spin) - spin
        size = max(np.abs(slip).max(), np.abs(spin_difference).max(), np.abs(pose.rates).max(initial=0.0))
        if size > STEADY * fastest:
            raise InputError(
                f"{name!r} moves relative to the others, or deforms (by {size:.3g} m/s or rad/s); linearise needs a state at "
                "rest, or a steady spin: steady_spin(system, axis=…, rate=…)"
            )
    return spin, np.cross(spin, drift) / max(float(spin @ spin), 1e-300)


# --- rotary inertia of sections --------------------------------------------------------------------------------------
#

# With forward and backward whirl split by ± ρI_pΩk²/2ρA and ω = k²√(EI/ρA), the relative split is ρI_pΩ / 2√(EI ρA) for every mode.
# The propeller moment of sections that rotate at Ω across their axis changes ω² of torsion by ± Ω² (I − I_y)/(I + I_y).


SIGNIFICANT = 1e-3  # relative error of a frequency that is worth a warning


def warn_of_sections(system: System, state: State) -> None:
    """Warns of every Euler-Bernoulli beam whose frequencies in this spin have a relative error of more than a thousandth."""
    for name, body in system.bodies.items():
        if isinstance(body.recipe, Beam) and body.recipe.theory == "euler-bernoulli" and len(body.active) == 6:
            for kind, error in zip(("whirl", "torsion"), _frequency_errors(body, state.pose(name).omega), strict=True):
                if error > SIGNIFICANT:
                    warnings.warn(SectionInertiaWarning(_inertia_warning(name, kind, error)), stacklevel=4)


def _frequency_errors(body: Body, omega: np.ndarray) -> tuple[float, float]:
    """Relative changes of bending and torsion frequencies by the rotary inertia that the theory neglects."""
    beam = body.recipe
    assert isinstance(beam, Beam)
    number = {key: float(value.mean()) for key, value in beam.numbers(beam.length * (np.arange(8) + 0.5) / 8).items()}
    polar, bending = number["rhoI"] + number["rhoI_y"], number["EI"] + number["EI_y"]
    softer = 0.5 * (bending - np.hypot(number["EI"] - number["EI_y"], 2.0 * number["EI_yz"]))  # about principal axes
    whirl = 0.5 * polar * abs(float(omega[0])) / np.sqrt(softer * number["rhoA"])
    across = float(omega[1:] @ omega[1:]) * np.hypot(number["rhoI"] - number["rhoI_y"], 2.0 * number["rhoI_yz"])
    length = beam.length * max(body.pieces, 1)
    return whirl, 0.5 * across / ((np.pi / 2 / length) ** 2 * number["GJ"]) if number["GJ"] else 0.0


def _inertia_warning(name: str, kind: str, error: float) -> str:
    """The message of a SectionInertiaWarning with the relative error of the frequencies."""
    cause = {
        "whirl": "spins about its axis: the gyroscopic moment of its sections would split its whirling frequencies by ±",
        "torsion": "rotates across its axis: the propeller moment of its sections would change its torsion frequencies by ",
    }[kind]
    return (
        f"beam {name!r} {cause}{100 * error:.2g} %. theory='euler-bernoulli' neglects it, and its results depend on frame= by as "
        "much; use theory='rayleigh'"
    )
