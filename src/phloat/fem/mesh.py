"""Meshes: points, cells of one kind, and names for parts of the boundary and of the inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

CORNERS = {"triangle": 3, "quadrilateral": 4, "tetrahedron": 4, "hexahedron": 8}
NODES = {"triangle": (3, 6), "quadrilateral": (4, 9), "tetrahedron": (4, 10), "hexahedron": (8, 27)}


@dataclass(frozen=True, eq=False)
class Mesh:
    """`points` (points, 3) and `cells` (cells, nodes) of one `kind`; nodes beyond the corners make curved cells of order 2.

    `boundaries` names sets of facets by their corner nodes, (facets, corners of a facet); `regions` names sets of cells.
    Corners come in the order of VTK: triangles and quadrilaterals counterclockwise, tetrahedra and hexahedra with positive
    volume; then the middles of edges, of faces, of the cell, in that order too.
    """

    kind: str
    points: np.ndarray
    cells: np.ndarray
    boundaries: Mapping[str, np.ndarray] = field(default_factory=dict)
    regions: Mapping[str, np.ndarray] = field(default_factory=dict)
