"""Body forces, tractions and pressures on floating bodies: statics, rigid motion, published buckling and flutter loads."""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import phloat as ph

STEEL = ph.Material(E=2.1e11, rho=7800.0, nu=0.0)
L, b, h = 2.0, 0.1, 0.05
PORTS = {"P": "left", "C": "right"}
SHAPES = {
    "beam": lambda: ph.Beam(L, ph.Rectangle(b, h), STEEL).discretise(4),
    "plate": lambda: (
        ph.Plate.rectangle(L, b, thickness=h, material=STEEL, frame="left", ports=PORTS)
        .discretise((4, 1))
        .reduced(modes=2)
    ),
    "sheet": lambda: (
        ph.Sheet.rectangle(L, h, thickness=b, material=STEEL, frame="left", ports=PORTS)
        .discretise((4, 1))
        .reduced(modes=2)
    ),
    "solid": lambda: (
        ph.Solid.box(L, b, h, material=STEEL, frame="left", ports=PORTS).discretise((4, 1, 1)).reduced(modes=2)
    ),
}
BEAM = ph.Rectangle(b, h)
MASS = STEEL.rho * L * b * h


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("axes", ["inertial", "body"])
def test_a_bar_hangs_by_its_own_weight(kind, axes):
    """u(x) = β (L x − x²/2) / E, β L²/2E at the end; the wall carries β times the volume."""
    beta = 7.65e4
    load = ph.BodyForce("bar", per_volume=(beta, 0.0, 0.0), axes=axes, name="w")
    system = ph.connect({"bar": SHAPES[kind]()}, [ph.Weld("ground", "bar.P", name="wall"), load])
    state = ph.equilibrium(system, ph.place(system), u={"w": 1.0})
    assert state["bar.u_f"][:, 0].max() == pytest.approx(beta * L**2 / (2 * STEEL.E), rel=1e-6)
    assert ph.reactions(system, state, u={"w": 1.0})["wall"][0] == pytest.approx(-beta * L * b * h, rel=1e-9)


@pytest.mark.parametrize("axes", ["inertial", "body"])
def test_a_force_per_volume_may_jump_and_bend_inside_the_elements_of_a_beam(axes):
    """1 from c on along y and |x − c| along x: forces L − c and (c² + (L − c)²)/2, moment (L² − c²)/2, times the section."""
    c = 0.77
    field = lambda x, y, z: (abs(x - c), np.where(x > c, 1.0, 0.0), 0.0)  # noqa: E731
    load = ph.BodyForce("bar", per_volume=field, axes=axes, name="w")
    system = ph.connect({"bar": SHAPES["beam"]()}, [load], plane="xy")
    force = system.actuators["w"].effort(system.bodies["bar"], ph.place(system).pose("bar"))
    expected = b * h * np.array([0.5 * (c**2 + (L - c) ** 2), L - c, 0.5 * (L**2 - c**2)])
    np.testing.assert_allclose(force[[0, 1, 5]], expected, rtol=1e-11)


@pytest.mark.parametrize("kind", ["sheet", "solid"])
def test_a_free_bar_pushed_at_one_end_accelerates_and_is_compressed_by_its_inertia(kind):
    """τA/m exactly, and inertia relief: the stress grows linearly from the free end, which shortens the bar by τL/2E."""
    tau = 1e4
    system = ph.connect({"bar": SHAPES[kind]()}, [ph.Traction("bar.right", (-tau, 0.0, 0.0), name="push")])
    still = ph.settle(system, ph.place(system), u={"push": 1.0})
    force = tau * (h if kind == "sheet" else b * h)
    shortening = force / (b * h) * L / (2 * STEEL.E)
    assert np.ptp(still["bar.u_f"][:, 0]) == pytest.approx(shortening, rel=1e-6)
    run = ph.simulate(system, still, t_end=0.01, dt=1e-4, u={"push": 1.0})
    assert run["bar.v_P"][-1, 0] == pytest.approx(-force / MASS * 0.01, rel=1e-9)
    assert run["bar.r_P"][-1, 0] == pytest.approx(-0.5 * force / MASS * 0.01**2, rel=1e-9)


def test_a_pressure_turns_with_a_free_plate():
    """A stiff plate that spins about its middle line: v̇ = (pA/m) n(t), so that the velocity goes round a circle."""
    material = ph.Material(E=2.1e13, rho=7800.0, nu=0.3)
    recipe = ph.Plate.rectangle(0.4, 0.2, thickness=0.02, material=material, frame="mean axes")
    plate = recipe.discretise((2, 1)).reduced(modes=3, stiffened=2)
    system = ph.connect({"p": plate}, [ph.Pressure("p", name="p")])
    rate = 3.0
    start = np.array([0.0, rate, 0.0])
    centre = np.array([0.2, 0.1, 0.0])
    state = ph.place(system, {"p.A_IB": np.eye(3)})
    state = state.with_values({"p.omega": start, "p.v_P": -np.cross(start, centre)})
    state = ph.settle(system, state, u={"p": 1e4})
    a = 1e4 / (7800.0 * 0.02)
    errors = []
    for dt in (4e-3, 2e-3):
        run = ph.simulate(system, state, t_end=1.0, dt=dt, u={"p": 1e4})
        A = run["p.A_IB"]
        velocity = np.einsum("tij,tj->ti", A, run["p.v_P"] + np.cross(run["p.omega"], centre))
        exact = a / rate * np.column_stack([1 - np.cos(rate * run.t), 0 * run.t, np.sin(rate * run.t)])
        errors.append(np.abs(velocity - exact).max() / (a / rate))
    assert errors[1] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


def strip(theory="kirchhoff", modes=5, cells=(8, 1)):
    """A slender strip of unit length with EI = 1e-6 beside EA = 1 (per width)."""
    material = ph.Material(E=1e6 / 12**1.5, rho=12**0.5 * 1e3, nu=0.0)
    recipe = ph.Plate.rectangle(
        1.0, 0.1, thickness=12**0.5 * 1e-3, material=material, theory=theory, frame="left", ports={"P": "left"}
    )
    return recipe.discretise(cells).reduced(modes=modes, stiffened=6), material.E * (12**0.5 * 1e-3) ** 3 / 12


@pytest.mark.parametrize("kind", ["traction", "body force"])
def test_a_strip_under_a_uniform_tangential_load_flutters_at_the_load_of_leipholz(kind):
    """40.05 EI/L³: below it all poles are on the imaginary axis, above it one grows."""
    body, EI = strip()
    load = {
        "traction": ph.Traction("s", (-1.0, 0.0, 0.0), axes="body", name="p"),
        "body force": ph.BodyForce("s", per_volume=(-1.0 / (12**0.5 * 1e-3), 0.0, 0.0), axes="body", name="p"),
    }[kind]
    system = ph.connect({"s": body}, [ph.Weld("ground", "s.P"), load])
    unit = np.sqrt(EI / 12)
    for q, grows in ((39.9, False), (40.2, True)):
        u = {"p": q * EI}
        linear = ph.linearise(system, ph.equilibrium(system, ph.place(system), u=u), u=u)
        assert linear.circulatory
        assert linear.followers == ("p",)
        poles = ph.poles(linear)
        bending = poles[np.abs(poles) < 100 * unit]
        assert (bending.real.max() > 1e-2 * unit) == grows


@pytest.mark.filterwarnings("ignore::phloat.errors.LargeDeformationWarning")  # the coarser one, for the order
def test_a_following_pressure_rolls_a_strip_up_as_the_elastica():
    """EI θ'' = −(force normal to the strip), exact by an ODE: the tip of a cantilever turns by 0.7 rad; order 4 in the pieces."""
    q = 4.0  # p L³/EI

    def rates(s, y):  # θ, κ, force on the section along x and z, x, z
        theta, kappa, along, across = y[:4]
        bending = along * np.sin(theta) - across * np.cos(theta)
        return [kappa, bending, q * np.sin(theta), -q * np.cos(theta), np.cos(theta), np.sin(theta)]

    s = np.linspace(0, 1, 101)
    start = np.vstack([0 * s, 0 * s, 0 * s, q * (1 - s), s, 0 * s])
    exact = solve_bvp(rates, lambda a, b: [a[0], b[1], b[2], b[3], a[4], a[5]], s, start, tol=1e-10).y[:, -1]
    assert exact[0] == pytest.approx(0.65, abs=0.01)
    errors = [np.abs(tip_of_strip(n, q) - exact[[4, 5]]).max() for n in (8, 16)]
    assert errors[1] < 1e-4
    assert errors[0] / errors[1] > 12.0


def tip_of_strip(pieces, q):
    """The tip of a cantilever strip under a pressure of q EI/L³, of plates welded one after the other."""
    h = 12**0.5 * 1e-3
    material = ph.Material(E=1.0 / h**3 * 12 * 1e-6, rho=1.0, nu=0.0)  # EI = 1e-6 per width
    recipe = ph.Plate.rectangle(1.0 / pieces, 0.1, thickness=h, material=material, frame="left", ports=PORTS)
    piece = recipe.discretise((2, 1)).reduced(modes=2)
    names = [f"s{k}" for k in range(pieces)]
    joints = [ph.Weld(f"{a}.C", f"{b}.P") for a, b in itertools.pairwise(names)]
    joints += [ph.Weld("ground", "s0.P"), *(ph.Pressure(name, name=f"on {name}") for name in names)]
    system = ph.connect(dict.fromkeys(names, piece), joints)
    state = ph.equilibrium(system, ph.place(system), u={f"on {name}": q * 1e-6 for name in names})
    pose, port = state.pose(names[-1]), piece.port("C")
    return (pose.r_P + pose.A @ (port.x + port.Phi @ pose.eta))[[0, 2]]


@pytest.mark.parametrize(("kind", "critical"), [("pressure", 3.0), ("traction", 4.0)])
def test_a_ring_buckles_at_3_under_a_following_load_and_at_4_under_one_of_constant_direction(kind, critical):
    """EI/R³ (Lévy 1884; Singer and Babcock 1970), whatever the frame; the error falls with order 4 in the mesh."""
    found = [buckling_load(kind, around) for around in (48, 96)]
    assert found[1] == pytest.approx(critical, rel=8e-3)
    assert abs(found[0] - found[1]) > 8 * abs(found[1] - buckling_load(kind, 192))


def buckling_load(kind, around, h=0.03):
    EI = 1e9 * h**3 / 12
    mesh = ph.shapes.disc(1.0 + h / 2, 1, inner=1.0 - h / 2, around=around, kind="quadrilateral", order=2)
    ring = ph.Sheet(mesh, ph.Material(E=1e9, rho=1000.0, nu=0.3), frame="mean axes").discretise().reduced(modes=6)
    inwards = lambda x, y: (-0.5 * x / (r := np.hypot(x, y)) ** 2, -0.5 * y / r**2, 0 * x)  # noqa: E731
    loads = {
        "pressure": [ph.Pressure("r.rim", name="p")],
        "traction": [ph.Traction("r.rim", inwards, name="p"), ph.Traction("r.bore", inwards, name="q")],
    }[kind]
    system = ph.connect({"r": ring}, loads, plane="xy")
    squares = []
    for load in (0.0, EI):
        u = dict.fromkeys(system.actuators, load)
        poles = ph.poles(ph.linearise(system, ph.settle(system, ph.place(system), u=u), u=u))
        squares.append(np.min(poles.imag[poles.imag > 1.0]) ** 2)
    return 1.0 / (1.0 - squares[1] / squares[0])


def test_squeezed_all_around_a_cube_keeps_its_shape():
    """A uniform pressure shortens every side by p (1 − 2ν)/E, and the mean stress is −p."""
    rubber = ph.Material(E=1e9, rho=1000.0, nu=0.4)
    recipe = ph.Solid.box(1.0, 0.7, 0.5, material=rubber, frame="mean axes")
    sides = ("left", "right", "bottom", "top", "back", "front")
    body = recipe.discretise((2, 2, 2)).reduced(modes=3, loaded=sides)
    system = ph.connect({"b": body}, [ph.Pressure(f"b.{side}", name=side) for side in sides])
    state = ph.settle(system, ph.place(system), u=dict.fromkeys(sides, 1e5))
    change = np.ptp(state["b.u_f"], axis=0)
    np.testing.assert_allclose(change, 1e5 * (1 - 2 * 0.4) / 1e9 * np.array([1.0, 0.7, 0.5]), rtol=2e-4)
    np.testing.assert_allclose(state["b.v_P"], 0.0, atol=1e-12)


def test_small_motions_and_floating_bodies_take_the_same_loads():
    """A box tied to the ground and the same box, floating and welded, have one static deflection under every load."""
    recipe = ph.Solid.box(1.0, 0.1, 0.1, material=STEEL)
    loads = [
        ph.Pressure("b.top", lambda x, y, z: 1e3 * x, name="press"),
        ph.Traction("b.right", (0.0, 0.0, 1e3), name="pull"),
        ph.BodyForce("b", per_volume=(0.0, 1e3, 0.0), name="volume"),
        ph.BodyForce("b", per_mass=(0.0, 0.0, 1.0), name="mass"),
    ]
    small = ph.tie({"b": recipe.discretise((4, 1, 1))}, [ph.Tie("b.left", "ground"), *loads])
    floating = (
        ph.Solid.box(1.0, 0.1, 0.1, material=STEEL, frame="left", ports=PORTS)
        .discretise((4, 1, 1))
        .reduced(modes=4, loaded=("top",))
    )
    system = ph.connect({"b": floating}, [ph.Weld("ground", "b.P"), *loads])
    linear = ph.linearise(system, ph.place(system))
    for load in ("press", "pull", "volume", "mass"):
        ours, theirs = (static_response(model, load) for model in (linear, small))
        assert ours == pytest.approx(theirs, rel=2e-3)


def static_response(linear, port):
    """yᵀu of a slow unit input: the compliance seen by a load, from G(iω)/iω."""
    omega = 1e-2
    return float(ph.response(linear, port, omega=np.array([omega])).values[0, 0, 0].imag / omega)
