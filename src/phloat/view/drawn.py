"""One body as a drawing: a line, a point, the facets of a mesh, or the nodes of a body that has no mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.floating import Kept
from phloat.errors import InputError
from phloat.system.stresses import StressField, stress_field

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

FEW = 16  # points off one line that are still joined by one: ports of a rigid body
LINE = 1e-6  # of its length: how far points of a line lie off it


def facets(body: Body) -> np.ndarray | None:
    """By which places a body on a mesh is drawn, (facets, corners): the cells of a plate, the outside of a solid."""
    shape = body.shape
    while not isinstance(shape, Kept):
        if not hasattr(shape, "shape"):
            return None
        shape = shape.shape
    if not isinstance(shape.continuum, Continuum):
        return None
    mesh = shape.continuum.mesh
    return mesh.corners if mesh.dimension == 2 else mesh.facets


def von_mises_of(body: Body, sigma: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """The larger stress at the two points of stress nearest to each facet (those on both faces of a plate)."""
    field: StressField = stress_field(body, sigma)
    middles = body.shape.points(body.shape.places())[corners].mean(axis=1)
    return field.von_mises[cKDTree(field.points).query(middles, k=2)[1]].max(axis=1)


def is_cloud(points: np.ndarray) -> bool:
    """Whether there are many points and they lie on no line: nodes of a mesh whose facets are not known."""
    if len(points) <= FEW:
        return False
    sizes = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(sizes[1] > LINE * sizes[0])


def draw_facets(ax: Axes, points: np.ndarray, corners: np.ndarray, colour: str, label: str, **shades: Any) -> Artist:
    """Polygons in one colour, or shaded by numbers: `array`, `clim` and `cmap` as matplotlib calls them."""
    flat = points.shape[1] == 2
    thin = {"linewidths": 0.2, "edgecolors": "0.3", "label": label}
    own = shades or {"facecolors": colour, "alpha": 0.6}
    if flat:
        from matplotlib.collections import PolyCollection

        drawn = ax.add_collection(PolyCollection(list(points[corners]), **thin, **own))
        ax.autoscale_view()
        return drawn
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    return ax.add_collection(Poly3DCollection(list(points[corners]), **thin, **own))


def draw_points(ax: Axes, points: np.ndarray, colour: str, label: str | None, **line: Any) -> None:
    """A line along the points, a mark where there is one, dots where there are many on no line."""
    if is_cloud(points):
        ax.plot(*points.T, color=colour, ls="", marker=".", ms=2, label=label)
    else:
        ax.plot(*points.T, color=colour, label=label, **line)


def check_stresses(bodies: dict[str, np.ndarray]) -> None:
    if not bodies:
        raise InputError("no body here is on a mesh: stress=True shades plates and solids")
