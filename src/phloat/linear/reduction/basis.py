"""Bases of reduction, with separate columns for velocities V_v and stresses V_σ so that the order (v | σ) is kept.

Velocities have unit mass, V_vᵀM V_v = I, rigid motions first and driven ones last. Stresses are those of the velocities,

    V_σ = orth(C⁻¹Lᵀ V_v),

so the reduced system has the stiffness V_vᵀK V_v and no additional zero mode; rigid motions have no stress. Elastic velocities are
rotated so that V_vᵀL V_σ is diagonal, with the frequencies as entries. Projection on a basis is a congruence, which keeps skew,
symmetric and positive matrices so (46).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, largest, negativity_defect, zero_matrix
from phloat.algebra.threads import one_thread
from phloat.errors import InputError
from phloat.linear.analysis.modes import modes
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.saddle import SaddleFactor
from phloat.linear.form.second_order import SecondOrder, undamped

DEPENDENT = 1e-10  # length of a velocity of unit mass, orthogonal to the others, that counts as zero
ROUND_OFF = 1e-13  # of the terms of a sum
FIRST = 12  # modes of a large system among which its rigid ones are expected
HELD = 1e-9  # of the terms of G V_v: what counts as no motion
NOTHING = 1e-10  # of the frequency that the terms of its strains would give a motion if nothing cancelled: what counts as zero


@dataclass(frozen=True, eq=False)
class Basis:
    """v = V_v v_r and σ = V_σ σ_r; `stresses` may name the blocks of σ_r, like those of a beam."""

    V_v: Matrix
    V_sigma: Matrix
    stresses: Layout | None = None

    def __post_init__(self) -> None:
        for name in ("V_v", "V_sigma"):
            matrix = csr(getattr(self, name))
            if not np.isfinite(matrix.data).all():
                raise InputError(f"{name} contains NaN or infinity")
            object.__setattr__(self, name, matrix)

    @property
    def states(self) -> int:
        """The number of velocities and stresses."""
        return int(self.V_v.shape[1] + self.V_sigma.shape[1])

    def __repr__(self) -> str:
        (n, r), (m, k) = self.V_v.shape, self.V_sigma.shape
        return f"Basis({r} of {n} velocities, {k} of {m} stresses)"


def split_basis(
    model: SecondOrder,
    rigid: np.ndarray,
    elastic: np.ndarray,
    driven: np.ndarray | None = None,
    most: int | None = None,
) -> Basis:
    """The basis of rigid motions (of unit mass), other free motions and, last, driven ones, without dependent columns.

    `most` limits the number of free motions besides the rigid ones to the leading directions of their span.
    """
    V = orthogonal_to(elastic, rigid, model.M)
    if most is not None:
        V = V @ la.eigh(V.T @ (model.M @ V))[1][:, ::-1][:, :most]
    V = orthonormal(V, model.M)
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


def rigid_modes(system: LinearPHDAE) -> np.ndarray:
    """Velocities of unit mass that joints allow and that cause no stress, one column each."""
    if system.split == system.rows.size:  # no stresses: all modes are rigid
        return np.asarray(modes(undamped(system)).vectors)
    count = FIRST
    while (found := modes(undamped(system), count)).rigid == count:
        count *= 2
    return np.asarray(found.vectors[:, : found.rigid])


def orthonormal(V: np.ndarray, M: Matrix, size: np.ndarray | None = None, kept: np.ndarray | None = None) -> np.ndarray:
    """The span of `kept`, which is orthonormal, and V, with VᵀM V = I, or ±1 on the diagonal if M is indefinite.

    Columns that depend on those before them, relative to `size` (their length), are left out.
    """
    whole = mass_lengths(V, M) if size is None else size
    Q = np.zeros((len(V), 0)) if kept is None else kept
    count, Q = Q.shape[1], np.asfortranarray(np.hstack([Q, np.empty_like(V)]))
    signs = np.sign(np.einsum("ik,ik->k", Q[:, :count], M @ Q[:, :count]))
    for v, long in zip(V.T, whole, strict=True):
        if not long > 0.0:
            continue
        v, length = v / long, 1.0
        for _ in range(2):  # twice, for the small difference of similar columns
            v = (v - Q[:, :count] @ (signs * (Q[:, :count].T @ (M @ v)))) / length
            if (length := float(np.sqrt(abs(v @ (M @ v))))) <= DEPENDENT:
                break
        else:
            Q[:, count], signs = v / length, np.append(signs, np.sign(v @ (M @ v)))
            count += 1
    return np.asarray(Q[:, :count])


def orthogonal_to(V: np.ndarray, W: np.ndarray, M: Matrix) -> np.ndarray:
    """The part of V that is M-orthogonal to the columns of W, of unit mass (twice, for round-off)."""
    for _ in range(2 if W.shape[1] else 0):
        V = V - W @ (W.T @ (M @ V))
    return V


def mass_lengths(V: np.ndarray, M: Matrix) -> np.ndarray:
    """√(vᵀM v) of every column."""
    squared = np.einsum("ik,ik->k", V, M @ V)
    if (squared < 0.0).any() or ((squared == 0.0) & (V != 0.0).any(axis=0)).any():
        raise InputError("the mass matrix is singular on the free motions: a body has no mass")
    return np.asarray(np.sqrt(squared))


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
    _, omega, turn = la.svd(Q.T @ strain)
    strained = int((omega > noise).sum())
    # ascending, those without strain first; the largest entry of each positive
    order = [*range(strained, len(turn)), *range(strained - 1, -1, -1)]
    V = V @ turn[order].T
    V = V * np.where(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])] < 0.0, -1.0, 1.0)
    return V, model.stress(V[:, len(turn) - strained :]) / omega[:strained][::-1]


def _indefinite(model: SecondOrder, V: np.ndarray, strain: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """The same if some stresses have negative energy: K_r = V_vᵀK V_v has both signs."""
    K = strain.T @ model.from_strain(strain)
    value, turn = la.eigh((K + K.T) / 2)
    order = np.argsort(np.abs(value), kind="stable")
    value, V = value[order], V @ turn[:, order]
    strained = np.abs(value) > ROUND_OFF * np.abs(value).max(initial=0.0) + noise**2
    return V, model.stress(V[:, strained]) / np.sqrt(np.abs(value[strained]))


def _with_stresses(model: SecondOrder, Q: np.ndarray, strain: np.ndarray) -> np.ndarray:
    """Stresses Q with QᵀC Q = ±I, and those of more strains."""
    V = model.from_strain(strain)
    return orthonormal(V, model.C, np.sqrt(np.abs(np.einsum("ik,ik->k", V, strain))), Q)


@one_thread()
def project(system: LinearPHDAE, basis: Basis) -> LinearPHDAE:
    """The reduced system VᵀE V, VᵀJ V, VᵀR V, VᵀB with V = diag(V_v, V_σ): port-Hamiltonian again, with the same ports.

    Joints that the basis satisfies (G V_v = 0) are eliminated; of the others, such as driven ones, the rows that move stay.

    Parameters
    ----------
    system : LinearPHDAE
        The full system, with rows in the order (v | σ).
    basis : Basis
        From `modal_basis` or `krylov_basis`, for example, or your own: Basis(V_v, V_sigma) with matrices of shapes
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
    linear_only(system)
    _require_fit(system, basis)
    V = la.block_diag(basis.V_v.toarray(), basis.V_sigma.toarray())
    velocities, stresses = basis.V_v.shape[1], basis.V_sigma.shape[1]
    E, J = (_congruent(matrix, V) for matrix in (system.E, system.J))
    rigid = _unstrained(E, J, _terms(system.J, V), velocities)
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
    """VᵀA V, with zeros off the diagonal for entries that are round-off of their terms."""
    found = np.asarray(V.T @ (A @ V))
    return np.where(np.eye(len(found), dtype=bool), found, _clean(found, _terms(A, V)))


def _clean(found: np.ndarray, terms: np.ndarray) -> np.ndarray:
    return np.where(np.abs(found) > ROUND_OFF * terms, found, 0.0)


def _unstrained(E: np.ndarray, J: np.ndarray, terms: np.ndarray, velocities: int) -> np.ndarray:
    """Velocities whose stresses are round-off of their terms: they are rigid."""
    size = np.abs(E.diagonal())[velocities:]
    size = np.where(size > 0.0, size, 1.0)
    stress, most = ((a[:velocities, velocities:] ** 2 / size).sum(axis=1) for a in (J, terms))
    return np.asarray(np.flatnonzero(stress <= NOTHING**2 * most))


def _damping(system: LinearPHDAE, V: np.ndarray, rigid: np.ndarray) -> np.ndarray:
    """VᵀR V ≥ 0: the round-off is added on the diagonal, and set to zero on rigid motions."""
    R, terms = V.T @ (system.R @ V), np.einsum("ik,ik->k", abs(V), abs(system.R) @ abs(V))
    damped = ~(np.isin(np.arange(len(R)), rigid) & (R.diagonal() <= NOTHING * terms))
    R = np.where(np.outer(damped, damped), (R + R.T) / 2, 0.0)
    return R if negativity_defect(R) == 0.0 else np.asarray(R + np.diag(ROUND_OFF * terms * damped))


def _joints(system: LinearPHDAE, basis: Basis) -> tuple[Matrix, Matrix, Layout]:
    """The joint rows that move in the basis, UᵀG V_v and UᵀB_λ with range U = range G V_v: the others are always satisfied."""
    split, count = system.split, system.multipliers.size
    if not count:
        return zero_matrix(0, 0), zero_matrix(0, 0), Layout({}, "multiplier")
    V, G = basis.V_v.toarray(), csr(system.G[:, :split])
    moved = np.asarray(G @ V)
    # compared with the largest motion of a row for that much mass, as a joint that nothing moves has round-off only
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
        lost = ", ".join(repr(p) for p in system.ports if np.abs(missed[:, system.ports[p]]).max(initial=0.0) > HELD)
        raise InputError(f"ports {lost} prescribe a motion that is not in the basis; close them with with_ports(…)")
    if not U.shape[1]:
        return zero_matrix(0, 0), zero_matrix(0, 0), Layout({}, "multiplier")
    names = system.multipliers if U.shape[1] == count else Layout({"joints": (U.shape[1],)}, "multiplier")
    rows = np.hstack([U.T @ moved, np.zeros((U.shape[1], basis.V_sigma.shape[1]))])
    return csr(rows), csr(U.T @ B_lam), names


def _require_fit(system: LinearPHDAE, basis: Basis) -> None:
    if not isinstance(basis, Basis):
        raise InputError(f"{type(basis).__name__} is not a Basis; make one with modal_basis or krylov_basis")
    if system.split < 0:
        raise InputError("projection needs rows in the order (v | σ), velocities first; set split=…")
    rows, expected = (basis.V_v.shape[0], basis.V_sigma.shape[0]), (system.split, system.rows.size - system.split)
    if rows != expected:
        raise InputError(
            f"the basis has {rows} rows of velocities and stresses, the system {expected}; make another basis"
        )
    if largest(system.G[:, system.split :]):
        raise InputError("joint rows act on stresses; only those on velocities can be projected")
