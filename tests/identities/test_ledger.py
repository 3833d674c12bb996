"""The ledger closes: whatever stands between the bodies, in space and in the plane, and every line of it has its sign."""

from dataclasses import replace

import numpy as np
import pytest
from bodies_zoo import bodies
from messages import raises

import phloat as ph
from phloat.motion.inputs.inputs import Inputs

pytestmark = pytest.mark.filterwarnings(  # springs and bushings go beyond what they are meant for on purpose
    "ignore::phloat.errors.CurveRangeWarning", "ignore::phloat.errors.LargeTurnWarning"
)

STOP = {-1.0: -300.0, 0.0: 0.0, 1.0: 40.0, 2.0: 400.0}  # elongation: force
RUBBING = {-2.0: -9.0, -0.5: -8.0, 0.5: 8.0, 2.0: 9.0}  # rate: force
ELEMENTS = [
    ph.Spring("ground", "b.C", at=(0.3, 1.4, 0.0), stiffness=70.0, length=0.6, name="spring"),
    ph.Spring("a.P", "b.C", stiffness=STOP, length=0.5, name="stop"),
    ph.Damper("ground", "b.C", at=(-0.5, 0.2, 0.0), damping=RUBBING, name="rubbing"),
    ph.JointSpring("j", stiffness=12.0, rest=0.3, name="joint spring"),
    ph.JointDamper("j", damping=1.5, name="joint damper"),
    ph.Bushing("ground", "b.P", stiffness=(50.0,) * 6, damping=(1.0,) * 6, at=(1.0, 0.3, 0.0), name="bushing"),
    ph.Force("b.C", along=(3, 4, 0), name="force"),
    ph.Torque("a.C", about=(0, 0, 2), name="torque"),
    ph.Load("a", along=(0, 1, 0), axes="body", name="load"),
]
INPUTS = {"force": lambda t: 30 * np.sin(40 * t), "torque": 4.0, "load": (np.array([0.0, 1.0]), np.array([0.0, 90.0]))}
RIGID = ph.RigidBody(2.5, np.diag([0.4, 0.5, 0.6]), center=(0.1, -0.2, 0.0), ports={"C": (0.5, 0.2, 0.0)}).discretise()
BOTH = pytest.mark.parametrize("plane", [None, "xy"], ids=["space", "plane"])
MOTORS = ("effort", "rate", "pin")


def pair(second: str, plane: str | None, motor: str) -> tuple[ph.System, dict]:
    """Two bodies on a hinge, under gravity; the first turned by an effort or at a rate, or led by a pin."""
    zoo = bodies() | {"rigid body": RIGID}
    parts = {"a": zoo["beam"], "b": zoo[second]}
    first = ph.Drive("ground", "a.P", name="m") if motor == "pin" else ph.Revolute("ground", "a.P", name="m")
    hinge = ph.Revolute("a.C", "b.P", name="j")
    system = ph.connect(parts, [first, hinge, *ELEMENTS], gravity=(0.7, -9.81, 0.0 if plane else 1.3), plane=plane)
    own = {
        "effort": lambda t: 20 * np.cos(9 * t),
        "rate": lambda t: 3 * np.sin(30 * t),
        "pin": lambda t: np.array([1.0, -2.0, 0.5])[: 2 if plane else 3] * np.sin(30 * t),
    }
    wrench = np.arange(1.0, 4.0 if plane else 7.0)
    u = {"m": own[motor], "j": lambda t: 5 * np.sin(70 * t), "b.C": lambda t: wrench * np.cos(20 * t), **INPUTS}
    return ph.drive(system, "m") if motor == "rate" else system, u


def run(system: ph.System, u: dict, t_end: float = 0.08, dt: float = 2e-3, **options) -> ph.Result:
    state = ph.place(system, {"a.r_P": np.zeros(2 if system.plane else 3), "j.angle": 0.4})
    return ph.simulate(system, ph.set_moving(system, state, u=u), t_end, dt=dt, u=u, **options)


@pytest.mark.parametrize("motor", MOTORS)
@pytest.mark.parametrize(
    ("second", "plane"),
    [(b, p) for b in ("damped beam", "rigid body", "tapered beam with masses") for p in (None, "xy")]
    + [("cloud of masses", None)],
)
def test_the_ledger_closes(second, plane, motor):
    system, u = pair(second, plane, motor)
    result = run(system, u)
    ledger = ph.energy_ledger(result)
    assert ledger.relative < 1e-12
    assert set(ledger.supplied) == set(u)
    assert {"spring", "stop", "joint spring", "bushing", "a", "b"} == set(ledger.stored)
    damped = {"b"} if second in ("damped beam", "cloud of masses") else set()
    assert set(ledger.dissipated) == {"rubbing", "joint damper", "bushing"} | damped
    H = [ph.energy(system, result.state(k)) for k in (0, 7, -1)]
    np.testing.assert_allclose(ledger.energy[[0, 7, -1]], H, rtol=1e-11)
    assert all(np.any(np.abs(line) > 1e-9) for line in ledger.supplied.values())


@BOTH
@pytest.mark.parametrize("motor", MOTORS)
def test_joints_that_are_not_driven_only_pass_energy_on(plane, motor):
    ledger = ph.energy_ledger(run(*pair("damped beam", plane, motor)))
    largest = np.abs(ledger.exchanged["j"]).max()
    assert set(ledger.exchanged) == {"m", "j"}
    assert largest > 1e-3
    assert np.abs(ledger.exchanged["j"].sum(axis=1)).max() < 1e-12 * largest
    if motor == "effort":
        assert np.abs(ledger.exchanged["m"]).max() < 1e-12 * largest
    else:
        np.testing.assert_array_equal(ledger.exchanged["m"].sum(axis=1), ledger.supplied["m"])


@BOTH
def test_what_is_dissipated_never_comes_back(plane):
    ledger = ph.energy_ledger(run(*pair("damped beam", plane, "effort")))
    for name, line in ledger.dissipated.items():
        assert np.diff(line).min() >= -1e-12 * np.abs(ledger.energy).max(), name
        assert line[-1] > 0.0, name


def integral(t, power):
    """∫ power dt up to each time, by trapezoids."""
    return np.append(0.0, np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(t)))


@BOTH
@pytest.mark.parametrize("motor", MOTORS)
def test_works_are_integrals_of_the_powers_of_the_equations(plane, motor):
    """Ḣ = yᵀu − zᵀR z with y = Bᵀz + B_λᵀλ, port by port, from states and multipliers alone."""
    system, u = pair("rigid body", plane, motor)
    fine = run(system, u, t_end=0.02, dt=2e-4)
    counted, stored = ph.energy_ledger(fine), ph.energy_ledger(replace(fine, accounts=None))
    scale = max(np.abs(line).max() for line in [*counted.supplied.values(), *counted.stored.values()])
    powers, losses, inputs = [], [], Inputs(system, u)
    for k, t in enumerate(fine.t):
        at = ph.terms(system, fine.state(k))
        powers.append((at.B.T @ at.z + at.B_lam.T @ fine.lam[k]) * inputs.at(t))
        losses.append(at.z @ (at.R @ at.z))
    assert set(counted.supplied) == set(u)
    for name, line in counted.supplied.items():
        power = np.array(powers)[:, system.ports[name]].sum(axis=1)
        np.testing.assert_allclose(integral(fine.t, power), line, atol=2e-3 * scale, err_msg=name)
    lost = sum(counted.dissipated.values())
    np.testing.assert_allclose(integral(fine.t, np.array(losses)), lost, atol=2e-3 * scale)
    assert set(stored.stored) == set(counted.stored)
    for name, line in stored.stored.items():
        np.testing.assert_allclose(line, counted.stored[name], atol=1e-9 * scale, err_msg=name)
    assert "no energy accounts" in stored.note and not stored.supplied


def test_the_ledger_closes_at_given_times_and_for_the_composition():
    system, u = pair("rigid body", "xy", "rate")
    ledger = ph.energy_ledger(run(system, u, output=[0.0, 0.0133, 0.05]))
    assert len(ledger.t) == 3
    assert ledger.relative < 1e-12
    lossless = ph.connect({"a": bodies()["beam"], "b": bodies()["beam"]}, _hinges(), plane="xy")
    assert ph.energy_ledger(run(lossless, {"j": 3.0}, scheme=ph.Composition4())).relative < 1e-10


def _hinges() -> list:
    return [ph.Revolute("ground", "a.P", name="m"), ph.Revolute("a.C", "b.P", name="j")]


def test_a_body_and_a_spring_of_one_name_stay_two_lines():
    system = ph.connect(
        {"a": bodies()["rigid body"]},
        [ph.Revolute("ground", "a.P", name="m"), ph.JointSpring("m", stiffness=3.0, name="a")],
        plane="xy",
    )
    ledger = ph.energy_ledger(ph.simulate(system, ph.place(system, {"m.angle": 0.5}), 0.05, dt=1e-3))
    assert set(ledger.stored) == {"a", "a (element)"}
    assert ledger.relative < 1e-13


def test_the_ledger_as_text_names_all_its_lines():
    ledger = ph.energy_ledger(run(*pair("damped beam", "xy", "rate")))
    said = str(ledger)
    for name in (*ledger.stored, *ledger.supplied, *ledger.dissipated, "residual", "H − H(0)"):
        assert name in said


def test_only_results_have_a_ledger():
    with raises(ph.errors.InputError, "str"):
        ph.energy_ledger("run")


# --- where nothing moves ---------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e3])
@pytest.mark.parametrize("held", ["welded", "locked"])
def test_a_mechanism_that_cannot_move_misses_nothing_to_speak_of(held, unit, plane):
    """Its energies are round-off of what its joints carry, 1e-19 J here: one beside the other was 1. In any unit of length."""
    J = unit**2 * np.diag([0.01, 0.1, 0.1])
    bar = ph.RigidBody(1.0, J, center=(0.25 * unit, 0, 0), ports={"C": (0.5 * unit, 0, 0)}).discretise()
    joint = {"welded": ph.Weld, "locked": ph.Revolute}[held]("ground", "a.P", name="m")
    falling = (0.0, -9.81 * unit if held == "welded" else 0.0, 0.0)
    system = ph.connect(
        {"a": bar}, [joint, ph.Torque("a.C", about=(0, 0, 1), name="tau")], gravity=falling, plane=plane
    )
    system = ph.lock(system, "m") if held == "locked" else system
    u = {"tau": 2.0 * unit**2 if held == "locked" else 0.0}
    ledger = ph.energy_ledger(ph.simulate(system, ph.place(system), 0.1, dt=1e-3, u=u))
    assert np.abs(ledger.residual).max() < 1e-17 * unit**2
    assert 0.0 < ledger.relative < 1e-9
    assert ledger.carried == pytest.approx(unit**2 * (2.0 if held == "locked" else 9.81 * (0.5 + 0.25)), rel=0.5)


def test_what_joints_carry_does_not_count_where_something_moves():
    system, u = pair("rigid body", "xy", "effort")
    ledger = ph.energy_ledger(run(system, u))
    assert ledger.carried > 0.0
    assert replace(ledger, carried=0.0).relative == ledger.relative
