"""Force elements as they are written, resolved to rows, laws and weighted ports of the bodies of a system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from phloat.algebra.sparse import csr
from phloat.bodies.body import Body, Port
from phloat.errors import InputError, JointError, PortError, unknown
from phloat.fem.interval import GAUSS_POINTS, gauss
from phloat.joints.elements import OnJoint
from phloat.joints.force_laws import Passive
from phloat.joints.loads import Acting, Force, Load, Torque
from phloat.joints.pieces import breaks
from phloat.joints.rows import Row, in_the_plane
from phloat.system.connection import Actuator, Connection, Element
from phloat.system.resolve import ends_of, of_points, port_of, shown, turned_in_plane

# quadrature points in an element for a load that turns with the sections: exact for cubic deflections, constant density
FOLLOWING = 3


def attached(
    recipe: Passive, bodies: Mapping[str, Body], joints: Mapping[str, Connection], plane: str | None
) -> Element:
    """A spring, damper or bushing between ports of these bodies, or on a free axis of one of these joints."""
    if isinstance(recipe, OnJoint):
        c, row = _axis(recipe, joints)
        return Element(recipe.label, recipe, c.first, c.second, (row,), (recipe.law(),))
    first, second = ends_of(recipe, bodies)
    kept = recipe.row_laws()
    if plane:
        turned_in_plane(recipe.label, getattr(recipe, "turned", (0.0, 0.0, 0.0)))
        kept = {row: law for row, law in kept.items() if in_the_plane(row, first.triad, second.triad) is not None}
    without = [end.body for end in (first, second) if end.body and not bodies[end.body].rotates]
    if without and not all(of_points(row, first, bodies) for row in kept):
        raise JointError(
            f"{type(recipe).__name__} {recipe.label!r} needs an orientation, and {without[0]!r} is a point mass; "
            "write its port second, with no stiffness and damping about axes, or take a RigidBody"
        )
    return Element(recipe.label, recipe, first, second, tuple(kept), tuple(kept.values()))


def _axis(recipe: OnJoint, joints: Mapping[str, Connection]) -> tuple[Connection, Row]:
    """The joint and the row of its free axis that a spring or damper acts on."""
    said = type(recipe).__name__
    if recipe.joint not in joints:
        raise PortError(f"{said}: {unknown('joint', recipe.joint, joints)}")
    c = joints[recipe.joint]
    axes = {row.label: row for row in c.coordinates}
    if not axes:
        raise JointError(f"{said} {recipe.label!r}: joint {recipe.joint!r} has no angle and no slide to act on")
    if recipe.axis and recipe.axis not in axes:
        raise PortError(f"{said} {recipe.label!r}: {unknown(f'axis of {recipe.joint!r}', recipe.axis, axes)}")
    if not recipe.axis and len(axes) > 1:
        names = ", ".join(map(repr, axes))
        raise JointError(f"{said} {recipe.label!r}: joint {recipe.joint!r} has the axes {names}; say which: axis=…")
    return c, axes[recipe.axis or next(iter(axes))]


# --- what pushes -----------------------------------------------------------------------------------------------------


def acting(recipe: Acting, bodies: Mapping[str, Body], plane: str | None) -> Actuator:
    """A force, torque or distributed load on one of these bodies."""
    if isinstance(recipe, Load):
        if recipe.body not in bodies:
            raise PortError(f"Load: {unknown('body', recipe.body, bodies)}")
        body, ports = recipe.body, _spread(recipe, bodies[recipe.body])
    else:
        body, port = port_of(recipe, recipe.port, bodies)
        ports = ((1.0, bodies[body].port(port)),)
    kind, direction = "torque" if isinstance(recipe, Torque) else "force", recipe.direction()
    if isinstance(recipe, Torque) and not bodies[body].rotates:
        raise JointError(
            f"Torque {recipe.label!r} turns {body!r}, and a point mass has no orientation; use a RigidBody"
        )
    if plane:
        _pushes_in_plane(recipe, direction)
    return Actuator(recipe.label, recipe, body, kind, recipe.axes, direction, ports)


def nested_actuator(prefix: str, a: Actuator) -> Actuator:
    """The actuator in a system of which its own is a part."""
    return replace(a, name=f"{prefix}.{a.name}", body=f"{prefix}.{a.body}")


def _pushes_in_plane(recipe: Force | Torque | Load, direction: np.ndarray) -> None:
    if isinstance(recipe, Torque) and np.abs(direction[:2]).max() > 1e-12:
        raise JointError(f"{recipe.label} turns about {shown(direction)}; in the plane xy it must be z")
    if not isinstance(recipe, Torque) and abs(direction[2]) > 1e-12:
        raise JointError(f"{recipe.label} pushes along {shown(direction)}, which leaves the plane xy")


def _spread(load: Load, body: Body) -> tuple[tuple[float, Port], ...]:
    """∫ f δx ds as a sum of w δx_w: w = ∫f, x_w = ∫f x / w, Φ_w = ∫f Φ / w, for the parts of f that push and that pull.

    A load in axes of the sections is the sum over quadrature points: each has its own direction.
    """
    shape, places, follows = body.shape, body.shape.places(), load.axes == "body"
    if body.coordinates == 0 or places.ndim != 1 or len(places) < 3 or places[0] != 0.0 or places[-1] != 1.0:
        raise JointError(f"Load {load.label!r}: {load.body!r} is no beam; a load is spread over s from 0 to 1")
    lengths = np.linalg.norm(np.diff(shape.points(places), axis=0), axis=1) / np.diff(places)
    smooth = breaks(f"per_length of {load.label}", load.density, places) if callable(load.per_length) else places
    s, w = gauss(smooth, FOLLOWING if follows else GAUSS_POINTS)
    within = np.searchsorted(places, s) - 1
    force = w * lengths[within] * np.array([load.density(float(x)) for x in s])
    points, Phi = shape.points(s), shape.displacement(s)
    out = []
    if follows:  # each point has a direction of its own
        Psi = shape.rotation(s)
        for k in np.flatnonzero(force):
            moved, turned = (np.asarray(field[3 * k : 3 * k + 3].todense()) for field in (csr(Phi), csr(Psi)))
            out.append((float(force[k]), Port(points[k], moved, turned)))
    for part in () if follows else (np.maximum(force, 0.0), np.minimum(force, 0.0)):
        if (total := float(part.sum())) != 0.0:
            mean = part / total
            moved = np.array([Phi[i::3].T @ mean for i in range(3)])
            out.append((total, Port(mean @ points, moved, np.zeros_like(moved))))
    if not out:
        raise InputError(f"per_length of {load.label} is zero all along {load.body!r}; nothing would ever push")
    return tuple(out)
