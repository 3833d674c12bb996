"""The joints of a system at a state: gaps, the rows G, what drives them, and the free axes as ports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, diagonal, zeros
from phloat.bodies.body import Port
from phloat.joints.pairs import Drive
from phloat.joints.rows import Aligned, Coincide, Held, Perpendicular, Spin, Turn, held_ground, section_axes
from phloat.system.connection import Connection, held
from phloat.system.elements import Element
from phloat.system.state import State
from phloat.system.system import System, fits


@dataclass(frozen=True, eq=False)
class Places:
    """In which columns the velocities of each body stand, and how many columns there are."""

    columns: dict[str, np.ndarray]
    size: int


def in_rows(system: System, rows: Layout) -> Places:
    """The columns of the velocities among named rows: those of the state e, or of a linear system."""
    names = ("v_P", "omega", "eta_dot")
    columns = {b: rows.indices(f"{b}.{n}" for n in names if f"{b}.{n}" in rows) for b in system.bodies}
    return Places(columns, rows.size)


def in_velocities(system: System) -> Places:
    """The columns of the velocities (v_P, ω, η̇) of all bodies, one after the other."""
    columns, start = {}, 0
    for name, body in system.bodies.items():
        columns[name] = start + np.arange(len(body.columns))
        start += len(body.columns)
    return Places(columns, start)


def joint_rows(system: System, state: State, places: Places) -> tuple[Matrix, Matrix]:
    """G and B_λ at a state: 0 = −G z + B_λ u."""
    blocks, drives = [], []
    for name, c in system.joints.items():
        first, second = ends(c, state)
        blocks += [(c, row.rate(first, second)) for row in c.rows]
        if c.driven:
            drives.append((system.multipliers[name].stop, system.ports[name], _driving(c, second)))
    B_lam = zeros(system.multipliers.size, system.ports.size)
    if drives:
        B_lam = B_lam.tolil()
        for stop, where, block in drives:
            B_lam[stop - block.shape[0] : stop, where] = block
    return scattered(blocks, places), csr(B_lam)


def port_columns(system: System, state: State, places: Places, names: Sequence[str] | None = None) -> Matrix:
    """B at a state: wrenches at body ports in the axes of their sections, efforts along free axes, forces, torques and loads.

    Drives act through B_λ only. Of all ports, or of the named ones.
    """
    columns = []
    for name in system.ports if names is None else names:
        row, column, value = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)]
        for body, block in port_blocks(system, state, name):
            i, j = np.nonzero(block)
            row.append(places.columns[body][j])
            column.append(i)
            value.append(block[i, j])
        entries = (np.concatenate(value), (np.concatenate(row), np.concatenate(column)))
        columns.append(sp.coo_array(entries, shape=(places.size, system.ports.shape(name)[0])))
    return csr(sp.hstack(columns)) if columns else zeros(places.size, 0)


def port_blocks(system: System, state: State, name: str) -> list[tuple[str, np.ndarray]]:
    """What a port shows per velocity of each of its bodies: (body, components × velocities)."""
    if name in system.joints:
        c = system.joints[name]
        sides = ends(c, state) if c.free else ()
        rates = [row.rate(*sides) for row in c.free]
        there = [(k, end.body) for k, end in enumerate((c.first, c.second)) if end.body and rates]
        return [(body, np.vstack([rate[k] for rate in rates])) for k, body in there]
    if name in system.actuators:
        a = system.actuators[name]
        body = system.bodies[a.body]
        return [(a.body, a.effort(body, state.pose(a.body))[body.columns][None])]
    owner, _, port = name.rpartition(".")
    body = system.bodies[owner]
    return [(owner, section_twist(body.port(port), state.pose(owner).eta)[np.ix_(body.twist_rows, body.columns)])]


def section_twist(port: Port, eta: np.ndarray) -> np.ndarray:
    """(v_C, ω_C) per (v_P, ω, η̇) in the axes of the port's section, 6 × (6 + n)."""
    axes = section_axes(port.Psi @ eta)
    return (axes.T @ port.twist(eta).reshape(2, 3, -1)).reshape(6, -1)


def gaps(system: System, state: State) -> dict[str, np.ndarray]:
    """How far each joint is from closed: metres for points, radians (to first order) for directions."""
    state = fits(system, state)
    return {name: closed_gap(c, *ends(c, state)) for name, c in system.joints.items() if c.closed}


def closed_gap(c: Connection, first: Held, second: Held) -> np.ndarray:
    """The gaps of the rows that a joint closes by itself (not those locked or driven wherever they stand)."""
    return np.concatenate([row.gap(first, second) for row in c.closed])


def half_turned(c: Connection, first: Held, second: Held) -> bool:
    """Whether directions that should agree point apart: perpendicular and aligned rows vanish there too."""
    if any(isinstance(row, Aligned) for row in c.closed):
        return float(np.trace(first.D.T @ second.D)) < 1.0
    if any(isinstance(row, Perpendicular) and row.j == 2 for row in c.closed):  # an axis of B along that of A
        return float(first.D[:, 2] @ second.D[:, 2]) < 0.0
    return False


def ball_joints(system: System) -> dict[str, Spin]:
    """The joints that leave all three rotations to one row: spherical ones in space."""
    rows = ((name, row) for name, c in system.joints.items() for row in c.free + c.locked + c.driven)
    return {name: row for name, row in rows if isinstance(row, Spin) and len(row.axes) == 3}


def joint_coordinates(system: System, state: State) -> dict[str, float]:
    """The angles and slides of every joint that has some, by "joint.angle", "joint.slide" …"""
    state, out = fits(system, state), dict[str, float]()
    for name in system.joints:
        out |= coordinates_of(system, state, name)
    return out


def coordinates_of(system: System, state: State, joint: str) -> dict[str, float]:
    """The angles and slides of one joint."""
    c = system.joints[joint]
    first, second = ends(c, state)
    out = {}
    for row in c.coordinates:
        value = float(row.gap(first, second)[0])
        out[f"{joint}.{row.labels[0]}"] = unwrapped(c, state, value) if isinstance(row, Turn) else value
    return out


def unwrapped(c: Connection | Element, state: State, angle: float) -> float:
    """The angle of a joint with its whole turns, where absolute angles count them: in a plane."""
    if f"{c.second.body}.theta" not in state.layout:
        return angle
    first, second = (
        float(state[name]) - end.turned if (name := f"{end.body}.theta") in state.layout else -end.turned
        for end in (c.first, c.second)
    )
    return angle + 2 * np.pi * float(np.round((sense(c) * (second - first) - angle) / (2 * np.pi)))


def sense(c: Connection | Element) -> float:
    """1 where a hinge in a plane turns about z, −1 where it turns about −z."""
    return float(np.sign(c.first.triad[2, 2]))


def ends(c: Connection, state: State) -> tuple[Held, Held]:
    """Both sides of a joint at a state; a drive's ground frame moves, and stands where the driven port does."""
    second = held(c.second, state)
    return held_ground(second.c, second.D) if isinstance(c.joint, Drive) else held(c.first, state), second


def _driving(c: Connection, second: Held) -> np.ndarray:
    """B_λ of a driven joint: the rate of a free axis is its input; a drive moves its ground frame."""
    size = sum(len(row.labels) for row in c.driven)
    if not isinstance(c.joint, Drive):
        return np.eye(size)
    parts = []
    for row in c.driven:
        if isinstance(row, Coincide):
            parts.append(np.eye(len(row.axes)))
        else:
            assert isinstance(row, Aligned)
            D = second.D  # a frame that turns by u changes the i-th skew product by u · (d_j × d_k)
            turned = np.array([np.cross(D[:, (i + 1) % 3], D[:, (i + 2) % 3]) for i in row.axes])
            parts.append(turned if len(row.axes) == 3 else turned[:, 2:])
    return diagonal(parts).toarray()


def scattered(blocks: Iterable[tuple[Connection | Element, tuple[np.ndarray, np.ndarray]]], places: Places) -> Matrix:
    """Rows of joints or elements, each with its columns for two bodies, as one sparse matrix."""
    row, column, value, start = [], [], [], 0
    for c, rates in blocks:
        for end, rate in zip((c.first, c.second), rates, strict=True):
            if end.body:
                i, j = np.nonzero(rate)
                row.append(start + i)
                column.append(places.columns[end.body][j])
                value.append(rate[i, j])
        start += rates[0].shape[0]
    if not value:
        return csr(sp.csr_array((start, places.size)))
    entries = (np.concatenate(value), (np.concatenate(row), np.concatenate(column)))
    return csr(sp.coo_array(entries, shape=(start, places.size)))
