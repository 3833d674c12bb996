"""Conversion of linear systems to and from python-control, SciPy and MATLAB.

In a .mat file E, J, R, B, G, B_lam are sparse matrices and `split` a number; `rows`, `ports` and `multipliers` are structs of cells
`name` and `shape`; `fields`, of cells `name`, `points` and `motion`. In MATLAB:

    s = load('arm.mat'); k = zeros(size(s.G, 1)); B = full([s.B; s.B_lam]);
    sys = dss(full([s.J - s.R, s.G'; -s.G, k]), B, B', 0, full(blkdiag(s.E, k)));

Of a system with feedthrough there are also P, S and N: [s.B - s.P; s.B_lam], [s.B + s.P; s.B_lam]' and s.S + s.N.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from phloat.algebra.layout import Layout, Shape
from phloat.algebra.sparse import Matrix, csr
from phloat.errors import InputError, optional_package
from phloat.linear.form.fields import Field
from phloat.linear.form.passive import PortSizes, Values, from_state_space
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.state_space import state_space

if TYPE_CHECKING:
    import scipy.signal as signal  # it takes half a second to import
    from control import StateSpace

SIGNAL = re.compile(r"(?P<port>.+)_(?:effort|flow)(?:\[\d+\])?$")
VERSION = 2  # of .mat files; 2 has a feedthrough
MATRICES = ("E", "J", "R", "B", "G", "B_lam")
FEEDTHROUGH = ("P", "S", "N")
LAYOUTS = ("rows", "ports", "multipliers")


def to_control(system: LinearPHDAE, *, name: str | None = None) -> StateSpace:
    """The system as a `control.StateSpace` with dense matrices; joints are eliminated, a feedthrough is D.

    Inputs are named "elbow_effort", outputs "elbow_flow" ("tip_effort[0]" … for ports with several components); a dot in a name
    becomes "_", as python-control does not allow it. The states are energy coordinates, H = ½ xᵀx, so that A + Aᵀ ≤ 0 and C = Bᵀ;
    the rows are e = T x with `state_space(system).T`.
    """
    control = _package()
    plant = state_space(system)
    inputs, outputs = _without_dots(plant.inputs), _without_dots(plant.outputs)
    if name is not None and (not isinstance(name, str) or not name or "." in name):
        raise InputError(f"{name!r} cannot name a system of python-control: it must be a word without a dot")
    return control.ss(plant.A, plant.B, plant.C, plant.D, inputs=inputs, outputs=outputs, name=name)


def from_control(system: StateSpace, *, ports: PortSizes = None, energy: Values | None = None) -> LinearPHDAE:
    """A passive system or controller of python-control as a `LinearPHDAE`; raises InputError if it is not passive.

    Ports are named after the signals: "elbow_effort" with "elbow_flow" is the port "elbow", others have the name of the input;
    `ports` gives other names, {name: number of components}. `energy` is the matrix of H = ½ xᵀ energy x, by default computed. A
    transfer function is converted to a state space first.
    """
    control = _package()
    if isinstance(system, control.TransferFunction):
        system = control.ss(system)
    if not isinstance(system, control.StateSpace):
        raise InputError(f"{type(system).__name__} is not a state space of python-control; control.ss(…) makes one")
    if system.isdtime(strict=True):
        raise InputError(f"the system is sampled every {system.dt} s; use the continuous design, or every=")
    named = _ports_of(system.input_labels, system.output_labels) if ports is None else ports
    return from_state_space(system.A, system.B, system.C, system.D, ports=named, energy=energy)


def _without_dots(names: Iterable[str]) -> list[str]:
    """The names with "_" for dots; raises InputError if two become equal."""
    originals: dict[str, str] = {}
    for name in names:
        plain = name.replace(".", "_")
        if plain in originals:
            raise InputError(
                f"signals {originals[plain]!r} and {name!r} are both {plain!r} without dots, which python-control does not "
                "allow; keep one of the ports with with_ports(…)"
            )
        originals[plain] = name
    return list(originals)


def _ports_of(inputs: Sequence[str], outputs: Sequence[str]) -> dict[str, int]:
    """{port: number of components} from the names of signals."""
    ports: dict[str, int] = {}
    for u, y in zip(inputs, outputs, strict=False):
        pair = SIGNAL.match(u), SIGNAL.match(y)
        name = pair[0]["port"] if pair[0] and pair[1] and pair[0]["port"] == pair[1]["port"] else u
        ports[name] = ports.get(name, 0) + 1
    return ports if sum(ports.values()) == len(inputs) else dict.fromkeys(inputs, 1)


def _package() -> Any:
    """The module python-control; raises InputError if it is not installed."""
    with optional_package("python-control", "control"):
        import control
    return control


def to_scipy(system: LinearPHDAE) -> signal.StateSpace:
    """The system as a `scipy.signal.StateSpace` with H = ½ xᵀx; joints are eliminated.

    Inputs and outputs are in the order of `system.ports`; `state_space(system)` has their names and the map to the rows,
    `descriptor(system)` is the sparse form with E and λ.
    """
    import scipy.signal as signal

    plant = state_space(system)
    return signal.StateSpace(plant.A, plant.B, plant.C, plant.D)


def from_scipy(system: signal.lti, *, ports: PortSizes = None, energy: Values | None = None) -> LinearPHDAE:
    """A passive continuous system of SciPy as a `LinearPHDAE`, like `from_control`."""
    import scipy.signal as signal

    if isinstance(system, signal.dlti):
        raise InputError(f"the system is sampled every {system.dt} s; use the continuous design")
    if not isinstance(system, signal.lti):
        raise InputError(f"{type(system).__name__} is not a system of SciPy; scipy.signal.StateSpace(…) makes one")
    space = system.to_ss()
    return from_state_space(space.A, space.B, space.C, space.D, ports=ports, energy=energy)


def to_matlab(system: LinearPHDAE, path: str | Path) -> None:
    """Writes the system to a .mat file: matrices, names, the split and the fields, in double precision."""
    linear_only(system, feedthrough=True)
    file = Path(path)
    if file.suffix != ".mat":
        raise InputError(f"{str(file)!r} does not end in .mat")
    names = (*MATRICES, *FEEDTHROUGH) if system.has_feedthrough else MATRICES
    values: dict[str, Any] = {"phloat_version": VERSION if system.has_feedthrough else 1, "split": system.split}
    values |= {name: sp.csc_matrix(getattr(system, name)) for name in names}
    values |= {name: _struct(getattr(system, name)) for name in LAYOUTS}
    fields = system.fields.values()
    values["fields"] = {
        "name": _cells(system.fields),
        "points": _cells(field.points for field in fields),
        "motion": _cells(sp.csc_matrix(field.motion) for field in fields),
    }
    try:
        with open(file, "wb") as stream:
            scipy.io.savemat(stream, values, do_compression=True)
    except OSError as error:
        raise InputError(f"{str(file)!r} cannot be written: {error.strerror}; use an existing folder") from error


def from_matlab(path: str | Path) -> LinearPHDAE:
    """The system in a .mat file of `to_matlab`, exactly as written, or in any with matrices E, J and B.

    R, G, B_lam and the feedthrough P, S, N are zero by default, Q is the identity (see `LinearPHDAE`); rows and ports without names
    are "x" and "u".
    """
    file = Path(path)
    contents = _read(file)
    missing = [name for name in ("E", "J", "B") if name not in contents]
    if missing:
        names = ", ".join(name for name in contents if not name.startswith("__"))
        raise InputError(f"{str(file)!r} has no {' and no '.join(missing)}; there are: {names or 'none'}")
    if "phloat_version" in contents and (version := int(contents["phloat_version"].item())) > VERSION:
        raise InputError(f"{str(file)!r} has version {version}; this phloat reads up to {VERSION}: use a newer one")
    known = (*MATRICES, *FEEDTHROUGH, "Q")
    matrices = {name: _matrix(file, name, contents[name]) for name in known if name in contents}
    joints = matrices["G"].shape[0] if "G" in matrices else 0
    return LinearPHDAE(
        **matrices,
        rows=_layout(contents.get("rows"), "row", "x", matrices["E"].shape[0]),
        ports=_layout(contents.get("ports"), "port", "u", matrices["B"].shape[1]),
        multipliers=_layout(contents.get("multipliers"), "multiplier", "joint", joints),
        split=int(contents["split"].item()) if "split" in contents else -1,
        fields=_fields(contents.get("fields")),
    )


def _read(file: Path) -> Mapping[str, Any]:
    """The contents of a .mat file; raises InputError if it cannot be read."""
    try:
        with open(file, "rb") as stream:
            return scipy.io.loadmat(stream)
    except OSError as error:
        raise InputError(f"{str(file)!r} cannot be read: {error.strerror or error}") from error
    except NotImplementedError:
        raise InputError(f"{str(file)!r} is a MATLAB file of version 7.3; save it with '-v7'") from None
    except (ValueError, TypeError) as error:
        raise InputError(f"{str(file)!r} is not a .mat file: {error}") from error


def _struct(layout: Layout) -> dict[str, Any]:
    """A layout as a MATLAB struct of cells."""
    return {
        "kind": layout.kind,
        "name": _cells(layout.shapes),
        "shape": _cells(np.array(shape, dtype=float).reshape(1, -1) for shape in layout.shapes.values()),
        "also": _cells(layout.also),
        "of": _cells(layout.also.values()),
    }


def _cells(values: Iterable[Any]) -> np.ndarray:
    """A cell array of one row."""
    return np.fromiter(values, dtype=object)[None]


def _layout(struct: Any, kind: str, name: str, size: int) -> Layout:
    """The layout of a MATLAB struct; without one a single block `name` of this size."""
    if struct is None:
        return Layout({name: (size,)} if size else {}, kind)
    names = [_text(cell) for cell in _column(struct, "name")]
    shapes: list[Shape] = [tuple(map(int, np.ravel(cell))) for cell in _column(struct, "shape")]
    also = dict(zip(map(_text, _column(struct, "also")), map(_text, _column(struct, "of")), strict=True))
    kinds = [_text(cell) for cell in _column(struct, "kind")]
    return Layout(dict(zip(names, shapes, strict=True)), kinds[0] if kinds else kind, also)


def _fields(struct: Any) -> dict[str, Field]:
    """The fields of a MATLAB struct."""
    if struct is None:
        return {}
    columns = (_column(struct, part) for part in ("name", "points", "motion"))
    return {_text(name): Field(np.array(points), csr(motion)) for name, points, motion in zip(*columns, strict=True)}


def _column(struct: Any, name: str) -> list[Any]:
    cells = struct[name][0, 0] if name in (struct.dtype.names or ()) else np.empty((1, 0), dtype=object)
    return list(np.ravel(cells))


def _text(cell: Any) -> str:
    return str(np.ravel(cell)[0]) if np.size(cell) else ""


def _matrix(file: Path, name: str, value: Any) -> Matrix:
    """The value as a sparse matrix; raises InputError if it is not one of real numbers."""
    if not sp.issparse(value) and np.asarray(value).dtype.kind not in "biuf":
        raise InputError(f"{name} in {str(file)!r} is not a matrix of real numbers")
    return csr(value)
