"""The elasticity of a beam: compliance, strains and membrane strain in its finite element spaces."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, block_inverse, csr, diagonal, stacked, weighted, zero_matrix
from phloat.bodies.beams.fields import BeamFields
from phloat.bodies.strain import Elastic, Quadratic, no_quadratic
from phloat.fem.interval import Rows, gauss

STIFFNESSES = {"N": "EA", "T": "GJ", "M_y": "EI_y", "M_z": "EI", "Q_y": "kGA", "Q_z": "kGA"}  # of each resultant


def beam_elastic(fields: BeamFields, number: dict[str, np.ndarray], keep: np.ndarray, stiffening: bool) -> Elastic:
    """C, D and Q in the coordinates `keep`; `number` is that of `Beam.pretwisted` at the points of `gauss`."""
    x, w = gauss(fields.nodes)
    strains = fields.strains(x)
    if number["pretwist"].any():
        strains["N"] = strains["N"] + weighted(strains["T"], radius(number) * number["pretwist"])
    tests = {name: space.evaluate(x) for name, (space, _) in fields.stress_spaces.items()}
    D = [csr((test.T @ weighted(strains[name], w))[:, keep]) for name, test in tests.items()]
    return Elastic(
        C=_continuous_compliance(tests, w, number) if fields.continuous else _local_compliance(tests, w, number),
        D=csr(sp.vstack(D)),
        Q=_membrane(fields, x, w, radius(number), keep) if stiffening else no_quadratic(),
        drag=zero_matrix(len(keep), len(keep)),
        stresses=Layout({name: (test.shape[1],) for name, test in tests.items()}, "stress"),
    )


def _local_compliance(tests: dict[str, Rows], w: np.ndarray, number: dict[str, np.ndarray]) -> Matrix:
    """N S⁻¹N with N = ∫ττ and S = ∫τ S τ, so that σ is the projection of stiffness times strain, and DᵀC⁻¹D the stiffness of
    displacement elements for any section (∫τσ/S = ∫τε goes limp at the tip of a wedge: ω₂ 55 % low).

    M_y = E (I_y θ_y' − I_yz θ_z') and M_z = E (I θ_z' − I_yz θ_y'): only these two are coupled, within an element.
    """
    unit = _form(tests, dict.fromkeys(tests, w), 0.0 * w)
    S = {name: w * number[STIFFNESSES[name]] for name in tests}
    S_inverse = block_inverse(_form(tests, S, -w * number["EI_yz"]))
    assert S_inverse is not None
    return csr(unit @ S_inverse @ unit)


def _continuous_compliance(tests: dict[str, Rows], w: np.ndarray, number: dict[str, np.ndarray]) -> Matrix:
    """∫τσ/S: banded, and exact where a section jumps: the curvature jumps there, and the moment does not."""
    det = number["EI"] * number["EI_y"] - number["EI_yz"] ** 2
    flexibility = {name: w / number[STIFFNESSES[name]] for name in tests if name in ("N", "T")}
    flexibility |= {"M_y": w * number["EI"] / det, "M_z": w * number["EI_y"] / det}
    return _form(tests, flexibility, w * number["EI_yz"] / det)


def _form(tests: dict[str, Rows], weight: dict[str, np.ndarray], product: np.ndarray) -> Matrix:
    """∫ τ weight τ of every stress, with `product` between M_y and M_z."""
    block: dict[tuple[str, str], object] = {(n, n): t.T @ weighted(t, weight[n]) for n, t in tests.items()}
    if not product.any():
        return diagonal(list(block.values()))
    block["M_y", "M_z"] = tests["M_y"].T @ weighted(tests["M_z"], product)
    block["M_z", "M_y"] = tests["M_z"].T @ weighted(tests["M_y"], product)
    return stacked([[block.get((a, b)) for b in tests] for a in tests])


def radius(number: dict[str, np.ndarray]) -> np.ndarray:
    """I_p/A, the square of the polar radius of gyration."""
    return (number["rhoI"] + number["rhoI_y"]) / number["rhoA"]


def _membrane(fields: BeamFields, x: np.ndarray, w: np.ndarray, radius: np.ndarray, keep: np.ndarray) -> Quadratic:
    """½ ∫ τ Π(u_y'² + u_z'² + I_p/A θ_x'²) with the axial forces τ and the projection Π on what u_x' spans: what u_x cannot cancel
    would lock. Of local spaces Π is that of the τ themselves; of continuous ones the mean of each element. The last term is
    that of fibres that wind around the axis: it lets tension stiffen torsion."""
    n, points, space = len(keep), len(x) // (len(fields.nodes) - 1), fields.stress_spaces["N"][0]
    each, stride, element = space.degree + 1, space.stride, np.arange(len(x)) // points
    local = csr(space.evaluate(x)).toarray()[np.arange(len(x))[:, None], stride * element[:, None] + np.arange(each)]
    if fields.continuous:
        local = np.full_like(local, 1.0 / each)  # the mean of a hat function
    strain, row, column, value = [], [], [], []
    for name, weight in (("u_y", w), ("u_z", w), ("theta_x", w * radius)):
        slope = csr(fields.field(name, x, 1)[:, keep]).tocoo()
        # a column for every pair (element, coordinate), so that one product gives the blocks of all elements
        pair, place = np.unique(slope.row // points * n + slope.col, return_inverse=True)
        separate = sp.csr_array((slope.data, (slope.row, place)), shape=(len(x), len(pair)))
        for k in range(each):
            blocks = csr(separate.T @ weighted(separate, weight * local[:, k])).tocoo()
            strain.append(stride * (pair[blocks.row] // n) + k)
            row.append(pair[blocks.row] % n)
            column.append(pair[blocks.col] % n)
            value.append(blocks.data)
    return Quadratic(*(np.concatenate(part) for part in (strain, row, column, value)))
