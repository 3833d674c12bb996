"""What a URDF file says: links, joints, and how they hang together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from phloat.errors import unknown
from phloat.files.tags import Tag
from phloat.joints.pairs import Joint, Planar, Prismatic, Revolute, Weld

TYPES: dict[str, type[Joint] | None] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "fixed": Weld,
    "planar": Planar,
    "floating": None,
}


@dataclass(frozen=True, eq=False)
class Frame:
    """Where something stands: a place, and its axes as columns."""

    x: np.ndarray
    A: np.ndarray

    def then(self, other: Frame) -> Frame:
        """A frame given in this one."""
        return Frame(self.x + self.A @ other.x, self.A @ other.A)


@dataclass(frozen=True, eq=False)
class Link:
    """A link; `mass` is 0 where it has none."""

    name: str
    tag: Tag
    mass: float
    center: np.ndarray
    inertia: np.ndarray  # about the mass centre, in the axes of the link


@dataclass(frozen=True, eq=False)
class Movable:
    """A joint of the file: where it stands in its parent, and its axis in its own frame."""

    name: str
    kind: str
    tag: Tag
    parent: str
    child: str
    at: Frame
    axis: np.ndarray
    damping: float


def _frame(tag: Tag | None) -> Frame:
    """An <origin>: xyz, and rpy about the fixed axes x, y, z in turn."""
    if tag is None:
        return Frame(np.zeros(3), np.eye(3))
    roll, pitch, yaw = tag.numbers("rpy", (0.0, 0.0, 0.0))
    return Frame(tag.numbers("xyz", (0.0, 0.0, 0.0)), Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix())


def _link(tag: Tag) -> Link:
    name, inertial = tag.word("name"), tag.first("inertial")
    if inertial is None:
        return Link(name, tag, 0.0, np.zeros(3), np.zeros((3, 3)))
    origin, mass, moments = _frame(inertial.first("origin")), inertial.first("mass"), inertial.first("inertia")
    if mass is None:
        inertial.wrong(f"link {name!r} has no <mass value=…/>")
    if mass.number("value") < 0.0:
        mass.wrong(f"the mass of link {name!r} is {mass.number('value'):g}; it must not be negative")
    J = np.zeros((3, 3))
    for a, one in enumerate("xyz"):
        for b, two in enumerate("xyz"):
            if moments is not None and a <= b:
                J[a, b] = J[b, a] = moments.number(f"i{one}{two}", 0.0 if a < b else None)
    return Link(name, tag, mass.number("value"), origin.x, origin.A @ J @ origin.A.T)


def _joint(tag: Tag) -> Movable:
    name, kind = tag.word("name"), tag.word("type")
    if kind not in TYPES:
        tag.wrong(unknown("type of joint", kind, TYPES))
    ends = []
    for end in ("parent", "child"):
        if (there := tag.first(end)) is None:
            tag.wrong(f"joint {name!r} has no <{end} link=…/>")
        ends.append(there.word("link"))
    axis, dynamics = tag.first("axis"), tag.first("dynamics")
    direction = np.array([1.0, 0.0, 0.0]) if axis is None else axis.numbers("xyz", (1.0, 0.0, 0.0))
    if axis is not None and not direction.any():
        axis.wrong(f"the axis of joint {name!r} is zero; it must point somewhere")
    damping = 0.0 if dynamics is None else dynamics.number("damping", 0.0)
    if damping < 0.0:
        tag.wrong(f"the damping of joint {name!r} is {damping:g}; it must not be negative")
    return Movable(name, kind, tag, ends[0], ends[1], _frame(tag.first("origin")), direction, damping)


@dataclass(frozen=True, eq=False)
class Robot:
    """Links and joints by name; a tree."""

    links: dict[str, Link]
    joints: dict[str, Movable]
    root: str

    @classmethod
    def read(cls, tag: Tag) -> Robot:
        links, joints = _by_name("link", tag, _link), _by_name("joint", tag, _joint)
        moved: dict[str, str] = {}
        for joint in joints.values():
            for end in (joint.parent, joint.child):
                if end not in links:
                    joint.tag.wrong(f"joint {joint.name!r}: {unknown('link', end, links)}")
            if joint.child in moved:
                joint.tag.wrong(f"link {joint.child!r} has two parents, by {moved[joint.child]!r} and {joint.name!r}")
            moved[joint.child] = joint.name
        roots = [name for name in links if name not in moved]
        if len(roots) != 1:
            tag.wrong(f"links that no joint moves are {', '.join(roots) or 'none'}; a robot has one, its root")
        robot = cls(links, joints, roots[0])
        reached = [roots[0]]
        for name in reached:
            reached += [joint.child for joint in robot.below(name)]
        if ring := [name for name in links if name not in reached]:
            tag.wrong(f"the links {', '.join(ring)} hold each other in a ring; a robot is one tree")
        return robot

    def below(self, link: str) -> list[Movable]:
        return [joint for joint in self.joints.values() if joint.parent == link]

    def ignored(self) -> list[str]:
        """What is there and not used, in words."""
        limits, said = [], []
        for joint in self.joints.values():
            limit, dynamics = joint.tag.first("limit"), joint.tag.first("dynamics")
            if limit is not None and joint.kind in ("revolute", "prismatic"):
                low, high = limit.number("lower", 0.0), limit.number("upper", 0.0)
                limits.append(f"{joint.name} {low:g} … {high:g} {'m' if joint.kind == 'prismatic' else 'rad'}")
            if joint.tag.first("mimic") is not None:
                said.append(f"joint {joint.name!r} mimics no other here, it is free")
            if dynamics is not None and dynamics.number("friction", 0.0):
                said.append(f"the friction of joint {joint.name!r} is left out")
        meshes = [link.name for link in self.links.values() if any(tag.name == "mesh" for tag in _all(link.tag))]
        if limits:
            said.insert(0, f"limits are not enforced: {', '.join(limits)}")
        return said + ([f"meshes are not read, of {', '.join(meshes)}"] if meshes else [])


def _all(tag: Tag) -> Iterator[Tag]:
    yield tag
    for inner in tag.inside:
        yield from _all(inner)


def _by_name(word: str, tag: Tag, made: Any) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for inner in tag.all(word):
        one = made(inner)
        if one.name in out:
            inner.wrong(f"two of <{word}> are called {one.name!r}; give each its own name")
        if "." in one.name or one.name in ("ground", "P", "C"):
            inner.wrong(f"{one.name!r} cannot name a {word} here: it holds a dot, or is one of ground, P and C")
        out[one.name] = one
    return out
