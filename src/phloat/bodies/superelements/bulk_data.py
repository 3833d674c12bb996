"""Nastran bulk data as text: cards in small fields (8 columns), large fields (16 columns, `*`) and free fields (commas)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from phloat.errors import InputError

SHORT = re.compile(r"^([+-]?[\d.]+)([+-]\d+)$")  # 1.5+3


class Card(NamedTuple):
    """The name of a card, its fields (the name not counted) and the line where it starts."""

    name: str
    fields: list[str]
    line: int

    def field(self, k: int) -> str:
        """Field k, counted from 0, empty beyond the last."""
        return self.fields[k] if k < len(self.fields) else ""

    def whole(self, k: int, what: str, default: int | None = None) -> int:
        text = self.field(k)
        if not text and default is not None:
            return default
        try:
            return int(text)
        except ValueError:
            raise InputError(
                f"line {self.line}: {what} of {self.name} is {text!r}; it must be a whole number"
            ) from None

    def real(self, k: int, what: str) -> float:
        return real(self.field(k), f"line {self.line}: {what} of {self.name}")


def real(text: str, what: str) -> float:
    """A number as Nastran writes it: 1.5, 1.5E+3, 1.5D+3, 1.5+3; blank is zero."""
    text = text.strip().upper().replace("D", "E")
    if not text:
        return 0.0
    if short := SHORT.match(text):
        text = f"{short[1]}E{short[2]}"
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{what} is {text!r}; it must be a real number") from None


def cards(text: str) -> Iterator[Card]:
    """All cards of a file with their continuations; comments ($) and what comes before BEGIN BULK are left out."""
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
        if first in ("", "+", "*") or first[0] in "+*":
            if card is None:
                raise InputError(f"line {number} continues a card, but there is none before it: {line.strip()!r}")
            card.fields.extend(fields)
            continue
        if card is not None:
            yield card
        card = Card(first.rstrip("*").upper(), fields, number)
    if card is not None:
        yield card


def _split(line: str) -> tuple[str, list[str]]:
    """The first field of a line and its eight others (four large ones), without the name of a continuation at its end."""
    if "," in line:
        first, *parts = (part.strip() for part in line.split(","))
        count = 4 if "*" in first else 8
        return first, (parts + [""] * count)[:count]
    first = line[:8].strip()
    width, count = (16, 4) if "*" in first else (8, 8)
    return first, [line[8 + k * width : 8 + (k + 1) * width].strip() for k in range(count)]
