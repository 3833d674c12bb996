"""Plates converge at the rates of their elements."""

import numpy as np
import pytest
import scipy.optimize as so
import scipy.special as sf
from plates_zoo import frequencies, of_kind, pressed, square, unit

from phloat.algebra.sparse import block_inverse
from phloat.bodies.material import Material
from phloat.bodies.plates.plate import Plate


def rates(errors, sizes):
    return np.diff(np.log(errors)) / -np.diff(np.log(sizes))


@pytest.mark.parametrize(
    ("kind", "sizes", "order"),
    [("bfs", (4, 8, 12), 4), ("argyris", (4, 8), 8), ("morley", (12, 24), 2), ("hhj", (6, 9, 12), 4)],
)
def test_frequencies_of_kirchhoff_plates_converge(kind, sizes, order):
    """The second frequency of a supported square: 5 π²."""
    found = [frequencies(square(kind, supported="all").discretise(n), 2)[1] for n in sizes]
    assert (rates(np.abs(np.array(found) - 5 * np.pi**2), sizes) > order - 0.35).all()


def thick(h, k2):
    """Mindlin's lowest ω of a supported mode with this square of its wave number, for G = ρ = 1, ν = 0.3."""
    D, S, I = 2.6 * h**3 / 12 / 0.91, 5 / 6 * h, h**3 / 12
    a, b, c = h * I, h * (D * k2 + S) + I * S * k2, S * k2 * D * k2
    return np.sqrt(2 * c / (b + np.sqrt(b * b - 4 * a * c)))


@pytest.mark.parametrize("h", [0.1, 1e-4])
def test_frequencies_of_mindlin_plates_converge_and_do_not_lock(h):
    """Of fourth order at any thickness; nearer 3.6 on the first meshes of very thin plates."""
    sizes, found = (6, 12), []
    for n in sizes:
        material = Material(E=2.6 / h**2, rho=1.0)  # so that frequencies are near one for all h
        found.append(frequencies(square("mitc", thickness=h, material=material, supported="all").discretise(n), 2)[1])
    exact = thick(h, 5 * np.pi**2) / h
    errors = np.abs(np.array(found) - exact)
    assert (rates(errors, sizes) > 3.6).all()
    assert errors[-1] < 5e-4 * exact


@pytest.mark.parametrize(("kind", "order"), [("bfs", 2), ("hhj", 2), ("mitc", 2)])
def test_moments_converge(kind, order):
    """q = sin πx sin πy: M_xx = (1 + ν) q / 4π², in the mean over the plate."""
    sizes, errors = (4, 8), []
    for n in sizes:
        body = square(kind, supported="all").discretise(n)
        _, sigma = pressed(body, lambda x: np.sin(np.pi * x[:, 0]) * np.sin(np.pi * x[:, 1]))
        x = np.random.default_rng(0).uniform(0.02, 0.98, (400, 3)) * [1, 1, 0]
        exact = 1.3 / 4 / np.pi**2 * np.sin(np.pi * x[:, 0]) * np.sin(np.pi * x[:, 1])
        errors.append(np.sqrt(np.mean((body.shape.stress(x)["M_xx"] @ sigma - exact) ** 2)))
    assert (rates(errors, sizes) > order - 0.3).all()


@pytest.mark.parametrize(("kind", "sizes", "order"), [("bfs", (4, 8), 6), ("argyris", (4, 8), 6), ("mitc", (4, 8), 4)])
def test_bending_finds_room_to_shorten(kind, sizes, order):
    """w = 1 − cos πx: what the membrane cannot follow of ½ w,x² costs energy, and less so on finer meshes."""
    energy = []
    for n in sizes:
        plate = Plate.rectangle(1.0, 1.0 / n * 2, **of_kind(kind, membrane=True))
        body = plate.discretise((n, 2))
        C, D, stresses, pair = body.strains
        x = body.samples.x
        Phi = body.samples.Phi[2].toarray()
        q = np.linalg.lstsq(Phi, 1 - np.cos(np.pi * x[:, 0]), rcond=1e-12)[0]
        N = np.concatenate([np.arange(stresses.size)[stresses[name]] for name in ("N_xx", "N_yy", "N_xy")])
        s = 0.5 * pair(q, q)[N]
        S = block_inverse(C[N][:, N])
        u = np.isin(body.kinds, ["u_x", "u_y"])
        Du, K = D[N][:, u], body.K[u][:, u].toarray()
        left = s - Du @ np.linalg.lstsq(K, Du.T @ (S @ s), rcond=1e-12)[0]
        energy.append((left @ (S @ left)) / (s @ (S @ s)))
    assert (rates(energy, sizes) > order - 0.5).all()
    assert energy[0] < 5e-4


def test_discs_converge_although_their_cells_are_straight():
    """Free, ν = 0.3: 5.35826 (twice), of second order at least."""
    exact = 5.358264
    sizes = (3, 6)
    errors = [abs(frequencies(Plate.disc(1.0, **of_kind("argyris")).discretise(n), 4)[3] - exact) for n in sizes]
    assert errors[-1] < 2e-4 * exact
    assert (rates(errors, sizes) > 1.7).all()


def test_mixed_and_conforming_plates_agree_on_a_tapered_laminate_free_plate():
    """No closed answer: two quite different methods give the same frequencies."""
    options = {"thickness": lambda x, y: 0.01 * (1 + 0.5 * x + 0.3 * y), "material": unit(0.01), "clamped": "left"}
    conforming = frequencies(Plate.rectangle(1.0, 0.8, **of_kind("bfs", **options)).discretise(10), 4)
    mixed = frequencies(Plate.rectangle(1.0, 0.8, **of_kind("hhj", **options)).discretise(14), 4)
    assert mixed == pytest.approx(conforming, rel=1.5e-3)


@pytest.mark.long
def test_supported_discs_converge_to_the_disc_and_not_to_its_polygons():
    """Held all along its chords, or with w_tt = 0 at its vertices, it would converge to another plate (Babuška)."""
    k = so.brentq(lambda k: sf.j1(k) / sf.j0(k) + sf.i1(k) / sf.i0(k) - 2 * k / 0.7, 2.0, 2.3)
    sizes = (12, 24)
    errors = [
        abs(frequencies(Plate.disc(1.0, **of_kind("argyris"), supported="rim").discretise(n), 1)[0] - k**2)
        for n in sizes
    ]
    assert (rates(errors, sizes) > 1.8).all()
    assert errors[-1] < 2e-4 * k**2
