"""What controllers and events read: the compiled outputs of a run are those of its states."""

import numpy as np
import pytest
from motion_zoo import CASES, ON_MESHES, pair, random_motion

import phloat as ph
from phloat.motion.run.outputs import Outputs

pytestmark = pytest.mark.filterwarnings(
    "ignore::phloat.errors.CurveRangeWarning", "ignore::phloat.errors.LargeTurnWarning"
)
FORCES = [
    ph.Force("b.C", along=(0.6, 0.8, 0), axes="inertial", name="push"),
    ph.Force("b.C", along=(0.6, -0.8, 0), axes="body", name="follow"),
    ph.Torque("a.P", about=(0, 0, 1), axes="body", name="twist"),
]


def apart(system: ph.System, state: ph.State, steps: int = 4) -> float:
    """The largest difference between what is read of a run and of its state, in all names, after the first call."""
    found, calls = [0.0], []

    def law(t, y):
        expected, read = Outputs(system, y.state), {name: y[name] for name in y}
        assert list(read) == list(expected)
        if len(calls) > 1:  # the second time names are known, and computed together
            found.extend(np.abs(np.subtract(read[name], expected[name])).max(initial=0.0) for name in read)
        calls.append(t)
        return {}

    ph.simulate(system, state, steps * 2e-3, dt=2e-3, controller=law)
    assert len(found) > 1
    return max(found)


@pytest.mark.parametrize(("joint", "kind", "plane"), [*CASES, *ON_MESHES])
def test_compiled_outputs_are_those_of_the_state(joint, kind, plane):
    system = pair(joint, kind, plane, *(FORCES if kind != "point" else []))
    assert apart(system, random_motion(system, 5, stressed=0.5)) < 1e-9


def test_a_distributed_load_and_a_lock_are_read_too():
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=2.1e11, rho=7800.0)).discretise(3)
    joints = [ph.Revolute("ground", "b.P", name="root"), ph.Load("b", along=(0, 1, 0), per_length=1.0, name="wind")]
    system = ph.connect({"b": beam}, joints, plane="xy")
    moving = ph.set_moving(system, ph.place(system, {"root.angle": 7.0}), {"root.angle_rate": 2.0})
    assert apart(system, moving) < 1e-9
    locked = ph.lock(system, "root")
    assert apart(locked, ph.place(locked, {"b.theta": 7.0})) < 1e-9


def test_outputs_that_are_kept_stay_what_they_were():
    """Read later, they are still those of their time."""
    wheel = ph.RigidBody(1.0, np.eye(3)).discretise()
    system = ph.connect({"w": wheel}, [ph.Revolute("ground", "w.P", name="hub")], plane="xy")
    kept = []
    state = ph.set_moving(system, ph.place(system), {"hub.angle_rate": 3.0})
    ph.simulate(system, state, 0.1, dt=0.01, controller=lambda t, y: kept.append((t, y)) or {})
    kept[0][1]["hub.angle"], kept[1][1]["hub"]  # from now on both are computed together
    np.testing.assert_allclose([y["hub.angle"] for _, y in kept], [3.0 * t for t, _ in kept], rtol=1e-3, atol=1e-12)
    np.testing.assert_allclose([y["hub"] for _, y in kept], 3.0)


def test_the_angle_of_a_turning_wheel_counts_its_turns():
    wheel = ph.RigidBody(1.0, np.eye(3)).discretise()
    hub = ph.Revolute("ground", "w.P", axis=(0, 0, -1), turned=(0, 0, 4.0), name="hub")
    system = ph.connect({"w": wheel}, [hub], plane="xy")
    state = ph.set_moving(system, ph.place(system, {"hub.angle": 19.7}), {"hub.angle_rate": 40.0})
    seen = []
    ph.simulate(system, state, 0.5, dt=0.005, controller=lambda t, y: seen.append(y["hub.angle"]) or {})
    np.testing.assert_allclose(np.diff(seen), 0.2, rtol=4e-3)
    assert seen[0] == pytest.approx(19.7)
