"""A split beam is one beam to those who ask, and a system of floating pieces like any other."""

import numpy as np
import pytest
from bodies_zoo import DIVISIBLE, RECIPES, random_state

import phloat as ph
from phloat.bodies.beams.split import Assembly

TAPERED = RECIPES["tapered beam with masses"]


def jointed(part: ph.Body | Assembly, plane=None, **options) -> ph.System:
    joints = [ph.Weld("ground", "beam.P", at=(0.2, 0.1, 0.0))]
    return ph.connect({"beam": part}, joints=joints, plane=plane, **options)


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("name", DIVISIBLE)
def test_power_is_balanced_through_the_welds(name, plane):
    system = jointed(DIVISIBLE[name].split(3).discretise(1), plane, gravity=(0.0, -9.81, 0.0))
    state = random_state(system, 1, consistent=True)
    for what, defect in ph.structure_defects(ph.terms(system, state)).items():
        assert defect <= 1e-12, what
    u = {"beam.C": np.arange(1.0, 4.0 if plane else 7.0), "beam.2.P": np.ones(3 if plane else 6)}
    balance = ph.power_balance(system, state, u)
    assert abs(balance.relative) < 1e-12
    assert balance.supplied != 0.0


@pytest.mark.parametrize("pieces", [1, 2, 3, 5])
def test_pieces_have_the_mass_of_the_whole(pieces):
    def of(part):
        system = jointed(part)
        state = ph.place(system)
        weight = [body.inertia.m for body in system.bodies.values()]
        center = [body.inertia.s0 + body.inertia.m * state[f"{n}.r_P"] for n, body in system.bodies.items()]
        return [sum(weight), *sum(center)]

    assert of(TAPERED.split(pieces).discretise(2)) == pytest.approx(of(TAPERED.discretise(2 * pieces)), rel=1e-12)


def test_equal_pieces_are_one_body():
    pieces = RECIPES["beam"].split(4).discretise(2).pieces
    assert all(piece is pieces[0] for piece in pieces)
    assert len({id(piece) for piece in TAPERED.split(4).discretise(2).pieces}) == 4
    system = jointed(RECIPES["beam"].split(4).discretise(2), "xy")
    assert len({id(body) for body in system.bodies.values()}) == 1
    reduced = RECIPES["beam"].split(4).discretise(4).reduced(modes=1).pieces
    assert all(piece is reduced[0] for piece in reduced)


def test_names_are_those_of_one_beam():
    system = jointed(TAPERED.split(4).discretise(1))
    assert list(system.bodies) == ["beam.1", "beam.2", "beam.3", "beam.4"]
    assert list(system.joints) == ["beam.weld 1", "beam.weld 2", "beam.weld 3", "ground-beam.P"]
    assert (system.joints["ground-beam.P"].second.body, system.joints["ground-beam.P"].second.port) == ("beam.1", "P")
    for name, real in {"beam.P": "beam.1.P", "beam.mid": "beam.2.mid", "beam.C": "beam.4.C"}.items():
        assert name in system.ports and system.ports[name] == system.ports[real]
    assert "beam.P" not in list(system.ports)  # one port has one place, whatever it is called


def test_names_are_nested_with_their_system():
    stage = jointed(TAPERED.split(2).discretise(1))
    block = ph.RigidBody(1.0, np.eye(3)).discretise()
    whole = ph.connect({"stage": stage, "block": block}, joints=[ph.Weld("stage.beam.mid", "block.P")])
    assert whole.ports["stage.beam.C"] == whole.ports["stage.beam.2.C"]
    state = ph.place(whole)
    np.testing.assert_allclose(state.position("stage.beam", 1.0), [1.5, 0.1, 0.0], atol=1e-12)
    np.testing.assert_allclose(state["block.r_P"], [0.2 + 0.37 * 1.3, 0.1, 0.0], atol=1e-12)


@pytest.mark.parametrize("plane", [None, "xy"])
def test_places_and_stresses_run_over_the_whole(plane):
    system = jointed(RECIPES["beam"].split(3).discretise(2), plane)
    state = ph.place(system)
    for s in (0.0, 0.1, 1 / 3, 0.5, 2 / 3, 0.999, 1.0):
        np.testing.assert_allclose(state.position("beam", s)[:2], [0.2 + 1.3 * s, 0.1], atol=1e-12)
    bent = random_state(system, 2)
    np.testing.assert_array_equal(bent.position("beam", 0.5), bent.position("beam.2", 0.5))
    assert bent.stress("beam", 0.9) == pytest.approx(bent.stress("beam.3", 0.7))


def test_linear_systems_know_the_ports_by_both_names():
    system = jointed(TAPERED.split(2).discretise(1))
    linear = ph.linearise(system, ph.place(system))
    modes = ph.modes(linear)
    np.testing.assert_array_equal(modes.shape(0, "beam.C"), modes.shape(0, "beam.2.C"))
    assert list(linear.with_ports("beam.C", "beam.mid").ports) == ["beam.C", "beam.mid"]
