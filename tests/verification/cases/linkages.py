"""Closed loops of rigid bodies: squeezed, redundant in space, and through positions where a loop loses a rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import phloat as ph
from verification.case import Case, Row, compared
from verification.cases.bricard import CASE as BRICARD
from verification.cases.governor import CASE as GOVERNOR
from verification.estimates import halved

G = 9.81


def rod(length: float, mass: float = 1.0) -> ph.Body:
    """A thin uniform rod along x."""
    J = mass * length**2 / 12 * np.diag([1e-6, 1.0, 1.0])
    return ph.RigidBody(mass, J, center=(length / 2, 0, 0), ports={"C": (length, 0, 0)}).discretise()


def swung(rates: Callable[[float, float], float], start: tuple[float, float], t: float) -> float:
    """The angle after t of one equation θ̈ = f(θ, θ̇)."""
    return float(solve_ivp(lambda _, y: [y[1], rates(*y)], (0, t), start, "DOP853", rtol=1e-12, atol=1e-12).y[0, -1])


# --- positions where a rank is lost ----------------------------------------------------------------------------------


def parallelograms(fine: bool) -> list[Row]:
    """The N-four-bar of the library with N = 2, which turns over and over through the line of all its bars."""
    bodies = {name: rod(1.0) for name in ("leg 0", "leg 1", "leg 2", "bar 0", "bar 1")}
    joints: list[Any] = [ph.Revolute("ground", f"leg {k}.P", at=(float(k), 0, 0), name=f"foot {k}") for k in range(3)]
    for k in range(2):
        joints += [ph.Revolute(f"leg {k}.C", f"bar {k}.P"), ph.Revolute(f"bar {k}.C", f"leg {k + 1}.C")]
    system = ph.connect(bodies, joints, plane="xy", gravity=(0, -G, 0))
    upright = {f"leg {k}.theta": np.pi / 2 for k in range(3)}
    state = ph.place(system, {"leg 0.theta": np.pi / 2}, near={**upright, "bar 0.theta": 0.0, "bar 1.theta": 0.0})
    state = ph.set_moving(system, state, {"leg 0.omega": -1.0})
    times = (2.0, 10.0)

    def run(steps: int) -> np.ndarray:
        result = ph.simulate(system, state, times[-1], dt=times[-1] / steps)
        return np.array([result["leg 0.theta"][np.abs(result.t - t).argmin()] for t in times])

    inertia, weight = 3 / 3 + 2.0, (3 / 2 + 2.0) * G
    exact = [swung(lambda a, _: -weight / inertia * np.cos(a), (np.pi / 2, -1.0), t) for t in times]
    n = 20000 if fine else 10000
    found = run(n)
    allowed = halved(run(n // 2), found, 1e-9)
    return compared([f"angle of the legs at {t:g} s" for t in times], exact, found, allowed, "rad")


def dead_point(fine: bool) -> list[Row]:
    """Crank and rod of one length: at 90° the slider is on the crank's bearing, and the rod could go on turning with the crank."""
    slider = ph.PointMass(1.0).discretise()
    joints = [
        ph.Revolute("ground", "crank.P", name="bearing"),
        ph.Revolute("crank.C", "rod.P"),
        ph.Revolute("rod.C", "slider.P"),
        ph.Slide("ground", "slider.P", along=(1, 0, 0)),
    ]
    bodies = {"crank": rod(1.0), "rod": rod(1.0), "slider": slider}
    system = ph.connect(bodies, joints, plane="xy", gravity=(0, -G, 0))
    begin, rate = np.pi / 4, 4.0
    state = ph.place(system, {"crank.theta": begin}, near={"rod.theta": -begin})
    state = ph.set_moving(system, state, {"crank.omega": rate})
    times = (0.5, 2.0)

    def run(steps: int) -> np.ndarray:
        result = ph.simulate(system, state, times[-1], dt=times[-1] / steps)
        k = [int(np.abs(result.t - t).argmin()) for t in times]
        return np.stack([result["crank.theta"][k], result.position("slider")[k, 0]])

    def rates(a: float, da: float) -> float:
        s, c = np.sin(a), np.cos(a)
        inertia = 1 / 3 + 1 / 12 + 2.25 * s**2 + 0.25 * c**2 + 4 * s**2
        slope = 2 * s * c * (2.25 - 0.25 + 4.0)
        return float((-0.5 * slope * da**2 - G * c) / inertia)

    exact = np.array([swung(rates, (begin, rate), t) for t in times])
    known = np.stack([exact, 2 * np.cos(exact)])
    n = 8000 if fine else 4000
    found = run(n)
    allowed = halved(run(n // 2), found, 1e-9)
    return [
        *compared([f"crank angle at {t:g} s" for t in times], known[0], found[0], allowed[0], "rad"),
        *compared([f"slider at {t:g} s" for t in times], known[1], found[1], allowed[1], "m"),
    ]


# --- Andrews' squeezer -----------------------------------------------------------------------------------------------

ANDREWS = dict(
    zip(
        "βΘγΦδΩε",
        (
            15.81077119629904,
            -15.75637105984298,
            0.04082224013073101,
            -0.5347301163226948,
            0.5244099658805304,
            0.5347301163226948,
            1.048080741042263,
        ),
        strict=True,
    )
)
SQUEEZED: dict[str, Any] = {  # mass, inertia, mass centre, further ports
    "K1": (0.04325, 2.194e-6, (92e-5, 0, 0), {"F": (0.007, 0, 0)}),
    "K2": (0.00365, 4.410e-7, (-115e-4, 0, 0), {"E": (-0.028, 0, 0)}),
    "K3": (0.02373, 5.255e-6, (1043e-5, -1874e-5, 0), {"E": (0, -0.035, 0), "D": (0.02, -0.018, 0)}),
    "K4": (0.00706, 5.667e-7, (0, 1421e-5 - 0.02, 0), {"E": (0, -0.02, 0)}),
    "K5": (0.07050, 1.169e-5, (2308e-5, 916e-5, 0), {"G": (0.04, 0, 0)}),
    "K6": (0.00706, 5.667e-7, (0.02 - 1421e-5, 0, 0), {"E": (0.02, 0, 0)}),
    "K7": (0.05498, 1.912e-5, (-449e-5, -1228e-5, 0), {"H": (0, -0.04, 0)}),
}


def andrews(fine: bool) -> list[Row]:
    A, B, C = (-0.06934, -0.00227, 0), (-0.03635, 0.03273, 0), (0.014, 0.072, 0)
    pins = [("K1.F", "K2.P"), ("K5.G", "K4.P"), ("K7.H", "K6.P"), ("K2.E", "K3.E"), ("K2.E", "K4.E"), ("K2.E", "K6.E")]
    system = ph.connect(
        {name: ph.RigidBody(m, I * np.eye(3), x, ports).discretise() for name, (m, I, x, ports) in SQUEEZED.items()},
        joints=[
            ph.Revolute("ground", "K1.P", name="motor"),
            *(ph.Revolute("ground", f"{name}.P", at=at) for name, at in {"K3": B, "K5": A, "K7": A}.items()),
            *(ph.Revolute(first, second) for first, second in pins),
            ph.Spring("ground", "K3.D", at=C, stiffness=4530.0, length=0.07785),
        ],
        plane="xy",
    )
    guess = zip(SQUEEZED, (-0.06, -0.06, 0.46, 0.71, 0.49, 1.01, 1.23), strict=True)
    state = ph.place(
        system, {"K1.theta": -0.0617138900142764496}, near={f"{name}.theta": angle for name, angle in guess}
    )

    def run(steps: int) -> np.ndarray:
        result = ph.simulate(system, state, 0.03, dt=0.03 / steps, u={"motor": 0.033}, scheme=ph.Composition4())
        K1, K2, K3, K4, K5, K6, K7 = (float(result[f"{name}.theta"][-1]) for name in SQUEEZED)
        return np.array([K1, K2 - K1, K3, K4 - K5, K5, K6 - K7, K7])

    n = 1200 if fine else 600
    found = run(n)
    allowed = halved(run(n // 2), found, 1e-12, order=4)
    return compared([f"{name} at 30 ms" for name in ANDREWS], list(ANDREWS.values()), found, allowed, "rad")


HALVED = "twice the error foretold by doubling the step, at order 2 (Andrews: 4)"

CASES = (
    Case(
        "parallelograms",
        "Two four-bars in a row turn over and over; twice a turn all bars are in one line (IFToMM benchmark A02, N = 2).",
        "as a pendulum of one angle, integrated by DOP853 at 1e-12; IFToMM library, N-four-bar mechanism",
        HALVED,
        parallelograms,
    ),
    Case(
        "dead point",
        "A slider-crank with crank and rod of one length goes through the position where both lie on each other.",
        "Lagrange's equation of the crank angle, DOP853 at 1e-12; the mechanism of Bayo and Avello, Nonlinear Dynamics 5, 1994",
        HALVED,
        dead_point,
    ),
    Case(
        "andrews",
        "Seven bodies and three loops, driven by a motor against a spring.",
        "Test set for initial value problem solvers (Bari), problem Andrews' squeezing mechanism; IFToMM benchmark A03",
        HALVED,
        andrews,
    ),
    BRICARD,
    GOVERNOR,
)
