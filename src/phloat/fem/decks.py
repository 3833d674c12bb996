"""Input decks of finite-element programs: keywords of Abaqus and CalculiX (.inp), bulk data of Nastran.

`sections` and `cards` split the text of a deck. `abaqus` and `nastran` read the mesh in a deck, `read_nodes` the nodes of
a file alone: `*NODE` blocks (with their `*NSET`), `GRID` cards in basic coordinates, or a table of `number, x, y, z` with commas or
blanks, under a heading or none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from phloat.errors import InputError

Rows: TypeAlias = list[tuple[float, ...]]  # number, x, y, z


@dataclass
class MeshData:
    """What a mesh file of any format holds: points, blocks of cells, and sets by name.

    Blocks are (name of the cells, node numbers); sets name cells, {name: {block: numbers of cells in it}}, or nodes.
    """

    points: np.ndarray
    blocks: list[tuple[str, np.ndarray]] = field(default_factory=list)
    sets: dict[str, dict[int, np.ndarray]] = field(default_factory=dict)
    node_sets: dict[str, np.ndarray] = field(default_factory=dict)


# the beginning of an element's type and its number of nodes: CPS3, S4R, C3D10M, …
_ABAQUS = (
    (r"C3D4|DC3D4", "tetra", 4),
    (r"C3D10|DC3D10", "tetra10", 10),
    (r"C3D8|DC3D8|SC8", "hexahedron", 8),
    (r"C3D20|DC3D20", "hexahedron20", 20),
    (r"C3D6|SC6", "wedge", 6),
    (r"C3D15", "wedge15", 15),
    (r"C3D5", "pyramid", 5),
    (r"CP[SE]3|S3|STRI3|R3D3|M3D3|SFM3D3|CAX3", "triangle", 3),
    (r"CP[SE]6|STRI65|M3D6|SFM3D6|CAX6", "triangle6", 6),
    (r"CP[SE]4|S4|R3D4|M3D4|SFM3D4|CAX4", "quad", 4),
    (r"CP[SE]8|S8|M3D8|SFM3D8|CAX8", "quad8", 8),
    (r"S9|M3D9", "quad9", 9),
    (r"T[23]D2|B[23]1|R2D2", "line", 2),
    (r"T[23]D3|B[23]2", "line3", 3),
)
# name of a Nastran element → names of the cells by their number of nodes
_NASTRAN = {
    "CTRIA3": {3: "triangle"},
    "CTRIAR": {3: "triangle"},
    "CTRIA6": {6: "triangle6"},
    "CQUAD4": {4: "quad"},
    "CQUADR": {4: "quad"},
    "CQUAD8": {8: "quad8"},
    "CTETRA": {4: "tetra", 10: "tetra10"},
    "CHEXA": {8: "hexahedron", 20: "hexahedron20"},
    "CPENTA": {6: "wedge", 15: "wedge15"},
    "CPYRAM": {5: "pyramid", 13: "pyramid13"},
    "CROD": {2: "line"},
    "CBAR": {2: "line"},
    "CBEAM": {2: "line"},
}
_CHEXA20 = [*range(12), *range(16, 20), *range(12, 16)]  # upright edges come before those of the top
_SHORT = re.compile(r"^([+-]?[\d.]+)([+-]\d+)$")  # 1.5+3


def read_deck(path: Path) -> str:
    """The text of a file, decoded as Latin-1, which accepts any byte. Raises InputError if it cannot be read."""
    try:
        return path.read_text(encoding="latin-1")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


# --- keywords of Abaqus and CalculiX ---------------------------------------------------------------------------------


class DeckSection(NamedTuple):
    """A keyword of an Abaqus deck, its options and its data lines."""

    keyword: str
    options: dict[str, str]
    lines: list[str]

    def option(self, name: str) -> str:
        """The value of an option in capitals, or an empty string."""
        return self.options.get(name, "").upper()

    def rows(self) -> list[list[str]]:
        """The data lines, split at commas; empty fields are dropped."""
        return [[word.strip() for word in line.split(",") if word.strip()] for line in self.lines]


def sections(text: str) -> Iterator[DeckSection]:
    """Yields the keywords of a deck; comments (**) are skipped, and a line that ends with a comma is continued."""
    for part in re.split(r"^\s*\*(?!\*)", re.sub(r"^\s*\*\*.*$", "", text, flags=re.MULTILINE), flags=re.MULTILINE)[1:]:
        head, *lines = part.splitlines()
        while head.rstrip().endswith(",") and lines:
            head += lines.pop(0)
        keyword, *rest = (word.strip() for word in head.split(","))
        options = {k.strip().upper(): v.strip().strip('"') for k, _, v in (word.partition("=") for word in rest)}
        yield DeckSection(keyword.upper(), options, [line for line in lines if line.strip()])


def _set_members(section: DeckSection, sets: dict[str, list[int]], *, strict: bool = False) -> list[int]:
    """The members of a set: numbers, GENERATE ranges, or names of other sets. With `strict` an unknown set raises InputError."""
    if "GENERATE" in section.options:
        ranges = [(*map(int, row), 1)[:3] for row in section.rows()]
        return [k for first, last, step in ranges for k in range(first, last + 1, step)]
    out = []
    for word in (word for row in section.rows() for word in row):
        if not word.isdigit() and strict and word.upper() not in sets:
            raise InputError(f"{section.keyword} {section.option(section.keyword)} names {word!r}, no set before it")
        out += [int(word)] if word.isdigit() else sets.get(word.upper(), [])
    return out


# --- cards of Nastran ------------------------------------------------------------------------------------------------


class Card(NamedTuple):
    """A card of Nastran: its name, the fields after the name, and the number of its first line."""

    name: str
    fields: list[str]
    line: int

    def field(self, k: int) -> str:
        """Field k, counted from 0; an empty string beyond the last."""
        return self.fields[k] if k < len(self.fields) else ""

    def integer(self, k: int, label: str, default: int | None = None) -> int:
        """Field k as an integer, `default` if it is blank. Raises InputError with the label of the field if it is no integer."""
        text = self.field(k)
        try:
            return default if not text and default is not None else int(text)
        except ValueError:
            raise InputError(f"line {self.line}: {label} of {self.name} is {text!r}, no whole number") from None

    def real(self, k: int, label: str) -> float:
        """Field k as a real number, 0 if it is blank. Raises InputError with the label of the field if it is no number."""
        try:
            return real(self.field(k))
        except ValueError:
            text = self.field(k).upper()
            problem = f"{label} of {self.name} is {text!r}; it must be a real number"
            raise InputError(f"line {self.line}: {problem}") from None


def real(text: str) -> float:
    """The value of a Nastran number: 1.5, 1.5E+3, 1.5D+3, 1.5+3; blank is zero. Raises ValueError if it is not a number."""
    text = text.strip().upper().replace("D", "E")
    if short := _SHORT.match(text):
        text = f"{short[1]}E{short[2]}"
    return float(text) if text else 0.0


def cards(text: str) -> Iterator[Card]:
    """Yields all cards with their continuation lines; comments ($) and the lines up to BEGIN BULK are skipped."""
    lines = text.splitlines()
    begin = [k for k, line in enumerate(lines) if re.match(r"\s*BEGIN\s*,?\s*(BULK|SUPER)", line, re.IGNORECASE)]
    card: Card | None = None
    for number, line in enumerate(lines, 1):
        if number <= (begin[0] + 1 if begin else 0):
            continue
        line = line.split("$")[0].rstrip().expandtabs(8)
        if not line.strip():
            continue
        if line.strip().upper().startswith("ENDDATA"):
            break
        first, fields = _split(line)
        if first == "" or first[0] in "+*":
            if card is None:
                raise InputError(f"line {number} continues a card, but there is none before it: {line.strip()!r}")
            card.fields.extend(fields)
            continue
        if card is not None:
            yield card
        card = Card(first.rstrip("*_").upper(), fields, number)  # meshio writes CTETRA_ where there are middles
    if card is not None:
        yield card


def _split(line: str) -> tuple[str, list[str]]:
    """The first field of a line and its eight others (four if large), without the continuation name at the end."""
    if "," in line:
        first, *parts = (part.strip() for part in line.split(","))
        count = 4 if "*" in first else 8
        return first, (parts + [""] * count)[:count]
    first = line[:8].strip()
    width, count = (16, 4) if "*" in first else (8, 8)
    return first, [line[8 + k * width : 8 + (k + 1) * width].strip() for k in range(count)]


# --- meshes ----------------------------------------------------------------------------------------------------------


def abaqus(text: str) -> MeshData:
    """The mesh in an Abaqus deck of one part: *NODE, *ELEMENT, *ELSET, *NSET; other keywords are ignored."""
    deck = list(sections(text))
    if (count := sum(section.keyword == "INSTANCE" for section in deck)) > 1:
        raise InputError(f"it assembles {count} instances of parts; write the deck of one part")
    rows, points = _deck_nodes(deck)
    elements: dict[str, list[list[int]]] = {}
    members: dict[str, list[int]] = {}
    for section in deck:
        if section.keyword == "ELEMENT":
            name, count = _abaqus_kind(section.options.get("TYPE", ""))
            numbers = np.array([int(word) for row in section.rows() for word in row])
            if len(numbers) % (count + 1):
                raise InputError(f"elements of type {section.options['TYPE']} do not have {count} nodes each")
            element_rows = numbers.reshape(-1, count + 1).tolist()
            elements.setdefault(name, []).extend(element_rows)
            members.setdefault(section.option("ELSET"), []).extend(row[0] for row in element_rows)
        elif section.keyword == "ELSET":
            members.setdefault(section.option("ELSET"), []).extend(_set_members(section, members))
    names = {
        s.options[k].upper(): s.options[k] for s in deck for k in ("ELSET", "NSET") if k in s.options
    }  # keys in capitals → names as the deck spells them
    points = {names[k]: v for k, v in points.items() if k}
    return _numbered(rows, elements, {names[k]: v for k, v in members.items() if k}, points)


def _deck_nodes(deck: Iterable[DeckSection], *, strict: bool = False) -> tuple[Rows, dict[str, list[int]]]:
    """Rows (number, x, y, z) of all nodes, and the node sets by their names in capitals."""
    rows: Rows = []
    sets: dict[str, list[int]] = {}
    for section in deck:
        if section.keyword == "NODE":
            block = _rows(section.lines)
            rows.extend(block)
            sets.setdefault(section.option("NSET"), []).extend(int(row[0]) for row in block)
        elif section.keyword == "NSET":
            sets.setdefault(section.option("NSET"), []).extend(_set_members(section, sets, strict=strict))
    return rows, sets


def _abaqus_kind(name: str) -> tuple[str, int]:
    """The name of the cells and the number of nodes of an Abaqus element type. Raises InputError if it is unknown."""
    for pattern, kind, count in _ABAQUS:
        if re.fullmatch(rf"(?:{pattern})(?!\d)[A-Z0-9]*", name.upper()):
            return kind, count
    raise InputError(f"elements of type {name!r} are unknown; solids are C3D4, C3D10, C3D8, C3D20, planes CPS3 … CPS8")


def nastran(text: str) -> MeshData:
    """The mesh in Nastran bulk data: GRID and elements; each property becomes a set, called "property 7"."""
    rows: Rows = []
    elements: dict[str, list[list[int]]] = {}
    members: dict[str, list[int]] = {}
    for card in cards(text):
        name, fields = card.name, card.fields
        if name == "GRID":
            rows.append(_grid(card, CP=1))
        elif name in _NASTRAN:
            sizes = _NASTRAN[name]
            most = max(sizes) if max(sizes) < 9 else None  # plates and bars have further fields after their nodes
            nodes = [int(f) for f in fields[2:][:most] if f.isdigit()]
            if len(nodes) not in sizes:
                raise InputError(f"{name} {fields[0]} has {len(nodes)} nodes, not {' or '.join(map(str, sizes))}")
            ordered = [nodes[k] for k in _CHEXA20] if len(nodes) == 20 else nodes
            elements.setdefault(sizes[len(nodes)], []).append([int(fields[0]), *ordered])
            members.setdefault(f"property {fields[1] or fields[0]}", []).append(int(fields[0]))
    return _numbered(rows, elements, members, {})


def _grid(card: Card, **systems: int) -> tuple[float, ...]:
    """Number, x, y, z of a GRID card; `systems` maps names of coordinate systems to fields that must be blank or 0 (basic)."""
    number = card.integer(0, "ID")
    for label, k in systems.items():
        if card.integer(k, label, 0):
            raise InputError(
                f"line {card.line}: GRID {number} has {label} = {card.field(k)}; write the model in basic coordinates"
            )
    return number, *(card.real(k, name) for k, name in ((2, "X1"), (3, "X2"), (4, "X3")))


def _numbered(
    rows: Rows,
    elements: dict[str, list[list[int]]],
    members: dict[str, list[int]],
    points: dict[str, list[int]],
) -> MeshData:
    """The mesh data with the node and element numbers of the file replaced by array indices."""
    place = {int(row[0]): k for k, row in enumerate(rows)}
    _require_once(rows)
    missing = {n for element_rows in elements.values() for row in element_rows for n in row[1:]} - place.keys()
    if missing:
        raise InputError(f"{len(missing)} nodes of its elements are missing, first node {min(missing)}; write them too")
    parts = MeshData(np.array([row[1:] for row in rows]).reshape(-1, 3))
    location: dict[int, tuple[int, int]] = {}
    for block, (name, element_rows) in enumerate(elements.items()):
        parts.blocks.append((name, np.array([[place[n] for n in row[1:]] for row in element_rows])))
        location |= {row[0]: (block, k) for k, row in enumerate(element_rows)}
    for label, numbers in members.items():
        locations = np.array([location[n] for n in dict.fromkeys(numbers) if n in location]).reshape(-1, 2)
        parts.sets[label] = {int(b): locations[locations[:, 0] == b, 1] for b in np.unique(locations[:, 0])}
    for label, numbers in points.items():
        parts.node_sets[label] = np.array([place[n] for n in numbers if n in place], dtype=int)
    return parts


# --- nodes alone -----------------------------------------------------------------------------------------------------


class NodeTable(NamedTuple):
    """Numbers of nodes, their points (nodes, 3), and sets of node numbers by name."""

    numbers: np.ndarray
    points: np.ndarray
    sets: dict[str, list[int]]


def read_nodes(path: str | PathLike[str]) -> NodeTable:
    """The nodes of a deck or table. Raises InputError, with the name of the file, if there are none or a number repeats."""
    path = Path(path)
    text = read_deck(path)
    try:
        if re.search(r"^\s*\*NODE\b", text, re.IGNORECASE | re.MULTILINE):
            rows, sets = _deck_nodes(sections(text), strict=True)
        elif re.search(r"^GRID", text, re.IGNORECASE | re.MULTILINE):
            rows, sets = [_grid(card, CP=1, CD=5) for card in cards(text) if card.name == "GRID"], {}
        else:
            rows, sets = _rows(text.splitlines(), heading=True), {}
        if not rows:
            raise InputError("no nodes: there is no *NODE, no GRID and no table of number, x, y, z")
        _require_once(rows)
        table = np.array(rows, dtype=float)
        return NodeTable(table[:, 0].astype(int), table[:, 1:], {name: ids for name, ids in sets.items() if name})
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None


def _require_once(rows: Rows) -> None:
    """Raises InputError if a node number occurs twice, as in a deck of several parts."""
    numbers, count = np.unique([row[0] for row in rows], return_counts=True)
    if (count > 1).any():
        raise InputError(
            f"node {int(numbers[count.argmax()])} is there twice; number each node once, and write the deck of one part"
        )


def _rows(lines: list[str], *, heading: bool = False) -> Rows:
    """Rows (number, x, y, z) from lines of text; missing coordinates are 0, further columns are ignored."""
    rows: Rows = []
    for line in lines:
        parts = line.replace(",", " ").replace(";", " ").split()
        if not parts or parts[0].startswith("#"):
            continue
        try:
            number, *x = map(float, parts)
        except ValueError:
            if heading and not rows:
                heading = False
                continue
            raise InputError(f"lines must hold number, x, y, z; there is {line.strip()!r}") from None
        if not x or number != int(number) or not np.isfinite(x).all():
            raise InputError(f"lines must hold number, x, y, z; there is {line.strip()!r}")
        rows.append((number, *[*x, 0.0, 0.0][:3]))
    return rows
