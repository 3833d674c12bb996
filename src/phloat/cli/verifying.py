"""phloat verify: known answers from elsewhere, what this installation finds, and the difference.

The cases are no part of the installed package: they lie in the source tree, in tests/verification.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import phloat
from phloat.cli import models
from phloat.cli.talk import Talk, as_json


def verify(asked: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """The table, case by case; rows that are not within their tolerance end in an error."""
    from phloat.errors import AccuracyError

    endings = [models.ending(path, (".txt", ".json")) for path in asked.output]
    cases = the_cases()
    if asked.list:
        chosen = cases.chosen(asked.names or None, long=not asked.quick)
        talk.table(("case", "about"), [(case.name, case.about) for case in chosen])
        return {"cases": [{"name": case.name, "about": case.about, "source": case.source} for case in chosen]}

    def said(outcome: Any) -> None:
        talk.title(outcome.case.name)
        talk.prose(outcome.case.about, "  ")
        talk.prose(f"source: {outcome.case.source}", "  ")
        for line in [*cases.table(outcome.rows), *([f"could not be run: {outcome.fault}"] if outcome.fault else [])]:
            talk.say(f"  {line}")

    report = cases.verify(asked.names or None, fine=asked.fine, long=not asked.quick, progress=said)
    for path, suffix in zip(asked.output, endings, strict=True):
        text = as_json(report.as_dict()) if suffix == ".json" else report.text()
        Path(path).write_text(text + "\n", encoding="utf-8")
        talk.say(f"written: {path}")
    if not report.good:
        raise AccuracyError(f"{report.verdict()}; phloat doctor says what is installed")
    talk.title(report.verdict())
    return {key: value for key, value in report.as_dict().items() if key != "phloat"} | {"files": asked.output}


def the_cases() -> Any:
    """The package tests/verification of the source tree that phloat is imported from; raises InputError where there is none."""
    from phloat.errors import InputError

    tests = Path(phloat.__file__).resolve().parents[2] / "tests"
    if not (tests / "verification").is_dir():
        raise InputError(
            "the cases are not in this installation; they are in the repository of phloat, in tests/verification: "
            "get its source, install it with pip install -e . and run phloat verify again"
        )
    if str(tests) not in sys.path:
        sys.path.insert(0, str(tests))
    return import_module("verification")
