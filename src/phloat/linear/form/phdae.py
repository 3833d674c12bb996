"""The linear port-Hamiltonian descriptor system, and the selection of its inputs and outputs by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.elimination import free_motions
from phloat.algebra.factors import negativity_defect
from phloat.algebra.layout import Layout, NamedBlocks, joined_layouts
from phloat.algebra.sparse import (
    Matrix,
    block_inverse,
    csr,
    dependencies,
    largest,
    skew_defect,
    stacked,
    symmetry_defect,
    unit_columns,
    zero_matrix,
)
from phloat.algebra.tables import facts, grid, name_list
from phloat.errors import InputError, StructureError, as_array, finite
from phloat.linear.form.fields import Field, Fields
from phloat.linear.form.mass_normalised import MassNormalised

Ports: TypeAlias = str | Sequence[str]  # one port or several; "port[i]" is component i of a port

TOLERANCE = 1e-9  # relative defect up to which a matrix is skew, symmetric or positive
RARE = ("nonconservative", "P", "S", "N")  # matrices that are zero in most systems
DENSE = 3000  # velocities up to which the sign of the energy is computed if E is indefinite


def _empty() -> Any:
    return field(default_factory=lambda: zero_matrix(0, 0))


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearPHDAE(NamedBlocks):
    """E ė = (J − R) e + Gᵀλ + (B − P) u,   0 = −G e + B_λ u,   y = (B + P)ᵀe + B_λᵀλ + (S + N) u,   H = ½ eᵀE e.

    J and N are skew, E is symmetric, and W = [[R, P], [Pᵀ, S]] ≥ 0 is the dissipation: yᵀu − Ḣ = (e, u)ᵀW (e, u). R, P, S, N and
    the joints G, B_λ are zero unless given.

    With Q the system is E ė = (J − R) Q e + Gᵀλ + (B − P) u, 0 = −G Q e + B_λ u, y = (B + P)ᵀQ e + …, H = ½ eᵀQᵀE e, with
    QᵀE symmetric and Q invertible. It is multiplied by Qᵀ, which changes neither e nor u, y and H: E → QᵀE, J → QᵀJ Q, B → QᵀB …

    `rows`, `ports` and `multipliers` name the blocks of e, of u and y, and of λ; `fields` are velocities of points for output.
    `parts` names the parts of blocks of stresses (resultants, springs); `origin` is the system and the state that were linearised.
    The rows are in the order (v | σ): the first `split` are velocities, the others stresses; a `split` of −1 means no such order.

    `nonconservative` is added to J − R. It is not zero only under `followers`: forces that rotate with the section they act
    on, and dampers to the ground of a system that spins.
    Such a system is not port-Hamiltonian. Poles, modes, responses, state spaces and simulation accept it, functions that need
    passivity do not.
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
    parts: Mapping[str, Layout] = field(default_factory=dict)
    origin: Any = None
    nonconservative: Matrix = _empty()
    followers: tuple[str, ...] = ()
    P: Matrix = _empty()
    S: Matrix = _empty()
    N: Matrix = _empty()
    Q: InitVar[Any] = None

    def __post_init__(self, Q: Any) -> None:
        for name in ("rows", "ports", "multipliers"):
            if not isinstance(getattr(self, name), Layout):
                raise InputError(f"{name} is {getattr(self, name)!r}; it must be a Layout: names and shapes")
        n, inputs, joints = self.rows.size, self.ports.size, self.multipliers.size
        shapes = {"E": (n, n), "J": (n, n), "R": (n, n), "nonconservative": (n, n), "B": (n, inputs), "P": (n, inputs)}
        shapes |= {"G": (joints, n), "B_lam": (joints, inputs), "S": (inputs, inputs), "N": (inputs, inputs)}
        for name, shape in shapes.items():
            matrix = _matrix(name, getattr(self, name))
            absent = name in ("R", "G", "B_lam") and matrix.shape == (0, 0)
            if absent or (name in RARE and not largest(matrix)):  # a copy of another size need not set these again
                object.__setattr__(self, name, zero_matrix(*shape))
                continue
            object.__setattr__(self, name, _fitting(name, matrix, shape))
        if not isinstance(self.split, (int, np.integer)) or not -1 <= self.split <= n:
            raise StructureError(f"split is {self.split!r}; it must be between 0 and the number of rows, {n}")
        if Q is not None:
            self._multiply(_invertible(Q, self.rows))
        for property_name, defect in self.structure().items():
            if defect > TOLERANCE:
                multiplied = "" if Q is None else ", of the rows multiplied by Qᵀ"
                raise StructureError(f"{property_name}: relative defect {defect:.1e}{multiplied}")

    def _multiply(self, Q: Matrix) -> None:
        """Multiplies the rows by Qᵀ: E → QᵀE, J → QᵀJ Q, B → QᵀB, G → G Q."""
        for name in ("J", "R", "nonconservative"):
            object.__setattr__(self, name, csr(Q.T @ getattr(self, name) @ Q))
        for name in ("E", "B", "P"):
            object.__setattr__(self, name, csr(Q.T @ getattr(self, name)))
        object.__setattr__(self, "G", csr(self.G @ Q))

    def structure(self) -> dict[str, float]:
        """Relative defects of the port-Hamiltonian structure; E may be indefinite (see `passive`)."""
        defects = {
            "J is not skew-symmetric": skew_defect(self.J),
            "E is not symmetric": symmetry_defect(self.E),
            "R is not symmetric": symmetry_defect(self.R),
        }
        if not self.has_feedthrough:
            return defects | {"R is not positive semidefinite": negativity_defect(self.R)}
        return defects | {
            "N is not skew-symmetric": skew_defect(self.N),
            "S is not symmetric": symmetry_defect(self.S),
            "W = [[R, P], [Pᵀ, S]] is not positive semidefinite": negativity_defect(self.W),
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
        if n < 0 or largest(self.G[:, n:]) or negativity_defect(csr(self.E[:n, :n])) > TOLERANCE:
            return False
        if n > DENSE:
            return self._large_passive
        own = np.append(np.arange(n), n + np.flatnonzero(np.diff(self.E.indptr)[n:]))  # not the efforts of dampers
        try:
            H = MassNormalised.from_matrices(self.E[own][:, own], self.J[own][:, own], self.G[:, own], n).H
        except InputError:  # a motion without mass
            return False
        return H is None or bool(la.eigvalsh(H)[0] >= -TOLERANCE)

    @property
    def _large_passive(self) -> bool:
        """`passive` where M ≥ 0, with sparse matrices: whether K = L E_σ⁻¹Lᵀ ≥ 0 on the motions that the joints allow."""
        n = self.split
        own = n + np.flatnonzero(np.diff(self.E.indptr)[n:])
        Z, _ = free_motions(self.G[:, :n], self.E.diagonal()[:n])
        strain, inverse = csr(self.J[own, :n] @ Z), block_inverse(self.E[own][:, own])
        return inverse is not None and negativity_defect(csr(strain.T @ inverse @ strain)) <= TOLERANCE

    @property
    def circulatory(self) -> bool:
        """Whether nonconservative loads act."""
        return self.nonconservative.nnz > 0

    @property
    def dynamics(self) -> Matrix:
        """J − R, with nonconservative loads J − R + `nonconservative`."""
        return csr(self.J - self.R + self.nonconservative) if self.circulatory else csr(self.J - self.R)

    @property
    def has_feedthrough(self) -> bool:
        """Whether P, S or N is not zero."""
        return self.P.nnz + self.S.nnz + self.N.nnz > 0

    def feeds_through(self, columns: np.ndarray | slice) -> bool:
        """Whether these inputs have a feedthrough, among each other or with other ports."""
        blocks = (self.P[:, columns], self.S[columns], self.N[columns])
        return self.has_feedthrough and any(map(largest, blocks))

    @property
    def W(self) -> Matrix:
        """The dissipation [[R, P], [Pᵀ, S]] in (e, u)."""
        return stacked([[self.R, self.P], [self.P.T, self.S]])

    @property
    def input_map(self) -> Matrix:
        """B − P, (rows, inputs)."""
        return csr(self.B - self.P) if self.P.nnz else self.B

    @property
    def output_map(self) -> Matrix:
        """B + P, (rows, inputs): y = (B + P)ᵀe + B_λᵀλ + D u."""
        return csr(self.B + self.P) if self.P.nnz else self.B

    @property
    def D(self) -> Matrix:
        """The feedthrough S + N, (inputs, inputs)."""
        return csr(self.S + self.N)

    def output(self, e: np.ndarray, lam: np.ndarray, u: np.ndarray) -> np.ndarray:
        """y for rows e, multipliers λ and inputs u, vectors or matrices of columns."""
        y = self.output_map.T @ e + self.B_lam.T @ lam
        return np.asarray(y + self.D @ u if self.has_feedthrough else y)

    def loss(self, e: np.ndarray, u: np.ndarray) -> float:
        """The dissipated power (e, u)ᵀW (e, u), minus the power of nonconservative loads."""
        power = float(e @ ((self.R - self.nonconservative) @ e))
        return power + float(2.0 * e @ (self.P @ u) + u @ (self.S @ u)) if self.has_feedthrough else power

    @property
    def lossless(self) -> bool:
        return self.R.nnz + self.S.nnz == 0

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
        return self.with_inputs(self.ports.indices(names), self.ports.only(names))

    def with_inputs(self, T: np.ndarray | Matrix, ports: Layout) -> LinearPHDAE:
        """The system with the inputs v of other ports, u = T v, and their outputs Tᵀy; T may be an array of columns of u."""
        T = unit_columns(T, self.ports.size) if np.ndim(T) == 1 else csr(T)
        tall = {name: getattr(self, name) @ T for name in ("B", "P", "B_lam")}
        return replace(self, **tall, **{name: T.T @ getattr(self, name) @ T for name in ("S", "N")}, ports=ports)

    def split_port(self, name: str, parts: Mapping[str, int | Sequence[int]]) -> LinearPHDAE:
        """The same system with a port divided into several, "name.part", each with some of its components.

        Parameters
        ----------
        name : str
            A port with several components.
        parts : dict of str to int or sequence of int
            For each part the components, counted from 0. All components must occur once.

        Returns
        -------
        LinearPHDAE
            The same rows and inputs; the parts take the place of the port.

        Examples
        --------
        The port of a beam in the plane takes a force and a torque; (41) divides it into u_int and u_ext.

        >>> beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=210e9, rho=7800.0, nu=0.3)).discretise(4)
        >>> beam.in_plane().linear().split_port("C", {"force": (0, 1), "torque": 2}).ports.names
        ('P', 'C.force', 'C.torque')
        """
        own = self.ports.indices([name])
        components = {f"{name}.{part}": np.atleast_1d(k).astype(int) for part, k in parts.items()}
        if sorted(np.concatenate([*components.values(), []])) != list(range(len(own))):
            raise InputError(f"port {name!r} has the components 0 to {len(own) - 1}; {dict(parts)} must have each once")
        new = {name: {part: (len(k),) for part, k in components.items()}}
        ports = [Layout(new.get(port, {port: shape})) for port, shape in self.ports.shapes.items()]
        order = [own[components[p]] if p in components else self.ports.indices([p]) for layout in ports for p in layout]
        return self.with_inputs(np.concatenate(order), joined_layouts(ports, "port"))

    def prefixed(self, name: str) -> LinearPHDAE:
        """The same system with `name.` before the names of its rows, ports, multipliers and fields."""
        renamed = copy(self)  # without checking the same matrices again
        for attribute in ("rows", "ports", "multipliers"):
            object.__setattr__(renamed, attribute, getattr(self, attribute).prefixed(name))
        object.__setattr__(renamed, "parts", {f"{name}.{key}": value for key, value in self.parts.items()})
        fields = Fields({f"{name}.{key}": partial(self.fields.__getitem__, key) for key in self.fields})
        object.__setattr__(renamed, "fields", fields)
        object.__setattr__(renamed, "origin", None)
        return renamed

    def __repr__(self) -> str:
        return (
            f"LinearPHDAE({self.rows.size} rows, {self.multipliers.size} multipliers, {self.ports.size} inputs on "
            f"{len(self.ports)} ports, {'' if self.passive else 'not '}passive)"
        )

    def _repr_html_(self) -> str:
        names = {"E": "descriptor", "J": "interconnection", "R": "dissipation", "B": "inputs", "G": "joints"}
        if self.has_feedthrough:
            names |= {"P": "inputs that dissipate", "S": "feedthrough", "N": "skew feedthrough"}
        matrices = [(f"{name}, {meaning}", getattr(self, name)) for name, meaning in names.items()]
        rows = [(title, f"{m.shape[0]} × {m.shape[1]}", m.nnz) for title, m in matrices if m.size]
        order = f"{self.split} velocities, {self.rows.size - self.split} stresses" if self.split >= 0 else ""
        values = {"rows": order, "ports": name_list(self.ports), "multipliers": name_list(self.multipliers)}
        return facts(repr(self), values) + grid("matrices", ("", "size", "entries"), rows)


def linear_only(system: object, *, circulatory: bool = False, feedthrough: bool = False) -> None:
    """Raises InputError if the system is not linear, or has nonconservative loads or a feedthrough that are not allowed."""
    if not isinstance(system, LinearPHDAE):
        raise InputError(f"{type(system).__name__} is not linear; use linearise(system, state) or body.linear()")
    if system.circulatory and not circulatory:
        raise InputError(
            f"{', '.join(map(repr, system.followers))}: loads that rotate with their sections, or dampers to the ground "
            "in a spin. The stiffness is not symmetric and the system not port-Hamiltonian, which is needed here; take inertial "
            "axes for loads, or leave them out of linearise(…, u=…). modes, poles, zeros, response, state_space, eliminate "
            "and simulate accept such a system"
        )
    if system.has_feedthrough and not feedthrough:
        ports = [port for port, columns in system.ports.slices.items() if system.feeds_through(columns)]
        raise InputError(
            f"ports {', '.join(map(repr, ports))} have a feedthrough (P, S or N), which is not supported here; close them with "
            "with_ports(…), or connect them first. poles, zeros, response, simulate, wire, transformer, gyrator, eliminate, "
            "state_space, the functions of ph.reduction and the exports accept such a system"
        )


def _invertible(Q: Any, rows: Layout) -> Matrix:
    """Q as a matrix; raises StructureError if it does not fit or is singular."""
    matrix = _fitting("Q", _matrix("Q", Q), (rows.size, rows.size))
    null = dependencies(csr(matrix.T))
    if null.shape[1]:
        block = rows.owner(int(np.argmax(np.abs(null).max(axis=1))))
        raise StructureError(
            f"Q is singular, of rank {rows.size - null.shape[1]} for {rows.size} rows: some combination of states, mostly of "
            f"{block!r}, stores no energy and acts on nothing; leave it out (for a position without a spring, its rate is enough)"
        )
    return matrix


def _fitting(name: str, matrix: Any, shape: tuple[int, int]) -> Matrix:
    """A copy in CSR format; raises StructureError for another shape, and for NaN or infinity."""
    if matrix.shape != shape:
        raise StructureError(f"{name} is {matrix.shape}; the named rows, ports and multipliers make it {shape}")
    matrix = csr(matrix.copy())
    if not np.isfinite(matrix.data).all():
        raise StructureError(f"{name} contains NaN or infinity")
    return matrix


def _matrix(name: str, value: Any) -> Any:
    """The value, sparse or as an array; raises StructureError if it is not a matrix of real numbers."""
    matrix = value if sp.issparse(value) else as_array(value)
    if matrix.dtype.kind not in "biuf":
        raise StructureError(f"{name} is {value!r}; it must be a matrix of real numbers")
    return matrix


class HasPorts(Protocol):
    """A model with named ports."""

    @property
    def ports(self) -> Layout: ...


def channels(system: HasPorts, names: Ports) -> tuple[np.ndarray, tuple[str, ...]]:
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


def inputs_outputs(
    system: LinearPHDAE, inputs: Ports, outputs: Ports | None
) -> tuple[np.ndarray, np.ndarray, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The columns of the inputs, those of the outputs (default: the inputs), and the names of both; see `channels`."""
    into, input_names = channels(system, inputs)
    out, output_names = channels(system, inputs if outputs is None else outputs)
    return into, out, (input_names, output_names)


def numbered(name: str, count: int) -> list[str]:
    """["tip"] for one component, ["tip[0]", "tip[1]" …] for several."""
    return [name] if count == 1 else [f"{name}[{i}]" for i in range(count)]
