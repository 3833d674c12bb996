"""Accelerations of points and torques of joints, against answers known from elsewhere."""

import numpy as np
import pytest

import phloat as ph

ALU = ph.Material(E=7e10, rho=2700.0, nu=0.33)


def turning(body: ph.Body, rate: float) -> ph.Result:
    """A body on a hinge at the origin that is driven about z at a constant rate, settled."""
    system = ph.drive(ph.connect({"b": body}, [ph.Revolute("ground", "b.P", name="hub")]), "hub")
    start = ph.set_moving(system, ph.place(system), u={"hub": rate})
    start = ph.settle(system, start, u={"hub": rate})
    return ph.simulate(system, start, 0.5, dt=5e-4, u={"hub": rate})


BODIES = {
    "rigid": ph.RigidBody(1.0, np.eye(3), center=(0.5, 0, 0), ports={"tip": (1.0, 0.0, 0.1)}).discretise(),
    "beam": ph.Beam(1.0, ph.Rectangle(0.02, 0.02), ALU, ports={"tip": 1.0}).discretise(2),
    "plate": ph.Plate.rectangle(
        1.0, 0.2, thickness=0.02, material=ALU, frame="left", ports={"P": "left", "tip": "right"}
    )
    .discretise((4, 1))
    .reduced(modes=1, stiffened=2),
    "solid": ph.Solid.box(1.0, 0.1, 0.1, material=ALU, frame="left", ports={"P": "left", "tip": "right"})
    .discretise((4, 1, 1))
    .reduced(modes=1, stiffened=2),
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_point_that_turns_steadily_accelerates_towards_the_axis(kind):
    """a = −Ω² r with the radius of the stretched body, and v = Ω × r."""
    result = turning(BODIES[kind], 3.0)
    r = result.position("b.tip")
    towards = np.column_stack([r[:, :2], 0 * r[:, 2]])
    np.testing.assert_allclose(result["b.tip.acceleration"], -9.0 * towards, atol=1e-3)
    np.testing.assert_allclose(
        result["b.tip.velocity"], 3.0 * np.column_stack([-r[:, 1], r[:, 0], 0 * r[:, 2]]), atol=1e-4
    )


def test_a_falling_body_accelerates_with_gravity_at_every_point():
    body = BODIES["beam"]
    system = ph.connect({"b": body}, gravity=(0.0, -9.81, 0.0))
    result = ph.simulate(system, ph.place(system), 0.1, dt=1e-3)
    for acceleration in (
        result["b.acceleration"],
        result.acceleration("b", s=0.3),
        result.acceleration("b", at=(0.5, 0.01, 0)),
    ):
        np.testing.assert_allclose(acceleration, [(0.0, -9.81, 0.0)] * len(result), atol=1e-7)


def test_the_torque_of_a_drive_turns_the_inertia_and_carries_the_weight():
    """τ = J θ̈ + m g l cos θ, for θ = t²."""
    arm = ph.RigidBody(2.0, 0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    system = ph.drive(
        ph.connect({"b": arm}, [ph.Revolute("ground", "b.P", name="motor")], plane="xy", gravity=(0, -9.81, 0)), "motor"
    )
    result = ph.simulate(system, ph.place(system), 1.0, dt=1e-3, u={"motor": ph.prescribed_position(lambda t: t**2)})
    expected = 0.6 * 2.0 + 2.0 * 9.81 * 0.5 * np.cos(result.t**2)
    np.testing.assert_allclose(result["motor.torque"][1:-1], expected[1:-1], atol=3e-5)
    np.testing.assert_allclose(result["motor.torque"], expected, atol=1e-2)


def test_the_force_of_a_lifting_rail_carries_the_weight():
    box = ph.RigidBody(3.0, np.eye(3)).discretise()
    rail = ph.Prismatic("ground", "b.P", axis=(0, 0, 1), name="lift")
    system = ph.drive(ph.connect({"b": box}, [rail], gravity=(0, 0, -9.81)), "lift")
    result = ph.simulate(system, ph.place(system), 0.1, dt=1e-3, u={"lift": lambda t: 2.0 * t})
    np.testing.assert_allclose(result["lift.force"], 3.0 * (9.81 + 2.0), rtol=1e-9)
    np.testing.assert_allclose(result["lift.rate"], 2.0 * result.t, atol=1e-9)
