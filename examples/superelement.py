"""How does a link from another finite-element code move in an arm?

Matrices of a slender aluminium link come from scikit-fem (`pip install scikit-fem`; they could be files, see
Superelement.from_files). Its ends become two rigid interfaces, its motion 10 modes and what the interfaces do. Hung from a hinge
with a beam behind it, the arm has the frequencies that it has when both links are beams; the report says what the reduction costs.
"""

import numpy as np
import scipy.sparse as sp
from skfem import Basis, BilinearForm, ElementHex2, ElementVector, MeshHex
from skfem.helpers import dot
from skfem.models.elasticity import lame_parameters, linear_elasticity

import phloat as ph

alu = ph.Material(E=70e9, rho=2700.0, nu=0.3)
length, width, height = 0.5, 0.02, 0.01


def exported() -> tuple[sp.csr_array, sp.csr_array, np.ndarray, np.ndarray]:
    """M, K, nodes, and the node and component of every row, as other codes write them."""
    lines = np.linspace(0, length, 17), np.array([-width / 2, width / 2]), np.array([-height / 2, height / 2])
    basis = Basis(MeshHex.init_tensor(*lines), ElementVector(ElementHex2()), intorder=4)
    K = sp.csr_array(linear_elasticity(*lame_parameters(alu.E, alu.nu)).assemble(basis))
    M = sp.csr_array(BilinearForm(lambda u, v, w: alu.rho * dot(u, v)).assemble(basis))
    nodes, node = np.unique(basis.doflocs.T.round(9), axis=0, return_inverse=True)
    component = np.zeros(len(node), dtype=int)
    for k in range(len(nodes)):
        component[node == k] = (1, 2, 3)
    return M, K, nodes, np.column_stack([node, component])


M, K, nodes, dofs = exported()
ends = {"P": np.flatnonzero(nodes[:, 0] == 0.0), "C": np.flatnonzero(nodes[:, 0] == length)}
recipe = ph.Superelement.from_matrices(M, K, nodes, ends, dofs=dofs, modes=10)
link = recipe.discretise()
report = recipe.report(link)


def arm(upper: ph.Body) -> ph.System:
    """The link and a beam behind it, hung from a hinge, the elbow locked."""
    lower = ph.Beam(length, ph.Rectangle(height, width), alu, theory="timoshenko").discretise(8)
    hinge = ph.Revolute("ground", "upper.P", axis=(0, 1, 0), name="shoulder")
    return ph.connect({"upper": upper, "lower": lower}, joints=[hinge, ph.Weld("upper.C", "lower.P")])


def frequencies(system: ph.System) -> np.ndarray:
    return ph.modes(ph.linearise(system, ph.place(system))).elastic[:6]


omega = frequencies(arm(link))
of_beams = frequencies(arm(ph.Beam(length, ph.Rectangle(height, width), alu, theory="timoshenko").discretise(8)))

if __name__ == "__main__":
    print(report)
    print("\nthe arm, Hz:", (omega / 2 / np.pi).round(2), "\nof two beams:", (of_beams / 2 / np.pi).round(2))
