"""Stress of bodies from their stress states σ: at points, von Mises stress, and the largest value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from phloat.bodies.beams.section import Shaped
from phloat.bodies.body import Body
from phloat.errors import InputError, PortError, finite, unknown

COMPONENTS = ("xx", "yy", "zz", "yz", "xz", "xy")
SYNONYMS = {"n_x": "N", "m_x": "M_z"}  # names of the paper, for its beam in a plane
PLACES = np.linspace(0.0, 1.0, 5)  # fractions of the length of a beam at which the type of its section is checked

Value = TypeVar("Value")


class Resultants(dict[str, Value]):
    """Stress resultants by name (N, M_z … of a beam). The paper's n_x and m_x are other names of N and M_z."""

    def __missing__(self, name: str) -> Value:
        if name not in self:
            raise PortError(unknown("stress", name, self))
        return self[resultant_name(name)]

    def __contains__(self, name: object) -> bool:
        return super().__contains__(resultant_name(name))

    def get(self, name: str, default: Any = None) -> Any:
        """The resultant, or `default` if there is none of that name."""
        return self[name] if name in self else default


def resultant_name(name: Any) -> Any:
    """The name of a stress resultant: N for n_x, M_z for m_x, others unchanged."""
    return SYNONYMS.get(name, name) if isinstance(name, str) else name


@dataclass(frozen=True, eq=False)
class StressField:
    """Cauchy's stress at points of a body, body axes: `sigma` (points, 6) in the order xx, yy, zz, yz, xz, xy."""

    points: np.ndarray
    sigma: np.ndarray

    def __getitem__(self, component: str) -> np.ndarray:
        if component not in COMPONENTS:
            raise InputError(f"no stress component {component!r}; there are: {', '.join(COMPONENTS)}")
        return self.sigma[:, COMPONENTS.index(component)]

    @cached_property
    def von_mises(self) -> np.ndarray:
        """The von Mises stress at every point, (points,)."""
        return von_mises(self.sigma)

    @property
    def largest(self) -> tuple[float, np.ndarray]:
        """The largest von Mises stress (Pa) and its point (3,)."""
        k = int(self.von_mises.argmax())
        return float(self.von_mises[k]), self.points[k]

    def __repr__(self) -> str:
        value, point = self.largest
        return (
            f"StressField({len(self.points)} points; largest von Mises {value:.4g} Pa at {np.round(point, 6).tolist()})"
        )


def von_mises(sigma: np.ndarray) -> np.ndarray:
    """√(½ Σ (σ_a − σ_b)² + 3 Σ τ²) over the last axis, xx yy zz yz xz xy."""
    x, y, z, yz, xz, xy = np.moveaxis(sigma, -1, 0)
    return np.sqrt(0.5 * ((x - y) ** 2 + (y - z) ** 2 + (z - x) ** 2) + 3.0 * (yz**2 + xz**2 + xy**2))


def stress_field(body: Body, sigma: np.ndarray, points: object = None) -> StressField:
    """The stress for stress states σ at these material points, by default at the stress points of the body."""
    if not body.stresses:
        raise InputError("a rigid body has no stress; make it elastic")
    x = stress_points(body) if points is None else inside(body, _points(points))
    return StressField(x, stress_at(body, sigma[None], x)[0])


def stress_points(body: Body) -> np.ndarray:
    """The material points at which the largest stress is searched. Raises InputError for a beam with a section of unknown shape."""
    if not all(isinstance(s, Shaped) for s in body.shape.cross_sections(body.extent * PLACES)):
        raise InputError(
            "the largest stress of a beam needs the shape of its section, and this one is known by A, I … only; use "
            "Rectangle, Circle or Tube, or ask for the stress at a point: stress(body, s=…, y=…, z=…)"
        )
    return body.shape.stress_points()


def stress_at(body: Body, sigma: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Stress for states σ (times, stresses) at material points: (times, points, 6). Shear is NaN in sections of unknown shape."""
    rows = body.shape.cauchy(x)
    out = (rows @ sigma.T).T.reshape(len(sigma), len(x), 6)
    unknown_shear = [k for k, s in enumerate(body.shape.cross_sections(x[:, 0])) if not isinstance(s, Shaped)]
    out[:, unknown_shear, 4:] = np.nan
    return out


def inside(body: Body, x: np.ndarray) -> np.ndarray:
    """Returns the points x. Raises InputError if one lies outside the section of a beam."""
    for (_, y, z), section in zip(x, body.shape.cross_sections(x[:, 0]), strict=False):  # no sections: no beam
        if ends := section.outside(y, z):
            raise InputError(f"the point y = {y:g}, z = {z:g} lies outside the section: {ends}")
    return x


def on_section(body: Body, place: np.ndarray, y: float | None, z: float | None) -> np.ndarray:
    """The material point (1, 3) at (y, z) of the section at a fraction of the length of a beam."""
    return inside(body, body.shape.points(place) + np.array([[0.0, y or 0.0, z or 0.0]]))


def point(position: object) -> np.ndarray:
    """One material point as an array (1, 3)."""
    return finite("at", position, (3,))[None, :]


def _points(points: object) -> np.ndarray:
    x = np.asarray(points)
    if x.ndim != 2 or x.shape[1] != 3 or not len(x):
        raise InputError(f"points have shape {x.shape}; they must be rows (x, y, z) in body axes, one at least")
    return finite("points", x, x.shape)
