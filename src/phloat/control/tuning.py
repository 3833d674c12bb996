"""The gain of a damper at a port for a wanted decay rate of a mode."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.linalg as la

from phloat.errors import InputError, positive
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.state_space import state_space

STEPS = 400  # between the smallest and the largest gain that are tried


def gain_for(plant: LinearPHDAE, port: str, *, decay: float, omega: float) -> float:
    """The least gain of damping_injection(port, gain) with which the mode near `omega` (rad/s) dies away as exp(−decay t)."""
    positive("decay", decay)
    positive("omega", omega)
    space = state_space(plant.with_ports(port))
    if space.B.shape[1] != 1:
        raise InputError(f"port {port!r} has {space.B.shape[1]} components; take one of one component")
    gains = np.concatenate([[0.0], np.geomspace(1e-6, 1e4, STEPS) * omega / max(float(np.sum(space.B**2)), 1e-300)])
    pole = _nearest(np.linalg.eigvals(space.A), 1j * omega)
    if -pole.real >= decay:
        raise InputError(f"the mode at {abs(pole.imag):.4g} rad/s decays by {-pole.real:.3g} 1/s without any gain")
    best = (0.0, -pole.real)
    for low, high in pairwise(gains):  # follow the pole from gain to gain
        after = _nearest(_poles(space.A, space.B, high), pole)
        if -after.real >= decay:
            return _between(space.A, space.B, pole, low, high, decay)
        if after.imag < 0.05 * omega:
            break
        pole, best = after, max(best, (high, -after.real), key=lambda pair: pair[1])
    raise InputError(
        f"a damper at {port!r} makes the mode near {omega:.4g} rad/s decay by {best[1]:.4g} 1/s at most, "
        f"with the gain {best[0]:.3g}; ask for less, or act where it moves more"
    )


def _between(A: np.ndarray, B: np.ndarray, pole: complex, low: float, high: float, decay: float) -> float:
    for _ in range(60):
        middle = 0.5 * (low + high)
        found = _nearest(_poles(A, B, middle), pole)
        low, high, pole = (low, middle, pole) if -found.real >= decay else (middle, high, found)
    return 0.5 * (low + high)


def _poles(A: np.ndarray, B: np.ndarray, gain: float) -> np.ndarray:
    return np.asarray(la.eigvals(A - gain * B @ B.T))


def _nearest(values: np.ndarray, to: complex) -> complex:
    return complex(values[np.argmin(np.abs(values - to))])
