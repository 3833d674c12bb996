"""Loops that cannot close: the gap that is left, in metres or radians, as one would measure it with a ruler."""

import re

import numpy as np
import pytest
from messages import raises

import phloat as ph

ALU = ph.Material(E=7e10, rho=2700.0)


def link(length):
    return ph.Beam(length, ph.Circle(0.01), ALU).discretise(1)


def two_links(one, two, at, plane="xy"):
    """Two links between the origin and a pivot."""
    return ph.connect(
        {"one": link(one), "two": link(two)},
        joints=[
            ph.Revolute("ground", "one.P", name="root"),
            ph.Revolute("one.C", "two.P", name="knee"),
            ph.Revolute("two.C", "ground", at=at, name="pivot"),
        ],
        plane=plane,
    )


def gap_said(refused):
    number, unit = re.search(r"([-+.e\d]+) (m|rad)\b", str(refused.value)).groups()
    return float(number), unit


@pytest.mark.parametrize(
    ("one", "two", "at", "gap", "plane"),
    [
        (1.0, 1.0, (3.0, 0, 0), 1.0, "xy"),
        (1.0, 1.0, (3.0, 0, 0), 1.0, None),
        (1.0, 1.0, (0, 3.0, 0), 1.0, "xy"),
        (1.0, 1.0, (2.0, 2.0, 0), 2 * np.sqrt(2) - 2, "xy"),
        (0.01, 0.01, (0.03, 0, 0), 0.01, "xy"),
        (100.0, 100.0, (0, -300.0, 0), 100.0, None),
        (3.0, 1.0, (1.0, 0, 0), 1.0, "xy"),  # too long rather than too short
    ],
)
def test_links_that_do_not_reach_leave_the_distance_that_is_missing(one, two, at, gap, plane):
    with raises(ph.errors.ClosureError, golden=False) as refused:
        ph.place(two_links(one, two, at, plane))
    assert gap_said(refused) == (pytest.approx(gap, rel=1e-2), "m")


@pytest.mark.parametrize(
    ("theta", "gap"), [(np.pi, 1.5), (np.pi / 2, np.hypot(1.5, 1.0) - 1.0), (-np.pi / 2, np.hypot(1.5, 1.0) - 1.0)]
)
def test_what_is_held_is_named_with_the_gap_it_leaves(theta, gap):
    with raises(ph.errors.ClosureError, "one.theta", golden=False) as refused:
        ph.place(two_links(1.0, 1.0, (1.5, 0, 0)), {"one.theta": theta})
    assert gap_said(refused) == (pytest.approx(gap, rel=1e-2), "m")


def test_links_that_reach_only_just_close_stretched():
    system = two_links(1.0, 1.0, (2.0 - 1e-6, 0, 0))
    state = ph.place(system)
    assert max(np.abs(gap).max() for gap in ph.gaps(system, state).values()) < 1e-9


@pytest.mark.parametrize("plane", ["xy", None])
def test_a_port_welded_at_two_places_leaves_their_distance(plane):
    joints = [ph.Weld("ground", "rod.P", name="here"), ph.Weld("ground", "rod.P", at=(0.3, 0.4, 0), name="there")]
    with raises(ph.errors.ClosureError, golden=False) as refused:
        ph.place(ph.connect({"rod": link(1.0)}, joints=joints, plane=plane))
    assert gap_said(refused) == (pytest.approx(0.5, rel=1e-2), "m")


def test_ends_welded_further_apart_than_the_beam_is_long_leave_the_difference():
    joints = [ph.Weld("ground", "rod.P", name="here"), ph.Weld("ground", "rod.C", at=(1.7, 0, 0), name="there")]
    with raises(ph.errors.ClosureError, golden=False) as refused:
        ph.place(ph.connect({"rod": link(1.5)}, joints=joints))
    assert gap_said(refused) == (pytest.approx(0.2, rel=1e-2), "m")


@pytest.mark.parametrize("length", [0.5, 1.0])  # where a radian looks like a length of the mechanism, too
def test_a_gap_between_directions_is_an_angle(length):
    system = ph.connect({"rod": link(length)}, joints=[ph.Revolute("ground", "rod.P", name="pin")], plane="xy")
    with raises(ph.errors.ClosureError, "rod.theta", "'pin'") as refused:
        ph.place(system, {"rod.theta": 1.0, "pin.angle": 0.5})
    assert gap_said(refused) == (pytest.approx(0.5, rel=1e-2), "rad")


def test_two_ends_of_one_body_do_not_meet():
    with raises(ph.errors.ClosureError, "'rod.P-rod.C'") as refused:
        ph.place(ph.connect({"rod": link(0.7)}, joints=[ph.Revolute("rod.P", "rod.C")], plane="xy"))
    assert gap_said(refused) == (pytest.approx(0.7), "m")


def test_a_closure_error_is_a_value_error():
    assert issubclass(ph.errors.ClosureError, ph.errors.InputError)
    assert issubclass(ph.errors.InputError, ValueError)
