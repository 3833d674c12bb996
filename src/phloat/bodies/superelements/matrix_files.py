"""Readers of matrices that other finite-element codes write as text.

Formats, recognised by their content:

- Matrix Market (`%%MatrixMarket`, coordinate or array, real or integer, general or symmetric), without names of nodes;
- CalculiX `*FREQUENCY, SOLVER=MATRIXSTORAGE`: `job.sti`, `job.mas`, lines `row column value` of the upper triangle, counted from
  1, with `job.dof` (lines `node.direction`) in the same folder;
- Abaqus `*MATRIX OUTPUT, FORMAT=MATRIX INPUT`: `job_STIF1.mtx`, lines `node, dof, node, dof, value`, one triangle or all; and
  FORMAT=COORDINATE: lines `row column value`, without names of nodes;
- Nastran `DMIG` in bulk data (punch files too), forms 1 (square), 2 (as far as it is square) and 6 (symmetric), real, single or
  double, in small, large and free fields; a component 0 or blank is a scalar point.

If a format does not state whether one triangle or the full matrix is written, it is one triangle if no entry has its mirror.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.io as sio
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.continua.floating import MEAN_AXES
from phloat.errors import InputError, mapping, port_name
from phloat.fem.decks import Card, cards, read_deck

PathName: TypeAlias = "str | PathLike[str]"
File: TypeAlias = "PathName | tuple[PathName, str]"
FORMS = {"1": "square", "2": "rectangular", "6": "symmetric"}
REAL = ("1", "2")
PENALTY = 1e35  # Abaqus writes held degrees of freedom as 1e36 on the diagonal


class Labelled(NamedTuple):
    """A matrix and its rows as (node number, component), with components 1 to 6 and 0 for scalars; None if unknown."""

    matrix: Matrix
    dofs: np.ndarray | None


def read_matrix(file: File, letter: str = "") -> Labelled:
    """The matrix in a file; of several (DMIG) the one named in (file, name), or the only one whose name starts with the letter."""
    path, name = (Path(file[0]), file[1]) if isinstance(file, tuple) else (Path(file), None)
    text = read_deck(path)
    head = _first_line(text)
    try:
        if head.startswith("%%MatrixMarket"):
            return Labelled(_matrix_market(path), None)
        if path.suffix.lower() in (".sti", ".mas"):
            return _calculix(text, path)
        if "DMIG" in text.upper():
            return _dmig(text, name, letter)
        if "," in head:
            return _abaqus(text)
        return Labelled(_coordinate(text), None)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None


def matched(a: Labelled, b: Labelled) -> tuple[Matrix, Matrix, np.ndarray | None]:
    """Two matrices on common rows (those of the first, then those that only the second has), and these rows."""
    if a.dofs is None or b.dofs is None:
        dofs = a.dofs if b.dofs is None else b.dofs
        if a.matrix.shape != b.matrix.shape:
            raise InputError(f"the matrices have {a.matrix.shape[0]} and {b.matrix.shape[0]} rows, not of one body")
        return a.matrix, b.matrix, dofs
    dofs = np.array(list(dict.fromkeys(map(tuple, [*a.dofs.tolist(), *b.dofs.tolist()]))), dtype=int).reshape(-1, 2)
    place = {tuple(d): k for k, d in enumerate(dofs.tolist())}
    pair = []
    for matrix, labels in ((a.matrix, a.dofs), (b.matrix, b.dofs)):
        to = np.array([place[tuple(d)] for d in labels.tolist()], dtype=int)
        entries = matrix.tocoo()
        pair.append(csr(sp.coo_array((entries.data, (to[entries.row], to[entries.col])), shape=(len(dofs), len(dofs)))))
    return pair[0], pair[1], dofs


# --- formats ----------------------------------------------------------------------------------------------------------


def _matrix_market(path: Path) -> Matrix:
    """The matrix of a Matrix Market file. Raises InputError if it is malformed or complex."""
    try:
        matrix = sio.mmread(path)
    except ValueError as error:
        raise InputError(f"not a Matrix Market file: {error}") from None
    if np.iscomplexobj(matrix if isinstance(matrix, np.ndarray) else matrix.data):
        raise InputError("the matrix is complex; real ones are read")
    return csr(matrix)


def _calculix(text: str, path: Path) -> Labelled:
    """The matrix of a file of CalculiX, with the rows of `job.dof`. Raises InputError if the two do not fit."""
    dof_file = path.with_suffix(".dof")
    if not dof_file.exists():
        raise InputError(f"the file {dof_file.name} with the nodes and directions of the rows must lie beside it")
    table = [line.split(".") for line in read_deck(dof_file).split()]
    try:
        dofs = np.array([[int(node), int(direction)] for node, direction in table], dtype=int).reshape(-1, 2)
    except ValueError:
        raise InputError(f"{dof_file.name} must hold lines node.direction, as 17.2") from None
    if (dofs[:, 1] == 0).any():
        raise InputError(f"{dof_file.name} has direction 0, a temperature; export a mechanical step")
    matrix = _coordinate(text)
    if matrix.shape[0] != len(dofs):
        raise InputError(f"the matrix has {matrix.shape[0]} rows, but {dof_file.name} has {len(dofs)} lines")
    return Labelled(matrix, dofs)


def _coordinate(text: str) -> Matrix:
    """The matrix of lines `row column value`, counted from 1."""
    table = _table(text, 3, "row column value")
    row, column = (_integers(table[:, k]) - 1 for k in (0, 1))
    if row.min(initial=0) < 0 or column.min(initial=0) < 0:
        raise InputError("rows and columns are counted from 1, and there is a 0")
    return _assembled(row, column, table[:, 2], int(max(row.max(initial=-1), column.max(initial=-1))) + 1)


def _abaqus(text: str) -> Labelled:
    """The matrix of an Abaqus file, lines `node, dof, node, dof, value`. Raises InputError if nodes are internal or held."""
    table = _table(text, 5, "node, dof, node, dof, value")
    labels = _integers(table[:, :4])
    if (labels[:, [0, 2]] < 1).any():
        raise InputError(
            f"node {int(labels[:, [0, 2]].min())} is internal to the code that wrote the file (a multiplier …); "
            "export without contacts, connectors and hybrid elements"
        )
    if np.abs(table[:, 4]).max(initial=0.0) >= PENALTY:
        label = labels[np.abs(table[:, 4]).argmax()]
        raise InputError(
            f"node {label[0]}, dof {label[1]} is fixed (entry 1e36); export the matrices without boundary conditions"
        )
    rows, columns = labels[:, :2], labels[:, 2:]
    dofs, place = np.unique(np.vstack([rows, columns]), axis=0, return_inverse=True)
    place = place.reshape(2, -1)
    return Labelled(_assembled(place[0], place[1], table[:, 4], len(dofs)), dofs)


def _dmig(text: str, name: str | None, letter: str) -> Labelled:
    """The DMIG matrix of a Nastran file, chosen by name or first letter. Raises InputError if it contradicts its header."""
    heads: dict[str, Card] = {}
    matrices: dict[str, list[tuple[tuple[int, int], tuple[int, int], float]]] = {}
    for card in cards(text):
        if card.name != "DMIG":
            continue
        matrix = card.field(0).upper()
        if card.field(1) == "0":
            heads[matrix] = card
            continue
        column = card.integer(1, "GJ"), card.integer(2, "CJ", 0)
        entries = matrices.setdefault(matrix, [])
        for k in range(4, len(card.fields), 4):
            if card.field(k):
                row = card.integer(k, "Gi"), card.integer(k + 1, "Ci", 0)
                entries.append((row, column, card.real(k + 2, "Ai")))
    chosen = _matrix_name(list(matrices), name, letter)
    form = _form(chosen, heads)
    entries = matrices[chosen]
    dofs, place = np.unique([e[0] for e in entries] + [e[1] for e in entries], axis=0, return_inverse=True)
    place, value = place.reshape(2, -1), np.array([e[2] for e in entries])
    if form == "2" and set(place[0]) != set(place[1]):
        raise InputError(f"DMIG {chosen} is rectangular (form 2): its rows and columns are not the same")
    if form == "6" and _mirrored(place[0], place[1], len(dofs)):
        raise InputError(f"DMIG {chosen} is symmetric (form 6), but holds entries on both sides of the diagonal")
    return Labelled(_assembled(place[0], place[1], value, len(dofs), symmetric=form == "6"), dofs)


def _matrix_name(available: list[str], name: str | None, letter: str) -> str:
    """The matrix to read: the named one, the only one, or the only one that starts with the letter. Else raises InputError."""
    likely = [candidate for candidate in available if candidate.startswith(letter)]
    if name is None and 1 in (len(available), len(likely)):
        return available[0] if len(available) == 1 else likely[0]
    if name is None or name.upper() not in available:
        problem = "say which matrix" if name is None else f"no DMIG {name!r}"
        raise InputError(f"{problem}; there are: {', '.join(available) or 'none'}: write (file, name)")
    return name.upper()


def _form(name: str, heads: dict[str, Card]) -> str:
    """The form of a DMIG matrix from its header card. Raises InputError if the form or the type is not supported."""
    if name not in heads:
        raise InputError(f"DMIG {name} has no header, a DMIG card with 0 in its third field")
    form, kind = heads[name].field(2), heads[name].field(3)
    if form not in FORMS:
        raise InputError(f"DMIG {name} has form {form}; read are {', '.join(f'{k} ({v})' for k, v in FORMS.items())}")
    if kind not in REAL:
        raise InputError(f"DMIG {name} has type {kind}; read are real matrices, 1 (single) and 2 (double)")
    return form


# --- parts ------------------------------------------------------------------------------------------------------------


def _first_line(text: str) -> str:
    """The first line that is no comment, or an empty string."""
    lines = map(str.strip, text.splitlines())
    return next((line for line in lines if line and not line.startswith(("**", "$", "#"))), "")


def _table(text: str, columns: int, form: str) -> np.ndarray:
    """The numbers of a text as (lines, columns), separated by commas or blanks; lines that start with * or # are comments."""
    rows = []
    for line in text.splitlines():
        line = line.replace(",", " ").strip()
        words = line.split()
        if words and not words[0].startswith(("*", "#")):
            try:
                rows.append([float(word.upper().replace("D", "E")) for word in words])
            except ValueError:
                rows.append([])
            if len(rows[-1]) != columns:
                raise InputError(f"lines must hold {form}; there is {line!r}")
    if not rows:
        raise InputError(f"lines must hold {form}; there is 'nothing'")
    table = np.array(rows)
    if not np.isfinite(table).all():
        raise InputError("the file holds NaN or infinity")
    return table


def _integers(numbers: np.ndarray) -> np.ndarray:
    """The numbers as integers. Raises InputError if one is not whole."""
    integers = numbers.astype(int)
    if (integers != numbers).any():
        raise InputError("numbers of nodes, directions, rows and columns must be whole")
    return integers


def _mirrored(row: np.ndarray, column: np.ndarray, n: int) -> bool:
    """Whether the mirror of some off-diagonal entry is stored, too."""
    mask = row != column
    return bool(np.isin(row[mask] * n + column[mask], column[mask] * n + row[mask]).any())


def _assembled(row: np.ndarray, column: np.ndarray, value: np.ndarray, n: int, symmetric: bool | None = None) -> Matrix:
    """The matrix of entries; if it is one triangle (None: if no entry has its mirror) the other is added."""
    out = sp.coo_array((value, (row, column)), shape=(n, n)).tocsr()
    if symmetric or (symmetric is None and not _mirrored(row, column, n)):
        out = out + out.T - sp.diags_array(out.diagonal())
    return csr(out)


# --- inputs of users ---------------------------------------------------------------------------------------------------


def to_matrix(label: str, a: Any, rows: int | None = None) -> Matrix:
    """A square matrix of NumPy or SciPy, or in a file, as CSR. Raises InputError, with the label, if it is none."""
    if isinstance(a, (str, PathLike)):
        a = read_matrix(a).matrix
    try:
        out = csr(a)
    except (TypeError, ValueError):
        raise InputError(f"{label} is {type(a).__name__}; it must be a matrix of NumPy or SciPy, or a file") from None
    if out.ndim != 2 or out.shape[0] != out.shape[1] or (rows is not None and out.shape[0] != rows):
        expected = "square" if rows is None else f"{rows} × {rows}"
        raise InputError(f"{label} has shape {out.shape}; it must be {expected}")
    if not np.isfinite(out.data).all():
        raise InputError(f"{label} holds NaN or infinity")
    return out


def row_table(dofs: object, nodes: int, rows: int) -> np.ndarray:
    """Node and component of every row, (rows, 2). Raises InputError if `dofs` does not fit, or is None and rows are not regular."""
    if dofs is None:
        for each in (3, 6):
            if rows == each * nodes:
                return np.column_stack([np.repeat(np.arange(nodes), each), np.tile(np.arange(1, each + 1), nodes)])
        raise InputError(
            f"the matrices have {rows} rows for {nodes} nodes, not 3 or 6 for each; name them: dofs=[(node, component), …]"
        )
    table = np.asarray(dofs)
    if table.shape != (rows, 2) or table.dtype.kind not in "iu":
        raise InputError(f"dofs has shape {table.shape}; it must be {rows} pairs of whole numbers (node, component)")
    if (invalid := (table[:, 0] < 0) | (table[:, 0] >= nodes) | (table[:, 1] < 0) | (table[:, 1] > 6)).any():
        node, component = table[invalid.argmax()]
        raise InputError(
            f"dofs holds ({node}, {component}); nodes are 0 to {nodes - 1}, components 1 to 6, and 0 a scalar"
        )
    moving = table[table[:, 1] > 0]
    pairs, count = np.unique(moving, axis=0, return_counts=True)
    if (count > 1).any():
        node, component = pairs[count.argmax()]
        raise InputError(f"dofs names component {component} of node {node} twice")
    return table.astype(int)


def interface_nodes(interfaces: object, dofs: np.ndarray, nodes: int) -> dict[str, np.ndarray]:
    """The node indices of every interface. Raises InputError if a node lacks one of its three displacements."""
    out: dict[str, np.ndarray] = {}
    row_labels = set(map(tuple, dofs.tolist()))
    for name, chosen in mapping("interfaces", interfaces, "{name: node numbers}").items():
        port_name(name)
        if name == MEAN_AXES:
            raise InputError(f"an interface cannot be called {MEAN_AXES!r}, which is a frame")
        numbers = np.asarray(chosen)
        if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in "iu":
            raise InputError(f"interface {name!r} is {chosen!r}; it must be a list of node numbers")
        if numbers.min() < 0 or numbers.max() >= nodes:
            wrong = numbers.min() if numbers.min() < 0 else numbers.max()
            raise InputError(f"interface {name!r} has node {wrong}; nodes go from 0 to {nodes - 1}")
        for node, axis in product(numbers.tolist(), "xyz"):
            if (node, 1 + "xyz".index(axis)) not in row_labels:
                raise InputError(
                    f"interface {name!r}: no row holds displacement {axis} of node {node}; take nodes with all three"
                )
        out[name] = np.unique(numbers)
    return out


def node_table(labels: np.ndarray, place: dict[int, int]) -> np.ndarray:
    """Rows (node number, component) with the numbers replaced by node indices. Raises InputError for an unknown number."""
    if unknown_nodes := [n for n, c in labels.tolist() if n not in place and c > 0]:
        raise InputError(f"the matrices hold node {unknown_nodes[0]}, which the file of nodes does not")
    return np.array([[place.get(n, 0), c if n in place else 0] for n, c in labels.tolist()], dtype=int).reshape(-1, 2)


def places_of(name: str, chosen: Sequence[int], place: dict[int, int]) -> list[int]:
    """Node indices from the numbers in the files. Raises InputError for a number without a row."""
    if missing := [n for n in chosen if n not in place]:
        raise InputError(f"interface {name!r} has node {missing[0]}, which has no row in the matrices")
    return [place[int(n)] for n in chosen]
