"""Compile the time step now, so that no run has to wait for it: python -m phloat.motion.compiled."""

from __future__ import annotations

import numpy as np

from phloat.bodies.rigid import RigidBody
from phloat.joints.pairs import Revolute
from phloat.motion.initial.place import place
from phloat.motion.run.compilation import is_compiled
from phloat.motion.run.task import Scheme
from phloat.motion.schemes.midpoint import Composition4, Midpoint
from phloat.motion.schemes.radau import RadauIIA
from phloat.motion.simulate import simulate
from phloat.system.connect import connect


def warm() -> None:
    """Two steps of a pendulum, unless the compiled step is there already."""
    if not is_compiled():
        _swung(Composition4())
        _swung(Midpoint())


def warm_continuous() -> None:
    """The same by the equations in continuous time, which schemes of others integrate."""
    _swung(RadauIIA())


def _swung(scheme: Scheme) -> None:
    arm = RigidBody(1.0, np.eye(3), center=(1.0, 0.0, 0.0)).discretise()
    pendulum = connect({"arm": arm}, [Revolute("ground", "arm.P")], gravity=(0.0, -9.81, 0.0))
    simulate(pendulum, place(pendulum), 2e-3, dt=1e-3, scheme=scheme)


if __name__ == "__main__":
    warm()
