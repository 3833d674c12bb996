"""The same body with other numbers.

A construction can always be repeated with another recipe (`Construction.repeat`). Two kinds of bodies have a shorter way, which
pays where many systems differ in a few numbers. Times of one sample of the crank-slider of benchmarks/ensembles.py, 500 steps:

    beams, from unit arrays (`bodies.beams.unit_arrays`)          7 ms in place of 22 ms
    reduced bodies of another modulus or density, by scaling      9 ms in place of 45 ms
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from phloat.algebra.metadata import numbers, with_numbers
from phloat.algebra.sparse import csr, zero_matrix
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.split import Split
from phloat.bodies.beams.unit_arrays import unit_arrays
from phloat.bodies.body import Body
from phloat.bodies.damping import with_damping
from phloat.bodies.inertia import Inertia
from phloat.bodies.shape import Combined
from phloat.bodies.strain import Elastic
from phloat.errors import AccuracyError, InputError
from phloat.linear.reduction.basis import Basis

SCALED = MODULUS, DENSITY = "material.E", "material.rho"
TRIAL = {MODULUS: 1.44, DENSITY: 0.81}  # factors with which scaling is compared with a body that is assembled
AGREEMENT = 1e-5  # relative; modes are found by iteration

Maker = Callable[[Any], Body | None]


def fast_maker(body: Body, names: Collection[str] = SCALED) -> Maker | None:
    """A function recipe → body that does not assemble; None if there is none for this body.

    It returns None for a recipe that differs in more than its numbers. `names` are the numbers that will differ.
    """
    if body.construction is None:
        return None
    methods = {step.method for step in body.construction.steps}
    if methods <= {"discretise", "piece", "in_plane"}:
        return unit_arrays(body) if isinstance(body.recipe, Beam) else None
    scaled = all(name in SCALED or name.startswith("damping.") for name in names)
    return scaling(body) if scaled else None


# --- scaling of reduced bodies ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scaling:
    """A reduced body with another modulus, density or damping: its modes keep their shapes.

    With E a times and ρ b times as large, K and M are a and b times as large all over the body: modes of unit mass are V/√b,
    their frequencies ω √(a/b), their stresses √a times as large,

        m ~ b,   s₀, J₀ ~ b,   S, X ~ √b,   W, M_s ~ 1,   D ~ √(a/b),   C ~ 1,   Q ~ √a/b,   Φ_C, Ψ_C ~ 1/√b

    and damping is proportional again. That holds for a body of one isotropic material without lumped masses.
    """

    body: Body
    values: dict[str, float]
    piece: int  # of a split beam

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
            recipe=recipe.beam.piece(self.piece, recipe.pieces) if isinstance(recipe, Split) else recipe,
            inertia=inertia,
            elastic=with_damping(new, beam.damping, inertia, ports),
            ports=ports,
            shape=old.shape if a == b == 1.0 else Combined(old.shape, V_v, V_sigma),
            construction=old.construction and replace(old.construction, recipe=recipe),
        )


def scaling(body: Body) -> Scaling | None:
    """The scaling of a body; None if a body that is assembled with other numbers does not agree with it."""
    assert body.construction is not None
    recipe: Any = body.construction.recipe
    inside = recipe.beam if isinstance(recipe, Split) else recipe
    found = numbers(inside)
    if MODULUS not in found.values or DENSITY not in found.values:
        return None
    pieces = [step.arguments[0] for step in body.construction.steps if step.method == "piece"]
    maker = Scaling(body, found.values, pieces[0] if pieces else -1)
    factors = {name: factor for name, factor in TRIAL.items() if name == MODULUS or not _has_lumped_mass(found.values)}
    other = with_numbers(inside, {found.paths[name]: factor * found.values[name] for name, factor in factors.items()})
    other = replace(recipe, beam=other) if isinstance(recipe, Split) else other
    try:
        assembled, scaled = align_signs(body.construction.repeat(other), body), maker(other)
    except (InputError, AccuracyError):
        return None
    return maker if scaled is not None and _agree(assembled, scaled) else None


def _has_lumped_mass(values: dict[str, float]) -> bool:
    return any(name.startswith("masses") for name in values)


def _agree(one: Body, other: Body) -> bool:
    """Whether two bodies are equal to the accuracy of modes."""
    if not same_size(one, other):
        return False
    pairs = [(one.inertia.S, other.inertia.S), (one.inertia.J0, other.inertia.J0), (one.inertia.W, other.inertia.W)]
    pairs += [(getattr(one.elastic, x).toarray(), getattr(other.elastic, x).toarray()) for x in ("C", "D", "R_d")]
    pairs += [(_dense(one.elastic.Q, one), _dense(other.elastic.Q, other))]
    pairs += [(port.Phi, other.ports[name].Phi) for name, port in one.ports.items()]
    return all(np.abs(a - b).max(initial=0.0) <= AGREEMENT * np.abs(b).max(initial=0.0) for a, b in pairs)


def _dense(Q: Any, body: Body) -> np.ndarray:
    out = np.zeros((body.stresses, body.coordinates, body.coordinates))
    np.add.at(out, (Q.strain, Q.row, Q.column), Q.value)
    return out


# --- comparison of two bodies from like recipes -----------------------------------------------------------------------


def same_ports(one: Body, other: Body) -> bool:
    """Whether two bodies share their ports, so that equal states put the ports at equal places."""
    return one is other or all(one.ports[name] is port for name, port in other.ports.items())


def same_size(one: Body, other: Body) -> bool:
    """Whether states of one body fit the other."""
    return (one.coordinates, one.stresses) == (other.coordinates, other.stresses)


def align_signs(new: Body, old: Body) -> Body:
    """The new body with the signs of its modes and stresses as in the old one."""
    if not new.coordinates or not same_size(new, old):
        return new
    eta = _signs(_overlap(new, old))
    linear = np.asarray(new.elastic.D.multiply(old.elastic.D) @ eta)
    sigma = _signs(linear + _quadratic_overlap(new, old, eta))
    if (eta > 0.0).all() and (sigma > 0.0).all():
        return new
    return new.combined(Basis(csr(np.diag(eta)), csr(np.diag(sigma)), new.elastic.stresses))


def _overlap(new: Body, old: Body) -> np.ndarray:
    """For every coordinate, Σ of the products of its displacements and of its port rotations in both bodies."""
    moved = [body.shape.displacement(body.shape.places()) for body in (new, old)]
    out = np.asarray(moved[0].multiply(moved[1]).sum(axis=0)).ravel()
    for name, port in new.ports.items():
        out = out + new.extent * old.extent * np.einsum("ik,ik->k", port.Psi, old.ports[name].Psi)
    return out


def _quadratic_overlap(new: Body, old: Body, eta: np.ndarray) -> np.ndarray:
    """For every stress without a linear strain, Σ of the products of its quadratic strains in both bodies."""
    out = np.zeros(new.stresses)
    a, b = new.elastic.Q, old.elastic.Q
    there = dict(zip(zip(b.strain, b.row, b.column, strict=True), b.value, strict=True))
    for s, k, l, value in zip(a.strain, a.row, a.column, a.value, strict=True):
        out[s] += value * eta[k] * eta[l] * there.get((s, k, l), 0.0)
    return np.where(np.diff(new.elastic.D.indptr) > 0, 0.0, out)


def _signs(overlap: np.ndarray) -> np.ndarray:
    return np.where(overlap < 0.0, -1.0, 1.0)
