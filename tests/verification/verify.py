"""Runs cases and reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from phloat.errors import InputError
from verification.case import Case
from verification.cases import beams, large, linkages, nafems, paper, plates, rigid, solids, spatial, turning
from verification.report import Outcome, Report

SUBJECTS = (paper, rigid, linkages, beams, turning, large, spatial, plates, solids, nafems)
CASES: dict[str, Case] = {case.name: case for subject in SUBJECTS for case in subject.CASES}


def verify(
    names: Iterable[str] | str | None = None,
    *,
    fine: bool = False,
    long: bool = True,
    progress: Callable[[Outcome], None] | None = None,
) -> Report:
    """Runs the named cases, or all, and compares every number with its source.

    `fine` halves mesh and step, `long=False` leaves out what takes longer than a few seconds; `progress` hears of each outcome.
    """
    outcomes = []
    for case in chosen(names, long=long):
        outcome = tried(case, fine=fine)
        if progress is not None:
            progress(outcome)
        outcomes.append(outcome)
    return Report(tuple(outcomes))


def chosen(names: Iterable[str] | str | None, *, long: bool = True) -> list[Case]:
    """The cases of these names, in their order; all where no names are given."""
    if names is None:
        return [case for case in CASES.values() if long or not case.long]
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in CASES:
            raise InputError(f"no case {name!r}; there are {', '.join(CASES)}")
    return [CASES[name] for name in wanted]


def tried(case: Case, *, fine: bool = False) -> Outcome:
    """A case that cannot be run is an outcome, too: the others still are."""
    begin = time.perf_counter()
    try:
        rows, fault = tuple(case.run(fine)), ""
    except (ArithmeticError, ValueError, RuntimeError) as error:
        rows, fault = (), f"{type(error).__name__}: {error}"
    return Outcome(case, rows, time.perf_counter() - begin, fault)
