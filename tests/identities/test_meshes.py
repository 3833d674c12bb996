"""Meshes fit together: their boundary closes, names survive every copy, and the order of nodes is one order everywhere."""

import numpy as np
import pytest

from phloat.fem import cells
from phloat.fem.mesh import Mesh
from phloat.fem.shapes import box, bracket, disc, link, rectangle, tube

FLAT, SOLID = ("triangle", "quadrilateral"), ("tetrahedron", "hexahedron")
SHAPES = {
    **{f"rectangle {k}": (lambda o, k=k: rectangle(2.0, 3.0, 2, 4, k, o), 6.0, k) for k in FLAT},
    **{f"disc {k}": (lambda o, k=k: disc(2.0, 3, kind=k, order=o), 4 * np.pi, k) for k in FLAT},
    **{f"ring {k}": (lambda o, k=k: disc(2.0, 2, inner=1.0, kind=k, order=o), 3 * np.pi, k) for k in FLAT},
    **{f"box {k}": (lambda o, k=k: box(2.0, 3.0, 1.5, 2, 4, 2, k, o), 9.0, k) for k in SOLID},
    **{f"tube {k}": (lambda o, k=k: tube(3.0, 2.0, 1.0, 2, 2, kind=k, order=o), 9 * np.pi, k) for k in SOLID},
    **{f"bar {k}": (lambda o, k=k: tube(3.0, 2.0, 0.0, 2, 4, kind=k, order=o), 12 * np.pi, k) for k in SOLID},
    **{f"bracket {k}": (lambda o, k=k: bracket(1.0, 2.0, 0.25, 0.5, 1, k, o), 0.6875 * 0.5, k) for k in SOLID},
    **{f"link {k}": (lambda o, k=k: link(5.0, 2.0, 1.0, 0.5, 1, k, o), 10 + np.pi * (1 - 0.5), k) for k in SOLID},
}
WHOLE = ("rectangle", "disc", "ring", "box", "tube", "bar")  # their names cover the boundary


@pytest.fixture(params=[(name, order) for name in SHAPES for order in (1, 2)], ids=lambda p: f"{p[0]} order {p[1]}")
def shape(request):
    name, order = request.param
    make, volume, kind = SHAPES[name]
    return name, order, make(order), volume, kind


def flux(mesh: Mesh, name: str) -> tuple[np.ndarray, float]:
    """∫ n dA and ∫ x·n dA over a boundary, from its nodes, middles included."""
    kind = cells.FACET[mesh.kind]
    xi, weight = (np.array([[0.5]]), np.ones(1)) if (kind, mesh.order) == ("line", 1) else cells.rule(kind, 5)
    x = mesh.points[mesh.facet_nodes(name)]
    at = np.einsum("qn,fnd->qfd", cells.shape_values(kind, mesh.order, xi), x)
    along = np.einsum("qan,fnd->qafd", cells.shape_slopes(kind, mesh.order, xi), x)
    other = along[:, 1] if mesh.dimension == 3 else np.broadcast_to([0.0, 0.0, 1.0], along[:, 0].shape)
    normal = np.cross(along[:, 0], other) * weight[:, None, None]
    return normal.sum(axis=(0, 1)), float((at * normal).sum())


def test_the_boundary_closes_and_holds_the_volume(shape):
    """∫ n dA = 0 and ∫ x·n dA = d V over all facets: all are there, each once, turned outwards."""
    _, _, mesh, _, _ = shape
    mesh = mesh.with_boundary("all", np.ones(len(mesh.facets), dtype=bool))
    area, content = flux(mesh, "all")
    np.testing.assert_allclose(area, 0.0, atol=1e-12 * mesh.size**2)
    assert content == pytest.approx(mesh.dimension * mesh.measure.sum(), rel=1e-12)


def test_shapes_have_their_volume(shape):
    name, order, mesh, volume, kind = shape
    assert (mesh.kind, mesh.order) == (kind, order)
    straight = name.split()[0] in ("rectangle", "box", "bracket")
    assert mesh.measure.sum() == pytest.approx(volume, rel=1e-12 if straight else (0.11, 1e-3)[order - 1])
    assert mesh.measure.min() > 0.0


def test_names_cover_the_boundary_of_shapes(shape):
    name, _, mesh, _, _ = shape
    if name.split()[0] in WHOLE:
        named = np.vstack(list(mesh.boundaries.values()))
        assert sorted(map(sorted, named.tolist())) == sorted(map(sorted, mesh.facets.tolist()))


def test_refined_meshes_keep_volume_names_and_curves(shape):
    _, order, mesh, _, _ = shape
    marked = Mesh(mesh.kind, mesh.points, mesh.cells, mesh.boundaries, {"half": np.arange(0, len(mesh.cells), 2)})
    fine = marked.refined()
    parts = 2**mesh.dimension
    assert (len(fine.cells), fine.order) == (parts * len(mesh.cells), order)
    np.testing.assert_allclose(fine.measure.reshape(-1, parts).sum(axis=1), mesh.measure, rtol=1e-12)
    assert len(fine.facets) == 2 ** (mesh.dimension - 1) * len(mesh.facets)
    np.testing.assert_allclose(fine.measure[fine.region("half")].sum(), mesh.measure[::2].sum(), rtol=1e-12)
    for boundary in mesh.boundaries:
        for a, b in zip(flux(fine, boundary), flux(mesh, boundary), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12 * mesh.size**mesh.dimension)


@pytest.mark.parametrize("kind", [*FLAT, *SOLID])
def test_of_order_two_puts_middles_between_their_corners_and_back(kind):
    mesh = rectangle(1.0, 2.0, 2, 2, kind) if kind in FLAT else box(1.0, 2.0, 3.0, 2, 2, 2, kind)
    fine = mesh.of_order(2)
    for k, corners in enumerate(cells.middles(kind), cells.CORNERS[kind]):
        np.testing.assert_allclose(fine.points[fine.cells[:, k]], fine.points[fine.cells[:, corners]].mean(axis=1))
    assert len(np.unique(np.round(fine.points, 9), axis=0)) == len(fine.points)  # shared ones are one
    same = rectangle(1.0, 2.0, 2, 2, kind, 2) if kind in FLAT else box(1.0, 2.0, 3.0, 2, 2, 2, kind, 2)
    np.testing.assert_allclose(same.points[same.cells], fine.points[fine.cells], atol=1e-15)
    np.testing.assert_array_equal(fine.of_order(1).cells, mesh.cells)
    np.testing.assert_array_equal(fine.of_order(1).points, mesh.points)
    for name in mesh.boundaries:
        np.testing.assert_array_equal(fine.of_order(1).boundary(name), mesh.boundary(name))
        assert set(fine.node_numbers(name)) >= set(mesh.node_numbers(name))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", [*FLAT, *SOLID])
def test_polynomials_of_the_order_are_reproduced(kind, order):
    rng = np.random.default_rng(3)
    d = cells.DIMENSION[kind]
    A, b = rng.normal(size=(d, d)) * (order - 1), rng.normal(size=d)

    def field(x: np.ndarray) -> np.ndarray:
        return np.einsum("...i,ij,...j", x, A, x) + x @ b + 1.0

    xi = rng.dirichlet(np.ones(d + 1), 9)[:, :d]
    nodes = cells.reference_nodes(kind, order)
    np.testing.assert_allclose(cells.shape_values(kind, order, xi) @ field(nodes), field(xi), atol=1e-13)
    gradient = xi @ (A + A.T) + b
    np.testing.assert_allclose(cells.shape_slopes(kind, order, xi) @ field(nodes), gradient, atol=1e-13)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", [*FLAT, *SOLID])
def test_cells_numbered_the_other_way_round_are_turned(kind, order):
    mesh = disc(1.0, 2, kind=kind, order=order) if kind in FLAT else tube(1.0, 1.0, 0.5, 1, kind=kind, order=order)
    other = mesh.points * [1.0, -1.0, 1.0]
    mirrored = Mesh(kind, other, mesh.cells, mesh.boundaries)
    assert mirrored.measure.min() > 0.0
    np.testing.assert_allclose(mirrored.measure, mesh.measure, rtol=1e-12)
    for name in mesh.boundaries:
        np.testing.assert_allclose(flux(mirrored, name)[1], flux(mesh, name)[1], rtol=1e-12)


@pytest.mark.parametrize("kind", [*FLAT, *SOLID])
def test_meshes_are_symmetric_where_their_counts_are_even(kind):
    mesh = rectangle(1.0, 2.0, 4, 2, kind) if kind in FLAT else box(1.0, 2.0, 3.0, 4, 2, 2, kind)
    centres = mesh.points[mesh.cells].mean(axis=1)
    middle = np.ptp(mesh.points, axis=0) / 2
    for axis in range(mesh.dimension):
        other = centres.copy()
        other[:, axis] = 2 * middle[axis] - other[:, axis]
        apart = np.abs(centres[:, None] - other[None]).max(axis=2).min(axis=1)
        assert apart.max() < 1e-12


def test_no_triangle_lies_in_a_corner_with_two_sides():
    mesh = rectangle(1.0, 1.0, 4, 4)
    on = np.isin(np.arange(len(mesh.points)), mesh.facets)
    assert not on[mesh.cells].all(axis=1).any()


def test_middles_of_round_shapes_lie_on_their_circles():
    for mesh, names in (
        (disc(2.0, 4, order=2), {"rim": 2.0}),
        (disc(2.0, 2, inner=0.5, kind="quadrilateral", order=2), {"rim": 2.0, "bore": 0.5}),
        (link(5.0, 2.0, 1.0, 0.5, 1, order=2), {"bore A": 0.5}),
    ):
        for name, radius in names.items():
            np.testing.assert_allclose(np.hypot(*mesh.points[mesh.node_numbers(name), :2].T), radius, rtol=1e-12)
    pipe = tube(1.0, 2.0, 1.0, 2, order=2)
    np.testing.assert_allclose(np.hypot(*pipe.points[pipe.node_numbers("outer"), 1:].T), 2.0, rtol=1e-12)


def test_sides_of_boxes_lie_where_their_names_say():
    a, b, c = 2.0, 3.0, 1.5
    mesh = box(a, b, c, 2, 2, 2)
    planes = {"left": (0, 0.0), "right": (0, a), "bottom": (1, 0.0), "top": (1, b), "back": (2, 0.0), "front": (2, c)}
    for name, (axis, value) in planes.items():
        np.testing.assert_array_equal(mesh.points[mesh.node_numbers(name), axis], value)
        normal = flux(mesh, name)[0]
        assert np.sign(normal[axis]) == (1.0 if value else -1.0)
    assert flux(mesh, "right")[0] == pytest.approx([b * c, 0.0, 0.0])
    plate = rectangle(a, b, 3, 2)
    assert {n: flux(plate, n)[0][:2].tolist() for n in plate.boundaries} == {
        "left": pytest.approx([-b, 0.0]),
        "right": pytest.approx([b, 0.0]),
        "bottom": pytest.approx([0.0, -a]),
        "top": pytest.approx([0.0, a]),
    }
    pipe = tube(3.0, 2.0, 1.0, 2)
    assert flux(pipe, "right")[0][0] == pytest.approx(-flux(pipe, "left")[0][0])
    assert set(pipe.points[pipe.node_numbers("right"), 0]) == {3.0}


def test_mounting_faces_of_bracket_and_link():
    angle = bracket(1.0, 2.0, 0.25, 0.5)
    assert set(angle.points[angle.node_numbers("A"), 0]) == {1.0}
    assert set(angle.points[angle.node_numbers("B"), 1]) == {2.0}
    assert flux(angle, "A")[0] == pytest.approx([0.125, 0.0, 0.0])
    bar = link(5.0, 2.0, 1.0, 0.5)
    centre = bar.points[bar.node_numbers("bore B")]
    assert (centre.min(axis=0) + centre.max(axis=0)) / 2 == pytest.approx([5.0, 0.0, 0.0], abs=1e-12)
    assert np.ptp(bar.points[:, 0]) == pytest.approx(7.0)


def test_boundaries_are_found_by_place_and_by_mask():
    mesh = rectangle(1.0, 1.0, 4, 4).with_boundary("edge", lambda p: p[:, 0] < 1e-9)
    np.testing.assert_array_equal(np.sort(mesh.boundary("edge"), axis=1), np.sort(mesh.boundary("left"), axis=1))
    low = mesh.points[mesh.facets].mean(axis=1)[:, 1] < 0.5
    assert len(mesh.with_boundary("low half", low).boundary("low half")) == 8
    around = disc(1.0, 4, order=2).with_boundary(
        "lee", lambda p: (np.hypot(p[:, 0], p[:, 1]) > 0.999) & (p[:, 0] > -1e-9)
    )
    assert len(around.boundary("lee")) == len(around.boundary("rim")) // 2


def test_parts_that_touch_are_joined():
    one = box(1.0, 1.0, 1.0, 2, 2, 2)
    points = np.vstack([one.points, one.points + [1.0, 0.0, 0.0] + 1e-10])
    loose = Mesh(one.kind, points, np.vstack([one.cells, one.cells + len(one.points)]), one.boundaries)
    whole = loose.merged(1e-8)
    assert len(whole.points) == len(points) - 9
    assert len(whole.facets) == len(loose.facets) - 2 * 8
    np.testing.assert_allclose(whole.measure.sum(), 2.0, rtol=1e-8)
    np.testing.assert_array_equal(whole.points[whole.boundary("left")], one.points[one.boundary("left")])


def test_scaled_meshes_have_scaled_volumes():
    assert box(1.0, 2.0, 3.0, 1, 1, 1).scaled(1e-3).measure.sum() == pytest.approx(6e-9)


def test_planar_meshes_lie_in_the_plane_of_zero_height():
    flat = Mesh("triangle", [[0.0, 0.0, 4.0], [1.0, 0.0, 4.0], [0.0, 1.0, 4.0]], [[0, 1, 2]])
    np.testing.assert_array_equal(flat.points[:, 2], 0.0)
    assert Mesh("triangle", [[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]).points.shape == (3, 3)


def test_refined_tetrahedra_stay_well_shaped():
    """Cut along the shortest diagonal, the parts do not become flatter and flatter."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.9, 0.8, 0.4]])
    mesh = Mesh("tetrahedron", corners, [[0, 1, 2, 3]])

    def fullness(mesh: Mesh) -> float:
        edges = mesh.points[mesh.cells[:, np.array(cells.EDGES[mesh.kind])]]
        return float((mesh.measure / np.linalg.norm(edges[:, :, 1] - edges[:, :, 0], axis=2).max(axis=1) ** 3).min())

    assert fullness(mesh.refined(4)) == pytest.approx(fullness(mesh.refined(1)))
    assert fullness(mesh.refined(1)) > 0.5 * fullness(mesh)
