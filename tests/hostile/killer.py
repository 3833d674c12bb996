"""Kills runs by signal 9 at random times, goes on with them until they are done, and compares every bit of them.

    python killer.py FOLDER CASES SEED       prints one line of JSON for each case

The runs are forks of a process that has everything loaded, so that a kill falls into the run and not into imports.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

import phloat as ph
from phloat.motion.saving import recorder

recorder.SECONDS = 0.0  # a piece after every 256 steps: half of the kills fall into writing
steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
link = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), steel, damping=ph.KelvinVoigt(1e-5)).discretise(2)
ideal = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), steel).discretise(2)


def arm(body: ph.Body, plane: str | None) -> ph.System:
    hinges = [ph.Revolute("ground", "a.P", name="m"), ph.Revolute("a.C", "b.P", name="j")]
    return ph.connect({"a": body, "b": body}, hinges, gravity=(0, -9.81, 0), plane=plane)


def twist(t: float) -> float:
    return 0.5 * np.sin(30 * t)


def held(t: float, y: dict) -> dict:
    return {"m": -3.0 * y["m.angle"] - 0.2 * y["m"]}


CASES = {
    "plane": (arm(link, "xy"), {"u": {"j": twist}}, {"t_end": 3.0, "dt": 1e-3, "output": 10}),
    "space": (arm(link, None), {"u": {"j": twist}}, {"t_end": 2.0, "dt": 1e-3, "output": 10}),
    "controller": (arm(link, "xy"), {"controller": held}, {"t_end": 0.06, "dt": 1e-3, "every": 3.3e-3}),
    "adaptive": (arm(link, "xy"), {}, {"t_end": 0.3, "dt": 1e-3, "scheme": ph.Midpoint(rtol=1e-4)}),
    "composition": (arm(ideal, "xy"), {"u": {"j": twist}}, {"t_end": 0.6, "dt": 1e-3, "scheme": ph.Composition4()}),
}


def arrays(result: ph.Result) -> dict[str, np.ndarray]:
    books = {name: getattr(result.accounts, name) for name in ("bodies", "losses", "works", "springs")}
    return {"t": result.t, "e": result.e, "lam": result.lam, **books}


def go_on(case: str, folder: Path) -> ph.Result:
    """The run of a folder, from wherever it stands; where nothing of it was written, from its start."""
    system, given, asked = CASES[case]
    if finished(folder):
        return ph.io.load_result(folder, system)
    if (folder / "run.json").exists():
        return ph.resume(folder, system, **given)
    return ph.simulate(system, started(system), save=folder, **given, **asked)


def finished(folder: Path) -> bool:
    there = folder / "run.json"
    return there.exists() and json.loads(there.read_text())["finished"]


def started(system: ph.System) -> ph.State:
    return ph.place(system, {"m.angle": 0.3, "j.angle": -0.4})


def killed(case: str, folder: Path, after: float) -> int:
    """A fork at work in the folder, killed after so many seconds; its exit status, −9 where it was killed."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            go_on(case, folder)
            code = 0
        finally:
            os._exit(code)
    time.sleep(after)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def first_kill(case: str, where: Path, number: int, chance: random.Random, seconds: float) -> tuple[Path, list, list]:
    """A run killed before its end; one that was quicker does not count."""
    for again in range(20):
        folder = where / f"{number} {again}"
        if (end := killed(case, folder, chance.random() * seconds)) == -signal.SIGKILL:
            return folder, [end], [written(folder)]
        seconds *= 0.7
    raise RuntimeError("no run lived long enough to be killed")


def written(folder: Path) -> int:
    """How many pieces a folder has; −1 where there is no run yet."""
    there = folder / "run.json"
    return json.loads(there.read_text())["pieces"] if there.exists() else -1


def main(where: Path, cases: int, seed: int) -> None:
    chance = random.Random(seed)
    plain, seconds = {}, {}
    for case in list(CASES)[:cases]:
        system, given, asked = CASES[case]
        plain[case] = arrays(ph.simulate(system, started(system), **given, **asked))
        begin = time.perf_counter()
        ph.simulate(system, started(system), save=where / f"timed {case}", **given, **asked)
        seconds[case] = time.perf_counter() - begin
    for number in range(cases):
        case = list(CASES)[number % len(CASES)]
        folder, ends, pieces = first_kill(case, where, number, chance, seconds[case])
        for _ in range(chance.choice([0, 1, 2])):  # some are killed again on their second and third way
            ends.append(killed(case, folder, chance.random() * seconds[case]))
            pieces.append(written(folder))
        late = finished(folder)  # killed after its last file: then its lock lies there still
        whole = arrays(go_on(case, folder))
        same = all(np.array_equal(whole[name], plain[case][name]) for name in whole)
        left = sorted(p.name for p in folder.iterdir() if (p.name == "lock" and not late) or p.suffix == ".part")
        print(json.dumps({"case": case, "ends": ends, "pieces": pieces, "same": same, "left": left}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
