"""The state of a system: positions and velocities of its bodies by name.

The pieces of a split beam, "beam.1", "beam.2" …, are also addressed as one "beam".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple, TypeVar

import numpy as np

from phloat.algebra.cross import orthonormality_defect, rot
from phloat.algebra.layout import Layout, Shape, joined_layouts
from phloat.algebra.tables import grid
from phloat.bodies.body import Body
from phloat.bodies.shape import Shape as Form, displacement_rates, displacements
from phloat.errors import InputError, PortError, finite, unknown
from phloat.system.places import body_point, locate_place, pieces_of
from phloat.system.stresses import (
    COMPONENTS,
    Resultants,
    StressField,
    inside,
    on_section,
    point,
    stress_at,
    stress_field,
)

# --- the state --------------------------------------------------------------------------------------------------------

DERIVED = ("u_f", "v_f")


def derived_field(shape: Form, quantity: str, eta: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """u_f or v_f at the places of a shape, (…, 3 places)."""
    places = shape.places()
    return displacements(shape, places, eta) if quantity == "u_f" else displacement_rates(shape, places, eta, rates)


T = TypeVar("T")


class Pose(NamedTuple):
    """Position and velocity of a body in three dimensions; r_P and A in inertial axes, v_P and ω in body axes.

    Components that a plane motion does not have are zero.
    """

    r_P: np.ndarray
    A: np.ndarray
    eta: np.ndarray
    v_P: np.ndarray
    omega: np.ndarray
    rates: np.ndarray
    sigma: np.ndarray


def body_layout(body: Body) -> Layout:
    """The paper's state e of one body: (r_P, attitude, η, v_P, ω, η̇, σ), with attitude A_IB in space, theta in a plane."""
    linear, turning = sum(i < 3 for i in body.active), sum(i >= 3 for i in body.active)
    attitude: dict[int, dict[str, Shape]] = {3: {"A_IB": (3, 3)}, 1: {"theta": ()}, 0: {}}
    shapes: dict[str, Shape] = {"r_P": (linear,), **attitude[turning], "eta": (body.coordinates,), "v_P": (linear,)}
    shapes |= {"omega": () if turning == 1 else (turning,), "eta_dot": (body.coordinates,), "sigma": (body.stresses,)}
    return Layout({name: shape for name, shape in shapes.items() if prod(shape)}, "quantity")


def state_layout(bodies: Mapping[str, Body]) -> Layout:
    return joined_layouts((body_layout(body).prefixed(name) for name, body in bodies.items()), "quantity")


@dataclass(frozen=True, eq=False)
class State:
    """The vector e of (12) by name: `state["rod.theta"]`, `state["rod.eta"]` …; without multipliers.

    A state fits every system of the same bodies. `rod.u_f` and `rod.v_f` are the deformation and its rate at the places
    by which the body is drawn.
    """

    bodies: Mapping[str, Body]
    layout: Layout
    e: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        body, _, quantity = str(name).rpartition(".")
        if quantity in DERIVED and body in self.bodies:
            shape = self.bodies[body].shape
            field = derived_field(shape, quantity, self._or_zero(body, "eta"), self._or_zero(body, "eta_dot"))
            return field.reshape(-1, 3)[:, : sum(i < 3 for i in self.bodies[body].active)]
        if quantity in ("position", "velocity") and name not in self.layout:
            return self.position(body) if quantity == "position" else self.velocity(body)
        return self.layout.of(self.e, name).copy()

    def with_values(self, values: Mapping[str, object]) -> State:
        """A copy with some quantities changed. Where η is given without σ, the stress follows: σ = C⁻¹ε(η)."""
        e = self.e.copy()
        for name, value in values.items():
            e[self.layout[name]] = check_quantity(self.layout, name, value)
        for name, body in self.bodies.items():
            if f"{name}.eta" in values and f"{name}.sigma" not in values and body.stresses:
                e[self.layout[f"{name}.sigma"]] = body.elastic.stress(e[self.layout[f"{name}.eta"]])
        return replace(self, e=e)

    def pose(self, body: str) -> Pose:
        """Position and velocity of a body in three dimensions."""
        active = self._body(body).active
        r, v, omega, A = np.zeros(3), np.zeros(3), np.zeros(3), np.eye(3)
        linear, turning = [i for i in active if i < 3], [i - 3 for i in active if i >= 3]
        r[linear], v[linear] = self._or_zero(body, "r_P"), self._or_zero(body, "v_P")
        if turning:
            omega[turning] = self._or_zero(body, "omega")
            attitude = self._or_zero(body, "A_IB" if len(turning) == 3 else "theta")
            A = attitude.reshape(3, 3).copy() if len(turning) == 3 else rot(float(attitude[0]))
        rest = [self._or_zero(body, name) for name in ("eta", "eta_dot", "sigma")]
        return Pose(r, A, rest[0], v, omega, rest[1], rest[2])

    def position(self, body: str, s: float | None = None, *, at: object = None) -> np.ndarray:
        """The position (m) of a point, in inertial axes: of the cross-section s of a beam, of a material point `at` (undeformed,
        body axes), of a port, position("rod.C"), or of the point P of a body."""
        return self._motion(body, s, at)[0]

    def velocity(self, body: str, s: float | None = None, *, at: object = None) -> np.ndarray:
        """The velocity (m/s) of a point as for `position`, in inertial axes."""
        return self._motion(body, s, at)[1]

    def _motion(self, body: str, s: float | None, at: object) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity of a point in inertial axes."""
        found = body_point(self.bodies, body, s, at)
        pose = self.pose(found.body)
        (y,), (y_dot,) = found.motion(pose.eta[None], pose.rates[None])
        linear = [i for i in self.bodies[found.body].active if i < 3]
        rate = pose.A @ (pose.v_P + np.cross(pose.omega, y) + y_dot)
        return (pose.r_P + pose.A @ y)[linear], rate[linear]

    def displacement(self, body: str, s: float | None = None, *, at: object = None) -> np.ndarray:
        """Displacement by deformation, in body axes (m), at the fraction s of the length or at a material point `at`."""
        place = _fraction_array(s) if at is None else point(at)
        u = displacements(self._body(body).shape, place, self._or_zero(body, "eta"), material=at is not None)
        return u[: sum(i < 3 for i in self.bodies[body].active)]

    def stress(
        self, body: str, s: float = 0.0, *, y: float | None = None, z: float | None = None, at: object = None
    ) -> dict[str, float]:
        """The stress resultants of a body at the fraction s of its length, by name (N, M_z … of a beam; also the paper's n_x, m_x).

        With y or z (distances from the axis of a beam), or with a material point `at` of any body: the stress (Pa) by component,
        as in `Result.stress`.
        """
        body, s = locate_place(self.bodies, body, s)
        part, sigma = self._body(body), self._or_zero(body, "sigma")
        if at is None and y is None and z is None:
            rows = part.shape.stress(_fraction_array(s))
            return Resultants({name: float((row @ sigma)[0]) for name, row in rows.items()})
        x = inside(part, point(at)) if at is not None else on_section(part, _fraction_array(s), y, z)
        return dict(zip(COMPONENTS, map(float, stress_at(part, sigma[None], x)[0, 0]), strict=True))

    def von_mises(self, body: str) -> tuple[float, np.ndarray]:
        """The largest von Mises stress (Pa) of a body or split beam, and its material point in axes of the body or piece."""
        pieces = (body,) if body in self.bodies else pieces_of(self.bodies, body) or (body,)
        return max((self.stress_field(piece).largest for piece in pieces), key=lambda largest: largest[0])

    def stress_field(self, body: str, points: object = None) -> StressField:
        """The stress at all stress points of a body, or at these material points (points, 3)."""
        return stress_field(self._body(body), self._or_zero(body, "sigma"), points)

    def _body(self, name: str) -> Body:
        if name not in self.bodies and (pieces := pieces_of(self.bodies, str(name))):
            raise InputError(
                f"{name!r} is split into {pieces[0]} … {pieces[-1]}, each with a frame and a deformation of its own; ask for "
                f"one of them, or for position({name!r}, s)"
            )
        if name not in self.bodies:
            raise PortError(unknown("body", name, self.bodies))
        return self.bodies[name]

    def _or_zero(self, body: str, quantity: str) -> np.ndarray:
        name = f"{body}.{quantity}"
        block = self.layout.slices.get(self.layout.also.get(name, name))
        return np.zeros(0) if block is None else self.e[block]

    def __repr__(self) -> str:
        return f"State({', '.join(self.bodies)}; {len(self.e)} numbers)"

    def _repr_html_(self) -> str:
        rows = ((name, _values_text(self.layout.of(self.e, name))) for name in self.layout)
        return grid(repr(self), ("quantity", "value"), rows)


@dataclass(frozen=True, eq=False)
class ConstantState(State):
    """A state whose numbers do not change, so that values computed from it are cached with it."""

    @cached_property
    def known(self) -> dict[Hashable, Any]:
        """The values cached by `computed_once`."""
        return {}

    def pose(self, body: str) -> Pose:
        return computed_once(self, body, lambda: State.pose(self, body))


def constant_state(state: State) -> ConstantState:
    """The state with values computed from it cached."""
    return state if isinstance(state, ConstantState) else ConstantState(state.bodies, state.layout, state.e)


def computed_once(state: State, key: Hashable, make: Callable[[], T]) -> T:
    """make(); for a `ConstantState`, make() is called once for each key and its value is cached."""
    if not isinstance(state, ConstantState):
        return make()
    if key not in state.known:
        state.known[key] = make()
    value: T = state.known[key]
    return value


def _values_text(values: np.ndarray) -> str:
    """Up to nine numbers as text; of more, their count and largest magnitude."""
    if values.size <= 9:
        return str((np.round(values, 9) + 0.0).tolist())
    return f"{values.size} numbers, at most {np.abs(values).max():.4g}"


def _fraction_array(s: float | None) -> np.ndarray:
    if s is None:
        raise InputError("the place s is missing: s=… along a beam, or at=(x, y, z) in body axes")
    return np.array([finite("place position s", s, ())])


def check_quantity(layout: Layout, name: str, value: object) -> np.ndarray:
    """The value of a quantity as a flat array. Raises InputError if it has another shape, is not finite, or is not a rotation."""
    array = finite(name, value, layout.shape(name))
    if name.endswith(".A_IB") and (defect := orthonormality_defect(array)) > 1e-9:
        raise InputError(f"{name} is not a rotation: AᵀA misses the identity by {defect:.1e}")
    return array.ravel()


def rest_state(bodies: Mapping[str, Body], layout: Layout | None = None) -> State:
    """All bodies at the origin, undeformed and at rest."""
    layout = state_layout(bodies) if layout is None else layout
    e = np.zeros(layout.size)
    for name, block in layout.slices.items():
        if name.endswith(".A_IB"):
            e[block] = np.eye(3).ravel()
    return State(bodies, layout, e)
