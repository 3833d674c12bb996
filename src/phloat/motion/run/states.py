"""The buffers of a run, and states in and out of them; equal bodies together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from phloat.algebra.cross import crosses
from phloat.motion.inputs.drives import Moving
from phloat.motion.inputs.signals import Signal
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.arrays import AXES, Arrays, arrays_of
from phloat.motion.kernel.pack import Packed
from phloat.motion.kernel.step import start_ports
from phloat.system.state import State
from phloat.system.system import System

AT_ONCE = 4096  # states of bodies that are converted together


@dataclass(eq=False)
class RunBuffers:
    """The buffers of a run, and the indices of its inputs and drives in them."""

    system: System
    signals: dict[str, Signal]  # by port; a controller changes them
    packed: Packed
    coordinates: list[tuple[str, int]]  # names of joint coordinates whose whole turns a row counts, and its memory in w
    efforts: list[tuple[str, int]]  # port and component of each prescribed effort …
    effort_indices: np.ndarray  # … and their indices in w
    driven: list[tuple[int, str]]  # entries and names of driven joints …
    drives: list[Moving]  # … and what moves them
    drive_indices: np.ndarray
    drive_values: np.ndarray  # positions of the drives
    prestress_energy: np.ndarray  # energy of pre-stress, per body
    prestress: list[np.ndarray]  # σ − C⁻¹ε(η), per body

    @cached_property
    def bodies(self) -> tuple[EqualBodies, ...]:
        """The bodies by groups of equal ones."""
        return equal_bodies(self.system)

    @cached_property
    def effort_columns(self) -> dict[str, tuple[list[int], list[int]]]:
        """For each port with a prescribed effort: its columns among all efforts, and the component in each."""
        out: dict[str, tuple[list[int], list[int]]] = {}
        for k, (name, component) in enumerate(self.efforts):
            columns, components = out.setdefault(name, ([], []))
            columns.append(k)
            components.append(component)
        return out

    def copy(self, signals: dict[str, Signal]) -> RunBuffers:
        """Buffers of another run of the same system, with inputs at the same ports."""
        p = self.packed
        model = p.model._replace(rows=p.model.rows.copy(), threads=np.zeros_like(p.model.threads))
        fresh = replace(p, model=model, w=p.w.copy(), iw=p.iw.copy())
        energy, prestress = self.prestress_energy.copy(), list(self.prestress)
        out = replace(self, signals=signals, packed=fresh, prestress_energy=energy, prestress=prestress)
        out.bodies = self.bodies
        return out


@dataclass(frozen=True, eq=False)
class EqualBodies:
    """The numbers of equal bodies, and the indices of each of their quantities in a state e, (bodies, components)."""

    numbers: np.ndarray
    arrays: Arrays
    indices: dict[str, np.ndarray]

    def values(self, e: np.ndarray, quantity: str, size: int) -> np.ndarray:
        """A quantity of each body, (bodies, size); zero if it does not exist."""
        index = self.indices.get(quantity)
        return np.zeros((len(self.numbers), size)) if index is None else e[index]

    def parts(self, rows: int) -> Iterator[np.ndarray]:
        """Indices of bodies, so many at a time that all of their states at `rows` times are converted together."""
        count = len(self.numbers)
        yield from np.array_split(np.arange(count), max(1, min(count, count * rows // AT_ONCE)))


def equal_bodies(system: System) -> tuple[EqualBodies, ...]:
    """The bodies of a system by groups of equal ones."""
    by_body: dict[int, list[int]] = {}
    names, slices = list(system.bodies), system.layout.slices
    for i, body in enumerate(system.bodies.values()):
        by_body.setdefault(id(body), []).append(i)
    out = []
    for numbers in by_body.values():
        start = f"{names[numbers[0]]}."
        sizes = {n.removeprefix(start): b.stop - b.start for n, b in _blocks(system, start)}
        indices = {
            q: np.array([slices[f"{names[i]}.{q}"].start for i in numbers])[:, None] + np.arange(size)
            for q, size in sizes.items()
        }
        out.append(EqualBodies(np.array(numbers), arrays_of(system.bodies[names[numbers[0]]]), indices))
    return tuple(out)


def _blocks(system: System, start: str) -> Iterator[tuple[str, slice]]:
    """The quantities of one body."""
    names = ("r_P", "A_IB", "theta", "eta", "v_P", "omega", "eta_dot", "sigma")
    slices = system.layout.slices
    return ((start + name, slices[start + name]) for name in names if start + name in slices)


def load_state(run: RunBuffers, state: State) -> None:
    """Writes a state to the buffers: motion of the mass centre, pre-stress, ports, targets of closed rows."""
    w, model = run.packed.w, run.packed.model
    r_P, A_IB = run.system.joint_groups.frames.at(state.e)
    for group in run.bodies:
        B, arrays, count = model.bodies[group.numbers].astype(np.int64), group.arrays, len(group.numbers)
        n, A = arrays.body.coordinates, A_IB[group.numbers]
        eta, rates = group.values(state.e, "eta", n), group.values(state.e, "eta_dot", n)
        v, omega = np.zeros((count, 3)), np.zeros((count, 3))
        v[:, : arrays.linear] = group.values(state.e, "v_P", arrays.linear)
        omega[:, AXES[arrays.turning]] = group.values(state.e, "omega", arrays.turning)
        c, c_dot = arrays.centre.motion(eta, rates)
        r = r_P[group.numbers] + (A @ c[..., None])[..., 0]
        V = (A @ (v + crosses(omega, c) + c_dot)[..., None])[..., 0]

        def write(column: int, values: np.ndarray, B: np.ndarray = B) -> None:
            w[B[:, column, None] + np.arange(values.shape[1])] = values

        pose = np.hstack([r, A.reshape(-1, 9)])
        write(t.W_Q, np.hstack([pose, eta]))
        write(t.W_Q1, pose)
        write(t.W_QT, np.broadcast_to(np.eye(3).ravel(), (count, 9)))
        write(t.W_V, np.hstack([V, omega, rates]))
        if "theta" in group.indices:
            write(t.W_THETA, state.e[group.indices["theta"]])
        sigma = group.values(state.e, "sigma", arrays.body.stresses)
        prestress = sigma - arrays.body.elastic.stress(eta) if n else sigma
        write(t.W_PRE, np.zeros((count, np.count_nonzero(arrays.quadratic))))
        write(t.W_FPRE, np.zeros((count, n)))
        run.prestress_energy[group.numbers] = 0.0
        for i, stress in zip(group.numbers, prestress, strict=True):
            run.prestress[i] = stress
        for k in np.flatnonzero(prestress.any(axis=1)):
            strain, force, run.prestress_energy[group.numbers[k]] = arrays.prestress(prestress[k])
            w[B[k, t.W_PRE] + np.arange(len(strain))] = strain
            w[B[k, t.W_FPRE] + np.arange(n)] = force
    run.packed.iw[t.I_STARTED] = run.packed.iw[t.I_FACTORED] = 0
    start_ports(model, w)


def unload_states(run: RunBuffers, numbers: np.ndarray, only: str | None = None) -> np.ndarray:
    """States e (times × layout) from output rows (times × numbers); with `only` those of one body, zero elsewhere."""
    e = np.zeros((len(numbers), run.system.layout.size))
    chosen = None if only is None else list(run.system.bodies).index(only)
    for group in run.bodies:
        if chosen is None:
            for part in group.parts(len(numbers)):
                _unload(run, group, part, numbers, e)
        elif chosen in group.numbers:
            _unload(run, group, np.flatnonzero(group.numbers == chosen), numbers, e)
    return e


def _unload(run: RunBuffers, group: EqualBodies, part: np.ndarray, numbers: np.ndarray, e: np.ndarray) -> None:
    """Writes the states of some of a group of equal bodies into e."""
    arrays, first, times = group.arrays, run.packed.first, len(numbers)
    body, B = arrays.body, run.packed.model.bodies[group.numbers[part]].astype(np.int64)

    def read(column: int, size: int) -> np.ndarray:
        columns = B[:, column, None] - first + np.arange(size)
        return numbers[:, columns].reshape(times * len(part), size)

    q, v = read(t.W_Q, 12 + body.coordinates), read(t.W_V, 6 + body.coordinates)
    r, A, eta = q[:, :3], q[:, 3:12].reshape(-1, 3, 3), q[:, 12:]
    V, omega, rates = v[:, :3], v[:, 3:6], v[:, 6:]
    c, c_dot = arrays.centre.motion(eta, rates)
    linear, turning = list(range(arrays.linear)), AXES[arrays.turning]
    V_body = np.einsum("tji,tj->ti", A, V)
    values = {
        "r_P": (r - np.einsum("tij,tj->ti", A, c))[:, linear],
        "A_IB": A.reshape(-1, 9),
        "theta": read(t.W_THETA, 1),
        "eta": eta,
        "v_P": (V_body - crosses(omega, c) - c_dot)[:, linear],
        "omega": omega[:, turning],
        "eta_dot": rates,
    }
    if body.stresses:  # σ = C⁻¹ε(η) + pre-stress, which is an invariant
        before = np.array([run.prestress[i] for i in group.numbers[part]])
        stress = body.elastic.stress(eta).reshape(times, *before.shape) + before
        values["sigma"] = stress
    for quantity, index in group.indices.items():
        e[:, index[part]] = values[quantity].reshape(times, *index[part].shape)
