"""Nothing that is read is ever run: no eval, no exec, no shell in the library; pickles only where no file of a user comes in."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "phloat"
RUNS = {"eval", "exec", "compile", "__import__", "execfile"}
MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "subprocess", "pty", "commands", "code"}
# why a module of these is there; everything else is an error
ALLOWED = {
    ("pickle", "many/pickling.py"): "what goes to processes that phloat itself has started",
    ("marshal", "many/pickling.py"): "functions of the user on their way there",
    (
        "pickle",
        "many/workers.py",
    ): "the same, at both ends: through pipes of its own or the user's cluster, never through a file",
    ("subprocess", "many/workers.py"): "Python itself, by a list of arguments, without a shell",
    (
        "subprocess",
        "twin/compiled.py",
    ): "the C compiler, on a source of phloat's own words and of numbers, without a shell",
    (
        "ctypes.CDLL",
        "twin/compiled.py",
    ): "what that compiler has made, in a folder of the user under a digest of the source",
    ("ctypes.CDLL", "algebra/threads.py"): "the libraries that NumPy and SciPy have loaded, to hold them to one thread",
    (
        "pickle",
        "control/fmu.py",
    ): "an FMU is a program: whoever opens one runs the Python in it, with or without a pickle",
}


def findings(root: Path) -> list[tuple[str, str]]:
    """(what, file) for everything that could run what it reads."""
    out = []
    for file in sorted(root.rglob("*.py")):
        where = file.relative_to(root).as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            out += [(what, where) for what in _found(node)]
    return sorted(set(out))


def _found(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names if alias.name.partition(".")[0] in MODULES]
    if isinstance(node, ast.ImportFrom):
        return [node.module.partition(".")[0]] if node.module and node.module.partition(".")[0] in MODULES else []
    if not isinstance(node, ast.Call):
        return []
    called = ast.unparse(node.func)
    options = {word.arg: word.value for word in node.keywords}
    out = [called] if called in RUNS or called in ("os.system", "os.popen", "ctypes.CDLL") else []
    out += [called] if called.startswith(("os.exec", "os.spawn")) else []
    for word in ("shell", "allow_pickle"):
        if word in options and not (isinstance(options[word], ast.Constant) and options[word].value is False):
            out.append(f"{word}=")
    if called in ("np.load", "numpy.load") and "allow_pickle" not in options:
        out.append("np.load without allow_pickle=False")
    if called in ("yaml.load", "yaml.load_all", "yaml.unsafe_load", "yaml.full_load"):
        out.append(called)
    return out


def test_nothing_in_the_library_runs_what_it_reads():
    assert [found for found in findings(SRC) if found not in ALLOWED] == []


def test_what_is_allowed_is_still_there():
    assert set(ALLOWED) <= set(findings(SRC))


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("eval(text)", "eval"),
        ("import os\nos.system('x')", "os.system"),
        ("import subprocess", "subprocess"),
        ("run(x, shell=True)", "shell="),
        ("from pickle import loads", "pickle"),
        ("np.load(file)", "np.load without allow_pickle=False"),
        ("np.load(file, allow_pickle=yes)", "allow_pickle="),
        ("yaml.load(text)", "yaml.load"),
    ],
)
def test_what_could_run_is_seen(tmp_path, code, what):
    (tmp_path / "a.py").write_text(code)
    assert (what, "a.py") in findings(tmp_path)
