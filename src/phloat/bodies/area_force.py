"""The generalised force of a pressure on a surface of a body: polynomials of its coordinates.

With the tangents t_i = t_i0 + T_i η of the moving surface and y = x + Φη, a pressure of one along t_1 × t_2 has, in axes of the
body,

    F(η) = ∫ t_1 × t_2,   M(η) = ∫ y × (t_1 × t_2),   f(η) = ∫ Φᵀ (t_1 × t_2).

F and f are quadratic, M = m_0 + Σ m_k η_k with quadratic m. The cost does not depend on the number of quadrature points. On a
closed surface F and M of a uniform pressure vanish at every η, and f is the gradient of the enclosed volume.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FORCE = slice(0, 3)
ROUND_OFF = 1e-14  # of the magnitudes of the terms of a sum


@dataclass(frozen=True, eq=False)
class AreaForce:
    """Quadratics g = constant + linear η + ½ η quadratic η: rows F (3), f (n), m_0 (3), m_1 (3), …, m_n (3); about the point P."""

    constant: np.ndarray
    linear: np.ndarray
    quadratic: np.ndarray

    @property
    def coordinates(self) -> int:
        return self.linear.shape[1]

    def at(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The generalised force (F, M, f), (6 + n), and its derivative by η, (6 + n, n)."""
        n, half = len(eta), 0.5 * (self.quadratic @ eta)
        value, slope = self.constant + (self.linear + half) @ eta, self.linear + 2.0 * half
        m, m_slope = value[3 + n :].reshape(-1, 3), slope[3 + n :].reshape(-1, 3, n)
        weights = np.concatenate([[1.0], eta])
        moment_slope = np.tensordot(weights, m_slope, 1) + m[1:].T
        force = np.concatenate([value[FORCE], weights @ m, value[3 : 3 + n]])
        return force, np.vstack([slope[FORCE], moment_slope, slope[3 : 3 + n]])

    def about(self, x: np.ndarray, Phi: np.ndarray) -> AreaForce:
        """The same with x and Φ measured from a point that moves by (x, Φη)."""
        n = self.coordinates
        arms = np.vstack([x, Phi.T])
        return AreaForce(*(_shifted(rows, arms, n) for rows in (self.constant, self.linear, self.quadratic)))

    def components(self, linear: int, turning: list[int]) -> AreaForce:
        """Only the first components of F, and those of m about some axes: what a body has in a plane."""
        n = self.coordinates
        moments = (3 + n + 3 * np.arange(n + 1)[:, None] + np.array(turning, dtype=int)).ravel()
        rows = np.concatenate([np.arange(linear), np.arange(3, 3 + n), moments])
        return AreaForce(self.constant[rows], self.linear[rows], self.quadratic[rows])


def _shifted(rows: np.ndarray, arms: np.ndarray, n: int) -> np.ndarray:
    """Rows F, f − Φᵀ F, m_k − arm_k × F."""
    F, out = rows[FORCE], rows.copy()
    out[3 : 3 + n] -= np.tensordot(arms[1:], F, 1)
    crossed = np.cross(arms[:, :, None], F.reshape(1, 3, -1), axis=1)
    out[3 + n :] -= crossed.reshape(out[3 + n :].shape)
    return out


def area_polynomials(
    x: np.ndarray,
    weight: np.ndarray,
    tangents: tuple[np.ndarray, np.ndarray],
    Phi: np.ndarray,
    slopes: tuple[np.ndarray, np.ndarray],
) -> AreaForce:
    """The polynomials of points x (points, 3) with weights; Φ and the slopes of the tangents are (points, 3, n)."""
    (p, q), (P, Q), n = tangents, slopes, Phi.shape[2]
    arms = np.concatenate([x[:, :, None], Phi], axis=2)  # of m_0, m_1, …
    w = weight[:, None]

    def sums(area: np.ndarray, arms: np.ndarray, sign: float) -> np.ndarray:
        products = np.tensordot(arms, area, (0, 0))  # (3, 1 + n, 3, k)
        f = np.einsum("alak->lk", products[:, 1:])
        m = [products[(i + 1) % 3, :, (i + 2) % 3] - sign * products[(i + 2) % 3, :, (i + 1) % 3] for i in range(3)]
        return np.concatenate([area.sum(axis=0), f, np.stack(m, axis=1).reshape(3 * (n + 1), -1)])

    def rows(area: np.ndarray) -> np.ndarray:
        """The rows of a field of area vectors (points, 3, k), (3 + n + 3 (n + 1), k); zero where only round-off is left."""
        out = sums(area, arms, 1.0)
        return np.where(np.abs(out) > ROUND_OFF * sums(np.abs(area), np.abs(arms), -1.0), out, 0.0)

    def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.cross(a, b, axis=1)

    constant = rows((w * cross(p, q))[:, :, None])[:, 0]
    linear = rows(w[:, :, None] * (cross(P, q[:, :, None]) + cross(p[:, :, None], Q)))
    quadratic = np.zeros((len(constant), n, n))
    for k in range(n):
        mixed = cross(P[:, :, k : k + 1], Q) + cross(P, Q[:, :, k : k + 1])
        quadratic[:, k] = rows(w[:, :, None] * mixed)
    return AreaForce(constant, linear, quadratic)
