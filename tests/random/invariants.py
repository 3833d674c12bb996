"""What must hold for every mechanism, as residuals that should be round-off."""

from dataclasses import replace

import numpy as np
from building import Mechanism, quiet
from scipy.spatial.transform import Rotation
from worlds import HERE, World

import phloat as ph
from phloat.algebra.cross import rotation
from phloat.motion.initial.velocities import redundant_rows
from phloat.motion.inputs.inputs import as_inputs
from phloat.motion.run.task import Task
from phloat.motion.simulate import run_task

STEPS, DT = 20, 1e-3
NOTHING = 1e-9  # m/s, rad/s or N
MANY = 70  # numbers of a state; the effort is looked at by differences, one number after the other
VELOCITIES = ("v_P", "omega", "eta_dot")
UNITS = {"r_P": {"L": 1}, "v_P": {"L": 1, "T": -1}, "omega": {"T": -1}}


def moved(mechanism: Mechanism, state: ph.State, world: World = HERE, **options) -> ph.Result:
    """A short run in a world."""
    dt, u = world.number(DT, T=1), mechanism.inputs(world)
    with quiet():
        return ph.simulate(mechanism.system(world), state, STEPS * dt, **{"dt": dt, "u": u, **options})


# --- at a state ------------------------------------------------------------------------------------------------------


def at_a_state(mechanism: Mechanism, state: ph.State, seed: int) -> dict[str, float]:
    """The structure of the paper's matrices, the effort as gradient of the energy, the balance of power."""
    system, rng = mechanism.system(), np.random.default_rng(seed)
    driven = {name for name, c in system.joints.items() if c.driven}
    u = {name: rng.normal(size=system.ports.shape(name)) for name in system.ports if name not in driven}
    u |= {name: np.atleast_1d(push(0.0)) for name, push in mechanism.inputs().items() if name in driven}
    gap = max((float(np.abs(g).max(initial=0.0)) for g in ph.gaps(system, state).values()), default=0.0)
    terms = ph.terms(system, state)
    out = {"structure": max(ph.structure_defects(terms).values()), "closure of the start": gap}
    rates = [np.abs(state[n]).max(initial=0.0) for n in state.layout if n.rpartition(".")[2] in VELOCITIES]
    if max(rates) > NOTHING:  # else it is locked, and nothing has power
        out["power"] = abs(ph.power_balance(system, state, u).relative)
        if system.layout.size <= MANY:
            out["effort"] = ph.effort_defect(system, state)
    return out


# --- over a run ------------------------------------------------------------------------------------------------------


def over_a_run(mechanism: Mechanism, result: ph.Result) -> dict[str, float]:
    """Energy, joints, rotations; momenta where nothing pushes from outside."""
    system = mechanism.system()
    gap = [np.abs(g).max(initial=0.0) for k in range(len(result)) for g in ph.gaps(system, result.state(k)).values()]
    A = [result[n] for n in system.layout if n.endswith(".A_IB")]
    turned = [np.abs(np.einsum("tki,tkj->tij", a, a) - np.eye(3)).max() for a in A]
    ledger = ph.energy_ledger(result)
    missing = float(np.abs(ledger.residual).max())
    out = {
        "energy": ledger.relative if missing > NOTHING**2 else 0.0,  # J: a locked one has none, and misses 1e-34 of it
        "closure": float(max(gap, default=0.0)),
        "orthonormality": float(max(turned, default=0.0)),
    }
    if mechanism.plan.free:
        P, L = result.momentum, result.angular_momentum
        if mechanism.plan.plane:  # what holds it in the plane may turn it about x and y
            P, L = P[:, :2], L[:, 2:]
        for name, value in (("momentum", P), ("angular momentum", L)):
            out[name] = float(np.abs(value - value[0]).max() / max(np.abs(value).max(), 1.0))
    return out


# --- in other worlds -------------------------------------------------------------------------------------------------


def state_in(mechanism: Mechanism, state: ph.State, world: World) -> ph.State:
    """The same state, written down in another world."""
    system = mechanism.system(world)
    values = {}
    for name in system.layout:
        body, _, quantity = name.rpartition(".")
        value = state[name]
        if quantity == "r_P":
            value = world.place(np.append(value, np.zeros(3 - len(value))))[: len(value)]
        elif quantity == "A_IB":
            value = world.Q @ value
        elif quantity == "theta":
            value = value + np.arctan2(world.Q[1, 0], world.Q[0, 0])
        elif quantity in ("eta", "eta_dot"):
            value = value * scales(state.bodies[body], system.bodies[body], world)
            value = world.number(value, T=-1) if quantity == "eta_dot" else value
        elif quantity == "sigma":
            continue  # follows from η
        else:
            value = world.number(value, **UNITS[quantity])
            if not system.bodies[body].rotates:  # the axes of a point mass are the inertial ones
                value = (world.Q @ np.append(value, np.zeros(3 - len(value))))[: len(value)]
        values[name] = value
    return ph.State(system.bodies, system.layout, np.zeros(system.layout.size)).with_values(values)


def scales(body: ph.Body, other: ph.Body, world: World) -> np.ndarray:
    """η of a body in the units of another world for each η here: both store the same energy, in the same direction."""
    if world.length == world.mass == world.time == 1.0:
        return np.ones(body.coordinates)
    unit = world.number(1.0, M=1, L=2, T=-2)
    size = np.sqrt(unit * body.elastic.K.diagonal() / other.elastic.K.diagonal())
    field = [part.shape.displacement(part.shape.places()) for part in (body, other)]
    turns = [part.shape.rotation(part.shape.places()) for part in (body, other)]
    along = np.asarray(field[0].multiply(field[1]).sum(axis=0)).ravel()
    along += np.asarray(turns[0].multiply(turns[1]).sum(axis=0)).ravel()
    return size * np.where(along < 0.0, -1.0, 1.0)


def apart(mechanism: Mechanism, here: ph.Result, there: ph.Result, world: World) -> float:
    """The largest difference of two motions, brought back to SI units and axes, beside the largest such number."""
    worst, sizes, gaps = 0.0, {}, {}
    for name in here.system.layout:
        body, _, quantity = name.rpartition(".")
        want, have = here[name], there[name]
        if quantity == "r_P":
            have = world.number(have, L=-1)
            have = (np.pad(have, ((0, 0), (0, 3 - have.shape[1]))) - world.d) @ world.Q
            have = have[:, : want.shape[1]]
        elif quantity == "A_IB":
            have = np.einsum("ji,tjk->tik", world.Q, have)
        elif quantity == "theta":
            have = have - np.arctan2(world.Q[1, 0], world.Q[0, 0])
        elif quantity in ("eta", "eta_dot"):
            have = have / scales(here.system.bodies[body], there.system.bodies[body], world)
            have = world.number(have, T=1) if quantity == "eta_dot" else have
        elif quantity == "sigma":
            continue
        else:
            have = world.number(have, **{unit: -power for unit, power in UNITS[quantity].items()})
            if not here.system.bodies[body].rotates:
                have = (np.pad(have, ((0, 0), (0, 3 - have.shape[1]))) @ world.Q)[:, : have.shape[1]]
        sizes[quantity] = max(sizes.get(quantity, 0.0), float(np.abs(want).max(initial=0.0)))
        gaps[quantity] = max(gaps.get(quantity, 0.0), float(np.abs(have - want).max(initial=0.0)))
    floor = {"eta": 1e-3, "eta_dot": 1e-1}
    for quantity, gap in gaps.items():
        worst = max(worst, gap / max(sizes[quantity], floor.get(quantity, 1.0)))
    return worst


def in_other_worlds(mechanism: Mechanism, state: ph.State, here: ph.Result, seed: int) -> dict[str, float]:
    """Turned and shifted, in mm, t and s (or ms), in another order, with the ends of joints swapped: the same motion."""
    rng, plane = np.random.default_rng(seed), mechanism.plan.where != "space"
    Q = rotation(np.array([0.0, 0.0, rng.uniform(-3, 3)])) if plane else Rotation.random(random_state=seed).as_matrix()
    worlds = {
        "frame": World(Q=Q, d=rng.normal(size=3) * ([1, 1, 0] if mechanism.plan.plane else 1)),
        "units": World(length=1e3, mass=1e-3, time=1.0 if seed % 2 else 1e3),
        "order": World(shuffled=seed),
        "ends": World(swapped=True),
    }
    out = {}
    for name, world in worlds.items():
        there = moved(mechanism, state_in(mechanism, state, world), world)
        out[name] = apart(mechanism, here, there, world)
    return out


# --- back in time ----------------------------------------------------------------------------------------------------


def reversed_state(state: ph.State) -> ph.State:
    return state.with_values({n: -state[n] for n in state.layout if n.rpartition(".")[2] in VELOCITIES})


def back_in_time(mechanism: Mechanism, state: ph.State, here: ph.Result) -> dict[str, float]:
    """From the end with all velocities negated, the midpoint scheme comes back to the start; nothing may take energy.

    Nodes of a run miss the joint rates by O(h²), so the way back begins without the check that `simulate` makes.
    """
    if mechanism.plan.loses:
        return {}
    system, end = mechanism.system(), reversed_state(here.state())
    t_end = float(here.t[-1])
    inputs = as_inputs(system, mechanism.inputs(t_end=t_end))
    with quiet():
        task = Task(system, end, 0.0, t_end, DT, inputs, dropped=redundant_rows(system, end))
        back = run_task(task, ph.Midpoint())
    e = np.array([reversed_state(back.state(k)).e for k in range(len(back))])[::-1]
    return {"time reversal": apart(mechanism, here, replace(back, e=e), HERE)}


def residuals(mechanism: Mechanism, state: ph.State) -> dict[str, float]:
    """All of them."""
    seed = mechanism.plan.seed
    result = moved(mechanism, state)
    return (
        at_a_state(mechanism, state, seed)
        | over_a_run(mechanism, result)
        | in_other_worlds(mechanism, state, result, seed)
        | back_in_time(mechanism, state, result)
    )
