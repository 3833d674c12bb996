"""The mass of a floating body: six arrays, assembled once, from which the full M(η) of (10) is computed.

    m,  s₀ = ∫ρx,  J₀ = ∫ρ[x]ᵀ[x],  S = ∫ρΦ,  X_ab,k = ∫ρ x_a Φ_b,k,  W_ab,kl = ∫ρ Φ_a,k Φ_b,l

A body is a cloud of weighted points (quadrature points, lumped masses): every array is a sum over the same points, so
M(η) is a Gram matrix. `rigid_sections` add their second moments E, turned by R = I + [ψ] + ½[ψ]² with ψ = Ψη, to all of
J₀, X, W and M_ff. Left out is the symmetric part of their ω–η̇ block, ω·d/dt(½ ψ × Jψ): at constant ω a total derivative.

Where the displacement is quadratic, u_f = Φη + ½ ηΦ₂η (`Shortening`), two more arrays enter,

    S₂ = ∫ρΦ₂,  X₂_ab,kl = ∫ρ x_a Φ₂_b,kl:    s_u = s₀ + Sη + ½ηS₂η,   W_ab + ½(X₂_ab + X₂_ba) in place of W_ab in J_u

and kinetic energy about the mass centre is kept to second order in (η, η̇), so that M_ff and c keep their form.

The functions below `Inertia` take plain arrays, so that a compiled kernel can use them as they are. Shapes: S (3, n),
X and Y (3, 3, n), W (3, 3, n, n), M_ff (n, n), η (n).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from phloat.algebra.cross import cross, skew
from phloat.algebra.sparse import Matrix, csr, entry_rows, submatrix, summed, weighted, zero_matrix
from phloat.errors import InputError

MOST_COORDINATES = 1000  # dense W of a body that moves: 9 n² numbers, 72 MB here


class DeformedInertia(NamedTuple):
    """Arrays of a deformed body: static moment s_u and S = ∂s_u/∂η, first moments Y, the ω–η̇ block c, and M(η)."""

    s_u: np.ndarray
    S: np.ndarray
    Y: np.ndarray
    c: np.ndarray
    M: np.ndarray


class Shortening(NamedTuple):
    """S₂ = ∫ρΦ₂ (3, n, n) and the symmetric part of X₂ in a and b (3, 3, n, n) of a quadratic displacement ½ ηΦ₂η."""

    S: np.ndarray
    X: np.ndarray

    def projected(self, V: np.ndarray) -> Shortening:
        """The same in reduced coordinates, η = V η_r."""
        return Shortening(V.T @ self.S @ V, V.T @ self.X @ V)


@dataclass(frozen=True, eq=False)
class Inertia:
    """T = ½ wᵀM(η)w with w = (v_P, ω, η̇), from the six arrays about P in body axes."""

    m: float
    s0: np.ndarray
    J0: np.ndarray
    S: np.ndarray
    X: np.ndarray
    W_ab: tuple[tuple[Matrix, ...], ...]
    M_s: Matrix  # rotary inertia of sections
    second: Shortening | None = None

    @property
    def E0(self) -> np.ndarray:
        """Second moment ∫ρ x xᵀ = ½ tr(J₀) I − J₀."""
        return 0.5 * np.trace(self.J0) * np.eye(3) - self.J0

    @cached_property
    def M_ff(self) -> Matrix:
        """∫ρ ΦᵀΦ + rotary inertia of sections."""
        return csr(sum((self.W_ab[a][a] for a in range(3)), self.M_s))

    @cached_property
    def W(self) -> np.ndarray:
        """W_ab,kl, with X₂, as a dense array (3, 3, n, n). Raises InputError if n is too large for that."""
        n = self.S.shape[1]
        if not n:
            return np.zeros((3, 3, 0, 0))
        if n > MOST_COORDINATES:
            raise InputError(
                f"{n} deformation coordinates are too many for a moving body (at most {MOST_COORDINATES}); use reduced(modes=…)"
            )
        W = np.array([[self.W_ab[a][b].toarray() for b in range(3)] for a in range(3)])
        return W if self.second is None else W + self.second.X

    @cached_property
    def M_ff_dense(self) -> np.ndarray:
        """M_ff as a dense array."""
        return self.M_ff.toarray()

    @cached_property
    def central(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """E₀, X and W about the mass centre: of the fields x − s₀/m, Φ − S/m and Φ₂ − S₂/m."""
        s0, S = self.s0, self.S
        W = self.W - S[:, None, :, None] * S[None, :, None, :] / self.m
        if self.second is not None:
            half = 0.5 * s0[:, None, None, None] * self.second.S / self.m
            W = W - half - half.transpose(1, 0, 2, 3)
        return self.E0 - np.outer(s0, s0) / self.m, self.X - s0[:, None, None] * S[None] / self.m, W

    def static_moment(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """s_u (3,) and its derivative S (3, n) at η."""
        if self.second is None:
            return self.s0 + self.S @ eta, self.S
        S_2 = self.second.S @ eta
        return self.s0 + (self.S + 0.5 * S_2) @ eta, self.S + S_2

    def at(self, eta: np.ndarray) -> DeformedInertia:
        """The arrays of the body deformed by η (n,)."""
        s_u, S = self.static_moment(eta)
        if self.second is not None:
            return self._shortened(eta, s_u, S)
        Y = first_moments(self.X, self.W, eta)
        J_u, c = rotary_inertia(self.E0, self.X, Y, eta), coupling(Y)
        return DeformedInertia(s_u, S, Y, c, mass_matrix(self.m, s_u, J_u, S, c, self.M_ff_dense))

    def _shortened(self, eta: np.ndarray, s_u: np.ndarray, S: np.ndarray) -> DeformedInertia:
        """The arrays with a quadratic displacement: those about the mass centre, moved to P exactly."""
        E0, X, W = self.central
        Y, arm = first_moments(X, W, eta), skew(s_u)
        J_u = rotary_inertia(E0, X, Y, eta) + arm.T @ arm / self.m
        c, M_ff = coupling(Y) + arm @ S / self.m, self.M_ff_dense + (S.T @ S - self.S.T @ self.S) / self.m
        return DeformedInertia(s_u, S, Y, c, mass_matrix(self.m, s_u, J_u, S, c, M_ff))

    def momenta(
        self, eta: np.ndarray, v_P: np.ndarray, omega: np.ndarray, rates: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Linear and angular momentum p_t and p_r (9) about P in body axes, (times, 3) each, of motions (times, …)."""
        if self.second is not None:
            w = np.hstack([v_P, omega, rates])
            p = np.array([self.at(q).M[:6] @ w_k for q, w_k in zip(eta, w, strict=True)])
            return p[:, :3], p[:, 3:]
        s_u, none = self.s0 + eta @ self.S.T, np.zeros((len(eta), 3, 3, 0))
        Y = self.X + (np.einsum("ablk,tl->tabk", self.W, eta) if eta.shape[1] else none)
        E = self.E0 + np.einsum("bak,tk->tab", self.X, eta) + np.einsum("tabk,tk->tab", Y, eta)
        J = np.trace(E, axis1=1, axis2=2)[:, None, None] * np.eye(3) - E
        c = np.stack([Y[:, 1, 2] - Y[:, 2, 1], Y[:, 2, 0] - Y[:, 0, 2], Y[:, 0, 1] - Y[:, 1, 0]], axis=1)
        p_r = np.cross(s_u, v_P) + np.einsum("tij,tj->ti", J, omega) + np.einsum("tik,tk->ti", c, rates)
        return self.m * v_P + np.cross(omega, s_u) + rates @ self.S.T, p_r

    def momentum_slope(self, eta: np.ndarray, w: np.ndarray) -> np.ndarray:
        """∂(M(η) w)/∂η for a constant w = (v_P, ω, η̇), (6 + n) × n."""
        (s_u, S), (_, X, W) = self.static_moment(eta), self.central
        Y, v, omega, rates = first_moments(X, W, eta), w[:3], w[3:6], w[6:]
        S_2 = np.zeros((*S.shape, len(eta))) if self.second is None else self.second.S
        p_t = self.m * v + np.cross(omega, s_u) + S @ rates
        by_p_t = skew(omega) @ S + rates @ S_2
        out = np.vstack([by_p_t, (skew(s_u) @ by_p_t - skew(p_t) @ S) / self.m, S.T @ by_p_t / self.m])
        out[6:] += np.einsum("akl,a->kl", S_2, p_t) / self.m
        trace = 2.0 * (Y[0, 0] + Y[1, 1] + Y[2, 2])
        out[3:6] += np.outer(omega, trace) - np.einsum("abk,b->ak", Y + Y.transpose(1, 0, 2), omega)
        turning = np.stack([W[1, 2] - W[2, 1], W[2, 0] - W[0, 2], W[0, 1] - W[1, 0]]).transpose(0, 2, 1)  # ∂c_k/∂η_l
        out[3:6] += np.einsum("akl,k->al", turning, rates)
        out[6:] += np.einsum("akl,a->kl", turning, omega)
        return out

    def at_rest(self, active: Sequence[int] = range(6)) -> Matrix:
        """M(0), sparse: the rows `active` of (v_P, ω), then those of η̇."""
        return summed(*self.entries_at_rest(active), (len(active) + self.S.shape[1],) * 2)

    def entries_at_rest(self, active: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, columns and values of M(0), to be summed where they coincide."""
        rigid, index = len(active), list(active)
        M_r = np.zeros((6, 6 + self.S.shape[1]))
        M_r[:3, :3], M_r[:3, 3:6], M_r[:3, 6:] = self.m * np.eye(3), skew(self.s0).T, self.S
        M_r[3:6, :3], M_r[3:6, 3:6], M_r[3:6, 6:] = skew(self.s0), self.J0, coupling(self.X)
        M_r = M_r[index][:, index + list(range(6, M_r.shape[1]))]
        i, j = np.nonzero(M_r)
        elastic, value = j >= rigid, M_r[i, j]
        parts = [self.M_s, *(self.W_ab[a][a] for a in range(3))]
        rows = [i, j[elastic], *(entry_rows(part) + rigid for part in parts)]
        columns = [j, i[elastic], *(part.indices + rigid for part in parts)]
        values = [value, value[elastic], *(part.data for part in parts)]
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)

    def selected(self, keep: np.ndarray) -> Inertia:
        """The inertia in the deformation coordinates of a mask."""
        W = tuple(tuple(submatrix(w, keep, keep) for w in row) for row in self.W_ab)
        second = self.second and self.second.projected(np.eye(len(keep))[:, keep])
        M_s = submatrix(self.M_s, keep, keep)
        return replace(self, S=self.S[:, keep], X=self.X[:, :, keep], W_ab=W, M_s=M_s, second=second)

    def projected(self, V: Matrix | np.ndarray, V_2: np.ndarray | None = None) -> Inertia:
        """The inertia in reduced coordinates, η = V η_r + ½ η_rV₂η_r with V₂ (n, reduced, reduced): S V, X V, VᵀW_abV, VᵀM_sV."""
        dense = V if isinstance(V, np.ndarray) else V.toarray()
        W = tuple(tuple(csr(V.T @ w @ V) for w in row) for row in self.W_ab)
        second = self.second and self.second.projected(dense)
        if V_2 is not None:
            S_2, X_2 = np.tensordot(self.S, V_2, 1), np.tensordot(self.X, V_2, 1)
            second = Shortening(S_2, 0.5 * (X_2 + X_2.transpose(1, 0, 2, 3)))
        return replace(self, S=self.S @ V, X=self.X @ dense, W_ab=W, M_s=csr(V.T @ self.M_s @ V), second=second)


@cache
def turned_moments() -> np.ndarray:
    """The tensor T_ab,de,cf of the second-order part Σ T_ab,de,cf ψ_d χ_e E_cf of R E Rᵀ and of its ω–η̇ block.

        [ψ]E[χ]ᵀ + ¼ (S E + E S),   S = [ψ][χ] + [χ][ψ] = χψᵀ + ψχᵀ − 2 ψ·χ I

    The first term is that of linear kinematics; its antisymmetric part is the gyroscopic term E(ψ × χ).
    """
    e, I = np.zeros((3, 3, 3)), np.eye(3)
    e[0, 1, 2] = e[1, 2, 0] = e[2, 0, 1] = 1.0
    e[0, 2, 1] = e[2, 1, 0] = e[1, 0, 2] = -1.0
    linear = np.einsum("acd,bfe->abdecf", e, e)
    S = np.einsum("ae,gd->agde", I, I) + np.einsum("ad,ge->agde", I, I) - 2.0 * np.einsum("ag,de->agde", I, I)
    SE = np.einsum("acde,fb->abdecf", S, I)
    return linear + 0.25 * (SE + SE.transpose(1, 0, 2, 3, 4, 5))


def rigid_sections(
    E: Sequence[np.ndarray], turn: Sequence[Matrix | np.ndarray], E_yz: np.ndarray | None = None
) -> Inertia:
    """The rotary inertia of sections with second moments E at points, which rotate by ψ = (ψ_x, ψ_y, ψ_z), points × coordinates.

    E = ∫ρ x xᵀ is given by its diagonal (∫ρx², ∫ρy², ∫ρz²), and by ∫ρyz if the axes are not principal.
    X = E[ψ]ᵀ,  W from `turned_moments`,  J = tr(E) I − E,  M_s = ΨᵀJΨ; the trace ΣW_aa is zero: rotation does not change tr E.
    """
    n, T = turn[0].shape[1], turned_moments()
    none = turn[0].T @ (0.0 * turn[0])  # dense or sparse, as the rotations are
    X, W, M_s, J0 = np.zeros((3, 3, n)), [[none] * 3 for _ in range(3)], none, np.zeros((3, 3))
    entries = [(a, a, moment) for a, moment in enumerate(E)]
    entries += [(1, 2, E_yz), (2, 1, E_yz)] if E_yz is not None and E_yz.any() else []
    for a, f, moment in entries:
        b, c = (f + 1) % 3, (f + 2) % 3
        X[a, b] += turn[c].T @ moment
        X[a, c] -= turn[b].T @ moment
        for d, e in zip(*np.nonzero(T[..., a, f].any(axis=(0, 1)) & moment.any()), strict=True):
            share, gram = T[:, :, d, e, a, f], turn[d].T @ weighted(turn[e], moment)
            for i, j in zip(*np.nonzero(share), strict=True):
                W[i][j] = W[i][j] + share[i, j] * gram
            if part := int(a == f and d == e) - int(a == d and f == e):  # of J
                M_s = M_s + part * gram
        J0[a, f] -= moment.sum()
    J0 -= np.trace(J0) * np.eye(3)
    return Inertia(0.0, np.zeros(3), J0, np.zeros((3, n)), X, tuple(tuple(csr(w) for w in row) for row in W), csr(M_s))


def six_arrays(
    x: np.ndarray, mass: np.ndarray | Matrix, Phi: Sequence[Matrix | np.ndarray], sections: Inertia | None = None
) -> Inertia:
    """The six arrays of masses at points x (points, 3) with displacements Φ = (Φ_x, Φ_y, Φ_z), each points × coordinates.

    `mass` is one number for each point, or the consistent mass matrix of nodes: then x and Φ are nodal values of fields.
    """
    n = Phi[0].shape[1]
    heavy = [weighted(p, mass) if mass.ndim == 1 else mass @ p for p in Phi]
    heavy_x = mass[:, None] * x if mass.ndim == 1 else mass @ x
    second = x.T @ heavy_x
    J0 = np.trace(second) * np.eye(3) - second
    X = np.array([[heavy[b].T @ x[:, a] for b in range(3)] for a in range(3)]).reshape(3, 3, n)
    W = [[csr(Phi[a].T @ heavy[b]) for b in range(3)] for a in range(3)]
    M_s = zero_matrix(n, n)
    if sections is not None:
        J0, X, M_s = J0 + sections.J0, X + sections.X, sections.M_s
        W = [[csr(w + rotary) for w, rotary in zip(*rows, strict=True)] for rows in zip(W, sections.W_ab, strict=True)]
    return Inertia(
        m=float(mass.sum()),
        s0=heavy_x.sum(axis=0),
        J0=J0,
        S=np.array([w.sum(axis=0) for w in heavy]).reshape(3, n),
        X=X,
        W_ab=tuple(tuple(row) for row in W),
        M_s=M_s,
    )


def rigid_inertia(mass: float, center: np.ndarray, inertia: np.ndarray) -> Inertia:
    """The inertia of a rigid body, given about its mass centre and shifted to P (Steiner)."""
    empty, J0 = zero_matrix(0, 0), inertia + mass * skew(center).T @ skew(center)
    return Inertia(mass, mass * center, J0, np.zeros((3, 0)), np.zeros((3, 3, 0)), ((empty,) * 3,) * 3, empty)


# --- plain arrays from here on ---------------------------------------------------------------------------------------


def first_moments(X: np.ndarray, W: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Y_ab,k = ∫ρ (x + u_f)_a Φ_b,k = X_ab,k + W_ab,lk η_l (mind the order l, k)."""
    Y = X.copy()
    for a in range(3):
        for b in range(3):
            Y[a, b] += np.dot(eta, W[a, b])
    return Y


def rotary_inertia(E0: np.ndarray, X: np.ndarray, Y: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """J_u = tr(E_u) I − E_u,  E_u = E₀ + Xη + (Xη)ᵀ + Wηη = E₀ + (Xη)ᵀ + Yη."""
    E_u = E0.copy()
    for a in range(3):
        for b in range(3):
            E_u[a, b] += np.dot(Y[a, b], eta) + np.dot(X[b, a], eta)
    return (E_u[0, 0] + E_u[1, 1] + E_u[2, 2]) * np.eye(3) - E_u


def coupling(Y: np.ndarray) -> np.ndarray:
    """c_k = ∫ρ (x + u_f) × Φ_k = ε_cab Y_ab,k: the ω–η̇ block."""
    c = np.empty((3, Y.shape[2]))
    c[0] = Y[1, 2] - Y[2, 1]
    c[1] = Y[2, 0] - Y[0, 2]
    c[2] = Y[0, 1] - Y[1, 0]
    return c


def mass_matrix(
    m: float, s_u: np.ndarray, J_u: np.ndarray, S: np.ndarray, c: np.ndarray, M_ff: np.ndarray
) -> np.ndarray:
    """(10) for w = (v_P, ω, η̇)."""
    n = S.shape[1]
    M = np.zeros((6 + n, 6 + n))
    for a in range(3):
        M[a, a] = m
    M[3, 1], M[3, 2], M[4, 2] = -s_u[2], s_u[1], -s_u[0]
    M[4, 0], M[5, 0], M[5, 1] = s_u[2], -s_u[1], s_u[0]
    M[0:3, 3:6] = M[3:6, 0:3].T
    M[3:6, 3:6] = J_u
    M[0:3, 6:] = S
    M[3:6, 6:] = c
    M[6:, 0:3] = S.T
    M[6:, 3:6] = c.T
    M[6:, 6:] = M_ff
    return M


def whirl(W: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """∫ρ v_f × Φ_k = ε_cab W_ab,lk η̇_l, (3, n)."""
    return coupling(first_moments(np.zeros(W.shape[:3]), W, rates))


def gyration(S: np.ndarray, Y: np.ndarray, whirl: np.ndarray, v_P: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """∫{2 p_f + ρ v_f} × Φ_k of (14), (3, n), with p_f = ρ (v_P + ω × (x + u_f) + v_f)."""
    n = S.shape[1]
    out = np.empty((3, n))
    for k in range(n):
        trace = Y[0, 0, k] + Y[1, 1, k] + Y[2, 2, k]
        spin = Y[:, 0, k] * omega[0] + Y[:, 1, k] * omega[1] + Y[:, 2, k] * omega[2] - trace * omega
        out[:, k] = 2.0 * (cross(v_P, S[:, k]) + spin) + 3.0 * whirl[:, k]
    return out


def kinetic_gradient(S: np.ndarray, Y: np.ndarray, whirl: np.ndarray, v_P: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """∂T/∂η_k = ∫ p_f × ω · Φ_k = v_P · (ω × S_k) + |ω|² tr Y_k − ωᵀY_kω − ω · ∫ρ v_f × Φ_k."""
    out = np.dot(cross(v_P, omega), S) - np.dot(omega, whirl)
    for a in range(3):
        for b in range(3):
            out -= omega[a] * omega[b] * Y[a, b]
        out += np.dot(omega, omega) * Y[a, a]
    return out
