"""The verification: every row of every case is within its tolerance; the report; the references themselves."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from messages import raises
from scipy.special import jv
from verification import Case, Outcome, Report, Row, exact, verify
from verification.estimates import cubic, halved, midpoint
from verification.rods import Rod
from verification.verify import CASES, chosen

import phloat as ph

ALL = [pytest.param(case, marks=[pytest.mark.long] if case.long else [], id=name) for name, case in CASES.items()]


# coarse runs, by which errors are estimated, have large deformation of each piece; references without shear may be of thick beams
@pytest.mark.filterwarnings("ignore::phloat.errors.ThickBeamWarning")
@pytest.mark.filterwarnings("ignore::phloat.errors.LargeDeformationWarning")
@pytest.mark.filterwarnings("ignore::phloat.errors.LateralTorsionWarning")
@pytest.mark.parametrize("case", ALL)
def test_every_row_is_within_its_tolerance(case):
    rows = case.run(False)
    assert rows
    assert len({row.quantity for row in rows}) == len(rows)
    bad = [
        f"{row.quantity}: {row.reference:g} ± {row.tolerance:g}, found {row.found:g}" for row in rows if not row.good
    ]
    assert not bad


# --- what a table must have ------------------------------------------------------------------------------------------


def test_every_case_has_a_source_that_is_not_phloat_and_says_how_its_tolerances_were_set():
    assert len(CASES) >= 30
    for case in CASES.values():
        assert case.name.isascii()
        assert case.about.endswith(".")
        assert len(case.source) > 5
        assert len(case.tolerances) > 10
        assert "phloat" not in case.source.lower()


def a_case(*rows: Row, name: str = "made up") -> Case:
    """A case with these rows."""
    return Case(name, "A case for this test.", "nowhere", "none", lambda fine: list(rows))


GOOD, BAD = Row("x", 1.0, 1.0 + 1e-9, 1e-8, "m"), Row("y", 2.0, 2.5, 0.1)


def test_a_row_knows_its_difference_and_whether_it_is_good():
    assert GOOD.good
    assert GOOD.difference == pytest.approx(1e-9)
    assert not BAD.good
    assert BAD.difference == 0.5
    assert not Row("z", 1.0, math.nan, 1.0).good
    assert not Row("z", 1.0, math.inf, 1.0).good


def test_a_report_gives_a_table_and_a_verdict():
    report = Report((Outcome(a_case(GOOD, BAD), (GOOD, BAD), 0.1), Outcome(a_case(GOOD, name="fine"), (GOOD,), 0.2)))
    text = report.text()
    assert str(report) == text
    assert "source: nowhere" in text
    assert "NOT WITHIN" in text
    assert text.endswith("2 of 3 rows within tolerance, 2 cases; to look at: made up")
    assert not report.good
    said = json.loads(json.dumps(report.as_dict()))
    assert [case["good"] for case in said["cases"]] == [False, True]
    assert said["cases"][0]["rows"][1]["difference"] == pytest.approx(0.5)


def test_verify_runs_the_named_cases_and_tells_of_each():
    heard = []
    report = verify(["free rotation", "rod"], progress=heard.append)
    assert [outcome.case.name for outcome in report.outcomes] == ["free rotation", "rod"]
    assert [outcome.case.name for outcome in heard] == ["free rotation", "rod"]
    assert report.good
    assert report.verdict() == f"{len(report.rows)} of {len(report.rows)} rows within tolerance, 2 cases"
    assert verify("rod").rows == report.outcomes[1].rows


def test_a_case_that_cannot_be_run_is_reported_and_the_others_go_on(monkeypatch):
    def fails(fine):
        raise ph.errors.ConvergenceError("Newton stalled")

    monkeypatch.setitem(CASES, "rod", replace(CASES["rod"], run=fails))
    report = verify(["rod", "free rotation"])
    assert not report.good
    assert report.outcomes[0].fault == "ConvergenceError: Newton stalled"
    assert report.outcomes[1].good
    assert "could not be run: ConvergenceError: Newton stalled" in report.text()


def test_a_case_that_is_not_there_is_named_with_those_that_are():
    with raises(ph.errors.InputError, "'pendulums'"):
        verify(["pendulums"])


def test_without_the_long_ones():
    quick = chosen(None, long=False)
    assert 0 < len(quick) < len(chosen(None))
    assert not any(case.long for case in quick)


def test_half_the_step_leaves_a_quarter_of_the_difference():
    coarse, fine = (verify("pendulum", fine=fine).rows[2] for fine in (False, True))
    assert coarse.difference / fine.difference == pytest.approx(4.0, rel=0.05)


# --- the references themselves ---------------------------------------------------------------------------------------


def test_roots_are_those_of_the_tables():
    """Blevins, table 8-1; the limits of other end conditions: the arm of Cannon and Schmitz is pinned-free without a hub."""
    np.testing.assert_allclose(exact.roots(exact.clamped, exact.free, 3) ** 2, [3.51601527, 22.0344916, 61.6972144])
    np.testing.assert_allclose(exact.roots(exact.pinned, exact.free, 2), [3.92660231, 7.06858275])
    np.testing.assert_allclose(exact.roots(exact.hub(1e-12), exact.free, 2), [3.92660231, 7.06858275])
    np.testing.assert_allclose(
        exact.roots(exact.wing(0.0, 0.7), exact.free, 2), exact.roots(exact.hub(0.7), exact.free, 2)
    )
    np.testing.assert_allclose(exact.roots(exact.raft(1e12), exact.free, 1), [1.87510407])
    np.testing.assert_allclose(exact.roots(exact.clamped, exact.tip(1e-12), 1), [1.87510407])


@pytest.mark.parametrize(("gamma", "flap"), [(0.0, 3.5160152685), (1.0, 3.681647), (8.0, 9.256838)])
def test_the_series_of_a_turning_beam_gives_the_published_flap(gamma, flap):
    assert exact.turning(gamma, 0.0, 1)[0] == pytest.approx(flap, rel=2e-7)


def test_a_turning_string_flaps_at_the_rate_of_its_turn():
    """Without bending stiffness ω = Ω √(n (2n − 1)): γ large."""
    assert exact.turning(40.0, 0.0, 1)[0] / 40.0 == pytest.approx(1.0, rel=0.04)


@pytest.mark.parametrize(("load", "shorter", "deflected"), [(2.0, 0.16064, 0.49346), (10.0, 0.55500, 0.81061)])
def test_a_rod_bent_in_a_plane_is_the_elastica(load, shorter, deflected):
    """Mattiasson 1981; bending in a principal plane of the section, and in any plane if both stiffnesses are equal."""
    for bends, along in (((3.0, 1.0, 7.0), (0, 0, 1)), ((3.0, 1.0, 1.0), (0, 0.6, 0.8))):
        tip, R = Rod(1.0, bends).bent(load * np.array(along))
        np.testing.assert_allclose(
            [1 - tip[0], tip @ along, tip @ np.cross(along, (1, 0, 0))], [shorter, deflected, 0], atol=6e-6
        )
        np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-9)


def test_a_rod_that_is_bowed_stays_so_without_load_and_stretches_along_its_axis():
    tip, R = Rod(np.pi, (1.0, 1.0, 1.0), bow=(0.0, 0.0, 0.5)).bent(np.zeros(3))
    np.testing.assert_allclose(tip, [2.0, 2.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(R[:, 0], [0.0, 1.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(Rod(2.0, (1.0, 1.0, 1.0), 1e-3).bent(np.array([3.0, 0.0, 0.0]))[0], [2.006, 0.0, 0.0])


def test_a_rod_that_cannot_bend_in_its_plane_tilts_at_prandtl_s_load():
    """J₋₁⸝₄(P/2) = 0, P L²/√(EI GJ) = 4.0126 for any ratio of EI to GJ; the in-plane stiffness is 10⁶, which adds about 1e-6."""
    known = 2.0 * exact.zeros(lambda x: float(jv(-0.25, x)), 1.0, 0.1, 1)[0]
    assert known == pytest.approx(4.0126, abs=1e-4)
    for bends in ((1.0, 1.0, 1e6), (4.0, 0.25, 1e6)):
        assert Rod(1.0, bends).tilts_at(3.8, 4.2) == pytest.approx(known, rel=1e-5)


def test_estimates():
    assert midpoint(2.0, 0.1, 3.0) == pytest.approx(8.0 * 0.01 * 3.0 / 12.0)
    assert cubic(4.0, 2.0) == pytest.approx(2.0 * 16.0 / 1440.0, rel=1e-6)
    np.testing.assert_allclose(halved([1.0, 2.0], [1.3, 1.7], 0.01), [0.21, 0.21])
    assert halved(1.0, 1.15, order=4) == pytest.approx(0.02)
