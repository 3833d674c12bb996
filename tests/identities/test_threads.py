"""Threads that share the bodies of a step: the same bits as without them, errors and folders included."""

import numpy as np
import pytest
from messages import raises
from motion_zoo import IN_PLANE, IN_SPACE, KINDS
from twin_zoo import side_by_side

import phloat as ph
from phloat.motion.run import kernel_run
from phloat.motion.run.assembly import assemble_run

STEEL = ph.Material(E=2e11, rho=7800.0, nu=0.3)


def web():
    """Beams in space hung in a row: revolutes, balls and universal joints, a slide with its spring, springs across, a drive."""
    arm = ph.Beam(0.4, ph.Rectangle(0.01, 0.004), STEEL, damping=ph.KelvinVoigt(1e-4)).discretise(2)
    rod = ph.Beam(0.3, ph.Circle(0.004), STEEL, damping=ph.KelvinVoigt(1e-4)).discretise(1)
    kinds = (ph.Revolute, ph.Spherical, ph.Universal)
    joints = [ph.Revolute("ground", "b0.P", name="motor")]
    joints += [kinds[k % 3](f"b{k}.C", f"b{k + 1}.P", name=f"j{k}") for k in range(40)]
    joints += [
        ph.Slide("b40.C", "b41.P", along=(1.0, 0.0, 0.0), name="slide"),
        ph.JointSpring("slide", stiffness=500.0, axis="slide"),
        ph.Spring("b2.C", "b35.C", stiffness=300.0, length=11.5, name="spring"),
        ph.Damper("ground", "b20.C", at=(3.0, -1.0, 0.4), damping=0.5, name="damper"),
    ]
    bodies = {f"b{k}": (arm, rod)[k % 2] for k in range(42)}
    return ph.drive(ph.connect(bodies, joints, gravity=(0.0, -9.81, 0.3)), "motor")


def driven(threads, system=None, **options):
    system = web() if system is None else system
    u = {"motor": lambda t: 3.0 * np.sin(20.0 * t)}
    state = ph.set_moving(system, ph.place(system), u=u)
    return ph.simulate(system, state, 0.04, dt=5e-4, u=u, threads=threads, **options)


def equal(first, second):
    """Whether two runs have the same bits in all that they say."""
    same = np.array_equal(first.t, second.t) and first.info["iterations"] == second.info["iterations"]
    numbers = [(first.e, second.e), (first.lam, second.lam), (first.accounts.works, second.accounts.works)]
    return same and all(np.array_equal(a, b) for a, b in numbers)


@pytest.mark.parametrize("threads", [2, 3, 40])
def test_a_run_has_the_same_bits(threads, monkeypatch):
    begun = []

    def counted(*given, advance=kernel_run.advance):
        begun.append(given[-1])
        return advance(*given)

    monkeypatch.setattr(kernel_run, "advance", counted)
    system = web()
    ranges = len(assemble_run(system, ph.place(system), {}, 0.0).packed.model.ranges)
    assert ranges >= 3
    alone = driven(1, system)
    assert all(begun)
    begun.clear()
    assert equal(alone, driven(threads, system))
    assert begun.count(False) == begun.count(True) * (min(threads, ranges) - 1)


@pytest.mark.parametrize("plane", [None, "xy"])
def test_every_joint_and_body_has_the_same_bits(plane):
    kinds = KINDS if plane else (*KINDS, "plate", "solid")
    cases = [(joint, kind) for joint in (IN_PLANE if plane else IN_SPACE) for kind in kinds]
    system, state = side_by_side(cases, plane)
    alone, shared = (ph.simulate(system, state, 20e-5, dt=1e-5, threads=threads) for threads in (1, 2))
    assert equal(alone, shared)
    first, second = (ph.simulate(system, state, 4e-5, dt=1e-5, scheme=ph.Composition4(), threads=n) for n in (1, 2))
    assert equal(first, second)


def test_adaptive_and_controlled_runs_have_the_same_bits():
    system = web()
    first, second = (driven(n, system, scheme=ph.Midpoint(rtol=1e-5), output=4) for n in (1, 2))
    assert equal(first, second)
    law = {"controller": lambda t, y: {"j0": -0.1 * y["j0"]}}
    assert equal(driven(1, system, **law), driven(2, system, **law))


def test_a_step_that_fails_says_the_same():
    """Too long a step at too high a speed: it is halved, with any number of threads at the same places, and given up there too."""
    arm = ph.Beam(0.4, ph.Rectangle(0.01, 0.004), STEEL).discretise(2)
    joints = [ph.Revolute("ground", "0.P"), *(ph.Revolute(f"{k}.C", f"{k + 1}.P") for k in range(19))]
    system = ph.connect({str(k): arm for k in range(20)}, joints, gravity=(0.0, -9.81, 0.0))
    state = ph.set_moving(system, ph.place(system), {f"{k}.omega": (0.0, 0.0, 30.0 * (-1) ** k) for k in range(20)})
    first, second = (ph.simulate(system, state, 0.1, dt=0.02, threads=n) for n in (1, 2))
    assert first.info["halved"] and first.info["halved"] == second.info["halved"]
    assert equal(first, second)


def test_a_run_goes_on_with_other_threads(tmp_path):
    system = web()
    u = {"motor": lambda t: 3.0 * np.sin(20.0 * t)}
    whole = driven(1, system, save=tmp_path / "whole")
    driven(2, system, save=tmp_path / "parts")
    longer = [
        ph.resume(tmp_path / name, system, u=u, t_end=0.06, threads=n) for name, n in (("whole", 1), ("parts", 3))
    ]
    assert equal(*longer) and np.array_equal(longer[0].e[: len(whole)], whole.e)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "two", None])
def test_wrong_numbers_of_threads_are_said(threads):
    with raises(ph.errors.InputError, "threads"):
        driven(threads)


def test_schemes_that_share_nothing_say_so():
    with raises(ph.errors.InputError, "RadauIIA"):
        driven(2, scheme=ph.RadauIIA())
    loose = ph.connect({"a": ph.RigidBody(1.0, np.eye(3)).discretise()})
    system = ph.linearise(loose, ph.place(loose))
    with raises(ph.errors.InputError, "threads"):
        ph.simulate(system, None, 1.0, dt=0.1, threads=2)
