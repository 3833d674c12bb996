"""Rates of the schemes of linear systems: e of order 2s, multipliers of order s + 1 or s + 2; 2 for Störmer–Verlet."""

import numpy as np
import pytest
from linear_zoo import INPUTS, random_system, reference, start

import phloat as ph

SYSTEMS = {
    "free": random_system(joints=0),
    "with a joint": random_system(strained=False),
    "damped and gyroscopic": random_system(damping=0.2, gyroscopic=0.5, joints=2),
    "driven": random_system(damping=0.1, joints=2, driven=True),
}
T = 3.0


def errors(system: ph.LinearPHDAE, scheme, steps: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Errors of e at T and of λ at T/2, which is a node, for numbers of steps."""
    e_0, out = start(system), []
    (end, _), (_, lam) = reference(system, e_0, T), reference(system, e_0, T / 2)
    for n in steps:
        result = ph.simulate(system, e_0, T, dt=T / n, u=INPUTS, scheme=scheme)
        at_node = result.lam[n // 2] if len(lam) else np.zeros(0)
        out.append((np.abs(result.e[-1] - end).max(), np.abs(at_node - lam).max(initial=0.0)))
    return tuple(np.array(out).T)


@pytest.mark.parametrize("case", SYSTEMS)
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_gauss_legendre_has_order_two_s(case, stages):
    system = SYSTEMS[case]
    e, lam = errors(system, ph.GaussLegendre(stages), (24, 48) if stages < 4 else (12, 24))
    assert np.log2(e[0] / e[1]) == pytest.approx(2 * stages, abs=0.15)
    if system.multipliers.size:
        assert np.log2(lam[0] / lam[1]) > 2 * (stages // 2) + 2 - 0.3


@pytest.mark.parametrize("case", ["free", "with a joint"])
def test_stormer_verlet_has_order_two(case):
    e, lam = errors(SYSTEMS[case], ph.StormerVerlet(), (24, 48))
    assert np.log2(e[0] / e[1]) == pytest.approx(2.0, abs=0.1)
    assert not lam.any() or np.log2(lam[0] / lam[1]) == pytest.approx(2.0, abs=0.1)


def test_outputs_between_the_nodes_have_the_order_of_the_collocation_polynomial():
    system = SYSTEMS["with a joint"]
    e_0, times = start(system), [0.37, 1.618, 2.9]
    exact, off = np.array([reference(system, e_0, t)[0] for t in times]), []
    for n in (24, 48):
        result = ph.simulate(system, e_0, T, dt=T / n, u=INPUTS, scheme=ph.GaussLegendre(3), output=times)
        off.append(np.abs(result.e - exact).max())
    assert np.log2(off[0] / off[1]) > 3.5
    assert off[1] < 1e-5
