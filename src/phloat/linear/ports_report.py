"""Which modes inputs cannot move and outputs cannot see.

A mode is out of reach where its part in every input is zero: Bᵀφ = 0 for efforts, φᵀM r = 0 for driven motions, and of equal
frequencies some combination. Where damping couples modes or something spins, φ are left and right vectors of the pencil.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import largest
from phloat.errors import InputError
from phloat.linear.channels import channels
from phloat.linear.eliminate import eliminate
from phloat.linear.modes import Modes, modes
from phloat.linear.participation import effective_masses, participation
from phloat.linear.phdae import LinearPHDAE, linear_only
from phloat.linear.poles import coupled
from phloat.linear.zeros import MOST_ROWS, state_space

NOTHING = 1e-8  # of the largest part that a mode has in an input: what counts as none
EQUAL = 1e-8  # of a frequency: what counts as the same one


@dataclass(frozen=True, eq=False)
class PortsReport:
    """How well each mode is reached by the inputs and seen by the outputs: 1 for the best of all modes, 0 for not at all.

    `omega` (rad/s) are frequencies of modes, or sizes of damped poles; `report.require()` raises where a mode is left out.
    """

    omega: np.ndarray
    reached: np.ndarray
    seen: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def unreachable(self) -> np.ndarray:
        """Frequencies of modes that the inputs cannot move."""
        return self.omega[self.reached <= NOTHING]

    @property
    def unobservable(self) -> np.ndarray:
        """Frequencies of modes that the outputs cannot see."""
        return self.omega[self.seen <= NOTHING]

    @property
    def complete(self) -> bool:
        """Whether every mode is reached and seen."""
        return not (self.unreachable.size or self.unobservable.size)

    def require(self, *, below: float = np.inf) -> PortsReport:
        """Itself, or a sentence where a mode below a frequency is out of reach or out of sight."""
        if said := self._said(below):
            raise InputError(f"{said}; choose other ports, or leave these modes out")
        return self

    def _said(self, below: float) -> str:
        parts = []
        for what, left, names in (
            ("be moved from", self.unreachable, self.inputs),
            ("be seen at", self.unobservable, self.outputs),
        ):
            if (left := left[left < below]).size:
                parts.append(f"{_frequencies(left)} cannot {what} {', '.join(names)}")
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"PortsReport({len(self.omega)} modes: {self._said(np.inf) or 'all reached and seen'})"


def ports_report(
    system: LinearPHDAE,
    inputs: str | Sequence[str],
    outputs: str | Sequence[str] | None = None,
    *,
    count: int | None = None,
) -> PortsReport:
    """Which of the `count` lowest modes (as in `modes`) ports can move and see; outputs are the inputs when not said."""
    linear_only(system)
    into, input_names = channels(system, inputs)
    out, output_names = channels(system, inputs if outputs is None else outputs)
    n = system.split
    if n >= 0 and not largest(system.J[:n, :n]) and not largest(system.R[n:]):
        found = modes(system, count)
        if system.lossless or not coupled(system, found.vectors):
            reached, seen = (
                _held(found.omega, _parts(found, c, n_)) for c, n_ in ((into, input_names), (out, output_names))
            )
            return PortsReport(found.omega, reached, seen, input_names, output_names)
    poles, left, right = _pencil(system, into, out)
    order = np.argsort(np.abs(poles), kind="stable")[:count]
    poles, left, right = poles[order], left[order], right[order]
    return PortsReport(np.abs(poles), _held(poles, left), _held(poles, right), input_names, output_names)


def _parts(found: Modes, columns: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Each mode's part in each channel, (modes, channels)."""
    parts = [
        effective_masses(found, [name]).factors
        if largest(found.system.B_lam[:, [column]])
        else participation(found, [name])
        for column, name in zip(columns, names, strict=True)
    ]
    return np.hstack(parts)


def _pencil(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poles with Im ≥ 0, and their parts in inputs and outputs."""
    if largest(system.B_lam[:, np.union1d(into, out)]):
        raise InputError("driven ports of a damped or spinning system have no report; ask at ports that take a force")
    if system.rows.size > MOST_ROWS:
        raise InputError(
            f"damping couples the modes, or something spins, and there are {system.rows.size} rows, more than {MOST_ROWS}; "
            "reduce the system first"
        )
    names = {system.ports.owner(int(c)) for c in np.union1d(into, out)}
    free = eliminate(system.with_ports(*(name for name in system.ports if name in names)))
    shift = {name: free.ports[name].start - system.ports[name].start for name in free.ports}
    moved = (np.array([c + shift[system.ports.owner(int(c))] for c in columns]) for columns in (into, out))
    size, (A, F, C, _) = state_space(free, *moved)
    poles, w, v = la.eig(A, left=True, right=True)
    upper = poles.imag >= -EQUAL * np.abs(poles)
    return size * poles[upper], (w[:, upper].conj().T @ F), (C @ v[:, upper]).T


def _held(values: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """How well each mode is held by channels: singular values of the parts of equal ones, each channel of size one."""
    parts = parts / np.maximum(np.abs(parts).max(axis=0, initial=0.0), 1e-300)
    size = np.abs(values).max(initial=0.0)
    out = np.zeros(len(values))
    free = np.ones(len(values), dtype=bool)
    for k in range(len(values)):
        if free[k]:
            equal = free & (np.abs(values - values[k]) <= EQUAL * np.abs(values[k]) + 1e-14 * size)
            members = np.flatnonzero(equal)
            found = la.svd(parts[members], compute_uv=False)
            out[members[: len(found)]] = found[: len(members)]
            free[members] = False
    return np.minimum(out, 1.0)


def _frequencies(omega: np.ndarray) -> str:
    rigid, rest = int((omega == 0).sum()), omega[omega > 0]
    parts = [f"{rigid} rigid mode{'s' if rigid > 1 else ''}"] if rigid else []
    if rest.size:
        shown = ", ".join(f"{w:.6g}" for w in rest[:6]) + (f" and {rest.size - 6} more" if rest.size > 6 else "")
        parts.append(f"{'modes' if rest.size > 1 else 'the mode'} at {shown} rad/s")
    return " and ".join(parts)
