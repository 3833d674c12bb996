"""Damping of floating bodies: relative to a port or to the body's mean rigid motion, by mass or by modes.

The velocity field of a body with rates η̇ is Φη̇; relative to a reference with the rigid motion Aη̇ (six rows: of the origin, and
turning) it is Φη̇ − rigid(Aη̇), with the mass

    M_rel = M_ff − AᵀM_rf − M_frA + AᵀM_rrA.

For a port A is the motion of its frame; for "body" A = M_rr⁻¹M_rf, which minimises M_rel: the Schur complement. Arrays are those
of the undeformed body. Rigid motion of the frame does not enter, so momenta are conserved and frame conditions do not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.cross import skew
from phloat.algebra.sparse import Matrix, components, csr
from phloat.bodies.body import Port
from phloat.bodies.inertia import Inertia, coupling
from phloat.bodies.material import Damping, ModalDamping, Rayleigh
from phloat.bodies.strain import Elastic
from phloat.errors import InputError, unknown

BODY, GROUND = "body", "ground"
MOST = 2000  # coordinates of a body with modal damping: all its modes are found
ROUND_OFF = 1e-13  # of √(M_ii M_jj): couplings that are none


def with_damping(elastic: Elastic, damping: Damping, inertia: Inertia, ports: Mapping[str, Port]) -> Elastic:
    """The elasticity of a body with damping added; a damping matrix `drag` that it already has remains."""
    if isinstance(damping, ModalDamping):
        return (
            replace(elastic, viscosity=_modal_viscosity(elastic, damping, inertia, ports)) if damping.ratio else elastic
        )
    drag = elastic.drag
    if isinstance(damping, Rayleigh) and damping.mass:
        drag = csr(drag + damping.mass * relative_mass(inertia, ports, str(damping.relative_to)))
    return replace(elastic, drag=drag, time=float(damping.stiffness))


def relative_mass(inertia: Inertia, ports: Mapping[str, Port], reference: str) -> Matrix:
    """M_rel of the undeformed body relative to a port or "body". Raises InputError for any other reference."""
    if reference == GROUND:
        raise InputError(
            f"damping relative_to='{GROUND}' brakes a floating body; say 'body' or a port: {', '.join(ports)}"
        )
    if reference == BODY and BODY not in ports:
        return _about_mean_motion(inertia)
    if reference not in ports or reference == BODY:
        raise InputError(unknown("reference of damping (relative_to)", reference, [*ports, BODY]))
    port, M = ports[reference], inertia.at_rest()
    A = csr(np.vstack([port.Phi + skew(port.x) @ port.Psi, port.Psi]))
    return moving_mass(csr(M[6:, 6:]), csr(M[:6, 6:]), csr(M[:6, :6]), A)


def moving_mass(M_ff: Matrix, M_rf: Matrix, M_rr: Matrix, A: Matrix) -> Matrix:
    """M_rel of the motion relative to a reference that moves by Aη̇."""
    mixed = A.T @ M_rf
    return csr(M_ff - mixed - mixed.T + A.T @ M_rr @ A)


def _about_mean_motion(inertia: Inertia) -> Matrix:
    """M_rel = M_ff − SᵀS/m − cᵀJ⁻¹c of motion about the mean motion; axes without inertia (of a line of masses) are skipped."""
    S, m, centre = inertia.S, inertia.m, inertia.s0 / inertia.m
    c = coupling(inertia.X) - skew(centre) @ S
    J, axes = np.linalg.eigh(inertia.J0 - m * skew(centre).T @ skew(centre))
    turning = J > 1e-15 * J.max(initial=0.0)
    rows = axes[:, turning].T @ c / np.sqrt(J[turning])[:, None]
    rigid = csr(np.vstack([S / np.sqrt(m), rows]))
    return csr(inertia.M_ff - rigid.T @ rigid)


def _modal_viscosity(elastic: Elastic, damping: ModalDamping, inertia: Inertia, ports: Mapping[str, Port]) -> Matrix:
    """2ζ Σ s_k s_kᵀ/ω_k with the stresses s_k = C⁻¹Dφ_k of modes of unit strain energy: R_d(0) = M_rel Φ diag(2ζω) ΦᵀM_rel."""
    M, K = relative_mass(inertia, ports, damping.relative_to), elastic.K
    if K.shape[0] > MOST:
        raise InputError(f"modal damping has modes of {K.shape[0]} coordinates, more than {MOST}; use fewer elements")
    size = np.sqrt(np.abs(M.diagonal()))
    entries = M.tocoo()
    coupled = np.abs(entries.data) > ROUND_OFF * size[entries.row] * size[entries.col]
    M = sp.csr_array((entries.data[coupled], (entries.row[coupled], entries.col[coupled])), shape=M.shape)
    stresses = []
    for group in components(csr(abs(M) + abs(K))):  # uncoupled families stay uncoupled
        inverse_squared, modes = la.eigh(M[group][:, group].toarray(), K[group][:, group].toarray())
        stress = (elastic.C_inverse @ elastic.D[:, group]) @ modes
        stresses.append(stress * np.maximum(inverse_squared, 0.0) ** 0.25)
    modal_stresses = csr(np.hstack(stresses))
    return csr(2.0 * damping.ratio * (modal_stresses @ modal_stresses.T))
