"""Forces, torques and distributed loads: inputs that act at ports, or along beams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from phloat.algebra.metadata import describe
from phloat.errors import InputError, PortError, finite
from phloat.joints.ends import Vector, unit, word

AXES = ("inertial", "body")
IN_AXES = describe("in which axes the direction is given", choices=AXES)


@dataclass(frozen=True)
class Force:
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

    def __post_init__(self) -> None:
        _acting(self, self.port, "port")
        self.direction()

    @property
    def label(self) -> str:
        """Its name, or that of its port."""
        return self.name or f"{self.port}.force"

    def direction(self) -> np.ndarray:
        """The unit vector of the force for the input 1."""
        return unit(f"direction of {self.label}", self.along)


@dataclass(frozen=True)
class Torque:
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

    def __post_init__(self) -> None:
        _acting(self, self.port, "port")
        self.direction()

    @property
    def label(self) -> str:
        """Its name, or that of its port."""
        return self.name or f"{self.port}.torque"

    def direction(self) -> np.ndarray:
        """The unit vector of the torque for the input 1."""
        return unit(f"direction of {self.label}", self.about)


@dataclass(frozen=True)
class Load:
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

    def __post_init__(self) -> None:
        _acting(self, self.body, "body")
        self.direction()
        if not callable(self.per_length) and finite(f"per_length of {self.label}", self.per_length, ()) == 0.0:
            raise InputError(f"per_length of {self.label} is zero; nothing would ever push")

    @property
    def label(self) -> str:
        """Its name, or that of its body."""
        return self.name or f"{self.body}.load"

    def direction(self) -> np.ndarray:
        """The unit vector of the force for the input 1."""
        return unit(f"direction of {self.label}", self.along)

    def density(self, s: float) -> float:
        """The force per length at the fraction s of the length, for the input 1."""
        value = self.per_length(s) if callable(self.per_length) else self.per_length
        return float(finite(f"per_length of {self.label} at s = {s:g}", value, ()))


Acting: TypeAlias = Force | Torque | Load


def _acting(recipe: Acting, on: object, kind: str) -> None:
    """What forces, torques and loads have in common."""
    if not isinstance(on, str):
        raise PortError(f"{type(recipe).__name__}: {on!r} names no {kind}")
    word(f"the {type(recipe).__name__} on {on}", recipe.name)
    if recipe.axes not in AXES:
        raise InputError(f"axes of {recipe.label} is {recipe.axes!r}; it must be 'inertial' or 'body'")
