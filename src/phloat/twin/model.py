"""The arrays of a run with their names, and their files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phloat.errors import InputError

Tree = dict[str, Any]


@dataclass(frozen=True)
class Names:
    """Names: bodies as (name, group, place in it), joints, springs and inputs as (name, first row, rows), inputs as (name, first
    given number, numbers), ports and watched places as (name, body)."""

    bodies: tuple[tuple[str, int, int], ...]
    entries: tuple[tuple[str, int, int], ...]
    inputs: tuple[tuple[str, int, int], ...]
    ports: tuple[tuple[str, str], ...]
    watched: tuple[tuple[str, str], ...]

    def body(self, name: str) -> tuple[int, int]:
        """Group and place of a body."""
        return next((group, at) for other, group, at in self.bodies if other == name)


@dataclass(frozen=True, eq=False)
class Model:
    """Constants, joints, start, inputs of every step: `arrays`, a dict of dicts; and their names."""

    arrays: Tree
    names: Names

    def save(self, path: str | Path) -> None:
        """Writes the model to one .npz file, which `load_model` reads."""
        flat = flattened(self.arrays)
        names = [list(map(list, part)) for part in vars(self.names).values()]
        write_arrays(path, {"names": np.array(json.dumps(names))} | flat)

    @property
    def steps(self) -> int:
        return int(self.arrays["inputs"]["given"].shape[0])


jax.tree_util.register_dataclass(Model, data_fields=["arrays"], meta_fields=["names"])


def write_arrays(path: str | Path, arrays: Tree) -> None:
    """Writes arrays by name to one .npz file; no suffix is added to the path."""
    with open(path, "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **{key: np.asarray(a) for key, a in arrays.items()})


def load_model(path: str | Path) -> Model:
    """Reads a model from a file written by `Model.save`."""
    with np.load(path, allow_pickle=False) as file:
        if "names" not in file:
            raise InputError(f"{path} holds no model; write one with exported(system, …).save(path)")
        names = [tuple(tuple(row) for row in part) for part in json.loads(str(file["names"]))]
        return Model(nested({key: file[key] for key in file.files if key != "names"}), Names(*names))


def flattened(tree: Any) -> dict[str, Any]:
    """The arrays of a tree by path, such as "model/groups/#0/ends/x"."""

    def name(key: Any) -> str:
        return f"#{key.idx}" if isinstance(key, jax.tree_util.SequenceKey) else str(key.key)

    return {"/".join(map(name, path)): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}


def nested(flat: dict[str, Any]) -> Any:
    """The inverse of `flattened`."""
    tree: Tree = {}
    for path, value in flat.items():
        branch = tree
        *front, last = path.split("/")
        for key in front:
            branch = branch.setdefault(key, {})
        branch[last] = value
    return _as_lists(tree)


def _as_lists(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    made = {key: _as_lists(value) for key, value in tree.items()}
    return list(made.values()) if made and all(key.startswith("#") for key in made) else made


# --- families: any member by its parameters, on any device, to be differentiated ------------------------------------------


@dataclass(frozen=True, eq=False)
class Family:
    """Arrays that all members share, and arrays at knots in the ranges of the parameters, to be interpolated."""

    fixed: dict[str, Any]
    varying: dict[str, Any]  # (places, …)
    knots: list[Any]
    box: Any  # (parameters, 2)
    tree: Any
    parameters: tuple[str, ...]
    names: Names

    def arrays(self, values: Any) -> Tree:
        """The arrays of one member; values in the order of `parameters`."""
        weights = jnp.ones(1)
        for value, knots in zip(jnp.asarray(values), self.knots, strict=True):
            weights = jnp.outer(weights, lagrange(value, knots)).ravel()
        interpolated = {key: jnp.tensordot(weights, jnp.asarray(a), 1) for key, a in self.varying.items()}
        leaves = [value for _, value in sorted({**self.fixed, **interpolated}.items())]
        return jax.tree.unflatten(self.tree, leaves)

    def member(self, values: Any) -> Model:
        """One member as a model of its own."""
        return Model(self.arrays(self.inside(values)), self.names)

    def inside(self, values: Any) -> np.ndarray:
        """`values`; raises InputError if one lies outside the ranges."""
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
        """Writes the family to one .npz file, which `load_family` reads."""
        shape = flattened(jax.tree.unflatten(self.tree, range(self.tree.num_leaves)))
        header = {
            "names": [list(map(list, part)) for part in vars(self.names).values()],
            "parameters": self.parameters,
            "tree": shape,
        }
        arrays = {f"fixed/{k}": a for k, a in self.fixed.items()} | {f"varying/{k}": a for k, a in self.varying.items()}
        arrays |= {f"knots/{k}": a for k, a in enumerate(self.knots)} | {"box": self.box}
        write_arrays(path, {"said": np.array(json.dumps(header))} | arrays)


def load_family(path: str | Path) -> Family:
    """Reads a family from a file written by `Family.save`. Raises InputError if the file holds none."""
    with np.load(path, allow_pickle=False) as file:
        if "said" not in file:
            raise InputError(f"{path} holds no family; write one with family(system, …).save(path)")
        header = json.loads(str(file["said"]))
        part = {
            kind: {key.split("/")[1]: file[key] for key in file.files if key.startswith(f"{kind}/")}
            for kind in ("fixed", "varying", "knots")
        }
        names = Names(*(tuple(tuple(row) for row in rows) for rows in header["names"]))
        tree = jax.tree.structure(nested(header["tree"]))
        knots = [part["knots"][str(k)] for k in range(len(part["knots"]))]
        return Family(part["fixed"], part["varying"], knots, file["box"], tree, tuple(header["parameters"]), names)


def lagrange(x: Any, knots: Any) -> Any:
    """The Lagrange polynomials of the knots at x, (knots)."""
    knots = jnp.asarray(knots)
    n = knots.shape[0]
    ratio = (x - knots[None]) / (knots[:, None] - knots[None] + jnp.eye(n))
    return jnp.prod(jnp.where(jnp.eye(n, dtype=bool), 1.0, ratio), axis=1)
