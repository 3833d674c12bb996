"""Few coordinates for a beam that keep what it does: bending modes, their axial companions, some axial and torsion modes.

Fields may be given, too (`fields_basis`): those of a basis made by `krylov`, `modal` or `pod`, parted into families.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.families import AND, BENDING, SHORTENING, Family, families
from phloat.bodies.strain import Elastic
from phloat.errors import InputError
from phloat.linear.reduction.basis import Basis, orthonormal

FAINT = 1e-9  # of a given field, or of the strain of a pair: a part that is round-off


def beam_basis(
    elastic: Elastic, M_ff: Matrix, loads: np.ndarray, *, modes: int | None, axial: int, torsion: int
) -> Basis:
    """Families apart, each in its own Ritz modes: V_vᵀM_ffV_v = I, V_σᵀCV_σ = I, V_σᵀDV_v = diag(ω).

    The static response K⁻¹f to every column f of `loads` (coordinates × loads) is kept too.
    """
    parts = families(elastic, M_ff)
    counts = dict.fromkeys(BENDING, _checked(parts, modes, axial, torsion)) | {"axial": axial, "torsion": torsion}
    many = {name: sum(counts[one] for one in name.split(AND)) for name in parts}
    fields = {name: _fields(part, many[name], loads[part.columns]) for name, part in parts.items()}
    return _completed(parts, fields, elastic, len(loads))


def fields_basis(elastic: Elastic, M_ff: Matrix, V: np.ndarray) -> Basis:
    """The basis of given fields (coordinates × fields): each family keeps its part of every field, with its companions."""
    parts, fields = families(elastic, M_ff), {}
    whole = np.sqrt(np.einsum("ik,ik->k", V, M_ff @ V))
    for name, part in parts.items():
        own = V[part.columns]
        there = np.sqrt(np.einsum("ik,ik->k", own, part.M @ own)) > FAINT * whole
        fields[name] = part.orthonormal(own[:, there])
    return _completed(parts, fields, elastic, len(V))


def _completed(parts: dict[str, Family], fields: dict[str, np.ndarray], elastic: Elastic, size: int) -> Basis:
    """With companions of bending and torsion fields where the beam stiffens, each family in its Ritz modes."""
    stretch = next((name for name in parts if "axial" in name.split(AND)), None)
    if stretch is not None and elastic.Q.value.size:
        shorter = [n for n in parts if set(n.split(AND)) & set(SHORTENING)]
        bent = [_side_by_side([(parts[n].columns, fields[n])], size) for n in shorter]
        brought = [companions(parts[stretch], elastic, w.toarray()) for w in bent if w.shape[1]]
        fields[stretch] = np.hstack([fields[stretch], *brought])
    V, S, sizes = [], [], {}
    for name, part in parts.items():
        if fields[name].shape[1]:
            v, _, stress = part.ritz(fields[name])
            V.append((part.columns, v))
            S.append((part.rows, stress))
            sizes[name] = (v.shape[1],)
    return Basis(_side_by_side(V, size), _side_by_side(S, elastic.C.shape[0]), Layout(sizes, "stress"))


def _fields(part: Family, count: int, loads: np.ndarray) -> np.ndarray:
    """The lowest modes of a family and its static responses, of unit mass."""
    felt = loads[:, np.abs(loads).max(axis=0, initial=0.0) > 0]
    return part.orthonormal(np.hstack([part.lowest(min(count, part.size)), part.solve(felt)]))


def _side_by_side(blocks: list[tuple[np.ndarray, np.ndarray]], rows: int) -> Matrix:
    """Blocks of columns, each in its own rows."""
    out, start = np.zeros((rows, sum(block.shape[1] for _, block in blocks))), 0
    for where, block in blocks:
        out[where, start : start + block.shape[1]] = block
        start += block.shape[1]
    return csr(out)


def _checked(parts: dict[str, Family], modes: int | None, axial: int, torsion: int) -> int:
    """`modes`, or a sentence."""
    for name, value, least in (("modes", modes, 1), ("axial", axial, 0), ("torsion", torsion, 0)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise InputError(f"{name} is {value!r}; it must be a whole number, {least} or more")
    bending = {
        name: part.size // len(name.split(AND)) for name, part in parts.items() if set(name.split(AND)) & set(BENDING)
    }
    if not bending:
        raise InputError("reduced(modes=…) counts bending modes, and this body has none of a beam's")
    few = min(bending, key=lambda name: bending[name])
    count = int(modes or 0)
    if count > bending[few]:
        raise InputError(
            f"modes is {modes}, but {few} this body has only {bending[few]} coordinates; ask for fewer modes or give it "
            "more elements"
        )
    return count


# --- axial companions ------------------------------------------------------------------------------------------------
#
# Axial companions of bending and torsion modes: these alone cannot shorten, so a reduced body with membrane strain would lock.
#
# Every pair of kept modes of one family, i ≤ j, gets the axial field with u_x' = −w_i' w_j' (of twist −I_p/A θ_i' θ_j'), so that
#
#     D a_ij = −Q w_i w_j
#
# and the quadratic strain of kept modes lies in the strains of kept axial fields: no energy is stored in pure shortening, and
# as many axial stresses as axial coordinates hold all of it. Spin-up beam, tip minimum: −0.5756 with the full mesh, −0.5748 with
# 2 modes, their 3 companions and 2 axial modes; −0.290 with 4 modes, 3 axial modes, the axial force of every element and no
# companions; leaving out "small" ones locks again (−0.333). With the stresses of the kept axial modes alone nothing locks even
# without companions, but then a pulled cantilever is 12 % and its shortening 19 % off.


def companions(axial: Family, elastic: Elastic, modes: np.ndarray) -> np.ndarray:
    """a_ij = −K⁻¹DᵀC⁻¹ (Q w_i w_j) for every pair of columns w of `modes` (all coordinates), in the axial coordinates."""
    pairs = combinations_with_replacement(modes.T, 2)
    strain = np.column_stack([shortening(elastic, w, v)[axial.rows] for w, v in pairs])
    return -axial.solve(axial.D.T @ (axial.C_inverse @ strain))


def shortening(elastic: Elastic, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Q w v: ∫ w'v' over each element, in the place of its membrane strain."""
    Q = elastic.Q
    return np.bincount(Q.strain, Q.value * w[Q.row] * v[Q.column], minlength=elastic.C.shape[0])


# --- bodies that are no beams ----------------------------------------------------------------------------------------
#
# Few coordinates for a body that is no beam, from given fields: those in the plane xy and those out of it apart.
#
# Every pair of fields that strains gets its companion K a_ij = −DᵀC⁻¹(Q v_i v_j), as a beam's axial ones do, and what these leave
# of the pairs' strains stays a stress of its own: ½ σᵀCσ is then the energy of the whole body in the kept fields.


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
