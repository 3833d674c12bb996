"""Reductions that cannot be."""

import numpy as np
import pytest
from bodies_zoo import Cloud
from messages import raises

import phloat as ph

BEAM = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0))


@pytest.mark.parametrize("modes", [0, -1, 1.5, True, "2", None], ids=repr)
def test_modes_are_counted_from_one(modes):
    with raises(ph.errors.InputError, "modes", repr(modes)):
        BEAM.discretise(4).reduced(modes=modes)


@pytest.mark.parametrize("name", ["axial", "torsion"])
@pytest.mark.parametrize("count", [-1, 0.5, False], ids=repr)
def test_axial_and_torsion_modes_are_counted_from_none(name, count):
    with raises(ph.errors.InputError, name, repr(count)):
        BEAM.discretise(4).reduced(modes=1, **{name: count})


def test_more_modes_than_there_are_are_refused():
    with raises(ph.errors.InputError, "modes", "5"):
        BEAM.discretise(2).reduced(modes=5)
    assert BEAM.discretise(2).reduced(modes=4, axial=50, torsion=50).coordinates == 16  # of these, all there are


@pytest.mark.parametrize("body", [ph.RigidBody(1.0, np.eye(3)), ph.PointMass(1.0)], ids=lambda b: type(b).__name__)
def test_a_rigid_body_has_nothing_to_reduce(body):
    with raises(ph.errors.InputError):
        body.discretise().reduced(modes=1)


def test_a_body_that_is_no_beam_is_told_so():
    with raises(ph.errors.InputError):
        Cloud(3).discretise().reduced(modes=1)


def test_a_loaded_port_is_one_of_the_body():
    with raises(ph.errors.PortError, "'D'"):
        BEAM.discretise(4).reduced(modes=1, loaded=("D",))


def test_one_loaded_port_may_not_be_mistaken_for_its_letters():
    with raises(ph.errors.InputError, "loaded", "'C'"):
        BEAM.discretise(4).reduced(modes=1, loaded="C")


def test_a_beam_without_torsion_constant_still_needs_one_in_space():
    body = ph.Beam(1.0, ph.Section(A=1e-4, I=1e-10), ph.Material(E=7e10, rho=2700.0)).discretise(4).reduced(modes=2)
    with raises(ph.errors.InputError, "'rod'"):
        ph.connect({"rod": body})
    assert ph.connect({"rod": body}, plane="xy").bodies["rod"].families == {"axial": 5, "bending along y": 2}


SOFT = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0), stiffening=False)
TWISTED = ph.Beam(1.0, lambda s: ph.Rectangle(0.02, 0.01, angle=s), ph.Material(E=7e10, rho=2700.0), theory="rayleigh")


@pytest.mark.parametrize(("beam", "word"), [(SOFT, "stiffening"), (TWISTED, "pretwist")], ids=lambda x: str(x)[:9])
def test_a_beam_that_cannot_shorten_by_rule_says_why(beam, word):
    with raises(ph.errors.InputError, word):
        beam.discretise(4).reduced(modes=1, shortening="slaved")


def test_shortening_is_one_of_two():
    with raises(ph.errors.InputError, "shortening", "'slave'", "slaved"):
        BEAM.discretise(4).reduced(modes=1, shortening="slave")


@pytest.mark.parametrize("options", [{}, {"shortening": "slaved"}])
def test_a_reduced_beam_is_not_reduced_to_a_slaved_one(options):
    with raises(ph.errors.InputError, "reduced before"):
        BEAM.discretise(4).reduced(modes=2, **options).reduced(modes=1, shortening="slaved")


def test_the_constant_mass_matrix_refuses_slaved_shortening_by_name():
    system = ph.connect({"arm": BEAM.discretise(4).reduced(modes=1, shortening="slaved")}, [ph.Weld("ground", "arm.P")])
    with raises(ph.errors.InputError, "'arm'", "constant"):
        ph.simulate(system, ph.place(system), 0.1, scheme=ph.RadauIIA(mass="constant"))


def test_a_basis_of_fields_has_no_slaves():
    basis = ph.reduction.modal_basis(BEAM.discretise(4).linear(), count=8)
    with raises(ph.errors.InputError, "shortening"):
        BEAM.discretise(4).reduced(basis, shortening="slaved")


def test_the_twin_refuses_slaved_shortening_by_name():
    pytest.importorskip("jax")
    system = ph.connect({"arm": BEAM.discretise(4).reduced(modes=1, shortening="slaved")}, [ph.Weld("ground", "arm.P")])
    with raises(ph.errors.InputError, "'arm'", "slaved"):
        ph.twin.exported(system, ph.place(system), dt=1e-3, t_end=0.1)
