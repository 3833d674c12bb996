"""Bodies made again without assembling them: beams from unit arrays, reduced bodies by similarity, rigid ones from numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phloat.bodies.alike import aligned
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.split import Split
from phloat.bodies.beams.units import Units, units
from phloat.bodies.body import Body, Port
from phloat.bodies.inertia import about_origin
from phloat.bodies.made import Step
from phloat.bodies.rigid import PointMass, RigidBody, RigidShape
from phloat.bodies.similar import SIMILAR, similar

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
