"""Fourth order by composition: the default step is symmetric in time, so five of them, one backwards, cancel its error.

    h → (γ, γ, 1 − 4γ, γ, γ) h,   γ = 1/(4 − 4^⅓)                                                   (Suzuki)

Every invariant of the default step survives. Velocities at the nodes stay O(h²) off the joints; positions are of order four.
"""

from __future__ import annotations

from dataclasses import dataclass

from phloat.errors import InputError
from phloat.motion.march import fixed
from phloat.motion.parts import Parts
from phloat.motion.result import Result
from phloat.motion.runner import Runner
from phloat.motion.schemes.midpoint import loose
from phloat.motion.task import Task
from phloat.system.system import System

GAMMA = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
PARTS = Parts((GAMMA, GAMMA, 1.0 - 4.0 * GAMMA, GAMMA, GAMMA))


@dataclass(frozen=True)
class Composition4:
    """Fourth order in positions for systems without damping, five default steps a step; `newton` as in Midpoint."""

    newton: float | None = None

    def __post_init__(self) -> None:
        loose(self.newton)

    def run(self, task: Task) -> Result:
        if task.dt is None:
            raise InputError("the step is missing: give dt=…")
        if damped := _damped(task.system):
            raise InputError(
                f"{damped!r} is damped, and Composition4 takes steps back in time, where damping feeds; use Midpoint"
            )
        runner = Runner(task, tolerance=self.newton, parts=PARTS)
        fixed(runner, task.dt)
        return runner.result()


def _damped(system: System) -> str:
    """The first body or element that takes energy."""
    bodies = (name for name, body in system.bodies.items() if body.elastic.damped)
    elements = (name for name, e in system.elements.items() if any(law.resists for law in e.laws))
    return next(iter([*bodies, *elements]), "")
