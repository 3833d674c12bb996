"""Gradients are what differences of whole computations come to, on mechanisms with joints, loads, spin and damping."""

from collections.abc import Callable

import numpy as np
import pytest

import phloat as ph

ALU = ph.Material(E=7.1016e10, rho=2714.4716, nu=0.33)


def differences(system: ph.System, name: str, of: Callable[[ph.System], np.ndarray], step: float) -> np.ndarray:
    """Of fourth order, of the whole computation."""
    value = ph.parameters(system)[name]
    h = step * (abs(value) or 1.0)
    at = {k: of(ph.with_parameters(system, {name: value + k * h})) for k in (-2, -1, 1, 2)}
    return (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)


def four_bar() -> ph.System:
    thick, thin = ph.Section(A=1.0774172e-4, I=1.61541e-10), ph.Section(A=4.064508e-5, I=8.67410e-12)
    lengths = {"crank": (0.10795, thick, {}), "coupler": (0.2794, thin, {0.0: 0.042}), "follower": (0.27051, thin, {})}
    links = {
        name: ph.Beam(length=length, section=section, material=ALU, masses=masses).discretise(2)
        for name, (length, section, masses) in lengths.items()
    }
    joints = [
        ph.Revolute("ground", "crank.P", name="motor"),
        ph.Revolute("crank.C", "coupler.P"),
        ph.Revolute("coupler.C", "follower.P"),
        ph.Revolute("follower.C", "ground", at=(0.254, 0.0, 0.0)),
    ]
    return ph.lock(ph.connect(links, joints, plane="xy"), "motor")


def closed(system: ph.System) -> ph.State:
    return ph.place(system, {"crank.theta": np.pi / 6}, near={"coupler.theta": 0.9, "follower.theta": -1.6})


def arm(*more: object, **options) -> ph.System:
    section = ph.Rectangle(0.02, 0.002)
    link = ph.Beam(length=0.5, section=section, material=ALU, damping=ph.KelvinVoigt(2e-5)).discretise(2)
    hinges = [ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")]
    return ph.connect({"upper": link, "lower": link}, [*hinges, *more], plane="xy", **options)


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [("crank.length", 1e-6), ("coupler.masses[0]", 1e-8), ("crank.section.I", 1e-8), ("follower.material.E", 1e-6)],
)
def test_frequencies_of_a_closed_loop(name, tolerance):
    """Its joints turn with every length: what their multipliers do counts."""
    system = four_bar()
    found = ph.frequency_gradients(system, name, state=closed, count=4)
    by_whole = differences(system, name, lambda s: ph.modes(ph.linearise(s, closed(s))).elastic[:4], 1e-3)
    np.testing.assert_allclose(found[name], by_whole, atol=tolerance * np.abs(by_whole).max())


@pytest.mark.long
@pytest.mark.parametrize("name", ["first.stiffness", "gravity[1]", "gravity[0]", "upper.section.h"])
def test_frequencies_of_an_arm_that_hangs_in_springs(name):
    """The equilibrium moves along; it is known to some 1e-8, which a step of 5e-3 makes 1e-5."""
    springs = (
        ph.JointSpring("shoulder", stiffness=5.0, rest=0.5, name="first"),
        ph.JointSpring("elbow", stiffness=2.0, name="second"),
    )
    hung = arm(*springs, gravity=(0, -9.81, 0))
    start = ph.equilibrium(hung, ph.place(hung))

    def lowest(system: ph.System) -> np.ndarray:
        return ph.modes(ph.linearise(system, ph.equilibrium(system, start))).elastic[:3]

    found = ph.frequency_gradients(hung, name, state=lambda s: ph.equilibrium(s, start), count=3, step=2e-3)
    by_whole = differences(hung, name, lowest, 5e-3)
    size = abs(ph.parameters(hung)[name]) or 1.0
    np.testing.assert_allclose(found[name] * size / found.omega, by_whole * size / found.omega, atol=5e-5)


def test_frequencies_in_a_spin():
    """Modes are complex there, and the spin stiffens by the mass that it pulls."""
    blade = ph.Beam(length=1.0, section=ph.Rectangle(0.02, 0.01), material=ALU).discretise(2)
    hub = ph.RigidBody(2.0, 0.1 * np.eye(3)).discretise()
    joints = [ph.Weld("hub.P", "blade.P"), ph.Revolute("ground", "hub.P")]
    rotor = ph.connect({"blade": blade, "hub": hub}, joints)

    def spinning(system: ph.System) -> ph.State:
        return ph.steady_spin(system, axis=(0, 0, 1), rate=20.0)

    found = ph.frequency_gradients(rotor, ["blade.material.E", "blade.section.h"], state=spinning, count=3)
    for name in found.names:
        by_whole = differences(rotor, name, lambda s: ph.modes(ph.linearise(s, spinning(s))).elastic[:3], 2e-3)
        np.testing.assert_allclose(found[name], by_whole, atol=1e-7 * np.abs(by_whole).max())
    assert not np.allclose(found["blade.material.E"] * 2 * ALU.E, found.omega, rtol=1e-3)  # at rest they would be equal


@pytest.mark.parametrize("name", ["upper.length", "lower.section.h", "elbow damper.damping", "lower.material.rho"])
def test_transfer_functions_of_a_damped_arm_with_a_driven_joint(name):
    """Efforts and driven motions in, motions and reactions out."""
    system = ph.drive(arm(ph.JointDamper("elbow", damping=0.01, name="elbow damper")), "shoulder")
    omega, ports = np.array([1.0, 20.0, 120.0]), (["shoulder", "elbow"], ["shoulder", "elbow", "lower.C"])

    def bent(new: ph.System) -> ph.State:
        return ph.place(new, {"shoulder.angle": 0.3, "elbow.angle": 0.6})

    def H(new: ph.System) -> np.ndarray:
        return ph.response(ph.linearise(new, bent(new)), *ports, omega=omega).values

    found = ph.transfer_gradients(system, name, *ports, s=1j * omega, state=bent)
    np.testing.assert_allclose(found.values, H(system), rtol=1e-10)
    by_whole = differences(system, name, H, 1e-4)
    for line, known in zip(found[name], by_whole, strict=True):
        np.testing.assert_allclose(line, known, atol=1e-7 * np.abs(known).max())
    assert found.outputs[:2] == ("shoulder", "elbow") and found.inputs == ("shoulder", "elbow")


def test_transfer_functions_in_a_spin():
    """The matrices are not symmetric there: the adjoint is a solution of its own."""
    blade = ph.Beam(length=1.0, section=ph.Rectangle(0.02, 0.01), material=ALU).discretise(2)
    hub = ph.RigidBody(2.0, 0.1 * np.eye(3)).discretise()
    rotor = ph.connect({"blade": blade, "hub": hub}, [ph.Weld("hub.P", "blade.P"), ph.Revolute("ground", "hub.P")])

    def spinning(system: ph.System) -> ph.State:
        return ph.steady_spin(system, axis=(0, 0, 1), rate=20.0)

    def H(new: ph.System) -> np.ndarray:
        return ph.response(ph.linearise(new, spinning(new)), "blade.C[1]", "blade.C[0]", omega=[50.0]).values

    found = ph.transfer_gradients(rotor, "blade.section.h", "blade.C[1]", "blade.C[0]", s=50j, state=spinning)
    np.testing.assert_allclose(found.values, H(rotor), rtol=1e-9)
    np.testing.assert_allclose(found["blade.section.h"], differences(rotor, "blade.section.h", H, 1e-3), rtol=1e-6)


def test_values_given_with_the_names_are_those_of_the_changed_system():
    system = four_bar()
    given = {"crank.section.I": 2e-10}
    one = ph.frequency_gradients(system, given, state=closed, count=2)
    other = ph.frequency_gradients(ph.with_parameters(system, given), list(given), state=closed, count=2)
    np.testing.assert_array_equal(one.omega, other.omega)
    np.testing.assert_allclose(one.gradient, other.gradient, rtol=1e-12)
    np.testing.assert_array_equal(one.values, [2e-10])


def test_a_pattern_moves_all_that_it_names():
    system = four_bar()
    names = ["crank.material.E", "coupler.material.E", "follower.material.E"]
    found = ph.frequency_gradients(system, ["*.material.E", *names], state=closed, count=3)
    np.testing.assert_allclose(found.gradient[:, 0], found.gradient[:, 1:].sum(axis=1), rtol=1e-9)
    np.testing.assert_allclose(found.relative[:, 0], 0.5, rtol=1e-9)
