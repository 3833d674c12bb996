"""Output of the commands: text and tables, or one JSON object; notes, errors and exit codes.

0 success   1 internal error   2 bad input   3 the computation did not finish   130 interrupted
"""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import sys
import tempfile
import textwrap
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from phloat.algebra.version import __version__

SUCCESS, INTERNAL, INPUT, UNFINISHED, PIPE, INTERRUPTED = 0, 1, 2, 3, 141, 130  # exit codes
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
WIDEST = 100  # of prose


@dataclass
class Console:
    """Prints to stdout unless `quiet`; with `json`, prints one JSON object instead. Notes and errors go to stderr."""

    quiet: bool = False
    json: bool = False
    notes: list[str] = field(default_factory=list)

    # --- for people --------------------------------------------------------------------------------------------------

    def say(self, *lines: str) -> None:
        """Prints lines."""
        if not (self.quiet or self.json):
            print(*lines, sep="\n")

    def title(self, text: str) -> None:
        self.say(styled(text, "bold", sys.stdout))

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Prints columns, numbers to the right; on a narrow terminal the last column is wrapped below."""
        self.say(*table_lines(heads, rows, width(sys.stdout)))

    def facts(self, facts: Mapping[str, object]) -> None:
        """Prints names with their values, wrapped to the width of the terminal."""
        wide = max(map(len, facts), default=0)
        columns = max(min(width(sys.stdout), WIDEST), wide + 24)
        for name, value in facts.items():
            first, rest = f"  {name:<{wide}}  ", " " * (wide + 4)
            self.say(*textwrap.wrap(str(value), columns, initial_indent=first, subsequent_indent=rest) or [first])

    def note(self, text: str) -> None:
        """Prints a warning to stderr, once."""
        if text in self.notes:
            return
        self.notes.append(text)
        if not self.quiet:
            sys.stderr.write(f"{styled('note', 'yellow', sys.stderr)}: {text}\n")

    def error(self, text: str) -> None:
        """Prints an error to stderr, even if quiet."""
        sys.stderr.write(f"{styled('phloat', 'red', sys.stderr)}: {text}\n")

    # --- for machines ------------------------------------------------------------------------------------------------

    def answer(self, data: Mapping[str, Any]) -> None:
        """Prints the one JSON object."""
        if self.json:
            print(as_json(data))


def as_json(data: Any) -> str:
    """Data as strict JSON: NaN and infinity become null."""
    return json.dumps(jsonable(data), indent=1, ensure_ascii=not is_utf(sys.stdout), allow_nan=False)


def jsonable(x: Any) -> Any:
    """Data in types that JSON has."""
    if isinstance(x, Mapping):
        return {str(key): jsonable(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [jsonable(value) for value in x]
    if hasattr(x, "tolist"):  # numbers and arrays of NumPy
        return jsonable(x.tolist())
    if isinstance(x, complex):
        return {"re": jsonable(x.real), "im": jsonable(x.imag)}
    if isinstance(x, float):
        return x if math.isfinite(x) else None
    return x if x is None or isinstance(x, (bool, int, str)) else str(x)


# --- how it looks ----------------------------------------------------------------------------------------------------


def styled(text: str, style: str, stream: TextIO) -> str:
    """Coloured text if the stream is a terminal and NO_COLOR is not set."""
    coloured = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\033[{STYLES[style]}m{text}\033[0m" if coloured else text


def width(stream: TextIO) -> int:
    """Columns of a terminal; unlimited for a file or a pipe."""
    return shutil.get_terminal_size().columns if stream.isatty() or "COLUMNS" in os.environ else 10_000


def table_lines(heads: Sequence[str], rows: Iterable[Sequence[object]], columns: int) -> list[str]:
    """Lines of a table."""
    cells = [[six_digits(cell) if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    table = [list(heads), *cells]
    wide = [max(len(row[k]) for row in table) for k in range(len(heads))]
    right = [all(_numeric(row[k]) for row in cells) and bool(cells) for k in range(len(heads))]
    out = []
    for row in table:
        parts = [f"{cell:>{w}}" if r else f"{cell:<{w}}" for cell, w, r in zip(row, wide, right, strict=True)]
        line = "  " + "  ".join(parts).rstrip()
        if len(line) > columns and len(row) > 1 and not right[-1]:
            head, room = "  " + "  ".join(parts[:-1]).rstrip(), max(columns - 6, 16)
            out += [head, *textwrap.wrap(row[-1], room, initial_indent="      ", subsequent_indent="      ")]
        else:
            out.append(line)
    return out


def six_digits(x: float) -> str:
    """The number with six digits."""
    return f"{x:.6g}"


def _numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in ("", "—")
    return True


def is_utf(stream: TextIO) -> bool:
    """Whether a stream can print every character."""
    return (getattr(stream, "encoding", None) or "").lower().startswith("utf")


# --- errors ----------------------------------------------------------------------------------------------------------


class Interrupted(KeyboardInterrupt):
    """Stopped by the user; the message says what was kept and how to continue."""


def report_error(error: BaseException, console: Console) -> int:
    """Prints an error and returns the exit code."""
    code, message = classify(error)
    console.error(message)
    where = {key: found for key in ("file", "line", "key") if (found := getattr(error, key, None))}
    console.answer(
        {"phloat": __version__, "error": {"kind": type(error).__name__, "message": message, **where}, "exit": code}
    )
    return code


def classify(error: BaseException) -> tuple[int, str]:
    """The exit code and the message of an error."""
    from phloat.errors import AccuracyError, ConvergenceError, InputError

    if isinstance(error, InputError):
        return INPUT, str(error)
    if isinstance(error, AccuracyError | ConvergenceError):
        return UNFINISHED, str(error)
    if isinstance(error, MemoryError):
        return UNFINISHED, f"not enough memory ({error or 'no details'}); keep fewer times, or reduce the bodies"
    if isinstance(error, OSError):
        message = error.strerror or str(error)
        return INPUT, f"{error.filename}: {message}" if error.filename else message
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, str(error) or "interrupted; nothing was written"
    return INTERNAL, internal_error(error)


def internal_error(error: BaseException) -> str:
    """The message of an internal error; the traceback is written to a file."""
    last = traceback.format_exception_only(error)[-1].strip()
    message = f"this is an error in phloat, not in your model: {last}"
    about = f"phloat {__version__}, Python {platform.python_version()}, {platform.platform()}\n{' '.join(sys.argv)}\n\n"
    details = about + "".join(traceback.format_exception(error))
    try:
        handle, path = tempfile.mkstemp(".txt", "phloat-fault-")
        with open(handle, "w", encoding="utf-8") as file:
            file.write(details)
    except OSError:
        return f"{message}\n{details}"
    return f"{message}; please report it to the developers with the model and {path}, which has the details"
