"""Solids and sheets: what must hold for every kind of cell, straight, pulled about or curved."""

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from meshes_zoo import ALL, curved, distorted, field, made, rubber, unit
from messages import raises

from phloat.algebra.eigen import lowest
from phloat.algebra.sparse import block_inverse
from phloat.bodies.material import KelvinVoigt, Orthotropic, Rayleigh
from phloat.bodies.solids.cells import VOIGT
from phloat.errors import AccuracyError
from phloat.fem.cells import CORNERS
from phloat.fem.shapes import box
from phloat.linear.analysis.modes import modes

every = pytest.mark.parametrize(("kind", "order"), ALL)
shaped = pytest.mark.parametrize("shape", [distorted, curved])
gradient = np.array([[0.3, -0.2, 0.5], [0.1, 0.4, -0.3], [-0.6, 0.2, 0.7]])  # ∂u_a/∂x_b


def linear_field(body):
    d = body.mesh.dimension
    g = np.zeros((3, 3))
    g[:d, :d] = gradient[:d, :d]
    return g, field(body, lambda x: x @ g.T + [1.0, 2.0, 3.0])


def strain_of(g, d):
    return np.array([g[a, a] if a == b else g[a, b] + g[b, a] for a, b in VOIGT[d]])


def stress_of(body, q):
    return spla.spsolve(body.strains.C.tocsc(), body.strains.D @ q)


@every
@shaped
def test_stiffness_is_that_of_the_stresses(kind, order, shape):
    body = made(shape(kind, order))
    C, D, *_ = body.strains
    assert abs(D.T @ block_inverse(C) @ D - body.K).max() < 1e-13 * abs(body.K).max()
    assert abs(body.K - body.K.T).max() == 0.0
    assert abs(body.M - body.M.T).max() < 1e-16


@every
@shaped
def test_rigid_motions_strain_nothing_and_nothing_else_does(kind, order, shape):
    body = made(shape(kind, order))
    assert abs(body.strains.D @ body.rigid).max() < 1e-15
    free = 3 if body.mesh.dimension == 2 else 6
    assert np.linalg.matrix_rank(body.rigid) == free
    value = np.linalg.eigvalsh(body.K.toarray())
    assert (value[:free] < 1e-13 * value[-1]).all()
    assert value[free] > 1e-4 * value[-1]  # no motion without stiffness


@every
@shaped
def test_a_finite_rotation_has_no_green_strain(kind, order, shape):
    body = made(shape(kind, order))
    s, c = np.sin(0.7), np.cos(0.7)
    A = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    if body.mesh.dimension == 3:
        A = A @ np.array([[1, 0, 0], [0, np.cos(1.1), -np.sin(1.1)], [0, np.sin(1.1), np.cos(1.1)]])
    q = field(body, lambda x: x @ (A - np.eye(3)).T)
    _, D, _, pair = body.strains
    assert abs(D @ q).sum() > 0.1
    assert abs(D @ q + 0.5 * pair(q, q)).max() < 1e-12 * abs(D @ q).max()


@every
def test_the_quadratic_strain_is_that_of_green(kind, order):
    """½(∇u + ∇uᵀ + ∇uᵀ∇u) of a field with constant ∇u, times the volume of each stress point; and symmetric."""
    body = made(distorted(kind, order))
    g, q = linear_field(body)
    d = body.mesh.dimension
    _, D, layout, pair = body.strains
    green = strain_of(0.5 * (g + g.T + g.T @ g), d)
    volume = np.asarray((D @ q).reshape(len(green), -1)[0] / strain_of(g, d)[0])
    assert volume.sum() == pytest.approx(1.0, abs=1e-14)
    assert (D @ q + 0.5 * pair(q, q)).reshape(len(green), -1) == pytest.approx(
        np.outer(green, volume), abs=1e-12 * volume.max()
    )
    r = np.random.default_rng(0).normal(size=len(q))
    assert pair(q, r) == pytest.approx(pair(r, q), abs=1e-14)
    assert pair(q + r, q + r) == pytest.approx(pair(q, q) + 2 * pair(q, r) + pair(r, r), abs=1e-12)
    assert list(layout) == [f"sigma_{'xyz'[a]}{'xyz'[b]}" for a, b in VOIGT[d]]


@every
def test_without_stiffening_there_is_no_quadratic_strain(kind, order):
    assert made(unit(kind, order), stiffening=False).strains.pair is None


@every
@shaped
def test_patch_of_cells_carries_a_constant_stress(kind, order, shape):
    """Linear displacements on the surface: the inside follows them, and the stress is A ε everywhere.

    The four stress points of curved tetrahedra integrate ∂φ/∂x of their curved faces to the next order only.
    """
    body = made(shape(kind, order, 3))
    d = body.mesh.dimension
    g, q = linear_field(body)
    outside = np.unique(np.concatenate([body.parts[name] for name in body.parts]))
    inside = np.setdiff1d(np.arange(body.coordinates), outside)
    found = q.copy()
    found[inside] = spla.spsolve(body.K[inside][:, inside].tocsc(), -body.K[inside][:, outside] @ q[outside])
    bent = kind == "tetrahedron" and order == 2 and shape is curved
    assert found == pytest.approx(q, abs=2e-4 if bent else 1e-13)
    A = rubber.elasticity() if d == 3 else rubber.plane_stress()
    stress = stress_of(body, q).reshape(len(A), -1)
    assert stress == pytest.approx(np.outer(A @ strain_of(g, d), np.ones(stress.shape[1])), abs=1e-11)


@every
@shaped
def test_mass_is_that_of_the_volume(kind, order, shape):
    mesh = shape(kind, order)
    body = made(mesh)
    _, mass, Phi, weight = body.samples
    volume = mesh.measure.sum()
    assert weight.sum() == pytest.approx(volume, rel=1e-13)
    assert mass.sum() == pytest.approx(rubber.rho * volume, rel=1e-13)
    assert mass.sum(axis=0) == pytest.approx(rubber.rho * weight, rel=1e-12, abs=1e-16)
    assert abs(sum(p.T @ mass @ p for p in Phi) - body.M).max() < 1e-16
    assert np.linalg.eigvalsh(body.M.toarray())[0] > 0


@every
def test_a_square_and_a_cube_have_their_moments_of_inertia(kind, order):
    body = made(distorted(kind, order, 3))
    m, d = rubber.rho, body.mesh.dimension
    second = m * (np.full((d, d), 0.25) + np.eye(d) / 12)  # ∫ρ x xᵀ
    found = body.rigid.T @ (body.M @ body.rigid)
    if d == 3:
        s = 0.5 * m * np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])  # ∫ρ e_i · (e_k × x)
        exact = np.block([[m * np.eye(3), s], [s.T, np.trace(second) * np.eye(3) - second]])
    else:
        exact = np.zeros((6, 6))
        exact[:2, :2] = m * np.eye(2)
        exact[:2, 5] = exact[5, :2] = [-0.5 * m, 0.5 * m]
        exact[5, 5] = np.trace(second)
    assert found == pytest.approx(exact, abs=1e-13)


@every
@shaped
def test_fields_at_points_of_the_body(kind, order, shape):
    """Displacement, rotation and stress of a linear field are those of the field at any point."""
    body = made(shape(kind, order))
    d = body.mesh.dimension
    g, q = linear_field(body)
    x = inner_points(body)
    u = body.shape.displacement(x) @ q
    exact = x @ g.T + ([1, 2, 3] if d == 3 else [1, 2, 0])
    assert u.reshape(-1, 3) == pytest.approx(exact, abs=1e-12)
    turn = 0.5 * np.array([g[2, 1] - g[1, 2], g[0, 2] - g[2, 0], g[1, 0] - g[0, 1]])
    assert (body.shape.rotation(x) @ q).reshape(-1, 3) == pytest.approx(np.tile(turn, (len(x), 1)), abs=1e-12)
    sigma = stress_of(body, q)
    A = rubber.elasticity() if d == 3 else rubber.plane_stress()
    for (name, rows), value in zip(body.shape.stress(x).items(), A @ strain_of(g, d), strict=True):
        assert name in body.strains.stresses
        assert rows @ sigma == pytest.approx(np.full(len(x), value), abs=1e-11)
    cauchy = (body.shape.cauchy(x) @ sigma).reshape(-1, 6)
    kept = [0, 1, 2, 3, 4, 5] if d == 3 else [0, 1, 5]
    assert cauchy[0, kept] == pytest.approx(A @ strain_of(g, d), abs=1e-11)
    assert np.delete(cauchy[0], kept) == pytest.approx(0.0, abs=1e-14)


def inner_points(body, count=30):
    """Random points in random cells: means of their corners, taken in the reference cell."""
    cells, rng = body.shape.cells, np.random.default_rng(8)
    corners = cells.reference.nodes[: CORNERS[cells.reference.kind]]
    xi = rng.dirichlet(np.ones(len(corners)), size=count) @ corners
    nodes = cells.nodes[rng.integers(len(cells.nodes), size=count)]
    x = np.einsum("pn,pna->pa", cells.reference.values(xi), cells.points[nodes])
    return np.pad(x, ((0, 0), (0, 3 - cells.dim)))


@every
def test_fields_at_nodes_and_stress_points_are_those_found_there(kind, order):
    body = made(curved(kind, order))
    shape, rng = body.shape, np.random.default_rng(2)
    q, sigma = rng.normal(size=body.coordinates), rng.normal(size=body.strains.C.shape[0])
    nodes, points = shape.places(), shape.stress_points()
    assert shape.displacement(nodes) @ q == pytest.approx(shape.displacement(nodes.copy()) @ q, abs=1e-12)
    assert shape.cauchy(points) @ sigma == pytest.approx(shape.cauchy(points.copy()) @ sigma, abs=1e-9)
    assert shape.stress(points)["sigma_xy"] @ sigma == pytest.approx(
        body.strains.stresses.of(sigma, "sigma_xy").ravel()
    )
    assert shape.rotation(points) @ q == pytest.approx(shape.rotation(points.copy()) @ q, abs=1e-9)
    assert shape.material(points) @ q == pytest.approx(shape.displacement(points.copy()) @ q, abs=1e-12)


@every
def test_a_quadratic_field_is_met_by_order_two(kind, order):
    body = made(distorted(kind, order))

    def u(x):
        return np.column_stack([x[:, 0] * x[:, 1], x[:, 1] ** 2, 0 * x[:, 0]])

    q, x = field(body, u), inner_points(body)
    off = abs((body.shape.displacement(x) @ q).reshape(-1, 3) - u(x)).max()
    assert off < 1e-13 if order == 2 else off > 1e-3


@pytest.mark.parametrize("kind", ["triangle", "quadrilateral", "tetrahedron", "hexahedron"])
def test_rotation_and_stress_of_a_quadratic_field_are_met_at_nodes(kind):
    """u = (x y, x² − y², 0): ½ curl u = ½ (2x − x) e_z, and stresses linear in x and y."""
    body = made(distorted(kind, 2))
    q = field(body, lambda x: np.column_stack([x[:, 0] * x[:, 1], x[:, 0] ** 2 - x[:, 1] ** 2, 0 * x[:, 0]]))
    nodes = body.shape.places()
    x, y, _ = nodes.T
    turn = (body.shape.rotation(nodes) @ q).reshape(-1, 3)
    assert turn == pytest.approx(np.column_stack([0 * x, 0 * x, 0.5 * x]), abs=1e-12)
    A = rubber.elasticity() if body.mesh.dimension == 3 else rubber.plane_stress()
    strain = np.zeros((len(A), len(x)))
    strain[0], strain[1], strain[-1] = y, -2 * y, 3 * x
    sigma = stress_of(body, q)
    for rows, exact in zip(body.shape.stress(nodes).values(), A @ strain, strict=True):
        assert rows @ sigma == pytest.approx(exact, abs=1e-10)


@every
def test_traces_are_the_boundary(kind, order):
    body = made(unit(kind, order))
    d = body.mesh.dimension
    g, q = linear_field(body)
    for name in body.mesh.boundaries:
        trace = body.trace(name)
        assert trace.weight.sum() == pytest.approx(1.0, abs=1e-14)
        u = np.column_stack([rows @ q for rows in trace.u])
        assert u == pytest.approx(trace.x @ g.T + ([1, 2, 3] if d == 3 else [1, 2, 0]), abs=1e-13)
        used = np.unique(np.concatenate([rows.indices for rows in trace.u]))
        assert (used == np.sort(body.on(name))).all()
        assert trace.weight @ (trace.x[:, 1] ** (2 * order)) == pytest.approx(
            {"bottom": 0.0, "top": 1.0}.get(name, 1 / (2 * order + 1)), abs=1e-14
        )


@every
def test_the_linear_system_has_the_modes_of_the_matrices(kind, order):
    body = made(distorted(kind, order))
    found = modes(body.linear(), 14)
    omega, q = body.modes(14)
    assert found.rigid == (omega == 0).sum() == (3 if body.mesh.dimension == 2 else 6)
    assert found.omega == pytest.approx(omega, rel=1e-9)
    assert q.T @ (body.M @ q) == pytest.approx(np.eye(14), abs=1e-9)


def test_large_bodies_have_exact_zeros_and_all_of_a_cluster():
    """A cube has each bending and torsion mode several times over; the dense problem says how often."""
    body = made(box(1.0, 1.0, 1.0, 3, 3, 3, kind="hexahedron").of_order(2))
    assert body.coordinates > 600
    omega, q = body.modes(24)
    dense = np.sqrt(np.abs(la.eigh(body.K.toarray(), body.M.toarray(), eigvals_only=True)))
    assert (omega[:6] == 0).all()
    assert omega[6:] == pytest.approx(dense[6:24], rel=1e-9)
    assert q.T @ (body.M @ q) == pytest.approx(np.eye(24), abs=1e-9)


def test_modes_that_repeat_are_all_found():
    """Eight equal bodies side by side: every frequency eight times, which one Krylov sequence does not see. Rigid motions are
    counted where they are announced; others are no frequencies that K determines."""
    one = made(unit("quadrilateral", 2, 3), clamped="left")
    K, M = (sp.block_diag([a] * 8, format="csr") for a in (one.K, one.M))
    value, _ = lowest(sp.csr_array(K), sp.csr_array(M), 8)
    single = la.eigh(one.K.toarray(), one.M.toarray(), eigvals_only=True)
    assert K.shape[0] > 600
    assert value == pytest.approx(single[0], rel=1e-9)
    loose = made(unit("quadrilateral", 2, 9))
    value, _ = lowest(loose.K, loose.M, 6, loose.rigid)
    assert (value[:3] == 0).all() and (value[3:] > 0).all()
    with raises(AccuracyError):
        lowest(loose.K, loose.M, 6)


@pytest.mark.parametrize(
    ("damping", "mass", "stiffness"),
    [(Rayleigh(0.3, 0.02, relative_to="ground"), 0.3, 0.02), (KelvinVoigt(0.01), 0, 0.01)],
)
def test_damping_is_mass_and_stiffness(damping, mass, stiffness):
    body = made(unit("hexahedron", 1), damping=damping)
    assert abs(body.R_d - (mass * body.M + stiffness * body.K)).max() < 1e-16
    assert body.linear().R[: body.coordinates, : body.coordinates].nnz == body.R_d.nnz


def test_an_isotropic_material_is_orthotropic_in_any_axes():
    E, nu, G = rubber.E, rubber.nu, rubber.G
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    for axes in (None, turn):
        same = Orthotropic(E=(E, E, E), nu=(nu, nu, nu), G=(G, G, G), rho=1.0, axes=axes)
        assert same.elasticity() == pytest.approx(rubber.elasticity(), abs=1e-12)
        assert same.plane_stress() == pytest.approx(rubber.plane_stress(), abs=1e-12)


wood = Orthotropic(E=(12e9, 0.9e9, 0.5e9), nu=(0.4, 0.45, 0.5), G=(0.8e9, 0.7e9, 0.06e9), rho=450.0)


def test_turned_axes_store_the_same_energy():
    """½ εᵀA ε of a strain turned with the material, by the tensors themselves."""
    rng = np.random.default_rng(4)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    e = rng.normal(size=(3, 3))
    e = e + e.T
    turned = Orthotropic(wood.E, wood.nu, wood.G, wood.rho, axes=turn)
    there = turn @ e @ turn.T
    a, b = strain_of(e, 3), strain_of(there, 3)
    assert b @ turned.elasticity() @ b == pytest.approx(a @ wood.elasticity() @ a, rel=1e-12)


def test_exchanged_axes_exchange_moduli():
    x_is_2 = Orthotropic(wood.E, wood.nu, wood.G, wood.rho, axes=[[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    order = [1, 0, 2, 4, 3, 5]
    assert x_is_2.elasticity() == pytest.approx(wood.elasticity()[np.ix_(order, order)], rel=1e-12)
    assert np.linalg.inv(x_is_2.elasticity())[0, 0] == pytest.approx(1 / wood.E[1], rel=1e-12)
    assert np.linalg.inv(wood.elasticity())[3, 3] == pytest.approx(1 / wood.G[2], rel=1e-12)  # yz is 23
