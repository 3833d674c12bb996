"""Reduction bases of a beam: bending modes, their axial companions, some axial and torsion modes.

Given fields (`fields_basis`): those of a basis from `krylov_basis`, `modal_basis` or `pod_basis`, parted into families.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, stacked
from phloat.bodies.strain import Elastic
from phloat.errors import AccuracyError, InputError, whole_number
from phloat.linear.reduction.basis import Basis, mass_lengths, orthonormal

FAINT = 1e-9  # of a given field, or of the strain of a pair: a part that is round-off


def beam_basis(
    elastic: Elastic, M_ff: Matrix, loads: np.ndarray, *, modes: int | None, axial: int, torsion: int
) -> Basis:
    """Families apart, each in its own Ritz modes: V_vᵀM_ffV_v = I, V_σᵀCV_σ = I, V_σᵀDV_v = diag(ω).

    The static response K⁻¹f to every column f of `loads` (coordinates × loads) is kept too.
    """
    parts = families(elastic, M_ff)
    counts = dict.fromkeys(BENDING, _require_counts(parts, modes, axial, torsion)) | {
        "axial": axial,
        "torsion": torsion,
    }
    many = {name: sum(counts[one] for one in name.split(AND)) for name in parts}
    fields = {name: _fields(part, many[name], loads[part.columns]) for name, part in parts.items()}
    return _with_companions(parts, fields, elastic, len(loads))


def fields_basis(elastic: Elastic, M_ff: Matrix, V: np.ndarray) -> Basis:
    """The basis of given fields (coordinates × fields): each family keeps its part of every field, with its companions."""
    parts, fields = families(elastic, M_ff), {}
    whole = mass_lengths(V, M_ff)
    for name, part in parts.items():
        own = V[part.columns]
        fields[name] = part.orthonormal(own[:, mass_lengths(own, part.M) > FAINT * whole])
    return _with_companions(parts, fields, elastic, len(V))


def _with_companions(parts: dict[str, BeamFamily], fields: dict[str, np.ndarray], elastic: Elastic, size: int) -> Basis:
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


def _fields(part: BeamFamily, count: int, loads: np.ndarray) -> np.ndarray:
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


def _require_counts(parts: dict[str, BeamFamily], modes: int | None, axial: int, torsion: int) -> int:
    """`modes` as an int. Raises InputError if a count is not a whole number or there are fewer coordinates."""
    for name, value, least in (("modes", modes, 1), ("axial", axial, 0), ("torsion", torsion, 0)):
        whole_number(name, value, least)
    bending = {
        name: part.size // len(name.split(AND)) for name, part in parts.items() if set(name.split(AND)) & set(BENDING)
    }
    if not bending:
        raise InputError("reduced(modes=…) counts bending modes, and this body has none of a beam's")
    few = min(bending, key=lambda name: bending[name])
    count = int(modes or 0)
    if count > bending[few]:
        raise InputError(
            f"modes is {modes}, but {few} this body has only {bending[few]} coordinates; ask for fewer, or use more elements"
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


def companions(axial: BeamFamily, elastic: Elastic, modes: np.ndarray) -> np.ndarray:
    """a_ij = −K⁻¹DᵀC⁻¹ (Q w_i w_j) for every pair of columns w of `modes` (all coordinates), in the axial coordinates."""
    pairs = combinations_with_replacement(modes.T, 2)
    strain = np.column_stack([quadratic_strain(elastic, w, v)[axial.rows] for w, v in pairs])
    return -axial.solve(axial.D.T @ (axial.C_inverse @ strain))


def quadratic_strain(elastic: Elastic, w: np.ndarray, v: np.ndarray) -> np.ndarray:
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
    apart = [_masked(V, mask) for mask in (keep, ~keep)]
    primary = [orthonormal(part[:, mass_lengths(part, M) > FAINT * mass_lengths(V, M)], M) for part in apart]
    pairs = _pairs(elastic, np.hstack(primary))
    brought = -la.solve(elastic.K.toarray(), elastic.D.T @ (elastic.C_inverse @ pairs), assume_a="sym")
    fields, stresses, names = [], [], {}
    for own, mask, felt, name in zip(
        primary, (keep, ~keep), (strains, ~strains), ("in plane", "out of plane"), strict=True
    ):
        new = _felt(_masked(brought, mask), M)
        fields.append(orthonormal(np.hstack([own, new]), M))
        left = _masked(pairs, felt)
        left = left[:, mass_lengths(left, elastic.C_inverse) > FAINT * mass_lengths(pairs, elastic.C_inverse)]
        strain = np.hstack([elastic.D @ fields[-1], left])
        stresses.append(orthonormal(np.asarray(elastic.C_inverse @ strain), elastic.C))
        if stresses[-1].shape[1]:
            names[name] = (stresses[-1].shape[1],)
    return Basis(csr(np.hstack(fields)), csr(np.hstack(stresses)), Layout(names, "stress"))


def _pairs(elastic: Elastic, V: np.ndarray) -> np.ndarray:
    """Q v_i v_j of every pair that strains, in columns."""
    if not elastic.Q.value.size:
        return np.zeros((elastic.C.shape[0], 0))
    both = combinations_with_replacement(V.T, 2)
    return _felt(np.column_stack([quadratic_strain(elastic, v, w) for v, w in both]), elastic.C_inverse)


def _felt(columns: np.ndarray, metric: Matrix) -> np.ndarray:
    """The columns that are not tiny beside the longest."""
    size = mass_lengths(columns, metric)
    return np.asarray(columns[:, size > FAINT * size.max(initial=0.0)])


def _masked(V: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.where(mask[:, None], V, 0.0)


# --- families of deformation ------------------------------------------------------------------------------------------
#
# Families of a beam's deformation: axial, torsion, bending along y and along z, each with the stresses that feel it.
#
# A family is a small elastic problem of its own: M v̈ + DᵀC⁻¹D v = f. Its lowest modes come from K⁻¹ applied as the saddle
#
# [−C  D] [σ]   [0]
# [Dᵀ  0] [v] = [f]
#
# which squares nothing: with 1000 elements K⁻¹ alone would have no figures left.


# the stress resultants that belong together; in the order of the coordinates of a beam
RESULTANTS = {"axial": ("N",), "bending along y": ("M_z", "Q_y"), "bending along z": ("M_y", "Q_z"), "torsion": ("T",)}
BENDING = ("bending along y", "bending along z")
SHORTENING = (*BENDING, "torsion")  # families whose fields shorten the beam to second order
AND = " and "  # between the names of families that are one
DEPENDENT = 1e-10  # what is left of a field of unit mass when the others are taken out
REPEATED = 1e-8  # of a frequency: equal ones
ALIKE = 1e-6  # of a size: equal ones
ITERATIONS, CONVERGED = 100, 1e-8


@dataclass(frozen=True, eq=False)
class BeamFamily:
    """M v̈ + DᵀC⁻¹D v = f for some coordinates (`columns` of the body) and their stresses (`rows`)."""

    columns: np.ndarray
    rows: np.ndarray
    M: Matrix
    C: Matrix
    C_inverse: Matrix
    D: Matrix

    @property
    def size(self) -> int:
        return len(self.columns)

    @cached_property
    def solve(self) -> Callable[[np.ndarray], np.ndarray]:
        """v = K⁻¹ f for columns f."""
        stresses = len(self.rows)
        factor = spla.splu(stacked([[-self.C, self.D], [self.D.T, None]]).tocsc())
        return lambda f: factor.solve(np.vstack([np.zeros((stresses, f.shape[1])), f]))[stresses:]

    def stress(self, V: np.ndarray) -> np.ndarray:
        """C⁻¹D V."""
        return self.C_inverse @ (self.D @ V)

    def orthonormal(self, V: np.ndarray) -> np.ndarray:
        """The span of V with VᵀMV = I; columns that follow from those before them are left out."""
        kept = np.zeros((self.size, 0))
        for v in V.T:
            v = v / np.sqrt(v @ (self.M @ v))
            first = v - kept @ (kept.T @ (self.M @ v))
            if (left := np.sqrt(first @ (self.M @ first))) > DEPENDENT:
                v = first / left
                v = v - kept @ (
                    kept.T @ (self.M @ v)
                )  # once more: what is left of nearly dependent fields is not yet clean
                kept = np.column_stack([kept, v / np.sqrt(v @ (self.M @ v))])
        return kept

    def ritz(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """In the span of V: fields v and stresses s with vᵀMv = I, sᵀCs = I, sᵀDv = diag(ω), ω ascending."""
        V = self.orthonormal(V)
        strain = self.D @ V
        root = la.cholesky(strain.T @ (self.C_inverse @ strain))  # RᵀR = VᵀKV, so that ω are the singular values of R
        _, omega, turn = la.svd(root)
        V = _split_repeated((V @ turn.T)[:, ::-1], omega[::-1])
        V = V * np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])])
        omega = omega[::-1]
        return V, omega, self.stress(V) / omega

    def lowest(self, count: int) -> np.ndarray:
        """The lowest eigenmodes of (K, M), by subspace iteration v ← K⁻¹Mv: it copes with equal frequencies."""
        if count == 0:
            return np.zeros((self.size, 0))
        V, omega, _ = self.ritz(np.random.default_rng(0).normal(size=(self.size, min(self.size, 2 * count + 8))))
        for _ in range(ITERATIONS):
            turned = self.solve(self.M @ V)
            miss = (turned * omega**2 - V)[:, :count]
            error = np.sqrt(np.einsum("ik,ik->k", miss, self.M @ miss).max())
            if error < CONVERGED:
                return V[:, :count]
            V, omega, _ = self.ritz(turned)
        raise AccuracyError(f"{count} modes are off by {error:.1e} after {ITERATIONS} iterations; ask for fewer")


def _split_repeated(V: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """One choice of fields where several have the same ω, as those of two like halves: any mixture of them would do. The first has
    all of the place that moves most, the second all that is left elsewhere, and so on."""
    V = V.copy()
    for group in np.split(np.arange(len(omega)), np.flatnonzero(np.diff(omega) > REPEATED * omega[1:]) + 1):
        for k in group[:-1]:
            rest = V[:, k : group[-1] + 1]
            size = np.linalg.norm(rest, axis=1)
            most = int(np.argmax(size > (1.0 - ALIKE) * size.max()))
            turn = la.qr(rest[most][:, None])[0]
            V[:, k : group[-1] + 1] = rest @ turn
    return V


def families(elastic: Elastic, M: Matrix) -> dict[str, BeamFamily]:
    """The families that a body has, by name; empty where its stresses are not those of a beam."""
    out = {}
    for family, (rows, columns) in members(elastic).items():
        C, D = csr(elastic.C[rows][:, rows]), csr(elastic.D[rows][:, columns])
        inverse = csr(elastic.C_inverse[rows][:, rows])
        out[family] = BeamFamily(columns, rows, csr(M[columns][:, columns]), C, inverse, D)
    return out


def members(elastic: Elastic) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """For every family that a body has, which stresses and which coordinates belong to it.

    Families that share coordinates (axial and torsion of a pretwisted beam) or whose stresses are coupled (bending along y and z of
    turned sections) are one, by the names of both.
    """
    out: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for family, resultants in RESULTANTS.items():
        own = [n for n in elastic.stresses if n in resultants or family in n.split(AND)]
        rows = elastic.stresses.indices(own)
        columns = np.unique(csr(elastic.D[rows]).indices)
        for other, (theirs, places) in list(out.items()):
            if np.intersect1d(columns, places).size or elastic.C[rows][:, theirs].nnz:
                family, rows, columns = f"{other}{AND}{family}", np.union1d(theirs, rows), np.union1d(places, columns)
                del out[other]
        if columns.size:
            out[family] = rows, columns
    return out
