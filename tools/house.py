"""Prints the size of src/phloat, its modules, imports and public names: python tools/house.py [SRC]"""

import ast
import io
import os
import subprocess
import sys
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src"
BLANK = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
LONG = 400  # longer files are listed


def modules(src: Path) -> dict[str, Path]:
    """The files of all modules of phloat by dotted name."""
    files = sorted((src / "phloat").rglob("*.py"))
    return {".".join(file.relative_to(src).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def code_lines(text: str) -> int:
    """The number of lines with code; docstrings, comments and blank lines do not count."""
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in BLANK]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def imported(node: ast.AST, known: dict[str, Path]) -> set[str]:
    """The modules of phloat (keys of `known`) that an import statement imports."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
        names = [name if name in known else node.module for name in names]
    else:
        names = []
    return known.keys() & set(names)


def longest_chain(graph: dict[str, set[str]]) -> list[str]:
    """The longest path of imports at module level, the importer first."""

    @cache
    def below(module: str) -> list[str]:
        """The longest path that starts at a module."""
        return [module, *max((below(target) for target in sorted(graph[module])), key=len, default=[])]

    return max((below(module) for module in sorted(graph)), key=len)


def top_names(tree: ast.Module) -> set[str]:
    """The names of the public functions and classes that a module defines."""
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return {name for name in names if not name.startswith("_")}


def measures(src: Path) -> dict[str, str]:
    """The measures of the source text, by description."""
    files = modules(src)
    texts = {name: file.read_text(encoding="utf-8") for name, file in files.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    anywhere = {n: set().union(*(imported(node, files) for node in ast.walk(tree))) for n, tree in trees.items()}
    at_top = {n: set().union(*(imported(node, files) for node in tree.body)) for n, tree in trees.items()}
    importers = Counter(target for name, targets in anywhere.items() if name != "phloat" for target in targets - {name})
    defined = Counter(name for tree in trees.values() for name in top_names(tree))
    chain = longest_chain(at_top)
    long = [name for name, text in texts.items() if text.count("\n") > LONG]
    return {
        "code lines": str(sum(map(code_lines, texts.values()))),
        "files": str(len(files)),
        "modules with exactly one importer": str(sum(count == 1 for count in importers.values())),
        "top-level names defined in more than one module": str(sum(count > 1 for count in defined.values())),
        "longest import chain": f"{len(chain)} ({chain[0]} … {chain[-1]})",
        f"files over {LONG} lines": f"{len(long)} {' '.join(long)}".strip(),
    }


SIMULATE = """
import sys
import phloat as ph
link = ph.Beam(1.0, ph.Circle(0.02), ph.Material(E=2e11, rho=7800.0, nu=0.3)).discretise(2)
chain = ph.connect({"a": link, "b": link}, [ph.Revolute("ground", "a.P"), ph.Revolute("a.C", "b.P")], plane="xy")
start, found = ph.place(chain), set()
ph.simulate(chain, start, 2e-3, dt=1e-3)  # imports
sys.setprofile(lambda frame, event, arg: found.add(frame.f_code.co_filename))
ph.simulate(chain, start, 2e-3, dt=1e-3)
sys.setprofile(None)
spaces = [ph.names] + [getattr(ph, name) for name in ph.NAMESPACES if name not in ("shapes", "twin")]
docs = [getattr(space, name).__doc__ or "" for space in spaces for name in ph.public_names(space)]
shown = [sum(word in doc for doc in docs) for word in ("Parameters\\n", ">>>")]
print(len([file for file in found if "phloat" in file]), len(ph.__all__), len(docs), *shown)
"""


def measures_of_a_run(src: Path) -> dict[str, str]:
    """The measures that need a simulation, run in a new process; empty if phloat cannot be imported there."""
    environment = os.environ | {"PYTHONPATH": str(src)}
    done = subprocess.run([sys.executable, "-c", SIMULATE], capture_output=True, text=True, env=environment)
    if done.returncode:
        return {}
    files, flat, names, parameters, examples = done.stdout.split()
    return {
        "files that simulate runs through": files,
        "public names; in phloat itself; with parameters, with an example": f"{names}; {flat}; {parameters}, {examples}",
    }


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else SRC
    for measure, value in (measures(where) | measures_of_a_run(where)).items():
        print(f"{measure:50}{value}")
