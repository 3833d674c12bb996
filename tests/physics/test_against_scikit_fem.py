"""Mass and stiffness of a beam against another finite-element code's assembly of the same forms."""

import numpy as np
import skfem
from bodies_zoo import steel
from skfem.helpers import dd, ddot

import phloat as ph

SECTION, LENGTH, ELEMENTS = ph.Rectangle(0.02, 0.03), 1.2, 5


def assembled(element: skfem.Element, bilinear) -> np.ndarray:
    mesh = skfem.MeshLine(np.linspace(0, LENGTH, ELEMENTS + 1))
    return skfem.BilinearForm(bilinear).assemble(skfem.Basis(mesh, element, intorder=8)).toarray()


def sorted_modes(M: np.ndarray, K: np.ndarray) -> np.ndarray:
    import scipy.linalg as la

    return np.sqrt(np.maximum(la.eigh(K, M, eigvals_only=True), 0.0))


def test_free_axial_and_bending_frequencies_are_those_of_scikit_fem():
    rhoA, EA, EI = steel.rho * SECTION.A, steel.E * SECTION.A, steel.E * SECTION.I
    line = skfem.ElementLineP2()
    axial = sorted_modes(
        assembled(line, lambda u, v, w: rhoA * u * v), assembled(line, lambda u, v, w: EA * u.grad[0] * v.grad[0])
    )
    bend = sorted_modes(
        assembled(skfem.ElementLineHermite(), lambda u, v, w: rhoA * u * v),
        assembled(skfem.ElementLineHermite(), lambda u, v, w: EI * ddot(dd(u), dd(v))),
    )
    free = ph.modes(ph.Beam(LENGTH, SECTION, steel).discretise(ELEMENTS).in_plane().linear())
    assert free.rigid == 3
    np.testing.assert_allclose(free.elastic, np.sort(np.concatenate([axial[1:], bend[2:]])), rtol=1e-8)
