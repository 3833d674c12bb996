"""A family of models, as it travels: any member of it by its parameters, on any device, to be differentiated."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phloat.errors import InputError
from phloat.twin.model import Model, Places, Tree, flattened, nested, written


@dataclass(frozen=True, eq=False)
class Family:
    """Arrays that all members share, and those that are sums over places in the ranges of the parameters."""

    fixed: dict[str, Any]
    varying: dict[str, Any]  # (places, …)
    knots: list[Any]
    box: Any  # (parameters, 2)
    tree: Any
    parameters: tuple[str, ...]
    names: Places

    def arrays(self, values: Any) -> Tree:
        """The arrays of one member; values in the order of `parameters`."""
        weights = jnp.ones(1)
        for value, knots in zip(jnp.asarray(values), self.knots, strict=True):
            weights = jnp.outer(weights, lagrange(value, knots)).ravel()
        made = {key: jnp.tensordot(weights, jnp.asarray(a), 1) for key, a in self.varying.items()}
        leaves = [value for _, value in sorted({**self.fixed, **made}.items())]
        return jax.tree.unflatten(self.tree, leaves)

    def member(self, values: Any) -> Model:
        """One member as a model of its own."""
        return Model(self.arrays(self.inside(values)), self.names)

    def inside(self, values: Any) -> np.ndarray:
        """Values within the ranges, or a sentence."""
        rows = np.atleast_2d(np.asarray(values, dtype=float))
        if rows.shape[-1] != len(self.parameters):
            raise InputError(
                f"values have {rows.shape[-1]} columns; there are {len(self.parameters)} parameters: {', '.join(self.parameters)}"
            )
        wide = 1e-9 * (self.box[:, 1] - self.box[:, 0])
        outside = ~((rows >= self.box[:, 0] - wide) & (rows <= self.box[:, 1] + wide))
        if outside.any():
            sample, k = map(int, np.argwhere(outside)[0])
            low, high = self.box[k]
            raise InputError(
                f"sample {sample}: {self.parameters[k]} = {rows[sample, k]:g} lies outside the range {low:g} to {high:g} "
                "of this family; make it for a wider one"
            )
        return np.asarray(values, dtype=float)

    def save(self, path: str | Path) -> None:
        """One file, which `load_family` reads wherever NumPy and JAX are."""
        shape = flattened(jax.tree.unflatten(self.tree, range(self.tree.num_leaves)))
        said = {
            "names": [list(map(list, part)) for part in vars(self.names).values()],
            "parameters": self.parameters,
            "tree": shape,
        }
        arrays = {f"fixed/{k}": a for k, a in self.fixed.items()} | {f"varying/{k}": a for k, a in self.varying.items()}
        arrays |= {f"knots/{k}": a for k, a in enumerate(self.knots)} | {"box": self.box}
        written(path, {"said": np.array(json.dumps(said))} | arrays)


def load_family(path: str | Path) -> Family:
    """What `Family.save` wrote."""
    with np.load(path, allow_pickle=False) as file:
        if "said" not in file:
            raise InputError(f"{path} holds no family; write one with family(system, …).save(path)")
        said = json.loads(str(file["said"]))
        part = {
            kind: {key.split("/")[1]: file[key] for key in file.files if key.startswith(f"{kind}/")}
            for kind in ("fixed", "varying", "knots")
        }
        names = Places(*(tuple(tuple(row) for row in rows) for rows in said["names"]))
        tree = jax.tree.structure(nested(said["tree"]))
        knots = [part["knots"][str(k)] for k in range(len(part["knots"]))]
        return Family(part["fixed"], part["varying"], knots, file["box"], tree, tuple(said["parameters"]), names)


def lagrange(x: Any, knots: Any) -> Any:
    """The Lagrange polynomials of the knots at x, (knots)."""
    knots = jnp.asarray(knots)
    n = knots.shape[0]
    ratio = (x - knots[None]) / (knots[:, None] - knots[None] + jnp.eye(n))
    return jnp.prod(jnp.where(jnp.eye(n, dtype=bool), 1.0, ratio), axis=1)
