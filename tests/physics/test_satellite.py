"""The free satellite: impulses become momenta for good, and its panels swing as linearise says."""

import numpy as np
import pytest

import phloat as ph


def test_momenta_are_the_impulses():
    import satellite as example

    np.testing.assert_allclose(example.momentum, [20.0, 0.0, 0.0], atol=1e-10)
    np.testing.assert_allclose(example.angular, [0.0, 0.0, 20.0], atol=1e-10)


def test_angular_momentum_stays_after_the_pulse():
    import satellite as example

    assert example.drift < 1e-11


def test_the_panels_swing_at_the_linear_frequency():
    """A torque excites the modes in which the panels bend against the hub; the other ones, as of two wings, stay asleep."""
    import satellite as example

    against = example.predicted[np.abs(example.predicted - example.measured).argmin()]
    assert example.measured == pytest.approx(against, rel=0.01)
    assert np.abs(example.predicted / example.measured - 1).min() < 1e-3
    left, right = (example.result.displacement(name, s=1.0)[:, 1] for name in ("left", "right"))
    assert np.abs(left - right).max() < 1e-3 * np.abs(right).max()


def test_two_modes_have_the_frequencies_of_the_whole_panel():
    import satellite as example

    whole = example.satellite(example.panel.discretise(16))
    np.testing.assert_allclose(
        example.predicted[:2], ph.modes(ph.linearise(whole, ph.place(whole))).elastic[:2], rtol=1e-3
    )
