"""Energy of a system at a state, and the identities that make it port-Hamiltonian, as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la

from phloat.bodies.body import Body
from phloat.errors import InputError, finite, mapping
from phloat.linear.form.phdae import LinearPHDAE
from phloat.system.joint_rows import element_energies
from phloat.system.state import Pose, State
from phloat.system.system import System, fits
from phloat.system.terms import Terms, terms


def energy(system: System, state: State) -> float:
    """The energy of a system at a state, H = H_kin + H_def + H_pot (8), Remark 1, and what springs store.

    Parameters
    ----------
    system : System
    state : State

    Returns
    -------
    float
        J. Potential energy is zero where mass centres are at the height of the inertial origin.

    Examples
    --------
    A pendulum of 2 kg, its mass centre at 0.5 m, at 30° above the level and turning at 2 rad/s: ½ · 0.6 · 2² + 2 · 9.81 · 0.25 J.

    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> hinge = ph.Revolute("ground", "arm.P", name="hinge")
    >>> pendulum = ph.connect({"arm": arm}, [hinge], gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> state = ph.place(pendulum, {"hinge.angle": np.pi / 6})
    >>> print(round(ph.energy(pendulum, ph.set_moving(pendulum, state, {"hinge.angle_rate": 2.0})), 6))
    6.105
    """
    state = fits(system, state)
    bodies = sum(sum(body_energy(body, state.pose(name), system.gravity)) for name, body in system.bodies.items())
    return bodies + sum(element_energies(system, state).values())


def body_energy(body: Body, pose: Pose, gravity: np.ndarray) -> tuple[float, float, float]:
    """Kinetic, deformation and potential energy of one body."""
    I = body.inertia
    now = I.at(pose.eta)
    w = np.concatenate([pose.v_P, pose.omega, pose.rates])
    kinetic, elastic = 0.5 * w @ now.M @ w, 0.5 * pose.sigma @ (body.elastic.C @ pose.sigma)
    return float(kinetic), float(elastic), float(-gravity @ (I.m * pose.r_P + pose.A @ now.s_u))


def effort_defect(system: System, state: State) -> float:
    """max |Eᵀz − ∇H| / max |∇H|, with ∇H by five-point differences of `energy`.

    Their steps are exact for quartics, and a hundredth of them is taken where those miss: springs on bent sections store more.
    """
    at = terms(system, state)
    effort = at.E.T @ at.z
    scale = np.maximum(1e-2 * np.abs(state.e), 1e-2)
    gradient = np.array([_slope(system, state, i, h) for i, h in enumerate(scale)])
    largest = max(float(np.abs(gradient).max()), 1e-300)
    for i in np.flatnonzero(np.abs(effort - gradient) > 1e-9 * largest):
        finer = _slope(system, state, int(i), 1e-2 * scale[i])
        if abs(effort[i] - finer) < abs(effort[i] - gradient[i]):
            gradient[i] = finer
    return float(np.abs(effort - gradient).max() / max(np.abs(gradient).max(), 1e-300))


def _slope(system: System, state: State, i: int, h: float) -> float:
    """∂H/∂e_i by five points h apart."""
    values = []
    for step in (-2, -1, 1, 2):
        e = state.e.copy()
        e[i] += step * h
        values.append(energy(system, replace(state, e=e)))
    return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)


@dataclass(frozen=True)
class PowerBalance:
    """Ḣ = yᵀu − zᵀR z at one state; `residual` is what is missing, `relative` that beside the largest power of a row or port."""

    stored: float
    supplied: float
    dissipated: float
    residual: float
    relative: float


def power_balance(system: System, state: State, u: Mapping[str, object] | None = None) -> PowerBalance:
    """The power balance for inputs u by port name: rates ė and multipliers from the equations, Ḣ = ∇H · ė.

    Velocities must satisfy the joints (and drives); any multipliers then balance, so those of least size are taken. Round-off
    is that of the largest ∂H/∂e_i ė_i, which in a violently stressed state can be 10⁷ times the powers that are compared.
    """
    at = terms(system, state)
    inputs = np.zeros(at.ports.size)
    for name, value in mapping("u", {} if u is None else u, "{port: value}").items():
        shape = at.ports.shape(name)
        number = np.ndim(value) == 0 and shape == (1,)
        inputs[at.ports[name]] = finite(f"input {name!r}", value, () if number else shape)
    miss = at.B_lam @ inputs - at.G @ at.z
    if np.abs(miss).max(initial=0.0) > 1e-9 * max(np.abs(at.z).max(initial=0.0), 1.0):
        worst = at.multipliers.owner(int(np.argmax(np.abs(miss))))
        raise InputError(
            f"velocities miss joint {worst!r} by {np.abs(miss).max():.1e}; the balance needs them to agree"
        )
    free = (at.J - at.R) @ at.z + at.B @ inputs
    lam = np.linalg.lstsq(at.G.T.toarray(), -free, rcond=None)[0] if at.multipliers.size else np.zeros(0)
    force = free + at.G.T @ lam
    y = at.B.T @ at.z + at.B_lam.T @ lam
    E = at.E.toarray().astype(np.longdouble)
    stored = float((E.T @ at.z) @ _rates(E, force))
    supplied, dissipated = float(y @ inputs), float(at.z @ (at.R @ at.z))
    residual = stored - supplied + dissipated
    size = max(np.abs(at.z * force).max(), np.abs(y * inputs).max(initial=0.0), dissipated, 1e-300)
    return PowerBalance(stored, supplied, dissipated, residual, float(residual / size))


def _rates(E: np.ndarray, force: np.ndarray) -> np.ndarray:
    """E⁻¹ force, refined in extended precision: ė of stiff coordinates is so large that its round-off is power."""
    # masses and compliances differ by many orders of magnitude: solve with unit diagonal
    unit = 1.0 / np.sqrt(np.diag(E).astype(float))
    factor = la.cho_factor(E.astype(float) * unit[:, None] * unit)
    e_dot = np.zeros(len(force), dtype=np.longdouble)
    for _ in range(4):
        e_dot += unit * la.cho_solve(factor, (unit * (force - E @ e_dot)).astype(float))
    return e_dot


def structure_defects(of: Terms | LinearPHDAE) -> dict[str, float]:
    """How far E, J, R are from a port-Hamiltonian system: relative numbers by what they say."""
    return of.structure()
