"""Reduction where it is wanted: the arm, a plate, and a reduced rod back in the fast crank-slider."""

from dataclasses import replace

import numpy as np
import pytest
from reduction_zoo import BAND, alu, jointed_arm, plate

import phloat as ph
from phloat.analysis.pod import pod_basis
from phloat.bodies.bases import quadratic_strain
from phloat.linear.form.second_order import SecondOrder
from phloat.linear.reduction.balanced import balanced_basis
from phloat.linear.reduction.basis import Basis
from phloat.linear.reduction.krylov import krylov_basis
from phloat.linear.reduction.modal import modal_basis
from phloat.linear.reduction.projection import project
from phloat.linear.reduction.reduce import reduce_to_tolerance, reduction_error

STEEL = ph.Material(E=0.2e12, rho=7870.0, nu=0.3)
ROD = ph.Beam(0.3, ph.Circle(6e-3), STEEL, frame="pinned")
RATE, RADIUS = 150.0, 0.15


# --- linear ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joints", [True, False])
def test_the_arm_needs_thirty_states_for_a_thousandth_below_2000(joints):
    system = jointed_arm() if joints else ph.eliminate(jointed_arm())
    for rom in (
        reduce_to_tolerance(system, tolerance=1e-3, band=BAND),
        project(system, balanced_basis(system, order=30, band=BAND)),
        project(system, modal_basis(system, count=12, static=True)),
    ):
        assert rom.rows.size <= 30
        assert reduction_error(system, rom, band=BAND).largest <= 1e-3
        assert ph.modes(rom).rigid == 2
        assert max(rom.structure().values()) <= 1e-12


def test_a_split_basis_is_far_better_than_a_mixed_one():
    """The same moments with v and σ in one basis, half of it each: a hundred times worse, and rigid motions are lost."""
    system = ph.eliminate(jointed_arm())
    good = krylov_basis(system, [30.0, 300.0, 1000.0], order=2)
    n, V = system.split, good.V_v.toarray()
    lonely = Basis(V, np.eye(system.rows.size - n)[:, : good.V_sigma.shape[1]])  # as many stresses, but others
    assert (
        reduction_error(system, project(system, lonely), band=BAND).largest
        > 100 * reduction_error(system, project(system, good), band=BAND).largest
    )


def test_a_plate_of_ten_thousand_states_becomes_one_of_thirty():
    system = plate(cells=12)
    assert system.rows.size > 10_000
    shifts = [50.0, *((0.1 + 1j) * np.array([200.0, 400.0, 600.0]))]
    rom = project(system, krylov_basis(system, shifts, order=2, ports="tip[2]"))
    assert rom.rows.size <= 30
    assert max(rom.structure().values()) <= 1e-12
    np.testing.assert_allclose(ph.modes(rom).omega[:5], ph.modes(system, 5).omega, rtol=1e-9)


def test_a_free_rod_reduced_answers_as_the_exact_one():
    """Axial: the driving-point mobility of a free rod, H(s) = cosh(sl/c) / (√(EAρA) sinh(sl/c)), with its rigid mode."""
    length, A = 1.0, 1e-4
    body = ph.Beam(length, ph.Section(A=A, I=1e-9), alu).discretise(64).in_plane()
    system = body.linear()
    rom = project(system, krylov_basis(system, [1e3, 1e4, 3e4], ports="C[0]"))
    assert rom.rows.size < 16
    c, Z = np.sqrt(alu.E / alu.rho), np.sqrt(alu.E * A * alu.rho * A)
    omega = np.array([1e2, 3e3, 8e3])
    shift = 500.0
    found = ph.response(rom, "C[0]", omega=omega, shift=shift).values[:, 0, 0]
    s = shift + 1j * omega
    np.testing.assert_allclose(found, 1 / (Z * np.tanh(s * length / c)), rtol=1e-3)


def test_a_fine_cantilever_bends_by_the_formula():
    """300 elements, δ = F l³/3EI: an assembled K alone has lost ten of its figures, corrections through strains bring them back."""
    length, I = 1.0, 1e-9
    body = ph.Beam(length, ph.Section(A=1e-4, I=I), alu).discretise(300).in_plane()
    model = SecondOrder.from_system(ph.swap_causality(body.linear(), "P"))  # its root held
    push = model.F[:, [4]]  # along y at C
    assert (push.T @ model.factor(0.0).solve(push))[0, 0] == pytest.approx(length**3 / (3 * alu.E * I), rel=1e-8)


@pytest.mark.filterwarnings("ignore::phloat.errors.LargeDeformationWarning")  # a linear run of any size
def test_pod_of_a_linear_run_repeats_it():
    system = ph.eliminate(jointed_arm(elements=4))
    push = {"elbow": lambda t: np.sin(60.0 * t), "shoulder": 0.0}
    full = ph.simulate(system, t_end=0.3, dt=1e-3, u=push)
    rom = project(system, pod_basis(full, tolerance=1e-4))
    assert rom.rows.size < 40
    found = ph.simulate(rom, t_end=0.3, dt=1e-3, u=push)
    scale = np.abs(full.y["shoulder"]).max()
    np.testing.assert_allclose(found.y["shoulder"], full.y["shoulder"], atol=2e-3 * scale)


# --- back in the nonlinear mechanism ---------------------------------------------------------------------------------


def pin(t: float) -> np.ndarray:
    return RATE * RADIUS * np.array([-np.sin(RATE * t), np.cos(RATE * t)])


def run(rod: ph.Body) -> ph.Result:
    joints = [
        ph.Drive("ground", "rod.P", name="pin"),
        ph.Revolute("rod.C", "slider.P"),
        ph.Slide("ground", "slider.P", along=(1, 0, 0)),
    ]
    bodies = {"rod": rod, "slider": ph.PointMass(0.03337785).discretise()}
    system = ph.connect(bodies, joints=joints, plane="xy")
    state = ph.set_moving(system, ph.place(system, {"rod.r_P": (RADIUS, 0.0)}), u={"pin": pin})
    return ph.simulate(system, state, t_end=4 / RATE, dt=4e-5, u={"pin": pin})


def peak(result: ph.Result) -> float:
    return float(np.abs(result.displacement("rod", s=0.5)[:, 1]).max())


@pytest.fixture(scope="module")
def full() -> ph.Result:
    return run(ROD.discretise(8))


BASES = {  # in space twice as much, for the other plane
    "krylov": lambda body, twice: krylov_basis(body.linear(), [300.0, 3000.0]),
    "modal": lambda body, twice: modal_basis(body.linear(), count=4 * twice),
    "balanced": lambda body, twice: balanced_basis(body.linear(), order=20 * twice, decay=100.0, band=(100.0, 5000.0)),
}


@pytest.mark.parametrize("method", BASES)
@pytest.mark.parametrize("flat", [True, False])
def test_a_reduced_rod_bends_as_the_full_one_in_the_crank_slider(full, method, flat):
    body = ROD.discretise(8)
    body = body.in_plane() if flat else body
    rod = body.reduced(BASES[method](body, 1 if flat else 2))
    assert rod.coordinates < body.coordinates
    assert peak(run(rod)) == pytest.approx(peak(full), rel=1e-2)


@pytest.mark.parametrize("order", [2, 3])
def test_pod_fields_of_the_run_repeat_it(full, order):
    states = [full.state(k) for k in range(0, len(full), 5)]
    for basis in (pod_basis(full, "rod", order=order), pod_basis(states, "rod", order=order)):
        rod = full.system.bodies["rod"].reduced(basis)
        assert rod.families["bending along y"] == order
        assert peak(run(rod)) == pytest.approx(peak(full), rel=2e-3)


def test_fields_alone_are_stiffer_than_with_their_companions(full):
    """With all stresses of the mesh and no companion 1.1 % off, and 0.04 % as reduced(basis) does it."""
    body = full.system.bodies["rod"]
    basis = pod_basis(full, "rod", order=2)
    bare = body.combined(Basis(basis.V_v, np.eye(body.stresses)))
    assert abs(peak(run(bare)) / peak(full) - 1) > 0.005
    assert peak(run(body.reduced(basis))) == pytest.approx(peak(full), rel=1e-3)


def test_a_plate_reduced_by_its_own_krylov_vectors_floats():
    """Frequencies of the cantilever plate on its weld, from moments of its free linear system at the two ports."""
    panel = ph.Plate.rectangle(
        3.0, 0.5, thickness=0.01, material=alu, frame="left", ports={"root": "left", "tip": "right"}
    ).discretise(12)
    basis = krylov_basis(panel.linear(), [5.0, 50.0, 200.0], ports=["root[2]", "root[4]", "tip[2]"])
    body = panel.reduced(basis, stiffened=2)
    system = ph.connect({"panel": body}, joints=[ph.Weld("ground", "panel.root")])
    omega = ph.modes(ph.linearise(system, ph.place(system))).elastic
    assert omega[0] == pytest.approx(5.8, rel=0.02)  # between a beam of the strip, 5.74, and of the wide plate, 6.08


def test_a_reduced_plate_can_be_reduced_again_and_still_shortens():
    """The companion of a kept field, a = −K⁻¹DᵀC⁻¹(Q v v), is in the span, and the energy of what is kept is the same."""
    panel = ph.Plate.rectangle(3.0, 0.5, thickness=0.01, material=alu, frame="left", ports={"root": "left"})
    body = panel.discretise(8).reduced(modes=3, stiffened=2)
    el = body.elastic
    soft = int(np.argmin(el.D.diagonal()))
    v = np.eye(body.coordinates)[:, [soft]]
    again = body.reduced(Basis(v, np.zeros((body.stresses, 0))))
    strain = quadratic_strain(el, v[:, 0], v[:, 0])
    companion = -np.linalg.solve(el.K.toarray(), el.D.T @ (el.C_inverse @ strain))
    V = again.shape.V_v.toarray()
    assert V.shape == (body.coordinates, 2)
    left = companion - V @ np.linalg.lstsq(V, companion)[0]
    assert np.abs(left).max() < 1e-9 * np.abs(companion).max()
    for eta in np.random.default_rng(0).normal(size=(3, 1)) * v.T:
        few = np.linalg.lstsq(V, eta)[0]
        whole, kept = el.stress(eta), again.elastic.stress(few)
        energies = kept @ (again.elastic.C @ kept), whole @ (el.C @ whole)
        assert energies[0] == pytest.approx(energies[1], rel=1e-9)


def test_reduced_bodies_stay_port_hamiltonian_under_way():
    body = replace(ROD, frame="cantilever").discretise(6)
    system = ph.connect({"b": body.reduced(krylov_basis(body.linear(), [1e3]))})
    rng = np.random.default_rng(0)
    state = ph.place(system)
    state = state.with_values({"b.eta": 1e-4 * rng.normal(size=state["b.eta"].shape)})
    state = state.with_values({"b.omega": rng.normal(size=3)})
    for what, defect in ph.structure_defects(ph.terms(system, state)).items():
        assert defect <= 1e-12, what
    assert ph.effort_defect(system, state) < 1e-8
