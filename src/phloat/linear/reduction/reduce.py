"""Reduction to a tolerance: moments where the error is largest, until there is no such place, then what can be spared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import largest
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError, InputError, finite, positive
from phloat.linear.analysis.response import Response, response
from phloat.linear.form.phdae import LinearPHDAE, channels, linear_only
from phloat.linear.form.second_order import SecondOrder
from phloat.linear.reduction.basis import Basis, project, rigid_motions, split_basis
from phloat.linear.reduction.krylov import Moments
from phloat.linear.reduction.modal import limits

GRID = 40  # frequencies at which the full system is looked at first
FINER = 80  # and those where the result is checked, resonances besides
MARGIN = 0.1  # of the tolerance: what moments are to reach before anything is spared
ROUNDS = 40


def reduce_to_tolerance(system: LinearPHDAE, *, tolerance: float = 1e-3, band: tuple[float, float]) -> LinearPHDAE:
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
            finer = reduction_error(system, rom, band=band, points=FINER, shift=shift)
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


# --- how far a reduced system is from the full one, over a band of frequencies ---------------------------------------
#
# How far a reduced system is from the full one, over a band of frequencies.


DENSE = 400  # rows up to which a system counts as small: all its resonances can be looked at
SHARP = 1e-5  # of its frequency: the width of a peak that no sample could compare
DECADES = 4  # of a band that begins at zero


@dataclass(frozen=True, eq=False)
class BandError:
    """|W (H − H_r) W| / |W H W| at every frequency (largest singular values), W weighs ports by their own mean response.

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

    Those are spaced evenly on a logarithmic scale, with the resonances of the reduced system besides. Systems without damping are
    infinite at their resonances: they are looked at along s = shift + jω, with a hundredth of the band's end for `shift`.
    """
    for system in (full, reduced):
        linear_only(system)
    if missing := [name for name in reduced.ports if name not in full.ports]:
        raise InputError(f"port {missing[0]!r} is not one of the full system, which has {', '.join(full.ports)}")
    beside = beside_the_axis(full, band) if shift is None else float(finite("shift", shift, ()))
    omega = np.union1d(spaced(band, points), _resonances(reduced, band))
    one, two = (looked_at(system, list(reduced.ports), omega, beside) for system in (full, reduced))
    return BandError(omega, misfit(one.values, two.values), one, two, beside)


def looked_at(system: LinearPHDAE, names: list[str], omega: np.ndarray, shift: float) -> Response:
    """The response between all of some ports; of a large system without driven ports, from its velocities alone."""
    split, (columns, labels) = system.split, channels(system, names)
    effort = split >= 0 and not largest(system.B[split:]) and not largest(system.B_lam)
    if not effort or system.rows.size <= DENSE:
        return response(system, names, omega=omega, shift=shift)
    model = SecondOrder.of(system)
    F = model.F[:, columns]
    values = np.array([s * (F.T @ model.at(s).solve(F)) for s in shift + 1j * omega])  # y = Fᵀv, v = s q
    return Response(omega, values, labels, labels)


def misfit(H: np.ndarray, H_r: np.ndarray) -> np.ndarray:
    """|W (H − H_r) W| / |W H W| at every frequency (first axis)."""
    W = port_weights(H)
    weighted, missed = (W[:, None] * A * W for A in (H, H - H_r))
    size, far = (np.linalg.norm(A, ord=2, axis=(1, 2)) for A in (weighted, missed))
    return np.asarray(far / np.maximum(size, 1e-300))


def port_weights(H: np.ndarray) -> np.ndarray:
    """What makes every port's own response one in the (geometric) mean over the frequencies: a sharp peak weighs little in it."""
    own = np.abs(np.einsum("wii->wi", H))
    there = own > 0.0
    mean = np.exp(np.log(np.where(there, own, 1.0)).sum(axis=0) / np.maximum(there.sum(axis=0), 1))
    return np.asarray(1.0 / np.sqrt(mean))


def spaced(band: tuple[float, float], points: int) -> np.ndarray:
    """Frequencies of a band, evenly on a logarithmic scale."""
    low, high = limits(band)
    if isinstance(points, bool) or not isinstance(points, (int, np.integer)) or points < 2:
        raise InputError(f"points is {points!r}; it must be a whole number, 2 or more")
    return np.geomspace(low or high / 10.0**DECADES, high, int(points))


def beside_the_axis(system: LinearPHDAE, band: tuple[float, float]) -> float:
    """0 for a damped system, else a hundredth of the band's end."""
    return limits(band)[1] / 100 if system.lossless else 0.0


def _resonances(system: LinearPHDAE, band: tuple[float, float]) -> np.ndarray:
    if system.lossless or system.rows.size > DENSE or system.multipliers.size:
        return np.zeros(0)
    poles = la.eigvals((system.J - system.R).toarray(), system.E.toarray())
    low, high = limits(band)
    poles = poles[np.isfinite(poles)]
    omega = poles.imag[-poles.real > SHARP * np.abs(poles)]
    return np.asarray(omega[(omega > low) & (omega < high)])
