"""Names that are not there: the answer lists those that are, and the nearest."""

import numpy as np
import pytest
from messages import raises

import phloat as ph

LINK = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0), ports={"mid": 0.5}).discretise(2)
HUB = ph.RigidBody(1.0, np.eye(3), ports={"left": (-1.0, 0.0, 0.0)}).discretise()
ARM = ph.connect(
    {"upper": LINK, "lower": LINK},
    joints=[ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")],
    plane="xy",
)
REST = ph.place(ARM)
PLANT = ph.linearise(ARM, REST)
MODES = ph.modes(PLANT)
PORTS = "upper.P, upper.C, upper.mid, lower.P, lower.C, lower.mid, shoulder, elbow"


@pytest.mark.parametrize("joint", [ph.Revolute, ph.Weld, ph.Spherical, ph.Slide, ph.Prismatic, ph.Drive])
@pytest.mark.parametrize("port", ["rod.Q", "rod.middle", "hub.right", "bar.P", "rod", "Ground", ""])
def test_no_such_port(joint, port):
    with raises(ph.errors.PortError, joint.__name__, f"'{port}'"):
        ph.connect({"rod": LINK, "hub": HUB}, joints=[joint("ground", port)])


@pytest.mark.parametrize("port", [None, 3, ("rod", "P"), LINK], ids=["none", "number", "pair", "body"])
def test_a_port_is_named_by_a_word(port):
    with raises(ph.errors.InputError):
        ph.connect({"rod": LINK}, joints=[ph.Revolute("ground", port)])


@pytest.mark.parametrize("verb", [ph.lock, ph.drive])
@pytest.mark.parametrize("name", ["sholder", "upper", "upper.P", 0, None, ["elbow"]], ids=repr)
def test_no_such_joint(verb, name):
    with raises(ph.errors.PortError, repr(name)):
        verb(ARM, name)


@pytest.mark.parametrize("verb", [ph.lock, ph.drive])
def test_a_joint_without_free_axis_can_be_neither_locked_nor_driven(verb):
    welded = ph.connect({"rod": LINK}, joints=[ph.Weld("ground", "rod.P", name="root")])
    with raises(ph.errors.JointError, "'root'", verb.__name__):
        verb(welded, "root")
    with raises(ph.errors.JointError, "'elbow'", verb.__name__):
        verb(ph.lock(ARM, "elbow"), "elbow")


@pytest.mark.parametrize("where", ["given", "near"])
@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("uper.theta", r"did you mean 'upper\.theta'"),
        ("upper.v_P", r"upper\.r_P, upper\.theta, upper\.eta"),
        ("upper.A_IB", r"upper\.r_P, upper\.theta"),
        ("elbow.angel", r"did you mean 'elbow\.angle'"),
        ("elbow.slide", r"shoulder\.angle, elbow\.angle"),
        ("upper", r"upper\.r_P"),
        (3, r"upper\.r_P"),
    ],
)
def test_no_such_position(name, there, where):
    values = {name: 0.0}
    with raises(ph.errors.PortError, repr(name)):
        ph.place(ARM, values) if where == "given" else ph.place(ARM, near=values)


@pytest.mark.parametrize("values", ["upper.theta", ["upper.theta"], 5], ids=repr)
def test_positions_come_as_a_mapping(values):
    with raises(ph.errors.InputError, "given"):
        ph.place(ARM, values)
    with raises(ph.errors.InputError, "near"):
        ph.place(ARM, near=values)


@pytest.mark.parametrize(
    "name", ["upper.thta", "uper.theta", "upper", "", "elbow.angle", "uper.u_f", 3, None], ids=repr
)
def test_no_such_quantity_of_a_state(name):
    with raises(ph.errors.PortError, repr(name)):
        REST[name]
    with raises(ph.errors.PortError, repr(name)):
        REST.with_values({name: 0.0})


@pytest.mark.parametrize("look", [ph.State.position, ph.State.displacement, ph.State.stress])
def test_no_such_body_of_a_state(look):
    with raises(ph.errors.PortError, "'uper'"):
        look(REST, "uper", 0.5)


def test_no_such_pose_of_a_state():
    with raises(ph.errors.PortError, "'uper'"):
        REST.pose("uper")


@pytest.mark.parametrize("look", [ph.State.position, ph.State.displacement, ph.State.stress])
@pytest.mark.parametrize("s", [-0.1, 1.5, float("nan"), "tip", None, [0.5]], ids=repr)
def test_no_such_place_on_a_beam(look, s):
    if s is None and look is ph.State.position:
        assert np.array_equal(REST.position("upper"), REST["upper.r_P"])  # without a place it is that of P
        return
    with raises(ph.errors.InputError, "place"):
        look(REST, "upper", s)


@pytest.mark.parametrize("s", [-1, 2, 0.5, float("nan"), "left"], ids=repr)
def test_no_such_place_on_a_rigid_body(s):
    system = ph.connect({"hub": HUB})
    with raises(ph.errors.InputError, "place"):
        ph.place(system).position("hub", s)


@pytest.mark.parametrize("name", ["uper.P", "upper", "upper.Q", "upper.P[0]", 3, ["upper.P"]], ids=repr)
def test_no_such_port_to_leave_open(name):
    with raises(ph.errors.PortError, repr(name)):
        PLANT.with_ports(name)


def test_no_port_stands_twice():
    with raises(ph.errors.InputError, "'elbow'"):
        PLANT.with_ports("elbow", "elbow")


@pytest.mark.parametrize("ports", [("elbo",), ("elbow", "elbo"), (["elbow", "elbo"],), ("upper.P[",), (3,), (None,)])
def test_no_such_port_to_look_through(ports):
    with raises(ph.errors.InputError):
        ph.response(PLANT, *ports, omega=[1.0])


@pytest.mark.parametrize("index", ["3", "-1", "x", ""])
def test_no_such_component_of_a_port(index):
    with raises(ph.errors.InputError, f"'upper.P[{index}]'"):
        ph.response(PLANT, f"upper.P[{index}]", omega=[1.0])


@pytest.mark.parametrize("name", ["uper", "upper.Q", 3, None], ids=repr)
def test_no_such_body_or_port_of_a_mode(name):
    with raises(ph.errors.InputError, repr(name)):
        MODES.shape(0, name)


@pytest.mark.parametrize("k", [len(MODES), -len(MODES) - 1, 0.5, "0", None, float("nan")], ids=repr)
def test_no_such_mode(k):
    with raises(ph.errors.InputError, repr(k)):
        MODES.shape(k, "upper")


def test_no_such_port_to_drive_power_through():
    with raises(ph.errors.PortError, "'elbo'"):
        ph.power_balance(ARM, REST, {"elbo": 1.0})


@pytest.mark.parametrize("verb", [ph.transformer, ph.gyrator])
def test_no_such_port_to_connect(verb):
    one, two = LINK.linear().prefixed("one"), LINK.linear().prefixed("two")
    with raises(ph.errors.PortError, "'two.Q'"):
        verb(one, "one.P", two, "two.Q")
    with raises(ph.errors.PortError, "'one.Q'"):
        verb(one, "one.Q", two, "two.P")


def test_no_such_port_to_swap():
    with raises(ph.errors.PortError, "'Q'"):
        ph.swap_causality(LINK.linear(), "Q")
