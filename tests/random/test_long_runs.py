"""A million steps: energy, joints and rotations stay, and memory does not grow; benchmarks/long_runs.py draws them."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from long_runs import CASES, long_run

MILLION = 1_000_000
NODE = 16e-6  # MB a step: the times of all steps are one array, made of two


@pytest.mark.parametrize("steps", [2_000, pytest.param(MILLION, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", CASES)
def test_what_must_stay_stays(name, steps, worst):
    run = long_run(name, steps)
    found = {what: float(run[what].max()) for what in ("energy", "closure", "orthonormality")}
    worst.add({f"{steps:.0e} steps, {what}": value for what, value in found.items()}, name)
    assert found["energy"] < 1e-9
    assert found["closure"] < 1e-9  # m, rad
    assert found["orthonormality"] < 1e-10
    assert run["angular momentum"].max() < 1e-9 if "angular momentum" in run else True
    assert run["grown"] < 5.0 + NODE * steps
    assert run["halved"] == 0
