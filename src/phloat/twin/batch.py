"""Batches of runs, members of a family, in one program for a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from phloat.errors import InputError, whole_number
from phloat.twin.compiled import COMPILERS, compiler
from phloat.twin.model import Family
from phloat.twin.motion import Motion
from phloat.twin.nodes import OperationError
from phloat.twin.run import (
    FAILED,
    Law,
    check_every,
    check_feedback,
    feedback_inputs,
    find_device,
    motion_of,
    require_64_bits,
    state_times,
)
from phloat.twin.steps import Steps, compiled_step, march


@dataclass(frozen=True, eq=False)
class Runs:
    """Outputs of all samples (the first axis), the residual left in each, and which of them failed."""

    values: np.ndarray
    outputs: Any
    residual: np.ndarray

    @property
    def failed(self) -> np.ndarray:
        """Indices of the samples for which Newton's method failed; their outputs are not valid."""
        return np.flatnonzero(~(self.residual < FAILED))


@dataclass(frozen=True, eq=False)
class Program:
    """A batch of members, compiled for a device: `run` takes their values, (batch, parameters)."""

    batch: int
    steps: int
    compiled: Any
    shared: Any
    device: Any
    general: Callable[[], Program] | None = None  # makes the program for samples with which this one does not converge
    _made: list[Program] = field(default_factory=list)

    def start(self, rows: np.ndarray) -> tuple[Any, Any]:
        """Begins to run these samples, and returns before they are done; fewer than a batch are filled up with the last."""
        filled = np.concatenate([rows, np.repeat(rows[-1:], self.batch - len(rows), axis=0)])
        return self.compiled(self.shared, jax.device_put(filled, self.device))

    def finish(self, rows: np.ndarray, begun: tuple[Any, Any]) -> tuple[Any, np.ndarray]:
        """Outputs and residuals of samples that were started."""
        outputs = jax.tree.map(lambda a: np.array(a)[: len(rows)], begun[0])
        residual = np.array(begun[1])[: len(rows)]
        again = np.flatnonzero(~(residual < FAILED))
        if self.general is None or not len(again):
            return outputs, residual
        if not self._made:
            self._made.append(self.general())
        for some in np.array_split(again, -(-len(again) // self._made[0].batch)):
            better, residual[some] = self._made[0].run(rows[some])
            jax.tree.map(lambda a, b, some=some: a.__setitem__(some, b), outputs, better)
        return outputs, residual

    def run(self, rows: np.ndarray) -> tuple[Any, np.ndarray]:
        """Outputs and residuals of these samples."""
        return self.finish(rows, self.start(rows))


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
    devices: int = 1,
    compiled: bool | None = None,
) -> Program:
    """A compiled program for `output(motion)` of `batch` members of a family.

    Parameters
    ----------
    family
        From `twin.family` or `twin.load_family`.
    output
        A function of a `Motion` that returns an array, or a tree of arrays.
    batch
        Number of samples of one call.
    every
        Number of steps from one state that output sees to the next; by default it sees start and end.
    renew
        Number of steps that share the tangents of bodies.
    feedback, gains
        Inputs of every step from the motion at its start, and their numbers.
    device, devices
        "gpu" or "cpu", by default that of JAX; the batch is shared among so many devices of the kind.
    compiled
        Whether steps are written in C and compiled, by nvcc for a GPU and by cc for a processor: by default on a GPU where nvcc is
        found. Joints may have up to 12 multipliers in all.
    """
    require_64_bits()
    if not callable(output):
        raise InputError(f"output is {output!r}; it must be a function of the motion")
    whole_number("batch", batch, 1)
    targets, middle = find_devices(device, whole_number("devices", devices, 1)), family.box.mean(axis=1)
    member = family.member(middle)
    steps = member.steps if every is None else check_every(member, every)
    check_feedback(feedback, gains, member.arrays, family.names)
    names, platform = family.names, targets[0].platform
    if batch % devices:
        raise InputError(f"a batch of {batch} samples cannot be shared evenly by {devices} devices")

    def as_member(shared: Any) -> Family:
        return replace(family, fixed=shared[0], varying=shared[1])

    def outputs_of(arrays: Any, states: Any) -> Any:
        return output(Motion(arrays, states, names, state_times(arrays, states, steps)))

    def run_member(shared: Any, row: Any) -> tuple[Any, Any]:
        arrays = as_member(shared).arrays(row)
        states, residual = motion_of(
            arrays, dict(gains or {}), names=names, every=steps, renew=renew, feedback=feedback
        )
        return outputs_of(arrays, states), residual

    run_batch: Callable[..., tuple[Any, Any]] = jax.vmap(run_member, in_axes=(None, 0))
    law = None if feedback is None else feedback_inputs(feedback, dict(gains or {}), member.arrays, names)
    whole_step = traced_steps(family, law, compiled, platform)
    written = whole_step is not None
    if whole_step is not None:
        step = compiled_step(whole_step, platform)

        def run_batch(shared: Any, rows: Any) -> tuple[Any, Any]:
            members = as_member(shared)
            states, residual = march(members, whole_step, step, rows, every=steps, renew=renew)
            return jax.vmap(outputs_of)(jax.vmap(members.arrays)(rows), states), residual

    if devices > 1:
        mesh, split = Mesh(np.array(targets), ("samples",)), PartitionSpec("samples")
        run_batch = jax.shard_map(
            run_batch, mesh=mesh, in_specs=(PartitionSpec(), split), out_specs=split, check_vma=False
        )
        target = jax.sharding.NamedSharding(mesh, split)
        shared = jax.device_put((family.fixed, family.varying), jax.sharding.NamedSharding(mesh, PartitionSpec()))
    else:
        target = targets[0]
        shared = jax.device_put((family.fixed, family.varying), target)
    rows = jax.device_put(np.repeat(middle[None], batch, axis=0), target)
    # tuning takes longer than it saves here
    tuning: dict[str, str | bool] | None = {"xla_gpu_autotune_level": "0"} if written and platform == "gpu" else None
    lowered = jax.jit(run_batch).lower(shared, rows).compile(tuning)
    require_device_memory(lowered.memory_analysis(), targets[0], batch)
    options: dict[str, Any] = {
        "every": every,
        "feedback": feedback,
        "gains": gains,
        "device": device,
        "compiled": False,
    }
    general = partial(program, family, output, min(batch, RETRIED), **options) if written else None
    return Program(batch, member.steps, lowered, shared, target, general)


RETRIED = 64  # samples of a batch with which steps that share tangents do not converge, run again at once


def find_devices(device: str | None, count: int) -> list[Any]:
    """So many devices of a kind; raises InputError if there are fewer."""
    found = jax.devices(find_device(device).platform)
    if count > len(found):
        raise InputError(f"devices={count}, and there are {len(found)} of the kind {found[0].platform!r}")
    return found[:count]


def traced_steps(family: Family, law: Any, compiled: bool | None, platform: str) -> Steps | None:
    """Steps to be written in C, or None; raises InputError if they have to be, and cannot."""
    if compiled is False or (compiled is None and (platform == "cpu" or compiler(platform) is None)):
        return None
    if compiler(platform) is None:
        command = COMPILERS[platform][0] if platform in COMPILERS else "one for this platform"
        raise InputError(f"compiled=True needs a compiler, {command}, on the PATH; compiled=False does without")
    try:
        return Steps(family, law)
    except OperationError:
        if compiled:
            raise
        return None


def ensemble(
    family: Family, values: Any, output: Callable[[Motion], Any], *, batch: int | None = None, **options: Any
) -> Runs:
    """`output(motion)` for every row of `values`, (samples, parameters), in batches of so many; options are those of `program`.

    While a batch runs, the outputs of the one before are fetched.
    """
    rows = np.atleast_2d(family.inside(values))
    compiled = program(family, output, len(rows) if batch is None else batch, **options)
    parts: list[tuple[Any, np.ndarray]] = []
    running: tuple[np.ndarray, Any] | None = None
    for first in range(0, len(rows), compiled.batch):
        some = rows[first : first + compiled.batch]
        begun = compiled.start(some)
        if running is not None:
            parts.append(compiled.finish(*running))
        running = some, begun
    if running is not None:
        parts.append(compiled.finish(*running))
    joined = jax.tree.map(lambda *outputs: np.concatenate(outputs), *(outputs for outputs, _ in parts))
    return Runs(rows, joined, np.concatenate([residual for _, residual in parts]))


def require_device_memory(needs: Any, device: Any, batch: int) -> None:
    """Raises InputError if a batch does not fit into the memory of a device, with a batch that would."""
    limit = (device.memory_stats() or {}).get("bytes_limit")
    if needs is None or not limit:
        return
    needed = needs.temp_size_in_bytes + needs.argument_size_in_bytes + needs.output_size_in_bytes
    if needed > limit:
        fits = max(1, int(0.9 * batch * limit / needed))
        raise InputError(
            f"a batch of {batch} samples needs {needed / 1e9:.3g} GB, and {device.device_kind} has {limit / 1e9:.3g}; "
            f"batch={fits} would fit"
        )
