"""Lower pairs: the rows that a joint closes, and the free ones, which are a port with the name of the joint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from phloat.algebra.cross import nearest_triad, rotation, triad
from phloat.algebra.metadata import describe
from phloat.errors import InputError, JointError, finite
from phloat.joints.ends import DIRECTION, GROUND, TURNED, Between, Vector, is_origin, unit
from phloat.joints.rows import Row
from phloat.joints.standard_rows import aligned, coincide, hinge, in_plane, perpendicular, slide, spins

NORMAL = describe("direction normal to the axis; by default x turned as z is turned into the axis", "direction")


@dataclass(frozen=True, kw_only=True)
class Joint(Between):
    """Base class of joints between two ports, "body.port" or "ground". Motion is that of the second port relative to the first.

    `at` is the point of the joint on the ground (m), `turned` the rotation vector (rad) from the first port's frame to the second's
    at zero joint coordinate. Directions of a joint are in the first port's frame.
    """

    turned: Vector = field(default=(0.0, 0.0, 0.0), metadata=TURNED)

    closed: ClassVar[tuple[Row, ...]] = ()
    free: ClassVar[tuple[Row, ...]] = ()
    moves_ground: ClassVar[bool] = False  # whether the input moves the frame of the ground
    planar_axis: ClassVar[str] = "any"  # the direction in a plane system: "up" (z), "flat" (in the plane) or "any"
    not_planar: ClassVar[str] = ""  # for joints that a plane system cannot have: the message

    def __post_init__(self) -> None:
        super().__post_init__()
        self.triads()

    @property
    def driven(self) -> tuple[Row, ...]:
        """Rows whose rate is an input."""
        return ()

    def direction(self) -> np.ndarray:
        """The unit vector that becomes the third direction of the joint triads."""
        return np.array([0.0, 0.0, 1.0])

    def triad(self) -> np.ndarray:
        """The joint triad in the first port's frame, as columns."""
        return triad(self.direction())

    def triads(self) -> tuple[np.ndarray, np.ndarray]:
        """The joint triads in the first and in the second port's frame, as columns; they coincide at zero joint coordinate."""
        U = self.triad()
        if is_origin(self.turned):
            return U, U
        turned = finite(f"turned of {self.label}", self.turned, (3,))
        return U, rotation(turned).T @ U if turned.any() else U


@dataclass(frozen=True, kw_only=True)
class Axial(Joint):
    """Base class of joints with an axis, the third direction of their triads."""

    axis: Vector = field(default=(0.0, 0.0, 1.0), metadata=DIRECTION)

    def direction(self) -> np.ndarray:
        return unit(f"axis of {self.label}", self.axis)


def across(label: str, axis: np.ndarray, x_direction: Vector | None) -> np.ndarray:
    """The triad (x, axis × x, axis) for a direction x normal to the axis; without x, the triad nearest to the identity."""
    if x_direction is None:
        return nearest_triad(axis)
    x = unit(label, x_direction)
    if (cosine := float(x @ axis)) > 1e-9 or cosine < -1e-9:
        raise InputError(f"{label} stands at {np.degrees(np.arccos(cosine)):.6g}° to the axis; it must stand at 90°")
    y = np.cross(axis, x)
    y /= np.linalg.norm(y)
    return np.column_stack([np.cross(y, axis), y, axis])


@dataclass(frozen=True)
class Weld(Joint):
    """Fixes two ports to each other: no motion is free.

    Parameters
    ----------
    first, second : str
        Ports, "body.port" or "ground".
    at : (3,) sequence of float, optional
        Point of the joint on the ground (m).
    turned : (3,) sequence of float, optional
        Rotation vector from the first port's frame to the second's (rad).
    name : str, optional
        Name of the joint; its ports by default.

    Examples
    --------
    >>> box = ph.RigidBody(mass=3.0, inertia=np.eye(3)).discretise()
    >>> fixed = ph.connect({"box": box}, joints=[ph.Weld("ground", "box.P", name="foot")], gravity=(0.0, 0.0, -10.0))
    >>> ph.reactions(fixed, ph.place(fixed))["foot"].round(9) + 0.0  # force and moment on the box
    array([ 0.,  0., 30.,  0.,  0.,  0.])
    """

    closed: ClassVar[tuple[Row, ...]] = (*coincide(), *aligned())


@dataclass(frozen=True)
class Spherical(Joint):
    """The points coincide; three rotations are free.

    Parameters
    ----------
    first, second : str
        Ports, "body.port" or "ground".
    at : (3,) sequence of float, optional
        Point of the joint on the ground (m).
    turned : (3,) sequence of float, optional
        Rotation vector (rad) from the first port's frame to the second's at zero rotation of the joint.
    name : str, optional
        Name of the joint and of its port, which takes three torques (N m) in the first port's axes.

    Examples
    --------
    >>> rod = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.0, 0.0, -0.5)).discretise()
    >>> ball = ph.Spherical("ground", "rod.P", name="ball")
    >>> pendulum = ph.connect({"rod": rod}, joints=[ball], gravity=(0.0, 0.0, -9.6))
    >>> ph.modes(ph.linearise(pendulum, ph.place(pendulum)))  # spin about z, and √(m g l / J_P) about x and y
    Modes(1 rigid, then 4, 4 rad/s)
    """

    closed: ClassVar[tuple[Row, ...]] = coincide()
    free: ClassVar[tuple[Row, ...]] = spins()


@dataclass(frozen=True)
class Revolute(Axial):
    """A hinge: the points coincide, and the second rotates about an axis of the first.

    Parameters
    ----------
    first, second : str
        Ports, "body.port" or "ground". The angle is that of the second relative to the first.
    axis : (3,) sequence of float, optional
        Direction of the axis in the first port's frame, of any length; z by default, the only one in the plane xy.
    at : (3,) sequence of float, optional
        Point of the joint on the ground (m).
    turned : (3,) sequence of float, optional
        Rotation vector from the first port's frame to the second's at zero angle (rad).
    name : str, optional
        Name of the joint and of its port, which takes a torque (N m); coordinate "name.angle" (rad), rate "name.angle_rate".

    Examples
    --------
    >>> arm = ph.RigidBody(mass=1.0, inertia=np.eye(3)).discretise()
    >>> robot = ph.connect({"arm": arm}, joints=[ph.Revolute("ground", "arm.P", name="motor")])
    >>> state = ph.place(robot, {"motor.angle": np.pi / 2})
    >>> (state["arm.A_IB"] @ [1.0, 0.0, 0.0]).round(9)  # where the x axis of the arm points
    array([0., 1., 0.])
    """

    closed: ClassVar[tuple[Row, ...]] = (*coincide(), perpendicular(0, 2), perpendicular(1, 2))
    free: ClassVar[tuple[Row, ...]] = (hinge(),)
    planar_axis: ClassVar[str] = "up"


@dataclass(frozen=True)
class Prismatic(Axial):
    """A rail: the frames are parallel, and the second slides along an axis of the first.

    Parameters
    ----------
    first, second : str
        Ports, "body.port" or "ground". The slide is that of the second relative to the first.
    axis : (3,) sequence of float, optional
        Direction of the rail in the first port's frame, of any length; z by default, so give one where plane="xy".
    at : (3,) sequence of float, optional
        Point on the ground at which the rail starts (m).
    turned : (3,) sequence of float, optional
        Rotation vector from the first port's frame to the second's (rad).
    name : str, optional
        Name of the joint and of its port, which takes a force (N); coordinate "name.slide" (m), rate "name.slide_rate".

    Examples
    --------
    >>> cart = ph.RigidBody(mass=1.0, inertia=np.eye(3)).discretise()
    >>> rail = ph.Prismatic("ground", "cart.P", axis=(1.0, 0.0, 0.0), name="rail")
    >>> system = ph.connect({"cart": cart}, joints=[rail])
    >>> ph.place(system, {"rail.slide": 0.3})["cart.r_P"]
    array([0.3, 0. , 0. ])
    """

    closed: ClassVar[tuple[Row, ...]] = (*aligned(), in_plane(0), in_plane(1))
    free: ClassVar[tuple[Row, ...]] = (slide(),)
    planar_axis: ClassVar[str] = "flat"


@dataclass(frozen=True, kw_only=True)
class Universal(Axial):
    """The points coincide; the second rotates about an axis of the first, then about a second axis, normal to that one.

    Parameters
    ----------
    first, second : str
        Ports, "body.port" or "ground". In space only.
    axis, second_axis : (3,) sequence of float, optional
        The axis, z by default, and the second axis at zero angles, both in the first port's frame. By default the second is x
        after the smallest rotation of z into the axis, a continuous function of the axis except at −z.
    at, turned : (3,) sequence of float, optional
        Point on the ground (m); rotation vector from the first port's frame to the second's at zero angles (rad).
    name : str, optional
        Name of the joint and of its port, which takes two torques (N m); coordinates "name.angle", "name.angle_2" (rad).

    Examples
    --------
    >>> shaft = ph.RigidBody(mass=1.0, inertia=np.eye(3)).discretise()
    >>> system = ph.connect({"shaft": shaft}, joints=[ph.Universal("ground", "shaft.P", name="cross")])
    >>> state = ph.place(system, {"cross.angle": np.pi / 2, "cross.angle_2": np.pi / 2})
    >>> (state["shaft.A_IB"] @ [0.0, 0.0, 1.0]).round(9)  # z turned about x, then about z
    array([1., 0., 0.])
    """

    second_axis: Vector | None = field(default=None, metadata=NORMAL)
    closed: ClassVar[tuple[Row, ...]] = (*coincide(), perpendicular(2, 0))
    free: ClassVar[tuple[Row, ...]] = (hinge(), hinge((2, 1), (2, 2), "angle_2"))
    not_planar: ClassVar[str] = "turns about two axes, and only one of them can stand on the plane xy; use Revolute"

    def triad(self) -> np.ndarray:
        return across(f"second_axis of {self.label}", self.direction(), self.second_axis)


@dataclass(frozen=True)
class Cylindrical(Axial):
    """The second rotates about an axis of the first and slides along it.

    Parameters
    ----------
    first, second : str
        Ports, "body.port" or "ground". In space only.
    axis : (3,) sequence of float, optional
        Direction of the axis in the first port's frame, of any length; z by default.
    at, turned : (3,) sequence of float, optional
        Point on the ground (m); rotation vector from the first port's frame to the second's at zero angle (rad).
    name : str, optional
        Name of the joint and of its port, which takes (torque, force), N m and N; with "name.angle" (rad), "name.slide" (m).

    Examples
    --------
    >>> bolt = ph.RigidBody(mass=1.0, inertia=np.eye(3)).discretise()
    >>> system = ph.connect({"bolt": bolt}, joints=[ph.Cylindrical("ground", "bolt.P", name="hole")])
    >>> state = ph.place(system, {"hole.angle": np.pi / 2, "hole.slide": 0.2})
    >>> state["bolt.r_P"], (state["bolt.A_IB"] @ [1.0, 0.0, 0.0]).round(9)
    (array([0. , 0. , 0.2]), array([0., 1., 0.]))
    """

    closed: ClassVar[tuple[Row, ...]] = (perpendicular(0, 2), perpendicular(1, 2), in_plane(0), in_plane(1))
    free: ClassVar[tuple[Row, ...]] = (hinge(), slide())
    not_planar: ClassVar[str] = "turns and slides, and the plane xy allows one of the two; use Revolute or Prismatic"


@dataclass(frozen=True, kw_only=True)
class Planar(Axial):
    """The second moves in a plane of the first, whose normal is the axis, and rotates about that normal.

    `along` is the direction of slide_x in the first port's frame; slide_y is normal to it and to the axis. By default it is x
    after the smallest rotation of z into the axis, a continuous function of the axis except at −z.
    """

    along: Vector | None = field(default=None, metadata=NORMAL)
    closed: ClassVar[tuple[Row, ...]] = (perpendicular(0, 2), perpendicular(1, 2), in_plane(2))
    free: ClassVar[tuple[Row, ...]] = (slide(0, "slide_x"), slide(1, "slide_y"), hinge())
    not_planar: ClassVar[str] = "closes nothing where everything moves in the plane xy; leave it out"

    def triad(self) -> np.ndarray:
        return across(f"along of {self.label}", self.direction(), self.along)


@dataclass(frozen=True, kw_only=True)
class Slide(Joint):
    """A point of the second stays on a line of the first; the rotation of the second is free.

    Parameters
    ----------
    first, second : str
        Ports, "body.port" or "ground". The slide is that of the second relative to the first.
    along : (3,) sequence of float, optional
        Direction of the line in the first port's frame, of any length; x by default.
    at, turned : (3,) sequence of float, optional
        A point of the line on the ground (m); rotation vector (rad) of the second in `place` unless given there.
    name : str, optional
        Name of the joint and of its port, which takes a force (N); coordinate "name.slide" (m), rate "name.slide_rate".

    Examples
    --------
    >>> block = ph.RigidBody(mass=1.0, inertia=np.eye(3)).discretise()
    >>> system = ph.connect({"block": block}, joints=[ph.Slide("ground", "block.P", name="rail")], plane="xy")
    >>> ph.place(system, {"rail.slide": 0.2, "block.theta": 0.5})["block.r_P"]
    array([0.2, 0. ])
    """

    along: Vector = field(default=(1.0, 0.0, 0.0), metadata=DIRECTION)
    closed: ClassVar[tuple[Row, ...]] = (in_plane(0), in_plane(1))
    free: ClassVar[tuple[Row, ...]] = (slide(),)
    planar_axis: ClassVar[str] = "flat"

    def direction(self) -> np.ndarray:
        return unit(f"along (direction of the line) of {self.label}", self.along)


@dataclass(frozen=True, kw_only=True)
class Drive(Joint):
    """Prescribes how a point ("translation") or a frame ("pose") of a body moves: its velocities are an input.

    Parameters
    ----------
    first, second : str
        "ground" and the port that is driven, "body.port".
    of : {"translation", "pose"}, optional
        The input is v (m/s), or (v, ω) (m/s, rad/s), in inertial axes, or `prescribed_position(f)`.
        The output is the force (N), or wrench (N, N m), that it takes.
    at, turned : (3,) sequence of float, optional
        Point (m) and rotation vector (rad) of the port in `place` unless given there.
    name : str, optional
        Name of the joint and of its port.

    Examples
    --------
    >>> table = ph.RigidBody(mass=3.0, inertia=np.eye(3)).discretise()
    >>> system = ph.connect({"table": table}, joints=[ph.Drive("ground", "table.P", name="shaker")])
    >>> state = ph.set_moving(system, ph.place(system), u={"shaker": (0.1, 0.0, 0.0)})
    >>> state["table.v_P"].round(9)
    array([0.1, 0. , 0. ])
    """

    of: str = field(
        default="translation",
        metadata=describe("what is prescribed: a point or a frame", choices=("translation", "pose")),
    )
    moves_ground: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of not in ("translation", "pose"):
            raise InputError(f"Drive of={self.of!r}; it must be 'translation' or 'pose'")
        if GROUND not in (self.first, self.second):
            raise JointError(f"{self.label} must start from the ground; to drive a joint between bodies use drive(…)")

    @property
    def not_numbers(self) -> tuple[str, ...]:
        return ("at",)  # it starts at the position of its port

    @property
    def driven(self) -> tuple[Row, ...]:
        return coincide() if self.of == "translation" else (*coincide(), *aligned())
