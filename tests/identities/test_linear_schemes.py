"""Gauss–Legendre and Störmer–Verlet for linear systems: energy, symplecticity, joints, ledger and events."""

from dataclasses import replace

import numpy as np
import pytest
from linear_zoo import INPUTS, random_system, reference, start

import phloat as ph
from phloat.algebra.layout import Layout
from phloat.control.fmu import stepper

SCHEMES = {
    "gauss 1": ph.GaussLegendre(1),
    "gauss 2": ph.GaussLegendre(2),
    "gauss 3": ph.GaussLegendre(3),
    "verlet": ph.StormerVerlet(),
}


def oscillator(omega: float = 1.0) -> ph.LinearPHDAE:
    """v̇ = −ω s + u, ṡ = ω v."""
    J = omega * np.array([[0.0, -1.0], [1.0, 0.0]])
    rows, ports = Layout({"v": (1,), "s": (1,)}, "row"), Layout({"push": (1,)}, "port")
    return ph.LinearPHDAE(E=np.eye(2), J=J, B=np.array([[1.0], [0.0]]), rows=rows, ports=ports, split=1)


# --- energy and symplecticity ----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("stages", [1, 2, 3, 6, 10])
def test_gauss_legendre_keeps_the_energy_to_round_off_over_ten_thousand_steps(stages):
    system = random_system()
    result = ph.simulate(system, start(system), 1000.0, dt=0.1, scheme=ph.GaussLegendre(stages))
    assert np.abs(result.energy - result.energy[0]).max() < 1e-12 * result.energy[0]
    assert np.abs(system.G @ result.e.T).max() < 1e-12


@pytest.mark.parametrize("stages", [1, 2, 3, 6, 10])
def test_gauss_legendre_keeps_the_energy_at_any_step(stages):
    system = random_system()
    for h in (0.1, 10.0):
        result = ph.simulate(system, start(system), 100 * h, dt=h, scheme=ph.GaussLegendre(stages))
        assert np.abs(result.energy - result.energy[0]).max() < 2e-13 * result.energy[0]
        assert np.abs(system.G @ result.e.T).max() < 1e-13


def test_stormer_verlet_keeps_a_modified_energy_and_its_joints():
    """H − ⅛h² fᵀP f with f = Lσ and P the inverse mass on the motions that joints allow; H itself is off by 0.48 % at h = 0.1."""
    system, h = random_system(), 0.1
    result = ph.simulate(system, start(system), 100.0, dt=h, scheme=ph.StormerVerlet())
    n, G = system.split, system.G.toarray()[:, : system.split]
    saddle = np.block([[system.E.toarray()[:n, :n], -G.T], [G, np.zeros((len(G), len(G)))]])
    P, f = np.linalg.inv(saddle)[:n, :n], (system.J[:n, n:] @ result.e[:, n:].T).T
    modified = result.energy - h**2 / 8 * np.einsum("ti,ij,tj->t", f, P, f)
    assert np.ptp(modified) < 1e-13 * modified[0]
    assert 1e-4 < np.abs(result.energy - result.energy[0]).max() / result.energy[0] < 6e-3
    assert np.abs(system.G @ result.e.T).max() < 1e-14


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_step_is_symplectic(scheme):
    """The step S of ė = J∇H keeps the two-form, SᵀJ⁻¹S = J⁻¹, in (v | σ) with E = I."""
    random, n = np.random.default_rng(2), 4
    L = random.normal(size=(n, n))
    J = np.block([[np.zeros((n, n)), -L], [L.T, np.zeros((n, n))]])
    rows = Layout({"v": (n,), "s": (n,)}, "row")
    system = ph.LinearPHDAE(E=np.eye(2 * n), J=J, B=np.zeros((2 * n, 0)), rows=rows, ports=Layout({}, "port"), split=n)
    ends = [ph.simulate(system, e, 0.3, dt=0.3, scheme=SCHEMES[scheme]).e[-1] for e in np.eye(2 * n)]
    S, form = np.array(ends).T, np.linalg.inv(J)
    np.testing.assert_allclose(S.T @ form @ S, form, atol=1e-13 * np.abs(form).max())


@pytest.mark.parametrize(
    ("scheme", "frequency"),
    [("gauss 1", lambda h: 2 / h * np.arctan(h / 2)), ("verlet", lambda h: 2 / h * np.arcsin(h / 2))],
)
def test_an_oscillator_has_the_frequency_that_the_textbook_gives_the_scheme(scheme, frequency):
    h = 0.5
    result = ph.simulate(oscillator(), {"s": [1.0]}, 50.0, dt=h, scheme=SCHEMES[scheme])
    np.testing.assert_allclose(result["s"][:, 0], np.cos(frequency(h) * result.t), atol=1e-12)


# --- work, damping, driven joints ------------------------------------------------------------------------------------


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("split", [5, -1])
def test_energy_is_what_was_supplied_less_what_was_lost(stages, split):
    system = replace(random_system(damping=0.2, gyroscopic=0.5, joints=2, driven=True), split=split)
    result = ph.simulate(system, start(system), 5.0, dt=0.25, u=INPUTS, scheme=ph.GaussLegendre(stages))
    assert np.abs(result.residual).max() < 1e-13 * result.energy.max()
    assert all(np.abs(work).max() > 1e-3 for work in result.supplied.values()) and result.lost[-1] > 0.1
    if stages > 1:  # driven joints move as they should at the nodes
        np.testing.assert_allclose((system.G @ result.e.T)[-1], INPUTS["drive"](result.t), atol=1e-13)


def test_controllers_and_tables_are_inputs_of_every_scheme():
    """A damper by a controller, u = −y, beside its own R; a table with a jump has its exact impulse."""
    for scheme in SCHEMES.values():
        result = ph.simulate(
            oscillator(), {"s": [1.0]}, 4.0, dt=5e-3, scheme=scheme, controller=lambda t, y: {"push": -y["push"]}
        )
        root = np.sqrt(0.75)
        exact = np.exp(-2.0) * (np.cos(4.0 * root) + 0.5 / root * np.sin(4.0 * root))
        assert result["s"][-1, 0] == pytest.approx(exact, abs=2e-3)  # u is constant for a step
        assert abs(result.residual[-1]) < 1e-5
    free = oscillator(1e-9)
    table = ph.piecewise({0.0: 0.0, 0.33: 0.0, 0.34: 5.0, 0.35: 0.0, 1.0: 0.0})
    for scheme in SCHEMES.values():
        pushed = ph.simulate(free, t_end=1.0, dt=0.25, u={"push": table}, scheme=scheme)
        assert pushed["v"][-1, 0] == pytest.approx(0.05, abs=1e-14)


def test_work_and_loss_of_stormer_verlet_are_those_of_its_half_steps():
    """Exact without stiffness, where nothing is left to the scheme; with it off by O(h²)."""
    loose = replace(oscillator(1e-9), R=np.diag([0.7, 0.0]))
    pushed = ph.simulate(loose, {"v": [1.0]}, 5.0, dt=0.1, u={"push": INPUTS["push"]}, scheme=ph.StormerVerlet())
    assert np.abs(pushed.residual).max() < 1e-14 and pushed.lost[-1] > 0.4
    system, off = random_system(damping=0.3), []
    for h in (0.1, 0.05):
        result = ph.simulate(system, start(system), 10.0, dt=h, u=INPUTS, scheme=ph.StormerVerlet())
        off.append(np.abs(result.residual).max())
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.1)


def test_damping_does_not_move_the_limit_of_stormer_verlet():
    system = random_system(damping=5.0)
    limit = 2.0 / ph.modes(random_system()).omega.max()
    result = ph.simulate(system, start(system), 200 * limit, dt=0.99 * limit, scheme=ph.StormerVerlet())
    assert result.energy[-1] < 0.1 * result.energy[0]


@pytest.mark.parametrize("dt", [0.1, 0.05])
def test_multipliers_at_given_times_are_as_accurate_as_at_steps(dt):
    """They had been interpolated linearly between steps, with an error of 2e-3 here."""
    system = random_system(damping=0.2, joints=2, driven=True)
    options = {"dt": dt, "u": INPUTS, "scheme": ph.GaussLegendre(3)}
    run = ph.simulate(system, start(system), 1.0, output=[0.22, 0.33, 0.5, 0.77], **options)
    for t, lam in zip(run.t, run.lam, strict=True):
        exact = reference(system, start(system), t)[1]
        np.testing.assert_allclose(lam, exact, atol=1e-4 * dt**3 / 1e-3 * np.abs(exact).max())
    whole = ph.simulate(system, start(system), 1.0, **options)
    np.testing.assert_allclose(run.lam[2], whole.lam[whole.t == 0.5][0], rtol=1e-9)


@pytest.mark.parametrize("split", [2, -1])
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_the_force_of_a_rigid_spring_is_that_between_its_masses(stages, split):
    """Masses of 1 and 2 kg, a rigid spring between them, one of 2 N/m to the ground, a push of 1 N: ω² = 2/3, force ⅔ cos ωt.

    The stress has no energy and follows from rates, as λ does: a step determines its mean only.
    """
    L = np.array([[1.0, 1.0], [-1.0, 0.0]])
    system = ph.LinearPHDAE(
        E=np.diag([1.0, 2.0, 0.0, 0.5]),
        J=np.block([[np.zeros((2, 2)), -L], [L.T, np.zeros((2, 2))]]),
        B=np.array([[1.0], [0.0], [0.0], [0.0]]),
        rows=Layout({"v": (2,), "link": (1,), "spring": (1,)}, "row"),
        ports=Layout({"push": (1,)}, "port"),
        split=split,
    )
    dt, scheme, root = 0.05, ph.GaussLegendre(stages), np.sqrt(2.0 / 3.0)
    for output in (1, [0.0, 0.31, 0.5, 0.62, 1.0]):
        run = ph.simulate(system, t_end=1.0, dt=dt, u={"push": 1.0}, scheme=scheme, output=output)
        force = 2.0 / 3.0 * np.cos(root * run.t)
        near = [dt, 2e-4, 1e-5][stages - 1]  # at both ends only the stages on one side are known
        np.testing.assert_allclose(run["link"][:, 0], force, atol=near)
        np.testing.assert_allclose(
            run["v"][:, 1], np.sin(root * run.t) / (3.0 * root), atol=[1e-3, 1e-6, 1e-7][stages - 1]
        )
        if isinstance(output, int):
            assert np.abs(run.residual).max() < 1e-14
    unit = stepper(system, np.zeros(4), dt, outputs=["link"])
    unit.inputs["push.effort"][:] = 1.0
    unit.begin(0.0)
    unit.advance(0.0, 0.5)
    assert unit.outputs()["link"][0] == pytest.approx(2.0 / 3.0 * np.cos(0.5 * root), abs=dt)
    stop = ph.Event(lambda t, y: y["link"][0] - 0.6, direction=-1)
    run = ph.simulate(system, t_end=1.0, dt=dt, u={"push": 1.0}, scheme=scheme, events=[stop])
    assert run.t[-1] == pytest.approx(np.arccos(0.9) / root, abs=[2 * dt, 1e-3, 1e-4][stages - 1])


# --- events ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "near"), [("gauss 1", 2e-3), ("gauss 2", 1e-5), ("gauss 3", 1e-8), ("verlet", 1e-3)]
)
def test_a_run_stops_at_a_zero_of_a_row_an_output_or_its_integral(scheme, near):
    for when, time in (
        (lambda t, y: y["s"][0], np.pi / 2),
        (lambda t, y: y["push"] + 0.5, np.pi / 6),
        (lambda t, y: y["push.way"] + 1.5, 2 * np.pi / 3),
    ):
        result = ph.simulate(oscillator(), {"s": [1.0]}, 10.0, dt=0.1, scheme=SCHEMES[scheme], events=[ph.Event(when)])
        assert result.t[-1] == result.events[0].t == pytest.approx(time, abs=near)
        at_end = {"push": result["v"][-1, 0], "s": result["s"][-1], "push.way": result.way[-1, 0]}
        assert abs(when(result.t[-1], at_end)) < 1e-12


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_state_may_change_at_an_event_and_its_energy_is_in_the_account(scheme):
    """s ≥ 0 with restitution ½: half a period of π between bounces, and a quarter of the energy left after each."""
    bounce = ph.Event(lambda t, y: y["s"][0], do=lambda t, e: {"v": -0.5 * e[:1]}, direction=-1, name="stop")
    scheme = SCHEMES[scheme]
    result = ph.simulate(oscillator(), {"s": [1.0]}, 10.0, dt=0.02, scheme=scheme, events=[bounce])
    times = [event.t for event in result.events]
    np.testing.assert_allclose(times, np.pi * np.array([0.5, 1.5, 2.5]), atol=3e-4)
    assert result.energy[-1] == pytest.approx(0.5 / 4**3, rel=1e-3)
    assert result.added[-1] == pytest.approx(0.5 / 4**3 - 0.5, rel=1e-3)
    assert np.abs(result.residual).max() < (1e-13 if scheme != ph.StormerVerlet() else 1e-4)
    assert set(times) <= set(result.t) and {event.name for event in result.events} == {"stop"}


def test_events_and_output_times_agree_with_a_run_without_them():
    system, times = random_system(damping=0.2, joints=2, driven=True), [0.0, 0.31, 1.0, 2.77]
    options = {"dt": 0.05, "u": INPUTS, "scheme": ph.GaussLegendre(3), "output": times}
    marks = [ph.Event(lambda t, y: y["push"], do=lambda t, e: None)]
    plain, cut = (ph.simulate(system, start(system), 3.0, events=e, **options) for e in ((), marks))
    assert len(cut.events) > 1
    for name in ("e", "way", "works", "lam"):
        a, b = getattr(plain, name), getattr(cut, name)
        np.testing.assert_allclose(a, b, atol=2e-3 * np.abs(a).max() if name == "lam" else 1e-6 * np.abs(a).max())


def test_an_event_that_breaks_a_joint_is_projected_and_one_that_piles_up_is_refused():
    system = random_system()
    kick = ph.Event(lambda t, y: t - 0.5, do=lambda t, e: e + 1.0, name="kick")
    with pytest.warns(ph.errors.ProjectedStartWarning, match="joint"):
        result = ph.simulate(system, start(system), 1.0, dt=0.1, scheme=ph.GaussLegendre(2), events=[kick])
    assert np.abs(system.G @ result.events[0].after).max() < 1e-13 < np.abs(result.added[-1])
    assert np.abs(result.residual).max() < 1e-13 * result.energy.max()


def test_a_run_may_stop_where_it_begins():
    """The output is zero at rest and falls at once."""
    down = ph.Event(lambda t, y: y["push"], direction=-1)
    result = ph.simulate(oscillator(), {"s": [1.0]}, 1.0, dt=0.1, scheme=ph.GaussLegendre(2), events=[down])
    assert list(result.t) == [0.0] and result.events[0].t == 0.0 and result.e.shape == (1, 2)
    again = ph.Event(lambda t, y: y["push"], do=lambda t, e: 2.0 * e, direction=-1)
    result = ph.simulate(oscillator(), {"s": [1.0]}, 1.0, dt=0.1, scheme=ph.GaussLegendre(2), events=[again])
    assert result["s"][-1, 0] == pytest.approx(2.0 * np.cos(1.0), abs=1e-6) and np.abs(result.residual).max() < 1e-14
