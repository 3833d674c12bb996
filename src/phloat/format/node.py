"""Nodes of a file: values with their line and path of keys, for errors with a location."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from phloat.algebra.units import NUMBER, abbreviated
from phloat.errors import FileError, unknown

BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


@dataclass(frozen=True)
class Node:
    """A scalar (its text, and whether it was quoted), a list of nodes or a mapping of nodes, with its location in the file."""

    line: int
    file: str = ""
    path: tuple[str, ...] = ()
    text: str | None = None  # of a scalar
    quoted: bool = False
    items: tuple[Node, ...] | None = None  # of a list
    entries: Mapping[str, Node] | None = None  # of a mapping
    key_lines: Mapping[str, int] = field(default_factory=dict)

    # --- type -------------------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        """Whether the node is null or an empty text."""
        return self.text is not None and not self.quoted and self.text in ("", "~", "null", "Null", "NULL")

    @property
    def boolean(self) -> bool | None:
        """The boolean, or None if the node is neither true nor false."""
        return BOOLEANS.get(self.text or "") if not self.quoted else None

    @property
    def numeric(self) -> bool:
        """Whether the text begins with a number."""
        return self.text is not None and re.match(rf"\s*{NUMBER}", self.text) is not None

    @property
    def summary(self) -> str:
        """A short description for messages."""
        if self.entries is not None:
            more = ", …" if len(self.entries) > 4 else ""
            return f"a mapping of {', '.join(list(self.entries)[:4]) or 'nothing'}{more}"
        if self.items is not None:
            return f"a list of {len(self.items)}"
        return "nothing" if self.empty else repr(abbreviated(self.text or ""))

    # --- errors -----------------------------------------------------------------------------------------------------

    @property
    def key(self) -> str:
        """The path of keys to this node, joined by dots."""
        return ".".join(self.path)

    def fail(self, message: str) -> NoReturn:
        """Raises FileError at this node."""
        raise FileError(message, self.file, self.line, self.key)

    def fail_key(self, key: str, message: str) -> NoReturn:
        """Raises FileError at a key of this mapping."""
        raise FileError(message, self.file, self.key_lines.get(key, self.line), ".".join((*self.path, key)))

    def fail_expected(self, expected: str) -> NoReturn:
        """Raises FileError with a summary of this node and what was expected."""
        self.fail(f"found {self.summary}; expected {expected}")

    def require_keys(self, keys: Sequence[str], label: str) -> Mapping[str, Node]:
        """The entries of this mapping. Raises FileError if it is not a mapping or has a key that is not in `keys`."""
        if self.entries is None:
            self.fail_expected(f"{label}: a mapping of {', '.join(keys)}")
        for key in self.entries:
            if key not in keys:
                comma = "; numbers have a decimal point: 34.5 mm, not 34,5 mm" if str(key)[:1].isdigit() else ""
                self.fail_key(key, unknown(f"key of {label}", key, keys) + comma)
        return self.entries


def child(node: Node | None, *keys: str) -> Node | None:
    """The entry at this path of keys; None if there is none or if `node` is None."""
    for key in keys:
        node = None if node is None or node.entries is None else node.entries.get(key)
    return node
