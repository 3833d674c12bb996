"""Frequency tools asked where they have no answer."""

import numpy as np
import pytest

import phloat as ph
from phloat.analysis.campbell import campbell
from phloat.linear.participation import effective_masses, participation
from phloat.linear.ports_report import ports_report
from phloat.linear.response import transmission
from phloat.linear.zeros import poles, poles_zeros, zeros

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
    ("ports", "said"),
    [
        (("pim",), r"no port 'pim' \(did you mean 'pin'\?\)"),
        (([],), r"name an input and an output; the open ports are rod\.P, rod\.C, pin"),
        (("rod.C[3]",), r"port 'rod\.C' has 3 components, counted from 0"),
    ],
    ids=["unknown", "none", "component"],
)
def test_ports_are_asked_for_by_name(verb, ports, said):
    with pytest.raises(ph.InputError, match=said):
        verb(PLANT, *ports)


@pytest.mark.parametrize("verb", [zeros, poles_zeros, ports_report, lambda s, _: poles(s)])
def test_what_is_not_linear_yet_is_told_how_to_become_so(verb):
    with pytest.raises(ph.InputError, match=r"System is not linear; use linearise"):
        verb(SYSTEM, "pin")


def test_zeros_need_as_many_outputs_as_inputs():
    with pytest.raises(ph.InputError, match=r"there are 1 inputs and 3 outputs; .*'port\[0\]'"):
        zeros(PLANT, "pin", "rod.C")


@pytest.mark.parametrize(
    ("inputs", "outputs"), [("pin", "rod.C[0]"), (["rod.C[1]", "rod.C[1]"], None), ("rod.P[0]", None)]
)
def test_an_output_that_feels_nothing_makes_every_s_a_zero(inputs, outputs):
    """Bending does not move the end along; a port twice is one; the pin holds P."""
    with pytest.raises(ph.InputError, match=r"every s is a zero from .*ports_report"):
        zeros(PLANT, inputs, outputs)


def test_zeros_of_a_large_system_ask_for_a_reduction(monkeypatch):
    monkeypatch.setattr("phloat.linear.zeros.MOST_ROWS", 5)
    with pytest.raises(ph.InputError, match=rf"has {PLANT.rows.size} rows, .* up to 5; reduce it first"):
        zeros(PLANT, "pin")


@pytest.mark.parametrize("limit", [0.0, -1.0, np.nan, "low"], ids=repr)
def test_a_map_is_cut_at_a_positive_frequency(limit):
    with pytest.raises(ph.InputError, match="omega"):
        poles_zeros(PLANT, "pin").below(limit)


def test_a_row_that_stores_no_energy_has_no_poles():
    E = np.diag([1.0, 0.0])
    J = np.array([[0.0, -1.0], [1.0, 0.0]])
    names = ph.Layout({"v": (1,), "s": (1,)}), ph.Layout({"in": (1,)})
    system = ph.LinearPHDAE(E=E, J=J, B=[[1.0], [0.0]], rows=names[0], ports=names[1], split=1)
    with pytest.raises(ph.InputError, match="some stress stores no energy"):
        poles(system)


@pytest.mark.parametrize("pair", ["pin", ("pin",), 3], ids=repr)
def test_a_line_of_a_response_is_asked_for_by_output_and_input(pair):
    with pytest.raises(ph.InputError, match=r"no pair; ask for response\[output, input\]"):
        ph.response(PLANT, "pin", omega=[1.0])[pair]


def test_lines_of_a_response_have_names():
    found = ph.response(PLANT, "pin", "rod.C", omega=[1.0])
    with pytest.raises(ph.PortError, match=r"no output 'rod\.C'.*rod\.C\[0\]"):
        found["rod.C", "pin"]
    with pytest.raises(ph.PortError, match=r"no input 'pim' \(did you mean 'pin'\?\)"):
        found["rod.C[0]", "pim"]


def test_many_frequencies_find_a_pole_as_few_do():
    w = ph.modes(PLANT).elastic[0]
    with pytest.raises(ph.AccuracyError, match=r"s = 0\+0j is a pole; move off the axis with shift=…"):
        ph.response(PLANT, "pin", omega=np.linspace(0.0, w, 50))


def test_a_source_that_is_held_transmits_nothing():
    with pytest.raises(ph.AccuracyError, match="is a pole"):
        transmission(PLANT, "rod.P", "rod.C", omega=[1.0])
    with pytest.raises(ph.PortError, match="no port 'pim'"):
        transmission(PLANT, "pim", "rod.C", omega=[1.0])


def test_participation_is_of_ports_that_take_a_force_and_bases_are_driven():
    with pytest.raises(ph.InputError, match=r"pin: a driven port stands still.*effective_masses\(…\)"):
        participation(ph.modes(DRIVEN), "pin")
    with pytest.raises(ph.InputError, match=r"pin takes a force: a base is a driven port"):
        effective_masses(ph.modes(PLANT), "pin")
    with pytest.raises(ph.InputError, match=r"LinearPHDAE has no modes; give modes\(system\)"):
        participation(PLANT, "pin")


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ((0.0, 0.0, 0.0), r"base is \(0, 0, 0\); it must be a direction"),
        ((1.0, 0.0), r"base has shape \(2,\); it must be 3 numbers"),
        ((np.nan, 0, 0), "NaN"),
        (None, "base is None"),
        ("hub", "no port 'hub'"),
    ],
    ids=repr,
)
def test_a_base_is_a_driven_port_or_a_direction(base, said):
    with pytest.raises(ph.InputError, match=said):
        effective_masses(ph.modes(DRIVEN), base)


def test_a_clamped_plate_does_not_move_as_a_whole():
    plate = ph.Plate.rectangle(
        1.0, 1.0, thickness=0.05, material=ph.Material(E=7e10, rho=2700.0, nu=0.3), theory="kirchhoff", clamped="left"
    )
    with pytest.raises(ph.InputError, match=r"nothing here moves as a whole along \(0\.0, 0\.0, 1\.0\).*weld it"):
        effective_masses(ph.modes(plate.discretise(2).linear()), (0, 0, 1))


def test_modes_in_a_spin_have_no_effective_masses():
    spinning = ph.linearise(BLADE, ph.steady_spin(BLADE, rate=3.0))
    with pytest.raises(ph.InputError, match="these modes whirl"):
        effective_masses(ph.modes(spinning), (0, 0, 1))


@pytest.mark.parametrize(
    ("rates", "options", "said"),
    [
        ([], {}, "there are no rates"),
        ("fast", {}, "rates is 'fast'"),
        ([np.nan], {}, "rates holds NaN"),
        ([1.0], {"count": 0}, "count is 0; follow at least one mode"),
        ([1.0], {"count": 2.5}, r"count is 2\.5; follow"),
        ([1.0], {"axis": (0, 0, 0)}, "axis is zero"),
    ],
    ids=repr,
)
def test_a_diagram_needs_rates_an_axis_and_modes(rates, options, said):
    with pytest.raises(ph.InputError, match=said):
        campbell(BLADE, rates, **options)


def test_a_rigid_rotor_has_no_diagram():
    rotor = ph.connect(
        {"r": ph.RigidBody(1.0, np.diag([1.0, 1.0, 2.0])).discretise()},
        joints=[ph.Revolute("ground", "r.P", name="hub")],
    )
    with pytest.raises(ph.InputError, match="nothing here vibrates"):
        campbell(rotor, [1.0])


def test_an_order_of_excitation_is_positive():
    with pytest.raises(ph.InputError, match="order is -1; it must be positive"):
        campbell(BLADE, [1.0, 2.0], count=1).critical(-1)
