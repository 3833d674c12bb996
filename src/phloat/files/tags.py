"""XML as a tree of tags with their lines. Document types and entities are refused: they can make much of little, or read files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np

from phloat.errors import InputError, finite_row
from phloat.format.node import FileError

LARGEST = 10_000_000  # bytes
DEEPEST = 100


@dataclass
class Tag:
    """A tag: its name, what it says of itself, what is inside, and where it stands."""

    name: str
    said: Mapping[str, str]
    file: str
    line: int
    inside: list[Tag] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Tag]:
        return (tag for tag in self.inside if tag.name == name)

    def first(self, name: str) -> Tag | None:
        return next(self.all(name), None)

    def wrong(self, message: str) -> NoReturn:
        raise FileError(message, self.file, self.line, f"<{self.name}>")

    def word(self, key: str) -> str:
        """What it says by that key, which must be there."""
        if not self.said.get(key, "").strip():
            self.wrong(f"{key!r} is missing; it has {', '.join(self.said) or 'nothing'}")
        return self.said[key].strip()

    def numbers(self, key: str, default: tuple[float, ...]) -> np.ndarray:
        """A row of numbers, as many as the default has."""
        if key not in self.said:
            return np.array(default)
        try:
            row = finite_row(key, [float(x) for x in self.said[key].split()])
        except (ValueError, InputError):
            row = np.zeros(0)
        if len(row) != len(default):
            count = len(default)
            self.wrong(f"{key} is {self.said[key]!r}; expected {'a number' if count == 1 else f'{count} numbers'}")
        return row

    def number(self, key: str, default: float | None = None) -> float:
        """One number."""
        if default is None:
            self.word(key)
        return float(self.numbers(key, (0.0 if default is None else default,))[0])


def read_tags(path: Path, root: str) -> Tag:
    """The tree in a file, whose outermost tag must be called so."""
    if not path.is_file():
        raise InputError(f"no file {str(path)!r}")
    if path.stat().st_size > LARGEST:
        raise FileError(f"the file has {path.stat().st_size} bytes; at most {LARGEST} are read", path.name)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"no text: byte {error.start} is not UTF-8; save it as UTF-8", path.name) from None
    found = _Reader(path.name).read(text)
    if found.name != root:
        found.wrong(f"this is no {root}; expected <{root}> as the outermost tag")
    return found


class _Reader:
    """What expat tells, put together."""

    def __init__(self, file: str) -> None:
        self.file, self.open, self.root = file, list[Tag](), list[Tag]()
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.end
        self.parser.StartDoctypeDeclHandler = self.parser.EntityDeclHandler = self.refused

    def read(self, text: str) -> Tag:
        try:
            self.parser.Parse(text.encode(), True)
        except expat.ExpatError as error:
            raise FileError(f"no XML: {expat.errors.messages[error.code]}", self.file, error.lineno) from None
        return self.root[0]

    def start(self, name: str, said: dict[str, str]) -> None:
        tag = Tag(name, said, self.file, self.parser.CurrentLineNumber)
        if len(self.open) > DEEPEST:
            tag.wrong(f"nested more than {DEEPEST} deep")
        (self.open[-1].inside if self.open else self.root).append(tag)
        self.open.append(tag)

    def end(self, name: str) -> None:
        self.open.pop()

    def refused(self, *said: Any) -> None:
        raise FileError("document types and entities are refused", self.file, self.parser.CurrentLineNumber)
