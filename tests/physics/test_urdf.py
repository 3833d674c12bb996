"""Robots of URDF files move as textbooks say, rigid and with beams for links."""

import warnings

import numpy as np
import pytest
from messages import warns
from scipy.spatial.transform import Rotation

import phloat as ph

PENDULUM = """<?xml version="1.0"?>
<robot name="pendulum">
  <link name="world"/>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 -0.3" rpy="0 0 0"/>
      <mass value="2.0"/>
      <inertia ixx="0.06" ixy="0" ixz="0" iyy="0.06" iyz="0" izz="0.001"/>
    </inertial>
  </link>
  <joint name="pivot" type="continuous">
    <parent link="world"/> <child link="rod"/>
    <origin xyz="0.1 0.2 1.0" rpy="0 0 0.7"/>
    <axis xyz="0 1 0"/>
  </joint>
</robot>"""


def link(name: str, mass=1.0, center=(0.25, 0, 0), moments=(0.01, 0.02, 0.03), rpy=(0, 0, 0)) -> str:
    place, turn = " ".join(map(str, center)), " ".join(map(str, rpy))
    x, y, z = moments
    return f"""<link name="{name}"><inertial><origin xyz="{place}" rpy="{turn}"/><mass value="{mass}"/>
      <inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def joint(name, kind, parent, child, xyz=(0, 0, 0), rpy=(0, 0, 0), axis=(0, 0, 1), more="") -> str:
    at, turn, about = (" ".join(map(str, v)) for v in (xyz, rpy, axis))
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
      <origin xyz="{at}" rpy="{turn}"/><axis xyz="{about}"/>{more}</joint>"""


def robot(*parts: str) -> str:
    return f'<robot name="r"><link name="base"/>{"".join(parts)}</robot>'


@pytest.fixture
def load(tmp_path):
    def loaded(text: str, *arguments, **options) -> ph.System:
        path = tmp_path / "robot.urdf"
        path.write_text(text)
        return ph.io.load_urdf(path, *arguments, **options)

    return loaded


def test_a_pendulum_swings_at_its_frequency(load):
    system = load(PENDULUM)
    found = ph.modes(ph.linearise(system, ph.place(system, {"pivot.angle": 0.0})))
    np.testing.assert_allclose(found.omega, [np.sqrt(2 * 9.81 * 0.3 / (0.06 + 2 * 0.09))], rtol=1e-9)


def test_a_link_stands_where_its_joint_is(load):
    state = ph.place(load(PENDULUM), {"pivot.angle": 0.4})
    np.testing.assert_allclose(state["rod.r_P"], [0.1, 0.2, 1.0], atol=1e-12)
    turned = Rotation.from_euler("xyz", [0, 0, 0.7]) * Rotation.from_rotvec([0, 0.4, 0])
    np.testing.assert_allclose(state["rod.A_IB"], turned.as_matrix(), atol=1e-12)


def mass_matrix(system: ph.System, angles: dict[str, float]) -> np.ndarray:
    """M(q) of an arm, from the kinetic energy of unit joint rates and of their sums."""
    names, state = list(angles), ph.place(system, {f"{j}.angle": q for j, q in angles.items()})

    def energy(rates):
        given = {f"{j}.angle_rate": r for j, r in zip(names, rates, strict=True)}
        moving = ph.set_moving(system, state, given)
        return 2 * (ph.energy(system, moving) - ph.energy(system, state))

    n = len(names)
    M = np.diag([energy(np.eye(n)[i]) for i in range(n)])
    for i in range(n):
        for j in range(i):
            M[i, j] = M[j, i] = 0.5 * (energy(np.eye(n)[i] + np.eye(n)[j]) - M[i, i] - M[j, j])
    return M


def test_a_two_link_arm_has_the_mass_matrix_of_the_textbook(load):
    m1, m2, l1, c1, c2, I1, I2 = 1.3, 0.7, 0.5, 0.2, 0.3, 0.03, 0.02
    arm = load(
        robot(
            link("upper", m1, (c1, 0, 0), (0.01, I1, I1)),
            link("lower", m2, (c2, 0, 0), (0.005, I2, I2)),
            joint("shoulder", "revolute", "base", "upper"),
            joint("elbow", "continuous", "upper", "lower", (l1, 0, 0)),
        )
    )
    q2 = 0.8
    h = m2 * (c2**2 + l1 * c2 * np.cos(q2)) + I2
    expected = [[m1 * c1**2 + I1 + I2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * np.cos(q2)), h], [h, m2 * c2**2 + I2]]
    np.testing.assert_allclose(mass_matrix(arm, {"shoulder": 0.3, "elbow": q2}), expected, rtol=1e-9)


def test_an_inertia_in_turned_axes_is_turned(load):
    rpy = (0.3, -0.5, 1.1)
    system = load(
        robot(link("a", 2.0, (0, 0, 0), (0.1, 0.2, 0.25), rpy), joint("j", "revolute", "base", "a", axis=(0, 0, 1)))
    )
    R = Rotation.from_euler("xyz", rpy).as_matrix()
    np.testing.assert_allclose(
        mass_matrix(system, {"j": 0.7}), [[(R @ np.diag([0.1, 0.2, 0.25]) @ R.T)[2, 2]]], rtol=1e-9
    )


def test_a_turned_joint_frame_turns_its_axis_and_its_child(load):
    rpy = (0.4, 0.2, -0.9)
    system = load(
        robot(
            link("a"),
            link("b"),
            joint("one", "revolute", "base", "a", (0, 0, 1), (0, 0, 0.5)),
            joint("two", "revolute", "a", "b", (0.5, 0.1, 0), rpy, (0.6, 0.8, 0)),
        )
    )
    state = ph.place(system, {"one.angle": 0.2, "two.angle": -0.6})
    first = Rotation.from_euler("xyz", [0, 0, 0.7])
    np.testing.assert_allclose(state["b.r_P"], np.array([0, 0, 1]) + first.apply([0.5, 0.1, 0]), atol=1e-10)
    second = first * Rotation.from_euler("xyz", rpy) * Rotation.from_rotvec(-0.6 * np.array([0.6, 0.8, 0]))
    np.testing.assert_allclose(state["b.A_IB"], second.as_matrix(), atol=1e-10)


def test_a_prismatic_joint_falls_along_its_axis(load):
    system = load(robot(link("a", 2.0), joint("lift", "prismatic", "base", "a", (0, 0, 1), axis=(0, 0, 1))))
    result = ph.simulate(system, ph.place(system), t_end=0.1, dt=0.01)
    np.testing.assert_allclose(result["lift.slide"], -0.5 * 9.81 * result.t**2, atol=1e-12)


def test_a_damped_joint_loses_its_rate(load):
    damped = '<dynamics damping="0.5" friction="0.0"/>'
    system = load(robot(link("a", 1.0, (0, 0, 0)), joint("j", "continuous", "base", "a", more=damped)))
    state = ph.set_moving(system, ph.place(system), {"j.angle_rate": 3.0})
    result = ph.simulate(system, state, t_end=0.05, dt=1e-4)
    np.testing.assert_allclose(result["a.omega"][-1, 2], 3.0 * np.exp(-0.5 / 0.03 * 0.05), rtol=1e-4)


def test_fixed_links_without_mass_are_frames_and_those_with_mass_are_welded(load):
    system = load(
        robot(
            link("arm"),
            '<link name="flange"/>',
            link("tool", 0.2),
            joint("turn", "revolute", "base", "arm"),
            joint("end", "fixed", "arm", "flange", (0.5, 0, 0), (0, 0, np.pi / 2)),
            joint("grip", "fixed", "flange", "tool", (0.1, 0, 0)),
        )
    )
    assert list(system.bodies) == ["arm", "tool"] and list(system.joints) == ["turn", "grip"]
    state = ph.place(system)
    np.testing.assert_allclose(state["tool.r_P"], [0.5, 0.1, 0], atol=1e-12)


def test_planar_and_floating_joints_leave_what_they_should(load):
    with warns(ph.errors.LooseBodyWarning, "'b'"):
        system = load(
            robot(link("a"), link("b"), joint("p", "planar", "base", "a"), joint("f", "floating", "base", "b")),
            gravity=(0, 0, 0),
        )
    assert system.joints["p"].joint == ph.Planar("ground", "a.P", name="p") and list(system.joints) == ["p"]
    free = load(
        robot(link("a"), joint("j", "revolute", "base", "a")).replace('<link name="base"/>', link("base")), fixed=False
    )
    assert list(free.bodies) == ["base", "a"]
    assert ph.modes(ph.linearise(*still(free))).rigid == 7


def still(system):
    """Without gravity, where a free robot is at rest."""
    calm = ph.with_parameters(system, {"gravity[2]": 0.0})
    return calm, ph.place(calm)


def test_a_link_as_a_beam_vibrates_as_the_beam(load):
    alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
    text = robot(
        link("upper"),
        link("lower", 0.3, (0.1, 0, 0), (1e-4, 1e-3, 1e-3)),
        joint("shoulder", "fixed", "base", "upper", (0, 0, 0.5), (0, 0, 0.4)),
        joint("elbow", "fixed", "upper", "lower", (0.3, 0.4, 0)),
    )
    arm = load(
        text,
        beams={"upper": {"section": ph.Rectangle(0.02, 0.005), "material": alu, "y": (-0.4, 0.3, 0)}},
        gravity=(0, 0, 0),
    )
    rod = ph.Beam(0.5, ph.Rectangle(0.02, 0.005), alu).discretise(4)
    tip = ph.RigidBody(0.3, np.diag([1e-4, 1e-3, 1e-3]), (0.1, 0, 0)).discretise()
    turn = -np.arctan2(0.4, 0.3)
    twin = ph.connect(
        {"upper": rod, "lower": tip}, [ph.Weld("ground", "upper.P"), ph.Weld("upper.C", "lower.P", turned=(0, 0, turn))]
    )
    omega = [ph.modes(ph.linearise(s, ph.place(s))).omega[:6] for s in (arm, twin)]
    np.testing.assert_allclose(*omega, rtol=1e-9)
    np.testing.assert_allclose(
        ph.place(arm)["lower.r_P"],
        np.array([0, 0, 0.5]) + Rotation.from_euler("z", 0.4).apply([0.3, 0.4, 0]),
        atol=1e-9,
    )


def test_a_beam_between_joints_takes_what_it_carries_and_its_reduction(load):
    steel = ph.Material(E=200e9, rho=7800.0)
    text = robot(
        link("upper", center=(0, 0, 0.2)),
        link("side", 0.1),
        link("lower", 0.3),
        joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0)),
        joint("middle", "revolute", "upper", "side", (0, 0, 0.1), axis=(0, 1, 0)),
        joint("elbow", "revolute", "upper", "lower", (0, 0, 0.4), axis=(0, 1, 0)),
    )
    given = {"section": ph.Circle(0.02), "material": steel, "elements": 6, "reduced": 2}
    system = load(text, {"upper": given, "lower": ph.Beam(0.25, ph.Circle(0.02), steel)})
    upper, lower = (system.bodies[name].construction.recipe for name in ("upper", "lower"))
    assert upper.length == pytest.approx(0.4) and upper.ports == {"middle": pytest.approx(0.25)}
    assert lower.length == 0.25
    state = ph.place(system, {"shoulder.angle": 0.3})
    np.testing.assert_allclose(state["lower.r_P"], 0.4 * np.array([np.sin(0.3), 0, np.cos(0.3)]), atol=1e-9)
    np.testing.assert_allclose(state["side.r_P"], 0.1 * np.array([np.sin(0.3), 0, np.cos(0.3)]), atol=1e-9)
    axis = state["lower.A_IB"][:, 0]  # along its mass centre, in the axes of the link
    np.testing.assert_allclose(axis, [np.cos(0.3), 0, -np.sin(0.3)], atol=1e-9)


def test_a_robot_becomes_a_model_file(load, tmp_path):
    system = load(PENDULUM)
    ph.io.save_model(system, tmp_path / "pendulum.yaml")
    again = ph.io.load_model(tmp_path / "pendulum.yaml").system
    states = [ph.place(s, {"pivot.angle": 1.0}) for s in (system, again)]
    runs = [ph.simulate(s, x, t_end=0.02, dt=1e-3) for s, x in zip((system, again), states, strict=True)]
    np.testing.assert_array_equal(runs[0].e, runs[1].e)


def test_what_is_left_out_is_named(load):
    text = robot(
        link("a").replace("<inertial>", '<visual><geometry><mesh filename="a.stl"/></geometry></visual><inertial>'),
        link("b"),
        joint("one", "revolute", "base", "a", more='<limit lower="-1.5" upper="2" effort="1" velocity="1"/>'),
        joint(
            "two",
            "prismatic",
            "a",
            "b",
            more='<mimic joint="one"/><dynamics friction="0.3"/><limit lower="0" upper="0.1"/>',
        ),
    )
    with warns(
        ph.errors.IgnoredWarning, "robot.urdf", "one -1.5 … 2 rad", "two 0 … 0.1 m", "mimic", "friction", "mesh"
    ):
        load(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(PENDULUM)
