"""Which tests run: `--tier quick` (./test), `--tier most` (./test --most) or `--tier all` (./test --all).

Where tests are named, and where pytest is called directly, all of them run except those marked `long`: `--tier all-but-long`.

tests/durations.csv has the seconds of one case of every test that takes more than a tenth of a second. A tier runs all cases of
tests that are short, the first case of those that are longer, and none of those that are longest; tests that are not in the
table are short. `@pytest.mark.quick` puts all cases of a test into every tier, `@pytest.mark.most` into the last two,
`@pytest.mark.long` into the last one only.
`--write-durations` measures the tests that run and writes the table.
"""

import csv
import math
from collections import defaultdict
from pathlib import Path

TABLE = Path(__file__).with_name("durations.csv")
SHORT = 0.1  # s: what is quicker is not in the table
# s: up to the first all cases of a test, up to the second one case
LIMITS = {"quick": (0.1, 0.5), "most": (0.6, 3.0), "all-but-long": (math.inf, math.inf)}


def add_options(parser) -> None:
    parser.addoption("--tier", choices=(*LIMITS, "all"), default="all-but-long", help="which tests run")
    parser.addoption("--write-durations", action="store_true", help="measure, and write tests/durations.csv")


def test_of(nodeid: str) -> str:
    """The test of a case: "tests/x.py::test_y[z]" → "tests/x.py::test_y"."""
    return nodeid.partition("[")[0]


def durations() -> dict[str, float]:
    """Seconds of one case, by test."""
    with TABLE.open() as file:
        return {row[0]: float(row[1]) for row in csv.reader(file)}


def select(config, items) -> None:
    """Leave out what does not belong to the tier."""
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
    """Measures tests: the plugin of `--write-durations`."""

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
