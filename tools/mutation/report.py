"""Writes RESULTS.md: the score of each module, and all mutants that survived, with the reasons in survivors.json."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from mutants import Mutant

HEAD = """# Faults put into the physics

`python tools/mutation` draws {count} of {everything} possible faults (seed {seed}), puts one at a time into its module
(with compilation off where it would be compiled) and runs the fast tests of that module (`tests_of.py`). A fault is
found when a test goes red, when the module cannot be imported, or when the tests do not end. Modules that were run by
themselves since (`--only`, with `--all` for every fault of them) have as many faults as their row says.

{totals}

| module | faults | found | score |
|---|---|---|---|
"""
TOTALS = """**{found} of {count} were found ({score:.1%})**; {equal} of the others change
no result (they are equal to what they replace), so {real:.1%} of those that could be found were."""


def write(
    folder: Path,
    seed: int,
    everything: int,
    sample: Sequence[Mutant],
    outcome: Mapping[str, Sequence],
    reasons: Mapping[str, Sequence[str]],
) -> None:
    """Writes the report anew; `reasons` has a kind, "equal" (no result changes) or "open", and a text for examined survivors."""
    alive = [m for m in sample if outcome[m.name][0] == "survived"]
    text = HEAD.format(count=len(sample), everything=everything, seed=seed, totals=TOTALS)
    for module in dict.fromkeys(m.module for m in sample):
        text += _score_row(module, [m for m in sample if m.module == module], alive)
    text += "\n## Not found\n\n| where | before | with the fault | kind | why |\n|---|---|---|---|---|\n"
    text += "".join(_survivor_row(m, reasons) for m in alive)
    (folder / "RESULTS.md").write_text(_with_totals(text))


def replace(
    folder: Path, sample: Sequence[Mutant], outcome: Mapping[str, Sequence], reasons: Mapping[str, Sequence[str]]
) -> None:
    """Replaces the rows of the modules of `sample` in the report; rows of other modules stay."""
    file = folder / "RESULTS.md"
    alive = [m for m in sample if outcome[m.name][0] == "survived"]
    by_module = {
        module.removeprefix("phloat."): [m for m in sample if m.module == module]
        for module in dict.fromkeys(m.module for m in sample)
    }
    lines, done = [], set()
    for line in file.read_text().splitlines(keepends=True):
        module = line.removeprefix("| ").partition(" ")[0].partition(":")[0]
        if not line.startswith("| ") or module not in by_module:
            lines.append(line)
        elif f"| {module} |" in line:
            lines.append(_score_row(module, by_module[module], alive))
        elif module not in done:
            done.add(module)
            lines += [_survivor_row(m, reasons) for m in alive if m in by_module[module]]
    lines += [_survivor_row(m, reasons) for m in alive if m.module.removeprefix("phloat.") not in done]
    file.write_text(_with_totals("".join(lines)))


def _with_totals(text: str) -> str:
    """The report with its totals computed again from its rows."""
    scores = [re.fullmatch(r"\| [\w.]+ \| (\d+) \| (\d+) \| \d+% \|", line) for line in text.splitlines()]
    count, found = (sum(int(score[k]) for score in scores if score) for k in (1, 2))
    equal = text.count(" | equal | ")
    totals = TOTALS.format(
        found=found, count=count, score=found / count, equal=equal, real=found / max(count - equal, 1)
    )
    return re.sub(r"\*\*[^*]* were found.*?that could be found were\.", totals, text, count=1, flags=re.DOTALL)


def _score_row(module: str, mutants: Sequence[Mutant], alive: Sequence[Mutant]) -> str:
    """The row of a module: mutants, those that were found, and their share."""
    good = sum(1 for m in mutants if m not in alive)
    return f"| {module.removeprefix('phloat.')} | {len(mutants)} | {good} | {good / len(mutants):.0%} |\n"


def _survivor_row(m: Mutant, reasons: Mapping[str, Sequence[str]]) -> str:
    """The row of a mutant that survived."""
    kind, why = reasons.get(m.name, ("open", "not looked at"))
    before, after = (_short(t) for t in (m.before, m.after))
    return f"| {m.module.removeprefix('phloat.')}:{m.line} | `{before}` | `{after}` | {kind} | {why} |\n"


def _short(text: str) -> str:
    """Code in one line of at most 70 characters, for a cell of a table."""
    one = " ".join(text.split()).replace("|", "∣")
    return one if len(one) <= 70 else one[:67] + "…"
