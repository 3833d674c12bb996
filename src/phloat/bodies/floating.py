"""From an elastic body on a mesh to a floating body of few coordinates that keeps its stiffening.

Kept are Craig and Bampton's fields (modes with the ports held, and the static motion of every port), seen from the frame, and
for every pair of the softest of them a companion: the field a_ij that relieves the quadratic strain of the pair,

    K a_ij = −DᵀC⁻¹ s_ij,      s_ij = pair(v_i, v_j),

without which bending could not shorten the body and it would lock. Stresses are those of all kept fields and pairs: with
fields v_k that K and M make orthogonal, |v_k|_K = ω_k, and what companions leave of the pairs, e = Σ c_ij (s_ij + D a_ij) of
unit energy,

    ε = D_r η + ½ Q η η,   C_r = I,   D_r = diag(ω) over 0,   Q = (v_kᵀDᵀC⁻¹s_ij / ω_k) over (e_mᵀC⁻¹s_ij),

so ½ σᵀσ is exactly the energy of the whole mesh in the kept fields, and quadratic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, block_inverse, csr
from phloat.bodies.body import Body, Port, Shape
from phloat.bodies.craig_bampton import Averaged, CraigBampton, Mixed, Stiffness, Tied, craig_bampton, times
from phloat.bodies.inertia import six_arrays
from phloat.bodies.interfaces import Interface, Patch, interfaces, mean_motion
from phloat.bodies.meshed import Meshed, Strains
from phloat.bodies.strain import Elastic, Quadratic, no_quadratic
from phloat.errors import InputError

MEAN_AXES = "mean axes"
SOFTEST = 6  # fields whose pairs get companions unless said otherwise
MOST = 200  # coordinates of a body that moves
DEPENDENT = 1e-10  # of the energy of a pair: what is left of it counts as nothing
OUT_OF_PLANE = 1e-8


@dataclass(frozen=True, eq=False)
class Fields:
    """Kept fields V (n × r) with their frequencies, the first `primary` of them Craig and Bampton's, and the pairs.

    `into` (r × pairs) are the parts of the pairs' strains along the fields' own, `left` (rest × pairs) the parts that remain.
    """

    V: np.ndarray
    omega: np.ndarray
    primary: int
    pairs: list[tuple[int, int]]
    into: np.ndarray
    left: np.ndarray


def reduced(
    continuum: Meshed, ports: Mapping[str, Patch], *, modes: int, stiffened: int | None, inertial: bool = True
) -> Body:
    """The floating body with so many modes besides the motions of its ports.

    `stiffened` is how many of the softest fields carry quadratic strain (their pairs get companions): 6 at most when not said,
    0 for none. `inertial` keeps the static response to the inertia of rigid motion, of spin, and of every port's own motion, too.
    """
    if continuum.held:
        raise InputError(
            f"this body is held to the ground ({continuum.held}), so it cannot float; take that out, and weld its port instead"
        )
    if continuum.frame is None:
        raise InputError(
            "no frame condition: say what the floating frame follows, frame='<boundary>' "
            f"(there are: {', '.join(continuum.parts) or 'none'}) or frame='{MEAN_AXES}'"
        )
    found = interfaces(continuum, ports)
    K: Stiffness = continuum.K if continuum.K is not None else Mixed(continuum.strains.C, continuum.strains.D)
    tied = {n: Tied(i.tied, i.rigid) if i.tied.size else Averaged(i.L) for n, i in found.items()}
    forces = _inertial(continuum) if inertial else None
    basis = craig_bampton(K, continuum.M, tied, modes=modes, rigid=continuum.rigid, inertial=forces)
    primary = _ritz(_framed(continuum, basis, continuum.frame, ports), K, continuum.M)
    if not primary[0].shape[1]:
        raise InputError("no deformation is left: modes is 0 and the body has no second port; ask for modes=1 or more")
    pair = continuum.strains.pair if stiffened != 0 else None
    count = min(SOFTEST if stiffened is None else stiffened, primary[0].shape[1])
    fields = _companions(continuum, K, basis, *primary, count) if pair else _linear_only(*primary)
    if fields.V.shape[1] > MOST:
        raise InputError(
            f"{fields.V.shape[1]} coordinates ({fields.primary} fields and their companions) are too many for a body that moves "
            f"(at most {MOST}); ask for fewer modes, or companions of fewer fields: stiffened=4"
        )
    return _body(continuum, fields, found)


# --- fields -----------------------------------------------------------------------------------------------------------


def _inertial(continuum: Meshed) -> np.ndarray:
    """The body's own inertia in any rigid acceleration and spin: forces ρ (a + B x), 12 of them."""
    x, mass, Phi, *_ = continuum.samples
    fields = np.column_stack([np.ones(len(x)), x / np.abs(x).max()])
    return np.hstack([p.T @ (mass @ fields) for p in Phi])


def _framed(continuum: Meshed, basis: CraigBampton, frame: str, ports: Mapping[str, Patch]) -> np.ndarray:
    """The fields without the rigid motion of the frame."""
    if frame == MEAN_AXES:
        return basis.mean_axes(continuum.M, continuum.rigid)
    for name, patch in ports.items():
        if frame == getattr(patch, "boundary", patch):
            return basis.held_at(name)
    _, F = mean_motion(continuum.trace(frame), f"frame {frame!r}")
    rigid = continuum.rigid
    V = basis.V - rigid @ la.solve(F @ rigid, F @ basis.V)
    V = V / np.sqrt(np.maximum(np.einsum("ik,ik->k", V, continuum.M @ V), 1e-300))
    _, turn = la.eigh(V.T @ (continuum.M @ V))
    return V @ turn[:, 6:]  # six rigid motions were in the span


def _ritz(V: np.ndarray, K: Stiffness, M: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """In the span of V: fields of unit mass that K makes orthogonal, and their frequencies, ascending."""
    if not V.shape[1]:
        return V, np.zeros(0)
    V = V / np.sqrt(np.einsum("ik,ik->k", V, M @ V))
    squared, turn = la.eigh(V.T @ times(K, V), V.T @ (M @ V))
    V = V @ turn
    V = V * np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])])
    return V, np.sqrt(squared)


def _linear_only(V: np.ndarray, omega: np.ndarray) -> Fields:
    return Fields(V, omega, len(omega), [], np.zeros((len(omega), 0)), np.zeros((0, 0)))


def _companions(
    continuum: Meshed, K: Stiffness, basis: CraigBampton, V: np.ndarray, omega: np.ndarray, count: int
) -> Fields:
    strains = continuum.strains
    stress_of = _stress_of(strains)
    pairs = list(combinations_with_replacement(range(count), 2))
    s = np.column_stack([strains.pair(V[:, i], V[:, j]) for i, j in pairs])
    tension = stress_of(s)
    force = strains.D.T @ tension
    a = -basis.held.under(force)
    energy = np.einsum("ek,ek->k", s, tension)
    # against the fields there are, in the product of K: what is new of the companions
    for _ in range(2):
        a = a - V @ (V.T @ times(K, a) / omega[:, None] ** 2)
    new = a.T @ times(K, a)
    scale = 1.0 / np.sqrt(np.maximum(energy, 1e-300))
    value, turn = la.eigh(scale[:, None] * new * scale)
    companions = a @ (scale[:, None] * turn[:, value > DEPENDENT])
    C, omega_c = _ritz(companions, K, continuum.M)
    W, frequencies = np.hstack([V, C]), np.concatenate([omega, omega_c])
    into = (W / frequencies).T @ force
    rest = s.T @ tension - into.T @ into
    value, turn = la.eigh(scale[:, None] * rest * scale)
    kept = value > DEPENDENT
    left = np.sqrt(value[kept])[:, None] * turn[:, kept].T / scale
    return Fields(W, frequencies, len(omega), pairs, into, left)


def _stress_of(strains: Strains) -> Callable[[np.ndarray], np.ndarray]:
    """C⁻¹ on columns."""
    inverse = block_inverse(strains.C)
    if inverse is None:
        raise InputError("bodies whose stresses are not local to elements do not stiffen; use the conforming elements")
    return lambda s: inverse @ s


# --- the body ---------------------------------------------------------------------------------------------------------


def _body(continuum: Meshed, fields: Fields, found: dict[str, Interface]) -> Body:
    V, r, rest = fields.V, fields.V.shape[1], len(fields.left)
    x, mass, Phi, *_ = continuum.samples
    sections = continuum.sections
    if sections is not None:
        sections = type(sections)(sections.J0, sections.X @ V, csr(V.T @ (sections.M_s @ V)))
    inertia = six_arrays(x, mass, [p @ V for p in Phi], sections)
    ports = {}
    for name, i in found.items():
        motion = i.L @ V
        ports[name] = Port(i.x, motion[:3], motion[3:])
    D = np.zeros((r + rest, r))
    D[:r] = np.diag(fields.omega)
    elastic = Elastic(
        C=csr(np.eye(r + rest)),
        D=csr(D),
        Q=_quadratic(fields),
        R_d=csr(V.T @ (continuum.R_d @ V)),
        stresses=Layout({"fields": (r,), **({"pairs": (rest,)} if rest else {})}, "stress"),
    )
    planar = _planar(inertia.S, inertia.X, ports, r)
    inside = {p for p, (i, j) in enumerate(fields.pairs) if planar[i] == planar[j]}
    felt = np.array(
        [any(abs(row[p]) > OUT_OF_PLANE * np.abs(row).max() for p in inside) for row in fields.left], dtype=bool
    )
    return Body(
        recipe=continuum.recipe,
        inertia=inertia,
        elastic=elastic,
        ports=ports,
        shape=Kept(continuum, fields),
        planar=(planar, np.concatenate([planar, felt])),
    )


def _quadratic(fields: Fields) -> Quadratic:
    """Q as a list: every pair of fields into every stress it strains."""
    if not fields.pairs:
        return no_quadratic()
    both = np.vstack([fields.into, fields.left])
    small = 1e-13 * np.abs(both).max(axis=0)
    strain, row, column, value = [], [], [], []
    for p, (i, j) in enumerate(fields.pairs):
        hit = np.flatnonzero(np.abs(both[:, p]) > small[p])
        for k, l in {(i, j), (j, i)}:
            strain.append(hit)
            row.append(np.full(len(hit), k))
            column.append(np.full(len(hit), l))
            value.append(both[hit, p])
    return Quadratic(*(np.concatenate(part) for part in (strain, row, column, value)))


def _planar(S: np.ndarray, X: np.ndarray, ports: dict[str, Port], r: int) -> np.ndarray:
    """Which fields move the body in the plane xy: no momentum out of it, no port that leaves it."""
    size = max(np.abs(S).max(initial=0.0), 1e-300)
    out = np.abs(S[2]) < OUT_OF_PLANE * size
    for a, b in ((1, 2), (0, 2)):
        out &= np.abs(X[a, b] - X[b, a]) < OUT_OF_PLANE * max(np.abs(X).max(initial=0.0), 1e-300)
    for p in ports.values():
        big = max(np.abs(p.Phi).max(initial=0.0), 1e-300), max(np.abs(p.Psi).max(initial=0.0), 1e-300)
        out &= (np.abs(p.Phi[2]) < OUT_OF_PLANE * big[0]) & (np.abs(p.Psi[:2]).max(axis=0) < OUT_OF_PLANE * big[1])
    return out.reshape(r)


@dataclass(frozen=True, eq=False)
class Kept:
    """The fields of a mesh body in its kept coordinates."""

    continuum: Meshed
    fields: Fields

    @property
    def shape(self) -> Shape:
        return self.continuum.shape

    def places(self) -> np.ndarray:
        return self.shape.places()

    def points(self, s: np.ndarray) -> np.ndarray:
        return self.shape.points(s)

    def displacement(self, s: np.ndarray) -> Matrix:
        return csr(self.shape.displacement(s) @ self.fields.V)

    def rotation(self, s: np.ndarray) -> Matrix:
        return csr(self.shape.rotation(s) @ self.fields.V)

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        return {name: csr(rows @ self.S) for name, rows in self.shape.stress(s).items()}

    def material(self, x: np.ndarray) -> Matrix:
        return self.displacement(x)

    def cauchy(self, x: np.ndarray) -> Matrix:
        return csr(self.shape.cauchy(x) @ self.S)

    def stress_points(self) -> np.ndarray:
        return self.shape.stress_points()

    @cached_property
    def S(self) -> np.ndarray:
        """The stresses of the mesh per kept stress."""
        f, strains = self.fields, self.continuum.strains
        strain = (strains.D @ f.V) / f.omega
        if len(f.left):
            s = np.column_stack([strains.pair(f.V[:, i], f.V[:, j]) for i, j in f.pairs])
            strain = np.hstack([strain, (s - strain @ f.into) @ la.pinv(f.left)])
        return _stress_of(strains)(strain)
