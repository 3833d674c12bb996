"""Cross-sections of beams, by shape or by numbers.

The beam runs along x. `I` = ∫y² dA resists bending along y (the bending of planar motion), `I_y` = ∫z² dA bending along z,
`J` is the torsion constant (not the polar moment), `kappa` the shear correction of Timoshenko's theory (Cowper's at ν = 0).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi, tanh

import numpy as np

from phloat.bodies.beams.shear import rectangle_shear, round_shear
from phloat.errors import InputError, positive

RIM = 32  # points around a section where stress is looked for
CLOSE = 1e-6  # of a dimension: how far a point may lie off the rim


@dataclass(frozen=True)
class Section:
    """A section by its numbers; `J` is needed in space only."""

    A: float
    I: float
    I_y: float | None = None
    J: float | None = None
    kappa: float = 5.0 / 6.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "A", positive("section area A", self.A))
        object.__setattr__(self, "I", positive("second moment of area I", self.I))
        I_y = positive("second moment of area I_y", self.I if self.I_y is None else self.I_y)
        object.__setattr__(self, "I_y", I_y)
        if self.J is not None:
            object.__setattr__(self, "J", positive("torsion constant J", self.J))
        object.__setattr__(self, "kappa", positive("shear correction kappa", self.kappa))

    # --- stress: what numbers alone cannot know, and shapes do ----------------------------------------------------------

    @property
    def shaped(self) -> bool:
        """Whether the outline is known, and with it the shear and the largest stress."""
        return False

    def shear(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """(τ_xy, τ_xz) at points per V_y, V_z, T, (points, 2, 3); zero where the outline is not known."""
        return np.zeros((len(y), 2, 3))

    def rim(self) -> np.ndarray:
        """Points (y, z) where some stress is largest; the axis where the outline is not known."""
        return np.zeros((1, 2))

    def outside(self, y: float, z: float) -> str:
        """Where the section ends, as words, if the point lies outside it; else nothing."""
        return ""


@dataclass(frozen=True)
class Shaped(Section):
    """A section whose numbers follow from its dimensions."""

    A: float = field(init=False, repr=False, compare=False)
    I: float = field(init=False, repr=False, compare=False)
    I_y: float | None = field(init=False, repr=False, compare=False)
    J: float | None = field(init=False, repr=False, compare=False)
    kappa: float = field(init=False, repr=False, compare=False)

    @property
    def shaped(self) -> bool:
        return True

    def _are(self, **numbers: float) -> None:
        for name, value in numbers.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Circle(Shaped):
    """A solid round bar."""

    diameter: float

    def __post_init__(self) -> None:
        d = positive("diameter", self.diameter)
        self._are(diameter=d, A=pi * d**2 / 4, I=pi * d**4 / 64, I_y=pi * d**4 / 64, J=pi * d**4 / 32, kappa=6 / 7)

    def shear(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return round_shear(y, z, 0.5 * self.diameter, 0.0, self.I)

    def rim(self) -> np.ndarray:
        return circle(0.5 * self.diameter)

    def outside(self, y: float, z: float) -> str:
        r = 0.5 * self.diameter
        return f"it ends at the radius {r:g}" if y**2 + z**2 > r**2 * (1 + CLOSE) else ""


@dataclass(frozen=True)
class Tube(Shaped):
    """A round tube of outer diameter and wall thickness."""

    diameter: float
    wall: float

    def __post_init__(self) -> None:
        d, t = positive("diameter", self.diameter), positive("wall", self.wall)
        if 2 * t > d:
            raise InputError(f"wall is {t:g}, more than half the diameter {d:g}; use Circle for a solid bar")
        inner = d - 2 * t
        moment = pi * (d**4 - inner**4) / 64
        ratio = inner / d
        kappa = 6 * (1 + ratio**2) ** 2 / (7 * (1 + ratio**2) ** 2 + 20 * ratio**2)
        self._are(diameter=d, wall=t, A=pi * (d**2 - inner**2) / 4, I=moment, I_y=moment, J=2 * moment, kappa=kappa)

    def shear(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return round_shear(y, z, 0.5 * self.diameter, 0.5 * self.diameter - self.wall, self.I)

    def rim(self) -> np.ndarray:
        return np.vstack([circle(0.5 * self.diameter), circle(0.5 * self.diameter - self.wall)])

    def outside(self, y: float, z: float) -> str:
        outer, r2 = 0.5 * self.diameter, y**2 + z**2
        inner = outer - self.wall
        wrong = r2 > outer**2 * (1 + CLOSE) or r2 < inner**2 * (1 - CLOSE)
        return f"its wall is between the radii {inner:g} and {outer:g}" if wrong else ""


@dataclass(frozen=True)
class Rectangle(Shaped):
    """b along z, h along y: planar I = b h³ / 12; J from Saint-Venant's series."""

    b: float
    h: float

    def __post_init__(self) -> None:
        b, h = positive("width b", self.b), positive("height h", self.h)
        long, short = max(b, h), min(b, h)
        series = sum(tanh(n * pi * long / (2 * short)) / n**5 for n in range(1, 40, 2))
        J = long * short**3 * (1.0 / 3.0 - 64.0 / pi**5 * short / long * series)
        self._are(b=b, h=h, A=b * h, I=b * h**3 / 12, I_y=h * b**3 / 12, J=J, kappa=5.0 / 6.0)

    def shear(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        assert self.J is not None
        return rectangle_shear(y, z, self.h, self.b, self.J)

    def rim(self) -> np.ndarray:
        side = np.linspace(-0.5, 0.5, RIM // 4 + 1)
        half = np.full_like(side, 0.5)
        around = np.vstack([np.column_stack(p) for p in ((side, half), (side, -half), (half, side), (-half, side))])
        return np.unique(around * [self.h, self.b], axis=0)

    def outside(self, y: float, z: float) -> str:
        wrong = abs(y) > 0.5 * self.h * (1 + CLOSE) or abs(z) > 0.5 * self.b * (1 + CLOSE)
        return f"it ends at y = ±{0.5 * self.h:g} and z = ±{0.5 * self.b:g}" if wrong else ""


def circle(radius: float) -> np.ndarray:
    angle = 2 * pi / RIM * np.arange(RIM)
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])
