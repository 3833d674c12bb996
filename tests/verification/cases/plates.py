"""Plates: thin and thick, square and round, and one that turns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import iv, ivp, jv, jvp

import phloat as ph
from verification import exact
from verification.case import Case, Row, compared
from verification.estimates import halved

THIN = ph.Material(E=12.0 * (1.0 - 0.3**2) * 1e9, rho=1e3, nu=0.3)  # 1 mm thick: D = 1, ρh = 1

SQUARES: dict[str, tuple[dict[str, Any], tuple[float, ...], float, int]] = {  # ω a² √(ρh/D)
    "supported": ({"supported": "all"}, (19.7392088, 49.3480220, 49.3480220, 78.9568352), 5e-8, 4),
    "cantilever": ({"clamped": "left"}, (3.4711, 8.5067, 21.285, 27.199, 30.956), 5e-4, 2),
    "clamped": ({"clamped": "all"}, (35.985, 73.394, 73.394, 108.22), 5e-3, 4),
    "free": ({}, (13.468, 19.596, 24.270), 5e-4, 4),
}


def lowest(body: ph.Continuum, count: int) -> np.ndarray:
    """The lowest frequencies that are not zero."""
    omega = np.asarray(body.modes(count + 6)[0])
    return omega[omega > 1e-6 * omega[-1]][:count]


def square(fine: bool) -> list[Row]:
    n, out = (24 if fine else 12), []
    for name, (options, known, digit, order) in SQUARES.items():
        plate = ph.Plate.rectangle(1.0, 1.0, thickness=1e-3, material=THIN, **options)
        found, rough = (lowest(plate.discretise(m), len(known)) for m in (n, n // 2))
        allowed = halved(rough, found, digit, order=order)
        out += compared(f"{name}, λ", known, found, allowed)
    return out


MINDLIN = {0.1: (0.930275, 2.219328, 2.219328, 3.405616), 0.01: (0.0962824, 0.2405748, 0.2405748, 0.3847101)}


def mindlin(fine: bool) -> list[Row]:
    n, out = (24 if fine else 12), []
    material = ph.Material(E=2.6, rho=1.0, nu=0.3)  # G = 1
    for h, known in MINDLIN.items():
        plate = ph.Plate.rectangle(1.0, 1.0, thickness=h, material=material, theory="mindlin", supported="all")
        found, rough = (lowest(plate.discretise(m), 4) for m in (n, n // 2))
        allowed = halved(rough, found, 5e-7 if h == 0.1 else 5e-8, order=4)
        out += compared(f"h/a = {h:g}, ω a √(ρ/G)", known, found, allowed)
    return out


def disc(fine: bool) -> list[Row]:
    """Clamped at its rim: J_n(k) I_n'(k) = I_n(k) J_n'(k), ω = k² √(D/ρh)."""

    def held(nodal: int, k: float) -> float:
        return float(jv(nodal, k) * ivp(nodal, k) - iv(nodal, k) * jvp(nodal, k))

    known = [exact.zeros(partial(held, nodal), 1.0, 0.1, 1)[0] ** 2 for nodal in (0, 1, 1, 2, 2)]
    plate = ph.Plate.disc(1.0, thickness=1e-3, material=THIN, clamped="rim")
    n = 16 if fine else 8
    found, rough = (lowest(plate.discretise(m), 5) for m in (n, n // 2))
    allowed = halved(rough, found)
    return compared("λ", known, found, allowed)


def blade(fine: bool) -> list[Row]:
    """A strip, ν = 0, which turns about an axis across it: it flaps as a beam."""
    h, n, out = 1e-3, (16 if fine else 8), []
    material = ph.Material(E=12.0 / h**2, rho=1.0, nu=0.0)  # EI/ρA = 1
    strip = ph.Plate.rectangle(1.0, 0.05, thickness=h, material=material, frame="left", ports={"root": "left"})

    def flap(m: int, gamma: float) -> np.ndarray:
        body = strip.discretise((m, 1)).reduced(modes=m, stiffened=m)
        system = ph.connect({"b": body}, [ph.Drive("ground", "b.root", of="pose", name="hub")])
        spun = ph.steady_spin(system, axis=(0, 0, 1), rate=gamma)
        return np.asarray(ph.modes(ph.linearise(system, spun))[:2])

    for gamma in (2.0, 4.0, 8.0):
        known = exact.turning(gamma, 0.0, 2)
        found = flap(n, gamma)
        allowed = halved(flap(n // 2, gamma), found, 1e-6)
        out += compared(f"γ = {gamma:g}, flap", known, found, allowed)
    return out


FOURTH = "twice the error foretold by halving the mesh, at order 4, and half a digit of the source"
SECOND = "twice the error foretold by halving the mesh, at order 2, and half a digit of the source"

CASES = (
    Case(
        "square plate",
        "Thin square plates, ν = 0.3: supported, cantilever, clamped, free.",
        "supported: π² (m² + n²); others converged by Ritz's method, up to 1 % below Leissa, J. Sound Vib. 31, 1973",
        "twice the error foretold by halving the mesh, at order 4 (cantilever: 2, by its corners), and half a digit of the source",
        square,
    ),
    Case(
        "thick plate",
        "Supported square plates of Mindlin and Reissner, h/a = 0.1 and 0.01.",
        "closed form of Mindlin's plate on hard supports (Mindlin, Schacknow and Deresiewicz, J. Appl. Mech. 23, 1956), κ = 5/6",
        FOURTH,
        mindlin,
    ),
    Case(
        "disc",
        "A thin disc clamped at its rim.",
        "roots of J_n(k) I_n'(k) = I_n(k) J_n'(k) (Leissa, Vibration of Plates, 1969)",
        SECOND,
        disc,
    ),
    Case(
        "plate as a blade",
        "A narrow plate that turns about an axis through its root.",
        "power series of the rotating beam (Wright and others 1982)",
        SECOND,
        blade,
        long=True,
    ),
)
