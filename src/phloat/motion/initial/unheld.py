"""What nothing holds against its loads, where no equilibrium is found: bodies without a joint to the ground, and free axes."""

from __future__ import annotations

import numpy as np

from phloat.algebra.sparse import csr
from phloat.joints.rows import row_rates
from phloat.motion.initial.saddle import SaddleSystem
from phloat.motion.initial.statics import Statics
from phloat.system.connection import Connection, Element
from phloat.system.joint_rows import columns_in_velocities, ends
from phloat.system.state import State
from phloat.system.system import System

NEUTRAL = 1e-6  # weight of W that fixes motions without stiffness
FAR = 10.0  # rad, or extents of the system: a step of Newton's method beyond it meets no stiffness
BESIDE = 0.1  # of the fastest axis: others that are named beside it
LOADED = 1e-9  # of the terms of a force: what is not round-off


def unheld(task: Statics, state: State) -> str:
    """The loaded bodies that hang on nothing, or the free axes that nothing holds, and what to do; empty if there are none."""
    if loose := [group for group in loose_groups(task.system) if _loaded(task, group)]:
        sentences = [
            f"{group[0]!r} is joined to nothing"
            if len(group) == 1
            else f"{', '.join(map(repr, group))} are joined to each other and to nothing else"
            for group in loose
        ]
        return f"{'; '.join(sentences)}, and loads act there: add a joint or a spring to the ground or to a body that is held"
    if axes := _free_axes(task, state):
        names, joints = " and ".join(map(repr, axes)), ", ".join(map(repr, dict.fromkeys(axes.values())))
        plural = len(axes) > 1
        return (
            f"nothing holds the free {'axes' if plural else 'axis'} {names} against the loads: lock(system, {joints}), drive "
            f"{'them' if plural else 'it'}, put a JointSpring there, or load it less"
        )
    return ""


def loose_groups(system: System) -> list[tuple[str, ...]]:
    """The bodies that joints and springs connect neither to the ground nor to a body that they connect to it, in groups."""
    group = {name: {name} for name in system.bodies} | {"": {""}}
    springs = [e for e in system.elements.values() if any(law.stores for law in e.laws)]
    pairs: list[Connection | Element] = [*(c for c in system.joints.values() if c.rows), *springs]
    for c in pairs:
        merged = group[c.first.body] | group[c.second.body]
        group |= dict.fromkeys(merged, merged)
    return list(
        dict.fromkeys(
            tuple(b for b in system.bodies if b in group[name]) for name in system.bodies if "" not in group[name]
        )
    )


def _loaded(task: Statics, names: tuple[str, ...]) -> bool:
    """Whether a force acts on the rigid motion of one of these bodies at the start."""
    balance = task.balance(task.start)
    mine = task.rigid & np.array([task.body_of(k) in names for k in range(len(task.rigid))])
    return bool((np.abs(balance.f) > LOADED * balance.size)[mine].any())


def _free_axes(task: Statics, state: State) -> dict[str, str]:
    """The free axes along which a step of Newton's method goes far, and the joint of each."""
    balance = task.balance(state)
    lam = SaddleSystem(task.metric, balance.G).solve(balance.f, np.zeros(balance.G.shape[0]))[1]
    K = csr(task.stiffness(state, lam) + NEUTRAL * task.metric)
    try:
        step, _ = SaddleSystem(K, balance.G, task.force_scale).solve(balance.f, np.zeros(balance.G.shape[0]))
    except RuntimeError:  # singular
        return {}
    columns, far = columns_in_velocities(task.system).columns, dict[tuple[str, str], float]()
    for c in task.system.joints.values():
        for row, *sides in zip(c.free, *row_rates(c.free, *ends(c, state)), strict=True) if c.free else ():
            moved = zip((c.first, c.second), sides, strict=True)
            rate = sum(float(side @ step[columns[end.body]]) for end, side in moved if end.body)
            name = f"{c.name}.{row.label}" if row.coordinate else c.name
            far[name, c.name] = max(far.get((name, c.name), 0.0), abs(rate) / (task.length if row.is_length else 1.0))
    most = max(far.values(), default=0.0)
    return {name: joint for (name, joint), rate in far.items() if rate > max(FAR, BESIDE * most)}
