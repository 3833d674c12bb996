"""Natural frequencies, poles and mode shapes.

A lossless (v | σ) system is a symmetric problem in disguise: with M and C the two blocks of E and L the coupling,
ω are the singular values of C^(-½) Lᵀ Z M^(-½) on the free motions Z. That form squares nothing, so rigid modes come out as zeros.
Large systems use shift-invert on the saddle [[K − sM, Gᵀ], [G, 0]] with K = L C⁻¹ Lᵀ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, block_inverse, csr, largest, stacked, zeros
from phloat.errors import AccuracyError, InputError, unknown
from phloat.linear.eliminate import free_motion
from phloat.linear.phdae import LinearPHDAE, linear_only
from phloat.linear.poles import coupled, damping_of, joint_poles, own_poles, refined

DENSE_VELOCITIES = 800  # up to here all modes are computed, densely
DEFAULT_COUNT = 20  # of the lowest modes of larger systems
BLOCK_STEPS = 200
RIGID = 1e-12  # of the highest frequency: what counts as zero in the dense form, which squares nothing


@dataclass(frozen=True, eq=False)
class Modes:
    """ω (rad/s, ascending, the rigid ones first as 0) of the undamped system, and its shapes in the rows of `system`."""

    system: LinearPHDAE
    omega: np.ndarray
    rigid: int
    vectors: np.ndarray  # velocities of each mode, split × modes, of unit mass

    @property
    def elastic(self) -> np.ndarray:
        """The frequencies above the rigid ones."""
        return self.omega[self.rigid :]

    @cached_property
    def poles(self) -> np.ndarray:
        """The damped pole of each mode, the one with Im ≥ 0; of an overdamped mode's two real ones, the slower.

        Where damping couples modes, as many poles as modes, sorted by size.
        """
        if self.system.lossless:
            return 1j * self.omega
        D = self.vectors.T @ (damping_of(self.system) @ self.vectors)
        if not coupled(self.system, self.vectors):
            return own_poles(self.omega, np.diag(D))
        if len(self.omega) == self.system.split - self.system.multipliers.size:
            return joint_poles(self.omega, D)[0]
        if self.system.split <= DENSE_VELOCITIES:
            return _dense(self.system, None).poles[: len(self.omega)]
        projected, shapes = joint_poles(self.omega, D)
        return refined(self.system, projected, self.vectors @ shapes)

    def shape(self, k: int, name: str) -> np.ndarray:
        """Mode k as motion of a body (points × 3, inertial axes) or as the twist of a port (body axes), of unit modal mass."""
        if not isinstance(k, (int, np.integer)) or not -len(self.omega) <= k < len(self.omega):
            raise InputError(f"no mode {k!r}; there are {len(self.omega)}, counted from 0")
        e = np.zeros(self.system.rows.size)
        e[: self.vectors.shape[0]] = self.vectors[:, k]
        if name in self.system.fields:
            return self.system.fields[name].of(e)
        if name in self.system.ports:
            return np.asarray(self.system.B[:, self.system.ports[name]].T @ e)
        raise InputError(unknown("body or port", name, [*self.system.fields, *self.system.ports]))

    def __len__(self) -> int:
        return len(self.omega)

    def __getitem__(self, index: Any) -> Any:
        return self.omega[index]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.omega, dtype=dtype)

    def __repr__(self) -> str:
        shown = ", ".join(f"{w:.6g}" for w in self.elastic[:6])
        return f"Modes({self.rigid} rigid, then {shown}{', …' if len(self.elastic) > 6 else ''} rad/s)"


def modes(system: LinearPHDAE, count: int | None = None) -> Modes:
    """The `count` lowest modes (rigid ones included); all of a small system, 20 of a large one when not said.

    Driven ports stand still.
    """
    linear_only(system)
    if system.split < 0 or largest(system.J[: system.split, : system.split]):
        raise InputError("modes need rows in the order (v | σ) without gyroscopic coupling among the velocities")
    if count is not None and (not isinstance(count, (int, np.integer)) or count < 1):
        raise InputError(f"count is {count}; ask for at least one mode")
    small = system.split <= DENSE_VELOCITIES or system.split == system.rows.size  # no stress, no stiffness
    if small or (count or DEFAULT_COUNT) > system.split // 4:
        return _dense(system, count)
    return _sparse(system, count or DEFAULT_COUNT)


def _blocks(system: LinearPHDAE) -> tuple[Matrix, Matrix, Matrix]:
    n = system.split
    return csr(system.E[:n, :n]), csr(system.E[n:, n:]), csr(-system.J[:n, n:])


def _dense(system: LinearPHDAE, count: int | None) -> Modes:
    M, C, L = _blocks(system)
    Z = csr(free_motion(system)[: system.split, : -L.shape[1] or None])
    try:
        mass = la.cholesky((Z.T @ M @ Z).toarray(), lower=True)
    except la.LinAlgError:
        raise InputError("the mass matrix is singular on the free motions: some body moves without mass") from None
    try:
        compliance = la.cholesky(C.toarray(), lower=True)
    except la.LinAlgError:
        raise InputError("the compliance is not positive definite: some stress stores no energy") from None
    scaled = la.solve_triangular(mass, (Z.T @ L).toarray(), lower=True)  # M^(-½) Zᵀ L
    scaled = la.solve_triangular(compliance, scaled.T, lower=True).T
    u, value, _ = la.svd(scaled, full_matrices=True)
    omega = np.zeros(u.shape[1])
    omega[: len(value)] = value
    order = np.argsort(omega, kind="stable")
    omega, u = omega[order], u[:, order]
    rigid = int((omega <= RIGID * max(omega[-1:], default=0.0)).sum()) if omega.size else 0
    omega[:rigid] = 0.0
    vectors = Z @ la.solve_triangular(mass, u, lower=True, trans=1)
    stop = len(omega) if count is None else min(count, len(omega))
    return Modes(system, omega[:stop], min(rigid, stop), vectors[:, :stop])


def _sparse(system: LinearPHDAE, count: int) -> Modes:
    M, C, L = _blocks(system)
    inverse = block_inverse(C)
    if inverse is None:
        raise InputError("the compliance is not local to elements; eliminate and use count=None")
    n = system.split
    G = csr(system.G[:, :n])
    K = csr(L @ inverse @ L.T)
    scale = 1e-9 * largest(K.diagonal()) / largest(M.diagonal())
    wanted = count + 4
    for _ in range(8):  # a shift just below zero, of the size of the lowest elastic eigenvalue
        inverted = _ShiftInvert(K, M, G, -scale)
        value, v = inverted.run(wanted)
        stiff = value[value > 1e-6 * scale]
        if stiff.size and 1e-3 * stiff[0] <= scale <= 10 * stiff[0]:
            break
        if stiff.size:
            scale = stiff[0]
        else:  # as many rigid modes as were asked for, or more
            wanted *= 2
    else:
        raise AccuracyError(
            "no shift near the lowest elastic mode was found; reduce the system or eliminate its joints"
        )
    v = inverted.completed(value, v)
    squared = np.einsum("ik,ik->k", L.T @ v, inverse @ (L.T @ v))
    order = np.argsort(squared)
    squared, v = squared[order], v[:, order]
    rigid = int((squared < 1e-6 * scale).sum())
    gap = np.abs(G @ v).max(initial=0.0) / np.abs(v).max()
    if gap > 1e-7:
        raise AccuracyError(f"modes miss the joints by {gap:.1e}")
    omega = np.sqrt(np.maximum(squared, 0.0))
    omega[:rigid] = 0.0
    return Modes(system, omega[:count], min(rigid, count), v[:, :count])


class _ShiftInvert:
    """The lowest eigenvalues of K v = μ M v + Gᵀλ, G v = 0, from one factorisation of the saddle at a shift."""

    def __init__(self, K: Matrix, M: Matrix, G: Matrix, shift: float):
        self.M, self.shift, self.n = M, shift, K.shape[0]
        joints = G.shape[0]
        self.size, self.free = self.n + joints, self.n - joints
        weight = largest(K - shift * M)
        saddle = stacked([[K - shift * M, weight * G.T], [weight * G, zeros(joints, joints)]])
        self.factor = spla.splu(saddle.tocsc())
        self.mass = stacked([[M, None], [None, zeros(joints, joints)]])

    def completed(self, value: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Modes that one Krylov sequence found, and those of a cluster that it missed."""
        count = len(value)
        while v.shape[1] < self.free - 1:
            more, _ = self.run(1, v, tolerance=1e-2)
            if more[0] > 0.98 * value[-1]:
                return v
            more, w = self.run(3, v)
            value, v = np.sort(np.append(value, more))[:count], np.hstack([v, w])
        return v

    def run(self, count: int, known: np.ndarray | None = None, tolerance: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Lanczos on what is M-orthogonal to the known modes: eigenvalues, ascending, and velocities of unit mass."""
        known = np.zeros((self.n, 0)) if known is None else known
        count = min(count, self.free - known.shape[1] - 1)
        weighted = self.M @ known

        def solve(b: np.ndarray) -> np.ndarray:
            x = self.factor.solve(b)
            x[: self.n] -= known @ (weighted.T @ x[: self.n])
            return x

        operator = spla.LinearOperator((self.size, self.size), solve, dtype=float)
        start = solve(self.mass @ np.random.default_rng(known.shape[1]).normal(size=self.size))
        krylov = min(max(2 * count + 1, 20), self.free - known.shape[1])
        options = {"sigma": self.shift, "OPinv": operator, "v0": start, "ncv": krylov, "tol": tolerance}
        try:
            value, vector = spla.eigsh(self.mass, k=count, M=self.mass, **options)
        except spla.ArpackError:  # fewer distinct eigenvalues than asked for: one sequence cannot span their modes
            value, vector = self._by_blocks(solve, count, krylov)
        v = vector[: self.n]
        v = v / np.sqrt(np.einsum("ik,ik->k", v, self.M @ v))
        order = np.argsort(value)
        return value[order], v[:, order]

    def _by_blocks(
        self, solve: Callable[[np.ndarray], np.ndarray], count: int, size: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Subspace iteration: slower than Lanczos, and indifferent to how often an eigenvalue repeats."""
        x = np.random.default_rng(1).normal(size=(self.size, size))
        last = np.full(count, np.inf)
        for _ in range(BLOCK_STEPS):
            x = np.linalg.qr(solve(self.mass @ x))[0]
            y = solve(self.mass @ x)
            left, right = y.T @ (self.mass @ x), y.T @ (self.mass @ y)  # Ritz values of (K − sM)⁻¹M in the span of y
            left, unit = (left + left.T) / 2, 1.0 / np.sqrt(np.diag(right))
            ritz, q = la.eigh(left * unit[:, None] * unit, right * unit[:, None] * unit + 1e-14 * np.eye(size))
            x = y @ (unit[:, None] * q)
            now = np.sort(ritz)[:count]
            if np.abs(now - last).max() <= 1e-10 * np.abs(now).max():
                break
            last = now
        else:
            raise AccuracyError(f"the lowest modes did not settle in {BLOCK_STEPS} subspace iterations")
        order = np.argsort(ritz)[:count]
        return self.shift + ritz[order], x[:, order]
