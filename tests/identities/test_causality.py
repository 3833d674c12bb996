"""Sheets and solids with velocities as inputs, and fields on boundaries: structure, power, symmetry, W and W*."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from meshes_zoo import distorted

import phloat as ph
from phloat.fem.stress_space import nodes_of, reference_integrals

stone = ph.Material(E=2.5, nu=0.25, rho=1.3)
skewed = ph.Orthotropic(E=(3.0, 1.0, 2.0), nu=(0.2, 0.1, 0.3), G=(0.8, 0.5, 0.6), rho=1.3)


def made(d, material=stone, n=2, mesh=True, **options):
    """A body with velocity inputs on a distorted mesh of the unit square or cube, or on a regular one."""
    kind, recipe = ("triangle", ph.Sheet) if d == 2 else ("tetrahedron", ph.Solid)
    if mesh:
        return recipe(distorted(kind, 1, n), material, causality="velocity", **options).discretise()
    make = ph.Sheet.rectangle if d == 2 else ph.Solid.box
    return make(*(1.0,) * d, material=material, cells=kind, causality="velocity", **options).discretise(n)


@pytest.mark.parametrize("d", [2, 3])
def test_the_system_is_port_hamiltonian_and_keeps_its_books(d):
    body = made(d, n=1 if d == 3 else 2)
    system = body.linear(("right",))
    assert system.passive and system.lossless and not system.multipliers.size
    n = system.split
    assert not system.B[:n].nnz and system.B[n:].nnz
    u = np.random.default_rng(1).normal(size=system.ports.size)
    run = ph.simulate(system, t_end=1.0, dt=0.1, u={"right": lambda t: np.sin(3.0 * t) * u})
    assert run.energy[-1] > 0.0
    assert np.abs(run.residual).max() < 1e-12 * run.energy.max()


@pytest.mark.parametrize("d", [2, 3])
def test_tractions_are_continuous_and_stresses_symmetric_in_the_mean(d):
    space = made(d).sides.space
    sigma = np.einsum("cnabu,cu->cnab", space.values, np.random.default_rng(2).normal(size=space.size)[space.unknowns])
    weight = reference_integrals(d)["lam phi"]
    assert np.abs(np.einsum("mn,cnab->cmab", weight, sigma - sigma.swapaxes(2, 3))).max() < 1e-12
    assert np.abs(sigma - sigma.swapaxes(2, 3)).max() > 0.1  # not at every point
    seen = {}
    for c, facets in enumerate(space._facets[1]):
        for j, f in enumerate(facets):
            on_facet = [n for n, node in enumerate(nodes_of(d + 1)) if j not in node]
            seen.setdefault(f, []).append(sigma[c, on_facet] @ space.slopes[c, j] / np.linalg.norm(space.slopes[c, j]))
    jumps = [abs(pair[0] + pair[1]).max() for pair in seen.values() if len(pair) == 2]
    assert len(jumps) > 4 and max(jumps) < 1e-12


@pytest.mark.parametrize("material", [stone, skewed])
@pytest.mark.parametrize("d", [2, 3])
def test_a_uniform_strain_at_the_boundary_gives_a_uniform_stress(d, material):
    """Static: Dᵀσ = 0, C σ = D q + B u with u = G x on all sides; then tractions are A ε n, and q is G x."""
    body = made(d, material, clamped="all")
    G = np.random.default_rng(3).normal(size=(d, d))
    space, sides = body.sides.space, list(body.mesh.boundaries)
    system = body.linear(sides)
    x = np.concatenate([space.facet_nodes(body.sides.facets(s)).reshape(-1, d) for s in sides])
    n = system.split
    C, D = system.E[n:, n:], system.J[n:, :n]
    load = system.B[n:] @ (x @ G.T).ravel()
    saddle = sp.block_array([[C, -D], [D.T, None]], format="csc")
    sigma = spla.spsolve(saddle, np.concatenate([load, np.zeros(n)]))
    A, *_ = body.recipe.elasticity(material)
    strain = np.array([G[0, 0], G[1, 1], G[0, 1] + G[1, 0]])
    if d == 3:
        strain = np.array([*np.diag(G), G[1, 2] + G[2, 1], G[0, 2] + G[2, 0], G[0, 1] + G[1, 0]])
    s = A @ strain
    S = np.array([[s[0], s[2]], [s[2], s[1]]]) if d == 2 else s[[[0, 5, 4], [5, 1, 3], [4, 3, 2]]]
    unknowns = space.unknowns_on(body.sides.facets("right"))[:, :, :]
    assert np.allclose(sigma[unknowns], S[:, 0], rtol=0, atol=1e-9)  # the normal is x
    q = sigma[len(load) :].reshape(-1, d)
    assert np.allclose(q, space.vertices[space.corners].reshape(-1, d) @ G.T, rtol=0, atol=1e-9)


@pytest.mark.parametrize("skew", [0.0, 0.4])
def test_a_plate_that_moves_rigidly_has_no_moments(skew):
    """D v + Σ B r = 0 if all velocities and all sides are those of one rigid motion."""
    mesh = ph.shapes.rectangle(1.0, 0.6, 3, 2)
    x, y, _ = mesh.points.T
    mesh = replace(mesh, points=np.column_stack([x + skew * y, y]))
    sides = {side: side for side in mesh.boundaries}
    body = ph.Plate(outline=mesh, material=stone, thickness=0.05, causality="velocity", ports=sides).discretise()
    system = body.linear()
    v_z, omega_x, omega_y = np.random.default_rng(6).normal(size=3)
    x, y = body.velocity.points[:, 0], body.velocity.points[:, 1]
    rate = system.J[system.split :, : system.split] @ (v_z + omega_x * y - omega_y * x)
    scale = np.abs(rate).max()
    for side in sides:
        a, b, _ = body.port_centre(side)
        twist = [0.0, 0.0, v_z + omega_x * b - omega_y * a, omega_x, omega_y, 0.0]
        rate += system.B[system.split :, system.ports[side]] @ twist
    assert np.abs(rate).max() < 1e-13 * scale


def test_a_driven_plate_keeps_its_books():
    options = {"thickness": 0.05, "material": stone, "clamped": "left", "ports": {"edge": "right"}}
    body = ph.Plate.rectangle(1.0, 0.6, causality="velocity", **options).discretise(3)
    run = ph.simulate(
        body.linear(), t_end=2.0, dt=0.05, u={"edge": lambda t: 1e-3 * np.sin(t) * np.array([0, 0, 1.0, 2.0, 1.0, 0])}
    )
    assert np.abs(run.residual).max() < 1e-12 * run.energy.max()
    assert run.energy[-1] > 0.0


def test_exports_name_the_inputs_flows():
    body = ph.Sheet.rectangle(
        1.0, 0.5, material=stone, cells="triangle", causality="velocity", clamped="left", ports={"end": "right"}
    ).discretise((2, 1))
    space = ph.state_space(body.linear())
    assert space.inputs[:2] == ("end.flow[0]", "end.flow[1]") and space.outputs[0] == "end.effort[0]"


# --- fields on boundaries --------------------------------------------------------------------------------------------


def plates(n, **options):
    return ph.Plate.rectangle(1.0, 0.6, thickness=0.05, material=stone, **options).discretise(n)


def velocity_box():
    box = ph.Solid.box(1.0, 0.6, 0.4, material=stone, cells="tetrahedron", causality="velocity")
    return box.discretise((1, 1, 1))


BODIES = {  # how to make them, the motions, the size of the boundary
    "plate": (lambda: plates(3, clamped="left"), "w", 0.6),
    "plate, triangles": (lambda: plates(2, elements="argyris"), None, 0.6),
    "Mindlin's plate": (lambda: plates(2, theory="mindlin"), None, 0.6),
    "sheet": (lambda: ph.Sheet.rectangle(1.0, 0.6, material=stone).discretise(3), None, 0.6),
    "solid": (lambda: ph.Solid.box(1.0, 0.6, 0.4, material=stone).discretise((2, 2, 1)), None, 0.24),
    "sheet, velocities": (lambda: half("right", 3, 0.6), None, 0.6),
    "solid, velocities": (velocity_box, None, 0.24),
}


def half(name, n, b=1.0):
    """A sheet 1 × b; the one called "right" takes velocities, the left one is clamped and takes forces."""
    options = {"causality": "velocity"} if name == "right" else {"clamped": "left"}
    return ph.Sheet.rectangle(1.0, b, material=stone, cells="triangle", **options).discretise(n)


@pytest.mark.parametrize("name", BODIES)
def test_total_forces_and_rigid_fields_are_adjoint(name):
    make, of, size = BODIES[name]
    edge = ph.boundary_field(make(), "right", of)
    rng = np.random.default_rng(4)
    y, r = rng.normal(size=edge.mass.shape[0]), rng.normal(size=6)
    assert (edge.W @ y) @ r == pytest.approx(y @ (edge.mass @ (edge.rigid @ r)), rel=1e-12)
    moved = 2 if "plate" in name else 0
    unit = np.eye(6)[moved]
    assert edge.W @ (edge.rigid @ unit) == pytest.approx(size * unit, abs=1e-12)  # no torque about the centre
    assert edge.centre[:2] == pytest.approx([1.0, 0.3])


@pytest.mark.parametrize("name", BODIES)
def test_the_field_itself_follows_from_the_output(name):
    """ỹ = M_∂⁻¹ y_∂ are the velocities (or tractions) of the boundary, and ũᵀ y_∂ is the power."""
    make, of, _ = BODIES[name]
    body = make()
    edge = ph.boundary_field(body, "right", of)
    system = edge.linear()
    e = np.random.default_rng(5).normal(size=system.rows.size)
    y = system.B[:, system.ports["right"]].T @ e
    field = spla.spsolve(edge.mass.tocsc(), y)
    if isinstance(body, ph.Continuum):
        assert field == pytest.approx(e[edge.coordinates], abs=1e-9)
    else:
        rows = body.sides.basis(["right"]).tocsr()[edge.coordinates].indices
        assert field == pytest.approx(e[system.split + rows], abs=1e-9)


def halves(n):
    """A clamped sheet 2 × 1: its left half with forces, its right half with velocities as inputs; and the whole one."""
    left, right = half("left", n), half("right", n)
    whole = ph.Sheet.rectangle(2.0, 1.0, material=stone, cells="triangle", clamped="left").discretise((2 * n, n))
    force, velocity = left.linear(("right",)).prefixed("left"), right.linear(("left",)).prefixed("right")
    nodes = left.mesh.points[left.mesh.node_numbers("right"), 1]
    y = right.sides.space.facet_nodes(right.sides.facets("left"))[:, :, 1].ravel()
    same = (np.abs(nodes[:, None] - y) < 1e-9).astype(float)
    C = np.kron(same, np.eye(2))
    return ph.gyrator(force, "left.right", velocity, "right.left", C), whole


def test_the_two_causalities_join_without_a_multiplier():
    """u₁ = −C y₂, u₂ = Cᵀy₁: the velocity of one side is the input of the other, whose traction comes back."""
    joined, whole = halves(4)
    assert not joined.multipliers.size and joined.passive
    assert ph.modes(joined, 4).omega == pytest.approx(whole.modes(4)[0], rel=5e-3)


@pytest.mark.parametrize("turned", [False, True])
def test_a_tie_joins_the_two_causalities(turned):
    """The same system as by hand; meshes need not match, and the second body may be anywhere."""
    by_hand, whole = halves(4)
    ends = ("right.left", "left.right") if turned else ("left.right", "right.left")
    joined = ph.tie({"left": half("left", 4), "right": half("right", 4)}, [ph.Tie(*ends)])
    assert not joined.multipliers.size and not joined.ports.size
    assert ph.modes(joined, 4).omega == pytest.approx(ph.modes(by_hand, 4).omega, rel=1e-9)
    finer = ph.tie({"left": half("left", 4), "right": half("right", 6)}, [ph.Tie(*ends)])
    assert ph.modes(finer, 4).omega == pytest.approx(whole.modes(4)[0], rel=5e-3)


def test_velocities_agree_where_the_two_causalities_meet():
    """In the first mode, the velocities of both bodies along their common side."""
    joined = ph.tie({"left": half("left", 4), "right": half("right", 4)}, [ph.Tie("left.right", "right.left")])
    first = ph.modes(joined, 1)
    along = {}
    for name in ("left", "right"):
        x, v = joined.fields[name].points, first.shape(0, name)
        on_side = np.abs(x[:, 0] - 1.0) < 1e-9
        order = np.argsort(x[on_side, 1], kind="stable")
        along[name] = np.interp([0.25, 0.5, 0.75], x[on_side, 1][order], v[on_side, 1][order])
    assert along["right"] == pytest.approx(along["left"], rel=0.05)


def test_a_rod_turns_a_sheet_that_takes_velocities():
    """Tied to a rigid body both kinds of sheet have the same frequencies; the velocity one needs no multiplier."""
    rod = ph.RigidBody(mass=0.4, inertia=np.diag([0.03, 0.03, 0.05])).discretise()
    found = []
    for causality in ("force", "velocity"):
        sheet = ph.Sheet.rectangle(
            1.0, 0.5, material=stone, cells="triangle", clamped="left", causality=causality, ports={"end": "right"}
        ).discretise((8, 4))
        with (
            pytest.warns(ph.errors.UnfeltMotionWarning) if causality == "velocity" else nullcontext()
        ):  # out of the plane
            both = ph.tie({"sheet": sheet, "rod": rod}, [ph.Tie("sheet.end", "rod.P", name="weld")])
        assert bool(both.multipliers.size) == (causality == "force")
        found.append(ph.modes(both).elastic[:3])
    assert found[0] == pytest.approx(found[1], rel=1e-3)


def test_a_port_on_the_ground_is_a_clamp():
    options = {"material": stone, "cells": "triangle", "causality": "velocity"}
    sheet = ph.Sheet.rectangle(1.0, 0.5, ports={"end": "left"}, **options).discretise((4, 2))
    clamped = ph.Sheet.rectangle(1.0, 0.5, clamped="left", **options).discretise((4, 2))
    for end in ("sheet.end", "sheet.left"):
        tied = ph.tie({"sheet": sheet if end == "sheet.end" else replace(sheet, ports={})}, [ph.Tie("ground", end)])
        assert not tied.ports.size
        assert ph.modes(tied, 4).omega == pytest.approx(clamped.modes(4)[0], rel=1e-9)


FILE = """
phloat: 1
materials: {soft: {E: 1 MPa, rho: 1000, nu: 0.4}}
bodies:
  sheet:
    sheet:
      {rectangle: {a: 20 cm, b: 10 cm, cells: triangle}, material: soft, clamped: left, causality: velocity, ports: {end: right}}
    cells: [2, 1]
  plate:
    plate:
      rectangle: {a: 20 cm, b: 10 cm}
      thickness: 2 mm
      material: soft
      supported: left
      causality: velocity
      ports: {end: right}
    cells: [2, 1]
joints:
  wall: {tie: [plate.end, ground]}
modes: {count: 4}
"""


def test_small_motions_of_a_file_are_those_of_python(tmp_path):
    model = ph.io.parse_model(FILE)
    options = {"material": ph.Material(1e6, 1000.0, 0.4), "causality": "velocity", "ports": {"end": "right"}}
    sheet = ph.Sheet.rectangle(0.2, 0.1, cells="triangle", clamped="left", **options).discretise((2, 1))
    plate = ph.Plate.rectangle(0.2, 0.1, thickness=2e-3, supported="left", **options).discretise((2, 1))
    twin = ph.tie({"sheet": sheet, "plate": plate}, [ph.Tie("plate.end", "ground", name="wall")])
    for name in ("E", "J", "B"):
        assert abs(getattr(model.system, name) - getattr(twin, name)).max() <= 1e-14 * abs(getattr(twin, name)).max()
    ph.io.save_model(model, tmp_path / "model.yaml")
    again = ph.io.load_model(tmp_path / "model.yaml").system
    assert again.ports == twin.ports and abs(again.J - twin.J).max() == pytest.approx(
        0.0, abs=1e-14 * abs(twin.J).max()
    )
