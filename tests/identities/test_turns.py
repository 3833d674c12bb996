"""Angles of joints in space count their turns at every step, however few rows are kept."""

import numpy as np
import pytest

import phloat as ph


def pair() -> tuple[ph.System, ph.State]:
    body = ph.RigidBody(1.0, np.diag([0.1, 0.2, 0.15]), center=(0.3, 0, 0)).discretise()
    joints = [ph.Revolute("ground", "a.P", name="j"), ph.Universal("a.P", "b.P", name="k")]
    system = ph.connect({"a": body, "b": body}, joints)
    return system, ph.set_moving(system, ph.place(system), {"j.angle_rate": 50.0})


@pytest.mark.parametrize("output", [7, 60, 500, np.linspace(0.0, 1.0, 4)])
def test_thinned_outputs_have_the_angles_of_all_steps(output):
    """At 50 rad/s with a row every half second 4 turns are lost between two rows by unwrapping from row to row."""
    system, start = pair()
    every = ph.simulate(system, start, 1.0, dt=1e-3)
    thin = ph.simulate(system, start, 1.0, dt=1e-3, output=output)
    for name in every.coordinates:
        np.testing.assert_allclose(thin[name], np.interp(thin.t, every.t, every[name]), atol=5e-4)
    assert every["j.angle"][-1] > 6 * np.pi
    np.testing.assert_array_equal(thin.e[-1], every.e[-1])
    np.testing.assert_array_equal(thin.lam[-1], every.lam[-1])


@pytest.mark.parametrize(
    "scheme",
    [ph.Midpoint(rtol=1e-6), ph.Composition4(), ph.GeneralisedAlpha(), ph.RadauIIA()],
    ids=lambda s: type(s).__name__,
)
def test_every_scheme_counts(scheme):
    system, start = pair()
    fine = ph.simulate(system, start, 1.0, dt=1e-4, output=50)["j.angle"][-1]
    thin = ph.simulate(system, start, 1.0, dt=5e-4, output=[0.0, 1.0], scheme=scheme)
    assert thin["j.angle"][-1] == pytest.approx(fine, abs=0.1)


def test_saved_runs_count_on(tmp_path):
    system, start = pair()
    options = {"dt": 1e-3, "output": 400}
    whole = ph.simulate(system, start, 1.2, **options)
    ph.simulate(system, start, 0.8, save=tmp_path / "run", **options)
    on = ph.resume(tmp_path / "run", system, t_end=1.2)
    np.testing.assert_array_equal(on["j.angle"], whole["j.angle"])
    np.testing.assert_array_equal(ph.io.load_result(tmp_path / "run", system)["j.angle"], whole["j.angle"])
    ph.io.save_result(whole, tmp_path / "again")
    np.testing.assert_array_equal(ph.io.load_result(tmp_path / "again", system)["j.angle"], whole["j.angle"])
