"""Bodies from matrices of other finite-element codes: M q̈ + K q = f at nodes, reduced to modes and interface motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.metadata import describe, optional
from phloat.algebra.sparse import Matrix, csr
from phloat.algebra.threads import one_thread
from phloat.bodies.body import Body
from phloat.bodies.construction import Construction
from phloat.bodies.continua.craig_bampton import Averaged, Tied, fixed_interface_basis
from phloat.bodies.continua.floating import MEAN_AXES, floating_body
from phloat.bodies.continua.mesh_body import Mean, MeshBody, Place, Rigid, interfaces
from phloat.bodies.continua.reduced_shape import ReducedShape
from phloat.bodies.material import Damping, Rayleigh, require_damping
from phloat.bodies.superelements.matrix_body import (
    MOTIONS,
    NodalMass,
    NodeShape,
    coordinates_at,
    no_strains,
    nodal_mass,
    nodes_trace,
    require_free_motions,
    require_positive_semidefinite,
    rigid_forces,
    rigid_mass,
    rigid_motions_of_nodes,
    symmetric,
)
from phloat.bodies.superelements.matrix_files import (
    File,
    PathName,
    interface_nodes,
    matched,
    node_table,
    places_of,
    read_matrix,
    row_table,
    to_matrix,
)
from phloat.errors import InputError, finite, mapping, positive, unknown, whole_number
from phloat.fem.decks import read_nodes
from phloat.linear.analysis.modes import modes as modes_of

STORED = 1e-3  # of the lowest elastic frequency: the largest frequency of a rigid motion


@dataclass(frozen=True, eq=False)
class Superelement:
    """An elastic body given by its mass and stiffness matrices, its nodes, and the nodes of its interfaces.

    `dofs` (rows, 2) are the node (counted from 0) and the component of every row: 1 2 3 displacements, 4 5 6 rotations, 0 a
    scalar that is no motion of a node (a mode of an earlier reduction). Every interface is a port; its nodes move as one rigid
    piece, or only their mean motion counts if `mean` names it. `frame` is the interface that the floating frame follows (the first
    by default), or "mean axes". The fields are `modes` with all interfaces held, the static motions of the interfaces and, with
    `inertial`, the responses to their inertia. `R` is a viscous damping matrix, `damping` a proportional one. `masses` at nodes
    give the distribution of mass; None: computed from M. There is no geometric stiffening, since matrices do not contain it.
    """

    M: Matrix
    K: Matrix
    nodes: np.ndarray
    interfaces: Mapping[str, np.ndarray] = field(metadata=describe("{port: node numbers, or a set of the nodes' file}"))
    dofs: np.ndarray
    R: Matrix | None = None
    damping: Damping = optional(Rayleigh(), "how it loses energy")
    masses: np.ndarray | None = None
    frame: str | None = optional(None, "the interface that the frame follows, or mean axes")
    modes: int = optional(10, "with all interfaces held")
    mean: tuple[str, ...] = optional((), "interfaces felt in the mean")
    inertial: bool = optional(True, "with the responses to inertia")
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
        masses: object = None,
        mean: str | Sequence[str] = (),
        **options: Any,
    ) -> Superelement:
        """From SciPy or NumPy matrices in SI units, nodes (nodes, 3) and {interface: node numbers, counted from 0}.

        Without `dofs` the rows are x, y, z of node 0, then of node 1…, or x, y, z and three rotations of each. Options are the
        fields damping, frame, modes and inertial.
        """
        points = finite("nodes", nodes, (len(np.atleast_1d(np.asarray(nodes))), 3))
        mass, stiff = to_matrix("M", M), to_matrix("K", K)
        if mass.shape != stiff.shape:
            raise InputError(f"M has {mass.shape[0]} rows and K has {stiff.shape[0]}; they must be of one body")
        table = row_table(dofs, len(points), mass.shape[0])
        return cls(
            mass,
            stiff,
            points,
            interface_nodes(interfaces, table, len(points)),
            table,
            R=None if R is None else to_matrix("R", R, mass.shape[0]),
            masses=None if masses is None else finite("masses", masses, (len(points),)),
            mean=(mean,) if isinstance(mean, str) else tuple(mean),
            **options,
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
        **options: Any,
    ) -> Superelement:
        """From the text files of CalculiX, Abaqus or Nastran, or Matrix Market files: `matrix_files` says which forms are read.

        Nodes come from `*NODE`, `GRID` or a table (`fem.decks`). Interfaces list the numbers that nodes have in the files, or
        name a set of the nodes' file. Where a file holds several matrices, write (file, name); alone, the one that begins with
        K and the one that begins with M are taken. `units` are those of length and mass in the files, in metres and kilograms:
        (1e-3, 1e3) for mm, t, N, s. Files without names of rows have the rows of all nodes in order of their numbers. Options are
        those of `from_matrices`.
        """
        deck = read_nodes(nodes)
        M, K, labels = matched(read_matrix(mass, "M"), read_matrix(stiffness, "K"))
        order = np.argsort(deck.numbers)
        place = {int(deck.numbers[k]): i for i, k in enumerate(order)}
        points = deck.points[order]
        sets = {
            name: deck.sets[chosen.upper()] if isinstance(chosen, str) and chosen.upper() in deck.sets else chosen
            for name, chosen in mapping("interfaces", interfaces, "{name: node numbers}").items()
        }
        for name, chosen in sets.items():
            if isinstance(chosen, str):
                raise InputError(f"interface {name!r}: {unknown('node set', chosen, deck.sets)}")
        table = row_table(None, len(points), M.shape[0]) if labels is None else node_table(labels, place)
        if labels is not None:  # drops nodes without any row
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
            {name: places_of(name, chosen, place) for name, chosen in sets.items()},
            dofs=table,
            **options,
        )

    @one_thread()
    def discretise(self, modes: int | None = None) -> Body:
        """The floating body. Raises InputError unless M, K are symmetric and positive, rigid motions free and the mass unique."""
        count = self.modes if modes is None else modes
        body = floating_body(self.exported, self.places, modes=count, stiffened=0, inertial=self.inertial)
        self._require_free(float(modes_of(body.linear()).elastic[0]))
        return replace(body, construction=Construction(self).then("discretise", modes))

    def report(self, body: Body, count: int = 10) -> SuperelementReport:
        """A comparison with the full matrices: frequencies with interfaces free and held, mass, forces of rigid motions."""
        if body.recipe is not self:
            raise InputError("this body was not made from this superelement; ask body.recipe.report(body)")
        whole_number("count", count, 1)
        exported = self.exported
        port_interfaces = interfaces(exported, self.places)
        tied = {n: Tied(i.tied, i.rigid) if i.tied.size else Averaged(i.L) for n, i in port_interfaces.items()}
        K, M, rigid = _with_rigid_interfaces(exported, [t for t in tied.values() if isinstance(t, Tied)])
        number = min(count, body.coordinates)
        full_free = fixed_interface_basis(K, M, {}, modes=min(number, K.shape[0] - 6), rigid=rigid).omega
        full_held = fixed_interface_basis(exported.K, exported.M, tied, modes=number, rigid=exported.rigid).omega
        mass, centre, inertia = rigid_mass(exported.M, exported.rigid)
        free = modes_of(body.linear())
        w = free.vectors[:, free.rigid : free.rigid + count]  # (v_P, ω, η̇) of the listed modes, of unit mass
        return SuperelementReport(
            rows=exported.coordinates,
            coordinates=body.coordinates,
            free=_columns(full_free, free.elastic),
            held=_columns(full_held, _reduced_fixed_frequencies(body)),
            mass=mass,
            centre=centre,
            inertia=inertia,
            rigid_forces=rigid_forces(exported.K, self.rigid, self.nodes.mean(axis=0)),
            masses=self.nodal.kind,
            mass_defect=_unexplained(body, exported, w),
        )

    # --- cached -------------------------------------------------------------------------------------------------------

    @cached_property
    def rigid(self) -> np.ndarray:
        """The six rigid motions about the origin, (rows, 6)."""
        return rigid_motions_of_nodes(self.nodes, self.dofs)

    @property
    def places(self) -> dict[str, Place]:
        """The ports by name: Rigid or Mean interfaces."""
        return {name: Mean(name) if name in self.mean else Rigid(name) for name in self.interfaces}

    @cached_property
    def nodal(self) -> NodalMass:
        """The masses at nodes that represent M."""
        moves = NodeShape(self.nodes, self.dofs).component_rows((1, 2, 3))
        return nodal_mass(symmetric("M", self.M), self.nodes, (moves[0], moves[1], moves[2]), self.rigid, self.masses)

    @cached_property
    def exported(self) -> MeshBody:
        """The unreduced body, after the checks of its matrices."""
        M, K = symmetric("M", self.M), symmetric("K", self.K)
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
        """The symmetrised damping matrix R, or None. Raises InputError if it damps rigid motion."""
        if self.R is None:
            return None
        R = symmetric("R", self.R)
        require_positive_semidefinite("R", R)
        if (grounded := rigid_forces(R, self.rigid, self.nodes.mean(axis=0)).max()) > 1e-4:
            raise InputError(
                f"rigid motions meet damping forces, relatively {grounded:.1e}: R is tied to the ground; put a damper there instead"
            )
        return R

    def _require_free(self, lowest: float) -> None:
        """Raises InputError if rigid motions store energy compared with the softest deformation (frequency `lowest`, rad/s)."""
        r, M, K = self.rigid, self.exported.M, self.exported.K
        energy, mass = (np.einsum("ik,ik->k", r, a @ r) for a in (K, M))
        omega = np.sqrt(np.abs(energy) / mass)
        if omega.max() > STORED * lowest:
            frequencies = ", ".join(f"{name} {w:.3g}" for name, w in zip(MOTIONS, omega, strict=True))
            raise InputError(
                f"rigid motions have frequencies of {frequencies} rad/s, beside {lowest:.3g} rad/s of the softest deformation: "
                "K is held by soft springs, or was written with too few digits; export the free body with all digits"
            )


# --- compared with the full matrices ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SuperelementReport:
    """Frequencies (rad/s) of the full matrices and of the reduced body with its interfaces free and held, and mass properties.

    Rigid interfaces are rigid in both. `free` and `held` are (modes, 2): full, reduced. `rigid_forces` are the relative elastic
    forces of the six rigid motions. `mass_defect` is the largest part of the kinetic energy of a listed free mode that
    masses at nodes do not represent and that stays constant as the body deforms; `masses` is their origin.
    """

    rows: int
    coordinates: int
    free: np.ndarray
    held: np.ndarray
    mass: float
    centre: np.ndarray
    inertia: np.ndarray
    rigid_forces: np.ndarray
    masses: str
    mass_defect: float

    @property
    def worst(self) -> float:
        """The largest relative error of the listed frequencies."""
        table = np.vstack([self.free, self.held])
        return float(np.abs(table[:, 1] / table[:, 0] - 1.0).max(initial=0.0))

    def __str__(self) -> str:
        lines = [
            f"{self.rows} rows reduced to {self.coordinates} coordinates and six rigid motions",
            f"mass {self.mass:.6g} kg, centre ({_row(self.centre, 1.0)}) m",
            "inertia about the centre, kg m²: "
            + "; ".join(_row(row, np.abs(self.inertia).max()) for row in self.inertia),
            "elastic force of rigid motions, relative: "
            + ", ".join(f"{name} {n:.0e}" for name, n in zip(MOTIONS, self.rigid_forces, strict=True)),
            f"masses at nodes: {self.masses}; of a mode's energy they leave {self.mass_defect:.1e} at most",
            "",
            "      interfaces free, Hz                   interfaces held, Hz",
            "mode  full        reduced     error         full        reduced     error",
        ]
        for k in range(max(len(self.free), len(self.held))):
            lines.append(f"{k + 1:>4}  {_line(self.free, k)}  {_line(self.held, k)}".rstrip())
        return "\n".join(lines)


def _unexplained(body: Body, exported: MeshBody, w: np.ndarray) -> float:
    """The largest 1 − Σ_a (Φ_a q̇)ᵀ mass (Φ_a q̇) of the motions w of unit mass."""
    if not isinstance(body.shape, ReducedShape):
        raise InputError("this body is a part of a superelement; ask for the report of the whole")
    q = exported.rigid @ w[:6] + body.shape.fields.V @ w[6:]
    _, mass, Phi, _ = exported.samples
    explained = sum((np.einsum("ik,ik->k", p @ q, mass @ (p @ q)) for p in Phi), np.zeros(q.shape[1]))
    return float(np.abs(1.0 - explained).max(initial=0.0))


def _with_rigid_interfaces(exported: MeshBody, ties: list[Tied]) -> tuple[Matrix, Matrix, np.ndarray]:
    """K, M and rigid motions if the nodes of every rigid interface move as one piece."""
    n = exported.coordinates
    bound = np.concatenate([np.zeros(0, dtype=int), *(t.coordinates for t in ties)])
    inside = np.setdiff1d(np.arange(n), bound)
    pieces = [csr(sp.eye_array(n, format="csr")[:, inside])]
    rigid = [exported.rigid[inside]]
    for tie in ties:
        rows = sp.lil_array((n, 6))
        rows[tie.coordinates] = tie.R
        pieces.append(csr(rows))
        rigid.append(la.lstsq(tie.R, exported.rigid[tie.coordinates])[0])
    T = csr(sp.hstack(pieces))
    return csr(T.T @ exported.K @ T), csr(T.T @ exported.M @ T), np.vstack(rigid)


def _reduced_fixed_frequencies(body: Body) -> np.ndarray:
    """Frequencies of the reduced body with all its ports held."""
    n = 6 + body.coordinates
    rows = np.vstack([np.zeros((0, n)), *(p.twist(np.zeros(n - 6)) for p in body.ports.values())])
    K = np.zeros((n, n))
    K[6:, 6:] = body.elastic.K.toarray()
    Z = la.null_space(rows, rcond=1e-9) if len(rows) else np.eye(n)
    squared = la.eigh(Z.T @ K @ Z, Z.T @ body.inertia.at_rest() @ Z, eigvals_only=True)
    return np.sqrt(np.maximum(squared[0 if len(rows) else 6 :], 0.0))


def _columns(full: np.ndarray, reduced: np.ndarray) -> np.ndarray:
    """Frequencies of both as columns, (modes, 2), as many as both have."""
    count = min(len(full), len(reduced))
    return np.column_stack([full[:count], reduced[:count]])


def _line(table: np.ndarray, k: int) -> str:
    """Mode k of a table of frequencies as text, in Hz; blanks beyond the last."""
    if k >= len(table):
        return " " * 38
    full, reduced = table[k] / (2 * np.pi)
    return f"{full:<12.6g}{reduced:<12.6g}{reduced / full - 1.0:<12.1e}"


def _row(numbers: np.ndarray, size: float) -> str:
    """Numbers as text; round-off relative to `size` is written as 0."""
    return ", ".join(f"{n if abs(n) > 1e-12 * size else 0.0:.6g}" for n in numbers)
