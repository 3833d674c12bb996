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
        default=1.0, kw_only=True, metadata=describe("force per length for an input of 1, or a table {s: …}")
    )
    axes: str = field(default="inertial", kw_only=True, metadata=IN_AXES)
    name: str = field(default="", kw_only=True)

    suffix: ClassVar[str] = ".load"
    written: ClassVar[str] = "the name of a body, such as 'rod'"
    places: ClassVar[tuple[str, ...]] = ("body",)
    kind: ClassVar[str] = "load"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.per_length) and finite(f"per_length of {self.label}", self.per_length, ()) == 0.0:
            raise InputError(f"per_length of {self.label} is zero; nothing would ever push")

    def density(self, s: float) -> float:
        """The force per length at the fraction s of the length, for the input 1."""
        value = self.per_length(s) if callable(self.per_length) else self.per_length
        return float(finite(f"per_length of {self.label} at s = {s:g}", value, ()))


# --- on bodies on meshes ---------------------------------------------------------------------------------------------


class Pushing(NamedRecipe):
    """Base class of a force per area of a body on a mesh: a number, a vector or a function of position."""

    per_area: Field
    components: ClassVar[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.per_area):
            finite(f"per_area of {self.label}", self.per_area, self.components)

    def at(self, x: np.ndarray) -> np.ndarray:
        """Values at points (points, 3): (points,) or (points, components)."""
        values = _values(f"per_area of {self.label}", self.per_area, x, *self.components or (1,))
        return values if self.components else values[:, 0]


@dataclass(frozen=True)
class Pressure(Pushing):
    """A force along z per area of a plate; the scalar input multiplies `per_area`.

    `per_area` (N/m² for the input 1) is a number or a function of arrays x and y.
    """

    body: str
    per_area: float | Callable[..., object] = field(
        default=1.0, metadata=describe("force along z per area for an input of 1")
    )
    name: str = field(default="", kw_only=True)

    suffix: ClassVar[str] = ".pressure"
    written: ClassVar[str] = "the name of a body, such as 'plate'"
    places: ClassVar[tuple[str, ...]] = ("body",)


@dataclass(frozen=True)
class Traction(Pushing):
    """A force per area on a boundary of a solid, or per length on an edge; the scalar input multiplies `per_area`.

    `per_area` (N/m² or N/m for the input 1) is a vector, or a function of arrays x, y, z that returns three components.
    """

    boundary: str
    per_area: Sequence[float] | Callable[..., object] = field(
        default=(0.0, 0.0, 1.0), metadata=describe("force per area for an input of 1")
    )
    name: str = field(default="", kw_only=True)

    suffix: ClassVar[str] = ".traction"
    written: ClassVar[str] = "'body.boundary'"
    components: ClassVar[tuple[int, ...]] = (3,)
    places: ClassVar[tuple[str, ...]] = ("boundary",)


def _values(label: str, field: Field, x: np.ndarray, components: int) -> np.ndarray:
    """The values of a number, a vector or a function at points, (points, components)."""
    if not callable(field):
        return np.tile(np.asarray(field, dtype=float).reshape(1, components), (len(x), 1))
    value = field(*(x.T if _takes_three(field) else x.T[:2]))
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


def _takes_three(function: Callable[..., object]) -> bool:
    """Whether a function takes x, y and z; else x and y only."""
    try:
        signature(function).bind(0.0, 0.0, 0.0)
    except TypeError:
        return False
    except ValueError:  # a function without a signature, as most of NumPy's
        return True
    return True
