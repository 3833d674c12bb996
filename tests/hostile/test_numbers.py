"""Numbers that hurt: every row of docs/hostility.md has its test here."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from messages import raises, warns

import phloat as ph

DOWN = (0.0, -9.81, 0.0)
STEP = {"t_end": 0.1, "dt": 1e-3}


def beam(E: float = 2.1e11, rho: float = 7800.0) -> ph.Body:
    return ph.Beam(0.5, ph.Rectangle(0.02, 0.004), ph.Material(E=E, rho=rho, nu=0.3)).discretise(2)


def bar(mass: float = 1.0, inertia: float = 0.1) -> ph.Body:
    return ph.RigidBody(mass, inertia * np.eye(3), center=(0.25, 0, 0), ports={"C": (0.5, 0, 0)}).discretise()


def arm(upper: ph.Body, lower: ph.Body, *more, gravity=DOWN) -> ph.System:
    joints = [ph.Revolute("ground", "a.P", name="m"), ph.Revolute("a.C", "b.P", name="j"), *more]
    return ph.connect({"a": upper, "b": lower}, joints, gravity=gravity, plane="xy")


def moved(system: ph.System, state: ph.State | None = None, **options) -> ph.Result:
    return ph.simulate(system, ph.place(system) if state is None else state, **STEP | options)


def kept(result: ph.Result, energy: float = 1e-10, gap: float = 1e-11) -> None:
    """The books balance and the joints are closed."""
    assert ph.energy_ledger(result).relative < energy
    assert max(np.abs(g).max() for g in ph.gaps(result.system, result.state()).values()) < gap


# --- stiffness and mass -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("upper", "lower"), [(2e15, 2e3), (2e6, 2e18)])
def test_stiffnesses_a_million_million_apart_keep_the_books(upper, lower):
    kept(moved(arm(beam(upper), beam(lower))))


def test_springs_a_million_million_apart_keep_the_books_and_act_as_a_weld():
    stiff = [ph.JointSpring("m", stiffness=1e-3), ph.JointSpring("j", stiffness=1e9)]
    result = moved(arm(bar(), bar(), *stiff))
    kept(result)
    welded = moved(ph.lock(arm(bar(), bar(), ph.JointSpring("m", stiffness=1e-3)), "j"))
    np.testing.assert_allclose(result["m.angle"], welded["m.angle"], atol=1e-7)


@pytest.mark.parametrize("mass", [1e-6, 1e-12])
def test_a_nearly_massless_point_moves_as_if_it_were_not_there(mass):
    speck = ph.PointMass(mass).discretise()
    with_it = ph.connect(
        {"a": beam(), "b": speck}, [ph.Revolute("ground", "a.P"), ph.Revolute("a.C", "b.P")], gravity=DOWN, plane="xy"
    )
    without = ph.connect({"a": beam()}, [ph.Revolute("ground", "a.P")], gravity=DOWN, plane="xy")
    result = moved(with_it)
    kept(result)
    np.testing.assert_allclose(result["a.theta"], moved(without)["a.theta"], atol=10 * mass)


def test_a_nearly_massless_link_is_moved_by_its_neighbour():
    kept(moved(arm(bar(1e-12, 1e-15), bar())))
    kept(moved(arm(beam(rho=1e-6), beam())))


def test_a_mass_below_all_numbers_is_said():
    speck = ph.PointMass(1e-200).discretise()
    system = ph.connect({"a": bar(), "b": speck}, [ph.Revolute("a.C", "b.P")], gravity=DOWN, plane="xy")
    with raises(ph.errors.ConvergenceError, "'b'"):
        moved(system)


# --- joints -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plane", ["xy", None])
def test_coincident_joints_repeat_each_other_with_a_warning_and_the_motion_is_right(plane):
    one = [ph.Revolute("ground", "a.P", name="m")]
    two = [*one, ph.Revolute("ground", "a.P", name="again")]
    systems = [ph.connect({"a": bar()}, joints, gravity=DOWN, plane=plane) for joints in (one, two)]
    with warns(ph.errors.RedundancyWarning, "'again'", "'m'"):
        twice = moved(systems[1])
    kept(twice)
    np.testing.assert_allclose(twice["m.angle"], moved(systems[0])["m.angle"], atol=1e-12)


def test_a_locked_mechanism_stands_still_and_its_joints_carry_the_weight():
    system = ph.lock(arm(bar(), bar()), "m", "j")
    result = moved(system)
    assert np.abs(result.e - result.e[0]).max() < 1e-15
    assert ph.reactions(system, result.state())["m"][:2] == pytest.approx((0.0, 2 * 9.81))


def test_a_locked_flexible_mechanism_rings_and_keeps_the_books():
    kept(moved(ph.lock(arm(beam(), beam()), "m", "j")))


def test_links_stretched_to_their_last_reach_stay_there():
    ends = [ph.Revolute("b.C", "ground", at=(1.0, 0, 0), name="e")]
    system = arm(bar(), bar(), *ends, gravity=(0, 0, 0))
    assert np.abs(moved(system).e - ph.place(system).e).max() < 1e-12
    pushed = moved(system, u={"a.C": (0.0, 1.0, 0.0)})
    assert np.abs(pushed["a.theta"]).max() < 1e-5  # the root of round-off: the position is singular


def parallelogram() -> tuple[ph.System, ph.State]:
    """Flat: it may go on as a parallelogram or cross over."""
    long = ph.RigidBody(1.0, 0.1 * np.eye(3), ports={"C": (1.0, 0, 0)}).discretise()
    joints = [ph.Revolute("ground", "a.P", name="m"), ph.Revolute("a.C", "b.P"), ph.Revolute("b.C", "c.C")]
    joints.append(ph.Revolute("ground", "c.P", at=(1.0, 0, 0), name="e"))
    system = ph.connect({"a": bar(), "b": long, "c": bar()}, joints, plane="xy")
    return system, ph.place(system, {"a.theta": 0.0}, near={"b.theta": 0.0, "c.theta": 0.0})


def test_at_a_bifurcation_what_rests_stays_and_linear_analysis_sees_both_branches():
    system, state = parallelogram()
    assert np.abs(moved(system, state).e - state.e).max() < 1e-12
    with warns(ph.errors.RedundancyWarning, "1 rows"):
        assert ph.modes(ph.linearise(system, state)).rigid == 2


def test_from_a_bifurcation_a_mechanism_goes_on_along_one_branch_and_keeps_the_books():
    system, state = parallelogram()
    result = ph.simulate(system, state, t_end=2.0, dt=5e-3, u={"m": 1.0})
    kept(result)
    assert result["a.theta"][-1] > 3.2  # through the next one, too
    np.testing.assert_allclose(result["c.theta"], result["a.theta"], atol=1e-6)


# --- steps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [0.05, 0.5])
def test_steps_far_too_long_keep_the_books_though_the_motion_is_coarse(dt):
    kept(moved(arm(beam(), beam()), t_end=10 * dt, dt=dt))  # the first mode takes 0.02 s


def test_steps_far_too_long_are_halved_where_newton_fails_and_the_run_says_when():
    result = moved(arm(beam(), beam()), t_end=10.0, dt=2.0)
    kept(result, energy=1e-9)
    assert len(result.info["halved"]) > 0


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"t_end": 1.0, "dt": 1e-15}, "1e-15"),
        ({"t_end": 1.0, "dt": 1e-320}, "dt"),
        ({"t_start": 1e16, "t_end": 1e16 + 4, "dt": 1.0}, "1e+16"),
    ],
)
def test_steps_that_cannot_be_counted_are_said(given, name):
    with raises(ph.errors.InputError, name):
        moved(arm(bar(), bar()), **given)
    linear = ph.PointMass(1.0).discretise().linear()
    with raises(ph.errors.InputError, name):
        ph.simulate(linear, **given)


# --- inputs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [10.0, 1e5])
def test_an_input_that_jumps_between_steps_keeps_the_books(size):
    kept(moved(arm(beam(), beam()), u={"m": lambda t: 0.0 if t < 0.0503 else size}), energy=1e-9)


def test_a_drive_whose_rate_jumps_keeps_the_books():
    kept(moved(ph.drive(arm(bar(), bar()), "m"), u={"m": lambda t: 0.0 if t < 0.0503 else 10.0}))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("way", ["effort", "rate", "position", "controller", "event", "linear"])
def test_nan_from_a_function_is_said_with_its_name_and_time(way, bad):
    def f(t: float) -> float:
        return bad if t > 0.0505 else 0.0

    system = arm(bar(), bar())
    with raises(ph.errors.InputError, "0.05") as caught:
        if way == "linear":
            mass = ph.connect({"a": ph.PointMass(1.0).discretise()}, [ph.Force("a.P", along=(1, 0, 0), name="push")])
            plant = ph.linearise(mass, ph.place(mass))
            ph.simulate(plant, **STEP, u={"push": f})
        elif way == "controller":
            moved(system, controller=lambda t, y: {"m": f(t)})
        elif way == "event":
            moved(system, events=[ph.Event(lambda t, y: f(t) + 1.0, name="x")])
        else:
            u = {"effort": f, "rate": f, "position": ph.prescribed_position(f)}[way]
            moved(system if way == "effort" else ph.drive(system, "m"), u={"m": u})
    assert str(bad) in str(caught.value) or "NaN or infinity" in str(caught.value)


def test_what_was_saved_before_a_nan_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("phloat.motion.saving.recorder.SECONDS", 0.0)
    system, good = arm(bar(), bar()), {"m": lambda t: 0.1}
    with raises(ph.errors.InputError):
        moved(system, t_end=1.0, u={"m": lambda t: 0.1 if t < 0.8 else np.nan}, save=tmp_path / "run")
    part = ph.io.load_result(tmp_path / "run", system)
    assert part.t[-1] > 0.5
    whole = ph.resume(tmp_path / "run", system, u=good)
    np.testing.assert_array_equal(whole.e, moved(system, t_end=1.0, u=good).e)


# --- arrays -----------------------------------------------------------------------------------------------------------

TIMES, VALUES = np.linspace(0.0, 0.1, 11), np.sin(np.arange(11.0)).astype(np.float32)


def forms() -> dict:
    locked = VALUES.astype(float)
    locked.flags.writeable = False
    wide = np.full((11, 4), np.nan)
    wide[:, 2] = VALUES
    return {
        "float32": (TIMES, VALUES),
        "read-only": (TIMES, locked),
        "a column of a wider array": (TIMES, wide[:, 2]),
        "backwards": (TIMES[::-1][::-1], VALUES.astype(float)[::-1][::-1]),
        "another byte order": (TIMES.astype(">f8"), VALUES.astype(">f8")),
        "lists": (TIMES.tolist(), VALUES.tolist()),
    }


@pytest.mark.parametrize("form", forms())
def test_tables_of_any_kind_of_array_give_the_same_bits(form):
    system = arm(bar(), bar())
    plain = moved(system, u={"m": (TIMES, VALUES.astype(float))})
    given = forms()[form]
    before = [np.array(part) for part in given]
    np.testing.assert_array_equal(moved(system, u={"m": given}).e, plain.e)
    for part, was in zip(given, before, strict=True):
        np.testing.assert_array_equal(part, was)


def test_states_of_any_kind_of_array_give_the_same_bits():
    system = arm(bar(), bar())
    plain = ph.place(system)
    for form in (plain.e[::-1][::-1], np.asfortranarray(plain.e), plain.e.astype(">f8")):
        state = ph.State(system.bodies, system.layout, form)
        np.testing.assert_array_equal(moved(system, state).e, moved(system).e)


def test_arrays_of_a_result_are_the_users_own():
    result = moved(arm(bar(), bar()))
    for name in ("m.angle", "a.theta", "m.lam"):
        taken, before = result[name], result[name].copy()
        taken[:] = np.nan
        np.testing.assert_array_equal(result[name], before)


# --- threads ----------------------------------------------------------------------------------------------------------

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
DIGEST = """
import hashlib, phloat as ph
steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
link = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), steel).discretise(8)
arm = ph.connect({"a": link, "b": link}, [ph.Revolute("ground", "a.P"), ph.Revolute("a.C", "b.P")], gravity=(0, -9.81, 0))
result = ph.simulate(arm, ph.place(arm), t_end=0.05, dt=1e-3)
modes = ph.modes(link.linear())
print(hashlib.sha256(result.e.tobytes() + modes.omega.tobytes()).hexdigest())
"""


@pytest.mark.long
def test_the_number_of_threads_changes_no_bit():
    found = set()
    for count in (1, 2, 4):
        environment = os.environ | dict.fromkeys(THREADS, str(count))
        done = subprocess.run([sys.executable, "-c", DIGEST], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        found.add(done.stdout.strip())
    assert len(found) == 1
    assert len(found.pop()) == hashlib.sha256().digest_size * 2
