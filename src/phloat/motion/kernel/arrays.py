"""The constants of a body for the step: about its mass centre, with membrane strains in units of compliance one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phloat.algebra.sparse import components, csr
from phloat.bodies.body import Body, Port
from phloat.errors import InputError
from phloat.motion.kernel import tables as t

MOST_MOVING = 600  # maximum number of coordinates of a moving body: its factors are dense
PAIRS = {0: [], 1: [(2, 2)], 3: [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]}
AXES = {0: [], 1: [2], 3: [0, 1, 2]}


@dataclass(frozen=True, eq=False)
class Arrays:
    """Constants of a body about its mass centre (x − s₀/m, Φ − S/m), then J(η) = j0 + j1·η + ½ηNη and c(η) = c0 + Γη."""

    body: Body

    @property
    def linear(self) -> int:
        return sum(i < 3 for i in self.body.active)

    @property
    def turning(self) -> int:
        return sum(i >= 3 for i in self.body.active)

    @cached_property
    def shift(self) -> tuple[np.ndarray, np.ndarray]:
        """s₀/m and S/m."""
        I = self.body.inertia
        return I.s0 / I.m, I.S / I.m

    @cached_property
    def centre(self) -> Port:
        """The mass centre as a port without rotation."""
        I = self.body.inertia
        return Port(*self.shift, np.zeros_like(I.S), None if I.second is None else I.second.S / I.m)

    @cached_property
    def second(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """E₀, X and W about the mass centre."""
        if self.body.coordinates > MOST_MOVING:
            raise InputError(
                f"a body with {self.body.coordinates} deformation coordinates is too fine to move (at most {MOST_MOVING}); "
                "use fewer elements, or body.reduced(modes=…)"
            )
        return self.body.inertia.central

    @cached_property
    def rotary(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """j0 (pairs), j1 (pairs, n), N (pairs, n, n)."""
        E0, X, W = self.second
        n, pairs = self.body.coordinates, PAIRS[self.turning]
        first = X + X.transpose(1, 0, 2)
        twice = W + W.transpose(0, 1, 3, 2)
        out = np.zeros(len(pairs)), np.zeros((len(pairs), n)), np.zeros((len(pairs), n, n))
        for p, (i, j) in enumerate(pairs):
            for array, matrix in zip(out, (E0, first, twice), strict=True):
                array[p] = (matrix[0, 0] + matrix[1, 1] + matrix[2, 2] if i == j else 0.0) - 0.5 * (
                    matrix[i, j] + matrix[j, i]
                )
        return out

    @cached_property
    def coupling(self) -> tuple[np.ndarray, np.ndarray]:
        """c0 (axes, n), Γ (axes, n, n): ε_iab X_ab,k and ε_iab W_ab,lk."""
        _, X, W = self.second
        W_transposed = W.transpose(0, 1, 3, 2)
        c0 = [X[(i + 1) % 3, (i + 2) % 3] - X[(i + 2) % 3, (i + 1) % 3] for i in AXES[self.turning]]
        Gamma = [
            W_transposed[(i + 1) % 3, (i + 2) % 3] - W_transposed[(i + 2) % 3, (i + 1) % 3] for i in AXES[self.turning]
        ]
        axes, n = self.turning, self.body.coordinates
        return np.array(c0).reshape(axes, n), np.array(Gamma).reshape(axes, n, n)

    @cached_property
    def M_ff(self) -> np.ndarray:
        I = self.body.inertia
        return I.M_ff_dense - I.S.T @ I.S / I.m

    @cached_property
    def quadratic(self) -> np.ndarray:
        """Mask of the strains that have a quadratic part, or share compliance or damping with one that has."""
        elastic = self.body.elastic
        marked = np.zeros(self.body.stresses, dtype=bool)
        graph = elastic.C if elastic.viscosity is None else csr(abs(elastic.C) + abs(elastic.viscosity))
        for group in components(graph) if len(elastic.Q.value) else []:
            marked[group] = np.isin(group, elastic.Q.strain).any()
        return marked

    @cached_property
    def L(self) -> np.ndarray:
        """C⁻¹ = L Lᵀ of the quadratic strains."""
        C_inverse = self.body.elastic.C_inverse[self.quadratic][:, self.quadratic].toarray()
        return np.linalg.cholesky(C_inverse)

    @cached_property
    def K(self) -> np.ndarray:
        """DᵀC⁻¹D of the linear strains."""
        if not self.body.stresses:
            return np.zeros((self.body.coordinates, self.body.coordinates))
        linear_strains, elastic = ~self.quadratic, self.body.elastic
        D = elastic.D[linear_strains].toarray()
        return D.T @ (elastic.C_inverse[linear_strains][:, linear_strains] @ D)

    @cached_property
    def damped(self) -> int:
        """Kind of damping: 0 (none), tables.PLAIN or tables.COUPLED."""
        return 0 if not self.body.elastic.damped else t.COUPLED if self.T.size else t.PLAIN

    @cached_property
    def R_d(self) -> np.ndarray:
        """Drag, and damping of the linear strains."""
        linear_strains, elastic = ~self.quadratic, self.body.elastic
        out = elastic.drag.toarray() + (elastic.time * self.K if elastic.time else 0.0)
        if elastic.viscosity is None:
            return np.asarray(out)
        D = elastic.D[linear_strains].toarray()
        return np.asarray(out + D.T @ (elastic.viscosity[linear_strains][:, linear_strains] @ D))

    @cached_property
    def T(self) -> np.ndarray:
        """Viscosity of the quadratic strains beyond `time`, in units of compliance one; empty if there is none."""
        viscosity = self.body.elastic.viscosity
        if viscosity is None or not self.quadratic.any():
            return np.zeros((0, 0))
        half = np.linalg.solve(self.L, viscosity[self.quadratic][:, self.quadratic].toarray())
        return np.asarray(np.linalg.solve(self.L, half.T))

    @cached_property
    def membrane(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """LᵀD, and the entries (strain, row, column) and values of LᵀQ."""
        if not self.quadratic.any():
            return np.zeros((0, self.body.coordinates)), np.zeros((0, 3), dtype=np.int64), np.zeros(0)
        elastic, place = self.body.elastic, np.cumsum(self.quadratic) - 1
        D = self.L.T @ elastic.D[self.quadratic].toarray()
        Q, L = elastic.Q, self.L[place[elastic.Q.strain]]
        k, strain = np.nonzero(L)
        triples = np.column_stack([strain, Q.row[k], Q.column[k]]).astype(np.int64)
        return D, *_sum_duplicates(triples, L[k, strain] * Q.value[k])

    def port(self, port: Port) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, Φ, Ψ of a port relative to the mass centre, only the active components."""
        centre, mean_Phi = self.shift
        return port.x - centre, (port.Phi - mean_Phi)[: self.linear], port.Psi[AXES[self.turning]]

    def shortening(self, port: Port) -> np.ndarray | None:
        """Φ₂ of a port relative to the mass centre along the axis x of a beam, which is its only component, (n, n), or None."""
        centre = self.centre.Phi_2
        return None if port.Phi_2 is None or centre is None else port.Phi_2[0] - centre[0]

    def prestress(self, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Pre-stress σ − C⁻¹ε(η): on the quadratic strains (unit compliance), as a force on η, and as a constant energy (J)."""
        elastic = self.body.elastic
        linear_strains = ~self.quadratic
        force = elastic.D[linear_strains].T @ sigma[linear_strains]
        energy = 0.5 * sigma[linear_strains] @ (elastic.C[linear_strains][:, linear_strains] @ sigma[linear_strains])
        return np.linalg.solve(self.L, sigma[self.quadratic]), force, float(energy)


def arrays_of(body: Body) -> Arrays:
    """The constants of a body, cached on it."""
    return vars(body).setdefault("arrays", Arrays(body))


def _sum_duplicates(triples: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums entries of equal indices; neighbours are in different rows, so that additions do not wait for each other."""
    entries, position = np.unique(triples[:, [0, 2, 1]], axis=0, return_inverse=True)
    return np.ascontiguousarray(entries[:, [0, 2, 1]]), np.bincount(position.ravel(), weights=values)
