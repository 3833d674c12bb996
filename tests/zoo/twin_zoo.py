"""Comparison of runs of the JAX twin with runs of the kernel."""

import jax
import numpy as np
from motion_zoo import pair, random_motion

import phloat as ph

jax.config.update("jax_enable_x64", True)

QUANTITIES = (("A", "A_IB"), ("eta", "eta"), ("omega", "omega"), ("rate", "eta_dot"))


def side_by_side(cases, plane):
    """All cases (joint, kind of body) as separate pairs in one system, so that JAX compiles once; and a random state of it."""
    pairs = {f"p{k}": pair(*case, plane) for k, case in enumerate(cases)}
    system = ph.connect(pairs, gravity=next(iter(pairs.values())).gravity, plane=plane)
    values = {}
    for k, (name, one) in enumerate(pairs.items()):
        state = random_motion(one, k)
        values |= {f"{name}.{quantity}": state[quantity] for quantity in one.layout}
    return system, ph.place(system, {}).with_values(values)


def apart(system, motion, result):
    """The largest difference between twin and kernel for each quantity, relative to its largest value in the system (r_P: in m)."""
    worst = {}
    for ours, name in QUANTITIES:
        keys = [body for body in system.bodies if f"{body}.{name}" in system.layout]
        scale = max(
            (np.abs(result[f"{body}.{name}"]).max() for body in keys if result[f"{body}.{name}"].size), default=1.0
        )
        for body in keys:
            group, at = motion.names.body(body)
            want = result[f"{body}.{name}"]
            have = np.asarray(motion.states["bodies"][group][ours][:, at]).reshape(want.shape)
            if want.size:
                worst[name] = max(worst.get(name, 0.0), float(np.abs(have - want).max() / scale))
    places = [
        np.abs(np.asarray(motion.r_P(body))[:, : result[f"{body}.r_P"].shape[1]] - result[f"{body}.r_P"]).max()
        for body in system.bodies
    ]
    return worst | {"r_P": float(max(places))}


def runs_apart(system, first, second, name):
    """The largest difference of one quantity between two runs of the kernel, relative to its largest value."""
    keys = [f"{body}.{name}" for body in system.bodies if f"{body}.{name}" in system.layout]
    scale = max(np.abs(second[key]).max(initial=0.0) for key in keys)
    return max(float(np.abs(first[key] - second[key]).max(initial=0.0) / scale) for key in keys)
