"""Progress bars, on a terminal and in a notebook; elsewhere only on request."""

from __future__ import annotations

import html
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

WIDTH = 40  # of a bar, where there is room
PATIENCE = 1.0  # seconds before a bar comes
PAUSE = 0.2  # seconds between looks

Residual = Callable[[], float | None]  # the energy residual so far, where it is known
Progress = Callable[[float, Residual | None], None]


class Bar:
    """A bar that appears after a second, is drawn a few times a second, and disappears at the end."""

    def __init__(self, wanted: bool | None) -> None:
        self.begun, self.shown = time.perf_counter(), 0.0
        self.notebook = _notebook()
        self.hidden = wanted is False or (wanted is None and not self.notebook and not sys.stderr.isatty())
        self.handle: Any = None
        self.length, self.width = 0, -1

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.begun

    def due(self) -> bool:
        """Whether it is time to draw again."""
        now = time.perf_counter()
        return not self.hidden and now - self.begun > PATIENCE and now - self.shown > PAUSE

    def draw(self, part: float, words: str) -> None:
        """Draws the bar at this fraction, with as much of the text behind it as fits."""
        self.shown = time.perf_counter()
        if self.notebook:
            self._put(f'<progress value="{part:.4f}" max="1"></progress> <code>{html.escape(words)}</code>', words)
            return
        room = shutil.get_terminal_size().columns - 1
        if self.width < 0:  # once, so that it does not jump; the words may grow a little
            self.width = min(WIDTH, room - len(words) - 8)
        bar = f"[{'=' * int(self.width * part):<{self.width}}] " if self.width > 4 else ""
        drawn = bar + words
        line = drawn[: max(room, 1)]
        sys.stderr.write(f"\r{line:<{min(self.length, room)}}")
        sys.stderr.flush()
        self.length = len(line)

    def clear(self) -> None:
        if self.handle is not None:
            self._put("", "")
        elif self.length:
            sys.stderr.write("\r" + " " * self.length + "\r")
            sys.stderr.flush()
        self.length = 0

    def _put(self, rich: str, plain: str) -> None:
        data = {"text/html": rich, "text/plain": plain}
        if self.handle is None:
            self.handle = self.notebook.display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)


def progress_bar(start: float, end: float, wanted: bool | None) -> Progress:
    """A function to call with the time reached and a function for the energy residual; infinity clears the bar."""
    drawn = Bar(wanted)

    def show(t: float, residual: Residual | None) -> None:
        if t == np.inf:
            drawn.clear()
        elif drawn.due():
            part = min((t - start) / (end - start), 1.0)
            words = f"{100 * part:3.0f} %, t = {t:.4g} s, {drawn.elapsed * (1 / max(part, 1e-9) - 1):.0f} s left, "
            words += f"{(t - start) / drawn.elapsed:.2g} × real time"
            left = None if residual is None else residual()
            drawn.draw(part, words + ("" if left is None else f", energy residual {left:.0e}"))

    return show


def _notebook() -> Any:
    """IPython's display module if this is a notebook; nothing is imported that is not imported already."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return sys.modules.get("IPython.display") if type(shell).__name__ == "ZMQInteractiveShell" else None
