"""Lines of the ledger that are known by hand."""

import numpy as np
import pytest
from bodies_zoo import steel

import phloat as ph


def cart(*elements, drive: bool = False) -> ph.System:
    """A mass of 2 kg on a line along x."""
    system = ph.connect(
        {"mass": ph.PointMass(2.0).discretise()},
        [ph.Slide("ground", "mass.P", along=(1, 0, 0), name="line"), *elements],
        plane="xy",
    )
    return ph.drive(system, "line") if drive else system


DAMPER = ph.Damper("ground", "mass.P", at=(-5.0, 0.0, 0.0), damping=3.0, name="damper")


def test_a_damper_takes_what_the_mass_had():
    """ẋ = 4 exp(−c t/m): the damper took ½ m 4² (1 − exp(−2 c t/m))."""
    system = cart(DAMPER)
    state = ph.set_moving(system, ph.place(system, {}), {"mass.v_P": (4.0, 0.0)})
    result = ph.simulate(system, state, 0.5, dt=1e-3)
    ledger = ph.energy_ledger(result)
    exact = 0.5 * 2.0 * 4.0**2 * (1 - np.exp(-2 * 3.0 * result.t / 2.0))
    np.testing.assert_allclose(ledger.dissipated["damper"], exact, rtol=2e-6, atol=1e-12)
    np.testing.assert_allclose(ledger.parts["mass"]["kinetic"], 16.0 - ledger.dissipated["damper"], rtol=1e-13)
    assert ledger.supplied == {}


def test_pulling_a_damper_at_constant_speed_costs_c_v2_t():
    system = cart(DAMPER, drive=True)
    state = ph.set_moving(system, ph.place(system, {}), u={"line": 0.7})
    result = ph.simulate(system, state, 0.4, dt=1e-2, u={"line": 0.7})
    ledger = ph.energy_ledger(result)
    np.testing.assert_allclose(ledger.supplied["line"], 3.0 * 0.7**2 * result.t, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(ledger.dissipated["damper"], 3.0 * 0.7**2 * result.t, rtol=1e-11, atol=1e-13)


def test_a_constant_torque_works_by_the_angle_it_turns():
    """Through several turns, at a step of a tenth of a turn; the angle is ½ τ t²/J to second order."""
    wheel = ph.RigidBody(3.0, np.diag([0.1, 0.1, 0.2])).discretise()
    system = ph.connect({"wheel": wheel}, [ph.Revolute("ground", "wheel.P", name="hub")], plane="xy")
    result = ph.simulate(system, ph.place(system, {}), 10.0, dt=1e-2, u={"hub": 0.4})
    ledger = ph.energy_ledger(result)
    angle = result["hub.angle"]
    assert angle[-1] > 4 * 2 * np.pi
    np.testing.assert_allclose(ledger.supplied["hub"], 0.4 * angle, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(ledger.parts["wheel"]["kinetic"], 0.4 * angle, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(angle[-1], 0.5 * 0.4 * 10.0**2 / 0.2, rtol=1e-2)


def test_a_falling_body_turns_height_into_speed():
    system = ph.connect({"ball": ph.PointMass(0.3).discretise()}, gravity=(0, 0, -9.81))
    result = ph.simulate(system, ph.place(system, {}), 1.0, dt=1e-2, u={"ball.P": np.zeros(3)})
    parts = ph.energy_ledger(result).parts["ball"]
    np.testing.assert_allclose(parts["kinetic"][-1], 0.3 * 9.81 * 0.5 * 9.81, rtol=1e-12)
    np.testing.assert_allclose(parts["kinetic"], -parts["potential"], rtol=1e-11, atol=1e-13)


def test_a_bounce_is_a_line_of_the_ledger():
    """Dropped from 1 m, half the speed is left at the ground: three quarters of m g h go."""
    line = ph.Slide("ground", "ball.P", along=(0, 1, 0))
    system = ph.connect({"ball": ph.PointMass(0.3).discretise()}, [line], gravity=(0, -9.81, 0), plane="xy")

    def bounce(t: float, state: ph.State) -> ph.State:
        return state.with_values({"ball.v_P": state["ball.v_P"] * (1.0, -0.5)})

    hit = ph.Event(lambda t, y: y["ball.r_P"][1], do=bounce, direction=-1, name="bounce")
    result = ph.simulate(system, ph.place(system, {"ball.r_P": (0.0, 1.0)}), 0.8, dt=1e-2, events=[hit])
    assert len(result.info["events"]) == 1
    ledger = ph.energy_ledger(result)
    np.testing.assert_allclose(ledger.supplied["event bounce"][-1], -0.75 * 0.3 * 9.81, rtol=1e-9)
    assert ledger.supplied["event bounce"][0] == 0.0
    assert ledger.relative < 1e-12


@pytest.mark.filterwarnings("ignore::phloat.errors.LargeDeformationWarning")  # a soft strip
def test_the_spring_gives_what_the_beam_takes():
    """A bent beam let go against a spring without any loss: their sum stays."""
    strip = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel).discretise(3)
    system = ph.connect(
        {"strip": strip},
        [
            ph.Weld("ground", "strip.P"),
            ph.Spring("ground", "strip.C", at=(0.5, 0.2, 0.0), stiffness=50.0, length=0.1, name="spring"),
        ],
        plane="xy",
    )
    ledger = ph.energy_ledger(ph.simulate(system, ph.place(system, {}), 0.2, dt=1e-3))
    assert ledger.stored["spring"][0] == pytest.approx(0.5 * 50.0 * 0.1**2)
    assert np.ptp(ledger.stored["spring"]) > 0.05
    np.testing.assert_allclose(ledger.stored["strip"] + ledger.stored["spring"], 0.25, rtol=1e-11)
