"""What a floating frame follows: a port, another part of the boundary in the mean, or mean axes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import Matrix
from phloat.bodies.continua.columns import lengths
from phloat.bodies.continua.craig_bampton import CraigBampton
from phloat.bodies.continua.interfaces import Interface, Mean, Place, Rigid, mean_motion
from phloat.bodies.continua.meshed import Meshed
from phloat.linear.bases import apart, orthonormal

MEAN_AXES = "mean axes"


def frame_rows(continuum: Meshed, frame: str, ports: Mapping[str, Place]) -> Matrix | None:
    """The mean motion (v, ω) = F q of a frame that is no port; None of ports and of mean axes."""
    if frame == MEAN_AXES or _port_on(frame, ports) is not None:
        return None
    return mean_motion(continuum.trace(frame), f"frame {frame!r}")[1]


def seen_from(
    continuum: Meshed, basis: CraigBampton, frame: str, ports: Mapping[str, Place], rows: Matrix | None
) -> np.ndarray:
    """The fields of a basis without the rigid motion of the frame, whose `rows` are those of `frame_rows`."""
    if rows is None:
        port = _port_on(frame, ports)
        return basis.held_at(port) if port is not None else basis.mean_axes(continuum.M, continuum.rigid)
    # unit fields first: what is left of a rigid one is round-off, and must stay that
    V, rigid = basis.V / lengths(basis.V, continuum.M), continuum.rigid[:, continuum.rigid.any(axis=0)]
    for _ in range(2):  # the second sweep takes what round-off left
        V = V - rigid @ la.lstsq(rows @ rigid, rows @ V)[0]
    _, turn = la.eigh(V.T @ (continuum.M @ V))
    return V @ turn[:, rigid.shape[1] :]  # the rigid motions were in the span: exactly they are gone


def given_from(
    continuum: Meshed, V: np.ndarray, frame: str, ports: Mapping[str, Place], found: Mapping[str, Interface]
) -> np.ndarray:
    """Given fields without the rigid motion of the frame; of those that depend on others, or are rigid, nothing is left."""
    moved = continuum.rigid[:, continuum.rigid.any(axis=0)]
    rigid = orthonormal(moved, continuum.M)
    V = V[:, V.any(axis=0)]
    V = orthonormal(apart(V / lengths(V, continuum.M), rigid, continuum.M), continuum.M, np.ones(V.shape[1]))
    port = _port_on(frame, ports)
    rows = frame_rows(continuum, frame, ports) if port is None else found[port].L
    if rows is None:  # mean axes
        return V
    for _ in range(2):
        V = V - moved @ la.lstsq(rows @ moved, rows @ V)[0]
    return V


def _port_on(frame: str, ports: Mapping[str, Place]) -> str | None:
    """The port on the boundary that the frame follows."""
    boundaries = {name: p.boundary if isinstance(p, (Mean, Rigid)) else p for name, p in ports.items()}
    return next((name for name, b in boundaries.items() if isinstance(b, str) and b == frame), None)
