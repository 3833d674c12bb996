"""XML as a tree of tags with their lines. Document types and entities are refused: they can expand without limit, or read files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np

from phloat.errors import FileError, InputError, finite_row

MAX_BYTES = 10_000_000
MAX_DEPTH = 100


@dataclass
class Tag:
    """A tag: its name, attributes, the tags inside it, and its place in the file."""

    name: str
    attributes: Mapping[str, str]
    file: str
    line: int
    inside: list[Tag] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Tag]:
        return (tag for tag in self.inside if tag.name == name)

    def first(self, name: str) -> Tag | None:
        return next(self.all(name), None)

    def fail(self, message: str) -> NoReturn:
        raise FileError(message, self.file, self.line, f"<{self.name}>")

    def text(self, key: str) -> str:
        """An attribute. Raises FileError if it is missing."""
        if not self.attributes.get(key, "").strip():
            self.fail(f"{key!r} is missing; it has {', '.join(self.attributes) or 'nothing'}")
        return self.attributes[key].strip()

    def numbers(self, key: str, default: tuple[float, ...]) -> np.ndarray:
        """An attribute of several numbers, as many as the default has."""
        if key not in self.attributes:
            return np.array(default)
        try:
            row = finite_row(key, [float(x) for x in self.attributes[key].split()])
        except (ValueError, InputError):
            row = np.zeros(0)
        if len(row) != len(default):
            count = len(default)
            self.fail(f"{key} is {self.attributes[key]!r}; expected {'a number' if count == 1 else f'{count} numbers'}")
        return row

    def number(self, key: str, default: float | None = None) -> float:
        """An attribute of one number."""
        if default is None:
            self.text(key)
        return float(self.numbers(key, (0.0 if default is None else default,))[0])


def read_tags(path: Path, root: str) -> Tag:
    """The tree in a file. Raises FileError if its outermost tag is not `root`."""
    if not path.is_file():
        raise InputError(f"no file {str(path)!r}")
    if path.stat().st_size > MAX_BYTES:
        raise FileError(f"the file has {path.stat().st_size} bytes; at most {MAX_BYTES} are read", path.name)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"byte {error.start} is not UTF-8; save the file as UTF-8", path.name) from None
    found = _Reader(path.name).read(text)
    if found.name != root:
        found.fail(f"this is not a {root}; expected <{root}> as the outermost tag")
    return found


class _Reader:
    """Builds the tree from the events of expat."""

    def __init__(self, file: str) -> None:
        self.file, self.open, self.root = file, list[Tag](), list[Tag]()
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.end
        self.parser.StartDoctypeDeclHandler = self.parser.EntityDeclHandler = self.refuse

    def read(self, text: str) -> Tag:
        try:
            self.parser.Parse(text.encode(), True)
        except expat.ExpatError as error:
            raise FileError(f"not XML: {expat.errors.messages[error.code]}", self.file, error.lineno) from None
        return self.root[0]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = Tag(name, attributes, self.file, self.parser.CurrentLineNumber)
        if len(self.open) > MAX_DEPTH:
            tag.fail(f"nested more than {MAX_DEPTH} deep")
        (self.open[-1].inside if self.open else self.root).append(tag)
        self.open.append(tag)

    def end(self, name: str) -> None:
        self.open.pop()

    def refuse(self, *given: Any) -> None:
        raise FileError("document types and entities are refused", self.file, self.parser.CurrentLineNumber)
