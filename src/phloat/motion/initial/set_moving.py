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
    sort_given,
    velocity_indices,
    velocity_rows,
    with_velocities,
)
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.system.connection import Connection
from phloat.system.joint_rows import ball_joints, columns_in_velocities, ends, scatter_rows
from phloat.system.state import State
from phloat.system.system import System, fits

FEASIBLE = 1e-10  # relative to the largest velocity, rows and velocities scaled
NOTHING = 1e-14  # m/s or rad/s: round-off of velocities that are zero, as those of a mechanism that is locked
LIGHT = 1e-6  # weight of rigid motion while deformation is made least
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
    """The state with velocities that satisfy joints and drives, G w = B_λ u(t): what is `given` by name is held.

    Deformation rates are zero where that is possible, else the least in the mass norm; rigid velocities have
    the least kinetic energy.

    Parameters
    ----------
    system : System
    state : State
        Positions, with every joint closed (`place`); its velocities are not used.
    given : dict of str to float or array, optional
        Velocities that are held: "body.v_P" (m/s) and "body.omega" (rad/s) in body axes, "body.eta_dot", "joint.angle_rate"
        (rad/s), "joint.slide_rate" (m/s), and "joint.omega" of a spherical joint in space, the angular velocity (3,) of the second
        port seen from the first, in the joint frame of the first.
    u : dict, optional
        Inputs as for `simulate`; those of drives count.
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
    drives = as_inputs(system, u).driving().at(float(finite("t", t, ())))
    task = _velocity_problem(system, state, mapping("given", {} if given is None else given, "{name: value}"), drives)
    return with_velocities(system, state, task.velocities())


@dataclass(frozen=True, eq=False)
class VelocityProblem:
    """min ½ wᵀM w with G w = b and some of w held."""

    M: Matrix
    G: Matrix
    b: np.ndarray
    w: np.ndarray  # what is held, zero elsewhere
    held: np.ndarray
    rigid: np.ndarray
    owners: Layout  # whose each row of G is
    cause: str
    background: float = 0.0  # √(w·Mw) of velocities that these are to be added to

    def velocities(self) -> np.ndarray:
        """w: with no deformation rates but the held ones, or with the least."""
        free = self.rigid & ~self.held
        w, miss = self.least_energy(free, self.w)
        if not self.feasible(w, miss) and not self.rigid.all():
            w = self.require_feasible(*self.least_deformation())
            w, miss = self.least_energy(free, np.where(free, 0.0, w))
        return self.require_feasible(w, miss)

    def least_energy(self, free: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The free velocities of least kinetic energy, the others fixed."""
        saddle = SaddleSystem(csr(self.M[free][:, free]), csr(self.G[:, free]))
        right = self.b - self.G @ w
        x, _ = saddle.solve(-(self.M @ w)[free], right)
        out = w.copy()
        out[free] = x
        return out, SaddleSystem(self.M, self.G).miss(out, self.b, self.background)

    def least_deformation(self) -> tuple[np.ndarray, np.ndarray]:
        """Deformation rates of least ‖η̇‖: rigid motion costs nothing (it is light, and drawn to where it last was)."""
        free = ~self.held
        flexible = sp.diags_array((~self.rigid).astype(float))
        light = sp.diags_array(self.rigid.astype(float))
        M_f, M_r = flexible @ self.M @ flexible, LIGHT * (light @ self.M @ light)
        saddle = SaddleSystem(csr((M_f + M_r)[free][:, free]), csr(self.G[:, free]))
        out, right = self.w.copy(), self.b - self.G @ self.w
        for _ in range(6):
            pull = M_r @ np.where(free, out, 0.0)  # η̇ of a body is held as a whole or not at all: it pulls no other
            out[free], _ = saddle.solve(pull[free], right)
        return out, SaddleSystem(self.M, self.G).miss(out, self.b, self.background)

    def feasible(self, w: np.ndarray, miss: np.ndarray) -> bool:
        """Whether the velocities satisfy joints and drives."""
        return bool(
            np.abs(miss).max(initial=0.0) <= FEASIBLE or np.abs(self.G @ w - self.b).max(initial=0.0) <= NOTHING
        )

    def require_feasible(self, w: np.ndarray, miss: np.ndarray) -> np.ndarray:
        if self.feasible(w, miss):
            return w
        worst = int(np.argmax(np.abs(miss)))
        size = abs(float((self.G @ w - self.b)[worst]))
        raise JointError(
            f"{self.cause} contradict the joints: the nearest velocities miss {self.owners.owner(worst)!r} by {size:.3g}; "
            "give less, or other values"
        )


def _velocity_problem(system: System, state: State, given: Mapping[str, object], drives: np.ndarray) -> VelocityProblem:
    values, given_rates = _sorted(system, given)
    places = columns_in_velocities(system)
    G, B_lam = velocity_rows(system, state)
    wanted, right = [], [B_lam @ drives]
    for c, some, rate in given_rates.values():
        wanted.append((c, row_rates(some, *ends(c, state))))
        right.append(rate)
    e, held = np.zeros(system.layout.size), np.zeros(system.layout.size, dtype=bool)
    for name, value in values.items():
        e[system.layout[name]], held[system.layout[name]] = value, True
    where = velocity_indices(system)
    rows = Layout({name: rate.shape for name, (_, _, rate) in given_rates.items()}, "joint")
    return VelocityProblem(
        M=mass(system, state),
        G=stacked([[G], [scatter_rows(wanted, places)]]),
        b=np.concatenate(right),
        w=e[where],
        held=held[where],
        rigid=rigid_columns(system),
        owners=joined_layouts([system.multipliers, rows], "joint"),
        cause=" and ".join([f"the given {', '.join(given)}"] * bool(given) + ["the drives"] * bool(drives.any()))
        or "velocities",
    )


Rates = dict[str, tuple[Connection, tuple[Row, ...], np.ndarray]]


def _sorted(system: System, given: Mapping[str, object]) -> tuple[dict[str, np.ndarray], Rates]:
    """Sorts given values into velocities of bodies to hold and joint rates to reach."""
    rows: dict[str, tuple[Connection, tuple[Row, ...]]] = {
        f"{c.name}.{row.label}_rate": (c, (row,)) for c in system.joints.values() for row in c.coordinates
    }
    rows |= {f"{name}.omega": (system.joints[name], spins()) for name in ball_joints(system)}
    values, of_joints = sort_given(system, "velocity", given, VELOCITIES, rows)
    wanted: Rates = {}
    for name, value in of_joints.items():
        shape = (3,) if name.endswith(".omega") else ()
        wanted[name] = (*rows[name], np.atleast_1d(finite(name, value, shape)))
    return values, wanted
