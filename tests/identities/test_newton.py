"""Where Newton's method stops: at round-off, or where it is told to; a joint whose ports have no length at all; and NaN that
must not stay."""

import crank_slider as example
import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.errors import InputError
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.kernel import tables as t
from phloat.motion.run.driver import run_to_end
from phloat.motion.run.kernel_run import KernelRun
from phloat.motion.run.task import Task
from phloat.motion.schemes.midpoint import FixedSteps

STEEL = ph.Material(E=2e11, rho=7800.0, nu=0.3)


def run(**options):
    system = example.crank_slider(example.rod.discretise(2))
    u = {"crank pin": example.pin}
    state = ph.set_moving(system, ph.place(system, {"rod.r_P": (example.radius, 0.0)}), u=u)
    return ph.simulate(system, state, 0.02, dt=4e-5, u=u, scheme=ph.Midpoint(**options))


def test_a_loosened_newton_keeps_energy_to_its_tolerance():
    tight, loose = run(), run(newton=1e-8)
    assert loose.info["iterations"] < 0.9 * tight.info["iterations"]
    assert ph.energy_ledger(tight).relative < 1e-12 < ph.energy_ledger(loose).relative < 1e-6
    bent = tight.displacement("rod", s=0.5)[:, 1]
    assert np.abs(loose.displacement("rod", s=0.5)[:, 1] - bent).max() < 1e-5 * np.abs(bent).max()


@pytest.mark.parametrize("newton", [0.0, -1e-8, 0.1, np.nan])
def test_a_tolerance_that_solves_nothing_is_refused(newton):
    with raises(InputError, "newton"):
        ph.Midpoint(newton=newton)


def test_a_crank_whose_mass_centre_is_its_pin_at_the_origin():
    """Neither port has an arm, and both stand at the origin: there is no length to measure the gap by."""
    crank = ph.RigidBody(0.1, 1e-3 * np.eye(3), ports={"C": (0.15, 0.0, 0.0)}).discretise()
    rod = ph.Beam(0.3, ph.Circle(6e-3), STEEL).discretise(2)
    joints = [ph.Revolute("ground", "crank.P", name="motor"), ph.Revolute("crank.C", "rod.P", name="pin")]
    system = ph.drive(ph.connect({"crank": crank, "rod": rod}, joints, plane="xy"), "motor")
    state = ph.set_moving(system, ph.place(system, {}), u={"motor": 20.0})
    result = ph.simulate(system, state, 0.05, dt=1e-3, u={"motor": 20.0})
    assert not result.info["halved"]
    assert ph.energy_ledger(result).relative < 1e-11
    assert result["motor.angle"][-1] == pytest.approx(1.0, abs=1e-12)


def test_a_correction_that_was_no_number_leaves_nothing_behind():
    """Rows of unknowns are padded; a step that failed with NaN had left it in the padding, and all halves of it failed too."""
    arm = ph.Beam(0.4, ph.Rectangle(0.01, 0.004), STEEL).discretise(1)
    system = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P")], gravity=(0.0, -9.81, 0.0))
    states = []
    for poison in (False, True):
        runner = KernelRun(Task(system, ph.place(system), 0.0, 0.01, 1e-3, Inputs(system)))
        for body in runner.packed.model.bodies:
            assert body[t.WIDE] > body[t.SIZE]
            if poison:
                runner.packed.w[body[t.W_X] + body[t.SIZE] : body[t.W_X] + body[t.WIDE]] = np.nan
        run_to_end(FixedSteps(runner, 1e-3))
        assert not runner.halvings
        states.append(runner.state().e)
    assert np.array_equal(*states)
