"""The watch on small deformation within a frame: its estimate of the error against the exact elastica, and what it says."""

import json
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import phloat as ph
from phloat.bodies.watched import deformation

LENGTH, EI = 1.0, 1.0
SOFT = ph.Material(E=1e6, rho=1.0, nu=0.3)
SECTION = ph.Section(A=1.0, I=EI / SOFT.E, J=2 * EI / SOFT.E)
# (force per length, tip force, spin, place of the root about the axis of the spin) for a linear tip deflection of d lengths
LOADS = {
    "tip load": lambda d: ((0.0, 0.0), (0.0, 3 * d), 0.0, (0.0, 0.0)),
    "own weight": lambda d: ((0.0, -8 * d), (0.0, 0.0), 0.0, (0.0, 0.0)),
    "spin": lambda d: ((0.0, 0.0), (0.0, 0.0), np.sqrt(8 * d), (0.0, 1.0)),
}


def elastica(q, f, spin, root):
    """The tip of the exact inextensible rod: r' = (cos θ, sin θ), EI θ' = M, M' = −r' × n, n' = −q − ω² r."""
    s, Y = np.linspace(0, 1, 31), np.zeros((6, 31))
    Y[0] = s
    for part in (0.3, 0.6, 1.0):

        def slope(s, Y, part=part):
            x, y, angle, M, n_x, n_y = Y
            c, d = np.cos(angle), np.sin(angle)
            pull = part * spin**2
            return np.array(
                [
                    c,
                    d,
                    M / EI,
                    d * n_x - c * n_y,
                    -part * q[0] - pull * (x + root[0]),
                    -part * q[1] - pull * (y + root[1]),
                ]
            )

        def ends(a, b, part=part):
            return np.array([a[0], a[1], a[2], b[3], b[4] - part * f[0], b[5] - part * f[1]])

        found = solve_bvp(slope, ends, s, Y, tol=1e-7)
        s, Y = found.x, found.y
    return Y[:2, -1]


def modelled(q, f, spin, root, *, frame="cantilever", elements=3, plane="xy"):
    """The tip as phloat has it in one frame, whether it warned, and its estimate of the error."""
    body = ph.Beam(LENGTH, SECTION, SOFT, frame=frame).discretise(elements)
    pushes = [ph.Force("b.C", along=tuple(np.eye(3)[k]), name=f"f{k}") for k in range(2)]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        if spin:
            hub = ph.RigidBody(1.0, np.eye(3), ports={"R": (*root, 0.0)}).discretise()
            joints = [ph.Revolute("ground", "h.P", axis=(0, 0, 1)), ph.Weld("h.R", "b.P"), *pushes]
            system = ph.connect({"h": hub, "b": body}, joints, plane=plane)
            state = ph.steady_spin(system, rate=spin)
            tip = state.pose("h").A.T @ np.append(state.position("b", 1.0), [0.0] * (3 - len(state.position("b", 1.0))))
            tip = tip[:2] - root
        else:
            system = ph.connect({"b": body}, [ph.Weld("ground", "b.P"), *pushes], plane=plane, gravity=(*q, 0.0))
            state = ph.equilibrium(system, ph.place(system), u={"f0": f[0], "f1": f[1]})
            tip = state.position("b", 1.0)[:2]
    pose = state.pose("b")
    found = deformation(system.bodies["b"], np.zeros(1), pose.eta[None], pose.sigma[None])
    said = [w for w in heard if issubclass(w.category, ph.LargeDeformationWarning)]
    return tip, said, found


@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("plane", ["xy", None])
def test_the_watch_warns_between_a_tenth_and_one_percent(load, frame, plane):
    """Whatever bends a cantilever, in either frame: silent below an error of 0.1 % of the length, a warning before 1 %; and the
    error that it states is within a factor of two of the true one."""
    ratios = []
    for d in (0.06, 0.1, 0.3) if plane and load != "spin" else (0.1, 0.24):
        case = LOADS[load](d)
        tip, said, found = modelled(*case, frame=frame, plane=plane)
        error = float(np.linalg.norm(tip - elastica(*case)))
        assert said or error < 0.01, (d, error, found)
        assert not said or error > 0.001, (d, error, found)
        ratios.append(found.error / error)
    assert 0.5 < min(ratios) and max(ratios) < 2.0, ratios


@pytest.mark.parametrize(("d", "off"), [(0.3, 0.025), (0.6, 0.15)])
def test_cantilevers_that_were_wrong_without_a_word_now_warn(d, off):
    """Linear tip deflections of 0.3 and 0.6 lengths: off by 2 and 15 % of the length, and it is said with the cure."""
    case = LOADS["tip load"](d)
    tip, said, _ = modelled(*case)
    assert np.linalg.norm(tip - elastica(*case)) == pytest.approx(off, rel=0.1)
    (warning,) = said
    assert "'b'" in str(warning.message) and "split(" in str(warning.message)


def test_a_tip_that_is_deflected_by_more_than_the_length_is_no_equilibrium():
    """A linear tip deflection of one length: it was off by half the length."""
    with pytest.raises(ph.LargeDeformationError, match=r"is deflected by 1\.17 of its length"):
        modelled(*LOADS["tip load"](1.0))


def test_a_metre_of_rubber_has_no_such_equilibrium():
    """Its own weight bends it linearly by 8 lengths: the tip was put at (−36, −8) m; that is no equilibrium, and an error."""
    rubber = ph.Beam(1.0, ph.Rectangle(0.02, 0.02), ph.Material(E=4.6e6, rho=1000.0, nu=0.45)).discretise(4)
    system = ph.connect({"b": rubber}, [ph.Weld("ground", "b.P")], plane="xy", gravity=(0, -9.81, 0))
    with pytest.raises(ph.LargeDeformationError, match=r"no equilibrium of body 'b'.*of its length.*split"):
        ph.equilibrium(system, ph.place(system))


def thrown(body):
    """A rod of 10 m pushed and twisted at an end for 2.5 s, up to 3 s."""
    pushes = [ph.Force("r.P", along=(1, 0, 0), name="push"), ph.Torque("r.P", about=(0, 0, 1), name="twist")]
    system = ph.connect({"r": body}, pushes, plane="xy")
    u = {"push": 8.0, "twist": -80.0}
    return system, ph.simulate(system, ph.place(system), 2.0, dt=1e-2, u=u)


@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
def test_a_thrown_rod_warns(frame):
    rod = ph.Beam(10.0, ph.Section(A=1.0, I=1e-2), ph.Material(E=1e4, rho=1.0, nu=0.3), frame=frame)
    with pytest.warns(ph.LargeDeformationWarning, match=r"body 'r' .* at t = .* s the estimated error is .*split\("):
        _, result = thrown(rod.discretise(8))
    assert result.info["deformation"]["r"]["rotation"] > 1.0


def test_pieces_are_watched_by_themselves():
    """A ribbon bent to a half circle: 8 pieces are silent and right, 1 warns."""
    ribbon = ph.Beam(1.0, ph.Rectangle(0.02, 0.002), ph.Material(E=2.1e11, rho=7800.0, nu=0.3), frame="pinned")
    moment = np.pi * 2.1e11 * ribbon.section.I
    joints = [ph.Weld("ground", "r.P"), ph.Torque("r.C", about=(0, 0, 1), name="m")]
    system = ph.connect({"r": ribbon.split(8).discretise(1)}, joints, plane="xy")
    state = ph.place(system)
    for part in (0.5, 1.0):
        state = ph.equilibrium(system, state, u={"m": part * moment})
    np.testing.assert_allclose(state.position("r", 1.0), (0, 2 / np.pi), atol=1e-3)
    system = ph.connect({"r": ribbon.discretise(8)}, joints, plane="xy")
    with pytest.warns(ph.LargeDeformationWarning):
        ph.equilibrium(system, ph.place(system), u={"m": 0.6 * moment})


def test_twist_and_bending_of_a_strip_in_space_are_estimated_together():
    """Bent about both axes and twisted, 20 × 5 mm: what one frame neglects is of second order there, and seen."""
    material = ph.Material(E=1e9, rho=1000.0, nu=0.3)
    strip = ph.Beam(1.0, ph.Rectangle(0.005, 0.02), material, frame="pinned")
    joints = [ph.Weld("ground", "b.P"), ph.Torque("b.C", about=(1, 0, 0), name="t")]
    joints += [ph.Force("b.C", along=(0, 1, 0), name="y"), ph.Force("b.C", along=(0, 0, 1), name="z")]
    EI = material.E * strip.section.I_y
    u = {"t": 0.25 * material.G * strip.section.J, "y": 0.8 * EI, "z": 0.6 * EI}
    states = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.LargeDeformationWarning)
        for body in (strip.discretise(6), strip.split(8).discretise(1)):
            system = ph.connect({"b": body}, joints)
            states.append((system, ph.equilibrium(system, ph.place(system), u=u)))
    (system, state), (_, right) = states
    pose, error = state.pose("b"), np.linalg.norm(state.position("b", 1.0) - right.position("b", 1.0))
    found = deformation(system.bodies["b"], np.zeros(1), pose.eta[None], pose.sigma[None])
    assert error > 2e-3 and 0.4 < found.error / error < 2.5, (error, found)


def test_strain_is_that_of_the_outer_fibre():
    """M c / EI of a bent bar and N / EA of a pulled one."""
    steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
    body = ph.Beam(1.0, ph.Rectangle(0.02, 0.02), steel).discretise(8)
    joints = [
        ph.Weld("ground", "b.P"),
        ph.Force("b.C", along=(0, 1, 0), name="f"),
        ph.Force("b.C", along=(1, 0, 0), name="n"),
    ]
    system = ph.connect({"b": body}, joints, plane="xy")
    for u, strain in (({"f": 10.0}, 10.0 * 0.01 / (2.1e11 * 0.02**4 / 12)), ({"n": 1e4}, 1e4 / (2.1e11 * 4e-4))):
        result = ph.simulate(system, ph.equilibrium(system, ph.place(system), u=u), 1e-3, dt=1e-4, u=u)
        assert result.info["deformation"]["b"]["strain"] == pytest.approx(strain, rel=0.03)


def test_the_numbers_are_kept_and_shown(tmp_path):
    """In result.info, in a saved run, in the table of a notebook and on the page."""
    steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
    body = ph.Beam(1.0, ph.Rectangle(0.02, 0.005), steel).discretise(2)
    system = ph.connect({"b": body}, [ph.Revolute("ground", "b.P")], plane="xy", gravity=(0, -9.81, 0))
    result = ph.simulate(system, ph.place(system), 0.05, dt=1e-3, save=tmp_path / "run")
    found = result.info["deformation"]["b"]
    assert set(found) == {"rotation", "strain", "deflection", "error", "t", "stretch", "coupling"}
    assert 0 < found["error"] < 1e-3
    assert json.loads((tmp_path / "run" / "run.json").read_text())["info"]["deformation"]["b"] == found
    assert ph.load_run(tmp_path / "run", system).info["deformation"]["b"] == found
    assert "estimated error" in result._repr_html_()
    ph.to_html(result, tmp_path / "page.html")
    assert "estimated error" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_linear_systems_are_watched_too():
    """A linear tip at 0.3 of the length is off by 5 % of it; one at 0.01 is not worth a word."""
    body = ph.Beam(LENGTH, SECTION, SOFT).discretise(4)
    joints = [ph.Weld("ground", "b.P"), ph.Force("b.C", along=(0, 1, 0), name="f")]
    system = ph.connect({"b": body}, joints, plane="xy")
    linear = ph.linearise(system, ph.place(system))
    small = ph.simulate(linear, None, 2.0, dt=1e-2, u={"f": 0.015})
    assert small.info["deformation"]["b"]["error"] < 1e-3
    with pytest.warns(ph.LargeDeformationWarning, match="'b' moves too far for a linear system"):
        ph.simulate(linear, None, 2.0, dt=1e-2, u={"f": 0.45})
