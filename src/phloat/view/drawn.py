"""One body as a drawing: a line, a point, the facets of a mesh, or the nodes of a body that has no mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.reduced_shape import ReducedShape
from phloat.system.stresses import stress_field

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 16  # points off one line that are still joined by one: ports of a rigid body
NEAR = 8  # points of stress: the four in the middle of a plate's cell, on both faces
LINE = 1e-6  # of its length: how far points of a line lie off it


def facets(body: Body) -> np.ndarray | None:
    """By which places a body on a mesh is drawn, (facets, corners): the cells of a plate, the outside of a solid."""
    shape = body.shape
    while not isinstance(shape, ReducedShape):
        if not hasattr(shape, "shape"):
            return None
        shape = shape.shape
    if not isinstance(shape.continuum, Continuum):
        return None
    mesh = shape.continuum.mesh
    return mesh.corners if mesh.dimension == 2 else mesh.facets


def von_mises_of(body: Body, sigma: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """The largest stress at the points of stress nearest to each facet, those on both faces of a plate."""
    field = stress_field(body, sigma)
    middles = body.shape.points(body.shape.places())[corners].mean(axis=1)
    nearest = cKDTree(field.points).query(middles, k=min(NEAR, len(field.points)))[1]
    return field.von_mises[nearest.reshape(len(middles), -1)].max(axis=1)


def is_cloud(points: np.ndarray) -> bool:
    """Whether the points of an undeformed body are many and on no line: nodes of a mesh whose facets are not known."""
    if len(points) <= FEW:
        return False
    sizes = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(sizes[1] > LINE * sizes[0])


def draw_facets(
    ax: Any, points: np.ndarray, corners: np.ndarray, colours: str | np.ndarray, label: str, *, lined: bool = True
) -> None:
    """Facets, all in one colour or each in its own, with lines between them; points (places, 2 or 3)."""
    triangles = corners if corners.shape[1] == 3 else np.vstack([corners[:, :3], corners[:, [2, 3, 0]]])
    if points.shape[1] == 2:
        from matplotlib.collections import PolyCollection

        lines: Any = {"edgecolors": "0.4" if lined else colours, "linewidths": 0.2}
        drawn = PolyCollection(list(points[corners]), facecolors=colours, label=label, **lines)
        ax.add_collection(drawn)
        ax.autoscale_view()
    else:
        drawn = ax.plot_trisurf(
            *points.T, triangles=triangles, color=colours if isinstance(colours, str) else "w", label=label
        )
        if not isinstance(colours, str):
            drawn.set_facecolor(np.tile(colours, (len(triangles) // len(corners), 1)))


def draw_points(ax: Axes, points: np.ndarray, colour: str, label: str | None, *, cloud: bool, **line: Any) -> None:
    """A line along the points, a mark where there is one; dots for nodes of a mesh."""
    if cloud:
        ax.plot(*points.T, color=colour, ls="", marker=".", ms=2, label=label)
    else:
        ax.plot(*points.T, color=colour, label=label, **line)
