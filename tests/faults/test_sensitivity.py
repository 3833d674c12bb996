"""Gradients that do not exist, or are asked for in words that mean nothing."""

import numpy as np
import pytest
from bodies_zoo import beam
from messages import raises

import phloat as ph

CANTILEVER = ph.connect({"b": beam().discretise(2)}, [ph.Weld("ground", "b.P")], plane="xy")
FREE = ph.connect({"b": beam().discretise(2)}, [], plane="xy")
RIGID = ph.connect({"r": ph.RigidBody(1.0, np.eye(3)).discretise()}, [], plane="xy")


def growing(p: dict[str, float]) -> ph.LinearPHDAE:
    """A beam with more elements where a number is larger."""
    system = ph.connect({"b": beam().discretise(2 + int(p["n"] > 1.0))}, [ph.Weld("ground", "b.P")], plane="xy")
    return ph.linearise(system, ph.place(system))


def jumping(p: dict[str, float]) -> ph.LinearPHDAE:
    """A beam that is twice as stiff where a number is larger."""
    new = ph.with_parameters(CANTILEVER, {"b.material.E": 2e11 * (1.0 + (p["n"] > 1.0))})
    return ph.linearise(new, ph.place(new))


def lying(p: dict[str, float]) -> ph.LinearPHDAE:
    return CANTILEVER


FREQUENCIES = {
    "unknown": ((CANTILEVER, "b.materal.E"), {}, "'b.materal.E'"),
    "nothing": ((CANTILEVER, []), {}, ""),
    "too many": ((CANTILEVER, "b.length"), {"count": 99}, "99"),
    "too many beside rigid ones": (
        (FREE, "b.length"),
        {"count": 9},
        "count",
    ),
    "none": ((CANTILEVER, "b.length"), {"count": 0}, "count"),
    "half": ((CANTILEVER, "b.length"), {"count": 1.5}, "1.5"),
    "rigid": ((RIGID, "r.mass"), {}, ""),
    "unknowns": (
        (growing, {"n": 1.0}),
        {},
        "n = 1.0005",
    ),
    "linear": ((CANTILEVER.loose, "b.length"), {}, "LinearPHDAE"),
    "list": ((growing, ["n"]), {}, "parameters"),
    "nan": ((growing, {"n": np.nan}), {}, "'n'"),
    "other": ((lying, {"n": 1.0}), {}, "System"),
    "state": ((growing, {"n": 1.0}), {"state": ph.place}, ""),
    "step": ((CANTILEVER, "b.length"), {"step": 0.5}, "0.5"),
    "no step": ((CANTILEVER, "b.length"), {"step": 0.0}, "step"),
}


@pytest.mark.parametrize("case", list(FREQUENCIES))
def test_a_sentence_says_why_there_are_no_frequency_gradients(case):
    arguments, options, name = FREQUENCIES[case]
    with raises(ph.errors.InputError, name):
        ph.frequency_gradients(*arguments, **options)


def test_a_number_that_makes_things_jump_is_noticed():
    with raises(ph.errors.AccuracyError, "'n'"):
        ph.frequency_gradients(jumping, {"n": 1.0})


def test_a_state_that_no_longer_fits_asks_for_a_function():
    joints = [ph.Revolute("ground", "b.P"), ph.Revolute("b.C", "ground", at=(1.3, 0, 0))]
    bridge = ph.connect({"b": beam().discretise(2)}, joints, plane="xy")
    with raises(ph.errors.InputError, "b.length", "'b.C-ground'"):
        ph.frequency_gradients(bridge, "b.length", state=ph.place(bridge))


def test_a_pendulum_upside_down_has_no_frequencies():
    body = ph.RigidBody(1.0, np.eye(3), center=(0, 1, 0)).discretise()
    system = ph.connect({"r": body}, [ph.Revolute("ground", "r.P")], plane="xy", gravity=(0, -9.81, 0))
    with raises(ph.errors.InputError, "2.21"):
        ph.frequency_gradients(system, "r.mass")


@pytest.mark.parametrize(
    ("ports", "s", "name"),
    [
        ("b.C", 0.0, "0"),
        ("b.C", "fast", "'fast'"),
        ("b.C", np.nan, ""),
        ("b.C", [], "[]"),
        ("b.D", 1j, "'b.D'"),
        ("b.C[7]", 1j, "'b.C'"),
    ],
)
def test_a_sentence_says_why_there_are_no_transfer_gradients(ports, s, name):
    with raises(ph.errors.InputError, name):
        ph.transfer_gradients(CANTILEVER, "b.length", ports, s=s)


def test_a_gradient_that_was_not_asked_for_is_named():
    found = ph.frequency_gradients(CANTILEVER, "b.length", count=1)
    with raises(ph.errors.InputError, "'b.width'"):
        found["b.width"]
