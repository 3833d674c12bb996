"""Steps in parts: their sizes, what is expected at each, and factors that are kept while another size is at work."""

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.kernel import tables
from phloat.motion.run.kernel_run import WHOLE, KernelRun, Substeps
from phloat.motion.run.task import Task
from phloat.motion.schemes.midpoint import PARTS

STEEL = ph.Material(E=2e11, rho=7800.0, nu=0.3)


def pendulum():
    rod = ph.Beam(0.5, ph.Circle(0.01), STEEL, frame="pinned").discretise(3)
    joints = [ph.Revolute("ground", "a.P"), ph.Revolute("a.C", "b.P")]
    system = ph.connect({"a": rod, "b": rod}, joints, gravity=(0.0, -9.81, 0.0), plane="xy")
    return system, ph.place(system, {"a.theta": 0.3})


def test_a_whole_step_is_one_part():
    assert WHOLE.sizes.tolist() == [1.0]
    np.testing.assert_array_equal(WHOLE.within(np.array([0.0, 1.0, 3.0])), [0.0, 1.0, 3.0])


def test_parts_go_forth_and_back_and_meet_the_nodes():
    times = np.array([0.0, 0.5, 1.0])
    within = PARTS.within(times)
    assert len(PARTS.sizes) == 2
    np.testing.assert_array_equal(within[::5], times)
    np.testing.assert_allclose(np.diff(within), 0.5 * np.tile(PARTS.fractions, 2), atol=1e-15)
    np.testing.assert_array_equal(PARTS.sizes[PARTS.sets], PARTS.fractions)


@pytest.mark.parametrize("power", [0, 1, 2])
def test_what_is_expected_is_right_for_parabolas(power):
    """Whatever goes as 1, t or t² in time is foreseen at the middle of every part from those of the three before."""
    middles = np.convolve(PARTS.within(np.arange(4.0)), [0.5, 0.5], mode="valid")
    for k in range(5, 15):
        found = PARTS.guesses[k % 5] @ middles[k - 3 : k][::-1] ** power
        np.testing.assert_allclose(found, middles[k] ** power, rtol=1e-12)


def test_factors_that_wait_are_those_that_were_made():
    """The same motion, whether factors of both sizes are kept from step to step or made anew at each."""
    system, state = pendulum()
    runners = [KernelRun(Task(system, state, 0.0, 0.2, 2e-3, Inputs(system)), parts=PARTS) for _ in range(2)]
    for k in range(100):
        for runner, anew in zip(runners, (False, True), strict=True):
            runner.step_through(2e-3 * np.array([k, k + 1]))
            runner.h = 0.0 if anew else runner.h
    kept, again = (runner.state().e for runner in runners)
    counts = [runner.packed.iw[tables.I_FACTORISATIONS] for runner in runners]
    assert counts[0] < counts[1]
    np.testing.assert_allclose(kept, again, atol=1e-9 * np.abs(kept).max())


def test_few_factors_are_made_where_steps_are_short():
    system, state = pendulum()
    result = ph.simulate(system, state, 0.02, dt=1e-4, scheme=ph.Composition4())
    assert result.info["factorisations"] < 0.1 * result.info["steps"]


def test_newton_may_stop_early_in_the_composed_step_too():
    system, state = pendulum()
    exact, loose = (
        ph.simulate(system, state, 0.1, dt=1e-3, scheme=ph.Composition4(newton=newton)) for newton in (None, 1e-6)
    )
    assert loose.info["iterations"] < exact.info["iterations"]
    np.testing.assert_allclose(loose.position("b", 1.0), exact.position("b", 1.0), atol=1e-6)
    with raises(ph.errors.InputError, "newton=0.1"):
        ph.Composition4(newton=0.1)


def test_parts_of_another_composition_work_as_well():
    """Yoshida's three parts, made here, are of two sizes too."""
    third = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
    yoshida = Substeps((third, 1.0 - 2.0 * third, third))
    assert yoshida.sets.tolist() == [0, 1, 0]
    assert yoshida.guesses.shape == (3, 3)
