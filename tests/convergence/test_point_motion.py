"""Accelerations of points converge with the second order of the step, at the ends of a run as within it."""

import numpy as np
import pytest

import phloat as ph
from phloat.motion.initial.accelerations import accelerations
from phloat.motion.inputs.inputs import Inputs

RUBBER = {"material": ph.Material(E=2e7, rho=1200.0, nu=0.3), "damping": ph.KelvinVoigt(5e-3)}


def pendulum(kind: str, plane: str | None) -> tuple[ph.System, ph.State]:
    """Two soft links in space or in a plane, settled in a fast fall."""
    bodies = {
        "rigid": ph.RigidBody(
            0.4, 0.01 * np.eye(3), center=(0.2, 0.02, 0.0), ports={"C": (0.5, 0.0, 0.0)}
        ).discretise(),
        "beam": ph.Beam(0.5, ph.Rectangle(0.04, 0.05), **RUBBER).discretise(2).reduced(modes=1, axial=1, torsion=1),
        "plate": ph.Plate.rectangle(0.5, 0.2, thickness=0.05, **RUBBER, frame="left", ports={"P": "left", "C": "right"})
        .discretise((4, 2))
        .reduced(modes=1),
        "solid": ph.Solid.box(0.5, 0.05, 0.05, **RUBBER, frame="left", ports={"P": "left", "C": "right"})
        .discretise((4, 1, 1))
        .reduced(modes=1),
    }
    joints = [ph.Revolute("ground", "a.P", name="one"), ph.Revolute("a.C", "b.P", name="two")]
    system = ph.connect({"a": bodies[kind], "b": bodies[kind]}, joints, plane=plane, gravity=(0.0, -9.81, 0.0))
    start = ph.set_moving(system, ph.place(system, {"two.angle": 0.5}), {"one.angle_rate": 2.0, "two.angle_rate": -3.0})
    return system, ph.settle(system, start)


def exact(system: ph.System, states: list[ph.State]) -> np.ndarray:
    """The acceleration of b.C at states from the equations of motion: A (v̇ + ω × v + …) with y = x + Φη."""
    out = []
    for state in states:
        e_dot, _ = accelerations(system, state, Inputs(system, None), 0.0)
        rates, pose, port = ph.State(state.bodies, state.layout, e_dot), state.pose("b"), state.bodies["b"].ports["C"]
        omega, omega_dot = pose.omega, np.zeros(3)
        omega_dot[3 - np.size(rates["b.omega"]) :] = rates["b.omega"]
        v_dot, eta_2 = np.zeros(3), rates["b.eta_dot"] if pose.eta.size else pose.eta
        v_dot[: rates["b.v_P"].size] = rates["b.v_P"]
        y, y_dot, y_2 = port.x + port.Phi @ pose.eta, port.Phi @ pose.rates, port.Phi @ eta_2
        v = pose.v_P + np.cross(omega, y) + y_dot
        a = v_dot + np.cross(omega_dot, y) + np.cross(omega, y_dot) + y_2 + np.cross(omega, v)
        out.append((pose.A @ a)[: len(state["b.r_P"])])
    return np.array(out)


@pytest.mark.parametrize(
    ("kind", "plane"),
    [("rigid", "xy"), ("rigid", None), ("beam", "xy"), ("beam", None), ("plate", None), ("solid", None)],
)
def test_accelerations_are_of_second_order(kind, plane):
    system, start = pendulum(kind, plane)
    times = np.linspace(0.0, 0.2, 11)
    reference = ph.simulate(system, start, 0.2, scheme=ph.RadauIIA(rtol=1e-9), output=times)
    wanted, misses = exact(system, [reference.state(k) for k in range(len(times))]), []
    for steps in (100, 200):
        result = ph.simulate(system, start, 0.2, dt=0.2 / steps)
        misses.append(np.abs(result.acceleration("b.C")[:: steps // 10] - wanted).max(axis=1))
    coarse, fine = misses
    assert 3.0 < coarse.max() / fine.max() < 6.0
    assert coarse.max() < 3e-3 * np.abs(wanted).max()
    assert coarse[1:-1].max() < 5e-4 * np.abs(wanted).max()
