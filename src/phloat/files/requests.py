"""Requests of a model: a run, modes, a frequency response, a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from phloat import random as distributions
from phloat.algebra.metadata import describe
from phloat.errors import InputError
from phloat.files.inputs import VALUE
from phloat.format.derive import file_word, record, variant
from phloat.format.kinds import ANY_NUMBER, NAME, TIME, Converted, Count, ListOf, Number, vector
from phloat.format.records import Key, MapOf, OneOf, Record, Variant, Variants
from phloat.many.samples import SAMPLINGS
from phloat.motion.run.task import Scheme
from phloat.motion.schemes.generalised_alpha import GeneralisedAlpha
from phloat.motion.schemes.ida import IDA
from phloat.motion.schemes.midpoint import Composition4, Midpoint
from phloat.motion.schemes.radau import RadauIIA

LOCK = describe("joints whose free axes stand still")

# --- distributions ---------------------------------------------------------------------------------------------------

INFINITE = {"low": -np.inf, "high": np.inf}


def distribution(make: Any, cls: Any) -> Variant:
    """A distribution by its numbers, truncated where low and high stand beside it."""
    word, keys = file_word(cls), [f.name for f in fields(cls)]

    def truncated(whole: Any, low: float = -np.inf, high: float = np.inf) -> Any:
        return whole if (low, high) == (-np.inf, np.inf) else distributions.truncated(whole, low=low, high=high)

    def parts(value: Any) -> tuple[Any, Mapping[str, Any]] | None:
        cut = isinstance(value, distributions.Truncated)
        whole = value.of if cut else value
        return (whole, {"low": value.low, "high": value.high} if cut else {}) if type(whole) is cls else None

    numbers = Record(f"a {word} distribution", tuple(Key(key, ANY_NUMBER, key) for key in keys), make)
    ends = tuple(Key(key, ANY_NUMBER, f"{key} end", end) for key, end in INFINITE.items())
    return Variant(word, numbers, truncated, parts, ends, doc=f"{', '.join(keys)}; low and high beside it truncate it")


def choice_parts(value: Any) -> tuple[Any, Mapping[str, Any]] | None:
    if not isinstance(value, distributions.Choices):
        return None
    return value.values, {"weights": None if len(set(value.weights)) == 1 else value.weights}


DISTRIBUTION = Variants(
    "a distribution",
    (
        distribution(distributions.normal, distributions.Normal),
        distribution(distributions.uniform, distributions.Uniform),
        distribution(distributions.lognormal, distributions.Lognormal),
        distribution(distributions.triangular, distributions.Triangular),
        Variant(
            "choice",
            ListOf(ANY_NUMBER, least=1),
            distributions.choice,
            choice_parts,
            (Key("weights", vector(size=0), "how likely each is", None),),
            doc="one of these values",
        ),
    ),
    alone=VALUE,
    is_alone=lambda v: isinstance(v, (int, float, tuple, list)),
)


# --- a run ------------------------------------------------------------------------------------------------------------

ATOL = Number(("length", "number"), least=0.0)


def scheme(cls: type, word: str, *omit: str) -> Variant:
    """A scheme by its word alone, or with options behind it."""
    kinds: dict[str, Any] = {f.name: ATOL for f in fields(cls) if f.name == "atol"}
    return variant(cls, record(cls, word, omit=omit, **kinds), word, bare=True)


SCHEME = Variants(
    "a scheme",
    (
        scheme(Midpoint, "midpoint"),
        scheme(Composition4, "composition4", "newton"),
        scheme(GeneralisedAlpha, "generalised-alpha"),
        scheme(RadauIIA, "radau"),
        scheme(IDA, "ida"),
    ),
)


@dataclass(frozen=True, eq=False)
class Simulate:
    """A run from t_start to t_end; `keep` every so many steps, or these times."""

    t_end: float = field(metadata=describe("when it ends", "time"))
    dt: float | None = field(
        default=None, metadata=describe("the step, or the first of an adaptive scheme", "time", above=0.0)
    )
    t_start: float = field(default=0.0, metadata=describe("when it begins", "time"))
    scheme: Scheme = field(default=Midpoint(), metadata=describe("the time integration"))
    keep: int | tuple[float, ...] = field(default=1, metadata=describe("every so many steps, or these times"))

    def __post_init__(self) -> None:
        if not self.t_end > self.t_start:
            raise InputError(f"t_end = {self.t_end:g} s is not after the start at t = {self.t_start:g} s")
        if self.dt is not None and self.dt > self.t_end - self.t_start:
            raise InputError(f"dt = {self.dt:g} s is longer than the run of {self.t_end - self.t_start:g} s")
        if self.dt is None and self.scheme == Midpoint():
            raise InputError("dt is missing: give the step, or let it adapt: scheme: {midpoint: {rtol: 1e-6}}")
        if self.dt is None and isinstance(self.scheme, Composition4 | GeneralisedAlpha):
            raise InputError("dt is missing: this scheme does not choose its step")

    @property
    def output(self) -> int | np.ndarray:
        """`keep`, as `simulate` takes it."""
        return self.keep if isinstance(self.keep, int) else np.array(self.keep)


KEEP = OneOf((Count(1), ListOf(TIME, least=1)), lambda v: int(not isinstance(v, int)))
SIMULATE = record(Simulate, "a run", scheme=SCHEME, keep=KEEP)

# --- ranges -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """`count` values from `low` to `high`, evenly or by equal ratios."""

    low: float = field(metadata=describe("the first", key="from"))
    high: float = field(metadata=describe("the last", key="to"))
    count: int = field(default=51, metadata=describe("how many", least=2, most=1_000_000))
    spacing: str = field(default="linear", metadata=describe("evenly, or by equal ratios", choices=("linear", "log")))

    def __post_init__(self) -> None:
        if self.spacing == "log" and not (self.low > 0.0 and self.high > 0.0):
            raise InputError(f"from {self.low:g} to {self.high:g} by equal ratios; both must be positive")

    @property
    def values(self) -> np.ndarray:
        spaced = np.geomspace if self.spacing == "log" else np.linspace
        return np.asarray(spaced(self.low, self.high, self.count))


@dataclass(frozen=True)
class Listed:
    """Values one by one."""

    values: tuple[float, ...]


def value_range(*of: str) -> OneOf:
    """A range {from, to, count, spacing} or a list."""
    listed = Converted(vector(of, 0), Listed, lambda listed: listed.values)
    limit = Number(of)
    return OneOf((listed, record(Range, "a range", low=limit, high=limit)), lambda v: int(isinstance(v, Range)))


# --- linear analysis --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ModesRequest:
    """Modes at the start, with joints locked; with `along` {quantity: values} at each of these values."""

    count: int | None = field(default=None, metadata=describe("how many of the lowest, rigid ones included", least=1))
    lock: tuple[str, ...] = field(default=(), metadata=LOCK)
    along: Mapping[str, Range | Listed] | None = field(
        default=None, metadata=describe("a quantity of place, and the values that it takes")
    )

    def __post_init__(self) -> None:
        if self.along is not None and len(self.along) != 1:
            raise InputError("along takes one quantity: {crank.theta: {from: 0 deg, to: 360 deg, count: 51}}")


MODES = record(ModesRequest, "modes", along=MapOf(value_range("angle", "length")))


@dataclass(frozen=True, eq=False)
class ResponseRequest:
    """H(jω) from ports to ports, at the start."""

    inputs: tuple[str, ...] = field(metadata=describe("ports"))
    omega: Range | Listed = field(
        metadata=describe("rad/s, or with a unit: {from: 1 Hz, to: 200 Hz, count: 400, spacing: log}")
    )
    outputs: tuple[str, ...] | None = field(default=None, metadata=describe("ports; the inputs by default"))
    lock: tuple[str, ...] = field(default=(), metadata=LOCK)


RESPONSE = record(
    ResponseRequest, "a response", inputs=ListOf(NAME, alone=True, least=1), omega=value_range("angular rate")
)

# --- many runs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SweepRequest:
    """Many runs as `simulate` describes, with parameters that vary; `outputs` names what is kept of each."""

    parameters: Mapping[str, Any] = field(metadata=describe("by the names of phloat.parameters, or patterns"))
    samples: int | None = field(
        default=None, metadata=describe("how many runs; a grid of lists needs none", least=1, most=10_000_000)
    )
    sampling: str | None = field(
        default=None, metadata=describe("how values are drawn, or lists combined", choices=SAMPLINGS)
    )
    seed: int = field(default=0, metadata=describe("of the random numbers"))
    outputs: tuple[str, ...] = field(default=(), metadata=describe("which of the outputs; all by default"))


SWEEP = record(SweepRequest, "a sweep", parameters=MapOf(DISTRIBUTION, least=1, what="parameter"))
