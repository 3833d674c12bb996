"""Large linear systems: sparse eliminations, counts of eigenvalues, chains of many links, fields that are computed where used."""

import importlib
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import jn_zeros

import phloat as ph
from phloat.algebra.elimination import CANCELLED, free_motions, signed_factor
from phloat.algebra.sparse import block_inverse, blocks_by_size, components, csr, dependencies, small_blocks
from phloat.linear.analysis.shift_invert import eigenvalues_below
from phloat.linear.form.second_order import SecondOrder, undamped
from phloat.motion.initial.statics import forces
from phloat.motion.initial.velocities import velocity_indices
from phloat.system.terms import terms

modes_module = importlib.import_module("phloat.linear.analysis.modes")
phdae_module = importlib.import_module("phloat.linear.form.phdae")
spin_module = importlib.import_module("phloat.analysis.steady_spin")
LINK = ph.Beam(0.5, ph.Rectangle(0.02, 0.005), ph.Material(E=70e9, rho=2700.0, nu=0.3)).discretise(3).in_plane()
G = 9.81


def chain(links: int, g: float = 0.0, *parts: object) -> ph.System:
    """Flexible links along x, each on the one before by a hinge."""
    joints = [ph.Revolute("ground", "0.P"), *(ph.Revolute(f"{k}.C", f"{k + 1}.P") for k in range(links - 1))]
    return ph.connect({f"{k}": LINK for k in range(links)}, [*joints, *parts], gravity=(g, 0.0, 0.0), plane="xy")


def hanging(links: int, g: float = G) -> ph.LinearPHDAE:
    """Such a chain under gravity, which pulls or pushes along it."""
    system = chain(links, g)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.errors.UnstableEquilibriumWarning)
        return ph.linearise(system, ph.equilibrium(system, ph.place(system)))


def drawn_sparse(random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return random.normal(size=(rows, columns)) * (random.random((rows, columns)) < random.choice([0.1, 0.3, 1.0]))


@pytest.mark.parametrize("seed", range(60))
def test_free_motions_span_the_null_space_whatever_the_units(seed):
    random = np.random.default_rng(seed)
    n, rows = random.integers(1, 25), random.integers(0, 25)
    A = drawn_sparse(random, rows, n)
    if rows > 2:
        A[0] = 2.0 * A[1] - A[2]  # a dependent row
    rank = int(np.linalg.matrix_rank(A)) if rows else 0
    mass, unit = 10.0 ** random.uniform(-6, 6, n), 10.0 ** random.uniform(-4, 4, rows)
    Z, free = free_motions(csr(unit[:, None] * A * np.sqrt(mass)), mass)
    assert Z.shape == (n, n - rank) == (n, len(free))
    scaled = np.sqrt(mass)[:, None] * Z.toarray()
    assert (np.abs(A @ scaled) <= 1e-9 * (np.abs(A) @ np.abs(scaled))).all()
    np.testing.assert_array_equal(Z.toarray()[free], np.eye(len(free)))


@pytest.mark.parametrize("seed", range(60))
def test_signed_factors_give_the_matrix_its_rank_and_its_signs(seed):
    random = np.random.default_rng(seed)
    n, rank = random.integers(1, 25), random.integers(0, 12)
    W = drawn_sparse(random, n, rank)
    K = W @ np.diag(random.choice([-1.0, 1.0], rank)) @ W.T
    if seed % 3 == 0:
        np.fill_diagonal(K, 0.0)  # pivots of two rows
    value = np.linalg.eigvalsh(K)
    zero = 1e-9 * np.abs(value).max(initial=0.0)
    root = 10.0 ** random.uniform(-3, 3, n)
    size = CANCELLED * (np.abs(W) @ np.abs(W.T)) * root * root[:, None]
    L, mu = signed_factor(csr(K * root * root[:, None]), csr(size), root**2)
    assert ((mu > 0).sum(), (mu < 0).sum()) == ((value > zero).sum(), (value < -zero).sum())
    L = L.toarray() / root[:, None]
    np.testing.assert_allclose((L * mu) @ L.T, K, atol=1e-8 * max(np.abs(K).max(), 1.0))


def test_pivots_far_apart_are_eliminated_together_and_the_factor_of_a_chain_stays_sparse():
    n = 2000
    K = np.diag(np.full(n, 2.0)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
    L, mu = signed_factor(csr(K), csr(CANCELLED * np.abs(K)), np.ones(n))
    assert L.nnz < 12 * n and (mu > 0).all()
    assert abs(L @ csr(np.diag(mu)) @ L.T - csr(K)).max() < 1e-12


def test_blocks_are_those_of_the_components():
    random = np.random.default_rng(1)
    order = random.permutation(12)
    A = np.zeros((12, 12))
    for index in (order[:3], order[3:6], order[6:7], order[7:]):
        A[np.ix_(index, index)] = random.normal(size=(len(index),) * 2) + 4.0 * np.eye(len(index))
    found = sorted(
        tuple(sorted(g)) for index, _ in small_blocks(csr(A), blocks_by_size(csr(A))) for g in index.tolist()
    )
    assert found == sorted(tuple(sorted(g)) for g in map(np.ndarray.tolist, components(csr(A))))
    inverse = block_inverse(csr(A))
    assert inverse is not None and block_inverse(csr(A), limit=4) is None
    np.testing.assert_allclose(inverse.toarray() @ A, np.eye(12), atol=1e-12)


@pytest.mark.parametrize("dependent", [0, 3])
def test_dependent_rows_are_found_among_many(dependent):
    """A bidiagonal matrix of 700 rows, whose smallest singular value is 1e-3; some of its rows a second time."""
    rows = np.eye(700, 701) - np.eye(700, 701, 1)
    mu = dependencies(csr(np.vstack([rows, 2.0 * rows[:dependent]])))
    assert mu.shape == (700 + dependent, dependent)


# --- chains -----------------------------------------------------------------------------------------------------------


def test_a_chain_of_many_links_hangs_and_swings_as_a_heavy_string():
    """ω = j₀ₖ/2 √(g/L) with the zeros of the Bessel function J₀; 300 links of 0.5 m, whose stiffness matters little."""
    linear = hanging(300)
    assert linear.passive and max(linear.structure().values()) < 1e-12
    omega = ph.modes(linear, 6).omega
    np.testing.assert_allclose(omega, jn_zeros(0, 6) / 2 * np.sqrt(G / 150.0), rtol=5e-4)


def test_what_loads_add_grows_with_the_number_of_links():
    one, two = hanging(20), hanging(80)
    for name in ("E", "J"):
        entries = [getattr(linear, name).nnz for linear in (one, two)]
        assert entries[1] < 4.3 * entries[0]
    assert two.rows.size < 4.1 * one.rows.size


@pytest.mark.parametrize("g", [G, -G])
def test_sparse_modes_of_loaded_chains_are_the_dense_ones(g, monkeypatch):
    """Hanging, and standing on its last link, where half of the motions fall."""
    linear = hanging(8, g)
    dense, passive = ph.modes(linear, 24), linear.passive
    monkeypatch.setattr(modes_module, "DENSE_VELOCITIES", 10)
    monkeypatch.setattr(modes_module, "MAX_LOADED", 10)
    monkeypatch.setattr(phdae_module, "DENSE", 10)
    linear = replace(linear)  # without what was computed once
    sparse = ph.modes(linear, 24)
    assert linear.passive == passive == (g > 0)
    np.testing.assert_allclose(sparse.omega, dense.omega, rtol=1e-8)
    assert (sparse.growth is None) == (dense.growth is None) == (g > 0)
    if g < 0:
        np.testing.assert_allclose(sparse.growth, dense.growth, rtol=1e-8)
    M = linear.E[: linear.split, : linear.split]
    overlap = np.abs(np.einsum("ik,ik->k", sparse.vectors, M @ dense.vectors))
    np.testing.assert_allclose(overlap, 1.0, rtol=1e-7)


def test_eigenvalues_below_a_value_are_counted(monkeypatch):
    linear = hanging(8)
    squared = ph.modes(linear).omega ** 2
    model, Z, free = SecondOrder.from_system(undamped(linear)).on_free_motions()
    assert model.G.shape[0] == 0 and Z.shape == (linear.split, len(free)) == (linear.split, len(squared))
    assert abs(linear.G[:, : linear.split] @ Z).max() < 1e-12
    for value in (-1.0, 1.0, 30.0, 1e4, 1e6):
        assert eigenvalues_below(model, value) == (squared < value).sum()


@pytest.mark.parametrize("count", [3, 7])
def test_modes_in_clusters_are_not_missed(count, monkeypatch):
    """Twelve equal pendulums: Krylov sequences see one of them."""
    joints = [ph.Revolute("ground", f"{k}.P", at=(0.0, float(k), 0.0)) for k in range(12)]
    system = ph.connect({f"{k}": LINK for k in range(12)}, joints, gravity=(G, 0.0, 0.0), plane="xy")
    linear = ph.linearise(system, ph.settle(system, ph.place(system, {f"{k}.r_P": (0.0, k) for k in range(12)})))
    dense = ph.modes(linear).omega[:count]
    monkeypatch.setattr(modes_module, "DENSE_VELOCITIES", 10)
    np.testing.assert_allclose(ph.modes(linear, count).omega, dense, rtol=1e-9)


# --- spin -------------------------------------------------------------------------------------------------------------


def test_a_spin_by_sparse_matrices_is_that_by_full_ones(monkeypatch):
    full = ph.steady_spin(chain(6), rate=2.0)
    monkeypatch.setattr(spin_module, "DENSE", 1)
    sparse = ph.steady_spin(chain(6), rate=2.0)
    np.testing.assert_allclose(sparse.e, full.e, atol=1e-9 * np.abs(full.e).max())


@pytest.mark.parametrize("plane", ["xy", None])
def test_forces_of_a_system_that_spins_are_those_of_its_terms(plane):
    """J z − R z + B u, with dampers on the ground, springs and loads; at rest too."""
    beam = ph.Beam(
        0.5, ph.Rectangle(0.02, 0.005), ph.Material(E=70e9, rho=2700.0, nu=0.3), damping=ph.KelvinVoigt(1e-4)
    )
    parts = [
        ph.Revolute("ground", "a.P", name="hinge"),
        ph.Revolute("a.C", "b.P"),
        ph.Damper("ground", "b.C", at=(2.0, 0.3, 0.0), damping=3.0, name="d"),
        ph.Spring("a.P", "b.C", stiffness=20.0, length=0.3, name="s"),
        ph.Force("b.C", along=(0, 1, 0), name="push"),
    ]
    system = ph.connect(
        {"a": beam.discretise(2), "b": beam.discretise(2)}, parts, plane=plane, gravity=(0.0, -2.0, 0.0)
    )
    state = ph.place(system, {"hinge.angle": 0.4})
    random = np.random.default_rng(3)
    eta = {f"{k}.eta": 1e-3 * random.normal(size=system.bodies[k].coordinates) for k in "ab"}
    state = state.with_values(eta)
    for rate in (0.0, 3.0):
        moving = spin_module._with_spin(system, state, np.array([0.0, 0.0, rate]), np.array([0.1, 0.2, 0.0]))
        u = np.zeros(system.ports.size)
        u[system.ports["push"]] = 5.0
        matrices = terms(system, moving)
        expected = ((matrices.J - matrices.R) @ matrices.z + matrices.B @ u)[velocity_indices(system)]
        f, size = forces(system, moving, u)
        assert (np.abs(f - expected) <= 1e-12 * size.max()).all() and (np.abs(expected) <= size.max()).all()


# --- fields -----------------------------------------------------------------------------------------------------------


def test_fields_are_computed_where_they_are_used_and_survive_copies():
    linear = hanging(3)
    assert not linear.fields.known
    field = linear.fields["1"]
    assert list(linear.fields.known) == ["1"] and linear.fields["1"] is field and len(linear.fields) == 3
    copied = pickle.loads(pickle.dumps(linear.fields))
    assert isinstance(copied, dict)
    np.testing.assert_array_equal(copied["1"].motion.toarray(), field.motion.toarray())
    renamed = linear.prefixed("stage").fields
    assert list(renamed) == [f"stage.{k}" for k in range(3)] and renamed["stage.1"] is field
    e = np.random.default_rng(0).normal(size=linear.rows.size)
    v_P = linear.rows["1.v_P"]
    np.testing.assert_allclose(field.of(e)[0, :2], e[v_P], atol=1e-12 * np.abs(e).max())
