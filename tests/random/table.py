"""The worst residual of every invariant, over all mechanisms tried."""

from dataclasses import dataclass, field


@dataclass
class Table:
    """By invariant: how often it was looked at, the worst residual, and the mechanism that had it."""

    tried: dict[str, int] = field(default_factory=dict)
    worst: dict[str, float] = field(default_factory=dict)
    of: dict[str, str] = field(default_factory=dict)

    def add(self, residuals: dict[str, float], plan: object) -> None:
        for name, value in residuals.items():
            self.tried[name] = self.tried.get(name, 0) + 1
            if value >= self.worst.get(name, 0.0):
                self.worst[name], self.of[name] = value, repr(plan)

    def as_lists(self) -> list[list]:
        return [[name, self.tried[name], self.worst[name], self.of[name]] for name in self.tried]

    def joined(self, lists: list[list]) -> None:
        for name, tried, value, plan in lists:
            self.tried[name] = self.tried.get(name, 0) + tried
            if value >= self.worst.get(name, 0.0):
                self.worst[name], self.of[name] = value, plan


def printed(table: Table) -> list[str]:
    """The table in lines of text; nothing where nothing was tried."""
    if not table.tried:
        return []
    rows = [f"{name:<28}{table.tried[name]:>8}{table.worst[name]:>12.1e}" for name in sorted(table.tried)]
    return [f"{'random mechanisms':<28}{'tried':>8}{'worst':>12}", *rows]
