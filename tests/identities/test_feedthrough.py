"""E ė = (J − R) Q e + (B − P) u, y = (B + P)ᵀQ e + (S + N) u: structure, connection, reduction, motion, exports."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg as la
from bodies_zoo import steel
from messages import raises

import phloat as ph
from phloat.control.fmu import stepper
from phloat.io import from_control, from_matlab, from_pymor, from_scipy, to_control, to_matlab, to_pymor, to_scipy

OMEGA = np.geomspace(0.1, 30.0, 12)
S = 0.3 + 1j * OMEGA


def general(seed: int, ports: dict[str, int], n: int = 5, Q: bool = False) -> ph.LinearPHDAE:
    """A random system with all matrices; W ≥ 0 has the rank 3."""
    rng = np.random.default_rng(seed)
    m = sum(ports.values())
    W, J, N = rng.normal(size=(n + m, 3)), rng.normal(size=(n, n)), rng.normal(size=(m, m))
    W, X = W @ W.T, rng.normal(size=(n, n))
    more = {"Q": rng.normal(size=(n, n)) + 2.0 * np.eye(n)} if Q else {}
    E = X @ X.T + np.eye(n)
    return ph.LinearPHDAE(
        E=la.solve(more["Q"].T, E) if Q else E,
        J=J - J.T,
        R=W[:n, :n],
        B=rng.normal(size=(n, m)),
        P=W[:n, n:],
        S=W[n:, n:],
        N=N - N.T,
        rows=ph.Layout({f"x{seed}": (n,)}, "row"),
        ports=ph.Layout({name: (size,) for name, size in ports.items()}, "port"),
        **more,
    )


def H(system: ph.LinearPHDAE, s: np.ndarray = S) -> np.ndarray:
    """The transfer matrix by dense solutions, (s, ports, ports)."""
    parts = {name: m.toarray() for name, m in ph.descriptor(system).items()}
    return np.array([parts["C"] @ la.solve(x * parts["E"] - parts["A"], parts["B"]) + parts["D"] for x in s])


def equal(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-11) -> bool:
    return bool(np.abs(a - b).max() <= tolerance * np.abs(b).max())


# --- structure -------------------------------------------------------------------------------------------------------


def test_the_matrices_are_those_of_the_literature():
    rng = np.random.default_rng(4)
    n, m = 4, 2
    W, J, N, Q = (rng.normal(size=shape) for shape in ((n + m, 4), (n, n), (m, m), (n, n)))
    W, J, N, B = W @ W.T, J - J.T, N - N.T, rng.normal(size=(n, m))
    R, P, S_0 = W[:n, :n], W[:n, n:], W[n:, n:]
    W = np.block([[Q.T @ R @ Q, Q.T @ P], [P.T @ Q, S_0]])
    E = la.solve(Q.T, np.diag([1.0, 2.0, 3.0, 4.0]))
    names = {"rows": ph.Layout({"x": (n,)}, "row"), "ports": ph.Layout({"u": (m,)}, "port")}
    system = ph.LinearPHDAE(E=E, J=J, R=R, B=B, P=P, S=S_0, N=N, Q=Q, **names)
    expected = [(B + P).T @ Q @ la.solve(s * E - (J - R) @ Q, B - P) + S_0 + N for s in S]
    assert equal(ph.response(system, "u", omega=OMEGA, shift=0.3).values, np.array(expected))
    np.testing.assert_allclose(system.W.toarray(), W, atol=1e-12)
    e, u = rng.normal(size=n), rng.normal(size=m)
    rate = la.solve(E, (J - R) @ Q @ e + (B - P) @ u)
    assert system.energy(e) == pytest.approx(0.5 * e @ Q.T @ E @ e)
    lost = system.output(e, np.zeros(0), u) @ u - e @ Q.T @ E @ rate  # yᵀu − Ḣ
    assert lost == pytest.approx(np.append(e, u) @ W @ np.append(e, u), rel=1e-12) == system.loss(e, u)
    assert system.passive and system.has_feedthrough


def test_what_is_not_given_costs_nothing():
    plain = ph.LinearPHDAE(E=[[1.0]], J=[[0]], B=[[1.0]], rows=ph.Layout({"v": (1,)}), ports=ph.Layout({"f": (1,)}))
    assert not plain.has_feedthrough and plain.input_map is plain.B is plain.output_map
    assert (plain.P.nnz, plain.S.nnz, plain.N.nnz) == (0, 0, 0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"N": [[0.0, 1.0], [1.0, 0.0]]}, "N is not skew"),
        ({"S": [[1.0, 2.0], [0.0, 1.0]]}, "S is not symmetric"),
        ({"S": [[1.0, 0.0], [0.0, -1.0]]}, "W"),
        ({"S": [[1.0, 0.0], [0.0, 1.0]], "P": [[1.1, 0.0], [0.0, 0.0]]}, "W"),
        ({"P": [[0.1, 0.0], [0.0, 0.0]]}, "W"),
        ({"S": [[1.0]]}, "S is (1, 1)"),
        ({"Q": [[1.0, 0.0], [0.0, 0.0]]}, "Q is singular"),
        ({"Q": [[1.0, 2.0], [0.0, 1.0]]}, "E is not symmetric"),
        ({"Q": [[1.0]]}, "Q is (1, 1)"),
        ({"P": [[np.nan, 0.0], [0.0, 0.0]]}, "P contains NaN"),
    ],
    ids=str,
)
def test_a_form_that_is_none_is_named(change, words):
    names = {"rows": ph.Layout({"x": (2,)}, "row"), "ports": ph.Layout({"u": (2,)}, "port")}
    whole = {"E": np.eye(2), "J": np.zeros((2, 2)), "R": np.eye(2), "B": np.eye(2), **names}
    ph.LinearPHDAE(**whole)
    with raises(ph.errors.StructureError, words):
        ph.LinearPHDAE(**whole | change)


def test_units_of_ports_do_not_hide_a_negative_dissipation():
    names = {"rows": ph.Layout({"x": (1,)}, "row"), "ports": ph.Layout({"a": (1,), "b": (1,)}, "port")}
    with raises(ph.errors.StructureError, "W"):
        ph.LinearPHDAE(E=[[1.0]], J=[[0]], R=[[1e12]], B=[[1.0, 0.0]], S=np.diag([1.0, -1e-12]), **names)


def test_ports_are_chosen_and_split_with_their_feedthrough():
    whole = general(1, {"a": 1, "b": 3})
    parts = whole.split_port("b", {"force": (2, 0), "torque": 1})
    assert parts.ports.names == ("a", "b.force", "b.torque")
    order = [0, 3, 1, 2]
    assert equal(H(parts), H(whole)[:, order][:, :, order])
    assert equal(H(whole.with_ports("b")), H(whole)[:, 1:, 1:])
    for wrong in ({"x": (0, 1)}, {"x": (0, 1), "y": (1, 2)}, {"x": (0, 1, 2, 3)}):
        with raises(ph.errors.InputError, "'b'"):
            whole.split_port("b", wrong)


# --- responses and state spaces --------------------------------------------------------------------------------------


@pytest.mark.parametrize("Q", [False, True], ids=["", "Q"])
def test_responses_and_state_spaces_have_the_feedthrough(Q):
    system = general(2, {"a": 1, "b": 2}, Q=Q)
    many = np.geomspace(0.1, 30.0, 40)  # by a Schur form
    assert equal(ph.response(system, ("a", "b"), omega=many, shift=0.3).values, H(system, 0.3 + 1j * many))
    one = ph.response(system, "b[1]", "a", omega=OMEGA, shift=0.3)
    assert equal(one["a", "b[1]"], H(system)[:, 0, 2])
    plant = ph.state_space(system)
    values = [plant.C @ la.solve(s * np.eye(len(plant.A)) - plant.A, plant.B) + plant.D for s in S]
    assert equal(np.array(values), H(system))
    np.testing.assert_allclose(plant.D, system.D.toarray(), atol=1e-15)


def test_zeros_are_the_poles_of_the_inverse():
    """u = D⁻¹(y − C x): with y = 0 the poles are the zeros."""
    system = general(3, {"a": 2})
    plant = ph.state_space(system)
    expected = la.eigvals(plant.A - plant.B @ la.solve(plant.D, plant.C))
    expected = expected[expected.imag >= 0.0]
    np.testing.assert_allclose(ph.zeros(system, "a"), expected[np.argsort(np.abs(expected))], rtol=1e-9)
    np.testing.assert_allclose(ph.poles(ph.swap_causality(system, "a")), ph.zeros(system, "a"), rtol=1e-9)


def circuit(R_p: float = 50.0) -> ph.LinearPHDAE:
    """Voltage in, current out: an inductor and a capacitor in series with a resistor that is a massless row; R_p beside them."""
    return ph.LinearPHDAE(
        E=np.diag([1e-3, 1e-6, 0.0, 0.0]),  # current of L, voltage of C, current through R, current of R_p
        J=[[0, -1.0, -1.0, 0], [1.0, 0, 0, 0], [1.0, 0, 0, 0], [0, 0, 0, 0]],
        R=np.diag([0, 0, 1 / 8.0, R_p]),
        B=[[1.0], [0], [0], [1.0]],
        rows=ph.Layout({"L": (1,), "C": (1,), "R": (1,), "R_p": (1,)}, "row"),
        ports=ph.Layout({"supply": (1,)}, "port"),
    )


def test_a_resistor_beside_the_port_is_a_feedthrough():
    whole = circuit()
    reduced = ph.eliminate(whole, massless=True)
    assert reduced.rows.names == ("L", "C")
    assert reduced.S.toarray() == pytest.approx(1 / 50.0) and not reduced.P.nnz
    assert reduced.R.toarray()[0, 0] == pytest.approx(8.0)
    s = 1j * np.geomspace(1e2, 1e6, 9)
    expected = 1 / 50.0 + 1.0 / (s * 1e-3 + 1.0 / (s * 1e-6) + 8.0)
    for system in (whole, reduced):
        found = ph.response(system, "supply", omega=s.imag)["supply", "supply"]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        np.testing.assert_allclose(ph.poles(system), [-4000.0 + 1j * np.sqrt(1e9 - 16e6)], rtol=1e-12)


def test_massless_rows_that_do_not_follow_are_named():
    whole = circuit(R_p=0.0)
    with raises(ph.errors.InputError, "R_p"):
        ph.eliminate(whole, massless=True)


# --- connection ------------------------------------------------------------------------------------------------------


def both(seed: int, fed: tuple[bool, bool]) -> tuple[ph.LinearPHDAE, ph.LinearPHDAE, np.ndarray]:
    """Two systems with the ports a, p and q, b, with feedthrough or not; C of the connection p–q."""
    systems = general(seed, {"a": 1, "p": 2}), general(seed + 50, {"q": 3, "b": 2})
    none = {"P": np.zeros((0, 0)), "S": np.zeros((0, 0)), "N": np.zeros((0, 0))}
    one, two = (x if f else replace(x, **none) for x, f in zip(systems, fed, strict=True))
    return one, two, np.random.default_rng(seed).normal(size=(2, 3))


def expected_of(one: ph.LinearPHDAE, two: ph.LinearPHDAE, rows: np.ndarray) -> np.ndarray:
    """H of the open ports (a, b) under the conditions rows (u_p, u_q, y_p, y_q) = 0, from the transfer matrices of the parts."""
    out = []
    for A, B in zip(H(one), H(two), strict=True):
        whole = la.block_diag(A, B)  # a, p, q, b
        inner, outer = [1, 2, 3, 4, 5], [0, 6, 7]
        conditions = rows @ np.vstack([np.eye(5), whole[np.ix_(inner, inner)]])
        u = -la.solve(conditions, rows[:, 5:] @ whole[np.ix_(inner, outer)])
        out.append(whole[np.ix_(outer, outer)] + whole[np.ix_(outer, inner)] @ u)
    return np.array(out)


FED = pytest.mark.parametrize("fed", [(False, False), (True, False), (False, True), (True, True)], ids=str)


@FED
def test_a_transformer_is_that_of_the_transfer_functions(fed):
    one, two, C = both(5, fed)
    joined = ph.transformer(one, "p", two, "q", C)
    # u_p + C u_q = 0, y_q − Cᵀy_p = 0
    rows = np.block([[np.eye(2), C, np.zeros((2, 5))], [np.zeros((3, 5)), -C.T, np.eye(3)]])
    assert equal(H(joined), expected_of(one, two, rows), 1e-10)
    assert max(joined.structure().values()) < 1e-14
    swapped = ph.gyrator(one, "p", ph.swap_causality(two, "q"), "q", C)  # (43), (44) give (42)
    assert equal(H(swapped), H(joined), 1e-10)
    assert max(swapped.structure().values()) < 1e-14


@FED
def test_a_gyrator_is_that_of_the_transfer_functions(fed):
    one, two, C = both(6, fed)
    joined = ph.gyrator(one, "p", two, "q", C)
    # u_p + C y_q = 0, u_q − Cᵀy_p = 0
    rows = np.block([[np.eye(2), np.zeros((2, 5)), C], [np.zeros((3, 2)), np.eye(3), -C.T, np.zeros((3, 3))]])
    assert equal(H(joined), expected_of(one, two, rows), 1e-10)
    assert max(joined.structure().values()) < 1e-14
    assert joined.ports.names == ("a", "b")


@FED
def test_a_wire_leaves_the_port_of_the_plant_open(fed):
    one, two, _ = both(7, fed)
    two = two.split_port("q", {"1": (0, 2), "2": 1})
    loop = ph.wire({"plant": one, "c": two}, [ph.Wire("c.q.1", "plant.p", 0.7)])
    assert loop.ports.names == ("plant.a", "plant.p", "c.q.2", "c.b")
    parts = ph.append_systems(one, two)
    K = np.zeros((8, 8))
    K[1:3, 3:5], K[3:5, 1:3] = -0.7 * np.eye(2), 0.7 * np.eye(2)
    kept = [0, 1, 2, 5, 6, 7]
    expected = np.array([la.solve(np.eye(8) - x @ K, x) for x in H(parts)])[:, kept][:, :, kept]
    assert equal(H(loop), expected, 1e-10)
    assert max(loop.structure().values()) < 1e-14


@FED
def test_a_swapped_port_takes_its_flow(fed):
    one, _, _ = both(8, fed)
    swapped = ph.swap_causality(one, "p")
    assert swapped.driven() == ("p",) and swapped.ports.names == ("a", "p")
    values = H(one)
    a, p, D = values[:, :1, 1:], values[:, 1:, :1], np.array([la.inv(x[1:, 1:]) for x in values])
    expected = np.block([[values[:, :1, :1] - a @ D @ p, a @ D], [-D @ p, D]])
    assert equal(H(swapped), expected, 1e-10)
    if fed[0]:  # otherwise a mass is moved
        assert ph.state_space(swapped).inputs == ("a.effort", "p.flow[0]", "p.flow[1]")
    back = ph.gyrator(swapped, "p", general(9, {"z": 2}), "z")  # a driven port of a system with feedthrough
    assert max(back.structure().values()) < 1e-14 and back.ports.names == ("a",)


def hall(gain: float, name: str) -> ph.LinearPHDAE:
    """A gyrator without states but one that nothing moves: y_1 = −g u_2, y_2 = g u_1."""
    return ph.LinearPHDAE(
        E=[[1.0]],
        J=[[0.0]],
        R=[[1.0]],
        B=[[0.0, 0.0]],
        N=[[0.0, -gain], [gain, 0.0]],
        rows=ph.Layout({f"{name}.rest": (1,)}, "row"),
        ports=ph.Layout({f"{name}.1": (1,), f"{name}.2": (1,)}, "port"),
    )


def test_a_skew_feedthrough_between_two_masses_is_a_gyrator():
    """Mass – Hall element – mass: the second mass looks like a spring, ω = g⁻¹/√(m₁ m₂)."""
    mass = {"J": [[0.0]], "B": [[1.0]], "ports": ph.Layout({"f": (1,)}, "port"), "split": 1}
    one, two = (
        ph.LinearPHDAE(E=[[m]], rows=ph.Layout({"v": (1,)}, "row"), **mass).prefixed(name)
        for m, name in ((2.0, "one"), (0.5, "two"))
    )
    joined = ph.transformer(ph.transformer(one, "one.f", hall(4.0, "h"), "h.1"), "h.2", two, "two.f")
    found = ph.poles(joined)
    np.testing.assert_allclose(found, [0.25j, -1.0], rtol=1e-12)  # and the state at rest
    assert joined.passive and not joined.ports


def test_an_algebraic_loop_is_named():
    """Three quarter turns of Hall elements of gain one: 1 − D K is singular."""
    one, two = hall(1.0, "x"), hall(1.0, "y")
    wires = [ph.Wire("a.x.1", "b.y.1"), ph.Wire("a.x.2", "b.y.2")]
    with raises(ph.errors.InputError, "'a.x.1'"):
        ph.wire({"a": one, "b": two}, wires)
    other = hall(1.1, "y")
    assert ph.wire({"a": one, "b": other}, wires).passive


# --- the paper's (41) and (42) ---------------------------------------------------------------------------------------


def test_ports_split_into_parts_make_a_hinge_of_two_beams():
    """(41): u_∂ = (u_int, u_ext); (42) with R couples the forces, the torques stay ports; as `connect` with a Revolute."""
    section = ph.Rectangle(0.02, 0.03)
    body = ph.Beam(1.0, section, steel).discretise(2)
    plane = body.in_plane().linear()
    angle = 0.7
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    a, b = (plane.split_port(end, {"int": (0, 1), "ext": 2}).prefixed(name) for name, end in (("a", "C"), ("b", "P")))
    joined = ph.transformer(a, "a.C.int", b, "b.P.int", R)
    assert joined.ports.names == ("a.P", "a.C.ext", "b.P.ext", "b.C")
    hinge = ph.Revolute("a.C", "b.P", name="hinge")
    system = ph.connect({"a": body, "b": body}, joints=[hinge], plane="xy")
    linear = ph.linearise(system, ph.place(system, {"a.theta": 0.2, "b.theta": 0.2 + angle}))
    ends = ("a.P[2]", "a.C[2]", "b.P[2]", "b.C[2]")  # torques: the axes of sections differ in forces
    mine = ph.response(joined, ("a.P[2]", "a.C.ext", "b.P.ext", "b.C[2]"), omega=np.geomspace(10, 1e4, 8)).values
    assert equal(mine, ph.response(linear, ends, omega=np.geomspace(10, 1e4, 8)).values, 1e-8)
    np.testing.assert_allclose(ph.modes(joined).omega, ph.modes(linear).omega, rtol=1e-9)


# --- motion ----------------------------------------------------------------------------------------------------------


def damped(P: bool = True) -> ph.LinearPHDAE:
    """An arm with damping and a feedthrough of its two hinges: P = R K, S = KᵀR K + 1, N ≠ 0."""
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel, damping=ph.KelvinVoigt(1e-4)).discretise(3)
    joints = [ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")]
    system = ph.connect({"upper": link, "lower": link}, joints, plane="xy")
    arm = ph.linearise(system, ph.place(system, {"upper.theta": 0.3, "lower.theta": 0.9})).with_ports(
        "shoulder", "elbow"
    )
    K = 0.3 * arm.B.toarray() if P else 0.0 * arm.B.toarray()
    N = [[0.0, -3.0], [3.0, 0.0]]
    return replace(arm, P=arm.R @ K, S=K.T @ (arm.R @ K) + 0.5 * np.eye(2), N=N)


PLANTS = {
    "arm": damped(),
    "arm without joints": ph.eliminate(damped()),
    "general": general(11, {"shoulder": 1, "elbow": 1}),
    "driven": ph.swap_causality(general(12, {"shoulder": 1, "elbow": 1}), "elbow"),
}


@pytest.mark.parametrize("name", PLANTS)
def test_the_energy_of_a_run_is_balanced(name):
    """yᵀu − Ḣ − (e, u)ᵀW (e, u) = 0 in every step, to round-off of the energies that flow."""
    system = PLANTS[name]
    u = {"shoulder": lambda t: np.sin(3.0 * t) + 0.5, "elbow": lambda t: np.cos(2.0 * t) * (name != "driven")}
    run = ph.simulate(system, t_end=2.0, dt=0.01, u=u)
    flow = np.abs(run.works).sum(axis=1) + run.lost
    assert np.abs(run.residual).max() <= 1e-12 * flow.max()
    assert (np.diff(run.lost) >= 0.0).all() and run.lost[-1] > 0.0
    y = run.y["shoulder"][:, 0]
    D = (system.S + system.N).toarray()
    own = (system.output_map.T @ run.e.T + system.B_lam.T @ run.lam.T + D @ run.u.T).T
    np.testing.assert_allclose(y, own[:, system.ports["shoulder"]][:, 0], rtol=1e-12, atol=1e-15)


def test_a_step_response_is_that_of_the_matrix_exponential():
    system = general(11, {"a": 1, "b": 1})
    plant, (T, step) = ph.state_space(system), (0.5, np.array([1.0, -2.0]))
    block = np.block([[plant.A, (plant.B @ step)[:, None]], [np.zeros((1, len(plant.A) + 1))]])
    x = la.expm(T * block)[:-1, -1]
    expected = plant.C @ x + plant.D @ step
    errors = []
    for dt in (0.01, 0.005):
        run = ph.simulate(system, t_end=T, dt=dt, u={"a": 1.0, "b": -2.0})
        errors.append(np.abs(np.append(run.y["a"][-1], run.y["b"][-1]) - expected).max())
    assert errors[0] < 1e-3 and 3.8 < errors[0] / errors[1] < 4.2


def test_a_controller_reads_the_feedthrough_of_its_last_inputs():
    system = general(11, {"a": 1, "b": 1})
    seen = []

    def controller(t, y):
        seen.append((t, y["a"], y["a.way"]))
        return {"a": np.sin(t)}

    run = ph.simulate(system, t_end=0.5, dt=0.05, u={"b": 1.0}, controller=controller)
    u = np.stack([np.append(0.0, run.u[:-1, 0]), run.u[:, 1]])  # just before: the input of the step that ends
    expected = system.output(run.e.T, np.zeros((0, len(run))), u)[0]
    np.testing.assert_allclose([y for _, y, _ in seen], expected, rtol=1e-12)
    y_mean = system.output(0.5 * (run.e[1:] + run.e[:-1]).T, np.zeros((0, len(run) - 1)), run.u[:-1].T)[0]
    np.testing.assert_allclose([way for *_, way in seen][1:], 0.05 * np.cumsum(y_mean), rtol=1e-12)


def test_a_run_has_the_same_inputs_at_given_times_as_at_its_steps():
    """At a sample of the controller those that it has just set, also at the start and at the end."""
    options = {"dt": 0.05, "u": {"b": 1.0}, "controller": lambda t, y: {"a": np.cos(7.0 * t)}, "every": 0.1}
    whole = ph.simulate(general(11, {"a": 1, "b": 1}), t_end=0.5, **options)
    chosen = [0, 1, 2, 7, 10]
    some = ph.simulate(general(11, {"a": 1, "b": 1}), t_end=0.5, output=whole.t[chosen], **options)
    np.testing.assert_array_equal(some.u, whole.u[chosen])
    np.testing.assert_allclose(some.y["a"], whole.y["a"][chosen], rtol=1e-12)
    assert whole.u[0, 0] == 1.0


def test_rows_without_energy_follow_at_every_output():
    """The effort between two ports with feedthrough, from an inconsistent start and with jumps of the input."""
    one, two, C = both(5, (True, True))
    whole = ph.transformer(one, "p", two, "q", C)
    reduced, start = ph.eliminate(whole, massless=True), {"x5": np.arange(5.0), "x55": np.ones(5)}
    jumps = {"a": lambda t: 1.0 if t < 0.15 else -2.0}
    runs = [ph.simulate(system, start, 0.3, dt=0.01, u=jumps) for system in (whole, reduced)]
    for quantity in (lambda run: run.y["a"], lambda run: run.y["b"], lambda run: run.works, lambda run: run.lost):
        np.testing.assert_allclose(*map(quantity, runs), rtol=1e-9, atol=1e-9)
    for e, u in zip(runs[0].e, runs[0].u, strict=True):
        row = (whole.dynamics @ e + whole.input_map @ u)[whole.rows["p-q"]]
        assert np.abs(row).max() <= 1e-12 * np.abs(e).max()
    unit = stepper(whole, np.concatenate([np.arange(5.0), np.ones(5), np.zeros(3)]), 0.01, outputs=["p-q"])
    unit.inputs["a.effort"][:] = 1.0
    unit.begin(0.0)
    unit.advance(0.0, 0.1)
    np.testing.assert_allclose(unit.outputs()["p-q"], runs[0]["p-q"][10], rtol=1e-9)


def test_the_damper_of_a_wired_controller_follows_the_velocity():
    mass = ph.LinearPHDAE(
        E=[[2.0]],
        J=[[0.0]],
        B=[[1.0]],
        rows=ph.Layout({"v": (1,)}, "row"),
        ports=ph.Layout({"f": (1,)}, "port"),
        split=1,
    )
    damper = ph.control.passive_pid("f", damping=0.7).system
    loop = ph.wire({"m": mass, "c": damper}, [ph.Wire("c.port", "m.f")])
    run = ph.simulate(loop, {"m.v": [1.0]}, 0.5, dt=0.05)
    np.testing.assert_allclose(run["c.damper"], 0.7 * run["m.v"], rtol=1e-12)


def pi(gain: float = 4.0, rate: float = 30.0) -> ph.LinearPHDAE:
    """y = (gain + rate/s) u as a port-Hamiltonian system with S = gain."""
    return ph.from_state_space([[0.0]], [[1.0]], [[rate]], [[gain]], ports=["port"])


def test_a_pi_controller_with_a_direct_term_is_the_spring_and_damper():
    plant = ph.eliminate(replace(damped(P=False), S=np.zeros((0, 0)), N=np.zeros((0, 0))))
    mine = ph.control.passive_controller(pi(), ph.Wire("port", "elbow"), name="c")
    other = ph.control.passive_pid("elbow", stiffness=30.0, damping=4.0, name="d")
    loop, reference = ph.control.closed_loop(plant, mine), ph.control.closed_loop(plant, other)
    assert loop.passive and not loop.has_feedthrough
    np.testing.assert_allclose(ph.poles(loop), ph.poles(reference), rtol=1e-9)
    assert ph.control.passivity_certificate(loop).passive
    start = {"v": np.linspace(0.1, 0.4, plant.rows.shape("v")[0])}
    together, inside = (ph.simulate(x, start, 0.5, dt=0.005, controller=c) for x, c in ((plant, mine), (plant, other)))
    np.testing.assert_allclose(together.e, inside.e, atol=1e-9)
    closed = ph.simulate(loop, start, 0.5, dt=0.005)
    np.testing.assert_allclose(together.e, closed.e[:, loop.rows.indices(plant.rows)], atol=1e-9)


def test_the_integral_part_of_a_controller_is_a_spring_in_the_order_of_rows():
    """Continuous stresses are more than motions: without the order (v | σ) each of the others would be a pole at zero."""
    rod = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel, damping=ph.KelvinVoigt(1e-5), spaces="paper").discretise(4)
    hinges = [ph.Revolute("ground", "a.P", name="shoulder"), ph.Revolute("a.C", "b.P", name="elbow")]
    spring = [ph.JointSpring("elbow", stiffness=30.0), ph.JointDamper("elbow", damping=4.0)]
    arm, sprung = (ph.connect({"a": rod, "b": rod}, parts, plane="xy") for parts in (hinges, hinges + spring))
    controller = ph.control.passive_controller(pi(), ph.Wire("port", "elbow"), name="c")
    loop = ph.control.closed_loop(ph.linearise(arm, ph.place(arm)), controller)
    reference = ph.linearise(sprung, ph.place(sprung))
    assert loop.passive and loop.rows["c.x"].start >= loop.split > 0
    np.testing.assert_allclose(ph.poles(loop)[1:], ph.poles(reference)[1:], rtol=1e-6)  # beside the rigid motion
    np.testing.assert_allclose(ph.modes(loop, 6).omega, ph.modes(reference, 6).omega, rtol=1e-8, atol=1e-6)


def test_a_damper_at_a_mechanism_under_its_weight_leaves_it_passive():
    """Its effort, a row without energy, came into the test whether stresses of loads make the energy negative."""
    rod = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel).discretise(2)
    hinges = [ph.Revolute("ground", "a.P", name="shoulder"), ph.Revolute("a.C", "b.P", name="elbow")]
    arm = ph.connect({"a": rod, "b": rod}, hinges, plane="xy", gravity=(0.0, -9.81, 0.0))
    damper = replace(general(3, {"d": 1}), split=5).prefixed("c")
    for angle in (-np.pi / 2, np.pi / 2):  # hanging, and upside down
        near = ph.place(arm, {"a.theta": angle, "b.theta": angle})
        with nullcontext() if angle < 0.0 else pytest.warns(ph.errors.UnstableEquilibriumWarning):
            state = ph.equilibrium(arm, near)
        joined = ph.transformer(ph.linearise(arm, state).with_ports("elbow"), "elbow", damper, "c.d")
        assert joined.passive == (angle < 0.0)


def test_a_loop_with_a_plant_that_has_a_feedthrough_is_that_of_the_transfer_functions():
    plant = general(11, {"a": 1, "b": 1})
    loop = ph.control.closed_loop(plant, ph.control.passive_controller(pi(), ph.Wire("port", "a", 0.5), name="c"))
    k = np.array([np.diag([0.25 * (4.0 + 30.0 / s), 0.0]) for s in S])
    assert equal(H(loop), np.array([la.solve(np.eye(2) + x @ c, x) for x, c in zip(H(plant), k, strict=True)]), 1e-10)
    assert ph.control.passivity_certificate(loop).passive


# --- reduction -------------------------------------------------------------------------------------------------------


def test_reduced_systems_keep_the_feedthrough_and_are_passive():
    plant, band = damped(), (1.0, 3000.0)
    bases = {
        "modal": ph.reduction.modal_basis(plant, count=4, static=True),
        "krylov": ph.reduction.krylov_basis(plant, [200j, 900j]),
        "balanced": ph.reduction.balanced_basis(plant, order=14, band=(1.0, 300.0)),
        "craig": ph.reduction.craig_bampton_basis(plant, modes=8),
    }
    for name, basis in bases.items():
        small = ph.reduction.project(plant, basis)
        assert small.passive and max(small.structure().values()) < 1e-12, name
        np.testing.assert_array_equal(small.D.toarray(), plant.D.toarray())
        error = ph.reduction.reduction_error(plant, small, band=(1.0, 300.0)).largest
        assert error < 2e-2, (name, error)
    exact = ph.reduction.project(plant, bases["krylov"])
    full, small = (ph.response(x, ("shoulder", "elbow"), omega=[200.0, 900.0]).values for x in (plant, exact))
    assert equal(small, full, 1e-9)
    automatic = ph.reduction.reduce_to_tolerance(plant, tolerance=1e-3, band=band)
    assert ph.reduction.reduction_error(plant, automatic, band=band).largest < 1e-3
    assert automatic.passive and automatic.has_feedthrough and automatic.rows.size < ph.eliminate(plant).rows.size


def test_irka_keeps_the_feedthrough():
    pytest.importorskip("pymor")
    plant = damped()
    small = ph.reduction.project(plant, ph.reduction.irka_basis(plant, order=10))
    assert small.passive and small.has_feedthrough
    assert ph.reduction.reduction_error(plant, small, band=(1.0, 300.0)).largest < 5e-2


def test_a_run_of_a_reduced_system_is_balanced():
    small = ph.reduction.project(damped(), ph.reduction.modal_basis(damped(), count=3))
    run = ph.simulate(small, t_end=0.5, dt=1e-3, u={"shoulder": lambda t: np.sin(40.0 * t)})
    assert np.abs(run.residual).max() <= 1e-12 * (np.abs(run.works).sum(axis=1) + run.lost).max()


def test_a_damper_between_two_beams_goes_the_whole_way(tmp_path):
    """A port that gives way by S f, connected to a second beam: a damper 1/S between the ends.

    Connected, without the massless effort, reduced, simulated, exported and read again: the same response, balanced and passive.
    """
    d, K = 3.0, ph.KelvinVoigt(2e-5)
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel, damping=K).discretise(3).in_plane().linear()
    axes = {"x": 0, "y": 1, "turn": 2}
    a, b = link.split_port("C", axes).prefixed("a"), link.split_port("P", axes).prefixed("b")
    S = np.zeros((6, 6))
    S[a.ports["a.C.y"], a.ports["a.C.y"]] = 1.0 / d
    yielding = replace(a, S=S)
    joined = ph.transformer(yielding, "a.C.y", b, "b.P.y").with_ports("a.P", "b.C")
    assert joined.passive and "a.C.y-b.P.y" in joined.rows
    loose = ph.append_systems(a, b)
    gap = loose.B[:, loose.ports["a.C.y"]] - loose.B[:, loose.ports["b.P.y"]]
    expected = replace(loose, R=loose.R + d * (gap @ gap.T)).with_ports("a.P", "b.C")
    w, ports = np.geomspace(5.0, 2000.0, 9), ("a.P", "b.C")
    response = ph.response(expected, ports, omega=w, shift=0.1).values
    plant = ph.eliminate(joined, massless=True)
    assert plant.separable and not plant.has_feedthrough  # the feedthrough has become the damper
    for system in (joined, plant):
        assert equal(ph.response(system, ports, omega=w, shift=0.1).values, response, 1e-9)
    fed = replace(plant, S=0.2 * np.eye(6), N=np.eye(6, k=1) - np.eye(6, k=-1))
    small = ph.reduction.reduce_to_tolerance(fed, tolerance=1e-4, band=(5.0, 2000.0))
    np.testing.assert_allclose(small.E.toarray(), np.eye(small.rows.size), atol=1e-9)  # no rigid motion comes twice
    assert small.passive and small.has_feedthrough and small.rows.size < fed.rows.size
    run = ph.simulate(small, t_end=0.2, dt=1e-3, u={"a.P": lambda t: np.array([0.0, np.sin(60.0 * t), 0.0])})
    assert np.abs(run.residual).max() <= 1e-12 * (np.abs(run.works).sum(axis=1) + run.lost).max()
    to_matlab(small, tmp_path / "small.mat")
    back = from_scipy(to_scipy(from_matlab(tmp_path / "small.mat")), ports={"a.P": 3, "b.C": 3}, energy=None)
    assert back.passive and max(back.structure().values()) < 1e-12
    again = ph.response(back, ports, omega=w, shift=0.1).values
    assert equal(again, ph.response(small, ports, omega=w, shift=0.1).values, 1e-9)
    assert equal(again, response + fed.D.toarray(), 1e-3)


# --- out and back ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["arm", "general"])
def test_what_goes_out_comes_back(name, tmp_path):
    system = PLANTS[name]
    w = np.geomspace(1.0, 300.0, 9)
    expected = ph.response(system, ("shoulder", "elbow"), omega=w).values
    to_matlab(system, tmp_path / "x.mat")
    back = from_matlab(tmp_path / "x.mat")
    for matrix in "EJRBPSN":
        np.testing.assert_array_equal(getattr(back, matrix).toarray(), getattr(system, matrix).toarray())
    there = to_scipy(system)
    values = [there.C @ la.solve(1j * x * np.eye(len(there.A)) - there.A, there.B) + there.D for x in w]
    assert equal(np.array(values), expected, 1e-9)
    again = from_scipy(there, ports=["shoulder", "elbow"], energy=np.eye(len(there.A)))
    assert again.passive and again.has_feedthrough and not again.multipliers
    assert equal(ph.response(again, ("shoulder", "elbow"), omega=w).values, expected, 1e-8)
    np.testing.assert_allclose(again.D.toarray(), system.D.toarray(), rtol=1e-9, atol=1e-12)


def test_an_energy_is_computed_for_a_state_space_with_feedthrough():
    system = general(13, {"a": 1, "b": 1})
    system = replace(system, R=system.R + np.eye(5), S=system.S + 0.1 * np.eye(2))
    plant = ph.state_space(system)
    T = np.random.default_rng(0).normal(size=(5, 5))
    A, B, C = la.solve(T, plant.A @ T), la.solve(T, plant.B), plant.C @ T
    found = ph.from_state_space(A, B, C, plant.D, ports=["a", "b"])
    assert found.passive and found.rows.size == 5 and not found.multipliers and not found.driven()
    assert equal(H(found), H(system), 1e-8)
    assert max(found.structure().values()) < 1e-12


def test_python_control_has_the_feedthrough():
    pytest.importorskip("control")
    system = PLANTS["general"]
    there = to_control(system)
    np.testing.assert_allclose(there.D, system.D.toarray(), atol=1e-14)
    back = from_control(there, energy=np.eye(5))
    assert back.ports.names == ("shoulder", "elbow") and equal(H(back), H(system), 1e-9)


def test_pymor_has_the_feedthrough():
    pytest.importorskip("pymor")
    system = PLANTS["general"]
    model = to_pymor(system)
    assert equal(np.array([model.transfer_function.eval_tf(s) for s in S]), H(system), 1e-10)
    back = from_pymor(model, like=system)
    for matrix in "EJRBPSN":
        np.testing.assert_array_equal(getattr(back, matrix).toarray(), getattr(system, matrix).toarray())


def test_a_unit_for_cosimulation_gives_what_simulate_gives():
    system = PLANTS["general"]
    unit = stepper(system, None, 0.01)
    unit.inputs["shoulder.effort"][:] = 2.0
    unit.begin(0.0)
    np.testing.assert_allclose(unit.outputs()["shoulder.flow"], 2.0 * system.S.toarray()[0, 0], rtol=1e-14)
    unit.advance(0.0, 0.3)
    run = ph.simulate(system, t_end=0.3, dt=0.01, u={"shoulder": 2.0})
    np.testing.assert_allclose(unit.outputs()["elbow.flow"], run.y["elbow"][-1], rtol=1e-12)
    mean = system.output(0.5 * (run.e[1:] + run.e[:-1]).T, np.zeros((0, 30)), run.u[:-1].T)
    np.testing.assert_allclose(unit.outputs()["elbow.way"], 0.01 * mean.sum(axis=1)[1], rtol=1e-12)


# --- what does not take it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda s: ph.participation(ph.modes(s, 2), "shoulder"),
        lambda s: ph.control.lqr(s, rate={"shoulder": 1.0}, effort={"shoulder": 1.0}),
        lambda s: ph.tie({"arm": s}),
        lambda s: ph.simulate(s, t_end=0.1, dt=0.01, controller=ph.control.damping_injection("shoulder", 1.0)),
    ],
    ids=["participation", "lqr", "tie", "controller in a run"],
)
def test_functions_without_a_feedthrough_say_so(use):
    with raises(ph.errors.InputError, "'shoulder'"):
        use(PLANTS["arm without joints"])
