"""Energy shaping: springs of the controller move the minimum of the energy to the target, dampers dissipate the excess.

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

MINIMUM = -1e-6  # smallest curvature of a minimum, as in `equilibrium`, relative to the stiffness of springs and bodies


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

    `target` is {joint: angle or slide}. `near` is a state that selects the assembly of the mechanism if the targets do not. Raises
    InputError if the stiffness is too small for the target to be a minimum of the energy.
    """
    if not isinstance(system, System):
        raise InputError(f"{type(system).__name__} is not a System; on a linear plant use passive_pid(…) at its ports")
    targets = port_numbers("target", target)
    if not targets:
        raise InputError("there is no target; give {joint: position}")
    rows = {joint: joint_axis(system, joint) for joint in targets}
    k = port_numbers("stiffness", stiffness, positive, targets)
    c = port_numbers("damping", damping, not_negative, targets)
    for label, values in (("stiffness", k), ("damping", c)):
        if values.keys() != targets.keys():
            raise InputError(f"{label} is given for {list(values)}, not for {list(targets)}")
    initial = place(system, {f"{j}.{rows[j].label}": x for j, x in targets.items()}, near=near)
    locked = lock(system, *targets)
    balanced = equilibrium(locked, initial)
    effort = reactions(locked, balanced)
    parts = [
        passive_pid(j, stiffness=k[j], damping=c[j], target=targets[j], origin=targets[j], name=f"{j}.{name}")
        for j in targets
    ]
    bias = {j: float(effort[j][-1]) for j in targets}  # the locked axis is the last row of a joint
    out = replace(combine_controllers(*parts, name=name), bias=bias)
    _require_minimum(closed_loop(system, out), balanced, k)
    return out


def _require_minimum(loop: System, balanced: State, springs: Mapping[str, float]) -> None:
    """Raises InputError if H_d has no minimum at the target: its curvature, relative to bodies and mass, is negative."""
    task = statics(loop, balanced, np.zeros(loop.ports.size))
    at_target = balance_point(task, task.start)
    B = terms(loop, balanced).B[task.indices]
    spring_forces = sum(k * np.abs(B[:, loop.ports[joint]].toarray()[:, 0]) ** 2 for joint, k in springs.items())
    rate = float((spring_forces / task.mass.diagonal())[task.rigid].max())  # a squared frequency of the springs
    W = task.metric + (rate - task.rate) * task.mass
    S = sp.diags_array(1.0 / np.sqrt(W.diagonal()))
    Z = null_space(csr(at_target.balance.G @ S))
    K, M = ((Z.T @ (S @ matrix @ S) @ Z).toarray() for matrix in (task.stiffness(task.start, at_target.lam), W))
    lowest = float(la.eigh(K + K.T, 2 * M, eigvals_only=True, subset_by_index=[0, 0])[0])
    if lowest < MINIMUM:
        raise InputError(
            f"the target is not a minimum of the shaped energy (its curvature is {lowest:.2g} of that of springs and bodies): the "
            "loads are stronger than the springs; use more stiffness"
        )
