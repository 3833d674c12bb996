"""Sampled controllers, with delay and saturation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from phloat.control.coupling import Model, port_numbers, warn_of_sample_time
from phloat.errors import InputError, not_negative, positive
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.stepper import require_efforts
from phloat.motion.run.task import warn_if_late


@runtime_checkable
class Digital(Protocol):
    """A controller of this library that can be sampled."""

    ports: tuple[str, ...]
    bias: Mapping[str, float]

    def fastest(self, model: Model) -> float: ...
    def sampled(self, model: Model, every: float) -> Callable[[float, Any, Mapping[str, float]], dict[str, float]]: ...


@dataclass(frozen=True, eq=False)
class Sampled:
    """A controller (of this library, or f(t, y)) that is sampled at intervals `every` (s), with constant efforts in between.

    Efforts act after a `delay` (s) and are limited by `saturation`, a number or {port: number}. Steps end at samples and when
    efforts change, so both are exact with any scheme. The equal steps of a linear system do not; there is a warning if dt does not
    divide these times.
    """

    controller: Any
    every: float
    delay: float = 0.0
    saturation: float | Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        positive("every", self.every)
        not_negative("delay", self.delay)
        if not isinstance(self.controller, Digital) and not callable(self.controller):
            raise InputError(f"{self.controller!r} is not a controller; use one of this library or a function f(t, y)")
        if isinstance(self.saturation, Mapping):
            port_numbers("saturation", self.saturation, positive)
        elif self.saturation is not None:
            positive("saturation", self.saturation)

    def start_run(self, model: Model, dt: float | None) -> tuple[Model, Callable[[float, Any], Mapping[str, object]]]:
        """The plant, and the function f(t, y) that samples the controller; warns if the sample time is too long."""
        if dt is not None and self.every < dt * (1 - 1e-9):
            raise InputError(f"the sample time {self.every:g} s is shorter than the step of {dt:g} s; use a smaller dt")
        if isinstance(model, LinearPHDAE) and dt is not None:
            warn_if_late("sample time", self.every, dt)
            warn_if_late("delay", self.delay, dt)
        if isinstance(self.controller, Digital):
            warn_of_sample_time(self.every, self.controller.fastest(model))
        return model, _Clock(self, model, dt)

    def saturate(self, efforts: Mapping[str, Any]) -> dict[str, Any]:
        """The efforts, limited by the saturation."""
        if self.saturation is None:
            return dict(efforts)
        limits = self.saturation if isinstance(self.saturation, Mapping) else dict.fromkeys(efforts, self.saturation)
        return {p: np.clip(effort, -limits[p], limits[p]) if p in limits else effort for p, effort in efforts.items()}


class _Clock:
    """The function f(t, y) → efforts of a sampled controller in one run, with the efforts that are still delayed."""

    def __init__(self, sampled: Sampled, model: Model, dt: float | None) -> None:
        self.sampled, self.tolerance = sampled, 1e-6 * (sampled.every if dt is None else dt)
        inner = sampled.controller
        self.library = isinstance(inner, Digital)
        self.function = inner.sampled(model, sampled.every) if self.library else None
        self.next = -np.inf
        self.pending: list[tuple[float, dict[str, Any]]] = []
        initial = {port: inner.bias.get(port, 0.0) for port in inner.ports} if self.library else {}
        self.efforts: dict[str, Any] = sampled.saturate(initial)
        self.integrals, self.last_sample, self.last_time = dict.fromkeys(self.efforts, 0.0), 0.0, 0.0

    @property
    def due(self) -> float:
        """The time of the next sample or change of efforts."""
        return min([self.next, *(time for time, _ in self.pending[:1])])

    def __call__(self, t: float, y: Any) -> dict[str, Any]:
        for port in self.integrals:  # ∫ of the efforts
            self.integrals[port] += float(self.efforts[port]) * (t - self.last_time)
        self.last_time = t
        if t >= self.next - self.tolerance:
            self.next = t + self.sampled.every if self.next == -np.inf else self.next + self.sampled.every
            self.pending.append((t + self.sampled.delay, self.sampled.saturate(self._controller_efforts(t, y))))
        while self.pending and t >= self.pending[0][0] - self.tolerance:
            self.efforts = {**self.efforts, **self.pending.pop(0)[1]}
        if not self.efforts:  # the first efforts of a function are delayed
            return {port: np.zeros(np.shape(value)) for port, value in self.pending[0][1].items()}
        return dict(self.efforts)

    def _controller_efforts(self, t: float, y: Any) -> Mapping[str, Any]:
        """The efforts that the controller returns for the outputs y at t."""
        if self.function is None:
            return require_efforts(t, self.sampled.controller(t, y))
        span = t - self.last_sample
        applied = {port: work / span for port, work in self.integrals.items()} if span > 0.0 else dict(self.efforts)
        self.integrals, self.last_sample = dict.fromkeys(self.integrals, 0.0), t
        return self.function(t, y, applied)
