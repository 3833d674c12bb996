"""Gradients of runs: a closed form, central differences of whole runs, members of families, and how much memory they take."""

import crank_slider as example
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import twin_zoo  # numbers of 64 bits

import phloat as ph
from phloat.twin.batch import ensemble
from phloat.twin.export import exported
from phloat.twin.gradients import Problem, family, float_leaves, gradient, refilled
from phloat.twin.model import load_family
from phloat.twin.run import motion_of

assert twin_zoo.jax.config.values["jax_enable_x64"]
U = {"crank pin": example.pin}


def start(system):
    state = ph.place(system, {"rod.r_P": (example.radius, 0.0)})
    return ph.set_moving(system, state, u=U)


def differences(problem, values, name, step):
    f = [problem.value(values | {name: values[name] * (1 + k * step)}) for k in (-2, -1, 1, 2)]
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * step * values[name])


def test_the_gradient_of_an_oscillator_is_that_of_the_midpoint_rule():
    """x_N = x₀ cos(2N atan(ωh/2)), ω² = k/m."""
    block = ph.RigidBody(2.0, np.diag([1.0, 1.0, 1.0])).discretise()
    rail = ph.Prismatic("ground", "block.P", axis=(1, 0, 0), name="rail")
    system = ph.connect({"block": block}, [rail, ph.JointSpring("rail", stiffness=50.0, name="spring")], plane="xy")
    x_0, steps, h = 0.3, 40, 0.02
    value, slope = gradient(
        *(system, ["spring.stiffness", "block.mass"]),
        start=ph.place(system, {"block.r_P": (x_0, 0.0)}),
        t_end=steps * h,
        dt=h,
        output=lambda motion: motion.r_P("block")[-1, 0],
    )
    omega = np.sqrt(50.0 / 2.0)
    angle = 2 * steps * np.arctan(0.5 * omega * h)
    by_omega = -x_0 * np.sin(angle) * steps * h / (1 + (0.5 * omega * h) ** 2)
    assert value == pytest.approx(x_0 * np.cos(angle), abs=1e-12)
    assert slope["spring.stiffness"] == pytest.approx(by_omega * omega / 100.0, rel=1e-9)
    assert slope["block.mass"] == pytest.approx(-by_omega * omega / 4.0, rel=1e-9)


@pytest.mark.long
def test_the_gradient_of_the_crank_slider_is_that_of_differences():
    system = example.crank_slider(example.rod.discretise(2))
    problem = Problem(
        *(system, start, 60 * 4e-5, 4e-5, lambda motion: 1e6 * jnp.mean(motion.displacement("middle")[:, 1] ** 2)),
        u=U,
        watch={"middle": ("rod", 0.5)},
        every=4,
    )
    there = ph.parameters(system)
    values = {name: there[name] for name in ("rod.material.E", "rod.material.rho", "rod.length", "slider.mass")}
    _, slope = problem.gradient(values)
    for name in values:
        assert slope[name] == pytest.approx(differences(problem, values, name, 3e-4), rel=1e-6), name


def pendulum(elements=2):
    link = ph.Beam(1.0, ph.Rectangle(0.02, 0.02), ph.Material(E=1e9, rho=2700.0), damping=ph.KelvinVoigt(1e-4))
    joints = [ph.Revolute("ground", "upper.P", name="top"), ph.Revolute("upper.C", "lower.P", name="elbow")]
    bodies = {"upper": link.discretise(elements), "lower": link.discretise(elements)}
    return ph.connect(bodies, joints, gravity=(0, -9.81, 0), plane="xy")


def arm():
    """Two flexible links in space on a hinge about the vertical and one about a horizontal axis, with a springy elbow."""
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.01), ph.Material(E=5e9, rho=1500.0, nu=0.3)).discretise(1)
    joints = [
        ph.Revolute("ground", "upper.P", axis=(0, 0, 1), name="base"),
        ph.Revolute("upper.C", "lower.P", axis=(0, 1, 0), name="elbow"),
        ph.JointSpring("elbow", stiffness=3.0, name="spring"),
    ]
    return ph.connect({"upper": link, "lower": link}, joints, gravity=(0, 0, -9.81))


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "tip", "names"),
    [
        (pendulum(), "lower.C", ("upper.material.E", "lower.length", "lower.damping.time", "gravity[1]")),
        (arm(), "lower.C", ("upper.material.E", "lower.section.h", "spring.stiffness", "lower.material.rho")),
    ],
)
def test_the_gradient_of_arms_is_that_of_differences(system, tip, names):
    problem = Problem(
        *(
            system,
            lambda s: ph.place(s, {}),
            0.1,
            1e-3,
            lambda motion: jnp.sum(motion.place(tip)[-1] ** 2 * jnp.array([1.0, 2.0, 3.0])),
        ),
        every=10,
    )
    there = ph.parameters(system)
    values = {name: there[name] for name in names}
    _, slope = problem.gradient(values)
    for name in values:
        step = 0.05 if name.endswith("time") else 3e-4  # a millisecond of damping does little: less would be round-off
        assert slope[name] == pytest.approx(differences(problem, values, name, step), rel=1e-6), name


def test_members_of_a_family_move_as_systems_made_anew(tmp_path):
    system = example.crank_slider(example.rod.discretise(2))
    ranges = {"rod.material.E": (0.15e12, 0.25e12), "slider.mass": (0.025, 0.045)}
    made = family(system, ranges, start, 50 * 4e-5, dt=4e-5, u=U, watch={"middle": ("rod", 0.5)})
    made.save(tmp_path / "family.npz")
    values = np.array([[0.2e12, 0.03], [0.16e12, 0.044], [0.24e12, 0.026]])
    runs = ensemble(
        load_family(tmp_path / "family.npz"), values, lambda m: m.displacement("middle")[-1, 1], batch=2, renew=10
    )
    assert not runs.failed.size
    for row, got in zip(values, runs.outputs, strict=True):
        new = ph.with_parameters(system, dict(zip(ranges, map(float, row), strict=True)))
        result = ph.simulate(new, start(new), 50 * 4e-5, dt=4e-5, u=U)
        assert got == pytest.approx(result.displacement("rod", s=0.5)[-1, 1], abs=1e-12)


@pytest.mark.long
def test_the_memory_of_a_long_gradient_stays_bounded():
    """10⁵ steps take some √1000 times the memory of 100, not 1000 times: read off the compiled program."""
    bob = ph.RigidBody(1.0, np.eye(3), ports={"C": (0.5, 0.0, 0.0)}).discretise()
    system = ph.connect({"bob": bob}, [ph.Revolute("ground", "bob.C", name="pin")], gravity=(0, -9.81, 0), plane="xy")

    def needs(steps):
        model = exported(system, ph.place(system, {}), steps * 1e-3, dt=1e-3)

        def number(leaves, arrays):
            states, _ = motion_of(refilled(arrays, leaves), {}, names=model.names, every=steps // 100, gradients=True)
            return jnp.sum(states["bodies"][0]["r"][-1])

        arrays = jax.tree.map(jnp.asarray, model.arrays)
        made = jax.jit(jax.grad(number)).lower(float_leaves(arrays), arrays).compile()
        return made.memory_analysis().temp_size_in_bytes

    few, many = needs(1000), needs(100_000)
    assert many < 40 * few
