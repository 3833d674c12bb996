"""What went wrong, in a sentence and an exit code.

0 fine   1 a fault of phloat itself   2 bad input   3 the computation did not come to its end   130 interrupted
"""

from __future__ import annotations

import platform
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from phloat.algebra.version import __version__
from phloat.cli.talk import Talk

FINE, OURS, INPUT, UNFINISHED, PIPE, INTERRUPTED = 0, 1, 2, 3, 141, 130


class Interrupted(KeyboardInterrupt):
    """Stopped by the user; the message says what is kept and how to go on."""


def failed(error: BaseException, talk: Talk) -> int:
    """Says what is wrong, and returns the exit code."""
    code, message = judged(error)
    talk.complain(message)
    where = {key: found for key in ("file", "line", "key") if (found := getattr(error, key, None))}
    talk.answer(
        {"phloat": __version__, "error": {"kind": type(error).__name__, "message": message, **where}, "exit": code}
    )
    return code


def judged(error: BaseException) -> tuple[int, str]:
    """The exit code and the sentence of an error."""
    from phloat.errors import AccuracyError, ConvergenceError, InputError

    if isinstance(error, InputError):
        return INPUT, str(error)
    if isinstance(error, AccuracyError | ConvergenceError):
        return UNFINISHED, str(error)
    if isinstance(error, MemoryError):
        return (
            UNFINISHED,
            f"there is not enough memory ({error or 'no more is said'}); keep fewer times, or reduce the bodies",
        )
    if isinstance(error, OSError):
        said = error.strerror or str(error)
        return INPUT, f"{error.filename}: {said}" if error.filename else said
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, str(error) or "interrupted; nothing was written"
    return OURS, ours(error)


def ours(error: BaseException) -> str:
    """A fault of phloat: the whole story goes to a file that can be sent."""
    last = traceback.format_exception_only(error)[-1].strip()
    said = f"this is a fault of phloat and not of your model: {last}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="phloat-fault-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(story(error))
    except OSError:
        return f"{said}\n{story(error)}"
    return f"{said}; please report it to the developers with the model and {Path(file.name)}, which has the details"


def story(error: BaseException) -> str:
    """What a developer asks for first."""
    asked: Any = " ".join(sys.argv)
    about = f"phloat {__version__}, Python {platform.python_version()}, {platform.platform()}\n{asked}\n\n"
    return about + "".join(traceback.format_exception(error))
