"""A rod that bends and twists far, by shooting: Kirchhoff's equations, with rotations instead of frames.

Under a dead force P at its tip r(L) the moment at s is (r(L) − r(s)) × P, and with curvatures κ = κ₀ + Rᵀm / (GJ, EI_y, EI)

    r' = R (e_x + Rᵀ P / (EA, …)),   R' = R κ×,   r(0) = 0, R(0) = 1,

so that the three unknowns are the place of the tip (Love, A Treatise on the Mathematical Theory of Elasticity, chapter XVIII).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, root


@dataclass(frozen=True)
class Rod:
    """Clamped at the origin, along x. `bends` are GJ, EI_y, EI; `stretch` is 1/EA; sections stay normal to the axis.

    `bow` are the curvatures (twist, about y, about z) that it has without load.
    """

    length: float
    bends: tuple[float, float, float]
    stretch: float = 0.0
    bow: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def ends(self, force: np.ndarray, tip: np.ndarray) -> np.ndarray:
        """r and the rows of R at s = L, if moments are those of a force at this tip."""

        def along(_: float, y: np.ndarray) -> np.ndarray:
            r, R = y[:3], y[3:].reshape(3, 3)
            k = self.bow + R.T @ np.cross(tip - r, force) / self.bends
            turning = np.array([[0.0, -k[2], k[1]], [k[2], 0.0, -k[0]], [-k[1], k[0], 0.0]])
            return np.concatenate([R[:, 0] * (1.0 + self.stretch * (R[:, 0] @ force)), (R @ turning).ravel()])

        start = np.concatenate([np.zeros(3), np.eye(3).ravel()])
        return np.asarray(solve_ivp(along, (0.0, self.length), start, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1])

    def bent(self, force: np.ndarray, parts: int = 4) -> tuple[np.ndarray, np.ndarray]:
        """The place of the tip and its triad (columns) under a force that is put on in equal parts."""
        tip = self.ends(np.zeros(3), np.zeros(3))[:3]
        for part in np.arange(1, parts + 1) / parts:
            load = part * np.asarray(force, dtype=float)
            tip = root(lambda at, load=load: (self.ends(load, at)[:3] - at) / self.length, tip, tol=1e-12).x
        return tip, self.ends(np.asarray(force, dtype=float), tip)[3:].reshape(3, 3)

    def tilts_at(self, low: float, high: float) -> float:
        """The force along y, between these, under which the rod bent in the plane xy may leave it."""

        def sideways(load: float) -> float:
            force, step = np.array([0.0, load, 0.0]), np.array([0.0, 0.0, 1e-5 * self.length])
            tip = self.bent(force)[0]
            return float((self.ends(force, tip + step) - self.ends(force, tip - step))[2] / (2.0 * step[2]) - 1.0)

        return float(brentq(sideways, low, high, xtol=1e-9 * high))
