"""Export of runs to ParaView: a series of VTK files with the fields of all bodies."""

from __future__ import annotations

import base64
import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from phloat.bodies.beams.beam import Beam
from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import innermost, mesh_of
from phloat.bodies.plates.shape import PlateShape
from phloat.errors import InputError, finite
from phloat.fem.mesh import Mesh
from phloat.motion.result import Result
from phloat.system.state import State
from phloat.system.stresses import von_mises
from phloat.view.scene import Drawing, scene
from phloat.view.surfaces import section_outlines

RESULTANTS = ("N", "Q_y", "Q_z", "T", "M_y", "M_z")
VTK_ORDER = [0, 1, 2, 5, 3, 4]  # xx yy zz xy yz xz, of ours: xx yy zz yz xz xy


@dataclass(frozen=True, eq=False)
class GridPart:
    """A body as a grid in body axes: points moved by `rows`, cells of one type.

    `cauchy` are rows of the stress in the cells, (6 cells, stresses) each: one array for solids, two for the faces of a plate,
    one for each fibre around a beam; `resultants` are those of beams, (cells, stresses).
    """

    kind: str
    points: np.ndarray
    rows: np.ndarray
    cells: Blocks
    cauchy: tuple[np.ndarray, ...] = ()
    resultants: dict[str, np.ndarray] = field(default_factory=dict)
    radius: float = 0.0

    @property
    def count(self) -> int:
        return sum(len(nodes) for _, nodes in self.cells)


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
    where = Path(folder)
    if where.exists() and (not where.is_dir() or any(where.iterdir())):
        raise InputError(f"{str(where)!r} exists and is not an empty folder; give a new one")
    chosen = _output_numbers(len(result), frames)
    drawn = scene(result.system, result.state(0))
    parts = {name: grid_part(body, drawn[name]) for name, body in result.system.bodies.items()}
    where.mkdir(parents=True, exist_ok=True)
    files = {}
    for number, k in enumerate(chosen):
        name = f"run_{number:06d}.vtu"
        _write(where / name, parts, result.state(k))
        files[name] = float(result.t[k])
    with open(where / "bodies.csv", "w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows(
            [("body", "name", "kind"), *((i, n, p.kind) for i, (n, p) in enumerate(parts.items()))]
        )
    write_series(where / "run.pvd", files)
    return where / "run.pvd"


def _output_numbers(times: int, frames: int | None) -> list[int]:
    if frames is None:
        return list(range(times))
    wanted = int(finite("frames", frames, ()))
    if wanted < 1 or wanted != frames:
        raise InputError(f"frames is {frames!r}; it must be a whole number, 1 or more, or None for all")
    return np.unique(np.linspace(0, times - 1, min(times, wanted)).round().astype(int)).tolist()


def grid_part(body: Body, drawn: Drawing) -> GridPart:
    """A body as a grid: the cells of its mesh, lines along a beam, the surface of a rigid body, or nodes."""
    mesh = mesh_of(body)
    if isinstance(body.recipe, Beam):
        return _beam(body, body.recipe)
    if mesh is not None:
        return _meshed(body, mesh)
    if len(drawn.triangles):
        return GridPart(drawn.kind, drawn.points, drawn.rows, [(TYPES["triangle", 3], drawn.triangles)])
    places = body.shape.places()
    points, rows = body.shape.points(places), body.shape.displacement(places).toarray()
    return GridPart(drawn.kind, points, rows, [(VERTEX, np.arange(len(points))[:, None])])


def _beam(body: Body, beam: Beam) -> GridPart:
    s = body.shape.places()
    between = 0.5 * (s[:-1] + s[1:])
    rings, _ = section_outlines(beam, between)
    rows, lines = body.shape.displacement(s).toarray(), np.column_stack([np.arange(len(s) - 1), np.arange(1, len(s))])
    fibres = [np.column_stack([beam.length * between, rings[:, k]]) for k in range(rings.shape[1])]
    cauchy = tuple(body.shape.cauchy(x).toarray() for x in fibres)
    resultants = {name: row.toarray() for name, row in body.shape.stress(between).items()}
    radius = float(np.linalg.norm(rings, axis=2).mean())
    return GridPart("beam", body.shape.points(s), rows, [(LINE, lines)], cauchy, resultants, radius)


def _meshed(body: Body, mesh: Mesh) -> GridPart:
    places = body.shape.places()
    middle, base = mesh.points[mesh.corners].mean(axis=1), innermost(body.shape)
    at = [middle]
    if isinstance(base, PlateShape):
        up = np.zeros_like(middle)
        up[:, 2] = 0.5 * base.section.height(middle[:, :2])
        at = [middle + up, middle - up]
    cauchy = tuple(body.shape.cauchy(x).toarray() for x in at)
    kind = TYPES[mesh.kind, mesh.cells.shape[1]]
    rows = body.shape.displacement(places).toarray()
    return GridPart("solid" if mesh.dimension == 3 else "plate", places, rows, [(kind, mesh.cells)], cauchy)


# --- one time --------------------------------------------------------------------------------------------------------


def _write(path: Path, parts: dict[str, GridPart], state: State) -> None:
    points, displacements, velocities, radii, blocks = [], [], [], [], []
    cells: dict[str, list[np.ndarray]] = {name: [] for name in ("body", "von_mises", "stress", *RESULTANTS)}
    start = 0
    for number, (name, part) in enumerate(parts.items()):
        pose = state.pose(name)
        u, v = ((part.rows @ x).reshape(-1, 3) for x in (pose.eta, pose.rates))
        y = part.points + u
        points.append(pose.r_P + y @ pose.A.T)
        displacements.append(u @ pose.A.T)
        velocities.append((pose.v_P + np.cross(pose.omega, y) + v) @ pose.A.T)
        radii.append(np.full(len(y), part.radius))
        blocks += [(kind, start + nodes) for kind, nodes in part.cells]
        start += len(y)
        cells["body"].append(np.full(part.count, number, dtype="i4"))
        size, stress = _stress(part, pose.sigma)
        cells["von_mises"].append(size)
        cells["stress"].append(stress)
        for key in RESULTANTS:
            row = part.resultants.get(key)
            cells[key].append(np.zeros(part.count) if row is None else row @ pose.sigma)
    at_points = {
        "displacement": np.vstack(displacements),
        "velocity": np.vstack(velocities),
        "radius": np.concatenate(radii),
    }
    in_cells = {name: np.concatenate(values) for name, values in cells.items()}
    there = {name: values for name, values in in_cells.items() if name not in RESULTANTS or np.any(values)}
    write_grid(path, _single(np.vstack(points)), blocks, _singles(at_points), _singles(there))


def _stress(part: GridPart, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest von Mises stress of each cell, and its stress: of the fibre where it is largest for a beam, else the first."""
    if not part.cauchy or not len(sigma):
        return np.zeros(part.count), np.zeros((part.count, 6))
    stacks = np.array([(rows @ sigma).reshape(-1, 6) for rows in part.cauchy])
    sizes = von_mises(stacks)
    which = sizes.argmax(axis=0) if part.kind == "beam" else np.zeros(part.count, dtype=int)
    return sizes.max(axis=0), stacks[which, np.arange(part.count)][:, VTK_ORDER]


def _single(x: np.ndarray) -> np.ndarray:
    """Floats in single precision; integers as they are."""
    return x.astype("f4") if x.dtype.kind == "f" else x


def _singles(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: _single(x) for name, x in arrays.items()}


# --- files -----------------------------------------------------------------------------------------------------------
#
# Unstructured grids as VTK's XML files (.vtu) and series of them (.pvd), written without other packages.


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
    """Writes a grid: points (points, 3), cells by type, and fields at points and in cells, a row each."""
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
    """Writes the list of files of a series, with their times."""
    lines = [f'<DataSet timestep="{time!r}" group="" part="0" file={quoteattr(file)}/>' for file, time in files.items()]
    path.write_text(_file("Collection", "\n".join(lines)), encoding="utf-8")


def _file(kind: str, inside: str) -> str:
    head = f'<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64">'
    return f'<?xml version="1.0"?>\n{head}\n<{kind}>\n{inside}\n</{kind}>\n</VTKFile>\n'


def _array(name: str, array: np.ndarray) -> str:
    """A data array: base64 of the number of bytes and the bytes."""
    kind = array.dtype.str[1:]
    data = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
    text = base64.b64encode(np.array([len(data)], dtype="<u8").tobytes() + data).decode()
    width = f' NumberOfComponents="{array.shape[1]}"' if array.ndim == 2 else ""
    return f'<DataArray type="{NAMES[kind]}" Name={quoteattr(name)}{width} format="binary">{text}</DataArray>\n'
