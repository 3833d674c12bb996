"""Numbers with units are the numbers they should be, to the last digit; signals are the functions they say."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, strategies as st
from messages import raises

import phloat as ph
from phloat.algebra.units import FORCE, QUANTITIES, STRESS, Dimension, parse_number, parse_unit
from phloat.files.inputs import Circling, InTime, Move, Pulse, Sine, SpinUp, Sum

PI = np.pi


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("6 mm", 6e-3),
        ("6mm", 6e-3),
        ("30 cm", 0.3),
        ("33.37785 g", 0.03337785),
        ("200 GPa", 200e9),
        ("1 in", 0.0254),
        ("1 psi", 6894.757293168361),
        ("1 lbf", 4.4482216152605),
        ("2 kN/m", 2000.0),
        ("3 N s/m", 3.0),
        ("160 mm^4", 160e-12),
        ("160 mm4", 160e-12),
        ("160 mm⁴", 160e-12),
        ("160 mm**4", 160e-12),
        ("7.87 g/cm^3", 7870.0),
        ("5 N·mm", 5e-3),
        ("5 N*mm", 5e-3),
        ("0.1 1/s", 0.1),
        ("1200 rpm", 40 * PI),
        ("50 Hz", 100 * PI),
        ("30 deg", PI / 6),
        ("30°", PI / 6),
        ("2 deg/s", PI / 90),
        ("1 rev/min", PI / 30),
        ("5 N m/rad", 5.0),
        ("5 N m/deg", 900 / PI),
        ("9.81 m/s²", 9.81),
        ("9.81 m s⁻²", 9.81),
        ("5 %", 0.05),
        ("-1.5e-3 kN", -1.5),
        (".5 ms", 5e-4),
        ("4", 4.0),
    ],
)
def test_a_unit_makes_the_si_number(text, value):
    found = parse_number(text).value
    assert found == pytest.approx(value, rel=4e-16, abs=0.0)


@given(
    st.decimals(min_value="-1e6", max_value="1e6", places=7),
    st.sampled_from([("mm", 3), ("us", 6), ("g", 3), ("cm", 2)]),
)
def test_decimals_lose_nothing_in_a_unit(number, unit):
    name, power = unit
    assert (
        parse_number(f"{number} {name}").value == float(number.scaleb(-power)) == float(Decimal(number).scaleb(-power))
    )


def test_units_have_their_dimensions():
    assert parse_unit("N").dimension == FORCE == parse_unit("kg m/s^2").dimension
    assert parse_unit("N/mm^2").dimension == STRESS
    assert parse_unit("N m/rad").dimension == QUANTITIES["torsional stiffness"][0]
    assert parse_unit("W").dimension == parse_unit("N m/s").dimension
    assert Dimension(kg=1, m=2, s=-2).fits(QUANTITIES["torsional stiffness"][0])  # N m for N m/rad
    assert not Dimension(rad=1).fits(QUANTITIES["number"][0])


@pytest.mark.parametrize(
    "text", ["", "mm", "6 furlongs", "6 mm/", "1e4000 m", "0x10", "1_000", "6 m^", "--6", "6 m;import os", "9" * 90]
)
def test_what_is_no_number_is_said(text):
    with raises(ph.errors.InputError):
        parse_number(text)


def inputs(text: str, plane: str = "plane: xy\n") -> dict:
    model = f"phloat: 1\n{plane}bodies: {{a: {{point mass: 1}}}}\ninputs:\n  a.P: {text}\n"
    return ph.io.parse_model(model).inputs["a.P"]


def test_signals_are_what_they_say():
    t = np.linspace(0.0, 3.0, 31)
    sine = inputs("{sine: {amplitude: [2, 0], rate: 0.5 Hz, phase: 90 deg, offset: [0, 1]}}")
    assert sine == Sine((2.0, 0.0), PI, PI / 2, (0.0, 1.0))
    np.testing.assert_allclose([sine(x) for x in t], np.column_stack([2 * np.cos(PI * t), np.ones_like(t)]), atol=1e-14)
    assert inputs("{pulse: {value: 3 N, start: 1, end: 2}}") == Pulse(3.0, 1.0, 2.0)
    assert [float(Pulse(3.0, 1.0, 2.0)(x)) for x in (0.9, 1.0, 1.99, 2.0)] == [0.0, 3.0, 3.0, 0.0]
    line = inputs("{polynomial: {coefficients: [1, 2, 3], start: 1, end: 2}}")
    assert [float(line(x)) for x in (0.0, 1.0, 1.5, 2.0, 9.0)] == [1.0, 1.0, 2.75, 6.0, 6.0]
    assert inputs("{polynomial: [1, 2]}") == InTime((1.0, 2.0))
    both = inputs("{sum: [{pulse: {value: 1, end: 1}}, {polynomial: [0, 1]}]}")
    assert isinstance(both, Sum) and float(both(0.5)) == 1.5
    corners = inputs("{piecewise: {2: 4, 0 s: 0}}")
    assert float(corners(1.0)) == 2.0 and float(corners(5.0)) == 4.0
    times, values = inputs("{table: {times: [0, 1 s], values: [[0, 1], [2, 3]]}}")
    assert times.tolist() == [0.0, 1.0] and values.shape == (2, 2)
    assert inputs("[1 N, 2 N]") == (1.0, 2.0)


def test_a_pin_on_a_circle_has_the_velocity_of_its_path():
    pin = inputs("{circle: {radius: 0.2, rate: 3, phase: 0.4}}")
    assert pin == Circling(0.2, 3.0, 0.4) and inputs("{circle: {radius: 0.2, rate: 3}}", plane="").space
    h, t = 1e-5, 0.7

    def path(x: float) -> np.ndarray:
        return 0.2 * np.array([np.cos(3 * x + 0.4), np.sin(3 * x + 0.4)])

    np.testing.assert_allclose(pin(t), (path(t + h) - path(t - h)) / (2 * h), rtol=1e-8)


def test_a_move_and_a_spin_up_end_as_they_should():
    move = inputs("{move: {from: 1, to: 3, over: 0.5, start: 1}}")
    assert isinstance(move, Move) and [move(x) for x in (0.0, 1.0, 1.25, 1.5, 9.0)] == [1.0, 1.0, 2.0, 3.0, 3.0]
    spin = inputs("{spin up: {rate: 6, over: 15}}")
    assert isinstance(spin, SpinUp)
    assert spin(15.0) == pytest.approx(spin(15.0 + 1e-12)) == pytest.approx(45.0)
    rates = [(spin(x + 1e-6) - spin(x - 1e-6)) / 2e-6 for x in (1e-3, 7.5, 15.0, 18.0)]
    np.testing.assert_allclose(rates, [0.0, 3.0, 6.0, 6.0], atol=1e-6)


def test_a_taper_of_circles_is_a_cone():
    cone = ph.Taper({0.0: ph.Circle(0.02), 1.0: ph.Circle(0.01)})
    assert cone(0.25).diameter == pytest.approx(0.0175) and cone(1.0) == ph.Circle(0.01)
    mixed = ph.Taper({0.0: ph.Circle(0.02), 1.0: ph.Rectangle(0.01, 0.01)})
    assert mixed(0.5).A == pytest.approx(0.5 * (ph.Circle(0.02).A + 1e-4))
    blade = [
        ph.Beam(1.0, s, ph.Material(7e10, 2700.0)).discretise(6) for s in (cone, lambda s: ph.Circle(0.02 - 0.01 * s))
    ]
    np.testing.assert_allclose(*(ph.modes(b.linear()).elastic[:6] for b in blade), rtol=1e-9)
    assert "rod.section.stations[1].diameter" in ph.parameters(
        ph.connect({"rod": blade[0]}, [ph.Weld("ground", "rod.P")])
    )


# --- the same texts in Python ----------------------------------------------------------------------------------------


def test_texts_in_python_mean_what_they_mean_in_files():
    text = """phloat: 1
bodies:
  rod:
    beam:
      {length: 30 cm, section: {tube: {diameter: 6 mm, wall: 1 mm}}, material: {E: 70 GPa, rho: 2.7 g/cm^3}, masses: {0.5: 10 g}}
    elements: 1
  hub: {rigid body: {mass: 2 lb, inertia: [1 g m^2, 0.002, 0.002], center: [1 in, 0, 0], ports: {tip: [5 cm, 0, 0]}}}
joints:
  motor: {revolute: [ground, hub.P], axis: -y, at: [1 m, 0, 0], turned: [0, 30 deg, 0]}
  root: {weld: [hub.tip, rod.P]}
  soft: {joint spring: motor, stiffness: 2 N m/rad, rest: 10 deg}
  curved: {spring: [ground, rod.C], stiffness: {-1 mm: -5 N, 0: 0, 2 mm: 30 N}}
  mount: {bushing: [ground, rod.C], stiffness: [2 kN/m, 1 kN/m, 1 kN/m, 5 N m, 5 N m, 5 N m]}
  wind: {load: rod, along: y, per_length: 3 N/m}
"""
    section, material = ph.Tube("6 mm", "1 mm"), ph.Material(E="70 GPa", rho="2.7 g/cm^3")
    rod = ph.Beam("30 cm", section, material, masses={0.5: "10 g"})
    hub = ph.RigidBody("2 lb", ["1 g m^2", 0.002, 0.002], center=("1 in", 0, 0), ports={"tip": ("5 cm", 0, 0)})
    joints = [
        ph.Revolute("ground", "hub.P", axis="-y", at=("1 m", 0, 0), turned=(0, "30 deg", 0), name="motor"),
        ph.Weld("hub.tip", "rod.P", name="root"),
        ph.JointSpring("motor", stiffness="2 N m/rad", rest="10 deg", name="soft"),
        ph.Spring("ground", "rod.C", stiffness={"-1 mm": "-5 N", 0: 0, "2 mm": "30 N"}, name="curved"),
        ph.Bushing(
            "ground", "rod.C", stiffness=["2 kN/m", "1 kN/m", "1 kN/m", "5 N m", "5 N m", "5 N m"], name="mount"
        ),
        ph.Load("rod", along="y", per_length="3 N/m", name="wind"),
    ]
    system, read = (
        ph.connect({"rod": rod.discretise(1), "hub": hub.discretise()}, joints),
        ph.io.parse_model(text).system,
    )
    assert ph.parameters(system) == ph.parameters(read)
    assert [joint.recipe.direction().tolist() for joint in (system.joints["motor"], read.joints["motor"])] == [
        [0, -1, 0]
    ] * 2
    start = ph.set_moving(system, ph.place(system, {"motor.angle": "20 deg"}), {"motor.angle_rate": "30 rpm"})
    assert np.isclose(ph.joint_coordinates(system, start)["motor.angle"], np.radians(20.0))
    assert np.isclose(np.linalg.norm(start["hub.omega"]), np.pi)
    assert ph.move("90 deg", over="500 ms") == ph.move(np.pi / 2, over=0.5)


def test_names_of_ports_may_begin_with_digits():
    hub = ph.RigidBody(1.0, np.eye(3), ports={"1a": ("5 cm", 0, 0), "1": (1, 0, 0)})
    assert hub.ports == {"1a": (0.05, 0, 0), "1": (1, 0, 0)}
