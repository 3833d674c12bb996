"""Frames of Euler-Bernoulli beams as everybody else writes them: 14 × 14 displacement elements, M q̈ + K q = 0.

Shares nothing with phloat but the numbers of the section and the material. Quadratic axial and torsional (a bubble inside each),
cubic bending displacement, consistent mass, rotary inertia ρ(I + I_y) of torsion only.
"""

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla


def element(L, section, material):
    """K and M in the member's axes for (u, θ) of the first node, then of the second, then the bubbles 4ξ(1 − ξ) of u_x and θ_x."""
    s, m = section, material
    line, twist = [0, 6], [3, 9]
    K, M = np.zeros((14, 14)), np.zeros((14, 14))
    bar, hat = np.array([[1, -1], [-1, 1]]) / L, np.array([[2, 1], [1, 2]]) * L / 6
    for ends, inner, stiff, heavy in (
        (line, 12, m.E * s.A, m.rho * s.A),
        (twist, 13, m.G * s.J, m.rho * (s.I + s.I_y)),
    ):
        K[np.ix_(ends, ends)], M[np.ix_(ends, ends)] = stiff * bar, heavy * hat
        K[inner, inner], M[inner, inner] = stiff * 16 / (3 * L), heavy * 8 * L / 15
        M[ends, inner] = M[inner, ends] = heavy * L / 3
    cubic_K = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]) / L**3
    cubic_M = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]]) * L / 420
    for at, sign, I in (([1, 5, 7, 11], 1, s.I), ([2, 4, 8, 10], -1, s.I_y)):  # θ_z = u_y', θ_y = −u_z'
        T = np.diag([1, sign * L, 1, sign * L])
        K[np.ix_(at, at)] = m.E * I * T @ cubic_K @ T
        M[np.ix_(at, at)] = m.rho * s.A * T @ cubic_M @ T
    return K, M


def matrices(points, members, feet, axes, section, material, elements):
    """Sparse K and M of the frame in inertial axes, the feet clamped; `axes` gives A_IB of a member from its two ends."""
    rows, columns, stiffness, mass = [], [], [], []
    nodes, bubbles, total = len(points), 0, len(points) + len(members) * (elements - 1)
    for i, j in members.values():
        inner = nodes + np.arange(elements - 1)
        nodes += elements - 1
        chain = np.concatenate([[i], inner, [j]])
        K, M = element(np.linalg.norm(points[j] - points[i]) / elements, section, material)
        T = la.block_diag(np.kron(np.eye(4), axes(points[i], points[j])), np.eye(2))
        dof = 6 * np.column_stack([chain[:-1], chain[1:]])[:, :, None] + np.arange(6)
        inside = 6 * total + bubbles + np.arange(2 * elements).reshape(elements, 2)
        bubbles += 2 * elements
        dof = np.column_stack([dof.reshape(elements, 12), inside])
        rows.append(np.repeat(dof, 14, axis=1).ravel())
        columns.append(np.tile(dof, (1, 14)).ravel())
        stiffness.append(np.tile((T @ K @ T.T).ravel(), elements))
        mass.append(np.tile((T @ M @ T.T).ravel(), elements))
    where = np.concatenate(rows), np.concatenate(columns)
    size = 6 * total + bubbles
    free = np.setdiff1d(np.arange(size), [6 * f + k for f in feet for k in range(6)])
    K, M = (sp.csr_array(sp.coo_array((np.concatenate(v), where), shape=(size, size))) for v in (stiffness, mass))
    return K[free][:, free], M[free][:, free]


def all_frequencies(K, M):
    """Densely, every ω."""
    return np.sqrt(la.eigh(K.toarray(), M.toarray(), eigvals_only=True))


def lowest_frequencies(K, M, count):
    """By SciPy's shift-invert Lanczos about zero."""
    value = spla.eigsh(K.tocsc(), k=count, M=M.tocsc(), sigma=0.0, return_eigenvectors=False)
    return np.sqrt(np.sort(value))
