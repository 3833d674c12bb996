"""Mechanisms that random ones have broken once, kept."""

import numpy as np
import pytest
from building import built
from invariants import DT, apart, moved, state_in
from mechanisms import Link, Part, Plan
from messages import raises
from worlds import HERE, ends_swapped

import phloat as ph


def test_a_locked_mechanism_may_be_given_its_velocities_of_round_off():
    """A triangle of hinged rods cannot move: its velocities are 1e-17, and miss the joints by as much."""
    plan = Plan(
        where="flat",
        links=(Link(kind="rigid", parent=-1, joint="revolute", seed=0),),
        closings=(Part(kind="rod to the ground", first=-1, second=0, seed=0),),
        gravity=False,
    )
    mechanism, state = built(plan)
    assert 0.0 < np.abs(state["b0.omega"]).max() < 1e-14
    with raises(ph.errors.JointError, "b0.omega"):
        ph.set_moving(mechanism.system(), state, {"b0.omega": (0.0, 0.0, 1e-9)})


def test_the_effort_is_the_gradient_where_springs_act_on_sections_that_turn_much():
    """A coordinate of a solid turns its end by 98 rad a unit: no quartic over steps of a hundredth of it."""
    links = (
        Link(kind="solid", parent=-1, joint="planar", seed=5615),
        Link(kind="solid", parent=0, joint="planar", seed=88115),
    )
    mechanism, state = built(Plan(where="space", links=links, gravity=False, seed=193))
    assert ph.effort_defect(mechanism.system(), state) < 1e-8


def test_a_wrong_effort_is_seen(monkeypatch):
    """The finer differences do not make it blind: an effort that is off by a millionth is off by a millionth."""
    from dataclasses import replace

    from phloat.system import terms as module

    mechanism, state = built(Plan(where="space", links=(Link("beam", -1, "spherical", 3),), gravity=True, seed=4))
    right = module.terms
    monkeypatch.setattr(module, "terms", lambda *at: replace(right(*at), z=right(*at).z * (1 + 1e-6)))
    assert 0.9e-6 < ph.effort_defect(mechanism.system(), state) < 1.1e-6


def test_the_ends_of_a_cylindrical_joint_between_bodies_are_the_same_to_second_order():
    """Which body's directions tell the axis changes a step by h² (every other joint between rigid bodies: by round-off)."""
    links = (Link("rigid", -1, "spherical", 0), Link("rigid", 0, "revolute", 0), Link("rigid", 1, "cylindrical", 0))
    mechanism, state = built(Plan(where="space", links=links, gravity=False))
    system = mechanism.system()
    joints = [c.joint for c in system.joints.values()]
    turned = [ends_swapped(j) if isinstance(j, ph.Cylindrical) else j for j in joints]
    springs = [e.recipe for e in system.elements.values()]  # relaxed where it stands on either side: they have no rest
    other = ph.connect(dict(system.bodies), [*turned, *springs], gravity=tuple(system.gravity))
    gaps = []
    for n in (1, 2, 4):
        here = moved(mechanism, state, dt=DT / n, output=n)
        there = ph.simulate(other, state_in(mechanism, state, HERE), here.t[-1], dt=DT / n, output=n)
        gaps.append(apart(mechanism, here, there, HERE))
    assert 1e-9 < gaps[2] < gaps[0]
    assert np.log2(np.array(gaps[:-1]) / gaps[1:]) == pytest.approx([2.0, 2.0], abs=0.1)


def test_a_step_after_a_jump_of_the_force_keeps_the_energy_to_round_off():
    """The second step missed 6.5e-10 J of 0.9 J: its third correction was taken for the last, unmeasured."""
    links = (Link("rigid", -1, "spherical", 0), Link("rigid", 0, "weld", 0))
    plan = Plan(where="plane", links=links, forces=(Part("force", -1, 1, 1),), gravity=False, seed=1)
    result = moved(*built(plan))
    assert ph.energy_ledger(result).relative < 1e-12
