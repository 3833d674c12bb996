"""Frames of a beam: which rigid motion is taken out of its deformation (Remark 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from phloat.bodies.beams.fields import Fields, fraction
from phloat.errors import InputError, unknown

# what each frame holds at which fraction of the length
Frame = Mapping[float, Sequence[str]]
FRAMES: dict[str, Frame] = {
    "cantilever": {0.0: ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")},
    "pinned": {0.0: ("u_x", "u_y", "u_z", "theta_x"), 1.0: ("u_y", "u_z")},
    "chord": {0.0: ("u_x", "u_y", "u_z"), 0.5: ("theta_x",), 1.0: ("u_y", "u_z")},
}
OF_WHOLE, OF_PIECE = "cantilever", "chord"  # where none is stated


def conditions(frame: str | Frame | None) -> Frame:
    """What a frame of this name, or the one of a whole beam, holds at which fraction of the length."""
    return FRAMES[frame or OF_WHOLE] if frame is None or isinstance(frame, str) else frame


def kept(fields: Fields, frame: str | Frame | None, length: float) -> np.ndarray:
    """The coordinates that remain when the frame holds its six; rigid motion must be gone, and nothing else.

    A named frame holds the coordinate nearest to its place: the middle of a beam need not be a node.
    """
    held, rigid, exact = [], [], isinstance(frame, Mapping)
    frame = conditions(frame)
    for s, names in frame.items():
        if isinstance(names, str):
            raise InputError(f"the frame holds {names!r} at s = {s:g}; write a tuple of names: ({names!r},)")
        x = length * fraction("frame", s)
        for name in names:
            if name not in _RIGID:
                raise InputError(unknown("frame condition", name, _RIGID))
            rigid.append(_RIGID[name](x))
            if len(places := fields.places(name)):
                nearest = int(np.argmin(np.abs(places - x)))
                if exact and abs(places[nearest] - x) > 1e-9 * length:
                    raise InputError(
                        f"the frame holds s = {s:g}, which is no node; nodes are at {places / length} for {name}"
                    )
                held.append(fields.index(name, nearest))
    left = 6 - int(np.linalg.matrix_rank(np.array(rigid) / np.array([1, 1, 1, length, length, length]))) if rigid else 6
    if left:
        raise InputError(
            f"the frame leaves {left} of 6 rigid motions in the deformation (it holds {dict(frame)}); "
            f"use one of {', '.join(FRAMES)} or hold more"
        )
    if len(rigid) > 6:
        raise InputError(f"the frame holds {len(rigid)} conditions, but only 6 rigid motions can be taken out")
    return np.setdiff1d(np.arange(fields.layout.size), held)


# what a rigid motion (t_x t_y t_z r_x r_y r_z) shows at x on the axis
_RIGID: dict[str, Callable[[float], list[float]]] = {
    "u_x": lambda x: [1, 0, 0, 0, 0, 0],
    "u_y": lambda x: [0, 1, 0, 0, 0, x],
    "u_z": lambda x: [0, 0, 1, 0, -x, 0],
    "theta_x": lambda x: [0, 0, 0, 1, 0, 0],
    "theta_y": lambda x: [0, 0, 0, 0, 1, 0],
    "theta_z": lambda x: [0, 0, 0, 0, 0, 1],
}
