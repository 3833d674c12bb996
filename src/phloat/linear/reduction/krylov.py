"""Rational Krylov bases: the reduced transfer function and its derivatives are the full ones at chosen points s.

With T(s) = s²M + s D + K the response of the ports at s is T⁻¹F, and its Taylor coefficients there follow from

    T X₀ = F,   T X₁ = −T'X₀,   T X_k = −(T'X_{k−1} + M X_{k−2}),   T' = 2 s M + D.

A projection on their span matches `order` moments at s, and twice as many where T is symmetric, ports being their own outputs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phloat.algebra.threads import one_thread
from phloat.errors import InputError, complex_row, whole_number
from phloat.linear.analysis.modes import rigid_modes
from phloat.linear.form.phdae import LinearPHDAE, Ports, channels
from phloat.linear.form.second_order import Factor, SecondOrder
from phloat.linear.reduction.basis import Basis, mass_lengths, orthogonal_to
from phloat.linear.reduction.projection import split_basis

POLE_DISTANCE = 1e-7  # distance from a pole, relative to |s|, below which the response has too few accurate digits
NEGLIGIBLE_PART = 1e-11  # real or imaginary part of a response that is round-off, relative to the response


@one_thread()
def krylov_basis(
    system: LinearPHDAE, shifts: Sequence[complex], *, order: int = 1, ports: Ports | None = None
) -> Basis:
    """The basis that matches moments (Taylor coefficients) of the transfer function at chosen points s, for `project`.

    Rigid motions are exact. The motion by driven ports is that at the first shift.

    Parameters
    ----------
    system : LinearPHDAE
        The system to be reduced.
    shifts : sequence of complex
        Points s (rad/s) that are no poles; the conjugate of a complex one is included.
    order : int, optional
        How many moments to match at every shift.
    ports : str or sequence of str, optional
        The ports whose response is matched. Default: all.

    Returns
    -------
    Basis
        `V_v` (velocities, reduced velocities) and `V_sigma` (stresses, reduced stresses).

    Examples
    --------
    The reduced response is exact at the shift.

    >>> beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=210e9, rho=7800.0, nu=0.3)).discretise(4)
    >>> arm = ph.connect({"beam": beam}, [ph.Revolute("ground", "beam.P", name="motor")], plane="xy")
    >>> linear = ph.linearise(arm, ph.place(arm)).with_ports("motor")
    >>> reduced = ph.reduction.project(linear, ph.reduction.krylov_basis(linear, [100j]))
    >>> full, small = (ph.response(s, "motor", omega=[100.0]).values for s in (linear, reduced))
    >>> np.allclose(full, small), linear.rows.size, reduced.rows.size
    (True, 35, 3)
    """
    points, order = complex_row("shifts", shifts), whole_number("order", order, 1)
    model, rigid = SecondOrder.from_system(system), rigid_modes(system)
    moments = PortMoments(model, rigid, None if ports is None else channels(system, ports)[0])
    for s in dict.fromkeys(complex(s.real, abs(s.imag)) for s in points):
        moments.add_at(s, order)
    return split_basis(model, rigid, np.hstack(moments.free), moments.driven)


class PortMoments:
    """Moments of the response of ports (default: all), collected shift by shift.

    `free` are lists of columns of free motions; `driven` has one motion for every driven input.
    """

    def __init__(self, model: SecondOrder, rigid: np.ndarray, columns: np.ndarray | None = None):
        self.model, self.rigid, count = model, rigid, model.drives.shape[1]
        columns = np.arange(count) if columns is None else columns
        F, drives = model.F[:, np.append(columns, np.arange(count, model.F.shape[1]))], model.drives[:, columns]
        self.forces, self.drives = F[:, F.any(axis=0)], drives[:, drives.any(axis=0)]
        # undamped rigid motions respond separately; the others are computed without them
        damping = np.abs(model.D @ rigid).max(initial=0.0)
        terms = (abs(model.D) @ np.abs(rigid)).max(initial=0.0)
        self.rigid_separate = bool(damping <= 1e-12 * max(terms, 1e-300)) or not terms
        if self.rigid_separate:
            self.forces = self.forces - model.M @ (rigid @ (rigid.T @ self.forces))
        self.free: list[np.ndarray] = [np.zeros((model.size, 0))]
        self.driven: np.ndarray | None = None

    def add_at(self, s: complex, order: int) -> None:
        """Adds `order` moments X₀, X₁ … at s; raises InputError if s is on a pole."""
        model, factor = self.model, self._factor(s)
        self._check(factor, s)
        first = factor.solve(self.forces)
        driven_motion = factor.solve(np.zeros((model.size, self.drives.shape[1])), self.drives)
        if self.driven is None:
            self.driven = np.ascontiguousarray(driven_motion.real)
        self._append(first)
        self._append(driven_motion - self.driven, mass_lengths(np.abs(driven_motion), abs(model.M)))
        current, previous = np.hstack([first, driven_motion]), np.zeros((model.size, 1))
        for _ in range(order - 1):
            slope = 2.0 * factor.b * (model.M @ current) + model.D @ current
            current, previous = factor.solve(-(slope + model.M @ previous)), current
            self._append(current)

    def _append(self, X: np.ndarray, scale: np.ndarray | None = None) -> None:
        """Adds real and imaginary parts of X of unit mass, without rigid motions; omits those that are round-off of `scale`."""
        if not X.shape[1]:
            return
        M = self.model.M
        parts = [orthogonal_to(part, self.rigid, M) for part in ((X.real, X.imag) if np.iscomplexobj(X) else (X,))]
        sizes = [mass_lengths(part, M) for part in parts]
        scale = np.sqrt(sum(size**2 for size in sizes)) if scale is None else scale
        for part, size in zip(parts, sizes, strict=True):
            significant = size > NEGLIGIBLE_PART * scale
            self.free.append(part[:, significant] / size[significant])

    def _factor(self, s: complex) -> Factor:
        """The factor at s; raises InputError if s is on a pole."""
        if s == 0 and self.rigid.shape[1]:
            raise InputError(f"shift 0 is a pole of {self.rigid.shape[1]} rigid motions; use a small positive one")
        try:
            return self.model.factor(s)
        except RuntimeError:
            raise _on_a_pole(s, s) from None

    def _check(self, factor: Factor, s: complex) -> None:
        """Raises InputError if s is on a pole, from some steps of inverse iteration T(s)⁻¹T'(s) x → x / (s − pole)."""
        model, start = self.model, np.random.default_rng(0).normal(size=(self.model.size, 1))
        x = orthogonal_to(start, self.rigid, model.M) if self.rigid_separate else start
        x = factor.solve(model.M @ x)
        step: complex = 0.0
        for _ in range(3):
            size = np.sqrt(np.vdot(x, model.M @ x).real)
            if not np.isfinite(size):
                raise _on_a_pole(s, s)
            x = x / max(size, 1e-300)
            y = factor.solve(2.0 * factor.b * (model.M @ x) + model.D @ x)
            y = orthogonal_to(y, self.rigid, model.M) if self.rigid_separate else y
            step = complex(np.vdot(x, model.M @ y))  # 1 / (s − pole)
            x = y if y.any() else x
        if abs(step) * POLE_DISTANCE * abs(s) > 1.0:
            raise _on_a_pole(s, s - 1.0 / step)


def _on_a_pole(s: complex, pole: complex) -> InputError:
    """The error for a shift that is on a pole."""
    shift, nearest = (f"{x.real:.6g}" if not complex(x).imag else f"{complex(x):.6g}" for x in (s, pole))
    return InputError(
        f"shift {shift} is on a pole, the nearest is {nearest}; move it off the imaginary axis, by a hundredth of its size"
    )
