"""What the first steps must already show: the books of everything at once, few iterations, few factorisations.

Short enough to run with compilation off.
"""

import numpy as np
import pytest
from bodies_zoo import bodies

import phloat as ph

ELEMENTS = [
    ph.Spring("ground", "b.C", at=(0.3, 1.4, 0.0), stiffness=70.0, length=0.6, name="spring"),
    ph.Damper("ground", "b.C", at=(-0.5, 0.2, 0.0), damping=5.0, name="damper"),
    ph.JointSpring("j", stiffness=12.0, rest=0.3, name="joint spring"),
    ph.JointDamper("j", damping=1.5, name="joint damper"),
    ph.Torque("a.C", about=(0, 0, 2), name="torque"),
]
DT, STEPS = 2e-3, 4
RIGID = ph.RigidBody(2.5, np.diag([0.4, 0.5, 0.6]), center=(0.1, -0.2, 0.0), ports={"C": (0.5, 0.2, 0.0)}).discretise()


def moving(plane: str | None, motor: str) -> tuple[ph.System, dict]:
    """A damped beam on a rigid body on a motor, with a spring and a damper of each kind, gravity and a torque."""
    first = ph.Drive("ground", "a.P", name="m") if motor == "pin" else ph.Revolute("ground", "a.P", name="m")
    parts = {"a": RIGID, "b": bodies()["damped beam"]}
    joints = [first, ph.Revolute("a.C", "b.P", name="j"), *ELEMENTS]
    system = ph.connect(parts, joints, gravity=(0.7, -9.81, 0.0 if plane else 1.3), plane=plane)
    own = {
        "effort": lambda t: 20.0 * np.cos(9.0 * t),
        "rate": lambda t: 3.0 + np.sin(30.0 * t),
        "pin": lambda t: np.array([1.0, -2.0, 0.5])[: 2 if plane else 3] * np.sin(30.0 * t + 0.2),
    }
    return ph.drive(system, "m") if motor == "rate" else system, {"m": own[motor], "torque": 4.0}


@pytest.mark.parametrize(
    ("plane", "motor"), [("xy", "effort"), ("xy", "rate"), ("xy", "pin"), (None, "effort"), (None, "pin")]
)
def test_the_books_close_from_the_first_step_on(plane, motor):
    system, u = moving(plane, motor)
    state = ph.set_moving(system, ph.place(system, {"j.angle": 0.4}), {"j.angle_rate": 2.0}, u=u)
    result = ph.simulate(system, state, STEPS * DT, dt=DT, u=u)
    ledger = ph.energy_ledger(result)
    assert not result.info["halved"]
    assert result.info["steps"] == STEPS
    assert ledger.relative < 1e-12
    np.testing.assert_allclose(
        ledger.energy, [ph.energy(system, result.state(k)) for k in range(STEPS + 1)], rtol=1e-11
    )
    assert all(np.abs(line[1:]).min() > 1e-9 for line in ledger.supplied.values())
    for name, line in ledger.dissipated.items():
        assert np.diff(line).min() > 0.0, name
    mean = 0.5 * (result["b.eta_dot"][1:] + result["b.eta_dot"][:-1])
    lost = DT * np.einsum("tk,kl,tl->t", mean, system.bodies["b"].elastic.R_d.toarray(), mean)
    np.testing.assert_allclose(np.diff(ledger.dissipated["b"]), lost, rtol=1e-9)
    if plane:
        turned = 0.5 * DT * (result["a.omega"][1:] + result["a.omega"][:-1])
        np.testing.assert_allclose(np.diff(ledger.supplied["torque"]), 4.0 * turned, rtol=1e-9)
        np.testing.assert_allclose(np.diff(result["a.theta"]), 2.0 * np.arctan(0.5 * turned), rtol=1e-9)


def swing(dt: float, steps: int, scheme: ph.Midpoint | ph.Composition4 | None = None) -> ph.Result:
    """A rigid pendulum with a pendulum, in the plane."""
    J = np.diag([0.4, 0.5, 0.6])
    body = ph.RigidBody(2.5, J, center=(0.3, -0.2, 0.0), ports={"C": (0.5, 0.2, 0.0)}).discretise()
    hinges = [ph.Revolute("ground", "a.P", name="m"), ph.Revolute("a.C", "b.P", name="j")]
    system = ph.connect({"a": body, "b": body}, hinges, gravity=(0, -9.81, 0), plane="xy")
    state = ph.set_moving(system, ph.place(system, {"j.angle": 0.4}), {"m.angle_rate": 3.0, "j.angle_rate": -2.0})
    return ph.simulate(system, state, steps * dt, dt=dt, **({} if scheme is None else {"scheme": scheme}))


def test_the_steps_before_tell_where_the_next_one_goes():
    """A parabola through three steps is right to h³, so that few iterations are left; without it there are a third more."""
    first, later = (swing(5e-3, n).info for n in (3, 12))
    assert later["iterations"] - first["iterations"] <= 3 * 9 + 1
    assert later["most iterations"] <= 4
    assert swing(5e-5, 12).info["iterations"] <= 30
    assert swing(5e-3, 6, ph.Composition4()).info["iterations"] <= 65
    assert later["stalled"] == 0


def test_factors_are_kept_while_they_serve():
    assert swing(5e-5, 12).info["factorisations"] <= 2
    loose = swing(5e-3, 12, ph.Midpoint(newton=1e-8)).info
    assert loose["factorisations"] <= 8
    assert loose["iterations"] <= 30
    assert swing(5e-3, 6, ph.Composition4()).info["factorisations"] <= 31


def test_very_long_steps_are_solved_or_halved():
    """Half a turn and more in a step: Newton's method begins far away, and energy is kept all the same."""
    result = swing(0.4, 5)
    assert ph.energy_ledger(result).relative < 1e-12
    assert not result.info["halved"]
    assert result.info["iterations"] <= 40


def test_reactions_are_means_of_the_steps_beside_their_time():
    """In free fall about the mass centre nothing is felt; at rest the hinge carries the weight, from the first row to the last."""
    body = ph.RigidBody(2.0, np.eye(3), center=(0.0, -0.5, 0.0)).discretise()
    system = ph.connect({"a": body}, [ph.Revolute("ground", "a.P", name="m")], gravity=(0, -9.81, 0), plane="xy")
    result = ph.simulate(system, ph.place(system), 5e-3, dt=1e-3)
    np.testing.assert_allclose(result.lam, np.tile([0.0, 2.0 * 9.81], (6, 1)), atol=1e-11)
