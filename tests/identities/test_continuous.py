"""The continuous equations that Radau, IDA and generalised-α step through, against the paper's matrices."""

import numpy as np
import pytest

import phloat as ph
from phloat.motion.continuous.flow import Flow
from phloat.motion.initial.accelerations import accelerations
from phloat.motion.initial.velocities import velocity_indices
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.run.run import Run
from phloat.motion.run.task import Task

SOFT = ph.Material(E=1e5, rho=2714.0, nu=0.33)  # elastic forces no larger than those of inertia, which they would hide
JOINTS = (ph.Revolute, ph.Universal, ph.Cylindrical, ph.Prismatic, ph.Planar, ph.Spherical, ph.Weld)
T = 0.3


def bent(joint):
    """A driven hub, a beam, a joint between bending ends and a second beam with a spring: deformed and moving."""
    beam = ph.Beam(
        length=0.5, section=ph.Rectangle(0.02, 0.01), material=SOFT, damping=ph.KelvinVoigt(1e-4)
    ).discretise(2)
    joints = [ph.Drive("ground", "a.P", of="pose", name="hub"), joint("a.C", "b.P", name="joint")]
    joints += [
        ph.Spring("ground", "b.C", at=(1.0, 0.5, 0.2), stiffness=300.0, length=0.2),
        ph.Damper("a.P", "b.C", damping=3.0),
    ]
    system = ph.connect({"a": beam, "b": beam}, joints=joints, gravity=(0, 0, -9.81))
    u = {"hub": lambda t: np.array([np.sin(t), t, 0.3, 1.0 + t, 2.0 * t, 3.0]), "b.C": (1.0, 2.0, 3.0, 0.1, 0.2, 0.3)}
    random = np.random.default_rng(1)
    eta = {f"{name}.eta": 0.02 * random.normal(size=beam.coordinates) for name in ("a", "b")}
    rates = {f"{name}.eta_dot": random.normal(size=beam.coordinates) for name in ("a", "b")}
    state = ph.place(system, eta)
    inputs = Inputs(system, u)
    state = ph.set_moving(system, state, {"a.eta_dot": rates["a.eta_dot"]}, u={"hub": inputs.signals["hub"].at(T)})
    task = Task(system, state, T, T + 1.0, None, inputs)
    return Flow(Run(task)), state, inputs


@pytest.mark.parametrize("joint", JOINTS)
def test_rates_of_rows_are_the_derivatives_of_their_gaps(joint):
    flow, _, _ = bent(joint)
    y, yd = flow.consistent(T, flow.start())
    s, zero, F = flow.inputs(T), np.zeros(flow.size), np.empty(flow.size)
    y[flow.v] += np.random.default_rng(2).normal(size=flow.v.stop - flow.v.start)  # rates that do not vanish
    yd[flow.q] = -flow.residual(s, y, zero, F)[flow.q]
    rate = flow.residual(s, y, zero, F)[flow.lam].copy()
    step = 1e-5
    gaps = [flow.residual(s, y + k * step * yd, zero, F)[flow.mu].copy() for k in (-2, -1, 1, 2)]
    wanted = (gaps[0] - 8 * gaps[1] + 8 * gaps[2] - gaps[3]) / (12 * step)
    assert np.abs(rate - wanted).max() < 1e-9 * np.abs(rate).max()


@pytest.mark.parametrize("joint", JOINTS)
def test_accelerations_and_multipliers_are_those_of_the_papers_equations(joint):
    flow, state, inputs = bent(joint)
    y, yd = flow.consistent(T, flow.start())
    e_dot, lam = accelerations(flow.task.system, state, inputs, T)
    assert np.abs(flow.residual(flow.inputs(T), y, yd, np.empty(flow.size))[flow.v]).max() < 1e-7 * np.abs(lam).max()
    step = 1e-7
    after, before = (flow.state(flow.inputs(T), y + k * step * yd).e for k in (1, -1))
    where = velocity_indices(flow.task.system)
    size = np.abs(e_dot[where]).max()
    assert np.abs((after - before)[where] / (2 * step) - e_dot[where]).max() < 1e-6 * size
    _, found, _ = flow.snapshot(T, flow.inputs(T), y, np.zeros(2 * len(flow.assembly.packed.entries) + 2))
    assert np.abs(found[: len(lam)] - lam).max() < 1e-6 * np.abs(lam).max()


@pytest.mark.parametrize("joint", JOINTS)
def test_derivatives_are_those_of_the_residual(joint):
    flow, _, _ = bent(joint)
    y, yd = flow.consistent(T, flow.start())
    s, F = flow.inputs(T), np.empty(flow.size)
    random = np.random.default_rng(3)
    by_y, by_yd = (np.asarray(flow.matrix(data)) for data in flow.derivatives(s, y, yd))
    for matrix, along in ((by_y, 0), (by_yd, 1)):
        x = random.normal(size=flow.size)
        x[flow.lam.start :] *= 1.0 - along
        step, ends = 1e-6, []
        for k in (1, -1):
            move = (y + k * step * x, yd) if along == 0 else (y, yd + k * x)
            ends.append(flow.residual(s, *move, F).copy())
        wanted = (ends[0] - ends[1]) / (2 * step if along == 0 else 2)
        for part in (flow.q, flow.v, flow.d, flow.lam, flow.mu):
            assert np.abs((matrix @ x - wanted)[part]).max() <= 1e-5 * max(np.abs(wanted[part]).max(), 1e-9)
