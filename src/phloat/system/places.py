"""Places of bodies: pieces of split beams, ports, cross-sections and material points, and how these points move."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from phloat.bodies.beams.fields import fraction
from phloat.bodies.body import Body
from phloat.bodies.shape import displacement_rates, displacements
from phloat.errors import PortError, finite, unknown
from phloat.system.stresses import point

MOTIONS = ("position", "velocity", "acceleration")  # of points, as quantities of a result


def pieces_of(bodies: Mapping[str, Body], name: str) -> tuple[str, ...]:
    """The names of the pieces of a split beam, in order; empty if `name` is not a split beam."""
    first = bodies.get(f"{name}.1")
    names = tuple(f"{name}.{k + 1}" for k in range(first.pieces)) if first else ()
    return names if all(piece in bodies for piece in names) else ()


def locate_place(bodies: Mapping[str, Body], name: str, s: float) -> tuple[str, float]:
    """The piece of a split beam at the fraction s of its length, and the fraction of that piece; (name, s) for other bodies."""
    pieces = () if name in bodies else pieces_of(bodies, name)
    if not pieces:
        return name, s
    scaled = fraction("place", s) * len(pieces)
    k = min(int(scaled), len(pieces) - 1)
    return pieces[k], scaled - k


def port_aliases(bodies: Mapping[str, Body]) -> dict[str, str]:
    """Other names of the ports of split beams: "beam.P" is "beam.1.P", "beam.C" is the end of the last piece."""
    out: dict[str, str] = {}
    for beam in dict.fromkeys(name.rpartition(".")[0] for name, body in bodies.items() if body.pieces):
        pieces = pieces_of(bodies, beam)
        for piece in pieces:
            inner = {"P"} if piece != pieces[0] else set()
            inner |= {"C"} if piece != pieces[-1] else set()
            out |= {f"{beam}.{port}": f"{piece}.{port}" for port in bodies[piece].ports if port not in inner}
    return out


@dataclass(frozen=True, eq=False)
class BodyPoint:
    """A point of a body: `motion(η, η̇)` is its place in body axes and its rate, each (times, 3)."""

    body: str
    motion: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def body_point(bodies: Mapping[str, Body], name: str, s: float | None = None, at: object = None) -> BodyPoint:
    """The cross-section s, the material point `at`, or without both the point P of a body; or a port, "body.port"."""
    if at is None and s is None and name not in bodies:
        owner, _, port = port_aliases(bodies).get(name, str(name)).rpartition(".")
        if owner in bodies and port in bodies[owner].ports:
            return BodyPoint(owner, bodies[owner].ports[port].motion)
    if at is None and (s is not None or pieces_of(bodies, name)):
        name, s = locate_place(bodies, name, 0.0 if s is None else s)
    if name not in bodies:
        ports = [f"{body}.{port}" for body in bodies for port in bodies[body].ports]
        raise PortError(unknown("body or port", name, [*bodies, *ports]))
    if at is None and s is None:
        return BodyPoint(name, lambda eta, rates: (np.zeros((len(eta), 3)), np.zeros((len(eta), 3))))
    shape, material = bodies[name].shape, at is not None
    place = np.array([finite("place position s", s, ())]) if at is None else point(at)
    x = place[0] if material else shape.points(place)[0]

    def motion(eta: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        moved = displacements(shape, place, eta, material=material)
        return x + moved, displacement_rates(shape, place, eta, rates, material=material)

    return BodyPoint(name, motion)


def time_derivative(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The derivative of values (times, …) by central differences, linear between their midpoints and beyond.

    Second order in the distance of the times, and not affected by parts that change their sign from time to time.
    """
    if len(t) < 3:
        slope = np.diff(values, axis=0) / np.diff(t).reshape(-1, *[1] * (values.ndim - 1))
        return np.repeat(slope, len(t), axis=0) if len(t) == 2 else np.zeros_like(values)
    shape = (-1, *[1] * (values.ndim - 1))
    slopes, middles = (values[2:] - values[:-2]) / (t[2:] - t[:-2]).reshape(shape), 0.5 * (t[2:] + t[:-2])
    if len(t) == 3:
        return np.repeat(slopes, 3, axis=0)
    k = np.clip(np.searchsorted(middles, t) - 1, 0, len(middles) - 2)
    part = ((t - middles[k]) / (middles[k + 1] - middles[k])).reshape(shape)
    return np.asarray((1.0 - part) * slopes[k] + part * slopes[k + 1])
