"""The result page inside a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from phloat.errors import InputError, positive
from phloat.linear.modes import Modes
from phloat.motion.result import Result
from phloat.view.page.write import page_text

MOST = 20e6  # bytes of a page that a notebook bears


@dataclass(frozen=True)
class Inline:
    """A page that a notebook shows: the mechanism in 3-D, with its plots. `text` is the page itself."""

    text: str
    height: int

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe srcdoc="{escape(self.text)}" style="{style}" title="phloat" allowfullscreen></iframe>'

    def __repr__(self) -> str:
        return "Inline(a page for notebooks; to_html(x, path) writes it to a file)"


def show(x: Result | Modes, *, height: int = 640) -> Inline:
    """A result or modes in 3-D inside a notebook, so many pixels high: the page that `to_html` writes."""
    text = page_text(x)
    if len(text) > MOST:
        raise InputError(
            f"the page has {len(text) / 1e6:.0f} MB, too much for a notebook; write it to a file: to_html(x, 'run.html')"
        )
    return Inline(text, int(positive("height", height)))
