"""Drawings of bodies: closed surfaces of the right volume, whose points move and are stressed as the body is."""

import base64
import zlib
from dataclasses import replace

import numpy as np
import pytest
from bodies_zoo import beam
from motion_zoo import SOFT, on_mesh, pair, thing
from scipy.spatial.transform import Rotation

import phloat as ph
from phloat.view.page.content import quaternions
from phloat.view.page.pack import Pack, compress_motion
from phloat.view.quantities import largest_stress
from phloat.view.scene import Drawing, ball, block, body_drawing, body_motion, pose_at, rails, scene, scene_size
from phloat.view.surfaces import box_surface, cylinder, mesh_surface, sphere

SIZE = 1e-6  # of a whole that is small: nothing is drawn thicker than it is


def merged(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points at one place made one; triangles that have lost a side left out."""
    places, number = np.unique(np.round(points, 9), axis=0, return_inverse=True)
    turned = number.ravel()[triangles]
    whole = [len({*t}) == 3 for t in turned.tolist()]
    return places, turned[whole]


def volume(points: np.ndarray, triangles: np.ndarray) -> float:
    """By the divergence theorem: positive where triangles are seen counterclockwise from outside."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def is_closed(triangles: np.ndarray) -> bool:
    """Every edge is used as often one way as the other."""
    edges = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    there, back = ({tuple(e) for e in part.tolist()} for part in (edges, edges[:, ::-1]))
    return there == back and len(there) == len(edges)


MESH = ph.shapes.link(length=0.4, width=0.08, thickness=0.03, bore=0.02, n=1, kind="hexahedron", order=2)
POLYGON = 16 / 2 * np.sin(2 * np.pi / 16)  # the area of a round section as it is drawn, over r²
BODIES = {
    "rectangle": (beam().discretise(2), 1.3 * 0.03 * 0.05),
    "circle": (beam(section=ph.Circle(0.04)).discretise(2), 1.3 * POLYGON * 0.02**2),
    "numbers": (beam(section=ph.Section(A=9.0, I=6.75, J=13.5)).discretise(1), 1.3 * POLYGON * 3.0),
    "two numbers": (
        beam(section=ph.Section(A=2e-3, I=6e-7, I_y=2e-7, J=1e-7)).discretise(1),
        1.3 * 12 * np.sqrt(6e-7 * 2e-7) / 2e-3,
    ),
    "wedge": (beam(section=lambda s: ph.Rectangle(0.03, 0.05 * (1 - 0.4 * s))).discretise(4), 1.3 * 0.03 * 0.05 * 0.8),
    "plate": (on_mesh("plate"), 1.3 * 0.4 * 0.03),
    "solid": (on_mesh("solid"), 1.3 * 0.05 * 0.08),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_drawing_is_a_closed_surface_with_the_volume_of_the_body(name):
    body, expected = BODIES[name]
    found = body_drawing(body, SIZE)
    points, triangles = merged(found.points, found.triangles)
    assert is_closed(triangles)
    assert volume(points, triangles) == pytest.approx(expected, rel=1e-6)


def test_curved_cells_are_drawn_through_their_middles():
    triangles, edges = mesh_surface(MESH)
    assert is_closed(triangles)
    exact, coarse = MESH.measure.sum(), MESH.corners_only().measure.sum()
    assert abs(volume(MESH.points, triangles) - exact) < 0.4 * abs(coarse - exact)
    assert np.isin(np.abs(MESH.points[edges][:, :, 2]).max(axis=1).round(9), 0.015).all()  # the rims of both faces


@pytest.mark.parametrize(
    "surface", [box_surface(np.ones(3), np.eye(3), np.array([1.0, 2, 3])), sphere(np.ones(3), 2.0)]
)
def test_boxes_and_balls_are_closed(surface):
    points, triangles = merged(surface.points, surface.triangles)
    assert is_closed(triangles)
    assert volume(points, triangles) > 0


def test_a_cylinder_lies_between_its_ends_and_looks_outwards():
    start, end = np.array([0.3, -0.2, 0.5]), np.array([1.0, 0.4, 0.1])
    bar = cylinder(start, end, 0.1)
    points, triangles = merged(bar.points, bar.triangles)
    assert is_closed(triangles)
    assert volume(points, triangles) == pytest.approx(POLYGON * 0.01 * np.linalg.norm(end - start))
    assert np.einsum("ij,ij->i", bar.normals, bar.points - 0.5 * (start + end)).min() > 0


def inertia_of(points: np.ndarray, triangles: np.ndarray, mass: float) -> np.ndarray:
    """About the origin, of an even density: the sum over tetrahedra from the origin."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    part = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    corners = np.stack([a, b, c])
    total = corners.sum(axis=0)
    E = np.einsum("t,kti,ktj->ij", part, corners, corners) + np.einsum("t,ti,tj->ij", part, total, total)
    E *= mass / (20 * part.sum())
    return np.trace(E) * np.eye(3) - E


def test_a_rigid_body_looks_like_the_box_that_has_its_inertia():
    J = np.array([[0.4, 0.05, 0.02], [0.05, 0.5, -0.03], [0.02, -0.03, 0.6]])
    surface = block(ph.RigidBody(2.5, J), thin=1e-6, most=10.0)
    assert np.abs(inertia_of(surface.points, surface.triangles, 2.5) - J).max() < 1e-12


def test_a_round_rigid_body_looks_like_a_round_bar():
    J = np.diag([0.3, 0.2, 0.3])
    surface = block(ph.RigidBody(2.0, J), thin=1e-6, most=10.0)
    assert np.linalg.norm(surface.points[:, [0, 2]], axis=1).max() == pytest.approx(np.sqrt(2 * 0.2 / 2.0))
    found = inertia_of(*merged(surface.points, surface.triangles), 2.0)
    assert np.abs(found - J).max() < 0.02 * 0.3  # 32 sides are no circle


def test_a_point_mass_is_a_ball_of_steel_within_bounds():
    for mass, radius in ((0.5, (1.5 / (4 * np.pi * 7850)) ** (1 / 3)), (1e-9, 0.01), (1e9, 0.2)):
        found = ball(ph.PointMass(mass), least=0.01, most=0.2)
        assert np.linalg.norm(found.points, axis=1) == pytest.approx(radius)


def test_thin_sections_are_drawn_thicker_but_stressed_as_they_are():
    body = beam(section=ph.Circle(1e-3)).discretise(2)
    thin, thicker, stout = body_drawing(body, SIZE), body_drawing(body, 10.0), body_drawing(body, 100.0)
    assert np.ptp(thin.points[:, 1]) == pytest.approx(1e-3)
    assert np.ptp(thicker.points[:, 1]) == pytest.approx(10.0 / 160)
    assert np.ptp(stout.points[:, 1]) == pytest.approx(0.2 * 1.3)
    assert (thin.thin, thicker.thin) == (False, True)
    assert np.allclose(thin.cauchy, thicker.cauchy, rtol=1e-12, atol=1e-12 * np.abs(thin.cauchy).max())


# --- motion ----------------------------------------------------------------------------------------------------------


def moved(kind: str, plane: str | None = None) -> tuple[ph.Result, dict[str, Drawing]]:
    system = pair("revolute", kind, plane, gravity=True)
    state = ph.place(system)
    result = ph.simulate(system, state, t_end=0.2, dt=0.01)
    return result, scene(system, state)


@pytest.mark.parametrize(
    ("kind", "plane"), [("beam", "xy"), ("beam", None), ("plate", None), ("solid", None), ("rigid", None)]
)
def test_ports_and_material_points_are_drawn_where_they_are(kind, plane):
    result, drawings = moved(kind, plane)
    k, rng = 13, np.random.default_rng(1)
    for name, found in drawings.items():
        body, move = result.system.bodies[name], body_motion(result, name, np.arange(len(result)))
        pose = pose_at(move, k)
        assert np.abs(found.at(move)[k] - found.at(pose)).max() < 1e-15
        assert np.abs(pose.A - result.state(k).pose(name).A).max() < 1e-15
        x = found.at(pose)
        for port, number in found.ports.items():
            y = pose.r_P + pose.A @ (body.ports[port].x + body.ports[port].Phi @ pose.eta)
            assert np.abs(x[number] - y).max() < 1e-12
        speeds = np.linalg.norm(found.velocity(pose), axis=1)
        assert speeds == pytest.approx(speeds_by_difference(result, name, found, k), abs=0.02)
        for number in rng.integers(len(found.points) - len(found.ports), size=4 if kind != "rigid" else 0):
            where = result.position(name, at=found.points[number])[k]
            assert np.abs(x[number][: len(where)] - where).max() < 1e-11


def speeds_by_difference(result, name, found, k):
    whole = body_motion(result, name, np.arange(len(result)))
    way = found.at(pose_at(whole, k + 1)) - found.at(pose_at(whole, k - 1))
    return np.linalg.norm(way, axis=1) / (result.t[k + 1] - result.t[k - 1])


def test_a_beam_is_drawn_with_the_stress_of_its_fibres():
    result, drawings = moved("beam")
    found, k = drawings["a"], 13
    stress = found.stress(result["a.sigma"][k])
    for number in (0, 5, len(found.points) // 2):
        xx = result.stress("a", at=found.points[number])["xx"][k]
        assert stress[number] == pytest.approx(abs(xx), rel=1e-9)


@pytest.mark.parametrize("kind", ["plate", "solid"])
def test_a_cantilever_is_stressed_as_beam_theory_says(kind):
    """σ = ½ ρ g L² h / (2 I/A) at the root; midway a quarter of it."""
    system = ph.connect({"b": on_mesh_fine(kind)}, [ph.Weld("ground", "b.P")], gravity=(0, 0, -9.81))
    state = ph.equilibrium(system, ph.place(system))
    found, h = scene(system, state)["b"], 0.03
    middle = np.abs(found.points[:, 0] - 0.65) < 1e-9
    expected = 3 * SOFT.rho * 9.81 * 0.65**2 / h
    stress = found.stress(state["b.sigma"])[middle]
    assert stress.max() == pytest.approx(expected, rel=0.06)


def on_mesh_fine(kind: str) -> ph.Body:
    ends = {"material": ph.Material(E=2e11, rho=SOFT.rho, nu=0.0), "frame": "left", "ports": {"P": "left"}}
    if kind == "plate":
        return ph.Plate.rectangle(1.3, 0.1, thickness=0.03, **ends).discretise((8, 1)).reduced(modes=4, stiffened=0)
    return ph.Solid.box(1.3, 0.1, 0.03, **ends).discretise((8, 1, 1)).reduced(modes=4, stiffened=0)


@pytest.mark.quick
def test_a_rail_carries_what_slides_along_it_over_its_whole_travel():
    """A telescope on a bent boom, out beyond its end: the rail goes through the port that slides, where the boom is bent too."""
    boom = ph.Beam(1.0, ph.Rectangle(0.01, 0.01), SOFT).discretise(2)
    joints = [ph.Weld("ground", "boom.P"), ph.Prismatic("boom.C", "load.P", axis=(1, 0, 0), name="out")]
    rod = ph.RigidBody(0.002, 1e-6 * np.eye(3)).discretise()
    system = ph.connect({"boom": boom, "load": rod}, joints, gravity=(0, 0, -9.81))
    state = ph.equilibrium(ph.lock(system, "out"), ph.place(system, {"out.slide": 0.3}))
    out = {"out": 0.2}
    moving = ph.drive(system, "out")
    result = ph.simulate(moving, ph.set_moving(moving, state, u=out), t_end=0.5, dt=0.01, u=out)
    ((body, rail),) = rails(system, result.coordinates, 1.0).values()
    x, load = rail.at(body_motion(result, body, np.arange(len(result)))), result["load.r_P"]
    along = np.diff(x, axis=1)[:, 0]
    part = np.einsum("ti,ti->t", load - x[:, 0], along) / np.einsum("ti,ti->t", along, along)
    turned = np.abs(result["boom.u_f"][:, -1, 2]).max()  # rad, for a boom of 1 m
    assert body == "boom" and 0.0 < part.min() < part.max() < 1.0
    off = np.linalg.norm(load - x[:, 0] - part[:, None] * along, axis=1)
    assert 0.05 < turned and off.max() < turned**3  # without the rotation of its port it would be off by turned · 0.4 m
    assert np.linalg.norm(along, axis=1) == pytest.approx(0.4 + 2 * 0.03, rel=turned**2)


def test_a_body_that_turns_about_its_only_port_is_drawn_in_its_size():
    wheel = ph.RigidBody(1.0, np.diag([1e-3, 1e-3, 2e-3])).discretise()
    system = ph.connect({"wheel": wheel}, [ph.Revolute("ground", "wheel.P", at=(0.1, 0.2, 0.3))])
    state = ph.place(system)
    shifted = replace(state, e=state.e + 5e-17)  # round-off is no size
    assert scene_size(system, state, shifted) == 1.0
    assert np.ptp(scene(system, state)["wheel"].points[:, 0]) == pytest.approx(2 * np.sqrt(2 * 2e-3), rel=0.01)


def test_the_rail_of_the_ground_stands_still():
    cart = ph.RigidBody(1.0, np.eye(3)).discretise()
    slide = ph.Slide("ground", "cart.P", along=(0, 0, 1), at=(1, 2, 3), name="lift")
    system = ph.connect({"cart": cart}, [slide])
    ((body, rail),) = rails(system, {"lift.slide": np.array([-0.5, 2.0])}, 1.0).values()
    assert body == ""
    np.testing.assert_allclose(rail.points, [[1, 2, 2.5 - 0.03], [1, 2, 5.03]])


def test_turns_go_on_without_a_jump_of_sign():
    axis = np.array([0.6, 0.0, 0.8])
    turns = Rotation.from_rotvec(np.outer(np.linspace(0.0, 40.0, 400), axis)).as_matrix()
    q = quaternions(turns)
    assert np.einsum("ti,ti->t", q[1:], q[:-1]).min() > 0.99
    assert np.abs(Rotation.from_quat(q).as_matrix() - turns).max() < 1e-12


# --- numbers of a page -----------------------------------------------------------------------------------------------


def unpacked(pack: Pack) -> list[np.ndarray]:
    """As the page does it."""
    raw, out, start = zlib.decompress(base64.b64decode(pack.text())), [], 0
    for said in pack.index:
        width = int(said["kind"][1])
        part = np.frombuffer(raw[start : start + said["bytes"]], dtype=np.uint8).reshape(width, -1)
        values = part.T.copy().view(f"<{said['kind']}").ravel()
        start += said["bytes"]
        columns = len(said["shape"]) == 2 and said["kind"] in ("f4", "i2")
        x = values.reshape(said["shape"][::-1]).T if columns else values.reshape(said["shape"])
        out.append(x * np.array(said["scale"]) if "scale" in said else x)
    return out


def test_numbers_come_back_from_the_page_to_the_digits_they_were_given():
    rng, pack = np.random.default_rng(2), Pack()
    t, line, rows, corners = (
        rng.random(7),
        rng.random(50),
        rng.normal(size=(40, 3)) * [1, 1e-6, 1e9],
        np.arange(12).reshape(4, 3),
    )
    at = [
        pack.add("f8", t),
        pack.add("f4", line),
        pack.scaled_int16(rows),
        pack.add("u4", corners),
        pack.add("f4", rows),
    ]
    assert pack.add("f4", line) == at[1]  # equal arrays go in once
    back = unpacked(pack)
    assert np.array_equal(back[at[0]], t)
    assert np.abs(back[at[1]] - line).max() < 1e-7
    assert (np.abs(back[at[2]] - rows).max(axis=0) <= 0.51 * np.abs(rows).max(axis=0) / 32767).all()
    assert np.array_equal(back[at[3]], corners)
    assert np.allclose(back[at[4]], rows, rtol=1e-6)


def test_an_empty_block_and_columns_of_zeros_can_be_packed():
    pack = Pack()
    at = [
        pack.scaled_int16(np.zeros((5, 0))),
        pack.scaled_int16(np.zeros((5, 2))),
        pack.add("u4", np.zeros((0, 3), dtype=int)),
    ]
    back = unpacked(pack)
    assert [back[k].shape for k in at] == [(5, 0), (5, 2), (0, 3)]
    assert not back[at[1]].any()


def test_compressed_coordinates_say_the_same_with_fewer():
    rng = np.random.default_rng(3)
    rows, shapes = rng.normal(size=(300, 40)), rng.normal(size=(3, 40))
    t = np.linspace(0, 6, 900)[:, None]
    eta, rates = np.sin(t * [1, 2, 3]) @ shapes, 100 * np.cos(t * [1, 2, 3]) @ shapes
    fewer, (a, b) = compress_motion(rows, eta, rates, within=1e-4)
    assert a.shape[1] == 3
    for before, after in ((eta, a), (rates, b)):
        error = np.abs(after @ fewer.T - before @ rows.T).max()
        assert error < 2e-4 * np.abs(before @ rows.T).max()


def test_the_largest_stress_is_that_of_the_points_drawn():
    found = body_drawing(thing("plate"), 1.0)
    sigma = np.random.default_rng(4).normal(size=(5, found.cauchy.shape[1]))
    assert largest_stress(found, sigma) == pytest.approx([found.stress(one).max() for one in sigma])
