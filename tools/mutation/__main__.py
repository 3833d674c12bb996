"""python tools/mutation [--count N | --all] [--seed S] [--only MODULE] [--again]: faults put into the physics, one at a time.

Each of a seeded sample of faults (a sign, a factor, an index, a condition, a line left out) goes into one module of the physics
while it is imported (with compilation off where it would be compiled), and the fast tests of that module must go red. What
survives is listed in RESULTS.md beside this file; the reasons of those that were looked at are in `survivors.json`. With `--only`
the rows of those modules are replaced there, and the others stay.
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
LAST = HERE / "results.json"
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
LIMIT = 5.0  # times what the tests take without a fault: a fault that makes them go on longer counts as found
LEAST = 4.0  # seconds that tests are taken to last at least
READY = (
    "numpy",
    "scipy.sparse.linalg",
    "scipy.linalg",
    "scipy.optimize",
    "pytest",
    "_pytest.assertion.rewrite",
)


def chosen(count: int, seed: int, only: str | None) -> tuple[list[Mutant], int]:
    """A sample of all faults, from each module as many as its share; and how many there are."""
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


def begun(mutant: Mutant | None, module: str) -> int:
    """A process of its own that runs the tests of a module with a fault in it; its number."""
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
    asked: list[tuple[Mutant | None, str]],
    jobs: int,
    usual: dict[str, float],
    known: dict[str, tuple[str, float]],
    begin: Callable[[Mutant | None, str], int] = begun,
) -> dict[str, tuple[str, float]]:
    """What became of each: killed (by a test, by an error while importing, by the time limit) or survived; seconds."""
    waiting, running, outcome = list(reversed(asked)), {}, dict(known)
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant, module = waiting.pop()
            running[begin(mutant, module)] = (mutant, module, time.monotonic())
        for child, (mutant, module, start) in list(running.items()):
            gone, status = os.waitpid(child, os.WNOHANG)
            spent = time.monotonic() - start
            if not gone and spent < LIMIT * max(usual.get(module, 1e3), LEAST):
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
                LAST.write_text(json.dumps(outcome, indent=1))
            print(f"{verdict:12} {spent:6.1f} s  {describe(mutant) if mutant else module}", flush=True)
        time.sleep(0.02)
    return outcome


def describe(mutant: Mutant) -> str:
    one = [" ".join(text.split())[:60] for text in (mutant.before, mutant.after)]
    return f"{mutant.module.removeprefix('phloat.')}:{mutant.line} {mutant.kind}: {one[0]} → {one[1]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true", help="every fault of the modules, and no sample")
    parser.add_argument("--only", help="modules whose name has this in it")
    parser.add_argument(
        "--again",
        action="store_true",
        help="only those that survived the last run, and are not known to change nothing",
    )
    parser.add_argument(
        "--collected",
        action="store_true",
        help="tests are collected once: quicker, for modules of functions and constants",
    )
    parser.add_argument("--clean", action="store_true", help="run the tests without a fault, and stop")
    asked = parser.parse_args()
    (HERE / "build").mkdir(exist_ok=True)
    os.environ.update(ENVIRONMENT)
    for name in READY:
        importlib.import_module(name)
    if asked.collected:
        return collected(asked)
    return judged(asked, [m for m in TESTS if asked.only is None or asked.only in m], begun)


def collected(asked: argparse.Namespace) -> int:
    """One module at a time, its tests collected once."""
    import pytest

    modules = [m for m in TESTS if asked.only is None or asked.only in m]
    if len(modules) > 1:
        raise SystemExit("one module at a time: --only " + " or ".join(modules))
    (module,) = modules
    os.environ["NUMBA_DISABLE_JIT"] = str(int(module.startswith(PLAIN)))
    os.chdir(ROOT)
    found: list[int] = []
    quiet = ["-s", "-x", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore"]
    forks = Forks(HERE / "build", lambda begin: found.append(judged(asked, modules, begin)))
    pytest.main([*TESTS[module], *quiet], plugins=[forks])
    return found[0] if found else 1


def judged(asked: argparse.Namespace, modules: list[str], begin: Callable[[Mutant | None, str], int]) -> int:
    """Tests without a fault, then with each."""
    first = {tuple(TESTS[module]): module for module in reversed(modules)}  # one module for each list of tests
    sound = run([(None, module) for module in first.values()], asked.jobs, {}, {}, begin)
    if any(verdict != "survived" for verdict, _ in sound.values()):
        print("the tests must pass before faults are put in")
        return 1
    if asked.clean:
        return 0
    sample, everything = chosen(10**9 if asked.all else asked.count, asked.seed, asked.only)
    last = json.loads(LAST.read_text()) if LAST.exists() else {}
    kept = {name: v for name, v in last.items() if name.split(":")[0] not in modules}  # of modules that are not run now
    before = last if asked.again else kept
    reasons = json.loads((HERE / "survivors.json").read_text())
    equal = {name for name, (kind, _) in reasons.items() if kind == "equal"}
    todo = [
        m for m in sample if before.get(m.name, ["survived"])[0] == "survived" and not (asked.again and m.name in equal)
    ]
    usual = {module: sound[first[tuple(TESTS[module])]][1] for module in modules}
    outcome = run([(m, m.module) for m in todo], asked.jobs, usual, before, begin)
    if asked.only is None:
        write(HERE, asked.seed, everything, sample, outcome, reasons)
    else:
        replace(HERE, sample, outcome, reasons)
    survived = [m for m in sample if outcome[m.name][0] == "survived"]
    print(f"{len(sample) - len(survived)} of {len(sample)} found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
