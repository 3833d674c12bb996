"""Elastic bodies on meshes in small motion, without a floating frame: M q̈ + R_d q̇ + Dᵀσ = f,  C σ̇ = D q̇.

q are the coordinates of a finite-element space, rigid motion included; σ are stresses in a space that contains the strains.
A continuum is a linear port-Hamiltonian system (`linear`), and becomes a floating body by the choice of a frame and of few
coordinates (`reduced`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.eigen import lowest
from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import Matrix, csr, zero_matrix
from phloat.bodies.body import Body
from phloat.bodies.construction import Construction
from phloat.bodies.continua.floating import floating_body
from phloat.bodies.continua.mesh_body import (
    MeshBody,
    Patch,
    Place,
    Strains,
    Surface,
    Trace,
    interface,
    interfaces,
    rigid_shift,
)
from phloat.bodies.continua.reduced_shape import ReducedShape
from phloat.bodies.damping import BODY, GROUND, moving_mass
from phloat.bodies.material import ModalDamping
from phloat.bodies.shape import DerivedShape, Selected, Shape, selection
from phloat.errors import AccuracyError, InputError, unknown, whole_number
from phloat.fem.mesh import Mesh
from phloat.linear.analysis.modes import modes
from phloat.linear.form.elastic import elastic_system
from phloat.linear.form.fields import Field
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.reduction.basis import Basis

MOST_DENSE = 3000  # coordinates up to which a dense matrix is allowed


@dataclass(frozen=True, eq=False, kw_only=True)
class Continuum(MeshBody):
    """An elastic body on a mesh, which is a linear system by itself."""

    mesh: Mesh
    ports: Mapping[str, Place] = field(default_factory=dict)
    stiffening: bool = True
    construction: Construction | None = None

    def __repr__(self) -> str:
        text = f"; held: {self.held}" if self.held else ""
        return f"Continuum({type(self.recipe).__name__}; {self.coordinates} coordinates; boundaries: {', '.join(self.parts)}{text})"

    @cached_property
    def R_d(self) -> Matrix:
        """The damping matrix of small motion, proportional to mass and stiffness. Raises InputError for modal damping."""
        if isinstance(self.damping, ModalDamping):
            raise InputError("modal damping is known to floating bodies only: make one with reduced(modes=…)")
        mass, stiff = self.damping.mass, self.damping.stiffness
        if not mass and not stiff:
            return zero_matrix(*self.M.shape)
        M = self._relative_mass(str(self.damping.relative_to)) if mass else zero_matrix(*self.M.shape)  # type: ignore[union-attr]
        if not stiff:
            return csr(mass * M)
        if self.K is None:
            raise InputError("stiffness damping needs stresses that are local to elements; use others than 'hhj'")
        return csr(mass * M + stiff * self.K)

    def _relative_mass(self, reference: str) -> Matrix:
        """The mass matrix of motion relative to the ground, to a port, or to the mean rigid motion of the body."""
        if reference == GROUND:
            return self.M
        if self.held:
            raise InputError(f"a held body ({self.held}) is damped relative to the ground: relative_to='{GROUND}'")
        heavy = self.M @ self.rigid
        if reference == BODY:
            if self.coordinates > MOST_DENSE:
                raise InputError(
                    f"relative_to='{BODY}' couples all {self.coordinates} coordinates (at most {MOST_DENSE}); name a port"
                )
            return csr(self.M - csr(heavy @ np.linalg.pinv(self.rigid.T @ heavy, hermitian=True) @ heavy.T))
        if reference not in self.ports:
            raise InputError(unknown("reference of damping (relative_to)", reference, [*self.ports, BODY, GROUND]))
        port = interface(self, reference, self.ports[reference])
        A = csr(rigid_shift(port.x) @ port.L)
        return moving_mass(self.M, csr(heavy.T), csr(self.rigid.T @ heavy), A)

    def trace(self, part: str | Patch) -> Trace:
        """A boundary, a region of cells, a disc or ("") the body as quadrature points. Raises InputError for an unknown name."""
        if part and not isinstance(part, Patch) and part not in self.parts and part not in self.mesh.regions:
            raise InputError(unknown("boundary", part, [*self.parts, *self.mesh.regions]))
        return super().trace(part)

    def loaded_part(self, name: str, label: str) -> Trace:
        """A boundary, a region of a plate or sheet, or ("") a plate as quadrature points. Raises InputError if there is none."""
        self.require_part(name, label)
        return self.trace(name)

    def require_part(self, name: str, label: str) -> None:
        """Raises InputError unless a load called `label` can act on this boundary, region of a plate or sheet, or ("") plate."""
        names = [*self.parts, *(self.mesh.regions if self.mesh.dimension == 2 else ())]
        if name and name not in names:
            raise InputError(f"{label}: {unknown('boundary', name, names)}")
        if not name and not self.is_plate:
            raise InputError(f"{label} needs a boundary of this body, which is not a plate: {', '.join(self.parts)}")

    def surface(self, name: str, label: str) -> Surface:
        """A boundary of a solid or sheet, a region of a plate or ("") a plate, with its tangents. Raises InputError for others."""
        self.require_part(name, label)
        if self.is_plate and name in self.parts:
            raise InputError(f"{label} pushes on the area of a plate, not on its side {name!r}; use Traction(…) there")
        if not self.is_plate and name not in self.parts:
            raise InputError(f"{label} pushes on boundaries of this body, not on its region {name!r}")
        assert self.make_surface is not None
        return self.make_surface(name)

    @property
    def is_plate(self) -> bool:
        """Whether it bends out of its plane, so that all of it is a surface."""
        return "w" in self.kinds

    def volume(self) -> Trace:
        """The body as quadrature points with weights of volume."""
        trace = self.trace("")
        thickness = self.recipe.thickness_at(trace.x[:, : self.mesh.dimension])  # type: ignore[attr-defined]
        return trace._replace(weight=trace.weight * thickness)

    def with_supports(self, coordinates: np.ndarray, words: str) -> Continuum:
        """The body with some coordinates held at zero; `words` describe them in errors and reports."""
        free = np.setdiff1d(np.arange(self.coordinates), coordinates)
        place = np.full(self.coordinates, -1)
        place[free] = np.arange(len(free))
        P = selection(place >= 0)
        make_strains, make_trace, make_surface = self.make_strains, self.make_trace, self.make_surface
        assert make_surface is not None

        def restricted(rows: tuple[Matrix, Matrix, Matrix]) -> tuple[Matrix, Matrix, Matrix]:
            return csr(rows[0] @ P), csr(rows[1] @ P), csr(rows[2] @ P)

        def restricted_strains() -> Strains:
            C, D, stresses, pair = make_strains()
            return Strains(C, csr(D @ P), stresses, pair and (lambda q, r: pair(P @ q, P @ r)))

        def restricted_trace(part: str | Patch) -> Trace:
            full = make_trace(part)
            return full._replace(u=restricted(full.u), turn=full.turn and restricted(full.turn))

        def restricted_surface(name: str) -> Surface:
            full = make_surface(name)
            first, second = full.slopes
            return full._replace(u=restricted(full.u), slopes=(restricted(first), restricted(second)))

        return replace(
            self,
            samples=self.samples._replace(Phi=restricted(self.samples.Phi)),
            sections=self.sections and self.sections.selected(free),
            M=csr(self.M[free][:, free]),
            K=None if self.K is None else csr(self.K[free][:, free]),
            make_strains=restricted_strains,
            rigid=self.rigid[free],
            kinds=self.kinds[free],
            parts={name: place[numbers][place[numbers] >= 0] for name, numbers in self.parts.items()},
            make_trace=restricted_trace,
            make_surface=restricted_surface,
            shape=Selected(self.shape, place >= 0),
            held=f"{self.held}, {words}" if self.held else words,
        )

    def reduced(
        self,
        basis: Basis | None = None,
        *,
        modes: int | None = None,
        stiffened: int | None = None,
        inertial: bool = True,
        loaded: Sequence[str] = (),
    ) -> Body:
        """The floating body reduced to the static motions of its ports and this number of modes with the ports held.

        Or to the velocities of a basis of `linear()`, from `krylov_basis` or `modal_basis`; rigid motion is left to the frame.

        `inertial` adds the static responses to the inertia of rigid motion, of spin and of the motion of every port: without
        them a spinning blade does not stretch, and free frequencies converge slowly with the number of modes.

        `loaded` names boundaries on which a `Traction` or a `Pressure` acts: the static responses to uniform ones along each axis
        and across the boundary are added, without which a load deforms the body only as far as the modes can follow it.

        With stiffening, every pair of the `stiffened` softest of these fields (6 by default, at most all) adds a companion
        that lets the body shorten as it bends, m (m + 1) / 2 in all. `body.coordinates` is the resulting number.
        """
        if basis is None and modes is None:
            raise InputError("modes is None; it must be a whole number, 0 or more; or give a basis")
        body = floating_body(
            self,
            self.ports,
            modes=modes or 0,
            stiffened=stiffened if self.stiffening else 0,
            inertial=inertial and basis is None,
            loads=self._uniform_loads(loaded),
            fields=None if basis is None else self._basis_velocities(basis, modes),
        )
        options = {
            "basis": basis,
            "modes": modes,
            "stiffened": stiffened,
            "inertial": inertial,
            "loaded": tuple(loaded),
        }
        return replace(body, construction=self.construction and self.construction.then("reduced", **options))

    def _uniform_loads(self, boundaries: Sequence[str]) -> np.ndarray:
        """Forces of uniform tractions along each axis on named boundaries, and across them, (n, loads)."""
        if isinstance(boundaries, str):
            raise InputError(f"loaded is {boundaries!r}; write a tuple of names: ({boundaries!r},)")
        forces = [np.zeros((self.coordinates, 0))]
        for name in boundaries:
            trace = self.loaded_part(name, "loaded")
            forces += [(u.T @ trace.weight)[:, None] for u in trace.u]
            if not self.is_plate:
                surface = self.surface(name, "loaded")
                area = surface.weight[:, None] * np.cross(*surface.tangents)
                forces.append(sum(u.T @ a for u, a in zip(surface.u, area.T, strict=True))[:, None])
        out = np.hstack(forces)
        return out[:, out.any(axis=0)]

    def _basis_velocities(self, basis: Basis, modes: int | None) -> np.ndarray:
        """The velocities of a basis, (n, fields). Raises InputError if the basis does not fit this body."""
        if not isinstance(basis, Basis):
            raise InputError(f"{type(basis).__name__} is not a Basis; use krylov_basis or modal_basis")
        if modes is not None:
            raise InputError("give a basis, or modes=…, not both")
        if basis.V_v.shape[0] != self.coordinates:
            raise InputError(
                f"the basis has {basis.V_v.shape[0]} rows of velocities, not {self.coordinates}: make it of body.linear()"
            )
        return np.asarray(basis.V_v.toarray())

    def modes(self, count: int = 20) -> tuple[np.ndarray, np.ndarray]:
        """ω (rad/s, ascending, rigid ones 0) and shapes q of unit mass, n × count.

        Computed from K and M, or through the strains if round-off in K hides the low modes of a thin body.
        """
        whole_number("count", count, 1)
        self._require_inertia()
        if self.K is not None:
            with suppress(AccuracyError):
                squared, q = lowest(self.K, self.M, int(count), self.rigid)
                return np.sqrt(np.maximum(squared, 0.0)), q
        result = modes(self.linear(), count)
        return result.omega[:count], result.vectors[:, :count]

    def _require_inertia(self) -> None:
        """Raises InputError if some coordinates have no mass, as the slopes of elements="hhj" that float."""
        if (self.M.diagonal() <= 0.0).any():
            raise InputError(
                f"some coordinates of this {type(self.recipe).__name__} have no mass, as slopes of elements='hhj' with a frame: "
                "use reduced(modes=…), which eliminates them, or leave frame= out for small motions"
            )

    def linear(self, boundary: Sequence[str] = ()) -> LinearPHDAE:
        """The linear port-Hamiltonian system of (v | σ): E = diag(M, C), J = [[0, −Dᵀ], [D, 0]], R = diag(R_d, 0).

        The inputs of a port of the recipe are a wrench, its outputs the mean twist of its patch; those of `boundary` are forces on
        all coordinates of a named boundary and their velocities.
        """
        return self._linear_with(boundary) if boundary else self._linear

    @cached_property
    def _linear(self) -> LinearPHDAE:
        return self._linear_with(())

    def _linear_with(self, boundary: Sequence[str]) -> LinearPHDAE:
        """The linear system with ports for the coordinates of named boundaries."""
        self._require_inertia()
        C, D, parts, _ = self.strains
        if isinstance(boundary, str):
            raise InputError(f"boundary is {boundary!r}; write a tuple of names: ({boundary!r},)")
        identity, places = sp.eye_array(self.coordinates, format="csc"), self.shape.places()
        columns = [
            {name: csr(port_interface.L.T) for name, port_interface in interfaces(self, self.ports).items()},
            {name: csr(identity[:, self.on(name)]) for name in boundary},
        ]
        return elastic_system(
            M=self.M,
            C=C,
            D=D,
            R=self.R_d,
            B=csr(sp.hstack([zero_matrix(self.coordinates, 0), *(b for group in columns for b in group.values())])),
            velocities=Layout({"v": (self.coordinates,)}),
            ports=joined_layouts([Layout({n: (b.shape[1],) for n, b in group.items()}) for group in columns], "port"),
            field=Field(self.shape.points(places), self.shape.displacement(places), self.facets, body=self),
            parts=parts,
        )

    @property
    def facets(self) -> np.ndarray:
        """The nodes of the facets that are drawn, (facets, corners): the cells of a plate, the boundary facets of a solid."""
        return self.mesh.corners if self.mesh.dimension == 2 else self.mesh.facets


SLIPS = (  # mass / expected mass, and the likely mistake
    (1e9, "a mesh in millimetres: unit=1e-3"),
    (1e6, "a mesh in centimetres: unit=1e-2"),
    (39.3701**3, "a mesh in inches: unit=0.0254"),
    (1e-9, "a mesh in metres that was scaled from millimetres: unit=1"),
    (1e3, "a mass in tonnes: mass is in kg"),
    (1e-3, "a density in g/cm³: rho is in kg/m³"),
    (1e-12, "a density in t/mm³: rho is in kg/m³"),
)


def require_mass(mass: float, expected: float | None) -> None:
    """Raises InputError if the mass of a body differs from the expected one by more than 1 %."""
    if expected is None or abs(mass / expected - 1.0) <= 0.01:
        return
    ratio = mass / expected
    likely = [why for slip, why in SLIPS if 0.7 < ratio / slip < 1.4]
    hint = f"; likely {' or '.join(likely)}" if likely else "; check the density and the mesh"
    raise InputError(f"this body weighs {mass:.4g} kg, {ratio:.3g} times the mass of {expected:.4g} kg given{hint}")


# --- the mesh behind a body ---------------------------------------------------------------------------------------------


def mesh_of(body: Body) -> Mesh | None:
    """The mesh of a body that is made on one, else None."""
    continuum = _continuum(body)
    return continuum.mesh if continuum else None


def facets_of(body: Body) -> np.ndarray | None:
    """`Continuum.facets` of a body that is made on a mesh, else None."""
    continuum = _continuum(body)
    return continuum.facets if continuum else None


def innermost(shape: Shape) -> Shape:
    """The shape from which a derived shape is selected or combined, through all levels."""
    while hasattr(shape, "shape"):
        shape = shape.shape
    return shape


def coordinates_on_mesh(body: Body) -> tuple[Continuum, np.ndarray] | None:
    """The continuum from which a body was reduced, and its coordinates per coordinate of the body (n × r); else None."""
    shape, maps = body.shape, []
    while not isinstance(shape, ReducedShape) and isinstance(shape, DerivedShape):
        maps.append(shape.V_v)
        shape = shape.shape
    if not isinstance(shape, ReducedShape) or not isinstance(shape.continuum, Continuum):
        return None
    V = shape.fields.V
    for inner in reversed(maps):
        V = V @ inner
    return shape.continuum, V


def _continuum(body: Body) -> Continuum | None:
    """The continuum from which a body was reduced, else None."""
    shape = body.shape
    while not isinstance(shape, ReducedShape) and hasattr(shape, "shape"):
        shape = shape.shape
    return shape.continuum if isinstance(shape, ReducedShape) and isinstance(shape.continuum, Continuum) else None
