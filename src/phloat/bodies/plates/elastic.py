"""Stresses of plates at quadrature points: compliance, strains tested with them, von Kármán's membrane strain.

σ at a point are the resultants themselves, so C = weight · (stiffness)⁻¹ and D = weight · strains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, diagonal, weighted
from phloat.bodies.continua.mesh_body import Strains
from phloat.bodies.plates.fields import PlateFields
from phloat.bodies.plates.laminate import Through
from phloat.bodies.plates.shape import fit_in_cells
from phloat.fem.plate_cells import Points

NAMES = {"N": ("N_xx", "N_yy", "N_xy"), "M": ("M_xx", "M_yy", "M_xy"), "Q": ("Q_x", "Q_y")}


@dataclass(frozen=True, eq=False)
class Block:
    """Resultants with one rule: the groups of them ("N", "M", "Q"), their points, and the stiffness there (points, k, k)."""

    groups: tuple[str, ...]
    rule: int
    points: Points
    stiffness: np.ndarray

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for group in self.groups for name in NAMES[group])


@dataclass(frozen=True, eq=False)
class LocalStresses:
    """Stresses at the quadrature points of a plate."""

    fields: PlateFields
    through: Callable[[np.ndarray], Through]
    coupled: bool
    stiffening: bool

    @cached_property
    def blocks(self) -> list[Block]:
        rules = self.fields.rules
        if self.coupled:
            groups: list[tuple[str, ...]] = [("N", "M"), *((name,) for name in rules if name == "Q")]
        else:
            groups = [(name,) for name in rules if name in NAMES]
        return [self._block(g) for g in groups]

    @property
    def rule(self) -> int:
        """Points of the moments."""
        return next(b.rule for b in self.blocks if "M" in b.groups)

    def _block(self, groups: tuple[str, ...]) -> Block:
        rule = max(self.fields.rules[g] for g in groups)
        points = self.fields.cells.quadrature(rule)
        A, B, D, shear, *_ = self.through(points.x)
        if groups == ("N", "M"):
            stiffness = np.concatenate([np.concatenate([A, B], axis=2), np.concatenate([B, D], axis=2)], axis=1)
        else:
            stiffness = {"N": A, "M": D, "Q": shear}[groups[0]]
        return Block(groups, rule, points, stiffness)

    def strains(self) -> Strains:
        """C, D and the quadratic part."""
        C = diagonal([_compliance(b) for b in self.blocks])
        D = csr(sp.vstack([weighted(row, b.points.weight) for b in self.blocks for row in self._rows(b)]))
        names = {name: (len(b.points.cell),) for b in self.blocks for name in b.names}
        return Strains(C, D, Layout(names, "stress"), self._pair() if self.stiffening else None)

    def _rows(self, block: Block) -> list[Matrix]:
        return [row for group in block.groups for row in self.fields.strains(group, block.points)]

    def stiffness(self) -> Matrix:
        """K = DᵀC⁻¹D, without C."""
        terms = []
        for b in self.blocks:
            rows = self._rows(b)
            S = b.stiffness * b.points.weight[:, None, None]
            for i, left in enumerate(rows):
                right = sum((weighted(rows[j], S[:, i, j]) for j in range(len(rows)) if S[:, i, j].any()), 0.0 * left)
                terms.append(csr(left.T @ right))
        total = csr(sum(terms[1:], terms[0]))
        return csr(0.5 * (total + total.T))

    def _pair(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
        """w_,x v_,x, w_,y v_,y, w_,x v_,y + w_,y v_,x on the membrane strains, zero on the others."""
        if all("N" not in b.groups for b in self.blocks):
            return None
        slopes = [(b, self.fields.slopes(b.points)) for b in self.blocks if "N" in b.groups]
        total = sum(len(b.names) * len(b.points.cell) for b in self.blocks)
        return VonKarmanStrain(tuple((b.points.weight, *along) for b, along in slopes), total)

    def resultants(self, at: Points) -> dict[str, Matrix]:
        """Each resultant at points, per σ."""
        total = sum(len(b.names) * len(b.points.cell) for b in self.blocks)
        out, start = {}, 0
        for b in self.blocks:
            values = fit_in_cells(self.fields.cells, b.rule, at).tocoo()
            for name in b.names:
                where = (values.row, values.col + start)
                out[name] = csr(sp.coo_array((values.data, where), shape=(len(at.cell), total)))
                start += len(b.points.cell)
        return out


@dataclass(frozen=True, eq=False)
class VonKarmanStrain:
    """w_,x v_,x, w_,y v_,y, w_,x v_,y + w_,y v_,x from weights and slopes of the points of N, which come first of all strains."""

    slopes: tuple[tuple[np.ndarray, Matrix, Matrix], ...]
    total: int

    def __call__(self, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        out = np.zeros(self.total)
        for weight, along_x, along_y in self.slopes:
            w_x, w_y, v_x, v_y = along_x @ q, along_y @ q, along_x @ r, along_y @ r
            strain = np.concatenate([w_x * v_x, w_y * v_y, w_x * v_y + w_y * v_x])
            out[: len(strain)] = np.tile(weight, 3) * strain
        return out


def _compliance(block: Block) -> Matrix:
    """Blocks of all components at a point, components in the order of σ: all points of the first one, then of the second…"""
    count, k = len(block.points.cell), block.stiffness.shape[1]
    inverse = np.linalg.inv(block.stiffness) * block.points.weight[:, None, None]
    inverse = 0.5 * (inverse + inverse.transpose(0, 2, 1))
    row = np.arange(k)[None, :, None] * count + np.arange(count)[:, None, None] + np.zeros((1, 1, k), int)
    return csr(
        sp.coo_array((inverse.ravel(), (row.ravel(), row.transpose(0, 2, 1).ravel())), shape=(k * count, k * count))
    )
