"""Kinds of values in a model file. Each reads a node, writes a value back as plain data, and says itself as JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from phloat.errors import unknown
from phloat.system.words.node import Node
from phloat.system.words.units import Dimension

Plain = Any  # what JSON can say
Schema = dict[str, Any]
Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Known:
    """What a file has said so far: named materials and sections, and the folder of files beside it."""

    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    folder: Path | None = None
    plane: str | None = None
    units: list[tuple[Node, Dimension]] = field(default_factory=list)  # met where any unit may stand


@dataclass(frozen=True, eq=False)
class Pen:
    """How values are written: names for what is said once, and a place for arrays, which return their file's name."""

    named: Callable[[str, Any, Plain], Plain] = lambda table, value, plain: plain
    arrays: Callable[[str, Arrays], str] | None = None
    of: str = ""  # the body that is being written


class Kind(Protocol):
    """A kind of value."""

    @property
    def said(self) -> str:
        """What it is, for "expected …"."""
        ...

    def takes(self, node: Node) -> bool:
        """Whether the node looks like one of this kind."""
        ...

    def read(self, node: Node, known: Known) -> Any: ...
    def write(self, value: Any, pen: Pen) -> Plain: ...
    def schema(self) -> Schema: ...


# --- words ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Flag:
    """true or false."""

    said = "true or false"

    def takes(self, node: Node) -> bool:
        return node.flag is not None

    def read(self, node: Node, known: Known) -> bool:
        if node.flag is None:
            node.expected(self.said)
        return bool(node.flag)

    def write(self, value: Any, pen: Pen) -> Plain:
        return bool(value)

    def schema(self) -> Schema:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Word:
    """A text; one of a few where choices are given."""

    choices: tuple[str, ...] = ()
    what: str = "a name"

    @property
    def said(self) -> str:
        return f"one of {', '.join(self.choices)}" if self.choices else self.what

    def takes(self, node: Node) -> bool:
        return node.text is not None and not node.empty

    def read(self, node: Node, known: Known) -> str:
        if node.text is None or node.empty:
            node.expected(self.said)
        text = node.text or ""
        if self.choices and text not in self.choices:
            node.wrong(unknown(node.path[-1] if node.path else "choice", text, self.choices))
        return text

    def write(self, value: Any, pen: Pen) -> Plain:
        return str(value)

    def schema(self) -> Schema:
        return {"enum": list(self.choices)} if self.choices else {"type": "string"}


NAME = Word()


@dataclass(frozen=True)
class Nothing:
    """null."""

    said = "null"

    def takes(self, node: Node) -> bool:
        return node.empty

    def read(self, node: Node, known: Known) -> None:
        if not node.empty:
            node.expected(self.said)

    def write(self, value: Any, pen: Pen) -> Plain:
        return None

    def schema(self) -> Schema:
        return {"type": "null"}
