"""One frame, by phloat or by classical displacement elements: times, peak memory and the 20 lowest frequencies, as JSON.

python benchmarks/frame_modes.py "many members" phloat
"""

import json
import sys
import time

import numpy as np
from measure import EXAMPLES, peak_MB

sys.path.insert(0, EXAMPLES)

COUNT = 20


class Watch:
    """How long each named step took, in seconds of the processor."""

    def __init__(self):
        self.seconds = {}

    def __call__(self, name, step):
        begin = time.process_time()
        out = step()
        self.seconds[name] = time.process_time() - begin
        return out


def by_phloat(shape):
    import frames
    import space_frame as example

    import phloat as ph

    watch, f = Watch(), frames.SHAPES[shape]
    beams = example.beams(f.points, f.members, frames.tube, frames.steel)
    joints = example.welds(f.points, f.members, f.feet)
    bodies = watch("discretise", lambda: {name: beam.discretise(f.elements) for name, beam in beams.items()})
    system = watch("connect", lambda: ph.connect(bodies, joints))
    state = watch("place", lambda: ph.place(system))
    linear = watch("linearise", lambda: ph.linearise(system, state))
    modes = watch("modes", lambda: ph.modes(linear, count=COUNT))
    return watch.seconds, linear.rows.size + linear.multipliers.size, modes.omega


def classically(shape):
    import classical_frame
    import frames
    import space_frame as example

    watch, f = Watch(), frames.SHAPES[shape]
    K, M = watch(
        "assemble",
        lambda: classical_frame.matrices(
            f.points, f.members, f.feet, example.axes, frames.tube, frames.steel, f.elements
        ),
    )
    omega = watch("modes", lambda: classical_frame.lowest_frequencies(K, M, COUNT))
    return watch.seconds, K.shape[0], omega


if __name__ == "__main__":
    shape, method = sys.argv[1:]
    seconds, unknowns, omega = {"phloat": by_phloat, "classical": classically}[method](shape)
    print(
        json.dumps({"seconds": seconds, "unknowns": unknowns, "peak_MB": peak_MB(), "omega": list(np.asarray(omega))})
    )
