"""Modal bases: some modes of the undamped system, its rigid motions, and static responses.

Craig and Bampton's basis has modes with some ports fixed, y_p = B_pᵀv = 0:  K φ = ω²M φ + B_p μ, and the static motion for unit
y_p:  K ψ = B_p μ,  B_pᵀψ = I.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import RANK_TOLERANCE, stacked, zero_matrix
from phloat.algebra.threads import one_thread
from phloat.errors import InputError, whole_number
from phloat.linear.analysis.modes import Modes, modes, modes as modes_of, rigid_modes
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.form.second_order import SecondOrder, undamped
from phloat.linear.reduction.basis import Basis, mass_lengths, orthogonal_to
from phloat.linear.reduction.projection import split_basis


@one_thread()
def modal_basis(
    system: LinearPHDAE,
    *,
    band: tuple[float, float] | None = None,
    count: int | None = None,
    static: bool = False,
) -> Basis:
    """The basis of the rigid motions and of selected elastic modes, for `project`.

    Either `band` or `count` selects the modes. The static motion of driven ports, and of ports that take velocities, is always
    included.

    Parameters
    ----------
    system : LinearPHDAE
        The system to be reduced.
    band : (float, float), optional
        Take the elastic modes with frequencies in this band (rad/s).
    count : int, optional
        Take this many of the lowest elastic modes.
    static : bool, optional
        Add the static response of the modes that are left out, which makes the response at low frequencies correct.

    Returns
    -------
    Basis
        `V_v` (velocities, reduced velocities) and `V_sigma` (stresses, reduced stresses).

    Examples
    --------
    >>> beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=210e9, rho=7800.0, nu=0.3)).discretise(4)
    >>> arm = ph.connect({"beam": beam}, [ph.Revolute("ground", "beam.P", name="motor")], plane="xy")
    >>> linear = ph.linearise(arm, ph.place(arm)).with_ports("motor")
    >>> ph.reduction.modal_basis(linear, count=2)
    Basis(3 of 19 velocities, 2 of 16 stresses)
    >>> ph.reduction.modal_basis(linear, band=(0.0, 1000.0), static=True)
    Basis(4 of 19 velocities, 3 of 16 stresses)
    """
    model = SecondOrder.from_system(system)
    if (band is None) == (count is None):
        raise InputError("give one of band=(from, to) and count=…")
    if band is None:
        eigenmodes = modes(undamped(system), max(whole_number("count", count, 0) + rigid_modes(system).shape[1], 1))
        chosen = np.arange(eigenmodes.rigid, len(eigenmodes))
    else:
        low, high = limits(band)
        eigenmodes = _up_to(high, undamped(system))
        chosen = eigenmodes.rigid + np.flatnonzero((eigenmodes.elastic >= low) & (eigenmodes.elastic <= high))
        if not len(chosen):
            first = ", ".join(f"{w:.4g}" for w in eigenmodes.elastic[:4])
            raise InputError(f"no mode is between {low:g} and {high:g} rad/s; the first are at {first or 'none'} rad/s")
    rigid, V = eigenmodes.vectors[:, : eigenmodes.rigid], eigenmodes.vectors[:, chosen]
    V = np.hstack([V, static_response(model, rigid) if static else static_strains(model, rigid)])
    return split_basis(model, rigid, V, static_drives(model, rigid))


def limits(band: tuple[float, float]) -> tuple[float, float]:
    """The band as two floats; raises InputError unless 0 ≤ low < high."""
    row = np.asarray(band)
    if row.shape != (2,) or row.dtype.kind not in "biuf" or not np.isfinite(row).all() or not 0.0 <= row[0] < row[1]:
        raise InputError(f"band is {band!r}; it must be two frequencies in rad/s, the lower one first")
    return float(row[0]), float(row[1])


def static_response(model: SecondOrder, rigid: np.ndarray) -> np.ndarray:
    """Static deformations by unit port forces, (velocities, inputs): in balance with the inertia of the rigid acceleration."""
    forces = model.F[:, model.F.any(axis=0)]
    if not forces.shape[1]:
        return forces
    forces = forces - model.M @ (rigid @ (rigid.T @ forces))
    return orthogonal_to(model.factor(0.0, model.M @ rigid).solve(forces), rigid, model.M)


def static_drives(model: SecondOrder, rigid: np.ndarray) -> np.ndarray:
    """The static motion of each driven input, (velocities, driven inputs)."""
    drives = model.drives[:, model.drives.any(axis=0)]
    none = np.zeros((model.size, drives.shape[1]))
    return model.factor(0.0, model.M @ rigid).solve(none, drives) if drives.shape[1] else none


def static_strains(model: SecondOrder, rigid: np.ndarray) -> np.ndarray:
    """The static motion of each input on stresses, such as a side that takes a velocity, (velocities, inputs on stresses)."""
    forces = -(model.L @ model.S)
    return model.factor(0.0, model.M @ rigid).solve(forces) if forces.shape[1] else forces


def _up_to(omega: float, system: LinearPHDAE) -> Modes:
    """The lowest modes, at least all up to the frequency omega (rad/s)."""
    eigenmodes = modes(system)
    while eigenmodes.omega[-1] <= omega and len(larger := modes(system, 2 * len(eigenmodes))) > len(eigenmodes):
        eigenmodes = larger
    return eigenmodes


@one_thread()
def craig_bampton_basis(system: LinearPHDAE, *, modes: int) -> Basis:
    """Craig and Bampton's basis: the `modes` lowest elastic modes with the ports fixed, and the static motions of the ports.

    Static responses at the ports and rigid motions are exact.
    """
    count, model = whole_number("modes", modes, 0), SecondOrder.from_system(system)
    rows = _independent(system, model.F[:, : model.F.shape[1] - model.S.shape[1]])
    fixed_system = _with_fixed_rows(system, rows)
    fixed_rigid = rigid_modes(fixed_system)
    count += fixed_rigid.shape[1]
    Phi = modes_of(undamped(fixed_system), max(count, 1)).vectors[:, :count]
    unit = np.vstack([np.zeros((system.multipliers.size, rows.shape[1])), np.eye(rows.shape[1])])
    fixed = SecondOrder.from_system(fixed_system)
    Psi = fixed.factor(0.0, fixed.M @ fixed_rigid).solve(np.zeros((model.size, rows.shape[1])), unit)
    rigid = rigid_modes(system)
    V = np.hstack([Phi, Psi / mass_lengths(Psi, model.M), static_strains(model, rigid)])
    return split_basis(model, rigid, V, static_drives(model, rigid), max_columns=V.shape[1] - rigid.shape[1])


def _with_fixed_rows(system: LinearPHDAE, rows: np.ndarray) -> LinearPHDAE:
    """The system with the constraint rowsᵀv = 0, without ports."""
    G = stacked([[system.G], [np.pad(rows.T, ((0, 0), (0, system.rows.size - system.split)))]])
    joints = Layout({"joints": (G.shape[0],)}, "multiplier")
    return replace(system.with_ports(), G=G, B_lam=zero_matrix(G.shape[0], 0), multipliers=joints)


def _independent(system: LinearPHDAE, F: np.ndarray) -> np.ndarray:
    """The columns of F, scaled to unit length, that are independent of each other and of the joints."""
    F = F[:, F.any(axis=0)]
    if not F.shape[1]:
        raise InputError("no port that takes an effort is fixed; name some, or use modal_basis(system, count=…)")
    F = F / np.sqrt(np.einsum("ik,ik->k", F, F))
    G = system.G[:, : system.split].toarray()
    Q = la.orth(G.T) if len(G) else np.zeros((len(F), 0))
    free = F - Q @ (Q.T @ F)
    _, r, order = la.qr(free, mode="economic", pivoting=True)
    return np.asarray(F[:, np.sort(order[: int((np.abs(np.diag(r)) > RANK_TOLERANCE).sum())])])
