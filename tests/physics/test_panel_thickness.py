"""The lightest panels of a satellite with a given first frequency."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import iv, jv

import phloat as ph


def test_the_lightest_panels_meet_the_target_and_the_conditions_of_an_optimum():
    import panel_thickness as example

    # Kirchhoff's wedge: J₁(κ) I₂(κ) + J₂(κ) I₁(κ) = 0, ω = κ²/4 √(EI/ρA) / L²
    kappa = brentq(lambda x: jv(1, x) * iv(2, x) + jv(2, x) * iv(1, x), 4.0, 5.0)
    np.testing.assert_allclose(kappa**2 / 4, 5.3151, rtol=1e-5)
    thinned = example.Thinning(0.01, 0.0075, 0.005, 0.0025, 1e-9)
    panel = ph.Beam(length=example.length, section=thinned, material=example.alu).discretise(4)
    clamped = ph.connect({"panel": panel}, [ph.Weld("ground", "panel.P")], plane="xy")
    root = ph.Rectangle(example.width, 0.01)
    unit = np.sqrt(example.alu.E * root.I / (example.alu.rho * root.A)) / example.length**2
    np.testing.assert_allclose(ph.modes(ph.linearise(clamped, ph.place(clamped)))[0] / unit, kappa**2 / 4, rtol=1e-4)

    found = example.graded(*example.thickness)
    np.testing.assert_allclose(found.omega[0], example.target, rtol=1e-6)
    price = example.mm * found.gradient[0] / example.per_mm  # rad/s per kg at each station
    free = example.thickness > 4.0 + 1e-6
    assert free.tolist() == [True, True, True, False, False]
    np.testing.assert_allclose(price[free], price[0], rtol=1e-2)  # no kg is better spent elsewhere
    assert (price[~free] < price[0]).all()  # those would be thinner if they might

    np.testing.assert_allclose(example.mass["SLSQP"], example.mass["COBYLA"], rtol=1e-4)
    assert example.mass["SLSQP"] < 0.61 * example.mass["even"]
    assert 4 * example.evaluations["SLSQP"] < example.evaluations["COBYLA"]
