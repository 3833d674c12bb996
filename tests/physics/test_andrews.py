"""Andrews' squeezer against the test set for initial value problems."""

import numpy as np
import pytest

import phloat as ph


def test_the_loops_close_where_the_test_set_starts(reference):
    import andrews as example

    np.testing.assert_allclose(example.angles(example.start), reference["andrews"]["start"], atol=1e-15)


def test_the_angles_after_30_ms(reference):
    import andrews as example

    np.testing.assert_allclose(example.extrapolated, reference["andrews"]["end"], rtol=0, atol=1e-6)


def test_the_angles_come_with_order_two(reference):
    import andrews as example

    off = [np.abs(q - reference["andrews"]["end"]) for q in example.q]
    np.testing.assert_allclose(np.log2(off[0] / off[1]), 2.0, atol=0.01)


def test_no_step_is_halved_and_the_motor_pays_for_everything():
    import andrews as example

    for run in example.runs:
        assert run.info["halved"] == ()
        ledger = ph.energy_ledger(run)
        assert list(ledger.supplied) == ["motor"]
        assert ledger.relative < 1e-12
        assert ledger.supplied["motor"][-1] == pytest.approx(0.033 * np.ptp(run["K1.theta"][[0, -1]]), rel=1e-12)


def test_fourth_order_gives_nine_digits_of_the_crank_angle(reference):
    import andrews as example

    run = ph.simulate(
        example.squeezer, example.start, t_end=0.03, dt=2.5e-5, u={"motor": 0.033}, scheme=ph.Composition4()
    )
    np.testing.assert_allclose(example.angles(run.state()), reference["andrews"]["end"], rtol=0, atol=1.5e-8)
