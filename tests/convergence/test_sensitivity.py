"""The error of the differences behind gradients falls with the fourth power of the step, and is none for polynomials."""

import numpy as np
from bodies_zoo import beam

import phloat as ph


def test_the_error_falls_with_the_fourth_power_of_the_step():
    """dω/dL = −2ω/L of a cantilever."""
    system = ph.connect({"b": beam().discretise(4)}, [ph.Weld("ground", "b.P")], plane="xy")
    steps = np.array([8e-3, 4e-3, 2e-3])
    found = [ph.frequency_gradients(system, "b.length", count=1, step=h).relative[0, 0] for h in steps]
    error = np.abs(np.array(found) + 2.0)
    np.testing.assert_allclose(np.log2(error[:-1] / error[1:]), 4.0, atol=0.05)


def test_polynomials_of_fourth_degree_are_exact_at_any_step():
    """EI ~ E h³, ρA ~ ρ h, and a disc ~ d⁴."""
    system = ph.connect({"b": beam().discretise(4)}, [ph.Weld("ground", "b.P")], plane="xy")
    for step in (0.1, 1e-2, 1e-3):
        found = ph.frequency_gradients(system, ["b.material.E", "b.material.rho", "b.section.h"], count=2, step=step)
        np.testing.assert_allclose(found.relative, np.tile([0.5, -0.5, 1.0], (2, 1)), atol=1e-11)
    rod = ph.connect({"b": beam(section=ph.Circle(0.03)).discretise(4)}, [ph.Weld("ground", "b.P")], plane="xy")
    found = ph.frequency_gradients(rod, "b.section.diameter", count=2, step=0.05)
    np.testing.assert_allclose(found.relative, 1.0, atol=1e-11)
