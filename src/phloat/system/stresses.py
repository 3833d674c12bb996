"""Stress of a body anywhere, from the stress states themselves: at points, von Mises' stress, and where it is largest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phloat.bodies.body import Body
from phloat.errors import InputError, finite

COMPONENTS = ("xx", "yy", "zz", "yz", "xz", "xy")


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
        """At every point, (points,)."""
        return von_mises(self.sigma)

    @property
    def largest(self) -> tuple[float, np.ndarray]:
        """The largest von Mises stress and its point."""
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
    """The stress for given states σ, at given material points or where the body keeps its stresses."""
    x = body.shape.stress_points() if points is None else _points(points)
    if not body.stresses:
        raise InputError("a rigid body has no stress; make it elastic")
    return StressField(x, (body.shape.cauchy(x) @ sigma).reshape(-1, 6))


def point(at: object) -> np.ndarray:
    """One material point as a row of points."""
    return finite("at", at, (3,))[None, :]


def _points(points: object) -> np.ndarray:
    x = np.asarray(points)
    if x.ndim != 2 or x.shape[1] != 3 or not len(x):
        raise InputError(f"points have shape {x.shape}; they must be rows (x, y, z) in body axes, one at least")
    return finite("points", x, x.shape)
