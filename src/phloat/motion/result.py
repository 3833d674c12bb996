"""Results of simulations: states over time by name, multipliers, energy accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from phloat.bodies.body import Body
from phloat.bodies.shape import displacements
from phloat.errors import InputError, PortError, finite, number, unknown
from phloat.joints.rows import Row
from phloat.motion.joint_motion import joint_quantity, joint_quantity_names
from phloat.motion.result_tables import energy_tables, run_table
from phloat.motion.result_times import at_times as at_times, window
from phloat.motion.run.interpolation import interpolate_states
from phloat.system.connection import Connection
from phloat.system.joint_rows import joint_coordinates
from phloat.system.places import MOTIONS, body_point, locate_place, pieces_of, time_derivative
from phloat.system.state import DERIVED, State, derived_field
from phloat.system.stresses import (
    COMPONENTS as STRESSES,
    Resultants,
    StressField,
    inside,
    on_section,
    point,
    stress_at,
    stress_points,
)
from phloat.system.system import System
from phloat.system.terms import energy

COMPONENTS = ("kinetic", "elastic", "potential")


@dataclass(frozen=True, eq=False)
class PastEvent:
    """An event of a run: time, name, and states (of linear systems e) just before and after it, equal if the run stopped."""

    t: float
    name: str
    before: Any
    after: Any


@dataclass(frozen=True, eq=False)
class EnergyAccounts:
    """Energies at the output times and works up to them (J), from which `energy_ledger` is computed.

    `bodies` (times, bodies, 3): kinetic, elastic, potential; `losses` (times, bodies): dissipated by the damping of bodies; `works`
    (times, entries, 2): works of each joint, element and input on its two bodies; `springs` (times, entries): stored.
    """

    names: tuple[str, ...]
    bodies: np.ndarray
    losses: np.ndarray
    works: np.ndarray
    springs: np.ndarray


@dataclass(frozen=True, eq=False)
class Efforts:
    """Efforts of force elements and inputs at the output times (times, rows), as means of neighbouring steps; `names` is the
    element or port of each row."""

    names: tuple[str, ...]
    values: np.ndarray

    def of(self, name: str) -> np.ndarray:
        """The efforts of one element or port, (times, rows); without rows if it has none."""
        return self.values[:, [k for k, owner in enumerate(self.names) if owner == name]]


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a simulation: `result["rod.theta"]`, `result["hinge.lam"]`, `result["elbow.angle"]`… with time first.

    `e` (times, size of a state): states; `lam` (times, multipliers): means of neighbouring steps; `info`: statistics of the scheme;
    `events`: time, name, and the states `before` and `after` of each event.
    """

    system: System
    t: np.ndarray
    e: np.ndarray
    lam: np.ndarray
    accounts: EnergyAccounts | None = None
    info: Mapping[str, object] = field(default_factory=dict)
    events: tuple[PastEvent, ...] = ()
    turned: np.ndarray | None = None  # angles of joints in space with whole turns, counted at every step
    efforts: Efforts | None = None
    servos: Mapping[str, Any] = field(default_factory=dict)  # by joint; they are not saved

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, name: str) -> np.ndarray:
        owner, _, quantity = str(name).rpartition(".")
        if quantity == "lam" and owner in self.system.multipliers:
            return self.system.multipliers.of(self.lam, owner).copy()  # a copy, so that changes do not affect the run
        if name in self.system.layout:
            return self.system.layout.of(self.e, name).copy()
        if quantity in DERIVED and owner in self.system.bodies:
            shape = self.system.bodies[owner].shape
            field = derived_field(shape, quantity, self._or_zero(owner, "eta"), self._or_zero(owner, "eta_dot"))
            return field.reshape(len(self), -1, 3)[:, :, : self._dimension(owner)]
        if name in self.coordinates:
            return self.coordinates[name].copy()
        if (found := joint_quantity(self, owner, quantity)) is not None:
            return found
        is_point = owner in self.system.ports and owner not in (*self.system.joints, *self.system.actuators)
        if quantity in MOTIONS and (is_point or owner in self.system.bodies or pieces_of(self.system.bodies, owner)):
            motion: np.ndarray = getattr(self, quantity)(owner)
            return motion
        method = getattr(type(self), quantity, None) if owner in self.system.bodies else None
        hint = f"{name!r} is of a place: result.{quantity}({owner!r}, s=…) or at=…" if callable(method) else ""
        raise PortError(hint or unknown("quantity", name, self.names + [f"{owner}.{m}" for m in MOTIONS if is_point]))

    @property
    def names(self) -> list[str]:
        """The names of all quantities, except those of single points."""
        names = [*self.system.layout, *(f"{j}.lam" for j in self.system.multipliers), *self._coordinate_names()]
        names += [f"{joint}.{quantity}" for joint in self.servos for quantity in ("command", "error")]
        return names + joint_quantity_names(self.system) + [f"{b}.{m}" for b in self.system.bodies for m in MOTIONS]

    # --- states ------------------------------------------------------------------------------------------------------

    def state(self, k: int = -1) -> State:
        """The state at the k-th output time (by default the last)."""
        return State(self.system.bodies, self.system.layout, self.e[k].copy())

    def at(self, t: float) -> State:
        """The state at any time of the run, by cubic interpolation."""
        time = float(finite("time", t, ()))
        if not self.t[0] <= time <= self.t[-1]:
            raise InputError(f"t = {time:g} s is outside the run, which goes from {self.t[0]:g} to {self.t[-1]:g} s")
        k = int(np.clip(np.searchsorted(self.t, time) - 1, 0, max(len(self) - 2, 0)))
        if time in (self.t[k], self.t[-1]):
            return self.state(k if time == self.t[k] else -1)
        h = self.t[k + 1] - self.t[k]
        return interpolate_states(self.state(k), self.state(k + 1), h, (time - self.t[k]) / h)

    def window(self, start: float, end: float = np.inf) -> Result:
        """The part of the run from `start` to `end` (s): its output times within, and its events.

        Its energy ledger counts from the first of these times.
        """
        return window(self, float(number("start", start)), float(end))

    # --- fields ------------------------------------------------------------------------------------------------------

    def position(self, body: str, s: float | None = None, *, at: object = None) -> np.ndarray:
        """The position (m) of a point, in inertial axes, (times, 2 or 3): of the cross-section s of a beam, of a material point
        `at` (undeformed, body axes), of a port, position("rod.C"), or of the point P of a body."""
        return self._motion(body, s, at)[0]

    def velocity(self, body: str, s: float | None = None, *, at: object = None) -> np.ndarray:
        """The velocity (m/s) of a point as for `position`, in inertial axes, (times, 2 or 3)."""
        return self._motion(body, s, at)[1]

    def acceleration(self, body: str, s: float | None = None, *, at: object = None) -> np.ndarray:
        """The acceleration (m/s²) of a point as for `position`, in inertial axes, (times, 2 or 3).

        It is a central difference of the velocities at the output times, of second order in their distance; a jump of it, as from a
        force that jumps, is spread over two of them.
        """
        if len(self) < 2:
            raise InputError("an acceleration is a difference of velocities; this run has only one output time")
        return time_derivative(self.t, self._motion(body, s, at)[1])

    def displacement(self, body: str, s: float | None = None, *, at: object = None) -> np.ndarray:
        """The deformation of a body at the cross-section s, or at its material point `at`, in body axes, (times, 2 or 3)."""
        shape = self._body(body).shape
        place = _position_along(s) if at is None else point(at)
        u = displacements(shape, place, self._or_zero(body, "eta"), material=at is not None)
        return u[:, : self._dimension(body)]

    def stress(
        self, body: str, s: float | None = None, *, y: float | None = None, z: float | None = None, at: object = None
    ) -> dict[str, np.ndarray]:
        """The stress resultants at the cross-section s of a beam, by name (N, M_z …; also the paper's n_x, m_x), each (times,).

        With y or z, the distances from its axis, or at a material point `at` of any body: the stress components xx, yy, zz, yz,
        xz, xy in body axes. Of a beam: bending, tension, and shear, which is NaN if the shape of the section is not known.
        """
        name, place = self._locate(body, s) if at is None else (body, np.zeros(0))
        part, sigma = self._body(name), self._or_zero(name, "sigma")
        if at is None and y is None and z is None:
            rows = part.shape.stress(place)
            return Resultants({key: (sigma @ row.T.toarray())[:, 0] for key, row in rows.items()})
        x = on_section(part, place, y, z) if at is None else inside(part, point(at))
        return dict(zip(STRESSES, stress_at(part, sigma, x)[:, 0].T, strict=True))

    def stress_field(self, body: str, t: float, points: object = None) -> StressField:
        """The stress of a body at a time, at all its points or at material points (points, 3); see also `von_mises`."""
        return self.at(t).stress_field(body, points)

    def resultants(self, body: str, at: object) -> dict[str, np.ndarray]:
        """The stress states of a body at a material point, by name, each (times,): N_xx … M_xy of a plate, per length."""
        rows = self._body(body).shape.stress(point(at))
        return Resultants({key: (self._or_zero(body, "sigma") @ row.T.toarray())[:, 0] for key, row in rows.items()})

    def von_mises(self, body: str) -> tuple[np.ndarray, np.ndarray]:
        """The largest von Mises stress at each time, (times,), and its location (in the axes of a piece, if split), (times, 3)."""
        if body not in self.system.bodies and (pieces := pieces_of(self.system.bodies, body)):
            each = [self.von_mises(piece) for piece in pieces]
            best, times = np.argmax([value for value, _ in each], axis=0), np.arange(len(self))
            values, places = (np.array(part) for part in zip(*each, strict=True))
            return values[best, times], places[best, times]
        part = self._body(body)
        x = stress_points(part)
        rows = part.shape.cauchy(x).toarray()
        value, points = np.zeros(len(self)), np.zeros((len(self), 3))
        for k, sigma in enumerate(self._or_zero(body, "sigma")):
            field = StressField(x, (rows @ sigma).reshape(-1, 6))
            value[k], points[k] = field.largest
        return value, points

    # --- energy and momentum -----------------------------------------------------------------------------------------

    @cached_property
    def energy(self) -> np.ndarray:
        """The total energy H, springs included, (times,)."""
        if self.accounts is not None:
            return self.accounts.bodies.sum(axis=2).sum(axis=1) + self.accounts.springs.sum(
                axis=1
            )  # in the order of the ledger
        return np.array([energy(self.system, self.state(k)) for k in range(len(self))])

    @property
    def momentum(self) -> np.ndarray:
        """Linear momentum of the system, inertial, (times, 3)."""
        return self._momenta[0]

    @property
    def angular_momentum(self) -> np.ndarray:
        """Angular momentum of the system about the origin, inertial, (times, 3)."""
        return self._momenta[1]

    @cached_property
    def _momenta(self) -> np.ndarray:
        return sum((np.stack(self._momenta_of(name)) for name in self.system.bodies), np.zeros((2, len(self), 3)))

    @cached_property
    def coordinates(self) -> dict[str, np.ndarray]:
        """Angles and slides of joints, "joint.angle" …, with the whole turns counted during the run."""
        names = self._coordinate_names()
        if not names:
            return {}
        rows = [joint_coordinates(self.system, self.state(k)) for k in range(len(self))]
        out = {name: np.array([row[name] for row in rows]) for name in names}
        for k, name in enumerate(self.turning):
            if self.turned is None:
                out[name] = np.unwrap(out[name])
            else:
                out[name] += 2 * np.pi * np.round((self.turned[:, k] - out[name]) / (2 * np.pi))
        return out

    @property
    def turning(self) -> tuple[str, ...]:
        """The angles of joints in space, whose whole turns do not follow from a state."""
        return tuple(spatial_angles(self.system))

    # --- inside ------------------------------------------------------------------------------------------------------

    def _momenta_of(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Linear and angular momentum (9) of a body, inertial, about the origin, (times, 3) each."""
        r, A = self._frame(name)
        v, omega = self._padded(name, "v_P", 0), self._padded(name, "omega", 3)
        inertia, eta, rates = (
            self.system.bodies[name].inertia,
            self._or_zero(name, "eta"),
            self._or_zero(name, "eta_dot"),
        )
        p_t, p_r = inertia.momenta(eta, v, omega, rates)
        P = np.einsum("tij,tj->ti", A, p_t)
        return P, np.cross(r, P) + np.einsum("tij,tj->ti", A, p_r)

    def _frame(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """r_P (times, 3) and A (times, 3, 3) of a body."""
        r = self._padded(name, "r_P", 0)
        if f"{name}.A_IB" in self.system.layout:
            return r, self[f"{name}.A_IB"]
        A = np.tile(np.eye(3), (len(self), 1, 1))
        if f"{name}.theta" in self.system.layout:
            c, s = np.cos(self[f"{name}.theta"]), np.sin(self[f"{name}.theta"])
            A[:, 0, 0], A[:, 0, 1], A[:, 1, 0], A[:, 1, 1] = c, -s, s, c
        return r, A

    def _padded(self, name: str, quantity: str, offset: int) -> np.ndarray:
        """A quantity with the components of other axes zero, (times, 3)."""
        out = np.zeros((len(self), 3))
        columns = [i - offset for i in self.system.bodies[name].active if offset <= i < offset + 3]
        if columns:
            out[:, columns] = self[f"{name}.{quantity}"].reshape(len(self), -1)
        return out

    def _or_zero(self, body: str, quantity: str) -> np.ndarray:
        name = f"{body}.{quantity}"
        return self.e[:, self.system.layout[name]] if name in self.system.layout else np.zeros((len(self), 0))

    def _motion(self, body: str, s: float | None, at: object) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity of a point in inertial axes, (times, 2 or 3) each."""
        found = body_point(self.system.bodies, body, s, at)
        name, dimension = found.body, self._dimension(found.body)
        y, y_dot = found.motion(self._or_zero(name, "eta"), self._or_zero(name, "eta_dot"))
        r, A = self._frame(name)
        rate = self._padded(name, "v_P", 0) + np.cross(self._padded(name, "omega", 3), y) + y_dot
        x, v = r + np.einsum("tij,tj->ti", A, y), np.einsum("tij,tj->ti", A, rate)
        return x[:, :dimension], v[:, :dimension]

    def _locate(self, name: str, s: float | None) -> tuple[str, np.ndarray]:
        part, place = locate_place(self.system.bodies, name, 0.0 if s is None else s)
        return part, _position_along(place)

    def _body(self, name: str) -> Body:
        if name not in self.system.bodies:
            raise PortError(unknown("body", name, self.system.bodies))
        return self.system.bodies[name]

    def _dimension(self, body: str) -> int:
        return sum(i < 3 for i in self.system.bodies[body].active)

    def _coordinate_names(self) -> list[str]:
        return [f"{c.name}.{row.label}" for c in self.system.joints.values() for row in c.coordinates]

    def __repr__(self) -> str:
        return f"Result({len(self)} times from {self.t[0]:g} to {self.t[-1]:g} s of {', '.join(self.system.bodies)})"

    def _repr_html_(self) -> str:
        table = run_table(repr(self), self.info, self.energy, self._relative_residual(), self.names)
        if self.accounts is None or not len(self):
            return table
        b = self.accounts
        works, losses = (part[-1] - part[0] for part in (b.works.sum(axis=2), b.losses))
        contributions = [
            *zip(b.names, works, strict=True),
            *((f"{n}, damping", -x) for n, x in zip(self.system.bodies, losses, strict=True)),
        ]
        return table + energy_tables(list(self.system.bodies), b.bodies[-1], contributions)

    def _relative_residual(self) -> float | None:
        """The largest energy residual relative to the largest energy or work; `energy_ledger` has it as a line."""
        if self.accounts is None:
            return None
        b = self.accounts
        residual = b.bodies.sum(axis=(1, 2)) + b.losses.sum(axis=1) - b.works.sum(axis=(1, 2))
        largest = max(float(np.abs(part).max(initial=0.0)) for part in (b.bodies, b.losses, b.works))
        return float(np.abs(residual - residual[0]).max()) / largest if largest else 0.0


def event_states(system: System, events: Sequence[PastEvent]) -> np.ndarray:
    """e before and after each event, (events, 2 × size of a state)."""
    states = [np.concatenate([event.before.e, event.after.e]) for event in events]
    return np.array(states).reshape(-1, 2 * system.layout.size)


def past_events(system: System, events: Iterable[tuple[float, str]], rows: np.ndarray) -> tuple[PastEvent, ...]:
    """Events with the states of `event_states`; events without states are left out."""
    pairs = ([State(system.bodies, system.layout, e.copy()) for e in np.split(row, 2)] for row in rows)
    return tuple(PastEvent(*event, *pair) for event, pair in zip(events, pairs, strict=False))


def spatial_angles(system: System) -> dict[str, tuple[Connection, Row]]:
    """The joints and rows of angles in space, by name; their whole turns must be counted."""
    if system.plane:
        return {}
    return {f"{c.name}.{row.label}": (c, row) for c in system.joints.values() for row in c.coordinates if row.is_angle}


def _position_along(s: float | None) -> np.ndarray:
    if s is None:
        raise InputError("the place s is missing: s=… along a beam, or at=(x, y, z) in body axes")
    return np.array([finite("place position s", s, ())])
