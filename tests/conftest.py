"""What the tests share: reference numbers and the folder of examples."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "tests")]


@pytest.fixture(scope="session")
def reference() -> dict:
    return json.loads((ROOT / "tests" / "reference" / "converged.json").read_text())


def pytest_collection_modifyitems(items):
    """Identities, orders and errors hold however far and thick a body is, and are best tested where it bends far: there the
    warnings about the model are no errors. Physics, the paper, examples and documents must go without them (bodies of physical
    tests may be thick)."""
    tests = ROOT / "tests"
    about_models = ("LargeDeformationWarning", "LargeStretchWarning", "LateralTorsionWarning", "ThickBeamWarning")
    ignored = dict.fromkeys(("identities", "convergence", "random", "faults", "hostile"), about_models)
    ignored["physics"] = ("ThickBeamWarning",)
    for item in items:
        for kind in ignored.get(item.path.relative_to(tests).parts[0], ()):
            item.add_marker(pytest.mark.filterwarnings(f"ignore::phloat.errors.{kind}"), append=False)
