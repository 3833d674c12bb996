"""Ties, loads and linear runs that cannot be right get a sentence."""

import numpy as np
import pytest
from ties_zoo import alu, plate, rod, soft

import phloat as ph

SHEET = ph.Sheet.rectangle(1.0, 1.0, material=soft, clamped="left").discretise((2, 2))
BOX = ph.Solid.box(1.0, 1.0, 1.0, material=soft).discretise((1, 1, 1))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ph.Tie("p.right", 3), "3 names nothing"),
        (lambda: ph.Tie("p.right", "p.right"), "to itself"),
        (lambda: ph.Tie("p.right", "ground", of="z"), "no motion of p.right-ground 'z'.*u_x"),
        (lambda: ph.Tie("p.right", "ground", of=()), "must name motions"),
        (lambda: ph.Tie("p.right", "ground", of=3), "must name motions"),
        (lambda: ph.Tie("p.right", "ground", name=3), "must be a word"),
        (lambda: ph.Pressure("p", "much"), "must be a number"),
        (lambda: ph.Pressure(3), "names nothing"),
        (lambda: ph.Traction("p.right", 3.0), "must be 3 numbers"),
    ],
)
def test_ties_and_loads_that_cannot_be_written(make, sentence):
    with pytest.raises(ph.InputError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("bodies", "joints", "sentence"),
    [
        ({"p": plate(2)}, [ph.Tie("q.right", "ground")], "no body 'q'"),
        ({"p": plate(2)}, [ph.Tie("p.rigt", "ground")], "did you mean 'p.right'"),
        ({"p": plate(2), "rod": rod()}, [ph.Tie("p.right", "rod.Q")], "no boundary or port 'rod.Q'.*rod.P"),
        (
            {"p": plate(2)},
            [ph.Tie("p.right", "ground", of="u_x")],
            "ties u_x, which nothing there can do; there are: u_z",
        ),
        ({"p": plate(2)}, [ph.Tie("p.left", "ground")], "none: it is held"),
        ({"p": plate(2), "m": ph.PointMass(1.0).discretise()}, [ph.Tie("p.right", "m.P")], "a point mass has none"),
        ({"p": SHEET, "b": BOX}, [ph.Tie("p.right", "b.left")], "an edge to a face"),
        ({"p": plate(2)}, [ph.Weld("p.right", "ground")], "take Tie"),
        ({"p": plate(2)}, [ph.Tie("p.right", "ground", name="a"), ph.Pressure("p", name="a")], "are called 'a'"),
        ({"p": plate(2), "rod": rod()}, [ph.Tie("p.right", "rod.P", name="rod.P")], "are called 'rod.P'"),
        ({"p": plate(2)}, "Tie", "must be a list"),
        ({"p": plate(2)}, [ph.Pressure("q")], "no body 'q'"),
        ({"p": plate(2), "rod": rod()}, [ph.Pressure("rod")], "no body on a mesh"),
        ({"b": BOX}, [ph.Pressure("b")], "use Traction"),
        ({"p": SHEET}, [ph.Pressure("p")], "use Traction"),
        ({"p": SHEET}, [ph.Traction("p.left", (1, 0, 0))], "pushes on nothing"),
        ({"p": SHEET}, [ph.Traction("p.lft", (1, 0, 0))], "no boundary 'lft'"),
        ({"p": SHEET}, [ph.Traction("p.top", lambda x, y: (x, y))], "must give 3 number"),
        ({"p": plate(2)}, [ph.Pressure("p", lambda x, y: "much")], "must give 1 number"),
        ({"p": plate(2)}, [ph.Pressure("p", lambda x, y: x / 0.0 * np.nan)], "NaN"),
        ({"p": plate(2), "rod": rod()}, [ph.Force("rod.Q", along=(0, 0, 1))], "no port 'rod.Q'"),
        ({"p": plate(2), "m": ph.PointMass(1.0).discretise()}, [ph.Torque("m.P", about=(0, 0, 1))], "no orientation"),
        ({"p": plate(2), "x": 3}, [], "'x' is int"),
        ({"p.q": plate(2)}, [], "cannot name a body"),
        ({"p": plate(2, frame="left", clamped=None)}, [], "reduced"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_connections_that_make_no_sense(bodies, joints, sentence):
    with pytest.raises(ph.InputError, match=sentence):
        ph.connect(bodies, joints=joints)


def test_boundaries_that_do_not_lie_on_each_other():
    short = ph.Sheet.rectangle(1.0, 0.5, material=soft).discretise((2, 1))
    skew = ph.Sheet.rectangle(1.0, 1.0, material=soft).discretise((2, 2))
    with pytest.raises(ph.InputError, match=r"0 of 1 m .* of 'right' lie on 'top'"):
        ph.connect({"a": SHEET, "b": skew}, joints=[ph.Tie("a.right", "b.top")])
    with pytest.raises(ph.InputError, match=r"0.5 of 1 m"):
        ph.connect({"a": SHEET, "b": short}, joints=[ph.Tie("a.right", "b.left")])


def test_gravity_and_planes_are_not_for_small_motions():
    with pytest.raises(ph.InputError, match="know no gravity"):
        ph.connect({"p": plate(2)}, gravity=(0, 0, -9.81))
    with pytest.raises(ph.InputError, match="connected in space"):
        ph.connect({"p": plate(2)}, plane="xy")


LINEAR = plate(2).linear(boundary=("right",))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"t_end": 1.0}, "give dt"),
        ({"dt": 0.1}, "t_end"),
        ({"t_end": 1.0, "dt": -0.1}, "dt is -0.1; it must be positive"),
        ({"t_end": -1.0, "dt": 0.1}, "not after the start"),
        ({"t_end": 1.0, "dt": 0.1, "u": {"left": 1.0}}, "no port 'left'"),
        ({"t_end": 1.0, "dt": 0.1, "u": {"right": 1.0}}, "12 numbers"),
        ({"t_end": 1.0, "dt": 0.1, "u": {"right": ph.position(lambda t: t)}}, "take velocities or efforts"),
        ({"t_end": 1.0, "dt": 0.1, "controller": 3}, "controller is 3; it must be a function"),
        ({"t_end": 1.0, "dt": 0.1, "controller": lambda t, y: 3}, "the controller returned 3 at t = 0 s"),
        (
            {"t_end": 1.0, "dt": 0.1, "controller": lambda t, y: {"left": 1.0}},
            "answers for 'left' at t = 0 s; there are",
        ),
        ({"t_end": 1.0, "dt": 0.1, "every": 0.1}, "there is none"),
        ({"t_end": 1.0, "dt": 0.1, "scheme": ph.RadauIIA(), "save": "run"}, "takes no scheme, save"),
        ({"t_end": 1.0, "dt": 0.1, "state": np.zeros(3)}, "the start has shape"),
        ({"t_end": 1.0, "dt": 0.1, "state": {"w": np.zeros(3)}}, "no row 'w'"),
        ({"t_end": 1.0, "dt": 0.1, "state": {"v": np.zeros(3)}}, "the start of v has shape"),
        ({"t_end": 1.0, "dt": 0.1, "output": 0}, "1 or more"),
        ({"t_end": 1.0, "dt": 0.1, "output": [2.0]}, "output times"),
    ],
)
def test_runs_that_cannot_be(options, sentence):
    with pytest.raises(ph.InputError, match=sentence):
        ph.simulate(LINEAR, **options)


def test_a_state_of_a_system_is_no_start():
    system = ph.connect({"b": ph.Beam(1.0, ph.Rectangle(0.1, 0.1), alu).discretise(1)}, plane="xy")
    with pytest.raises(ph.InputError, match="not from a State"):
        ph.simulate(LINEAR, ph.place(system), t_end=1.0, dt=0.1)


def test_names_that_a_result_does_not_have():
    result = ph.simulate(LINEAR, t_end=1e-3, dt=1e-3)
    for ask, sentence in [
        (lambda: result["w"], "no quantity 'w'; there are: v, sigma"),
        (lambda: result.displacement("rod"), "no field 'rod'"),
        (lambda: result.energy_of("rod"), "no part 'rod'"),
        (lambda: result.at(2.0), "outside the run"),
    ]:
        with pytest.raises(ph.InputError, match=sentence):
            ask()


def test_a_boundary_port_is_named_in_a_tuple():
    with pytest.raises(ph.InputError, match=r"\('right',\)"):
        plate(2).linear(boundary="right")
