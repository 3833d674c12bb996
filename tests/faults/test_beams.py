"""Beams that cannot be: theories, places outside them, names, elements, sections along the length."""

from math import inf, nan

import numpy as np
import pytest

import phloat as ph

ROUND, FLAT = ph.Circle(0.01), ph.Section(A=1e-4, I=1e-10)
ALU = ph.Material(E=7e10, rho=2700.0)


def beam(**changes):
    return ph.Beam(**{"length": 1.0, "section": ROUND, "material": ALU, **changes})


@pytest.mark.parametrize("theory", ["euler", "Timoshenko", "", None, 3])
def test_an_unknown_theory_is_answered_with_those_there_are(theory):
    with pytest.raises(ph.InputError, match=rf"no theory {theory!r}.*euler-bernoulli, rayleigh, timoshenko"):
        beam(theory=theory)


def test_a_misspelt_theory_is_answered_with_the_nearest():
    with pytest.raises(ph.InputError, match=r"did you mean 'timoshenko'\?"):
        beam(theory="timoschenko")


@pytest.mark.parametrize("damping", [None, 0.1, "low", ph.Rayleigh], ids=repr)
def test_damping_is_one_of_three_kinds(damping):
    with pytest.raises(
        ph.InputError, match=r"damping is .*; it must be Rayleigh\(…\), KelvinVoigt\(…\) or ModalDamping\(…\)"
    ):
        beam(damping=damping)


# --- places along the beam -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("s", [-0.1, 1.0001, 70.0])
@pytest.mark.parametrize(("what", "at"), [("port 'mid'", {"ports": "mid"}), ("lumped mass", {"masses": None})])
def test_a_place_is_a_fraction_of_the_length(what, at, s):
    changes = {"ports": {"mid": s}} if "ports" in at else {"masses": {s: 1.0}}
    with pytest.raises(ph.InputError, match=rf"{what} lies at s = {s:g}; s is the fraction of the length, 0 to 1"):
        beam(**changes)


@pytest.mark.parametrize("s", [nan, inf, "tip", None, (0.5,)], ids=repr)
def test_a_place_is_a_finite_number(s):
    with pytest.raises(ph.InputError, match="port 'mid' position s"):
        beam(ports={"mid": s})
    with pytest.raises(ph.InputError, match="lumped mass position s"):
        beam(masses={s: 1.0})


@pytest.mark.parametrize("name", ["P", "C"])
def test_the_ends_keep_their_names(name):
    with pytest.raises(ph.InputError, match=rf"port '{name}' is an end of every beam; give .* s = 0.5 another name"):
        beam(ports={name: 0.5})


@pytest.mark.parametrize("name", ["", "left.tip", 3, None], ids=repr)
def test_a_port_name_that_no_joint_could_write_is_refused(name):
    with pytest.raises(ph.InputError, match=rf"{name!r} cannot name a port"):
        beam(ports={name: 0.5})


@pytest.mark.parametrize("given", [["mid"], 0.5, None], ids=repr)
@pytest.mark.parametrize(("what", "form"), [("masses", "kg"), ("ports", "name")])
def test_masses_and_ports_come_as_mappings(what, form, given):
    with pytest.raises(ph.InputError, match=rf"{what} is .*; it must be .*{form}"):
        beam(**{what: given})


# --- elements --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("elements", [0, -3])
def test_there_is_at_least_one_element(elements):
    with pytest.raises(ph.InputError, match=f"{elements} elements; there must be at least one"):
        beam().discretise(elements)


@pytest.mark.parametrize("elements", [2.5, "3", None, True, nan, [[0.0, 1.0]]], ids=repr)
def test_elements_are_a_number_or_fractions(elements):
    with pytest.raises(ph.InputError, match=r"elements is .*; it must be a number of elements or node fractions"):
        beam().discretise(elements)


@pytest.mark.parametrize("nodes", [[], [0.0], [0.0, 0.5], [0.1, 1.0], [0.0, 0.5, 0.5, 1.0], [0.0, 0.7, 0.3, 1.0]])
def test_node_fractions_rise_from_zero_to_one(nodes):
    with pytest.raises(ph.InputError, match=r"node fractions must rise from 0 to 1; they are \["):
        beam().discretise(nodes)


@pytest.mark.parametrize("nodes", [[0.0, nan, 1.0], ["a", "b"]], ids=repr)
def test_node_fractions_are_finite_numbers(nodes):
    with pytest.raises(ph.InputError, match="node fractions"):
        beam().discretise(nodes)


# --- sections and materials along the length -------------------------------------------------------------------------


@pytest.mark.parametrize("section", [None, "circle", 0.01, ALU], ids=repr)
def test_a_section_is_a_section(section):
    with pytest.raises(ph.InputError, match=r"section.* is .*; it must be a Section, Circle, Tube or Rectangle"):
        beam(section=section).discretise(2)


@pytest.mark.parametrize("material", [None, "steel", 7e10, ROUND], ids=repr)
def test_a_material_is_a_material(material):
    with pytest.raises(ph.InputError, match=r"material.* is .*; it must be a Material"):
        beam(material=material).discretise(2)


@pytest.mark.parametrize("found", [None, nan, 0.01], ids=repr)
def test_a_function_of_s_that_returns_no_section_is_told_where(found):
    with pytest.raises(ph.InputError, match=rf"section at s = 0.5\d* is {found!r}; it must be a Section"):
        beam(section=lambda s: ROUND if s < 0.5 else found).discretise(2)


@pytest.mark.parametrize("found", [None, nan, 7e10], ids=repr)
def test_a_function_of_s_that_returns_no_material_is_told_where(found):
    with pytest.raises(ph.InputError, match=rf"material at s = 0.5\d* is .*{found!r}.*; it must be a Material"):
        beam(material=lambda s: ALU if s < 0.5 else found).discretise(2)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"section": lambda s: ph.Circle(0.01 if s < 0.5 else nan)}, "diameter holds NaN"),
        ({"section": lambda s: ph.Circle(0.005 - 0.01 * s)}, "diameter is -.*; it must be positive"),
        ({"material": lambda s: ph.Material(7e10, np.sqrt(s) * nan)}, "density rho holds NaN"),
    ],
)
def test_numbers_that_go_bad_along_the_length_are_found(changes, found):
    with pytest.raises(ph.InputError, match=found):
        beam(**changes).discretise(2)


# --- torsion ---------------------------------------------------------------------------------------------------------

PARTLY = {"nowhere": FLAT, "on one half": lambda s: ROUND if s < 0.5 else FLAT}


@pytest.mark.parametrize("where", PARTLY)
def test_a_beam_without_torsion_constant_needs_one_in_space(where):
    body = beam(section=PARTLY[where]).discretise(2)
    with pytest.raises(ph.InputError, match=r"in space, body 'rod' needs the torsion constant .*J=….*plane='xy'"):
        ph.connect({"rod": body})


@pytest.mark.parametrize("where", PARTLY)
def test_a_beam_without_torsion_constant_lives_in_a_plane(where):
    system = ph.connect({"rod": beam(section=PARTLY[where]).discretise(2)}, plane="xy")
    assert ph.modes(ph.linearise(system, ph.place(system))).rigid == 3
