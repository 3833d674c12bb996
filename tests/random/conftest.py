"""Random mechanisms: how many were tried and what was worst, printed at the end of a run of tests."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from table import Table, printed

WORST = pytest.StashKey[Table]()


def pytest_configure(config):
    config.stash[WORST] = Table()


@pytest.fixture
def worst(request):
    """The table of this run of tests."""
    return request.config.stash[WORST]


def pytest_collection_modifyitems(items):
    """Random springs and bushings go beyond what they are meant for: their identities hold there too."""
    here = str(Path(__file__).parent)
    for item in items:
        if str(item.path).startswith(here):
            for kind in ("CurveRangeWarning", "LargeTurnWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::phloat.errors.{kind}"))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # of pytest-xdist: what a worker found goes to the one that prints
        session.config.workeroutput["random mechanisms"] = session.config.stash[WORST].as_lists()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[WORST].joined(getattr(node, "workeroutput", {}).get("random mechanisms", []))


def pytest_terminal_summary(terminalreporter, config):
    for line in printed(config.stash[WORST]):
        terminalreporter.write_line(line)
