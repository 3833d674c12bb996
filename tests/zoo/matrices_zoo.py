"""Mass and stiffness matrices as other finite-element codes export them: solid boxes (scikit-fem, trilinear hexahedra), beams."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from skfem import Basis, BilinearForm, ElementHex1, ElementVector, MeshHex
from skfem.helpers import ddot, dot, eye, sym_grad, trace


class Exported(NamedTuple):
    """M, K and the nodes; the unknowns are those of node 0, of node 1…: (x, y, z), of beams also (θ_x, θ_y, θ_z)."""

    M: sp.csr_array
    K: sp.csr_array
    nodes: np.ndarray

    def on(self, x: float) -> list[int]:
        """The indices of the nodes in the plane at x."""
        return np.flatnonzero(np.abs(self.nodes[:, 0] - x) < 1e-9).tolist()


def box(cells=(8, 3, 2), lengths=(1.0, 0.3, 0.2), E=70e9, nu=0.3, rho=2700.0) -> Exported:
    """A box from x = 0 to its length, centred on the x axis."""
    lines = [np.linspace(0, length, n + 1) for n, length in zip(cells, lengths, strict=True)]
    mesh = MeshHex.init_tensor(*lines).translated((0.0, -lengths[1] / 2, -lengths[2] / 2))
    basis = Basis(mesh, ElementVector(ElementHex1()), intorder=2)
    lam, mu = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))

    @BilinearForm
    def stiffness(u, v, w):
        e = sym_grad(u)
        return ddot(lam * eye(trace(e), 3) + 2 * mu * e, sym_grad(v))

    @BilinearForm
    def mass(u, v, w):
        return rho * dot(u, v)

    order = basis.nodal_dofs.T.ravel()  # (x, y, z) of node 0, of node 1…
    M, K = (sp.csr_array(form.assemble(basis))[order][:, order] for form in (mass, stiffness))
    return Exported(M, K, mesh.p.T.copy())


def rigid_motions(nodes: np.ndarray) -> np.ndarray:
    """Displacements of the nodes in unit translations and rotations about the origin, (3 nodes, 6)."""
    out = np.zeros((3 * len(nodes), 6))
    for a in range(3):
        out[a::3, a] = 1.0
        out[:, 3 + a] = np.cross(np.eye(3)[a], nodes).ravel()
    return out


def beam(elements=8, length=1.0, A=2e-4, I_y=2e-9, I_z=6e-9, J=5e-9, E=70e9, G=26e9, rho=2700.0) -> Exported:
    """A straight Euler-Bernoulli beam along x by the 12 × 12 element matrices of textbooks, six unknowns for each node."""
    h = length / elements
    K, M = np.zeros((12, 12)), np.zeros((12, 12))

    def put(matrix, rows, values):
        """Adds values to a submatrix."""
        matrix[np.ix_(rows, rows)] += values

    bar = np.array([[1.0, -1.0], [-1.0, 1.0]])
    line = np.array([[2.0, 1.0], [1.0, 2.0]]) / 6
    put(K, [0, 6], E * A / h * bar)
    put(M, [0, 6], rho * A * h * line)
    put(K, [3, 9], G * J / h * bar)
    put(M, [3, 9], rho * (I_y + I_z) * h * line)
    k = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2]])
    k = np.vstack([k, [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]]) / h**3
    m = np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2]])
    m = np.vstack([m, [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]]) * h / 420
    flip = np.outer([1, -1, 1, -1], [1, -1, 1, -1])  # θ_y = −dw/dx
    put(K, [1, 5, 7, 11], E * I_z * k)
    put(M, [1, 5, 7, 11], rho * A * m)
    put(K, [2, 4, 8, 10], E * I_y * k * flip)
    put(M, [2, 4, 8, 10], rho * A * m * flip)
    whole = [np.zeros((6 * elements + 6,) * 2) for _ in range(2)]
    for e in range(elements):
        for matrix, one in zip(whole, (M, K), strict=True):
            matrix[6 * e : 6 * e + 12, 6 * e : 6 * e + 12] += one
    nodes = np.column_stack([np.linspace(0, length, elements + 1), np.zeros((elements + 1, 2))])
    return Exported(sp.csr_array(whole[0]), sp.csr_array(whole[1]), nodes)
