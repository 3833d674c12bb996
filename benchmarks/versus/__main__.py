"""phloat side by side with Exudyn: python benchmarks/versus [crank-slider] [double-pendulum] … [--quick]

Runs both codes in turn on one core and leaves RESULTS.md, results.json and pictures beside this file. With --quick everything is
small and nothing is written: a look whether it runs.
"""

import importlib.util
import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import operations
import per_step
import sweep
from problems import PROBLEMS
from report import written
from workers import Worker, imported

HERE = Path(__file__).resolve().parent
NAMES = (*PROBLEMS, "steps", "solids", "start", "operations")


def of_problem(workers, problem, quick):
    """Families, references and the best for each target."""
    if quick:
        problem = shortened(problem)
    families, known = sweep.swept(workers, problem, lambda name: print(f"{name} ", end="", flush=True))
    found = sweep.timed_again(workers, problem, families, 1 if quick else 6)
    sweep.weighed(workers, problem, found)
    values = {name: x for name, (x, _) in known.items()}
    apart = abs(values["phloat"] - values["exudyn"]).max() / problem.scale if len(values) > 1 else 0.0
    return {
        "title": problem.title,
        "families": families,
        "found": {f"{target:g}": runs for target, runs in found.items()},
        "good": {name: float(good) for name, (_, good) in known.items()},
        "apart": float(apart),
        "aim": problem.aim,
    }


def shortened(problem):
    """The first two members of each family, references of few steps."""
    families = {name: type(f)(f.code, f.members[:2], f.reference) for name, f in problem.families.items()}
    references = {
        name: type(r)(
            r.code, r.member | coarse(r.member) | {"steps": r.member["steps"] // 4 // 80 * 80 or 160}, r.extrapolated
        )
        for name, r in problem.references.items()
    }
    return type(problem)(
        problem.title, problem.module, problem.scale, families, references, problem.common, problem.aim, problem.targets
    )


def coarse(member):
    return {"elements": 4} if "elements" in member else {}


def of_steps(workers, quick):
    links, repeats, steps = ((2,), 1, 20) if quick else (per_step.LINKS, 7, per_step.STEPS)
    return {str(n): per_step.chains(workers, n, repeats, steps) for n in links}


def of_solids(workers, quick):
    links, repeats, steps = ((2,), 1, 20) if quick else (per_step.SOLID_LINKS, 5, per_step.STEPS)
    return {str(n): per_step.solids(workers, n, repeats, steps) for n in links}


def of_operations(quick):
    return {"peak": operations.peak(500 if quick else 1500), "a link": operations.A_LINK}


def of_start(quick):
    return {code: min(imported(code) for _ in range(1 if quick else 5)) for code in ("phloat", "exudyn")}


def main():
    quick = "--quick" in sys.argv[1:]
    names = [name for name in sys.argv[1:] if name != "--quick"] or list(NAMES)
    if unknown := [name for name in names if name not in NAMES]:
        raise SystemExit(f"no problem {unknown[0]!r}; there are: {', '.join(NAMES)}")
    if importlib.util.find_spec("exudyn") is None:
        raise SystemExit("Exudyn is not installed: pip install '.[bench]'")
    file = HERE / "results.json"
    record = json.loads(file.read_text(encoding="utf-8")) if file.exists() and not quick else {}
    header = {package: version(package) for package in ("exudyn", "numpy", "numba")}
    record["machine"] = {"python": platform.python_version(), **header, "cores": os.cpu_count()}
    workers = {code: Worker(code) for code in ("phloat", "exudyn")}
    try:
        for name in names:
            begin = time.perf_counter()
            print(f"{name} ... ", end="", flush=True)
            if name in PROBLEMS:
                record.setdefault("problems", {})[name] = of_problem(workers, PROBLEMS[name], quick)
            elif name == "steps":
                record["steps"] = of_steps(workers, quick)
            elif name == "solids":
                record["solids"] = of_solids(workers, quick)
            elif name == "start":
                record["start"] = of_start(quick)
            else:
                record["operations"] = of_operations(quick)
            print(f"{time.perf_counter() - begin:.0f} s", flush=True)
            if not quick:
                file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    finally:
        for worker in workers.values():
            worker.close()
    print(written(record, None if quick else HERE))


if __name__ == "__main__":
    main()
