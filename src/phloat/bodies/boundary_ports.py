"""Open ports of bodies on meshes: of patches and points by their mean motion, of boundaries by all of their coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import scipy.sparse as sp

from phloat.algebra.layout import Layout, joined
from phloat.algebra.sparse import Matrix, csr, zeros
from phloat.bodies.interfaces import interfaces
from phloat.errors import InputError

if TYPE_CHECKING:
    from phloat.bodies.continuum import Continuum


def open_ports(continuum: Continuum, boundary: Sequence[str]) -> tuple[Matrix, Layout]:
    """B on the velocities, and the names of its columns.

    A port of the recipe takes the wrench (f, τ) at its centre and gives its mean twist (v, ω). A named boundary takes a force on
    each of its coordinates and gives their velocities.
    """
    if isinstance(boundary, str):
        raise InputError(f"boundary is {boundary!r}; write a tuple of names: ({boundary!r},)")
    columns: list[Matrix] = [zeros(continuum.coordinates, 0)]
    twists = {name: csr(found.L.T) for name, found in interfaces(continuum, continuum.ports).items()}
    whole = sp.eye_array(continuum.coordinates, format="csc")
    edges = {name: csr(whole[:, continuum.on(name)]) for name in boundary}
    layouts = [Layout({name: (b.shape[1],) for name, b in some.items()}) for some in (twists, edges)]
    return csr(sp.hstack([*columns, *twists.values(), *edges.values()])), joined(layouts, "port")
