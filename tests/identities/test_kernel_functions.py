"""The plain-array functions of inertia, strain and rows compile as they stand and give the same numbers."""

import numba
import numpy as np
import pytest
from bodies_zoo import bodies

from phloat.algebra import cross
from phloat.bodies import inertia, strain
from phloat.joints import rows

FUNCTIONS = [
    (inertia, ["first_moments", "rotary_inertia", "coupling", "mass_matrix", "whirl", "gyration", "kinetic_gradient"]),
    (strain, ["strain_gradient"]),
    (rows, ["point_rate", "bent", "bending", "direction", "direction_rate"]),
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
    I, port = body.inertia, body.ports["C"]
    eta, v, w = 0.1 * rng.normal(size=body.coordinates), rng.normal(size=3), rng.normal(size=3)
    Y = inertia.first_moments(I.X, I.W, eta)
    whirl = inertia.whirl(I.W, eta)
    A = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    d0, Q = np.array([0.0, 0.6, 0.8]), body.elastic.Q
    return {
        "first_moments": (I.X, I.W, eta),
        "rotary_inertia": (I.E0, I.X, Y, eta),
        "coupling": (Y,),
        "mass_matrix": (I.m, I.s0, I.J0, I.S, inertia.coupling(Y), I.M_ff.toarray()),
        "whirl": (I.W, eta),
        "gyration": (I.S, Y, whirl, v, w),
        "kinetic_gradient": (I.S, Y, whirl, v, w),
        "strain_gradient": (body.elastic.D.toarray(), Q.strain, Q.row, Q.column, Q.value, eta),
        "point_rate": (A, port.x, port.Phi),
        "bent": (v, d0),
        "bending": (v, d0),
        "direction": (A, port.Psi, d0, eta),
        "direction_rate": (A, port.Psi, d0, eta),
    }


@pytest.mark.parametrize(("module", "name"), [(m, n) for m, names in FUNCTIONS for n in names])
def test_the_function_compiles_and_agrees(compiled, module, name):
    given = arguments()[name]
    np.testing.assert_allclose(compiled[name](*given), getattr(module, name)(*given), rtol=1e-13, atol=1e-13)
