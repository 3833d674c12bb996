"""Bodies on meshes whose boundary takes velocities: M v̇ = −Dᵀσ − R v,  C σ̇ = D v + B u, with continuous tractions.

The other causality of `Continuum`. Integration by parts of the strain ε(v) instead of Div σ gives, for all w and τ,

    (ρ v̇, w) = (Div σ, w),     (A σ̇, τ) = −(v, Div τ) + ∫_∂ v_∂ · τ n,     y_∂ = ∫_∂ φ · σ n,

so velocities are natural on the boundary, zero where no input is given, and on a free side the unknowns satisfy σ n = 0. For
plates σ are moments, Div σ is div Div M, and the work at the boundary is that of shear force, moment and corner forces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import NamedTuple, NoReturn, Protocol

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import Matrix, csr, unit_columns, zero_matrix
from phloat.bodies.body import Recipe
from phloat.bodies.construction import Construction
from phloat.bodies.continua.mesh_body import Place, Rigid
from phloat.bodies.damping import GROUND
from phloat.bodies.material import Damping, ModalDamping
from phloat.errors import InputError, port_name, unknown
from phloat.fem.mesh import Mesh
from phloat.linear.analysis.modes import modes
from phloat.linear.form.elastic import elastic_system
from phloat.linear.form.fields import Field
from phloat.linear.form.phdae import LinearPHDAE

FLOAT = (
    "a body with causality='velocity' is for small motions and cannot float: its free sides are conditions on its stresses, not "
    "inputs that are zero; use causality='force'"
)
CAUSALITIES = ("force", "velocity")


def require_causality(causality: str, frame: object) -> None:
    """Raises InputError for another causality, and for a body with velocity inputs that has a frame."""
    if causality not in CAUSALITIES:
        raise InputError(unknown("causality", causality, CAUSALITIES))
    if causality == "velocity" and frame is not None:
        raise InputError(FLOAT)


class SideField(NamedTuple):
    """The velocities of a side as a field of n coefficients: its nodes x (n / dimension, 3), mass (n, n), rigid motions (n, 6)
    about the centre, and the stress unknowns that are its tractions."""

    x: np.ndarray
    mass: Matrix
    rigid: np.ndarray
    centre: np.ndarray
    unknowns: np.ndarray


class Sides(Protocol):
    """The boundary of a body with velocity inputs, and which of its sides are held."""

    def basis(self, opened: Sequence[str]) -> Matrix:
        """The stresses that satisfy the conditions of free sides, (unknowns, columns); `opened` are inputs, and not free."""
        ...

    def facets(self, name: str) -> np.ndarray:
        """The numbers of the facets of a side."""
        ...

    def centre(self, name: str) -> np.ndarray:
        """The centre of a side."""
        ...

    def twist_map(self, name: str, opened: Sequence[str]) -> Matrix:
        """The work of stresses on the rigid motion (v, ω) of a side about its centre, (unknowns, 6); `opened` are all inputs."""
        ...

    def field(self, name: str) -> SideField:
        """The velocities of a side as a field."""
        ...


@dataclass(frozen=True, eq=False)
class StressContinuum:
    """A body on a mesh in small motion whose boundary takes velocities and returns tractions.

    M is the mass matrix of the velocities, C the compliance and D the weak strain of all stress unknowns. A component of velocity
    is zero where the recipe holds a side, and free elsewhere, except on the sides that `linear` or a port opens.
    """

    recipe: Recipe
    mesh: Mesh
    M: Matrix
    C: Matrix
    D: Matrix
    _: KW_ONLY
    sides: Sides
    velocity: Field  # of all velocities
    damping: Damping
    ports: Mapping[str, Place]
    fields: tuple[str, ...] = ()  # sides that are always inputs of `linear`
    construction: Construction | None = None

    def __repr__(self) -> str:
        return (
            f"StressContinuum({type(self.recipe).__name__}; {self.M.shape[0]} velocities, {self.C.shape[0]} stresses; "
            f"boundaries: {', '.join(self.mesh.boundaries)})"
        )

    def linear(self, boundary: Sequence[str] = ()) -> LinearPHDAE:
        """The linear port-Hamiltonian system of (v | σ): E = diag(M, C), J = [[0, −Dᵀ], [D, 0]], with inputs on σ.

        The input of a port of the recipe is the twist of its boundary, which moves rigidly, its output the wrench on it. Those of
        `boundary` are the velocity field ũ at the nodes of a named boundary, and y = M_∂ỹ with its tractions ỹ (see
        `boundary_field`). Of a sheet, tractions and stresses are per length.
        """
        if isinstance(boundary, str):
            raise InputError(f"boundary is {boundary!r}; write a tuple of names: ({boundary!r},)")
        boundary = (*self.fields, *boundary)
        sides = {name: self.side(name) for name in self.ports} | {name: name for name in boundary}
        self._require_disjoint(sides)
        opened = list(sides.values())
        P = self.sides.basis(opened)
        inputs = {name: csr(P.T @ self.sides.twist_map(sides[name], opened)) for name in self.ports}
        inputs |= {name: csr(P.T @ self._field_map(name)) for name in boundary}
        system = elastic_system(
            M=self.M,
            C=csr(P.T @ self.C @ P),
            D=csr(P.T @ self.D),
            R=self._damping_matrix,
            B=zero_matrix(self.M.shape[0], 0),
            velocities=Layout({"v": (self.M.shape[0],)}),
            ports=Layout({}, "port"),
            field=self.velocity,
        )
        B = sp.hstack([zero_matrix(P.shape[1], 0), *inputs.values()])
        return replace(
            system,
            B=csr(sp.vstack([zero_matrix(self.M.shape[0], B.shape[1]), B])),
            ports=joined_layouts([Layout({name: (b.shape[1],) for name, b in inputs.items()})], "port"),
        )

    def _field_map(self, name: str) -> Matrix:
        """The work of stresses on the field of a side, (unknowns, coefficients)."""
        field = self.sides.field(name)
        return csr(unit_columns(field.unknowns, self.C.shape[0]) @ field.mass)

    def modes(self, count: int = 20) -> tuple[np.ndarray, np.ndarray]:
        """ω (rad/s, ascending, rigid ones 0) and shapes of unit mass, velocities × count; sides are held as in the recipe."""
        result = modes(self.linear(), count)
        return result.omega[:count], result.vectors[:, :count]

    def reduced(self, *_: object, **__: object) -> NoReturn:
        """Raises InputError: this body cannot float."""
        raise InputError(FLOAT)

    def port_centre(self, name: str) -> np.ndarray:
        """The centre of the boundary of a port."""
        return self.sides.centre(self.side(name))

    def side(self, name: str) -> str:
        """The boundary of a port. Raises InputError if the port is not a boundary."""
        port_name(name)
        place = self.ports.get(name, name)
        side = place.boundary if isinstance(place, Rigid) else place
        if not isinstance(side, str):
            raise InputError(
                f"port {name!r} is {place!r}; with causality='velocity' it must be a boundary, which moves rigidly"
            )
        return side

    def _require_disjoint(self, sides: Mapping[str, str]) -> None:
        """Raises InputError for unknown boundaries, and for two inputs that share facets."""
        owner: dict[int, str] = {}
        for name, side in sides.items():
            for facet in self.sides.facets(side).tolist():
                if facet in owner:
                    raise InputError(
                        f"{owner[facet]!r} and {name!r} share facets, which have one velocity; use sides without common facets"
                    )
                owner[facet] = name

    @cached_property
    def _damping_matrix(self) -> Matrix:
        """The damping matrix of the velocities. Raises InputError for damping that these stresses do not have."""
        damping = self.damping
        if isinstance(damping, ModalDamping) or damping.stiffness:
            raise InputError(
                "causality='velocity' takes Rayleigh(mass=…, relative_to='ground') only: its stresses are not local to cells"
            )
        if damping.mass and damping.relative_to != GROUND:  # type: ignore[union-attr]
            raise InputError(
                f"a body with causality='velocity' is damped relative to the ground: relative_to='{GROUND}'"
            )
        return csr(damping.mass * self.M)


def side_facets(mesh: Mesh, name: str) -> np.ndarray:
    """The facets of a named boundary by their corners. Raises InputError for an unknown name."""
    if name not in mesh.boundaries:
        raise InputError(unknown("boundary", name, mesh.boundaries))
    return mesh.boundaries[name]
