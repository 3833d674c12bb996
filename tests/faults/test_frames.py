"""The frame of a beam takes out its six rigid motions: no fewer, no more."""

from math import nan

import pytest
from messages import raises

import phloat as ph

SIX = ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")


def framed(frame, elements=2, **changes):
    beam = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0), frame=frame, **changes)
    return beam.discretise(elements)


def test_an_unknown_frame_is_answered_with_those_there_are():
    with raises(ph.errors.InputError, "'cantilver'"):
        framed("cantilver")


@pytest.mark.parametrize("frame", [False, ["u_x"], 0.0], ids=repr)
def test_a_frame_is_a_name_or_a_mapping(frame):
    with raises(ph.errors.InputError, "frame"):
        framed(frame)


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
@pytest.mark.parametrize(
    ("left", "frame"),
    [
        (6, {}),
        (6, {0.0: ()}),
        (5, {0.0: ("u_x",)}),
        (3, {0.0: SIX[:3]}),
        (1, {0.0: SIX[:5]}),
        (1, {0.0: ("u_x", "u_y", "u_z", "theta_x"), 1.0: ("u_x", "u_y")}),  # u_x twice: the beam still turns about y
        (1, {0.0: ("u_x", "u_y", "u_z"), 1.0: ("u_y", "u_z")}),  # a skewer turns about itself
        (1, {0.0: ("u_x", "u_x", "u_y", "u_z", "theta_x", "theta_y")}),
    ],
)
def test_a_frame_that_leaves_rigid_motions_says_how_many(frame, left, theory):
    with raises(ph.errors.InputError, f"{left} of 6"):
        framed(frame, theory=theory)


@pytest.mark.parametrize("more", [("u_x",), ("u_y",), ("theta_x", "theta_y")])
def test_a_frame_that_holds_deformation_too_is_refused(more):
    with raises(ph.errors.InputError, 6 + len(more)):
        framed({0.0: SIX, 1.0: more})


def test_a_condition_that_is_none_is_answered_with_those_there_are():
    with raises(ph.errors.InputError, "'w'"):
        framed({0.0: ("w",)})


def test_one_condition_may_not_be_mistaken_for_its_letters():
    with raises(ph.errors.InputError, "'u_x'"):
        framed({0.0: "u_x"})


@pytest.mark.parametrize("s", [-0.5, 2.0])
def test_a_frame_holds_the_beam_and_not_the_air(s):
    with raises(ph.errors.InputError, "frame", f"{s:g}"):
        framed({s: SIX})


def test_a_frame_held_at_nan_is_refused():
    with raises(ph.errors.InputError, "frame"):
        framed({nan: SIX})


def test_a_frame_is_held_at_nodes():
    with raises(ph.errors.InputError, "frame", "0.3"):
        framed({0.3: SIX})


def test_the_twist_may_be_held_between_nodes_where_it_has_a_coordinate():
    held = {0.0: SIX[:3], 0.5: ("theta_x",), 1.0: ("u_y", "u_z")}
    assert framed(held, 1).coordinates == framed("chord", 1).coordinates
    with raises(ph.errors.InputError, "frame", "0.4"):
        framed({0.0: SIX[:3], 0.4: ("theta_x",), 1.0: ("u_y", "u_z")}, 1)


@pytest.mark.parametrize(
    "frame", ["pinned", "chord", {0.5: SIX}, {1.0: SIX}, {0.0: SIX[:4], 0.5: ("u_y", "u_z")}], ids=str
)
def test_any_frame_that_holds_six_gives_the_frequencies_of_the_free_beam(frame):
    reference = ph.modes(framed("cantilever", 4).linear())
    found = ph.modes(framed(frame, 4).linear())
    assert found.rigid == 6
    assert found.elastic == pytest.approx(reference.elastic, rel=1e-8)
