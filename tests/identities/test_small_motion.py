"""The linear system about a loaded, bent or spinning state, block by block: what its matrices must be, and who is named."""

import importlib
import warnings
from dataclasses import replace

import numpy as np
import pytest

import phloat as ph
from phloat.algebra.sparse import csr
from phloat.motion.inputs.inputs import as_inputs
from phloat.system.tie_rows import with_stresses

linearising = importlib.import_module("phloat.analysis.linearise")
SOFT = ph.Material(E=2e9, rho=1200.0, nu=0.3)
STRIP = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), SOFT, damping=ph.KelvinVoigt(1e-3))


def bent(plane: str | None = "xy") -> tuple[ph.System, ph.State, dict]:
    """Two strips on clamps, the second turned, bent by forces at their ends; a rigid body on the first."""
    one = STRIP.discretise(2)
    joints = [
        ph.Weld("ground", "a.P"),
        ph.Weld("ground", "b.P", at=(0.0, 1.0, 0.0), turned=(0.0, 0.0, 0.6)),
        ph.Weld("a.C", "m.P"),
        ph.Force("a.C", along=(0, 1, 0), name="up"),
        ph.Force("b.C", along=(1, -1, 0), name="down"),
    ]
    bodies = {"a": one, "b": one, "m": ph.RigidBody(0.1, 1e-3 * np.eye(3)).discretise()}
    system = ph.connect(bodies, joints, plane=plane)
    u = {"up": 0.4, "down": 0.3}
    return system, ph.equilibrium(system, ph.place(system, {"b.r_P": (0.0, 1.0, 0.0)[: 2 if plane else 3]}), u=u), u


@pytest.mark.parametrize("plane", ["xy", None])
def test_strains_and_damping_are_those_of_the_bent_bodies(plane):
    """σ̇ comes from ∂ε/∂η where the body is, by differences; damping too; nothing of one body stands with the other."""
    system, state, u = bent(plane)
    linear = ph.linearise(system, state, u=u)
    assert max(linear.structure().values()) < 1e-12
    for name in "ab":
        elastic, eta = system.bodies[name].elastic, state[f"{name}.eta"]
        rate, stress = linear.rows[f"{name}.eta_dot"], linear.rows[f"{name}.sigma"]
        slopes = [(elastic.stress(eta + step) - elastic.stress(eta - step)) / 2e-6 for step in 1e-6 * np.eye(len(eta))]
        B = elastic.C @ np.array(slopes).T
        found = linear.J[stress, rate].toarray()
        np.testing.assert_allclose(found, B, atol=1e-8 * np.abs(B).max())
        np.testing.assert_allclose(linear.J[rate, stress].toarray(), -found.T, atol=0)
        assert np.abs(found - elastic.D.toarray()).max() > 1e-3 * np.abs(found).max()
        R = elastic.damping(eta)
        np.testing.assert_allclose(linear.R[rate, rate].toarray(), R, atol=1e-12 * np.abs(R).max())
        assert np.abs(R - elastic.R_d.toarray()).max() > 1e-6 * np.abs(R).max()
        others = linear.J[stress].toarray()
        others[:, rate] = 0.0
        assert not others[:, : linear.split].any()


@pytest.mark.parametrize("plane", ["xy", None])
def test_the_linear_system_says_how_the_equilibrium_moves_with_the_load(plane):
    """K q = B δu, against the equilibria a little before and a little behind."""
    system, state, u = bent(plane)
    linear = ph.linearise(system, state, u=u)
    small, n = 1e-3, linear.split
    near = [ph.equilibrium(system, state, u={"up": 0.4, "down": 0.3 + sign * small}) for sign in (1.0, -1.0)]
    moved = (near[0]["b.eta"] - near[1]["b.eta"]) / (2.0 * small)
    E, J, G = (matrix.toarray() for matrix in (linear.E, linear.J, linear.G))
    stress = J[n:, :n]
    K = stress.T @ np.linalg.solve(E[n:, n:], stress)
    whole = np.block([[K, -G[:, :n].T], [G[:, :n], np.zeros((len(G), len(G)))]])
    push = linear.B[:n, linear.ports["down"]].toarray()[:, 0]
    q = np.linalg.solve(whole, np.concatenate([push, np.zeros(len(G))]))
    np.testing.assert_allclose(q[linear.rows["b.eta_dot"]], moved, rtol=1e-3, atol=1e-4 * np.abs(moved).max())


def test_inputs_that_change_hold_a_state_at_their_time():
    """The first instant, unless another is asked for."""
    system, state, u = bent()
    growing = {"up": lambda t: 0.4 + 0.1 * t, "down": 0.3}
    at_first, later = ph.linearise(system, state, u=u), lambda t: 0.4 + 0.1 * (t - 5.0)
    for linear in (
        ph.linearise(system, state, u=growing),
        ph.linearise(system, state, u={"up": later, "down": 0.3}, t=5.0),
    ):
        assert abs(linear.J - at_first.J).max() == abs(linear.E - at_first.E).max() == 0.0
    with pytest.raises(ph.errors.InputError, match="no equilibrium"):
        ph.linearise(system, state, u=growing, t=1.0)


@pytest.mark.parametrize("plane", ["xy", None])
def test_fields_stand_where_the_bent_bodies_are_and_move_as_they_do(plane):
    """Places in inertial axes; velocities by differences along each velocity of the body."""
    system, state, u = bent(plane)
    linear = ph.linearise(system, state, u=u)
    body, field, pose = system.bodies["b"], linear.fields["b"], state.pose("b")
    shape = body.shape
    points, shapes = shape.points(shape.places()), shape.displacement(shape.places())

    def where(r, A, eta):
        return r + (points + (shapes @ eta).reshape(-1, 3)) @ A.T

    here = where(pose.r_P, pose.A, pose.eta)
    np.testing.assert_allclose(field.points, here, atol=1e-13)
    assert np.abs(here - where(pose.r_P, pose.A, 0 * pose.eta)).max() > 0.01
    arms = here - pose.r_P
    columns = {
        "v_P": [np.tile(pose.A[:, i], (len(here), 1)) for i in range(3)],
        "omega": [np.cross(pose.A[:, i], arms) for i in range(3)],
        "eta_dot": [(shapes @ one).reshape(-1, 3) @ pose.A.T for one in np.eye(body.coordinates)],
    }
    kept = {"v_P": [0, 1], "omega": [2], "eta_dot": range(body.coordinates)}
    motion = field.motion.toarray()
    for name, all_of_them in columns.items():
        wanted = [all_of_them[i] for i in (kept[name] if plane else range(len(all_of_them)))]
        found = motion[:, linear.rows[f"b.{name}"]].T.reshape(len(wanted), -1, 3)
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    others = motion.copy()
    others[:, linear.rows["b.v_P"].start : linear.rows["b.eta_dot"].stop] = 0.0
    assert not others.any()


def test_a_beam_that_is_stretched_far_is_said_to_whom_asks_for_its_frequencies():
    """By 0.5 %: frequencies are off by about as much. Of a tenth of that nothing is said."""
    wire = ph.Beam(1.0, ph.Rectangle(0.01, 0.01), SOFT).discretise(2)
    pull = ph.Force("w.C", along=(1, 0, 0), name="pull")
    system = ph.connect({"w": wire}, [ph.Weld("ground", "w.P"), pull], plane="xy")
    for strain, said in ((5e-3, 1), (5e-4, 0)):
        u = {"pull": strain * SOFT.E * 1e-4}
        state = ph.equilibrium(system, ph.place(system), u=u)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            ph.linearise(system, state, u=u)
        assert [w.filename for w in heard if issubclass(w.category, ph.errors.LargeStretchWarning)] == said * [__file__]


def test_a_point_has_a_field_that_does_not_turn():
    system = ph.connect(
        {"m": ph.PointMass(2.0).discretise()}, [ph.Spring("ground", "m.P", at=(0, 0, 1), stiffness=9.0, length=1.0)]
    )
    linear = ph.linearise(system, ph.place(system))
    np.testing.assert_allclose(linear.fields["m"].motion.toarray()[:3, :3], np.eye(3))


# --- loads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit_of_force", [1e-15, 1.0, 1e15])
@pytest.mark.parametrize("rank", [1, 3, 5])
def test_a_stiffness_that_is_not_symmetric_is_that_of_its_stresses(rank, unit_of_force):
    """K = W diag(μ) Wᵀ − N diag(μ) Wᵀ, with no more stresses than K has rank, and none too soft beside the others."""
    rng = np.random.default_rng(rank)
    root = rng.normal(size=(5, 5))
    M = root @ root.T + 5.0 * np.eye(5)
    K = unit_of_force * rng.normal(size=(5, rank)) @ rng.normal(size=(rank, 5))
    mu, W, N = linearising._unsymmetric_factor(K, M)
    assert W.shape == N.shape == (5, rank)
    np.testing.assert_allclose((W - N) @ np.diag(mu) @ W.T, K, atol=1e-12 * np.abs(K).max())
    unit = np.linalg.cholesky(M)
    largest = np.linalg.norm(np.linalg.solve(unit, np.linalg.solve(unit, K).T), 2)
    assert np.abs(mu).min() >= 0.999e-3 * largest
    np.testing.assert_allclose(W.T @ np.linalg.solve(M, W), np.eye(rank), atol=1e-12)


@pytest.mark.parametrize("tilt", [0.0, 1e-5, -1e-5])
def test_a_stiffness_that_only_turns_has_stresses_of_the_least_energy(tilt):
    """K = [[ε, 1], [−1, ε]]: no potential to speak of, but stresses need one; its sign is kept."""
    K = np.array([[tilt, 1.0], [-1.0, tilt]])
    mu, W, N = linearising._unsymmetric_factor(K, np.eye(2))
    np.testing.assert_allclose(np.abs(mu), 1e-3, rtol=1e-6)
    assert (mu > 0).all() if tilt >= 0 else (mu < 0).all()
    np.testing.assert_allclose((W - N) @ np.diag(mu) @ W.T, K, atol=1e-12)


@pytest.mark.parametrize("unit_of_force", [1e-15, 1.0, 1e15])
def test_a_symmetric_stiffness_circulates_nothing(unit_of_force):
    K = unit_of_force * np.diag([2.0, -3.0, 0.0])
    mu, W, N = linearising._unsymmetric_factor(K, np.diag([1.0, 4.0, 9.0]))
    np.testing.assert_allclose(np.sort(mu), unit_of_force * np.array([-0.75, 2.0]), rtol=1e-12)
    assert np.abs(N).max() < 1e-14
    np.testing.assert_allclose(W @ np.diag(mu) @ W.T, K, atol=1e-14 * unit_of_force)


def two_points() -> tuple[ph.System, ph.LinearPHDAE, linearising.SmallMotion, np.ndarray]:
    """Masses of 1 and 4 kg in the plane; the second one's y is held."""
    bodies = {"a": ph.PointMass(1.0).discretise(), "b": ph.PointMass(4.0).discretise()}
    joints = [
        ph.Slide("ground", "b.P", along=(1, 0, 0)),
        ph.Spring("ground", "a.P", at=(0, 1, 0), stiffness=1.0, length=1.0),
    ]
    system = ph.connect(bodies, joints, plane="xy")
    now = as_inputs(system, None).at(0.0)
    state = ph.place(system)
    return system, ph.linearise(system, state), linearising.small_motion(system, state, now), now


def loaded(K: np.ndarray, followers: bool = False, monkeypatch=None, sizes: np.ndarray | None = None):
    """`_geometric` of the two points with this K_g on (a.x, a.y, b.x, b.y)."""
    system, linear, small, now = two_points()
    assert linear.split == 4
    size = np.abs(K) if sizes is None else sizes
    if monkeypatch is not None:
        monkeypatch.setattr(linearising, "nonconservative", lambda system, u: ("thrust",) if followers else ())
    return linearising._geometric(system, now, linear, replace(small, K_g=csr(K), K_size=csr(size)))


def test_the_stiffness_of_loads_is_factorised_on_the_motions_that_the_joints_allow():
    K = np.array([[5.0, 1.0, -2.0, 7.0], [1.0, -3.0, 0.5, 8.0], [-2.0, 0.5, 2.0, 9.0], [7.0, 8.0, 9.0, 1.0]])
    L, mu, N, to_blame = loaded(K)
    whole = (L.toarray() * mu) @ L.toarray().T
    np.testing.assert_allclose(whole[:3, :3], K[:3, :3], atol=1e-13)
    assert not N.toarray().any() and to_blame == ()
    assert L.shape == (4, 3) and (mu > 0).sum() == 2


def test_no_load_has_no_stresses():
    L, mu, N, to_blame = loaded(np.zeros((4, 4)))
    assert L.shape == N.shape == (4, 0) and mu.shape == (0,) and to_blame == ()
    linear = two_points()[1]
    assert with_stresses(linear, "loads", L.T, mu) is linear


@pytest.mark.parametrize(("skewed", "refused"), [(0.9e-5, False), (1.1e-5, True)])
def test_a_stiffness_of_loads_that_is_not_symmetric_is_refused_with_its_defect(skewed, refused):
    """The defect is that of unit masses: an entry between 1 and 4 kg counts half, one of 4 kg a quarter."""
    K = np.diag([4.0, 2.0, 8.0, 0.0])  # at unit mass 4, 2, 2
    K[0, 2], K[2, 0] = 1.0 + 4.0 * skewed * 2.0, 1.0
    if not refused:
        L, mu, _, _ = loaded(K)
        np.testing.assert_allclose((L.toarray() * mu) @ L.toarray().T, 0.5 * (K + K.T), atol=1e-12)
        return
    with pytest.raises(ph.errors.InputError, match=r"not symmetric \(relative defect 1\.1e-05\): no equilibrium"):
        loaded(K)


def test_what_is_the_round_off_of_larger_terms_is_no_asymmetry():
    K = np.diag([3.0, 2.0, 16.0, 0.0])
    K[0, 2], K[2, 0] = 1.05, 0.95
    sizes = np.full((4, 4), 1e9)
    np.fill_diagonal(sizes, 1.0)
    assert loaded(K, sizes=sizes)[0].shape[1] == 3


def test_loads_that_follow_are_named_where_the_stiffness_is_not_symmetric(monkeypatch):
    K = np.diag([3.0, 2.0, 16.0, 0.0])
    K[0, 1], K[1, 0] = 0.5, -0.5
    L, mu, N, to_blame = loaded(K, followers=True, monkeypatch=monkeypatch)
    assert to_blame == ("thrust",)
    found = ((L - N).toarray() * mu) @ L.toarray().T
    np.testing.assert_allclose(found[:3, :3], K[:3, :3], atol=1e-12)
    K[1, 2], sizes = 0.05, np.abs(K)
    sizes[1, 2] = 1e9  # beside such terms 0.05 is round-off
    L, mu, N, _ = loaded(K, followers=True, monkeypatch=monkeypatch, sizes=sizes)
    assert abs((((L - N).toarray() * mu) @ L.toarray().T)[1, 2]) < 1e-12
    K[1, 2] = 0.0
    for nearly in (0.0, 5e-10):  # forces balance only nearly
        K[1, 0] = 0.5 + nearly
        _, _, N, to_blame = loaded(K, followers=True, monkeypatch=monkeypatch)
        assert to_blame == () and not N.toarray().any()


def test_too_many_free_motions_under_loads_that_follow_are_refused(monkeypatch):
    """Three are free of the four: the slide takes one. Other loads have no such limit."""
    K = np.eye(4)
    K[0, 1] = 0.5
    monkeypatch.setattr(linearising, "MAX_MOTIONS", 3)
    assert loaded(K, followers=True, monkeypatch=monkeypatch)[0].shape[1] == 3
    monkeypatch.setattr(linearising, "MAX_MOTIONS", 2)
    with pytest.raises(ph.errors.InputError, match=r"3 free motions .*thrust.* are too many \(at most 2\)"):
        loaded(K, followers=True, monkeypatch=monkeypatch)
    assert loaded(np.eye(4))[0].shape[1] == 3


def test_a_driven_base_leaves_the_motions_that_hang_on_it():
    """A pendulum below a point that is moved: the swing has its frequency, and its stiffness knows how the point moves."""
    mass = ph.RigidBody(2.0, 0.1 * np.eye(3), center=(0.0, -0.5, 0.0)).discretise()
    joint = ph.Drive("ground", "m.P", name="hand")
    system = ph.connect({"m": mass}, [joint], gravity=(0, -9.81, 0), plane="xy")
    linear = ph.linearise(system, ph.place(system))
    rate = np.sqrt(2.0 * 9.81 * 0.5 / (0.1 + 0.5))
    np.testing.assert_allclose(ph.modes(linear).omega, [rate], rtol=1e-9)
    n, omega = linear.split, 2.0
    tilt = ph.response(linear, "hand", "m.P", omega=[omega]).values[0][2, 0]
    expected = -(omega**2) * 2.0 * 0.5 / (0.6 * (rate**2 - omega**2))  # θ̈ (J + m l²) + m g l θ = −m l ẍ
    assert abs(tilt) == pytest.approx(abs(expected), rel=1e-9)
    assert n == 3


def test_a_driven_hinge_lifts_what_hangs_on_it():
    """Torque over rate: J s + m g l / s."""
    mass = ph.RigidBody(2.0, 0.1 * np.eye(3), center=(0.0, -0.5, 0.0)).discretise()
    system = ph.connect({"m": mass}, [ph.Revolute("ground", "m.P", name="hub")], gravity=(0, -9.81, 0), plane="xy")
    driven = ph.drive(system, "hub")
    s = 2.0j
    found = ph.response(ph.linearise(driven, ph.place(driven)), "hub", "hub", omega=[2.0]).values[0, 0, 0]
    assert found == pytest.approx(0.6 * s + 9.81 / s, rel=1e-9)


# --- spin -------------------------------------------------------------------------------------------------------------


def rotor(*more) -> ph.System:
    disc = ph.RigidBody(3.0, np.diag([0.4, 0.5, 0.6]), ports={"C": (0.2, 0.0, 0.0)}).discretise()
    return ph.connect({"d": disc}, [ph.Revolute("ground", "d.P", name="hub"), *more])


def test_in_a_spin_only_ports_that_turn_are_open():
    more = [
        ph.Force("d.C", along=(0, 1, 0), name="push"),
        ph.Force("d.C", along=(0, 1, 0), axes="body", name="thrust"),
        ph.Torque("d.C", about=(0, 0, 1), name="twist"),
    ]
    free, driven = rotor(*more), ph.drive(rotor(*more), "hub")
    assert {"hub", "push", "thrust", "twist"} <= set(ph.linearise(free, ph.place(free)).ports)
    spinning = ph.linearise(free, ph.steady_spin(free, rate=4.0))
    assert {"hub", "thrust"} <= set(spinning.ports) and not {"push", "twist"} & set(spinning.ports)
    held = ph.linearise(driven, ph.steady_spin(driven, rate=4.0), u={"hub": 4.0})
    assert "thrust" in held.ports and not {"hub", "push", "twist"} & set(held.ports)


def test_a_rotor_that_is_driven_altogether_has_no_free_motion():
    """Neither modes nor stresses of the spin; this had ended in an error of NumPy."""
    system = ph.drive(rotor(), "hub")
    linear = ph.linearise(system, ph.steady_spin(system, rate=4.0), u={"hub": 4.0})
    assert linear.multipliers.size == linear.split == 6
    assert "loads" not in linear.rows


def test_a_damper_by_a_table_has_the_slope_of_the_rate_it_turns_at():
    """0.1 per rad/s while slow, 2 beyond 1 rad/s."""
    rubbing = ph.JointDamper("hub", damping={-9.0: -16.1, -1.0: -0.1, 1.0: 0.1, 9.0: 16.1}, name="rub")
    system = ph.drive(rotor(rubbing), "hub")
    for rate, slope in ((0.5, 0.1), (4.0, 2.0)):
        linear = ph.linearise(system, ph.steady_spin(system, rate=rate), u={"hub": rate})
        turning = linear.rows["d.omega"]
        np.testing.assert_allclose(linear.R[turning, turning].toarray(), np.diag([0.0, 0.0, slope]), atol=1e-12)


def test_a_rotor_that_rubs_comes_back_to_its_speed_by_the_slope_of_the_friction():
    """J δω̇ = −f′(ω) δω, and not −f(ω)/ω δω: a little faster or slower, it loses the difference at the rate f′/J."""
    rubbing = ph.JointDamper("hub", damping={-9.0: -16.1, -1.0: -0.1, 1.0: 0.1, 9.0: 16.1}, name="rub")
    system = rotor(rubbing)
    u = {"hub": 0.1 + 2.0 * 3.0}
    linear = ph.linearise(system, ph.steady_spin(system, rate=4.0, u=u), u=u)
    np.testing.assert_allclose(ph.poles(linear), [-2.0 / 0.6], rtol=1e-9)


@pytest.mark.parametrize("bladed", [False, True])
def test_gyroscopic_forces_of_a_spinning_disc_do_no_work_and_are_those_of_euler(bladed):
    """J_x φ̈_x − (J_x + J_y − J_z) Ω φ̇_y + … = 0 of small turns in the spinning frame; a blade on the disc changes none of it."""
    disc = ph.RigidBody(3.0, np.diag([0.4, 0.5, 0.6]), ports={"C": (0.2, 0.0, 0.0)}).discretise()
    blade = ph.Beam(0.3, ph.Rectangle(0.02, 0.02), ph.Material(E=2e11, rho=7800.0, nu=0.3)).discretise(1)
    system = ph.connect({"d": disc, "b": blade}, [ph.Weld("d.C", "b.P")]) if bladed else ph.connect({"d": disc})
    rate = 5.0
    linear = ph.linearise(system, ph.steady_spin(system, rate=rate, about=(0, 0, 0)))
    found = linear.J[linear.rows["d.omega"], linear.rows["d.omega"]].toarray()
    np.testing.assert_allclose(
        found, (0.4 + 0.5 - 0.6) * rate * np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]]), atol=1e-9
    )
    assert max(linear.structure().values()) < 1e-12


# --- joints that repeat -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "said"), [(2, ""), (8, ""), (9, " and 1 more"), (11, " and 3 more")])
def test_joints_that_repeat_each_other_are_named_up_to_eight(count, said):
    bar = ph.RigidBody(1.0, np.eye(3)).discretise()
    pins = [ph.Revolute("ground", "bar.P", name=f"pin {k:02}") for k in range(count)]
    system = ph.connect({"bar": bar}, pins, plane="xy")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        linear = ph.linearise(system, ph.place(system))
    names = ", ".join(f"'pin {k:02}'" for k in range(min(count, 8)))
    (only,) = [str(w.message) for w in heard if issubclass(w.category, ph.errors.RedundancyWarning)]
    assert only.startswith(f"joints {names}{said} repeat each other in {2 * (count - 1)} rows:")
    assert linear.G.shape[0] == linear.multipliers.size == 2
    assert all(linear.multipliers.shape(name)[0] > 0 for name in linear.multipliers)
    assert ph.modes(linear).rigid == 1


def test_joints_that_do_not_repeat_are_all_kept_without_a_word():
    bar = ph.RigidBody(1.0, np.eye(3), ports={"C": (1.0, 0.0, 0.0)}).discretise()
    system = ph.connect({"bar": bar}, [ph.Revolute("ground", "bar.P", name="pin")], plane="xy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linear = ph.linearise(system, ph.place(system))
    assert linear.multipliers.size == 2 and set(linear.multipliers) == {"pin"}


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("unit_of_input", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize(("off", "refused"), [(1e-12, False), (1e-6, True)])
def test_driven_rows_that_repeat_must_be_driven_alike(scale, off, refused, unit_of_input):
    """Two equal rows, driven at rates that differ by a fraction of them; rows may have any length, and inputs any unit."""
    layout = ph.Layout({"one": (1,), "two": (1,), "other": (1,)})
    G = csr(np.array([[1.0, 2.0, 0.0], [scale, 2.0 * scale, 0.0], [0.0, 0.0, 1.0]]))
    B_lam = csr(unit_of_input * np.array([[1.0], [scale * (1.0 + off)], [0.0]]))
    if refused:
        with pytest.raises(ph.errors.JointError, match="joints 'one', 'two' contradict each other"):
            linearising.independent_joint_rows(G, B_lam, layout)
        return
    with pytest.warns(ph.errors.RedundancyWarning, match="joints 'one', 'two' repeat each other in 1 rows"):
        keep = linearising.independent_joint_rows(G, B_lam, layout)
    assert len(keep) == 2 and 2 in keep
