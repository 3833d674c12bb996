"""What the tests share: reference numbers and the folder of examples."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "zoo"))
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "examples"))

import tiers  # noqa: E402


def pytest_addoption(parser):
    tiers.add_options(parser)


def pytest_configure(config):
    if config.getoption("--write-durations"):
        config.pluginmanager.register(tiers.Durations())


@pytest.fixture(scope="session")
def reference() -> dict:
    return json.loads((ROOT / "tests" / "reference" / "converged.json").read_text())


def pytest_collection_modifyitems(config, items):
    """The tests of the tier.

    Identities, orders and errors hold however far and thick a body is, and are best tested where it bends far: there the
    warnings about the model are no errors. Physics, the paper, examples and documents must go without them (bodies of physical
    tests may be thick)."""
    tiers.select(config, items)
    tests = ROOT / "tests"
    about_models = ("LargeDeformationWarning", "LargeStretchWarning", "LateralTorsionWarning", "ThickBeamWarning")
    ignored = dict.fromkeys(("identities", "convergence", "random", "faults", "hostile"), about_models)
    ignored["physics"] = ("ThickBeamWarning",)
    for item in items:
        for kind in ignored.get(item.path.relative_to(tests).parts[0], ()):
            item.add_marker(pytest.mark.filterwarnings(f"ignore::phloat.errors.{kind}"), append=False)
