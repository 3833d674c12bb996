"""The joints of a system in groups that are evaluated together: equal rows, between bodies with equal velocities.

What depends on the system alone (indices in a state, ports, directions) is computed once and cached with the system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phloat.algebra.cross import rotation
from phloat.algebra.layout import Layout
from phloat.bodies.body import Body
from phloat.joints.port_state import PortState
from phloat.joints.rows import SECOND, Row
from phloat.system.connection import Connection, End


@dataclass(frozen=True, eq=False)
class VelocityColumns:
    """The columns of the velocities of each body, and the number of all columns."""

    columns: dict[str, np.ndarray]
    size: int


@dataclass(frozen=True, eq=False)
class Frames:
    """Indices of the positions and rigid velocities of all bodies, the ground last; those of components that do not exist are
    beyond the end of the vector."""

    r: np.ndarray  # (bodies + 1, 3), in e
    theta: np.ndarray  # (bodies + 1,), in e
    spatial: np.ndarray  # numbers of the bodies that have A_IB …
    A: np.ndarray  # … and its indices in e, (spatial, 9)
    motion: np.ndarray  # (bodies + 1, 6), in w
    eta: tuple[np.ndarray, np.ndarray]  # in e and in w

    def at(self, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """r_P (bodies + 1, 3) and A (bodies + 1, 3, 3)."""
        e = np.append(e, 0.0)
        theta, A = e[self.theta], np.zeros((len(self.theta), 3, 3))
        A[:, 0, 0] = A[:, 1, 1] = np.cos(theta)
        A[:, 1, 0] = np.sin(theta)
        A[:, 0, 1], A[:, 2, 2] = -A[:, 1, 0], 1.0
        A[self.spatial] = e[self.A].reshape(-1, 3, 3)
        return e[self.r], A

    def displaced(self, e: np.ndarray, step: np.ndarray) -> np.ndarray:
        """e after a small motion along w: r_P + A δx, A exp(δφ) (both in body axes), η + δη; σ unchanged."""
        (_, A), motion = self.at(e), np.append(step, 0.0)[self.motion]
        out = np.append(e, 0.0)
        out[self.r] += (A @ motion[:, :3, None])[..., 0]
        out[self.theta] += motion[:, 5]
        turned = A[self.spatial] @ rotation(motion[self.spatial, 3:])
        out[self.A] = turned.reshape(-1, 9)
        out[self.eta[0]] += step[self.eta[1]]
        return out[:-1]


def frames_of(bodies: Mapping[str, Body], layout: Layout, velocities: VelocityColumns) -> Frames:
    """The frames of these bodies, whose state has this layout."""
    count, size, slices = len(bodies), layout.size, layout.slices
    r, theta, motion = np.full((count + 1, 3), size), np.full(count + 1, size), np.full((count + 1, 6), velocities.size)
    spatial, A, eta = list[int](), list[np.ndarray](), [(np.zeros(0, int), np.zeros(0, int))]
    for i, (name, body) in enumerate(bodies.items()):
        rigid, columns = list(body.active), velocities.columns[name]
        motion[i, rigid] = columns[: len(rigid)]
        linear = [k for k in rigid if k < 3]
        r[i, linear] = slices[f"{name}.r_P"].start + np.arange(len(linear))
        if (block := slices.get(f"{name}.theta")) is not None:
            theta[i] = block.start
        elif (block := slices.get(f"{name}.A_IB")) is not None:
            spatial.append(i)
            A.append(block.start + np.arange(9))
        if (block := slices.get(f"{name}.eta")) is not None:
            eta.append((np.arange(block.start, block.stop), columns[len(rigid) :]))
    of_e, of_w = (np.concatenate(part) for part in zip(*eta, strict=True))
    return Frames(r, theta, np.array(spatial, int), np.array(A, int).reshape(-1, 9), motion, (of_e, of_w))


@dataclass(frozen=True, eq=False)
class EndGroup:
    """The first or the second ends of a group of joints."""

    names: tuple[str, ...]  # of the bodies
    body: np.ndarray
    x: np.ndarray
    Phi: np.ndarray
    Psi: np.ndarray
    Phi_2: np.ndarray | None
    triad: np.ndarray
    eta: np.ndarray  # indices in e
    columns: np.ndarray  # as in `Body.columns`
    turned: np.ndarray

    def at(self, e: np.ndarray, r: np.ndarray, A: np.ndarray) -> PortState:
        """The ports at a state with these frames."""
        eta, x, Phi = e[self.eta], self.x, self.Phi
        if not self.columns.size:  # as in `ground_port`
            return PortState(x, A[self.body], np.zeros_like(x), Phi, self.Psi, eta, self.triad, self.columns)
        if self.Phi_2 is not None:  # as in `Port.at`
            slope = (self.Phi_2 @ eta[:, None, :, None])[..., 0]
            x, Phi = x - 0.5 * (slope @ eta[..., None])[..., 0], Phi + slope
        y = x + (Phi @ eta[..., None])[..., 0]
        return PortState(r[self.body], A[self.body], y, Phi, self.Psi, eta, self.triad, self.columns, self.Phi_2)

    def velocities(self, places: VelocityColumns) -> np.ndarray:
        """Columns of the velocities of each end, (ends, velocities); none on the ground."""
        if not self.columns.size:
            return np.zeros((len(self.names), 0), dtype=int)
        return np.array([places.columns[name] for name in self.names])


@dataclass(frozen=True, eq=False)
class JointGroup:
    """Joints with equal rows; the first axis of arrays is the joint."""

    joints: tuple[Connection, ...]
    first: EndGroup
    second: EndGroup

    @property
    def closed(self) -> tuple[Row, ...]:
        return self.joints[0].closed

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        return self.joints[0].rows

    @cached_property
    def coordinates(self) -> tuple[Row, ...]:
        return self.joints[0].coordinates

    @cached_property
    def senses(self) -> np.ndarray:
        """As `joint_rows.sense`."""
        return np.sign(self.first.triad[:, 2, 2])

    def at(self, e: np.ndarray, r: np.ndarray, A: np.ndarray) -> tuple[PortState, PortState]:
        """The two ports of every joint; the ground port of a Drive coincides with the driven port."""
        second = self.second.at(e, r, A)
        if not self.joints[0].joint.moves_ground:
            return self.first.at(e, r, A), second
        count, eye = len(self.joints), np.broadcast_to(np.eye(3), second.D.shape)
        none, zero = np.zeros((count, 3, 0)), np.zeros((count, 3))
        return PortState(second.c, eye, zero, none, none, np.zeros((count, 0)), second.D, self.first.columns), second

    def half_turns(self, first: PortState, second: PortState) -> np.ndarray:
        """Which joints align directions that are opposite, where the closed rows vanish as well."""
        closed = [term for row in self.closed if row.length_power == 0 for term in row.terms]
        if any(factor < 0.0 for factor, _, _ in closed):  # differences of products: the whole triads agree
            return np.asarray((first.D * second.D).sum(axis=(-2, -1)) < 1.0)
        if any(b == SECOND + 2 for _, _, b in closed):  # an axis of B along that of A
            return np.asarray((first.D[..., 2] * second.D[..., 2]).sum(axis=-1) < 0.0)
        return np.zeros(len(self.joints), dtype=bool)


class JointGroups:
    """All joints of a system by groups, the frames of its bodies, and the indices of w in e."""

    def __init__(self, bodies: Mapping[str, Body], joints: Mapping[str, Connection], layout: Layout) -> None:
        self.velocities, self.all_joints = _velocity_columns(bodies), joints
        slices, parts = layout.slices, ("v_P", "omega", "eta_dot")
        blocks = [slices[name] for body in bodies for part in parts if (name := f"{body}.{part}") in slices]
        self.in_state = np.concatenate([np.arange(block.start, block.stop) for block in blocks] or [np.zeros(0, int)])
        self.frames = frames_of(bodies, layout, self.velocities)
        numbers = {name: i for i, name in enumerate(bodies)} | {"": len(bodies)}
        by_kind: dict[object, list[Connection]] = {}
        for c in joints.values():
            kinds = [_kind(end, bodies) for end in (c.first, c.second)]
            by_kind.setdefault((c.closed, c.driven, c.free, c.locked, c.joint.moves_ground, *kinds), []).append(c)
        self.groups = tuple(
            JointGroup(
                tuple(group),
                *(_end_group(ends, bodies, numbers, layout) for ends in zip(*map(_ends, group), strict=True)),
            )
            for group in by_kind.values()
        )

    @cached_property
    def length_powers(self) -> np.ndarray:
        """The powers of lengths in the units of all multipliers' rows."""
        return np.array([row.length_power for c in self.all_joints.values() for row in c.rows], dtype=int)

    @cached_property
    def is_tree(self) -> bool:
        """Whether joints with rows close no loop of bodies and ground."""
        joints = [c for group in self.groups if group.rows for c in group.joints]
        root: dict[str, str] = {}

        def origin(name: str) -> str:
            while (above := root.get(name, name)) != name:
                root[name] = root.get(above, above)  # shortens the way for the next
                name = above
            return name

        for c in joints:
            first, second = origin(c.first.body), origin(c.second.body)
            if first == second:
                return False
            root[second] = first
        return True

    @cached_property
    def fixed_triads(self) -> bool:
        """Whether no ball joint is locked or driven: it aligns triads that agree at the start."""
        return not any(row.function == "spin" for group in self.groups for row in group.rows)

    def at(self, e: np.ndarray) -> Iterator[tuple[JointGroup, PortState, PortState]]:
        """Every group with the ports of its joints at a state e."""
        r, A = self.frames.at(e)
        for group in self.groups:
            yield group, *group.at(e, r, A)


def _velocity_columns(bodies: Mapping[str, Body]) -> VelocityColumns:
    columns, offset = {}, 0
    for name, body in bodies.items():
        columns[name] = offset + np.arange(len(body.columns))
        offset += len(body.columns)
    return VelocityColumns(columns, offset)


def _ends(c: Connection) -> tuple[End, End]:
    return c.first, c.second


def _kind(end: End, bodies: Mapping[str, Body]) -> object:
    """Ends of equal kind have arrays of equal size."""
    if not end.body:
        return None
    body = bodies[end.body]
    return body.active, body.coordinates, body.port(end.port).Phi_2 is None


def _end_group(ends: Sequence[End], bodies: Mapping[str, Body], numbers: Mapping[str, int], layout: Layout) -> EndGroup:
    names, count = tuple(end.body for end in ends), len(ends)
    triads, turned = np.array([end.triad for end in ends]), np.array([end.turned for end in ends])
    places = np.array([numbers[name] for name in names])
    if not names[0]:
        none, at = np.zeros((count, 3, 0)), np.array([end.at for end in ends])
        no_eta, no_columns = np.zeros((count, 0), int), np.zeros(0, int)
        return EndGroup(names, places, at, none, none, None, triads, no_eta, no_columns, turned)
    ports, n = [bodies[end.body].port(end.port) for end in ends], bodies[names[0]].coordinates
    eta = np.array([layout[f"{name}.eta"].start if n else 0 for name in names])[:, None] + np.arange(n)
    x, Phi, Psi = (np.array([getattr(port, name) for port in ports]) for name in ("x", "Phi", "Psi"))
    Phi_2 = None if ports[0].Phi_2 is None else np.array([port.Phi_2 for port in ports])
    return EndGroup(names, places, x, Phi, Psi, Phi_2, triads, eta, bodies[names[0]].columns, turned)
