"""Craig and Bampton's coordinates: modes with all interfaces held, and the static motion of each interface.

    K_ii Φ = M_ii Φ Ω²,      K_ii Ψ = −K_ib R,      q = Φ a + Ψ r

An interface moves as one rigid piece (`Tied`: q_b = R r) or is felt in the mean (`Averaged`: r = L q, with multipliers). The
span holds the six rigid motions exactly, so that a frame is chosen afterwards by leaving columns out: those of the frame's own
interface (`held_at`), or all that moves the mean axes (`mean_axes`). One factorisation of K serves everything: what is loose
when the ties are held (a body with averaged interfaces only, or none) is pinned at as few coordinates as it takes, and a small
dense system moves the pins to where they do not push.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import Matrix, csr, factorised
from phloat.errors import AccuracyError, InputError, unknown, whole_number
from phloat.linear.analysis.shift_invert import ShiftInvert

DENSE = 600  # coordinates up to which modes come from a dense eigenproblem
LOOSE = 1e-9  # of unit columns: what counts as a motion that is not held
ROUND_OFF = 1e-13  # of the terms of a sum
NEGATIVE = "the stiffness is not positive: with interfaces held some motion takes no energy, or gives some; is the body one piece?"


class Tied(NamedTuple):
    """An interface that moves as a rigid piece: q[coordinates] = R r, R with six columns (or as many as it can feel)."""

    coordinates: np.ndarray
    R: np.ndarray


class Averaged(NamedTuple):
    """An interface by its mean motion, free to deform: r = L q, L with six rows (or as many as there are)."""

    L: Matrix | np.ndarray


Interface = Tied | Averaged


@dataclass(frozen=True, eq=False)
class CraigBampton:
    """q = V y: columns of loose rigid motions (if interfaces leave any), fixed-interface modes, then six of every interface.

    `omega` are the frequencies of the inner columns, all interfaces held: first those of the modes, then inertial ones.
    """

    V: np.ndarray
    omega: np.ndarray
    loose: int
    columns: Mapping[str, slice]
    held: FixedInterfaces

    def held_at(self, frame: str) -> np.ndarray:
        """The columns that do not move one interface: deformation as seen from there."""
        if frame not in self.columns:
            raise InputError(unknown("interface", frame, self.columns))
        if left := self.held.leaves[frame]:
            raise InputError(
                f"interface {frame!r} leaves {left} rigid motions; take one with points off a line, or mean axes"
            )
        return np.delete(self.V, self.columns[frame], axis=1)

    def mean_axes(self, M: Matrix, rigid: np.ndarray) -> np.ndarray:
        """Columns of unit mass that span all deformation without momentum: rigidᵀM V = 0."""
        V, rigid = self.V / mass_norms(self.V, M), orthonormal_span(rigid)
        for _ in range(2):  # the second sweep takes what round-off left
            V = V - rigid @ la.solve(rigid.T @ (M @ rigid), rigid.T @ (M @ V), assume_a="pos")
        _, turn = la.eigh(V.T @ (M @ V))
        V = V @ turn[:, rigid.shape[1] :]  # the rigid motions were in the span: exactly they are gone
        return V / mass_norms(V, M)


def fixed_interface_basis(
    K: Matrix,
    M: Matrix,
    interfaces: Mapping[str, Interface],
    *,
    modes: int,
    rigid: np.ndarray,
    inertial: np.ndarray | None = None,
) -> CraigBampton:
    """The coordinates of a body with n × n matrices and rigid motions (n × 6, K rigid = 0; n × 0 if it is held).

    `modes` are the lowest ones with every interface held. Without interfaces they are the elastic modes of the free body.
    `inertial` forces (n × any number), where given, add the responses K_ii⁻¹M Ψ to the inertia of the static motions and to these
    forces. A box with two tied ends, its ten lowest frequencies with the ends free: 1.4 % high with 20 modes, 0.2 % with 80,
    and 0.002 % with 20 modes and the 12 inertial ones.
    """
    _check(M.shape[0], interfaces, modes)
    held = FixedInterfaces(K, M, interfaces, rigid)
    omega, Phi = held.modes(modes)
    Psi = {name: held.static(name) for name in interfaces}
    if inertial is not None:
        more, shapes = held.inertial(np.hstack([inertial, *(M @ block for block in Psi.values())]), Phi)
        omega, Phi = np.append(omega, more), np.hstack([Phi, shapes])
    columns, start = {}, held.rest.shape[1] + len(omega)
    for name, block in Psi.items():
        columns[name] = slice(start, start + block.shape[1])
        start += block.shape[1]
    V = np.hstack([held.rest, Phi, *Psi.values()])
    out = CraigBampton(V, omega, held.rest.shape[1], columns, held)
    if (miss := _coupling(K, out)) > 1e-6:
        raise AccuracyError(f"fixed-interface modes and static motions are coupled by {miss:.1e}; K is near singular")
    return out


class FixedInterfaces:
    """A body with all its interfaces held: static motions and modes from one factorisation.

    Solves K x + Gᵀλ = f, G x = g on the coordinates no tie holds; G are the averaged rows, and the momenta of motions that no
    interface holds.
    """

    def __init__(self, K: Matrix, M: Matrix, interfaces: Mapping[str, Interface], rigid: np.ndarray):
        self.K, self.M, self.n = K, M, M.shape[0]
        ties = {name: i for name, i in interfaces.items() if isinstance(i, Tied)}
        self.bound = np.concatenate([np.zeros(0, dtype=int), *(t.coordinates for t in ties.values())])
        self.inside = np.setdiff1d(np.arange(self.n), self.bound)
        self.motions: dict[str, np.ndarray] = {}  # of each interface, as its columns have them, (6, columns)
        self.leaves: dict[str, int] = {}  # rigid motions that are left where an interface alone is held
        self.pulled: dict[str, np.ndarray] = {}  # the ties' columns, zero inside
        self.rows: dict[str, slice] = {}
        G, rigid = [np.zeros((0, self.n))], orthonormal_span(rigid)
        for name, interface in interfaces.items():
            if isinstance(interface, Tied):
                self.motions[name] = independent_motions(np.asarray(interface.R))
                self.pulled[name] = np.zeros((self.n, self.motions[name].shape[1]))
                self.pulled[name][interface.coordinates] = interface.R @ self.motions[name]
                self.leaves[name] = null(rigid[interface.coordinates]).shape[1]
            else:
                L = csr(interface.L).toarray()
                self.motions[name] = independent_motions(L.T)
                start = sum(len(g) for g in G)
                G.append(self.motions[name].T @ L)
                self.rows[name] = slice(start, start + len(G[-1]))
                self.leaves[name] = null(G[-1] @ rigid / norms(G[-1].T)[:, None]).shape[1]
        averaged = np.vstack(G)
        loose = rigid @ null(rigid[self.bound])  # what no tie holds
        self.rest = loose @ null(averaged @ loose / norms(averaged.T)[:, None])  # and no mean either
        self.G = np.vstack([averaged, (self.M @ self.rest).T])
        self._factor(loose[self.inside])

    def _factor(self, N: np.ndarray) -> None:
        """Pin the loose motions N at as many coordinates; G A Gᵀ, G N and the scales of the small system."""
        pins = la.qr(N.T, mode="r", pivoting=True)[1][: N.shape[1]] if N.size else []
        self.place = np.delete(np.arange(len(self.inside)), pins)  # of the unpinned among those inside
        self.solve_pinned = _factored(self.K, self.inside[self.place])
        G = self.G[:, self.inside]
        self.N, self.G_inside = N, G
        self.AG = self._flexible(G.T)
        scale = np.abs(self.AG).max(initial=0.0) / max(np.abs(G).max(initial=0.0), 1e-300) or 1.0  # of a compliance
        small = np.block([[G @ self.AG / scale, -G @ self.N], [-(G @ self.N).T, np.zeros((N.shape[1],) * 2)]])
        self.scale, self.size = scale, np.concatenate([1.0 / norms(G.T), np.ones(N.shape[1])])
        self.small = self.size[:, None] * small * self.size
        if self.small.size and not np.linalg.cond(self.small) < 1e12:
            raise InputError("averaged interfaces repeat each other; see that no two share all their points")

    def _flexible(self, f: np.ndarray) -> np.ndarray:
        """A f with the pins held."""
        out = np.zeros_like(f)
        if f.shape[1]:
            out[self.place] = self.solve_pinned(f[self.place])
        return out

    def solve(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """x inside, for forces inside and values of G."""
        return self._solved(f, g)[0]

    def solve_again(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """The same, corrected: pins may bend the body far more than means do, and x is then a small difference."""
        x, lam = self._solved(f, g)
        for _ in range(2 if self.small.size else 0):
            left = f - (self.K @ self._spread(x))[self.inside] - self.G_inside.T @ lam
            more = self._solved(left, g - self.G_inside @ x)
            x, lam = x + more[0], lam + more[1]
        return x

    def _solved(self, f: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x inside, and λ."""
        x = self._flexible(f)
        if not self.small.size:
            return x, np.zeros((0, f.shape[1]))
        #  G A f − G A Gᵀλ + G N ρ = g   and   NᵀGᵀλ = Nᵀf
        right = np.vstack([(self.G_inside @ x - g) / self.scale, -(self.N.T @ f)])
        found = self.size[:, None] * la.solve(self.small, self.size[:, None] * right, assume_a="sym")
        m = len(g)
        return np.asarray(x - self.AG @ found[:m] + self.scale * self.N @ found[m:]), found[:m]

    def static(self, name: str) -> np.ndarray:
        """The motion of the whole body for unit motions of one interface, the others held."""
        if name in self.pulled:
            Q = self.pulled[name]
            return self.under(0.0 * Q, Q)
        g = np.zeros((len(self.G), self.motions[name].shape[1]))
        g[self.rows[name]] = np.eye(g.shape[1])
        return self._spread(self.solve_again(np.zeros((len(self.inside), g.shape[1])), g))

    def under(self, f: np.ndarray, Q: np.ndarray | None = None) -> np.ndarray:
        """The motion of the whole body under forces f (columns), its interfaces held, or its ties moved by Q (zero inside)."""
        if Q is None:
            return self._spread(self.solve_again(f[self.inside], np.zeros((len(self.G), f.shape[1]))))
        return Q + self._spread(self.solve_again((f - (self.K @ Q))[self.inside], -(self.G @ Q)))

    def modes(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The lowest frequencies and modes of unit mass."""
        free = len(self.inside) - len(self.G)
        if count > free:
            raise InputError(
                f"modes is {count}, but with its interfaces held the body has only {max(free, 0)}; ask for fewer"
            )
        M = csr(self.M[self.inside][:, self.inside])
        out = np.zeros((self.n, count))
        if not count:
            return np.zeros(0), out
        dense = len(self.inside) <= DENSE or count + 8 > free // 2
        mu, out[self.inside] = self._dense(M, count) if dense else self._lanczos(M, count)
        return np.sqrt(mu), out

    def inertial(self, forces: np.ndarray, Phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K⁻¹ forces without the modes Φ, as Ritz modes of unit mass: the quasi-static response of the modes that are left out."""
        forces = self._unbalanced(forces)
        V = self.under(forces) if forces.size else forces
        whole = mass_norms(V, self.M)
        for _ in range(2):
            V = V - Phi @ (Phi.T @ (self.M @ V))
        V = V[:, mass_norms(V, self.M) > 1e-6 * whole]  # else the modes say it all
        V = V / mass_norms(V, self.M)
        size, turn = la.eigh(V.T @ (self.M @ V)) if V.size else (np.zeros(0), np.zeros((0, 0)))
        V = V @ (turn / np.sqrt(np.maximum(size, 1e-300)))[:, size > 1e-9]
        for name, rows in self.rows.items():  # small remainders were made large: take what moves the means out again
            V = V - self.static(name) @ (self.G[rows] @ V)
        mu, turn = la.eigh(V.T @ (self.K @ V)) if V.size else (np.zeros(0), np.zeros((0, 0)))
        return np.sqrt(mu), V @ turn

    def _unbalanced(self, forces: np.ndarray) -> np.ndarray:
        """The forces without those that only accelerate what is loose: the response to these is nothing but round-off."""
        if not self.rest.size or not forces.size:
            return forces
        balanced = self.M @ self.rest
        left = forces - balanced @ la.lstsq(balanced, forces)[0]
        return left[:, norms(left) > LOOSE * norms(forces)]

    def _dense(self, M: Matrix, count: int) -> tuple[np.ndarray, np.ndarray]:
        n = len(self.inside)
        F = self.solve_again(np.eye(n), np.zeros((len(self.G), n)))
        value, vector = la.eigh(M.toarray())
        root = vector * np.sqrt(np.maximum(value, 0.0))  # massless coordinates are allowed
        inverse, y = la.eigh(root.T @ (F + F.T) @ root / 2)
        if inverse[0] < -1e-9 * inverse[-1]:
            raise InputError(NEGATIVE)
        inverse, y = inverse[n - count :], y[:, n - count :]
        if inverse[0] <= 1e-14 * inverse[-1]:
            raise InputError(f"modes is {count}, but fewer have mass; ask for fewer")
        v = F @ (root @ y) / inverse
        return 1.0 / inverse[::-1], (v / mass_norms(v, M))[:, ::-1]

    def _lanczos(self, M: Matrix, count: int) -> tuple[np.ndarray, np.ndarray]:
        inverted = _Inverted(self, M)
        value, v = inverted.run(count + 4)
        v = inverted.with_missed_modes(value, v)
        K_v = np.asarray((self.K @ self._spread(v))[self.inside])
        mu = np.einsum("ik,ik->k", v, K_v)
        order = np.argsort(mu)[:count]
        mu, v = mu[order], v[:, order]
        if mu[0] <= 0.0:
            raise InputError(NEGATIVE)
        if (miss := inverted.residual(mu, v)) > 1e-6:
            raise AccuracyError(f"fixed-interface modes are off by {miss:.1e}; ask for more; is the body one piece?")
        return mu, v

    def _spread(self, x: np.ndarray) -> np.ndarray:
        out = np.zeros((self.n, x.shape[1]))
        out[self.inside] = x
        return out


class _Inverted(ShiftInvert):
    """Shift-invert at zero with a factorisation that is there already."""

    def __init__(self, held: FixedInterfaces, M: Matrix):
        self.held, self.M, self.shift, self.n = held, M, 0.0, M.shape[0]
        self.free = self.n - len(held.G)

    def solve(self, b: np.ndarray) -> np.ndarray:
        f = b.reshape(self.n, -1)
        return self.held.solve(f, np.zeros((len(self.held.G), f.shape[1]))).reshape(b.shape)


def _factored(K: Matrix, free: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The solution of K x = f on some coordinates, all others at zero."""
    try:
        return factorised(csr(K[free][:, free]))
    except RuntimeError:
        raise InputError("the stiffness is singular beyond six rigid motions: some part of the body is loose") from None


def _check(n: int, interfaces: Mapping[str, Interface], modes: int) -> None:
    whole_number("modes", modes, 0)
    owner: dict[int, str] = {}
    for name, interface in interfaces.items():
        if isinstance(interface, Averaged):
            if interface.L.shape[1] != n:
                raise InputError(f"interface {name!r} has rows for {interface.L.shape[1]} coordinates, not {n}")
            continue
        for c in interface.coordinates.tolist():
            if owner.setdefault(c, name) != name:
                raise InputError(f"interfaces {owner[c]!r} and {name!r} share a rigid part; make one a mean")


def _coupling(K: Matrix, basis: CraigBampton) -> float:
    """The largest cosine of a mode with a static motion, in the product of K: zero in exact numbers, here beyond round-off."""
    stop = basis.loose + len(basis.omega)
    Phi, Psi = basis.V[:, basis.loose : stop], basis.V[:, stop:]
    K_Psi = K @ Psi
    # a lone interface moves the body rigidly: then there is no energy to compare with, and K Ψ is round-off
    noise = ROUND_OFF * norms(Phi)[:, None] * norms(abs(K) @ np.abs(Psi))
    size = np.sqrt(np.maximum(np.einsum("ik,ik->k", Psi, K_Psi), 1e-300))
    excess = np.maximum(np.abs(Phi.T @ K_Psi) - noise, 0.0)
    return float((excess / basis.omega[:, None] / size).max(initial=0.0))


# --- columns that are motions or fields: norms, orthonormal bases, null spaces -------------------------------------------


def orthonormal_span(rigid: np.ndarray) -> np.ndarray:
    """Orthonormal columns of the same span (a plate without membrane has three rigid motions, not six)."""
    u, size, _ = la.svd(rigid / norms(rigid), full_matrices=False) if rigid.size else (rigid, np.zeros(0), None)
    return np.asarray(u[:, size > LOOSE])


def independent_motions(R: np.ndarray) -> np.ndarray:
    """Motions that are independent as columns of R: unit motions, or combinations if some depend on others."""
    felt = np.flatnonzero(np.abs(R).max(axis=0, initial=0.0) > LOOSE * max(np.abs(R).max(initial=0.0), 1e-300))
    _, size, turn = la.svd(R[:, felt] / norms(R[:, felt]), full_matrices=False)
    unit = np.eye(R.shape[1])[:, felt]
    return unit if (size > LOOSE).all() else unit / norms(R[:, felt]) @ turn[size > LOOSE].T


def null(rows: np.ndarray) -> np.ndarray:
    """Orthonormal coefficients c with rows c = 0, for rows of (at most) unit size."""
    columns = rows.shape[1]
    if not len(rows) or not columns:
        return np.eye(columns)
    _, size, turn = la.svd(la.qr(rows, mode="r")[0][:columns], full_matrices=True)  # no square matrix of all rows
    return np.asarray(turn[int((size > LOOSE).sum()) :].T)


def norms(a: np.ndarray) -> np.ndarray:
    """Lengths of columns, 1 for zero ones."""
    size = np.sqrt(np.einsum("ik,ik->k", a, a))
    return np.where(size > 0, size, 1.0)


def mass_norms(V: np.ndarray, M: Matrix) -> np.ndarray:
    """√(vᵀM v) of every column."""
    return np.sqrt(np.einsum("ik,ik->k", V, M @ V))
