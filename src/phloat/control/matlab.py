"""Linear systems in .mat files, which MATLAB, Octave and SciPy open.

E, J, R, B, G, B_lam are sparse matrices and `split` a number; `rows`, `ports` and `multipliers` are structs of cells `name`
and `shape`; `fields`, of cells `name`, `points` and `motion`. In MATLAB:

    s = load('arm.mat'); k = zeros(size(s.G, 1)); B = full([s.B; s.B_lam]);
    sys = dss(full([s.J - s.R, s.G'; -s.G, k]), B, B', 0, full(blkdiag(s.E, k)));
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from phloat.algebra.layout import Layout, Shape
from phloat.algebra.sparse import Matrix, csr
from phloat.errors import InputError
from phloat.linear.phdae import Field, LinearPHDAE, linear_only

VERSION = 1
MATRICES = ("E", "J", "R", "B", "G", "B_lam")
KINDS = {"rows": "row", "ports": "port", "multipliers": "multiplier"}


def to_matlab(system: LinearPHDAE, path: str | Path) -> None:
    """Write the system to a .mat file: matrices, names, the split and the fields, every number as it is."""
    linear_only(system)
    file = Path(path)
    if file.suffix != ".mat":
        raise InputError(f"{str(file)!r} does not end in .mat, by which MATLAB knows its files")
    values: dict[str, Any] = {"phloat_version": VERSION, "split": system.split}
    values |= {name: sp.csc_matrix(getattr(system, name)) for name in MATRICES}
    values |= {name: _struct(getattr(system, name)) for name in KINDS}
    values["fields"] = {
        "name": _cells(list(system.fields)),
        "points": _cells([field.points for field in system.fields.values()]),
        "motion": _cells([sp.csc_matrix(field.motion) for field in system.fields.values()]),
    }
    try:
        with open(file, "wb") as out:
            scipy.io.savemat(out, values, do_compression=True)
    except OSError as error:
        raise InputError(
            f"{str(file)!r} cannot be written: {error.strerror}; give a file in a folder that is there"
        ) from error


def from_matlab(path: str | Path) -> LinearPHDAE:
    """The system in a .mat file: one that `to_matlab` wrote, number for number, or any with matrices E, J and B.

    R, G and B_lam are zero where they are not there; rows and ports without names are "x" and "u".
    """
    file = Path(path)
    there = _read(file)
    missing = [name for name in ("E", "J", "B") if name not in there]
    if missing:
        names = [name for name in there if not name.startswith("__")]
        raise InputError(
            f"{str(file)!r} has no {' and no '.join(missing)}; a linear system needs E, J and B, and there are: "
            f"{', '.join(names) or 'none'}"
        )
    if "phloat_version" in there and (version := int(there["phloat_version"].item())) > VERSION:
        raise InputError(
            f"{str(file)!r} has version {version}, and this phloat reads up to {VERSION}; use a newer phloat"
        )
    given = {name: _matrix(file, name, there[name]) for name in MATRICES if name in there}
    sizes = {"rows": ("x", given["E"].shape[0]), "ports": ("u", given["B"].shape[1])}
    sizes["multipliers"] = ("joint", given["G"].shape[0] if "G" in given else 0)
    layouts = {name: _layout(there.get(name), KINDS[name], *size) for name, size in sizes.items()}
    return LinearPHDAE(
        **given,
        rows=layouts["rows"],
        ports=layouts["ports"],
        multipliers=layouts["multipliers"],
        split=int(there["split"].item()) if "split" in there else -1,
        fields=_fields(there.get("fields")),
    )


def _read(file: Path) -> Mapping[str, Any]:
    try:
        with open(file, "rb") as opened:
            return scipy.io.loadmat(opened)
    except OSError as error:
        raise InputError(f"{str(file)!r} cannot be read: {error.strerror or error}") from error
    except NotImplementedError:
        raise InputError(
            f"{str(file)!r} is a MATLAB file of version 7.3; save it with '-v7', as save('…', '-v7')"
        ) from None
    except (ValueError, TypeError) as error:
        raise InputError(f"{str(file)!r} is no .mat file: {error}") from error


def _struct(layout: Layout) -> dict[str, Any]:
    return {
        "kind": layout.kind,
        "name": _cells(list(layout.shapes)),
        "shape": _cells([np.array(shape, dtype=float).reshape(1, -1) for shape in layout.shapes.values()]),
        "also": _cells(list(layout.also)),
        "of": _cells(list(layout.also.values())),
    }


def _cells(values: list[Any]) -> np.ndarray:
    """A cell array of one row."""
    out = np.empty((1, len(values)), dtype=object)
    for k, value in enumerate(values):
        out[0, k] = value
    return out


def _layout(struct: Any, kind: str, name: str, size: int) -> Layout:
    if struct is None:
        return Layout({name: (size,)} if size else {}, kind)
    names = [_text(cell) for cell in _column(struct, "name")]
    shapes: list[Shape] = [tuple(map(int, np.ravel(cell))) for cell in _column(struct, "shape")]
    also = dict(zip(map(_text, _column(struct, "also")), map(_text, _column(struct, "of")), strict=True))
    said = [_text(cell) for cell in _column(struct, "kind")]
    return Layout(dict(zip(names, shapes, strict=True)), said[0] if said else kind, also)


def _fields(struct: Any) -> dict[str, Field]:
    if struct is None:
        return {}
    columns = (_column(struct, part) for part in ("name", "points", "motion"))
    return {_text(name): Field(np.array(points), csr(motion)) for name, points, motion in zip(*columns, strict=True)}


def _column(struct: Any, part: str) -> list[Any]:
    cells = struct[part][0, 0] if part in (struct.dtype.names or ()) else np.empty((1, 0), dtype=object)
    return list(np.ravel(cells))


def _text(cell: Any) -> str:
    return str(np.ravel(cell)[0]) if np.size(cell) else ""


def _matrix(file: Path, name: str, value: Any) -> Matrix:
    if not sp.issparse(value) and np.asarray(value).dtype.kind not in "biuf":
        raise InputError(f"{name} in {str(file)!r} is no matrix of real numbers")
    return csr(value)
