"""Rates of rows at a state: how fast angles, slides and lengths change."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from phloat.twin.body import Tree, velocities
from phloat.twin.equations import end_maps, joined, ports_of, pulls, sliced


def row_rates(model: Tree, state: Tree) -> Array:
    """ġ of all rows, (M): pulls on ports times the rates of these."""
    ports = ports_of(model, state["bodies"], state["frames"])
    whole = joined(ports)
    unit, _ = pulls(model, whole, whole, state["gaps"], at_end=True)
    *_, of_ground = sliced(model, jnp.zeros((model["frames"].shape[0], unit.shape[1], 3)))
    moving = []
    for group, there, bodies in zip(model["groups"], ports, state["bodies"], strict=False):
        still = jnp.zeros_like(bodies["omega"])
        T = end_maps(group, there, bodies["A"], bodies["A"], still, jnp.zeros(()))
        rates = jnp.einsum("beqik,bk->beqi", T, jax.vmap(velocities)(bodies))
        moving.append(jnp.pad(rates, [(0, 0), (0, 0), (0, unit.shape[1] - rates.shape[2]), (0, 0)]))
    of_ends = joined([*moving, of_ground])
    ends = jnp.zeros(model["mode"].shape[0] * 2, int)
    for rows in model["rows"].values():
        ends = ends.at[2 * rows["number"]].set(rows["A"]).at[2 * rows["number"] + 1].set(rows["B"])
    return jnp.sum((unit * of_ends[ends]).reshape(-1, 2 * unit.shape[1] * 3), axis=1)
