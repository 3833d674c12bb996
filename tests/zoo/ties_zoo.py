"""Small bodies for tests of ties, and the static solution of a linear system."""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import phloat as ph
from phloat.algebra.sparse import block_inverse, largest

soft = ph.Material(E=1.0, nu=0.3, rho=1.0)
alu = ph.Material(E=70e9, nu=0.33, rho=2700.0)


def rod(mass: float = 5.0) -> ph.Body:
    """A rigid body."""
    return ph.RigidBody(mass=mass, inertia=np.diag([0.4, 0.1, 0.4])).discretise()


def plate(n=4, elements: str = "bfs", **options) -> ph.Continuum:
    """A rectangular plate clamped at its left edge."""
    options = {"clamped": "left"} | options
    return ph.Plate.rectangle(1.0, 0.8, thickness=0.02, material=alu, elements=elements, **options).discretise(n)


def statics(system: ph.LinearPHDAE, u: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """The static solution of K q = B u + Gᵀλ, G q = 0: displacements q in the velocity rows of e, and the stresses C⁻¹Lᵀq."""
    n, joints = system.split, system.multipliers.size
    L, inverse = -system.J[:n, n:], block_inverse(system.E[n:, n:].tocsr())
    K = L @ inverse @ L.T
    G = largest(K) * system.G[:, :n]
    load = sum(value * system.B[:n, system.ports[name]].toarray()[:, 0] for name, value in u.items())
    saddle = sp.block_array([[K, G.T], [G, None]], format="csc") if joints else K.tocsc()
    q = spla.splu(saddle).solve(np.concatenate([load, np.zeros(joints)]))[:n]
    e = np.zeros(system.rows.size)
    e[:n] = q
    return e, inverse @ (L.T @ q)
