"""Random mechanisms move as IDA says, and as the twin in JAX says."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from building import built, quiet
from drawn import some, tried
from hypothesis import given
from mechanisms import HOLDS, PUSHES, plans
from twin_zoo import QUANTITIES

import phloat as ph
from phloat.twin.export import exported
from phloat.twin.run import simulate

jax.config.update("jax_enable_x64", True)

PLACES = ("r_P", "A_IB", "theta")
SHORT, STEPS = 2e-3, 400  # s; the highest modes ring at 1e4 rad/s and more


def places(result: ph.Result, k: int = -1) -> np.ndarray:
    names = [name for name in result.system.layout if name.rpartition(".")[2] in PLACES]
    return np.concatenate([np.ravel(result[name][k]) for name in names])


def apart(system: ph.System, motion, result: ph.Result) -> float:
    """The largest difference in any number of any body: 1, 1 m, 1 m/s, 1 rad/s count as 1."""
    worst = 0.0
    for body in system.bodies:
        group, at = motion.names.body(body)
        for ours, name in QUANTITIES:
            if f"{body}.{name}" in system.layout:
                want = result[f"{body}.{name}"]
                have = np.asarray(motion.states["bodies"][group][ours][:, at]).reshape(want.shape)
                worst = max(worst, float(np.abs(have - want).max() / max(1.0, np.abs(want).max())))
        want = result[f"{body}.r_P"]
        worst = max(worst, float(np.abs(np.asarray(motion.r_P(body))[:, : want.shape[1]] - want).max()))
    return worst


@pytest.mark.parametrize("count", [6, pytest.param(60, marks=pytest.mark.long)], ids=["few", "many"])
def test_ida_finds_the_same_motion(count, worst):
    """The midpoint scheme with two steps, extrapolated to none, beside IDA with 1e-9."""

    @tried(count)
    @given(plans(kinds=("rigid", "beam", "damped", "reduced"), most=3))
    def hold(plan):
        mechanism, state = built(plan)
        system, u = mechanism.system(), mechanism.inputs()
        with quiet():
            coarse, fine = (
                places(ph.simulate(system, state, SHORT, dt=SHORT / n, u=u, output=n)) for n in (STEPS, 2 * STEPS)
            )
            ida = ph.simulate(system, state, SHORT, u=u, scheme=ph.IDA(rtol=1e-9, atol=1e-11))
        gap = float(np.abs((4.0 * fine - coarse) / 3.0 - places(ida)).max())
        worst.add({"against IDA": gap}, plan)
        assert gap < 1e-6

    hold()


@pytest.mark.long
@pytest.mark.parametrize("where", ["space", "plane"])
def test_the_twin_moves_as_the_kernel(where, worst, count=8):
    """Side by side in one system, so that one program is compiled for all of them."""
    kinds = plans(where=(where,), kinds=("rigid", "beam"), most=3, pushed=HOLDS + PUSHES)
    drawn = some(kinds, count, lambda plan: built(replace(plan, gravity=False)))
    systems, values, u = {}, {}, {}
    for k, (mechanism, state) in enumerate(drawn):
        systems[f"m{k}"] = mechanism.system()
        values |= {f"m{k}.{name}": state[name] for name in state.layout}
        u |= {f"m{k}.{name}": signal for name, signal in mechanism.inputs().items()}
    with quiet():
        system = ph.connect(systems, gravity=(0.7, -9.81, 0.0), plane="xy" if where == "plane" else None)
        state = ph.State(system.bodies, system.layout, np.zeros(system.layout.size)).with_values(values)
        result = ph.simulate(system, state, 0.01, dt=2e-4, u=u)
        motion = simulate(exported(system, state, 0.01, dt=2e-4, u=u))
    gap = apart(system, motion, result)
    for mechanism, _ in drawn:
        worst.add({"against the twin": gap}, mechanism.plan)
    assert gap < 1e-9
