"""Bad input to solids, sheets and materials is refused with a sentence that says what to do."""

from dataclasses import replace

import numpy as np
import pytest
from meshes_zoo import rubber, unit
from messages import raises

from phloat.bodies.material import Material, Orthotropic
from phloat.bodies.solids.solid import Sheet, Solid
from phloat.errors import InputError
from phloat.fem.mesh import Mesh
from phloat.fem.shapes import box

cube = box(1.0, 1.0, 1.0, 2, 2, 2, kind="hexahedron")
brick = Solid.box(1.0, 0.5, 0.2, material=rubber)
ply = {"E": (10.0, 1.0, 1.0), "nu": (0.3, 0.3, 0.4), "G": (0.5, 0.5, 0.4), "rho": 1.0}


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Solid(unit("triangle", 1), rubber), "triangle"),
        (lambda: Sheet(cube, rubber), "hexahedron"),
        (lambda: Solid("link.msh", rubber), "'link.msh'"),
        (lambda: Solid(cube, rubber, damping=0.1), "damping"),
        (lambda: Solid(cube, rubber, mass=-1.0), "mass"),
        (lambda: Solid(cube, rubber, ports="A"), "ports"),
        (lambda: Solid(cube, 7800.0).discretise(), "material"),
        (lambda: Solid(cube, {"web": rubber}).discretise(), "'web'"),
        (lambda: Solid(cube, rubber, clamped="lft").discretise(), "'lft'"),
        (lambda: Solid(cube, rubber, clamped=3).discretise(), "clamped"),
        (lambda: Solid(cube, rubber, held={"left": "w"}).discretise(), "held['left']"),
        (lambda: Solid(cube, rubber, held="left").discretise(), "held"),
        (lambda: Solid(cube, rubber).discretise(4), "4"),
        (lambda: Solid(cube, rubber).discretise(order=3), "order"),
        (lambda: Solid(cube, rubber).discretise(refine=-1), "refine"),
        (lambda: brick.discretise(), ""),
        (lambda: brick.discretise(0), "cells is 0"),
        (lambda: brick.discretise(2.5), "cells is 2.5"),
        (lambda: brick.discretise((4, 2)), "(4, 2)"),
        (lambda: Solid.box(1.0, -1.0, 1.0, material=rubber), "side b"),
        (lambda: Solid.box(1.0, 1.0, 1.0, material=rubber, cells="brick").discretise(1), "'brick'"),
        (lambda: Solid.tube(1.0, 0.5, material=rubber, symmetric="outer").discretise(4), "'outer'"),
        (lambda: Sheet.rectangle(1.0, 1.0, material=rubber, plane="stres"), "'stres'"),
        (lambda: Sheet.rectangle(1.0, 1.0, material=rubber, thickness=0.0), "thickness"),
        (lambda: Sheet.rectangle(1.0, 1.0, material=rubber, thickness=lambda x, y: x - 0.5).discretise(2), "-0.4"),
        (lambda: brick.discretise(2).modes(0), "count"),
        (lambda: brick.discretise(2).trace("lid"), "'lid'"),
    ],
)
def test_it_is_refused_with_a_sentence(make, name):
    with raises(InputError, name):
        make()


def test_cells_without_a_material_are_counted():
    some = replace(cube, regions={"web": np.arange(3), "flange": np.arange(2, 8)})
    with raises(InputError, "5 of 8"):
        Solid(some, {"web": rubber}).discretise()
    with raises(InputError, "'flange'"):
        Solid(some, {"web": rubber, "flange": rubber}).discretise()
    with raises(InputError, "'web'", "'steel'"):
        Solid(some, {"web": "steel"}).discretise()


@pytest.mark.parametrize(
    ("mass", "hint"),
    [
        (2e-9, "millimetres: unit=1e-3"),
        (2e-6, "centimetres: unit=1e-2"),
        (2 / 61024.0, "inches: unit=0.0254"),
        (2e3, "density in g/cm³"),
        (2e-3, "mass in tonnes"),
        (2.1, "check the density and the mesh"),
    ],
)
def test_a_wrong_mass_tells_the_unit(mass, hint):
    with raises(InputError, "2 kg", hint):
        Solid(cube, rubber, mass=mass).discretise(order=1)
    assert Solid(cube, rubber, mass=2.01).discretise(order=1).coordinates == 81


def test_a_point_outside_is_told_how_far():
    shape = brick.discretise(2).shape
    with raises(InputError, "(0.5, 0.25, 0.3)", "0.1 m"):
        shape.displacement(np.array([[0.5, 0.2, 0.1], [0.5, 0.25, 0.3]]))
    with raises(InputError, "3 m", "(1, 0.25, 0.1)"):
        shape.rotation(np.array([[4.0, 0.25, 0.1]]))
    with raises(InputError):
        shape.stress(np.array([0.5]))
    assert shape.displacement(np.array([[1.0 + 1e-9, 0.25, 0.1]])).nnz  # round-off of a point on the surface


def test_a_folded_cell_is_found_where_it_is():
    """The middle of an edge of a curved triangle pushed through the other side."""
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.9, 0], [0.5, 0.5, 0], [0, 0.5, 0]]
    with raises(InputError):
        Sheet(Mesh("triangle", np.array(points, dtype=float), np.arange(6)[None]), rubber).discretise(order=2)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"nu": (4.0, 0.3, 0.4)}, "3.16"),
        ({"nu": (0.3, 0.3, 1.0)}, "nu_12"),
        ({"E": (1.0, 2.0)}, "moduli E"),
        ({"E": (1.0, 0.0, 2.0)}, "moduli E"),
        ({"G": (1.0, -1.0, 2.0)}, "moduli G"),
        ({"rho": 0.0}, "rho"),
        ({"axes": np.diag([1.0, 1.0, 2.0])}, "axes"),
        ({"axes": "xyz"}, "axes"),
        ({"nu": (0.3, np.nan, 0.3)}, "nu"),
    ],
)
def test_impossible_materials(change, name):
    with raises(InputError, name):
        Orthotropic(**{**ply, **change})


def test_a_stiff_fibre_may_have_a_ratio_above_one_half():
    assert np.linalg.eigvalsh(Orthotropic(**{**ply, "nu": (1.5, 0.3, 0.4)}).elasticity())[0] > 0
    assert Material(E=1.0, nu=0.49, rho=1.0).elasticity().shape == (6, 6)
