"""Materials and damping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from phloat.algebra.metadata import describe, optional
from phloat.algebra.units import in_si
from phloat.errors import InputError, finite, not_negative, positive


@dataclass(frozen=True)
class Material:
    """An isotropic linear elastic material, with shear modulus G = E / 2(1 + ν).

    Parameters
    ----------
    E : float
        Young's modulus (Pa).
    rho : float
        Density (kg/m³).
    nu : float, optional
        Poisson's ratio, between −1 and 0.5.

    Raises
    ------
    InputError
        If E or rho is not positive, or nu is out of its range.

    Examples
    --------
    >>> steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.25)
    >>> f"{steel.G:.2e}"
    '8.40e+10'
    """

    E: float = field(metadata=describe("Young's modulus", "stress", above=0.0))
    rho: float = field(metadata=describe("density", "density", above=0.0))
    nu: float = optional(0.3, "Poisson's ratio")

    def __post_init__(self) -> None:
        in_si(self)
        object.__setattr__(self, "E", positive("Young's modulus E", self.E))
        object.__setattr__(self, "rho", positive("density rho", self.rho))
        object.__setattr__(self, "nu", float(finite("Poisson's ratio nu", self.nu, ())))
        if not -1.0 < self.nu < 0.5:
            raise InputError(f"Poisson's ratio nu is {self.nu:g}; it must lie between -1 and 0.5")

    @property
    def G(self) -> float:
        """Shear modulus."""
        return self.E / (2.0 * (1.0 + self.nu))

    def elasticity(self) -> np.ndarray:
        """Stress from strain, 6 × 6: xx, yy, zz, yz, xz, xy with engineering shear."""
        lame = self.E * self.nu / ((1.0 + self.nu) * (1.0 - 2.0 * self.nu))
        out = np.diag([2.0 * self.G] * 3 + [self.G] * 3)
        out[:3, :3] += lame
        return out

    def plane_stress(self) -> np.ndarray:
        """Plane stress: stress from strain in the plane, 3 × 3: xx, yy, xy."""
        nu = self.nu
        return self.E / (1.0 - nu**2) * np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, 0.5 * (1.0 - nu)]])


@dataclass(frozen=True)
class Orthotropic:
    """Three Young's moduli E, Poisson's ratios nu and shear moduli G (12, 13, 23) along the material's own axes 1, 2, 3.

    nu_12 is the contraction along 2 of a pull along 1, so that ε₂ = −ν₁₂ σ₁/E₁. The columns of `axes` are the material's
    directions in body axes; None: x, y, z.
    """

    E: tuple[float, float, float] = field(
        metadata=describe("Young's moduli along the axes 1, 2, 3 of the material", "stress")
    )
    nu: tuple[float, float, float] = field(metadata=describe("Poisson's ratios 12, 13, 23"))
    G: tuple[float, float, float] = field(metadata=describe("shear moduli 12, 13, 23", "stress"))
    rho: float = field(metadata=describe("density", "density", above=0.0))
    axes: tuple[tuple[float, ...], ...] | np.ndarray | None = optional(
        None, "columns: directions of the material's axes in body axes"
    )
    not_numbers: ClassVar[tuple[str, ...]] = ("axes",)  # the columns can only rotate together

    def __post_init__(self) -> None:
        in_si(self)
        for name, text in (("E", "Young's moduli E"), ("nu", "Poisson's ratios nu"), ("G", "shear moduli G")):
            row = finite(text, getattr(self, name), (3,))
            object.__setattr__(self, name, tuple(positive(text, x) if name != "nu" else float(x) for x in row))
        object.__setattr__(self, "rho", positive("density rho", self.rho))
        if self.axes is not None:
            axes = finite("axes", self.axes, (3, 3))
            if np.abs(axes.T @ axes - np.eye(3)).max() > 1e-9:
                raise InputError(f"the columns of axes must be three perpendicular unit vectors, not {self.axes!r}")
            object.__setattr__(self, "axes", tuple(map(tuple, axes.tolist())))
        smallest = float(np.linalg.eigvalsh(self._scaled())[0])
        if smallest <= 1e-9:
            E = self.E
            limits = ", ".join(f"{np.sqrt(E[a] / E[b]):.3g}" for a, b in ((0, 1), (0, 2), (1, 2)))
            raise InputError(
                f"nu_12, nu_13, nu_23 = {self.nu} gain energy; with E = {E} they must be below {limits}, and small together"
            )

    def _scaled(self) -> np.ndarray:
        """The dimensionless compliance √E_i S_ij √E_j of the normal strains, 3 × 3."""
        (E1, E2, E3), (n12, n13, n23) = self.E, self.nu
        a, b, c = -n12 * np.sqrt(E2 / E1), -n13 * np.sqrt(E3 / E1), -n23 * np.sqrt(E3 / E2)
        return np.array([[1.0, a, b], [a, 1.0, c], [b, c, 1.0]])

    @cached_property
    def _compliance(self) -> np.ndarray:
        """Strain from stress in body axes, 6 × 6: xx, yy, zz, yz, xz, xy."""
        S, size = np.zeros((6, 6)), np.sqrt(self.E)
        S[:3, :3] = self._scaled() / np.outer(size, size)
        S[3:, 3:] = np.diag(1.0 / np.array(self.G)[::-1])  # yz, xz, xy
        if self.axes is None:
            return S
        T = _strains_along(np.array(self.axes))
        T_inverse = np.linalg.inv(T)
        return np.asarray(T_inverse @ S @ T_inverse.T)

    def elasticity(self) -> np.ndarray:
        """Stress from strain in body axes, 6 × 6: xx, yy, zz, yz, xz, xy with engineering shear."""
        return np.linalg.inv(self._compliance)

    def plane_stress(self) -> np.ndarray:
        """Plane stress: stress from strain in the plane xy, 3 × 3: xx, yy, xy."""
        plane = [0, 1, 5]
        return np.linalg.inv(self._compliance[np.ix_(plane, plane)])


def _strains_along(axes: np.ndarray) -> np.ndarray:
    """The 6 × 6 matrix of ε' = Aᵀ ε A: strains along the axes (columns) from strains along x, y, z; xx, yy, zz, yz, xz, xy."""
    pairs = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
    T = np.zeros((6, 6))
    for k, (a, b) in enumerate(pairs):
        for l, (c, d) in enumerate(pairs):
            products = axes[c, a] * axes[d, b] + axes[d, a] * axes[c, b]  # a tensor shear is half the engineering one
            T[k, l] = 0.5 * products if a == b else products
    return T


Thickness = float | Callable[[np.ndarray, np.ndarray], np.ndarray | float]


def thickness_at(thickness: Thickness, x: np.ndarray) -> np.ndarray:
    """A thickness (a number or a function of x and y) at points (…, 2 or 3). Raises InputError unless it is positive everywhere."""
    shape = x.shape[:-1]
    h = np.asarray(thickness(x[..., 0], x[..., 1]) if callable(thickness) else thickness, dtype=float)
    if h.shape not in ((), shape):
        raise InputError(f"thickness(x, y) gave shape {h.shape} for points {shape}; it must be one number a point")
    h = np.broadcast_to(h, shape)
    if not (np.isfinite(h) & (h > 0.0)).all():
        i = np.unravel_index(np.where(np.isfinite(h), h, -np.inf).argmin(), shape)
        raise InputError(f"the thickness at ({x[i][0]:g}, {x[i][1]:g}) is {h[i]:g}; it must be positive")
    return h


@dataclass(frozen=True)
class Rayleigh:
    """Damping proportional to mass (1/s) and to stiffness (s).

    `stiffness` acts on the strain rate, its quadratic part included, as `KelvinVoigt`. `mass` acts on the velocity of each
    point relative to `relative_to`: the name of a port, or "body" for the body's own mean rigid motion (its mass centre and
    angular momentum). Relative to a port at rest, every mode of a body clamped there decays by mass/2; relative to "body",
    every free-free mode. Rigid motion is never damped. Small-motion systems of meshes may also say "ground".
    """

    mass: float = optional(0.0, "by mass, 1/s: twice the decay rate of every mode", "rate", least=0.0)
    stiffness: float = optional(0.0, "by stiffness, s: of the rate of the whole strain", "time", least=0.0)
    relative_to: str | None = optional(None, "what damping by mass is relative to: a port, or body")

    def __post_init__(self) -> None:
        in_si(self)
        not_negative("Rayleigh mass coefficient", self.mass)
        not_negative("Rayleigh stiffness coefficient", self.stiffness)
        if self.relative_to is not None or self.mass:
            _reference("Rayleigh(mass=…)", self.relative_to)

    @property
    def not_numbers(self) -> tuple[str, ...]:
        """Without `relative_to` damping by mass is no parameter."""
        return ("mass",) if self.relative_to is None else ()


@dataclass(frozen=True)
class KelvinVoigt:
    """Stress E (ε + time · ε̇), with the quadratic part of the strain included; `time` is the retardation time in seconds."""

    time: float = field(metadata=describe("retardation time", "time", least=0.0))
    mass: ClassVar[float] = 0.0  # no damping by mass

    def __post_init__(self) -> None:
        in_si(self)
        not_negative("Kelvin-Voigt retardation time", self.time)

    @property
    def stiffness(self) -> float:
        """Damping by stiffness."""
        return self.time


@dataclass(frozen=True)
class ModalDamping:
    """The same damping ratio for all modes of a body: clamped at the port `relative_to`, or free-free with "body".

    It acts on the strain rate with its quadratic part, so bending that shortens the axis is not damped as axial motion.
    """

    ratio: float = field(metadata=describe("damping ratio of all modes", least=0.0))
    relative_to: str = field(metadata=describe("whose modes: clamped at this port, or body for free-free ones"))
    mass: ClassVar[float] = 0.0  # it is neither by mass nor by stiffness
    stiffness: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        in_si(self)
        not_negative("modal damping ratio", self.ratio)
        _reference("ModalDamping(…)", self.relative_to)


Damping = Rayleigh | KelvinVoigt | ModalDamping


def require_damping(damping: object, more: str = "") -> None:
    """Raises InputError if this is not a damping."""
    if not isinstance(damping, Damping):
        raise InputError(f"damping is {damping!r}; it must be Rayleigh(…), KelvinVoigt(…) or ModalDamping(…){more}")


def _reference(label: str, relative_to: object) -> None:
    """Raises InputError unless `relative_to` is a name."""
    if not isinstance(relative_to, str) or not relative_to:
        raise InputError(
            f"{label} damps motion relative to something, and relative_to is {relative_to!r}; give relative_to='P' (the name of "
            "a port: modes of the body clamped there decay alike) or relative_to='body' (its mean rigid motion: free-free modes do)"
        )
