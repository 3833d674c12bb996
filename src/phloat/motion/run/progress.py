"""Progress bars, on a terminal and in a notebook; elsewhere only on request."""

from __future__ import annotations

import html
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

WIDTH = 40  # of a bar, if the terminal is wide enough
PATIENCE = 1.0  # s before the bar appears
PAUSE = 0.2  # s between updates

Residual = Callable[[], float | None]  # the energy residual so far; None if not known
Progress = Callable[[float, Residual | None], None]


class Bar:
    """A progress bar that appears after a second, is updated a few times a second, and disappears at the end."""

    def __init__(self, enabled: bool | None) -> None:
        self.start_time, self.last_drawn = time.perf_counter(), 0.0
        self.notebook = _notebook()
        self.hidden = enabled is False or (enabled is None and not self.notebook and not sys.stderr.isatty())
        self.handle: Any = None
        self.length, self.width = 0, -1

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.start_time

    def due(self) -> bool:
        """Whether it is time to draw again."""
        clock = time.perf_counter()
        return not self.hidden and clock - self.start_time > PATIENCE and clock - self.last_drawn > PAUSE

    def draw(self, part: float, text: str) -> None:
        """Draws the bar at this fraction, followed by as much of the text as fits."""
        self.last_drawn = time.perf_counter()
        if self.notebook:
            self._display(f'<progress value="{part:.4f}" max="1"></progress> <code>{html.escape(text)}</code>', text)
            return
        columns = shutil.get_terminal_size().columns - 1
        if self.width < 0:  # once, so that the bar does not jump when the text grows
            self.width = min(WIDTH, columns - len(text) - 8)
        bar = f"[{'=' * int(self.width * part):<{self.width}}] " if self.width > 4 else ""
        drawn = bar + text
        line = drawn[: max(columns, 1)]
        sys.stderr.write(f"\r{line:<{min(self.length, columns)}}")
        sys.stderr.flush()
        self.length = len(line)

    def clear(self) -> None:
        if self.handle is not None:
            self._display("", "")
        elif self.length:
            sys.stderr.write("\r" + " " * self.length + "\r")
            sys.stderr.flush()
        self.length = 0

    def _display(self, rich: str, plain: str) -> None:
        data = {"text/html": rich, "text/plain": plain}
        if self.handle is None:
            self.handle = self.notebook.display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)


def progress_bar(start: float, end: float, enabled: bool | None) -> Progress:
    """A function of the current time and of a function for the energy residual; an infinite time clears the bar."""
    bar = Bar(enabled)

    def show(t: float, residual: Residual | None) -> None:
        if t == np.inf:
            bar.clear()
        elif bar.due():
            part = min((t - start) / (end - start), 1.0)
            text = f"{100 * part:3.0f} %, t = {t:.4g} s, {bar.elapsed * (1 / max(part, 1e-9) - 1):.0f} s left, "
            text += f"{(t - start) / bar.elapsed:.2g} × real time"
            value = None if residual is None else residual()
            bar.draw(part, text + ("" if value is None else f", energy residual {value:.0e}"))

    return show


def _notebook() -> Any:
    """IPython's display module if this is a notebook; nothing is imported that is not imported already."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return sys.modules.get("IPython.display") if type(shell).__name__ == "ZMQInteractiveShell" else None
