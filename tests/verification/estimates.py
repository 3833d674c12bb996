"""How far off a mesh or a step may be: a number for numbers, an array for arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def cubic(waves: ArrayLike, elements: float) -> Any:
    """Relative error of ω with cubic bending or quadratic axial elements, (kh)⁴/1440 for the wave number k, twice for safety."""
    return 2.0 * (np.asarray(waves, dtype=float) / elements) ** 4 / 1440.0 + 1e-8


def midpoint(rate: float, dt: float, t: float) -> float:
    """How far in angle the midpoint rule lags behind an oscillation or a turn at `rate` after t: (h rate)²/12 of the phase."""
    return rate**3 * dt**2 * t / 12.0


def halved(coarse: ArrayLike, fine: ArrayLike, digits: ArrayLike = 0.0, *, order: int = 2) -> Any:
    """Twice the error that is left after halving, by what it changed: 2 |change| / (2^order − 1) (Richardson); and digits."""
    change = np.abs(np.asarray(fine, dtype=float) - np.asarray(coarse, dtype=float))
    return 2.0 * change / (2.0**order - 1.0) + np.asarray(digits)
