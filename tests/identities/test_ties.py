"""Ties preserve power: their adjoints give total force and torque, whatever the meshes."""

import warnings

import numpy as np
import pytest
from messages import warns
from ties_zoo import alu, plate, rod, soft

import phloat as ph


def connected(bodies: dict, joints: list) -> ph.LinearPHDAE:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.errors.UnfeltMotionWarning)
        return ph.tie(bodies, joints)


def tied(body: ph.Continuum, **options) -> ph.LinearPHDAE:
    return connected({"body": body, "rod": rod()}, [ph.Tie("body.right", "rod.P", name="tie", **options)])


BODIES = {
    "bfs": (plate(3), {}),
    "bfs, w only": (plate(3), {"of": "w"}),
    "argyris": (plate(2, "argyris"), {}),
    "morley": (plate(3, "morley"), {"of": "w"}),
    "hhj": (plate(3, "hhj"), {"of": "w"}),
    "solid": (ph.Solid.box(1.0, 0.3, 0.2, material=alu, clamped="left").discretise((2, 2, 1)), {}),
    "sheet": (ph.Sheet.rectangle(1.0, 0.5, material=alu, clamped="left").discretise((3, 2)), {}),
}


@pytest.fixture(params=BODIES)
def tie(request) -> tuple[ph.LinearPHDAE, ph.Continuum]:
    body, options = BODIES[request.param]
    return tied(body, **options), body


def test_a_tie_takes_no_power(tie):
    """What it does to the one it takes from the other: λᵀG e = 0 for every motion that it allows."""
    system, _ = tie
    random = np.random.default_rng(0)
    allowed = ph.eliminate(system)
    assert allowed.rows.size == system.rows.size - system.multipliers.size
    Z = np.linalg.svd(system.G.toarray())[2][system.multipliers.size :].T
    lam, e = random.normal(size=system.multipliers.size), Z @ random.normal(size=Z.shape[1])
    forces = system.G.T @ lam
    assert abs(forces @ e) < 1e-12 * np.linalg.norm(forces) * np.linalg.norm(e)
    assert max(ph.structure_defects(system).values()) < 1e-12


def test_the_rod_feels_the_total_force_and_torque(tie):
    """The adjoint of W: what the multipliers do to the rod is the resultant of what they do to the body, with the other sign."""
    system, body = tie
    trace = body.trace("right")
    at = trace.weight @ trace.x / trace.weight.sum()
    lam = np.random.default_rng(1).normal(size=system.multipliers.size)
    forces = system.G.T @ lam
    about = body.rigid.T @ forces[system.rows["body.v"]]  # resultant and moment about the origin
    wrench = np.concatenate([about[:3], about[3:] - np.cross(at, about[:3])])
    on_rod = np.zeros(6)
    names = [name for name in ("rod.v_P", "rod.omega") if name in system.rows]
    kept = {(1, 1): [2, 3], (3, 3): range(6), (2, 1): [0, 1, 5], (1, 2): [2, 3, 4]}
    on_rod[list(kept[tuple(system.rows.shape(name)[0] for name in names)])] = forces[system.rows.indices(names)]
    felt = on_rod != 0.0
    np.testing.assert_allclose(on_rod[felt], -wrench[felt], rtol=1e-9, atol=1e-9 * np.abs(forces).max())


def test_the_boundary_moves_as_the_rod_does(tie):
    system, body = tie
    Z = np.linalg.svd(system.G.toarray())[2][system.multipliers.size :].T
    e = Z @ np.random.default_rng(2).normal(size=Z.shape[1])
    trace = body.trace("right")
    q = e[system.rows["body.v"]]
    w = np.column_stack([u @ q for u in trace.u])
    moving = [a for a in range(3) if trace.u[a].nnz]
    arm = np.column_stack([np.ones(len(trace.x)), trace.x - trace.x.mean(axis=0)])
    for a in moving:  # as a rigid body: linear in place
        rest = w[:, a] - arm @ np.linalg.lstsq(arm, w[:, a], rcond=None)[0]
        assert np.abs(rest).max() < 1e-9 * np.abs(q).max()


def test_the_order_of_the_ends_is_a_matter_of_sign():
    body = plate(3)
    one = connected({"a": body, "b": rod()}, [ph.Tie("a.right", "b.P", name="tie")])
    other = connected({"a": body, "b": rod()}, [ph.Tie("b.P", "a.right", name="tie")])
    assert abs(one.G + other.G).max() == 0.0


def test_a_boundary_tied_to_the_ground_is_a_held_one():
    free, held = plate(4, clamped=None), plate(4)
    system = ph.tie({"p": free}, [ph.Tie("p.left", "ground")])
    np.testing.assert_allclose(ph.modes(system)[:4], ph.modes(held.linear())[:4], rtol=1e-8)


def test_a_held_corner_holds_the_rod():
    """Tied along the top, whose left corner is clamped: the rod can neither lift nor turn there."""
    system = connected({"p": plate(3), "rod": rod()}, [ph.Tie("p.top", "rod.P", of="w")])
    plant = ph.eliminate(system)
    Z = np.linalg.svd(system.G.toarray())[2][system.multipliers.size :].T
    v, omega = Z[system.rows["rod.v_P"]], Z[system.rows["rod.omega"]]
    assert np.abs(v).max() < 1e-12 and np.abs(omega).max() < 1e-12  # clamped: the slope along the side vanishes too
    assert ph.modes(plant).rigid == 0


def test_ties_that_repeat_each_other_are_left_out_with_a_note():
    body = plate(3, clamped=None)
    ties = [ph.Tie("p.right", "rod.P", of="w", name="one"), ph.Tie("p.right", "rod.P", of="w", name="again")]
    with warns(ph.errors.RedundancyWarning, "'one'", "'again'"):
        system = connected({"p": body, "rod": rod()}, ties)
    once = connected({"p": body, "rod": rod()}, ties[:1])
    assert system.multipliers.size == once.multipliers.size
    np.testing.assert_allclose(ph.modes(system).elastic[:3], ph.modes(once).elastic[:3], rtol=1e-9)


def test_linear_systems_nest_and_ports_take_forces():
    """A linear system is a part like others, its port tied to another; a Force is one input more, and makes its motion felt."""
    panel = ph.Plate.rectangle(1.0, 0.8, thickness=0.02, material=alu, ports={"tip": ph.Mean("right")}, clamped="left")
    inner = ph.tie({"p": panel.discretise(3)}, [ph.Pressure("p", 1.0, name="push")])
    tie = ph.Tie("panel.p.tip", "hub.P", of="w", name="tie")
    lift, pull = (
        ph.Force("hub.P", along=along, name=name) for along, name in (((0, 0, 1), "lift"), ((1, 0, 0), "pull"))
    )
    both = connected({"panel": inner, "hub": rod()}, [tie, lift, pull])
    assert "panel.p.v" in both.rows and "panel.push" in both.ports and both.multipliers.shape("tie") == (1,)
    columns = both.B[:, both.ports.indices(["lift", "pull"])].toarray()
    np.testing.assert_array_equal(columns[both.rows["hub.v_P"]], [[0, 1], [1, 0]])  # of v_x, v_z: v_y feels nothing
    assert "hub.omega" not in both.rows
    tip = both.B[:, both.ports["panel.p.tip"]].toarray()[:, 2]
    np.testing.assert_allclose(both.G.toarray()[0], columns[:, 0] - tip, atol=1e-15)


def test_a_boundary_port_gives_all_its_coordinates():
    body = ph.Solid.box(1.0, 0.5, 0.3, material=soft, clamped="left", ports={"tip": "right"}).discretise((2, 2, 1))
    system = body.linear(boundary=("top",))
    assert tuple(system.ports) == ("tip", "top")
    e = np.random.default_rng(0).normal(size=system.rows.size)
    np.testing.assert_array_equal((system.B.T @ e)[system.ports["top"]], e[body.on("top")])
    tip = (system.B.T @ np.concatenate([body.rigid[:, 1], np.zeros(system.rows.size - system.split)]))[
        system.ports["tip"]
    ]
    np.testing.assert_allclose(tip, [0, 1, 0, 0, 0, 0], atol=1e-11)


def test_what_pushes_does_the_work_of_its_field():
    """∫ f·v over the plate, over a side."""
    body = plate(4, clamped=None)
    push, pull = ph.Pressure("p", lambda x, y: x * y, name="push"), ph.Traction("p.right", (0.0, 0.0, 3.0), name="pull")
    system = ph.tie({"p": body}, [push, pull])
    work = system.B[system.rows["p.v"]].T @ body.rigid[:, 2]  # on a unit translation along z
    np.testing.assert_allclose(work, [0.5 * 0.32, 3.0 * 0.8], rtol=1e-12)
    turn = system.B[system.rows["p.v"]].T @ body.rigid[:, 3]  # about x: v_z = y
    np.testing.assert_allclose(turn, [0.5 * 0.8**3 / 3, 3.0 * 0.32], rtol=1e-12)
