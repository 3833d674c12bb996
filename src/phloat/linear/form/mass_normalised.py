"""Mass-normalised coordinates: q̈ + (Γ + R) q̇ + K q = 0 with unit mass and K in factors, which keeps its digits.

The free motions are separated (see `algebra.elimination`) into rigid ones, which strain nothing, and the others. With the strains
N of motions of unit mass, N₊ for stresses of positive energy and N₋ for those of negative energy (loads), and N₊ = U S Vᵀ,

    K = S H S,   H = 1 − Bᵀ B,   B = N₋ V S⁻¹,

in the coordinates V. H is of size one, however different the frequencies S are. If it is positive, H = T Tᵀ, the frequencies are
the singular values of Tᵀ S (one-sided Jacobi: each is accurate to its own last digits).

With gyroscopic forces and damping the problem is of first order: with y = S q the states are (y, v), ẏ = S v,
v̇ = −S H y − (Γ + R) v. A rigid motion x that is not damped, and not coupled by Γ with other rigid ones, conserves its momentum,
ẋ + (xᵀΓ) q = const: it is eliminated with its pair of zeros, which leaves the stiffness (xᵀΓ)ᵀ(xᵀΓ). If H = T Tᵀ is positive and
nothing is damped, the states (Tᵀy, v) have the skew matrix [[0, TᵀS], [−S T, −Γ]], and the frequencies are exactly real.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.elimination import CANCELLED, free_motions, signed_factor, strain_kinematics
from phloat.algebra.sparse import Matrix, csr, largest, signed_root
from phloat.errors import InputError

UNSTRAINED = 1e-8  # of the terms of a strain: round-off of a motion …
ROUND_OFF = 1e-13  # … whose frequency is so small relative to those that its strains would have if nothing cancelled
ROUNDED = 1e-14  # of the largest entry of its row of Γ + R, over masses: round-off of an entry


@dataclass(frozen=True, eq=False)
class MassNormalised:
    """`rigid` motions and the other `vectors` (n × modes, unit mass) with `size` S and H: K = S H S; None is the identity."""

    rigid: np.ndarray
    vectors: np.ndarray
    size: np.ndarray
    H: np.ndarray | None
    mass: np.ndarray  # the diagonal of M

    @classmethod
    def of(cls, E: Matrix, J: Matrix, G: Matrix, n: int) -> MassNormalised:
        """From the matrices of a system with n velocities; raises InputError if the mass or the compliance is singular."""
        M = E[:n, :n]
        try:
            root, sign, positive = signed_root(csr(E[n:, n:]))
        except la.LinAlgError:
            raise InputError("the compliance is not positive definite: some stress stores no energy") from None
        if not (M.diagonal() > 0.0).all():
            raise InputError("the mass matrix is singular on the free motions: some body moves without mass")
        order = np.argsort(-sign, kind="stable")
        felt, early = int((sign > 0).sum()), sp.diags_array(positive.astype(float))
        one = sp.eye_array(len(sign))
        # strains of positive blocks enter unscaled, so that cancellation is seen; their roots are applied afterwards
        strain = ((early + (one - early) @ root) @ J[n:, :n]).toarray()[order]
        moves = strain_kinematics(G[:, :n].toarray(), strain, M.diagonal(), felt)
        elastic = moves.strained + moves.loaded
        late = csr((one - early) + early @ root)[order][:, order]
        F = late @ moves.F[:, :elastic]
        Z = np.hstack([moves.Z[:, elastic:], moves.Z[:, :elastic]])  # rigid motions first
        rigid, V, N = _unit_mass(Z, csr(M), F, moves.rigid)
        size, turn = jacobi(N[:felt])
        V, pull = V @ turn, N[felt:] @ turn
        if not pull.size:
            terms = np.linalg.norm(np.abs(late @ strain) @ np.abs(V), axis=0)
            strained = _strained(strain, V, M.diagonal(), size, terms)
            return cls(np.hstack([rigid, V[:, ~strained]]), V[:, strained], size[strained], None, M.diagonal())
        size[moves.strained :] = np.linalg.norm(pull[:, moves.strained :], axis=0)
        B = pull / size
        own = np.diag((np.arange(elastic) < moves.strained).astype(float))
        return cls(rigid, V, size, own - B.T @ B, M.diagonal())

    @property
    def stable(self) -> np.ndarray | None:
        """T of H = T Tᵀ, or None if H is not positive."""
        if self.H is None:
            return np.eye(len(self.size))
        try:
            return np.asarray(la.cholesky(self.H, lower=True))
        except la.LinAlgError:
            return None

    def eigenpairs(self) -> tuple[np.ndarray, np.ndarray]:
        """μ, sorted by |μ|, and the vectors of K v = μ v, without the rigid ones."""
        if self.H is None:
            order = np.argsort(self.size, kind="stable")
            return self.size[order] ** 2, self.vectors[:, order]
        if (T := self.stable) is not None:
            omega, turn = jacobi(T.T * self.size)
            return omega[::-1] ** 2, self.vectors @ turn[:, ::-1]
        return self._indefinite(self.H)

    def _indefinite(self, H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Large eigenvalues from K, small ones from its inverse: each is inaccurate at the other end."""
        value, turn = _by_size(*la.eigh(self.size[:, None] * H * self.size))
        inverse, back = la.eigh(la.inv(H) / self.size[:, None] / self.size)
        small, back = _by_size(1.0 / inverse, back)
        low = np.abs(small) < np.sqrt(np.abs(value[-1] * small[0]))
        mu, turn = _by_size(np.where(low, small, value), np.where(low, back, turn))
        return mu, self.vectors @ turn


def _by_size(value: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues sorted by their size, and their vectors."""
    order = np.argsort(np.abs(value), kind="stable")
    return value[order], vectors[:, order]


def _strained(strain: np.ndarray, V: np.ndarray, mass: np.ndarray, size: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Which motions V of frequencies `size` have strains.

    A motion whose frequency is round-off of its `terms` has one only if a strain exceeds the round-off of its own terms and of a
    motion of unit mass: elimination over many elements accumulates more round-off than it records.
    """
    unknown = UNSTRAINED * (np.abs(strain) @ np.abs(V)) + ROUND_OFF * (np.abs(strain) @ (1.0 / np.sqrt(mass)))[:, None]
    return np.asarray((size > ROUND_OFF * terms) | (np.abs(strain @ V) > unknown).any(axis=0))


def jacobi(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All singular values, descending, each accurate to its own digits, and right singular vectors (columns) of a.

    For a = D₁ X D₂ with diagonal D₁, D₂ and well-conditioned X (Drmač and Veselić, 2008; LAPACK's dgejsv).
    """
    rows, columns = a.shape
    if not columns:
        return np.zeros(0), np.zeros((0, 0))
    tall = a if rows >= columns else np.vstack([a, np.zeros((columns - rows, columns))])
    # jobt=0 lets LAPACK transpose a square matrix whose rows are graded: 67 random chains of levers lose 7e-7 instead of 3e-5
    value, _, v, work, _, info = la.lapack.dgejsv(tall, joba=2, jobu=0, jobv=0, jobr=0, jobt=0, jobp=1)
    if info != 0:
        _, value, vt = la.svd(tall)
        return value, vt.T
    return value * (work[0] / work[1]), v


def _unit_mass(Z: np.ndarray, M: Matrix, F: np.ndarray, rigid: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rigid and other motions of unit mass, and the strains of the latter, from Z with the rigid motions first.

    By a QR factorisation of M^½ Z, heavy rows first and with column pivoting: row-wise stable (Cox and Higham, 1998), so that
    light bodies on long levers keep their digits.
    """
    W = _root(M) @ Z
    unit = 1.0 / np.linalg.norm(W, axis=0)
    W = (W * unit)[np.argsort(-np.abs(W * unit).max(axis=1, initial=0.0), kind="stable")]
    Q, R, first = la.qr(W[:, :rigid], pivoting=True)
    rest = Q.T @ W[:, rigid:] if rigid else W
    N, then = la.qr(rest[rigid:], mode="r", pivoting=True)
    N = N[: W.shape[1] - rigid]
    R = np.block([[R[:rigid], rest[:rigid, then]], [np.zeros((len(N), rigid)), N]])
    V = la.solve_triangular(R, (Z * unit)[:, np.concatenate([first, rigid + then])].T, trans=1).T
    F = la.solve_triangular(N, (F * unit[rigid:])[:, then].T, trans=1).T
    return V[:, :rigid], V[:, rigid:], F


def _root(M: Matrix) -> np.ndarray:
    """R with RᵀR = M."""
    unit = 1.0 / np.sqrt(M.diagonal())
    try:
        return np.asarray(la.cholesky(unit[:, None] * M.toarray() * unit) / unit)
    except la.LinAlgError:
        raise InputError("the mass matrix is not positive definite: some body moves without mass") from None


@dataclass(frozen=True, eq=False)
class FirstOrder:
    """Eigenvalues and vectors (y, v) of the first-order form.

    `conserved` are the rigid motions of constant momentum, `rest` the other rigid ones (`loose` of them) and the elastic ones;
    the conserved ones move by −`coupling` y.
    """

    value: np.ndarray
    v: np.ndarray
    y: np.ndarray
    conserved: np.ndarray
    rest: np.ndarray
    loose: int
    coupling: np.ndarray

    @classmethod
    def of(cls, at: MassNormalised, D: Matrix) -> FirstOrder:
        """D = Γ + R on the velocities."""
        conserved, loose = _momenta(at.rigid, D, at.mass)
        rest = np.hstack([loose, at.vectors])
        coupling = conserved.T @ (D @ at.vectors) / at.size
        H = np.eye(len(at.size)) if at.H is None else at.H
        at = replace(at, H=H + coupling.T @ coupling)
        value, v, y = _eigen(at, rest.T @ (D @ rest), loose.shape[1], damped=bool(largest(D + D.T)))
        return cls(value, v, y, conserved, rest, loose.shape[1], coupling)


def gyroscopic_modes(at: MassNormalised, gamma: Matrix) -> tuple[int, np.ndarray, np.ndarray]:
    """The number of pairs of zeros, one eigenvalue of each pair, zeros first, and the velocities of their modes."""
    x = FirstOrder.of(at, gamma)
    chosen = np.flatnonzero((x.value.imag > 0) | ((x.value.imag == 0) & (x.value.real > 0)))
    size = np.maximum(np.linalg.norm(x.v[:, chosen], axis=0), 1e-300)
    moves = (x.rest @ x.v[:, chosen] - x.conserved @ (x.coupling @ x.y[:, chosen])) / size
    zero = np.hstack([x.conserved, x.rest[:, : x.loose : 2]])  # the others come in pairs, one of them at zero
    value = np.concatenate([np.zeros(zero.shape[1]), x.value[chosen]])
    return zero.shape[1], value, np.hstack([zero, moves])


def _momenta(rigid: np.ndarray, D: Matrix, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rigid motions of constant momentum, and the others, which D couples or damps; all of unit mass."""
    if not rigid.shape[1]:
        return rigid, rigid
    D_r, size = rigid.T @ (D @ rigid), np.abs(rigid).T @ (_magnitudes(D, np.sqrt(mass)) @ np.abs(rigid))
    D_r = np.where(np.abs(D_r) > CANCELLED * size, D_r, 0.0)
    if not D_r.any():
        return rigid, rigid[:, :0]
    one = np.ones(len(D_r))
    drag, _ = signed_factor(0.5 * (D_r + D_r.T), CANCELLED * size, one)
    Z, _ = free_motions(np.vstack([drag.T, 0.5 * (D_r - D_r.T)]), one)
    Q = la.qr(Z)[0]
    return rigid @ Q[:, : Z.shape[1]], rigid @ Q[:, Z.shape[1] :]


def _magnitudes(D: Matrix, root: np.ndarray) -> np.ndarray:
    """|D| and the round-off of its entries: a part of the largest of the row and column, each over its masses."""
    scaled = np.abs(D.toarray()) / root / root[:, None]
    row = np.maximum(scaled.max(axis=1), scaled.max(axis=0))
    return np.asarray((scaled + ROUNDED / CANCELLED * np.minimum(row, row[:, None])) * root * root[:, None])


def _eigen(at: MassNormalised, D: np.ndarray, loose: int, damped: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues of the states (y, v), and their parts v and y."""
    k = len(at.size)
    S = np.hstack([np.zeros((k, loose)), np.diag(at.size)])
    if not damped and (T := at.stable) is not None:
        up = T.T @ S
        value, vector = la.eigh(1j * np.block([[np.zeros((k, k)), up], [-up.T, 0.5 * (D.T - D)]]))
        return -1j * value, vector[k:], la.solve_triangular(T, vector[:k], lower=True, trans=1)
    assert at.H is not None
    value, vector = la.eig(np.block([[np.zeros((k, k)), S], [-(at.H @ S).T, -D]]))
    return value, vector[k:], vector[:k]
