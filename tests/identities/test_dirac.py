"""Dirac structures: dimension, balance of power, motion inside them, and composition over shared ports."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from bodies_zoo import beam, bodies, random_state, systems
from messages import raises

import phloat as ph
from phloat.joints.port_state import section_axes

SYSTEMS = systems()


def link(name, joints=(), plane="xy"):
    """A system of one damped beam."""
    return ph.connect({name: bodies()["damped beam"]}, list(joints), plane=plane)


def chain(count, plane="xy", kind=ph.Revolute):
    """Damped beams "a", "b" … on hinges "ab", "bc" …, which do not hang on the ground."""
    names = "abcd"[:count]
    joints = [kind(f"{one}.C", f"{two}.P", name=one + two) for one, two in pairwise(names)]
    return ph.connect({name: bodies()["damped beam"] for name in names}, joints, plane=plane)


def alone(system, state, name, ports):
    """The Dirac structure of one body of a system, without any joint."""
    single = ph.connect({name: system.bodies[name].recipe.discretise(2)}, plane=system.plane)
    own = {q: state[q] for q in single.layout}
    return ph.dirac_structure(single, ph.place(single).with_values(own), [f"{name}.{port}" for port in ports])


def joint(system, state, first, second):
    """(41) as a Dirac structure: λ in inertial axes acts on the second port and −λ on the first, in the axes of their sections."""
    n = 2 if system.plane else 3
    maps = []
    for port, sign in ((first, -1.0), (second, 1.0)):
        body, _, end = port.partition(".")
        psi = system.bodies[body].ports[end].Psi @ state[f"{body}.eta"]
        A = (state.pose(body).A @ section_axes(psi))[:n, :n]
        maps.append(sign * np.hstack([A, np.zeros((n, 1 if n == 2 else 3))]))  # moments pass through no hinge
    T = np.hstack(maps)
    size = T.shape[1]
    K = np.block([[np.zeros((size, size + n))], [T, np.eye(n)]])
    L = np.block([[np.eye(size), -T.T], [np.zeros((n, size + n))]])
    lam = f"{first[0]}{second[0]}.lam"
    shapes = {first: (size // 2,), second: (size // 2,), lam: (n,)}
    return ph.types.DiracStructure(
        K, L, ph.Layout(shapes, "port"), dict.fromkeys(shapes, "external") | {lam: "constraint"}
    )


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_dimension_is_the_number_of_pairs_and_power_is_conserved(name):
    D = ph.dirac_structure(SYSTEMS[name], random_state(SYSTEMS[name], 0))
    assert D.dimension == D.ports.size and D.power_defect < 1e-14
    v = np.random.default_rng(0).normal(size=D.ports.size)
    f, e = D.L.T @ v, D.K.T @ v  # the image of D
    assert np.abs(D.K @ f + D.L @ e).max() < 1e-12 * (abs(D.L) @ np.abs(v)).max()
    assert abs(e @ f) < 1e-13 * (np.abs(e) @ np.abs(f))


@pytest.mark.parametrize("plane", ["xy", None])
def test_motion_lies_in_it_and_its_pairs_have_the_powers_of_the_balance(plane):
    """−E ė, z, −R z, λ, u and y of a driven and pushed chain are flows and efforts in D."""
    system = ph.drive(chain(3, plane), "ab")
    state = random_state(system, 1, consistent=True)
    t = ph.terms(system, state)
    u = np.random.default_rng(2).normal(size=t.ports.size)
    z = t.z + np.linalg.lstsq(t.G.toarray(), t.B_lam @ u - t.G @ t.z, rcond=None)[0]  # as the joints and the drive ask
    lam = np.random.default_rng(3).normal(size=t.multipliers.size)
    f_S = -((t.J - t.R) @ z + t.G.T @ lam + t.B @ u)
    y = t.B.T @ z + t.B_lam.T @ lam
    D = ph.dirac_structure(system, state)
    f, e = np.zeros(D.ports.size), np.zeros(D.ports.size)
    force = -t.R @ z
    for name in D.ports:
        own, end = D.ports[name], name.rpartition(".")[0]
        if D.kinds[name] == "storage":
            f[own], e[own] = f_S[t.rows[name]], z[t.rows[name]]
        elif D.kinds[name] == "resistive":
            f[own], e[own] = z[t.rows[end]], force[t.rows[end]]
        elif D.kinds[name] == "constraint":
            f[own], e[own] = 0.0, lam[t.multipliers[end]]
        else:
            both = (y[t.ports[name]], u[t.ports[name]])
            f[own], e[own] = both[::-1] if name == "ab" else both
    assert np.abs(D.K @ f + D.L @ e).max() < 1e-12 * max(np.abs(f).max(), np.abs(e).max())
    power = {
        kind: sum(e[D.ports[p]] @ f[D.ports[p]] for p in D.ports if D.kinds[p] == kind)
        for kind in set(D.kinds.values())
    }
    assert power["external"] == pytest.approx(u @ y, rel=1e-12) and power["constraint"] == 0.0
    assert power["resistive"] == pytest.approx(-z @ (t.R @ z), rel=1e-12)
    assert abs(sum(power.values())) < 1e-11 * sum(map(abs, power.values()))


@pytest.mark.parametrize(("plane", "kind"), [("xy", ph.Revolute), (None, ph.Spherical)])
def test_bodies_composed_through_a_joint_are_the_connected_system(plane, kind):
    system = chain(2, plane, kind)
    state = random_state(system, 3)
    parts = [alone(system, state, "a", "PC"), joint(system, state, "a.C", "b.P"), alone(system, state, "b", "PC")]
    whole = ph.dirac_structure(system, state, ["a.P", "b.C"])
    composed = parts[0].composed(parts[1]).composed(parts[2])
    assert composed.dimension == whole.ports.size and composed.power_defect < 1e-13
    assert composed.angle(whole) < 1e-12
    assert composed.closed().angle(whole.closed()) < 1e-12
    turned = random_state(system, 4)
    assert composed.angle(ph.dirac_structure(system, turned, ["a.P", "b.C"])) > 1e-3


def test_composition_is_associative():
    system = chain(3)
    state = random_state(system, 5)
    a, b, c = (alone(system, state, name, "PC") for name in "abc")
    ab, bc = (joint(system, state, f"{one}.C", f"{two}.P") for one, two in ("ab", "bc"))
    left = a.composed(ab).composed(b).composed(bc).composed(c)
    right = a.composed(ab.composed(b.composed(bc.composed(c))))
    assert left.angle(right) < 1e-12
    assert left.angle(ph.dirac_structure(system, state, ["a.P", "c.C"])) < 1e-12
    assert a.composed(ab).angle(ab.composed(a)) < 1e-12


def test_linear_systems_joined_by_a_transformer_are_composed():
    """u₁ = −C u₂, y₂ = Cᵀ y₁ (5.1), with λ = u₂ eliminated."""
    rod = beam().discretise(2).linear()
    a, b = rod.prefixed("a").with_ports("a.C", "a.P"), rod.prefixed("b").with_ports("b.P", "b.C")
    C = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0] + 0.3
    eye, zero = np.eye(6), np.zeros((6, 6))
    ports = ph.Layout({"a.C": (6,), "b.P": (6,)}, "port")
    K, L = np.block([[zero, zero], [C.T, -eye]]), np.block([[eye, C], [zero, zero]])
    meeting = ph.types.DiracStructure(K, L, ports, dict.fromkeys(ports, "external"))
    composed = ph.dirac_structure(a).composed(meeting).composed(ph.dirac_structure(b))
    whole = ph.dirac_structure(ph.transformer(a, "a.C", b, "b.P", C)).closed()
    assert composed.angle(whole) < 1e-12


@pytest.mark.parametrize("size", [1.0, 1e-9])
def test_one_wrong_sign_is_found(size):
    system = chain(2)
    D = ph.dirac_structure(system, random_state(system, 0))
    column = D.ports["a.v_P"].start
    row = D.ports["a.omega"].start
    L = D.L.tolil()
    L[row, column], L[column, row] = size, -size
    replace(D, L=L.tocsr())
    L[row, column] = size * -1.0
    with raises(ph.errors.StructureError, "power"):
        replace(D, L=L.tocsr())


def test_a_dependent_row_is_found():
    system = link("a")
    D = ph.dirac_structure(system, random_state(system, 0))
    weight = sp.eye_array(D.ports.size).tolil()
    weight[0, 0], weight[0, 1] = 0.0, 1.0
    with raises(ph.errors.StructureError, "dimension"):
        replace(D, K=weight.tocsr() @ D.K, L=weight.tocsr() @ D.L)


def test_wrong_input_is_answered():
    system = chain(2)
    state = random_state(system, 0)
    D = ph.dirac_structure(system, state)
    with raises(ph.errors.InputError, "state"):
        ph.dirac_structure(system)
    with raises(ph.errors.InputError, "linear"):
        ph.dirac_structure(beam().discretise(1).linear(), state)
    with raises(ph.errors.PortError, "tip"):
        ph.dirac_structure(system, state, ["tip"])
    with raises(ph.errors.PortError, "none"):
        D.composed(ph.dirac_structure(beam().discretise(1).linear()))
    with raises(ph.errors.PortError, "ab"):
        D.angle(D.closed())
    with raises(ph.errors.StructureError, "square"):
        replace(D, K=np.eye(3))
    with raises(ph.errors.StructureError, "inner"):
        replace(D, kinds=dict.fromkeys(D.ports, "inner"))


def test_two_parts_that_both_give_a_flow_share_it_once():
    """Two driven ends on one shaft: the flow is zero from both sides, the composition has one row less and is still Dirac."""
    shaft = ph.Layout({"shaft": (1,)}, "port")
    rest = ph.Layout({"shaft": (1,), "other": (1,)}, "port")
    held = ph.types.DiracStructure(np.eye(1), np.zeros((1, 1)), shaft, {"shaft": "external"})
    both = ph.types.DiracStructure(np.eye(2), np.zeros((2, 2)), rest, dict.fromkeys(rest, "external"))
    D = held.composed(both)
    assert D.dimension == 1 and D.K.toarray() == [[1.0]]


def test_units_and_the_order_of_pairs_change_nothing():
    """Flows in units of 10⁻⁶ … 10⁶ and efforts in their reciprocals: the same dimension, power and composition."""
    system = chain(2)
    state = random_state(system, 6)
    parts = [alone(system, state, "a", "PC"), joint(system, state, "a.C", "b.P"), alone(system, state, "b", "PC")]
    names = dict.fromkeys(name for part in parts for name in part.ports)
    unit = dict(zip(names, 10.0 ** np.random.default_rng(0).uniform(-6, 6, len(names)), strict=True))

    def measured(D):
        """D in other units, its pairs in reverse order."""
        layout = D.ports.only(reversed(list(D.ports)))
        scale = np.concatenate([np.full(layout[name].stop - layout[name].start, unit[name]) for name in layout])
        order = D.ports.indices(layout)
        return replace(D, K=D.K[:, order] * scale, L=D.L[:, order] * (1.0 / scale), ports=layout)

    a, ab, b = map(measured, parts)
    D = a.composed(ab).composed(b)
    assert D.dimension == D.ports.size and D.power_defect < 1e-12
    whole = parts[0].composed(parts[1]).composed(parts[2])
    inverse = {name: 1.0 / u for name, u in unit.items()}
    unit.update(inverse)
    assert measured(D).angle(whole) < 1e-9


@pytest.mark.parametrize("plane", ["xy", None])
def test_joints_that_repeat_each_other_close_to_a_dirac_structure(plane):
    """Two hinges in one place: λ is not unique, the structure without λ is, and it is that of one hinge."""
    once = chain(2, plane)
    twice = ph.connect(once.bodies, [ph.Revolute("a.C", "b.P", name=name) for name in ("ab", "again")], plane=plane)
    state = random_state(once, 7, consistent=True)
    ports = ["a.P", "b.C"]
    one, two = (ph.dirac_structure(system, state, ports) for system in (once, twice))
    assert two.dimension - one.dimension == twice.multipliers.size - once.multipliers.size > 0
    assert two.closed().angle(one.closed()) < 1e-12


def test_a_feedthrough_is_in_the_structure_and_its_loss_is_not():
    """y = (B + P)ᵀe + (S + N) u: N belongs to the structure, and −P u, −Pᵀe − S u are efforts of resistive pairs."""
    rng = np.random.default_rng(4)
    A, root = rng.standard_normal((2, 3, 3)), rng.standard_normal((5, 5))
    W = root @ root.T
    layouts = {"rows": ph.Layout({"v": (2,), "s": (1,)}), "ports": ph.Layout({"a": (1,), "b": (1,)})}
    matrices = {"R": W[:3, :3], "P": W[:3, 3:], "S": W[3:, 3:], "N": [[0.0, 0.7], [-0.7, 0.0]]}
    system = ph.LinearPHDAE(E=A[0] @ A[0].T, J=A[1] - A[1].T, B=rng.standard_normal((3, 2)), **matrices, **layouts)
    D = ph.dirac_structure(system)
    assert D.ports.names == ("v", "s", "v.R", "s.R", "a.R", "b.R", "a", "b") and D.dimension == D.ports.size == 10
    e, u = rng.standard_normal(3), rng.standard_normal(2)
    E_e_dot = (system.J - system.R) @ e + (system.B - system.P) @ u
    flow = np.concatenate([-E_e_dot, e, u, system.output(e, np.zeros(0), u)])
    effort = np.concatenate([e, -(system.R @ e + system.P @ u), -(system.P.T @ e + system.S @ u), u])
    np.testing.assert_allclose(D.K @ flow + D.L @ effort, 0.0, atol=1e-13)
    assert abs(flow @ effort) < 1e-12 and D.power_defect < 1e-14
