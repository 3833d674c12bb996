"""Rigid bodies that no mass could make."""

from math import nan

import numpy as np
import pytest
from messages import raises

import phloat as ph


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_an_inertia_that_breaks_the_triangle_is_refused(size):
    with raises(ph.errors.InputError, "inertia"):
        ph.RigidBody(mass=1.0, inertia=size * np.diag([1.0, 1.0, 2.1]))


def test_a_rod_without_width_is_at_the_edge_of_the_triangle():
    assert ph.RigidBody(mass=1.0, inertia=np.diag([1e-6, 1.0, 1.0])).discretise().inertia.m == 1.0
    assert ph.RigidBody(mass=1.0, inertia=np.diag([1.0, 1.0, 2.0])).discretise().inertia.m == 1.0


@pytest.mark.parametrize("inertia", [np.zeros((3, 3)), np.diag([1.0, 1.0, 0.0]), np.diag([2.0, 2.0, -1.0])])
def test_an_inertia_is_positive(inertia):
    with raises(ph.errors.InputError, "inertia"):
        ph.RigidBody(mass=1.0, inertia=inertia)


def test_an_inertia_is_symmetric():
    with raises(ph.errors.InputError, "inertia", "2.5e-01"):
        ph.RigidBody(mass=1.0, inertia=[[2.0, 0.5, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])


@pytest.mark.parametrize("inertia", [1.0, [1.0, 1.0], np.eye(2), np.zeros((3, 3, 3))], ids=str)
def test_an_inertia_has_three_rows_and_columns(inertia):
    with raises(ph.errors.InputError, "inertia"):
        ph.RigidBody(mass=1.0, inertia=inertia)


@pytest.mark.parametrize("inertia", ["sphere", None, [[1.0, 0.0], [1.0]], np.eye(3) * 1j], ids=str)
def test_an_inertia_is_made_of_numbers(inertia):
    with raises(ph.errors.InputError, "inertia"):
        ph.RigidBody(mass=1.0, inertia=inertia)


def test_an_inertia_with_nan_is_refused():
    with raises(ph.errors.InputError, "inertia"):
        ph.RigidBody(mass=1.0, inertia=np.diag([1.0, 1.0, nan]))


@pytest.mark.parametrize(
    ("point", "found"),
    [((0.0, nan, 0.0), "nan"), ((0.0, 1.0), "(2,)"), ("tip", "'tip'")],
)
def test_points_of_a_rigid_body_are_three_finite_numbers(point, found):
    with raises(ph.errors.InputError, "mass centre", found):
        ph.RigidBody(mass=1.0, inertia=np.eye(3), center=point)
    with raises(ph.errors.InputError, "port 'tip'", found):
        ph.RigidBody(mass=1.0, inertia=np.eye(3), ports={"tip": point}).discretise()


def test_the_port_at_the_origin_cannot_be_moved():
    with raises(ph.errors.InputError, "'P'"):
        ph.RigidBody(mass=1.0, inertia=np.eye(3), ports={"P": (1.0, 0.0, 0.0)}).discretise()


@pytest.mark.parametrize("name", ["", "left.tip", 3], ids=repr)
def test_a_port_name_that_no_joint_could_write_is_refused(name):
    with raises(ph.errors.InputError, repr(name)):
        ph.RigidBody(mass=1.0, inertia=np.eye(3), ports={name: (1.0, 0.0, 0.0)}).discretise()


def test_ports_come_as_a_mapping():
    with raises(ph.errors.InputError, "ports"):
        ph.RigidBody(mass=1.0, inertia=np.eye(3), ports=["tip"]).discretise()


@pytest.mark.parametrize("make", [ph.PointMass(2.0), ph.RigidBody(2.0, np.eye(3))], ids=["point", "rigid"])
def test_all_modes_of_rigid_bodies_are_rigid(make):
    system = ph.connect({"a": make.discretise()})
    modes = ph.modes(ph.linearise(system, ph.place(system)))
    assert len(modes) == modes.rigid == len(system.bodies["a"].active)
    assert not modes.elastic.size


def test_many_rigid_bodies_are_as_rigid_as_few():
    swarm = ph.connect({f"body {i}": ph.RigidBody(2.0, np.eye(3)).discretise() for i in range(140)})
    modes = ph.modes(ph.linearise(swarm, ph.place(swarm)), 30)
    assert len(modes) == modes.rigid == 30
