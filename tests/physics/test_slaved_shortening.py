"""Beams whose shortening follows their bending: against exact rods, the elastica, rotating blades, Euler's column, full meshes."""

from dataclasses import replace

import numpy as np
import pytest
from bodies_zoo import steel
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import phloat as ph

SLENDER = ph.Beam(1.0, ph.Rectangle(0.01, 0.002), steel)
EI = steel.E * 0.01 * 0.002**3 / 12


def slaved(beam: ph.Beam, modes: int, elements: int = 16, **options) -> ph.Body:
    return beam.discretise(elements).reduced(modes=modes, shortening="slaved", **options)


def elastica(load: float) -> np.ndarray:
    """Displacement of the tip of a cantilever of unit length and EI = 1 under a dead load across it."""

    def end(curvature: float) -> np.ndarray:
        slopes = lambda s, y: [y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]  # noqa: E731
        return solve_ivp(slopes, (0, 1), [0, curvature, 0, 0], rtol=1e-11, atol=1e-13).y[:, -1]

    root = brentq(lambda curvature: end(curvature)[1], 0.0, 2 * load)
    return end(root)[2:] - (1.0, 0.0)


def tip(body: ph.Body, load: float) -> np.ndarray:
    system = ph.connect({"b": body}, [ph.Weld("ground", "b.P"), ph.Force("b.C", along=(0, 1, 0), name="f")], plane="xy")
    return ph.equilibrium(system, ph.place(system), u={"f": load * EI}).position("b", 1.0) - (1.0, 0.0)


def test_a_few_modes_cost_as_many_coordinates():
    assert slaved(SLENDER, 2, axial=0).in_plane().coordinates == 2
    assert slaved(SLENDER, 4, axial=0, torsion=0).families == {"bending along y": 4, "bending along z": 4}
    assert slaved(SLENDER, 4, axial=1, torsion=0).families["axial"] == 1


def test_the_tip_of_a_cantilever_is_that_of_the_elastica_to_third_order():
    """In the chord the error is 26 times smaller than that of the full mesh in the frame of its root, and falls as the cube."""
    body = slaved(SLENDER, 4, loaded=("C",))
    errors = [np.linalg.norm(tip(body, load) - elastica(load)) for load in (0.4, 0.2, 0.1)]
    assert errors[0] < 1e-4 < 2.3e-3 < np.linalg.norm(tip(SLENDER.discretise(16), 0.4) - elastica(0.4))
    assert errors[0] / errors[1] == pytest.approx(8.0, rel=0.02)
    assert errors[1] / errors[2] == pytest.approx(8.0, rel=0.02)


@pytest.mark.parametrize("modes", [1, 2])
def test_a_pinned_column_buckles_at_eulers_load(modes):
    """ω² of the first mode falls in proportion to the push."""
    joints = [ph.Revolute("ground", "b.P"), ph.Slide("ground", "b.C", along=(1, 0, 0))]
    push = ph.Force("b.C", along=(-1, 0, 0), name="push")
    body = slaved(replace(SLENDER, frame="pinned"), modes)
    system = ph.connect({"b": body}, [*joints, push], plane="xy")
    first = []
    for load in (0.0, 0.5 * np.pi**2 * EI):
        state = ph.equilibrium(system, ph.place(system), u={"push": load})
        first.append(ph.modes(ph.linearise(system, state, u={"push": load}))[0])
    assert (first[1] / first[0]) ** 2 == pytest.approx(0.5, rel=1e-5)


def test_a_beam_between_fixed_hinges_stretches_as_it_bends():
    """To 2.8 times its height, where tension carries most of the load; one end is named as loaded."""
    beam, found = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel, frame="pinned"), []
    for body in (beam.discretise(16), slaved(beam, 3, axial=0, loaded=("C",))):
        hinges = [ph.Revolute("ground", "b.P"), ph.Revolute("b.C", "ground", at=(1, 0, 0))]
        load = ph.Load("b", along=(0, 1, 0), per_length=2e4, name="q")
        system = ph.connect({"b": body}, [*hinges, load], plane="xy")
        state = ph.equilibrium(system, ph.place(system), u={"q": 1.0})
        found.append((state.position("b", 0.5)[1], state.stress("b", 0.5)["N"]))
    assert found[0][0] == pytest.approx(0.02803, rel=1e-3)
    assert found[1] == pytest.approx(found[0], rel=4e-3)


@pytest.mark.parametrize("axial", [0, 2])
def test_a_spinning_blade_stiffens_as_the_table_says(axial):
    """Flap frequencies of Wright, Smith, Thresher and Wang (1982) at γ = 4, in space, and lag by λ² − γ²."""
    blade = ph.Beam(10.0, ph.Section(A=1.0, I=5e-4, J=1e-3), ph.Material(E=2.8e7, rho=1.2, nu=0.3))
    rotor = ph.connect({"b": slaved(blade, 4, 10, axial=axial)}, [ph.Drive("ground", "b.P", of="pose", name="hub")])
    unit = np.sqrt(2.8e7 * 5e-4 / (1.2 * 1e4))
    spun = ph.steady_spin(rotor, axis=(0, 0, 1), rate=4 * unit)
    lag, flap = ph.modes(ph.linearise(rotor, spun))[:2] / unit
    assert flap == pytest.approx(5.585001, rel=1e-3)
    assert lag == pytest.approx(np.sqrt(5.585001**2 - 16.0), rel=2e-3)


def lag(body: ph.Body) -> tuple[float, float]:
    """The largest lag of the tip of the spin-up beam behind its hub, and its stretch at the end."""
    import spin_up as example

    result = example.motion(body)
    psi, x = np.array([example.psi(t) for t in result.t]), result.position("beam", 1.0)
    along, across = np.array([np.cos(psi), np.sin(psi)]), np.array([-np.sin(psi), np.cos(psi)])
    return float((across.T * x).sum(axis=1).min()), float((along.T * x).sum(axis=1)[result.t >= 15.0].mean() - 10.0)


def test_the_spin_up_beam_lags_as_the_exact_rod_does(reference):
    """Split into 8 pieces it lags by 0.57383 m; the full mesh in one frame says 0.5759."""
    import spin_up as example

    for modes, close in ((1, 7e-3), (2, 2e-3), (4, 5e-4)):
        lags, stretch = lag(slaved(example.beam, modes))
        assert lags == pytest.approx(-0.57383, rel=close)
        assert stretch == pytest.approx(reference["spin_up"]["stretch"], rel=4e-3)


@pytest.mark.parametrize("axial", [0, 2])
def test_the_rod_of_the_crank_slider_bends_as_the_full_mesh(axial):
    import crank_slider as example

    full = example.bending(example.motion(example.rod.discretise(8), dt=4e-5))
    for modes, close in ((1, 6e-3), (2, 4e-3), (4, 5e-4)):
        found = example.bending(example.motion(slaved(example.rod, modes, 8, axial=axial), dt=4e-5))
        assert found.max() == pytest.approx(full.max(), rel=close)


def test_weight_is_a_load_along_the_beam():
    """Gravity acts on the mass centre, a dead load on all points: both do work on the shortening."""
    body, weight = slaved(SLENDER, 3), steel.rho * 2e-5 * 9.81
    weld, load = ph.Weld("ground", "b.P"), ph.Load("b", along=(-3, -1, 0), per_length=np.sqrt(10) * weight, name="load")
    heavy = ph.connect({"b": body}, [weld], gravity=(-3 * 9.81, -9.81, 0.0), plane="xy")
    loaded = ph.connect({"b": body}, [weld, load], plane="xy")
    found = ph.equilibrium(loaded, ph.place(loaded), u={"load": 1.0})
    np.testing.assert_allclose(found["b.eta"], ph.equilibrium(heavy, ph.place(heavy))["b.eta"], rtol=1e-8, atol=1e-14)


def swing(frame: str, scheme: object, t_end: float = 0.5) -> ph.Result:
    """A soft pendulum that falls from level; with all bending fields of its mesh the chord of both frames is the same."""
    beam = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), ph.Material(E=2e8, rho=1000.0, nu=0.3), frame=frame)
    system = ph.connect(
        {"b": slaved(beam, 4, 2, axial=1)}, [ph.Revolute("ground", "b.P")], gravity=(0, -9.81, 0), plane="xy"
    )
    return ph.simulate(system, ph.place(system), t_end, dt=2e-3, scheme=scheme, output=np.linspace(0.0, t_end, 26))


FRAMES = ("cantilever", "pinned")


def test_the_frame_of_the_beam_does_not_matter():
    at = [
        np.array([swing(frame, ph.Midpoint(), 0.3).state(-1).position("b", s) for s in (0.5, 1.0)]) for frame in FRAMES
    ]
    np.testing.assert_allclose(at[0], at[1], rtol=0, atol=1e-10)


def test_other_schemes_find_the_same_motion():
    fine = swing("cantilever", ph.RadauIIA(rtol=1e-9))
    bent = np.abs(fine["b.u_f"][:, :, 1]).max()
    found = swing("cantilever", ph.Midpoint())
    assert bent > 0.005
    np.testing.assert_allclose(found["b.r_P"], fine["b.r_P"], atol=1e-8)
    assert np.abs(found.position("b", 1.0) - fine.position("b", 1.0)).max() < 2e-3
