"""Shear over the sections of beams: (τ_xy, τ_xz) at points (y, z) per unit of V_y, V_z and T, (points, 2, 3)."""

from __future__ import annotations

import numpy as np

TERMS = np.arange(1, 200, 2)  # of the series of a rectangle


def round_shear(y: np.ndarray, z: np.ndarray, outer: float, inner: float, I: float) -> np.ndarray:
    """A round bar or tube. Torsion T r / J; shear of Saint-Venant's flexure at ν = ½, which needs no material: it is in balance
    and leaves both rims free, with 4/3 V/A at the centre of a bar (other ν change it by some 10 %) and 2 V/A in a thin tube."""
    out = np.zeros((len(y), 2, 3))
    for k, (along, across) in enumerate(((y, z), (z, y))):
        r2 = np.maximum(along**2 + across**2, 1e-300)
        hole = (outer * inner) ** 2 / r2**2 if inner else 0.0 * y
        out[:, k, k] = (outer**2 + inner**2 - along**2 + hole * (across**2 - along**2)) / (3.0 * I)
        out[:, 1 - k, k] = -along * across * (1.0 + 2.0 * hole) / (3.0 * I)
    out[:, 0, 2], out[:, 1, 2] = -z / (2.0 * I), y / (2.0 * I)
    return out


def rectangle_shear(y: np.ndarray, z: np.ndarray, h: float, b: float, J: float) -> np.ndarray:
    """h along y, b along z. Shear is parabolic, 3/2 V/A on the axis (a mean over the width: at the edges of a section much wider
    than high it is more); torsion is Prandtl's series, largest at the middle of the long sides."""
    out = np.zeros((len(y), 2, 3))
    out[:, 0, 0] = 1.5 / (b * h) * (1.0 - (2.0 * y / h) ** 2)
    out[:, 1, 1] = 1.5 / (b * h) * (1.0 - (2.0 * z / b) ** 2)
    if b >= h:
        by_z, by_y = _prandtl(z, y, b, h)
    else:
        by_y, by_z = _prandtl(y, z, h, b)
    out[:, 0, 2], out[:, 1, 2] = by_z / J, -by_y / J
    return out


def _prandtl(p: np.ndarray, q: np.ndarray, long: float, short: float) -> tuple[np.ndarray, np.ndarray]:
    """Slopes along the long side (p) and the short one (q) of Prandtl's function, ∇²φ = −2, φ = 0 around the rectangle:
    φ = t²/4 − q² − 8t²/π³ Σ (−1)^k/n³ cosh(nπp/t)/cosh(nπa/2t) cos(nπq/t), n = 2k + 1."""
    n = TERMS * np.pi / short
    sign = np.where(TERMS % 4 == 1, 1.0, -1.0) / TERMS**2 * 8.0 * short / np.pi**2
    far = np.exp(-n * np.maximum(0.5 * long - np.abs(p)[:, None], 0.0)) / (1.0 + np.exp(-n * long))
    even, odd = (1.0 + s * np.exp(-2.0 * n * np.abs(p)[:, None]) for s in (1.0, -1.0))
    angle = n * q[:, None]
    by_p = -np.sign(p) * (sign * far * odd * np.cos(angle)).sum(axis=1)
    by_q = -2.0 * q + (sign * far * even * np.sin(angle)).sum(axis=1)
    return by_p, by_q
