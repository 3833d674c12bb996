"""Pictures show what they should: lines where the bodies are."""

import numpy as np
import pytest
from bodies_zoo import steel

import phloat as ph


@pytest.fixture(scope="module")
def hung():
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.01), steel).discretise(2)
    system = ph.connect(
        {"a": link, "b": link}, joints=[ph.Weld("ground", "a.P"), ph.Revolute("a.C", "b.P", name="pin")]
    )
    state = ph.place(system, {"pin.angle": 0.5})
    return system, state, ph.linearise(system, state)


def test_a_system_is_drawn_where_it_stands(hung, tmp_path):
    system, state, _ = hung
    figure = ph.plot(system, state)
    line = figure.axes[0].lines[0].get_xdata()
    assert line[0] == 0.0 and line[-1] == pytest.approx(0.5)
    figure.savefig(tmp_path / "system.png")


def test_modes_are_drawn_over_the_undeformed_bodies(hung, tmp_path):
    found = ph.modes(hung[2])
    figure = ph.plot(found)
    titles = [ax.get_title() for ax in figure.axes]
    assert f"{found.elastic[0]:.5g} rad/s" in titles[0]
    figure.savefig(tmp_path / "modes.png")


def test_a_response_is_drawn_as_magnitude_and_phase(hung, tmp_path):
    bode = ph.response(hung[2], "pin", omega=np.geomspace(1, 1e3, 20))
    top, bottom = ph.plot(bode).axes
    np.testing.assert_allclose(top.lines[0].get_ydata(), bode.magnitude[:, 0, 0])
    assert "°" in bottom.get_ylabel()


def test_a_linear_system_is_drawn_as_its_matrices(hung):
    figure = ph.plot(hung[2])
    assert {ax.get_title().split()[0] for ax in figure.axes} >= {"E", "J", "R", "B", "G"}


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(ph.InputError, match="no picture of int"):
        ph.plot(3)


@pytest.fixture(scope="module")
def swung(hung):
    system, state, _ = hung
    return ph.simulate(system, state, 0.05, dt=1e-3, u={"pin": 2.0})


def test_a_result_is_drawn_over_time(swung, tmp_path):
    figure = ph.plot(swung)
    labels = [ax.get_ylabel() for ax in figure.axes]
    assert labels == ["deformation (m)", "joint angle (rad)", "energy (J)"]
    bent, angle, energy = figure.axes
    np.testing.assert_allclose(bent.lines[0].get_ydata(), swung.displacement("a", s=1.0)[:, 1])
    assert bent.lines[0].get_label() == "a, y at s = 1"
    np.testing.assert_allclose(angle.lines[0].get_ydata(), swung["pin.angle"])
    np.testing.assert_allclose(energy.lines[-1].get_ydata(), swung.energy)
    figure.savefig(tmp_path / "result.png")


def test_a_ledger_is_drawn_with_its_residual_beneath(swung, tmp_path):
    ledger = ph.energy_ledger(swung)
    figure = ph.plot(ledger)
    stored, since, missing = figure.axes
    np.testing.assert_allclose(stored.lines[-1].get_ydata(), swung.energy)
    assert [line.get_label() for line in since.lines] == ["pin", "stored"]
    assert missing.get_yscale() == "log"
    assert f"{ledger.relative:.1e}" in missing.get_title(loc="right")
    figure.savefig(tmp_path / "ledger.png")


def test_a_body_in_free_flight_is_drawn_by_its_position(tmp_path):
    system = ph.connect({"ball": ph.PointMass(0.3).discretise()}, gravity=(0, -9.81, 0), plane="xy")
    nothing = {"ball.P": np.zeros(2)}
    falling = ph.simulate(system, ph.place(system, {}), 0.05, dt=1e-2, u=nothing)
    figure = ph.plot(falling)
    assert [line.get_label() for line in figure.axes[0].lines] == ["ball, x", "ball, y"]
    figure.savefig(tmp_path / "flight.png")
    resting = ph.connect({"ball": ph.PointMass(0.3).discretise()}, plane="xy")
    still = ph.energy_ledger(ph.simulate(resting, ph.place(resting, {}), 0.05, dt=1e-2, u=nothing))
    assert still.relative == 0.0
    ph.plot(still).savefig(tmp_path / "still.png")
