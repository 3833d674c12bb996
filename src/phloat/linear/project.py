"""Linear systems in few coordinates: congruence with a basis keeps what is skew, symmetric and positive (46)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.defects import negativity_defect
from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, largest, zeros
from phloat.algebra.threads import one_thread
from phloat.errors import InputError
from phloat.linear.bases import ROUND_OFF, Basis
from phloat.linear.phdae import LinearPHDAE, linear_only

HELD = 1e-9  # of the terms of G V_v: what counts as no motion
NOTHING = 1e-10  # of the frequency that the terms of its strains would give a motion if nothing cancelled: what counts as none


@one_thread()
def project(system: LinearPHDAE, basis: Basis) -> LinearPHDAE:
    """VᵀE V, VᵀJ V, VᵀR V and VᵀB with V = diag(V_v, V_σ): port-Hamiltonian again, with the same ports.

    Joints that the basis respects (G V_v = 0) are gone; of the others, as of driven ones, the rows that still move stay.
    """
    linear_only(system)
    _check(system, basis)
    V = la.block_diag(basis.V_v.toarray(), basis.V_sigma.toarray())
    velocities, stresses = basis.V_v.shape[1], basis.V_sigma.shape[1]
    E, J = (_congruent(matrix, V) for matrix in (system.E, system.J))
    rigid = _unresisted(E, J, _terms(system.J, V), velocities)
    J[rigid, velocities:] = 0.0
    J[velocities:, :velocities] = -J[:velocities, velocities:].T
    G, B_lam, multipliers = _joints(system, basis)
    blocks = {name: (size,) for name, size in (("v", velocities), ("sigma", stresses)) if size}
    return replace(
        system,
        E=(E + E.T) / 2,
        J=(J - J.T) / 2,
        R=_damping(system, V, rigid),
        B=_clean(V.T @ system.B, abs(V).T @ abs(system.B)),
        G=G,
        B_lam=B_lam,
        rows=Layout(blocks, "row"),
        multipliers=multipliers,
        split=velocities,
        fields={name: replace(f, motion=csr(f.motion @ V)) for name, f in system.fields.items()},
    )


def _terms(A: Matrix, V: np.ndarray) -> np.ndarray:
    """The sums of the magnitudes of the terms of VᵀA V."""
    return np.asarray(abs(V).T @ (abs(A) @ abs(V)))


def _congruent(A: Matrix, V: np.ndarray) -> np.ndarray:
    """VᵀA V; off the diagonal, what is round-off of its terms is zero."""
    found = np.asarray(V.T @ (A @ V))
    return np.where(np.eye(len(found), dtype=bool), found, _clean(found, _terms(A, V)))


def _clean(found: np.ndarray, terms: np.ndarray) -> np.ndarray:
    return np.where(np.abs(found) > ROUND_OFF * terms, found, 0.0)


def _unresisted(E: np.ndarray, J: np.ndarray, terms: np.ndarray, velocities: int) -> np.ndarray:
    """Velocities whose stresses are round-off of the terms that they are summed from: they are rigid, and stay so."""
    size = np.abs(E.diagonal())[velocities:]
    size = np.where(size > 0.0, size, 1.0)
    own, most = ((a[:velocities, velocities:] ** 2 / size).sum(axis=1) for a in (J, terms))
    return np.asarray(np.flatnonzero(own <= NOTHING**2 * most))


def _damping(system: LinearPHDAE, V: np.ndarray, rigid: np.ndarray) -> np.ndarray:
    """VᵀR V, positive: round-off is covered by as much on the diagonal, and on rigid motions counts as nothing."""
    R = V.T @ (system.R @ V)
    noise = ROUND_OFF * np.einsum("ik,ik->k", abs(V), abs(system.R) @ abs(V))
    least = NOTHING * np.einsum("ik,ik->k", abs(V), abs(system.R) @ abs(V))
    felt = ~(np.isin(np.arange(len(R)), rigid) & (R.diagonal() <= least))
    R = np.where(np.outer(felt, felt), (R + R.T) / 2, 0.0)
    return R if negativity_defect(R) == 0.0 else np.asarray(R + np.diag(noise * felt))


def _joints(system: LinearPHDAE, basis: Basis) -> tuple[Matrix, Matrix, Layout]:
    """The joint rows that move in the basis, UᵀG V_v and UᵀB_λ with range U = range G V_v: the rest holds by itself."""
    split, count = system.split, system.multipliers.size
    if not count:
        return zeros(0, 0), zeros(0, 0), Layout({}, "multiplier")
    V, G = basis.V_v.toarray(), csr(system.G[:, :split])
    moved = np.asarray(G @ V)
    # what a row could feel of motions with that much mass: a joint that nothing moves has only round-off to compare with
    mass = system.E.diagonal()[:split]
    whole = np.sqrt(np.einsum("ik,ik->k", V, system.E[:split, :split] @ V).max(initial=0.0))
    felt = whole * (abs(G) @ (1.0 / np.sqrt(np.where(mass > 0.0, mass, 1.0))))
    unit = 1.0 / np.where(felt > 0.0, felt, 1.0)
    U, size, _ = la.svd(unit[:, None] * moved, full_matrices=False)
    U, _ = la.qr(U[:, size > HELD] / unit[:, None], mode="economic")
    if U.shape[1] == count:
        U = np.eye(count)  # all stay, with their names
    B_lam = system.B_lam.toarray()
    missed = B_lam - U @ (U.T @ B_lam)
    if np.abs(missed).max(initial=0.0) > HELD * max(np.abs(B_lam).max(initial=0.0), 1e-300):
        still = [p for p in system.ports if np.abs(missed[:, system.ports[p]]).max(initial=0.0) > HELD]
        raise InputError(
            f"ports {', '.join(map(repr, still))} prescribe a motion that is not in the basis; use a basis made of this system, "
            "or close them with with_ports(…)"
        )
    names = system.multipliers if U.shape[1] == count else Layout({"joints": (U.shape[1],)}, "multiplier")
    if not U.shape[1]:
        return zeros(0, 0), zeros(0, 0), Layout({}, "multiplier")
    rows = np.hstack([U.T @ moved, np.zeros((U.shape[1], basis.V_sigma.shape[1]))])
    return csr(rows), csr(U.T @ B_lam), names


def _check(system: LinearPHDAE, basis: Basis) -> None:
    if not isinstance(basis, Basis):
        raise InputError(
            f"{type(basis).__name__} is not a Basis; make one with modal, krylov, craig_bampton or balanced"
        )
    if system.split < 0:
        raise InputError("projection needs rows in the order (v | σ), velocities first; say where they part: split=…")
    rows = (basis.V_v.shape[0], basis.V_sigma.shape[0])
    if rows != (system.split, system.rows.size - system.split):
        raise InputError(
            f"the basis has {rows[0]} rows of velocities and {rows[1]} of stresses; the system has {system.split} and "
            f"{system.rows.size - system.split}: make the basis of this system"
        )
    if largest(system.G[:, system.split :]):
        raise InputError("joint rows act on stresses; only those on velocities can be projected")
