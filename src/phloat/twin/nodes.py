"""The nodes of a graph of single numbers, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from phloat.errors import InputError

LARGE = 256  # entries of a matrix from which its products are loops


class OperationError(InputError):
    """A step has an operation that cannot be written in C."""


class Node:
    """One number that is computed in a run; `loops` are the loops on whose carried numbers it depends."""

    __slots__ = ("args", "dtype", "loops", "op")

    def __init__(self, op: Any, args: tuple, dtype: str, loops: frozenset) -> None:
        self.op, self.args, self.dtype, self.loops = op, args, dtype, loops


class Loop:
    """A while loop: numbers carried, their starts, what they become in a turn, and whether to take one."""

    def __init__(self) -> None:
        self.carried: list[Node] = []
        self.starts: list[Any] = []
        self.ends: list[Any] = []
        self.condition: Any = True
        self.outside: list[Node] | None = None  # what its turns take from outside


class Product:
    """A matrix of numbers, or of successive inputs, times the columns of another matrix: computed in a loop over its rows."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray) -> None:
        self.rows, self.columns = rows, columns  # (rows, k), (columns, k)


NONE: frozenset = frozenset()


def entry_key(a: Any) -> Any:
    """What tells numbers and nodes apart; 1, 1.0 and True are three."""
    return id(a) if isinstance(a, Node) else (type(a), a)


def is_table(a: np.ndarray) -> bool:
    """Whether a matrix is large, and of numbers that are seldom zero, or of inputs one after the other."""
    entries = a.ravel()
    if len(entries) < LARGE:
        return False
    if not isinstance(entries[0], Node):
        return not any(isinstance(x, Node) for x in entries) and 4 * int(np.count_nonzero(entries)) > len(entries)
    if any(not isinstance(x, Node) or x.op != "input" for x in entries):
        return False
    return all(x.args[0] == entries[0].args[0] + k for k, x in enumerate(entries))


def is_zero(a: Any) -> bool:
    return not isinstance(a, Node) and a == 0


def kind_of(a: Any) -> str:
    return a.dtype if isinstance(a, Node) else "b" if isinstance(a, bool) else "i" if isinstance(a, int) else "f"


def same(a: Any, b: Any) -> bool:
    return a is b or (not isinstance(a, Node) and not isinstance(b, Node) and a == b)


def ordered(outputs: Sequence[Any], known: dict[int, Any]) -> list[Node]:
    """All nodes that outputs depend on and that are not known, each after those it depends on."""
    order: list[Node] = []
    seen: set[int] = set(known)
    stack = [(x, False) for x in outputs if isinstance(x, Node)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((a, False) for a in needed_by(node) if isinstance(a, Node))
    return order


def needed_by(node: Node) -> Sequence[Any]:
    """What is computed before a node: for the result of a loop, its starts and what its turns take from outside."""
    if node.op == "product":
        return node.args[0].columns.ravel()
    if node.op != "result":
        return node.args if node.op not in ("input", "carried") else ()
    loop = node.args[0]
    if loop.outside is None:
        within = ordered([*loop.ends, loop.condition], dict.fromkeys(map(id, loop.carried)))
        loop.outside = [x for x in within if loop not in x.loops]
    return [*loop.starts, *loop.outside]
