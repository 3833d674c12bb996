"""Exceptions and warnings of phloat, and checks of arguments that raise them. A message names the fault and what to try."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from phloat.synonyms import suggestions

MAX_STEPS = 1e9


class InputError(ValueError):
    """An argument with an invalid value, shape or type."""


class PortError(InputError):
    """A name of a port, body, joint or quantity that does not exist."""


class JointError(InputError):
    """Joints that do not fit their bodies, or contradict each other."""


class ClosureError(InputError):
    """Joints that cannot be closed from the initial guess; the message has the remaining gap."""


class SaveError(InputError, OSError):
    """A file or folder that cannot be written: the disk is full, read-only or in use. Files that were complete stay as they are."""


class FileError(InputError):
    """An error in a file, with its position: `file`, `line` and `key`."""

    def __init__(self, message: str, file: str = "", line: int = 0, key: str = "") -> None:
        place = [file or "the model", *([f"line {line}"] if line else []), *([key] if key else [])]
        super().__init__(f"{', '.join(place)}: {message}")
        self.message, self.file, self.line, self.key = message, file, line, key

    def __reduce__(self) -> tuple[Any, ...]:
        return FileError, (self.message, self.file, self.line, self.key)


class StructureError(InputError):
    """Matrices that are not port-Hamiltonian; the message has the relative defect."""


class AccuracyError(RuntimeError):
    """A computation whose check of its own result failed: the error is larger than the tolerance."""


class LargeDeformationError(AccuracyError):
    """A deformation beyond any physical one: a deflection larger than the length of the body, or a strain larger than 1."""


class ConvergenceError(RuntimeError):
    """Newton's method did not converge, even with halved steps; `result` is the motion up to the failed step."""

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class UnstableLoopError(ConvergenceError):
    """A controller and a mechanism that form an unstable loop: efforts grow from sample to sample until a step fails."""


class UnstableLoopWarning(UserWarning):
    """A controller and a mechanism that form an unstable loop: efforts grow from sample to sample."""


class LargeDeformationWarning(UserWarning):
    """A body that bends so far within its frame that the small-deformation model has an error above 0.25 % of its length."""


class UnstableEquilibriumWarning(UserWarning):
    """An unstable equilibrium, such as an inverted pendulum or a column beyond its buckling load."""


class LateralTorsionWarning(UserWarning):
    """A beam whose moments couple bending with torsion (lateral–torsional buckling), which a beam in one frame neglects."""


class LargeStretchWarning(UserWarning):
    """A beam stretched so far along its axis that its frequencies, linear in the stretch, depend on the choice of its frame."""


class RedundancyWarning(UserWarning):
    """Redundant joints: the motion is right, but their multipliers are not unique."""


class LooseBodyWarning(UserWarning):
    """A body without a joint in a system whose other bodies have joints."""


class UnitsWarning(UserWarning):
    """Numbers that make no sense in SI units and would in others: sections in mm, densities in g/cm³, moduli in GPa, degrees."""


class UnfeltMotionWarning(UserWarning):
    """Motions of a body that have no effect in a linear system: they are left out."""


class PointPortWarning(UserWarning):
    """A load on a single point of a body on a mesh, whose compliance grows as the mesh is refined."""


class CoarsePatchWarning(UserWarning):
    """A patch port that is small compared with the cells of its mesh: its compliance is that of the cells."""


class ProjectedStartWarning(UserWarning):
    """An initial state that violates the joints: the nearest one that satisfies them is used."""


class AlternatingVelocityWarning(UserWarning):
    """A driven joint of a linear run by the midpoint rule, whose velocity alternates from step to step after a jump."""


class SampleTimeWarning(UserWarning):
    """A sample time of a controller that is too long for the fastest mode of its model."""


class CommandJumpWarning(UserWarning):
    """A command that starts away from the position of its joint."""


class SaturationWarning(UserWarning):
    """A servo at the limit of its effort for a part of a run."""


class CurveRangeWarning(UserWarning):
    """A spring or damper outside its table or the range of its function: it was extrapolated with the slope at the end."""


class LargeTurnWarning(UserWarning):
    """A bushing with a rotation larger than its rotational springs are valid for."""


class DamagedRunWarning(UserWarning):
    """A saved run of which a piece cannot be read: it is loaded up to the piece before."""


class FailedSamplesWarning(UserWarning):
    """Samples of an ensemble, or evaluations of `find_smallest`, that failed: the result has their parameters and errors."""


class SeveralCrossingsWarning(UserWarning):
    """A number that passes its limit more than once in the range of `find_smallest` or `find_largest`."""


class JumpsWarning(UserWarning):
    """A section or material with more jumps along a beam than elements can be divided at."""


class ThickBeamWarning(UserWarning):
    """An Euler-Bernoulli or Rayleigh beam so short that the neglected shear deformation is significant."""


class SectionInertiaWarning(UserWarning):
    """An Euler-Bernoulli beam in a spin so fast that the neglected rotary inertia of its sections is significant."""


class IgnoredWarning(UserWarning):
    """Parts of a file of another program that phloat does not support: they are ignored."""


@contextmanager
def computable(label: str) -> Iterator[None]:
    """Raises AccuracyError if the arithmetic inside fails because numbers are too large, too small or too unequal."""
    try:
        yield
    except (ArithmeticError, np.linalg.LinAlgError, ValueError, RuntimeError) as error:
        is_arithmetic = isinstance(error, ArithmeticError | np.linalg.LinAlgError)
        recognised = any(word in str(error) for word in ("singular", "infs or NaNs"))
        if not is_arithmetic and not (recognised and type(error) in (ValueError, RuntimeError)):
            raise
        sentence = f"the numbers of {label} cannot be computed with ({error}); look at their sizes and units"
        raise AccuracyError(sentence) from error


@contextmanager
def optional_package(name: str, extra: str) -> Iterator[None]:
    """Raises InputError that names the extra of phloat to install, if an import inside fails."""
    try:
        yield
    except ImportError:
        raise InputError(f"{name} is not installed; pip install phloat[{extra}]") from None


def unknown(kind: str, name: object, candidates: Iterable[str]) -> str:
    """The message for an unknown name, with the candidates nearest in meaning or letters and a list of all."""
    names = list(candidates)
    nearest = suggestions(name, names)
    hint = f" (did you mean {', '.join(map(repr, nearest))}?)" if nearest else ""
    examples = ", ".join(names[:24]) + (f", … {len(names) - 24} more" if len(names) > 24 else "")
    return f"no {kind} {name!r}{hint}; there are: {examples or 'none'}"


def number(label: str, value: float) -> float:
    """`value` as a float; raises InputError if it is not a finite number."""
    return float(finite(label, value, ()))


def positive(label: str, value: float) -> float:
    """`value` as a float; raises InputError if it is not a positive finite number."""
    if not (result := number(label, value)) > 0.0:
        raise InputError(f"{label} is {result:g}; it must be positive")
    return result


def not_negative(label: str, value: float) -> float:
    """`value` as a float; raises InputError if it is negative or not finite."""
    if (result := number(label, value)) < 0.0:
        raise InputError(f"{label} is {result:g}; it must not be negative")
    return result


def whole_number(label: str, value: object, lowest: int, hint: str = "") -> int:
    """`value` as an int; raises InputError if it is not a whole number, or less than `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < lowest:
        raise InputError(f"{label} is {value!r}; it must be a whole number, {lowest} or more{hint}")
    return int(value)


def finite(label: str, value: object, shape: tuple[int, ...]) -> np.ndarray:
    """`value` as a float array; raises InputError if it does not have this shape, or contains NaN or infinity."""
    array = as_array(value)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{label} is {value!r}; it must be {_numbers(shape)}")
    if array.shape != shape:
        raise InputError(f"{label} has shape {array.shape}; it must be {_numbers(shape)}")
    if not np.isfinite(array).all():
        raise InputError(f"{label} holds NaN or infinity: {value!r}")
    return array.astype(float)


def require_steps(start: float, end: float, dt: float) -> None:
    """Raises InputError if steps of dt from start to end are more than MAX_STEPS, or too short for the precision of the times."""
    count, latest = (end - start) / dt, max(abs(start), abs(end))
    if not count <= MAX_STEPS:
        raise InputError(
            f"dt = {dt:g} s makes {count:.1e} steps of this run, and {MAX_STEPS:.0e} are the most; give a longer step"
        )
    if dt < 1e-12 * latest:
        raise InputError(
            f"dt = {dt:g} s vanishes beside t = {latest:g} s: times have 16 digits; start at t_start=0, or give a longer step"
        )


def finite_row(label: str, value: object) -> np.ndarray:
    """`value`, a number or a row of numbers, as a float array of one dimension; raises InputError if it is neither."""
    array = np.atleast_1d(as_array(value))
    if array.dtype.kind not in "biuf":
        raise InputError(f"{label} is {value!r}; it must be a row of numbers")
    if array.ndim > 1:
        raise InputError(f"{label} has shape {array.shape}; it must be a row of numbers")
    return finite(label, array, array.shape)


def mapping(label: str, value: object, form: str) -> Mapping[Any, Any]:
    """Returns `value`; raises InputError if it is not a mapping."""
    if not isinstance(value, Mapping):
        raise InputError(f"{label} is {type(value).__name__}; it must be a mapping {form}")
    return value


def port_name(name: object) -> str:
    """Returns `name`; raises InputError if it cannot be part of "body.port"."""
    if not isinstance(name, str) or not name or "." in name:
        raise InputError(f"{name!r} cannot name a port: names are words, not empty, and hold no dot")
    return name


def as_array(value: object) -> np.ndarray:
    """`value` as an array; if its rows have different lengths, an array of None, which no check of numbers accepts."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.asarray(None)


def _numbers(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) + (" number" if shape == (1,) else " numbers") if shape else "a number"


def require_folder(path: str | Path) -> Path:
    """The path of a file to be written. Raises InputError if its folder does not exist."""
    file = Path(path)
    if not file.parent.is_dir():
        raise InputError(f"there is no folder {str(file.parent)!r} for {file.name!r}; create it first")
    return file


__all__ = [name for name, value in globals().items() if isinstance(value, type) and issubclass(value, Exception)]


def complex_row(label: str, value: object) -> np.ndarray:
    """The value as a complex array (points,); raises InputError if it is neither a number nor a row of finite numbers."""
    points = np.atleast_1d(as_array(value))
    if points.dtype.kind not in "biufc" or points.ndim > 1 or not points.size or not np.isfinite(points).all():
        raise InputError(f"{label} is {value!r}; it must be a number or a row of them, such as 1j * omega")
    return points.astype(complex)
