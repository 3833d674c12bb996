"""The systems of benchmarks/phdae: the files are what phloat gives, and SciPy alone finds their structure, poles and responses."""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.linalg as la

import phloat as ph

FOLDER = Path(__file__).parents[1] / "benchmarks" / "phdae"
NAMES = sorted(folder.name for folder in FOLDER.iterdir() if (folder / "E.mtx").exists())


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def read(name):
    return {letter: np.asarray(scipy.io.mmread(FOLDER / name / f"{letter}.mtx").todense()) for letter in "EJRB"}


def table(name, file):
    return np.loadtxt(FOLDER / name / file, delimiter=",", skiprows=1)


def test_there_are_four():
    assert NAMES == ["crank_slider", "four_bar", "plate_with_rod", "two_link_arm"]


def test_the_files_have_the_structure(name):
    m = read(name)
    assert (m["J"] == -m["J"].T).all() and (m["E"] == m["E"].T).all() and (m["R"] == m["R"].T).all()
    unit = 1.0 / np.sqrt(np.where(np.diag(m["E"]) > 0.0, np.diag(m["E"]), 1.0))
    assert la.eigvalsh(unit[:, None] * m["E"] * unit)[0] > -1e-12
    assert la.eigvalsh(unit[:, None] * m["R"] * unit)[0] > -1e-9 * max(
        np.abs(unit[:, None] * m["R"] * unit).max(), 1e-300
    )
    assert m["R"].any() == (name == "two_link_arm")


def test_names_and_units_are_those_of_the_rows(name):
    listed, size = json.loads((FOLDER / name / "names.json").read_text()), len(read(name)["E"])
    sizes = [int(np.prod(shape)) for _, shape in listed["rows"]["blocks"]]
    joints = sum(n for n, (block, _) in zip(sizes, listed["rows"]["blocks"], strict=True) if block.endswith(".lam"))
    assert sum(sizes) == size and len(listed["rows"]["units"]) == size - joints
    assert set(listed["rows"]["units"]) <= {"m/s", "rad/s", "N", "N m"}
    assert len(listed["ports"]) == read(name)["B"].shape[1]


def test_the_response_is_that_of_the_matrices(name):
    m, (omega, *columns) = read(name), table(name, "response.csv").T
    for k in (0, 60, 130, 199):
        G = m["B"].T @ np.linalg.solve(1j * omega[k] * m["E"] - m["J"] + m["R"], m["B"])
        stated = (np.array(columns[::2]) + 1j * np.array(columns[1::2]))[:, k].reshape(G.shape)
        np.testing.assert_allclose(stated, G, rtol=1e-6, atol=1e-9 * np.abs(G).max())
        if name != "two_link_arm":
            assert np.abs(G + G.conj().T).max() < 1e-7 * np.abs(G).max()  # lossless


@pytest.mark.parametrize("name", ["crank_slider", "four_bar", "two_link_arm"])
def test_the_poles_are_those_of_the_matrices(name):
    """By the null space of the joints, scaled to unit energy."""
    m, stated = read(name), table(name, "poles.csv") @ (1.0, 1j)
    n = next(i for i in range(len(m["E"]), 0, -1) if m["E"][i - 1].any())
    P = la.null_space(m["J"][n:, :n])
    L = np.linalg.cholesky(P.T @ m["E"][:n, :n] @ P)
    inverse = np.linalg.inv(L)
    poles = np.linalg.eigvals(inverse @ P.T @ (m["J"] - m["R"])[:n, :n] @ P @ inverse.T)
    for pole in stated:
        assert (
            np.abs(poles - pole).min() < 1e-7 * np.abs(pole) + 2e-2
        )  # double poles at zero move by the root of round-off


def test_the_plate_has_the_pulsations_of_the_slides():
    np.testing.assert_allclose(table("plate_with_rod", "poles.csv")[:3, 1], (170.92, 443.75, 1325.2), rtol=2e-3)


def test_the_files_are_what_phloat_gives(name, monkeypatch):
    for folder in (FOLDER, FOLDER.parents[1] / "examples"):
        monkeypatch.syspath_prepend(str(folder))
    make = import_module("make")
    monkeypatch.delitem(sys.modules, "make")
    linear, *_ = make.SYSTEMS[name]()
    stored = ph.io.from_matlab(FOLDER / name / f"{name}.mat")
    assert stored.rows == linear.rows and stored.ports == linear.ports and stored.multipliers == linear.multipliers
    plain = read(name)
    for letter, matrix in make.standard(linear).items():
        np.testing.assert_allclose(plain[letter], matrix.toarray(), rtol=1e-6, atol=1e-9 * np.abs(plain[letter]).max())
    np.testing.assert_allclose(stored.J.toarray(), linear.J.toarray(), rtol=1e-6, atol=1e-9 * abs(linear.J).max())
