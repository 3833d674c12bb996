"""The constant mass matrix of the paper's §4.3, against its matrices (12) at u_f = 0; what it does to the energy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phloat as ph
from phloat.bodies.inertia import kinetic_gradient, whirl
from phloat.motion.continuous.flow import Flow
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.run.run import Run
from phloat.motion.run.task import Task

SOFT = ph.Material(E=1e5, rho=2714.0, nu=0.33)  # elastic forces no larger than those of inertia, which they would hide
GRAVITY = np.array([1.0, 2.0, -9.81])


def floating(plane: str | None, frame: str, theory: str) -> tuple[ph.System, ph.State]:
    """A beam in flight, bent and moving."""
    section = ph.Rectangle(0.02, 0.01)
    beam = ph.Beam(0.5, section, SOFT, frame=frame, theory=theory, stiffening=False).discretise(2)
    gravity = GRAVITY * (1.0, 1.0, plane is None)
    system = ph.connect({"rod": beam}, [ph.Force("rod.C", along=(0, 1, 0), name="push")], plane=plane, gravity=gravity)
    random = np.random.default_rng(1)
    n = system.bodies["rod"].coordinates
    state = ph.place(system, {"rod.eta": 0.02 * random.normal(size=n)})
    if plane is None:
        state = ph.place(system, {"rod.eta": state["rod.eta"], "rod.A_IB": Rotation.random(random_state=1).as_matrix()})
    moving = {f"rod.{key}": random.normal(size=np.shape(state[f"rod.{key}"])) for key in ("v_P", "omega", "eta_dot")}
    return system, ph.set_moving(system, state, moving)


def paper_rates(system: ph.System, state: ph.State, *, by_hand: bool) -> dict[str, np.ndarray]:
    """Rates of the velocities by (12) with E and J at u_f = 0; z_u = p_f × ω by hand, or as ∂H/∂u_f without a kinetic part."""
    body, straight = system.bodies["rod"], state.with_values({"rod.eta": 0.0 * state["rod.eta"]})
    straight = straight.with_values({"rod.sigma": state["rod.sigma"]})
    at, pose, I = ph.terms(system, straight), state.pose("rod"), body.inertia
    z = at.z.copy()
    if not by_hand:
        z[at.layout["rod.eta"]] -= kinetic_gradient(I.S, I.X, whirl(I.W, pose.rates), pose.v_P, pose.omega)
    rhs = at.J @ z + ph.terms(system, state).B[:, at.ports["push"]] @ [
        3.0
    ]  # loads act on deformed bodies, and so does gravity
    lever = np.zeros(len(z))
    moment = np.cross(I.S @ pose.eta, pose.A.T @ system.gravity)
    lever[at.layout["rod.omega"]] = moment if len(np.atleast_1d(state["rod.omega"])) == 3 else moment[2]
    rates = np.linalg.solve(at.E.toarray(), rhs + lever)
    return {name: rates[at.layout[f"rod.{name}"]] for name in ("v_P", "omega", "eta_dot")}


def phloat_rates(system: ph.System, state: ph.State, mass: str) -> dict[str, np.ndarray]:
    """The same by phloat: v_P from the acceleration of the mass centre."""
    task = Task(system, state, 0.0, 1.0, None, Inputs(system, {"push": 3.0}))
    flow, pose, I = Flow(Run(task), mass), state.pose("rod"), system.bodies["rod"].inertia
    y, yd = flow.consistent(0.0, flow.start())
    misfit = flow.residual(flow.inputs(0.0), y, yd, np.empty(flow.size))[
        flow.v
    ]  # M is the derivative by ẏ of the residual
    assert np.abs(misfit).max() < 1e-12 * np.abs(yd).max()
    v, n = yd[flow.v], len(pose.eta)
    V_dot, spin, rates = np.zeros(3), np.zeros(3), v[len(v) - n :]
    if system.plane:
        V_dot[:2], spin[2] = v[:2], v[2]
    else:
        V_dot, spin = v[:3], v[3:6]
    c, rate, bend = (I.s0 + I.S @ pose.eta) / I.m, I.S @ pose.rates / I.m, I.S @ rates / I.m
    V = pose.v_P + np.cross(pose.omega, c) + rate
    v_P = pose.A.T @ V_dot - np.cross(pose.omega, V) - np.cross(spin, c) - np.cross(pose.omega, rate) - bend
    axes = slice(0, 2) if system.plane else slice(0, 3)
    return {"v_P": v_P[axes], "omega": spin[2:] if system.plane else spin, "eta_dot": rates}


@pytest.mark.parametrize("plane", ["xy", None])
@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
@pytest.mark.parametrize(("mass", "by_hand"), [("constant", True), ("printed", False)])
def test_accelerations_are_those_of_the_paper_s_matrices_at_rest(plane, frame, mass, by_hand):
    theory = "euler-bernoulli" if frame == "cantilever" else "rayleigh"
    system, state = floating(plane, frame, theory)
    found, wanted = phloat_rates(system, state, mass), paper_rates(system, state, by_hand=by_hand)
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, atol=1e-9 * np.abs(value).max(), err_msg=name)


@pytest.mark.parametrize("plane", ["xy", None])
@pytest.mark.parametrize("mass", ["constant", "printed"])
def test_the_ledger_has_the_energy_that_a_constant_mass_matrix_gains(plane, mass):
    system, state = floating(plane, "cantilever", "euler-bernoulli")
    result = ph.simulate(system, state, 0.05, scheme=ph.RadauIIA(1e-9, 1e-12, mass), u={"push": 3.0})
    ledger, end, I = ph.energy_ledger(result), result.state().pose("rod"), system.bodies["rod"].inertia
    assert ledger.relative < 2e-7
    w = np.concatenate([end.v_P, end.omega, end.rates])
    kinetic = 0.5 * w @ I.at_rest() @ w
    assert ledger.parts["rod"]["kinetic"][-1] == pytest.approx(kinetic, rel=1e-12)
    if mass == "printed":
        assert list(ledger.supplied) == ["push"]
    else:
        line = ledger.supplied["rod.constant mass"]
        assert np.abs(line).max() > 1e4 * np.abs(ledger.residual).max()
        assert "rod.constant mass" in str(ledger)


def test_the_option_is_kept_with_a_saved_run_and_a_rigid_body_has_none(tmp_path):
    system, state = floating("xy", "pinned", "euler-bernoulli")
    scheme = ph.RadauIIA(mass="constant")
    result = ph.simulate(system, state, 0.01, scheme=scheme, save=tmp_path / "run")
    saved = ph.io.load_result(tmp_path / "run")
    assert saved.info["scheme"]["mass"] == result.info["scheme"]["mass"] == "constant"
    lines = [ph.energy_ledger(run).supplied["rod.constant mass"] for run in (result, saved)]
    np.testing.assert_array_equal(*lines)
    brick = ph.connect({"brick": ph.RigidBody(1.0, np.diag([1.0, 2.0, 3.0])).discretise()})
    spun = ph.set_moving(brick, ph.place(brick), {"brick.omega": (1.0, 2.0, 3.0)})
    runs = [ph.simulate(brick, spun, 0.5, scheme=ph.RadauIIA(mass=mass)) for mass in ("full", "constant")]
    np.testing.assert_array_equal(runs[0].e, runs[1].e)
    assert not ph.energy_ledger(runs[1]).supplied


def test_an_unknown_mass_matrix_is_refused():
    for scheme in (ph.RadauIIA, ph.IDA):
        with pytest.raises(ph.errors.InputError, match="frozen"):
            scheme(mass="frozen")


def test_an_event_changes_the_energy_with_the_constant_mass_matrix():
    """The rod is stopped in flight: what it loses is ½wᵀM(0)w, and the ledger stays closed."""
    system, state = floating(None, "cantilever", "euler-bernoulli")
    stop = ph.Event(
        lambda t, y: t - 0.01, do=lambda t, s: ph.set_moving(system, s, {"rod.omega": (0, 0, 0)}), name="stop"
    )
    result = ph.simulate(system, state, 0.02, scheme=ph.RadauIIA(1e-9, 1e-12, "constant"), events=[stop])
    ledger = ph.energy_ledger(result)
    assert ledger.relative < 2e-7 and abs(ledger.supplied["event stop"][-1]) > 1e-2 * ledger.energy[0]
