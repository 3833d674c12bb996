"""The equations of a step for a whole system: F of every body, c of every row, at the unknowns x and λ.

Bodies of one shape are stacked in one group, so that the compiled program does not grow with their number; rows are grouped by
function. A model is a dict of arrays (E ends: those of bodies, group by group, body by body, slot by slot; then those of the
ground; M rows: m with unknown λ, then those that are given):

    groups   [ constants {…} (bodies, or 1 where all share them)     ends {x, Phi, Psi} (bodies, slots, …)     turns (1 or 0)
               rows, pulls, slots (bodies, k): the unknown rows that touch a body, which pull of all, and at which slot ]
    frames   (E, 4, 3): place (of the ground) and directions of each end           targets (M): of closed rows
    moves    (12 E + M): indices of frames and targets among (frames, targets, moving numbers of the step)
    rows     {function: A, B, number (k), S, S_q (k, 10, 10) or along (k, 10)}       order (M): of the rows by function
    on_ends  (E, k): which pulls act on an end        mode (M)        laws {…} (compliant rows, …), compliant (…): their numbers
    touching (m, k), crossing (m², k): indices of the contributions of bodies to rows, and to pairs of rows

An index one beyond the end means none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from phloat.twin.body import end_state, free_residual, step_constants
from phloat.twin.model import Tree
from phloat.twin.ports import generalised_force, ground, mean_port, port, velocity_map
from phloat.twin.rows import effort_over_step, law_over_step, row_slopes, unit_pull

CLOSED, COMPLIANT, GIVEN, DROPPED = range(4)


def each_body(f: Callable[..., Any], group: Tree, *stacked: Any) -> Any:
    """f(constants, …) for every body of a group; constants that all bodies share are not repeated."""
    if jax.tree.leaves(group["constants"])[0].shape[0] > 1:
        return jax.vmap(f)(group["constants"], *stacked)
    constants = jax.tree.map(lambda a: a[0], group["constants"])
    if jax.tree.leaves(stacked)[0].shape[0] > 1:
        return jax.vmap(lambda *one: f(constants, *one))(*stacked)
    result = f(constants, *jax.tree.map(lambda a: a[0], stacked))  # without an axis of one
    return jax.tree.map(lambda a: a[None], result)


def sum_rows(values: Array, table: Array) -> Array:
    """Sums of the rows of `values` that each row of `table` lists."""
    padded = jnp.concatenate([values, jnp.zeros((1, *values.shape[1:]), values.dtype)])
    return jnp.sum(padded[table], axis=1)


def uses_directions(group: Tree) -> bool:
    """Whether any row uses the directions of the ports of a group."""
    return bool(group["turns"].shape[0])


# --- ports -----------------------------------------------------------------------------------------------------------


def end_frames(model: Tree, moving: Array) -> tuple[Array, Array]:
    """Frames of all ends and targets of all rows at the end of a step."""
    numbers = jnp.concatenate([model["frames"].ravel(), model["targets"], moving])[model["moves"]]
    size = model["frames"].size
    return numbers[:size].reshape(model["frames"].shape), numbers[size:]


def sliced(model: Tree, ends: Any) -> list[Any]:
    """Arrays over all ends as those of each group, (bodies, slots, …), and of the ground."""

    def part(first: int, shape: tuple[int, ...]) -> Any:
        size = math.prod(shape)
        return jax.tree.map(lambda a: a[first : first + size].reshape(*shape, *a.shape[1:]), ends)

    shapes = [group["ends"]["x"].shape[:2] for group in model["groups"]]
    shapes.append((model["frames"].shape[0] - sum(map(math.prod, shapes)),))
    return [part(sum(map(math.prod, shapes[:k])), shape) for k, shape in enumerate(shapes)]


def joined(parts: list[Any]) -> Any:
    """The inverse of `sliced`."""
    *groups, of_ground = parts
    flat = [jax.tree.map(lambda a: a.reshape(-1, *a.shape[2:]), part) for part in groups]
    return jax.tree.map(lambda *a: jnp.concatenate(a), *flat, of_ground)


def ports_of(model: Tree, states: list[Tree], frames: Array) -> list[Any]:
    """Ports of the ends of each group, and of the ground."""
    *triads, of_ground = sliced(model, frames)
    out = [
        body_ports(group, state, triad[:, :, 1:])
        for group, state, triad in zip(model["groups"], states, triads, strict=True)
    ]
    return [*out, jax.vmap(ground)(of_ground)]


def body_ports(group: Tree, states: Tree, triads: Array) -> Tree:
    """Ports of a group, (bodies, slots, …)."""
    one = jax.vmap(lambda end, state, triad: port(end, state, triad, uses_directions(group)), (0, None, 0))
    return jax.vmap(one)(group["ends"], states, triads)


# --- rows ------------------------------------------------------------------------------------------------------------


def pulls(model: Tree, start: Tree, end: Tree, gaps: Array, *, at_end: bool) -> tuple[Array, Array]:
    """Pulls of all rows in the mean or at the end of a step, (2 M, 1 or 5, 3), and their gaps at its end, (M)."""
    mean, parts = mean_port(start, end), 5 if any(map(uses_directions, model["groups"])) else 1
    unit, gaps_end = [], []
    for function, rows in sorted(model["rows"].items()):

        def one(row: Tree, gap: Array, function: str = function) -> tuple[Array, Array]:
            (A_0, A_1, A), (B_0, B_1, B) = (
                [jax.tree.map(lambda a, e=e: a[e], ports) for ports in (start, end, mean)] for e in (row["A"], row["B"])
            )
            in_mean, in_end, gap_end = row_slopes(function, row, (A_0, A_1, B_0, B_1), gap)
            port_pair = (A_1, B_1, in_end) if at_end else (A, B, in_mean)
            return unit_pull(function, row, *port_pair), gap_end

        unit_of_function, gap_end = jax.vmap(one)(rows, gaps[rows["number"]])
        unit.append(unit_of_function)
        gaps_end.append(gap_end)
    all_pulls = jnp.concatenate(unit)[model["order"]][:, :, :parts]
    return all_pulls.reshape(-1, *all_pulls.shape[2:]), jnp.concatenate(gaps_end)[model["order"]]


def velocity_row_gaps(model: Tree, unit: Array, velocities: Array, gaps: Array, gaps_end: Array, h: Array) -> Any:
    """Gaps of all rows at both ends of a step; laws of rows without a gap get one of their rate, zero in the middle of the step.

    `unit` (2 M, 1 or 5, 3) are the mean pulls of all rows, `velocities` (E, 1 or 5, 3) those of all ends.
    """
    rows = model["velocity_rows"]
    n, A, B = rows["number"], rows["A"], rows["B"]
    half = 0.5 * h * jnp.sum(unit[2 * n] * velocities[A] + unit[2 * n + 1] * velocities[B], axis=(1, 2))
    return gaps.at[n].set(-half), gaps_end.at[n].set(half)


def row_equations(model: Tree, gaps: Array, gaps_end: Array, targets: Array, lam: Array, h: Array) -> Tree:
    """c of the unknown rows, its derivative `by_gap` (times h) and `by_lam`, (m)."""
    m = lam.shape[0]
    mode = model["mode"][:m]
    c, by_gap, by_lam = (gaps_end[:m] - targets[:m]) / h, jnp.ones(m), jnp.zeros(m)
    dropped = mode == DROPPED
    c, by_gap, by_lam = jnp.where(dropped, lam, c), jnp.where(dropped, 0.0, by_gap), jnp.where(dropped, 1.0, by_lam)
    if (k := model["compliant"]).shape[0]:
        force, slope = jax.vmap(effort_over_step, (0, 0, 0, None))(model["laws"], gaps[k], gaps_end[k], h)
        for name, laws in model.get("law_functions", {}).items():
            law_rows = k[laws["rows"]]
            effort = jax.vmap(lambda n, a, b, name=name: law_over_step(name, n, a, b, h))(
                laws["numbers"], gaps[law_rows], gaps_end[law_rows]
            )
            force, slope = force.at[laws["rows"]].add(effort[0]), slope.at[laws["rows"]].add(effort[1])
        c, by_gap, by_lam = c.at[k].set(lam[k] + force), by_gap.at[k].set(slope), by_lam.at[k].set(1.0)
    return {"c": c, "by_gap": by_gap, "by_lam": by_lam}


# --- all of it -------------------------------------------------------------------------------------------------------


def step_start(model: Tree, state: Tree) -> Tree:
    """Constants of a step: ports, momenta and membrane stresses at its start."""
    constants = [each_body(step_constants, g, s) for g, s in zip(model["groups"], state["bodies"], strict=True)]
    return {"ports": ports_of(model, state["bodies"], state["frames"]), "bodies": constants}


def equations(model: Tree, state: Tree, before: Tree, x: list[Array], lam: Array, inputs: Tree) -> Tree:
    """F [(bodies, size)] and c (m); also forces on ends, states, ports and gaps at the end, and the power of all ports."""
    h, groups = inputs["h"], model["groups"]
    ends = [
        each_body(lambda _, s, x: end_state(s, x, h), g, s, x)
        for g, s, x in zip(groups, state["bodies"], x, strict=True)
    ]
    frames, targets = end_frames(model, inputs["moving"])
    after = ports_of(model, [end for end, _ in ends], frames)
    forces_on, gaps = pulls(model, joined(before["ports"]), joined(after), state["gaps"], at_end=False)
    every = jnp.concatenate([lam, inputs["given"]])
    forces = sliced(model, sum_rows(forces_on * jnp.repeat(every, 2)[:, None, None], model["on_ends"]))
    F, power = [], jnp.zeros(())
    for k, g in enumerate(groups):
        on_bodies = port_forces(g, before["ports"][k], after[k], ends[k][1], forces[k])
        free = each_body(
            lambda b, s, constants, x: free_residual(b, s, constants, x, model["gravity"], h),
            *(g, state["bodies"][k], before["bodies"][k], x[k]),
        )
        F.append(free - on_bodies)
        power = power + jnp.sum(x[k] * on_bodies)
    out = {"F": F, "power": power, "forces": forces, "ends": ends, "ports": after, "frames": frames, "gaps": gaps}
    law_gaps = state["gaps"], gaps
    if "velocity_rows" in model:
        velocities = port_velocities(model, before["ports"], after, [Q for _, Q in ends], x)
        law_gaps = velocity_row_gaps(model, forces_on, velocities, *law_gaps, h)
    return out | row_equations(model, *law_gaps, targets, lam, h)


def port_forces(group: Tree, old: Tree, new: Tree, Q: Array, forces: Array) -> Array:
    """Generalised forces of all ports of each body, (bodies, size)."""
    one = jax.vmap(lambda e, p, Q, f: generalised_force(e, p, Q, Q, f, uses_directions(group)), (0, 0, None, 0))
    return jnp.sum(jax.vmap(one)(group["ends"], mean_port(old, new), Q, forces), axis=1)


def port_velocities(model: Tree, old: list[Tree], new: list[Tree], Q: list[Array], x: list[Array]) -> Array:
    """Mean velocities over a step of all ends, (E, 1 or 5, 3); of the ground zero."""
    parts, out = 5 if any(map(uses_directions, model["groups"])) else 1, []
    for g, a, b, Q_g, x_g in zip(model["groups"], old, new, Q, x, strict=False):
        v = jnp.sum(velocity_maps(g, mean_port(a, b), Q_g, Q_g) * x_g[:, None, None, None, :], axis=-1)
        out.append(jnp.pad(v, ((0, 0), (0, 0), (0, parts - v.shape[2]), (0, 0))))
    return joined([*out, jnp.zeros((new[-1]["c"].shape[0], parts, 3))])


def velocity_maps(group: Tree, ports: Tree, turn: Array, bend: Array) -> Array:
    """Velocity maps of ports; mean ports with (Q, Q) give the discrete rows: (bodies, slots, 1 or 5, 3, size)."""
    one = jax.vmap(lambda e, p, Q, S: velocity_map(e, p, Q, S, uses_directions(group)), (0, 0, None, None))
    return jax.vmap(one)(group["ends"], ports, turn, bend)


def end_maps(group: Tree, new: Tree, A: Array, Q: Array, omega: Array, h: Array) -> Array:
    """The derivative of ports at the end of a step by the unknowns, over h."""
    kappa = 1.0 / (1.0 + 0.25 * h * h * jnp.sum(omega * omega, axis=1))
    return velocity_maps(group, new, kappa[:, None, None] * Q, A)
