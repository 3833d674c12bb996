"""Unstructured grids as VTK's XML files (.vtu) and series of them (.pvd), written without other packages."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

VERTEX, LINE = 1, 3
TYPES = {
    ("triangle", 3): 5,
    ("quadrilateral", 4): 9,
    ("tetrahedron", 4): 10,
    ("hexahedron", 8): 12,
    ("triangle", 6): 22,
    ("tetrahedron", 10): 24,
    ("quadrilateral", 9): 28,
    ("hexahedron", 27): 29,
}
NAMES = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}

Arrays = Mapping[str, np.ndarray]
Blocks = Sequence[tuple[int, np.ndarray]]  # type of cells, and their points (cells, nodes)


def write_grid(path: Path, points: np.ndarray, blocks: Blocks, at_points: Arrays, in_cells: Arrays) -> None:
    """One grid: points (points, 3), cells by type, and fields at points and in cells, a row each."""
    connectivity = np.concatenate([nodes.ravel() for _, nodes in blocks])
    offsets = np.cumsum(np.concatenate([np.full(len(nodes), nodes.shape[1]) for _, nodes in blocks]))
    types = np.concatenate([np.full(len(nodes), kind) for kind, nodes in blocks])
    cells = {
        "connectivity": connectivity.astype("i8"),
        "offsets": offsets.astype("i8"),
        "types": types.astype("u1"),
    }
    parts = [
        f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(types)}">',
        "<Points>" + _array("Points", points) + "</Points>",
        "<Cells>" + "".join(_array(name, array) for name, array in cells.items()) + "</Cells>",
        "<PointData>" + "".join(_array(name, array) for name, array in at_points.items()) + "</PointData>",
        "<CellData>" + "".join(_array(name, array) for name, array in in_cells.items()) + "</CellData>",
        "</Piece>",
    ]
    path.write_text(_file("UnstructuredGrid", "\n".join(parts)), encoding="utf-8")


def write_series(path: Path, files: Mapping[str, float]) -> None:
    """Which files make a series, and the time of each."""
    lines = [f'<DataSet timestep="{time!r}" group="" part="0" file={quoteattr(file)}/>' for file, time in files.items()]
    path.write_text(_file("Collection", "\n".join(lines)), encoding="utf-8")


def _file(kind: str, inside: str) -> str:
    head = f'<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64">'
    return f'<?xml version="1.0"?>\n{head}\n<{kind}>\n{inside}\n</{kind}>\n</VTKFile>\n'


def _array(name: str, array: np.ndarray) -> str:
    """Base64 of the number of bytes and the bytes."""
    kind = array.dtype.str[1:]
    data = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
    text = base64.b64encode(np.array([len(data)], dtype="<u8").tobytes() + data).decode()
    width = f' NumberOfComponents="{array.shape[1]}"' if array.ndim == 2 else ""
    return f'<DataArray type="{NAMES[kind]}" Name={quoteattr(name)}{width} format="binary">{text}</DataArray>\n'
