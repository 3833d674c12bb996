"""What commands say: sentences and tables for people, one JSON object for machines, notes beside."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
WIDEST = 100  # of prose


@dataclass
class Talk:
    """Speaks on stdout, unless quiet; with `json` the answer comes there instead, as one object. Notes go to stderr."""

    quiet: bool = False
    json: bool = False
    notes: list[str] = field(default_factory=list)

    # --- for people --------------------------------------------------------------------------------------------------

    @property
    def silent(self) -> bool:
        return self.quiet or self.json

    def say(self, text: str = "") -> None:
        """A line."""
        if not self.silent:
            print(text)

    def prose(self, text: str, indent: str = "") -> None:
        """A sentence, broken into lines that fit."""
        width = max(min(width_of(sys.stdout), WIDEST), 20)
        self.say("\n".join(textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent)))

    def title(self, text: str) -> None:
        self.say(styled(text, "bold", sys.stdout))

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Columns, numbers to the right; on a narrow terminal the last column goes on in lines of its own."""
        if self.silent:
            return
        for line in columns(heads, rows, width_of(sys.stdout)):
            print(line)

    def facts(self, said: Mapping[str, object]) -> None:
        """Names and what is to say of each."""
        wide = max(map(len, said), default=0)
        width = max(min(width_of(sys.stdout), WIDEST), wide + 24)
        for name, value in said.items():
            first, rest = f"  {name:<{wide}}  ", " " * (wide + 4)
            self.say("\n".join(textwrap.wrap(str(value), width, initial_indent=first, subsequent_indent=rest)) or first)

    def note(self, text: str) -> None:
        """Something that a careful user wants to know; said once."""
        if text in self.notes:
            return
        self.notes.append(text)
        if not self.quiet:
            sys.stderr.write(f"{styled('note', 'yellow', sys.stderr)}: {text}\n")

    def complain(self, text: str) -> None:
        """What went wrong; said even when quiet."""
        sys.stderr.write(f"{styled('phloat', 'red', sys.stderr)}: {text}\n")

    # --- for machines ------------------------------------------------------------------------------------------------

    def answer(self, data: Mapping[str, Any]) -> None:
        """The one object on stdout."""
        if self.json:
            print(as_json(data))


def as_json(data: Any) -> str:
    """JSON as it is defined: NaN and infinity become null."""
    return json.dumps(plain(data), indent=1, ensure_ascii=not _utf8(sys.stdout), allow_nan=False)


def plain(x: Any) -> Any:
    """The same in what JSON knows."""
    if isinstance(x, Mapping):
        return {str(key): plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(value) for value in x]
    if hasattr(x, "tolist"):  # numbers and arrays of NumPy
        return plain(x.tolist())
    if isinstance(x, complex):
        return {"re": plain(x.real), "im": plain(x.imag)}
    if isinstance(x, float):
        return x if math.isfinite(x) else None
    return x if x is None or isinstance(x, (bool, int, str)) else str(x)


# --- how it looks ----------------------------------------------------------------------------------------------------


def styled(text: str, style: str, stream: TextIO) -> str:
    """In colour where that is seen and wanted: on a terminal, without NO_COLOR."""
    wanted = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\033[{STYLES[style]}m{text}\033[0m" if wanted else text


def width_of(stream: TextIO) -> int:
    """Columns of a terminal; of a file or a pipe, as many as there may be."""
    return shutil.get_terminal_size().columns if stream.isatty() or "COLUMNS" in os.environ else 10_000


def columns(heads: Sequence[str], rows: Iterable[Sequence[object]], width: int) -> list[str]:
    """Lines of a table."""
    cells = [[number(cell) if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    table = [list(heads), *cells]
    wide = [max(len(row[k]) for row in table) for k in range(len(heads))]
    right = [all(_numeric(row[k]) for row in cells) and bool(cells) for k in range(len(heads))]
    out = []
    for row in table:
        parts = [f"{cell:>{w}}" if r else f"{cell:<{w}}" for cell, w, r in zip(row, wide, right, strict=True)]
        line = "  " + "  ".join(parts).rstrip()
        if len(line) > width and len(row) > 1 and not right[-1]:
            head, room = "  " + "  ".join(parts[:-1]).rstrip(), max(width - 6, 16)
            out += [head, *textwrap.wrap(row[-1], room, initial_indent="      ", subsequent_indent="      ")]
        else:
            out.append(line)
    return out


def number(x: float) -> str:
    """Six digits, which is what people read."""
    return f"{x:.6g}"


def _numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in ("", "—")
    return True


def _utf8(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "") == "utf8"
