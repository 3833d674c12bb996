"""Bases from runs: the motions that a simulation has been through, in order of how much they were used (POD).

The fields are the leading ones of the snapshots in the norm of the mass, X = Σ a_k φ_kᵀ with ΦᵀM Φ = I. A projection on them, with
the stresses C⁻¹Lᵀ Φ, is port-Hamiltonian again, of a linear system (`project`) as of a body of a nonlinear one
(`body.reduced(basis)`, which adds companions where the body stiffens).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import Matrix, csr
from phloat.algebra.threads import one_thread
from phloat.bodies.body import Body
from phloat.errors import InputError, PortError, positive, unknown
from phloat.linear.form.second_order import SecondOrder
from phloat.linear.reduction.basis import Basis, rigid_modes, split_basis
from phloat.linear.time.march import LinearResult
from phloat.motion.result import Result
from phloat.system.state import State

NOTHING = 1e-12  # of the largest: snapshots that are round-off


@one_thread()
def pod_basis(
    run: Result | LinearResult | Sequence[State],
    body: str | None = None,
    *,
    order: int | None = None,
    tolerance: float | None = None,
) -> Basis:
    """The `order` leading fields of a run, or as many as leave out less than `tolerance` of it (in the root mean square).

    Of a nonlinear run, or of a sequence of states, say which body: its deformation η is what is looked at. Of a linear run the
    velocities are, and `order` counts them without the rigid ones, which are kept in any case.
    """
    if (order is None) == (tolerance is None):
        raise InputError("say one of order=… and tolerance=…")
    if isinstance(run, LinearResult):
        model, rigid = SecondOrder.of(run.system), rigid_modes(run.system)
        X = run.e[:, : run.system.split].T
        X = X - rigid @ (rigid.T @ (model.M @ X))
        return split_basis(model, rigid, _leading(X, model.M, order, tolerance))
    part, eta = _deformation(run, body)
    V = _leading(eta.T, part.inertia.M_ff, order, tolerance)
    stress = part.elastic.C_inverse @ (part.elastic.D @ V)
    return Basis(csr(V), csr(stress))


def _deformation(run: Result | Sequence[State], name: str | None) -> tuple[Body, np.ndarray]:
    """A body and its η, (times, coordinates)."""
    if isinstance(run, Result):
        bodies = run.system.bodies
    else:
        states = list(run) if isinstance(run, Sequence) else []
        if not states or not all(isinstance(state, State) for state in states):
            raise InputError("pod needs a Result, a LinearResult or a sequence of States")
        bodies = states[0].bodies
    if name is None or name not in bodies:
        raise PortError(unknown("body", name, bodies))
    part = bodies[name]
    if not part.coordinates:
        raise InputError(f"body {name!r} is rigid: there is no deformation to look at")
    if isinstance(run, Result):
        return part, run[f"{name}.eta"].reshape(len(run), -1)
    return part, np.array([state.e[state.layout[f"{name}.eta"]] for state in run])


def _leading(X: np.ndarray, M: Matrix, order: int | None, tolerance: float | None) -> np.ndarray:
    """Leading fields of the columns of X, of unit mass."""
    root = la.cholesky(M.toarray())  # M = rootᵀ root
    U, size, _ = la.svd(root @ X, full_matrices=False)
    there = int((size > NOTHING * size.max(initial=0.0)).sum())
    if not there:
        raise InputError("the run does not deform it: all snapshots are zero")
    if order is not None:
        if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 1:
            raise InputError(f"order is {order!r}; it must be a whole number, 1 or more")
        if order > there:
            raise InputError(f"order is {order}, but the run has only {there} independent fields; take more snapshots")
        count = int(order)
    else:
        left = np.sqrt(np.append(np.cumsum(size[::-1] ** 2)[::-1], 0.0) / (size**2).sum())
        count = max(1, int(np.argmax(left <= positive("tolerance", tolerance or 0.0))))
    return np.asarray(la.solve_triangular(root, U[:, : min(count, there)]))
