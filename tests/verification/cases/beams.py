"""Beams that vibrate and buckle: roots of their characteristic equations."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy.special import jv

import phloat as ph
from verification import exact
from verification.case import Case, Row, compared, relative, row
from verification.estimates import cubic, halved

UNIT = ph.Material(E=1.0, rho=1.0, nu=0.3)
SLENDER = ph.Section(A=1.0, I=1e-8)  # bends at 1e-4 of the rate at which it stretches
BENDS = np.sqrt(SLENDER.I)  # √(EI/ρAL⁴)


def elastic(
    system: ph.System, count: int, state: ph.State | None = None, u: dict[str, float] | None = None
) -> np.ndarray:
    """The lowest frequencies that are not zero."""
    at = ph.place(system) if state is None else state
    return np.asarray(ph.modes(ph.linearise(system, at, u=u)).elastic[:count])


def held(body: ph.Body, *joints: Any) -> ph.System:
    return ph.connect({"b": body}, list(joints), plane="xy")


# --- frequencies of one beam -----------------------------------------------------------------------------------------

FREQUENCIES = {  # λ = ω √(ρAL⁴/EI)
    "cantilever": (3.5160152685, 22.0344915647, 61.6972144135),
    "free": (22.3732854481, 61.6728228679, 120.9033917271),
    "pinned": tuple((k * np.pi) ** 2 for k in (1, 2, 3)),
}


def euler_bernoulli(fine: bool) -> list[Row]:
    n = 32 if fine else 16
    body = ph.Beam(1.0, SLENDER, UNIT).discretise(n)
    supports = {
        "cantilever": (ph.Weld("ground", "b.P"),),
        "free": (),
        "pinned": (ph.Revolute("ground", "b.P"), ph.Slide("ground", "b.C", along=(1, 0, 0))),
    }
    out = []
    for name, known in FREQUENCIES.items():
        found = elastic(held(body, *supports[name]), 3) / BENDS
        out += relative(f"{name}, λ", known, found, cubic(np.sqrt(known), n) + 1e-7)
    return out


def timoshenko(fine: bool) -> list[Row]:
    steel = ph.Material(E=210e9, rho=7800.0, nu=0.3)
    beam = ph.Beam(1.0, ph.Rectangle(0.05, 0.1), steel, theory="timoshenko")

    def run(n: int) -> np.ndarray:
        omega = elastic(held(beam.discretise(n), ph.Weld("ground", "b.P")), 4)
        return omega[np.abs(omega / (np.pi / 2 * np.sqrt(steel.E / steel.rho)) - 1) > 1e-3]  # without the axial one

    n = 32 if fine else 16
    found, known = run(n), (522.507336, 3131.566840, 8236.498924)
    allowed = halved(run(n // 2), found, 5e-7, order=4)
    return compared("ω", known, found, allowed, "rad/s")


# --- with bodies at its ends -----------------------------------------------------------------------------------------


def tip_mass(fine: bool) -> list[Row]:
    n, out = (32 if fine else 16), []
    for mass in (0.5, 1.0, 5.0):
        beta = exact.roots(exact.clamped, exact.tip(mass), 2)
        body = ph.Beam(1.0, SLENDER, UNIT, masses={1.0: mass}).discretise(n)
        found = np.sqrt(elastic(held(body, ph.Weld("ground", "b.P")), 2) / BENDS)
        out += relative(f"M = {mass:g} ρAL, β", beta, found, cubic(beta, n))
    return out


def tip_body(fine: bool) -> list[Row]:
    """A rigid block with inertia, welded on."""
    n, mass, inertia = (32 if fine else 16), 0.8, 0.05
    beta = exact.roots(exact.clamped, exact.tip(mass, inertia), 3)
    block = ph.RigidBody(mass, inertia * np.eye(3)).discretise()
    system = ph.connect(
        {"b": ph.Beam(1.0, SLENDER, UNIT).discretise(n), "block": block},
        [ph.Weld("ground", "b.P"), ph.Weld("b.C", "block.P")],
        plane="xy",
    )
    return relative("β", beta, np.sqrt(elastic(system, 3) / BENDS), cubic(beta, n))


def hub(fine: bool) -> list[Row]:
    n, out = (32 if fine else 16), []
    for inertia in (0.1, 1.0):
        beta = exact.roots(exact.hub(inertia), exact.free, 3)
        block = ph.RigidBody(1.0, inertia * np.eye(3)).discretise()
        system = ph.connect(
            {"hub": block, "b": ph.Beam(1.0, SLENDER, UNIT).discretise(n)},
            [ph.Revolute("ground", "hub.P"), ph.Weld("hub.P", "b.P")],
            plane="xy",
        )
        found = np.sqrt(elastic(system, 3) / BENDS)
        out += relative(f"J = {inertia:g} ρAL³, β", beta, found, cubic(beta, n))
    return out


def appendages(fine: bool) -> list[Row]:
    """A free hub with two equal wings: the modes in which it turns, and those in which it heaves."""
    n, radius, mass, inertia = (24 if fine else 12), 0.2, 3.0, 0.4
    turning = exact.roots(exact.wing(radius, inertia / 2), exact.free, 2)
    heaving = exact.roots(exact.raft(mass / 2), exact.free, 2)
    block = ph.RigidBody(mass, inertia * np.eye(3), ports={"l": (-radius, 0, 0), "r": (radius, 0, 0)}).discretise()
    wing = ph.Beam(1.0, SLENDER, UNIT).discretise(n)
    system = ph.connect(
        {"hub": block, "left": wing, "right": wing},
        [ph.Weld("hub.r", "right.P"), ph.Weld("hub.l", "left.P", turned=(0, 0, np.pi))],
        plane="xy",
    )
    known = np.sort(np.concatenate([turning, heaving]))
    return relative("β", known, np.sqrt(elastic(system, 4) / BENDS), cubic(known, n))


# --- along and about its axis ----------------------------------------------------------------------------------------


def rod(fine: bool) -> list[Row]:
    """Axial waves of a rod with a mass at its end: β tan β = ρAL/M."""
    n, out = (16 if fine else 8), []
    stiff = ph.Section(A=1.0, I=1e4, kappa=1e9)  # bends far above, and would not shear
    for mass in (0.5, 2.0):
        beta = exact.zeros(partial(_end_mass, mass), 0.05, 0.05, 2)
        body = ph.Beam(1.0, stiff, UNIT, masses={1.0: mass}).discretise(n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ph.errors.UnitsWarning)  # no real section is as stiff
            held_rod = held(body, ph.Weld("ground", "b.P"))
        out += relative(f"M = {mass:g} ρAL, ω L/c", beta, elastic(held_rod, 2), cubic(beta, n))
    return out


def _end_mass(mass: float, beta: float) -> float:
    return math.cos(beta) - mass * beta * math.sin(beta)


# --- under load ------------------------------------------------------------------------------------------------------


def tension(fine: bool) -> list[Row]:
    """A pinned beam that is pulled or pushed: λ² = (kπ)⁴ + (kπ)² N L²/EI; pushed by π² EI/L² it buckles."""
    n, out = (16 if fine else 8), []
    system = held(
        ph.Beam(1.0, SLENDER, UNIT).discretise(n),
        ph.Revolute("ground", "b.P"),
        ph.Slide("ground", "b.C", along=(1, 0, 0)),
        ph.Force("b.C", along=(1, 0, 0), name="pull"),
    )
    k = np.array([1, 2]) * np.pi
    squares = {}
    for load in (20.0, -5.0, -9.0):
        u = {"pull": load * SLENDER.I}
        state = ph.equilibrium(system, ph.place(system), u=u)
        found = elastic(system, 2, state, u) / BENDS
        known = np.sqrt(k**4 + load * k**2)
        squares[load] = float(found[0] ** 2)
        # the error of k² is that of k⁴ without the load
        out += relative(f"N L²/EI = {load:g}, λ", known, found, cubic(k, n) * k**4 / known**2 + 1e-6)
    critical = 9.0 + 4.0 * squares[-9.0] / (squares[-5.0] - squares[-9.0])
    out.append(row("Euler's load L²/EI", np.pi**2, critical, 2 * cubic(np.pi, n) + 1e-6))
    return out


def own_weight(fine: bool) -> list[Row]:
    """An upright cantilever: its lowest ω² falls with its weight and is zero at Greenhill's, 9/4 j² with J₋₁⸝₃(j) = 0."""
    n, loads = (16 if fine else 8), np.array([7.0, 7.25, 7.5, 7.75])
    greenhill = 2.25 * exact.zeros(lambda j: float(jv(-1 / 3, j)), 1.0, 0.1, 1)[0] ** 2
    squares = []
    for load in loads:
        body = ph.Beam(1.0, SLENDER, UNIT).discretise(n)
        system = ph.connect({"b": body}, [ph.Weld("ground", "b.P")], plane="xy", gravity=(-load * SLENDER.I, 0, 0))
        squares.append(float(elastic(system, 1, ph.equilibrium(system, ph.place(system)))[0] ** 2))
    curve = np.polynomial.Polynomial.fit(np.array(squares) / SLENDER.I, loads, 3)  # the load where ω² = 0
    # the buckled shape bends like a quarter wave and somewhat more
    return [row("ρAgL³/EI", greenhill, curve(0.0), cubic(2.5, n) * 2 + 1e-6)]


CUBIC = "error of cubic (bending) and quadratic (axial) elements, (kh)⁴/1440 of ω, twice, with 1e-7 for the stretch of a real beam"
HALVED = "twice the error foretold by halving the mesh, at order 4, and half a digit of the source"

CASES = (
    Case(
        "euler-bernoulli",
        "A slender beam clamped, free and pinned.",
        "roots of the characteristic equations (Blevins, Formulas for Natural Frequency and Mode Shape, 1979, table 8-1)",
        CUBIC,
        euler_bernoulli,
    ),
    Case(
        "timoshenko",
        "A steel cantilever 50 mm × 100 mm, 1 m long, with shear and rotary inertia.",
        "roots of Timoshenko's characteristic equation (Huang, J. Appl. Mech. 28, 1961), κ = 5/6",
        HALVED,
        timoshenko,
    ),
    Case(
        "tip mass",
        "A cantilever with a point mass at its tip.",
        "roots of the characteristic determinant, EI w''' = −M ω² w at the tip (Blevins 1979)",
        CUBIC,
        tip_mass,
    ),
    Case(
        "tip body",
        "A cantilever with a rigid block at its tip, which has inertia too.",
        "roots of the characteristic determinant (To, J. Sound Vib. 83, 1982)",
        CUBIC,
        tip_body,
    ),
    Case(
        "hub",
        "A flexible arm on a hinged hub with inertia.",
        "roots of the characteristic determinant, EI w'' = −J ω² w' at the hub (Cannon and Schmitz, 1984)",
        CUBIC,
        hub,
    ),
    Case(
        "appendages",
        "A free satellite in a plane: a rigid hub with two flexible wings.",
        "roots of the characteristic determinants of its odd and even modes",
        CUBIC,
        appendages,
    ),
    Case(
        "rod",
        "Axial vibration of a rod with a mass at its end.",
        "roots of β tan β = ρAL/M (Timoshenko, Vibration Problems in Engineering)",
        CUBIC,
        rod,
    ),
    Case(
        "tension",
        "A pinned beam pulled and pushed along its axis, until it buckles.",
        "λ² = (kπ)⁴ + (kπ)² NL²/EI and Euler's load π² EI/L² (Timoshenko and Gere, Theory of Elastic Stability)",
        CUBIC,
        tension,
    ),
    Case(
        "own weight",
        "How heavy may an upright cantilever be? Where its lowest frequency comes to zero.",
        "Greenhill, Proc. Cambridge Phil. Soc. 4, 1881: 9/4 times the square of the first zero of J₋₁⸝₃",
        CUBIC,
        own_weight,
    ),
)
