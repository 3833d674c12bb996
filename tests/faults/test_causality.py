"""Bodies with velocity inputs, and fields on boundaries, that cannot be right get a sentence."""

import numpy as np
import pytest
from messages import raises

import phloat as ph

soft = ph.Material(E=2.0, nu=0.25, rho=1.0)
OPTIONS = {"material": soft, "cells": "triangle", "causality": "velocity"}


def plate(n=2, **options):
    plain = {"thickness": 0.1, "material": soft, "causality": "velocity"}
    return ph.Plate.rectangle(1.0, 1.0, **{**plain, **options}).discretise(n)


def sheet(n=2, **options):
    return ph.Sheet.rectangle(1.0, 1.0, **{**OPTIONS, **options}).discretise(n)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: sheet(causality="speed"), "'speed'"),
        (lambda: sheet(frame="left"), "free"),
        (lambda: sheet(cells="quadrilateral"), "triangle"),
        (lambda: ph.Sheet.rectangle(1.0, 1.0, **OPTIONS).discretise(2, order=1), "order"),
        (lambda: ph.Sheet(ph.shapes.disc(1.0, 2, order=2), soft, causality="velocity").discretise(), "straight"),
        (lambda: sheet(clamped="left & bottom"), "'left & bottom'"),
        (lambda: sheet(clamped="lft"), "'lft'"),
        (lambda: sheet(mass=3.0), "1 kg"),
        (lambda: sheet().reduced(modes=2), "free"),
        (lambda: sheet().linear("left"), "'left'"),
        (lambda: sheet().linear(("lft",)), "'lft'"),
        (lambda: sheet(ports={"a": "left"}).linear(("left",)), "'left'"),
        (lambda: sheet(ports={"a": ph.Mean("left")}).linear(), "'a'"),
        (lambda: sheet(ports={"a": (0.0, 0.0, 0.0)}).linear(), "'a'"),
        (lambda: sheet(damping=ph.KelvinVoigt(0.1)).linear(), "Rayleigh"),
        (lambda: sheet(damping=ph.Rayleigh(mass=0.1, relative_to="body")).linear(), "ground"),
        (lambda: ph.connect({"a": sheet()}), "free"),
        (lambda: plate(causality="speed"), "'speed'"),
        (lambda: plate(frame="left"), "free"),
        (lambda: plate(theory="mindlin"), "theory"),
        (lambda: plate(elements="argyris"), "elements"),
        (lambda: plate(membrane=True), "membrane"),
        (lambda: plate(mass=3.0), "0.1 kg"),
        (lambda: plate(clamped="lft"), "'lft'"),
        (lambda: plate().linear(("right",)), "'right'"),
        (lambda: plate(ports={"a": "lft"}).linear(), "'lft'"),
        (lambda: ph.Plate.disc(1.0, thickness=0.1, material=soft, causality="velocity").discretise(2), "straight"),
        (lambda: ph.boundary_field(sheet(), "left", of="u_x"), "u_x"),
        (lambda: ph.boundary_field(plate(), "left"), "'left'"),
        (lambda: ph.boundary_field(sheet(), "lft"), "'lft'"),
        (lambda: ph.boundary_field(ph.RigidBody(1.0, np.eye(3)).discretise(), "P"), "Body"),
        (lambda: ph.boundary_field(sheet(causality="force", clamped="left"), "bottom"), "'bottom'"),
        (lambda: ph.boundary_field(sheet(causality="force"), "lft"), "'lft'"),
    ],
)
def test_bodies_and_fields(make, name):
    with raises(ph.errors.InputError, name):
        make()


@pytest.mark.parametrize(
    ("ties", "name"),
    [
        ([ph.Tie("a.end", "b.end")], "a.end-b.end"),
        ([ph.Tie("a.end", "c.left")], "'a.end'"),
        ([ph.Tie("a.left", "b.right")], "a.left-b.right"),
        ([ph.Tie("a.left", "d.left")], "same size"),
        ([ph.Tie("p.left", "c.right")], "'left'"),
        ([ph.Tie("a.end", "ground", of="u_x")], "'a.end'"),
        ([ph.Tie("a.end", "ground", stiffness=(1,) * 6)], "'a.end'"),
        ([ph.Tie("a.lft", "ground")], "'a.lft'"),
        ([ph.Tie("a.left", "ground"), ph.Tie("a.left", "ground", name="again")], "'a.left'"),
        ([ph.Force("a.end", along=(1, 0, 0))], "'a.end'"),
        ([ph.Traction("a.left", lambda x, y, z: (1.0, 0.0, 0.0))], "'a'"),
    ],
)
def test_ties(ties, name):
    bodies = {"a": sheet(ports={"end": "right"}), "b": sheet(ports={"end": "left"}), "c": sheet(causality="force")}
    bodies |= {"d": ph.Sheet.rectangle(2.0, 2.0, material=soft).discretise(2), "p": plate()}
    with raises(ph.errors.InputError, name):
        ph.tie(bodies, ties)


def test_modes_with_joints_between_stresses():
    """A velocity port that is swapped takes a force; its multiplier acts on stresses."""
    system = ph.swap_causality(sheet(ports={"end": "right"}).linear(), "end")
    with raises(ph.errors.InputError, "stresses"):
        ph.modes(system)


def test_velocity_inputs_do_not_meet_as_efforts():
    """A transformer equates efforts; gyrator feeds the velocity of one side to the other."""
    first, second = sheet().linear(("right",)).prefixed("a"), sheet().linear(("left",)).prefixed("b")
    port_1, port_2 = "a.right", "b.left"
    with raises(ph.errors.JointError, port_1):
        ph.transformer(first, port_1, second, port_2)
    assert ph.swap_causality(first, port_1).driven() == (port_1,)  # its input is a traction
