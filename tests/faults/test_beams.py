"""Beams that cannot be: theories, places outside them, names, elements, sections along the length."""

from math import inf, nan

import numpy as np
import pytest
from messages import raises

import phloat as ph

ROUND, FLAT = ph.Circle(0.01), ph.Section(A=1e-4, I=1e-10)
ALU = ph.Material(E=7e10, rho=2700.0)


def beam(**changes):
    return ph.Beam(**{"length": 1.0, "section": ROUND, "material": ALU, **changes})


@pytest.mark.parametrize("theory", ["euler", "Timoshenko", "", None, 3])
def test_an_unknown_theory_is_answered_with_those_there_are(theory):
    with raises(ph.errors.InputError, repr(theory)):
        beam(theory=theory)


def test_a_misspelt_theory_is_answered_with_the_nearest():
    with raises(ph.errors.InputError, "'timoschenko'"):
        beam(theory="timoschenko")


@pytest.mark.parametrize("spaces", ["papr", "", None, 3])
def test_unknown_spaces_are_answered_with_those_there_are(spaces):
    with raises(ph.errors.InputError, repr(spaces)):
        beam(spaces=spaces)


def test_timoshenko_beams_have_no_spaces_of_the_paper():
    with raises(ph.errors.InputError, "'timoshenko'"):
        beam(spaces="paper", theory="timoshenko")


@pytest.mark.parametrize("damping", [None, 0.1, "low", ph.Rayleigh], ids=repr)
def test_damping_is_one_of_three_kinds(damping):
    with raises(ph.errors.InputError, "damping"):
        beam(damping=damping)


# --- places along the beam -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("s", [-0.1, 1.0001, 70.0])
@pytest.mark.parametrize(("what", "at"), [("port 'mid'", {"ports": "mid"}), ("lumped mass", {"masses": None})])
def test_a_place_is_a_fraction_of_the_length(what, at, s):
    changes = {"ports": {"mid": s}} if "ports" in at else {"masses": {s: 1.0}}
    with raises(ph.errors.InputError, what, f"{s:g}"):
        beam(**changes)


@pytest.mark.parametrize("s", [nan, inf, "tip", None, (0.5,)], ids=repr)
def test_a_place_is_a_finite_number(s):
    with raises(ph.errors.InputError, "'mid'"):
        beam(ports={"mid": s})
    with raises(ph.errors.InputError, "lumped mass"):
        beam(masses={s: 1.0})


@pytest.mark.parametrize("name", ["P", "C"])
def test_the_ends_keep_their_names(name):
    with raises(ph.errors.InputError, f"'{name}'"):
        beam(ports={name: 0.5})


@pytest.mark.parametrize("name", ["", "left.tip", 3, None], ids=repr)
def test_a_port_name_that_no_joint_could_write_is_refused(name):
    with raises(ph.errors.InputError, repr(name)):
        beam(ports={name: 0.5})


@pytest.mark.parametrize("given", [["mid"], 0.5, None], ids=repr)
@pytest.mark.parametrize(("what", "form"), [("masses", "kg"), ("ports", "name")])
def test_masses_and_ports_come_as_mappings(what, form, given):
    with raises(ph.errors.InputError, what):
        beam(**{what: given})


# --- elements --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("elements", [0, -3])
def test_there_is_at_least_one_element(elements):
    with raises(ph.errors.InputError, elements):
        beam().discretise(elements)


@pytest.mark.parametrize("elements", [2.5, "3", None, True, nan, [[0.0, 1.0]]], ids=repr)
def test_elements_are_a_number_or_fractions(elements):
    with raises(ph.errors.InputError, "elements"):
        beam().discretise(elements)


@pytest.mark.parametrize("nodes", [[], [0.0], [0.0, 0.5], [0.1, 1.0], [0.0, 0.5, 0.5, 1.0], [0.0, 0.7, 0.3, 1.0]])
def test_node_fractions_rise_from_zero_to_one(nodes):
    with raises(ph.errors.InputError, "node fractions"):
        beam().discretise(nodes)


@pytest.mark.parametrize("nodes", [[0.0, nan, 1.0], ["a", "b"]], ids=repr)
def test_node_fractions_are_finite_numbers(nodes):
    with raises(ph.errors.InputError, "node fractions"):
        beam().discretise(nodes)


# --- sections and materials along the length -------------------------------------------------------------------------


@pytest.mark.parametrize("section", [None, "circle", 0.01, ALU], ids=repr)
def test_a_section_is_a_section(section):
    with raises(ph.errors.InputError, "section"):
        beam(section=section).discretise(2)


@pytest.mark.parametrize("material", [None, "steel", 7e10, ROUND], ids=repr)
def test_a_material_is_a_material(material):
    with raises(ph.errors.InputError, "material"):
        beam(material=material).discretise(2)


@pytest.mark.parametrize("found", [None, nan, 0.01], ids=repr)
def test_a_function_of_s_that_returns_no_section_is_told_where(found):
    with raises(ph.errors.InputError, "section", "0.5", repr(found)):
        beam(section=lambda s: ROUND if s < 0.5 else found).discretise(2)


@pytest.mark.parametrize("found", [None, nan, 7e10], ids=repr)
def test_a_function_of_s_that_returns_no_material_is_told_where(found):
    with raises(ph.errors.InputError, "material", "0.5", repr(found)):
        beam(material=lambda s: ALU if s < 0.5 else found).discretise(2)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"section": lambda s: ph.Circle(0.01 if s < 0.5 else nan)}, "diameter"),
        ({"section": lambda s: ph.Circle(0.005 - 0.01 * s)}, "diameter"),
        ({"material": lambda s: ph.Material(7e10, np.sqrt(s) * nan)}, "rho"),
    ],
)
def test_numbers_that_go_bad_along_the_length_are_found(changes, name):
    with raises(ph.errors.InputError, name):
        beam(**changes).discretise(2)


# --- torsion ---------------------------------------------------------------------------------------------------------

PARTLY = {"nowhere": FLAT, "on one half": lambda s: ROUND if s < 0.5 else FLAT}


@pytest.mark.parametrize("where", PARTLY)
def test_a_beam_without_torsion_constant_needs_one_in_space(where):
    body = beam(section=PARTLY[where]).discretise(2)
    with raises(ph.errors.InputError, "'rod'"):
        ph.connect({"rod": body})


@pytest.mark.parametrize("where", PARTLY)
def test_a_beam_without_torsion_constant_lives_in_a_plane(where):
    system = ph.connect({"rod": beam(section=PARTLY[where]).discretise(2)}, plane="xy")
    assert ph.modes(ph.linearise(system, ph.place(system))).rigid == 3
