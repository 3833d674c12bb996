"""What a body is made of, and how it loses energy."""

from __future__ import annotations

from dataclasses import dataclass

from phloat.errors import InputError, finite, not_negative, positive


@dataclass(frozen=True)
class Material:
    """Young's modulus E, density rho, Poisson's ratio nu; isotropic, so that G = E / 2(1 + ν)."""

    E: float
    rho: float
    nu: float = 0.3

    def __post_init__(self) -> None:
        object.__setattr__(self, "E", positive("Young's modulus E", self.E))
        object.__setattr__(self, "rho", positive("density rho", self.rho))
        object.__setattr__(self, "nu", float(finite("Poisson's ratio nu", self.nu, ())))
        if not -1.0 < self.nu < 0.5:
            raise InputError(f"Poisson's ratio nu is {self.nu:g}; it must lie between -1 and 0.5")

    @property
    def G(self) -> float:
        """Shear modulus."""
        return self.E / (2.0 * (1.0 + self.nu))


@dataclass(frozen=True)
class Rayleigh:
    """R_d = mass · M_ff + stiffness · K, on the deformation rates only: rigid motion is never damped."""

    mass: float = 0.0
    stiffness: float = 0.0

    def __post_init__(self) -> None:
        not_negative("Rayleigh mass coefficient", self.mass)
        not_negative("Rayleigh stiffness coefficient", self.stiffness)


@dataclass(frozen=True)
class KelvinVoigt:
    """Stress E (ε + time · ε̇): R_d = time · K, with the retardation time in seconds."""

    time: float

    def __post_init__(self) -> None:
        not_negative("Kelvin-Voigt retardation time", self.time)


Damping = Rayleigh | KelvinVoigt
