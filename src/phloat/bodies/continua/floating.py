"""From an elastic body on a mesh to a floating body of few coordinates, with geometric stiffening.

The fields are those of Craig and Bampton (modes with the ports held, and the static motions of every port) in the frame, and
for every pair of the softest of them a companion: the field a_ij that relieves the quadratic strain of the pair,

    K a_ij = −DᵀC⁻¹ s_ij,      s_ij = pair(v_i, v_j),

without which bending could not shorten the body and it would lock. Stresses are those of all fields and pairs: with
fields v_k orthogonal in K and M, |v_k|_K = ω_k, and the rest of the pairs without companions, e = Σ c_ij (s_ij + D a_ij) of
unit energy,

    ε = D_r η + ½ Q η η,   C_r = I,   D_r = diag(ω) over 0,   Q = (v_kᵀDᵀC⁻¹s_ij / ω_k) over (e_mᵀC⁻¹s_ij),

so ½ σᵀσ is exactly the energy of the full mesh in these fields, and quadratic.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement

import numpy as np
import scipy.linalg as la

from phloat.algebra.cross import skew
from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, zero_matrix
from phloat.algebra.threads import one_thread
from phloat.bodies.body import Body, Port
from phloat.bodies.continua.craig_bampton import (
    Averaged,
    CraigBampton,
    Tied,
    fixed_interface_basis,
    mass_norms,
)
from phloat.bodies.continua.mesh_body import Interface, Mean, MeshBody, Place, Rigid, interfaces, mean_motion
from phloat.bodies.continua.reduced_shape import (
    FLAT,
    ReducedFields,
    ReducedShape,
    by_parity,
    inverse_compliance,
    mirror_images,
)
from phloat.bodies.damping import with_damping
from phloat.bodies.inertia import six_arrays
from phloat.bodies.strain import Elastic, Quadratic, no_quadratic
from phloat.errors import AccuracyError, InputError, whole_number
from phloat.linear.reduction.basis import orthogonal_to, orthonormal

SOFTEST = 6  # fields whose pairs get companions by default
MOST = 200  # coordinates of a body that moves
DEPENDENT = 1e-10  # of the energy of a pair: a smaller rest counts as zero
NOTHING = 1e-14  # of the largest energy of a pair: smaller ones count as zero
RESOLVED = 0.1  # of the energy of the softest field: the largest round-off allowed
LOOSE = "some part of the body is loose, or its stiffnesses are too far apart for the numbers to tell"


@one_thread()
def floating_body(
    continuum: MeshBody,
    ports: Mapping[str, Place],
    *,
    modes: int,
    stiffened: int | None,
    inertial: bool = True,
    loads: np.ndarray | None = None,
    fields: np.ndarray | None = None,
) -> Body:
    """The floating body whose fields are this number of modes and the motions of its ports, or are given, (n, fields).

    `stiffened` is the number of softest fields with quadratic strain: 6 by default, 0 for none. Each pair of them adds a
    companion, the field that relieves its quadratic strain. `inertial` adds the static responses to the inertia of rigid
    motion, of spin and of the motion of every port, `loads` (n, any number) those to these forces.
    """
    if continuum.held:
        raise InputError(
            f"this body is held to the ground ({continuum.held}), so it cannot float; release it, and weld its port instead"
        )
    if continuum.frame is None:
        raise InputError(
            f"the frame is missing: give frame='{MEAN_AXES}', or the boundary that it follows: {', '.join(continuum.parts)}"
        )
    count = SOFTEST if stiffened is None else whole_number("stiffened", stiffened, 0, f", or None for {SOFTEST}")
    port_interfaces = interfaces(continuum, ports)
    K = continuum.K
    assert K is not None  # bodies with a frame have stresses that are local to cells
    tied = {n: Tied(i.tied, i.rigid) if i.tied.size else Averaged(i.L) for n, i in port_interfaces.items()}
    static = [_inertial(continuum)] if inertial else []
    static += [] if loads is None or not loads.size else [loads]
    forces = np.hstack(static) if static else None
    basis = fixed_interface_basis(K, continuum.M, tied, modes=modes, rigid=continuum.rigid, inertial=forces)
    port, rows = _port_on(continuum.frame, ports), None
    if port is None and continuum.frame != MEAN_AXES:
        rows = mean_motion(continuum.trace(continuum.frame), f"frame {continuum.frame!r}")[1]
    if fields is not None:
        framed = _prescribed_fields(continuum, fields, rows if port is None else port_interfaces[port].L)
    elif port is not None:
        framed = basis.held_at(port)
    elif rows is not None:
        framed = _fields_in_frame(continuum, basis.V, rows)
    else:
        framed = basis.mean_axes(continuum.M, continuum.rigid)
    if not framed.shape[1]:
        raise InputError("no deformation is left: modes is 0 and the body has no second port; ask for modes=1 or more")
    framed, omega = _ritz(framed, K, continuum.M)
    _require_resolved(framed[:, 0], omega[0], K)
    motions = [i.L for i in port_interfaces.values()] + ([] if rows is None else [rows])
    primary = [_ritz(V, K, continuum.M) for V in by_parity(continuum, K, framed, motions)]
    strained = count > 0 and continuum.stretch is not None and continuum.strains.pair is not None
    reduced = _with_companions(continuum, K, basis, primary, port_interfaces, count if strained else 0)
    if reduced.V.shape[1] > MOST:
        raise InputError(
            f"{reduced.V.shape[1]} coordinates are too many (at most {MOST}); give fewer modes, or fewer companions: stiffened=4"
        )
    return _body(continuum, reduced, port_interfaces)


# --- fields -----------------------------------------------------------------------------------------------------------


def _inertial(continuum: MeshBody) -> np.ndarray:
    """The 12 inertia forces ρ (a + B x) of rigid acceleration and spin, (n, 12), with x from the mean of the samples."""
    x, mass, Phi, *_ = continuum.samples
    arm = x - x.mean(axis=0)
    fields = np.column_stack([np.ones(len(x)), arm / np.abs(arm).max()])
    return np.hstack([p.T @ (mass @ fields) for p in Phi])


def _ritz(V: np.ndarray, K: Matrix, M: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Ritz modes in the span of V: fields of unit mass orthogonal in K, and their frequencies, ascending."""
    if not V.shape[1]:
        return V, np.zeros(0)
    V = V / mass_norms(V, M)
    squared, turn = la.eigh(V.T @ (K @ V), V.T @ (M @ V))
    if squared[0] <= 0.0:
        raise AccuracyError(f"a kept field takes no energy: ω² is {squared[0]:.1e} beside {squared[-1]:.1e}; {LOOSE}")
    V = V @ turn
    V = V * np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])])
    return V, np.sqrt(squared)


def _require_resolved(v: np.ndarray, omega: float, K: Matrix) -> None:
    """Raises AccuracyError if the energy of the softest field, a small difference in slender solids, is mostly round-off.

    The bound is some 50 times the actual error: a bar of 10 cells, 3000 times as long as thick, has 1.4 here and errors of 2 %.
    """
    noise = np.finfo(float).eps * np.abs(v) @ (abs(K) @ np.abs(v)) / omega**2
    if noise > RESOLVED:
        raise AccuracyError(
            f"round-off is {noise:.1g} of the energy of the softest field; use fewer, longer cells, or a Beam or a Plate"
        )


def _with_companions(
    continuum: MeshBody,
    K: Matrix,
    basis: CraigBampton,
    primary: list[tuple[np.ndarray, np.ndarray]],
    port_interfaces: Mapping[str, Interface],
    count: int,
) -> ReducedFields:
    """The fields with companions of all pairs of the `count` softest ones; even and odd pairs are treated separately."""
    (V_even, omega_even), (V_odd, omega_odd) = primary
    omega = np.concatenate([omega_even, omega_odd])
    V, even = np.hstack([V_even, V_odd]), np.arange(len(omega)) < len(omega_even)
    pairs, s, tension = _straining_pairs(continuum, V, np.sort(np.argsort(omega)[:count]).tolist())
    force = continuum.strains.D.T @ tension if pairs else np.zeros((len(V), 0))
    a = basis.fixed.response(-force, _turned_ties(continuum, V, pairs, port_interfaces)) if pairs else force
    groups = [[p for p, (i, j) in enumerate(pairs) if (even[i] == even[j]) == equal] for equal in (True, False)]
    if not len(omega_even):  # no mirror: one group
        groups = [[], list(range(len(pairs)))]
    blocks, omegas, rests, even_rest = [], [], [], []
    for (base, base_omega), group, parity in zip(primary, groups, (True, False), strict=True):
        sign = 0.0 if not len(omega_even) else 1.0 if parity else -1.0
        new, new_omega = _companions(continuum, sign, K, base, base_omega, a[:, group], s[:, group], tension[:, group])
        W, frequencies = np.hstack([base, new]), np.concatenate([base_omega, new_omega])
        part = np.zeros((0, len(pairs)))
        if group:
            into = (W / frequencies).T @ force[:, group]
            rest = _root(
                s[:, group].T @ tension[:, group] - into.T @ into, np.einsum("ek,ek->k", s[:, group], tension[:, group])
            )
            part = np.zeros((len(rest), len(pairs)))
            part[:, group] = rest
        blocks.append(W)
        omegas.append(frequencies)
        rests.append(part)
        even_rest += [parity] * len(part)
    V, omega = np.hstack(blocks), np.concatenate(omegas)
    into = (V / omega).T @ force
    new_index = [*range(len(omega_even)), *range(len(omegas[0]), len(omegas[0]) + len(omega_odd))]
    return ReducedFields(
        V,
        omega,
        np.arange(len(omega)) < len(omegas[0]),
        [(new_index[i], new_index[j]) for i, j in pairs],
        into,
        np.vstack(rests),
        np.array(even_rest, dtype=bool),
    )


def _straining_pairs(
    continuum: MeshBody, V: np.ndarray, softest: list[int]
) -> tuple[list[tuple[int, int]], np.ndarray, np.ndarray]:
    """Pairs of the softest fields with quadratic strain, their strains s and stresses C⁻¹s in columns."""
    pairs = list(combinations_with_replacement(softest, 2))
    pair = continuum.strains.pair if pairs else None
    s = np.column_stack([pair(V[:, i], V[:, j]) for i, j in pairs]) if pair else V[:0, :0]
    tension = inverse_compliance(continuum.strains) @ s if pairs else s
    energy = np.einsum("ek,ek->k", s, tension)
    significant = np.flatnonzero(energy > NOTHING * energy.max(initial=0.0))  # fields in a plane may have none
    return [pairs[p] for p in significant], s[:, significant], tension[:, significant]


def _turned_ties(
    continuum: MeshBody, V: np.ndarray, pairs: list[tuple[int, int]], port_interfaces: Mapping[str, Interface]
) -> np.ndarray:
    """The second-order displacement of rigid interfaces as they rotate, ½ (ψ_i × (ψ_j × d) + ψ_j × (ψ_i × d)) for every pair.

    A face tied to a linear rotation grows by ½ ψ²; without this displacement its stiffness would resist that (the peak of
    a solid crank-slider would be 31 % low).
    """
    Q = np.zeros((len(V), len(pairs)))
    for interface in port_interfaces.values():
        if not interface.tied.size or continuum.stretch is None:
            continue
        turn = (interface.L @ V)[3:]
        if "w" in continuum.kinds:
            turn[2] = 0.0  # plates stretch by their slopes alone
        for p, (i, j) in enumerate(pairs):
            first, second = skew(turn[:, i]), skew(turn[:, j])
            G = 0.5 * (first @ second + second @ first)
            field = continuum.stretch(G) - continuum.rigid[:, :3] @ (G @ interface.x)
            Q[interface.tied, p] = field[interface.tied]
    return Q


def _companions(
    continuum: MeshBody,
    sign: float,
    K: Matrix,
    V: np.ndarray,
    omega: np.ndarray,
    a: np.ndarray,
    s: np.ndarray,
    tension: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The part of the companions a that is K-orthogonal to the fields V: fields of unit mass and their frequencies."""
    if not a.shape[1]:
        return np.zeros((len(V), 0)), np.zeros(0)
    for _ in range(2):
        a = a - V @ (V.T @ (K @ a) / omega[:, None] ** 2)
    scale = 1.0 / np.sqrt(np.maximum(np.einsum("ek,ek->k", s, tension), 1e-300))
    if sign:
        image = mirror_images(continuum, a)
        a = a if image is None else 0.5 * (a + sign * image)
    value, turn = la.eigh(scale[:, None] * (a.T @ (K @ a)) * scale)
    return _ritz(a @ (scale[:, None] * turn[:, value > DEPENDENT]), K, continuum.M)


def _root(gram: np.ndarray, energy: np.ndarray) -> np.ndarray:
    """Rows with rowsᵀ rows = gram; parts that are small compared with the energies of the pairs are dropped."""
    scale = 1.0 / np.sqrt(np.maximum(energy, 1e-300))
    value, turn = la.eigh(scale[:, None] * gram * scale)
    retained = value > DEPENDENT
    return np.sqrt(value[retained])[:, None] * turn[:, retained].T / scale


# --- the body ---------------------------------------------------------------------------------------------------------


def _body(continuum: MeshBody, fields: ReducedFields, port_interfaces: dict[str, Interface]) -> Body:
    """The Body of a continuum whose displacement is reduced to the given fields, with its ports."""
    V, r, rest = fields.V, fields.V.shape[1], len(fields.rest)
    x, mass, Phi, *_ = continuum.samples
    sections = continuum.sections and continuum.sections.projected(V)
    inertia = six_arrays(x, mass, [p @ V for p in Phi], sections)
    ports = {}
    allowed = np.where(fields.even, FLAT[:, None] > 0, FLAT[:, None] < 0) | (not fields.even.any())
    for name, i in port_interfaces.items():
        motion = np.where(
            allowed, i.L @ V, 0.0
        )  # even fields move ports in the plane only, odd ones across it only: round-off is set to zero
        ports[name] = Port(i.x, motion[:3], motion[3:])
    D = np.zeros((r + rest, r))
    D[:r] = np.diag(fields.omega)
    elastic = Elastic(
        C=csr(np.eye(r + rest)),
        D=csr(D),
        Q=_quadratic(fields),
        drag=zero_matrix(r, r) if continuum.drag is None else csr(V.T @ (continuum.drag @ V)),
        stresses=_stress_layout(fields),
    )
    return Body(
        recipe=continuum.recipe,
        inertia=inertia,
        elastic=with_damping(elastic, continuum.damping, inertia, ports),
        ports=ports,
        shape=ReducedShape(continuum, fields),
        planar=(fields.even, np.concatenate([fields.even, fields.even_rest])),
    )


def _stress_layout(fields: ReducedFields) -> Layout:
    """The layout of σ: stresses of fields and of pairs, in the plane xy and out of it."""
    sizes = {
        "fields in plane": fields.even.sum(),
        "fields out of plane": (~fields.even).sum(),
        "pairs in plane": fields.even_rest.sum(),
        "pairs out of plane": (~fields.even_rest).sum(),
    }
    return Layout({name: (int(size),) for name, size in sizes.items() if size}, "stress")


def _quadratic(fields: ReducedFields) -> Quadratic:
    """Q as a list of entries: every pair of fields in every stress in which it has a strain."""
    if not fields.pairs:
        return no_quadratic()
    strains = np.vstack([fields.into, fields.rest])
    small = 1e-13 * np.abs(strains).max(axis=0)
    strain, row, column, value = [], [], [], []
    for p, (i, j) in enumerate(fields.pairs):
        stresses = np.flatnonzero(np.abs(strains[:, p]) > small[p])
        for k, l in {(i, j), (j, i)}:
            strain.append(stresses)
            row.append(np.full(len(stresses), k))
            column.append(np.full(len(stresses), l))
            value.append(strains[stresses, p])
    return Quadratic(*(np.concatenate(part) for part in (strain, row, column, value)))


# --- the floating frame ----------------------------------------------------------------------------------------------
#
# A floating frame follows a port, the mean motion of another part of the boundary, or mean axes.


MEAN_AXES = "mean axes"


def _fields_in_frame(continuum: MeshBody, V: np.ndarray, rows: Matrix) -> np.ndarray:
    """The fields in the span of V that do not move the frame, whose mean motion is (v, ω) = rows · q."""
    # unit fields first: the rest of a rigid one is round-off, and must stay small
    V, rigid = V / mass_norms(V, continuum.M), continuum.rigid[:, continuum.rigid.any(axis=0)]
    V = _without_frame_motion(V, rigid, rows)
    _, turn = la.eigh(V.T @ (continuum.M @ V))
    return V @ turn[:, rigid.shape[1] :]  # drops the null vectors, which are the rigid motions of the span


def _prescribed_fields(continuum: MeshBody, V: np.ndarray, rows: Matrix | None) -> np.ndarray:
    """Fields V without the rigid motion of the frame (mean axes if rows is None); rigid and dependent ones are dropped."""
    motions = continuum.rigid[:, continuum.rigid.any(axis=0)]
    rigid = orthonormal(motions, continuum.M)
    V = V[:, V.any(axis=0)]
    V = orthonormal(orthogonal_to(V / mass_norms(V, continuum.M), rigid, continuum.M), continuum.M, np.ones(V.shape[1]))
    return V if rows is None else _without_frame_motion(V, motions, rows)


def _without_frame_motion(V: np.ndarray, rigid: np.ndarray, rows: Matrix) -> np.ndarray:
    """V plus the rigid motion that makes rows · V = 0."""
    for _ in range(2):  # the second sweep removes the round-off of the first
        V = V - rigid @ la.lstsq(rows @ rigid, rows @ V)[0]
    return V


def _port_on(frame: str, ports: Mapping[str, Place]) -> str | None:
    """The name of the port on the boundary that the frame follows, or None."""
    boundaries = {name: p.boundary if isinstance(p, (Mean, Rigid)) else p for name, p in ports.items()}
    return next((name for name, b in boundaries.items() if isinstance(b, str) and b == frame), None)
