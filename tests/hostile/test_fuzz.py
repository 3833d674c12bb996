"""Wrong files by the thousand, opened in a guarded process: each ends in a sentence or turns out to be right, soon and small."""

import json
import os
import select
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

FUZZ = Path(__file__).with_name("fuzz.py")
PATIENCE = 120.0  # seconds for a case, on a machine that is busy, before it counts as one that hangs
BYTES = 2**30  # of memory for a case, beyond what phloat has taken at the start
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="memory is measured as Linux does it"
)


@dataclass
class Found:
    """How cases ended, and the worst of them."""

    ends: Counter = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0
    bytes: int = 0

    def add(self, case: dict) -> None:
        self.ends[case["how"]] += 1
        self.seconds, self.bytes = max(self.seconds, case["seconds"]), max(self.bytes, case["bytes"])
        if case["how"] not in ("right", "sentence"):
            self.faults.append(f"{case['case']}: {case['said']}")


def guarded(kind: str, first: int, count: int, folder: Path) -> Found:
    """Cases of a kind, one after the other; the process is made anew after one that crashes or hangs."""
    found, end = Found(), first + count
    while first < end:
        run = folder / f"{kind} {first}"
        run.mkdir()
        last, how = _process(kind, first, end - first, run, found)
        if how:
            found.faults.append(f"{last}: {how}")
            if last < first:  # it did not even begin
                return found
        first = last + 1
    return found


def _process(kind: str, first: int, count: int, folder: Path, found: Found) -> tuple[int, str]:
    """The last case, and what befell it."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(FUZZ), kind, str(first), str(count), str(folder)]
    with open(folder / "stderr", "w+b") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=environment)
        last, rest, patience = first - 1, b"", time.monotonic() + 300
        try:
            while True:
                ready, _, _ = select.select([process.stdout], [], [], max(patience - time.monotonic(), 0.0))
                if not ready:
                    return last, f"no end after {PATIENCE} s"
                if not (data := os.read(process.stdout.fileno(), 2**16)):
                    break
                *lines, rest = (rest + data).split(b"\n")
                for line in map(json.loads, lines):
                    last = line["case"]
                    if "how" in line:
                        found.add(line)
                patience = time.monotonic() + PATIENCE
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        errors.seek(0)
        told = errors.read().decode(errors="replace")[-2000:]
    return last, "" if last == first + count - 1 else f"the process ended with {process.returncode}: {told}"


SHORT = {"models": 250, "texts": 170, "runs": 120, "ensembles": 60}
LONG = {"models": 10_000, "texts": 6_000, "runs": 4_000, "ensembles": 1_000}


def check(kind: str, first: int, count: int, folder: Path) -> None:
    found = guarded(kind, first, count, folder)
    print(f"{kind}: {dict(found.ends)}, at most {found.seconds:.2f} s and {found.bytes / 2**20:.0f} MiB")
    assert found.faults == []
    assert sum(found.ends.values()) == count
    assert found.bytes < BYTES
    assert found.ends["sentence"] > 0.2 * count  # they are wrong indeed


@pytest.mark.most
@pytest.mark.parametrize("kind", SHORT)
def test_wrong_files_end_in_a_sentence(kind, tmp_path):
    check(kind, 0, SHORT[kind], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("kind", LONG)
def test_twenty_thousand_wrong_files_end_in_a_sentence(kind, part, tmp_path):
    assert sum(LONG.values()) >= 20_000
    check(kind, 1_000_000 + part * LONG[kind] // 4, LONG[kind] // 4, tmp_path)
