"""Configuration of pytest: import paths, tiers, the file of messages, warnings that tests may meet, reference numbers."""

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
# Tests of files that were collected completely: entries of other tests of these files are removed from messages.txt
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
    """Compares the messages of a test that passed with its entry in messages.txt."""
    done = yield
    BOOK.ended(item.nodeid)
    return done


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Takes the messages of a worker of pytest-xdist into the book of the main process, which writes the file."""
    whole, collected = getattr(node, "workeroutput", {}).get("messages", ({}, []))
    BOOK.whole.update(whole)
    node.config.stash[COLLECTED].update(collected)


def pytest_sessionfinish(session):
    """Writes messages.txt (--messages); a worker of pytest-xdist sends its messages to the main process instead."""
    collected = session.config.stash[COLLECTED]
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["messages"] = (BOOK.whole, sorted(collected))
    elif BOOK.writing:
        FILE.write_text(BOOK.written(collected, ROOT), encoding="utf-8", newline="\n")


@pytest.fixture(scope="session")
def reference() -> dict:
    """The numbers in tests/reference/converged.json."""
    return json.loads((ROOT / "tests" / "reference" / "converged.json").read_text())


def pytest_collection_modifyitems(config, items):
    """Deselects tests outside the tier, and ignores warnings about the model in some folders (elsewhere warnings are errors).

    Identities, orders of convergence and errors do not depend on the accuracy of the model and are best tested at large
    deformation. Physics, the paper, examples and documents must not raise these warnings, but physical tests may have thick beams.
    """
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
