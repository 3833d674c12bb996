"""Responses and zeros of meshed beams come nearer to the exact ones with the fourth power of the element."""

import numpy as np
from bodies_zoo import steel

import phloat as ph
from phloat.linear.analysis.poles_zeros import zeros

EA, RHO_A, EI = steel.E * 2e-4, steel.rho * 2e-4, steel.E * 0.02 * 0.01**3 / 12


def free(elements: int) -> ph.LinearPHDAE:
    system = ph.connect({"b": ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel).discretise(elements)}, plane="xy")
    return ph.linearise(system, ph.place(system))


def rates(error: np.ndarray) -> np.ndarray:
    return np.log2(error[:-1] / error[1:])


def test_mobilities_of_a_free_beam_converge_with_order_four():
    along, across = 9000.0, 300.0
    k, lam = along * np.sqrt(RHO_A / EA), (RHO_A * across**2 / EI) ** 0.25
    c, s, C, S = np.cos(lam), np.sin(lam), np.cosh(lam), np.sinh(lam)
    exact = [-1j * along / (np.tan(k) * EA * k), -1j * across * (c * S - s * C) / (EI * lam**3 * (c * C - 1))]
    found = [
        [ph.response(free(n), f"b.C[{i}]", omega=[w]).values[0, 0, 0] for i, w in enumerate((along, across))]
        for n in (8, 16, 32)
    ]
    order = rates(np.abs(np.array(found) / exact - 1))
    np.testing.assert_allclose(order, 4.0, atol=0.15)


def test_zeros_of_a_free_tip_converge_with_order_four():
    exact = np.sqrt(EI / RHO_A) * 15.418205716980062  # free at one end, pinned at the other: tan λ = tanh λ
    found = np.array([np.abs(np.abs(zeros(free(n), "b.C[1]")) / exact - 1).min() for n in (4, 8, 16)])
    np.testing.assert_allclose(rates(found), 4.0, atol=0.15)
