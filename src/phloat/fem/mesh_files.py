"""Meshes from files: gmsh and VTK through meshio, Abaqus and Nastran decks; and into files for gmsh."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np

from phloat.errors import InputError, positive, unknown
from phloat.fem import cells as cell
from phloat.fem.cells import FACET
from phloat.fem.decks import MeshData, abaqus, nastran
from phloat.fem.mesh import Mesh, used_points

FORMATS = {
    ".msh": "gmsh",
    ".vtk": "VTK",
    ".vtu": "VTK",
    ".inp": "Abaqus",
    ".bdf": "Nastran",
    ".nas": "Nastran",
    ".fem": "Nastran",
    ".dat": "Nastran",
}
# type numbers of gmsh by kind and order, and its order of nodes where it is not VTK's
_GMSH = {"line": (1, 8), "triangle": (2, 9), "quadrilateral": (3, 10), "tetrahedron": (4, 11), "hexahedron": (5, 12)}
_GMSH_ORDER = {
    10: [0, 1, 2, 3, 4, 5, 6, 7, 9, 8],
    27: [*range(8), 8, 11, 16, 9, 17, 10, 18, 19, 12, 15, 13, 14, 24, 22, 20, 21, 23, 25, 26],
}


# name of cells in meshio → our kind (None: no element), dimension
KINDS: dict[str, tuple[str | None, int]] = {
    "vertex": (None, 0),
    "line": ("line", 1),
    "line3": ("line", 1),
    "triangle": ("triangle", 2),
    "triangle6": ("triangle", 2),
    "quad": ("quadrilateral", 2),
    "quad8": ("quadrilateral", 2),
    "quad9": ("quadrilateral", 2),
    "tetra": ("tetrahedron", 3),
    "tetra10": ("tetrahedron", 3),
    "hexahedron": ("hexahedron", 3),
    "hexahedron20": ("hexahedron", 3),
    "hexahedron27": ("hexahedron", 3),
}
SOLIDS_WITHOUT = ("wedge", "pyramid")  # the beginnings of the names of other solids


def read_mesh(path: str | Path, *, unit: float = 1.0) -> Mesh:
    """The mesh in a file: .msh (gmsh 2.2 or 4.1), .vtk, .vtu, .inp (Abaqus), .bdf, .nas, .fem, .dat (Nastran).

    Cells are those of the highest dimension, of one kind. Names of regions and, one dimension below, of boundaries come from
    physical groups (those without a name are "physical 7"), element sets, properties ("property 7") and whole-numbered cell
    data ("boundary 7"); sets of nodes name the facets between their nodes. `unit` is the length of the file's unit in metres:
    1e-3 for millimetres. Files do not say it, and neither the shape nor the modes look wrong without it: compare the mass.
    """
    path = Path(path)
    format = FORMATS.get(path.suffix.lower())
    if format is None:
        raise InputError(unknown("reader of meshes for files", path.suffix or path.name, FORMATS))
    if not path.is_file():
        near = sorted(p.name for p in path.parent.glob("*") if p.suffix.lower() in FORMATS)
        raise InputError(f"no file {str(path)!r}; meshes in that folder: {', '.join(near[:12]) or 'none'}")
    positive("unit", unit)
    mesh = mesh_from_data(_parts(path, format), str(path.name))
    return mesh if unit == 1.0 else mesh.scaled(unit)


def _parts(path: Path, format: str) -> MeshData:
    """The mesh data of a file. Raises InputError, with its name, if it cannot be parsed."""
    try:
        if format in ("Abaqus", "Nastran"):
            return {"Abaqus": abaqus, "Nastran": nastran}[format](path.read_text(encoding="utf-8", errors="replace"))
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="string or file could not be read")
            return _gmsh_parts(path) if format == "gmsh" else _vtk_parts(path)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None
    except Exception as error:  # whatever a parser trips over: the file is not what its name says
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise InputError(f"{path.name} cannot be read as a mesh of {format} ({reason}); is it complete?") from error


def _meshio() -> ModuleType:
    """The module meshio. Raises InputError if it is not installed."""
    try:
        import meshio
    except ImportError as error:
        raise InputError("meshio, which reads gmsh and VTK, is not installed: pip install phloat[mesh]") from error
    return meshio


def _gmsh_parts(path: Path) -> MeshData:
    """The mesh data of a gmsh file, its physical groups as sets."""
    names = _physical_names(path)
    try:
        data = _meshio().gmsh.read(path)  # meshio.read would end the program where it fails
    except ValueError as error:
        if "gmsh:physical" not in str(error):
            raise
        raise InputError(
            "some cells are in no physical group; put body and boundaries into groups, and save with Mesh.SaveAll = 0"
        ) from error
    parts = MeshData(data.points, [(block.type, np.asarray(block.data, dtype=np.int64)) for block in data.cells])
    for k, tags in enumerate(data.cell_data.get("gmsh:physical", [])):
        for tag in np.unique(tags[tags > 0]):
            name = names.get((data.cells[k].dim, int(tag)), f"physical {tag}")
            parts.sets.setdefault(name, {})[k] = np.flatnonzero(tags == tag)
    for name, members in data.cell_sets.items():  # in version 4 a cell may be in several groups
        if name in data.field_data:
            parts.sets.setdefault(name, {}).update(
                {k: np.asarray(ids) for k, ids in enumerate(members) if np.size(ids)}
            )
    return parts


def _physical_names(path: Path) -> dict[tuple[int, int], str]:
    """Names of physical groups by dimension and number: a volume and its surface may have the same name."""
    section = re.search(rb"\$PhysicalNames\s(.*?)\$EndPhysicalNames", path.read_bytes(), re.DOTALL)
    text = section[1].decode("utf-8", "replace") if section else ""
    lines = re.findall(r'^\s*(\d+)\s+(\d+)\s+"(.*)"', text, re.MULTILINE)
    return {(int(dimension), int(tag)): name for dimension, tag, name in lines}


def _vtk_parts(path: Path) -> MeshData:
    """The mesh data of a VTK file, whole-numbered cell and point data as sets."""
    meshio = _meshio()
    source = (meshio.vtu if path.suffix.lower() == ".vtu" else meshio.vtk).read(path)
    parts = MeshData(source.points, [(block.type, np.asarray(block.data, dtype=np.int64)) for block in source.cells])
    for name, blocks in source.cell_data.items():
        for k, data in enumerate(blocks):
            for value in np.unique(data) if data.dtype.kind in "iu" and data.ndim == 1 else ():
                parts.sets.setdefault(f"{name} {value}", {})[k] = np.flatnonzero(data == value)
    for name, data in source.point_data.items():
        for value in np.unique(data[data != 0]) if data.dtype.kind in "iu" and data.ndim == 1 else ():
            parts.node_sets[f"{name} {value}"] = np.flatnonzero(data == value)
    return parts


def write_mesh(path: str | Path, mesh: Mesh) -> None:
    """The mesh as text for gmsh (.msh, version 2.2), with its boundaries and regions as physical groups."""
    path = Path(path)
    if path.suffix.lower() != ".msh":
        raise InputError(f"{path.name!r} does not end in .msh; meshes are written for gmsh only")
    facet, order, d = FACET[mesh.kind], mesh.order, mesh.dimension
    groups = [(d - 1, name) for name in mesh.boundaries] + [(d, name) for name in mesh.regions]
    if unwritable := [name for _, name in groups if '"' in name]:
        raise InputError(f"{unwritable[0]!r} cannot be written: gmsh ends a name at a quotation mark")
    rows: list[tuple[int, int, np.ndarray]] = []  # gmsh's type, number of the group, nodes
    for k, name in enumerate(mesh.boundaries, 1):
        rows.append((_GMSH[facet][order - 1], k, mesh.facet_nodes(name)))
    ungrouped = np.ones(len(mesh.cells), dtype=bool)
    for k, ids in enumerate(mesh.regions.values(), 1 + len(mesh.boundaries)):
        rows.append((_GMSH[mesh.kind][order - 1], k, mesh.cells[ids]))
        ungrouped[ids] = False
    rows.append((_GMSH[mesh.kind][order - 1], 0, mesh.cells[ungrouped]))
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(groups))]
    lines += [f'{dimension} {k} "{name}"' for k, (dimension, name) in enumerate(groups, 1)]
    lines += ["$EndPhysicalNames", "$Nodes", str(len(mesh.points))]
    lines += [f"{k} {x!r} {y!r} {z!r}" for k, (x, y, z) in enumerate((mesh.points + 0.0).tolist(), 1)]
    lines += ["$EndNodes", "$Elements", str(sum(len(nodes) for *_, nodes in rows))]
    number = 0
    for kind, group, nodes in rows:
        ordered = 1 + nodes[:, _GMSH_ORDER.get(nodes.shape[1], slice(None)) if kind in (11, 12) else slice(None)]
        for row in ordered.tolist():
            number += 1
            lines.append(f"{number} {kind} 2 {group} {group or 1} {' '.join(map(str, row))}")
    path.write_text("\n".join([*lines, "$EndElements", ""]), encoding="utf-8")


# --- from mesh data to a mesh --- -------------------------------------------------------------------------------------


def mesh_from_data(parts: MeshData, source: str) -> Mesh:
    """The cells of the highest dimension as a mesh; sets of these are regions, sets of one dimension less are boundaries.

    A set of nodes is the boundary of all facets whose corners are in it, if there are any. Points without a cell are dropped;
    repeated cells (some formats write a cell once for each of its sets) are merged.
    """
    name, kind, top, counts = _cell_kind(parts, source)
    points = np.asarray(parts.points, dtype=float)
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    cells, place = _unique_cells(parts, top)
    if top == 2 and np.ptp(points[cells, 2]) > 1e-9 * np.ptp(points[cells, :2]):
        raise InputError(
            f"{source} holds surfaces only, not in one plane: {counts}; save the volume too (gmsh: in a physical group)"
        )
    if name in ("quad8", "hexahedron20"):
        points, cells = _with_middles(kind, points, cells)
    regions, facets = _regions_and_facets(parts, place, top)
    points, cells, new = used_points(points, cells)
    boundaries = {label: new[nodes] for label, nodes in facets.items()}
    for label, nodes in boundaries.items():
        if outside := int((nodes < 0).any(axis=1).sum()):
            raise InputError(
                f"{outside} of {len(nodes)} facets of boundary {label!r} in {source} have nodes of no cell; mesh them with the body"
            )
    mesh = Mesh(kind, points, cells, boundaries, regions)
    named = boundaries.keys() | regions.keys()  # gmsh writes sets of nodes under the same names
    return _with_node_sets(mesh, {label: new[ids] for label, ids in parts.node_sets.items() if label not in named})


def _cell_kind(parts: MeshData, source: str) -> tuple[str, str, int, str]:
    """Name, kind and dimension of the cells of the highest dimension, and the counts of all cells as text for errors."""
    top = max((_dimension(name) for name, _ in parts.blocks), default=0)
    count = Counter({name: 0 for name, _ in parts.blocks})
    for name, nodes in parts.blocks:
        count[name] += len(nodes)
    counts = ", ".join(f"{n} × {name}" for name, n in count.items()) or "no cells at all"
    if top < 2:
        raise InputError(f"{source} has no cells with an area or a volume: it holds {counts}")
    names = {name for name, _ in parts.blocks if _dimension(name) == top}
    if len(names) > 1:
        raise InputError(
            f"{source} has cells of several kinds: {counts}; mesh it with one kind only (in gmsh: tetrahedra everywhere)"
        )
    (name,) = names
    kind = KINDS.get(name, (None, top))[0]
    if kind is None:
        raise InputError(f"{source} has cells of kind {name}: {counts}; there are {', '.join(cell.NODES)}")
    return name, kind, top, counts


def _regions_and_facets(
    parts: MeshData, place: dict[int, np.ndarray], top: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Regions as new cell numbers, and boundaries as corner nodes of facets, (facets, corners)."""
    regions, facets = {}, {}
    for label, members in parts.sets.items():
        inside = [place[block][ids] for block, ids in members.items() if block in place and len(ids)]
        below = [
            _corners(*parts.blocks[b])[ids] for b, ids in members.items() if _dimension(parts.blocks[b][0]) == top - 1
        ]
        if inside:
            regions[label] = np.unique(np.concatenate(inside))
        if sum(map(len, below)):
            facets[label] = _distinct(np.vstack([f for f in below if len(f)]))
    return regions, facets


def _dimension(name: str) -> int:
    """The dimension of cells by their name in meshio, −1 if it is unknown."""
    return KINDS[name][1] if name in KINDS else 3 if name.startswith(SOLIDS_WITHOUT) else -1


def _corners(name: str, nodes: np.ndarray) -> np.ndarray:
    """The corner nodes of cells of this name."""
    kind = KINDS[name][0]
    return nodes[:, : 2 if kind == "line" else cell.CORNERS[str(kind)]]


def _unique_cells(parts: MeshData, top: int) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """The distinct cells of the highest dimension, and for each block the new numbers of its cells."""
    blocks = [k for k, (name, _) in enumerate(parts.blocks) if _dimension(name) == top]
    stacked = np.vstack([parts.blocks[k][1] for k in blocks])
    _, first, number = np.unique(np.sort(stacked, axis=1), axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))[number.ravel()]  # cells keep the order of the file
    start = np.cumsum([0, *(len(parts.blocks[k][1]) for k in blocks)])
    place = {k: rank[start[i] : start[i + 1]] for i, k in enumerate(blocks)}
    return stacked[np.sort(first)], place


def _distinct(facets: np.ndarray) -> np.ndarray:
    """The facets without repetitions, in their order."""
    _, first = np.unique(np.sort(facets, axis=1), axis=0, return_index=True)
    return facets[np.sort(first)]


def _with_middles(kind: str, points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells of 8 or 20 nodes (corners and middles of edges) completed to 9 or 27 by middles of faces and of the cell.

    The middle of a face is ½ Σ edges − ¼ Σ corners, that of a hexahedron ¼ Σ edges − ¼ Σ corners: the same surface exactly.
    """
    edges = {frozenset(edge): cell.CORNERS[kind] + k for k, edge in enumerate(cell.EDGES[kind])}
    inside = cell.middles(kind)[len(edges) :]
    for width, weight in ((4, 0.5), (8, 0.25)):
        group = [m for m in inside if len(m) == width]
        if not group:
            continue
        around = [[number for edge, number in edges.items() if edge <= set(m)] for m in group]
        nodes, middles = cells[:, np.array(group)], cells[:, np.array(around)]
        positions = weight * points[middles].sum(axis=2) - 0.25 * points[nodes].sum(axis=2)
        key = np.sort(nodes, axis=2).reshape(-1, width)
        _, first, number = np.unique(key, axis=0, return_index=True, return_inverse=True)
        cells = np.hstack([cells, len(points) + number.reshape(len(cells), -1)])
        points = np.vstack([points, positions.reshape(-1, 3)[first]])
    return points, cells


def _with_node_sets(mesh: Mesh, sets: dict[str, np.ndarray]) -> Mesh:
    """The mesh with a boundary for every node set that holds all corners of some facet."""
    for label, nodes in sets.items():
        mask = np.zeros(len(mesh.points), dtype=bool)
        mask[nodes[nodes >= 0]] = True
        if mask[mesh.facets].all(axis=1).any():
            mesh = mesh.with_boundary(label, mask[mesh.facets].all(axis=1))
    return mesh
