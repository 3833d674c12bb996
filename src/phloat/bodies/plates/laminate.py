"""Stiffness through the thickness of plates: one layer, or several at angles.

(N, M) = [[A, B], [B, D]] (ε, κ),   (A, B, D) = ∫ Q̄ (1, z, z²) dz,   Q = κ_s ∫ Ḡ dz γ
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from phloat.bodies.material import Material
from phloat.errors import InputError, finite, positive

SHEAR_FACTOR = 5.0 / 6.0
NONE = 1e-9  # relative to h A and h ρ₀: what counts as no coupling


class Through(NamedTuple):
    """Per area: stiffnesses A, B, D (3 × 3) of xx, yy, xy and of shear (2 × 2), mass rho_0 and rotary inertia rho_2 = ∫ρz².

    All of one place, or of several, which then come first.
    """

    A: np.ndarray
    B: np.ndarray
    D: np.ndarray
    shear: np.ndarray
    rho_0: np.ndarray
    rho_2: np.ndarray


class Ply(Protocol):
    """Three Young's moduli, Poisson's ratios (12, 13, 23) and shear moduli (12, 13, 23) in the axes of the fibres."""

    E: tuple[float, float, float]
    nu: tuple[float, float, float]
    G: tuple[float, float, float]
    rho: float


@dataclass(frozen=True)
class Laminate:
    """Layers from the lowest (z = −h/2) to the highest: (material, thickness, angle of its axis 1 from x in radians).

    An unsymmetric laminate couples bending with stretching, so that its plates have a membrane.
    """

    layers: Sequence[tuple[Material | Ply, float, float]]

    def __post_init__(self) -> None:
        if isinstance(self.layers, (str, dict)) or not hasattr(self.layers, "__iter__") or not len(self.layers):
            raise InputError(f"layers is {self.layers!r}; give at least one (material, thickness, angle)")
        for k, layer in enumerate(self.layers):
            if not isinstance(layer, (tuple, list)) or len(layer) != 3:
                raise InputError(f"layer {k} is {layer!r}; it must be (material, thickness, angle)")
            plane_stress(layer[0])
            positive(f"thickness of layer {k}", layer[1])
            finite(f"angle of layer {k}", layer[2], ())
        object.__setattr__(self, "layers", tuple(tuple(layer) for layer in self.layers))
        h, first = self.thickness, sum(r * (b * b - a * a) / 2.0 for r, a, b in self._masses())
        if abs(first) > NONE * h * self.through.rho_0:
            raise InputError(
                f"the mass centre of this laminate lies {first / self.through.rho_0:.3g} m off the middle; "
                "plates need layers whose densities are symmetric"
            )

    @cached_property
    def thickness(self) -> float:
        return float(sum(layer[1] for layer in self.layers))

    @cached_property
    def heights(self) -> np.ndarray:
        """z of the faces of the layers, from −h/2 to h/2."""
        return np.concatenate([[0.0], np.cumsum([layer[1] for layer in self.layers])]) - 0.5 * self.thickness

    def _masses(self) -> list[tuple[float, float, float]]:
        z = self.heights
        return [(float(layer[0].rho), z[k], z[k + 1]) for k, layer in enumerate(self.layers)]

    @cached_property
    def through(self) -> Through:
        """A, B, D, shear and masses in the axes of the plate."""
        A, B, D, shear = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((2, 2))
        z = self.heights
        for k, (material, h, angle) in enumerate(self.layers):
            Q, G = turned(*plane_stress(material), angle)
            A += Q * h
            B += Q * (z[k + 1] ** 2 - z[k] ** 2) / 2.0
            D += Q * (z[k + 1] ** 3 - z[k] ** 3) / 3.0
            shear += SHEAR_FACTOR * G * h
        B[np.abs(B) < NONE * self.thickness * np.abs(A).max()] = 0.0
        rho_0 = sum(r * (b - a) for r, a, b in self._masses())
        rho_2 = sum(r * (b**3 - a**3) / 3.0 for r, a, b in self._masses())
        return Through(A, B, D, shear, np.array(rho_0), np.array(rho_2))

    def layer_at(self, z: np.ndarray) -> np.ndarray:
        """The number of the layer at each height; on a face between two, the lower one."""
        return np.clip(np.searchsorted(self.heights, z) - 1, 0, len(self.layers) - 1)

    @property
    def coupled(self) -> bool:
        """Whether bending stretches it."""
        return bool(self.through.B.any())


def plane_stress(material: Material | Ply) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness of plane stress (3 × 3: 11, 22, 12) and of transverse shear (2 × 2: 13, 23) in the material's own axes."""
    if isinstance(material, Material):
        E, nu, G = material.E, material.nu, material.G
        return E / (1 - nu**2) * np.array([[1, nu, 0], [nu, 1, 0], [0, 0, (1 - nu) / 2]]), G * np.eye(2)
    if not all(hasattr(material, name) for name in ("E", "nu", "G", "rho")) or np.shape(material.E) != (3,):
        raise InputError(
            f"the material is {material!r}; it must be Material(…) or Orthotropic(…), or a Laminate of them"
        )
    if getattr(material, "axes", None) is not None:
        raise InputError(
            "the axes of this material are turned in space; give it without axes, and turn it in the plane by angle="
        )
    (E_1, E_2, _), nu_12, (G_12, G_13, G_23) = material.E, material.nu[0], material.G
    share = 1.0 - nu_12**2 * E_2 / E_1
    Q = np.array([[E_1, nu_12 * E_2, 0], [nu_12 * E_2, E_2, 0], [0, 0, G_12 * share]]) / share
    return Q, np.diag([G_13, G_23])


def turned(Q: np.ndarray, G: np.ndarray, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """The same stiffnesses in axes x, y from which axis 1 is turned by the angle."""
    c, s = np.cos(angle), np.sin(angle)
    # strains 11, 22, 12 (engineering) from those of xx, yy, xy
    T = np.array([[c * c, s * s, c * s], [s * s, c * c, -c * s], [-2 * c * s, 2 * c * s, c * c - s * s]])
    R = np.array([[c, s], [-s, c]])
    return T.T @ Q @ T, R.T @ G @ R
