"""Force elements at a state: energy of springs and its gradient, resistance of dampers."""

from __future__ import annotations

import numpy as np

from phloat.algebra.sparse import Matrix, csr, zeros
from phloat.joints.port_state import PortState, port_entries
from phloat.joints.rows import Row, row_gradient
from phloat.system.connection import port_state
from phloat.system.elements import Element
from phloat.system.joint_rows import VelocityColumns, scattered, unwrapped
from phloat.system.state import State
from phloat.system.system import System


def element_energies(system: System, state: State) -> dict[str, float]:
    """The energy stored in every element, by name."""
    out = {}
    for name, element in system.elements.items():
        first, second = _sides(element, state)
        gaps = [coordinate(element, row, first, second, state) for row in element.rows]
        out[name] = float(sum(law.energy(gap) for law, gap in zip(element.laws, gaps, strict=True)))
    return out


def coordinate(element: Element, row: Row, first: PortState, second: PortState, state: State) -> float:
    """What a law of an element sees: the gap of its row, an angle with the turns that the state knows."""
    gap = row.gap(first, second)
    return unwrapped(element, state, gap) if row.is_angle else gap


def potential_gradient(system: System, state: State) -> dict[str, np.ndarray]:
    """∂U/∂(r_P, A row by row, η) of the springs, for every body that one of them holds: what they add to z."""
    out: dict[str, np.ndarray] = {}
    for element in system.elements.values():
        first, second = _sides(element, state)
        for row, law in zip(element.rows, element.laws, strict=True):
            if not law.stores:
                continue
            effort = -law.pull(coordinate(element, row, first, second, state))
            parts = effort * row_gradient((row,), first, second).reshape(2, 12)
            for end, side, part in zip((element.first, element.second), (first, second), parts, strict=True):
                if end.body:
                    out[end.body] = out.get(end.body, 0.0) + port_entries(side).by_state(part)
    return out


def dissipation(
    system: System, state: State, places: VelocityColumns, velocities: np.ndarray, *, small: bool = False
) -> Matrix:
    """Gᵀ c G of the dampers: what they add to R. `velocities` has the columns of `places`; tables count by their secant.

    Where R is for `small` motion about these velocities, tables count by their slope.
    """
    R = zeros(places.size, places.size)
    for element in system.elements.values():
        first, second = _sides(element, state)
        for row, law in zip(element.rows, element.laws, strict=True):
            if law.resists:
                G = scattered([(element, row.rate(first, second))], places)
                rate = float((G @ velocities)[0])
                R = R + (law.damping_at(rate) if small else law.resistance(rate)) * (G.T @ G)
    return csr(R)


def _sides(element: Element, state: State) -> tuple[PortState, PortState]:
    return port_state(element.first, state), port_state(element.second, state)
