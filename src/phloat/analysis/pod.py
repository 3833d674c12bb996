"""Bases from simulations by proper orthogonal decomposition (POD).

The fields are the leading left singular vectors of the snapshots in the norm of the mass, X = Σ a_k φ_kᵀ with ΦᵀM Φ = I. The
projection on them, with the stresses C⁻¹Lᵀ Φ, is port-Hamiltonian, for a linear system (`project`) and for a body of a nonlinear
one (`body.reduced(basis)`, which adds companions if the body stiffens).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import Matrix, csr
from phloat.algebra.threads import one_thread
from phloat.bodies.body import Body
from phloat.errors import InputError, PortError, positive, unknown, whole_number
from phloat.linear.analysis.modes import rigid_modes
from phloat.linear.form.second_order import SecondOrder
from phloat.linear.reduction.basis import Basis
from phloat.linear.reduction.projection import split_basis
from phloat.linear.time.march import LinearResult
from phloat.motion.result import Result
from phloat.system.state import State

ROUND_OFF = 1e-12  # singular value of snapshots that is round-off, relative to the largest


@one_thread()
def pod_basis(
    run: Result | LinearResult | Sequence[State],
    body: str | None = None,
    *,
    order: int | None = None,
    tolerance: float | None = None,
) -> Basis:
    """A basis of the `order` leading fields of a run, or of as many as have a relative error (root mean square) below `tolerance`.

    The snapshots of a nonlinear run, or of a sequence of states, are the deformations η of a `body`. Those of a linear run are the
    velocities; rigid motions are always included and do not count.
    """
    if (order is None) == (tolerance is None):
        raise InputError("give one of order=… and tolerance=…")
    if isinstance(run, LinearResult):
        model, rigid = SecondOrder.from_system(run.system), rigid_modes(run.system)
        X = run.e[:, : run.system.split].T
        X = X - rigid @ (rigid.T @ (model.M @ X))
        return split_basis(model, rigid, _leading(X, model.M, order, tolerance))
    bodies = run.system.bodies if isinstance(run, Result) else _bodies(run)
    if body is None or body not in bodies:
        raise PortError(unknown("body", body, bodies))
    part, name = bodies[body], f"{body}.eta"
    if not part.coordinates:
        raise InputError(f"body {body!r} is rigid: it has no deformation")
    eta = run[name] if isinstance(run, Result) else np.array([state.e[state.layout[name]] for state in run])
    V = _leading(eta.reshape(len(run), -1).T, part.inertia.M_ff, order, tolerance)
    stress = part.elastic.C_inverse @ (part.elastic.D @ V)
    return Basis(csr(V), csr(stress))


def _bodies(states: object) -> Mapping[str, Body]:
    """The bodies of a sequence of states; raises InputError if it is not one."""
    if not isinstance(states, Sequence) or not states or not all(isinstance(state, State) for state in states):
        raise InputError("pod needs a Result, a LinearResult or a sequence of States")
    return states[0].bodies


def _leading(X: np.ndarray, M: Matrix, order: int | None, tolerance: float | None) -> np.ndarray:
    """The leading fields of the snapshots X (coordinates, snapshots), of unit mass, (coordinates, fields)."""
    root = la.cholesky(M.toarray())  # M = rootᵀ root
    U, size, _ = la.svd(root @ X, full_matrices=False)
    rank = int((size > ROUND_OFF * size.max(initial=0.0)).sum())
    if not rank:
        raise InputError("all snapshots are zero: there is no deformation in this run")
    if order is not None:
        if (count := whole_number("order", order, 1)) > rank:
            raise InputError(f"order is {order}, but the run has only {rank} independent fields; use more snapshots")
    else:
        error = np.sqrt(np.append(np.cumsum(size[::-1] ** 2)[::-1], 0.0) / (size**2).sum())
        count = max(1, int(np.argmax(error <= positive("tolerance", tolerance or 0.0))))
    return np.asarray(la.solve_triangular(root, U[:, : min(count, rank)]))
