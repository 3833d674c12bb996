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
