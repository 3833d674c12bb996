"""Bases of reduction: velocities V_v and stresses V_σ, each in its own rows, so that (v | σ) survives.

Velocities have unit mass, V_vᵀM V_v = I, rigid motions first and driven ones last. Stresses are those of the velocities,

    V_σ = orth(C⁻¹Lᵀ V_v),

so the reduced system has the stiffness V_vᵀK V_v and no zero mode of its own; rigid motions bring none. Elastic velocities are
turned so that V_vᵀL V_σ is diagonal: their frequencies stand there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, largest, negativity_defect, stacked, zeros
from phloat.algebra.threads import one_thread
from phloat.errors import InputError
from phloat.linear.analysis.modes import modes
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.second_order import SecondOrder

DEPENDENT = 1e-10  # what is left of a velocity of unit mass when the others are taken out
ROUND_OFF = 1e-13  # of the terms of a sum
FIRST = 12  # modes of a large system in which its rigid ones are looked for


@dataclass(frozen=True, eq=False)
class Basis:
    """v = V_v v_r and σ = V_σ σ_r; `stresses` may name the blocks of σ_r, as those of a beam."""

    V_v: Matrix
    V_sigma: Matrix
    stresses: Layout | None = None

    def __post_init__(self) -> None:
        for name in ("V_v", "V_sigma"):
            matrix = csr(getattr(self, name))
            if not np.isfinite(matrix.data).all():
                raise InputError(f"{name} holds NaN or infinity")
            object.__setattr__(self, name, matrix)

    @property
    def states(self) -> int:
        """How many velocities and stresses are kept."""
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
    """The basis of rigid motions (of unit mass), other free motions and, last, driven ones; dependent columns are left out.

    `most` keeps that many of the free motions besides the rigid ones, those that differ most from each other.
    """
    V = apart(elastic, rigid, model.M)
    V = orthonormal(V, model.M) if most is None else leading(V, model.M, most)
    if model.G.shape[0] and V.shape[1]:  # what is left of near equals has lost figures at the joints, too
        V = orthonormal(apart(model.at_infinity().solve(model.M @ V), rigid, model.M), model.M)
    V, Q = _ritz(model, V)
    N = np.zeros((model.size, 0)) if driven is None else driven
    if N.shape[1]:
        N = apart(apart(N, rigid, model.M), V, model.M)
        N = N / lengths(N, model.M)
        Q = _more(model, Q, model.L.T @ N)
    if model.S.shape[1]:
        Q = _more(model, Q, model.C @ model.S)
    return Basis(csr(np.hstack([rigid, V, N])), csr(Q))


def still(system: LinearPHDAE) -> LinearPHDAE:
    """The system without damping and without gyroscopic forces."""
    n, rest = system.split, system.rows.size - system.split
    J = stacked([[zeros(n, n), system.J[:n, n:]], [system.J[n:, :n], zeros(rest, rest)]])
    return replace(system, R=zeros(*system.R.shape), J=J)


def rigid_motions(system: LinearPHDAE) -> np.ndarray:
    """Velocities of unit mass that joints allow and nothing resists, one column each."""
    if system.split == system.rows.size:  # no stresses: all is rigid
        return np.asarray(modes(still(system)).vectors)
    count = FIRST
    while (found := modes(still(system), count)).rigid == count:
        count *= 2
    return np.asarray(found.vectors[:, : found.rigid])


def orthonormal(V: np.ndarray, M: Matrix, size: np.ndarray | None = None) -> np.ndarray:
    """The span of V with VᵀM V = I; columns that follow from those before them are left out.

    `size` is what a column is measured by, its own length unless told.
    """
    whole = lengths(V, M) if size is None else size
    kept, count = np.empty((len(V), V.shape[1]), order="F"), 0
    for v, long in zip(V.T, whole, strict=True):
        if not long > 0.0:
            continue
        v = v / long
        left = v - kept[:, :count] @ (kept[:, :count].T @ (M @ v))
        length = float(np.sqrt(max(left @ (M @ left), 0.0)))
        if length <= DEPENDENT:
            continue
        v = left / length
        v = v - kept[:, :count] @ (kept[:, :count].T @ (M @ v))  # once more: what is left of near equals is not clean
        kept[:, count] = v / np.sqrt(v @ (M @ v))
        count += 1
    return np.asarray(kept[:, :count])


def leading(V: np.ndarray, M: Matrix, count: int) -> np.ndarray:
    """The `count` directions, of unit mass, that hold most of V."""
    _, turn = la.eigh(V.T @ (M @ V))
    W = V @ turn[:, ::-1][:, :count]
    return orthonormal(W, M)


def apart(V: np.ndarray, from_: np.ndarray, M: Matrix) -> np.ndarray:
    """V without its part along columns of unit mass, twice, for round-off."""
    for _ in range(2 if from_.shape[1] else 0):
        V = V - from_ @ (from_.T @ (M @ V))
    return V


def lengths(V: np.ndarray, M: Matrix) -> np.ndarray:
    """√(vᵀM v) of every column."""
    squared = np.einsum("ik,ik->k", V, M @ V)
    if (squared < 0.0).any() or ((squared == 0.0) & (V != 0.0).any(axis=0)).any():
        raise InputError("the mass matrix is singular on the free motions: some body moves without mass")
    return np.asarray(np.sqrt(squared))


def _ritz(model: SecondOrder, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """V turned to its own modes, and stresses with V_σᵀC V_σ = ±I and V_vᵀL V_σ = diag(ω)."""
    strain = np.asarray(model.L.T @ V)
    noise = ROUND_OFF * np.sqrt(_energy(model, abs(model.L.T) @ np.abs(V)))
    if not strain.size:
        return V, np.zeros((model.C.shape[0], 0))
    if not model.definite:
        return _indefinite(model, V, strain, noise)
    Q = _more(model, np.zeros((len(strain), 0)), strain)
    _, omega, turn = la.svd(Q.T @ strain)
    felt = int((omega > noise.max(initial=0.0)).sum())
    # ascending, those that nothing resists first; the largest entry of each positive
    order = [*range(felt, len(turn)), *range(felt - 1, -1, -1)]
    V = V @ turn[order].T
    V = V * np.where(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])] < 0.0, -1.0, 1.0)
    return V, model.stress(V[:, len(turn) - felt :]) / omega[:felt][::-1]


def _indefinite(
    model: SecondOrder, V: np.ndarray, strain: np.ndarray, noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same where some stresses give energy: K_r = V_vᵀK V_v has both signs."""
    K = strain.T @ model.from_strain(strain)
    value, turn = la.eigh((K + K.T) / 2)
    order = np.argsort(np.abs(value), kind="stable")
    value, V = value[order], V @ turn[:, order]
    felt = np.abs(value) > ROUND_OFF * np.abs(value).max(initial=0.0) + noise.max(initial=0.0) ** 2
    return V, model.stress(V[:, felt]) / np.sqrt(np.abs(value[felt]))


def _more(model: SecondOrder, Q: np.ndarray, strain: np.ndarray) -> np.ndarray:
    """Stresses Q with QᵀC Q = ±I, and those of more strains."""
    for s in strain.T:
        q = model.from_strain(s[:, None])[:, 0]
        if not (size := float(np.sqrt(max(abs(q @ s), 0.0)))):
            continue
        q = q / size
        signs = np.sign(np.einsum("ik,ik->k", Q, model.C @ Q))
        left = q - Q @ (signs * (Q.T @ (model.C @ q)))
        if (length := float(np.sqrt(abs(left @ (model.C @ left))))) > DEPENDENT:
            q = left / length
            q = q - Q @ (signs * (Q.T @ (model.C @ q)))
            Q = np.column_stack([Q, q / np.sqrt(abs(q @ (model.C @ q)))])
    return Q


def _energy(model: SecondOrder, strain: np.ndarray) -> np.ndarray:
    """|sᵀC⁻¹s| of every column."""
    return np.asarray(np.abs(np.einsum("ik,ik->k", strain, model.from_strain(strain))))


# --- linear systems in few coordinates: congruence with a basis keeps what is skew, symmetric a ----------------------
#
# Linear systems in few coordinates: congruence with a basis keeps what is skew, symmetric and positive (46).


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
