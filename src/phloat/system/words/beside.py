"""Files beside a model: meshes and matrices, in formats of other codes or as arrays of NumPy."""

from __future__ import annotations

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
from phloat.system.words.kinds import Known, Pen, Plain, Schema
from phloat.system.words.node import Node


@dataclass(frozen=True)
class File:
    """The path of a file in the folder of the model, or in one inside it."""

    what: str = "a file"

    @property
    def said(self) -> str:
        return f"{self.what} in the folder of the model: a path without '..' that does not begin with '/'"

    def takes(self, node: Node) -> bool:
        return node.text is not None and not node.empty

    def read(self, node: Node, known: Known) -> Path:
        if not self.takes(node):
            node.expected(self.said)
        path = PurePosixPath(node.text or "")
        if path.is_absolute() or ".." in path.parts or any(letter in str(path) for letter in "\\:\0"):
            node.expected(self.said)
        if known.folder is None:
            node.wrong("this model has no folder, so it can name no files; save it first")
        found = known.folder / path
        if not found.resolve().is_relative_to(known.folder.resolve()):
            node.wrong(f"{str(path)!r} leads out of the folder of the model")
        if not found.is_file():
            there = sorted(p.name for p in found.parent.glob("*") if p.is_file()) if found.parent.is_dir() else []
            node.wrong(f"no file {str(path)!r}; that folder holds {', '.join(there[:12]) or 'none'}")
        return found

    def write(self, value: Any, pen: Pen) -> Plain:
        return str(value)

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"^(?!/)(?!.*\.\.).+$"}


def arrays_in(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file."""
    try:
        return read_npz(path)
    except DAMAGED as error:
        raise InputError(f"{path.name} cannot be read as arrays of NumPy ({error}); is it complete?") from None


def _of(path: Path, arrays: dict[str, np.ndarray], *names: str) -> list[np.ndarray]:
    for name in names:
        if name not in arrays:
            raise InputError(f"{path.name} holds no {name!r}; it holds {', '.join(arrays) or 'nothing'}")
    return [arrays[name] for name in names]


# --- meshes -----------------------------------------------------------------------------------------------------------


def mesh_in(path: Path, unit: float) -> Mesh:
    """The mesh of a file: of gmsh, VTK, Abaqus, Nastran, or arrays kind, points, cells, "boundary …", "region …"."""
    if path.suffix.lower() != ".npz":
        return read_mesh(path, unit=unit)
    arrays = arrays_in(path)
    kind, points, cells = _of(path, arrays, "kind", "points", "cells")
    named = [
        {name.removeprefix(start): x for name, x in arrays.items() if name.startswith(start)}
        for start in ("boundary ", "region ")
    ]
    mesh = Mesh(str(kind), points, cells, *named)
    return mesh if unit == 1.0 else mesh.scaled(unit)


def stored_mesh(mesh: Mesh, pen: Pen) -> str:
    """The name of the file that a mesh was put into."""
    arrays = {"kind": np.array(mesh.kind), "points": mesh.points, "cells": mesh.cells}
    arrays |= {f"boundary {name}": facets for name, facets in mesh.boundaries.items()}
    arrays |= {f"region {name}": np.asarray(cells) for name, cells in mesh.regions.items()}
    return _stored(pen, "a mesh", arrays)


def _stored(pen: Pen, what: str, arrays: dict[str, np.ndarray]) -> str:
    if pen.arrays is None:
        raise InputError(f"it has {what} of its own, which needs a file beside the model: save_model(…) writes one")
    return pen.arrays(pen.of, arrays)


# --- matrices ---------------------------------------------------------------------------------------------------------


def stored_matrices(body: Superelement, pen: Pen) -> str:
    """The name of the file that the matrices of a superelement were put into."""
    arrays = {"nodes": body.nodes, "dofs": body.dofs}
    for name in ("M", "K", "R"):
        if (matrix := getattr(body, name)) is not None:
            a = sp.csr_array(matrix)
            arrays |= {f"{name} data": a.data, f"{name} indices": a.indices, f"{name} indptr": a.indptr}
    if body.masses is not None:
        arrays["masses"] = body.masses
    return _stored(pen, "matrices", arrays)


def matrices_in(path: Path) -> dict[str, Any]:
    """M, K, nodes, and where they are there dofs, R and masses; matrices full, or as data, indices and indptr of rows."""
    arrays = arrays_in(path)
    out: dict[str, Any] = {"nodes": _of(path, arrays, "nodes")[0]}
    for name in ("M", "K", "R"):
        if name in arrays:
            out[name] = arrays[name]
        elif name != "R" or "R data" in arrays:
            parts = _of(path, arrays, f"{name} data", f"{name} indices", f"{name} indptr")
            size = len(parts[2]) - 1
            try:
                out[name] = sp.csr_array(tuple(parts), shape=(size, size))
            except ValueError as error:
                raise InputError(f"{path.name}: {name} is no sparse matrix ({error})") from None
    return out | {name: arrays[name] for name in ("dofs", "masses") if name in arrays}
