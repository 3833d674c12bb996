"""Steps one after the other: what is expected of the next, what is done where one fails, what is kept."""

import types

import numpy as np
import pytest
from kernel_zoo import as_written, from_python
from motion_zoo import thing

import phloat as ph
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.kernel import step, tables as t
from phloat.motion.kernel.machine import dense as small
from phloat.motion.run.kernel_run import KernelRun
from phloat.motion.run.task import Task

predict, swap_factors = from_python(step.predict, step.swap_factors)

# --- a step that fails ------------------------------------------------------------------------------------------------


class Tried:
    """`take_step` where it is told how `solve` goes; each try spoils the multipliers."""

    def __init__(self, *how, started=3):
        self.how, self.log = list(how), []
        self.w, self.iw = np.arange(40.0), np.zeros(t.I_HEADER, dtype=int)
        self.iw[[t.I_FACTORED, t.I_STARTED]] = 1, started
        where = np.zeros(8, dtype=int)
        where[[t.LAM, t.SAVED, t.MULTIPLIERS]] = 10, 20, 4
        model = types.SimpleNamespace(offsets=where)
        step_once = as_written(
            step.take_step,
            run_all=lambda m, w, gravity, h, job: self.log.append(("begin", h)),
            predict=lambda m, w, iw, guess: self.log.append(("predict", int(iw[t.I_STARTED]), int(iw[t.I_FACTORED]))),
            copy=as_written(small.copy),
            solve=self.solve,
            add_works=lambda *_: self.log.append("works"),
            accept_step=lambda *_: self.log.append("settle"),
        )
        self.status = step_once(model, self.w, self.iw, None, 0.1, None)

    def solve(self, m, w, iw, gravity, h, careful):
        self.log.append(("solve", bool(careful), w[10:14].tolist()))
        w[10:14] += 1.0
        return self.how.pop(0)


LAM = [10.0, 11.0, 12.0, 13.0]


def test_a_step_that_is_solved_is_counted_and_becomes_the_start_of_the_next():
    found = Tried(step.SOLVED)
    assert found.status == step.SOLVED
    assert found.log == [("begin", 0.1), ("predict", 3, 1), ("solve", False, LAM), "works", "settle"]
    np.testing.assert_array_equal(found.w[10:14], np.array(LAM) + 1.0)
    np.testing.assert_array_equal(found.w[14:20], np.arange(14.0, 20.0))


@pytest.mark.parametrize("started", [0, 1, 3])
def test_a_step_that_fails_is_tried_again_with_care_from_where_it_began(started):
    """From the multipliers before it, without factors, and expecting no more than that velocities stay."""
    found = Tried(step.SINGULAR, step.SOLVED, started=started)
    assert found.status == step.SOLVED
    again = [("predict", min(started, 1), 0), ("solve", True, LAM), "works", "settle"]
    assert found.log == [("begin", 0.1), ("predict", started, 1), ("solve", False, LAM), *again]


@pytest.mark.parametrize("last", [step.SINGULAR, step.DIVERGED])
def test_a_step_that_fails_twice_leaves_multipliers_and_says_how_it_failed(last):
    found = Tried(step.DIVERGED, last)
    assert found.status == last
    assert found.w[10:14].tolist() == LAM
    assert "works" not in found.log and "settle" not in found.log
    assert (found.iw[t.I_FACTORED], found.iw[t.I_STARTED]) == (0, 1)


# --- many steps -------------------------------------------------------------------------------------------------------


class Marched:
    """`advance` where the steps are told: after the n-th both multipliers are 2n and 3n, and what is kept is n."""

    def __init__(self, steps, marks=(), fails_at=-1, fill=-1, made=0, sizes=(0.1,), sets=(0,), lead=True):
        self.n, self.log, self.fails_at, self.exchanges = 0, [], fails_at, 0
        where = np.zeros(8, dtype=int)
        where[t.LAM] = 10
        self.w, self.iw = np.zeros(40), np.zeros(t.I_HEADER, dtype=int)
        self.lam, self.rows, self.potentials = np.full((9, 2), -1.0), np.full((9, 3), -1.0), np.full((9, 1), -1.0)
        self.lam[0] = 8.0, 10.0
        given, moving = np.arange(2.0 * steps).reshape(steps, 2), 100.0 + np.arange(1.0 * steps).reshape(steps, 1)
        guesses = [f"guess {k}" for k in range(len(sizes))]
        advance = as_written(
            step.advance,
            as_pointers=lambda m: m,
            pointer=lambda w: w,
            serve=lambda *_: self.log.append("serve"),
            swap_factors=self.exchange,
            take_step=self.one,
            write_snapshot=self.snapshot,
        )
        self.out = advance(
            types.SimpleNamespace(offsets=where),
            *(self.w, self.iw, "gravity", (np.array(sizes), np.array(sets), guesses), "bank"),
            *((given, np.array([20, 22]), moving, np.array([25])), np.array(marks, dtype=int), 5),
            *((self.rows, self.lam, self.potentials), made, fill, lead),
        )

    def exchange(self, m, w, iw, bank):
        iw[t.I_SET] = 1 - iw[t.I_SET]
        self.exchanges += 1

    def one(self, m, w, iw, gravity, h, guess):
        if self.n == self.fails_at:
            return step.SINGULAR
        self.n += 1
        self.log.append((h, guess, int(iw[t.I_SET]), w[[20, 22, 25]].tolist()))
        w[10:12] = 2.0 * self.n, 3.0 * self.n
        return step.SOLVED

    def snapshot(self, m, w, gravity, first, out, potentials):
        out[:], potentials[:] = first + self.n, -self.n


def test_efforts_and_drives_of_each_step_are_in_place_when_it_is_made():
    found = Marched(3)
    assert found.out == (step.SOLVED, 3, 0, -1)
    assert [line[3] for line in found.log] == [[0.0, 1.0, 100.0], [2.0, 3.0, 101.0], [4.0, 5.0, 102.0]]
    assert found.w[[19, 21, 23, 24, 26]].tolist() == [0.0] * 5
    assert (found.lam[1:] == -1.0).all() and found.lam[0].tolist() == [8.0, 10.0]  # nothing is kept


def test_snapshots_are_taken_after_the_steps_that_are_marked():
    """Multipliers at a snapshot are the means of those of the steps before and after it; the last waits for its second half."""
    found = Marched(6, marks=(2, 3, 6))
    assert found.out == (step.SOLVED, 6, 3, 2)
    assert found.rows[:4, 0].tolist() == [7.0, 8.0, 11.0, -1.0]
    assert found.potentials[:4, 0].tolist() == [-2.0, -3.0, -6.0, -1.0]
    assert found.lam[:4].tolist() == [[5.0, 7.5], [7.0, 10.5], [12.0, 18.0], [-1.0, -1.0]]


def test_a_snapshot_taken_before_gets_its_second_half_from_the_first_step():
    found = Marched(3, marks=(3,), fill=0, made=4)
    assert found.out == (step.SOLVED, 3, 5, 4)
    assert found.lam[0].tolist() == [5.0, 6.5]
    assert found.lam[4].tolist() == [6.0, 9.0] and found.rows[4].tolist() == [8.0] * 3


def test_where_a_step_fails_what_was_made_before_it_stays():
    found = Marched(5, marks=(1, 4), fails_at=2)
    assert found.out == (step.SINGULAR, 2, 1, -1)
    assert found.lam[0].tolist() == [3.0, 4.5]
    assert Marched(5, marks=(2, 4), fails_at=2).out == (step.SINGULAR, 2, 1, 0)


def test_parts_of_a_step_go_in_turn_with_their_own_factors_and_guesses():
    found = Marched(6, sizes=(0.4, -0.3, 0.4), sets=(0, 1, 0))
    assert [line[:3] for line in found.log] == 2 * [(0.4, "guess 0", 0), (-0.3, "guess 1", 1), (0.4, "guess 2", 0)]
    assert found.exchanges == 4


def test_a_thread_that_does_not_lead_makes_no_steps():
    found = Marched(3, marks=(1,), fill=0, made=2, lead=False)
    assert (found.log, found.out) == (["serve"], (step.SOLVED, 0, 2, 0))


# --- what the next step is expected to be -----------------------------------------------------------------------------


def runner(system: ph.System, state: ph.State, u=None, dt=0.01) -> KernelRun:
    return KernelRun(Task(system, state, 0.0, 1.0, dt, Inputs(system, u)))


def stepped(run: KernelRun, steps: int, h: float) -> None:
    done, status = run.steps(run.t + h * np.arange(steps + 1), np.zeros(0, dtype=int))
    assert (done, status) == (steps, step.SOLVED)


def unknowns(run: KernelRun, i: int, column: int = t.W_X) -> np.ndarray:
    b = run.packed.model.bodies[i]
    return run.packed.w[b[column] : b[column] + b[t.SIZE]]


@pytest.mark.parametrize(("kind", "plane"), [(k, p) for k in ("rigid", "beam") for p in (None, "xy")])
def test_the_first_step_expects_the_velocities_of_the_state(kind, plane):
    """Of the mass centre in inertial axes, of the turn, of the deformation, of all bodies; later ones what came before."""
    body = thing(kind)
    system = ph.connect({"a": body, "b": body}, plane=plane)
    rng = np.random.default_rng(0)
    names = [n for n in system.layout if n.rpartition(".")[2] in ("v_P", "omega", "eta_dot")]
    state = ph.place(system).with_values({n: rng.normal(size=system.layout.shape(n)) for n in names})
    run = runner(system, state)
    m, w, iw = run.packed.model, run.packed.w, run.packed.iw
    w[m.bodies[1][t.W_X] : m.bodies[1][t.W_X] + m.bodies[1][t.WIDE]] = np.nan
    predict(m, w, iw, np.array([1.0, 1.0, -1.0]))
    lin = 2 if plane else 3
    for i, name in enumerate("ab"):
        pose, arrays = state.pose(name), list(run.packed.arrays.values())[i]
        at, along = arrays.shift
        V = pose.v_P + np.cross(pose.omega, at) + along @ pose.rates
        expected = np.concatenate([V[:lin], pose.omega[2:] if plane else pose.omega, pose.rates])
        np.testing.assert_allclose(unknowns(run, i), expected, rtol=1e-13)
        wide = m.bodies[i]
        assert not w[wide[t.W_X] + wide[t.SIZE] : wide[t.W_X] + wide[t.WIDE]].any()


def test_motion_that_is_constant_linear_or_as_weighted_is_expected_exactly():
    body = thing("beam")
    system = ph.connect({"a": body, "b": body}, plane="xy")
    run = runner(system, ph.place(system))
    m, w, iw = run.packed.model, run.packed.w, run.packed.iw
    rng = np.random.default_rng(1)
    for i in range(2):
        first, slope, bend = rng.normal(size=(3, len(unknowns(run, i))))
        for started in (1, 2, 3):
            for column, when in ((t.W_OLDEST, -3.0), (t.W_OLDER, -2.0), (t.W_OLD, -1.0)):
                curved = bend * when**2 if started == 3 else 0.0
                unknowns(run, i, column)[:] = first + (slope * when if started > 1 else 0.0) + curved
            for column in (t.W_OLDER, t.W_OLDEST)[started - 1 :]:
                unknowns(run, i, column)[:] = np.nan  # not there yet
            iw[t.I_STARTED] = started
            predict(m, w, iw, np.array([3.0, -3.0, 1.0]))  # the parabola through three steps
            np.testing.assert_allclose(unknowns(run, i), first, rtol=1e-13, atol=1e-13)


def test_mean_velocities_of_the_last_three_steps_are_kept():
    """A stone thrown up: V̄ = v₀ + g (n − ½) h in step n."""
    system = ph.connect({"a": ph.PointMass(2.0).discretise()}, gravity=(0.0, 0.0, -9.81))
    run, h = runner(system, ph.set_moving(system, ph.place(system), {"a.v_P": (1.0, 2.0, 3.0)})), 0.1
    for n in range(1, 6):
        stepped(run, 1, h)
        for column, late in ((t.W_OLD, 0), (t.W_OLDER, 1), (t.W_OLDEST, 2)):
            if late < n:
                expected = [1.0, 2.0, 3.0 - 9.81 * (n - late - 0.5) * h]
                np.testing.assert_allclose(unknowns(run, 0, column)[:3], expected, rtol=1e-13)
        assert (run.packed.iw[t.I_STARTED], run.packed.iw[t.I_STEPS]) == (min(n, 3), n)


# --- what a step leaves behind ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [0.45, -0.45, 0.1])
def test_whole_turns_in_the_plane_are_counted_over_many_steps(turns):
    """By the midpoint rule a step at the rate ω turns by 2 atan(ωh/2): less than half a turn, however fast."""
    system = ph.connect({"a": ph.RigidBody(1.0, np.eye(3)).discretise()}, plane="xy")
    h, rate = 0.1, 2.0 * np.tan(np.pi * turns) / 0.1
    run = runner(system, ph.set_moving(system, ph.place(system, {"a.theta": 7.0}), {"a.omega": rate}))
    for n in range(1, 13):
        stepped(run, 1, h)
        assert float(run.state()["a.theta"]) == pytest.approx(7.0 + 2.0 * np.pi * turns * n, rel=1e-12)


def busy(plane: str | None) -> tuple[ph.System, ph.State, dict]:
    """A driven hinge and a driven hand, a spring between two bodies, a spring on a hinge, one to the ground."""
    body = ph.RigidBody(2.5, np.diag([0.4, 0.5, 0.6]), center=(0.1, -0.2, 0.0), ports={"C": (0.5, 0.2, 0.0)})
    joints = [
        ph.Drive("ground", "a.P", of="pose", name="hand"),
        ph.Revolute("a.C", "b.P", name="motor"),
        ph.Revolute("b.C", "c.P", name="hinge"),
        ph.JointSpring("hinge", stiffness=4.0, rest=0.2, name="coil"),
        ph.Spring("a.P", "c.C", stiffness=20.0, length=0.4, name="strut"),
        ph.Spring("ground", "c.C", at=(0.0, 2.0, 0.0), stiffness=10.0, length=0.5, name="line"),
    ]
    one = body.discretise()
    system = ph.drive(ph.connect({"a": one, "b": one, "c": one}, joints, gravity=(0, -9.81, 0), plane=plane), "motor")
    u = {"motor": 3.0, "hand": np.array([0.3, -0.2, 0.8] if plane else [0.3, -0.2, 0.5, 0.1, 0.2, 0.8])}
    return system, ph.set_moving(system, ph.place(system, {}), {"hinge.angle_rate": 2.0}, u=u), u


@pytest.mark.parametrize("plane", [None, "xy"])
def test_the_end_of_a_step_is_the_start_of_the_next(plane):
    """Places and directions of ports, frames that are driven, gaps and their targets."""
    system, state, u = busy(plane)
    run = runner(system, state, u)
    m, w = run.packed.model, run.packed.w
    gaps = [w[row[t.R_COEF] + t.GAP0] for row in m.rows]
    stepped(run, 2, 0.01)
    for end in m.ends:
        size = t.PORT_SIZE if end[t.E_TURNS] else t.DIR
        after, start = (w[end[k] : end[k] + size] for k in (t.E_END, t.E_START))
        np.testing.assert_array_equal(start, after)
        frames = [w[end[k] : end[k] + t.FRAME_SIZE] for k in (t.E_FRAME1, t.E_FRAME0)]
        np.testing.assert_array_equal(*frames)
    for row in m.rows:
        o = row[t.R_COEF]
        assert w[o + t.GAP0] == w[o + t.GAP1] and w[o + t.TARGET0] == w[o + t.TARGET1]
    turned = [row[t.R_COEF] for row in m.rows if row[t.R_FUNCTION] == t.ANGLE and row[t.R_MODE] == t.CLOSED]
    assert [w[o + t.TARGET0] for o in turned] == pytest.approx([0.06], rel=1e-9)  # the motor, at 3 rad/s
    assert sum(w[row[t.R_COEF] + t.GAP0] != g for row, g in zip(m.rows, gaps, strict=True)) >= 3


def test_frames_that_are_driven_start_where_they_ended():
    """A point of the ground that is moved, and the directions of a ball joint between two bodies."""
    one = ph.RigidBody(2.5, np.diag([0.4, 0.5, 0.6]), ports={"C": (0.5, 0.2, 0.0)}).discretise()
    joints = [ph.Drive("ground", "a.P", name="hand"), ph.Spherical("a.C", "b.P", name="ball")]
    system = ph.drive(ph.connect({"a": one, "b": one}, joints), "ball")
    u = {"hand": np.array([0.3, -0.2, 0.5]), "ball": np.array([0.0, 0.0, -1.7])}
    run = runner(system, ph.set_moving(system, ph.place(system), u=u), u)
    m, w = run.packed.model, run.packed.w
    frames = [np.array([w[end[k] : end[k] + t.FRAME_SIZE] for end in m.ends]) for k in (t.E_FRAME0, t.E_FRAME1)]
    stepped(run, 2, 0.01)
    after = [np.array([w[end[k] : end[k] + t.FRAME_SIZE] for end in m.ends]) for k in (t.E_FRAME0, t.E_FRAME1)]
    np.testing.assert_array_equal(*frames)
    np.testing.assert_array_equal(*after)
    assert (np.abs(after[0] - frames[0]).max(axis=1) > 1e-3).sum() == 2


def test_laws_remember_between_which_elongations_and_rates_they_were_asked_and_when_they_knew_no_more():
    """A mass that runs along at 2 m/s, hardly held: by 0.1 m a step, beyond 0.25 m in the third and beyond 1 m/s in the first."""
    rail = ph.Slide("ground", "a.P", along=(1, 0, 0), name="rail")
    laws = [
        ph.JointSpring("rail", stiffness={-0.5: -1.0, 0.0: 0.0, 0.25: 1.0}, name="stop"),
        ph.JointDamper("rail", damping={-1.0: -1.0, 0.0: 0.0, 1.0: 1.0}, name="rub"),
    ]
    system = ph.connect({"a": ph.PointMass(1e6).discretise()}, [rail, *laws], plane="xy")
    run = runner(system, ph.set_moving(system, ph.place(system), {"a.v_P": (2.0, 0.0)}))
    before = int(run.packed.iw[t.I_STEPS])
    p = run.packed
    one = (np.array([0.05]), np.zeros(1, dtype=int), np.array([[1.0, 1.0, -1.0]]))
    run.set_step(0.05)
    none = np.zeros((4, 0)), np.zeros(0, dtype=int)
    rows, marks = np.zeros((1, p.saved_count)), np.zeros(0, dtype=int)
    out = rows, np.zeros((1, p.multipliers)), np.zeros((1, len(p.entries)))
    step.advance(p.model, p.w, p.iw, p.gravity, one, np.zeros(0), (*none, *none), marks, p.first, out, 0, -1, True)
    spring, damper = (p.model.rows[p.model.entries[j, t.J_ROW], t.R_COEF] for j in (1, 2))
    assert p.w[spring + np.array([t.LEAST, t.MOST])] == pytest.approx([0.0, 0.4], rel=1e-4)
    assert p.w[damper + np.array([t.SLOWEST, t.FASTEST])] == pytest.approx([2.0, 2.0], rel=1e-4)
    assert (p.w[spring + t.LEFT] - before, p.w[damper + t.LEFT_RATE] - before) == (3.0, 1.0)


def test_works_on_both_ends_are_the_changes_of_the_kinetic_energies():
    """Two masses on a spring, far from each other in mass: what it does on one is not what it does on the other."""
    bodies = {"a": ph.PointMass(2.0).discretise(), "b": ph.PointMass(0.5).discretise()}
    system = ph.connect(bodies, [ph.Spring("a.P", "b.P", stiffness=50.0, length=1.0)])
    state = ph.place(system, {"b.r_P": (1.5, 0.2, 0.1)})
    run = runner(system, ph.set_moving(system, state, {"a.v_P": (0.3, 0.1, 0.0), "b.v_P": (-1.0, 2.0, 0.5)}))

    def kinetic():
        return np.array([0.5 * bodies[n].inertia.m * run.state()[f"{n}.v_P"] @ run.state()[f"{n}.v_P"] for n in "ab"])

    before = kinetic()
    stepped(run, 5, 0.02)
    at = run.packed.model.entries[0, t.J_WORK]
    assert np.abs(kinetic() - before).min() > 0.01
    np.testing.assert_allclose(run.packed.w[at : at + 2], kinetic() - before, rtol=1e-11)


def test_a_snapshot_has_the_state_as_it_is_and_the_potentials_of_springs():
    bushing = ph.Bushing("a.P", "b.P", stiffness=(50.0, 60.0, 70.0, 8.0, 9.0, 10.0), name="pad")
    body = ph.RigidBody(2.0, np.eye(3)).discretise()
    hook = ph.Spherical("ground", "a.P", name="hook")
    line = ph.Spring("ground", "b.P", at=(0.0, 1.0, 0.0), stiffness=30.0, length=0.25, name="line")
    system = ph.connect({"a": body, "b": body}, [hook, bushing, line], gravity=(0.0, -9.81, 0.0))
    state = ph.place(system, {"b.r_P": (0.1, 0.2, -0.3)})
    p = runner(system, state).packed
    out, potentials = np.full(p.saved_count, np.nan), np.full(len(p.entries), np.nan)
    step.snapshot(p.model, p.w, p.gravity, p.first, out, potentials)
    np.testing.assert_array_equal(out, p.w[p.first : p.first + p.saved_count])
    stored = dict(zip([entry.name for entry in p.entries], potentials, strict=True))
    length = np.sqrt(0.01 + 0.64 + 0.09)
    assert stored["hook"] == 0.0
    assert stored["line"] == pytest.approx(15.0 * (length - 0.25) ** 2, rel=1e-13)
    assert stored["pad"] == pytest.approx(25.0 * 0.01 + 30.0 * 0.04 + 35.0 * 0.09, rel=1e-13)
    energies = [p.w[b[t.W_ENERGY] : b[t.W_ENERGY] + 3] for b in p.model.bodies]
    assert np.sum(energies) == pytest.approx(2.0 * 9.81 * 0.2, rel=1e-12)  # of gravity; nothing moves or bends


# --- factors of two sizes of a step -----------------------------------------------------------------------------------


def test_factors_of_two_sizes_change_places_and_change_back():
    system, state, u = busy("xy")
    p = runner(system, state, u).packed
    rng = np.random.default_rng(2)
    before = p.w[:] = rng.normal(size=len(p.w))
    before = before.copy()
    count = int(p.model.factors[:, 1].sum())
    bank = kept = rng.normal(size=count)
    kept = kept.copy()
    places = np.concatenate([np.arange(start, start + n) for start, n in p.model.factors])
    assert len(set(places)) == count and len(p.model.factors) > 1
    p.iw[[t.I_SET, t.I_FACTORED, t.I_OTHER]] = 0, 1, 0
    swap_factors(p.model, p.w, p.iw, bank)
    np.testing.assert_array_equal(p.w[places], kept)
    np.testing.assert_array_equal(bank, before[places])
    np.testing.assert_array_equal(np.delete(p.w, places), np.delete(before, places))
    assert p.iw[[t.I_SET, t.I_FACTORED, t.I_OTHER]].tolist() == [1, 0, 1]
    swap_factors(p.model, p.w, p.iw, bank)
    np.testing.assert_array_equal(p.w, before)
    np.testing.assert_array_equal(bank, kept)
    assert p.iw[[t.I_SET, t.I_FACTORED, t.I_OTHER]].tolist() == [0, 1, 0]


def test_a_new_size_of_the_step_has_no_factors_yet():
    system, state, u = busy("xy")
    p = runner(system, state, u).packed
    p.iw[t.I_FACTORED] = 1
    step.set_step(p.model, p.w, p.iw, np.array([0.01]), np.zeros(0))
    assert p.iw[t.I_FACTORED] == 0
    first = p.w.copy()
    step.set_step(p.model, p.w, p.iw, np.array([0.02]), np.zeros(0))
    step.set_step(p.model, p.w, p.iw, np.array([0.01]), np.zeros(0))
    np.testing.assert_array_equal(p.w, first)
