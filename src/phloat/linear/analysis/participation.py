"""Participation of modes at ports, effective masses under base motion, controllability and observability of modes.

With modes φ of unit mass a port that takes an effort has the admittance Σ p_k p_kᵀ s / (s² + ω_k²), p_k = Bᵀφ_k. A slow motion of
the base moves everything as r; with Γ_k = φ_kᵀM r the force on the base is

    f(s) = (M_0 + Σ Γ_k Γ_kᵀ ω_k² / (s² + ω_k²)) a(s),     rᵀM r = M_0 + Σ Γ_k Γ_kᵀ:

the effective masses Γ_kΓ_kᵀ and M_0, the mass of the base itself, add up to the total mass.

A mode is not controllable if its part in every input is zero: Bᵀφ = 0 for efforts, φᵀM r = 0 for driven motions; of modes of equal
frequency a combination may be. If damping couples modes or something spins, φ are left and right vectors of the pencil.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import ArrayLike

from phloat.algebra.sparse import csr, largest
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError, InputError, finite
from phloat.linear.analysis.modes import Modes, damping_couples, modes
from phloat.linear.analysis.poles_zeros import MAX_ROWS, scaled_state_space
from phloat.linear.form.phdae import LinearPHDAE, Ports, channels, inputs_outputs, linear_only
from phloat.linear.form.saddle import SaddleFactor
from phloat.linear.form.state_space import eliminate

SLOW = 1e-6  # frequency of the slow motion of a base, relative to the lowest elastic frequency
RIGID_ERROR = 1e-8  # relative error up to which a rigid translation or a motion of the base is accepted
ZERO_PART = 1e-8  # coupling of a mode with the ports that counts as zero, relative to the largest of all modes
EQUAL = 1e-8  # relative difference up to which two frequencies are equal


@dataclass(frozen=True, eq=False)
class EffectiveMasses:
    """Effective masses of modes for the motion of a base.

    `factors` Γ (modes, components of the base), `masses` Γ_kc² (kg or kg m²), and the matrices `total` rᵀM r and `residual` M_0.
    """

    modes: Modes
    base: tuple[str, ...]
    factors: np.ndarray
    total: np.ndarray

    @property
    def masses(self) -> np.ndarray:
        """The effective mass of each mode for each component, (modes, components)."""
        return self.factors**2

    @property
    def fractions(self) -> np.ndarray:
        """Effective masses relative to the total ones; 0 if there is none."""
        total = np.diag(self.total)
        return self.masses / np.where(total > 0.0, total, np.inf)

    @cached_property
    def residual(self) -> np.ndarray:
        """M_0: the total mass minus the effective masses of these modes; with all modes, the mass of the base itself."""
        return self.total - self.factors.T @ self.factors

    def __repr__(self) -> str:
        sums = zip(self.base, self.fractions.sum(axis=0), strict=True)
        parts = ", ".join(f"{name} {100 * x:.1f} %" for name, x in sums)
        return f"EffectiveMasses({len(self.factors)} modes, {parts})"


def participation(modes: Modes, ports: Ports) -> np.ndarray:
    """p_k = Bᵀφ_k: the flow of ports in each mode of unit mass, (modes, components).

    1 / p² is the modal mass at the port.
    """
    _require_real_modes(modes)
    system = modes.system
    columns, names = channels(system, ports)
    if largest(system.B_lam[:, columns]):
        raise InputError(f"{', '.join(names)}: a driven port is at rest in every mode; use effective_masses(…)")
    if held := [name for name, c in zip(names, columns, strict=True) if largest(system.B[system.split :, [c]])]:
        raise InputError(
            f"{', '.join(held)}: a port that takes a velocity is at rest in every mode; use effective_masses(…)"
        )
    return np.asarray((system.B[: system.split, columns].T @ modes.vectors).T)


@one_thread()
def effective_masses(modes: Modes, base: Ports | ArrayLike) -> EffectiveMasses:
    """The effective masses of the modes for the motion of driven ports, or of all supports along a direction (three numbers)."""
    _require_real_modes(modes)
    system = modes.system
    if isinstance(base, str) or (isinstance(base, Sequence) and base and all(isinstance(name, str) for name in base)):
        columns, names = channels(system, cast(Ports, base))
        r = _driven_motion(modes, columns, names)
    else:
        direction = finite("base", base, (3,))
        if not (length := float(np.linalg.norm(direction))) > 0.0:
            raise InputError("base is (0, 0, 0); it must be a direction, or the name of a driven port")
        r = _translation(system, direction / length)[:, None]
        names = (f"({', '.join(f'{x:g}' for x in direction)})",)
    M = csr(system.E[: system.split, : system.split])
    return EffectiveMasses(modes, names, modes.vectors.T @ (M @ r), r.T @ (M @ r))


def _require_real_modes(modes: Modes) -> None:
    """Raises InputError unless these are modes of a system without gyroscopic forces."""
    if not isinstance(modes, Modes):
        raise InputError(f"{type(modes).__name__} has no modes; give modes(system)")
    linear_only(modes.system)
    n = modes.system.split
    if largest(modes.system.J[:n, :n]):
        raise InputError("these modes are gyroscopic; participation is defined for modes at rest")


def _takes_velocity(system: LinearPHDAE, column: int) -> bool:
    """Whether an input is the velocity of a driven joint, or acts on stresses only, as at sides that take velocities."""
    n, B = system.split, system.B
    return largest(system.B_lam[:, [column]]) > 0.0 or (largest(B[n:, [column]]) > 0.0 and not largest(B[:n, [column]]))


def _driven_motion(modes: Modes, columns: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """r, (velocities, components): the velocities of the system for slow unit motions of driven ports.

    Raises InputError for ports that are not driven, and AccuracyError if the joints prevent the motion.
    """
    system = modes.system
    free = [name for name, c in zip(names, columns, strict=True) if not _takes_velocity(system, c)]
    if free:
        raise InputError(f"{', '.join(free)} takes an effort; a base is a driven port (drive, Drive, swap_causality)")
    s = SLOW * (modes.elastic[0] if len(modes.elastic) else 1.0)
    G, flows = system.G, system.B_lam[:, columns].toarray()
    r = np.full((system.rows.size, 1), np.nan)
    with suppress(RuntimeError):
        r = SaddleFactor(csr(s * system.E - system.J), G).solve(system.B[:, columns].toarray(), flows)
    gap = np.abs(G @ r - flows).max(initial=0.0)
    if not np.isfinite(r).all() or not gap <= RIGID_ERROR * np.abs(flows).max(initial=0.0):
        raise AccuracyError(f"{', '.join(names)} cannot be moved slowly: the joints prevent it, or are redundant")
    return np.asarray(r[: system.split])


def _translation(system: LinearPHDAE, direction: np.ndarray) -> np.ndarray:
    """r, (velocities,): the rigid translation of all fields along a unit vector; raises InputError if the system strains."""
    n = system.split
    if not system.fields:
        raise InputError("this system has no fields, so it has no direction; name a driven port as the base")
    motion = sp.vstack([field.motion[:, :n] for field in system.fields.values()])
    target = np.tile(direction, motion.shape[0] // 3)
    strain = csr(sp.diags_array(1.0 / np.maximum(np.sqrt(system.E.diagonal()[n:]), 1e-300)) @ system.J[:n, n:].T)
    strain = strain / (largest(strain) or 1.0)
    rhs = np.concatenate([target, np.zeros(strain.shape[0])])
    r = la.lstsq(sp.vstack([motion, strain]).toarray(), rhs, cond=1e-13)[0]
    error = max(np.abs(motion @ r - target).max(), np.abs(strain @ r).max(initial=0.0))
    if error > RIGID_ERROR:
        raise InputError(
            f"the system cannot translate along {tuple(map(float, direction))} (error {error:.1e}): part of it is clamped; give "
            "the body a frame and weld it to the ground, or name a driven port as the base"
        )
    return np.asarray(r)


@dataclass(frozen=True, eq=False)
class PortsReport:
    """Controllability (`reached`) and observability (`seen`) of each mode: 1 for the best of all modes, 0 for not at all.

    `omega` (rad/s) are the frequencies of the modes, or |s| of damped poles; `report.require()` raises InputError for a zero.
    """

    omega: np.ndarray
    reached: np.ndarray
    seen: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def unreachable(self) -> np.ndarray:
        """Frequencies (rad/s) of modes that are not controllable by the inputs."""
        return self.omega[self.reached <= ZERO_PART]

    @property
    def unobservable(self) -> np.ndarray:
        """Frequencies (rad/s) of modes that are not observable from the outputs."""
        return self.omega[self.seen <= ZERO_PART]

    @property
    def complete(self) -> bool:
        """Whether every mode is controllable and observable."""
        return not (self.unreachable.size or self.unobservable.size)

    def require(self, *, below: float = np.inf) -> PortsReport:
        """Returns itself; raises InputError if a mode below this frequency (rad/s) is not controllable or not observable."""
        if missing := self._missing(below):
            raise InputError(f"{missing}; choose other ports, or leave these modes out")
        return self

    def _missing(self, below: float) -> str:
        """A sentence about the modes below a frequency that are not controllable or not observable; empty if there is none."""
        lists = ("be moved from", self.unreachable, self.inputs), ("be seen at", self.unobservable, self.outputs)
        missing = ((verb, w[w < below], names) for verb, w, names in lists)
        texts = (f"{_frequencies(w)} cannot {verb} {', '.join(names)}" for verb, w, names in missing if w.size)
        return "; ".join(texts)

    def __repr__(self) -> str:
        return f"PortsReport({len(self.omega)} modes: {self._missing(np.inf) or 'all reached and seen'})"


def ports_report(
    system: LinearPHDAE,
    inputs: Ports,
    outputs: Ports | None = None,
    *,
    count: int | None = None,
) -> PortsReport:
    """Controllability from the inputs and observability at the outputs (default: the inputs) of the `count` lowest modes."""
    linear_only(system)
    into, out, ends = inputs_outputs(system, inputs, outputs)
    n = system.split
    if n >= 0 and not largest(system.J[:n, :n]) and not largest(system.R[n:]):
        modal = modes(system, count)
        if system.lossless or not damping_couples(system, modal.vectors):
            reached, seen = (_strength(modal.omega, _parts(modal, *end)) for end in zip((into, out), ends, strict=True))
            return PortsReport(modal.omega, reached, seen, *ends)
    poles, left, right = _pencil(system, into, out)
    order = np.argsort(np.abs(poles), kind="stable")[:count]
    poles, left, right = poles[order], left[order], right[order]
    return PortsReport(np.abs(poles), _strength(poles, left), _strength(poles, right), *ends)


def _parts(modes: Modes, columns: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """The participation of each mode in each channel, (modes, channels)."""
    driven = [_takes_velocity(modes.system, column) for column in columns]
    pairs = zip(names, driven, strict=True)
    return np.hstack([effective_masses(modes, n).factors if d else participation(modes, n) for n, d in pairs])


def _pencil(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poles with Im ≥ 0, and the parts of their left vectors in the inputs and of their right vectors in the outputs."""
    if largest(system.B_lam[:, np.union1d(into, out)]):
        raise InputError("driven ports of a damped or spinning system have no report; use ports that take an effort")
    if system.rows.size > MAX_ROWS:
        raise InputError(f"modes are coupled, and {system.rows.size} rows are more than {MAX_ROWS}; reduce the system")
    names = dict.fromkeys(system.ports.owner(int(c)) for c in np.union1d(into, out))
    free, columns_left = eliminate(system.with_ports(*names)), system.ports.indices(names)
    size, (A, F, C, _) = scaled_state_space(free, *(np.searchsorted(columns_left, columns) for columns in (into, out)))
    poles, w, v = la.eig(A, left=True, right=True)
    upper = poles.imag >= -EQUAL * np.abs(poles)
    return size * poles[upper], (w[:, upper].conj().T @ F), (C @ v[:, upper]).T


def _strength(values: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """The coupling of each mode with the channels, between 0 and 1, each channel scaled by its largest part.

    Of modes of equal frequency, whose combinations are modes too, these are the singular values of their parts.
    """
    parts = parts / np.maximum(np.abs(parts).max(axis=0, initial=0.0), 1e-300)
    size = np.abs(values).max(initial=0.0)
    out, remaining = np.zeros(len(values)), np.arange(len(values))
    while remaining.size:
        first = values[remaining[0]]
        equal = np.abs(values[remaining] - first) <= EQUAL * np.abs(first) + 1e-14 * size
        gains = la.svd(parts[remaining[equal]], compute_uv=False)
        out[remaining[equal][: len(gains)]] = gains
        remaining = remaining[~equal]
    return np.minimum(out, 1.0)


def _frequencies(omega: np.ndarray) -> str:
    """Rigid modes and the first frequencies of the others, in words."""
    rigid, rest = int((omega == 0).sum()), omega[omega > 0]
    parts = [f"{rigid} rigid mode{'s' if rigid > 1 else ''}"] if rigid else []
    if rest.size:
        text = ", ".join(f"{w:.6g}" for w in rest[:6]) + (f" and {rest.size - 6} more" if rest.size > 6 else "")
        parts.append(f"{'modes' if rest.size > 1 else 'the mode'} at {text} rad/s")
    return " and ".join(parts)
