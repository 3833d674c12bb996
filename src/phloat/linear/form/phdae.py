"""The linear port-Hamiltonian descriptor system, and the selection of its inputs and outputs by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.blocks import NamedBlocks
from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, largest, negativity_defect, skew_defect, symmetry_defect, zero_matrix
from phloat.algebra.tables import facts, grid, name_list
from phloat.errors import InputError, StructureError, as_array, finite
from phloat.linear.form.mass_normalised import MassNormalised

Ports: TypeAlias = str | Sequence[str]  # one port or several; "port[i]" is component i of a port

TOLERANCE = 1e-9  # relative defect up to which a matrix is skew, symmetric or positive
DENSE = 3000  # velocities up to which the sign of the energy is computed if E is indefinite


@dataclass(frozen=True, eq=False)
class Field:
    """The velocity of some points as a linear map of the rows: v = motion · e, three rows per point (inertial axes).

    `points` is (points, 3). `facets` (facets, 3 or 4) are the faces of a body on a mesh, as indices of points, for plots.
    """

    points: np.ndarray
    motion: Matrix
    facets: np.ndarray | None = None

    def of(self, e: np.ndarray) -> np.ndarray:
        """The velocities of the points for rows e, (points, 3)."""
        return (self.motion @ e).reshape(-1, 3)


def _empty() -> Any:
    return field(default_factory=lambda: zero_matrix(0, 0))


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearPHDAE(NamedBlocks):
    """E ė = (J − R + N) e + Gᵀλ + B u,   0 = −G e + B_λ u,   y = Bᵀe + B_λᵀλ,   H = ½ eᵀE e.

    `rows`, `ports` and `multipliers` name the blocks of e, of u and y, and of λ; `fields` are velocities of points for output.
    The rows are in the order (v | σ): the first `split` are velocities, the others stresses; a `split` of −1 means no such order.

    N is not zero only under nonconservative loads, `followers`: forces that rotate with the section they act on. Such a system is
    not port-Hamiltonian. Poles, modes, responses, state spaces and simulation accept it, functions that need passivity do not.
    """

    E: Matrix
    J: Matrix
    B: Matrix
    rows: Layout
    ports: Layout
    R: Matrix = _empty()
    G: Matrix = _empty()
    B_lam: Matrix = _empty()
    multipliers: Layout = field(default_factory=lambda: Layout({}, "multiplier"))
    split: int = -1
    fields: Mapping[str, Field] = field(default_factory=dict)
    N: Matrix = _empty()
    followers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("rows", "ports", "multipliers"):
            if not isinstance(getattr(self, name), Layout):
                raise InputError(f"{name} is {getattr(self, name)!r}; it must be a Layout: names and shapes")
        n, inputs, joints = self.rows.size, self.ports.size, self.multipliers.size
        shapes = {"E": (n, n), "J": (n, n), "R": (n, n), "N": (n, n)}
        shapes |= {"B": (n, inputs), "G": (joints, n), "B_lam": (joints, inputs)}
        for name, shape in shapes.items():
            matrix = _matrix(name, getattr(self, name))
            absent = name in ("R", "G", "B_lam") and matrix.shape == (0, 0)
            if absent or (name == "N" and not largest(matrix)):  # a copy of another size need not set N again
                matrix = zero_matrix(*shape)
            if matrix.shape != shape:
                raise StructureError(f"{name} is {matrix.shape}; the named rows, ports and multipliers make it {shape}")
            matrix = csr(matrix.copy())  # the caller's matrix stays unshared
            if not np.isfinite(matrix.data).all():
                raise StructureError(f"{name} contains NaN or infinity")
            object.__setattr__(self, name, matrix)
        if not isinstance(self.split, (int, np.integer)) or not -1 <= self.split <= n:
            raise StructureError(f"split is {self.split!r}; it must be between 0 and the number of rows, {n}")
        for property_name, defect in self.structure().items():
            if defect > TOLERANCE:
                raise StructureError(f"{property_name}: relative defect {defect:.1e}")

    def structure(self) -> dict[str, float]:
        """Relative defects of the port-Hamiltonian structure; E may be indefinite (see `passive`)."""
        return {
            "J is not skew-symmetric": skew_defect(self.J),
            "E is not symmetric": symmetry_defect(self.E),
            "R is not symmetric": symmetry_defect(self.R),
            "R is not positive semidefinite": negativity_defect(self.R),
        }

    @cached_property
    def passive(self) -> bool:
        """Whether the energy is bounded below on the motions that the joints allow: E ≥ 0, or M ≥ 0 and L E_σ⁻¹Lᵀ ≥ 0 on them.

        Stresses follow from motions, σ = E_σ⁻¹Lᵀq: under a load one of them may have a negative energy that others compensate.
        """
        if self.circulatory:
            return False
        if negativity_defect(self.E) <= TOLERANCE:
            return True
        n = self.split
        if n < 0 or largest(self.G[:, n:]) or n > DENSE or negativity_defect(csr(self.E[:n, :n])) > TOLERANCE:
            return False
        try:
            H = MassNormalised.from_matrices(self.E, self.J, self.G, n).H
        except InputError:  # a motion without mass, or a stress without energy
            return False
        return H is None or bool(la.eigvalsh(H)[0] >= -TOLERANCE)

    @property
    def circulatory(self) -> bool:
        """Whether nonconservative loads act: N ≠ 0."""
        return self.N.nnz > 0

    @property
    def dynamics(self) -> Matrix:
        """J − R + N."""
        return csr(self.J - self.R + self.N) if self.circulatory else csr(self.J - self.R)

    @property
    def lossless(self) -> bool:
        return self.R.nnz == 0

    @cached_property
    def separable(self) -> bool:
        """Whether E does not couple velocities with stresses, and stresses are not damped, coupled with each other or in joints."""
        n = self.split
        blocks = (self.E[:n, n:], self.J[n:, n:], self.R[n:], self.G[:, n:])
        return n >= 0 and not any(largest(block) for block in blocks)

    def driven(self, ports: Sequence[str] | None = None) -> tuple[str, ...]:
        """The names of those ports (default: of all) that take a flow: B_λ ≠ 0."""
        return tuple(p for p in (self.ports if ports is None else ports) if largest(self.B_lam[:, self.ports[p]]))

    def energy(self, e: np.ndarray) -> float:
        """H = ½ eᵀE e."""
        e = finite("e", e, (self.rows.size,))
        return float(0.5 * e @ (self.E @ e))

    def with_ports(self, *names: str) -> LinearPHDAE:
        """The same system with only these ports, in this order; the effort of the others is zero."""
        if len(set(map(str, names))) < len(names):
            raise InputError(f"a port is repeated in {names}")
        columns = self.ports.indices(names)
        return replace(self, B=self.B[:, columns], B_lam=self.B_lam[:, columns], ports=self.ports.only(names))

    def prefixed(self, name: str) -> LinearPHDAE:
        """The same system with `name.` before the names of its rows, ports, multipliers and fields."""
        renamed = copy(self)  # without checking the same matrices again
        for attribute in ("rows", "ports", "multipliers"):
            object.__setattr__(renamed, attribute, getattr(self, attribute).prefixed(name))
        object.__setattr__(renamed, "fields", {f"{name}.{key}": value for key, value in self.fields.items()})
        return renamed

    def __repr__(self) -> str:
        return (
            f"LinearPHDAE({self.rows.size} rows, {self.multipliers.size} multipliers, {self.ports.size} inputs on "
            f"{len(self.ports)} ports, {'' if self.passive else 'not '}passive)"
        )

    def _repr_html_(self) -> str:
        names = {"E": "descriptor", "J": "interconnection", "R": "dissipation", "B": "inputs", "G": "joints"}
        matrices = [(f"{name}, {meaning}", getattr(self, name)) for name, meaning in names.items()]
        rows = [(title, f"{m.shape[0]} × {m.shape[1]}", m.nnz) for title, m in matrices if m.size]
        order = f"{self.split} velocities, {self.rows.size - self.split} stresses" if self.split >= 0 else ""
        values = {"rows": order, "ports": name_list(self.ports), "multipliers": name_list(self.multipliers)}
        return facts(repr(self), values) + grid("matrices", ("", "size", "entries"), rows)


def linear_only(system: object, *, circulatory: bool = False) -> None:
    """Raises InputError if the system is not linear and, unless `circulatory`, if nonconservative loads act on it."""
    if not isinstance(system, LinearPHDAE):
        raise InputError(f"{type(system).__name__} is not linear; use linearise(system, state) or body.linear()")
    if system.circulatory and not circulatory:
        raise InputError(
            f"loads {', '.join(map(repr, system.followers))} rotate with the sections they act on: the stiffness is not symmetric "
            "and the system not port-Hamiltonian, which is needed here; take inertial axes for them, or leave them out of "
            "linearise(…, u=…). modes, poles, zeros, response, state_space, eliminate and simulate accept such a system"
        )


def _matrix(name: str, value: Any) -> Any:
    """The value, sparse or as an array; raises StructureError if it is not a matrix of real numbers."""
    matrix = value if sp.issparse(value) else as_array(value)
    if matrix.dtype.kind not in "biuf":
        raise StructureError(f"{name} is {value!r}; it must be a matrix of real numbers")
    return matrix


def channels(system: LinearPHDAE, names: Ports) -> tuple[np.ndarray, tuple[str, ...]]:
    """The columns of B and B_λ of the named ports or components ("port[i]"), and a name for each column."""
    columns: list[int] = []
    labels: list[str] = []
    for name in names if isinstance(names, list | tuple) else (names,):
        chosen = system.ports.part(name)
        columns += chosen
        labels += numbered(name, len(chosen))
    if not columns:
        raise InputError(f"name an input and an output; the open ports are {', '.join(system.ports) or 'none'}")
    return np.array(columns), tuple(labels)


Names: TypeAlias = tuple[str, ...]


def inputs_outputs(
    system: LinearPHDAE, inputs: Ports, outputs: Ports | None
) -> tuple[np.ndarray, np.ndarray, tuple[Names, Names]]:
    """The columns of the inputs, those of the outputs (default: the inputs), and the names of both; see `channels`."""
    into, input_names = channels(system, inputs)
    out, output_names = channels(system, inputs if outputs is None else outputs)
    return into, out, (input_names, output_names)


def complex_row(label: str, value: object) -> np.ndarray:
    """The value as a complex array (points,); raises InputError if it is neither a number nor a row of finite numbers."""
    points = np.atleast_1d(as_array(value))
    if points.dtype.kind not in "biufc" or points.ndim > 1 or not points.size or not np.isfinite(points).all():
        raise InputError(f"{label} is {value!r}; it must be a number or a row of them, such as 1j * omega")
    return points.astype(complex)


def numbered(name: str, count: int) -> list[str]:
    """["tip"] for one component, ["tip[0]", "tip[1]" …] for several."""
    return [name] if count == 1 else [f"{name}[{i}]" for i in range(count)]
