"""The spin-up beam: lag and stretch of its tip, the angle of its hub, few coordinates, and what happens without stiffening."""

from dataclasses import replace

import numpy as np
import pytest

import phloat as ph


def test_the_tip_lags_and_comes_back(reference):
    import spin_up as example

    known = reference["spin_up"]
    assert example.lag.min() == pytest.approx(known["lag"], rel=5e-3)
    assert example.t_lag == pytest.approx(known["at"], abs=0.02)
    for t, value in ((5.0, known["lag at 5 s"]), (10.0, known["lag at 10 s"])):
        assert np.interp(t, example.result.t, example.lag) == pytest.approx(value, rel=5e-3)


def test_the_beam_ends_up_longer_by_the_centrifugal_stretch(reference):
    import spin_up as example

    assert example.steady == pytest.approx(reference["spin_up"]["stretch"], rel=3e-3)


@pytest.mark.parametrize("of", ["joint", "pose"])
def test_the_hub_angle_is_the_given_one(of):
    import spin_up as example

    result = example.result
    if of == "pose":
        body = example.beam.discretise(4)
        system = ph.connect({"beam": body}, [ph.Drive("ground", "beam.P", of="pose", name="hub")], plane="xy")
        u = {"hub": ph.prescribed_position(lambda t: (0.0, 0.0, example.psi(t)))}
        result = ph.simulate(system, ph.set_moving(system, ph.place(system), u=u), t_end=20.0, dt=0.01, u=u)
    angles = np.array([example.psi(t) for t in result.t])
    np.testing.assert_allclose(result["beam.theta"], angles, atol=4e-16 * angles[-1])


@pytest.mark.parametrize("modes", [2, 3, 4, 5, 6])
def test_a_few_modes_with_their_companions_are_the_whole_beam(modes, reference):
    import spin_up as example

    reduced = example.motion(example.beam.discretise(16).reduced(modes=modes))
    stretch, lag = reduced.displacement("beam", s=1.0).T
    assert lag.min() == pytest.approx(example.lag.min(), rel=0.01)
    assert stretch[reduced.t >= 15.0].mean() == pytest.approx(reference["spin_up"]["stretch"], rel=3e-3)


@pytest.mark.filterwarnings("ignore::phloat.errors.LargeDeformationWarning")  # as it should
def test_without_stiffening_it_diverges():
    import spin_up as example

    limp = example.motion(replace(example.beam, stiffening=False).discretise(8), t_end=10.0)
    assert limp.displacement("beam", s=1.0)[-1, 1] < -10.0  # longer than the beam


def test_the_hub_supplies_all_the_energy():
    import spin_up as example

    ledger = ph.energy_ledger(example.result)
    assert list(ledger.supplied) == ["hub"]
    assert ledger.relative < 1e-11  # round-off of 4000 steps
