"""A discretised beam that keeps its shape functions at the quadrature points: the same beam with other numbers, without making
fields, elements and sparse products again.

    six arrays, rotary inertia, C⁻¹  =  Σ_q number(q) · products of shape functions,   number = ρA, ρI, EA, EI … at the points q

In a beam λ times as long each coordinate has its power of λ (`BeamFields.powers`). All of it is exact: what comes out is what
`discretise` makes, to round-off.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import SparsePattern, zero_matrix
from phloat.bodies.beams.beam import STIFFNESSES, Beam, radius, second_moments
from phloat.bodies.beams.fields import BeamFields, BeamShape
from phloat.bodies.beams.split import Split
from phloat.bodies.body import Body, Port
from phloat.bodies.damping import with_damping
from phloat.bodies.inertia import Inertia, turned_moments
from phloat.bodies.shape import Selected, Shape
from phloat.bodies.strain import Elastic, Quadratic
from phloat.fem.interval import gauss

CURVATURES = (
    "T",
    "M_y",
    "M_z",
)  # stresses whose strains, integrated over an element, have one power of its length less


class UnitArrays:
    """Shape functions at the quadrature points x of a beam, or of one piece of a split beam, in space or in the plane xy."""

    def __init__(self, body: Body, beam: Beam, shape: BeamShape, in_plane: Selected | None, piece: int):
        self.body, self.beam, self.shape, self.in_plane, self.piece = body, beam, shape, in_plane, piece
        fields, Q = shape.fields, body.elastic.Q
        columns = shape.keep if in_plane is None else shape.keep[in_plane.keep]
        self.x, self.w = x, w = gauss(fields.nodes)
        self.points = np.concatenate([x, beam.length * np.array(list(beam.masses), dtype=float)])
        self.power = fields.powers[columns]
        self.Phi = _dense(fields.displacement(self.points), columns)  # (x y z, points, n)
        self.turn = _dense(fields.turning(x), columns)  # (x y z, quadrature points, n)

        # where W_ab, M_s and C may have entries
        moved, turned, T = np.abs(self.Phi), np.abs(self.turn), np.einsum("abdecc->abde", np.abs(turned_moments()))
        gram = turned.transpose(0, 2, 1)[:, None] @ turned
        there = moved.transpose(0, 2, 1)[:, None] @ moved + np.einsum("abde,dekl->abkl", T, gram)
        self.W = [[SparsePattern.of(part > 0.0) for part in row] for row in there]
        self.M_s = SparsePattern.of(np.einsum("ddkl->kl", gram) > 0.0)
        self.local = {name: _scaled_tests(fields, name, x, w) for name in body.elastic.stresses}
        blocks = [np.ones((one.shape[2],) * 2) for one in self.local.values() for _ in one]
        self.C = SparsePattern(sp.csr_array(sp.block_diag(blocks, format="csr")) if blocks else zero_matrix(0, 0))

        # entries of Q that belong to twist, and their values ∫ τ θ'θ' per I_p/A at every point
        space = fields.stress_spaces["N"][0]
        (slope,) = _dense([fields.of("theta_x", x, 1)], columns)
        (force,) = _dense([space.at(x)], np.arange(space.size))
        self.wound = np.flatnonzero(slope.any(axis=0)[Q.row])
        winding = force[:, Q.strain[self.wound]] * slope[:, Q.row[self.wound]] * slope[:, Q.column[self.wound]]
        self.winding = (w[:, None] * winding).T

    def __call__(self, recipe: Any) -> Body | None:
        """The body with the numbers of another recipe, a beam or a split beam; None if more than numbers differs."""
        beam: Any = recipe.beam.piece(self.piece, recipe.pieces) if isinstance(recipe, Split) else recipe
        if not _same(self.beam, beam):
            return None
        scale = beam.length / self.beam.length
        number = beam.numbers(scale * self.x)
        if has_skew_sections(number):
            return None
        inertia = self._inertia(beam, number, scale)
        fields = self.shape.fields
        if scale != 1.0:
            fields = BeamFields(scale * fields.nodes, fields.theory, fields.torsion)
        shape: Shape = BeamShape(beam.length, fields, self.shape.keep, beam.sections, beam.torsion_shares)
        if self.in_plane is not None:
            shape = replace(self.in_plane, shape=shape)
        construction, ports = self.body.construction, self._ports(scale)
        return replace(
            self.body,
            recipe=beam,
            inertia=inertia,
            elastic=self._elastic(beam, number, scale, inertia, ports),
            ports=ports,
            shape=shape,
            construction=construction and replace(construction, recipe=recipe),
        )

    def _inertia(self, beam: Beam, number: dict[str, np.ndarray], scale: float) -> Inertia:
        """The sums of `six_arrays` and `rigid_sections` over the points of a line."""
        weight, x = scale * self.w, scale * self.points
        mass = np.concatenate([weight * number["rhoA"], np.array(list(beam.masses.values()), dtype=float)])
        Phi, turn = scale**self.power * self.Phi, scale ** (self.power - 1.0) * self.turn
        E = second_moments(beam.theory, 1)[:3, :2, 0] @ (weight * [number["rhoI"], number["rhoI_y"]])  # (axis, points)
        heavy = mass[:, None] * Phi
        W = Phi.transpose(0, 2, 1)[:, None] @ heavy
        X, M_s = np.zeros(W.shape[:3]), np.zeros(W.shape[2:])
        X[0] = x @ heavy
        for a, (b, c) in enumerate(((1, 2), (2, 0), (0, 1))):
            X[a, b] += E[a] @ turn[c]
            X[a, c] -= E[a] @ turn[b]
            if turn.any() and E[a].any():
                gram = turn.transpose(0, 2, 1)[:, None] @ (E[a][:, None] * turn)
                W += np.einsum("abde,dekl->abkl", turned_moments()[..., a, a], gram)
                M_s += gram[b, b] + gram[c, c]
        second, moments = mass @ x**2, E.sum(axis=1)
        return Inertia(
            m=float(mass.sum()),
            s0=np.array([mass @ x, 0.0, 0.0]),
            J0=np.diag(moments.sum() - moments + [0.0, second, second]),
            S=heavy.sum(axis=1),
            X=X,
            W_ab=tuple(tuple(self.W[a][b].filled(W[a, b][self.W[a][b].places]) for b in range(3)) for a in range(3)),
            M_s=self.M_s.filled(M_s[self.M_s.places]),
        )

    def _elastic(
        self, beam: Beam, number: dict[str, np.ndarray], scale: float, inertia: Inertia, ports: dict[str, Port]
    ) -> Elastic:
        old, blocks = self.body.elastic, []
        for name, local in self.local.items():
            weight = (self.w * number[STIFFNESSES[name]] / scale).reshape(local.shape[:2])
            blocks.append(np.linalg.inv(local.transpose(0, 2, 1) @ (weight[..., None] * local)).ravel())
        D, Q, value = old.D, old.Q, old.Q.value.copy()
        value[self.wound] = self.winding @ radius(number)
        if scale != 1.0:
            of_stress = [
                np.full(size, -1.0 if name in CURVATURES else 0.0) for name, (size,) in old.stresses.shapes.items()
            ]
            entries = D.tocoo()
            power = np.concatenate(of_stress)[entries.row] + self.power[entries.col]
            D = SparsePattern(D).filled(D.data * scale**power)
            value *= scale ** (self.power[Q.row] + self.power[Q.column] - 1.0)
            value[self.wound] /= scale**2
        Q = Quadratic(Q.strain, Q.row, Q.column, value)
        C = self.C.filled(np.concatenate([np.zeros(0), *blocks]))
        return with_damping(Elastic(C, D, Q, zero_matrix(*old.drag.shape), old.stresses), beam.damping, inertia, ports)

    def _ports(self, scale: float) -> dict[str, Port]:
        if scale == 1.0:
            return dict(self.body.ports)
        by = scale**self.power
        return {n: Port(scale * p.x, p.Phi * by, p.Psi * (by / scale)) for n, p in self.body.ports.items()}


def _same(old: Beam, new: Beam) -> bool:
    """Whether only numbers that units multiply are other."""
    fixed = ("theory", "frame", "ports", "stiffening")
    if callable(new.section) or callable(new.material):  # cut at the same places
        places = [np.array(beam.breaks(np.array([0.0, 1.0]))) for beam in (old, new)]
        if len(places[0]) != len(places[1]) or (np.abs(places[0] - places[1]) > 1e-12).any():
            return False
    return list(old.masses) == list(new.masses) and all(getattr(old, name) == getattr(new, name) for name in fixed)


def has_skew_sections(number: dict[str, np.ndarray]) -> bool:
    """Whether a section has an angle or a product of inertia, for which there are no unit arrays."""
    return bool(number["angle"].any() or number["EI_yz"].any())


# --- making them ------------------------------------------------------------------------------------------------------


def unit_arrays(body: Body) -> UnitArrays | None:
    """The unit arrays of a body that is a beam in all its coordinates, or in those of the plane xy; else None."""
    in_plane = body.shape if isinstance(body.shape, Selected) else None
    shape = in_plane.shape if in_plane is not None else body.shape
    beam = body.recipe
    if not isinstance(shape, BeamShape) or not isinstance(beam, Beam) or body.construction is None:
        return None
    if has_skew_sections(beam.numbers(gauss(shape.fields.nodes)[0])):
        return None
    pieces = [step.arguments[0] for step in body.construction.steps if step.method == "piece"]
    return UnitArrays(body, beam, shape, in_plane, pieces[0] if pieces else -1)


def _dense(rows: list[Any], columns: np.ndarray) -> np.ndarray:
    """(x, y, z; points; coordinates)."""
    return np.array([(row if isinstance(row, np.ndarray) else row.toarray())[:, columns] for row in rows])


def _scaled_tests(fields: BeamFields, name: str, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """N⁻¹τ at the points of each element, N = ∫ττᵀ, so that C⁻¹ = N⁻¹SN⁻¹ is their product with the stiffness between."""
    space, elements = fields.stress_spaces[name][0], len(fields.nodes) - 1
    (test,) = _dense([space.at(x)], np.arange(space.size))
    test = test.reshape(elements, -1, elements, space.degree + 1)
    local, weight = np.array([test[e, :, e] for e in range(elements)]), w.reshape(elements, -1, 1)
    return local @ np.linalg.inv(local.transpose(0, 2, 1) @ (weight * local))
