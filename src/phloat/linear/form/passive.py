"""A passive state space as a port-Hamiltonian system: its energy is given or found, its feedthrough becomes rows without mass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import ArrayLike

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, largest, stacked, zeros
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError, InputError, finite
from phloat.linear.analysis.response import response
from phloat.linear.form.phdae import LinearPHDAE

AGREES = 1e-9  # relatively: how far a given energy may miss
SAME = 1e-8  # of its size: how well the transfer function comes through


@one_thread()
def from_state_space(
    A: ArrayLike,
    B: ArrayLike,
    C: ArrayLike,
    D: ArrayLike | None = None,
    *,
    ports: Mapping[str, int] | Sequence[str] | None = None,
    energy: ArrayLike | Matrix | None = None,
) -> LinearPHDAE:
    """ẋ = A x + B u, y = C x + D u as a `LinearPHDAE` with the rows "x", where it is passive; if not, a sentence and a number.

    `ports` {name: number of components} or names of ports of one component, in the order of u and y. `energy` is X of
    H = ½ xᵀX x; left out it is found. A feedthrough D becomes rows without mass that the ports drive: such ports take what
    u is, and connect by `gyrator` like all others.
    """
    A, B, C, D = _matrices(A, B, C, D)
    layout = _ports(ports, B.shape[1])
    if not len(A):
        raise InputError("a system without states is a gain, not a motion; use a damper, or JointDamper(…)")
    W = D + D.T
    if energy is not None:
        X = _given(energy, A, B, C, W)
    elif _is_storage(np.eye(len(A)), A, B, C, W):
        X = np.eye(len(A))
    else:
        X = _found(A, B, C, W)
    F, G, P = X @ A, 0.5 * (C.T + X @ B), 0.5 * (C.T - X @ B)
    system = with_feedthrough(
        E=X, J=0.5 * (F - F.T), R=-0.5 * (F + F.T), B=G, P=P, S=0.5 * W, N=0.5 * (D.T - D), ports=layout
    )
    _same(system, A, B, C, D)
    return system


def _same(system: LinearPHDAE, A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> None:
    """The transfer function in the middle of the poles, off the axis: it must have come through."""
    size = float(np.median(np.abs(la.eigvals(A)))) or 1.0
    there = D + C @ la.solve(size * (1 + 1j) * np.eye(len(A)) - A, B)
    here = response(system, tuple(system.ports), omega=np.array([size]), shift=size).values[0]
    if (miss := la.norm(here - there)) > SAME * la.norm(there):
        raise AccuracyError(
            f"the transfer function is missed by {miss / la.norm(there):.1e} of its size: the states are scaled too differently; "
            "balance them first"
        )


def with_feedthrough(
    *,
    E: ArrayLike | Matrix,
    J: ArrayLike | Matrix,
    R: ArrayLike | Matrix,
    B: ArrayLike | Matrix,
    P: ArrayLike | Matrix,
    S: ArrayLike | Matrix,
    N: ArrayLike | Matrix,
    ports: Layout,
    rows: Layout | None = None,
) -> LinearPHDAE:
    """E ẋ = (J − R) x + (B − P) u, y = (B + P)ᵀx + (S − N) u.

    With P, S and N the input is a row of its own, f = u, held there by the multipliers y:
    E → diag(E, 0), J → [[J, B], [−Bᵀ, N]], R → [[R, P], [Pᵀ, S]].
    """
    named = Layout({"x": (np.shape(E)[0],)}, "row") if rows is None else rows
    E, J, R, B, P, S, N = (csr(m) for m in (E, J, R, B, P, S, N))
    size = max(largest(B), largest(S), largest(N))
    if max(largest(P), largest(S), largest(N)) <= 1e-12 * size:
        return LinearPHDAE(E=E, J=J, R=_rounded(R, largest(J) + largest(R)), B=B, rows=named, ports=ports)
    n, m = named.size, ports.size
    R = stacked([[R, P], [P.T, S]])
    return LinearPHDAE(
        E=stacked([[E, None], [None, zeros(m, m)]]),
        J=stacked([[J, B], [-B.T, N]]),
        R=_rounded(R, largest(R)),
        B=zeros(n + m, m),
        G=np.hstack([np.zeros((m, n)), np.eye(m)]),
        B_lam=np.eye(m),
        rows=Layout({**named.shapes, **{f"{name}.in": shape for name, shape in ports.shapes.items()}}, "row"),
        ports=ports,
        multipliers=Layout(dict(ports.shapes), "multiplier"),
    )


def _rounded(R: Matrix, size: float) -> Matrix:
    """R without the negative eigenvalues of its round-off; a matrix that has none is left as it is."""
    if not R.nnz or R.shape[0] > 2000:
        return R
    d, V = la.eigh(R.toarray())
    if d[0] >= 0.0 or d[0] < -AGREES * size:
        return R
    return csr((V * np.where(d > 1e-14 * size, d, 0.0)) @ V.T)


def _power(X: np.ndarray, A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray) -> np.ndarray:
    """What the ports give and the energy does not take, 2 yᵀu − 2 Ḣ, as a form of (x, u)."""
    return np.block([[-X @ A - (X @ A).T, C.T - X @ B], [C - B.T @ X, W]])


def _is_storage(X: np.ndarray, A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray) -> bool:
    power = _power(X, A, B, C, W)
    around = np.concatenate([np.full(len(A), la.norm(X @ A)), np.full(len(W), la.norm(W) + la.norm(C))])
    scale = 1.0 / np.sqrt(np.where(around > 0.0, around, 1.0))
    off = la.norm(C.T - X @ B) > AGREES * la.norm(C) if not W.any() else False
    return not off and la.eigvalsh(scale[:, None] * power * scale)[0] > -AGREES


def _found(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray) -> np.ndarray:
    size = np.diag(la.matrix_balance(A, permute=False)[1]) if len(A) else np.zeros(0)
    X = storage(A * size / size[:, None], B / size[:, None], C * size, W) / size / size[:, None]
    if not _is_storage(X, A, B, C, W):
        raise AccuracyError(
            f"an energy was found, but only to {-la.eigvalsh(_power(X, A, B, C, W))[0]:.1e}: the states are scaled too "
            "differently, or some are hardly felt; take those out (control.minreal), or give energy=…"
        )
    return X


def _given(energy: ArrayLike | Matrix, A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray) -> np.ndarray:
    X = finite("energy", csr(energy).toarray() if sp.issparse(energy) else energy, A.shape)
    if len(X) and (la.norm(X - X.T) > AGREES * la.norm(X) or la.eigvalsh(X)[0] <= 0.0):
        raise InputError(
            f"energy is not symmetric and positive: its smallest eigenvalue is {la.eigvalsh(0.5 * (X + X.T))[0]:.3g}"
        )
    X = 0.5 * (X + X.T)
    if not _is_storage(X, A, B, C, W):
        raise InputError(
            f"the system is not passive with this energy: the power it takes has the eigenvalue "
            f"{la.eigvalsh(_power(X, A, B, C, W))[0]:.3g}, which must not be negative; leave energy= out to have one looked for"
        )
    return X


def _matrices(
    A: ArrayLike, B: ArrayLike, C: ArrayLike, D: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    given = {name: np.atleast_2d(np.asarray(m)) for name, m in {"A": A, "B": B, "C": C}.items()}
    n, inputs = given["B"].shape
    outputs = given["C"].shape[0]
    if inputs != outputs:
        raise InputError(
            f"the system has {inputs} inputs and {outputs} outputs; a port has one of each, so make as many of one as of the other"
        )
    through = np.zeros((inputs, inputs)) if D is None else np.atleast_2d(np.asarray(D))
    return (
        finite("A", given["A"].reshape(n, n) if given["A"].size == n * n else given["A"], (n, n)),
        finite("B", given["B"], (n, inputs)),
        finite("C", given["C"], (inputs, n)),
        finite("D", through, (inputs, inputs)),
    )


def _ports(ports: Mapping[str, int] | Sequence[str] | None, inputs: int) -> Layout:
    if ports is None:
        return Layout({"u": (inputs,)}, "port")
    if isinstance(ports, str):
        ports = [ports]
    sizes = dict(ports) if isinstance(ports, Mapping) else dict.fromkeys(ports, 1)
    if sum(sizes.values()) != inputs:
        raise InputError(
            f"the ports {', '.join(sizes)} have {sum(sizes.values())} components; the system has {inputs} inputs"
        )
    return Layout({name: (int(size),) for name, size in sizes.items()}, "port")


# --- the energy of a passive state space -----------------------------------------------------------------------------
#
# The energy of a passive state space: X with [[−AᵀX − XA, Cᵀ − XB], [C − BᵀX, D + Dᵀ]] ≥ 0.
#
# Three steps, again and again until nothing is left. Poles on the imaginary axis are split off: they are lossless, and their
# energy follows from linear equations. Inputs without feedthrough fix X on their columns, X B = Cᵀ; what remains is the same
# problem with fewer states and the power −BᵀXA B as feedthrough. With feedthrough everywhere it is a Riccati equation.


AXIS = 1e-9  # of the size of A: how near to the imaginary axis a pole is on it
ZERO = 1e-9  # of the size of its kind: what counts as nothing
PASSIVE = 1e-9  # of the size of the matrix: what may be negative and still be round-off


def storage(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray, *, scale: float = 0.0) -> np.ndarray:
    """X = Xᵀ > 0 for ẋ = A x + B u, y = C x + D u with W = D + Dᵀ, or a sentence why there is none.

    `scale` is the size of what W was computed from: far below it W is round-off.
    """
    n = len(A)
    size = la.norm(A, 2) if n else 1.0
    d, U = la.eigh(W) if len(W) else (np.zeros(0), W)
    around = la.norm(C, 2) * la.norm(B, 2) / (size or 1.0) if n and len(W) else 0.0
    reach = ZERO * max(float(np.abs(d).max(initial=0.0)), scale, around)
    if d.min(initial=0.0) < -reach:
        raise InputError(f"the system is not passive: at high frequencies G + Gᴴ has the eigenvalue {d[0]:.3g}")
    if not n:
        return np.zeros((0, 0))
    poles = la.eigvals(A)
    worst = poles[int(np.argmax(poles.real))]
    if worst.real > AXIS * size:
        raise InputError(
            f"the system is not stable, so it is not passive: it has a pole at s = {worst.real:.3g}{worst.imag:+.3g}j"
        )
    on_axis = np.abs(poles.real) <= AXIS * size
    if on_axis.all():
        return _lossless(A, B, C)
    if on_axis.any():
        return _split(A, B, C, W, int(on_axis.sum()), size)
    fed, B, C = d > reach, B @ U, U.T @ C
    if fed.all():
        return _riccati(A, B, C, np.diag(d))
    return _deflated(A, (B[:, fed], B[:, ~fed]), (C[fed], C[~fed]), np.diag(d[fed]))


def _split(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray, count: int, size: float) -> np.ndarray:
    """A real basis in which the poles on the axis stand by themselves; the energies of the two parts add."""
    S, Q, found = la.schur(A, output="real", sort=lambda re, im: abs(re) <= AXIS * size)
    if found != count:
        raise InputError(
            f"{abs(found - count)} poles of the system lie too near to the imaginary axis to be told apart"
        )
    Y = la.solve_sylvester(S[:count, :count], -S[count:, count:], -S[:count, count:])
    T = Q @ np.block([[np.eye(count), Y], [np.zeros((len(A) - count, count)), np.eye(len(A) - count)]])
    B, C = la.solve(T, B), C @ T
    still = _lossless(S[:count, :count], B[:count], C[:, :count])
    rest = storage(S[count:, count:], B[count:], C[:, count:], W)
    back = la.inv(T)
    return _symmetric(back.T @ la.block_diag(still, rest) @ back)


def _lossless(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    """X A + AᵀX = 0 and X B = Cᵀ, by least squares over symmetric X."""
    n = len(A)
    i, j = np.triu_indices(n)
    basis = np.zeros((len(i), n, n))
    basis[np.arange(len(i)), i, j] = basis[np.arange(len(i)), j, i] = 1.0
    turning, reaching = la.norm(A) or 1.0, la.norm(B) or 1.0
    kept = (basis @ A + np.swapaxes(basis @ A, 1, 2)).reshape(len(i), -1) / turning
    met = (basis @ B).reshape(len(i), -1) / reaching
    right = np.concatenate([np.zeros(kept.shape[1]), C.T.ravel() / reaching])
    x = la.lstsq(np.hstack([kept, met]).T, right)[0]
    miss = la.norm(np.hstack([kept, met]).T @ x - right) / max(la.norm(right), 1e-300)
    X = np.tensordot(x, basis, 1)
    if miss > 1e-6 or (n and la.eigvalsh(X)[0] <= 0.0):
        poles = la.eigvals(A)
        raise InputError(
            f"the system is not passive: its poles on the imaginary axis, |s| = {_said(np.abs(poles))}, have residues that are "
            "not symmetric and positive (or are not felt by the inputs, or double)"
        )
    return X


def _deflated(
    A: np.ndarray, B: tuple[np.ndarray, np.ndarray], C: tuple[np.ndarray, np.ndarray], W: np.ndarray
) -> np.ndarray:
    """x = B₂S^(−½)α + N z with C₂N = 0 and S = C₂B₂: X = diag(1, Y) there, and Y solves the problem of z with α as an input."""
    S = C[1] @ B[1]
    if la.norm(S - S.T) > 1e-6 * max(la.norm(S), 1e-300) or la.eigvalsh(_symmetric(S))[0] <= ZERO * la.norm(S):
        raise InputError(
            "the system is not passive: without feedthrough the first answer to a blow, C B, must be symmetric and positive; "
            f"its smallest eigenvalue is {la.eigvalsh(_symmetric(S))[0]:.3g} and its asymmetry {la.norm(S - S.T):.3g}"
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
    back = la.inv(T)
    return _symmetric(back.T @ la.block_diag(np.eye(m), Y) @ back)


def _riccati(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray) -> np.ndarray:
    """AᵀX + XA + (XB − Cᵀ) W⁻¹ (BᵀX − C) = 0, its smallest solution: the energy that can be had back."""
    try:
        X = la.solve_continuous_are(A, B, np.zeros(A.shape), -W, s=-C.T)
    except (la.LinAlgError, ValueError):
        X = np.full(A.shape, np.nan)
    if np.isfinite(X).all() and la.eigvalsh(_symmetric(X))[0] > 0.0:
        X = _symmetric(X)
        step = X @ B - C.T
        miss = A.T @ X + X @ A + step @ la.solve(W, step.T)
        if la.norm(miss) <= 1e-6 * la.norm(X @ A):
            return X
    omega = np.concatenate([[0.0], np.logspace(-3, 3, 601) * max(float(np.abs(la.eigvals(A)).max()), 1e-300)])
    least = [_real_part(A, B, C, W, w) for w in omega]
    at = int(np.argmin(least))
    if least[at] < -PASSIVE * la.norm(W):
        raise InputError(
            f"the system is not passive: at ω = {omega[at]:.3g} rad/s it gives power, G + Gᴴ has the eigenvalue {least[at]:.3g}"
        )
    raise InputError(
        f"no energy was found: G + Gᴴ comes down to {least[at]:.3g} at ω = {omega[at]:.3g} rad/s, or some states are not felt by "
        "inputs and outputs; take such states out (control.minreal), add a little feedthrough, or give energy=…"
    )


def _real_part(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray, omega: float) -> float:
    G = C @ la.solve(1j * omega * np.eye(len(A)) - A, B)
    return float(la.eigvalsh(W + G + G.conj().T)[0])


def _symmetric(a: np.ndarray) -> np.ndarray:
    return 0.5 * (a + a.T)


def _said(values: np.ndarray) -> str:
    return ", ".join(f"{v:.3g}" for v in np.unique(np.round(values, 12))[:6])
