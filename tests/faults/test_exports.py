"""What cannot be exported or imported, with a sentence why."""

import sys

import numpy as np
import pytest
import scipy.io
import scipy.signal
import scipy.sparse as sp
from messages import raises

import phloat as ph
from phloat.control.exports import from_control, from_matlab, from_scipy, to_control, to_matlab, to_scipy
from phloat.control.fmu import stepper, to_fmu
from phloat.linear.form.passive import from_state_space
from phloat.linear.form.state_space import MAX_STATES, descriptor, state_space
from phloat.linear.reduction.pymor import from_pymor, to_pymor

LINK = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0)).discretise(2)
SYSTEM = ph.connect({"rod": LINK}, joints=[ph.Revolute("ground", "rod.P", name="pin")], plane="xy")
REST = ph.place(SYSTEM)
PLANT = ph.linearise(SYSTEM, REST).with_ports("pin", "rod.C")
DRIVEN = ph.linearise(ph.drive(SYSTEM, "pin"), REST)


def bodies_apart(n, **names):
    """n unit masses."""
    ports = ph.Layout(names.get("ports", {"push": (1,)}), "port")
    B = np.zeros((n, ports.size))
    B[: ports.size] = np.eye(ports.size)
    return ph.LinearPHDAE(
        E=names.get("E", np.eye(n)), J=np.zeros((n, n)), B=B, rows=ph.Layout({"v": (n,)}, "row"), ports=ports
    )


# --- state spaces ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("export", [state_space, to_scipy, to_control, to_pymor])
def test_a_driven_port_would_need_the_rate_of_its_input(export):
    with raises(ph.errors.InputError, "'pin'"):
        export(DRIVEN)


@pytest.mark.parametrize("export", [state_space, to_scipy, to_control, to_pymor, descriptor])
def test_a_nonlinear_system_is_linearised_first(export):
    with raises(ph.errors.InputError):
        export(SYSTEM)


def test_a_large_system_is_reduced_first():
    n = MAX_STATES + 1
    eye, none = sp.eye_array(n, format="csr"), sp.csr_array((n, n))
    B = sp.csr_array(([1.0], ([0], [0])), shape=(n, 1))
    rows, ports = ph.Layout({"v": (n,)}, "row"), ph.Layout({"push": (1,)}, "port")
    large = ph.LinearPHDAE(E=eye, J=none, B=B, rows=rows, ports=ports)
    with raises(ph.errors.InputError, n):
        state_space(large)


@pytest.mark.parametrize("export", [state_space, to_pymor])
def test_a_system_without_ports_has_no_inputs(export):
    with raises(ph.errors.InputError):
        export(PLANT.with_ports())


def test_a_row_with_neither_mass_nor_damping_is_named():
    with raises(ph.errors.InputError, "'v'"):
        state_space(bodies_apart(2, E=np.diag([0.0, 1.0])))


def test_signals_that_are_one_without_dots_are_named():
    pytest.importorskip("control")
    twice = bodies_apart(2, ports={"a.b": (1,), "a_b": (1,)})
    with raises(ph.errors.InputError, "'a.b.effort'", "'a_b.effort'"):
        to_control(twice)


@pytest.mark.parametrize("name", ["arm.1", "", 3])
def test_a_name_with_a_dot_is_none_of_control(name):
    pytest.importorskip("control")
    with raises(ph.errors.InputError, repr(name)):
        to_control(PLANT, name=name)


# --- what comes in ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrices", "name"),
    [
        (([[1.0]], [[1.0]], [[1.0]]), "1+0j"),
        (([[-1.0]], [[1.0]], [[-8.0]], [[1.0]]), "-14"),
        (([[0, 1], [-4, -0.3]], [[0], [1]], [[1, 0]]), ""),
        (([[-1.0]], [[1.0]], [[1.0]], [[-0.5]]), "-1"),
        (([[0, 1], [-4, 0]], [[0], [1]], [[0, -1]]), "= 2"),
        (([[0, 1], [0, 0]], [[0], [1]], [[1, 0]], [[1.0]]), ""),
        (([[-1.0]], [[1.0, 2.0]], [[1.0]]), "2 inputs"),
        (([[np.nan]], [[1.0]], [[1.0]]), "A"),
    ],
    ids=["unstable", "gives power", "position", "feedthrough", "negative residue", "double pole", "shape", "nan"],
)
def test_a_controller_that_is_not_passive_is_refused_with_the_number(matrices, name):
    with raises(ph.errors.InputError, name):
        from_state_space(*matrices)


def test_a_gain_is_no_system():
    with raises(ph.errors.InputError):
        from_state_space(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[1.0]])


@pytest.mark.parametrize(
    ("energy", "name"),
    [
        ([[-1.0]], "energy"),
        ([[3.0]], "energy"),
        ([[1.0, 0.0]], "energy"),
    ],
)
def test_an_energy_that_does_not_fit_is_refused(energy, name):
    with raises(ph.errors.InputError, name):
        from_state_space([[-1.0]], [[1.0]], [[1.0]], energy=energy)


def test_ports_must_fit_the_inputs():
    with raises(ph.errors.InputError, "a, b"):
        from_state_space([[-1.0]], [[1.0]], [[1.0]], ports={"a": 1, "b": 2})


def test_sampled_systems_stay_out():
    with raises(ph.errors.InputError, "0.1"):
        from_scipy(scipy.signal.dlti([[0.5]], [[1.0]], [[1.0]], [[0.0]], dt=0.1))
    control = pytest.importorskip("control")
    with raises(ph.errors.InputError, "0.1"):
        from_control(control.ss([[0.5]], [[1.0]], [[1.0]], [[0.0]], 0.1))


def test_other_things_are_no_systems():
    with raises(ph.errors.InputError, "dict"):
        from_scipy({})
    pytest.importorskip("control")
    with raises(ph.errors.InputError, "dict"):
        from_control({})
    pytest.importorskip("pymor")
    with raises(ph.errors.InputError, "dict"):
        from_pymor({})


@pytest.mark.parametrize(
    ("package", "call", "name"),
    [
        ("control", lambda path: to_control(PLANT), "python-control"),
        ("pymor.models", lambda path: to_pymor(PLANT), "pyMOR"),
        ("pythonfmu3", lambda path: to_fmu(PLANT, path / "p.fmu", dt=1e-3), "pythonfmu3"),
    ],
)
def test_a_package_that_is_not_there_is_named_with_its_extra(package, call, name, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with raises(ph.errors.InputError, name):
        call(tmp_path)


# --- pyMOR -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("E", "found"), [(np.diag([0.0, 1.0]), "0"), (np.diag([-1.0, 1.0]), "-1"), (np.array([[1.0, 2.0], [2.0, 1.0]]), "")]
)
def test_pymor_needs_a_definite_energy(E, found):
    pytest.importorskip("pymor")
    with raises(ph.errors.InputError, "pyMOR", found):
        to_pymor(bodies_apart(2, E=E))


def test_a_model_is_like_a_system_with_as_many_inputs():
    pytest.importorskip("pymor")
    with raises(ph.errors.InputError):
        from_pymor(to_pymor(bodies_apart(2)), like=PLANT)


# --- .mat ------------------------------------------------------------------------------------------------------------


def test_a_mat_file_ends_in_mat(tmp_path):
    with raises(ph.errors.InputError, "plant.m'"):
        to_matlab(PLANT, tmp_path / "plant.m")


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    with raises(ph.errors.InputError, "plant.mat"):
        to_matlab(PLANT, tmp_path / "nowhere" / "plant.mat")
    with raises(ph.errors.InputError, "nowhere.mat"):
        from_matlab(tmp_path / "nowhere.mat")


def test_a_file_of_something_else_is_said(tmp_path):
    (tmp_path / "notes.mat").write_text("not a matrix " * 100)
    with raises(ph.errors.InputError, "notes.mat", golden=False):
        from_matlab(tmp_path / "notes.mat")
    (tmp_path / "new.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(512))
    with raises(ph.errors.InputError, "7.3"):
        from_matlab(tmp_path / "new.mat")


def test_matrices_that_are_missing_are_named(tmp_path):
    scipy.io.savemat(tmp_path / "x.mat", {"E": np.eye(2), "A": np.eye(2)})
    with raises(ph.errors.InputError, "x.mat"):
        from_matlab(tmp_path / "x.mat")
    scipy.io.savemat(tmp_path / "y.mat", {"E": "words", "J": np.eye(2), "B": np.eye(2)})
    with raises(ph.errors.InputError, "y.mat"):
        from_matlab(tmp_path / "y.mat")


def test_a_file_of_a_newer_phloat_is_said(tmp_path):
    scipy.io.savemat(tmp_path / "x.mat", {"E": 1.0, "J": 0.0, "B": 1.0, "phloat_version": 9})
    with raises(ph.errors.InputError, "x.mat", "9"):
        from_matlab(tmp_path / "x.mat")


# --- FMUs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "options", "name"),
    [
        ("rod.zip", {}, "rod.zip"),
        ("nowhere/rod.fmu", {}, "nowhere"),
        ("2 rods.fmu", {}, "'2 rods'"),
        ("rod.fmu", {"name": "class"}, "'class'"),
        ("rod.fmu", {"state": None}, "state"),
        ("rod.fmu", {"dt": 0.0}, "dt"),
        ("rod.fmu", {"inputs": ["pun"]}, "'pun'"),
        ("rod.fmu", {"inputs": ["pin", "pin"]}, "'pin'"),
        ("rod.fmu", {"outputs": ["rod.phi"]}, "'rod.phi'"),
    ],
)
def test_an_fmu_that_cannot_be_made_is_said(file, options, name, tmp_path):
    pytest.importorskip("pythonfmu3")
    with raises(ph.errors.InputError, name):
        to_fmu(SYSTEM, tmp_path / file, **{"state": REST, "dt": 1e-3, **options})


def test_an_fmu_starts_with_closed_joints(tmp_path):
    pytest.importorskip("pythonfmu3")
    with raises(ph.errors.InputError, "'pin'", "0.25"):
        to_fmu(SYSTEM, tmp_path / "rod.fmu", state=REST.with_values({"rod.r_P": (0.25, 0.0)}), dt=1e-3)


def test_a_linear_system_is_moved_from_rows():
    with raises(ph.errors.InputError):
        stepper(PLANT, REST, 1e-3)
    with raises(ph.errors.InputError, "'rod.phi'"):
        stepper(PLANT, None, 1e-3, outputs=["rod.phi"])


@pytest.mark.parametrize("length", [0.0, -1.0, np.nan])
def test_time_goes_on(length):
    with raises(ph.errors.InputError):
        stepper(PLANT, None, 1e-3).advance(0.0, length)


def test_a_system_that_cannot_be_written_is_said(tmp_path):
    pytest.importorskip("pythonfmu3")
    local = ph.connect({"rod": LINK}, joints=[ph.Revolute("ground", "rod.P", name="pin")], plane="xy")
    vars(local)["note"] = lambda: 0
    with raises(ph.errors.InputError, golden=False):
        to_fmu(local, tmp_path / "rod.fmu", state=REST, dt=1e-3)
