"""Results of some samples as arrays: what is kept in memory or written to disk, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phloat.many.question import Outcome


class Failed(NamedTuple):
    """A sample without outputs: its number, its parameters, and why."""

    sample: int
    parameters: dict[str, float]
    error: str


@dataclass(frozen=True, eq=False)
class Form:
    """What every output looks like: shapes and kinds by name, as the first sample that succeeded had them."""

    shapes: dict[str, tuple[int, ...]]
    complex: tuple[str, ...]
    single: bool
    t: np.ndarray | None

    def misfit(self, outputs: dict[str, np.ndarray]) -> str:
        """Why outputs cannot stand beside the others; empty where they can."""
        if outputs.keys() != self.shapes.keys():
            return f"the outputs are {', '.join(outputs) or 'none'}, those of other samples {', '.join(self.shapes)}"
        for name, value in outputs.items():
            if value.shape != self.shapes[name]:
                return (
                    f"{name!r} has shape {value.shape}, in other samples {self.shapes[name]}; "
                    "give outputs of one shape, or the same times: keep=[…]"
                )
            if value.dtype.kind == "c" and name not in self.complex:
                return f"{name!r} is complex, in other samples real"
        return ""

    def kind(self, name: str) -> type:
        return complex if name in self.complex else float


def form_of(outcome: Outcome) -> Form:
    assert outcome.outputs is not None
    shapes = {name: value.shape for name, value in outcome.outputs.items()}
    odd = tuple(name for name, value in outcome.outputs.items() if value.dtype.kind == "c")
    return Form(shapes, odd, outcome.single, outcome.t)


@dataclass(frozen=True, eq=False)
class Piece:
    """Samples that are done: `samples` with outputs, a row of every array for each, and `failed` with their sentences."""

    samples: np.ndarray
    outputs: dict[str, np.ndarray]
    failed: np.ndarray
    errors: tuple[str, ...]

    @property
    def done(self) -> np.ndarray:
        return np.concatenate([self.samples, self.failed])


def piece_of(outcomes: Sequence[Outcome], form: Form | None) -> Piece:
    """Outcomes side by side, by number; those that do not fit the form have failed."""
    good: list[Outcome] = []
    bad: list[tuple[int, str]] = []
    for outcome in sorted(outcomes, key=lambda x: x.sample):
        why = outcome.error
        if outcome.outputs is not None:
            assert form is not None
            why = form.misfit(outcome.outputs)
            if why:
                why = f"output: {why}"
        if why or outcome.outputs is None:
            bad.append((outcome.sample, why or "nothing was returned"))
        else:
            good.append(outcome)
    arrays: dict[str, np.ndarray] = {}
    for name, shape in (form.shapes if form is not None else {}).items():
        assert form is not None
        rows = [x.outputs[name] for x in good if x.outputs is not None]
        arrays[name] = np.array(rows, dtype=form.kind(name)).reshape(len(rows), *shape)
    samples = np.array([x.sample for x in good], dtype=np.int64)
    return Piece(samples, arrays, np.array([k for k, _ in bad], dtype=np.int64), tuple(why for _, why in bad))
