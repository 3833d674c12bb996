"""Bodies from matrices against the same bodies made in other ways."""

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
from matrices_zoo import beam, box

import phloat as ph
from phloat.algebra.cross import skew
from phloat.bodies.solids.solid import Solid
from phloat.bodies.superelements.superelement import Superelement

ALU = ph.Material(E=70e9, rho=2700.0, nu=0.3)


def exported(body) -> dict:
    """What another code would write of a solid: matrices, nodes, and what every row is."""
    entries = body.shape.displacement(body.shape.places()).tocoo()
    dofs = np.zeros((body.coordinates, 2), dtype=int)
    dofs[entries.col] = np.column_stack([entries.row // 3, entries.row % 3 + 1])
    on = {port: np.unique(dofs[body.on(side), 0]) for port, side in body.ports.items()}
    return {"M": body.M, "K": body.K, "nodes": body.shape.places(), "interfaces": on, "dofs": dofs}


def swing(body: ph.Body) -> np.ndarray:
    """A far corner of a body that falls from a hinge at A, in space."""
    system = ph.connect({"b": body}, joints=[ph.Revolute("ground", "b.A", axis=(0, 1, 0))], gravity=(0, 0, -9.81))
    result = ph.simulate(system, ph.place(system), t_end=0.2, dt=1e-3)
    return result.position("b", at=(1.0, 0.1, 0.02))


@pytest.mark.parametrize("order", [1, 2])
def test_a_solid_and_the_superelement_of_its_matrices_move_alike(order):
    solid = Solid.box(
        1.0, 0.1, 0.02, material=ALU, ports={"A": "left", "B": "right"}, frame="left", stiffening=False
    ).discretise((6, 1, 1), order=order)
    given = exported(solid)
    recipe = Superelement.from_matrices(**given, modes=4)
    one, other = solid.reduced(modes=4), recipe.discretise()
    assert recipe.nodal.kind == "consistent" and one.coordinates == other.coordinates
    np.testing.assert_allclose(ph.modes(other.linear()).elastic, ph.modes(one.linear()).elastic, rtol=1e-8)
    np.testing.assert_allclose(swing(other), swing(one), rtol=0, atol=1e-9)


def test_the_ten_lowest_frequencies_are_those_of_the_full_matrices():
    body = box((12, 4, 3))
    recipe = Superelement.from_matrices(body.M, body.K, body.nodes, {"A": body.on(0.0), "B": body.on(1.0)}, modes=20)
    found = recipe.report(recipe.discretise())
    assert found.free.shape == found.held.shape == (10, 2)
    assert found.worst < 1e-3
    # the same ten with the ends held, from the dense matrices
    held = np.setdiff1d(np.arange(len(body.nodes)), body.on(0.0) + body.on(1.0))
    rows = (3 * held[:, None] + np.arange(3)).ravel()
    K, M = (a[rows][:, rows].toarray() for a in (body.K, body.M))
    np.testing.assert_allclose(found.held[:, 0] ** 2, la.eigh(K, M, eigvals_only=True)[:10], rtol=1e-8)


def test_with_averaged_ends_the_frequencies_are_those_of_the_free_matrices():
    body = box((8, 3, 2))
    ends = {"A": body.on(0.0), "B": body.on(1.0)}
    recipe = Superelement.from_matrices(body.M, body.K, body.nodes, ends, modes=20, mean=("A", "B"))
    found = recipe.report(recipe.discretise())
    full = np.sqrt(la.eigh(body.K.toarray(), body.M.toarray(), eigvals_only=True)[6:16])
    np.testing.assert_allclose(found.free[:, 0], full, rtol=1e-8)
    assert found.worst < 1e-3


def test_a_box_weighs_what_its_material_says():
    body = box((4, 3, 2), lengths=(1.0, 0.3, 0.2))
    recipe = Superelement.from_matrices(body.M, body.K, body.nodes, {"A": body.on(0.0)}, modes=5)
    found = recipe.report(recipe.discretise())
    assert found.mass == pytest.approx(2700 * 0.06, rel=1e-12)
    np.testing.assert_allclose(found.centre, [0.5, 0, 0], atol=1e-12)
    sides = np.array([1.0, 0.3, 0.2]) ** 2
    np.testing.assert_allclose(found.inertia, np.diag(162 / 12 * (sides.sum() - sides)), atol=1e-9)
    assert found.mass_defect < 1e-10 and found.rigid_forces.max() < 1e-14
    assert "mass 162 kg" in str(found) and "masses at nodes: consistent" in str(found)


def test_beam_elements_of_textbooks_give_the_beam_of_this_library():
    given = beam(8, A=2e-4, I_y=2e-9, I_z=6e-9, J=5e-9, E=70e9, G=26e9)
    recipe = Superelement.from_matrices(given.M, given.K, given.nodes, {"P": [0], "C": [8]}, modes=16)
    section = ph.Section(A=2e-4, I=6e-9, I_y=2e-9, J=5e-9)
    other = ph.Beam(1.0, section, ph.Material(E=70e9, rho=2700.0, nu=70 / 52 - 1)).discretise(8)
    body = recipe.discretise()
    assert recipe.nodal.kind == "lumped"
    omega, expected = ph.modes(body.linear()).elastic, ph.modes(other.linear()).elastic
    np.testing.assert_allclose(omega[:10], expected[:10], rtol=1e-4)

    def in_hinges(b: ph.Body) -> np.ndarray:
        hinge = ph.Revolute("ground", "b.P", axis=(0, 0, 1))
        system = ph.connect({"b": b}, joints=[hinge, ph.Spherical("ground", "b.C", at=(1, 0, 0))])
        return ph.modes(ph.linearise(system, ph.place(system))).elastic

    np.testing.assert_allclose(in_hinges(body)[:6], in_hinges(other)[:6], rtol=1e-4)


@pytest.mark.parametrize("frame", ["P", "C", "mean axes"])
def test_at_rest_the_mass_matrix_is_that_of_the_given_matrix_however_mass_is_lumped(frame):
    given = beam(6)
    M, m, arm = given.M.tolil(), 0.3, skew(np.array([0.01, 0.05, -0.02]))
    M[18:24, 18:24] += m * np.block([[np.eye(3), -arm], [arm, -arm @ arm]])  # a mass off its node
    recipe = Superelement.from_matrices(M.tocsr(), given.K, given.nodes, {"P": [0], "C": [6]}, modes=4, frame=frame)
    body = recipe.discretise()
    V = np.hstack([recipe.rigid, body.shape.fields.V])
    np.testing.assert_allclose(
        body.inertia.at_rest().toarray(), V.T @ (M @ V), rtol=0, atol=1e-11 * np.abs(V.T @ (M @ V)).max()
    )


def test_lumped_masses_leave_less_unexplained_the_finer_the_mesh():
    left = []
    for n in (1, 2, 4):
        given = box((4 * n, n, n), lengths=(1.0, 0.1, 0.08))
        lumps = np.asarray(given.M[::3, ::3].sum(axis=1)).ravel()
        at_ends = {"A": given.on(0.0), "B": given.on(1.0)}
        recipe = Superelement.from_matrices(given.M, given.K, given.nodes, at_ends, modes=4, masses=lumps)
        found = recipe.report(recipe.discretise(), 2)
        assert found.masses == "given"
        left.append(found.mass_defect)
    rate = np.log2(np.array(left[:-1]) / left[1:])
    assert left[-1] < 0.05
    np.testing.assert_allclose(rate, 2.0, atol=0.3)


def test_a_damping_matrix_damps_like_its_proportional_twin():
    body = box((4, 2, 2))
    end = {"A": body.on(0.0)}
    one = Superelement.from_matrices(body.M, body.K, body.nodes, end, modes=4, damping=ph.Rayleigh(stiffness=1e-5))
    other = Superelement.from_matrices(body.M, body.K, body.nodes, end, modes=4, R=1e-5 * body.K)
    poles = [ph.modes(b.discretise().linear()).poles for b in (one, other)]
    np.testing.assert_allclose(poles[0], poles[1], rtol=1e-9, atol=1e-6)
    assert (poles[0].real[6:] < 0).all()


def test_modes_of_an_earlier_reduction_come_in_as_scalars():
    body = box((6, 2, 2))
    whole = Superelement.from_matrices(body.M, body.K, body.nodes, {"A": body.on(0.0), "B": body.on(1.0)}, modes=12)
    first = whole.discretise()
    # condensed to two nodes of six unknowns each and the remaining coordinates as scalars, as DMIG of a superelement holds them
    n = 6 + first.coordinates
    motion = np.vstack([first.ports[p].twist(np.zeros(n - 6)) for p in "AB"])
    rest = la.null_space(motion)
    T = np.linalg.inv(np.vstack([motion, rest.T]))  # (motions of A and B, scalars) → (v_P, ω, η̇)
    M = T.T @ first.inertia.at_rest() @ T
    K = T[6:].T @ first.elastic.K @ T[6:]
    nodes = np.array([first.ports[p].x for p in "AB"])
    dofs = [(i, c) for i in (0, 1) for c in range(1, 7)] + [(0, 0)] * (n - 12)
    again = Superelement.from_matrices(
        (M + M.T) / 2, (K + K.T) / 2, nodes, {"A": [0], "B": [1]}, dofs=dofs, modes=12, frame="A"
    )
    second = again.discretise()
    omega = [ph.modes(b.linear()).elastic[:8] for b in (first, second)]
    np.testing.assert_allclose(omega[1], omega[0], rtol=1e-4)
    assert sp.issparse(again.M)


def test_a_body_with_lumped_masses_keeps_its_energy_and_swings_like_the_beam():
    given = beam(8)
    recipe = Superelement.from_matrices(given.M, given.K, given.nodes, {"A": [0], "B": [8]}, modes=4)
    section = ph.Section(A=2e-4, I=6e-9, I_y=2e-9, J=5e-9)
    other = ph.Beam(1.0, section, ph.Material(E=70e9, rho=2700.0, nu=70 / 52 - 1), ports={"A": 0.0}, stiffening=False)
    tips = []
    for body in (recipe.discretise(), other.discretise(8)):
        system = ph.connect({"b": body}, joints=[ph.Revolute("ground", "b.A", axis=(0, 1, 0))], gravity=(0, 0, -9.81))
        result = ph.simulate(system, ph.place(system), t_end=0.4, dt=1e-3)
        assert np.ptp(result.energy) < 1e-8
        tips.append(result.position("b", at=(1.0, 0.0, 0.0)))
    np.testing.assert_allclose(tips[0], tips[1], atol=1e-5)
    assert tips[0][-1, 2] < -0.5
