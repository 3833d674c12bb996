"""Edges and lines of solids and points of sheets that are held."""

import numpy as np
import pytest
from messages import raises

import phloat as ph

steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
L, h = 1.0, 0.05


def bar(**options):
    return ph.Solid.box(L, h, h, material=steel, **options).discretise((12, 1, 1))


def on_knives(waves: int) -> float:
    """ω of so many half waves between knives: Euler's, with shear and rotary inertia, and with the whole bar moving along x by
    h/2 times the turn over the knife that holds it, 2 (k h/2)² of the mass."""
    k, plane = waves * np.pi / L, steel.E / (1 - steel.nu**2)  # no contraction across
    euler = k**2 * np.sqrt(plane * h**2 / 12 / steel.rho)
    return euler / np.sqrt((1 + (k * h) ** 2 / 12 * (1 + plane / (5 / 6 * steel.G))) * (1 + 2 * (k * h / 2) ** 2))


def test_a_bar_on_knife_edges_is_a_simply_supported_beam():
    """Its lower end edges held along z, one of them along x; planes of symmetry keep it from bending sideways: 766 rad/s."""
    edges = {"left & back": "xz", "right & back": "z"}
    omega = bar(held=edges, symmetric=("bottom", "top")).modes(1)[0][0]
    assert omega == pytest.approx(on_knives(1), rel=5e-3)


def test_a_line_within_a_face_is_a_middle_support():
    """A third knife in the middle of the lower face: two half waves, 2970 rad/s."""
    lines = {"middle": ((L / 2, 0.0, 0.0), (L / 2, h, 0.0))}
    edges = {"left & back": "xz", "right & back": "z", "middle": "z"}
    omega = bar(held=edges, lines=lines, symmetric=("bottom", "top")).modes(1)[0][0]
    assert omega == pytest.approx(on_knives(2), rel=5e-3)


def test_edges_and_lines_name_the_same_nodes():
    edge = bar(clamped="left & bottom")
    line = bar(clamped="axis", lines={"axis": ((0, 0, 0), (0, 0, h))})
    assert edge.coordinates == line.coordinates
    assert abs(edge.K - line.K).max() == 0.0
    corner = ph.Sheet.rectangle(1.0, 0.5, material=steel, held={"left & bottom": "xy", "right & bottom": "y"})
    assert corner.discretise(4).modes(1)[0][0] > 0.0  # statically held


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"held": {"left & right": "x"}}, "'left & right'"),
        ({"held": {"left & lid": "x"}}, "'lid'"),
        ({"clamped": "axis", "lines": {"axis": ((0, 0), (1, 1))}}, "'axis'"),
        ({"clamped": "axis", "lines": {"axis": ((0.3, 0.01, 0), (0.3, 0.01, h))}}, "'axis'"),
        ({"clamped": "axis", "lines": {"axis": ((0, 0, 0), (1, h, h))}}, "'axis'"),
    ],
)
def test_lines_that_are_not_there(options, name):
    with raises(ph.errors.InputError, name):
        bar(**options)


FILE = """
phloat: 1
materials: {steel: {E: 210 GPa, rho: 7800, nu: 0.3}}
bodies:
  bar:
    solid: {box: {a: 1 m, b: 5 cm, c: 5 cm}, material: steel, held: {left & back: xyz, middle: z},
      lines: {middle: [[50 cm, 0, 0], [50 cm, 5 cm, 0]]}}
    cells: [4, 1, 1]
joints:
  pull: {traction: bar.right}
"""


def test_lines_go_through_a_model_file(tmp_path):
    model = ph.io.parse_model(FILE)
    lines = {"middle": ((0.5, 0.0, 0.0), (0.5, h, 0.0))}
    recipe = ph.Solid.box(L, h, h, material=steel, held={"left & back": "xyz", "middle": "z"}, lines=lines)
    twin = ph.tie({"bar": recipe.discretise((4, 1, 1))}, [ph.Traction("bar.right", name="pull")])
    ph.io.save_model(model, tmp_path / "model.yaml")
    for system in (model.system, ph.io.load_model(tmp_path / "model.yaml").system):
        assert system.rows == twin.rows and abs(system.J - twin.J).max() < 1e-12 * abs(twin.J).max()
