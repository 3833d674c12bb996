"""Forces, torques and distributed loads on a body: vectors at ports, or the polynomials of a pressure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.area_force import AreaForce, area_polynomials
from phloat.bodies.body import Body, Port
from phloat.bodies.continua.continuum import Continuum, coordinates_on_mesh
from phloat.bodies.shape import second_displacement
from phloat.errors import InputError, JointError
from phloat.fem.interval import GAUSS_POINTS, gauss
from phloat.joints.curves import breaks
from phloat.joints.loads import Acting, BodyForce, Distributed, Load, Pressure
from phloat.joints.port_state import section_axes
from phloat.system.state import Pose

# quadrature points in an element for a load that turns with the sections: exact for cubic deflections, constant density
FOLLOWING = 3

Forces = tuple[tuple[np.ndarray, Port], ...]


@dataclass(frozen=True, eq=False)
class Actuator:
    """One scalar input, a force or a torque (`kind`) on a body: the sum of vectors at ports, or the force of a pressure.

    Vectors are in `axes`: "inertial", or "body", the axes of the section at each port.
    """

    name: str
    recipe: Acting | Distributed
    body: str
    kind: str
    axes: str
    forces: Forces
    area: AreaForce | None = None

    def effort(self, body: Body, pose: Pose) -> np.ndarray:
        """Generalised force (6 + n,) on (v_P, ω, η̇) for the input 1: Σ (∂ċ/∂…)ᵀ f of forces, Σ (∂ω_C/∂…)ᵀ τ of torques."""
        out = np.zeros(6 + body.coordinates) if self.area is None else self.area.at(pose.eta)[0]
        for vector, port in self.forces:
            twist = port.twist(pose.eta)
            out += self.in_body(vector, port, pose) @ (twist[:3] if self.kind == "force" else twist[3:])
        return out

    def in_body(self, vector: np.ndarray, port: Port, pose: Pose) -> np.ndarray:
        """A vector at a port, in the axes of the body's frame."""
        if self.axes == "inertial":
            return np.asarray(pose.A.T @ vector)
        return np.asarray(section_axes(port.Psi @ pose.eta) @ vector)


# --- distributed loads -----------------------------------------------------------------------------------------------


def load_on(recipe: Load | Distributed, name: str, body: Body, part: str) -> tuple[Forces, AreaForce | None]:
    """The forces of a distributed load on a part of a body ("" for all of it). Raises InputError if they are all zero."""
    if isinstance(recipe, Pressure):
        return (), _pressure(recipe, name, body, part)
    if isinstance(recipe, Load):
        forces = _load_along(recipe, name, body)
    elif isinstance(recipe, BodyForce) and recipe.per_mass is not None:
        forces = _per_mass(recipe, name, body)
    else:
        forces = _traction(recipe, name, body, part)
    _require_load(recipe, name, bool(forces))
    return forces, None


def _require_load(recipe: Load | Distributed, name: str, acts: bool) -> None:
    if not acts:
        raise InputError(f"{recipe.quantity} of {recipe.label} is zero everywhere on {name!r}; leave this load out")


def _load_along(load: Load, name: str, body: Body) -> Forces:
    stations = _stations(body)
    if stations is None:
        raise JointError(f"Load {load.label!r}: {name!r} is no beam; use Force(…) at a port instead")
    smooth = breaks(f"per_length of {load.label}", load.density, stations) if callable(load.per_length) else stations
    s, weight = _along(body, smooth, load.axes)
    force = weight * np.array([load.density(float(x)) for x in s])
    return _spread(load.axes, load.direction()[None], force[:, None], *_fields_along(body, s))


def _stations(body: Body) -> np.ndarray | None:
    """The fractions of the length at which the elements of a beam begin and end; None for other bodies."""
    s = body.shape.places()
    return s if body.coordinates and s.ndim == 1 and len(s) > 2 and s[0] == 0.0 and s[-1] == 1.0 else None


def _along(body: Body, stations: np.ndarray, axes: str) -> tuple[np.ndarray, np.ndarray]:
    """Quadrature points of a beam between stations, as fractions of its length, with weights (m)."""
    ends = body.shape.places()
    lengths = np.linalg.norm(np.diff(body.shape.points(ends), axis=0), axis=1) / np.diff(ends)
    s, weight = gauss(stations, FOLLOWING if axes == "body" else GAUSS_POINTS)
    return s, weight * lengths[np.searchsorted(ends, s) - 1]


def _fields_along(body: Body, s: np.ndarray) -> tuple[np.ndarray, Matrix, Matrix, np.ndarray | None]:
    """Points, Φ, Ψ and Φ₂ at fractions s of the length of a beam."""
    shape = body.shape
    return shape.points(s), shape.displacement(s), shape.rotation(s), second_displacement(shape, s)


def _spread(
    axes: str,
    directions: np.ndarray,
    f: np.ndarray,
    x: np.ndarray,
    Phi: Matrix,
    Psi: Matrix,
    second: np.ndarray | None = None,
) -> Forces:
    """Forces Σ f_k direction_k (f: points × directions) as vectors at ports; Φ, Ψ and Φ₂ have rows x, y, z of each point.

    A load in inertial axes is ∫ f δx = Σ w δx_w with w = ∫f, x_w = ∫f x / w, Φ_w = ∫f Φ / w, exactly: the positive and the
    negative part of f along each direction give one port each. In axes of the sections every point is a port.
    """
    out = []
    if axes == "body":
        for k in np.flatnonzero(f.any(axis=1)):
            Phi_k, Psi_k = (np.asarray(field[3 * k : 3 * k + 3].todense()) for field in (csr(Phi), csr(Psi)))
            Phi_2 = None if second is None else second[3 * k : 3 * k + 3]
            out.append((f[k] @ directions, Port(x[k], Phi_k, Psi_k, Phi_2)))
        return tuple(out)
    for direction, column in zip(directions, f.T, strict=True):
        for half in (np.maximum(column, 0.0), np.minimum(column, 0.0)):
            if (total := float(half.sum())) != 0.0:
                mean = half / total
                Phi_w = np.array([Phi[i::3].T @ mean for i in range(3)])
                Phi_2 = None if second is None else np.array([np.tensordot(mean, second[i::3], 1) for i in range(3)])
                out.append((total * direction, Port(mean @ x, Phi_w, np.zeros_like(Phi_w), Phi_2)))
    return tuple(out)


def _per_mass(load: BodyForce, name: str, body: Body) -> Forces:
    """The forces of an acceleration b: m b at the mass centre, ∫ρΦᵀb on the coordinates."""
    if load.axes == "body" and body.coordinates:
        raise InputError(
            f"{load.label} turns with the material of {name!r}, which deforms; give it per_volume=…, or axes='inertial'"
        )
    I, b = body.inertia, load.at(np.zeros((1, 3)))[0]
    mean, second = I.S / I.m, None if I.second is None else I.second.S / I.m
    return ((I.m * b, Port(I.s0 / I.m, mean, np.zeros_like(mean), second)),) if b.any() else ()


def _traction(load: Distributed, name: str, body: Body, part: str) -> Forces:
    """The forces of a traction or of a force per volume, at the quadrature points of a boundary or of the body."""
    stations, on_volume = _stations(body), isinstance(load, BodyForce)
    if on_volume and stations is not None:
        s, weight = _along(body, _smooth_parts(load, body, stations), load.axes)
        x, *fields = _fields_along(body, s)
        weight = weight * np.array([section.A for section in body.shape.cross_sections(x[:, 0])])
    else:
        weight, x, *fields = _fields_on_mesh(load, name, body, part, on_volume)
    return _spread(load.axes, np.eye(3), weight[:, None] * load.at(x), x, *fields)


def _smooth_parts(load: Distributed, body: Body, stations: np.ndarray) -> np.ndarray:
    """The stations of a beam, with the corners and jumps of a force per volume along it."""
    if not callable(getattr(load, load.quantity)):
        return stations
    start, end = body.shape.points(np.array([0.0, 1.0]))
    value = cache(lambda s: load.at((start + s * (end - start))[None])[0])
    for k in range(3):
        component = lambda s, k=k: float(value(s)[k])  # noqa: E731
        stations = breaks(f"{load.quantity} of {load.label}", component, stations)
    return stations


def _fields_on_mesh(
    load: Distributed, name: str, body: Body, part: str, on_volume: bool
) -> tuple[np.ndarray, np.ndarray, Matrix, Matrix]:
    """Weights, points, Φ and Ψ of the quadrature points."""
    continuum, V = _on_mesh(load, name, body)
    trace = continuum.volume() if on_volume else continuum.loaded_part(part, load.label)
    Psi = csr((3 * len(trace.x), V.shape[1]))
    if load.axes == "body":
        Psi = csr(_interleaved(trace.turn, V)) if trace.turn else csr(continuum.shape.rotation(trace.x) @ V)
    return trace.weight, trace.x, csr(_interleaved(trace.u, V)), Psi


def _interleaved(three: tuple[Matrix, Matrix, Matrix], V: np.ndarray) -> np.ndarray:
    """Fields in the coordinates of the body, rows x, y, z of each point."""
    return _stacked(three, V).reshape(-1, V.shape[1])


def _stacked(three: tuple[Matrix, Matrix, Matrix], V: np.ndarray) -> np.ndarray:
    return np.stack([matrix @ V for matrix in three], axis=1)


def _on_mesh(load: Distributed, name: str, body: Body) -> tuple[Continuum, np.ndarray]:
    found = coordinates_on_mesh(body)
    if found is None:
        kind = type(body.recipe).__name__
        instead = "Load(…) along it or BodyForce(…)" if kind == "Beam" else "Force(…) or BodyForce(…, per_mass=…)"
        raise InputError(f"{load.label} acts on {name!r}, a {kind}, which has no mesh; use {instead}")
    return found


def _pressure(load: Pressure, name: str, body: Body, part: str) -> AreaForce:
    """The polynomials of a pressure: along the normal of a plate, inwards on other boundaries."""
    continuum, V = _on_mesh(load, name, body)
    surface = continuum.surface(part, load.label)
    weight = surface.weight * load.at(surface.x) * (1.0 if continuum.is_plate else -1.0)
    _require_load(load, name, bool(weight.any()))
    first, second = (_stacked(slope, V) for slope in surface.slopes)
    return area_polynomials(surface.x, weight, surface.tangents, _stacked(surface.u, V), (first, second))
