"""What leaves for other tools is the same system there, and comes back number for number."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.io
import scipy.linalg as la

import phloat as ph
from phloat.control.exports import from_control, from_matlab, from_scipy, to_control, to_matlab, to_scipy
from phloat.linear.form.passive import from_state_space
from phloat.linear.form.state_space import descriptor, state_space
from phloat.linear.reduction.pymor import from_pymor, to_pymor

ALU = ph.Material(E=7.1016e10, rho=2714.4716, nu=0.33)
LINK = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), ALU, damping=ph.KelvinVoigt(2e-5)).discretise(4)
ARM = ph.connect(
    {"upper": LINK, "lower": LINK},
    joints=[ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")],
    plane="xy",
)
STATE = ph.place(ARM, {"upper.theta": 0.3, "lower.theta": 0.9})
JOINTED = ph.linearise(ARM, STATE)
PLANT = ph.eliminate(JOINTED.with_ports("shoulder", "elbow"))
DRIVEN = ph.linearise(ph.drive(ARM, "shoulder"), STATE)
OMEGA = np.logspace(0, 4, 60)
MATRICES = ("E", "J", "R", "B", "G", "B_lam")


def transfer(A, B, C, D, s):
    return C @ la.solve(s * np.eye(len(A)) - A, B) + D


def over(space, omega=OMEGA):
    return np.array([transfer(space.A, space.B, space.C, space.D, 1j * w) for w in omega])


def expected(system, omega=OMEGA, shift=0.0):
    return ph.response(system, tuple(system.ports), omega=omega, shift=shift).values


def solved(system, omega=OMEGA):
    """One solution for each frequency; `response` has one transformation for all, which costs a digit (1.6e-10 here)."""
    E, F, B = system.E.toarray(), (system.J - system.R).toarray(), system.B.toarray()
    return np.array([B.T @ la.solve(1j * w * E - F, B) for w in omega])


def assert_equal(one: ph.LinearPHDAE, other: ph.LinearPHDAE) -> None:
    for name in MATRICES:
        assert (getattr(one, name) != getattr(other, name)).nnz == 0, name
    assert (one.rows, one.ports, one.multipliers, one.split) == (
        other.rows,
        other.ports,
        other.multipliers,
        other.split,
    )
    assert list(one.fields) == list(other.fields)
    for name, field in one.fields.items():
        np.testing.assert_array_equal(field.points, other.fields[name].points)
        assert (field.motion != other.fields[name].motion).nnz == 0


# --- state spaces ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", [PLANT, JOINTED], ids=["without joints", "with joints and all ports"])
def test_a_state_space_has_the_transfer_function(system):
    wanted = expected(system)
    assert np.abs(over(state_space(system)) - wanted).max() <= 1e-10 * np.abs(wanted).max()


def test_a_state_space_shows_that_it_is_passive():
    space = state_space(PLANT)
    assert np.linalg.eigvalsh(space.A + space.A.T)[-1] <= 1e-13 * la.norm(space.A)
    np.testing.assert_array_equal(space.C, space.B.T)
    np.testing.assert_array_equal(space.signs, 1.0)
    np.testing.assert_array_equal(space.D, 0.0)


def test_the_states_lead_back_to_the_rows_of_a_jointed_system():
    space = state_space(JOINTED)
    x = np.random.default_rng(3).normal(size=len(space.A))
    e = space.T @ x
    assert abs(JOINTED.energy(e) - 0.5 * x @ x) <= 1e-12 * (x @ x)
    assert np.abs(JOINTED.G @ e).max() <= 1e-12 * np.abs(e).max()
    np.testing.assert_allclose(JOINTED.B.T @ e, space.C @ x, rtol=0, atol=1e-12 * np.abs(e).max())


def test_an_indefinite_energy_keeps_its_poles():
    # an inverted pendulum, ẍ = 4 x + u
    rows, ports = ph.Layout({"v": (1,), "s": (1,)}, "row"), ph.Layout({"push": (1,)}, "port")
    falling = ph.LinearPHDAE(
        E=np.diag([2.0, -0.125]), J=[[0, -1], [1, 0]], B=[[2.0], [0.0]], rows=rows, ports=ports, split=1
    )
    space = state_space(falling)
    np.testing.assert_allclose(np.sort(la.eigvals(space.A).real), [-2.0, 2.0], rtol=1e-14)
    np.testing.assert_array_equal(np.sort(space.signs), [-1.0, 1.0])
    np.testing.assert_allclose(over(space), expected(falling), rtol=1e-13)


def test_rows_without_mass_become_feedthrough():
    # a mass m on a damper c whose other end is pushed: the end has no mass, y = u/c + v
    rows, ports = ph.Layout({"v": (2,)}, "row"), ph.Layout({"end": (1,)}, "port")
    m, c = 3.0, 5.0
    pushed = ph.LinearPHDAE(
        E=np.diag([m, 0.0]),
        J=np.zeros((2, 2)),
        R=c * np.array([[1, -1], [-1, 1]]),
        B=[[0], [1]],
        rows=rows,
        ports=ports,
    )
    space = state_space(pushed)
    assert space.A.shape == (1, 1)
    np.testing.assert_allclose(over(space)[:, 0, 0], 1 / c + 1 / (1j * OMEGA * m), rtol=1e-14)


def test_the_descriptor_form_eliminates_nothing():
    d = {name: matrix.toarray() for name, matrix in descriptor(DRIVEN).items()}
    for s, wanted in zip(1.0 + 1j * OMEGA[::20], expected(DRIVEN, OMEGA[::20], 1.0), strict=True):
        got = d["C"] @ la.solve(s * d["E"] - d["A"], d["B"]) + d["D"]
        assert np.abs(got - wanted).max() <= 1e-10 * np.abs(wanted).max()


def test_scipy_has_the_transfer_function_and_gives_it_back():
    there = to_scipy(PLANT)
    wanted = expected(PLANT)
    assert np.abs(over(there) - wanted).max() <= 1e-10 * np.abs(wanted).max()
    back = from_scipy(there, ports=("shoulder", "elbow"))
    assert back.ports == PLANT.ports
    assert back.passive
    assert np.abs(expected(back) - wanted).max() <= 1e-9 * np.abs(wanted).max()


# --- python-control --------------------------------------------------------------------------------------------------


def test_control_has_the_transfer_function_and_the_names():
    pytest.importorskip("control")
    there = to_control(PLANT, name="arm")
    assert there.name == "arm"
    assert there.input_labels == ["shoulder_effort", "elbow_effort"]
    assert there.output_labels == ["shoulder_flow", "elbow_flow"]
    values, wanted = np.moveaxis(there(1j * OMEGA), -1, 0), solved(PLANT)
    assert (np.abs(values - wanted) / np.abs(wanted)).max() <= 1e-10


def test_control_names_the_components_of_ports():
    pytest.importorskip("control")
    names = to_control(JOINTED.with_ports("upper.C", "elbow")).input_labels
    assert names == ["upper_C_effort[0]", "upper_C_effort[1]", "upper_C_effort[2]", "elbow_effort"]


def test_what_comes_back_from_control_is_passive_and_the_same():
    pytest.importorskip("control")
    back = from_control(to_control(PLANT))
    wanted = expected(PLANT)
    assert back.ports == PLANT.ports
    assert back.passive
    assert np.abs(expected(back) - wanted).max() <= 1e-9 * np.abs(wanted).max()


def test_signals_connect_by_name_in_control():
    control = pytest.importorskip("control")
    arm = to_control(PLANT.with_ports("elbow"), name="arm")
    brake = control.ss([], [], [], [[0.5]], inputs=["elbow_flow"], outputs=["torque"], name="brake")
    sums = control.summing_junction(["command", "-torque"], "elbow_effort", name="sums")
    loop = control.interconnect([arm, brake, sums], inputs=["command"], outputs=["elbow_flow"])
    g = expected(PLANT.with_ports("elbow"))[:, 0, 0]
    np.testing.assert_allclose(loop(1j * OMEGA), g / (1 + 0.5 * g), rtol=1e-8)


def test_a_controller_from_control_closes_the_loop_as_there():
    """PI with a filtered derivative on the elbow, seen from the shoulder."""
    control = pytest.importorskip("control")
    s = control.tf("s")
    pid = control.ss(0.8 + 2.0 / s + 0.1 * s / (1 + 0.01 * s))
    here = from_control(pid, ports=["tool"])
    assert here.passive
    loop = ph.gyrator(PLANT, "elbow", here, "tool")
    P, K = expected(PLANT), np.array([pid(1j * w) for w in OMEGA])
    wanted = P[:, 0, 0] - P[:, 0, 1] * K / (1 + P[:, 1, 1] * K) * P[:, 1, 0]
    got = ph.response(loop, "shoulder", omega=OMEGA).values[:, 0, 0]
    assert (np.abs(got - wanted) / np.abs(wanted)).max() <= 1e-9


# --- the energy of what is imported ----------------------------------------------------------------------------------


def random_passive(rng, n, m, loss, D):
    """A passive system in coordinates that hide it."""
    J, R, E, T, B = (rng.normal(size=(n, k)) for k in (n, n, n, n, m))
    J, R, E, T = J - J.T, loss(R @ R.T), E @ E.T + np.eye(n), la.qr(T)[0] @ np.diag(rng.uniform(0.5, 2, n))
    A = la.solve(E, J - R)
    return la.solve(T, A @ T), la.solve(T, la.solve(E, B)), B.T @ T, D


def one_loss(R):
    return np.diag(np.arange(len(R)) == 0).astype(float)


@pytest.mark.parametrize(
    "loss", [lambda R: 0.1 * R, one_loss, lambda R: 0 * R], ids=["damped", "one damper", "lossless"]
)
@pytest.mark.parametrize(("n", "m"), [(3, 1), (8, 2), (15, 3)])
@pytest.mark.parametrize("fed", [False, True], ids=["no feedthrough", "feedthrough"])
def test_an_energy_is_found_where_there_is_one(n, m, loss, fed):
    rng = np.random.default_rng(n)
    D = np.diag(rng.uniform(0.5, 1.0, m)) + np.triu(np.ones((m, m)), 1) - np.tril(np.ones((m, m)), -1) if fed else None
    A, B, C, D = random_passive(rng, n, m, loss, D)
    found = from_state_space(A, B, C, D, ports={"hand": m})
    assert found.passive
    assert max(found.structure().values()) <= 1e-12
    s = 0.3 + 1j * np.array([0.1, 1.0, 7.0])
    wanted = np.array([transfer(A, B, C, 0.0 if D is None else D, x) for x in s])
    got = expected(found, s.imag, 0.3)
    assert np.abs(got - wanted).max() <= 1e-9 * np.abs(wanted).max()
    again = state_space(found)
    assert len(again.A) == n
    assert (
        np.abs(np.array([transfer(again.A, again.B, again.C, again.D, x) for x in s]) - wanted).max()
        <= 1e-9 * np.abs(wanted).max()
    )


def test_the_energy_of_a_first_order_lag_is_known():
    # k/(s + a) with ẋ = −a x + b u, y = c x: X b = c
    lag = from_state_space([[-2.0]], [[3.0]], [[4.0]])
    np.testing.assert_allclose(lag.E.toarray(), [[4.0 / 3.0]], rtol=1e-14)
    np.testing.assert_allclose(lag.R.toarray(), [[2.0 * 4.0 / 3.0]], rtol=1e-14)


def test_the_energy_of_a_mass_on_a_spring_is_found():
    # x = (position, velocity), force in, velocity out: H = ½ k q² + ½ m v²
    m, k = 2.0, 50.0
    found = from_state_space([[0, 1], [-k / m, 0]], [[0], [1 / m]], [[0, 1]])
    np.testing.assert_allclose(found.E.toarray(), np.diag([k, m]), rtol=1e-12, atol=1e-12)
    assert found.lossless


def test_a_given_energy_is_taken():
    rng = np.random.default_rng(5)
    n, E = 6, np.diag(rng.uniform(1, 2, 6))
    J, B = rng.normal(size=(n, n)), rng.normal(size=(n, 2))
    R = 0.1 * np.eye(n)
    found = from_state_space(la.solve(E, J - J.T - R), la.solve(E, B), B.T, energy=E)
    np.testing.assert_allclose(found.E.toarray(), E, rtol=1e-14)
    np.testing.assert_allclose(found.R.toarray(), R, rtol=0, atol=1e-14)


# --- files and pyMOR -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", [PLANT, JOINTED, DRIVEN], ids=["plant", "jointed", "driven"])
def test_a_mat_file_keeps_every_number_and_name(system, tmp_path):
    to_matlab(system, tmp_path / "arm.mat")
    assert_equal(system, from_matlab(tmp_path / "arm.mat"))


def test_a_mat_file_keeps_names_of_any_letters_and_shapes(tmp_path):
    rows = ph.Layout({"bühne.v": (2, 2), "θ": (), "σ": (1,)}, "row")
    ports = ph.Layout({"motor 1": (1,)}, "port", {"alias": "motor 1"})
    odd = ph.LinearPHDAE(E=np.eye(6), J=np.zeros((6, 6)), B=np.full((6, 1), 0.1), rows=rows, ports=ports, split=4)
    to_matlab(odd, tmp_path / "odd.mat")
    assert_equal(odd, from_matlab(tmp_path / "odd.mat"))


def test_a_mat_file_is_plain_to_others(tmp_path):
    to_matlab(PLANT, tmp_path / "arm.mat")
    there = scipy.io.loadmat(tmp_path / "arm.mat", squeeze_me=True)
    assert {*MATRICES, "rows", "ports", "multipliers", "split"} <= set(there)
    assert there["ports"]["name"].item().tolist() == ["shoulder", "elbow"]
    np.testing.assert_array_equal(there["E"].toarray(), PLANT.E.toarray())


def test_a_mat_file_of_others_needs_three_matrices(tmp_path):
    scipy.io.savemat(tmp_path / "x.mat", {"E": np.eye(2), "J": [[0, 1.0], [-1, 0]], "B": [[1.0], [0]]})
    read = from_matlab(tmp_path / "x.mat")
    assert (read.rows.shapes, read.ports.shapes, read.lossless) == ({"x": (2,)}, {"u": (1,)}, True)


def test_pymor_gives_back_what_it_got():
    pytest.importorskip("pymor")
    assert_equal(PLANT, from_pymor(to_pymor(PLANT), like=PLANT))


def test_pymor_has_the_transfer_function():
    pytest.importorskip("pymor")
    model = to_pymor(JOINTED.with_ports("shoulder", "elbow"))
    wanted = solved(PLANT)
    got = np.array([model.transfer_function.eval_tf(1j * w) for w in OMEGA])
    assert (np.abs(got - wanted) / np.abs(wanted)).max() <= 1e-10


@pytest.mark.parametrize("fed", [False, True], ids=["Q", "Q, P, S and N"])
def test_all_matrices_of_a_model_of_pymor_come_in(fed):
    iosys = pytest.importorskip("pymor.models.iosys")
    rng = np.random.default_rng(2)
    n, m = 5, 2
    J, N, Q = rng.normal(size=(n, n)), rng.normal(size=(m, m)), rng.normal(size=(n, n))
    W = rng.normal(size=(n + m, n + m))
    W, G = W @ W.T, rng.normal(size=(n, m))
    X = rng.normal(size=(n, n))
    E = la.solve(Q.T, X @ X.T + np.eye(n))
    more = {"P": W[:n, n:], "S": W[n:, n:], "N": N - N.T} if fed else {}
    model = iosys.PHLTIModel.from_matrices(J - J.T, W[:n, :n], G, E=E, Q=Q, **more)
    here = from_pymor(model)
    assert here.passive
    s = 0.7 + 1j * np.array([0.2, 3.0])
    wanted = np.array([model.transfer_function.eval_tf(x) for x in s])
    assert np.abs(expected(here, s.imag, 0.7) - wanted).max() <= 1e-11 * np.abs(wanted).max()


def test_a_smaller_model_of_pymor_keeps_the_names_of_the_ports():
    pytest.importorskip("pymor")
    small = ph.LinearPHDAE(
        E=np.eye(2),
        J=[[0, -1.0], [1, 0]],
        B=np.eye(2),
        rows=ph.Layout({"v": (1,), "s": (1,)}, "row"),
        ports=replace(PLANT.ports, kind="port"),
    )
    back = from_pymor(to_pymor(small), like=PLANT)
    assert (back.ports, back.rows.shapes) == (PLANT.ports, {"x": (2,)})
