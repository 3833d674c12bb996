"""Campbell diagrams: frequencies over the rate of a spin, with modes tracked by their shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from phloat.algebra.sparse import csr
from phloat.analysis.linearise import linearise
from phloat.analysis.steady_spin import steady_spin
from phloat.errors import InputError, finite_row, positive, whole_number
from phloat.joints.ends import unit
from phloat.linear.analysis.modes import Modes, modes
from phloat.system.state import State
from phloat.system.system import System

EXTRA_MODES = 8  # modes in addition to twice the tracked ones, among which they are searched at the next rate
FREQUENCY_WEIGHT = 1e-2  # weight of the frequency relative to that of the shape
ACROSS = 1e-6  # least share of a motion across the axis that has a sense


@dataclass(frozen=True, eq=False)
class Campbell:
    """Frequencies `omega` (rad/s) in the rotating frame and `growth` (1/s) over the `rates` (rad/s), each (rates, modes).

    `whirl` is 1 if the points of a mode move on circles in the direction of the spin, −1 against it, and 0 if they move
    on lines, or not across the axis. `alike` is the similarity (MAC) of a shape with that at the previous rate, between 0 and 1; 1
    at the first rate.
    """

    rates: np.ndarray
    omega: np.ndarray
    growth: np.ndarray
    whirl: np.ndarray
    alike: np.ndarray

    @property
    def stable(self) -> np.ndarray:
        """Whether no mode grows, at each rate."""
        return np.asarray(~self.growing.any(axis=1))

    @property
    def growing(self) -> np.ndarray:
        """Which modes grow, (rates, modes): by more than 1e-5 of their frequency, and than round-off."""
        return self.growth > np.maximum(1e-5 * np.abs(self.omega), 1e-9 * np.abs(self.omega).max(initial=0.0))

    def critical(self, order: float = 1.0) -> np.ndarray:
        """Rates Ω with ω = order · Ω for a mode, ascending; interpolated linearly between the given rates."""
        order = positive("order", order)
        gap = self.omega - order * self.rates[:, None]
        k, j = np.nonzero(gap[:-1] * gap[1:] <= 0.0)
        before, change = gap[k, j], gap[k, j] - gap[k + 1, j]
        part = np.divide(before, change, out=np.zeros(len(before)), where=change != 0.0)
        return np.unique((1.0 - part) * self.rates[k] + part * self.rates[k + 1])

    def __repr__(self) -> str:
        count, rates = self.omega.shape[1], len(self.rates)
        return f"Campbell({count} modes at {rates} rates up to {np.abs(self.rates).max():g} rad/s)"


def campbell(
    system: System,
    rates: ArrayLike,
    *,
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    about: Sequence[float] = (0.0, 0.0, 0.0),
    near: State | Mapping[str, object] | None = None,
    u: Mapping[str, object] | None = None,
    count: int = 6,
) -> Campbell:
    """The `count` lowest modes at the first rate, tracked over the rates: steady_spin, linearise and modes at each.

    Tracking through crossings and veerings needs rates so close that shapes change little between them.
    """
    row = finite_row("rates", rates)
    if not row.size:
        raise InputError("there are no rates; give at least one, in rad/s")
    whole_number("count", count, 1)
    rows, tracked, last = [], None, near
    for rate in row:
        state = steady_spin(system, axis=axis, rate=float(rate), about=about, near=last, u=u)
        eigenmodes = modes(linearise(system, state, u=u))
        if not len(eigenmodes.elastic):
            raise InputError("all modes are rigid; a Campbell diagram needs elastic ones")
        if tracked is None:
            chosen = np.arange(eigenmodes.rigid, min(eigenmodes.rigid + count, len(eigenmodes)))
            similarity = sign = np.ones(len(chosen))
        else:
            chosen, similarity, sign = _match_modes(tracked, eigenmodes)
        growth = np.zeros(len(eigenmodes)) if eigenmodes.growth is None else eigenmodes.growth
        rows.append((eigenmodes.omega[chosen], growth[chosen], _whirl(eigenmodes, chosen, axis, rate), similarity))
        shapes = eigenmodes.vectors[:, chosen]
        tracked, last = (sign * eigenmodes.omega[chosen], np.where(sign < 0.0, shapes.conj(), shapes)), state
    return Campbell(row, *(np.array(part) for part in zip(*rows, strict=True)))


def _match_modes(before: tuple[np.ndarray, np.ndarray], eigenmodes: Modes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, similarities and signs of the modes that continue those before: the assignment with the largest sum of |φᴴM ψ|².

    (ω, ψ) and (−ω, ψ̄) are the same mode; a frequency that passes zero continues as a negative one, with the sign −1.
    """
    omega, shapes = before
    n = eigenmodes.system.split
    M = csr(eigenmodes.system.E[:n, :n])
    candidates = np.arange(eigenmodes.rigid, min(eigenmodes.rigid + 2 * len(omega) + EXTRA_MODES, len(eigenmodes)))
    if len(candidates) < len(omega):
        raise InputError(f"only {len(candidates)} of {len(omega)} modes are elastic at this rate; ask for no more")
    signs = np.array([1.0, -1.0])
    value = signs[:, None] * eigenmodes.omega[candidates]
    new = np.array([eigenmodes.vectors[:, candidates], eigenmodes.vectors[:, candidates].conj()])
    lengths = np.sqrt(np.outer(_masses(M, shapes), _masses(M, new[0])))
    similarity = np.array([(np.abs(shapes.conj().T @ (M @ v)) / lengths) ** 2 for v in new])  # sign × before × new
    distance = np.abs(omega[:, None] - value[:, None, :])
    distance = distance / np.maximum(np.abs(omega)[:, None] + np.abs(value)[:, None, :], 1e-300)
    cost = FREQUENCY_WEIGHT * distance - similarity
    best_sign = cost.argmin(axis=0)
    row, column = linear_sum_assignment(cost.min(axis=0))
    best_sign = best_sign[row, column]
    return candidates[column], similarity[best_sign, row, column], signs[best_sign]


def _masses(M: np.ndarray, v: np.ndarray) -> np.ndarray:
    """vᴴM v of each column."""
    return np.einsum("ik,ik->k", v.conj(), M @ v).real


def _whirl(eigenmodes: Modes, chosen: np.ndarray, axis: Sequence[float], rate: float) -> np.ndarray:
    """The circularity and direction of the motion of points about the axis: −2 Im(ā b) / (|a|² + |b|²), a and b normal to it."""
    direction = unit("axis", axis) * (1.0 if rate >= 0.0 else -1.0)
    first = unit("axis", np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))]).tolist())
    second = np.cross(direction, first)
    n = eigenmodes.system.split
    rotation, size, points = np.zeros(len(chosen)), np.zeros(len(chosen)), 0
    for field in eigenmodes.system.fields.values():
        v = (field.motion[:, :n] @ eigenmodes.vectors[:, chosen]).reshape(-1, 3, len(chosen))
        a, b = np.einsum("pck,c->pk", v, first), np.einsum("pck,c->pk", v, second)
        rotation -= 2.0 * np.imag(a.conj() * b).sum(axis=0)
        size += (np.abs(a) ** 2 + np.abs(b) ** 2).sum(axis=0)
        points += len(v)
    frames = [eigenmodes.system.rows[name].start for name in eigenmodes.system.rows if name.endswith(".v_P")]
    mass = float(eigenmodes.system.E.diagonal()[frames].sum())
    across = (
        mass * size / max(points, 1) > ACROSS
    )  # of unit modal mass; torsion and axial modes do not move across the axis
    return np.where(across, rotation / np.maximum(size, 1e-300), 0.0)
