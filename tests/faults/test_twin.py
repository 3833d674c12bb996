"""What the twin says when something is wrong."""

import subprocess
import sys
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest
import twin_zoo
from messages import raises

import phloat as ph
from phloat.errors import InputError, PortError
from phloat.twin.batch import ensemble, require_device_memory
from phloat.twin.export import exported
from phloat.twin.gradients import Problem, family, gradient
from phloat.twin.model import load_model
from phloat.twin.motion import Motion
from phloat.twin.run import find_device, require_converged, simulate

assert twin_zoo.jax.config.values["jax_enable_x64"]


def block():
    body = ph.RigidBody(2.0, np.eye(3)).discretise()
    rail = ph.Prismatic("ground", "block.P", axis=(1, 0, 0), name="rail")
    return ph.connect({"block": body}, [rail, ph.JointSpring("rail", stiffness=50.0, name="spring")], plane="xy")


@pytest.fixture(scope="module")
def model():
    system = block()
    return exported(system, ph.place(system, {}), 1.0, dt=0.1)


def test_numbers_of_32_bits_are_refused():
    code = "import phloat.twin.run as s\ntry:\n    s.require_64_bits()\nexcept ValueError as error:\n    print(error)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "needs 64" in out and "jax_enable_x64" in out


def test_a_batch_too_large_names_one_that_fits():
    needs = SimpleNamespace(temp_size_in_bytes=9e9, argument_size_in_bytes=0.5e9, output_size_in_bytes=0.5e9)
    device = SimpleNamespace(memory_stats=lambda: {"bytes_limit": 4e9}, device_kind="a card")
    with raises(InputError, "1000", "batch=360"):
        require_device_memory(needs, device, 1000)
    require_device_memory(needs, SimpleNamespace(memory_stats=lambda: None), 1000)


def test_a_device_that_is_not_there():
    with raises(InputError, "'abacus'"):
        find_device("abacus")


def test_names_that_are_not_there(model):
    now = Motion(model.arrays, model.arrays["state"], model.names, jnp.zeros(()))
    with raises(PortError, "'blok'"):
        now.eta("blok")
    with raises(PortError, "'block.Q'"):
        now.place("block.Q")
    with raises(PortError, "'rai'"):
        now.coordinate("rai")
    with raises(PortError, "'middle'"):
        now.displacement("middle")
    with raises(InputError, "'spring.k'"):
        gradient(block(), ["spring.k"], start=ph.place(block(), {}), t_end=1.0, dt=0.1, output=lambda m: m.energy()[-1])


def test_states_that_do_not_divide_the_steps(model):
    with raises(InputError, "every=3"):
        simulate(model, every=3)


def test_feedback_for_what_is_no_input(model):
    with raises(InputError, "'rail'"):
        simulate(model, feedback=lambda gains, now: {"rail": 1.0})
    with raises(InputError, "float"):
        simulate(model, feedback=lambda gains, now: 1.0)
    with raises(InputError, "kp"):
        simulate(model, gains={"kp": 1.0})


def test_ranges_and_values_of_a_family():
    system = block()
    at = ph.place(system, {"block.r_P": (0.1, 0.0)})
    with raises(InputError, "block.mass"):
        family(system, {"block.mass": (2.0, 1.0)}, at, 0.2, dt=0.1)
    with raises(InputError):
        family(system, {}, at, 0.2, dt=0.1)
    made = family(system, {"block.mass": (1.0, 2.0)}, at, 0.2, dt=0.1)
    with raises(InputError, "block.mass", "sample 1"):
        ensemble(made, [[1.5], [3.0]], lambda m: m.energy())
    with raises(InputError, "block.mass"):
        ensemble(made, [[1.5, 1.0]], lambda m: m.energy())
    with raises(InputError, "batch is 0"):
        ensemble(made, [[1.5]], lambda m: m.energy(), batch=0)
    with raises(InputError, "output", "3.0"):
        ensemble(made, [[1.5]], 3.0)


def test_a_step_that_does_not_settle_is_said():
    with raises(InputError):
        require_converged(jnp.array(jnp.inf))
    with raises(InputError):
        require_converged(jnp.array(jnp.nan))


def test_a_gradient_of_many_numbers():
    system = block()
    problem = Problem(system, ph.place(system, {}), 0.2, 0.1, lambda motion: motion.energy())
    with raises(InputError, "(3,)"):
        problem.value({})


def test_a_file_of_something_else(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with raises(InputError, "other.npz"):
        load_model(tmp_path / "other.npz")
