"""Conversion to and from port-Hamiltonian models of pyMOR, and its pH-IRKA (Gugercin, Polyuga, Beattie, van der Schaft 2012)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import csr, signed_root
from phloat.algebra.threads import one_thread
from phloat.errors import ConvergenceError, InputError, optional_package
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.state_space import eliminate
from phloat.linear.reduction.balanced import ModalForm, elastic_velocities
from phloat.linear.reduction.basis import Basis
from phloat.linear.reduction.modal import static_drives, static_strains
from phloat.linear.reduction.projection import split_basis

if TYPE_CHECKING:
    from pymor.models.iosys import PHLTIModel


def to_pymor(system: LinearPHDAE, *, name: str | None = None) -> PHLTIModel:
    """The system as a `PHLTIModel` with sparse matrices, feedthrough included; joints are eliminated.

    Raises InputError if the energy is not definite (E > 0). The model has no names of ports and rows: `from_pymor(model,
    like=system)` restores them.
    """
    with optional_package("pyMOR", "mor"):
        from pymor.models import iosys
    linear_only(system, feedthrough=True)
    system = eliminate(system)
    if not system.ports.size:
        raise InputError("the system has no open port; pyMOR needs inputs: keep some with with_ports(…)")
    _require_definite(system)
    J, R, B, E = (sp.csc_matrix(m) for m in (system.J, system.R, system.B, system.E))
    more = {}
    if system.has_feedthrough:  # pyMOR has the opposite sign of N
        more = {name: getattr(system, name).toarray() * sign for name, sign in (("P", 1.0), ("S", 1.0), ("N", -1.0))}
    return iosys.PHLTIModel.from_matrices(J, R, B.toarray(), E=E, **more, name=name)


def from_pymor(model: PHLTIModel, *, like: LinearPHDAE | None = None) -> LinearPHDAE:
    """A `PHLTIModel` of pyMOR, reduced or not, as a `LinearPHDAE`.

    Ports are named as those of `like`, if given, and rows, too, if their number is equal; otherwise "u" and "x". With
    Q, H = ½ xᵀQᵀE x, the rows are multiplied by Qᵀ.
    """
    with optional_package("pyMOR", "mor"):
        from pymor.models import iosys
    if not isinstance(model, iosys.PHLTIModel):
        raise InputError(f"{type(model).__name__} is not a PHLTIModel of pyMOR; its structure is not known")
    matrices = dict(zip(("J", "R", "B", "P", "S", "N", "E", "Q"), model.to_matrices(), strict=True))
    given = {name: csr(m) for name, m in matrices.items() if m is not None}
    n, inputs = given["B"].shape
    given.setdefault("E", csr(sp.eye_array(n)))
    if "N" in given:  # pyMOR has y = … + (S − N) u
        given["N"] = -given["N"]
    system = LinearPHDAE(**given, rows=Layout({"x": (n,)}, "row"), ports=_ports(like, inputs))
    named = system if like is None else eliminate(like)
    same_rows = named.rows.size == n
    return replace(system, rows=named.rows, split=named.split, fields=named.fields) if same_rows else system


def _ports(like: LinearPHDAE | None, inputs: int) -> Layout:
    """The layout of the ports: that of `like`, or one port "u"."""
    if like is None:
        return Layout({"u": (inputs,)}, "port")
    linear_only(like, feedthrough=True)
    if like.ports.size != inputs:
        raise InputError(f"the model has {inputs} inputs; the system like=… has {like.ports.size}")
    return like.ports


def _require_definite(system: LinearPHDAE) -> None:
    """Raises InputError unless E > 0."""
    scale, advice = system.E.diagonal(), "pyMOR needs E > 0: eliminate such rows, or reduce the system with project(…)"
    if not (scale > 0.0).all():
        block = system.rows.owner(int(np.argmin(scale)))
        raise InputError(f"{block} has no mass or compliance (E is {scale.min():.3g} there); {advice}")
    try:
        signs = signed_root(system.E)[1]
    except la.LinAlgError:
        signs = np.zeros(1)
    if not (signs > 0.0).all():
        raise InputError(f"the energy is not definite; {advice}")


@one_thread()
def irka_basis(
    system: LinearPHDAE, *, order: int, decay: float = 0.0, tolerance: float = 1e-4, iterations: int = 100
) -> Basis:
    """The basis of pH-IRKA, of at most `order` states: the reduced system interpolates at its mirrored poles.

    The iterations are those of pyMOR, whose reduced model mixes v and σ; the basis has its velocities and their stresses. Rigid
    motions are included exactly. A system without damping needs `decay` as in `balanced_basis`. Raises ConvergenceError.

    The points come in conjugate pairs: one real point more has no mode to settle at and alternates between two values for ever. If
    `order` leaves an odd number of velocities, they are the leading ones of one pair more.
    """
    with optional_package("pyMOR", "mor"):
        from pymor.core.logger import log_levels
        from pymor.models.iosys import PHLTIModel
        from pymor.reductors.ph.ph_irka import PHIRKAReductor
    form = ModalForm.from_system(system, decay)
    count = elastic_velocities(form, order)
    with log_levels({"pymor": "ERROR"}):
        reductor = PHIRKAReductor(PHLTIModel.from_matrices(form.J, form.R, form.B))
        reductor.reduce(_irka_start(form, count + count % 2), tol=tolerance, maxit=iterations)
    if not reductor.conv_crit or not reductor.conv_crit[-1] < tolerance:
        change = reductor.conv_crit[-1] if reductor.conv_crit else np.inf
        raise ConvergenceError(
            f"no convergence after {iterations} iterations (change {change:.1e}); use another order, or more"
        )
    V = reductor.V.to_numpy()
    V = V if len(V) == len(form.J) else V.T
    V = V[: len(form.omega)]
    V = form.vectors @ (V @ la.eigh(V.T @ V)[1][:, ::-1][:, :count])  # leading directions: the modes have unit mass
    V = np.hstack([V, static_strains(form.model, form.rigid)])
    return split_basis(form.model, form.rigid, V, static_drives(form.model, form.rigid))


def _irka_start(form: ModalForm, count: int) -> dict[str, np.ndarray]:
    """The start of IRKA: `count` mirrored poles, those of the slowest modes in conjugate pairs, and their input directions."""
    poles, shapes = la.eig(form.A)
    upper = np.flatnonzero(poles.imag > 0.0)
    upper = upper[np.argsort(np.abs(poles[upper]))]
    if len(upper) < count // 2:  # overdamped modes: real points of all sizes
        sigma = np.geomspace(np.abs(poles).min(), np.abs(poles).max(), count).astype(complex)
        b = np.ones((count, form.B.shape[1]))
        return {"sigma": sigma, "b": b, "c": b}
    chosen = upper[: count // 2]
    sigma = np.repeat(-poles[chosen].conj(), 2)
    sigma[1::2] = sigma[1::2].conj()
    b = np.repeat(np.abs(shapes[:, chosen].T @ form.B), 2, axis=0)
    return {"sigma": sigma, "b": b, "c": b}
