"""Plates and solids that float, against beams and closed forms: spin-up, crank-slider, spinning strips and discs, stress."""

import numpy as np
import pytest

import phloat as ph

# the spin-up beam as a strip: EA = 2.8e7, EI = 1.4e4, ρA = 1.2
WIDTH, HEIGHT = 0.2, np.sqrt(0.006)
RUBBER = ph.Material(E=2.8e7 / (WIDTH * HEIGHT), rho=1.2 / (WIDTH * HEIGHT), nu=0.0)
ROOT = {"frame": "left", "ports": {"root": "left"}}


def strip(kind: str, **options) -> ph.Body:
    """10 m along x, bending along z."""
    if kind in ("plate", "hhj"):
        elements = {"plate": None, "hhj": "hhj"}[kind]
        recipe = ph.Plate.rectangle(
            10.0, WIDTH, thickness=HEIGHT, material=RUBBER, elements=elements, **ROOT, **options
        )
        return recipe.discretise((16, 1)).reduced(modes=3)
    recipe = ph.Solid.box(10.0, WIDTH, HEIGHT, material=RUBBER, **ROOT, **options)
    return recipe.discretise((16, 1, 1)).reduced(modes=3)


def tip(kind: str) -> tuple[float, float, float]:
    return (10.0, WIDTH / 2, HEIGHT / 2 if kind == "solid" else 0.0)


def about_y(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])


@pytest.mark.parametrize("kind", ["plate", "hhj", "solid"])
def test_a_strip_lags_and_stretches_as_the_beam_when_it_is_spun_up(kind, reference):
    import spin_up

    system = ph.connect({"strip": strip(kind)}, [ph.Drive("ground", "strip.root", of="pose", name="hub")])
    u = {"hub": ph.prescribed_position(lambda t: (np.zeros(3), about_y(spin_up.psi(t))))}
    result = ph.simulate(system, ph.set_moving(system, ph.place(system), u=u), t_end=20.0, dt=0.01, u=u)
    stretch, _, lag = result.displacement("strip", at=tip(kind)).T
    known = reference["spin_up"]
    assert lag.min() == pytest.approx(known["lag"], rel=0.01)
    assert result.t[lag.argmin()] == pytest.approx(known["at"], abs=0.03)
    assert stretch[result.t >= 15.0].mean() == pytest.approx(known["stretch"], rel=3e-3)
    assert np.abs(ph.energy_ledger(result).residual).max() < 1e-11 * result.energy.max()


@pytest.mark.filterwarnings("ignore::phloat.errors.LargeDeformationWarning")  # as it should
@pytest.mark.parametrize("kind", ["plate", "solid"])
def test_without_stiffening_a_strip_runs_away(kind):
    import spin_up

    limp = strip(kind, stiffening=False)
    system = ph.connect({"strip": limp}, [ph.Drive("ground", "strip.root", of="pose", name="hub")])
    u = {"hub": ph.prescribed_position(lambda t: (np.zeros(3), about_y(spin_up.psi(t))))}
    result = ph.simulate(system, ph.set_moving(system, ph.place(system), u=u), t_end=10.0, dt=0.01, u=u)
    assert result.displacement("strip", at=tip(kind))[-1, 2] < -10.0


@pytest.mark.parametrize(("gamma", "flap"), [(2.0, 4.137320), (4.0, 5.585001)])
@pytest.mark.parametrize("kind", ["plate", "hhj", "solid"])
def test_a_spinning_strip_flaps_faster_as_the_rotating_beam(kind, gamma, flap):
    unit = np.sqrt(1.4e4 / 1.2 / 10.0**4)  # √(EI/ρAL⁴)
    rate = gamma * unit
    system = ph.connect({"strip": strip(kind)}, [ph.Drive("ground", "strip.root", of="pose", name="hub")])
    u = {"hub": (0.0, 0.0, 0.0, 0.0, 0.0, rate)}  # about z, so that flap is out of the plane of rotation
    state = ph.settle(system, ph.set_moving(system, ph.place(system), u=u), u=u)
    name = "strip.eta_dot"
    soft = np.zeros(system.layout.shape(name))
    soft[system.bodies["strip"].elastic.D.diagonal().argmin()] = 1e-3
    result = ph.simulate(system, state.with_values({name: soft}), t_end=30.0, dt=0.01, u=u)
    w = result.displacement("strip", at=tip(kind))[:, 2]
    up = np.flatnonzero((w[:-1] < 0) & (w[1:] >= 0))
    crossing = result.t[up] - w[up] * 0.01 / (w[up + 1] - w[up])
    period = (crossing[-1] - crossing[0]) / (len(crossing) - 1)
    assert 2 * np.pi / period / unit == pytest.approx(flap, rel=0.01)


# --- the crank-slider -------------------------------------------------------------------------------------------------

A, I = np.pi * 6e-3**2 / 4, np.pi * 6e-3**4 / 64
DEPTH = np.sqrt(12 * I / A)  # the rectangle with the area and the moment of the round rod
STEEL = ph.Material(E=0.2e12, rho=7870.0, nu=0.3)


def peak(chord) -> float:
    """The largest deflection of the middle from the chord, over the length; chord gives three points."""
    a, m, c = chord
    along = (c - a) / np.linalg.norm(c - a, axis=1)[:, None]
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    return float(np.einsum("ti,ti->t", m - a, across).max() / 0.3)


@pytest.mark.parametrize("frame", ["left", "mean axes"])
def test_a_solid_rod_bends_in_the_crank_slider_as_the_beam(frame, reference):
    ends = {"P": "left", "C": "right"}
    recipe = ph.Solid.box(0.3, DEPTH, A / DEPTH, material=STEEL, frame=frame, ports=ends)
    rod = recipe.discretise((12, 1, 1)).reduced(modes=4)
    system = ph.connect(
        {"rod": rod, "slider": ph.PointMass(0.03337785).discretise()},
        joints=[
            ph.Drive("ground", "rod.P", name="crank pin"),
            ph.Revolute("rod.C", "slider.P"),
            ph.Slide("ground", "slider.P", along=(1, 0, 0)),
        ],
        plane="xy",
    )
    u = {"crank pin": lambda t: 22.5 * np.array([-np.sin(150 * t), np.cos(150 * t)])}
    state = ph.set_moving(system, ph.place(system, {"rod.r_P": (0.15, -DEPTH / 2)}), u=u)
    result = ph.simulate(system, state, t_end=0.01, dt=2e-5, u=u)
    middle = [(x, DEPTH / 2, A / DEPTH / 2) for x in (0.0, 0.15, 0.3)]
    assert peak([result.position("rod", at=x) for x in middle]) == pytest.approx(0.01542, rel=0.01)


def test_a_plate_strip_bends_in_the_crank_slider_as_the_beam():
    ends = {"P": "left", "C": "right"}
    material = ph.Material(E=STEEL.E, rho=STEEL.rho, nu=0.0)
    recipe = ph.Plate.rectangle(0.3, A / DEPTH, thickness=DEPTH, material=material, frame="left", ports=ends)
    rod = recipe.discretise((12, 1)).reduced(modes=4)
    tiny = ph.RigidBody(0.03337785, 1e-6 * np.eye(3)).discretise()
    system = ph.connect(
        {"rod": rod, "slider": tiny},
        joints=[
            ph.Drive("ground", "rod.P", name="crank pin"),
            ph.Revolute("rod.C", "slider.P", axis=(0, 1, 0)),
            ph.Prismatic("ground", "slider.P", axis=(1, 0, 0)),
        ],
    )
    u = {"crank pin": lambda t: 22.5 * np.array([-np.sin(150 * t), 0.0, np.cos(150 * t)])}
    state = ph.set_moving(system, ph.place(system, {"rod.r_P": (0.15, -A / DEPTH / 2, 0.0)}), u=u)
    result = ph.simulate(system, state, t_end=0.01, dt=2e-5, u=u)
    middle = [(x, A / DEPTH / 2, 0.0) for x in (0.0, 0.15, 0.3)]
    assert peak([result.position("rod", at=x)[:, [0, 2]] for x in middle]) == pytest.approx(0.01542, rel=0.01)


# --- frequencies and statics ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", ["left", "right", "mean axes"])
def test_free_frequencies_are_those_of_the_mesh_whatever_the_frame(frame):
    recipe = ph.Solid.box(1.0, 0.2, 0.1, material=STEEL, frame=frame, ports={"A": "left", "B": ph.Mean("right")})
    mesh = recipe.discretise((4, 1, 1))
    system = ph.connect({"box": mesh.reduced(modes=16)})
    reduced = ph.modes(ph.linearise(system, ph.place(system)))
    assert reduced.rigid == 6
    np.testing.assert_allclose(reduced.elastic[:6], _with_rigid_end(mesh)[:6], rtol=1e-3)


def _with_rigid_end(mesh: ph.Continuum) -> np.ndarray:
    """Elastic frequencies of the mesh whose left end moves as a rigid piece, densely."""
    import scipy.linalg as la

    on = mesh.on("left")
    inside = np.setdiff1d(np.arange(mesh.coordinates), on)
    T = np.zeros((mesh.coordinates, len(inside) + 6))
    T[inside, np.arange(len(inside))] = 1.0
    T[on, len(inside) :] = mesh.rigid[on]
    squared = la.eigh(T.T @ (mesh.K @ T), T.T @ (mesh.M @ T), eigvals_only=True)
    return np.sqrt(squared[6:])


@pytest.mark.parametrize("kind", ["plate", "solid"])
def test_a_cantilever_sags_under_its_weight(kind):
    ends = {"frame": "left", "ports": {"root": "left"}, "material": ph.Material(E=STEEL.E, rho=STEEL.rho, nu=0.0)}
    if kind == "plate":
        body = ph.Plate.rectangle(1.0, 0.05, thickness=0.02, **ends).discretise((8, 1)).reduced(modes=3)
    else:
        body = ph.Solid.box(1.0, 0.05, 0.02, **ends).discretise((16, 1, 1)).reduced(modes=3)
    system = ph.connect({"arm": body}, [ph.Weld("ground", "arm.root")], gravity=(0, 0, -9.81))
    state = ph.equilibrium(system, ph.place(system))
    result = ph.simulate(system, state, t_end=0.01, dt=1e-3)
    sag = result.displacement("arm", at=(1.0, 0.025, 0.0 if kind == "plate" else 0.01))[:, 2]
    np.testing.assert_allclose(sag, -7870 * 9.81 * 0.02 / (8 * 0.2e12 * 0.02**3 / 12), rtol=5e-3)
    # M(x)/W on the upper face, in the middle of an element, where its stress is best
    x = 0.5625 if kind == "plate" else 0.53125
    expected = 7870 * 9.81 * 0.02 * (1 - x) ** 2 / 2 / (0.02**2 / 6)
    stress = result.stress("arm", at=(x, 0.025, 0.01 if kind == "plate" else 0.02))["xx"]
    np.testing.assert_allclose(stress, expected, rtol=0.01)


def test_a_spinning_disc_is_pulled_as_the_textbook_says():
    nu, rho, R, rate = 0.3, 2700.0, 0.5, 300.0
    alu = ph.Material(E=7e10, rho=rho, nu=nu)
    disc = ph.Plate.disc(R, thickness=0.004, material=alu, frame="mean axes").discretise(4).reduced(modes=4)
    system = ph.connect({"disc": disc})
    state = ph.settle(system, ph.set_moving(system, ph.place(system), {"disc.omega": (0.0, 0.0, rate)}))
    result = ph.simulate(system, state, t_end=0.02, dt=1e-3)
    r = np.array([0.0, 0.3])
    field = result.stress_field("disc", 0.01, points=np.column_stack([r, 0 * r, 0 * r]))
    pull = rho * rate**2 / 8
    np.testing.assert_allclose(field["xx"], pull * (3 + nu) * (R**2 - r**2), rtol=2e-3)
    np.testing.assert_allclose(field["yy"], pull * ((3 + nu) * R**2 - (1 + 3 * nu) * r**2), rtol=2e-3)
    value, where = result.von_mises("disc")
    np.testing.assert_allclose(value, pull * (3 + nu) * R**2, rtol=5e-3)
    assert np.linalg.norm(where[:, :2], axis=1).max() < 0.1
