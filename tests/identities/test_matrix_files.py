"""Matrices and nodes written in the formats of other codes come back as they were."""

from pathlib import Path

import numpy as np
import pytest
import scipy.io as sio
import scipy.sparse as sp
from matrices_zoo import Exported, beam, box
from messages import raises

import phloat as ph
from phloat.bodies.superelements.matrix_files import matched, read_matrix
from phloat.bodies.superelements.superelement import Superelement
from phloat.fem.decks import read_nodes, real

BODY = box((3, 2, 1))
FIRST = 11  # nodes are numbered 11, 12…


def labels(body: Exported, each: int) -> list[tuple[int, int]]:
    return [(FIRST + k // each, k % each + 1) for k in range(body.M.shape[0])]


def triangle(a: sp.csr_array, part=sp.triu) -> list[tuple[int, int, float]]:
    entries = part(a).tocoo()
    return list(zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True))


# --- writers, each in the style of one code ---------------------------------------------------------------------------


def write_matrix_market(folder: Path, body: Exported, each: int) -> dict:
    for name, a in (("m.mtx", body.M), ("k.mtx", body.K)):
        sio.mmwrite(folder / name, a, symmetry="symmetric", precision=17)
    return {"mass": folder / "m.mtx", "stiffness": folder / "k.mtx"}


def write_calculix(folder: Path, body: Exported, each: int) -> dict:
    for suffix, a in ((".mas", body.M), (".sti", body.K)):
        lines = [f"{i + 1} {j + 1} {v:22.15e}" for i, j, v in triangle(a)]
        (folder / f"job{suffix}").write_text("\n".join(lines) + "\n")
    (folder / "job.dof").write_text("\n".join(f"{n}.{c}" for n, c in labels(body, each)) + "\n")
    return {"mass": folder / "job.mas", "stiffness": folder / "job.sti"}


def write_abaqus(folder: Path, body: Exported, each: int) -> dict:
    of = labels(body, each)
    for name, a in (("job_MASS1.mtx", body.M), ("job_STIF1.mtx", body.K)):
        lines = [f"{of[i][0]},{of[i][1]}, {of[j][0]},{of[j][1]}, {v:.15e}" for i, j, v in triangle(a, sp.tril)]
        (folder / name).write_text("** from elsewhere\n" + "\n".join(lines) + "\n")
    return {"mass": folder / "job_MASS1.mtx", "stiffness": folder / "job_STIF1.mtx"}


def write_coordinate(folder: Path, body: Exported, each: int) -> dict:
    for name, a in (("m.mtx", body.M), ("k.mtx", body.K)):
        lines = [f"{i + 1:8d} {j + 1:8d} {v:24.16e}" for i, j, v in triangle(a, sp.coo_array)]
        (folder / name).write_text("\n".join(lines) + "\n")
    return {"mass": folder / "m.mtx", "stiffness": folder / "k.mtx"}


def nastran(value: float) -> str:
    return f"{value:.9E}".replace("E", "D")


def write_punch(folder: Path, body: Exported, each: int) -> dict:
    of, lines = labels(body, each), ["$ large fields", "BEGIN BULK"]
    for name, a in (("KAAX", body.K), ("MAAX", body.M)):
        lines.append(f"DMIG    {name:<8}{0:>8}{6:>8}{2:>8}")
        for j in range(a.shape[0]):
            lines.append(f"DMIG*   {name:<16}{of[j][0]:>16}{of[j][1]:>16}")
            rows = [(i, v) for i, v in zip(a[:, [j]].tocoo().row, a[:, [j]].tocoo().data, strict=True) if i >= j]
            lines += [f"*       {of[i][0]:>16}{of[i][1]:>16}{nastran(v):>16}" for i, v in rows]
    (folder / "job.pch").write_text("\n".join([*lines, "ENDDATA"]) + "\n")
    return {"mass": folder / "job.pch", "stiffness": (folder / "job.pch", "kaax")}


def write_free_field(folder: Path, body: Exported, each: int) -> dict:
    of, lines = labels(body, each), []
    for name, a in (("K2GG", body.K), ("M2GG", body.M)):
        lines.append(f"DMIG,{name},0,6,2,0")
        for j in range(a.shape[0]):
            part = a[:, [j]].tocoo()
            rows = [(i, v) for i, v in zip(part.row, part.data, strict=True) if i >= j]
            said = [f"{of[i][0]},{of[i][1]},{v:.15e},0." for i, v in rows]
            lines.append(f"DMIG,{name},{of[j][0]},{of[j][1]},,{said[0]}")
            lines += ["," + ",".join(said[k : k + 2]) for k in range(1, len(said), 2)]
    (folder / "job.bdf").write_text("\n".join(lines) + "\n")
    return {"mass": folder / "job.bdf", "stiffness": folder / "job.bdf"}


def write_inp(folder: Path, nodes: np.ndarray) -> Path:
    lines = [f"{FIRST + k}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(nodes.tolist())]
    text = ["*HEADING", "** a comment", "*NODE, NSET=NALL", *lines, "*NSET, NSET=LEFT, GENERATE", "11, 13", "*STEP"]
    (folder / "nodes.inp").write_text("\n".join(text) + "\n")
    return folder / "nodes.inp"


def write_grids(folder: Path, nodes: np.ndarray) -> Path:
    small, large = nodes[:2], nodes[2:]
    text = [f"GRID    {FIRST + k:<8}{'':8}{x:<8.5g}{y:<8.5g}{z:<8.5g}" for k, (x, y, z) in enumerate(small)]
    for k, (x, y, z) in enumerate(large):
        text += [f"GRID*   {FIRST + 2 + k:<16}{'':16}{x:<16.10g}{y:<16.10g}*G{k}", f"*G{k:<6}{z:<16.10g}{0:<16}"]
    (folder / "nodes.bdf").write_text("\n".join(text) + "\n")
    return folder / "nodes.bdf"


def write_table(folder: Path, nodes: np.ndarray) -> Path:
    lines = [f"{FIRST + k};{x!r};{y!r};{z!r}" for k, (x, y, z) in enumerate(nodes.tolist())]
    (folder / "nodes.csv").write_text("node;x;y;z\n" + "\n".join(reversed(lines)) + "\n")
    return folder / "nodes.csv"


WRITERS = [write_matrix_market, write_calculix, write_abaqus, write_coordinate, write_punch, write_free_field]


@pytest.mark.parametrize("write_nodes", [write_inp, write_grids, write_table])
@pytest.mark.parametrize("write", WRITERS)
def test_a_body_goes_out_and_comes_back(tmp_path, write, write_nodes):
    ends = {"A": BODY.on(0.0), "B": BODY.on(1.0)}
    numbered = {name: [FIRST + n for n in nodes] for name, nodes in ends.items()}
    back = Superelement.from_files(
        **write(tmp_path, BODY, 3), nodes=write_nodes(tmp_path, BODY.nodes), interfaces=numbered
    )
    digits = 1e-9 if write is write_punch else 1e-14
    for one, other in ((back.M, BODY.M), (back.K, BODY.K)):
        assert abs(one - other).max() <= digits * abs(other).max()
    np.testing.assert_allclose(back.nodes, BODY.nodes, atol=1e-9)
    for name, nodes in ends.items():
        np.testing.assert_array_equal(back.interfaces[name], np.sort(nodes))


@pytest.mark.parametrize("write", [write_calculix, write_abaqus, write_punch, write_free_field])
def test_rotations_and_scalars_come_back_too(tmp_path, write):
    body = beam(2)
    back = Superelement.from_files(
        **write(tmp_path, body, 6), nodes=write_inp(tmp_path, body.nodes), interfaces={"A": [FIRST]}
    )
    np.testing.assert_array_equal(back.dofs[:, 1], np.tile(np.arange(1, 7), 3))
    assert abs(back.K - body.K).max() < 1e-8 * abs(body.K).max()


def test_a_node_set_names_an_interface(tmp_path):
    files = write_calculix(tmp_path, BODY, 3)
    back = Superelement.from_files(**files, nodes=write_inp(tmp_path, BODY.nodes), interfaces={"A": "left"})
    np.testing.assert_array_equal(back.interfaces["A"], [0, 1, 2])


def test_millimetres_and_tonnes_become_metres_and_kilograms(tmp_path):
    ends = {"A": [FIRST + n for n in BODY.on(0.0)]}
    S = sp.diags_array(np.full(BODY.M.shape[0], 1e-3))  # metres per millimetre
    in_mm = Exported(sp.csr_array(S @ BODY.M @ S * 1e3), sp.csr_array(S @ BODY.K @ S * 1e3), 1e3 * BODY.nodes)  # N mm
    assert in_mm.M.sum() == pytest.approx(1e-3 * BODY.M.sum())  # tonnes
    back = Superelement.from_files(
        **write_abaqus(tmp_path, in_mm, 3), nodes=write_inp(tmp_path, in_mm.nodes), interfaces=ends, units=(1e-3, 1e3)
    )
    np.testing.assert_allclose(back.M.toarray(), BODY.M.toarray(), atol=1e-12 * BODY.M.max())
    np.testing.assert_allclose(back.K.toarray(), BODY.K.toarray(), atol=1e-12 * BODY.K.max())
    turned = beam(2)  # rotations have no unit of length
    T = np.where(np.arange(18) % 6 < 3, 1e-3, 1.0)
    S = sp.diags_array(T)
    in_mm = Exported(sp.csr_array(S @ turned.M @ S * 1e3), sp.csr_array(S @ turned.K @ S * 1e3), 1e3 * turned.nodes)
    back = Superelement.from_files(
        **write_abaqus(tmp_path, in_mm, 6),
        nodes=write_inp(tmp_path, in_mm.nodes),
        interfaces={"A": [FIRST]},
        units=(1e-3, 1e3),
    )
    np.testing.assert_allclose(back.K.toarray(), turned.K.toarray(), rtol=1e-12, atol=1e-9)


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_dmig_as_the_manual_writes_it(tmp_path):
    """Small fields, a continuation with two entries, numbers without E, a scalar point; form 1 is not mirrored."""
    text = (
        "$\n"
        "DMIG    STIF    0       1       1\n"
        "DMIG    STIF    27      1               27      1       3.+5\n"
        "        27      3       2.5+10          50              -1.0\n"
        "DMIG    STIF    27      3               27      1       2.5+10\n"
        "+       27      3       1.5-2\n"
        "DMIG,STIF,50,,,27,1,-1.D0\n"
    )
    (tmp_path / "a.bdf").write_text(text)
    found = read_matrix(tmp_path / "a.bdf")
    assert found.dofs.tolist() == [[27, 1], [27, 3], [50, 0]]
    np.testing.assert_array_equal(found.matrix.toarray(), [[3e5, 2.5e10, -1], [2.5e10, 1.5e-2, 0], [-1, 0, 0]])


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 1.5), ("1.5+3", 1500.0), ("-1.5-3", -1.5e-3), ("1.D+6", 1e6), (".7E1", 7.0), ("2d-1", 0.2), ("  ", 0.0)],
)
def test_reals_of_nastran(text, value):
    assert real(text) == value


def test_abaqus_reads_either_triangle_or_all(tmp_path):
    lines = ["1,1, 1,1, 2.0", "2,3, 2,3, 5.0"]
    for k, more in enumerate((["1,1, 2,3, -1"], ["2,3, 1,1, -1"], ["1,1, 2,3, -1", "2,3, 1,1, -1"])):
        (tmp_path / f"{k}.mtx").write_text("\n".join(lines + more))
        found = read_matrix(tmp_path / f"{k}.mtx")
        np.testing.assert_array_equal(found.matrix.toarray(), [[2, -1], [-1, 5]])
        assert found.dofs.tolist() == [[1, 1], [2, 3]]


def test_matrices_with_rows_in_another_order_are_matched(tmp_path):
    (tmp_path / "k.mtx").write_text("5,1, 5,1, 1.0\n3,1, 3,1, 2.0\n5,1, 3,1, 0.5\n")
    (tmp_path / "m.mtx").write_text("5,1, 5,1, 7.0\n4,2, 4,2, 9.0\n")
    K, M, dofs = matched(read_matrix(tmp_path / "k.mtx"), read_matrix(tmp_path / "m.mtx"))
    assert dofs.tolist() == [[3, 1], [5, 1], [4, 2]]
    np.testing.assert_array_equal(K.toarray(), [[2, 0.5, 0], [0.5, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(M.toarray(), np.diag([0.0, 7.0, 9.0]))


def test_node_sets_of_an_input_file(tmp_path):
    (tmp_path / "a.inp").write_text(
        "*NODE,NSET=Nall\n1, 0., 0., 0.\n2, 1.,0.\n7, 0., 2., 3.\n*NSET, NSET=a\n1, 2\n*Nset, nset=B\nA, 7,\n*ELEMENT\n1,1,2\n"
    )
    found = read_nodes(tmp_path / "a.inp")
    assert found.numbers.tolist() == [1, 2, 7]
    np.testing.assert_array_equal(found.points, [[0, 0, 0], [1, 0, 0], [0, 2, 3]])
    assert found.sets == {"NALL": [1, 2, 7], "A": [1, 2], "B": [1, 2, 7]}


# --- what cannot be read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.sti", "1 1 2.0\n", "a.sti"),
        ("a.mtx", "1,1, 1,1\n", "'1 1  1 1'"),
        ("a.mtx", "1,1, -3,1, 2.0\n", "node -3"),
        ("a.mtx", "8,2, 8,2, 1e36\n", "node 8"),
        ("a.txt", "0 1 2.0\n", "a.txt"),
        ("a.txt", "1 1.5 2.0\n", "a.txt"),
        ("a.txt", "1 1 nan\n", "a.txt"),
        ("a.bdf", "DMIG,K,0,9,1,0,,,3\nDMIG,K,1,1,,1,1,2.\n", "DMIG K"),
        ("a.bdf", "DMIG,K,0,6,3\nDMIG,K,1,1,,1,1,2.\n", "DMIG K"),
        ("a.bdf", "DMIG,K,1,1,,1,1,2.\n", "DMIG K"),
        ("a.bdf", "DMIG,K,0,6,1\nDMIG,K,1,1,,1,1,2.x\n", "'2.X'"),
        ("a.bdf", "DMIG,K,0,6,1\nDMIG,K,1,1,,2,1,3.\nDMIG,K,2,1,,1,1,3.\n", "DMIG K"),
        ("a.bdf", "DMIG,K,0,2,1\nDMIG,K,1,1,,2,1,3.\n", "DMIG K"),
        ("a.bdf", "DMIG,K,0,6,1\nDMIG,K,1,1,,1,1,2.\nDMIG,M,1,1,,1,1,2.\n", "a.bdf"),
        ("a.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2.0 1.0\n", "a.mtx"),
    ],
)
def test_files_that_cannot_be_read_say_why(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with raises(ph.errors.InputError, said):
        read_matrix(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("GRID,5,2,0.,0.,0.\n", "GRID 5"),
        ("GRID,5,,0.,0.,0.,3\n", "GRID 5"),
        ("*NODE\n1, a, 0, 0\n", "'1, a, 0, 0'"),
        ("*NODE\n1, 0, 0, 0\n*NSET, NSET=a\n1, b\n", "'b'"),
        ("1 0 0 0\n1 1 1 1\n", "node 1"),
        ("\n", "nodes.txt"),
    ],
)
def test_nodes_that_cannot_be_read_say_why(tmp_path, text, name):
    (tmp_path / "nodes.txt").write_text(text)
    with raises(ph.errors.InputError, name):
        read_nodes(tmp_path / "nodes.txt")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with raises(ph.errors.InputError, "none.mtx"):
        read_matrix(tmp_path / "none.mtx")
