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
from phloat.algebra.sparse import Matrix, csr, largest, signed_root, stacked
from phloat.errors import InputError

UNSTRAINED = 1e-8  # strain that is round-off, relative to its terms, of a motion whose frequency is below ROUND_OFF
ROUND_OFF = 1e-13  # frequency that is round-off, relative to that of the same terms of the strains without cancellation
ENTRY_ROUND_OFF = 1e-14  # round-off of an entry of Γ + R, relative to the largest entry of its row, over masses


@dataclass(frozen=True, eq=False)
class MassNormalised:
    """The free motions of a system in coordinates of unit mass: `rigid` ones, and `vectors` V with VᵀK V = S H S.

    Both are (n, motions); `size` is the diagonal of S; an H of None is the identity.
    """

    rigid: np.ndarray
    vectors: np.ndarray
    size: np.ndarray
    H: np.ndarray | None
    mass: np.ndarray  # the diagonal of M

    @classmethod
    def from_matrices(cls, E: Matrix, J: Matrix, G: Matrix, n: int) -> MassNormalised:
        """The coordinates of a system with n velocities; raises InputError if its mass or its compliance is singular."""
        M = E[:n, :n]
        try:
            root, sign, positive = signed_root(csr(E[n:, n:]))
        except la.LinAlgError:
            raise InputError("the compliance is not positive definite: some stress stores no energy") from None
        if not (M.diagonal() > 0.0).all():
            raise InputError("the mass matrix is singular on the free motions: some body moves without mass")
        order = np.argsort(-sign, kind="stable")
        count, definite = int((sign > 0).sum()), sp.diags_array(positive.astype(float))
        identity = sp.eye_array(len(sign))
        # strains of positive blocks enter unscaled, so that cancellation is seen; their roots are applied afterwards
        strain = ((definite + (identity - definite) @ root) @ J[n:, :n]).toarray()[order]
        kinematics = strain_kinematics(G[:, :n].toarray(), strain, M.diagonal(), count)
        elastic = kinematics.strained + kinematics.loaded
        late_root = csr((identity - definite) + definite @ root)[order][:, order]
        F = late_root @ kinematics.F[:, :elastic]
        Z = np.hstack([kinematics.Z[:, elastic:], kinematics.Z[:, :elastic]])  # rigid motions first
        rigid, V, N = _unit_mass(Z, csr(M), F, kinematics.rigid)
        size, rotation = jacobi(N[:count])
        V, negative = V @ rotation, N[count:] @ rotation
        if not negative.size:
            terms = np.linalg.norm(np.abs(late_root @ strain) @ np.abs(V), axis=0)
            is_strained = _has_strain(strain, V, M.diagonal(), size, terms)
            return cls(np.hstack([rigid, V[:, ~is_strained]]), V[:, is_strained], size[is_strained], None, M.diagonal())
        size[kinematics.strained :] = np.linalg.norm(negative[:, kinematics.strained :], axis=0)
        B = negative / size
        positive_part = np.diag((np.arange(elastic) < kinematics.strained).astype(float))
        return cls(rigid, V, size, positive_part - B.T @ B, M.diagonal())

    @property
    def H_root(self) -> np.ndarray | None:
        """T of H = T Tᵀ, or None if H is not positive."""
        if self.H is None:
            return np.eye(len(self.size))
        try:
            return np.asarray(la.cholesky(self.H, lower=True))
        except la.LinAlgError:
            return None

    def eigenpairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The eigenvalues of K v = μ v without the rigid motions, sorted by |μ|, and their vectors of unit mass, (n, modes)."""
        if self.H is None:
            order = np.argsort(self.size, kind="stable")
            return self.size[order] ** 2, self.vectors[:, order]
        if (T := self.H_root) is not None:
            omega, rotation = jacobi(T.T * self.size)
            return omega[::-1] ** 2, self.vectors @ rotation[:, ::-1]
        return self._indefinite(self.H)

    def _indefinite(self, H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`eigenpairs` for an indefinite H: large eigenvalues from K, small ones from its inverse, where each is accurate."""
        value, rotation = _by_size(*la.eigh(self.size[:, None] * H * self.size))
        inverse, back = la.eigh(la.inv(H) / self.size[:, None] / self.size)
        small, back = _by_size(1.0 / inverse, back)
        low = np.abs(small) < np.sqrt(np.abs(value[-1] * small[0]))
        mu, rotation = _by_size(np.where(low, small, value), np.where(low, back, rotation))
        return mu, self.vectors @ rotation


def _by_size(value: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues sorted by magnitude, and their vectors."""
    order = np.argsort(np.abs(value), kind="stable")
    return value[order], vectors[:, order]


def _has_strain(strain: np.ndarray, V: np.ndarray, mass: np.ndarray, size: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Whether each motion in V, of frequency `size`, has a strain (otherwise it is rigid).

    A motion whose frequency is round-off of its `terms` is strained only if a strain exceeds the round-off of its own terms and of
    a motion of unit mass: elimination over many elements accumulates more round-off than it records.
    """
    noise = UNSTRAINED * (np.abs(strain) @ np.abs(V)) + ROUND_OFF * (np.abs(strain) @ (1.0 / np.sqrt(mass)))[:, None]
    return np.asarray((size > ROUND_OFF * terms) | (np.abs(strain @ V) > noise).any(axis=0))


def jacobi(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The singular values of a, descending, each accurate to its own last digits, and its right singular vectors (columns).

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
    """Rigid motions and strained motions of unit mass, and the strains of the latter, from Z, whose first columns are rigid.

    By a QR factorisation of M^½ Z, heavy rows first and with column pivoting: row-wise stable (Cox and Higham, 1998), so that
    light bodies on long levers keep their digits.
    """
    W = _root(M) @ Z
    unit = 1.0 / np.linalg.norm(W, axis=0)
    W = (W * unit)[np.argsort(-np.abs(W * unit).max(axis=1, initial=0.0), kind="stable")]
    Q, R, first = la.qr(W[:, :rigid], pivoting=True)
    remainder = Q.T @ W[:, rigid:] if rigid else W
    N, second = la.qr(remainder[rigid:], mode="r", pivoting=True)
    N = N[: W.shape[1] - rigid]
    R = np.block([[R[:rigid], remainder[:rigid, second]], [np.zeros((len(N), rigid)), N]])
    V = la.solve_triangular(R, (Z * unit)[:, np.concatenate([first, rigid + second])].T, trans=1).T
    F = la.solve_triangular(N, (F * unit[rigid:])[:, second].T, trans=1).T
    return V[:, :rigid], V[:, rigid:], F


def _root(M: Matrix) -> np.ndarray:
    """Upper triangular R with RᵀR = M; raises InputError if M is not positive definite."""
    unit = 1.0 / np.sqrt(M.diagonal())
    try:
        return np.asarray(la.cholesky(unit[:, None] * M.toarray() * unit) / unit)
    except la.LinAlgError:
        raise InputError("the mass matrix is not positive definite: some body moves without mass") from None


@dataclass(frozen=True, eq=False)
class FirstOrder:
    """Eigenvalues and vectors (y, v) of the first-order form.

    `conserved` are the rigid motions of constant momentum; `rest` are the other rigid motions, `loose` in number, and the elastic
    ones. The velocities of the conserved motions are −`coupling` y.
    """

    value: np.ndarray
    v: np.ndarray
    y: np.ndarray
    conserved: np.ndarray
    rest: np.ndarray
    loose: int
    coupling: np.ndarray

    @classmethod
    def from_modes(cls, form: MassNormalised, D: Matrix) -> FirstOrder:
        """The eigenvalues of a system with D = Γ + R on its velocities."""
        conserved, loose = _momenta(form.rigid, D, form.mass)
        rest = np.hstack([loose, form.vectors])
        coupling = conserved.T @ (D @ form.vectors) / form.size
        H = np.eye(len(form.size)) if form.H is None else form.H
        form = replace(form, H=H + coupling.T @ coupling)
        value, v, y = _eigen(form, rest.T @ (D @ rest), loose.shape[1], damped=bool(largest(D + D.T)))
        return cls(value, v, y, conserved, rest, loose.shape[1], coupling)


def gyroscopic_modes(form: MassNormalised, gamma: Matrix) -> tuple[int, np.ndarray, np.ndarray]:
    """The number of pairs of zeros, one eigenvalue of each pair, zeros first, and the velocities of their modes."""
    x = FirstOrder.from_modes(form, gamma)
    chosen = np.flatnonzero((x.value.imag > 0) | ((x.value.imag == 0) & (x.value.real > 0)))
    size = np.maximum(np.linalg.norm(x.v[:, chosen], axis=0), 1e-300)
    moves = (x.rest @ x.v[:, chosen] - x.conserved @ (x.coupling @ x.y[:, chosen])) / size
    zero = np.hstack([x.conserved, x.rest[:, : x.loose : 2]])  # the others come in pairs, one of them at zero
    value = np.concatenate([np.zeros(zero.shape[1]), x.value[chosen]])
    return zero.shape[1], value, np.hstack([zero, moves])


def _momenta(rigid: np.ndarray, D: Matrix, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rigid motions of constant momentum, and the other rigid motions, which D couples or damps; all of unit mass."""
    if not rigid.shape[1]:
        return rigid, rigid
    D_r, size = rigid.T @ (D @ rigid), np.abs(rigid).T @ (_entry_sizes(D, np.sqrt(mass)) @ np.abs(rigid))
    D_r = np.where(np.abs(D_r) > CANCELLED * size, D_r, 0.0)
    if not D_r.any():
        return rigid, rigid[:, :0]
    ones = np.ones(len(D_r))
    drag, _ = signed_factor(csr(0.5 * (D_r + D_r.T)), csr(CANCELLED * size), ones)
    Z, _ = free_motions(stacked([[drag.T], [0.5 * (D_r - D_r.T)]]), ones)
    Q = la.qr(Z.toarray())[0]
    return rigid @ Q[:, : Z.shape[1]], rigid @ Q[:, Z.shape[1] :]


def _entry_sizes(D: Matrix, root: np.ndarray) -> np.ndarray:
    """|D| plus the round-off of its entries, as fractions of the largest entry of their row or column over masses."""
    scaled = np.abs(D.toarray()) / root / root[:, None]
    row = np.maximum(scaled.max(axis=1), scaled.max(axis=0))
    return np.asarray((scaled + ENTRY_ROUND_OFF / CANCELLED * np.minimum(row, row[:, None])) * root * root[:, None])


def _eigen(form: MassNormalised, D: np.ndarray, loose: int, damped: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The eigenvalues of the first-order form in the states (y, v), and the parts v and y of its vectors."""
    k = len(form.size)
    S = np.hstack([np.zeros((k, loose)), np.diag(form.size)])
    if not damped and (T := form.H_root) is not None:
        TS = T.T @ S
        value, vector = la.eigh(1j * np.block([[np.zeros((k, k)), TS], [-TS.T, 0.5 * (D.T - D)]]))
        return -1j * value, vector[k:], la.solve_triangular(T, vector[:k], lower=True, trans=1)
    assert form.H is not None
    value, vector = la.eig(np.block([[np.zeros((k, k)), S], [-(form.H @ S).T, -D]]))
    return value, vector[k:], vector[:k]
