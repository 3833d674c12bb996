"""The tiers of the tests: each is a subset of the next, and the tier all-but-long does not depend on durations."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import tiers

ROOT = Path(__file__).parents[1]
CASES = {  # marks by case
    "a.py::test_short[1]": (),
    "a.py::test_short[2]": (),
    "a.py::test_middle[1]": (),
    "a.py::test_middle[2]": (),
    "a.py::test_slow[1]": (),
    "a.py::test_slow_but_quick[1]": ("quick",),
    "a.py::test_slow_but_most[1]": ("most",),
    "a.py::test_long": ("long",),
}
SECONDS = {"test_middle": 0.4, "test_slow": 60.0, "test_slow_but_quick": 60.0, "test_slow_but_most": 60.0}


def selected(tier: str) -> set[str]:
    """The cases of CASES that a tier selects."""
    items = [
        SimpleNamespace(nodeid=case, get_closest_marker=lambda name, marks=marks: name if name in marks else None)
        for case, marks in CASES.items()
    ]
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    tiers.select(SimpleNamespace(getoption=lambda name: tier, hook=hook), items)
    return {item.nodeid for item in items}


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """Replaces the table of durations by SECONDS."""
    monkeypatch.setattr(tiers, "durations", lambda: {f"a.py::{test}": seconds for test, seconds in SECONDS.items()})


def test_each_tier_is_part_of_the_next():
    quick, most, named, every = map(selected, ("quick", "most", "all-but-long", "all"))
    assert quick < most < named < every == set(CASES)


def test_what_each_tier_leaves_out():
    left = {tier: set(CASES) - selected(tier) for tier in ("quick", "most", "all-but-long", "all")}
    slow, most, long = "a.py::test_slow[1]", "a.py::test_slow_but_most[1]", "a.py::test_long"
    assert left["quick"] == {"a.py::test_middle[2]", slow, most, long}
    assert left["most"] == {slow, long}
    assert left["all-but-long"] == {long}
    assert not left["all"]


def test_the_table_names_tests_that_exist(monkeypatch):
    monkeypatch.undo()
    gone = [
        test
        for test in tiers.durations()
        if f"def {test.partition('::')[2]}(" not in (ROOT / test.partition("::")[0]).read_text()
    ]
    assert not gone
