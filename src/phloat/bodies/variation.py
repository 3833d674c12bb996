"""Fast construction of a body with other numbers.

A construction can always be repeated with another recipe (`Construction.repeat`). Two kinds of bodies have a faster way, which
pays where many systems differ in a few numbers. Times of one sample of the crank-slider of benchmarks/ensembles.py, 500 steps:

    beams, from unit arrays                                     7 ms in place of 22 ms
    reduced bodies of another modulus or density, by scaling    9 ms in place of 45 ms
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from phloat.algebra.metadata import numbers, with_numbers
from phloat.algebra.sparse import SparsePattern, csr, zero_matrix
from phloat.bodies.beams.beam import Beam, second_moments
from phloat.bodies.beams.elasticity import STIFFNESSES, radius
from phloat.bodies.beams.fields import BeamFields, BeamShape
from phloat.bodies.beams.split import Split
from phloat.bodies.body import Body, Port
from phloat.bodies.damping import with_damping
from phloat.bodies.inertia import Inertia, turned_moments
from phloat.bodies.shape import Combined, Selected, Shape
from phloat.bodies.strain import Elastic, Quadratic
from phloat.errors import AccuracyError, InputError
from phloat.fem.interval import gauss
from phloat.linear.reduction.basis import Basis

SCALED = MODULUS, DENSITY = "material.E", "material.rho"
TRIAL = {MODULUS: 1.44, DENSITY: 0.81}  # factors for the comparison of scaling with an assembled body
AGREEMENT = 1e-5  # relative; modes are found by iteration

Maker = Callable[[Any], Body | None]


def fast_maker(body: Body, names: Collection[str] = SCALED) -> Maker | None:
    """A function recipe → body that avoids assembly, or None if this body has none.

    The function returns None for a recipe that differs in more than numbers. `names` are the numbers that will differ.
    """
    if body.construction is None:
        return None
    methods = {step.method for step in body.construction.steps}
    if methods <= {"discretise", "piece", "in_plane"}:
        return unit_arrays(body) if isinstance(body.recipe, Beam) else None
    scaled = all(name in SCALED or name.startswith("damping.") for name in names) and body.inertia.second is None
    return scaling(body) if scaled else None


# --- scaling of reduced bodies ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scaling:
    """A reduced body with another modulus, density or damping: the shapes of its modes do not change.

    If E is a times and ρ b times as large, K and M are a and b times as large: modes of unit mass are V/√b,
    their frequencies ω √(a/b), their stresses √a times as large,

        m ~ b,   s₀, J₀ ~ b,   S, X ~ √b,   W, M_s ~ 1,   D ~ √(a/b),   C ~ 1,   Q ~ √a/b,   Φ_C, Ψ_C ~ 1/√b

    and damping stays proportional. This holds for a body of one isotropic material without lumped masses.
    """

    body: Body
    values: dict[str, float]

    def __call__(self, recipe: Any) -> Body | None:
        beam = recipe.beam if isinstance(recipe, Split) else recipe
        new = numbers(beam).values
        if new.keys() != self.values.keys():
            return None
        changed = {
            name for name, value in self.values.items() if new[name] != value and not name.startswith("damping.")
        }
        a, b = new[MODULUS] / self.values[MODULUS], new[DENSITY] / self.values[DENSITY]
        if changed - {MODULUS, DENSITY} or (b != 1.0 and _has_lumped_mass(new)):
            return None
        return self._scaled(recipe, beam, a, b)

    def _scaled(self, recipe: Any, beam: Any, a: float, b: float) -> Body:
        """The body with E a times and ρ b times as large."""
        old, n, root = self.body, self.body.coordinates, sqrt(b)
        I, elastic = old.inertia, old.elastic
        inertia = Inertia(b * I.m, b * I.s0, b * I.J0, root * I.S, root * I.X, I.W_ab, I.M_s)
        Q = replace(elastic.Q, value=sqrt(a) / b * elastic.Q.value)
        new = Elastic(elastic.C, csr(sqrt(a / b) * elastic.D), Q, zero_matrix(n, n), elastic.stresses)
        V_v, V_sigma = csr(sp.eye_array(n) / root), csr(sqrt(a) * sp.eye_array(old.stresses))
        ports = {name: replace(port, Phi=port.Phi / root, Psi=port.Psi / root) for name, port in old.ports.items()}
        ports = dict(old.ports) if b == 1.0 else ports
        return replace(
            old,
            recipe=_piece(old, recipe),
            inertia=inertia,
            elastic=with_damping(new, beam.damping, inertia, ports),
            ports=ports,
            shape=old.shape if a == b == 1.0 else Combined(old.shape, V_v, V_sigma),
            construction=old.construction and replace(old.construction, recipe=recipe),
        )


def scaling(body: Body) -> Scaling | None:
    """The scaling of a body, or None if it disagrees with a body that is assembled with other numbers."""
    assert body.construction is not None
    recipe: Any = body.construction.recipe
    inside = recipe.beam if isinstance(recipe, Split) else recipe
    table = numbers(inside)
    if MODULUS not in table.values or DENSITY not in table.values:
        return None
    maker = Scaling(body, table.values)
    factors = {name: factor for name, factor in TRIAL.items() if name == MODULUS or not _has_lumped_mass(table.values)}
    changed = with_numbers(inside, {table.paths[name]: factor * table.values[name] for name, factor in factors.items()})
    changed = replace(recipe, beam=changed) if isinstance(recipe, Split) else changed
    try:
        assembled, scaled = align_signs(body.construction.repeat(changed), body), maker(changed)
    except (InputError, AccuracyError):
        return None
    return maker if scaled is not None and _agree(assembled, scaled) else None


def _piece(body: Body, recipe: Any) -> Any:
    """The recipe of the body made from `recipe`: for a split beam that of the same piece."""
    if not isinstance(recipe, Split) or body.construction is None:
        return recipe
    (k,) = (step.arguments[0] for step in body.construction.steps if step.method == "piece")
    return recipe.beam.piece(k, recipe.pieces)


def _has_lumped_mass(values: dict[str, float]) -> bool:
    """Whether one of the numbers of a recipe is a lumped mass."""
    return any(name.startswith("masses") for name in values)


def _agree(new: Body, old: Body) -> bool:
    """Whether two bodies are equal within AGREEMENT, the accuracy of modes."""
    if not same_size(new, old):
        return False
    pairs = [(new.inertia.S, old.inertia.S), (new.inertia.J0, old.inertia.J0), (new.inertia.W, old.inertia.W)]
    pairs += [(getattr(new.elastic, x).toarray(), getattr(old.elastic, x).toarray()) for x in ("C", "D", "R_d")]
    pairs += [(_dense(new.elastic.Q, new), _dense(old.elastic.Q, old))]
    pairs += [(port.Phi, old.ports[name].Phi) for name, port in new.ports.items()]
    return all(np.abs(a - b).max(initial=0.0) <= AGREEMENT * np.abs(b).max(initial=0.0) for a, b in pairs)


def _dense(Q: Any, body: Body) -> np.ndarray:
    """Q as an array (stresses, n, n)."""
    out = np.zeros((body.stresses, body.coordinates, body.coordinates))
    np.add.at(out, (Q.strain, Q.row, Q.column), Q.value)
    return out


# --- comparison of two bodies from like recipes -----------------------------------------------------------------------


def same_ports(first: Body, second: Body) -> bool:
    """Whether two bodies share their `Port` objects, so that equal states put the ports at equal points."""
    return first is second or all(first.ports[name] is port for name, port in second.ports.items())


def same_size(first: Body, second: Body) -> bool:
    """Whether two bodies have equal numbers of coordinates and of stresses."""
    return (first.coordinates, first.stresses) == (second.coordinates, second.stresses)


def align_signs(new: Body, old: Body) -> Body:
    """The new body with the signs of its modes and stresses chosen as in the old one."""
    if not new.coordinates or not same_size(new, old):
        return new
    eta = _signs(_overlap(new, old))
    linear = np.asarray(new.elastic.D.multiply(old.elastic.D) @ eta)
    sigma = _signs(linear + _quadratic_overlap(new, old, eta))
    if (eta > 0.0).all() and (sigma > 0.0).all():
        return new
    return new.combined(Basis(csr(np.diag(eta)), csr(np.diag(sigma)), new.elastic.stresses))


def _overlap(new: Body, old: Body) -> np.ndarray:
    """For every coordinate, the inner product of its displacements and port rotations in both bodies, (n,)."""
    displacements = [body.shape.displacement(body.shape.places()) for body in (new, old)]
    out = np.asarray(displacements[0].multiply(displacements[1]).sum(axis=0)).ravel()
    for name, port in new.ports.items():
        out = out + new.extent * old.extent * np.einsum("ik,ik->k", port.Psi, old.ports[name].Psi)
    return out


def _quadratic_overlap(new: Body, old: Body, eta: np.ndarray) -> np.ndarray:
    """For every stress without a linear strain, the inner product of its quadratic strains in both bodies, (stresses,)."""
    out = np.zeros(new.stresses)
    a, b = new.elastic.Q, old.elastic.Q
    old_values = dict(zip(zip(b.strain, b.row, b.column, strict=True), b.value, strict=True))
    for s, k, l, value in zip(a.strain, a.row, a.column, a.value, strict=True):
        out[s] += value * eta[k] * eta[l] * old_values.get((s, k, l), 0.0)
    return np.where(np.diff(new.elastic.D.indptr) > 0, 0.0, out)


def _signs(overlap: np.ndarray) -> np.ndarray:
    """−1 where the overlap is negative, else 1."""
    return np.where(overlap < 0.0, -1.0, 1.0)


# --- beams from unit arrays -------------------------------------------------------------------------------------------
#
# Shape functions of a discretised beam at its quadrature points are stored, so that the same beam with other numbers needs no
# fields, elements and sparse products.
#
#     six arrays, rotary inertia, C⁻¹  =  Σ_q number(q) · products of shape functions,   number = ρA, ρI, EA, EI … at the points q
#
# In a beam λ times as long each coordinate scales with a power of λ (`BeamFields.powers`). All of this is exact: the result equals
# that of `discretise` to round-off.


# stresses whose integrated strains scale with one power of the length less
CURVATURES = ("T", "M_y", "M_z")


class UnitArrays:
    """The function recipe → body of a beam, or of a piece of a split beam, in space or in the plane xy.

    It stores the shape functions at the quadrature points x and at the lumped masses.
    """

    def __init__(self, body: Body, beam: Beam, shape: BeamShape, in_plane: Selected | None):
        self.body, self.beam, self.shape, self.in_plane = body, beam, shape, in_plane
        fields, Q = shape.fields, body.elastic.Q
        columns = shape.keep if in_plane is None else shape.keep[in_plane.keep]
        self.x, self.w = x, w = gauss(fields.nodes)
        self.points = np.concatenate([x, beam.length * np.array(list(beam.masses), dtype=float)])
        self.power = fields.powers[columns]
        self.Phi = _dense_columns(fields.displacement(self.points), columns)  # (x y z, points, n)
        self.turn = _dense_columns(fields.section_rotation(x), columns)  # (x y z, quadrature points, n)

        # patterns of W_ab, M_s and C
        Phi, turn, T = (np.abs(self.Phi), np.abs(self.turn), np.einsum("abdecc->abde", np.abs(turned_moments())))
        gram = turn.transpose(0, 2, 1)[:, None] @ turn
        patterns = Phi.transpose(0, 2, 1)[:, None] @ Phi + np.einsum("abde,dekl->abkl", T, gram)
        self.W = [[SparsePattern.of(part > 0.0) for part in row] for row in patterns]
        self.M_s = SparsePattern.of(np.einsum("ddkl->kl", gram) > 0.0)
        self.local = {name: _scaled_tests(fields, name, x, w) for name in body.elastic.stresses}
        blocks = [np.ones((tests.shape[2],) * 2) for tests in self.local.values() for _ in tests]
        self.C = SparsePattern(sp.csr_array(sp.block_diag(blocks, format="csr")) if blocks else zero_matrix(0, 0))

        # entries of Q of the twist, and their values ∫ τ θ'θ' per I_p/A at every point
        space = fields.stress_spaces["N"][0]
        (slope,) = _dense_columns([fields.field("theta_x", x, 1)], columns)
        (force,) = _dense_columns([space.evaluate(x)], np.arange(space.size))
        self.twist = np.flatnonzero(slope.any(axis=0)[Q.row])
        winding = force[:, Q.strain[self.twist]] * slope[:, Q.row[self.twist]] * slope[:, Q.column[self.twist]]
        self.winding = (w[:, None] * winding).T

    def __call__(self, recipe: Any) -> Body | None:
        """The body of another recipe, a beam or a split beam; None if more than its numbers differ."""
        beam = _piece(self.body, recipe)
        if not _same_except_numbers(self.beam, beam):
            return None
        scale = beam.length / self.beam.length
        number = beam.numbers(scale * self.x)
        if has_skew_sections(number):
            return None
        inertia = self._inertia(beam, number, scale)
        construction, ports = self.body.construction, self._ports(scale)
        return replace(
            self.body,
            recipe=beam,
            inertia=inertia,
            elastic=self._elastic(beam, number, scale, inertia, ports),
            ports=ports,
            shape=self._shape(beam, scale),
            construction=construction and replace(construction, recipe=recipe),
        )

    def _shape(self, beam: Beam, scale: float) -> Shape:
        """The shape of the new beam, `scale` times as long; at equal length with the matrices that the old one keeps."""
        plane, old = self.in_plane, self.shape
        if scale == 1.0:
            line = replace(old, sections=beam.sections, torsion_shares=beam.torsion_shares)
            return line if plane is None else replace(plane, shape=line)
        fields = BeamFields(scale * old.fields.nodes, old.fields.theory, old.fields.torsion)
        line = BeamShape(beam.length, fields, old.keep, beam.sections, beam.torsion_shares)
        return line if plane is None else Selected(line, plane.keep, plane.strains)

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
        """C, D, Q and damping in the numbers of the new beam, `scale` times as long."""
        old, blocks = self.body.elastic, []
        for name, local in self.local.items():
            weight = (self.w * number[STIFFNESSES[name]] / scale).reshape(local.shape[:2])
            blocks.append(np.linalg.inv(local.transpose(0, 2, 1) @ (weight[..., None] * local)).ravel())
        D, Q, value = old.D, old.Q, old.Q.value.copy()
        value[self.twist] = self.winding @ radius(number)
        if scale != 1.0:
            of_stress = [
                np.full(size, -1.0 if name in CURVATURES else 0.0) for name, (size,) in old.stresses.shapes.items()
            ]
            entries = D.tocoo()
            power = np.concatenate(of_stress)[entries.row] + self.power[entries.col]
            D = SparsePattern(D).filled(D.data * scale**power)
            value *= scale ** (self.power[Q.row] + self.power[Q.column] - 1.0)
            value[self.twist] /= scale**2
        Q = Quadratic(Q.strain, Q.row, Q.column, value)
        C = self.C.filled(np.concatenate([np.zeros(0), *blocks]))
        return with_damping(Elastic(C, D, Q, zero_matrix(*old.drag.shape), old.stresses), beam.damping, inertia, ports)

    def _ports(self, scale: float) -> dict[str, Port]:
        """The ports of a beam `scale` times as long."""
        if scale == 1.0:
            return dict(self.body.ports)
        factor = scale**self.power
        return {n: Port(scale * p.x, p.Phi * factor, p.Psi * (factor / scale)) for n, p in self.body.ports.items()}


def _same_except_numbers(old: Beam, new: Beam) -> bool:
    """Whether two beams differ only in numbers that scale the stored arrays."""
    fixed = ("theory", "frame", "ports", "stiffening", "spaces")
    if callable(new.section) or callable(new.material):  # elements are cut at the same places
        places = [np.array(beam.breaks(np.array([0.0, 1.0]))) for beam in (old, new)]
        if len(places[0]) != len(places[1]) or (np.abs(places[0] - places[1]) > 1e-12).any():
            return False
    return list(old.masses) == list(new.masses) and all(getattr(old, name) == getattr(new, name) for name in fixed)


def has_skew_sections(number: dict[str, np.ndarray]) -> bool:
    """Whether a section has an angle or a product of inertia, for which there are no unit arrays."""
    return bool(number["angle"].any() or number["EI_yz"].any())


# --- construction -----------------------------------------------------------------------------------------------------


def unit_arrays(body: Body) -> UnitArrays | None:
    """The unit arrays of an unreduced beam, in space or in the plane xy; None for other bodies, skew sections and continuous
    stresses."""
    in_plane = body.shape if isinstance(body.shape, Selected) else None
    shape = in_plane.shape if in_plane is not None else body.shape
    beam = body.recipe
    if not isinstance(shape, BeamShape) or not isinstance(beam, Beam) or body.construction is None:
        return None
    if shape.fields.continuous or has_skew_sections(beam.numbers(gauss(shape.fields.nodes)[0])):
        return None
    return UnitArrays(body, beam, shape, in_plane)


def _dense_columns(rows: list[Any], columns: np.ndarray) -> np.ndarray:
    """One dense matrix for each of `rows`, restricted to some columns: (rows, points, columns)."""
    return np.array([(row if isinstance(row, np.ndarray) else row.toarray())[:, columns] for row in rows])


def _scaled_tests(fields: BeamFields, name: str, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """τN⁻¹ with N = ∫ττᵀ at the points of each element, (elements, points, stresses): C⁻¹ = N⁻¹SN⁻¹ follows from it and S."""
    space, elements = fields.stress_spaces[name][0], len(fields.nodes) - 1
    (test,) = _dense_columns([space.evaluate(x)], np.arange(space.size))
    test = test.reshape(elements, -1, elements, space.degree + 1)
    local, weight = np.array([test[e, :, e] for e in range(elements)]), w.reshape(elements, -1, 1)
    return local @ np.linalg.inv(local.transpose(0, 2, 1) @ (weight * local))
