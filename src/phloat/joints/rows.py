"""The rows that joints are made of, between two ports held at a state.

A port is a point c = r_P + A (x + Φη) and a triad that moves with its section, d_i = A (d₀_i + ψ × d₀_i + ⅓ ψ × (ψ × d₀_i)) with
ψ = Ψη. (The last term makes the direction of a bent section right to ψ⁴; without it a weld turns by atan ψ instead of ψ, and is
softer by ψ².) Each row is the rate of a gap: coincide c_B − c_A, perpendicular d_A·d_B, in plane d_A·(c_B − c_A), aligned
½ (d_Ak·d_Bj − d_Aj·d_Bk). (Twists are not used for closed rows: ω + Ψη̇ is not the rate of a bending triad.) Motion is that of
the second port, B, seen from the first, A. Joint coordinates (turn, along) and what springs act on (distance, in plane, skew) are
rows too. The functions up to `Held` take plain arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from phloat.algebra.cross import angle_ratio, cross, rotation, skew, skews
from phloat.errors import InputError


def point_rate(A: np.ndarray, y: np.ndarray, Phi: np.ndarray) -> np.ndarray:
    """ċ = A (v_P + ω × y + Φη̇) per (v_P, ω, η̇), with y = x + Φη."""
    n = Phi.shape[1]
    out = np.zeros((3, 6 + n))
    out[:, 0:3] = A
    out[:, 3:6] = -np.dot(A, skew(y))
    out[:, 6:] = np.dot(A, Phi)
    return out


def bent(psi: np.ndarray, d0: np.ndarray) -> np.ndarray:
    """The direction d₀ + ψ × d₀ + ⅓ ψ × (ψ × d₀) of a section turned by ψ; its length is left alone."""
    turned = cross(psi, d0)
    return d0 + turned + cross(psi, turned) / 3.0


def bending(psi: np.ndarray, d0: np.ndarray) -> np.ndarray:
    """The derivative of `bent` by ψ, 3 × 3."""
    return -skew(d0) - (skew(cross(psi, d0)) + np.dot(skew(psi), skew(d0))) / 3.0


def section_axes(psi: np.ndarray) -> np.ndarray:
    """The rotation of a section turned by ψ: the orthonormal part of `bent`, I + a [ψ]× + b [ψ]×².

    It turns about ψ by atan2(ψ, 1 − ψ²/3) = ψ + O(ψ⁵). With ℓ² = 1 + ψ²/3 + ψ⁴/9, a = 1/ℓ and b = (⅓ + (⅓ + ψ²/9)/(1 + ℓ))/ℓ.
    """
    a, b, _, _ = _turning(float(psi @ psi))
    turn = skew(psi)
    return np.eye(3) + a * turn + b * np.dot(turn, turn)


def section_axes_rate(psi: np.ndarray, d0: np.ndarray) -> np.ndarray:
    """The derivative of section_axes(ψ) d₀ by ψ, 3 × 3."""
    a, b, da, db = _turning(float(psi @ psi))
    turned = cross(psi, d0)
    out = -a * skew(d0) - b * (skew(turned) + np.dot(skew(psi), skew(d0)))
    return out + 2.0 * np.outer(da * turned + db * cross(psi, turned), psi)


def _turning(x: float) -> tuple[float, float, float, float]:
    """a and b of `section_axes` at x = ψ², and their derivatives by x."""
    length = np.sqrt(1.0 + x / 3.0 + x * x / 9.0)
    d_length, part = (1.0 / 3.0 + 2.0 * x / 9.0) / (2.0 * length), (1.0 / 3.0 + x / 9.0) / (1.0 + length)
    b, d_part = (1.0 / 3.0 + part) / length, (1.0 / 9.0 - part * d_length) / (1.0 + length)
    return 1.0 / length, b, -d_length / length**2, (d_part - b * d_length) / length


def direction(A: np.ndarray, Psi: np.ndarray, d0: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """d = A bent(Ψη, d₀)."""
    return np.dot(A, bent(np.dot(Psi, eta), d0))


def direction_rate(A: np.ndarray, Psi: np.ndarray, d0: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """ḋ = A (ω × bent + (∂bent/∂ψ) Ψη̇) per (v_P, ω, η̇)."""
    n = Psi.shape[1]
    psi = np.dot(Psi, eta)
    out = np.zeros((3, 6 + n))
    out[:, 3:6] = -np.dot(A, skew(bent(psi, d0)))
    out[:, 6:] = np.dot(np.dot(A, bending(psi, d0)), Psi)
    return out


def bent_triad(psi: np.ndarray, triad: np.ndarray) -> np.ndarray:
    """`bent` of the three directions that are the columns of a triad, as columns."""
    turn = skew(psi)
    turned = turn @ triad
    return triad + turned + turn @ turned / 3.0


def bending_triad(psi: np.ndarray, triad: np.ndarray) -> np.ndarray:
    """`bending` of the three directions that are the columns of a triad, 3 × 3 × 3 (first axis: which direction)."""
    turn, own = skew(psi), skews(triad.T)
    return -own - (skews((turn @ triad).T) + turn @ own) / 3.0


# --- ports held at a state -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Held:
    """A port at a state: place c, triad D (columns), and their rates per velocity that its body has (the ground has none)."""

    r_P: np.ndarray
    A: np.ndarray
    y: np.ndarray  # x + Φη
    Phi: np.ndarray
    Psi: np.ndarray
    eta: np.ndarray
    triad: np.ndarray  # the directions d₀ as columns
    columns: np.ndarray  # the velocities that exist

    @cached_property
    def c(self) -> np.ndarray:
        return self.r_P + self.A @ self.y

    @cached_property
    def psi(self) -> np.ndarray:
        """How far the section is turned in its body."""
        return self.Psi @ self.eta

    @cached_property
    def bent(self) -> np.ndarray:
        """The directions in the axes of the body, as columns."""
        return bent_triad(self.psi, self.triad)

    @cached_property
    def bending(self) -> np.ndarray:
        """Their derivatives by ψ, 3 × 3 × 3 (first axis: which direction)."""
        return bending_triad(self.psi, self.triad)

    @cached_property
    def D(self) -> np.ndarray:
        return self.A @ self.bent

    @cached_property
    def point(self) -> np.ndarray:
        """ċ, 3 × velocities."""
        return point_rate(self.A, self.y, self.Phi)[:, self.columns]

    @cached_property
    def turn(self) -> np.ndarray:
        """The rates of the three directions, 3 × 3 × velocities (first axis: which direction)."""
        out = np.zeros((3, 3, 6 + len(self.eta)))
        out[:, :, 3:6] = -self.A @ skews(self.bent.T)
        out[:, :, 6:] = self.A @ self.bending @ self.Psi
        return out[:, :, self.columns]

    @cached_property
    def spin(self) -> np.ndarray:
        """ω_C = A (ω + Ψη̇), 3 × velocities."""
        return np.hstack([np.zeros((3, 3)), self.A, self.A @ self.Psi])[:, self.columns]


@dataclass(frozen=True, eq=False)
class Entries(Held):
    """The same port with its twelve numbers (c, d_1, d_2, d_3) as velocities: the rate of a row is then its gradient by them."""

    point = np.eye(3, 12)  # the same of every port
    turn = np.eye(9, 12, k=3).reshape(3, 3, 12)
    spin = np.zeros((3, 12))

    def by_state(self, gradient: np.ndarray) -> np.ndarray:
        """A gradient by (c, d_i) as one by (r_P, A row by row, η): c = r_P + A y, d_i = A bent(Ψη, d₀_i)."""
        on_c, on_D = gradient[:3], gradient[3:].reshape(3, 3).T
        on_psi = np.einsum("dki,kd->i", self.bending, self.A.T @ on_D)
        on_eta = self.Phi.T @ (self.A.T @ on_c) + self.Psi.T @ on_psi
        return np.concatenate([on_c, (np.outer(on_c, self.y) + on_D @ self.bent.T).ravel(), on_eta])


def by_entries(port: Held) -> Entries:
    """A port whose rows give gradients by its point and directions."""
    out = Entries(port.r_P, port.A, port.y, port.Phi, port.Psi, port.eta, port.triad, port.columns)
    vars(out).update(c=port.c, D=port.D)  # known already
    return out


def held_ground(at: np.ndarray, triad: np.ndarray) -> Held:
    """A place of the ground: nothing of it moves."""
    none = np.zeros((3, 0))
    return Held(at, np.eye(3), np.zeros(3), none, none, np.zeros(0), triad, np.zeros(0, dtype=int))


Pair = tuple[np.ndarray, np.ndarray]


class Row(Protocol):
    """One or more scalar rows: a gap, and its rate as a pair of matrices for the velocities of A and of B."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    def gap(self, A: Held, B: Held) -> np.ndarray: ...
    def rate(self, A: Held, B: Held) -> Pair: ...


@dataclass(frozen=True)
class Coincide:
    """c_B − c_A, in inertial axes."""

    axes: tuple[int, ...] = (0, 1, 2)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"coincide {'xyz'[i]}" for i in self.axes)

    def gap(self, A: Held, B: Held) -> np.ndarray:
        return (B.c - A.c)[list(self.axes)]

    def rate(self, A: Held, B: Held) -> Pair:
        return -A.point[list(self.axes)], B.point[list(self.axes)]


@dataclass(frozen=True)
class Perpendicular:
    """d_A · d_B for two directions of the joint triads."""

    i: int
    j: int

    @property
    def labels(self) -> tuple[str, ...]:
        return (f"perpendicular {'xyz'[self.i]}{'xyz'[self.j]}",)

    def gap(self, A: Held, B: Held) -> np.ndarray:
        return np.array([A.D[:, self.i] @ B.D[:, self.j]])

    def rate(self, A: Held, B: Held) -> Pair:
        return (B.D[:, self.j] @ A.turn[self.i])[None], (A.D[:, self.i] @ B.turn[self.j])[None]


@dataclass(frozen=True)
class InPlane:
    """d_A · (c_B − c_A) for a direction of the first joint triad."""

    i: int

    @property
    def labels(self) -> tuple[str, ...]:
        return (f"in plane {'xyz'[self.i]}",)

    def gap(self, A: Held, B: Held) -> np.ndarray:
        return np.array([A.D[:, self.i] @ (B.c - A.c)])

    def rate(self, A: Held, B: Held) -> Pair:
        d = A.D[:, self.i]
        return ((B.c - A.c) @ A.turn[self.i] - d @ A.point)[None], (d @ B.point)[None]


@dataclass(frozen=True)
class Aligned:
    """The skew products of two triads: zero where they agree, those of bent sections too, and unchanged by any common rotation
    (½ Σ d_Ai × d_Bi in inertial axes is not: a weld of bending ends then loses angular momentum)."""

    axes: tuple[int, ...] = (0, 1, 2)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"aligned {'xyz'[i]}" for i in self.axes)

    def gap(self, A: Held, B: Held) -> np.ndarray:
        j, k = self._others
        products = A.D.T @ B.D
        return np.asarray(0.5 * (products[k, j] - products[j, k]))

    def rate(self, A: Held, B: Held) -> Pair:
        (j, k), D_A, D_B = self._others, A.D.T[:, None], B.D.T[:, None]
        on_A, on_B = D_B[j] @ A.turn[k] - D_B[k] @ A.turn[j], D_A[k] @ B.turn[j] - D_A[j] @ B.turn[k]
        return 0.5 * on_A[:, 0], 0.5 * on_B[:, 0]

    @property
    def _others(self) -> tuple[np.ndarray, np.ndarray]:
        """j and k of each axis i, (i, j, k) cyclic."""
        i = np.array(self.axes, dtype=int)
        return (i + 1) % 3, (i + 2) % 3


@dataclass(frozen=True)
class Skew:
    """½ (d_Ak · d_Bj − d_Aj · d_Bk), (i, j, k) cyclic: the small rotation of B seen from A about direction i of A."""

    i: int

    @property
    def labels(self) -> tuple[str, ...]:
        return (f"skew {'xyz'[self.i]}",)

    @property
    def products(self) -> tuple[Perpendicular, Perpendicular]:
        """The two products of which the row is half the difference."""
        j, k = (self.i + 1) % 3, (self.i + 2) % 3
        return Perpendicular(k, j), Perpendicular(j, k)

    def gap(self, A: Held, B: Held) -> np.ndarray:
        plus, minus = self.products
        return 0.5 * (plus.gap(A, B) - minus.gap(A, B))

    def rate(self, A: Held, B: Held) -> Pair:
        plus, minus = (product.rate(A, B) for product in self.products)
        return 0.5 * (plus[0] - minus[0]), 0.5 * (plus[1] - minus[1])


@dataclass(frozen=True)
class RotationVector:
    """φ_i = ϑ/sin ϑ · ½ (d_Ak · d_Bj − d_Aj · d_Bk): a component of the rotation vector of B seen from A, for turns ϑ below π."""

    i: int

    @property
    def labels(self) -> tuple[str, ...]:
        return (f"rotation {'xyz'[self.i]}",)

    def gap(self, A: Held, B: Held) -> np.ndarray:
        return angle_ratio(turn_cosine(A, B))[0] * Skew(self.i).gap(A, B)

    def rate(self, A: Held, B: Held) -> Pair:
        ratio, slope = angle_ratio(turn_cosine(A, B))  # κ ṡ + s κ' ½ Σ (d_Ai · d_Bi)˙
        rates, change = Skew(self.i).rate(A, B), 0.5 * slope * Skew(self.i).gap(A, B)[0]
        on_A, on_B = zip(*(Perpendicular(k, k).rate(A, B) for k in range(3)), strict=True)
        return ratio * rates[0] + change * sum(on_A), ratio * rates[1] + change * sum(on_B)


def turn_cosine(A: Held, B: Held) -> float:
    """½ (Σ d_Ai · d_Bi − 1): the cosine of the turn between the triads of two ports."""
    return 0.5 * (float(np.sum(A.D * B.D)) - 1.0)


@dataclass(frozen=True)
class Distance:
    """|c_B − c_A|."""

    @property
    def labels(self) -> tuple[str, ...]:
        return ("distance",)

    def gap(self, A: Held, B: Held) -> np.ndarray:
        return np.array([np.linalg.norm(B.c - A.c)])

    def rate(self, A: Held, B: Held) -> Pair:
        length = float(np.linalg.norm(B.c - A.c))
        if length == 0.0:
            raise InputError(
                "the ends of a spring or damper stand at one point, so it pulls nowhere; place them apart, or use a Bushing"
            )
        n = (B.c - A.c) / length
        return -(n @ A.point)[None], (n @ B.point)[None]


@dataclass(frozen=True)
class Turn:
    """An angle ϑ between the triads: tan ϑ = (d_Ai · d_Bj) / (d_Ak · d_Bl) with p = (i, j), q = (k, l).

    By default it is the angle about the common third direction. Where p and q share a direction of B, it is the angle about
    a direction of A; where they share one of A, about one of B.
    """

    p: tuple[int, int] = (1, 0)
    q: tuple[int, int] = (0, 0)
    label: str = "angle"

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.label,)

    def gap(self, A: Held, B: Held) -> np.ndarray:
        return np.arctan2(Perpendicular(*self.p).gap(A, B), Perpendicular(*self.q).gap(A, B))

    def rate(self, A: Held, B: Held) -> Pair:
        of_p, of_q = Perpendicular(*self.p), Perpendicular(*self.q)
        p, q = float(of_p.gap(A, B)[0]), float(of_q.gap(A, B)[0])
        p_rate, q_rate = of_p.rate(A, B), of_q.rate(A, B)
        size = p**2 + q**2
        return (q * p_rate[0] - p * q_rate[0]) / size, (q * p_rate[1] - p * q_rate[1]) / size

    def turned(self, angle: float) -> np.ndarray:
        """The triad of B in that of A when nothing but this angle differs from zero."""
        e = np.eye(3)
        (i, j), (k, l) = self.p, self.q
        return rotation(angle * (np.cross(e[k], e[i]) if j == l else np.cross(e[j], e[l])))


@dataclass(frozen=True)
class Along:
    """How far B stands along a direction of A, by default the third."""

    i: int = 2
    label: str = "slide"

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.label,)

    def gap(self, A: Held, B: Held) -> np.ndarray:
        return InPlane(self.i).gap(A, B)

    def rate(self, A: Held, B: Held) -> Pair:
        return InPlane(self.i).rate(A, B)


@dataclass(frozen=True)
class Spin:
    """Angular velocity of B seen from A, in the joint triad of A; it is the rate of nothing, so it has no gap."""

    axes: tuple[int, ...] = (0, 1, 2)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"spin {'xyz'[i]}" for i in self.axes)

    def gap(self, A: Held, B: Held) -> np.ndarray:
        raise InputError("a ball joint has no angle; give the orientation of its body instead")

    def rate(self, A: Held, B: Held) -> Pair:
        into = A.D[:, list(self.axes)].T
        return -into @ A.spin, into @ B.spin


def is_length(row: Row) -> bool:
    """Whether the gap of a row is in metres; the others are angles, to first order."""
    return isinstance(row, (Coincide, InPlane, Along, Distance))


def gap_units(rows: Sequence[Row], length: float) -> np.ndarray:
    """What the gaps of rows are compared with: a length, or one."""
    return np.array([length if is_length(row) else 1.0 for row in rows for _ in row.labels])


# --- rows in a plane -------------------------------------------------------------------------------------------------


def in_plane(row: Row, U_A: np.ndarray, U_B: np.ndarray) -> Row | None:
    """What is left of a row when everything moves in the plane xy: the row, fewer of its axes, or nothing.

    U_A and U_B are the joint triads in their bodies; a direction must lie in the plane or stand on it.
    """
    if isinstance(row, Coincide):
        return Coincide((0, 1))
    if isinstance(row, Aligned):
        return Aligned(tuple(i for i in range(3) if not _flat(U_A[:, i])))
    if isinstance(row, Perpendicular):
        return row if _flat(U_A[:, row.i]) and _flat(U_B[:, row.j]) else None
    if isinstance(row, (InPlane, Along)):
        return row if _flat(U_A[:, row.i]) else None
    if isinstance(row, (Skew, RotationVector)):
        return None if _flat(U_A[:, row.i]) else row
    if isinstance(row, Turn):
        inside = [_flat(U_A[:, i]) and _flat(U_B[:, j]) for i, j in (row.p, row.q)]
        return row if all(inside) else None
    if isinstance(row, Spin):
        upright = [i for i in range(3) if not _flat(U_A[:, i])]
        return Spin(tuple(upright))
    return row


def _flat(d: np.ndarray) -> bool:
    if abs(d[2]) < 1e-12:
        return True
    if np.hypot(d[0], d[1]) < 1e-12:
        return False
    raise InputError(f"the direction {d} of a joint neither lies in the plane xy nor stands on it")
