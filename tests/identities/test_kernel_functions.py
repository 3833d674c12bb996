"""The plain-array functions of inertia, strain and bent sections compile as they stand and give the same numbers."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from bodies_zoo import bodies

from phloat.algebra import cross
from phloat.bodies import inertia
from phloat.joints import port_state
from phloat.motion.kernel import step
from phloat.motion.kernel.machine import dense as small, inverse

FUNCTIONS = [
    (inertia, ["first_moments", "rotary_inertia", "coupling", "mass_matrix", "whirl", "gyration", "kinetic_gradient"]),
    (port_state, ["bent"]),
]


@pytest.fixture(scope="module")
def compiled():
    """Each function compiled, seeing the compiled ones that it calls."""
    import types

    made = {"cross": numba.njit(cross.cross), "skew": numba.njit(cross.skew)}
    for module, names in FUNCTIONS:
        for name in names:
            plain = getattr(module, name)
            scope = {**plain.__globals__, **made}
            made[name] = numba.njit(types.FunctionType(plain.__code__, scope, name))
    return made


def arguments() -> dict[str, tuple]:
    rng = np.random.default_rng(0)
    body = bodies()["beam"]
    I = body.inertia
    eta, v, w = 0.1 * rng.normal(size=body.coordinates), rng.normal(size=3), rng.normal(size=3)
    Y = inertia.first_moments(I.X, I.W, eta)
    whirl = inertia.whirl(I.W, eta)
    d0 = np.array([0.0, 0.6, 0.8])
    return {
        "first_moments": (I.X, I.W, eta),
        "rotary_inertia": (I.E0, I.X, Y, eta),
        "coupling": (Y,),
        "mass_matrix": (I.m, I.s0, I.J0, I.S, inertia.coupling(Y), I.M_ff.toarray()),
        "whirl": (I.W, eta),
        "gyration": (I.S, Y, whirl, v, w),
        "kinetic_gradient": (I.S, Y, whirl, v, w),
        "bent": (v, d0),
    }


@pytest.mark.parametrize(("module", "name"), [(m, n) for m, names in FUNCTIONS for n in names])
def test_the_function_compiles_and_agrees(compiled, module, name):
    given = arguments()[name]
    np.testing.assert_allclose(compiled[name](*given), getattr(module, name)(*given), rtol=1e-13, atol=1e-13)


# --- the small algebra of the step ------------------------------------------------------------------------------------


@numba.njit
def inverted(M, n, x, y):
    good = inverse.invert(M, 0, n)
    small.multiply_rows(n, M, 0, n, x, 0, y, 0)
    return good


@pytest.mark.parametrize("n", [4, 16, 28])
def test_the_inverse_of_a_tangent_is_one(n):
    rng = np.random.default_rng(n)
    D = 3 * np.eye(n) + rng.normal(size=(n, n)) / np.sqrt(n)
    M, x, y = D.ravel().copy(), rng.normal(size=n), np.zeros(n)
    assert inverted(M, n, x, y)
    np.testing.assert_allclose(M.reshape(n, n) @ D, np.eye(n), atol=1e-13)
    np.testing.assert_allclose(D @ y, x, atol=1e-13)


def test_a_tangent_without_inverse_is_told():
    D = np.diag([1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    assert not inverted(D.ravel(), 8, np.zeros(8), np.zeros(8))


@numba.njit
def combined(M, n, long, x, y, z):
    small.matrix_products(2, M, 0, n, long, x, 0, y, 0)
    small.add_sizes(M, 0, n, long, x, 0, z, 0)
    small.add_4(long, 2.0, y, 0, z, 0)
    return small.dot_4(long, y, 0, x, 0)


@pytest.mark.parametrize(("n", "long"), [(0, 0), (1, 4), (4, 4), (7, 8), (12, 12), (21, 24)])
def test_rows_padded_to_a_multiple_of_four_add_up(n, long):
    rng = np.random.default_rng(n)
    M = np.zeros((2, n, long))
    M[:, :, :n] = rng.normal(size=(2, n, n))
    x, y, z = rng.normal(size=long + 4), np.zeros(2 * long), np.zeros(long)
    found = combined(M.ravel(), n, long, x, y, z)
    first, second = x[:n] @ M[0], x[:n] @ M[1]
    np.testing.assert_allclose(y, np.concatenate([first, second]), atol=1e-13)
    np.testing.assert_allclose(z, np.abs(x[:n]) @ np.abs(M[0]) + 2 * first, atol=1e-13)
    np.testing.assert_allclose(found, first @ x[:long], atol=1e-13)


def test_the_step_lets_other_threads_run():
    assert step.advance.targetoptions["nogil"]


# Soft, so that an axial strain of 1e-17, the round-off of a closed joint, is no force of 1e-10 N.
PENDULUM = """
import phloat as ph
arm = ph.Beam(0.4, ph.Rectangle(0.01, 0.004), ph.Material(E=2e6, rho=1000.0, nu=0.3)).discretise(1)
system = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P")], gravity=(0.0, -9.81, 1.0), plane=None)
run = ph.simulate(system, ph.place(system), 5e-3, dt=1e-3, threads=2)
print(*run.e[-1])
"""


def test_without_its_compiler_the_step_is_the_same():
    plain, compiled = (
        subprocess.run(
            [sys.executable, "-c", PENDULUM],
            env=os.environ | {"NUMBA_DISABLE_JIT": off},
            capture_output=True,
            text=True,
            check=True,
        )
        for off in ("1", "0")
    )
    assert np.allclose(*(np.array(p.stdout.split(), dtype=float) for p in (plain, compiled)), rtol=1e-11, atol=1e-11)
