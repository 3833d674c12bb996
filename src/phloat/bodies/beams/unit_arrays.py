"""A discretised beam that keeps its shape functions at the quadrature points: the same beam with other numbers, without making
fields, elements and sparse products again.

    six arrays, rotary inertia, C⁻¹  =  Σ_q number(q) · products of shape functions,   number = ρA, ρI, EA, EI … at the points q

In a beam λ times as long each coordinate has its power of λ. All of it is exact: what comes out is what `discretise` makes, to
round-off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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


@dataclass(frozen=True, eq=False)
class UnitArrays:
    """Shape functions at the quadrature points x of a beam, or of one piece of a split beam, in space or in the plane xy."""

    body: Body
    piece: int  # of a split beam, or -1
    beam: Beam
    shape: BeamShape
    in_plane: Selected | None
    x: np.ndarray
    w: np.ndarray
    points: np.ndarray  # x, then lumped masses
    Phi: np.ndarray  # (x y z, points, n)
    turn: np.ndarray  # (x y z, quadrature points, n)
    power: np.ndarray  # of λ in every column of Φ
    W: tuple[tuple[SparsePattern, ...], ...]  # where W_ab and M_s may have entries
    M_s: SparsePattern
    local: dict[
        str, np.ndarray
    ]  # N⁻¹ times the stress functions of each element at its own points, (elements, points, size)
    C: SparsePattern
    twice: Body  # the same body from a beam twice as long
    wound: np.ndarray  # entries of Q that belong to twist
    winding: np.ndarray  # and their values per I_p/A at a point

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
            W_ab=tuple(
                tuple(pattern.filled(w[pattern.places]) for pattern, w in zip(*rows, strict=True))
                for rows in zip(self.W, W, strict=True)
            ),
            M_s=self.M_s.filled(M_s[self.M_s.places]),
        )

    def _elastic(
        self, beam: Beam, number: dict[str, np.ndarray], scale: float, inertia: Inertia, ports: dict[str, Port]
    ) -> Elastic:
        old, twice = self.body.elastic, self.twice.elastic
        blocks = []
        for name, local in self.local.items():
            weight = (self.w * number[STIFFNESSES[name]] / scale).reshape(local.shape[:2])
            blocks.append(np.linalg.inv(local.transpose(0, 2, 1) @ (weight[..., None] * local)).ravel())
        D, Q, value = old.D, old.Q, old.Q.value.copy()
        value[self.wound] = self.winding @ radius(number)
        if scale != 1.0:
            D = SparsePattern(old.D).filled(old.D.data * scale ** _power(old.D.data, twice.D.data))
            value *= scale ** _power(Q.value, twice.Q.value)
        Q = Quadratic(Q.strain, Q.row, Q.column, value)
        C = self.C.filled(np.concatenate([np.zeros(0), *blocks]))
        return with_damping(Elastic(C, D, Q, zero_matrix(*old.drag.shape), old.stresses), beam.damping, inertia, ports)

    def _ports(self, scale: float) -> dict[str, Port]:
        if scale == 1.0:
            return dict(self.body.ports)
        out = {}
        for name, port in self.body.ports.items():
            Phi, Psi = (
                a * scale ** _power(a, b)
                for a, b in ((port.Phi, self.twice.ports[name].Phi), (port.Psi, self.twice.ports[name].Psi))
            )
            out[name] = Port(scale * port.x, Phi, Psi)
        return out


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
    fields = shape.fields
    columns = shape.keep if in_plane is None else shape.keep[in_plane.keep]
    x, w = gauss(fields.nodes)
    if has_skew_sections(beam.numbers(x)):
        return None
    pieces = [step.arguments[0] for step in body.construction.steps if step.method == "piece"]
    points = np.concatenate([x, beam.length * np.array(list(beam.masses), dtype=float)])
    Phi, turn = _dense(fields.displacement(points), columns), _dense(fields.turning(x), columns)
    moved, turned, T = np.abs(Phi), np.abs(turn), np.einsum("abdecc->abde", np.abs(turned_moments()))
    gram = turned.transpose(0, 2, 1)[:, None] @ turned
    there = moved.transpose(0, 2, 1)[:, None] @ moved + np.einsum("abde,dekl->abkl", T, gram)
    wound, winding = _windings(body, fields, columns, x, w)
    local = {name: _scaled_tests(fields, name, x, w) for name in body.elastic.stresses}
    blocks = [np.ones((one.shape[2],) * 2) for one in local.values() for _ in one]
    recipe: Any = body.construction.recipe
    beam_of: Any = recipe.beam if isinstance(recipe, Split) else recipe
    longer = replace(beam_of, length=2.0 * beam_of.length)
    return UnitArrays(
        body=body,
        piece=pieces[0] if pieces else -1,
        beam=beam,
        shape=shape,
        in_plane=in_plane,
        x=x,
        w=w,
        points=points,
        Phi=Phi,
        turn=turn,
        power=_powers(fields, points, columns, Phi, turn),
        W=tuple(tuple(SparsePattern.of(w > 0.0) for w in row) for row in there),
        M_s=SparsePattern.of(np.einsum("ddkl->kl", gram) > 0.0),
        local=local,
        C=SparsePattern(sp.csr_array(sp.block_diag(blocks, format="csr")) if blocks else zero_matrix(0, 0)),
        twice=body.construction.repeat(replace(recipe, beam=longer) if isinstance(recipe, Split) else longer),
        wound=wound,
        winding=winding,
    )


def _dense(rows: list[Any], columns: np.ndarray) -> np.ndarray:
    """(x, y, z; points; coordinates)."""
    return np.array([(row if isinstance(row, np.ndarray) else row.toarray())[:, columns] for row in rows])


def _powers(
    fields: BeamFields, points: np.ndarray, columns: np.ndarray, Phi: np.ndarray, turn: np.ndarray
) -> np.ndarray:
    """The power of λ in every column of Φ: from Φ, or, where that is zero, from the rotations, which have one less."""
    twice = BeamFields(2.0 * fields.nodes, fields.theory, fields.torsion)
    moved = _power(Phi, _dense(twice.displacement(2.0 * points), columns)).max(axis=(0, 1))
    at = 2.0 * gauss(fields.nodes)[0]
    turned = _power(turn, _dense(twice.turning(at), columns)).max(axis=(0, 1), initial=-9.0)
    return np.where(Phi.any(axis=(0, 1)), moved, turned + 1.0)


def _power(once: np.ndarray, twice: np.ndarray) -> np.ndarray:
    """The power of λ in entries of a beam, from those of one twice as long; 0 for zero entries."""
    there = (once != 0.0) & (twice != 0.0)
    ratio = np.divide(twice, once, out=np.ones_like(once), where=there)
    return np.round(np.log2(ratio))


def _windings(
    body: Body, fields: BeamFields, columns: np.ndarray, x: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Entries of Q that belong to twist, and their values ∫ τ θ'θ' per I_p/A at every point."""
    Q, space = body.elastic.Q, fields.stress_spaces["N"][0]
    (slope,) = _dense([fields.of("theta_x", x, 1)], columns)
    (force,) = _dense([space.at(x)], np.arange(space.size))
    wound = np.flatnonzero(slope.any(axis=0)[Q.row])
    winding = w[:, None] * force[:, Q.strain[wound]] * slope[:, Q.row[wound]] * slope[:, Q.column[wound]]
    return wound, winding.T


def _scaled_tests(fields: BeamFields, name: str, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """N⁻¹τ at the points of each element, N = ∫ττᵀ, so that C⁻¹ = N⁻¹SN⁻¹ is their product with the stiffness between."""
    space, elements = fields.stress_spaces[name][0], len(fields.nodes) - 1
    (test,) = _dense([space.at(x)], np.arange(space.size))
    test = test.reshape(elements, -1, elements, space.degree + 1)
    local, weight = np.array([test[e, :, e] for e in range(elements)]), w.reshape(elements, -1, 1)
    return local @ np.linalg.inv(local.transpose(0, 2, 1) @ (weight * local))
