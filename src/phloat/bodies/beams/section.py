"""Cross-sections of beams, by shape or by numbers.

The beam runs along x. `I` = ∫y² dA resists bending along y (the bending of planar motion), `I_y` = ∫z² dA bending along z,
`I_yz` = ∫yz dA couples the two, `J` is the torsion constant (not the polar moment), `kappa` the shear correction of Timoshenko's
theory (Cowper's at ν = 0). All of them are about axes of the section's own, which are those of the beam turned by `angle` about x,
from y towards z. An angle that varies along the beam is a pretwist: material fibres then wind around the axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from math import cos, pi, sin, tanh
from typing import Any

import numpy as np

from phloat.algebra.metadata import describe, optional
from phloat.algebra.units import in_si
from phloat.bodies.material import Material
from phloat.errors import InputError, finite, mapping, positive

RIM = 32  # points around a section where stress is evaluated
CLOSE = 1e-6  # of a dimension: the distance from the rim at which a point still counts as inside
ROUND_OFF = 1e-15  # smaller cosines and sines, of quarter turns, are set to zero


@dataclass(frozen=True)
class Section:
    """A section by its numbers, about axes turned by `angle` from those of the beam.

    An L profile is given about its legs, Section(A, I, I_y, J, I_yz=…), or about its principal axes, Section(…, angle=…).

    Parameters
    ----------
    A, I, I_y : float
        Area (m²), ∫y² dA for bending along y, as in the plane xy, and ∫z² dA for bending along z (m⁴); I_y is I by default.
    J : float, optional
        Torsion constant (m⁴), not the polar moment; needed in space only.
    kappa : float, optional
        Shear correction of Timoshenko's theory: one number, so that shear of the two directions is never coupled.
    I_yz, angle : float, optional
        ∫yz dA (m⁴), which couples bending along y and z; and the turn of the axes of the section about x, from y towards z (rad).

    Examples
    --------
    >>> profile = ph.Section(A=564e-6, I=2.0e-7, I_y=7.1e-8, J=6.8e-9, angle=np.pi / 2)
    >>> profile.moments  # ∫y² dA, ∫z² dA and ∫yz dA in the axes of the beam
    (7.1e-08, 2e-07, 0.0)
    """

    A: float = field(metadata=describe("area", "area", above=0.0))
    I: float = field(
        metadata=describe("second moment for bending along y, as in the plane xy", "second moment of area", above=0.0)
    )
    I_y: float | None = optional(
        None, "second moment for bending along z; I by default", "second moment of area", above=0.0
    )
    J: float | None = optional(None, "torsion constant; needed in space", "second moment of area", above=0.0)
    kappa: float = optional(5.0 / 6.0, "shear correction of Timoshenko's theory", above=0.0)
    _: KW_ONLY
    I_yz: float = optional(0.0, "product of inertia: couples bending along y and z", "second moment of area")
    angle: float = optional(0.0, "turns the axes of the section about x, from y towards z", "angle")

    def __post_init__(self) -> None:
        in_si(self)
        object.__setattr__(self, "A", positive("section area A", self.A))
        object.__setattr__(self, "I", positive("second moment of area I", self.I))
        I_y = positive("second moment of area I_y", self.I if self.I_y is None else self.I_y)
        object.__setattr__(self, "I_y", I_y)
        if self.J is not None:
            object.__setattr__(self, "J", positive("torsion constant J", self.J))
        object.__setattr__(self, "kappa", positive("shear correction kappa", self.kappa))
        object.__setattr__(self, "I_yz", float(finite("product of inertia I_yz", self.I_yz, ())))
        object.__setattr__(self, "angle", float(finite("angle", self.angle, ())))
        if self.I_yz**2 >= self.I * I_y:
            raise InputError(f"I_yz is {self.I_yz:g}; its size must be below √(I I_y) = {np.sqrt(self.I * I_y):g}")

    @property
    def moments(self) -> tuple[float, float, float]:
        """∫y² dA, ∫z² dA and ∫yz dA in the axes of the beam."""
        I, I_y, I_yz = self.I, self.I_y or self.I, self.I_yz
        if self.angle == 0.0:
            return I, I_y, I_yz
        c, s = cosine_and_sine(self.angle)
        mixed = 2.0 * s * c * I_yz
        return I * c**2 + I_y * s**2 - mixed, I * s**2 + I_y * c**2 + mixed, (I - I_y) * s * c + I_yz * (c**2 - s**2)

    @property
    def winding(self) -> float:
        """∫(r² − I_p/A)² dA, by which fibres of a pretwisted beam that wind around the axis resist torsion; 0 if it is unknown."""
        return 0.0

    # --- stress: zero here, known where the outline is ------------------------------------------------------------------

    def shear(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """(τ_xy, τ_xz) at points per V_y, V_z, T, (points, 2, 3); zero if the outline is unknown."""
        return np.zeros((len(y), 2, 3))

    def rim(self) -> np.ndarray:
        """Points (y, z) around the section, (points, 2), among which stress is largest; the axis if the outline is unknown."""
        return np.zeros((1, 2))

    def outside(self, y: float, z: float) -> str:
        """Text that states where the section ends, if the point lies outside it; else an empty string."""
        return ""


@dataclass(frozen=True)
class Shaped(Section):
    """A section whose numbers follow from its dimensions; its outline, and so shear and the largest stress, are known."""

    A: float = field(init=False, repr=False, compare=False)
    I: float = field(init=False, repr=False, compare=False)
    I_y: float | None = field(init=False, repr=False, compare=False)
    J: float | None = field(init=False, repr=False, compare=False)
    kappa: float = field(init=False, repr=False, compare=False)
    I_yz: float = field(default=0.0, init=False, repr=False, compare=False)
    angle: float = field(default=0.0, init=False, repr=False, compare=False)  # of round sections, which have none

    def _set(self, **numbers: float) -> None:
        """Sets fields of the frozen section."""
        for name, value in numbers.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Round(Shaped):
    """A round section, solid or hollow."""

    @property
    def radii(self) -> tuple[float, float]:
        """The outer and the inner radius (m), the latter 0 for a solid bar."""
        raise NotImplementedError

    def _set_round(self, d: float, inner: float) -> None:
        """Sets the numbers of a section between the diameters `inner` and d."""
        moment, ratio = pi * (d**4 - inner**4) / 64, inner / d
        kappa = 6 * (1 + ratio**2) ** 2 / (7 * (1 + ratio**2) ** 2 + 20 * ratio**2)
        self._set(diameter=d, A=pi * (d**2 - inner**2) / 4, I=moment, I_y=moment, J=2 * moment, kappa=kappa)

    def shear(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return round_shear(y, z, *self.radii, self.I)

    def rim(self) -> np.ndarray:
        return np.vstack([circle(radius) for radius in self.radii if radius])

    def outside(self, y: float, z: float) -> str:
        (outer, inner), r2 = self.radii, y**2 + z**2
        if inner**2 * (1 - CLOSE) <= r2 <= outer**2 * (1 + CLOSE):
            return ""
        return f"its wall is between the radii {inner:g} and {outer:g}" if inner else f"it ends at the radius {outer:g}"


@dataclass(frozen=True)
class Circle(Round):
    """A solid round bar.

    Parameters
    ----------
    diameter : float
        Diameter d (m): A = πd²/4, I = I_y = πd⁴/64, J = πd⁴/32; kappa is 6/7.

    Examples
    --------
    >>> f"{ph.Circle(diameter=0.02).A:.3e}"
    '3.142e-04'
    """

    diameter: float = field(metadata=describe("diameter", "length", above=0.0))

    def __post_init__(self) -> None:
        in_si(self)
        self._set_round(positive("diameter", self.diameter), 0.0)

    @property
    def radii(self) -> tuple[float, float]:
        return 0.5 * self.diameter, 0.0


@dataclass(frozen=True)
class Tube(Round):
    """A round tube of outer diameter and wall thickness.

    Parameters
    ----------
    diameter, wall : float
        Outer diameter and thickness of the wall (m); the wall is at most half the diameter.

    Examples
    --------
    >>> tube = ph.Tube(diameter=0.02, wall=0.001)
    >>> round(tube.A / (np.pi * 0.019 * 0.001), 6)  # mean circumference times wall
    1.0
    """

    diameter: float = field(metadata=describe("outer diameter", "length", above=0.0))
    wall: float = field(metadata=describe("thickness of the wall", "length", above=0.0))

    def __post_init__(self) -> None:
        in_si(self)
        d, t = positive("diameter", self.diameter), positive("wall", self.wall)
        if 2 * t > d:
            raise InputError(f"wall is {t:g}, more than half the diameter {d:g}; use Circle for a solid bar")
        self._set_round(d, d - 2 * t)
        self._set(wall=t)

    @property
    def radii(self) -> tuple[float, float]:
        return 0.5 * self.diameter, 0.5 * self.diameter - self.wall


@dataclass(frozen=True, repr=False)
class Rectangle(Shaped):
    """A rectangular section: h along y, b along z, so that planar bending has I = b h³/12.

    Parameters
    ----------
    b, h : float
        Width along z and height along y (m). J is that of Saint-Venant's series, kappa is 5/6.
    angle : float, optional
        Turns the section about x, from y towards z (rad).

    Examples
    --------
    >>> f"{ph.Rectangle(b=0.02, h=0.01).I:.3e}"
    '1.667e-09'
    """

    b: float = field(metadata=describe("width, along z", "length", above=0.0))
    h: float = field(metadata=describe("height, along y: the bending of the plane xy", "length", above=0.0))
    _: KW_ONLY
    angle: float = optional(0.0, "turns the section about x, from y towards z", "angle")

    def __post_init__(self) -> None:
        in_si(self)
        b, h = positive("width b", self.b), positive("height h", self.h)
        long, short = max(b, h), min(b, h)
        series = sum(tanh(n * pi * long / (2 * short)) / n**5 for n in range(1, 40, 2))
        J = long * short**3 * (1.0 / 3.0 - 64.0 / pi**5 * short / long * series)
        self._set(b=b, h=h, A=b * h, I=b * h**3 / 12, I_y=h * b**3 / 12, J=J, kappa=5.0 / 6.0)
        self._set(angle=float(finite("angle", self.angle, ())))

    def __repr__(self) -> str:
        return f"Rectangle(b={self.b!r}, h={self.h!r}{f', angle={self.angle!r}' if self.angle else ''})"

    @property
    def winding(self) -> float:
        return self.A * (
            (self.b**4 + self.h**4) / 80 + (self.b * self.h) ** 2 / 72 - (self.b**2 + self.h**2) ** 2 / 144
        )

    def shear(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        assert self.J is not None
        R = axes_rotation(self.angle)
        y, z = R.T @ [y, z]
        out = rectangle_shear(y, z, self.h, self.b, self.J)
        out[:, :, :2] = out[:, :, :2] @ R.T  # columns of V_y, V_z in the axes of the section
        return R @ out

    def rim(self) -> np.ndarray:
        side = np.linspace(-0.5, 0.5, RIM // 4 + 1)
        half = np.full_like(side, 0.5)
        points = np.vstack([np.column_stack(p) for p in ((side, half), (side, -half), (half, side), (-half, side))])
        return np.unique(points * [self.h, self.b], axis=0) @ axes_rotation(self.angle).T

    def outside(self, y: float, z: float) -> str:
        y, z = axes_rotation(self.angle).T @ [y, z]
        is_outside = abs(y) > 0.5 * self.h * (1 + CLOSE) or abs(z) > 0.5 * self.b * (1 + CLOSE)
        axes_text = f" in axes turned by angle = {self.angle:g}" if self.angle else ""
        return f"it ends at y = ±{0.5 * self.h:g} and z = ±{0.5 * self.b:g}{axes_text}" if is_outside else ""


def cosine_and_sine(angle: float) -> tuple[float, float]:
    """Cosine and sine, exact for quarter turns."""
    c, s = cos(angle), sin(angle)
    return 0.0 if abs(c) < ROUND_OFF else c, 0.0 if abs(s) < ROUND_OFF else s


def axes_rotation(angle: float) -> np.ndarray:
    """The rotation matrix from axes of a section, rotated by the angle from y towards z, to those of the beam, (2, 2)."""
    c, s = cosine_and_sine(angle)
    return np.array([[c, -s], [s, c]])


def circle(radius: float) -> np.ndarray:
    """RIM points (y, z) of a circle."""
    angle = 2 * pi / RIM * np.arange(RIM)
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


# --- shear -----------------------------------------------------------------------------------------------------------
#
# Shear stress (τ_xy, τ_xz) at points (y, z) of a section per unit of V_y, V_z and T, (points, 2, 3).


TERMS = np.arange(1, 200, 2)  # odd n of the series of a rectangle


def round_shear(y: np.ndarray, z: np.ndarray, outer: float, inner: float, I: float) -> np.ndarray:
    """A round bar or tube. Torsion T r / J; shear of Saint-Venant's flexure at ν = ½, which needs no material: it is in balance
    and leaves both rims free, with 4/3 V/A at the centre of a bar (other ν change it by some 10 %) and 2 V/A in a thin tube."""
    out = np.zeros((len(y), 2, 3))
    for k, (p, q) in enumerate(((y, z), (z, y))):
        r2 = np.maximum(p**2 + q**2, 1e-300)
        hole = (outer * inner) ** 2 / r2**2 if inner else 0.0 * y
        out[:, k, k] = (outer**2 + inner**2 - p**2 + hole * (q**2 - p**2)) / (3.0 * I)
        out[:, 1 - k, k] = -p * q * (1.0 + 2.0 * hole) / (3.0 * I)
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
    decay = np.exp(-n * np.maximum(0.5 * long - np.abs(p)[:, None], 0.0)) / (1.0 + np.exp(-n * long))
    even, odd = (1.0 + s * np.exp(-2.0 * n * np.abs(p)[:, None]) for s in (1.0, -1.0))
    angle = n * q[:, None]
    by_p = -np.sign(p) * (sign * decay * odd * np.cos(angle)).sum(axis=1)
    by_q = -2.0 * q + (sign * decay * even * np.sin(angle)).sum(axis=1)
    return by_p, by_q


# --- tapers -----------------------------------------------------------------------------------------------------------
#
# Sections and materials along a beam, interpolated linearly between stations.


@dataclass(frozen=True)
class Taper:
    """{s: section} or {s: material} at fractions of the length, with linear interpolation of dimensions between them.

    Stations of one shape taper in its dimensions and its angle (a cone from two circles, a pretwisted blade from two rectangles),
    others in A, I, I_y, I_yz, J and kappa in the axes of the beam, without pretwist. Beyond the end stations values are constant.
    """

    stations: Mapping[float, Any]

    def __post_init__(self) -> None:
        if not mapping("stations", self.stations, "{s: section}"):
            raise InputError("a taper has no stations; give at least one, as in {0.0: Circle(0.01), 1.0: Circle(0.02)}")
        for s, value in self.stations.items():
            if not 0.0 <= finite("a station of a taper", s, ()) <= 1.0:
                raise InputError(f"a station of a taper is at s = {s:g}; it must lie between 0 and 1")
            if not isinstance(value, (Section, Material)):
                raise InputError(f"the station at s = {s:g} is {value!r}; it must be a section or a material")
        if len({isinstance(value, Section) for value in self.stations.values()}) > 1:
            raise InputError("the stations of a taper are sections and materials; make a taper of each")
        object.__setattr__(self, "stations", {float(s): self.stations[s] for s in sorted(self.stations)})

    def __call__(self, s: float) -> Any:
        places = list(self.stations)
        k = sum(place <= s for place in places)
        if k == 0 or k == len(places):
            return self.stations[places[max(k - 1, 0)]]
        a, b = places[k - 1], places[k]
        return _interpolate(self.stations[a], self.stations[b], (s - a) / (b - a))

    def __hash__(self) -> int:
        return hash(tuple(self.stations.items()))


def _interpolate(first: Any, second: Any, part: float) -> Any:
    """The value at the fraction `part` from the first to the second."""
    kind: Any = type(first)
    if kind is not type(second):
        kind, first, second = Section, _numbers(first), _numbers(second)
    out = {}
    for f in fields(kind):
        if f.init:
            a, b = getattr(first, f.name), getattr(second, f.name)
            out[f.name] = None if a is None or b is None else (1.0 - part) * a + part * b
    return kind(**out)


def _numbers(section: Section) -> Section:
    """The section as a plain `Section` in the axes of the beam."""
    I, I_y, I_yz = section.moments
    return Section(section.A, I, I_y, section.J, section.kappa, I_yz=I_yz)
