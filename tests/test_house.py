"""Structure of the code: order of imports, optional packages imported where used, versions, docstrings of public names."""

import ast
import graphlib
import os
import re
import subprocess
import sys
import tomllib
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import phloat

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"

# A package may import from itself and from those before it.
ORDER = (
    *("synonyms", "errors", "algebra", "linear", "fem", "bodies", "joints", "system", "format", "motion"),
    *("analysis", "control", "random", "many", "twin", "files", "view", "cli"),
)
PUBLIC = {"__main__", "names", "io", "reduction", "types"}  # namespaces, which import from everywhere
USERS = {"cli"}  # uses phloat by its public names
ENDS = {"view", "cli"}  # imported by phloat/names.py and the public namespaces only
ONLY = {
    "twin": "jax"
}  # folders that need one optional package and may import it at the top; no other folder imports them
CORE = {"numpy", "scipy", "numba"}
OPTIONAL = {
    *(
        "sksundae",
        "control",
        "pymor",
        "jax",
        "matplotlib",
        "PIL",
        "imageio_ffmpeg",
        "meshio",
        "gmsh",
        "xarray",
        "h5netcdf",
    ),
    *("dask", "distributed", "pythonfmu3", "fmpy", "exudyn", "msgspec", "yaml", "pypardiso", "pymetis"),
    "verification",  # tests/verification, where phloat is run from its source
}


# --- the import walk -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Import:
    """An import of `target` in the module `importer`, both dotted and absolute; `late`: inside a function or for type checking."""

    importer: str
    target: str
    late: bool
    where: str

    @property
    def top(self) -> str:
        return self.target.partition(".")[0]


def modules(src: Path) -> dict[str, Path]:
    """The files of all modules of src/phloat by dotted name."""
    files = sorted((src / "phloat").rglob("*.py"))
    return {".".join(f.relative_to(src).with_suffix("").parts).removesuffix(".__init__"): f for f in files}


def imports(src: Path) -> list[Import]:
    """All imports of all modules, also by `import_module("x")` and in type-checking blocks."""
    return [
        Import(name, target, late, f"{file.relative_to(src)}:{line}")
        for name, file in modules(src).items()
        for target, late, line in walk(ast.parse(file.read_text(encoding="utf-8")), package_of(name, file), late=False)
    ]


def package_of(name: str, file: Path) -> str:
    """The package relative to which a module imports."""
    return name if file.name == "__init__.py" else name.rpartition(".")[0]


def walk(node: ast.AST, package: str, *, late: bool) -> Iterator[tuple[str, bool, int]]:
    """The imports in a syntax tree: target, whether late, line."""
    match node:
        case ast.Import(names=names):
            yield from ((alias.name, late, node.lineno) for alias in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            parents = package.split(".")[: len(package.split(".")) - level + 1] if level else []
            base = ".".join([*parents, *([module] if module else [])])
            yield from ((base if a.name == "*" else f"{base}.{a.name}", late, node.lineno) for a in names)
        case ast.Call(func=ast.Name(id=verb) | ast.Attribute(attr=verb), args=[ast.Constant(value=str(target)), *_]):
            if verb in ("import_module", "__import__"):
                yield target, late, node.lineno
    # Type-checking blocks are not executed, like functions that are not called: their imports are late.
    late = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for field, value in ast.iter_fields(node):
        unrun = isinstance(node, ast.If) and field == "body" and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from walk(child, package, late=late or unrun)


def module_graph(src: Path) -> dict[str, dict[str, str]]:
    """For each module the modules that it imports, and in which line; `from phloat.bodies import Beam` imports phloat.bodies."""
    graph: dict[str, dict[str, str]] = {name: {} for name in modules(src)}
    for found in imports(src):
        if found.top == "phloat":
            target = found.target
            while target not in graph:
                target = target.rpartition(".")[0]
            graph[found.importer].setdefault(target, found.where)
    return graph


def folder(module: str) -> str:
    """The folder of a module: "bodies" of phloat.bodies.beam; "phloat" of phloat, its namespaces and __main__."""
    first = module.split(".")[1:2]
    return first[0] if first and first[0] not in PUBLIC else "phloat"


def unplaced(src: Path) -> list[str]:
    """Modules whose folder is not in ORDER."""
    return [f"{name} has no place in the order" for name in modules(src) if folder(name) not in ("phloat", *ORDER)]


def wrong_way(src: Path) -> list[str]:
    """Imports of a folder that comes later in ORDER, of ENDS and ONLY, or of the public names."""
    rank = {name: k for k, name in enumerate(ORDER)}
    rank["phloat"] = rank["cli"]  # the public interface is for users, and the command line is one
    found = []
    for importer, targets in module_graph(src).items():
        for target, where in targets.items():
            here, there = folder(importer), folder(target)
            if here in ("phloat", there) or here not in rank or there not in rank:
                continue
            if rank[there] > rank[here] or there in ENDS | ONLY.keys() or (there == "phloat" and here not in USERS):
                found.append(f"{where}: {here} imports {there}")
    return found


def cycles(src: Path) -> list[str]:
    """The first cycle of imports between modules."""
    try:
        graphlib.TopologicalSorter(module_graph(src)).prepare()
    except graphlib.CycleError as error:
        return [" ← ".join(error.args[1])]
    return []


def strangers(src: Path) -> list[str]:
    """Imports of packages that are neither in CORE nor in OPTIONAL nor in the standard library."""
    known = {"phloat"} | CORE | OPTIONAL | sys.stdlib_module_names
    return [f"{found.where}: {found.top}" for found in imports(src) if found.top not in known]


def early_optional(src: Path) -> list[str]:
    """Imports of optional packages outside of functions."""
    return [
        f"{f.where}: {f.top}"
        for f in imports(src)
        if f.top in OPTIONAL and not f.late and ONLY.get(folder(f.importer)) != f.top
    ]


def scattered_optional(src: Path) -> list[str]:
    """Optional packages that are imported in more than one folder."""
    homes: dict[str, set[str]] = {}
    for found in imports(src):
        if found.top in OPTIONAL:
            homes.setdefault(found.top, set()).add(folder(found.importer))
    return [f"{name} is imported in {sorted(where)}" for name, where in homes.items() if len(where) > 1]


def test_every_module_has_a_place_in_the_order():
    assert "phloat" in modules(SRC)
    assert not unplaced(SRC)


def test_imports_between_the_packages_point_one_way():
    assert not wrong_way(SRC)


def test_no_modules_import_each_other_in_a_circle():
    assert not cycles(SRC)


def test_the_core_imports_only_its_four_packages():
    assert not strangers(SRC)


def test_optional_packages_are_imported_inside_functions():
    assert not early_optional(SRC)


def test_each_optional_package_is_imported_in_one_folder():
    assert not scattered_optional(SRC)


def write_tree(src: Path, files: dict[str, str]) -> Path:
    """Writes a package phloat of these files; returns src."""
    for name, text in {"__init__.py": "", **files}.items():
        path = src / "phloat" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return src


CHECKS = (unplaced, wrong_way, cycles, strangers, early_optional, scattered_optional)

IN_ORDER = {
    "__init__.py": "from .bodies import Beam\nfrom .view.plots import plot\nfrom phloat.errors import PortError",
    "errors.py": "class PortError(ValueError): ...",
    "linear/__init__.py": "import numpy as np\nfrom ..errors import PortError",
    "bodies/__init__.py": "from .beam import Beam",
    "bodies/beam.py": "import scipy.sparse as sp\nfrom . import section\nfrom ..linear import LinearPHDAE",
    "bodies/section.py": "from __future__ import annotations\nimport math",
    "control/__init__.py": "def export():\n    import control",
    "view/plots.py": "if typing.TYPE_CHECKING:\n    from matplotlib.axes import Axes",
    "cli.py": "import phloat",
}


def test_the_walk_finds_nothing_in_a_tree_in_order(tmp_path):
    src = write_tree(tmp_path, IN_ORDER)
    assert [finding for check in CHECKS for finding in check(src)] == []


@pytest.mark.parametrize(
    ("check", "file", "line", "finding"),
    [
        (unplaced, "utils.py", "", "phloat.utils has no place"),
        (wrong_way, "linear/modes.py", "from phloat.bodies import Beam", "linear imports bodies"),
        (wrong_way, "linear/modes.py", "from ..bodies.beam import Beam", "linear imports bodies"),
        (wrong_way, "linear/modes.py", "def late():\n    from .. import bodies", "linear imports bodies"),
        (wrong_way, "errors.py", "import phloat.linear", "errors imports linear"),
        (wrong_way, "bodies/rigid.py", "from phloat import Beam", "bodies imports phloat"),
        (wrong_way, "cli.py", "from phloat.view.plots import plot", "cli imports view"),
        (cycles, "bodies/section.py", "from .beam import Beam", "phloat.bodies.beam"),
        (cycles, "bodies/section.py", "from phloat.bodies import Beam", "phloat.bodies.section"),
        (strangers, "bodies/rigid.py", "import pandas as pd", "rigid.py:1: pandas"),
        (early_optional, "bodies/rigid.py", "from matplotlib import pyplot", "rigid.py:1: matplotlib"),
        (early_optional, "bodies/rigid.py", "try:\n    import jax\nexcept ImportError: ...", "rigid.py:2: jax"),
        (early_optional, "bodies/rigid.py", "jax = importlib.import_module('jax.numpy')", "rigid.py:1: jax"),
        (early_optional, "bodies/rigid.py", "class Rigid:\n    import yaml", "rigid.py:2: yaml"),
        (scattered_optional, "motion/result.py", "def f():\n    import control", "['control', 'motion']"),
    ],
)
def test_the_walk_finds_what_is_out_of_order(
    tmp_path, check: Callable[[Path], list[str]], file: str, line: str, finding: str
):
    findings = check(write_tree(tmp_path, {**IN_ORDER, file: line}))
    assert len(findings) == 1
    assert finding in findings[0]


# --- what an import does ---------------------------------------------------------------------------------------------


def optional_after_import(src: Path, stubs: Path) -> set[str]:
    """The optional packages that a new Python loads when it imports phloat and its names; each is installed as an empty stub."""
    stubs.mkdir()
    for name in OPTIONAL:
        (stubs / f"{name}.py").touch()
    # The core is imported before: numba imports yaml if it is installed.
    code = f"import sys, scipy.sparse, {', '.join(sorted(CORE))}; before = set(sys.modules)\n"
    code += f"sys.path[:0] = [{str(src)!r}, {str(stubs)!r}]; import phloat; phloat.__all__; print(*(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    return {name.partition(".")[0] for name in loaded} & OPTIONAL


def test_import_phloat_loads_no_optional_package(tmp_path):
    assert optional_after_import(SRC, tmp_path / "stubs") == set()


def test_an_optional_package_loaded_by_import_is_seen(tmp_path):
    src = write_tree(tmp_path / "src", {"__init__.py": "from . import bodies\n__all__ = []", "bodies.py": "import jax"})
    assert optional_after_import(src, tmp_path / "stubs") == {"jax"}


# --- measures --------------------------------------------------------------------------------------------------------


def test_the_measures_of_the_house_are_printed():
    done = subprocess.run([sys.executable, ROOT / "tools/house.py"], capture_output=True, text=True, check=True)
    measures = ("code lines", "files", "modules with exactly one importer", "longest import chain")
    assert all(re.search(rf"^{measure} +[1-9]", done.stdout, re.MULTILINE) for measure in measures)


# --- the tree --------------------------------------------------------------------------------------------------------

CODE = {".py", ".sh", ".toml", ".cff", ".cfg", ".yml", ".yaml", ""}
MACHINE_PATH = re.compile(r"(?<![\w./:-])/(?:root|home|Users|work|tmp|mnt|opt)/\w")
BESIDE_THE_PROJECT = "/".join(("..", "shared"))
MADE = {".git", ".venv", "results", "build", "dist", "__pycache__"}  # and the tools' caches


def project_files(root: Path) -> Iterator[Path]:
    """The files of the project without build products and caches; found without git, which may be missing."""
    for here, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in MADE and not f.endswith(("_cache", ".egg-info", ".hypothesis"))]
        yield from (Path(here, name) for name in files if name != ".git")


def outside_references(root: Path) -> list[str]:
    """Lines with paths of a machine or outside of the project."""
    found = []
    for file in project_files(root):
        if file.suffix in CODE | {".md"}:
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                if BESIDE_THE_PROJECT in line or (file.suffix in CODE and MACHINE_PATH.search(line)):
                    found.append(f"{file.relative_to(root)}:{number}: {line.strip()}")
    return found


def test_the_project_stands_on_its_own():
    assert not outside_references(ROOT)


@pytest.mark.parametrize("folder", ["root", "home", "tmp"])
def test_paths_outside_the_project_are_seen(tmp_path, folder):
    (tmp_path / "demo").write_text(f'cd "/{folder}/someone"\n')
    (tmp_path / "notes.md").write_text(f"see {BESIDE_THE_PROJECT}/table.csv, or https://example.org/{folder}/page\n")
    (tmp_path / "fine.py").write_text(f'url = "https://example.org/{folder}/page"  # docs/{folder}/page\n')
    assert sorted(finding.split(":")[0] for finding in outside_references(tmp_path)) == ["demo", "notes.md"]


def test_the_three_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    citation = re.search(r"^version: *(\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert citation is not None
    assert project == citation[1].strip("'\"") == phloat.__version__


# --- the public names ------------------------------------------------------------------------------------------------


def undocumented(module: types.ModuleType) -> list[str]:
    """Public names without a docstring of their own; one that is inherited or generated by `dataclass` does not count."""
    return [name for name in phloat.public_names(module) if not own_words(getattr(module, name))]


def own_words(thing: object) -> bool:
    """Whether an object, or the class of a value, has a docstring that is neither inherited nor generated by `dataclass`."""
    kind = thing if isinstance(thing, type) else type(thing)
    written = thing.__doc__ if hasattr(thing, "__name__") else kind.__doc__  # a value is explained by its type
    inherited = {base.__doc__ for base in kind.__mro__[1:]}
    return bool(written) and written not in inherited and not written.startswith(f"{kind.__name__}(")


@pytest.mark.parametrize("space", ["", *sorted({*phloat.NAMESPACES} - {"shapes"})])
def test_every_public_name_has_a_docstring(space):
    module = getattr(phloat, space) if space else phloat
    assert phloat.public_names(module)
    assert not undocumented(module)


def test_a_name_of_a_namespace_is_found_by_its_message():
    with pytest.raises(AttributeError, match=r"phloat\.control\.lqr"):
        phloat.lqr  # noqa: B018
    assert "lqr" not in dir(phloat)
    assert {"control", "errors", "io", "random", "reduction", "shapes", "twin", "types"} <= set(dir(phloat))


def test_a_public_name_without_a_docstring_is_seen():
    @dataclass
    class Bare:
        length: float

    class InheritsError(ValueError): ...

    class Said:
        """A class with a sentence."""

    module = types.ModuleType("module")
    public = {"Bare": Bare, "bare": lambda: 0, "InheritsError": InheritsError, "Said": Said, "said": Said()}
    vars(module).update(public, __all__=list(public))
    assert undocumented(module) == ["Bare", "InheritsError", "bare"]


def test_the_mutation_run_names_modules_and_tests_that_exist(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "mutation"))
    from tests_of import TESTS

    gone = {module for module in TESTS if not (SRC / f"{module.replace('.', '/')}.py").exists()}
    for named in {test for tests in TESTS.values() for test in tests if test.startswith("tests/")}:
        file, _, test = named.partition("[")[0].partition("::")
        if not (ROOT / file).exists() or (test and f"def {test}(" not in (ROOT / file).read_text()):
            gone.add(named)
    assert not gone
