"""What was read from a file, with the line and the keys that lead to it: errors say where."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from phloat.errors import InputError, unknown
from phloat.system.words.units import NUMBER, shortened

OLD_KEYS = {  # keys of earlier versions that are still read: kind of record → old key → key
    "a PID controller": {"proportional": "damping", "integral": "stiffness", "derivative": "inertia"},
}


class FileError(InputError):
    """Something in a file that cannot be right: `file`, `line` and `key` say where."""

    def __init__(self, message: str, file: str = "", line: int = 0, key: str = "") -> None:
        place = [file or "the model", *([f"line {line}"] if line else []), *([key] if key else [])]
        super().__init__(f"{', '.join(place)}: {message}")
        self.said, self.file, self.line, self.key = message, file, line, key

    def __reduce__(self) -> tuple[Any, ...]:
        return FileError, (self.said, self.file, self.line, self.key)


@dataclass(frozen=True)
class Node:
    """A scalar (text, whether it was quoted), a list or a mapping of nodes, where it stands."""

    value: str | tuple[Node, ...] | Mapping[str, Node]
    line: int
    file: str = ""
    path: tuple[str, ...] = ()
    quoted: bool = False
    keys: Mapping[str, int] = field(default_factory=dict)  # lines of the keys of a mapping

    # --- what it is -------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str | None:
        return self.value if isinstance(self.value, str) else None

    @property
    def items(self) -> tuple[Node, ...] | None:
        return self.value if isinstance(self.value, tuple) else None

    @property
    def entries(self) -> Mapping[str, Node] | None:
        return self.value if isinstance(self.value, Mapping) else None

    @property
    def empty(self) -> bool:
        """Nothing: null, or no text at all."""
        return self.text is not None and not self.quoted and self.text in ("", "~", "null", "Null", "NULL")

    @property
    def flag(self) -> bool | None:
        """True or false, where it is one of these words."""
        words = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
        return words.get(self.text or "") if not self.quoted else None

    @property
    def numeric(self) -> bool:
        """Whether it begins as a number does."""
        return self.text is not None and re.match(rf"\s*{NUMBER}", self.text) is not None

    @property
    def shown(self) -> str:
        """As a message shows it."""
        if self.entries is not None:
            return (
                f"a mapping of {', '.join(list(self.entries)[:4]) or 'nothing'}{', …' if len(self.entries) > 4 else ''}"
            )
        if self.items is not None:
            return f"a list of {len(self.items)}"
        return "nothing" if self.empty else repr(shortened(self.text or ""))

    # --- what is wrong with it --------------------------------------------------------------------------------------

    @property
    def key(self) -> str:
        """The keys that lead here."""
        return ".".join(self.path)

    def wrong(self, message: str) -> NoReturn:
        """An error that says where."""
        raise FileError(message, self.file, self.line, self.key)

    def expected(self, what: str) -> NoReturn:
        """An error: what was found and what was expected."""
        self.wrong(f"found {self.shown}; expected {what}")

    def only(self, keys: tuple[str, ...] | list[str], what: str) -> Mapping[str, Node]:
        """Its entries, or an error where one of them has another key."""
        if self.entries is None:
            self.expected(f"{what}: a mapping of {', '.join(keys)}")
        old = OLD_KEYS.get(what, {})
        for key in self.entries:
            if old.get(key, key) not in keys:
                raise FileError(
                    unknown(f"key of {what}", key, keys), self.file, self.keys[key], ".".join((*self.path, key))
                )
        return {old.get(key, key): entry for key, entry in self.entries.items()}

    def child(self, key: str) -> Node:
        assert self.entries is not None
        return self.entries[key]
