"""Springs, dampers and bushings: they stand in the list of joints, close nothing and have no multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

import numpy as np

from phloat.algebra.cross import rotation
from phloat.algebra.metadata import describe
from phloat.errors import InputError, finite, not_negative, positive
from phloat.joints.curves import Curve, Range, curve, resistance
from phloat.joints.ends import TURNED, Between, NamedRecipe, Vector, six_not_negative
from phloat.joints.laws import LAWS, Law, LawFunction, no_damper, no_spring
from phloat.joints.rows import Row
from phloat.joints.scalar import tanh
from phloat.joints.standard_rows import distance, in_plane, rotation_vector, small_rotation

ROTATIONS = ("small", "vector")


@dataclass(frozen=True)
class BetweenPorts(Between):
    """A force element between two ports: a law along each of its rows."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for row, law in self.row_laws().items():
            if law.stores and not row.has_gap:
                raise InputError(
                    f"{self.label} has a spring along the row {row.label!r}, which is a {row.function} without a gap; "
                    "give it a row with a gap, or only a damper"
                )

    def row_laws(self) -> dict[Row, Law]:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Spring(BetweenPorts):
    """Pulls two points together: a force over their distance beyond `length`.

    Parameters
    ----------
    first, second : str
        Ports, "body.port" or "ground"; `at` (m) is the place on the ground, `name` that of the spring.
    stiffness : float, dict, callable or PPoly
        A number (N/m), a table {elongation in m: force in N}, a function of the elongation with its range `over`, or piecewise
        polynomials of SciPy (`CubicSpline` …). Beyond the range the slope at its end is assumed, and a run warns.
    length : float, optional
        Distance at which it is relaxed (m).
    over : (float, float), optional
        Range of the elongation (m) for which a function is given.

    Examples
    --------
    >>> spring = ph.Spring("ground", "mass.P", stiffness=200.0, length=1.0)
    >>> system = ph.connect({"mass": ph.PointMass(2.0).discretise()}, joints=[spring])
    >>> print(f"{ph.energy(system, ph.place(system, {'mass.r_P': (1.3, 0.0, 0.0)})):.3f} J")  # ½ k (1.3 − 1)²
    9.000 J
    """

    stiffness: Curve = field(metadata=describe("a number, or a table {elongation: force}", "stiffness"))
    length: float = field(default=0.0, metadata=describe("where it is relaxed", "length", least=0.0))
    over: Range = None
    suffix: ClassVar[str] = ".spring"

    def row_laws(self) -> dict[Row, Law]:
        stiffness, spring = curve(f"stiffness of {self.label}", self.stiffness, self.over)
        rest = not_negative(f"length of {self.label}", self.length)
        return {distance(): Law(stiffness=stiffness, rest=rest, spring=spring)}


@dataclass(frozen=True, kw_only=True)
class Damper(BetweenPorts):
    """Resists the rate of the distance of two points.

    Parameters
    ----------
    first, second : str
        Ports, "body.port" or "ground"; `at` (m) is the place on the ground, `name` that of the damper.
    damping : float, dict, callable or PPoly
        A number (N s/m), a table {rate in m/s: force in N}, a function of the rate with its range `over`, or piecewise
        polynomials of SciPy. It must never give energy. Beyond the range the slope at its end is assumed, and a run warns.
    over : (float, float), optional
        Range of the rate (m/s) for which a function is given.

    Examples
    --------
    >>> rail = ph.Prismatic("ground", "box.P", axis=(1.0, 0.0, 0.0))
    >>> damper = ph.Damper("ground", "box.P", damping=4.0, at=(-1.0, 0.0, 0.0))
    >>> box = ph.RigidBody(mass=2.0, inertia=np.eye(3)).discretise()
    >>> system = ph.connect({"box": box}, joints=[rail, damper])
    >>> ph.poles(ph.linearise(system, ph.place(system))).real.round(6)  # −c/m
    array([-2.])
    """

    damping: Curve = field(metadata=describe("a number, or a table {rate: force}", "damping"))
    over: Range = None
    suffix: ClassVar[str] = ".damper"

    def row_laws(self) -> dict[Row, Law]:
        damping, damper = resistance(f"damping of {self.label}", self.damping, self.over)
        return {distance(): Law(damping=damping, damper=damper)}


@dataclass(frozen=True, kw_only=True)
class Bushing(BetweenPorts):
    """Holds two frames together softly: six stiffnesses and dampings, along and about the axes of the first port's frame.

    Parameters
    ----------
    first, second : str
        Ports, "body.port" or "ground"; `at` (m) is the place on the ground, `name` that of the bushing.
    turned : (3,) sequence of float, optional
        Rotation vector from the first port's frame to the second's where it is relaxed (rad).
    stiffness : (6,) sequence of float
        Three along (N/m), three about the axes (N m/rad).
    damping : (6,) sequence of float, optional
        Likewise, N s/m and N m s/rad.
    rotation : {"small", "vector"}, optional
        "small" takes the rotations as sines, right below some 0.5 rad (a run warns beyond); "vector" takes the components of the
        rotation vector φ, so that ½ Σ k_i φ_i² is stored at any turn below π.

    Examples
    --------
    >>> box = ph.RigidBody(mass=2.0, inertia=0.5 * np.eye(3)).discretise()
    >>> mount = ph.Bushing("ground", "box.P", stiffness=(200.0, 200.0, 800.0, 2.0, 2.0, 8.0))
    >>> system = ph.connect({"box": box}, joints=[mount])
    >>> ph.modes(ph.linearise(system, ph.place(system)))  # √(k/J) and √(k/m)
    Modes(0 rigid, then 2, 2, 4, 10, 10, 20 rad/s)
    """

    turned: Vector = field(default=(0.0, 0.0, 0.0), metadata=TURNED)
    stiffness: Sequence[float] = field(
        metadata=describe("three along, three about the first frame", "stiffness", "torsional stiffness", size=6)
    )
    damping: Sequence[float] = field(
        default=(0.0,) * 6, metadata=describe("likewise", "damping", "torsional damping", size=6)
    )
    rotation: str = field(
        default="small",
        metadata=describe("small rotations as sines, or the rotation vector for angles below π", choices=ROTATIONS),
    )
    suffix: ClassVar[str] = ".bushing"

    def triads(self) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(3), rotation(finite(f"turned of {self.label}", self.turned, (3,))).T

    def row_laws(self) -> dict[Row, Law]:
        self.triads()
        if self.rotation not in ROTATIONS:
            raise InputError(f"rotation of {self.label} is {self.rotation!r}; it must be 'small' or 'vector'")
        six_not_negative(f"stiffness of {self.label}", self.stiffness)
        six_not_negative(f"damping of {self.label}", self.damping)
        turning = rotation_vector if self.rotation == "vector" else small_rotation
        rows = (*(in_plane(i) for i in range(3)), *(turning(i) for i in range(3)))
        pairs = zip(rows, self.stiffness, self.damping, strict=True)
        return {row: Law(stiffness=float(k), damping=float(c)) for row, k, c in pairs if k or c}


@dataclass(frozen=True)
class OnJoint(NamedRecipe):
    """A force element on a free axis of a joint, by the label of that axis ("angle", "slide" …) where there are several."""

    joint: str
    _: KW_ONLY
    axis: str = field(default="", metadata=describe("of several free axes, which: angle, slide …"))
    name: str = ""
    places: ClassVar[tuple[str, ...]] = ("joint",)
    written: ClassVar[str] = "the name of a joint, such as 'hinge'"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.axis, str):
            raise InputError(f"axis of {self.label} is {self.axis!r}; it must be a word: 'angle', 'slide' …")
        self.law()

    @property
    def label(self) -> str:
        """Its name, or that of its joint and axis."""
        return self.name or f"{self.joint}{self.axis and '.'}{self.axis}{self.suffix}"

    def law(self) -> Law:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class JointSpring(OnJoint):
    """A spring on a free axis of a joint, relaxed at `rest`.

    Parameters
    ----------
    joint : str
        Name of the joint; of several free axes `axis` says which ("angle", "slide" …); `name` is that of the spring.
    stiffness : float, dict, callable or PPoly
        A number (N m/rad or N/m), a table {elongation: effort}, a function of the elongation with its range `over`, or piecewise
        polynomials of SciPy. Beyond the range the slope at its end is assumed, and a run warns.
    rest : float, optional
        Where it is relaxed (rad or m).
    over : (float, float), optional
        Range of the elongation (rad or m) for which a function is given.

    Examples
    --------
    >>> joints = [ph.Revolute("ground", "arm.P", name="elbow"), ph.JointSpring("elbow", stiffness=8.0, rest=0.1)]
    >>> arm = ph.RigidBody(mass=1.0, inertia=0.5 * np.eye(3)).discretise()
    >>> system = ph.connect({"arm": arm}, joints=joints)
    >>> print(f"{ph.energy(system, ph.place(system, {'elbow.angle': 0.6})):.3f} J")  # ½ k (0.6 − 0.1)²
    1.000 J
    """

    stiffness: Curve = field(
        metadata=describe("a number, or a table {elongation: effort}", "torsional stiffness", "stiffness")
    )
    rest: float = field(default=0.0, metadata=describe("where it is relaxed", "angle", "length"))
    over: Range = None
    suffix: ClassVar[str] = ".spring"
    not_numbers: ClassVar[tuple[str, ...]] = ("over",)

    def law(self) -> Law:
        stiffness, spring = curve(f"stiffness of {self.label}", self.stiffness, self.over)
        return Law(stiffness=stiffness, rest=float(finite(f"rest of {self.label}", self.rest, ())), spring=spring)


@dataclass(frozen=True, kw_only=True)
class JointDamper(OnJoint):
    """A damper on a free axis of a joint; on a spherical joint −damping · ω, against the relative angular velocity.

    Parameters
    ----------
    joint : str
        Name of the joint; of several free axes `axis` says which ("angle", "slide" …); `name` is that of the damper.
    damping : float, dict, callable or PPoly
        A number (N m s/rad or N s/m; the only choice on a spherical joint), a table {rate: effort}, a function of the rate with its
        range `over`, or piecewise polynomials of SciPy. It must never give energy. Beyond the range the slope at its end is
        assumed, and a run warns.
    over : (float, float), optional
        Range of the rate (rad/s or m/s) for which a function is given.

    Examples
    --------
    >>> joints = [ph.Revolute("ground", "arm.P", name="elbow"), ph.JointDamper("elbow", damping=2.0)]
    >>> arm = ph.RigidBody(mass=1.0, inertia=0.5 * np.eye(3)).discretise()
    >>> system = ph.connect({"arm": arm}, joints=joints)
    >>> ph.poles(ph.linearise(system, ph.place(system))).real.round(6)  # −c/J
    array([-4.])
    """

    damping: Curve = field(metadata=describe("a number, or a table {rate: effort}", "torsional damping", "damping"))
    over: Range = None
    suffix: ClassVar[str] = ".damper"
    not_numbers: ClassVar[tuple[str, ...]] = ("over",)

    def law(self) -> Law:
        damping, damper = resistance(f"damping of {self.label}", self.damping, self.over)
        return Law(damping=damping, damper=damper)


# --- laws written as functions ---------------------------------------------------------------------------------------


class _Registered:
    """Has a law: its static functions, with its own fields as their parameters."""

    spring: ClassVar[Any] = staticmethod(no_spring)
    damper: ClassVar[Any] = staticmethod(no_damper)

    def own_law(self: Any) -> Law:
        """The law with the numbers of the fields."""
        function = type(self).function()
        numbers = tuple(float(finite(f"{name} of {self.label}", getattr(self, name), ())) for name in function.numbers)
        function.check(self.label, numbers)
        return Law(function=function, numbers=numbers)

    @classmethod
    def function(cls) -> LawFunction:
        """The law of this class; it stands in `LAWS` under the name of the class with that of its module."""
        name = f"{cls.__module__}.{cls.__qualname__}"
        known = LAWS.get(name)
        if known is None or (known.spring, known.damper) != (cls.spring, cls.damper):  # defined again in a notebook
            shared = {f.name for base in (JointLaw, PortLaw) for f in fields(base)}
            numbers = tuple(f.name for f in fields(cls) if f.name not in shared)  # type: ignore[arg-type]
            LAWS[name] = LawFunction(name, numbers, cls.spring, cls.damper)
        return LAWS[name]


@dataclass(frozen=True)
class JointLaw(OnJoint, _Registered):
    """A law of your own on a free axis of a joint: a subclass with parameters as fields and static functions of them.

    `spring(x, *parameters)` returns the effort against x, its slope and the stored energy; `damper(x, v, *parameters)` the effort
    against the rate v at x, and its derivative by v. They are scalar code with the functions of `phloat.joints.scalar`: `where`
    instead of `if`.
    """

    suffix: ClassVar[str] = ".law"

    def law(self) -> Law:
        return self.own_law()


@dataclass(frozen=True)
class PortLaw(BetweenPorts, _Registered):
    """A law of your own between two ports, as `JointLaw`, along the row `row`: by default their distance."""

    row: ClassVar[Row] = distance()
    suffix: ClassVar[str] = ".law"

    def row_laws(self) -> dict[Row, Law]:
        return {self.row: self.own_law()}


@dataclass(frozen=True, kw_only=True)
class JointFriction(JointLaw):
    """Dry friction on a free axis of a joint, −effort tanh(rate/speed).

    Below `speed` it is a damper, so a joint that should stick creeps at a fraction of that speed.

    Parameters
    ----------
    joint : str
        Name of the joint; of several free axes `axis` says which ("angle", "slide" …); `name` is that of the friction.
    effort : float
        Torque (N m) or force (N) while it slips.
    speed : float
        Rate from which on it slips (rad/s or m/s).

    Examples
    --------
    >>> joints = [ph.Revolute("ground", "arm.P", name="elbow"), ph.JointFriction("elbow", effort=2.0, speed=0.01)]
    >>> arm = ph.RigidBody(mass=1.0, inertia=0.5 * np.eye(3)).discretise()
    >>> system = ph.connect({"arm": arm}, joints=joints)
    >>> ph.poles(ph.linearise(system, ph.place(system))).real.round(6)  # at rest a damper: −(effort/speed)/J
    array([-400.])
    """

    effort: float = field(metadata=describe("while it slips", "torque", "force", least=0.0))
    speed: float = field(metadata=describe("from which on it slips", "angular rate", "velocity", above=0.0))
    suffix: ClassVar[str] = ".friction"

    def law(self) -> Law:
        not_negative(f"effort of {self.label}", self.effort)
        positive(f"speed of {self.label}", self.speed)
        return super().law()

    @staticmethod
    def damper(x: Any, v: Any, effort: Any, speed: Any) -> Any:
        slip = tanh(v / speed)
        return effort * slip, effort * (1.0 - slip * slip) / speed


Passive: TypeAlias = BetweenPorts | OnJoint
