"""The paper's crank-slider as somebody who just opened Python would run it, from `import phloat` to a picture of u_y."""

import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import answer, measured, row

NOTE = """
The crank-slider (8 elements, 2667 steps of 20 µs, the velocity of the pin a Python function) is timed by the clock on the wall
from the line `import phloat` to the picture on disk, the kernel compiled before: the shortest of 3 processes. Its steps per second
are those of `simulate` alone, run again in the same process.
"""


def measure(t_end):
    marks, worked = [("", time.perf_counter())], time.process_time()

    def mark(name):
        marks.append((name, time.perf_counter()))

    import numpy as np

    import phloat as ph

    mark("s import")
    rate, radius = 150.0, 0.15
    steel = ph.Material(E=0.2e12, rho=7870.0, nu=0.3)
    rod = ph.Beam(length=0.3, section=ph.Circle(6e-3), material=steel, frame="pinned", stiffening=False).discretise(8)

    def pin(t):
        return rate * radius * np.array([-np.sin(rate * t), np.cos(rate * t)])

    system = ph.connect(
        {"rod": rod, "slider": ph.PointMass(0.03337785).discretise()},
        joints=[
            ph.Drive("ground", "rod.P", name="crank pin"),
            ph.Revolute("rod.C", "slider.P"),
            ph.Slide("ground", "slider.P", along=(1, 0, 0)),
        ],
        plane="xy",
    )
    state = ph.place(system, {"rod.r_P": (radius, 0.0)})
    state = ph.set_moving(system, state, u={"crank pin": pin})
    mark("s model and start")
    result = ph.simulate(system, state, t_end=t_end, dt=2e-5, u={"crank pin": pin})
    mark("s simulate")

    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    figure.subplots().plot(result.t, result.displacement("rod", s=0.5)[:, 1])
    with TemporaryDirectory() as folder:
        figure.savefig(Path(folder) / "u_y.png")
    mark("s picture")
    worked = time.process_time() - worked
    begin = time.perf_counter()
    ph.simulate(system, state, t_end=t_end, dt=2e-5, u={"crank pin": pin})
    again = time.perf_counter() - begin
    return {
        "total": marks[-1][1] - marks[0][1],
        "parts": {name: at - before for (_, before), (name, at) in pairwise(marks)},
        "worked": worked,
        "rate": (len(result) - 1) / again,
    }


def rows(quick=False):
    t_end = 8 / 150.0 * (0.02 if quick else 1.0)
    found = [measured("first_plot.py", t_end=t_end) for _ in range(1 if quick else 4)][-3:]  # the first may compile
    best = min(found, key=lambda x: x["total"])
    return [
        row(
            "crank-slider, from `import phloat` to a picture",
            best["total"],
            "s",
            also=best["parts"] | {"s of the processor": best["worked"]},
        ),
        row("crank-slider, `simulate`", max(x["rate"] for x in found), "steps/s"),
    ]


if __name__ == "__main__":
    answer(measure)
