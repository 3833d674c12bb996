"""Mutation testing of the physics: python tools/mutation [--count N | --all] [--seed S] [--only MODULE] [--again]

Each mutant of a seeded sample changes one sign, factor, index or condition of a module, or drops a line, when the module is
imported (the compiled step runs uncompiled). The fast tests of that module (tests_of.py) must then fail. RESULTS.md lists the
scores and all mutants that survived; survivors.json has the reasons of those that were examined. With `--only`, the rows of other
modules stay in RESULTS.md as they are.
"""

import argparse
import importlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import hook
from collected import Forks
from mutants import Mutant, mutants
from report import replace, write
from tests_of import PLAIN, TESTS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LAST_RESULTS = HERE / "results.json"
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
LIMIT = 5.0  # a mutant is killed if the tests take so many times longer than without it
MIN_SECONDS = 4.0  # shorter durations of tests count as so many seconds
PRELOADED = (  # imported once, before the processes of the mutants are forked
    "numpy",
    "scipy.sparse.linalg",
    "scipy.linalg",
    "scipy.optimize",
    "pytest",
    "_pytest.assertion.rewrite",
)


def sample_mutants(count: int, seed: int, only: str | None) -> tuple[list[Mutant], int]:
    """A random sample of `count` mutants, from each module in proportion to its mutants; and the number of all mutants."""
    by_module = {
        module: mutants(module, (ROOT / "src" / f"{module.replace('.', '/')}.py").read_text())
        for module in TESTS
        if only is None or only in module
    }
    everything = sum(len(found) for found in by_module.values())
    picked = []
    for module, found in by_module.items():
        share = min(len(found), max(1, round(count * len(found) / everything)))
        picked += random.Random(f"{seed} {module}").sample(found, share)
    return picked, everything


def start_tests(mutant: Mutant | None, module: str) -> int:
    """Forks a process that runs the tests of a module with this mutant (None: unchanged); returns its process id."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    out = os.open(HERE / "build" / f"{mutant.name if mutant else module}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    code = 70
    try:
        os.chdir(ROOT)
        os.environ["NUMBA_DISABLE_JIT"] = str(int(module.startswith(PLAIN)))
        if mutant is not None:
            hook.install(mutant.name)
        import pytest

        quiet = ["-x", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore"]
        code = int(pytest.main([*TESTS[module], *quiet]))
    finally:
        sys.stdout.flush()
        os._exit(code)


def run(
    mutants_of_modules: list[tuple[Mutant | None, str]],
    jobs: int,
    durations: dict[str, float],
    known: dict[str, tuple[str, float]],
    begin: Callable[[Mutant | None, str], int] = start_tests,
) -> dict[str, tuple[str, float]]:
    """Runs the tests of all (mutant, module), `jobs` at a time; returns verdict and seconds by name of the mutant.

    The verdict is "survived", "killed" (a test failed), "too long", or "ended with" and an exit code (the import failed).
    `durations` are the seconds of the tests of each module without a mutant, `known` the verdicts of an earlier run.
    """
    waiting, running, outcome = list(reversed(mutants_of_modules)), {}, dict(known)
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant, module = waiting.pop()
            running[begin(mutant, module)] = (mutant, module, time.monotonic())
        for child, (mutant, module, start) in list(running.items()):
            gone, status = os.waitpid(child, os.WNOHANG)
            spent = time.monotonic() - start
            if not gone and spent < LIMIT * max(durations.get(module, 1e3), MIN_SECONDS):
                continue
            if not gone:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                verdict = "too long"
            else:
                code = os.waitstatus_to_exitcode(status)
                verdict = {0: "survived", 1: "killed"}.get(code, f"ended with {code}")
            del running[child]
            outcome[mutant.name if mutant else module] = (verdict, round(spent, 1))
            if mutant:
                LAST_RESULTS.write_text(json.dumps(outcome, indent=1))
            print(f"{verdict:12} {spent:6.1f} s  {describe(mutant) if mutant else module}", flush=True)
        time.sleep(0.02)
    return outcome


def describe(mutant: Mutant) -> str:
    """Module, line, kind, and the code before and after."""
    one = [" ".join(text.split())[:60] for text in (mutant.before, mutant.after)]
    return f"{mutant.module.removeprefix('phloat.')}:{mutant.line} {mutant.kind}: {one[0]} → {one[1]}"


def main() -> int:
    """Parses the options and runs; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true", help="all mutants instead of a sample")
    parser.add_argument("--only", help="modules whose name contains this")
    parser.add_argument(
        "--again",
        action="store_true",
        help="only mutants that survived the last run and are not known to be equivalent",
    )
    parser.add_argument(
        "--collected",
        action="store_true",
        help="collect the tests once: quicker, for modules of functions and constants",
    )
    parser.add_argument("--clean", action="store_true", help="only run the tests without a mutant")
    options = parser.parse_args()
    (HERE / "build").mkdir(exist_ok=True)
    os.environ.update(ENVIRONMENT)
    for name in PRELOADED:
        importlib.import_module(name)
    if options.collected:
        return run_collected(options)
    return run_mutants(options, [m for m in TESTS if options.only is None or options.only in m], start_tests)


def run_collected(options: argparse.Namespace) -> int:
    """Tests the mutants of the one module that `--only` selects, with tests that are collected once. Returns the exit code."""
    import pytest

    modules = [m for m in TESTS if options.only is None or options.only in m]
    if len(modules) > 1:
        raise SystemExit("one module at a time: --only " + " or ".join(modules))
    (module,) = modules
    os.environ["NUMBA_DISABLE_JIT"] = str(int(module.startswith(PLAIN)))
    os.chdir(ROOT)
    found: list[int] = []
    quiet = ["-s", "-x", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore"]
    forks = Forks(HERE / "build", lambda begin: found.append(run_mutants(options, modules, begin)))
    pytest.main([*TESTS[module], *quiet], plugins=[forks])
    return found[0] if found else 1


def run_mutants(options: argparse.Namespace, modules: list[str], begin: Callable[[Mutant | None, str], int]) -> int:
    """Runs the tests without a mutant, then with each, and writes the report. Returns 1 if they fail without one, else 0."""
    first = {tuple(TESTS[module]): module for module in reversed(modules)}  # each list of tests is run once
    sound = run([(None, module) for module in first.values()], options.jobs, {}, {}, begin)
    if any(verdict != "survived" for verdict, _ in sound.values()):
        print("the tests must pass before faults are put in")
        return 1
    if options.clean:
        return 0
    sample, everything = sample_mutants(10**9 if options.all else options.count, options.seed, options.only)
    last = json.loads(LAST_RESULTS.read_text()) if LAST_RESULTS.exists() else {}
    kept = {name: v for name, v in last.items() if name.split(":")[0] not in modules}  # of modules that are not run
    before = last if options.again else kept
    reasons = json.loads((HERE / "survivors.json").read_text())
    equal = {name for name, (kind, _) in reasons.items() if kind == "equal"}
    todo = [
        m
        for m in sample
        if before.get(m.name, ["survived"])[0] == "survived" and not (options.again and m.name in equal)
    ]
    durations = {module: sound[first[tuple(TESTS[module])]][1] for module in modules}
    outcome = run([(m, m.module) for m in todo], options.jobs, durations, before, begin)
    if options.only is None:
        write(HERE, options.seed, everything, sample, outcome, reasons)
    else:
        replace(HERE, sample, outcome, reasons)
    survived = [m for m in sample if outcome[m.name][0] == "survived"]
    print(f"{len(sample) - len(survived)} of {len(sample)} found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
