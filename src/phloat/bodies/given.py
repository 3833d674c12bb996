"""Few coordinates for a body that is no beam, from given fields: those in the plane xy and those out of it apart.

Every pair of fields that strains gets its companion K a_ij = −DᵀC⁻¹(Q v_i v_j), as a beam's axial ones do, and what these leave of
the pairs' strains stays a stress of its own: ½ σᵀCσ is then the energy of the whole body in the kept fields.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.reduced import shortening
from phloat.bodies.strain import Elastic
from phloat.linear.bases import Basis, orthonormal

FAINT = 1e-9  # of a field, or of the strain of a pair: a part that is round-off


def pair_basis(elastic: Elastic, M: Matrix, V: np.ndarray, keep: np.ndarray, strains: np.ndarray) -> Basis:
    """The basis of fields V (coordinates × fields); `keep` and `strains` mark coordinates and stresses of the plane xy."""
    whole = np.sqrt(np.einsum("ik,ik->k", V, M @ V))
    apart = [_masked(V, mask) for mask in (keep, ~keep)]
    primary = [orthonormal(_there(part, M, whole), M) for part in apart]
    pairs = _pairs(elastic, np.hstack(primary))
    brought = -la.solve(elastic.K.toarray(), elastic.D.T @ (elastic.C_inverse @ pairs), assume_a="sym")
    fields, stresses, names = [], [], {}
    for own, mask, felt, name in zip(
        primary, (keep, ~keep), (strains, ~strains), ("in plane", "out of plane"), strict=True
    ):
        new = _masked(brought, mask)
        size = np.sqrt(np.einsum("ik,ik->k", new, M @ new))
        new = new[:, size > FAINT * size.max(initial=0.0)]
        fields.append(orthonormal(np.hstack([own, new]), M))
        left = _masked(pairs, felt)
        strain = np.hstack([elastic.D @ fields[-1], left[:, _sizes(elastic, left) > FAINT * _sizes(elastic, pairs)]])
        stresses.append(orthonormal(np.asarray(elastic.C_inverse @ strain), elastic.C))
        if stresses[-1].shape[1]:
            names[name] = (stresses[-1].shape[1],)
    return Basis(csr(np.hstack(fields)), csr(np.hstack(stresses)), Layout(names, "stress"))


def _pairs(elastic: Elastic, V: np.ndarray) -> np.ndarray:
    """Q v_i v_j of every pair that strains, in columns."""
    if not elastic.Q.value.size:
        return np.zeros((elastic.C.shape[0], 0))
    both = combinations_with_replacement(V.T, 2)
    found = np.column_stack([shortening(elastic, v, w) for v, w in both])
    size = _sizes(elastic, found)
    return np.asarray(found[:, size > FAINT * size.max(initial=0.0)])


def _sizes(elastic: Elastic, strain: np.ndarray) -> np.ndarray:
    """√(sᵀC⁻¹s) of every column."""
    return np.asarray(np.sqrt(np.einsum("ik,ik->k", strain, elastic.C_inverse @ strain)))


def _masked(V: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.where(mask[:, None], V, 0.0)


def _there(part: np.ndarray, M: Matrix, whole: np.ndarray) -> np.ndarray:
    return part[:, np.sqrt(np.einsum("ik,ik->k", part, M @ part)) > FAINT * whole]
