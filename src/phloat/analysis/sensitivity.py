"""Gradients of natural frequencies and of transfer functions with respect to parameters of a system.

Both are derivatives at fixed shapes. With eliminated stresses, K = L C⁻¹Lᵀ and D = −J (and R for transfer functions) among the
velocities, a lossless mode has (K − ω²M + iωD) φ = Gᵀμ, G φ = 0, and

    dω = φᴴ(dK − ω² dM + iω dD) φ − 2 Re μᴴ dG φ     over     φᴴ(2ωM − iD) φ,

to first order without a change of φ. For repeated frequencies the matrix of this form on their modes is diagonalised. The
gradient of a transfer function follows from the response v and the adjoint w: dH = −wᵀ d(sM + D + K/s) v + ….

The matrices are differentiated by differences of fourth order,

    f' = (8 (f(p + h) − f(p − h)) − (f(p + 2h) − f(p − 2h))) / 12h,

which are exact, up to round-off, for polynomials of degree four in p, and have the error h⁴/30 f⁽⁵⁾ otherwise. A parameter that is
zero and may not be negative has forward differences of the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.analysis.fixed_shapes import FixedModes, fixed_responses
from phloat.analysis.linearise import linearise
from phloat.errors import AccuracyError, InputError, mapping, positive, unknown, whole_number
from phloat.linear.analysis.modes import Modes, modes
from phloat.linear.form.phdae import LinearPHDAE, complex_row, inputs_outputs
from phloat.linear.form.second_order import SecondOrder
from phloat.motion.initial.place import place
from phloat.system.parameters import (
    Names,
    fast_makers,
    number,
    parameter_table,
    with_parameter_values,
    with_parameters,
)
from phloat.system.state import State
from phloat.system.system import System

FEW = 6  # modes by default
SPARE = 8  # more modes than required, so that repeated frequencies are complete
REPEATED = 1e-8  # of a frequency: difference of repeated ones
STEP = 5e-4  # of the size of a parameter
SMOOTH = 0.1  # largest relative difference of a coarser difference quotient
CENTRAL = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}  # over 12 h
FORWARD = {0: -25.0, 1: 48.0, 2: -36.0, 3: 16.0, 4: -3.0}
COARSE = {-2: -3.0, 2: 3.0}  # second order over twice the step, in the same unit
COARSE_FORWARD = {0: -9.0, 2: 12.0, 4: -3.0}

Make = Callable[[dict[str, float]], LinearPHDAE]
StateOf = Callable[[System], State] | State | None


@dataclass(frozen=True, eq=False)
class FrequencyGradients:
    """ω (rad/s, ascending, without the rigid modes) and dω/dp, modes × names; `gradients["rod.length"]` is one column.

    `repeated` are groups of modes of one frequency: there a column has the slopes of the branches into which a parameter splits
    them, ascending; the slopes for several parameters at once are not their sums.
    """

    omega: np.ndarray
    names: tuple[Names, ...]
    values: np.ndarray  # of the parameters
    gradient: np.ndarray
    rigid: int
    repeated: tuple[tuple[int, ...], ...]

    @property
    def relative(self) -> np.ndarray:
        """p/ω dω/dp: the change of a frequency in percent for one percent of the parameter."""
        return self.gradient * self.values / self.omega[:, None]

    def __getitem__(self, name: Names) -> np.ndarray:
        return self.gradient[:, _place(name, self.names)]

    def __repr__(self) -> str:
        return (
            f"FrequencyGradients({len(self.omega)} modes from {self.omega[0]:.6g} rad/s, {self.rigid} rigid ones left out, "
            f"by {'; '.join(map(joined_names, self.names))})"
        )


@dataclass(frozen=True, eq=False)
class TransferGradients:
    """H(s), s × outputs × inputs, and dH/dp, with the names last; `gradients["rod.length"]` is that of one parameter."""

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
        return f"TransferGradients({out} from {into} at {len(self.s)} s, by {'; '.join(map(joined_names, self.names))})"


def frequency_gradients(
    system: System | Make, names: Any, *, state: StateOf = None, count: int | None = None, step: float = STEP
) -> FrequencyGradients:
    """dω/dp of the `count` lowest elastic modes (six, or all there are) without damping, by the names of `parameters(system)`.

    `names` is a name, a list of them, or {name: value} for the system with these values; a pattern ("*.material.E") or a tuple in
    the list changes several parameters by the same amount. `state` is that of `linearise`, or a function system → state; by
    default that of `place`. Instead of a system, a function {name: value} → LinearPHDAE. `step` is that of the differences,
    relative to each parameter.
    """
    made = with_steps(system, names, state, step)
    found = _lowest(made.base, count)
    omega, fixed = found.elastic, FixedModes(made.base, found)
    stop = min(FEW, len(omega)) if count is None else count
    equal = np.split(np.arange(len(omega)), np.flatnonzero(np.diff(omega) > REPEATED * omega[1:]) + 1)
    groups = [group for group in equal if group[0] < stop]
    gradient = np.zeros((len(omega), len(made.names)))
    for k in range(len(made.names)):
        slope, doubt = made.slope(k, fixed.read)
        for group in groups:
            gradient[group, k] = fixed.branches(group, slope)
            size = omega[group[0]] * np.diag(fixed.weight(group)).real.max()
            _require_smooth(made, k, fixed.on(group, slope), fixed.on(group, doubt), size)
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
    """dH/dp of the transfer function from ports to ports at s, one or several (1j * omega); otherwise as `frequency_gradients`.

    It needs two solutions at each s, for any number of parameters.
    """
    made, points = with_steps(system, names, state, step), complex_row("s", s)
    if not points.all():
        raise InputError("s is 0, where velocities are zero; use a small s: H(s)/s is the compliance")
    into, out, ends = inputs_outputs(made.base, inputs, outputs)
    solved, at = fixed_responses(made.base, into, out, points), SecondOrder.of(made.base)

    def read(other: LinearPHDAE) -> np.ndarray:
        there = SecondOrder.of(other)
        return np.array([one.read(there) for one in solved])

    values, size = read(made.base), np.array([one.size(at) for one in solved])
    gradient = np.zeros((*values.shape, len(made.names)), dtype=complex)
    for k in range(len(made.names)):
        slope, doubt = made.slope(k, read)
        _require_smooth(made, k, slope, doubt, size)
        gradient[..., k] = slope
    return TransferGradients(points, values, *ends, made.names, gradient)


def _lowest(system: LinearPHDAE, count: int | None) -> Modes:
    """The rigid modes, the required ones and some more."""
    wanted = (FEW if count is None else whole_number("count", count, 1)) + SPARE
    asked = wanted + 6
    while len(found := modes(system, asked)) == asked and len(found.elastic) < wanted:
        asked = found.rigid + wanted
    if found.unstable.size:
        raise InputError(f"a mode grows with {found.unstable.max():.3g} 1/s; gradients need a stable system")
    if (there := len(found.elastic)) < (count or 1):
        raise InputError(f"there are {there} elastic modes for count={count}; rigid ones have no gradient")
    return found


def _require_smooth(made: Stepped, k: int, slope: np.ndarray, doubt: np.ndarray, size: np.ndarray | float) -> None:
    """Raises AccuracyError if the differences over two steps disagree."""
    scale = made.size(k)
    miss = np.abs(doubt) * scale / (np.abs(slope).max(initial=0.0) * scale + size + 1e-300)
    if (worst := float(miss.max(initial=0.0))) > SMOOTH:
        raise AccuracyError(
            f"{joined_names(made.names[k])!r} does not act smoothly: two differences disagree by {worst:.1e}; use a smaller step "
            f"than {made.step:g}, or bodies without reduction, whose modes may change order"
        )


def _place(name: Names, names: tuple[Names, ...]) -> int:
    if name not in names:
        raise InputError(unknown("gradient by", name, map(joined_names, names)))
    return names.index(name)


@dataclass(frozen=True, eq=False)
class Stepped:
    """A linear system that depends on named parameters."""

    names: tuple[Names, ...]
    values: tuple[float, ...]
    base: LinearPHDAE
    moved: Callable[[int, float], LinearPHDAE]  # the system with the k-th parameter increased by some amount
    step: float  # relative to a parameter

    def size(self, k: int) -> float:
        """The magnitude of the k-th parameter, or 1 if it is zero."""
        return abs(self.values[k]) or 1.0

    def slope(self, k: int, read: Callable[[LinearPHDAE], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """d read / dp_k, and its difference from a coarser one."""
        h = self.step * self.size(k)
        try:
            found, fine, coarse = {i: read(self._at(k, i * h)) for i in CENTRAL}, CENTRAL, COARSE
        except InputError:
            if self.values[k] != 0.0:
                raise
            found, fine, coarse = {i: read(self._at(k, i * h)) for i in FORWARD}, FORWARD, COARSE_FORWARD
        slope, rough = (sum(w * found[i] for i, w in rule.items()) / (12.0 * h) for rule in (fine, coarse))
        return np.asarray(slope), np.asarray(rough - slope)

    def _at(self, k: int, by: float) -> LinearPHDAE:
        """The system with a changed parameter; raises InputError if it has not the same unknowns."""
        other = self.moved(k, by) if by else self.base
        sizes = [
            {"velocities": system.split, "joint rows": system.multipliers.size, "inputs": system.ports.size}
            for system in (self.base, other)
        ]
        for what, size in sizes[0].items():
            if sizes[1][what] != size:
                raise InputError(
                    f"with {joined_names(self.names[k])} = {self.values[k] + by:g} there are {sizes[1][what]} {what} instead of "
                    f"{size}; a parameter that changes the unknowns has no gradient"
                )
        return other


def with_steps(system: System | Make, names: object, state: StateOf, step: float) -> Stepped:
    """A system, or a function {name: value} → LinearPHDAE, as one that depends on the named parameters."""
    step = positive("step", step)
    if step > 0.1:
        raise InputError(f"step is {step:g} of the size of a parameter; use 0.1 or less")
    if isinstance(system, System):
        return _of_system(system, names, state, step)
    if isinstance(system, LinearPHDAE) or not callable(system):
        raise InputError(
            f"{type(system).__name__} has no parameters; give a System, or f({{name: value}}) → LinearPHDAE"
        )
    if state is not None:
        raise InputError("a function that makes the linear system chooses its state; omit state=")
    return _of_function(system, names, step)


def _of_system(system: System, names: object, state: StateOf, step: float) -> Stepped:
    if isinstance(names, Mapping):
        system = with_parameters(system, names)
    there = parameter_table(system)
    wanted = tuple(names) if isinstance(names, (Mapping, list, tuple)) else (names,)
    groups = [there.named(one) for one in _some(wanted)]
    now = {name: place.value for name, place in there.places.items()}
    makers = fast_makers(system, there, [name for group in groups for name in group])

    def moved(k: int, by: float) -> LinearPHDAE:
        new = with_parameter_values(system, there, {name: now[name] + by for name in groups[k]}, makers)
        try:
            return linearise(new, state_of(new, state))
        except InputError as error:
            hint = "; give state= as a function of the system" if isinstance(state, State) else ""
            raise InputError(f"with {joined_names(wanted[k])} changed by {by:g}: {error}{hint}") from error

    values = tuple(max((now[name] for name in group), key=abs) for group in groups)
    return Stepped(wanted, values, linearise(system, state_of(system, state)), moved, step)


def _of_function(make: Make, names: object, step: float) -> Stepped:
    given = mapping("parameters", names, "{name: value} beside a function that makes the linear system")
    values = {name: number(name, value) for name, value in given.items()}
    wanted = _some(tuple(values))

    def moved(k: int, by: float) -> LinearPHDAE:
        linear = make(values | {wanted[k]: values[wanted[k]] + by})
        if not isinstance(linear, LinearPHDAE):
            raise InputError(f"the function returns {type(linear).__name__}; it must return a LinearPHDAE")
        return linear

    return Stepped(wanted, tuple(values.values()), moved(0, 0.0), moved, step)


def state_of(system: System, state: StateOf) -> State:
    """The state to linearise about: as given, a function of the system, or that of `place`."""
    if state is None:
        return place(system)
    return state(system) if callable(state) else state


def joined_names(names: Any) -> str:
    """A name, or several in one string."""
    return ", ".join(map(str, names)) if isinstance(names, tuple) else str(names)


def _some(names: tuple[Any, ...]) -> tuple[Any, ...]:
    if not names:
        raise InputError("name at least one parameter; parameters(system) lists them")
    return names
