"""Matrices, nodes and interfaces that do not make a body, and what is said of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from matrices_zoo import beam, box
from messages import raises

import phloat as ph
from phloat.bodies.superelements.superelement import Superelement

BODY = box((3, 2, 2))
ENDS = {"A": BODY.on(0.0), "B": BODY.on(1.0)}
N = len(BODY.nodes)


def made(M=BODY.M, K=BODY.K, nodes=BODY.nodes, interfaces=ENDS, **options) -> ph.Body:
    return Superelement.from_matrices(M, K, nodes, interfaces, modes=3, **options).discretise()


def changed(a: sp.csr_array, entries: dict) -> sp.csr_array:
    out = a.tolil()
    for (i, j), value in entries.items():
        out[i, j] += value
    return out.tocsr()


BIG = float(abs(BODY.K).max())


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"M": BODY.M[:-3, :-3]}, str(3 * N - 3)),
        ({"M": BODY.M[:-3]}, "M"),
        ({"M": "abc"}, "abc"),
        ({"M": None}, "M"),
        ({"M": changed(BODY.M, {(0, 0): np.nan})}, "M"),
        (
            {"nodes": BODY.nodes[:-1]},
            str(N - 1),
        ),
        ({"nodes": BODY.nodes[:, :2]}, "nodes"),
        ({"K": changed(BODY.K, {(0, 1): 1e-3 * BIG})}, "1.0e-03"),
        ({"K": sp.triu(BODY.K)}, "K"),
        ({"M": -BODY.M}, "M"),
        ({"M": changed(BODY.M, {(0, 3): 1e3, (3, 0): 1e3})}, "M"),
        ({"M": changed(BODY.M, {(3 * k, 3 * k): 1.0 for k in range(N)})}, "kg"),
        ({"M": BODY.M.toarray() * 0}, "M"),
        ({"dofs": [(0, 1)]}, "dofs"),
        ({"dofs": [(k // 3, 1) for k in range(3 * N)]}, "dofs"),
        ({"dofs": [(k // 3, k % 3 + 5) for k in range(3 * N)]}, "dofs"),
        ({"interfaces": {"A": [0, 1, N]}}, "'A'"),
        ({"interfaces": {"A": []}}, "'A'"),
        ({"interfaces": {"A.b": [0]}}, "'A.b'"),
        ({"interfaces": [0, 1]}, "interfaces"),
        ({"interfaces": {"A": [0]}}, "'A'"),
        ({"interfaces": {"A": ENDS["A"], "B": ENDS["A"]}}, "'B'"),
        ({"frame": "C"}, "'C'"),
        ({"mean": "C"}, "'C'"),
        ({"masses": np.ones(N)}, "masses"),
        ({"masses": np.ones(3)}, "masses"),
        ({"damping": 0.1}, "damping"),
        ({"R": BODY.M}, "R"),
        ({"R": BODY.M[:3, :3]}, "R has"),
    ],
    ids=lambda g: "-".join(g) if isinstance(g, dict) else None,
)
def test_what_does_not_fit_is_said(given, name):
    with raises(ph.errors.InputError, name):
        made(**given)


def test_a_body_held_to_the_ground_is_found_out_with_six_numbers():
    K = changed(BODY.K, {(0, 0): BIG})
    with raises(ph.errors.InputError, "K"):
        made(K=K)


def test_a_body_on_soft_springs_is_found_out_by_its_frequencies():
    K = changed(BODY.K, {(3 * k, 3 * k): 1e-6 * BIG for k in ENDS["A"]})
    with raises(ph.errors.InputError, "K"):
        made(K=K)


@pytest.mark.parametrize(
    "nodes",
    [np.roll(BODY.nodes, 1, axis=0), BODY.nodes * [1, 2, 1], BODY.nodes[:, [1, 0, 2]]],
    ids=["order", "unit", "axes"],
)
def test_coordinates_that_do_not_fit_the_stiffness_are_found_out(nodes):
    with raises(ph.errors.InputError, "nodes", "K"):
        made(nodes=nodes)


def test_rows_in_another_order_are_found_out():
    by_axes = np.arange(3 * N).reshape(N, 3).T.ravel()  # all x, then all y, then all z
    with raises(ph.errors.InputError, "nodes", "dofs"):
        made(M=BODY.M[by_axes][:, by_axes], K=BODY.K[by_axes][:, by_axes])
    dofs = np.column_stack([by_axes // 3, by_axes % 3 + 1])
    assert made(M=BODY.M[by_axes][:, by_axes], K=BODY.K[by_axes][:, by_axes], dofs=dofs).coordinates


def test_a_stiffness_that_is_not_positive_is_refused():
    with raises(ph.errors.InputError):
        made(K=-BODY.K)


def test_small_defects_of_symmetry_are_taken_away():
    body = made(K=changed(BODY.K, {(0, 4): 1e-9 * BIG}))
    np.testing.assert_allclose(ph.modes(body.linear()).elastic, ph.modes(made().linear()).elastic, rtol=1e-6)


def test_an_interface_takes_nodes_with_all_displacements():
    given = beam(2)
    keep = np.setdiff1d(np.arange(18), [1])
    dofs = [(k // 6, k % 6 + 1) for k in keep]
    with raises(ph.errors.InputError, "'A'", "node 0"):
        Superelement.from_matrices(given.M[keep][:, keep], given.K[keep][:, keep], given.nodes, {"A": [0]}, dofs=dofs)


def test_stresses_and_points_between_nodes_are_not_known():
    body = made()
    with raises(ph.errors.InputError):
        body.shape.cauchy(BODY.nodes[:1])
    with raises(ph.errors.InputError, "0.05 m"):
        body.shape.displacement(BODY.nodes[:1] + np.array([0.05, 0, 0]))
    with raises(ph.errors.InputError):
        body.shape.rotation(BODY.nodes[:1].copy())
    assert body.shape.stress(BODY.nodes) == {}


def test_a_report_is_asked_of_the_recipe_that_made_the_body():
    recipe = Superelement.from_matrices(BODY.M, BODY.K, BODY.nodes, ENDS, modes=3)
    with raises(ph.errors.InputError):
        recipe.report(made())
