"""Modal bases: some modes of the undamped system, with its rigid motions, and what the others do in slow motion."""

from __future__ import annotations

import numpy as np

from phloat.algebra.threads import one_thread
from phloat.errors import InputError, positive
from phloat.linear.bases import Basis, apart, rigid_motions, split_basis, still
from phloat.linear.modes import Modes, modes
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.second_order import Factor, SecondOrder


@one_thread()
def modal(
    system: LinearPHDAE,
    *,
    band: tuple[float, float] | None = None,
    count: int | None = None,
    tolerance: float | None = None,
    static: bool = False,
) -> Basis:
    """Rigid motions and the modes of a band (rad/s), the `count` lowest elastic ones, or those that the ports feel.

    `tolerance` leaves out modes whose share (φᵀb)²/ω² of the static compliance of every input b is below that part of the
    largest. `static` adds the static response to every port of what is left out: right at low frequency, where a sum of few
    modes is not. Ports that are driven bring their static motion in any case.
    """
    model = SecondOrder.of(system)
    if sum(choice is not None for choice in (band, count, tolerance)) != 1:
        raise InputError("say one of band=(from, to), count=… and tolerance=…")
    found = _found(system, band, count)
    chosen = np.arange(found.rigid, len(found))
    if band is not None:
        low, high = limits(band)
        chosen = chosen[(found.omega[chosen] >= low) & (found.omega[chosen] <= high)]
        if not len(chosen):
            raise InputError(f"no mode lies between {low:g} and {high:g} rad/s; the first are at {_first(found)} rad/s")
    if tolerance is not None:
        share = (model.F.T @ found.vectors[:, chosen] / found.omega[chosen]) ** 2
        share = share / np.maximum(share.max(axis=1, initial=0.0), 1e-300)[:, None]
        chosen = chosen[share.max(axis=0, initial=0.0) >= positive("tolerance", tolerance)]
    rigid, V = found.vectors[:, : found.rigid], found.vectors[:, chosen]
    if static:
        V = np.hstack([V, static_response(model, rigid)])
    return split_basis(model, rigid, V, static_drives(model, rigid))


def limits(band: tuple[float, float]) -> tuple[float, float]:
    """A band of frequencies, or a sentence."""
    row = np.asarray(band)
    if row.shape != (2,) or row.dtype.kind not in "biuf" or not np.isfinite(row).all() or not 0.0 <= row[0] < row[1]:
        raise InputError(f"band is {band!r}; it must be two frequencies in rad/s, the lower one first")
    return float(row[0]), float(row[1])


def static_response(model: SecondOrder, rigid: np.ndarray) -> np.ndarray:
    """K⁻¹ of the ports' forces, beside rigid motion: the body accelerates, and bends under its own inertia."""
    forces = model.F[:, model.F.any(axis=0)]
    forces = forces - model.M @ (rigid @ (rigid.T @ forces))
    if not forces.shape[1]:
        return forces
    return apart(held_at_rest(model, rigid).solve(forces), rigid, model.M)


def static_drives(model: SecondOrder, rigid: np.ndarray) -> np.ndarray | None:
    """The static motion that each driven input asks for; None where there is none."""
    drives = model.drives[:, model.drives.any(axis=0)]
    if not drives.shape[1]:
        return None
    return held_at_rest(model, rigid).solve(np.zeros((model.size, drives.shape[1])), drives)


def held_at_rest(model: SecondOrder, rigid: np.ndarray) -> Factor:
    """K with the joints, rigid motion held."""
    return model.at(0.0, model.M @ rigid)


def _found(system: LinearPHDAE, band: tuple[float, float] | None, count: int | None) -> Modes:
    if count is not None:
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise InputError(f"count is {count!r}; it must be a whole number, 0 or more")
        return modes(still(system), max(int(count) + rigid_motions(system).shape[1], 1))
    found = modes(still(system))
    while band is not None and found.omega[-1] <= limits(band)[1]:
        more = modes(still(system), 2 * len(found))
        if len(more) == len(found):
            break
        found = more
    return found


def _first(found: Modes) -> str:
    return ", ".join(f"{w:.4g}" for w in found.elastic[:4]) or "no elastic ones"
