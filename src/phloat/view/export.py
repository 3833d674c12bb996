"""Export of runs: to ParaView, a series of VTK files with the fields of all bodies; and as NetCDF, every quantity by name."""

from __future__ import annotations

import base64
import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from phloat.algebra.version import __version__
from phloat.bodies.beams.beam import Beam
from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import innermost, mesh_of
from phloat.bodies.plates.shape import PlateShape
from phloat.errors import InputError, require_folder, whole_number
from phloat.many.results import dataset, to_file
from phloat.motion.ledger import energy_ledger
from phloat.motion.result import COMPONENTS, Result
from phloat.system.state import State
from phloat.system.stresses import von_mises
from phloat.system.units import coordinate_unit, effort_units, resultant_unit, unit_of
from phloat.view.figures import even_indices
from phloat.view.scene import Drawing, line_drawing, scene
from phloat.view.surfaces import section_outlines

AXES = ("x", "y", "z")
RESULTANTS = ("N", "Q_y", "Q_z", "T", "M_y", "M_z")
VTK_ORDER = [0, 1, 2, 5, 3, 4]  # indices of xx yy zz xy yz xz in phloat's order xx yy zz yz xz xy


@dataclass(frozen=True, eq=False)
class GridPart:
    """A body as a grid: the points of a drawing, and cells (cells, nodes) of one VTK cell `type`.

    Each array of `cauchy`, (6 cells, stresses), times σ is the stress in the cells: one array for a solid, two for the faces of a
    plate, one for each fibre around a beam. `resultants` (cells, stresses) are those of a beam, by name; `radius` (m) is that of a
    round bar about as thick as the beam.
    """

    kind: str
    drawn: Drawing
    type: int
    cells: np.ndarray
    cauchy: tuple[np.ndarray, ...] = ()
    resultants: dict[str, np.ndarray] = field(default_factory=dict)
    radius: float = 0.0


def to_vtu(result: Result, folder: str | Path, *, frames: int | None = 200) -> Path:
    """Writes a run for ParaView into a folder: `run.pvd`, which ParaView opens, and a .vtu file for each of at most `frames`
    output times (None: all).

    Data at points: `displacement` (the deformation) and `velocity`, both inertial, and `radius` (of a round bar as thick as the
    beam, for the filter Tube). Data in cells: `von_mises` (Pa; the largest of a beam's section, of a plate's faces),
    `stress` (xx yy zz xy yz xz in body axes; of a plate its upper face, of a beam the most loaded fibre), the resultants
    `N` … `M_z` of beams, and `body`, the number of a body in `bodies.csv`.
    """
    if not isinstance(result, Result):
        raise InputError(f"{type(result).__name__} is not a Result; simulate(…) makes one")
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{str(path)!r} exists and is not an empty folder; give a new one")
    chosen = even_indices(len(result), len(result) if frames is None else whole_number("frames", frames, 1))
    drawn = scene(result.system, result.state(0))
    parts = {name: grid_part(body, drawn[name]) for name, body in result.system.bodies.items()}
    path.mkdir(parents=True, exist_ok=True)
    series = []
    for number, k in enumerate(chosen.tolist()):
        name = f"run_{number:06d}.vtu"
        _write_grid(path / name, parts, result.state(k))
        series.append(f'<DataSet timestep="{float(result.t[k])!r}" group="" part="0" file="{name}"/>')
    with open(path / "bodies.csv", "w", newline="", encoding="utf-8") as opened:
        rows = [(i, name, part.kind) for i, (name, part) in enumerate(parts.items())]
        csv.writer(opened).writerows([("body", "name", "kind"), *rows])
    return _write_xml(path / "run.pvd", "Collection", series)


def grid_part(body: Body, drawn: Drawing) -> GridPart:
    """The grid of a body: the cells of its mesh, lines along a beam, the surface of a rigid body, or its nodes."""
    mesh, base, line, stress = mesh_of(body), innermost(body.shape), line_drawing(body), body.shape.cauchy
    if isinstance(body.recipe, Beam):
        s = body.shape.places()
        centres = 0.5 * (s[:-1] + s[1:])
        rings, _ = section_outlines(body.recipe, centres)
        fibres = [np.column_stack([body.recipe.length * centres, rings[:, k]]) for k in range(rings.shape[1])]
        cauchy = tuple(stress(x).toarray() for x in fibres)
        resultants = {name: row.toarray() for name, row in body.shape.stress(centres).items()}
        radius = float(np.linalg.norm(rings, axis=2).mean())
        lines = np.column_stack([np.arange(len(s) - 1), np.arange(1, len(s))])
        return GridPart("beam", line, LINE_TYPE, lines, cauchy, resultants, radius)
    if mesh is not None:
        up = np.zeros((len(mesh.cells), 3))
        middle = mesh.points[mesh.corners].mean(axis=1)
        if isinstance(base, PlateShape):
            up[:, 2] = 0.5 * base.section.height(middle[:, :2])
        points = (middle + up, middle - up) if up.any() else (middle,)
        kind, cauchy = CELL_TYPES[mesh.kind][mesh.order - 1], tuple(stress(x).toarray() for x in points)
        return GridPart("solid" if mesh.dimension == 3 else "plate", line, kind, mesh.cells, cauchy)
    if len(drawn.triangles):
        return GridPart(drawn.kind, drawn, CELL_TYPES["triangle"][0], drawn.triangles)
    return GridPart(drawn.kind, line, VERTEX_TYPE, np.arange(len(line.points))[:, None])


# --- one time --------------------------------------------------------------------------------------------------------


def _write_grid(path: Path, parts: Mapping[str, GridPart], state: State) -> None:
    """Writes all bodies in a state as one unstructured grid (.vtu): points, cells and fields, in single precision."""
    each, start = [], 0
    for number, (name, part) in enumerate(parts.items()):
        pose, count, n = state.pose(name), len(part.cells), len(part.drawn.points)
        size, stress = _cell_stress(part, pose.sigma)
        arrays = {
            "Points": part.drawn.at(pose),
            "connectivity": (start + part.cells.ravel()).astype("i8"),
            "sizes": np.full(count, part.cells.shape[1]),
            "types": np.full(count, part.type, dtype="u1"),
            "displacement": part.drawn.displacement(pose) @ pose.A.T,
            "velocity": part.drawn.velocity(pose) @ pose.A.T,
            "radius": np.full(n, part.radius),
            "body": np.full(count, number, dtype="i4"),
            "von_mises": size,
            "stress": stress,
        }
        none = np.zeros((count, len(pose.sigma)))
        each.append(arrays | {key: part.resultants.get(key, none) @ pose.sigma for key in RESULTANTS})
        start += n
    every = {key: np.concatenate([arrays[key] for arrays in each]) for key in each[0]}
    every["offsets"] = np.cumsum(every["sizes"], dtype="i8")
    fields = {
        "Points": ["Points"],
        "Cells": ["connectivity", "offsets", "types"],
        "PointData": ["displacement", "velocity", "radius"],
        "CellData": ["body", "von_mises", "stress", *(key for key in RESULTANTS if every[key].any())],
    }
    head = f'<Piece NumberOfPoints="{start}" NumberOfCells="{len(every["types"])}">'
    lines = [f"<{part}>{''.join(_array(key, every[key]) for key in keys)}</{part}>" for part, keys in fields.items()]
    _write_xml(path, "UnstructuredGrid", [head, *lines, "</Piece>"])


def _cell_stress(part: GridPart, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest von Mises stress of each cell (Pa), and its stress in VTK's order: for a beam that of the most loaded fibre, for
    a plate that of the upper face."""
    if not part.cauchy or not len(sigma):
        return np.zeros(len(part.cells)), np.zeros((len(part.cells), 6))
    stacks = np.array([(rows @ sigma).reshape(-1, 6) for rows in part.cauchy])
    sizes = von_mises(stacks)
    which = sizes.argmax(axis=0) if part.kind == "beam" else np.zeros(len(part.cells), dtype=int)
    return sizes.max(axis=0), stacks[which, np.arange(len(part.cells))][:, VTK_ORDER]


# --- files -----------------------------------------------------------------------------------------------------------
#
# VTK's XML formats: unstructured grids (.vtu) and time series of them (.pvd).


VERTEX_TYPE, LINE_TYPE = 1, 3
CELL_TYPES = {  # of kinds of cells, of order 1 and 2
    "triangle": (5, 22),
    "quadrilateral": (9, 28),
    "tetrahedron": (10, 24),
    "hexahedron": (12, 29),
}
TYPE_NAMES = {"f4": "Float32", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}


def _write_xml(path: Path, kind: str, lines: list[str]) -> Path:
    """Writes a VTK file of one kind of data set with these lines of XML; returns its path."""
    head = f'<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64">'
    text = "\n".join(['<?xml version="1.0"?>', head, f"<{kind}>", *lines, f"</{kind}>", "</VTKFile>", ""])
    path.write_text(text, encoding="utf-8")
    return path


def _array(name: str, array: np.ndarray) -> str:
    """An array as a DataArray element of VTK: base64 of the number of bytes and of the bytes."""
    kind = "f4" if array.dtype.kind == "f" else array.dtype.str[1:]
    data = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
    text = base64.b64encode(np.array([len(data)], dtype="<u8").tobytes() + data).decode()
    width = f' NumberOfComponents="{array.shape[1]}"' if array.ndim == 2 else ""
    return f'<DataArray type="{TYPE_NAMES[kind]}" Name="{name}"{width} format="binary">{text}</DataArray>\n'


# --- NetCDF ----------------------------------------------------------------------------------------------------------


def to_netcdf(result: Result, path: str | Path) -> Path:
    """Writes a result as NetCDF (extra `io`), to be read with xarray: every quantity by name over `t`, with its unit.

    Besides the states: deformation `u_f` and stress resultants of beams along `s`, forces and coordinates of joints, and the
    energy accounts.
    """
    if not isinstance(result, Result):
        raise InputError(f"{type(result).__name__} is not a Result; simulate(…) makes one")
    file = require_folder(path)
    table = _Table()
    table.coordinate("t", result.t, "s")
    for name in result.system.bodies:
        _body(table, result, name)
    for name, joint in result.system.joints.items():
        if name in result.system.multipliers:
            table.coordinate(f"{name}.row", np.array([row.label for row in joint.rows]))
            units = effort_units(joint.rows)
            unit = units[0] if len(set(units)) == 1 else ", ".join(units)
            table.add(f"{name}.lam", ("t", f"{name}.row"), result[f"{name}.lam"], unit, "multipliers of a joint")
    for name, values in result.coordinates.items():
        table.add(name, ("t",), values, coordinate_unit(name), "coordinate of a joint")
    _energies(table, result)
    about = {"title": repr(result), "source": f"phloat {__version__}", "bodies": ", ".join(result.system.bodies)}
    info = {name: str(value) for name, value in result.info.items()}
    to_file(dataset(table.data, table.coords, about | {"info": str(info)}), file)
    return file


class _Table:
    """Variables and coordinates with units, as xarray takes them, under names that NetCDF allows."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.coords: dict[str, Any] = {}

    def coordinate(self, name: str, values: np.ndarray, unit: str = "") -> None:
        self.coords[_legal(name)] = ((_legal(name),), values, {"units": unit} if unit else {})

    def add(self, name: str, dims: tuple[str, ...], values: np.ndarray, unit: str, meaning: str) -> None:
        about = {"units": unit, "long_name": meaning} | ({"name": name} if _legal(name) != name else {})
        self.data[_legal(name)] = (tuple(map(_legal, dims)), values, about)


def _body(table: _Table, result: Result, name: str) -> None:
    system, body = result.system, result.system.bodies[name]
    flat = sum(i < 3 for i in body.active) == 2
    axis = "axis_xy" if flat else "axis"
    table.coordinate(axis, np.array(AXES[: 2 if flat else 3]))
    dims = {"r_P": (axis,), "v_P": (axis,), "A_IB": ("row", "column"), "omega": ("axis",), "theta": ()}
    what = {"r_P": "position of P", "v_P": "velocity of P, body axes", "A_IB": "body to inertial axes"}
    what |= {"theta": "angle", "omega": "angular velocity, body axes", "eta": "coordinates of deformation"}
    what |= {"eta_dot": "their rates", "sigma": "stress states"}
    for quantity in (key.rpartition(".")[2] for key in system.layout if key.rpartition(".")[0] == name):
        values = result[f"{name}.{quantity}"]
        own = dims.get(quantity, (f"{name}.{'stress_state' if quantity == 'sigma' else 'coordinate'}",))
        own = own if values.ndim - 1 == len(own) else ()
        table.add(f"{name}.{quantity}", ("t", *own), values, unit_of(quantity), what[quantity])
    if body.coordinates:
        places = body.shape.places()
        at = f"{name}.s" if places.ndim == 1 else f"{name}.place"
        table.coordinate(at, places if places.ndim == 1 else np.arange(len(places)), "1")
        if places.ndim > 1:
            table.add(f"{name}.points", (at, "xyz"), body.shape.points(places), "m", "undeformed points, body axes")
        for quantity, doc in (("u_f", "deformation, body axes"), ("v_f", "its rate")):
            table.add(f"{name}.{quantity}", ("t", at, axis), result[f"{name}.{quantity}"], unit_of(quantity), doc)
        if places.ndim == 1:
            sigma = result[f"{name}.sigma"]
            for key, rows in body.shape.stress(places).items():
                values = sigma @ rows.T.toarray()
                table.add(f"{name}.{key}", ("t", at), values, resultant_unit(key), "stress resultant")


def _energies(table: _Table, result: Result) -> None:
    table.add("energy", ("t",), result.energy, "J", "H, springs included")
    if result.accounts is None:
        return
    ledger = energy_ledger(result)
    table.coordinate("body", np.array(list(result.system.bodies)))
    table.coordinate("part", np.array(COMPONENTS))
    table.add("energy.bodies", ("t", "body", "part"), result.accounts.bodies, "J", "energies of the bodies")
    for kind, lines in (("supplied", ledger.supplied), ("dissipated", ledger.dissipated)):
        for name, line in lines.items():
            table.add(f"energy.{kind}.{name}", ("t",), line, "J", f"{kind} since the start")
    table.add("energy.residual", ("t",), ledger.residual, "J", "residual of the balance")


def _legal(name: str) -> str:
    """The name without slashes, which NetCDF uses for groups."""
    return name.replace("/", "∕")
