"""Laws written as functions: the same in the kernel, in Python, in the twin and in a saved run."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pytest
from laws_zoo import HuntCrossley
from twin_zoo import apart

import phloat as ph
from phloat import twin
from phloat.joints.laws import mean_effort
from phloat.joints.rows import FIRST, INERTIAL, SECOND, Row
from phloat.joints.scalar import exp, fabs, sqrt, where


@dataclass(frozen=True)
class Progressive(ph.JointLaw):
    """k x + k₃ x³."""

    k: float = field(kw_only=True)
    k_3: float = field(kw_only=True)

    @staticmethod
    def spring(x, k, k_3):
        return k * x + k_3 * x**3, k + 3 * k_3 * x**2, 0.5 * k * x**2 + 0.25 * k_3 * x**4


@dataclass(frozen=True)
class Stop(ph.JointLaw):
    """A stop beyond a free play, with a damper that grows with the rate."""

    k: float = field(kw_only=True)
    play: float = field(kw_only=True)
    c: float = field(kw_only=True)

    @staticmethod
    def spring(x, k, play, c):
        over = where(fabs(x) > play, fabs(x) - play, 0.0)
        return where(x > 0.0, k * over, -k * over), where(over > 0.0, k, 0.0), 0.5 * k * over * over

    @staticmethod
    def damper(x, v, k, play, c):
        return c * v * fabs(v), 2.0 * c * fabs(v)


@dataclass(frozen=True)
class Twisted(ph.PortLaw):
    """A spring of your own along a row of your own: k p with p = d_A1 · d_B3 − d_A3 · d_B1, twice the sine of a turn about y."""

    k: float = field(kw_only=True)
    row: ClassVar[Row] = Row("twice the sine about y", ((1.0, FIRST, SECOND + 2), (-1.0, FIRST + 2, SECOND)))

    @staticmethod
    def spring(x, k):
        return k * x, k, 0.5 * k * x * x


@dataclass(frozen=True)
class Drag(ph.PortLaw):
    """c v (1 + v²) along e_x: a row with a rate and no gap."""

    c: float = field(default=0.7, kw_only=True)
    row: ClassVar[Row] = Row("v_x", ((1.0, INERTIAL, 0),), "velocity")

    @staticmethod
    def damper(x, v, c):
        return c * v * (1.0 + v * v), c * (1.0 + 3.0 * v * v)


@dataclass(frozen=True)
class DragOfFirst(Drag):
    """The same along an axis that turns with the first body."""

    row: ClassVar[Row] = Row("along d_A1", ((1.0, FIRST, 0),), "velocity")


@dataclass(frozen=True)
class DragOfSecond(Drag):
    """The same along an axis of the section of the second body."""

    row: ClassVar[Row] = Row("along d_B", ((0.6, SECOND, 0), (0.8, SECOND + 1, 0)), "velocity")


@dataclass(frozen=True)
class DragOfSpin(Drag):
    """The same against a relative angular velocity, about an axis of the section of the second body."""

    row: ClassVar[Row] = Row("about d_B3", ((1.0, SECOND + 2, 0),), "spin")


def pair(*laws, plane=None):
    body = ph.RigidBody(
        1.2, np.diag([0.1, 0.2, 0.25]), center=(0.4, 0.1, 0.05), ports={"C": (1.0, 0.0, 0.0)}
    ).discretise()
    joints = [ph.Revolute("ground", "a.P", name="h"), ph.Revolute("a.C", "b.P", name="e")]
    return ph.connect({"a": body, "b": body}, [*joints, *laws], gravity=(0.5, -9.81, 0.0), plane=plane)


CASES = {
    "progressive": (Progressive("e", k=3.0, k_3=8.0),),
    "stop": (Stop("e", k=400.0, play=0.2, c=0.05),),
    "friction": (ph.JointFriction("e", effort=0.4, speed=0.05),),
    "several": (
        Progressive("h", k=3.0, k_3=8.0),
        Stop("e", k=400.0, play=0.2, c=0.05, name="s"),
        ph.JointDamper("e", damping=0.1),
    ),
    "contact": (HuntCrossley("e", k=4e3, limit=0.2, a=0.6),),
    "velocities": (
        Drag("ground", "b.C"),
        *(kind("a.C", "b.C", name=kind.__name__) for kind in (DragOfFirst, DragOfSecond, DragOfSpin)),
    ),
    "own row": (Twisted("ground", "b.C", k=2.0),),
}


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("case", [name for name in CASES if name != "own row"])
def test_energy_is_accounted_for_at_any_step(case, plane):
    system = pair(*CASES[case], plane=plane)
    for dt in (1e-3, 2e-2):
        result = ph.simulate(system, ph.place(system, {"h.angle": 0.4, "e.angle": 0.3}), 1.0, dt=dt)
        assert ph.energy_ledger(result).relative < 1e-12


def test_a_row_and_a_law_of_ones_own_keep_energy_in_space():
    system = pair(*CASES["own row"])
    start = ph.place(system, {"h.angle": 0.4})
    result = ph.simulate(system, start, 1.0, dt=1e-3)
    assert ph.energy_ledger(result).relative < 1e-12
    assert ph.effort_defect(system, result.state()) < 1e-9


@pytest.mark.parametrize("case", CASES)
def test_efforts_are_the_gradient_of_the_energy(case):
    system = pair(*CASES[case])
    state = ph.set_moving(system, ph.place(system, {"h.angle": 0.4, "e.angle": 0.3}), {"e.angle_rate": 0.7})
    assert ph.effort_defect(system, state) < 1e-8
    assert abs(ph.power_balance(system, state).relative) < 1e-12


@pytest.mark.parametrize("case", ["progressive", "stop", "friction", "several", "contact", "velocities"])
def test_the_twin_moves_as_the_kernel(case):
    system = pair(*CASES[case], plane="xy")
    start = ph.place(system, {"h.angle": 0.4, "e.angle": 0.3})
    result = ph.simulate(system, start, 0.2, dt=1e-3)
    motion = twin.simulate(twin.exported(system, start, 0.2, dt=1e-3))
    assert max(apart(system, motion, result).values()) < 1e-11
    stored = sum(line[-1] for line in ph.energy_ledger(result).stored.values())
    assert float(motion.energy()[-1]) == pytest.approx(stored, rel=1e-10)


def test_the_twin_knows_rates_of_ports_on_bent_beams_in_space():
    beam = ph.Beam(1.0, ph.Rectangle(0.05, 0.02), ph.Material(E=1e8, rho=1000.0, nu=0.3)).discretise(2)
    joints = [ph.Spherical("ground", "a.P"), ph.Spherical("a.C", "b.P")]
    system = ph.connect({"a": beam, "b": beam}, [*joints, *CASES["velocities"]], gravity=(0.5, -9.81, 0.3))
    start = ph.set_moving(system, ph.place(system), {"a.omega": (0.5, 1.0, 2.0), "b.omega": (0.3, -2.0, 1.0)})
    result = ph.simulate(system, start, 0.02, dt=1e-3)
    assert ph.energy_ledger(result).relative < 1e-12
    motion = twin.simulate(twin.exported(system, start, 0.02, dt=1e-3))
    assert max(apart(system, motion, result).values()) < 1e-11


def test_other_schemes_and_a_saved_run_know_the_law(tmp_path):
    system = pair(*CASES["several"], plane="xy")
    start = ph.place(system, {"h.angle": 0.4, "e.angle": 0.3})
    fine = ph.simulate(system, start, 0.3, dt=1e-4, output=3000)
    other = ph.simulate(system, start, 0.3, dt=1e-2, scheme=ph.RadauIIA(rtol=1e-8))
    np.testing.assert_allclose(other["b.r_P"][-1], fine["b.r_P"][-1], atol=1e-5)
    ph.io.save_result(fine, tmp_path / "run")
    again = ph.io.load_result(tmp_path / "run")
    assert again.system.elements["h.law"].recipe == CASES["several"][0]
    np.testing.assert_array_equal(again["b.r_P"], fine["b.r_P"])


def test_numbers_of_a_law_are_parameters():
    system = pair(*CASES["progressive"])
    table = ph.parameters(system)
    assert {"e.law.k", "e.law.k_3"} <= set(table)
    stiff = ph.with_parameters(system, {"e.law.k": 30.0})
    assert stiff.elements["e.law"].laws[0].slope(0.0) == 30.0


def test_small_motion_feels_the_slopes():
    """A damped pendulum on a progressive spring and friction, about an equilibrium: poles by hand."""
    arm = ph.RigidBody(2.0, 0.3 * np.eye(3)).discretise()
    laws = [Progressive("h", k=5.0, k_3=7.0), ph.JointFriction("h", effort=0.2, speed=0.5, name="f")]
    system = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P", name="h"), *laws], plane="xy")
    poles = ph.poles(ph.linearise(system, ph.place(system)))
    pole = poles[np.argmax(poles.imag)]  # of a pair
    assert (-2 * pole.real, abs(pole) ** 2) == pytest.approx((0.2 / 0.5 / 0.3, 5.0 / 0.3), rel=1e-9)


def test_a_mean_effort_is_the_slope_of_the_energy_between_two_places():
    def spring(x, a):
        return exp(a * x), a * exp(a * x), exp(a * x) / a

    for x0, x1 in ((0.1, 0.1), (0.1, 0.1 + 1e-9), (0.1, 2.0), (3.0, -2.0)):
        mean, _, energy = mean_effort(spring, x0, x1, 1.7)
        exact = spring(x0, 1.7)[0] * (np.expm1(1.7 * (x1 - x0)) / (1.7 * (x1 - x0)) if x1 != x0 else 1.0)
        assert mean == pytest.approx(exact, rel=1e-12)
        assert energy == spring(x1, 1.7)[2]


def test_functions_that_contradict_themselves_are_refused():
    @dataclass(frozen=True)
    class Wrong(ph.JointLaw):
        k: float = field(kw_only=True)

        @staticmethod
        def spring(x, k):
            return k * x, 2.0 * k, 0.5 * k * x * x

    with pytest.raises(ph.errors.InputError, match="slope of the spring"):
        Wrong("e", k=3.0)

    @dataclass(frozen=True)
    class Pushing(ph.JointLaw):
        c: float = field(kw_only=True)

        @staticmethod
        def damper(x, v, c):
            return -c * v, -c

    with pytest.raises(ph.errors.InputError, match="gives energy"):
        Pushing("e", c=3.0)

    @dataclass(frozen=True)
    class PushingBeyond(ph.JointLaw):
        c: float = field(kw_only=True)

        @staticmethod
        def damper(x, v, c):
            return where(x > 2.0, -c, c) * v, where(x > 2.0, -c, c)

    with pytest.raises(ph.errors.InputError, match="gives energy"):
        PushingBeyond("e", c=3.0)
    with pytest.raises(ph.errors.InputError, match="speed"):
        ph.JointFriction("e", effort=1.0, speed=0.0)
    with pytest.raises(ph.errors.InputError, match="k_3"):
        replace(CASES["progressive"][0], k_3=np.nan)


@pytest.mark.parametrize("play", [0.1234, 0.12345, 0.390383])
def test_a_corner_at_a_probe_is_no_wrong_slope(play):
    Stop("e", k=300.0, play=play, c=0.1)


def test_branches_that_are_not_taken_do_no_harm():
    @dataclass(frozen=True)
    class Rooted(ph.JointLaw):
        k: float = field(kw_only=True)

        @staticmethod
        def spring(x, k):
            root = where(x > 0.0, sqrt(x), 0.0)
            return k * x * root, 1.5 * k * root, 0.4 * k * x * x * root

    assert Rooted("e", k=3.0).law().pull(-0.1) == 0.0


def test_a_spring_needs_a_row_with_a_gap():
    @dataclass(frozen=True)
    class Elastic(DragOfSpin):
        @staticmethod
        def spring(x, c):
            return c * x, c, 0.5 * c * x * x

    with pytest.raises(ph.errors.InputError, match=r"keeper.*about d_B3"):
        Elastic("ground", "b.C", name="keeper")


def test_functions_of_a_law_take_the_coordinate_the_rate_and_the_parameters():
    class OfRate(Drag):
        @staticmethod
        def damper(v, c):
            return c * v, c

    class NoParameter(ph.JointLaw):
        @staticmethod
        def spring(x, k):
            return k * x, k, 0.5 * k * x * x

    with pytest.raises(ph.errors.InputError, match=r"'OfRate'.*damper\(x, v, c\)"):
        OfRate("ground", "b.C")
    with pytest.raises(ph.errors.InputError, match=r"'NoParameter'.*spring\(x\)"):
        NoParameter("e")


def test_laws_of_one_name_do_not_meet(tmp_path):
    """Two classes of one name keep their own functions; a file that names them cannot be read, and says so."""

    def doubled(factor):
        @dataclass(frozen=True)
        class Doubled(ph.JointLaw):
            k: float = field(kw_only=True)

            @staticmethod
            def spring(x, k):
                return factor * k * x, factor * k + 0.0 * x, 0.5 * factor * k * x * x

        return Doubled

    one, two = doubled(1.0), doubled(2.0)
    two.__qualname__ = "other"
    for law, slope in ((one("e", k=3.0), 3.0), (two("e", k=3.0), 6.0), (one("e", k=3.0), 3.0)):
        assert pair(law).elements["e.law"].laws[0].slope(0.1) == slope
    ph.io.save_model(pair(one("e", k=3.0)), tmp_path / "model.json")
    with pytest.raises(ph.errors.FileError, match="doubled"):
        ph.io.load_model(tmp_path / "model.json")
