"""Split beams against whole ones and against geometry."""

from dataclasses import replace

import numpy as np
import pytest
from bodies_zoo import DIVISIBLE, LOCAL, RECIPES, steel

import phloat as ph


def frequencies(part, plane=None, joints=()) -> np.ndarray:
    system = ph.connect({"beam": part}, joints=[ph.Weld("ground", "beam.P"), *joints], plane=plane)
    return ph.modes(ph.linearise(system, ph.place(system))).elastic


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("name", LOCAL)
def test_frequencies_are_those_of_the_whole_beam_on_the_same_mesh(name, plane):
    """Section, material, masses and ports reach their pieces: a mistake in any of them shows here."""
    whole, split = DIVISIBLE[name].discretise(6), DIVISIBLE[name].split(3).discretise(2)
    np.testing.assert_allclose(frequencies(split, plane), frequencies(whole, plane), rtol=1e-9)


def test_materials_along_the_length_reach_their_pieces():
    layered = ph.Beam(
        1.0,
        lambda s: ph.Rectangle(0.02, 0.01 + 0.01 * s**2),
        lambda s: ph.Material(E=2e11 * (1 - 0.5 * s), rho=7800.0 * (1 + s)),
        masses={0.25: 0.3, 0.5: 0.2, 1.0: 0.1},  # on cuts and at the end
    )
    whole, split = layered.discretise(8), layered.split(4).discretise(2)
    np.testing.assert_allclose(frequencies(split), frequencies(whole), rtol=1e-9)


def test_a_joint_inside_is_at_its_place():
    held = [ph.Spherical("ground", "beam.mid", at=(0.37 * 1.3, 0.0, 0.0))]
    beam = RECIPES["tapered beam with masses"]
    nodes = [0.0, 0.25, 0.37, 0.5, 0.75, 1.0]  # as the pieces have them, cut at the port
    np.testing.assert_allclose(
        frequencies(beam.split(4).discretise(1), joints=held),
        frequencies(beam.discretise(nodes), joints=held),
        rtol=1e-9,
    )


def twisted_ends(body: ph.Body, s: tuple[float, ...]) -> np.ndarray:
    """How the sections at s may twist in the frame of the body, (places, coordinates)."""
    return body.shape.rotation(np.array(s)).toarray()[::3]


@pytest.mark.parametrize("elements", [1, 2, 3, 4, (0.0, 0.2, 0.7, 1.0), (0.0, 0.1, 1.0)], ids=str)
@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
def test_pieces_float_with_their_chord_and_half_their_twist(elements, theory):
    """Whatever the elements are: deflections are held at both ends, the twist near the middle and at no end."""
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel, theory=theory)
    (piece, *_) = beam.split(3).discretise(elements).pieces
    ends = piece.shape.displacement(np.array([0.0, 1.0])).toarray()
    assert not ends[[0, 1, 2, 4, 5]].any() and ends[3].any()
    assert twisted_ends(piece, (0.0, 1.0)).any(axis=1).all()
    held = [s for s in np.linspace(0.0, 1.0, 21) if np.abs(twisted_ends(piece, (s,))).max() < 1e-12]
    assert len(held) == 1 and abs(held[0] - 0.5) < 0.11


def test_a_frame_that_is_stated_is_kept_and_whole_beams_are_cantilevers():
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel)
    assert beam.discretise(2).recipe.frame is None
    assert not beam.discretise(2).ports["P"].Psi.any()
    for frame in ("cantilever", "pinned", "chord", {1.0: ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")}):
        (piece, *_) = replace(beam, frame=frame).split(2).discretise(1).pieces
        assert piece.recipe.frame == frame
    assert beam.split(2).discretise(1).pieces[0].recipe.frame == "chord"


@pytest.mark.parametrize("frame", ["cantilever", "pinned", None])
def test_frames_of_pieces_agree_but_for_the_mesh(frame):
    """A bent strip in the plane: the exact tip within what 8 pieces miss, whatever their frame."""
    strip = ph.Beam(1.0, ph.Rectangle(0.02, 0.002), steel, frame=frame)
    system = ph.connect(
        {"strip": strip.split(8).discretise(1)},
        [ph.Weld("ground", "strip.P"), ph.Torque("strip.C", about=(0, 0, 1), name="moment")],
        plane="xy",
    )
    moment = steel.E * strip.section.I
    tip = ph.equilibrium(system, ph.place(system), u={"moment": moment}).position("strip", 1.0)
    miss = np.linalg.norm(tip - (np.sin(1.0), 1.0 - np.cos(1.0)))
    assert miss < (1e-4 if frame == "cantilever" else 1e-6), miss


def test_damping_by_stiffness_does_not_see_the_cuts():
    beam = RECIPES["beam without stiffening"]  # damped by Kelvin and Voigt
    systems = [
        ph.connect({"beam": part}, joints=[ph.Weld("ground", "beam.P")], plane="xy")
        for part in (beam.discretise(4), beam.split(2).discretise(2))
    ]
    whole, split = (ph.modes(ph.linearise(system, ph.place(system))).poles[:4] for system in systems)
    np.testing.assert_allclose(split, whole, rtol=1e-8)


@pytest.mark.parametrize(("frame", "most"), [("cantilever", 66), (None, 79)])  # a chord twists at both of its ends
def test_reduced_pieces_have_the_frequencies_of_the_beam(frame, most):
    exact = frequencies(RECIPES["beam"].discretise(24))[:6]
    split = replace(RECIPES["beam"], frame=frame).split(3).discretise(8).reduced(modes=1)
    assert sum(piece.coordinates for piece in split.pieces) < most
    np.testing.assert_allclose(frequencies(split)[:6], exact, rtol=3e-3)


def test_place_puts_the_pieces_straight_in_a_loop():
    def rod(length):
        return ph.Beam(length, ph.Circle(0.01), steel)

    system = ph.connect(
        {"a": rod(1.0).split(4).discretise(1), "b": rod(2.0).split(4).discretise(1), "c": rod(1.5).discretise(1)},
        joints=[
            ph.Revolute("ground", "a.P", name="motor"),
            ph.Revolute("a.C", "b.P"),
            ph.Revolute("b.C", "c.C"),
            ph.Revolute("ground", "c.P", at=(1.8, 0, 0)),
        ],
        plane="xy",
    )
    for angle in (0.4, 2.0, 4.5):
        state = ph.place(system, {"motor.angle": angle})
        assert max(float(np.abs(gap).max()) for gap in ph.gaps(system, state).values()) < 1e-11
        np.testing.assert_allclose(state.position("a", 1.0), [np.cos(angle), np.sin(angle)], atol=1e-11)
        knee, end = state.position("b", 0.0), state.position("b", 1.0)
        assert np.linalg.norm(end - knee) == pytest.approx(2.0)
        np.testing.assert_allclose(state.position("b", 0.3), knee + 0.3 * (end - knee), atol=1e-11)
