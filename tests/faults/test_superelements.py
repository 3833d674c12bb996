"""Matrices, nodes and interfaces that do not make a body, and what is said of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from matrices_zoo import beam, box

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
    ("given", "sentence"),
    [
        ({"M": BODY.M[:-3, :-3]}, rf"M has {3 * N - 3} rows and K has {3 * N}; they must be of one body"),
        ({"M": BODY.M[:-3]}, r"M has shape .*; it must be square"),
        ({"M": "abc"}, r"cannot read abc: No such file"),
        ({"M": None}, r"M is NoneType; it must be a matrix of NumPy or SciPy, or a file"),
        ({"M": changed(BODY.M, {(0, 0): np.nan})}, r"M holds NaN or infinity"),
        (
            {"nodes": BODY.nodes[:-1]},
            rf"{3 * N} rows and there are {N - 1} nodes: {3 * N - 3} rows would be displacements",
        ),
        ({"nodes": BODY.nodes[:, :2]}, r"nodes has shape .*; it must be \(nodes, 3\)"),
        ({"K": changed(BODY.K, {(0, 1): 1e-3 * BIG})}, r"K is not symmetric: relative defect 1.0e-03"),
        ({"K": sp.triu(BODY.K)}, r"K holds one triangle only; give the whole matrix"),
        ({"M": -BODY.M}, r"M has -.* on its diagonal \(row .*\); a mass or damping is never negative"),
        (
            {"M": changed(BODY.M, {(0, 3): 1e3, (3, 0): 1e3})},
            r"M is not positive: . of its .* eigenvalues are negative",
        ),
        (
            {"M": changed(BODY.M, {(3 * k, 3 * k): 1.0 for k in range(N)})},
            r"the body weighs .* kg along x, y, z; they must be",
        ),
        ({"M": BODY.M.toarray() * 0}, r"M is zero"),
        ({"dofs": [(0, 1)]}, rf"dofs has shape \(1, 2\); it must be {3 * N} pairs"),
        ({"dofs": [(k // 3, 1) for k in range(3 * N)]}, r"dofs names component 1 of node 0 twice"),
        ({"dofs": [(k // 3, k % 3 + 5) for k in range(3 * N)]}, r"dofs holds \(0, 7\); nodes go from 0 to"),
        ({"interfaces": {"A": [0, 1, N]}}, rf"interface 'A' has node {N}; there are {N}"),
        ({"interfaces": {"A": []}}, r"interface 'A' is \[\]; it must be a list of node numbers"),
        ({"interfaces": {"A.b": [0]}}, r"'A.b' cannot name a port"),
        ({"interfaces": [0, 1]}, r"interfaces is list; it must be a mapping"),
        ({"interfaces": {"A": [0]}}, r"has no rotation of its own: its points lie on a line or at one place"),
        ({"interfaces": {"A": ENDS["A"], "B": ENDS["A"]}}, r"ports 'A' and 'B' share a part of the boundary"),
        ({"frame": "C"}, r"no frame 'C'.*; there are: A, B, mean axes"),
        ({"mean": "C"}, r"no interface 'C'"),
        ({"masses": np.ones(N)}, r"masses add up to .* kg, but the body weighs 162 kg by its matrix M"),
        ({"masses": np.ones(3)}, r"masses has shape \(3,\)"),
        (
            {"damping": 0.1},
            r"damping is 0.1; it must be Rayleigh\(…\), KelvinVoigt\(…\) or ModalDamping\(…\), and a matrix is R=…",
        ),
        ({"R": BODY.M}, r"rigid motions meet damping forces, relatively .*: R is tied to the ground"),
        ({"R": BODY.M[:3, :3]}, rf"R has shape \(3, 3\); it must be {3 * N} × {3 * N}"),
    ],
    ids=lambda g: "-".join(g) if isinstance(g, dict) else None,
)
def test_what_does_not_fit_is_said(given, sentence):
    with pytest.raises(ph.InputError, match=sentence):
        made(**given)


def test_a_body_held_to_the_ground_is_found_out_with_six_numbers():
    K = changed(BODY.K, {(0, 0): BIG})
    with pytest.raises(
        ph.InputError, match=r"along x .*e-0., along y .*, about z .*; K is held to the ground somewhere"
    ):
        made(K=K)


def test_a_body_on_soft_springs_is_found_out_by_its_frequencies():
    K = changed(BODY.K, {(3 * k, 3 * k): 1e-6 * BIG for k in ENDS["A"]})
    with pytest.raises(ph.InputError, match=r"rigid motions store energy: .*along x .* K is held by soft springs"):
        made(K=K)


@pytest.mark.parametrize(
    "nodes",
    [np.roll(BODY.nodes, 1, axis=0), BODY.nodes * [1, 2, 1], BODY.nodes[:, [1, 0, 2]]],
    ids=["order", "unit", "axes"],
)
def test_coordinates_that_do_not_fit_the_stiffness_are_found_out(nodes):
    with pytest.raises(
        ph.InputError, match=r"the coordinates of nodes do not fit K: look at their units and their order"
    ):
        made(nodes=nodes)


def test_rows_in_another_order_are_found_out():
    by_axes = np.arange(3 * N).reshape(N, 3).T.ravel()  # all x, then all y, then all z
    with pytest.raises(ph.InputError, match="its rows are in another order than nodes and dofs say"):
        made(M=BODY.M[by_axes][:, by_axes], K=BODY.K[by_axes][:, by_axes])
    dofs = np.column_stack([by_axes // 3, by_axes % 3 + 1])
    assert made(M=BODY.M[by_axes][:, by_axes], K=BODY.K[by_axes][:, by_axes], dofs=dofs).coordinates


def test_a_stiffness_that_is_not_positive_is_refused():
    with pytest.raises(ph.InputError, match="the stiffness is not positive"):
        made(K=-BODY.K)


def test_small_defects_of_symmetry_are_taken_away():
    body = made(K=changed(BODY.K, {(0, 4): 1e-9 * BIG}))
    np.testing.assert_allclose(ph.modes(body.linear()).elastic, ph.modes(made().linear()).elastic, rtol=1e-6)


def test_an_interface_takes_nodes_with_all_displacements():
    given = beam(2)
    keep = np.setdiff1d(np.arange(18), [1])
    dofs = [(k // 6, k % 6 + 1) for k in keep]
    with pytest.raises(
        ph.InputError, match="hold no displacement along y of node 0; an interface takes nodes with all three"
    ):
        Superelement.from_matrices(given.M[keep][:, keep], given.K[keep][:, keep], given.nodes, {"A": [0]}, dofs=dofs)


def test_stresses_and_points_between_nodes_are_not_known():
    body = made()
    with pytest.raises(ph.InputError, match="matrices know no stresses"):
        body.shape.cauchy(BODY.nodes[:1])
    with pytest.raises(ph.InputError, match=r"known at its nodes only; a point is 0.05 m off the nearest one"):
        body.shape.displacement(BODY.nodes[:1] + np.array([0.05, 0, 0]))
    with pytest.raises(ph.InputError, match="hold no rotations of the nodes asked for"):
        body.shape.rotation(BODY.nodes[:1].copy())
    assert body.shape.stress(BODY.nodes) == {}


def test_a_report_is_asked_of_the_recipe_that_made_the_body():
    recipe = Superelement.from_matrices(BODY.M, BODY.K, BODY.nodes, ENDS, modes=3)
    with pytest.raises(ph.InputError, match=r"not made from this superelement; ask body.recipe.report\(body\)"):
        recipe.report(made())
