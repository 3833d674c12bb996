"""A run: steps one after the other, with what is wanted of them kept; its memory stays bounded when it is differentiated."""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array, lax

from phloat.twin import body as of_body
from phloat.twin.body import Tree
from phloat.twin.equations import arrived, each, equations, joined, opened, ports_of, pulls
from phloat.twin.rows import law_energy, potential
from phloat.twin.solve import differentiable, solved, tangents

Feedback = Callable[[Tree, Array, Array], Array]


def predicted(state: Tree) -> list[Array]:
    """The unknowns from those of earlier steps: x_k + x_{k−1} − x_{k−2}, right for what grows evenly and for what alternates."""
    old, older, oldest = state["history"]
    count = state["count"]

    def guess(a: Array, b: Array, c: Array) -> Array:
        return jnp.where(count >= 3, a + b - c, jnp.where(count == 2, 2.0 * a - b, a))

    return jax.tree.map(guess, old, older, oldest)


def stepped(
    model: Tree, state: Tree, inputs: Tree, *, gradients: bool = False, kept: list[Tree] | None = None
) -> tuple[Tree, Tree]:
    """The state after a step, and how it went."""
    fixed = lax.stop_gradient((model, state, inputs)) if gradients else (model, state, inputs)
    done = solved(*fixed, predicted(fixed[1]), fixed[1]["lam"], kept)
    how = {"iterations": done["k"], "residual": done["size"]}
    if gradients:
        x, lam = differentiable((model, state, inputs), *lax.stop_gradient((done["x"], done["lam"])))
        done = {"x": x, "lam": lam, "power": done["power"], "gaps": gaps_after(model, state, inputs, x)}
    return advanced(model, state, inputs, done), how


def advanced(model: Tree, state: Tree, inputs: Tree, done: Tree) -> Tree:
    """The end of a step as the start of the next; what ports did and damping took is counted."""
    h, loss, bodies = inputs["h"], state["loss"], []
    for group, start, x in zip(model["groups"], state["bodies"], done["x"], strict=True):
        v = x[:, start["V"].shape[1] + start["omega"].shape[1] :]
        loss = loss + h * jnp.sum(each(lambda b, s, v: of_body.loss(b, s, v, h), group, start, v))
        bodies.append(each(lambda _, s, x: of_body.moved(s, x, h)[0], group, start, x))
    return {
        "bodies": bodies,
        "frames": arrived(model, inputs["moving"])[0],
        "gaps": done["gaps"],
        "lam": done["lam"],
        "history": [lax.stop_gradient(done["x"]), *state["history"][:2]],
        "count": jnp.minimum(state["count"] + 1, 3),
        "loss": loss,
        "work": state["work"] + h * done["power"],
    }


def gaps_after(model: Tree, state: Tree, inputs: Tree, x: list[Array]) -> Array:
    """Gaps at the end of a step."""
    ends = [
        each(lambda _, s, x: of_body.moved(s, x, inputs["h"])[0], g, s, x_g)
        for g, s, x_g in zip(model["groups"], state["bodies"], x, strict=True)
    ]
    before, after = opened(model, state)["ports"], ports_of(model, ends, arrived(model, inputs["moving"])[0])
    return pulls(model, joined(before), joined(after), state["gaps"], at_end=True)[1]


def energies(model: Tree, state: Tree) -> Tree:
    """Kinetic, elastic and potential energy of all bodies, and that of springs."""
    three = sum(
        (
            jnp.sum(each(lambda b, s: of_body.energy(b, s, model["gravity"]), group, bodies), axis=0)
            for group, bodies in zip(model["groups"], state["bodies"], strict=True)
        ),
        jnp.zeros(3),
    )
    springs = jnp.zeros(())
    if (k := model["compliant"]).shape[0]:
        springs = jnp.sum(jax.vmap(potential)(model["laws"], state["gaps"][k]))
        for name, laws in model.get("law_functions", {}).items():
            gaps = state["gaps"][k[laws["rows"]]]
            springs += jnp.sum(jax.vmap(lambda n, x, name=name: law_energy(name, n, x))(laws["numbers"], gaps))
    return {"kinetic": three[0], "elastic": three[1], "potential": three[2], "springs": springs}


def kept_of(state: Tree) -> Tree:
    """What a run keeps of a state."""
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
    """The last state, and what is kept after every so many steps, stacked; `inputs` has given and moving, (steps, …), h and t_0.

    `renew` steps share the tangents of bodies; `feedback(state, t, given)` changes the given numbers of a step. To differentiate,
    stretches of steps are run again when their derivatives are due: some √steps states are in memory at a time.
    """
    steps = inputs["given"].shape[0]
    kept, renew = steps // every, math.gcd(renew, every) if not gradients else 1
    stretch = max(k for k in range(1, int(kept**0.5) + 1) if kept % k == 0) if gradients else 1

    def one(state: Tree, u: Tree, tangents: list[Tree] | None = None) -> tuple[Tree, Tree]:
        if feedback is not None:
            u = u | {"given": feedback(state, inputs["t_0"] + inputs["h"] * u["step"][0], u["given"])}
        return stepped(model, state, u | {"h": inputs["h"]}, gradients=gradients, kept=tangents)

    def some(state: Tree, u: Tree) -> tuple[Tree, Tree]:
        if renew == 1:
            return one(state, jax.tree.map(lambda a: a[0], u))
        bodies = opening_tangents(model, state, {"h": inputs["h"]} | jax.tree.map(lambda a: a[0], u))
        state, how = lax.scan(lambda s, u: one(s, u, bodies), state, u)
        return state, jax.tree.map(jnp.max, how)

    def several(state: Tree, u: Tree) -> tuple[Tree, Tree]:
        state, how = lax.scan(some, state, u)
        return state, kept_of(state) | jax.tree.map(jnp.max, how)

    def stretched(state: Tree, u: Tree) -> tuple[Tree, Tree]:
        return lax.scan(jax.checkpoint(several) if gradients and every > 1 else several, state, u)

    shape = (stretch, kept // stretch, every // renew, renew)
    series = {key: inputs[key].reshape(*shape, inputs[key].shape[1]) for key in ("given", "moving")}
    series["step"] = jnp.arange(steps).reshape(*shape, 1)
    end, out = lax.scan(jax.checkpoint(stretched) if gradients else stretched, state, series)
    return end, jax.tree.map(lambda a: a.reshape(kept, *a.shape[2:]), out)


def opening_tangents(model: Tree, state: Tree, inputs: Tree) -> list[Tree]:
    """Tangents of bodies at the guess for a step."""
    before, x = opened(model, state), predicted(state)
    at = equations(model, state, before, x, state["lam"], inputs)
    return tangents(model, state, before, x, at, inputs)
