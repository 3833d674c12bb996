"""Floating bodies on meshes say what their mesh says: ports, mass, energy, stress; whatever the frame, the axes and the units."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import phloat as ph
from phloat.algebra.cross import skew
from phloat.algebra.sparse import block_inverse
from phloat.bodies.continua.mesh_body import Mean, Rigid, interfaces
from phloat.bodies.inertia import coupling, first_moments, rotary_inertia
from phloat.bodies.solids.solid import Sheet
from phloat.fem.shapes import box, rectangle

steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
ENDS = {"A": "left", "B": "right"}
MEANS = {"A": Mean("left"), "B": Mean("right")}
A, B, C = 1.3, 0.12, 0.07
SKEW = np.array([[2.0, -1.0, 2.0], [2.0, 2.0, -1.0], [-1.0, 2.0, 2.0]]) / 3  # a rotation


def solid(mesh=None, material=steel, frame="left", ports=ENDS, **options):
    mesh = box(A, B, C, 5, 1, 1, "hexahedron", 2) if mesh is None else mesh
    return ph.Solid(mesh, material, frame=frame, ports=ports, **options).discretise(order=mesh.order)


def plate(frame="left", ports=ENDS, n=(5, 2), **options):
    options = {"thickness": 0.02, "material": steel, **options}
    return ph.Plate.rectangle(A, 0.4, frame=frame, ports=ports, **options).discretise(n)


def sheet(frame="left", ports=ENDS, **options):
    return Sheet(rectangle(A, B, 5, 1, "quadrilateral", 2), steel, frame=frame, ports=ports, **options).discretise()


def moved(mesh, turn=SKEW, shift=(0.0, 0.0, 0.0), scale=1.0):
    return replace(mesh, points=scale * mesh.points @ turn.T + np.array(shift))


BAR = box(A, B, C, 5, 1, 1, "hexahedron", 2)
MESHED = {
    "solid with rigid ends": lambda: solid(),
    "solid with mean ends": lambda: solid(ports=MEANS),
    "solid with a rigid, a mean and a point port": lambda: solid(
        ports={"A": Rigid("left"), "B": Mean("right"), "C": (0.5, 0.03, 0.02)}
    ),
    "solid with ports across": lambda: solid(frame="back", ports={"A": "back", "B": Mean("front")}),
    "solid whose frame is no port": lambda: solid(frame="top"),
    "solid without ports": lambda: solid(ports={}),
    "solid of tetrahedra in skew axes": lambda: solid(moved(box(A, B, C, 3, 1, 1, "tetrahedron", 2))),
    "damped solid in mean axes": lambda: solid(
        frame="mean axes", damping=ph.Rayleigh(mass=0.3, stiffness=1e-6, relative_to="body")
    ),
    "plate": plate,
    "plate with mean sides and a point": lambda: plate(ports={**MEANS, "C": (0.7, 0.1, 0.0)}),
    "plate with a disc": lambda: plate(ports={"A": "left", "C": ph.Patch((0.7, 0.2, 0.0), 0.15)}),
    "solid with a disc": lambda: solid(
        box(A, B, C, 10, 2, 1, "hexahedron", 2), ports={"A": "left", "C": ph.Patch((0.5, 0.06, C), 0.05)}
    ),
    "plate whose frame is no port": lambda: plate(frame="top"),
    "mindlin plate": lambda: plate(theory="mindlin"),
    "plate of triangles": lambda: plate(elements="morley"),
    "plate of moments": lambda: plate(elements="hhj"),
    "sheet": lambda: sheet(thickness=0.01),
}


@cache
def meshed(name):
    return MESHED[name]()


@cache
def body(name):
    return meshed(name).reduced(modes=3, stiffened=3)


EACH = pytest.mark.parametrize("name", MESHED)


def relative(a, b):
    return np.abs(a - b).max() / np.abs(b).max()


def pairs_of(name):
    """The stiffened fields of a body."""
    return sorted({k for pair in body(name).shape.fields.pairs for k in pair})


def random_coordinates(name, seed=0):
    """η of fields that turn by about a tenth: beyond that no floating body is right, below it little is nonlinear."""
    eta = np.random.default_rng(seed).normal(size=body(name).coordinates)
    return 0.1 * A * eta / np.maximum(body(name).reach, 1e-300) / len(eta)


# --- ports ------------------------------------------------------------------------------------------------------------


@EACH
def test_ports_feel_rigid_motion_exactly(name):
    continuum = meshed(name)
    there = continuum.rigid.any(axis=0)
    for port, found in interfaces(continuum, continuum.ports).items():
        twist = np.block([[np.eye(3), -skew(found.x)], [np.zeros((3, 3)), np.eye(3)]])
        flat = np.where(there, 1.0, 0.0)[:, None] * twist * there
        np.testing.assert_allclose(found.L @ continuum.rigid, flat, atol=1e-11, err_msg=port)


@EACH
def test_ports_of_the_body_are_those_of_the_mesh(name):
    continuum, one = meshed(name), body(name)
    for port, found in interfaces(continuum, continuum.ports).items():
        np.testing.assert_array_equal(one.ports[port].x, found.x)
        motion = np.vstack([one.ports[port].Phi, one.ports[port].Psi])
        V = one.shape.fields.V
        np.testing.assert_allclose(motion, found.L @ V, atol=1e-11 * np.abs(V).max())


@EACH
def test_rigid_ports_do_not_deform_and_move_as_they_say_to_first_order(name):
    """Fields tied to a port move as its twist; companions of pairs beside that by the square of a rotation."""
    continuum, V = meshed(name), body(name).shape.fields.V
    first = V[:, pairs_of(name)]
    for found in interfaces(continuum, continuum.ports).values():
        if found.tied.size:
            np.testing.assert_allclose(
                first[found.tied], found.rigid @ (found.L @ first), atol=1e-9 * np.abs(first).max()
            )


@pytest.mark.parametrize("thickness", [1e-4, 1e-6])
def test_ports_of_very_thin_plates_turn_about_their_side(thickness):
    continuum = plate(thickness=thickness)
    for found in interfaces(continuum, continuum.ports).values():
        twist = np.block([[np.eye(3), -skew(found.x)], [np.zeros((3, 3)), np.eye(3)]])
        np.testing.assert_allclose(found.L @ continuum.rigid, twist, atol=1e-9)
    omega = [ph.modes(plate(thickness=h).reduced(modes=3).linear()).elastic[:4] / h for h in (1e-3, thickness)]
    np.testing.assert_allclose(omega[1], omega[0], rtol=1e-6)


@pytest.mark.parametrize("port", ["left", Mean("left")], ids=str)
def test_ports_are_means_over_the_area_whatever_the_mesh(port):
    """On uneven cells: the centre of the face, the mean of y, and the turn ∫ u × arm / ∫ arm² of a parabola."""
    even = box(A, B, C, 2, 3, 1, "hexahedron", 1)
    uneven = replace(
        even, points=even.points * (1, 1, 1) + (even.points[:, 1:2] * (even.points[:, 1:2] - B)) * (0, 3, 0)
    )
    continuum = solid(uneven.of_order(2), ports={"P": port})
    found = interfaces(continuum, continuum.ports)["P"]
    np.testing.assert_allclose(found.x, (0.0, B / 2, C / 2), atol=1e-14)
    y = continuum.mesh.points[:, 1]
    field = np.column_stack([y**2, 0 * y, 0 * y]).ravel()
    if isinstance(port, Mean):
        np.testing.assert_allclose(found.L @ field, (B**2 / 3, 0, 0, 0, 0, -B), atol=1e-12)


# --- mass -------------------------------------------------------------------------------------------------------------


@EACH
def test_kinetic_energy_is_the_sum_over_the_samples(name):
    continuum, one = meshed(name), body(name)
    rng = np.random.default_rng(1)
    eta, v, omega = random_coordinates(name), rng.normal(size=3), rng.normal(size=3)
    rates = 20.0 * random_coordinates(name, 2)
    x, mass, Phi, *_ = continuum.samples
    V = one.shape.fields.V
    deformed, speed = (np.column_stack([p @ (V @ q) for p in Phi]) for q in (eta, rates))
    total = v + np.cross(omega, x + deformed) + speed
    T = 0.5 * np.einsum("pa,pa", total, mass @ total)
    w = np.concatenate([v, omega, rates])
    if continuum.sections is not None:  # rotary inertia of a thick plate, turned with its sections to second order
        s = continuum.sections.projected(V)
        W = np.array([[w.toarray() for w in row] for row in s.W_ab])
        Y = first_moments(s.X, W, eta)
        J_u = rotary_inertia(0.5 * np.trace(s.J0) * np.eye(3) - s.J0, s.X, Y, eta)
        T += 0.5 * omega @ J_u @ omega + omega @ (coupling(Y) @ rates) + 0.5 * rates @ (s.M_s @ rates)
    assert 0.5 * w @ one.inertia.at(eta).M @ w == pytest.approx(T, rel=1e-11)


@pytest.mark.parametrize("name", ["solid with rigid ends", "solid with ports across", "solid without ports"])
def test_a_bar_has_the_mass_and_inertia_of_a_bar(name):
    inertia, m = body(name).inertia, steel.rho * A * B * C
    centre = np.array([A, B, C]) / 2
    about = np.diag([B**2 + C**2, A**2 + C**2, A**2 + B**2]) * m / 12
    assert inertia.m == pytest.approx(m, rel=1e-12)
    np.testing.assert_allclose(inertia.s0, m * centre, rtol=1e-12)
    np.testing.assert_allclose(
        inertia.J0, about + m * skew(centre).T @ skew(centre), atol=1e-12 * np.abs(inertia.J0).max()
    )


# --- energy and stress ------------------------------------------------------------------------------------------------


def strain_of_the_mesh(name, eta):
    """D q + ½ pair(q_s, q_s) for q = V η, with the quadratic part of the stiffened fields."""
    continuum, V = meshed(name), body(name).shape.fields.V
    bent = np.zeros_like(eta)
    bent[pairs_of(name)] = eta[pairs_of(name)]
    return continuum.strains.D @ (V @ eta) + 0.5 * continuum.strains.pair(V @ bent, V @ bent)


@EACH
@pytest.mark.parametrize("size", [1e-3, 1.0, 5.0])
def test_elastic_energy_is_that_of_the_mesh(name, size):
    one, eta = body(name), size * random_coordinates(name, 4)
    strain = strain_of_the_mesh(name, eta)
    sigma = one.elastic.stress(eta)
    energy = 0.5 * strain @ (block_inverse(meshed(name).strains.C) @ strain)
    assert 0.5 * sigma @ (one.elastic.C @ sigma) == pytest.approx(energy, rel=1e-9)


@EACH
def test_stress_is_that_of_the_mesh(name):
    """Companions and what they leave of the pairs hold all of the quadratic strain, however far it bends."""
    continuum, one = meshed(name), body(name)
    eta = np.zeros(one.coordinates)
    eta[pairs_of(name)] = (
        5.0 * random_coordinates(name, 5)[pairs_of(name)]
    )  # the linear part alone would pass otherwise
    mesh = block_inverse(continuum.strains.C) @ strain_of_the_mesh(name, eta)
    sigma, x = one.elastic.stress(eta), one.shape.stress_points()
    assert relative(one.shape.cauchy(x) @ sigma, continuum.shape.cauchy(x) @ mesh) < 1e-6
    places = x[[0, len(x) // 2, -1]]
    for component, rows in one.shape.stress(places).items():
        np.testing.assert_allclose(
            rows @ sigma, continuum.shape.stress(places)[component] @ mesh, atol=1e-6 * np.abs(mesh).max()
        )


@EACH
def test_damping_is_that_of_the_mesh(name):
    V = body(name).shape.fields.V
    R_d = V.T @ (meshed(name).R_d @ V)
    np.testing.assert_allclose(body(name).elastic.R_d.toarray(), R_d, atol=1e-12 * np.abs(R_d).max())


@EACH
def test_even_fields_and_odd_ones_do_not_mix(name):
    one = body(name)
    even, strains = one.planar
    if not even.any():
        return
    M = one.inertia.M_ff.toarray()
    assert np.abs(M[even][:, ~even]).max(initial=0.0) < 1e-9 * np.abs(M).max()
    assert np.abs(one.elastic.D[strains][:, ~even].toarray()).max(initial=0.0) == 0.0
    Q = one.elastic.Q
    crossed = strains[Q.strain] != (even[Q.row] == even[Q.column])
    assert np.abs(Q.value[crossed]).max(initial=0.0) < 1e-9 * np.abs(Q.value).max()
    x = one.shape.places()
    u = one.shape.displacement(x).toarray().reshape(len(x), 3, -1)
    middle = one.inertia.s0[2] / one.inertia.m
    images = np.linalg.norm(x[:, None] - (x * (1, 1, -1) + (0, 0, 2 * middle))[None], axis=2).argmin(axis=0)
    sign = np.where(even, 1.0, -1.0)
    np.testing.assert_allclose(u[images] * np.array([1, 1, -1])[:, None], sign * u, atol=1e-6 * np.abs(u).max())


def test_bodies_are_their_own_image_only_with_their_ports_and_frame():
    for name in ("solid with rigid ends", "solid whose frame is no port", "plate", "sheet"):
        assert body(name).planar[0].any(), name
    for name in ("solid with ports across", "solid of tetrahedra in skew axes"):
        assert not body(name).planar[0].any(), name
    for frame, ports in (("back", ENDS), ("left", {**ENDS, "C": (0.7, 0.05, 0.06)}), ("left", {"A": Mean("front")})):
        assert not solid(frame=frame, ports=ports).reduced(modes=2, stiffened=1).planar[0].any()


def test_a_body_of_two_materials_is_its_own_image_only_across_them():
    halves = box(A, B, C, 3, 2, 2, "hexahedron", 2)
    middle = halves.points[halves.cells].mean(axis=1)
    for axis, own in ((1, True), (2, False)):
        low = middle[:, axis] < (A, B, C)[axis] / 2
        regions = {"low": np.flatnonzero(low), "high": np.flatnonzero(~low)}
        mesh = replace(halves, regions=regions)
        for change in ({"E": 7e10}, {"rho": 2700.0}):
            one = solid(mesh, {"low": steel, "high": replace(steel, **change)}).reduced(modes=2, stiffened=1)
            assert one.planar[0].any() == own


def test_equal_modes_cut_apart_stay_in_the_span():
    """A square bar bends alike along y and z: of three modes the last is half of a pair, and any mix of it."""
    square = box(1.0, 0.1, 0.1, 4, 1, 1, "hexahedron", 2)
    one = solid(square).reduced(modes=3, stiffened=0)
    assert one.planar[0].any() and (~one.planar[0]).any()
    full = ph.modes(solid(square).linear()).elastic
    np.testing.assert_allclose(ph.modes(one.linear()).elastic[:4], full[:4], rtol=1e-3)


# --- frames, axes, units ----------------------------------------------------------------------------------------------

FRAMES = ("left", "right", "top", "back", "mean axes")


@pytest.mark.parametrize("ports", [ENDS, MEANS, {"B": "right"}, {"B": Mean("right")}, {}], ids=str)
@pytest.mark.parametrize("make", [solid, plate], ids=["solid", "plate"])
def test_every_frame_has_the_same_frequencies(make, ports):
    frames = [frame for frame in FRAMES if make is solid or frame != "back"]
    found = [ph.modes(make(frame=f, ports=ports).reduced(modes=4, stiffened=0).linear()).elastic[:12] for f in frames]
    full = ph.modes(make(frame="left", ports=ports).linear()).elastic[:3]
    for omega in found[1:]:
        np.testing.assert_allclose(omega, found[0], rtol=1e-8)
    np.testing.assert_allclose(found[0][:3], full, rtol=1e-2)  # rigid ends stiffen a little, and modes are few


@pytest.mark.parametrize(
    "ports",
    [{"A": Mean("back"), "B": Mean("front")}, {"A": "left", "B": (0.97, 0.05, 0.03), "C": (0.98, 0.05, 0.03)}],
    ids=["two means across", "two points close by"],
)
def test_ports_near_each_other_take_no_accuracy(ports):
    """Held at both, the body hardly moves: what is left is a small difference, and modes must not move the ports."""
    full = solid(box(1.0, 0.1, 0.06, 6, 1, 1, "hexahedron", 2), frame="mean axes", ports=ports)
    omega = ph.modes(full.reduced(modes=6, stiffened=0).linear()).elastic
    np.testing.assert_allclose(omega[:4], ph.modes(full.linear()).elastic[:4], rtol=2e-3)


def swung(one, points, turn=None, *, plane=None, dt=2e-4, steps=60, g=9.81, push=2.0e3, gravity=(0.3, -1.0, 0.2)):
    """A bar hung at A, pushed at B: positions of points over time."""
    turn = np.eye(3) if turn is None else turn
    down = g * np.array(gravity if plane is None else (gravity[0], gravity[1], 0.0))
    joint = ph.Revolute("ground", "bar.A") if plane else ph.Spherical("ground", "bar.A")
    along = (0.0, 1.0, 0.0) if plane else (0.0, 0.6, 0.8)
    system = ph.connect(
        {"bar": one}, [joint, ph.Force("bar.B", along=along, name="push")], gravity=tuple(down), plane=plane
    )
    start = ph.place(system, {} if plane else {"bar.A_IB": turn.T})
    u = {"push": lambda t: push * np.sin(np.pi * min(t / (40 * dt), 1.0))}
    result = ph.simulate(system, start, t_end=steps * dt, dt=dt, u=u)
    return np.array([result.position("bar", at=tuple(turn @ x)) for x in points]), result


TIP, MIDDLE = np.array([A, B, C]), np.array([A / 2, B / 2, C / 2])


@pytest.mark.parametrize("make", [solid, plate], ids=["solid", "plate"])
def test_every_frame_sees_the_same_motion_to_second_order(make):
    points = (TIP, MIDDLE) if make is solid else (np.array([A, 0.4, 0.0]), np.array([A / 2, 0.2, 0.0]))
    frames = [frame for frame in FRAMES if make is solid or frame != "back"]
    gaps = []
    for push in (2e3, 4e3):
        scale = push if make is solid else push / 8
        runs = [swung(make(frame=f).reduced(modes=3), points, push=scale, g=0.0) for f in frames]
        bent = np.abs(runs[0][1].displacement("bar", at=tuple(points[1]))).max() / (A / 2)
        gaps.append([np.abs(x - runs[0][0]).max() / A for x, _ in runs[1:]])
        assert max(gaps[-1]) < 1.0 * bent**2, (gaps, bent)
    for once, twice in zip(*gaps, strict=True):
        assert twice < 9.0 * once  # of second or third order, not of first with a small factor
        assert twice > 3.0 * once


def test_axes_of_the_mesh_do_not_matter():
    """A bar along a skew direction has the frequencies, ports and motion of the same bar along x."""
    straight, skewed = solid().reduced(modes=3), solid(moved(BAR)).reduced(modes=3)
    omega = [ph.modes(one.linear()).elastic for one in (straight, skewed)]
    np.testing.assert_allclose(omega[1][:7], omega[0][:7], rtol=1e-7)
    np.testing.assert_allclose(omega[1][7:14], omega[0][7:14], rtol=2e-4)  # one inertial field more counts as nothing
    (x, _), (y, _) = swung(straight, (TIP, MIDDLE)), swung(skewed, (TIP, MIDDLE), SKEW)
    np.testing.assert_allclose(y, x, atol=1e-6 * A)


@pytest.mark.parametrize("shift", [(1.0, -2.0, 0.5), (100.0, 50.0, -20.0)])
def test_the_origin_of_the_mesh_does_not_matter(shift):
    here, there = solid().reduced(modes=3), solid(moved(BAR, np.eye(3), shift)).reduced(modes=3)
    omega = [ph.modes(one.linear()).elastic for one in (here, there)]
    np.testing.assert_allclose(omega[1][:10], omega[0][:10], rtol=1e-6)
    x, _ = swung(here, (TIP, MIDDLE))
    y, run = swung(there, (TIP + shift, MIDDLE + shift))
    start = run["bar.r_P"][0] + shift
    np.testing.assert_allclose(y - start, x - x[:, :1] + (y - start)[:, :1], atol=1e-6 * A)


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e2])
def test_small_and_large_bodies_move_alike(scale, plane):
    """Lengths and times in the same ratio keep the speed of sound: accelerations go as 1 / scale, forces as its square."""
    one, other = (solid(moved(BAR, np.eye(3), scale=s)).reduced(modes=3) for s in (1.0, scale))
    assert one.coordinates == other.coordinates
    x, run = swung(one, (TIP, MIDDLE), plane=plane)
    y, small = swung(
        other, (scale * TIP, scale * MIDDLE), plane=plane, dt=2e-4 * scale, g=9.81 / scale, push=2.0e3 * scale**2
    )
    np.testing.assert_allclose(y / scale, x, atol=1e-7 * A)
    np.testing.assert_allclose(small.von_mises("bar")[0], run.von_mises("bar")[0], rtol=1e-4, atol=1e3)


@pytest.mark.parametrize("E", [1e3, 1e12])
def test_soft_and_stiff_bodies_move_alike(E):
    """Times in the ratio of the speeds of sound, accelerations and forces as E."""
    one, other = (solid(material=replace(steel, E=e)).reduced(modes=3) for e in (2.1e11, E))
    ratio = E / 2.1e11
    x, _ = swung(one, (TIP, MIDDLE))
    y, _ = swung(other, (TIP, MIDDLE), dt=2e-4 / np.sqrt(ratio), g=9.81 * ratio, push=2.0e3 * ratio)
    np.testing.assert_allclose(y, x, atol=1e-7 * A)


@pytest.mark.parametrize("make", [solid, plate, lambda **o: solid(moved(BAR), **o)], ids=["solid", "plate", "skew"])
def test_a_very_stiff_body_moves_as_a_rigid_one(make):
    stiff = make(material=replace(steel, E=2.1e20)).reduced(modes=2, stiffened=2)
    I = stiff.inertia
    centre, ends = I.s0 / I.m, {name: tuple(port.x) for name, port in stiff.ports.items()}
    rigid = ph.RigidBody(
        mass=I.m, inertia=I.J0 - I.m * skew(centre).T @ skew(centre), center=tuple(centre), ports=ends
    ).discretise()
    turn = SKEW if make not in (solid, plate) else np.eye(3)
    points = [turn.T @ port for port in ends.values()]
    (x, _), (y, _) = (swung(one, points, turn, dt=2e-3, push=500.0) for one in (stiff, rigid))
    assert np.abs(x[1] - x[1, 0]).max() > 0.05 * A  # it did swing
    np.testing.assert_allclose(x, y, atol=1e-7 * A)


# --- closed forms -----------------------------------------------------------------------------------------------------


def held(one, along, force):
    """Welded at A, pushed at B, at rest."""
    system = ph.connect({"bar": one}, [ph.Weld("ground", "bar.A"), ph.Force("bar.B", along=along, name="push")])
    state = ph.equilibrium(system, ph.place(system, {}), u={"push": force})
    return system, state


@pytest.mark.parametrize("frame", FRAMES)
def test_a_solid_cantilever_bends_as_a_beam(frame):
    slender = box(2.0, 0.1, 0.05, 8, 1, 1, "hexahedron", 2)
    one = solid(slender, replace(steel, nu=0.0), frame=frame).reduced(modes=2)
    G = steel.E / 2
    for along, h, b in (((0.0, 1.0, 0.0), 0.1, 0.05), ((0.0, 0.0, 1.0), 0.05, 0.1)):
        force = 10.0
        expected = force * 2.0**3 / (3 * steel.E * b * h**3 / 12) + force * 2.0 / (5 / 6 * G * b * h)
        system, state = held(one, along, force)
        result = ph.simulate(system, state, t_end=1e-3, dt=1e-3, u={"push": force})
        tip, root = (result.position("bar", at=(x, 0.05, 0.025))[0] for x in (2.0, 0.0))
        assert (tip - root) @ np.array(along) == pytest.approx(expected, rel=4e-3)
        # σ = M y / I in the middle of a cell, on the face that is pulled
        point = (0.625, 0.05, 0.025) - 0.5 * h * np.array(along)
        moment = force * 1.375
        assert result.stress("bar", at=tuple(point))["xx"][0] == pytest.approx(moment / (b * h**2 / 6), rel=1e-2)


@pytest.mark.parametrize("frame", ["left", "right", "top", "mean axes"])
@pytest.mark.parametrize("theory", ["kirchhoff", "mindlin"])
def test_a_plate_cantilever_bends_as_a_beam(frame, theory):
    made = plate(frame=frame, theory=theory, material=replace(steel, nu=0.0), n=(8, 2)).reduced(modes=2)
    force, h, b = 1.0, 0.02, 0.4
    expected = force * A**3 / (3 * steel.E * b * h**3 / 12)
    system, state = held(made, (0.0, 0.0, 1.0), force)
    result = ph.simulate(system, state, t_end=1e-3, dt=1e-3, u={"push": force})
    tip, root = (result.position("bar", at=(x, 0.2, 0.0))[0] for x in (A, 0.0))
    assert (tip - root)[2] == pytest.approx(expected, rel=3e-3)
    field = result.stress_field("bar", 0.0, [(A / 4, 0.2, z) for z in (-h / 2, h / 2)])
    moment = force * 0.75 * A / (b * h**2 / 6)
    np.testing.assert_allclose(field["xx"], [moment, -moment], rtol=1e-2)


def test_stress_falls_into_place_by_name():
    """The field, its components, its largest value, and the stress over time say the same."""
    one = solid().reduced(modes=2)
    system, state = held(one, (0.0, 1.0, 0.0), 100.0)
    result = ph.simulate(system, state, t_end=2e-3, dt=1e-3, u={"push": 100.0})
    field = result.stress_field("bar", 1e-3)
    value, where = field.largest
    assert value == field.von_mises.max() > 0.0
    found, places = result.von_mises("bar")
    assert found[1] == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(places[1], where)
    alone = result.stress_field("bar", 1e-3, [where])
    assert alone.von_mises[0] == pytest.approx(value, rel=1e-6)
    at = result.stress("bar", at=tuple(where))
    for component, series in at.items():
        assert series[1] == pytest.approx(alone[component][0], rel=1e-6, abs=1e-6 * value)
    names = ["xx", "yy", "zz", "yz", "xz", "xy"]
    assert list(at) == names
    s = np.array([at[name][1] for name in names])
    full = np.array([[s[0], s[5], s[4]], [s[5], s[1], s[3]], [s[4], s[3], s[2]]])
    deviator = full - np.trace(full) / 3 * np.eye(3)
    assert value == pytest.approx(np.sqrt(1.5 * (deviator**2).sum()), rel=1e-6)
    assert all(a <= b + 1e-9 for a, b in pairwise(sorted(found)))


def elastica(load):
    """Tip of a cantilever of unit length, EI = 1, under a force that keeps its direction: θ'' = −load cos θ by shooting."""

    def bent(curvature):
        return solve_ivp(
            lambda s, y: (y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])),
            (0.0, 1.0),
            (0.0, curvature, 0.0, 0.0),
            rtol=1e-10,
            atol=1e-12,
        ).y[:, -1]

    root = brentq(lambda curvature: bent(curvature)[1], 0.0, 2.0 * load, xtol=1e-13)
    return bent(root)[2:]


@pytest.mark.parametrize("frame", ["left", "right", "mean axes"])
@pytest.mark.parametrize("ports", [ENDS, MEANS], ids=["rigid ends", "mean ends"])
@pytest.mark.parametrize("make", [solid, plate], ids=["solid", "plate"])
def test_far_bent_bodies_shorten_and_do_not_lock(make, ports, frame):
    """Companions let fields shorten as they bend: a tenth of the length down, and the tip comes in by 0.6 of its square."""
    straight = replace(steel, nu=0.0)
    if make is solid:
        b, h, at = B, C, (B / 2, C / 2)
        one = solid(box(A, B, C, 8, 1, 1, "hexahedron", 2), straight, frame=frame, ports=ports).reduced(modes=2)
    else:
        b, h, at = 0.4, 0.02, (0.2, 0.0)
        one = plate(frame=frame, ports=ports, material=straight, n=(8, 2)).reduced(modes=2)
    load = 0.3
    force = load * straight.E * b * h**3 / 12 / A**2
    system, state = held(one, (0.0, 0.0, 1.0), force)
    result = ph.simulate(system, state, t_end=1e-4, dt=1e-4, u={"push": force})
    tip, root = (result.position("bar", at=(x, *at))[0] for x in (A, 0.0))
    along, up = elastica(load)
    assert up == pytest.approx(load / 3 - 4 * load**3 / 105, rel=1e-3)  # its series
    assert (tip - root)[2] / A == pytest.approx(up, rel=0.02)
    assert 1.0 - (tip - root)[0] / A == pytest.approx(1.0 - along, rel=0.06)
