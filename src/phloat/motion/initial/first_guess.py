"""The start of Newton's method on the gaps of joints: bodies are placed one after the other along the joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np

from phloat.algebra.cross import rot, rotation
from phloat.errors import finite
from phloat.joints.rows import Row
from phloat.joints.standard_rows import Attitude
from phloat.system.connection import Connection
from phloat.system.state import State, rest_state
from phloat.system.system import System

Targets = tuple[tuple[Connection, Row | Attitude, float], ...]  # coordinates of joints, and their values


def initial_guess(
    system: System,
    targets: Targets,
    values: dict[str, np.ndarray],
    guess: dict[str, np.ndarray],
    near: Targets,
    seed: int,
) -> tuple[State, list[str]]:
    """A state with bodies placed one after the other along the joints, and the names of these joints (a spanning tree).

    Joint coordinates are zero, those of `near`, or their targets; with a seed, free angles are random.
    """
    fixed = guess | values
    state = rest_state(system.bodies, system.layout).with_values(
        {n: v.reshape(system.layout.shape(n)) for n, v in fixed.items()}
    )
    poses, random, tree = Poses(system, state, fixed), np.random.default_rng(seed), []
    placed = {""} | {name for name in system.bodies if f"{name}.r_P" in fixed and poses.is_oriented(name)}
    coordinates: dict[str, dict[Row | Attitude, float]] = {}
    for joint, row, value in near + targets:
        coordinates.setdefault(joint.name, {})[row] = value
    guessed = {joint.name for joint, _, _ in near}
    order = _PlacingOrder(list(system.joints.values()), placed)
    while (c := order.next()) is not None:
        tree.append(c.name)
        forward = c.first.body in placed
        turn, slide = _joint_pose(c, coordinates.get(c.name, {}), random if seed else None)
        if not forward:
            turn, slide = turn.T, -turn.T @ slide
        moving = poses.align(c, forward, turn, slide)
        if not seed and c.name not in guessed and not poses.is_oriented(moving):
            poses.turn_to_joints(c, order.loop_joints(moving, c), moving)
        order.add(moving)
    return poses.state(), tree


class _PlacingOrder:
    """The joints in the order in which bodies are placed: always the first one in the list with one placed end."""

    def __init__(self, joints: list[Connection], placed: set[str]) -> None:
        self.joints, self.placed = joints, placed
        self.of_body: dict[str, list[int]] = {}
        for k, c in enumerate(joints):
            for body in dict.fromkeys((c.first.body, c.second.body)):
                self.of_body.setdefault(body, []).append(k)
        self.ready = [k for body in placed for k in self.of_body.get(body, ())]
        heapify(self.ready)
        self.unplaced = (end.body for c in joints for end in (c.first, c.second) if end.body not in placed)

    def next(self) -> Connection | None:
        """The next joint that places a body; None when all joints are closed or close a loop."""
        while True:
            while self.ready:
                c = self.joints[heappop(self.ready)]
                if c.first.body not in self.placed or c.second.body not in self.placed:
                    return c
            start = next((body for body in self.unplaced if body not in self.placed), None)
            if start is None:
                return None
            self.add(start)

    def add(self, body: str) -> None:
        """Marks a body as placed."""
        self.placed.add(body)
        for k in self.of_body.get(body, ()):
            heappush(self.ready, k)

    def loop_joints(self, body: str, c: Connection) -> list[Connection]:
        """Further joints between a body that c has just reached and placed ones."""
        adjacent = [self.joints[k] for k in self.of_body[body]]
        others = ((d, d.second.body if d.first.body == body else d.first.body) for d in adjacent if d is not c)
        return [d for d, other in others if other in self.placed]


class Poses:
    """Positions of bodies that are placed one after the other, undeformed unless η is prescribed.

    Points and triads of ports in body axes do not change meanwhile.
    """

    def __init__(self, system: System, start: State, fixed: Mapping[str, object]) -> None:
        self.system, self.start, self.fixed = system, start, fixed
        self.r, self.A = system.joint_groups.frames.at(start.e)
        self.numbers = {name: i for i, name in enumerate(system.bodies)} | {"": len(system.bodies)}
        self.ports: dict[str, tuple[tuple[np.ndarray, np.ndarray], ...]] = {}  # point and triad of both ends of a joint
        identity = np.broadcast_to(np.eye(3), self.A.shape)
        for group in system.joint_groups.groups:
            ends = [end.at(start.e, np.zeros_like(self.r), identity) for end in (group.first, group.second)]
            parts = zip(ends[0].c, ends[0].D, ends[1].c, ends[1].D, strict=True)
            self.ports |= {c.name: ((p, U), (q, V)) for c, (p, U, q, V) in zip(group.joints, parts, strict=True)}

    def is_oriented(self, name: str) -> bool:
        """Whether the orientation of a body is prescribed, or it has none."""
        return not self.system.bodies[name].rotates or f"{name}.theta" in self.fixed or f"{name}.A_IB" in self.fixed

    def align(self, c: Connection, forward: bool, turn: np.ndarray, slide: np.ndarray) -> str:
        """Moves the body at one end of a joint so that its port is at that of the other, triads aligned; returns its name."""
        (x, U), (y, V) = self.ports[c.name] if forward else self.ports[c.name][::-1]
        fixed_end, end = (c.first, c.second) if forward else (c.second, c.first)
        i, j = self.numbers[fixed_end.body], self.numbers[end.body]
        D = self.A[i] @ U
        if not self.is_oriented(end.body):
            # triads of bent sections are orthonormal to first order only
            u, _, vt = np.linalg.svd(D @ turn @ (self.A[j] @ V).T)
            self.A[j] = u @ vt @ self.A[j]
        point = self.r[i] + self.A[i] @ x if fixed_end.body else x
        self._move(end.body, point + D @ slide - self.A[j] @ y)
        return end.body

    def turn_to_joints(self, c: Connection, joints: list[Connection], name: str) -> None:
        """Rotates a body about its first joint so that its other ports point to their counterparts (Kabsch)."""
        if not joints:
            return
        j, points, targets = self.numbers[name], [], []
        for joint in (c, *joints):
            ends = [
                (self.numbers[end.body], x)
                for end, (x, _) in zip((joint.first, joint.second), self.ports[joint.name], strict=True)
            ]
            (p, q) = (self.r[i] + self.A[i] @ x for i, x in ends)
            end, opposite = (p, q) if joint.first.body == name else (q, p)
            points.append(end)
            targets.append(opposite)
        a, b = np.array(points[1:]) - points[0], np.array(targets[1:]) - targets[0]
        size = max(np.linalg.norm(a), np.linalg.norm(b))
        if size == 0.0:
            return
        spread = b.T @ a + 1e-6 * size**2 * np.eye(3)  # rotations that the points do not determine stay zero
        u, _, vt = np.linalg.svd(spread)
        turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
        self.A[j] = turn @ self.A[j]
        self._move(name, points[0] + turn @ (self.r[j] - points[0]))

    def _move(self, name: str, r: np.ndarray) -> None:
        """Moves the P of a body to r, unless that is prescribed."""
        if f"{name}.r_P" not in self.fixed:
            self.r[self.numbers[name]] = r

    def state(self) -> State:
        """The state with these poses. Raises InputError if one of them is not finite."""
        for i in np.flatnonzero(~np.isfinite(self.r[:-1]).all(axis=1)):
            finite(f"{list(self.system.bodies)[i]}.r_P", self.r[i], (3,))
        frames, e = self.system.joint_groups.frames, np.append(self.start.e, 0.0)
        plane = frames.theta < len(e) - 1
        turned = np.flatnonzero(plane)[
            [not self.is_oriented(name) for name in np.array(list(self.system.bodies))[plane[:-1]]]
        ]
        e[frames.r] = self.r
        e[frames.theta[turned]] = np.arctan2(self.A[turned, 1, 0], self.A[turned, 0, 0])
        e[frames.A] = self.A[frames.spatial].reshape(-1, 9)
        return replace(self.start, e=e[:-1])


def _joint_pose(
    c: Connection, values: Mapping[Row | Attitude, float], rng: np.random.Generator | None
) -> tuple[np.ndarray, np.ndarray]:
    """The rotation and displacement from the first to the second port: target coordinates, else zero or random angles."""
    turn, slide = np.eye(3), np.zeros(3)
    for row in c.coordinates:
        if row.slide_axis is not None:
            slide[row.slide_axis] = values.get(row, 0.0)
        elif row.is_angle:
            turn = turn @ row.zero_triad(values.get(row, rng.uniform(-np.pi, np.pi) if rng else 0.0))
    if rng is not None and any(row.function == "spin" for row in c.free):
        turn = rotation(rng.normal(size=3)) if len(c.free) == 3 else rot(rng.uniform(-np.pi, np.pi))
    return next((row.R for row in values if isinstance(row, Attitude)), turn), slide
