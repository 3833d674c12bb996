"""Modes as they are drawn and named: what must not depend on frames, order and units, and what stays together."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phloat as ph
from phloat.view.modes import AMPLITUDE, MOST_TURN, mode_shapes

ALU = ph.Material(E=70e9, rho=2700.0, nu=0.33)


def arm(frame: str = "cantilever", order: str = "column boom telescope payload", unit: float = 1.0) -> ph.types.Modes:
    """A column, a boom, a telescope and a payload on a ball joint, with lengths in `unit` metres (masses in kg, times in s)."""
    material = ph.Material(E=ALU.E * unit, rho=ALU.rho * unit**3, nu=ALU.nu)
    beams = {
        "boom": ph.Beam(1.2 / unit, ph.Rectangle(0.04 / unit, 0.06 / unit), material, frame=frame).discretise(3),
        "telescope": ph.Beam(0.8 / unit, ph.Rectangle(0.03 / unit, 0.04 / unit), material, frame=frame).discretise(3),
    }
    top, middle, below = (0, 0, 0.6 / unit), (0, 0, 0.3 / unit), (0, 0, -0.15 / unit)
    column = ph.RigidBody(20.0, np.diag([0.4, 0.4, 0.2]) / unit**2, center=middle, ports={"top": top})
    payload = ph.RigidBody(5.0, np.diag([0.03, 0.05, 0.04]) / unit**2, center=below)
    bodies = beams | {"column": column.discretise(), "payload": payload.discretise()}
    joints = [
        ph.Revolute("ground", "column.P", name="turn"),
        ph.Weld("column.top", "boom.P"),
        ph.Prismatic("boom.C", "telescope.P", axis=(1, 0, 0), name="slide"),
        ph.Spherical("telescope.C", "payload.P", name="ball"),
    ]
    system = ph.connect({name: bodies[name] for name in order.split()}, joints, gravity=(0, 0, -9.81 / unit))
    system = ph.lock(system, "turn", "slide")
    start = ph.place(system, {"slide.slide": -0.3 / unit})
    return ph.modes(ph.linearise(system, ph.equilibrium(system, start)), 12)


@pytest.fixture(scope="module")
def usual() -> ph.types.Modes:
    return arm()


@pytest.mark.parametrize("options", [{"frame": "pinned"}, {"frame": "chord"}, {"unit": 1e-3}])
def test_kinds_depend_on_no_frame_and_no_unit(usual, options):
    assert arm(**options).kinds == usual.kinds
    assert usual.kinds[1] == "swing of payload about y (100 %)"


def test_kinds_depend_on_no_order(usual):
    assert arm(order="payload telescope column boom").kinds == usual.kinds


def test_drawn_motion_is_that_of_the_mode(usual):
    """To first order ports move as the twists of the linear system say, all by one factor."""
    shapes, system, state = mode_shapes(usual, 8), *usual.system.origin
    for k, number in enumerate(shapes.numbers):
        drawn, expected = [], []
        for name, body in system.bodies.items():
            moved = shapes.bodies[name].displacements()[:, :, k]
            for port in body.ports:
                drawn.append(moved[shapes.bodies[name].drawn.ports[port]])
                expected.append(section_axes(system, state, name, port) @ usual.shape(number, f"{name}.{port}")[:3])
        a, b = np.ravel(drawn), np.ravel(expected)
        assert a == pytest.approx(b * (a @ b) / (b @ b), abs=1e-9 * np.abs(a).max())


def section_axes(system, state, name: str, port: str) -> np.ndarray:
    """The axes of the section at a port, in inertial axes."""
    pose = state.pose(name)
    return pose.A @ Rotation.from_rotvec(system.bodies[name].ports[port].Psi @ pose.eta).as_matrix()


def test_rigid_bodies_keep_their_shape_and_chains_stay_together(usual):
    shapes = mode_shapes(usual, 8)
    rest, ends = shapes.at_rest(), {name: one.drawn.ports for name, one in shapes.bodies.items()}
    for k in range(8):
        for phase in (0.0, 1.0, np.pi):
            at = shapes.at_phase(k, phase)
            for name in ("column", "payload"):
                assert distances(at[name]) == pytest.approx(distances(rest[name]), abs=1e-12)
            hand, load = at["telescope"][ends["telescope"]["C"]], at["payload"][ends["payload"]["P"]]
            assert hand == pytest.approx(load, abs=1e-12)
            assert at["column"][ends["column"]["P"]] == pytest.approx(np.zeros(3), abs=1e-12)
        small = shapes.positions(1e-4 * np.eye(8)[k])
        slides = [x["telescope"][ends["telescope"]["P"]] - x["boom"][ends["boom"]["C"]] for x in (rest, small)]
        before, after = np.linalg.norm(
            slides, axis=1
        )  # the locked slide is kept to first order in the rotation of the boom
        assert before == pytest.approx(0.3, abs=2e-6) and after == pytest.approx(before, abs=1e-7)


def test_positions_are_displacements_to_first_order(usual):
    shapes = mode_shapes(usual, 8)
    rest, size = shapes.at_rest(), 1e-4
    for k, q in enumerate(np.eye(8)):
        for name, x in shapes.positions(size * q).items():
            way = shapes.bodies[name].displacements()[:, :, k]
            assert (x - rest[name]) / size == pytest.approx(way, abs=2e-4 * AMPLITUDE * shapes.size)
        for phase, sign in ((0.0, 1.0), (np.pi, -1.0)):
            at = shapes.at_phase(k, phase)
            assert all(at[name] == pytest.approx(x, abs=1e-12) for name, x in shapes.positions(sign * q).items())


def distances(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x - x[0], axis=1)


def test_loops_stay_closed():
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.02), ALU).discretise(3)
    joints = [ph.Weld("ground", "left.P", turned=(0, 0, np.pi / 2)), ph.Revolute("left.C", "beam.P", name="pin")]
    joints += [ph.Weld("beam.C", "right.P", turned=(0, 0, -np.pi / 2)), ph.Revolute("right.C", "ground", at=(1, 0, 0))]
    loop = ph.connect({"left": beam, "beam": beam, "right": beam}, joints, plane="xy")
    shapes = mode_shapes(ph.modes(ph.linearise(loop, ph.place(loop))), 3)
    for k in range(3):
        at = shapes.at_phase(k, 0.0)
        assert at["right"][shapes.bodies["right"].drawn.ports["C"]] == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)


def test_amplitudes_are_limited_by_displacement_or_by_rotation(usual):
    shapes = mode_shapes(usual, 8)
    far = np.max([np.linalg.norm(one.displacements(), axis=1).max(axis=0) for one in shapes.bodies.values()], axis=0)
    turn = np.max([one.turns for one in shapes.bodies.values()], axis=0)
    limits = np.maximum(far / (AMPLITUDE * shapes.size), turn / MOST_TURN)
    assert limits == pytest.approx(np.ones(8)) and turn[1] == pytest.approx(MOST_TURN)


def test_a_body_that_is_bent_at_rest_is_drawn_bent():
    beam = ph.Beam(1.0, ph.Rectangle(0.01, 0.01), ALU).discretise(4).reduced(modes=2, shortening="slaved")
    system = ph.connect({"beam": beam}, [ph.Weld("ground", "beam.P")], plane="xy", gravity=(0, -9.81, 0))
    state = ph.equilibrium(system, ph.place(system))
    shapes = mode_shapes(ph.modes(ph.linearise(system, state)), 2)
    tip = shapes.at_rest()["beam"][shapes.bodies["beam"].drawn.ports["C"]]
    pose, port = state.pose("beam"), system.bodies["beam"].ports["C"]
    place = port.at(pose.eta)
    assert tip == pytest.approx(pose.r_P + pose.A @ (place.x + place.Phi @ pose.eta), abs=1e-12)
    assert tip[1] < -0.005


def test_a_system_from_a_file_has_kinds_without_resultants(usual, tmp_path):
    ph.io.to_matlab(usual.system, tmp_path / "arm.mat")
    found = ph.modes(ph.io.from_matlab(tmp_path / "arm.mat"), 5)
    assert found.kinds[1] == usual.kinds[1] and found.kinds[3].startswith("deformation of boom (")
    assert not mode_shapes(found, 2).bodies["boom"].twists.any()  # points without a body


def test_systems_without_names_of_bodies_have_shapes_but_no_kinds(usual):
    reduced = ph.reduction.project(usual.system, ph.reduction.modal_basis(usual.system, count=6))
    found = ph.modes(reduced)
    assert set(found.kinds) == {""} and "no names of bodies" in found.describe()
    whole, part = mode_shapes(usual, 2).at_phase(0, 0.0), mode_shapes(found, 2).at_phase(0, 0.0)
    mirrored = mode_shapes(found, 2).at_phase(0, np.pi)
    assert min(np.abs(whole["payload"] - other["payload"]).max() for other in (part, mirrored)) < 1e-6
