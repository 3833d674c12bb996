"""Both causalities converge to one spectrum with order 4, and their pairs of spaces are stable: β does not fall with the mesh."""

from dataclasses import replace

import numpy as np
import pytest
from inf_sup_zoo import continuous_stresses, of_forces, of_moments, of_regular_moments, of_shear, of_velocities, stone

import phloat as ph
from phloat.fem.plate_cells import cells_of

SHEAR = np.sqrt(stone.G / stone.rho)


def sheet(causality, n, **options):
    return ph.Sheet.rectangle(
        1.0, 1.0, cells="triangle", causality=causality, **{"material": stone, "thickness": 0.2, **options}
    ).discretise(n)


@pytest.mark.parametrize("make", [ph.Sheet.rectangle, ph.Solid.box])
def test_standing_shear_waves(make):
    """A box between smooth walls: ω = c_s π √2, with order 4."""
    d = 2 if make == ph.Sheet.rectangle else 3
    options = {"plane": "strain", "cells": "triangle"} if d == 2 else {"cells": "tetrahedron"}
    box = make(*(1.0,) * d, material=stone, symmetric="all", causality="velocity", **options)
    error = [
        abs(box.discretise(n).modes(1)[0][0] / (SHEAR * np.pi * np.sqrt(2.0)) - 1.0)
        for n in ((5, 10) if d == 2 else (1, 2))
    ]
    assert np.log2(error[0] / error[1]) == pytest.approx(4.0, abs=0.3 if d == 2 else 1.0)
    assert error[1] < (1e-4 if d == 2 else 2e-2)


@pytest.mark.parametrize(("options", "exact"), [({"clamped": "all"}, 3.726853), ({}, 2.4326469)])
def test_both_causalities_converge_to_one_spectrum(options, exact):
    """The first elastic frequency of a clamped and of a free square, E = ρ = 1, ν = 0.3 (extrapolated from 32² cells): order 4."""
    metal, error = ph.Material(E=1.0, nu=0.3, rho=1.0), {}
    for causality in ("force", "velocity"):
        for n in (5, 10):
            omega = sheet(causality, n, material=metal, **options).modes(4)[0]
            rigid = 0 if options else 3
            assert (omega[:rigid] == 0.0).all()
            error[causality, n] = omega[rigid] / exact - 1.0
        assert np.log2(error[causality, 5] / error[causality, 10]) == pytest.approx(3.8, abs=0.25)
    assert 0.0 < error["velocity", 10] < error["force", 10] / 2.0 < 1e-4


@pytest.mark.parametrize(("options", "exact"), [({"clamped": "all"}, 35.98519), ({"supported": "all"}, 2.0 * np.pi**2)])
def test_plates_with_velocity_inputs(options, exact):
    """Clamped with order 4 (in units of √(D/ρh)/a²), supported with almost that; both from above."""
    plate = ph.Plate.rectangle(1.0, 1.0, material=stone, thickness=0.01, causality="velocity", **options)
    unit = np.sqrt(stone.E * 0.01**2 / 12.0 / (1.0 - stone.nu**2) / stone.rho)
    error = [plate.discretise(n).modes(1)[0][0] / unit / exact - 1.0 for n in (12, 18)]
    assert np.log(error[0] / error[1]) / np.log(1.5) == pytest.approx(4.0, abs=0.25)
    assert 0.0 < error[1] < 1e-5


def test_a_plate_on_oblique_triangles():
    """The same frequencies of a skewed cantilever from both causalities, from below and from above."""
    mesh = ph.shapes.rectangle(1.0, 1.0, 12, 12)
    x, y, _ = mesh.points.T
    mesh = replace(mesh, points=np.column_stack([x + 0.3 * y, y]))
    omega = [
        ph.Plate(outline=mesh, material=stone, thickness=0.01, clamped="left", causality=causality)
        .discretise()
        .modes(3)[0]
        for causality in ("force", "velocity")
    ]
    assert omega[0] == pytest.approx(omega[1], rel=3e-3)


def test_a_tapered_sheet_is_the_same_in_both_causalities():
    a, b = (
        sheet(c, 10, thickness=lambda x, y: 0.2 - 0.1 * x, clamped="left").modes(4)[0] for c in ("force", "velocity")
    )
    assert a == pytest.approx(b, rel=2e-3)


# --- inf-sup constants -----------------------------------------------------------------------------------------------


def clamped_sheet(n, **options):
    return ph.Sheet.rectangle(1.0, 1.0, material=stone, clamped="all", **options).discretise(n)


def clamped_plate(n, elements, **options):
    return ph.Plate.rectangle(
        1.0, 1.0, material=stone, thickness=0.1, clamped="all", elements=elements, **options
    ).discretise(n)


STABLE = {
    "sheet, forces, triangles": (lambda n: of_forces(clamped_sheet(n, cells="triangle")), 1.0),
    "sheet, forces, quadrilaterals": (lambda n: of_forces(clamped_sheet(n)), 1.0),
    "sheet, velocities": (lambda n: of_velocities(clamped_sheet(n, cells="triangle", causality="velocity")), 0.75),
    "plate, bfs": (lambda n: of_moments(clamped_plate(n, "bfs")), 0.92),
    "plate, argyris": (lambda n: of_moments(clamped_plate(n // 2, "argyris")), 1.0),
    "plate, morley": (lambda n: of_moments(clamped_plate(n, "morley")), 1.0),
    "plate, hhj": (lambda n: of_moments(clamped_plate(n, "hhj")), 0.465),
    "plate, velocities": (lambda n: of_regular_moments(clamped_plate(n, None, causality="velocity")), 1.15),
    "Mindlin's shear": (lambda n: of_shear(cells_of(ph.shapes.rectangle(1.0, 1.0, n, n), "triangle")), 0.459),
}


@pytest.mark.parametrize("name", STABLE)
def test_stable_pairs_stay_stable(name):
    make, beta = STABLE[name]
    coarse, fine = (make(n) for n in (4, 8))
    assert fine == pytest.approx(beta, rel=0.01)
    assert fine > 0.9 * coarse


def test_an_unstable_pair_is_seen():
    """Continuous stresses against velocities of the same degree: β falls with h. Quadratic rotations without bubbles: β = 0."""
    sheets = (
        ph.Sheet.rectangle(1.0, 1.0, material=stone, clamped="all", cells="triangle").discretise(n, order=1)
        for n in (4, 8)
    )
    beta = [continuous_stresses(body) for body in sheets]
    assert np.log2(beta[0] / beta[1]) == pytest.approx(1.0, abs=0.05)
    assert of_shear(cells_of(ph.shapes.rectangle(1.0, 1.0, 4, 4), "triangle"), bubbles=False) < 1e-6
