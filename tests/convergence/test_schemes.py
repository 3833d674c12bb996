"""Orders of the other schemes: generalised-α in its step, Radau IIA and IDA in their tolerances."""

import numpy as np
import pytest

import phloat as ph


def flexible_pendulum():
    """A beam that falls from the horizontal, soft enough that a step of a millisecond resolves its first bending modes."""
    steel = ph.Material(E=2e9, rho=7800.0, nu=0.3)
    beam = ph.Beam(length=1.0, section=ph.Rectangle(0.02, 0.02), material=steel).discretise(1)
    system = ph.connect(
        {"beam": beam}, joints=[ph.Revolute("ground", "beam.P", name="hinge")], plane="xy", gravity=(0, -9.81, 0)
    )
    return system, ph.settle(system, ph.place(system, {}))


def swinging_top():
    ports = {"e": (0.3, 0, 0)}
    body = ph.RigidBody(
        mass=1.0, inertia=np.diag([0.02, 0.03, 0.04]), center=(0.1, 0.02, 0.03), ports=ports
    ).discretise()
    joints = [ph.Spherical("ground", "a.P"), ph.Revolute("a.e", "b.P")]
    system = ph.connect({"a": body, "b": body}, joints=joints, gravity=(0, 0, -9.81))
    return system, ph.set_moving(system, ph.place(system, {}), {"a.omega": (1.0, 2.0, 3.0)})


def ends(result):
    places = [result.position(body, s=0.0)[-1] for body in result.system.bodies]
    turns = [result[name][-1].ravel() for name in result.system.layout if name.endswith((".A_IB", ".theta", ".eta"))]
    return np.concatenate([*places, *turns])


@pytest.mark.parametrize("rho", [0.5, 0.9])
@pytest.mark.parametrize("build", [swinging_top, flexible_pendulum])
def test_generalised_alpha_is_of_second_order_in_positions(build, rho):
    system, state = build()
    exact = ends(ph.simulate(system, state, 0.25, scheme=ph.RadauIIA(1e-10, 1e-12)))
    errors = []
    for steps in (125, 250, 500):
        result = ph.simulate(system, state, 0.25, dt=0.25 / steps, scheme=ph.GeneralisedAlpha(rho), output=steps)
        errors.append(np.abs(ends(result) - exact).max())
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert rates == pytest.approx([2.0, 2.0], abs=0.25)


def test_generalised_alpha_is_of_second_order_in_multipliers():
    system, state = swinging_top()
    exact = ph.simulate(system, state, 0.25, scheme=ph.RadauIIA(1e-10, 1e-12)).lam[-1]
    errors = [
        np.abs(ph.simulate(system, state, 0.25, dt=0.25 / n, scheme=ph.GeneralisedAlpha(0.8)).lam[-1] - exact).max()
        for n in (125, 250, 500)
    ]
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([2.0, 2.0], abs=0.25)


def test_radau_is_of_fifth_order():
    system, state = swinging_top()
    exact = ends(ph.simulate(system, state, 0.5, scheme=ph.RadauIIA(1e-11, 1e-13)))
    errors, steps = [], []
    for rtol in (1e-5, 1e-7, 1e-9):
        result = ph.simulate(system, state, 0.5, scheme=ph.RadauIIA(rtol, 1e-2 * rtol))
        errors.append(np.abs(ends(result) - exact).max())
        steps.append(result.info["steps"])
    rates = -np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert rates.min() > 4.0


@pytest.mark.parametrize("scheme", [ph.RadauIIA, ph.IDA])
def test_errors_follow_the_tolerance(scheme):
    system, state = swinging_top()
    exact = ends(ph.simulate(system, state, 0.5, scheme=ph.RadauIIA(1e-11, 1e-13)))
    errors = [
        np.abs(ends(ph.simulate(system, state, 0.5, scheme=scheme(rtol, 1e-2 * rtol))) - exact).max()
        for rtol in (1e-4, 1e-6, 1e-8)
    ]
    assert errors[0] < 1e-2
    assert errors[1] < 0.1 * errors[0]
    assert errors[2] < 0.1 * errors[1]


@pytest.mark.parametrize("scheme", [ph.RadauIIA, ph.IDA])
def test_what_the_scheme_loses_follows_the_tolerance(scheme):
    system, state = swinging_top()
    lost = [
        ph.energy_ledger(ph.simulate(system, state, 0.5, scheme=scheme(rtol, 1e-2 * rtol))).relative
        for rtol in (1e-4, 1e-7)
    ]
    assert lost[1] < 0.05 * lost[0]
