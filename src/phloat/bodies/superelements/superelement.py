"""Bodies from matrices of other finite-element codes: M q̈ + K q = f at nodes, reduced to modes and interface motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp

from phloat.algebra.metadata import describe
from phloat.algebra.sparse import Matrix, csr
from phloat.algebra.threads import one_thread
from phloat.bodies.body import Body
from phloat.bodies.construction import Construction
from phloat.bodies.continua.floating import MEAN_AXES, floating_body
from phloat.bodies.continua.interfaces import Mean, Place, Rigid
from phloat.bodies.continua.mesh_body import MeshBody
from phloat.bodies.material import Damping, Rayleigh, require_damping
from phloat.bodies.superelements.checks import (
    MOTIONS,
    NodalMass,
    nodal_mass,
    require_free_motions,
    require_positive_semidefinite,
    rigid_forces,
    rigid_mass,
    symmetric,
)
from phloat.bodies.superelements.matrix_body import (
    NodeShape,
    coordinates_at,
    no_strains,
    nodes_trace,
    rigid_motions_of_nodes,
)
from phloat.bodies.superelements.matrix_files import Labelled, matched, matrix_names, read_matrix
from phloat.bodies.superelements.report import SuperelementReport, report
from phloat.errors import InputError, finite, mapping, port_name, positive, unknown
from phloat.fem.decks import read_nodes
from phloat.linear.analysis.modes import modes as modes_of

PathName: TypeAlias = "str | PathLike[str]"
File: TypeAlias = "PathName | tuple[PathName, str]"
STORED = 1e-3  # of the lowest elastic frequency: what a rigid motion may have


@dataclass(frozen=True, eq=False)
class Superelement:
    """An elastic body given by its mass and stiffness matrices, its nodes, and the nodes of its interfaces.

    `dofs` (rows, 2) are the node (counted from 0) and the component of every row: 1 2 3 displacements, 4 5 6 rotations, 0 a
    scalar that is no motion of a node (a mode of an earlier reduction). Every interface is a port; its nodes move as one rigid
    piece, or are felt in the mean where `mean` names it. `frame` is the interface that the floating frame follows (the first
    by default), or "mean axes". `modes` with all interfaces held are kept, the static motions of the interfaces and, with
    `inertial`, the responses to their inertia. `R` is a viscous damping matrix, `damping` a proportional one. `masses` at nodes
    say where the mass is; without, they are found from M. There is no geometric stiffening: it is not in the matrices.
    """

    M: Matrix
    K: Matrix
    nodes: np.ndarray
    interfaces: Mapping[str, np.ndarray] = field(metadata=describe("{port: node numbers, or a set of the nodes' file}"))
    dofs: np.ndarray
    R: Matrix | None = None
    damping: Damping = field(default=Rayleigh(), metadata=describe("how it loses energy"))
    masses: np.ndarray | None = None
    frame: str | None = field(default=None, metadata=describe("the interface that the frame follows, or mean axes"))
    modes: int = field(default=10, metadata=describe("with all interfaces held"))
    mean: tuple[str, ...] = field(default=(), metadata=describe("interfaces felt in the mean"))
    inertial: bool = field(default=True, metadata=describe("with the responses to inertia"))
    not_numbers: ClassVar[tuple[str, ...]] = ("M", "K", "nodes", "interfaces", "dofs", "R", "masses")

    def __post_init__(self) -> None:
        if self.frame is not None and self.frame not in (*self.interfaces, MEAN_AXES):
            raise InputError(unknown("frame", self.frame, [*self.interfaces, MEAN_AXES]))
        for name in self.mean:
            if name not in self.interfaces:
                raise InputError(unknown("interface", name, self.interfaces))
        require_damping(self.damping, ", and a matrix is R=…")

    @classmethod
    def from_matrices(
        cls,
        M: object,
        K: object,
        nodes: object,
        interfaces: Mapping[str, Sequence[int]],
        *,
        dofs: object = None,
        R: object = None,
        damping: Damping = Rayleigh(),
        masses: object = None,
        frame: str | None = None,
        modes: int = 10,
        mean: Sequence[str] = (),
        inertial: bool = True,
    ) -> Superelement:
        """From SciPy or NumPy matrices in SI units, nodes (nodes, 3) and {interface: node numbers, counted from 0}.

        Without `dofs` the rows are x, y, z of node 0, then of node 1…, or x, y, z and three rotations of each.
        """
        points = _points(nodes)
        mass, stiff = _matrix("M", M), _matrix("K", K)
        if mass.shape != stiff.shape:
            raise InputError(f"M has {mass.shape[0]} rows and K has {stiff.shape[0]}; they must be of one body")
        table = _dofs(dofs, len(points), mass.shape[0])
        return cls(
            mass,
            stiff,
            points,
            _interfaces(interfaces, table, len(points)),
            table,
            R=None if R is None else _matrix("R", R, mass.shape[0]),
            damping=damping,
            masses=None if masses is None else finite("masses", masses, (len(points),)),
            frame=frame,
            modes=modes,
            mean=(mean,) if isinstance(mean, str) else tuple(mean),
            inertial=inertial,
        )

    @classmethod
    def from_files(
        cls,
        mass: File,
        stiffness: File,
        nodes: PathName,
        interfaces: Mapping[str, str | Sequence[int]],
        *,
        units: tuple[float, float] = (1.0, 1.0),
        damping: Damping = Rayleigh(),
        frame: str | None = None,
        modes: int = 10,
        mean: Sequence[str] = (),
        inertial: bool = True,
    ) -> Superelement:
        """From the text files of CalculiX, Abaqus or Nastran, or Matrix Market files: `matrix_files` says which forms are read.

        Nodes come from `*NODE`, `GRID` or a table (`fem.decks`). Interfaces list the numbers that nodes have in the files, or
        name a set of the nodes' file. Where a file holds several matrices, write (file, name); alone, the one that begins with
        K and the one that begins with M are taken. `units` are those of length and mass in the files, in metres and kilograms:
        (1e-3, 1e3) for mm, t, N, s. Files without names of rows have the rows of all nodes in order of their numbers.
        """
        there = read_nodes(Path(nodes))
        M, K, labels = matched(_read(mass, "M"), _read(stiffness, "K"))
        order = np.argsort(there.numbers)
        place = {int(there.numbers[k]): i for i, k in enumerate(order)}
        points = there.points[order]
        sets = {
            name: there.sets[chosen.upper()] if isinstance(chosen, str) and chosen.upper() in there.sets else chosen
            for name, chosen in mapping("interfaces", interfaces, "{name: node numbers}").items()
        }
        for name, chosen in sets.items():
            if isinstance(chosen, str):
                raise InputError(f"interface {name!r}: {unknown('node set', chosen, there.sets)}")
        table = _dofs(None, len(points), M.shape[0]) if labels is None else _node_table(labels, place)
        if labels is not None:  # nodes that no row knows would be places without motion
            used = np.unique(table[:, 0])
            points, table[:, 0] = points[used], np.searchsorted(used, table[:, 0])
            place = {n: int(np.searchsorted(used, k)) for n, k in place.items() if k in set(used.tolist())}
        length, kilograms = positive("unit of length", units[0]), positive("unit of mass", units[1])
        per = np.where(np.isin(table[:, 1], (1, 2, 3)), 1.0 / length, 1.0)
        scale = sp.diags_array(per * length * np.sqrt(kilograms))
        return cls.from_matrices(
            scale @ M @ scale,
            scale @ K @ scale,
            length * points,
            {name: _numbers(name, chosen, place) for name, chosen in sets.items()},
            dofs=np.column_stack([table[:, 0], table[:, 1]]),
            damping=damping,
            frame=frame,
            modes=modes,
            mean=mean,
            inertial=inertial,
        )

    @one_thread()
    def discretise(self, modes: int | None = None) -> Body:
        """The floating body, checked: symmetric and positive matrices, six rigid motions that meet no force, one mass."""
        patches: dict[str, Place] = {n: Mean(n) if n in self.mean else Rigid(n) for n in self.interfaces}
        body = floating_body(
            self.exported, patches, modes=self.modes if modes is None else modes, stiffened=0, inertial=self.inertial
        )
        self._soft_ground(float(modes_of(body.linear()).elastic[0]))
        return replace(body, construction=Construction(self).then("discretise", modes))

    def report(self, body: Body, count: int = 10) -> SuperelementReport:
        """The reduced body compared with the full matrices: frequencies with interfaces free and held, mass, rigid-body check."""
        if body.recipe is not self:
            raise InputError("this body was not made from this superelement; ask body.recipe.report(body)")
        return report(body, self.exported, self.mean, count, self.numbers, self.nodal.kind)

    # --- cached -------------------------------------------------------------------------------------------------------

    @cached_property
    def rigid(self) -> np.ndarray:
        """The six rigid motions about the origin, (rows, 6)."""
        return rigid_motions_of_nodes(self.nodes, self.dofs)

    @cached_property
    def numbers(self) -> np.ndarray:
        """Relative elastic forces of the six rigid motions about the middle of the nodes."""
        return rigid_forces(self.exported.K, self.rigid, self.nodes.mean(axis=0))

    @cached_property
    def nodal(self) -> NodalMass:
        """Where the mass is."""
        moves = NodeShape(self.nodes, self.dofs).moves((1, 2, 3))
        return nodal_mass(
            symmetric("M", self.M)[0], self.nodes, (moves[0], moves[1], moves[2]), self.rigid, self.masses
        )

    @cached_property
    def exported(self) -> MeshBody:
        """The body as its matrices say, after all checks."""
        M, K = symmetric("M", self.M)[0], symmetric("K", self.K)[0]
        require_positive_semidefinite("M", M)
        require_free_motions(rigid_forces(K, self.rigid, self.nodes.mean(axis=0)))
        rigid_mass(M, self.rigid)
        shape = NodeShape(self.nodes, self.dofs)
        return MeshBody(
            recipe=self,
            samples=self.nodal.samples,
            sections=self.nodal.sections,
            M=M,
            K=K,
            make_strains=no_strains,
            rigid=self.rigid,
            kinds=np.array(["fixed", "u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z"])[self.dofs[:, 1]],
            parts={name: coordinates_at(self.dofs, nodes) for name, nodes in self.interfaces.items()},
            make_trace=partial(nodes_trace, shape, self.interfaces),
            shape=shape,
            damping=self.damping,
            drag=self._drag(),
            frame=self.frame or next(iter(self.interfaces), MEAN_AXES),
        )

    def _drag(self) -> Matrix | None:
        """The given damping matrix."""
        if self.R is None:
            return None
        R = symmetric("R", self.R)[0]
        require_positive_semidefinite("R", R)
        if (worst := rigid_forces(R, self.rigid, self.nodes.mean(axis=0)).max()) > 1e-4:
            raise InputError(f"rigid motions meet damping forces, relatively {worst:.1e}: R is tied to the ground")
        return R

    def _soft_ground(self, lowest: float) -> None:
        """Raises InputError if rigid motions store energy compared with the softest deformation."""
        r, M, K = self.rigid, self.exported.M, self.exported.K
        energy, mass = (np.einsum("ik,ik->k", r, a @ r) for a in (K, M))
        omega = np.sqrt(np.abs(energy) / mass)
        if omega.max() > STORED * lowest:
            listed = ", ".join(f"{name} {w:.3g}" for name, w in zip(MOTIONS, omega, strict=True))
            raise InputError(f"rigid motions have frequencies of {listed} rad/s, beside {lowest:.3g}; springs hold K")


# --- what users give ---------------------------------------------------------------------------------------------------


def _matrix(what: str, a: Any, rows: int | None = None) -> Matrix:
    if isinstance(a, (str, PathLike)):
        a = read_matrix(Path(a)).matrix
    try:
        out = csr(a)
    except (TypeError, ValueError):
        raise InputError(f"{what} is {type(a).__name__}; it must be a matrix of NumPy or SciPy, or a file") from None
    if out.ndim != 2 or out.shape[0] != out.shape[1] or (rows is not None and out.shape[0] != rows):
        wanted = "square" if rows is None else f"{rows} × {rows}"
        raise InputError(f"{what} has shape {out.shape}; it must be {wanted}")
    if not np.isfinite(out.data).all():
        raise InputError(f"{what} holds NaN or infinity")
    return out


def _points(nodes: object) -> np.ndarray:
    found = np.asarray(nodes)
    if found.ndim != 2 or found.shape[1] != 3:
        raise InputError(f"nodes has shape {found.shape}; it must be (nodes, 3), coordinates in metres")
    return finite("nodes", nodes, found.shape)


def _dofs(dofs: object, nodes: int, rows: int) -> np.ndarray:
    """(rows, 2): node and component."""
    if dofs is None:
        for each in (3, 6):
            if rows == each * nodes:
                return np.column_stack([np.repeat(np.arange(nodes), each), np.tile(np.arange(1, each + 1), nodes)])
        raise InputError(f"the matrices have {rows} rows for {nodes} nodes; name them: dofs=[(node, component), …]")
    table = np.asarray(dofs)
    if table.shape != (rows, 2) or table.dtype.kind not in "iu":
        raise InputError(f"dofs has shape {table.shape}; it must be {rows} pairs of whole numbers (node, component)")
    if (bad := (table[:, 0] < 0) | (table[:, 0] >= nodes) | (table[:, 1] < 0) | (table[:, 1] > 6)).any():
        node, component = table[bad.argmax()]
        raise InputError(f"dofs holds ({node}, {component}); there are {nodes} nodes and components 0 to 6")
    moving = table[table[:, 1] > 0]
    pairs, count = np.unique(moving, axis=0, return_counts=True)
    if (count > 1).any():
        node, component = pairs[count.argmax()]
        raise InputError(f"dofs names component {component} of node {node} twice")
    return table.astype(int)


def _interfaces(interfaces: object, dofs: np.ndarray, nodes: int) -> dict[str, np.ndarray]:
    out: dict[str, np.ndarray] = {}
    for name, chosen in mapping("interfaces", interfaces, "{name: node numbers}").items():
        port_name(name)
        if name == MEAN_AXES:
            raise InputError(f"an interface cannot be called {MEAN_AXES!r}, which is a frame")
        at = np.asarray(chosen)
        if at.ndim != 1 or not at.size or at.dtype.kind not in "iu":
            raise InputError(f"interface {name!r} is {chosen!r}; it must be a list of node numbers")
        if at.min() < 0 or at.max() >= nodes:
            raise InputError(f"interface {name!r} has node {at.min() if at.min() < 0 else at.max()}; there are {nodes}")
        known = {(int(n), int(c)) for n, c in dofs[np.isin(dofs[:, 0], at)]}
        lacking = [(int(n), c) for n in at for c in (1, 2, 3) if (int(n), c) not in known]
        if lacking:
            node, component = lacking[0]
            raise InputError(f"interface {name!r}: they lack displacement {'xyz'[component - 1]} of node {node}")
        out[name] = np.unique(at)
    return out


def _read(file: File, letter: str) -> Labelled:
    if isinstance(file, tuple):
        return read_matrix(Path(file[0]), file[1])
    named = [name for name in matrix_names(Path(file)) if name.startswith(letter)]
    return read_matrix(Path(file), named[0] if len(named) == 1 else None)


def _node_table(labels: np.ndarray, place: dict[int, int]) -> np.ndarray:
    """(node number, component) as (node, component)."""
    unknown_nodes = [n for n, c in labels.tolist() if n not in place and c > 0]
    if unknown_nodes:
        raise InputError(f"the matrices hold node {unknown_nodes[0]}, which the file of nodes does not")
    return np.array([[place.get(n, 0), c if n in place else 0] for n, c in labels.tolist()], dtype=int).reshape(-1, 2)


def _numbers(name: str, chosen: Sequence[int], place: dict[int, int]) -> list[int]:
    missing = [n for n in chosen if n not in place]
    if missing:
        raise InputError(f"interface {name!r} has node {missing[0]}, which has no row in the matrices")
    return [place[int(n)] for n in chosen]
