"""What phloat says when something is wrong: what was found, what is there, what to try."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

MOST_STEPS = 1e9


class InputError(ValueError):
    """A number, shape or choice that cannot be right."""


class PortError(InputError):
    """A name of a port, body, joint or quantity that is not there."""


class JointError(InputError):
    """Joints that do not fit their bodies, or contradict each other."""


class ClosureError(InputError):
    """Joints that cannot be closed from the given guess; the message holds the gap reached."""


class SaveError(InputError, OSError):
    """A file or folder that cannot be written: full, read-only or in use. What was whole before it is kept."""


class FileError(InputError):
    """An error in a file; `file`, `line` and `key` say where it is."""

    def __init__(self, message: str, file: str = "", line: int = 0, key: str = "") -> None:
        place = [file or "the model", *([f"line {line}"] if line else []), *([key] if key else [])]
        super().__init__(f"{', '.join(place)}: {message}")
        self.message, self.file, self.line, self.key = message, file, line, key

    def __reduce__(self) -> tuple[Any, ...]:
        return FileError, (self.message, self.file, self.line, self.key)


class StructureError(InputError):
    """Matrices that are not port-Hamiltonian; the message holds the relative defect."""


class AccuracyError(RuntimeError):
    """A computation that checked itself and missed its own tolerance."""


class LargeDeformationError(AccuracyError):
    """A deformation that no body of that size can have: it bends beyond its own length, or strains by more than 1."""


class ConvergenceError(RuntimeError):
    """A step that Newton's method could not make, even when halved; `result` holds the motion up to there."""

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class LargeDeformationWarning(UserWarning):
    """A body that bends so far within its frame that the small-deformation model errs by more than 0.25 % of its length."""


class UnstableEquilibriumWarning(UserWarning):
    """An equilibrium that any disturbance leaves: an inverted pendulum, a column beyond its buckling load."""


class LateralTorsionWarning(UserWarning):
    """A beam whose moments couple bending to torsion (lateral–torsional buckling), which a beam in one frame leaves out."""


class LargeStretchWarning(UserWarning):
    """A beam stretched so far along its axis that its frequencies, linear in the stretch, depend on the choice of its frame."""


class RedundancyWarning(UserWarning):
    """Joints that repeat each other: the motion is right, their multipliers are not unique."""


class LooseBodyWarning(UserWarning):
    """A body that no joint touches while others are jointed."""


class UnfeltMotionWarning(UserWarning):
    """Motions of a body that nothing in a linear system feels: they are left out."""


class PointPortWarning(UserWarning):
    """A point of a body on a mesh that carries a load with a compliance that grows as the mesh is refined."""


class CoarsePatchWarning(UserWarning):
    """A patch port that is small beside the cells of its mesh: its compliance is that of the cells."""


class ProjectedStartWarning(UserWarning):
    """A start that does not agree with the joints: the nearest one that does is taken."""


class SampleTimeWarning(UserWarning):
    """A controller that is asked too rarely for the fastest mode it knows of."""


class CurveRangeWarning(UserWarning):
    """A spring or damper that was asked beyond its table or the range of its function: its end slope was assumed there."""


class LargeTurnWarning(UserWarning):
    """A bushing that turned further than the rotations it is made of are meant for."""


class DamagedRunWarning(UserWarning):
    """A saved run with a piece that cannot be read: it is opened up to the piece before."""


class FailedSamplesWarning(UserWarning):
    """Samples of an ensemble that gave no output: they are kept with their parameters and the reason."""


class JumpsWarning(UserWarning):
    """A section or material with more jumps along a beam than its elements can be cut at."""


class ThickBeamWarning(UserWarning):
    """An Euler-Bernoulli or Rayleigh beam so short that the shear which it leaves out begins to matter."""


class SectionInertiaWarning(UserWarning):
    """An Euler-Bernoulli beam in a spin where the rotary inertia of its sections, which it leaves out, begins to matter."""


class IgnoredWarning(UserWarning):
    """Parts of a file of another program that phloat has no use for: they are left out."""


@contextmanager
def computable(what: str) -> Iterator[None]:
    """Raises AccuracyError where numbers of a file are so large, small or unequal that arithmetic ends."""
    try:
        yield
    except (ArithmeticError, np.linalg.LinAlgError, ValueError, RuntimeError) as error:
        ends = isinstance(error, ArithmeticError | np.linalg.LinAlgError)
        known = any(word in str(error) for word in ("singular", "infs or NaNs"))
        if not ends and not (known and type(error) in (ValueError, RuntimeError)):
            raise
        sentence = f"the numbers of {what} cannot be computed with ({error}); look at their sizes and units"
        raise AccuracyError(sentence) from error


@contextmanager
def optional_package(name: str, extra: str) -> Iterator[None]:
    """Raises InputError with the extra of phloat to install if an import inside fails."""
    try:
        yield
    except ImportError:
        raise InputError(f"{name} is not installed; pip install phloat[{extra}]") from None


def unknown(kind: str, name: object, there: Iterable[str]) -> str:
    """The message for a name that is not there, with the nearest ones that are."""
    names = list(there)
    near = difflib.get_close_matches(str(name), names, n=3)
    hint = f" (did you mean {', '.join(map(repr, near))}?)" if near else ""
    listed = ", ".join(names[:24]) + (f", … {len(names) - 24} more" if len(names) > 24 else "")
    return f"no {kind} {name!r}{hint}; there are: {listed or 'none'}"


def number(what: str, value: float) -> float:
    """`value` as a float; raises InputError if it is not a finite number."""
    return float(finite(what, value, ()))


def positive(what: str, value: float) -> float:
    """`value` as a float; raises InputError if it is not a positive finite number."""
    if not (given := number(what, value)) > 0.0:
        raise InputError(f"{what} is {given:g}; it must be positive")
    return given


def not_negative(what: str, value: float) -> float:
    """`value` as a float; raises InputError if it is negative or not finite."""
    if (given := number(what, value)) < 0.0:
        raise InputError(f"{what} is {given:g}; it must not be negative")
    return given


def whole_number(what: str, value: object, least: int, more: str = "") -> int:
    """`value` as an int; raises InputError if it is not a whole number, or less than `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{what} is {value!r}; it must be a whole number, {least} or more{more}")
    return int(value)


def finite(what: str, value: object, shape: tuple[int, ...]) -> np.ndarray:
    """`value` as a float array; raises InputError if it has not the given shape, or holds NaN or infinity."""
    array = as_array(value)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{what} is {value!r}; it must be {_numbers(shape)}")
    if array.shape != shape:
        raise InputError(f"{what} has shape {array.shape}; it must be {_numbers(shape)}")
    if not np.isfinite(array).all():
        raise InputError(f"{what} holds NaN or infinity: {value!r}")
    return array.astype(float)


def require_steps(start: float, end: float, dt: float) -> None:
    """Raises InputError if steps of dt from start to end are too many, or too short for the digits of the times."""
    count, late = (end - start) / dt, max(abs(start), abs(end))
    if not count <= MOST_STEPS:
        raise InputError(
            f"dt = {dt:g} s makes {count:.1e} steps of this run, and {MOST_STEPS:.0e} are the most; give a longer step"
        )
    if dt < 1e-12 * late:
        raise InputError(
            f"dt = {dt:g} s vanishes beside t = {late:g} s: times have 16 digits; start at t_start=0, or give a longer step"
        )


def finite_row(what: str, value: object) -> np.ndarray:
    """`value`, a number or a row of them, as a row of floats; raises InputError if it is not that."""
    array = np.atleast_1d(as_array(value))
    if array.dtype.kind not in "biuf":
        raise InputError(f"{what} is {value!r}; it must be a row of numbers")
    if array.ndim > 1:
        raise InputError(f"{what} has shape {array.shape}; it must be a row of numbers")
    return finite(what, array, array.shape)


def mapping(what: str, value: object, form: str) -> Mapping[Any, Any]:
    """`value`; raises InputError if it is no mapping."""
    if not isinstance(value, Mapping):
        raise InputError(f"{what} is {type(value).__name__}; it must be a mapping {form}")
    return value


def port_name(name: object) -> str:
    """`name`; raises InputError if a joint could not write it as "body.port"."""
    if not isinstance(name, str) or not name or "." in name:
        raise InputError(f"{name!r} cannot name a port: names are words, not empty, and hold no dot")
    return name


def as_array(value: object) -> np.ndarray:
    """`value` as an array; an array of None, which is no number, if its rows have different lengths."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.asarray(None)


def _numbers(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) + (" number" if shape == (1,) else " numbers") if shape else "a number"


__all__ = [name for name, thing in globals().items() if isinstance(thing, type) and issubclass(thing, Exception)]
