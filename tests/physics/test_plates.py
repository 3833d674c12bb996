"""Plates against answers known from elsewhere: Ritz's method, Leissa's tables, Navier's, Timoshenko's and Mindlin's plates."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.optimize as so
import scipy.special as sf
from plates_zoo import frequencies, of_kind, ply, pressed, square, unit

from phloat.bodies.material import Material
from phloat.bodies.plates.laminate import Laminate
from phloat.bodies.plates.plate import Plate
from phloat.fem.mesh_files import write_mesh
from phloat.fem.shapes import disc
from phloat.linear.analysis.modes import modes

# how fine, and how near; the elements of Morley, of second order, are in tests/convergence
FINE = {"bfs": (12, 4e-4), "argyris": (6, 1e-3), "hhj": (14, 8e-4), "mitc": (12, 3e-3)}

SQUARES = {  # ν = 0.3, ω a² √(ρh/D): exact where two sides are supported, the others by Ritz's method, converged (below)
    "supported": ({"supported": "all"}, [19.7392088, 49.3480220, 49.3480220, 78.9568352]),
    "clamped": ({"clamped": "all"}, [35.985, 73.394, 73.394, 108.22]),
    "cantilever": ({"clamped": "left"}, [3.4711, 8.5067, 21.285, 27.199, 30.956]),
    "two and two": ({"clamped": ("bottom", "top"), "supported": ("left", "right")}, [28.951, 54.743, 69.327]),
    "free": ({}, [0.0, 0.0, 0.0, 13.468, 19.596, 24.270]),
}


LEISSA = {  # J. Sound Vib. 31, 1973: 36 products of beam functions, upper bounds
    "clamped": [35.992, 73.413, 73.413, 108.27],
    "cantilever": [3.4917, 8.5246, 21.429, 27.331, 31.111],
    "free": [0.0, 0.0, 0.0, 13.489, 19.789, 24.432],
}


def ritz(sides, count, n=14):
    """Ritz's method with n × n products of polynomials that have a zero of this order at left, right, bottom and top."""
    x, w = np.polynomial.legendre.leggauss(40)
    parts = []
    for low, high in (sides[:2], sides[2:]):
        ends = np.polynomial.Polynomial([1, 1]) ** low * np.polynomial.Polynomial([1, -1]) ** high
        basis = [np.polynomial.Legendre.basis(k).convert(kind=np.polynomial.Polynomial) * ends for k in range(n)]
        f, d, dd = (np.array([2.0**m * p.deriv(m)(x) if m else p(x) for p in basis]) for m in (0, 1, 2))
        parts.append([(a * w / 2) @ b.T for a, b in ((f, f), (d, d), (dd, dd), (f, dd))])
    (m, m_1, m_2, m_02), (k, k_1, k_2, k_02) = parts
    K = (
        np.kron(m_2, k)
        + np.kron(m, k_2)
        + 0.3 * (np.kron(m_02, k_02.T) + np.kron(m_02.T, k_02))
        + 1.4 * np.kron(m_1, k_1)
    )
    return np.sqrt(np.maximum(sl.eigh(K, np.kron(m, k), eigvals_only=True)[:count], 0.0))


@pytest.mark.parametrize(
    ("held", "sides"),
    [
        ("supported", (1, 1, 1, 1)),
        ("clamped", (2, 2, 2, 2)),
        ("cantilever", (2, 0, 0, 0)),
        ("two and two", (1, 1, 2, 2)),
        ("free", (0,) * 4),
    ],
)
def test_the_table_is_that_of_ritz_and_lies_up_to_one_percent_below_leissa(held, sides):
    table = SQUARES[held][1]
    assert ritz(sides, len(table)) == pytest.approx(table, rel=5e-5, abs=1e-3)
    for low, high in zip(table, LEISSA.get(held, table), strict=True):
        assert low <= high <= 1.01 * low


@pytest.mark.parametrize("kind", FINE)
@pytest.mark.parametrize("held", SQUARES)
def test_square_plates_have_the_frequencies_of_the_tables(held, kind):
    options, table = SQUARES[held]
    n, near = FINE[kind]
    omega = frequencies(square(kind, **options).discretise(n), len(table))
    assert omega == pytest.approx(table, rel=near, abs=1e-2)


@pytest.mark.parametrize(
    ("h", "table"),
    [(0.1, [0.930275, 2.219328, 2.219328, 3.405616]), (0.01, [0.0962824, 0.2405748, 0.2405748, 0.3847101])],
)
def test_thick_plates_have_mindlin_s_frequencies(h, table):
    """Simply supported, ν = 0.3, κ = 5/6: ω a √(ρ/G)."""
    plate = square("mitc", thickness=h, material=Material(E=2.6, rho=1.0), supported="all").discretise(12)
    assert np.asarray(modes(plate.linear(), 4)) == pytest.approx(table, rel=1e-3)


def test_the_default_elements_are_conforming_and_their_modes_are_those_of_the_linear_system():
    plate = Plate.rectangle(1.0, 1.0, thickness=1e-3, material=unit(), clamped="left").discretise(6)
    assert sorted(set(plate.kinds)) == ["w", "w_x", "w_xy", "w_y"]
    omega = np.asarray(modes(plate.linear()))
    assert omega[:8] == pytest.approx(frequencies(plate, 8), rel=1e-8)
    assert omega[:5] == pytest.approx(SQUARES["cantilever"][1], rel=1e-3)


ROUND = {  # Leissa 1969, ν = 0.3, ω a² √(ρh/D)
    "clamped": ({"clamped": "rim"}, [10.2158, 21.26, 21.26, 34.88, 34.88]),
    "supported": ({"supported": "rim"}, [4.9351, 13.898, 13.898, 25.613, 25.613]),
    "free": ({}, [0.0, 0.0, 0.0, 5.3583, 5.3583, 9.0031]),
}
ROUND_NEAR = {"argyris": 7e-3, "hhj": 1.4e-2, "mitc": 7e-3}


@pytest.mark.parametrize("kind", ROUND_NEAR)
@pytest.mark.parametrize("held", ROUND)
def test_discs_have_the_frequencies_of_the_tables(held, kind):
    """Also the supported ones, which straight cells would clamp at every vertex if their chords were held (Babuška)."""
    options, table = ROUND[held]
    omega = frequencies(Plate.disc(1.0, **of_kind(kind), **options).discretise(6), len(table))
    assert omega == pytest.approx(table, rel=ROUND_NEAR[kind], abs=1e-2)


def ring(k, bore, nu=0.3):
    """Zero where ω = k² √(D/ρh) is a frequency without nodal diameter of a ring, clamped at its bore, free at its rim r = 1."""
    rows = []
    for Z, slope, sign in ((sf.jv, sf.jvp, -1), (sf.yv, sf.yvp, -1), (sf.iv, sf.ivp, 1), (sf.kv, sf.kvp, 1)):
        moment = k**2 * slope(0, k, 2) + nu * k * slope(0, k)
        rows.append([Z(0, k * bore), k * slope(0, k * bore), moment, sign * k**3 * slope(0, k)])
    return np.linalg.det(np.array(rows))


@pytest.mark.parametrize("kind", ["argyris", "hhj", "mitc"])
def test_a_ring_has_the_frequency_of_its_bessel_functions(kind):
    exact = so.brentq(ring, 3.3, 3.9, args=(0.5,)) ** 2
    assert exact == pytest.approx(13.02, abs=0.01)  # Leissa
    omega = frequencies(Plate.disc(1.0, 0.5, **of_kind(kind), clamped="bore").discretise(4), 1)
    assert omega[0] == pytest.approx(exact, rel=5e-3)


@pytest.mark.parametrize("kind", FINE)
@pytest.mark.parametrize(
    ("held", "middle", "moment"), [("supported", 0.00406235, 0.0478864), ("clamped", 0.00126532, 0.0229051)]
)
def test_a_square_plate_under_pressure_sags_as_timoshenko_says(kind, held, middle, moment):
    """Middle w D / q a⁴ and M / q a²; where it is clamped the moment in the middle of a side is −0.0513338 q a²."""
    body = square(kind, **{held: "all"}).discretise(18 if kind == "hhj" else 10)
    q, sigma = pressed(body)
    near = 2e-3 if kind == "mitc" else 1e-3
    x = np.array([[0.5, 0.5, 0.0], [1e-9, 0.5, 0.0]])
    assert (body.shape.displacement(x) @ q)[2] == pytest.approx(middle, rel=near)
    M_xx = body.shape.stress(x)["M_xx"] @ sigma
    assert M_xx[0] == pytest.approx(moment, rel=20 * near)
    assert M_xx[1] == pytest.approx(-0.0513338 if held == "clamped" else 0.0, abs=0.004)


@pytest.mark.parametrize("kind", FINE)
def test_a_quarter_of_a_supported_plate_has_its_symmetric_modes(kind):
    """Two sides supported, two of symmetry: 2 π², 10 π² twice, 18 π²."""
    options = of_kind(kind, supported=("left", "bottom"), symmetric=("right", "top"))
    omega = frequencies(Plate.rectangle(0.5, 0.5, **options).discretise(6), 4)
    assert omega == pytest.approx(np.pi**2 * np.array([2, 10, 10, 18]), rel=0.012 if kind == "mitc" else 2.5e-3)


@pytest.mark.parametrize(("h", "middle"), [(0.1, 0.00427284), (1e-2, 0.00406446), (1e-4, 0.00406235)])
def test_thick_and_very_thin_plates_sag_by_shear_too(h, middle):
    """w = w_K + M_K / κGh on hard supports: the thin limit does not lock."""
    body = square("mitc", thickness=h, material=unit(h), supported="all").discretise(10)
    q, _ = pressed(body)
    assert (body.shape.displacement(np.array([[0.5, 0.5, 0.0]])) @ q)[2] == pytest.approx(middle, rel=3e-4)


def test_shear_forces_of_a_cylindrically_bent_strip():
    """Clamped left, free right, ν = 0: Q_x = q (L − x), M_xx = −q (L − x)²/2, w = q x² (…)/24 D + q (L x − x²/2)/κGh."""
    h = 0.1
    material = Material(E=12.0 / h**3, rho=1.0, nu=0.0)
    strip = Plate.rectangle(
        1.0, 0.25, thickness=h, material=material, theory="mindlin", clamped="left", symmetric=("bottom", "top")
    )
    body = strip.discretise((16, 4))
    q, sigma = pressed(body)
    x = np.array([[0.5, 0.1, 0.0], [1.0, 0.1, 0.0]])
    stress = {name: rows @ sigma for name, rows in body.shape.stress(x).items()}
    assert stress["Q_x"][0] == pytest.approx(0.5, rel=2e-3)
    assert stress["M_xx"][0] == pytest.approx(-0.125, rel=5e-3)
    shear = 5.0 / 6.0 * material.G * h
    assert (body.shape.displacement(x) @ q)[5] == pytest.approx(1 / 8 + 0.5 / shear, rel=1e-5)
    # on the face σ_xx = 6 M / h², in the middle τ_xz = 3/2 Q / h
    face = (body.shape.cauchy(np.array([[0.5, 0.1, h / 2], [0.5, 0.1, 0.0]])) @ sigma).reshape(2, 6)
    assert face[0, 0] == pytest.approx(6 * stress["M_xx"][0] / h**2, rel=1e-9)
    assert face[:, 4] == pytest.approx([0.0, 1.5 * stress["Q_x"][0] / h], abs=1e-9)


@pytest.mark.parametrize("kind", ["bfs", "argyris", "hhj"])
def test_a_tapered_strip_is_kirchhoff_s_wedge(kind):
    """Thickness falling to zero at the free end, ν = 0: ω L² √(ρA/EI) = 5.315, 15.207 with A and I of the root."""
    h = 0.01
    strip = Plate.rectangle(
        1.0,
        0.5,
        **of_kind(kind, thickness=lambda x, y: h * (1 - x), material=unit(h, nu=0.0)),
        clamped="left",
        symmetric=("bottom", "top"),
    )
    assert frequencies(strip.discretise((40 if kind == "hhj" else 16, 2)), 2) == pytest.approx(
        [5.315, 15.207], rel=4e-3
    )


def orthotropic(D, rho, m, n):
    """ω of a simply supported, specially orthotropic unit square."""
    return np.pi**2 * np.sqrt((D[0, 0] * m**4 + 2 * (D[0, 1] + 2 * D[2, 2]) * m**2 * n**2 + D[1, 1] * n**4) / rho)


MODES = [(1, 1), (1, 2), (1, 3), (2, 1)]
LAYERED = {
    "one ply": {"material": ply, "thickness": 0.002},
    "one ply across": {"material": ply, "thickness": 0.002, "angle": np.pi / 2},
    "0 90 90 0": {"material": Laminate([(ply, 5e-4, a) for a in (0.0, np.pi / 2, np.pi / 2, 0.0)]), "thickness": None},
}


@pytest.mark.parametrize("kind", ["bfs", "hhj", "mitc"])
@pytest.mark.parametrize("layers", LAYERED)
def test_orthotropic_plates_have_their_closed_frequencies(layers, kind):
    E_1, E_2, nu, G = 140e9, 10e9, 0.3, 5e9
    share = 1 - nu**2 * E_2 / E_1
    Q = np.array([[E_1, nu * E_2, 0], [nu * E_2, E_2, 0], [0, 0, G * share]]) / share
    turned = Q[np.ix_([1, 0, 2], [1, 0, 2])]
    h = 0.002
    D = {"one ply": Q, "one ply across": turned, "0 90 90 0": (7 * Q + turned) / 8}[layers] * h**3 / 12
    exact = sorted(orthotropic(D, 1600.0 * h, m, n) for m in (1, 2, 3) for n in (1, 2, 3, 4))
    omega = frequencies(square(kind, **LAYERED[layers], supported="all").discretise(12), 4)
    assert omega == pytest.approx(exact[:4], rel=3e-3)


@pytest.mark.parametrize("kind", ["bfs", "argyris", "mitc"])
def test_a_strip_of_two_metals_bends_about_its_elastic_axis(kind):
    """Tip w = q L⁴ / 8 (D − B²/A), and the middle plane stretches by B/A times the curvature; ν = 0."""
    soft, stiff = Material(E=70e9, rho=1.0, nu=0.0), Material(E=210e9, rho=1.0, nu=0.0)
    metals = Laminate([(soft, 1e-3, 0.0), (stiff, 1e-3, 0.0)])
    strip = Plate.rectangle(
        1.0, 0.25, **of_kind(kind, material=metals, thickness=None), clamped="left", symmetric=("bottom", "top")
    )
    body = strip.discretise((8, 2))
    q, sigma = pressed(body)
    A, B, D = 280e6, 70e3, 280e6 * 1e-6 / 3
    tip = body.shape.displacement(np.array([[1.0, 0.1, 0.0]])) @ q
    assert tip[2] == pytest.approx(1 / 8 / (D - B**2 / A), rel=1e-3)
    assert tip[0] == pytest.approx(-B / A * -(1 / 6) / (D - B**2 / A), rel=1e-3)
    # faces: E ε of each metal
    x = np.array([[0.5, 0.1, -1e-3], [0.5, 0.1, 1e-3]])
    curvature = -0.125 / (D - B**2 / A)
    face = (body.shape.cauchy(x) @ sigma).reshape(2, 6)[:, 0]
    assert face == pytest.approx([70e9 * curvature * (-1e-3 - B / A), 210e9 * curvature * (1e-3 - B / A)], rel=0.02)


def test_a_plate_stretched_in_its_plane_is_in_plane_stress():
    """σ_xx = 1e6, u = σ/E (x, −ν y)."""
    steel = Material(E=210e9, rho=7800.0)
    for kind in ("bfs", "argyris", "morley", "mitc"):
        plate = Plate.rectangle(
            2.0,
            0.5,
            **of_kind(kind, material=steel, thickness=0.01),
            membrane=True,
            symmetric=("left", "bottom"),
            supported="all",
        )
        body = plate.discretise((4, 2))
        trace = body.trace("right")
        load = trace.u[0].T @ (trace.weight * 1e6 * 0.01)
        q = np.linalg.lstsq(body.K.toarray(), load, rcond=1e-13)[0]
        x = np.array([[2.0, 0.5, 0.0]])
        assert body.shape.displacement(x) @ q == pytest.approx(
            [2 * 1e6 / 210e9, -0.3 * 0.5 * 1e6 / 210e9, 0.0], rel=1e-8, abs=1e-16
        )


@pytest.mark.parametrize("kind", ["argyris", "mitc"])
def test_a_plate_from_a_file_of_curved_quadrilaterals(tmp_path, kind):
    """Its cells become straight triangles, refined to the circle again; a file in millimetres."""
    write_mesh(tmp_path / "disc.msh", disc(1000.0, 3, kind="quadrilateral", order=2))
    plate = Plate.from_mesh(tmp_path / "disc.msh", unit=1e-3, **of_kind(kind), clamped="rim", mass=np.pi)
    body = plate.discretise(refine=1)
    assert frequencies(body, 3) == pytest.approx([10.2158, 21.26, 21.26], rel=0.015)
    assert body.shape.displacement(body.shape.places()).shape == (3 * len(body.mesh.points), body.coordinates)
