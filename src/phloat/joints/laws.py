"""The law of a force element along a row: springs and dampers by numbers, tables or functions."""

from __future__ import annotations

from dataclasses import dataclass

from phloat.joints.law_functions import LawFunction
from phloat.joints.pieces import ABSOLUTE, NONE, Pieces

PLACES = 1e-14  # of a place: by so much it is unknown


@dataclass(frozen=True, eq=False)
class Law:
    """The effort on a coordinate x of a row: −k (x − x₀) − S(x − x₀) − c ẋ − D(ẋ), with piecewise polynomials S and D.

    Where there is a `function`, its efforts, with its `numbers`, come on top.
    """

    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    spring: Pieces = NONE
    damper: Pieces = NONE
    function: LawFunction | None = None
    numbers: tuple[float, ...] = ()

    def force(self, gap: float, rate: float) -> float:
        """The effort along the row on its coordinate."""
        return self.pull(gap) - self.damping * rate - self.damper.value(rate) - self._damper(rate)[0]

    def pull(self, gap: float) -> float:
        """The effort of the spring alone, −∂U/∂x."""
        x = gap - self.rest
        return -self.stiffness * x - self.spring.value(x) - self._spring(x)[0]

    def energy(self, gap: float) -> float:
        """U = ½ k (x − x₀)² + ∫S: zero at rest."""
        x = gap - self.rest
        return 0.5 * self.stiffness * x**2 + self.spring.integral(x) + self._spring(x)[2]

    def slope(self, gap: float) -> float:
        """∂²U/∂x²: the stiffness at x."""
        return self.stiffness + self.spring.slope(gap - self.rest) + self._spring(gap - self.rest)[1]

    def round_off(self, gap: float, far: float) -> float:
        """What the effort of the spring is unknown by: round-off of places at the distance `far`, and the fit of a function."""
        return PLACES * abs(self.slope(gap)) * (abs(gap) + abs(self.rest) + far) + ABSOLUTE * self.spring.largest

    def resistance(self, rate: float) -> float:
        """Damping effort over rate, never negative; the slope at no rate."""
        effort, slope = self._damper(rate)
        return self.damping + self.damper.secant(rate) + (effort / rate if rate else slope)

    def damping_at(self, rate: float) -> float:
        """∂ of the damping effort by the rate: what small motion about this rate feels."""
        return self.damping + self.damper.slope(rate) + self._damper(rate)[1]

    @property
    def stores(self) -> bool:
        """Whether there is a spring in it."""
        own = self.function is not None and self.function.stores
        return self.stiffness != 0.0 or not self.spring.zero or own

    @property
    def resists(self) -> bool:
        """Whether there is a damper in it."""
        own = self.function is not None and self.function.resists
        return self.damping != 0.0 or not self.damper.zero or own

    def _spring(self, x: float) -> tuple[float, float, float]:
        found: tuple[float, float, float] = self.function.spring(x, *self.numbers) if self.function else (0.0, 0.0, 0.0)
        return found

    def _damper(self, v: float) -> tuple[float, float]:
        found: tuple[float, float] = self.function.damper(v, *self.numbers) if self.function else (0.0, 0.0)
        return found
