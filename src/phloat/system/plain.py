"""A system in plain data, as a model file says it: names, recipes and numbers that JSON can hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from phloat.system.parts import Parts, parts
from phloat.system.system import System
from phloat.system.words.kinds import Arrays, Pen
from phloat.system.words.numbers import Vector
from phloat.system.words.parts import INNER

VERSION = 1  # of the format of model files


def plain(system: System, *, arrays: Callable[[str, Arrays], str] | None = None) -> dict[str, Any]:
    """The system as a model file says it; `phloat.files` makes it again from that.

    Bodies with meshes or matrices of their own need files beside the model: `arrays(name, arrays)` writes one and returns its
    name. An InputError says what no file can say: functions, bases of Python, bodies that do not know how they were made.
    """
    return said(parts(system), arrays=arrays)


def said(
    whole: Parts,
    *,
    arrays: Callable[[str, Arrays], str] | None = None,
    names: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Parts in plain data; `names` are those of materials and sections, {table: {name: value}}."""
    tables = _Tables({} if names is None else names)
    INNER.write(whole, Pen(tables.counted, arrays and (lambda name, _: name)))
    body = INNER.write(whole, Pen(tables.named, arrays))
    out: dict[str, Any] = {"phloat": VERSION}
    if whole.plane is not None:
        out["plane"] = whole.plane
    if whole.gravity is not None:
        out["gravity"] = Vector().write(whole.gravity, Pen())
    return out | {table: entries for table, entries in tables.said.items() if entries} | body


class _Tables:
    """Names for materials and sections: those they had, or new ones for what stands there more than once."""

    def __init__(self, names: Mapping[str, Mapping[str, Any]]) -> None:
        self.said: dict[str, dict[str, Any]] = {"materials": {}, "sections": {}}
        self.known = {table: list(entries.items()) for table, entries in names.items()}
        self.count: Counter[str] = Counter()

    def counted(self, table: str, value: Any, said: Any) -> Any:
        self.count[json.dumps(said)] += 1
        return said

    def named(self, table: str, value: Any, said: Any) -> Any:
        there, known = self.said[table], self.known.get(table, [])
        named = next((name for name, other in there.items() if other == said), None)
        if named is not None:
            return named
        had = next((name for name, other in known if _equal(other, value) and name not in there), None)
        if had is None and self.count[json.dumps(said)] < 2:
            return said
        fresh = had or _fresh(table.removesuffix("s"), there, dict(known))
        there[fresh] = said
        return fresh


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def _fresh(word: str, *taken: Any) -> str:
    names = (word if k == 1 else f"{word} {k}" for k in range(1, 1_000_000))
    return next(name for name in names if not any(name in some for some in taken))
