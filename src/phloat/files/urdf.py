"""Robots from URDF files: links become rigid bodies, or beams if requested; joints become joints.

The frame of a link is the frame of the joint that moves it: its port P. Each joint below the link has a port with the name of the
joint. A fixed link without mass is part of its parent link.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from phloat.bodies.beams.beam import Beam
from phloat.bodies.body import Body
from phloat.bodies.rigid import RigidBody
from phloat.errors import IgnoredWarning, InputError, mapping, positive, unknown
from phloat.files.text import Tag, read_tags
from phloat.joints.elements import JointDamper
from phloat.joints.pairs import Joint, Planar, Prismatic, Revolute, Weld
from phloat.system.connect import connect
from phloat.system.system import System

LINE = 1e-6  # largest distance of a joint from the line of a beam, relative to its length
ELEMENTS = 4  # of a beam, by default


def load_urdf(
    path: str | Path,
    beams: Mapping[str, Beam | Mapping[str, Any]] | None = None,
    *,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    fixed: bool = True,
) -> System:
    """The robot in a URDF file, with its root fixed to the ground (`fixed`) or free.

    `beams` {link: Beam(…) or its arguments} are elastic links: straight beams from the joint of the link to that of its child,
    whose distance is the length. Beside the arguments of Beam there are `elements` (4), `reduced` (modes) and `y`, the y axis of
    the beam in axes of the link. Damping of joints is used; limits, friction, mimic joints and meshes are ignored with a warning.
    """
    robot = Robot.read(read_tags(Path(path), "robot"))
    beam_options = mapping("beams", {} if beams is None else beams, "{link: Beam(…)}")
    for name in beam_options:
        if name not in robot.links:
            raise InputError(f"beams: {unknown('link', name, robot.links)}")
        if name == robot.root:
            raise InputError(f"beams: {name!r} is the root of the robot, which no joint moves; it must be rigid")
    if ignored := robot.ignored():
        warnings.warn(f"{Path(path).name}: {'; '.join(ignored)}", IgnoredWarning, stacklevel=2)
    built = _System(robot, beam_options, fixed)
    if not built.bodies:
        raise InputError(f"nothing moves in the robot: its only link {robot.root!r} is fixed to the ground")
    return connect(built.bodies, built.joints, gravity=gravity)


class _System:
    """The bodies and joints of a robot, constructed from its root on."""

    def __init__(self, robot: Robot, beams: Mapping[str, Any], fixed: bool) -> None:
        self.robot, self.beams = robot, beams
        self.bodies: dict[str, Body] = {}
        self.joints: list[Any] = []
        if fixed:
            self.walk(robot.root, "", LinkFrame(), {})
        else:
            self.walk(robot.root, robot.root, *self.body(robot.links[robot.root]))

    def joints_below(self, link: str) -> list[tuple[UrdfJoint, LinkFrame]]:
        """The joints below a link, and below massless links fixed to it, with their frames in axes of the link."""
        out, links = [], [(link, LinkFrame())]
        for name, frame in links:
            for joint in self.robot.child_joints(name):
                if joint.kind == "fixed" and not self.robot.links[joint.child].mass and joint.child not in self.beams:
                    links.append((joint.child, frame.compose(joint.at)))
                else:
                    out.append((joint, frame.compose(joint.at)))
        return out

    def walk(self, link: str, body: str, frame_of_link: LinkFrame, ends: Mapping[str, str]) -> None:
        """Adds all joints below a link, and the links that they move; `frame_of_link` is in axes of a body, or of the ground ""."""
        for joint, frame in self.joints_below(link):
            child_frame, child_ends = self.body(self.robot.links[joint.child])
            port = f"{body}.{ends.get(joint.name, joint.name)}" if body else "ground"
            self.join(joint, port, frame_of_link.compose(frame), child_frame)
            self.walk(joint.child, joint.child, child_frame, child_ends)

    def body(self, link: Link) -> tuple[LinkFrame, Mapping[str, str]]:
        """Adds the link as a body; returns the frame of the link in axes of the body, and {joint: port} of the joints below it if
        their ports have other names."""
        if link.name in self.beams:
            return self.beam(link)
        if not link.mass:
            link.tag.fail(f"link {link.name!r} moves but has no mass; give it an <inertial>")
        ports = {joint.name: tuple(frame.x) for joint, frame in self.joints_below(link.name)}
        try:
            rigid = RigidBody(link.mass, link.inertia, tuple(link.center), ports)
        except InputError as error:
            link.tag.fail(f"link {link.name!r}: {error}")
        self.bodies[link.name] = rigid.discretise()
        return LinkFrame(), {}

    def join(self, joint: UrdfJoint, port: str, frame: LinkFrame, moved_frame: LinkFrame) -> None:
        """Adds a joint at a frame in axes of the parent body; `moved_frame` is the frame of the child link in axes of its body."""
        kind = TYPES[joint.kind]
        if kind is None:
            return
        turned = tuple(Rotation.from_matrix(frame.A @ moved_frame.A.T).as_rotvec())
        options: dict[str, Any] = {"name": joint.name, "turned": turned}
        options |= {} if kind is Weld else {"axis": tuple(frame.A @ joint.axis)}
        options |= {"at": tuple(frame.x)} if port == "ground" else {}
        self.joints.append(kind(port, f"{joint.child}.P", **options))
        if joint.damping and kind in (Revolute, Prismatic):
            self.joints.append(JointDamper(joint.name, damping=joint.damping))

    def beam(self, link: Link) -> tuple[LinkFrame, dict[str, str]]:
        """Adds a link that is a beam; returns the same as `body`."""
        carried = {joint.name: frame.x for joint, frame in self.joints_below(link.name)}
        recipe: Any = self.beams[link.name]
        options = dict(
            vars(recipe) if isinstance(recipe, Beam) else mapping(f"beams: {link.name!r}", recipe, "{section: …}")
        )
        elements, reduced, y = options.pop("elements", ELEMENTS), options.pop("reduced", None), options.pop("y", None)
        end = max(carried.values(), key=lambda x: float(np.linalg.norm(x)), default=link.center)
        if not end.any():
            raise InputError(f"beams: {link.name!r} has no length: its joints and its mass centre are all at one point")
        direction = end / np.linalg.norm(end)
        if not carried and options.get("length") is None:
            raise InputError(f"beams: {link.name!r} carries no joint, so its length must be given: {{length: …}}")
        length = float(np.linalg.norm(end)) if carried else positive("length", options["length"])
        if abs(float(options.get("length") or length) - length) > LINE * length:
            raise InputError(
                f"beams: {link.name!r} is {options['length']} m long, its joints are {length:g} m apart; leave length out"
            )
        ends, ports = {}, {}  # the ports of the joints; places of those between the ends, as fractions of the length
        for name, x in carried.items():
            s = float(x @ direction) / length
            if np.linalg.norm(x - s * length * direction) > LINE * length or not -LINE <= s <= 1.0 + LINE:
                raise InputError(f"beams: joint {name!r} is off the straight beam {link.name!r}; make that link rigid")
            ends[name] = "C" if s > 1.0 - LINE else "P" if s < LINE else name
            if ends[name] == name:
                ports[name] = s
        try:
            beam = Beam(**(options | {"length": length}))
        except TypeError as error:
            raise InputError(f"beams: {link.name!r}: {error}") from None
        body = replace(beam, ports={**beam.ports, **ports}).discretise(elements)
        if reduced is not None:
            body = body.reduced(**({"modes": reduced} if isinstance(reduced, int) else reduced))
        self.bodies[link.name] = body
        return LinkFrame(A=_axes(direction, y).T), ends


def _axes(direction: np.ndarray, y: Any) -> np.ndarray:
    """The axes of a beam as columns: x along it, y as given, or by default by the smallest rotation from the axes of the link."""
    if y is None:
        axis = np.cross((1.0, 0.0, 0.0), direction)
        if direction[0] < -1.0 + 1e-12:
            return np.diag([-1.0, -1.0, 1.0])
        S = np.cross(axis, np.eye(3), axisb=0, axisc=0)  # S x = turn × x
        return np.eye(3) + S + S @ S / (1.0 + direction[0])
    z = np.cross(direction, np.asarray(y, dtype=float))
    if (size := np.linalg.norm(z)) < 1e-9:
        raise InputError(f"y is {y!r}, which points along the beam; it must point across")
    return np.column_stack([direction, np.cross(z / size, direction), z / size])


# --- links and joints of the file --------------------------------------------------------------------------------------

TYPES: dict[str, type[Joint] | None] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "fixed": Weld,
    "planar": Planar,
    "floating": None,
}


@dataclass(frozen=True, eq=False)
class LinkFrame:
    """A frame: its origin x (3,), and its axes A as columns."""

    x: np.ndarray = field(default_factory=lambda: np.zeros(3))
    A: np.ndarray = field(default_factory=lambda: np.eye(3))

    def compose(self, other: LinkFrame) -> LinkFrame:
        """The product of frames: a frame `other` relative to this one, in axes in which this one is given."""
        return LinkFrame(self.x + self.A @ other.x, self.A @ other.A)


@dataclass(frozen=True, eq=False)
class Link:
    """A link; `mass` is 0 if it has none."""

    name: str
    tag: Tag
    mass: float
    center: np.ndarray
    inertia: np.ndarray  # about the mass centre, in the axes of the link


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """A joint: its frame in its parent link, and its axis in its own frame."""

    name: str
    kind: str
    tag: Tag
    parent: str
    child: str
    at: LinkFrame
    axis: np.ndarray
    damping: float


def _frame(tag: Tag | None) -> LinkFrame:
    """The frame of an <origin>: xyz, and rpy about the fixed axes x, y and z in this order."""
    if tag is None:
        return LinkFrame()
    x, angles = (tag.numbers(key, (0.0, 0.0, 0.0)) for key in ("xyz", "rpy"))
    return LinkFrame(x, Rotation.from_euler("xyz", angles).as_matrix())


def _link(tag: Tag) -> Link:
    """The link of a tag <link>. Raises FileError if its mass is negative."""
    name, inertial = tag.text("name"), tag.first("inertial")
    if inertial is None:
        return Link(name, tag, 0.0, np.zeros(3), np.zeros((3, 3)))
    origin, mass, moments = _frame(inertial.first("origin")), inertial.require("mass"), inertial.first("inertia")
    if mass.number("value") < 0.0:
        mass.fail(f"the mass of link {name!r} is {mass.number('value'):g}; it must not be negative")
    J = np.zeros((3, 3))
    for a, b in combinations_with_replacement(range(3), 2):
        if moments is not None:
            J[a, b] = J[b, a] = moments.number(f"i{'xyz'[a]}{'xyz'[b]}", 0.0 if a < b else None)
    return Link(name, tag, mass.number("value"), origin.x, origin.A @ J @ origin.A.T)


def _joint(tag: Tag) -> UrdfJoint:
    """The joint of a tag <joint>. Raises FileError if it is not valid."""
    name, kind = tag.text("name"), tag.text("type")
    if kind not in TYPES:
        tag.fail(unknown("type of joint", kind, TYPES))
    parent, child = (tag.require(end).text("link") for end in ("parent", "child"))
    axis, dynamics = tag.first("axis"), tag.first("dynamics")
    direction = np.array([1.0, 0.0, 0.0]) if axis is None else axis.numbers("xyz", (1.0, 0.0, 0.0))
    if axis is not None and not direction.any():
        axis.fail(f"the axis of joint {name!r} is zero")
    damping = 0.0 if dynamics is None else dynamics.number("damping", 0.0)
    if damping < 0.0:
        tag.fail(f"the damping of joint {name!r} is {damping:g}; it must not be negative")
    return UrdfJoint(name, kind, tag, parent, child, _frame(tag.first("origin")), direction, damping)


@dataclass(frozen=True, eq=False)
class Robot:
    """Links and joints by name, which form a tree."""

    links: dict[str, Link]
    joints: dict[str, UrdfJoint]
    root: str

    @classmethod
    def read(cls, tag: Tag) -> Robot:
        """The robot of a tag <robot>. Raises FileError if its links are not a tree."""
        links, joints = _by_name("link", tag, _link), _by_name("joint", tag, _joint)
        mover: dict[str, str] = {}
        for joint in joints.values():
            for end in (joint.parent, joint.child):
                if end not in links:
                    joint.tag.fail(f"joint {joint.name!r}: {unknown('link', end, links)}")
            if joint.child in mover:
                joint.tag.fail(f"link {joint.child!r} has two parents, by {mover[joint.child]!r} and {joint.name!r}")
            mover[joint.child] = joint.name
        roots = [name for name in links if name not in mover]
        if len(roots) != 1:
            tag.fail(f"links that no joint moves: {', '.join(roots) or 'none'}; a robot has one, its root")
        robot, reached = cls(links, joints, roots[0]), [roots[0]]
        for name in reached:
            reached += [joint.child for joint in robot.child_joints(name)]
        if ring := [name for name in links if name not in reached]:
            tag.fail(f"the links {', '.join(ring)} form a loop; a robot is a tree")
        return robot

    def child_joints(self, link: str) -> list[UrdfJoint]:
        """The joints whose parent is this link."""
        return [joint for joint in self.joints.values() if joint.parent == link]

    def ignored(self) -> list[str]:
        """The contents of the file that are not used, for a warning."""
        limits, others = [], []
        for joint in self.joints.values():
            limit, dynamics = joint.tag.first("limit"), joint.tag.first("dynamics")
            if limit is not None and joint.kind in ("revolute", "prismatic"):
                low, high = limit.number("lower", 0.0), limit.number("upper", 0.0)
                limits.append(f"{joint.name} {low:g} … {high:g} {'m' if joint.kind == 'prismatic' else 'rad'}")
            if joint.tag.first("mimic") is not None:
                others.append(f"mimic joint {joint.name!r} is free")
            if dynamics is not None and dynamics.number("friction", 0.0):
                others.append(f"the friction of joint {joint.name!r} is ignored")
        meshes = [link.name for link in self.links.values() if any(tag.name == "mesh" for tag in link.tag.walk())]
        enforced = [f"limits are not enforced: {', '.join(limits)}"] if limits else []
        return enforced + others + ([f"meshes are not read, of {', '.join(meshes)}"] if meshes else [])


def _by_name(word: str, tag: Tag, make: Any) -> dict[str, Any]:
    """make(tag) of all tags of one name, by their names. Raises FileError if a name is used twice or not allowed."""
    out: dict[str, Any] = {}
    for inner in tag.inside:
        if inner.name != word:
            continue
        element = make(inner)
        if element.name in out:
            inner.fail(f"two of <{word}> have the name {element.name!r}; give each its own")
        if "." in element.name or element.name in ("ground", "P", "C"):
            inner.fail(f"{element.name!r} is no name of a {word}: names have no dot, and are not ground, P or C")
        out[element.name] = element
    return out
