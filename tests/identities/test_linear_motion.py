"""Runs of linear systems: the balance of every step, joints, starts and what results are made of."""

from dataclasses import replace

import numpy as np
import pytest
from messages import warns
from ties_zoo import alu, plate

import phloat as ph
from phloat.linear.analysis import modes as modes_of


def arm(**options) -> ph.LinearPHDAE:
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), alu, **options).discretise(3)
    system = ph.connect(
        {"upper": link, "lower": link},
        plane="xy",
        joints=[ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")],
    )
    return ph.linearise(system, ph.place(system, {"upper.theta": 0.3, "lower.theta": 0.9}))


def driven() -> ph.LinearPHDAE:
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), alu, damping=ph.KelvinVoigt(1e-4)).discretise(3)
    system = ph.connect({"link": link}, plane="xy", joints=[ph.Revolute("ground", "link.P", name="hub")])
    return ph.linearise(ph.drive(system, "hub"), ph.place(system))


CASES = {
    "damped arm": (arm(damping=ph.Rayleigh(0.3, 1e-4, relative_to="P")), {"elbow": lambda t: np.sin(40 * t)}),
    "driven": (driven(), {"hub": lambda t: 0.1 * np.sin(30 * t), "link.C": (0.0, 0.3, 0.0)}),
    "mixed plate": (plate(2, "hhj").linear(boundary=("right",)), {"right": lambda t: np.cos(99 * t) * np.arange(1, 6)}),
    "conforming plate": (plate(2).linear(boundary=("right",)), {"right": lambda t: t * np.ones(12)}),
    "without the split": (replace(arm(), split=-1), {"elbow": 1.0}),
}


@pytest.mark.parametrize("case", CASES)
def test_energy_is_what_was_supplied_less_what_was_lost(case):
    system, u = CASES[case]
    result = ph.simulate(system, t_end=0.2, dt=1e-3, u=u)
    assert result.energy.max() > 0.0
    assert np.abs(result.residual).max() < 1e-11 * np.abs(result.works).max()
    assert sum(work[-1] for work in result.supplied.values()) == pytest.approx(
        result.energy[-1] + result.lost[-1], rel=1e-9
    )
    assert (np.diff(result.lost) >= 0.0).all() and bool(result.lost[-1]) == (not system.lossless)


@pytest.mark.parametrize("case", CASES)
def test_every_step_is_the_midpoint_rule(case):
    """E Δe/h = (J − R) ē + Gᵀλ + B ū,  G ē = B_λ ū, with constant inputs: λ of the first step is that of the first output."""
    system, u = CASES[case]
    constant = {name: 0.3 * np.ones(system.ports.shape(name)) for name in u}
    h = 1e-3
    e0 = np.zeros(system.rows.size)
    held = system.B_lam.nnz > 0
    if held:
        constant = {name: 0.0 * value for name, value in constant.items()} | {"link.C": np.array([0.0, 0.3, 0.0])}
    result = ph.simulate(system, e0, t_end=h, dt=h, u=constant)
    mean, change = result.e.mean(axis=0), result.e[1] - result.e[0]
    right = (system.J - system.R) @ mean + system.G.T @ result.lam[0] + system.B @ result.u[0]
    size = np.abs(system.B @ result.u[0]).max()
    np.testing.assert_allclose(system.E @ change / h, right, atol=1e-9 * size)
    np.testing.assert_allclose(system.G @ mean, system.B_lam @ result.u[0], atol=1e-13)


def test_displacements_are_sums_of_mean_velocities():
    result = ph.simulate(arm(), t_end=0.05, dt=1e-3, u={"elbow": 1.0})
    v = result.velocity("lower")
    steps = 1e-3 * 0.5 * (v[1:] + v[:-1])
    np.testing.assert_allclose(result.displacement("lower")[1:], np.cumsum(steps, axis=0), atol=1e-15)
    assert result.displacement("lower").shape == (51, len(arm().fields["lower"].points), 3)


def test_displacements_are_those_of_the_stresses():
    """C σ = D q: what the stresses remember is where the points have come."""
    body = plate(3)
    system = body.linear(boundary=("right",))
    result = ph.simulate(system, t_end=0.01, dt=1e-4, u={"right": np.full(system.ports.size, 0.1)})
    C, D = body.strains.C, body.strains.D
    np.testing.assert_allclose(
        C @ result["sigma"][-1], D @ result.way[-1], atol=1e-12 * np.abs(D @ result.way[-1]).max()
    )


def test_names_outputs_and_parts():
    system = arm()
    result = ph.simulate(system, t_end=0.02, dt=1e-3, u={"elbow": 2.0})
    np.testing.assert_array_equal(result["upper.v_P"], result.e[:, system.rows["upper.v_P"]])
    np.testing.assert_array_equal(result["elbow.lam"], result.lam[:, system.multipliers["elbow"]])
    np.testing.assert_allclose(result.y["elbow"], result.e @ system.B[:, system.ports["elbow"]].toarray(), atol=1e-15)
    np.testing.assert_allclose(result.energy_of("upper") + result.energy_of("lower"), result.energy, rtol=1e-12)
    np.testing.assert_allclose(result.at(0.0105), 0.5 * (result.e[10] + result.e[11]), atol=1e-14)
    assert "21 times from 0 to 0.02 s" in repr(result)


def test_outputs_can_be_thinned_or_asked_for():
    every = ph.simulate(arm(), t_end=0.02, dt=1e-3, u={"elbow": 1.0})
    some = ph.simulate(arm(), t_end=0.02, dt=1e-3, u={"elbow": 1.0}, output=6)
    np.testing.assert_array_equal(some.e, every.e[[0, 6, 12, 18, 20]])
    np.testing.assert_array_equal(some.lam, every.lam[[0, 6, 12, 18, 20]])
    asked = ph.simulate(arm(), t_end=0.02, dt=1e-3, u={"elbow": 1.0}, output=[0.0, 0.0055, 0.02])
    np.testing.assert_allclose(asked.e, [every.e[0], 0.5 * (every.e[5] + every.e[6]), every.e[20]], atol=1e-12)


def test_steps_are_equal_and_not_longer_than_asked():
    result = ph.simulate(arm(), t_end=0.0105, dt=1e-3, u={"elbow": 1.0}, t_start=0.001)
    np.testing.assert_allclose(np.diff(result.t), 0.95e-3, rtol=1e-9)


def test_a_start_that_misses_the_joints_is_projected_with_a_note():
    system = arm()
    e = np.random.default_rng(0).normal(size=system.rows.size)
    with warns(ph.errors.ProjectedStartWarning):
        result = ph.simulate(system, e, t_end=1e-3, dt=1e-3)
    change = result.e[0] - e
    assert np.abs(system.G @ result.e[0]).max() < 1e-12
    Z = np.linalg.svd(system.G.toarray())[2][system.multipliers.size :].T  # the change is orthogonal to what is allowed
    np.testing.assert_allclose(Z.T @ (system.E @ change), 0.0, atol=1e-10)
    again = ph.simulate(system, {name: system.rows.of(result.e[0], name) for name in system.rows}, t_end=1e-3, dt=1e-3)
    np.testing.assert_allclose(again.e, result.e, atol=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_modes_with_stresses_that_are_not_local_are_those_of_all_of_them(tied, monkeypatch):
    """The sparse way keeps the stresses as unknowns; the dense one squares nothing."""
    system = plate(6, "hhj", clamped=None).linear()
    if tied:
        system = ph.tie({"p": plate(6, "hhj", clamped=None)}, [ph.Tie("p.left", "ground", of="w")])
    dense = ph.modes(system, 9)
    monkeypatch.setattr(modes_of, "DENSE_VELOCITIES", 10)
    monkeypatch.setattr("phloat.linear.form.second_order.block_inverse", lambda C: None)
    sparse = ph.modes(system, 9)
    assert sparse.rigid == dense.rigid == (1 if tied else 3)
    np.testing.assert_allclose(sparse.elastic, dense.elastic, rtol=1e-8)
    gap = system.G[:, : system.split] @ sparse.vectors
    assert np.abs(gap).max(initial=0.0) < 1e-8 * np.abs(sparse.vectors).max()


def test_a_linear_run_goes_as_the_nonlinear_one_for_small_motions():
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), alu).discretise(2)
    system = ph.connect({"b": link}, plane="xy", joints=[ph.Weld("ground", "b.P", name="wall")])
    state = ph.place(system)
    u = {"b.C": (0.0, 1e-5, 0.0)}
    one = ph.simulate(system, state, 0.05, dt=1e-3, u=u)
    other = ph.simulate(ph.linearise(system, state), t_end=0.05, dt=1e-3, u=u)
    np.testing.assert_allclose(other["b.eta_dot"], one["b.eta_dot"], atol=1e-6 * np.abs(one["b.eta_dot"]).max())
    np.testing.assert_allclose(other.energy, one.energy, rtol=1e-6, atol=1e-9 * one.energy.max())
