"""How a body came from its recipe: the calls in order, so that they can be repeated with another recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, eq=False)
class ConstructionStep:
    """A method call on the value of the step before."""

    method: str
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        listed = [*map(repr, self.arguments), *(f"{name}={value!r}" for name, value in self.options.items())]
        return f"{self.method}({', '.join(listed)})"


@dataclass(frozen=True, eq=False)
class Construction:
    """A recipe (for a piece of a split beam, that of the whole beam) and the calls that lead from it to a body."""

    recipe: Any
    steps: tuple[ConstructionStep, ...] = ()

    def then(self, method: str, *arguments: Any, **options: Any) -> Construction:
        """With one step more."""
        return replace(self, steps=(*self.steps, ConstructionStep(method, arguments, options)))

    def repeat(self, recipe: Any, known: dict[tuple[Any, ...], Any] | None = None) -> Any:
        """The same calls from another recipe; `known` keeps what several bodies share, such as the pieces of a beam."""
        value, known = recipe, {} if known is None else known
        for k, step in enumerate(self.steps):
            key = (id(recipe), *self.steps[: k + 1])
            if key not in known:
                known[key] = getattr(value, step.method)(*step.arguments, **step.options)
            value = known[key]
        return value
