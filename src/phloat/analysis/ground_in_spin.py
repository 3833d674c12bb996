"""The ground seen from a system that spins: it turns the other way, about the axis of the spin.

A damper to the ground then has a rate that depends on positions, too. With the motion s = (−Ω × c, −Ω × d_i) of the port of the
ground in the turning axes, the rate of a gap g(ξ) is ġ = (∂g/∂ξ)(∂ξ/∂q) q̇ + (∂g/∂ξ) s, so that its damping c adds to the stiffness

    K_d = c (∂g/∂q)ᵀ sᵀ(∂²g/∂ξ²)(∂ξ/∂q),

which is not symmetric. Where springs and dampers to the ground are not the same in all directions across the axis, the matrices of
the turning system depend on time, and there is no steady spin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

import numpy as np

from phloat.algebra.cross import rotation
from phloat.algebra.sparse import Matrix
from phloat.errors import InputError
from phloat.joints.port_state import PortState, ground_port
from phloat.joints.rows import Row, curvature, row_rates
from phloat.motion.initial.stiffness import (
    assemble_blocks,
    block_norms,
    element_rate,
    motion_kinds,
    pair_stiffness,
    port_rates,
)
from phloat.system.connection import Element
from phloat.system.joint_rows import columns_in_velocities, coordinate, element_ends, ends
from phloat.system.state import State
from phloat.system.system import System

SAME = 1e-9  # change of a stiffness in a turn that is round-off, relative to the sizes of its terms
TURN = 1.0  # rad by which the ground is turned to compare

Sides = tuple[PortState, PortState]


def circulation(
    system: System, state: State, spin: np.ndarray, about: np.ndarray
) -> tuple[Matrix, Matrix, tuple[str, ...]]:
    """K_d of the dampers between bodies and the ground, the sizes of its entries, and the names of these dampers."""
    velocities, terms, sizes = columns_in_velocities(system), [], []
    names: dict[str, None] = {}
    for element, sides in _elements_on_ground(system, state):
        body = element.first.body or element.second.body
        for row, law in zip(element.rows, element.laws, strict=True):
            if law.resists and row.has_gap:
                x, rate = coordinate(element, row, *sides, state), element_rate(element, row, sides, state)
                block = law.damping_at(x, rate) * _circulation_of_row(row, sides, spin, about)
                terms.append((velocities.columns[body], block))
                sizes.append((velocities.columns[body], block_norms(block, motion_kinds(system.bodies[body].columns))))
                names |= {element.name: None} if block.any() else {}
    return assemble_blocks(terms, velocities.size), assemble_blocks(sizes, velocities.size), tuple(names)


def _circulation_of_row(row: Row, sides: Sides, spin: np.ndarray, about: np.ndarray) -> np.ndarray:
    """K_d / c of one row."""
    ground = 1 if len(sides[0].columns) else 0
    port, body = sides[ground], sides[1 - ground]
    of_ground, of_body = np.arange(12) + 12 * ground, np.arange(12) + 12 * (1 - ground)
    motion = np.concatenate([np.cross(-spin, port.c - about), np.cross(-spin, port.D.T).ravel()])
    slope = motion @ curvature(row, *sides)[np.ix_(of_ground, of_body)] @ port_rates(body)
    return np.outer(row.rate(*sides)[1 - ground], slope)


def _elements_on_ground(system: System, state: State) -> Iterator[tuple[Element, Sides]]:
    """The elements between a body and the ground, with both ports."""
    for element in system.elements.values():
        if not (element.first.body and element.second.body):
            yield element, element_ends(element, state)


def require_same_all_round(system: System, state: State, spin: np.ndarray, about: np.ndarray) -> None:
    """Raises InputError for joints, springs and dampers to the ground that change if the ground is turned about the spin."""
    if not spin.any():
        return
    turn = rotation(TURN * spin / np.linalg.norm(spin))
    for name, joint in system.joints.items():
        sides = ends(joint, state)
        if joint.closed and not (joint.first.body and joint.second.body) and not joint.joint.moves_ground:
            here, there = (np.hstack(row_rates(joint.closed, *pair)) for pair in (sides, _turned(sides, turn, about)))
            rest = there - there @ np.linalg.pinv(here, rcond=SAME) @ here
            if (np.linalg.norm(rest, axis=1) > SAME * np.linalg.norm(there, axis=1)).any():
                _refuse([name])
    change, size, changed = dict[str, np.ndarray](), dict[str, np.ndarray](), []
    for element, sides in _elements_on_ground(system, state):
        body = element.first.body or element.second.body
        kinds = motion_kinds(system.bodies[body].columns)
        old, new = (_blocks(element, pair, state, kinds) for pair in (sides, _turned(sides, turn, about)))
        change[body] = change.get(body, 0.0) + new[0] - old[0]
        size[body] = size.get(body, 0.0) + old[1] + new[1]
        changed += [element.name] if (np.abs(new[0] - old[0]) > SAME * (old[1] + new[1])).any() else []
    if any((np.abs(change[body]) > SAME * size[body]).any() for body in change):
        _refuse(changed)


def _turned(sides: Sides, turn: np.ndarray, about: np.ndarray) -> Sides:
    """Both ports, with that of the ground turned about an axis."""
    ground = 1 if len(sides[0].columns) else 0
    port = sides[ground]
    moved = ground_port(about + turn @ (port.c - about), turn @ port.D)
    return (moved, sides[1]) if ground == 0 else (sides[0], moved)


def _blocks(element: Element, sides: Sides, state: State, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping of an element on its body, one beside the other, and the sizes of their terms."""
    total = sizes = np.zeros(())
    for row, law in zip(element.rows, element.laws, strict=True):
        x, speed = coordinate(element, row, *sides, state), element_rate(element, row, sides, state)
        rate = np.concatenate(row.rate(*sides))
        K = pair_stiffness(sides, [(row, law.force(x, speed), law.slope(x))])
        R = law.damping_at(x, speed) * np.outer(rate, rate)
        total = total + np.hstack([K, R])
        sizes = sizes + np.hstack([block_norms(K, kinds), block_norms(R, kinds)])
    return total, sizes


def _refuse(names: Sequence[str]) -> NoReturn:
    """Raises InputError for parts that would turn."""
    raise InputError(
        f"{', '.join(map(repr, names))}: not the same in all directions across the axis of the spin. To the system that turns, "
        "this changes all the time, and no spin is steady; make stiffness and damping equal in both directions, or use simulate"
    )
