"""Meshes that cannot be right are refused, with numbers and places."""

import builtins
from pathlib import Path

import numpy as np
import pytest
from messages import raises

from phloat.errors import InputError
from phloat.fem.mesh import Mesh
from phloat.fem.mesh_files import read_mesh, write_mesh
from phloat.fem.shapes import box, bracket, disc, link, rectangle, tube

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
TWO = np.array([[0, 1, 2], [0, 2, 3]])


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("wedge", SQUARE, TWO), "'wedge'"),
        (("triangle", SQUARE.ravel(), TWO), "(12,)"),
        (("tetrahedron", SQUARE[:, :2], [[0, 1, 2, 3]]), "(4, 2)"),
        (("triangle", np.where(SQUARE == 1, np.nan, SQUARE), TWO), "points"),
        (("triangle", SQUARE, TWO[:, :2]), "(2, 2)"),
        (("triangle", SQUARE, TWO.astype(float)), "float64"),
        (("triangle", SQUARE, np.zeros((0, 3), dtype=int)), ""),
        (("triangle", SQUARE, TWO + 1), "1 … 4"),
        (("triangle", SQUARE, TWO[:1]), "1 of 4"),
        (("triangle", SQUARE, [[0, 1, 2], [0, 3, 2]]), "1 of 2"),
        (("triangle", SQUARE * [1, 0, 0], TWO), "2 of 2"),
        (("tetrahedron", SQUARE, [[0, 1, 2, 3]]), "1 of 1"),
        (("quadrilateral", SQUARE, [[0, 1, 3, 2]]), "1 of 1"),
        (("triangle", SQUARE * 1.0 + np.outer([0, 0, 1, 0], [0, 0, 1]), TWO), "z"),
        (("triangle", SQUARE, TWO, {"left": [[0, 3, 1]]}), "'left'"),
        (("triangle", SQUARE, TWO, {"left": [[3, 4]]}), "'left'"),
        (("triangle", SQUARE, TWO, {"left": [[3, 0], [1, 3]]}), "'left'"),
        (("triangle", SQUARE, TWO, {"left": np.zeros((0, 2), dtype=int)}), "'left'"),
        (("triangle", SQUARE, TWO, {}, {"soft": [2]}), "'soft'"),
        (("triangle", SQUARE, TWO, {}, {"soft": [0.5]}), "'soft'"),
    ],
)
def test_meshes_that_cannot_be_right(arguments, name):
    with raises(InputError, name):
        Mesh(*arguments)


@pytest.mark.parametrize(
    ("act", "name"),
    [
        (lambda m: m.boundary("lefft"), "'lefft'"),
        (lambda m: m.node_numbers("hub"), "'hub'"),
        (lambda m: m.region("steel"), "'steel'"),
        (lambda m: m.of_order(3), "order"),
        (lambda m: m.scaled(-1.0), "factor"),
        (lambda m: m.with_boundary("far", lambda p: p[:, 0] > 9.0), "'far'"),
        (lambda m: m.with_boundary("far", lambda p: p[:, 0]), "'far'"),
        (lambda m: m.with_boundary("far", np.ones(3, dtype=bool)), "'far'"),
        (lambda m: m.refined(-1), "times"),
    ],
)
def test_names_and_choices_of_a_mesh(act, name):
    with raises(InputError, name):
        act(rectangle(2.0, 1.0, 2, 2))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: rectangle(1.0, -1.0, 2, 2), ""),
        (lambda: rectangle(1.0, 1.0, 2.5, 2), "nx"),
        (lambda: rectangle(1.0, 1.0, 2, 2, "hexahedron"), "'hexahedron'"),
        (lambda: box(1.0, 1.0, 1.0, 2, 2, 0), "nz"),
        (lambda: box(1.0, 1.0, 1.0, 2, 2, 2, order=3), "order"),
        (lambda: disc(1.0, 1), ""),
        (lambda: disc(1.0, 2, inner=1.5), "1.5"),
        (lambda: disc(1.0, 2, inner=0.5, around=10), "around"),
        (lambda: tube(1.0, 1.0, -0.5, 2), "inner"),
        (lambda: bracket(1.0, 0.2, 0.2, 0.5), "legs"),
        (lambda: link(5.0, 2.0, 1.0, 1.0), "bore"),
        (lambda: link(2.0, 2.0, 1.0, 0.5), "length"),
    ],
)
def test_shapes_that_cannot_be(make, name):
    with raises(InputError, name):
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
    ("name", "text", "said"),
    [
        ("mesh.stl", "", "'.stl'"),
        ("mesh", "", "'mesh'"),
        ("mesh.msh", None, "mesh.msh"),
        ("mesh.msh", "", "mesh.msh"),
        ("mesh.msh", "a letter, not a mesh", "mesh.msh"),
        ("mesh.msh", MSH.format(count=3, elements=TET), "mesh.msh"),
        ("mesh.msh", MSH[: MSH.index("4 0 0 1")], "mesh.msh"),
        ("mesh.vtu", "<VTKFile", "mesh.vtu"),
        ("mesh.vtk", "# vtk DataFile Version 4.2\nx\nASCII\n", "mesh.vtk"),
        ("mesh.msh", MSH.format(count=1, elements="1 1 2 0 1 1 2"), "mesh.msh"),
        ("mesh.msh", MSH.format(count=2, elements=TET + "\n2 7 2 0 1 1 2 3 4 5"), "mesh.msh"),
        ("mesh.msh", MSH.format(count=1, elements="1 7 2 0 1 1 2 3 4 5"), "mesh.msh"),
        ("mesh.msh", MSH.format(count=2, elements="1 2 2 0 1 1 2 3\n2 2 2 0 1 1 2 4"), "mesh.msh"),
        ("mesh.msh", MSH.format(count=2, elements=TET + "\n2 2 2 3 1 1 2 5"), "'physical 3'"),
        ("mesh.inp", "*HEADING\n", "mesh.inp"),
        ("mesh.inp", "*NODE\n1, 0, 0\n*ELEMENT, TYPE=COH3D8\n1, 1", "'COH3D8'"),
        ("mesh.inp", "*NODE\n1, 0, 0\n*ELEMENT, TYPE=CPS3\n1, 1, 2, 3", "mesh.inp"),
        ("mesh.inp", "*NODE\n1, 0, 0\n*ELEMENT, TYPE=CPS3\n1, 1, 1", "mesh.inp"),
        ("mesh.inp", "*NODE\n1, 0, 0\n*NODE\n1, 1, 0\n", "mesh.inp"),
        ("mesh.inp", "*INSTANCE\n*INSTANCE\n", "mesh.inp"),
        ("mesh.inp", "*NODE\n1, zero, 0\n", "mesh.inp"),
        ("mesh.bdf", "GRID,1,4,0.,0.,0.\n", "mesh.bdf"),
        ("mesh.bdf", "CTETRA,1,1,1,2,3\n", "mesh.bdf"),
        ("mesh.bdf", "GRID,1,,x,0.,0.\n", "mesh.bdf"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # what else the readers say
def test_files_that_hold_no_mesh(tmp_path, name, text, said):
    (tmp_path / "other.msh").touch()
    if text is not None:
        (tmp_path / name).write_text(text)
    with raises(InputError, said):
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
    with raises(InputError, "ring.msh"):
        read_mesh(tmp_path / "ring.msh")


def test_without_meshio_the_command_is_given(tmp_path, monkeypatch):
    load = builtins.__import__

    def without(name, *rest, **more):
        if name == "meshio":
            raise ImportError(name)
        return load(name, *rest, **more)

    write_mesh(tmp_path / "box.msh", box(1.0, 1.0, 1.0, 1, 1, 1))
    monkeypatch.setattr(builtins, "__import__", without)
    with raises(InputError, "box.msh"):
        read_mesh(tmp_path / "box.msh")


def test_units_and_names_of_files(tmp_path):
    mesh = rectangle(1.0, 1.0, 2, 2)
    with raises(InputError, "'mesh.vtk'"):
        write_mesh(tmp_path / "mesh.vtk", mesh)
    with raises(InputError, "'2\" pipe'"):
        write_mesh(tmp_path / "mesh.msh", mesh.with_boundary('2" pipe', lambda p: p[:, 0] < 1e-9))
    write_mesh(tmp_path / "mesh.msh", mesh)
    with raises(InputError, "unit"):
        read_mesh(tmp_path / "mesh.msh", unit=0.0)
    with raises(InputError, "'hub'"):
        read_mesh(tmp_path / "mesh.msh").boundary("hub")
