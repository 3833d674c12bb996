"""The calls that made a body from its recipe, so that they can be repeated with another recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, eq=False)
class ConstructionStep:
    """A method call on the result of the previous step."""

    method: str
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        inputs = [*map(repr, self.arguments), *(f"{name}={value!r}" for name, value in self.options.items())]
        return f"{self.method}({', '.join(inputs)})"


@dataclass(frozen=True, eq=False)
class Construction:
    """A recipe (for a piece of a split beam, that of the whole beam) and the calls that lead from it to a body."""

    recipe: Any
    steps: tuple[ConstructionStep, ...] = ()

    def then(self, method: str, *arguments: Any, **options: Any) -> Construction:
        """The construction with a further method call."""
        return replace(self, steps=(*self.steps, ConstructionStep(method, arguments, options)))

    def repeat(self, recipe: Any, cache: dict[tuple[Any, ...], Any] | None = None) -> Any:
        """The result of the same calls on another recipe; `cache` holds intermediate results that several bodies share."""
        value, cache = recipe, {} if cache is None else cache
        for k, step in enumerate(self.steps):
            key = (id(recipe), *self.steps[: k + 1])
            if key not in cache:
                cache[key] = getattr(value, step.method)(*step.arguments, **step.options)
            value = cache[key]
        return value
