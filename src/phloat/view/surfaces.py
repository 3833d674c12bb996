"""Triangulated surfaces: beams through their sections, faces of plates, outsides of solids, boxes, cylinders, spheres."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.section import Circle, Rectangle, Section, Tube, axes_rotation
from phloat.fem import cells as cell
from phloat.fem.mesh import Mesh

ROUND_POINTS = 16  # points around a round section
COS_SHARP = 0.82  # edges between facets that meet at more than 35 degrees are drawn


@dataclass(frozen=True, eq=False)
class TriangleSurface:
    """Points (n, 3), triangles (m, 3) and edges (k, 2) as indices of points, and normals (n, 3) of round surfaces, else None.

    Edges are drawn as lines. Without normals, each triangle is shaded as flat.
    """

    points: np.ndarray
    triangles: np.ndarray
    edges: np.ndarray
    normals: np.ndarray | None = None


def section_outline(section: Section) -> tuple[np.ndarray, bool]:
    """Points (y, z) around a section (m), and whether it is round; a section of unknown shape is drawn as the circle or rectangle
    with its radii of gyration."""
    if isinstance(section, (Circle, Tube)):
        return _circle_points(0.5 * section.diameter), True
    if isinstance(section, Rectangle):
        return _rectangle_corners(section.h, section.b) @ axes_rotation(section.angle).T, False
    I, I_y, I_yz = section.I, section.I_y or section.I, section.I_yz
    sign, half, mean = np.copysign(1.0, I - I_y), 0.5 * np.hypot(I - I_y, 2.0 * I_yz), 0.5 * (I + I_y)
    if half <= 5e-7 * mean:
        return _circle_points(2.0 * np.sqrt(mean / section.A)), True
    principal = 0.5 * np.arctan2(sign * 2.0 * I_yz, abs(I - I_y))
    h, b = np.sqrt(12.0 * (mean + np.array([sign, -sign]) * half) / section.A)
    return _rectangle_corners(h, b) @ axes_rotation(section.angle + principal).T, False


def section_outlines(beam: Beam, s: np.ndarray) -> tuple[np.ndarray, bool]:
    """Points (y, z) around the sections of a beam at s, (places, points, 2), and whether they are round."""
    sections = beam.sections(beam.length * s)
    rings = [section_outline(section) for section in sections]
    if len({len(ring) for ring, _ in rings}) > 1:  # different numbers of points: all are drawn as circles
        rings = [(_circle_points(2.0 * np.sqrt(section.I / section.A)), True) for section in sections]
    return np.array([ring for ring, _ in rings]), rings[0][1]


def sweep_sections(x: np.ndarray, rings: np.ndarray, *, is_round: bool) -> tuple[TriangleSurface, np.ndarray]:
    """The closed surface through sections (y, z) at x along a beam, and the index of the section of each point."""
    places, around = rings.shape[:2]
    grid = np.arange(places * around).reshape(places, around)
    points = np.concatenate([np.repeat(x, around)[:, None], rings.reshape(-1, 2)], axis=1)
    owner = np.repeat(np.arange(places), around)
    ends = [grid[0], grid[-1]]
    edges, caps, normals = [np.column_stack([end, np.roll(end, -1)]) for end in ends], ends, None
    if is_round:  # caps have separate points, since their normals point along the beam
        normals = np.concatenate([np.zeros((len(points), 1)), _unit_vectors(rings.reshape(-1, 2))], axis=1)
        caps = [len(points) + np.arange(around), len(points) + around + np.arange(around)]
        points, owner = (np.concatenate([part, part[ends[0]], part[ends[1]]]) for part in (points, owner))
        normals = np.vstack([normals, *(np.tile([sign, 0.0, 0.0], (around, 1)) for sign in (-1.0, 1.0))])
    else:
        edges += [np.column_stack([grid[:-1, k], grid[1:, k]]) for k in range(around)]
    triangles = np.vstack([_ring_triangles(grid), _cap_triangles(caps[0])[:, ::-1], _cap_triangles(caps[1])])
    return TriangleSurface(points, triangles, np.vstack(edges), normals), owner


def mesh_surface(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Triangles between the nodes of a mesh, of all cells of a planar mesh or the outside of a solid, and their sharp edges.

    Cells of order 2 are divided at the nodes in the middle of edges and faces.
    """
    facets = mesh.corners if mesh.dimension == 2 else mesh.facets
    triangles = _curved_triangles(mesh, facets) if mesh.order == 2 else as_triangles(facets)
    return triangles, sharp_edges(mesh.points, triangles)


def plate_surface(points: np.ndarray, triangles: np.ndarray, half: np.ndarray) -> TriangleSurface:
    """The faces of a plate at z = ±half above its points and the wall between them along the border; the upper face comes first."""
    n, rim = len(points), sharp_edges(points, triangles)
    up = np.column_stack([np.zeros((n, 2)), half])
    a, b = rim.T
    wall = np.vstack([np.column_stack([a, a + n, b]), np.column_stack([b, a + n, b + n])])
    return TriangleSurface(
        np.vstack([points + up, points - up]),
        np.vstack([triangles, triangles[:, ::-1] + n, wall]),
        np.vstack([rim, rim + n]),
    )


def box_surface(center: np.ndarray, axes: np.ndarray, sides: np.ndarray) -> TriangleSurface:
    """The surface of a box with this middle, axes (unit vectors as columns) and lengths of the sides."""
    signs = np.array(list(product((-0.5, 0.5), repeat=3)))
    points = center + (signs * sides) @ axes.T
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    triangles = as_triangles(quads)
    return TriangleSurface(points, triangles, sharp_edges(points, triangles))


def cylinder(start: np.ndarray, end: np.ndarray, radius: float, sides: int = ROUND_POINTS) -> TriangleSurface:
    """The surface of a cylinder between two points on its axis."""
    axis = _unit_vectors((end - start)[None, :])[0]
    across = np.linalg.svd(axis[None, :])[2][1:]
    turn = np.vstack([axis, across if np.linalg.det(np.vstack([axis, across])) > 0 else across[::-1]])
    ring = _circle_points(radius, sides)
    surface, _ = sweep_sections(np.array([0.0, np.linalg.norm(end - start)]), np.stack([ring, ring]), is_round=True)
    assert surface.normals is not None
    return TriangleSurface(start + surface.points @ turn, surface.triangles, surface.edges, surface.normals @ turn)


def sphere(center: np.ndarray, radius: float) -> TriangleSurface:
    """The surface of a sphere, with 12 × 16 facets and normals."""
    rise, turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 13), np.linspace(0.0, 2 * np.pi, ROUND_POINTS, endpoint=False)
    up, around = np.meshgrid(rise, turn, indexing="ij")
    normals = np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)], axis=-1).reshape(-1, 3)
    grid = np.arange(len(normals)).reshape(13, ROUND_POINTS)
    return TriangleSurface(center + radius * normals, _ring_triangles(grid), np.zeros((0, 2), dtype=int), normals)


def merge_surfaces(*surfaces: TriangleSurface) -> TriangleSurface:
    """Several surfaces as one; if any has normals, the others get separate points and a normal for each triangle."""
    parts = surfaces if all(part.normals is None for part in surfaces) else tuple(map(_with_normals, surfaces))
    starts = np.cumsum([0, *(len(part.points) for part in parts)])
    return TriangleSurface(
        np.vstack([part.points for part in parts]),
        np.vstack([part.triangles + start for part, start in zip(parts, starts, strict=False)]),
        np.vstack([part.edges + start for part, start in zip(parts, starts, strict=False)]),
        np.vstack([p.normals for p in parts]) if parts[0].normals is not None else None,  # type: ignore[misc]
    )


def as_triangles(facets: np.ndarray) -> np.ndarray:
    """Facets (n, 3 or 4) divided into triangles (m, 3)."""
    return facets if facets.shape[1] == 3 else np.vstack([facets[:, :3], facets[:, [0, 2, 3]]])


def sharp_edges(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Edges where a surface ends, or where two triangles meet at more than 35 degrees, (edges, 2)."""
    normal = _facet_normals(points, triangles)
    edges = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    owner = np.tile(np.arange(len(triangles)), 3)
    key = np.sort(edges, axis=1) @ np.array([len(points), 1])
    order = np.argsort(key, kind="stable")
    _, first, count = np.unique(key[order], return_index=True, return_counts=True)
    first_cell, second_cell = owner[order[first]], owner[order[np.minimum(first + 1, len(order) - 1)]]
    sharp = np.einsum("ij,ij->i", normal[first_cell], normal[second_cell]) < COS_SHARP
    return edges[order[first[(count != 2) | sharp]]]


def _with_normals(part: TriangleSurface) -> TriangleSurface:
    """The same surface with separate points for each triangle, and its normal at all three."""
    if part.normals is not None:
        return part
    normal = np.repeat(_facet_normals(part.points, part.triangles), 3, axis=0)
    corners = part.points[part.triangles.ravel()]
    points = np.vstack([corners, part.points])  # edges use the original points
    return TriangleSurface(
        points,
        np.arange(len(corners)).reshape(-1, 3),
        part.edges + len(corners),
        np.vstack([normal, np.tile([0.0, 0.0, 1.0], (len(part.points), 1))]),
    )


def _facet_normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The unit normals of triangles, (triangles, 3)."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return _unit_vectors(np.cross(b - a, c - a))


def _unit_vectors(x: np.ndarray) -> np.ndarray:
    """Vectors (…, 3) divided by their length; zero vectors stay zero."""
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-300)


def _circle_points(radius: float, sides: int = ROUND_POINTS) -> np.ndarray:
    """Points (y, z) on a circle, (sides, 2)."""
    turn = 2 * np.pi * np.arange(sides) / sides
    return radius * np.column_stack([np.cos(turn), np.sin(turn)])


def _rectangle_corners(h: float, b: float) -> np.ndarray:
    """The corners (y, z) of a rectangle, h along y and b along z."""
    return 0.5 * np.array([[h, b], [-h, b], [-h, -b], [h, -b]])


def _cap_triangles(ring: np.ndarray) -> np.ndarray:
    """Triangles that fill a convex ring of points, given by their indices."""
    return np.column_stack([np.full(len(ring) - 2, ring[0]), ring[1:-1], ring[2:]])


def _ring_triangles(grid: np.ndarray) -> np.ndarray:
    """The triangles between neighbouring rings of points; `grid` (rings, points around) has the indices of the points."""
    after = np.roll(grid, -1, axis=1)
    return as_triangles(np.column_stack([part.ravel() for part in (grid[:-1], after[:-1], after[1:], grid[1:])]))


def _curved_triangles(mesh: Mesh, facets: np.ndarray) -> np.ndarray:
    """Facets of a mesh of order 2, divided at their middle nodes into four (triangle) or eight (quadrilateral) triangles each."""
    corners = cell.CORNERS[mesh.kind]
    middle: dict[tuple[int, ...], int] = {}  # the node in the middle of each edge and face, by its sorted corners
    for k, corners_of_middle in enumerate(cell.middles(mesh.kind)):
        keys = np.sort(mesh.cells[:, list(corners_of_middle)], axis=1)
        middle |= dict(zip(map(tuple, keys.tolist()), mesh.cells[:, corners + k].tolist(), strict=True))
    out = []
    for facet in facets.tolist():
        n = len(facet)
        edge = [middle[tuple(sorted((facet[k], facet[(k + 1) % n])))] for k in range(n)]
        if n == 3:
            out += [[facet[k], edge[k], edge[k - 1]] for k in range(3)] + [edge]
        else:
            mid = middle[tuple(sorted(facet))]
            out += [triangle for k in range(4) for triangle in ([facet[k], edge[k], mid], [facet[k], mid, edge[k - 1]])]
    return np.array(out)
