"""Gradients of a number of a run by parameters of the system, by name, and by gains of a feedback; families over parameters.

The run is differentiated backwards, exactly: implicit derivatives of every step, some √steps states in memory. How the arrays of
the model depend on a parameter is taken from the system made again with four values of it (differences of fourth order: exact for
polynomials up to that degree, such as mass, E, ρ, the sides of a section; else to about 1e-11).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phloat.errors import InputError, finite
from phloat.motion.inputs.inputs import Inputs
from phloat.system.parameters import parameters, with_parameters
from phloat.system.state import State
from phloat.system.system import System
from phloat.twin.export import exported
from phloat.twin.model import Family, Model, Tree
from phloat.twin.motion import Motion
from phloat.twin.run import (
    Law,
    check_every,
    check_feedback,
    find_device,
    motion_of,
    require_64_bits,
    require_converged,
    state_times,
)

STEP = 1e-3  # of a parameter, for the differences
PLACES = (2, 3, 5, 7)  # Chebyshev points of each parameter, tried in turn
MOST = 700  # largest number of systems for one family
EXACT = 1e-11  # largest error of a family, relative to the largest number of an array
Objective = Callable[[Motion], Any]


@dataclass(frozen=True, eq=False)
class Problem:
    """A number of a run as a function of parameters of the system and gains: `value`, `gradient`, with everything else fixed."""

    system: System
    start: State | Callable[[System], State]
    t_end: float
    dt: float
    output: Objective
    u: Mapping[str, object] | Inputs | None = None
    watch: Mapping[str, tuple[str, float]] | None = None
    every: int = 1
    feedback: Law | None = None
    device: str | None = None

    def model(self, values: Mapping[str, float]) -> Model:
        """The arrays for these parameters."""
        system = with_parameters(self.system, dict(values)) if values else self.system
        start = self.start(system) if callable(self.start) else self.start
        return exported(system, start, self.t_end, dt=self.dt, u=self.u, watch=self.watch, apart=True)

    def value(self, values: Mapping[str, float], gains: Mapping[str, float] | None = None) -> float:
        """The number for these parameters and gains."""
        model = self.model(values)
        self._checked(model, gains)
        arrays = jax.device_put(model.arrays, find_device(self.device))
        number, residual = self._compiled[0](arrays, dict(gains or {}), model.names)
        require_converged(residual)
        return float(number)

    def gradient(
        self, values: Mapping[str, float], gains: Mapping[str, float] | None = None
    ) -> tuple[float, dict[str, float]]:
        """The number, and its derivatives by each parameter and gain."""
        model = self.model(values)
        self._checked(model, gains)
        arrays = jax.device_put(model.arrays, find_device(self.device))
        (number, residual), (by_arrays, by_gains) = self._compiled[1](arrays, dict(gains or {}), model.names)
        require_converged(residual)
        sensitivities = [np.asarray(a) for a in by_arrays]
        slopes = {name: self._slope(name, dict(values), sensitivities) for name in values}
        return float(number), slopes | {name: float(a) for name, a in by_gains.items()}

    def _checked(self, model: Model, gains: Mapping[str, float] | None) -> None:
        require_64_bits()
        check_every(model, self.every)
        check_feedback(self.feedback, gains, model.arrays, model.names)

    @cached_property
    def _compiled(self) -> tuple[Any, Any]:
        def number(leaves: list[Any], gains: Mapping[str, Any], arrays: Tree, names: Any, gradients: bool) -> Any:
            arrays = refilled(arrays, leaves)
            options = {"names": names, "every": self.every, "feedback": self.feedback, "gradients": gradients}
            states, residual = motion_of(arrays, gains, **options)
            value = jnp.asarray(self.output(Motion(arrays, states, names, state_times(arrays, states, self.every))))
            if value.shape != ():
                raise InputError(f"output returned an array of shape {value.shape}; a gradient needs one number")
            return value, residual

        def forward(arrays: Tree, gains: Mapping[str, Any], names: Any) -> Any:
            return number(float_leaves(arrays), gains, arrays, names, False)

        def backward(arrays: Tree, gains: Mapping[str, Any], names: Any) -> Any:
            slope = jax.value_and_grad(partial(number, names=names, gradients=True), argnums=(0, 1), has_aux=True)
            return slope(float_leaves(arrays), gains, arrays)

        return jax.jit(forward, static_argnums=2), jax.jit(backward, static_argnums=2)

    def _slope(self, name: str, values: dict[str, float], sensitivities: list[np.ndarray]) -> float:
        """Σ ∂number/∂array · ∂array/∂parameter."""
        step = STEP * abs(values[name]) or STEP
        around = [float_leaves(self.model(values | {name: values[name] + k * step}).arrays) for k in (-2, -1, 1, 2)]
        total = 0.0
        for a, *perturbed in zip(sensitivities, *around, strict=True):
            if any(np.shape(one_perturbed) != a.shape for one_perturbed in perturbed):
                raise InputError(f"{name} changes the size of the model, so it has no derivative")
            total += float(
                np.sum(a * (8.0 * (perturbed[2] - perturbed[1]) - (perturbed[3] - perturbed[0])) / (12.0 * step))
            )
        return total


def float_leaves(arrays: Tree) -> list[Any]:
    """The arrays of a model with floating-point numbers, in the order of JAX."""
    return [a for a in jax.tree.leaves(arrays) if jnp.issubdtype(jnp.asarray(a).dtype, jnp.floating)]


def refilled(arrays: Tree, leaves: Sequence[Any]) -> Tree:
    """`arrays` with its floating-point arrays replaced by `leaves`."""
    remaining = iter(leaves)
    return jax.tree.map(lambda a: next(remaining) if jnp.issubdtype(a.dtype, jnp.floating) else a, arrays)


def gradient(
    system: System,
    names: Sequence[str] | Mapping[str, float],
    *,
    start: State | Callable[[System], State],
    t_end: float,
    dt: float,
    output: Objective,
    gains: Mapping[str, float] | None = None,
    **others: Any,
) -> tuple[float, dict[str, float]]:
    """A number of a run, `output(motion)`, and its derivatives by parameters of the system and gains of a feedback, by name."""
    table = parameters(system)
    values = dict(names) if isinstance(names, Mapping) else {name: _present(name, table) for name in names}
    return Problem(system, start, t_end, dt, output, **others).gradient(values, gains)


def _present(name: str, table: Mapping[str, float]) -> float:
    if name not in table:
        raise InputError(
            f"{name!r} is no single parameter of this system; give its value, {{{name!r}: …}}, or one of {', '.join(table)}"
        )
    return table[name]


# --- families: polynomials through systems that were made, exact to round-off -----------------------------------------------
#
#     arrays(p) = Σ_j ℓ_j(p) arrays_j,   ℓ_j products of Lagrange polynomials at Chebyshev places of each parameter
#
# Masses, densities and moduli need two places, sides of a section up to five; how many do is tried, and tried again at places in
# between. What does not depend on a parameter is kept once.


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
    """Models for all values of the parameters in these ranges; once saved it needs only NumPy and JAX."""
    require_64_bits()
    names = tuple(ranges)
    if not names:
        raise InputError("a family needs at least one parameter: {'rod.material.E': (low, high)}")
    box = np.array([finite(f"range of {name}", ranges[name], (2,)) for name in names])
    for name, (low, high) in zip(names, box, strict=True):
        if not low < high:
            raise InputError(f"range of {name} is {low:g} to {high:g}; it must rise")

    problem = Problem(system, start, t_end, dt, lambda motion: motion, u, watch)

    def model_at(values: np.ndarray) -> Model:
        return problem.model(dict(zip(names, map(float, values), strict=True)))

    rng = np.random.default_rng(0)
    samples = [box[:, 0] + rng.random(len(names)) * (box[:, 1] - box[:, 0]) for _ in range(2)]
    tries = [model_at(values) for values in samples]
    largest = np.inf
    for count in PLACES:
        if count ** len(names) > MOST:
            break
        knots = _knots(box, count)
        models = [model_at(np.array(values)) for values in product(*knots)]
        fitted = _fit_family(names, box, knots, models)
        largest = max(
            _largest_difference(fitted.arrays(np.asarray(v)), one.arrays) for v, one in zip(samples, tries, strict=True)
        )
        if largest <= EXACT:
            return fitted
    raise InputError(
        f"polynomials in {', '.join(names)} miss the model by {largest:.1e} with at most {MOST} systems made; "
        "take narrower ranges or fewer parameters, or run them one by one: ensemble(system, …)"
    )


def _knots(box: np.ndarray, count: int) -> list[np.ndarray]:
    """Chebyshev points in each range."""
    x = np.cos(np.pi * (2 * np.arange(count)[::-1] + 1) / (2 * count))
    return [0.5 * (low + high) + 0.5 * (high - low) * x for low, high in box]


def _fit_family(names: tuple[str, ...], box: np.ndarray, knots: list[np.ndarray], models: list[Model]) -> Family:
    """A family of models at the knots: arrays that vary are stacked, constant ones are stored once."""
    leaves = [jax.tree.leaves(model.arrays) for model in models]
    if len({tuple(np.shape(a) for a in model_leaves) for model_leaves in leaves}) > 1:
        raise InputError(f"{', '.join(names)} change the size of the model; they cannot vary within a family")
    fixed: dict[str, Any] = {}
    varying: dict[str, Any] = {}
    for k, variants in enumerate(zip(*leaves, strict=True)):
        constant = all(np.array_equal(a, variants[0]) for a in variants)
        (fixed if constant else varying)[f"{k:04d}"] = np.asarray(variants[0]) if constant else np.stack(variants)
    tree = jax.tree.structure(models[0].arrays)
    return Family(fixed, varying, knots, box, tree, names, models[0].names)


def _largest_difference(a: Any, b: Any) -> float:
    """The largest difference of two trees, each array by its own largest number; of states in metres, radians, seconds."""
    largest = 0.0
    for part, floor in (("state", 1.0), ("model", 1e-300), ("inputs", 1.0)):
        for x, y in zip(jax.tree.leaves(a[part]), jax.tree.leaves(b[part]), strict=True):
            if np.size(y):
                apart = np.asarray(x) != y  # bounds of pieces may be infinite
                difference = np.max(np.abs(np.subtract(x, y, out=np.zeros(np.shape(y)), where=apart)))
                largest = max(largest, float(difference / max(np.max(np.abs(y)), floor)))
    return largest
