"""phloat doctor: what is installed, whether the time step is compiled, and which extras there are."""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import time
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import phloat
from phloat.algebra.version import __version__
from phloat.cli.talk import Talk

CORE = ("numpy", "scipy", "numba")
GIVES = {
    "files": "model files in YAML (JSON needs nothing)",
    "plot": "pictures and films: phloat check -o, modes -o x.png, plot, animate",
    "mesh": "meshes of gmsh and VTK: Solid.from_mesh, read_mesh",
    "control": "state spaces for python-control: to_control",
    "mor": "reduction by pyMOR: to_pymor, irka",
    "ida": "SUNDIALS' IDA: scheme ida",
    "io": "labelled results: to_xarray, to_netcdf",
    "fmi": "export as an FMU: to_fmu",
    "jax": "gradients of whole runs, and ensembles on a GPU: phloat.twin",
    "sweep": "sweeps on a Dask cluster",
    "pardiso": "a quicker sparse solver for large meshes (not on macOS)",
    "bench": "the comparison with Exudyn",
}
DEVELOPERS = ("test", "docs")


def doctor(asked: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """What there is, and what could be."""
    from phloat.motion.compiled import warm
    from phloat.motion.run.compilation import is_compiled

    took = None
    if asked.compile and not is_compiled():
        begin = time.perf_counter()
        warm()
        took = time.perf_counter() - begin
    data = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "installed in": str(Path(phloat.__file__).parent),
        "packages": {name: _version(name) for name in CORE},
        "compiled": is_compiled(),
        "compile seconds": took,
        "cache": str(_cache()),
        "extras": extras(),
    }
    _say(talk, data)
    return data


def _cache() -> Path:
    """Where the compiled step is kept."""
    from phloat.motion.kernel.step import advance

    return Path(vars(advance)["_cache"].cache_path)


def extras() -> dict[str, dict[str, Any]]:
    """Every extra: what it gives, its packages with their versions (None where missing), how to install it."""
    out = {}
    for extra, packages in declared().items():
        there = {name: _version(name) for name in packages}
        out[extra] = {
            "gives": GIVES[extra],
            "packages": there,
            "there": all(there.values()),
            "install": f"pip install 'phloat[{extra}]'",
        }
    return out


def declared() -> dict[str, list[str]]:
    """Packages of each extra for users, as the installation says."""
    try:
        lines = requires("phloat") or []
    except PackageNotFoundError:  # run from its source without an installation
        lines = []
    found: dict[str, list[str]] = {extra: [] for extra in GIVES}
    for line in lines:
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", line)
        package = re.match(r"[\w.-]+", line)
        if extra and package and extra[1] not in DEVELOPERS:
            found.setdefault(extra[1], []).append(package[0])
    return {extra: packages for extra, packages in found.items() if packages}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _say(talk: Talk, data: dict[str, Any]) -> None:
    talk.title(f"phloat {__version__}")
    took = data["compile seconds"]
    state = (
        "compiled" + (f" in {took:.0f} s" if took else "")
        if data["compiled"]
        else "not compiled yet: the first run takes a minute longer, or: phloat doctor --compile"
    )
    talk.facts(
        {
            "Python": f"{data['python']} ({data['executable']})",
            "system": f"{data['platform']}, {data['cores']} cores",
            "packages": ", ".join(f"{name} {found or 'MISSING'}" for name, found in data["packages"].items()),
            "installed in": data["installed in"],
            "time step": f"{state}; kept in {data['cache']}",
        }
    )
    rows = [(_stands(extra), name, _gives(extra)) for name, extra in data["extras"].items()]
    talk.title("extras")
    talk.table(("", "extra", "gives"), rows)
    if not rows:
        talk.note("phloat is not installed here as a package, so its extras are not known: pip install .")


def _stands(extra: dict[str, Any]) -> str:
    return "there" if extra["there"] else "partly" if any(extra["packages"].values()) else "—"


def _gives(extra: dict[str, Any]) -> str:
    lacking = [name for name, found in extra["packages"].items() if not found]
    return extra["gives"] + (f"; lacks {', '.join(lacking)}: {extra['install']}" if lacking else "")
