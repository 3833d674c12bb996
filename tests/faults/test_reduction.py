"""Reductions that cannot be, each with a sentence that says why and what to do."""

import builtins

import numpy as np
import pytest
from reduction_zoo import BAND, jointed_arm, made, plate

import phloat as ph
from phloat.algebra.layout import Layout
from phloat.analysis.pod import pod
from phloat.linear.balanced import balanced
from phloat.linear.bases import Basis
from phloat.linear.error import error
from phloat.linear.krylov import krylov
from phloat.linear.modal import craig_bampton, modal
from phloat.linear.project import project
from phloat.linear.reduce import reduce

ARM = ph.eliminate(jointed_arm(elements=3))
STILL = ph.eliminate(jointed_arm(damped=False, elements=3))
BEAM = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0))


@pytest.mark.parametrize("mode", [0, 2])
def test_a_shift_on_a_pole_is_named_with_the_pole(mode):
    omega = ph.modes(STILL).elastic[mode]
    with pytest.raises(ph.InputError, match=rf"shift 0\+{omega:.6g}j lies on a pole, the nearest is .*{omega:.6g}j"):
        krylov(STILL, [10.0, 1j * omega])


def test_a_shift_on_a_damped_pole_is_seen_too():
    pole = ph.modes(ARM).poles[3]
    with pytest.raises(ph.InputError, match="lies on a pole"):
        krylov(ARM, [pole])
    krylov(ARM, [pole + 0.01 * abs(pole)])


def test_zero_is_a_pole_of_what_moves_freely_and_none_of_what_is_held():
    with pytest.raises(ph.InputError, match=r"shift 0 lies on a pole: nothing resists 2 rigid motions"):
        krylov(ARM, [0.0])
    held = plate(cells=3)
    assert krylov(held, [0.0]).V_v.shape[1] == 3  # a deflection and two slopes


@pytest.mark.parametrize("shifts", ["1", [np.nan], [[1.0, 2.0]], [None]], ids=repr)
def test_shifts_are_numbers(shifts):
    with pytest.raises(ph.InputError, match=r"shifts are .*row of numbers"):
        krylov(ARM, shifts)


def test_krylov_needs_something_to_match():
    with pytest.raises(ph.InputError, match=r"needs shifts=\[…\] or infinity=1"):
        krylov(ARM)


@pytest.mark.parametrize(("name", "value"), [("order", 0), ("order", 1.5), ("infinity", -1), ("infinity", True)])
def test_moments_are_counted(name, value):
    with pytest.raises(ph.InputError, match=f"{name} is {value!r}; it must be a whole number"):
        krylov(ARM, [1.0], **{name: value})


def test_a_port_is_one_of_the_system():
    with pytest.raises(ph.PortError, match="no port 'wrist'"):
        krylov(ARM, [1.0], ports="wrist")


@pytest.mark.parametrize("options", [{}, {"count": 2, "band": (1.0, 2.0)}])
def test_modes_are_chosen_in_one_way(options):
    with pytest.raises(ph.InputError, match="say one of band"):
        modal(ARM, **options)


def test_a_band_without_modes_says_where_they_are():
    with pytest.raises(ph.InputError, match=r"no mode lies between 1 and 2 rad/s; the first are at 131"):
        modal(ARM, band=(1.0, 2.0))


@pytest.mark.parametrize("band", [(2.0, 1.0), (1.0,), "ab", (-1.0, 2.0), (1.0, np.inf)], ids=repr)
def test_a_band_is_two_frequencies(band):
    for action in (lambda: modal(ARM, band=band), lambda: error(ARM, ARM, band=band), lambda: reduce(ARM, band=band)):
        with pytest.raises(ph.InputError, match="it must be two frequencies in rad/s"):
            action()


def test_what_never_decays_has_no_gramian():
    with pytest.raises(ph.InputError, match=r"some motion does not decay .*give decay=…"):
        balanced(STILL, order=10)
    assert balanced(STILL, order=10, decay=1.0).states == 10


def test_an_order_has_room_for_rigid_motions():
    with pytest.raises(
        ph.InputError, match="order is 3, but rigid and driven motions take 2 states already; ask for 4"
    ):
        balanced(ARM, order=3)
    with pytest.raises(ph.InputError, match="say one of order=… and tolerance=…"):
        balanced(ARM)


def test_a_basis_belongs_to_its_system():
    with pytest.raises(
        ph.InputError, match=r"the basis has \d+ rows of velocities and \d+ of stresses; the system has"
    ):
        project(made(0), krylov(ARM, [1.0]))
    with pytest.raises(ph.InputError, match="ndarray is not a Basis"):
        project(ARM, np.eye(3))
    with pytest.raises(ph.InputError, match="V_v holds NaN or infinity"):
        Basis(np.array([[np.nan]]), np.zeros((1, 0)))


def test_a_driven_motion_must_be_in_the_basis():
    driven = ph.swapped(jointed_arm(elements=3), "shoulder")
    free = krylov(driven, [30.0])
    lonely = Basis(free.V_v[:, :-1], free.V_sigma)
    with pytest.raises(ph.InputError, match="ports 'shoulder' prescribe a motion that is not in the basis"):
        project(driven, lonely)


def test_rows_without_order_cannot_be_split():
    n = ARM.rows.size
    mixed = ph.LinearPHDAE(E=ARM.E, J=ARM.J, R=ARM.R, B=ARM.B, rows=Layout({"x": (n,)}, "row"), ports=ARM.ports)
    with pytest.raises(ph.InputError, match=r"rows in the order \(v \| σ\)"):
        krylov(mixed, [1.0])
    with pytest.raises(ph.InputError, match=r"rows in the order \(v \| σ\)"):
        project(mixed, krylov(ARM, [1.0]))


def test_nonlinear_systems_are_linearised_first():
    system = ph.connect({"b": BEAM.discretise(2)})
    with pytest.raises(ph.InputError, match="System is not linear; use linearise"):
        krylov(system, [1.0])


def test_held_ports_take_efforts():
    with pytest.raises(ph.InputError, match="no port that takes an effort is held"):
        craig_bampton(ARM.with_ports(), modes=2)
    with pytest.raises(ph.InputError, match="modes is -1"):
        craig_bampton(ARM, modes=-1)


def test_only_the_same_ports_can_be_compared():
    with pytest.raises(ph.InputError, match="port 'elbow' is not one of the full system, which has shoulder"):
        error(ARM.with_ports("shoulder"), ARM, band=BAND)
    with pytest.raises(ph.InputError, match="points is 1"):
        error(ARM, ARM, band=BAND, points=1)


def test_a_tolerance_is_positive():
    with pytest.raises(ph.InputError, match="tolerance is 0; it must be positive"):
        reduce(ARM, tolerance=0.0, band=BAND)


def test_without_pymor_there_is_a_sentence(monkeypatch):
    from phloat.linear.pymor import irka

    whole = builtins.__import__

    def without(name, *rest):
        if name.startswith("pymor"):
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ph.InputError, match=r"pip install phloat\[mor\]"):
        irka(ARM, order=10)


# --- bodies ----------------------------------------------------------------------------------------------------------


def test_a_basis_for_a_body_has_its_rows():
    body = BEAM.discretise(3)
    with pytest.raises(ph.InputError, match=r"the basis has \d+ rows of velocities; this body has 24 coordinates"):
        body.reduced(krylov(ARM, [1.0]))
    with pytest.raises(ph.InputError, match="give a basis, or modes="):
        body.reduced(modal(body.linear(), count=2), modes=2)
    with pytest.raises(ph.InputError, match="int is not a Basis"):
        body.reduced(3)
    with pytest.raises(ph.InputError, match="holds no deformation of this body, only rigid motion"):
        body.reduced(modal(body.linear(), count=0))


def test_a_basis_for_a_mesh_has_its_rows():
    panel = ph.Plate.rectangle(1.0, 0.5, thickness=0.01, material=BEAM.material, frame="left").discretise(2)
    with pytest.raises(ph.InputError, match=r"the basis has \d+ rows of velocities; this body has"):
        panel.reduced(krylov(ARM, [1.0]))
    with pytest.raises(ph.InputError, match="give a basis, or modes="):
        panel.reduced(modal(panel.linear(), count=2), modes=2)
    with pytest.raises(ph.InputError, match="modes is None; it must be a whole number, 0 or more"):
        panel.reduced()


def test_pod_needs_a_run_that_deforms():
    system = ph.connect({"b": BEAM.discretise(2), "m": ph.PointMass(1.0).discretise()}, plane="xy")
    state = ph.place(system)
    with pytest.raises(ph.InputError, match="all snapshots are zero"):
        pod([state, state], "b", order=1)
    with pytest.raises(ph.PortError, match="no body 'c'"):
        pod([state], "c", order=1)
    with pytest.raises(ph.InputError, match="body 'm' is rigid"):
        pod([state], "m", order=1)
    with pytest.raises(ph.InputError, match="pod needs a Result, a LinearResult or a sequence of States"):
        pod(3, "b", order=1)
    with pytest.raises(ph.InputError, match="say one of order=… and tolerance=…"):
        pod([state], "b")
    bent = state.with_values({"b.eta": np.arange(1.0, 1.0 + len(state["b.eta"]))})
    with pytest.raises(ph.InputError, match="order is 2, but the run has only 1 independent fields"):
        pod([bent, bent], "b", order=2)
