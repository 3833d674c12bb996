"""The spatial slider-crank against closed kinematics of a straight rod and a rod bent by its sine waves."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import phloat as ph


def bent_by_waves(t: np.ndarray, waves: int = 4) -> np.ndarray:
    """Mid-span deflection (times, 3) of a rod that cannot stretch, its chord led by crank and slider, written down anew:

    w = Σ q_k sin kπx/L,  q_k · c = 0 for the direction c of the chord,  q̈_k + ω_k² q_k = −⟨P̈ + x c̈⟩_k + μ_k c.
    """
    import spatial_slider_crank as example

    L, rate, radius = example.rod.length, example.rate, example.radius
    k = np.arange(1, waves + 1)
    squared = (k * np.pi / L) ** 4 * 0.2e12 * 3e-3**2 / 4 / 7870.0  # EI/ρA of a circle is E r²/4ρ
    even, linear = 2 * (1 - np.cos(k * np.pi)) / (k * np.pi), -2 * L * np.cos(k * np.pi) / (k * np.pi)

    def chord(t):
        p = example.pin(rate * t)
        v, a = radius * rate * np.array([0, -np.cos(rate * t), -np.sin(rate * t)]), -(rate**2) * (p - example.shaft)
        x = example.straight(rate * t)
        dx = -(p @ v) / x
        ddx = -(v @ v + p @ a + dx**2) / x
        along = np.array([1.0, 0, 0])
        return a, (x * along - p) / L, (dx * along - v) / L, (ddx * along - a) / L

    def rhs(t, y):
        q, v = y.reshape(2, waves, 3)
        a, c, dc, ddc = chord(t)
        f = -squared[:, None] * q - np.outer(even, a) - np.outer(linear, ddc)
        f += np.outer(-f @ c - 2 * v @ dc - q @ ddc, c)  # q · c = 0 stays
        return np.concatenate([v, f]).ravel()

    y = solve_ivp(rhs, (0, t[-1]), np.zeros(6 * waves), "DOP853", t, rtol=1e-6, atol=1e-10).y
    return np.einsum("k,kat->ta", np.sin(k * np.pi / 2), y.reshape(2, waves, 3, -1)[0])


@pytest.fixture(scope="module")
def waves() -> tuple[np.ndarray, np.ndarray]:
    """Half a turn of them."""
    import spatial_slider_crank as example

    t = np.linspace(0.0, np.pi / example.rate, 2000)
    return t, bent_by_waves(t)


def test_a_rigid_rod_moves_the_slider_as_the_formula_says():
    import spatial_slider_crank as example

    mass, L = 7870 * np.pi * 9e-6 * 0.3, 0.3
    inertia = mass * L**2 / 12 * np.diag([1e-3, 1.0, 1.0])
    rod = ph.RigidBody(mass, inertia, center=(L / 2, 0, 0), ports={"C": (L, 0, 0)}).discretise()
    result = example.motion(rod, dt=1e-3)
    np.testing.assert_allclose(
        result.position("slider")[:, 0], example.straight(example.rate * result.t), rtol=0, atol=1e-13
    )
    assert ph.energy_ledger(result).relative < 1e-11


def test_a_flexible_rod_moves_it_within_microns_and_the_shaft_pays_for_everything():
    import spatial_slider_crank as example

    assert np.abs(example.offset).max() < 2e-5
    np.testing.assert_allclose(example.result.position("slider")[:, 1:], 0.0, atol=1e-13)
    ledger = ph.energy_ledger(example.result)
    assert list(ledger.supplied) == ["shaft"]
    assert ledger.relative < 1e-11


def test_a_rod_that_cannot_stretch_bends_as_its_sine_waves(waves):
    import spatial_slider_crank as example

    hard = 1e4  # times E and through I: the same bending, no stretch
    I = np.pi * 3e-3**4 / 4
    rod = replace(
        example.rod,
        stiffening=False,
        section=ph.Section(A=np.pi * 9e-6, I=I / hard, J=2 * I / hard),
        material=replace(example.rod.material, E=hard * example.rod.material.E),
    )
    result = example.motion(rod.discretise(8), dt=2.5e-5, turns=0.5)
    P, middle, C = (result.position("rod", s=s) for s in (0.0, 0.5, 1.0))
    expected = np.stack([np.interp(result.t, waves[0], w) for w in waves[1].T], axis=1)
    assert np.abs(middle - (P + C) / 2 - expected).max() < 2e-3 * np.abs(expected).max()
    np.testing.assert_allclose(result.position("slider")[:, 0], example.straight(example.rate * result.t), atol=1e-8)


def test_the_true_rod_bends_as_far_but_for_stretch_and_stiffening(waves):
    import spatial_slider_crank as example

    half = example.angle <= np.pi
    far = np.linalg.norm(waves[1], axis=1).max()
    assert example.bending[half].max() == pytest.approx(far, rel=0.01)
