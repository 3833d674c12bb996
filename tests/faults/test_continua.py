"""Floating bodies on meshes that cannot be are refused with a sentence: frames, ports, pieces, points."""

from dataclasses import replace

import numpy as np
import pytest

import phloat as ph
from phloat.bodies.continua.interfaces import Mean, mean_motion
from phloat.bodies.solids.sheet import Sheet
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
    ("make", "sentence"),
    [
        (lambda: solid(frame=None), rf"no frame condition: .* \(there are: {SIDES}\) or frame='mean axes'"),
        (lambda: solid(clamped="left"), r"held to the ground \(clamped at 'left'\), so it cannot float"),
        (lambda: plate(clamped="left"), r"held to the ground \(left clamped\), so it cannot float"),
        (lambda: solid(frame="lefft"), rf"no boundary 'lefft' \(did you mean 'left'\?\); there are: {SIDES}"),
        (lambda: solid(frame="A"), f"no boundary 'A'; there are: {SIDES}"),
        (lambda: solid(frame=(0.0, 0.0, 0.0)), f"no boundary .*; there are: {SIDES}"),
        (lambda: solid(ports={"A": "bore"}), f"no boundary 'bore'; there are: {SIDES}"),
        (lambda: solid(ports={"A": Mean("bore")}), f"no boundary 'bore'; there are: {SIDES}"),
        (lambda: plate(ports={"A": "back"}), "no boundary 'back'; there are: left, right, bottom, top"),
        (lambda: solid(ports={"A": "left", "B": "bottom"}), "ports 'A' and 'B' share a part .* 'B': Mean"),
        (lambda: solid(ports={"A": Mean("left"), "B": Mean("left")}), "averaged interfaces repeat each other"),
        (lambda: solid(ports={"A": "left", "B": Mean("left")}), "averaged interfaces repeat each other"),
        (lambda: solid(ports={"A": (5.0, 0.0, 0.0)}), r"\(5, 0, 0\) lies 4 m outside of the body"),
        (lambda: plate(ports={"A": (0.5, 0.1, 0.3)}), "z = 0.3 lies off the plate"),
        (lambda: solid(ports={"A": (0.0, np.nan, 0.0)}), "port 'A'.* holds NaN"),
        (lambda: solid(ports={"A": (0.0, 0.0)}), r"port 'A', which names no boundary, has shape \(2,\)"),
        (lambda: solid(ports={"A": ("left", "right")}), "port 'A', which names no boundary, is .*3 numbers"),
        (lambda: solid(ports={"A": None}), "port 'A', which names no boundary, is None"),
        (lambda: solid(ports={"A.b": "left"}), "'A.b' cannot name a port"),
        (lambda: solid(ports=["left"]), "ports is list; it must be a mapping"),
        (lambda: solid(two_pieces()), "some motion takes no energy, or gives some; is it one piece?"),
        (lambda: solid(two_pieces(BAR.of_order(1))), "is it one piece?"),
        (lambda: solid(two_pieces(), ports={"A": Mean("left")}), "is it one piece?"),
        (lambda: solid(two_pieces(), frame="mean axes", ports={}), "is it one piece?"),
        (lambda: plate(thickness=0.0), "thickness is 0; it must be positive"),
        (lambda: plate(thickness=lambda x, y: np.nan * x), "thickness at .* is nan; it must be positive"),
        (lambda: plate(thickness=lambda x, y: x - 0.5), "thickness at .* is -0.4.*; it must be positive"),
        (lambda: sheet(thickness=lambda x, y: np.nan * x), "thickness is nan at .*; it must be positive"),
        (lambda: solid(material={"steel": steel}), "no region 'steel'; there are: none"),
        (lambda: plate(elements="hhj"), "elements='hhj' bend only, without a membrane"),
    ],
)
def test_bodies_that_cannot_float(make, sentence):
    with pytest.raises((InputError, PortError), match=sentence):
        make().reduced(modes=2)


def test_cells_without_a_material():
    part = Mesh(BAR.kind, BAR.points, BAR.cells, BAR.boundaries, {"root": [0]})
    with pytest.raises(InputError, match=r"2 of 3 cells .*material"):
        solid(part, material={"root": steel})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"modes": -1}, "modes is -1; it must be a whole number"),
        ({"modes": 2.0}, "modes is 2.0; it must be a whole number"),
        ({"modes": True}, "modes is True"),
        ({"modes": None}, "modes is None"),
        ({"modes": 10000}, "modes is 10000, but with its interfaces held the body has only 135"),
        ({"modes": 2, "stiffened": -1}, "stiffened is -1; it must be a whole number, 0 or more, or None for 6"),
        ({"modes": 2, "stiffened": 2.5}, "stiffened is 2.5"),
        ({"modes": 2, "stiffened": True}, "stiffened is True"),
        ({"modes": 2, "stiffened": "all"}, "stiffened is 'all'"),
    ],
)
def test_numbers_of_fields_that_cannot_be(options, sentence):
    with pytest.raises(InputError, match=sentence):
        solid().reduced(**options)


def test_too_many_companions():
    fine = solid(box(1.0, 0.1, 0.06, 6, 1, 1, "hexahedron", 2))
    sentence = r"\d+ coordinates \(\d+ fields and their companions\) are too many .*stiffened=4"
    with pytest.raises(InputError, match=sentence):
        fine.reduced(modes=8, stiffened=50)


def test_nothing_to_deform():
    with pytest.raises(InputError, match="no deformation is left"):
        solid(ports={"A": "left"}).reduced(modes=0, inertial=False)


def test_a_boundary_like_a_line_has_no_rotation():
    trace = solid().trace("left")
    for width in (0.0, 1e-6):
        line = trace._replace(x=trace.x * [1.0, width, 1.0])
        with pytest.raises(InputError, match="port 'A' has no rotation of its own: its points lie on a line"):
            mean_motion(line, "port 'A'")
    with pytest.raises(InputError, match="at one place"):
        mean_motion(trace._replace(x=0.0 * trace.x), "port 'A'")


@pytest.mark.parametrize(("thickness", "modes"), [(3e-4, 3), (1e-4, 3), (1e-4, 6)])
def test_very_slender_solids_are_refused_not_wrong(thickness, modes):
    """Numbers of float64 do not reach from the squashing of cells to the bending of a bar 3000 times as long as thick."""
    with pytest.raises(ph.AccuracyError, match=r"round-off is up to|takes no energy"):
        solid(box(1.0, thickness, thickness, 10, 1, 1, "hexahedron", 2)).reduced(modes=modes)


@pytest.mark.parametrize("make", [solid, plate, sheet])
def test_bodies_with_a_frame_are_reduced_before_they_are_connected(make):
    with pytest.raises(InputError, match=r"'b' has a frame to float with: .*reduced\(modes=…\) before it is connected"):
        ph.connect({"b": make()}, [])
    rigid = ph.RigidBody(mass=1.0, inertia=np.eye(3)).discretise()
    with pytest.raises(InputError, match="'b' has a frame to float with"):
        ph.connect({"b": make(), "r": rigid}, [ph.Weld("b.A", "r.P")])


def test_bodies_that_are_not_their_own_image_do_not_move_in_a_plane():
    for one in (solid(frame="back"), solid(replace(BAR, points=BAR.points[:, [0, 2, 1]] @ TURN.T))):
        with pytest.raises(InputError, match="motion in the plane xy does not decouple"):
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
    ("ask", "sentence"),
    [
        (lambda r: r.von_mises("hub"), "a rigid body has no stress"),
        (lambda r: r.stress_field("hub", 0.0), "a rigid body has no stress"),
        (lambda r: r.stress_field("hub", 0.0, [(0.0, 0.0, 0.0)]), "a rigid body has no stress"),
        (lambda r: r.stress("hub", at=(0.0, 0.0, 0.0)), "a rigid body has no stress"),
        (lambda r: r.von_mises("hup"), r"no body 'hup' \(did you mean 'hub'\?\)"),
        (lambda r: r.stress("bar", at=(9.0, 0.0, 0.0)), r"\(9, 0, 0\) lies 8 m outside of the body"),
        (lambda r: r.position("bar", at=(0.0, 0.0, -1.0)), r"\(0, 0, -1\) lies 1 m outside of the body"),
        (lambda r: r.position("bar", at=(0.0, 0.0)), r"at has shape \(2,\); it must be 3 numbers"),
        (lambda r: r.position("bar", at="tip"), "at is 'tip'; it must be 3 numbers"),
        (lambda r: r.displacement("bar", at=(0.0, np.nan, 0.0)), "at holds NaN"),
        (lambda r: r.displacement("bar"), r"s=… along a beam, or at=\(x, y, z\)"),
        (lambda r: r.stress_field("bar", 0.0, (0.0, 0.0, 0.0)), r"points have shape \(3,\); they must be rows"),
        (lambda r: r.stress_field("bar", 0.0, np.zeros((0, 3))), r"points have shape \(0, 3\).*one at least"),
        (lambda r: r.stress_field("bar", 0.0, "all"), r"points have shape \(\); they must be rows"),
        (lambda r: r.stress_field("bar", 0.0, [(np.nan, 0.0, 0.0)]), "points holds NaN"),
        (lambda r: r.stress_field("bar", 2.0), "t = 2 s is outside the run"),
        (lambda r: r.stress_field("bar", 0.0)["xX"], "no stress component 'xX'; there are: xx, yy, zz, yz, xz, xy"),
    ],
)
def test_what_a_result_cannot_say(result, ask, sentence):
    with pytest.raises((InputError, PortError), match=sentence):
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
        with pytest.raises(InputError, match="matrices know no stresses"):
            ask()
