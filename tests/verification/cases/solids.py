"""Solids and sheets: elasticity in three and two dimensions."""

from __future__ import annotations

import numpy as np

import phloat as ph
from verification.case import Case, Row, compared
from verification.cases.plates import lowest
from verification.estimates import halved

UNIT = ph.Material(E=1.0, nu=0.3, rho=1.0)


def box(fine: bool) -> list[Row]:
    """Free, 1 × 0.2 × 0.1."""
    solid = ph.Solid.box(1.0, 0.2, 0.1, material=UNIT)
    meshes = ((10, 4, 2), (20, 8, 4)) if fine else ((5, 2, 1), (10, 4, 2))
    rough, found = (lowest(solid.discretise(n), 4) for n in meshes)
    known = (0.62462, 1.14519, 1.4451, 1.6293)
    allowed = halved(rough, found, 5e-5, order=4)
    return compared("ω", known, found, allowed)


def lame(fine: bool) -> list[Row]:
    """Free squares and cubes have modes of pure shear, ω a/c_T = π √2 whatever ν is."""
    known = np.pi * np.sqrt(2 * UNIT.E / (2 * (1 + UNIT.nu)) / UNIT.rho)

    def nearest(body: ph.Continuum) -> float:
        omega = np.asarray(body.modes(16)[0])
        return float(omega[np.abs(omega - known).argmin()])

    n = 16 if fine else 8
    out = []
    for name, sheet in {
        f"square, plane {plane}": ph.Sheet.rectangle(1.0, 1.0, material=UNIT, plane=plane)
        for plane in ("stress", "strain")
    }.items():
        found, rough = nearest(sheet.discretise(n)), nearest(sheet.discretise(n // 2))
        out.append(Row(name, known, found, halved(rough, found, order=4)))
    cube = ph.Solid.box(1.0, 1.0, 1.0, material=UNIT)
    m = 4 if fine else 2
    found, rough = nearest(cube.discretise((2 * m,) * 3)), nearest(cube.discretise((m,) * 3))
    return [*out, Row("cube", known, found, halved(rough, found, order=4))]


def clamped_bar(fine: bool) -> list[Row]:
    """A bar held along x at its ends and free to contract, ν = 0: c = √(E/ρ), ω = kπ c/L."""
    n = 12 if fine else 6
    stiff = ph.Material(E=1.0, nu=0.0, rho=1.0)
    sheet = ph.Sheet.rectangle(1.0, 0.1, material=stiff, held={"left": "x", "right": "x"}, symmetric="bottom")
    omega = np.asarray(sheet.discretise((n, 1)).modes(12)[0])
    out = []
    for k in (1, 2):
        known = k * np.pi
        found = float(omega[np.abs(omega - known).argmin()])
        # quadratic cells: (kh)⁴/1440 of ω, twice
        out.append(Row(f"ω {k}", known, found, known * (2 * (known / n) ** 4 / 1440 + 1e-8)))
    return out


HALVED = "twice the error foretold by halving the mesh, at order 4 of quadratic cells, and half a digit of the source"

CASES = (
    Case(
        "free box",
        "A free box 1 × 0.2 × 0.1 of three-dimensional elasticity, ν = 0.3.",
        "converged by an independent method (ω with E = ρ = 1)",
        HALVED,
        box,
    ),
    Case(
        "shear modes",
        "Modes of pure shear of free squares and cubes.",
        "Lamé's equivoluminal modes, ω = π √2 c_T/a whatever ν is (Lamé, 1852)",
        HALVED,
        lame,
    ),
    Case(
        "waves in a sheet",
        "Waves along a sheet that does not contract.",
        "ω = kπ √(E/ρ)/L",
        "error of quadratic cells, (kh)⁴/1440 of ω, twice",
        clamped_bar,
    ),
)
