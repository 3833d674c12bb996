"""Sampled controllers come to the continuous ones at first order; controllers in the step of the plant at second."""

import numpy as np
import pytest
from control_zoo import two_masses, wheel

import phloat as ph
from phloat.control.feedback import lqg
from phloat.control.optimal import kalman, lqr
from phloat.control.passive import passive_pid
from phloat.control.sampled import Sampled

PD = passive_pid("pin", damping=0.4, stiffness=20.0, inertia=0.05, filter=0.02)


def rate(errors):
    return np.log2(np.array(errors[:-1]) / errors[1:])


def test_a_sampled_controller_comes_to_the_continuous_one_at_first_order():
    system = wheel()
    start = ph.place(system, {"pin.angle": 1.0})
    exact = ph.simulate(system, start, 0.4, dt=5e-4, controller=PD)["pin.angle"][-1]
    errors = [
        abs(ph.simulate(system, start, 0.4, dt=T / 2, controller=Sampled(PD, every=T))["pin.angle"][-1] - exact)
        for T in (8e-3, 4e-3, 2e-3)
    ]
    assert np.abs(rate(errors) - 1.0).max() < 0.15


def test_a_passive_controller_in_the_step_is_of_second_order():
    system = wheel()
    start = ph.place(system, {"pin.angle": 1.0})
    exact = ph.simulate(system, start, 0.4, dt=5e-4, controller=PD)["pin.angle"][-1]
    errors = [
        abs(ph.simulate(system, start, 0.4, dt=h, controller=PD)["pin.angle"][-1] - exact) for h in (2e-2, 1e-2, 5e-3)
    ]
    assert np.abs(rate(errors) - 2.0).max() < 0.15


@pytest.mark.parametrize("measured", ["rate", "position"])
def test_output_feedback_in_the_step_is_of_second_order(measured):
    plant = two_masses(1.0, 0.5, 40.0, c=0.1)
    regulator = lqr(plant, 0.1, position={"push": 5.0})
    noise = {"rate": {"push": 1e-2}} if measured == "rate" else {}
    control = lqg(regulator, kalman(plant, position={"push": 1e-2}, disturbance=1.0, **noise), target={"push": 1.0})
    steps = (2e-2, 1e-2, 5e-3, 6.25e-4)
    ends = [ph.simulate(plant, None, 1.0, dt=h, controller=control).e[-1] for h in steps]
    errors = [float(np.abs(e - ends[-1]).max()) for e in ends[:-1]]
    assert np.abs(rate(errors) - 2.0).max() < 0.2
