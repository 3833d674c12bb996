"""Craig and Bampton's coordinates: modes with all interfaces held, and the static motions of each interface.

    K_ii Φ = M_ii Φ Ω²,      K_ii Ψ = −K_ib R,      q = Φ a + Ψ r

An interface moves as one rigid piece (`Tied`: q_b = R r) or is represented by its mean motion (`Averaged`: r = L q, with
multipliers). The span contains the six rigid motions exactly, so that a frame is chosen afterwards by dropping columns: those
of the frame's interface (`held_at`), or all that moves the mean axes (`mean_axes`). One factorisation of K is enough: rigid
motions that remain when the ties are held (a body with averaged interfaces only, or none) are pinned at as few coordinates as
possible, and a small dense system then makes the forces of the pins vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from phloat.algebra.factors import factorised
from phloat.algebra.sparse import Matrix, csr
from phloat.errors import AccuracyError, InputError, unknown, whole_number
from phloat.linear.analysis.shift_invert import ShiftInvert

DENSE = 600  # coordinates up to which modes come from a dense eigenproblem
LOOSE = 1e-9  # of unit columns: larger motions count as not held
ROUND_OFF = 1e-13  # of the terms of a sum
NEGATIVE = "the stiffness is not positive: with interfaces held some motion takes no energy, or gives some; is the body one piece?"


class Tied(NamedTuple):
    """An interface that moves as a rigid piece: q[coordinates] = R r, R with six columns (or fewer, if it has fewer motions)."""

    coordinates: np.ndarray
    R: np.ndarray


class Averaged(NamedTuple):
    """An interface that may deform, by its mean motion: r = L q, L with six rows (or fewer, if it has fewer motions)."""

    L: Matrix | np.ndarray


Interface = Tied | Averaged


@dataclass(frozen=True, eq=False)
class CraigBampton:
    """q = V y. Columns of V: rigid motions that no interface holds, fixed-interface modes, then the motions of every interface.

    `omega` are the frequencies of the columns with all interfaces held: first those of the modes, then inertial ones.
    """

    V: np.ndarray
    omega: np.ndarray
    loose: int
    columns: Mapping[str, slice]
    fixed: FixedInterfaces

    def held_at(self, frame: str) -> np.ndarray:
        """The columns that do not move one interface: deformation in its frame. Raises InputError if it leaves rigid motions."""
        if frame not in self.columns:
            raise InputError(unknown("interface", frame, self.columns))
        if count := self.fixed.rigid_motions_left[frame]:
            raise InputError(
                f"interface {frame!r} leaves {count} rigid motions; take one with points off a line, or mean axes"
            )
        return np.delete(self.V, self.columns[frame], axis=1)

    def mean_axes(self, M: Matrix, rigid: np.ndarray) -> np.ndarray:
        """Columns V of unit mass that span all deformation without momentum: rigidᵀM V = 0."""
        V, rigid = self.V / mass_norms(self.V, M), orthonormal_span(rigid)
        for _ in range(2):  # the second sweep removes the round-off of the first
            V = V - rigid @ la.solve(rigid.T @ (M @ rigid), rigid.T @ (M @ V), assume_a="pos")
        _, turn = la.eigh(V.T @ (M @ V))
        V = V @ turn[:, rigid.shape[1] :]  # drops the null vectors, which are the rigid motions of the span
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
    """Craig and Bampton's coordinates of a body with n × n matrices and rigid motions (n × 6, K rigid = 0; n × 0 if it is held).

    `modes` is the number of lowest modes with every interface held; without interfaces these are elastic modes of the free body.
    `inertial` forces (n × any number), if given, add the responses K_ii⁻¹M Ψ to the inertia of the static motions and to these
    forces. A box with two tied ends, its ten lowest frequencies with the ends free: 1.4 % high with 20 modes, 0.2 % with 80,
    and 0.002 % with 20 modes and the 12 inertial ones.
    """
    _require_interfaces(M.shape[0], interfaces, modes)
    fixed = FixedInterfaces(K, M, interfaces, rigid)
    omega, Phi = fixed.modes(modes)
    Psi = {name: fixed.static(name) for name in interfaces}
    if inertial is not None:
        more, shapes = fixed.inertial(np.hstack([inertial, *(M @ block for block in Psi.values())]), Phi)
        omega, Phi = np.append(omega, more), np.hstack([Phi, shapes])
    columns, start = {}, fixed.rest.shape[1] + len(omega)
    for name, block in Psi.items():
        columns[name] = slice(start, start + block.shape[1])
        start += block.shape[1]
    V = np.hstack([fixed.rest, Phi, *Psi.values()])
    out = CraigBampton(V, omega, fixed.rest.shape[1], columns, fixed)
    if (cosine := _coupling(K, out)) > 1e-6:
        raise AccuracyError(f"fixed-interface modes and static motions are coupled by {cosine:.1e}; K is near singular")
    return out


class FixedInterfaces:
    """A body with all its interfaces held: static motions and modes from one factorisation.

    Solves K x + Gᵀλ = f, G x = g on the coordinates that no tie holds; G are the averaged rows and the momenta of motions that no
    interface holds.
    """

    def __init__(self, K: Matrix, M: Matrix, interfaces: Mapping[str, Interface], rigid: np.ndarray):
        self.K, self.M, self.n = K, M, M.shape[0]
        ties = {name: i for name, i in interfaces.items() if isinstance(i, Tied)}
        self.bound = np.concatenate([np.zeros(0, dtype=int), *(t.coordinates for t in ties.values())])
        self.inside = np.setdiff1d(np.arange(self.n), self.bound)
        self.motions: dict[str, np.ndarray] = {}  # motions of each interface by its columns, (6, columns)
        self.rigid_motions_left: dict[str, int] = {}  # number of rigid motions if one interface alone is held
        self.tie_motions: dict[str, np.ndarray] = {}  # columns of the ties, zero inside
        self.rows: dict[str, slice] = {}
        G, rigid = [np.zeros((0, self.n))], orthonormal_span(rigid)
        for name, interface in interfaces.items():
            if isinstance(interface, Tied):
                self.motions[name] = independent_motions(np.asarray(interface.R))
                self.tie_motions[name] = np.zeros((self.n, self.motions[name].shape[1]))
                self.tie_motions[name][interface.coordinates] = interface.R @ self.motions[name]
                self.rigid_motions_left[name] = null(rigid[interface.coordinates]).shape[1]
            else:
                L = csr(interface.L).toarray()
                self.motions[name] = independent_motions(L.T)
                start = sum(len(g) for g in G)
                G.append(self.motions[name].T @ L)
                self.rows[name] = slice(start, start + len(G[-1]))
                self.rigid_motions_left[name] = null(G[-1] @ rigid / norms(G[-1].T)[:, None]).shape[1]
        averaged = np.vstack(G)
        loose = rigid @ null(rigid[self.bound])  # rigid motions that no tie holds
        self.rest = loose @ null(averaged @ loose / norms(averaged.T)[:, None])  # and no averaged interface either
        self.G = np.vstack([averaged, (self.M @ self.rest).T])
        self._factor(loose[self.inside])

    def _factor(self, N: np.ndarray) -> None:
        """Pins the loose motions N at as many coordinates and prepares the small system: G A Gᵀ, G N and scales."""
        pins = la.qr(N.T, mode="r", pivoting=True)[1][: N.shape[1]] if N.size else []
        self.place = np.delete(np.arange(len(self.inside)), pins)  # indices into `inside` of what is not pinned
        self.solve_pinned = _solver(self.K, self.inside[self.place])
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
        """The motion A f inside under forces f inside, with the pins held."""
        out = np.zeros_like(f)
        if f.shape[1]:
            out[self.place] = self.solve_pinned(f[self.place])
        return out

    def solve(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """The motion x inside, for forces f inside and values g of the rows G."""
        return self._solved(f, g)[0]

    def solve_refined(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """`solve` with iterative refinement: pins may bend the body far more than means do, and x is then a small difference."""
        x, lam = self._solved(f, g)
        for _ in range(2 if self.small.size else 0):
            residual = f - (self.K @ self._spread(x))[self.inside] - self.G_inside.T @ lam
            correction = self._solved(residual, g - self.G_inside @ x)
            x, lam = x + correction[0], lam + correction[1]
        return x

    def _solved(self, f: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The motion x inside and the multipliers λ."""
        x = self._flexible(f)
        if not self.small.size:
            return x, np.zeros((0, f.shape[1]))
        #  G A f − G A Gᵀλ + G N ρ = g   and   NᵀGᵀλ = Nᵀf
        right_side = np.vstack([(self.G_inside @ x - g) / self.scale, -(self.N.T @ f)])
        solution = self.size[:, None] * la.solve(self.small, self.size[:, None] * right_side, assume_a="sym")
        m = len(g)
        return np.asarray(x - self.AG @ solution[:m] + self.scale * self.N @ solution[m:]), solution[:m]

    def static(self, name: str) -> np.ndarray:
        """The motion of all coordinates for unit motions of one interface, the others held, (n, columns)."""
        if name in self.tie_motions:
            Q = self.tie_motions[name]
            return self.response(0.0 * Q, Q)
        g = np.zeros((len(self.G), self.motions[name].shape[1]))
        g[self.rows[name]] = np.eye(g.shape[1])
        return self._spread(self.solve_refined(np.zeros((len(self.inside), g.shape[1])), g))

    def response(self, f: np.ndarray, Q: np.ndarray | None = None) -> np.ndarray:
        """The motion of all coordinates under forces f (n, columns), with interfaces held or ties moved by Q (zero inside)."""
        if Q is None:
            return self._spread(self.solve_refined(f[self.inside], np.zeros((len(self.G), f.shape[1]))))
        return Q + self._spread(self.solve_refined((f - (self.K @ Q))[self.inside], -(self.G @ Q)))

    def modes(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The `count` lowest frequencies (rad/s) and modes of unit mass, (n, count)."""
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
        """The quasi-static response of the omitted modes: K⁻¹ forces without the modes Φ, as Ritz modes of unit mass."""
        forces = self._unbalanced(forces)
        V = self.response(forces) if forces.size else forces
        sizes = mass_norms(V, self.M)
        for _ in range(2):
            V = V - Phi @ (Phi.T @ (self.M @ V))
        V = V[:, mass_norms(V, self.M) > 1e-6 * sizes]  # smaller rests are in the span of the modes
        V = V / mass_norms(V, self.M)
        size, turn = la.eigh(V.T @ (self.M @ V)) if V.size else (np.zeros(0), np.zeros((0, 0)))
        V = V @ (turn / np.sqrt(np.maximum(size, 1e-300)))[:, size > 1e-9]
        for name, rows in self.rows.items():  # scaling has amplified motions of the means: remove them again
            V = V - self.static(name) @ (self.G[rows] @ V)
        mu, turn = la.eigh(V.T @ (self.K @ V)) if V.size else (np.zeros(0), np.zeros((0, 0)))
        return np.sqrt(mu), V @ turn

    def _unbalanced(self, forces: np.ndarray) -> np.ndarray:
        """The forces without those that only accelerate loose rigid motions: the response to these would be round-off."""
        if not self.rest.size or not forces.size:
            return forces
        balanced = self.M @ self.rest
        remainder = forces - balanced @ la.lstsq(balanced, forces)[0]
        return remainder[:, norms(remainder) > LOOSE * norms(forces)]

    def _dense(self, M: Matrix, count: int) -> tuple[np.ndarray, np.ndarray]:
        """ω² and modes inside from a dense eigenproblem."""
        n = len(self.inside)
        F = self.solve_refined(np.eye(n), np.zeros((len(self.G), n)))
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
        """ω² and modes inside by inverse Lanczos iteration."""
        inverted = _Inverted(self, M)
        value, v = inverted.run(count + 4)
        v = inverted.with_missed_modes(value, v)
        K_v = np.asarray((self.K @ self._spread(v))[self.inside])
        mu = np.einsum("ik,ik->k", v, K_v)
        order = np.argsort(mu)[:count]
        mu, v = mu[order], v[:, order]
        if mu[0] <= 0.0:
            raise InputError(NEGATIVE)
        if (error := inverted.residual(mu, v)) > 1e-6:
            raise AccuracyError(f"fixed-interface modes are off by {error:.1e}; ask for more; is the body one piece?")
        return mu, v

    def _spread(self, x: np.ndarray) -> np.ndarray:
        """x inside as a motion of all coordinates, zero on the ties."""
        out = np.zeros((self.n, x.shape[1]))
        out[self.inside] = x
        return out


class _Inverted(ShiftInvert):
    """Shift-invert at zero with the factorisation of `FixedInterfaces`."""

    def __init__(self, fixed: FixedInterfaces, M: Matrix):
        self.fixed, self.M, self.shift, self.n = fixed, M, 0.0, M.shape[0]
        self.free = self.n - len(fixed.G)

    def solve(self, b: np.ndarray) -> np.ndarray:
        f = b.reshape(self.n, -1)
        return self.fixed.solve(f, np.zeros((len(self.fixed.G), f.shape[1]))).reshape(b.shape)

    corrected = solve

    def below(self, value: float) -> int:
        return -1  # not known: the factorisation is that at zero


def _solver(K: Matrix, free: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The function f → x of K x = f on the coordinates `free`, all others at zero. Raises InputError if K is singular."""
    try:
        return factorised(csr(K[free][:, free]))
    except RuntimeError:
        raise InputError("the stiffness is singular beyond six rigid motions: some part of the body is loose") from None


def _require_interfaces(n: int, interfaces: Mapping[str, Interface], modes: int) -> None:
    """Raises InputError if interfaces do not fit n coordinates or share coordinates, or if `modes` is no number of modes."""
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
    """The largest cosine of a mode and a static motion in the inner product of K, less round-off; exactly it is zero."""
    stop = basis.loose + len(basis.omega)
    Phi, Psi = basis.V[:, basis.loose : stop], basis.V[:, stop:]
    K_Psi = K @ Psi
    # a single interface moves the body rigidly: then there is no energy to compare with, and K Ψ is round-off
    noise = ROUND_OFF * norms(Phi)[:, None] * norms(abs(K) @ np.abs(Psi))
    size = np.sqrt(np.maximum(np.einsum("ik,ik->k", Psi, K_Psi), 1e-300))
    excess = np.maximum(np.abs(Phi.T @ K_Psi) - noise, 0.0)
    return float((excess / basis.omega[:, None] / size).max(initial=0.0))


# --- columns that are motions or fields: norms, orthonormal bases, null spaces -------------------------------------------


def orthonormal_span(rigid: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the span of rigid motions (a plate without membrane has three, not six)."""
    u, size, _ = la.svd(rigid / norms(rigid), full_matrices=False) if rigid.size else (rigid, np.zeros(0), None)
    return np.asarray(u[:, size > LOOSE])


def independent_motions(R: np.ndarray) -> np.ndarray:
    """Motions r (columns) for which the columns R r are independent: unit motions, or combinations if some depend on others."""
    nonzero = np.flatnonzero(np.abs(R).max(axis=0, initial=0.0) > LOOSE * max(np.abs(R).max(initial=0.0), 1e-300))
    _, size, turn = la.svd(R[:, nonzero] / norms(R[:, nonzero]), full_matrices=False)
    unit = np.eye(R.shape[1])[:, nonzero]
    return unit if (size > LOOSE).all() else unit / norms(R[:, nonzero]) @ turn[size > LOOSE].T


def null(rows: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the null space of rows, whose lengths are 1 at most."""
    columns = rows.shape[1]
    if not len(rows) or not columns:
        return np.eye(columns)
    _, size, turn = la.svd(la.qr(rows, mode="r")[0][:columns], full_matrices=True)  # no square matrix of all rows
    return np.asarray(turn[int((size > LOOSE).sum()) :].T)


def norms(a: np.ndarray) -> np.ndarray:
    """Lengths of columns; 1 for zero columns."""
    size = np.sqrt(np.einsum("ik,ik->k", a, a))
    return np.where(size > 0, size, 1.0)


def mass_norms(V: np.ndarray, M: Matrix) -> np.ndarray:
    """√(vᵀM v) of every column."""
    return np.sqrt(np.einsum("ik,ik->k", V, M @ V))
