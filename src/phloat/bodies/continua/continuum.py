"""Elastic bodies on meshes, before any frame floats with them: M q̈ + R_d q̇ + Dᵀσ = f,  C σ̇ = D q̇.

q are the coordinates of a finite-element space, rigid motion included; σ are stresses in a space that contains the strains.
A continuum is a linear port-Hamiltonian system as it stands (`linear`), and a floating body once a frame is chosen and few
coordinates are kept (`reduced`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.eigen import lowest
from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import Matrix, csr, stacked, zero_matrix
from phloat.bodies.body import Body, Recipe
from phloat.bodies.construction import Construction
from phloat.bodies.continua.floating import floating_body
from phloat.bodies.continua.interfaces import Place, interface, interfaces, rigid_shift
from phloat.bodies.continua.mesh_body import MassSamples, Strains, Trace
from phloat.bodies.continua.patches import Patch
from phloat.bodies.damping import BODY, GROUND
from phloat.bodies.inertia import Sections
from phloat.bodies.material import Damping, ModalDamping
from phloat.bodies.shape import DerivedShape, Shape
from phloat.errors import AccuracyError, InputError, unknown
from phloat.fem.mesh import Mesh
from phloat.linear.analysis.modes import modes
from phloat.linear.form.phdae import Field, LinearPHDAE
from phloat.linear.reduction.basis import Basis

MOST_DENSE = 3000  # coordinates that may all be coupled


@dataclass(frozen=True, eq=False)
class Continuum:
    """An elastic body on a mesh in coordinates q, n of them.

    `M` and `K` (None where the stresses are not local to elements) are the classical matrices; `strains` computes C and D when
    they are needed. `rigid` (n × 6) are the coordinates of unit translations and of unit rotations about the origin. `kinds` says
    what each coordinate is ("u_x", "w", "theta_y"…), `parts` which coordinates lie on each named boundary, `trace(name)` the
    boundary as quadrature points. `held` says in words what is held to the ground. `frame`, `ports` and `stiffening` are for the
    body once it floats, and `stretch(G)`, the coordinates of the field u = G x.
    """

    recipe: Recipe
    mesh: Mesh
    samples: MassSamples
    sections: Sections | None
    M: Matrix
    K: Matrix | None
    make_strains: Callable[[], Strains]
    rigid: np.ndarray
    kinds: np.ndarray
    parts: Mapping[str, np.ndarray]
    make_trace: Callable[[str | Patch], Trace]
    shape: Shape
    damping: Damping
    frame: str | None = None
    ports: Mapping[str, Place] = field(default_factory=dict)
    stiffening: bool = True
    stretch: Callable[[np.ndarray], np.ndarray] | None = None
    held: str = ""
    construction: Construction | None = None

    def __repr__(self) -> str:
        held = f"; held: {self.held}" if self.held else ""
        return f"Continuum({type(self.recipe).__name__}; {self.coordinates} coordinates; boundaries: {', '.join(self.parts)}{held})"

    @property
    def coordinates(self) -> int:
        return self.M.shape[0]

    @cached_property
    def strains(self) -> Strains:
        """C, D and the quadratic part."""
        return self.make_strains()

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
            raise InputError("stiffness damping needs stresses that are local to elements; use the conforming elements")
        return csr(mass * M + stiff * self.K)

    @property
    def drag(self) -> None:
        """No damping matrix is given."""

    def _relative_mass(self, reference: str) -> Matrix:
        """The mass that moves relative to the ground, to a port, or to the mean rigid motion of the body."""
        if reference == GROUND:
            return self.M
        if self.held:
            raise InputError(
                f"this body is held to the ground ({self.held}), so its mass damping is relative to it: relative_to='{GROUND}'"
            )
        heavy = self.M @ self.rigid
        if reference == BODY:
            if self.coordinates > MOST_DENSE:
                raise InputError(
                    f"damping relative to the body couples all of its {self.coordinates} coordinates (at most {MOST_DENSE}); "
                    f"take relative_to='{GROUND}' or a port, or reduced(modes=…)"
                )
            return csr(self.M - csr(heavy @ np.linalg.pinv(self.rigid.T @ heavy, hermitian=True) @ heavy.T))
        if reference not in self.ports:
            raise InputError(unknown("reference of damping (relative_to)", reference, [*self.ports, BODY, GROUND]))
        port = interface(self, reference, self.ports[reference])
        A = csr(rigid_shift(port.x) @ port.L)
        mixed = A.T @ csr(heavy.T)
        return csr(self.M - mixed - mixed.T + A.T @ csr(self.rigid.T @ heavy) @ A)

    def on(self, boundary: str, kinds: Iterable[str] | None = None) -> np.ndarray:
        """The coordinates on a named boundary, all or some kinds of them."""
        if boundary not in self.parts:
            raise InputError(unknown("boundary", boundary, self.parts))
        found = np.asarray(self.parts[boundary])
        return found if kinds is None else found[np.isin(self.kinds[found], list(kinds))]

    def trace(self, where: str | Patch) -> Trace:
        """A boundary, a region of cells or a disc as quadrature points."""
        if not isinstance(where, Patch) and where not in self.parts and where not in self.mesh.regions:
            raise InputError(unknown("boundary", where, [*self.parts, *self.mesh.regions]))
        return self.make_trace(where)

    def with_supports(self, coordinates: np.ndarray, words: str) -> Continuum:
        """The same body with some coordinates held at zero; `words` say which, for errors and reports."""
        free = np.setdiff1d(np.arange(self.coordinates), coordinates)
        place = np.full(self.coordinates, -1)
        place[free] = np.arange(len(free))
        samples = self.samples._replace(Phi=tuple(csr(p[:, free]) for p in self.samples.Phi))
        sections = self.sections and self.sections.selected(free)
        make_strains, make_trace = self.make_strains, self.make_trace

        def fewer_strains() -> Strains:
            full = make_strains()
            pair = full.pair
            if pair is None:
                return full._replace(D=csr(full.D[:, free]))

            def spread(q: np.ndarray) -> np.ndarray:
                out = np.zeros(len(place))
                out[free] = q
                return out

            return full._replace(D=csr(full.D[:, free]), pair=lambda q, r: pair(spread(q), spread(r)))

        def fewer_trace(where: str | Patch) -> Trace:
            full = make_trace(where)
            turn = full.turn and tuple(csr(t[:, free]) for t in full.turn)
            return full._replace(u=tuple(csr(u[:, free]) for u in full.u), turn=turn)

        return replace(
            self,
            samples=samples,
            sections=sections,
            M=csr(self.M[free][:, free]),
            K=None if self.K is None else csr(self.K[free][:, free]),
            make_strains=fewer_strains,
            rigid=self.rigid[free],
            kinds=self.kinds[free],
            parts={name: place[on][place[on] >= 0] for name, on in self.parts.items()},
            make_trace=fewer_trace,
            shape=SupportedShape(self.shape, free),
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
        count, given = stiffened if self.stiffening else 0, self._basis_velocities(basis, modes)
        options = {"basis": basis, "modes": modes, "stiffened": stiffened, "inertial": inertial}
        construction = self.construction and self.construction.then("reduced", **options)
        if given is not None:
            body = floating_body(self, self.ports, modes=0, stiffened=count, inertial=False, given=given)
            return replace(body, construction=construction)
        if modes is None:
            raise InputError("modes is None; it must be a whole number, 0 or more")
        return replace(
            floating_body(self, self.ports, modes=modes, stiffened=count, inertial=inertial), construction=construction
        )

    def _basis_velocities(self, basis: Basis | None, modes: int | None) -> np.ndarray | None:
        """The velocities of a basis."""
        if basis is None:
            return None
        if not isinstance(basis, Basis):
            raise InputError(
                f"{type(basis).__name__} is not a Basis; make one with krylov_basis or modal_basis, or say modes=…"
            )
        if modes is not None:
            raise InputError("give a basis, or modes=…, not both")
        if basis.V_v.shape[0] != self.coordinates:
            raise InputError(
                f"the basis has {basis.V_v.shape[0]} rows of velocities; this body has {self.coordinates} coordinates: make it of "
                "its linear()"
            )
        return np.asarray(basis.V_v.toarray())

    def modes(self, count: int = 20) -> tuple[np.ndarray, np.ndarray]:
        """ω (rad/s, ascending, rigid ones 0) and shapes q of unit mass, n × count.

        From K and M alone, or, where a thin body loses its low modes in the round-off of K, through the strains.
        """
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise InputError(f"count is {count!r}; ask for at least one mode")
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
        n, (C, D, *_) = self.coordinates, self.strains
        if isinstance(boundary, str):
            raise InputError(f"boundary is {boundary!r}; write a tuple of names: ({boundary!r},)")
        twists = {name: found.L for name, found in interfaces(self, self.ports).items()}
        B, ports = open_ports(n, twists, {name: self.on(name) for name in boundary})
        places = self.shape.places()
        motion = sp.hstack([self.shape.displacement(places), zero_matrix(3 * len(places), C.shape[0])])
        return LinearPHDAE(
            E=stacked([[self.M, None], [None, C]]),
            J=stacked([[zero_matrix(n, n), -D.T], [D, zero_matrix(C.shape[0], C.shape[0])]]),
            R=stacked([[self.R_d, None], [None, zero_matrix(*C.shape)]]),
            B=sp.vstack([B, zero_matrix(C.shape[0], ports.size)]),
            rows=Layout({"v": (n,), "sigma": (C.shape[0],)}, "row"),
            ports=ports,
            split=n,
            fields={"body": Field(self.shape.points(places), csr(motion), self.facets)},
        )

    @property
    def facets(self) -> np.ndarray:
        """By which nodes it is drawn, (facets, corners): the cells of a plate, the outside of a solid."""
        return self.mesh.corners if self.mesh.dimension == 2 else self.mesh.facets


@dataclass(frozen=True, eq=False)
class SupportedShape(DerivedShape):
    """A shape with some of its coordinates fixed at zero."""

    shape: Shape
    free: np.ndarray

    def of_coordinates(self, rows: Matrix) -> Matrix:
        return csr(rows[:, self.free])

    def of_stresses(self, rows: Matrix) -> Matrix:
        return rows


# --- open ports ------------------------------------------------------------------------------------------------------
#
# Open ports of bodies on meshes: of patches and points by their mean motion, of boundaries by all of their coordinates.


def open_ports(
    coordinates: int, twists: Mapping[str, Matrix], boundaries: Mapping[str, np.ndarray]
) -> tuple[Matrix, Layout]:
    """B on the velocities, and the names of its columns.

    A port with a mean twist (v, ω) = L q̇ takes the wrench (f, τ) at its centre. A boundary, by its coordinates, takes a force on
    each of them and gives their velocities.
    """
    whole = sp.eye_array(coordinates, format="csc")
    columns = [
        {name: csr(L.T) for name, L in twists.items()},
        {name: csr(whole[:, on]) for name, on in boundaries.items()},
    ]
    blocks = [b for some in columns for b in some.values()]
    layouts = [Layout({name: (b.shape[1],) for name, b in some.items()}) for some in columns]
    return csr(sp.hstack([zero_matrix(coordinates, 0), *blocks])), joined_layouts(layouts, "port")
