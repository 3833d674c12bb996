"""Plates that cannot be, and what is said about them."""

import numpy as np
import pytest
from plates_zoo import ply

from phloat.bodies.material import Material, Orthotropic
from phloat.bodies.plates.laminate import Laminate
from phloat.bodies.plates.plate import Plate
from phloat.errors import InputError
from phloat.fem.shapes import box, rectangle

alu = Material(E=70e9, rho=2700.0, nu=0.35)
GOOD = {"thickness": 0.01, "material": alu}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"theory": "mindin"}, "no theory 'mindin' (did you mean 'mindlin'?)"),
        ({"elements": "bsf"}, "there are: bfs, argyris, morley, hhj"),
        ({"elements": "mitc"}, "there are: bfs"),
        ({"elements": "bfs", "theory": "mindlin"}, "there are: mitc"),
        ({"support": "firm"}, "no support 'firm'"),
        ({"thickness": None}, "the thickness is missing"),
        ({"thickness": -0.01}, "thickness is -0.01; it must be positive"),
        ({"thickness": "thin"}, "thickness is 'thin'"),
        ({"material": "steel"}, "it must be Material(…) or Orthotropic(…)"),
        ({"material": Laminate([(alu, 0.01, 0.0)])}, "a laminate has its own thickness, 0.01"),
        ({"material": Laminate([(alu, 0.01, 0.0)]), "thickness": None, "angle": 0.1}, "the angles of its layers"),
        ({"angle": np.nan}, "angle holds NaN"),
        ({"damping": 0.01}, "it must be Rayleigh(…), KelvinVoigt(…) or ModalDamping(…)"),
        ({"ports": {"a.b": "left"}}, "cannot name a port"),
        ({"ports": "left"}, "it must be a mapping"),
        ({"mass": -1.0}, "mass is -1; it must be positive"),
        ({"elements": "hhj", "frame": "left"}, "elements='hhj' bend only"),
        (
            {"material": Laminate([(ply, 1e-3, 0.0), (ply, 1e-3, 0.5)]), "thickness": None, "membrane": False},
            "couples bending with stretching",
        ),
    ],
)
def test_recipes_that_cannot_be(options, said):
    with pytest.raises(InputError) as error:
        Plate.rectangle(1.0, 1.0, **{**GOOD, **options})
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("options", "n", "said"),
    [
        ({"clamped": "lefft"}, 2, "no side 'lefft' (did you mean 'left'?); there are: "),
        ({"supported": 3}, 2, "supported is 3; it must be the name of a side"),
        ({}, None, "how many cells?"),
        ({}, 0, "0 cells"),
        ({}, 2.5, "2.5 cells"),
        ({}, True, "True cells"),
        ({}, (2, 3, 4), "two: (along x, along y)"),
        ({"thickness": lambda x, y: 0.01 - x}, 2, "the thickness at ("),
        ({"thickness": lambda x, y: np.ones(3)}, 2, "thickness(x, y) gave shape (3,)"),
        ({"mass": 27e9}, 2, "1e-09 times the expected"),
    ],
)
def test_meshes_that_cannot_be(options, n, said):
    with pytest.raises(InputError) as error:
        Plate.rectangle(1.0, 1.0, **{**GOOD, **options}).discretise(n)
    assert said in str(error.value)


def test_outlines_that_cannot_be():
    for a, b in ((0.0, 1.0), (1.0, -1.0), (np.inf, 1.0)):
        with pytest.raises(InputError, match="side"):
            Plate.rectangle(a, b, **GOOD)
    with pytest.raises(InputError, match="must be smaller than the radius 1"):
        Plate.disc(1.0, 1.0, **GOOD)
    with pytest.raises(InputError, match="a disc takes one number"):
        Plate.disc(1.0, **GOOD).discretise((2, 3))
    with pytest.raises(InputError, match=r"use Plate\.rectangle, Plate\.disc or a Mesh"):
        Plate(outline="square", **GOOD)


def test_meshes_that_do_not_fit():
    with pytest.raises(InputError, match="cells of kind 'hexahedron'"):
        Plate(outline=box(1, 1, 1, 1, 1, 1, kind="hexahedron"), **GOOD).discretise()
    with pytest.raises(InputError, match="use refine="):
        Plate(outline=rectangle(1, 1, 2, 2), **GOOD).discretise(4)
    with pytest.raises(InputError, match="use elements='argyris'"):
        Plate(outline=rectangle(1, 1, 2, 2), **GOOD, elements="bfs").discretise()


def test_laminates_that_cannot_be():
    for layers, said in (
        ([], "at least one"),
        ("ply", "at least one"),
        ([(alu, 0.01)], r"layer 0 is .* it must be \(material, thickness, angle\)"),
        ([(alu, -0.01, 0.0)], "thickness of layer 0 is -0.01"),
        ([(alu, 0.01, "x")], "angle of layer 0"),
        ([("glue", 0.01, 0.0)], "it must be Material"),
        (
            [(alu, 0.01, 0.0), (Material(E=210e9, rho=7800.0), 0.01, 0.0)],
            "the mass centre of this laminate lies 0.00243 m off",
        ),
    ):
        with pytest.raises(InputError, match=said):
            Laminate(layers)
    turned = Orthotropic(E=ply.E, nu=ply.nu, G=ply.G, rho=1.0, axes=np.eye(3)[[1, 2, 0]])
    with pytest.raises(InputError, match="turn it in the plane by angle="):
        Plate.rectangle(1.0, 1.0, material=turned, thickness=0.01)


def test_points_off_the_plate():
    shape = Plate.rectangle(1.0, 1.0, **GOOD).discretise(3).shape
    with pytest.raises(InputError, match=r"the point \(1.5, 0.2\) lies outside the plate, off by about 0.5"):
        shape.displacement(np.array([[0.5, 0.5, 0.0], [1.5, 0.2, 0.0]]))
    with pytest.raises(InputError, match=r"z = 0.02 lies off the plate, whose faces are at ±0.005"):
        shape.stress(np.array([[0.5, 0.5, 0.02]]))
    for bad in (np.zeros(3), np.zeros((2, 2)), np.full((1, 3), np.nan)):
        with pytest.raises(InputError, match="places of a plate are points"):
            shape.rotation(bad)


def test_stiffness_damping_of_mixed_plates_is_refused():
    from phloat.bodies.material import Rayleigh

    plate = Plate.rectangle(1.0, 1.0, **GOOD, elements="hhj", damping=Rayleigh(stiffness=1e-5)).discretise(2)
    with pytest.raises(InputError, match="use the conforming elements"):
        plate.linear()


def test_a_plane_of_symmetry_of_a_membrane_is_along_an_axis():
    with pytest.raises(InputError, match="must be along x or y"):
        Plate.disc(1.0, **GOOD, membrane=True, symmetric="rim").discretise(2)
