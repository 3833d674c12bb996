"""Numbers of a system by name: what is made again with other numbers is what would have been made with them at once."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from bodies_zoo import RECIPES, beam, bodies, continua, random_state
from matrices_zoo import box
from parameters_zoo import Taper, assert_same_body, crank_slider

import phloat as ph
from phloat.algebra.metadata import numbers, with_numbers

# --- names ------------------------------------------------------------------------------------------------------------


def test_every_number_has_the_name_of_its_argument():
    found = ph.parameters(crank_slider())
    assert found["rod.material.E"] == 2e11 and found["rod.section.diameter"] == 6e-3 and found["rod.length"] == 0.3
    assert found["slider.mass"] == 0.033 and found["spring.stiffness"] == 40.0 and found["wind.per_length"] == 3.0
    assert found["hinge.at[1]"] == 0.2 and found["gravity[1]"] == -9.81 and found["friction.damping"] == 0.02
    assert "pin.at[0]" not in found and "gravity[2]" not in found  # a joint between bodies stands where they do
    assert list(found)[:3] == ["rod.length", "rod.section.diameter", "rod.material.E"]


def test_symmetric_matrices_have_each_number_once():
    system = ph.connect({"hub": ph.RigidBody(1.0, np.eye(3), ports={"rim": (0.3, 0, 0)}).discretise()})
    assert [n for n in ph.parameters(system) if "inertia" in n][:3] == [f"hub.inertia[0,{k}]" for k in range(3)]
    J = ph.with_parameters(system, {"hub.inertia[0,1]": 0.1}).bodies["hub"].recipe.inertia
    assert J[0, 1] == J[1, 0] == 0.1
    moved = ph.with_parameters(system, {"hub.ports.rim[2]": 0.4, "hub.center[0]": 0.05}).bodies["hub"]
    assert moved.port("rim").x[2] == 0.4 and np.isclose(moved.inertia.s0[0], 0.05)


def test_functions_with_numbers_of_their_own_are_walked():
    arm = beam(section=Taper(0.03, 0.06, 0.02), masses={0.5: 0.2, 1.0: 0.1})
    system = ph.connect({"arm": arm.discretise(2)})
    assert {"arm.section.root": 0.06, "arm.section.tip": 0.02, "arm.masses[0.5]": 0.2}.items() <= ph.parameters(
        system
    ).items()
    wider = ph.with_parameters(system, {"arm.section.tip": 0.05, "arm.masses[1]": 0.3})
    expected = replace(arm, section=Taper(0.03, 0.06, 0.05), masses={0.5: 0.2, 1.0: 0.3})
    assert_same_body(wider.bodies["arm"], expected.discretise(2), 0.0)


def test_numbers_of_laminates_and_tables_are_reached():
    ply = ph.Orthotropic(E=(1.4e11, 1e10, 1e10), nu=(0.3, 0.3, 0.4), G=(5e9, 5e9, 3e9), rho=1600.0)
    value = ph.Laminate([(ply, 1e-3, 0.3), (ply, 1e-3, -0.3)])
    found = numbers(value)
    assert found.values["layers[1][0].E[1]"] == 1e10 and found.values["layers[0][2]"] == 0.3
    other = with_numbers(value, {found.paths["layers[0][2]"]: 0.5, found.paths["layers[1][0].E[1]"]: 2e10})
    assert other.layers[0][2] == 0.5 and other.layers[1][0].E == (1.4e11, 2e10, 1e10) and other.layers[0][0].E == ply.E
    spring = ph.Spring("a.P", "b.P", stiffness={-1.0: -2.0, 0.0: 0.0, 1.0: 3.0})
    assert numbers(spring).values == {"stiffness[-1]": -2.0, "stiffness[0]": 0.0, "stiffness[1]": 3.0, "length": 0.0}


# --- made again -------------------------------------------------------------------------------------------------------


def test_the_same_numbers_give_the_same_system():
    system = crank_slider()
    assert ph.with_parameters(system, ph.parameters(system)) is system
    assert ph.with_parameters(system, {}) is system


def test_other_numbers_give_what_they_would_have_given_at_once():
    new = ph.with_parameters(crank_slider(), {"rod.material.E": 1.5e11, "slider.mass": 0.05, "rod.length": 0.35})
    at_once = crank_slider(1.5e11, 0.05, 0.35)
    for name in new.bodies:
        assert_same_body(new.bodies[name], at_once.bodies[name], 0.0)
    state = random_state(at_once, 3)
    mine, theirs = ph.terms(new, ph.State(new.bodies, new.layout, state.e)), ph.terms(at_once, state)
    for letter in "EJRGB":
        assert np.array_equal(getattr(mine, letter).toarray(), getattr(theirs, letter).toarray()), letter
    assert ph.parameters(new) == ph.parameters(at_once)


def test_what_does_not_change_is_shared():
    system = crank_slider()
    new = ph.with_parameters(system, {"slider.mass": 0.05})
    assert new.bodies["rod"] is system.bodies["rod"] and new.joints["hinge"] is system.joints["hinge"]
    assert new.actuators["wind"] is system.actuators["wind"]


def test_equal_bodies_stay_one_body():
    link = beam().discretise(2)
    system = ph.connect({"a": link, "b": link, "c": link}, [ph.Weld("a.C", "b.P"), ph.Weld("b.C", "c.P")])
    both = ph.with_parameters(system, {("a.length", "b.length"): 1.5})
    assert both.bodies["a"] is both.bodies["b"] and both.bodies["c"] is link
    assert len({id(b) for b in ph.with_parameters(system, {"*.material.E": 1e11}).bodies.values()}) == 1


ON_MESHES = [pytest.param(name, marks=pytest.mark.long) for name in ("plate", "solid", "solid in mean axes")]


@pytest.mark.parametrize("name", [*RECIPES, "rigid body", "point mass", *ON_MESHES])
def test_bodies_of_every_kind_are_made_again(name):
    body = bodies()[name]
    system = ph.connect({"b": body}, gravity=(0.0, -9.81, 0.0))
    told = (
        {"b.mass": 3.0} if name in ("rigid body", "point mass") else {"b.material.E": 1.7e11, "b.material.rho": 7000.0}
    )
    told |= {"b.material.nu": 0.25} if "b.material.nu" in ph.parameters(system) else {}
    new = ph.with_parameters(system, told).bodies["b"]
    recipe = new.construction.recipe
    assert (
        new.coordinates == body.coordinates
        and ph.parameters(ph.connect({"b": new}))["b.mass" if "b.mass" in told else "b.material.E"] in told.values()
    )
    fresh = new.construction.repeat(recipe)
    a, b = (np.sort(np.abs(ph.modes(x.linear()).omega)) for x in (new, fresh))
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * b.max())
    again = ph.with_parameters(ph.connect({"b": new}), {key: ph.parameters(system)[key] for key in told}).bodies["b"]
    if name in continua():  # modes are found by iteration
        np.testing.assert_allclose(ph.modes(again.linear()).omega, ph.modes(body.linear()).omega, rtol=1e-6, atol=1e-2)
    else:
        assert_same_body(again, body, 1e-13)


def test_split_beams_have_the_numbers_of_the_whole_and_stay_welded():
    arm = beam(masses={0.6: 0.3})
    system = ph.connect(
        {"arm": arm.split(3).discretise(2).reduced(modes=2)}, [ph.Revolute("ground", "arm.P", name="hinge")]
    )
    found = ph.parameters(system)
    assert found["arm.length"] == 1.3 and found["arm.masses[0.6]"] == 0.3 and not any("weld" in name for name in found)
    new = ph.with_parameters(system, {"arm.length": 1.6, "arm.masses[0.6]": 0.5})
    at_once = replace(arm, length=1.6, masses={0.6: 0.5}).split(3).discretise(2).reduced(modes=2)
    assert list(new.bodies) == ["arm.1", "arm.2", "arm.3"] and new.bodies["arm.1"] is new.bodies["arm.3"]
    for k, piece in enumerate(at_once.pieces, 1):
        assert new.bodies[f"arm.{k}"].pieces == 3
        np.testing.assert_allclose(
            ph.modes(new.bodies[f"arm.{k}"].linear()).omega, ph.modes(piece.linear()).omega, rtol=1e-9, atol=1e-3
        )


def test_nested_systems_locks_and_drives_stay():
    def arm(at: float, k: float, turned: float = 0.0) -> ph.System:
        return ph.connect(
            {"link": beam(length=0.5).discretise(2), "tip": ph.RigidBody(1.0, np.eye(3)).discretise()},
            [
                ph.Revolute("ground", "link.P", name="shoulder", at=(at, 0.0, 0.0)),
                ph.Revolute("link.C", "tip.P", name="wrist", turned=(0.0, 0.0, turned)),
                ph.JointSpring("wrist", stiffness=k),
                ph.Bushing("tip.P", "ground", stiffness=(1.0, 0, 0, 0, 0, 2.0), name="mount"),
                ph.Force("tip.P", along=(1, 0, 0), name="push"),
            ],
            plane="xy",
        )

    def whole(at: float, k: float, turned: float = 0.0) -> ph.System:
        both = {"left": arm(at, k, turned), "right": arm(0.0, 3.0)}
        return ph.drive(ph.lock(ph.connect(both, plane="xy"), "left.wrist"), "left.shoulder", "right.shoulder")

    told = {"left.shoulder.at[0]": 0.7, "left.wrist.spring.stiffness": 5.0, "left.wrist.turned[2]": 0.4}
    new, expected = ph.with_parameters(whole(0.0, 3.0), told), whole(0.7, 5.0, 0.4)
    for name, c in expected.joints.items():
        mine = new.joints[name]
        assert (mine.locked, mine.driven, mine.free) == (c.locked, c.driven, c.free)
        assert (mine.first.body, mine.second.body) == (c.first.body, c.second.body)
        assert np.array_equal(mine.first.at, c.first.at) and np.array_equal(mine.second.triad, c.second.triad)
    assert new.elements["left.wrist.spring"].laws[0].stiffness == 5.0
    assert new.elements["left.wrist.spring"].second.body == "left.tip"
    state = random_state(expected, 1)
    mine, theirs = ph.terms(new, ph.State(new.bodies, new.layout, state.e)), ph.terms(expected, state)
    assert np.array_equal(mine.G.toarray(), theirs.G.toarray()) and np.array_equal(mine.z, theirs.z)
    longer = ph.with_parameters(new, {"left.link.length": 0.6, "right.push.along[1]": 1.0})
    assert longer.actuators["right.push"].body == "right.tip" and longer.actuators["right.push"].forces[0][0][1] > 0.5


# --- signs of modes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["beam", "pinned beam", "timoshenko beam"])
def test_modes_of_reduced_beams_keep_their_signs(name):
    """A pinned mode of two half waves is as large up as down: round-off would decide its sign."""
    body = RECIPES[name].discretise(6).reduced(modes=4)
    system = ph.connect({"b": body})
    for E in (2.2e11, 1.3e11, 5e11):
        new = ph.with_parameters(system, {"b.material.E": E, "b.length": 1.3 + (E - 2.1e11) * 1e-12}).bodies["b"]
        places = body.shape.places()
        for old, now in ((body.shape.displacement(places), new.shape.displacement(places)),):
            overlap = np.einsum("ik,ik->k", old.toarray(), now.toarray())
            moved = np.abs(old.toarray()).max(axis=0) > 0
            assert (overlap[moved] > 0.0).all()
        assert (new.elastic.D.diagonal() > 0.0).all()
    flipped = new.combined(ph.reduction.Basis(-np.eye(body.coordinates), -np.eye(body.stresses), body.elastic.stresses))
    back = ph.with_parameters(
        ph.connect({"b": replace(flipped, construction=new.construction)}), {"b.material.E": 2.1e11, "b.length": 1.3}
    )
    np.testing.assert_allclose(back.bodies["b"].port("C").Phi, -body.port("C").Phi, atol=1e-6)
    np.testing.assert_allclose(back.bodies["b"].elastic.D.toarray(), body.elastic.D.toarray(), rtol=1e-6, atol=1e-3)


def test_a_state_of_a_reduced_body_means_the_same_with_other_numbers():
    body = beam(frame="pinned").discretise(6).reduced(modes=3)
    system = ph.connect({"b": body}, [ph.Revolute("ground", "b.P", axis=(0, 0, 1))])
    near = ph.with_parameters(system, {"b.material.E": 2.1e11 * (1 + 1e-6), "b.section.h": 0.05 * (1 + 1e-6)})
    state = random_state(system, 5)
    moved = ph.State(near.bodies, near.layout, state.e)
    for s in (0.3, 0.8):
        np.testing.assert_allclose(moved.displacement("b", s), state.displacement("b", s), rtol=1e-4, atol=1e-9)
        for key, value in state.stress("b", s).items():
            assert np.isclose(moved.stress("b", s)[key], value, rtol=1e-3, atol=1.0)


# --- sent elsewhere ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["beam", "timoshenko beam", "rigid body", "point mass", "plate", *ON_MESHES[1:]])
def test_systems_and_states_are_the_same_after_a_journey(name):
    system = ph.connect({"b": bodies()[name]}, [ph.Spherical("ground", "b.P")], gravity=(0.0, -9.81, 0.0))
    state = random_state(system, 2)
    there, at = pickle.loads(pickle.dumps((system, state)))
    assert_same_body(there.bodies["b"], system.bodies["b"])
    assert np.array_equal(at.e, state.e) and ph.parameters(there) == ph.parameters(system)
    assert np.array_equal(ph.terms(there, at).E.toarray(), ph.terms(system, state).E.toarray())
    told = {next(n for n in ph.parameters(system) if n.endswith(("E", "mass"))): 0.9}
    told = {n: 0.9 * ph.parameters(system)[n] for n in told}
    np.testing.assert_allclose(
        ph.with_parameters(there, told).bodies["b"].inertia.J0,
        ph.with_parameters(system, told).bodies["b"].inertia.J0,
        rtol=1e-12,
        atol=1e-12,
    )


def test_superelements_have_the_numbers_of_their_damping():
    body = box((4, 1, 1))
    recipe = ph.Superelement.from_matrices(body.M, body.K, body.nodes, {"P": body.on(0.0), "C": body.on(1.0)}, modes=3)
    recipe = replace(recipe, damping=ph.Rayleigh(relative_to="P"))
    system = ph.connect({"b": recipe.discretise()})
    assert [n for n in ph.parameters(system) if n.startswith("b.")] == ["b.damping.mass", "b.damping.stiffness"]
    new = pickle.loads(pickle.dumps(ph.with_parameters(system, {"b.damping.mass": 0.3}))).bodies["b"]
    np.testing.assert_allclose(new.elastic.R_d.toarray(), 0.3 * new.inertia.M_ff_dense, atol=1e-9)
    np.testing.assert_allclose(new.port("C").Phi, system.bodies["b"].port("C").Phi, atol=1e-9)


def test_what_a_body_should_weigh_is_asked_once():
    weight = 1.2 * 0.2 * 0.1 * 2700.0
    ends = {"frame": "left", "ports": {"P": "left", "C": "right"}, "mass": weight}
    solid = ph.Solid.box(1.2, 0.2, 0.1, material=ph.Material(7e10, 2700.0, 0.3), **ends)
    system = ph.connect({"b": solid.discretise((2, 1, 1), order=1).reduced(modes=1, stiffened=1)})
    new = ph.with_parameters(system, {"b.material.rho": 3000.0, "b.mesh.a": 1.5})
    assert np.isclose(new.bodies["b"].inertia.m, 1.5 * 0.2 * 0.1 * 3000.0)
    assert "b.mass" not in ph.parameters(system)
