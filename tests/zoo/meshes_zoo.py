"""Meshes for tests: every kind of cell and both orders; regular, with displaced inner nodes, and curved."""

from dataclasses import replace

import numpy as np

from phloat.bodies.material import Material
from phloat.bodies.solids.solid import Sheet, Solid
from phloat.fem.shapes import box, rectangle

PLANAR = ("triangle", "quadrilateral")
SPATIAL = ("tetrahedron", "hexahedron")
ALL = [(kind, order) for kind in (*PLANAR, *SPATIAL) for order in (1, 2)]
rubber = Material(E=3.0, nu=0.35, rho=2.0)


def unit(kind, order, n=2):
    """A regular mesh of the unit square or cube, n blocks along each side."""
    if kind in PLANAR:
        return rectangle(1.0, 1.0, n, n, kind=kind).of_order(order)
    return box(1.0, 1.0, 1.0, n, n, n, kind=kind).of_order(order)


def distorted(kind, order, n=2):
    """The unit square or cube with randomly displaced inner corners; edges stay straight."""
    mesh = unit(kind, 1, n)
    d = mesh.dimension
    inner = ((mesh.points[:, :d] > 1e-9) & (mesh.points[:, :d] < 1 - 1e-9)).all(axis=1)
    points = mesh.points.copy()
    points[inner, :d] += np.random.default_rng(5).uniform(-0.18, 0.18, (inner.sum(), d)) / n
    return replace(mesh, points=points).of_order(order)


def curved(kind, order, n=2):
    """The unit square or cube bent and sheared by a smooth map; cells of order 2 are curved."""
    mesh = unit(kind, order, n)
    x, y, z = mesh.points.T
    moved = [x + 0.15 * np.sin(1.5 * y) + 0.1 * z * x, y + 0.2 * x**2 - 0.1 * z, z + 0.1 * x * y]
    points = np.column_stack(moved)
    if mesh.dimension == 2:
        points[:, 2] = 0.0
    return replace(mesh, points=points)


def made(mesh, material=rubber, **options):
    """The elastic body on a mesh: a sheet in two dimensions, a solid in three."""
    return (Sheet if mesh.dimension == 2 else Solid)(mesh, material, **options).discretise(order=mesh.order)


def field(body, u):
    """The coordinates of a body for the displacement u, a function of points (n, 3) → (n, 3)."""
    return np.asarray(u(body.mesh.points))[:, : body.mesh.dimension].ravel()
