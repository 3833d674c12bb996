"""RESULTS.md: the score of each module, and every fault that no test found, with the reason where somebody looked."""

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
    """The report; `reasons` has for a survivor ("equal" or "open", why)."""
    alive = [m for m in sample if outcome[m.name][0] == "survived"]
    text = HEAD.format(count=len(sample), everything=everything, seed=seed, totals=TOTALS)
    for module in dict.fromkeys(m.module for m in sample):
        text += _score(module, [m for m in sample if m.module == module], alive)
    text += "\n## Not found\n\n| where | before | with the fault | kind | why |\n|---|---|---|---|---|\n"
    text += "".join(_survivor(m, reasons) for m in alive)
    (folder / "RESULTS.md").write_text(_summed(text))


def replace(
    folder: Path, sample: Sequence[Mutant], outcome: Mapping[str, Sequence], reasons: Mapping[str, Sequence[str]]
) -> None:
    """The rows of these modules in the report there is; the others stay."""
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
            lines.append(_score(module, by_module[module], alive))
        elif module not in done:
            done.add(module)
            lines += [_survivor(m, reasons) for m in alive if m in by_module[module]]
    lines += [_survivor(m, reasons) for m in alive if m.module.removeprefix("phloat.") not in done]
    file.write_text(_summed("".join(lines)))


def _summed(text: str) -> str:
    """With the totals of the rows below."""
    scores = [re.fullmatch(r"\| [\w.]+ \| (\d+) \| (\d+) \| \d+% \|", line) for line in text.splitlines()]
    count, found = (sum(int(score[k]) for score in scores if score) for k in (1, 2))
    equal = text.count(" | equal | ")
    totals = TOTALS.format(
        found=found, count=count, score=found / count, equal=equal, real=found / max(count - equal, 1)
    )
    return re.sub(r"\*\*[^*]* were found.*?that could be found were\.", totals, text, count=1, flags=re.DOTALL)


def _score(module: str, of: Sequence[Mutant], alive: Sequence[Mutant]) -> str:
    good = sum(1 for m in of if m not in alive)
    return f"| {module.removeprefix('phloat.')} | {len(of)} | {good} | {good / len(of):.0%} |\n"


def _survivor(m: Mutant, reasons: Mapping[str, Sequence[str]]) -> str:
    kind, why = reasons.get(m.name, ("open", "not looked at"))
    before, after = (_short(t) for t in (m.before, m.after))
    return f"| {m.module.removeprefix('phloat.')}:{m.line} | `{before}` | `{after}` | {kind} | {why} |\n"


def _short(text: str) -> str:
    one = " ".join(text.split()).replace("|", "∣")
    return one if len(one) <= 70 else one[:67] + "…"
