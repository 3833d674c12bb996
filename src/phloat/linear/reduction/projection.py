"""Projection on bases with separate columns for velocities V_v and stresses V_σ, so that the order (v | σ) is kept.

Velocities have unit mass, V_vᵀM V_v = I, rigid motions first and driven ones last. Stresses are those of the velocities,

    V_σ = orth(C⁻¹Lᵀ V_v),

so the reduced system has the stiffness V_vᵀK V_v and no additional zero mode; rigid motions have no stress. Elastic velocities are
rotated so that V_vᵀL V_σ is diagonal, with the frequencies as entries. Projection on a basis is a congruence (46): matrices stay
skew, symmetric or positive.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.factors import negativity_defect
from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, largest, zero_matrix
from phloat.algebra.threads import one_thread
from phloat.errors import InputError
from phloat.linear.form.fields import Fields
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.saddle import SaddleFactor
from phloat.linear.form.second_order import SecondOrder
from phloat.linear.reduction.basis import Basis, mass_lengths, orthogonal_to, orthonormal

ROUND_OFF = 1e-13  # relative to the terms of a sum
FIXED = 1e-9  # joint velocity G V_v that counts as zero, relative to its terms
UNSTRAINED = 1e-10  # frequency that counts as zero, relative to that of the terms of the strains without cancellation


def split_basis(
    model: SecondOrder,
    rigid: np.ndarray,
    elastic: np.ndarray,
    driven: np.ndarray | None = None,
    max_columns: int | None = None,
) -> Basis:
    """The basis of rigid motions (of unit mass), other free motions and, last, driven ones, without dependent columns.

    Of the span of the free motions besides the rigid ones it has at most `max_columns` leading directions.
    """
    V = orthogonal_to(elastic, rigid, model.M)
    if max_columns is not None:
        V = V @ la.eigh(V.T @ (model.M @ V))[1][:, ::-1][:, :max_columns]
    # orthogonal to the rigid motions, which the small difference of similar columns may contain
    V = orthonormal(V, model.M, Q=rigid)[:, rigid.shape[1] :]
    if model.G.shape[0] and V.shape[1]:  # the small difference of similar columns may violate the joints
        V = orthonormal(orthogonal_to(SaddleFactor(model.M, model.G).solve(model.M @ V), rigid, model.M), model.M)
    V, Q = _ritz(model, V)
    N = np.zeros((model.size, 0)) if driven is None else driven
    if N.shape[1]:
        N = orthogonal_to(orthogonal_to(N, rigid, model.M), V, model.M)
        N = N / mass_lengths(N, model.M)
        Q = _with_stresses(model, Q, model.L.T @ N)
    if model.S.shape[1]:
        Q = _with_stresses(model, Q, model.C @ model.S)
    return Basis(csr(np.hstack([rigid, V, N])), csr(Q))


def _ritz(model: SecondOrder, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """V rotated to its Ritz modes, and stresses with V_σᵀC V_σ = ±I and V_vᵀL V_σ = diag(ω)."""
    strain = np.asarray(model.L.T @ V)
    terms = abs(model.L.T) @ np.abs(V)
    noise = ROUND_OFF * np.sqrt(np.abs(np.einsum("ik,ik->k", terms, model.from_strain(terms))).max(initial=0.0))
    if not strain.size:
        return V, np.zeros((model.C.shape[0], 0))
    if not model.definite:
        return _indefinite(model, V, strain, noise)
    Q = _with_stresses(model, np.zeros((len(strain), 0)), strain)
    _, omega, rotation = la.svd(Q.T @ strain)
    strained = int((omega > noise).sum())
    # ascending, those without strain first; the largest entry of each positive
    order = [*range(strained, len(rotation)), *range(strained - 1, -1, -1)]
    V = V @ rotation[order].T
    V = V * np.where(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])] < 0.0, -1.0, 1.0)
    return V, model.stress(V[:, len(rotation) - strained :]) / omega[:strained][::-1]


def _indefinite(model: SecondOrder, V: np.ndarray, strain: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """`_ritz` if some stresses have negative energy: K_r = V_vᵀK V_v may have negative eigenvalues."""
    K = strain.T @ model.from_strain(strain)
    value, rotation = la.eigh((K + K.T) / 2)
    order = np.argsort(np.abs(value), kind="stable")
    value, V = value[order], V @ rotation[:, order]
    strained = np.abs(value) > ROUND_OFF * np.abs(value).max(initial=0.0) + noise**2
    return V, model.stress(V[:, strained]) / np.sqrt(np.abs(value[strained]))


def _with_stresses(model: SecondOrder, Q: np.ndarray, strain: np.ndarray) -> np.ndarray:
    """The stresses Q with QᵀC Q = ±I, extended by those of further strains."""
    V = model.from_strain(strain)
    return orthonormal(V, model.C, np.sqrt(np.abs(np.einsum("ik,ik->k", V, strain))), Q)


@one_thread()
def project(system: LinearPHDAE, basis: Basis) -> LinearPHDAE:
    """The reduced system VᵀE V, VᵀJ V, VᵀR V, VᵀB, VᵀP, S, N with V = diag(V_v, V_σ): port-Hamiltonian, with the same ports.

    Joints that the basis satisfies (G V_v = 0) are eliminated; of the others, such as driven ones, the rows with motion remain.

    Parameters
    ----------
    system : LinearPHDAE
        The full system, with rows in the order (v | σ).
    basis : Basis
        For example from `modal_basis` or `krylov_basis`, or any Basis(V_v, V_sigma) with matrices of shapes
        (velocities, reduced velocities) and (stresses, reduced stresses).

    Returns
    -------
    LinearPHDAE
        The reduced system; passive if the full one is.

    Examples
    --------
    >>> beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=210e9, rho=7800.0, nu=0.3)).discretise(4)
    >>> arm = ph.connect({"beam": beam}, [ph.Revolute("ground", "beam.P", name="motor")], plane="xy")
    >>> linear = ph.linearise(arm, ph.place(arm)).with_ports("motor")
    >>> reduced = ph.reduction.project(linear, ph.reduction.modal_basis(linear, count=2))
    >>> reduced  # velocities of one rigid and two elastic modes, and two stresses
    LinearPHDAE(5 rows, 0 multipliers, 1 inputs on 1 ports, passive)
    >>> np.allclose(ph.modes(reduced).omega, ph.modes(linear, 3).omega)
    True
    """
    linear_only(system, feedthrough=True)
    _require_fit(system, basis)
    V = la.block_diag(basis.V_v.toarray(), basis.V_sigma.toarray())
    velocities, stresses = basis.V_v.shape[1], basis.V_sigma.shape[1]
    E, J = (_congruent(matrix, V) for matrix in (system.E, system.J))
    rigid = _rigid_velocities(E, J, _terms(system.J, V), velocities)
    J[rigid, velocities:] = 0.0
    J[velocities:, :velocities] = -J[:velocities, velocities:].T
    (R, P), (G, B_lam, multipliers) = _damping(system, V, rigid), _joints(system, basis)
    blocks = {name: (size,) for name, size in (("v", velocities), ("sigma", stresses)) if size}
    return replace(
        system,
        E=(E + E.T) / 2,
        J=(J - J.T) / 2,
        R=R,
        P=P,
        B=_without_round_off(V.T @ system.B, abs(V).T @ abs(system.B)),
        G=G,
        B_lam=B_lam,
        rows=Layout(blocks, "row"),
        multipliers=multipliers,
        split=velocities,
        fields=Fields.in_rows(system.fields, lambda A: csr(A @ V)),
        parts={},
    )


def _terms(A: Matrix, V: np.ndarray) -> np.ndarray:
    """The sums of the magnitudes of the terms of VᵀA V."""
    return np.asarray(abs(V).T @ (abs(A) @ abs(V)))


def _congruent(A: Matrix, V: np.ndarray) -> np.ndarray:
    """VᵀA V, with zeros for entries off the diagonal that are round-off of their terms."""
    product = np.asarray(V.T @ (A @ V))
    return np.where(np.eye(len(product), dtype=bool), product, _without_round_off(product, _terms(A, V)))


def _without_round_off(values: np.ndarray, terms: np.ndarray) -> np.ndarray:
    return np.where(np.abs(values) > ROUND_OFF * terms, values, 0.0)


def _rigid_velocities(E: np.ndarray, J: np.ndarray, terms: np.ndarray, velocities: int) -> np.ndarray:
    """Indices of the velocities whose stresses are round-off of their terms: rigid motions."""
    size = np.abs(E.diagonal())[velocities:]
    size = np.where(size > 0.0, size, 1.0)
    stress, largest_stress = ((a[:velocities, velocities:] ** 2 / size).sum(axis=1) for a in (J, terms))
    return np.asarray(np.flatnonzero(stress <= UNSTRAINED**2 * largest_stress))


def _damping(system: LinearPHDAE, V: np.ndarray, rigid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """VᵀR V and VᵀP: W made positive semidefinite by its round-off on the diagonal, zero for rigid motions without damping."""
    R, terms = V.T @ (system.R @ V), np.einsum("ik,ik->k", abs(V), abs(system.R) @ abs(V))
    damped = ~(np.isin(np.arange(len(R)), rigid) & (R.diagonal() <= UNSTRAINED * terms))
    R, P = np.where(np.outer(damped, damped), (R + R.T) / 2, 0.0), np.where(damped[:, None], V.T @ system.P, 0.0)
    W = np.block([[R, P], [P.T, system.S.toarray()]]) if system.has_feedthrough else R
    return (R if negativity_defect(W) == 0.0 else np.asarray(R + np.diag(ROUND_OFF * terms * damped))), P


def _joints(system: LinearPHDAE, basis: Basis) -> tuple[Matrix, Matrix, Layout]:
    """UᵀG V_v, UᵀB_λ with range U = range G V_v, and their layout: the joint rows that the basis does not satisfy by itself."""
    split, count = system.split, system.multipliers.size
    no_joints = zero_matrix(0, 0), zero_matrix(0, 0), Layout({}, "multiplier")
    if not count:
        return no_joints
    V, G = basis.V_v.toarray(), csr(system.G[:, :split])
    motion = np.asarray(G @ V)
    # relative to the largest velocity of a row at this kinetic energy: a joint that the basis satisfies has round-off only
    mass = system.E.diagonal()[:split]
    momentum = np.sqrt(np.einsum("ik,ik->k", V, system.E[:split, :split] @ V).max(initial=0.0))
    row_size = momentum * (abs(G) @ (1.0 / np.sqrt(np.where(mass > 0.0, mass, 1.0))))
    unit = 1.0 / np.where(row_size > 0.0, row_size, 1.0)
    U, size, _ = la.svd(unit[:, None] * motion, full_matrices=False)
    U, _ = la.qr(U[:, size > FIXED] / unit[:, None], mode="economic")
    if U.shape[1] == count:
        U = np.eye(count)  # all rows remain, with their names
    B_lam = system.B_lam.toarray()
    error = B_lam - U @ (U.T @ B_lam)
    if np.abs(error).max(initial=0.0) > FIXED * max(np.abs(B_lam).max(initial=0.0), 1e-300):
        missing = ", ".join(repr(p) for p in system.ports if np.abs(error[:, system.ports[p]]).max(initial=0.0) > FIXED)
        raise InputError(f"ports {missing} prescribe a motion that is not in the basis; close them with with_ports(…)")
    if not U.shape[1]:
        return no_joints
    names = system.multipliers if U.shape[1] == count else Layout({"joints": (U.shape[1],)}, "multiplier")
    rows = np.hstack([U.T @ motion, np.zeros((U.shape[1], basis.V_sigma.shape[1]))])
    return csr(rows), csr(U.T @ B_lam), names


def _require_fit(system: LinearPHDAE, basis: Basis) -> None:
    """Raises InputError if the basis does not fit the system."""
    if not isinstance(basis, Basis):
        raise InputError(f"{type(basis).__name__} is not a Basis; make one with modal_basis or krylov_basis")
    if system.split < 0:
        raise InputError(
            "projection needs rows in the order (v | σ); construct the system with split=(number of velocities)"
        )
    rows, expected = (basis.V_v.shape[0], basis.V_sigma.shape[0]), (system.split, system.rows.size - system.split)
    if rows != expected:
        raise InputError(f"the basis has {rows} rows of velocities and stresses, the system {expected}")
    if largest(system.G[:, system.split :]):
        raise InputError("joint rows act on stresses; only those on velocities can be projected")
