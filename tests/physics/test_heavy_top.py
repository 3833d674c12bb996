"""The heavy top against the known place of its mass centre."""

import numpy as np
import pytest


def test_energy_and_vertical_angular_momentum(reference):
    import heavy_top as example

    assert example.energy == pytest.approx(reference["heavy_top"]["energy"], rel=1e-10)
    assert example.drift < 1e-10
    for result in example.second:
        np.testing.assert_allclose(result.angular_momentum[:, 2], result.angular_momentum[0, 2], rtol=1e-11)


def test_the_default_scheme_is_of_order_two():
    import heavy_top as example

    np.testing.assert_allclose(example.rates(example.errors["Midpoint"]), 2.0, atol=0.02)
    assert example.errors["Midpoint"][-1] < 3e-5


def test_the_composed_scheme_is_of_order_four():
    import heavy_top as example

    np.testing.assert_allclose(example.rates(example.errors["Composition4"]), 4.0, atol=0.1)
    assert example.errors["Composition4"][-1] < 1e-6
