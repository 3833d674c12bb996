"""phloat: the command, from its words to its exit code."""

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
from phloat.cli.faults import FINE, PIPE, failed
from phloat.cli.parser import parser
from phloat.cli.talk import Talk


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the words ask for; see phloat --help."""
    with noticed() as interrupts:
        return _done(argv, interrupts)


def _done(argv: Sequence[str] | None, interrupts: Interrupts) -> int:
    talk = Talk()
    try:
        _spelled()
        words = parser()
        asked = words.parse_args(argv)
        if asked.command is None:
            words.print_help()
            return _flushed()
        talk = Talk(quiet=asked.quiet, json=asked.json)
        with _warnings_as_notes(talk):
            command = getattr(import_module(f"phloat.cli.{asked.module}"), asked.command)
            data = command(asked, talk)
        talk.answer({"phloat": __version__, "command": asked.command, **data, "notes": talk.notes})
        return _flushed()
    except BrokenPipeError:  # whoever read this has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE
    except (Exception, KeyboardInterrupt) as error:
        if interrupts.came and not isinstance(error, KeyboardInterrupt):  # a library that was loading says it otherwise
            error = KeyboardInterrupt("interrupted")
        return failed(error, talk)


def _spelled() -> None:
    """Letters that a terminal does not have become question marks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="replace")


def _flushed() -> int:
    """Everything is out, or a broken pipe shows now."""
    sys.stdout.flush()
    return FINE


@contextmanager
def _warnings_as_notes(talk: Talk) -> Iterator[None]:
    """Warnings of the library are sentences for the user, without the place in the code."""
    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning)
        warnings.showwarning = lambda message, *place, **more: talk.note(str(message))
        yield


# --- Control-C -------------------------------------------------------------------------------------------------------
#
# Control-C counts whenever it comes: Python drops it inside callbacks, and libraries that load make another error of it.


SOON = 0.01  # seconds


class Interrupts:
    """Whether there was one."""

    came = False

    def notice(self, number: int, frame: FrameType | None) -> NoReturn:
        self.came = True
        raise KeyboardInterrupt


@contextmanager
def noticed() -> Iterator[Interrupts]:
    """Interrupts are noted meanwhile, and come again where Python would have dropped them."""
    out = Interrupts()
    before, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
        yield out  # whoever calls has a way of his own
        return

    def dropped(what: sys.UnraisableHookArgs) -> None:
        if issubclass(what.exc_type, KeyboardInterrupt):
            threading.Timer(SOON, interrupt_main).start()  # at once it would be dropped again, with this hook
        else:
            hook(what)

    try:
        signal.signal(signal.SIGINT, out.notice)
        sys.unraisablehook = dropped
        yield out
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = hook
