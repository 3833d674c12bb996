"""Selection of tests by duration: `--tier quick` (./test), `--tier most` (./test --most) or `--tier all` (./test --all).

If ./test is given tests by name, or pytest is called directly, all tests run except those marked `long`: `--tier all-but-long`.

tests/durations.csv has the seconds of one case of every test that takes more than 0.1 s; other tests count as short. The tiers
quick and most run all cases of tests below a first limit, the first case of tests below a second one, and no case of longer ones.
`@pytest.mark.quick` puts all cases of a test into every tier, `@pytest.mark.most` into most and all, `@pytest.mark.long` into all
only. `--write-durations` measures the tests that run and writes the table.
"""

import csv
import math
from collections import defaultdict
from pathlib import Path

TABLE = Path(__file__).with_name("durations.csv")
SHORT = 0.1  # s: quicker tests are not in the table
# seconds of one case: up to the first limit all cases of a test run, up to the second limit one
LIMITS = {"quick": (0.1, 0.5), "most": (0.6, 3.0), "all-but-long": (math.inf, math.inf)}


def add_options(parser) -> None:
    """Adds --tier and --write-durations to pytest."""
    parser.addoption("--tier", choices=(*LIMITS, "all"), default="all-but-long", help="which tests run")
    parser.addoption("--write-durations", action="store_true", help="measure, and write tests/durations.csv")


def test_of(nodeid: str) -> str:
    """The test that a case belongs to: "tests/x.py::test_y[z]" → "tests/x.py::test_y"."""
    return nodeid.partition("[")[0]


def durations() -> dict[str, float]:
    """The seconds of one case of each test in the table."""
    with TABLE.open() as file:
        return {row[0]: float(row[1]) for row in csv.reader(file)}


def select(config, items) -> None:
    """Deselects the tests that do not belong to the tier."""
    tier = config.getoption("--tier")
    if tier == "all":
        return
    known, (every, one) = durations(), LIMITS[tier]
    seen, kept, left = set(), [], []
    for item in items:
        test = test_of(item.nodeid)
        seconds = known.get(test, 0.0)
        marked = any(item.get_closest_marker(name) is not None for name in {"quick", tier})
        runs = seconds <= every or (seconds <= one and test not in seen) or marked
        if runs and item.get_closest_marker("long") is None:
            seen.add(test)
            kept.append(item)
        else:
            left.append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


class Durations:
    """The plugin of `--write-durations`: measures the tests, and updates the table with the mean over the cases of each."""

    def __init__(self) -> None:
        self.seconds = defaultdict(lambda: defaultdict(float))

    def pytest_runtest_logreport(self, report) -> None:
        self.seconds[test_of(report.nodeid)][report.nodeid] += report.duration

    def pytest_sessionfinish(self, session) -> None:
        if hasattr(session.config, "workerinput"):
            return
        found = {test: sum(cases.values()) / len(cases) for test, cases in self.seconds.items()}
        kept = {test: seconds for test, seconds in durations().items() if test not in found}
        rows = sorted((kept | found).items())
        with TABLE.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows((t, f"{s:.2f}") for t, s in rows if s > SHORT)
