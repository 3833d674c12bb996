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
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.response import response
from phloat.linear.storage import storage

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
