"""Meshes in input decks of finite-element programs: Abaqus .inp and Nastran bulk data, as far as they say what a mesh is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from phloat.errors import InputError
from phloat.fem.mesh_parts import Parts

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
# name of a Nastran element → names of the cells by their number of nodes; where its nodes go in VTK's order if elsewhere
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


def abaqus(text: str) -> Parts:
    """*NODE, *ELEMENT, *ELSET, *NSET of one part; the rest of the deck is passed over."""
    sections = list(_sections(text))
    if (count := sum(keyword == "INSTANCE" for keyword, *_ in sections)) > 1:
        raise InputError(f"it assembles {count} instances of parts; write the deck of one part")
    nodes: dict[int, list[float]] = {}
    elements: dict[str, list[list[int]]] = {}
    members: dict[str, list[int]] = {}
    points: dict[str, list[int]] = {}
    for keyword, options, lines in sections:
        if keyword == "NODE":
            new = {int(n): [float(c) for c in x[:3]] for n, *x in lines}
            if again := new.keys() & nodes.keys():
                raise InputError(
                    f"node {min(again)} is there twice: the deck has several parts; write the deck of one part"
                )
            nodes |= new
            points.setdefault(options.get("NSET", "").upper(), []).extend(new)
        elif keyword == "ELEMENT":
            name, count = _abaqus_kind(options.get("TYPE", ""))
            rows = np.array([int(v) for line in lines for v in line])
            if len(rows) % (count + 1):
                raise InputError(f"elements of type {options['TYPE']} do not have {count} nodes each")
            new_rows = rows.reshape(-1, count + 1).tolist()
            elements.setdefault(name, []).extend(new_rows)
            members.setdefault(options.get("ELSET", "").upper(), []).extend(row[0] for row in new_rows)
        elif keyword in ("ELSET", "NSET"):
            sets = members if keyword == "ELSET" else points
            sets.setdefault(options.get(keyword, "").upper(), []).extend(_listed(lines, options, sets))
    names = {
        o[k].upper(): o[k] for _, o, _ in sections for k in ("ELSET", "NSET") if k in o
    }  # as the deck first wrote them
    points = {names[k]: v for k, v in points.items() if k}
    return _numbered(nodes, elements, {names[k]: v for k, v in members.items() if k}, points)


def _sections(text: str) -> Iterator[tuple[str, dict[str, str], list[list[str]]]]:
    """Keyword, options and lines of data, split at their commas, of every keyword of the deck."""
    for part in re.split(r"^\s*\*(?!\*)", re.sub(r"^\s*\*\*.*$", "", text, flags=re.MULTILINE), flags=re.MULTILINE)[1:]:
        head, *lines = part.splitlines()
        while head.rstrip().endswith(",") and lines:
            head += lines.pop(0)
        keyword, *rest = (word.strip() for word in head.split(","))
        options = {k.strip().upper(): v.strip().strip('"') for k, _, v in (word.partition("=") for word in rest)}
        data = [[v.strip() for v in line.split(",") if v.strip()] for line in lines if line.strip()]
        yield keyword.upper(), options, data


def _abaqus_kind(name: str) -> tuple[str, int]:
    for pattern, kind, count in _ABAQUS:
        if re.fullmatch(rf"(?:{pattern})(?!\d)[A-Z0-9]*", name.upper()):
            return kind, count
    raise InputError(
        f"elements of type {name!r} are not known here; solids are C3D4, C3D10, C3D8, C3D20, planes CPS3 … CPS8"
    )


def _listed(lines: list[list[str]], options: dict[str, str], sets: dict[str, list[int]]) -> list[int]:
    if "GENERATE" in options:
        ranges = [(*map(int, line), 1)[:3] for line in lines]
        return [k for first, last, step in ranges for k in range(first, last + 1, step)]
    out = []
    for word in (word for line in lines for word in line):
        out += [int(word)] if word.isdigit() else sets.get(word.upper(), [])
    return out


def nastran(text: str) -> Parts:
    """GRID and elements of the bulk data; each property is a set, called "property 7"."""
    nodes: dict[int, list[float]] = {}
    elements: dict[str, list[list[int]]] = {}
    members: dict[str, list[int]] = {}
    for name, *fields in _cards(text):
        if name == "GRID":
            if fields[1] not in ("", "0"):
                raise InputError(
                    f"GRID {fields[0]} is in the coordinate system {fields[1]}; write all in the basic one"
                )
            nodes[int(fields[0])] = [_real(x) for x in (*fields[2:5], "", "", "")[:3]]
        elif name in _NASTRAN:
            sizes = _NASTRAN[name]
            room = max(sizes) if max(sizes) < 9 else None  # plates and bars have other fields behind their nodes
            given = [int(f) for f in fields[2:][:room] if f.isdigit()]
            if len(given) not in sizes:
                raise InputError(
                    f"{name} {fields[0]} has {len(given)} nodes; it must have {' or '.join(map(str, sizes))}"
                )
            ordered = [given[k] for k in _CHEXA20] if len(given) == 20 else given
            elements.setdefault(sizes[len(given)], []).append([int(fields[0]), *ordered])
            members.setdefault(f"property {fields[1] or fields[0]}", []).append(int(fields[0]))
    return _numbered(nodes, elements, members, {})


def _cards(text: str) -> Iterator[list[str]]:
    """The fields of every card, continuation lines joined: free (commas), small (8 columns) or large (16, names with *)."""
    card: list[str] = []
    for line in text.partition("BEGIN BULK")[2].splitlines() if "BEGIN BULK" in text else text.splitlines():
        line = line.split("$")[0].rstrip().expandtabs(8)
        if not line or line.startswith("ENDDATA"):
            continue
        if "," in line:
            fields = [f.strip() for f in line.split(",")]
            first, rest, width = fields[0], fields[1:9], 8
        else:
            first = line[:8].strip()
            wide = 16 if "*" in first else 8
            width = 64 // wide
            body = line[8:72].ljust(64)
            rest = [body[k : k + wide].strip() for k in range(0, 64, wide)]
        rest += [""] * (width - len(rest))
        if first == "" or first[0] in "+*":
            card += rest
        else:
            if card:
                yield card
            # meshio writes CTETRA_ where there are middles
            card = [first.rstrip("*_").upper(), *rest]
    if card:
        yield card


def _real(text: str) -> float:
    """Nastran writes 1.5-3 for 1.5e-3, and nothing for 0."""
    return float(re.sub(r"(?<=[\d.])([+-]\d+)$", r"e\1", text.replace("D", "E"))) if text else 0.0


def _numbered(
    nodes: dict[int, list[float]],
    elements: dict[str, list[list[int]]],
    members: dict[str, list[int]],
    points: dict[str, list[int]],
) -> Parts:
    """Numbers as in the file replaced by places in arrays."""
    place = {number: k for k, number in enumerate(nodes)}
    missing = {n for rows in elements.values() for row in rows for n in row[1:]} - nodes.keys()
    if missing:
        raise InputError(f"{len(missing)} nodes of its elements are not there, first node {min(missing)}")
    parts = Parts(np.array([[*x, 0.0][:3] for x in nodes.values()]).reshape(-1, 3))
    where: dict[int, tuple[int, int]] = {}
    for block, (name, rows) in enumerate(elements.items()):
        parts.blocks.append((name, np.array([[place[n] for n in row[1:]] for row in rows])))
        where |= {row[0]: (block, k) for k, row in enumerate(rows)}
    for label, numbers in members.items():
        found = np.array([where[n] for n in dict.fromkeys(numbers) if n in where]).reshape(-1, 2)
        parts.sets[label] = {int(b): found[found[:, 0] == b, 1] for b in np.unique(found[:, 0])}
    for label, numbers in points.items():
        parts.node_sets[label] = np.array([place[n] for n in numbers if n in place], dtype=int)
    return parts
