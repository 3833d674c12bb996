"""50 s of the paper's hinged beam: `simulate` by the clock on the wall."""

import sys
import time

from measure import EXAMPLES, answer, fastest, measured, row

DT = 5e-3

NOTE = """
The hinged beam is that of the examples with 2 elements and steps of 5 ms, every one of them kept: the shortest of 3, and the mean
of what the processor worked.
"""


def measure(t_end):
    sys.path.insert(0, EXAMPLES)
    import hinged_beam as example  # runs it once, so the kernel is there

    import phloat as ph

    system = example.hinged(example.beam.discretise(2))
    state, u = ph.place(system), {"torque": example.torque, "blow": example.blow}
    worked = time.process_time()
    taken = fastest(lambda: ph.simulate(system, state, t_end=t_end, dt=DT, u=u), times=3)
    return {"seconds": taken, "worked": (time.process_time() - worked) / 3}


def rows(quick=False):
    t_end = 1.0 if quick else 50.0
    found = measured("long_run.py", t_end=t_end)
    also = {"steps/s": t_end / DT / found["seconds"], "s of the processor": found["worked"]}
    return [row(f"hinged beam, {t_end:g} s of motion", found["seconds"], "s", also=also)]


if __name__ == "__main__":
    answer(measure)
