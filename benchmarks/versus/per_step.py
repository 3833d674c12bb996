"""Time a step of chains at the same step: cables of Exudyn beside beams of phloat, floating frames beside floating frames.

Neither code's start of a run counts: phloat's steps are timed alone, and from Exudyn's run one of a single step is taken away.
"""

import numpy as np
from problems import THIN

LINKS = (2, 8, 32, 64)
STEPS, T_END, SAMPLES = 500, 0.5, 1
CHAINS = {  # coordinates a link: all velocities of a link, 3 of them rigid in phloat; absolute positions and slopes in Exudyn
    "phloat, 2 elements": {"code": "phloat", "elements": 2},
    "phloat, 2 elements, loose": {"code": "phloat", "elements": 2, "scheme": "loose"},
    "phloat, 3 elements": {"code": "phloat", "elements": 3},
    "phloat, 2 bending modes": {"code": "phloat", "elements": 16, "modes": 2},
    "Exudyn, 2 cables": {"code": "exudyn", "elements": 2},
    "Exudyn, 3 cables": {"code": "exudyn", "elements": 3},
}
BESIDE = {
    "phloat, 2 elements": "Exudyn, 2 cables",
    "phloat, 2 elements, loose": "Exudyn, 2 cables",
    "phloat, 3 elements": "Exudyn, 3 cables",
    "phloat, 2 bending modes": "Exudyn, 2 cables",
    "phloat, solid": "Exudyn, solid (FFRF)",
}
SOLIDS = {
    "phloat, solid": {"code": "phloat", "modes": 6},
    "Exudyn, solid (FFRF)": {"code": "exudyn", "modes": 6, "absolute": 1e-8},
}
SOLID_LINKS = (2, 8)
PEER_OPTIONS = [
    {"tolerance": tolerance, "solver": solver} for tolerance in (1e-3, 1e-4) for solver in ("EigenDense", "EigenSparse")
]


def chains(workers, links, repeats, steps=STEPS):
    common = {"links": links, "link": THIN, "t_end": steps * T_END / STEPS, "samples": SAMPLES, "steps": steps}
    return _in_turn(workers, "pendulum", CHAINS, common, repeats, dense=links <= 8)


def solids(workers, links, repeats, steps=STEPS):
    common = {"links": links, "t_end": steps * 0.2 / STEPS, "samples": SAMPLES, "steps": steps}
    return _in_turn(workers, "solid_link", SOLIDS, common, repeats, dense=links <= 8)


def _in_turn(workers, module, members, common, repeats, dense):
    """Each name with the shortest time of its best settings; the codes alternate."""
    turns = []
    for name, member in members.items():
        options = (
            [{}] if member["code"] == "phloat" else [o for o in PEER_OPTIONS if dense or o["solver"] == "EigenSparse"]
        )
        turns += [(name, common | member | o) for o in options]
    whole = [{"seconds": np.inf} for _ in turns]
    least = [np.inf for _ in turns]
    for k, (_, member) in enumerate(turns):
        whole[k] = workers[member["code"]].ask(module, member)
    for _ in range(repeats):
        for k, (_, member) in enumerate(turns):
            least[k] = min(least[k], _stepping(workers[member["code"]], module, member))
    best = {}
    for (name, member), run, seconds in zip(turns, whole, least, strict=True):
        if np.isfinite(seconds) and (name not in best or seconds / member["steps"] < best[name]["step"]):
            best[name] = run | {"member": member, "step": seconds / member["steps"]}
    for run in best.values():
        run["end"] = run.pop("values")[-1]
        if "drift" not in run:
            answer = workers["exudyn"].ask(module, run["member"] | {"energy": True})
            run |= {key: answer[key] for key in ("drift", "kinetic") if key in answer}
    return best


def _stepping(worker, module, member):
    """Seconds for the steps of a run."""
    if member["code"] == "phloat":
        return worker.ask(module, member | {"alone": True}).get("seconds", np.inf)
    one = member | {"steps": 1, "t_end": member["t_end"] / member["steps"]}
    long, short = (worker.ask(module, m).get("seconds", np.inf) for m in (member, one))
    return long - short if np.isfinite(short) else np.inf
