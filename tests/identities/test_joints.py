"""Joints between two floating bodies: action is reaction, and frames are turned the way they are told."""

import numpy as np
import pytest
import scipy.linalg as la
from bodies_zoo import bodies, random_state

import phloat as ph
from phloat.joints.rows import row_gaps, row_rates
from phloat.motion.initial.velocities import velocity_rows
from phloat.system.joint_rows import columns_in_velocities, coordinates_of, ends, grouped_ports, scatter_rows

KINDS = {
    "weld": ph.Weld("a.C", "b.P", turned=(0.1, 0.2, 0.3), name="joint"),
    "revolute": ph.Revolute("a.C", "b.P", axis=(0.0, 0.6, 0.8), turned=(0.3, -0.2, 0.5), name="joint"),
    "prismatic": ph.Prismatic("a.C", "b.P", axis=(0.6, 0.8, 0.0), name="joint"),
    "spherical": ph.Spherical("a.C", "b.P", name="joint"),
    "slide": ph.Slide("a.C", "b.P", along=(0.0, 0.6, 0.8), name="joint"),
}


def pair(kind: str) -> ph.System:
    zoo = bodies()
    return ph.connect({"a": zoo["beam"], "b": zoo["rayleigh beam"]}, joints=[KINDS[kind]])


def resultant(system: ph.System, state: ph.State, efforts: np.ndarray) -> np.ndarray:
    """Total force, and torque about the origin, of efforts on the velocity rows, in inertial axes."""
    total = np.zeros((6, efforts.shape[1]))
    for name in system.bodies:
        pose = state.pose(name)
        force = pose.A @ efforts[system.layout[f"{name}.v_P"]]
        total[:3] += force
        total[3:] += np.cross(pose.r_P, force, axis=0) + pose.A @ efforts[system.layout[f"{name}.omega"]]
    return total


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_joint_does_to_one_body_it_does_back_to_the_other(kind):
    system = pair(kind)
    for seed in range(3):
        state = random_state(system, seed)
        terms = ph.terms(system, state)
        # rows that hold a point must hold it where both bodies are: the efforts of an open joint need a closed one
        closed = ph.place(system, {"a.r_P": state["a.r_P"], "a.A_IB": state["a.A_IB"], "a.eta": state["a.eta"]})
        terms = ph.terms(system, closed)
        efforts = [terms.G.toarray().T]
        if "joint" in system.ports:
            efforts.append(terms.B.toarray()[:, system.ports["joint"]])
        total = resultant(system, closed, np.hstack(efforts))
        assert np.abs(total).max() < 1e-10


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "weld"])
def test_the_free_axes_of_a_joint_do_not_work_on_what_it_closes(kind):
    """At a closed rigid position, G and the free axes together see the whole relative motion of the ports, each once."""
    zoo = bodies()
    system = ph.connect({"a": zoo["rigid body"], "b": zoo["rigid body"]}, joints=[_on_rigid(KINDS[kind])])
    terms = ph.terms(system, ph.place(system, {"a.A_IB": la.expm(np.cross(np.eye(3), [0.3, -0.4, 0.5]))}))
    free = terms.B.toarray()[:, system.ports["joint"]].T
    seen = np.vstack([terms.G.toarray(), free])
    expected = 3 if kind == "slide" else 6  # how the second body turns is left alone by a slide
    assert np.linalg.matrix_rank(seen) == len(seen) == expected


def _on_rigid(joint: ph.Weld) -> ph.Weld:
    from dataclasses import replace

    return replace(joint, first="a.tip", second="b.P")


def test_the_second_frame_is_turned_from_the_first_by_the_given_vector():
    turned = np.array([0.3, -0.2, 0.5])
    system = ph.connect(
        {"a": bodies()["rigid body"], "b": bodies()["rigid body"]}, joints=[ph.Weld("a.tip", "b.P", turned=turned)]
    )
    A = la.expm(np.cross(np.eye(3), [0.7, 0.1, -0.3]))
    state = ph.place(system, {"a.r_P": (1, 2, 3), "a.A_IB": A})
    np.testing.assert_allclose(state["b.A_IB"], A @ la.expm(np.cross(np.eye(3), turned)), atol=1e-12)
    np.testing.assert_allclose(state["b.r_P"], [1, 2, 3] + A @ [0.5, 0.2, -0.1], atol=1e-12)


def test_ground_as_second_port_is_turned_and_directed_as_written():
    """`axis` and `turned` belong to the first port as written, the body; motion is still seen from the ground."""
    turned, axis = np.array([0.2, 0.4, -0.1]), np.array([0.0, 0.6, 0.8])
    joint = ph.Revolute("b.tip", "ground", axis=axis, turned=turned, at=(1, 0, 0), name="pin")
    system = ph.connect({"b": bodies()["rigid body"]}, joints=[joint])
    R = la.expm(np.cross(np.eye(3), turned))
    zero = ph.place(system, {"pin.angle": 0.0})
    np.testing.assert_allclose(zero["b.A_IB"] @ R, np.eye(3), atol=1e-12)  # ground frame = body frame · R
    state = ph.place(system, {"pin.angle": 0.6})
    in_space = R.T @ axis
    np.testing.assert_allclose(state["b.A_IB"], la.expm(np.cross(np.eye(3), 0.6 * in_space)) @ R.T, atol=1e-12)
    np.testing.assert_allclose(state["b.r_P"] + state["b.A_IB"] @ [0.5, 0.2, -0.1], [1, 0, 0], atol=1e-12)


def test_the_torque_of_a_joint_turns_the_second_body_forward():
    """A unit effort on the elbow: + on the second, − on the first; its flow is the rate of the angle."""
    link = bodies()["rigid body"]
    arm = ph.connect(
        {"a": link, "b": link},
        joints=[ph.Revolute("ground", "a.P", name="shoulder"), ph.Revolute("a.tip", "b.P", name="elbow")],
        plane="xy",
    )
    terms = ph.terms(arm, ph.place(arm, {"elbow.angle": 0.4}))
    effort = terms.B.toarray()[:, terms.ports["elbow"]].ravel()
    assert effort[arm.layout["b.omega"]] == pytest.approx(1.0)
    assert effort[arm.layout["a.omega"]] == pytest.approx(-1.0)


def test_nested_joints_keep_their_names_ports_and_motion():
    link = bodies()["rigid body"]
    stage = ph.connect({"a": link, "b": link}, joints=[ph.Revolute("a.tip", "b.P", name="elbow")], plane="xy")
    whole = ph.connect(
        {"left": stage, "right": stage},
        joints=[ph.Revolute("ground", "left.a.P", name="base"), ph.Weld("left.b.tip", "right.a.P")],
        plane="xy",
    )
    assert {"left.elbow", "right.elbow", "base", "left.b.tip-right.a.P"} == set(whole.joints)
    assert "right.b.tip" in whole.ports and "right.elbow" in whole.ports
    state = ph.place(whole, {"left.elbow.angle": 0.2, "right.elbow.angle": -0.7, "base.angle": 0.1})
    assert ph.joint_coordinates(whole, state) == pytest.approx(
        {"base.angle": 0.1, "left.elbow.angle": 0.2, "right.elbow.angle": -0.7}
    )
    assert state["right.b.theta"] == pytest.approx(0.1 + 0.2 - 0.7)
    assert ph.modes(ph.linearise(ph.lock(whole, "left.elbow"), state)).rigid == 2


# --- joints that are evaluated together ------------------------------------------------------------------------------


def mixed(plane: str | None) -> ph.System:
    """Every kind of joint, several of each, between bodies of several kinds and to the ground, with a loop."""
    zoo = bodies()
    parts = {f"{name} {k}": zoo[name] for name in ("beam", "slaved beam", "rigid body") for k in range(2)}
    names, ends = list(parts), {"beam": "C", "slaved beam": "C", "rigid body": "tip"}
    pairs = [(f"{a}.{ends[a[:-2]]}", f"{b}.P") for a, b in zip(names, names[1:] + names[:1], strict=True)]
    kinds = [ph.Revolute, ph.Weld, ph.Prismatic, ph.Revolute, ph.Spherical, ph.Revolute]
    axes = [{"axis": (1, 0, 0)} if kind is ph.Prismatic else {} for kind in kinds]
    joints = [kind(*pair, name=f"j{k}", **axes[k]) for k, (kind, pair) in enumerate(zip(kinds, pairs, strict=True))]
    joints += [ph.Revolute("ground", f"{names[0]}.P", at=(0.1, 0.2, 0.0), name="hinge", turned=(0.0, 0.0, 0.4))]
    joints += [
        ph.Slide("ground", f"{names[3]}.P", along=(1, 0, 0), name="slide"),
        ph.Drive("ground", f"{names[5]}.P", name="d"),
    ]
    return ph.connect(parts, joints, plane=plane)


@pytest.mark.parametrize("plane", [None, "xy"])
def test_joints_together_are_what_each_is_alone(plane):
    system = mixed(plane)
    for seed in range(3):
        state = random_state(system, seed)
        gaps, coordinates, G = (
            ph.gaps(system, state),
            ph.joint_coordinates(system, state),
            velocity_rows(system, state)[0],
        )
        assert list(gaps) == [name for name, c in system.joints.items() if c.closed]
        for name, c in system.joints.items():
            first, second = ends(c, state)
            if c.closed:
                np.testing.assert_allclose(gaps[name], row_gaps(c.closed, first, second), rtol=0.0, atol=1e-13)
            alone = scatter_rows([(c, row_rates(c.rows, first, second))], columns_in_velocities(system)).toarray()
            together = G.toarray()[system.multipliers[name]] if c.rows else alone
            np.testing.assert_allclose(together, alone, rtol=0.0, atol=1e-12 * np.abs(alone).max(initial=1.0))
            for label, value in coordinates_of(system, state, name).items():
                assert abs(coordinates[label] - value) < 1e-12


def test_a_port_at_many_states_is_the_port_at_each():
    """Arrays with a first axis give what each row of them gives alone: points, triads and their rates."""
    system = mixed(None)
    for group, *sides in grouped_ports(system, random_state(system, 7)):
        for side, many in zip(("first", "second"), sides, strict=True):
            for k, c in enumerate(group.joints):
                one = ends(c, random_state(system, 7))[side == "second"]
                for name in ("c", "D", "point", "turn", "spin"):
                    got = getattr(many, name)[k]
                    np.testing.assert_allclose(
                        got, getattr(one, name), rtol=0.0, atol=1e-13, err_msg=f"{c.name} {name}"
                    )
