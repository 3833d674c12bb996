"""Gradients of eigenfrequencies and of transfer functions with respect to numbers of a system, by name.

Both are derivatives at fixed shapes. With the stresses taken out, K = L C⁻¹Lᵀ and D = −J (and R for transfer functions) among the
velocities, a lossless mode has (K − ω²M + iωD) φ = Gᵀμ, G φ = 0, and

    dω = φᴴ(dK − ω² dM + iω dD) φ − 2 Re μᴴ dG φ     over     φᴴ(2ωM − iD) φ,

whose φ does not move to first order. Where frequencies repeat, the matrix of this form on their modes is diagonalised. The
transfer function follows from its motion v and from the motion w of the adjoint: dH = −wᵀ d(sM + D + K/s) v + ….
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.analysis.fixed_shapes import FixedModes, fixed_responses
from phloat.analysis.linearise import linearise
from phloat.bodies.body import Body
from phloat.bodies.variation import Maker, fast_maker
from phloat.errors import AccuracyError, InputError, mapping, positive, unknown
from phloat.linear.analysis.modes import Modes, modes
from phloat.linear.form.phdae import LinearPHDAE, channels
from phloat.linear.form.second_order import SecondOrder
from phloat.motion.initial.place import place
from phloat.system.parameters import Names, Table, changed, number, table, with_given
from phloat.system.remade import remade_body
from phloat.system.state import State
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
    system: System | Make, names: Any, *, state: StateOf = None, count: int | None = None, step: float = STEP
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
    omega, fixed = found.elastic, FixedModes(made.base, found)
    groups = [group for group in _groups(omega) if group[0] < stop]
    gradient = np.zeros((len(omega), len(made.names)))
    for k in range(len(made.names)):
        slope, doubt = made.slope(k, fixed.read)
        for group in groups:
            gradient[group, k] = fixed.branches(group, slope)
            size = omega[group[0]] * np.diag(fixed.weight(group)).real.max()
            _smooth(made, k, fixed.on(group, slope), fixed.on(group, doubt), size)
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
    solved, at = fixed_responses(made.base, into, out, points), SecondOrder.of(made.base)
    values, size = np.array([one.read(at) for one in solved]), np.array([one.size(at) for one in solved])

    def read(other: LinearPHDAE) -> np.ndarray:
        there = SecondOrder.of(other)
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


# --- derivatives by steps --------------------------------------------------------------------------------------------
#
# Linear systems at stepped numbers, and derivatives of what is read off them.
#
# Differences of fourth order over four systems,
#
#     f' = (8 (f(p + h) − f(p − h)) − (f(p + 2h) − f(p − 2h))) / 12h,
#
# are exact, up to round-off, where f is a polynomial of degree four or less in p, and off by h⁴/30 f⁽⁵⁾ elsewhere. A number that
# is zero and may not be less is stepped forward only, to the same order.


Make = Callable[[dict[str, float]], LinearPHDAE]
StateOf = Callable[[System], State] | State | None
CENTRAL = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}  # over 12 h
FORWARD = {0: -25.0, 1: 48.0, 2: -36.0, 3: 16.0, 4: -3.0}
COARSE = {-2: -3.0, 2: 3.0}  # second order over twice the step, in the same unit
COARSE_FORWARD = {0: -9.0, 2: 12.0, 4: -3.0}


@dataclass(frozen=True, eq=False)
class Stepped:
    """A linear system that depends on numbers by name."""

    names: tuple[Names, ...]
    values: tuple[float, ...]
    base: LinearPHDAE
    moved: Callable[[int, float], LinearPHDAE]  # the system with the k-th number larger by some amount
    step: float  # of the size of a number

    def size(self, k: int) -> float:
        """The size of the k-th number: its own, or 1 where it is zero."""
        return abs(self.values[k]) or 1.0

    def slope(self, k: int, read: Callable[[LinearPHDAE], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """d read / dp_k, and by how much a coarser difference has it otherwise."""
        h = self.step * self.size(k)
        try:
            found, fine, coarse = self._read(k, h, read, CENTRAL), CENTRAL, COARSE
        except InputError:
            if self.values[k] != 0.0:
                raise
            found, fine, coarse = self._read(k, h, read, FORWARD), FORWARD, COARSE_FORWARD
        slope, rough = (sum(w * found[i] for i, w in rule.items()) / (12.0 * h) for rule in (fine, coarse))
        return np.asarray(slope), np.asarray(rough - slope)

    def _read(
        self, k: int, h: float, read: Callable[[LinearPHDAE], np.ndarray], rule: Iterable[int]
    ) -> dict[int, np.ndarray]:
        return {i: read(self._alike(k, self.moved(k, i * h) if i else self.base, i * h)) for i in rule}

    def _alike(self, k: int, other: LinearPHDAE, by: float) -> LinearPHDAE:
        """The other system, or a sentence where it is not of the same unknowns."""
        for what, those, these in (
            ("velocities", other.split, self.base.split),
            ("joint rows", other.multipliers.size, self.base.multipliers.size),
            ("inputs", other.ports.size, self.base.ports.size),
        ):
            if those != these:
                raise InputError(
                    f"with {said(self.names[k])} = {self.values[k] + by:g} there are {those} {what} in place of {these}; only "
                    "numbers that leave the unknowns as they are have a gradient"
                )
        return other


def stepped(system: System | Make, names: object, state: StateOf, step: float) -> Stepped:
    """A system, or a function {name: value} → LinearPHDAE, as one that depends on the named numbers."""
    step = positive("step", step)
    if step > 0.1:
        raise InputError(f"step is {step:g} of the size of a number; take 0.1 or less")
    if isinstance(system, System):
        return _of_system(system, names, state, step)
    if isinstance(system, LinearPHDAE) or not callable(system):
        raise InputError(
            f"{type(system).__name__} has no parameters; give the System it comes from, or a function {{name: value}} → "
            "LinearPHDAE"
        )
    if state is not None:
        raise InputError("a function that makes the linear system chooses its state; leave state= out")
    return _of_function(system, names, step)


def _of_system(system: System, names: object, state: StateOf, step: float) -> Stepped:
    if isinstance(names, Mapping):
        system = changed(system, names)
    there = table(system)
    wanted = tuple(names) if isinstance(names, (Mapping, list, tuple)) else (names,)
    groups = [there.named(one) for one in _some(wanted)]
    now = {name: place.value for name, place in there.places.items()}
    makers = _makers(system, there, [name for group in groups for name in group])

    def made(old: Body, recipe: Any, known: dict[tuple[Any, ...], Any]) -> Body:
        maker, key = makers.get(old), (id(old), id(recipe))
        if maker is not None and key not in known and (body := maker(recipe)) is not None:
            known[key] = body
        return remade_body(old, recipe, known)

    def moved(k: int, by: float) -> LinearPHDAE:
        new = with_given(system, there, {name: now[name] + by for name in groups[k]}, made)
        try:
            return linearise(new, standing(new, state))
        except InputError as error:
            hint = "; give state= as a function of the system" if isinstance(state, State) else ""
            raise InputError(f"with {said(wanted[k])} changed by {by:g}: {error}{hint}") from error

    values = tuple(max((now[name] for name in group), key=abs) for group in groups)
    return Stepped(wanted, values, linearise(system, standing(system, state)), moved, step)


def _makers(system: System, there: Table, names: Iterable[str]) -> dict[Body, Maker | None]:
    """What makes the bodies that change without assembling them again, where that can be."""
    changing: dict[Body, set[str]] = {}
    for name in names:
        owner = there.places[name].owner
        for member in owner.members if owner.kind == "body" else ():
            changing.setdefault(system.bodies[member], set()).add(name.removeprefix(f"{owner.name}."))
    return {body: fast_maker(body, some) for body, some in changing.items()}


def _of_function(make: Make, names: object, step: float) -> Stepped:
    given = mapping("parameters", names, "{name: value} beside a function that makes the linear system")
    values = {name: number(name, value) for name, value in given.items()}
    wanted = _some(tuple(values))

    def made(p: dict[str, float]) -> LinearPHDAE:
        linear = make(p)
        if not isinstance(linear, LinearPHDAE):
            raise InputError(
                f"the function gives {type(linear).__name__}, not a LinearPHDAE; use linearise(…) or body.linear() in it"
            )
        return linear

    def moved(k: int, by: float) -> LinearPHDAE:
        return made(values | {wanted[k]: values[wanted[k]] + by})

    return Stepped(wanted, tuple(values.values()), made(dict(values)), moved, step)


def standing(system: System, state: StateOf) -> State:
    """The state to linearise about: as given, as made for the system, or with its joints closed."""
    if state is None:
        return place(system)
    return state(system) if callable(state) else state


def said(names: Any) -> str:
    """A name, or several as one."""
    return ", ".join(map(str, names)) if isinstance(names, tuple) else str(names)


def _some(names: tuple[Any, ...]) -> tuple[Any, ...]:
    if not names:
        raise InputError("name at least one parameter; parameters(system) lists them")
    return names
