"""pH-IRKA (Gugercin, Polyuga, Beattie, van der Schaft 2012), by pyMOR, on the elastic modes of a system."""

from __future__ import annotations

import numpy as np
import scipy.linalg as la

from phloat.algebra.threads import one_thread
from phloat.errors import ConvergenceError, InputError
from phloat.linear.balanced import ModalForm, kept_velocities
from phloat.linear.bases import Basis, split_basis
from phloat.linear.modal import static_drives
from phloat.linear.phdae import LinearPHDAE


@one_thread()
def irka(
    system: LinearPHDAE, *, order: int, decay: float = 0.0, tolerance: float = 1e-4, iterations: int = 100
) -> Basis:
    """At most `order` states that interpolate at the mirrored poles of the reduced system, which pyMOR iterates for.

    The points found by pyMOR are those of a model that mixes v and σ; kept are its velocities, and the stresses of these.
    Rigid motions stand apart, exactly; a system without damping needs `decay` as in `balanced`.
    """
    try:
        from pymor.core.logger import log_levels
        from pymor.models.iosys import PHLTIModel
        from pymor.reductors.ph.ph_irka import PHIRKAReductor
    except ImportError:
        raise InputError("pH-IRKA is pyMOR's, which is not installed; pip install phloat[mor]") from None
    form = ModalForm.of(system, decay)
    count = kept_velocities(form, order)
    with log_levels({"pymor": "ERROR"}):
        reductor = PHIRKAReductor(PHLTIModel.from_matrices(form.J, form.R, form.B))
        reductor.reduce(_start(form, count), tol=tolerance, maxit=iterations)
    if not reductor.conv_crit or not reductor.conv_crit[-1] < tolerance:
        raise ConvergenceError(
            f"pH-IRKA still moves its points by {reductor.conv_crit[-1]:.1e} after {iterations} iterations; ask for another order, "
            "or for more iterations"
        )
    V = reductor.V.to_numpy()
    V = V if len(V) == len(form.J) else V.T
    velocities = form.vectors @ V[: len(form.omega)]
    return split_basis(form.model, form.rigid, np.asarray(velocities), static_drives(form.model, form.rigid))


def _start(form: ModalForm, count: int) -> dict[str, np.ndarray]:
    """Mirrored poles of the slowest modes, and how the inputs reach them; the next one's size where their number is odd."""
    poles, shapes = la.eig(form.A)
    upper = np.flatnonzero(poles.imag > 0.0)
    upper = upper[np.argsort(np.abs(poles[upper]))]
    if len(upper) < (count + 1) // 2:  # overdamped modes: real points of all sizes
        sigma = np.geomspace(np.abs(poles).min(), np.abs(poles).max(), count).astype(complex)
        b = np.ones((count, form.B.shape[1]))
        return {"sigma": sigma, "b": b, "c": b}
    chosen = upper[: count // 2]
    sigma = np.repeat(-poles[chosen].conj(), 2)
    sigma[1::2] = sigma[1::2].conj()
    b = np.repeat(np.abs(shapes[:, chosen].T @ form.B), 2, axis=0)
    if count % 2:
        last = upper[count // 2]
        sigma, b = np.append(sigma, abs(poles[last])), np.vstack([b, np.abs(shapes[:, last] @ form.B)])
    return {"sigma": sigma, "b": b, "c": b}
