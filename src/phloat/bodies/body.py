"""Floating bodies: rigid, beams, plates, solids and superelements as one class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from phloat.algebra.cross import skew
from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, assembled, csr, diagonal, entry_rows, largest, submatrix, summed
from phloat.algebra.tables import facts, grid
from phloat.bodies.bases import beam_basis, fields_basis, members, pair_basis, slaved_basis
from phloat.bodies.construction import Construction
from phloat.bodies.inertia import Inertia, coupling
from phloat.bodies.shape import Combined, Selected, Shape, rigid_motions
from phloat.bodies.strain import Elastic, no_quadratic
from phloat.errors import InputError, PortError, unknown
from phloat.linear.form.elastic import ElasticMatrices, on_rows
from phloat.linear.form.fields import Field, Fields
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.reduction.basis import Basis

SPACE = (0, 1, 2, 3, 4, 5)  # v_x v_y v_z ω_x ω_y ω_z
PLANE = (0, 1, 5)
SHORTENINGS = ("coordinates", "slaved")  # how a reduced beam shortens as it bends


class Recipe(Protocol):
    """The description of a body (a beam, a rigid body, …): a frozen value, from which `discretise` makes the body."""


@dataclass(frozen=True, eq=False)
class Port:
    """A point x of a body in body axes with its displacement Φ_C η (+ ½ ηΦ₂η) and the rotation Ψ_C η of its section."""

    x: np.ndarray
    Phi: np.ndarray
    Psi: np.ndarray
    Phi_2: np.ndarray | None = None

    def at(self, eta: np.ndarray) -> Port:
        """The port linearised at η: its point is x + Φη with the derivative Φ."""
        if self.Phi_2 is None:
            return self
        slope = self.Phi_2 @ eta
        return replace(self, x=self.x - 0.5 * slope @ eta, Phi=self.Phi + slope)

    def motion(self, eta: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The point in body axes and its rate, each (times, 3), for η and η̇ (times, n).

        Each row is independent of the others, bit for bit, which BLAS would not guarantee.
        """
        y, y_dot = self.x + np.einsum("ak,tk->ta", self.Phi, eta), np.einsum("ak,tk->ta", self.Phi, rates)
        if self.Phi_2 is None:
            return y, y_dot
        slope = np.einsum("akl,tl->tak", self.Phi_2, eta)
        return y + 0.5 * np.einsum("tak,tk->ta", slope, eta), y_dot + np.einsum("tak,tk->ta", slope, rates)

    def projected(self, V: np.ndarray, V_2: np.ndarray | None = None) -> Port:
        """The port in reduced coordinates, η = V η_r + ½ η_rV₂η_r with V₂ (n, reduced, reduced)."""
        Phi_2 = None if self.Phi_2 is None else V.T @ self.Phi_2 @ V
        return Port(self.x, self.Phi @ V, self.Psi @ V, Phi_2 if V_2 is None else np.tensordot(self.Phi, V_2, 1))

    def selected(self, keep: np.ndarray) -> Port:
        """The port in the coordinates of a mask."""
        Phi_2 = None if self.Phi_2 is None else self.Phi_2[:, keep][:, :, keep]
        return Port(self.x, self.Phi[:, keep], self.Psi[:, keep], Phi_2)

    def twist(self, eta: np.ndarray) -> np.ndarray:
        """The matrix that gives (v_C, ω_C) from (v_P, ω, η̇) in body axes, 6 × (6 + n)."""
        n = len(eta)
        out = np.zeros((6, 6 + n))
        out[:3, :3] = out[3:, 3:6] = np.eye(3)
        port = self.at(eta)
        out[:3, 3:6] = -skew(port.x + port.Phi @ eta)
        out[:3, 6:], out[3:, 6:] = port.Phi, port.Psi
        return out


@dataclass(frozen=True, eq=False)
class Body:
    """A floating body: M(η) and its momenta, σ and its strains, ports for joints and forces.

    `active` are the indices of (v_P, ω) that exist: all six in space, three in a plane, the first three for a point mass.
    `planar` masks the coordinates and stresses of motion in the plane xy; `needs` names what is missing for motion in space;
    `skew` is the reason, if known, why motion in that plane is coupled with other motion. `pieces` is the number of pieces of
    a split beam of which this is one; `construction` records the calls that made this body from its recipe.
    """

    recipe: Recipe
    inertia: Inertia
    elastic: Elastic
    ports: Mapping[str, Port]
    shape: Shape
    planar: tuple[np.ndarray, np.ndarray]
    active: tuple[int, ...] = SPACE
    needs: str = ""
    skew: str = ""
    pieces: int = 0
    construction: Construction | None = None

    @property
    def coordinates(self) -> int:
        """The number of deformation coordinates η."""
        return self.inertia.S.shape[1]

    @property
    def stresses(self) -> int:
        """The number of stress states σ."""
        return self.elastic.C.shape[0]

    @cached_property
    def extent(self) -> float:
        """The longest side of the undeformed body."""
        return float(np.ptp(self.shape.points(self.shape.places()), axis=0).max())

    @cached_property
    def reach(self) -> np.ndarray:
        """The largest displacement of any point per unit of each coordinate, (n,); rotations of ports count times the extent."""
        places = self.shape.places()
        displacements = abs(self.shape.displacement(places)).max(axis=0).toarray().ravel()
        turns = [self.extent * np.abs(port.Psi).max(axis=0) for port in self.ports.values()]
        return np.vstack([displacements, *turns]).max(axis=0)

    @property
    def rotates(self) -> bool:
        return any(i >= 3 for i in self.active)

    @cached_property
    def columns(self) -> np.ndarray:
        """Indices, among the 6 + n velocities (v_P, ω, η̇) in space, of those that the body has; fewer in a plane."""
        return np.concatenate([np.array(self.active, dtype=int), 6 + np.arange(self.coordinates)])

    @cached_property
    def twist_rows(self) -> np.ndarray:
        """Indices of the twist components (v, ω) that the ports of this body have."""
        return np.array(self.active, dtype=int)

    @cached_property
    def velocities(self) -> Layout:
        """The layout of the velocities that exist: v_P, omega, eta_dot."""
        linear = sum(i < 3 for i in self.active)
        shapes = {"v_P": (linear,), "omega": (len(self.active) - linear,), "eta_dot": (self.coordinates,)}
        return Layout({name: shape for name, shape in shapes.items() if shape[0]}, "velocity")

    def port(self, name: str) -> Port:
        if name not in self.ports:
            raise PortError(unknown("port", name, self.ports))
        return self.ports[name]

    def in_plane(self) -> Body:
        """The body restricted to motion in the plane xy. Raises InputError if this is coupled with motion out of the plane."""
        return self._in_plane

    @cached_property
    def _in_plane(self) -> Body:
        """The result of `in_plane`."""
        keep, strains = self.planar
        active = tuple(i for i in self.active if i in PLANE)
        construction = self.construction and self.construction.then("in_plane")
        if not self.coordinates:  # a rigid body has no coordinates to select
            return replace(self, active=active, needs="", construction=construction)
        coupled = _coupling_out_of_plane(self, keep, strains, active)
        if coupled > 1e-9:
            raise InputError(
                f"motion in the plane xy does not decouple for this body{self.skew and f', since {self.skew}'} (relative coupling "
                f"{coupled:.1e}); connect it in space"
            )
        ports = {name: port.selected(keep) for name, port in self.ports.items()}
        return replace(
            self,
            inertia=self.inertia.selected(keep),
            elastic=self.elastic.selected(keep, strains),
            ports=ports,
            shape=Selected(self.shape, keep, strains),
            planar=(np.ones(int(keep.sum()), bool), np.ones(int(strains.sum()), bool)),
            active=active,
            needs="",
            construction=construction,
        )

    def reduced(
        self,
        basis: Basis | None = None,
        *,
        modes: int | None = None,
        axial: int = 2,
        torsion: int = 2,
        loaded: Sequence[str] = (),
        shortening: str = "coordinates",
    ) -> Body:
        """The beam reduced to the given numbers of bending modes in each plane, axial modes and torsion modes.

        Or any body reduced to the fields of a basis: of velocities of `body.linear()` (from `modal_basis` …; rigid motion is
        dropped) or of the coordinates alone (from `pod_basis`).

        Modes are those of the body in its own frame (K, M_ff): pinned at both ends in a pinned frame, with a free end C in a
        cantilever frame. With stiffening, every pair of bending fields of a plane adds an axial companion,
        m (m + 1) / 2 in all; without them the beam could not shorten as it bends and would lock.
        With `shortening="slaved"` the companions are no coordinates but follow the bending, u_x = −½ ∫ (u_y'² + u_z'²) dx to second
        order, so that m bending modes cost m coordinates: 1.5 to 3 times as fast with 2 to 4 modes. Deformation is then measured
        from the chord (`frame="chord"`), axial force is that of the axial modes alone (with `axial=0` none). If joints
        hold both ends apart, one of them must be in `loaded`, so that the beam can stretch.

        `loaded` names ports where joints apply loads that the modes represent badly (a moment, or a force at a free
        end): the static responses to forces and moments there are added. Three cantilever links in a row, hinges locked: the
        first three frequencies are 5 to 17 % high with 2 modes, 3 to 8 % with 4, below 0.2 % with 1 mode and C loaded.
        """
        if not self.coordinates:
            raise InputError("a rigid body has no deformation to reduce")
        host = self
        if basis is not None:
            if modes is not None or loaded or shortening != "coordinates":
                raise InputError("give a basis, or modes=… with loaded=… and shortening=…, not both")
            reduction = self._completed(basis)
            options: dict[str, Any] = {"basis": basis}
        else:
            if isinstance(loaded, str):
                raise InputError(f"loaded is {loaded!r}; write a tuple of port names: ({loaded!r},)")
            if shortening not in SHORTENINGS:
                raise InputError(unknown("shortening", shortening, SHORTENINGS))
            ports = [self.port(name) for name in loaded]
            loads = np.vstack([np.zeros((0, self.coordinates)), *(rows for p in ports for rows in (p.Phi, p.Psi))]).T
            slaved, counts = shortening == "slaved", dict[str, Any](modes=modes, axial=axial, torsion=torsion)
            reduction = beam_basis(self.elastic, self.inertia.M_ff, loads, companions=not slaved, **counts)
            if slaved:
                host = self._in_chord()
                reduction = slaved_basis(host.elastic, host.inertia.M_ff, (self.elastic.D @ reduction.V_v).toarray())
            options = {**counts, "loaded": tuple(loaded), **({"shortening": shortening} if slaved else {})}
        construction = self.construction and self.construction.then("reduced", **options)
        return replace(host.combined(reduction), construction=construction)

    def _in_chord(self) -> Body:
        """This beam with the frame "chord", which turns with the whole beam, so that M(η) of slaved shortening stays definite."""
        made = self.construction
        if made is None or any(step.method == "reduced" for step in made.steps):
            raise InputError("shortening='slaved' is for a beam as discretised; this one has been reduced before")
        if not self.elastic.Q.value.size:
            raise InputError("shortening='slaved' is for a Beam with stiffening=True; this body has no membrane strain")
        if "axial" not in self.families:
            raise InputError(
                "pretwist couples stretch with torsion: shortening='slaved' is not available for this beam"
            )
        if getattr(self.recipe, "frame", None) == "chord":
            return self
        beam = getattr(made.recipe, "beam", made.recipe)  # the recipe of a piece contains that of the whole beam
        chord = replace(beam, frame="chord")
        host: Body = made.repeat(chord if beam is made.recipe else replace(made.recipe, beam=chord))
        if not np.array_equal(host.shape.places(), self.shape.places()):
            raise InputError(
                f"frame={beam.frame!r} adds nodes to the beam; shortening='slaved' needs a named frame instead, such as 'chord'"
            )
        return host

    def _completed(self, basis: Basis) -> Basis:
        """The basis of the deformation in a basis of velocities, with the companions that let the body shorten as it bends."""
        if not isinstance(basis, Basis):
            raise InputError(f"{type(basis).__name__} is not a Basis; use krylov_basis, modal_basis or pod_basis")
        rows, rigid = basis.V_v.shape[0], len(self.active)
        if rows not in (self.coordinates, rigid + self.coordinates):
            raise InputError(
                f"the basis has {rows} rows, not {self.coordinates} or {rigid + self.coordinates}; make it of body.linear()"
            )
        fields, M = basis.V_v.toarray(), self.inertia.M_ff
        V = fields[rows - self.coordinates :]
        mass = M if rows == self.coordinates else self.inertia.at_rest(self.active)
        V = V[:, np.einsum("ik,ik->k", V, M @ V) > 1e-18 * np.einsum("ik,ik->k", fields, mass @ fields)]
        if not V.shape[1]:
            raise InputError("the basis holds no deformation of this body, only rigid motion")
        if self.families:
            return fields_basis(self.elastic, M, V)
        return pair_basis(self.elastic, M, V, *self.planar)

    def combined(self, basis: Basis) -> Body:
        """The body in the reduced coordinates and stresses of a basis, η = V_v η_r, σ = V_σ σ_r."""
        V, V_2 = basis.V_v.toarray(), basis.V_2
        stresses = basis.stresses or Layout({"sigma": (basis.V_sigma.shape[1],)}, "stress")
        elastic = self.elastic.projected(basis.V_v, basis.V_sigma, stresses)
        keep, strains = self.planar
        planar = ~basis.V_v[~keep].toarray().any(axis=0), ~basis.V_sigma[~strains].toarray().any(axis=0)
        return replace(
            self,
            inertia=self.inertia.projected(basis.V_v, V_2),
            elastic=elastic if V_2 is None else replace(elastic, Q=no_quadratic()),
            ports={name: port.projected(V, V_2) for name, port in self.ports.items()},
            shape=Combined(self.shape, basis.V_v, basis.V_sigma, V_2),
            planar=planar,
        )

    @property
    def families(self) -> dict[str, int]:
        """The number of coordinates of a beam in each family: axial, bending along y and z, torsion; empty for other bodies."""
        return {name: len(columns) for name, (_, columns) in members(self.elastic).items()}

    def __repr__(self) -> str:
        counts = ", ".join(f"{size} {name}" for name, size in self.families.items()) or str(self.coordinates)
        return f"Body({type(self.recipe).__name__}; coordinates: {counts}; ports {', '.join(self.ports)})"

    def _repr_html_(self) -> str:
        return facts(repr(self), {"mass (kg)": f"{self.inertia.m:.6g}", "stresses": self.stresses}) + grid(
            "ports", ("name", "at (m)"), ((name, np.round(port.x, 9).tolist()) for name, port in self.ports.items())
        )

    def linear(self) -> LinearPHDAE:
        """(45) for the free body about rest: rows (v_P, ω, η̇ | σ) in body axes; every port of the body is a port of the system."""
        return self._linear

    @cached_property
    def _linear(self) -> LinearPHDAE:
        """The system that `linear` returns, computed at the first use."""
        return matrices_at_rest([self]).system(
            self.velocities,
            self.twists,
            Layout({"sigma": (self.stresses,)} if self.stresses else {}),
            Fields({"body": lambda: on_rows(self.field, self.stresses)}),
            {"sigma": self.elastic.stresses} if self.stresses else {},
        )

    @property
    def twists(self) -> Layout:
        """The ports of `linear`, each with the components of a twist that exist."""
        return Layout({name: (len(self.active),) for name in self.ports}, "port")

    @property
    def field(self) -> Field:
        """The motion of the points that are drawn per velocity of the body, undeformed."""
        places = self.shape.places()
        points = self.shape.points(places)
        rigid = csr(rigid_motions(points).reshape(-1, 6)[:, list(self.active)])
        unit = csr(sp.eye_array(len(self.columns)))
        return Field(points, csr(sp.hstack([rigid, self.shape.displacement(places)])), body=self, velocities=unit)

    def twist_at_rest(self, port: Port) -> np.ndarray:
        """The matrix from the existing velocities to the existing twist components of a port, undeformed."""
        return port.twist(np.zeros(self.coordinates))[np.ix_(self.twist_rows, self.columns)]


def matrices_at_rest(bodies: Sequence[Body]) -> ElasticMatrices:
    """The matrices of bodies at rest that are not connected, with their velocities and stresses one after the other."""
    entries: list[tuple[np.ndarray, ...]] = []
    twists, coordinates, size, inputs = [], [np.zeros(0, dtype=int)], 0, 0
    for body in bodies:
        columns = size + np.arange(len(body.columns))
        row, column, value = body.inertia.entries_at_rest(body.active)
        entries.append((row + size, column + size, value))
        coordinates.append(columns[len(body.active) :])
        for port in body.ports.values():
            twists.append((columns, inputs + np.arange(len(body.active)), body.twist_at_rest(port).T))
            inputs += len(body.active)
        size += len(columns)
    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    eta, D, R = (
        np.concatenate(coordinates),
        diagonal([b.elastic.D for b in bodies]),
        diagonal([b.elastic.R_d for b in bodies]),
    )
    places = eta[entry_rows(R)], eta[R.indices]
    return ElasticMatrices(
        M=summed(row, column, value, (size, size)),
        C=diagonal([body.elastic.C for body in bodies]),
        D=sp.csr_array((D.data, eta[D.indices], D.indptr), shape=(D.shape[0], size)),
        R=csr(sp.coo_array((R.data, places), shape=(size, size))),
        B=assembled(twists, (size, inputs)),
    )


def ports_at(shape: Shape, places: Mapping[str, float]) -> dict[str, Port]:
    """Ports at places of a shape, {name: place}."""
    s = np.array(list(places.values()), dtype=float)
    x, Phi, Psi = shape.points(s), shape.displacement(s).toarray(), shape.rotation(s).toarray()
    return {name: Port(x[i], Phi[3 * i : 3 * i + 3], Psi[3 * i : 3 * i + 3]) for i, name in enumerate(places)}


def _coupling_out_of_plane(body: Body, keep: np.ndarray, strains: np.ndarray, active: tuple[int, ...]) -> float:
    """The largest relative entry of M(0), C, D, Φ_C, Ψ_C that couples motion in the plane with deformation out of it.

    Rigid motion out of the plane does not count: the plane itself prevents it.
    """
    inertia, M_ff, rigid = body.inertia, body.inertia.M_ff, list(active)
    mixed = np.vstack([inertia.S, coupling(inertia.X)])[rigid][:, ~keep]
    sizes = np.concatenate([np.full(3, inertia.m), np.diag(inertia.J0)])[rigid][:, None] * M_ff.diagonal()[~keep]
    rows = [float((np.abs(mixed) / np.sqrt(np.where(sizes > 0.0, sizes, 1.0))).max(initial=0.0))]
    rows += [_coupling(M_ff, keep), _coupling(body.elastic.C, strains)]
    if keep.size:
        rows.append(largest(submatrix(body.elastic.D, strains, ~keep)) / max(largest(body.elastic.D), 1e-300))
    rows += [float(np.abs(a).max(initial=0.0)) for p in body.ports.values() for a in (p.Phi[2, keep], p.Psi[:2, keep])]
    return max(rows)


def _coupling(A: Matrix, inside: np.ndarray) -> float:
    """The largest entry between indices in a mask and the others of a matrix scaled symmetrically to unit diagonal."""
    size, row = np.sqrt(np.abs(A.diagonal())), entry_rows(A)
    mixed = inside[row] & ~inside[A.indices]
    scale = size[row[mixed]] * size[A.indices[mixed]]
    return float((np.abs(A.data[mixed]) / np.where(scale > 0.0, scale, 1.0)).max(initial=0.0))
