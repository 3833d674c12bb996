"""Bad input to solids, sheets and materials is refused with a sentence that says what to do."""

from dataclasses import replace

import numpy as np
import pytest
from meshes_zoo import rubber, unit

from phloat.bodies.material import Material, Orthotropic
from phloat.bodies.solids.sheet import Sheet
from phloat.bodies.solids.solid import Solid
from phloat.errors import InputError
from phloat.fem.mesh import Mesh
from phloat.fem.shapes import box

cube = box(1.0, 1.0, 1.0, 2, 2, 2, kind="hexahedron")
brick = Solid.box(1.0, 0.5, 0.2, material=rubber)
ply = {"E": (10.0, 1.0, 1.0), "nu": (0.3, 0.3, 0.4), "G": (0.5, 0.5, 0.4), "rho": 1.0}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Solid(unit("triangle", 1), rubber), "needs tetrahedra or hexahedra; these are triangles: use Sheet"),
        (
            lambda: Sheet(cube, rubber),
            "needs triangles or quadrilaterals; these cells are of kind hexahedron: use Solid",
        ),
        (lambda: Solid("link.msh", rubber), "mesh is 'link.msh'; it must be a Mesh, or use Solid.from_mesh"),
        (lambda: Solid(cube, rubber, damping=0.1), "damping is 0.1"),
        (lambda: Solid(cube, rubber, mass=-1.0), "mass is -1"),
        (lambda: Solid(cube, rubber, ports="A"), "ports is str; it must be a mapping"),
        (lambda: Solid(cube, 7800.0).discretise(), r"material is 7800.0; it must be Material\(…\)"),
        (lambda: Solid(cube, {"web": rubber}).discretise(), "material: no region 'web'; there are: none"),
        (lambda: Solid(cube, rubber, clamped="lft").discretise(), r"clamped: no boundary 'lft' \(did you mean 'left'"),
        (lambda: Solid(cube, rubber, clamped=3).discretise(), "clamped is 3; it must be the name of a boundary"),
        (
            lambda: Solid(cube, rubber, held={"left": "w"}).discretise(),
            "held.'left'. is 'w'; it must say axes out of 'xyz'",
        ),
        (lambda: Solid(cube, rubber, held="left").discretise(), "held is str; it must be a mapping"),
        (lambda: Solid(cube, rubber).discretise(4), "n is 4, but this body has a mesh of its own.*refine=1"),
        (lambda: Solid(cube, rubber).discretise(order=3), "order is 3; displacements are of order 1 or 2"),
        (lambda: Solid(cube, rubber).discretise(refine=-1), "refine is -1"),
        (lambda: brick.discretise(), "how fine"),
        (lambda: brick.discretise(0), "0 cells; give a whole number"),
        (lambda: brick.discretise(2.5), "2.5 cells; give a whole number"),
        (lambda: brick.discretise((4, 2)), "2 numbers of cells, .4, 2.; this outline has 3"),
        (lambda: Solid.box(1.0, -1.0, 1.0, material=rubber), "side b is -1"),
        (lambda: Solid.box(1.0, 1.0, 1.0, material=rubber, cells="brick").discretise(1), "no kind of cells 'brick'"),
        (lambda: Solid.tube(1.0, 0.5, material=rubber, symmetric="outer").discretise(4), "'outer' is not flat"),
        (lambda: Sheet.rectangle(1.0, 1.0, material=rubber, plane="stres"), "no plane 'stres' .did you mean"),
        (lambda: Sheet.rectangle(1.0, 1.0, material=rubber, thickness=0.0), "thickness is 0"),
        (
            lambda: Sheet.rectangle(1.0, 1.0, material=rubber, thickness=lambda x, y: x - 0.5).discretise(2),
            "the thickness is -0.4.* it must be positive all over the sheet",
        ),
        (lambda: brick.discretise(2).modes(0), "count is 0; ask for at least one mode"),
        (lambda: brick.discretise(2).trace("lid"), "no boundary 'lid'"),
    ],
)
def test_it_is_refused_with_a_sentence(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


def test_cells_without_a_material_are_counted():
    some = replace(cube, regions={"web": np.arange(3), "flange": np.arange(2, 8)})
    with pytest.raises(InputError, match="5 of 8 cells lie in no region with a material"):
        Solid(some, {"web": rubber}).discretise()
    with pytest.raises(InputError, match="'flange' overlaps another"):
        Solid(some, {"web": rubber, "flange": rubber}).discretise()
    with pytest.raises(InputError, match="the material of region 'web' is 'steel'"):
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
    with pytest.raises(InputError, match=rf"weighs 2 kg, \S+ times the mass of \S+ kg given; .*{hint}"):
        Solid(cube, rubber, mass=mass).discretise(order=1)
    assert Solid(cube, rubber, mass=2.01).discretise(order=1).coordinates == 81


def test_a_point_outside_is_told_how_far():
    shape = brick.discretise(2).shape
    with pytest.raises(
        InputError, match=r"the point \(0.5, 0.25, 0.3\) lies 0.1 m outside of the body, which is 1.14 m"
    ):
        shape.displacement(np.array([[0.5, 0.2, 0.1], [0.5, 0.25, 0.3]]))
    with pytest.raises(InputError, match=r"lies 3 m outside .* nearest to it is about \(1, 0.25, 0.1\)"):
        shape.rotation(np.array([[4.0, 0.25, 0.1]]))
    with pytest.raises(InputError, match=r"\(points, 3\)"):
        shape.stress(np.array([0.5]))
    assert shape.displacement(np.array([[1.0 + 1e-9, 0.25, 0.1]])).nnz  # round-off of a point on the surface


def test_a_folded_cell_is_found_where_it_is():
    """The middle of an edge of a curved triangle pushed through the other side."""
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.9, 0], [0.5, 0.5, 0], [0, 0.5, 0]]
    with pytest.raises(InputError, match="are folded"):
        Sheet(Mesh("triangle", np.array(points, dtype=float), np.arange(6)[None]), rubber).discretise(order=2)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"nu": (4.0, 0.3, 0.4)}, "gain energy from some strain.*nu_12. must stay below 3.16"),
        ({"nu": (0.3, 0.3, 1.0)}, "gain energy"),
        ({"E": (1.0, 2.0)}, "Young's moduli E has shape"),
        ({"E": (1.0, 0.0, 2.0)}, "Young's moduli E is 0; it must be positive"),
        ({"G": (1.0, -1.0, 2.0)}, "shear moduli G is -1"),
        ({"rho": 0.0}, "density rho is 0"),
        ({"axes": np.diag([1.0, 1.0, 2.0])}, "three perpendicular unit vectors"),
        ({"axes": "xyz"}, "axes is 'xyz'"),
        ({"nu": (0.3, np.nan, 0.3)}, "NaN"),
    ],
)
def test_impossible_materials(change, sentence):
    with pytest.raises(InputError, match=sentence):
        Orthotropic(**{**ply, **change})


def test_a_stiff_fibre_may_have_a_ratio_above_one_half():
    assert np.linalg.eigvalsh(Orthotropic(**{**ply, "nu": (1.5, 0.3, 0.4)}).elasticity())[0] > 0
    assert Material(E=1.0, nu=0.49, rho=1.0).elasticity().shape == (6, 6)
