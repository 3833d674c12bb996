"""Steps of many samples in one compiled function: on a GPU each thread of it computes a sample.

The step of `run.take_step` is traced once (`scalars.Graph`) for a family. Numbers that all samples share become constants of the
program, numbers that stay as they are in every step are no part of the state, and the rest is one array with a row for each number
and a column for each sample. Inverse tangents of bodies come from outside, as arrays, and serve several steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from phloat.twin.compiled import function, source
from phloat.twin.model import Family, Tree
from phloat.twin.moves import Node, filled
from phloat.twin.run import opening_tangents, recorded, take_step
from phloat.twin.scalars import Graph, Traced, same

ARRAYS = "model", "state", "series", "tangents"  # what a step reads
DTYPES = {"f": np.dtype(float), "i": np.dtype(int)}


class Steps:
    """The step of all members of a family, and how their states are stored: row by row, (numbers, samples)."""

    def __init__(self, family: Family, feedback: Callable | None = None) -> None:
        self.graph = Graph()
        leaves, self.varying = marked_leaves(self.graph, family)
        arrays = jax.tree.unflatten(family.tree, leaves)
        self.model, self.start, self.inputs = arrays["model"], arrays["state"], arrays["inputs"]
        self.tangents = self._unknown(_shapes_of_tangents(family))
        self.series = {k: self._unknown(np.zeros(self.inputs[k].shape[1:])) for k in ("given", "moving")}
        self.series["step"] = self._unknown(np.zeros(1))
        self.feedback = feedback
        leaves, self.tree = jax.tree.flatten(self.start)
        self.kinds = ["i" if np.asarray(a).dtype.kind == "i" else "f" for a in leaves]
        self.leaves = [np.asarray(a, dtype=object) for a in leaves]
        self._trace()

    def _unknown(self, tree: Any) -> Any:
        """A tree of inputs with the shapes of another."""
        return jax.tree.map(lambda a: filled([self.graph.input() for _ in range(int(np.prod(a.shape)))], a.shape), tree)

    def _step(self, model: Tree, state: Tree, series: Tree, tangents: list[Tree]) -> tuple[Tree, Array]:
        inputs = series | {"h": self.inputs["h"]}
        if self.feedback is not None:
            t = self.inputs["t_0"] + self.inputs["h"] * series["step"][0]
            inputs["given"] = self.feedback(state, t, series["given"])
        new, report = take_step(model, state, inputs, known_tangents=tangents, renewals=0)
        return new, report["residual"]

    def _trace(self) -> None:
        """Finds the numbers of the state that change in some step, and the graph of a step."""
        changing = [np.array([isinstance(x, Node) for x in a.ravel()], dtype=bool) for a in self.leaves]
        more, traced = True, Traced.of(self._step, self.model, self.start, self.series, self.tangents)
        while more:
            before = [self._entries(*leaf) for leaf in zip(self.leaves, changing, self.kinds, strict=True)]
            state = jax.tree.unflatten(self.tree, before)
            after, residual = self.graph.of(traced, self.model, state, self.series, self.tangents)
            after_leaves = jax.tree.leaves(after)
            pairs = [zip(a.ravel(), b.ravel(), strict=True) for a, b in zip(before, after_leaves, strict=True)]
            news = [
                ~c & np.array([not same(a, b) for a, b in pair], dtype=bool)
                for c, pair in zip(changing, pairs, strict=True)
            ]
            more = any(new.any() for new in news)
            changing = [c | new for c, new in zip(changing, news, strict=True)]
        self.changing = changing
        self.before = self._chosen(before)
        self.after = [*self._chosen(after_leaves), residual.item()]

    def _entries(self, leaf: np.ndarray, changing: np.ndarray, kind: str) -> np.ndarray:
        return filled(
            [self.graph.input(kind) if c else x for c, x in zip(changing, leaf.ravel(), strict=True)], leaf.shape
        )

    def _chosen(self, leaves: list[Any]) -> list[Any]:
        """The entries of leaves that change, one after the other."""
        return [x for a, c in zip(leaves, self.changing, strict=True) for x in a.ravel()[c]]

    # --- arrays (numbers, samples) and trees (samples, …)

    def packed(self, state: Tree) -> Array:
        """The numbers of a state that change, (numbers, samples); whole numbers are exact among the others."""
        leaves = [by_sample(a) for a in jax.tree.leaves(state)]
        parts = [a[:, np.flatnonzero(c)].T.astype(float) for a, c in zip(leaves, self.changing, strict=True)]
        return jnp.concatenate(parts)

    def unpacked(self, rows: Array) -> Tree:
        """A state with a first axis of samples."""
        leaves, first = [], 0
        for leaf, changing, kind in zip(self.leaves, self.changing, self.kinds, strict=True):
            constant = [0 if isinstance(x, Node) else x for x in leaf.ravel()]
            count = int(changing.sum())
            out = jnp.broadcast_to(jnp.asarray(constant, DTYPES[kind]), (rows.shape[1], leaf.size))
            out = out.at[:, np.flatnonzero(changing)].set(rows[first : first + count].T.astype(DTYPES[kind]))
            leaves.append(out.reshape(rows.shape[1], *leaf.shape))
            first += count
        return jax.tree.unflatten(self.tree, leaves)

    def rows_of(self, arrays: Tree, family: Family) -> Array:
        """The entries of a family's arrays that vary, (numbers, samples); `arrays` have a first axis of samples."""
        leaves = dict(zip(sorted({**family.fixed, **family.varying}), jax.tree.leaves(arrays), strict=True))
        return jnp.stack([by_sample(leaves[key])[:, k] for key, k in self.varying])

    def reader(self) -> Callable[..., str]:
        """The expression of each input of the graph, (number, offset): an entry of one of the arrays of `ARRAYS`."""

        def flat(tree: Tree) -> list[Node]:
            return [x for a in jax.tree.leaves(tree) for x in a.ravel()]

        groups = (
            self.graph.inputs[: len(self.varying)],
            self.before,
            flat(self.series),
            flat(self.tangents),
        )
        places = {
            x.args[0]: (name, row, x.dtype)
            for name, nodes in zip(ARRAYS, groups, strict=True)
            for row, x in enumerate(nodes)
        }

        def read(k: int, offset: str = "") -> str:
            name, row, kind = places[k]
            entry = f"{name}[{row}]" if name == "series" else f"{name}[({row}{offset}) * n + s]"
            return f"(int){entry}" if kind == "i" else entry

        return read


def marked_leaves(graph: Graph, family: Family) -> tuple[list[np.ndarray], list[tuple[str, int]]]:
    """The leaves of a family, with inputs where members differ, and (leaf, entry) of each of these."""
    leaves, places = [], []
    for key, a in sorted({**family.fixed, **family.varying}.items()):
        if key in family.fixed:
            leaves.append(np.asarray(a))
            continue
        leaf = np.asarray(a[0]).astype(object).ravel()
        for k in np.flatnonzero(np.any(a != a[:1], axis=0)):
            leaf[k] = graph.input()
            places.append((key, int(k)))
        leaves.append(leaf.reshape(np.shape(a)[1:]))
    return leaves, places


def by_sample(a: Array) -> Array:
    """An array as (samples, numbers)."""
    return a.reshape(a.shape[0], a.size // a.shape[0])


def _shapes_of_tangents(family: Family) -> list[Tree]:
    def opening() -> list[Tree]:
        arrays = jax.tree.map(jnp.asarray, family.arrays(family.box.mean(axis=1)))
        inputs = {key: arrays["inputs"][key][0] for key in ("given", "moving")} | {"h": arrays["inputs"]["h"]}
        return opening_tangents(arrays["model"], arrays["state"], inputs)

    return jax.eval_shape(opening)


def compiled_step(steps: Steps, platform: str) -> Callable[..., Array]:
    """(model, state, series, tangents) → numbers of the state and residual after a step, compiled for a platform."""
    return function(source(steps.after, ARRAYS, steps.reader()), len(steps.after), platform)


def march(family: Family, steps: Steps, step: Callable, values: Array, *, every: int, renew: int) -> tuple[Tree, Array]:
    """States of all samples after every `every` steps (samples, records, …), and the largest residual of each sample."""
    arrays = jax.vmap(family.arrays)(values)
    inputs = steps.inputs
    count = inputs["given"].shape[0]
    renew = math.gcd(renew, every)
    model, rows = steps.rows_of(arrays, family), steps.packed(arrays["state"])
    opening = jax.vmap(opening_tangents, in_axes=(0, 0, None))
    series = {key: jnp.asarray(inputs[key]) for key in ("given", "moving")} | {
        "step": jnp.arange(float(count))[:, None]
    }
    series = {key: a.reshape(count // renew, renew, a.shape[1]) for key, a in series.items()}

    def renewal(carry: tuple[Array, Array], u: Tree) -> tuple[tuple[Array, Array], None]:
        first = jax.tree.map(lambda a: a[0], u) | {"h": inputs["h"]}
        bodies = opening(
            arrays["model"], steps.unpacked(carry[0]), {key: first[key] for key in ("given", "moving", "h")}
        )
        tangents = jnp.concatenate([by_sample(a).T for a in jax.tree.leaves(bodies)])
        numbers = jnp.concatenate([u[key] for key in sorted(u)], axis=1)

        def one(carry: tuple[Array, Array], row: Array) -> tuple[tuple[Array, Array], None]:
            out = step(model, carry[0], row, tangents)
            return (out[:-1], jnp.maximum(carry[1], jnp.where(jnp.isnan(out[-1]), jnp.inf, out[-1]))), None

        return lax.scan(one, carry, numbers)

    def record(carry: tuple[Array, Array], u: Tree) -> tuple[tuple[Array, Array], Tree]:
        carry, _ = lax.scan(renewal, carry, u)
        return carry, recorded(steps.unpacked(carry[0]))

    series = {key: a.reshape(count // every, every // renew, *a.shape[1:]) for key, a in series.items()}
    (_, residual), out = lax.scan(record, (rows, jnp.zeros(rows.shape[1])), series)
    start = recorded(arrays["state"])
    joined = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]).swapaxes(0, 1), start, out)
    return joined, residual
