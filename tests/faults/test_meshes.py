"""Meshes that cannot be right are refused, with numbers and places."""

import builtins
from pathlib import Path

import numpy as np
import pytest

from phloat.errors import InputError
from phloat.fem.mesh import Mesh
from phloat.fem.mesh_files import read_mesh, write_mesh
from phloat.fem.shapes import box, bracket, disc, link, rectangle, tube

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
TWO = np.array([[0, 1, 2], [0, 2, 3]])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("wedge", SQUARE, TWO),
            "no kind of cells 'wedge'; there are: triangle, quadrilateral, tetrahedron, hexahedron",
        ),
        (("triangle", SQUARE.ravel(), TWO), r"points have shape \(12,\); they must be \(points, 3\) or \(points, 2\)"),
        (("tetrahedron", SQUARE[:, :2], [[0, 1, 2, 3]]), r"points have shape \(4, 2\); they must be \(points, 3\)"),
        (("triangle", np.where(SQUARE == 1, np.nan, SQUARE), TWO), "points holds NaN"),
        (("triangle", SQUARE, TWO[:, :2]), r"cells have shape \(2, 2\).*\(cells, 3\) or, curved, \(cells, 6\)"),
        (("triangle", SQUARE, TWO.astype(float)), "cells have shape .* of float64"),
        (("triangle", SQUARE, np.zeros((0, 3), dtype=int)), "there are no cells"),
        (("triangle", SQUARE, TWO + 1), r"cells have nodes 1 … 4; the points are 0 … 3"),
        (("triangle", SQUARE, TWO[:1]), r"1 of 4 points belong to no cell, first 3 at \(0, 1, 0\); leave them out"),
        (("triangle", SQUARE, [[0, 1, 2], [0, 3, 2]]), r"1 of 2 triangles are inverted, .* first cell 1 at \(0.333"),
        (("triangle", SQUARE * [1, 0, 0], TWO), "2 of 2 triangles have no area"),
        (("tetrahedron", SQUARE, [[0, 1, 2, 3]]), "1 of 1 tetrahedra have no volume"),
        (("quadrilateral", SQUARE, [[0, 1, 3, 2]]), "1 of 1 quadrilaterals are folded.*VTK's order"),
        (
            ("triangle", SQUARE * 1.0 + np.outer([0, 0, 1, 0], [0, 0, 1]), TWO),
            "not in one plane: z is between 0 and 1",
        ),
        (("triangle", SQUARE, TWO, {"left": [[0, 3, 1]]}), r"boundary 'left' has shape \(1, 3\).*\(facets, 2\)"),
        (("triangle", SQUARE, TWO, {"left": [[3, 4]]}), "boundary 'left' has nodes 3 … 4 of 4 points"),
        (("triangle", SQUARE, TWO, {"left": [[3, 0], [1, 3]]}), r"1 of 2 facets of boundary 'left' .* nodes \(1, 3\)"),
        (("triangle", SQUARE, TWO, {"left": np.zeros((0, 2), dtype=int)}), "at least one facet"),
        (("triangle", SQUARE, TWO, {}, {"soft": [2]}), r"region 'soft' has cells 2 … 2; there are 0 … 1"),
        (
            ("triangle", SQUARE, TWO, {}, {"soft": [0.5]}),
            "region 'soft' has shape .* of float64; it must be numbers of cells",
        ),
    ],
)
def test_meshes_that_cannot_be_right(arguments, words):
    with pytest.raises(InputError, match=words):
        Mesh(*arguments)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (
            lambda m: m.boundary("lefft"),
            r"no boundary 'lefft' \(did you mean 'left'\?\); there are: left, right, bottom, top",
        ),
        (lambda m: m.node_numbers("hub"), "no boundary 'hub'; there are: left"),
        (lambda m: m.region("steel"), "no region 'steel'; there are: none"),
        (lambda m: m.of_order(3), "order is 3; cells are of order 1"),
        (lambda m: m.scaled(-1.0), "factor is -1; it must be positive"),
        (
            lambda m: m.with_boundary("far", lambda p: p[:, 0] > 9.0),
            r"'far' would be empty: .* between \(0, 0, 0\) and \(2, 1, 0\)",
        ),
        (
            lambda m: m.with_boundary("far", lambda p: p[:, 0]),
            "gave shape .* of float64; it must be 9 times True or False",
        ),
        (lambda m: m.with_boundary("far", np.ones(3, dtype=bool)), "it must be 8 times True or False, one a facet"),
        (lambda m: m.refined(-1), "times is -1"),
    ],
)
def test_names_and_choices_of_a_mesh(act, words):
    with pytest.raises(InputError, match=words):
        act(rectangle(2.0, 1.0, 2, 2))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rectangle(1.0, -1.0, 2, 2), "b is -1; it must be positive"),
        (lambda: rectangle(1.0, 1.0, 2.5, 2), "nx is 2.5; it must be a whole number of blocks"),
        (
            lambda: rectangle(1.0, 1.0, 2, 2, "hexahedron"),
            "no kind of cells 'hexahedron'; there are: triangle, quadrilateral",
        ),
        (lambda: box(1.0, 1.0, 1.0, 2, 2, 0), "nz is 0"),
        (lambda: box(1.0, 1.0, 1.0, 2, 2, 2, order=3), "order is 3"),
        (lambda: disc(1.0, 1), "a full disc needs 2 blocks"),
        (lambda: disc(1.0, 2, inner=1.5), "the inner radius 1.5 is not below the outer one, 1"),
        (lambda: disc(1.0, 2, inner=0.5, around=10), "around is 10; it must be a multiple of 4"),
        (lambda: tube(1.0, 1.0, -0.5, 2), "inner is -0.5; it must not be negative"),
        (lambda: bracket(1.0, 0.2, 0.2, 0.5), "the legs 1 and 0.2 are not longer than the thickness"),
        (lambda: link(5.0, 2.0, 1.0, 1.0), "a bore of radius 1 does not fit into a width of 2; it must be below 1"),
        (lambda: link(2.0, 2.0, 1.0, 0.5), "the length 2 between the bores must be more than the width 2"),
    ],
)
def test_shapes_that_cannot_be(make, words):
    with pytest.raises(InputError, match=words):
        make()


TET = "1 4 2 0 1 1 2 3 4"
MSH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
5
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
5 1 1 1
$EndNodes
$Elements
{count}
{elements}
$EndElements
"""


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("mesh.stl", "", "no reader of meshes for files '.stl'.*there are: .msh, .vtk"),
        ("mesh", "", "no reader of meshes for files 'mesh'"),
        ("mesh.msh", None, "no file .*mesh.msh'; meshes in that folder: other.msh"),
        ("mesh.msh", "", "mesh.msh cannot be read as a mesh of gmsh .*; is it complete?"),
        ("mesh.msh", "a letter, not a mesh", "cannot be read as a mesh of gmsh"),
        ("mesh.msh", MSH.format(count=3, elements=TET), "cannot be read as a mesh of gmsh"),
        ("mesh.msh", MSH[: MSH.index("4 0 0 1")], "cannot be read as a mesh of gmsh"),
        ("mesh.vtu", "<VTKFile", "cannot be read as a mesh of VTK"),
        ("mesh.vtk", "# vtk DataFile Version 4.2\nx\nASCII\n", "cannot be read as a mesh of VTK"),
        (
            "mesh.msh",
            MSH.format(count=1, elements="1 1 2 0 1 1 2"),
            "no cells with an area or a volume: it holds 1 × line",
        ),
        (
            "mesh.msh",
            MSH.format(count=2, elements=TET + "\n2 7 2 0 1 1 2 3 4 5"),
            "mesh.msh has cells of several kinds: 1 × tetra, 1 × pyramid",
        ),
        (
            "mesh.msh",
            MSH.format(count=1, elements="1 7 2 0 1 1 2 3 4 5"),
            "has cells of kind pyramid: 1 × pyramid; there are",
        ),
        (
            "mesh.msh",
            MSH.format(count=2, elements="1 2 2 0 1 1 2 3\n2 2 2 0 1 1 2 4"),
            "holds surfaces only, which are not in one plane: 2 × triangle; a solid needs",
        ),
        (
            "mesh.msh",
            MSH.format(count=2, elements=TET + "\n2 2 2 3 1 1 2 5"),
            "1 of 1 facets of boundary 'physical 3' in mesh.msh have nodes that belong to no cell",
        ),
        ("mesh.inp", "*HEADING\n", "mesh.inp has no cells with an area or a volume: it holds no cells at all"),
        ("mesh.inp", "*NODE\n1, 0, 0\n*ELEMENT, TYPE=COH3D8\n1, 1", "elements of type 'COH3D8' are not known here"),
        (
            "mesh.inp",
            "*NODE\n1, 0, 0\n*ELEMENT, TYPE=CPS3\n1, 1, 2, 3",
            "2 nodes of its elements are not there, first node 2",
        ),
        ("mesh.inp", "*NODE\n1, 0, 0\n*ELEMENT, TYPE=CPS3\n1, 1, 1", "elements of type CPS3 do not have 3 nodes each"),
        ("mesh.inp", "*NODE\n1, 0, 0\n*NODE\n1, 1, 0\n", "node 1 is there twice: the deck has several parts"),
        ("mesh.inp", "*INSTANCE\n*INSTANCE\n", "it assembles 2 instances of parts"),
        ("mesh.inp", "*NODE\n1, zero, 0\n", "cannot be read as a mesh of Abaqus"),
        ("mesh.bdf", "GRID,1,4,0.,0.,0.\n", "GRID 1 is in the coordinate system 4; write all in the basic one"),
        ("mesh.bdf", "CTETRA,1,1,1,2,3\n", "CTETRA 1 has 3 nodes; it must have 4 or 10"),
        ("mesh.bdf", "GRID,1,,x,0.,0.\n", "cannot be read as a mesh of Nastran"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # what else the readers say
def test_files_that_hold_no_mesh(tmp_path, name, text, words):
    (tmp_path / "other.msh").touch()
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=words):
        read_mesh(tmp_path / name)


def test_cells_without_a_group_beside_others_with_one(tmp_path):
    """Version 4.1 with Mesh.SaveAll = 1 and no physical volume."""
    text = (Path(__file__).resolve().parents[1] / "reference" / "ring_tetra10.msh").read_text()
    lines = text.splitlines()
    volume = (
        lines.index("$EndEntities") - 1
    )  # the last entity is the volume: its tag, its box, its groups, its surfaces
    head, rest = lines[volume].split()[:7], lines[volume].split()[9:]
    lines[volume] = " ".join([*head, "0", *rest])
    (tmp_path / "ring.msh").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="some of its cells are in a physical group, others in none; put the body"):
        read_mesh(tmp_path / "ring.msh")


def test_without_meshio_the_command_is_given(tmp_path, monkeypatch):
    load = builtins.__import__

    def without(name, *rest, **more):
        if name == "meshio":
            raise ImportError(name)
        return load(name, *rest, **more)

    write_mesh(tmp_path / "box.msh", box(1.0, 1.0, 1.0, 1, 1, 1))
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"meshio, which is not there: pip install phloat\[mesh\]"):
        read_mesh(tmp_path / "box.msh")


def test_units_and_names_of_files(tmp_path):
    mesh = rectangle(1.0, 1.0, 2, 2)
    with pytest.raises(InputError, match=r"does not end in \.msh; meshes are written for gmsh only"):
        write_mesh(tmp_path / "mesh.vtk", mesh)
    with pytest.raises(InputError, match="gmsh ends a name at a quotation mark"):
        write_mesh(tmp_path / "mesh.msh", mesh.with_boundary('2" pipe', lambda p: p[:, 0] < 1e-9))
    write_mesh(tmp_path / "mesh.msh", mesh)
    with pytest.raises(InputError, match="unit is 0; it must be positive"):
        read_mesh(tmp_path / "mesh.msh", unit=0.0)
    with pytest.raises(InputError, match="no boundary 'hub'; there are: left, right, bottom, top"):
        read_mesh(tmp_path / "mesh.msh").boundary("hub")
