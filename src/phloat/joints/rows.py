"""Rows: scalar relations between two ports A and B, as data.

A row is g = f(p, q), where p and q are sums of products of vectors, Σ α (a · b). The vectors are the separation c = c_B − c_A of
the two points, the directions d_A1, d_A2, d_A3 and d_B1, d_B2, d_B3 of the two triads, and the inertial axes e_1, e_2, e_3. Only
the difference of the points enters, so every row is invariant under translation, and under rotation where no e_i is used.

    function         g                                 used for
    "product"        p                                 closed rows, slides, small rotations
    "length"         √p                                distances
    "angle"          atan2(p, q)                       hinges
    "rotation"       ϑ/sin ϑ · p,  cos ϑ = ½(q − 1)     rotation vectors
    "velocity"       –        rate Σ α a · ċ           forces
    "spin"           –        rate Σ α a · (ω_B − ω_A)  torques, ball joints

The last two have a rate and no gap (the second vector of their terms is not used). Motion is that of B seen from A.

The kernel, its twin in JAX, `terms` and the linearisation evaluate this table, so that a new row needs no other code. (Closed rows
do not use angular velocities, since ω + Ψη̇ is not the rate of a bending triad.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from phloat.algebra.cross import cross, rotation
from phloat.errors import InputError
from phloat.joints.port_state import PortState, port_entries

SEPARATION, FIRST, SECOND, INERTIAL, VECTORS = 0, 1, 4, 7, 10  # numbers of the vectors: c, d_A1, d_B1, e_1; how many
FUNCTIONS = ("product", "length", "angle", "rotation", "velocity", "spin")

Term = tuple[float, int, int]  # α and the numbers of a and b
Pair = tuple[np.ndarray, np.ndarray]
_AXES = np.eye(3)


@dataclass(frozen=True)
class Row:
    """One scalar row g = f(p, q) between two ports, with p = Σ α (a · b) over `terms` and q over `other_terms`.

    Parameters
    ----------
    label : str
        Name of the row; of a free axis the name of the joint coordinate.
    terms, other_terms : tuple of (α, a, b)
        Products of p and of q: a factor and the numbers of two vectors.
    function : str
        "product", "length", "angle", "rotation", "velocity" or "spin"; see the table of this module.
    coordinate : bool
        Whether the row is a joint coordinate: an angle or a slide.
    turn_limit : float
        Rotation between the two triads (rad) up to which the row is accurate. Force elements warn beyond it.
    """

    label: str
    terms: tuple[Term, ...]
    function: str = "product"
    other_terms: tuple[Term, ...] = ()
    coordinate: bool = False
    turn_limit: float = np.inf

    def __hash__(self) -> int:
        return self._hash  # cached, because rows are keys of dictionaries in many places

    @cached_property
    def _hash(self) -> int:
        return hash((self.label, self.terms, self.function, self.other_terms))

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise InputError(f"function of row {self.label!r} is {self.function!r}; it must be one of {FUNCTIONS}")
        if not self.terms or (self.function in ("angle", "rotation")) != bool(self.other_terms):
            raise InputError(
                f"row {self.label!r} has no terms, or other_terms that its function {self.function!r} does not take"
            )
        for _, a, b in self.terms + self.other_terms:
            if a not in range(VECTORS) or b not in range(VECTORS):
                raise InputError(
                    f"row {self.label!r} has the vectors {a} and {b}; they are numbered from 0 to {VECTORS - 1}"
                )
        if self.has_gap and len({(a == SEPARATION) + (b == SEPARATION) for _, a, b in self.terms}) > 1:
            raise InputError(
                f"the terms of row {self.label!r} are of different units: each must have as many separations"
            )

    @property
    def has_gap(self) -> bool:
        """Whether the row is a function of positions; velocity and spin rows have only a rate."""
        return self.function not in ("velocity", "spin")

    @property
    def is_angle(self) -> bool:
        """Whether the row is an angle, of which full turns are counted."""
        return self.function == "angle"

    @cached_property
    def length_power(self) -> int:
        """The power n of the unit mⁿ of the gap (of velocity and spin rows: of rate times time); m⁰ are angles to first order."""
        if not self.has_gap:
            return int(self.function == "velocity")
        _, a, b = self.terms[0]
        count = (a == SEPARATION) + (b == SEPARATION)
        return {"length": count // 2, "angle": 0}.get(self.function, count)

    @property
    def is_length(self) -> bool:
        """Whether the gap is in metres."""
        return self.length_power == 1

    @cached_property
    def vectors(self) -> frozenset[int]:
        """Numbers of the vectors that the row depends on."""
        used = {a for _, a, _ in self.terms + self.other_terms}
        return frozenset(used | {b for _, _, b in self.terms + self.other_terms} if self.has_gap else used)

    @cached_property
    def follows(self) -> bool:
        """Whether the row is a force or torque along the axes of the section of B that it acts on."""
        return not self.has_gap and any(SECOND <= a < INERTIAL for a in self.vectors)

    @cached_property
    def slide_axis(self) -> int | None:
        """i if the row is the component of the separation along direction i of A, else None."""
        term = self.terms[0]
        single = self.function == "product" and len(self.terms) == 1 and term[2] == SEPARATION
        return term[1] - FIRST if single and FIRST <= term[1] < SECOND else None

    def gap(self, A: PortState, B: PortState) -> float:
        """The gap g at a state."""
        return float(row_gaps((self,), A, B)[0])

    def rate(self, A: PortState, B: PortState) -> Pair:
        """The rate of g per velocity of the bodies of A and B, two vectors."""
        on_A, on_B = row_rates((self,), A, B)
        return on_A[0], on_B[0]

    def zero_triad(self, angle: float) -> np.ndarray:
        """The triad of B in axes of A if this angle row has this value and there is no other rotation."""
        (_, i, j), (_, k, l) = self.terms[0], self.other_terms[0]
        e, (i, j, k, l) = np.eye(3), (i - FIRST, j - SECOND, k - FIRST, l - SECOND)
        return rotation(angle * (cross(e[k], e[i]) if j == l else cross(e[j], e[l]))) if angle else e


# --- values, rates and second derivatives ------------------------------------------------------------------------------------


def product_matrices(terms: Sequence[tuple[Term, ...]]) -> np.ndarray:
    """Symmetric matrices S (n, 10, 10) with p_n = ½ Σ S_ab (a · b)."""
    out = np.zeros((len(terms), VECTORS, VECTORS))
    for n, products in enumerate(terms):
        for factor, a, b in products:
            out[n, a, b] += factor
            out[n, b, a] += factor
    return out


def _port_vectors(rows: tuple[Row, ...], A: PortState, B: PortState) -> np.ndarray:
    """The vectors of two ports, (10, 3), or of many pairs, (pairs, 10, 3); directions are zero unless a row uses them."""
    out = np.zeros((*B.c.shape[:-1], VECTORS, 3))
    out[..., SEPARATION, :], out[..., INERTIAL:, :] = B.c - A.c, _AXES
    if _matrices(rows).directions:
        out[..., FIRST:SECOND, :], out[..., SECOND:INERTIAL, :] = A.D.swapaxes(-1, -2), B.D.swapaxes(-1, -2)
    return out


class _Matrices(NamedTuple):
    """`product_matrices` of p and of q; whether all rows are products, and whether any uses directions."""

    of_p: np.ndarray
    of_q: np.ndarray
    only_products: bool
    directions: bool


@lru_cache(maxsize=4096)
def _matrices(rows: tuple[Row, ...]) -> _Matrices:
    return _Matrices(
        product_matrices([row.terms if row.has_gap else () for row in rows]),
        product_matrices([row.other_terms for row in rows]),
        all(row.function == "product" for row in rows),
        any(FIRST <= a < INERTIAL for row in rows for a in row.vectors),
    )


def row_gaps(rows: tuple[Row, ...], A: PortState, B: PortState) -> np.ndarray:
    """The gaps of rows at a state, (rows,) or (pairs of ports, rows); angles between −π and π."""
    p, q = _values(rows, _port_vectors(rows, A, B))
    if _matrices(rows).only_products:
        return p
    return np.stack([_function(row, p[..., n], q[..., n])[0] for n, row in enumerate(rows)], axis=-1)


def row_rates(rows: tuple[Row, ...], A: PortState, B: PortState) -> Pair:
    """The rates of rows per velocity of the bodies of A and of B: two matrices (rows, velocities), for each pair of ports."""
    forces, torques = _forces(rows, A, B)
    out = []
    for port, sign, first in ((A, -1.0, FIRST), (B, 1.0, SECOND)):
        rate = sign * forces[..., SEPARATION, :] @ port.point
        if (on_triad := forces[..., first : first + 3, :]).any():
            turn = port.turn.reshape(*port.turn.shape[:-3], 9, -1)
            rate = rate + on_triad.reshape(*on_triad.shape[:-2], 9) @ turn
        out.append(rate if torques is None else rate + sign * torques @ port.spin)
    return out[0], out[1]


def _forces(rows: tuple[Row, ...], A: PortState, B: PortState) -> tuple[np.ndarray, np.ndarray | None]:
    """∂g/∂a of every row for all vectors a, (rows, 10, 3), and the torques of spin rows (rows, 3), None if there are none."""
    vectors = _port_vectors(rows, A, B)
    of_p, of_q, only_products, _ = _matrices(rows)
    out, torques = of_p @ vectors[..., None, :, :], None
    if only_products:
        return out, None
    p, q = _values(rows, vectors)
    for n, row in enumerate(rows):
        if row.has_gap:
            _, f_p, f_q = (np.asarray(x)[..., None, None] for x in _function(row, p[..., n], q[..., n]))
            out[..., n, :, :] = f_p * out[..., n, :, :] + f_q * (of_q[n] @ vectors)
        elif row.function == "velocity":
            out[..., n, SEPARATION, :] = _direction(row, vectors)
        else:
            torques = np.zeros((*out.shape[:-2], 3)) if torques is None else torques
            torques[..., n, :] = _direction(row, vectors)
    return out, torques


def _direction(row: Row, vectors: np.ndarray) -> np.ndarray:
    """Σ α a of a velocity or spin row; directions of B are those of its section, of unit length."""
    factors = np.array([factor for factor, _, _ in row.terms])
    out = factors @ vectors[..., [a for _, a, _ in row.terms], :]
    return np.asarray(
        out * np.sqrt(factors @ factors / (out * out).sum(axis=-1, keepdims=True)) if row.follows else out
    )


def _values(rows: tuple[Row, ...], vectors: np.ndarray) -> Pair:
    """p and q of every row."""
    inner = (vectors @ vectors.swapaxes(-1, -2)).reshape(*vectors.shape[:-2], VECTORS * VECTORS)
    of_p, of_q, only_products, _ = _matrices(rows)
    p = 0.5 * inner @ of_p.reshape(-1, VECTORS * VECTORS).T
    return p, p if only_products else 0.5 * inner @ of_q.reshape(-1, VECTORS * VECTORS).T


def _function(row: Row, p: Any, q: Any) -> tuple[Any, Any, Any]:
    """f(p, q) and its derivatives with respect to p and q, of numbers or arrays."""
    if row.function == "product":
        return p, 1.0, 0.0
    if row.function == "angle":
        size = p * p + q * q
        return np.arctan2(p, q), q / size, -p / size
    if row.function == "rotation":
        ratio, slope, _ = np.vectorize(angle_ratio)(0.5 * (q - 1.0))
        return ratio * p, ratio, 0.5 * slope * p
    if row.function == "length":
        if np.any(p == 0.0):
            raise InputError(
                "the two ends of a spring or damper are at the same point, so its direction is undefined; place them apart, "
                "or use a Bushing"
            )
        length = np.sqrt(p)
        return length, 0.5 / length, 0.0
    raise InputError(f"row {row.label!r} of a ball joint has no angle; give the orientation of its body instead")


def _second_slopes(row: Row, p: float, q: float) -> tuple[float, float, float]:
    """∂²f/∂p², ∂²f/∂p∂q and ∂²f/∂q²."""
    if row.function == "angle":
        square = (p * p + q * q) ** 2
        return -2.0 * p * q / square, (p * p - q * q) / square, 2.0 * p * q / square
    if row.function == "rotation":
        _, slope, second = angle_ratio(0.5 * (q - 1.0))
        return 0.0, 0.5 * slope, 0.25 * second * p
    if row.function == "length":
        return -0.25 * p**-1.5, 0.0, 0.0
    return 0.0, 0.0, 0.0


def curvature(row: Row, A: PortState, B: PortState) -> np.ndarray:
    """The second derivatives of g with respect to (c, d_1, d_2, d_3) of both ports, 24 × 24, of a row with a gap."""
    vectors = _port_vectors((row,), A, B)
    p, q = (float(x[0]) for x in _values((row,), vectors))
    _, f_p, f_q = _function(row, p, q)
    of_p, of_q = (matrices[0] for matrices in _matrices((row,))[:2])
    by_p, by_q = (matrix @ vectors for matrix in (of_p, of_q))
    f_pp, f_pq, f_qq = _second_slopes(row, p, q)
    out = np.kron(f_p * of_p + f_q * of_q, np.eye(3))
    if (f_pp, f_pq, f_qq) != (0.0, 0.0, 0.0):
        on_p, on_q = by_p.ravel(), by_q.ravel()
        mixed = np.outer(on_p, on_q)
        out += f_pp * np.outer(on_p, on_p) + f_pq * (mixed + mixed.T) + f_qq * np.outer(on_q, on_q)
    return np.asarray(_NUMBERS.T @ out @ _NUMBERS)


_NUMBERS = np.zeros((3 * VECTORS, 24))  # ∂(c, d_A, d_B, e) by the numbers (c, d_1, d_2, d_3) of A and of B
_NUMBERS[:3, :3], _NUMBERS[:3, 12:15] = -np.eye(3), np.eye(3)
_NUMBERS[3:12, 3:12] = _NUMBERS[12:21, 15:24] = np.eye(9)


def row_gradient(rows: tuple[Row, ...], A: PortState, B: PortState) -> np.ndarray:
    """The gradients of g with respect to (c, d_1, d_2, d_3) of both ports, (rows, 24)."""
    return np.hstack(row_rates(rows, port_entries(A), port_entries(B)))


def angle_ratio(cosine: float) -> tuple[float, float, float]:
    """κ = ϑ/sin ϑ and its first and second derivatives with respect to cos ϑ; by series in x = 1 − cos ϑ if x < 0.25."""
    x = 1.0 - cosine
    if x < 0.25:
        series = np.polynomial.Polynomial(np.cumprod([1.0, *(n / (2.0 * n + 1.0) for n in range(1, 24))]))
        return float(series(x)), -float(series.deriv()(x)), float(series.deriv(2)(x))
    angle = np.arccos(max(cosine, -1.0))
    square = 1.0 - cosine * cosine
    ratio = float(angle / np.sin(angle))
    slope = (ratio * cosine - 1.0) / square
    return (
        ratio,
        float(slope),
        float((slope * cosine + ratio) / square + 2.0 * cosine * (ratio * cosine - 1.0) / square**2),
    )


def turn_cosine(A: PortState, B: PortState) -> float:
    """½ (Σ d_Ai · d_Bi − 1): the cosine of the rotation between the triads of two ports."""
    return 0.5 * (float(np.sum(A.D * B.D)) - 1.0)


def gap_units(rows: Sequence[Row], length: float) -> np.ndarray:
    """The scales of the gaps of rows: powers of a length."""
    return np.array([length**row.length_power for row in rows])


# --- rows in a plane ---------------------------------------------------------------------------------------------------------


def planar_row(row: Row, U_A: np.ndarray, U_B: np.ndarray) -> Row | None:
    """The row, or None if it is trivial for motion in the plane xy.

    U_A and U_B are the joint triads in their bodies; InputError is raised unless directions lie in the plane or are normal to it. A
    product of a vector in the plane with a normal one is zero, and a product of two normals is constant.
    """
    if not row.has_gap:
        normals = {_is_normal(a, U_A, U_B) for _, a, _ in row.terms}
        return row if normals == {row.function == "spin"} else None
    sums = (row.terms, row.other_terms) if row.is_angle else (row.terms,)
    moves = [any(not (_is_normal(a, U_A, U_B) or _is_normal(b, U_A, U_B)) for _, a, b in terms) for terms in sums]
    return row if all(moves) else None


def _is_normal(vector: int, U_A: np.ndarray, U_B: np.ndarray) -> bool:
    """Whether a vector is normal to the plane xy. Raises InputError if it is oblique."""
    if vector == SEPARATION:
        return False
    if vector >= INERTIAL:
        return vector == INERTIAL + 2
    d = U_A[:, vector - FIRST] if vector < SECOND else U_B[:, vector - SECOND]
    if abs(d[2]) < 1e-12:
        return False
    if np.hypot(d[0], d[1]) < 1e-12:
        return True
    raise InputError(f"the direction {d} of a joint neither lies in the plane xy nor is normal to it")
