"""Many members of a family at once: batches of them in one program, on whatever device there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from phloat.errors import InputError, whole_number
from phloat.twin.model import Family
from phloat.twin.motion import Motion
from phloat.twin.run import Law, answered, found, motion_of, ready, state_times, whole

FAILED = 1e4  # a residual of so many round-offs is no solution


@dataclass(frozen=True, eq=False)
class Runs:
    """Outputs of all samples (the first axis), the residual left in each, and which of them failed."""

    values: np.ndarray
    outputs: Any
    residual: np.ndarray

    @property
    def failed(self) -> np.ndarray:
        """Numbers of the samples that Newton's method could not solve: what stands in their outputs is no motion."""
        return np.flatnonzero(~(self.residual < FAILED))


@dataclass(frozen=True, eq=False)
class Program:
    """A batch of members, compiled for a device: `run` takes their values, (batch, parameters)."""

    batch: int
    steps: int
    compiled: Any
    shared: Any
    device: Any

    def run(self, rows: np.ndarray) -> tuple[Any, np.ndarray]:
        """Outputs and residuals of these samples; fewer than a batch are filled up with the last."""
        filled = np.concatenate([rows, np.repeat(rows[-1:], self.batch - len(rows), axis=0)])
        made, residual = self.compiled(self.shared, jax.device_put(filled, self.device))
        return jax.tree.map(lambda a: np.asarray(a)[: len(rows)], made), np.asarray(residual)[: len(rows)]


def program(
    family: Family,
    output: Callable[[Motion], Any],
    batch: int,
    *,
    every: int | None = None,
    renew: int = 1,
    feedback: Law | None = None,
    gains: Mapping[str, float] | None = None,
    device: str | None = None,
) -> Program:
    """`output(motion)` of so many members at once, compiled.

    `every` is the number of steps from one state that output sees to the next; by default it sees start and end. `renew` steps
    share the tangents of bodies, which pays on accelerators where the steps are small.
    """
    ready()
    if not callable(output):
        raise InputError(f"output is {output!r}; it must be a function of the motion")
    whole_number("batch", batch, 1)
    there, middle = found(device), family.box.mean(axis=1)
    member = family.member(middle)
    steps = member.steps if every is None else whole(member, every)
    answered(feedback, gains, member.arrays, family.names)

    def one(shared: tuple[dict[str, Any], dict[str, Any]], row: Any) -> tuple[Any, Any]:
        arrays = replace(family, fixed=shared[0], varying=shared[1]).arrays(row)
        names = family.names
        states, residual = motion_of(
            arrays, dict(gains or {}), names=names, every=steps, renew=renew, feedback=feedback
        )
        return output(Motion(arrays, states, names, state_times(arrays, states, steps))), residual

    shared = jax.device_put((family.fixed, family.varying), there)
    rows = jax.device_put(np.repeat(middle[None], batch, axis=0), there)
    compiled = jax.jit(jax.vmap(one, in_axes=(None, 0))).lower(shared, rows).compile()
    fitting(compiled.memory_analysis(), there, batch)
    return Program(batch, member.steps, compiled, shared, there)


def ensemble(
    family: Family, values: Any, output: Callable[[Motion], Any], *, batch: int | None = None, **options: Any
) -> Runs:
    """`output(motion)` for every row of `values`, (samples, parameters), in batches of so many; options are those of `program`."""
    rows = np.atleast_2d(family.inside(values))
    made = program(family, output, len(rows) if batch is None else batch, **options)
    outputs, residuals = [], []
    for at in range(0, len(rows), made.batch):
        one, residual = made.run(rows[at : at + made.batch])
        outputs.append(one)
        residuals.append(residual)
    joined = jax.tree.map(lambda *parts: np.concatenate(parts), *outputs)
    return Runs(rows, joined, np.concatenate(residuals))


def fitting(needs: Any, device: Any, batch: int) -> None:
    """A sentence where a batch does not fit into the memory of a device, with one that would."""
    limit = (device.memory_stats() or {}).get("bytes_limit")
    if needs is None or not limit:
        return
    wanted = needs.temp_size_in_bytes + needs.argument_size_in_bytes + needs.output_size_in_bytes
    if wanted > limit:
        fits = max(1, int(0.9 * batch * limit / wanted))
        raise InputError(
            f"a batch of {batch} samples needs {wanted / 1e9:.3g} GB, and {device.device_kind} has {limit / 1e9:.3g}; "
            f"batch={fits} would fit"
        )
