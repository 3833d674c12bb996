"""Gradients that do not exist, or are asked for in words that mean nothing."""

import numpy as np
import pytest
from bodies_zoo import beam

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
    new = ph.changed(CANTILEVER, {"b.material.E": 2e11 * (1.0 + (p["n"] > 1.0))})
    return ph.linearise(new, ph.place(new))


def lying(p: dict[str, float]) -> ph.LinearPHDAE:
    return CANTILEVER


FREQUENCIES = {
    "unknown": ((CANTILEVER, "b.materal.E"), {}, "no parameter 'b.materal.E' (did you mean 'b.material.E'"),
    "nothing": ((CANTILEVER, []), {}, "name at least one parameter"),
    "too many": ((CANTILEVER, "b.length"), {"count": 99}, "count is 99, and there are 8 modes that vibrate"),
    "too many beside rigid ones": (
        (FREE, "b.length"),
        {"count": 9},
        "count is 9, and there are 8 modes that vibrate; the 3 rigid ones are left out, since a frequency of zero has no gradient",
    ),
    "none": ((CANTILEVER, "b.length"), {"count": 0}, "count is 0; ask for at least one mode"),
    "half": ((CANTILEVER, "b.length"), {"count": 1.5}, "count is 1.5; ask for at least one mode"),
    "rigid": ((RIGID, "r.mass"), {}, "nothing here vibrates: all modes are rigid"),
    "unknowns": (
        (growing, {"n": 1.0}),
        {},
        "with n = 1.0005 there are 15 velocities in place of 11; only numbers that leave",
    ),
    "linear": ((CANTILEVER.loose, "b.length"), {}, "LinearPHDAE has no parameters; give the System it comes from"),
    "list": ((growing, ["n"]), {}, "parameters is list; it must be a mapping {name: value}"),
    "nan": ((growing, {"n": np.nan}), {}, "parameter 'n' holds NaN"),
    "other": ((lying, {"n": 1.0}), {}, "the function gives System, not a LinearPHDAE; use linearise"),
    "state": ((growing, {"n": 1.0}), {"state": ph.place}, "a function that makes the linear system chooses its state"),
    "step": ((CANTILEVER, "b.length"), {"step": 0.5}, "step is 0.5 of the size of a number; take 0.1 or less"),
    "no step": ((CANTILEVER, "b.length"), {"step": 0.0}, "step is 0; it must be positive"),
}


@pytest.mark.parametrize("case", list(FREQUENCIES))
def test_a_sentence_says_why_there_are_no_frequency_gradients(case):
    arguments, options, sentence = FREQUENCIES[case]
    with pytest.raises(ph.InputError) as error:
        ph.frequency_gradients(*arguments, **options)
    assert sentence in str(error.value)


def test_a_number_that_makes_things_jump_is_noticed():
    with pytest.raises(ph.AccuracyError, match="'n' does not act smoothly"):
        ph.frequency_gradients(jumping, {"n": 1.0})


def test_a_state_that_no_longer_fits_asks_for_a_function():
    joints = [ph.Revolute("ground", "b.P"), ph.Revolute("b.C", "ground", at=(1.3, 0, 0))]
    bridge = ph.connect({"b": beam().discretise(2)}, joints, plane="xy")
    with pytest.raises(ph.InputError, match=r"with b\.length changed by .* is open by .*give state= as a function"):
        ph.frequency_gradients(bridge, "b.length", state=ph.place(bridge))


def test_a_pendulum_upside_down_has_no_frequencies():
    body = ph.RigidBody(1.0, np.eye(3), center=(0, 1, 0)).discretise()
    system = ph.connect({"r": body}, [ph.Revolute("ground", "r.P")], plane="xy", gravity=(0, -9.81, 0))
    with pytest.raises(ph.InputError, match=r"the system is not stable: a mode grows with 2\.21 1/s"):
        ph.frequency_gradients(system, "r.mass")


@pytest.mark.parametrize(
    ("ports", "s", "sentence"),
    [
        ("b.C", 0.0, "s is 0, where forces push and nothing moves on"),
        ("b.C", "fast", "s is 'fast'; it must be a number or a row of them"),
        ("b.C", np.nan, "s holds NaN or infinity"),
        ("b.C", [], r"s is []; it must be a number"),
        ("b.D", 1j, "no port 'b.D'"),
        ("b.C[7]", 1j, "port 'b.C' has 3 components"),
    ],
)
def test_a_sentence_says_why_there_are_no_transfer_gradients(ports, s, sentence):
    with pytest.raises(ph.InputError) as error:
        ph.transfer_gradients(CANTILEVER, "b.length", ports, s=s)
    assert sentence in str(error.value)


def test_a_gradient_that_was_not_asked_for_is_named():
    found = ph.frequency_gradients(CANTILEVER, "b.length", count=1)
    with pytest.raises(ph.InputError, match=r"no gradient by 'b\.width'; there are: b\.length"):
        found["b.width"]
