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
from phloat.errors import AccuracyError, InputError, complex_row, mapping, positive, unknown, whole_number
from phloat.linear.analysis.modes import Modes, modes
from phloat.linear.form.phdae import LinearPHDAE, inputs_outputs
from phloat.linear.form.second_order import SecondOrder
from phloat.motion.initial.place import place
from phloat.system.parameters import (
    Names,
    fast_makers,
    parameter_table,
    parameter_value,
    with_parameter_values,
    with_parameters,
)
from phloat.system.state import State
from phloat.system.system import System

FEW = 6  # modes by default
EXTRA_MODES = 8  # additional modes that are computed, so that groups of repeated frequencies are complete
REPEATED = 1e-8  # relative difference up to which frequencies are repeated
STEP = 5e-4  # of the differences, relative to a parameter
SMOOTH = 0.1  # largest relative difference from a coarser difference quotient
CENTRAL = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}  # over 12 h
FORWARD = {0: -25.0, 1: 48.0, 2: -36.0, 3: 16.0, 4: -3.0}
COARSE = {-2: -3.0, 2: 3.0}  # second order over twice the step, in the same unit
COARSE_FORWARD = {0: -9.0, 2: 12.0, 4: -3.0}

Make = Callable[[dict[str, float]], LinearPHDAE]
StateOf = Callable[[System], State] | State | None


@dataclass(frozen=True, eq=False)
class FrequencyGradients:
    """ω (rad/s, ascending, without the rigid modes) and `gradient` dω/dp, (modes, names); `gradients["rod.length"]` is one column.

    `repeated` are groups of modes of equal frequency. In their rows a column has the slopes of the branches into which the
    parameter splits the frequency, ascending; the slopes for several parameters at once are not their sums.
    """

    omega: np.ndarray
    names: tuple[Names, ...]
    values: np.ndarray  # of the parameters
    gradient: np.ndarray
    rigid: int
    repeated: tuple[tuple[int, ...], ...]

    @property
    def relative(self) -> np.ndarray:
        """p/ω dω/dp, (modes, names): the change of a frequency in percent for one percent of the parameter."""
        return self.gradient * self.values / self.omega[:, None]

    def __getitem__(self, name: Names) -> np.ndarray:
        return self.gradient[:, _index(name, self.names)]

    def __repr__(self) -> str:
        return (
            f"FrequencyGradients({len(self.omega)} modes from {self.omega[0]:.6g} rad/s, {self.rigid} rigid ones left out, "
            f"by {'; '.join(map(joined_names, self.names))})"
        )


@dataclass(frozen=True, eq=False)
class TransferGradients:
    """`values` H(s), (s, outputs, inputs), and `gradient` dH/dp, (s, outputs, inputs, names).

    `gradients["rod.length"]` is the gradient by one parameter.
    """

    s: np.ndarray
    values: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    names: tuple[Names, ...]
    gradient: np.ndarray

    def __getitem__(self, name: Names) -> np.ndarray:
        return self.gradient[..., _index(name, self.names)]

    def __repr__(self) -> str:
        into, out = ", ".join(self.inputs), ", ".join(self.outputs)
        return f"TransferGradients({out} from {into} at {len(self.s)} s, by {'; '.join(map(joined_names, self.names))})"


def frequency_gradients(
    system: System | Make, names: Any, *, state: StateOf = None, count: int | None = None, step: float = STEP
) -> FrequencyGradients:
    """dω/dp of the `count` lowest elastic modes without damping (default: six, or all if there are fewer).

    `system` is a System, or a function {name: value} → LinearPHDAE. `names` is a name of `parameters(system)`, a list of names, or
    {name: value} for the system with these values; a pattern ("*.material.E") or a tuple in the list changes several parameters by
    the same amount. `state` is that of `linearise`, or a function system → state; by default that of `place`. `step` is that of
    the differences, relative to each parameter.

    Raises AccuracyError if a frequency does not depend smoothly on a parameter.
    """
    model = with_steps(system, names, state, step)
    lowest = _lowest(model.base, count)
    omega, fixed = lowest.elastic, FixedModes(model.base, lowest)
    stop = min(FEW, len(omega)) if count is None else count
    equal = np.split(np.arange(len(omega)), np.flatnonzero(np.diff(omega) > REPEATED * omega[1:]) + 1)
    groups = [group for group in equal if group[0] < stop]
    slopes = np.zeros((len(omega), len(model.names)))
    for k in range(len(model.names)):
        slope, difference = model.slope(k, fixed.evaluate)
        for group in groups:
            slopes[group, k] = fixed.branches(group, slope)
            size = omega[group[0]] * np.diag(fixed.weight(group)).real.max()
            _require_smooth(model, k, fixed.reduced_matrix(group, slope), fixed.reduced_matrix(group, difference), size)
    repeated = tuple(tuple(map(int, group)) for group in groups if len(group) > 1)
    return FrequencyGradients(omega[:stop], model.names, np.array(model.values), slopes[:stop], lowest.rigid, repeated)


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
    """dH/dp of the transfer function H(s) from inputs to outputs (default: the inputs) at s, a number or a row: 1j * omega.

    The other arguments are those of `frequency_gradients`. It takes two solutions at each s, for any number of parameters.
    """
    model, points = with_steps(system, names, state, step), complex_row("s", s)
    if not points.all():
        raise InputError("s is 0, where velocities are zero; use a small s: H(s)/s is the compliance")
    into, out, ends = inputs_outputs(model.base, inputs, outputs)
    responses, form = fixed_responses(model.base, into, out, points), SecondOrder.from_system(model.base)

    def read(system_k: LinearPHDAE) -> np.ndarray:
        form_k = SecondOrder.from_system(system_k)
        return np.array([response.evaluate(form_k) for response in responses])

    values, size = read(model.base), np.array([response.size(form) for response in responses])
    gradient = np.zeros((*values.shape, len(model.names)), dtype=complex)
    for k in range(len(model.names)):
        slope, difference = model.slope(k, read)
        _require_smooth(model, k, slope, difference, size)
        gradient[..., k] = slope
    return TransferGradients(points, values, *ends, model.names, gradient)


def _lowest(system: LinearPHDAE, count: int | None) -> Modes:
    """The rigid modes, the `count` lowest elastic ones and EXTRA_MODES more; raises InputError if a mode grows."""
    required = (FEW if count is None else whole_number("count", count, 1)) + EXTRA_MODES
    total = required + 6
    while len(lowest := modes(system, total)) == total and len(lowest.elastic) < required:
        total = lowest.rigid + required
    if lowest.unstable.size:
        raise InputError(f"a mode grows with {lowest.unstable.max():.3g} 1/s; gradients need a stable system")
    if (elastic := len(lowest.elastic)) < (count or 1):
        raise InputError(f"there are {elastic} elastic modes for count={count}; rigid ones have no gradient")
    return lowest


def _require_smooth(model: LinearFamily, k: int, slope: np.ndarray, gap: np.ndarray, size: np.ndarray | float) -> None:
    """Raises AccuracyError if the difference quotients with two steps disagree."""
    scale = model.size(k)
    defect = np.abs(gap) * scale / (np.abs(slope).max(initial=0.0) * scale + size + 1e-300)
    if (largest := float(defect.max(initial=0.0))) > SMOOTH:
        raise AccuracyError(
            f"{joined_names(model.names[k])!r} does not act smoothly: two differences disagree by {largest:.1e}; use a smaller "
            f"step than {model.step:g}, or bodies without reduction, whose modes may change order"
        )


def _index(name: Names, names: tuple[Names, ...]) -> int:
    """The index of a name; raises InputError if there is no gradient by it."""
    if name not in names:
        raise InputError(unknown("gradient by", name, map(joined_names, names)))
    return names.index(name)


@dataclass(frozen=True, eq=False)
class LinearFamily:
    """A linear system as a function of named parameters: `base` at their `values`."""

    names: tuple[Names, ...]
    values: tuple[float, ...]
    base: LinearPHDAE
    changed_system: Callable[[int, float], LinearPHDAE]  # the system with the k-th parameter increased by some amount
    step: float  # relative to a parameter

    def size(self, k: int) -> float:
        """The magnitude of the k-th parameter, or 1 if it is zero."""
        return abs(self.values[k]) or 1.0

    def slope(self, k: int, read: Callable[[LinearPHDAE], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The derivative of read(system) by the k-th parameter (finite differences), and its difference from a coarser formula."""
        h = self.step * self.size(k)
        try:
            values, fine, coarse = {i: read(self._with_change(k, i * h)) for i in CENTRAL}, CENTRAL, COARSE
        except InputError:
            if self.values[k] != 0.0:
                raise
            values, fine, coarse = {i: read(self._with_change(k, i * h)) for i in FORWARD}, FORWARD, COARSE_FORWARD
        slope, rough = (sum(w * values[i] for i, w in rule.items()) / (12.0 * h) for rule in (fine, coarse))
        return np.asarray(slope), np.asarray(rough - slope)

    def _with_change(self, k: int, change: float) -> LinearPHDAE:
        """The system with the k-th parameter changed; raises InputError if its number of unknowns changes."""
        changed = self.changed_system(k, change) if change else self.base
        sizes = [
            {"velocities": system.split, "joint rows": system.multipliers.size, "inputs": system.ports.size}
            for system in (self.base, changed)
        ]
        for kind, size in sizes[0].items():
            if sizes[1][kind] != size:
                raise InputError(
                    f"with {joined_names(self.names[k])} = {self.values[k] + change:g} there are {sizes[1][kind]} {kind} instead "
                    f"of {size}; a parameter that changes the unknowns has no gradient"
                )
        return changed


def with_steps(system: System | Make, names: object, state: StateOf, step: float) -> LinearFamily:
    """A system, or a function {name: value} → LinearPHDAE, as a `LinearFamily` with the named parameters."""
    step = positive("step", step)
    if step > 0.1:
        raise InputError(f"step is {step:g} of the size of a parameter; use 0.1 or less")
    if isinstance(system, System):
        return _from_system(system, names, state, step)
    if isinstance(system, LinearPHDAE) or not callable(system):
        raise InputError(
            f"{type(system).__name__} has no parameters; give a System, or f({{name: value}}) → LinearPHDAE"
        )
    if state is not None:
        raise InputError("a function that makes the linear system chooses its state; omit state=")
    return _from_function(system, names, step)


def _from_system(system: System, names: object, state: StateOf, step: float) -> LinearFamily:
    """A system, linearised at its state, as a function of parameters."""
    if isinstance(names, Mapping):
        system = with_parameters(system, names)
    table = parameter_table(system)
    requested = tuple(names) if isinstance(names, (Mapping, list, tuple)) else (names,)
    groups = [table.named(name) for name in _require_names(requested)]
    values_now = {name: place.value for name, place in table.places.items()}
    makers = fast_makers(system, table, [name for group in groups for name in group])

    def changed_system(k: int, change: float) -> LinearPHDAE:
        new = with_parameter_values(system, table, {name: values_now[name] + change for name in groups[k]}, makers)
        try:
            return linearise(new, state_of(new, state))
        except InputError as error:
            hint = "; give state= as a function of the system" if isinstance(state, State) else ""
            raise InputError(f"with {joined_names(requested[k])} changed by {change:g}: {error}{hint}") from error

    values = tuple(max((values_now[name] for name in group), key=abs) for group in groups)
    return LinearFamily(requested, values, linearise(system, state_of(system, state)), changed_system, step)


def _from_function(make: Make, names: object, step: float) -> LinearFamily:
    """A function {name: value} → LinearPHDAE as a `LinearFamily`."""
    start = mapping("parameters", names, "{name: value} beside a function that makes the linear system")
    values = {name: parameter_value(name, value) for name, value in start.items()}
    requested = _require_names(tuple(values))

    def changed_system(k: int, change: float) -> LinearPHDAE:
        linear = make(values | {requested[k]: values[requested[k]] + change})
        if not isinstance(linear, LinearPHDAE):
            raise InputError(f"the function returns {type(linear).__name__}; it must return a LinearPHDAE")
        return linear

    return LinearFamily(requested, tuple(values.values()), changed_system(0, 0.0), changed_system, step)


def state_of(system: System, state: StateOf) -> State:
    """The state to linearise about: `state` itself, its value if it is a function of the system, or by default that of `place`."""
    if state is None:
        return place(system)
    return state(system) if callable(state) else state


def joined_names(names: Any) -> str:
    """A name, or a tuple of names joined by commas."""
    return ", ".join(map(str, names)) if isinstance(names, tuple) else str(names)


def _require_names(names: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the names; raises InputError if there are none."""
    if not names:
        raise InputError("name at least one parameter; parameters(system) lists them")
    return names
