"""Text of a model file as nodes with lines: YAML by the safe nodes of PyYAML, JSON by itself. Nothing in it is ever run."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from phloat.errors import InputError
from phloat.system.words.node import FileError, Node

LARGEST = 10_000_000  # characters
MOST = 200_000  # nodes, aliases counted as often as they stand there
DEEPEST = 50
PLAIN_TAGS = ("str", "int", "float", "bool", "null", "map", "seq", "merge", "timestamp", "value")
STANDARD = "tag:yaml.org,2002:"


def read_text(path: str | Path) -> str:
    """The text of a file, or a sentence."""
    path = Path(path)
    if not path.is_file():
        suffixes = (".yaml", ".yml", ".json")
        near = sorted(p.name for p in path.parent.glob("*") if p.suffix in suffixes) if path.parent.is_dir() else []
        raise InputError(f"no file {str(path)!r}; models in that folder: {', '.join(near[:12]) or 'none'}")
    if path.stat().st_size > LARGEST:
        raise FileError(f"the file has {path.stat().st_size} bytes; a model has at most {LARGEST}", path.name)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"no text: byte {error.start} is not UTF-8; save it as UTF-8", path.name) from None


def parsed(text: str, file: str, *, json_only: bool | None = None) -> Node:
    """The root of a model's text; JSON where the file is called so, else YAML."""
    if len(text) > LARGEST:
        raise FileError(f"the text has {len(text)} characters; a model has at most {LARGEST}", file)
    as_json = file.lower().endswith(".json") if json_only is None else json_only
    root = _Json(text, file).root() if as_json else _yaml_root(text, file)
    if root.empty:
        raise FileError("there is nothing in it; begin with 'phloat: 1'", file, 1)
    if root.entries is None:
        root.expected("a mapping that begins with 'phloat: 1'")
    return root


# --- YAML -------------------------------------------------------------------------------------------------------------


def _package(file: str) -> ModuleType:
    try:
        import yaml
    except ImportError:
        raise FileError(
            "YAML is read by PyYAML, which is not there: pip install phloat[files], or write JSON", file
        ) from None
    return yaml


def _yaml_root(text: str, file: str) -> Node:
    yaml = _package(file)
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _depth_of_events(yaml, text, loader, file)
        found = list(yaml.compose_all(text, Loader=loader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = " ".join(str(x) for x in (getattr(error, "context", ""), getattr(error, "problem", "") or error) if x)
        raise FileError(f"no YAML: {said}", file, mark.line + 1 if mark else 0) from None
    except (RecursionError, ValueError) as error:
        raise FileError(f"no YAML: {error}", file) from None
    if len(found) > 1:
        raise FileError("there are two documents in it; a model is one", file, found[1].start_mark.line + 1)
    if not found or found[0] is None:
        raise FileError("there is nothing in it; begin with 'phloat: 1'", file, 1)
    return _Yaml(file).node(found[0], (), ())


def _depth_of_events(yaml: ModuleType, text: str, loader: Any, file: str) -> None:
    """An error where it is nested too deeply or holds too much, before anything recursive sees it."""
    depth = count = 0
    for event in yaml.parse(text, Loader=loader):
        kind = type(event).__name__
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        count += kind.endswith("StartEvent") or kind == "ScalarEvent"
        if depth > DEEPEST + 2:  # the stream and the document are two
            raise FileError(f"nested more than {DEEPEST} deep", file, event.start_mark.line + 1)
        if count > MOST:
            raise FileError(f"more than {MOST} values in it", file, event.start_mark.line + 1)


@dataclass
class _Yaml:
    """Nodes of PyYAML as ours, counted."""

    file: str
    count: int = 0

    def node(self, found: Any, path: tuple[str, ...], above: tuple[int, ...]) -> Node:
        line = found.start_mark.line + 1
        self.count += 1
        if self.count > MOST:
            raise FileError(f"more than {MOST} values in it, aliases counted", self.file, line, ".".join(path))
        if id(found) in above:
            raise FileError("an alias holds itself", self.file, line, ".".join(path))
        if len(above) > DEEPEST:
            raise FileError(f"nested more than {DEEPEST} deep", self.file, line, ".".join(path))
        if found.tag.removeprefix(STANDARD) not in PLAIN_TAGS:
            shown = found.tag.replace(STANDARD, "!!")
            raise FileError(
                f"the tag {shown} is refused: a model holds text, numbers, lists and mappings",
                self.file,
                line,
                ".".join(path),
            )
        above = (*above, id(found))
        if found.id == "scalar":
            return Node(found.value, line, self.file, path, quoted=found.style in ("'", '"', "|", ">"))
        if found.id == "sequence":
            items = tuple(
                self.node(item, (*path[:-1], f"{path[-1] if path else ''}[{k}]"), above)
                for k, item in enumerate(found.value)
            )
            return Node(items, line, self.file, path)
        return self._mapping(found, line, path, above)

    def _mapping(self, found: Any, line: int, path: tuple[str, ...], above: tuple[int, ...]) -> Node:
        entries: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        lines: dict[str, int] = {}
        for key, value in found.value:
            at = key.start_mark.line + 1
            if key.id != "scalar":
                raise FileError("a key is a list or a mapping; keys are words", self.file, at, ".".join(path))
            if key.tag == f"{STANDARD}merge":
                for other in self._merged(value, at, path, above):
                    for name, inner in (other.entries or {}).items():
                        merged.setdefault(name, inner)
                        lines.setdefault(name, inner.line)
                continue
            if key.value in entries:
                where = ".".join((*path, key.value))
                raise FileError(
                    f"{key.value!r} stands there twice, first in line {lines[key.value]}; give each its own name",
                    self.file,
                    at,
                    where,
                )
            lines[key.value] = at
            entries[key.value] = replace(self.node(value, (*path, key.value), above), line=at)
        rest = {name: inner for name, inner in merged.items() if name not in entries}
        return Node(rest | entries, line, self.file, path, keys=lines)

    def _merged(self, value: Any, line: int, path: tuple[str, ...], above: tuple[int, ...]) -> Iterator[Node]:
        for one in value.value if value.id == "sequence" else [value]:
            if one.id != "mapping":
                raise FileError("<< takes a mapping, or a list of them", self.file, line, ".".join(path))
            yield self.node(one, path, above)


# --- JSON -------------------------------------------------------------------------------------------------------------

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN|-?Infinity")


class _Json:
    """JSON with lines."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file, self.count = text, file, 0
        self.starts = [m.end() for m in re.finditer("\n", text)]

    def root(self) -> Node:
        node, end = self.value(self.skip(0), (), 0)
        if self.skip(end) != len(self.text):
            self.wrong(self.skip(end), (), "something stands after its end")
        return node

    def line(self, place: int) -> int:
        return bisect_right(self.starts, place) + 1

    def wrong(self, place: int, path: tuple[str, ...], message: str) -> None:
        raise FileError(f"no JSON: {message}", self.file, self.line(place), ".".join(path))

    def skip(self, place: int) -> int:
        found = _SPACE.match(self.text, place)
        return found.end() if found else place

    def value(self, at: int, path: tuple[str, ...], depth: int) -> tuple[Node, int]:
        self.count += 1
        if self.count > MOST:
            raise FileError(f"more than {MOST} values in it", self.file, self.line(at), ".".join(path))
        if depth > DEEPEST:
            raise FileError(f"nested more than {DEEPEST} deep", self.file, self.line(at), ".".join(path))
        line, first = self.line(at), self.text[at : at + 1]
        if first == "{":
            return self.mapping(at, line, path, depth)
        if first == "[":
            return self.sequence(at, line, path, depth)
        if first == '"':
            text, end = self.string(at, path)
            return Node(text, line, self.file, path, quoted=True), end
        found = _SCALAR.match(self.text, at)
        if found is None:
            self.wrong(
                at, path, f"found {self.text[at : at + 12]!r}; expected a value" if first else "it ends too early"
            )
        assert found is not None
        return Node(found[0], line, self.file, path), found.end()

    def string(self, at: int, path: tuple[str, ...]) -> tuple[str, int]:
        try:
            return json.decoder.scanstring(self.text, at + 1, True)  # type: ignore[attr-defined]
        except json.JSONDecodeError as error:
            self.wrong(at, path, error.msg)
            raise

    def mapping(self, at: int, line: int, path: tuple[str, ...], depth: int) -> tuple[Node, int]:
        entries: dict[str, Node] = {}
        lines: dict[str, int] = {}
        at = self.skip(at + 1)
        while self.text[at : at + 1] != "}":
            if entries:
                if self.text[at : at + 1] != ",":
                    self.wrong(at, path, "a comma or } is missing")
                at = self.skip(at + 1)
            if self.text[at : at + 1] != '"':
                self.wrong(at, path, "a key in quotation marks is missing")
            key, end = self.string(at, path)
            if key in entries:
                message = f"{key!r} stands there twice, first in line {lines[key]}; give each its own name"
                raise FileError(message, self.file, self.line(at), ".".join((*path, key)))
            lines[key] = self.line(at)
            at = self.skip(end)
            if self.text[at : at + 1] != ":":
                self.wrong(at, path, f"a colon is missing after {key!r}")
            entries[key], end = self.value(self.skip(at + 1), (*path, key), depth + 1)
            at = self.skip(end)
        return Node(entries, line, self.file, path, keys=lines), at + 1

    def sequence(self, at: int, line: int, path: tuple[str, ...], depth: int) -> tuple[Node, int]:
        items: list[Node] = []
        at = self.skip(at + 1)
        while self.text[at : at + 1] != "]":
            if items:
                if self.text[at : at + 1] != ",":
                    self.wrong(at, path, "a comma or ] is missing")
                at = self.skip(at + 1)
            item, end = self.value(at, (*path[:-1], f"{path[-1] if path else ''}[{len(items)}]"), depth + 1)
            items.append(item)
            at = self.skip(end)
        return Node(tuple(items), line, self.file, path), at + 1


def of_plain(value: Any, file: str = "") -> Node:
    """Plain data as nodes, without lines."""
    root = _Json(json.dumps(value), file).root()
    return _unlined(root)


def _unlined(node: Node) -> Node:
    inside: Any = node.value
    if node.entries is not None:
        inside = {key: _unlined(inner) for key, inner in node.entries.items()}
    elif node.items is not None:
        inside = tuple(map(_unlined, node.items))
    return replace(node, value=inside, line=0, keys=dict.fromkeys(node.keys, 0))
