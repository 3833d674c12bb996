"""Many crank-sliders: how many a second on one core and on all, what Python takes around a run, and the memory of many samples."""

import resource
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import EXAMPLES, answer, measured, peak_MB, row

NOTE = """
An ensemble draws E of the rod and the mass of the slider of the crank-slider (2 elements, 500 steps of 0.1 ms, with stiffening,
the velocity of the pin a Python function) and keeps the largest deflection at mid-span. Times are by the clock on the wall, the
start of worker processes (a second or two) included. Memory is the peak of the process that asks, and of the largest of its
workers; the results are written to disk as they come. `python benchmarks/ensembles.py 100000` runs that many and says the same.

Python around a run is the processor time of a sample less that of its steps, which is the difference between samples of 1000 and of
500 steps: the system with new numbers, its start, checks, outputs. Short samples are three steps of a rigid pendulum.
"""
SAMPLES, MANY, SHORT = 8_000, 40_000, 100_000


def crank_slider():
    """The system, a state on its motion, the inputs, and the parameters that are drawn."""
    sys.path.insert(0, EXAMPLES)
    import numpy as np

    import phloat as ph

    rate, radius = 150.0, 0.15

    def pin(t):
        return rate * radius * np.array([-np.sin(rate * t), np.cos(rate * t)])

    steel = ph.Material(E=0.2e12, rho=7870.0, nu=0.3)
    rod = ph.Beam(length=0.3, section=ph.Circle(6e-3), material=steel, frame="pinned").discretise(2)
    system = ph.connect(
        {"rod": rod, "slider": ph.PointMass(0.03337785).discretise()},
        joints=[
            ph.Drive("ground", "rod.P", name="crank pin"),
            ph.Revolute("rod.C", "slider.P"),
            ph.Slide("ground", "slider.P", along=(1, 0, 0)),
        ],
        plane="xy",
    )
    u = {"crank pin": pin}
    state = ph.set_moving(system, ph.place(system, {"rod.r_P": (radius, 0.0)}), u=u)
    drawn = {"rod.material.E": ph.random.normal(0.2e12, 1e10), "slider.mass": ph.random.uniform(0.03, 0.04)}
    return system, state, u, drawn


def pendulum():
    """A rigid pendulum with another mass in each sample."""
    import phloat as ph

    rod = ph.RigidBody(1.0, (0.1, 0.1, 0.1), (0.5, 0.0, 0.0)).discretise()
    system = ph.connect({"rod": rod}, [ph.Revolute("ground", "rod.P")], gravity=(0.0, -9.81, 0.0), plane="xy")
    return system, ph.place(system), None, {"rod.mass": ph.random.uniform(1.0, 2.0)}


def deflection(result):
    return result.displacement("rod", s=0.5)[:, 1].max()


def angle(result):
    return result["rod.theta"][-1]


def around(samples):
    """Processor time (ms) of a sample of 500 steps, and what of it is not for the steps."""
    import time

    import phloat as ph

    system, state, u, drawn = crank_slider()

    def taken(t_end):
        begin = time.process_time()
        ph.ensemble(system, drawn, samples, start=state, t_end=t_end, dt=1e-4, u=u, output=deflection, workers=1)
        return 1e3 * (time.process_time() - begin) / samples

    taken(0.05)
    one, two = (min(taken(t_end) for _ in range(3)) for t_end in (0.05, 0.1))
    return {"sample": one, "around": 2.0 * one - two}


def measure(samples, workers, saved=False, short=False):
    import time

    import phloat as ph

    system, state, u, drawn = pendulum() if short else crank_slider()
    run = {"t_end": 0.003, "dt": 1e-3} if short else {"t_end": 0.05, "dt": 1e-4, "u": u}
    ph.simulate(system, state, **run)  # compiled, or loaded
    with TemporaryDirectory() as folder:
        begin = time.perf_counter()
        runs = ph.ensemble(
            system,
            drawn,
            samples,
            start=state,
            **run,
            output=angle if short else deflection,
            workers=workers,
            save=Path(folder) / "runs" if saved else None,
        )
        taken, mean, failed = time.perf_counter() - begin, runs.mean(), len(runs.failed)
        size = sum(file.stat().st_size for file in (Path(folder) / "runs").iterdir()) / 2**20 if saved else 0.0
        pieces = len(list((Path(folder) / "runs").glob("piece*"))) if saved else 0
    per = 2**10 if sys.platform != "darwin" else 2**20
    return {
        "seconds": taken,
        "failed": failed,
        "mean": mean,
        "done": int(runs.ok.sum()),
        "peak": peak_MB(),
        "worker": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / per,
        "disk": size,
        "pieces": pieces,
    }


def rows(quick=False):
    few, many, short = (40, 80, 100) if quick else (SAMPLES, MANY, SHORT)
    best = {}
    for _ in range(1 if quick else 3):  # by turns, so that a disturbance meets both
        for workers in (1, 2):
            found = measured("ensembles.py", samples=few, workers=workers)
            best[workers] = min(best.get(workers, found), found, key=lambda x: x["seconds"])
    one, two = best[1]["seconds"], best[2]["seconds"]
    small, large = (measured("ensembles.py", samples=n, workers=2, saved=True) for n in (few, many))
    parts = measured("ensembles.py", around=20 if quick else 200)
    tiny = measured("ensembles.py", samples=short, workers=2, saved=True, short=True)
    in_worker = {"MB in the largest worker": tiny["worker"], "s": tiny["seconds"]}
    also = {"MB in the largest worker": large["worker"], "MB on disk": large["disk"], "s": large["seconds"]}
    return [
        row(f"ensemble of {few} crank-sliders on 2 cores", few / two, "runs/s", few / one, "the same on one core"),
        row(
            "a sample of 500 steps: Python around the steps", parts["around"], "ms", parts["sample"], "the whole sample"
        ),
        row(f"ensemble of {many} crank-sliders: peak memory", large["peak"], "MB", also=also),
        row(f"ensemble of {many}: more than {few} need", large["peak"] - small["peak"], "MB"),
        row(f"ensemble of {short} short samples: peak memory", tiny["peak"], "MB", also=in_worker),
    ]


if __name__ == "__main__":
    if sys.argv[1].isdigit():
        found = measure(samples=int(sys.argv[1]), workers=2, saved=True)
        print(", ".join(f"{name} {value:.6g}" for name, value in found.items()))
    else:
        answer(lambda **what: around(what["around"]) if "around" in what else measure(**what))
