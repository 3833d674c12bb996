"""Gradients of frequencies and transfer functions that are known in closed form."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from bodies_zoo import beam

import phloat as ph


def cantilever(elements: int = 6, plane: str | None = "xy", **options) -> ph.System:
    return ph.connect({"b": beam(**options).discretise(elements)}, [ph.Weld("ground", "b.P")], plane=plane)


def oscillator(p: dict[str, float]) -> ph.LinearPHDAE:
    """m v̇ = −c v − σ + u,  σ̇/k = v."""
    return ph.LinearPHDAE(
        E=np.diag([p["m"], 1 / p["k"]]),
        J=np.array([[0.0, -1.0], [1.0, 0.0]]),
        R=np.diag([p.get("c", 0.0), 0.0]),
        B=sp.csr_array(np.array([[1.0], [0.0]])),
        rows=ph.Layout({"v": (1,), "sigma": (1,)}, "row"),
        ports=ph.Layout({"push": (1,)}, "port"),
        split=1,
    )


# --- frequencies ------------------------------------------------------------------------------------------------------


def test_a_mass_on_a_spring():
    found = ph.frequency_gradients(oscillator, {"m": 2.0, "k": 50.0})
    np.testing.assert_allclose(found.omega, [5.0], rtol=1e-14)
    np.testing.assert_allclose(found["k"], [0.05], rtol=1e-10)  # 1 / 2√(km)
    np.testing.assert_allclose(found["m"], [-1.25], rtol=1e-10)  # −ω / 2m


@pytest.mark.parametrize("spaces", ["local", "paper"])
def test_bending_frequencies_go_with_the_root_of_stiffness_over_density_thickness_and_length(spaces):
    """ω ~ √(E/ρ) h / L² of Euler and Bernoulli's cantilever."""
    names = ["b.material.E", "b.material.rho", "b.section.h", "b.section.b", "b.length"]
    found = ph.frequency_gradients(cantilever(spaces=spaces), names, count=4)
    assert found.rigid == 0 and found.names == tuple(names)
    exact = np.array([0.5, -0.5, 1.0, 0.0, -2.0])
    np.testing.assert_allclose(found.relative[:, :4], np.tile(exact[:4], (4, 1)), atol=1e-11)
    np.testing.assert_allclose(found.relative[:, 4], -2.0, atol=1e-8)
    np.testing.assert_allclose(found["b.length"], -2 * found.omega / 1.3, rtol=1e-8)


def test_rigid_modes_are_left_out():
    free = ph.connect({"b": beam().discretise(3)}, [], plane="xy")
    found = ph.frequency_gradients(free, "b.material.E", count=2)
    assert found.rigid == 3 and (found.omega > 0).all()
    np.testing.assert_allclose(found.relative, 0.5, atol=1e-10)


def test_one_side_of_a_square_section_parts_the_two_bendings():
    """ω along a side goes with that side; both sides together move both."""
    square = cantilever(4, None, section=ph.Rectangle(0.03, 0.03))
    both = ("b.section.h", "b.section.b")
    found = ph.frequency_gradients(square, [*both, both], count=3)
    assert found.repeated[0] == (0, 1) and found.repeated[1] == (2, 3)
    np.testing.assert_allclose(found.relative[:2], [[0, 0, 1], [1, 1, 1]], atol=1e-10)
    np.testing.assert_allclose(found.relative[2], [0, 0, 1], atol=1e-10)


def test_the_tip_mass_of_a_rayleigh_beam_is_felt_as_differences_have_it():
    system = cantilever(4, theory="rayleigh", masses={1.0: 2.0})

    def lowest(mass: float) -> np.ndarray:
        new = ph.with_parameters(system, {"b.masses[1]": mass})
        return ph.modes(ph.linearise(new, ph.place(new))).elastic[:3]

    h = 2e-3
    rate = (8 * (lowest(2 + h) - lowest(2 - h)) - (lowest(2 + 2 * h) - lowest(2 - 2 * h))) / (12 * h)
    np.testing.assert_allclose(ph.frequency_gradients(system, "b.masses[1]", count=3)["b.masses[1]"], rate, rtol=1e-6)


def plate(cells: tuple[int, int]):
    def made(p: dict[str, float]) -> ph.LinearPHDAE:
        material = ph.Material(E=p["E"], rho=2700.0, nu=0.3)
        return ph.Plate.rectangle(1.0, 0.7, thickness=p["h"], material=material).discretise(cells).linear()

    return made


@pytest.mark.parametrize("cells", [(17, 13), pytest.param((24, 20), marks=pytest.mark.long)])
def test_thickness_and_stiffness_of_large_sparse_plates(cells):
    """ω ~ h √E of a thin plate."""
    assert plate(cells)({"E": 7e10, "h": 0.01}).split > 800  # beyond what is done densely
    found = ph.frequency_gradients(plate(cells), {"h": 0.01, "E": 7e10}, count=3)
    assert found.rigid == 3
    np.testing.assert_allclose(found.relative, np.tile([1.0, 0.5], (3, 1)), atol=1e-9)


# --- transfer functions -----------------------------------------------------------------------------------------------


def test_the_mobility_of_a_damped_oscillator():
    """H = s / (m s² + c s + k)."""
    m, c, k, s = 2.0, 0.7, 50.0, np.array([0.3j, 4.9j, -0.2 + 7j, 30.0])
    found = ph.transfer_gradients(oscillator, {"m": m, "c": c, "k": k}, "push", s=s)
    N = m * s**2 + c * s + k
    np.testing.assert_allclose(found.values[:, 0, 0], s / N, rtol=1e-12)
    for name, exact in {"m": -(s**3) / N**2, "c": -(s**2) / N**2, "k": -s / N**2}.items():
        np.testing.assert_allclose(found[name][:, 0, 0], exact, rtol=1e-9)


def test_inputs_that_stretch_the_spring():
    """σ̇ = k (v + w): the stress by w is k (m s + c)/N, the velocity by w and the stress by u are −k/N and k/N."""
    m, c, k, s = 2.0, 0.7, 50.0, 4.0j

    def stretched(p: dict[str, float]) -> ph.LinearPHDAE:
        ports = ph.Layout({"push": (1,), "stretch": (1,)}, "port")
        return replace(oscillator({"m": m, "c": c, **p}), B=np.eye(2), B_lam=np.zeros((0, 2)), ports=ports)

    found = ph.transfer_gradients(stretched, {"k": k}, ["push", "stretch"], s=s)
    N, free = m * s**2 + c * s + k, m * s + c
    np.testing.assert_allclose(found.values[0], np.array([[s, -k], [k, k * free]]) / N, rtol=1e-12)
    exact = np.array([[-s, -(N - k)], [N - k, free * (N - k)]]) / N**2
    np.testing.assert_allclose(found["k"][0], exact, rtol=1e-9)


def test_a_damping_of_zero_is_stepped_to_one_side():
    m, k, s = 2.0, 50.0, 3.0j
    found = ph.transfer_gradients(oscillator, {"m": m, "c": 0.0, "k": k}, "push", s=s)
    np.testing.assert_allclose(found["c"][0, 0, 0], -(s**2) / (m * s**2 + k) ** 2, rtol=1e-9)


def test_a_mass_that_a_spring_holds_between_joints():
    """The stiffness of springs stands in a block of its own, found anew for every system."""
    joints = [
        ph.Slide("ground", "cart.P", along=(1, 0, 0)),
        ph.Spring("cart.P", "ground", stiffness=50.0, length=0.5, name="spring"),
    ]
    system = ph.connect({"cart": ph.PointMass(2.0).discretise()}, joints, plane="xy")
    state = ph.place(system, {"cart.r_P": (0.5, 0.0)})
    found = ph.frequency_gradients(system, ["spring.stiffness", "cart.mass"], state=state)
    np.testing.assert_allclose(found.omega, [5.0], rtol=1e-9)
    np.testing.assert_allclose(found.gradient, [[0.05, -1.25]], rtol=1e-7)
    moved = ph.transfer_gradients(system, ["spring.stiffness", "cart.mass"], "cart.P[0]", s=3j, state=state)
    N = 2.0 * (3j) ** 2 + 50.0
    np.testing.assert_allclose(moved.gradient.ravel(), [-3j / N**2, -((3j) ** 3) / N**2], rtol=1e-7)


def test_the_static_compliance_of_a_cantilever():
    """L³/3EI at its tip, as H(s)/s for small s."""
    L, h, b, E, s = 1.3, 0.05, 0.02, 2.1e11, 1e-3
    system = cantilever(4, section=ph.Rectangle(b, h))
    numbers = ph.parameters(system)
    assert (numbers["b.length"], numbers["b.material.E"]) == (L, E)
    found = ph.transfer_gradients(system, ["b.material.E", "b.length", "b.section.h"], "b.C[1]", s=s)
    compliance = L**3 / (3 * E * b * h**3 / 12)
    np.testing.assert_allclose(found.values.ravel() / s, compliance, rtol=1e-9)
    np.testing.assert_allclose(found["b.material.E"].ravel() / s, -compliance / E, rtol=1e-8)
    np.testing.assert_allclose(found["b.length"].ravel() / s, 3 * compliance / L, rtol=1e-8)
    np.testing.assert_allclose(found["b.section.h"].ravel() / s, -3 * compliance / h, rtol=1e-8)
