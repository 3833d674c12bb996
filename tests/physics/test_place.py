"""Closing mechanisms of any topology, against geometry worked out by hand."""

import numpy as np
import pytest
import scipy.linalg as la
from bodies_zoo import beam, steel

import phloat as ph


def rod(length: float, **options) -> ph.Body:
    return ph.Beam(length, ph.Rectangle(0.02, 0.01), steel, **options).discretise(1)


def block(**ports) -> ph.Body:
    return ph.RigidBody(1.0, np.eye(3), ports=ports).discretise()


def worst_gap(system: ph.System, state: ph.State) -> float:
    return max((float(np.abs(g).max()) for g in ph.gaps(system, state).values()), default=0.0)


def turn(*vector: float) -> np.ndarray:
    return la.expm(np.cross(np.eye(3), np.array(vector)))


def test_a_slider_crank_stands_where_trigonometry_says():
    system = ph.connect(
        {"rod": rod(0.3), "slider": ph.PointMass(0.03).discretise()},
        joints=[
            ph.Drive("ground", "rod.P", name="crank pin"),
            ph.Revolute("rod.C", "slider.P"),
            ph.Slide("ground", "slider.P", along=(1, 0, 0)),
        ],
        plane="xy",
    )
    for angle in np.linspace(0, 2 * np.pi, 9):
        pin = 0.15 * np.array([np.cos(angle), np.sin(angle)])
        state = ph.place(system, {"rod.r_P": pin})
        np.testing.assert_allclose(state["rod.r_P"], pin, atol=0)
        assert state["slider.r_P"] == pytest.approx([pin[0] + np.sqrt(0.09 - pin[1] ** 2), 0.0], abs=1e-12)


def test_joint_coordinates_are_held_and_read_back():
    arm = ph.connect(
        {"a": rod(0.5), "b": rod(0.4)},
        joints=[ph.Revolute("ground", "a.P", name="shoulder"), ph.Revolute("a.C", "b.P", name="elbow")],
        plane="xy",
    )
    state = ph.place(arm, {"shoulder.angle": 0.4, "elbow.angle": -2.5})
    assert state["a.theta"] == pytest.approx(0.4)
    assert state["b.theta"] == pytest.approx(-2.1)
    assert ph.joint_coordinates(arm, state) == pytest.approx({"shoulder.angle": 0.4, "elbow.angle": -2.5})
    cart = ph.connect({"cart": block()}, joints=[ph.Prismatic("ground", "cart.P", axis=(0, 1, 0), name="rail")])
    placed = ph.place(cart, {"rail.slide": 0.7})
    np.testing.assert_allclose(placed["cart.r_P"], [0, 0.7, 0], atol=1e-12)


@pytest.mark.parametrize("kind", ["slide", "prismatic"])
def test_slides_in_the_plane_may_be_oblique(kind):
    along = np.array([0.6, 0.8, 0.0])
    if kind == "slide":
        body, joint = ph.PointMass(1.0).discretise(), ph.Slide("ground", "b.P", along=along, at=(1, 0, 0), name="rail")
    else:
        body, joint = block(), ph.Prismatic("ground", "b.P", axis=along, at=(1, 0, 0), name="rail")
    system = ph.connect({"b": body}, joints=[joint], plane="xy")
    state = ph.place(system, {"rail.slide": 0.5})
    np.testing.assert_allclose(state["b.r_P"], [1.3, 0.4], atol=1e-12)
    found = ph.modes(ph.linearise(system, state))
    assert found.rigid == 1
    np.testing.assert_allclose(np.abs(found.shape(0, "b.P")[:2]), [0.6, 0.8], atol=1e-12)


def test_whole_turns_of_a_joint_are_counted_in_the_plane():
    arm = ph.connect(
        {"a": rod(0.5), "b": rod(0.4)},
        joints=[ph.Revolute("ground", "a.P", name="shoulder"), ph.Revolute("a.C", "b.P", name="elbow")],
        plane="xy",
    )
    state = ph.place(arm, {"shoulder.angle": 4.0, "elbow.angle": -7.0})
    assert state["a.theta"] == pytest.approx(4.0)
    assert state["b.theta"] == pytest.approx(-3.0)
    assert ph.joint_coordinates(arm, state) == pytest.approx({"shoulder.angle": 4.0, "elbow.angle": -7.0})


def test_ground_may_be_written_on_either_side():
    for ends in (("ground", "b.P"), ("b.P", "ground")):
        system = ph.connect({"b": rod(1.0)}, joints=[ph.Revolute(*ends, at=(1, 2, 3), axis=(0, 0, 1), name="pin")])
        state = ph.place(system, {"pin.angle": 0.6})
        np.testing.assert_allclose(state["b.r_P"], [1, 2, 3], atol=1e-12)
        np.testing.assert_allclose(state["b.A_IB"], turn(0, 0, 0.6), atol=1e-12)


def test_a_revolute_turns_about_its_own_axis():
    axis = np.array([1.0, 2.0, -2.0]) / 3
    system = ph.connect({"b": block(tip=(0.3, 0.1, 0.2))}, joints=[ph.Revolute("ground", "b.P", axis=axis, name="pin")])
    state = ph.place(system, {"pin.angle": 1.1})
    np.testing.assert_allclose(state["b.A_IB"], turn(*(1.1 * axis)), atol=1e-12)


def test_welded_bodies_take_the_turn_between_their_frames():
    satellite = ph.connect(
        {"hub": block(left=(-0.5, 0, 0), right=(0.5, 0, 0)), "left": rod(3.0), "right": rod(3.0)},
        joints=[ph.Weld("hub.right", "right.P"), ph.Weld("hub.left", "left.P", turned=(0, 0, np.pi))],
    )
    state = ph.place(satellite)
    np.testing.assert_allclose(state.position("right", 1.0), [3.5, 0, 0], atol=1e-12)
    np.testing.assert_allclose(state.position("left", 1.0), [-3.5, 0, 0], atol=1e-12)
    moved = ph.place(satellite, {"hub.r_P": (1, 0, 0), "hub.A_IB": turn(0, 0, np.pi / 2)})
    np.testing.assert_allclose(moved.position("left", 1.0), [1, -3.5, 0], atol=1e-12)


@pytest.mark.parametrize("guess", [turn(0, 0, np.pi), turn(np.pi, 0, 0), turn(0.3, 3.0, 0.2)])
def test_a_weld_placed_from_a_guess_half_a_turn_away_ends_aligned(guess):
    system = ph.connect({"b": block()}, joints=[ph.Weld("ground", "b.P", at=(1, 0, 0))])
    state = ph.place(system, near={"b.A_IB": guess})
    np.testing.assert_allclose(state["b.A_IB"], np.eye(3), atol=1e-10)


def test_a_spatial_four_bar_closes_with_its_coupler_at_its_length():
    """RSSR: input about z at the origin, output about x at (1, 0.3, 0.2), coupler between ball joints."""
    system = ph.connect(
        {"input": block(tip=(0.15, 0, 0)), "coupler": rod(1.2), "output": block(tip=(0.0, 0.5, 0.3))},
        joints=[
            ph.Revolute("ground", "input.P", name="motor"),
            ph.Spherical("input.tip", "coupler.P"),
            ph.Spherical("coupler.C", "output.tip"),
            ph.Revolute("ground", "output.P", axis=(1, 0, 0), at=(1.0, 0.3, 0.2), name="out"),
        ],
    )
    state = None
    for angle in np.linspace(0, 2 * np.pi, 13):
        state = ph.place(system, {"motor.angle": angle}, near=state)
        assert worst_gap(system, state) < 1e-11
        a = 0.15 * np.array([np.cos(angle), np.sin(angle), 0.0])
        b = state.position("coupler", 1.0)
        assert np.linalg.norm(b - a) == pytest.approx(1.2, abs=1e-11)
        out = ph.joint_coordinates(system, state)["out.angle"]
        np.testing.assert_allclose(b, [1.0, 0.3, 0.2] + turn(out, 0, 0) @ [0.0, 0.5, 0.3], atol=1e-11)
    free = ph.modes(ph.linearise(system, state))
    assert free.rigid == 2  # the crank, and the coupler about its own length


def test_a_platform_on_six_legs_closes_and_is_rigid():
    base = [np.array([np.cos(a), np.sin(a), 0.0]) for a in np.deg2rad([0, 20, 120, 140, 240, 260])]
    top = [0.6 * np.array([np.cos(a), np.sin(a), 0.0]) for a in np.deg2rad([-50, 70, 70, 190, 190, 310])]
    legs = {
        f"leg{i}": rod(float(np.linalg.norm(t - b + np.array([0, 0, 1.0]))))
        for i, (b, t) in enumerate(zip(base, top, strict=True))
    }
    plate = block(**{f"p{i}": tuple(t) for i, t in enumerate(top)})
    joints = [ph.Spherical("ground", f"leg{i}.P", at=b) for i, b in enumerate(base)]
    joints += [ph.Spherical(f"leg{i}.C", f"plate.p{i}") for i in range(6)]
    system = ph.connect({"plate": plate, **legs}, joints=joints)
    near = {"plate.r_P": (0.05, -0.02, 0.9), "plate.A_IB": turn(0.05, 0.02, 0.1)}
    state = ph.place(system, near=near)
    assert worst_gap(system, state) < 1e-11
    np.testing.assert_allclose(state["plate.r_P"], [0, 0, 1], atol=1e-9)
    assert ph.modes(ph.linearise(system, state)).rigid == 6  # each leg spins about itself


def test_deformed_bodies_are_placed_by_their_deformed_ports():
    body = beam().discretise(1)
    system = ph.connect({"a": body, "b": body}, joints=[ph.Weld("ground", "a.P"), ph.Weld("a.C", "b.P")], plane="xy")
    eta = np.array([0.0, 0.0, 0.1, 0.2])  # u_x in the middle and at C, u_y and slope at C
    state = ph.place(system, {"a.eta": eta})
    np.testing.assert_allclose(state["b.r_P"], [1.3, 0.1], atol=1e-12)
    assert state["b.theta"] == pytest.approx(
        np.arctan2(0.2, 1 - 0.2**2 / 3), abs=1e-12
    )  # aligned to the bent section …
    assert state["b.theta"] == pytest.approx(0.2, abs=1e-5)  # … which has turned by its slope
    assert worst_gap(system, state) < 1e-12
    np.testing.assert_allclose(state["a.sigma"], system.bodies["a"].elastic.stress(eta))


def test_a_parallelogram_at_its_dead_point_is_placed_and_its_modes_found():
    links = {"a": rod(0.5), "b": rod(1.0), "c": rod(0.5)}
    system = ph.connect(
        links,
        joints=[
            ph.Revolute("ground", "a.P", name="crank"),
            ph.Revolute("a.C", "b.P"),
            ph.Revolute("b.C", "c.C"),
            ph.Revolute("ground", "c.P", at=(1.0, 0, 0)),
        ],
        plane="xy",
    )
    for angle in (0.0, 0.3):
        state = ph.place(system, {"a.theta": angle}, near={"b.theta": 0.0, "c.theta": angle})
        assert worst_gap(system, state) < 1e-11
        assert state["b.theta"] == pytest.approx(0.0, abs=1e-7)
    assert ph.modes(ph.linearise(system, state)).rigid == 1


@pytest.mark.parametrize("elbow", [-1.0, 1.0])
def test_a_guess_of_a_joint_angle_selects_the_way_to_stand(elbow):
    """Two links of 1 m to a point 1.2 m away: the elbow is bent by ± 2 arccos 0.6, as the guess says."""
    bar = ph.RigidBody(1.0, 0.1 * np.eye(3), center=(0.5, 0, 0), ports={"C": (1, 0, 0)}).discretise()
    joints = [
        ph.Revolute("ground", "a.P", name="shoulder"),
        ph.Revolute("a.C", "b.P", name="elbow"),
        ph.Revolute("b.C", "ground", at=(1.2, 0, 0)),
    ]
    system = ph.connect({"a": bar, "b": bar}, joints, plane="xy")
    state = ph.place(system, near={"shoulder.angle": -elbow, "elbow.angle": 1.5 * elbow})
    assert np.isclose(ph.joint_coordinates(system, state)["elbow.angle"], elbow * 2 * np.arccos(0.6))
