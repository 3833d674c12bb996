"""Sections and materials that jump along a beam: elements are cut there, so that the order is that of smooth beams."""

import warnings

import numpy as np
import pytest
from messages import warns

import phloat as ph

one = ph.Material(E=1.0, rho=1.0, nu=0.3)
AT = 0.37
THICK, THIN = ph.Section(A=1.0, I=1e-8, J=1e-8), ph.Section(A=0.5, I=0.125e-8, J=1e-9)
EXACT = 3.465678  # of the stepped cantilever, √(EI/ρA)/L² of the thick part as the unit


def stepped(s: float) -> ph.Section:
    return THICK if s < AT else THIN


STEPPED = {"function": stepped, "taper": ph.Taper({AT - 1e-9: THICK, AT + 1e-9: THIN})}


def first(beam, n: int) -> float:
    system = ph.connect({"b": beam.discretise(n)}, [ph.Weld("ground", "b.P")], plane="xy")
    return float(ph.modes(ph.linearise(system, ph.place(system)))[0]) / 1e-4


@pytest.mark.parametrize("section", STEPPED)
def test_a_jump_inside_an_element_keeps_the_order(section):
    """It was 6e-3 off with 64 elements."""
    errors = np.array([first(ph.Beam(1.0, STEPPED[section], one), n) / EXACT - 1 for n in (2, 4, 8)])
    assert errors[-1] < 1e-5
    assert (np.log2(errors[:-1] / errors[1:]) > 3.5).all()


def test_pieces_of_a_stepped_beam_are_cut_as_well():
    assert first(ph.Beam(1.0, stepped, one).split(2), 4) == pytest.approx(EXACT, rel=2e-5)


def nodes(section, elements=8, material=one, **options) -> np.ndarray:
    return ph.Beam(1.0, section, material, **options).discretise(elements).shape.fields.nodes


def test_jumps_are_found_to_round_off():
    for at in (0.37, 0.123456789, 1 / 3):
        found = nodes(lambda s, at=at: THICK if s < at else THIN)
        assert np.abs(found - at).min() < 1e-13 and len(found) in (9, 10)
    staircase = nodes(lambda s: ph.Circle(0.01 + 0.002 * np.floor(7 * s)))
    assert all(np.abs(staircase - k / 7).min() < 1e-13 for k in range(1, 7))
    assert (
        np.abs(nodes(THICK, material=lambda s: one if s < 0.37 else ph.Material(E=2.0, rho=1.0, nu=0.3)) - 0.37).min()
        < 1e-13
    )
    notch = nodes(lambda s: THIN if 0.41 < s < 0.42 else THICK)
    assert all(np.abs(notch - at).min() < 1e-13 for at in (0.41, 0.42))


def test_smooth_functions_are_not_cut():
    for function in (lambda s: 0.01 + 0.02 * s, lambda s: 0.01 + 0.002 * np.sin(40 * s), lambda s: 0.01 + 0.01 * s**3):
        assert len(nodes(lambda s, f=function: ph.Circle(f(s)))) == 9
    assert len(nodes(THICK)) == 9


def test_stations_of_a_taper_are_nodes():
    found = nodes(ph.Taper({0.0: ph.Circle(0.02), 0.3: ph.Circle(0.03), 1.0: ph.Circle(0.01)}))
    assert np.abs(found - 0.3).min() == 0.0


def test_a_node_close_to_a_jump_moves_there_unless_something_is_at_it():
    assert np.abs(np.diff(nodes(lambda s: THICK if s < 0.3751 else THIN))).min() > 0.1
    port = nodes(lambda s: THICK if s < 0.376 else THIN, ports={"a": 0.375})
    assert {0.375, 0.376} <= set(port.round(12))
    frame = {0.375: ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")}
    assert {0.375, 0.376} <= set(nodes(lambda s: THICK if s < 0.376 else THIN, frame=frame).round(12))


@pytest.mark.parametrize("third", [1 / 3, 0.3333333, 0.33335])
def test_a_port_close_to_a_node_takes_its_place(third):
    """An element of a millionth of the length would be a stiffness of 10¹⁸ of the others."""
    beam = ph.Beam(1.0, THICK, one, ports={"third": third}).discretise(3)
    assert beam.coordinates == ph.Beam(1.0, THICK, one).discretise(3).coordinates
    assert np.isclose(beam.port("third").x[0], third, rtol=1e-12)


def test_too_many_jumps_are_said():
    rng = np.random.default_rng(0)
    with warns(ph.errors.JumpsWarning, "200"):
        nodes(lambda s: ph.Circle(0.01 * (1 + rng.random())))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nodes(stepped)


def test_a_beam_made_again_with_another_jump_is_cut_there():
    from phloat.bodies.variation import fast_maker

    body = ph.Beam(1.0, STEPPED["taper"], one).discretise(4)
    maker = fast_maker(body)
    moved = ph.Beam(1.0, ph.Taper({0.6: THICK, 0.61: THIN}), one)
    assert maker is not None and maker(moved) is None
    other = ph.Beam(1.0, ph.Taper({AT - 1e-9: THIN, AT + 1e-9: THICK}), one)
    again, anew = maker(other), other.discretise(4)
    assert np.abs(again.inertia.W - anew.inertia.W).max() < 1e-13 * np.abs(anew.inertia.W).max()
