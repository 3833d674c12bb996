"""Parsing the text of a model file to nodes with lines, and writing it; XML of robots as tags with lines.

YAML is parsed by PyYAML to nodes without types, so that nothing in it is executed. JSON is parsed by the standard library, because
PyYAML is optional and saved runs contain their model as JSON.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np

from phloat.errors import FileError, InputError, finite_row
from phloat.format.node import Node

MAX_SIZE = 10_000_000  # characters
MAX_NODES = 200_000  # an alias counts each time it is used
MAX_DEPTH = 50
MAX_TAG_DEPTH = 100
PLAIN_TAGS = ("str", "int", "float", "bool", "null", "map", "seq", "merge", "timestamp", "value")
STANDARD = "tag:yaml.org,2002:"


def read_text(path: Path, *suffixes: str) -> str:
    """The text of a file. Raises InputError if it is missing (then files with `suffixes` are listed), too large or not UTF-8."""
    if not path.is_file():
        names = sorted(p.name for p in path.parent.glob("*") if p.suffix in suffixes) if path.parent.is_dir() else []
        raise InputError(f"no file {str(path)!r}; files of this type in that folder: {', '.join(names[:12]) or 'none'}")
    if path.stat().st_size > MAX_SIZE:
        raise FileError(f"the file has {path.stat().st_size} bytes; at most {MAX_SIZE} are read", path.name)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"byte {error.start} is not UTF-8; save the file as UTF-8", path.name) from None


def parse(text: str, file: str) -> Node:
    """The root node of a model: JSON if the name of the file ends in .json, else YAML."""
    if len(text) > MAX_SIZE:
        raise FileError(f"the text has {len(text)} characters; a model has at most {MAX_SIZE}", file)
    root = _json_root(text, file) if file.lower().endswith(".json") else _yaml_root(text, file)
    if root.empty:
        raise FileError("the file is empty; begin with 'phloat: 1'", file, 1)
    if root.entries is None:
        root.fail_expected("a mapping that begins with 'phloat: 1'")
    return root


@dataclass
class _Nodes:
    """Creates nodes and counts them."""

    file: str
    count: int = 0

    def begin(self, line: int, path: tuple[str, ...], depth: int) -> Node:
        """A node without its value. Raises FileError if it is nested too deeply or there are too many nodes."""
        node = Node(line, self.file, path)
        self.count += 1
        if self.count > MAX_NODES:
            node.fail(f"more than {MAX_NODES} values, aliases counted")
        if depth > MAX_DEPTH:
            node.fail(f"nested more than {MAX_DEPTH} deep")
        return node


def _item_path(path: tuple[str, ...], k: int) -> tuple[str, ...]:
    return (*path[:-1], f"{path[-1] if path else ''}[{k}]")


def _require_new(mapping: Node, key: str, line: int, lines: dict[str, int]) -> None:
    """Raises FileError if a mapping already has a key; `lines` are those of its keys."""
    if key in lines:
        message = f"{key!r} is there twice, first in line {lines[key]}; give each its own name"
        replace(mapping, line=line, path=(*mapping.path, key)).fail(message)


# --- YAML -------------------------------------------------------------------------------------------------------------


def _package(file: str) -> ModuleType:
    try:
        import yaml
    except ImportError:
        raise FileError("PyYAML is not installed: pip install phloat[files], or use JSON", file) from None
    return yaml


def _yaml_root(text: str, file: str) -> Node:
    yaml = _package(file)
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_size(yaml, text, loader, file)
        documents = list(yaml.compose_all(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        why, line = f"{error.context or ''} {error.problem}".strip(), error.problem_mark.line + 1
        opened = error.context_mark.line + 1 if error.context_mark is not None else line
        cause = _yaml_mistake(text.splitlines(), why, line, opened)
        raise FileError(*(cause[0], file, cause[1]) if cause else (f"no YAML: {why}", file, line)) from None
    except FileError:
        raise
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise FileError(f"no YAML: {error}", file) from None
    if len(documents) > 1:
        raise FileError("the file has two documents; a model is one", file, documents[1].start_mark.line + 1)
    return _Yaml(file).node(documents[0], (), ()) if documents and documents[0] is not None else Node(1, file, text="")


CRAMPED = re.compile(r"\s*(?:- )?([\w.-]+:[^\s/].*)")  # a key with its value right after the colon


def _yaml_mistake(lines: list[str], why: str, line: int, opened: int) -> tuple[str, int] | None:
    """The mistake behind a message of PyYAML in plain words, and its line; None if it is none of the common ones."""
    text = lines[line - 1] if line <= len(lines) else ""
    if "\t" in text[: len(text) - len(text.lstrip())]:
        return "the line begins with a tab; YAML is indented with spaces, so replace it by spaces", line
    if "cannot start any token" in why:
        return f"a value cannot begin with one of % @ ` in {text.strip()!r}; put it in quotation marks", line
    if "quoted scalar" in why:
        return "a quotation mark is opened and not closed", opened
    if "flow mapping" in why or "flow sequence" in why:
        return f"a bracket {'{' if 'mapping' in why else '['} is opened and not closed, or a comma is missing", opened
    for k in (line, line - 1):
        cramped = CRAMPED.fullmatch(lines[k - 1]) if 0 < k <= len(lines) else None
        if cramped and ("mapping values" in why or "expected ':'" in why):
            return f"a space is missing after the colon in {cramped[1]!r}", k
    if "mapping values" in why and text.count(": ") > 1:
        return f"{text.strip()!r} has two colons; put a text with a colon in quotation marks", line
    if text.count("}") > text.count("{") or text.count("]") > text.count("["):
        return "a bracket is closed that was not opened", line
    if "mapping values" in why or "expected key" in why or "'-' indicator" in why:
        return "the indent of the line fits none above; what belongs together begins in the same column", line
    return None


def _check_size(yaml: ModuleType, text: str, loader: Any, file: str) -> None:
    """Raises FileError if the text is nested too deeply or has too many values, before recursive code reads it."""
    depth = count = 0
    for event in yaml.parse(text, Loader=loader):
        kind = type(event).__name__
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        count += kind.endswith("StartEvent") or kind == "ScalarEvent"
        if depth > MAX_DEPTH + 2:  # the stream and the document are two
            raise FileError(f"nested more than {MAX_DEPTH} deep", file, event.start_mark.line + 1)
        if count > MAX_NODES:
            raise FileError(f"more than {MAX_NODES} values", file, event.start_mark.line + 1)


class _Yaml(_Nodes):
    """Converts the nodes of PyYAML."""

    def node(self, yaml_node: Any, path: tuple[str, ...], ancestors: tuple[int, ...]) -> Node:
        node = self.begin(yaml_node.start_mark.line + 1, path, len(ancestors))
        if id(yaml_node) in ancestors:
            node.fail("an alias contains itself")
        if yaml_node.tag.removeprefix(STANDARD) not in PLAIN_TAGS:
            tag = yaml_node.tag.replace(STANDARD, "!!")
            node.fail(f"the tag {tag} is refused: a model consists of text, numbers, lists and mappings")
        ancestors = (*ancestors, id(yaml_node))
        if yaml_node.id == "scalar":
            return replace(node, text=yaml_node.value, quoted=yaml_node.style in ("'", '"', "|", ">"))
        if yaml_node.id == "sequence":
            items = (self.node(item, _item_path(path, k), ancestors) for k, item in enumerate(yaml_node.value))
            return replace(node, items=tuple(items))
        return self._mapping(yaml_node, node, ancestors)

    def _mapping(self, yaml_node: Any, node: Node, ancestors: tuple[int, ...]) -> Node:
        entries: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        lines: dict[str, int] = {}
        for key, value in yaml_node.value:
            key_node = replace(node, line=key.start_mark.line + 1)
            if key.id != "scalar":
                key_node.fail("a key is a list or a mapping; keys are words")
            if key.tag == f"{STANDARD}merge":
                for merged_node in value.value if value.id == "sequence" else [value]:
                    if merged_node.id != "mapping":
                        key_node.fail("<< takes a mapping, or a list of them")
                    for name, inner in (self.node(merged_node, node.path, ancestors).entries or {}).items():
                        merged.setdefault(name, inner)
                continue
            _require_new(node, key.value, key_node.line, lines)
            lines[key.value] = key_node.line
            entries[key.value] = replace(self.node(value, (*node.path, key.value), ancestors), line=key_node.line)
        merged = {name: inner for name, inner in merged.items() if name not in entries}
        merged_lines = {name: inner.line for name, inner in merged.items()}
        return replace(node, entries=merged | entries, key_lines=merged_lines | lines)


# --- JSON -------------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]|[^][{}",:\s]+')  # commas and colons are left out


def _json_root(text: str, file: str) -> Node:
    """The root node of JSON. The syntax is checked by `json.loads`, which does not return the lines of values."""
    try:
        json.loads(text, parse_int=str)
    except json.JSONDecodeError as error:
        raise FileError(f"not JSON: {error.msg}, column {error.colno}", file, error.lineno) from None
    except RecursionError:
        raise FileError(f"nested more than {MAX_DEPTH} deep", file) from None
    reader = _Json(file, text)
    return reader.node(next(reader.tokens), (), 0)


class _Json(_Nodes):
    """Converts tokens to nodes in order; `ends` are the positions of line ends."""

    def __init__(self, file: str, text: str) -> None:
        super().__init__(file)
        self.tokens = TOKEN.finditer(text)
        self.ends = [match.start() for match in re.finditer("\n", text)]

    def node(self, token: re.Match[str], path: tuple[str, ...], depth: int) -> Node:
        line, first = self.line(token), token[0][0]
        node = self.begin(line, path, depth)
        if first == "[":
            items: list[Node] = []
            while (inner := next(self.tokens))[0] != "]":
                items.append(self.node(inner, _item_path(path, len(items)), depth + 1))
            return replace(node, items=tuple(items))
        if first == "{":
            entries: dict[str, Node] = {}
            lines: dict[str, int] = {}
            while (inner := next(self.tokens))[0] != "}":
                key = json.loads(inner[0])
                _require_new(node, key, self.line(inner), lines)
                lines[key] = self.line(inner)
                entries[key] = self.node(next(self.tokens), (*path, key), depth + 1)
            return replace(node, entries=entries, key_lines=lines)
        quoted = first == '"'
        return replace(node, text=json.loads(token[0]) if quoted else token[0], quoted=quoted)

    def line(self, token: re.Match[str]) -> int:
        """The number of the line of a token."""
        return bisect(self.ends, token.start()) + 1


# --- XML --------------------------------------------------------------------------------------------------------------
#
# A tree of tags with their lines. Document types and entities are refused: they can expand without limit, or read files.


@dataclass
class Tag:
    """A tag: its name, attributes, the tags inside it, and its line in the file."""

    name: str
    attributes: Mapping[str, str]
    file: str
    line: int
    inside: list[Tag] = field(default_factory=list)

    def first(self, name: str) -> Tag | None:
        """The first tag of this name inside; None if there is none."""
        return next((tag for tag in self.inside if tag.name == name), None)

    def require(self, name: str) -> Tag:
        """The first tag of this name inside. Raises FileError if there is none."""
        return self.first(name) or self.fail(f"it has no <{name} …/>; add one")

    def fail(self, message: str) -> NoReturn:
        """Raises FileError at this tag."""
        raise FileError(message, self.file, self.line, f"<{self.name}>")

    def text(self, key: str) -> str:
        """The text of an attribute. Raises FileError if it is missing or empty."""
        if not self.attributes.get(key, "").strip():
            self.fail(f"{key!r} is missing; it has {', '.join(self.attributes) or 'nothing'}")
        return self.attributes[key].strip()

    def numbers(self, key: str, default: tuple[float, ...]) -> np.ndarray:
        """An attribute of numbers, as many as the default has. Raises FileError if there are others."""
        if key not in self.attributes:
            return np.array(default)
        try:
            row = finite_row(key, [float(x) for x in self.attributes[key].split()])
        except ValueError:
            row = np.zeros(0)
        if len(row) != len(default):
            self.fail(
                f"{key} is {self.attributes[key]!r}; expected {'a number' if len(default) == 1 else f'{len(default)} numbers'}"
            )
        return row

    def walk(self) -> Iterator[Tag]:
        """This tag and all inside it."""
        yield self
        for tag in self.inside:
            yield from tag.walk()

    def number(self, key: str, default: float | None = None) -> float:
        """An attribute of one number."""
        if default is None:
            self.text(key)
        return float(self.numbers(key, (default or 0.0,))[0])


def read_tags(path: Path, root: str) -> Tag:
    """The outermost tag of a file. Raises FileError if its name is not `root`."""
    parser, open_tags = expat.ParserCreate("utf-8"), [Tag("", {}, path.name, 0)]

    def start(name: str, attributes: dict[str, str]) -> None:
        tag = Tag(name, attributes, path.name, parser.CurrentLineNumber)
        if len(open_tags) > MAX_TAG_DEPTH:
            tag.fail(f"nested more than {MAX_TAG_DEPTH} deep")
        open_tags[-1].inside.append(tag)
        open_tags.append(tag)

    def refuse(*arguments: Any) -> None:
        raise FileError("document types and entities are refused", path.name, parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EndElementHandler = start, lambda name: open_tags.pop()
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(read_text(path, path.suffix).encode(), True)
    except expat.ExpatError as error:
        raise FileError(f"not XML: {expat.errors.messages[error.code]}", path.name, error.lineno) from None
    outermost = open_tags[0].inside[0]
    if outermost.name != root:
        outermost.fail(f"this is not a {root}; expected <{root}> as the outermost tag")
    return outermost


# --- writing ----------------------------------------------------------------------------------------------------------

WIDTH = 110
NUMBERS = (f"{STANDARD}float", f"{STANDARD}int")


def to_json(data: dict[str, Any]) -> str:
    """Plain data as JSON."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_yaml(data: dict[str, Any]) -> str:
    """Plain data as YAML in blocks, with short values on one line; the same text for the same data."""
    yaml = _package("")

    class Dumper(yaml.SafeDumper):  # type: ignore[name-defined]
        def ignore_aliases(self, value: object) -> bool:
            return True

        def represent_data(self, value: object) -> Any:
            node = super().represent_data(value)
            if isinstance(value, dict | list):
                flat = isinstance(value, list) and not any(isinstance(inner, dict | list) for inner in value)
                node.flow_style = flat or len(json.dumps(value, ensure_ascii=False)) < WIDTH
            for key, _ in node.value if isinstance(value, dict) else ():  # numbers as keys need no quotation marks
                tag = self.resolve(yaml.ScalarNode, key.value, (True, False))
                key.tag = tag if tag in NUMBERS else key.tag
            return node

        def represent_float(self, value: float) -> Any:
            """A float with all digits, in scientific notation if it is very small or large."""
            if value == 0.0 or 1e-4 <= abs(value) < 1e5:
                return super().represent_float(value)
            return self.represent_scalar(NUMBERS[0], np.format_float_scientific(value, trim="0", exp_digits=1))

    Dumper.add_representer(float, Dumper.represent_float)
    options: dict[str, Any] = {"Dumper": Dumper, "sort_keys": False, "allow_unicode": True, "width": WIDTH}
    return str(yaml.dump(data, **options))
