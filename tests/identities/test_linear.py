"""Linear systems: interconnection, elimination, responses."""

import numpy as np
import pytest
from bodies_zoo import beam, steel
from messages import raises

import phloat as ph

SMALL = beam(section=ph.Rectangle(0.02, 0.03)).discretise(2).in_plane().linear()


def rotated(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def hinge(system: ph.LinearPHDAE, name: str) -> ph.LinearPHDAE:
    """The system with the translation of its ports only, as a hinge takes hold of them (5.2)."""
    columns = np.concatenate([np.arange(3 * i, 3 * i + 2) for i in range(2)])
    from dataclasses import replace

    from phloat.algebra.layout import Layout

    points = replace(
        system, B=system.B[:, columns], B_lam=system.B_lam[:, columns], ports=Layout({"P": (2,), "C": (2,)}, "port")
    )
    return points.prefixed(name)


def test_transformer_equals_swapped_system_and_gyrator():
    """(42) from (41), and from (43) with (44): the same matrices."""
    R = rotated(0.7)[:2, :2]
    first, second = hinge(SMALL, "a"), hinge(SMALL, "b")
    joined = ph.transformer(first, "a.C", second, "b.P", R)
    other = ph.gyrator(first, "a.C", ph.swap_causality(second, "b.P"), "b.P", R)
    for name in ("E", "J", "R", "B"):
        assert abs(getattr(joined, name) - getattr(other, name)).max() == 0.0, name
    np.testing.assert_allclose(joined.G.toarray(), other.G.toarray(), atol=0)
    assert tuple(joined.ports) == tuple(other.ports) == ("a.P", "b.C")
    np.testing.assert_allclose(ph.modes(joined).omega, ph.modes(other).omega, rtol=1e-12)


def test_two_beams_joined_by_a_transformer_are_two_beams_on_a_revolute():
    joined = ph.transformer(hinge(SMALL, "a"), "a.C", hinge(SMALL, "b"), "b.P", rotated(0.7)[:2, :2])
    body = beam(section=ph.Rectangle(0.02, 0.03)).discretise(2)
    system = ph.connect({"a": body, "b": body}, joints=[ph.Revolute("a.C", "b.P")], plane="xy")
    state = ph.place(system, {"a.theta": 0.2, "b.theta": 0.9})
    linear = ph.linearise(system, state)
    np.testing.assert_allclose(ph.modes(linear).omega, ph.modes(joined).omega, rtol=1e-9)
    assert ph.modes(linear).rigid == 4


def test_a_gyrator_between_efforts_couples_through_J():
    first, second = hinge(SMALL, "a"), hinge(SMALL, "b")
    both = ph.gyrator(first, "a.C", second, "b.P", 3.0 * np.eye(2))
    assert both.multipliers.size == 0
    assert ph.structure_defects(both)["J is not skew-symmetric"] == 0.0
    # u₁ = −C y₂: the velocity of the second pushes the first back, and the first pushes the second on
    rows, loose = both.rows, ph.append_systems(first, second).J
    coupling = (both.J - loose).toarray()
    B_1, B_2 = first.B[:, first.ports["a.C"]].toarray(), second.B[:, second.ports["b.P"]].toarray()
    ours = coupling[np.ix_(rows.indices(first.rows), rows.indices(second.rows))]
    np.testing.assert_allclose(ours, -3.0 * B_1 @ B_2.T, atol=1e-14)


def arm(damping: ph.KelvinVoigt | ph.Rayleigh | None = None) -> ph.LinearPHDAE:
    damping = damping or ph.Rayleigh()
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel, damping=damping).discretise(4)
    system = ph.connect(
        {"upper": link, "lower": link},
        plane="xy",
        joints=[ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")],
    )
    return ph.linearise(system, ph.place(system, {"upper.theta": 0.3, "lower.theta": 0.9}))


def test_elimination_keeps_modes_ports_and_the_split():
    whole = arm().with_ports("shoulder", "elbow")
    plant = ph.eliminate(whole)
    assert plant.multipliers.size == 0
    assert plant.rows.size - plant.split == whole.rows.size - whole.split
    assert plant.split == whole.split - whole.multipliers.size
    np.testing.assert_allclose(ph.modes(plant).omega, ph.modes(whole).omega, rtol=1e-9)
    assert ph.modes(plant).rigid == 2
    assert max(ph.structure_defects(plant).values()) < 1e-12
    assert plant.passive


def test_elimination_keeps_the_transfer_function():
    whole = arm(ph.KelvinVoigt(1e-4)).with_ports("shoulder", "elbow")
    omega = np.geomspace(1, 1000, 7)
    a, b = (ph.response(s, ["shoulder", "elbow"], omega=omega).values for s in (whole, ph.eliminate(whole)))
    np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9 * np.abs(a).max())


def test_the_response_of_a_passive_system_has_no_negative_real_part():
    omega = np.geomspace(1, 1e4, 40)
    H = ph.response(arm(ph.KelvinVoigt(1e-4)), ["shoulder", "elbow"], omega=omega).values
    for value in H:
        hermitian = value + value.conj().T
        assert np.linalg.eigvalsh(hermitian)[0] > -1e-9 * np.abs(value).max()
    np.testing.assert_allclose(H, H.transpose(0, 2, 1), rtol=1e-6, atol=1e-9 * np.abs(H).max())  # reciprocity


def test_poles_of_the_response_are_the_modes():
    plant = arm().with_ports("elbow")
    for w in ph.modes(plant).elastic[:3]:
        near, far = np.abs(ph.response(plant, "elbow", omega=[w * 1.000001, w * 1.02]).values.ravel())
        assert near > 100 * far


def test_zeros_of_a_driving_point_are_the_modes_with_that_axis_locked():
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel).discretise(4)
    system = ph.connect({"b": link}, joints=[ph.Revolute("ground", "b.P", name="hub")], plane="xy")
    state = ph.place(system)
    locked = ph.modes(ph.linearise(ph.lock(system, "hub"), state)).elastic[:3]
    plant = ph.linearise(system, state)
    for w in locked:
        here, there = np.abs(ph.response(plant, "hub", omega=[w, 1.05 * w]).values.ravel())
        assert here < 1e-6 * there


def test_a_driven_axis_shows_the_inverse_of_its_admittance():
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel, damping=ph.KelvinVoigt(1e-4)).discretise(4)
    system = ph.connect({"b": link}, joints=[ph.Revolute("ground", "b.P", name="hub")], plane="xy")
    state, omega = ph.place(system), np.geomspace(1, 1000, 5)
    admittance = ph.response(ph.linearise(system, state), "hub", omega=omega).values.ravel()
    impedance = ph.response(ph.linearise(ph.drive(system, "hub"), state), "hub", omega=omega).values.ravel()
    np.testing.assert_allclose(admittance * impedance, 1.0, rtol=1e-8)


def test_a_driven_rate_turns_the_body_forward_and_its_torque_accelerates_it():
    link = ph.RigidBody(1.0, np.diag([0.1, 0.2, 0.3])).discretise()
    system = ph.drive(ph.connect({"b": link}, joints=[ph.Revolute("ground", "b.P", name="hub")], plane="xy"), "hub")
    driven = ph.response(ph.linearise(system, ph.place(system)), "hub", ["hub", "b.P"], omega=[2.0]).values[0, :, 0]
    np.testing.assert_allclose(driven, [0.3 * 2.0j, 0, 0, 1.0], atol=1e-12)  # torque J jω, then the twist of P


def test_rank_of_many_joint_rows_is_judged_as_that_of_few(monkeypatch):
    """The sparse way finds what repeats to 1e-9 and leaves alone what nearly repeats (1e-7), like the dense one."""
    import scipy.sparse as sp

    from phloat.algebra import sparse

    rng = np.random.default_rng(0)
    G = sp.random_array((700, 900), density=0.01, rng=rng, format="lil")
    G[:, :700] += sp.eye_array(700)
    G = G.tocsr()
    copies = G[[3, 5, 8]]
    near = G[[11]] + 1e-7 * sp.csr_array(rng.normal(size=(1, 900)))
    whole = sparse.csr(sp.vstack([G, 2.0 * copies, near]))
    found = sparse.dependencies(whole)
    monkeypatch.setattr(sparse, "DENSE_ROWS", 10_000)
    dense = sparse.dependencies(whole)
    assert found.shape[1] == dense.shape[1] == 3
    np.testing.assert_allclose(found @ (found.T @ dense), dense, atol=1e-7)  # the same space


def test_large_systems_have_the_modes_of_small_ones():
    """The sparse path against the dense one, rigid modes counted."""
    from phloat.linear.analysis import modes as module

    system = arm(ph.KelvinVoigt(1e-4))
    dense = ph.modes(system)
    sparse = module._sparse(system, 9)
    assert sparse.rigid == dense.rigid == 2
    np.testing.assert_allclose(sparse.omega, dense.omega[:9], rtol=1e-8)
    np.testing.assert_allclose(sparse.poles, dense.poles[:9], rtol=1e-8)
    for k in range(2, 5):
        a, b = sparse.shape(k, "lower"), dense.shape(k, "lower")
        assert min(np.abs(a - b).max(), np.abs(a + b).max()) < 1e-6 * np.abs(a).max()


def test_fewer_modes_than_rigid_ones_may_be_asked_of_a_large_system():
    from phloat.linear.analysis import modes as module

    link = beam(section=ph.Rectangle(0.02, 0.03)).discretise(2)
    system = ph.connect({f"b{i}": link for i in range(4)})  # four free beams: 24 rigid modes
    linear = ph.linearise(system, ph.place(system))
    few, more = module._sparse(linear, 3), module._sparse(linear, 26)
    assert few.rigid == len(few) == 3
    assert more.rigid == 24
    np.testing.assert_allclose(more.elastic, ph.modes(linear).elastic[:2], rtol=1e-7)


def test_blocks_find_the_modes_where_one_krylov_sequence_breaks_down(monkeypatch):
    from phloat.linear.analysis import modes as module, shift_invert

    class NoShifts(shift_invert.spla.ArpackError):
        def __init__(self):
            RuntimeError.__init__(self, "no shifts could be applied")

    def broken(*args, **options):
        raise NoShifts

    linear = arm()
    dense = ph.modes(linear)
    monkeypatch.setattr(shift_invert.spla, "eigsh", broken)
    found = module._sparse(linear, 7)
    assert found.rigid == 2
    np.testing.assert_allclose(found.omega, dense.omega[:7], rtol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_repeated_modes_are_all_found(seed):
    """Equal free bodies have few distinct frequencies, which one Krylov sequence cannot tell apart."""
    from phloat.linear.analysis import modes as module

    rng = np.random.default_rng(seed)
    link = ph.Beam(1.3, ph.Rectangle(*rng.uniform(0.01, 0.04, 2)), steel).discretise(2)
    bodies = int(rng.integers(2, 6))
    system = ph.connect({f"b{i}": link for i in range(bodies)})
    linear = ph.linearise(system, ph.place(system))
    dense = ph.modes(linear)
    for count in (6 * bodies + 2, 7 * bodies + 1):
        found = module._sparse(linear, count)
        assert found.rigid == 6 * bodies
        np.testing.assert_allclose(found.omega, dense.omega[:count], rtol=1e-6)


def half_damped(time: float, elements: int = 4) -> ph.LinearPHDAE:
    """Two welded beams on a hinge, the first with Kelvin-Voigt damping: modes are coupled."""
    limp = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel, damping=ph.KelvinVoigt(time)).discretise(elements)
    stiff = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel).discretise(elements)
    joints = [ph.Revolute("ground", "a.P"), ph.Weld("a.C", "b.P")]
    system = ph.connect({"a": limp, "b": stiff}, joints=joints, plane="xy")
    return ph.linearise(system, ph.place(system))


@pytest.mark.parametrize("time", [1e-4, 1e-3, 5e-3, 2e-2, 5e-2])
def test_poles_of_coupled_modes_are_those_of_the_pencil_each_once(time):
    linear = half_damped(time)
    exact = ph.eliminate(linear)
    every = np.linalg.eigvals(np.linalg.solve(exact.E.toarray(), (exact.J - exact.R).toarray()))
    few = ph.modes(linear, count=8).poles
    assert few[0] == 0 and (few.imag >= 0).all()
    np.testing.assert_allclose(few, ph.modes(linear).poles[:8], rtol=1e-9)
    for pole in few[1:]:
        assert np.abs(every - pole).min() < 1e-5 * abs(pole)
    apart = np.abs(few[1:, None] - few[1:]) + np.diag(np.full(7, np.inf))
    assert apart.min() > 1e-6 * np.abs(few).max()


def test_poles_stand_with_their_modes_where_damping_raises_one_above_the_next():
    from phloat.linear.analysis import modes as module

    omega, dashpot = np.array([1.0, 1.001, 2.0]), np.array([1.0, 0.1, 2.0])  # rates of the dashpot in the modes
    poles, shapes = module._coupled_poles(omega, 0.2 * np.outer(dashpot, dashpot))
    assert abs(poles[0]) > abs(poles[1])  # so that they are not sorted by magnitude
    assert -poles[0].real > 0.09 > 1e-3 > -poles[1].real
    np.testing.assert_array_equal(np.abs(shapes).argmax(axis=0), [0, 1, 2])


def test_poles_of_a_large_coupled_system_are_refined_or_refused():
    from phloat.linear.analysis import modes as module

    small = half_damped(1e-4, 12)
    found = module._sparse(small, 6)
    projected, shapes = module._coupled_poles(
        found.omega, found.vectors.T @ (module._velocity_damping(small) @ found.vectors)
    )
    refined = module._newton_poles(small, projected, found.vectors @ shapes)
    np.testing.assert_allclose(refined, ph.modes(small).poles[:6], rtol=1e-7)
    assert np.abs(projected[1:] / refined[1:] - 1).max() > 1e-6  # there was something to refine
    strong = half_damped(5e-2, 12)
    found = module._sparse(strong, 6)
    projected, shapes = module._coupled_poles(
        found.omega, found.vectors.T @ (module._velocity_damping(strong) @ found.vectors)
    )
    with raises(ph.errors.AccuracyError):
        module._newton_poles(strong, projected, found.vectors @ shapes)


@pytest.mark.parametrize("time", [1e-5, 1e-3, 1.0])
def test_overdamped_modes_have_the_slower_pole_of_their_law(time):
    found = ph.modes(arm(ph.KelvinVoigt(time)))
    w = found.elastic.astype(complex)
    d = time * w**2
    upper = -d / 2 + np.sqrt(d**2 / 4 - w**2)
    expected = np.where(np.abs(d) > 2 * np.abs(w), -(w**2) / (d / 2 + np.sqrt(d**2 / 4 - w**2)), upper)
    np.testing.assert_allclose(found.poles[found.rigid :], expected, rtol=1e-6)
    assert (found.poles[: found.rigid] == 0).all()


def test_damped_rigid_motion_keeps_one_zero():
    """Two masses on a spring, a dashpot between the first and the ground: one zero, one real, one pair."""
    from phloat.algebra.sparse import csr

    system = ph.LinearPHDAE(
        E=csr(np.diag([1.0, 1.0, 1 / 50.0])),
        J=csr(np.array([[0, 0, 1.0], [0, 0, -1.0], [-1.0, 1.0, 0]])),
        R=csr(np.diag([20.0, 0, 0])),
        B=csr(np.zeros((3, 0))),
        rows=ph.Layout({"v": (2,), "sigma": (1,)}),
        ports=ph.Layout({}),
        split=2,
    )
    found = ph.modes(system)
    every = np.linalg.eigvals(np.linalg.solve(system.E.toarray(), (system.J - system.R).toarray()))
    pair = every[every.imag > 0]
    np.testing.assert_allclose(found.omega, [0, 10], atol=1e-12)
    np.testing.assert_allclose(found.poles, [0, pair[0]], atol=1e-9)


def test_systems_past_the_dense_limit_take_the_sparse_way_by_themselves():
    from phloat.linear.analysis.modes import DENSE_VELOCITIES

    chain = ph.connect({f"b{i}": beam(section=ph.Rectangle(0.02, 0.03)).discretise(6) for i in range(20)})
    linear = ph.linearise(chain, ph.place(chain))
    assert linear.split > DENSE_VELOCITIES
    found = ph.modes(linear, count=124)
    one = ph.modes(beam(section=ph.Rectangle(0.02, 0.03)).discretise(6).linear())
    assert found.rigid == 120
    np.testing.assert_allclose(found.elastic, one.elastic[0], rtol=1e-7)  # the same mode of twenty beams


def test_mode_shapes_move_ports_as_they_move_the_bodies():
    system = arm()
    found = ph.modes(system)
    for k in range(4):
        at_port, along = found.shape(k, "lower.P"), found.shape(k, "lower")
        c, s = np.cos(0.9), np.sin(0.9)
        np.testing.assert_allclose(
            [c * at_port[0] - s * at_port[1], s * at_port[0] + c * at_port[1]],
            along[0, :2],
            atol=1e-9 * np.abs(along).max(),
        )
    np.testing.assert_array_equal(np.asarray(found), found.omega)
    np.testing.assert_array_equal(found[2:5], found.omega[2:5])


@pytest.mark.parametrize("name", ["J", "E", "R"])
def test_structure_is_proven_at_construction(name):
    from dataclasses import replace

    broken = getattr(SMALL, name).tolil()
    broken[0, 1] += 1.0 if name != "R" else -1.0
    with raises(ph.errors.StructureError, name):
        replace(SMALL, **{name: broken.tocsr()})
