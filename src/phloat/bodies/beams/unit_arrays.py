"""Beams of one discretisation as linear maps of their numbers, computed once on a line of length one and shared.

With the shape functions at the quadrature points q stored, a beam needs no fields, elements and sparse products:

    six arrays, rotary inertia, C⁻¹  =  Σ_q number(q) · products of shape functions,   number = ρA, ρI, EA, EI … at the points q

In a beam of length L each coordinate scales with a power of L (`BeamFields.powers`). Sections have no product of inertia and no
angle here, and stresses are local.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, SparsePattern, csr, diagonal, in_rows, weighted, zero_matrix
from phloat.bodies.beams.elasticity import STIFFNESSES, radius
from phloat.bodies.beams.fields import BeamFields, second_moments
from phloat.bodies.body import Port
from phloat.bodies.inertia import Inertia, turned_moments
from phloat.bodies.strain import Elastic, Quadratic
from phloat.fem.interval import GAUSS_POINTS, LineSpace, gauss

CURVATURES = ("T", "M_y", "M_z")  # stresses whose integrated strains scale with one power of the length less
MOST_POWERS = 4.0
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # keys, sources, values


class UnitArrays:
    """Inertia, elasticity and ports of a beam, as functions of its length and numbers, in the coordinates `columns` of its fields.

    `fields` are on a line of length one, `lumps` the fractions with lumped masses; `elastic` has D and Q with I_p/A = 1.
    """

    def __init__(
        self, fields: BeamFields, columns: np.ndarray, lumps: np.ndarray, elastic: Elastic, ports: Mapping[str, Port]
    ) -> None:
        self.fields, self.columns, self.unit, self.unit_ports = fields, columns, elastic, ports
        self.x, self.w = gauss(fields.nodes)
        self.points = np.concatenate([self.x, lumps])
        self.power = fields.powers[columns].astype(int)
        self.no_drag = zero_matrix(len(columns), len(columns))
        self._map_inertia()
        self._map_elasticity()

    def selected(self, keep: np.ndarray, strains: np.ndarray) -> UnitArrays:
        """The arrays in the coordinates and stresses of two masks."""
        ports = {name: Port(p.x, p.Phi[:, keep], p.Psi[:, keep]) for name, p in self.unit_ports.items()}
        lumps = self.points[len(self.x) :]
        return UnitArrays(self.fields, self.columns[keep], lumps, self.unit.selected(keep, strains), ports)

    # --- inertia -----------------------------------------------------------------------------------------------------

    def _map_inertia(self) -> None:
        """The map from masses of all points and second moments of quadrature points to the entries of W_ab, M_s, S and X."""
        n = len(self.columns)
        found = [*self._mass_entries(), *self._rotary_entries()]
        keys, sources, values = (np.concatenate(part) for part in zip(*found, strict=True))
        key, entry = np.unique(keys, return_inverse=True)
        shape = (len(key), len(self.points) + 3 * len(self.x))
        self.inertia_map = sp.csr_array((values, (entry, sources)), shape=shape)
        matrices, rest = key[key < 10 * n * n], key[key >= 10 * n * n] - 10 * n * n
        self.cuts = np.searchsorted(matrices, np.arange(11) * n * n)  # where each matrix begins and ends
        row, column = np.divmod(matrices % (n * n), n)
        self.patterns = [
            SparsePattern(in_rows(row[a:b], column[a:b], np.ones(b - a), (n, n))) for a, b in pairwise(self.cuts)
        ]
        self.dense = rest
        self.exponents = np.concatenate([self.power[row] + self.power[column], self.power[rest % n] + (rest >= 3 * n)])

    def _mass_entries(self) -> Iterator[Entries]:
        """S, the first row of X, and W_ab of masses: Σ Φ_b,  Σ x Φ_b,  Σ Φ_aΦ_b."""
        n, Phi = len(self.columns), [csr(rows[:, self.columns]) for rows in self.fields.displacement(self.points)]
        for b in range(3):
            yield _entries(Phi[b], 10 * n * n + b * n)
            yield _entries(csr(weighted(Phi[b], self.points)), 10 * n * n + (3 + b) * n)
            yield from (_products(Phi[a], Phi[b], 3 * a + b) for a in range(3))

    def _rotary_entries(self) -> Iterator[Entries]:
        """X, W_ab and M_s of second moments, as in `rigid_sections`."""
        n, T = len(self.columns), turned_moments()
        turn = [csr(rows[:, self.columns]) for rows in self.fields.section_rotation(self.x)]
        for a in range(3):
            b, c, first = (a + 1) % 3, (a + 2) % 3, len(self.points) + a * len(self.x)
            yield _entries(turn[c], 10 * n * n + (3 + 3 * a + b) * n, first)
            yield _entries(csr(-turn[b]), 10 * n * n + (3 + 3 * a + c) * n, first)
            yield from (_products(turn[d], turn[d], 9, first) for d in (b, c))
            for i, j, d, e in zip(*np.nonzero(T[..., a, a]), strict=True):
                yield _products(turn[d], turn[e], 3 * i + j, first, T[i, j, d, e, a, a])

    def inertia(self, theory: str, length: float, number: dict[str, np.ndarray], lumps: np.ndarray) -> Inertia:
        """The six arrays of a beam with these numbers at its quadrature points, and lumped masses."""
        n, weight, x = len(self.columns), length * self.w, length * self.points
        mass = np.concatenate([weight * number["rhoA"], lumps])
        E = second_moments(theory, 1)[:3, :2, 0] @ (weight * [number["rhoI"], number["rhoI_y"]])  # (axis, points)
        values = self.inertia_map @ np.concatenate([mass, (E / length**2).ravel()])
        values *= (length ** np.arange(MOST_POWERS))[self.exponents]
        parts = np.split(values, self.cuts[1:])
        blocks = [_filled(pattern, part) for pattern, part in zip(self.patterns, parts[:-1], strict=True)]
        rows = np.zeros(12 * n)
        rows[self.dense] = parts[-1]
        second, moments = mass @ x**2, E.sum(axis=1)
        return Inertia(
            m=float(mass.sum()),
            s0=np.array([mass @ x, 0.0, 0.0]),
            J0=np.diag(moments.sum() - moments + [0.0, second, second]),
            S=rows[: 3 * n].reshape(3, n),
            X=rows[3 * n :].reshape(3, 3, n),
            W_ab=tuple(tuple(blocks[3 * a : 3 * a + 3]) for a in range(3)),
            M_s=blocks[9],
        )

    # --- elasticity --------------------------------------------------------------------------------------------------

    def _map_elasticity(self) -> None:
        """τN⁻¹ with N = ∫ττᵀ of each element; exponents of D and Q; ∫ τ θ'θ' per I_p/A at the points of each element."""
        old, h = self.unit, np.diff(self.fields.nodes)
        reference, weight = gauss(np.array([0.0, 1.0]))
        self.tests = {}
        for name in old.stresses:
            tests = LineSpace(np.array([0.0, 1.0]), self.fields.stress_spaces[name][0].degree, -1).evaluate(reference)
            scaled = tests @ np.linalg.inv(tests.T @ (weight[:, None] * tests))
            self.tests[name] = scaled / h[:, None, None]
        sizes = [tests.shape[2] for tests in self.tests.values() for _ in h]
        self.C = SparsePattern(diagonal([np.ones((size, size)) for size in sizes]))
        of_stress = [np.full(size, name in CURVATURES) for name, (size,) in old.stresses.shapes.items()]
        row, column = (entries := old.D.tocoo()).row, entries.col
        self.D_exponents = self.power[column] + 1 - np.concatenate([np.zeros(0, int), *of_stress])[row].astype(int)
        self.D, Q = SparsePattern(old.D), old.Q
        self.Q_exponents = self.power[Q.row] + self.power[Q.column]
        slope = csr(self.fields.field("theta_x", self.x, 1)[:, self.columns])
        self.twist = np.flatnonzero(slope.astype(bool).sum(axis=0)[Q.row])
        force = csr(self.fields.stress_spaces["N"][0].evaluate(self.x))
        strain, row, column = (part[self.twist] for part in (Q.strain, Q.row, Q.column))
        element = strain // self.fields.stress_spaces["N"][0].stride
        self.twist_points = GAUSS_POINTS * element[:, None] + np.arange(GAUSS_POINTS)
        factors = (_picked(force, self.twist_points, strain), _picked(slope, self.twist_points, row))
        self.winding = self.w[self.twist_points] * np.prod(factors, axis=0) * _picked(slope, self.twist_points, column)

    def elastic(self, length: float, number: dict[str, np.ndarray]) -> Elastic:
        """C, D and Q of a beam with these numbers, without damping."""
        old, blocks = self.unit, [np.zeros(0)]
        for name, tests in self.tests.items():
            weight = (self.w * number[STIFFNESSES[name]] / length).reshape(tests.shape[:2])
            blocks.append(np.linalg.inv(tests.transpose(0, 2, 1) @ (weight[..., None] * tests)).ravel())
        powers, value = length ** (np.arange(MOST_POWERS) - 1.0), old.Q.value.copy()
        value[self.twist] = (self.winding * radius(number)[self.twist_points]).sum(axis=1) / length**2
        Q = Quadratic(old.Q.strain, old.Q.row, old.Q.column, value * powers[self.Q_exponents])
        D = self.D.filled(old.D.data * powers[self.D_exponents])
        return Elastic(self.C.filled(np.concatenate(blocks)), D, Q, self.no_drag, old.stresses)

    def ports(self, length: float) -> dict[str, Port]:
        """The ports of a beam of this length."""
        factor = length ** self.power.astype(float)
        return {n: Port(length * p.x, p.Phi * factor, p.Psi * (factor / length)) for n, p in self.unit_ports.items()}


def _entries(rows: Matrix, first_key: int, first_source: int = 0) -> Entries:
    """The entries (point, k) of shape functions as contributions of point sources to the keys `first_key` + k."""
    points = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return first_key + rows.indices.astype(int), first_source + points, rows.data


def _products(A: Matrix, B: Matrix, block: int, first_source: int = 0, factor: float = 1.0) -> Entries:
    """A_qk B_ql for all points q as contributions of point sources to the keys (block, k, l)."""
    n, points = A.shape[1], np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    count = np.diff(B.indptr)[points]  # entries of B for each of A
    a = np.repeat(np.arange(A.nnz), count)
    b = np.arange(len(a)) - np.repeat(np.cumsum(count) - count, count) + B.indptr[points[a]]
    keys = (block * n + A.indices[a].astype(int)) * n + B.indices[b]
    return keys, first_source + points[a], factor * A.data[a] * B.data[b]


def _filled(pattern: SparsePattern, values: np.ndarray) -> Matrix:
    """The matrix with these values, zeros not stored."""
    out = pattern.filled(values)
    return out if values.all() else csr(out)


def _picked(rows: Matrix, points: np.ndarray, column: np.ndarray) -> np.ndarray:
    """rows[points[i, q], column[i]], as `points`."""
    if not points.size:
        return np.zeros(points.shape)
    chosen = rows[points.ravel(), np.repeat(column, points.shape[1])]
    return (chosen.toarray() if sp.issparse(chosen) else np.asarray(chosen)).reshape(points.shape)
