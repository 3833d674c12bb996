"""How a body was made from its recipe, kept so that it can be made again from another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, eq=False)
class Step:
    """A method that was called on what the steps before had made, and what it was given."""

    verb: str
    given: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def again(self, what: Any) -> Any:
        return getattr(what, self.verb)(*self.given, **self.options)

    def __repr__(self) -> str:
        said = [*map(repr, self.given), *(f"{name}={value!r}" for name, value in self.options.items())]
        return f"{self.verb}({', '.join(said)})"


@dataclass(frozen=True, eq=False)
class Made:
    """The recipe that a body began with (of a piece of a split beam, the whole of it) and the steps from there."""

    recipe: Any
    steps: tuple[Step, ...] = ()

    def then(self, verb: str, *given: Any, **options: Any) -> Made:
        """With one step more."""
        return replace(self, steps=(*self.steps, Step(verb, given, options)))

    def again(self, recipe: Any, known: dict[tuple[Any, ...], Any] | None = None) -> Any:
        """The same steps from another recipe; `known` keeps what several bodies have in common, such as pieces of a beam."""
        what, known = recipe, {} if known is None else known
        for k, step in enumerate(self.steps):
            done = (id(recipe), *self.steps[: k + 1])
            if done not in known:
                known[done] = step.again(what)
            what = known[done]
        return what
