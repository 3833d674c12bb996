"""Kinds of modes in words, where they are known: bending in each plane, torsion, swing, translation on springs."""

import numpy as np
import pytest

import phloat as ph

STEEL = ph.Material(E=210e9, rho=7800.0, nu=0.3)
BETA = np.array([1.8751041, 4.6940911, 7.8547574])  # of a cantilever


def modes_of(bodies, joints, count=None, **options):
    system = ph.connect(bodies, joints, **options)
    return ph.modes(ph.linearise(system, ph.equilibrium(system, ph.place(system))), count)


def kind_at(modes: ph.types.Modes, omega: float, rel: float) -> str:
    """The kind of the one mode whose frequency is omega."""
    (k,) = np.flatnonzero(np.abs(modes.omega / omega - 1.0) < rel)
    return modes.kinds[k]


@pytest.mark.parametrize("frame", ["cantilever", "pinned", "chord"])
def test_bending_of_a_cantilever_in_both_planes(frame):
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), STEEL, frame=frame).discretise(6)
    found = modes_of({"beam": beam}, [ph.Weld("ground", "beam.P")])
    for axis, height in (("y", 0.01), ("z", 0.02)):
        for omega in BETA**2 * height * np.sqrt(210e9 / 7800.0 / 12.0):
            assert kind_at(found, omega, 5e-3) == f"bending of beam along {axis} (100 %)"


def test_torsion_and_stretch_of_a_clamped_bar():
    found = modes_of({"bar": ph.Beam(1.0, ph.Circle(0.03), STEEL).discretise(8)}, [ph.Weld("ground", "bar.P")])
    G = 210e9 / 2.6
    assert kind_at(found, 0.5 * np.pi * np.sqrt(G / 7800.0), 5e-3) == "torsion of bar (100 %)"
    assert kind_at(found, 0.5 * np.pi * np.sqrt(210e9 / 7800.0), 5e-3) == "stretch of bar (100 %)"
    pair = found.kinds[:2]
    assert pair[0] == "bending of bar along y (50 %), bending of bar along z (50 %); same frequency as mode 1"
    assert pair[1].endswith("same frequency as mode 0")


def test_a_compound_pendulum_swings_and_spins_freely():
    bob = ph.RigidBody(2.0, np.diag([0.03, 0.05, 0.02]), center=(0, 0, -0.4)).discretise()
    found = modes_of({"bob": bob}, [ph.Spherical("ground", "bob.P")], gravity=(0, 0, -9.81))
    about = {axis: np.sqrt(2.0 * 9.81 * 0.4 / (J + 2.0 * 0.16)) for axis, J in (("x", 0.03), ("y", 0.05))}
    assert found.rigid == 1 and found.kinds[0] == "rotation of bob about z (100 %)"
    for axis, omega in about.items():
        assert kind_at(found, omega, 1e-9) == f"swing of bob about {axis} (100 %)"
    upside_down = ph.RigidBody(2.0, np.diag([0.03, 0.05, 0.02]), center=(0, 0, 0.4)).discretise()
    joints = [ph.Revolute("ground", "bob.P", axis=(0, 1, 0))]
    system = ph.connect({"bob": upside_down}, joints, gravity=(0, 0, -9.81))
    assert ph.modes(ph.linearise(system, ph.place(system))).kinds == ("tilt of bob about y (100 %)",)


def test_shares_of_a_mass_on_a_beam_and_a_spring():
    """A tip mass on a light cantilever, k = 3EI/L³, beside a spring of three times that stiffness: shares of 1/4 and 3/4."""
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.02), ph.Material(E=210e9, rho=1e-3, nu=0.3)).discretise(2)
    k = 3.0 * 210e9 * 0.02**4 / 12.0
    joints = [ph.Weld("ground", "beam.P"), ph.Spherical("beam.C", "tip.P")]
    spring = ph.Spring("ground", "tip.P", at=(1.0, 1.0, 0.0), stiffness=3.0 * k, length=1.0, name="stay")
    found = modes_of({"beam": beam, "tip": ph.PointMass(100.0).discretise()}, [*joints, spring], plane="xy")
    assert found.omega[0] == pytest.approx(np.sqrt(4.0 * k / 100.0), rel=1e-4)
    assert found.kinds[0] == "translation of tip along y on stay (75 %), bending of beam (25 %)"


def test_a_block_on_mounts_translates_and_turns():
    corners = {"a": (0.2, 0.2, 0), "b": (-0.2, 0.2, 0), "c": (-0.2, -0.2, 0), "d": (0.2, -0.2, 0)}
    block = ph.RigidBody(10.0, np.diag([0.2, 0.3, 0.4]), ports=corners).discretise()
    k = (1e4, 2e4, 4e4, 0.0, 0.0, 0.0)
    mounts = [ph.Bushing("ground", f"block.{n}", at=x, stiffness=k, name=f"mount {n}") for n, x in corners.items()]
    found = modes_of({"block": block}, mounts)
    for axis, stiffness in zip("xyz", k, strict=False):
        expected = f"translation of block along {axis} on 4 springs (100 %)"
        assert kind_at(found, np.sqrt(4.0 * stiffness / 10.0), 1e-9) == expected
    for axis, stiffness, J in (("x", k[2], 0.2), ("y", k[2], 0.3), ("z", k[0] + k[1], 0.4)):
        expected = f"rotation of block about {axis} on 4 springs (100 %)"
        assert kind_at(found, np.sqrt(4.0 * stiffness * 0.04 / J), 1e-9) == expected


@pytest.mark.parametrize(("arm", "kind"), [(0.1, "rotation of bob about y"), (1.0, "translation of bob along x")])
def test_a_bob_on_a_hinge_with_a_spring_rotates_or_translates(arm, kind):
    """The rotation about the mass centre has J / (J + m l²) of the kinetic energy: 2/3 with l = 0.1 m, 1/51 with 1 m."""
    bob = ph.RigidBody(1.0, 0.02 * np.eye(3), center=(0, 0, -arm)).discretise()
    coil = ph.Bushing("ground", "bob.P", stiffness=(0, 0, 0, 0, 8.0, 0), name="coil")
    found = modes_of({"bob": bob}, [ph.Revolute("ground", "bob.P", axis=(0, 1, 0)), coil])
    assert found.omega == pytest.approx([np.sqrt(8.0 / (0.02 + arm**2))], rel=1e-9)
    assert found.kinds == (f"{kind} on coil (100 %)",)


@pytest.mark.filterwarnings("ignore::phloat.errors.UnfeltMotionWarning")
def test_modes_of_tied_bodies_and_of_a_spin_have_kinds():
    plate = ph.Plate.rectangle(1.0, 1.0, thickness=0.05, material=STEEL, clamped="left").discretise(4)
    rod = ph.RigidBody(50.0, np.diag([4.0, 1.0, 4.0])).discretise()
    tied = ph.tie({"plate": plate, "rod": rod}, [ph.Tie("plate.right", "rod.P")])
    assert ph.modes(tied, 2).kinds[0] == "bending of plate (100 %)"
    blade = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), STEEL, theory="rayleigh").discretise(4)
    rotor = ph.connect({"blade": blade}, [ph.Revolute("ground", "blade.P", name="hub")])
    found = ph.modes(ph.linearise(rotor, ph.steady_spin(rotor, axis=(0, 0, 1), rate=60.0)))
    assert found.kinds[0] == "rotation of blade about z (100 %)"
    assert found.kinds[1].startswith("bending of blade along z (") and "motion of blade under load" in found.kinds[1]
