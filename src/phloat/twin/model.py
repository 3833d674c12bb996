"""The arrays of a run and the names in them: what is written on one machine and read on another."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from phloat.errors import InputError

Tree = dict[str, Any]


@dataclass(frozen=True)
class Places:
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
    names: Places

    def save(self, path: str | Path) -> None:
        """One file, which `load_model` reads wherever NumPy is."""
        flat = flattened(self.arrays)
        names = [list(map(list, part)) for part in vars(self.names).values()]
        written(path, {"names": np.array(json.dumps(names))} | flat)

    @property
    def steps(self) -> int:
        return int(self.arrays["inputs"]["given"].shape[0])


jax.tree_util.register_dataclass(Model, data_fields=["arrays"], meta_fields=["names"])


def written(path: str | Path, arrays: Tree) -> None:
    """Arrays by name as one file, under exactly this name."""
    with open(path, "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **{key: np.asarray(a) for key, a in arrays.items()})


def load_model(path: str | Path) -> Model:
    """What `Model.save` wrote."""
    with np.load(path, allow_pickle=False) as file:
        if "names" not in file:
            raise InputError(f"{path} holds no model; write one with exported(system, …).save(path)")
        names = [tuple(tuple(row) for row in part) for part in json.loads(str(file["names"]))]
        return Model(nested({key: file[key] for key in file.files if key != "names"}), Places(*names))


def flattened(tree: Any, prefix: str = "") -> dict[str, Any]:
    """Leaves by their path: "model/groups/0/ends/x"."""
    if isinstance(tree, dict):
        items = [(str(key), value) for key, value in tree.items()]
    elif isinstance(tree, (list, tuple)):
        items = [(f"#{k}", value) for k, value in enumerate(tree)]
    else:
        return {prefix: tree}
    out: dict[str, Any] = {}
    for key, value in items:
        out |= flattened(value, f"{prefix}/{key}" if prefix else key)
    return out


def nested(flat: dict[str, Any]) -> Any:
    """The reverse of `flattened`."""
    tree: Tree = {}
    for path, value in flat.items():
        at = tree
        *front, last = path.split("/")
        for key in front:
            at = at.setdefault(key, {})
        at[last] = value
    return _listed(tree)


def _listed(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    made = {key: _listed(value) for key, value in tree.items()}
    return list(made.values()) if made and all(key.startswith("#") for key in made) else made
