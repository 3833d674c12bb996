"""A search for a limit ends at an x that keeps it, beside one that does not, with the evaluations of bisection or fewer."""

import numpy as np
import pytest

import phloat as ph

FUNCTIONS = {
    "smooth": lambda x: np.exp(-3 * x),
    "cubic": lambda x: -((x - 0.61) ** 3),
    "step": lambda x: float(x < 0.4),
    "plateau": lambda x: max(0.7 - x, 0.0) + 0.3,
    "flat, then steep": lambda x: 1.0 if x < 0.8 else -1e9 * (x - 0.8),
    "steep, then flat": lambda x: 1e9 * max(0.3 - x, 0.0) - 1e-9,
}
LIMITS = {"smooth": 0.2, "cubic": 0.0, "step": 0.5, "plateau": 0.3, "flat, then steep": 0.0, "steep, then flat": 0.0}
ENDS = {"smooth": np.log(5.0) / 3, "cubic": 0.61, "step": 0.4, "plateau": 0.7, "flat, then steep": 0.8}
ENDS["steep, then flat"] = 0.3


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_answer_keeps_the_limit_and_its_neighbour_does_not(name, tolerance):
    function, limit = FUNCTIONS[name], LIMITS[name]
    found = ph.find_smallest(function, (0.0, 1.0), below=limit, samples=5, tolerance=tolerance)
    assert function(found.x) == found.number <= limit < function(found.neighbour)
    assert found.neighbour <= ENDS[name] + 1e-15 and found.x - found.neighbour <= tolerance
    assert len(found.values) <= 5 + 1 + max(0, np.ceil(np.log2(0.2503 / tolerance)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_mirrored_scaled_and_turned_round_it_is_the_same_search(name):
    function, limit = FUNCTIONS[name], LIMITS[name]
    found = ph.find_smallest(function, (0.25, 1.0), below=limit)
    largest = ph.find_largest(lambda x: function(-x), (-1.0, -0.25), below=limit)
    above = ph.find_smallest(lambda x: -function(x), (0.25, 1.0), above=-limit)
    halved = ph.find_smallest(lambda x: 1024 * function(x / 1024), (256.0, 1024.0), below=1024 * limit)
    np.testing.assert_array_equal(found.values, -largest.values[::-1])
    np.testing.assert_array_equal(found.values, above.values)
    np.testing.assert_array_equal(1024 * found.values, halved.values)  # powers of two: no rounding
    assert found.x == -largest.x == above.x == halved.x / 1024


@pytest.mark.filterwarnings("ignore::phloat.errors.SeveralCrossingsWarning")
@pytest.mark.parametrize("limit", np.geomspace(0.07, 0.75, 12))
def test_peaks_between_samples_are_found(limit):
    def number(x):
        return abs(np.sin(8 * np.pi * x + 0.3)) * np.exp(-3 * x)  # four samples a peak

    found = ph.find_smallest(number, (0.0, 1.0), below=limit, samples=33)
    assert number(np.linspace(found.x, 1.0, 9999)).max() < 1.01 * limit
    assert number(np.linspace(0.9 * found.x, found.x, 99)).max() > limit


def test_each_x_is_evaluated_once_and_decades_are_sampled_by_ratios():
    tried = []

    def number(x):
        tried.append(x)
        return 1.0 / x

    found = ph.find_smallest(number, (1e-3, 1e3), below=2.0, samples=7)
    np.testing.assert_allclose(tried[:7], 10.0 ** np.arange(-3, 4))
    assert sorted(tried) == found.values.tolist() and len(set(tried)) == len(tried)
    assert found.x == pytest.approx(0.5, abs=0.01)
