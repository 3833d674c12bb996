"""The loops over cells, compiled: derivatives of shape functions, cell stiffness, and sums into the rows of a sparse matrix.

Plain arrays in and out: points (points, d), nodes (cells, n), sparse patterns as (start, column) with sorted columns.
"""

import numba as nb
import numpy as np

jit = nb.njit(cache=True, error_model="numpy")


@jit
def map_slopes(points: np.ndarray, nodes: np.ndarray, local: np.ndarray, det: np.ndarray, slope: np.ndarray) -> None:
    """det ∂x/∂ξ (cells, q) and ∂φ/∂x (cells, q, n, d) from ∂φ/∂ξ (q, n, d); without ∂φ/∂x where `slope` holds no cell."""
    d, n = points.shape[1], nodes.shape[1]
    J, cof = np.zeros((d, d)), np.zeros((d, d))
    for c in range(nodes.shape[0]):
        for q in range(local.shape[0]):
            J[:] = 0.0
            for i in range(n):
                for a in range(d):
                    for b in range(d):
                        J[a, b] += points[nodes[c, i], a] * local[q, i, b]
            if d == 2:
                cof[0, 0], cof[0, 1], cof[1, 0], cof[1, 1] = J[1, 1], -J[1, 0], -J[0, 1], J[0, 0]
            else:
                for a in range(3):
                    e, f = (a + 1) % 3, (a + 2) % 3
                    for b in range(3):
                        g, h = (b + 1) % 3, (b + 2) % 3
                        cof[a, b] = J[e, g] * J[f, h] - J[e, h] * J[f, g]
            volume = 0.0
            for b in range(d):
                volume += J[0, b] * cof[0, b]
            det[c, q] = volume
            if slope.shape[0] > 0:
                for i in range(n):
                    for a in range(d):
                        total = 0.0
                        for b in range(d):
                            total += cof[a, b] * local[q, i, b]
                        slope[c, q, i, a] = total / volume


@jit
def add_stiffness(
    nodes: np.ndarray,
    members: np.ndarray,
    slope: np.ndarray,
    weight: np.ndarray,
    A: np.ndarray,
    place: np.ndarray,
    start: np.ndarray,
    column: np.ndarray,
    out: np.ndarray,
) -> None:
    """out[pair of nodes, a, b] += Σ_q w Σ_ce ∂_cφ_i A[(a, c), (b, e)] ∂_eφ_j for the member cells; place[a, c] is Voigt's."""
    n, d = nodes.shape[1], slope.shape[3]
    stress, block = np.zeros((d, n * d * d)), np.zeros((n, n * d * d))
    for c in members:
        block[:] = 0.0
        for q in range(slope.shape[1]):
            at = 0
            for j in range(n):  # stress of the motion of node j along b, as it works on ∂_e of a motion along a
                for a in range(d):
                    for b in range(d):
                        for e in range(d):
                            total = 0.0
                            for f in range(d):
                                total += A[place[a, e], place[b, f]] * slope[c, q, j, f]
                            stress[e, at] = total * weight[c, q]
                        at += 1
            for i in range(n):
                for e in range(d):
                    s = slope[c, q, i, e]
                    for k in range(i * d * d, n * d * d):
                        block[i, k] += s * stress[e, k]
        for i in range(n):
            for j in range(i, n):
                there = position(start, column, nodes[c, i], nodes[c, j])
                if i == j:
                    for a in range(d):
                        for b in range(d):  # symmetric to the last bit
                            out[there, a, b] += block[i, (i * d + min(a, b)) * d + max(a, b)]
                else:
                    back = position(start, column, nodes[c, j], nodes[c, i])
                    for a in range(d):
                        for b in range(d):
                            out[there, a, b] += block[i, (j * d + a) * d + b]
                            out[back, b, a] += block[i, (j * d + a) * d + b]


@jit
def add_blocks(nodes: np.ndarray, block: np.ndarray, start: np.ndarray, column: np.ndarray, out: np.ndarray) -> None:
    """out[pair of nodes] += block (cells, n, n)."""
    n = nodes.shape[1]
    for c in range(nodes.shape[0]):
        for i in range(n):
            for j in range(n):
                out[position(start, column, nodes[c, i], nodes[c, j])] += block[c, i, j]


@jit
def position(start: np.ndarray, column: np.ndarray, i: int, j: int) -> int:
    """Where the entry (i, j) stands in a sparse matrix that has it."""
    low, high = start[i], start[i + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if column[middle] < j:
            low = middle + 1
        else:
            high = middle
    return low
