"""Reduction bases of a beam: bending modes, their axial companions, some axial and torsion modes.

`fields_basis` takes the fields of a basis from `krylov_basis`, `modal_basis` or `pod_basis` and splits them into families.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, block_columns, block_inverse, csr, stacked
from phloat.bodies.strain import Elastic
from phloat.errors import AccuracyError, InputError, whole_number
from phloat.linear.reduction.basis import Basis, mass_lengths, orthonormal

FAINT = 1e-9  # of a field, or of the strain of a pair: smaller parts are round-off


def beam_basis(
    elastic: Elastic,
    M_ff: Matrix,
    loads: np.ndarray,
    *,
    modes: int | None,
    axial: int,
    torsion: int,
    companions: bool = True,
) -> Basis:
    """The basis of a beam, family by family in its Ritz modes: V_vᵀM_ffV_v = I, V_σᵀCV_σ = I, V_σᵀDV_v = diag(ω).

    The static responses K⁻¹f to the columns f of `loads` (coordinates × loads) are added.
    """
    parts = families(elastic, M_ff)
    counts = dict.fromkeys(BENDING, _require_counts(parts, modes, axial, torsion)) | {
        "axial": axial,
        "torsion": torsion,
    }
    many = {name: sum(counts[family] for family in name.split(AND)) for name in parts}
    fields = {name: _fields(part, many[name], loads[part.columns]) for name, part in parts.items()}
    if companions:
        fields = _shortened(parts, fields, elastic, len(loads))
    return _ritz_basis(parts, fields, elastic, len(loads))


def fields_basis(elastic: Elastic, M_ff: Matrix, V: np.ndarray, *, companions: bool = True) -> Basis:
    """The basis of the fields V (coordinates × fields), split into families, with their axial companions unless told otherwise."""
    parts, fields = families(elastic, M_ff), {}
    sizes = mass_lengths(V, M_ff)
    for name, part in parts.items():
        family_fields = V[part.columns]
        fields[name] = part.orthonormal(family_fields[:, mass_lengths(family_fields, part.M) > FAINT * sizes])
    return _ritz_basis(parts, _shortened(parts, fields, elastic, len(V)) if companions else fields, elastic, len(V))


def _shortened(
    parts: dict[str, BeamFamily], fields: dict[str, np.ndarray], elastic: Elastic, size: int
) -> dict[str, np.ndarray]:
    """The fields of each family, with axial companions if the beam has stiffening."""
    stretch = next((name for name in parts if "axial" in name.split(AND)), None)
    if stretch is not None and elastic.Q.value.size:
        shorter = [n for n in parts if set(n.split(AND)) & set(SHORTENING)]
        bent = [block_columns([(parts[n].columns, fields[n])], size) for n in shorter]
        axial_fields = [companions(parts[stretch], elastic, w) for w in bent if w.shape[1]]
        return fields | {stretch: np.hstack([fields[stretch], *axial_fields])}
    return fields


def _ritz_basis(parts: dict[str, BeamFamily], fields: dict[str, np.ndarray], elastic: Elastic, size: int) -> Basis:
    """The basis of the fields of each family in its Ritz modes."""
    V, S, sizes = [], [], {}
    for name, part in parts.items():
        if fields[name].shape[1]:
            v, _, stress = part.ritz(fields[name])
            V.append((part.columns, v))
            S.append((part.rows, stress))
            sizes[name] = (v.shape[1],)
    return Basis(csr(block_columns(V, size)), csr(block_columns(S, elastic.C.shape[0])), Layout(sizes, "stress"))


def _fields(part: BeamFamily, count: int, loads: np.ndarray) -> np.ndarray:
    """The `count` lowest modes of a family and its static responses to loads, of unit mass."""
    nonzero = loads[:, np.abs(loads).max(axis=0, initial=0.0) > 0]
    return part.orthonormal(np.hstack([part.lowest(min(count, part.size)), part.solve(nonzero)]))


def _require_counts(parts: dict[str, BeamFamily], modes: int | None, axial: int, torsion: int) -> int:
    """`modes` as an int. Raises InputError if a count is not a whole number or there are fewer coordinates."""
    for name, value, minimum in (("modes", modes, 1), ("axial", axial, 0), ("torsion", torsion, 0)):
        whole_number(name, value, minimum)
    bending = {
        name: part.size // len(name.split(AND)) for name, part in parts.items() if set(name.split(AND)) & set(BENDING)
    }
    if not bending:
        raise InputError("reduced(modes=…) counts bending modes, and this body has none of a beam's")
    name = min(bending, key=lambda name: bending[name])
    count = int(modes or 0)
    if count > bending[name]:
        raise InputError(
            f"modes is {modes}, but {name} this body has only {bending[name]} coordinates; ask for fewer, or use more elements"
        )
    return count


# --- axial companions ------------------------------------------------------------------------------------------------
#
# Axial companions of bending and torsion modes: without them a reduced body with membrane strain could not shorten and would lock.
#
# Every pair of modes of one family, i ≤ j, gets the axial field with u_x' = −w_i' w_j' (for twist −I_p/A θ_i' θ_j'), so that
#
#     D a_ij = −Q w_i w_j
#
# and the quadratic strains of the modes lie in the strains of the axial fields: no energy is stored in pure shortening, and
# as many axial stresses as axial coordinates suffice. Spin-up beam, tip minimum: −0.5756 with the full mesh, −0.5748 with
# 2 modes, their 3 companions and 2 axial modes; −0.290 with 4 modes, 3 axial modes, the axial force of every element and no
# companions; dropping "small" ones locks again (−0.333). With the stresses of the axial modes alone nothing locks even
# without companions, but then a pulled cantilever has an error of 12 % and its shortening one of 19 %.


def slaved_basis(elastic: Elastic, M_ff: Matrix, strains: np.ndarray) -> Basis:
    """The basis of the fields of a beam with these linear strains, with the companions of all pairs as V₂_ij = a_ij."""
    parts = families(elastic, M_ff)
    V = np.zeros((elastic.D.shape[1], strains.shape[1]))
    for part in parts.values():
        V[part.columns] = part.solve(part.D.T @ part.from_strain(strains[part.rows]))
    basis = fields_basis(elastic, M_ff, V, companions=False)
    (i, j), rows = np.triu_indices(basis.V_v.shape[1]), parts["axial"].columns[:, None]
    V_2 = np.zeros((*basis.V_v.shape, basis.V_v.shape[1]))
    V_2[rows, i, j] = V_2[rows, j, i] = companions(parts["axial"], elastic, basis.V_v.toarray())
    return replace(basis, V_2=V_2)


def companions(axial: BeamFamily, elastic: Elastic, modes: np.ndarray) -> np.ndarray:
    """a_ij = −K⁻¹DᵀC⁻¹ (Q w_i w_j) in axial coordinates, for every pair of columns w of `modes` (in all coordinates)."""
    pairs = combinations_with_replacement(modes.T, 2)
    strain = np.column_stack([quadratic_strain(elastic, w, v)[axial.rows] for w, v in pairs])
    return -axial.solve(axial.D.T @ axial.from_strain(strain))


def quadratic_strain(elastic: Elastic, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Q w v, (stresses,): ∫ w'v' over each element at its membrane strain, zero elsewhere."""
    Q = elastic.Q
    return np.bincount(Q.strain, Q.value * w[Q.row] * v[Q.column], minlength=elastic.C.shape[0])


# --- bodies that are no beams ----------------------------------------------------------------------------------------
#
# Reduction of a body that is no beam to given fields; fields in the plane xy and out of it are treated separately.
#
# Every pair of fields with a quadratic strain gets a companion K a_ij = −DᵀC⁻¹(Q v_i v_j), like the axial ones of a beam. The rest
# of the pairs' strains gets further stresses: ½ σᵀCσ is then the energy of the full body in the retained fields.


def pair_basis(elastic: Elastic, M: Matrix, V: np.ndarray, keep: np.ndarray, strains: np.ndarray) -> Basis:
    """The basis of fields V (coordinates × fields); `keep` and `strains` mark coordinates and stresses of the plane xy."""
    parts = [_masked(V, mask) for mask in (keep, ~keep)]
    primary = [orthonormal(part[:, mass_lengths(part, M) > FAINT * mass_lengths(V, M)], M) for part in parts]
    pairs = _pairs(elastic, np.hstack(primary))
    companion_fields = -la.solve(elastic.K.toarray(), elastic.D.T @ (elastic.C_inverse @ pairs), assume_a="sym")
    fields, stresses, names = [], [], {}
    for base, mask, rows, name in zip(
        primary, (keep, ~keep), (strains, ~strains), ("in plane", "out of plane"), strict=True
    ):
        new = _significant(_masked(companion_fields, mask), M)
        fields.append(orthonormal(np.hstack([base, new]), M))
        rest = _masked(pairs, rows)
        rest = rest[:, mass_lengths(rest, elastic.C_inverse) > FAINT * mass_lengths(pairs, elastic.C_inverse)]
        strain = np.hstack([elastic.D @ fields[-1], rest])
        stresses.append(orthonormal(np.asarray(elastic.C_inverse @ strain), elastic.C))
        if stresses[-1].shape[1]:
            names[name] = (stresses[-1].shape[1],)
    return Basis(csr(np.hstack(fields)), csr(np.hstack(stresses)), Layout(names, "stress"))


def _pairs(elastic: Elastic, V: np.ndarray) -> np.ndarray:
    """Q v_i v_j of every pair of fields with a significant quadratic strain, in columns."""
    if not elastic.Q.value.size:
        return np.zeros((elastic.C.shape[0], 0))
    pairs = combinations_with_replacement(V.T, 2)
    return _significant(np.column_stack([quadratic_strain(elastic, v, w) for v, w in pairs]), elastic.C_inverse)


def _significant(columns: np.ndarray, metric: Matrix) -> np.ndarray:
    """The columns that are not negligible compared with the longest."""
    size = mass_lengths(columns, metric)
    return np.asarray(columns[:, size > FAINT * size.max(initial=0.0)])


def _masked(V: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """V with the rows outside the mask set to zero."""
    return np.where(mask[:, None], V, 0.0)


# --- families of deformation ------------------------------------------------------------------------------------------
#
# Families of a beam's deformation: axial, torsion, bending along y and along z, each with its stresses.
#
# A family is a small elastic problem, M v̈ + DᵀC⁻¹D v = f. Its lowest modes are found with K⁻¹ in saddle-point form
#
# [−C  D] [σ]   [0]
# [Dᵀ  0] [v] = [f]
#
# which does not square the condition number: with 1000 elements K⁻¹ itself would have no correct digit.


# the stress resultants of each family, in the order of the coordinates of a beam
RESULTANTS = {"axial": ("N",), "bending along y": ("M_z", "Q_y"), "bending along z": ("M_y", "Q_z"), "torsion": ("T",)}
BENDING = ("bending along y", "bending along z")
SHORTENING = (*BENDING, "torsion")  # families whose fields shorten the beam to second order
AND = " and "  # joins the names of coupled families
DEPENDENT = 1e-10  # norm of a field of unit mass after projection, below which it depends on the others
REPEATED = 1e-8  # relative difference of equal frequencies
EQUAL = 1e-6  # relative difference of equal sizes
ITERATIONS, CONVERGED = 100, 1e-8


@dataclass(frozen=True, eq=False)
class BeamFamily:
    """M v̈ + DᵀC⁻¹D v = f for some coordinates (`columns` of the body) and their stresses (`rows`)."""

    columns: np.ndarray
    rows: np.ndarray
    M: Matrix
    C: Matrix
    D: Matrix

    @property
    def size(self) -> int:
        return len(self.columns)

    @cached_property
    def solve(self) -> Callable[[np.ndarray], np.ndarray]:
        """The function f → K⁻¹ f for columns f."""
        stresses = len(self.rows)
        factor = spla.splu(stacked([[-self.C, self.D], [self.D.T, None]]).tocsc())
        return lambda f: factor.solve(np.vstack([np.zeros((stresses, f.shape[1])), f]))[stresses:]

    @cached_property
    def from_strain(self) -> Callable[[np.ndarray], np.ndarray]:
        """The function ε → C⁻¹ε for columns ε; where C couples many stresses, C is factorised and not inverted."""
        inverse = block_inverse(self.C)
        return spla.splu(self.C.tocsc()).solve if inverse is None else lambda strain: inverse @ strain

    def stress(self, V: np.ndarray) -> np.ndarray:
        """The stresses C⁻¹D V of fields V."""
        return self.from_strain(self.D @ V)

    def orthonormal(self, V: np.ndarray) -> np.ndarray:
        """A basis of the span of V with VᵀMV = I; columns that depend on earlier ones are dropped."""
        basis = np.zeros((self.size, 0))
        for v in V.T:
            v = v / np.sqrt(v @ (self.M @ v))
            first = v - basis @ (basis.T @ (self.M @ v))
            if (norm := np.sqrt(first @ (self.M @ first))) > DEPENDENT:
                v = first / norm
                v = v - basis @ (basis.T @ (self.M @ v))  # again, for the round-off of nearly dependent fields
                basis = np.column_stack([basis, v / np.sqrt(v @ (self.M @ v))])
        return basis

    def ritz(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ritz modes in the span of V: fields v, ω ascending, and stresses s with vᵀMv = I, sᵀCs = I, sᵀDv = diag(ω)."""
        V = self.orthonormal(V)
        strain = self.D @ V
        root = la.cholesky(strain.T @ self.from_strain(strain))  # RᵀR = VᵀKV, so that ω are the singular values of R
        _, omega, turn = la.svd(root)
        V = _split_repeated((V @ turn.T)[:, ::-1], omega[::-1])
        V = V * np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])])
        omega = omega[::-1]
        return V, omega, self.stress(V) / omega

    def lowest(self, count: int) -> np.ndarray:
        """The lowest eigenmodes of (K, M) by subspace iteration v ← K⁻¹Mv, which finds equal frequencies too."""
        if count == 0:
            return np.zeros((self.size, 0))
        V, omega, _ = self.ritz(np.random.default_rng(0).normal(size=(self.size, min(self.size, 2 * count + 8))))
        for _ in range(ITERATIONS):
            iterated = self.solve(self.M @ V)
            residual = (iterated * omega**2 - V)[:, :count]
            error = np.sqrt(np.einsum("ik,ik->k", residual, self.M @ residual).max())
            if error < CONVERGED:
                return V[:, :count]
            V, omega, _ = self.ritz(iterated)
        raise AccuracyError(f"{count} modes are off by {error:.1e} after {ITERATIONS} iterations; ask for fewer")


def _split_repeated(V: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """A unique choice of fields with equal ω (as of two equal halves), any mixture of which would be modes, too. The first
    has all the motion of the coordinate that moves most, the second of the one that then moves most, and so on."""
    V = V.copy()
    for group in np.split(np.arange(len(omega)), np.flatnonzero(np.diff(omega) > REPEATED * omega[1:]) + 1):
        for k in group[:-1]:
            rest = V[:, k : group[-1] + 1]
            size = np.linalg.norm(rest, axis=1)
            pivot = int(np.argmax(size > (1.0 - EQUAL) * size.max()))
            turn = la.qr(rest[pivot][:, None])[0]
            V[:, k : group[-1] + 1] = rest @ turn
    return V


def families(elastic: Elastic, M: Matrix) -> dict[str, BeamFamily]:
    """The families of a body by name; empty if its stresses are not those of a beam."""
    out = {}
    for family, (rows, columns) in members(elastic).items():
        C, D = csr(elastic.C[rows][:, rows]), csr(elastic.D[rows][:, columns])
        out[family] = BeamFamily(columns, rows, csr(M[columns][:, columns]), C, D)
    return out


def members(elastic: Elastic) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """For every family of a body the indices of its stresses and of its coordinates.

    Families that share coordinates (axial and torsion of a pretwisted beam) or have coupled stresses (bending along y and z of
    skew sections) are merged, and have both names.
    """
    out: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for family, resultants in RESULTANTS.items():
        names = [n for n in elastic.stresses if n in resultants or family in n.split(AND)]
        rows = elastic.stresses.indices(names)
        columns = np.unique(csr(elastic.D[rows]).indices)
        for first, (r, c) in list(out.items()):
            if np.intersect1d(columns, c).size or elastic.C[rows][:, r].nnz:
                family, rows, columns = (f"{first}{AND}{family}", np.union1d(r, rows), np.union1d(c, columns))
                del out[first]
        if columns.size:
            out[family] = rows, columns
    return out
