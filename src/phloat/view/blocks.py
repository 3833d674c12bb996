"""What rigid bodies look like: balls, boxes and cylinders that weigh and turn as they do, with bars to their ports."""

from __future__ import annotations

import numpy as np

from phloat.bodies.rigid import PointMass, RigidBody
from phloat.view.surfaces import Surface, box, cylinder, sphere, together

STEEL = 7850.0  # kg/m³


def ball(recipe: PointMass, least: float, most: float) -> Surface:
    """A point mass as a ball of steel, with a radius between the two."""
    radius = (3.0 * recipe.mass / (4.0 * np.pi * STEEL)) ** (1 / 3)
    return sphere(np.zeros(3), float(np.clip(radius, least, most)))


def block(recipe: RigidBody, thin: float, most: float) -> Surface:
    """The box, or round bar, of even density that has the mass and inertia of a rigid body, and bars to ports outside of it.

    It is made smaller where it would cover a port, and no side is thinner or longer than told.
    """
    center = np.asarray(recipe.center, dtype=float)
    J, axes = np.linalg.eigh(np.asarray(recipe.inertia, dtype=float))
    sides = np.sqrt(np.maximum(6.0 * (J.sum() - 2.0 * J) / recipe.mass, 0.0))
    ports = np.array([np.zeros(3), *(np.asarray(x, dtype=float) for x in recipe.ports.values())]) - center
    out = (np.abs(ports @ axes) / np.maximum(0.5 * sides, 0.5 * thin)).max(axis=1)  # 1 on the faces of the box
    apart = np.linalg.norm(ports, axis=1) > thin
    shrunk = min(1.0, float(out[apart].min(initial=np.inf)), most / max(float(sides.max()), thin))
    sides = np.maximum(shrunk * sides, thin)
    k = _axis(J)
    if k is None:
        body = box(center, axes, sides)
    else:
        half, radius = 0.5 * sides[k] * axes[:, k], shrunk * float(np.sqrt(2.0 * J[k] / recipe.mass))
        body = cylinder(center - half, center + half, max(radius, 0.5 * thin), 32)
    bars = [
        cylinder(center, center + x, 0.6 * thin, 12) for x, far in zip(ports, out, strict=True) if far > 1.02 * shrunk
    ]
    return together(body, *bars)


def _axis(J: np.ndarray) -> int | None:
    """The axis about which a body is round: its other two moments are equal, and differ from that one."""
    for k in range(3):
        a, b = (float(value) for value in np.delete(J, k))
        if abs(a - b) <= 1e-6 * b and abs(float(J[k]) - a) > 1e-6 * b:
            return k
    return None
