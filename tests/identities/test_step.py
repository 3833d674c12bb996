"""The compiled step is the step of the theory: against an oracle from the energies, and its tangents against differences."""

import itertools

import numpy as np
import pytest
from bodies_zoo import Cloud, random_state, with_joints_kept
from kernel_zoo import from_python
from motion_zoo import CASES, SLAVED, pair, random_motion
from oracle import Oracle

import phloat as ph
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.kernel import (
    body as of_body,
    newton,
    port_tangent as of_port,
    step,
    tables as t,
    tangent as of_tangent,
)
from phloat.motion.run.assembly import assemble_run

pytestmark = pytest.mark.filterwarnings(  # springs and bushings go beyond what they are meant for on purpose
    "ignore::phloat.errors.CurveRangeWarning", "ignore::phloat.errors.LargeTurnWarning"
)

start_step, predict, residuals = from_python(of_body.start_step, step.predict, newton.residuals)
tangent, linear_rows = from_python(of_tangent.tangent, newton.linear_rows)
port_tangent, geometric_tangent = from_python(of_port.port_tangent, of_port.geometric_tangent)
H = 5e-3
AGREES = 1e-9


def compared(system: ph.System, state: ph.State, steps: int, u=None, h: float = H) -> dict[str, float]:
    """The largest difference from the oracle over the steps, by quantity, beside the largest value of that quantity."""
    u = {} if u is None else u
    result = ph.simulate(system, state, (steps + 1) * h, dt=h, u=u)
    assert not result.info["halved"]
    oracle = Oracle(system, state, {name: np.asarray(value, float) for name, value in u.items()})
    e, lam, near = [oracle.numbers()], [], result.lam[0]
    for k in range(steps + 1):
        lam.append(oracle.step(h, result.state(k + 1), near))
        e.append(oracle.numbers())
        near = 2 * result.lam[k + 1] - near  # reactions at a node are means of the steps before and after it
    reactions = np.array([lam[0], *(0.5 * (a + b) for a, b in itertools.pairwise(lam))])
    worst: dict[str, float] = {}
    size: dict[str, float] = {}
    there = {
        name: (result.e[:, where], np.array(e)[:, where]) for name in system.layout for where in [system.layout[name]]
    }
    both = [(name.rpartition(".")[2], *values) for name, values in there.items()]
    both.append(("lam", result.lam[: steps + 1], reactions))
    for quantity, mine, other in both:
        worst[quantity] = max(worst.get(quantity, 0.0), float(np.abs(mine - other).max(initial=0.0)))
        size[quantity] = max(size.get(quantity, 0.0), float(np.abs(other).max(initial=0.0)))
    return {quantity: worst[quantity] / max(size[quantity], 1e-300) for quantity in worst}


@pytest.mark.parametrize(("joint", "kind", "plane"), [*CASES, *SLAVED])
def test_the_step_is_that_of_the_oracle(joint, kind, plane):
    system = pair(joint, kind, plane)
    found = compared(system, random_motion(system, 3, stressed=0.5, stretched=0.2), 10)
    assert max(found.values()) < AGREES, found


SOFTLY = [
    ph.Spring("ground", "b.C", at=(0.3, 1.4, 0.0), stiffness=70.0, length=0.6),
    ph.Spring("a.P", "b.C", stiffness=50.0, length=0.5, name="strut"),
    ph.Damper("ground", "b.C", at=(-0.5, 0.2, 0.0), damping=2.0),
    ph.Bushing("a.C", "b.C", stiffness=(50.0, 60.0, 70.0, 8.0, 9.0, 10.0), damping=(1.0, 2.0, 3.0, 0.1, 0.2, 0.3)),
    ph.Force("b.C", along=(3, 4, 0), name="push"),
    ph.Force("a.C", along=(3, 4, 0), axes="body", name="thrust"),
    ph.Torque("a.C", about=(0, 0, 2), name="twist"),
    ph.Torque("b.P", about=(0, 0, 2), axes="body", name="turn"),
]
PUSHED = {"push": 6.0, "thrust": -5.0, "twist": 2.0, "turn": -3.0}


EFFORTS = [case for case in CASES if case[0] in ("revolute", "spherical", "prismatic", "cylindrical")]


@pytest.mark.parametrize(("joint", "kind", "plane"), EFFORTS)
def test_forces_springs_and_efforts_of_the_step_are_those_of_the_oracle(joint, kind, plane):
    more = {"revolute": [ph.JointSpring("j", stiffness=9.0, rest=0.4), ph.JointDamper("j", damping=0.5)]}
    system = pair(joint, kind, plane, *SOFTLY, *more.get(joint, []))
    wrench = np.arange(1.0, 4.0) if plane else np.arange(1.0, 7.0)
    free = np.arange(1.0, 1.0 + system.ports.shape("j")[0])
    found = compared(system, random_motion(system, 4), 5, {"j": free, "b.C": wrench, **PUSHED})
    assert max(found.values()) < AGREES, found


@pytest.mark.parametrize("joint", ["revolute", "prismatic"])
@pytest.mark.parametrize("kind", ["rigid", "beam"])
@pytest.mark.parametrize("plane", [None, "xy"], ids=["space", "plane"])
def test_driven_joints_of_the_step_are_those_of_the_oracle(joint, kind, plane):
    system = ph.drive(pair(joint, kind, plane), "j")
    u = {"j": np.array([0.8])}
    found = compared(system, random_motion(system, 5, u), 5, u)
    assert max(found.values()) < AGREES, found


@pytest.mark.parametrize("joint", [ph.Revolute, ph.Weld, ph.Cylindrical])
def test_any_floating_body_steps_as_the_oracle(joint):
    """Clouds of masses with dense random inertia, strain and damping, bent by some tenths."""
    clouds = {"a": Cloud(3).discretise(), "b": Cloud(4, coordinates=3).discretise()}
    system = ph.connect(clouds, [ph.Spherical("ground", "a.P"), joint("a.C", "b.P")], gravity=(0.7, -9.81, 1.3))
    rng = np.random.default_rng(0)
    state = ph.place(system, {f"{n}.eta": 0.1 * rng.normal(size=system.layout.shape(f"{n}.eta")) for n in "ab"})
    state = with_joints_kept(system, state.with_values(moving(system, 7)))
    found = compared(system, state, 10, h=0.01)
    assert max(found.values()) < AGREES, found


def moving(system: ph.System, seed: int, scale: float = 1.0) -> dict[str, np.ndarray]:
    """Random velocities by name; the joints do not know of them yet."""
    state = random_state(system, seed)
    names = [n for n in system.layout if n.rpartition(".")[2] in ("v_P", "omega", "eta_dot")]
    return {n: scale * state[n] * (0.1 if n.endswith("eta_dot") else 1.0) for n in names}


# --- tangents --------------------------------------------------------------------------------------------------------


class Iterate:
    """A step of the kernel half-way: unknowns and multipliers are anything, residuals and tangents are looked at."""

    def __init__(self, system: ph.System, state: ph.State, u=None, h: float = 0.01) -> None:
        self.run, self.h = assemble_run(system, state, Inputs(system, u).signals, 0.0), h
        p = self.run.packed
        self.m, self.w, self.iw, self.gravity = p.model, p.w, p.iw, p.gravity
        step.set_step(self.m, self.w, self.iw, np.array([h]), np.zeros(0))
        for i in range(len(self.m.bodies)):
            start_step(self.m.bodies, i, self.m.data, self.m.indices, self.w, h)
        predict(self.m, self.w, self.iw, np.array([1.0, 1.0, -1.0]))
        rng = np.random.default_rng(1)
        at = self.m.offsets[t.LAM]
        count = int(self.m.entries[:, t.J_ROWS].sum())
        self.w[at : at + count] = 20.0 * rng.normal(size=count)
        for b in self.m.bodies:
            self.w[b[t.W_X] : b[t.W_X] + b[t.SIZE]] += 0.1 * rng.normal(size=b[t.SIZE])

    def evaluated(self) -> None:
        residuals(self.m, self.w, self.iw, self.gravity, self.h, True)

    def residual(self, i: int) -> np.ndarray:
        b = self.m.bodies[i]
        return self.w[b[t.W_F] : b[t.W_F] + b[t.SIZE]].copy()

    def rows(self) -> np.ndarray:
        at = self.m.offsets[t.RIGHT]
        return self.w[at : at + self.m.offsets[t.MULTIPLIERS]].copy()

    def tangent(self, i: int) -> np.ndarray:
        """D of a body: its own equations, and what its forces do as it moves."""
        m, w, h = self.m, self.w, self.h
        self.evaluated()
        for k in range(len(m.bodies)):
            tangent(m.bodies, k, m.data, m.indices, w, h)
        for e in range(len(m.ends)):
            if m.ends[e, t.E_BODY] >= 0:
                port_tangent(m.bodies, m.ends, e, m.data, w, h, t.SCRATCH)
                if m.entries[m.ends[e, t.E_ENTRY], t.J_EXTRA]:
                    geometric_tangent(m, w, e, h)
        b = m.bodies[i]
        D = w[b[t.W_D] : b[t.W_D] + b[t.WIDE] ** 2].reshape(b[t.WIDE], b[t.WIDE])
        return D[: b[t.SIZE], : b[t.SIZE]].copy()

    def derivative_of_rows(self, i: int) -> np.ndarray:
        """α Ĝ of the rows by the unknowns of a body."""
        m, w = self.m, self.w
        self.evaluated()
        for j in range(len(m.entries)):
            if m.entries[j, t.J_UNKNOWN]:
                linear_rows(m, w, j, self.h)
        b, size, wide = m.bodies[i], int(m.bodies[i, t.SIZE]), int(m.bodies[i, t.WIDE])
        out = np.zeros((m.offsets[t.MULTIPLIERS], size))
        for g in m.incidences[b[t.FIRST_INC] : b[t.FIRST_INC] + b[t.N_INC]]:
            entry = m.entries[g[t.G_ENTRY]]
            for r in range(g[t.G_ROWS]):
                alpha = w[m.rows[entry[t.J_ROW] + r, t.R_COEF] + t.ALPHA]
                out[entry[t.J_LAM] + r] += alpha * w[g[t.G_HAT] + r * wide : g[t.G_HAT] + r * wide + size]
        return out

    def transposed_rows(self, i: int) -> np.ndarray:
        """G of the rows: what λ does to a body, transposed."""
        m, w = self.m, self.w
        b, size, wide = m.bodies[i], int(m.bodies[i, t.SIZE]), int(m.bodies[i, t.WIDE])
        out = np.zeros((m.offsets[t.MULTIPLIERS], size))
        for g in m.incidences[b[t.FIRST_INC] : b[t.FIRST_INC] + b[t.N_INC]]:
            at = m.entries[g[t.G_ENTRY], t.J_LAM]
            for r in range(g[t.G_ROWS]):
                out[at + r] += w[g[t.G_MEAN] + r * wide : g[t.G_MEAN] + r * wide + size]
        return out

    def differences(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """∂F_i and ∂c by the unknowns of a body, by differences of fourth order."""
        b, size = self.m.bodies[i], int(self.m.bodies[i, t.SIZE])
        of_F, of_c = np.zeros((size, size)), np.zeros((self.m.offsets[t.MULTIPLIERS], size))
        for k in range(size):
            at, before = b[t.W_X] + k, self.w[b[t.W_X] + k]
            eps = 1e-3 * max(1.0, abs(before))
            for steps, weight in {2: -1 / 12, 1: 2 / 3, -1: -2 / 3, -2: 1 / 12}.items():
                self.w[at] = before + steps * eps
                self.evaluated()
                of_F[:, k] += weight / eps * self.residual(i)
                of_c[:, k] += weight / eps * self.rows()
            self.w[at] = before
        return of_F, of_c


def iterate(joint: str, kind: str, plane: str | None) -> Iterate:
    """Two bodies on a joint, with springs and forces everywhere, at unknowns and multipliers that are anything."""
    system = pair(joint, kind, plane, *SOFTLY, hung=True)
    state = ph.place(system, {f"{n}.eta": 0.01 * random_state(system, 1)[f"{n}.eta"] for n in "ab" if kind != "rigid"})
    state = with_joints_kept(system, state.with_values(moving(system, 2)))
    return Iterate(system, state, {"push": 6.0, "twist": 2.0})


@pytest.mark.parametrize(("joint", "kind", "plane"), [*CASES, *SLAVED])
def test_tangents_of_bodies_and_rows_are_derivatives(joint, kind, plane):
    at = iterate(joint, kind, plane)
    for i in range(2):
        D = at.tangent(i)
        of_F, of_c = at.differences(i)
        unit = 1.0 / np.sqrt(np.abs(np.diag(D)))
        assert largest((D - of_F) * np.outer(unit, unit)) < 1e-8
        assert largest((at.derivative_of_rows(i) - of_c) * unit) < 1e-9 * largest(of_c * unit)


def largest(a: np.ndarray) -> float:
    return float(np.abs(a).max())


@pytest.mark.parametrize(("joint", "kind", "plane"), [*CASES, *SLAVED])
def test_forces_are_transposes_of_the_discrete_rows(joint, kind, plane):
    """F = F₀ − Gᵀλ, and h G x is the change of the gap: the same G."""
    at = iterate(joint, kind, plane)
    w, lam = at.w, slice(at.m.offsets[t.LAM], at.m.offsets[t.LAM] + at.m.offsets[t.MULTIPLIERS])
    at.evaluated()
    for i in range(2):
        at.derivative_of_rows(i)
        G, given = at.transposed_rows(i), w[lam].copy()
        with_forces = at.residual(i)
        w[lam] = 0.0
        at.evaluated()
        without = at.residual(i)
        w[lam] = given
        at.evaluated()
        np.testing.assert_allclose(with_forces, without - G.T @ given, atol=1e-11 * np.abs(without).max() + 1e-9)
    x = [w[b[t.W_X] : b[t.W_X] + b[t.SIZE]] for b in at.m.bodies]
    moved = sum(at.transposed_rows(i) @ x[i] for i in range(2))
    for entry in at.m.entries[at.m.entries[:, t.J_UNKNOWN] == 1]:
        for k in range(entry[t.J_ROWS]):
            o = at.m.rows[entry[t.J_ROW] + k, t.R_COEF]
            change = (w[o + t.GAP1] - w[o + t.GAP0]) / at.h
            assert moved[entry[t.J_LAM] + k] == pytest.approx(change, abs=1e-11)


@pytest.mark.parametrize(("kind", "plane"), [("plate", None), ("solid", None), ("solid", "xy"), ("sheet", "xy")])
def test_the_tangent_of_a_pressure_is_its_derivative(kind, plane):
    """A surface of a bent, turning body under a pressure so large that it is most of the tangent, in a large step."""
    rubber, options = ph.Material(E=2e9, rho=1500.0, nu=0.3), {"frame": "left", "ports": {"P": "left"}}
    recipe = {
        "plate": lambda: ph.Plate.rectangle(1.0, 0.1, thickness=0.02, material=rubber, **options).discretise((4, 1)),
        "sheet": lambda: ph.Sheet.rectangle(1.0, 0.1, thickness=0.05, material=rubber, **options).discretise((4, 1)),
        "solid": lambda: ph.Solid.box(1.0, 0.1, 0.05, material=rubber, **options).discretise((4, 1, 1)),
    }
    body = recipe[kind]().reduced(modes=2, stiffened=3)
    surface = "b" if kind == "plate" else "b.top"
    system = ph.connect({"b": body}, [ph.Pressure(surface, lambda x, y: 1 + x, name="p")], plane=plane)
    bent = 0.02 * np.random.default_rng(0).normal(size=system.bodies["b"].coordinates) / system.bodies["b"].reach
    turning = {name: value for name, value in moving(system, 7).items() if not name.endswith("eta_dot")}
    at = Iterate(system, ph.place(system, {"b.eta": bent}).with_values(turning), {"p": 1.0}, h=0.05)
    tangents = []
    for at.w[at.m.offsets[t.LAM]] in (0.0, 1e6):
        tangents.append(at.tangent(0))
    of_F, _ = at.differences(0)
    unit = 1.0 / np.sqrt(np.abs(np.diag(tangents[1])))
    assert largest((tangents[1] - tangents[0]) * np.outer(unit, unit)) > 1.0
    assert largest((tangents[1] - of_F) * np.outer(unit, unit)) < 1e-8
