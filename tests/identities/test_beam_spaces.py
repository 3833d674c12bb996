"""Beams in the spaces of the paper: compliance, shortening, frames, files, runs and whatever else takes a beam."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg as la
from bodies_zoo import beam, random_state
from motion_zoo import PAPER, SOFT, pair, random_motion

import phloat as ph
from phloat.bodies.bases import families, members, quadratic_strain
from phloat.system.parameters import fast_makers, parameter_table

RECIPE = beam(spaces="paper", ports={"mid": 0.5})
SPACES = ("local", "paper")


def clamped(body, *more, plane="xy") -> ph.System:
    return ph.connect({"b": body}, [ph.Weld("ground", "b.P"), *more], plane=plane)


def frequencies(body, plane=None) -> np.ndarray:
    system = clamped(body, plane=plane)
    return ph.modes(ph.linearise(system, ph.place(system))).elastic


def test_fields_and_stresses_are_those_of_the_paper():
    body = RECIPE.discretise(4)
    assert body.elastic.stresses.shapes == {"N": (5,), "T": (5,), "M_y": (10,), "M_z": (10,)}
    assert body.families == {"axial": 4, "bending along y": 8, "bending along z": 8, "torsion": 4}


def test_the_compliance_is_banded_and_that_of_a_uniform_beam_does_not_depend_on_how_it_is_stated():
    C = RECIPE.discretise(40).elastic.C.tocoo()
    assert np.abs(C.row - C.col).max() <= 3
    stated = replace(RECIPE, section=lambda s: RECIPE.section).discretise(4).elastic.C.toarray()
    plain = RECIPE.discretise(4).elastic.C.toarray()
    np.testing.assert_allclose(stated, plain, atol=1e-14 * plain.max())


def test_one_element_is_that_of_local_stresses_in_bending():
    """Its moments are linear, which both have."""
    for family in ("bending along y", "bending along z"):
        found = []
        for spaces in SPACES:
            body = replace(RECIPE, spaces=spaces, ports={}).discretise(1)
            part = families(body.elastic, body.inertia.M_ff)[family]
            found.append(part.D.T.toarray() @ part.from_strain(part.D.toarray()))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-10, atol=1e-10 * found[0].max())


@pytest.mark.parametrize("spaces", SPACES)
@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
def test_axial_motion_cancels_what_bending_and_twist_shorten(frame, spaces):
    """ε = Du + ½Qww is zero for some u, whatever w: a continuous N that is tested with all of ½w'² locks."""
    elastic = beam(spaces=spaces, frame=frame).discretise(3).elastic
    rows, columns = members(elastic)["axial"]
    w = np.random.default_rng(1).normal(size=elastic.D.shape[1])
    w[columns] = 0.0
    shortening, D = quadratic_strain(elastic, w, w)[rows], elastic.D[rows][:, columns].toarray()
    u = la.lstsq(D, shortening)[0]
    np.testing.assert_allclose(D @ u, shortening, atol=1e-11 * np.abs(shortening).max())


def test_frequencies_do_not_depend_on_the_frame():
    found = [frequencies(replace(RECIPE, frame=frame).discretise(3)) for frame in ("cantilever", "pinned", "chord")]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-9)


def test_coupled_bending_of_turned_sections_is_that_of_the_section_in_its_axes():
    """A section turned by φ: the frequencies of both planes are those of the section that is not turned."""
    turned = replace(RECIPE, section=ph.Rectangle(0.03, 0.05, angle=0.6), theory="rayleigh")
    plain = replace(turned, section=ph.Rectangle(0.03, 0.05))
    np.testing.assert_allclose(frequencies(turned.discretise(3)), frequencies(plain.discretise(3)), rtol=1e-9)


def test_many_elements_are_not_inverted():
    """1600 elements couple 3202 moments; their modes and a reduced body need no full C⁻¹, which is refused."""
    slender = ph.Beam(1.0, ph.Rectangle(0.01, 0.01), SOFT, spaces="paper").discretise(1600).in_plane()
    unit = np.sqrt(SOFT.E * 0.01**2 / 12 / SOFT.rho)
    for body in (slender, slender.reduced(modes=3)):
        system = clamped(body)
        found = ph.modes(ph.linearise(system, ph.place(system)), 3).omega / unit
        np.testing.assert_allclose(found, [3.5160152685, 22.0344915647, 61.697214414], rtol=1e-8)
    with pytest.raises(ph.errors.InputError, match="spaces='local'"):
        _ = slender.elastic.K


# --- what takes a beam ------------------------------------------------------------------------------------------------


def test_reduced_bodies_have_the_frequencies_of_the_whole():
    whole = RECIPE.discretise(8)
    np.testing.assert_allclose(frequencies(whole.reduced(modes=3))[:4], frequencies(whole)[:4], rtol=1e-5)


def test_pieces_are_joined_by_stresses_that_may_jump():
    """Each piece has its own stresses, so pieces of one element in a plane are those of local stresses in bending."""
    split = [replace(RECIPE, spaces=spaces, ports={}).split(4).discretise(1) for spaces in SPACES]
    np.testing.assert_allclose(*(frequencies(body, "xy")[:3] for body in split), rtol=1e-9)


def test_damping_acts_on_the_whole_strain():
    """Kelvin and Voigt: R_d(η) = τ (D + Qη)ᵀC⁻¹(D + Qη), so that each mode has the damping ratio ½ τω."""
    body = replace(RECIPE, damping=ph.KelvinVoigt(2e-5)).discretise(3)
    eta = 0.01 * np.random.default_rng(3).normal(size=body.coordinates)
    B, C = body.elastic.gradient(eta), body.elastic.C.toarray()
    R_d = body.elastic.damping(eta)
    np.testing.assert_allclose(R_d, 2e-5 * B.T @ la.solve(C, B), atol=1e-9 * np.abs(R_d).max())
    system = clamped(body)
    modes = ph.modes(ph.linearise(system, ph.place(system)))
    np.testing.assert_allclose(-modes.poles.real[:2], 0.5 * 2e-5 * modes.omega[:2] ** 2, rtol=1e-8)


def test_other_numbers_give_the_body_that_discretise_makes():
    """Without the fast way of local stresses."""
    system = clamped(RECIPE.discretise(3), plane=None)
    values = {"b.material.E": 1.6e11, "b.length": 1.7}
    assert fast_makers(system, parameter_table(system), values)[system.bodies["b"]] is None
    new = ph.with_parameters(system, values).bodies["b"]
    fresh = replace(RECIPE, length=1.7, material=replace(RECIPE.material, E=1.6e11)).discretise(3)
    np.testing.assert_allclose(frequencies(new), frequencies(fresh), rtol=1e-10)


MODEL = """phloat: 1
materials: {steel: {E: 2.1e11, rho: 7800, nu: 0.3}}
bodies: {rod: {beam: {length: 1, section: {circle: 10 mm}, material: steel, spaces: paper}, elements: 2}}
joints: {foot: {revolute: [ground, rod.P]}}
"""


def test_models_and_saved_runs_keep_the_spaces(tmp_path):
    model = ph.io.parse_model(MODEL)
    assert model.system.bodies["rod"].recipe.spaces == "paper"
    ph.io.save_model(model.system, tmp_path / "model.yaml")
    again = ph.io.load_model(tmp_path / "model.yaml").system
    assert again.bodies["rod"].recipe == model.system.bodies["rod"].recipe
    state = ph.place(again)
    run = ph.simulate(again, state, 0.01, dt=1e-3, save=tmp_path / "run")
    opened = ph.io.load_result(tmp_path / "run", again)
    assert np.array_equal(opened["rod.sigma"], run["rod.sigma"])


def test_a_run_has_the_stress_of_its_strain():
    system = pair("revolute", PAPER, "xy")
    result = ph.simulate(system, random_motion(system, 5), 0.05, dt=1e-3)
    elastic, last = system.bodies["a"].elastic, result.state(-1)
    np.testing.assert_allclose(
        last["a.sigma"], elastic.stress(last["a.eta"]), atol=1e-7 * np.abs(last["a.sigma"]).max()
    )


def test_terms_are_those_of_a_linear_system_at_rest():
    """E and J of `linearise` are E and J of `terms`: moments and forces are unknowns of their own in both."""
    system = clamped(RECIPE.discretise(2), plane=None)
    state = random_state(system, 2)
    assert max(ph.structure_defects(ph.terms(system, state)).values()) < 1e-12
    linear = ph.linearise(system, ph.place(system))
    assert linear.rows.size - linear.split == system.bodies["b"].stresses
