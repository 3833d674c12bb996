"""Spaces of the paper beside local ones: what each does better, and where continuous stresses are wrong.

The numbers in docs/bodies.md are from benchmarks/beam_spaces.py; here they are bounds.
"""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg as la
from bodies_zoo import steel

import phloat as ph
from phloat.bodies.bases import families

FLAT = ph.Rectangle(0.02, 0.01)
SLENDER = ph.Beam(1.0, FLAT, steel, ports={"mid": 0.5})
EI, UNIT = steel.E * FLAT.I, np.sqrt(steel.E * 0.01**2 / 12 / steel.rho)
FOOT = (ph.Weld("ground", "b.P"),)
SPACES = ("local", "paper")


def clamped(beam: ph.Beam, elements: int, *more, joints=FOOT) -> ph.System:
    return ph.connect({"b": beam.discretise(elements)}, [*joints, *more], plane="xy")


def errors(beam: ph.Beam, elements: int, exact, joints=FOOT) -> dict[str, np.ndarray]:
    """Relative errors of the first frequencies with each of the spaces."""
    out = {}
    for spaces in SPACES:
        system = clamped(replace(beam, spaces=spaces), elements, joints=joints)
        out[spaces] = ph.modes(ph.linearise(system, ph.place(system))).elastic[: len(exact)] / exact - 1
    return out


def loaded(spaces: str, elements: int, element, **options) -> ph.State:
    """The cantilever under one N or N m of an element called "load"."""
    system = clamped(replace(SLENDER, spaces=spaces, **options), elements, element)
    return ph.equilibrium(system, ph.place(system), u={"load": 1.0})


# --- where continuous moments are better ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("support", "joints"), [("cantilever", FOOT), ("free_free", ())], ids=["cantilever", "free at both ends"]
)
def test_frequencies_of_a_uniform_beam_are_nearer_on_the_same_mesh(reference, support, joints):
    exact = UNIT * np.array(reference["beams"][support][:3])
    found = errors(replace(SLENDER, ports={}), 4, exact, joints)
    gain = np.abs(found["local"] / found["paper"])
    assert (gain > 1.5).all() and gain.max() > 5.0


@pytest.mark.parametrize("at", [0.5, 0.37])
def test_a_jump_of_the_section_does_not_matter_since_moments_are_continuous(at):
    stepped = replace(SLENDER, ports={}, section=lambda s: ph.Rectangle(0.02, 0.01 if s < at else 0.005))
    fine = clamped(stepped, 40)
    found = errors(stepped, 4, ph.modes(ph.linearise(fine, ph.place(fine))).elastic[:4])
    assert (np.abs(found["paper"]) < np.abs(found["local"])).all()


# --- where they are wrong ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("elements", [4, 8])
def test_a_moment_that_jumps_is_smeared_over_the_elements_nearby(elements):
    """A torque at an inner port: M is 1 before it and 0 after. Continuous moments have the mean there; the tip is right."""
    torque = ph.Torque("b.mid", about=(0, 0, 1), name="load")
    before, at, after = ({}, {}, {})
    for spaces in SPACES:
        state = loaded(spaces, elements, torque)
        before[spaces], at[spaces], after[spaces] = (
            state.stress("b", s)["M_z"] for s in (0.5 - 1e-9, 0.5 - 0.5 / elements, 0.5)
        )
        assert state.displacement("b", 1.0)[1] == pytest.approx(0.375 / EI, rel=1e-6)
    assert before["local"] == pytest.approx(1.0, abs=1e-6) and after["local"] == pytest.approx(0.0, abs=1e-6)
    assert before["paper"] == pytest.approx(0.5, abs=1e-6) and after["paper"] == pytest.approx(0.5, abs=1e-6)


def test_the_error_at_the_port_falls_with_order_one_where_shear_jumps():
    """A force at an inner port: the slope of M jumps, and that of a Hermite moment cannot."""
    force = ph.Force("b.mid", along=(0, 1, 0), name="load")
    off = [loaded("paper", n, force).stress("b", 0.5)["M_z"] for n in (4, 8, 16)]  # exact: 0
    assert np.array(off[:-1]) / off[1:] == pytest.approx(2.0, rel=0.05)
    assert abs(loaded("local", 4, force).stress("b", 0.5)["M_z"]) < 1e-6


def test_lumped_masses_inside_take_the_order_of_frequencies_from_four_to_three():
    heavy = replace(SLENDER, ports={}, masses={0.5: 1.56})
    fine = clamped(heavy, 48)
    exact = ph.modes(ph.linearise(fine, ph.place(fine))).elastic[:1]
    coarse, half = (errors(heavy, n, exact) for n in (4, 8))
    order = {spaces: float(np.log2(abs(coarse[spaces] / half[spaces]))[0]) for spaces in SPACES}
    assert order["local"] == pytest.approx(4.0, abs=0.1) and order["paper"] == pytest.approx(2.8, abs=0.2)


@pytest.mark.parametrize("elements", [16, 64])
def test_axial_frequencies_of_the_paper_have_false_ones_between_them(elements):
    """Clamped and free: (k + ½) π c/L, and beside them one near 3 π c/L, 6 π c/L … on any mesh."""
    unit = np.pi * np.sqrt(steel.E / steel.rho)
    found = {}
    for spaces in SPACES:
        body = replace(SLENDER, spaces=spaces, ports={}).discretise(elements).in_plane()
        part = families(body.elastic, body.inertia.M_ff)["axial"]
        D = part.D.toarray()
        found[spaces] = np.sqrt(la.eigh(D.T @ part.from_strain(D), part.M.toarray(), eigvals_only=True)) / unit
    assert found["local"][:4] == pytest.approx([0.5, 1.5, 2.5, 3.5], rel=1e-3)
    assert found["paper"][[0, 1, 2, 4]] == pytest.approx([0.5, 1.5, 2.5, 3.5], rel=2e-3)
    assert found["paper"][3] == pytest.approx(3.0, rel=7 / elements**2)


# --- membrane strain --------------------------------------------------------------------------------------------------


def test_a_slender_cantilever_does_not_lock():
    """Tip deflection 0.1 L, axial stiffness 1.2e5 EI/L²: FL³/3EI and the shortening 0.6 w²/L, with one element as with eight."""
    for elements in (1, 2, 8):
        system = clamped(replace(SLENDER, spaces="paper"), elements, ph.Force("b.C", along=(0, 1, 0), name="load"))
        state = ph.equilibrium(system, ph.place(system), u={"load": 0.3 * EI})
        u_x, u_y = state.displacement("b", 1.0)[:2]
        assert u_y == pytest.approx(0.1, rel=1e-9) and u_x == pytest.approx(-0.6 * 0.1**2, rel=1e-6)


def test_the_spin_up_beam_lags_as_it_should(reference):
    """Within 0.7 % with 4 elements and 0.2 % with 8: the pull of the spin is constant in an element."""
    import spin_up as example

    known = reference["spin_up"]
    for elements, within in ((4, 8e-3), (8, 3e-3)):
        result = example.motion(replace(example.beam, spaces="paper").discretise(elements))
        lag = result.displacement("beam", s=1.0)[:, 1]
        assert lag.min() == pytest.approx(known["lag"], rel=within)


def test_a_reduced_spin_up_beam_lags_as_the_whole_one():
    import spin_up as example

    whole = replace(example.beam, spaces="paper").discretise(8)
    full, few = (
        example.motion(body, dt=1e-2).displacement("beam", s=1.0)[:, 1] for body in (whole, whole.reduced(modes=2))
    )
    assert few.min() == pytest.approx(full.min(), rel=3e-3)


def test_frequencies_in_a_spin_converge_with_order_two():
    """Flap at γ = 8: 5e-4 high with 10 elements, where local spaces are 6e-5 off."""
    length, gamma, exact = 10.0, 8.0, 9.256838
    blade = ph.Beam(length, ph.Section(A=1.0, I=5e-4, J=1e-3), ph.Material(E=2.8e7, rho=1.2, nu=0.3), spaces="paper")
    unit, off = np.sqrt(1.4e4 / (1.2 * length**4)), []
    for elements in (5, 10):
        rotor = ph.connect({"b": blade.discretise(elements)}, [ph.Drive("ground", "b.P", of="pose", name="hub")])
        flap = ph.campbell(rotor, np.array([gamma * unit]), axis=(0, 0, 1), count=2).omega[0].max() / unit
        off.append(abs(flap / exact - 1))
    assert off[1] == pytest.approx(5.3e-4, rel=0.1)
    assert 1.5 < np.log2(off[0] / off[1]) < 2.5
