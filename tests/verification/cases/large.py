"""Beams that bend far: circles, elasticas and a bend that is pushed out of its plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_bvp

import phloat as ph
from verification.case import Case, Row, compared
from verification.estimates import halved
from verification.rods import Rod

UNIT = ph.Material(E=1.0, rho=1.0, nu=0.3)
INEXTENSIBLE = ph.Section(A=1.0, I=1e-8)  # next to


def bent(pieces: int, element: Any, loads: np.ndarray) -> list[np.ndarray]:
    """Tips of a cantilever under loads that grow, in lengths of the beam."""
    beam = ph.Beam(1.0, INEXTENSIBLE, UNIT, frame="pinned").split(pieces).discretise(1)
    system = ph.connect({"b": beam}, [ph.Weld("ground", "b.P"), element], plane="xy")
    state, tips = ph.place(system), []
    for load in loads:
        state = ph.equilibrium(system, state, u={"load": float(load) * INEXTENSIBLE.I})
        tips.append(state.position("b", 1.0))
    return tips


def end_moment(fine: bool) -> list[Row]:
    moment = ph.Torque("b.C", about=(0, 0, 1), name="load")
    steps = np.arange(1, 9) * np.pi / 4
    n = 16 if fine else 8
    found, rough = (bent(m, moment, steps) for m in (n, n // 2))
    out = []
    for k, name in ((1, "quarter"), (3, "half"), (7, "full")):
        angle = steps[k]
        known = np.array([np.sin(angle), 1 - np.cos(angle)]) / angle
        allowed = halved(rough[k], found[k], 1e-9, order=4)
        out += compared([f"{name} circle, {a} of the tip" for a in "xy"], known, found[k], allowed, "L")
    return out


MATTIASSON = {1.0: (0.05643, 0.30172), 2.0: (0.16064, 0.49346), 5.0: (0.38763, 0.71379), 10.0: (0.55500, 0.81061)}


def end_force(fine: bool) -> list[Row]:
    force = ph.Force("b.C", along=(0, 1, 0), name="load")
    n = 16 if fine else 8
    found, rough = (bent(m, force, np.array(list(MATTIASSON))) for m in (n, n // 2))
    out = []
    for (load, known), x, y in zip(MATTIASSON.items(), found, rough, strict=True):
        tip, other = np.array([1 - x[0], x[1]]), np.array([1 - y[0], y[1]])
        allowed = halved(other, tip, 6e-6, order=4)
        out += compared([f"P L²/EI = {load:g}, {a}" for a in ("shortening", "deflection")], known, tip, allowed, "L")
    return out


def heavy_cantilever(fine: bool) -> list[Row]:
    """A horizontal elastica under its own weight w: EI θ'' = w (L − s) cos θ with the slope θ upwards."""
    n, weight = (16 if fine else 8), 20.0

    def ends(m: int) -> np.ndarray:
        beam = ph.Beam(1.0, INEXTENSIBLE, UNIT, frame="pinned").split(m).discretise(1)
        tip = np.zeros(2)
        state: ph.State | None = None
        for part in (0.25, 0.5, 1.0):
            system = ph.connect(
                {"b": beam}, [ph.Weld("ground", "b.P")], plane="xy", gravity=(0, -part * weight * INEXTENSIBLE.I, 0)
            )
            start = ph.place(system) if state is None else ph.State(system.bodies, system.layout, state.e)
            state = ph.equilibrium(system, start)
            tip = state.position("b", 1.0)
        return tip

    s = np.linspace(0, 1, 41)
    curve = solve_bvp(
        lambda s, y: np.array([y[1], weight * (1 - s) * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]),
        lambda a, b: np.array([a[0], b[1], a[2], a[3]]),
        s,
        np.array([-s, 0 * s, s, -s / 2]),
        tol=1e-9,
    )
    known, found = curve.y[2:, -1], ends(n)
    allowed = halved(ends(n // 2), found, 1e-8, order=4)
    return compared(("x of the tip", "y of the tip"), known, found, allowed, "L")


def pushed(n: int) -> np.ndarray:
    """The tip of an eighth of a circle, R = 100, of square section 1 × 1, clamped, pushed out of its plane by 600."""
    material = ph.Material(E=1e7, rho=1.0, nu=0.0)
    angle = np.pi / 4 / n
    chord = 200.0 * np.sin(angle / 2)
    piece = ph.Beam(chord, ph.Section(A=1.0, I=1 / 12, J=1 / 6), material, frame="pinned").discretise(1)
    joints: list[Any] = [ph.Weld("ground", "b1.P", turned=(0, 0, np.pi / 2 - angle / 2))]
    joints += [ph.Weld(f"b{k}.C", f"b{k + 1}.P", turned=(0, 0, -angle)) for k in range(1, n)]
    joints.append(ph.Force(f"b{n}.C", along=(0, 0, 1), name="load"))
    system = ph.connect({f"b{k}": piece for k in range(1, n + 1)}, joints)
    state = ph.place(system)
    for load in (100.0, 200.0, 300.0, 450.0, 600.0):
        state = ph.equilibrium(system, state, u={"load": load})
    return state.position(f"b{n}", 1.0)


def bend(fine: bool) -> list[Row]:
    n, EI = (16 if fine else 8), 1e7 / 12
    x, y, z = Rod(25.0 * np.pi, (EI, EI, EI), 1e-7, (0.0, 0.0, -0.01)).bent(np.array([0.0, 0.0, 600.0]))[0]
    found = pushed(n)
    exact = compared([f"{a} of the tip" for a in "xyz"], (-y, x, z), found, halved(pushed(n // 2), found))
    return exact + compared([f"{a}, published" for a in "xyz"], (15.79, 47.23, 53.37), found, 0.3)


HALVED = (
    "twice the error foretold by halving the number of pieces, at order 4, half a digit of the source, 1e-6 of stretch"
)

CASES = (
    Case(
        "end moment",
        "A cantilever rolled up by a moment at its end.",
        "a circle of radius EI/M",
        HALVED,
        end_moment,
        long=True,
    ),
    Case(
        "end force",
        "A cantilever bent far by a dead force at its tip.",
        "Mattiasson, Int. J. Numer. Meth. Engng 17, 1981: elliptic integrals of the elastica",
        HALVED,
        end_force,
        long=True,
    ),
    Case(
        "heavy cantilever",
        "A cantilever that hangs down under twenty times EI/L³ of its own weight per length.",
        "EI θ'' = w (L − s) cos θ, solved by collocation at 1e-9 (Rohde, Quart. Appl. Math. 11, 1953)",
        HALVED,
        heavy_cantilever,
        long=True,
    ),
    Case(
        "bend",
        "A cantilever curved by 45°, bent and twisted out of its plane.",
        "Kirchhoff's rod by shooting at 1e-11; Bathe and Bolourchi, 1979; Simo and Vu-Quoc, Comput. Meth. Appl. Mech. Engng "
        "58, 1986: (15.79, 47.23, 53.37)",
        "twice the error foretold by halving the number of pieces, at order 2; published answers, of few elements, lie 0.3 apart",
        bend,
        long=True,
    ),
)
