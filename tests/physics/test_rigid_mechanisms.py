"""Rigid chains and a robot arm in free fall move as Pinocchio says; benchmarks/rigid compares the speed."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import phloat as ph

FOLDER = Path(__file__).parents[2] / "benchmarks" / "rigid"
PEERS = ("mujoco", "pinocchio")

# mass centre of the last link (m): Pinocchio 4.1.0's articulated-body algorithm, SciPy's DOP853 with rtol=1e-13
ENDS = {
    "planar chain of 8": (-0.190777064505, -0.718616523475, 0.0),
    "spatial chain of 8": (-0.168840382958, -0.680653369063, 0.231836119183),
    "robot arm of 7 axes": (-0.603318112896, 0.273518143376, 0.483676711023),
}


@pytest.fixture
def mechanisms(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.delitem(sys.modules, "mechanisms", raising=False)
    return importlib.import_module("mechanisms")


@pytest.mark.parametrize("name", ENDS)
def test_rigid_mechanisms_move_as_pinocchio_says(mechanisms, name):
    mechanism = mechanisms.MECHANISMS[name]()
    system, state = mechanisms.system_of(mechanism)
    errors = []
    for steps in (1000, 2000):
        run = ph.simulate(
            system, state, mechanism.t_end, dt=mechanism.t_end / steps, scheme=ph.Composition4(), output=steps
        )
        errors.append(np.abs(mechanisms.centers(mechanism, run)[-1] - ENDS[name]).max() / mechanism.size)
    assert errors[1] < 2e-9
    assert np.log2(errors[0] / errors[1]) > 3.7  # of order 4, towards Pinocchio's end


@pytest.mark.long
@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, PEERS)), reason="MuJoCo and Pinocchio are missing: pip install '.[bench]'"
)
def test_the_comparison_runs_and_writes_nothing():
    before = {path: path.stat().st_mtime for path in FOLDER.iterdir() if path.suffix}
    done = subprocess.run([sys.executable, str(FOLDER), "--quick"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "peer is ahead by" in done.stdout and "robot arm" in done.stdout
    assert {path: path.stat().st_mtime for path in FOLDER.iterdir() if path.suffix} == before
