"""Free vibration benchmarks of NAFEMS. All of steel with E = 200 GPa, ν = 0.3, ρ = 8000 kg/m³; frequencies in Hz."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import phloat as ph
from verification import exact
from verification.case import Case, Row, compared, relative, row
from verification.cases.plates import lowest
from verification.estimates import cubic, halved

STEEL = ph.Material(E=200e9, rho=8000.0, nu=0.3)
HERTZ = 1 / (2 * np.pi)


def hertz(system: ph.System) -> np.ndarray:
    return np.asarray(ph.modes(ph.linearise(system, ph.place(system))).elastic) * HERTZ


def double_cross(fine: bool) -> list[Row]:
    """FV2: eight arms of 5 m in a star, welded at the middle, hinged at their ends; in their plane."""
    n = 16 if fine else 8
    arm = ph.Beam(5.0, ph.Rectangle(0.125, 0.125), STEEL).discretise(n)
    angles = np.arange(8) * np.pi / 4
    joints: list[Any] = [ph.Weld("a0.P", f"a{k}.P", turned=(0, 0, angles[k])) for k in range(1, 8)]
    joints += [
        ph.Revolute("ground", f"a{k}.C", at=(5 * np.cos(angle), 5 * np.sin(angle), 0)) for k, angle in enumerate(angles)
    ]
    system = ph.connect({f"a{k}": arm for k in range(8)}, joints, plane="xy")
    near = {f"a{k}.theta": angles[k] for k in range(8)}
    found = np.asarray(ph.modes(ph.linearise(system, ph.place(system, near))).elastic) * HERTZ
    unit = np.sqrt(STEEL.E * 0.125**2 / 12 / STEEL.rho) / 25 * HERTZ
    sway = exact.roots(_swaying, exact.pinned, 2)
    waves = {"mode 1": np.pi, "modes 4 to 8": 3.9266, "mode 9": 2 * np.pi, "modes 12 to 16": 7.0686}
    target = (11.336, 17.709, 45.345, 57.390)
    out = [
        row(name, known, found[k], cubic(beta, n) + 5e-5, "Hz")
        for (name, beta), known, k in zip(waves.items(), target, (0, 5, 8, 13), strict=True)
    ]
    for name, beta, k in (
        ("modes 2, 3, arms that stretch", sway[0], 1),
        ("modes 10, 11, arms that stretch", sway[1], 9),
    ):
        out.append(row(name, unit * beta**2, found[k], 2 * cubic(beta, n), "Hz"))
    return out


def _swaying(beta: float) -> tuple[tuple[float, float, float, float], ...]:
    """The middle moves, which stretches arms as much as it bends others: EA κ cot κL w + EI w‴ = 0."""
    slender = 0.125 / np.sqrt(12) / 5  # √(I/A)/L
    wave = beta**2 * slender  # κL
    return (0, 1, 0, 0), (wave * np.cos(wave) / slender**2, 0, 0, np.sin(wave))


def off_centre(fine: bool) -> list[Row]:
    """FV4: 10 m of round bar, 0.5 m thick; at its tip 10 t, 2 m to one side, and 1 t, 2 m to the other."""
    heavy, light, arm = 1e4, 1e3, 2.0
    center = arm * (heavy - light) / (heavy + light)
    J = heavy * light / (heavy + light) * (2 * arm) ** 2
    masses = ph.RigidBody(heavy + light, np.diag([J, 1e-3, J]), center=(0, center, 0)).discretise()
    bar = ph.Beam(10.0, ph.Circle(0.5), STEEL).discretise(16 if fine else 8)
    system = ph.connect({"bar": bar, "masses": masses}, [ph.Weld("ground", "bar.P"), ph.Weld("bar.C", "masses.P")])
    known = (1.723, 1.727, 7.413, 9.972, 18.155, 26.957)
    return relative("mode", known, hertz(system)[:6], 5e-3, "Hz")


def deep_beam(fine: bool) -> list[Row]:
    """FV5: 10 m of 2 m × 2 m, simply supported, free to stretch and held against turning at one end."""
    section = ph.Section(A=4.0, I=4 / 3, J=0.140577 * 16, kappa=10 * 1.3 / (12 + 11 * 0.3))  # Cowper, Saint-Venant
    beam = ph.Beam(10.0, section, STEEL, theory="timoshenko")

    def run(n: int) -> np.ndarray:
        joints = [
            ph.Universal("ground", "b.P", axis=(0, 0, 1), turned=(0, 0, np.pi / 2)),  # not about its own axis
            ph.Slide("ground", "b.C", along=(0, 1, 0)),
        ]
        return hertz(ph.connect({"b": beam.discretise(n)}, joints))[[0, 2, 3, 4, 6, 7]]

    n = 32 if fine else 16
    found = run(n)
    known = {
        "bending 1": 42.650,
        "torsion 1": 71.20,
        "axial 1": 125.00,
        "bending 2": 148.15,
        "torsion 2": 213.61,
        "bending 3": 283.47,
    }
    allowed = halved(run(n // 2), found, 5e-4 * found)
    return compared(known, list(known.values()), found, allowed, "Hz")


def thin_plates(fine: bool) -> list[Row]:
    """FV12 and FV16: 10 m × 10 m, 50 mm thick, free and clamped at one side."""
    n, out = (20 if fine else 10), []
    known: dict[str, tuple[dict[str, Any], tuple[float, ...], float]] = {
        "FV12, free": ({}, (1.622, 2.360, 2.922, 4.190, 4.190, 7.356), 5e-4),
        "FV16, clamped at a side": ({"clamped": "left"}, (0.421, 1.029, 2.582, 3.306, 3.753, 6.555), 1e-2),
    }
    for name, (options, target, near) in known.items():
        plate = ph.Plate.rectangle(10.0, 10.0, thickness=0.05, material=STEEL, **options)
        found, rough = (lowest(plate.discretise(m), 6) * HERTZ for m in (n, n // 2))
        out += compared(f"{name},", target, found, halved(rough, found, near * found), "Hz")
    return out


def tapered_membrane(fine: bool) -> list[Row]:
    """FV32: in its plane; 10 m long, 5 m wide where it is clamped, 1 m at its end."""

    def run(n: int) -> np.ndarray:
        flat = ph.shapes.rectangle(10.0, 5.0, 2 * n, n, kind="quadrilateral")
        x, y = flat.points[:, 0], flat.points[:, 1]
        tapered = replace(flat, points=np.stack([x, (y - 2.5) * (1 - 0.08 * x)], axis=1))
        return lowest(ph.Sheet(tapered, STEEL, thickness=0.05, clamped="left").discretise(), 6) * HERTZ

    n = 16 if fine else 8
    found = run(n)
    known = (44.623, 130.03, 162.70, 246.05, 379.90, 391.44)
    return compared("mode", known, found, halved(run(n // 2), found, 5e-4 * found), "Hz")


SOURCE = "NAFEMS, Selected Benchmarks for Natural Frequency Analysis (Abbassian, Dawswell and Knowles), 1987"

CASES = (
    Case(
        "nafems fv2",
        "Pin-ended double cross, in its plane: eight arms, frequencies that repeat.",
        f"{SOURCE}, test 2; modes that sway, where arms stretch (its target neglects that), by exact dynamic stiffness",
        "error of cubic elements, (kh)⁴/1440 of ω, twice, and half a digit of the source",
        double_cross,
    ),
    Case(
        "nafems fv4",
        "Cantilever with masses off its axis: bending and torsion coupled, close frequencies.",
        f"{SOURCE}, test 4",
        "0.5 %: the target has no shear, published finite elements lie within 0.8 %",
        off_centre,
    ),
    Case(
        "nafems fv5",
        "Deep simply supported beam with shear and rotary inertia.",
        f"{SOURCE}, test 5",
        "twice the error foretold by halving the mesh, at order 2, and 0.05 % for shear factor and torsion constant of the target",
        deep_beam,
    ),
    Case(
        "nafems fv12 and fv16",
        "Thin square plates, free and clamped at one side.",
        f"{SOURCE}, tests 12 and 16",
        "twice the error foretold by halving the mesh, at order 2, 0.05 %; FV16 1 %: its target is Young's of 1950, 0.7 % high",
        thin_plates,
    ),
    Case(
        "nafems fv32",
        "Tapered membrane clamped at its wide side, in its plane.",
        f"{SOURCE}, test 32",
        "twice the error foretold by halving the mesh, at order 2, and 0.05 %",
        tapered_membrane,
    ),
)
