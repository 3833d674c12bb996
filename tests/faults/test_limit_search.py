"""Searches for a limit that cannot be answered, and evaluations that fail."""

import numpy as np
import pytest
from messages import raises, warns

import phloat as ph

InputError = ph.errors.InputError


def swing(height):
    return 1.0 / height


QUESTIONS = {
    "not met": ({"below": 0.1}, ("height", "swing ≤ 0.1", "0.25 at 4")),
    "not met above": ({"above": 3.0}, ("swing ≥ 3", "1 at 1")),
    "the wrong end": ({"above": 0.5}, ("height = 4", "find_largest")),
    "met everywhere": ({"below": 5.0}, ("every height", "swing ≤ 5")),
    "two limits": ({"below": 0.5, "above": 0.1}, ("below", "above")),
    "no limit": ({}, ("below", "above")),
    "limit is nan": ({"below": np.nan}, ("limit",)),
    "range turned round": ({"between": (4.0, 1.0), "below": 0.5}, ("between", "(4, 1)")),
    "no range": ({"between": (2.0, 2.0), "below": 0.5}, ("between",)),
    "one end": ({"between": 2.0, "below": 0.5}, ("between",)),
    "one sample": ({"samples": 1, "below": 0.5}, ("samples",)),
    "no tolerance": ({"tolerance": 0.0, "below": 0.5}, ("tolerance",)),
    "no function": ({"number": 2.0, "below": 0.5}, ("2.0",)),
    "an array": ({"number": lambda x: np.ones(3) / x, "below": 0.5}, ("all 9", "x = 4")),
}


@pytest.mark.parametrize("case", QUESTIONS)
def test_a_question_without_an_answer_says_what_was_found(case):
    options, names = QUESTIONS[case]
    with raises(InputError, *names):
        ph.find_smallest(**{"number": swing, "between": (1.0, 4.0)} | options)


def test_the_largest_may_not_be_there_either():
    with raises(InputError, "height = 1", "find_smallest"):
        ph.find_largest(swing, (1.0, 4.0), below=0.5)
    with raises(InputError, "no height", "0.25 at 4"):
        ph.find_largest(swing, (1.0, 4.0), below=0.2)


def test_a_mistake_in_the_function_is_the_cause_of_the_error():
    def mistaken(height):
        return hight  # noqa: F821

    with raises(InputError, "hight", "all 9") as caught:
        ph.find_smallest(mistaken, (1.0, 4.0), below=0.5)
    assert isinstance(caught.value.__cause__, NameError)


@pytest.mark.parametrize("how", ["raises", "nan"])
def test_failed_evaluations_are_reported_and_do_not_count_as_answers(how):
    def number(height):
        if height < 1.8:
            if how == "raises":
                raise ph.errors.ConvergenceError("Newton's method stalled")
            return np.nan
        return swing(height)

    with warns(ph.errors.FailedSamplesWarning, "3 of", "not meeting the limit"):
        found = ph.find_smallest(number, (1.0, 4.0), below=0.45, tolerance=1e-3)
    assert found.x == pytest.approx(1 / 0.45, abs=1e-3) and sorted(found.failed) == [1.0, 1.375, 1.75]
    assert np.isnan(found.numbers[:3]).all() and np.isfinite(found.numbers[3:]).all()
    with warns(ph.errors.FailedSamplesWarning, "smallest height is where they begin"):
        ended = ph.find_smallest(number, (1.0, 4.0), below=0.9, tolerance=1e-3)
    assert ended.x == pytest.approx(1.8, abs=1e-3) and ended.neighbour in ended.failed and "it fails" in str(ended)


def test_progress_is_shown_where_it_is_asked_for(capsys, monkeypatch):
    monkeypatch.setattr("phloat.motion.run.progress.PATIENCE", 0.0)
    monkeypatch.setattr("phloat.motion.run.progress.PAUSE", 0.0)
    ph.find_smallest(swing, (1.0, 4.0), below=0.5, progress=True)
    assert "9 of about 15 evaluations" in capsys.readouterr().err
    ph.find_smallest(swing, (1.0, 4.0), below=0.5)
    assert capsys.readouterr().err == ""


def test_an_interrupt_is_no_failed_evaluation():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ph.find_smallest(interrupted, (1.0, 4.0), below=0.5)
