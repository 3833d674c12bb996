"""Elastic bodies on meshes, before any frame floats with them: M q̈ + R_d q̇ + Dᵀσ = f,  C σ̇ = D q̇.

q are the coordinates of a finite-element space, rigid motion included; σ are stresses in a space that contains the strains.
A continuum is a linear port-Hamiltonian system as it stands (`linear`), and a floating body once a frame is chosen and few
coordinates are kept (`reduced`).
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
from phloat.bodies.body import Body, elastic_system
from phloat.bodies.construction import Construction
from phloat.bodies.continua.floating import floating_body
from phloat.bodies.continua.mesh_body import MeshBody, Patch, Place, Strains, Trace, interface, interfaces, rigid_shift
from phloat.bodies.continua.reduced_shape import ReducedShape
from phloat.bodies.damping import BODY, GROUND, moving_mass
from phloat.bodies.material import ModalDamping
from phloat.bodies.shape import Selected, Shape, selection
from phloat.errors import AccuracyError, InputError, unknown, whole_number
from phloat.fem.mesh import Mesh
from phloat.linear.analysis.modes import modes
from phloat.linear.form.phdae import Field, LinearPHDAE
from phloat.linear.reduction.basis import Basis

MOST_DENSE = 3000  # coordinates that may all be coupled


@dataclass(frozen=True, eq=False, kw_only=True)
class Continuum(MeshBody):
    """An elastic body on a mesh that is a linear system of its own."""

    mesh: Mesh
    ports: Mapping[str, Place] = field(default_factory=dict)
    stiffening: bool = True
    construction: Construction | None = None

    def __repr__(self) -> str:
        held = f"; held: {self.held}" if self.held else ""
        return f"Continuum({type(self.recipe).__name__}; {self.coordinates} coordinates; boundaries: {', '.join(self.parts)}{held})"

    @cached_property
    def R_d(self) -> Matrix:
        """Damping of small motion: proportional to mass and stiffness, or to the stiffness alone."""
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
        """The mass that moves relative to the ground, to a port, or to the mean rigid motion of the body."""
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

    def trace(self, where: str | Patch) -> Trace:
        """A boundary, a region of cells or a disc as quadrature points."""
        if not isinstance(where, Patch) and where not in self.parts and where not in self.mesh.regions:
            raise InputError(unknown("boundary", where, [*self.parts, *self.mesh.regions]))
        return super().trace(where)

    def with_supports(self, coordinates: np.ndarray, words: str) -> Continuum:
        """The same body with some coordinates held at zero; `words` say which, for errors and reports."""
        free = np.setdiff1d(np.arange(self.coordinates), coordinates)
        place = np.full(self.coordinates, -1)
        place[free] = np.arange(len(free))
        P = selection(place >= 0)
        make_strains, make_trace = self.make_strains, self.make_trace

        def fewer(rows: tuple[Matrix, Matrix, Matrix]) -> tuple[Matrix, Matrix, Matrix]:
            return csr(rows[0] @ P), csr(rows[1] @ P), csr(rows[2] @ P)

        def fewer_strains() -> Strains:
            C, D, stresses, pair = make_strains()
            return Strains(C, csr(D @ P), stresses, pair and (lambda q, r: pair(P @ q, P @ r)))

        def fewer_trace(where: str | Patch) -> Trace:
            full = make_trace(where)
            return full._replace(u=fewer(full.u), turn=full.turn and fewer(full.turn))

        return replace(
            self,
            samples=self.samples._replace(Phi=fewer(self.samples.Phi)),
            sections=self.sections and self.sections.selected(free),
            M=csr(self.M[free][:, free]),
            K=None if self.K is None else csr(self.K[free][:, free]),
            make_strains=fewer_strains,
            rigid=self.rigid[free],
            kinds=self.kinds[free],
            parts={name: place[on][place[on] >= 0] for name, on in self.parts.items()},
            make_trace=fewer_trace,
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
    ) -> Body:
        """The floating body with few coordinates: so many modes with its ports held, and the static motions of the ports.

        Or the velocities of a basis of `linear()`, from `krylov_basis` or `modal_basis`; rigid motions go to the frame.

        `inertial` keeps the static responses to inertia as well, of rigid motion, of spin and of every port's own motion: without
        them a spinning blade does not stretch, and free frequencies converge slowly with the number of modes.

        With stiffening, every pair of the `stiffened` softest of these fields (6 by default, at most all) brings a companion
        that lets it shorten as it bends, m (m + 1) / 2 of them. `body.coordinates` says what came out.
        """
        if basis is None and modes is None:
            raise InputError("modes is None; it must be a whole number, 0 or more; or give a basis")
        body = floating_body(
            self,
            self.ports,
            modes=modes or 0,
            stiffened=stiffened if self.stiffening else 0,
            inertial=inertial and basis is None,
            given=None if basis is None else self._basis_velocities(basis, modes),
        )
        options = {"basis": basis, "modes": modes, "stiffened": stiffened, "inertial": inertial}
        return replace(body, construction=self.construction and self.construction.then("reduced", **options))

    def _basis_velocities(self, basis: Basis, modes: int | None) -> np.ndarray:
        """The velocities of a basis."""
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

        From K and M alone, or, where a thin body loses its low modes in the round-off of K, through the strains.
        """
        whole_number("count", count, 1)
        if self.K is not None:
            with suppress(AccuracyError):
                squared, q = lowest(self.K, self.M, int(count), self.rigid)
                return np.sqrt(np.maximum(squared, 0.0)), q
        found = modes(self.linear(), count)
        return found.omega[:count], found.vectors[:, :count]

    def linear(self, boundary: Sequence[str] = ()) -> LinearPHDAE:
        """The linear port-Hamiltonian system (v | σ): E = diag(M, C), J = [[0, −Dᵀ], [D, 0]], R = diag(R_d, 0).

        The ports of the recipe take a wrench and give the mean twist of their patch; those of `boundary` take forces on all
        coordinates of a named boundary and give their velocities.
        """
        return self._opened(boundary) if boundary else self._linear

    @cached_property
    def _linear(self) -> LinearPHDAE:
        return self._opened(())

    def _opened(self, boundary: Sequence[str]) -> LinearPHDAE:
        C, D, *_ = self.strains
        if isinstance(boundary, str):
            raise InputError(f"boundary is {boundary!r}; write a tuple of names: ({boundary!r},)")
        whole, places = sp.eye_array(self.coordinates, format="csc"), self.shape.places()
        columns = [
            {name: csr(found.L.T) for name, found in interfaces(self, self.ports).items()},
            {name: csr(whole[:, self.on(name)]) for name in boundary},
        ]
        return elastic_system(
            M=self.M,
            C=C,
            D=D,
            R=self.R_d,
            B=csr(sp.hstack([zero_matrix(self.coordinates, 0), *(b for some in columns for b in some.values())])),
            velocities=Layout({"v": (self.coordinates,)}),
            ports=joined_layouts([Layout({n: (b.shape[1],) for n, b in some.items()}) for some in columns], "port"),
            field=Field(self.shape.points(places), self.shape.displacement(places), self.facets),
        )

    @property
    def facets(self) -> np.ndarray:
        """By which nodes it is drawn, (facets, corners): the cells of a plate, the outside of a solid."""
        return self.mesh.corners if self.mesh.dimension == 2 else self.mesh.facets


SLIPS = (  # found mass / expected mass, and what may be behind it
    (1e9, "a mesh in millimetres: unit=1e-3"),
    (1e6, "a mesh in centimetres: unit=1e-2"),
    (39.3701**3, "a mesh in inches: unit=0.0254"),
    (1e-9, "a mesh in metres that was scaled from millimetres: unit=1"),
    (1e3, "a mass in tonnes: mass is in kg"),
    (1e-3, "a density in g/cm³: rho is in kg/m³"),
    (1e-12, "a density in t/mm³: rho is in kg/m³"),
)


def require_mass(found: float, expected: float | None) -> None:
    """Raises InputError if the mass of a body differs from the expected one by more than 1 %."""
    if expected is None or abs(found / expected - 1.0) <= 0.01:
        return
    ratio = found / expected
    likely = [why for slip, why in SLIPS if 0.7 < ratio / slip < 1.4]
    hint = f"; likely {' or '.join(likely)}" if likely else "; check the density and the mesh"
    raise InputError(f"this body weighs {found:.4g} kg, {ratio:.3g} times the mass of {expected:.4g} kg given{hint}")


# --- the mesh behind a body ---------------------------------------------------------------------------------------------


def mesh_of(body: Body) -> Mesh | None:
    """The mesh of a body that was made on one."""
    found = _continuum(body)
    return found.mesh if found else None


def facets_of(body: Body) -> np.ndarray | None:
    """By which places a body on a mesh is drawn, (facets, corners): the cells of a plate, the outside of a solid."""
    found = _continuum(body)
    return found.facets if found else None


def innermost(shape: Shape) -> Shape:
    """The shape that others select from and combine."""
    while hasattr(shape, "shape"):
        shape = shape.shape
    return shape


def _continuum(body: Body) -> Continuum | None:
    shape = body.shape
    while not isinstance(shape, ReducedShape) and hasattr(shape, "shape"):
        shape = shape.shape
    return shape.continuum if isinstance(shape, ReducedShape) and isinstance(shape.continuum, Continuum) else None
