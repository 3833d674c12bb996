"""Loads over volumes and surfaces that cannot be: errors name the load, and what is there."""

import numpy as np
import pytest
from matrices_zoo import box
from messages import raises

import phloat as ph

STEEL = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
ON_MESH = {"material": STEEL, "frame": "left", "ports": {"P": "left"}}
BODIES = {
    "beam": ph.Beam(1.0, ph.Rectangle(0.05, 0.1), STEEL).discretise(2),
    "rigid": ph.RigidBody(1.0, np.eye(3)).discretise(),
    "plate": ph.Plate.rectangle(1.0, 0.5, thickness=0.01, **ON_MESH).discretise((2, 1)).reduced(modes=1, stiffened=0),
    "sheet": ph.Sheet.rectangle(1.0, 0.5, **ON_MESH).discretise((2, 1)).reduced(modes=1, stiffened=0),
    "solid": ph.Solid.box(1.0, 0.5, 0.2, **ON_MESH).discretise((2, 1, 1)).reduced(modes=1, stiffened=0),
}
NOTHING = (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ph.BodyForce("b"), "b.body force"),
        (lambda: ph.BodyForce("b", per_volume=(1, 0, 0), per_mass=(1, 0, 0)), "b.body force"),
        (lambda: ph.BodyForce("b", per_volume=(1, 0)), "b.body force"),
        (lambda: ph.BodyForce("b", per_volume=(1, 0, 0), axes="mine"), "'mine'"),
        (lambda: ph.Traction("b.right", axes="mine"), "'mine'"),
        (lambda: ph.Pressure("b.top", np.nan), "b.top.pressure"),
    ],
)
def test_loads_that_cannot_be_written(make, name):
    with raises(ph.errors.InputError, name):
        make()


@pytest.mark.parametrize(
    ("load", "name"),
    [
        (ph.Pressure("solid"), "solid.pressure"),
        (ph.Pressure("solid.tpo"), "'tpo'"),
        (ph.Pressure("sheet"), "sheet.pressure"),
        (ph.Pressure("plate.left"), "'left'"),
        (ph.Pressure("beam"), "beam.pressure"),
        (ph.Pressure("rigid"), "rigid.pressure"),
        (ph.Pressure("nobody.top"), "'nobody'"),
        (ph.Pressure("plate", 0.0), "plate.pressure"),
        (ph.Pressure("plate", lambda x: x), "plate.pressure"),
        (ph.Traction("solid"), "solid.traction"),
        (ph.Traction("solid.tpo"), "'tpo'"),
        (ph.Traction("rigid.P"), "rigid.P.traction"),
        (ph.Traction("beam.P"), "beam.P.traction"),
        (ph.Traction("solid.right", NOTHING), "solid.right.traction"),
        (ph.Traction("solid.right", lambda x, y: (x, y)), "solid.right.traction"),
        (ph.BodyForce("solid.right", per_volume=(1, 0, 0)), "'solid.right'"),
        (ph.BodyForce("rigid", per_volume=(1, 0, 0)), "rigid.body force"),
        (ph.BodyForce("solid", per_mass=(1, 0, 0), axes="body"), "solid.body force"),
        (ph.BodyForce("beam", per_volume=NOTHING), "beam.body force"),
        (ph.BodyForce("rigid", per_mass=NOTHING), "rigid.body force"),
    ],
)
def test_loads_that_do_not_fit_their_body(load, name):
    with raises(ph.errors.InputError, name):
        ph.connect(BODIES, [load])


def test_loads_out_of_the_plane():
    sheet = {"sheet": BODIES["sheet"]}
    with raises(ph.errors.JointError, "sheet.right.traction"):
        ph.connect(sheet, [ph.Traction("sheet.right", (0.0, 0.0, 1.0))], plane="xy")
    for name, surface in (("plate", "plate"), ("solid", "solid.front")):
        with raises(ph.errors.JointError, f"{surface}.pressure"):
            ph.connect({name: BODIES[name]}, [ph.Pressure(surface)], plane="xy")
    assert ph.connect({"solid": BODIES["solid"]}, [ph.Pressure("solid.top")], plane="xy").actuators


def test_a_superelement_has_mass_but_no_surface():
    """A force per mass acts on it, one per volume, a pressure or a traction does not."""
    given = box((2, 1, 1))
    body = ph.Superelement.from_matrices(given.M, given.K, given.nodes, {"A": given.on(0.0)}, modes=1).discretise()
    g = (0.0, 0.0, -9.81)
    system = ph.connect({"e": body}, [ph.Weld("ground", "e.A", name="foot"), ph.BodyForce("e", per_mass=g, name="w")])
    u = {"w": 1.0}
    weight = ph.reactions(system, ph.equilibrium(system, ph.place(system), u=u), u=u)["foot"][2]
    assert weight == pytest.approx(9.81 * body.inertia.m, rel=1e-9)
    for load in (ph.Pressure("e.A"), ph.Traction("e.A"), ph.BodyForce("e", per_volume=g)):
        with raises(ph.errors.InputError, load.label):
            ph.connect({"e": body}, [load])


def test_boundaries_that_reduced_knows_as_loaded():
    continuum = ph.Solid.box(1.0, 0.5, 0.2, **ON_MESH).discretise((2, 1, 1))
    with raises(ph.errors.InputError, "'top'"):
        continuum.reduced(modes=1, loaded="top")
    with raises(ph.errors.InputError, "'tpo'"):
        continuum.reduced(modes=1, loaded=("tpo",))


def test_the_twin_refuses_a_following_pressure():
    jax = pytest.importorskip("jax")
    assert jax
    from phloat import twin

    system = ph.connect({"plate": BODIES["plate"]}, [ph.Pressure("plate", name="p")])
    with raises(ph.errors.InputError, "'p'"):
        twin.exported(system, ph.place(system), 0.1, dt=0.01, u={"p": 1.0})
