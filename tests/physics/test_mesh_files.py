"""Meshes from files: what gmsh wrote has the volumes it must have, and every format puts every node in its place."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phloat.fem import cells
from phloat.fem.mesh import Mesh
from phloat.fem.mesh_files import read_mesh, write_mesh
from phloat.fem.shapes import box, disc, link, rectangle, tube

meshio = pytest.importorskip("meshio")

TESTS = Path(__file__).resolve().parents[1]
MESHIO = {
    **{("triangle", 1): "triangle", ("triangle", 2): "triangle6"},
    **{("quadrilateral", 1): "quad", ("quadrilateral", 2): "quad9"},
    **{("tetrahedron", 1): "tetra", ("tetrahedron", 2): "tetra10"},
    **{("hexahedron", 1): "hexahedron", ("hexahedron", 2): "hexahedron27"},
}


def sector(radius: float, angle: float, arcs: int) -> float:
    """Area of a sector whose arcs are parabolas through three points of the circle."""
    half = angle / arcs / 2
    return arcs * radius**2 * (np.sin(half) * np.cos(half) + 4 / 3 * np.sin(half) * (1 - np.cos(half)))


@pytest.mark.parametrize(
    ("file", "kind", "arcs", "cells"),
    [
        ("ring_triangle6.msh", "triangle", 3, 6),
        ("ring_quad9.msh", "quadrilateral", 3, 3),
        ("ring_tetra10.msh", "tetrahedron", 2, 12),
        ("ring_hexahedron27.msh", "hexahedron", 2, 2),
        ("ring_hexahedron27_v2.msh", "hexahedron", 2, 2),
    ],
)
def test_curved_cells_of_gmsh_have_the_volume_of_their_parabolas(file, kind, arcs, cells):
    mesh = read_mesh(TESTS / "reference" / file)
    assert (mesh.kind, mesh.order, len(mesh.cells)) == (kind, 2, cells)
    volume = sector(2.0, np.pi / 2, arcs) - sector(1.0, np.pi / 2, arcs)
    assert mesh.measure.sum() == pytest.approx(volume, rel=1e-12)
    assert list(mesh.regions) == ["ring"]
    assert len(mesh.region("ring")) == cells
    for name, radius in {"rim": 2.0, "bore": 1.0}.items():
        np.testing.assert_allclose(np.hypot(*mesh.points[mesh.node_numbers(name), :2].T), radius, rtol=1e-12)
    both = np.vstack([mesh.boundary("rim"), mesh.boundary("bore")])  # in two groups each
    assert sorted(map(sorted, mesh.boundary("round").tolist())) == sorted(map(sorted, both.tolist()))


def straight(kind: str, order: int) -> Mesh:
    """A block of which no two directions are alike, so that a node in a wrong place shows."""
    mesh = (
        rectangle(1.0, 2.0, 2, 2, kind, order)
        if cells.DIMENSION[kind] == 2
        else box(1.0, 2.0, 3.0, 2, 1, 2, kind, order)
    )
    return replace(mesh, points=mesh.points @ np.array([[1.0, 0.2, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 1.0]]))


def same(found: Mesh, mesh: Mesh, digits: float = 1e-12) -> None:
    """Cells, node by node where they are, and the middles between their corners."""
    assert found.kind == mesh.kind
    np.testing.assert_allclose(found.points[found.cells], mesh.points[mesh.cells], atol=digits)
    for k, corners in enumerate(cells.middles(found.kind)[: found.cells.shape[1] - cells.CORNERS[found.kind]]):
        middle = found.points[found.cells[:, corners]].mean(axis=1)
        np.testing.assert_allclose(found.points[found.cells[:, cells.CORNERS[found.kind] + k]], middle, atol=digits)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", cells.NODES)
@pytest.mark.parametrize("format", ["gmsh22", "gmsh", "vtk", "vtu"])
def test_what_meshio_writes_is_read(tmp_path, format, kind, order):
    mesh = straight(kind, order)
    file = tmp_path / f"mesh.{format.replace('gmsh22', 'msh').replace('gmsh', 'msh')}"
    blocks = [(MESHIO[kind, order], mesh.cells)]
    ones = [np.ones(len(mesh.cells), dtype=int)]
    data = {"gmsh:physical": ones, "gmsh:geometrical": ones} if "gmsh" in format else {"region": ones}
    meshio.Mesh(mesh.points, blocks, cell_data=data).write(file, file_format=format)
    found = read_mesh(file)
    same(found, mesh)
    if format != "gmsh":
        assert [len(ids) for ids in found.regions.values()] == [len(mesh.cells)]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", cells.NODES)
def test_what_is_written_is_read_with_its_names(tmp_path, kind, order):
    mesh = (
        disc(1.0, 2, kind=kind, order=order)
        if cells.DIMENSION[kind] == 2
        else tube(1.0, 2.0, 1.0, 2, kind=kind, order=order)
    )
    mesh = replace(mesh, regions={"one": np.arange(7), "two": np.arange(5, 9)})
    write_mesh(tmp_path / "mesh.msh", mesh)
    found = read_mesh(tmp_path / "mesh.msh")
    assert found.measure.sum() == pytest.approx(mesh.measure.sum(), rel=1e-14)
    centres = found.points[found.cells].mean(axis=1)
    for name in mesh.boundaries:
        np.testing.assert_array_equal(found.points[found.facet_nodes(name)], mesh.points[mesh.facet_nodes(name)])
    for name, ids in mesh.regions.items():
        np.testing.assert_allclose(centres[found.region(name)], mesh.points[mesh.cells[ids]].mean(axis=1), atol=1e-14)


def test_meshio_reads_what_is_written(tmp_path):
    """The order of nodes of gmsh, by meshio's own tables."""
    mesh = straight("hexahedron", 2)
    write_mesh(tmp_path / "mesh.msh", mesh)
    read = meshio.gmsh.read(tmp_path / "mesh.msh")
    np.testing.assert_array_equal(read.cells_dict["hexahedron27"], mesh.cells)


def test_the_link_of_the_examples_is_the_shape_of_that_name():
    found, made = read_mesh(TESTS.parent / "examples" / "models" / "link.msh"), link(0.4, 0.08, 0.03, 0.02, 1, order=2)
    same_names = ["bore A", "bore B", "back", "front"]
    assert list(found.boundaries) == list(made.boundaries) == same_names
    np.testing.assert_allclose(found.points[found.cells], made.points[made.cells], atol=1e-9)
    assert (found.kind, found.order) == ("tetrahedron", 2)


def test_units_scale_lengths(tmp_path):
    write_mesh(tmp_path / "box.msh", box(100.0, 20.0, 10.0, 2, 1, 1))
    assert read_mesh(tmp_path / "box.msh", unit=1e-3).measure.sum() == pytest.approx(2e-5)


def test_cell_and_point_data_of_vtk_name_boundaries(tmp_path):
    mesh = box(1.0, 1.0, 1.0, 2, 2, 2)
    left, right = mesh.boundary("left"), mesh.boundary("right")
    tags = [np.zeros(len(mesh.cells), dtype=int), np.repeat([3, 4], [len(left), len(right)])]
    at_top = (mesh.points[:, 1] == 1.0).astype(int)
    blocks = [("tetra", mesh.cells), ("triangle", np.vstack([left, right]))]
    meshio.Mesh(mesh.points, blocks, {"node": at_top}, {"boundary": tags}).write(tmp_path / "box.vtu")
    found = read_mesh(tmp_path / "box.vtu")
    expected = {"boundary 3": "left", "boundary 4": "right", "node 1": "top"}
    assert set(found.boundaries) == set(expected)
    for name, side in expected.items():
        np.testing.assert_array_equal(found.node_numbers(name), mesh.node_numbers(side))


DECK = """** two bricks on one another, heading and steps are passed over
*HEADING
 bricks
*Node, NSET=all
 1, 0., 0., 0.
 2, 1., 0., 0.
 3, 1., 2., 0.
 4, 0., 2., 0.
 5, 0., 0., 1.
 6, 1., 0., 1.
 7, 1., 2., 1.
 8, 0., 2., 1.
*Node
 11, 0., 0., 4.
 12, 1., 0., 4.
 13, 1., 2., 4.
 14, 0., 2., 4.
 99, 7., 7., 7.
*Element, type=C3D8R
 1, 1, 2, 3, 4, 5, 6,
 7, 8
*Element, type=C3D8R, elset=upper
 2, 5, 6, 7, 8, 11, 12, 13, 14
*Element, type=S4, elset=Foot
 101, 1, 2, 3, 4
*Nset, nset=Roof, generate
 11, 14, 1
*Nset, nset=a point
 1
*Elset, elset=Both, internal
 upper, 1
*Step
*Boundary
 Roof, 1, 3
"""


def test_sets_of_an_abaqus_deck(tmp_path):
    (tmp_path / "bricks.inp").write_text(DECK)
    mesh = read_mesh(tmp_path / "bricks.inp")
    np.testing.assert_allclose(mesh.measure, [2.0, 6.0])
    assert {name: ids.tolist() for name, ids in mesh.regions.items()} == {"upper": [1], "Both": [0, 1]}
    assert set(mesh.boundaries) == {"Foot", "Roof", "all"}  # all nodes of the lower brick: its boundary
    assert len(mesh.boundary("all")) == 5
    assert set(mesh.points[mesh.node_numbers("Foot"), 2]) == {0.0}
    assert set(mesh.points[mesh.node_numbers("Roof"), 2]) == {4.0}
    assert len(mesh.points) == 12


@pytest.mark.parametrize("kind", ["tetrahedron", "hexahedron"])
def test_curved_elements_of_abaqus_and_nastran_have_their_middles_in_place(tmp_path, kind):
    """Decks as gmsh, Abaqus and Nastran number them: 20 nodes of a hexahedron, upright edges last or in the middle."""
    mesh = straight(kind, 2)
    count, name = (10, "C3D10") if kind == "tetrahedron" else (20, "C3D20R")
    lines = ["*NODE", *(f"{k}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(mesh.points.tolist(), 1))]
    lines += [f"*ELEMENT, TYPE={name}"]
    lines += [f"{k}, " + ", ".join(map(str, row)) for k, row in enumerate((mesh.cells[:, :count] + 1).tolist(), 1)]
    (tmp_path / "mesh.inp").write_text("\n".join(lines))
    same(read_mesh(tmp_path / "mesh.inp"), mesh)
    block = [("tetra10" if count == 10 else "hexahedron20", mesh.cells[:, :count])]
    with_property = {"nastran:ref": [np.full(len(mesh.cells), 7)]}
    meshio.nastran.write(tmp_path / "fixed.bdf", meshio.Mesh(mesh.points, block, cell_data=with_property))
    upright_first = mesh.cells[:, [*range(12), *range(16, 20), *range(12, 16)]] if count == 20 else mesh.cells
    cards = [f"GRID,{k},,{x!r},{y!r},{z!r}" for k, (x, y, z) in enumerate(mesh.points.tolist(), 1)]
    for k, row in enumerate((upright_first + 1).tolist(), 1):
        fields = ["CTETRA" if count == 10 else "CHEXA", k, 7, *row]
        lines = [fields[:9], *(["+", *fields[i : i + 8]] for i in range(9, len(fields), 8))]
        cards += [",".join(map(str, line)) for line in lines]
    (tmp_path / "free.bdf").write_text("\n".join(cards))
    for name in ("fixed", "free"):
        found = read_mesh(tmp_path / f"{name}.bdf")
        same(found, mesh, 1e-9)
        assert list(found.regions) == ["property 7"]


BULK = """SOL 101
CEND
BEGIN BULK
$ two tetrahedra, fields of 8 and of 16 columns, with and without exponent
GRID    1               0.0     0.0     0.0
GRID    2               1.0     0.0     0.0
GRID*   3                               0.0             1.0
*       0.0
GRID,4,,0.0,0.0,1.0
GRID    5               -1.0+0  0.0     0.0
CTETRA  1       7       1       2       3       4
CTETRA* 2               8               1               3
*       5               4
CTRIA3  3       9       1       2       3       30.0
CQUAD4,4,9
ENDDATA
"""


def test_cards_of_nastran(tmp_path):
    (tmp_path / "two.bdf").write_text(BULK.replace("CQUAD4,4,9\n", ""))
    mesh = read_mesh(tmp_path / "two.bdf")
    np.testing.assert_allclose(mesh.measure, 1 / 6)
    assert {name: ids.tolist() for name, ids in mesh.regions.items()} == {"property 7": [0], "property 8": [1]}
    assert mesh.points[mesh.node_numbers("property 9")].tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_eight_nodes_of_a_quadrilateral_are_filled_up(tmp_path):
    mesh = disc(1.0, 2, inner=0.5, around=8, kind="quadrilateral", order=2)
    lines = [
        "*NODE",
        *(f"{k}, {x!r}, {y!r}" for k, (x, y, _) in enumerate(mesh.points.tolist(), 1)),
        "*ELEMENT, TYPE=CPS8R",
    ]
    lines += [f"{k}, " + ", ".join(map(str, row)) for k, row in enumerate((mesh.cells[:, :8] + 1).tolist(), 1)]
    (tmp_path / "ring.inp").write_text("\n".join(lines))
    assert read_mesh(tmp_path / "ring.inp").measure.sum() == pytest.approx(mesh.measure.sum(), rel=1e-3)
    assert read_mesh(tmp_path / "ring.inp").order == 2
