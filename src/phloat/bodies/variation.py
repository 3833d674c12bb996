"""Fast construction of a body with other numbers.

A construction can always be repeated with another recipe (`Construction.repeat`). Two kinds of bodies have a faster way, which
pays where many systems differ in a few numbers:

    a beam of 8 elements in the plane, of another modulus       0.06 ms in place of 0.9 ms, from unit arrays of the plane alone
    reduced bodies of another modulus or density, by scaling    9 ms in place of 45 ms, a sample of the crank-slider of
                                                                benchmarks/ensembles.py, 500 steps
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from phloat.algebra.metadata import numbers, with_numbers
from phloat.algebra.sparse import csr, zero_matrix
from phloat.bodies.beams.beam import Beam, has_skew_sections
from phloat.bodies.beams.fields import BeamFields, BeamShape
from phloat.bodies.beams.split import Split
from phloat.bodies.beams.unit_arrays import UnitArrays
from phloat.bodies.body import Body
from phloat.bodies.damping import with_damping
from phloat.bodies.inertia import Inertia
from phloat.bodies.shape import Combined, Selected, Shape
from phloat.bodies.strain import Elastic
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
        return beam_maker(body) if isinstance(body.recipe, Beam) else None
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


@dataclass(frozen=True, eq=False)
class BeamMaker:
    """The function recipe → body of an unreduced beam, or of a piece of a split beam, in space or in the plane xy.

    In the plane the unit arrays are those of its coordinates and stresses alone, and need no selection and no check.
    """

    body: Body
    beam: Beam
    shape: BeamShape
    in_plane: Selected | None
    unit: UnitArrays

    def __call__(self, recipe: Any) -> Body | None:
        """The body of another recipe, a beam or a split beam; None if more than its numbers differ."""
        beam = _piece(self.body, recipe)
        if not _same_except_numbers(self.beam, beam):
            return None
        number = beam.numbers(beam.length * self.unit.x)
        if has_skew_sections(number):
            return None
        construction = self.body.construction
        kept = self.body.inertia if self._equal_masses(beam, number) else None
        inertia, elastic, ports = beam.from_unit(self.unit, number, kept)
        return replace(
            self.body,
            recipe=beam,
            inertia=inertia,
            elastic=elastic,
            ports=ports,
            shape=self._shape(beam),
            construction=construction and replace(construction, recipe=recipe),
        )

    def _equal_masses(self, beam: Beam, number: dict[str, np.ndarray]) -> bool:
        """Whether only stiffness and damping differ: the inertia, with what was computed from it, is then that of the old body."""
        old = self._number
        masses = ("rhoA", "rhoI", "rhoI_y", "rhoI_yz")
        equal = beam.length == self.beam.length and beam.masses == self.beam.masses
        return equal and all(np.array_equal(number[name], old[name]) for name in masses)

    @cached_property
    def _number(self) -> dict[str, np.ndarray]:
        return self.beam.numbers(self.beam.length * self.unit.x)

    def _shape(self, beam: Beam) -> Shape:
        """The shape of the new beam; at equal length with the matrices that the old one keeps."""
        plane, old = self.in_plane, self.shape
        if beam.length == self.beam.length:
            line = replace(old, sections=beam.sections, torsion_shares=beam.torsion_shares)
            return line if plane is None else replace(plane, shape=line)
        fields = BeamFields(beam.length * self.unit.fields.nodes, old.fields.theory, old.fields.torsion)
        line = BeamShape(beam.length, fields, old.keep, beam.sections, beam.torsion_shares)
        return line if plane is None else Selected(line, plane.keep, plane.strains)


def _same_except_numbers(old: Beam, new: Beam) -> bool:
    """Whether two beams differ only in numbers that scale the stored arrays."""
    fixed = ("theory", "frame", "ports", "stiffening", "spaces")
    if callable(new.section) or callable(new.material):  # elements are cut at the same places
        places = [np.array(beam.breaks(np.array([0.0, 1.0]))) for beam in (old, new)]
        if len(places[0]) != len(places[1]) or (np.abs(places[0] - places[1]) > 1e-12).any():
            return False
    return list(old.masses) == list(new.masses) and all(getattr(old, name) == getattr(new, name) for name in fixed)


def beam_maker(body: Body) -> BeamMaker | None:
    """The maker of an unreduced beam, in space or in the plane xy; None for other bodies, skew sections and continuous stresses."""
    in_plane = body.shape if isinstance(body.shape, Selected) else None
    shape, beam = body.shape if in_plane is None else in_plane.shape, body.recipe
    if not isinstance(shape, BeamShape) or not isinstance(beam, Beam) or body.construction is None:
        return None
    if shape.fields.continuous or has_skew_sections(beam.numbers(gauss(shape.fields.nodes)[0])):
        return None
    (elements,) = (step.arguments[0] for step in body.construction.steps if step.method == "discretise")
    unit = beam.unit_arrays(beam.cut_fractions(elements), shape.fields.torsion)
    if in_plane is not None:
        unit = unit.selected(*shape.fields.planar_masks(shape.keep))
    return BeamMaker(body, beam, shape, in_plane, unit)
