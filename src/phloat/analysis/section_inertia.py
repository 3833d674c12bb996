"""Says where a spinning Euler-Bernoulli beam misses the rotary inertia of its sections.

With forward and backward whirl split by ± ρI_pΩk²/2ρA and ω = k²√(EI/ρA), the relative split is ρI_pΩ / 2√(EI ρA) for every mode.
The propeller moment of sections that turn at Ω across their axis changes ω² of torsion by ± Ω² (I − I_y)/(I + I_y).
"""

from __future__ import annotations

import warnings

import numpy as np

from phloat.bodies.beams.beam import Beam
from phloat.bodies.body import Body
from phloat.errors import SectionInertiaWarning
from phloat.system.state import State
from phloat.system.system import System

MATTERS = 1e-3  # of a frequency


def warn_of_sections(system: System, state: State) -> None:
    """Warns for every Euler-Bernoulli beam whose frequencies at these velocities are off by more than a thousandth."""
    for name, body in system.bodies.items():
        if isinstance(body.recipe, Beam) and body.recipe.theory == "euler-bernoulli" and len(body.active) == 6:
            for what, off in zip(("whirl", "torsion"), _neglected(body, state.pose(name).omega), strict=True):
                if off > MATTERS:
                    warnings.warn(SectionInertiaWarning(_said(name, what, off)), stacklevel=4)


def _neglected(body: Body, omega: np.ndarray) -> tuple[float, float]:
    """Relative changes of bending and torsion frequencies that the theory leaves out."""
    beam = body.recipe
    assert isinstance(beam, Beam)
    number = {key: float(value.mean()) for key, value in beam.numbers(beam.length * (np.arange(8) + 0.5) / 8).items()}
    polar, bending = number["rhoI"] + number["rhoI_y"], number["EI"] + number["EI_y"]
    softer = 0.5 * (bending - np.hypot(number["EI"] - number["EI_y"], 2.0 * number["EI_yz"]))  # about principal axes
    whirl = 0.5 * polar * abs(float(omega[0])) / np.sqrt(softer * number["rhoA"])
    across = float(omega[1:] @ omega[1:]) * np.hypot(number["rhoI"] - number["rhoI_y"], 2.0 * number["rhoI_yz"])
    length = beam.length * max(body.pieces, 1)
    return whirl, 0.5 * across / ((np.pi / 2 / length) ** 2 * number["GJ"]) if number["GJ"] else 0.0


def _said(name: str, what: str, off: float) -> str:
    cause = {
        "whirl": "spins about its own axis: the gyroscopic moment of its sections would split its whirling frequencies by ±",
        "torsion": "turns across its axis: the propeller moment of its sections would change its torsion frequencies by ",
    }[what]
    return (
        f"beam {name!r} {cause}{100 * off:.2g} %. theory='euler-bernoulli' leaves it out, and its answers depend on frame= by "
        "as much; use theory='rayleigh'"
    )
