"""Steps of the twin as graphs of single numbers, and written in C, beside the same steps in JAX."""

import shutil
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import twin_zoo

import phloat as ph
from phloat.twin.batch import ensemble, program
from phloat.twin.gradients import family
from phloat.twin.nodes import Node, ordered
from phloat.twin.run import opening_tangents, take_step
from phloat.twin.scalars import ARITHMETIC
from phloat.twin.steps import ARRAYS, Steps

assert twin_zoo.jax.config.values["jax_enable_x64"]
STEEL = ph.Material(E=2.1e11, rho=7850.0, nu=0.3)
needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")


def evaluated(outputs, inputs, known=None):
    """The numbers of nodes, from those of the inputs."""
    known = dict(known or {})

    def value(a):
        return known[id(a)] if isinstance(a, Node) else a

    def loop(one):
        carried = [value(a) for a in one.starts]
        while True:
            inside = known | {id(node): x for node, x in zip(one.carried, carried, strict=True)}
            go, *carried_next = evaluated([one.condition, *one.ends], inputs, inside)
            if not go:
                return carried
            carried = carried_next

    for node in ordered(outputs, known):
        a = node.args
        if node.op == "input":
            known[id(node)] = inputs[a[0]]
        elif node.op == "result":
            if id(a[0]) not in known:
                known[id(a[0])] = loop(a[0])
            known[id(node)] = known[id(a[0])][a[1]]
        elif node.op == "product":
            product, i, j = a
            first = product.rows[0, 0]
            at = first.args[0] + i * product.rows.shape[1] if isinstance(first, Node) else 0
            row = inputs[at : at + product.rows.shape[1]] if isinstance(first, Node) else product.rows[i].astype(float)
            known[id(node)] = float(np.dot(row, [value(x) for x in product.columns[j]]))
        elif node.op == "select":
            known[id(node)] = value(a[2]) if value(a[0]) else value(a[1])
        elif node.op == "as":
            known[id(node)] = {"f": float, "i": int, "b": bool}[node.dtype](value(a[0]))
        else:
            known[id(node)] = ARITHMETIC[node.op](*map(value, a))
    return [value(a) for a in outputs]


def pendulum(elements=1):
    """A link that swings in a plane, with a spring at its hinge."""
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.005), STEEL).discretise(elements)
    joints = [ph.Revolute("ground", "link.P", name="hinge"), ph.JointSpring("hinge", stiffness=2.0, name="spring")]
    system = ph.connect({"link": link}, joints, gravity=(0.0, -9.81, 0.0), plane="xy")
    return system, ph.place(system, {"hinge.angle": 0.3}), {"spring.stiffness": (1.0, 3.0)}, {}


def machine():
    """In space: a driven crank, a spring and a damper by tables, a force in axes of the body."""
    arm = ph.Beam(0.6, ph.Rectangle(0.01, 0.02), STEEL, damping=ph.KelvinVoigt(1e-4)).discretise(1)
    mass = ph.RigidBody(
        0.4, np.diag([1e-3, 2e-3, 2.5e-3]), center=(0.02, 0.0, 0.0), ports={"C": (0.1, 0.0, 0.0)}
    ).discretise()
    joints = [
        ph.Revolute("ground", "arm.P", name="motor"),
        ph.Spherical("arm.C", "mass.P"),
        ph.Spring("ground", "mass.C", at=(0.3, -0.4, 0.1), stiffness={-0.2: -8.0, 0.0: 0.0, 0.4: 40.0}, length=0.5),
        ph.Damper("ground", "mass.C", at=(0.9, 0.5, -0.1), damping=3.0, name="damper"),
        ph.Force("mass.C", along=(0.0, 1.0, 0.2), axes="body", name="thrust"),
    ]
    system = ph.drive(ph.connect({"arm": arm, "mass": mass}, joints, gravity=(0.0, -9.81, 0.0)), "motor")
    u = {"motor": lambda t: 3.0 * np.sin(20.0 * t), "thrust": lambda t: 5.0 * np.cos(30.0 * t)}
    return system, ph.set_moving(system, ph.place(system), u=u), {"damper.damping": (1.0, 3.0)}, u


def bushing():
    """A bushing that turns far, and a spring that is a function."""
    block = ph.RigidBody(1.0, np.diag([0.02, 0.03, 0.04]), ports={"C": (0.2, 0.1, 0.0)}).discretise()
    joints = [
        ph.Bushing("ground", "a.P", stiffness=(90.0,) * 3 + (0.4, 0.5, 0.6), damping=(0.01,) * 6, rotation="vector"),
        ph.Spring("ground", "a.C", stiffness=lambda x: 20 * np.sinh(x), over=(-1, 2), length=0.2),
    ]
    system = ph.connect({"a": block}, joints)
    return system, ph.set_moving(system, ph.place(system), {"a.omega": (1.0, -3.0, 2.0)}), {"a.mass": (1.0, 2.0)}, {}


@pytest.mark.parametrize("make", [pendulum, machine, bushing])
def test_a_step_as_a_graph_is_the_step(make):
    system, start, ranges, u = make()
    made = family(system, ranges, start, 6e-3, dt=2e-3, u=u)
    steps = Steps(made)
    values = jnp.asarray([[0.3 * low + 0.7 * high for low, high in ranges.values()]])
    arrays = jax.tree.map(jnp.asarray, made.arrays(values[0]))
    model, state = arrays["model"], arrays["state"]
    step = jax.jit(lambda s, u, t: take_step(model, s, u, known_tangents=t, renewals=0))
    for k in range(3):
        series = {key: arrays["inputs"][key][k] for key in ("given", "moving")}
        tangents = opening_tangents(model, state, series | {"h": arrays["inputs"]["h"]})
        batch = jax.tree.map(lambda a: jnp.asarray(a)[None], (arrays, state))
        parts = {
            "model": steps.rows_of(batch[0], made)[:, 0],
            "state": steps.packed(batch[1])[:, 0],
            "series": np.concatenate([np.ravel(series["given"]), np.ravel(series["moving"]), [k]]),
            "tangents": np.concatenate([np.ravel(a) for a in jax.tree.leaves(tangents)]),
        }
        read, inputs = steps.reader(), []
        for node in steps.graph.inputs:  # those of earlier passes are read by nothing
            try:
                name, row = read(node.args[0]).replace("(int)", "").split("[", 1)
            except KeyError:
                inputs.append(0.0)
                continue
            number = float(parts[name][int(row.split("]")[0].split(")")[0].strip("("))])
            inputs.append(int(number) if node.dtype == "i" else number)
        assert set(parts) == set(ARRAYS)
        after = evaluated(steps.after, inputs)
        state, report = step(state, series | {"h": arrays["inputs"]["h"]}, tangents)
        expected = np.asarray(steps.packed(jax.tree.map(lambda a: jnp.asarray(a)[None], state)))[:, 0]
        assert np.allclose(after[:-1], expected, rtol=1e-9, atol=1e-11)
        assert after[-1] < 1e4 and report["residual"] < 1e4
        same = steps.unpacked(jnp.asarray(expected)[:, None])
        assert all(np.array_equal(a[0], b) for a, b in zip(jax.tree.leaves(same), jax.tree.leaves(state), strict=True))


@needs_cc
@pytest.mark.parametrize("elements", [1, pytest.param(8, marks=pytest.mark.long)])
def test_an_ensemble_in_c_is_the_ensemble(elements):
    """With 8 elements products of large matrices are loops."""
    system, start, ranges, _ = pendulum(elements)
    made = family(system, ranges, start, 0.04, dt=2e-3)
    values = np.linspace(1.0, 3.0, 5)[:, None]

    def output(motion):
        return {"angle": motion.theta("link"), "energy": motion.energy(), "rate": motion.eta_dot("link")}

    plain = ensemble(made, values, output, batch=3, every=5, compiled=False)
    in_c = ensemble(made, values, output, batch=3, every=5, renew=5, compiled=True)
    assert not len(in_c.failed) and in_c.residual.max() < 1e4
    for key in plain.outputs:
        assert plain.outputs[key].shape == in_c.outputs[key].shape
        scale = np.abs(plain.outputs[key]).max()
        assert np.abs(plain.outputs[key] - in_c.outputs[key]).max() < 1e-9 * scale, key
    assert np.ptp(in_c.outputs["energy"], axis=1).max() < 1e-12


@needs_cc
def test_samples_that_do_not_converge_in_c_run_again_in_jax():
    """Tangents of the first step do not do for a turn of a radian: the general program renews them."""
    system, start, ranges, _ = pendulum()
    start = ph.set_moving(system, start, {"hinge.angle_rate": 12.0})
    made = family(system, ranges, start, 0.08, dt=2e-3)
    values = np.linspace(1.0, 3.0, 3)[:, None]
    in_c = program(made, lambda m: m.theta("link"), 3, renew=40, compiled=True)
    outputs, residual = in_c.run(values)
    again = in_c._made
    assert again and residual.max() < 1e4
    plain = ensemble(made, values, lambda m: m.theta("link"), compiled=False)
    assert np.allclose(plain.outputs, outputs, atol=1e-6)


@needs_cc
def test_a_sample_that_fails_in_c_and_in_jax_is_named():
    """Steps of nearly two radians: no number of it is NaN with a residual of zero."""
    system, start, ranges, _ = pendulum()
    start = ph.set_moving(system, start, {"hinge.angle_rate": 60.0})
    made = family(system, ranges, start, 1.2, dt=0.03)
    assert ensemble(made, [[1.0], [3.0]], lambda m: m.theta("link"), renew=40, compiled=True).failed.tolist() == [0, 1]


def test_a_batch_is_shared_among_devices():
    """Two simulated devices give the numbers of one, to round-off: loops over two samples round otherwise than those over four."""
    code = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import sys; sys.path[:0] = %r
import jax
jax.config.update("jax_enable_x64", True)
import numpy as np
import test_twin_in_c as t
system, start, ranges, _ = t.pendulum()
made = t.family(system, ranges, start, 0.02, dt=2e-3)
values = np.linspace(1.0, 3.0, 6)[:, None]
for compiled in (False, *([True] if t.shutil.which("cc") else [])):
    one, two = (t.ensemble(made, values, lambda m: m.energy(), batch=4, devices=n, compiled=compiled) for n in (1, 2))
    assert len(jax.devices()) == 2 and np.allclose(one.outputs, two.outputs, rtol=1e-12), (one.outputs, two.outputs)
print("same")
"""
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    done = subprocess.run([sys.executable, "-c", code % paths], capture_output=True, text=True)
    assert done.stdout.split() == ["same"], done.stderr[-2000:]
