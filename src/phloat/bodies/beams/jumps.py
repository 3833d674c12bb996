"""Where numbers along a beam jump: elements are cut there, since no element can follow a jump inside (order 1 instead of 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

SAMPLES = 128  # places at which a function of s is looked at, besides the quadrature points
SMOOTH = 0.25  # of the change over an interval: how far its midpoint may be off the straight line
SMALL = 1e-9  # of a number: a change that is none
NARROW = 1e-14  # an interval that holds one place
SAME = 1e-9  # of the length: one place
CLOSE, SLIVER = 1e-3, 0.1  # of the shortest element
MOST_INTERVALS = 4096
MOST_JUMPS = 200


def jumps(values: Callable[[np.ndarray], np.ndarray], s: np.ndarray) -> np.ndarray | None:
    """Places where `values` (places → (places, numbers)) is discontinuous, to round-off; None where there are too many.

    Intervals between the places s are halved, all at once, as long as the midpoint is far from the straight line between the
    ends. Over a smooth stretch that ends soon; at a jump never.
    """
    a, b = s[:-1], s[1:]
    f = values(s)
    f_a, f_b = f[:-1], f[1:]
    while len(a) and (b - a).max() > NARROW:
        if len(a) > MOST_INTERVALS:
            return None
        middle = 0.5 * (a + b)
        f_m = values(middle)
        size = np.maximum(np.abs(f_a), np.abs(f_b)) + np.abs(f_m)
        bend, change = np.abs(f_a - 2.0 * f_m + f_b), np.abs(f_b - f_a)
        kept = ((bend > SMOOTH * change) & (bend > SMALL * size)).any(axis=1)
        a, b = np.append(a[kept], middle[kept]), np.append(middle[kept], b[kept])
        f_a, f_b = np.vstack([f_a[kept], f_m[kept]]), np.vstack([f_m[kept], f_b[kept]])
    far = (np.abs(f_b - f_a) > SMALL * np.maximum(np.abs(f_a), np.abs(f_b))).any(axis=1)
    found = np.unique(b[far])
    return found if len(found) <= MOST_JUMPS else None


def cut_elements(
    nodes: np.ndarray, fixed: Sequence[float], held: Iterable[object], breaks: Iterable[float]
) -> np.ndarray:
    """Nodes with one more at every fixed place and break that has none; a node that is nearly at a break moves there, unless held.

    Breaks nearer to each other, or to a fixed place, than a thousandth of the shortest element are one.
    """
    fixed = [0.0, 1.0, *fixed]
    short = float(np.diff(nodes).min())
    breaks = _separate(breaks, np.array(fixed), CLOSE * short)
    staying = [*fixed, *(s for s in held if isinstance(s, float | int))]
    stays = np.abs(nodes[:, None] - staying).min(axis=1) <= SAME
    off = np.abs(nodes[:, None] - breaks).min(axis=1, initial=1.0)
    kept = nodes[stays | (off <= SAME) | (off > SLIVER * short)]
    return np.unique(np.concatenate([kept, [s for s in [*fixed, *breaks] if np.abs(kept - s).min() > SAME]]))


def _separate(places: Iterable[float], fixed: np.ndarray, distance: float) -> list[float]:
    """Places that are not near fixed ones; those near to each other become their mean."""
    groups: list[list[float]] = []
    for s in sorted(p for p in places if np.abs(fixed - p).min() > distance):
        if groups and s - groups[-1][-1] < distance:
            groups[-1].append(s)
        else:
            groups.append([s])
    return [float(np.mean(group)) for group in groups]
