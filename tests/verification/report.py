"""What a verification found: the table with differences and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from phloat.algebra.version import __version__
from verification.case import Case, Row

HEADS = ("quantity", "reference", "phloat", "difference", "allowed", "")


@dataclass(frozen=True)
class Outcome:
    """The rows of a case and the seconds they took; `fault` is the sentence where it could not be run."""

    case: Case
    rows: tuple[Row, ...]
    seconds: float
    fault: str = ""

    @property
    def good(self) -> bool:
        return not self.fault and all(row.good for row in self.rows)


@dataclass(frozen=True)
class Report:
    """All outcomes; `good` if every row of every case is within its tolerance."""

    outcomes: tuple[Outcome, ...]

    @property
    def good(self) -> bool:
        return all(outcome.good for outcome in self.outcomes)

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for outcome in self.outcomes for row in outcome.rows)

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """The table for people."""
        lines = []
        for outcome in self.outcomes:
            case = outcome.case
            lines += [f"{case.name}: {case.about}", f"  source: {case.source}"]
            lines += [f"  {line}" for line in table(outcome.rows)]
            lines += [f"  could not be run: {outcome.fault}"] if outcome.fault else []
            lines.append("")
        return "\n".join([*lines, self.verdict()])

    def verdict(self) -> str:
        """The last line."""
        bad = [outcome.case.name for outcome in self.outcomes if not outcome.good]
        said = f"{sum(row.good for row in self.rows)} of {len(self.rows)} rows within tolerance, {len(self.outcomes)} cases"
        return f"{said}; to look at: {', '.join(bad)}" if bad else said

    def as_dict(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            "phloat": __version__,
            "good": self.good,
            "cases": [_as_dict(outcome) for outcome in self.outcomes],
        }


def _as_dict(outcome: Outcome) -> dict[str, Any]:
    case = outcome.case
    rows = [
        {
            "quantity": row.quantity,
            "reference": row.reference,
            "found": row.found,
            "difference": row.difference,
            "tolerance": row.tolerance,
            "unit": row.unit,
            "good": row.good,
        }
        for row in outcome.rows
    ]
    said = {"name": case.name, "about": case.about, "source": case.source, "tolerances": case.tolerances}
    return said | {"good": outcome.good, "seconds": outcome.seconds, "fault": outcome.fault, "rows": rows}


def table(rows: tuple[Row, ...]) -> list[str]:
    """Aligned lines, a head first."""
    cells = [HEADS, *(line(row) for row in rows)]
    wide = [max(len(row[k]) for row in cells) for k in range(len(HEADS))]
    sides = "<>>>><"
    return [
        "  ".join(f"{cell:{side}{w}}" for cell, side, w in zip(row, sides, wide, strict=True)).rstrip() for row in cells
    ]


def line(row: Row) -> tuple[str, ...]:
    """The cells of a row, its numbers to as many digits as its tolerance can tell apart."""
    quantity = f"{row.quantity} ({row.unit})" if row.unit else row.quantity
    verdict = "good" if row.good else "NOT WITHIN"
    return (
        quantity,
        f"{row.reference:.10g}",
        f"{row.found:.10g}",
        f"{row.difference:.1e}",
        f"{row.tolerance:.1e}",
        verdict,
    )
