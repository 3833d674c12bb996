"""Gradients of eigenfrequencies and of transfer functions with respect to numbers of a system, by name.

Both are derivatives at fixed shapes. With the stresses taken out, K = L C⁻¹Lᵀ and D = −J (and R for transfer functions) among the
velocities, a lossless mode has (K − ω²M + iωD) φ = Gᵀμ, G φ = 0, and

    dω = φᴴ(dK − ω² dM + iω dD) φ − 2 Re μᴴ dG φ     over     φᴴ(2ωM − iD) φ,

whose φ does not move to first order. Where frequencies repeat, the matrix of this form on their modes is diagonalised. The
transfer function follows from its motion v and from the motion w of the adjoint: dH = −wᵀ d(sM + D + K/s) v + ….
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.analysis.forms import Blocks, Swinging, driven
from phloat.analysis.stepped import Make, StateOf, Stepped, said, stepped
from phloat.errors import AccuracyError, InputError, unknown
from phloat.linear.channels import channels
from phloat.linear.modes import Modes, modes
from phloat.linear.phdae import LinearPHDAE
from phloat.system.parameters import Names
from phloat.system.system import System

FEW = 6  # modes when not said
SPARE = 8  # modes beside those asked for, among which a repeated frequency is complete
REPEATED = 1e-8  # of a frequency: how close two of them count as one
STEP = 5e-4  # of the size of a number
SMOOTH = 0.1  # by how much a coarser difference may differ, of what a number of that size could change


@dataclass(frozen=True, eq=False)
class FrequencyGradients:
    """ω (rad/s, ascending, without the rigid modes) and dω/dp, modes × names; `gradients["rod.length"]` is one column.

    `repeated` are groups of modes of one frequency: there a column holds the slopes of the branches into which its number parts
    them, ascending; those of several numbers at once are no sums of them.
    """

    omega: np.ndarray
    names: tuple[Names, ...]
    values: np.ndarray  # of the numbers
    gradient: np.ndarray
    rigid: int
    repeated: tuple[tuple[int, ...], ...]

    @property
    def relative(self) -> np.ndarray:
        """p/ω dω/dp: by how many percent a frequency rises with one percent of the number."""
        return self.gradient * self.values / self.omega[:, None]

    def __getitem__(self, name: Names) -> np.ndarray:
        return self.gradient[:, _place(name, self.names)]

    def __repr__(self) -> str:
        return (
            f"FrequencyGradients({len(self.omega)} modes from {self.omega[0]:.6g} rad/s, {self.rigid} rigid ones left out, "
            f"by {'; '.join(map(said, self.names))})"
        )


@dataclass(frozen=True, eq=False)
class TransferGradients:
    """H(s), s × outputs × inputs, and dH/dp, with the names last; `gradients["rod.length"]` is dH by one number."""

    s: np.ndarray
    values: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    names: tuple[Names, ...]
    gradient: np.ndarray

    def __getitem__(self, name: Names) -> np.ndarray:
        return self.gradient[..., _place(name, self.names)]

    def __repr__(self) -> str:
        into, out = ", ".join(self.inputs), ", ".join(self.outputs)
        return f"TransferGradients({out} from {into} at {len(self.s)} s, by {'; '.join(map(said, self.names))})"


def frequency_gradients(
    system: System | Make,
    names: Any,
    *,
    state: StateOf = None,
    count: int | None = None,
    step: float = STEP,
) -> FrequencyGradients:
    """dω/dp of the `count` lowest elastic modes (six, or all there are) without damping, by the names of `parameters(system)`.

    `names` is a name, a list of them, or {name: value} for the system with these values; a pattern ("*.material.E") or a tuple in
    the list moves several numbers by the same amount. `state` is that of `linearise`, or a function system → state; joints are
    closed by `place` where it is not given. In place of a system, a function {name: value} → LinearPHDAE. `step` is that of the
    differences by which matrices are differentiated, relative to each number.
    """
    made = stepped(system, names, state, step)
    found = _lowest(made.base, count)
    stop = min(FEW, len(found.elastic)) if count is None else count
    omega, swinging = found.elastic, Swinging(made.base, found)
    groups = [group for group in _groups(omega) if group[0] < stop]
    gradient = np.zeros((len(omega), len(made.names)))
    for k in range(len(made.names)):
        slope, doubt = made.slope(k, swinging.read)
        for group in groups:
            gradient[group, k] = swinging.branches(group, slope)
            size = omega[group[0]] * np.diag(swinging.weight(group)).real.max()
            _smooth(made, k, swinging.on(group, slope), swinging.on(group, doubt), size)
    repeated = tuple(tuple(map(int, group)) for group in groups if len(group) > 1)
    return FrequencyGradients(omega[:stop], made.names, np.array(made.values), gradient[:stop], found.rigid, repeated)


def transfer_gradients(
    system: System | Make,
    names: Any,
    inputs: str | Sequence[str],
    outputs: str | Sequence[str] | None = None,
    *,
    s: Any,
    state: StateOf = None,
    step: float = STEP,
) -> TransferGradients:
    """dH/dp of the transfer function from ports to ports at s, one or several (1j * omega); all else as in `frequency_gradients`.

    Two solutions at each s, whatever the number of parameters.
    """
    made, points = stepped(system, names, state, step), _points(s)
    into, input_names = channels(made.base, inputs)
    out, output_names = channels(made.base, inputs if outputs is None else outputs)
    solved, at = driven(made.base, into, out, points), Blocks.of(made.base)
    values, size = np.array([one.read(at) for one in solved]), np.array([one.size(at) for one in solved])

    def read(other: LinearPHDAE) -> np.ndarray:
        there = Blocks.of(other)
        return np.array([one.read(there) for one in solved])

    gradient = np.zeros((*values.shape, len(made.names)), dtype=complex)
    for k in range(len(made.names)):
        slope, doubt = made.slope(k, read)
        _smooth(made, k, slope, doubt, size)
        gradient[..., k] = slope
    return TransferGradients(points, values, input_names, output_names, made.names, gradient)


# --- asked and answered -----------------------------------------------------------------------------------------------


def _lowest(system: LinearPHDAE, count: int | None) -> Modes:
    """The rigid modes, those asked for and some more."""
    if count is not None and (isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1):
        raise InputError(f"count is {count!r}; ask for at least one mode")
    wanted = (count or FEW) + SPARE
    asked = wanted + 6
    found = modes(system, asked)
    while len(found) == asked and len(found.elastic) < wanted:
        asked = found.rigid + wanted
        found = modes(system, asked)
    if found.unstable.size:
        raise InputError(
            f"the system is not stable: a mode grows with {found.unstable.max():.3g} 1/s; gradients are those of modes that swing"
        )
    there = len(found.elastic)
    if not there:
        raise InputError("nothing here vibrates: all modes are rigid, and a frequency of zero has no gradient")
    if count is not None and there < count:
        left_out = f"; the {found.rigid} rigid ones are left out, since a frequency of zero has no gradient"
        raise InputError(f"count is {count}, and there are {there} modes that vibrate{left_out if found.rigid else ''}")
    return found


def _groups(omega: np.ndarray) -> list[np.ndarray]:
    """Places of equal frequencies."""
    return np.split(np.arange(len(omega)), np.flatnonzero(np.diff(omega) > REPEATED * omega[1:]) + 1)


def _smooth(made: Stepped, k: int, slope: np.ndarray, doubt: np.ndarray, size: np.ndarray | float) -> None:
    """A sentence where differences over two steps disagree, of what a number of that size could change."""
    scale = made.size(k)
    miss = np.abs(doubt) * scale / (np.abs(slope).max(initial=0.0) * scale + size + 1e-300)
    if (worst := float(miss.max(initial=0.0))) > SMOOTH:
        raise AccuracyError(
            f"{said(made.names[k])!r} does not act smoothly: two differences disagree by {worst:.1e}; take a smaller step than "
            f"{made.step:g}, or bodies without reduction, whose modes may change places"
        )


def _points(s: Any) -> np.ndarray:
    """s as a row of complex numbers, or a sentence."""
    points = np.atleast_1d(np.asarray(s))
    if points.dtype.kind not in "biufc" or points.ndim > 1 or not points.size:
        raise InputError(f"s is {s!r}; it must be a number or a row of them, such as 1j * omega")
    if not np.isfinite(points).all():
        raise InputError(f"s holds NaN or infinity: {s!r}")
    if not points.all():
        raise InputError("s is 0, where forces push and nothing moves on; take a small s: H(s)/s is the compliance")
    return points.astype(complex)


def _place(name: Names, names: tuple[Names, ...]) -> int:
    if name not in names:
        raise InputError(unknown("gradient by", name, map(said, names)))
    return names.index(name)
