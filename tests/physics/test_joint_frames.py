"""Directions and attitudes of joints that a user may choose: second axis, slides of a plane, ball joints by name."""

import json

import numpy as np
import pytest
from files_zoo import from_plain
from messages import raises
from scipy.spatial.transform import Rotation

import phloat as ph
from phloat.format.system import plain

BLOCK = ph.RigidBody(2.0, np.diag([0.5, 0.8, 1.0]), ports={"tip": (0.3, 0.1, -0.2)}).discretise()


def attitude(system: ph.System, state: ph.State) -> np.ndarray:
    return state["b.A_IB"].reshape(3, 3)


def test_the_second_axis_of_a_universal_joint_is_the_one_that_is_given():
    """Axis z, second axis (3, 4, 0)/5: angle_2 turns about it, by hand."""
    joint = ph.Universal("ground", "b.P", axis=(0, 0, 1), second_axis=(3, 4, 0), name="j")
    system = ph.connect({"b": BLOCK}, [joint])
    state = ph.place(system, {"j.angle": 0.4, "j.angle_2": 0.7})
    by_hand = Rotation.from_rotvec([0, 0, 0.4]) * Rotation.from_rotvec(0.7 * np.array([0.6, 0.8, 0]))
    np.testing.assert_allclose(attitude(system, state), by_hand.as_matrix(), atol=1e-12)


def test_the_slides_of_a_planar_joint_point_where_they_are_told():
    """Normal y, slide_x along −z: slide_y is y × (−z) = −x."""
    joint = ph.Planar("ground", "b.P", axis=(0, 1, 0), along=(0, 0, -1), name="j")
    system = ph.connect({"b": BLOCK}, [joint])
    state = ph.place(system, {"j.slide_x": 0.3, "j.slide_y": 0.5, "j.angle": 0.2})
    np.testing.assert_allclose(state["b.r_P"], (-0.5, 0.0, -0.3), atol=1e-12)


@pytest.mark.parametrize("kind", [ph.Universal, ph.Planar])
def test_without_a_direction_the_frame_follows_the_axis(kind):
    """Through the plane xy, where it once jumped by 90°, and everywhere but at −z."""
    rng = np.random.default_rng(2)
    for axis in [*np.eye(3), *rng.normal(size=(10, 3)), np.array([1.0, 2.0, 0.0])]:
        axis = axis / np.linalg.norm(axis)
        near = axis + 1e-7 * rng.normal(size=3)
        one, two = (kind("ground", "b.P", axis=tuple(a)).triads()[0] for a in (axis, near))
        assert np.abs(one - two).max() < 1e-5
        np.testing.assert_allclose(one.T @ one, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(one[:, 2], axis, atol=1e-12)


@pytest.mark.parametrize(
    "joint",
    [
        ph.Universal("ground", "b.P", axis=(0, 0, 1), second_axis=(3, 4, 0), name="j"),
        ph.Planar("ground", "b.P", axis=(0, 1, 0), along=(0, 0, -1), name="j"),
        ph.Universal("ground", "b.P", name="j"),
    ],
    ids=["universal", "planar", "plain"],
)
def test_directions_come_back_from_a_model_file(joint):
    system = ph.connect({"b": BLOCK}, [joint])
    again = from_plain(json.loads(json.dumps(plain(system)))).system
    np.testing.assert_array_equal(again.joints["j"].first.triad, system.joints["j"].first.triad)
    assert ph.parameters(again) == ph.parameters(system)


def test_directions_that_are_not_normal_to_the_axis_are_refused():
    with raises(ph.errors.InputError, "second_axis", "45°"):
        ph.Universal("ground", "b.P", axis=(0, 0, 1), second_axis=(1, 0, 1), name="j")
    with raises(ph.errors.InputError, "along", "0°"):
        ph.Planar("ground", "b.P", axis=(0, 1, 0), along=(0, 1, 0), name="j")


def test_a_ball_joint_is_placed_and_set_moving_by_name():
    """Between two bodies, turned at zero: D_Aᵀ D_B and the spin of B seen from A, in the frame of A, are what was asked for."""
    turned, R = (0.3, 0.2, -0.4), Rotation.from_rotvec([1.0, -2.0, 0.8]).as_matrix()
    joint = ph.Spherical("a.tip", "b.P", turned=turned, name="ball")
    system = ph.connect({"a": BLOCK, "b": BLOCK}, [joint])
    A = Rotation.from_rotvec([0.1, 0.7, -0.3]).as_matrix()
    state = ph.place(system, {"a.r_P": (1, 2, 3), "a.A_IB": A, "ball.A": R})
    wanted = (
        A @ R @ Rotation.from_rotvec(turned).as_matrix()
    )  # the second frame is turned from the first where R is the identity
    np.testing.assert_allclose(attitude(system, state), wanted, atol=1e-11)
    spin = np.array([0.5, -1.0, 2.0])
    moving = ph.set_moving(system, state, {"a.v_P": (0.1, 0.2, 0.3), "a.omega": (1, 2, 3), "ball.omega": spin})
    seen = A.T @ (wanted @ moving["b.omega"] - A @ moving["a.omega"])
    np.testing.assert_allclose(seen, spin, atol=1e-11)
    ph.simulate(system, moving, 0.1, dt=1e-2)


def test_what_is_no_attitude_is_refused():
    system = ph.connect({"b": BLOCK}, [ph.Spherical("ground", "b.P", name="ball")])
    with raises(ph.errors.InputError, "ball.A"):
        ph.place(system, {"ball.A": 2 * np.eye(3)})
    with raises(ph.errors.InputError, "ball.omega"):
        ph.set_moving(system, ph.place(system), {"ball.omega": 1.0})
    with raises(ph.errors.PortError, "'ball.B'"):
        ph.place(system, {"ball.B": np.eye(3)})
