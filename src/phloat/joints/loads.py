"""Forces, torques, distributed loads, pressures and tractions: actuators with one scalar input each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import ClassVar, TypeAlias

import numpy as np

from phloat.algebra.metadata import describe
from phloat.errors import InputError, finite
from phloat.joints.ends import NamedRecipe, Vector, unit

AXES = ("inertial", "body")
IN_AXES = describe("in which axes the direction is given", choices=AXES)

Field: TypeAlias = float | Sequence[float] | Callable[..., object]


class Acting(NamedRecipe):
    """Base class of a force, torque or load along (or about) a direction."""

    axes: str
    kind: ClassVar[str] = "force"
    places: ClassVar[tuple[str, ...]] = ("port",)
    written: ClassVar[str] = "'body.port'"
    vector: ClassVar[str] = "along"  # the field with the direction

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axes not in AXES:
            raise InputError(f"axes of {self.label} is {self.axes!r}; it must be 'inertial' or 'body'")
        self.direction()

    def direction(self) -> np.ndarray:
        """The unit vector of the force or torque, (3,)."""
        return unit(f"direction of {self.label}", getattr(self, self.vector))


@dataclass(frozen=True)
class Force(Acting):
    """A force at a port, one number as input, along a direction of inertial axes or of the port's own axes.

    Parameters
    ----------
    port : str
        Where it acts, "body.port".
    along : (3,) sequence of float
        Direction, of any length; the input is the force in N.
    axes : {"inertial", "body"}, optional
        With "body" the direction is fixed in the section of the port and turns with it, A R(Ψη) d: a follower force, which does not
        depend on the frame of the body. On a rigid body these are the body's axes.
    name : str, optional
        Name of the input; "body.port.force" by default.

    Examples
    --------
    >>> box = ph.RigidBody(mass=2.0, inertia=np.eye(3)).discretise()
    >>> joints = [ph.Weld("ground", "box.P", name="foot"), ph.Force("box.P", along=(0.0, 1.0, 0.0), name="push")]
    >>> system = ph.connect({"box": box}, joints=joints)
    >>> ph.reactions(system, ph.place(system), u={"push": 5.0})["foot"][:3].round(9) + 0.0
    array([ 0., -5.,  0.])
    """

    port: str
    along: Vector = field(kw_only=True, metadata=describe("direction of the force", "direction"))
    axes: str = field(default="inertial", kw_only=True, metadata=IN_AXES)
    name: str = field(default="", kw_only=True)

    suffix: ClassVar[str] = ".force"


@dataclass(frozen=True)
class Torque(Acting):
    """A torque at a port, one number as input, about a direction of inertial axes or of the port's own axes.

    It works on ω_C = A (ω + Ψη̇), the angular velocity of the section.

    Parameters
    ----------
    port : str
        Where it acts, "body.port".
    about : (3,) sequence of float
        Axis, of any length; the input is the torque in N m, right-handed.
    axes : {"inertial", "body"}, optional
        With "body" the axis is fixed in the section of the port and turns with it.
    name : str, optional
        Name of the input; "body.port.torque" by default.

    Examples
    --------
    >>> box = ph.RigidBody(mass=2.0, inertia=np.eye(3)).discretise()
    >>> joints = [ph.Weld("ground", "box.P", name="foot"), ph.Torque("box.P", about=(0.0, 0.0, 1.0), name="motor")]
    >>> system = ph.connect({"box": box}, joints=joints)
    >>> ph.reactions(system, ph.place(system), u={"motor": 5.0})["foot"][3:].round(9) + 0.0
    array([ 0.,  0., -5.])
    """

    port: str
    about: Vector = field(kw_only=True, metadata=describe("axis of the torque", "direction"))
    axes: str = field(default="inertial", kw_only=True, metadata=IN_AXES)
    name: str = field(default="", kw_only=True)

    suffix: ClassVar[str] = ".torque"
    vector: ClassVar[str] = "about"
    kind: ClassVar[str] = "torque"


@dataclass(frozen=True)
class Load(Acting):
    """A force spread along a beam, one number as input that multiplies `per_length`.

    Parameters
    ----------
    body : str
        Name of the beam.
    along : (3,) sequence of float
        Direction, of any length.
    per_length : float or callable, optional
        Force per length for the input 1 (N/m), constant or a function of the fraction s of the length.
    axes : {"inertial", "body"}, optional
        With "body" the direction is fixed in every section and turns with it: a distributed follower load.
    name : str, optional
        Name of the input; "body.load" by default.

    Examples
    --------
    >>> beam = ph.Beam(1.0, ph.Rectangle(b=0.02, h=0.01), ph.Material(E=2.1e11, rho=7800.0)).discretise(4)
    >>> joints = [ph.Weld("ground", "beam.P"), ph.Load("beam", along=(0.0, -1.0, 0.0), per_length=10.0, name="wind")]
    >>> system = ph.connect({"beam": beam}, joints=joints, plane="xy")
    >>> bent = ph.equilibrium(system, ph.place(system), u={"wind": 1.0})
    >>> print(f"{1e3 * bent['beam.u_f'][-1, 1]:.3f} mm, {-1e3 * 10.0 / 8 / 350.0:.3f} mm")  # the tip, and −q L⁴/8EI
    -3.571 mm, -3.571 mm
    """

    body: str
    along: Vector = field(kw_only=True, metadata=describe("direction of the force", "direction"))
    per_length: float | Callable[[float], float] = field(
        default=1.0,
        kw_only=True,
        metadata=describe("force per length for an input of 1, or a table {s: …}", "force per length"),
    )
    axes: str = field(default="inertial", kw_only=True, metadata=IN_AXES)
    name: str = field(default="", kw_only=True)

    suffix: ClassVar[str] = ".load"
    quantity: ClassVar[str] = "per_length"
    written: ClassVar[str] = "the name of a body, such as 'rod'"
    places: ClassVar[tuple[str, ...]] = ("body",)
    kind: ClassVar[str] = "load"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.per_length) and finite(f"per_length of {self.label}", self.per_length, ()) == 0.0:
            raise InputError(f"per_length of {self.label} is zero; leave this load out")

    def density(self, s: float) -> float:
        """The force per length at the fraction s of the length, for the input 1."""
        value = self.per_length(s) if callable(self.per_length) else self.per_length
        return float(finite(f"per_length of {self.label} at s = {s:g}", value, ()))


# --- over volumes and surfaces ---------------------------------------------------------------------------------------


class Distributed(NamedRecipe):
    """Base class of a load over a volume or a surface: a number, a vector or a function of position times the scalar input."""

    quantity: ClassVar[str] = "per_area"  # the field with the load for an input of 1
    components: ClassVar[tuple[int, ...]] = (3,)
    kind: ClassVar[str] = "load"
    axes: str = "body"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axes not in AXES:
            raise InputError(f"axes of {self.label} is {self.axes!r}; it must be 'inertial' or 'body'")
        field = getattr(self, self.quantity)
        if not callable(field):
            finite(f"{self.quantity} of {self.label}", field, self.components)

    def at(self, x: np.ndarray) -> np.ndarray:
        """Values at points (points, 3): (points,) or (points, components)."""
        label = f"{self.quantity} of {self.label}"
        values = _values(label, getattr(self, self.quantity), x, *self.components or (1,))
        return values if self.components else values[:, 0]


@dataclass(frozen=True)
class BodyForce(Distributed):
    """A force per volume of a body, or per mass: the distributed input of (15), one number as input.

    The output is the velocity of the body with the same weights, so that their product is the power.

    Parameters
    ----------
    body : str
        Name of the body. Beams, plates and sheets take a force per volume too, which their section or thickness multiplies.
    per_volume : (3,) sequence of float or callable, optional
        Force per volume for the input 1 (N/m³), or a function of arrays x, y, z (m, undeformed) that returns three components.
    per_mass : (3,) sequence of float, optional
        Instead: force per mass (m/s²) in inertial axes, the same everywhere, as gravity is; of any body.
    axes : {"inertial", "body"}, optional
        With "body" the direction is fixed in the material and turns with it. In inertial axes the load costs as much as one
        to six forces, in body axes as much as one force at every quadrature point.
    name : str, optional
        Name of the input; "body.body force" by default.

    Examples
    --------
    A bar of steel hangs by its own weight; ρ g L² / 2E.

    >>> steel = ph.Material(E=2.1e11, rho=7800.0)
    >>> bar = ph.Solid.box(2.0, 0.1, 0.1, material=steel, frame="left", ports={"P": "left", "C": "right"})
    >>> joints = [ph.Weld("ground", "bar.P"), ph.BodyForce("bar", per_volume=(7800.0 * 9.81, 0.0, 0.0), name="pull")]
    >>> system = ph.connect({"bar": bar.discretise((4, 1, 1)).reduced(modes=2)}, joints)
    >>> hangs = ph.equilibrium(system, ph.place(system), u={"pull": 1.0})
    >>> print(f"{1e9 * hangs['bar.u_f'][:, 0].max():.1f} nm, {1e9 * 7800.0 * 9.81 * 2.0**2 / (2 * 2.1e11):.1f} nm")
    728.7 nm, 728.7 nm
    """

    body: str
    per_volume: Sequence[float] | Callable[..., object] | None = field(
        default=None, kw_only=True, metadata=describe("force per volume for an input of 1", "force per volume")
    )
    per_mass: Sequence[float] | None = field(
        default=None, kw_only=True, metadata=describe("force per mass for an input of 1", "acceleration", size=3)
    )
    axes: str = field(default="inertial", kw_only=True, metadata=IN_AXES)
    name: str = field(default="", kw_only=True)

    suffix: ClassVar[str] = ".body force"
    written: ClassVar[str] = "the name of a body, such as 'rod'"
    places: ClassVar[tuple[str, ...]] = ("body",)

    @property
    def quantity(self) -> str:  # type: ignore[override]
        return "per_volume" if self.per_mass is None else "per_mass"

    def __post_init__(self) -> None:
        if (self.per_volume is None) == (self.per_mass is None):
            raise InputError(f"{self.label} needs either per_volume=… or per_mass=…")
        super().__post_init__()


@dataclass(frozen=True)
class Pressure(Distributed):
    """A pressure that follows the deformed surface of a plate, a solid or a sheet; the scalar input multiplies `per_area`.

    It pushes a plate along its normal (z of the undeformed plate) and a solid inwards, per area of the surface as it is deformed.
    A uniform pressure all around a body therefore has no resultant, and its work is that of the enclosed volume.

    Parameters
    ----------
    surface : str
        A plate, by its name, or "plate.region"; "body.boundary" of a solid or a sheet.
    per_area : float or callable, optional
        Pressure for the input 1 (N/m²; N/m on the edge of a sheet), or a function of arrays x, y or x, y, z (m, undeformed).
    name : str, optional
        Name of the input; "surface.pressure" by default.

    Examples
    --------
    A cube under a pressure of 1 GPa on all six sides is shorter by p (1 − 2ν) / E.

    >>> cube = ph.Solid.box(1.0, 1.0, 1.0, material=ph.Material(E=2.1e11, rho=7800.0, nu=0.3), frame="mean axes")
    >>> sides = ("left", "right", "bottom", "top", "back", "front")
    >>> cube = cube.discretise((2, 2, 2)).reduced(modes=2, loaded=sides)
    >>> system = ph.connect({"cube": cube}, [ph.Pressure(f"cube.{side}", 1e9, name=side) for side in sides])
    >>> squeezed = ph.settle(system, ph.place(system), u=dict.fromkeys(sides, 1.0))
    >>> print(f"{np.ptp(squeezed['cube.u_f'][:, 0]):.6f} m, {1e9 * (1 - 2 * 0.3) / 2.1e11:.6f} m")
    0.001905 m, 0.001905 m
    """

    surface: str
    per_area: float | Callable[..., object] = field(
        default=1.0, metadata=describe("pressure for an input of 1", "stress")
    )
    name: str = field(default="", kw_only=True)

    suffix: ClassVar[str] = ".pressure"
    written: ClassVar[str] = "the name of a plate, or 'body.boundary'"
    places: ClassVar[tuple[str, ...]] = ("surface",)
    components: ClassVar[tuple[int, ...]] = ()


@dataclass(frozen=True)
class Traction(Distributed):
    """A force per area of a boundary of a solid or of a plate, or per length of an edge; the scalar input multiplies `per_area`.

    Areas and lengths are those of the undeformed body. The output is the velocity of the boundary with the same weights, y_∂ + y_r
    of (15).

    Parameters
    ----------
    boundary : str
        "body.boundary"; a plate, by its name, for its whole surface; "body.region" of a plate or a sheet.
    per_area : (3,) sequence of float or callable, optional
        Force per area for the input 1 (N/m²; N/m on edges), or a function of arrays x, y, z (m, undeformed) that returns three
        components.
    axes : {"inertial", "body"}, optional
        With "body" the direction is fixed in the material at every point and turns with it.
    name : str, optional
        Name of the input; "boundary.traction" by default.

    Examples
    --------
    A bar pulled by 1 MPa at its end is longer by τ L / E.

    >>> steel = ph.Material(E=2.1e11, rho=7800.0)
    >>> bar = ph.Solid.box(2.0, 0.1, 0.1, material=steel, frame="left", ports={"P": "left", "C": "right"})
    >>> joints = [ph.Weld("ground", "bar.P"), ph.Traction("bar.right", (1e6, 0.0, 0.0), name="pull")]
    >>> system = ph.connect({"bar": bar.discretise((4, 1, 1)).reduced(modes=2)}, joints)
    >>> pulled = ph.equilibrium(system, ph.place(system), u={"pull": 1.0})
    >>> print(f"{1e6 * pulled['bar.u_f'][:, 0].max():.4f} µm, {1e6 * 1e6 * 2.0 / 2.1e11:.4f} µm")
    9.5238 µm, 9.5238 µm
    """

    boundary: str
    per_area: Sequence[float] | Callable[..., object] = field(
        default=(0.0, 0.0, 1.0), metadata=describe("force per area for an input of 1", "stress")
    )
    axes: str = field(default="inertial", kw_only=True, metadata=IN_AXES)
    name: str = field(default="", kw_only=True)

    suffix: ClassVar[str] = ".traction"
    written: ClassVar[str] = "'body.boundary', or the name of a plate"
    places: ClassVar[tuple[str, ...]] = ("boundary",)


def _values(label: str, field: Field, x: np.ndarray, components: int) -> np.ndarray:
    """The values of a number, a vector or a function at points, (points, components)."""
    if not callable(field):
        return np.tile(np.asarray(field, dtype=float).reshape(1, components), (len(x), 1))
    if not any(_takes(field, count) for count in (2, 3)):
        raise InputError(
            f"{label} is a function that does not take two or three arguments; it must be one of x, y (and z)"
        )
    value = field(*(x.T if _takes(field, 3) else x.T[:2]))
    rows = np.atleast_1d(np.asarray(value, dtype=object) if isinstance(value, (list, tuple)) else np.asarray(value))
    spread = np.zeros((components, len(x)))
    try:
        spread[:] = np.array([np.broadcast_to(row, len(x)) for row in rows], dtype=float) if components > 1 else rows
    except (ValueError, TypeError):
        raise InputError(
            f"{label} gives {value!r} at {len(x)} points; it must give "
            f"{'a number' if components == 1 else f'{components} numbers'} for each point"
        ) from None
    return finite(label, spread.T, (len(x), components))


def _takes(function: Callable[..., object], count: int) -> bool:
    """Whether a function takes so many arguments."""
    try:
        signature(function).bind(*count * (0.0,))
    except TypeError:
        return False
    except ValueError:  # a function without a signature, as most of NumPy's
        return True
    return True
