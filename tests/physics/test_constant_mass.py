"""Loads of rotation with each mass matrix: ρA ω² x pulls a spinning beam once; (34) to the letter pulls it twice."""

import pytest

import phloat as ph

RUBBER = ph.Material(E=1e8, rho=1000.0, nu=0.3)
OMEGA, LENGTH, SECTION = 20.0, 0.5, ph.Rectangle(0.02, 0.02)


@pytest.mark.parametrize(("mass", "times"), [("full", 1.0), ("constant", 1.0), ("printed", 2.0)])
@pytest.mark.parametrize("plane", ["xy", None])
def test_a_spinning_beam_is_pulled_by_its_own_inertia(mass, times, plane):
    """Its tip moves by ρω²L³/3E; the hub turns at a constant rate, and damping takes the ringing of the start."""
    beam = ph.Beam(LENGTH, SECTION, RUBBER, damping=ph.KelvinVoigt(3e-4)).discretise(1)
    system = ph.connect({"beam": beam}, [ph.Drive("ground", "beam.P", of="pose", name="hub")], plane=plane)
    u = {"hub": (0.0, 0.0, OMEGA) if plane else (0.0, 0.0, 0.0, 0.0, 0.0, OMEGA)}
    state = ph.set_moving(system, ph.place(system), u=u)
    result = ph.simulate(system, state, 0.2, scheme=ph.RadauIIA(1e-6, mass=mass), u=u)
    stretch = times * RUBBER.rho * OMEGA**2 * LENGTH**3 / (3.0 * RUBBER.E)
    assert result.displacement("beam", s=1.0)[-1, 0] == pytest.approx(stretch, rel=2e-3)
