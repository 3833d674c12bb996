"""A port at a state: its point, its triad, and the rates of both per velocity of its body.

The point is c = r_P + A (x + Φη), and r_P + A (x + Φη + ½ ηΦ₂η) of a beam with slaved shortening. The triad moves with the
section of the port, d_i = A (d₀_i + ψ × d₀_i + ⅓ ψ × (ψ × d₀_i)) with ψ = Ψη. (The last term makes the direction of a bent
section exact to ψ⁴; without it a weld rotates by atan ψ instead of ψ, and is softer by a factor of order ψ².)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phloat.algebra.cross import cross, skew


def section_axes(psi: np.ndarray) -> np.ndarray:
    """The rotation of a section turned by ψ: the orthonormal part of `bent`, I + a [ψ]× + b [ψ]×².

    It rotates about ψ by atan2(ψ, 1 − ψ²/3) = ψ + O(ψ⁵). With ℓ² = 1 + ψ²/3 + ψ⁴/9, a = 1/ℓ and b = (⅓ + (⅓ + ψ²/9)/(1 + ℓ))/ℓ.
    """
    a, b, _, _ = _turning(float(psi @ psi))
    turn = skew(psi)
    return np.eye(3) + a * turn + b * np.dot(turn, turn)


def section_axes_rate(psi: np.ndarray, d0: np.ndarray) -> np.ndarray:
    """The derivative of section_axes(ψ) d₀ with respect to ψ, 3 × 3."""
    a, b, da, db = _turning(float(psi @ psi))
    crossed = cross(psi, d0)
    out = -a * skew(d0) - b * (skew(crossed) + np.dot(skew(psi), skew(d0)))
    return out + 2.0 * np.outer(da * crossed + db * cross(psi, crossed), psi)


def _turning(x: float) -> tuple[float, float, float, float]:
    """a and b of `section_axes` at x = ψ², and their derivatives with respect to x."""
    length = np.sqrt(1.0 + x / 3.0 + x * x / 9.0)
    d_length, part = (1.0 / 3.0 + 2.0 * x / 9.0) / (2.0 * length), (1.0 / 3.0 + x / 9.0) / (1.0 + length)
    b, d_part = (1.0 / 3.0 + part) / length, (1.0 / 9.0 - part * d_length) / (1.0 + length)
    return 1.0 / length, b, -d_length / length**2, (d_part - b * d_length) / length


def bent(psi: np.ndarray, d0: np.ndarray) -> np.ndarray:
    """d₀ + ψ × d₀ + ⅓ ψ × (ψ × d₀) of a section rotated by ψ, for one direction (3,) or a triad (columns); not of unit length."""
    turn = skew(psi)
    crossed = turn @ d0
    return d0 + crossed + turn @ crossed / 3.0


def bent_slope(psi: np.ndarray, triad: np.ndarray) -> np.ndarray:
    """The derivatives of `bent` with respect to ψ for the columns of a triad, 3 × 3 × 3 (first axis: direction)."""
    turn, directions = skew(psi), skew(triad.swapaxes(-1, -2))
    return -directions - (skew((turn @ triad).swapaxes(-1, -2)) + turn[..., None, :, :] @ directions) / 3.0


@dataclass(frozen=True, eq=False)
class PortState:
    """A port at a state: point c and triad D (columns) in inertial axes, and their rates per velocity of its body.

    Or many ports at once, on bodies with equal numbers of coordinates: all arrays then have a first axis (ports), but `columns`.
    """

    r_P: np.ndarray
    A: np.ndarray
    y: np.ndarray  # x + Φη + ½ ηΦ₂η
    Phi: np.ndarray  # ∂y/∂η
    Psi: np.ndarray
    eta: np.ndarray
    triad: np.ndarray  # the directions d₀ as columns
    columns: np.ndarray  # the velocities of (v_P, ω, η̇) that the body has; none for the ground
    Phi_2: np.ndarray | None = None

    @cached_property
    def c(self) -> np.ndarray:
        """The point in inertial axes, (3,)."""
        return self.r_P + _times(self.A, self.y)

    @cached_property
    def psi(self) -> np.ndarray:
        """The rotation of the section by deformation, body axes, (3,)."""
        return _times(self.Psi, self.eta)

    @cached_property
    def bent(self) -> np.ndarray:
        """The directions in body axes, as columns."""
        return bent(self.psi, self.triad)

    @cached_property
    def bent_slope(self) -> np.ndarray:
        """Their derivatives with respect to ψ, 3 × 3 × 3 (first axis: direction)."""
        return bent_slope(self.psi, self.triad)

    @cached_property
    def D(self) -> np.ndarray:
        """The directions in inertial axes, as columns."""
        return self.A @ self.bent

    @cached_property
    def point(self) -> np.ndarray:
        """ċ per velocity, 3 × velocities."""
        rates = np.concatenate([self.A, -self.A @ skew(self.y), self.A @ self.Phi], axis=-1)
        return rates[..., self.columns]

    @cached_property
    def turn(self) -> np.ndarray:
        """The rates of the three directions per velocity, 3 × 3 × velocities (first axis: direction)."""
        A, Psi = self.A[..., None, :, :], self.Psi[..., None, :, :]
        out = np.zeros((*self.A.shape, 6 + self.eta.shape[-1]))
        out[..., 3:6] = -A @ skew(self.bent.swapaxes(-1, -2))
        out[..., 6:] = A @ self.bent_slope @ Psi
        return out[..., self.columns]

    @cached_property
    def spin(self) -> np.ndarray:
        """ω_C = A (ω + Ψη̇) per velocity, 3 × velocities."""
        return np.concatenate([np.zeros_like(self.A), self.A, self.A @ self.Psi], axis=-1)[..., self.columns]


def _times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x for one matrix and vector, or many."""
    return np.asarray((A @ x[..., None])[..., 0])


@dataclass(frozen=True, eq=False)
class PortEntries(PortState):
    """A port with (c, d_1, d_2, d_3), twelve numbers, in place of body velocities: Row.rate gives the gradient of a row."""

    point = np.eye(3, 12)  # the same of every port
    turn = np.eye(9, 12, k=3).reshape(3, 3, 12)
    spin = np.zeros((3, 12))

    def by_state(self, gradient: np.ndarray) -> np.ndarray:
        """Converts a gradient with respect to (c, d_i) to (r_P, A row by row, η): c = r_P + A y, d_i = A bent(Ψη, d₀_i)."""
        on_c, on_D = gradient[:3], gradient[3:].reshape(3, 3).T
        on_psi = np.einsum("dki,kd->i", self.bent_slope, self.A.T @ on_D)
        on_eta = self.Phi.T @ (self.A.T @ on_c) + self.Psi.T @ on_psi
        return np.concatenate([on_c, (np.outer(on_c, self.y) + on_D @ self.bent.T).ravel(), on_eta])


def port_entries(port: PortState) -> PortEntries:
    """The port as PortEntries, with its point and directions in place of body velocities."""
    return PortEntries(port.r_P, port.A, port.y, port.Phi, port.Psi, port.eta, port.triad, port.columns)


def ground_port(at: np.ndarray, triad: np.ndarray) -> PortState:
    """A port of the ground at a point, with a triad as columns; it has no velocities."""
    none = np.zeros((3, 0))
    return PortState(at, np.eye(3), np.zeros(3), none, none, np.zeros(0), triad, np.zeros(0, dtype=int))


def turn_stiffness(port: PortState, pull: np.ndarray) -> np.ndarray:
    """−Σ pull ∂²ξ/∂q² for the velocities of the body of a port: the stiffness of pulls (12,) on c and d_i that are fixed in space.

    With γ = Aᵀpull, the generalised forces are γ, y × γ, Φᵀγ of a pull on the point and b × γ, Ψᵀ(∂b/∂ψ)ᵀγ of one on a direction
    b(ψ); γ rotates relative to the body.
    """
    Phi, Psi = port.Phi, port.Psi
    K = np.zeros((6 + Phi.shape[1],) * 2)
    turn = skew(port.A.T @ pull[:3])
    K[:3, 3:6], K[3:6, 3:6] = -turn, -skew(port.y) @ turn
    K[3:6, 6:], K[6:, 3:6] = turn @ Phi, -Phi.T @ turn
    gamma = pull[3:].reshape(3, 3) @ port.A  # one row per direction
    turns, mixed = skew(gamma), gamma.T @ port.triad.T
    K[3:6, 3:6] -= (skew(port.bent.T) @ turns).sum(axis=0)
    bent_by = (turns @ port.bent_slope).sum(axis=0)
    twice = (mixed + mixed.T - 2.0 * np.trace(mixed) * np.eye(3)) / 3.0
    K[3:6, 6:] += bent_by @ Psi
    K[6:, 3:6] += Psi.T @ bent_by.T
    K[6:, 6:] -= Psi.T @ twice @ Psi
    if port.Phi_2 is not None:
        K[6:, 6:] -= np.tensordot(port.A.T @ pull[:3], port.Phi_2, 1)
    return K[np.ix_(port.columns, port.columns)]
