"""The iterations of a step where residuals are told: when it counts as solved, when factors are made, what is taken back."""

import math

import numpy as np
import pytest
from kernel_zoo import as_written

from phloat.motion.kernel import step, tables as t

TOLERATED, COSTLY = 16.0, 1.2


class Told:
    """`solve` where residuals are told one by one; `log` has what it did: m(easured), n(ot measured), f(actors), c(orrected),
    b(ack)."""

    def __init__(self, *sizes, careful=False, factored=1, costly=COSTLY, regular=True):
        self.sizes, self.log, self.regular = list(sizes), "", regular
        self.w, self.iw = np.zeros(t.SCRATCH_SIZE), np.zeros(t.I_HEADER, dtype=int)
        self.w[[t.TOLERATED, t.COSTLY]] = TOLERATED, costly
        self.iw[[t.I_FACTORED, t.I_ITERATIONS, t.I_MOST, t.I_STALLED]] = factored, 100, 3, 50
        solve = as_written(
            step.solve,
            residuals=self.evaluate,
            refactor=self.refactor,
            correct=lambda *_: self.did("c"),
            undo_correction=lambda *_: self.did("b"),
            refactoring_pays=as_written(step.refactoring_pays),
        )
        self.status = solve(None, self.w, self.iw, None, 0.1, careful)

    def did(self, what):
        self.log += what

    def evaluate(self, m, w, iw, gravity, h, whole):
        self.did("m" if whole else "n")
        return self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0]

    def refactor(self, m, w, iw, gravity, h):
        self.did("f")
        iw[t.I_FACTORED] = 1
        return self.regular

    @property
    def counted(self):
        """Iterations, most of them, stalled steps."""
        return tuple(
            int(self.iw[k] - before) for k, before in ((t.I_ITERATIONS, 100), (t.I_MOST, 0), (t.I_STALLED, 50))
        )


def test_a_step_is_solved_once_its_residual_is_within_what_is_tolerated():
    found = Told(1e5, 500.0, 16.0)
    assert (found.status, found.log, found.counted) == (step.SOLVED, "mcmcm", (2, 3, 0))
    found = Told(1e5, 500.0, 16.5, 1.0)
    assert (found.status, found.log[:6], found.counted[0]) == (step.SOLVED, "mcmcmc", 3)
    assert Told(1e7, 1e6, 1e5, 1e4, 10.0, costly=1e9).counted == (4, 4, 0)


def test_at_least_one_correction_is_made_however_good_the_guess():
    assert Told(0.0, 0.0).log == "mcm"
    assert Told(0.0, 0.0, factored=0).log == "mfcm"


def test_without_factors_they_are_made_first():
    found = Told(50.0, 1.0, factored=0)
    assert (found.status, found.log, found.counted) == (step.SOLVED, "mfcm", (1, 3, 0))


def test_what_is_measured_before_there_are_factors_is_no_measure():
    """Factors bring the scales of the equations: what the first ones leave is not compared with what was there before."""
    assert Told(1.0, 1e6, 17.0, 1.0, factored=0).log.startswith("mfcmc")


def test_a_step_that_is_solved_one_that_diverges_and_a_singular_one_are_told_apart():
    assert len({step.SOLVED, step.DIVERGED, step.SINGULAR}) == 3


def test_far_out_old_factors_are_not_even_tried():
    assert Told(1e14, 1.0).log == "mcm"
    assert Told(1.1e14, 1.0).log == "mfcm"


def test_careful_iterations_have_new_factors_each_and_are_all_measured():
    found = Told(1e9, 1e5, 20.0, 1.0, careful=True)
    assert (found.status, found.log) == (step.SOLVED, "mfcmfcmfcm")


@pytest.mark.parametrize("worse", [1e7, 1e6, math.inf, math.nan])
def test_a_correction_by_old_factors_that_does_not_help_is_taken_back(worse):
    """Then everything is measured where it was before, and the next correction has new factors."""
    found = Told(1e6, worse, 123.0, 1.0)
    assert (found.status, found.log, found.counted[0]) == (step.SOLVED, "mcmbmfcm", 2)


def test_a_correction_by_new_factors_is_not_taken_back():
    assert Told(1e6, 1e7, 1.0, careful=True).log == "mfcmfcm"


@pytest.mark.parametrize("worse", [math.inf, math.nan])
def test_a_correction_by_new_factors_that_leads_nowhere_ends_the_step(worse):
    assert (Told(1e6, worse, careful=True).status, Told(1e6, worse, factored=0).status) == (step.DIVERGED,) * 2
    assert Told(1e6, worse, careful=True).log == "mfcm"


def test_a_residual_that_is_no_number_at_first_only_asks_for_factors():
    assert Told(math.inf, 1e3, 1.0, careful=True).status == step.SOLVED
    assert Told(math.inf, 1.0).log == "mfcm"


def test_a_body_without_inverse_ends_the_step():
    found = Told(1e6, 1.0, factored=0, regular=False)
    assert (found.status, found.log) == (step.SINGULAR, "mf")


def test_iterations_come_to_an_end():
    found = Told(1e5, careful=True)
    assert found.status == step.DIVERGED and found.log.count("c") == step.MOST_ITERATIONS
    assert found.counted == (0, 3, 0)


def test_a_residual_that_stays_within_some_round_offs_is_accepted_after_three():
    """Counted from the second correction on, where one by new factors leaves more than half."""
    found = Told(1e6, 90.0, 80.0, 70.0, 60.0, careful=True)
    assert (found.status, found.log.count("c"), found.counted) == (step.SOLVED, 4, (4, 3, 1))
    slow = Told(100.0, 90.0, 80.0, 70.0, 60.0, careful=True)
    assert (slow.status, slow.counted) == (step.SOLVED, (4, 3, 1))
    again = Told(1e6, 90.0, 80.0, 70.0, 35.0, 34.0, 33.0, 32.0, careful=True)  # half at once: counted anew
    assert (again.status, again.log.count("c"), again.counted) == (step.SOLVED, 7, (7, 3, 1))


def test_a_residual_that_stays_far_out_is_not_accepted():
    assert Told(1e4, careful=True).status == step.DIVERGED
    assert Told(0.9e4, careful=True).status == step.SOLVED


def test_old_factors_that_gain_little_do_not_count_as_stuck():
    found = Told(1e3, 90.0, 80.0, 70.0, 60.0, 50.0, 1.0, costly=1e9)
    assert (found.status, found.log.count("f"), found.counted) == (step.SOLVED, 0, (6, 6, 0))


@pytest.mark.parametrize(
    ("before", "size", "sure"),
    [
        (1e5, 100.0, True),  # falls by a thousand: 0.1 comes next, a hundredth of 16 is enough
        (1e4, 100.0, False),  # falls by a hundred
        (1e9, 100.0, True),  # falls by more than is believed: a thousand is
        (1e9, 200.0, False),
        (1e4, 30.0, True),
        (1e4, 50.0, False),
        (6400.0, 32.0, True),  # just so
        (6300.0, 32.0, False),
    ],
)
def test_a_correction_that_is_sure_to_do_is_not_measured(before, size, sure):
    """At the rate of the one before it the residual comes to a hundredth of what is tolerated."""
    found = Told(before, size, 17.0, 1.0)
    assert found.status == step.SOLVED
    assert found.log == "mcmcn" if sure else found.log.startswith("mcmcm")
    assert found.counted[0] == 2 or not sure


def test_the_first_correction_is_never_sure():
    assert Told(17.0, 1.0).log == "mcm"


@pytest.mark.parametrize(("left", "fall"), [(4.0, 1.0), (10.0, 0.5), (3.0, 2.0)])
def test_new_factors_pay_where_they_save_more_iterations_than_they_cost(left, fall):
    """left / fall iterations with old factors (logarithms of what is left and of what one gains), left / 13 with new ones."""
    pays, w = as_written(step.refactoring_pays), np.zeros(t.SCRATCH_SIZE)
    size = TOLERATED * math.exp(left)
    saved = left / fall - left / 13.0
    for cost, wanted in ((0.99 * saved, True), (1.01 * saved, False)):
        w[[t.TOLERATED, t.COSTLY]] = TOLERATED, cost
        assert pays(w, size, size * math.exp(fall)) is wanted or bool(pays(w, size, size * math.exp(fall))) == wanted


def test_new_factors_pay_where_the_residual_does_not_fall_and_never_where_nothing_is_left():
    pays, w = as_written(step.refactoring_pays), np.zeros(t.SCRATCH_SIZE)
    w[[t.TOLERATED, t.COSTLY]] = TOLERATED, 1e6
    assert pays(w, 100.0, 100.0) and pays(w, 100.0, 90.0) and not pays(w, 100.0, 100.1)
    w[t.COSTLY] = 0.0
    assert not pays(w, 0.5 * TOLERATED, TOLERATED)
    assert not pays(w, TOLERATED, 2.0 * TOLERATED)
