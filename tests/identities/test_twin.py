"""The twin is the kernel: every joint and body, drives, springs, inputs; its energy balance; what travels; what it compiles."""

import subprocess
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from motion_zoo import IN_PLANE, IN_SPACE, KINDS, PAPER
from twin_zoo import apart, runs_apart, side_by_side

import phloat as ph
from phloat.twin.export import exported
from phloat.twin.model import load_model
from phloat.twin.run import marched, simulate

STEEL = ph.Material(E=2e11, rho=7800.0, nu=0.3)


def both(system, state, steps, h, **options):
    result = ph.simulate(system, state, steps * h, dt=h, **options)
    assert not result.info["halved"]
    return simulate(exported(system, state, steps * h, dt=h, **options)), result


@pytest.mark.most
@pytest.mark.parametrize("plane", [None, "xy"])
def test_every_joint_moves_as_in_the_kernel(plane):
    cases = [(joint, kind) for joint in (IN_PLANE if plane else IN_SPACE) for kind in KINDS]
    cases.append(("revolute", PAPER))
    system, state = side_by_side(cases, plane)
    motion, result = both(system, state, 100, 1e-4)
    for quantity, difference in apart(system, motion, result).items():
        assert difference < 1e-11, quantity
    balance = np.asarray(motion.balance())
    assert np.ptp(balance) < 1e-12 * float(jnp.abs(motion.energy()).max())


def test_a_damped_ball_joint_moves_as_in_the_kernel():
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.01), replace(STEEL, E=2e7)).discretise(1)
    joints = [ph.Spherical("ground", "a.P", name="one"), ph.Spherical("a.C", "b.P", name="two")]
    joints += [ph.JointDamper("one", damping=0.2), ph.JointDamper("two", damping=0.1)]
    system = ph.connect({"a": link, "b": link}, joints, gravity=(0.0, -9.81, 0.3))
    state = ph.set_moving(system, ph.place(system), {"a.omega": (1.0, 2.0, 3.0)})
    motion, result = both(system, state, 50, 1e-3)
    for quantity, difference in apart(system, motion, result).items():
        assert difference < 1e-11, quantity


@pytest.mark.long
def test_plates_and_solids_move_as_in_the_kernel():
    """To 1e-11 as all others; rates of steps of 10 µs only as far as they are known.

    A rate is a difference of places over a step: their round-off over h is in it (measured: it grows as 1/h and is the same
    however far the steps are solved). How much that is the kernel itself says, started with every number one round-off aside, in
    four ways: one alone may be lucky.
    """
    steps, h = 100, 1e-5
    system, state = side_by_side([(joint, kind) for joint in IN_SPACE for kind in ("plate", "solid")], None)
    motion, result = both(system, state, steps, h)
    aside = []
    for seed in range(4):
        towards = np.random.default_rng(seed).choice([-np.inf, np.inf], state.e.shape)
        aside.append(ph.simulate(system, replace(state, e=np.nextafter(state.e, towards)), steps * h, dt=h))
    for quantity, difference in apart(system, motion, result).items():
        rate = quantity in ("omega", "eta_dot")
        known = max(runs_apart(system, one, result, quantity) for one in aside) if rate else 0.0
        assert known < 1e-10, quantity
        assert difference < max(1e-11, 2.0 * known), quantity


def machine():
    """A driven crank, a spring and a damper with tables, a joint spring, a torque, a force and a wrench in body axes."""
    arm = ph.Beam(0.6, ph.Rectangle(0.01, 0.02), STEEL, damping=ph.KelvinVoigt(1e-4)).discretise(2)
    mass = ph.RigidBody(
        0.4, np.diag([1e-3, 2e-3, 2.5e-3]), center=(0.02, 0.0, 0.0), ports={"C": (0.1, 0.0, 0.0)}
    ).discretise()
    system = ph.connect(
        {"arm": arm, "mass": mass},
        joints=[
            ph.Revolute("ground", "arm.P", name="motor"),
            ph.Revolute("arm.C", "mass.P", name="elbow"),
            ph.Spring(
                "ground",
                "mass.C",
                at=(0.3, -0.4, 0.1),
                stiffness={-0.2: -8.0, 0.0: 0.0, 0.1: 6.0, 0.4: 40.0},
                length=0.5,
                name="spring",
            ),
            ph.Damper("ground", "mass.C", at=(0.9, 0.5, -0.1), damping=3.0, name="damper"),
            ph.JointSpring("elbow", stiffness=2.0, rest=0.2),
            ph.Force("mass.C", along=(0.0, 1.0, 0.2), axes="body", name="thrust"),
        ],
        gravity=(0.0, -9.81, 0.0),
    )
    return ph.drive(system, "motor")


def test_drives_springs_tables_and_inputs_move_as_in_the_kernel():
    system = machine()
    u = {"motor": lambda t: 3.0 * np.sin(20.0 * t), "thrust": lambda t: 5.0 * np.cos(30.0 * t), "elbow": 0.4}
    state = ph.set_moving(system, ph.place(system, {}), u=u)
    motion, result = both(system, state, 100, 5e-4, u=u)
    towards = np.random.default_rng(0).choice([-np.inf, np.inf], state.e.shape)
    aside = ph.simulate(system, replace(state, e=np.nextafter(state.e, towards)), 0.05, dt=5e-4, u=u)
    for quantity, difference in apart(system, motion, result).items():  # rates are known to their round-off over a step
        known = runs_apart(system, aside, result, quantity) if quantity == "eta_dot" else 0.0
        assert known < 1e-10, quantity
        assert difference < max(1e-11, 2.0 * known), quantity
    assert np.allclose(motion.place("arm.C"), result.position("arm", s=1.0), atol=1e-12, rtol=0.0)


def test_functions_and_turning_bushings_move_as_in_the_kernel():
    """A spring with a corner, a damper by a function, and a bushing that turns by 1.1 rad, from small turns to large ones."""
    block = ph.RigidBody(1.0, np.diag([0.02, 0.03, 0.04]), ports={"C": (0.2, 0.1, 0.0)}).discretise()
    system = ph.connect(
        {"a": block, "b": block},
        [
            ph.Bushing("a.P", "b.P", stiffness=(90.0,) * 3 + (0.4, 0.5, 0.6), damping=(0.01,) * 6, rotation="vector"),
            ph.Spring(
                *("ground", "a.C"),
                stiffness=lambda x: 20 * np.sinh(x) + 300 * max(0.0, x - 0.03),
                over=(-1, 2),
                length=0.2,
            ),
            ph.Damper("ground", "b.C", at=(0.5, 0.6, 0.1), damping=lambda v: v * abs(v), over=(-9, 9)),
        ],
    )
    state = ph.set_moving(system, ph.place(system), {"a.omega": (1.0, -3.0, 2.0), "b.omega": (-2.0, 4.0, 3.0)})
    motion, result = both(system, state, 80, 5e-3)
    for quantity, difference in apart(system, motion, result).items():
        assert difference < 1e-10, quantity
    assert 1.0 < result.info["ranges"]["a.P-b.P.bushing"]["turn"][0] < 3.0


def test_a_feedback_is_the_controller_of_a_run():
    system = machine()
    state = ph.set_moving(system, ph.place(system, {}))
    turned, steps, h = 0.3, 60, 5e-4

    def law(gains, now):
        return {
            "elbow": gains["kp"] * (turned - now.coordinate("elbow")[..., 0]) - gains["kd"] * now.rate("elbow")[..., 0]
        }

    def controller(t, y):
        return {"elbow": 4.0 * (turned - y["elbow.angle"]) - 0.1 * y["elbow"]}

    result = ph.simulate(system, state, steps * h, dt=h, controller=controller)
    model = exported(system, state, steps * h, dt=h, u={"elbow": 0.0})
    motion = simulate(model, feedback=law, gains={"kp": 4.0, "kd": 0.1})
    towards = np.random.default_rng(0).choice([-np.inf, np.inf], state.e.shape)
    start = replace(state, e=np.nextafter(state.e, towards))
    aside = ph.simulate(system, start, steps * h, dt=h, controller=controller)
    for quantity, difference in apart(system, motion, result).items():  # rates are known to their round-off over a step
        known = runs_apart(system, aside, result, quantity) if quantity == "eta_dot" else 0.0
        assert known < 1e-10, quantity
        assert difference < max(1e-11, 2.0 * known), quantity
    assert np.abs(np.diff(motion.coordinate("elbow")[:, 0])).max() > 1e-4


@pytest.mark.long
def test_renewed_tangents_change_nothing(tmp_path):
    system = machine()
    u = {"motor": lambda t: 3.0 * np.sin(20.0 * t)}
    model = exported(system, ph.set_moving(system, ph.place(system, {}), u=u), 20 * 5e-4, dt=5e-4, u=u)
    model.save(tmp_path / "model.npz")
    every, rarely = simulate(model, every=20), simulate(load_model(tmp_path / "model.npz"), every=20, renew=10)
    for a, b in zip(jax.tree.leaves(every.states["bodies"]), jax.tree.leaves(rarely.states["bodies"]), strict=True):
        assert np.abs(a - b).max(initial=0.0) <= 1e-11 * np.abs(a).max(initial=1.0)


def test_the_program_does_not_grow_with_the_number_of_bodies():
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.005), STEEL).discretise(1)

    def lines(links):
        bodies = {f"l{k}": link for k in range(links)}
        joints = [ph.Revolute("ground" if k == 0 else f"l{k - 1}.C", f"l{k}.P", name=f"j{k}") for k in range(links)]
        system = ph.connect(bodies, joints, gravity=(0.0, -9.81, 0.0), plane="xy")
        arrays = exported(system, ph.place(system, {}), 1e-2, dt=1e-3).arrays
        run = jax.jit(lambda a: marched(a["model"], a["state"], a["inputs"])[0])
        return run.lower(jax.tree.map(jnp.asarray, arrays)).as_text().count("\n")

    assert lines(12) == lines(7)


def test_the_twin_needs_no_more_than_numpy_and_jax():
    forbidden = ("scipy", "numba", "skfem", "phloat.system", "phloat.motion", "phloat.bodies")
    code = (
        "import sys\n"
        "import phloat.twin.run, phloat.twin.model\n"
        f"print([name for name in sys.modules if name.startswith({forbidden!r})])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_a_body_at_rest_without_a_load_stays_there():
    """Its equations have no terms at all to measure a residual by."""
    block = ph.RigidBody(2.0, np.eye(3)).discretise()
    system = ph.connect({"block": block}, [ph.Revolute("ground", "block.P", name="pin")], plane="xy")
    motion = simulate(exported(system, ph.place(system, {}), 0.2, dt=0.1))
    assert np.abs(motion.r_P("block")).max() == 0.0


def test_forces_that_follow_a_bending_section_move_as_in_the_kernel():
    """A force, a torque and a wrench at the end of a beam and a load along it, all in the axes of the sections."""
    arm = ph.Beam(0.6, ph.Rectangle(0.01, 0.004), STEEL, frame="pinned").discretise(2)
    joints = [
        ph.Revolute("ground", "arm.P", axis=(0, 1, 2), name="motor"),
        ph.Force("arm.C", along=(1.0, 2.0, 0.2), axes="body", name="thrust"),
        ph.Torque("arm.C", about=(1.0, -1.0, 0.5), axes="body", name="turn"),
        ph.Load("arm", along=(0.0, 1.0, 0.0), per_length=lambda s: 1.0 + s, axes="body", name="wind"),
        ph.BodyForce("arm", per_volume=lambda x, y, z: (1e4 * x, 2e4, -1e4), name="field"),
    ]
    system = ph.connect({"arm": arm}, joints)
    u = {
        "thrust": lambda t: 9.0 * np.cos(30.0 * t),
        "turn": 0.5,
        "wind": 4.0,
        "field": 3.0,
        "arm.C": (1.0, 2.0, 3.0, 0.1, 0.2, 0.3),
    }
    motion, result = both(system, ph.place(system), 60, 5e-4, u=u)
    for quantity, difference in apart(system, motion, result).items():
        assert difference < 1e-11, quantity
    assert np.abs(arm.port("C").Psi @ result["arm.eta"].T).max() > 0.05
