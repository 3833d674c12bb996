"""Floating bodies on meshes that cannot be are refused with a sentence: frames, ports, pieces, points."""

from dataclasses import replace

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.bodies.continua.mesh_body import Mean, mean_motion
from phloat.bodies.solids.solid import Sheet
from phloat.errors import InputError, PortError
from phloat.fem.mesh import Mesh
from phloat.fem.shapes import box, rectangle

steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
ENDS = {"A": "left", "B": "right"}
BAR = box(1.0, 0.1, 0.06, 3, 1, 1, "hexahedron", 2)
SIDES = "left, right, bottom, top, back, front"


def solid(mesh=BAR, frame="left", ports=ENDS, **options):
    return ph.Solid(mesh, **{"material": steel, **options}, frame=frame, ports=ports).discretise(order=mesh.order)


def plate(**options):
    given = {"thickness": 0.01, "material": steel, "frame": "left", "ports": ENDS, **options}
    return ph.Plate.rectangle(1.0, 0.3, **given).discretise((3, 1))


def sheet(**options):
    mesh = rectangle(1.0, 0.1, 3, 1, "quadrilateral", 2)
    return Sheet(mesh, steel, **{"thickness": 0.01, "frame": "left", "ports": ENDS, **options}).discretise()


def two_pieces(mesh=BAR):
    """The bar twice, side by side and apart, with the boundaries of the first."""
    points = np.vstack([mesh.points, mesh.points + np.array([0.0, 1.0, 0.0])])
    return Mesh(mesh.kind, points, np.vstack([mesh.cells, mesh.cells + len(mesh.points)]), mesh.boundaries)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: solid(frame=None), ("frame",)),
        (lambda: solid(clamped="left"), ("'left'",)),
        (lambda: plate(clamped="left"), ("left",)),
        (lambda: solid(frame="lefft"), ("'lefft'",)),
        (lambda: solid(frame="A"), ("'A'",)),
        (lambda: solid(frame=(0.0, 0.0, 0.0)), ("boundary",)),
        (lambda: solid(ports={"A": "bore"}), ("'bore'",)),
        (lambda: solid(ports={"A": Mean("bore")}), ("'bore'",)),
        (lambda: plate(ports={"A": "back"}), ("'back'",)),
        (lambda: solid(ports={"A": "left", "B": "bottom"}), ("'A'", "'B'")),
        (lambda: solid(ports={"A": Mean("left"), "B": Mean("left")}), ()),
        (lambda: solid(ports={"A": "left", "B": Mean("left")}), ()),
        (lambda: solid(ports={"A": (5.0, 0.0, 0.0)}), ("(5, 0, 0)",)),
        (lambda: plate(ports={"A": (0.5, 0.1, 0.3)}), ("0.3",)),
        (lambda: solid(ports={"A": (0.0, np.nan, 0.0)}), ("'A'",)),
        (lambda: solid(ports={"A": (0.0, 0.0)}), ("'A'",)),
        (lambda: solid(ports={"A": ("left", "right")}), ("'A'", "'right'")),
        (lambda: solid(ports={"A": None}), ("'A'", "None")),
        (lambda: solid(ports={"A.b": "left"}), ("'A.b'",)),
        (lambda: solid(ports=["left"]), ("ports",)),
        (lambda: solid(two_pieces()), ()),
        (lambda: solid(two_pieces(BAR.of_order(1))), ()),
        (lambda: solid(two_pieces(), ports={"A": Mean("left")}), ()),
        (lambda: solid(two_pieces(), frame="mean axes", ports={}), ()),
        (lambda: plate(thickness=0.0), ("thickness",)),
        (lambda: plate(thickness=lambda x, y: np.nan * x), ("thickness",)),
        (lambda: plate(thickness=lambda x, y: x - 0.5), ("thickness", "-0.4")),
        (lambda: sheet(thickness=lambda x, y: np.nan * x), ("thickness",)),
        (lambda: solid(material={"steel": steel}), ("'steel'",)),
    ],
)
def test_bodies_that_cannot_float(make, names):
    with raises((InputError, PortError), *names):
        make().reduced(modes=2)


def test_cells_without_a_material():
    part = Mesh(BAR.kind, BAR.points, BAR.cells, BAR.boundaries, {"root": [0]})
    with raises(InputError, "2 of 3"):
        solid(part, material={"root": steel})


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"modes": -1}, ("modes", "-1")),
        ({"modes": 2.0}, ("modes", "2.0")),
        ({"modes": True}, ("modes", "True")),
        ({"modes": None}, ("modes", "None")),
        ({"modes": 10000}, ("modes", "10000")),
        ({"modes": 2, "stiffened": -1}, ("stiffened", "-1")),
        ({"modes": 2, "stiffened": 2.5}, ("stiffened", "2.5")),
        ({"modes": 2, "stiffened": True}, ("stiffened", "True")),
        ({"modes": 2, "stiffened": "all"}, ("stiffened", "'all'")),
    ],
)
def test_numbers_of_fields_that_cannot_be(options, names):
    with raises(InputError, *names):
        solid().reduced(**options)


def test_too_many_companions():
    fine = solid(box(1.0, 0.1, 0.06, 6, 1, 1, "hexahedron", 2))
    with raises(InputError, "stiffened=4"):
        fine.reduced(modes=8, stiffened=50)


def test_nothing_to_deform():
    with raises(InputError, "modes"):
        solid(ports={"A": "left"}).reduced(modes=0, inertial=False)


def test_a_boundary_like_a_line_has_no_rotation():
    trace = solid().trace("left")
    for width in (0.0, 1e-6):
        line = trace._replace(x=trace.x * [1.0, width, 1.0])
        with raises(InputError, "'A'"):
            mean_motion(line, "port 'A'")
    with raises(InputError, "'A'"):
        mean_motion(trace._replace(x=0.0 * trace.x), "port 'A'")


@pytest.mark.parametrize(("thickness", "modes"), [(3e-4, 3), (1e-4, 3), (1e-4, 6)])
def test_very_slender_solids_are_refused_not_wrong(thickness, modes):
    """Numbers of float64 do not reach from the squashing of cells to the bending of a bar 3000 times as long as thick."""
    with raises(ph.errors.AccuracyError, golden=False):
        solid(box(1.0, thickness, thickness, 10, 1, 1, "hexahedron", 2)).reduced(modes=modes)


@pytest.mark.parametrize("make", [solid, plate, sheet])
def test_bodies_with_a_frame_are_reduced_before_they_are_connected(make):
    with raises(InputError, "'b'"):
        ph.connect({"b": make()}, [])
    rigid = ph.RigidBody(mass=1.0, inertia=np.eye(3)).discretise()
    with raises(InputError, "'b'"):
        ph.connect({"b": make(), "r": rigid}, [ph.Weld("b.A", "r.P")])


def test_bodies_that_are_not_their_own_image_do_not_move_in_a_plane():
    for one in (solid(frame="back"), solid(replace(BAR, points=BAR.points[:, [0, 2, 1]] @ TURN.T))):
        with raises(InputError, "xy"):
            ph.connect({"b": one.reduced(modes=1, stiffened=1)}, [ph.Revolute("ground", "b.A")], plane="xy")


TURN = np.array([[2.0, -1.0, 2.0], [2.0, 2.0, -1.0], [-1.0, 2.0, 2.0]]) / 3


@pytest.fixture(scope="module")
def result():
    bodies = {
        "bar": solid().reduced(modes=1, stiffened=1),
        "hub": ph.RigidBody(mass=1.0, inertia=np.eye(3)).discretise(),
    }
    system = ph.connect(bodies, [ph.Weld("bar.B", "hub.P")])
    return ph.simulate(system, ph.place(system, {}), t_end=1e-3, dt=1e-3)


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda r: r.von_mises("hub"), ""),
        (lambda r: r.stress_field("hub", 0.0), ""),
        (lambda r: r.stress_field("hub", 0.0, [(0.0, 0.0, 0.0)]), ""),
        (lambda r: r.stress("hub", at=(0.0, 0.0, 0.0)), ""),
        (lambda r: r.von_mises("hup"), "'hup'"),
        (lambda r: r.stress("bar", at=(9.0, 0.0, 0.0)), "(9, 0, 0)"),
        (lambda r: r.position("bar", at=(0.0, 0.0, -1.0)), "(0, 0, -1)"),
        (lambda r: r.position("bar", at=(0.0, 0.0)), "at"),
        (lambda r: r.position("bar", at="tip"), "'tip'"),
        (lambda r: r.displacement("bar", at=(0.0, np.nan, 0.0)), "at"),
        (lambda r: r.displacement("bar"), "place"),
        (lambda r: r.stress_field("bar", 0.0, (0.0, 0.0, 0.0)), "points"),
        (lambda r: r.stress_field("bar", 0.0, np.zeros((0, 3))), "points"),
        (lambda r: r.stress_field("bar", 0.0, "all"), "points"),
        (lambda r: r.stress_field("bar", 0.0, [(np.nan, 0.0, 0.0)]), "points"),
        (lambda r: r.stress_field("bar", 2.0), "2 s"),
        (lambda r: r.stress_field("bar", 0.0)["xX"], "'xX'"),
    ],
)
def test_what_a_result_cannot_say(result, ask, name):
    with raises((InputError, PortError), name):
        ask(result)


def test_matrices_know_no_stress():
    full = solid()
    ends = {name: BAR.node_numbers(side) for name, side in ENDS.items()}
    element = ph.Superelement.from_matrices(full.M, full.K, BAR.points, interfaces=ends).discretise(modes=1)
    system = ph.connect({"bar": element}, [ph.Weld("ground", "bar.A")])
    result = ph.simulate(system, ph.place(system, {}), t_end=1e-3, dt=1e-3)
    for ask in (
        lambda: result.von_mises("bar"),
        lambda: result.stress_field("bar", 0.0),
        lambda: result.stress("bar", at=(0.0, 0.0, 0.0)),
    ):
        with raises(InputError):
            ask()
