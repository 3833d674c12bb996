"""Damping follows the whole strain: beams and plates that stiffen decay as their poles say, and as a rod that bends far."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import phloat as ph

steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
STRIP = ph.Rectangle(0.02, 0.005)
TIME = 4e-4
EI, RHO_A = 2.1e11 * 0.02 * 0.005**3 / 12, 7800.0 * 1e-4


def strip(**options) -> ph.Beam:
    """A steel strip 1 m × 20 × 5 mm."""
    return ph.Beam(1.0, STRIP, steel, **{"damping": ph.KelvinVoigt(TIME), **options})


def held(part, *, along=(0, 1, 0), plane="xy"):
    return ph.connect({"b": part}, [ph.Weld("ground", "b.P"), ph.Force("b.C", along=along, name="tip")], plane=plane)


def let_go(system, force: float, halves: int = 16, per_half: int = 40):
    """Let go from the equilibrium under a force at the tip: the run, and the decay of the energy over the last half periods."""
    pole = ph.modes(ph.linearise(system, ph.place(system)), 1).poles[0]
    dt = np.pi / abs(pole.imag) / per_half
    result = ph.simulate(
        system, ph.equilibrium(system, ph.place(system), u={"tip": force}), halves * per_half * dt, dt=dt
    )
    late = result.energy[halves // 2 * per_half :]
    return result, np.log(late[0] / late[-1]) / (dt * (len(late) - 1)), -2.0 * pole.real


def test_a_strip_let_go_from_two_newtons_decays_as_its_poles_say():
    """Steel 1 m × 20 × 5 mm, KelvinVoigt(4e-4), 2 N at the tip: the energy decays by 0.277 1/s (0.632 when u_x' was damped)."""
    _, decay, linear = let_go(held(strip().discretise(6)), 2.0)
    assert linear == pytest.approx(0.27736, rel=1e-4)
    assert decay == pytest.approx(linear, rel=2e-3)


@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
@pytest.mark.parametrize("damping", [ph.KelvinVoigt(TIME), ph.Rayleigh(stiffness=TIME), ph.ModalDamping(0.02, "P")])
def test_decay_goes_to_the_poles_as_the_motion_gets_small(frame, damping):
    """Tips at 1.5 mm, 15 mm and 61 mm of 1 m: within 0.3 % of the poles, and the limit is theirs."""
    system = held(strip(frame=frame, damping=damping).discretise(4))
    found = [let_go(system, force)[1:] for force in (0.2, 2.0, 8.0)]
    for decay, linear in found:
        assert decay == pytest.approx(linear, rel=5e-3)


def test_reduced_beams_decay_alike():
    """Bending modes with their axial companions: nothing of the companions' motion is damped but strain."""
    system = held(strip().discretise(8).reduced(modes=2))
    for force in (0.2, 4.0):
        _, decay, linear = let_go(system, force)
        assert decay == pytest.approx(linear, rel=3e-3)


@pytest.mark.parametrize("kind", ["plate", "solid"])
def test_plate_strips_and_solids_decay_as_their_poles_say(kind):
    """From 0.02 to 6 N at the end (46 mm of 1 m): the same decay, within 0.3 % of the poles."""
    options = {
        "material": ph.Material(E=2.1e11, rho=7800.0, nu=0.0),
        "frame": "left",
        "ports": {"P": "left", "C": "right"},
    }
    options["damping"] = ph.KelvinVoigt(TIME)
    if kind == "plate":
        body = ph.Plate.rectangle(1.0, 0.02, thickness=0.005, **options).discretise((6, 1))
    else:
        body = ph.Solid.box(1.0, 0.02, 0.005, **options).discretise((8, 1, 1))
    system = held(body.reduced(modes=1, stiffened=3), along=(0, 0, 1), plane=None)
    for force in (0.02, 6.0):
        result, decay, linear = let_go(system, force)
        assert decay == pytest.approx(linear, rel=3e-3)
        assert ph.energy_ledger(result).relative < 1e-11


# --- far motion ------------------------------------------------------------------------------------------------------


def chain(links: int, force: float, t: np.ndarray) -> np.ndarray:
    """Energy over time of an inextensible rod of the strip's bending stiffness, M = EI (κ + TIME κ̇), as rigid links.

    Exact geometry; absolute angles θ of the links, springs and dashpots between them. Errors fall with the square of the links.
    """
    l = 1.0 / links
    k = np.full(links, EI / l)
    k[0] *= 2.0  # half a link to the clamp
    arm = np.tril(np.full((links, links), l), -1) + np.eye(links) * l / 2
    G, J = RHO_A * l * arm.T @ arm, RHO_A * l**3 / 12 * np.eye(links)

    def bent(theta):
        return np.diff(theta, prepend=0.0)

    def moment(theta):
        s = k * bent(theta)
        return np.append(s[1:], 0.0) - s

    def rates(_, y):
        theta, omega = y[:links], y[links:]
        apart = theta[:, None] - theta
        right = moment(theta + TIME * omega) - (G * np.sin(apart)) @ omega**2
        return np.concatenate([omega, np.linalg.solve(G * np.cos(apart) + J, right)])

    start = fsolve(lambda theta: moment(theta) + force * l * np.cos(theta), np.linspace(0.0, 0.2, links))
    y = solve_ivp(rates, (0.0, t[-1]), [*start, *0 * start], t_eval=t, method="LSODA", rtol=1e-8, atol=1e-10).y.T
    theta, omega = y[:, :links], y[:, links:]
    M = G * np.cos(theta[:, :, None] - theta[:, None]) + J
    bending = np.diff(theta, prepend=0.0, axis=1)
    return 0.5 * np.einsum("ti,tij,tj->t", omega, M, omega) + 0.5 * bending**2 @ k


def test_far_motion_decays_as_an_exact_rod():
    """20 N: the tip starts at 0.149 of the length. Over four periods an exact rod loses energy at 0.279 1/s, its poles' 0.277."""
    dt = 0.2386 / 240  # of the period
    t = dt * np.array([0.0, 240, 1200])
    coarse, fine = (np.log(e[1] / e[2]) / (t[2] - t[1]) for e in (chain(n, 20.0, t) for n in (5, 10)))
    exact = (4.0 * fine - coarse) / 3.0
    for part in (strip(frame="pinned").discretise(4), strip().split(4).discretise(1)):
        system = held(part)
        result = ph.simulate(system, ph.equilibrium(system, ph.place(system), u={"tip": 20.0}), t[2], dt=dt)
        decay = np.log(result.energy[240] / result.energy[-1]) / (t[2] - t[1])
        assert decay == pytest.approx(exact, rel=4e-3)


# --- about a stiffened state -----------------------------------------------------------------------------------------


def test_linear_damping_about_a_bent_state_is_that_of_the_bent_state():
    """R of `linearise` is R_d(η₀), as in `terms`; about a bent state it is not R_d(0)."""
    system = held(strip().discretise(3))
    state = ph.equilibrium(system, ph.place(system), u={"tip": 5.0})
    elastic, eta = system.bodies["b"].elastic, state["b.eta"]
    linear = ph.linearise(system, state, u={"tip": 5.0})
    R = elastic.damping(eta)
    found = linear.R[linear.rows["b.eta_dot"], linear.rows["b.eta_dot"]].toarray()
    np.testing.assert_allclose(found, R, atol=1e-12 * np.abs(R).max())
    rows = system.layout["b.eta_dot"]
    np.testing.assert_allclose(ph.terms(system, state).R[rows, rows].toarray(), R, atol=1e-12 * np.abs(R).max())
    assert np.abs(R - elastic.R_d.toarray()).max() > 1e-3 * np.abs(R).max()


def test_small_motion_about_a_bent_state_decays_as_its_poles_say():
    """A heavier load holds the strip at 61 mm; let go of a thousandth of it, the rest swings and decays as linearised there."""
    system = held(strip(frame="pinned").discretise(4))
    state = ph.equilibrium(system, ph.place(system), u={"tip": 8.0})
    pole = min((p for p in ph.poles(ph.linearise(system, state, u={"tip": 8.0})) if p.imag > 1.0), key=abs)
    start = ph.equilibrium(system, ph.place(system), u={"tip": 8.008})
    half = np.pi / abs(pole.imag)
    result = ph.simulate(system, start, 24 * half, dt=half / 60, u={"tip": 8.0})
    y = result["b.eta"] - state["b.eta"]
    size = np.linalg.norm(y[::60], axis=1)
    assert np.log(size[12] / size[24]) / (12 * half) == pytest.approx(-pole.real, rel=5e-3)


@pytest.mark.parametrize("damping", [ph.KelvinVoigt(TIME), ph.ModalDamping(0.01, "P")])
@pytest.mark.parametrize("scheme", [ph.RadauIIA(), ph.GeneralisedAlpha(0.9)], ids=["radau", "generalised alpha"])
def test_other_schemes_lose_the_same_energy(scheme, damping):
    system = held(strip(damping=damping).discretise(2))
    start = ph.equilibrium(system, ph.place(system), u={"tip": 8.0})
    one, other = (ph.simulate(system, start, 0.1, dt=5e-4, scheme=s) for s in (ph.Midpoint(), scheme))
    assert other.energy[-1] == pytest.approx(one.energy[-1], rel=2e-3)
    ledger = ph.energy_ledger(other)
    assert ledger.dissipated["b"][-1] == pytest.approx(ph.energy_ledger(one).dissipated["b"][-1], rel=2e-2)
