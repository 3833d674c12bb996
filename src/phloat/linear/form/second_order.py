"""A (v | σ) system as a classical one: with v = s q the stresses are σ = C⁻¹Lᵀq, and

    (s²M + s D + K) q + Gᵀλ = f,   G q = g,   K = L C⁻¹Lᵀ,   D = R − J among the velocities.

That halves what is factorised, and its residual, formed through the strains Lᵀq, squares nothing: a few corrections with it
give back what the assembled K has rounded off. Where C is not local to elements, stresses stay unknowns of the saddle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import (
    Matrix,
    block_inverse,
    csr,
    largest,
    negativity_defect,
    row_lengths,
    stacked,
    weighted,
    zeros,
)
from phloat.errors import InputError
from phloat.linear.form.phdae import TOLERANCE, LinearPHDAE, linear_only

CORRECTIONS = 6
SYMMETRIC = {"SymmetricMode": True}


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """M, D, L, C and G of a system; F are the forces of its effort inputs on the velocities, S = C⁻¹B_σ their stresses."""

    M: Matrix
    D: Matrix
    L: Matrix
    C: Matrix
    G: Matrix
    F: np.ndarray
    S: np.ndarray
    drives: np.ndarray  # B_λ: what G v follows

    @classmethod
    def of(cls, system: LinearPHDAE) -> SecondOrder:
        linear_only(system)
        n = system.split
        if n < 0:
            raise InputError(
                "reduction needs rows in the order (v | σ), velocities first; say where they part: split=…"
            )
        if largest(system.E[:n, n:]) or largest(system.J[n:, n:]) or largest(system.R[n:]):
            raise InputError(
                "reduction keeps (v | σ) apart, and here they share mass, or stresses are damped or coupled among themselves"
            )
        if largest(system.G[:, n:]):
            raise InputError("joint rows act on stresses; reduction knows joints between velocities only")
        L, C, B = csr(-system.J[:n, n:]), csr(system.E[n:, n:]), system.B.toarray()
        S = _solved(C, B[n:]) if B[n:].any() else np.zeros_like(B[n:])
        F = np.hstack([B[:n], -(L @ S)[:, B[n:].any(axis=0)]])
        return cls(
            csr(system.E[:n, :n]),
            csr(system.R[:n, :n] - system.J[:n, :n]),
            L,
            C,
            csr(system.G[:, :n]),
            F,
            S[:, B[n:].any(axis=0)],
            system.B_lam.toarray(),
        )

    @property
    def size(self) -> int:
        return self.M.shape[0]

    @cached_property
    def C_inverse(self) -> Matrix | None:
        return block_inverse(self.C)

    @cached_property
    def definite(self) -> bool:
        """Whether every stress stores energy: C > 0."""
        return negativity_defect(self.C) <= TOLERANCE and bool((self.C.diagonal() > 0.0).all())

    def stress(self, V: np.ndarray) -> np.ndarray:
        """C⁻¹Lᵀ V."""
        return self.from_strain(self.L.T @ V)

    def from_strain(self, strain: np.ndarray) -> np.ndarray:
        """C⁻¹ on columns."""
        return np.asarray(self.C_inverse @ strain if self.C_inverse is not None else _solved(self.C, strain))

    def stiffness(self, V: np.ndarray) -> np.ndarray:
        """K V, through the strains."""
        return np.asarray(self.L @ self.stress(V))

    @cached_property
    def K(self) -> Matrix:
        """K = L C⁻¹Lᵀ where C is local."""
        assert self.C_inverse is not None
        return csr(self.L @ self.C_inverse @ self.L.T)

    def at(self, s: complex, border: np.ndarray | None = None) -> Factor:
        """Ready to solve with a = s², b = s, c = 1; `border` are more rows, held at zero."""
        s = complex(s)
        a, b = (s * s, s) if s.imag else ((s * s).real, s.real)
        return Factor(self, a, b, 1.0, border)

    def at_infinity(self) -> Factor:
        """Ready to solve with M alone."""
        return Factor(self, 1.0, 0.0, 0.0)


class Factor:
    """a M + b D + c K with the joints, factorised: `solve(f, g)` gives q with G q = g."""

    def __init__(self, of: SecondOrder, a: complex, b: complex, c: float, border: np.ndarray | None = None):
        self.of, self.a, self.b, self.c = of, a, b, c
        G = of.G if border is None else stacked([[of.G], [border.T]])
        n, joints = of.size, G.shape[0]
        light = sp.csr_array(a * of.M + b * of.D)
        mixed = bool(c) and of.L.shape[1] > 0 and of.C_inverse is None
        if mixed:
            A = sp.block_array([[light, of.L], [of.L.T, -of.C]], format="csr")
            stiff = of.L.multiply(of.L) @ (1.0 / np.abs(of.C.diagonal()))
            size = np.concatenate([np.abs(light.diagonal()) + stiff, np.abs(of.C.diagonal())])
        else:
            A = light + c * of.K if c and of.L.shape[1] else light
            size = np.abs(A.diagonal())
        # to a diagonal of size one: slopes beside deflections would else be no pivots, and the order of elimination be lost
        unit = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
        self.unit, self.between = unit[:n], A.shape[0]
        scaled = sp.csr_array(sp.diags_array(unit) @ A @ sp.diags_array(unit))
        rows = csr(weighted(G.T, self.unit).T) if joints else G
        self.scale = 1.0 / row_lengths(rows)
        self.rows = csr(weighted(G, self.scale)) if joints else G
        wide = sp.hstack([weighted(rows, self.scale), zeros(joints, self.between - n)])
        saddle = sp.block_array([[scaled, wide.T], [wide, None]], format="csc") if joints else sp.csc_array(scaled)
        self.complex = np.iscomplexobj(saddle)
        # a loose pivot rule keeps the fill of a symmetric matrix; what it costs in accuracy the corrections bring back
        self.lu = spla.splu(saddle, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=1e-3, options=SYMMETRIC)

    def _once(self, f: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, right = self.of.size, np.zeros((self.lu.shape[0], f.shape[1]), dtype=complex if self.complex else float)
        right[:n], right[self.between :] = self.unit[:, None] * f, g
        x = self.lu.solve(right)
        return self.unit[:, None] * x[:n], x[self.between :]

    def times(self, q: np.ndarray) -> np.ndarray:
        """(a M + b D + c K) q."""
        out = self.a * (self.of.M @ q) + self.b * (self.of.D @ q)
        return np.asarray(out + self.c * self.of.stiffness(q) if self.c and self.of.L.shape[1] else out)

    def solve(self, f: np.ndarray, g: np.ndarray | None = None) -> np.ndarray:
        """q for columns f, with G q = g (rows of the border are zero), corrected until that helps no more."""
        right = np.zeros((self.rows.shape[0], f.shape[1]), dtype=f.dtype)
        if g is not None:
            right[: len(g)] = self.scale[: len(g), None] * g
        q, lam = self._once(f, right)
        last = np.inf
        for _ in range(CORRECTIONS):
            left, gap = f - self.times(q) - self.rows.T @ lam, right - self.rows @ q
            more, turn = self._once(left, gap)
            now = float(np.abs(more).max(initial=0.0))
            if not now < 0.5 * last:
                break
            q, lam, last = q + more, lam + turn, now
            if now <= 1e-15 * np.abs(q).max(initial=0.0):
                break
        return np.asarray(q)


def _solved(C: Matrix, right: np.ndarray) -> np.ndarray:
    return np.asarray(spla.splu(C.tocsc()).solve(np.ascontiguousarray(right)))
