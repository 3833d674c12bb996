"""A run killed at any moment goes on from its folder, and ends as the one that was never killed, bit for bit."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

KILLER = Path(__file__).with_name("killer.py")


def killed(folder: Path, cases: int, seed: int) -> list[dict]:
    done = subprocess.run(
        [sys.executable, str(KILLER), str(folder), str(cases), str(seed)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("cases", [3, pytest.param(50, marks=pytest.mark.long)])
def test_runs_killed_by_signal_9_end_bit_for_bit(tmp_path, cases):
    found = killed(tmp_path, cases, seed=8)
    assert len(found) == cases
    assert all(run["ends"][0] == -9 for run in found)
    assert [run for run in found if not run["same"] or run["left"]] == []
    if cases == 50:  # kills fell before the first piece, and after some
        pieces = [run["pieces"][0] for run in found]
        assert min(pieces) < 1 < max(pieces)
