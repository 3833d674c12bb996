"""Solids and sheets converge at the rates of their orders: frequencies at 2p, displacements at p + 1, energies at 2p."""

import numpy as np
import pytest
import scipy.sparse.linalg as spla
from meshes_zoo import ALL, curved, distorted, made

from phloat.bodies.material import Material
from phloat.bodies.solids.solid import Sheet, Solid
from phloat.fem.shapes import tube

stone = Material(E=2.5, nu=0.25, rho=1.0)
SHEAR = np.sqrt(stone.G / stone.rho)


def boxed(kind, order, n):
    """A unit square or cube between smooth walls: it slides along them, so that waves stand in it."""
    plane = {"plane": "strain"} if kind in ("triangle", "quadrilateral") else {}
    make = Sheet.rectangle if plane else Solid.box
    return make(*(1.0,) * (2 if plane else 3), material=stone, symmetric="all", cells=kind, **plane).discretise(
        n, order=order
    )


@pytest.mark.parametrize(("kind", "order"), ALL)
def test_standing_shear_waves(kind, order):
    """u = (sin πx cos πy, −cos πx sin πy): ω = c_s π √2, the lowest of a box between smooth walls."""
    exact = SHEAR * np.pi * np.sqrt(2.0)
    sizes = (6, 12) if kind in ("triangle", "quadrilateral") or order == 1 else (3, 6)
    error = [boxed(kind, order, n).modes(1)[0][0] / exact - 1.0 for n in sizes]
    assert 0.0 < error[1] < error[0] < 0.06
    assert np.log2(error[0] / error[1]) == pytest.approx(2 * order, abs=0.15 * order)


@pytest.mark.parametrize(("kind", "order"), ALL)
@pytest.mark.parametrize("shape", [distorted, curved])
def test_a_manufactured_displacement(kind, order, shape):
    """Waves of sin k·x, clamped to them at the surface, under the force that belongs to them: error ~ h^(p+1)."""
    plane = {"plane": "strain"} if kind in ("triangle", "quadrilateral") else {}
    sizes = (6, 12) if plane or order == 1 else (3, 6)
    error = [_error(made(shape(kind, order, n), stone, **plane)) for n in sizes]
    assert np.log2(error[0] / error[1]) == pytest.approx(order + 1, abs=0.2)
    assert error[1] < 0.02


def _error(body):
    """√∫|u_h − u|² / ∫|u|²."""
    d, G = body.mesh.dimension, stone.G
    wave, amplitude = np.array([2.0, 1.5, 1.0])[:d], np.array([1.0, -0.5, 0.7])[:d]
    lame = stone.E * stone.nu / (1 + stone.nu) / (1 - 2 * stone.nu)

    def u(x):
        return np.sin(x @ wave)[..., None] * amplitude

    # −∇·σ = G |k|² u + (λ + G) k (k · u)
    x = body.mesh.points[:, :d]
    force = G * (wave @ wave) * u(x) + (lame + G) * (u(x) @ wave)[:, None] * wave
    load, q = body.M @ force.ravel() / stone.rho, u(x).ravel()
    outside = np.unique(np.concatenate(list(body.parts.values())))
    inside = np.setdiff1d(np.arange(body.coordinates), outside)
    K = body.K[inside]
    q[inside] = spla.spsolve(K[:, inside].tocsc(), load[inside] - K[:, outside] @ q[outside])
    cells = body.shape.cells
    xi, weight = cells.reference.mass_rule[0], cells.mass_weights
    exact, found = u(cells.positions(xi)), cells.reference.values(xi) @ q.reshape(-1, d)[cells.nodes]
    return np.sqrt(np.sum(weight[..., None] * (found - exact) ** 2) / np.sum(weight[..., None] * exact**2))


@pytest.mark.parametrize("kind", ["tetrahedron", "hexahedron"])
def test_curved_cells_keep_the_rate_on_a_curved_body(kind):
    """A tube twisted with its left end held: the torsion of round sections is exact, c = 2 T l / (G π (b⁴ − a⁴))."""
    inner, outer, length = 0.5, 1.0, 0.5
    exact = 2.0 * length / (stone.G * np.pi * (outer**4 - inner**4))
    error = []
    for around in (8, 16):
        mesh = tube(length, outer, inner, around // 8, around // 8, around, kind=kind, order=2)
        body = made(mesh, stone, clamped="left")
        trace = body.trace("right")
        r = trace.x[:, 1:]
        shear = 2.0 * trace.weight / (np.pi * (outer**4 - inner**4))  # τ = 2 T r / π (b⁴ − a⁴), T = 1
        load = -trace.u[1].T @ (shear * r[:, 1]) + trace.u[2].T @ (shear * r[:, 0])
        error.append(abs(load @ spla.spsolve(body.K.tocsc(), load) / exact - 1.0))
    assert np.log2(error[0] / error[1]) > 3.5
    assert error[1] < 1e-3
