"""phloat on its own terms: `simulate` of a system that stands ready, the kernel loaded."""

import time

import numpy as np
from workers import clocked

import phloat as ph
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.run.driver import run_to_end
from phloat.motion.run.kernel_run import KernelRun
from phloat.motion.run.task import Task
from phloat.motion.schemes.midpoint import FixedSteps

SCHEMES = {
    "midpoint": ph.Midpoint(),
    "loose": ph.Midpoint(newton=1e-6),
    "order 4": ph.Composition4(),
    "order 4, loose": ph.Composition4(newton=1e-7),
}
_warm = []


def beam(recipe, pieces, elements, modes, axial=2):
    """A beam as it is, in pieces that bend far, reduced, or both."""
    body = (recipe.split(pieces) if pieces > 1 else recipe).discretise(elements)
    return body.reduced(modes=modes, axial=axial) if modes else body


def moved(build, t_end, steps, every, look, scheme="midpoint", u=None, alone=False):
    """A run from the state that `build` gives with its system: what it took, and what `look` makes of the result.

    `alone` counts the steps and nothing else.
    """
    if not _warm:
        _warm.append(ph.simulate(*_small(), 2e-3, dt=1e-3))  # loads the kernel

    def go(model):
        return ph.simulate(*model, t_end, dt=t_end / steps, output=every, u=u, scheme=SCHEMES[scheme])

    if alone:
        return stepped(*build(), t_end, steps, SCHEMES[scheme].newton)
    (system, _), result, took = clocked(build, go)
    n = result.info["steps"]
    return took | {
        "values": np.asarray(look(result)).tolist(),
        "coordinates": sum(len(body.active) + body.coordinates for body in system.bodies.values()),
        "steps": n,
        "iterations": result.info["iterations"] / n,
        "factorisations": result.info["factorisations"] / n,
        "drift": float(np.abs(ph.energy_ledger(result).residual).max()),
        "kinetic": float(result.accounts.bodies[:, :, 0].sum(axis=1).max()),
    }


def stepped(system, state, t_end, steps, tolerance):
    """The steps alone, as ../chains.py has them: neither checks before nor results after."""
    runner = KernelRun(
        Task(system, state, 0.0, t_end, t_end / steps, Inputs(system), output=steps), tolerance=tolerance
    )
    begin = time.process_time()
    run_to_end(FixedSteps(runner, t_end / steps))
    return {"seconds": time.process_time() - begin, "steps": steps}


def _small():
    arm = ph.RigidBody(1.0, np.eye(3), center=(1.0, 0.0, 0.0)).discretise()
    system = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P")])
    return system, ph.place(system)
