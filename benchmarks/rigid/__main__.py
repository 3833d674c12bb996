"""Rigid mechanisms beside MuJoCo and Pinocchio: python benchmarks/rigid [part of a name …] [--quick]

Writes RESULTS.md and results.json beside this file; with --quick two small mechanisms run and nothing is written.
"""

import json
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import mujoco
import numpy as np
from codes import CODES
from mechanisms import MECHANISMS

from phloat.errors import ConvergenceError

HERE = Path(__file__).resolve().parent
TARGETS = (1e-3, 1e-6)
LONGEST = 0.5  # s of the processor, from which on no run of more steps is tried
SAMPLES = 16  # energies of a run
QUICK = ("planar chain of 2", "robot arm of 7 axes")


def taken(action, times):
    """The shortest processor time (s) of an action, and its result."""
    best = np.inf
    for _ in range(times):
        begin = time.process_time()
        out = action()
        best = min(best, time.process_time() - begin)
    return best, out


def sweep(code, method, reference, size, longest):
    """Runs of a method with 16, 32 … steps until it is good for the last target or takes too long: (steps, s, error)."""
    runs, count = [], 16
    while len(runs) < 2 or (runs[-1][1] < longest and runs[-1][2] > 0.5 * TARGETS[-1]):
        try:
            seconds, out = taken(lambda count=count: code.run(method, count), 1)
            seconds = (
                min(seconds, taken(lambda count=count: code.run(method, count), 3)[0]) if seconds < 0.3 else seconds
            )
            error = float(np.abs(code.places(out) - reference).max()) / size
        except ConvergenceError:
            seconds, error = 0.0, np.inf
        runs.append((count, seconds, error if np.isfinite(error) else np.inf))
        count *= 2
    return runs


def to_accuracy(runs, target):
    """Time (s) and steps to an error, between the last run above it and the next; beyond the last one by its order."""
    above = [k for k, (_, _, error) in enumerate(runs) if error > target]
    if not above:
        return {"seconds": runs[0][1], "steps": runs[0][0], "beyond": False}
    k = min(above[-1], len(runs) - 2)
    (n0, s0, e0), (n1, s1, e1) = runs[k : k + 2]
    if not np.isfinite(e0):
        return {"seconds": s1, "steps": n1, "beyond": e1 > target}
    part = np.log(e0 / target) / np.log(e0 / e1) if e1 < e0 else np.inf
    if part > 20:  # it does not converge there
        return {"seconds": np.inf, "steps": 0, "beyond": True}
    return {"seconds": s0 * (s1 / s0) ** part, "steps": round(n0 * 2**part), "beyond": above[-1] == len(runs) - 1}


def of_method(code, method, judged, size, quick):
    """The runs of a method, its times to the targets with the drift of energy there, and its time of a step (s)."""
    reference, kinetic = judged
    runs = sweep(code, method, reference, size, 0.1 if quick else LONGEST)
    best = {f"{target:g}": to_accuracy(runs, target) for target in TARGETS}
    for entry in best.values():
        count = min(-(-max(entry["steps"], 1) // SAMPLES) * SAMPLES, runs[-1][0])
        energy = code.energies(method, count, SAMPLES)
        entry["drift"] = float(np.abs(energy - energy[0]).max()) / kinetic
    few, many = (100, 300) if quick else (500, 2000)
    (a, _), (b, _) = (taken(lambda count=count: code.run(method, count), 3) for count in (few, many))
    return {"runs": runs, "best": best, "step": (b - a) / (many - few)}


def of_mechanism(mechanism, quick):
    """{code: {method: what `of_method` finds}}."""
    codes = {name: code(mechanism) for name, code in CODES.items()}
    for code in codes.values():
        code.run(code.methods[0], 4)  # compiled, or loaded
    judge = codes["Pinocchio"]
    found = {
        name: {method: of_method(code, method, judge.reference, mechanism.size, quick) for method in code.methods}
        for name, code in codes.items()
    }
    found["Pinocchio"]["RK4"]["alone"] = taken(lambda: judge.alone(200), 5)[0] / 200
    return found


# --- tables ----------------------------------------------------------------------------------------------------------


def fastest(methods, target):
    """The method that needs the least time to a target."""
    return min(methods.items(), key=lambda item: item[1]["best"][f"{target:g}"]["seconds"])


def cell(methods, target):
    method, found = fastest(methods, target)
    best = found["best"][f"{target:g}"]
    about = "≈ " if best["beyond"] else ""
    return f"{about}{1e3 * best['seconds']:.3g} ms ({method}, {best['steps']} steps, {best['drift']:.0e})"


def accuracy_table(found, target):
    """Times to an accuracy. The last column compares with the faster peer, Pinocchio by its algorithm alone."""
    lines = [
        f"| error {target:g} | phloat | MuJoCo | Pinocchio | its algorithm alone | the faster peer is ahead by |",
        "|---" * 6 + "|",
    ]
    for name, codes in found.items():
        ours, peer = (
            fastest(codes[code], target)[1]["best"][f"{target:g}"]["seconds"] for code in ("phloat", "MuJoCo")
        )
        pinocchio = codes["Pinocchio"]["RK4"]
        alone = pinocchio["alone"] * pinocchio["best"][f"{target:g}"]["steps"]
        cells = [cell(codes[code], target) for code in CODES]
        lines.append(f"| {name} | {' | '.join(cells)} | {1e3 * alone:.3g} ms | {ours / min(peer, alone):.2g} |")
    return "\n".join(lines)


def step_table(found):
    columns = [(code, method) for code, kind in CODES.items() for method in kind.methods]
    lines = [
        f"| µs a step | {' | '.join(' '.join(c) for c in columns)} | Pinocchio, 4 calls alone | start of a run of phloat, ms |"
    ]
    lines.append("|---" * (len(columns) + 3) + "|")
    for name, codes in found.items():
        steps = [codes[code][method]["step"] for code, method in columns] + [codes["Pinocchio"]["RK4"]["alone"]]
        count, seconds, _ = codes["phloat"]["Midpoint"]["runs"][0]
        start = 1e3 * (seconds - count * codes["phloat"]["Midpoint"]["step"])
        lines.append(f"| {name} | {' | '.join(f'{1e6 * step:.3g}' for step in steps)} | {start:.3g} |")
    return "\n".join(lines)


def report(found):
    versions = ", ".join(f"{package} {version(package)}" for package in ("mujoco", "pin", "numpy"))
    tables = "\n\n".join([*(accuracy_table(found, target) for target in TARGETS), step_table(found)])
    return f"""# Rigid mechanisms beside MuJoCo and Pinocchio

`python benchmarks/rigid` with Python {platform.python_version()}, {versions}.
[How it is measured, and what follows from it](README.md). In brackets: the fastest method of the code, its steps, and the drift of
energy relative to the largest kinetic energy. ≈ is extrapolated by the order of the method.

{tables}
"""


def main():
    quick, parts = "--quick" in sys.argv[1:], [name for name in sys.argv[1:] if name != "--quick"]
    mujoco.set_mju_user_warning(lambda text: None)  # of steps that are too large; it would write a file
    names = [name for name in MECHANISMS if any(part in name for part in parts or ("",))]
    file, found = HERE / "results.json", {}
    if file.exists() and not quick:
        found = json.loads(file.read_text(encoding="utf-8"))
    for name in QUICK if quick else names:
        found[name] = of_mechanism(MECHANISMS[name](), quick)
        print(name, flush=True)
        found = {key: found[key] for key in MECHANISMS if key in found}
        if not quick:
            file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            (HERE / "RESULTS.md").write_text(report(found), encoding="utf-8")
    print(report(found))


if __name__ == "__main__":
    main()
