"""Reduced systems are port-Hamiltonian, keep ports, joints and rigid motions, and match what their basis promises."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg as la
from reduction_zoo import BAND, LINK, apart, driven_arm, jointed_arm, made, moment, plate

import phloat as ph
from phloat.linear.analysis.modes import rigid_modes
from phloat.linear.reduction.balanced import balanced_basis
from phloat.linear.reduction.basis import Basis
from phloat.linear.reduction.krylov import krylov_basis
from phloat.linear.reduction.modal import craig_bampton_basis, modal_basis
from phloat.linear.reduction.projection import project
from phloat.linear.reduction.reduce import reduce_to_tolerance, reduction_error

JOINTED = jointed_arm()
SYSTEMS = {
    "arm": ph.eliminate(JOINTED),
    "arm with joints": JOINTED,
    "driven arm": driven_arm(),
    "plate": plate(cells=3),
    "free plate": plate(cells=3, clamped=()),
    "stresses not local": plate("kirchhoff", cells=3, elements="hhj", damping=ph.Rayleigh()),
    "made": made(0),
    "spinning": made(1, spinning=True),
    "giving energy": made(2, negative=3),
}
SHIFTS = (40.0, 30.0 + 300.0j)
SLOW = (0.7, 0.2 + 1.1j)  # for what was made up


def shifts(name: str) -> tuple[complex, ...]:
    return SLOW if name in ("made", "spinning", "giving energy") else SHIFTS


BASES = {
    "krylov": lambda s: krylov_basis(s, SHIFTS),
    "modal": lambda s: modal_basis(s, count=3),
    "modal with statics": lambda s: modal_basis(s, count=2, static=True),
    "craig_bampton": lambda s: craig_bampton_basis(s, modes=2),
    "balanced": lambda s: balanced_basis(s, tolerance=1e-2, decay=1.0),
}
DEFINITE = [name for name in SYSTEMS if name != "giving energy"]


def zeros(system: ph.LinearPHDAE) -> int:
    """Motions that nothing resists, counted in the dense matrices."""
    n = system.split
    rows = np.vstack([system.G[:, :n].toarray(), system.J[n:, :n].toarray()])
    return n - np.linalg.matrix_rank(rows, tol=1e-9 * np.abs(rows).max())


@pytest.mark.parametrize("method", BASES)
@pytest.mark.parametrize("name", DEFINITE)
def test_a_reduced_system_is_port_hamiltonian_with_the_same_ports_and_rigid_motions(name, method):
    system = SYSTEMS[name]
    basis = BASES[method](system)
    rom = project(system, basis)
    assert max(rom.structure().values()) <= 1e-12
    assert rom.passive
    assert rom.ports == system.ports
    assert rom.rows.size < system.rows.size
    assert zeros(rom) == zeros(system)
    assert rom.multipliers.size == (1 if name == "driven arm" else 0)
    np.testing.assert_allclose(rom.E.toarray(), np.eye(rom.rows.size), atol=1e-9)
    if name != "spinning":  # rigid motions come first, and nothing at all resists or damps them
        assert not (rom.J - rom.R)[: zeros(rom)].count_nonzero()


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("order", [1, 2])
def test_moments_at_shifts_are_those_of_the_full_system(name, order):
    """Twice as many as were asked for where the system is reciprocal."""
    system = SYSTEMS[name]
    rom = project(system, krylov_basis(system, shifts(name), order=order))
    assert rom.split < system.split - system.multipliers.size
    for s in shifts(name):
        for k in range(order if name == "spinning" else 2 * order):
            assert apart(moment(rom, s, k), moment(system, s, k)) < 1e-8


@pytest.mark.parametrize("name", ["made", "spinning", "giving energy"])
def test_responses_at_shifts_are_in_the_basis(name):
    system = SYSTEMS[name]
    V = krylov_basis(system, SLOW).V_v.toarray()
    E, A, B = system.E.toarray(), (system.J - system.R).toarray(), system.B.toarray()
    for s in SLOW:
        v = la.solve(s * E - A, B)[: system.split]
        assert apart(V @ np.linalg.lstsq(V.astype(complex), v)[0], v) < 1e-9


def test_joints_may_be_eliminated_before_or_not_at_all():
    one, two = (project(s, krylov_basis(s, SHIFTS)) for s in (SYSTEMS["arm"], SYSTEMS["arm with joints"]))
    for s in (0.3 + 2.0j, 100.0j, 7.0):
        assert apart(moment(two, s), moment(one, s)) < 1e-9


def test_a_shift_that_stands_twice_or_beside_its_conjugate_counts_once():
    once, often = (
        krylov_basis(SYSTEMS["arm"], [3.0 + 50j]),
        krylov_basis(SYSTEMS["arm"], [3.0 + 50j, 3.0 - 50j, 3.0 + 50j]),
    )
    assert once.V_v.shape == often.V_v.shape


def test_moments_of_one_port_need_fewer_states_and_all_ports_stay():
    system = SYSTEMS["arm"]
    rom = project(system, krylov_basis(system, SHIFTS, ports="elbow"))
    assert rom.ports == system.ports
    assert rom.rows.size < project(system, krylov_basis(system, SHIFTS)).rows.size
    assert apart(moment(rom, SHIFTS[1])[1, 1], moment(system, SHIFTS[1])[1, 1]) < 1e-8


def test_a_basis_that_does_not_respect_joints_keeps_them():
    system, rng = SYSTEMS["arm with joints"], np.random.default_rng(0)
    V = rng.normal(size=(system.split, 20))
    n = system.split
    stress = np.linalg.solve(system.E[n:, n:].toarray(), system.J[n:, :n] @ V)
    rom = project(system, Basis(V, stress))
    assert rom.multipliers == system.multipliers
    np.testing.assert_allclose(rom.G[:, :20].toarray(), system.G[:, :n] @ V)
    assert max(rom.structure().values()) <= 1e-12


def test_all_velocities_are_the_system_itself():
    system = SYSTEMS["driven arm"]
    rom = project(system, modal_basis(system, count=1000))
    for s in (20.0, 3.0 + 700j):
        assert apart(moment(rom, s), moment(system, s)) < 1e-8


def test_damping_that_is_hardly_felt_stays_positive():
    """Three velocities almost across the one direction that is damped: what is left of R is round-off beside its terms."""
    system, rng = made(0), np.random.default_rng(1)
    n = system.split
    d, V = rng.normal(size=n), rng.normal(size=(n, 5))
    V[:, :3] -= np.outer(d, d @ V[:, :3]) / (d @ d) * (1.0 - 1e-6)
    R = la.block_diag(np.outer(d, d), np.zeros((system.rows.size - n,) * 2))
    stress = np.linalg.solve(system.E[n:, n:].toarray(), system.J[n:, :n] @ V)
    rom = project(replace(system, R=R), Basis(V, stress))
    assert max(rom.structure().values()) <= 1e-12
    np.testing.assert_allclose(rom.R[:5, :5].toarray(), V.T @ R[:n, :n] @ V, rtol=1e-6, atol=1e-9)


def test_stresses_are_those_of_the_velocities():
    """V_σ spans C⁻¹Lᵀ V_v: the reduced stiffness is that of the full system in the kept velocities."""
    system = SYSTEMS["plate"]
    basis, n = krylov_basis(system, SHIFTS), system.split
    rom = project(system, basis)
    V, L, C = basis.V_v.toarray(), -system.J[:n, n:].toarray(), system.E[n:, n:].toarray()
    L_r, C_r = -rom.J[: rom.split, rom.split :].toarray(), rom.E[rom.split :, rom.split :].toarray()
    assert apart(L_r @ la.solve(C_r, L_r.T), V.T @ L @ la.solve(C, L.T @ V)) < 1e-11


# --- single methods --------------------------------------------------------------------------------------------------


def test_kept_modes_keep_their_frequencies():
    for name in ("arm", "arm with joints", "free plate"):
        system = SYSTEMS[name]
        found = ph.modes(project(system, modal_basis(system, count=4)))
        np.testing.assert_allclose(found.elastic, ph.modes(system).elastic[:4], rtol=1e-9)


def test_a_band_keeps_the_modes_in_it():
    system = SYSTEMS["arm"]
    omega = ph.modes(system).elastic
    found = ph.modes(project(system, modal_basis(system, band=(omega[1] - 1, omega[3] + 1)))).elastic
    np.testing.assert_allclose(found, omega[1:4], rtol=1e-9)


def test_static_motions_of_held_ports_are_exact():
    """The compliance of the tip, H(s)/s as s → 0: what is left out goes with s⁴, two moments being matched there."""
    system = SYSTEMS["plate"]
    rom = project(system, craig_bampton_basis(system, modes=0))
    far = [apart(moment(rom, s), moment(system, s)) for s in (3.0, 30.0)]
    assert far[0] < 1e-6
    assert 3e3 < far[1] / far[0] < 3e4


def test_more_modes_of_held_ports_are_nearer():
    system = SYSTEMS["arm"]
    far = [
        reduction_error(system, project(system, craig_bampton_basis(system, modes=m)), band=BAND).largest
        for m in (4, 8, 16)
    ]
    assert far[0] > 10 * far[1] > 100 * far[2]


def test_balanced_velocities_have_a_diagonal_gramian():
    """And the observability Gramian has the same block of velocities: what makes them balanced."""
    system = SYSTEMS["made"]
    rom = project(system, balanced_basis(system, tolerance=1e-12))
    E, A, B = rom.E.toarray(), (rom.J - rom.R).toarray(), rom.B.toarray()
    first = zeros(rom)
    keep = np.arange(first, len(A))
    A, B = la.solve(E, A)[np.ix_(keep, keep)], la.solve(E, B)[keep]
    P, Q = la.solve_continuous_lyapunov(A, -B @ B.T), la.solve_continuous_lyapunov(A.T, -B @ B.T)
    n = rom.split - first
    assert apart(P[:n, :n], Q[:n, :n]) < 1e-9


@pytest.mark.parametrize("method", ["krylov", "modal", "balanced"])
def test_reduced_transfer_functions_are_positive_real(method):
    system = SYSTEMS["arm"]
    rom = project(system, BASES[method](system))
    for w in np.geomspace(0.1, 1e5, 60):
        H = moment(rom, 1e-6 + 1j * w)
        assert la.eigvalsh(H + H.conj().T)[0] >= -1e-12 * np.abs(H).max()


def test_the_points_of_pymor_give_a_passive_system():
    pytest.importorskip("pymor")
    from phloat.linear.reduction.pymor import irka_basis

    system = SYSTEMS["arm"]
    rom = project(system, irka_basis(system, order=30))
    assert rom.rows.size <= 30
    assert max(rom.structure().values()) <= 1e-12
    assert rom.passive
    assert zeros(rom) == 2
    assert reduction_error(system, rom, band=BAND).largest < 1e-3


def test_the_points_of_pymor_settle_at_any_order_of_a_two_link_arm():
    """Orders 8, 16, 20 and 24 leave an odd number of elastic velocities; a single real point would alternate for ever."""
    pytest.importorskip("pymor")
    from phloat.linear.reduction.pymor import irka_basis

    system, errors = SYSTEMS["arm"], []
    for order in (8, 12, 16, 20, 24):
        rom = project(system, irka_basis(system, order=order))
        assert rom.rows.size == order and rom.passive and zeros(rom) == 2
        errors.append(reduction_error(system, rom, band=(1.0, 300.0)).largest)
    assert errors == sorted(errors, reverse=True) and errors[-1] < 1e-5


@pytest.mark.parametrize("name", ["arm", "arm with joints", "driven arm", "made", "spinning"])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
def test_a_tolerance_is_kept_over_the_band(name, tolerance):
    system = SYSTEMS[name]
    band = (0.1, 10.0) if name in ("made", "spinning") else BAND
    rom = reduce_to_tolerance(system, tolerance=tolerance, band=band)
    assert reduction_error(system, rom, band=band, points=333).largest <= 1.5 * tolerance
    assert max(rom.structure().values()) <= 1e-12
    assert zeros(rom) == zeros(system)


def test_a_sharp_peak_does_not_hide_the_rest():
    """A hanging link, its swing undamped, and a force along it that no swing feels: all ports are within the tolerance."""
    link = ph.connect(
        {"b": LINK.discretise(4)}, joints=[ph.Revolute("ground", "b.P")], plane="xy", gravity=(9.81, 0, 0)
    )
    system = ph.linearise(link, ph.equilibrium(link, ph.place(link))).with_ports("b.C")
    rom = reduce_to_tolerance(system, tolerance=1e-3, band=(1.0, 1000.0))
    for w in (2.0, 60.0, 300.0, 900.0):
        H, H_r = moment(system, 1j * w), moment(rom, 1j * w)
        scale = np.sqrt(np.abs(np.diag(H)))
        assert (np.abs(H - H_r) < 0.02 * np.outer(scale, scale)).all()


def test_systems_without_damping_are_compared_beside_the_axis():
    system = ph.eliminate(jointed_arm(damped=False, elements=4))
    rom = reduce_to_tolerance(system, tolerance=1e-3, band=BAND)
    found = reduction_error(system, rom, band=BAND)
    assert found.shift == 20.0
    assert found.largest <= 1.5e-3
    assert rom.lossless


def test_the_error_is_that_of_the_definition():
    system = SYSTEMS["arm"]
    rom = project(system, modal_basis(system, count=5))
    found = reduction_error(system, rom, band=(1.0, 100.0), points=7)
    k = int(found.relative.argmax())
    H, H_r = moment(system, 1j * found.omega[k]), moment(rom, 1j * found.omega[k])
    full = np.array([np.diag(moment(system, 1j * w)) for w in found.omega])
    W = np.diag(1 / np.sqrt(np.exp(np.log(np.abs(full)).mean(axis=0))))
    expected = np.linalg.norm(W @ (H - H_r) @ W, 2) / np.linalg.norm(W @ H @ W, 2)
    assert found.largest == pytest.approx(expected, rel=1e-8)
    assert found.worst == found.omega[k]


def test_rigid_motions_of_large_systems_are_found_too():
    system = plate(cells=12, clamped=(), damping=ph.Rayleigh())
    assert system.split > 2000
    V = rigid_modes(system)
    n = system.split
    assert V.shape[1] == 3  # deflection and two slopes
    np.testing.assert_allclose(V.T @ system.E[:n, :n] @ V, np.eye(3), atol=1e-8)
