"""Bases of reduction, with separate columns for velocities V_v and stresses V_σ, and orthonormal columns in the norm of a mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr
from phloat.errors import InputError

DEPENDENT = 1e-10  # part of a velocity of unit mass, orthogonal to the others, that counts as zero


@dataclass(frozen=True, eq=False)
class Basis:
    """v = V_v v_r and σ = V_σ σ_r: V_v (velocities, reduced velocities), V_sigma (stresses, reduced stresses).

    `stresses` may name the blocks of σ_r, such as those of a beam. Of a beam with slaved shortening the displacement is quadratic,
    η = V_v η_r + ½ η_rV_2η_r, with V_2 (coordinates, reduced, reduced).
    """

    V_v: Matrix
    V_sigma: Matrix
    stresses: Layout | None = None
    V_2: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("V_v", "V_sigma"):
            matrix = csr(getattr(self, name))
            if not np.isfinite(matrix.data).all():
                raise InputError(f"{name} contains NaN or infinity")
            object.__setattr__(self, name, matrix)

    @property
    def states(self) -> int:
        """The number of velocities and stresses."""
        return int(self.V_v.shape[1] + self.V_sigma.shape[1])

    def __repr__(self) -> str:
        (n, r), (m, k) = self.V_v.shape, self.V_sigma.shape
        return f"Basis({r} of {n} velocities, {k} of {m} stresses)"


def orthonormal(V: np.ndarray, M: Matrix, size: np.ndarray | None = None, Q: np.ndarray | None = None) -> np.ndarray:
    """The columns of Q, which are orthonormal, and those of V made orthonormal: VᵀM V = I, or diag(±1) if M is indefinite.

    Columns of V that depend on those before them are left out; `size` is the length of each, √(vᵀM v) by default.
    """
    lengths = mass_lengths(V, M) if size is None else size
    Q = np.zeros((len(V), 0)) if Q is None else Q
    count, Q = Q.shape[1], np.asfortranarray(np.hstack([Q, np.empty_like(V)]))
    signs = np.sign(np.einsum("ik,ik->k", Q[:, :count], M @ Q[:, :count]))
    for v, full_length in zip(V.T, lengths, strict=True):
        if not full_length > 0.0:
            continue
        v, length = v / full_length, 1.0
        for _ in range(2):  # twice, for the small difference of similar columns
            v = (v - Q[:, :count] @ (signs * (Q[:, :count].T @ (M @ v)))) / length
            if (length := float(np.sqrt(abs(v @ (M @ v))))) <= DEPENDENT:
                break
        else:
            Q[:, count], signs = v / length, np.append(signs, np.sign(v @ (M @ v)))
            count += 1
    return np.asarray(Q[:, :count])


def orthogonal_to(V: np.ndarray, W: np.ndarray, M: Matrix) -> np.ndarray:
    """The part of V that is M-orthogonal to the columns of W, which have unit mass (computed twice, for round-off)."""
    for _ in range(2 if W.shape[1] else 0):
        V = V - W @ (W.T @ (M @ V))
    return V


def mass_lengths(V: np.ndarray, M: Matrix) -> np.ndarray:
    """√(vᵀM v) of every column; raises InputError if M is not positive on them."""
    squared = np.einsum("ik,ik->k", V, M @ V)
    if (squared < 0.0).any() or ((squared == 0.0) & (V != 0.0).any(axis=0)).any():
        raise InputError("the mass matrix is singular on the free motions: a body has no mass")
    return np.asarray(np.sqrt(squared))
