"""What a model asks for: a run, modes, a frequency response, a sweep. Frozen values, and how a file says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.files.inputs import ANY
from phloat.many import distributions as known
from phloat.many.samples import SAMPLINGS
from phloat.motion.run.task import Scheme
from phloat.motion.schemes.generalised_alpha import GeneralisedAlpha
from phloat.motion.schemes.ida import IDA
from phloat.motion.schemes.midpoint import Composition4, Midpoint
from phloat.motion.schemes.radau import RadauIIA
from phloat.system.words.choices import Case, Choice
from phloat.system.words.groups import Field, ListOf, MapOf, OneOf, Record
from phloat.system.words.kinds import NAME, Word
from phloat.system.words.matter import itself, of_type
from phloat.system.words.numbers import Count, Quantity, Vector, not_negative, positive, quantity

# --- distributions ---------------------------------------------------------------------------------------------------
#
# Distributions of parameters as a file says them.


def drawn(word: str, make: Any, kind: type, *keys: str) -> Case:
    """A distribution by its numbers."""
    fields = tuple(Field(key, ANY, key) for key in keys)
    return Case(word, Record(f"a {word} distribution", fields, make), itself, of_type(kind), doc=", ".join(keys))


PLAIN_DISTRIBUTIONS = (
    drawn("normal", known.normal, known.Normal, "mean", "std"),
    drawn("uniform", known.uniform, known.Uniform, "low", "high"),
    drawn("lognormal", known.lognormal, known.Lognormal, "mean", "std"),
    drawn("triangular", known.triangular, known.Triangular, "low", "mode", "high"),
)
ENDS = tuple(Field(key, ANY, f"{key} end", end) for key, end in (("low", -np.inf), ("high", np.inf)))


def cut(of: Case) -> Case:
    """A distribution between ends that stand beside it."""

    def make(distribution: Any, low: float = -np.inf, high: float = np.inf) -> Any:
        return distribution if (low, high) == (-np.inf, np.inf) else known.truncated(distribution, low=low, high=high)

    def parts(value: Any) -> tuple[Any, Mapping[str, Any]] | None:
        inner = value.of if isinstance(value, known.Truncated) else value
        found = of.parts(inner)
        return found and (
            found[0],
            {"low": value.low, "high": value.high} if isinstance(value, known.Truncated) else {},
        )

    return Case(of.word, of.lead, make, parts, ENDS, doc=f"{of.doc}; low and high beside it cut it off")


DISTRIBUTION = Choice(
    "a distribution",
    (
        *map(cut, PLAIN_DISTRIBUTIONS),
        Case(
            "choice",
            ListOf(ANY, least=1),
            known.choice,
            lambda v: (
                (v.values, {"weights": None if len(set(v.weights)) == 1 else v.weights})
                if isinstance(v, known.Choices)
                else None
            ),
            rest=(Field("weights", Vector(("number",), ()), "how likely each is", None),),
            doc="one of these values",
        ),
    ),
    alone=OneOf((ANY, Vector((), ())), lambda v: int(np.ndim(v) > 0)),
    is_alone=lambda v: isinstance(v, (int, float, tuple, list)),
)


# --- a run ------------------------------------------------------------------------------------------------------------

TOLERANCES = (
    Field("rtol", positive("number"), "relative tolerance", 1e-6),
    Field("atol", positive("length", "number"), "absolute tolerance, metres and radians", 1e-8),
)


def scheme(word: str, kind: type, *fields: Field, doc: str) -> Case:
    """A scheme by its word alone, or with options behind it."""
    return Case(
        word, Record(word, fields, kind), lambda s=None: kind() if s is None else s, of_type(kind), bare=True, doc=doc
    )


SCHEME = Choice(
    "a scheme",
    (
        scheme(
            "midpoint",
            Midpoint,
            Field(
                "rtol", positive("number"), "adaptive steps: error at the end over the size or the way of a body", None
            ),
            Field("atol", not_negative("length", "number"), "added to that, metres", 0.0),
            Field("newton", positive("number"), "where Newton's method may stop; round-off unless said", None),
            doc="second order; keeps energy and joints",
        ),
        scheme("composition4", Composition4, doc="fourth order without damping"),
        scheme(
            "generalised-alpha",
            GeneralisedAlpha,
            Field("rho", not_negative("number"), "spectral radius at infinity", 0.8),
            doc="second order; damps high frequencies",
        ),
        scheme("radau", RadauIIA, *TOLERANCES, doc="order 5, steps by tolerance"),
        scheme("ida", IDA, *TOLERANCES, doc="SUNDIALS' IDA, steps by tolerance"),
    ),
)


@dataclass(frozen=True, eq=False)
class Simulate:
    """A run from t_start to t_end; `keep` every so many steps, or these times."""

    t_end: float
    dt: float | None = None
    t_start: float = 0.0
    scheme: Scheme = Midpoint()
    keep: int | tuple[float, ...] = 1

    def __post_init__(self) -> None:
        if not self.t_end > self.t_start:
            raise InputError(f"t_end = {self.t_end:g} s is not after the start at t = {self.t_start:g} s")
        if self.dt is not None and self.dt > self.t_end - self.t_start:
            raise InputError(f"dt = {self.dt:g} s is longer than the run of {self.t_end - self.t_start:g} s")
        if self.dt is None and self.scheme == Midpoint():
            raise InputError("dt is missing: give the step, or let it adapt: scheme: {midpoint: {rtol: 1e-6}}")
        if self.dt is None and isinstance(self.scheme, Composition4 | GeneralisedAlpha):
            raise InputError("dt is missing: this scheme does not choose its step")


SIMULATE = Record(
    "a run",
    (
        Field("t_end", quantity("time"), "when it ends"),
        Field("dt", positive("time"), "the step, or the first of an adaptive scheme", None),
        Field("t_start", quantity("time"), "when it begins", 0.0),
        Field("scheme", SCHEME, "how steps are taken", Midpoint()),
        Field(
            "keep",
            OneOf((Count(1), ListOf(quantity("time"), least=1)), lambda v: int(not isinstance(v, int))),
            "every so many steps, or these times",
            1,
        ),
    ),
    Simulate,
)

# --- ranges -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """`count` values from `low` to `high`, evenly or by equal ratios."""

    low: float
    high: float
    count: int = 51
    spacing: str = "linear"

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


def ranged(*of: str) -> OneOf:
    """A range {from, to, count, spacing} or a list."""
    record = Record(
        "a range",
        (
            Field("from", Quantity(of), "the first", name="low"),
            Field("to", Quantity(of), "the last", name="high"),
            Field("count", Count(2, 1_000_000), "how many", 51),
            Field("spacing", Word(("linear", "log")), "evenly, or by equal ratios", "linear"),
        ),
        Range,
    )
    each = Record("values", (Field("values", Vector(of, ()), "one by one"),), Listed, short="values")
    return OneOf((_Bare(each), record), lambda v: int(isinstance(v, Range)))


@dataclass(frozen=True)
class _Bare:
    """A record that is only ever written short."""

    of: Record

    @property
    def said(self) -> str:
        return "a list of values"

    def takes(self, node: Any) -> bool:
        return node.items is not None

    def read(self, node: Any, known: Any) -> Any:
        return self.of.read(node, known)

    def write(self, value: Any, pen: Any) -> Any:
        return self.of.write(value, pen)

    def schema(self) -> dict[str, Any]:
        return self.of.fields[0].kind.schema()


# --- linear analysis --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AskedModes:
    """Modes at the start, with joints locked; `along` {quantity: values} asks for them at each place of it."""

    count: int | None = None
    lock: tuple[str, ...] = ()
    along: Mapping[str, Range | Listed] | None = None

    def __post_init__(self) -> None:
        if self.along is not None and len(self.along) != 1:
            raise InputError("along takes one quantity: {crank.theta: {from: 0 deg, to: 360 deg, count: 51}}")


LOCK = Field("lock", ListOf(NAME, alone=True), "joints whose free axes stand still", ())
MODES = Record(
    "modes",
    (
        Field("count", Count(1), "how many of the lowest, rigid ones included", None),
        LOCK,
        Field("along", MapOf(ranged("angle", "length")), "a quantity of place, and the values that it takes", None),
    ),
    AskedModes,
)


@dataclass(frozen=True, eq=False)
class AskedResponse:
    """H(jω) from ports to ports, at the start."""

    inputs: tuple[str, ...]
    omega: Range | Listed
    outputs: tuple[str, ...] | None = None
    lock: tuple[str, ...] = ()


RESPONSE = Record(
    "a response",
    (
        Field("inputs", ListOf(NAME, alone=True, least=1), "ports"),
        Field("outputs", ListOf(NAME, alone=True), "ports; the inputs unless said", None),
        Field(
            "omega", ranged("angular rate"), "rad/s, or with a unit: {from: 1 Hz, to: 200 Hz, count: 400, spacing: log}"
        ),
        LOCK,
    ),
    AskedResponse,
)

# --- many runs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sweep:
    """Many runs of what `simulate` says, with parameters that vary; `outputs` names what is kept of each."""

    parameters: Mapping[str, Any]
    samples: int | None = None
    sampling: str | None = None
    seed: int = 0
    outputs: tuple[str, ...] = ()


SWEEP = Record(
    "a sweep",
    (
        Field(
            "parameters",
            MapOf(DISTRIBUTION, least=1, what="parameter"),
            "by the names of phloat.parameters, or patterns",
        ),
        Field("samples", Count(1, 10_000_000), "how many runs; a grid of lists needs none", None),
        Field("sampling", Word(SAMPLINGS), "how values are drawn, or lists combined", None),
        Field("seed", Count(0), "of the random numbers", 0),
        Field("outputs", ListOf(NAME, alone=True), "which of the outputs; all unless said", ()),
    ),
    Sweep,
)
