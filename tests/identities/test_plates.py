"""What holds for every plate: exact rigid motions, stiffness made of stresses, quadratic strains, fields at points."""

import numpy as np
import pytest
from plates_zoo import KINDS, of_kind, ply

from phloat.algebra.sparse import block_inverse
from phloat.bodies.continua.mesh_body import Mean
from phloat.bodies.inertia import coupling
from phloat.bodies.material import Material, Orthotropic
from phloat.bodies.plates.laminate import Laminate, plane_stress, turned_stiffness
from phloat.bodies.plates.plate import Plate
from phloat.fem.mesh import Mesh
from phloat.fem.shapes import rectangle
from phloat.linear.analysis.shift_invert import ShiftInvert
from phloat.linear.form.second_order import SecondOrder

alu = Material(E=70e9, rho=2700.0, nu=0.35)
ANGLES = Laminate([(ply, 1e-3, 0.0), (ply, 1e-3, 0.7)])
FLOATING = ("bfs", "argyris", "morley", "mitc")


def skew_mesh():
    """Triangles of a parallelogram: no side but two along an axis."""
    flat = rectangle(1.0, 0.7, 3, 2)
    points = flat.points + np.outer(flat.points[:, 1], [0.4, 0.0, 0.0])
    return Mesh("triangle", points, flat.cells, flat.boundaries)


def floating(kind, **options):
    plain = {"material": alu, "thickness": lambda x, y: 0.02 + 0.01 * x, "frame": "left", **options}
    if kind == "bfs":
        return Plate.rectangle(1.5, 0.6, **of_kind(kind, **plain))
    return Plate(outline=skew_mesh(), **of_kind(kind, **plain))


def discretised(plate):
    return plate.discretise() if isinstance(plate.outline, Mesh) else plate.discretise((3, 2))


BODIES = {
    **{kind: floating(kind) for kind in FLOATING},
    **{f"coupled {kind}": floating(kind, material=ANGLES, thickness=None) for kind in FLOATING},
    "disc": Plate.disc(0.4, **of_kind("argyris", material=alu, thickness=0.01, frame="rim")),
    "ring": Plate.disc(0.4, 0.2, **of_kind("mitc", material=alu, thickness=0.01, frame="bore")),
}


@pytest.fixture(scope="module", params=BODIES)
def body(request):
    plate = BODIES[request.param]
    return plate.discretise(2) if request.param in ("disc", "ring") else discretised(plate)


def test_rigid_motion_has_no_strain(body):
    D = body.strains.D
    scale = np.abs(D).max() * np.abs(body.rigid).max(axis=0)
    assert np.abs(D @ body.rigid).max(axis=0) / scale == pytest.approx(0.0, abs=1e-13)


def test_rigid_motion_has_the_mass_properties(body):
    """RᵀM R is the sum over the samples, with the rotary inertia of the sections."""
    x, mass, _, weight = body.samples
    m = mass.diagonal()
    J = sum(mi * (xi @ xi * np.eye(3) - np.outer(xi, xi)) for mi, xi in zip(m, x, strict=True))
    if body.sections is not None:
        J = J + body.sections.J0
    found = body.rigid.T @ (body.M @ body.rigid)
    assert found[:3, :3] == pytest.approx(m.sum() * np.eye(3), rel=1e-12, abs=1e-12 * m.sum())
    assert found[3:, 3:] == pytest.approx(J, rel=1e-10, abs=1e-12 * m.sum())
    assert weight.sum() == pytest.approx(body.mesh.measure.sum(), rel=1e-12)


def test_sections_turn_with_the_body_and_by_themselves(body):
    """Rotary inertia about x and y, the same for rigid and elastic rotation; Kirchhoff's plates have none."""
    if body.recipe.theory == "kirchhoff":
        assert body.sections is None
        return
    x, _, _, weight = body.samples
    rho_2 = weight @ body.recipe.section.through(x[:, :2]).rho_2
    J0, X, M_s = body.sections.J0, body.sections.X, body.sections.M_s
    turning = body.rigid[:, 3:]
    assert J0 == pytest.approx(np.diag([rho_2, rho_2, 0.0]), rel=1e-12)
    assert coupling(X) @ turning == pytest.approx(J0, rel=1e-12, abs=1e-14 * rho_2)
    assert turning.T @ (M_s @ turning) == pytest.approx(J0, rel=1e-12, abs=1e-14 * rho_2)
    tilt = turning[:, :2]  # E = ∫ρz² e_z e_zᵀ, turned: E_xz = ρ₂ ψ_y, E_yz = −ρ₂ ψ_x
    first = (X + X.transpose(1, 0, 2)) @ tilt
    assert first[0, 2] == pytest.approx([0.0, rho_2], rel=1e-12, abs=1e-14 * rho_2)
    assert first[1, 2] == pytest.approx([-rho_2, 0.0], rel=1e-12, abs=1e-14 * rho_2)
    W = np.array([[tilt.T @ (w @ tilt) for w in row] for row in body.sections.W_ab])
    assert W[0, 0] == pytest.approx(np.diag([0.0, rho_2]), rel=1e-12, abs=1e-14 * rho_2)
    assert W[2, 2] == pytest.approx(-rho_2 * np.eye(2), rel=1e-12, abs=1e-14 * rho_2)
    assert np.einsum("aaij->ij", W) == pytest.approx(np.zeros((2, 2)), abs=1e-14 * rho_2)


def test_sides_know_their_gyration(body):
    for name in body.parts:
        trace = body.trace(name)
        h = body.recipe.section.height(trace.x[:, :2])
        assert trace.gyration == pytest.approx(trace.weight @ h**2 / 12 / trace.weight.sum(), rel=1e-12)


def test_the_stiffness_is_that_of_the_stresses(body):
    C, D, *_ = body.strains
    K = D.T @ block_inverse(C) @ D
    assert np.abs((K - body.K).toarray()).max() < 1e-12 * np.abs(body.K).max()


def test_only_rigid_motion_is_without_energy(body):
    scale = 1.0 / np.sqrt(body.K.diagonal())
    value = np.linalg.eigvalsh(scale[:, None] * body.K.toarray() * scale)
    assert np.abs(value[:6]).max() < 1e-12
    assert value[6] > 1e-8


def test_fields_at_points_move_rigidly(body):
    """Points of both faces, and rotations of all sections."""
    x = body.shape.stress_points()[::7]
    inside = np.array(x)  # another array, so that the points are looked for
    for v, omega in zip(np.eye(6)[:, :3], np.eye(6)[:, 3:], strict=True):
        q = body.rigid @ np.concatenate([v, omega])
        assert (body.shape.displacement(inside) @ q).reshape(-1, 3) == pytest.approx(v + np.cross(omega, x), abs=1e-11)
        assert (body.shape.rotation(inside) @ q).reshape(-1, 3) == pytest.approx(np.tile(omega, (len(x), 1)), abs=1e-11)


def test_boundaries_move_rigidly_with_their_coordinates(body):
    """What `parts` holds of a side decides how the side moves: with those at rest, its trace does not move."""
    rng = np.random.default_rng(1)
    for name in body.parts:
        trace = body.trace(name)
        for a, (v, omega) in enumerate(zip(np.eye(6)[:, :3], np.eye(6)[:, 3:], strict=True)):
            q = body.rigid[:, a]
            moved = np.column_stack([u @ q for u in trace.u])
            assert moved == pytest.approx(v + np.cross(omega, trace.x), abs=1e-11)
        q = rng.normal(size=body.coordinates)
        q[body.on(name)] = 0.0
        straight = body.recipe.elements in ("bfs", "mitc") or isinstance(body.recipe.outline, Mesh)
        if straight and body.recipe.elements != "morley":  # Morley's w is not continuous
            assert np.abs(np.concatenate([u @ q for u in trace.u])).max() < 1e-10 * np.abs(q).max()


def test_membrane_strain_is_quadratic_in_the_slopes(body):
    """∫ w,x v,x and so on, for w and v linear in x and y; symmetric; none on the other stresses."""
    strains, R = body.strains, body.rigid
    area = body.samples.weight.sum()
    w, v = R @ [0, 0, 0.1, 0.3, -0.5, 0], R @ [0, 0, 0, -0.2, 0.4, 0]  # w = 0.3 y + 0.5 x, v = −0.2 y − 0.4 x
    pair = strains.pair(w, v)
    assert pair == pytest.approx(strains.pair(v, w), rel=1e-14)
    total = {name: pair[strains.stresses[name]].sum() / area for name in strains.stresses}
    expected = {"N_xx": -0.2, "N_yy": -0.06, "N_xy": -0.12 - 0.1}
    assert total == pytest.approx({name: expected.get(name, 0.0) for name in total}, abs=1e-12)


def test_a_finite_rotation_strains_a_plate_by_its_fourth_power(body):
    """About y by φ: u_x = x (cos φ − 1), w = −x sin φ: von Kármán's ε_xx is cos φ − 1 + ½ sin² φ = −φ⁴/8 + …"""
    phi = 0.05
    n_x = np.zeros(body.coordinates)
    # u_x = x: rotation about z gives u_y = x; the membrane's own unknowns of u_x follow those of u_y
    on_x, on_y = body.kinds == "u_x", body.kinds == "u_y"
    n_x[on_x] = body.rigid[on_y, 5]
    q = (np.cos(phi) - 1) * n_x + np.sin(phi) * body.rigid[:, 4]
    strains = body.strains
    total = strains.D @ q + 0.5 * strains.pair(q, q)
    area = body.samples.weight.sum()
    assert total[strains.stresses["N_xx"]].sum() / area == pytest.approx(
        np.cos(phi) - 1 + 0.5 * np.sin(phi) ** 2, abs=1e-12
    )
    assert np.abs(total[strains.stresses["M_xx"]]).max() < 1e-12


@pytest.mark.parametrize("kind", ["bfs", "argyris", "mitc"])
def test_constant_moments_are_found_anywhere(kind):
    """w = −½ (a x² + b y²) + c x y: M = D (κ_xx + ν κ_yy, …), at points, at nodes, and as stress on the faces."""
    a, b, c = 0.3, -0.2, 0.15
    body = discretised(floating(kind, thickness=0.02))
    nodes = body.shape.places()
    # the coordinates that fit displacement and rotation at many points
    x = body.samples.x
    X, Y = x[:, 0], x[:, 1]
    u = np.column_stack([0 * X, 0 * X, -(a * X * X + b * Y * Y) / 2 + c * X * Y])
    theta = np.column_stack([-b * Y + c * X, a * X - c * Y, 0 * X])
    rows = np.vstack([body.shape.displacement(x).toarray(), body.shape.rotation(x).toarray()])
    q = np.linalg.lstsq(rows, np.concatenate([u.ravel(), theta.ravel()]), rcond=1e-13)[0]
    sigma = block_inverse(body.strains.C) @ (body.strains.D @ q)
    stiff = alu.E * 0.02**3 / 12 / (1 - alu.nu**2)
    exact = {"M_xx": stiff * (a + alu.nu * b), "M_yy": stiff * (b + alu.nu * a), "M_xy": -stiff * (1 - alu.nu) * c}
    stress = body.shape.stress(nodes)
    for name, value in exact.items():
        assert stress[name] @ sigma == pytest.approx(value, rel=1e-8)
    top = np.array([[0.6, 0.3, 0.01]])
    cauchy = body.shape.cauchy(top) @ sigma
    assert cauchy[[0, 1, 5]] == pytest.approx([6 * value / 0.02**2 for value in exact.values()], rel=1e-8)


def test_a_plate_without_a_membrane_bends_only():
    body = Plate.rectangle(1.0, 1.0, thickness=0.01, material=alu).discretise(2)
    assert set(body.strains.stresses) == {"M_xx", "M_yy", "M_xy"}
    assert body.strains.pair is None
    assert not body.rigid[:, [0, 1, 5]].any()
    assert not any(p.nnz for p in body.samples.Phi[:2])


@pytest.mark.parametrize("kind", KINDS)
def test_held_plates_do_not_move_where_they_are_held(kind):
    plate = Plate(outline=skew_mesh(), **of_kind(kind)) if kind != "bfs" else Plate.rectangle(1.0, 1.0, **of_kind(kind))
    held = Plate(**{**vars(plate), "clamped": "left", "supported": "bottom"})
    body = discretised(held)
    assert body.held == "left clamped, bottom supported"
    q = np.random.default_rng(2).normal(size=body.coordinates)
    if kind != "morley":
        for name in ("left", "bottom"):
            assert np.abs(body.trace(name).u[2] @ q).max() < 1e-10
    if kind not in ("morley", "hhj"):  # slopes of those are held in the mean or by moments
        turn = body.trace("left").turn
        assert np.abs(np.concatenate([turn[0] @ q, turn[1] @ q])).max() < 1e-9


def test_mixed_plates_have_free_moments_on_clamped_sides_only():
    free = Plate.rectangle(1.0, 1.0, **of_kind("hhj")).discretise(2)
    held = Plate.rectangle(1.0, 1.0, **of_kind("hhj", clamped="all")).discretise(2)
    assert held.strains.C.shape[0] - free.strains.C.shape[0] == 2 * 8  # two unknowns on each of eight edges
    assert np.abs(free.strains.D @ free.rigid).max() < 1e-12
    assert free.K is None


def test_a_plate_floats_with_ports_on_its_sides():
    plate = Plate.rectangle(
        1.5, 0.5, thickness=0.01, material=alu, frame="left", ports={"root": "left", "tip": Mean("right")}
    )
    body = plate.discretise(6).reduced(modes=3)
    assert set(body.ports) == {"root", "tip"}
    assert body.ports["root"].x == pytest.approx([0.0, 0.25, 0.0])
    assert np.abs(body.ports["root"].Phi).max() < 1e-9


@pytest.mark.parametrize("angle", [0.3, -0.8, 2.0])
def test_a_turned_ply_is_the_same_material_with_turned_axes(angle):
    c, s = np.cos(angle), np.sin(angle)
    axes = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    whole = Orthotropic(E=ply.E, nu=ply.nu, G=ply.G, rho=ply.rho, axes=axes)
    Q, G = turned_stiffness(*plane_stress(ply), angle)
    assert Q == pytest.approx(whole.plane_stress(), rel=1e-10, abs=1e-3)
    # γ_xz, γ_yz against yz, xz of the solid
    assert G == pytest.approx(whole.elasticity()[np.ix_([4, 3], [4, 3])], rel=1e-10, abs=1e-3)
    assert Laminate([(ply, 2e-3, angle)]).through.D == pytest.approx(Q * 2e-3**3 / 12, rel=1e-12)


def test_modes_of_moments_are_found_by_a_sparse_factor():
    """The saddle (v | σ) of a clamped disc of 6 cells has 1729 rows and 43 568 entries in its factor: scaled by its
    diagonal it had ten times as many, and its modes took five times as long as those of Argyris's elements."""
    body = Plate.disc(1.0, **of_kind("hhj", clamped="rim")).discretise(6)
    inverted = ShiftInvert(SecondOrder.from_system(body.linear()), shift=-1e-4, mixed=True)
    assert inverted.factor.lu.L.nnz < 60_000
