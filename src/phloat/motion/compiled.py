"""Compile the time step in advance: python -m phloat.motion.compiled."""

from __future__ import annotations

import numpy as np

from phloat.bodies.rigid import RigidBody
from phloat.joints.pairs import Revolute
from phloat.motion.initial.place import place
from phloat.motion.run.compilation import is_compiled
from phloat.motion.run.task import Scheme
from phloat.motion.schemes.midpoint import Midpoint
from phloat.motion.simulate import simulate
from phloat.system.connect import connect


def warm() -> None:
    """Compiles the time step by two steps of a pendulum, unless it is in the cache."""
    if not is_compiled():
        _simulate_pendulum(Midpoint())


def _simulate_pendulum(scheme: Scheme) -> None:
    arm = RigidBody(1.0, np.eye(3), center=(1.0, 0.0, 0.0)).discretise()
    pendulum = connect({"arm": arm}, [Revolute("ground", "arm.P")], gravity=(0.0, -9.81, 0.0))
    simulate(pendulum, place(pendulum), 2e-3, dt=1e-3, scheme=scheme)


if __name__ == "__main__":
    warm()
