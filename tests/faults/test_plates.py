"""Plates that cannot be, and what is said about them."""

import numpy as np
import pytest
from messages import raises
from plates_zoo import ply

from phloat.bodies.material import Material, Orthotropic
from phloat.bodies.plates.laminate import Laminate
from phloat.bodies.plates.plate import Plate
from phloat.errors import InputError
from phloat.fem.shapes import box, rectangle

alu = Material(E=70e9, rho=2700.0, nu=0.35)
GOOD = {"thickness": 0.01, "material": alu}


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"theory": "mindin"}, "'mindin'"),
        ({"elements": "bsf"}, "'bsf'"),
        ({"elements": "mitc"}, ""),
        ({"elements": "bfs", "theory": "mindlin"}, "'bfs'"),
        ({"support": "firm"}, "'firm'"),
        ({"thickness": None}, "thickness"),
        ({"thickness": -0.01}, "thickness"),
        ({"thickness": "thin"}, "thickness"),
        ({"material": "steel"}, "material"),
        ({"material": Laminate([(alu, 0.01, 0.0)])}, "thickness"),
        ({"material": Laminate([(alu, 0.01, 0.0)]), "thickness": None, "angle": 0.1}, "angle"),
        ({"angle": np.nan}, "angle"),
        ({"damping": 0.01}, "damping"),
        ({"ports": {"a.b": "left"}}, "'a.b'"),
        ({"ports": "left"}, "ports"),
        ({"mass": -1.0}, "mass"),
        ({"elements": "hhj", "membrane": True}, "elements='hhj'"),
        (
            {"material": Laminate([(ply, 1e-3, 0.0), (ply, 1e-3, 0.5)]), "thickness": None, "membrane": False},
            "membrane",
        ),
    ],
)
def test_recipes_that_cannot_be(options, name):
    with raises(InputError, name):
        Plate.rectangle(1.0, 1.0, **{**GOOD, **options})


@pytest.mark.parametrize("verb", ["linear", "modes"])
def test_small_motions_of_slopes_without_mass(verb):
    body = Plate.rectangle(1.0, 1.0, **GOOD, elements="hhj", frame="left").discretise(2)
    with raises(InputError, "frame"):
        getattr(body, verb)()


@pytest.mark.parametrize(
    ("options", "n", "name"),
    [
        ({"clamped": "lefft"}, 2, "'lefft'"),
        ({"supported": 3}, 2, "supported"),
        ({}, None, ""),
        ({}, 0, "cells is 0"),
        ({}, 2.5, "cells is 2.5"),
        ({}, True, "cells is True"),
        ({}, (2, 3, 4), "(2, 3, 4)"),
        ({"thickness": lambda x, y: 0.01 - x}, 2, "thickness"),
        ({"thickness": lambda x, y: np.ones(3)}, 2, "thickness"),
        ({"mass": 27e9}, 2, "1e-09"),
    ],
)
def test_meshes_that_cannot_be(options, n, name):
    with raises(InputError, name):
        Plate.rectangle(1.0, 1.0, **{**GOOD, **options}).discretise(n)


def test_outlines_that_cannot_be():
    for a, b in ((0.0, 1.0), (1.0, -1.0), (np.inf, 1.0)):
        with raises(InputError, "side"):
            Plate.rectangle(a, b, **GOOD)
    with raises(InputError, "inner radius"):
        Plate.disc(1.0, 1.0, **GOOD)
    with raises(InputError, "(2, 3)"):
        Plate.disc(1.0, **GOOD).discretise((2, 3))
    with raises(InputError, "str"):
        Plate(outline="square", **GOOD)


def test_meshes_that_do_not_fit():
    with raises(InputError, "'hexahedron'"):
        Plate(outline=box(1, 1, 1, 1, 1, 1, kind="hexahedron"), **GOOD).discretise()
    with raises(InputError):
        Plate(outline=rectangle(1, 1, 2, 2), **GOOD).discretise(4)
    with raises(InputError, "elements='bfs'"):
        Plate(outline=rectangle(1, 1, 2, 2), **GOOD, elements="bfs").discretise()


def test_laminates_that_cannot_be():
    for layers, name in (
        ([], "layers"),
        ("ply", "layers"),
        ([(alu, 0.01)], "layer 0"),
        ([(alu, -0.01, 0.0)], "layer 0"),
        ([(alu, 0.01, "x")], "layer 0"),
        ([("glue", 0.01, 0.0)], "'glue'"),
        ([(alu, 0.01, 0.0), (Material(E=210e9, rho=7800.0), 0.01, 0.0)], "0.00243"),
    ):
        with raises(InputError, name):
            Laminate(layers)
    turned = Orthotropic(E=ply.E, nu=ply.nu, G=ply.G, rho=1.0, axes=np.eye(3)[[1, 2, 0]])
    with raises(InputError, "axes"):
        Plate.rectangle(1.0, 1.0, material=turned, thickness=0.01)


def test_points_off_the_plate():
    shape = Plate.rectangle(1.0, 1.0, **GOOD).discretise(3).shape
    with raises(InputError, "(1.5, 0.2)", "0.5"):
        shape.displacement(np.array([[0.5, 0.5, 0.0], [1.5, 0.2, 0.0]]))
    with raises(InputError, "0.02", "0.005"):
        shape.stress(np.array([[0.5, 0.5, 0.02]]))
    for bad in (np.zeros(3), np.zeros((2, 2)), np.full((1, 3), np.nan)):
        with raises(InputError):
            shape.rotation(bad)


def test_stiffness_damping_of_mixed_plates_is_refused():
    from phloat.bodies.material import Rayleigh

    plate = Plate.rectangle(1.0, 1.0, **GOOD, elements="hhj", damping=Rayleigh(stiffness=1e-5)).discretise(2)
    with raises(InputError):
        plate.linear()


def test_a_plane_of_symmetry_of_a_membrane_is_along_an_axis():
    with raises(InputError):
        Plate.disc(1.0, **GOOD, membrane=True, symmetric="rim").discretise(2)
