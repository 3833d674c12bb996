"""phloat verify: known answers from elsewhere, what this installation finds, and the difference."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from phloat.cli import models
from phloat.cli.talk import Talk, as_json


def verify(asked: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """The table, case by case; rows that are not within their tolerance end in an error."""
    from phloat.errors import AccuracyError
    from phloat.verification.report import Outcome, table
    from phloat.verification.verify import chosen
    from phloat.verification.verify import verify as verified

    endings = [models.ending(path, (".txt", ".json")) for path in asked.output]
    if asked.list:
        cases = chosen(asked.names or None, long=not asked.quick)
        talk.table(("case", "about"), [(case.name, case.about) for case in cases])
        return {"cases": [{"name": case.name, "about": case.about, "source": case.source} for case in cases]}

    def said(outcome: Outcome) -> None:
        talk.title(outcome.case.name)
        talk.prose(outcome.case.about, "  ")
        talk.prose(f"source: {outcome.case.source}", "  ")
        for line in [*table(outcome.rows), *([f"could not be run: {outcome.fault}"] if outcome.fault else [])]:
            talk.say(f"  {line}")

    report = verified(asked.names or None, fine=asked.fine, long=not asked.quick, progress=said)
    for path, suffix in zip(asked.output, endings, strict=True):
        text = as_json(report.as_dict()) if suffix == ".json" else report.text()
        Path(path).write_text(text + "\n", encoding="utf-8")
        talk.say(f"written: {path}")
    if not report.good:
        raise AccuracyError(f"{report.verdict()}; phloat doctor says what is installed")
    talk.title(report.verdict())
    return {key: value for key, value in report.as_dict().items() if key != "phloat"} | {"files": asked.output}
