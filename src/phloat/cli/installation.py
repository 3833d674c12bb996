"""phloat doctor and phloat verify: what is installed, and whether it reproduces known results.

The cases of phloat verify are not in the installed package but in the source tree, in tests/verification.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import time
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import phloat
from phloat.algebra.version import __version__
from phloat.cli import models
from phloat.cli.console import Console, as_json
from phloat.errors import AccuracyError, InputError

CORE = ("numpy", "scipy", "numba")
PURPOSES = {
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


def doctor_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Lists what is installed and which extras there are."""
    from phloat.motion.compiled import warm
    from phloat.motion.run.compilation import is_compiled

    took = None
    if args.compile and not is_compiled():
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
    _print_doctor(console, data)
    return data


def _cache() -> Path:
    """The folder of the compiled time step."""
    from phloat.motion.kernel.step import advance

    return Path(vars(advance)["_cache"].cache_path)


def extras() -> dict[str, dict[str, Any]]:
    """Each extra: its purpose, its packages with versions (None if missing), how to install it."""
    out = {}
    for extra, packages in declared_packages().items():
        there = {name: _version(name) for name in packages}
        out[extra] = {
            "gives": PURPOSES[extra],
            "packages": there,
            "there": all(there.values()),
            "install": f"pip install 'phloat[{extra}]'",
        }
    return out


def declared_packages() -> dict[str, list[str]]:
    """Packages of each extra for users, from the metadata of the installation."""
    try:
        lines = requires("phloat") or []
    except PackageNotFoundError:  # run from its source without an installation
        lines = []
    found: dict[str, list[str]] = {extra: [] for extra in PURPOSES}
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


def _print_doctor(console: Console, data: dict[str, Any]) -> None:
    console.title(f"phloat {__version__}")
    took = data["compile seconds"]
    state = (
        "compiled" + (f" in {took:.0f} s" if took else "")
        if data["compiled"]
        else "not compiled yet: the first run takes a minute longer, or: phloat doctor --compile"
    )
    console.facts(
        {
            "Python": f"{data['python']} ({data['executable']})",
            "system": f"{data['platform']}, {data['cores']} cores",
            "packages": ", ".join(f"{name} {found or 'MISSING'}" for name, found in data["packages"].items()),
            "installed in": data["installed in"],
            "time step": f"{state}; kept in {data['cache']}",
        }
    )
    rows = [(_status(extra), name, _purpose(extra)) for name, extra in data["extras"].items()]
    console.title("extras")
    console.table(("", "extra", "gives"), rows)
    if not rows:
        console.note("phloat is not installed as a package, so its extras are unknown: pip install .")


def _status(extra: dict[str, Any]) -> str:
    return "there" if extra["there"] else "partly" if any(extra["packages"].values()) else "—"


def _purpose(extra: dict[str, Any]) -> str:
    lacking = [name for name, found in extra["packages"].items() if not found]
    return extra["gives"] + (f"; lacks {', '.join(lacking)}: {extra['install']}" if lacking else "")


# --- verify ----------------------------------------------------------------------------------------------------------


def verify_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Runs the cases. Raises AccuracyError if a row is not within its tolerance."""
    endings = [models.require_suffix(path, (".txt", ".json")) for path in args.output]
    cases = verification_cases()
    if args.list:
        chosen = cases.chosen(args.names or None, long=not args.quick)
        console.table(("case", "about"), [(case.name, case.about) for case in chosen])
        return {"cases": [{"name": case.name, "about": case.about, "source": case.source} for case in chosen]}

    def show(outcome: Any) -> None:
        console.title(outcome.case.name)
        console.prose(outcome.case.about, "  ")
        console.prose(f"source: {outcome.case.source}", "  ")
        for line in [*cases.table(outcome.rows), *([f"could not be run: {outcome.fault}"] if outcome.fault else [])]:
            console.say(f"  {line}")

    report = cases.verify(args.names or None, fine=args.fine, long=not args.quick, progress=show)
    for path, suffix in zip(args.output, endings, strict=True):
        text = as_json(report.as_dict()) if suffix == ".json" else report.text()
        Path(path).write_text(text + "\n", encoding="utf-8")
        console.say(f"written: {path}")
    if not report.good:
        raise AccuracyError(f"{report.verdict()}; phloat doctor lists what is installed")
    console.title(report.verdict())
    return {key: value for key, value in report.as_dict().items() if key != "phloat"} | {"files": args.output}


def verification_cases() -> Any:
    """The package tests/verification of the source tree that phloat is imported from. Raises InputError if there is none."""
    tests = Path(phloat.__file__).resolve().parents[2] / "tests"
    if not (tests / "verification").is_dir():
        raise InputError(
            "the cases are not in this installation; they are in the repository of phloat, in tests/verification: "
            "get its source, install it with pip install -e . and run phloat verify again"
        )
    if str(tests) not in sys.path:
        sys.path.insert(0, str(tests))
    return import_module("verification")
