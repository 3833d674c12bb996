"""What holds for every lossless or passive system over frequency, however it is computed."""

from itertools import pairwise

import numpy as np
import pytest

import phloat as ph
from phloat.linear.analysis.participation import effective_masses, participation, ports_report
from phloat.linear.analysis.poles_zeros import poles, poles_zeros, zeros
from phloat.linear.analysis.response import transmission
from phloat.linear.analysis.transfer import FEW, FrequencySweep, Pencil, schur_values, values_one_by_one

ALU = ph.Material(E=7.1e10, rho=2700.0, nu=0.33)
BOTH = ["shoulder", "elbow"]


def arm(damping: float = 0.0, elements: int = 4, *driven: str) -> ph.LinearPHDAE:
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), ALU, damping=ph.KelvinVoigt(damping)).discretise(elements)
    system = ph.connect(
        {"upper": link, "lower": link},
        plane="xy",
        joints=[ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")],
    )
    system = ph.drive(system, *driven) if driven else system
    return ph.linearise(system, ph.place(system, {"upper.theta": 0.3, "lower.theta": 0.9}))


def off(found: np.ndarray, exact: np.ndarray) -> float:
    return float((np.abs(found - exact) / np.abs(exact).max(axis=(1, 2), keepdims=True)).max())


@pytest.mark.parametrize("damping", [0.0, 1e-4])
@pytest.mark.parametrize("driven", [(), ("shoulder",)], ids=["free", "driven"])
def test_a_triangle_answers_as_single_solutions_do(damping, driven):
    plant = arm(damping, 4, *driven)
    s = 1j * np.geomspace(0.1, 1e4, 80)
    into = plant.ports.indices(BOTH)
    pencil = Pencil.with_multipliers(plant, into, into)
    assert off(schur_values(pencil, s), values_one_by_one(pencil, s)) < 1e-8


def test_beside_a_pole_a_triangle_hands_over_to_single_solutions():
    plant = arm()
    beside = ph.modes(plant).elastic[:3] * (1 + 1e-9)
    s = 1j * np.sort(np.concatenate([beside, np.geomspace(0.1, 1e4, 80)]))
    pencil = Pencil.with_multipliers(plant, plant.ports.indices(BOTH), plant.ports.indices(BOTH))
    found = schur_values(pencil, s)[np.isin(s.imag, beside)]
    np.testing.assert_array_equal(found, values_one_by_one(pencil, 1j * beside))


@pytest.mark.parametrize("damping", [0.0, 1e-4])
def test_a_sweep_answers_as_single_solutions_do(damping):
    plant = arm(damping, 12)
    s = 1j * np.geomspace(1.0, 1e3, 120)
    into = plant.ports.indices(BOTH)
    pencil, split = Pencil.without_joints(plant, into, into)
    sweep = FrequencySweep(pencil, split, s)
    assert off(sweep.values(), values_one_by_one(pencil, s)) < 1e-8
    assert len(sweep.used) <= 24


def test_a_large_system_is_swept(monkeypatch):
    """response takes the sweep where it is large: as few factorisations as the band has modes, not one a frequency."""
    monkeypatch.setattr("phloat.linear.analysis.transfer.SMALL", 10)
    solved = []
    at = Pencil.solution
    monkeypatch.setattr(Pencil, "solution", lambda self, s: solved.append(s) or at(self, s))
    omega = np.linspace(5.0, 1000.0, 200)
    plant = arm(1e-4, 6)
    swept = ph.response(plant, BOTH, omega=omega).values
    assert 0 < len(solved) < 30
    direct = np.concatenate([ph.response(plant, BOTH, omega=few).values for few in np.split(omega, 200 // (FEW - 4))])
    assert off(swept, direct) < 1e-8


@pytest.mark.parametrize("port", ["shoulder", "elbow", "lower.C[1]"])
def test_zeros_of_a_lossless_port_lie_between_its_poles(port):
    found = poles_zeros(arm(), port)
    report = ports_report(arm(), port)
    assert np.abs(found.zeros.real).max() == 0.0
    top = 1.0001 * np.sort(np.abs(found.poles))[12]
    p, z = (np.sort(a.imag[(np.abs(a) < top)]) for a in (found.poles, found.zeros))
    unseen = report.unreachable[report.unreachable < top]  # in both lists: they are no matter of the port
    for w in unseen:
        p, z = np.delete(p, np.abs(p - w).argmin()), np.delete(z, np.abs(z - w).argmin())
    assert len(p) - len(z) in (0, 1)
    assert (np.diff(np.sort(np.concatenate([p, z])))[1:] > 0).all()
    assert all(((z > low) & (z < high)).sum() == 1 for low, high in pairwise(p))


@pytest.mark.parametrize("damping", [0.0, 1e-4])
def test_nothing_comes_out_at_a_zero(damping):
    plant = arm(damping)
    for inputs, outputs in (
        ("shoulder", None),
        ("shoulder", "elbow"),
        (BOTH, None),
        (BOTH, ["shoulder", "lower.C[1]"]),
    ):
        found = zeros(plant, inputs, outputs)
        for s in found[(np.abs(found) > 1.0) & (np.abs(found) < 2e3)][:4]:
            here, near = (
                ph.response(plant, inputs, outputs, omega=[s.imag], shift=s.real + d).singular_values[0, -1]
                for d in (0.0, 0.1 * abs(s))
            )
            assert here < 1e-6 * near


def test_zeros_of_ports_on_themselves_are_poles_with_them_held():
    plant = arm()
    held = ph.modes(ph.swap_causality(ph.swap_causality(plant, "shoulder"), "elbow")).elastic[:8]
    np.testing.assert_allclose(zeros(plant, BOTH).imag[:8], held, rtol=1e-9)


def test_zeros_of_a_driven_axis_are_poles_with_it_free():
    """What takes no torque when driven moves by itself when free."""
    free = ph.modes(arm()).elastic[:6]
    driven = zeros(arm(0.0, 4, "shoulder"), "shoulder")
    np.testing.assert_allclose(driven[np.abs(driven) > 1.0].imag[:6], free, rtol=1e-8)


def test_poles_are_those_of_the_modes():
    for damping in (0.0, 1e-4):
        plant = arm(damping)
        of_modes = ph.modes(plant).poles
        found = poles(plant)
        assert (found == 0).sum() == 2
        np.testing.assert_allclose(found[:12], of_modes[:12], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(("clamped", "rigid"), [("left", 0), (None, 3)])
def test_stresses_that_no_motion_reaches_are_no_poles(clamped, rigid):
    """A mixed plate has six times as many stresses as velocities; only its rigid motions are poles at zero."""
    recipe = ph.Plate.rectangle(1.0, 1.0, thickness=0.05, material=ALU, theory="kirchhoff", clamped=clamped)
    plate = recipe.discretise(2).linear()
    assert plate.rows.size - plate.split > plate.split
    found = poles(plate)
    assert len(found) == plate.split and (found == 0).sum() == rigid
    np.testing.assert_allclose(found.imag, ph.modes(plate).omega, rtol=1e-7)


def test_a_response_is_the_sum_of_its_modes():
    """Σ p pᵀ s / (s² + ω²) over all modes, rigid ones with 1/s."""
    plant, s = arm(), 3.0 + 40j
    found = ph.modes(plant)
    p = participation(found, BOTH)
    summed = np.einsum("ki,kj,k->ij", p, p, s / (s**2 + found.omega**2))
    exact = ph.response(plant, BOTH, omega=[s.imag], shift=s.real).values[0]
    np.testing.assert_allclose(summed, exact, rtol=1e-8)


def test_the_force_on_a_base_is_the_sum_of_effective_masses():
    """f/a = M_0 + Σ Γ Γᵀ ω²/(s² + ω²); the parts of modes are orthogonal, so they add up to rᵀM r with M_0 ≥ 0."""
    plant, s = arm(0.0, 4, "shoulder"), 3.0 + 40j
    found = ph.modes(plant)
    felt = effective_masses(found, "shoulder")
    np.testing.assert_allclose(felt.factors[: found.rigid], 0.0, atol=1e-7)  # the free elbow is left behind
    elastic = found.omega**2 / (s**2 + found.omega**2)
    mass = felt.residual + np.einsum("ki,kj,k->ij", felt.factors, felt.factors, elastic)
    force = ph.response(plant, "shoulder", omega=[s.imag], shift=s.real).values[0]
    np.testing.assert_allclose(force / s, mass, rtol=1e-8)
    assert 0.0 <= felt.residual[0, 0] < 1e-3 * felt.total[0, 0]
    n = plant.split
    gram = found.vectors.T @ (plant.E[:n, :n] @ found.vectors)
    np.testing.assert_allclose(gram, np.eye(len(found)), atol=1e-9)


def test_effective_masses_along_any_direction_add_up_to_the_mass():
    frame = ph.connect(
        {"b": ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ALU).discretise(4), "m": ph.PointMass(0.3).discretise()},
        joints=[ph.Weld("ground", "b.P"), ph.Spherical("b.C", "m.P")],
    )
    found = ph.modes(ph.linearise(frame, ph.place(frame)))
    for direction in ((1, 0, 0), (0, 2, 0), (1, 1, 1)):
        felt = effective_masses(found, direction)
        np.testing.assert_allclose(felt.total, 0.3 + 2700 * 2e-4, rtol=1e-9)
        assert 0.0 <= felt.residual[0, 0] < 0.1 * felt.total[0, 0]
        np.testing.assert_allclose(felt.masses.sum() + felt.residual[0, 0], felt.total[0, 0], rtol=1e-12)


def test_a_driven_axis_and_a_swapped_one_transmit_the_same():
    omega = np.array([0.5, 20.0, 170.0])
    one = transmission(arm(1e-4), "shoulder", ["lower.C", "elbow"], omega=omega).values
    two = transmission(arm(1e-4, 4, "shoulder"), "shoulder", ["lower.C", "elbow"], omega=omega).values
    np.testing.assert_allclose(one, two, rtol=1e-7, atol=1e-9)
    H = ph.response(arm(1e-4), "shoulder", ["shoulder", "lower.C", "elbow"], omega=omega).values
    np.testing.assert_allclose(one[:, :, 0], H[:, 1:, 0] / H[:, :1, 0], rtol=1e-6, atol=1e-9)


def test_the_largest_singular_value_bounds_every_gain():
    found = ph.response(arm(1e-4), BOTH, omega=np.geomspace(1, 1e3, 40))
    assert (found.singular_values[:, :1] >= found.magnitude.reshape(40, -1).max(axis=1, keepdims=True) - 1e-12).all()
    np.testing.assert_allclose(
        (found.singular_values**2).sum(axis=1), (found.magnitude**2).sum(axis=(1, 2)), rtol=1e-10
    )


def test_ports_see_what_they_reach_damped_or_not():
    """pH symmetry: an effort reaches exactly the modes that its flow sees; damping between modes does not hide it."""
    joints = [ph.Revolute("ground", "b.P", name="pin"), ph.JointDamper("pin", damping=0.5)]
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ALU, ports={"mid": 0.5}).discretise(4)
    for parts in (joints[:1], joints):
        system = ph.connect({"b": beam}, joints=parts, plane="xy")
        report = ports_report(ph.linearise(system, ph.place(system)), "b.mid[1]")
        np.testing.assert_array_equal(report.reached > 1e-8, report.seen > 1e-8)
        assert report.unreachable.size == 8 and not report.complete  # the axial modes
    free = ph.connect({"b": beam})
    report = ports_report(ph.linearise(free, ph.place(free)), ["b.C", "b.P"])
    assert report.complete and report.omega[5] == 0.0
    assert (ports_report(ph.linearise(free, ph.place(free)), "b.C[0]").unreachable == 0).sum() == 5


def test_a_damper_off_the_middle_brings_modes_within_reach():
    """Pushed in the middle, every second mode of a beam on two supports is out of reach, unless damping couples it to others."""
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ALU, ports={"mid": 0.5}).discretise(4)
    supports = [ph.Revolute("ground", "b.P", name="pin"), ph.Slide("ground", "b.C", along=(1, 0, 0))]
    missed = []
    for parts in (supports, [*supports, ph.JointDamper("pin", damping=0.5)]):
        system = ph.connect({"b": beam}, joints=parts, plane="xy")
        report = ports_report(ph.linearise(system, ph.place(system)), "b.mid[1]")
        missed.append(len(report.unreachable))
    assert missed[0] > missed[1] == 8  # those along the beam
