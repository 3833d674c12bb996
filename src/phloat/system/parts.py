"""The parts of a system: its bodies as recipes with construction steps, joints and forces. Systems from parts, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from phloat.bodies.construction import Construction
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.stress_continuum import StressContinuum
from phloat.errors import InputError
from phloat.joints.pairs import Weld
from phloat.joints.tie import Tie
from phloat.linear.form.phdae import LinearPHDAE
from phloat.system.connect import connect, drive, lock
from phloat.system.system import System
from phloat.system.tied_bodies import tie

Part: TypeAlias = "Construction | Parts"


@dataclass(frozen=True, eq=False)
class Parts:
    """Bodies as constructions (or parts of nested systems), the joints and forces between them, and locked and driven joints."""

    bodies: Mapping[str, Part]
    joints: tuple[Any, ...] = ()
    gravity: tuple[float, ...] | None = None
    plane: str | None = None
    locked: tuple[str, ...] = ()
    driven: tuple[str, ...] = ()

    def body(self, name: str) -> Any:
        """The body, split beam or nested system of that name, constructed."""
        part = self.bodies[name]
        return replace(part, plane=self.plane).connected() if isinstance(part, Parts) else part.repeat(part.recipe)

    def connected(self, bodies: Mapping[str, Any] | None = None) -> System | LinearPHDAE:
        """The connected system; `bodies` are constructed bodies by name, if they exist. Raises InputError if parts do not fit."""
        built = {name: self.body(name) for name in self.bodies} if bodies is None else bodies
        small = any(isinstance(body, Continuum | StressContinuum) for body in built.values())
        if small or any(isinstance(j, Tie) for j in self.joints):
            for option in ("gravity", "plane", "locked", "driven"):
                if getattr(self, option):
                    raise InputError(
                        f"{option} is not for bodies on meshes tied for small motions; leave it out, or give them a frame"
                    )
            return tie(built, list(self.joints))
        system = connect(built, list(self.joints), gravity=self.gravity, plane=self.plane)
        return drive(lock(system, *self.locked), *self.driven)


def parts(system: System) -> Parts:
    """The parts from which a system can be connected again. Raises InputError if a body has no record of its construction."""
    if not isinstance(system, System):
        raise InputError(
            f"{type(system).__name__} is no System; connect(…) makes one, and a linear system does not know what it was made of"
        )
    nested = _nested_parts(system, "")
    closed = {name: c for name, c in system.joints.items() if not c.joint.moves_ground}
    return replace(
        nested,
        gravity=tuple(map(float, system.gravity)) if np.any(system.gravity) else None,
        plane=system.plane,
        locked=tuple(name for name, c in closed.items() if c.locked),
        driven=tuple(name for name, c in closed.items() if c.driven),
    )


def _nested_parts(system: System, prefix: str) -> Parts:
    """The parts of the nested system whose names begin with `prefix`, by names without it."""
    bodies: dict[str, Part] = {}
    for name, body in system.bodies.items():
        if not name.startswith(prefix):
            continue
        first, _, rest = name.removeprefix(prefix).partition(".")
        if first in bodies:
            continue
        if rest and not (body.pieces and "." not in rest):
            bodies[first] = _nested_parts(system, f"{prefix}{first}.")
        elif body.construction is None or (body.pieces and not rest):
            raise InputError(
                f"body {name!r} does not know how it was made, so no file can say it; use a recipe of phloat"
            )
        else:
            bodies[first] = body.construction
    welds = tuple(f"{name}.weld " for name, part in bodies.items() if isinstance(part, Construction))
    recipes = {
        name: part.recipe for kind in (system.joints, system.elements, system.actuators) for name, part in kind.items()
    }
    joints = [
        recipe
        for name, recipe in recipes.items()
        if name == f"{prefix}{recipe.label}" and not (isinstance(recipe, Weld) and recipe.label.startswith(welds))
    ]
    return Parts(bodies, tuple(joints))
