"""Families of systems: bodies as sums of unit arrays, by similarity, or from their numbers are those that are made anew."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from bodies_zoo import LOCAL, RECIPES, beam, continua
from parameters_zoo import Taper, assert_same_body, crank_slider, remade

import phloat as ph
from phloat.bodies.variation import Scaling, fast_maker
from phloat.system.parameters import fast_makers, parameter_table, with_parameter_values

# --- unit arrays ------------------------------------------------------------------------------------------------------

CHANGED = {
    "material.E": 1.6e11,
    "material.rho": 7100.0,
    "material.nu": 0.2,
    "length": 1.7,
    "section.h": 0.06,
    "section.b": 0.02,
    "damping.stiffness": 3e-5,
    "damping.time": 4e-5,
    "masses[0.37]": 2.0,
}


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("name", LOCAL)
def test_beams_as_sums_of_unit_arrays_are_the_integrals_over_their_elements(name, plane, monkeypatch):
    recipe = replace(RECIPES[name], length=1.7)
    summed = recipe.discretise(3)
    monkeypatch.setattr("phloat.bodies.beams.beam.has_skew_sections", lambda number: True)  # these have no unit arrays
    assembled = recipe.discretise(3)
    assert_same_body(*(body.in_plane() if plane else body for body in (summed, assembled)), 1e-13)


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("name", LOCAL)
def test_beams_as_sums_of_unit_arrays_are_what_discretise_makes(name, plane):
    system = ph.connect({"b": RECIPES[name].discretise(3)}, plane=plane)
    told = {f"b.{key}": value for key, value in CHANGED.items() if f"b.{key}" in ph.parameters(system)}
    assert fast_makers(system, parameter_table(system), told)[system.bodies["b"]] is not None
    new = remade(system, told)
    assert_same_body(new.bodies["b"], ph.with_parameters(system, told).bodies["b"])
    assert ph.parameters(new) == ph.parameters(ph.with_parameters(system, told))
    still = remade(system, {key: ph.parameters(system)[key] for key in told})
    assert still.bodies["b"] is system.bodies["b"]


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("changes", [{"b.material.E": 1.6e11}, {"b.length": 1.7}])
def test_kept_matrices_are_shared_by_beams_of_equal_length_only(changes, plane):
    system, s = ph.connect({"b": beam().discretise(3)}, plane=plane), np.array([0.0, 0.3, 1.0])

    def fields(shape):
        return {"displacement": shape.displacement(s), "rotation": shape.rotation(s), **shape.stress(s)}

    before, remade_fields = fields(system.bodies["b"].shape), fields(remade(system, changes).bodies["b"].shape)
    expected = fields(ph.with_parameters(system, changes).bodies["b"].shape)
    assert remade_fields.keys() == expected.keys()
    for name, matrix in remade_fields.items():
        np.testing.assert_allclose(matrix.toarray(), expected[name].toarray(), rtol=1e-12, atol=1e-12, err_msg=name)
        assert (matrix is before[name]) == ("b.length" not in changes), name


@pytest.mark.parametrize("name", ["material.E", "material.nu", "material.rho", "masses[0.37]", "length", "section.h"])
def test_inertia_is_shared_where_no_mass_changes(name):
    system = ph.connect({"b": beam(masses={0.37: 1.0}).discretise(3)}, plane="xy")
    changes = {f"b.{name}": CHANGED[name]}
    new = remade(system, changes).bodies["b"]
    assert (new.inertia is system.bodies["b"].inertia) == (name in ("material.E", "material.nu"))
    assert_same_body(new, ph.with_parameters(system, changes).bodies["b"])


def test_pieces_of_split_beams_come_from_unit_arrays_too():
    arm = beam(section=Taper(0.03, 0.06, 0.02), masses={0.6: 0.3}).split(3).discretise(2)
    system = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P", axis=(0, 0, 1))])
    told = {"arm.section.tip": 0.03, "arm.masses[0.6]": 0.5, "arm.length": 1.5}
    new, expected = remade(system, told), ph.with_parameters(system, told)
    for name in system.bodies:
        assert_same_body(new.bodies[name], expected.bodies[name])
        assert new.bodies[name].pieces == 3


@pytest.mark.parametrize("plane", [None, "xy"])
def test_rigid_bodies_are_their_numbers(plane):
    J = np.diag([0.4, 0.5, 0.6])
    hub = ph.RigidBody(2.5, J, center=(0.1, -0.2, 0.0), ports={"tip": (0.5, 0.2, 0.0)}).discretise()
    system = ph.connect({"hub": hub, "m": ph.PointMass(1.0).discretise()}, plane=plane)
    told = {"hub.mass": 3.0, "hub.inertia[2,2]": 0.7, "hub.center[0]": 0.3, "hub.ports.tip[1]": 0.5, "m.mass": 2.0}
    new, expected = remade(system, told), ph.with_parameters(system, told)
    for name in system.bodies:
        assert_same_body(new.bodies[name], expected.bodies[name], 1e-15)


@pytest.mark.parametrize("plane", [None, "xy"])
def test_reduced_beams_are_begun_from_unit_arrays(plane):
    parts = {"b": beam().discretise(4).reduced(modes=2), "arm": beam().split(2).discretise(2).reduced(modes=1)}
    system = ph.connect(parts, [ph.Weld("ground", "b.P")], plane=plane)
    told = {"*.material.E": 1e11, "arm.length": 1.5, "b.section.h": 0.06}
    new, expected = remade(system, told), ph.with_parameters(system, told)
    for name in system.bodies:
        assert_same_body(new.bodies[name], expected.bodies[name], 1e-7)  # modes are found to 1e-8
    assert new.bodies["arm.1"] is new.bodies["arm.2"]


REDUCED = {
    "pinned beam": lambda: beam(frame="pinned").discretise(5).reduced(modes=3),
    "timoshenko beam": lambda: beam(theory="timoshenko").discretise(3).reduced(modes=2, loaded=("C",)),
    "damped beam": lambda: RECIPES["damped beam"].discretise(4).reduced(modes=2),
    "without stiffening": lambda: RECIPES["beam without stiffening"].discretise(4).reduced(modes=2),
    "split beam": lambda: beam().split(2).discretise(2).reduced(modes=1),
    "plate": lambda: continua()["plate"],
    "solid": lambda: continua()["solid"],
}


@pytest.mark.parametrize("name", [n if n != "solid" else pytest.param(n, marks=pytest.mark.long) for n in REDUCED])
def test_reduced_bodies_of_another_modulus_density_or_damping_are_similar(name):
    """Their modes are found to 1e-8 only; by similarity they are those of the first, to round-off."""
    body = REDUCED[name]()
    system = ph.connect({"b": body}, [ph.Weld("ground", "b.P")])
    damping = next(n for n in ph.parameters(system) if n.startswith("b.damping"))
    told = {"b.material.E": 1.3e11, "b.material.rho": 9000.0, damping: 2e-5}
    new, expected = remade(system, told), ph.with_parameters(system, told)
    for part in system.bodies:
        similar = fast_maker(system.bodies[part])
        assert isinstance(similar, Scaling) and similar(new.bodies[part].construction.recipe) is not None
        made, anew = new.bodies[part], expected.bodies[part]
        assert_same_body(made, anew, 1e-6)
        assert made.recipe.material == anew.recipe.material and made.recipe.damping == anew.recipe.damping
        place = made.shape.stress_points()[:2]
        wanted = anew.shape.cauchy(place).toarray()
        np.testing.assert_allclose(made.shape.cauchy(place).toarray(), wanted, atol=1e-6 * np.abs(wanted).max())
    assert ph.parameters(new) == ph.parameters(expected)


def test_lumped_masses_and_other_numbers_are_not_similar():
    body = beam(masses={0.5: 1.0}).discretise(4).reduced(modes=2)
    similar, recipe = fast_maker(body), body.recipe
    assert similar(replace(recipe, material=replace(recipe.material, E=1e11))) is not None
    assert similar(replace(recipe, material=replace(recipe.material, rho=1e3))) is None
    assert similar(replace(recipe, length=2.0)) is None and similar(replace(recipe, masses={0.5: 2.0})) is None


@pytest.mark.long
def test_bodies_on_meshes_are_made_anew_where_they_are_not_similar():
    system = ph.connect({"b": continua()["plate"]})
    told = {"b.material.nu": 0.2}
    assert_same_body(remade(system, told).bodies["b"], ph.with_parameters(system, told).bodies["b"], 0.0)


def test_makers_travel():
    system, told = crank_slider(), {"rod.material.E": 1e11, "slider.mass": 0.1, "rod.length": 0.4}
    table = parameter_table(system)
    some = system, table, told, fast_makers(system, table, told)
    there = with_parameter_values(*pickle.loads(pickle.dumps(some)))
    for name, body in with_parameter_values(*some).bodies.items():
        assert_same_body(there.bodies[name], body, 0.0)
