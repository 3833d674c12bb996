"""Reduction to a tolerance: moments are added where the error is largest until it is small, then directions are removed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as la

from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError, InputError, number, positive, whole_number
from phloat.linear.analysis.modes import rigid_modes
from phloat.linear.analysis.response import Response, response
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.second_order import SecondOrder
from phloat.linear.form.state_space import descriptor
from phloat.linear.reduction.basis import Basis
from phloat.linear.reduction.krylov import PortMoments
from phloat.linear.reduction.modal import limits
from phloat.linear.reduction.projection import project, split_basis

GRID = 40  # frequencies at which the full system is computed first
FINER = 80  # frequencies at which the result is checked, besides resonances
MARGIN = 0.1  # of the tolerance: the error of the moments before directions are removed
ROUNDS = 40
DENSE = 400  # rows up to which a system is small: all its resonances are computed
SHARP = 1e-5  # of its frequency: the width of a peak that is too narrow to compare
DECADES = 4  # of a band that begins at zero


@one_thread()
def reduce_to_tolerance(system: LinearPHDAE, *, tolerance: float = 1e-3, band: tuple[float, float]) -> LinearPHDAE:
    """The system reduced so that its transfer function has a relative error of at most `tolerance` over a band of frequencies.

    The error is that of `reduction_error`, between all ports: keep those of interest with `system.with_ports(…)` to get a smaller
    system. Rigid motions are exact.

    Parameters
    ----------
    system : LinearPHDAE
        The full system.
    tolerance : float, optional
        The relative error of the transfer function that is allowed; an AccuracyError is raised if it is not reached.
    band : (float, float)
        The lowest and the highest frequency (rad/s).

    Returns
    -------
    LinearPHDAE
        The reduced system: port-Hamiltonian, with the same ports.

    Examples
    --------
    >>> beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=210e9, rho=7800.0, nu=0.3)).discretise(4)
    >>> arm = ph.connect({"beam": beam}, [ph.Revolute("ground", "beam.P", name="motor")], plane="xy")
    >>> linear = ph.linearise(arm, ph.place(arm)).with_ports("motor")
    >>> reduced = ph.reduction.reduce_to_tolerance(linear, tolerance=1e-3, band=(1.0, 1000.0))
    >>> linear.rows.size, reduced.rows.size
    (35, 9)
    >>> ph.reduction.reduction_error(linear, reduced, band=(1.0, 1000.0)).largest < 1e-3
    True
    """
    tolerance, (low, high) = positive("tolerance", tolerance), limits(band)
    model, rigid = SecondOrder.of(system), rigid_modes(system)
    raw = PortMoments(model, rigid)
    shift = default_shift(system, band)
    omega = frequencies(band, GRID)
    known = _Known(omega, response(system, list(system.ports), omega=omega, shift=shift).values, shift)
    worst = float(np.sqrt((low or high / 1e4) * high))
    for _ in range(ROUNDS):
        try:
            raw.add_at(complex(shift, worst), 1)
        except InputError:  # on a pole with little damping: next to it
            raw.add_at(complex(shift + 0.01 * worst, worst), 1)
        basis = split_basis(model, rigid, np.hstack(raw.free), raw.driven)
        rom = project(system, basis)
        miss = known.miss(rom)
        if miss.max() <= MARGIN * tolerance:
            finer = reduction_error(system, rom, band=band, points=FINER, shift=shift)
            omega, values = np.append(known.omega, finer.omega), np.concatenate([known.values, finer.full.values])
            known = _Known(omega, values, shift)
            if finer.largest <= MARGIN * tolerance:
                break
            miss = known.miss(rom)
        worst = float(known.omega[miss.argmax()])
    else:
        raise AccuracyError(f"the error is {miss.max():.1e} after {ROUNDS} points; narrow the band or allow more")
    return _smallest(system, model, rigid, basis, known, tolerance)


@dataclass(eq=False)
class _Known:
    """The response of the full system at the frequencies so far, s = shift + jω."""

    omega: np.ndarray
    values: np.ndarray
    shift: float

    def miss(self, rom: LinearPHDAE) -> np.ndarray:
        """The relative error of a reduced system at each of them."""
        return relative_error(self.values, response(rom, list(rom.ports), omega=self.omega, shift=self.shift).values)


def _smallest(
    system: LinearPHDAE, model: SecondOrder, rigid: np.ndarray, basis: Basis, known: _Known, tolerance: float
) -> LinearPHDAE:
    """Reduced to the fewest leading directions of the reduced responses that satisfy the tolerance."""
    best = rom = project(system, basis)
    V, first = basis.V_v.toarray(), rigid.shape[1]
    last = V.shape[1] - int(rom.multipliers.size)
    free, driven = V[:, first:last], V[:, last:]
    seen = _velocities(rom, known)[first:last]
    turn = la.eigh(seen @ seen.T)[1][:, ::-1]
    few, many = 0, free.shape[1]
    while many - few > 1:  # `many` satisfies the tolerance
        middle = (few + many) // 2
        trial = project(system, split_basis(model, rigid, free @ turn[:, :middle], driven))
        if known.miss(trial).max() <= tolerance:
            many, best = middle, trial
        else:
            few = middle
    return best


def _velocities(rom: LinearPHDAE, known: _Known) -> np.ndarray:
    """Velocities of the reduced system at the frequencies, scaled to unit output; real and imaginary parts."""
    E, A, B = (descriptor(rom)[name].toarray() for name in "EAB")
    W = port_weights(known.values)
    out = []
    for w, H in zip(known.omega, known.values, strict=True):
        x = la.solve(complex(known.shift, w) * E - A, B * W)
        size = np.sqrt(np.linalg.norm(W[:, None] * H * W, ord=2))
        out += [x[: rom.split].real / size, x[: rom.split].imag / size]
    return np.hstack(out)


@dataclass(frozen=True, eq=False)
class BandError:
    """|W (H − H_r) W| / |W H W| at every frequency (largest singular values), with weights W of the ports by their mean response.

    `full` and `reduced` are the two responses; s = shift + jω.
    """

    omega: np.ndarray
    relative: np.ndarray
    full: Response
    reduced: Response
    shift: float = 0.0

    @property
    def largest(self) -> float:
        return float(self.relative.max())

    @property
    def worst(self) -> float:
        """The frequency of the largest error."""
        return float(self.omega[self.relative.argmax()])

    def __repr__(self) -> str:
        return f"BandError({self.largest:.2e} at {self.worst:.4g} rad/s, {len(self.omega)} frequencies)"


@one_thread()
def reduction_error(
    full: LinearPHDAE, reduced: LinearPHDAE, *, band: tuple[float, float], points: int = 200, shift: float | None = None
) -> BandError:
    """The relative error of the transfer function between all ports of `reduced`, at `points` frequencies of the band.

    They are spaced logarithmically; resonances of the reduced system are added. Systems without damping are infinite at their
    resonances: they are compared along s = shift + jω, with a hundredth of the end of the band as `shift`.
    """
    linear_only(full)
    linear_only(reduced)
    if missing := [name for name in reduced.ports if name not in full.ports]:
        raise InputError(f"port {missing[0]!r} is not one of the full system, which has {', '.join(full.ports)}")
    shift = default_shift(full, band) if shift is None else number("shift", shift)
    omega = np.union1d(frequencies(band, points), _resonances(reduced, band))
    one, two = (response(system, list(reduced.ports), omega=omega, shift=shift) for system in (full, reduced))
    return BandError(omega, relative_error(one.values, two.values), one, two, shift)


def relative_error(H: np.ndarray, H_r: np.ndarray) -> np.ndarray:
    """|W (H − H_r) W| / |W H W| at every frequency (first axis)."""
    W = port_weights(H)
    weighted, missed = (W[:, None] * A * W for A in (H, H - H_r))
    size, far = (np.linalg.norm(A, ord=2, axis=(1, 2)) for A in (weighted, missed))
    return np.asarray(far / np.maximum(size, 1e-300))


def port_weights(H: np.ndarray) -> np.ndarray:
    """Weights for a unit geometric mean of the diagonal responses over the frequencies, in which a sharp peak counts little."""
    own = np.abs(np.einsum("wii->wi", H))
    there = own > 0.0
    mean = np.exp(np.log(np.where(there, own, 1.0)).sum(axis=0) / np.maximum(there.sum(axis=0), 1))
    return np.asarray(1.0 / np.sqrt(mean))


def frequencies(band: tuple[float, float], points: int) -> np.ndarray:
    """Frequencies of a band, spaced logarithmically."""
    low, high = limits(band)
    return np.geomspace(low or high / 10.0**DECADES, high, whole_number("points", points, 2))


def default_shift(system: LinearPHDAE, band: tuple[float, float]) -> float:
    """0 for a damped system, otherwise a hundredth of the end of the band."""
    return limits(band)[1] / 100 if system.lossless else 0.0


def _resonances(system: LinearPHDAE, band: tuple[float, float]) -> np.ndarray:
    if system.lossless or system.rows.size > DENSE or system.multipliers.size:
        return np.zeros(0)
    poles = la.eigvals((system.J - system.R).toarray(), system.E.toarray())
    low, high = limits(band)
    poles = poles[np.isfinite(poles)]
    omega = poles.imag[-poles.real > SHARP * np.abs(poles)]
    return np.asarray(omega[(omega > low) & (omega < high)])
