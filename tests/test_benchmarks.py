"""Every benchmark runs with --quick and prints a table; full results are in benchmarks/RESULTS.md."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
LONG = (
    "import",
    "four-bar",
    "frame",
    "beam-spaces",
    "loads",
    "shortening",
    "chains",
    "building",
    "threads",
    "hinged-beam",
    "compile",
    "memory",
    "solids",
    "reduction",
    "linearise",
    "equilibrium",
    "ensembles",
    "pages",
)


def run(*arguments):
    """Runs benchmarks/run.py with these arguments."""
    return subprocess.run([sys.executable, BENCHMARKS / "run.py", *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("name", ["crank-slider", *(pytest.param(name, marks=pytest.mark.long) for name in LONG)])
def test_a_quick_benchmark_gives_numbers_and_writes_nothing(name):
    files = [BENCHMARKS / "RESULTS.md", BENCHMARKS / "results.json"]
    before = [file.stat().st_mtime_ns for file in files]
    said = run("--quick", name)
    assert said.returncode == 0, said.stderr
    head, _, *rows = [line.split("|")[1:-1] for line in said.stdout.splitlines() if line.startswith("|")]
    assert rows
    for row in rows:
        assert len(row) == len(head)
        float(row[1].split()[0])
    assert [file.stat().st_mtime_ns for file in files] == before


def test_every_benchmark_is_looked_at_here():
    said = run("--quick", "none")
    assert said.returncode
    assert set(said.stderr.strip().rpartition(": ")[2].split(", ")) == {"crank-slider", *LONG}
