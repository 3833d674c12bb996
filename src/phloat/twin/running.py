"""One run of the twin, and many at once, on whatever device there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from phloat.errors import InputError
from phloat.twin.body import Tree
from phloat.twin.model import Model, Places
from phloat.twin.motion import Motion
from phloat.twin.run import Feedback, kept_of, marched

Law = Callable[[Mapping[str, Any], Motion], Mapping[str, Any]]


def simulate(
    model: Model,
    *,
    every: int = 1,
    renew: int = 1,
    feedback: Law | None = None,
    gains: Mapping[str, float] | None = None,
    device: str | None = None,
) -> Motion:
    """The motion of a model that was exported, one state after every so many steps, the start included.

    `feedback(gains, now)` returns {input: value} for each step, from the motion at its start.
    """
    ready()
    arrays = jax.device_put(model.arrays, found(device))
    answered(feedback, gains, arrays, model.names)
    run = jax.jit(partial(motion_of, names=model.names, every=whole(model, every), renew=renew, feedback=feedback))
    states, residual = run(arrays, dict(gains or {}))
    settled(residual)
    return Motion(arrays, states, model.names, times(arrays, states, every))


def motion_of(
    arrays: Tree,
    gains: Mapping[str, Any],
    *,
    names: Places,
    every: int = 1,
    renew: int = 1,
    feedback: Law | None = None,
    gradients: bool = False,
) -> tuple[Tree, Array]:
    """The states of a run, stacked, and the largest residual in round-offs; a pure function of the arrays and gains."""
    law = None if feedback is None else closed(feedback, gains, arrays, names)
    model, state, inputs = arrays["model"], arrays["state"], arrays["inputs"]
    _, out = marched(model, state, inputs, every=every, renew=renew, gradients=gradients, feedback=law)
    start = kept_of(arrays["state"])
    states = {key: jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), start[key], out[key]) for key in start}
    return states, jnp.max(out["residual"])


def closed(feedback: Law, gains: Mapping[str, Any], arrays: Tree, names: Places) -> Feedback:
    """A law of the user as the given numbers of a step."""

    def law(state: Tree, t: Array, given: Array) -> Array:
        answer = feedback(gains, Motion(arrays, state, names, t))
        for name, value in answer.items():
            at, count = next((first, count) for other, first, count in names.inputs if other == name)
            given = given.at[at : at + count].set(jnp.broadcast_to(jnp.asarray(value, float), (count,)))
        return given

    return law


def answered(feedback: Law | None, gains: Mapping[str, float] | None, arrays: Tree, names: Places) -> None:
    """A sentence where a law answers for what is no input of the run."""
    if feedback is None:
        if gains:
            raise InputError(f"there are gains ({', '.join(gains)}) and no feedback that uses them")
        return
    now = Motion(arrays, jax.tree.map(jnp.asarray, arrays["state"]), names, jnp.zeros(()))
    answer = feedback(dict(gains or {}), now)
    there = [name for name, _, _ in names.inputs]
    if not isinstance(answer, Mapping):
        raise InputError(f"feedback returned {type(answer).__name__}; it must return {{input: value}}")
    for name in answer:
        if name not in there:
            raise InputError(
                f"feedback answers for {name!r}; inputs of this run are {', '.join(there) or 'none'}: "
                f"export it with u={{{name!r}: 0.0}}"
            )


def ready() -> None:
    """Numbers of 64 bits, or a sentence."""
    if jnp.asarray(1.0).dtype != jnp.float64:
        raise InputError(
            "JAX works with 32 bits, and a step needs 64 to close its joints and keep its energy; "
            'say jax.config.update("jax_enable_x64", True) before the first array is made'
        )


def found(device: str | None) -> Any:
    """A device by its kind."""
    if device is None:
        return jax.devices()[0]
    try:
        return jax.devices(device)[0]
    except RuntimeError:
        there = ", ".join(sorted({d.platform for d in jax.devices()} | {"cpu"}))
        raise InputError(f"there is no device {device!r} here; there is {there}") from None


def whole(model: Model, every: int) -> int:
    """Steps between kept states, which must divide all of them."""
    if not isinstance(every, int) or isinstance(every, bool) or every < 1 or model.steps % every:
        raise InputError(f"every={every!r} must be a number of steps that divides the {model.steps} of this run")
    return every


def times(arrays: Tree, states: Tree, every: int) -> Array:
    """When the states of a run are."""
    return arrays["inputs"]["t_0"] + arrays["inputs"]["h"] * every * jnp.arange(states["work"].shape[0])


def settled(residual: Array, which: str = "the run") -> None:
    """A sentence where Newton's method failed somewhere."""
    if not float(jnp.max(residual)) < 1e4:
        raise InputError(
            f"Newton's method fails in {which}: a residual of {float(jnp.max(residual)):.1e} round-offs is left; "
            "the twin does not halve its steps: try a smaller dt, or simulate(system, …)"
        )
