"""Shear factors of plates, and sides that are held in the plane."""

import numpy as np
import pytest
import scipy.linalg as la
from messages import raises

import phloat as ph

steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)


def mindlin(h, factor, m=1, n=1, a=1.0, b=1.0):
    """The lowest frequency of a simply supported plate by Mindlin's theory: w and β = ∇ψ are sines, two equations in (W, Ψ)."""
    k2 = np.pi**2 * ((m / a) ** 2 + (n / b) ** 2)
    S, D = factor * steel.G * h, steel.E * h**3 / (12 * (1 - steel.nu**2))
    K = np.array([[S * k2, -S * k2], [-S * k2, k2 * (D * k2 + S)]])
    M = np.diag([steel.rho * h, steel.rho * h**3 / 12 * k2])
    return np.sqrt(la.eigh(K, M, eigvals_only=True)[0])


@pytest.mark.parametrize("factor", [None, 5 / 6, np.pi**2 / 12, 0.4])
def test_the_shear_factor_is_that_of_mindlin_s_plate(factor):
    """h/a = 0.2; between 5/6 and 0.4 the first frequency falls by 13 %."""
    options = {} if factor is None else {"shear_factor": factor}
    plate = ph.Plate.rectangle(
        1.0, 1.0, thickness=0.2, material=steel, theory="mindlin", supported="all", membrane=False, **options
    )
    assert plate.discretise(8).modes(1)[0][0] == pytest.approx(mindlin(0.2, factor or 5 / 6), rel=3e-4)


def test_the_shear_factor_of_a_laminate_is_that_of_a_plate():
    """Two layers of one material are one plate, with the same frequencies and stresses across."""
    layers = ph.Laminate([(steel, 0.1, 0.0), (steel, 0.1, 0.3)])
    one, two = (
        ph.Plate.rectangle(1.0, 1.0, theory="mindlin", supported="all", shear_factor=0.6, membrane=False, **made)
        for made in ({"material": steel, "thickness": 0.2}, {"material": layers})
    )
    assert one.discretise(4).modes(1)[0] == pytest.approx(two.discretise(4).modes(1)[0], rel=1e-9)


@pytest.mark.parametrize("elements", ["bfs", "argyris"])
def test_a_plate_on_rollers_all_round_has_exact_frequencies_in_its_plane(elements):
    """Left and right held along x, bottom and top along y: u = ∇φ and u = rot ψ with cosines and sines solve the equations, with
    ω = c π √(m²/a² + n²/b²), c² = E/ρ(1 − ν²) for m, n not both 0 and c² = G/ρ for m, n ≥ 1."""
    a, b = 1.0, 0.7
    sides = {"left": "x", "right": "x", "bottom": "y", "top": "y"}
    plate = ph.Plate.rectangle(
        a, b, thickness=0.01, material=steel, clamped=None, membrane=True, held=sides, elements=elements
    ).discretise(6)
    fast, slow = np.sqrt(steel.E / (1 - steel.nu**2) / steel.rho), np.sqrt(steel.G / steel.rho)
    wave = np.array([[np.pi * np.hypot(m / a, n / b) for n in range(4)] for m in range(4)])
    exact = np.sort(np.concatenate([fast * wave.ravel()[1:], slow * wave[1:, 1:].ravel()]))
    inside = plate.kinds == "u_x"
    inside |= plate.kinds == "u_y"
    K, M = (matrix[inside][:, inside].toarray() for matrix in (plate.K, plate.M))
    found = np.sqrt(la.eigh(K, M, eigvals_only=True)[:5])
    assert found == pytest.approx(exact[:5], rel=1e-4)
    assert "left held along x" in plate.held


def test_a_plate_held_along_one_axis_slides_along_the_other():
    plate = ph.Plate.rectangle(
        1.0, 0.7, thickness=0.01, material=steel, membrane=True, held={"left": "x"}, supported="all"
    )
    assert plate.discretise(4).modes(1)[0][0] == 0.0  # along y


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"held": {"left": "x"}}, "held"),
        ({"held": {"left": "z"}, "membrane": True}, "'z'"),
        ({"held": {"edge": "x"}, "membrane": True}, "'edge'"),
        ({"shear_factor": 0.8}, "shear_factor"),
        ({"shear_factor": -0.8, "theory": "mindlin"}, "shear_factor"),
    ],
)
def test_supports_that_make_no_sense(options, name):
    with raises(ph.errors.InputError, name):
        ph.Plate.rectangle(1.0, 0.7, thickness=0.01, material=steel, **options).discretise(2)


FILE = """
phloat: 1
materials: {steel: {E: 210 GPa, rho: 7800, nu: 0.3}}
bodies:
  plate:
    plate: {rectangle: {a: 1 m, b: 70 cm}, thickness: 10 cm, material: steel, theory: mindlin, shear_factor: 0.8, membrane: true,
      held: {left: xy, top: y}}
    cells: 3
joints:
  press: {pressure: plate}
"""


def test_supports_go_through_a_model_file(tmp_path):
    model = ph.io.parse_model(FILE)
    recipe = ph.Plate.rectangle(
        1.0,
        0.7,
        thickness=0.1,
        material=steel,
        theory="mindlin",
        shear_factor=0.8,
        held={"left": "xy", "top": "y"},
        membrane=True,
    )
    twin = ph.tie({"plate": recipe.discretise(3)}, [ph.Pressure("plate", name="press")])
    ph.io.save_model(model, tmp_path / "model.yaml")
    for system in (model.system, ph.io.load_model(tmp_path / "model.yaml").system):
        assert abs(system.J - twin.J).max() == 0.0 and abs(system.E - twin.E).max() < 1e-12 * abs(twin.E).max()
