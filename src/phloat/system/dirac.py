"""The Dirac structure of a system, its dimension and balance of power, and the composition of two over shared ports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import (
    RANK_TOLERANCE,
    Matrix,
    csr,
    dependencies,
    diagonal,
    null_space,
    row_lengths,
    stacked,
    weighted,
    zero_matrix,
)
from phloat.errors import InputError, PortError, StructureError
from phloat.linear.form.phdae import LinearPHDAE, Ports, linear_only
from phloat.system.state import State
from phloat.system.system import System
from phloat.system.terms import Terms, terms

KINDS = ("storage", "resistive", "constraint", "external")
TOLERANCE = 1e-9  # of the power of two rows of [K L], relative to the sum of the absolute values of its parts
ROUND_OFF = 1e-6  # of the lengths of two rows: parts below it are compared with this instead
NEGLIGIBLE = 1e-14  # entries of orthonormal vectors, and sums relative to their parts, that are round-off
PASSES = 5  # over rows and columns, to scale both to unit length


@dataclass(frozen=True, eq=False)
class DiracStructure:
    """D = {(f, e) : K f + L e = 0}: flows and efforts in pairs, with eᵀf = 0 on all of D, and dim D the number of pairs.

    eᵀf is the power that what is connected to a pair supplies to the others. `ports` names the pairs and `kinds` tells what is
    connected there. Since K Lᵀ + L Kᵀ = 0, the elements of D are also f = Lᵀv, e = Kᵀv for any v.

        storage       "rod.v_P" …         f = −E ė                  e = z
        resistive     "rod.eta_dot.R" …   f = z                     e = −R z (− P u), where R acts
                      "tip.R" …           f = u                     e = −Pᵀz − S u, of ports with a feedthrough
        constraint    "elbow.lam" …       f = G z − B_λ u, zero     e = λ
        external      "tip" …             f = y, the output         e = u, the input (of driven axes f = u, e = y)

    Raises StructureError if the dimension is another one, or if power is not conserved.
    """

    K: Matrix
    L: Matrix
    ports: Layout
    kinds: Mapping[str, str]

    def __post_init__(self) -> None:
        for name in ("K", "L"):
            object.__setattr__(self, name, csr(getattr(self, name)))
            if getattr(self, name).shape != (self.ports.size,) * 2:
                raise StructureError(
                    f"{name} is {getattr(self, name).shape}; the {self.ports.size} pairs make it square"
                )
        if set(self.kinds) != set(self.ports) or not set(self.kinds.values()) <= set(KINDS):
            raise StructureError(
                f"the kinds are {', '.join(sorted(set(self.kinds.values())))}; every pair needs one of {', '.join(KINDS)}"
            )
        if self.dimension != self.ports.size:
            raise StructureError(
                f"the dimension is {self.dimension}, but there are {self.ports.size} pairs: rows of [K L] repeat others"
            )
        if (defect := self.power_defect) > TOLERANCE:
            raise StructureError(f"power is not conserved: relative defect {defect:.1e}")

    @cached_property
    def dimension(self) -> int:
        """dim D = 2 n − rank [K L] for n pairs; a Dirac structure has n."""
        return 2 * self.ports.size - _rank(csr(sp.hstack([self.K, self.L])))

    @cached_property
    def power_defect(self) -> float:
        """The largest entry of K Lᵀ + L Kᵀ, relative to the sum of the absolute values of which it consists."""
        power, size = self.K @ self.L.T, abs(self.K) @ abs(self.L.T)
        defect, size = (power + power.T).tocoo(), csr(size + size.T)
        if not defect.nnz:
            return 0.0
        length = row_lengths(csr(sp.hstack([self.K, self.L])))
        least = ROUND_OFF * length[defect.row] * length[defect.col]
        return float((np.abs(defect.data) / np.maximum(size[defect.row, defect.col], least)).max())

    def composed(self, other: DiracStructure, ports: Iterable[str] | None = None) -> DiracStructure:
        """The Dirac structure of two with shared pairs: f₁ = −f₂ and e₁ = e₂ there (Cervera, van der Schaft, Baños 2007).

        Shared are `ports`, by default all names that both have. All other names must differ.
        """
        shared = [name for name in self.ports if name in other.ports] if ports is None else list(ports)
        if not shared or self.ports.only(shared) != other.ports.only(shared):
            raise PortError(f"the ports to share are {', '.join(shared) or 'none'}; both need them, with equal shapes")
        first, second = self._divided(shared), other._divided(shared)
        K, L = diagonal([first.K, second.K]), diagonal([first.L, second.L])
        meeting = csr(sp.vstack([sp.hstack([first.K_s, first.L_s]), sp.hstack([-second.K_s, second.L_s])]))
        layout = joined_layouts((first.ports, second.ports), "port")
        left = _annihilator(csr(sp.hstack([K, L])), meeting, layout.size)
        kinds = {**self.kinds, **other.kinds}
        return DiracStructure(_product(left, K), _product(left, L), layout, {name: kinds[name] for name in layout})

    def closed(self) -> DiracStructure:
        """The Dirac structure of the other pairs where the flow of all constraints is zero: joints hold, λ is eliminated."""
        held = [name for name in self.ports if self.kinds[name] == "constraint"]
        if not held:
            return self
        layout = self.ports.only(held)
        n = layout.size
        return self.composed(
            DiracStructure(csr(sp.eye_array(n)), zero_matrix(n, n), layout, dict.fromkeys(held, "constraint"))
        )

    def angle(self, other: DiracStructure) -> float:
        """The largest angle (rad) between two structures of the same pairs, as subspaces of all (f, e); zero if they are equal."""
        if unequal := [*(set(self.ports.shapes.items()) ^ set(other.ports.shapes.items()))]:
            raise PortError(f"not all pairs are in both: {', '.join(sorted({name for name, _ in unequal}))}")
        order = other.ports.indices(self.ports)
        rows = [csr(sp.hstack([part.K[:, own], part.L[:, own]])) for part, own in ((self, slice(None)), (other, order))]
        first, second = (weighted(a.toarray(), 1.0 / row_lengths(a)).T for a in rows)
        return float(la.subspace_angles(first, second).max(initial=0.0))

    def _divided(self, shared: Sequence[str]) -> _Divided:
        """K and L of the other pairs, and of the shared ones."""
        ports = self.ports.only(name for name in self.ports if name not in shared)
        own, common = self.ports.indices(ports), self.ports.indices(shared)
        return _Divided(self.K[:, own], self.L[:, own], self.K[:, common], self.L[:, common], ports)

    def __repr__(self) -> str:
        count = {
            kind: sum(int(np.prod(self.ports.shape(n))) for n in self.ports if self.kinds[n] == kind) for kind in KINDS
        }
        return f"DiracStructure({self.ports.size} pairs: {', '.join(f'{size} {kind}' for kind, size in count.items() if size)})"


class _Divided(NamedTuple):
    """The columns of K and L of pairs that remain, with their names, and of shared ones."""

    K: Matrix
    L: Matrix
    K_s: Matrix
    L_s: Matrix
    ports: Layout


def dirac_structure(
    system: System | LinearPHDAE, state: State | None = None, ports: Ports | None = None
) -> DiracStructure:
    """The Dirac structure of a system at a state, or of a linear system: J, G, B and B_λ as one subspace of flows and efforts.

        −f_S = J e_S + B_R e_R + Gᵀλ + B u,   f_R = B_Rᵀe_S,   f_C = G e_S − B_λ u,   y = Bᵀe_S + B_λᵀλ

    with −f_S = E ė, e_S = z and e_R = −R z on the fields that R acts on. What energy the bodies store and what they dissipate is
    not in it. With a feedthrough N is in it, y = … + N u, and ports that P or S act on have a resistive pair of their own.

    Parameters
    ----------
    system : System or LinearPHDAE
    state : State
        Of a `System`: where its matrices are taken.
    ports : str or sequence of str, optional
        The external ports, by default all; the inputs of the others are zero.

    Returns
    -------
    DiracStructure
        Its constraints are open, `closed()` eliminates λ.

    Examples
    --------
    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> pendulum = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P", name="hinge")], plane="xy")
    >>> D = ph.dirac_structure(pendulum, ph.place(pendulum), ports="hinge")
    >>> D
    DiracStructure(9 pairs: 6 storage, 2 constraint, 1 external)
    >>> D.dimension, D.power_defect
    (9, 0.0)
    >>> D.closed()
    DiracStructure(7 pairs: 6 storage, 1 external)
    """
    matrices = _matrices(system, state)
    J, R, G, rows = matrices.J, matrices.R, matrices.G, matrices.rows
    P, S, N = (zero_matrix(rows.size, matrices.ports.size), *(2 * [zero_matrix(*2 * (matrices.ports.size,))]))
    if isinstance(matrices, LinearPHDAE):
        J, P, S = csr(0.5 * (J - J.T)), matrices.P, matrices.S  # J and N are skew up to a tolerance
        N = csr(0.5 * (matrices.N - matrices.N.T))
    resisting = rows.only(name for name in rows if R[rows[name]].nnz or P[rows[name]].nnz)
    external = matrices.ports.only(matrices.ports if ports is None else [ports] if isinstance(ports, str) else ports)
    inputs = matrices.ports.indices(external)
    B, B_lam = matrices.B[:, inputs], matrices.B_lam[:, inputs]
    losing = external.only(p for p in external if P[:, matrices.ports[p]].nnz or S[matrices.ports[p]].nnz)
    B_R = csr(sp.eye_array(rows.size, format="csc")[:, rows.indices(resisting)])
    I_R = csr(sp.eye_array(external.size, format="csc")[:, external.indices(losing)])
    blocks = [
        [J, B_R, None, G.T, B],
        [-B_R.T, None, None, None, None],
        [None, None, None, None, -I_R.T],
        [-G, None, None, None, B_lam],
        [-B.T, None, I_R, -B_lam.T, -N[inputs][:, inputs]],
    ]
    resistive = (_with_ending(resisting, "R"), _with_ending(losing, "R"))
    named = (rows, *resistive, _with_ending(matrices.multipliers, "lam"), external)
    L = stacked(blocks)
    layout = joined_layouts(named, "port")
    of_parts = ("storage", "resistive", "resistive", "constraint", "external")
    kinds = {name: kind for kind, part in zip(of_parts, named, strict=True) for name in part}
    driven = np.zeros(layout.size, dtype=bool)
    driven[layout.size - external.size :] = abs(B_lam).sum(axis=0) > 0  # their input is the flow
    keep, swap = (sp.diags_array(mask.astype(float)) for mask in (~driven, driven))
    return DiracStructure(csr(keep + L @ swap), csr(L @ keep + swap), layout, kinds)


def _matrices(system: System | LinearPHDAE, state: State | None) -> Terms | LinearPHDAE:
    """The matrices of a system at a state, or of a linear system. Raises InputError if it is not port-Hamiltonian."""
    if isinstance(system, System):
        if state is None:
            raise InputError("the Dirac structure of a System depends on its state: dirac_structure(system, state)")
        return terms(system, state)
    linear_only(system, feedthrough=True)
    if state is not None:
        raise InputError("a linear system has one Dirac structure, at any state: dirac_structure(linear)")
    return system


def _with_ending(layout: Layout, ending: str) -> Layout:
    """The layout with names "name.ending"."""
    return Layout({f"{name}.{ending}": shape for name, shape in layout.shapes.items()}, "port")


def _annihilator(A: Matrix, meeting: Matrix, count: int) -> Matrix:
    """`count` rows Z with Z meeting = 0 for which the rows of Z A are independent."""
    scaled, unit = _equilibrated(meeting)
    Z = null_space(csr(scaled.T)).T.tocsr()
    Z.data[np.abs(Z.data) < NEGLIGIBLE] = 0.0
    left = csr(Z.multiply(unit))
    if left.shape[0] > count:  # the two determine some shared flow or effort twice
        rows = _equilibrated(_product(left, A))[0].toarray()
        left = left[np.sort(la.qr(rows.T, mode="economic", pivoting=True)[2][:count])]
    return left


def _product(Z: Matrix, A: Matrix) -> Matrix:
    """Z A without entries that are the round-off of their parts."""
    product, size = (Z @ A).tocoo(), csr(abs(Z) @ abs(A))
    keep = np.abs(product.data) > NEGLIGIBLE * size[product.row, product.col]
    entries = (product.data[keep], (product.row[keep], product.col[keep]))
    return csr(sp.coo_array(entries, shape=product.shape))


def _equilibrated(A: Matrix) -> tuple[Matrix, np.ndarray]:
    """A with rows and columns scaled to nearly unit length, whatever the units, and the factors of the rows."""
    A, factors = csr(A), np.ones(A.shape[0])
    for _ in range(PASSES):
        A = csr(weighted(csr(A.T), 1.0 / row_lengths(csr(A.T)))).T.tocsr()
        unit = 1.0 / row_lengths(A)
        A, factors = csr(weighted(A, unit)), factors * unit
    return A, factors


def _rank(A: Matrix) -> int:
    """The rank of A, scaled to be independent of units; rows with the only entry of some column are counted without arithmetic."""
    A, count = _equilibrated(A)[0], 0
    while A.shape[0]:
        columns = A.tocsc()
        single = columns.indptr[:-1][np.diff(columns.indptr) == 1]
        independent = np.unique(columns.indices[single][np.abs(columns.data[single]) > RANK_TOLERANCE])
        if not independent.size:
            return count + A.shape[0] - dependencies(A).shape[1]
        count += independent.size
        A = A[np.setdiff1d(np.arange(A.shape[0]), independent)]
    return count
