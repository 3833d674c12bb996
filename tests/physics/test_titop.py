"""TITOP models: accelerations and forces of bodies, inverted channels, the published four-bar, and the way back."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg as la
from bodies_zoo import steel
from messages import raises

import phloat as ph
from phloat.io import Titop, connect_titop, from_titop, to_titop

PUBLISHED = np.loadtxt(Path(__file__).parents[1] / "reference" / "fourbar_titop.csv", delimiter=",", comments="#")
HINGE = (2,)
BEAM = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel, damping=ph.KelvinVoigt(1e-5)).discretise(4).in_plane().linear()
OMEGA = np.geomspace(5.0, 3000.0, 11)


def values(model: Titop) -> np.ndarray:
    """The transfer matrix at 1 + jω, (frequencies, channels, channels)."""
    n = len(model.A)
    return np.array([model.C @ la.solve((1 + 1j * w) * np.eye(n) - model.A, model.B) + model.D for w in OMEGA])


def equal(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    return bool(np.abs(a - b).max() <= tolerance * np.abs(b).max())


def turn(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def link(beam: ph.Beam, name: str, elements: int) -> Titop:
    return to_titop(beam.discretise(elements).in_plane().linear().prefixed(name), accelerated=f"{name}.P")


def pulsations(example, angles: list[float], elements: int) -> np.ndarray:
    """The poles of crank, coupler and follower as TITOP models, hinged to each other and to the ground."""
    a, b, c = (link(getattr(example, name), name[:2], elements) for name in ("crank", "coupler", "follower"))
    chain = connect_titop(a.grounded("cr.P"), "cr.C", b, "co.P", turn(angles[1] - angles[0]), free=HINGE)
    chain = connect_titop(chain, "co.C", c, "fo.P", turn(angles[2] - angles[1]), free=HINGE)
    return chain.grounded("fo.C", free=HINGE).poles


def test_two_beams_at_a_right_angle_in_space_become_ports_of_power_again():
    """160 states: the energy of so many lossless poles once took the fourth power of their number in memory."""
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel, masses={0.7: 0.1}).discretise(4)
    first, second = (to_titop(beam.linear().prefixed(name)) for name in "ab")
    joined = connect_titop(first, "a.C", second, "b.P", np.kron(np.eye(2), turn(np.pi / 2)))
    weld = ph.Weld("a.C", "b.P", turned=(0.0, 0.0, np.pi / 2))
    angle = ph.connect({"a": beam, "b": beam}, [ph.Weld("ground", "a.P", name="foot"), weld])
    assert equal(
        np.abs(joined.grounded("a.P").poles)[:8], ph.modes(ph.linearise(angle, ph.place(angle))).omega[:8], 1e-9
    )
    free = ph.connect({"a": beam, "b": beam}, [weld])
    whole, ports = ph.linearise(free, ph.place(free)), ["a.P", "b.C"]
    back = from_titop(joined)
    assert back.passive and len(joined.A) == 160
    responses = [ph.response(system, ports, ports, omega=OMEGA, shift=1.0).values for system in (back, whole)]
    assert equal(*responses, 1e-9)


def test_the_four_bar_of_titop_models_has_the_published_pulsations():
    """The data set of Chebbi and others to 4e-4, `modes` of the mechanism to 1e-8."""
    import four_bar as example

    system = example.four_bar(5)
    locked, state = ph.lock(system, "motor"), {"coupler.theta": 0.9, "follower.theta": -1.6}
    for degrees, *published in PUBLISHED[::25]:
        state = ph.place(system, {"crank.theta": np.deg2rad(degrees)}, near=state)
        found = pulsations(example, [float(state[f"{name}.theta"]) for name in ("crank", "coupler", "follower")], 5)
        np.testing.assert_allclose(found.imag[:3], published, rtol=4e-4)
        assert np.abs(found.real[:3]).max() < 1e-6
        np.testing.assert_allclose(found.imag[:9], ph.modes(ph.linearise(locked, state)).omega[:9], rtol=1e-8)


def test_accelerations_are_rates_of_velocities():
    """a = s v for all pairs of channels, from the response of the body: rigid motions, elastic ones and damping."""
    mobility = ph.response(BEAM, ("P", "C"), omega=OMEGA, shift=1.0).values
    model = to_titop(BEAM)
    assert equal(values(model), (1 + 1j * OMEGA)[:, None, None] * mobility, 1e-10)
    assert model.inputs[0] == "P.force[0]" and model.outputs[5] == "C.acceleration[2]"
    assert len(model.A) == 2 * len(ph.modes(BEAM).elastic)


def test_inverted_channels_exchange_force_and_acceleration():
    model = to_titop(BEAM)
    titop = to_titop(BEAM, accelerated="P")
    assert titop.inputs[:4] == ("P.acceleration[0]", "P.acceleration[1]", "P.acceleration[2]", "C.force[0]")
    for whole, part in zip(values(model), values(titop), strict=True):
        P, C = slice(0, 3), slice(3, 6)
        inverse = la.inv(whole[P, P])
        expected = np.block(
            [
                [-inverse, inverse @ whole[P, C]],
                [whole[C, P] @ inverse, whole[C, C] - whole[C, P] @ inverse @ whole[P, C]],
            ]
        )
        assert equal(part, expected, 1e-9)
    assert equal(values(titop.inverted("P")), values(model), 1e-9)
    assert equal(values(model.inverted(["P[2]", "C"]).inverted("C").inverted("P[2]")), values(model), 1e-9)


def test_a_held_port_gives_the_modes_of_the_cantilever():
    poles = to_titop(BEAM).grounded("P").poles
    held = ph.poles(ph.swap_causality(BEAM.with_ports("P"), "P"))
    np.testing.assert_allclose(poles, held, rtol=1e-9)
    hinged = ph.poles(ph.swap_causality(BEAM.split_port("P", {"r": (0, 1), "turn": 2}).with_ports("P.r"), "P.r"))
    np.testing.assert_allclose(
        to_titop(BEAM).grounded("P", free=HINGE).poles, hinged[1:], rtol=1e-9
    )  # its rigid turn has no state


def test_the_reaction_of_a_rigid_body_is_its_inertia():
    """−f = −m a, at low frequency of an elastic one as well."""
    m = steel.rho * 0.02 * 0.002 * 0.5
    low = to_titop(BEAM, accelerated="P").closed("C")
    static = low.D - low.C @ la.solve(low.A, low.B)
    assert static[0, 0] == pytest.approx(-m, rel=1e-9) and static[1, 1] == pytest.approx(-m, rel=1e-9)
    assert static[2, 2] == pytest.approx(-m * 0.5**2 / 3, rel=1e-6)


@pytest.mark.parametrize("accelerated", [(), "P"], ids=["forces", "P accelerated"])
def test_the_way_back_is_a_passive_system_that_connects(accelerated):
    undamped = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel).discretise(3).in_plane().linear()
    for body in (undamped, BEAM):
        back = from_titop(to_titop(body, accelerated=accelerated))
        assert back.passive and not back.has_feedthrough and back.ports.names == ("P", "C")
        w = np.geomspace(5.0, 3000.0, 7)
        pair = (ph.response(x, ("P", "C"), omega=w, shift=1.0).values for x in (back, body))
        assert equal(*pair, 1e-8)
        mine, other = (ph.transformer(x.prefixed("a"), "a.C", BEAM.prefixed("b"), "b.P") for x in (back, body))
        pair = (ph.response(x, ("a.P", "b.C"), omega=w, shift=1.0).values for x in (mine, other))
        assert equal(*pair, 1e-8)


def test_the_way_back_takes_heavy_and_light_bodies():
    for rho in (1e-3, 1e9):
        body = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), replace(steel, rho=rho)).discretise(2).in_plane().linear()
        back = from_titop(to_titop(body, accelerated="P"))
        assert ph.modes(body).rigid == int(
            (np.abs(la.eigvals(ph.state_space(back).A)) < 1e-6 * ph.modes(body).elastic[0]).sum()
        )


def test_what_is_no_port_of_power_does_not_come_back():
    model = to_titop(BEAM)
    sensor = replace(model, C=model.C[[1, 0, 2, 3, 4, 5]], D=model.D[[1, 0, 2, 3, 4, 5]])  # outputs not at their inputs
    with raises(ph.errors.InputError):
        from_titop(sensor)
    with raises(ph.errors.InputError):
        from_titop(replace(model, B=-model.B, D=-model.D))  # a negative mass
    static = Titop(
        A=np.zeros((0, 0)), B=np.zeros((0, 1)), C=np.zeros((1, 0)), D=[[0.0]], ports=ph.Layout({"P": (1,)}, "port")
    )
    with raises(ph.errors.InputError, "'P'"):
        static.inverted("P")


def test_a_spin_a_drive_and_a_feedthrough_have_no_titop_model():
    for system in (
        ph.swap_causality(BEAM, "P"),
        replace(BEAM, S=np.eye(6)),
        replace(BEAM, J=BEAM.J + _gyroscopic(BEAM)),
    ):
        with raises(ph.errors.InputError):
            to_titop(system)


def _gyroscopic(system: ph.LinearPHDAE) -> np.ndarray:
    J = np.zeros(system.J.shape)
    J[0, 1], J[1, 0] = 1.0, -1.0
    return J


def test_connections_that_do_not_fit_are_named():
    a, b = (to_titop(BEAM.prefixed(name)) for name in "ab")
    with raises(ph.errors.InputError, "'b.P'"):
        connect_titop(a, "a.C", b, "b.P", turn(0.3)[[0, 2, 1]], free=HINGE)
    with raises(ph.errors.InputError):
        connect_titop(a.closed("a.C[2]"), "a.C", b, "b.P")
    with raises(ph.errors.InputError, "no rotation"):  # a₁ = R a₂ and f₁ = −R f₂ conserve power for rotations only
        connect_titop(a, "a.C", b, "b.P", 2.0 * np.eye(3))


def test_matrices_of_the_wrong_shape_are_not_reshaped():
    model = to_titop(BEAM)
    for wrong in ({"B": model.B.T}, {"C": model.C.T}, {"D": model.D.ravel()}):
        with raises(ph.errors.InputError, next(iter(wrong))):
            replace(model, **wrong)
