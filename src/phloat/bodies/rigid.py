"""Rigid bodies and point masses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from phloat.algebra.metadata import describe, optional
from phloat.algebra.sparse import Matrix, symmetry_defect, zero_matrix
from phloat.algebra.units import in_si
from phloat.bodies.body import Body, Port, Recipe
from phloat.bodies.construction import Construction
from phloat.bodies.inertia import Inertia, rigid_inertia
from phloat.bodies.shape import Shape
from phloat.bodies.strain import no_elastic
from phloat.errors import InputError, as_array, finite, mapping, port_name, positive

Point = Sequence[float]


@dataclass(frozen=True)
class RigidBody:
    """A rigid body, whose axes start at port P.

    Parameters
    ----------
    mass : float
        Mass (kg).
    inertia : (3, 3) or (3,) array_like
        Inertia about the mass centre, in the axes of the body, or the three moments about these axes (kg m²).
    center : (3,) array_like, optional
        Mass centre seen from port P (m).
    ports : dict, optional
        Further ports, {name: (x, y, z)}, seen from port P (m).

    Raises
    ------
    InputError
        If the inertia is not symmetric and positive definite, or no distribution of mass can have it.

    Examples
    --------
    A rod of length 1 m that hangs from one end swings with √(3g/2L).

    >>> rod = ph.RigidBody(mass=2.0, inertia=np.eye(3) / 6, center=(0.5, 0.0, 0.0), ports={"tip": (1.0, 0.0, 0.0)})
    >>> pivot = ph.Revolute("ground", "rod.P", name="pivot")
    >>> pendulum = ph.connect({"rod": rod.discretise()}, joints=[pivot], plane="xy", gravity=(0.0, -9.81, 0.0))
    >>> hanging = ph.place(pendulum, {"rod.theta": -np.pi / 2})
    >>> omega = ph.modes(ph.linearise(pendulum, hanging))[0]
    >>> print(f"{omega:.3f} {np.sqrt(1.5 * 9.81):.3f} rad/s")
    3.836 3.836 rad/s
    """

    mass: float = field(metadata=describe("mass", "mass", above=0.0))
    inertia: np.ndarray = field(metadata=describe("about the mass centre: the diagonal, or three rows", "inertia"))
    center: Point = optional((0.0, 0.0, 0.0), "mass centre, seen from port P", "length")
    ports: Mapping[str, Point] = optional(dict, "further ports, {name: place seen from port P}", "length")

    def __post_init__(self) -> None:
        in_si(self)
        positive("mass", self.mass)
        finite("mass centre", self.center, (3,))
        if as_array(self.inertia).shape == (3,):  # principal moments
            object.__setattr__(self, "inertia", np.diag(self.inertia))
        J = finite("inertia", self.inertia, (3, 3))
        if (defect := symmetry_defect(J)) > 1e-9:
            raise InputError(f"inertia is not symmetric: relative defect {defect:.1e}")
        a, b, c = np.linalg.eigvalsh(J)
        if not a > 0.0:
            raise InputError(f"inertia must be positive definite; its principal values are {a:g}, {b:g}, {c:g}")
        if a + b < c * (1 - 1e-9):
            raise InputError(
                f"no mass has the principal inertias {a:g}, {b:g}, {c:g}: the largest exceeds the sum of the others; "
                "is the inertia about the mass centre?"
            )

        for name, x in mapping("ports", self.ports, "{name: (x, y, z)}").items():
            finite(f"port {port_name(name)!r}", x, (3,))
            if name == "P":
                raise InputError("port 'P' is the origin of every rigid body; give the port another name")

    def discretise(self) -> Body:
        points = {"P": np.zeros(3)} | {n: finite(f"port {n!r}", x, (3,)) for n, x in self.ports.items()}
        inertia = rigid_inertia(self.mass, np.asarray(self.center, float), np.asarray(self.inertia, float))
        return _rigid(self, inertia, points, (0, 1, 2, 3, 4, 5))


@dataclass(frozen=True)
class PointMass:
    """A mass with a position and no orientation; its one port is P.

    Parameters
    ----------
    mass : float
        Mass (kg).

    Examples
    --------
    A mass of 2 kg stretches a spring of 200 N/m by 0.1 m.

    >>> spring = ph.Spring("ground", "mass.P", stiffness=200.0, length=1.0)
    >>> system = ph.connect({"mass": ph.PointMass(2.0).discretise()}, joints=[spring], gravity=(0.0, 0.0, -10.0))
    >>> hanging = ph.equilibrium(system, ph.place(system, {"mass.r_P": (0.0, 0.0, -1.0)}))
    >>> print(f"{hanging['mass.r_P'][2]:.3f}")
    -1.100
    """

    mass: float = field(metadata=describe("mass", "mass", above=0.0))

    def __post_init__(self) -> None:
        in_si(self)
        positive("mass", self.mass)

    def discretise(self) -> Body:
        inertia = rigid_inertia(self.mass, np.zeros(3), np.zeros((3, 3)))
        return _rigid(self, inertia, {"P": np.zeros(3)}, (0, 1, 2))


@dataclass(frozen=True, eq=False)
class RigidShape(Shape):
    """The shape of a rigid body, drawn by its ports: place s is the number of a port."""

    x_ports: np.ndarray

    def places(self) -> np.ndarray:
        return np.arange(len(self.x_ports), dtype=float)

    def points(self, s: np.ndarray) -> np.ndarray:
        if not np.isin(s, self.places()).all():
            last = len(self.x_ports) - 1
            raise InputError(
                f"place {s} is no port of this rigid body, whose ports are numbered 0 to {last}; give at=(x, y, z) in body axes, "
                "or a port by its name, such as 'payload.P'"
            )
        return self.x_ports[np.asarray(s, dtype=int)]

    def displacement(self, s: np.ndarray) -> Matrix:
        return zero_matrix(3 * len(s), 0)

    def rotation(self, s: np.ndarray) -> Matrix:
        return zero_matrix(3 * len(s), 0)

    def material(self, x: np.ndarray) -> Matrix:
        return zero_matrix(3 * len(x), 0)

    def cauchy(self, x: np.ndarray) -> Matrix:
        raise InputError("a rigid body has no stress; make it elastic")

    def stress_points(self) -> np.ndarray:
        return np.zeros((0, 3))


def _rigid(recipe: Recipe, inertia: Inertia, points: dict[str, np.ndarray], active: tuple[int, ...]) -> Body:
    """A body without deformation with ports at points, {name: x}."""
    none = np.zeros((3, 0))
    ports = {name: Port(x, none, none) for name, x in points.items()}
    empty = np.zeros(0, dtype=bool)
    shape = RigidShape(np.array(list(points.values())))
    construction = Construction(recipe).then("discretise")
    return Body(recipe, inertia, no_elastic(), ports, shape, (empty, empty), active, construction=construction)
