"""Matrices that are no port-Hamiltonian system, with the relative number; shapes and words that are no matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from messages import raises

import phloat as ph
from phloat.algebra.layout import Layout

ROWS, PORTS = Layout({"v": (1,), "s": (1,)}, "row"), Layout({"p": (1,)}, "port")


def oscillator(**changes):
    parts = {"E": np.eye(2), "J": [[0, -1.0], [1.0, 0]], "B": [[1.0], [0]], "rows": ROWS, "ports": PORTS, "split": 1}
    return ph.LinearPHDAE(**{**parts, **changes})


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e15])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array, sp.csc_array], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("name", "matrix", "said"),
    [
        ("J", [[0, 1.0], [-0.75, 0]], "2.5e-01"),
        ("J", [[0.1, 1.0], [-1.0, 0]], "2.0e-01"),
        ("J", [[0, 1.0], [1.0, 0]], "2.0e+00"),
        ("E", [[1.0, 0.2], [0, 1.0]], "2.0e-01"),
        ("R", [[1.0, 0.5], [0, 1.0]], "5.0e-01"),
        ("R", [[1.0, 2.0], [2.0, 1.0]], "3.3e-01"),
        ("R", [[0, 1.0], [1.0, 0]], "1.0e+00"),
        ("R", [[1.0, 0], [0, -1e-6]], ""),
    ],
)
def test_a_matrix_without_its_structure_is_refused_with_a_relative_number(name, matrix, said, form, scale):
    with raises(ph.errors.StructureError, said):
        oscillator(**{name: form(scale * np.array(matrix))})


def test_rounding_is_no_defect():
    assert oscillator(J=[[0, -1.0], [1.0 + 1e-13, 0]], E=[[1.0, 1e-13], [0, 1.0]]).passive


def test_an_indefinite_energy_is_allowed_and_said():
    system = oscillator(E=np.diag([1.0, -1.0]))
    assert not system.passive
    assert "not passive" in repr(system)


@pytest.mark.parametrize(
    ("E", "name"),
    [
        (np.diag([1.0, 0.0]), "compliance"),
        (np.diag([0.0, 1.0]), "mass"),
        (np.diag([-1.0, 1.0]), "mass"),
    ],
)
def test_modes_need_a_positive_energy(E, name):
    with raises(ph.errors.InputError, name):
        ph.modes(oscillator(E=E))


def test_modes_need_velocities_before_stresses():
    with raises(ph.errors.InputError):
        ph.modes(oscillator(split=-1))


def test_a_stress_of_negative_energy_makes_a_mode_grow():
    assert ph.modes(oscillator()).unstable.size == 0
    system = oscillator(E=np.diag([1.0, -1.0]))
    assert not system.passive and ph.modes(system).unstable.size == 1


@pytest.mark.parametrize(
    ("name", "shape"), [("E", (2, 2)), ("J", (2, 2)), ("R", (2, 2)), ("B", (2, 1)), ("G", (0, 2)), ("B_lam", (0, 1))]
)
@pytest.mark.parametrize("found", [(3, 3), (2, 3), (2,), (2, 2, 2)])
def test_a_matrix_of_the_wrong_shape_is_told_the_right_one(name, shape, found):
    with raises(ph.errors.StructureError, name, found, shape):
        oscillator(**{name: np.ones(found)})


@pytest.mark.parametrize("name", ["E", "J", "R", "B", "G", "B_lam"])
@pytest.mark.parametrize("matrix", ["x", None, [[1.0, 2.0], [3.0]], [["a", "b"], ["c", "d"]]], ids=repr)
def test_what_is_no_matrix_is_refused_by_name(name, matrix):
    with raises(ph.errors.InputError, name):
        oscillator(**{name: matrix})


def test_a_complex_matrix_does_not_lose_its_imaginary_part():
    with raises(ph.errors.InputError, "J"):
        oscillator(J=np.array([[0, 1j], [1j, 0]]))


@pytest.mark.parametrize("split", [3, -2, 0.5, "1", None], ids=repr)
def test_the_split_is_a_number_of_rows(split):
    with raises(ph.errors.StructureError, "split", repr(split)):
        oscillator(split=split)


@pytest.mark.parametrize(("name", "given"), [("rows", {"v": (1,), "s": (1,)}), ("rows", 2), ("ports", ["p"])])
def test_names_come_as_a_layout(name, given):
    with raises(ph.errors.InputError, name):
        oscillator(**{name: given})


# --- interconnection -------------------------------------------------------------------------------------------------

ONE, TWO = oscillator().prefixed("one"), oscillator().prefixed("two")
WIDE = oscillator(B=np.eye(2), ports=Layout({"p": (2,)}, "port")).prefixed("wide")
VERBS = [ph.transformer, ph.gyrator]


@pytest.mark.parametrize("verb", VERBS)
def test_ports_of_different_width_need_a_matrix(verb):
    with raises(ph.errors.InputError, "'one.p'", "'wide.p'"):
        verb(ONE, "one.p", WIDE, "wide.p")


@pytest.mark.parametrize("C", [np.eye(2), [1.0], 2.0], ids=repr)
@pytest.mark.parametrize("verb", VERBS)
def test_a_coupling_of_the_wrong_shape_is_told_the_right_one(verb, C):
    with raises(ph.errors.InputError, "'one.p'", "'two.p'"):
        verb(ONE, "one.p", TWO, "two.p", C)


@pytest.mark.parametrize("C", ["x", [["a"]]], ids=repr)
@pytest.mark.parametrize("verb", VERBS)
def test_a_coupling_is_made_of_numbers(verb, C):
    with raises(ph.errors.InputError, "'one.p'", "'two.p'"):
        verb(ONE, "one.p", TWO, "two.p", C)


@pytest.mark.parametrize("verb", VERBS)
def test_a_system_is_not_connected_to_itself(verb):
    with raises(ph.errors.PortError, "'one.v'"):
        verb(ONE, "one.p", ONE, "one.p")


def test_a_port_is_swapped_once():
    with raises(ph.errors.JointError, "'one.p'"):
        ph.swap_causality(ph.swap_causality(ONE, "one.p"), "one.p")


def test_a_transformer_takes_efforts():
    with raises(ph.errors.JointError, "'one.p'"):
        ph.transformer(ph.swap_causality(ONE, "one.p"), "one.p", TWO, "two.p")


def test_a_gyrator_does_not_take_two_flows():
    with raises(ph.errors.JointError, "'one.p'", "'two.p'"):
        ph.gyrator(ph.swap_causality(ONE, "one.p"), "one.p", ph.swap_causality(TWO, "two.p"), "two.p")


def test_joints_on_stresses_are_not_eliminated():
    held = oscillator(G=[[0, 1.0]], multipliers=Layout({"l": (1,)}, "multiplier"))
    with raises(ph.errors.InputError):
        ph.eliminate(held)
