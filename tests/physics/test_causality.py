"""The rigid rod on a plate by hand, with the operators W and W* of the interconnection; waves driven by velocities."""

import numpy as np
import pytest
from messages import raises

import phloat as ph

alu = ph.Material(E=70e9, nu=0.35, rho=2700.0)


def rod():
    return ph.RigidBody(mass=50.0, inertia=np.diag([4.16667, 1.0, 4.16667])).discretise()


def test_the_rod_welded_to_a_plate_by_hand_and_by_tie():
    """u_rod = −W ũ_plate and M_∂ỹ_plate = Wᵀ y_rod: the spectrum of `tie`, and the published 170.9, 443.7 and 1325 rad/s."""
    plate = ph.Plate.rectangle(1.0, 1.0, thickness=0.05, material=alu, clamped="left").discretise(8)
    edge = ph.boundary_field(plate, "right", of="w")
    first, second = rod().linear().prefixed("rod"), edge.linear().prefixed("plate")
    by_hand = ph.transformer(first, "rod.P", second, "plate.right", edge.W)
    with pytest.warns(ph.errors.UnfeltMotionWarning):
        tied = ph.tie({"plate": plate, "rod": rod()}, [ph.Tie("plate.right", "rod.P", of="w", name="weld")])
    found = ph.modes(by_hand)
    assert found.rigid == 4  # of the rod: along x and y, and about y and z, which no deflection turns
    assert found.elastic[:8] == pytest.approx(ph.modes(tied).elastic[:8], rel=1e-8)
    assert found.elastic[:3] == pytest.approx([170.92, 443.75, 1325.2], rel=5e-4)


def test_a_rigid_ring_on_the_rim_of_a_disc_by_hand_and_by_tie():
    """The rim is slanted: along it a deflection depends on more coordinates than it has degrees of freedom."""
    disc = ph.Plate.disc(1.0, inner=0.3, thickness=0.05, material=alu, clamped="bore").discretise(3)
    ring = ph.RigidBody(mass=200.0, inertia=np.diag([50.0, 40.0, 90.0])).discretise()
    rim = ph.boundary_field(disc, "rim", of="w")
    first, second = ring.linear().prefixed("ring"), rim.linear().prefixed("disc")
    by_hand = ph.transformer(first, "ring.P", second, "disc.rim", rim.W)
    with pytest.warns(ph.errors.UnfeltMotionWarning):
        tied = ph.tie({"disc": disc, "ring": ring}, [ph.Tie("disc.rim", "ring.P", of="w")])
    assert ph.modes(by_hand).elastic[:8] == pytest.approx(ph.modes(tied).elastic[:8], rel=1e-8)
    assert rim.W @ rim.rigid[:, 2] == pytest.approx([0, 0, disc.trace("rim").weight.sum(), 0, 0, 0], abs=1e-9)


def test_the_rod_of_the_slides_in_their_causality():
    """The deflection of the plate's edge follows the rod, without a multiplier; from below, where `tie` of "bfs" is from above."""
    options = {
        "thickness": 0.05,
        "material": alu,
        "clamped": "left",
        "causality": "velocity",
        "ports": {"edge": "right"},
    }
    plate = ph.Plate.rectangle(1.0, 1.0, supported="right", **options).discretise(12)
    with pytest.warns(ph.errors.UnfeltMotionWarning):
        both = ph.tie({"plate": plate, "rod": rod()}, [ph.Tie("plate.edge", "rod.P")])
    assert not both.multipliers.size
    shapes = ph.modes(both, 4)
    assert shapes.elastic[:3] == pytest.approx([170.92, 443.75, 1325.2], rel=5e-4)
    assert (shapes.elastic[:3] < [170.92, 443.75, 1325.2]).all()
    at_edge = both.fields["plate"].points[:, 0] > 1.0 - 1e-9
    deflection = shapes.shape(shapes.rigid, "plate")[at_edge, 2]
    assert deflection == pytest.approx(
        shapes.shape(shapes.rigid, "rod")[0, 2], rel=1e-2
    )  # with the rod, not against it


def test_the_velocity_of_an_edge_drives_a_bar():
    """One end of a bar is moved by sin ωt from rest: until the wave comes back, the traction at that end is ρ c v."""
    strip = ph.Material(E=4.0, nu=0.0, rho=1.0)  # c = 2 m/s
    sheet = ph.Sheet.rectangle(
        2.0, 0.25, material=strip, cells="triangle", causality="velocity", symmetric=("bottom", "top")
    )
    body = sheet.discretise((32, 4))
    edge = ph.boundary_field(body, "right")
    along = 1e-3 * edge.rigid @ np.eye(6)[0]
    run = ph.simulate(edge.linear(), t_end=0.9, dt=0.005, u={"right": lambda t: np.sin(np.pi * t) ** 2 * along})
    force = 1e3 * run.y["right"] @ along * 1e3  # of both fields: ∫ σ_xx over the edge
    later = run.t > 0.1
    assert force[later] == pytest.approx(0.25 * 2.0 * np.sin(np.pi * run.t[later]) ** 2, abs=5e-3 * 0.5)
    assert np.abs(run.residual).max() < 1e-12 * run.energy.max()


def test_effective_masses_of_an_edge_that_takes_a_velocity():
    """A free square moves rigidly with its edge, m a²(1/3 + 1/12) about it; a mode has the mass of the other causality."""
    found = []
    for causality in ("velocity", "force"):
        options = {"material": alu, "cells": "triangle", "causality": causality, "ports": {"edge": "right"}}
        body = ph.Sheet.rectangle(0.5, 0.5, thickness=0.01, **options).discretise(4)
        system = body.linear().split_port("edge", {"plane": (0, 1, 5), "out": (2, 3, 4)}).with_ports("edge.plane")
        if causality == "force":
            system = ph.swap_causality(system, "edge.plane")
        modes = ph.modes(system, 6)
        found.append(ph.effective_masses(modes, "edge.plane"))
        assert ph.ports_report(system, "edge.plane", count=6).reached.min() > 1e-3
    mass = alu.rho * 0.5**2 * 0.01
    np.testing.assert_allclose(np.diag(found[0].total), [mass, mass, mass * 0.25 * 5 / 12], rtol=1e-9)
    np.testing.assert_allclose(found[0].total, found[1].total, atol=1e-9 * mass)
    np.testing.assert_allclose(found[0].masses[:2, :2], found[1].masses[:2, :2], atol=0.02 * mass)
    options["causality"] = "velocity"
    held = ph.Sheet.rectangle(0.5, 0.5, thickness=0.01, **options).discretise(2).linear()
    with raises(ph.errors.InputError, "takes a velocity"):
        ph.participation(ph.modes(held, 3), "edge")


@pytest.mark.parametrize("method", ["modal", "balanced", "irka"])
def test_reduced_bodies_keep_the_static_motion_of_edges_that_take_velocities(method):
    """As for driven ports; without it the stress of the edge's motion was off by a factor of 10 at every order."""
    options = {"cells": "triangle", "causality": "velocity", "clamped": "left", "ports": {"edge": "right"}}
    damping = ph.Rayleigh(mass=0.1, relative_to="ground")
    soft = ph.Material(E=2.5, nu=0.25, rho=1.3)
    body = ph.Sheet.rectangle(1.0, 1.0, material=soft, damping=damping, **options).discretise(2).linear()
    system = body.split_port("edge", {"plane": (0, 1, 5), "out": (2, 3, 4)}).with_ports("edge.plane")
    if method == "modal":
        basis = ph.reduction.modal_basis(system, count=4)
    elif method == "balanced":
        basis = ph.reduction.balanced_basis(system, order=20, band=(0.1, 4.0))
    else:
        pytest.importorskip("pymor")
        basis = ph.reduction.irka_basis(system, order=20)
    small, omega = ph.reduction.project(system, basis), np.array([0.03, 0.3, 0.9])
    assert small.passive and small.rows.size <= 20
    full, reduced = (ph.response(x, "edge.plane", omega=omega).values for x in (system, small))
    assert np.abs(reduced - full).max() < 1e-3 * np.abs(full[2]).max()


def test_zeros_of_an_edge_that_takes_a_velocity_are_the_poles_with_the_edge_free():
    """Without the stresses that nothing moves: 45 zeros at s = 0 had come before the others. In any units of the port."""
    soft = ph.Material(E=2.5, nu=0.25, rho=1.3)
    options = {"cells": "triangle", "causality": "velocity", "clamped": "left", "ports": {"edge": "right"}}
    body = ph.Sheet.rectangle(1.0, 1.0, material=soft, **options).discretise(2).linear()
    system = body.split_port("edge", {"plane": (0, 1, 5), "out": (2, 3, 4)}).with_ports("edge.plane")
    found, free = ph.zeros(system, "edge.plane"), ph.poles(ph.swap_causality(system, "edge.plane"))
    assert len(found) == len(free) == len(ph.poles(system)) == 48
    np.testing.assert_allclose(found, free, rtol=1e-10)
    force = ph.Sheet.rectangle(1.0, 1.0, material=soft, **options | {"causality": "force"}).discretise(2).linear()
    np.testing.assert_allclose(found[:3], ph.poles(force)[:3], rtol=0.05)
    units = np.diag([1e6, 1e-6, 1.0])
    np.testing.assert_allclose(ph.zeros(system.with_inputs(units, system.ports), "edge.plane"), found, rtol=1e-9)
