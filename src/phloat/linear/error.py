"""How far a reduced system is from the full one, over a band of frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import largest
from phloat.algebra.threads import one_thread
from phloat.errors import InputError, finite
from phloat.linear.channels import channels
from phloat.linear.modal import limits
from phloat.linear.phdae import LinearPHDAE, linear_only
from phloat.linear.response import Response, response
from phloat.linear.second_order import SecondOrder

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
def error(
    full: LinearPHDAE,
    reduced: LinearPHDAE,
    *,
    band: tuple[float, float],
    points: int = 200,
    shift: float | None = None,
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
