"""How far a step is from solved: residuals of bodies and joints, counted in round-offs of the terms they are sums of."""

import numpy as np
import pytest
from kernel_zoo import as_written, from_python
from motion_zoo import thing

import phloat as ph
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.kernel import newton, partition, tables as t
from phloat.motion.run.assembly import assemble_run

EPS = float(np.finfo(float).eps)
CENTER, CORNER = np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.2, -0.1])
FIRST, SECOND = np.array([0.7, -1.1, 1.3]), np.array([1.9, 0.4, -0.6])  # where the two bodies stand
H = 0.25


def entry_off(*given):
    return as_written(newton.relative_entry_residual, larger=as_written(newton.larger))(*given)


(body_off,) = from_python(partition.relative_body_residual)


def sum_up(*given):
    return as_written(partition.add_port_magnitudes)(*given)


class Still:
    """The buffers of a system that stands where it is: ports at the end of a step are those at its start."""

    def __init__(self, system: ph.System, state: ph.State, u=None) -> None:
        self.packed = assemble_run(system, state, Inputs(system, u).signals, 0.0).packed
        self.m, self.w, self.iw = self.packed.model, self.packed.w, self.packed.iw
        for end in self.m.ends:
            self.w[end[t.E_END] : end[t.E_END] + t.PORT_SIZE] = self.w[end[t.E_START] : end[t.E_START] + t.PORT_SIZE]
        self.iw[[t.I_WORST_BODY, t.I_WORST_ENTRY]] = 7

    @property
    def named(self) -> tuple[int, int]:
        return int(self.iw[t.I_WORST_BODY]), int(self.iw[t.I_WORST_ENTRY])

    def off(self, j: int, row: int, size: float, h: float = H, worst: float = 0.0) -> float:
        """What is reported of an entry with a residual of this size in one of its rows."""
        at = self.m.offsets[t.RIGHT]
        self.w[at : at + self.m.offsets[t.MULTIPLIERS]] = 0.0
        self.w[at + self.m.entries[j, t.J_LAM] + row] = size
        return float(entry_off(self.m, self.w, self.iw, j, h, worst))

    def rows(self, j: int) -> np.ndarray:
        first = self.m.entries[j, t.J_ROW]
        return self.m.rows[first : first + self.m.entries[j, t.J_ROWS]]


def between(*joints) -> Still:
    """Two bodies, apart from each other and from the origin, and what stands between them."""
    body = ph.RigidBody(2.5, np.diag([0.4, 0.5, 0.6]), center=CENTER, ports={"C": CORNER}).discretise()
    system = ph.connect({"a": body, "b": body}, joints)
    return Still(system, ph.place(system, {"a.r_P": FIRST, "b.r_P": SECOND}))


def at_one_place(*joints, hook=True) -> Still:
    """The same, b.P on a.C, and the origin hooked to a.P."""
    body = ph.RigidBody(2.5, np.diag([0.4, 0.5, 0.6]), center=CENTER, ports={"C": CORNER}).discretise()
    hooks = [ph.Spherical("ground", "a.P", at=FIRST, name="hook")] if hook else []
    system = ph.connect({"a": body, "b": body}, [*hooks, *joints])
    return Still(system, ph.place(system, {"a.r_P": FIRST, "b.r_P": FIRST + CORNER}))


def size(*vectors) -> float:
    return float(sum(np.abs(v).sum() for v in vectors))


FLOOR = 1e-3 * ph.RigidBody(2.5, np.eye(3), center=CENTER, ports={"C": CORNER}).discretise().extent
TOUCHING = FLOOR + size(2 * (FIRST + CORNER), CORNER - CENTER, CENTER)  # b.P on a.C
HOOKED = FLOOR + size(2 * FIRST, CENTER)  # a.P on the ground, which has no arm
APART = FLOOR + size(FIRST + CORNER, CORNER - CENTER, SECOND, CENTER)  # a.C to b.P


# --- joints -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [H, -H])
@pytest.mark.parametrize(("joint", "lengths"), [(ph.Spherical, 3), (ph.Weld, 3), (ph.Prismatic, 2), (ph.Revolute, 3)])
def test_gaps_of_joints_are_measured_by_where_their_ports_are_and_turns_by_one(joint, lengths, h):
    """A rate of so many round-offs of the places and arms over h counts as so many; the order of the rows is that of the joint."""
    at = at_one_place(joint("a.C", "b.P", name="j"))
    j = len(at.m.entries) - 1
    powers = at.rows(j)[:, t.R_POWER]
    places = powers == 1
    assert places.sum() == lengths
    for k, length in enumerate(np.where(places, TOUCHING, 1.0)):
        for sign in (1.0, -1.0):
            assert at.off(j, k, sign * 1e3 * EPS * length / abs(h), h) == pytest.approx(1e3, rel=1e-12)
            assert at.named == (-1, j)


def test_a_joint_to_the_ground_has_the_length_of_its_place_and_of_the_arm_of_the_body():
    at = at_one_place(ph.Spherical("a.C", "b.P", name="j"))
    for k in range(3):
        assert at.off(0, k, 50.0 * EPS * HOOKED / H) == pytest.approx(50.0, rel=1e-12)


def test_a_port_at_the_origin_without_an_arm_is_measured_by_a_thousandth_of_the_bodies():
    body = ph.RigidBody(1.0, np.eye(3), ports={"C": (2.0, 0.0, 0.0)}).discretise()
    system = ph.connect({"a": body}, [ph.Spherical("ground", "a.P")])
    at = Still(system, ph.place(system))
    assert at.off(0, 1, 3.0 * EPS * 1e-3 * body.extent / H) == pytest.approx(3.0, rel=1e-12)


LAW, LAW_WEIGHT, BEFORE, AFTER = -3.0, 0.4, -0.2, 0.5  # λ, its derivative by the rate, gaps
SPRINGS = {
    "distance": (between, [ph.Spring("a.C", "b.P", stiffness=9.0, length=1.0)], APART),
    "slide": (
        at_one_place,
        [ph.Prismatic("a.C", "b.P", axis=(1, 0, 0), name="p"), ph.JointSpring("p", stiffness=9.0)],
        TOUCHING,
    ),
    "turn": (at_one_place, [ph.Revolute("a.C", "b.P", name="p"), ph.JointSpring("p", stiffness=9.0)], 1.0),
}


@pytest.mark.parametrize("h", [H, -H])
@pytest.mark.parametrize("kind", SPRINGS)
def test_laws_are_measured_by_their_force_and_by_what_lengths_are_worth_in_force(kind, h):
    """|λ| + stiffness × (both gaps + the length they are differences of; one for angles)."""
    made, joints, length = SPRINGS[kind]
    at = made(*joints)
    j = next(i for i in range(len(at.m.entries)) if at.rows(i)[0, t.R_MODE] == t.COMPLIANT)
    row = at.rows(j)[0]
    at.w[row[t.R_COEF] + np.array([t.GAP0, t.GAP1])] = BEFORE, AFTER
    at.w[at.m.offsets[t.LAM] + at.m.entries[j, t.J_LAM]] = LAW
    for weight in (LAW_WEIGHT, -LAW_WEIGHT, 0.0):
        at.w[row[t.R_COEF] + t.ALPHA] = weight
        scale = 3.0 + abs(weight) * (0.2 + 0.5 + length) / H
        assert at.off(j, 0, -40.0 * EPS * scale, h) == pytest.approx(40.0, rel=1e-12)
        assert at.named == (-1, j)


def test_each_law_of_a_bushing_is_measured_by_its_own_force():
    stiffness = (50.0, 60.0, 70.0, 8.0, 9.0, 10.0)
    at = at_one_place(ph.Bushing("a.C", "b.P", stiffness=stiffness))
    lam = at.m.offsets[t.LAM] + at.m.entries[1, t.J_LAM]
    at.w[lam : lam + 6] = forces = 2.0 ** np.arange(6)
    for row in at.rows(1):
        at.w[row[t.R_COEF] + t.ALPHA] = 0.0
    for k, force in enumerate(forces):
        assert at.off(1, k, 3.0 * EPS * force) == 3.0


def test_the_first_and_worst_joint_stays_named():
    at = at_one_place(ph.Revolute("a.C", "b.P", name="j"))
    j, turning = 1, 3
    assert at.rows(j)[turning, t.R_POWER] == 0
    eight = 8.0 * EPS / H  # a power of two: no rounding
    assert at.off(j, turning, eight, worst=7.0) == 8.0 and at.named == (-1, j)
    at.iw[[t.I_WORST_BODY, t.I_WORST_ENTRY]] = 7
    for before in (8.0, 9.0):
        assert at.off(j, turning, eight, worst=before) == before and at.named == (7, 7)


@pytest.mark.parametrize("residual", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_infinitely_far_off_and_named(residual):
    at = at_one_place(ph.Revolute("a.C", "b.P", name="j"))
    for k in range(5):
        at.iw[[t.I_WORST_BODY, t.I_WORST_ENTRY]] = 7
        assert at.off(1, k, residual, worst=1e9) == np.inf
        assert at.named == (-1, 1)


def test_a_law_without_force_or_stiffness_is_infinitely_far_off_unless_it_is_exact():
    at = between(ph.Spring("a.C", "b.P", stiffness=9.0, length=1.0))
    row = at.rows(0)[0]
    at.w[at.m.offsets[t.LAM]] = at.w[row[t.R_COEF] + t.ALPHA] = 0.0
    assert at.off(0, 0, 0.0) == 0.0 and at.named == (7, 7)
    with np.errstate(divide="ignore"):
        assert at.off(0, 0, 1e-300) == np.inf and at.named == (-1, 0)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_a_gap_is_as_far_off_in_other_units_of_length(unit):
    """All lengths times the unit, the gap too: the same number of round-offs."""
    body = ph.RigidBody(2.5, unit**2 * np.eye(3), center=unit * CENTER, ports={"C": unit * CORNER}).discretise()
    system = ph.connect({"a": body}, [ph.Spherical("ground", "a.P", at=unit * FIRST)])
    at = Still(system, ph.place(system, {"a.r_P": unit * FIRST}))
    gap = 1e-9 * unit
    assert at.off(0, 2, gap / H) == pytest.approx(1e-9 / (EPS * HOOKED), rel=1e-9)


def test_a_gap_far_from_the_origin_is_measured_by_how_far_it_is():
    """Places have the round-off of their coordinates: a thousand times as far, the same gap is a thousandth as many."""
    body = ph.RigidBody(2.5, np.eye(3)).discretise()
    found = []
    for far in (1e3, 1e6):
        system = ph.connect({"a": body}, [ph.Spherical("ground", "a.P", at=(far, 0, 0))])
        found.append(Still(system, ph.place(system, {"a.r_P": (far, 0, 0)})).off(0, 1, 1e-6))
    assert found[0] / found[1] == pytest.approx(1e3, rel=1e-5)


# --- bodies -----------------------------------------------------------------------------------------------------------


def one_body(kind: str, plane: str | None, seed: int = 0) -> tuple[Still, dict[str, np.ndarray]]:
    """A body among two, with anything for its residual F, its terms, its units and the forces at its ports."""
    body = thing(kind)
    system = ph.connect(
        {"a": body, "b": body}, [ph.Spherical("ground", "a.P"), ph.Spherical("ground", "b.P")], plane=plane
    )
    at, rng = Still(system, ph.place(system)), np.random.default_rng(seed)
    b = at.m.bodies[1]
    n = int(b[t.SIZE])
    assert (b[t.N_LIN], b[t.N_ROT]) == ((2, 1) if plane else (3, 3))
    made = {"F": rng.normal(size=n), "terms": rng.uniform(1, 2, n), "unit": rng.uniform(1, 2, n)}
    made |= {"deforming": rng.normal(size=n), "ports": np.array([3.0, 5.0])}
    for name, column in {
        "F": t.W_F,
        "terms": t.W_SCALE,
        "unit": t.W_UNIT,
        "deforming": t.W_GAM,
        "ports": t.W_PORTS,
    }.items():
        at.w[b[column] : b[column] + len(made[name])] = made[name]
        made[name] = at.w[b[column] : b[column] + len(made[name])]  # what is changed here is changed there
    return at, made


BODIES = [(kind, plane) for kind in ("rigid", "beam") for plane in (None, "xy")]


@pytest.mark.parametrize(("kind", "plane"), BODIES)
def test_the_largest_residual_of_a_body_stands_beside_its_largest_term(kind, plane):
    """Terms are its own and the forces of ports: on the mass, as moments, and on each coordinate of deformation."""
    for seed in range(4):
        at, given = one_body(kind, plane, seed)
        b = at.m.bodies[1]
        lin, rot = int(b[t.N_LIN]), int(b[t.N_ROT])
        for factor in (1.0, 0.0):
            given["terms"] *= factor
            ports = np.concatenate(
                [np.full(lin, 3.0), np.full(rot, 5.0), np.abs(given["deforming"][lin + rot :])]
            )  # those of ports
            largest = np.max(np.abs(given["F"]) * given["unit"]), np.max((given["terms"] + ports) * given["unit"])
            found = body_off(at.m.bodies, 1, at.w)
            assert found == pytest.approx(largest[0] / largest[1] / EPS, rel=1e-12)


@pytest.mark.parametrize(("kind", "plane"), BODIES)
def test_each_equation_of_a_body_is_looked_at_and_each_of_its_terms(kind, plane):
    at, given = one_body(kind, plane)
    lin, rot = (2, 1) if plane else (3, 3)
    for k in range(len(given["F"])):
        for name in ("F", "terms", "deforming", "ports"):
            given[name][:] = 0.0
        given["unit"][:] = 1.0
        given["F"][k], given["terms"][k] = -12.0 * EPS, 2.0
        assert body_off(at.m.bodies, 1, at.w) == 6.0
        given["terms"][k] = 0.0
        if k < lin + rot:
            given["ports"][int(k >= lin)] = 4.0
        else:
            given["deforming"][k] = -4.0
        assert body_off(at.m.bodies, 1, at.w) == 3.0


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_a_body_is_as_far_off_in_other_units_of_mass(unit):
    """Forces and masses times the unit, so 1/√D divided by its root."""
    at, given = one_body("beam", None)
    before = body_off(at.m.bodies, 1, at.w)
    for name in ("F", "terms", "deforming", "ports"):
        given[name] *= unit
    given["unit"] /= np.sqrt(unit)
    assert body_off(at.m.bodies, 1, at.w) == pytest.approx(before, rel=1e-12)


@pytest.mark.parametrize("residual", [np.nan, np.inf, -np.inf])
def test_a_body_whose_residual_is_no_number_is_infinitely_far_off(residual):
    at, given = one_body("beam", None)
    for k in range(len(given["F"])):
        given["F"][:] = 1.0
        given["F"][k] = residual
        assert body_off(at.m.bodies, 1, at.w) == np.inf


def test_a_free_body_that_moves_at_no_number_is_not_solved():
    """Without a joint nothing else would tell: its residual had counted as zero."""
    system = ph.connect({"a": ph.RigidBody(1.0, np.eye(3)).discretise()}, [])
    p = assemble_run(system, ph.place(system), {}, 0.0).packed
    body = p.model.bodies[0]
    p.w[body[t.W_UNIT] : body[t.W_UNIT] + 6] = 1.0
    p.w[body[t.W_X] : body[t.W_X] + 6] = np.nan
    (residuals,) = from_python(newton.residuals)
    assert residuals(p.model, p.w, p.iw, p.gravity, 0.01, True) == np.inf
    assert p.iw[t.I_WORST_BODY] == 0


def test_a_body_without_any_term_is_infinitely_far_off_unless_its_residual_is_zero():
    at, given = one_body("rigid", None)
    for name in ("F", "terms", "ports", "deforming"):
        given[name][:] = 0.0
    assert body_off(at.m.bodies, 1, at.w) == 0.0
    given["F"][2] = 1e-200
    assert body_off(at.m.bodies, 1, at.w) == np.inf


# --- forces at ports --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [0, t.PLAIN_TRIAD, t.ORTHONORMAL])
def test_forces_at_ports_add_up_by_their_size_and_so_do_their_moments(turns):
    """|F|, and |F| times the arm (sums of sizes of components); where the port turns also what turns its directions."""
    w = np.zeros(80)
    force, port, to = 10, 30, 70
    w[force : force + 3] = 1.0, -2.0, 4.0
    w[force + t.ON_DIR : force + t.OUT_SIZE - 1] = (-1.0) ** np.arange(12) * 2.0 ** np.arange(12)
    w[force + t.OUT_SIZE - 1] = 1e6  # beyond what acts on the port
    w[port : port + 3] = 1e6  # its place has nothing to do with it
    w[port + t.ARM : port + t.ARM + 3] = 0.5, -0.25, -1.0
    w[to : to + 2] = 100.0, 200.0
    sum_up(w, force, port, turns, to)
    assert w[to] == 100.0 + 7.0
    assert w[to + 1] == 200.0 + 7.0 * 1.75 + (4095.0 if turns else 0.0)
