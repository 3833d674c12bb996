"""Each example gives a number that is known from elsewhere."""

from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_four_bar_has_the_published_frequency_at_crank_angle_zero():
    import four_bar

    assert four_bar.degrees[0] == 0.0
    assert four_bar.omega[0, 0] == pytest.approx(269.786, rel=1e-3)


def test_beams_come_to_the_exact_frequencies_with_order_four():
    import beams

    np.testing.assert_allclose(beams.cantilever(32)[0], 3.5160152685, rtol=1e-8)
    np.testing.assert_allclose(beams.free(32), [22.3732854481, 61.6728228679, 120.9033917271], rtol=1e-5)
    np.testing.assert_allclose(beams.rate_cantilever[-1], 4.0, atol=0.1)
    np.testing.assert_allclose(beams.rate_free[-1], 4.0, atol=0.2)
    assert (beams.error_free > 0).all() and (beams.error_cantilever > 0).all()  # displacement elements are too stiff


def test_space_frame_is_the_classical_displacement_model(monkeypatch):
    import space_frame as example

    monkeypatch.syspath_prepend(BENCHMARKS)
    import classical_frame

    K, M = classical_frame.matrices(
        example.points, example.members, example.feet, example.axes, example.profile, example.steel, elements=4
    )
    np.testing.assert_allclose(example.omega, classical_frame.all_frequencies(K, M)[:10], rtol=1e-8)
    assert example.modes.rigid == 0


def test_members_of_the_space_frame_move_together_where_they_meet():
    import space_frame as example

    column = example.modes.shape(0, "column 0")[-1]  # its top
    np.testing.assert_allclose(example.modes.shape(0, "brace")[-1], example.modes.shape(0, "column 1")[-1], atol=1e-9)
    np.testing.assert_allclose(example.modes.shape(0, "girder 4")[0], column, atol=1e-9)
    assert np.linalg.norm(column) > 1e-3


def test_examples_are_short():
    for file in sorted((BENCHMARKS.parent / "examples").glob("*.py")):
        lines = len(file.read_text(encoding="utf-8").splitlines())
        assert file.name == "demo.py" or 25 <= lines <= 60, f"{file.name} has {lines} lines"
