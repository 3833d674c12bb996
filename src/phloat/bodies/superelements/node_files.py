"""Coordinates of nodes from text: `*NODE` of CalculiX and Abaqus, `GRID` of Nastran, or a table.

Read are, by what the file holds: `*NODE` blocks of an input file (lines `number, x, y, z`; and `*NSET` with or without GENERATE
for the names of interfaces), `GRID` cards in basic coordinates (CP and CD blank or 0) in small, large and free fields, and
tables of `number, x, y, z` with commas or blanks, under a heading or none.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phloat.bodies.superelements.bulk_data import cards
from phloat.bodies.superelements.matrix_files import read_text
from phloat.errors import InputError


class Nodes(NamedTuple):
    """Numbers of nodes, their points (nodes, 3), and sets of node numbers by name."""

    numbers: np.ndarray
    points: np.ndarray
    sets: dict[str, list[int]]


def read_nodes(path: str | Path) -> Nodes:
    """The nodes of a file."""
    path = Path(path)
    text = read_text(path)
    try:
        if re.search(r"^\s*\*NODE\b", text, re.IGNORECASE | re.MULTILINE):
            rows, sets = _input_file(text)
        elif re.search(r"^GRID", text, re.IGNORECASE | re.MULTILINE):
            rows, sets = _grids(text), {}
        else:
            rows, sets = _rows(text.splitlines(), heading=True), {}
        if not rows:
            raise InputError("no nodes: there is no *NODE, no GRID and no table of number, x, y, z")
        numbers = [int(row[0]) for row in rows]
        if len(set(numbers)) < len(numbers):
            twice = next(n for n in numbers if numbers.count(n) > 1)
            raise InputError(f"node {twice} is there twice")
        return Nodes(np.array(numbers), np.array([row[1:] for row in rows], dtype=float), sets)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None


def _input_file(text: str) -> tuple[list[tuple[float, ...]], dict[str, list[int]]]:
    rows: list[tuple[float, ...]] = []
    sets: dict[str, list[int]] = {}
    blocks = re.split(r"^\s*\*(?!\*)", text, flags=re.MULTILINE)[1:]
    for block in blocks:
        head, *lines = block.splitlines()
        words = [word.strip().upper() for word in head.split(",")]
        lines = [line for line in lines if line.strip() and not line.lstrip().startswith("**")]
        names = [word.partition("=")[2].strip() for word in words if word.replace(" ", "").startswith("NSET=")]
        if words[0] == "NODE":
            there = _rows(lines)
            rows.extend(there)
            if names:
                sets.setdefault(names[0], []).extend(int(row[0]) for row in there)
        elif words[0] == "NSET" and names:
            sets.setdefault(names[0], []).extend(_members(lines, sets, generate="GENERATE" in words))
    return rows, sets


def _members(lines: list[str], sets: dict[str, list[int]], *, generate: bool) -> list[int]:
    out: list[int] = []
    for line in lines:
        parts = [part.strip().upper() for part in line.split(",") if part.strip()]
        if generate:
            start, stop, step = (*map(int, parts), 1)[:3]
            out.extend(range(start, stop + 1, step))
        else:
            for part in parts:
                out.extend(sets[part] if part in sets else [int(part)])
    return out


def _grids(text: str) -> list[tuple[float, ...]]:
    rows = []
    for card in cards(text):
        if card.name != "GRID":
            continue
        number = card.whole(0, "ID")
        for k, what in ((1, "CP"), (5, "CD")):
            if card.whole(k, what, 0):
                raise InputError(
                    f"line {card.line}: GRID {number} has {what} = {card.field(k)}; only basic coordinates are read: write the "
                    "model without local coordinate systems"
                )
        rows.append((number, *(card.real(k, name) for k, name in ((2, "X1"), (3, "X2"), (4, "X3")))))
    return rows


def _rows(lines: list[str], *, heading: bool = False) -> list[tuple[float, ...]]:
    rows: list[tuple[float, ...]] = []
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
        if len(x) > 3 or len(x) < 1 or number != int(number) or not np.isfinite(x).all():
            raise InputError(f"lines must hold number, x, y, z; there is {line.strip()!r}")
        rows.append((number, *x, *[0.0] * (3 - len(x))))
    return rows
