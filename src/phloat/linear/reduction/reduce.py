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

FIRST_POINTS = 40  # frequencies at which the full system is computed first
CHECK_POINTS = 80  # frequencies at which the result is checked, in addition to resonances
MARGIN = 0.1  # error of the moments before directions are removed, relative to the tolerance
MAX_POINTS = 40  # shifts at which moments are added
DENSE = 400  # rows up to which all resonances of a system are computed
NARROW = 1e-5  # width of a peak, relative to its frequency, that is too narrow to compare
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
    model, rigid = SecondOrder.from_system(system), rigid_modes(system)
    moments = PortMoments(model, rigid)
    shift = default_shift(system, band)
    omega = frequencies(band, FIRST_POINTS)
    full = _Reference(omega, response(system, list(system.ports), omega=omega, shift=shift).values, shift)
    next_omega = float(np.sqrt((low or high / 1e4) * high))
    for _ in range(MAX_POINTS):
        try:
            moments.add_at(complex(shift, next_omega), 1)
        except InputError:  # on a pole with little damping: next to it
            moments.add_at(complex(shift + 0.01 * next_omega, next_omega), 1)
        basis = split_basis(model, rigid, np.hstack(moments.free), moments.driven)
        rom = project(system, basis)
        errors = full.errors(rom)
        if errors.max() <= MARGIN * tolerance:
            fine = reduction_error(system, rom, band=band, points=CHECK_POINTS, shift=shift)
            omega, values = np.append(full.omega, fine.omega), np.concatenate([full.values, fine.full.values])
            full = _Reference(omega, values, shift)
            if fine.largest <= MARGIN * tolerance:
                break
            errors = full.errors(rom)
        next_omega = float(full.omega[errors.argmax()])
    else:
        raise AccuracyError(f"the error is {errors.max():.1e} after {MAX_POINTS} points; narrow the band or allow more")
    return _remove_directions(system, model, rigid, basis, full, tolerance)


@dataclass(eq=False)
class _Reference:
    """The response of the full system at all frequencies computed so far, s = shift + jω; `values` (s, outputs, inputs)."""

    omega: np.ndarray
    values: np.ndarray
    shift: float

    def errors(self, rom: LinearPHDAE) -> np.ndarray:
        """The relative error of a reduced system at each frequency, (s,)."""
        return relative_error(self.values, response(rom, list(rom.ports), omega=self.omega, shift=self.shift).values)


def _remove_directions(
    system: LinearPHDAE, model: SecondOrder, rigid: np.ndarray, basis: Basis, reference: _Reference, tolerance: float
) -> LinearPHDAE:
    """The reduced system with the fewest leading directions of the responses that satisfies the tolerance, by bisection."""
    smallest = rom = project(system, basis)
    V, first = basis.V_v.toarray(), rigid.shape[1]
    last = V.shape[1] - int(rom.multipliers.size)
    free, driven = V[:, first:last], V[:, last:]
    velocities = _velocities(rom, reference)[first:last]
    directions = la.eigh(velocities @ velocities.T)[1][:, ::-1]
    too_few, enough = 0, free.shape[1]
    while enough - too_few > 1:  # `many` satisfies the tolerance
        count = (too_few + enough) // 2
        trial = project(system, split_basis(model, rigid, free @ directions[:, :count], driven))
        if reference.errors(trial).max() <= tolerance:
            enough, smallest = count, trial
        else:
            too_few = count
    return smallest


def _velocities(rom: LinearPHDAE, reference: _Reference) -> np.ndarray:
    """Velocities of the reduced system at the frequencies of the reference, scaled to unit output; real and imaginary parts."""
    E, A, B = (descriptor(rom)[name].toarray() for name in "EAB")
    W = port_weights(reference.values)
    columns = []
    for w, H in zip(reference.omega, reference.values, strict=True):
        x = la.solve(complex(reference.shift, w) * E - A, B * W)
        size = np.sqrt(np.linalg.norm(W[:, None] * H * W, ord=2))
        columns += [x[: rom.split].real / size, x[: rom.split].imag / size]
    return np.hstack(columns)


@dataclass(frozen=True, eq=False)
class BandError:
    """The relative error |W (H − H_r) W| / |W H W| at every frequency (largest singular values), with the `port_weights` W.

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

    They are spaced logarithmically; resonances of the reduced system are added. The transfer function of a system without damping
    is infinite at its resonances: it is compared along s = shift + jω, by default with a hundredth of the end of the band as
    `shift`.
    """
    linear_only(full, feedthrough=True)
    linear_only(reduced, feedthrough=True)
    if missing := [name for name in reduced.ports if name not in full.ports]:
        raise InputError(f"port {missing[0]!r} is not one of the full system, which has {', '.join(full.ports)}")
    shift = default_shift(full, band) if shift is None else number("shift", shift)
    omega = np.union1d(frequencies(band, points), _resonances(reduced, band))
    H, H_r = (response(system, list(reduced.ports), omega=omega, shift=shift) for system in (full, reduced))
    return BandError(omega, relative_error(H.values, H_r.values), H, H_r, shift)


def relative_error(H: np.ndarray, H_r: np.ndarray) -> np.ndarray:
    """|W (H − H_r) W| / |W H W| at every frequency, the first axis of H, with the `port_weights` W of H."""
    W = port_weights(H)
    weighted, weighted_error = (W[:, None] * A * W for A in (H, H - H_r))
    size, error = (np.linalg.norm(A, ord=2, axis=(1, 2)) for A in (weighted, weighted_error))
    return np.asarray(error / np.maximum(size, 1e-300))


def port_weights(H: np.ndarray) -> np.ndarray:
    """Weights that give every port a unit geometric mean of its own response over the frequencies: sharp peaks count little."""
    diagonal = np.abs(np.einsum("wii->wi", H))
    nonzero = diagonal > 0.0
    mean = np.exp(np.log(np.where(nonzero, diagonal, 1.0)).sum(axis=0) / np.maximum(nonzero.sum(axis=0), 1))
    return np.asarray(1.0 / np.sqrt(mean))


def frequencies(band: tuple[float, float], points: int) -> np.ndarray:
    """`points` frequencies (rad/s) from the lower to the upper limit of the band, spaced logarithmically."""
    low, high = limits(band)
    return np.geomspace(low or high / 10.0**DECADES, high, whole_number("points", points, 2))


def default_shift(system: LinearPHDAE, band: tuple[float, float]) -> float:
    """0 for a damped system, otherwise a hundredth of the end of the band."""
    return limits(band)[1] / 100 if system.lossless else 0.0


def _resonances(system: LinearPHDAE, band: tuple[float, float]) -> np.ndarray:
    """Frequencies of the damped poles of a small system in the band (rad/s)."""
    if system.lossless or system.rows.size > DENSE or system.multipliers.size:
        return np.zeros(0)
    poles = la.eigvals((system.J - system.R).toarray(), system.E.toarray())
    low, high = limits(band)
    poles = poles[np.isfinite(poles)]
    omega = poles.imag[-poles.real > NARROW * np.abs(poles)]
    return np.asarray(omega[(omega > low) & (omega < high)])
