"""Meshes from files: gmsh and VTK through meshio, Abaqus and Nastran decks; and into files for gmsh."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np

from phloat.errors import InputError, positive, unknown
from phloat.fem.cells import FACET
from phloat.fem.decks import abaqus, nastran
from phloat.fem.mesh import Mesh
from phloat.fem.mesh_data import MeshData, mesh_from_data

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
        near = (
            sorted(p.name for p in path.parent.glob("*") if p.suffix.lower() in FORMATS) if path.parent.is_dir() else []
        )
        raise InputError(f"no file {str(path)!r}; meshes in that folder: {', '.join(near[:12]) or 'none'}")
    positive("unit", unit)
    mesh = mesh_from_data(_parts(path, format), str(path.name))
    return mesh if unit == 1.0 else mesh.scaled(unit)


def _parts(path: Path, format: str) -> MeshData:
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
    try:
        import meshio
    except ImportError as error:
        raise InputError("meshes of gmsh and VTK are read by meshio: pip install phloat[mesh]") from error
    return meshio


def _gmsh_parts(path: Path) -> MeshData:
    names = _physical_names(path)
    try:
        found = _meshio().gmsh.read(path)  # meshio.read would end the program where it fails
    except ValueError as error:
        if "gmsh:physical" not in str(error):
            raise
        raise InputError("some cells are in no physical group; put the body and every boundary into one") from error
    parts = MeshData(found.points, [(block.type, np.asarray(block.data, dtype=np.int64)) for block in found.cells])
    for k, tags in enumerate(found.cell_data.get("gmsh:physical", [])):
        for tag in np.unique(tags[tags > 0]):
            name = names.get((found.cells[k].dim, int(tag)), f"physical {tag}")
            parts.sets.setdefault(name, {})[k] = np.flatnonzero(tags == tag)
    for name, members in found.cell_sets.items():  # version 4 knows cells that are in several groups
        if name in found.field_data:
            parts.sets.setdefault(name, {}).update(
                {k: np.asarray(ids) for k, ids in enumerate(members) if np.size(ids)}
            )
    return parts


def _physical_names(path: Path) -> dict[tuple[int, int], str]:
    """Names of physical groups by dimension and number: one name may be there for a volume and for its surface."""
    section = re.search(rb"\$PhysicalNames\s(.*?)\$EndPhysicalNames", path.read_bytes(), re.DOTALL)
    lines = (
        re.findall(r'^\s*(\d+)\s+(\d+)\s+"(.*)"', section[1].decode("utf-8", "replace"), re.MULTILINE)
        if section
        else []
    )
    return {(int(dimension), int(tag)): name for dimension, tag, name in lines}


def _vtk_parts(path: Path) -> MeshData:
    meshio = _meshio()
    found = (meshio.vtu if path.suffix.lower() == ".vtu" else meshio.vtk).read(path)
    parts = MeshData(found.points, [(block.type, np.asarray(block.data, dtype=np.int64)) for block in found.cells])
    for name, blocks in found.cell_data.items():
        for k, data in enumerate(blocks):
            for value in np.unique(data) if data.dtype.kind in "iu" and data.ndim == 1 else ():
                parts.sets.setdefault(f"{name} {value}", {})[k] = np.flatnonzero(data == value)
    for name, data in found.point_data.items():
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
    if wrong := [name for _, name in groups if '"' in name]:
        raise InputError(f"{wrong[0]!r} cannot be written: gmsh ends a name at a quotation mark")
    rows: list[tuple[int, int, np.ndarray]] = []  # gmsh's type, number of the group, nodes
    for k, name in enumerate(mesh.boundaries, 1):
        rows.append((_GMSH[facet][order - 1], k, mesh.facet_nodes(name)))
    alone = np.ones(len(mesh.cells), dtype=bool)
    for k, ids in enumerate(mesh.regions.values(), 1 + len(mesh.boundaries)):
        rows.append((_GMSH[mesh.kind][order - 1], k, mesh.cells[ids]))
        alone[ids] = False
    rows.append((_GMSH[mesh.kind][order - 1], 0, mesh.cells[alone]))
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
