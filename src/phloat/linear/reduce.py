"""Reduction to a tolerance: moments where the error is largest, until there is no such place, then what can be spared."""

from __future__ import annotations

import numpy as np
import scipy.linalg as la

from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError, InputError, positive
from phloat.linear.bases import Basis, rigid_motions, split_basis
from phloat.linear.error import beside_the_axis, error, looked_at, misfit, port_weights, spaced
from phloat.linear.krylov import Moments
from phloat.linear.modal import limits
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.project import project
from phloat.linear.second_order import SecondOrder

GRID = 40  # frequencies at which the full system is looked at first
FINER = 80  # and those where the result is checked, resonances besides
MARGIN = 0.1  # of the tolerance: what moments are to reach before anything is spared
ROUNDS = 40


def reduce(system: LinearPHDAE, *, tolerance: float = 1e-3, band: tuple[float, float]) -> LinearPHDAE:
    """The system with few states whose transfer function is within `tolerance` of the full one over the band (rad/s).

    See `error` for what is compared, and where; rigid motions are kept exactly.
    """
    return project(system, reduced_basis(system, tolerance=tolerance, band=band))


@one_thread()
def reduced_basis(system: LinearPHDAE, *, tolerance: float, band: tuple[float, float]) -> Basis:
    """The basis of `reduce`."""
    tolerance, (low, high) = positive("tolerance", tolerance), limits(band)
    model, rigid = SecondOrder.of(system), rigid_motions(system)
    raw = Moments(model, rigid, np.arange(system.ports.size))
    shift = beside_the_axis(system, band)
    known = _Known(system, spaced(band, GRID), shift)
    worst = float(np.sqrt((low or high / 1e4) * high))
    for _ in range(ROUNDS):
        try:
            raw.add_at(complex(shift, worst), 1)
        except InputError:  # on a pole that is hardly damped: beside it
            raw.add_at(complex(shift + 0.01 * worst, worst), 1)
        basis = split_basis(model, rigid, np.hstack(raw.free), raw.driven)
        rom = project(system, basis)
        miss = known.miss(rom)
        if miss.max() <= MARGIN * tolerance:
            finer = error(system, rom, band=band, points=FINER, shift=shift)
            known.add(finer.omega, finer.full.values)
            if finer.largest <= MARGIN * tolerance:
                break
            miss = known.miss(rom)
        worst = float(known.omega[miss.argmax()])
    else:
        raise AccuracyError(
            f"the error is still {miss.max():.1e} after {ROUNDS} points of the band; take a narrower band or a larger tolerance"
        )
    return _spared(system, model, rigid, basis, known, tolerance)


class _Known:
    """The full response where it was computed."""

    def __init__(self, system: LinearPHDAE, omega: np.ndarray, shift: float):
        self.names, self.shift = list(system.ports), shift
        self.omega, self.values = omega, looked_at(system, self.names, omega, shift).values

    def add(self, omega: np.ndarray, values: np.ndarray) -> None:
        self.omega, self.values = np.append(self.omega, omega), np.concatenate([self.values, values])

    def miss(self, rom: LinearPHDAE) -> np.ndarray:
        return misfit(self.values, looked_at(rom, self.names, self.omega, self.shift).values)


def _spared(
    system: LinearPHDAE, model: SecondOrder, rigid: np.ndarray, basis: Basis, known: _Known, tolerance: float
) -> Basis:
    """The fewest leading directions of the reduced responses over the band that still keep the tolerance."""
    rom = project(system, basis)
    V, first = basis.V_v.toarray(), rigid.shape[1]
    driven = int(rom.multipliers.size)
    free = V[:, first : V.shape[1] - driven]
    held = V[:, V.shape[1] - driven :] if driven else None
    seen = _velocities(rom, known)[first : V.shape[1] - driven]
    _, turn = la.eigh(seen @ seen.T)
    turn = turn[:, ::-1]
    few, many = 0, free.shape[1]
    best = basis
    while many - few > 1:  # `many` is enough, `few` is not known to be
        middle = (few + many) // 2
        trial = split_basis(model, rigid, free @ turn[:, :middle], held)
        if known.miss(project(system, trial)).max() <= tolerance:
            many, best = middle, trial
        else:
            few = middle
    return best


def _velocities(rom: LinearPHDAE, known: _Known) -> np.ndarray:
    """Velocities of the reduced system at the frequencies, every response at unit output; real and imaginary parts."""
    joints = rom.multipliers.size
    E = la.block_diag(rom.E.toarray(), np.zeros((joints, joints)))
    A = (rom.J - rom.R).toarray()
    A = np.block([[A, rom.G.T.toarray()], [-rom.G.toarray(), np.zeros((joints, joints))]]) if joints else A
    B = np.vstack([rom.B.toarray(), rom.B_lam.toarray()])
    W = port_weights(known.values)
    out = []
    for w, H in zip(known.omega, known.values, strict=True):
        x = la.solve(complex(known.shift, w) * E - A, B * W)
        size = np.sqrt(np.linalg.norm(W[:, None] * H * W, ord=2))
        out += [x[: rom.split].real / size, x[: rom.split].imag / size]
    return np.hstack(out)
