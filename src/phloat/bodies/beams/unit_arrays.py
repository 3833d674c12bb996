"""A discretised beam as sums of unit arrays times its numbers: the same beam with other numbers, without assembling it again.

    six arrays, rotary inertia, C⁻¹  =  Σ_q number(q) · unit array,      number = ρA, ρI, EA, EI … at the quadrature points q

A beam λ times as long has the same unit arrays, each entry times a power of λ. All of it is exact: what comes out is what
`discretise` makes, to round-off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, SparsePattern, zero_matrix
from phloat.bodies.beams.beam import STIFFNESSES, Beam, radius, second_moments
from phloat.bodies.beams.fields import BeamFields, BeamShape
from phloat.bodies.beams.split import Split
from phloat.bodies.body import Body, Port
from phloat.bodies.damping import with_damping
from phloat.bodies.inertia import Inertia, turned_moments
from phloat.bodies.shape import Selected, Shape
from phloat.bodies.strain import Elastic, Quadratic
from phloat.fem.interval import DENSE_ENTRIES, gauss


@dataclass(frozen=True, eq=False)
class UnitArrays:
    """The unit arrays of a beam, or of one piece of a split beam, in space or in the plane xy."""

    body: Body
    piece: int  # of a split beam, or -1
    beam: Beam
    shape: BeamShape
    in_plane: Selected | None
    x: np.ndarray  # quadrature points
    w: np.ndarray
    mass: np.ndarray | Matrix  # (m, Σx, Σx², S, X, W) per mass at a point
    mass_power: np.ndarray  # of λ, entry by entry
    W: tuple[SparsePattern, ...]
    turn: np.ndarray | Matrix  # (J₀, X, M_s, W) per ρI and ρI_y at a point
    turn_power: np.ndarray
    M_s: SparsePattern
    stiff: tuple[tuple[str, int, np.ndarray], ...]  # name of the number, size of blocks, C⁻¹ per number at a point
    C: SparsePattern
    D_power: np.ndarray
    Q_power: np.ndarray
    wound: np.ndarray  # entries of Q that belong to twist
    winding: np.ndarray  # and their values per I_p/A at a point
    ports_power: dict[str, tuple[np.ndarray, np.ndarray]]

    def __call__(self, recipe: Any) -> Body | None:
        """The body with the numbers of another recipe, a beam or a split beam; None if more than numbers differs."""
        beam: Any = recipe.beam.piece(self.piece, recipe.pieces) if isinstance(recipe, Split) else recipe
        if not _same(self.beam, beam):
            return None
        scale = beam.length / self.beam.length
        number = beam.numbers(scale * self.x)
        if has_skew_sections(number):
            return None
        inertia = self._inertia(beam, number, scale)
        fields = self.shape.fields
        if scale != 1.0:
            fields = BeamFields(scale * fields.nodes, fields.theory, fields.torsion)
        shape: Shape = BeamShape(beam.length, fields, self.shape.keep, beam.sections, beam.torsion_shares)
        if self.in_plane is not None:
            shape = Selected(shape, self.in_plane.keep, self.in_plane.strains)
        construction, ports = self.body.construction, self._ports(scale)
        return replace(
            self.body,
            recipe=beam,
            inertia=inertia,
            elastic=self._elastic(beam, number, scale, inertia, ports),
            ports=ports,
            shape=shape,
            construction=construction and replace(construction, recipe=recipe),
        )

    def _inertia(self, beam: Beam, number: dict[str, np.ndarray], scale: float) -> Inertia:
        n = self.body.coordinates
        weight = scale * self.w
        mass = np.concatenate([weight * number["rhoA"], np.array(list(beam.masses.values()), dtype=float)])
        given = self.mass @ mass
        turned = self.turn @ np.concatenate([weight * number["rhoI"], weight * number["rhoI_y"]])
        if scale != 1.0:
            given, turned = given * scale**self.mass_power, turned * scale**self.turn_power
        m, first, second = given[:3]
        rotary = turned[:3]
        X = turned[3 : 3 + 9 * n].reshape(3, 3, n)
        X[0] += given[3 + 3 * n : 3 + 6 * n].reshape(3, n)
        count = sum(len(pattern.matrix.data) for pattern in self.W)
        data = given[-count:] + turned[-count:]
        parts = np.split(data, np.cumsum([len(pattern.matrix.data) for pattern in self.W])[:-1])
        W_ab = [pattern.filled(part) for pattern, part in zip(self.W, parts, strict=True)]
        M_s = self.M_s.filled(turned[3 + 9 * n : -count])
        return Inertia(
            m=float(m),
            s0=np.array([first, 0.0, 0.0]),
            J0=np.diag([rotary[0], second + rotary[1], second + rotary[2]]),
            S=given[3 : 3 + 3 * n].reshape(3, n),
            X=X,
            W_ab=tuple(tuple(W_ab[3 * a : 3 * a + 3]) for a in range(3)),
            M_s=M_s,
        )

    def _elastic(
        self, beam: Beam, number: dict[str, np.ndarray], scale: float, inertia: Inertia, ports: dict[str, Port]
    ) -> Elastic:
        old = self.body.elastic
        blocks = [(unit @ number[name]).reshape(-1, size, size) / scale for name, size, unit in self.stiff]
        C = self.C.filled(np.concatenate([np.zeros(0), *(np.linalg.inv(block).ravel() for block in blocks)]))
        D, Q = old.D, old.Q
        value = Q.value.copy()
        value[self.wound] = self.winding @ radius(number)
        if scale != 1.0:
            D = SparsePattern(old.D).filled(old.D.data * scale**self.D_power)
            value *= scale**self.Q_power
        Q = Quadratic(Q.strain, Q.row, Q.column, value)
        return with_damping(Elastic(C, D, Q, zero_matrix(*old.drag.shape), old.stresses), beam.damping, inertia, ports)

    def _ports(self, scale: float) -> dict[str, Port]:
        if scale == 1.0:
            return dict(self.body.ports)
        out = {}
        for name, port in self.body.ports.items():
            power = self.ports_power[name]
            out[name] = Port(scale * port.x, port.Phi * scale ** power[0], port.Psi * scale ** power[1])
        return out


def _same(old: Beam, new: Beam) -> bool:
    """Whether only numbers that units multiply are other."""
    fixed = ("theory", "frame", "ports", "stiffening")
    if callable(new.section) or callable(new.material):  # cut at the same places
        places = [np.array(beam.breaks(np.array([0.0, 1.0]))) for beam in (old, new)]
        if len(places[0]) != len(places[1]) or (np.abs(places[0] - places[1]) > 1e-12).any():
            return False
    return list(old.masses) == list(new.masses) and all(getattr(old, name) == getattr(new, name) for name in fixed)


def has_skew_sections(number: dict[str, np.ndarray]) -> bool:
    """Whether a section has an angle or a product of inertia, for which there are no unit arrays."""
    return bool(number["angle"].any() or number["EI_yz"].any())


# --- the unit arrays --------------------------------------------------------------------------------------------------


def unit_arrays(body: Body) -> UnitArrays | None:
    """The unit arrays of a body that is a beam in all its coordinates, or in those of the plane xy; else None."""
    in_plane = body.shape if isinstance(body.shape, Selected) else None
    shape = in_plane.shape if in_plane is not None else body.shape
    beam = body.recipe
    if not isinstance(shape, BeamShape) or not isinstance(beam, Beam) or body.construction is None:
        return None
    fields = shape.fields
    columns = shape.keep if in_plane is None else shape.keep[in_plane.keep]
    x, w = gauss(fields.nodes)
    if has_skew_sections(beam.numbers(x)):
        return None
    pieces = [step.arguments[0] for step in body.construction.steps if step.method == "piece"]
    points = np.concatenate([x, beam.length * np.array(list(beam.masses), dtype=float)])
    Phi = _dense(fields.displacement(points), columns)
    turn = _dense(fields.turning(x), columns)
    power = _powers(fields, points, columns, Phi, turn)
    E = second_moments(beam.theory, 1)[:3, :2, 0]
    W = _patterns(Phi, turn, np.einsum("abdecc,cs->sabde", turned_moments(), E))
    mass, mass_power = _masses(points, Phi, power, W)
    M_s, turned, turn_power = _turns(E, turn, power, W)
    wound, winding = _windings(body, fields, columns, x, w)
    used = list(body.elastic.stresses)
    stiff = tuple(_stiff(fields, name, x, w) for name in used)
    C, twice = _blocks([(size, len(unit) // size**2) for _, size, unit in stiff]), _longer(body)
    return UnitArrays(
        body=body,
        piece=pieces[0] if pieces else -1,
        beam=beam,
        shape=shape,
        in_plane=in_plane,
        x=x,
        w=w,
        mass=mass,
        mass_power=mass_power,
        W=W,
        turn=turned,
        turn_power=turn_power,
        M_s=M_s,
        stiff=stiff,
        C=C,
        D_power=_power(body.elastic.D.data, twice.elastic.D.data),
        Q_power=_power(body.elastic.Q.value, twice.elastic.Q.value),
        wound=wound,
        winding=winding,
        ports_power={
            name: (_power(port.Phi, twice.ports[name].Phi), _power(port.Psi, twice.ports[name].Psi))
            for name, port in body.ports.items()
        },
    )


def _dense(rows: list[Any], columns: np.ndarray) -> np.ndarray:
    """(x, y, z; points; coordinates)."""
    return np.array([(row if isinstance(row, np.ndarray) else row.toarray())[:, columns] for row in rows])


def _powers(
    fields: BeamFields, points: np.ndarray, columns: np.ndarray, Phi: np.ndarray, turn: np.ndarray
) -> np.ndarray:
    """The power of λ in every column of Φ: from Φ, or, where that is zero, from the rotations, which have one less."""
    twice = BeamFields(2.0 * fields.nodes, fields.theory, fields.torsion)
    moved = _power(Phi, _dense(twice.displacement(2.0 * points), columns)).max(axis=(0, 1))
    at = 2.0 * gauss(fields.nodes)[0]
    turned = _power(turn, _dense(twice.turning(at), columns)).max(axis=(0, 1), initial=-9.0)
    return np.where(Phi.any(axis=(0, 1)), moved, turned + 1.0)


def _power(once: np.ndarray, twice: np.ndarray) -> np.ndarray:
    """The power of λ in entries of a beam, from those of one twice as long; 0 for zero entries."""
    there = (once != 0.0) & (twice != 0.0)
    ratio = np.divide(twice, once, out=np.ones_like(once), where=there)
    return np.round(np.log2(ratio))


def _patterns(Phi: np.ndarray, turn: np.ndarray, T: np.ndarray) -> tuple[SparsePattern, ...]:
    """Where the nine W_ab of points and of sections may have entries."""
    felt = np.abs(T).sum(axis=0) > 0.0
    pairs = [[np.abs(left).T @ np.abs(right) for right in turn] for left in turn]
    out = []
    for a in range(3):
        for b in range(3):
            there = np.abs(Phi[a]).T @ np.abs(Phi[b])
            for d, e in zip(*np.nonzero(felt[a, b]), strict=True):
                there = there + pairs[d][e]
            out.append(SparsePattern.of(there > 0.0))
    return tuple(out)


def _masses(
    points: np.ndarray, Phi: np.ndarray, power: np.ndarray, W: tuple[SparsePattern, ...]
) -> tuple[np.ndarray | Matrix, np.ndarray]:
    rows = [np.ones((1, len(points))), points[None], points[None] ** 2]
    rows += [Phi[a].T for a in range(3)] + [Phi[b].T * points for b in range(3)]
    powers = [np.array([0.0, 1.0, 2.0]), np.tile(power, 3), np.tile(1.0 + power, 3)]
    for k, pattern in enumerate(W):
        i, j = pattern.places
        rows.append((Phi[k // 3][:, i] * Phi[k % 3][:, j]).T)
        powers.append(power[i] + power[j])
    return _stacked(rows, len(points)), np.concatenate(powers)


def _turns(
    E: np.ndarray, turn: np.ndarray, power: np.ndarray, W: tuple[SparsePattern, ...]
) -> tuple[SparsePattern, np.ndarray | Matrix, np.ndarray]:
    """Rotary inertia per ∫ρy² and ∫ρz² at every point, as `rigid_sections` has it: J₀, X = E[ψ]ᵀ, M_s and W."""
    n, count = len(power), turn.shape[1]
    J = E.sum(axis=0) - E  # axis, (ρy², ρz²)
    X = np.zeros((3, 3, n, 2, count))
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        for s in range(2):
            X[a, b, :, s], X[a, c, :, s] = E[a, s] * turn[c].T, -E[a, s] * turn[b].T
    pattern = SparsePattern.of(sum(np.abs(t).T @ np.abs(t) for t in turn) > 0.0)
    i, j = pattern.places
    M_s = np.einsum("aqk,aqk,as->ksq", turn[:, :, i], turn[:, :, j], J)
    rows = [np.repeat(J[:, :, None], count, axis=2), X.reshape(9 * n, 2, count), M_s]
    powers = [np.zeros(3), np.tile(power - 1.0, 9), power[i] + power[j] - 2.0]
    T = np.einsum("abdecc,cs->sabde", turned_moments(), E)
    for k, own in enumerate(W):
        i, j = own.places
        rows.append(_section_products(turn[:, :, i], turn[:, :, j], T[:, k // 3, k % 3]))
        powers.append(power[i] + power[j] - 2.0)
    return pattern, _stacked(rows, 2 * count), np.concatenate(powers)


def _section_products(left: np.ndarray, right: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Σ T_de ψ_d χ_e, (entries, (ρy², ρz²), points)."""
    out = np.zeros((left.shape[2], 2, left.shape[1]))
    for s, d, e in zip(*np.nonzero(T), strict=True):
        out[:, s] += T[s, d, e] * (left[d] * right[e]).T
    return out


def _windings(
    body: Body, fields: BeamFields, columns: np.ndarray, x: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Entries of Q that belong to twist, and their values ∫ τ θ'θ' per I_p/A at every point."""
    Q, space = body.elastic.Q, fields.stress_spaces["N"][0]
    (slope,) = _dense([fields.of("theta_x", x, 1)], columns)
    (force,) = _dense([space.at(x)], np.arange(space.size))
    wound = np.flatnonzero(slope.any(axis=0)[Q.row])
    winding = w[:, None] * force[:, Q.strain[wound]] * slope[:, Q.row[wound]] * slope[:, Q.column[wound]]
    return wound, winding.T


def _stacked(rows: list[np.ndarray], columns: int) -> np.ndarray | Matrix:
    """Blocks of rows under each other; sparse if large, since an entry depends on the points of two elements at most."""
    blocks = [row.reshape(-1, columns) for row in rows]
    if sum(block.size for block in blocks) <= DENSE_ENTRIES:
        return np.vstack(blocks)
    return sp.csr_array(sp.vstack([sp.csr_array(block) for block in blocks], format="csr"))


def _stiff(fields: BeamFields, name: str, x: np.ndarray, w: np.ndarray) -> tuple[str, int, np.ndarray]:
    """C⁻¹ = N⁻¹SN⁻¹ of one resultant, block by block, per stiffness at every point."""
    space = fields.stress_spaces[name][0]
    size, elements = space.degree + 1, len(fields.nodes) - 1
    each = len(x) // elements
    at = space.at(x)
    test = (at if isinstance(at, np.ndarray) else at.toarray()).reshape(elements, each, elements, size)
    local = np.array([test[e, :, e] for e in range(elements)])  # of the element's own points and functions
    weight = w.reshape(elements, each)
    N = np.einsum("eqi,eq,eqj->eij", local, weight, local)
    scaled = np.einsum("eij,eqj->eqi", np.linalg.inv(N), local)
    unit = np.zeros((elements, size, size, elements, each))
    for e in range(elements):
        unit[e, :, :, e] = np.einsum("qi,q,qj->ijq", scaled[e], weight[e], scaled[e])
    return STIFFNESSES[name], size, unit.reshape(elements * size**2, len(x))


def _blocks(sizes: list[tuple[int, int]]) -> SparsePattern:
    """Dense blocks along the diagonal: so many of each size."""
    blocks = [sp.coo_array(np.ones((size, size))) for size, count in sizes for _ in range(count)]
    return SparsePattern(sp.csr_array(sp.block_diag(blocks, format="csr")) if blocks else zero_matrix(0, 0))


def _longer(body: Body) -> Body:
    """The same body from a beam twice as long."""
    assert body.construction is not None
    recipe: Any = body.construction.recipe
    if isinstance(recipe, Split):
        beam: Any = recipe.beam
        longer: Any = replace(recipe, beam=replace(beam, length=2.0 * beam.length))
    else:
        longer = replace(recipe, length=2.0 * recipe.length)
    twice: Body = body.construction.repeat(longer)
    return twice
