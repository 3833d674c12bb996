"""Asked against reached: Midpoint(rtol=…) on motions whose exact course is known.

    python benchmarks/tolerances.py            a table of reached error / (rtol × scale), for rtol from 1e-4 to 1e-9

A problem gives a system, its start, the run, and the distance of a result from the exact motion at its end as a part of the scale
that rtol is relative to: the size of the body or how far it comes, whichever is larger.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg as la
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk, fresnel

import phloat as ph

TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
G = 9.81


@dataclass
class Problem:
    """A motion, and how far a result is from it at the end beside the scale."""

    system: ph.System
    state: ph.State
    t_end: float
    off: Callable[[ph.Result], float]
    options: dict[str, Any] = field(default_factory=dict)

    def reached(self, rtol: float) -> float:
        scheme = ph.Midpoint(rtol=rtol)
        return self.off(ph.simulate(self.system, self.state, self.t_end, scheme=scheme, output=10**9, **self.options))


PROBLEMS: dict[str, Callable[[], Problem]] = {}


def problem(make: Callable[[], Problem]) -> Callable[[], Problem]:
    PROBLEMS[make.__name__.replace("_", " ")] = make
    return make


# --- a mass of 1 kg on a rail ---------------------------------------------------------------------------------------------


def railed(*more: object, x: float = 0.0, v: float = 0.0) -> tuple[ph.System, ph.State]:
    rail = ph.Slide("ground", "m.P", along=(1, 0, 0), name="rail")
    system = ph.connect({"m": ph.PointMass(1.0).discretise()}, [rail, *more], plane="xy")
    return system, ph.set_moving(system, ph.place(system, {"rail.slide": x}), {"rail.slide_rate": v})


def slid(exact: float, scale: float) -> Callable[[ph.Result], float]:
    return lambda result: abs(float(result["rail.slide"][-1]) - exact) / scale


SPRING = ph.JointSpring("rail", stiffness=4 * np.pi**2)  # a period of one second


@problem
def oscillator() -> Problem:
    return Problem(*railed(SPRING, x=1.0), 1.3, slid(np.cos(2.6 * np.pi), 2.0))


@problem
def oscillator_for_three_periods() -> Problem:
    return Problem(*railed(SPRING, x=1.0), 3.1, slid(np.cos(6.2 * np.pi), 2.0))


@problem
def damped_oscillator() -> Problem:
    damper = ph.JointDamper("rail", damping=2.0)
    decay, omega, t = 1.0, np.sqrt(4 * np.pi**2 - 1.0), 1.3
    exact = np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    return Problem(*railed(SPRING, damper, x=1.0), t, slid(exact, 1.5))


@problem
def force_put_on() -> Problem:
    return Problem(*railed(SPRING), 1.3, slid((1 - np.cos(2.6 * np.pi)), 2.0), {"u": {"rail": 4 * np.pi**2}})


@problem
def forced_by_a_sine() -> Problem:
    w, a, t = 2 * np.pi, 3.0, 1.7
    exact = 40.0 / (w**2 - a**2) * (np.sin(a * t) - a / w * np.sin(w * t))
    return Problem(*railed(SPRING), t, slid(exact, 1.9), {"u": {"rail": lambda t: 40.0 * np.sin(a * t)}})


@problem
def resonance() -> Problem:
    w, t = 2 * np.pi, 2.2
    exact = 10.0 / (2 * w**2) * (np.sin(w * t) - w * t * np.cos(w * t))
    return Problem(*railed(SPRING), t, slid(exact, 1.6), {"u": {"rail": lambda t: 10.0 * np.sin(w * t)}})


@problem
def chirp() -> Problem:
    """x″ = cos(a t²): by Fresnel's integrals."""
    a, t = 12.0, 2.5
    scale = np.sqrt(2 * a / np.pi)
    _, C = fresnel(scale * t)
    exact = t * C / scale - np.sin(a * t**2) / (2 * a)
    return Problem(*railed(), t, slid(exact, exact), {"u": {"rail": lambda t: np.cos(a * t**2)}})


@problem
def short_blow() -> Problem:
    """1 N s in a millisecond at 1.7 s."""
    blow = ph.piecewise({1.7: 0.0, 1.7005: 2000.0, 1.701: 0.0})
    return Problem(*railed(), 3.0, slid(1.2995, 1.3), {"u": {"rail": blow}, "dt": 0.01})


@problem
def short_blow_as_a_function() -> Problem:
    blow = ph.piecewise({1.7: 0.0, 1.7005: 2000.0, 1.701: 0.0})
    return Problem(*railed(), 3.0, slid(1.2995, 1.3), {"u": {"rail": lambda t: float(blow(t))}, "dt": 0.01})


@problem
def square_wave() -> Problem:
    """A force of ±10 N that changes its sign every 0.37 s, as a function."""
    T, t = 0.37, 2.0
    x, v, f, now = 0.0, 0.0, 10.0, 0.0
    while now < t - 1e-12:
        h = min(T, t - now)
        x, v, now, f = x + h * v + 0.5 * h**2 * f, v + h * f, now + h, -f
    return Problem(*railed(), t, slid(x, x), {"u": {"rail": lambda t: 10.0 if int(t / T) % 2 == 0 else -10.0}})


@problem
def stiff_stop() -> Problem:
    """A mass at 1 m/s meets a spring of 1e6 N/m at 0.5 m and comes back."""
    stop = ph.JointSpring("rail", stiffness={-10.0: 0.0, 0.5: 0.0, 1.5: 1e6})
    contact = np.pi / 1e3
    return Problem(*railed(stop, v=1.0), 1.2, slid(0.5 - (1.2 - 0.5 - contact), 0.5))


@problem
def driven_foot() -> Problem:
    """A mass on a spring whose foot is driven as 0.3 sin 9t."""
    w, a, t, b = 2 * np.pi, 9.0, 1.5, 0.3
    system = ph.connect(
        {"foot": ph.RigidBody(1.0, np.eye(3)).discretise(), "m": ph.PointMass(1.0).discretise()},
        [
            ph.Prismatic("ground", "foot.P", axis=(1, 0, 0), name="foot rail"),
            ph.Slide("foot.P", "m.P", along=(1, 0, 0), name="rail"),
            ph.JointSpring("rail", stiffness=w**2),
        ],
        plane="xy",
    )
    system = ph.drive(system, "foot rail")
    foot = ph.prescribed_position(lambda t: b * np.sin(a * t), rate=lambda t: a * b * np.cos(a * t))
    state = ph.set_moving(system, ph.place(system), {"rail.slide_rate": -a * b}, u={"foot rail": foot})
    exact = b * w**2 / (w**2 - a**2) * (np.sin(a * t) - a / w * np.sin(w * t)) - b * np.sin(a * t)
    return Problem(system, state, t, slid(exact, 1.0), {"u": {"foot rail": foot}})


@problem
def sampled_controller() -> Problem:
    """u = −40 x − 6 v every 37 ms, held: parabolas between the samples."""
    x, v, T, t = 1.0, 0.0, 0.037, 1.5
    for k in range(int(t / T) + 1):
        h = min(T, t - k * T)
        f = -40 * x - 6 * v
        x, v = x + h * v + 0.5 * h**2 * f, v + h * f
    control = ph.control.Sampled(lambda t, y: {"rail": -40 * y["rail.slide"] - 6 * y["rail"]}, every=T)
    return Problem(*railed(x=1.0), t, slid(x, 1.0), {"controller": control})


@problem
def bounces() -> Problem:
    """A spring pulls a mass against a wall, from which it comes back with 0.9 of its speed."""

    def back(t: float, state: ph.State) -> ph.State:
        return state.with_values({"m.v_P": state["m.v_P"] * -0.9})

    wall = ph.Event(lambda t, y: y["rail.slide"], do=back, direction=-1, name="wall")
    exact = 0.9**3 * np.sin(2 * np.pi * (1.4 - 1.25))  # hits at 0.25, 0.75 and 1.25 s
    return Problem(*railed(SPRING, x=1.0), 1.4, slid(exact, 1.0), {"events": [wall]})


# --- hinges and rigid bodies ----------------------------------------------------------------------------------------------


def pendulum() -> tuple[ph.System, float, float]:
    """A uniform rod of 1 m: its system, size and ω₀."""
    rod = ph.RigidBody(1.0, np.diag([1e-3, 1 / 12, 1 / 12]), center=(0.5, 0, 0)).discretise()
    hinge = ph.Revolute("ground", "a.P", name="j")
    return ph.connect({"a": rod}, [hinge], plane="xy", gravity=(0, -G, 0)), 1.0, np.sqrt(1.5 * G)


def turned(system: ph.System, exact: float, scale: float) -> Callable[[ph.Result], float]:
    """The root mean square over the mass of the rod, 1/√3 of the angle."""
    return lambda result: abs(float(result["j.angle"][-1]) - exact) / np.sqrt(3) / scale


@problem
def pendulum_from_the_side() -> Problem:
    """Let go at 90°: sin(φ/2) = k sn(K − ω₀t)."""
    system, _, omega = pendulum()
    t, k = 1.0, np.sin(np.pi / 4)
    sn = ellipj(ellipk(k**2) - omega * t, k**2)[0]
    exact = -np.pi / 2 + 2 * np.arcsin(k * sn)
    return Problem(system, ph.place(system), t, turned(system, exact, 1.0), {"dt": 0.5})


@problem
def pendulum_over_the_top() -> Problem:
    """φ = 2 am(ω₀t/k, k) from the lowest point, fast enough to go round."""
    system, _, omega = pendulum()
    rate, t = 9.0, 1.2
    k = 2 * omega / rate
    exact = -np.pi / 2 + 2 * ellipj(0.5 * rate * t, k**2)[3]
    state = ph.set_moving(system, ph.place(system, {"j.angle": -np.pi / 2}), {"j.angle_rate": rate})
    return Problem(system, state, t, turned(system, exact, 1.0))


@problem
def wheel_in_oil() -> Problem:
    system, _, _ = pendulum()
    system = ph.connect(
        dict(system.bodies), [ph.Revolute("ground", "a.P", name="j"), ph.JointDamper("j", damping=1.0)], plane="xy"
    )
    state = ph.set_moving(system, ph.place(system), {"j.angle_rate": 5.0})
    return Problem(system, state, 1.0, turned(system, 5.0 / 3.0 * (1 - np.exp(-3.0)), 0.76))


@problem
def turning_spring() -> Problem:
    system, _, _ = pendulum()
    system = ph.connect(
        dict(system.bodies), [ph.Revolute("ground", "a.P", name="j"), ph.JointSpring("j", stiffness=20.0)], plane="xy"
    )
    t = 1.0
    return Problem(system, ph.place(system, {"j.angle": 0.5}), t, turned(system, 0.5 * np.cos(np.sqrt(60.0) * t), 0.5))


def spinning(J: tuple[float, float, float], omega: tuple[float, float, float]) -> tuple[ph.System, ph.State]:
    system = ph.connect({"a": ph.RigidBody(1.0, np.diag(J)).discretise()})
    return system, ph.set_moving(system, ph.place(system), {"a.omega": omega})


def aimed(A: np.ndarray, J: tuple[float, float, float]) -> Callable[[ph.Result], float]:
    """The root mean square over the mass, beside the size of the body."""
    J_ = np.diag(J)

    def off(result: ph.Result) -> float:
        R = A.T @ result["a.A_IB"][-1]
        turn = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        return float(np.sqrt(turn @ J_ @ turn / (0.5 * np.trace(J_))))

    return off


@problem
def free_symmetric_top() -> Problem:
    """A = exp(L t/J₁) exp((1 − J₃/J₁) ω₃ t e₃)."""
    J, omega, t = (1.0, 1.0, 1.6), np.array([1.0, 0.0, 3.0]), 1.5
    precession = Rotation.from_rotvec(np.array(J) * omega / J[0] * t)
    spin = Rotation.from_rotvec([0, 0, (1 - J[2] / J[0]) * omega[2] * t])
    return Problem(*spinning(J, tuple(omega)), t, aimed((precession * spin).as_matrix(), J))


@problem
def euler_top() -> Problem:
    """Three different moments of inertia; ω by elliptic functions, A by quadrature of them to 1e-13."""
    J, omega, t = (1.0, 1.4, 2.0), np.array([2.0, 0.3, 1.0]), 1.5

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        w, A = y[:3], y[3:].reshape(3, 3)
        S = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([np.cross(np.array(J) * w, w) / J, (A @ S).ravel()])

    y = solve_ivp(rates, (0, t), [*omega, *np.eye(3).ravel()], "DOP853", rtol=1e-13, atol=1e-13).y[3:, -1]
    return Problem(*spinning(J, tuple(omega)), t, aimed(y.reshape(3, 3), J))


# --- several bodies, and one that bends ------------------------------------------------------------------------------------


@problem
def spring_in_a_plane() -> Problem:
    """A mass on an isotropic spring goes round on an ellipse, as planets would."""
    system = ph.connect(
        {"m": ph.PointMass(1.0).discretise()}, [ph.Spring("ground", "m.P", stiffness=9.0, length=0.0)], plane="xy"
    )
    start = ph.place(system, {"m.r_P": (1.0, 0.0)}).with_values({"m.v_P": (0.0, 1.5)})
    exact = np.array([np.cos(4.5), 0.5 * np.sin(4.5)])
    return Problem(system, start, 1.5, lambda r: float(np.linalg.norm(r["m.r_P"][-1] - exact)) / 2.0)


@problem
def two_masses() -> Problem:
    """Between two walls and each other on three springs: x₁ = ½(cos t√k + cos t√3k)."""
    k, t, apart = 30.0, 1.4, 5.0
    system = ph.connect(
        {"a": ph.PointMass(1.0).discretise(), "b": ph.PointMass(1.0).discretise()},
        [
            ph.Slide("ground", "a.P", along=(1, 0, 0), name="rail"),
            ph.Slide("ground", "b.P", along=(1, 0, 0), name="other"),
            ph.JointSpring("rail", stiffness=k),
            ph.JointSpring("other", stiffness=k, rest=apart),
            ph.Spring("a.P", "b.P", stiffness=k, length=apart),
        ],
        plane="xy",
    )
    start = ph.place(system, {"rail.slide": 1.0, "other.slide": apart})
    return Problem(system, start, t, slid(0.5 * (np.cos(np.sqrt(k) * t) + np.cos(np.sqrt(3 * k) * t)), 2.0))


@problem
def beam_in_its_first_mode() -> Problem:
    """A cantilever without stiffening is linear: its first mode swings as cos ωt."""
    steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.02), steel, stiffening=False).discretise(4)
    system = ph.connect({"b": beam}, [ph.Weld("ground", "b.P")], plane="xy")
    beam, rest = system.bodies["b"], ph.place(system)
    M, K = beam.inertia.M_ff_dense, (beam.elastic.D.T @ (beam.elastic.C_inverse @ beam.elastic.D)).toarray()
    omega, shape = la.eigh(K, M)
    shape0 = shape[:, 0] * 0.05 / np.abs(beam.shape.displacement(np.array([1.0])) @ shape[:, 0]).max()
    t = 0.02
    start = rest.with_values({"b.eta": shape0, "b.sigma": beam.elastic.stress(shape0)})
    size = np.sqrt(1 / 12)
    exact = np.cos(np.sqrt(omega[0]) * t) * shape0

    def off(result: ph.Result) -> float:
        missed = result["b.eta"][-1] - exact
        return float(np.sqrt(missed @ M @ missed / beam.inertia.m)) / size

    return Problem(system, start, t, off)


def table(tolerances: tuple[float, ...] = TOLERANCES) -> dict[str, list[float]]:
    """Reached over asked, for every problem and tolerance."""
    out = {}
    for name, make in PROBLEMS.items():
        one = make()
        out[name] = [one.reached(rtol) / rtol for rtol in tolerances]
        print(f"| {name} | " + " | ".join(f"{x:.2g}" for x in out[name]) + " |", flush=True)
    return out


if __name__ == "__main__":
    warnings.simplefilter("error")
    asked = tuple(float(x) for x in sys.argv[1:]) or TOLERANCES
    print("| reached / asked | " + " | ".join(f"{x:g}" for x in asked) + " |\n|" + "---|" * (len(asked) + 1))
    reached = table(asked)
    print(f"\nworst {max(max(row) for row in reached.values()):.2g}, {len(reached)} problems")
