"""Ports on discs: they converge with the mesh where points do not. Points: what they carry, and how their compliance grows."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from messages import raises, warns

import phloat as ph
from phloat.bodies.continua.mesh_body import interfaces
from phloat.system.port_checks import compliance, point_port

alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
carbon = ph.Orthotropic(E=(135e9, 10e9, 10e9), nu=(0.3, 0.3, 0.4), G=(5e9, 5e9, 3.5e9), rho=1600.0)
box = ph.RigidBody(0.2, 3e-4 * np.eye(3)).discretise()


def panel(port, **options):
    """The plate of the reported fault: 0.4 × 0.2 × 0.003 m, welded on its left side, with a port at (0.3, 0.1)."""
    options = {"thickness": 0.003, "material": alu, "frame": "left"} | options
    return ph.Plate.rectangle(0.4, 0.2, ports={"root": "left", "A": port}, **options)


def block(port):
    return ph.Solid.box(0.4, 0.2, 0.1, material=alu, frame="left", ports={"A": port})


def frequencies(body, carried=box, count=8, **options):
    """Hz, with a rigid body welded to port A."""
    joints = [ph.Weld("ground", "p.root"), ph.Weld("p.A", "box.P")]
    system = ph.connect({"p": body, "box": carried}, joints, **options)
    return ph.modes(ph.linearise(system, ph.place(system))).omega[:count] / (2.0 * np.pi)


def on(plate, n):
    return plate.discretise(n).reduced(modes=6, stiffened=0)


# --- discs -----------------------------------------------------------------------------------------------------------


def test_a_box_on_a_disc_of_a_plate_has_frequencies_that_converge():
    """With 8, 16, 32 cells the modes 6 to 8 are 357.9, 357.2, 357.1; 387.2, 384.5, 384.3; 458.2, 451.0, 450.5 Hz (with a point they
    fell from 300, 306, 360 to 249, 267, 305 Hz): order 3 and more, since the load is square integrable and no more."""
    f = np.array([frequencies(on(panel(ph.Patch((0.3, 0.1, 0.0), 0.03)), n)) for n in (8, 16, 32)])
    change = np.abs(np.diff(f, axis=0))
    assert (change[1] < 1.2e-3 * f[2]).all()
    assert (change[0, 5:] / change[1, 5:] > 2.0**3).all()


def test_a_disc_does_not_depend_on_the_elements():
    """Rectangles and triangles of 16 cells agree to 6e-4 in eight frequencies."""
    patch = ph.Patch((0.3, 0.1, 0.0), 0.03)
    one, other = (frequencies(on(panel(patch, elements=e), 16)) for e in ("bfs", "argyris"))
    np.testing.assert_allclose(one, other, rtol=2e-3)
    np.testing.assert_allclose(one[:5], other[:5], rtol=6e-4)


def test_a_disc_on_a_face_of_a_solid_is_that_of_a_plate():
    """A plate 10 mm thick by Mindlin's theory and as a solid of 20 × 10 × 1 hexahedra, the box on its upper face: eight
    frequencies, 44 to 1300 Hz, agree to 1 %, as they do between meshes of the solid (to 0.25 % with 30 × 16 × 2)."""
    heavy = ph.RigidBody(0.5, 7e-4 * np.eye(3)).discretise()
    plate = panel(ph.Patch((0.3, 0.1, 0.005), 0.03), thickness=0.01, theory="mindlin")
    ports = {"root": "left", "A": ph.Patch((0.3, 0.1, 0.01), 0.03)}
    solid = ph.Solid.box(0.4, 0.2, 0.01, material=alu, frame="left", ports=ports)
    thin, thick = frequencies(on(plate, 16), heavy), frequencies(on(solid, (20, 10, 1)), heavy)
    np.testing.assert_allclose(thick, thin, rtol=1e-2)


def drilled(n, inner=0.2, radius=1.0, h=0.01):
    """The turn of a disc within a disc about its axis per moment, beside the exact one."""
    ports = {"A": ph.Patch((0.0, 0.0, 0.0), inner)}
    recipe = ph.Plate.disc(radius, thickness=h, material=alu, clamped="rim", membrane=True, ports=ports)
    exact = (4.0 / (3.0 * inner**2) - 1.0 / radius**2) / (4.0 * np.pi * alu.G * h)
    return compliance(recipe.discretise(n), "A")[5, 5] / exact


def test_the_turn_of_a_disc_about_its_normal_is_exact():
    """A moment spread as f = c r over a disc of radius a in a sheet clamped at R turns it by T/(4πGh) (4/(3a²) − 1/R²)."""
    assert abs(drilled(6) - 1.0) < 1e-2
    assert abs(drilled(12) - 1.0) < 2e-3


def test_a_force_across_a_disc_is_exact():
    """P spread over a disc of radius a = R/4 in the middle of a clamped plate: the mean of w over the disc by integration of
    D ∇⁴w = p, w(a) and w′(a) of the outer solution."""
    a, R, D = 0.25, 1.0, alu.E * 0.01**3 / (12 * (1 - alu.nu**2))
    recipe = ph.Plate.disc(
        R, thickness=0.01, material=alu, clamped="rim", membrane=True, ports={"A": ph.Patch((0, 0, 0), a)}
    )
    r, weight = np.polynomial.legendre.leggauss(12)
    r = 0.5 * a * (1 + r)
    p = 1.0 / (np.pi * a**2)
    # w = p/(64 D) [r⁴ + A r² + B] inside; r² ln r, ln r, r², 1 outside; C³ at a, clamped at R
    outer = [(lambda x, k=k: _outer(x, k)) for k in range(4)]
    inside = [(lambda x: (x**4, 4 * x**3, 12 * x**2, 24 * x)), (lambda x: (x**2, 2 * x, 2 + 0 * x, 0 * x))]
    inside.append(lambda x: (1 + 0 * x, 0 * x, 0 * x, 0 * x))
    M, b = np.zeros((6, 6)), np.zeros(6)
    for i in range(4):
        M[i, :2] = [f(a)[i] for f in inside[1:]]
        M[i, 2:] = [-f(a)[i] for f in outer]
        b[i] = -inside[0](a)[i]
    M[4, 2:], M[5, 2:] = [f(R)[0] for f in outer], [f(R)[1] for f in outer]
    A, B = np.linalg.solve(M, b)[:2]
    mean = float((weight * r * (r**4 + A * r**2 + B)).sum() / (weight * r).sum()) * p / (64 * D)
    assert np.isclose(compliance(recipe.discretise(12), "A")[2, 2], mean, rtol=3e-3)


def _outer(x, k):
    log = np.log(x)
    return (
        (x**2 * log, 2 * x * log + x, 2 * log + 3, 2 / x),
        (log, 1 / x, -1 / x**2, 2 / x**3),
        (x**2, 2 * x, 2.0, 0.0),
        (1.0, 0.0, 0.0, 0.0),
    )[k]


def test_discs_of_sheets_and_of_curved_faces_move_as_bodies_do():
    """(v, ω) of a port on a disc under rigid motion are those of the motion, on planes, bent faces and off the middle plane."""
    bodies = [
        ph.Sheet.rectangle(0.4, 0.2, material=alu, ports={"A": ph.Patch((0.3, 0.1, 0.0), 0.05)}).discretise(8),
        panel(ph.Patch((0.3, 0.1, 0.001), 0.03)).discretise(8),
        ph.Solid.tube(0.4, 0.05, 0.03, material=alu, ports={"A": ph.Patch((0.3, 0.05, 0.0), 0.02)}).discretise(
            (8, 1, 12)
        ),
        ph.Solid.box(
            0.4, 0.2, 0.1, material=alu, cells="tetrahedron", ports={"A": ph.Patch((0.0, 0.1, 0.05), 0.04)}
        ).discretise(6),
    ]
    for body in bodies:
        found = interfaces(body, body.ports)["A"]
        seen = found.L @ body.rigid
        moved = np.eye(6)
        moved[:3, 3:] = np.cross(np.eye(3), found.x).T
        if "u_z" not in body.kinds and "w" not in body.kinds:  # a sheet
            moved[:, [2, 3, 4]] = moved[[2, 3, 4]] = 0.0
        np.testing.assert_allclose(seen, moved, atol=1e-9)


def test_the_mean_of_a_region_is_a_port():
    """Cells of a mesh by name: a square of 0.1 m in a plate and in the solid of the same shape; three frequencies to 2 %, the solid
    with one layer of cells being the stiffer."""
    mesh = ph.shapes.rectangle(0.4, 0.2, 16, 8)
    middle = np.abs(mesh.points[mesh.corners].mean(axis=1)[:, :2] - (0.3, 0.1)).max(axis=1) < 0.05
    mesh = replace(mesh, regions={"seat": np.flatnonzero(middle)})
    ports = {"root": "left", "A": ph.Mean("seat")}
    thick = ph.shapes.box(0.4, 0.2, 0.01, 16, 8, 1)
    middle = np.abs(thick.points[thick.corners].mean(axis=1)[:, :2] - (0.3, 0.1)).max(axis=1) < 0.05
    thick = replace(thick, regions={"seat": np.flatnonzero(middle)})
    plate = ph.Plate(outline=mesh, thickness=0.01, material=alu, frame="left", ports=ports, theory="mindlin")
    solid = ph.Solid(thick, alu, frame="left", ports=ports)
    one, other = (frequencies(body.discretise().reduced(modes=4, stiffened=0), count=3) for body in (plate, solid))
    np.testing.assert_allclose(one, other, rtol=2e-2)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: panel(ph.Patch((0.3, 0.1, 0.0), 0.2)).discretise(8), "'A'"),
        (lambda: panel(ph.Patch((0.3, 0.1, 0.1), 0.03)).discretise(8), "'A'"),
        (lambda: panel(ph.Patch((0.3, 0.7, 0.0), 0.03)).discretise(8), "'A'"),
        (lambda: block(ph.Patch((0.3, 0.1, 0.05), 0.03)).discretise(4), "'A'"),
        (lambda: block(ph.Patch((0.3, 0.1, 0.1), 0.11)).discretise(4), "'A'"),
        (lambda: panel(ph.Patch((0.3, 0.1), 0.03)), "Patch"),
        (lambda: panel(ph.Patch((0.3, 0.1, 0.0), 0.0)), "Patch"),
    ],
    ids=range(7),
)  # fmt: skip
def test_discs_that_are_not_there(make, name):
    with raises(ph.errors.InputError, name):
        make().reduced(modes=1, stiffened=0)


def test_a_disc_smaller_than_half_a_cell_warns():
    """Radius 0.01 in cells of 0.05: with 8 cells a frequency of 326 Hz is 3 % high."""
    with warns(ph.errors.CoarsePatchWarning, "0.01", "0.05", "0.02"):
        on(panel(ph.Patch((0.3, 0.1, 0.0), 0.01)), 8)


# --- points ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("material", [alu, carbon], ids=["isotropic", "orthotropic"])
def test_a_point_of_a_plate_gives_way_by_a_logarithm(material):
    """Halving cells adds ln 2 (1 + ν)(3 − ν)/(4π E h) to the compliance in the plane and ln 2/(4π D) to that of rotations, to four
    digits; the deflection converges; the turn about the normal grows fourfold."""
    recipe = ph.Plate.rectangle(
        1.0, 1.0, thickness=0.05, material=material, membrane=True, clamped="all", ports={"A": (0.5, 0.5, 0.0)}
    )
    coarse, fine = recipe.discretise(8), recipe.discretise(16)
    less, more, port = compliance(coarse, "A"), compliance(fine, "A"), point_port(fine, "A")
    np.testing.assert_allclose((more - less)[:2, :2], port.force[:2, :2], rtol=2e-2, atol=1e-3 * port.force[0, 0])
    np.testing.assert_allclose((more - less)[3:5, 3:5], port.moment[:2, :2], rtol=2e-2, atol=1e-3 * port.moment[0, 0])
    assert more[2, 2] / less[2, 2] - 1.0 < 1e-2
    assert 3.9 < more[5, 5] / less[5, 5] < 4.1
    if material is alu:
        D = alu.E * 0.05**3 / (12 * (1 - alu.nu**2))
        assert np.isclose(port.force[0, 0], np.log(2) * (1 + alu.nu) * (3 - alu.nu) / (4 * np.pi * alu.E * 0.05))
        assert np.isclose(port.moment[0, 0], np.log(2) / (4 * np.pi * D))


def test_a_point_on_an_edge_gives_way_by_more():
    """On a free side 2.3 times as much in the plane (Flamant's 2/(π E h)) and 3.6 times as much in rotations, ν = 0.33."""
    recipe = ph.Plate.rectangle(
        1.0, 1.0, thickness=0.05, material=alu, membrane=True, clamped="bottom", ports={"A": (0.5, 1.0, 0.0)}
    )
    coarse, fine = recipe.discretise(8), recipe.discretise(16)
    gained, port = compliance(fine, "A") - compliance(coarse, "A"), point_port(fine, "A")
    np.testing.assert_allclose(np.diag(gained)[[0, 1]], np.diag(port.force)[:2], rtol=1e-2)
    np.testing.assert_allclose(np.diag(gained)[[3, 4]], np.diag(port.moment)[:2], rtol=1e-2)
    assert np.isclose(port.force[0, 0], np.log(2) * 2 / (np.pi * alu.E * 0.05))


point = (0.3, 0.1, 0.0)
pieces = {
    "kirchhoff": lambda: on(panel(point), 8),
    "mindlin": lambda: on(panel(point, theory="mindlin"), 8),
    "solid": lambda: on(
        ph.Solid.box(0.4, 0.05, 0.03, material=alu, frame="left", ports={"root": "left", "A": (0.4, 0.025, 0.015)}),
        (8, 1, 1),
    ),
}
fine, warned, refused = "fine", "warned", "refused"
LOADS = [  # what is put on the point, and what a plate and a solid say
    (ph.Weld("p.A", "box.P"), refused, refused),
    (ph.Spherical("p.A", "box.P"), fine, fine),
    (ph.Revolute("p.A", "box.P"), warned, refused),
    (ph.Revolute("p.A", "box.P", axis=(1, 0, 0)), refused, refused),
    (ph.Slide("p.A", "box.P", along=(1, 0, 0)), refused, refused),  # its line turns with the point
    (ph.Slide("box.P", "p.A", along=(1, 0, 0)), fine, fine),
    (ph.Bushing("p.A", "box.P", stiffness=(1, 1, 1, 0, 0, 0)), fine, fine),
    (ph.Bushing("p.A", "box.P", stiffness=(1, 1, 1, 0, 0, 1)), refused, refused),
    (ph.Spring("p.A", "box.P", stiffness=1.0, length=1.0), fine, fine),
    (ph.Force("p.A", along=(0, 0, 1)), fine, fine),
    (ph.Force("p.A", along=(1, 0, 0), axes="body"), warned, warned),
    (ph.Torque("p.A", about=(1, 0, 0)), warned, refused),
    (ph.Torque("p.A", about=(0, 0, 1)), refused, refused),
]


@pytest.mark.parametrize("of", list(pieces))
def test_points_carry_what_converges_and_say_the_rest(of):
    body = pieces[of]()
    for joint, of_plate, of_solid in LOADS:
        assert said(body, joint) == (of_solid if of == "solid" else of_plate), (of, joint)


def said(body, joint) -> str:
    joints = [ph.Weld("ground", "p.root"), joint, ph.Force("box.P", along=(1, 0, 0), name="push")]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            ph.connect({"p": body, "box": box}, joints)
        except ph.errors.JointError as error:
            assert "'p.A'" in str(error)
            return refused
    return warned if any(w.category is ph.errors.PointPortWarning for w in heard) else fine


def test_locking_a_hinge_about_the_normal_of_a_point_is_refused():
    with warns(ph.errors.PointPortWarning, "'p.A'", "3."):
        system = ph.connect(
            {"p": pieces["kirchhoff"](), "box": box},
            [ph.Weld("ground", "p.root"), ph.Revolute("p.A", "box.P", name="hinge")],
        )
    with raises(ph.errors.JointError, "'p.A'"):
        ph.lock(system, "hinge")


def test_points_of_small_motions_say_the_same():
    """Ties and torques at points of plates that are held: about z refused where there is a membrane, about x with a warning."""
    plate = ph.Plate.rectangle(
        0.4, 0.2, thickness=0.003, material=alu, clamped="left", membrane=True, ports={"A": point}
    ).discretise(8)
    with raises(ph.errors.JointError, "'p.A'"):
        ph.tie({"p": plate, "box": box}, [ph.Tie("p.A", "box.P")])
    with warns(ph.errors.PointPortWarning, "'p.A.torque'"):
        ph.tie({"p": plate}, [ph.Torque("p.A", about=(1, 0, 0))])
    mass = ph.PointMass(0.2).discretise()
    ph.tie({"p": plate, "mass": mass}, [ph.Tie("p.A", "mass.P", of=("u_x", "u_y", "w"))])


def test_a_disc_goes_through_a_model_file(tmp_path):
    system = ph.connect(
        {"p": on(panel(ph.Patch((0.3, 0.1, 0.0), 0.03)), 8), "box": box},
        [ph.Weld("ground", "p.root"), ph.Weld("p.A", "box.P")],
    )
    path = tmp_path / "model.yaml"
    ph.io.save_model(system, path)
    assert "patch" in path.read_text()
    again = ph.io.load_model(path).system
    np.testing.assert_array_equal(again.bodies["p"].ports["A"].Phi, system.bodies["p"].ports["A"].Phi)
    assert ph.parameters(again)["p.ports.A.radius"] == 0.03
