"""Files of saved runs and of saved ensembles: written whole or not at all, described in JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from phloat.errors import InputError

PARTIAL = ".part"  # at the end of the name of a file that is being written


def write_whole(file: Path, put: Callable[[BinaryIO], object]) -> None:
    """Under another name first: what bears its own name is whole."""
    partial = file.with_name(file.name + PARTIAL)
    with open(partial, "wb") as opened:
        put(opened)
        opened.flush()
        os.fsync(opened.fileno())
    os.replace(partial, file)
    if os.name == "posix":  # elsewhere folders cannot be synchronised
        here = os.open(file.parent, os.O_RDONLY)
        os.fsync(here)
        os.close(here)


def description(file: Path, kind: str, version: int) -> dict[str, Any]:
    """What a JSON file says of a saved "run" or "ensemble"; a sentence where it is none of this phloat."""
    if not file.exists():
        there = "is not there" if not file.parent.exists() else f"holds no {file.name}"
        raise InputError(f"there is no saved {kind} in {str(file.parent)!r}: it {there}")
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{str(file)!r} cannot be read ({error}); the pieces beside it may still be whole") from error
    if not isinstance(said, dict) or said.get("format") != f"phloat {kind}":
        article = "an" if kind[0] in "aeiou" else "a"
        raise InputError(f"{str(file)!r} does not describe {article} {kind} of phloat")
    if said["version"] > version:
        raise InputError(
            f"{str(file)!r} has version {said['version']}, and this phloat reads up to {version}; use a newer phloat"
        )
    return said
