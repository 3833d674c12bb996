"""Ties of meshes that do not match keep the order of the elements."""

import numpy as np
import pytest
from ties_zoo import soft

import phloat as ph


def sliding_sheets(k: int, order: int) -> np.ndarray:
    """1.6 × 1 between smooth walls, cut at x = 1, with 2k cells on one side of the cut and 3k on the other."""
    first = ph.Sheet.rectangle(1.0, 1.0, material=soft, symmetric=("left", "bottom", "top"))
    second = ph.Sheet.rectangle(0.6, 1.0, material=soft, symmetric=("right", "bottom", "top"))
    bodies = {"a": first.discretise((2 * k, 2 * k), order=order), "b": second.discretise((2 * k, 3 * k), order=order)}
    return ph.modes(ph.tie(bodies, [ph.Tie("a.right", "b.left")]), 8).omega


@pytest.mark.parametrize(("order", "rate"), [(1, 2.0), (2, 4.0)])
def test_sheets_between_smooth_walls(order, rate):
    """u = ∇(cos cos) or its turn: ω = c π √(m²/a² + n²), with the speed of pressure or of shear waves."""
    shear, pressure = np.sqrt(1 / (2 * (1 + soft.nu))), np.sqrt(1 / (1 - soft.nu**2))
    waves = [shear * np.pi * np.hypot(m / 1.6, n) for m in range(1, 6) for n in range(1, 6)]
    waves += [pressure * np.pi * np.hypot(m / 1.6, n) for m in range(6) for n in range(6) if m or n]
    known = np.sort(waves)[:4]
    errors = np.array([sliding_sheets(k, order)[:4] / known - 1 for k in (2, 4)])
    assert (errors > 0).all()
    np.testing.assert_allclose(np.log2(errors[0] / errors[1]), rate, atol=0.2)


def test_supported_plates():
    """w and slope tied across a cut of a simply supported plate 1.6 × 1; conforming cubic elements: order 4."""
    unit = ph.Material(E=12 * (1 - 0.09), nu=0.3, rho=1.0)
    known = np.sort([np.pi**2 * (m**2 / 1.6**2 + n**2) for m in range(1, 5) for n in range(1, 4)])[:3]
    errors = []
    for k in (2, 3):
        first = ph.Plate.rectangle(1.0, 1.0, thickness=1.0, material=unit, supported=("left", "bottom", "top"))
        second = ph.Plate.rectangle(0.6, 1.0, thickness=1.0, material=unit, supported=("right", "bottom", "top"))
        bodies = {"a": first.discretise((2 * k, 2 * k)), "b": second.discretise((2 * k, 3 * k))}
        omega = ph.modes(ph.tie(bodies, [ph.Tie("a.right", "b.left")]), 4).omega[:3]
        errors.append(omega / known - 1)
    np.testing.assert_allclose(np.log(errors[0] / errors[1]) / np.log(1.5), 4.0, atol=0.2)
    assert np.abs(errors[1]).max() < 1e-3
