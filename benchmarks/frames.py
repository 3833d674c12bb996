"""Two frames with 10⁵ unknowns, rows and multipliers of the linear system together, and a small one for a look."""

from dataclasses import dataclass

import numpy as np

import phloat as ph

steel = ph.Material(E=210e9, rho=7850.0, nu=0.3)
tube = ph.Tube(diameter=0.1, wall=0.006)


@dataclass(frozen=True)
class Frame:
    """Points, members by the numbers of their ends, clamped points, elements a member."""

    points: np.ndarray
    members: dict[str, tuple[int, int]]
    feet: set[int]
    elements: int


def tower(bays: int, elements: int, *, bay: float = 1.5, foot: float = 6.0, top: float = 1.0) -> Frame:
    """A square lattice tower that narrows towards its top, so that no two bays are alike: 12 members a bay."""
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) / 2
    width = np.linspace(foot, top, bays + 1)
    points = np.vstack([np.column_stack([corners * w, np.full(4, bay * k)]) for k, w in enumerate(width)])
    members = {}
    for k in range(bays):
        for c in range(4):
            low, high, across = 4 * k + c, 4 * k + 4 + c, 4 * k + 4 + (c + 1) % 4
            members |= {f"leg {k} {c}": (low, high), f"girder {k} {c}": (high, across), f"brace {k} {c}": (low, across)}
    return Frame(points, members, {0, 1, 2, 3}, elements)


SHAPES = {
    "many members": tower(bays=75, elements=8),
    "few members": tower(bays=1, elements=700),
    "a small one": tower(bays=2, elements=4),
}
