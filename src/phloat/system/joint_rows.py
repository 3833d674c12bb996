"""Joints and force elements of a system at a state: gaps, G, B and B_λ, joint coordinates, energies and dissipation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, assembled, csr, scattered_rows, weighted
from phloat.bodies.body import Port
from phloat.joints.laws import Law
from phloat.joints.port_state import PortState, ground_port, port_entries, section_axes
from phloat.joints.rows import Row, row_gaps, row_gradient, row_rates
from phloat.system.connection import Connection, Element, port_state
from phloat.system.joint_groups import JointGroup, VelocityColumns
from phloat.system.state import State, computed_once
from phloat.system.system import System, fits


def columns_in_rows(system: System, rows: Layout) -> VelocityColumns:
    """The columns of the velocities in a layout that also has other rows: that of the state e, or of a linear system."""
    names = ("v_P", "omega", "eta_dot")
    columns = {b: rows.indices(f"{b}.{n}" for n in names if f"{b}.{n}" in rows) for b in system.bodies}
    return VelocityColumns(columns, rows.size)


def columns_in_velocities(system: System) -> VelocityColumns:
    """The columns of the velocities (v_P, ω, η̇) of all bodies, one after the other."""
    return system.joint_groups.velocities


def grouped_ports(system: System, state: State) -> list[tuple[JointGroup, PortState, PortState]]:
    """Every group of joints with its ports at a state."""
    return computed_once(state, system, lambda: list(system.joint_groups.at(state.e)))


def grouped_rates(system: System, state: State) -> list[tuple[JointGroup, tuple[np.ndarray, np.ndarray]]]:
    """Every group of joints with the rates of its rows per velocity of both bodies, (joints, rows, velocities)."""

    def rates() -> list[tuple[JointGroup, tuple[np.ndarray, np.ndarray]]]:
        return [(g, row_rates(g.rows, first, second)) for g, first, second in grouped_ports(system, state)]

    return computed_once(state, (system, "rates"), rates)


def joint_rows(system: System, state: State, places: VelocityColumns) -> tuple[Matrix, Matrix]:
    """G and B_λ at a state: 0 = −G z + B_λ u."""
    slices, blocks, drives = system.multipliers.slices, [], []
    for group, rates in grouped_rates(system, state):
        if group.rows:
            start = np.array([slices[c.name].start for c in group.joints])
            blocks += place_rates(group, start[:, None] + np.arange(len(group.rows)), rates, places)
    for name, c in system.joints.items():
        if c.driven:
            stop = slices[name].stop
            driving = _driving(c, port_state(c.second, state))
            drives.append((np.arange(stop - len(c.driven), stop), system.ports.indices([name]), driving))
    count = system.multipliers.size
    return scattered_rows(blocks, (count, places.size)), assembled(drives, (count, system.ports.size))


def place_rates(
    group: JointGroup, rows: np.ndarray, rates: tuple[np.ndarray, np.ndarray], places: VelocityColumns
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rates (joints, rows, velocities) of a group per velocity of its bodies, as blocks for `scattered_rows`."""
    return [(rows, end.velocities(places), rate) for end, rate in zip((group.first, group.second), rates, strict=True)]


def port_columns(system: System, state: State, places: VelocityColumns, names: Sequence[str] | None = None) -> Matrix:
    """B at a state: wrenches at body ports in the axes of their sections, efforts along free axes, forces, torques and loads.

    Drives act through B_λ only. Of all ports, or of the named ones.
    """
    blocks, start = [], 0
    for name in system.ports if names is None else names:
        mine = start + np.arange(system.ports.shape(name)[0])
        blocks += [(places.columns[body], mine, block.T) for body, block in port_blocks(system, state, name)]
        start += len(mine)
    return assembled(blocks, (places.size, start))


def port_blocks(system: System, state: State, name: str) -> list[tuple[str, np.ndarray]]:
    """The output of a port per velocity, for each of its bodies: (body, matrix components × velocities)."""
    if name in system.joints:
        c = system.joints[name]
        if not c.free:
            return []
        ends_and_rates = zip((c.first, c.second), row_rates(c.free, *ends(c, state)), strict=True)
        return [(end.body, rate) for end, rate in ends_and_rates if end.body]
    if name in system.actuators:
        a = system.actuators[name]
        body = system.bodies[a.body]
        return [(a.body, a.effort(body, state.pose(a.body))[body.columns][None])]
    owner, _, port = name.rpartition(".")
    body = system.bodies[owner]
    return [(owner, section_twist(body.port(port), state.pose(owner).eta)[np.ix_(body.twist_rows, body.columns)])]


def section_twist(port: Port, eta: np.ndarray) -> np.ndarray:
    """(v_C, ω_C) per (v_P, ω, η̇) in the axes of the port's section, 6 × (6 + n)."""
    axes = section_axes(port.Psi @ eta)
    return (axes.T @ port.twist(eta).reshape(2, 3, -1)).reshape(6, -1)


def gaps(system: System, state: State) -> dict[str, np.ndarray]:
    """The gaps of all joints: metres for points, radians (to first order) for directions.

    Parameters
    ----------
    system : System
    state : State
        Positions; they need not close the joints.

    Returns
    -------
    dict of str to (rows,) ndarray
        By joint, one number for each closed row. Driven and locked axes have no gap: they are closed at any coordinate.

    Examples
    --------
    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> pendulum = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P", name="hinge")], plane="xy")
    >>> state = ph.place(pendulum)
    >>> print(ph.gaps(pendulum, state)["hinge"])
    [0. 0.]
    >>> print(ph.gaps(pendulum, state.with_values({"arm.r_P": (0.01, 0.0)}))["hinge"])
    [0.01 0. ]
    """
    state = fits(system, state)
    out = {name: _NONE for name, c in system.joints.items() if c.closed}  # in the order of the joints
    for group, first, second in grouped_ports(system, state):
        if group.closed:
            out |= zip((c.name for c in group.joints), row_gaps(group.closed, first, second), strict=True)
    return out


def half_turns(system: System, state: State) -> list[str]:
    """The joints that are closed half a turn away from their proper orientation."""
    found = ((group, group.half_turns(*pair)) for group, *pair in grouped_ports(system, state))
    return [c.name for group, turned in found if turned.any() for c in np.array(group.joints)[turned]]


def ball_joints(system: System) -> tuple[str, ...]:
    """The names of the joints with three free rotations and no angles: spherical joints in space."""
    rows = {name: c.free + c.locked + c.driven for name, c in system.joints.items()}
    return tuple(name for name, spins in rows.items() if sum(row.function == "spin" for row in spins) == 3)


def joint_coordinates(system: System, state: State) -> dict[str, float]:
    """The angles (rad) and slides (m) of all joints by name: "joint.angle", "joint.slide" …"""
    state = fits(system, state)
    out = {f"{name}.{row.label}": 0.0 for name, c in system.joints.items() for row in c.coordinates}
    theta = np.append(state.e, 0.0)[system.joint_groups.frames.theta]
    for group, first, second in grouped_ports(system, state):
        values = row_gaps(group.coordinates, first, second) if group.coordinates else np.zeros((0, 0))
        for row, value in zip(group.coordinates, values.T, strict=True):
            if row.is_angle and system.plane:
                value = value + _full_turns(group, theta, value)
            out |= zip((f"{c.name}.{row.label}" for c in group.joints), value.tolist(), strict=True)
    return out


def _full_turns(group: JointGroup, theta: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """The full turns that the absolute angles of plane motion count, to be added to joint angles."""
    first, second = (theta[end.body] - end.turned for end in (group.first, group.second))
    return 2 * np.pi * np.round((group.senses * (second - first) - angles) / (2 * np.pi))


def coordinates_of(system: System, state: State, joint: str) -> dict[str, float]:
    """The angles (rad) and slides (m) of one joint by name."""
    c = system.joints[joint]
    first, second = ends(c, state)
    out = {}
    for row in c.coordinates:
        value = row.gap(first, second)
        out[f"{joint}.{row.label}"] = unwrapped(c, state, value) if row.is_angle else value
    return out


def unwrapped(c: Connection | Element, state: State, angle: float) -> float:
    """The angle of a joint plus full turns, which the absolute angles of plane motion count; in space the angle itself."""
    if f"{c.second.body}.theta" not in state.layout:
        return angle
    first, second = (
        float(state[name]) - end.turned if (name := f"{end.body}.theta") in state.layout else -end.turned
        for end in (c.first, c.second)
    )
    return angle + 2 * np.pi * float(np.round((sense(c) * (second - first) - angle) / (2 * np.pi)))


def sense(c: Connection | Element) -> float:
    """The sign of a hinge in a plane: 1 if its axis is z, −1 if it is −z."""
    return float(np.sign(c.first.triad[2, 2]))


def ends(c: Connection, state: State) -> tuple[PortState, PortState]:
    """The two ports of a joint at a state; the ground port of a Drive coincides with the driven port."""
    second = port_state(c.second, state)
    return ground_port(second.c, second.D) if c.joint.moves_ground else port_state(c.first, state), second


def _driving(c: Connection, second: PortState) -> np.ndarray:
    """B_λ of a driven joint. The input is the rate of each free axis; of a Drive the velocity (v, ω) of its ground frame."""
    if not c.joint.moves_ground:
        return np.eye(len(c.driven))
    frame = PortState(second.c, np.eye(3), np.zeros(3), _NONE, _NONE, np.zeros(0), second.D, np.arange(6))
    linear = sum(row.is_length for row in c.driven)
    turning = len(c.driven) - linear
    inputs = [*range(linear), *range(6 - turning, 6)]  # of (v, ω): v_x, v_y in a plane, and ω_z, or all
    return -row_rates(c.driven, frame, second)[0][:, inputs]


_NONE = np.zeros((3, 0))


def scatter_rows(
    blocks: Iterable[tuple[Connection | Element, tuple[np.ndarray, np.ndarray]]], places: VelocityColumns
) -> Matrix:
    """One sparse matrix from the dense rates of rows of joints or elements per velocity of their two bodies."""
    parts, start = [], 0
    for c, rates_of_two in blocks:
        rates = [np.atleast_2d(rate) for rate in rates_of_two]
        rows = start + np.arange(len(rates[0]))
        ends = zip((c.first, c.second), rates, strict=True)
        parts += [(rows, places.columns[end.body], rate) for end, rate in ends if end.body]
        start += len(rows)
    return assembled(parts, (start, places.size))


# --- force elements at a state ---------------------------------------------------------------------------------------


def element_energies(system: System, state: State) -> dict[str, float]:
    """The energy (J) stored in every element, by name."""
    out = dict.fromkeys(system.elements, 0.0)
    for element, row, law, sides in _element_rows(system, state):
        out[element.name] += law.energy(coordinate(element, row, *sides, state))
    return out


def _element_rows(system: System, state: State) -> Iterator[tuple[Element, Row, Law, tuple[PortState, PortState]]]:
    """Every row of every element with its law and the two ports."""
    for element in system.elements.values():
        sides = element_ends(element, state)
        for row, law in zip(element.rows, element.laws, strict=True):
            yield element, row, law, sides


def coordinate(element: Element, row: Row, first: PortState, second: PortState, state: State) -> float:
    """The argument of the law of an element: the gap of its row, an angle with its full turns; 0 for a row without a gap."""
    if not row.has_gap:
        return 0.0
    gap = row.gap(first, second)
    return unwrapped(element, state, gap) if row.is_angle else gap


def potential_gradient(system: System, state: State) -> dict[str, np.ndarray]:
    """∂U/∂(r_P, A row by row, η) of the energy U of all springs, by body: their part of z."""
    out: dict[str, np.ndarray] = {}
    for element, row, law, sides in _element_rows(system, state):
        if law.stores:
            effort = -law.pull(coordinate(element, row, *sides, state))
            parts = effort * row_gradient((row,), *sides).reshape(2, 12)
            for end, side, part in zip((element.first, element.second), sides, parts, strict=True):
                if end.body:
                    out[end.body] = out.get(end.body, 0.0) + port_entries(side).by_state(part)
    return out


def dissipation(
    system: System, state: State, places: VelocityColumns, velocities: np.ndarray, *, small: bool = False
) -> Matrix:
    """Gᵀ c G of all dampers, their part of R. `velocities` has the columns of `places`; c is the secant of a nonlinear damper.

    For `small` motion about these velocities, c is the slope instead.
    """
    resisting = [part for part in _element_rows(system, state) if part[2].resists]
    G = scatter_rows([(element, row.rate(*sides)) for element, row, _, sides in resisting], places)
    c = []
    for (element, row, law, sides), rate in zip(resisting, G @ velocities, strict=True):
        x = coordinate(element, row, *sides, state)
        c.append(law.damping_at(x, float(rate)) if small else law.resistance(x, float(rate)))
    return csr(G.T @ weighted(G, np.array(c)))


def element_ends(element: Connection | Element, state: State) -> tuple[PortState, PortState]:
    """The two ports of a joint or element at a state."""
    return port_state(element.first, state), port_state(element.second, state)
