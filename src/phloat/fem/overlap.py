"""Quadrature on the common refinement of the facets of two meshes, where they share a piece of boundary.

Shape functions of both meshes are polynomials on every piece, so integrals of their products are exact: a constant traction goes
through a tie of meshes that do not match.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

NEAR = 1e-6  # of a facet: the largest distance of two facets that share a piece
SLIVER = 1e-12  # of a facet: pieces smaller than this are round-off


def shared(first: np.ndarray, second: np.ndarray, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Quadrature points (points, 3) and weights on the overlap of two sets of facets, given by corners (facets, corners, 3).

    The rule is exact for polynomials of this degree on each piece of the common refinement.
    """
    if first.shape[1] == 2:
        return _on_lines(first, second, degree // 2 + 1)
    pieces = [_common(first[i], second[j]) for i, j in _neighbours(first, second)]
    triangles = [np.stack([p[0], p[k], p[k + 1]]) for p in pieces if p is not None for k in range(1, len(p) - 1)]
    return _on_triangles(np.array(triangles).reshape(-1, 3, 3), (degree + 1) // 2 + 1)


def measure(facets: np.ndarray) -> float:
    """The total length or area of straight facets."""
    if facets.shape[1] == 2:
        return float(np.linalg.norm(facets[:, 1] - facets[:, 0], axis=1).sum())
    fans = [
        np.cross(facets[:, k] - facets[:, 0], facets[:, k + 1] - facets[:, 0]) for k in range(1, facets.shape[1] - 1)
    ]
    return float(0.5 * np.linalg.norm(sum(fans), axis=1).sum())


def _on_lines(first: np.ndarray, second: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` Gauss points and their weights on each overlap of two sets of straight edges."""
    start, direction = first[:, 0], first[:, 1] - first[:, 0]
    length = np.linalg.norm(direction, axis=1)
    ends = second[None] - start[:, None, None]  # (first, second, 2, 3)
    t = np.einsum("fseb,fb->fse", ends, direction) / length[:, None, None] ** 2
    distance = np.linalg.norm(ends - t[..., None] * direction[:, None, None], axis=3).max(axis=2)
    low, high = np.maximum(t.min(axis=2), 0.0), np.minimum(t.max(axis=2), 1.0)
    i, j = np.nonzero((distance < NEAR * length[:, None]) & (high - low > SLIVER**0.5))
    g, w = np.polynomial.legendre.leggauss(count)
    part = low[i, j, None] + (high - low)[i, j, None] * (1 + g) / 2
    x = start[i, None] + part[..., None] * direction[i, None]
    return x.reshape(-1, 3), (((high - low)[i, j] * length[i])[:, None] * w / 2).ravel()


def _on_triangles(triangles: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """count² Gauss points and their weights on each triangle."""
    g, w = np.polynomial.legendre.leggauss(count)
    g, w = (1 + g) / 2, w / 2
    a, b = np.meshgrid(g, g, indexing="ij")
    xi, eta = a.ravel(), ((1 - a) * b).ravel()  # the square collapsed
    weight = (np.outer(w * (1 - g), w)).ravel()
    p, q = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    x = triangles[:, :1] + xi[:, None] * p[:, None] + eta[:, None] * q[:, None]
    return x.reshape(-1, 3), (np.linalg.norm(np.cross(p, q), axis=1)[:, None] * weight).ravel()


def _neighbours(first: np.ndarray, second: np.ndarray) -> list[tuple[int, int]]:
    """Index pairs (i, j) of facets whose bounding spheres touch."""
    centres = [f.mean(axis=1) for f in (first, second)]
    reach = [np.linalg.norm(f - c[:, None], axis=2).max(axis=1) for f, c in zip((first, second), centres, strict=True)]
    tree = cKDTree(centres[1])
    near = tree.query_ball_point(centres[0], reach[0] + reach[1].max())
    return [(i, j) for i, indices in enumerate(near) for j in indices]


def _common(first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
    """The convex polygon shared by two facets, (corners, 3); None if they are in different planes or do not overlap."""
    normal = np.cross(first[1] - first[0], first[-1] - first[0])
    size = np.sqrt(np.linalg.norm(normal))
    normal = normal / size**2
    if np.abs((second - first[0]) @ normal).max() > NEAR * size:
        return None
    polygon = second
    for k in range(len(first)):
        inward = np.cross(normal, first[(k + 1) % len(first)] - first[k])
        polygon = _cut(polygon, (polygon - first[k]) @ inward)
        if len(polygon) < 3:
            return None
    fan = [np.cross(polygon[k] - polygon[0], polygon[k + 1] - polygon[0]) for k in range(1, len(polygon) - 1)]
    return polygon if np.linalg.norm(sum(fan)) > SLIVER * size**2 else None


def _cut(polygon: np.ndarray, side: np.ndarray) -> np.ndarray:
    """The part of a convex polygon where `side`, given at its corners, is not negative (Sutherland and Hodgman)."""
    out = []
    for k in range(len(polygon)):
        before, after = side[k - 1], side[k]
        if (before < 0.0) != (after < 0.0):
            out.append(polygon[k - 1] + before / (before - after) * (polygon[k] - polygon[k - 1]))
        if after >= 0.0:
            out.append(polygon[k])
    return np.array(out).reshape(-1, 3)
