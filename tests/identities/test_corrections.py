"""Newton's method of a step, piece by piece: what is measured, who makes factors, rows left out, corrections and their way back."""

import types

import numpy as np
import pytest
from kernel_zoo import as_written, from_python

import phloat as ph
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.kernel import body as of_body, newton, partition as ranges, step, tables as t
from phloat.motion.kernel.machine import threads
from phloat.motion.run.assembly import assemble_run

start_step, predict, residuals = from_python(of_body.start_step, step.predict, newton.residuals)
H = 0.01


def add(n, scale, x, p, y, q):
    y[q : q + n] += scale * x[p : p + n]


BODY = ph.RigidBody(2.5, np.diag([0.4, 0.5, 0.6]), center=(0.1, -0.2, 0.3), ports={"C": (0.5, 0.2, -0.1)}).discretise()


class Halfway:
    """A chain on a hinge and a ball joint, with a spring, a damper and a force, in the middle of a step."""

    def __init__(self, force: float = 6.0) -> None:
        joints = [
            ph.Revolute("ground", "a.P", name="hinge"),
            ph.Spherical("a.C", "b.P", name="ball"),
            ph.Spring("a.P", "b.C", stiffness=50.0, length=0.5, name="strut"),
            ph.Force("b.C", along=(0, 1, 0), name="push"),
        ]
        system = ph.connect({"a": BODY, "b": BODY}, joints, gravity=(0.7, -9.81, 1.3))
        state = ph.set_moving(system, ph.place(system), {"hinge.angle_rate": 2.0, "b.omega": (0.3, -1.0, 2.0)})
        self.p = assemble_run(system, state, Inputs(system, {"push": force}).signals, 0.0).packed
        self.m, self.w, self.iw = self.p.model, self.p.w, self.p.iw
        step.set_step(self.m, self.w, self.iw, np.array([H]), np.zeros(0))
        for i in range(2):
            start_step(self.m.bodies, i, self.m.data, self.m.indices, self.w, H)
        predict(self.m, self.w, self.iw, np.ones(3))
        names = [entry.name for entry in self.p.entries]
        self.number = {name: names.index(name) for name in names}
        for b in self.m.bodies:
            self.w[b[t.W_UNIT] : b[t.W_UNIT] + b[t.SIZE]] = 1.0
            self.w[b[t.W_SCALE] : b[t.W_SCALE] + b[t.SIZE]] = 1.0

    def evaluated(self, whole: bool = True) -> float:
        return residuals(self.m, self.w, self.iw, self.p.gravity, H, whole)

    def lam(self, name: str) -> np.ndarray:
        entry = self.m.entries[self.number[name]]
        at = self.m.offsets[t.LAM] + entry[t.J_LAM]
        return self.w[at : at + entry[t.J_ROWS]]

    def right(self, name: str) -> np.ndarray:
        entry = self.m.entries[self.number[name]]
        at = self.m.offsets[t.RIGHT] + entry[t.J_LAM]
        return self.w[at : at + entry[t.J_ROWS]]

    def residual(self, i: int) -> np.ndarray:
        b = self.m.bodies[i]
        return self.w[b[t.W_F] : b[t.W_F] + b[t.SIZE]].copy()

    def ends(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Where the ports of an entry are at the end of the step."""
        entry = self.m.entries[self.number[name]]
        places = [self.m.ends[entry[k], t.E_END] for k in (t.J_A, t.J_B)]
        return self.w[places[0] : places[0] + 3].copy(), self.w[places[1] : places[1] + 3].copy()


def test_rows_of_a_joint_are_the_gaps_at_the_end_of_the_step_over_its_size():
    at = Halfway()
    at.evaluated()
    for name in ("hinge", "ball"):
        a, b = at.ends(name)
        np.testing.assert_allclose(at.right(name)[:3], (b - a) / H, rtol=1e-9, atol=1e-9)
    assert np.abs(at.right("ball")).max() > 1e-6


def test_rows_of_a_joint_count_from_where_it_is_told_to_go():
    """(gap − target) / h, of places and of directions alike."""
    at = Halfway()
    for name in ("hinge", "ball"):
        entry = at.m.entries[at.number[name]]
        rows = at.m.rows[entry[t.J_ROW] : entry[t.J_ROW] + entry[t.J_ROWS], t.R_COEF]
        at.w[rows + t.TARGET1] = targets = 0.1 + 0.01 * np.arange(len(rows))
        at.evaluated()
        np.testing.assert_allclose(at.right(name), (at.w[rows + t.GAP1] - targets) / H, rtol=1e-12)
        np.testing.assert_array_equal(at.w[rows + t.ALPHA], 1.0)


def test_the_sizes_of_the_forces_at_ports_are_summed_up_by_body():
    at = Halfway()
    for name in at.number:
        at.lam(name)[:] = 0.0
    at.lam("ball")[:] = 1.0, -2.0, 4.0
    at.evaluated()
    for i, arm in ((0, np.array([0.5, 0.2, -0.1]) - [0.1, -0.2, 0.3]), (1, -np.array([0.1, -0.2, 0.3]))):
        forces, moments = at.w[at.m.bodies[i, t.W_PORTS] :][:2]
        assert forces == pytest.approx(7.0, rel=1e-12)
        assert moments == pytest.approx(7.0 * np.abs(arm).sum(), rel=0.05)  # it turns a little in half a step


def test_a_law_is_solved_by_the_force_of_its_spring():
    """λ = −k (mean length − rest)."""
    at = Halfway()
    at.evaluated()
    a, b = at.ends("strut")
    o = at.m.rows[at.m.entries[at.number["strut"], t.J_ROW], t.R_COEF]
    mean = 0.5 * (at.w[o + t.GAP0] + np.linalg.norm(b - a))
    at.lam("strut")[:] = 3.0
    at.evaluated()
    np.testing.assert_allclose(at.right("strut"), 3.0 + 50.0 * (mean - 0.5), rtol=1e-12)
    assert at.w[o + t.ALPHA] == pytest.approx(0.5 * H * 50.0, rel=1e-12)


def test_forces_of_a_ball_joint_are_opposite_on_its_two_bodies():
    """On the linear momenta: minus λ on the first, plus λ on the second; F is what is missing."""
    at = Halfway()
    at.lam("ball")[:] = 0.0
    at.evaluated()
    before = [at.residual(i)[:3] for i in range(2)]
    at.lam("ball")[:] = 1.0, -2.0, 4.0
    at.evaluated()
    for i, sign in enumerate((1.0, -1.0)):
        np.testing.assert_allclose(at.residual(i)[:3] - before[i], sign * np.array([1.0, -2.0, 4.0]), rtol=1e-12)


def test_a_given_force_acts_and_has_no_equation():
    at = Halfway(force=0.0)
    at.lam("push")[:] = 0.0
    at.evaluated()
    before, rows = at.residual(1), at.right("hinge").copy()
    at.lam("push")[:] = 6.0
    beyond = slice(at.m.offsets[t.PIVOTS], at.m.offsets[t.PIVOTS] + at.m.offsets[t.MULTIPLIERS])
    at.w[beyond] = 5.0
    at.evaluated()
    assert (at.w[beyond] == 5.0).all()
    np.testing.assert_allclose((at.residual(1) - before)[:3], [0.0, -6.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(at.right("hinge"), rows)


@pytest.mark.parametrize("which", range(5))
def test_a_row_that_is_left_out_asks_for_nothing(which):
    at = Halfway()
    entry = at.m.entries[at.number["hinge"]]
    at.m.rows[entry[t.J_ROW] + which, t.R_DROPPED] = 1
    at.right("hinge")[:] = 5.0
    b = at.m.bodies[0]
    at.w[b[t.W_X] : b[t.W_X] + 6] += 0.3
    at.evaluated()
    found = at.right("hinge")
    assert found[which] == 0.0
    assert np.abs(np.delete(found, which)).min() > 0.0


def test_measuring_twice_gives_the_same_and_names_the_worst_anew():
    at = Halfway()
    first = at.evaluated()
    named = at.iw[[t.I_WORST_BODY, t.I_WORST_ENTRY]].tolist()
    kept = at.w.copy()
    at.iw[[t.I_WORST_BODY, t.I_WORST_ENTRY]] = 5
    assert at.evaluated() == first > 0.0
    assert at.iw[[t.I_WORST_BODY, t.I_WORST_ENTRY]].tolist() == named
    np.testing.assert_array_equal(at.w, kept)


def test_the_worst_of_all_is_reported_with_its_name():
    """A body or a joint: the one whose residual is made large, or whose terms are made small."""
    at = Halfway()
    for i in range(2):
        for k, b in enumerate(at.m.bodies):
            at.w[b[t.W_SCALE] : b[t.W_SCALE] + b[t.SIZE]] = 1e30 if k == i else 1e40
            at.w[b[t.W_UNIT] : b[t.W_UNIT] + b[t.SIZE]] = 1.0
        entries = at.m.entries[[at.number[n] for n in ("hinge", "ball", "strut")]]
        assert (entries[:, t.J_UNKNOWN] == 1).all()
        at.evaluated()
        assert at.iw[t.I_WORST_BODY] == -1 and at.iw[t.I_WORST_ENTRY] in [at.number[n] for n in ("ball", "strut")]
    for i in range(2):
        for k, b in enumerate(at.m.bodies):
            at.w[b[t.W_SCALE] : b[t.W_SCALE] + b[t.SIZE]] = 1.0 if k == i else 1e40
        assert at.evaluated() > 1e12
        assert at.iw[[t.I_WORST_BODY, t.I_WORST_ENTRY]].tolist() == [i, -1]


def test_without_residuals_only_places_are_new():
    """As after a correction that is sure to do: forces for the works, but F and how far off is not looked at."""
    at, other = Halfway(), Halfway()
    for one in (at, other):
        one.lam("hinge")[:] = 3.0
        one.evaluated()
        b = one.m.bodies[1]
        one.w[b[t.W_X] : b[t.W_X] + 6] += 0.2
        one.lam("ball")[:] = 1.0, -2.0, 4.0
    at.evaluated()
    F, rows = [other.residual(i) for i in range(2)], other.right("ball").copy()
    assert other.evaluated(whole=False) == 0.0
    assert other.iw[[t.I_WORST_BODY, t.I_WORST_ENTRY]].tolist() == [-1, -1]
    for i in range(2):
        np.testing.assert_array_equal(other.residual(i), F[i])
    assert np.abs(other.right("ball") - rows).max() > 0.1  # gaps are new, and so are the rows
    for end in at.m.ends:
        for place, size in ((t.E_END, 6), (t.E_OUT, t.OUT_SIZE - 1)):
            np.testing.assert_array_equal(at.w[end[place] : end[place] + size], other.w[end[place] : end[place] + size])


def test_a_correction_is_taken_back_to_the_last_digit_but_one():
    at, rng = Halfway(), np.random.default_rng(0)
    m, w = at.m, at.w
    before, moved = w.copy(), w.copy()
    for b in m.bodies:
        x, y = (slice(b[k], b[k] + b[t.WIDE]) for k in (t.W_X, t.W_Y))
        w[y] = rng.normal(size=b[t.WIDE])
        w[x] += w[y]
    lam, delta = (slice(m.offsets[k], m.offsets[k] + m.offsets[t.MULTIPLIERS]) for k in (t.LAM, t.DELTA))
    w[delta] = rng.normal(size=m.offsets[t.MULTIPLIERS])
    w[lam] += w[delta]
    moved = w.copy()
    as_written(newton.undo_correction, add_4=add, axpy=add)(m, w)
    for b in m.bodies:
        x = slice(b[t.W_X], b[t.W_X] + b[t.WIDE])
        np.testing.assert_allclose(w[x], before[x], atol=1e-15)
        assert np.abs(moved[x] - before[x]).max() > 0.1
        moved[x] = w[x]
    np.testing.assert_allclose(w[lam], before[lam], atol=1e-14)
    moved[lam] = w[lam]
    np.testing.assert_array_equal(w, moved)  # and nothing else


# --- factors ----------------------------------------------------------------------------------------------------------


class Factored:
    """`refactor` where others do the work; what it asks of them."""

    def __init__(self, hands: int, wrong: int = -1, where_wrong: int = 0) -> None:
        self.log: list = []
        where = np.zeros(8, dtype=int)
        where[[t.S_AT, t.S_SIZE, t.PIVOTS]] = 3, 4, 9
        counters = np.zeros(threads.COUNTERS_SIZE, dtype=int)
        counters[threads.THREAD_COUNT], counters[threads.SINGULAR_BODY :] = hands, -1
        counters[threads.SINGULAR_BODY + where_wrong] = wrong
        entries = np.zeros((4, t.ENTRY_COLUMNS), dtype=int)
        entries[:, t.J_UNKNOWN] = 1, 1, 0, 1
        m = types.SimpleNamespace(
            entries=entries, offsets=where, threads=counters, ranges=np.array([[0, 2], [2, 5]]), program="program"
        )
        self.w, self.iw = np.ones(12), np.zeros(t.I_HEADER, dtype=int)
        self.iw[[t.I_FACTORISATIONS, t.I_WORST_BODY]] = 7, -1
        refactor = as_written(
            newton.refactor,
            linear_rows=lambda m, w, j, h: self.log.append(("rows", j)),
            fill=self.fill,
            run_all=lambda m, w, gravity, h, job: self.log.append(("each", int(job))),
            run_job=lambda m, w, gravity, h, job, r: self.log.append(("do", int(job), r)),
            assemble=self.assemble,
            add_ones=lambda m, w, pivots: self.log.append(("close", int(pivots))),
            factorise=self.factorise,
        )
        self.good = refactor(m, self.w, self.iw, None, H)

    def fill(self, n, value, w, at):
        w[at : at + n] = value

    def assemble(self, m, w, i, first):
        self.log.append(("body", i, first))
        return first + 10

    def factorise(self, program, w, pivots):
        self.log.append((program, int(pivots)))
        return 3


JOINED = [("close", 9), ("program", 9)]


@pytest.mark.parametrize("hands", [0, 1, 2])
def test_factors_are_made_of_all_unknown_rows_and_of_all_bodies_by_one_or_by_many(hands):
    """Blocks of each body follow those of the one before it; ranges of bodies are shared among threads, or done here."""
    found = Factored(hands)
    bodies = [("body", i, 10 * i) for i in range(5)]
    rows = [("rows", 0), ("rows", 1), ("rows", 3)]
    job = ranges.FACTORS
    here = [("do", job, 0), *bodies[:2], ("do", job, 1), *bodies[2:]]
    assert found.log == [*rows, *([("each", job), *bodies] if hands > 1 else here), *JOINED]
    assert found.good and found.iw[[t.I_FACTORISATIONS, t.I_LOST, t.I_FACTORED]].tolist() == [8, 3, 1]
    assert found.w.tolist() == [1.0] * 3 + [0.0] * 4 + [1.0] * 5


@pytest.mark.parametrize(("wrong", "part"), [(0, 0), (1, 0), (3, 1)])
def test_a_body_without_inverse_is_named(wrong, part):
    found = Factored(1, wrong, part)
    assert not found.good
    assert found.iw[[t.I_WORST_BODY, t.I_FACTORED, t.I_FACTORISATIONS]].tolist() == [wrong, 0, 8]
    assert JOINED[0] not in found.log


def test_rows_left_out_and_laws_have_one_on_the_diagonal():
    """And the diagonal is kept, for pivots that vanish; what has no unknown has no place in it."""
    entries = np.zeros((3, t.ENTRY_COLUMNS), dtype=int)
    columns = [t.J_ROW, t.J_ROWS, t.J_LAM, t.J_UNKNOWN, t.J_BLOCK]
    entries[:, columns] = [[0, 2, 0, 1, 4], [2, 2, 2, 1, 8], [4, 1, 4, 0, 0]]
    rows = np.zeros((5, t.ROW_COLUMNS), dtype=int)
    rows[:, t.R_MODE] = t.CLOSED, t.CLOSED, t.COMPLIANT, t.CLOSED, t.GIVEN
    rows[1, t.R_DROPPED] = 1
    w = np.arange(40.0)
    as_written(ranges.add_ones)(types.SimpleNamespace(entries=entries, rows=rows), w, 20)
    expected = np.arange(40.0)
    expected[[7, 8]] += 1.0  # the second of the first block, the first of the second
    expected[20:24] = 4.0, 8.0, 9.0, 11.0
    np.testing.assert_array_equal(w, expected)


def test_what_a_body_adds_is_the_admittance_between_its_joints():
    """S += α Ĝ D⁻¹Gᵀ in the blocks that are listed, row by row; rows left out add nothing."""
    rng, wide = np.random.default_rng(0), 4
    bodies = np.zeros((2, t.BODY_COLUMNS), dtype=int)
    bodies[1, [t.WIDE, t.W_SOL, t.FIRST_INC, t.N_INC]] = wide, 100, 1, 2
    incidences = np.zeros((3, t.INC_COLUMNS), dtype=int)
    incidences[1:, [t.G_ENTRY, t.G_ROWS, t.G_COLUMN, t.G_HAT]] = [[0, 2, 0, 200], [1, 3, 2, 240]]
    entries = np.zeros((2, t.ENTRY_COLUMNS), dtype=int)
    entries[:, t.J_ROW] = 0, 2
    rows = np.zeros((5, t.ROW_COLUMNS), dtype=int)
    rows[:, t.R_COEF] = 300 + 20 * np.arange(5)
    rows[3, t.R_DROPPED] = 1
    blocks = np.array([[9, 9, 9], [1, 1, 0], [1, 2, 4], [2, 1, 10], [2, 2, 16], [9, 9, 9]])
    w = rng.normal(size=400)
    before = w.copy()
    alpha = w[rows[:, t.R_COEF] + t.ALPHA]
    m = types.SimpleNamespace(bodies=bodies, entries=entries, rows=rows, incidences=incidences, assembly=blocks)
    dot = lambda n, a, o, b, p: float(a[o : o + n] @ b[p : p + n])  # noqa: E731
    assert as_written(ranges.assemble, dot_4=dot)(m, w, 1, 1) == 5
    hat = np.vstack([before[200 : 200 + 2 * wide].reshape(2, wide), before[240 : 240 + 3 * wide].reshape(3, wide)])
    S = alpha[:, None] * (hat @ before[100 : 100 + 5 * wide].reshape(5, wide).T)
    S[3], S[:, 3] = 0.0, 0.0
    added = w - before
    found = np.block(
        [
            [added[0:4].reshape(2, 2), added[4:10].reshape(2, 3)],
            [added[10:16].reshape(3, 2), added[16:25].reshape(3, 3)],
        ]
    )
    np.testing.assert_allclose(found, S, atol=1e-14)
    assert not added[25:].any()


def test_each_row_at_a_body_is_solved_into_its_own_column():
    wide = 4
    bodies = np.zeros((1, t.BODY_COLUMNS), dtype=int)
    bodies[0, [t.WIDE, t.W_D, t.W_SOL, t.FIRST_INC, t.N_INC]] = wide, 50, 100, 1, 2
    incidences = np.zeros((4, t.INC_COLUMNS), dtype=int)
    incidences[1:3, [t.G_ROWS, t.G_COLUMN, t.G_MEAN]] = [[2, 0, 200], [3, 2, 240]]
    asked = []
    m = types.SimpleNamespace(bodies=bodies, incidences=incidences)
    solved = lambda rows, D, at, n, x, of, y, to: asked.append((int(at), int(n), int(of), int(to)))  # noqa: E731
    as_written(ranges.admittance, multiply_rows=solved)(m, np.zeros(1), 0)
    assert asked == [(50, 4, of, 100 + 4 * k) for k, of in enumerate((200, 204, 240, 244, 248))]
