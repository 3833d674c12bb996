"""Compares the speed of the working tree with that of a commit: python benchmarks/guard.py COMMIT [turns]

Both trees are measured in turn, in processes of their own, `turns` times (3); the table has the best of each and their ratio.
Its rows are what people wait for: import, the first motion, building, place, the start of a run, steps of beams, solids and
plates, samples of an ensemble, linearising, modes. The import is by the clock, all others are processor times of one thread, which
other work on the machine lengthens least. A model here uses only names that old commits know as well.

It takes about a minute, and as long again for each tree that has not been compiled before; a commit is kept, compiled, in the
folder for temporary files. A ratio within the spread of the two columns says nothing; run it again with more turns.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TURNS = 3

MEASURE = """
import json, time
begin = time.perf_counter()
import phloat as ph
import numpy as np
alu = ph.Material(E=70e9, rho=2700.0, nu=0.3)
ph.Beam(1.0, ph.Circle(0.02), alu).discretise(2)
found = {"import and first beam, ms": 1e3 * (time.perf_counter() - begin)}
hinge = ph.Revolute("ground", "rod.P", name="hinge")
rod = ph.RigidBody(1.0, (0.1, 0.1, 0.1), (0.5, 0.0, 0.0)).discretise()
pendulum = ph.connect({"rod": rod}, [hinge], gravity=(0.0, -9.81, 0.0), plane="xy")
begin = time.process_time()
ph.simulate(pendulum, ph.place(pendulum), 1e-2, dt=1e-3)
found["first motion, compiled before, ms"] = 1e3 * (time.process_time() - begin)

def best(action, times, clock=time.process_time):
    taken = []
    for _ in range(times):
        begin = clock()
        out = action()
        taken.append(clock() - begin)
    return min(taken), out

def chain(links, plane):
    body = ph.Beam(length=0.5, section=ph.Rectangle(0.02, 0.005), material=alu).discretise(3)
    joints = [ph.Revolute("ground", "0.P"), *(ph.Revolute(f"{k}.C", f"{k + 1}.P") for k in range(links - 1))]
    return ph.connect({f"{k}": body for k in range(links)}, joints, gravity=(0.0, -9.81, 0.0), plane=plane)

def different():
    section = ph.Tube(diameter=0.1, wall=0.006)
    bodies = {f"{k}": ph.Beam(length=0.5 + 0.01 * k, section=section, material=alu).discretise(8) for k in range(64)}
    return ph.connect(bodies, [ph.Weld(f"{k}.C", f"{k + 1}.P") for k in range(63)])

def crank_slider():
    steel, rate = ph.Material(E=2e11, rho=7870.0, nu=0.3), 150.0
    pin = lambda t: rate * 0.15 * np.array([-np.sin(rate * t), np.cos(rate * t)])
    bodies = {
        "rod": ph.Beam(0.3, ph.Circle(6e-3), steel, frame="pinned").discretise(8),
        "slider": ph.PointMass(0.033).discretise(),
    }
    joints = [
        ph.Drive("ground", "rod.P", name="pin"),
        ph.Revolute("rod.C", "slider.P"),
        ph.Slide("ground", "slider.P", along=(1, 0, 0)),
    ]
    system = ph.connect(bodies, joints, plane="xy")
    state = ph.place(system, {"rod.r_P": (0.15, 0.0)})
    return system, ph.set_moving(system, state, u={"pin": pin}), {"pin": pin}

def hinged_beam():
    section, soft = ph.Section(A=9.0, I=6.75, J=13.5), ph.Material(E=2.1e6, rho=7.8e-3, nu=0.3)
    joints = [ph.Spherical("ground", "beam.P"), ph.Torque("beam.P", about=(0, 0, 1), name="torque")]
    system = ph.connect({"beam": ph.Beam(141.42, section, soft).discretise(4)}, joints)
    return system, ph.place(system), {"torque": 200.0}

def run(name, system, state, u, dt, steps):
    few = lambda: ph.simulate(system, state, 2 * dt, dt=dt, output=2, u=u)
    many = lambda: ph.simulate(system, state, steps * dt, dt=dt, output=steps, u=u)
    few()
    start, _ = best(few, 5)
    whole, _ = best(many, 3)
    found[f"{name}: start of a run, ms"] = 1e3 * start
    found[f"{name}: a step, µs"] = 1e6 * (whole - start) / (steps - 2)

def timed(name, action, times=3):
    taken, out = best(action, times)
    found[f"{name}, ms"] = 1e3 * taken
    return out

for links, plane, steps in ((2, "xy", 4000), (8, "xy", 1500), (64, "xy", 300), (8, None, 400)):
    name = f"{links} links" + ("" if plane else " in space")
    system = timed(f"{name}: building", lambda: chain(links, plane), 5)
    state = timed(f"{name}: place", lambda: ph.place(system))
    run(name, system, state, {}, 1e-3, steps)
timed("64 different links in space: building", different)
slider, at_start, pin = crank_slider()
run("crank-slider", slider, at_start, pin, 2e-5, 2000)
run("hinged beam", *hinged_beam(), 5e-3, 1000)
def samples(count):
    E = np.linspace(1.9e11, 2.1e11, count)
    return ph.ensemble(slider, {"rod.material.E": E}, t_end=2e-3, dt=2e-5, start=at_start, u=pin, workers=1, progress=False,
                       output=lambda result: result.displacement("rod", s=0.5)[:, 1].max())
samples(2)
timed("crank-slider: 20 samples of 100 steps", lambda: samples(20))

cantilever = ph.connect({"a": ph.Beam(0.5, ph.Rectangle(0.02, 0.005), alu).discretise(50)}, [ph.Weld("ground", "a.P")], plane="xy")
at = ph.place(cantilever)
timed("linearise and modes, 50 elements", lambda: ph.modes(ph.linearise(cantilever, at), count=6), 5)
hanging = chain(16, "xy")
down = ph.settle(hanging, ph.place(hanging, {"0.theta": -np.pi / 2}))
timed("linearise 16 hanging links", lambda: ph.linearise(hanging, down))

bar = ph.Solid.box(0.5, 0.02, 0.02, material=alu, frame="left", ports={"P": "left", "C": "right"})
body = timed("solid bar: assembly and reduction", lambda: bar.discretise(10).reduced(modes=8), 2)
solids = ph.connect({"bar": body}, [ph.Revolute("ground", "bar.P", axis=(0, 0, 1))], gravity=(0.0, -9.81, 0.0))
run("solid bar", solids, ph.place(solids), {}, 1e-4, 1000)
plate = ph.Plate.rectangle(0.5, 0.3, thickness=0.005, material=alu, frame="left", ports={"P": "left"})
plate = plate.discretise(8).reduced(modes=6)
plates = ph.connect({"plate": plate}, [ph.Revolute("ground", "plate.P", axis=(0, 1, 0))], gravity=(0.0, 0.0, -9.81))
run("plate", plates, ph.place(plates), {}, 1e-4, 1000)
cube = ph.Solid.box(1.0, 1.0, 1.0, material=alu, cells="tetrahedron", frame="left", ports={"A": "left"}).discretise(6)
timed("20 modes of a solid of 1080 tetrahedra", lambda: cube.modes(20))
print(json.dumps(found))
"""


def checked_out(commit):
    """A folder with src/ of a commit; it is kept, so that the step is compiled once."""
    name = subprocess.check_output(["git", "rev-parse", "--short=12", commit], cwd=ROOT, text=True).strip()
    folder = Path(tempfile.gettempdir()) / f"phloat-guard-{name}"
    if not (folder / "src").exists():
        archive = subprocess.check_output(["git", "archive", name, "src"], cwd=ROOT)
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
    return folder / "src"


def measured(src):
    """The numbers of a tree, from a process of its own."""
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(src)}
    out = subprocess.run(
        [sys.executable, "-c", MEASURE],
        env=os.environ | {"PYTHONWARNINGS": "ignore"} | one,
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(out.stdout.splitlines()[-1])


def main(commit, turns=TURNS):
    trees = {"commit": checked_out(commit), "now": ROOT / "src"}
    for src in trees.values():
        measured(src)  # compiles
    found = {name: [] for name in trees}
    for _ in range(turns):
        for name, src in trees.items():
            found[name].append(measured(src))
    print(f"best of {turns} (largest), one thread; the commit is {commit}\n")
    print(f"{'':44} {'commit':>18} {'now':>18} {'now/commit':>10}")
    for what in found["now"][0]:
        values = {name: [turn[what] for turn in taken] for name, taken in found.items()}
        cells = [f"{min(v):9.4g} ({max(v):.4g})" for v in values.values()]
        print(f"{what:44} {cells[0]:>18} {cells[1]:>18} {min(values['now']) / min(values['commit']):10.2f}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
