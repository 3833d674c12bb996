"""Solids and sheets against answers known from elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse.linalg as spla
from meshes_zoo import rubber

from phloat.bodies.material import KelvinVoigt, Material, Orthotropic
from phloat.bodies.solids.solid import Sheet, Solid
from phloat.fem.shapes import box, disc, rectangle
from phloat.linear.analysis.modes import modes

steel = Material(E=210e9, nu=0.3, rho=7800.0)


def pulled(body, side, traction):
    """q under a constant traction on a side, with what is held."""
    trace = body.trace(side)
    load = sum(rows.T @ (trace.weight * t) for rows, t in zip(trace.u, traction, strict=True))
    return spla.spsolve(body.K.tocsc(), load)


def moved(body, side, q):
    """The mean displacement of a side."""
    trace = body.trace(side)
    return np.array([trace.weight @ (rows @ q) for rows in trace.u]) / trace.weight.sum()


def test_free_box_has_the_reference_frequencies():
    """E = ρ = 1, ν = 0.3, 1 × 0.2 × 0.1: converged numbers of three-dimensional elasticity, six zeros before."""
    body = Solid.box(1.0, 0.2, 0.1, material=Material(E=1.0, nu=0.3, rho=1.0)).discretise((14, 5, 4))
    omega, _ = body.modes(10)
    assert (omega[:6] == 0).all()
    assert omega[6:] == pytest.approx([0.62462, 1.14519, 1.4451, 1.6293], rel=1e-3)


@pytest.mark.parametrize(("cells", "n"), [("hexahedron", (12, 2, 2)), ("tetrahedron", (16, 2, 2))])
def test_slender_cantilever_is_a_timoshenko_beam(cells, n):
    """b = 0.05, h = 0.1, L = 1: 522.507336 and 3131.566840 rad/s where it is stiff, Euler-Bernoulli where it is slender."""
    body = Solid.box(1.0, 0.1, 0.05, material=steel, clamped="left", cells=cells).discretise(n)
    omega, q = body.modes(5)
    tip = np.array([moved(body, "right", shape) for shape in q.T])
    stiff, soft = (omega[np.abs(tip[:, a]) > 10 * np.abs(tip[:, b])] for a, b in ((1, 2), (2, 1)))
    assert stiff[:2] == pytest.approx([522.507336, 3131.566840], rel=0.01)
    assert soft[0] == pytest.approx(3.5160152685 * np.sqrt(steel.E * 0.05**2 / 12 / steel.rho), rel=0.01)


@pytest.mark.parametrize(
    ("kind", "order"), [("tetrahedron", 1), ("tetrahedron", 2), ("hexahedron", 1), ("hexahedron", 2)]
)
def test_a_pulled_bar_grows_longer_and_thinner(kind, order):
    """u = σ/E (x, −ν y, −ν z), exactly, and the stress is σ everywhere and nothing else."""
    bar = Solid.box(2.0, 0.5, 0.3, material=steel, symmetric=("left", "bottom", "back"), cells=kind).discretise(
        (3, 2, 2), order=order
    )
    q = pulled(bar, "right", (1e8, 0.0, 0.0))
    stretch = 1e8 / steel.E
    assert moved(bar, "right", q)[0] == pytest.approx(2.0 * stretch, rel=1e-11)
    assert moved(bar, "top", q)[1] == pytest.approx(-0.3 * 0.5 * stretch, rel=1e-10)
    assert moved(bar, "front", q)[2] == pytest.approx(-0.3 * 0.3 * stretch, rel=1e-10)
    sigma = spla.spsolve(bar.strains.C.tocsc(), bar.strains.D @ q)
    here = (bar.shape.cauchy(np.array([[0.7, 0.2, 0.1], [1.9, 0.45, 0.05]])) @ sigma).reshape(2, 6)
    assert here == pytest.approx(np.tile([1e8, 0, 0, 0, 0, 0], (2, 1)), abs=1.0)


def test_an_orthotropic_bar_contracts_by_its_own_ratios():
    wood = Orthotropic(E=(12e9, 0.9e9, 0.5e9), nu=(0.4, 0.45, 0.5), G=(0.8e9, 0.7e9, 0.06e9), rho=450.0)
    bar = Solid.box(1.0, 1.0, 1.0, material=wood, symmetric=("left", "bottom", "back"))
    for axes, pulls in ((None, 0), ([[0, 0, 1], [1, 0, 0], [0, 1, 0]], 2)):  # x is along 1, then along 3
        turned = replace(bar, material=replace(wood, axes=axes)).discretise(1, order=1)
        q = pulled(turned, "right", (1.0, 0.0, 0.0))
        S = np.array([[1, -0.4, -0.45], [-0.4, 12 / 0.9, -0.5 * 12 / 0.9], [-0.45, -0.5 * 12 / 0.9, 12 / 0.5]]) / 12e9
        strains = [moved(turned, side, q)[a] for a, side in enumerate(("right", "top", "front"))]
        across = [(pulls + 1) % 3, (pulls + 2) % 3]
        assert strains == pytest.approx([S[pulls, pulls], *S[pulls, across]], rel=1e-9)


def test_pure_shear_of_an_orthotropic_cube():
    """γ = τ/G with G_12 in xy, G_13 in xz, G_23 in yz."""
    ply = Orthotropic(E=(3.0, 2.0, 1.0), nu=(0.1, 0.1, 0.1), G=(0.7, 0.5, 0.3), rho=1.0)
    S = np.linalg.inv(ply.elasticity())
    assert np.diag(S) == pytest.approx([1 / 3, 1 / 2, 1, 1 / 0.3, 1 / 0.5, 1 / 0.7])
    assert [S[1, 0] / S[0, 0], S[2, 0] / S[0, 0], S[2, 1] / S[1, 1]] == pytest.approx([-0.1] * 3)


@pytest.mark.parametrize("cells", ["triangle", "quadrilateral"])
@pytest.mark.parametrize("plane", ["stress", "strain"])
def test_waves_between_smooth_walls(plane, cells):
    """A rectangle a × b that slides along its sides: ω = c π √(m²/a² + n²/b²), c of pressure and of shear waves."""
    a, b = 1.0, 0.7
    body = Sheet.rectangle(a, b, material=rubber, plane=plane, symmetric="all", cells=cells, thickness=0.2)
    omega, _ = body.discretise((16, 12)).modes(8)
    A = rubber.plane_stress()[0, 0] if plane == "stress" else rubber.elasticity()[0, 0]
    fast, slow = np.sqrt(A / rubber.rho), np.sqrt(rubber.G / rubber.rho)
    waves = [np.hypot(m / a, n / b) * np.pi for m in range(5) for n in range(5) if m or n]
    both = [np.hypot(m / a, n / b) * np.pi for m in range(1, 5) for n in range(1, 5)]  # shear needs both
    exact = np.sort(np.concatenate([fast * np.array(waves), slow * np.array(both)]))[:8]
    assert omega == pytest.approx(exact, rel=5e-4)


def test_a_thick_ring_under_pressure_is_that_of_lame():
    """u_r = p a²/(E (b² − a²)) ((1 − ν) r + (1 + ν) b²/r) in plane stress, in curved cells."""
    a, b, p = 0.5, 1.0, 1.0
    ring = disc(b, 6, inner=a, around=32, kind="quadrilateral", order=2)
    body = Sheet(ring, rubber).discretise(order=2)
    trace = body.trace("bore")
    outward = trace.x[:, :2] / np.linalg.norm(trace.x[:, :2], axis=1)[:, None]
    load = sum(trace.u[k].T @ (trace.weight * p * outward[:, k]) for k in (0, 1))
    q = np.linalg.lstsq(body.K.toarray(), load)[0]
    for name, r in (("bore", a), ("rim", b)):
        side = body.trace(name)
        n = side.x[:, :2] / np.linalg.norm(side.x[:, :2], axis=1)[:, None]
        mean = side.weight @ sum((side.u[k] @ q) * n[:, k] for k in (0, 1)) / side.weight.sum()
        exact = p * a**2 / (rubber.E * (b**2 - a**2)) * ((1 - rubber.nu) * r + (1 + rubber.nu) * b**2 / r)
        assert mean == pytest.approx(exact, rel=1e-4)


def test_plane_strain_is_held_across():
    """σ_zz = ν (σ_xx + σ_yy) in plane strain, 0 in plane stress; the stresses in the plane are the same under the same load."""
    for plane, factor in (("strain", rubber.nu), ("stress", 0.0)):
        body = Sheet.rectangle(1.0, 1.0, material=rubber, plane=plane, symmetric=("left", "bottom")).discretise(2)
        q = pulled(body, "right", (2.0, 0.0, 0.0))
        sigma = spla.spsolve(body.strains.C.tocsc(), body.strains.D @ q)
        cauchy = (body.shape.cauchy(np.array([[0.3, 0.6, 0.0]])) @ sigma).ravel()
        assert cauchy == pytest.approx([2.0, 0, 2.0 * factor, 0, 0, 0], abs=1e-11)


def test_a_tapered_sheet_weighs_and_stretches_as_its_thickness():
    """h = 1 + x over unit length, pulled by P: the stretch ∫P/(E h) is ln 2 (ν = 0), the mass 1.5 ρ."""
    plain = Material(E=5.0, nu=0.0, rho=2.0)
    body = Sheet.rectangle(
        1.0, 0.2, material=plain, thickness=lambda x, y: 1.0 + x, symmetric=("left", "bottom"), mass=0.6
    )
    free = body.discretise((20, 1))
    assert free.samples.mass.sum() == pytest.approx(0.6, rel=1e-12)
    q = pulled(free, "right", (1.0, 0.0, 0.0))
    assert moved(free, "right", q)[0] == pytest.approx(np.log(2.0) / 5.0, rel=1e-4)
    sigma = spla.spsolve(free.strains.C.tocsc(), free.strains.D @ q)
    assert (free.shape.stress(np.array([[0.5, 0.1, 0.0]]))["sigma_xx"] @ sigma)[0] == pytest.approx(1 / 1.5, rel=1e-3)


def test_two_materials_in_a_row_add_their_stretches():
    soft, hard = Material(E=1.0, nu=0.0, rho=1.0), Material(E=3.0, nu=0.0, rho=4.0)
    mesh = box(1.0, 1.0, 1.0, 4, 1, 1, kind="hexahedron")
    x = mesh.points[mesh.cells].mean(axis=1)[:, 0]
    parts = replace(mesh, regions={"first": np.flatnonzero(x < 0.25), "second": np.flatnonzero(x > 0.25)})
    body = Solid(parts, {"second": hard, "first": soft}, symmetric=("left", "bottom", "back"), mass=3.25).discretise(
        order=1
    )
    q = pulled(body, "right", (1.0, 0.0, 0.0))
    assert moved(body, "right", q)[0] == pytest.approx(0.25 / 1.0 + 0.75 / 3.0, rel=1e-12)
    assert body.M.sum() < 3 * 3.25  # the held coordinates are left out


def test_held_axes_hold_these_axes_only():
    """A square held along x at its left side and along y at its bottom is the symmetric one."""
    square = Sheet.rectangle(1.0, 1.0, material=rubber, held={"left": "x", "bottom": "y"}).discretise(3)
    other = Sheet.rectangle(1.0, 1.0, material=rubber, symmetric=("left", "bottom")).discretise(3)
    assert abs(square.K - other.K).max() == 0.0
    assert square.held == "'left' held along x, 'bottom' held along y"
    assert Sheet.rectangle(1.0, 1.0, material=rubber, clamped="left").discretise(3).coordinates == 2 * 7 * 6


def test_kelvin_voigt_damps_each_mode_by_its_frequency():
    """Poles of ω² (1 + τ s) + s² = 0."""
    omega, _ = (
        body := Sheet.rectangle(1.0, 1.0, material=rubber, clamped="left", damping=KelvinVoigt(0.05)).discretise(2)
    ).modes(3)
    damped = modes(body.linear(), 3).poles
    assert damped.real == pytest.approx(-0.5 * 0.05 * omega**2, rel=1e-6)
    assert np.abs(damped) == pytest.approx(omega, rel=1e-6)


def test_triangles_and_quadrilaterals_agree():
    omega = [
        Sheet(rectangle(1.0, 0.5, 12, 6, kind=kind), rubber, clamped="left").discretise(order=2).modes(4)[0]
        for kind in ("triangle", "quadrilateral")
    ]
    assert omega[0] == pytest.approx(omega[1], rel=2e-3)
