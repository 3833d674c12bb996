"""Joints that repeat each other: which rows follow from others wherever the mechanism moves.

A rank that is lost at one place only (a dead point) comes back right after it, so nothing is dropped for it: the step takes its
rows away from that place. So the rank is looked at where the mechanism stands and again a little further on.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import Matrix, dependencies
from phloat.errors import RedundancyWarning
from phloat.motion.initial.accelerations import moved
from phloat.motion.initial.saddle import Saddle
from phloat.motion.initial.velocities import mass, rigid_columns, velocity_rows
from phloat.system.jointed import gaps
from phloat.system.state import State
from phloat.system.system import System

AWAY = 1e-2  # metres or radians
STEPS = 30


def repeated_rows(system: System, state: State, G: Matrix | None = None) -> tuple[int, ...]:
    """Numbers of the joint rows (G of `velocity_rows`) that always follow from others, with a warning that names their joints."""
    if not system.multipliers.size:
        return ()
    G = velocity_rows(system, state)[0] if G is None else G
    here = dependencies(G)
    if not here.shape[1]:
        return ()
    mu = dependencies(velocity_rows(system, _elsewhere(system, state, G))[0])
    if not mu.shape[1]:
        return ()
    rows = la.qr(mu.T, pivoting=True, mode="economic")[2][: mu.shape[1]]
    owners = {system.multipliers.owner(int(k)) for k in np.flatnonzero(np.abs(mu).max(axis=1) > 1e-6)}
    named = sorted(owners)
    said = ", ".join(map(repr, named[:8])) + (f" and {len(named) - 8} more" if len(named) > 8 else "")
    warnings.warn(
        f"joints {said} repeat each other in {mu.shape[1]} rows: the motion is right, their multipliers are not unique",
        RedundancyWarning,
        stacklevel=4,
    )
    return tuple(int(k) for k in sorted(rows))


def _elsewhere(system: System, state: State, G: Matrix) -> State:
    """A state a little away from this one that still closes the joints: along a random feasible motion, then Newton."""
    M = mass(system, state)
    random = np.random.default_rng(0).normal(size=M.shape[0])
    random[~rigid_columns(system)] = 0.0
    along, _ = Saddle(M, G).solve(M @ random, np.zeros(G.shape[0]))
    away = moved(system, state, AWAY * along / max(float(np.abs(along).max(initial=0.0)), 1e-300))
    for _ in range(STEPS):
        gap = np.zeros(G.shape[0])
        for name, value in gaps(system, away).items():
            start = system.multipliers[name].start
            gap[start : start + len(value)] = value
        if np.abs(gap).max() < 1e-12:
            break
        G = velocity_rows(system, away)[0]
        away = moved(system, away, Saddle(M, G).solve(np.zeros(M.shape[0]), -gap)[0])
    return away
