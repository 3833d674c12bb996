"""Values of a file with their line and the keys that lead to them, so that errors say where they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from phloat.errors import FileError, unknown
from phloat.format.units import NUMBER, abbreviated

BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


@dataclass(frozen=True)
class Node:
    """A scalar (its text, and whether that was quoted), a list of nodes or a mapping of nodes, with its place in the file."""

    line: int
    file: str = ""
    path: tuple[str, ...] = ()
    text: str | None = None  # of a scalar
    quoted: bool = False
    items: tuple[Node, ...] | None = None  # of a list
    entries: Mapping[str, Node] | None = None  # of a mapping
    key_lines: Mapping[str, int] = field(default_factory=dict)

    # --- what it is -------------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        """Whether it is null or has no text at all."""
        return self.text is not None and not self.quoted and self.text in ("", "~", "null", "Null", "NULL")

    @property
    def boolean(self) -> bool | None:
        """True, false, or None if it is neither."""
        return BOOLEANS.get(self.text or "") if not self.quoted else None

    @property
    def numeric(self) -> bool:
        """Whether it begins like a number."""
        return self.text is not None and re.match(rf"\s*{NUMBER}", self.text) is not None

    @property
    def summary(self) -> str:
        """A short form for messages."""
        if self.entries is not None:
            more = ", …" if len(self.entries) > 4 else ""
            return f"a mapping of {', '.join(list(self.entries)[:4]) or 'nothing'}{more}"
        if self.items is not None:
            return f"a list of {len(self.items)}"
        return "nothing" if self.empty else repr(abbreviated(self.text or ""))

    # --- errors -----------------------------------------------------------------------------------------------------

    @property
    def key(self) -> str:
        """The keys that lead to this node, joined by dots."""
        return ".".join(self.path)

    def fail(self, message: str) -> NoReturn:
        """Raises FileError at this node."""
        raise FileError(message, self.file, self.line, self.key)

    def fail_key(self, key: str, message: str) -> NoReturn:
        """Raises FileError at a key of this mapping."""
        raise FileError(message, self.file, self.key_lines.get(key, self.line), ".".join((*self.path, key)))

    def fail_expected(self, expected: str) -> NoReturn:
        """Raises FileError with what was found and what was expected."""
        self.fail(f"found {self.summary}; expected {expected}")

    def require_keys(self, keys: Sequence[str], label: str) -> Mapping[str, Node]:
        """The entries of this mapping. Raises FileError if it is no mapping, or has a key that is not among `keys`."""
        if self.entries is None:
            self.fail_expected(f"{label}: a mapping of {', '.join(keys)}")
        for key in self.entries:
            if key not in keys:
                self.fail_key(key, unknown(f"key of {label}", key, keys))
        return self.entries


def child(node: Node | None, *keys: str) -> Node | None:
    """The entry that these keys lead to, one inside the other; None if there is none, or no node."""
    for key in keys:
        node = None if node is None or node.entries is None else node.entries.get(key)
    return node
