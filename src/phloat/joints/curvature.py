"""Second derivatives of rows: how what they pull with changes as their ports move.

A gap is a function g of the numbers ξ = (c, d_1, d_2, d_3) of both ports, and ξ of the motions q of their bodies. With λ along the
row, −∂(λ ∂g/∂q)/∂q = −λ (∂ξ/∂q)ᵀ(∂²g/∂ξ²)(∂ξ/∂q) − λ ∂g/∂ξ · ∂²ξ/∂q²: `curvature` is the first, `turned_with` the second.
"""

from __future__ import annotations

import numpy as np

from phloat.algebra.cross import skew, skews
from phloat.joints.rows import (
    Aligned,
    Along,
    Distance,
    Held,
    InPlane,
    Perpendicular,
    Row,
    Skew,
    Turn,
    by_entries,
)

OTHER = 12  # where the numbers of the second port begin


def curvature(row: Row, effort: np.ndarray, A: Held, B: Held) -> np.ndarray:
    """Σ effort ∂²g/∂ξ², 24 × 24, of a row that has a gap."""
    if isinstance(row, Aligned):
        return (effort @ _ALIGNED[list(row.axes)]).reshape(24, 24)
    lam = float(effort[0])
    if isinstance(row, Perpendicular):
        return lam * _product(3 + 3 * row.i, OTHER + 3 + 3 * row.j)
    if isinstance(row, Skew):
        plus, minus = (curvature(product, effort, A, B) for product in row.products)
        return 0.5 * (plus - minus)
    if isinstance(row, (InPlane, Along)):
        return lam * (_product(3 + 3 * row.i, OTHER) - _product(3 + 3 * row.i, 0))
    if isinstance(row, Turn):
        return lam * _turn(row, A, B)
    return lam * _distance(A, B) if isinstance(row, Distance) else np.zeros((24, 24))


def _product(i: int, j: int) -> np.ndarray:
    """Of the inner product of the vectors at i and j."""
    out = np.zeros((24, 24))
    out[i : i + 3, j : j + 3] = out[j : j + 3, i : i + 3] = np.eye(3)
    return out


# of the three skew products ½ (d_Ak · d_Bj − d_Aj · d_Bk)
_ALIGNED = 0.5 * np.array(
    [
        _product(3 + 3 * k, OTHER + 3 + 3 * j) - _product(3 + 3 * j, OTHER + 3 + 3 * k)
        for j, k in ((1, 2), (2, 0), (0, 1))
    ]
).reshape(3, -1)


def _turn(row: Turn, A: Held, B: Held) -> np.ndarray:
    """Of ϑ = atan2(p, q)."""
    of_p, of_q, one = Perpendicular(*row.p), Perpendicular(*row.q), np.ones(1)
    p, q = float(of_p.gap(A, B)[0]), float(of_q.gap(A, B)[0])
    by_p, by_q = (np.hstack(of.rate(by_entries(A), by_entries(B)))[0] for of in (of_p, of_q))
    size = p * p + q * q
    out = (q * curvature(of_p, one, A, B) - p * curvature(of_q, one, A, B)) / size
    mixed = np.outer(by_p, by_q)
    squares = 2.0 * p * q * (np.outer(by_q, by_q) - np.outer(by_p, by_p))
    return np.asarray(out + (squares + (p * p - q * q) * (mixed + mixed.T)) / size**2)


def _distance(A: Held, B: Held) -> np.ndarray:
    """Of |c_B − c_A|."""
    length = float(np.linalg.norm(B.c - A.c))
    n = (B.c - A.c) / length
    across = (np.eye(3) - np.outer(n, n)) / length
    out = np.zeros((24, 24))
    out[:3, :3] = out[OTHER : OTHER + 3, OTHER : OTHER + 3] = across
    out[:3, OTHER : OTHER + 3] = out[OTHER : OTHER + 3, :3] = -across
    return out


def turned_with(port: Held, pull: np.ndarray) -> np.ndarray:
    """−Σ pull ∂²ξ/∂q² of one port for the velocities of its body: pulls (12) on c and d_i that stay as they are in space.

    With γ = Aᵀpull they do γ, y × γ, Φᵀγ on a point and b × γ, Ψᵀ(∂b/∂ψ)ᵀγ on a direction b(ψ); γ turns with the body.
    """
    Phi, Psi = port.Phi, port.Psi
    K = np.zeros((6 + Phi.shape[1],) * 2)
    turn = skew(port.A.T @ pull[:3])
    K[:3, 3:6], K[3:6, 3:6] = -turn, -skew(port.y) @ turn
    K[3:6, 6:], K[6:, 3:6] = turn @ Phi, -Phi.T @ turn
    gamma = pull[3:].reshape(3, 3) @ port.A  # a row for each direction
    turns, mixed = skews(gamma), gamma.T @ port.triad.T
    K[3:6, 3:6] -= (skews(port.bent.T) @ turns).sum(axis=0)
    bent_by = (turns @ port.bending).sum(axis=0)
    twice = (mixed + mixed.T - 2.0 * np.trace(mixed) * np.eye(3)) / 3.0
    K[3:6, 6:] += bent_by @ Psi
    K[6:, 3:6] += Psi.T @ bent_by.T
    K[6:, 6:] -= Psi.T @ twice @ Psi
    return K[np.ix_(port.columns, port.columns)]
