"""How far an ensemble is, on the terminal or in a notebook."""

from __future__ import annotations

from collections.abc import Callable

from phloat.motion.progress import Bar


def counting(total: int, wanted: bool | None) -> Callable[[int, int], None]:
    """A bar once it takes more than a second; never where nobody looks, unless asked for.

    Called with the samples done and those that failed; it goes away when all are done.
    """
    drawn, first = Bar(wanted), [-1]

    def show(done: int, failed: int) -> None:
        if first[0] < 0:
            first[0] = done  # a sweep that goes on has some already
        if done >= total:
            drawn.clear()
        elif drawn.due():
            new = done - first[0]
            left = f", {drawn.elapsed / new * (total - done):.0f} s left" if new else ""
            lost = f", {failed} failed" if failed else ""
            drawn.draw(done / total, f"{done} of {total} samples{lost}{left}")

    return show
