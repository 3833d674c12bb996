"""Building models, placing them and starting runs: chains of links of equal and of different length."""

import time
from itertools import pairwise

from measure import answer, measured, row

LINKS, FEW = (2, 64, 1000), (2, 8)
ELEMENTS, STEPS, TURNS = 3, 2, 7
PARTS = {
    "equal": "building, equal links",
    "different": "building, all of different length",
    "place": "`place`",
    "first": "the first run of the system, of 2 steps",
    "start": "start of a run, 2 steps and result",
}

NOTE = """
Building is `Beam(…).discretise` and `connect`: planar chains of links of 3 elements that hang on revolutes, links as in the chains
above, one body for all of equal links, a body for each of links of different length. The first run of a system packs its buffers;
later ones (another state, other values of the inputs) copy them. A start is a run of two steps with its checks and its result.
Times are those of the processor, the shortest of 7, after each has been done once; the first run is that of a new system each time.
"""


def least(action, turns):
    """The shortest time of the processor, and what the last call returned."""
    taken, out = [], None
    for _ in range(turns):
        begin = time.process_time()
        out = action()
        taken.append(time.process_time() - begin)
    return min(taken), out


def chain(lengths):
    """Links of these lengths in the plane; equal ones are one body."""
    import phloat as ph

    alu, section = ph.Material(E=70e9, rho=2700.0, nu=0.3), ph.Rectangle(0.02, 0.005)
    bodies = {L: ph.Beam(L, section, alu).discretise(ELEMENTS) for L in dict.fromkeys(lengths)}
    names = [f"{k}" for k in range(len(lengths))]
    joints = [ph.Revolute("ground", "0.P"), *(ph.Revolute(f"{a}.C", f"{b}.P") for a, b in pairwise(names))]
    parts = dict(zip(names, (bodies[L] for L in lengths), strict=True))
    return ph.connect(parts, joints, gravity=(0.0, -9.81, 0.0), plane="xy")


def measure(links, turns):
    """Seconds of the processor of each of PARTS."""
    import phloat as ph

    out, equal, different = {}, [0.5] * links, [0.5 + 0.1 * k / links for k in range(links)]
    chain(different)
    out["different"], _ = least(lambda: chain(different), turns)
    out["equal"], system = least(lambda: chain(equal), turns)
    ph.place(system)
    out["place"], state = least(lambda: ph.place(system), turns)

    def start(system):
        return ph.simulate(system, state, STEPS * 1e-3, dt=1e-3, output=STEPS)

    start(chain(equal))
    fresh = iter([chain(equal) for _ in range(turns)])
    out["first"], _ = least(lambda: start(next(fresh)), turns)
    out["start"], _ = least(lambda: start(system), turns)
    return out


def rows(quick=False):
    out = []
    for links in FEW if quick else LINKS:
        found = measured(
            "building.py",
            {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            links=links,
            turns=1 if quick else TURNS,
        )
        out += [row(f"{links} links: {what}", 1e3 * found[part], "ms") for part, what in PARTS.items()]
    return out


if __name__ == "__main__":
    answer(measure)
