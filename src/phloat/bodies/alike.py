"""Bodies made from like recipes: whether they stand alike, and their modes with the same signs."""

from __future__ import annotations

import numpy as np

from phloat.algebra.sparse import csr
from phloat.bodies.body import Body
from phloat.linear.reduction.basis import Basis


def same_geometry(one: Body, other: Body) -> bool:
    """Whether two bodies share their ports, so that they move alike wherever something takes hold of them."""
    return one is other or all(one.ports[name] is port for name, port in other.ports.items())


def same_size(one: Body, other: Body) -> bool:
    """Whether states of one body fit the other."""
    return (one.coordinates, one.stresses) == (other.coordinates, other.stresses)


def aligned(new: Body, old: Body) -> Body:
    """The new body with the signs of its modes and stresses as in the old one."""
    if not same_size(new, old):
        return new
    eta = _signs(_overlap(new, old))
    linear = np.asarray(new.elastic.D.multiply(old.elastic.D) @ eta)
    sigma = _signs(linear + _pairs(new, old, eta))
    if (eta > 0.0).all() and (sigma > 0.0).all():
        return new
    return new.combined(Basis(csr(np.diag(eta)), csr(np.diag(sigma)), new.elastic.stresses))


def _overlap(new: Body, old: Body) -> np.ndarray:
    """Σ of the products of how each coordinate moves the places of one body and of the other, and turns their ports."""
    moved = [body.shape.displacement(body.shape.places()) for body in (new, old)]
    out = np.asarray(moved[0].multiply(moved[1]).sum(axis=0)).ravel()
    for name, port in new.ports.items():
        out = out + new.extent * old.extent * np.einsum("ik,ik->k", port.Psi, old.ports[name].Psi)
    return out


def _pairs(new: Body, old: Body, eta: np.ndarray) -> np.ndarray:
    """How far the quadratic strains of two bodies agree, stress by stress, where the linear ones are none."""
    out = np.zeros(new.stresses)
    a, b = new.elastic.Q, old.elastic.Q
    there = dict(zip(zip(b.strain, b.row, b.column, strict=True), b.value, strict=True))
    for s, k, l, value in zip(a.strain, a.row, a.column, a.value, strict=True):
        out[s] += value * eta[k] * eta[l] * there.get((s, k, l), 0.0)
    straight = np.diff(new.elastic.D.indptr) > 0
    return np.where(straight, 0.0, out)


def _signs(overlap: np.ndarray) -> np.ndarray:
    return np.where(overlap < 0.0, -1.0, 1.0)
