"""Runs of the twin: steps in sequence with recorded states, in bounded memory when differentiated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from phloat.errors import InputError, whole_number
from phloat.twin.body import damping_power, end_state
from phloat.twin.equations import each_body, end_frames, equations, joined, ports_of, pulls, step_start
from phloat.twin.model import Model, Names, Tree
from phloat.twin.motion import Motion
from phloat.twin.solve import RENEWALS, differentiable, solved_step, tangents

FAILED = 1e4  # a residual of so many round-offs is no solution
Feedback = Callable[[Tree, Array, Array], Array]


def predict(state: Tree) -> list[Array]:
    """The unknowns extrapolated from earlier steps: x_k + x_{k−1} − x_{k−2}, exact for linear growth and for alternation."""
    old, older, oldest = state["history"]
    count = state["count"]

    def guess(a: Array, b: Array, c: Array) -> Array:
        return jnp.where(count >= 3, a + b - c, jnp.where(count == 2, 2.0 * a - b, a))

    return jax.tree.map(guess, old, older, oldest)


def take_step(
    model: Tree,
    state: Tree,
    inputs: Tree,
    *,
    gradients: bool = False,
    known_tangents: list[Tree] | None = None,
    renewals: int = RENEWALS,
) -> tuple[Tree, Tree]:
    """The state after a step, and {"iterations", "residual" (round-offs)} of Newton's method."""
    fixed = lax.stop_gradient((model, state, inputs)) if gradients else (model, state, inputs)
    solution = solved_step(*fixed, predict(fixed[1]), fixed[1]["lam"], known_tangents, renewals=renewals)
    report = {"iterations": solution["k"], "residual": solution["size"]}
    if gradients:
        x, lam = differentiable((model, state, inputs), *lax.stop_gradient((solution["x"], solution["lam"])))
        solution = {"x": x, "lam": lam, "power": solution["power"], "gaps": gaps_after(model, state, inputs, x)}
    return accept_step(model, state, inputs, solution), report


def accept_step(model: Tree, state: Tree, inputs: Tree, solution: Tree) -> Tree:
    """The state at the end of a step, with the work of ports and the loss by damping added up."""
    h, loss, bodies = inputs["h"], state["loss"], []
    for group, start, x in zip(model["groups"], state["bodies"], solution["x"], strict=True):
        v = x[:, start["V"].shape[1] + start["omega"].shape[1] :]
        loss = loss + h * jnp.sum(each_body(lambda b, s, v: damping_power(b, s, v, h), group, start, v))
        bodies.append(each_body(lambda _, s, x: end_state(s, x, h)[0], group, start, x))
    return {
        "bodies": bodies,
        "frames": end_frames(model, inputs["moving"])[0],
        "gaps": solution["gaps"],
        "lam": solution["lam"],
        "history": [lax.stop_gradient(solution["x"]), *state["history"][:2]],
        "count": jnp.minimum(state["count"] + 1, 3),
        "loss": loss,
        "work": state["work"] + h * solution["power"],
    }


def gaps_after(model: Tree, state: Tree, inputs: Tree, x: list[Array]) -> Array:
    """Gaps of the joints at the end of a step with the unknowns x, (rows)."""
    ends = [
        each_body(lambda _, s, x: end_state(s, x, inputs["h"])[0], g, s, x_g)
        for g, s, x_g in zip(model["groups"], state["bodies"], x, strict=True)
    ]
    before, after = step_start(model, state)["ports"], ports_of(model, ends, end_frames(model, inputs["moving"])[0])
    return pulls(model, joined(before), joined(after), state["gaps"], at_end=True)[1]


def recorded(state: Tree) -> Tree:
    """The part of a state that a run records."""
    return {key: state[key] for key in ("bodies", "frames", "gaps", "lam", "work", "loss")}


def marched(
    model: Tree,
    state: Tree,
    inputs: Tree,
    *,
    every: int = 1,
    renew: int = 1,
    gradients: bool = False,
    feedback: Feedback | None = None,
) -> tuple[Tree, Tree]:
    """The last state, and the states recorded after every `every` steps; `inputs` has given and moving, (steps, …), h and t_0.

    `renew` steps share the tangents of bodies; `feedback(state, t, given)` changes the given numbers of a step. To differentiate,
    stretches of steps are computed again in the backward pass, so that about √steps states are in memory.
    """
    steps = inputs["given"].shape[0]
    records, renew = steps // every, math.gcd(renew, every) if not gradients else 1
    stretch = max(k for k in range(1, int(records**0.5) + 1) if records % k == 0) if gradients else 1

    def single_step(state: Tree, u: Tree, tangents: list[Tree] | None = None) -> tuple[Tree, Tree]:
        if feedback is not None:
            u = u | {"given": feedback(state, inputs["t_0"] + inputs["h"] * u["step"][0], u["given"])}
        return take_step(model, state, u | {"h": inputs["h"]}, gradients=gradients, known_tangents=tangents)

    def renewal(state: Tree, u: Tree) -> tuple[Tree, Tree]:
        if renew == 1:
            return single_step(state, jax.tree.map(lambda a: a[0], u))
        bodies = opening_tangents(model, state, {"h": inputs["h"]} | jax.tree.map(lambda a: a[0], u))
        state, report = lax.scan(lambda s, u: single_step(s, u, bodies), state, u)
        return state, jax.tree.map(jnp.max, report)

    def record(state: Tree, u: Tree) -> tuple[Tree, Tree]:
        state, report = lax.scan(renewal, state, u)
        return state, recorded(state) | jax.tree.map(jnp.max, report)

    def stretch_of_records(state: Tree, u: Tree) -> tuple[Tree, Tree]:
        return lax.scan(jax.checkpoint(record) if gradients and every > 1 else record, state, u)

    shape = (stretch, records // stretch, every // renew, renew)
    series = {key: inputs[key].reshape(*shape, inputs[key].shape[1]) for key in ("given", "moving")}
    series["step"] = jnp.arange(steps).reshape(*shape, 1)
    end, out = lax.scan(jax.checkpoint(stretch_of_records) if gradients else stretch_of_records, state, series)
    return end, jax.tree.map(lambda a: a.reshape(records, *a.shape[2:]), out)


def opening_tangents(model: Tree, state: Tree, inputs: Tree) -> list[Tree]:
    """Tangents of bodies at the guess for a step."""
    before, x = step_start(model, state), predict(state)
    at = equations(model, state, before, x, state["lam"], inputs)
    return tangents(model, state, before, x, at, inputs)


# --- with names, feedback and devices -----------------------------------------------------------------------------------


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
    """The motion of an exported model: its start and the states after every `every` steps.

    `feedback(gains, now)` returns {input: value} for each step, from the motion at its start.
    """
    require_64_bits()
    arrays = jax.device_put(model.arrays, find_device(device))
    check_feedback(feedback, gains, arrays, model.names)
    run = jax.jit(
        partial(motion_of, names=model.names, every=check_every(model, every), renew=renew, feedback=feedback)
    )
    states, residual = run(arrays, dict(gains or {}))
    require_converged(residual)
    return Motion(arrays, states, model.names, state_times(arrays, states, every))


def motion_of(
    arrays: Tree,
    gains: Mapping[str, Any],
    *,
    names: Names,
    every: int = 1,
    renew: int = 1,
    feedback: Law | None = None,
    gradients: bool = False,
) -> tuple[Tree, Array]:
    """The states of a run, stacked, and the largest residual in round-offs; a pure function of the arrays and gains."""
    law = None if feedback is None else feedback_inputs(feedback, gains, arrays, names)
    model, state, inputs = arrays["model"], arrays["state"], arrays["inputs"]
    _, out = marched(model, state, inputs, every=every, renew=renew, gradients=gradients, feedback=law)
    start = recorded(arrays["state"])
    states = {key: jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), start[key], out[key]) for key in start}
    return states, jnp.max(out["residual"])


def feedback_inputs(feedback: Law, gains: Mapping[str, Any], arrays: Tree, names: Names) -> Feedback:
    """A feedback function of the user as a function that sets the inputs of a step, (state, t, inputs) → inputs."""

    def law(state: Tree, t: Array, given: Array) -> Array:
        values = feedback(gains, Motion(arrays, state, names, t))
        for name, value in values.items():
            first_input, count = next((first, count) for other, first, count in names.inputs if other == name)
            given = given.at[first_input : first_input + count].set(
                jnp.broadcast_to(jnp.asarray(value, float), (count,))
            )
        return given

    return law


def check_feedback(feedback: Law | None, gains: Mapping[str, float] | None, arrays: Tree, names: Names) -> None:
    """Raises InputError unless `feedback` returns a mapping whose keys are inputs of the run."""
    if feedback is None:
        if gains:
            raise InputError(f"there are gains ({', '.join(gains)}) and no feedback that uses them; give feedback=…")
        return
    motion = Motion(arrays, jax.tree.map(jnp.asarray, arrays["state"]), names, jnp.zeros(()))
    values = feedback(dict(gains or {}), motion)
    input_names = [name for name, _, _ in names.inputs]
    if not isinstance(values, Mapping):
        raise InputError(f"feedback returned {type(values).__name__}; it must return {{input: value}}")
    for name in values:
        if name not in input_names:
            raise InputError(
                f"feedback returned a value for {name!r}; inputs of this run are {', '.join(input_names) or 'none'}: "
                f"export it with u={{{name!r}: 0.0}}"
            )


def require_64_bits() -> None:
    """Raises InputError unless JAX computes in 64 bits."""
    if jnp.asarray(1.0).dtype != jnp.float64:
        raise InputError(
            "JAX works with 32 bits, and a step needs 64 to close its joints and keep its energy; "
            'say jax.config.update("jax_enable_x64", True) before the first array is made'
        )


def find_device(device: str | None) -> Any:
    """The first device of a kind ("cpu", "gpu" …), by default that of JAX; raises InputError if there is none."""
    if device is None:
        return jax.devices()[0]
    try:
        return jax.devices(device)[0]
    except RuntimeError:
        kinds = ", ".join(sorted({d.platform for d in jax.devices()} | {"cpu"}))
        raise InputError(f"there is no device {device!r} here; there is {kinds}") from None


def check_every(model: Model, every: int) -> int:
    """`every`, the number of steps between recorded states; raises InputError unless it divides the number of steps."""
    if model.steps % whole_number("every", every, 1):
        raise InputError(f"every={every!r} must be a number of steps that divides the {model.steps} of this run")
    return every


def state_times(arrays: Tree, states: Tree, every: int) -> Array:
    """Times of the recorded states of a run (s)."""
    return arrays["inputs"]["t_0"] + arrays["inputs"]["h"] * every * jnp.arange(states["work"].shape[0])


def require_converged(residual: Array, label: str = "the run") -> None:
    """Raises InputError if Newton's method failed in any step."""
    if not float(jnp.max(residual)) < FAILED:
        raise InputError(
            f"Newton's method fails in {label}: a residual of {float(jnp.max(residual)):.1e} round-offs is left; "
            "the twin does not halve its steps: try a smaller dt, or simulate(system, …)"
        )
