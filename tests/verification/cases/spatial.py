"""Beams that bend and twist far, at rest and in motion, and one that tilts out of its plane."""

from __future__ import annotations

from typing import Any

import numpy as np

import phloat as ph
from verification.case import Case, Row, compared
from verification.estimates import halved
from verification.rods import Rod


def rod(length: float, section: ph.Section, material: ph.Material) -> Rod:
    """The same beam for the shooting method."""
    E, I_y, J = material.E, section.I_y or section.I, section.J or 0.0
    return Rod(length, (material.G * J, E * I_y, E * section.I), 1.0 / (E * section.A))


def cantilever(length: float, section: ph.Section, material: ph.Material, pieces: int, *joints: Any) -> ph.System:
    """Along x, with a rigid tip that shows how its section stands."""
    beam = ph.Beam(length, section, material).split(pieces).discretise(2)
    tip = ph.RigidBody(1e-6, 1e-9 * np.eye(3)).discretise()
    return ph.connect({"b": beam, "tip": tip}, [ph.Weld("ground", "b.P"), ph.Weld("b.C", "tip.P"), *joints])


# --- the Princeton beam ----------------------------------------------------------------------------------------------

PRINCETON = (0.508, ph.Rectangle(b=3.2024e-3, h=12.3777e-3), ph.Material(E=71.7e9, rho=2810.0, nu=0.31))
LOADS = (4.448, 8.896, 13.345)  # N
ANSYS = {  # angle of the load: deflections along y and z under 8.896 N and 13.345 N, of its beams
    30: ((1.011169630e-2, 7.939482948e-2), (1.665873206e-2, 0.117735994)),
    60: ((6.604665004e-3, 0.129887616), (1.157837500e-2, 0.181861627)),
}
APART = ((1.16e-4, 1.85e-4), (3.63e-4, 3.04e-4))  # m, at most, ANSYS and Exudyn, 0° to 90°


def deflected(pieces: int, load: float, degrees: float) -> np.ndarray:
    """u_y, u_z of the tip in m, and its twist in degrees."""
    length, section, material = PRINCETON
    pull = [ph.Force("b.C", along=along, name=name) for name, along in (("y", (0, 1, 0)), ("z", (0, 0, 1)))]
    system = cantilever(length, section, material, pieces, *pull)
    angle = np.deg2rad(degrees)
    u = {"y": load * np.cos(angle), "z": load * np.sin(angle)}
    state = ph.equilibrium(system, ph.place(system), u=u)
    at = state.position("tip", at=(0, 0, 0))
    side = state.position("tip", at=(0, 1, 0)) - at
    return np.array([at[1], at[2], np.rad2deg(np.arctan2(side[2], side[1]))])


def princeton(fine: bool) -> list[Row]:
    n, out, found = (16 if fine else 8), [], {}
    for load, degrees in [(LOADS[0], 45), (LOADS[1], 30), (LOADS[1], 60), *((LOADS[2], a) for a in (0, 30, 60, 90))]:
        angle = np.deg2rad(degrees)
        tip, R = rod(*PRINCETON).bent(load * np.array([0.0, np.cos(angle), np.sin(angle)]))
        known = np.array([tip[1], tip[2], np.rad2deg(np.arctan2(R[2, 1], R[1, 1]))])
        here, rough = (deflected(m, load, degrees) for m in (n, n // 2))
        found[load, degrees] = here
        allowed = halved(rough, here, (1e-8, 1e-8, 1e-4))
        for k, (what, unit) in enumerate((("u_y", "m"), ("u_z", "m"), ("twist", "°"))):
            if abs(known[k]) > 1e-12:
                out.append(Row(f"{load} N at {degrees}°, {what}", known[k], here[k], allowed[k], unit))
    for degrees, tips in ANSYS.items():
        for load, published, apart in zip(LOADS[1:], tips, APART, strict=True):
            names = [f"{load} N at {degrees}°, {what} of ANSYS" for what in ("u_y", "u_z")]
            out += compared(names, published, found[load, degrees][:2], apart, "m")
    return out


# --- a strip on edge -------------------------------------------------------------------------------------------------


def tilting(pieces: int, section: ph.Section, material: ph.Material, unit: float, loads: np.ndarray) -> float:
    """The load at which the lowest ω² is zero, from its values at smaller ones."""
    system = cantilever(1.0, section, material, pieces, ph.Force("b.C", along=(0, -1, 0), name="load"))
    state, squares = ph.place(system), []
    for load in loads:
        u = {"load": load * unit}
        state = ph.equilibrium(system, state, u=u)
        squares.append(float(ph.modes(ph.linearise(system, state, u=u)).elastic[0] ** 2))
    return float(np.polynomial.Polynomial.fit(squares, loads, 3)(0.0))


def strip_on_edge(fine: bool) -> list[Row]:
    n, material, out = (16 if fine else 8), ph.Material(E=73e9, rho=2700.0, nu=0.3), []
    for height in (0.1, 0.2):
        section = ph.Rectangle(b=0.01, h=height)
        strip = rod(1.0, section, material)
        unit = float(np.sqrt(strip.bends[0] * strip.bends[1]))
        known = strip.tilts_at(3.9 * unit, 4.3 * unit) / unit
        found, rough = (
            tilting(m, section, material, unit, known - np.array([0.4, 0.3, 0.2, 0.1])) for m in (n, n // 2)
        )
        out += compared([f"b/h = 1/{height / 0.01:.0f}, P L²/√(EI_y GJ)"], [known], [found], halved([rough], [found]))
    return out


# --- two legs at a right angle ---------------------------------------------------------------------------------------

ELBOW = {"tip, largest": (8.25, 7.44), "tip, smallest": (-9.73, 15.87), "elbow, smallest": (-4.06, 10.87)}


def elbow(n: int) -> ph.System:
    """Legs of length 10 in n pieces each, with ρI of diag(20, 10, 10), far more than their section has, as discs between pieces."""
    material = ph.Material(E=1e6, rho=1.0, nu=0.0)
    piece = ph.Beam(10.0 / n, ph.Section(A=1.0, I=1e-3, J=2e-3), material, frame="chord").discretise(2)
    whole, half = (
        ph.RigidBody(1e-6, 10.0 / n * part * np.diag([20.0, 10.0, 10.0])).discretise() for part in (1.0, 0.5)
    )
    bodies: dict[str, Any] = {"corner": half}
    joints: list[Any] = [
        ph.Weld("ground", "a1.P", turned=(0, 0, np.pi / 2)),
        ph.Weld(f"a{n}.C", "b1.P", turned=(0, 0, -np.pi / 2)),
        ph.Weld("b1.P", "corner.P"),
        ph.Force(f"a{n}.C", along=(0, 0, 1), name="push"),
    ]
    for leg in "ab":
        for k in range(1, n + 1):
            bodies |= {f"{leg}{k}": piece, f"disc {leg}{k}": whole if k < n else half}
            joints.append(ph.Weld(f"{leg}{k}.C", f"disc {leg}{k}.P"))
            joints += [ph.Weld(f"{leg}{k}.C", f"{leg}{k + 1}.P")] if k < n else []
    return ph.connect(bodies, joints)


def swung(n: int, dt: float) -> np.ndarray:
    """Extremes out of the plane and their times, as in ELBOW."""
    system, push = elbow(n), ph.piecewise({0.0: 0.0, 1.0: 50.0, 2.0: 0.0})
    run = ph.simulate(system, ph.place(system), t_end=20.0, dt=dt, u={"push": push})
    tip, corner = run.position(f"b{n}", s=1.0)[:, 2], run.position(f"a{n}", s=1.0)[:, 2]
    return np.concatenate([peak(run.t, tip), peak(run.t, -tip) * (-1, 1), peak(run.t, -corner) * (-1, 1)])


def peak(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The largest value and its time, by the parabola through the three largest neighbours."""
    k = int(np.argmax(x[1:-1])) + 1
    slope, bend = (x[k + 1] - x[k - 1]) / 2, x[k + 1] - 2 * x[k] + x[k - 1]
    return np.array([x[k] - slope**2 / (2 * bend), t[k] - slope / bend * (t[1] - t[0])])


def right_angle(fine: bool) -> list[Row]:
    n, dt = (40, 0.0125) if fine else (20, 0.025)
    found, rough = swung(n, dt), swung(n // 2, 2 * dt)
    names = [f"{name}{what}" for name in ELBOW for what in ("", ", its time")]
    return compared(names, np.concatenate(list(ELBOW.values())), found, halved(rough, found, 5e-3))


CASES = (
    Case(
        "princeton beam",
        "A slender cantilever under a load at its tip, at every angle to its section: the Princeton beam of the IFToMM library.",
        "Kirchhoff's rod by shooting at 1e-11; ANSYS: Obrezkov, Matikainen and Mikkola, Nonlinear Dynamics 109, 2022, as kept in "
        "Exudyn's test ANCFBeamTest; the experiment: Dowell and Traybar, Princeton AMS report 1194, 1975",
        "twice the error foretold by halving the number of pieces, at order 2; of ANSYS, how far it and Exudyn lie apart at most",
        princeton,
        long=True,
    ),
    Case(
        "strip on edge",
        "A thin cantilever under a load at its tip, along its height, until it tilts sideways.",
        "Kirchhoff's rod by shooting, bent in its plane before it tilts; 4.0126 where it cannot bend there (Prandtl and Michell, "
        "1899; Timoshenko and Gere, Theory of Elastic Stability, 1961, § 6.3)",
        "twice the error foretold by halving the number of pieces, at order 2",
        strip_on_edge,
        long=True,
    ),
    Case(
        "right-angle cantilever",
        "Two legs at a right angle, pushed out of their plane and let go: swings as large as the legs are long.",
        "Simo and Vu-Quoc, Comput. Meth. Appl. Mech. Engng 66, 1988 (curves); numbers of Exudyn's geometrically exact beams, 40 a "
        "leg, in its test geometricallyExactBeamElbowCantilever",
        "twice the error foretold by halving the number of pieces and the step, at order 2, and half a digit of the source",
        right_angle,
    ),
)
