"""Kirchhoff plates with moments as unknowns of their own: w quadratic and continuous, M by Hellan, Herrmann and Johnson.

A clamped side leaves the slope to the moments; a side that is free or supported has no M_nn. The compliance is not local.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, zeros
from phloat.bodies.continua.continuum import Strains
from phloat.bodies.plates.fields import Membrane, Three
from phloat.bodies.plates.laminate import Through
from phloat.fem.plate_cells import Cells, Points
from phloat.fem.plate_edges import vanishing
from phloat.fem.plate_moments import UNKNOWNS, Moments
from phloat.fem.plate_space import Space, lagrange

COMPLIANCE = 4  # rule of degree 6: moments squared times a compliance that varies


@dataclass(frozen=True, eq=False)
class Deflection:
    """w of a plate with moments of its own."""

    cells: Cells
    first: np.ndarray

    @cached_property
    def w(self) -> Space:
        return lagrange(self.cells, 2, "w")

    @property
    def membrane(self) -> Membrane:
        return Membrane(None)

    @property
    def kinds(self) -> np.ndarray:
        return self.w.kinds

    @property
    def rules(self) -> dict[str, int]:
        return {"mass": 3}

    @cached_property
    def rigid(self) -> np.ndarray:
        out = np.zeros((self.w.size, 6))
        out[:, 2], out[:, 3], out[:, 4] = self.w.linear(1, 0, 0), self.w.linear(0, 0, 1), self.w.linear(0, -1, 0)
        return out

    def displacement(self, points: Points) -> Three:
        none = zeros(len(points.cell), self.w.size)
        return none, none, self.w.at(points)

    def slopes(self, points: Points) -> tuple[Matrix, Matrix]:
        return self.w.at(points, (1, 0)), self.w.at(points, (0, 1))

    def turn(self, points: Points) -> Three:
        w_x, w_y = self.slopes(points)
        return w_y, csr(-w_x), zeros(len(points.cell), self.w.size)

    def strains(self, name: str, points: Points) -> list[Matrix]:
        raise AssertionError("the bending strain of w is not a function; see Mixed")

    def held(self, edges: np.ndarray, how: str) -> np.ndarray:
        if how == "symmetric":
            return np.zeros(0, dtype=int)
        return vanishing(self.w, edges, self.first, value=True, slope=False, curves=how == "supported")

    def on(self, edges: np.ndarray) -> np.ndarray:
        return vanishing(self.w, edges, self.first, value=True, slope=False)


@dataclass(frozen=True, eq=False)
class Mixed:
    """Moments of a plate; `turned` are the sides whose slope is held, where M_nn may act."""

    fields: Deflection
    through: Callable[[np.ndarray], Through]
    turned: np.ndarray

    @cached_property
    def moments(self) -> Moments:
        return Moments(self.fields.cells)

    @cached_property
    def kept(self) -> np.ndarray:
        loose = self.moments.on(np.setdiff1d(self.fields.cells.outside, self.turned))
        return np.setdiff1d(np.arange(self.moments.size), loose)

    @property
    def rule(self) -> int:
        """Points to look at the moments by."""
        return 2

    def stiffness(self) -> None:
        """There is none without solving for the moments."""

    def strains(self) -> Strains:
        """C and ⟨m, −∇²w⟩."""
        C = self._compliance()[self.kept][:, self.kept]
        D = self.moments.strains(self.fields.w)[self.kept]
        return Strains(csr(C), csr(D), Layout({"M": (len(self.kept),)}, "stress"))

    def _compliance(self) -> Matrix:
        """∫ m : D⁻¹ m where D is constant; else N S⁻¹N with N = ∫ m : m, S = ∫ m : D m in each cell, since D⁻¹ grows beyond all
        bounds at the tip of a wedge, which would go limp."""
        points = self.fields.cells.quadrature(COMPLIANCE)
        count = len(self.fields.cells.corners)
        m = self.moments.local(points).reshape(count, -1, 3, UNKNOWNS)
        D = self.through(points.x).D.reshape(count, -1, 3, 3)
        w = points.weight.reshape(count, -1)
        N = np.einsum("cq,cqia,cqib->cab", w, m, m, optimize=True)
        S = np.einsum("cq,cqia,cqij,cqjb->cab", w, m, D, m, optimize=True)
        C = N @ np.linalg.solve(S, N)
        dofs = self.moments.dofs
        row, column = np.repeat(dofs, UNKNOWNS, axis=1).ravel(), np.tile(dofs, (1, UNKNOWNS)).ravel()
        C = csr(sp.coo_array((C.ravel(), (row, column)), shape=(self.moments.size,) * 2))
        return csr(0.5 * (C + C.T))

    def resultants(self, at: Points) -> dict[str, Matrix]:
        names = ("M_xx", "M_yy", "M_xy")
        return {name: csr(m[:, self.kept]) for name, m in zip(names, self.moments.at(at), strict=True)}
