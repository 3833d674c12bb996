"""How fast a mean over samples comes to the mean of the distribution: the reason for Latin hypercubes and Sobol sequences."""

import numpy as np
import pytest

import phloat as ph
from phloat.many.samples import draw_samples

PARAMETERS = {"a": ph.random.truncated(ph.random.normal(1.0, 0.5), low=0.0, high=2.0), "b": ph.random.uniform(0.0, 1.0)}
SIZES = 2 ** np.arange(4, 13)


def rate(sampling, function, exact):
    """At which power of n the root mean square error, over seeds, of the mean over n samples falls."""
    errors = []
    for n in SIZES:
        means = [function(*draw_samples(PARAMETERS, int(n), sampling, seed).values.T).mean() for seed in range(32)]
        errors.append(np.sqrt(np.mean((np.array(means) - exact) ** 2)))
    return -np.polyfit(np.log(SIZES), np.log(errors), 1)[0]


@pytest.mark.parametrize(("sampling", "expected"), [("random", 0.5), ("latin", 1.5)])
def test_a_sum_of_functions_of_single_parameters_is_what_latin_hypercubes_are_for(sampling, expected):
    assert rate(sampling, lambda a, b: a + b**2, 1.0 + 1 / 3) == pytest.approx(expected, abs=0.12)


def test_parameters_that_act_together_leave_latin_hypercubes_the_rate_of_chance():
    assert rate("latin", lambda a, b: (a - 1.0) * (b - 0.5), 0.0) == pytest.approx(0.5, abs=0.12)


def test_sobol_sequences_are_faster_with_those_too():
    assert rate("sobol", lambda a, b: (a - 1.0) * (b - 0.5) + b**2, 1 / 3) > 1.2
