"""Control-C counts whenever it comes: Python drops it inside callbacks, and libraries that load make another error of it."""

from __future__ import annotations

import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

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
