"""Ties, loads and linear runs that cannot be right get a sentence."""

import numpy as np
import pytest
from messages import raises
from ties_zoo import alu, plate, rod, soft

import phloat as ph
from phloat.system.parts import Parts

SHEET = ph.Sheet.rectangle(1.0, 1.0, material=soft, clamped="left").discretise((2, 2))
BOX = ph.Solid.box(1.0, 1.0, 1.0, material=soft).discretise((1, 1, 1))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ph.Tie("p.right", 3), "3"),
        (lambda: ph.Tie("p.right", "p.right"), "'p.right'"),
        (lambda: ph.Tie("p.right", "ground", of="z"), "'z'"),
        (lambda: ph.Tie("p.right", "ground", of=()), "p.right-ground"),
        (lambda: ph.Tie("p.right", "ground", of=3), "p.right-ground"),
        (lambda: ph.Tie("p.right", "ground", name=3), "p.right-ground"),
        (lambda: ph.Pressure("p", "much"), "p.pressure"),
        (lambda: ph.Pressure(3), "3"),
        (lambda: ph.Traction("p.right", 3.0), "p.right.traction"),
    ],
)
def test_ties_and_loads_that_cannot_be_written(make, name):
    with raises(ph.errors.InputError, name):
        make()


@pytest.mark.parametrize(
    ("bodies", "joints", "name"),
    [
        ({"p": plate(2)}, [ph.Tie("q.right", "ground")], "'q'"),
        ({"p": plate(2)}, [ph.Tie("p.rigt", "ground")], "'p.rigt'"),
        ({"p": plate(2), "rod": rod()}, [ph.Tie("p.right", "rod.Q")], "'rod.Q'"),
        ({"p": plate(2)}, [ph.Tie("p.right", "ground", of="u_x")], "u_x"),
        ({"p": plate(2)}, [ph.Tie("p.left", "ground")], "p.left-ground"),
        ({"p": plate(2), "m": ph.PointMass(1.0).discretise()}, [ph.Tie("p.right", "m.P")], "p.right-m.P"),
        ({"p": SHEET, "b": BOX}, [ph.Tie("p.right", "b.left")], "p.right-b.left"),
        ({"p": plate(2)}, [ph.Weld("p.right", "ground")], "joints"),
        ({"p": plate(2)}, [ph.Tie("p.right", "ground", name="a"), ph.Pressure("p", name="a")], "'a'"),
        ({"p": plate(2), "rod": rod()}, [ph.Tie("p.right", "rod.P", name="rod.P")], "'rod.P'"),
        ({"p": plate(2)}, "Tie", "ties"),
        ({"p": plate(2)}, [ph.Pressure("q")], "'q'"),
        ({"p": plate(2), "rod": rod()}, [ph.Pressure("rod")], "rod.pressure"),
        ({"b": BOX}, [ph.Pressure("b")], "b.pressure"),
        ({"p": SHEET}, [ph.Pressure("p")], "p.pressure"),
        ({"p": SHEET}, [ph.Traction("p.left", (1, 0, 0))], "p.left.traction"),
        ({"p": SHEET}, [ph.Traction("p.lft", (1, 0, 0))], "'lft'"),
        ({"p": SHEET}, [ph.Traction("p.top", lambda x, y: (x, y))], "p.top.traction"),
        ({"p": plate(2)}, [ph.Pressure("p", lambda x, y: "much")], "p.pressure"),
        ({"p": plate(2)}, [ph.Pressure("p", lambda x, y: x / 0.0 * np.nan)], "p.pressure"),
        ({"p": plate(2), "rod": rod()}, [ph.Force("rod.Q", along=(0, 0, 1))], "'rod.Q'"),
        ({"p": plate(2), "m": ph.PointMass(1.0).discretise()}, [ph.Torque("m.P", about=(0, 0, 1))], "m.P.torque"),
        ({"p": plate(2), "x": 3}, [], "'x'"),
        ({"p.q": plate(2)}, [], "'p.q'"),
        ({"p": plate(2, frame="left", clamped=None)}, [], "'p'"),
        (
            {"a": ph.RigidBody(2.0, np.eye(3)).discretise(), "m": ph.PointMass(1.0).discretise()},
            [ph.Tie("a.P", "m.P", of=("u_x", "theta_x"))],
            "a.P-m.P",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_connections_that_make_no_sense(bodies, joints, name):
    with raises(ph.errors.InputError, name):
        ph.tie(bodies, joints)


def test_boundaries_that_do_not_lie_on_each_other():
    short = ph.Sheet.rectangle(1.0, 0.5, material=soft).discretise((2, 1))
    skew = ph.Sheet.rectangle(1.0, 1.0, material=soft).discretise((2, 2))
    with raises(ph.errors.InputError, "'right'", "'top'"):
        ph.tie({"a": SHEET, "b": skew}, [ph.Tie("a.right", "b.top")])
    with raises(ph.errors.InputError, "0.5 of 1 m"):
        ph.tie({"a": SHEET, "b": short}, [ph.Tie("a.right", "b.left")])


def test_connect_tie_and_wire_name_each_other():
    """Each takes bodies and connections of its own kind; the message names the function that takes the others."""
    beam = ph.Beam(1.0, ph.Rectangle(0.1, 0.1), alu).discretise(1)
    with raises(ph.errors.InputError, "'p'", "tie"):
        ph.connect({"p": plate(2)}, gravity=(0, 0, -9.81))
    with raises(ph.errors.InputError, "Tie", "tie"):
        ph.connect({"b": beam}, [ph.Tie("ground", "b.P")])
    with raises(ph.errors.InputError, "Wire", "wire"):
        ph.connect({"b": beam}, [ph.Wire("b.P", "b.C")])
    with raises(ph.errors.InputError, "'l'", "wire"):
        ph.connect({"l": beam.linear()}, [])
    with raises(ph.errors.InputError, "Weld"):
        ph.tie({"p": plate(2)}, [ph.Weld("ground", "p.left")])
    with raises(ph.errors.InputError, "Weld"):
        ph.wire({"b": beam}, [ph.Weld("ground", "b.P")])


@pytest.mark.parametrize("options", [{"gravity": (0.0, 0.0, -9.81)}, {"plane": "xy"}, {"locked": ("p",)}])
def test_gravity_planes_and_locks_are_not_for_small_motions(options):
    with raises(ph.errors.InputError, next(iter(options))):
        Parts({"p": plate(2).construction}, **options).connected()


LINEAR = plate(2).linear(boundary=("right",))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"t_end": 1.0}, "dt"),
        ({"dt": 0.1}, "t_end"),
        ({"t_end": 1.0, "dt": -0.1}, "dt"),
        ({"t_end": -1.0, "dt": 0.1}, "t_end"),
        ({"t_end": 1.0, "dt": 0.1, "u": {"left": 1.0}}, "'left'"),
        ({"t_end": 1.0, "dt": 0.1, "u": {"right": 1.0}}, "'right'"),
        ({"t_end": 1.0, "dt": 0.1, "u": {"right": ph.prescribed_position(lambda t: t)}}, "'right'"),
        ({"t_end": 1.0, "dt": 0.1, "controller": 3}, "controller"),
        ({"t_end": 1.0, "dt": 0.1, "controller": lambda t, y: 3}, "returned 3"),
        ({"t_end": 1.0, "dt": 0.1, "controller": lambda t, y: {"left": 1.0}}, "'left'"),
        ({"t_end": 1.0, "dt": 0.1, "every": 0.1}, "every"),
        ({"t_end": 1.0, "dt": 0.1, "scheme": ph.RadauIIA(), "save": "run"}, "save"),
        ({"t_end": 1.0, "dt": 0.1, "state": np.zeros(3)}, "start"),
        ({"t_end": 1.0, "dt": 0.1, "state": {"w": np.zeros(3)}}, "'w'"),
        ({"t_end": 1.0, "dt": 0.1, "state": {"v": np.zeros(3)}}, "start of v"),
        ({"t_end": 1.0, "dt": 0.1, "output": 0}, "output"),
        ({"t_end": 1.0, "dt": 0.1, "output": [2.0]}, "output"),
    ],
)
def test_runs_that_cannot_be(options, name):
    with raises(ph.errors.InputError, name):
        ph.simulate(LINEAR, **options)


def test_a_state_of_a_system_is_no_start():
    system = ph.connect({"b": ph.Beam(1.0, ph.Rectangle(0.1, 0.1), alu).discretise(1)}, plane="xy")
    with raises(ph.errors.InputError, "State"):
        ph.simulate(LINEAR, ph.place(system), t_end=1.0, dt=0.1)


def test_names_that_a_result_does_not_have():
    result = ph.simulate(LINEAR, t_end=1e-3, dt=1e-3)
    for ask, name in [
        (lambda: result["w"], "'w'"),
        (lambda: result.displacement("rod"), "'rod'"),
        (lambda: result.energy_of("rod"), "'rod'"),
        (lambda: result.at(2.0), "2 s"),
    ]:
        with raises(ph.errors.InputError, name):
            ask()


def test_a_boundary_port_is_named_in_a_tuple():
    with raises(ph.errors.InputError, "'right'"):
        plate(2).linear(boundary="right")
