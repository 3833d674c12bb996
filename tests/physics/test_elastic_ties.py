"""Springs and dampers in small motions: ties that give way."""

import numpy as np
import pytest
import scipy.linalg as la
import scipy.optimize as so
from messages import raises, warns

import phloat as ph

steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
body = ph.RigidBody(2.0, np.diag([0.1, 0.2, 0.3])).discretise()
free = (0.0,) * 6


def test_a_rigid_body_on_six_springs_has_six_frequencies():
    """ω = √(k/m) and √(k/J), exactly; `poles` with damping are −c/2m ± i √(k/m − (c/2m)²)."""
    k = np.array([2e3, 8e3, 18e3, 10.0, 80.0, 270.0])
    inertia = np.array([2.0, 2.0, 2.0, 0.1, 0.2, 0.3])
    exact = np.sqrt(k / inertia)
    system = ph.tie({"b": body}, [ph.Tie("ground", "b.P", stiffness=k, name="mount")])
    np.testing.assert_allclose(np.sort(ph.modes(system).omega), np.sort(exact), rtol=1e-12)
    c = 2.0 * 0.05 * np.sqrt(k * inertia)
    damped = ph.tie({"b": body}, [ph.Tie("ground", "b.P", stiffness=k, damping=c, name="mount")])
    expected = -0.05 * exact + 1j * exact * np.sqrt(1 - 0.05**2)
    found = ph.poles(damped)
    found = found[found.imag > 0]
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(expected), rtol=1e-9)


def test_the_force_of_a_spring_is_its_row():
    """A push of 10 N at rest: after long damped motion the row mount.sigma is 10 N."""
    tie = ph.Tie("ground", "b.P", stiffness=(1e3, *free[1:]), damping=(90.0, *free[1:]), name="mount")
    with warns(ph.errors.UnfeltMotionWarning):
        system = ph.tie({"b": body}, [tie, ph.Force("b.P", along=(1, 0, 0), name="push")])
    run = ph.simulate(system, t_end=2.0, dt=1e-2, u={"push": 10.0})
    assert run["mount.sigma"][-1, 0] == pytest.approx(10.0, rel=1e-9)
    assert np.abs(run.residual).max() < 1e-12 * np.abs(run.energy).max()


def hinged(k, n=8):
    """A strip of ν = 0 and unit length, D and mass, supported at x = 0 with a turning spring k there, free at x = 1."""
    h = 1e-3
    unit = ph.Material(E=12.0 / h**3, rho=1.0 / h, nu=0.0)
    strip = ph.Plate.rectangle(
        1.0, 0.2, thickness=h, material=unit, supported="left", symmetric=("bottom", "top")
    ).discretise((n, 2))
    spring = ph.Tie("ground", "strip.left", stiffness=(0, 0, 0, 0, 0.2 * k, 0), name="root")  # the total of 0.2 m
    return ph.modes(ph.tie({"strip": strip}, [spring]), 2).omega


def beam(k, x):
    """The determinant of w = a₁ cosh + … with w(0) = 0, w''(0) = k w'(0), w''(1) = w'''(1) = 0."""
    C, S, c, s = np.cosh(x), np.sinh(x), np.cos(x), np.sin(x)
    return la.det(
        [
            [1, 0, 1, 0],
            [x, -k, -x, -k],
            [C, S, -c, -s],
            [S, C, s, -c],
        ]
    )


@pytest.mark.parametrize("k", [0.5, 5.0, 50.0])
def test_a_side_that_turns_against_springs_is_that_of_a_beam(k):
    """Roots of the frequency equation of a beam with a turning spring at its support: k = 5 N m/rad gives x = 1.616…"""
    grid = np.linspace(0.2, 6.0, 400)
    values = [beam(k, x) for x in grid]
    roots = [
        so.brentq(lambda x: beam(k, x), a, b)
        for a, b, p, q in zip(grid[:-1], grid[1:], values[:-1], values[1:], strict=True)
        if p * q < 0
    ]
    np.testing.assert_allclose(np.sqrt(hinged(k)), roots[:2], rtol=1e-4)


def test_a_block_on_an_elastic_layer_heaves_and_rocks():
    """A stiff block 0.4 × 0.2 × 0.1 m on a layer of 1e4 N/m: √(k/m) along z, and about y √(k (a²/12) / J) about its lower face."""
    stiff = ph.Material(E=1e15, rho=1000.0)
    block = ph.Solid.box(0.4, 0.2, 0.1, material=stiff).discretise((2, 2, 1))
    m, k = 8.0, 1e4
    system = ph.tie({"b": block}, [ph.Tie("ground", "b.back", stiffness=(k, k, k, 0, 0, 0), name="layer")])
    omega = ph.modes(system, 6).omega
    heave = np.sqrt(k / m)
    assert np.abs(omega / heave - 1).min() < 1e-6
    # sway along x and rocking about y: mass centre at height 0.05 over the layer
    J, z = m * (0.4**2 + 0.1**2) / 12, 0.05
    K = np.array([[k, -k * z], [-k * z, k * z**2 + k * 0.4**2 / 12]])
    for exact in np.sqrt(la.eigh(K, np.diag([m, J]), eigvals_only=True)):
        assert np.abs(omega / exact - 1).min() < 1e-6


def test_a_block_on_a_layer_that_damps_sinks_at_its_rate():
    """Dampers of 40 N s/m in all over the lower face: v falls as exp(−c t/m) along z."""
    block = ph.Solid.box(0.4, 0.2, 0.1, material=ph.Material(E=1e13, rho=1000.0)).discretise((2, 2, 1))
    system = ph.tie({"b": block}, [ph.Tie("ground", "b.back", damping=(0, 0, 40.0, 0, 0, 0), name="oil")])
    lift = np.zeros(system.rows.size)
    lift[system.rows["b.v"]] = np.tile([0.0, 0.0, 1.0], block.coordinates // 3)
    assert lift @ system.R @ lift == pytest.approx(40.0, rel=1e-12)  # the power at 1 m/s


@pytest.mark.parametrize("meshes", [(4, 4), (4, 6)])
def test_a_stiff_layer_between_plates_is_a_rigid_tie(meshes):
    """The error of the layer falls as 1/k; six orders above the plate's own stiffness it is below 1e-4."""
    near = ph.Plate.rectangle(0.5, 0.4, thickness=0.01, material=steel, clamped="left").discretise(meshes[0])
    far = ph.Plate.rectangle(0.5, 0.4, thickness=0.01, material=steel).discretise(meshes[1])
    rigid = ph.modes(ph.tie({"near": near, "far": far}, [ph.Tie("near.right", "far.left")]), 3).omega
    k = 1e11
    soft = ph.Tie("near.right", "far.left", stiffness=(0, 0, k, k * 0.01, k * 0.01, 0), name="layer")
    found = ph.modes(ph.tie({"near": near, "far": far}, [soft]), 3).omega
    np.testing.assert_allclose(found, rigid, rtol=2e-3)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ph.Tie("a.P", "b.P", stiffness=(1, 2, 3)), "a.P-b.P"),
        (lambda: ph.Tie("a.P", "b.P", stiffness=(-1, 0, 0, 0, 0, 0)), "a.P-b.P"),
        (lambda: ph.Tie("a.P", "b.P", stiffness=free), "a.P-b.P"),
        (lambda: ph.Tie("a.P", "b.P", stiffness=(1,) * 6, of="w"), "of='w'"),
        (
            lambda: ph.tie({"b": ph.PointMass(1.0).discretise()}, [ph.Tie("ground", "b.P", stiffness=(1,) * 6)]),
            "ground-b.P",
        ),
        (
            lambda: ph.tie(
                {"b": ph.Solid.box(1, 1, 1, material=steel).discretise(1)},
                [ph.Tie("ground", "b.left", stiffness=(1, 1, 1, 0, 0, 1))],
            ),
            "theta_z",
        ),
    ],
)
def test_springs_that_make_no_sense(make, name):
    with raises(ph.errors.InputError, name):
        make()


FILE = """
phloat: 1
bodies:
  b: {rigid body: {mass: 2 kg, inertia: [0.1, 0.2, 0.3]}}
joints:
  mount: {tie: [ground, b.P], stiffness: [2 kN/m, 2e3, 2e3, 10, 20, 30], damping: [1, 1, 1, 0.1, 0.1, 0.1]}
"""


def test_springs_go_through_a_model_file(tmp_path):
    model = ph.io.parse_model(FILE)
    tie = ph.Tie("ground", "b.P", stiffness=(2e3, 2e3, 2e3, 10, 20, 30), damping=(1, 1, 1, 0.1, 0.1, 0.1), name="mount")
    twin = ph.tie({"b": body}, [tie])
    ph.io.save_model(model, tmp_path / "model.yaml")
    for system in (model.system, ph.io.load_model(tmp_path / "model.yaml").system):
        for name in ("E", "J", "R"):
            assert abs(getattr(system, name) - getattr(twin, name)).max() < 1e-15
