"""Beams that turn: stiffened by the centrifugal force, lagging behind a hub, whirling as a shaft."""

from __future__ import annotations

import numpy as np

import phloat as ph
from verification import exact
from verification.case import Case, Row, compared, row
from verification.estimates import halved

UNIT = ph.Material(E=1.0, rho=1.0, nu=0.3)
THIN = ph.Section(A=1.0, I=1e-8, J=2e-8)
BENDS = np.sqrt(THIN.I)

SEEN = [0, 1, 3]  # lag 1, flap 1, flap 2 of those in order
FLAP = {1: (3.681647, 22.181011), 2: (4.137320, 22.614922), 4: (5.585001, 24.273349), 8: (9.256838, 29.995382)}


def blade_frequencies(elements: int, gamma: float, radius: float) -> np.ndarray:
    """Lag 1, flap 1, lag 2, flap 2 in the turning frame, over √(EI/ρAL⁴)."""
    body = ph.Beam(1.0, THIN, UNIT).discretise(elements)
    system = ph.connect({"b": body}, [ph.Drive("ground", "b.P", of="pose", name="hub")])
    near = {"b.r_P": (radius, 0.0, 0.0)}
    spun = ph.steady_spin(system, axis=(0, 0, 1), rate=gamma * BENDS, near=near)
    return np.asarray(ph.modes(ph.linearise(system, spun))[:4]) / BENDS


def blade(fine: bool) -> list[Row]:
    n, out = (16 if fine else 8), []
    for gamma, (flap_1, flap_2) in FLAP.items():
        found = blade_frequencies(n, gamma, 0.0)
        allowed = halved(blade_frequencies(n // 2, gamma, 0.0), found, 1e-6, order=4)
        known = {"lag 1": np.sqrt(flap_1**2 - gamma**2), "flap 1": flap_1, "flap 2": flap_2}
        out += compared([f"γ = {gamma}, {what}" for what in known], list(known.values()), found[SEEN], allowed[SEEN])
    return out


def hubbed_blade(fine: bool) -> list[Row]:
    n, out = (24 if fine else 12), []
    for gamma, radius in ((4.0, 1.0), (4.0, 5.0), (12.0, 1.0)):
        flap = exact.turning(gamma, radius, 2)
        found = blade_frequencies(n, gamma, radius)
        allowed = halved(blade_frequencies(n // 2, gamma, radius), found, 1e-6, order=4)
        known = {"lag 1": np.sqrt(flap[0] ** 2 - gamma**2), "flap 1": flap[0], "flap 2": flap[1]}
        out += compared(
            [f"γ = {gamma:g}, r = {radius:g} L, {what}" for what in known],
            list(known.values()),
            found[SEEN],
            allowed[SEEN],
        )
    return out


# --- spin-up ---------------------------------------------------------------------------------------------------------


def spin_up(fine: bool) -> list[Row]:
    beam = ph.Beam(10.0, ph.Section(A=1.0, I=5e-4), ph.Material(E=2.8e7, rho=1.2, nu=0.3))

    def psi(t: float) -> float:
        if t > 15.0:
            return 6.0 * (t - 7.5)
        return 0.4 * (t**2 / 2 + (7.5 / np.pi) ** 2 * (np.cos(2 * np.pi * t / 15.0) - 1))

    system = ph.drive(
        ph.connect({"b": beam.discretise(16 if fine else 8)}, [ph.Revolute("ground", "b.P", name="hub")], plane="xy"),
        "hub",
    )
    u = {"hub": ph.prescribed_position(psi)}
    state = ph.set_moving(system, ph.place(system), u=u)
    result = ph.simulate(system, state, t_end=20.0, dt=5e-3 if fine else 1e-2, u=u)
    stretch, lag = result.displacement("b", s=1.0).T
    return [
        Row("largest lag of the tip", -0.5758, lag.min(), 1.2e-3, "m"),
        Row("largest lag, beside a geometrically exact beam", -0.5738, lag.min(), 3e-3, "m"),
        Row("largest lag at", 6.77, result.t[lag.argmin()], 0.02, "s"),
        Row("lag at 5 s", -0.469, np.interp(5.0, result.t, lag), 1.2e-3, "m"),
        Row("lag at 10 s", -0.363, np.interp(10.0, result.t, lag), 1.2e-3, "m"),
        row("steady stretch", 5.142857e-4, stretch[result.t >= 15.0].mean(), 2e-3, "m"),
    ]


# --- a shaft ---------------------------------------------------------------------------------------------------------


def shaft(fine: bool) -> list[Row]:
    """A slender shaft in two bearings turns about its own axis: seen from it, its bending waves go at ω ± Ω."""
    n = 16 if fine else 8
    system = ph.connect(
        {"b": ph.Beam(1.0, THIN, UNIT).discretise(n)},
        [
            ph.Revolute("ground", "b.P", axis=(1, 0, 0), name="motor"),
            ph.Cylindrical("ground", "b.C", axis=(1, 0, 0)),
        ],
    )
    waves = exact.roots(exact.clamped, exact.clamped, 1)[0] ** 2
    out = []
    for part in (0.25, 0.75):
        spun = ph.steady_spin(system, axis=(1, 0, 0), rate=part * waves * BENDS)
        omega = np.asarray(ph.modes(ph.linearise(system, spun)).elastic[:2]) / BENDS
        known = waves * np.array([1 - part, 1 + part])
        # (kh)⁴/1440 of ω, twice; Ω itself has no error
        allowed = 2 * (np.sqrt(waves) / n) ** 4 / 1440 * waves + 1e-6 * waves
        out += compared([f"Ω = {part:g} ω₁, {what}" for what in ("ω₁ − Ω", "ω₁ + Ω")], known, omega, allowed)
    return out


HALVED = "twice the error foretold by halving the mesh, at order 4, and the digits of the source"

CASES = (
    Case(
        "blade",
        "A rotating cantilever: the centrifugal force stiffens it against flapping, and less so against lagging.",
        "Wright, Smith, Thresher and Wang, J. Appl. Mech. 49, 1982; converged by an independent method",
        HALVED,
        blade,
    ),
    Case(
        "blade on a hub",
        "The same on a hub of its own radius and more.",
        "power series of the rotating beam (Wright and others 1982; Yoo and Shin, J. Sound Vib. 212, 1998)",
        HALVED,
        hubbed_blade,
        long=True,
    ),
    Case(
        "spin-up",
        "A beam on a hub that comes to 6 rad/s in 15 s.",
        "Simo and Vu-Quoc, J. Appl. Mech. 53, 1986; converged in a floating frame and with geometrically exact beams",
        "0.2 % for mesh and step, 0.5 % against the exact beam (squares of slopes: 0.35 %), 0.2 % of the stretch for what rings",
        spin_up,
    ),
    Case(
        "shaft",
        "A slender shaft in two stiff bearings, seen from itself as it turns.",
        "ω ± Ω of a thin shaft (Genta, Dynamics of Rotating Systems, 2005), ω from the clamped beam's characteristic equation",
        "error of cubic elements, (kh)⁴/1440 of ω, twice, and 1e-6 for inertia of the sections",
        shaft,
    ),
)
