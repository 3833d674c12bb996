"""Reduced beams are bodies like any other, and what they keep they keep exactly."""

import numpy as np
import pytest
from bodies_zoo import RECIPES, random_state
from messages import raises

import phloat as ph

FULL = {name: recipe.discretise(6) for name, recipe in RECIPES.items()}
REDUCED = {name: body.reduced(modes=2) for name, body in FULL.items()}
REDUCED["beam with a loaded end"] = FULL["beam"].reduced(modes=1, axial=1, torsion=1, loaded=("C",))
FLAT = {name: body.in_plane().reduced(modes=2) for name, body in FULL.items()}

GRAVITY = (0.7, -9.81, 0.0)
SYSTEMS = {f"{name}, in space": ph.connect({"b": body}, gravity=GRAVITY) for name, body in REDUCED.items()}
SYSTEMS |= {
    f"{name}, then in the plane": ph.connect({"b": body}, gravity=GRAVITY, plane="xy") for name, body in REDUCED.items()
}
SYSTEMS |= {
    f"{name}, in the plane": ph.connect({"b": body}, gravity=GRAVITY, plane="xy") for name, body in FLAT.items()
}


def basis(body: ph.Body) -> tuple[np.ndarray, np.ndarray]:
    return body.shape.V_v.toarray(), body.shape.V_sigma.toarray()


def relative(found, expected) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("name", SYSTEMS)
def test_terms_are_port_hamiltonian(name):
    system = SYSTEMS[name]
    for seed in range(2):
        state = random_state(system, seed)
        terms = ph.terms(system, state)
        for what, defect in ph.structure_defects(terms).items():
            assert defect <= 1e-12, what
        assert np.linalg.eigvalsh(terms.E.toarray())[0] > 0
        assert ph.effort_defect(system, state) < 1e-8
        rng = np.random.default_rng(seed)
        u = {port: rng.normal(size=system.ports.shape(port)) for port in system.ports}
        assert abs(ph.power_balance(system, state, u).relative) < 1e-12


@pytest.mark.parametrize("name", FULL)
@pytest.mark.parametrize("reduced", [REDUCED, FLAT], ids=["in space", "in the plane"])
def test_masses_and_compliances_are_one_and_strains_diagonal(name, reduced):
    body = reduced[name]
    omega = body.elastic.D.diagonal()
    np.testing.assert_allclose(body.inertia.M_ff.toarray(), np.eye(body.coordinates), atol=1e-12)
    np.testing.assert_allclose(body.elastic.C.toarray(), np.eye(body.stresses), atol=1e-12)
    assert relative(body.elastic.D.toarray(), np.diag(omega)) < 1e-12
    assert (omega > 0).all()


@pytest.mark.parametrize("name", FULL)
def test_everything_is_the_projection_of_the_full_body(name):
    full, body = FULL[name], REDUCED[name]
    V, _ = basis(body)
    eta = 0.02 * np.random.default_rng(1).normal(size=body.coordinates)
    assert relative(body.elastic.K.toarray(), V.T @ full.elastic.K @ V) < 1e-12
    R_d = V.T @ full.elastic.R_d @ V
    np.testing.assert_allclose(body.elastic.R_d.toarray(), R_d, atol=1e-12 * np.abs(R_d).max())
    wide = np.block([[np.eye(6), np.zeros((6, V.shape[1]))], [np.zeros((V.shape[0], 6)), V]])
    assert relative(body.inertia.at(eta).M, wide.T @ full.inertia.at(V @ eta).M @ wide) < 1e-12
    for port, mine in body.ports.items():
        assert relative(mine.twist(eta), full.ports[port].twist(V @ eta) @ wide) < 1e-12


@pytest.mark.parametrize("name", [*FULL, "beam with a loaded end"])
@pytest.mark.parametrize("flat", [False, True])
def test_stress_is_that_of_the_full_body_in_the_same_shape(name, flat):
    """Companions put the quadratic strain into the strains of kept axial fields: nothing is lost, however far it bends."""
    full, body = FULL[name if name in FULL else "beam"], REDUCED[name]
    if flat:
        full, body = full.in_plane(), FLAT[name] if name in FLAT else full.in_plane().reduced(modes=1, loaded=("C",))
    V, S = basis(body)
    eta = np.random.default_rng(2).normal(size=body.coordinates)
    assert relative(S @ body.elastic.stress(eta), full.elastic.stress(V @ eta)) < 1e-12


@pytest.mark.parametrize("name", FULL)
def test_fields_of_a_state_are_those_of_the_full_body(name):
    full, body = ph.connect({"b": FULL[name]}), ph.connect({"b": REDUCED[name]})
    few = random_state(body, 3)
    few = few.with_values({"b.eta": few["b.eta"]})
    V, _ = basis(REDUCED[name])
    many = ph.place(full, {"b.r_P": few["b.r_P"], "b.A_IB": few["b.A_IB"], "b.eta": V @ few["b.eta"]})
    for s in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(few.position("b", s), many.position("b", s), atol=1e-12)
        np.testing.assert_allclose(few.displacement("b", s), many.displacement("b", s), atol=1e-12)
        expected = many.stress("b", s)
        size = max(map(abs, expected.values()))
        assert few.stress("b", s) == pytest.approx(expected, abs=1e-10 * size)
    np.testing.assert_allclose(few["b.u_f"], many["b.u_f"], atol=1e-12)


def test_coordinates_say_what_came_out():
    space, flat = FULL["beam"].reduced(modes=2), FULL["beam"].in_plane().reduced(modes=2)
    both = {"axial": 5, "bending along y": 2}
    assert flat.families == both and flat.coordinates == flat.stresses == 7
    # one shape in both planes, so one set of companions; and one of torsion
    assert space.families == {"axial": 8, "bending along y": 2, "bending along z": 2, "torsion": 2}
    assert space.in_plane().families == both | {"axial": 8}
    assert "5 axial, 2 bending along y" in repr(flat)
    assert FULL["beam without stiffening"].in_plane().reduced(modes=2).families == both | {"axial": 2}


def test_unlike_planes_bring_companions_each():
    tapered = RECIPES["tapered beam with masses"].discretise(20)
    assert tapered.reduced(modes=2).families["axial"] == 2 + 3 + 3 + 3
    assert tapered.in_plane().reduced(modes=2).families["axial"] == 2 + 3


def test_companions_fill_a_coarse_mesh_and_no_more():
    body = RECIPES["beam"].discretise(2).in_plane()
    assert body.reduced(modes=4).families == body.families == {"axial": 4, "bending along y": 4}


def test_a_basis_of_everything_is_the_full_body():
    full = RECIPES["timoshenko beam"].discretise(2).in_plane()
    whole = full.reduced(modes=full.families["bending along y"], axial=9)
    assert whole.coordinates == full.coordinates
    np.testing.assert_allclose(ph.modes(whole.linear()).omega, ph.modes(full.linear()).omega, rtol=1e-9)


def test_a_reduced_body_can_be_reduced_again():
    once = FULL["beam"].reduced(modes=4, axial=3, torsion=3)
    np.testing.assert_allclose(
        ph.modes(once.reduced(modes=2).linear()).omega, ph.modes(REDUCED["beam"].linear()).omega, rtol=2e-3
    )
    with raises(ph.errors.InputError, "modes"):
        once.reduced(modes=5)


def test_the_same_beam_gives_the_same_basis():
    again = RECIPES["tapered beam with masses"].discretise(6).reduced(modes=2)
    np.testing.assert_array_equal(basis(again)[0], basis(REDUCED["tapered beam with masses"])[0])
