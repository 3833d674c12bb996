"""A system in tables for notebooks: bodies, joints, forces, what is open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from phloat.algebra.tables import grid, listed
from phloat.bodies.body import Body
from phloat.system.connection import Actuator, Connection, Element, End


def bodies_table(bodies: Mapping[str, Body]) -> str:
    """Name, what it is made of, mass, coordinates, ports."""
    rows = (
        (name, type(b.recipe).__name__, f"{b.inertia.m:.5g}", b.coordinates, listed(b.ports))
        for name, b in bodies.items()
    )
    return grid("bodies", ("name", "made of", "mass (kg)", "coordinates", "ports"), rows)


def joints_table(joints: Mapping[str, Connection]) -> str:
    """Name, type, the two ports, rows closed, and what is left as a port."""
    rows = ((name, type(c.joint).__name__, ends_text(c), len(c.rows), _open(c)) for name, c in joints.items())
    return grid("joints", ("name", "type", "between", "rows closed", "open port"), rows)


def forces_table(elements: Mapping[str, Element], actuators: Mapping[str, Actuator]) -> str:
    """Springs, dampers and bushings; forces, torques and loads that are inputs."""
    passive = [(name, type(e.recipe).__name__, ends_text(e), "") for name, e in elements.items()]
    acting = [(name, type(a.recipe).__name__, a.body, f"{name}: effort") for name, a in actuators.items()]
    return grid("forces", ("name", "type", "at", "open port"), passive + acting)


def ends_text(c: Connection | Element) -> str:
    """The two ports of a joint or element."""
    return f"{_end(c.first)} — {_end(c.second)}"


def free_velocities(bodies: Mapping[str, Body], joints: Iterable[Connection]) -> str:
    """How many velocities the joints leave, if they do not repeat each other."""
    moving = sum(len(b.active) + b.coordinates for b in bodies.values())
    closed = sum(len(c.rows) for c in joints)
    return f"{moving} velocities − {closed} rows closed = {moving - closed} (more where joints repeat each other)"


def _end(end: End) -> str:
    return f"{end.body}.{end.port}" if end.body else "ground"


def _open(c: Connection) -> str:
    into = [f"{row.label}: effort" for row in c.free]
    return ", ".join(into + ([f"{len(c.driven)} rates"] if c.driven else []))
