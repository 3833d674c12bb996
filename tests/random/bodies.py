"""The bodies of random mechanisms: rigid ones, points, beams of every theory, plates and solids of few coordinates."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from mechanisms import BEAMS
from worlds import World, body_in

import phloat as ph

SOFT = ph.Material(E=2.0e9, rho=1200.0, nu=0.3)


def recipe_of(kind: str, seed: int, plane: bool):
    """A body with ports P and C; those on meshes are few, and made once."""
    rng = np.random.default_rng(seed)
    if kind == "point":
        return ph.PointMass(rng.uniform(0.2, 2.0))
    if kind == "rigid":
        points, masses = rng.normal(size=(6, 3)) * 0.3, rng.uniform(0.1, 0.6, 6)
        center = masses @ points / masses.sum()
        x = points - center
        J = sum(m * (y @ y * np.eye(3) - np.outer(y, y)) for m, y in zip(masses, x, strict=True))
        C = rng.uniform(0.2, 0.8) * direction(rng, plane)
        if plane:
            center = center * [1.0, 1.0, 0.0]
        return ph.RigidBody(masses.sum(), J, center=tuple(center), ports={"C": tuple(C)})
    ends = {"material": SOFT, "frame": "left", "ports": {"P": "left", "C": "right"}}
    if kind == "plate":
        return ph.Plate.rectangle(1.3, 0.4, thickness=0.03, **ends)
    if kind == "solid":
        return ph.Solid.box(1.3, 0.05, 0.08, **ends)
    h = rng.uniform(0.03, 0.06)
    options = {
        "rayleigh": {"theory": "rayleigh"},
        "timoshenko": {"theory": "timoshenko"},
        "pinned": {"frame": "pinned"},
        "tapered": {"section": Wedge(0.03, h), "masses": {0.0: 0.2, 0.37: 0.3}},
        "damped": {
            "damping": ph.KelvinVoigt(1e-3) if seed % 2 else ph.Rayleigh(mass=0.3, stiffness=1e-4, relative_to="P")
        },
        "limp": {"stiffening": False},
    }
    given = {"section": ph.Rectangle(0.03, h), **options.get(kind, {})}
    return ph.Beam(length=rng.uniform(0.5, 1.5), material=SOFT, **given)


@dataclass(frozen=True)
class Wedge:
    """A section that gets thinner along the beam."""

    b: float
    h: float

    def __call__(self, s: float) -> ph.Rectangle:
        return ph.Rectangle(self.b, self.h * (1 - 0.4 * s))


def made(recipe, kind: str, world: World):
    """The body of a recipe in other units."""
    if kind in ("plate", "solid"):
        return on_mesh(kind, world.length, world.mass, world.time)
    recipe = body_in(recipe, world)
    if (
        kind == "split"
    ):  # its end P does not turn with η: an angle there would depend on the hidden direction it is read from
        return replace(recipe, frame="cantilever").split(2).discretise(1)
    if kind in BEAMS:
        body = recipe.discretise(3 if kind == "reduced" else 1)
        return body.reduced(modes=2) if kind == "reduced" else body
    return recipe.discretise()


@cache
def on_mesh(kind: str, length: float, mass: float, time: float) -> ph.Body:
    """A plate or a solid of few coordinates."""
    n = World(length=length, mass=mass, time=time).number
    material = ph.Material(E=n(SOFT.E, M=1, L=-1, T=-2), rho=n(SOFT.rho, M=1, L=-3), nu=SOFT.nu)
    ends = {"material": material, "frame": "left", "ports": {"P": "left", "C": "right"}}
    if kind == "plate":
        plate = ph.Plate.rectangle(n(1.3, L=1), n(0.4, L=1), thickness=n(0.03, L=1), **ends)
        return plate.discretise((4, 2)).reduced(modes=2, stiffened=3)
    solid = ph.Solid.box(n(1.3, L=1), n(0.05, L=1), n(0.08, L=1), **ends)
    return solid.discretise((4, 1, 1)).reduced(modes=2, stiffened=3)


def direction(rng: np.random.Generator, plane: bool) -> np.ndarray:
    x = rng.normal(size=3) * ([1.0, 1.0, 0.0] if plane else 1.0)
    return x / np.linalg.norm(x)
