"""Samples of the efforts of a controller, and the pole by which they grow if its loop is unstable.

Δu_{k+2} = a Δu_{k+1} + b Δu_k,   z² = a z + b:   the efforts grow by |z| from sample to sample
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phloat.errors import UnstableLoopWarning

KEPT, WINDOWS = 1024, (8, 16, 48)  # samples in all, and of one fit
UNSTABLE, GROWN = 1.02, 10.0  # modulus of the pole, and growth over a fit, from which a loop is called unstable
MISFIT = 0.05  # relative residual of the recurrence
ABRUPT = 5.0  # growth from one sample to the next, by which a step that fails is that of an unstable loop


@dataclass(frozen=True)
class GrowingPole:
    """A pole z, |z| > 1, of a sampled loop with the sample time `every` (s), by which the effort at a port grows."""

    port: str
    z: complex
    every: float

    def __str__(self) -> str:
        size = abs(self.z)
        if abs(self.z.imag) < 1e-9 * size:
            motion = "changes its sign at each sample" if self.z.real < 0.0 else "grows without oscillation"
        else:
            motion = f"oscillates at {abs(np.angle(self.z)) / self.every:.4g} rad/s"
        sign = "±" if self.z.imag else ""
        pole = f"{self.z.real:.4g}" + (f" {sign} {abs(self.z.imag):.4g}j" if self.z.imag else "")
        return (
            f"the loop of the controller and the mechanism is unstable at the sample time of {self.every:g} s: the effort at "
            f"{self.port!r} {motion} and grows by {size:.4g} from sample to sample (pole z = {pole}, |z| = {size:.4g} > 1); "
            "sample more often, or lower the gains, damping first; a servo or passive_pid without sampling is stable"
        )


@dataclass(eq=False)
class EffortSamples:
    """The last efforts of a controller at its samples."""

    times: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))
    efforts: deque[dict[str, float]] = field(default_factory=lambda: deque(maxlen=KEPT))

    def add(self, t: float, values: Mapping[str, Any]) -> None:
        """Keeps efforts of one component, unless they are those of the last sample."""
        new = {str(name): float(np.ravel(value)[0]) for name, value in values.items() if np.size(value) == 1}
        if new and (not self.efforts or new != self.efforts[-1]):
            self.times.append(t)
            self.efforts.append(new)

    def growing_pole(self, *, failed: bool = False) -> GrowingPole | None:
        """The pole of the fastest growing effort; None if none grows as by a pole. After a failed step two changes are enough."""
        found = [pole for port in (self.efforts[-1] if self.efforts else ()) if (pole := self._pole_at(port, failed))]
        return max(found, key=lambda pole: abs(pole.z), default=None)

    def _pole_at(self, port: str, failed: bool) -> GrowingPole | None:
        """The first pole by which the effort at a port grows over a window of samples."""
        d = np.diff([effort.get(port, np.nan) for effort in self.efforts])
        every = float(np.median(np.diff(self.times))) if len(d) else 0.0
        for size in WINDOWS:  # short ones first, as fast growth soon ends in large motion
            for first in range(0, len(d) - size + 1, size // 4):
                if (found := _growth(d[first : first + size])) is not None:
                    return GrowingPole(port, found, every)
        if failed and len(d) > 1 and d[-2] and abs(d[-1] / d[-2]) > ABRUPT:
            return GrowingPole(port, complex(d[-1] / d[-2]), every)
        return None

    def warn_if_unstable(self) -> None:
        """Warns of a loop whose efforts grow."""
        if (pole := self.growing_pole()) is not None:
            warnings.warn(str(pole), UnstableLoopWarning, stacklevel=6)


def _growth(d: np.ndarray) -> complex | None:
    """The pole of the recurrence that changes of an effort follow; None if they do not grow by a pole."""
    if not np.isfinite(d).all():
        return None
    for order in (1, 2):  # one real pole, or a pair
        rows = np.lib.stride_tricks.sliding_window_view(d, order + 1)[:, ::-1]  # the newest first
        size = np.abs(rows).max(axis=1)
        if not size.all():
            return None
        rows = rows / size[:, None]
        solution, *_ = np.linalg.lstsq(rows[:, 1:], rows[:, 0])
        misfit = np.linalg.norm(rows[:, 1:] @ solution - rows[:, 0]) / np.linalg.norm(rows[:, 0])
        z = max(np.roots([1.0, *-solution]), key=abs, default=0.0)
        if misfit < MISFIT:
            return complex(z) if abs(z) > UNSTABLE and size[-1] > GROWN * size[0] else None
    return None
