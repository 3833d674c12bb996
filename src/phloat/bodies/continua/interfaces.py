"""Ports of bodies on meshes: a part of the boundary, or a point, that joints can hold.

    (v_C, ω_C) = L q̇:   the rigid motion nearest to that of the patch, min ∫ |u − v − ω × (x − x_C)|² (+ h²/12 |θ − ω|² on plates)

A rigid interface makes the patch move as that rigid motion (a bore with a stiff pin in it); a mean one leaves it free to deform
and spreads the force that acts there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.cross import skew
from phloat.algebra.metadata import describe
from phloat.algebra.sparse import Matrix, csr, weighted
from phloat.bodies.continua.mesh_body import MeshBody, Patch, Trace
from phloat.bodies.material import Rayleigh
from phloat.errors import InputError, finite, mapping, port_name

UNDETERMINED = 1e-9  # of the largest: below this a rotation of a patch is not one
PORTS = "{name: boundary, Mean(boundary), Patch(at, radius) or point}"
THIN = 1e-15  # the same where the material of the patch knows its own turn: of (thickness / length)²
UNTIED = (np.zeros(0, dtype=int), np.zeros((0, 6)))  # no coordinates, and their rigid motion
IN_PLANE = [0, 1, 5]  # what a sheet can do of (v, ω)


@dataclass(frozen=True)
class Mean:
    """A port that follows the mean motion of a boundary or a region, which may deform; forces are spread evenly over it."""

    boundary: str


@dataclass(frozen=True)
class Rigid:
    """A port that makes a part of the boundary rigid."""

    boundary: str


Place: TypeAlias = "str | Rigid | Mean | Patch | tuple[float, float, float]"


# fields that several recipes of bodies on meshes have
_OPTIONS: dict[str, tuple[Any, Mapping[str, Any]]] = {
    "clamped": (None, describe("held: a boundary, several, or all")),
    "symmetric": (None, describe("free to slide in its own plane: a boundary, several, or all")),
    "held": (dict, describe("{boundary, edge (left & bottom) or line: axes that are held, such as xz}")),
    "frame": (None, describe("the boundary that the floating frame follows, or mean axes; none for small motions")),
    "ports": (dict, describe("{name: boundary, {mean: boundary or region}, {patch: {at, radius}} or point}")),
    "damping": (Rayleigh, describe("how it loses energy")),
    "stiffening": (True, describe("whether stress stiffens it")),
    "mass": (None, describe("what it should weigh: a check of units", "mass", above=0.0)),
    "lines": (dict, describe("straight lines by name: their two ends")),
}


def option(name: str) -> Any:
    """The field of this name of a recipe, with its default."""
    default, metadata = _OPTIONS[name]
    return (
        field(default_factory=default, metadata=metadata)
        if callable(default)
        else field(default=default, metadata=metadata)
    )


@dataclass(frozen=True, eq=False)
class Interface:
    """Where a port is: point x, motion r = L q (6 × n), and the coordinates it ties rigidly, q[tied] = rigid r."""

    x: np.ndarray
    L: Matrix
    tied: np.ndarray
    rigid: np.ndarray


def interfaces(continuum: MeshBody, ports: Mapping[str, Place]) -> dict[str, Interface]:
    """The ports of a recipe by name: a boundary (rigid), Mean(boundary or region), Patch(at, radius), or a point."""
    out: dict[str, Interface] = {}
    taken = np.zeros(continuum.coordinates, bool)
    for name, patch in mapping("ports", ports, PORTS).items():
        port_name(name)
        found = interface(continuum, name, patch)
        if taken[found.tied].any():
            shared = [other for other, o in out.items() if np.intersect1d(o.tied, found.tied).size]
            raise InputError(f"ports {shared[0]!r} and {name!r} make one boundary rigid; make one a Mean(…)")
        taken[found.tied] = True
        out[name] = found
    return out


def interface(continuum: MeshBody, name: str, patch: Place) -> Interface:
    """One port."""
    if isinstance(patch, (str, Rigid)):
        boundary = patch if isinstance(patch, str) else patch.boundary
        x, L = mean_motion(continuum.trace(boundary), f"port {name!r} on {boundary!r}")
        tied = continuum.on(boundary)
        rigid = continuum.rigid[tied] @ rigid_shift(x)
        return Interface(x, _by_ties(L, tied, rigid), tied, rigid)
    if isinstance(patch, Mean):
        x, L = mean_motion(continuum.trace(patch.boundary), f"port {name!r} on {patch.boundary!r}")
        return Interface(x, L, *UNTIED)
    if isinstance(patch, Patch):
        at = np.array(patch.at)
        try:
            x, L = mean_motion(continuum.trace(patch), f"port {name!r}")
        except InputError as error:
            raise InputError(f"port {name!r}: {error}") from None
        return Interface(at, csr(csr(rigid_shift(x - at)) @ L), *UNTIED)
    x = finite(f"port {name!r}, which names no boundary,", patch, (3,))
    places = x[None, :]
    L = csr(sp.vstack([continuum.shape.displacement(places), continuum.shape.rotation(places)]))
    return Interface(x, L, *UNTIED)


def _by_ties(L: Matrix, tied: np.ndarray, rigid: np.ndarray) -> Matrix:
    """The motion in the coordinates that are tied alone: elements that do not conform reach the boundary by others, too."""
    mine = csr(L[:, tied])
    entries = csr(la.pinv(mine @ rigid) @ mine).tocoo()
    return csr(sp.coo_array((entries.data, (entries.row, tied[entries.col])), shape=L.shape))


def rigid_shift(x: np.ndarray) -> np.ndarray:
    """The motion (v, ω) at the origin for unit motions at x: v = v_x − ω × x."""
    out = np.eye(6)
    out[:3, 3:] = skew(x)
    return out


def mean_motion(trace: Trace, what: str) -> tuple[np.ndarray, Matrix]:
    """The centre of a patch, and the rows of its mean motion (v_C, ω_C) per coordinate."""
    w = trace.weight / trace.weight.sum()
    x_C = w @ trace.x
    arm = trace.x - x_C
    # rows of v_a = r_a + (ω × arm)_a: coefficients of (r, ω) at each point, for a = x, y, z
    rows = np.zeros((3, len(w), 6))
    for a in range(3):
        rows[a, :, a] = 1.0
    rows[:, :, 3:] = -np.array([skew(y) for y in arm]).transpose(1, 0, 2)
    N = np.einsum("g,agi,agj->ij", w, rows, rows)
    right = sum((csr(rows[a].T) @ weighted(trace.u[a], w) for a in range(3)), csr((6, trace.u[0].shape[1])))
    if trace.turn is not None:
        known = np.array(
            [float(t.nnz > 0) for t in trace.turn]
        )  # the turn in its own plane may be none of its coordinates
        N[3:, 3:] += trace.gyration * np.diag(known)
        turned = sp.vstack([csr(w[None, :] * trace.gyration) @ t for t in trace.turn])
        right = right + sp.vstack([csr((3, right.shape[1])), turned])
    sheet = trace.turn is None and not trace.u[2].nnz
    there = np.array(IN_PLANE) if sheet else np.arange(6)
    size = np.sqrt(max(np.trace(N[3:, 3:]) / 3.0, 1e-300))
    scale = np.array([1.0, 1.0, 1.0, size, size, size])[there]
    value, vector = la.eigh(N[np.ix_(there, there)] / np.outer(scale, scale))
    if value[0] < (UNDETERMINED if trace.turn is None else THIN) * value[-1]:
        raise InputError(f"{what} has no rotation of its own: its points lie on a line; name a face, or give a point")
    inverse = np.zeros((6, 6))
    inverse[np.ix_(there, there)] = (vector / value) @ vector.T / np.outer(scale, scale)
    return x_C, csr(csr(inverse) @ right)
