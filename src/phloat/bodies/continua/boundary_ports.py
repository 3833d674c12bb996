"""Open ports of bodies on meshes: of patches and points by their mean motion, of boundaries by all of their coordinates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout, joined
from phloat.algebra.sparse import Matrix, csr, zeros


def open_ports(
    coordinates: int, twists: Mapping[str, Matrix], boundaries: Mapping[str, np.ndarray]
) -> tuple[Matrix, Layout]:
    """B on the velocities, and the names of its columns.

    A port with a mean twist (v, ω) = L q̇ takes the wrench (f, τ) at its centre. A boundary, by its coordinates, takes a force on
    each of them and gives their velocities.
    """
    whole = sp.eye_array(coordinates, format="csc")
    columns = [
        {name: csr(L.T) for name, L in twists.items()},
        {name: csr(whole[:, on]) for name, on in boundaries.items()},
    ]
    blocks = [b for some in columns for b in some.values()]
    layouts = [Layout({name: (b.shape[1],) for name, b in some.items()}) for some in columns]
    return csr(sp.hstack([zeros(coordinates, 0), *blocks])), joined(layouts, "port")
