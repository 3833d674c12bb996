"""Plates of every element, their lowest frequencies and static deflections, with local (eliminated) stresses and without."""

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.bodies.material import Material, Orthotropic
from phloat.bodies.plates.plate import Plate

KINDS = ("bfs", "argyris", "morley", "hhj", "mitc")
ply = Orthotropic(E=(140e9, 10e9, 10e9), nu=(0.3, 0.3, 0.4), G=(5e9, 5e9, 3.5e9), rho=1600.0)


def unit(h=1e-3, nu=0.3):
    """A material with which a plate of thickness h has bending stiffness 1 and mass 1 per area."""
    return Material(E=12.0 * (1.0 - nu**2) / h**3, rho=1.0 / h, nu=nu)


def of_kind(kind, **options):
    """Options of a plate with elements of this kind, by default of unit stiffness and mass; `options` replace them."""
    theory = "mindlin" if kind == "mitc" else "kirchhoff"
    return {"thickness": 1e-3, "material": unit(), "theory": theory, "elements": kind, **options}


def square(kind, **options):
    """A unit square plate."""
    return Plate.rectangle(1.0, 1.0, **of_kind(kind, **options))


def stiffness(body):
    """K, or [[0, Dᵀ], [D, −C]] if the stresses cannot be eliminated in each cell."""
    if body.K is not None:
        return body.K.tocsc()
    C, D, *_ = body.strains
    return sp.block_array([[None, D.T], [D, -C]], format="csc")


def frequencies(body, count):
    """The lowest `count` frequencies, ascending."""
    n, K = body.coordinates, stiffness(body)
    if n < 400:
        if body.K is not None:
            full = K.toarray()
        else:
            C, D, *_ = body.strains
            full = D.T @ la.solve(C.toarray(), D.toarray(), assume_a="pos")
        return np.sqrt(np.abs(la.eigh(full, body.M.toarray(), eigvals_only=True)[:count]))
    shift = 0.1
    M = sp.block_diag([body.M, sp.csr_array((K.shape[0] - n,) * 2)], format="csc")
    factor = spla.splu((K + shift * M).tocsc())
    pad = np.zeros(K.shape[0] - n)
    inverse = spla.LinearOperator((n, n), lambda f: factor.solve(np.concatenate([f.ravel(), pad]))[:n], dtype=float)
    start = np.random.default_rng(0).normal(size=n)
    value = spla.eigsh(
        body.M.tocsc(), count, M=body.M.tocsc(), sigma=-shift, OPinv=inverse, v0=start, return_eigenvectors=False
    )
    return np.sqrt(np.abs(np.sort(value)))


def pressed(body, pressure=lambda x: 1.0):
    """Coordinates and stresses at rest under a pressure along z, a function of points."""
    n, K = body.coordinates, stiffness(body)
    x, _, Phi, weight = body.samples
    load = np.zeros(K.shape[0])
    load[:n] = Phi[2].T @ (weight * pressure(x))
    solution = spla.spsolve(K, load)
    if body.K is None:
        return solution[:n], solution[n:]
    C, D, *_ = body.strains
    return solution, spla.spsolve(C.tocsc(), D @ solution)
