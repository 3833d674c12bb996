"""Reduced beams against full meshes and closed forms: frequencies, statics with stiffening, buckling, links on joints."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg as la
from bodies_zoo import RECIPES, steel

import phloat as ph
from phloat.algebra.layout import Layout
from phloat.algebra.sparse import csr
from phloat.bodies.bases import Basis, families

SLENDER = ph.Beam(1.0, ph.Rectangle(0.01, 0.002), steel)
EI = steel.E * 0.01 * 0.002**3 / 12


def bent(body: ph.Body, load: np.ndarray) -> np.ndarray:
    """η with (∂ε/∂η)ᵀσ = load, by Newton."""
    el, eta = body.elastic, np.zeros(body.coordinates)
    C_inverse, Q = el.C_inverse.toarray(), el.Q
    for part in (0.25, 0.5, 0.75, 1.0):
        for _ in range(40):
            B = el.gradient(eta)
            sigma = el.stress(eta)
            tangent = B.T @ C_inverse @ B
            np.add.at(tangent, (Q.row, Q.column), Q.value * sigma[Q.strain])
            step = np.linalg.solve(tangent, part * load - B.T @ sigma)
            eta = eta + step
            if np.abs(step).max() < 1e-11 * np.abs(eta).max():
                break
        else:
            raise AssertionError("Newton did not converge")
    return eta


def tip(body: ph.Body, force: tuple[float, float, float]) -> np.ndarray:
    Phi = body.ports["C"].Phi
    return Phi @ bent(body, Phi.T @ force)


def frequencies(system: ph.System) -> np.ndarray:
    return ph.modes(ph.linearise(system, ph.place(system))).elastic


# --- frequencies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECIPES)
def test_modes_in_the_own_frame_are_those_of_the_full_mesh(name):
    full = RECIPES[name].discretise(8)
    K, M = full.elastic.K.toarray(), full.inertia.M_ff.toarray()
    expected = {
        f: np.sqrt(la.eigvalsh(K[np.ix_(p.columns, p.columns)], M[np.ix_(p.columns, p.columns)]))
        for f, p in families(full.elastic, full.inertia.M_ff).items()
    }
    body = full.reduced(modes=3)
    found = {f: body.elastic.D.diagonal()[p.columns] for f, p in families(body.elastic, body.inertia.M_ff).items()}
    for family, count in {"bending along y": 3, "bending along z": 3, "torsion": 2}.items():
        assert found[family] == pytest.approx(expected[family][:count], rel=1e-8)
    assert found["axial"][:2] == pytest.approx(expected["axial"][:2], rel=1e-8)  # in the span, so Ritz finds them


def test_a_cantilever_of_a_thousand_elements_has_the_exact_frequencies():
    body = ph.Beam(1.0, ph.Rectangle(0.01, 0.01), steel).discretise(1000).in_plane().reduced(modes=3)
    system = ph.connect({"b": body}, joints=[ph.Weld("ground", "b.P")], plane="xy")
    scale = np.sqrt(steel.E * 0.01**4 / 12 / (steel.rho * 0.01**2))
    np.testing.assert_allclose(frequencies(system)[:3] / scale, [3.5160152685, 22.0344915647, 61.697214414], rtol=1e-9)


def test_a_pinned_frame_gives_the_modes_of_a_rod_pinned_at_both_ends():
    body = replace(SLENDER, frame="pinned").discretise(32).in_plane().reduced(modes=3)
    joints = [ph.Revolute("ground", "b.P"), ph.Slide("ground", "b.C", along=(1, 0, 0))]
    system = ph.connect({"b": body}, joints=joints, plane="xy")
    scale = np.pi**2 * np.sqrt(EI / (steel.rho * 2e-5))
    np.testing.assert_allclose(frequencies(system)[:3] / scale, [1, 4, 9], rtol=1e-5)


def test_frames_at_the_middle_have_every_frequency_twice():
    """Both halves are one and the same cantilever: a Krylov sequence from one vector would find one of the two."""
    six = ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")
    body = replace(SLENDER, frame={0.5: six}).discretise(16).in_plane().reduced(modes=4)
    omega = np.sort(body.elastic.D.diagonal())[:4]
    assert omega[[0, 2]] == pytest.approx(omega[[1, 3]], rel=1e-10)


# --- links on joints -------------------------------------------------------------------------------------------------


def chain(link: ph.Body, locked: bool) -> np.ndarray:
    """Three links and a heavy tool."""
    tool = ph.RigidBody(5.0, 0.05 * np.eye(3)).discretise()
    joints = [ph.Revolute("ground", "a.P", name="1"), ph.Revolute("a.C", "b.P", name="2")]
    joints += [ph.Revolute("b.C", "c.P", name="3"), ph.Weld("c.C", "tool.P")]
    system = ph.connect({"a": link, "b": link, "c": link, "tool": tool}, joints=joints, plane="xy")
    state = ph.place(system, {"a.theta": 0.0, "b.theta": 0.5, "c.theta": 1.0})
    return ph.modes(ph.linearise(ph.lock(system, "1", "2", "3") if locked else system, state)).elastic[:3]


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
def test_links_with_loaded_ends_move_as_full_ones(frame, locked):
    full = replace(SLENDER, frame=frame).discretise(12).in_plane()
    reference = chain(full, locked)
    assert chain(full.reduced(modes=1, loaded=("P", "C")), locked) == pytest.approx(reference, rel=1e-2)
    assert chain(full.reduced(modes=2, loaded=("P", "C")), locked) == pytest.approx(reference, rel=1e-3)


def test_links_without_them_are_stiffer_than_that():
    """Why `loaded` is there: modes with a free end know no moment at it."""
    full = SLENDER.discretise(12).in_plane()
    reference = chain(full, True)
    assert (chain(full.reduced(modes=4), True) / reference - 1 > 0.02).all()


def test_a_portal_of_three_reduced_beams_is_that_of_full_ones():
    def portal(beam: ph.Body) -> np.ndarray:
        quarter = (0.0, 0.0, np.pi / 2)
        joints = [
            ph.Weld("ground", "a.P"),
            ph.Weld("a.C", "b.P", turned=quarter),
            ph.Weld("b.C", "c.P", turned=quarter),
        ]
        joints += [ph.Weld("c.C", "ground", at=(0, 1, 0), turned=(0, 0, np.pi))]
        return frequencies(ph.connect({"a": beam, "b": beam, "c": beam}, joints=joints))[:6]

    full = SLENDER.discretise(8)
    np.testing.assert_allclose(portal(full.reduced(modes=2, loaded=("C",))), portal(full), rtol=1e-3)


# --- statics with stiffening -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("plane", [False, True])
@pytest.mark.parametrize(
    ("options", "close"), [({"modes": 2}, 1e-2), ({"modes": 4}, 2e-3), ({"modes": 1, "loaded": ("C",)}, 1e-9)]
)
def test_a_slender_cantilever_bends_as_the_full_mesh_does(plane, options, close):
    """Tip load to a quarter of the length: no locking, and the tip moves inward by −½∫w'² = −3δ²/5L."""
    full = SLENDER.discretise(16)
    full, force = (full.in_plane(), (0.0, 1.0, 0.0)) if plane else (full, (0.0, 1.0, 6.0))
    expected, found = tip(full, force), tip(full.reduced(**options), force)
    assert expected[1] == pytest.approx(1.0 / (3 * EI), rel=1e-9)
    np.testing.assert_allclose(found, expected, rtol=close)
    assert expected[0] == pytest.approx(-0.6 * (expected[1] ** 2 + expected[2] ** 2), rel=1e-3)


def test_without_companions_the_membrane_stresses_of_the_mesh_would_lock():
    """Bending modes alone cannot shorten: 4 of them with 3 axial modes and the axial force of every element."""
    full = SLENDER.discretise(16).in_plane()
    axial, bending = families(full.elastic, full.inertia.M_ff).values()
    many = len(axial.rows)
    V, S = np.zeros((full.coordinates, 7)), np.zeros((full.stresses, many + 4))
    V[axial.columns, :3], S[axial.rows, :many] = axial.lowest(3), np.eye(many)
    V[bending.columns, 3:], _, S[bending.rows, many:] = bending.ritz(bending.lowest(4))
    names = Layout({"axial": (many,), "bending along y": (4,)}, "stress")
    locked = full.combined(Basis(csr(V), csr(S), names))
    assert tip(locked, (0.0, 1.0, 0.0))[1] < 0.2 * tip(full.reduced(modes=4), (0.0, 1.0, 0.0))[1]


@pytest.mark.parametrize("pull", [1.0, 5.0])
def test_an_axial_pull_stiffens_as_it_does_the_full_mesh(pull):
    full = SLENDER.discretise(16).in_plane()
    np.testing.assert_allclose(
        tip(full.reduced(modes=3), (pull, 0.5, 0)), tip(full, (pull, 0.5, 0)), rtol=4e-3, atol=1e-12
    )
    tight = full.reduced(modes=2, loaded=("C",))
    np.testing.assert_allclose(tip(tight, (pull, 0.5, 0)), tip(full, (pull, 0.5, 0)), rtol=4e-4, atol=1e-12)


@pytest.mark.parametrize(("frame", "modes", "exact"), [("cantilever", 4, np.pi**2 / 4), ("pinned", 1, np.pi**2)])
def test_columns_buckle_at_eulers_load(frame, modes, exact):
    """The tangent under a push at C is singular at Euler's load: companions carry the axial force to bending exactly."""
    body = replace(SLENDER, frame=frame).discretise(16).in_plane().reduced(modes=modes)
    el, C = body.elastic, body.ports["C"].Phi
    eta = np.linalg.solve(el.K.toarray(), C[0] * -1.0)
    geometric = np.zeros((body.coordinates, body.coordinates))
    np.add.at(geometric, (el.Q.row, el.Q.column), el.Q.value * (el.C_inverse @ (el.D @ eta))[el.Q.strain])
    lowest = 1.0 / la.eigh(-geometric, el.K.toarray(), eigvals_only=True)[-1]
    assert lowest == pytest.approx(exact * EI, rel=2e-3)


def test_a_spinning_reduced_beam_stretches_by_the_linear_formula():
    """Data of the spin-up beam: ρAω²L³/3EA = 5.142857e-4."""
    beam = ph.Beam(10.0, ph.Section(A=4e-4, I=2e-7), ph.Material(E=7e10, rho=3000.0))
    system = ph.connect({"b": beam.discretise(16).reduced(modes=2)}, plane="xy")
    state = ph.place(system).with_values({"b.omega": 6.0})
    terms = ph.terms(system, state)
    pull = (terms.J @ terms.z)[system.layout["b.eta_dot"]]
    stretched = state.with_values({"b.eta": np.linalg.solve(system.bodies["b"].elastic.K.toarray(), pull)})
    assert stretched.displacement("b", 1.0)[0] == pytest.approx(5.142857e-4, rel=1e-3)
