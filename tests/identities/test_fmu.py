"""An FMU moves as the system does in simulate, number for number."""

import subprocess
import sys

import numpy as np
import pytest

import phloat as ph
from phloat.control.fmu import stepper, to_fmu
from phloat.linear.time.march import march
from phloat.motion.run.outputs import Outputs

pytest.importorskip("pythonfmu3")
fmpy = pytest.importorskip("fmpy")
validation = pytest.importorskip("fmpy.validation")

DT = 1e-3
ALU = ph.Material(E=7.1016e10, rho=2714.4716, nu=0.33)
LINK = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), ALU, damping=ph.KelvinVoigt(2e-5)).discretise(2)
ARM = ph.connect(
    {"upper": LINK, "lower": LINK},
    joints=[ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")],
    gravity=(0, -9.81, 0),
    plane="xy",
)
STATE = ph.place(ARM, {"upper.theta": 0.3, "lower.theta": 0.9})
FREE = ph.connect(
    {"upper": LINK, "lower": LINK},
    joints=[ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")],
    plane="xy",
)
PLANT = ph.linearise(FREE, STATE).with_ports("shoulder", "elbow")


def torque(t):
    return 0.02 * np.sin(9 * np.asarray(t))


def run(path, t_end, step, **signals):
    """The FMU under inputs that are held from each communication point to the next."""
    assert validation.validate_fmu(str(path)) == []
    t = step * np.arange(round(t_end / step) + 1)
    given = np.zeros(len(t), dtype=[("time", float), *((name, float) for name in signals["u"])])
    given["time"] = t
    for name, f in signals["u"].items():
        given[name] = f(t)
    return fmpy.simulate_fmu(str(path), stop_time=t_end, step_size=step, output_interval=step, input=given)


def test_the_fmu_of_a_system_moves_as_the_system(tmp_path):
    path = to_fmu(ARM, tmp_path / "arm.fmu", state=STATE, dt=DT, outputs=("lower.theta", "upper.r_P"))
    got = run(path, 0.05, DT, u={"elbow.effort": torque})
    here = ph.simulate(ARM, STATE, 0.05, dt=DT, controller=lambda t, y: {"elbow": torque(t)})
    assert np.ptp(here["lower.theta"]) > 1e-3
    np.testing.assert_array_equal(got["lower.theta"], here["lower.theta"])
    np.testing.assert_array_equal(got["elbow.angle"], here["elbow.angle"])
    assert got["elbow.flow"][-1] == Outputs(ARM, here.state())["elbow"]


def test_a_communication_step_is_as_many_steps_as_fit(tmp_path):
    path = to_fmu(ARM, tmp_path / "arm.fmu", state=STATE, dt=DT)
    got = run(path, 0.06, 10 * DT, u={"elbow.effort": torque})
    here = ph.simulate(ARM, STATE, 0.06, dt=DT, controller=lambda t, y: {"elbow": torque(t)}, every=10 * DT, output=10)
    np.testing.assert_array_equal(got["elbow.angle"], here["elbow.angle"])


def test_a_driven_joint_takes_its_rate_and_tells_its_effort(tmp_path):
    driven = ph.drive(ARM, "shoulder")
    state = ph.set_moving(driven, STATE, u={"shoulder": 0.5})
    path = to_fmu(driven, tmp_path / "driven.fmu", state=state, dt=DT)
    got = run(path, 0.03, DT, u={"shoulder.flow": lambda t: 0.5 + 0 * t})
    here = ph.simulate(driven, state, 0.03, dt=DT, u={"shoulder": 0.5})
    np.testing.assert_array_equal(got["elbow.angle"], here["elbow.angle"])
    supplied = ph.energy_ledger(here).supplied["shoulder"]
    work = np.cumsum(DT * 0.5 * got["shoulder.effort"][1:])
    np.testing.assert_allclose(work, supplied[1:], rtol=0, atol=1e-12 * np.abs(supplied).max())


class Held:
    """The torque of the last node."""

    def at(self, t):
        return np.array([0.0, torque(DT * np.floor(t / DT + 1e-6))])

    def mean(self, t0, t1):
        return self.at(t0)


def test_the_fmu_of_a_linear_system_moves_as_it_does(tmp_path):
    path = to_fmu(PLANT, tmp_path / "plant.fmu", dt=DT, outputs=["upper.sigma"])
    got = run(path, 0.05, DT, u={"elbow.effort": torque})
    here = march(PLANT, None, Held(), t_0=0.0, t_end=0.05, dt=DT)
    y = here.y["elbow"][:, 0]
    np.testing.assert_allclose(got["elbow.flow"], y, rtol=0, atol=1e-14 * np.abs(y).max())
    way = np.concatenate([[0.0], np.cumsum(0.5 * DT * (y[1:] + y[:-1]))])
    np.testing.assert_allclose(got["elbow.way"], way, rtol=0, atol=1e-12 * np.abs(way).max())
    sigma = here["upper.sigma"][:, 0]
    np.testing.assert_allclose(got["upper.sigma[0]"], sigma, rtol=0, atol=1e-12 * np.abs(sigma).max())


def test_fmus_of_one_name_and_of_a_module_stay_apart(tmp_path):
    one = to_fmu(PLANT, tmp_path / "one.fmu", dt=DT, name="json")
    other = to_fmu(PLANT.with_ports("elbow"), tmp_path / "two.fmu", dt=DT, name="json")
    first = run(one, 0.01, DT, u={"shoulder.effort": torque})
    second = run(other, 0.01, DT, u={"elbow.effort": torque})
    assert "shoulder.flow" in first.dtype.names
    assert "shoulder.flow" not in second.dtype.names


def test_ports_of_bodies_are_inputs_where_they_are_named(tmp_path):
    path = to_fmu(ARM, tmp_path / "arm.fmu", state=STATE, dt=DT, inputs=["lower.C"])
    names = [v.name for v in fmpy.read_model_description(str(path)).modelVariables if v.causality == "input"]
    assert names == ["lower.C.effort[0]", "lower.C.effort[1]", "lower.C.effort[2]"]


@pytest.mark.long
def test_an_fmu_runs_in_another_python_and_folder(tmp_path):
    path = to_fmu(PLANT, tmp_path / "plant.fmu", dt=DT)
    code = f"import fmpy; print(repr(float(fmpy.simulate_fmu({str(path)!r}, stop_time=0.01, step_size={DT}, "
    code += "output_interval=0.01, start_values={'elbow.effort': 0.1})['elbow.flow'][-1])))"
    (tmp_path / "empty").mkdir()
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "empty", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    here = ph.simulate(PLANT, None, 0.01, dt=DT, u={"elbow": 0.1})
    assert float(done.stdout.split()[-1]) == pytest.approx(here.y["elbow"][-1, 0], rel=1e-13)


def test_a_stretch_that_the_step_does_not_divide_has_equal_shorter_steps():
    by_hand = stepper(PLANT, None, DT)
    by_hand.inputs["elbow.effort"][:] = 0.1
    by_hand.begin(0.0)
    by_hand.advance(0.0, 2.5 * DT)
    here = ph.simulate(PLANT, None, 2.5 * DT, dt=2.5 * DT / 3, u={"elbow": 0.1})
    np.testing.assert_allclose(by_hand.outputs()["elbow.flow"], here.y["elbow"][-1], rtol=1e-13)
