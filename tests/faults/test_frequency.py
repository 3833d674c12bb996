"""Frequency tools asked where they have no answer."""

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.analysis.campbell import campbell
from phloat.linear.analysis.participation import effective_masses, participation, ports_report
from phloat.linear.analysis.poles_zeros import poles, poles_zeros, zeros
from phloat.linear.analysis.response import transmission

LINK = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0)).discretise(2)
PIN = ph.Revolute("ground", "rod.P", name="pin")
SYSTEM = ph.connect({"rod": LINK}, joints=[PIN], plane="xy")
PLANT = ph.linearise(SYSTEM, ph.place(SYSTEM))
DRIVEN = ph.linearise(ph.drive(SYSTEM, "pin"), ph.place(SYSTEM))
BLADE = ph.connect(
    {"b": ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0, nu=0.3)).discretise(2)},
    joints=[ph.Drive("ground", "b.P", of="pose", name="hub")],
)


@pytest.mark.parametrize("verb", [zeros, poles_zeros, ports_report], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("ports", "name"),
    [
        (("pim",), "'pim'"),
        (([],), ""),
        (("rod.C[3]",), "'rod.C[3]'"),
    ],
    ids=["unknown", "none", "component"],
)
def test_ports_are_asked_for_by_name(verb, ports, name):
    with raises(ph.errors.InputError, name):
        verb(PLANT, *ports)


@pytest.mark.parametrize("verb", [zeros, poles_zeros, ports_report, lambda s, _: poles(s)])
def test_what_is_not_linear_yet_is_told_how_to_become_so(verb):
    with raises(ph.errors.InputError):
        verb(SYSTEM, "pin")


def test_zeros_need_as_many_outputs_as_inputs():
    with raises(ph.errors.InputError):
        zeros(PLANT, "pin", "rod.C")


@pytest.mark.parametrize(
    ("inputs", "outputs"), [("pin", "rod.C[0]"), (["rod.C[1]", "rod.C[1]"], None), ("rod.P[0]", None)]
)
def test_an_output_that_feels_nothing_makes_every_s_a_zero(inputs, outputs):
    """Bending does not move the end along; a port twice is one; the pin holds P."""
    with raises(ph.errors.InputError):
        zeros(PLANT, inputs, outputs)


def test_zeros_of_a_large_system_ask_for_a_reduction(monkeypatch):
    monkeypatch.setattr("phloat.linear.analysis.poles_zeros.MAX_ROWS", 5)
    with raises(ph.errors.InputError, PLANT.rows.size):
        zeros(PLANT, "pin")


@pytest.mark.parametrize("limit", [0.0, -1.0, np.nan, "low"], ids=repr)
def test_a_map_is_cut_at_a_positive_frequency(limit):
    with raises(ph.errors.InputError, "omega"):
        poles_zeros(PLANT, "pin").below(limit)


def test_a_row_that_nothing_determines_has_no_poles():
    E, none = np.diag([1.0, 0.0]), np.zeros((2, 2))
    names = ph.Layout({"v": (1,), "s": (1,)}), ph.Layout({"in": (1,)})
    with raises(ph.errors.InputError):
        poles(ph.LinearPHDAE(E=E, J=none, B=[[1.0], [0.0]], rows=names[0], ports=names[1], split=1))


@pytest.mark.parametrize("pair", ["pin", ("pin",), 3], ids=repr)
def test_a_line_of_a_response_is_asked_for_by_output_and_input(pair):
    with raises(ph.errors.InputError, repr(pair)):
        ph.response(PLANT, "pin", omega=[1.0])[pair]


def test_lines_of_a_response_have_names():
    found = ph.response(PLANT, "pin", "rod.C", omega=[1.0])
    with raises(ph.errors.PortError, "'rod.C'"):
        found["rod.C", "pin"]
    with raises(ph.errors.PortError, "'pim'"):
        found["rod.C[0]", "pim"]


def test_many_frequencies_find_a_pole_as_few_do():
    w = ph.modes(PLANT).elastic[0]
    with raises(ph.errors.AccuracyError, "0+0j"):
        ph.response(PLANT, "pin", omega=np.linspace(0.0, w, 50))


def test_a_source_that_is_held_transmits_nothing():
    with raises(ph.errors.AccuracyError, "0+1j"):
        transmission(PLANT, "rod.P", "rod.C", omega=[1.0])
    with raises(ph.errors.PortError, "'pim'"):
        transmission(PLANT, "pim", "rod.C", omega=[1.0])


def test_participation_is_of_ports_that_take_a_force_and_bases_are_driven():
    with raises(ph.errors.InputError, "pin"):
        participation(ph.modes(DRIVEN), "pin")
    with raises(ph.errors.InputError, "pin"):
        effective_masses(ph.modes(PLANT), "pin")
    with raises(ph.errors.InputError, "LinearPHDAE"):
        participation(PLANT, "pin")


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ((0.0, 0.0, 0.0), "base"),
        ((1.0, 0.0), "base"),
        ((np.nan, 0, 0), "base"),
        (None, "None"),
        ("hub", "'hub'"),
    ],
    ids=repr,
)
def test_a_base_is_a_driven_port_or_a_direction(base, name):
    with raises(ph.errors.InputError, name):
        effective_masses(ph.modes(DRIVEN), base)


def test_a_clamped_plate_does_not_move_as_a_whole():
    plate = ph.Plate.rectangle(
        1.0, 1.0, thickness=0.05, material=ph.Material(E=7e10, rho=2700.0, nu=0.3), theory="kirchhoff", clamped="left"
    )
    with raises(ph.errors.InputError, "(0.0, 0.0, 1.0)"):
        effective_masses(ph.modes(plate.discretise(2).linear()), (0, 0, 1))


def test_modes_in_a_spin_have_no_effective_masses():
    spinning = ph.linearise(BLADE, ph.steady_spin(BLADE, rate=3.0))
    with raises(ph.errors.InputError):
        effective_masses(ph.modes(spinning), (0, 0, 1))


@pytest.mark.parametrize(
    ("rates", "options", "name"),
    [
        ([], {}, "rates"),
        ("fast", {}, "'fast'"),
        ([np.nan], {}, "rates"),
        ([1.0], {"count": 0}, "count"),
        ([1.0], {"count": 2.5}, "2.5"),
        ([1.0], {"axis": (0, 0, 0)}, "axis"),
    ],
    ids=repr,
)
def test_a_diagram_needs_rates_an_axis_and_modes(rates, options, name):
    with raises(ph.errors.InputError, name):
        campbell(BLADE, rates, **options)


def test_a_rigid_rotor_has_no_diagram():
    rotor = ph.connect(
        {"r": ph.RigidBody(1.0, np.diag([1.0, 1.0, 2.0])).discretise()},
        joints=[ph.Revolute("ground", "r.P", name="hub")],
    )
    with raises(ph.errors.InputError):
        campbell(rotor, [1.0])


def test_an_order_of_excitation_is_positive():
    with raises(ph.errors.InputError, "order", "-1"):
        campbell(BLADE, [1.0, 2.0], count=1).critical(-1)
