"""Robots described in URDF: links become rigid bodies, or beams where asked; joints become joints.

The frame of a link is that of the joint which moves it: its port P. Every joint further on has a port there, called as that joint.
A fixed link without mass is a part of the link that holds it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from phloat.bodies.beams.beam import Beam
from phloat.bodies.body import Body
from phloat.bodies.rigid import RigidBody
from phloat.errors import IgnoredWarning, InputError, mapping, positive, unknown
from phloat.files.robots import TYPES, Frame, Link, Movable, Robot
from phloat.files.tags import read_tags
from phloat.joints.elements import JointDamper
from phloat.joints.pairs import Prismatic, Revolute, Weld
from phloat.system.system import System, connect

LINE = 1e-6  # of the length of a beam: how far a joint may lie beside it
ELEMENTS = 4


def load_urdf(
    path: str | Path,
    beams: Mapping[str, Beam | Mapping[str, Any]] | None = None,
    *,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    fixed: bool = True,
) -> System:
    """The robot in a URDF file, its root held by the ground (`fixed`) or free.

    `beams` {link: Beam(…) or its arguments} are links that bend: straight from the link's joint to that of its child, whose
    distance is the length; beside the arguments of Beam stand `elements` (4), `reduced` (modes) and `y`, the beam's y axis in
    axes of the link. Damping of joints is kept. Limits, friction, mimicry, meshes and whatever else is there is named in a warning.
    """
    robot = Robot.read(read_tags(Path(path), "robot"))
    wanted = mapping("beams", {} if beams is None else beams, "{link: Beam(…)}")
    for name in wanted:
        if name not in robot.links:
            raise InputError(f"beams: {unknown('link', name, robot.links)}")
        if name == robot.root:
            raise InputError(f"beams: {name!r} is the root of the robot, which no joint moves; it stays rigid")
    if ignored := robot.ignored():
        warnings.warn(f"{Path(path).name}: {'; '.join(ignored)}", IgnoredWarning, stacklevel=2)
    return _System(robot, wanted, fixed).connected(gravity)


@dataclass(frozen=True, eq=False)
class Held:
    """What holds a joint: a body's port (or the ground), and the frame of the joint's parent link seen in the body's axes."""

    body: str
    link: Frame


class _System:
    """The bodies and joints of a robot, from its root on."""

    def __init__(self, robot: Robot, beams: Mapping[str, Any], fixed: bool) -> None:
        self.robot, self.beams = robot, beams
        self.bodies: dict[str, Body] = {}
        self.joints: list[Any] = []
        root, here = robot.links[robot.root], Frame(np.zeros(3), np.eye(3))
        if fixed:
            self.walk(root.name, Held("", here), {})
        else:
            own, ends = self.body(root)
            self.walk(root.name, Held(root.name, own), ends)

    def connected(self, gravity: Sequence[float]) -> System:
        if not self.bodies:
            raise InputError(f"nothing moves in the robot: its one link {self.robot.root!r} is held by the ground")
        return connect(self.bodies, self.joints, gravity=gravity)

    def carried(self, link: str) -> list[tuple[Movable, Frame]]:
        """The joints that a link carries, and those of what is fixed to it without mass, with the frames of their parents."""
        out, here = [], [(link, Frame(np.zeros(3), np.eye(3)))]
        for name, frame in here:
            for joint in self.robot.below(name):
                if joint.kind == "fixed" and not self.robot.links[joint.child].mass and joint.child not in self.beams:
                    here.append((joint.child, frame.then(joint.at)))
                else:
                    out.append((joint, frame.then(joint.at)))
        return out

    def walk(self, link: str, held: Held, ends: Mapping[str, str]) -> None:
        """All joints that a link carries, and what they move."""
        for joint, frame in self.carried(link):
            own, others = self.body(self.robot.links[joint.child])
            self.join(joint, held, held.link.then(frame), ends.get(joint.name, joint.name), own)
            self.walk(joint.child, Held(joint.child, own), others)

    def body(self, link: Link) -> tuple[Frame, Mapping[str, str]]:
        """The link as a body; the frame of the link in the axes of the body, and the ports of the joints it carries."""
        if link.name in self.beams:
            self.bodies[link.name], own, ends = self.bent(link)
            return own, ends
        self.bodies[link.name] = self.rigid(link)
        return Frame(np.zeros(3), np.eye(3)), {}

    def join(self, joint: Movable, held: Held, frame: Frame, port: str, own: Frame) -> None:
        """A joint at a frame in the holding body's axes; `own` is the moved link's frame in its body's axes."""
        kind = TYPES[joint.kind]
        if kind is None:
            return
        options: dict[str, Any] = {"name": joint.name, "turned": tuple(_vector(frame.A @ own.A.T))}
        if kind is not Weld:
            options["axis"] = tuple(frame.A @ joint.axis)
        if held.body:
            self.joints.append(kind(f"{held.body}.{port}", f"{joint.child}.P", **options))
        else:
            self.joints.append(kind("ground", f"{joint.child}.P", at=tuple(frame.x), **options))
        if joint.damping and kind in (Revolute, Prismatic):
            self.joints.append(JointDamper(joint.name, damping=joint.damping))

    def rigid(self, link: Link) -> Body:
        if not link.mass:
            link.tag.wrong(f"link {link.name!r} moves and has no mass; give it an <inertial>")
        ports = {joint.name: tuple(frame.x) for joint, frame in self.carried(link.name)}
        try:
            return RigidBody(link.mass, link.inertia, tuple(link.center), ports).discretise()
        except InputError as error:
            link.tag.wrong(f"link {link.name!r}: {error}")

    def bent(self, link: Link) -> tuple[Body, Frame, dict[str, str]]:
        """A link as a beam, the link's frame in its axes, and the ports of the joints that it carries."""
        carried = {joint.name: frame.x for joint, frame in self.carried(link.name)}
        given = self.beams[link.name]
        options = dict(
            vars(given) if isinstance(given, Beam) else mapping(f"beams: {link.name!r}", given, "{section: …}")
        )
        elements, reduced, y = options.pop("elements", ELEMENTS), options.pop("reduced", None), options.pop("y", None)
        far = max(carried.values(), key=lambda x: float(np.linalg.norm(x)), default=link.center)
        if not far.any():
            raise InputError(
                f"beams: {link.name!r} has no length: neither a joint nor its mass centre lies away from its own joint"
            )
        along = far / np.linalg.norm(far)
        if not carried and options.get("length") is None:
            raise InputError(f"beams: {link.name!r} carries no joint, so its length must be given: {{length: …}}")
        length = float(np.linalg.norm(far)) if carried else positive("length", options["length"])
        if abs(float(options.get("length") or length) - length) > LINE * length:
            raise InputError(
                f"beams: {link.name!r} has length {options['length']:g}, but its joints are {length:g} m apart; leave length away"
            )
        ends = self.on_beam(link, carried, along, length)
        try:
            beam = Beam(**(options | {"length": length}))
        except TypeError as error:
            raise InputError(f"beams: {link.name!r}: {error}") from None
        beam = replace(beam, ports={**beam.ports, **{port: s for port, s in ends.values() if port not in ("P", "C")}})
        body = beam.discretise(elements)
        if reduced is not None:
            body = body.reduced(**({"modes": reduced} if isinstance(reduced, int) else reduced))
        A = _axes(along, y)
        return body, Frame(np.zeros(3), A.T), {name: port for name, (port, _) in ends.items()}

    @staticmethod
    def on_beam(
        link: Link, carried: Mapping[str, np.ndarray], along: np.ndarray, length: float
    ) -> dict[str, tuple[str, float]]:
        """The port and the fraction of the length of every joint that a beam carries."""
        out = {}
        for name, x in carried.items():
            s = float(x @ along) / length
            if np.linalg.norm(x - s * length * along) > LINE * length or not -LINE <= s <= 1.0 + LINE:
                raise InputError(
                    f"beams: joint {name!r} lies beside the straight beam {link.name!r}; leave that link rigid"
                )
            out[name] = ("C", 1.0) if s > 1.0 - LINE else ("P", 0.0) if s < LINE else (name, s)
        return out


def _vector(A: np.ndarray) -> np.ndarray:
    return np.asarray(Rotation.from_matrix(A).as_rotvec())


def _axes(along: np.ndarray, y: Any) -> np.ndarray:
    """Axes of a beam as columns: x along it, y as given or the least turn away from the link's own."""
    if y is None:
        turn = np.cross((1.0, 0.0, 0.0), along)
        if along[0] < -1.0 + 1e-12:
            return np.diag([-1.0, -1.0, 1.0])
        S = np.array([[0, -turn[2], turn[1]], [turn[2], 0, -turn[0]], [-turn[1], turn[0], 0]])
        return np.eye(3) + S + S @ S / (1.0 + along[0])
    z = np.cross(along, np.asarray(y, dtype=float))
    if np.linalg.norm(z) < 1e-9:
        raise InputError(f"y is {y!r}, which points along the beam; it must point across")
    z = z / np.linalg.norm(z)
    return np.column_stack([along, np.cross(z, along), z])
