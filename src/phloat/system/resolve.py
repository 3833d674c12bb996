"""Joints as they are written, resolved to ports and rows of the bodies of a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from phloat.bodies.body import Body
from phloat.errors import JointError, PortError, unknown
from phloat.joints.ends import GROUND, Between
from phloat.joints.pairs import Joint, Weld
from phloat.joints.rows import FIRST, SECOND, Row, in_the_plane
from phloat.system.connection import Connection, Element, End
from phloat.system.pieces import other_names

Joined = TypeVar("Joined", Connection, Element)


def connected(joint: Joint, bodies: Mapping[str, Body], plane: str | None) -> Connection:
    """A joint between ports of these bodies, with the rows that make sense for them."""
    first, second = ends_of(joint, bodies)
    rows = {"closed": joint.closed, "free": joint.free, "driven": joint.driven}
    if plane:
        _fits_plane(joint)
        flat = {key: [in_the_plane(row, first.triad, second.triad) for row in some] for key, some in rows.items()}
        rows = {key: tuple(row for row in some if row is not None) for key, some in flat.items()}
    without = [end.body for end in (first, second) if end.body and not bodies[end.body].rotates]
    if without:
        rows = {
            key: tuple(r for r in some if key != "free" or of_points(r, first, bodies)) for key, some in rows.items()
        }
        if not all(of_points(row, first, bodies) for row in rows["closed"] + rows["driven"]):
            raise JointError(
                f"{type(joint).__name__} {joint.label!r} needs an orientation, and {without[0]!r} is a point mass; "
                "use Spherical or Slide, or a RigidBody"
            )
    return Connection(joint.label, joint, first, second, rows["closed"], rows["driven"], rows["free"])


def nested_connection(prefix: str, c: Joined) -> Joined:
    """The joint or force element in a system of which its own is a part."""
    ends = [replace(end, body=f"{prefix}.{end.body}") if end.body else end for end in (c.first, c.second)]
    return replace(c, name=f"{prefix}.{c.name}", first=ends[0], second=ends[1])


def welded(name: str, pieces: Mapping[str, Body], plane: str | None) -> dict[str, Connection]:
    """The welds between the pieces of a beam, each piece with its end C to the end P of the next."""
    out = {}
    for k, (one, next_one) in enumerate(pairwise(pieces), 1):
        weld = Weld(f"{one}.C", f"{next_one}.P", name=f"{name}.weld {k}")
        out[weld.name] = connected(weld, pieces, plane)
    return out


def of_points(row: Row, first: End, bodies: Mapping[str, Body]) -> bool:
    """Whether a row needs no orientation but that of a ground or turning first body."""
    turns = not first.body or bodies[first.body].rotates
    of_first, of_second = (any(low <= a < low + 3 for a in row.vectors) for low in (FIRST, SECOND))
    return row.is_length and not of_second and (turns or not of_first)


def _fits_plane(joint: Joint) -> None:
    if joint.not_planar:
        raise JointError(f"{type(joint).__name__} {joint.label!r} {joint.not_planar}")
    upright = abs(joint.direction()[2])
    if joint.planar_axis == "up" and upright < 1 - 1e-12:
        raise JointError(f"{joint.label} turns about {shown(joint.direction())}; in the plane xy it must be z")
    if joint.planar_axis == "flat" and upright > 1e-12:
        raise JointError(f"{joint.label} slides along {shown(joint.direction())}, which leaves the plane xy")
    turned_in_plane(joint.label, joint.turned)


def turned_in_plane(label: str, turned: Sequence[float]) -> None:
    """A sentence if a rotation vector would turn things out of the plane."""
    if np.any(np.asarray(turned)[:2]):
        raise JointError(f"{label} is turned by {shown(turned)}; in the plane xy only about z")


def shown(vector: Sequence[float] | np.ndarray) -> str:
    return "(" + ", ".join(f"{float(x):g}" for x in vector) + ")"


def ends_of(recipe: Between, bodies: Mapping[str, Body]) -> tuple[End, End]:
    """Where something between two ports takes hold; ground is what motion is seen from, so it comes first."""
    U_1, U_2 = recipe.triads()
    first, second = _end(recipe, recipe.first, U_1, bodies), _end(recipe, recipe.second, U_2, bodies)
    second = replace(second, turned=float(getattr(recipe, "turned", (0.0, 0.0, 0.0))[2]))
    if not second.body:
        first, second = second, first
    if first.body == second.body and first.port == second.port:
        raise JointError(f"{recipe.label} joins a port to itself")
    return first, second


def _end(recipe: Between, name: str, triad: np.ndarray, bodies: Mapping[str, Body]) -> End:
    if name == GROUND:
        return End("", "", triad, np.asarray(recipe.at, dtype=float))
    body, port = port_of(recipe, name, bodies, (GROUND,))
    return End(body, port, triad, np.zeros(3))


def port_of(recipe: object, name: str, bodies: Mapping[str, Body], also: Sequence[str] = ()) -> tuple[str, str]:
    """Body and port of "body.port", or the sentence for a port that is not there."""
    body, _, port = name.rpartition(".")
    if body not in bodies:
        others = other_names(bodies)
        if name in others:  # of a split beam
            return port_of(recipe, others[name], bodies)
        there = [f"{b}.{p}" for b, held in bodies.items() for p in held.ports]
        raise PortError(f"{type(recipe).__name__}: {unknown('port', name, [*also, *others, *there])}")
    if port not in bodies[body].ports:
        raise PortError(
            f"{type(recipe).__name__}: {unknown('port', name, [f'{body}.{p}' for p in bodies[body].ports])}"
        )
    return body, port
