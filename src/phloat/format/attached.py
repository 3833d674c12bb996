"""Files that a model refers to: meshes and matrices, in formats of other codes or as NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import scipy.sparse as sp

from phloat.algebra.array_files import DAMAGED, read_npz
from phloat.bodies.superelements.superelement import Superelement
from phloat.errors import InputError
from phloat.fem.mesh import Mesh
from phloat.fem.mesh_files import read_mesh
from phloat.format.kinds import Arrays, Context, Kind, Plain, Schema, Writer
from phloat.format.node import Node


@dataclass(frozen=True)
class File(Kind):
    """The path of a file in the folder of the model or below; `store` writes a value to a file and returns its name."""

    what: str = "a file"
    store: Callable[[Any, Writer], str] = lambda value, writer: str(value)

    @property
    def expected(self) -> str:
        return f"{self.what} in the folder of the model: a path without '..' that does not begin with '/'"

    def matches(self, node: Node) -> bool:
        return node.text is not None and not node.empty

    def read(self, node: Node, context: Context) -> Path:
        path = PurePosixPath(node.text or "")
        outside = path.is_absolute() or ".." in path.parts or any(letter in str(path) for letter in "\\:\0")
        if not self.matches(node) or outside:
            node.fail_expected(self.expected)
        if context.folder is None:
            node.fail("this model has no folder, so it cannot name files; save it first")
        file = context.folder / path
        if not file.resolve().is_relative_to(context.folder.resolve()):
            node.fail(f"{str(path)!r} leads out of the folder of the model")
        if not file.is_file():
            names = sorted(p.name for p in file.parent.glob("*") if p.is_file()) if file.parent.is_dir() else []
            node.fail(f"no file {str(path)!r}; files in that folder: {', '.join(names[:12]) or 'none'}")
        return file

    def write(self, value: Any, writer: Writer) -> Plain:
        return self.store(value, writer)

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"^(?!/)(?!.*\.\.).+$"}


def store_arrays(writer: Writer, label: str, arrays: Arrays) -> str:
    """Writes arrays to a file and returns its name. Raises InputError if the model has no folder."""
    if writer.arrays is None:
        raise InputError(f"{label} need a file beside the model: save_model(…) writes one")
    return writer.arrays(writer.body, arrays)


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a .npz file. Raises InputError if it cannot be read."""
    try:
        return read_npz(path)
    except DAMAGED as error:
        raise InputError(f"{path.name} cannot be read as NumPy arrays ({error}); is it complete?") from None


def require_arrays(path: Path, arrays: Arrays, *names: str) -> list[np.ndarray]:
    """The arrays of these names. Raises InputError if one is missing."""
    for name in names:
        if name not in arrays:
            raise InputError(f"{path.name} has no array {name!r}; it has {', '.join(arrays) or 'none'}")
    return [arrays[name] for name in names]


# --- meshes -----------------------------------------------------------------------------------------------------------


def load_mesh(path: Path, unit: float) -> Mesh:
    """The mesh in a file of gmsh, VTK, Abaqus or Nastran, or in arrays kind, points, cells, "boundary …", "region …"."""
    if path.suffix.lower() != ".npz":
        return read_mesh(path, unit=unit)
    arrays = load_arrays(path)
    kind, points, cells = require_arrays(path, arrays, "kind", "points", "cells")
    groups = [
        {name.removeprefix(start): x for name, x in arrays.items() if name.startswith(start)}
        for start in ("boundary ", "region ")
    ]
    mesh = Mesh(str(kind), points, cells, *groups)
    return mesh if unit == 1.0 else mesh.scaled(unit)


def store_mesh(mesh: Mesh, writer: Writer) -> str:
    """Writes a mesh to a file and returns its name."""
    arrays = {"kind": np.array(mesh.kind), "points": mesh.points, "cells": mesh.cells}
    arrays |= {f"boundary {name}": facets for name, facets in mesh.boundaries.items()}
    arrays |= {f"region {name}": np.asarray(cells) for name, cells in mesh.regions.items()}
    return store_arrays(writer, "the points and cells of a mesh", arrays)


# --- matrices ---------------------------------------------------------------------------------------------------------


def store_matrices(body: Superelement, writer: Writer) -> str:
    """Writes the matrices of a superelement to a file and returns its name."""
    arrays = {"nodes": body.nodes, "dofs": body.dofs}
    for name in ("M", "K", "R"):
        if (matrix := getattr(body, name)) is not None:
            a = sp.csr_array(matrix)
            arrays |= {f"{name} data": a.data, f"{name} indices": a.indices, f"{name} indptr": a.indptr}
    if body.masses is not None:
        arrays["masses"] = body.masses
    return store_arrays(writer, "the matrices of a superelement", arrays)


def load_matrices(path: Path) -> dict[str, Any]:
    """M, K, nodes, and optionally dofs, R and masses; matrices are full arrays, or CSR by data, indices and indptr."""
    arrays = load_arrays(path)
    require_arrays(path, arrays, "nodes")
    out: dict[str, Any] = {name: arrays[name] for name in ("nodes", "dofs", "masses", "M", "K", "R") if name in arrays}
    for name in ("M", "K", "R"):
        if name in out or (name == "R" and "R data" not in arrays):
            continue
        names = (f"{name} {part}" for part in ("data", "indices", "indptr"))
        data, indices, indptr = require_arrays(path, arrays, *names)
        try:
            out[name] = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1,) * 2)
        except ValueError as error:
            raise InputError(f"{path.name}: {name} is not a sparse matrix ({error})") from None
    return out
