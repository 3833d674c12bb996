"""Constants of bodies, rows and curves as arrays of one shape each, filled up where they differ."""

from __future__ import annotations

import numpy as np

from phloat.bodies.body import Body
from phloat.joints.curves import Pieces
from phloat.joints.rows import VECTORS, Row, product_matrices
from phloat.twin.model import Tree


def factors_of(rows: list[Row]) -> Tree:
    """Factors of the products of rows of one function, or of the vectors that velocity and spin rows are along."""
    if rows[0].has_gap:
        out = {"S": product_matrices([row.terms for row in rows])}
        return out | ({"S_q": product_matrices([row.other_terms for row in rows])} if rows[0].other_terms else {})
    along = np.zeros((len(rows), VECTORS))
    for k, row in enumerate(rows):
        for factor, a, _ in row.terms:
            along[k, a] += factor
    return {"along": along}


def touched(body: Body, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D (s, c), Q (s, c, c) and the coordinates (s, c) that each of these strains touches."""
    n, elastic, place = body.coordinates, body.elastic, np.cumsum(kept) - 1
    D, Q = elastic.D[kept].toarray(), elastic.Q
    near = [set(np.flatnonzero(row)) for row in D]
    for s, row, column in zip(place[Q.strain], Q.row, Q.column, strict=True):
        near[s] |= {int(row), int(column)}
    width = max(map(len, near), default=0)
    columns = np.full((len(D), width), n, int)
    out_D, out_Q = np.zeros((len(D), width)), np.zeros((len(D), width, width))
    for s, mine in enumerate(near):
        columns[s, : len(mine)] = sorted(mine)
        out_D[s, : len(mine)] = D[s, sorted(mine)]
    for s, row, column, value in zip(place[Q.strain], Q.row, Q.column, Q.value, strict=True):
        a, b = np.searchsorted(columns[s], [row, column])
        out_Q[s, a, b] += 0.5 * value
        out_Q[s, b, a] += 0.5 * value
    return out_D, out_Q, columns


def listing(owners: np.ndarray, count: int) -> np.ndarray:
    """For each owner 0 … count − 1 the places where it stands in `owners`, filled up with a number beyond the end."""
    mine = [np.flatnonzero(owners == k) for k in range(count)]
    out = np.full((count, max((len(one) for one in mine), default=0)), len(owners), int)
    for k, one in enumerate(mine):
        out[k, : len(one)] = one
    return out


def pairs(rows: np.ndarray, m: int) -> np.ndarray:
    """Numbers a m + b of all pairs (a, b) of the rows of each body, (bodies, k, k); m² where one of them is none."""
    a, b = rows[:, :, None], rows[:, None]
    return np.where((a < m) & (b < m), a * m + b, m * m)


def side_by_side(curves: list[Pieces]) -> Tree:
    """Piecewise polynomials as arrays of one shape: bounds that are missing are infinite, coefficients zero."""
    n = max((len(one.bounds) for one in curves), default=0)
    k = max((one.c.shape[1] for one in curves), default=0)
    bounds, origin = np.full((len(curves), n), np.inf), np.zeros((len(curves), n + 1))
    c = np.zeros((len(curves), n + 1, k))
    for i, one in enumerate(curves):
        bounds[i, : len(one.bounds)] = one.bounds
        origin[i, : len(one.origin)] = one.origin
        c[i, : len(one.c), : one.c.shape[1]] = one.c
    return {"bounds": bounds, "origin": origin, "c": c}


def stacked_constants(constants: list[Tree]) -> Tree:
    """Constants of bodies stacked; strains that touch fewer coordinates are filled up."""
    out: Tree = {}
    beyond = {"columns": constants[0]["K"].shape[0]}
    sizes = [one["columns"].size for one in constants]
    for key in constants[0]:
        all_of_them = [one[key] for one in constants]
        shape = np.max([a.shape for a in all_of_them], axis=0) if all_of_them[0].ndim else ()
        made = []
        for a, size in zip(all_of_them, sizes, strict=True):
            fill = size if key == "touching" else beyond.get(key, 0)
            new = np.full(shape, fill, a.dtype)
            new[tuple(slice(0, k) for k in a.shape)] = a
            made.append(new)
        out[key] = np.stack(made)
    return out
