"""Rigid bodies: pendulums and tops."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj

import phloat as ph
from verification.case import Case, Row, compared
from verification.estimates import halved, midpoint

G = 9.81


# --- pendulums -------------------------------------------------------------------------------------------------------

PENDULUM = {1.0: (0.9862917511, -0.1650108531), 10.0: (-0.2750874626, -0.9614192051)}


def pendulum(fine: bool) -> list[Row]:
    bob = ph.RigidBody(1.0, np.diag([1e-13] * 3), center=(1, 0, 0)).discretise()
    system = ph.connect({"bob": bob}, [ph.Revolute("ground", "bob.P")], gravity=(0, -G, 0), plane="xy")
    dt, fastest = (5e-4 if fine else 1e-3), np.sqrt(2 * G)
    result = ph.simulate(system, ph.place(system, {"bob.theta": np.pi}), 10.0, dt=dt)
    x = result.position("bob", at=(1.0, 0, 0))
    out = []
    for t, known in PENDULUM.items():
        here, allowed = x[np.abs(result.t - t).argmin()], midpoint(fastest, dt, t) + 1e-10
        out += compared([f"{a} at {t:g} s" for a in "xy"], known, here, allowed, "m")
    return out


def double_pendulum(fine: bool) -> list[Row]:
    length = 0.8
    rod = ph.RigidBody(
        1.0, np.diag([1e-6, length**2 / 12, length**2 / 12]), center=(length / 2, 0, 0), ports={"C": (length, 0, 0)}
    ).discretise()
    joints = [ph.Revolute("ground", "upper.P"), ph.Revolute("upper.C", "lower.P")]
    system = ph.connect({"upper": rod, "lower": rod}, joints, gravity=(0, -G, 0), plane="xy")
    state = ph.place(system, {"upper.theta": 0.0, "lower.theta": 0.0})

    def run(steps: int) -> np.ndarray:
        return ph.simulate(system, state, 1.0, dt=1.0 / steps).position("lower", at=(length, 0, 0))[-1]

    def rates(_: float, y: np.ndarray) -> list[float]:
        a, b, da, db = y
        M = [[4 / 3, 0.5 * np.cos(a - b)], [0.5 * np.cos(a - b), 1 / 3]]
        right = [
            -0.5 * db**2 * np.sin(a - b) - 1.5 * G / length * np.cos(a),
            0.5 * da**2 * np.sin(a - b) - 0.5 * G / length * np.cos(b),
        ]
        return [da, db, *np.linalg.solve(M, right)]

    one, two, _, _ = solve_ivp(rates, (0, 1), [0.0] * 4, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    exact = length * np.array([np.cos(one) + np.cos(two), np.sin(one) + np.sin(two)])
    n = 2000 if fine else 1000
    found = run(n)
    allowed = halved(run(n // 2), found, 1e-10)
    return compared(("x of the tip at 1 s", "y of the tip at 1 s"), exact, found, allowed, "m")


# --- bodies that turn freely -----------------------------------------------------------------------------------------


def free_rotation(fine: bool) -> list[Row]:
    I1, I2, I3 = 1.0, 2.0, 3.0
    a, c, t = 1.0, 1.2, 10.0
    twice_energy, squared = I1 * a**2 + I3 * c**2, (I1 * a) ** 2 + (I3 * c) ** 2
    rate = np.sqrt((I3 - I2) * (squared - twice_energy * I1) / (I1 * I2 * I3))
    m = (I2 - I1) * (twice_energy * I3 - squared) / ((I3 - I2) * (squared - twice_energy * I1))
    b = np.sqrt((twice_energy * I3 - squared) / (I2 * (I3 - I2)))
    sn, cn, dn, _ = ellipj(rate * t, m)
    exact = np.array([a * cn, b * sn, c * dn])
    system = ph.connect({"body": ph.RigidBody(1.0, np.diag([I1, I2, I3])).discretise()})
    state = ph.set_moving(system, ph.place(system), {"body.omega": (a, 0.0, c)})
    dt = 1e-3 if fine else 2e-3
    found = ph.simulate(system, state, t, dt=dt)["body.omega"][-1]
    allowed = midpoint(float(np.hypot(a, c)), dt, t) * float(np.hypot(a, c))
    return compared([f"ω_{k} at 10 s" for k in "123"], exact, found, allowed, "rad/s")


TOP = {0.1: (0.42129666, 0.89457197, -0.14916470), 1.0: (0.17334396, 0.64008859, -0.74849079)}


def heavy_top(fine: bool) -> list[Row]:
    top = ph.RigidBody(mass=15.0, inertia=np.diag([0.234375, 0.46875, 0.234375]), center=(0, 1, 0)).discretise()
    system = ph.connect({"top": top}, [ph.Spherical("ground", "top.P")], gravity=(0, 0, -G))
    state = ph.set_moving(system, ph.place(system), {"top.omega": (0.0, 150.0, -4.61538)})

    def run(steps: int) -> np.ndarray:
        result = ph.simulate(system, state, 1.0, dt=1.0 / steps, scheme=ph.Composition4())
        x = result.position("top", at=(0.0, 1.0, 0.0))
        return np.array([x[np.abs(result.t - t).argmin()] for t in TOP])

    n = 2000 if fine else 1000
    found = run(n)
    allowed = halved(run(n // 2), found, 5e-9, order=4)
    out = [Row("energy", 5435.6967909, ph.energy(system, state), 5e-8, "J")]
    for k, (t, known) in enumerate(TOP.items()):
        out += compared([f"{a} at {t:g} s" for a in "xyz"], known, found[k], allowed[k], "m")
    return out


def precession(fine: bool) -> list[Row]:
    """A top whose axis stays at 60° from the vertical: I₁ Ω² cos θ − I₃ ω₃ Ω + m g l = 0 with I₁ about the pivot."""
    mass, arm, I1, I3, spin, tilt, t = 2.0, 0.3, 0.05, 0.02, 120.0, np.pi / 3, 2.0
    about = I1 + mass * arm**2
    c = np.cos(tilt)
    slow = (I3 * spin - np.sqrt((I3 * spin) ** 2 - 4 * about * c * mass * G * arm)) / (2 * about * c)
    top = ph.RigidBody(mass, np.diag([I1, I1, I3]), center=(0, 0, arm)).discretise()
    system = ph.connect({"top": top}, [ph.Spherical("ground", "top.P")], gravity=(0, 0, -G))
    A = np.array([[c, 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, c]])
    turning = A.T @ (0, 0, slow)
    state = ph.place(system, {"top.A_IB": A})
    state = ph.set_moving(system, state, {"top.omega": (turning[0], turning[1], spin)})

    def run(steps: int) -> np.ndarray:
        axis = ph.simulate(system, state, t, dt=t / steps).position("top", at=(0, 0, 1.0))
        azimuth = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))[-1]
        lean = np.arccos(np.clip(axis[:, 2], -1, 1))
        return np.array([azimuth, lean.max(), lean.min()])

    n = 8000 if fine else 4000
    found = run(n)
    allowed = halved(run(n // 2), found, 1e-9)
    known = {"azimuth after 2 s": slow * t, "largest lean": tilt, "smallest lean": tilt}
    return compared(known, list(known.values()), found, allowed, "rad")


STEP = "phase of the midpoint rule, (h·rate)²/12 of the angle gone through, at the fastest rate of the motion; digits of the source"
HALVED = "twice the error foretold by doubling the step, at order 2 (heavy top: 4), and half a digit of the source"

CASES = (
    Case(
        "pendulum",
        "A point mass on a rod of 1 m, let go from the horizontal (IFToMM benchmark A01).",
        "Jacobi's elliptic functions; IFToMM library of multibody benchmarks, simple pendulum",
        STEP,
        pendulum,
    ),
    Case(
        "double pendulum",
        "Two uniform rods let go from the horizontal.",
        "Lagrange's two equations, integrated by DOP853 at 1e-12",
        HALVED,
        double_pendulum,
    ),
    Case(
        "free rotation",
        "A body with inertias 1, 2, 3 tumbles freely.",
        "Euler's equations in Jacobi's elliptic functions (Landau and Lifshitz, Mechanics, § 37)",
        STEP,
        free_rotation,
    ),
    Case(
        "heavy top",
        "A top of 15 kg spins at 150 rad/s about an axis that starts horizontal.",
        "Géradin and Cardona, Flexible Multibody Dynamics, 2001; mass centre from the closed form to eight digits",
        HALVED,
        heavy_top,
    ),
    Case(
        "precession",
        "A top set off in steady precession at 60° stays there.",
        "I₁Ω² cos θ − I₃ω₃Ω + mgl = 0 (Goldstein, Classical Mechanics, § 5.7)",
        HALVED,
        precession,
    ),
)
