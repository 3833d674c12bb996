"""Controllers that cannot be are told so in a sentence."""

from dataclasses import replace

import numpy as np
import pytest
from control_zoo import LINK, arm, two_masses, wheel
from messages import raises

import phloat as ph
from phloat.control.closed_loop import closed_loop, loop_ledger
from phloat.control.coupling import Wire
from phloat.control.energy_shaping import energy_shaping
from phloat.control.feedback import Feedback, lqg
from phloat.control.input_shaping import shape_input
from phloat.control.optimal import kalman, lqr, passive_observer
from phloat.control.passive import combine_controllers, damping_gain, damping_injection, passive_controller, passive_pid
from phloat.control.sampled import Sampled
from phloat.linear.reduction.modal import modal_basis
from phloat.linear.reduction.projection import project

PLANT = two_masses(1.0, 0.5, 40.0)
PD = passive_pid("pin", damping=0.1, stiffness=1.0)
REGULATOR = lqr(PLANT, 1.0, position={"push": 1.0})


def sloshing() -> ph.LinearPHDAE:
    """Two masses that nothing holds together but a port on one of them: the other is out of reach."""
    free = two_masses(1.0, 1.0, 10.0)
    return ph.append_systems(free, two_masses(1.0, 1.0, 90.0).prefixed("far")).with_ports("push")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: damping_injection("pin", -1.0), "'pin'"),
        (lambda: passive_pid("pin"), "'pin'"),
        (lambda: passive_pid("pin", inertia=1.0), "filter="),
        (lambda: passive_pid("pin", stiffness=np.nan), "'pin'"),
        (lambda: Wire("a", 3), "3"),
        (lambda: Wire("a", "b", gain=0.0), "Wire"),
        (lambda: passive_controller(PLANT, "push"), "'push'"),
        (lambda: passive_controller(PLANT), "'controller'"),
        (lambda: passive_controller(PLANT, Wire("pull", "push")), "'pull'"),
        (lambda: combine_controllers(PD, 3), "3"),
        (lambda: combine_controllers(PD, passive_pid("pin", stiffness=1.0, target=2.0, name="b")), "'pin'"),
        (lambda: closed_loop(PLANT, PD), "'pin'"),
        (lambda: closed_loop(PLANT, 3), "int"),
        (lambda: closed_loop(arm(), REGULATOR), "Regulator"),
        (lambda: closed_loop(arm(), passive_pid("elbow", inertia=1.0, filter=0.1)), "'elbow.control'"),
        (lambda: closed_loop(arm(), passive_pid("upper.C", stiffness=1.0)), "'upper.C'"),
        (lambda: closed_loop(closed_loop(wheel(), PD), PD), "'pin.control.spring'"),
        (lambda: lqr(PLANT, {}), "effort"),
        (lambda: lqr(PLANT, {"pull": 1.0}), "'pull'"),
        (lambda: lqr(PLANT, -1.0), "'push'"),
        (lambda: lqr(PLANT, 1.0, Q=-np.eye(3)), "Q"),
        (lambda: lqr(arm(), 1.0), "System"),
        (lambda: lqr(sloshing(), 1.0), "'push'"),
        (lambda: kalman(PLANT), ""),
        (lambda: kalman(PLANT, rate={"push": 0.0}), "'push'"),
        (lambda: kalman(sloshing(), rate={"push": 1.0}, energy=1.0), "'push'"),
        (lambda: passive_observer(sloshing(), rate={"push": 1.0}), ""),
        (lambda: lqg(REGULATOR, 3), "int"),
        (lambda: lqg(REGULATOR, kalman(two_masses(1, 1, 1), position={"push": 1.0})), "regulator"),
        (lambda: lqg(REGULATOR, kalman(PLANT, rate={"push": 1.0}, energy=1.0)), "push"),
        (lambda: energy_shaping(wheel(), {}, stiffness=1.0, damping=1.0), "target"),
        (lambda: energy_shaping(wheel(), {"pin": 1.0}, stiffness={"pan": 1.0}, damping=1.0), "'pin'"),
        (lambda: energy_shaping(PLANT, {"push": 1.0}, stiffness=1.0, damping=1.0), "LinearPHDAE"),
        (lambda: Sampled(3, every=0.1), "3"),
        (lambda: Sampled(PD, every=0.0), "every"),
        (lambda: Sampled(PD, every=0.1, delay=-1.0), "delay"),
        (lambda: Sampled(PD, every=0.1, saturation={"pin": 0.0}), "'pin'"),
        (lambda: shape_input(3, 1.0), "command"),
        (lambda: shape_input(np.sin, 1.0, "VZ"), "'VZ'"),
        (lambda: shape_input(np.sin, -1.0), "-1"),
        (lambda: shape_input(np.sin, (1.0, 1.2)), "1.2"),
        (lambda: shape_input(np.sin, []), ""),
        (lambda: damping_gain(PLANT, "push", decay=1e6, omega=11.0), "'push'"),
        (lambda: damping_gain(two_masses(1, 1, 10.0, c=2.0), "push", decay=0.1, omega=4.0), "4 rad/s"),
    ],
)
def test_controllers_that_cannot_be(make, name):
    with raises(ph.errors.InputError, name):
        make()


def test_a_spring_too_soft_for_its_load_is_refused():
    system = arm(gravity=(0.0, -9.81, 0.0))
    with raises(ph.errors.InputError, "target"):
        energy_shaping(system, {"shoulder": 1.5, "elbow": 0.0}, stiffness=0.05, damping=0.4)
    energy_shaping(system, {"shoulder": 1.5, "elbow": 0.0}, stiffness=2.0, damping=0.4)


def apart(m_1: float, m_2: float, k: float, c: float = 0.0) -> ph.LinearPHDAE:
    """Pushed at the first mass, looked at on the second."""
    both = two_masses(m_1, m_2, k, c)
    B = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    return replace(both, B=B, B_lam=np.zeros((0, 2)), ports=ph.Layout({"push": (1,), "look": (1,)}, "port"))


def hard(plant: ph.LinearPHDAE, effort: float) -> Feedback:
    regulator = lqr(plant, {"push": effort}, position={"look": 1.0})
    return lqg(regulator, kalman(plant, position={"look": 1e-6}, disturbance={"push": 1.0}))


def test_a_controller_designed_on_too_few_modes_is_refused_on_the_full_plant():
    """The controller of a stiff pair drives the mode of a soft one, which it does not know."""
    control = hard(apart(0.5, 0.5, 1e6, c=1e3), 1e-2)
    with raises(ph.errors.InputError):
        closed_loop(apart(0.5, 0.5, 100.0, c=0.01), control)


def test_a_controller_that_is_unstable_by_itself_is_refused():
    """A reduced flexible link, turned at the hub and looked at from its tip, which first goes the wrong way."""
    joints = [ph.Revolute("ground", "link.P", name="hub"), ph.Force("link.C", along=(0, 1, 0), name="tip")]
    system = ph.connect({"link": LINK.discretise(2)}, joints=joints, plane="xy")
    full = ph.eliminate(ph.linearise(system, ph.place(system)).with_ports("hub", "tip"))
    rom = project(full, modal_basis(full, count=2))
    regulator = lqr(rom, {"hub": 1e-6}, position={"tip": 1.0}, energy=0.0)
    with raises(ph.errors.InputError):
        lqg(regulator, kalman(rom, position={"tip": 1e-8}, disturbance={"hub": 1.0}, energy=1e-9))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"controller": PD, "every": 0.1}, ""),
        ({"controller": PD, "scheme": ph.RadauIIA()}, "'pin.control'"),
        ({"controller": Sampled(PD, every=1e-3)}, "0.01"),
        ({"controller": Sampled(lambda t, y: 3, every=0.1)}, "returned 3"),
        ({"controller": passive_pid("pan", stiffness=1.0)}, "'pan'"),
        ({"controller": passive_pid("wheel.P", stiffness=1.0)}, "'wheel.P'"),
    ],
)
def test_runs_with_controllers_that_cannot_be(options, name):
    system = wheel()
    with raises(ph.errors.InputError, name):
        ph.simulate(system, ph.place(system), 0.1, dt=0.01, **options)


def test_a_controller_that_couples_two_joints_in_a_step_is_refused_on_a_nonlinear_plant():
    spring = ph.LinearPHDAE(
        E=[[1.0]],
        J=[[0.0]],
        B=[[1.0, -1.0]],
        rows=ph.Layout({"s": (1,)}, "row"),
        ports=ph.Layout({"a": (1,), "b": (1,)}, "port"),
        split=0,
    )
    system = arm()
    control = passive_controller(spring, Wire("a", "shoulder"), Wire("b", "elbow"))
    with raises(ph.errors.InputError, "'controller'", "shoulder", "elbow"):
        ph.simulate(system, ph.place(system), 0.1, dt=0.01, controller=control)
    ph.simulate(system, ph.place(system), 0.02, dt=0.01, controller=Sampled(control, every=0.01))


def test_the_ledger_of_a_loop_needs_its_run():
    system = wheel()
    start = ph.place(system, {"pin.angle": 0.1})
    without = ph.simulate(system, start, 0.1, dt=0.01)
    with raises(ph.errors.InputError, "'pin.control'"):
        loop_ledger(without, PD)
    uneven = ph.simulate(system, start, 0.105, dt=0.01, controller=PD)
    with raises(ph.errors.InputError):
        loop_ledger(uneven, PD)
    with raises(ph.errors.InputError, "Result", "int"):
        loop_ledger(without, 3)
