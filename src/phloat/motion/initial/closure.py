"""The gaps of joints as equations for rigid motions, and Newton's method on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.cross import rotation
from phloat.algebra.sparse import Matrix, csr
from phloat.joints.attitude import Attitude
from phloat.joints.port_state import PortState
from phloat.joints.rows import Row
from phloat.system.jointed import ends, half_turned, in_velocities, scattered
from phloat.system.state import State
from phloat.system.system import Connection, System

STEPS = 60
FIRM = 1e4
DAMPING = (1e-12, 1e-3, 1e-1, 1e1)  # of the rows, tried in turn until the gap shrinks


@dataclass(frozen=True, eq=False)
class Closure:
    """The gaps of a system as equations for the rigid motions that are not held."""

    system: System
    held: frozenset[str]
    wanted: tuple[tuple[Connection, Row | Attitude, float], ...]
    firm: frozenset[str] = frozenset()  # joints whose gaps weigh so much that the others take what is left

    @property
    def size(self) -> float:
        """A length of the mechanism."""
        return self.system.size

    @cached_property
    def unknowns(self) -> tuple[np.ndarray, np.ndarray]:
        """Columns of the rigid velocities that may move, and the unit of each (lengths by size)."""
        places, columns, units = in_velocities(self.system), [], []
        for name, body in self.system.bodies.items():
            for i, kind in enumerate(body.active):
                fixed = f"{name}.r_P" if kind < 3 else f"{name}.theta" if len(body.active) == 3 else f"{name}.A_IB"
                if fixed not in self.held:
                    columns.append(places.columns[name][i])
                    units.append(self.size if kind < 3 else 1.0)
        return np.array(columns, dtype=int), np.array(units)

    def rows(self) -> Iterable[tuple[Connection, Row | Attitude, float]]:
        for c in self.system.joints.values():
            for row in c.closed:
                yield c, row, 0.0
        yield from self.wanted

    def equations(self, state: State) -> tuple[np.ndarray, Matrix]:
        """Scaled gaps, and how they change with the unknowns."""
        gaps, blocks = [], []
        at = {name: ends(c, state) for name, c in self.system.joints.items()}
        for c, row, value in self.rows():
            first, second = at[c.name]
            gap, unit = self.scaled_gap(row, first, second, value)
            unit /= FIRM if c.name in self.firm else 1.0
            gaps.append(gap / unit)
            on_first, on_second = row.rate(first, second)
            blocks.append((c, (on_first / unit, on_second / unit)))
        columns, units = self.unknowns
        G = scattered(blocks, in_velocities(self.system))
        return np.concatenate(gaps) if gaps else np.zeros(0), csr(G[:, columns] @ sp.diags_array(units))

    def scaled_gap(
        self, row: Row | Attitude, first: PortState, second: PortState, value: float
    ) -> tuple[np.ndarray, float]:
        gap = np.atleast_1d(row.gap(first, second) - value)
        if isinstance(row, Attitude):
            return gap, 1.0
        return np.arctan2(np.sin(gap), np.cos(gap)) if row.is_angle else gap, self.size**row.length_power

    def closed(self, state: State) -> tuple[State, float]:
        """The state after Newton's method, and its largest scaled gap: shortest steps that close the linearised gaps."""
        gap, G = self.equations(state)
        slow = 0  # steps in a row that hardly helped
        for _ in range(STEPS):
            worst = np.abs(gap).max(initial=0.0)
            if worst < 1e-14 or slow > 4 or not self.unknowns[0].size:
                break
            for damping in DAMPING:
                step = _shortest(G, -gap, damping)
                step *= min(1.0, 0.7 / max(np.abs(step).max(), 1e-300))
                trial = self.moved(state, step)
                new_gap, new_G = self.equations(trial)
                if np.linalg.norm(new_gap) < np.linalg.norm(gap):
                    break
            else:
                break
            slow = slow + 1 if np.linalg.norm(new_gap) > 0.99 * np.linalg.norm(gap) else 0
            state, gap, G = trial, new_gap, new_G
        return state, float(np.abs(gap).max(initial=0.0))

    def moved(self, state: State, step: np.ndarray) -> State:
        """Bodies moved by the unknowns: r_P by A δv, A by the rotation δω in body axes."""
        places = in_velocities(self.system)
        columns, units = self.unknowns
        whole = np.zeros(places.size)
        whole[columns] = step * units
        e = state.e.copy()
        for name, body in self.system.bodies.items():
            twist = np.zeros(6)
            twist[list(body.active)] = whole[places.columns[name][: len(body.active)]]
            pose = state.pose(name)
            e[state.layout[f"{name}.r_P"]] += (pose.A @ twist[:3])[[i for i in body.active if i < 3]]
            if f"{name}.theta" in state.layout:
                e[state.layout[f"{name}.theta"]] += twist[5]
            elif body.rotates:
                e[state.layout[f"{name}.A_IB"]] = (pose.A @ rotation(twist[3:])).ravel()
        return replace(state, e=e)

    def pointing_apart(self, state: State) -> bool:
        return any(half_turned(c, *ends(c, state)) for c in self.system.joints.values())


def _shortest(G: Matrix, right: np.ndarray, damping: float) -> np.ndarray:
    """The least x with G x = right, also where rows repeat each other; shorter with damping (Levenberg, Marquardt)."""
    rows, columns = G.shape
    saddle = sp.block_array([[sp.eye_array(columns), G.T], [G, -damping * sp.eye_array(rows)]], format="csc")
    return spla.splu(saddle).solve(np.concatenate([np.zeros(columns), right]))[:columns]
