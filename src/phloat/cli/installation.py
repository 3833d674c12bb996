"""phloat doctor, verify, examples and schema: installed packages, verification cases, example files, JSON Schema of model files.

The cases of phloat verify are not in the installed package but in the source tree, in tests/verification.
"""

from __future__ import annotations

import argparse
import ast
import json
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
from phloat.cli.console import Console
from phloat.errors import AccuracyError, InputError, unknown

CORE_PACKAGES = ("numpy", "scipy", "numba")
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
    "pardiso": "large meshes on many cores (not on macOS)",
    "bench": "the comparisons with Exudyn, MuJoCo and Pinocchio",
}
DEVELOPERS = ("test", "docs")


def doctor_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Prints versions, the cache of the compiled time step and the installed extras; with --compile compiles the time step."""
    from phloat.motion.compiled import warm
    from phloat.motion.kernel.step import advance
    from phloat.motion.run.compilation import is_compiled

    seconds = None
    if args.compile and not is_compiled():
        begin = time.perf_counter()
        warm()
        seconds = time.perf_counter() - begin
    data = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "installed in": str(Path(phloat.__file__).parent),
        "packages": {name: _installed_version(name) for name in CORE_PACKAGES},
        "compiled": is_compiled(),
        "compile seconds": seconds,
        "cache": str(Path(vars(advance)["_cache"].cache_path)),
        "extras": extras(),
    }
    _print_doctor(console, data)
    return data


def extras() -> dict[str, dict[str, Any]]:
    """For each extra its purpose, the versions of its packages (None if missing), and the command that installs it."""
    out = {}
    for extra, packages in declared_packages().items():
        versions = {name: _installed_version(name) for name in packages}
        out[extra] = {"gives": PURPOSES[extra], "packages": versions, "there": all(versions.values())}
        out[extra]["install"] = f"pip install 'phloat[{extra}]'"
    return out


def declared_packages() -> dict[str, list[str]]:
    """The packages of each extra, from the metadata of the installation; the extras of developers are left out."""
    try:
        lines = requires("phloat") or []
    except PackageNotFoundError:  # run from its source without an installation
        lines = []
    by_extra: dict[str, list[str]] = {extra: [] for extra in PURPOSES}
    for line in lines:
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", line)
        package = re.match(r"[\w.-]+", line)
        if extra and package and extra[1] not in DEVELOPERS:
            by_extra.setdefault(extra[1], []).append(package[0])
    return {extra: packages for extra, packages in by_extra.items() if packages}


def _installed_version(package: str) -> str | None:
    """The version of an installed package, None if it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _print_doctor(console: Console, data: dict[str, Any]) -> None:
    console.title(f"phloat {__version__}")
    seconds, packages = data["compile seconds"], data["packages"].items()
    state = "not compiled yet: the first run takes a quarter of a minute longer, or: phloat doctor --compile"
    if data["compiled"]:
        state = "compiled" + (f" in {seconds:.0f} s" if seconds else "")
    facts = {
        "Python": f"{data['python']} ({data['executable']})",
        "system": f"{data['platform']}, {data['cores']} cores",
        "packages": ", ".join(f"{name} {found or 'MISSING'}" for name, found in packages),
        "installed in": data["installed in"],
        "time step": f"{state}; kept in {data['cache']}",
    }
    console.facts(facts)
    rows = []
    for name, extra in data["extras"].items():
        lacking = [package for package, found in extra["packages"].items() if not found]
        status = "there" if extra["there"] else "partly" if len(lacking) < len(extra["packages"]) else "—"
        hint = f"; lacks {', '.join(lacking)}: {extra['install']}" if lacking else ""
        rows.append((status, name, extra["gives"] + hint))
    console.title("extras")
    console.table(("", "extra", "gives"), rows)
    if not rows:
        console.note("phloat is not installed as a package, so its extras are unknown: pip install .")


# --- verify ----------------------------------------------------------------------------------------------------------


def verify_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Runs the named verification cases, or all, and prints tables. Raises AccuracyError if a row is outside its tolerance."""
    models.require_suffixes(args.output, (".txt", ".json"))
    cases = verification_cases()
    if args.list:
        chosen = cases.chosen(args.names or None, long=not args.quick)
        console.table(("case", "about"), [(case.name, case.about) for case in chosen])
        return {"cases": [{"name": case.name, "about": case.about, "source": case.source} for case in chosen]}

    def show(outcome: Any) -> None:
        """Prints the table of one case when it is finished."""
        console.title(outcome.case.name)
        console.facts({"about": outcome.case.about, "source": outcome.case.source})
        for line in [*cases.table(outcome.rows), *([f"could not be run: {outcome.fault}"] if outcome.fault else [])]:
            console.print_lines(f"  {line}")

    report = cases.verify(args.names or None, fine=args.fine, long=not args.quick, progress=show)
    models.write_files(console, args.output, report.as_dict(), text=report.text())
    if not report.good:
        raise AccuracyError(f"{report.verdict()}; phloat doctor lists what is installed")
    console.title(report.verdict())
    return {key: value for key, value in report.as_dict().items() if key != "phloat"} | {"files": args.output}


def verification_cases() -> Any:
    """Imports tests/verification from the source tree of phloat. Raises InputError if phloat was installed without its source."""
    tests = Path(phloat.__file__).resolve().parents[2] / "tests"
    if not (tests / "verification").is_dir():
        raise InputError(
            "the cases are not in this installation; they are in the repository of phloat, in tests/verification: "
            "get its source, install it with pip install -e . and run phloat verify again"
        )
    if str(tests) not in sys.path:
        sys.path.insert(0, str(tests))
    return import_module("verification")


# --- examples and schema ---------------------------------------------------------------------------------------------

MODEL_SUFFIXES, SCRIPT_SUFFIXES = (".yaml", ".json"), (".py",)
SCHEMA = "model.schema.json"
NOT_FOR_COPYING = {"demo.py"}  # it needs files of the whole source tree


def examples_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Lists the examples; with names or --all copies them to the folder --output."""
    examples = catalogue()
    if not args.names and not args.all:
        questions = {name: example_question(path) for name, path in examples.items()}
        for title, endings in (("models: phloat run FILE", MODEL_SUFFIXES), ("scripts: python FILE", SCRIPT_SUFFIXES)):
            console.title(title)
            console.table(("file", "about"), [row for row in questions.items() if row[0].endswith(endings)])
        console.print_lines("copy one: phloat examples crank_slider; or all: phloat examples --all -o examples")
        return {"examples": questions}
    sources = list(examples.values()) if args.all else [_example(name, examples) for name in args.names]
    return {"copied": copy_examples(sources, Path(args.output), console, overwrite=args.overwrite)}


def schema_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Prints the JSON Schema of model files."""
    from phloat.files.model_files import schema_text

    text = schema_text()
    console.print_lines(text.rstrip())
    return {"schema": json.loads(text)}


def catalogue() -> dict[str, Path]:
    """The paths of all examples by file name, models first, in the installed package or in the source tree."""
    package = Path(phloat.__file__).parent
    for folder in (package / "examples", package.parents[1] / "examples"):
        if (folder / "models").is_dir():
            files = [path for path in sorted((folder / "models").iterdir()) if path.suffix in MODEL_SUFFIXES]
            files += [path for path in sorted(folder.glob("*.py")) if path.name not in NOT_FOR_COPYING]
            return {path.name: path for path in files}
    raise InputError("the examples are not in this installation; they are in the source of phloat, in examples/")


def example_question(path: Path) -> str:
    """The question that an example answers: the first line of a script's docstring, or `about` of a model."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    if path.suffix == ".json":
        return str(json.loads(text).get("about", ""))
    match = re.search(r"^about: *(?:>-\n +)?(.*)$", text, re.MULTILINE)
    return match[1] if match else ""


def _example(name: str, examples: dict[str, Path]) -> Path:
    """The path of an example given with or without suffix; of a model and a script of that name, the model."""
    for ending in ("", *MODEL_SUFFIXES, *SCRIPT_SUFFIXES):
        if name + ending in examples:
            return examples[name + ending]
    raise InputError(unknown("example", name, examples))


def copy_examples(sources: list[Path], target: Path, console: Console, *, overwrite: bool) -> list[str]:
    """Copies examples and the files they need to the folder `target`; returns the new paths.

    Raises InputError if one of them exists, unless `overwrite`.
    """
    from phloat.files.model_files import schema_text

    if target.exists() and not target.is_dir():
        raise InputError(f"{str(target)!r} is a file; give a folder to copy to")
    plan = {target / place: source for path in sources for place, source in needed_files(path).items()}
    if (existing := [str(path) for path in plan if path.exists()]) and not overwrite:
        raise InputError(f"already there: {', '.join(existing)}; --overwrite, or -o elsewhere")
    for path, source in plan.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix in MODEL_SUFFIXES:  # models refer to the schema by a path in the source tree
            text = source.read_text(encoding="utf-8").replace(f"../../{SCHEMA}", SCHEMA)
            path.write_text(text, encoding="utf-8")
            path.with_name(SCHEMA).write_text(schema_text(), encoding="utf-8")
        else:
            path.write_bytes(source.read_bytes())
        console.print_lines(f"written: {path}")
    return [str(path) for path in plan]


def needed_files(path: Path) -> dict[str, Path]:
    """The source paths of an example and of the files it uses, by their path relative to the target folder."""
    text, out, script = path.read_text(encoding="utf-8"), {path.name: path}, path.suffix not in MODEL_SUFFIXES
    for other in (path.parent / "models" if script else path.parent).iterdir():
        if other.suffix not in MODEL_SUFFIXES and other.name in text:
            out[f"models/{other.name}" if script else other.name] = other
    for name in re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE) if script else ():
        if (other := path.with_name(f"{name}.py")).exists() and other != path:
            out |= needed_files(other)
    return out
