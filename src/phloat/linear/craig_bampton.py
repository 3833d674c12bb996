"""Craig and Bampton's basis of a linear system: modes with some ports held, and the static motion that each of them asks for.

y_p = B_pᵀv = 0:  K φ = ω²M φ + B_p μ,          unit y_p:  K ψ = B_p μ,  B_pᵀψ = I
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import RANK_TOLERANCE, csr, stacked, zeros
from phloat.algebra.threads import one_thread
from phloat.errors import InputError
from phloat.linear.bases import Basis, lengths, rigid_motions, split_basis, still
from phloat.linear.channels import channels
from phloat.linear.modal import static_drives
from phloat.linear.modes import modes as modes_of
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.second_order import SecondOrder


@one_thread()
def craig_bampton(system: LinearPHDAE, *, modes: int, ports: str | Sequence[str] | None = None) -> Basis:
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
