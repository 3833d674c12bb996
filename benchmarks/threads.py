"""Threads that share the bodies of a step: chains of flexible links with one and two threads, in turn."""

import time

from chains import KINDS, chain
from measure import answer, measured, row

CASES = {"planar": (64, 256, 1000), "spatial": (64, 256)}
THREADS = 2

NOTE = """
The chains of the table above with 3 elements a link, steps of 1 ms, shortest of six turns by the clock on the wall; the peer is the
same with one thread. As many cores must be free.
"""


def measure(links, plane, steps, turns):
    """Seconds a step with one thread and with several."""
    import phloat as ph
    from phloat.motion.inputs.inputs import Inputs
    from phloat.motion.run.driver import run_to_end
    from phloat.motion.run.kernel_run import KernelRun
    from phloat.motion.run.task import Task
    from phloat.motion.schemes.midpoint import FixedSteps

    h, system = 1e-3, chain(links, plane)
    state = ph.place(system)

    def ready(count, threads):
        return KernelRun(Task(system, state, 0.0, count * h, h, Inputs(system), output=count, threads=threads))

    best = dict.fromkeys((1, THREADS), float("inf"))
    run_to_end(FixedSteps(ready(2, THREADS), h))  # loads the kernel
    for _ in range(turns):
        for threads in best:
            runner = ready(steps, threads)
            begin = time.perf_counter()
            run_to_end(FixedSteps(runner, h))
            best[threads] = min(best[threads], (time.perf_counter() - begin) / steps)
    return {"alone": best[1], "shared": best[THREADS]}


def rows(quick=False):
    out = []
    for kind, lengths in CASES.items():
        for n in (8,) if quick else lengths:
            x = measured(
                "threads.py",
                links=n,
                plane=KINDS[kind],
                steps=5 if quick else max(60, 10000 // n),
                turns=1 if quick else 6,
            )
            what = f"{kind} chain of {n} links, {THREADS} threads"
            out.append(row(what, 1e6 * x["shared"], "µs a step", 1e6 * x["alone"], "one thread"))
    return out


if __name__ == "__main__":
    answer(measure)
