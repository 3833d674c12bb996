"""Bodies made again without assembling them: beams from unit arrays, reduced bodies by similarity, rigid ones from numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from phloat.algebra.numbers import numbers, with_numbers
from phloat.algebra.sparse import csr, zeros
from phloat.bodies.alike import aligned, same_size
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.split import Split
from phloat.bodies.beams.units import Units, units
from phloat.bodies.body import Body, Combined, Port
from phloat.bodies.damping import damped
from phloat.bodies.inertia import Inertia, about_origin
from phloat.bodies.made import Step
from phloat.bodies.rigid import PointMass, RigidBody, RigidShape
from phloat.bodies.strain import Elastic
from phloat.errors import AccuracyError, InputError

# --- bodies by similarity --------------------------------------------------------------------------------------------
#
# Reduced bodies with another modulus or density: their modes have the same shapes, so all arrays follow by powers.
#
# With E a times and ρ b times as large, K and M are a and b times as large all over the body: modes of unit mass are V/√b, their
# frequencies ω √(a/b), their stresses √a times as large,
#
#     m ~ b,   s₀, J₀ ~ b,   S, X ~ √b,   W, M_s ~ 1,   D ~ √(a/b),   C ~ 1,   Q ~ √a/b,   Φ_C, Ψ_C ~ 1/√b
#
# and damping is proportional again. That holds for any body of one isotropic material without lumped masses; it is tried once, on
# a body that is made anew, before it is believed.


SIMILAR = MODULUS, DENSITY = "material.E", "material.rho"
TRIED = {MODULUS: 1.44, DENSITY: 0.81}  # times what it is
AGREES = 1e-5  # of modes, which are found by iteration


@dataclass(frozen=True, eq=False)
class Similar:
    """A reduced body, from recipes that are other in modulus, density and damping only."""

    body: Body
    values: dict[str, float]
    piece: int  # of a split beam

    def __call__(self, recipe: Any) -> Body | None:
        beam = recipe.beam if isinstance(recipe, Split) else recipe
        new = numbers(beam).values
        if new.keys() != self.values.keys():
            return None
        other = {name for name, value in self.values.items() if new[name] != value and not name.startswith("damping.")}
        a, b = new[MODULUS] / self.values[MODULUS], new[DENSITY] / self.values[DENSITY]
        if other - {MODULUS, DENSITY} or (b != 1.0 and _lumped(new)):
            return None
        return self._scaled(recipe, beam, a, b)

    def _scaled(self, recipe: Any, beam: Any, a: float, b: float) -> Body:
        old, n, root = self.body, self.body.coordinates, sqrt(b)
        I, elastic = old.inertia, old.elastic
        inertia = Inertia(b * I.m, b * I.s0, b * I.J0, root * I.S, root * I.X, I.W_ab, I.M_s)
        Q = replace(elastic.Q, value=sqrt(a) / b * elastic.Q.value)
        new = Elastic(elastic.C, csr(sqrt(a / b) * elastic.D), Q, zeros(n, n), elastic.stresses)
        V_v, V_sigma = csr(sp.eye_array(n) / root), csr(sqrt(a) * sp.eye_array(old.stresses))
        ports = {name: replace(port, Phi=port.Phi / root, Psi=port.Psi / root) for name, port in old.ports.items()}
        ports = dict(old.ports) if b == 1.0 else ports
        return replace(
            old,
            recipe=recipe.beam.piece(self.piece, recipe.pieces) if isinstance(recipe, Split) else recipe,
            inertia=inertia,
            elastic=damped(new, beam.damping, inertia, ports),
            ports=ports,
            shape=old.shape if a == b == 1.0 else Combined(old.shape, V_v, V_sigma),
            made=old.made and replace(old.made, recipe=recipe),
        )


def similar(body: Body) -> Similar | None:
    """The maker of a body by similarity; None where a body that is made anew is not what it says."""
    assert body.made is not None
    recipe: Any = body.made.recipe
    inside = recipe.beam if isinstance(recipe, Split) else recipe
    found = numbers(inside)
    if MODULUS not in found.values or DENSITY not in found.values:
        return None
    pieces = [step.given[0] for step in body.made.steps if step.verb == "piece"]
    maker = Similar(body, found.values, pieces[0] if pieces else -1)
    factors = {name: factor for name, factor in TRIED.items() if name == MODULUS or not _lumped(found.values)}
    other = with_numbers(inside, {found.paths[name]: factor * found.values[name] for name, factor in factors.items()})
    other = replace(recipe, beam=other) if isinstance(recipe, Split) else other
    try:
        anew, scaled = aligned(body.made.again(other), body), maker(other)
    except (InputError, AccuracyError):
        return None
    return maker if scaled is not None and _agree(anew, scaled) else None


def _lumped(values: dict[str, float]) -> bool:
    return any(name.startswith("masses") for name in values)


def _agree(one: Body, other: Body) -> bool:
    """Whether two bodies are the same to the accuracy of modes."""
    if not same_size(one, other):
        return False
    pairs = [(one.inertia.S, other.inertia.S), (one.inertia.J0, other.inertia.J0), (one.inertia.W, other.inertia.W)]
    pairs += [(getattr(one.elastic, x).toarray(), getattr(other.elastic, x).toarray()) for x in ("C", "D", "R_d")]
    pairs += [(_dense(one.elastic.Q, one), _dense(other.elastic.Q, other))]
    pairs += [(port.Phi, other.ports[name].Phi) for name, port in one.ports.items()]
    return all(np.abs(a - b).max(initial=0.0) <= AGREES * np.abs(b).max(initial=0.0) for a, b in pairs)


def _dense(Q: Any, body: Body) -> np.ndarray:
    out = np.zeros((body.stresses, body.coordinates, body.coordinates))
    np.add.at(out, (Q.strain, Q.row, Q.column), Q.value)
    return out


# --- made again, by the kind of recipe -------------------------------------------------------------------------------


PLAIN = ("discretise", "piece", "in_plane")  # steps that need no assembly

Maker = Callable[[Any], Body | None]


def quick(body: Body, names: Collection[str] = SIMILAR) -> Maker | None:
    """Makes this body from other recipes of the same kind, as `made.again` does; None where all of it takes an assembly.

    The maker gives None for a recipe that is other in more than its numbers; `names` are the numbers that will be other.
    """
    if body.made is None:
        return None
    steps = body.made.steps
    plain = next((k for k, step in enumerate(steps) if step.verb not in PLAIN), len(steps))
    if plain < len(steps):
        begun = replace(body.made, steps=steps[:plain])
        beam = plain and isinstance(body.recipe, Beam)
        maker = quick(begun.again(begun.recipe)) if beam else None
        alike = all(name in SIMILAR or name.startswith("damping.") for name in names)
        makers = [similar(body) if alike else None, maker and Finished(maker, steps[plain:], body)]
        return First(tuple(m for m in makers if m is not None)) if any(makers) else None
    if isinstance(body.recipe, (RigidBody, PointMass)):
        return Rigid(body)
    found = units(body) if isinstance(body.recipe, Beam) else None
    if found is None:
        return None
    places = [step.given[0] for step in steps if step.verb == "piece"]
    return Flexible(found, places[0] if places else -1)


@dataclass(frozen=True, eq=False)
class First:
    """The first of some makers that can."""

    makers: tuple[Maker, ...]

    def __call__(self, recipe: Any) -> Body | None:
        return next((body for body in (maker(recipe) for maker in self.makers) if body is not None), None)


@dataclass(frozen=True, eq=False)
class Finished:
    """A body that is quickly begun, and then goes through steps that take their time: its reduction."""

    maker: Maker
    steps: tuple[Step, ...]
    like: Body

    def __call__(self, recipe: Any) -> Body | None:
        body: Any = self.maker(recipe)
        for step in self.steps:
            body = None if body is None else step.again(body)
        return body and aligned(body, self.like)


@dataclass(frozen=True, eq=False)
class Flexible:
    """A beam, or one piece of a split one."""

    units: Units
    piece: int

    def __call__(self, recipe: Any) -> Body | None:
        beam: Any = recipe.beam.piece(self.piece, recipe.pieces) if isinstance(recipe, Split) else recipe
        return self.units.made(beam, recipe)


@dataclass(frozen=True, eq=False)
class Rigid:
    """A rigid body or a point mass."""

    body: Body

    def __call__(self, recipe: RigidBody | PointMass) -> Body:
        old = self.body
        at, centre, J = {"P": np.zeros(3)}, np.zeros(3), np.zeros((3, 3))
        if isinstance(recipe, RigidBody):
            at |= {name: np.asarray(x, dtype=float) for name, x in recipe.ports.items()}
            centre, J = np.asarray(recipe.center, dtype=float), np.asarray(recipe.inertia, dtype=float)
        inertia = replace(old.inertia, m=recipe.mass, s0=recipe.mass * centre, J0=about_origin(recipe.mass, centre, J))
        vars(inertia).update(W=old.inertia.W, M_ff_dense=old.inertia.M_ff_dense)  # known: there are none
        return replace(
            old,
            recipe=recipe,
            inertia=inertia,
            ports={name: _moved(old.ports[name], x) for name, x in at.items()},
            shape=RigidShape(np.array(list(at.values()))),
            made=old.made and replace(old.made, recipe=recipe),
        )


def _moved(port: Port, x: np.ndarray) -> Port:
    """The port elsewhere; the same one where it stays."""
    return port if np.array_equal(port.x, x) else replace(port, x=x)
