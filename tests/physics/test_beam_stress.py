"""Stress over the sections of beams against hand calculation: bending, shear, torsion, and the largest of all."""

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.files.requests import Output

steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)


def loaded(section, *, force=(0.0, 0.0, 0.0), torque=0.0, length=1.0, elements=4, theory="euler-bernoulli", pieces=1):
    """A cantilever under a tip force and a torque about its axis: (system, state, inputs)."""
    beam = ph.Beam(length, section, steel, theory=theory)
    body = beam.discretise(elements) if pieces == 1 else beam.split(pieces).discretise(elements)
    pushes = [ph.Force("b.C", along=tuple(np.eye(3)[k]), name=f"f{k}") for k in range(3)]
    system = ph.connect({"b": body}, [ph.Weld("ground", "b.P"), *pushes, ph.Torque("b.C", about=(1, 0, 0), name="t")])
    u = {"f0": force[0], "f1": force[1], "f2": force[2], "t": torque}
    return system, ph.equilibrium(system, ph.place(system), u=u), u


def test_the_largest_stress_of_a_bent_bar_is_at_its_edge():
    """20 × 20 mm, 1 m, 13.333 N at the tip: 6 F L / h³ = 10 MPa; on the axis it is nothing."""
    system, state, u = loaded(ph.Rectangle(0.02, 0.02), force=(0.0, 13.333, 0.0))
    run = ph.simulate(system, state, 0.01, dt=1e-3, u=u)
    value, where = run.von_mises("b")
    np.testing.assert_allclose(value, 10e6, rtol=1e-3)
    assert abs(where[0][0]) < 1e-6 and abs(abs(where[0][1]) - 0.01) < 1e-9
    assert state.von_mises("b")[0] == pytest.approx(10e6, rel=1e-3)
    _, bent, _ = loaded(ph.Rectangle(0.02, 0.02), force=(0.0, 13.333, 0.0), pieces=3)
    assert bent.von_mises("b")[0] == pytest.approx(10e6, rel=2e-3)


def test_a_twisted_round_bar_has_T_r_over_J_at_its_rim():
    """Ø 20 mm, 6 N m: 16 T / π d³ = 3.82 MPa, tangent to the rim and the same on every radius."""
    d, T = 0.02, 6.0
    _, state, _ = loaded(ph.Circle(d), torque=T)
    tau = 16 * T / (np.pi * d**3)
    assert tau == pytest.approx(3.82e6, rel=1e-3)
    assert state.stress("b", 0.3, y=d / 2)["xz"] == pytest.approx(tau, rel=1e-3)
    assert state.stress("b", 0.3, z=d / 2)["xy"] == pytest.approx(-tau, rel=1e-3)
    assert state.von_mises("b")[0] == pytest.approx(np.sqrt(3) * tau, rel=1e-3)


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
@pytest.mark.parametrize(
    ("section", "at", "factor"),
    [
        (ph.Rectangle(0.02, 0.05), (0.0, 0.0), 1.5),
        (ph.Circle(0.03), (0.0, 0.0), 4 / 3),
        (ph.Tube(0.05, 0.0005), (0.0, 0.0247), 2.0),
    ],
)
def test_shear_of_bending_is_largest_on_the_neutral_axis(section, at, factor, theory):
    """3/2, 4/3 and 2 times V/A for a rectangle, a bar and a thin tube; both planes alike."""
    V = 500.0
    for force, key, (y, z) in (((0, V, 0), "xy", at), ((0, 0, V), "xz", at[::-1])):
        _, state, _ = loaded(section if key == "xy" else turned(section), force=force, theory=theory)
        assert state.stress("b", 0.4, y=y, z=z)[key] == pytest.approx(factor * V / section.A, rel=0.01)


def turned(section):
    return ph.Rectangle(section.h, section.b) if isinstance(section, ph.Rectangle) else section


@pytest.mark.parametrize(("ratio", "alpha"), [(1.0, 0.208), (1.5, 0.231), (2.0, 0.246), (4.0, 0.282), (10.0, 0.312)])
def test_torsion_of_rectangles_is_that_of_the_tables(ratio, alpha):
    """τ_max = T / (α a t²) at the middle of the long side (Timoshenko and Goodier), and none at the corners."""
    t, T = 0.01, 3.0
    for section, y, z, key in (
        (ph.Rectangle(ratio * t, t), t / 2, 0.0, "xz"),
        (ph.Rectangle(t, ratio * t), 0.0, -t / 2, "xy"),
    ):
        _, state, _ = loaded(section, torque=T)
        stress = state.stress("b", 0.5, y=y, z=z)
        assert stress[key] == pytest.approx(T / (alpha * ratio * t**3), rel=4e-3)
        corner = state.stress("b", 0.5, y=section.h / 2, z=section.b / 2)
        assert np.hypot(corner["xy"], corner["xz"]) < 1e-2 * stress[key]


@pytest.mark.parametrize("section", [ph.Rectangle(0.03, 0.05), ph.Circle(0.04), ph.Tube(0.05, 0.01)])
def test_shear_over_the_section_adds_up_to_its_forces(section):
    """∫τ_xy = V_y, ∫τ_xz = V_z, ∫(y τ_xz − z τ_xy) = T: the resultants of every distribution are what it is made from."""
    n = 400
    if isinstance(section, ph.Rectangle):
        y, z = (side * (np.arange(n) + 0.5) / n - side / 2 for side in (section.h, section.b))
        y, z = (grid.ravel() for grid in np.meshgrid(y, z))
        dA = np.full(y.size, section.A / y.size)
    else:
        inner = section.diameter / 2 - getattr(section, "wall", section.diameter / 2)
        r = inner + (section.diameter / 2 - inner) * (np.arange(n) + 0.5) / n
        r, angle = (grid.ravel() for grid in np.meshgrid(r, 2 * np.pi / 64 * np.arange(64)))
        y, z, dA = r * np.cos(angle), r * np.sin(angle), r * (section.diameter / 2 - inner) / n * 2 * np.pi / 64
    tau = section.shear(y, z)
    sums = np.array([dA @ tau[:, 0], dA @ tau[:, 1], dA @ (y[:, None] * tau[:, 1] - z[:, None] * tau[:, 0])])
    scale = np.array([[1, 1, 1e2], [1, 1, 1e2], [1e-2, 1e-2, 1]])
    np.testing.assert_allclose(sums / scale, np.eye(3), atol=2e-3)


def test_shear_is_in_balance_with_bending_over_the_section():
    """∂τ_xy/∂y + ∂τ_xz/∂z = −y V/I inside, and the rim is free: shapes of every kind."""
    rng, step = np.random.default_rng(3), 1e-7
    for section in (ph.Rectangle(0.03, 0.05), ph.Circle(0.04), ph.Tube(0.05, 0.01)):
        angle, r = rng.uniform(0, 2 * np.pi, 50), rng.uniform(0.0155, 0.0195, 50)
        y, z = 0.7 * r * np.cos(angle), 0.7 * r * np.sin(angle)
        if isinstance(section, ph.Tube):
            y, z = y / 0.7 * 1.15, z / 0.7 * 1.15
        dy = (section.shear(y + step, z) - section.shear(y - step, z))[:, 0] / (2 * step)
        dz = (section.shear(y, z + step) - section.shear(y, z - step))[:, 1] / (2 * step)
        size = np.abs(y).max() / section.I
        np.testing.assert_allclose((dy + dz)[:, 0] / size, -y / section.I / size, atol=1e-5)
        np.testing.assert_allclose((dy + dz)[:, 2] / size, 0.0, atol=1e-5)


def test_a_point_outside_the_section_is_refused_with_its_size():
    """y = 1 m of a section of 20 mm gave −1 GPa."""
    _, state, _ = loaded(ph.Rectangle(0.02, 0.02), force=(0.0, 10.0, 0.0))
    with raises(ph.errors.InputError, "y = 1", "0.01"):
        state.stress("b", 0.0, y=1.0)
    with raises(ph.errors.InputError, "0.02"):
        state.stress_field("b", points=[(0.5, 0.0, 0.02)])
    _, state, _ = loaded(ph.Tube(0.02, 0.002), force=(0.0, 10.0, 0.0))
    with raises(ph.errors.InputError, "0.008", "0.01"):
        state.stress("b", 0.0, y=0.0, z=0.0)


def test_a_section_by_numbers_says_what_it_cannot_know():
    section = ph.Section(A=4e-4, I=1.3e-8, J=2e-8)
    _, state, _ = loaded(section, force=(0.0, 10.0, 0.0))
    stress = state.stress("b", 0.0, y=0.01)
    assert stress["xx"] == pytest.approx(-10.0 * 0.01 / 1.3e-8, rel=1e-6) and np.isnan(stress["xy"])
    with raises(ph.errors.InputError):
        state.von_mises("b")


def test_all_at_once_by_hand():
    """Ø 40 mm, 0.8 m, pulled by 2 kN, pushed by 300 N, twisted by 150 N m: √(σ² + 3 τ²) at the root."""
    d, L, N, F, T = 0.04, 0.8, 2e3, 300.0, 150.0
    _, state, _ = loaded(ph.Circle(d), force=(N, F, 0.0), torque=T, length=L, elements=8)
    M = abs(state.stress("b", 0.0)["M_z"])
    assert M == pytest.approx(F * L, rel=0.02)  # the pull straightens it a little
    sigma, tau = 4 * N / (np.pi * d**2) + 32 * M / (np.pi * d**3), 16 * T / (np.pi * d**3)
    assert state.von_mises("b")[0] == pytest.approx(np.sqrt(sigma**2 + 3 * tau**2), rel=0.01)


def test_the_names_of_the_paper_are_those_of_its_planar_beam():
    """n_x = EA u_x' is 300 N and m_x = EI u_y'' is F (L − x) for a pull and a push at the end, in states, runs and outputs."""
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel, stiffening=False).discretise(2)
    loads = [ph.Force("b.C", along=(1, 0, 0), name="pull"), ph.Force("b.C", along=(0, 1, 0), name="push")]
    system = ph.connect({"b": beam}, [ph.Weld("ground", "b.P"), *loads], plane="xy")
    u = {"pull": 300.0, "push": 2.0}
    state = ph.equilibrium(system, ph.place(system), u=u)
    found = state.stress("b", s=0.25)
    assert found["n_x"] == found["N"] == pytest.approx(300.0, rel=1e-3)
    assert found["m_x"] == found.get("m_x") == found["M_z"] == pytest.approx(1.5, rel=1e-3)
    assert set(found) == {"N", "M_z"} and "m_x" in found and "m_y" not in found and found.get("m_y") is None
    with raises(ph.errors.PortError, "m_y"):
        found["m_y"]
    run = ph.simulate(system, state, 0.02, dt=1e-2, u=u)
    np.testing.assert_array_equal(run.stress("b", s=0.25)["m_x"], run.stress("b", s=0.25)["M_z"])
    assert "M_z (N m)" in [ax.get_ylabel() for ax in ph.plot(run, "b", stress="m_x").axes]
    assert Output("stress", "b", s=0.25, component="m_x", take="last").value(run) == pytest.approx(1.5, rel=1e-3)
