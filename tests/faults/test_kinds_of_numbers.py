"""What is sane works: integers, booleans, single precision, read-only and strided arrays, and nothing is changed by it."""

import numpy as np
import pytest
import scipy.sparse as sp

import phloat as ph
from phloat.algebra.layout import Layout

STEEL = ph.Material(E=2.0e11, rho=7800.0, nu=0.25)


def frequencies(beam):
    system = ph.connect({"rod": beam.discretise(2)}, joints=[ph.Weld("ground", "rod.P")])
    return ph.modes(ph.linearise(system, ph.place(system))).omega


def locked_up(array):
    array = np.array(array, dtype=float)
    array.flags.writeable = False
    return array


def strided(array):
    array = np.asarray(array, dtype=float)
    wide = np.full(tuple(2 * n for n in array.shape), np.nan)
    view = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    view[...] = array
    return view


EXACT = frequencies(ph.Beam(2.0, ph.Section(A=0.25, I=2**-11, J=1.0), STEEL, masses={0.5: 3.0}))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.array], ids=lambda k: k.__name__)
def test_any_kind_of_number_makes_the_same_beam(kind):
    section = ph.Section(A=kind(0.25), I=kind(2**-11), J=kind(1))
    material = ph.Material(E=2.0e11, rho=kind(7800), nu=kind(0.25))
    beam = ph.Beam(kind(2), section, material, masses={0.5: kind(3)})
    np.testing.assert_allclose(frequencies(beam), EXACT, rtol=1e-12)


def test_single_precision_is_lost_at_the_border_and_nowhere_behind_it():
    A, I, rho = (np.float32(x) for x in (0.1, 0.0003, 7800.1))
    single = ph.Beam(2.0, ph.Section(A=A, I=I, J=I), ph.Material(E=2.0e11, rho=rho))
    double = ph.Beam(2.0, ph.Section(A=float(A), I=float(I), J=float(I)), ph.Material(E=2.0e11, rho=float(rho)))
    np.testing.assert_allclose(frequencies(single), frequencies(double), rtol=1e-12)


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint16], ids=lambda k: k.__name__)
def test_integers_make_the_same_beam(kind):
    section = ph.Section(A=0.25, I=2**-11, J=kind(1))
    beam = ph.Beam(kind(2), section, ph.Material(E=200_000_000_000, rho=7800, nu=0.25), masses={0.5: kind(3)})
    np.testing.assert_allclose(frequencies(beam), EXACT, rtol=1e-12)


def test_one_is_true():
    assert ph.PointMass(True).discretise().inertia.m == 1.0
    np.testing.assert_allclose(
        frequencies(ph.Beam(True, ph.Circle(0.1), STEEL)), frequencies(ph.Beam(1.0, ph.Circle(0.1), STEEL))
    )


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint16], ids=lambda k: k.__name__)
def test_any_integer_counts_elements(kind):
    assert ph.Beam(1.0, ph.Circle(0.1), STEEL).discretise(kind(3)).coordinates == 24


@pytest.mark.parametrize("form", [list, tuple, np.float32, locked_up, strided], ids=lambda f: f.__name__)
def test_any_sequence_gives_nodes(form):
    body = ph.Beam(1.0, ph.Circle(0.1), STEEL).discretise(form([0.0, 0.25, 1.0]))
    assert body.coordinates == 16


ARRAYS = [np.array, np.float32, locked_up, strided, np.asfortranarray, lambda a: np.array(a).tolist()]
KINDS = ["array", "float32", "readonly", "strided", "fortran", "list"]


@pytest.mark.parametrize("form", ARRAYS, ids=KINDS)
def test_any_array_makes_the_same_rigid_body(form):
    J, center, port = [[3.0, 0.5, 0], [0.5, 2.0, 0], [0, 0, 4.0]], [0.5, 0.25, 0], [1.0, 0, 0]
    body = ph.RigidBody(2.0, form(J), form(center), {"tip": form(port)}).discretise()
    expected = ph.RigidBody(2.0, np.array(J), tuple(center), {"tip": tuple(port)}).discretise()
    assert (body.inertia.J0 == expected.inertia.J0).all()
    assert (body.ports["tip"].x == expected.ports["tip"].x).all()


@pytest.mark.parametrize("form", ARRAYS, ids=KINDS)
def test_any_array_places_a_joint(form):
    link = ph.Beam(1.0, ph.Circle(0.1), STEEL).discretise(1)
    joint = ph.Revolute("ground", "rod.P", at=form([0.5, 0.25, 2.0]), axis=form([0, 3.0, 0]), turned=form([0, 0.5, 0]))
    system = ph.connect({"rod": link}, joints=[joint], gravity=form([0, 0, 0]))
    state = ph.place(system, {"rod.r_P": form([0.5, 0.25, 2.0])})
    assert state["rod.r_P"] == pytest.approx([0.5, 0.25, 2.0])
    assert ph.modes(ph.linearise(system, state)).rigid == 1


@pytest.mark.parametrize("kind", [int, bool, np.float32, np.int8, np.array], ids=lambda k: k.__name__)
def test_any_kind_of_number_is_an_angle(kind):
    link = ph.Beam(1.0, ph.Circle(0.1), STEEL).discretise(1)
    system = ph.connect({"rod": link}, joints=[ph.Revolute("ground", "rod.P", name="pin")], plane="xy")
    assert ph.place(system, {"rod.theta": kind(1)})["rod.theta"] == 1.0
    assert ph.place(system, {"pin.angle": kind(1)})["rod.theta"] == pytest.approx(1.0)
    assert ph.place(system, near={"rod.theta": kind(1)})["rod.theta"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "form", [*ARRAYS, sp.csr_array, sp.csc_array, sp.coo_array, np.int64], ids=[*KINDS, *"rco", "int"]
)
def test_any_matrix_makes_the_same_linear_system(form):
    E, J, B = np.diag([4.0, 1.0]), np.array([[0.0, -2.0], [2.0, 0.0]]), np.array([[1.0], [0.0]])
    rows, ports = Layout({"v": (1,), "s": (1,)}), Layout({"p": (1,)})
    system = ph.LinearPHDAE(E=form(E), J=form(J), B=form(B), rows=rows, ports=ports, split=1)
    assert ph.modes(system).omega == pytest.approx([1.0])


@pytest.mark.parametrize(
    "omega", [3, 3.0, [3], (3,), np.float32(3), np.array([3]), range(3, 4), strided([3.0])], ids=repr
)
def test_any_kind_of_frequencies_is_answered(omega):
    plant = ph.Beam(1.0, ph.Circle(0.1), STEEL).discretise(1).linear()
    assert ph.response(plant, "C", omega=omega).values == pytest.approx(ph.response(plant, "C", omega=[3.0]).values)


def test_matrices_given_are_not_changed():
    E, J, B = sp.csr_array(np.eye(2)), sp.csr_array([[0.0, -1.0], [1.0, 0.0]]), sp.csr_array([[1.0], [0.0]])
    before = [m.toarray().copy() for m in (E, J, B)]
    rows, ports = Layout({"v": (1,), "s": (1,)}), Layout({"p": (1,)})
    system = ph.LinearPHDAE(E=E, J=J, B=B, rows=rows, ports=ports, split=1)
    assert all((m.toarray() == b).all() for m, b in zip((E, J, B), before, strict=True))
    E.data[0] = 99.0
    assert system.E[0, 0] == 1.0


def test_values_taken_from_a_state_are_copies():
    system = ph.connect({"rod": ph.Beam(1.0, ph.Circle(0.1), STEEL).discretise(1)}, plane="xy")
    state = ph.place(system)
    taken = state["rod.r_P"]
    taken[0] = np.nan
    assert state["rod.r_P"][0] == 0.0
