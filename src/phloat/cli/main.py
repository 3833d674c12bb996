"""The command phloat, from its arguments to its exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from _thread import interrupt_main
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from types import FrameType
from typing import NoReturn

from phloat.algebra.version import __version__
from phloat.cli.console import PIPE, SUCCESS, Console, report_error
from phloat.cli.parser import parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code; see phloat --help."""
    with recorded_interrupts() as interrupts:
        return _run(argv, interrupts)


def _run(argv: Sequence[str] | None, interrupts: Interrupts) -> int:
    console = Console()
    try:
        _replace_unprintable()
        arguments = parser()
        args = arguments.parse_args(argv)
        if args.command is None:
            arguments.print_help()
            return _flush()
        console = Console(quiet=args.quiet, json=args.json)
        with _warnings_as_notes(console):
            command = getattr(import_module(f"phloat.cli.{args.module}"), f"{args.command}_command")
            data = command(args, console)
        console.answer({"phloat": __version__, "command": args.command, **data, "notes": console.notes})
        return _flush()
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE
    except (Exception, KeyboardInterrupt) as error:
        if interrupts.occurred and not isinstance(
            error, KeyboardInterrupt
        ):  # a library that was loading raised another error
            error = KeyboardInterrupt("interrupted")
        return report_error(error, console)


def _replace_unprintable() -> None:
    """Makes terminals without UTF-8 show question marks for characters that they do not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="replace")


def _flush() -> int:
    """Flushes stdout, so that a broken pipe raises now."""
    sys.stdout.flush()
    return SUCCESS


@contextmanager
def _warnings_as_notes(console: Console) -> Iterator[None]:
    """Prints warnings without their place in the code."""
    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning)
        warnings.showwarning = lambda message, *place, **more: console.note(str(message))
        yield


# --- Control-C -------------------------------------------------------------------------------------------------------
#
# Python drops Control-C inside callbacks, and libraries that are loading turn it into other errors.


DELAY = 0.01  # seconds


class Interrupts:
    """Whether there was an interrupt."""

    occurred = False

    def record(self, number: int, frame: FrameType | None) -> NoReturn:
        self.occurred = True
        raise KeyboardInterrupt


@contextmanager
def recorded_interrupts() -> Iterator[Interrupts]:
    """Records interrupts, and repeats those that Python drops."""
    out = Interrupts()
    before, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
        yield out  # the caller handles interrupts
        return

    def repeat(what: sys.UnraisableHookArgs) -> None:
        if issubclass(what.exc_type, KeyboardInterrupt):
            threading.Timer(DELAY, interrupt_main).start()  # at once it would be dropped again
        else:
            hook(what)

    try:
        signal.signal(signal.SIGINT, out.record)
        sys.unraisablehook = repeat
        yield out
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = hook
