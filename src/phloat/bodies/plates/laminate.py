"""Stiffness through the thickness of plates: one layer, or several at angles.

(N, M) = [[A, B], [B, D]] (ε, κ),   (A, B, D) = ∫ Q̄ (1, z, z²) dz,   Q = κ_s ∫ Ḡ dz γ
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from phloat.bodies.material import Material, Orthotropic, Thickness, thickness_at
from phloat.errors import InputError, finite, positive

SHEAR_FACTOR = 5.0 / 6.0
NONE = 1e-9  # relative to h A and h ρ₀: smaller couplings are zero


class Through(NamedTuple):
    """Per area: stiffnesses A, B, D (3 × 3) of xx, yy, xy and of shear (2 × 2), mass rho_0 and rotary inertia rho_2 = ∫ρz².

    All at one point, or at several with a leading axis (points, …).
    """

    A: np.ndarray
    B: np.ndarray
    D: np.ndarray
    shear: np.ndarray
    rho_0: np.ndarray
    rho_2: np.ndarray


@dataclass(frozen=True)
class Laminate:
    """Layers from the lowest (z = −h/2) to the highest: (material, thickness, angle of its axis 1 from x in radians).

    An unsymmetric laminate couples bending with stretching, so that its plates have a membrane.
    """

    layers: Sequence[tuple[Material | Orthotropic, float, float]]

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
        first = float(self._through(self._rho, 1))
        if abs(first) > NONE * self.thickness * self.through.rho_0:
            raise InputError(
                f"the mass centre of this laminate is {first / self.through.rho_0:.3g} m off the middle; plates need layers "
                "whose densities are symmetric"
            )

    @cached_property
    def thickness(self) -> float:
        return float(sum(layer[1] for layer in self.layers))

    @cached_property
    def heights(self) -> np.ndarray:
        """z of the faces of the layers, from −h/2 to h/2."""
        return np.concatenate([[0.0], np.cumsum([layer[1] for layer in self.layers])]) - 0.5 * self.thickness

    @cached_property
    def stiffness(self) -> tuple[np.ndarray, np.ndarray]:
        """Q̄ (layers, 3, 3) and Ḡ (layers, 2, 2) in the axes of the plate."""
        rotated = [turned_stiffness(*plane_stress(material), angle) for material, _, angle in self.layers]
        return np.array([Q for Q, _ in rotated]), np.array([G for _, G in rotated])

    @property
    def _rho(self) -> np.ndarray:
        return np.array([float(material.rho) for material, *_ in self.layers])

    def _through(self, of_layers: np.ndarray, power: int) -> Any:
        """∫ f zᵖ dz of a quantity f that is constant in every layer."""
        z = self.heights ** (power + 1)
        return sum(f * (above - below) / (power + 1) for f, below, above in zip(of_layers, z[:-1], z[1:], strict=True))

    @cached_property
    def through(self) -> Through:
        """Stiffnesses and masses per area in the axes of the plate."""
        Q, G = self.stiffness
        h = [thickness for _, thickness, _ in self.layers]
        A, shear = (sum(f * t for f, t in zip(part, h, strict=True)) for part in (Q, SHEAR_FACTOR * G))
        B, D = self._through(Q, 1), self._through(Q, 2)
        B[np.abs(B) < NONE * self.thickness * np.abs(A).max()] = 0.0
        rho_0, rho_2 = (np.array(self._through(self._rho, power)) for power in (0, 2))
        return Through(A, B, D, shear, rho_0, rho_2)

    def layer_at(self, z: np.ndarray) -> np.ndarray:
        """The index of the layer at each height; between two layers the lower one."""
        return np.clip(np.searchsorted(self.heights, z) - 1, 0, len(self.layers) - 1)

    @property
    def coupled(self) -> bool:
        """Whether bending and stretching are coupled."""
        return bool(self.through.B.any())


def plane_stress(material: Material | Orthotropic) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness of plane stress (3 × 3: 11, 22, 12) and of transverse shear (2 × 2: 13, 23) in the axes of the material."""
    if isinstance(material, Material):
        return material.plane_stress(), material.G * np.eye(2)
    if not isinstance(material, Orthotropic):
        raise InputError(f"the material is {material!r}; it must be a Material, an Orthotropic or a Laminate")
    if material.axes is not None:
        raise InputError("this material has axes of its own; give it without axes, and turn it in the plane by angle=")
    (E_1, E_2, _), nu_12, (G_12, G_13, G_23) = material.E, material.nu[0], material.G
    share = 1.0 - nu_12**2 * E_2 / E_1
    Q = np.array([[E_1, nu_12 * E_2, 0], [nu_12 * E_2, E_2, 0], [0, 0, G_12 * share]]) / share
    return Q, np.diag([G_13, G_23])


def turned_stiffness(Q: np.ndarray, G: np.ndarray, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Stiffnesses Q and G of axes 1, 2 in axes x, y, if axis 1 is at the angle from x."""
    c, s = np.cos(angle), np.sin(angle)
    # strains 11, 22, 12 (engineering) from those of xx, yy, xy
    T = np.array([[c * c, s * s, c * s], [s * s, c * c, -c * s], [-2 * c * s, 2 * c * s, c * c - s * s]])
    R = np.array([[c, s], [-s, c]])
    return T.T @ Q @ T, R.T @ G @ R


# --- sections ---------------------------------------------------------------------------------------------------------
#
# A plate through its thickness, at points (points, 2) of its middle plane.


@dataclass(frozen=True)
class PlateSection:
    """A laminate, or a thickness (a number or a function of x and y) of a material whose axis 1 is at `angle` from x.

    `shear_factor` multiplies the shear stiffness of Mindlin's theory, Q = shear_factor ∫ G dz γ.
    """

    material: Material | Orthotropic | Laminate
    thickness: Thickness | None
    angle: float
    shear_factor: float = SHEAR_FACTOR

    def __post_init__(self) -> None:
        finite("angle", self.angle, ())
        positive("shear_factor", self.shear_factor)
        if isinstance(self.material, Laminate):
            if self.thickness is not None:
                raise InputError(f"a laminate has its own thickness, {self.material.thickness:g}; leave thickness out")
            if self.angle:
                raise InputError("a laminate has the angles of its layers; turn those, and leave angle out")
            return
        plane_stress(self.material)
        if self.thickness is None:
            raise InputError("the thickness is missing: thickness=…, in metres, or f(x, y)")
        if not callable(self.thickness):
            positive("thickness", self.thickness)

    @property
    def coupled(self) -> bool:
        """Whether bending and stretching are coupled."""
        return isinstance(self.material, Laminate) and self.material.coupled

    def height(self, x: np.ndarray) -> np.ndarray:
        """The thickness at points, (points,)."""
        if isinstance(self.material, Laminate):
            return np.full(len(x), self.material.thickness)
        assert self.thickness is not None
        return thickness_at(self.thickness, x)

    def through(self, x: np.ndarray) -> Through:
        """Stiffnesses and masses per area at points."""
        h = self.height(x)
        if isinstance(self.material, Laminate):
            laminate = self.material.through
            laminate = laminate._replace(shear=laminate.shear * (self.shear_factor / SHEAR_FACTOR))
            return Through(*(np.broadcast_to(part, (len(h), *part.shape)) for part in laminate))
        Q, G = turned_stiffness(*plane_stress(self.material), self.angle)
        t, rho = h[:, None, None], self.material.rho
        return Through(Q * t, 0.0 * Q * t, Q * t**3 / 12.0, self.shear_factor * G * t, rho * h, rho * h**3 / 12.0)

    def fibres(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Stresses xx, yy, zz, yz, xz, xy at heights z per N_xx N_yy N_xy M_xx M_yy M_xy Q_x Q_y: (points, 6, 8).

        In the plane Q̄ (ε + z κ); across it Q (3/2h)(1 − 4z²/h²), in a laminate the same shear strain in all layers.
        """
        A, B, D, shear, *_ = self.through(x)
        flexible = np.linalg.inv(np.block([[A, B], [B, D]]))
        strain = flexible[:, :3] + z[:, None, None] * flexible[:, 3:]
        out = np.zeros((len(x), 6, 8))
        if isinstance(self.material, Laminate):
            Q, G = (of_layers[self.material.layer_at(z)] for of_layers in self.material.stiffness)
            shear_stress = self.shear_factor * G @ np.linalg.inv(shear)
        else:
            h = self.height(x)
            Q = turned_stiffness(*plane_stress(self.material), self.angle)[0]
            shear_stress = (1.5 / h * (1.0 - (2.0 * z / h) ** 2))[:, None, None] * np.eye(2)
        out[:, [0, 1, 5], :6] = Q @ strain
        out[:, [4, 3], 6:] = shear_stress
        return out
