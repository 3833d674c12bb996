"""What the fields of dataclasses mean and measure. Model files, their schema and the checks of units are derived from this.

length: float = field(metadata=describe("from port P to port C", "length", above=0.0))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import Field, dataclass
from typing import Any


@dataclass(frozen=True)
class Description:
    """What a field means, the quantities that it may measure (see `format.units.QUANTITIES`), and its limits."""

    doc: str = ""
    quantities: tuple[str, ...] = ()
    above: float | None = None
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    size: int = 3
    key: str = ""


def describe(
    doc: str,
    *quantities: str,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    choices: Iterable[str] = (),
    size: int = 3,
    key: str = "",
) -> dict[str, Description]:
    """Metadata of a dataclass field; `size` is that of a vector, `key` its key in files if that is not its name ("from")."""
    return {"description": Description(doc, quantities, above, least, most, tuple(choices), size, key)}


def description(field: Field[Any]) -> Description:
    """The description of a field; an empty one if it has none."""
    found = field.metadata.get("description")
    return found if isinstance(found, Description) else Description()
