"""Fields on a boundary as inputs and outputs of a body: their mass matrix, and the interconnection with a rigid body.

    y_∂ = M_∂ỹ_∂ (Remark 4),     W y = (∫ y ds, ∫ (x − x_C) × y ds),     W* r = v + ω × (x − x_C),     ⟨W y, r⟩ = ⟨y, W* r⟩

with the scalar product ỹᵀM_∂ w̃ of fields, so that W = W*ᵀM_∂ for the matrices that act on coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import Matrix, csr, stacked, zero_matrix
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.stress_continuum import StressContinuum
from phloat.errors import InputError, PortError, unknown
from phloat.joints.ends import GROUND
from phloat.joints.tie import Tie
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.gauss import repeated
from phloat.system.tie_rows import Edge, centre, chosen_motions, edge_motion


@dataclass(frozen=True, eq=False)
class BoundaryField:
    """A field on a boundary by n coefficients: its mass matrix, and the rigid motions of the boundary.

    Attributes
    ----------
    mass : sparse matrix, (n, n)
        M_∂ = ∫ φφ, in m (edges) or m² (faces).
    W : array, (6, n)
        The total force and the torque about the centre of a traction field: W t̃.
    rigid : array, (n, 6)
        W*: the field of a twist (v, ω) of the centre.
    centre : array, (3,)
        The centre of the boundary, in axes of the body.
    coordinates : array of int, (n,)
        The rows whose traces are the fields: coordinates of a `Continuum`, stress unknowns (tractions) of a `StressContinuum`.
    input_map : sparse matrix, (coordinates, n)
        ∫ φφ between the traces of all coordinates of a `Continuum` and those n.
    """

    body: Continuum | StressContinuum
    boundary: str
    mass: Matrix
    W: np.ndarray
    rigid: np.ndarray
    centre: np.ndarray
    coordinates: np.ndarray
    input_map: Matrix

    def linear(self) -> LinearPHDAE:
        """The linear system of the body with this field as port, named like the boundary, beside the ports of the recipe.

        The input is the traction field ũ of a `Continuum`, the velocity field of a `StressContinuum`; the output is y_∂ = M_∂ỹ_∂,
        so that ỹ_∂ = M_∂⁻¹y_∂ is the velocity or traction field itself, and power is ũᵀy_∂.
        """
        if isinstance(self.body, StressContinuum):
            return self.body.linear((self.boundary,))
        system, n = self.body.linear(), len(self.coordinates)
        B = stacked([[self.input_map], [zero_matrix(system.rows.size - self.input_map.shape[0], n)]])
        return replace(
            system,
            B=csr(sp.hstack([system.B, B])),
            B_lam=zero_matrix(0, system.ports.size + n),
            ports=joined_layouts([system.ports, Layout({self.boundary: (n,)})], "port"),
        )


def boundary_field(
    body: Continuum | StressContinuum, boundary: str, of: str | Sequence[str] | None = None
) -> BoundaryField:
    """The fields on a boundary of a body on a mesh, as inputs and outputs (Remark 4), with the operators W and W*.

    Parameters
    ----------
    body : Continuum or StressContinuum
        As returned by `discretise`, without a frame.
    boundary : str
        The name of a boundary.
    of : str or sequence of str, optional
        Which motions, as in `Tie`: "w", "u_x", "theta_x" …; all by default. Rotations count with h²/12.

    Returns
    -------
    BoundaryField
        With `mass`, `W`, `rigid`, `centre`, and `linear()`, the system with the field as port.

    Raises
    ------
    InputError
        The boundary is held in part, so that it cannot move rigidly.

    Examples
    --------
    The total force of a traction of 1 N/m across an edge of 0.4 m.

    >>> steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
    >>> plate = ph.Plate.rectangle(1.0, 0.4, thickness=0.01, material=steel, clamped="left").discretise(5)
    >>> edge = ph.boundary_field(plate, "right", of="w")
    >>> one = edge.rigid[:, 2]  # the coefficients of a unit field along z
    >>> print((edge.W @ one).round(6)[:3])
    [0.  0.  0.4]
    """
    if isinstance(body, StressContinuum):
        if of is not None:
            raise InputError(
                f"of={of!r}: a boundary of a body with causality='velocity' has one velocity; leave it out"
            )
        _, mass, rigid, x, unknowns = body.sides.field(boundary)
        return BoundaryField(body, boundary, mass, rigid.T @ mass, rigid, x, unknowns, zero_matrix(0, len(unknowns)))
    if not isinstance(body, Continuum):
        raise InputError(
            f"{type(body).__name__} has no boundary with a mesh; take what discretise(…) of a Plate, Sheet or Solid returned"
        )
    if boundary not in body.parts:
        raise PortError(unknown("boundary", boundary, body.parts))
    edge = Edge(body, boundary, np.arange(body.coordinates))
    moving = edge_motion(edge, chosen_motions(Tie(f"body.{boundary}", GROUND, of=of), edge.trace))
    if moving.misfit.any():
        raise InputError(
            f"boundary {boundary!r} is held in part, so its fields are not those of a rigid motion; tie(…) joins it"
        )
    columns, rigid = moving.columns, moving.rigid
    if moving.dependent:  # as on slanted sides of plates: some coordinates move it like others
        columns = np.delete(columns, repeated(csr(moving.V[:, columns].T @ moving.V[:, columns])))
        rigid = np.linalg.lstsq(moving.V[:, columns].toarray(), moving.W)[0]
    V = moving.V[:, columns]
    return BoundaryField(
        body, boundary, csr(V.T @ V), moving.W.T @ V, rigid, centre(edge.trace), columns, csr(moving.V.T @ V)
    )
