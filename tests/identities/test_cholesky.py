"""Factors of large sparse matrices: Cholesky's by nested dissection does what SuperLU does, and says where it cannot."""

import numpy as np
import pytest
import scipy.sparse as sp

import phloat as ph
from phloat.algebra import cholesky, factors
from phloat.algebra.cholesky import SparseCholesky
from phloat.algebra.factors import factorised, negativity_defect
from phloat.fem.shapes import box

pytest.importorskip("pymetis")
STEEL = ph.Material(E=210e9, nu=0.3, rho=7800.0)


def definite(n, density, rng):
    B = sp.random_array((n, n), density=density, rng=rng)
    return sp.csr_array(B @ B.T + sp.diags_array(1.0 + rng.random(n)))


def arrow(n):
    A = sp.lil_array((n, n))
    A.setdiag(n)
    A[0, 1:], A[1:, 0] = 1.0, 1.0
    return sp.csr_array(A)


def grid(n):
    line = sp.diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=(-1, 0, 1))
    return sp.csr_array(sp.kronsum(sp.kronsum(line, line), line))


def matrices(rng):
    yield sp.csr_array([[4.0]])
    yield sp.csr_array(sp.diags_array(1.0 + rng.random(50)))  # no edges
    yield sp.csr_array(sp.block_diag([definite(30, 0.1, rng), [[2.0]], definite(200, 0.02, rng)]))  # several components
    yield definite(300, 0.3, rng)  # full, wider than a panel
    yield arrow(400)
    yield grid(14)


def test_solutions_have_no_more_than_round_off():
    rng = np.random.default_rng(0)
    for A in matrices(rng):
        f, factor = rng.normal(size=(A.shape[0], 3)), SparseCholesky(A)
        x = factor.solve(f)
        assert abs(A @ x - f).max() < 1e-14 * (abs(A) @ abs(x)).max()
        assert factor.solve(f[:, 0]) == pytest.approx(x[:, 0], rel=1e-9)
        assert (SparseCholesky(A).solve(f) == x).all()


def test_an_entry_may_be_zero_on_one_side_and_round_off_on_the_other():
    A = grid(14).tolil()
    A[np.arange(0, 1000, 7), 2743 - np.arange(0, 1000, 7)] = 1e-17
    A = sp.csr_array(A)
    assert SparseCholesky(A).solve(np.ones(2744)) == pytest.approx(
        SparseCholesky(grid(14)).solve(np.ones(2744)), rel=1e-12
    )


def test_slender_structures_are_factorised_by_minimum_degree(monkeypatch):
    """Their rows have few entries, as those of a grid of lines have."""
    monkeypatch.setattr(factors, "LARGE", 100)
    assert factors.cholesky(grid(9)) is None
    full = definite(300, 0.3, np.random.default_rng(0))
    assert factors.cholesky(full) is not None


def test_the_panels_hold_the_factor():
    """With P A Pᵀ = L Lᵀ the inverses on the diagonal give det A."""
    A = grid(9)
    factor = SparseCholesky(A)
    first, row, _, entry = factor.panels
    blocks = [
        factor.L[a:b].reshape(height, -1)[:columns]
        for a, b, height, columns in zip(entry, entry[1:], np.diff(row), np.diff(first), strict=False)
    ]
    log_det = -2.0 * sum(np.log(np.diag(block)).sum() for block in blocks)
    assert log_det == pytest.approx(np.linalg.slogdet(A.toarray())[1], rel=1e-12)


@pytest.mark.parametrize("entry", [-1.0, 0.0, np.nan])
def test_a_matrix_that_is_not_definite_is_refused(entry):
    A = grid(8).tolil()
    A[100, 100] = entry
    with pytest.raises(np.linalg.LinAlgError):
        SparseCholesky(sp.csr_array(A))


def test_a_large_matrix_that_is_not_definite_is_solved_by_superlu(monkeypatch):
    monkeypatch.setattr(factors, "LARGE", 100)
    A = sp.csr_array(grid(6) - 3.0 * sp.eye_array(216))
    f = np.ones(216)
    assert factors.cholesky(A) is None
    assert factorised(A)(f) == pytest.approx(np.linalg.solve(A.toarray(), f), rel=1e-9)
    assert negativity_defect(grid(9)) == 0.0
    assert negativity_defect(sp.csr_array(grid(9) - 3.0 * sp.eye_array(729))) > 0.1


def test_modes_and_reductions_are_those_of_superlu(monkeypatch):
    body = ph.Solid(box(1.0, 0.8, 0.5, 6, 5, 4), STEEL, frame="left", ports={"A": "left", "B": "right"}).discretise()
    by_lu, reduced_by_lu = body.modes(15), body.reduced(modes=6, stiffened=0)
    used = []
    monkeypatch.setattr(factors, "LARGE", 100)
    monkeypatch.setattr(factors, "find_spec", lambda name: name == "pymetis" or None)
    monkeypatch.setattr(cholesky, "_solve", lambda *a, inner=cholesky._solve: used.append(1) or inner(*a))
    omega, q = body.modes(15)
    reduced = body.reduced(modes=6, stiffened=0)
    assert len(used) > 10
    assert (omega[:6] == 0).all()
    assert omega == pytest.approx(by_lu[0], rel=1e-10)
    assert q.T @ (body.M @ q) == pytest.approx(np.eye(15), abs=1e-9)
    assert ph.modes(body.linear()).omega[6:15] == pytest.approx(omega[6:], rel=1e-6)
    K, K_by_lu = (np.linalg.eigvalsh(b.elastic.K.toarray()) for b in (reduced, reduced_by_lu))
    assert pytest.approx(K_by_lu, rel=1e-8) == K


def test_pardiso_does_the_same_where_it_is_installed(monkeypatch):
    pytest.importorskip("pypardiso")
    monkeypatch.setattr(factors, "LARGE", 100)
    monkeypatch.setattr(factors, "cholesky", lambda A: None)
    rng = np.random.default_rng(0)
    A, f = grid(8), rng.normal(size=(512, 3))
    solve = factorised(A)
    assert "pardiso" in solve.__qualname__
    assert solve(f) == pytest.approx(np.linalg.solve(A.toarray(), f), rel=1e-9)
    assert solve(f[:, 0]) == pytest.approx(np.linalg.solve(A.toarray(), f[:, 0]), rel=1e-9)
    indefinite = sp.csr_array(A - 2.9 * sp.eye_array(512))
    assert factorised(indefinite)(f) == pytest.approx(np.linalg.solve(indefinite.toarray(), f), rel=1e-9)


def test_a_factor_that_does_not_fit_is_refused_before_it_is_made(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 64 kB\nMemAvailable: 8 kB\n", encoding="ascii")
    monkeypatch.setattr(cholesky, "MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(cholesky, "_factorise", lambda *_: pytest.fail("it was begun"))
    with pytest.raises(MemoryError, match="729 unknowns"):
        SparseCholesky(grid(9))
