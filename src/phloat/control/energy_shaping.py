"""Energy shaping: springs of the controller move the minimum of the energy to the target, dampers dissipate the rest.

    u = u* − k (q − q*) − c q̇      H_d = H + ½ k (q − q*)² − u*·(q − q*)

u* keeps the mechanism, deformed by gravity, at rest at the target, so that there is no steady-state error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.sparse import csr, null_space
from phloat.algebra.threads import one_thread
from phloat.control.closed_loop import closed_loop
from phloat.control.coupling import joint_axis, port_numbers
from phloat.control.passive import PassiveController, combine_controllers, passive_pid
from phloat.errors import InputError, not_negative, positive
from phloat.motion.initial.equilibrium import balance_point, equilibrium, reactions
from phloat.motion.initial.place import place
from phloat.motion.initial.statics import statics
from phloat.system.connect import lock
from phloat.system.state import State
from phloat.system.system import System
from phloat.system.terms import terms

MINIMUM = -1e-6  # of the stiffness of springs and bodies: curvature that `equilibrium` accepts as stable


@one_thread()
def energy_shaping(
    system: System,
    target: Mapping[str, float],
    *,
    stiffness: float | Mapping[str, float],
    damping: float | Mapping[str, float],
    near: State | None = None,
    name: str = "shaping",
) -> PassiveController:
    """A passive controller that moves the joints to their targets, for flexible links and under gravity.

    `near` is a state that selects the assembly of the mechanism, if the joints alone do not. Raises InputError if the stiffness is
    too small for the target to be a minimum of the energy.
    """
    if not isinstance(system, System):
        raise InputError(f"{type(system).__name__} is not a System; on a linear plant use passive_pid(…) at its ports")
    wanted = port_numbers("target", target)
    if not wanted:
        raise InputError("there is no target; give {joint: position}")
    rows = {joint: joint_axis(system, joint) for joint in wanted}
    k = port_numbers("stiffness", stiffness, positive, wanted)
    c = port_numbers("damping", damping, not_negative, wanted)
    for what, given in (("stiffness", k), ("damping", c)):
        if given.keys() != wanted.keys():
            raise InputError(f"{what} is given for {list(given)}, not for {list(wanted)}")
    there = place(system, {f"{j}.{rows[j].label}": x for j, x in wanted.items()}, near=near)
    held = lock(system, *wanted)
    still = equilibrium(held, there)
    effort = reactions(held, still)
    parts = [
        passive_pid(j, stiffness=k[j], damping=c[j], target=wanted[j], origin=wanted[j], name=f"{j}.{name}")
        for j in wanted
    ]
    bias = {j: float(effort[j][-1]) for j in wanted}  # the locked axis is the last row of a joint
    out = replace(combine_controllers(*parts, name=name), bias=bias)
    _require_minimum(closed_loop(system, out), still, k)
    return out


def _require_minimum(loop: System, still: State, springs: Mapping[str, float]) -> None:
    """Raises InputError if the curvature of H_d at the target, relative to bodies and mass, is negative on a free motion."""
    task = statics(loop, still, np.zeros(loop.ports.size))
    here = balance_point(task, task.start)
    B = terms(loop, still).B[task.where]
    pulled = sum(k * np.abs(B[:, loop.ports[joint]].toarray()[:, 0]) ** 2 for joint, k in springs.items())
    rate = float((pulled / task.mass.diagonal())[task.rigid].max())  # a squared frequency of the springs
    W = task.soft + (rate - task.rate) * task.mass
    S = sp.diags_array(1.0 / np.sqrt(W.diagonal()))
    Z = null_space(csr(here.at.G @ S))
    own, weight = ((Z.T @ (S @ matrix @ S) @ Z).toarray() for matrix in (task.stiffness(task.start, here.lam), W))
    least = float(la.eigh(own + own.T, 2 * weight, eigvals_only=True, subset_by_index=[0, 0])[0])
    if least < MINIMUM:
        raise InputError(
            f"the target is not a minimum of the shaped energy (its curvature is {least:.2g} of that of springs and bodies): the "
            "loads are stronger than the springs; use more stiffness"
        )
