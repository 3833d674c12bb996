"""TITOP models: two-input two-output ports, with accelerations and forces in place of velocities and forces.

A channel is one component of a port. Driven by a force its output is an acceleration; inverted, it is driven by the acceleration
and its output is the force of the body on its neighbour, −f. With the modes (V, ω) of unit mass and the rigid motions V₀

    ẇ = −VᵀD V w − ω s + VᵀB f,   ṡ = ω w,   a = Bᵀ(V ẇ + V₀V₀ᵀB f):

rigid motions need no state. Acceleration times force is not power: TITOP models are not passive, and velocities that disagree where
two are connected are not detected. `from_titop` integrates the accelerations and so returns to ports of power (Alazard, Perez
Gonzalez, Loquen and Cumer, "Two-input two-output port model for mechanical systems", AIAA 2015; Chebbi and others, Multibody
System Dynamics 41, 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import csr, largest
from phloat.algebra.threads import one_thread
from phloat.errors import InputError, finite
from phloat.linear.form.mass_normalised import MassNormalised
from phloat.linear.form.passive import from_state_space
from phloat.linear.form.phdae import LinearPHDAE, Ports, channels, linear_only, numbered
from phloat.linear.form.state_space import MAX_STATES

ASYMMETRY = 1e-6  # of the mobility of rigid motions, scaled to a diagonal of one, that is accepted
SINGULAR = 1e12  # condition number from which channels are not inverted or connected
ROUND_OFF = 1e-10  # damping or mobility of rigid motions that is round-off, relative to its terms
RIGID = 1e-9  # eigenvalue of the mobility of rigid motions, scaled to a diagonal of one, that counts as zero


@dataclass(frozen=True, eq=False, kw_only=True)
class Titop:
    """ẋ = A x + B u, y = C x + D u with one input and one output for each channel, a component of a port.

    Parameters
    ----------
    A, B, C, D : array
        The state space.
    ports : Layout
        The ports, {name: (components,)}, in the order of u and y.
    accelerated : array of bool, (channels,), optional
        True for channels with the acceleration as input and the force on the neighbour as output; by default none: the input is
        the force on the body, the output the acceleration.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    ports: Layout
    accelerated: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    def __post_init__(self) -> None:
        if not isinstance(self.ports, Layout):
            raise InputError(f"ports is {self.ports!r}; it must be a Layout: names and shapes")
        n, m = len(np.atleast_2d(self.A)) if np.size(self.A) else 0, self.ports.size
        for name, shape in {"A": (n, n), "B": (n, m), "C": (m, n), "D": (m, m)}.items():
            matrix = getattr(self, name)
            empty = not np.size(matrix) and 0 in shape  # [] is a matrix without states
            object.__setattr__(self, name, finite(name, np.zeros(shape) if empty else matrix, shape))
        given = np.asarray(self.accelerated, bool) if np.size(self.accelerated) else np.zeros(m, bool)
        if given.shape != (m,):
            raise InputError(
                f"accelerated is {self.accelerated!r}; it must have one entry for each of the {m} channels"
            )
        object.__setattr__(self, "accelerated", given)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of u: "C.force[0]" …, or "P.acceleration[0]" for accelerated channels."""
        return self._names("acceleration", "force")

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of y: "C.acceleration[0]" …, or "P.force[0]" for accelerated channels."""
        return self._names("force", "acceleration")

    def _names(self, driven: str, free: str) -> tuple[str, ...]:
        pairs = zip(*(self._channels(f".{word}") for word in (driven, free)), self.accelerated, strict=True)
        return tuple(a if is_driven else b for a, b, is_driven in pairs)

    def _channels(self, ending: str = "") -> list[str]:
        return [name for port in self.ports for name in numbered(f"{port}{ending}", self.ports.shape(port)[0])]

    @property
    def poles(self) -> np.ndarray:
        """The eigenvalues of A with Im ≥ 0 (rad/s), ascending in magnitude."""
        values = la.eigvals(self.A) if len(self.A) else np.zeros(0)
        values = values[values.imag >= 0.0]
        return np.asarray(values[np.argsort(np.abs(values), kind="stable")])

    def inverted(self, ports: Ports) -> Titop:
        """The model with input and output of these ports or channels ("P", "C[2]") exchanged; twice gives the model itself."""
        k, names = channels(self, ports)
        D_kk = self.D[np.ix_(k, k)]
        if not _regular(D_kk):
            raise InputError(
                f"channels {', '.join(map(repr, names))} cannot be inverted: a force there changes no acceleration at once"
            )
        inverse, size = la.inv(D_kk), len(self.D)
        sign = np.where(self.accelerated[k], -1.0, 1.0)[:, None]  # an output is −f, the force on the neighbour
        # the new input is v_k = ± y_k, the new output ∓ u_k: u = X x + U v
        X, U = np.zeros(self.C.shape), np.eye(size)
        X[k], U[k] = -inverse @ self.C[k], -inverse @ self.D[k]
        U[np.ix_(k, k)] = inverse * sign.T
        C, D = self.C + self.D @ X, self.D @ U
        C[k], D[k] = -sign * X[k], -sign * U[k]
        accelerated = self.accelerated.copy()
        accelerated[k] = ~accelerated[k]
        return replace(self, A=self.A + self.B @ X, B=self.B @ U, C=C, D=D, accelerated=accelerated)

    def closed(self, ports: Ports) -> Titop:
        """The model without these ports or channels: their input is zero, no force or no acceleration."""
        k, _ = channels(self, ports)
        mask = np.ones(len(self.D), bool)
        mask[k] = False
        layout, accelerated = self.ports.masked(mask), self.accelerated[mask]
        return replace(
            self, B=self.B[:, mask], C=self.C[mask], D=self.D[np.ix_(mask, mask)], ports=layout, accelerated=accelerated
        )

    def grounded(self, port: str, *, free: Sequence[int] = ()) -> Titop:
        """The model with a port held by the ground, except for the components `free`, which no force acts on."""
        return self._with_inputs(port, free).closed(port)

    def _with_inputs(self, port: str, free: Sequence[int], held: bool = True) -> Titop:
        """The model with accelerations as inputs of the port (forces unless `held`), and forces of its components `free`."""
        wanted = self.accelerated.copy()
        columns, _ = channels(self, port)
        wanted[columns] = held
        wanted[columns[list(free)]] = False
        change = np.flatnonzero(wanted != self.accelerated)
        names = self._channels()
        return self.inverted([names[k] for k in change]) if len(change) else self

    def __repr__(self) -> str:
        return f"Titop({len(self.A)} states, {', '.join(self.inputs)})"


@one_thread()
def to_titop(system: LinearPHDAE, *, accelerated: Ports = ()) -> Titop:
    """The TITOP model of a linear system: from forces and accelerations at its ports to accelerations and forces.

    Parameters
    ----------
    system : LinearPHDAE
        A body, `body.linear()`, or a mechanism about rest. All ports take efforts, and act on velocities.
    accelerated : str or sequence of str, optional
        Ports or channels driven by their acceleration (m/s², rad/s²), whose output is the force on the neighbour (N, N m).

    Returns
    -------
    Titop
        States are modes; rigid motions have none.

    Examples
    --------
    A point of 2 kg: a = f/m, and −f = −m a with the acceleration as input.

    >>> point = ph.RigidBody(mass=2.0, inertia=np.eye(3)).discretise().linear()
    >>> free, driven = ph.io.to_titop(point), ph.io.to_titop(point, accelerated="P")
    >>> round(float(free.D[0, 0]), 12), round(float(driven.D[0, 0]), 12)
    (0.5, -2.0)
    """
    linear_only(system)
    if system.rows.size > MAX_STATES:
        raise InputError(
            f"a model of {system.rows.size} states is dense; reduce the system first, to {MAX_STATES} or less"
        )
    n = system.split
    if not system.separable or largest(system.B[n:]) or largest(system.B_lam) or largest(system.J[:n, :n]):
        raise InputError(
            "a TITOP model needs a system about rest in the order (v | σ), without a spin, and ports that take efforts and act on "
            "velocities: body.linear(), or linearise(system, state) without drives"
        )
    form, R = MassNormalised.from_matrices(system.E, system.J, system.G, n), csr(system.R[:n, :n])
    size, V, rigid = form.size, form.vectors, form.rigid
    H = np.eye(len(size)) if form.H is None else form.H
    terms = np.abs(rigid).T @ (abs(R) @ np.abs(rigid))
    if (np.abs(rigid.T @ (R @ rigid)) > ROUND_OFF * terms).any():
        V = np.hstack([V, rigid])  # damped rigid motions have a velocity as state
    k, b, b_0 = len(size), V.T @ system.B[:n].toarray(), rigid.T @ system.B[:n].toarray()
    S = np.zeros((V.shape[1], k))
    S[:k] = np.diag(size)
    force = np.hstack([-(V.T @ (R @ V)), -S @ H])  # ẇ without inputs
    A = np.vstack([force, np.hstack([S.T, np.zeros((k, k))])])
    D = b.T @ b + (b_0.T @ b_0 if V.shape[1] == k else 0.0)
    model = Titop(A=A, B=np.vstack([b, np.zeros((k, b.shape[1]))]), C=b.T @ force, D=D, ports=system.ports)
    return model.inverted(accelerated) if len(accelerated) else model


def connect_titop(
    first: Titop, port_1: str, second: Titop, port_2: str, R: np.ndarray | None = None, *, free: Sequence[int] = ()
) -> Titop:
    """Two TITOP models with ports that share their acceleration: a₁ = R a₂ and f₁ = R (−f₂).

    Port 1 gets forces and port 2 accelerations as inputs; channels that have the others are inverted. Both ports are closed.

    Parameters
    ----------
    first, second : Titop
        Models with ports of different names.
    port_1, port_2 : str
        The ports, with as many components.
    R : array, (components, components), optional
        From the axes of port 2 to those of port 1, a rotation: R Rᵀ = 1; default: the identity. In the plane the components are
        x, y, θ.
    free : sequence of int, optional
        Components that the joint leaves free, such as (2,) for a hinge in the plane: no force acts there.

    Returns
    -------
    Titop
        With the remaining ports of both.

    Examples
    --------
    Bodies of 2 kg and 3 kg that are welded together: a = f / 5.

    >>> def link(mass, name):
    ...     body = ph.RigidBody(mass=mass, inertia=np.eye(3), ports={"C": (1.0, 0.0, 0.0)}).discretise().in_plane()
    ...     return ph.io.to_titop(body.linear().prefixed(name))
    >>> both = ph.io.connect_titop(link(2.0, "a"), "a.C", link(3.0, "b"), "b.P")
    >>> both.ports.names, round(float(both.D[0, 0]), 12)
    (('a.P', 'b.C'), 0.2)
    """
    first, second = first._with_inputs(port_1, (), held=False), second._with_inputs(port_2, free)
    (k_1, _), (k_2, _) = channels(first, port_1), channels(second, port_2)
    if len(k_1) != len(k_2):
        raise InputError(
            f"ports {port_1!r} and {port_2!r} have {len(k_1)} and {len(k_2)} components; connect equal ones"
        )
    R = finite("R", np.eye(len(k_1)) if R is None else R, (len(k_1), len(k_2)))
    released = np.array(free, dtype=int)
    held = np.setdiff1d(np.arange(len(k_1)), released)
    if R[np.ix_(held, released)].any() or R[np.ix_(released, held)].any():
        raise InputError(
            f"R mixes the free components {tuple(free)} of {port_2!r} with the others; give another R or free=…"
        )
    turn = R[np.ix_(held, held)]
    if (defect := np.abs(turn @ turn.T - np.eye(len(held))).max(initial=0.0)) > ASYMMETRY:
        raise InputError(
            f"R between {port_1!r} and {port_2!r} is no rotation: R Rᵀ − 1 has entries up to {defect:.2g}; take levers and gears "
            "as ports of the bodies, or connect them with transformer(…, C)"
        )
    parts, m = (first, second), first.ports.size
    joined = Titop(
        **{name: la.block_diag(*(getattr(p, name) for p in parts)) for name in "ABCD"},
        ports=joined_layouts((p.ports for p in parts), "port"),
        accelerated=np.concatenate([p.accelerated for p in parts]),
    )
    K = np.zeros_like(joined.D)
    K[np.ix_(k_1[held], m + k_2[held])] = turn
    return _with_loop(joined, K + K.T, f"{port_1!r} and {port_2!r}").closed([port_1, port_2])


def _with_loop(model: Titop, K: np.ndarray, where: str) -> Titop:
    """The model with u = K y + v; raises InputError for an algebraic loop without a unique solution."""
    if not _regular(loop := np.eye(len(K)) - model.D @ K):
        raise InputError(
            f"{where} form an algebraic loop without a unique solution: they have the same acceleration already"
        )
    F = la.inv(loop)
    back = K @ F  # u = K F (C x + D v) + v
    A, B = model.A + model.B @ back @ model.C, model.B + model.B @ back @ model.D
    return replace(model, A=A, B=B, C=F @ model.C, D=F @ model.D)


def from_titop(model: Titop) -> LinearPHDAE:
    """The port-Hamiltonian system of a TITOP model: forces in, velocities out, which are the integrals of its accelerations.

    Accelerated channels are inverted first. A⁻¹ integrates: v = C A⁻¹x + Φ r, ṙ = Φᵀf with the mobility of rigid motions
    D − C A⁻¹B = Φ Φᵀ, so that A must not have a pole at zero. Raises InputError if the velocities are not passive, such as for
    outputs that are not at the inputs, or if a channel has no mass to be inverted: a prescribed acceleration is no port of power.
    """
    if model.accelerated.any():
        names = model._channels()
        model = model.inverted([names[k] for k in np.flatnonzero(model.accelerated)])
    if len(model.A) and not _regular(model.A):
        raise InputError(
            "the model has a pole at zero, so its accelerations have no integral in these states; remove it (minreal)"
        )
    C = la.solve(model.A.T, model.C.T).T if len(model.A) else model.C
    mobility, terms = model.D - C @ model.B, np.abs(model.D) + np.abs(C) @ np.abs(model.B)
    mobility = np.where(np.abs(mobility) > ROUND_OFF * terms, mobility, 0.0)
    unit = np.sqrt(np.where(np.diag(mobility) > 0.0, np.diag(mobility), 1.0))
    scaled = mobility / unit / unit[:, None]
    size, shapes = la.eigh(0.5 * (scaled + scaled.T))
    if np.abs(scaled - scaled.T).max(initial=0.0) > ASYMMETRY or size.min(initial=0.0) < -RIGID:
        raise InputError(
            "the rigid accelerations are not those of a mass: D − C A⁻¹B is not symmetric and positive; use the same "
            "ports for inputs and outputs"
        )
    Phi = unit[:, None] * shapes[:, size > RIGID] * np.sqrt(size[size > RIGID])
    A, B = la.block_diag(model.A, np.zeros((Phi.shape[1],) * 2)), np.vstack([model.B, Phi.T])
    return from_state_space(A, B, np.hstack([C, Phi]), ports={p: model.ports.shape(p)[0] for p in model.ports})


def _regular(a: np.ndarray) -> bool:
    """Whether a matrix, scaled to rows and columns of size one, is not singular."""
    row = np.abs(a).max(axis=1, initial=0.0)
    if not row.all():
        return not len(a)
    scaled = a / row[:, None]
    column = np.abs(scaled).max(axis=0)
    return bool(column.all()) and bool(np.linalg.cond(scaled / column) < SINGULAR)
