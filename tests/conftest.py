"""What the tests share: reference numbers and the folder of examples."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "zoo"))
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import tiers
from messages import BOOK, FILE

ROOT = Path(__file__).parents[1]
# Tests in files that were collected whole: those that are not among them leave messages.txt
COLLECTED = pytest.StashKey[set]()


def pytest_addoption(parser):
    tiers.add_options(parser)
    parser.addoption("--messages", action="store_true", help="write tests/messages.txt anew for the tests that run")


def pytest_configure(config):
    config.stash[COLLECTED] = set()
    BOOK.writing = config.getoption("--messages")
    if config.getoption("--write-durations"):
        config.pluginmanager.register(tiers.Durations())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    done = yield
    BOOK.ended(item.nodeid)
    return done


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """What a worker of pytest-xdist met goes to the one that writes."""
    whole, collected = getattr(node, "workeroutput", {}).get("messages", ({}, []))
    BOOK.whole.update(whole)
    node.config.stash[COLLECTED].update(collected)


def pytest_sessionfinish(session):
    collected = session.config.stash[COLLECTED]
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["messages"] = (BOOK.whole, sorted(collected))
    elif BOOK.writing:
        FILE.write_text(BOOK.written(collected, ROOT), encoding="utf-8", newline="\n")


@pytest.fixture(scope="session")
def reference() -> dict:
    return json.loads((ROOT / "tests" / "reference" / "converged.json").read_text())


def pytest_collection_modifyitems(config, items):
    """The tests of the tier, and which warnings they may meet.

    Identities, orders and errors hold however far and thick a body is, and are best tested where it bends far: there the
    warnings about the model are no errors. Physics, the paper, examples and documents must go without them (bodies of physical
    tests may be thick)."""
    if not any("::" in argument for argument in config.args):
        config.stash[COLLECTED].update(item.nodeid for item in items)
    tiers.select(config, items)
    tests = ROOT / "tests"
    about_models = ("LargeDeformationWarning", "LargeStretchWarning", "LateralTorsionWarning", "ThickBeamWarning")
    ignored = dict.fromkeys(("identities", "convergence", "random", "faults", "hostile"), about_models)
    ignored["physics"] = ("ThickBeamWarning",)
    for item in items:
        for kind in ignored.get(item.path.relative_to(tests).parts[0], ()):
            item.add_marker(pytest.mark.filterwarnings(f"ignore::phloat.errors.{kind}"), append=False)
