"""Chains of flexible links: the cost of a step against the number of links, Newton's method at large steps."""

import math
import statistics
import time

from measure import answer, measured, row

KINDS = {"planar": "xy", "spatial": None}
LINKS = (2, 8, 32, 64, 256, 1000)
MANY = 8  # links from which on the cost should grow evenly
FEW = (2, 4)  # for a look
ELEMENTS, FINE = 3, 16  # of a link as it is, and of one that is reduced to two bending modes and what belongs to them
MODES = (0, 2)
LARGE = {"hω = 0.4": {"angle": 0.4}, "h = 20 ms": {"h": 0.02}}

NOTE = """
The chains hang on a revolute, link on link by revolutes, are let go along the horizontal and fall: links of 0.5 m × 20 mm × 5 mm,
aluminium, 500 steps of 1 ms (200 beyond 64 links), nothing kept but the end. Times are those of the processor, the shortest of 3
runs or of as many as fill a second, without `place` and the start of the run. Coordinates are those of deformation: 3 elements a
link, or two bending modes of 16 elements with axial (in space torsion) modes and companions. The power of the number of links is
fitted from 8 to 1000. At large steps (250 of them) iterations are counted for each step asked for, those of halved steps
included; ω is the first bending frequency of a link pinned at both ends.
"""


def link(plane, modes, elements=ELEMENTS, frame="cantilever"):
    import phloat as ph

    beam = ph.Beam(
        length=0.5,
        section=ph.Rectangle(0.02, 0.005),
        material=ph.Material(E=70e9, rho=2700.0, nu=0.3),
        frame=frame,
    )
    body = beam.discretise(FINE if modes else elements)
    body = body.in_plane() if plane else body
    return body.reduced(modes=modes) if modes else body


def chain(links, plane, modes=0, elements=ELEMENTS):
    """Links on the ground and on each other, along x."""
    import phloat as ph

    joints = [ph.Revolute("ground", "0.P"), *(ph.Revolute(f"{k}.C", f"{k + 1}.P") for k in range(links - 1))]
    body = link(plane, modes, elements)
    return ph.connect({f"{k}": body for k in range(links)}, joints, gravity=(0.0, -9.81, 0.0), plane=plane)


def first_bending():
    """ω of a link pinned at both ends, in the plane of the motion."""
    import phloat as ph

    joints = [ph.Revolute("ground", "link.P"), ph.Slide("ground", "link.C", along=(1, 0, 0))]
    system = ph.connect({"link": link("xy", 0, frame="pinned")}, joints, plane="xy")
    return float(ph.modes(ph.linearise(system, ph.place(system)), count=1).omega[0])


def measure(links, plane, modes, steps, seconds, h=1e-3, angle=None):
    """Steps of a chain from rest: seconds of the processor a step, and what Newton's method did."""
    import phloat as ph
    from phloat.motion.inputs.inputs import Inputs
    from phloat.motion.run.driver import run_to_end
    from phloat.motion.run.kernel_run import KernelRun
    from phloat.motion.run.task import Task
    from phloat.motion.schemes.midpoint import FixedSteps

    h = h if angle is None else angle / first_bending()
    system = chain(links, plane, modes)
    state = ph.place(system)

    def ready(count):
        return KernelRun(Task(system, state, 0.0, count * h, h, Inputs(system), output=count))

    run_to_end(FixedSteps(ready(2), h))  # loads the kernel
    taken = []
    while len(taken) < 3 or sum(taken) < seconds:
        runner = ready(steps)
        begin = time.process_time()
        run_to_end(FixedSteps(runner, h))
        taken.append(time.process_time() - begin)
    info = runner.result().info
    return {
        "coordinates": system.bodies["0"].coordinates,
        "h": h,
        "step": min(taken) / steps,
        "iterations": info["iterations"] / steps,
        "factorisations": info["factorisations"] / steps,
        "most": info["most iterations"],
        "halvings": len(info["halved"]),
    }


def of_lengths(kind, modes, quick):
    """A row for each length, and how the cost grows."""
    lengths = FEW if quick else LINKS
    found = {
        n: measured(
            "chains.py",
            links=n,
            plane=KINDS[kind],
            modes=modes,
            steps=20 if quick else 500 if n <= 64 else 200,
            seconds=0.0 if quick else 1.0,
        )
        for n in lengths
    }
    what = f"{kind} chain, {found[lengths[0]]['coordinates']} coordinates a link"
    rows = [
        row(
            f"{what}, {n} links",
            1e6 * x["step"],
            "µs a step",
            also={
                "µs a link": 1e6 * x["step"] / n,
                "iterations": x["iterations"],
                "factorisations": x["factorisations"],
            },
        )
        for n, x in found.items()
    ]
    fitted = {math.log(n): math.log(found[n]["step"]) for n in lengths if quick or n >= MANY}
    power = statistics.linear_regression(list(fitted), list(fitted.values())).slope
    return [*rows, row(f"{what}: grows with this power of the number of links", power, "")]


def of_large_steps(kind, modes, quick):
    rows = []
    for name, step in LARGE.items():
        x = measured(
            "chains.py", links=8, plane=KINDS[kind], modes=modes, steps=5 if quick else 250, seconds=0.0, **step
        )
        also = {
            "at most": x["most"],
            "factorisations": x["factorisations"],
            "halvings": x["halvings"],
        }
        what = f"{kind} chain, {x['coordinates']} coordinates a link, 8 links at {name}"
        what += f" (h = {1e3 * x['h']:.3g} ms)" if "angle" in step else ""
        rows.append(row(what, x["iterations"], "iterations a step", also=also))
    return rows


def rows(quick=False):
    both = [(kind, modes) for kind in KINDS for modes in MODES]
    both = [both[0], both[-1]] if quick else both
    return [
        *(r for kind, modes in both for r in of_lengths(kind, modes, quick)),
        *(r for kind, modes in both for r in of_large_steps(kind, modes, quick)),
    ]


if __name__ == "__main__":
    answer(measure)
