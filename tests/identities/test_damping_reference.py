"""Damping by mass and by modes is relative to a stated reference: no numerical frame, no cut and no mesh changes it."""

from dataclasses import replace

import numpy as np
import pytest
from messages import raises

import phloat as ph

steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
BAR = ph.Beam(1.0, ph.Rectangle(0.03, 0.02), steel)
FRAMES = {
    "cantilever": "cantilever",
    "pinned": "pinned",
    "tip": {1.0: ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")},
}
IN_FRAMES = pytest.mark.parametrize("frame", FRAMES)
A = 3.0  # 1/s


def damped(frame: str, damping, **options) -> ph.Beam:
    return replace(BAR, frame=FRAMES[frame], damping=damping, **options)


def supported(body, support: str, plane=None):
    joints = {
        "clamped": [ph.Weld("ground", "b.P")],
        "clamped at C": [ph.Weld("ground", "b.C", at=(1.0, 0.0, 0.0))],
        "simply supported": [
            ph.Revolute("ground", "b.P", axis=(0, 0, 1)),
            ph.Slide("ground", "b.C", along=(1, 0, 0), at=(1.0, 0.0, 0.0)),
        ],
        "free": [],
    }[support]
    return ph.connect({"b": body}, joints, plane=plane)


def poles(body, support: str, count: int = 5, plane="xy") -> np.ndarray:
    system = supported(body, support, plane)
    found = ph.modes(ph.linearise(system, ph.place(system)), count + 6)
    return found.poles[found.rigid :][:count]


# --- damping by mass --------------------------------------------------------------------------------------------------


@IN_FRAMES
@pytest.mark.parametrize("plane", ["xy", None])
@pytest.mark.parametrize(("reference", "support"), [("P", "clamped"), ("C", "clamped at C"), ("body", "free")])
def test_every_mode_of_its_own_support_decays_by_half_the_rate(frame, reference, support, plane):
    """Clamped at the port, or free-free: a/2 in every mode, whatever the frame (it was 15 to 220 times a/2)."""
    body = damped(frame, ph.Rayleigh(mass=A, relative_to=reference)).discretise(4)
    np.testing.assert_allclose(-poles(body, support, plane=plane).real, A / 2, rtol=1e-7)


@pytest.mark.parametrize("theory", ["rayleigh", "timoshenko"])
def test_sections_that_turn_are_damped_alike(theory):
    body = damped("pinned", ph.Rayleigh(mass=A, relative_to="body"), theory=theory, masses={0.3: 0.4}).discretise(4)
    np.testing.assert_allclose(-poles(body, "free").real, A / 2, rtol=1e-7)


@pytest.mark.parametrize("support", ["simply supported", "clamped", "free"])
@pytest.mark.parametrize(
    "damping",
    [ph.Rayleigh(mass=A, relative_to="P"), ph.Rayleigh(mass=A, relative_to="body"), ph.ModalDamping(0.02, "C")],
)
def test_no_frame_changes_frequency_or_decay(support, damping):
    found = [poles(damped(frame, damping).discretise(6), support) for frame in FRAMES]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-6)


def test_the_first_mode_of_a_cantilever_hardly_moves_relative_to_the_body():
    """0.97 % of it is not rigid: 1 − (∫φ)² − 12 (∫φ (s − ½))² of the mode φ of unit mass."""
    k, s = 1.8751040687119611, np.linspace(0.0, 1.0, 20001)
    ratio = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k))
    phi = np.cosh(k * s) - np.cos(k * s) - ratio * (np.sinh(k * s) - np.sin(k * s))
    phi /= np.sqrt(np.trapezoid(phi**2, s))
    left = 1.0 - np.trapezoid(phi, s) ** 2 - 12.0 * np.trapezoid(phi * (s - 0.5), s) ** 2
    assert left == pytest.approx(0.0097, abs=2e-4)
    found = poles(damped("cantilever", ph.Rayleigh(mass=A, relative_to="body")).discretise(6), "clamped")
    assert -found[0].real == pytest.approx(A / 2 * left, rel=2e-3)


@pytest.mark.parametrize("reference", ["P", "C", "body"])
def test_rigid_motion_is_not_braked(reference):
    """A thrown and spinning bar keeps its momenta, and what it loses is counted."""
    body = damped("pinned", ph.Rayleigh(mass=A, relative_to=reference)).discretise(2)
    system = ph.connect({"b": body})
    moving = ph.set_moving(system, ph.place(system), {"b.v_P": (0.3, -0.2, 0.5), "b.omega": (20.0, 30.0, -10.0)})
    result = ph.simulate(system, moving, 0.05, dt=2e-4)
    for momentum in (result.momentum, result.angular_momentum):
        assert np.ptp(momentum, axis=0).max() < 1e-11 * np.abs(momentum).max()
    assert ph.energy_ledger(result).relative < 1e-11
    lost = ph.energy_ledger(result).dissipated["b"]
    assert (np.diff(lost) >= 0.0).all() and lost[-1] > 0.0


@pytest.mark.parametrize("reference", ["P", "body"])
@pytest.mark.parametrize("kind", ["plate", "solid", "reduced beam", "reduced by a basis"])
def test_plates_solids_and_reduced_bodies_alike(kind, reference):
    """Modes of the body clamped at the port, or free, decay by a/2: bodies of few coordinates, too."""
    damping = ph.Rayleigh(mass=A, relative_to=reference)
    options = {"material": steel, "frame": "left", "ports": {"P": "left", "C": "right"}, "damping": damping}
    body = {
        "plate": lambda: ph.Plate.rectangle(1.0, 0.2, thickness=0.01, **options).discretise((4, 2)).reduced(modes=3),
        "solid": lambda: ph.Solid.box(1.0, 0.1, 0.05, **options).discretise((4, 1, 1)).reduced(modes=3),
        "reduced beam": lambda: damped("pinned", damping).discretise(6).reduced(modes=3),
        "reduced by a basis": lambda: _by_a_basis(damped("cantilever", damping).discretise(6)),
    }[kind]()
    found = poles(body, "clamped" if reference == "P" else "free", count=4, plane=None)
    np.testing.assert_allclose(-found.real, A / 2, rtol=1e-6)


def _by_a_basis(body):
    return body.reduced(ph.reduction.modal_basis(body.linear(), count=8))


def test_small_motion_of_meshes_knows_ground_ports_and_body():
    options = {"material": steel, "frame": "left", "ports": {"P": "left", "C": "right"}}

    def decay(damping, **more):
        found = ph.modes(
            ph.Plate.rectangle(1.0, 0.3, thickness=0.01, damping=damping, **options, **more)
            .discretise((3, 1))
            .linear(),
            9,
        )
        return -found.poles.real, found.rigid

    slow, rigid = decay(ph.Rayleigh(mass=A, relative_to="body"))
    assert rigid == 6
    np.testing.assert_allclose(slow[6:], A / 2, rtol=1e-6)
    np.testing.assert_allclose(slow[:6], 0.0, atol=1e-6)
    np.testing.assert_allclose(decay(ph.Rayleigh(mass=A, relative_to="ground"), clamped="left")[0], A / 2, rtol=1e-9)
    assert (decay(ph.Rayleigh(mass=A, relative_to="P"))[0][6:] > A / 2).all()


# --- damping by modes -------------------------------------------------------------------------------------------------


@IN_FRAMES
@pytest.mark.parametrize("plane", ["xy", None])
@pytest.mark.parametrize(("reference", "support"), [("P", "clamped"), ("C", "clamped at C"), ("body", "free")])
def test_all_modes_have_the_ratio(frame, reference, support, plane):
    found = poles(damped(frame, ph.ModalDamping(0.03, reference)).discretise(4), support, 8, plane)
    np.testing.assert_allclose(-found.real / np.abs(found), 0.03, rtol=1e-6)


@pytest.mark.parametrize("reference", ["P", "body"])
@pytest.mark.parametrize("kind", ["plate", "solid", "reduced beam"])
def test_modes_of_reduced_bodies_have_the_ratio(kind, reference):
    options = {"material": steel, "frame": "left", "ports": {"P": "left", "C": "right"}}
    options["damping"] = ph.ModalDamping(0.03, reference)
    body = {
        "plate": lambda: ph.Plate.rectangle(1.0, 0.2, thickness=0.01, **options).discretise((4, 2)).reduced(modes=3),
        "solid": lambda: ph.Solid.box(1.0, 0.1, 0.05, **options).discretise((4, 1, 1)).reduced(modes=3),
        "reduced beam": lambda: damped("cantilever", options["damping"]).discretise(6).reduced(modes=3),
    }[kind]()
    found = poles(body, "clamped" if reference == "P" else "free", count=3, plane=None)
    np.testing.assert_allclose(-found.real / np.abs(found), 0.03, rtol=1e-6 if kind != "reduced beam" else 2e-2)


# --- what is refused --------------------------------------------------------------------------------------------------


def test_mass_damping_without_a_reference_is_refused():
    with raises(ph.errors.InputError, "relative_to", "None"):
        ph.Rayleigh(mass=0.3)
    with raises(ph.errors.InputError, "relative_to", "3"):
        ph.ModalDamping(0.3, 3)


@pytest.mark.parametrize("damping", [ph.Rayleigh(mass=A, relative_to="Q"), ph.ModalDamping(0.1, "Q")])
def test_a_reference_that_is_no_port_is_named_with_those_there_are(damping):
    with raises(ph.errors.InputError, "'Q'"):
        damped("pinned", damping).discretise(2)


def test_floating_bodies_do_not_know_the_ground():
    with raises(ph.errors.InputError):
        damped("pinned", ph.Rayleigh(mass=A, relative_to="ground")).discretise(2)


@pytest.mark.parametrize("damping", [ph.Rayleigh(mass=A, relative_to="P"), ph.ModalDamping(0.1, "body")])
def test_split_beams_refuse_what_no_piece_knows(damping):
    with raises(ph.errors.InputError, "3 pieces"):
        damped("pinned", damping).split(3)


def test_mass_damping_is_a_parameter_where_it_has_a_reference():
    for damping, there in ((ph.Rayleigh(), False), (ph.Rayleigh(relative_to="C"), True)):
        system = ph.connect({"b": damped("pinned", damping).discretise(2)}, plane="xy")
        assert ("b.damping.mass" in ph.parameters(system)) == there
    new = ph.with_parameters(system, {"b.damping.mass": A}).bodies["b"]
    once = damped("pinned", ph.Rayleigh(mass=A, relative_to="C")).discretise(2).in_plane()
    np.testing.assert_allclose(new.elastic.R_d.toarray(), once.elastic.R_d.toarray(), atol=1e-12)
