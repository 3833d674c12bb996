"""Pictures over frequency show the numbers they are made of."""

import numpy as np
import pytest

import phloat as ph
from phloat.analysis.campbell import Campbell
from phloat.linear.analysis.poles_zeros import poles_zeros


@pytest.fixture(scope="module")
def arm():
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), ph.Material(E=7e10, rho=2700.0)).discretise(3)
    system = ph.connect(
        {"upper": link, "lower": link},
        plane="xy",
        joints=[ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")],
    )
    return ph.linearise(system, ph.place(system, {"upper.theta": 0.3, "lower.theta": 0.9}))


def test_several_inputs_and_outputs_show_singular_values_too(arm, tmp_path):
    found = ph.response(arm, ["shoulder", "elbow"], omega=np.geomspace(1, 1e3, 40))
    top, phase, bottom = ph.plot(found).axes
    assert [line.get_label() for line in top.lines][1] == "shoulder from elbow"
    np.testing.assert_allclose(phase.lines[0].get_ydata(), np.rad2deg(found.phase[:, 0, 0]))
    np.testing.assert_allclose(bottom.lines[1].get_ydata(), found.singular_values[:, 1])
    top.figure.savefig(tmp_path / "bode.png")


def test_the_phase_of_a_lossless_port_stays_between_a_quarter_turn_back_and_forth(arm):
    """It jumps by half a turn at every pole and zero; unwrapped as whole turns it would wander off."""
    found = ph.response(arm, "shoulder", omega=np.geomspace(1, 1e3, 400))
    np.testing.assert_allclose(np.abs(found.phase), np.pi / 2, rtol=1e-6)


def test_poles_are_crosses_and_zeros_circles(arm, tmp_path):
    found = poles_zeros(arm, "shoulder")
    (ax,) = ph.plot(found).axes
    shown = {line.get_label(): line for line in ax.lines}
    assert shown["poles"].get_marker() == "x" and shown["zeros"].get_marker() == "o"
    assert len(shown["poles"].get_ydata()) == 12 and "lie farther out" in ax.get_title()
    chosen = ph.plot(found.below(700.0)).axes[0].lines
    np.testing.assert_allclose(chosen[1].get_ydata(), found.zeros.imag[np.abs(found.zeros) < 700.0])
    ax.figure.savefig(tmp_path / "map.png")


def test_a_diagram_has_a_line_for_each_mode_and_order(tmp_path):
    rates = np.array([0.0, 1.0, 2.0])
    omega = np.array([[3.0, 5.0], [3.5, 4.0], [4.0, 3.0]])
    whirl = np.array([[0.0, 0.0], [1.0, -1.0], [1.0, -1.0]])
    growth = np.zeros((3, 2))
    growth[2, 1] = 0.5
    found = Campbell(rates, omega, growth, whirl, np.ones((3, 2)))
    (ax,) = ph.plot(found).axes
    assert [line.get_label() for line in ax.lines[:2]] == ["mode 1, forward", "mode 2, backward"]
    np.testing.assert_allclose(ax.lines[1].get_ydata(), omega[:, 1])
    assert ax.lines[2].get_marker() == "x" and list(ax.lines[2].get_xdata()) == [2.0]
    assert [text.get_text() for text in ax.texts] == ["1Ω", "2Ω", "3Ω", "4Ω"]
    np.testing.assert_array_equal(found.stable, [True, True, False])
    np.testing.assert_allclose(found.critical(2), [5 / 3, 2.0])
    ax.figure.savefig(tmp_path / "campbell.png")
