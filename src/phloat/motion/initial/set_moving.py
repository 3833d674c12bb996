"""Velocities that agree with the joints and drives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import Matrix, csr, stacked
from phloat.algebra.threads import one_thread
from phloat.errors import JointError, finite, mapping
from phloat.joints.rows import Row, row_rates
from phloat.joints.standard_rows import spins
from phloat.motion.initial.saddle import SaddleSystem
from phloat.motion.initial.velocities import (
    mass,
    require_closed,
    rigid_columns,
    sort_values,
    velocity_indices,
    velocity_rows,
    with_velocities,
)
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.system.connection import Connection
from phloat.system.joint_rows import ball_joints, columns_in_velocities, ends, scatter_rows
from phloat.system.state import State
from phloat.system.system import System, fits
from phloat.system.units import values_in_si

FEASIBLE = 1e-10  # relative to the largest velocity, rows and velocities scaled
ROUND_OFF = 1e-14  # m/s or rad/s: of zero velocities, such as those of a locked mechanism
RIGID_WEIGHT = 1e-6  # weight of rigid motion while deformation rates are minimised
VELOCITIES = ("v_P", "omega", "eta_dot")


@one_thread()
def set_moving(
    system: System,
    state: State,
    given: Mapping[str, object] | None = None,
    *,
    u: Mapping[str, object] | Inputs | None = None,
    t: float = 0.0,
) -> State:
    """The state with velocities that satisfy joints and drives, G w = B_λ u(t), and the values `given` by name.

    Deformation rates are zero if possible, else smallest in the mass norm; rigid velocities have the least kinetic energy.

    Parameters
    ----------
    system : System
    state : State
        Positions, with every joint closed (`place`); its velocities are not used.
    given : dict of str to float or array, optional
        Prescribed velocities: "body.v_P" (m/s) and "body.omega" (rad/s) in body axes, "body.eta_dot", "joint.angle_rate"
        (rad/s), "joint.slide_rate" (m/s), and "joint.omega" of a spherical joint in space, the angular velocity (3,) of the second
        port seen from the first, in the joint frame of the first.
    u : dict, optional
        Inputs as for `simulate`; only those of drives have an effect.
    t : float
        Time at which the inputs are taken, s.

    Returns
    -------
    State

    Raises
    ------
    JointError
        The given velocities contradict the joints or the drives.

    Examples
    --------
    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> pendulum = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P", name="hinge")], plane="xy")
    >>> state = ph.set_moving(pendulum, ph.place(pendulum), {"hinge.angle_rate": 2.0})
    >>> print(state["arm.omega"].round(6), round(ph.energy(pendulum, state), 6))  # ½ (0.1 + 2 · 0.5²) 2² = 1.2 J
    2.0 1.2
    """
    state = fits(system, state)
    require_closed(system, state)
    drives = as_inputs(system, u).drives_only().at(float(finite("t", t, ())))
    named = mapping("given", {} if given is None else given, "{name: value}")
    task = _velocity_problem(system, state, values_in_si(system, named), drives)
    return with_velocities(system, state, task.velocities())


@dataclass(frozen=True, eq=False)
class VelocityProblem:
    """Minimise ½ wᵀM w subject to G w = b, with some entries of w fixed."""

    M: Matrix
    G: Matrix
    b: np.ndarray
    w: np.ndarray  # prescribed values, zero elsewhere
    fixed: np.ndarray
    rigid: np.ndarray
    owners: Layout  # the joint or input of each row of G
    cause: str
    background: float = 0.0  # √(w·Mw) of the velocities to which w is added

    def velocities(self) -> np.ndarray:
        """All velocities w: without deformation rates if joints and given values permit, else with the smallest ones.

        Raises JointError if the joints and given values contradict each other.
        """
        free = self.rigid & ~self.fixed
        w, miss = self.least_energy(free, self.w)
        if not self.feasible(w, miss) and not self.rigid.all():
            w = self.require_feasible(*self.least_deformation())
            w, miss = self.least_energy(free, np.where(free, 0.0, w))
        return self.require_feasible(w, miss)

    def least_energy(self, free: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The free velocities of least kinetic energy for fixed others, and the misfit of each row."""
        saddle = SaddleSystem(csr(self.M[free][:, free]), csr(self.G[:, free]))
        rhs = self.b - self.G @ w
        x, _ = saddle.solve(-(self.M @ w)[free], rhs)
        w_new = w.copy()
        w_new[free] = x
        return w_new, SaddleSystem(self.M, self.G).miss(w_new, self.b, self.background)

    def least_deformation(self) -> tuple[np.ndarray, np.ndarray]:
        """Deformation rates of least ‖η̇‖, and the misfit of each row; rigid motion has a small weight about its last iterate."""
        free = ~self.fixed
        flexible = sp.diags_array((~self.rigid).astype(float))
        light = sp.diags_array(self.rigid.astype(float))
        M_f, M_r = flexible @ self.M @ flexible, RIGID_WEIGHT * (light @ self.M @ light)
        saddle = SaddleSystem(csr((M_f + M_r)[free][:, free]), csr(self.G[:, free]))
        out, rhs = self.w.copy(), self.b - self.G @ self.w
        for _ in range(6):
            pull = M_r @ np.where(free, out, 0.0)  # all η̇ of a body are fixed or none, so there is no coupling
            out[free], _ = saddle.solve(pull[free], rhs)
        return out, SaddleSystem(self.M, self.G).miss(out, self.b, self.background)

    def feasible(self, w: np.ndarray, miss: np.ndarray) -> bool:
        """Whether velocities satisfy joints and drives."""
        return bool(
            np.abs(miss).max(initial=0.0) <= FEASIBLE or np.abs(self.G @ w - self.b).max(initial=0.0) <= ROUND_OFF
        )

    def require_feasible(self, w: np.ndarray, miss: np.ndarray) -> np.ndarray:
        """Returns w; raises JointError if it does not satisfy joints and drives."""
        if self.feasible(w, miss):
            return w
        row = int(np.argmax(np.abs(miss)))
        size = abs(float((self.G @ w - self.b)[row]))
        raise JointError(
            f"{self.cause} contradict the joints: the nearest velocities miss {self.owners.owner(row)!r} by {size:.3g}; "
            "give less, or other values"
        )


def _velocity_problem(
    system: System, state: State, values: Mapping[str, object], drives: np.ndarray
) -> VelocityProblem:
    """The equations for velocities with prescribed values and drives."""
    of_bodies, of_joints = _sort_velocities(system, values)
    velocities = columns_in_velocities(system)
    G, B_lam = velocity_rows(system, state)
    joint_rates, rhs = [], [B_lam @ drives]
    for c, rate_rows, rate in of_joints.values():
        joint_rates.append((c, row_rates(rate_rows, *ends(c, state))))
        rhs.append(rate)
    e, fixed = np.zeros(system.layout.size), np.zeros(system.layout.size, dtype=bool)
    for name, value in of_bodies.items():
        e[system.layout[name]], fixed[system.layout[name]] = value, True
    indices = velocity_indices(system)
    rows = Layout({name: rate.shape for name, (_, _, rate) in of_joints.items()}, "joint")
    return VelocityProblem(
        M=mass(system, state),
        G=stacked([[G], [scatter_rows(joint_rates, velocities)]]),
        b=np.concatenate(rhs),
        w=e[indices],
        fixed=fixed[indices],
        rigid=rigid_columns(system),
        owners=joined_layouts([system.multipliers, rows], "joint"),
        cause=" and ".join([f"the given {', '.join(values)}"] * bool(values) + ["the drives"] * bool(drives.any()))
        or "velocities",
    )


Rates = dict[str, tuple[Connection, tuple[Row, ...], np.ndarray]]


def _sort_velocities(system: System, values: Mapping[str, object]) -> tuple[dict[str, np.ndarray], Rates]:
    """Splits prescribed values into velocities of bodies and rates of joints."""
    rows: dict[str, tuple[Connection, tuple[Row, ...]]] = {
        f"{c.name}.{row.label}_rate": (c, (row,)) for c in system.joints.values() for row in c.coordinates
    }
    rows |= {f"{name}.omega": (system.joints[name], spins()) for name in ball_joints(system)}
    of_bodies, of_joints = sort_values(system, "velocity", values, VELOCITIES, rows)
    targets: Rates = {}
    for name, value in of_joints.items():
        shape = (3,) if name.endswith(".omega") else ()
        targets[name] = (*rows[name], np.atleast_1d(finite(name, value, shape)))
    return of_bodies, targets
