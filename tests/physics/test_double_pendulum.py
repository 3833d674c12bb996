"""The double pendulum: the rigid one against its two equations, the flexible one against itself."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp


def exact_tip(length: float, g: float, t: float) -> np.ndarray:
    """Where the lower end of two equal uniform rods is, let go from the horizontal; angles from the x axis."""

    def rhs(_, y):
        a, b, da, db = y
        M = [[4 / 3, 0.5 * np.cos(a - b)], [0.5 * np.cos(a - b), 1 / 3]]
        right = [
            -0.5 * db**2 * np.sin(a - b) - 1.5 * g / length * np.cos(a),
            0.5 * da**2 * np.sin(a - b) - 0.5 * g / length * np.cos(b),
        ]
        return [da, db, *np.linalg.solve(M, right)]

    a, b, _, _ = solve_ivp(rhs, (0, t), [0.0] * 4, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return length * np.array([np.cos(a) + np.cos(b), np.sin(a) + np.sin(b)])


def test_rigid_links_come_to_the_two_equations_with_order_two():
    import double_pendulum as example

    exact = exact_tip(example.rod.length, example.g, 1.0)
    stick = example.stick.discretise()
    off = [np.linalg.norm(example.end(example.motion(stick, dt)) - exact) for dt in (4e-3, 2e-3, 1e-3)]
    assert off[-1] < 5e-5
    np.testing.assert_allclose(np.log2(off[:-1]) - np.log2(off[1:]), 2.0, atol=0.05)


def test_stiff_links_come_to_the_rigid_ones_as_one_over_their_stiffness():
    import double_pendulum as example

    assert example.distances[-1] < 1e-6
    np.testing.assert_allclose(np.log10(np.array(example.distances[:-1]) / example.distances[1:]), 1.0, atol=0.1)


def test_flexible_links_keep_their_energy():
    import double_pendulum as example

    assert example.drift < 1e-12


def test_flexible_links_converge_with_order_two():
    import double_pendulum as example

    assert example.order == pytest.approx(2.0, abs=0.02)
