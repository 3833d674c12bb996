"""What phloat stands on has no known advisory, where the registry of packages can be asked; elsewhere this is skipped."""

import json
import re
import tomllib
import urllib.error
import urllib.request
from importlib import metadata
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REGISTRY = "https://pypi.org/pypi/{}/{}/json"


def required() -> dict[str, str]:
    """The packages that phloat and its extras name, as they are installed."""
    asked = [*PROJECT["dependencies"], *(one for some in PROJECT["optional-dependencies"].values() for one in some)]
    out = {}
    for name in sorted({re.match(r"[\w.-]+", one).group() for one in asked}):
        try:
            out[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return out


def advisories(name: str, version: str) -> list[str]:
    with urllib.request.urlopen(REGISTRY.format(name, version), timeout=10) as answer:
        said = json.load(answer)
    return [f"{name} {version}: {one['id']}" for one in said["vulnerabilities"] if not one.get("withdrawn")]


def test_what_is_required_is_found():
    assert {"numpy", "scipy", "numba"} <= required().keys()


@pytest.mark.long
def test_no_package_has_a_known_advisory():
    found = []
    for name, version in required().items():
        try:
            found += advisories(name, version)
        except (OSError, KeyError, ValueError) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()
            pytest.skip(f"the registry cannot be asked for advisories ({error})")
    assert found == []
