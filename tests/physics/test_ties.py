"""Patch tests: a constant stress goes through boundaries whose meshes do not match; and ties whose answers are known."""

import numpy as np
import pytest
from messages import warns
from scipy.optimize import brentq
from ties_zoo import alu, soft, statics

import phloat as ph


@pytest.mark.parametrize("cells", ["hexahedron", "tetrahedron"])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("meshes", [((2, 2, 2), (1, 3, 3)), ((1, 3, 2), (1, 2, 3))])
def test_a_pulled_bar_of_two_solids_is_pulled_evenly(cells, order, meshes):
    first = ph.Solid.box(1.0, 0.6, 0.5, material=alu, cells=cells, symmetric=("left", "bottom", "back"))
    second = ph.Solid.box(0.7, 0.6, 0.5, material=alu, cells=cells, symmetric=("bottom", "back"))
    system = ph.tie(
        {"a": first.discretise(meshes[0], order=order), "b": second.discretise(meshes[1], order=order)},
        [ph.Tie("a.right", "b.left"), ph.Traction("b.right", (1.0, 0.0, 0.0), name="pull")],
    )
    strain = 1e6 / alu.E
    e, _ = statics(system, {"pull": 1e6})
    for field in system.fields.values():  # those of b begin where a ends
        known = strain * field.points * [1.0, -alu.nu, -alu.nu]
        np.testing.assert_allclose(field.of(e), known, atol=1e-11 * strain)
    assert system.fields["b"].points[:, 0].max() == pytest.approx(1.7)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("rows", [(2, 3), (4, 3), (3, 3)])
def test_sheets_in_simple_shear(order, rows):
    """u = (γ y, 0): the traction of the tie does not vanish where both sheets are held, at the bottom."""
    first = ph.Sheet.rectangle(1.0, 1.0, material=soft, clamped="bottom").discretise((2, rows[0]), order=order)
    second = ph.Sheet.rectangle(0.6, 1.0, material=soft, clamped="bottom").discretise((2, rows[1]), order=order)
    sides = {"a.left": (0, -1, 0), "a.top": (1, 0, 0), "b.top": (1, 0, 0), "b.right": (0, 1, 0)}
    pulls = [ph.Traction(side, force, name=side.replace(".", " ")) for side, force in sides.items()]
    system = ph.tie({"a": first, "b": second}, [ph.Tie("a.right", "b.left"), *pulls])
    e, _ = statics(system, {pull.name: 1.0 for pull in pulls})
    shear = 2 * (1 + soft.nu) / soft.E
    for field in system.fields.values():
        known = np.column_stack([shear * field.points[:, 1], np.zeros((len(field.points), 2))])
        np.testing.assert_allclose(field.of(e), known, atol=1e-12)


def test_plates_of_two_meshes_bend_as_one():
    """A line load at the free end: w and the slope go through the tie, and the moment and the shear force with them."""
    options = {"thickness": 0.01, "material": ph.Material(E=1e9, nu=0.0, rho=1.0)}
    first = ph.Plate.rectangle(1.0, 1.0, clamped="left", **options).discretise((2, 2))
    second = ph.Plate.rectangle(1.0, 1.0, **options).discretise((2, 3))
    system = ph.tie(
        {"a": first, "b": second},
        [ph.Tie("a.right", "b.left"), ph.Traction("b.right", (0.0, 0.0, 1.0), name="lift")],
    )
    e, _ = statics(system, {"lift": 1.0})
    stiffness, L = 1e9 * 0.01**3 / 12, 2.0
    for field in system.fields.values():  # with ν = 0 the beam's x²(3L − x)/6EI, which the elements contain
        x = field.points[:, 0]
        np.testing.assert_allclose(field.of(e)[:, 2], x**2 * (3 * L - x) / 6 / stiffness, atol=1e-9 * L**3 / stiffness)


def test_a_strip_with_a_rod_swings_as_a_beam_with_a_mass():
    """The rod may turn about itself: a cantilever with a point mass at its end."""
    strip = ph.Plate.rectangle(
        1.0, 0.05, thickness=0.01, material=ph.Material(E=70e9, nu=0.0, rho=2700.0), clamped="left"
    ).discretise((8, 1))
    mass = 2.0
    tip = ph.RigidBody(mass=mass, inertia=1e-9 * np.eye(3)).discretise()
    with warns(ph.errors.UnfeltMotionWarning):
        system = ph.tie({"strip": strip, "tip": tip}, [ph.Tie("strip.right", "tip.P", of="w")])
    EI, rho_A = 70e9 * 0.05 * 0.01**3 / 12, 2700.0 * 0.05 * 0.01

    def characteristic(k: float) -> float:  # of a cantilever with a mass at its end
        c, s, ch, sh = np.cos(k), np.sin(k), np.cosh(k), np.sinh(k)
        return 1 + c * ch + k * mass / rho_A * (c * sh - s * ch)

    k = brentq(characteristic, 0.3, 1.8)
    assert ph.modes(system).omega[0] == pytest.approx(k**2 * np.sqrt(EI / rho_A), rel=1e-6)


def test_a_solid_tied_to_a_rigid_body_pulls_it_as_a_spring_does():
    """A light bar between the ground and a heavy body: ω² = EA/(L m)."""
    light = ph.Material(E=1e6, nu=0.0, rho=1e-6)
    bar = ph.Solid.box(2.0, 0.1, 0.1, material=light, clamped="left").discretise((2, 1, 1))
    heavy = ph.RigidBody(mass=3.0, inertia=3.0 * np.eye(3)).discretise()
    system = ph.tie({"bar": bar, "heavy": heavy}, [ph.Tie("bar.right", "heavy.P")])
    omega = ph.modes(system).omega
    known = np.sqrt(1e6 * 0.01 / 2.0 / 3.0)
    assert np.abs(omega / known - 1).min() < 1e-6


def test_two_solids_that_match_are_one():
    options = {"material": alu}
    whole = ph.Solid.box(2.0, 0.3, 0.2, clamped="left", **options).discretise((4, 2, 1))
    halves = {
        "a": ph.Solid.box(1.0, 0.3, 0.2, clamped="left", **options).discretise((2, 2, 1)),
        "b": ph.Solid.box(1.0, 0.3, 0.2, **options).discretise((2, 2, 1)),
    }
    tied = ph.tie(halves, [ph.Tie("b.left", "a.right")])
    np.testing.assert_allclose(ph.modes(tied)[:6], ph.modes(whole.linear())[:6], rtol=1e-8)


def test_curved_boundaries_that_match_are_tied_too():
    """A ring in a ring, cells of order 2: as one ring with two cells through its wall."""

    def ring(inner: float, outer: float, through: int) -> ph.Continuum:
        return ph.Solid.tube(0.3, outer, inner, material=alu).discretise((1, through, 12))

    bodies = {"a": ring(0.5, 0.75, 1), "b": ring(0.75, 1.0, 1)}
    tied, whole = ph.tie(bodies, [ph.Tie("a.outer", "b.inner")]), ring(0.5, 1.0, 2).linear()
    assert ph.modes(tied, 9).rigid == ph.modes(whole, 9).rigid == 6
    np.testing.assert_allclose(ph.modes(tied, 9)[6:], ph.modes(whole, 9)[6:], rtol=1e-7)
