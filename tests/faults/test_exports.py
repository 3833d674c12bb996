"""What cannot be exported or imported, with a sentence why."""

import sys

import numpy as np
import pytest
import scipy.io
import scipy.signal
import scipy.sparse as sp

import phloat as ph
from phloat.control.exports import from_control, from_scipy, to_control, to_scipy
from phloat.control.fmu import to_fmu
from phloat.control.matlab import from_matlab, to_matlab
from phloat.control.stepping import moved
from phloat.linear.passive_form import from_state_space
from phloat.linear.pymor import from_pymor, to_pymor
from phloat.linear.state_space import MOST, descriptor, state_space

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
    with pytest.raises(ph.InputError, match=r"ports 'pin' prescribe .*differentiate; close them with with_ports\(…\)"):
        export(DRIVEN)


@pytest.mark.parametrize("export", [state_space, to_scipy, to_control, to_pymor, descriptor])
def test_a_nonlinear_system_is_linearised_first(export):
    with pytest.raises(ph.InputError, match=r"System is not linear; use linearise\(system, state\)"):
        export(SYSTEM)


def test_a_large_system_is_reduced_first():
    n = MOST + 1
    eye, none = sp.eye_array(n, format="csr"), sp.csr_array((n, n))
    B = sp.csr_array(([1.0], ([0], [0])), shape=(n, 1))
    rows, ports = ph.Layout({"v": (n,)}, "row"), ph.Layout({"push": (1,)}, "port")
    large = ph.LinearPHDAE(E=eye, J=none, B=B, rows=rows, ports=ports)
    with pytest.raises(
        ph.InputError, match=rf"of {n} states is dense and would take 0\.1 GB a matrix; reduce the system"
    ):
        state_space(large)


@pytest.mark.parametrize("export", [state_space, to_pymor])
def test_a_system_without_ports_has_no_inputs(export):
    with pytest.raises(ph.InputError, match="the system has no open port"):
        export(PLANT.with_ports())


def test_a_row_with_neither_mass_nor_damping_is_named():
    with pytest.raises(ph.InputError, match=r"1 rows, the largest in 'v', have neither inertia nor damping"):
        state_space(bodies_apart(2, E=np.diag([0.0, 1.0])))


def test_signals_that_are_one_without_dots_are_named():
    pytest.importorskip("control")
    twice = bodies_apart(2, ports={"a.b": (1,), "a_b": (1,)})
    with pytest.raises(
        ph.InputError, match=r"signals 'a\.b\.effort' and 'a_b\.effort' are both 'a_b_effort' without dots"
    ):
        to_control(twice)


@pytest.mark.parametrize("name", ["arm.1", "", 3])
def test_a_name_with_a_dot_is_none_of_control(name):
    pytest.importorskip("control")
    with pytest.raises(ph.InputError, match=r"cannot name a system of python-control: a name is a word without a dot"):
        to_control(PLANT, name=name)


# --- what comes in ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrices", "said"),
    [
        (([[1.0]], [[1.0]], [[1.0]]), r"not stable, .*a pole at s = 1\+0j"),
        (
            ([[-1.0]], [[1.0]], [[-8.0]], [[1.0]]),
            r"not passive: at ω = 0 rad/s it gives power, G \+ Gᴴ has the eigenvalue -14",
        ),
        (([[0, 1], [-4, -0.3]], [[0], [1]], [[1, 0]]), "not passive: without feedthrough the first answer to a blow"),
        (([[-1.0]], [[1.0]], [[1.0]], [[-0.5]]), r"not passive: at high frequencies G \+ Gᴴ has the eigenvalue -1"),
        (
            ([[0, 1], [-4, 0]], [[0], [1]], [[0, -1]]),
            "not passive: its poles on the imaginary axis, .* = 2, have residues",
        ),
        (([[0, 1], [0, 0]], [[0], [1]], [[1, 0]], [[1.0]]), "not passive: its poles on the imaginary axis"),
        (([[-1.0]], [[1.0, 2.0]], [[1.0]]), "has 2 inputs and 1 outputs; a port has one of each"),
        (([[np.nan]], [[1.0]], [[1.0]]), "A holds NaN or infinity"),
    ],
    ids=["unstable", "gives power", "position", "feedthrough", "negative residue", "double pole", "shape", "nan"],
)
def test_a_controller_that_is_not_passive_is_refused_with_the_number(matrices, said):
    with pytest.raises(ph.InputError, match=said):
        from_state_space(*matrices)


def test_a_gain_is_no_system():
    with pytest.raises(ph.InputError, match="without states is a gain"):
        from_state_space(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[1.0]])


@pytest.mark.parametrize(
    ("energy", "said"),
    [
        ([[-1.0]], "energy is not symmetric and positive: its smallest eigenvalue is -1"),
        ([[3.0]], "not passive with this energy: the power it takes has the eigenvalue"),
        ([[1.0, 0.0]], r"energy has shape \(1, 2\)"),
    ],
)
def test_an_energy_that_does_not_fit_is_refused(energy, said):
    with pytest.raises(ph.InputError, match=said):
        from_state_space([[-1.0]], [[1.0]], [[1.0]], energy=energy)


def test_ports_must_fit_the_inputs():
    with pytest.raises(ph.InputError, match="the ports a, b have 3 components; the system has 1 inputs"):
        from_state_space([[-1.0]], [[1.0]], [[1.0]], ports={"a": 1, "b": 2})


def test_sampled_systems_stay_out():
    with pytest.raises(ph.InputError, match=r"sampled every 0\.1 s"):
        from_scipy(scipy.signal.dlti([[0.5]], [[1.0]], [[1.0]], [[0.0]], dt=0.1))
    control = pytest.importorskip("control")
    with pytest.raises(ph.InputError, match=r"sampled every 0\.1 s; .* controller=f\(t, y\) with every="):
        from_control(control.ss([[0.5]], [[1.0]], [[1.0]], [[0.0]], 0.1))


def test_other_things_are_no_systems():
    with pytest.raises(ph.InputError, match="dict is no system of SciPy"):
        from_scipy({})
    pytest.importorskip("control")
    with pytest.raises(ph.InputError, match="dict is no state space of python-control"):
        from_control({})
    pytest.importorskip("pymor")
    with pytest.raises(ph.InputError, match="dict is no PHLTIModel of pyMOR"):
        from_pymor({})


@pytest.mark.parametrize(
    ("package", "call", "said"),
    [
        ("control", lambda path: to_control(PLANT), r"python-control is not installed; pip install phloat\[control\]"),
        ("pymor.models", lambda path: to_pymor(PLANT), r"pyMOR is not installed; pip install phloat\[mor\]"),
        (
            "pythonfmu3",
            lambda path: to_fmu(PLANT, path / "p.fmu", dt=1e-3),
            r"pythonfmu3 is not installed; .*phloat\[fmi\]",
        ),
    ],
)
def test_a_package_that_is_not_there_is_named_with_its_extra(package, call, said, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ph.InputError, match=said):
        call(tmp_path)


# --- pyMOR -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("E", "said"),
    [
        (np.diag([0.0, 1.0]), "v has no mass or compliance of its own"),
        (np.diag([-1.0, 1.0]), r"v has no mass or compliance of its own \(E is -1 there\)"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "the energy is not definite"),
    ],
)
def test_pymor_needs_a_definite_energy(E, said):
    pytest.importorskip("pymor")
    with pytest.raises(ph.InputError, match=rf"{said}.*pyMOR needs E > 0"):
        to_pymor(bodies_apart(2, E=E))


def test_a_model_is_like_a_system_with_as_many_inputs():
    pytest.importorskip("pymor")
    with pytest.raises(ph.InputError, match="the model has 1 inputs; the system that it is like has 4"):
        from_pymor(to_pymor(bodies_apart(2)), like=PLANT)


# --- .mat ------------------------------------------------------------------------------------------------------------


def test_a_mat_file_ends_in_mat(tmp_path):
    with pytest.raises(ph.InputError, match=r"plant\.m' does not end in \.mat"):
        to_matlab(PLANT, tmp_path / "plant.m")


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(ph.InputError, match=r"cannot be written: No such file or directory"):
        to_matlab(PLANT, tmp_path / "nowhere" / "plant.mat")
    with pytest.raises(ph.InputError, match=r"cannot be read: No such file or directory"):
        from_matlab(tmp_path / "nowhere.mat")


def test_a_file_of_something_else_is_said(tmp_path):
    (tmp_path / "notes.mat").write_text("not a matrix " * 100)
    with pytest.raises(ph.InputError, match=r"notes\.mat' is no \.mat file"):
        from_matlab(tmp_path / "notes.mat")
    (tmp_path / "new.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(512))
    with pytest.raises(ph.InputError, match=r"version 7\.3; save it with '-v7'"):
        from_matlab(tmp_path / "new.mat")


def test_matrices_that_are_missing_are_named(tmp_path):
    scipy.io.savemat(tmp_path / "x.mat", {"E": np.eye(2), "A": np.eye(2)})
    with pytest.raises(
        ph.InputError, match=r"has no J and no B; a linear system needs E, J and B, and there are: E, A"
    ):
        from_matlab(tmp_path / "x.mat")
    scipy.io.savemat(tmp_path / "y.mat", {"E": "words", "J": np.eye(2), "B": np.eye(2)})
    with pytest.raises(ph.InputError, match=r"E in .* is no matrix of real numbers"):
        from_matlab(tmp_path / "y.mat")


def test_a_file_of_a_newer_phloat_is_said(tmp_path):
    scipy.io.savemat(tmp_path / "x.mat", {"E": 1.0, "J": 0.0, "B": 1.0, "phloat_version": 9})
    with pytest.raises(ph.InputError, match="has version 9, and this phloat reads up to 1"):
        from_matlab(tmp_path / "x.mat")


# --- FMUs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "options", "said"),
    [
        ("rod.zip", {}, r"does not end in \.fmu"),
        ("nowhere/rod.fmu", {}, "the folder .*nowhere' is not there"),
        ("2 rods.fmu", {}, r"'2 rods' cannot name an FMU: .*give name=…"),
        ("rod.fmu", {"name": "class"}, "'class' cannot name an FMU"),
        ("rod.fmu", {"state": None}, r"give state=, where the system starts: place\(system, …\)"),
        ("rod.fmu", {"dt": 0.0}, "dt is 0; it must be positive"),
        ("rod.fmu", {"inputs": ["pun"]}, r"no port 'pun' \(did you mean 'pin'\?\)"),
        ("rod.fmu", {"inputs": ["pin", "pin"]}, "a port stands twice"),
        ("rod.fmu", {"outputs": ["rod.phi"]}, r"no output 'rod\.phi'"),
    ],
)
def test_an_fmu_that_cannot_be_made_is_said(file, options, said, tmp_path):
    pytest.importorskip("pythonfmu3")
    with pytest.raises(ph.InputError, match=said):
        to_fmu(SYSTEM, tmp_path / file, **{"state": REST, "dt": 1e-3, **options})


def test_an_fmu_starts_with_closed_joints(tmp_path):
    pytest.importorskip("pythonfmu3")
    with pytest.raises(ph.InputError, match=r"joint 'pin' is open by 0\.25"):
        to_fmu(SYSTEM, tmp_path / "rod.fmu", state=REST.with_values({"rod.r_P": (0.25, 0.0)}), dt=1e-3)


def test_a_linear_system_is_moved_from_rows():
    with pytest.raises(ph.InputError, match=r"a linear system starts from rows: \{name: values\}"):
        moved(PLANT, REST, 1e-3)
    with pytest.raises(ph.InputError, match=r"no row 'rod\.phi'"):
        moved(PLANT, None, 1e-3, outputs=["rod.phi"])


@pytest.mark.parametrize("length", [0.0, -1.0, np.nan])
def test_time_goes_on(length):
    with pytest.raises(ph.InputError, match="the stretch of time"):
        moved(PLANT, None, 1e-3).advance(0.0, length)


def test_a_system_that_cannot_be_written_is_said(tmp_path):
    pytest.importorskip("pythonfmu3")
    local = ph.connect({"rod": LINK}, joints=[ph.Revolute("ground", "rod.P", name="pin")], plane="xy")
    vars(local)["note"] = lambda: 0
    with pytest.raises(
        ph.InputError, match=r"the system cannot be written .*functions in it must be defined in a module"
    ):
        to_fmu(local, tmp_path / "rod.fmu", state=REST, dt=1e-3)
