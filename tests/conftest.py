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
