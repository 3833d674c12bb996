"""The arrays of a system over a box of its parameters: polynomials through systems that were made, exact to round-off.

    arrays(p) = Σ_j ℓ_j(p) arrays_j,   ℓ_j products of Lagrange polynomials at Chebyshev places of each parameter

Masses, densities and moduli need two places, sides of a section up to five; how many do is tried, and tried again at places in
between. What does not depend on a parameter is kept once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import jax
import numpy as np

from phloat.errors import InputError, finite
from phloat.motion.inputs.inputs import Inputs
from phloat.system.parameters import with_parameters
from phloat.system.state import State
from phloat.system.system import System
from phloat.twin.export import exported
from phloat.twin.model import Family, Model
from phloat.twin.run import ready

PLACES = (2, 3, 5, 7)  # of each parameter, tried in turn
MOST = 700  # systems made for one family
EXACT = 1e-11  # of the largest number of an array


def family(
    system: System,
    ranges: Mapping[str, tuple[float, float]],
    start: State | Callable[[System], State],
    t_end: float,
    *,
    dt: float,
    u: Mapping[str, object] | Inputs | None = None,
    watch: Mapping[str, tuple[str, float]] | None = None,
) -> Family:
    """Models for all values of the parameters in these ranges, to be taken to a machine without this library."""
    ready()
    names = tuple(ranges)
    if not names:
        raise InputError("a family needs at least one parameter: {'rod.material.E': (low, high)}")
    box = np.array([finite(f"range of {name}", ranges[name], (2,)) for name in names])
    for name, (low, high) in zip(names, box, strict=True):
        if not low < high:
            raise InputError(f"range of {name} is {low:g} to {high:g}; it must rise")

    def made(values: np.ndarray) -> Model:
        new = with_parameters(system, dict(zip(names, map(float, values), strict=True)))
        begun = start(new) if callable(start) else start
        return exported(new, begun, t_end, dt=dt, u=u, watch=watch, apart=True)

    rng = np.random.default_rng(0)
    at = [box[:, 0] + rng.random(len(names)) * (box[:, 1] - box[:, 0]) for _ in range(2)]
    tries = [made(values) for values in at]
    worst = np.inf
    for count in PLACES:
        if count ** len(names) > MOST:
            break
        knots = _knots(box, count)
        through = [made(np.array(values)) for values in product(*knots)]
        found = _joined(names, box, knots, through)
        worst = max(_apart(found.arrays(np.asarray(v)), one.arrays) for v, one in zip(at, tries, strict=True))
        if worst <= EXACT:
            return found
    raise InputError(
        f"polynomials in {', '.join(names)} miss the model by {worst:.1e} with at most {MOST} systems made; "
        "take narrower ranges or fewer parameters, or run them one by one: ensemble(system, …)"
    )


def _knots(box: np.ndarray, count: int) -> list[np.ndarray]:
    """Chebyshev places in each range."""
    x = np.cos(np.pi * (2 * np.arange(count)[::-1] + 1) / (2 * count))
    return [0.5 * (low + high) + 0.5 * (high - low) * x for low, high in box]


def _joined(names: tuple[str, ...], box: np.ndarray, knots: list[np.ndarray], through: list[Model]) -> Family:
    """Arrays that vary, stacked; those that do not, once."""
    leaves = [jax.tree.leaves(model.arrays) for model in through]
    if len({tuple(np.shape(a) for a in one) for one in leaves}) > 1:
        raise InputError(f"{', '.join(names)} change the size of the model; they cannot vary within a family")
    fixed: dict[str, Any] = {}
    varying: dict[str, Any] = {}
    for k, several in enumerate(zip(*leaves, strict=True)):
        same = all(np.array_equal(a, several[0]) for a in several)
        (fixed if same else varying)[f"{k:04d}"] = np.asarray(several[0]) if same else np.stack(several)
    tree = jax.tree.structure(through[0].arrays)
    return Family(fixed, varying, knots, box, tree, names, through[0].names)


def _apart(a: Any, b: Any) -> float:
    """The largest difference of two trees, each array by its own largest number; of states in metres, radians, seconds."""
    worst = 0.0
    for part, floor in (("state", 1.0), ("model", 1e-300), ("inputs", 1.0)):
        for x, y in zip(jax.tree.leaves(a[part]), jax.tree.leaves(b[part]), strict=True):
            if np.size(y):
                worst = max(worst, float(np.max(np.abs(np.asarray(x) - y)) / max(np.max(np.abs(y)), floor)))
    return worst
