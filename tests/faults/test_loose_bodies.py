"""Bodies that were forgotten are named, and systems that float on purpose are left alone."""

import warnings

import pytest
from messages import warns

import phloat as ph

LINK = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0)).discretise(2)
PIN = ph.Revolute("ground", "arm.P")


@pytest.mark.parametrize("plane", [None, "xy"])
def test_a_body_that_no_joint_touches_is_named(plane):
    with warns(ph.errors.LooseBodyWarning, "'forgotten'") as said:
        ph.connect({"arm": LINK, "forgotten": LINK}, joints=[PIN], plane=plane)
    assert len(said) == 1
    assert said[0].filename == __file__


def test_all_bodies_that_no_joint_touches_are_named():
    with warns(ph.errors.LooseBodyWarning, "'one'", "'two'"):
        ph.connect({"one": LINK, "arm": LINK, "two": LINK}, joints=[PIN])


def test_a_loose_body_of_a_stage_is_named_with_its_stage():
    stage = ph.connect({"free": LINK})
    with warns(ph.errors.LooseBodyWarning, "'stage.free'"):
        ph.connect({"stage": stage, "arm": LINK}, joints=[PIN])


@pytest.mark.parametrize(
    ("bodies", "joints"),
    [
        (("arm",), []),
        (("arm", "other"), []),
        (("arm",), [PIN]),
        (("arm", "other"), [ph.Revolute("arm.C", "other.P")]),
    ],
)
def test_nothing_is_said_where_nothing_was_forgotten(bodies, joints):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.connect(dict.fromkeys(bodies, LINK), joints=joints)


def test_a_loose_body_keeps_its_rigid_modes():
    with warns(ph.errors.LooseBodyWarning):
        system = ph.connect({"arm": LINK, "forgotten": LINK}, joints=[PIN], plane="xy")
    assert ph.modes(ph.linearise(system, ph.place(system))).rigid == 1 + 3
