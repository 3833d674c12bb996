"""Modal bases: some modes of the undamped system, with its rigid motions, and what the others do in slow motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import RANK_TOLERANCE, csr, stacked, zeros
from phloat.algebra.threads import one_thread
from phloat.errors import InputError, positive
from phloat.linear.analysis.modes import Modes, modes
from phloat.linear.analysis.modes import modes as modes_of
from phloat.linear.form.phdae import LinearPHDAE, Ports, channels
from phloat.linear.form.second_order import Factor, SecondOrder
from phloat.linear.reduction.basis import Basis, apart, lengths, rigid_motions, split_basis, still


@one_thread()
def modal_basis(
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


# --- fixed interfaces and static motions -----------------------------------------------------------------------------
#
# Craig and Bampton's basis of a linear system: modes with some ports held, and the static motion that each of them asks for.
#
# y_p = B_pᵀv = 0:  K φ = ω²M φ + B_p μ,          unit y_p:  K ψ = B_p μ,  B_pᵀψ = I


@one_thread()
def craig_bampton_basis(system: LinearPHDAE, *, modes: int, ports: Ports | None = None) -> Basis:
    """The `modes` lowest elastic modes with the ports held (all unless named) and the static motions of these ports.

    Static responses through the ports are exact, and so are rigid motions.
    """
    if isinstance(modes, bool) or not isinstance(modes, (int, np.integer)) or modes < 0:
        raise InputError(f"modes is {modes!r}; it must be a whole number, 0 or more")
    model = SecondOrder.of(system)
    columns = np.arange(system.ports.size) if ports is None else channels(system, ports)[0]
    rows = _independent(system, model.F[:, columns])
    held = _held(system, rows)
    inside = rigid_motions(held)
    found = modes_of(still(held), max(int(modes) + inside.shape[1], 1))
    Phi = found.vectors[:, : int(modes) + inside.shape[1]]
    unit = np.vstack([np.zeros((system.multipliers.size, rows.shape[1])), np.eye(rows.shape[1])])
    fixed = SecondOrder.of(held)
    Psi = fixed.at(0.0, fixed.M @ inside).solve(np.zeros((model.size, rows.shape[1])), unit)
    rigid = rigid_motions(system)
    V = np.hstack([Phi, Psi / lengths(Psi, model.M)])
    return split_basis(model, rigid, V, static_drives(model, rigid), most=V.shape[1] - rigid.shape[1])


def _held(system: LinearPHDAE, rows: np.ndarray) -> LinearPHDAE:
    """The system with y = rowsᵀv at rest."""
    whole = csr(np.vstack([rows, np.zeros((system.rows.size - system.split, rows.shape[1]))]).T)
    count = system.multipliers.size + rows.shape[1]
    return replace(
        system,
        G=stacked([[system.G], [whole]]),
        B=zeros(system.rows.size, 0),
        B_lam=zeros(count, 0),
        ports=Layout({}, "port"),
        multipliers=Layout({"held": (count,)}, "multiplier"),
    )


def _independent(system: LinearPHDAE, F: np.ndarray) -> np.ndarray:
    """Port columns that do not follow from each other and from the joints, of unit length."""
    F = F[:, F.any(axis=0)]
    if not F.shape[1]:
        raise InputError("no port that takes an effort is held; name some, or use modal(system, count=…)")
    F = F / np.sqrt(np.einsum("ik,ik->k", F, F))
    G = system.G[:, : system.split].toarray()
    Q = la.orth(G.T) if len(G) else np.zeros((len(F), 0))
    free = F - Q @ (Q.T @ F)
    _, r, order = la.qr(free, mode="economic", pivoting=True)
    return np.asarray(F[:, np.sort(order[: int((np.abs(np.diag(r)) > RANK_TOLERANCE).sum())])])
