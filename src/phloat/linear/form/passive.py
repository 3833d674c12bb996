"""Passive state spaces as port-Hamiltonian systems: the energy is given or computed.

The energy ½ xᵀX x of a passive state space solves [[−AᵀX − XA, Cᵀ − XB], [C − BᵀX, D + Dᵀ]] ≥ 0. Three steps are repeated until
no state is left. Poles on the imaginary axis are separated: they are lossless, and their energy follows from linear equations.
Inputs without feedthrough fix X on their columns, X B = Cᵀ, which leaves the same problem with fewer states and the power −BᵀXA B
as feedthrough. With feedthrough of full rank it is a Riccati equation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import ArrayLike

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, symmetric_scale
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError, InputError, finite
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.form.state_space import descriptor

Values: TypeAlias = ArrayLike | Matrix
# {port: number of components}, or names of ports with one component each
PortSizes: TypeAlias = Mapping[str, int] | Sequence[str] | None

TOLERANCE = 1e-9  # relative error up to which X satisfies the inequality of the energy
TRANSFER_TOLERANCE = 1e-8  # relative error of the transfer function that is accepted
AXIS = 1e-9  # distance of a pole from the imaginary axis that counts as zero, relative to |A|
ROUND_OFF = 1e-13  # entry of the dissipation, relative to its terms
ZERO = 1e-9  # eigenvalue that counts as zero, relative to the terms of its matrix
PASSIVE = 1e-9  # negative eigenvalue of G + Gᴴ that is round-off, relative to |D + Dᵀ|


@one_thread()
def from_state_space(
    A: Any, B: Any, C: Any, D: Any = None, *, ports: PortSizes = None, energy: Values | None = None
) -> LinearPHDAE:
    """ẋ = A x + B u, y = C x + D u as a `LinearPHDAE` with the rows "x"; raises InputError if it is not passive.

    `ports` is {name: number of components}, or the names of ports with one component each, in the order of u and y. `energy` is X
    of H = ½ xᵀX x; by default it is computed. A feedthrough D becomes S + N, and P where the dissipation couples x and u.
    """
    A, B, C, D = _matrices(A, B, C, D)
    layout = _ports(ports, B.shape[1])
    if not len(A):
        raise InputError("a system without states is a gain; use a damper, JointDamper(…)")
    W = D + D.T
    if energy is not None:
        X = _require_storage(energy, A, B, C, W)
    elif _is_storage(np.eye(len(A)), A, B, C, W):
        X = np.eye(len(A))
    else:
        X = _computed_energy(A, B, C, W)
    F, G, P = X @ A, 0.5 * (C.T + X @ B), 0.5 * (C.T - X @ B)
    J, N = 0.5 * (F - F.T), 0.5 * (D - D.T)
    R, P, S = _dissipation(F, G, P, D)
    system = LinearPHDAE(E=X, J=J, R=R, B=G, P=P, S=S, N=N, rows=Layout({"x": (len(A),)}, "row"), ports=layout)
    _require_same_transfer(system, A, B, C, D)
    return system


def _require_same_transfer(system: LinearPHDAE, A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> None:
    """Raises AccuracyError if the transfer functions differ at a point s of the magnitude of the poles."""
    s = (1 + 1j) * (float(np.median(np.abs(la.eigvals(A)))) or 1.0)
    expected = D + C @ la.solve(s * np.eye(len(A)) - A, B)
    E, F, b, c, d = (descriptor(system)[name].toarray() for name in "EABCD")
    size = max(float(la.norm(expected)), 1e-300)
    if (error := la.norm(c @ la.solve(s * E - F, b) + d - expected) / size) > TRANSFER_TOLERANCE:
        raise AccuracyError(f"relative error {error:.1e} of the transfer function: badly scaled states; balance them")


def _dissipation(
    F: np.ndarray, B: np.ndarray, P: np.ndarray, D: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R, P and S of W = [[−(F + Fᵀ)/2, P], [Pᵀ, (D + Dᵀ)/2]], without entries and negative eigenvalues that are round-off."""
    n = len(F)
    W = np.block([[-0.5 * (F + F.T), P], [P.T, 0.5 * (D + D.T)]])
    terms = np.block(
        [[np.abs(F) + np.abs(F.T), np.abs(B) + np.abs(P)], [(np.abs(B) + np.abs(P)).T, np.abs(D) + np.abs(D.T)]]
    )
    unit = symmetric_scale(terms)
    W = np.where(np.abs(W) > ROUND_OFF * unit * unit[:, None], W, 0.0)
    W[:n, n:][:, np.diag(W)[n:] == 0.0] = 0.0  # no coupling with ports that do not dissipate themselves
    W[n:, :n] = W[:n, n:].T
    d, V = la.eigh(W / unit / unit[:, None])
    if -TOLERANCE <= d[0] < 0.0:
        V = unit[:, None] * V
        W = (V * np.maximum(d, 0.0)) @ V.T
    return W[:n, :n], W[:n, n:], W[n:, n:]


def _power(X: np.ndarray, A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The matrix of the dissipated power, 2 yᵀu − 2 Ḣ, in (x, u)."""
    return np.block([[-X @ A - (X @ A).T, C.T - X @ B], [C - B.T @ X, W]])


def _is_storage(X: np.ndarray, A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray) -> bool:
    """Whether the system dissipates with the energy ½ xᵀX x: the matrix of the power is positive, up to round-off."""
    power = _power(X, A, B, C, W)
    sizes = np.concatenate([np.full(len(A), la.norm(X @ A)), np.full(len(W), la.norm(W) + la.norm(C))])
    scale = 1.0 / np.sqrt(np.where(sizes > 0.0, sizes, 1.0))
    mismatch = la.norm(C.T - X @ B) > TOLERANCE * la.norm(C) if not W.any() else False
    return not mismatch and la.eigvalsh(scale[:, None] * power * scale)[0] > -TOLERANCE


def _computed_energy(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray) -> np.ndarray:
    """An X of H = ½ xᵀX x that makes the system passive, computed in balanced coordinates."""
    size = np.diag(la.matrix_balance(A, permute=False)[1]) if len(A) else np.zeros(0)
    X = storage(A * size / size[:, None], B / size[:, None], C * size, W) / size / size[:, None]
    if not _is_storage(X, A, B, C, W):
        raise AccuracyError(
            f"the energy is accurate to {-la.eigvalsh(_power(X, A, B, C, W))[0]:.1e} only: the states are badly scaled, or "
            "some are hardly observable; remove those (control.minreal), or give energy=…"
        )
    return X


def _require_storage(energy: Values, A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray) -> np.ndarray:
    """X as a symmetric array; raises InputError if it is not positive, or the system is not passive with it."""
    X = finite("energy", csr(energy).toarray() if sp.issparse(energy) else energy, A.shape)
    if len(X) and (la.norm(X - X.T) > TOLERANCE * la.norm(X) or la.eigvalsh(X)[0] <= 0.0):
        raise InputError(f"energy is not symmetric and positive: its lowest eigenvalue is {la.eigvalsh(X)[0]:.3g}")
    X = _symmetric(X)
    if not _is_storage(X, A, B, C, W):
        lowest = la.eigvalsh(_power(X, A, B, C, W))[0]
        raise InputError(f"not passive with this energy: the power has the eigenvalue {lowest:.3g}; omit energy=")
    return X


def _matrices(
    A: ArrayLike, B: ArrayLike, C: ArrayLike, D: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The matrices as arrays; raises InputError if their shapes do not agree."""
    A, B, C = (np.atleast_2d(np.asarray(m)) for m in (A, B, C))
    (n, inputs), outputs = B.shape, C.shape[0]
    if inputs != outputs:
        raise InputError(f"the system has {inputs} inputs and {outputs} outputs; a port has one of each")
    A = finite("A", A.reshape(n, n) if A.size == n * n else A, (n, n))
    D = np.zeros((inputs, inputs)) if D is None else np.atleast_2d(np.asarray(D))
    return A, finite("B", B, (n, inputs)), finite("C", C, (inputs, n)), finite("D", D, (inputs, inputs))


def _ports(ports: PortSizes, inputs: int) -> Layout:
    """The layout of the ports; raises InputError if they do not have as many components as there are inputs."""
    if ports is None:
        return Layout({"u": (inputs,)}, "port")
    names = [ports] if isinstance(ports, str) else ports
    sizes = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names, 1)
    if (count := sum(sizes.values())) != inputs:
        raise InputError(f"the ports {', '.join(sizes)} have {count} components; the system has {inputs} inputs")
    return Layout({name: (int(size),) for name, size in sizes.items()}, "port")


def storage(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray, *, scale: float = 0.0) -> np.ndarray:
    """The energy X = Xᵀ > 0 of ẋ = A x + B u, y = C x + D u with W = D + Dᵀ; raises InputError if the system is not passive.

    `scale` is the magnitude of the terms of W; entries far below it are round-off.
    """
    n = len(A)
    size = la.norm(A, 2) if n else 1.0
    d, U = la.eigh(W) if len(W) else (np.zeros(0), W)
    product = la.norm(C, 2) * la.norm(B, 2) / (size or 1.0) if n and len(W) else 0.0
    threshold = ZERO * max(float(np.abs(d).max(initial=0.0)), scale, product)
    if d.min(initial=0.0) < -threshold:
        raise InputError(f"the system is not passive: at high frequencies G + Gᴴ has the eigenvalue {d[0]:.3g}")
    if not n:
        return np.zeros((0, 0))
    poles = la.eigvals(A)
    rightmost = poles[int(np.argmax(poles.real))]
    if rightmost.real > AXIS * size:
        raise InputError(f"the system is unstable, so it is not passive: it has a pole at s = {rightmost:.3g}")
    on_axis = np.abs(poles.real) <= AXIS * size
    if on_axis.all():
        return _lossless_energy(A, B, C)
    if on_axis.any():
        return _split_energy(A, B, C, W, int(on_axis.sum()), size)
    direct, B, C = d > threshold, B @ U, U.T @ C
    if direct.all():
        return _available_energy(A, B, C, np.diag(d))
    return _deflated_energy(A, (B[:, direct], B[:, ~direct]), (C[direct], C[~direct]), np.diag(d[direct]))


def _split_energy(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray, count: int, size: float) -> np.ndarray:
    """The sum of the energies of the poles on the axis and of the others, in a real basis that separates them."""
    S, Q, selected = la.schur(A, output="real", sort=lambda re, im: abs(re) <= AXIS * size)
    if selected != count:
        raise InputError(f"{abs(selected - count)} poles are too near to the imaginary axis to be separated; damp them")
    Y = la.solve_sylvester(S[:count, :count], -S[count:, count:], -S[:count, count:])
    T = Q @ np.block([[np.eye(count), Y], [np.zeros((len(A) - count, count)), np.eye(len(A) - count)]])
    B, C = la.solve(T, B), C @ T
    lossless = _lossless_energy(S[:count, :count], B[:count], C[:, :count])
    return _transformed_energy(T, lossless, storage(S[count:, count:], B[count:], C[:, count:], W))


def _transformed_energy(T: np.ndarray, *energies: np.ndarray) -> np.ndarray:
    """The energy matrix of x = T z from those of the parts of z."""
    inverse = la.inv(T)
    return _symmetric(inverse.T @ la.block_diag(*energies) @ inverse)


def _lossless_energy(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    """X A + AᵀX = 0 and X B = Cᵀ: X = V⁻ᴴD V⁻¹ with the eigenvectors V of A, where D has a block for each pole, D_k b_k = c_k."""
    poles, V = la.eig(A)
    order = np.argsort(poles.imag)
    poles, V = poles[order], V[:, order]
    regular = np.linalg.cond(V) < 1.0 / ROUND_OFF  # not so with double poles
    inverse, D = la.inv(V) if regular else 0.0 * V, np.zeros(A.shape, dtype=complex)
    b, c = inverse @ B, V.conj().T @ C.T
    for k in np.split(np.arange(len(A)), np.flatnonzero(np.diff(poles.imag) > AXIS * la.norm(A)) + 1):
        D[np.ix_(k, k)] = c[k] @ la.pinv(b[k], rtol=ZERO)
    X = _symmetric((inverse.conj().T @ D @ inverse).real)
    misfit = la.norm(X @ A + (X @ A).T) / (la.norm(X @ A) or 1.0) + la.norm(X @ B - C.T) / (la.norm(C) or 1.0)
    size = la.eigvalsh(X)
    if misfit > 1e-6 or size[0] <= ROUND_OFF * size[-1]:
        magnitudes = ", ".join(f"{v:.3g}" for v in np.unique(np.round(np.abs(poles), 12))[:6])
        raise InputError(
            f"the system is not passive: its poles on the imaginary axis, |s| = {magnitudes}, have residues that are not symmetric "
            "and positive (or are double, or not controllable)"
        )
    return X


def _deflated_energy(
    A: np.ndarray, B: tuple[np.ndarray, np.ndarray], C: tuple[np.ndarray, np.ndarray], W: np.ndarray
) -> np.ndarray:
    """The energy if some inputs (index 1 of B and C) have no feedthrough, by a smaller problem.

    With x = B₂S^(−½)α + N z, C₂N = 0 and S = C₂B₂ it is diag(1, Y) in (α, z); Y is the energy of z with α as an additional input.
    """
    S = C[1] @ B[1]
    asymmetry, smallest = la.norm(S - S.T), la.eigvalsh(_symmetric(S))[0]
    if asymmetry > 1e-6 * max(la.norm(S), 1e-300) or smallest <= ZERO * la.norm(S):
        raise InputError(
            "the system is not passive: without feedthrough C B must be symmetric and positive; its smallest eigenvalue is "
            f"{smallest:.3g} and its asymmetry {asymmetry:.3g}"
        )
    root = la.sqrtm(_symmetric(S))
    B_2, N, m = la.solve(root, B[1].T, assume_a="pos").T, la.null_space(C[1]), len(S)  # α of unit energy
    T = np.hstack([B_2, N])
    a, b = la.solve(T, A @ T), la.solve(T, B[0])
    power = -a[:m, :m]
    mixed = (C[0] @ B_2).T - b[:m]
    Y = storage(
        a[m:, m:],
        np.hstack([a[m:, :m], b[m:]]),
        np.vstack([-a[:m, m:], C[0] @ N]),
        np.block([[power + power.T, mixed], [mixed.T, W]]),
        scale=la.norm(a, 2),
    )
    return _transformed_energy(T, np.eye(m), Y)


def _available_energy(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The available energy: the smallest solution X of AᵀX + XA + (XB − Cᵀ) W⁻¹ (BᵀX − C) = 0."""
    try:
        X = la.solve_continuous_are(A, B, np.zeros(A.shape), -W, s=-C.T)
    except (la.LinAlgError, ValueError):
        X = np.full(A.shape, np.nan)
    if np.isfinite(X).all() and la.eigvalsh(_symmetric(X))[0] > 0.0:
        X = _symmetric(X)
        mismatch = X @ B - C.T
        if la.norm(A.T @ X + X @ A + mismatch @ la.solve(W, mismatch.T)) <= 1e-6 * la.norm(X @ A):
            return X
    omega = np.concatenate([[0.0], np.logspace(-3, 3, 601) * max(float(np.abs(la.eigvals(A)).max()), 1e-300)])
    G = (C @ la.solve(1j * w * np.eye(len(A)) - A, B) for w in omega)
    lowest, w_min = min((float(la.eigvalsh(W + H + H.conj().T)[0]), w) for H, w in zip(G, omega, strict=True))
    if lowest < -PASSIVE * la.norm(W):
        raise InputError(f"the system is not passive: G + Gᴴ has the eigenvalue {lowest:.3g} at ω = {w_min:.3g} rad/s")
    raise InputError(
        f"no energy was found: G + Gᴴ has the eigenvalue {lowest:.3g} at ω = {w_min:.3g} rad/s, or some states are not "
        "controllable and observable; remove those (control.minreal), add a small feedthrough, or give energy=…"
    )


def _symmetric(a: np.ndarray) -> np.ndarray:
    return 0.5 * (a + a.T)
