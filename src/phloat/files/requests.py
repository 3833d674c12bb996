"""Requests of a model (run, modes, frequency response, sweep), and its outputs, which are named quantities of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from phloat import random as distributions
from phloat.algebra.metadata import describe
from phloat.errors import InputError, unknown
from phloat.files.inputs import VALUE
from phloat.format.derive import file_word, record, record_keys, variant
from phloat.format.kinds import ANY_NUMBER, NAME, TIME, Converted, Count, ListOf, Number, Text, vector_of
from phloat.format.records import Key, MapOf, OneOf, Record, Variant, Variants
from phloat.linear.time.gauss import GaussLegendre
from phloat.linear.time.march import LinearResult
from phloat.linear.time.step import LinearScheme
from phloat.linear.time.verlet import StormerVerlet
from phloat.many.samples import SAMPLINGS
from phloat.motion.result import Result
from phloat.motion.run.task import Scheme
from phloat.motion.schemes.generalised_alpha import GeneralisedAlpha
from phloat.motion.schemes.ida import IDA
from phloat.motion.schemes.midpoint import Composition4, Midpoint
from phloat.motion.schemes.radau import RadauIIA
from phloat.system.places import MOTIONS

LOCK = describe("joints whose free axes stand still")

# --- distributions ---------------------------------------------------------------------------------------------------

INFINITE = {"low": -np.inf, "high": np.inf}


def distribution(cls: Any) -> Variant:
    """The variant of a distribution by its numbers; with the keys low and high it is truncated."""
    word, keys = file_word(cls), [f.name for f in fields(cls)]

    def truncated(base: Any, low: float = -np.inf, high: float = np.inf) -> Any:
        return base if (low, high) == (-np.inf, np.inf) else distributions.truncated(base, low=low, high=high)

    def parts(value: Any) -> tuple[Any, Mapping[str, Any]] | None:
        is_truncated = isinstance(value, distributions.Truncated)
        base = value.of if is_truncated else value
        return (base, {"low": value.low, "high": value.high} if is_truncated else {}) if type(base) is cls else None

    arguments = tuple(Key(key, ANY_NUMBER, key) for key in keys)
    numbers = Record(f"a {word} distribution", arguments, getattr(distributions, word))
    ends = tuple(Key(key, ANY_NUMBER, f"{key} end", end) for key, end in INFINITE.items())
    return Variant(word, numbers, truncated, parts, ends, doc=f"{', '.join(keys)}; low and high beside it truncate it")


def choice_parts(value: Any) -> tuple[Any, Mapping[str, Any]] | None:
    """The values of a choice and its weights, None if they are equal; None for other distributions."""
    if not isinstance(value, distributions.Choices):
        return None
    return value.values, {"weights": None if len(set(value.weights)) == 1 else value.weights}


DISTRIBUTION = Variants(
    "a distribution",
    (
        *map(distribution, (distributions.Normal, distributions.Uniform)),
        *map(distribution, (distributions.Lognormal, distributions.Triangular)),
        Variant(
            "choice",
            ListOf(ANY_NUMBER, least=1),
            distributions.choice,
            choice_parts,
            (Key("weights", vector_of(size=0), "how likely each is", None),),
            doc="one of these values",
        ),
    ),
    alone=VALUE,
    is_alone=lambda v: isinstance(v, (int, float, tuple, list)),
)


# --- a run ------------------------------------------------------------------------------------------------------------

ATOL = Number(("length", "number"), least=0.0)


SCHEMES: dict[str, Any] = {
    "midpoint": Midpoint,
    "composition4": Composition4,
    "generalised-alpha": GeneralisedAlpha,
    "radau": RadauIIA,
    "ida": IDA,
    "gauss-legendre": GaussLegendre,
    "stormer-verlet": StormerVerlet,
}


def scheme(word: str) -> Variant:
    """The variant of a time integration scheme with options."""
    cls = SCHEMES[word]
    kinds: dict[str, Any] = {f.name: ATOL for f in fields(cls) if f.name == "atol"}
    return variant(cls, record(cls, word, omit=("newton",) if cls is Composition4 else (), **kinds), word)


ALONE = Converted(Text(tuple(SCHEMES)), lambda word: SCHEMES[word]())
SCHEME = OneOf((ALONE, Variants("a scheme", tuple(map(scheme, SCHEMES)))), lambda scheme: 1)


@dataclass(frozen=True, eq=False)
class Simulate:
    """A run from t_start to t_end; `keep` is the interval of output in steps, or the output times; its page opens with `plots`."""

    t_end: float = field(metadata=describe("when it ends", "time"))
    dt: float | None = field(default=None, metadata=describe("the step, or the first one", "time", above=0.0))
    t_start: float = field(default=0.0, metadata=describe("when it begins", "time"))
    scheme: Scheme | LinearScheme = field(default=Midpoint(), metadata=describe("the time integration"))
    keep: int | tuple[float, ...] = field(default=1, metadata=describe("every so many steps, or these times"))
    plots: tuple[str, ...] = field(
        default=(), metadata=describe("what its page opens with: motor.angle, energy, forces")
    )

    def __post_init__(self) -> None:
        if not self.t_end > self.t_start:
            raise InputError(f"t_end = {self.t_end:g} s is not after the start at t = {self.t_start:g} s")
        if self.dt is not None and self.dt > self.t_end - self.t_start:
            raise InputError(f"dt = {self.dt:g} s is longer than the run of {self.t_end - self.t_start:g} s")
        if self.dt is None and self.scheme == Midpoint():
            raise InputError("dt is missing: give the step, or let it adapt: scheme: {midpoint: {rtol: 1e-6}}")
        if self.dt is None and isinstance(self.scheme, Composition4 | GeneralisedAlpha | GaussLegendre | StormerVerlet):
            raise InputError("dt is missing: this scheme does not choose its step")


KEEP = OneOf((Count(1), ListOf(TIME, least=1)), lambda v: int(not isinstance(v, int)))
SIMULATE = record(Simulate, "a run", scheme=SCHEME, keep=KEEP)

# --- ranges -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """`count` values from `low` to `high`, with linear or logarithmic spacing."""

    low: float = field(metadata=describe("the first", key="from"))
    high: float = field(metadata=describe("the last", key="to"))
    count: int = field(default=51, metadata=describe("how many", least=2, most=1_000_000))
    spacing: str = field(default="linear", metadata=describe("evenly, or by equal ratios", choices=("linear", "log")))

    def __post_init__(self) -> None:
        if self.spacing == "log" and not (self.low > 0.0 and self.high > 0.0):
            raise InputError(f"from {self.low:g} to {self.high:g} by equal ratios; both must be positive")


Values = Range | tuple[float, ...]


def values_of(value_list: Values) -> np.ndarray:
    """The values of a range or list, as an array."""
    if not isinstance(value_list, Range):
        return np.array(value_list)
    spacing = np.geomspace if value_list.spacing == "log" else np.linspace
    return np.asarray(spacing(value_list.low, value_list.high, value_list.count))


def value_range(*quantities: str) -> OneOf:
    """The kind of a range {from, to, count, spacing} or list of values."""
    span = record(Range, "a range", low=Number(quantities), high=Number(quantities))
    return OneOf((vector_of(quantities, 0), span), lambda v: int(isinstance(v, Range)))


# --- linear analysis --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ModesRequest:
    """Modes at the initial state with joints locked, or with `along` {quantity: values} at each of these values."""

    count: int | None = field(default=None, metadata=describe("how many of the lowest, rigid ones included", least=1))
    lock: tuple[str, ...] = field(default=(), metadata=LOCK)
    along: Mapping[str, Values] | None = field(default=None, metadata=describe("{quantity of place: values}"))

    def __post_init__(self) -> None:
        if self.along is not None and len(self.along) != 1:
            raise InputError("along takes one quantity: {crank.theta: {from: 0 deg, to: 360 deg, count: 51}}")


MODES = record(ModesRequest, "modes", along=MapOf(value_range("angle", "length")))


@dataclass(frozen=True, eq=False)
class ResponseRequest:
    """The frequency response H(jω) from ports to ports, at the initial state."""

    inputs: tuple[str, ...] = field(metadata=describe("ports"))
    omega: Values = field(metadata=describe("rad/s, or with a unit: {from: 1 Hz, to: 200 Hz, spacing: log}"))
    outputs: tuple[str, ...] | None = field(default=None, metadata=describe("ports; the inputs by default"))
    lock: tuple[str, ...] = field(default=(), metadata=LOCK)


RESPONSE = record(
    ResponseRequest, "a response", inputs=ListOf(NAME, alone=True, least=1), omega=value_range("angular rate")
)

# --- many runs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SweepRequest:
    """Many runs as described by `simulate`, with different parameters; `outputs` are the outputs that are kept of each run."""

    parameters: Mapping[str, Any] = field(metadata=describe("by the names of phloat.parameters, or patterns"))
    samples: int | None = field(default=None, metadata=describe("of distributions", least=1, most=10_000_000))
    sampling: str | None = field(default=None, metadata=describe("how they are drawn", choices=SAMPLINGS))
    seed: int = field(default=0, metadata=describe("of the random numbers"))
    outputs: tuple[str, ...] = field(default=(), metadata=describe("which of the outputs; all by default"))


SWEEP = record(SweepRequest, "a sweep", parameters=MapOf(DISTRIBUTION, least=1, what="parameter"))


# --- outputs of a run ---------------------------------------------------------------------------------------------------

TAKES: dict[str, Callable[[np.ndarray], Any]] = {
    "max": lambda x: x.max(axis=0),
    "min": lambda x: x.min(axis=0),
    "mean": lambda x: x.mean(axis=0),
    "last": lambda x: x[-1],
    "largest": lambda x: np.abs(x).max(axis=0),
}
WHOLE = ("energy", "momentum", "angular momentum")


@dataclass(frozen=True)
class Output:
    """A quantity of a run over time, by name or at a point of a body; `component` selects one, `take` reduces it to a number."""

    kind: str
    of: str
    s: float | None = field(default=None, metadata=describe("fraction of the length of a beam", least=0.0, most=1.0))
    at: tuple[float, ...] | None = field(default=None, metadata=describe("a material point in body axes", "length"))
    component: str | None = field(default=None, metadata=describe("x, y, z, or the name of a stress"))
    take: str | None = field(default=None, metadata=describe("one number of the series", choices=TAKES))
    start: float | None = field(default=None, metadata=describe("take it from this time on", "time", key="from"))
    end: float | None = field(default=None, metadata=describe("take it up to this time", "time", key="to"))

    def __post_init__(self) -> None:
        if self.take is None and (self.start, self.end) != (None, None):
            raise InputError(f"from and to bound what one number is taken of; give take: {', '.join(TAKES)}")
        if self.s is not None and self.at is not None:
            raise InputError("s and at are two places; give one of them")

    def series(self, result: Result | LinearResult) -> np.ndarray:
        """The values over time, or in the window of the output, (times, …)."""
        if (self.start, self.end) != (None, None):
            start = float(result.t[0]) if self.start is None else self.start
            result = result.window(start, np.inf if self.end is None else self.end)
        quantity = self._quantity(result)
        if isinstance(quantity, Mapping):
            if self.component not in quantity:
                raise InputError(unknown(f"stress of {self.of!r}", self.component, quantity))
            return np.asarray(quantity[self.component])
        return self._component(np.asarray(quantity))

    def value(self, result: Result | LinearResult) -> np.ndarray:
        """The series, or the number taken from it."""
        series = self.series(result)
        return series if self.take is None else np.asarray(TAKES[self.take](series))

    def _quantity(self, result: Any) -> Any:
        """The quantity in a result, before a component is selected; stresses as a mapping."""
        if self.kind == "quantity":
            attribute = self.of.replace(" ", "_")
            return getattr(result, attribute) if self.of in WHOLE and hasattr(result, attribute) else result[self.of]
        if isinstance(result, LinearResult):
            return self._of_linear(result)
        if self.kind == "von mises":
            return result.von_mises(self.of)[0]
        point: dict[str, Any] = {"s": self.s} if self.at is None else {"at": self.at}
        return getattr(result, self.kind)(self.of, **point)

    def _of_linear(self, result: LinearResult) -> np.ndarray:
        """Small displacements (times, …, 3) of all drawn points of a body, or of the drawn point nearest to `at`."""
        if self.kind != "displacement" or self.s is not None:
            raise InputError(
                f"a linear run has no {self.kind} of {self.of!r}{' at s' * (self.s is not None)}, only displacement, at: [x, y, z]"
            )
        motion = result.displacement(self.of)
        if self.at is None:
            return motion
        points = result.system.fields[self.of].points
        return np.asarray(motion[:, np.linalg.norm(points - np.array(self.at), axis=1).argmin()])

    def _component(self, series: np.ndarray) -> np.ndarray:
        """The selected component x, y or z of a series. Raises InputError if it has none."""
        if self.component is None:
            return series
        index = "xyz".find(self.component)
        if series.ndim < 2 or not 0 <= index < series.shape[-1]:
            raise InputError(f"no component {self.component!r} of {self.of!r}; it has shape {series.shape[1:]}")
        return series[..., index]


KEYS = record_keys(Output, ("kind", "of"))
TAKE = tuple(k for k in KEYS if k.key in ("take", "from", "to"))
PARTS = (*(k for k in KEYS if k.key == "component"), *TAKE)


def output_variant(kind: str, label: str, keys: tuple[Key, ...], doc: str) -> Variant:
    """The variant of outputs of one kind."""

    def parts(value: Output) -> tuple[Any, Mapping[str, Any]] | None:
        return (value.of, vars(value)) if value.kind == kind else None

    return Variant(kind, Text(what=label), lambda of, **options: Output(kind, of, **options), parts, keys, doc=doc)


OUTPUT = Variants(
    "an output",
    (
        output_variant("quantity", "a name: motor.angle, rod.theta, energy", PARTS, "of a result, by its name"),
        output_variant("displacement", "a body", KEYS, "deformation in body axes"),
        *(output_variant(kind, "a body or port", KEYS, "in inertial axes") for kind in MOTIONS),
        output_variant("stress", "a body", KEYS, "resultants at s, or stress at a point"),
        output_variant("von mises", "a body", TAKE, "the largest of a body"),
    ),
    alone=Converted(
        Text(what="the name of a quantity"), lambda name: Output("quantity", name), lambda output: output.of
    ),
)


def output_values(outputs: Mapping[str, Output], result: Result | LinearResult) -> dict[str, np.ndarray]:
    """The values of outputs of a run by name."""
    return {name: output.value(result) for name, output in outputs.items()}
