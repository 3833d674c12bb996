"""Sampled controllers, with delay and saturation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from phloat.control.coupling import Model, port_numbers, warn_of_sample_time
from phloat.errors import InputError, not_negative, positive
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.march import require_efforts
from phloat.motion.run.task import warn_if_late


@runtime_checkable
class Digital(Protocol):
    """A controller that can be sampled."""

    ports: tuple[str, ...]
    bias: Mapping[str, float]

    def fastest(self, model: Model) -> float: ...
    def sampled(self, model: Model, every: float) -> Callable[[float, Any, Mapping[str, float]], dict[str, float]]: ...


@dataclass(frozen=True, eq=False)
class Sampled:
    """A controller (of this library, or f(t, y)) that is sampled `every` so many seconds, with constant efforts in between.

    Efforts act `delay` seconds later and are limited by `saturation`, a number or {port: number}. Steps end at samples and when
    efforts change, so both are exact with any scheme; the equal steps of a linear system do not, and there is a warning if dt does
    not divide the times.
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

    def begun(self, model: Model, dt: float | None) -> tuple[Model, Callable[[float, Any], Mapping[str, object]]]:
        if dt is not None and self.every < dt * (1 - 1e-9):
            raise InputError(f"the sample time {self.every:g} s is shorter than the step of {dt:g} s; use a smaller dt")
        if isinstance(model, LinearPHDAE) and dt is not None:
            warn_if_late("sample time", self.every, dt)
            warn_if_late("delay", self.delay, dt)
        if isinstance(self.controller, Digital):
            warn_of_sample_time(self.every, self.controller.fastest(model))
        return model, _Clock(self, model, dt)

    def limited(self, efforts: Mapping[str, Any]) -> dict[str, Any]:
        """Efforts within the saturation."""
        if self.saturation is None:
            return dict(efforts)
        most = self.saturation if isinstance(self.saturation, Mapping) else dict.fromkeys(efforts, self.saturation)
        return {p: np.clip(effort, -most[p], most[p]) if p in most else effort for p, effort in efforts.items()}


class _Clock:
    """The efforts that act at each step of a run, and those that are delayed."""

    def __init__(self, sampled: Sampled, model: Model, dt: float | None) -> None:
        self.of, self.near = sampled, 1e-6 * (sampled.every if dt is None else dt)
        inner = sampled.controller
        self.library = isinstance(inner, Digital)
        self.asked = inner.sampled(model, sampled.every) if self.library else None
        self.next = -np.inf
        self.coming: list[tuple[float, dict[str, Any]]] = []
        resting = {port: inner.bias.get(port, 0.0) for port in inner.ports} if self.library else {}
        self.force: dict[str, Any] = sampled.limited(resting)
        self.since, self.began, self.last = dict.fromkeys(self.force, 0.0), 0.0, 0.0

    @property
    def due(self) -> float:
        """The time of the next sample or change of efforts."""
        return min([self.next, *(at for at, _ in self.coming[:1])])

    def __call__(self, t: float, y: Any) -> dict[str, Any]:
        for port in self.since:  # ∫ of the efforts
            self.since[port] += float(self.force[port]) * (t - self.last)
        self.last = t
        if t >= self.next - self.near:
            self.next = t + self.of.every if self.next == -np.inf else self.next + self.of.every
            self.coming.append((t + self.of.delay, self.of.limited(self._answer(t, y))))
        while self.coming and t >= self.coming[0][0] - self.near:
            self.force = {**self.force, **self.coming.pop(0)[1]}
        if not self.force:  # a function whose first efforts are delayed
            return {port: np.zeros(np.shape(value)) for port, value in self.coming[0][1].items()}
        return dict(self.force)

    def _answer(self, t: float, y: Any) -> Mapping[str, Any]:
        if self.asked is None:
            return require_efforts(t, self.of.controller(t, y))
        span = t - self.began
        applied = {port: work / span for port, work in self.since.items()} if span > 0.0 else dict(self.force)
        self.since, self.began = dict.fromkeys(self.since, 0.0), t
        return self.asked(t, y, applied)
