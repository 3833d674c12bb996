"""Reductions that cannot be, each with a sentence that says why and what to do."""

import builtins

import numpy as np
import pytest
from messages import raises
from reduction_zoo import BAND, jointed_arm, made, plate

import phloat as ph
from phloat.algebra.layout import Layout
from phloat.analysis.pod import pod_basis
from phloat.linear.reduction.balanced import balanced_basis
from phloat.linear.reduction.basis import Basis
from phloat.linear.reduction.krylov import krylov_basis
from phloat.linear.reduction.modal import craig_bampton_basis, modal_basis
from phloat.linear.reduction.projection import project
from phloat.linear.reduction.reduce import reduce_to_tolerance, reduction_error

ARM = ph.eliminate(jointed_arm(elements=3))
STILL = ph.eliminate(jointed_arm(damped=False, elements=3))
BEAM = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0))


@pytest.mark.parametrize("mode", [0, 2])
def test_a_shift_on_a_pole_is_named_with_the_pole(mode):
    omega = ph.modes(STILL).elastic[mode]
    with raises(ph.errors.InputError, f"0+{omega:.6g}j"):
        krylov_basis(STILL, [10.0, 1j * omega])


def test_a_shift_on_a_damped_pole_is_seen_too():
    pole = ph.modes(ARM).poles[3]
    with raises(ph.errors.InputError):
        krylov_basis(ARM, [pole])
    krylov_basis(ARM, [pole + 0.01 * abs(pole)])


def test_zero_is_a_pole_of_what_moves_freely_and_none_of_what_is_held():
    with raises(ph.errors.InputError, "shift 0"):
        krylov_basis(ARM, [0.0])
    held = plate(cells=3)
    assert krylov_basis(held, [0.0]).V_v.shape[1] == 3  # a deflection and two slopes


@pytest.mark.parametrize("shifts", ["1", [np.nan], [[1.0, 2.0]], [None]], ids=repr)
def test_shifts_are_numbers(shifts):
    with raises(ph.errors.InputError, "shifts"):
        krylov_basis(ARM, shifts)


def test_krylov_needs_something_to_match():
    with raises(ph.errors.InputError, "shifts"):
        krylov_basis(ARM, [])


@pytest.mark.parametrize("order", [0, 1.5])
def test_moments_are_counted(order):
    with raises(ph.errors.InputError, "order", repr(order)):
        krylov_basis(ARM, [1.0], order=order)


@pytest.mark.parametrize("options", [{}, {"count": 2, "band": (1.0, 2.0)}])
def test_modes_are_chosen_in_one_way(options):
    with raises(ph.errors.InputError):
        modal_basis(ARM, **options)


def test_a_band_without_modes_says_where_they_are():
    with raises(ph.errors.InputError, "131"):
        modal_basis(ARM, band=(1.0, 2.0))


@pytest.mark.parametrize("band", [(2.0, 1.0), (1.0,), "ab", (-1.0, 2.0), (1.0, np.inf)], ids=repr)
def test_a_band_is_two_frequencies(band):
    for action in (
        lambda: modal_basis(ARM, band=band),
        lambda: reduction_error(ARM, ARM, band=band),
        lambda: reduce_to_tolerance(ARM, band=band),
    ):
        with raises(ph.errors.InputError, "band"):
            action()


def test_what_never_decays_has_no_gramian():
    with raises(ph.errors.InputError):
        balanced_basis(STILL, order=10)
    assert balanced_basis(STILL, order=10, decay=1.0).states == 10


def test_an_order_has_room_for_rigid_motions():
    with raises(ph.errors.InputError, "order", "3"):
        balanced_basis(ARM, order=3)
    with raises(ph.errors.InputError):
        balanced_basis(ARM)


def test_a_basis_belongs_to_its_system():
    with raises(ph.errors.InputError):
        project(made(0), krylov_basis(ARM, [1.0]))
    with raises(ph.errors.InputError, "ndarray"):
        project(ARM, np.eye(3))
    with raises(ph.errors.InputError, "V_v"):
        Basis(np.array([[np.nan]]), np.zeros((1, 0)))


def test_a_driven_motion_must_be_in_the_basis():
    driven = ph.swap_causality(jointed_arm(elements=3), "shoulder")
    free = krylov_basis(driven, [30.0])
    lonely = Basis(free.V_v[:, :-1], free.V_sigma)
    with raises(ph.errors.InputError, "'shoulder'"):
        project(driven, lonely)


def test_rows_without_order_cannot_be_split():
    n = ARM.rows.size
    mixed = ph.LinearPHDAE(E=ARM.E, J=ARM.J, R=ARM.R, B=ARM.B, rows=Layout({"x": (n,)}, "row"), ports=ARM.ports)
    with raises(ph.errors.InputError):
        krylov_basis(mixed, [1.0])
    with raises(ph.errors.InputError):
        project(mixed, krylov_basis(ARM, [1.0]))


def test_nonlinear_systems_are_linearised_first():
    system = ph.connect({"b": BEAM.discretise(2)})
    with raises(ph.errors.InputError):
        krylov_basis(system, [1.0])


def test_held_ports_take_efforts():
    with raises(ph.errors.InputError):
        craig_bampton_basis(ARM.with_ports(), modes=2)
    with raises(ph.errors.InputError, "modes", "-1"):
        craig_bampton_basis(ARM, modes=-1)


def test_only_the_same_ports_can_be_compared():
    with raises(ph.errors.InputError, "'elbow'"):
        reduction_error(ARM.with_ports("shoulder"), ARM, band=BAND)
    with raises(ph.errors.InputError, "points"):
        reduction_error(ARM, ARM, band=BAND, points=1)


def test_a_tolerance_is_positive():
    with raises(ph.errors.InputError, "tolerance"):
        reduce_to_tolerance(ARM, tolerance=0.0, band=BAND)


def test_without_pymor_there_is_a_sentence(monkeypatch):
    from phloat.linear.reduction.pymor import irka_basis

    whole = builtins.__import__

    def without(name, *rest):
        if name.startswith("pymor"):
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with raises(ph.errors.InputError, "pyMOR"):
        irka_basis(ARM, order=10)


# --- bodies ----------------------------------------------------------------------------------------------------------


def test_a_basis_for_a_body_has_its_rows():
    body = BEAM.discretise(3)
    with raises(ph.errors.InputError, "24"):
        body.reduced(krylov_basis(ARM, [1.0]))
    with raises(ph.errors.InputError):
        body.reduced(modal_basis(body.linear(), count=2), modes=2)
    with raises(ph.errors.InputError, "int"):
        body.reduced(3)
    with raises(ph.errors.InputError):
        body.reduced(modal_basis(body.linear(), count=0))


def test_a_basis_for_a_mesh_has_its_rows():
    panel = ph.Plate.rectangle(1.0, 0.5, thickness=0.01, material=BEAM.material, frame="left").discretise(2)
    with raises(ph.errors.InputError):
        panel.reduced(krylov_basis(ARM, [1.0]))
    with raises(ph.errors.InputError):
        panel.reduced(modal_basis(panel.linear(), count=2), modes=2)
    with raises(ph.errors.InputError, "modes", "None"):
        panel.reduced()


def test_pod_needs_a_run_that_deforms():
    system = ph.connect({"b": BEAM.discretise(2), "m": ph.PointMass(1.0).discretise()}, plane="xy")
    state = ph.place(system)
    with raises(ph.errors.InputError):
        pod_basis([state, state], "b", order=1)
    with raises(ph.errors.PortError, "'c'"):
        pod_basis([state], "c", order=1)
    with raises(ph.errors.InputError, "'m'"):
        pod_basis([state], "m", order=1)
    with raises(ph.errors.InputError):
        pod_basis(3, "b", order=1)
    with raises(ph.errors.InputError):
        pod_basis([state], "b")
    bent = state.with_values({"b.eta": np.arange(1.0, 1.0 + len(state["b.eta"]))})
    with raises(ph.errors.InputError, "order"):
        pod_basis([bent, bent], "b", order=2)
