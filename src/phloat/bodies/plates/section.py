"""What a plate is through its thickness, at points (points, 2) of its middle plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phloat.bodies.material import Material
from phloat.bodies.plates.laminate import SHEAR_FACTOR, Laminate, Ply, Through, plane_stress, turned
from phloat.errors import InputError, finite, positive

Thickness = float | Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class PlateSection:
    """A laminate, or a thickness (a number or a function of x and y) of a material whose axis 1 is turned by `angle` from x.

    `shear_factor` multiplies the shear stiffness of Mindlin's theory, Q = shear_factor ∫ G dz γ.
    """

    material: Material | Ply | Laminate
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
        """Whether bending stretches it."""
        return isinstance(self.material, Laminate) and self.material.coupled

    def height(self, x: np.ndarray) -> np.ndarray:
        """The thickness."""
        if isinstance(self.material, Laminate):
            return np.full(len(x), self.material.thickness)
        if not callable(self.thickness):
            return np.full(len(x), self.thickness, dtype=float)
        h = np.asarray(self.thickness(x[:, 0], x[:, 1]), dtype=float)
        if h.shape not in ((), (len(x),)):
            raise InputError(f"thickness(x, y) gave shape {h.shape} for {len(x)} points; it must be one number a point")
        h = np.broadcast_to(h, (len(x),))
        if (bad := ~(np.isfinite(h) & (h > 0.0))).any():
            i = int(bad.argmax())
            raise InputError(f"the thickness at ({x[i, 0]:g}, {x[i, 1]:g}) is {h[i]:g}; it must be positive")
        return h

    def through(self, x: np.ndarray) -> Through:
        """Stiffnesses and masses per area."""
        h = self.height(x)
        if isinstance(self.material, Laminate):
            own = self.material.through
            own = own._replace(shear=own.shear * (self.shear_factor / SHEAR_FACTOR))
            return Through(*(np.broadcast_to(part, (len(h), *part.shape)) for part in own))
        Q, G = turned(*plane_stress(self.material), self.angle)
        by, rho = h[:, None, None], self.material.rho
        return Through(Q * by, 0.0 * Q * by, Q * by**3 / 12.0, self.shear_factor * G * by, rho * h, rho * h**3 / 12.0)

    def fibres(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Stresses xx, yy, zz, yz, xz, xy at heights z per resultant N_xx N_yy N_xy M_xx M_yy M_xy Q_x Q_y: (points, 6, 8).

        In the plane Q̄ (ε + z κ); across it Q (3/2h)(1 − 4z²/h²), in a laminate the same shear strain in all layers.
        """
        A, B, D, shear, *_ = self.through(x)
        flexible = np.linalg.inv(np.block([[A, B], [B, D]]))
        strain = flexible[:, :3] + z[:, None, None] * flexible[:, 3:]
        out = np.zeros((len(x), 6, 8))
        if isinstance(self.material, Laminate):
            own = [turned(*plane_stress(material), angle) for material, _, angle in self.material.layers]
            layer = self.material.layer_at(z)
            Q, G = (np.array([o[k] for o in own])[layer] for k in (0, 1))
            across = self.shear_factor * G @ np.linalg.inv(shear)
        else:
            h = self.height(x)
            Q = turned(*plane_stress(self.material), self.angle)[0]
            across = (1.5 / h * (1.0 - (2.0 * z / h) ** 2))[:, None, None] * np.eye(2)
        out[:, [0, 1, 5], :6] = Q @ strain
        out[:, [4, 3], 6:] = across
        return out
