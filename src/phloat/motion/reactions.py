"""What joints carry at a state."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from phloat.algebra.sparse import Matrix, dependencies, row_lengths
from phloat.errors import RedundancyWarning, finite
from phloat.motion.accelerations import accelerations
from phloat.motion.inputs import Inputs, given_inputs
from phloat.motion.velocities import agreed, closed_or_said, velocity_rows
from phloat.system.state import State
from phloat.system.system import System, fits


def reactions(
    system: System, state: State, *, u: Mapping[str, object] | Inputs | None = None, t: float = 0.0
) -> dict[str, np.ndarray]:
    """The multipliers λ of every joint, moving or at rest: what it does to its second port, in the order of its rows.

    For rows that coincide these are forces in inertial axes. Where joints repeat each other their multipliers are not unique:
    the least ones are given (in rows of unit length), with a RedundancyWarning.
    """
    state = fits(system, state)
    inputs, now = given_inputs(system, u), float(finite("t", t, ()))
    closed_or_said(system, state)
    state = agreed(system, state, inputs.at(now))
    _, lam = accelerations(system, state, inputs, now)
    lam = least_multipliers(system, velocity_rows(system, state)[0], lam)
    return {name: lam[system.multipliers[name]] for name in system.multipliers}


def least_multipliers(system: System, G: Matrix, lam: np.ndarray) -> np.ndarray:
    """λ without what Gᵀ does not feel, and a warning with the joints that it is of."""
    mu = dependencies(G)
    if not mu.shape[1]:
        return lam
    owners = np.repeat(list(system.multipliers), [w.stop - w.start for w in system.multipliers.slices.values()])
    names = sorted({str(name) for name in owners[np.abs(mu).max(axis=1) > 1e-6]})
    said = ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    warnings.warn(
        f"joints {said} repeat each other in {mu.shape[1]} rows: the motion is right, their multipliers are not unique",
        RedundancyWarning,
        stacklevel=3,
    )
    length = row_lengths(G)
    scaled = length * lam
    return (scaled - mu @ (mu.T @ scaled)) / length
