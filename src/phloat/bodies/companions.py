"""Axial companions of bending and torsion modes: these alone cannot shorten, so a reduced body with membrane strain would lock.

Every pair of kept modes of one family, i ≤ j, gets the axial field with u_x' = −w_i' w_j' (of twist −I_p/A θ_i' θ_j'), so that

    D a_ij = −Q w_i w_j

and the quadratic strain of kept modes lies in the strains of kept axial fields: no energy is stored in pure shortening, and
as many axial stresses as axial coordinates hold all of it. Spin-up beam, tip minimum: −0.5756 with the full mesh, −0.5748 with
2 modes, their 3 companions and 2 axial modes; −0.290 with 4 modes, 3 axial modes, the axial force of every element and no
companions; leaving out "small" ones locks again (−0.333). With the stresses of the kept axial modes alone nothing locks even
without companions, but then a pulled cantilever is 12 % and its shortening 19 % off.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from phloat.bodies.families import Family
from phloat.bodies.strain import Elastic


def companions(axial: Family, elastic: Elastic, modes: np.ndarray) -> np.ndarray:
    """a_ij = −K⁻¹DᵀC⁻¹ (Q w_i w_j) for every pair of columns w of `modes` (all coordinates), in the axial coordinates."""
    pairs = combinations_with_replacement(modes.T, 2)
    strain = np.column_stack([shortening(elastic, w, v)[axial.rows] for w, v in pairs])
    return -axial.solve(axial.D.T @ (axial.C_inverse @ strain))


def shortening(elastic: Elastic, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Q w v: ∫ w'v' over each element, in the place of its membrane strain."""
    Q = elastic.Q
    return np.bincount(Q.strain, Q.value * w[Q.row] * v[Q.column], minlength=elastic.C.shape[0])
