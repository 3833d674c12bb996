"""Springs, dampers and inputs at random states: still port-Hamiltonian, in space and in the plane."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg as la
from bodies_zoo import bodies, random_state
from scipy.spatial.transform import Rotation

import phloat as ph
from phloat.algebra.cross import rotation
from phloat.joints.curves import curve
from phloat.joints.laws import Law
from phloat.joints.port_state import ground_port, section_axes
from phloat.joints.rows import Row, curvature, row_gradient
from phloat.joints.standard_rows import (
    aligned,
    coincide,
    distance,
    hinge,
    in_plane,
    perpendicular,
    rotation_vector,
    slide,
    small_rotation,
)
from phloat.system.connection import port_state
from phloat.system.joint_rows import element_energies

STOP = {-1.0: -300.0, 0.0: 0.0, 1.0: 40.0, 2.0: 400.0}  # elongation: force
RUBBING = {-2.0: -9.0, -0.5: -8.0, 0.5: 8.0, 2.0: 9.0}  # rate: force
ON_BODIES = {
    "spring": [ph.Spring("ground", "a.C", at=(0.3, -0.4, 0.0), stiffness=70.0, length=0.6, name="e")],
    "stop": [ph.Spring("a.C", "b.P", stiffness=STOP, length=0.5, name="e")],
    "hardening": [ph.Spring("a.P", "b.C", stiffness=lambda x: 30 * x + 5 * x**3, over=(-9.0, 9.0), name="e")],
    "damper": [ph.Damper("a.C", "b.C", damping=3.0, name="e")],
    "rubbing": [ph.Damper("b.P", "ground", damping=RUBBING, name="e")],
    "air": [ph.Damper("a.P", "b.P", damping=lambda v: v * abs(v), over=(-20.0, 30.0), name="e")],
    "joint spring": [ph.JointSpring("j", stiffness=12.0, rest=0.3, name="e")],
    "joint stop": [ph.JointSpring("j", stiffness=STOP, axis="angle", name="e")],
    "joint damper": [ph.JointDamper("j", damping=RUBBING, name="e")],
    "bushing": [
        ph.Bushing(
            "a.C",
            "b.C",
            turned=(0.0, 0.0, 0.4),
            stiffness=(50.0, 60.0, 70.0, 3.0, 4.0, 5.0),
            damping=(1.0, 0.0, 2.0, 0.1, 0.0, 0.3),
            name="e",
        )
    ],
    "turning bushing": [
        ph.Bushing(
            "a.C",
            "b.C",
            stiffness=(50.0, 60.0, 70.0, 3.0, 4.0, 5.0),
            damping=(1.0, 0.0, 2.0, 0.1, 0.0, 0.3),
            rotation="vector",
            name="e",
        )
    ],
    "force": [ph.Force("a.C", along=(3, 4, 0), name="e")],
    "body force": [ph.Force("b.P", along=(1, -2, 0), axes="body", name="e")],
    "torque": [ph.Torque("a.C", about=(0, 0, 2), name="e")],
    "body torque": [ph.Torque("b.C", about=(0, 0, -1), axes="body", name="e")],
    "load": [ph.Load("a", along=(0, 1, 0), name="e")],
    "body load": [ph.Load("b", along=(0, 1, 0), per_length=lambda s: 3 * s - 1, axes="body", name="e")],
}
STORING = ("spring", "stop", "hardening", "joint spring", "joint stop", "bushing", "turning bushing")
EVERYTHING = [replace(made[0], name=kind) for kind, made in ON_BODIES.items()]
BOTH = pytest.mark.parametrize("plane", [None, "xy"], ids=["space", "plane"])


def pair(elements: list, plane: str | None) -> ph.System:
    """Two beams on a hinge, under gravity."""
    zoo = bodies()
    hinge = ph.Revolute("a.C", "b.P", name="j")
    gravity = (0.7, -9.81, 0.0 if plane else 1.3)
    return ph.connect({"a": zoo["beam"], "b": zoo["damped beam"]}, [hinge, *elements], gravity=gravity, plane=plane)


def _apart(kind: str) -> list:
    return EVERYTHING if kind == "everything" else ON_BODIES[kind]


@BOTH
@pytest.mark.parametrize("kind", [*ON_BODIES, "everything"])
@pytest.mark.parametrize("seed", range(2))
def test_the_structure_is_port_hamiltonian_and_the_power_balanced(kind, plane, seed):
    system = pair(_apart(kind), plane)
    state = random_state(system, seed, consistent=True)
    for what, defect in ph.structure_defects(ph.terms(system, state)).items():
        assert defect <= 1e-12, what
    rng = np.random.default_rng(seed)
    u = {port: rng.normal(size=system.ports.shape(port)) * 10 for port in system.ports}
    balance = ph.power_balance(system, state, u)
    assert abs(balance.relative) < 1e-12
    assert balance.dissipated > 0.0


@BOTH
@pytest.mark.parametrize("kind", [*STORING, "everything"])
@pytest.mark.parametrize("seed", range(2))
def test_effort_is_the_gradient_of_the_energy(kind, plane, seed):
    system = pair(_apart(kind), plane)
    state = random_state(system, seed)
    terms = ph.terms(system, state)
    row_gradient, h = np.empty(len(state.e)), 1e-4
    for i in range(len(state.e)):
        near = [ph.energy(system, replace(state, e=state.e + s * h * np.eye(1, len(state.e), i)[0])) for s in (-1, 1)]
        row_gradient[i] = (near[1] - near[0]) / (2 * h)
    assert np.abs(terms.E.T @ terms.z - row_gradient).max() < 1e-6 * np.abs(row_gradient).max()


@BOTH
def test_the_check_of_efforts_knows_springs(plane):
    system = pair([*ON_BODIES["spring"], replace(ON_BODIES["joint spring"][0], name="f")], plane)
    assert ph.effort_defect(system, random_state(system, 1)) < 1e-6


@BOTH
@pytest.mark.parametrize("kind", ["damper", "rubbing", "air", "joint damper"])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_damper_takes_is_its_force_times_its_rate(kind, plane, seed):
    system, without = pair(ON_BODIES[kind], plane), pair([], plane)
    state = random_state(system, seed, consistent=True)
    e = system.elements["e"]
    first, second = port_state(e.first, state), port_state(e.second, state)
    rate = 0.0
    for end, block in zip((e.first, e.second), e.rows[0].rate(first, second), strict=True):
        if end.body:
            pose = state.pose(end.body)
            whole = np.concatenate([pose.v_P, pose.omega, pose.rates])
            rate += float(block @ whole[system.bodies[end.body].columns])
    taken = ph.power_balance(system, state).dissipated - ph.power_balance(without, state).dissipated
    assert taken == pytest.approx(-e.laws[0].force(0.0, rate) * rate, rel=1e-9)
    assert taken > 0.0


@BOTH
@pytest.mark.parametrize("kind", ["force", "body force", "torque", "body torque"])
def test_an_input_works_on_the_twist_of_its_port(kind, plane):
    """Its output is d · ċ or d · ω_C, in inertial axes, which the port of the body shows in the axes of its section."""
    system = pair(ON_BODIES[kind], plane)
    state = random_state(system, 4)
    terms = ph.terms(system, state)
    y = terms.B.T @ terms.z
    a = system.actuators["e"]
    twist = np.zeros(6)
    twist[list(system.bodies[a.body].active)] = y[terms.ports[a.recipe.port]]
    seen = twist[:3] if a.kind == "force" else twist[3:]
    pose = state.pose(a.body)
    ((vector, port),) = a.forces
    section = pose.A @ section_axes(port.Psi @ pose.eta)
    direction = vector if a.axes == "body" else section.T @ vector
    assert np.linalg.norm(vector) == pytest.approx(1.0)
    assert y[terms.ports["e"]][0] == pytest.approx(direction @ seen, rel=1e-12)


@pytest.mark.parametrize(
    "row",
    [
        rotation_vector(0),
        rotation_vector(2),
        small_rotation(0),
        small_rotation(1),
        small_rotation(2),
        distance(),
        hinge(),
        hinge((2, 1), (2, 2)),
        hinge((0, 2), (2, 2)),
        slide(0),
        in_plane(1),
    ],
    ids=repr,
)
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_the_rates_of_their_gaps(row: Row, seed):
    system = pair([], None)
    state = random_state(system, seed)
    c, terms = system.joints["j"], ph.terms(system, state)
    positions = np.concatenate(
        [
            np.full(int(np.prod(s)), n.rpartition(".")[2] in ("r_P", "A_IB", "eta"))
            for n, s in system.layout.shapes.items()
        ]
    )
    e_dot, h = (terms.J @ terms.z) * positions, 1e-6  # ṙ = A v, Ȧ = A[ω]×, η̇
    near = [replace(state, e=state.e + s * h * e_dot) for s in (-1, 1)]
    back, ahead = (row.gap(port_state(c.first, at), port_state(c.second, at)) for at in near)
    rate = 0.0
    for end, block in zip(
        (c.first, c.second), row.rate(port_state(c.first, state), port_state(c.second, state)), strict=True
    ):
        pose = state.pose(end.body)
        rate += block @ np.concatenate([pose.v_P, pose.omega, pose.rates])
    assert rate == pytest.approx((ahead - back) / (2 * h), rel=1e-6)
    assert row.is_length == (row.label in ("distance", "slide", "in plane y"))


BY_HAND = {
    "coincide": (coincide()[1], lambda c, A, B: c[1]),
    "perpendicular": (perpendicular(0, 2), lambda c, A, B: A[:, 0] @ B[:, 2]),
    "in plane": (in_plane(1), lambda c, A, B: A[:, 1] @ c),
    "aligned": (aligned()[2], lambda c, A, B: 0.5 * (A[:, 1] @ B[:, 0] - A[:, 0] @ B[:, 1])),
    "distance": (distance(), lambda c, A, B: np.linalg.norm(c)),
    "hinge": (hinge(), lambda c, A, B: np.arctan2(A[:, 1] @ B[:, 0], A[:, 0] @ B[:, 0])),
    "slide": (slide(0), lambda c, A, B: A[:, 0] @ c),
    "rotation vector": (rotation_vector(1), lambda c, A, B: Rotation.from_matrix(A.T @ B).as_rotvec()[1]),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_rows_are_what_their_formulas_say(name):
    row, formula = BY_HAND[name]
    rng = np.random.default_rng(5)
    points, triads = rng.normal(size=(2, 3)), [rotation(x) for x in rng.normal(size=(2, 3))]
    A, B = (ground_port(c, D) for c, D in zip(points, triads, strict=True))
    assert row.gap(A, B) == pytest.approx(formula(points[1] - points[0], *triads), rel=1e-12)


@pytest.mark.parametrize("name", [*BY_HAND, "near zero"])
def test_first_and_second_derivatives_of_rows_by_differences(name):
    row = rotation_vector(1) if name == "near zero" else BY_HAND[name][0]
    rng = np.random.default_rng(7)
    turns = (0.1 if name == "near zero" else 1.0) * rng.normal(size=(2, 3))
    x = np.concatenate([np.concatenate([rng.normal(size=3), rotation(turn).T.ravel()]) for turn in turns])

    def ports(x):
        return [ground_port(part[:3], part[3:].reshape(3, 3).T) for part in x.reshape(2, 12)]

    h, steps = 1e-5, np.eye(24)
    slope = [(row.gap(*ports(x + h * e)) - row.gap(*ports(x - h * e))) / (2 * h) for e in steps]
    first = row_gradient((row,), *ports(x))[0]
    np.testing.assert_allclose(first, slope, atol=1e-8)
    bend = [
        (row_gradient((row,), *ports(x + h * e))[0] - row_gradient((row,), *ports(x - h * e))[0]) / (2 * h)
        for e in steps
    ]
    np.testing.assert_allclose(curvature(row, *ports(x)), bend, atol=1e-7)


def test_a_row_of_mixed_units_is_refused():
    with pytest.raises(ph.errors.InputError, match="odd"):
        Row("odd", ((1.0, 0, 7), (1.0, 1, 4)))
    with pytest.raises(ph.errors.InputError, match="cosine"):
        Row("cosine", ((1.0, 0, 7),), "cosine")


@pytest.mark.parametrize("i", range(3))
def test_a_skew_row_is_the_sine_of_a_rotation_about_its_axis(i):
    triad = rotation(np.array([0.3, -0.4, 0.5]))
    ends = [ground_port(np.zeros(3), D) for D in (triad, triad @ rotation(0.2 * np.eye(3)[i]))]
    for k in range(3):
        assert small_rotation(k).gap(*ends) == pytest.approx(np.sin(0.2) * (k == i), abs=1e-15)


@pytest.mark.parametrize("row", [hinge(), hinge((2, 1), (2, 2)), hinge((0, 2), (2, 2)), hinge((0, 2), (0, 0))])
def test_a_triad_turned_by_an_angle_shows_that_angle(row):
    triad = rotation(np.array([0.3, -0.4, 0.5]))
    for angle in (0.4, -2.0, 3.0):
        ends = [ground_port(np.zeros(3), D) for D in (triad, triad @ row.zero_triad(angle))]
        assert row.gap(*ends) == pytest.approx(angle)


@pytest.mark.parametrize("table", [STOP, RUBBING])
def test_tables_are_straight_between_their_entries_and_beyond(table):
    T = np.array(sorted(table.items())).T
    _, pieces = curve("table", table)
    for x in np.linspace(-4.0, 4.0, 37) + 1e-3:
        inside = np.interp(x, *T) if T[0, 0] <= x <= T[0, -1] else None
        if inside is not None:
            assert pieces.value(x) == pytest.approx(inside)
        grid = np.linspace(0.0, x, 40_001)
        exact = np.trapezoid(pieces.values(grid[::40]), grid[::40])
        assert pieces.integral(x) == pytest.approx(exact, abs=2e-3 * (1 + abs(exact)))
        assert pieces.slope(x) == pytest.approx((pieces.value(x + 1e-7) - pieces.value(x)) / 1e-7, rel=1e-5)
        assert pieces.secant(x) == pytest.approx(pieces.value(x) / x)
    assert pieces.secant(0.0) > 0.0


@pytest.mark.parametrize("law", [Law(stiffness=3.0, rest=0.2), Law(rest=-0.3, spring=curve("stop", STOP)[1])])
def test_a_law_pulls_with_the_slope_of_its_energy(law):
    h = 1e-5
    for gap in np.linspace(-3.0, 3.0, 24):
        slope = (law.energy(gap + h) - law.energy(gap - h)) / (2 * h)
        assert law.force(gap, 7.0) == pytest.approx(-slope, abs=1e-6)
        assert law.slope(gap) == pytest.approx((law.pull(gap - h) - law.pull(gap + h)) / (2 * h), abs=1e-6)
    assert law.energy(law.rest) == 0.0


# --- joints with several axes ----------------------------------------------------------------------------------------

SEVERAL = {
    "universal": (ph.Universal("a.tip", "b.P", axis=(0.0, 0.6, 0.8), name="j"), {"angle": 0.4, "angle_2": -0.7}),
    "cylindrical": (ph.Cylindrical("a.tip", "b.P", axis=(1, 2, 2), name="j"), {"angle": 2.4, "slide": 0.7}),
    "planar": (ph.Planar("a.tip", "b.P", axis=(0, 1, 0), name="j"), {"slide_x": 0.3, "slide_y": -0.5, "angle": 1.9}),
}


@pytest.mark.parametrize("kind", SEVERAL)
def test_joints_with_several_axes_are_placed_and_have_a_number_for_each(kind):
    joint, wanted = SEVERAL[kind]
    link = bodies()["rigid body"]
    turned = replace(joint, turned=(0.3, 0.2, -0.4))
    for made, held_body in ((joint, "a"), (turned, "a"), (turned, "b")):
        system = ph.connect({"a": link, "b": link}, joints=[made])
        A = la.expm(np.cross(np.eye(3), [0.7, 0.1, -0.3]))
        given = {f"{held_body}.r_P": (1, 2, 3), f"{held_body}.A_IB": A}
        state = ph.place(system, given | {f"j.{axis}": value for axis, value in wanted.items()})
        assert ph.joint_coordinates(system, state) == pytest.approx({f"j.{n}": v for n, v in wanted.items()}, abs=1e-9)
        assert system.ports.shape("j") == (len(wanted),)
        terms = ph.terms(system, state)
        free = terms.B.toarray()[:, system.ports["j"]].T
        assert np.linalg.matrix_rank(np.vstack([terms.G.toarray(), free])) == 6
        locked = ph.terms(ph.lock(system, "j"), state)
        assert np.linalg.matrix_rank(locked.G.toarray()) == 6


@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize("seed", range(3))
def test_power_goes_through_joints_with_several_axes_between_bending_bodies(kind, seed):
    zoo = bodies()
    joint = replace(SEVERAL[kind][0], first="a.C", turned=(0.3, 0.2, -0.4))
    springs = [
        made(joint="j", axis=row.label)
        for row in joint.free
        for made in (lambda **o: ph.JointSpring(stiffness=5.0, **o), lambda **o: ph.JointDamper(damping=0.3, **o))
    ]
    system = ph.connect({"a": zoo["beam"], "b": zoo["rayleigh beam"]}, joints=[joint, *springs])
    state = random_state(system, seed, consistent=True)
    u = {"j": np.random.default_rng(seed).normal(size=system.ports.shape("j"))}
    balance = ph.power_balance(system, state, u)
    assert abs(balance.relative) < 1e-12
    assert balance.supplied != 0.0 and balance.dissipated > 0.0


def test_a_universal_joint_turns_about_its_axis_then_about_a_normal():
    link = bodies()["rigid body"]
    system = ph.connect({"b": link}, joints=[ph.Universal("ground", "b.P", name="j")])
    state = ph.place(system, {"j.angle": 0.4, "j.angle_2": 2.1})
    expected = rotation(np.array([0, 0, 0.4])) @ rotation(np.array([2.1, 0, 0]))
    np.testing.assert_allclose(state["b.A_IB"], expected, atol=1e-12)


def test_springs_act_on_the_axis_that_is_named():
    link = bodies()["rigid body"]
    joint, wanted = SEVERAL["cylindrical"]
    springs = [ph.JointSpring("j", axis=axis, stiffness=10.0) for axis in ("angle", "slide")]
    system = ph.connect({"a": link, "b": link}, joints=[*springs, joint])
    state = ph.place(system, {f"j.{axis}": value for axis, value in wanted.items()})
    expected = {f"j.{axis}.spring": 5.0 * value**2 for axis, value in wanted.items()}
    assert element_energies(system, state) == pytest.approx(expected)


# --- systems of systems ----------------------------------------------------------------------------------------------


def test_nested_elements_keep_their_names_ends_and_forces():
    stage = pair(EVERYTHING, "xy")
    whole = ph.connect(
        {"left": stage, "right": stage},
        joints=[ph.JointSpring("right.j", stiffness=2.0), ph.Force("left.a.C", along=(1, 0, 0), name="push")],
        plane="xy",
    )
    assert {f"left.{name}" for name in stage.elements} < set(whole.elements)
    assert {f"right.{name}" for name in stage.actuators} | {"push"} < set(whole.actuators)
    assert {"right.j.spring"} < set(whole.elements)
    state, alone = random_state(whole, 3), random_state(stage, 3)
    first = replace(alone, e=state.e[: stage.layout.size])
    n = stage.layout.size
    outer, inner = ph.terms(whole, state), ph.terms(stage, first)
    np.testing.assert_allclose(outer.z[:n], inner.z, atol=1e-12)
    np.testing.assert_allclose(outer.R[:n, :n].toarray(), inner.R.toarray(), atol=1e-12)
    for name in stage.actuators:
        column = outer.B.toarray()[:, outer.ports[f"left.{name}"]]
        np.testing.assert_allclose(column[:n], inner.B.toarray()[:, inner.ports[name]], atol=1e-12)
        assert not column[n:].any()


def test_locking_and_driving_keep_the_elements():
    system = pair(EVERYTHING, None)
    for closed in (ph.lock(system, "j"), ph.drive(system, "j")):
        assert closed.elements == system.elements
        assert closed.actuators == system.actuators
        assert ph.energy(closed, random_state(system, 0)) == ph.energy(system, random_state(system, 0))
