"""Split beams that cannot be, and questions that a split beam cannot answer."""

import numpy as np
import pytest
from messages import raises

import phloat as ph

BEAM = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0), ports={"mid": 0.5})


def split(joints=(), plane=None) -> ph.System:
    part = BEAM.split(3).discretise(1)
    return ph.connect({"beam": part}, joints=[ph.Weld("ground", "beam.P"), *joints], plane=plane)


@pytest.mark.parametrize("pieces", [0, -2, 1.5, True, "3", None], ids=repr)
def test_pieces_are_counted_from_one(pieces):
    with raises(ph.errors.InputError, repr(pieces)):
        BEAM.split(pieces)


def test_a_split_beam_has_no_one_deformation():
    state = ph.place(split())
    with raises(ph.errors.InputError, "'beam'"):
        state.displacement("beam", 0.5)
    with raises(ph.errors.InputError, "'beam'"):
        state.pose("beam")


@pytest.mark.parametrize("s", [-0.1, 1.1])
def test_places_lie_on_the_beam(s):
    with raises(ph.errors.InputError, f"{s:g}"):
        ph.place(split()).position("beam", s)


def test_a_body_that_is_not_there_is_answered_with_those_there_are():
    with raises(ph.errors.PortError, "'rod'"):
        ph.place(split()).position("rod", 0.5)


def test_a_port_that_is_not_there_is_answered_with_those_of_the_beam():
    with raises(ph.errors.PortError, "'beam.end'"):
        split([ph.Revolute("ground", "beam.end")])
    with raises(ph.errors.PortError, "'beam.end'"):
        split().ports["beam.end"]


def test_a_port_by_its_two_names_is_one_port():
    with raises(ph.errors.JointError, "beam.C-beam.3.C"):
        split([ph.Revolute("beam.C", "beam.3.C")])


@pytest.mark.parametrize("name", ["beam.mid", "beam.2.mid", "beam.C"])
def test_a_joint_may_not_be_called_as_a_port(name):
    with raises(ph.errors.InputError, f"'{name}'"):
        split([ph.Revolute("ground", "beam.C", at=(1.0, 0, 0), name=name)])


def test_a_beam_without_torsion_constant_is_called_by_its_own_name():
    flat = ph.Beam(1.0, ph.Section(A=1e-4, I=1e-10), ph.Material(E=7e10, rho=2700.0)).split(2).discretise(1)
    with raises(ph.errors.InputError, "'rod'"):
        ph.connect({"rod": flat})
    assert list(ph.connect({"rod": flat}, plane="xy").bodies) == ["rod.1", "rod.2"]


def test_a_piece_alone_is_a_body():
    piece = BEAM.split(3).discretise(1).pieces[0]
    system = ph.connect({"part": piece})
    assert not system.ports.also
    np.testing.assert_allclose(ph.place(system).position("part", 1.0), [1 / 3, 0, 0])


def test_bodies_that_are_called_by_numbers_are_no_split_beam():
    stage = ph.connect({"1": BEAM.discretise(1), "2": BEAM.discretise(1)})
    system = ph.connect({"stage": stage})
    assert not system.ports.also
    with raises(ph.errors.PortError, "'stage'"):
        ph.place(system).position("stage", 0.5)


def test_a_recipe_must_be_discretised_before_it_is_connected():
    with raises(ph.errors.InputError, "'beam'"):
        ph.connect({"beam": BEAM.split(2)})
