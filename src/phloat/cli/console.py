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

SUCCESS, INTERNAL, INPUT, UNFINISHED, PIPE, INTERRUPTED = 0, 1, 2, 3, 141, 130  # exit codes; PIPE: stdout was closed
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
MAX_WIDTH = 100  # characters of a line of wrapped text


@dataclass
class Console:
    """Prints to stdout unless `quiet`; with `json`, prints one JSON object instead. Notes and errors go to stderr."""

    quiet: bool = False
    json: bool = False
    notes: list[str] = field(default_factory=list)

    # --- for people --------------------------------------------------------------------------------------------------

    def print_lines(self, *lines: str) -> None:
        """Prints lines to stdout, unless `quiet` or `json` is set."""
        if not (self.quiet or self.json):
            print(*lines, sep="\n")

    def title(self, text: str) -> None:
        """Prints a line in bold."""
        self.print_lines(styled(text, "bold", sys.stdout))

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Prints a table, numbers aligned right; on a narrow terminal the text of the last column goes on lines of its own."""
        self.print_lines(*table_lines(heads, rows, terminal_width(sys.stdout)))

    def facts(self, facts: Mapping[str, object]) -> None:
        """Prints each name and its value in two columns; long values are wrapped to the width of the terminal."""
        wide = max(map(len, facts), default=0)
        columns = max(min(terminal_width(sys.stdout), MAX_WIDTH), wide + 24)
        for name, value in facts.items():
            first, rest = f"  {name:<{wide}}  ", " " * (wide + 4)
            lines = textwrap.wrap(str(value), columns, initial_indent=first, subsequent_indent=rest)
            self.print_lines(*lines or [first])

    def note(self, text: str) -> None:
        """Prints a warning to stderr, the same text only once, and keeps it in `notes`, also if quiet."""
        if text in self.notes:
            return
        self.notes.append(text)
        if not self.quiet:
            sys.stderr.write(f"{styled('note', 'yellow', sys.stderr)}: {text}\n")

    def error(self, text: str) -> None:
        """Prints an error to stderr, even if quiet."""
        sys.stderr.write(f"{styled('phloat', 'red', sys.stderr)}: {text}\n")

    # --- for machines ------------------------------------------------------------------------------------------------

    def print_json(self, data: Mapping[str, Any]) -> None:
        """Prints the data as one JSON object, if `json` is set."""
        if self.json:
            print(as_json(data))


def as_json(data: Any) -> str:
    """Data as JSON text: NaN and infinity become null, which standard JSON allows; not ASCII only if stdout is UTF-8."""
    return json.dumps(jsonable(data), indent=1, ensure_ascii=not is_utf(sys.stdout), allow_nan=False)


def jsonable(x: Any) -> Any:
    """The data in types that `json` writes: arrays become lists, complex numbers {"re", "im"}, other types strings."""
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


# --- colours and tables -----------------------------------------------------------------------------------------------


def styled(text: str, style: str, stream: TextIO) -> str:
    """Coloured text if the stream is a terminal and NO_COLOR is not set."""
    coloured = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\033[{STYLES[style]}m{text}\033[0m" if coloured else text


def terminal_width(stream: TextIO) -> int:
    """The number of characters in a line of a terminal; 10 000 for a file or a pipe."""
    return shutil.get_terminal_size().columns if stream.isatty() or "COLUMNS" in os.environ else 10_000


def table_lines(heads: Sequence[str], rows: Iterable[Sequence[object]], columns: int) -> list[str]:
    """The lines of a table, at most `columns` characters wide if its last column is text that can be wrapped."""
    cells = [[six_digits(cell) if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    table = [list(heads), *cells]
    wide = [max(len(row[k]) for row in table) for k in range(len(heads))]
    sides = [">" if cells and all(_is_numeric(row[k]) for row in cells) else "<" for k in range(len(heads))]
    out = []
    for row in table:
        parts = [f"{cell:{side}{w}}" for cell, w, side in zip(row, wide, sides, strict=True)]
        line = "  " + "  ".join(parts).rstrip()
        if len(line) > columns and len(row) > 1 and sides[-1] == "<":
            out.append("  " + "  ".join(parts[:-1]).rstrip())
            out += textwrap.wrap(row[-1], max(columns - 6, 16), initial_indent=" " * 6, subsequent_indent=" " * 6)
        else:
            out.append(line)
    return out


def six_digits(x: float) -> str:
    """A number with six significant digits."""
    return f"{x:.6g}"


def _is_numeric(text: str) -> bool:
    """Whether a cell is a number, empty or a dash."""
    try:
        float(text or 0.0)
    except ValueError:
        return text == "—"
    return True


def is_utf(stream: TextIO) -> bool:
    """Whether the encoding of a stream is a UTF, which has every character."""
    return (getattr(stream, "encoding", None) or "").lower().startswith("utf")


# --- errors ----------------------------------------------------------------------------------------------------------


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run or sweep; the message names what was saved and the command that continues it."""


def report_error(error: BaseException, console: Console) -> int:
    """Prints an error, as text and (with `json`) as a JSON object; returns the exit code."""
    code, message = exit_code_and_message(error)
    console.error(message)
    location = {key: value for key in ("file", "line", "key") if (value := getattr(error, key, None))}
    about = {"kind": type(error).__name__, "message": message, **location}
    console.print_json({"phloat": __version__, "error": about, "exit": code})
    return code


def exit_code_and_message(error: BaseException) -> tuple[int, str]:
    """The exit code for the class of an error, and the message to print."""
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
    """The message of an unexpected exception; its traceback is written to a temporary file that the message names."""
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
