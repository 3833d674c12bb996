"""Linear systems of bodies on meshes, rigid bodies and beams, tied along boundaries: transformer interconnection (42)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph as graph

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import Matrix, csr, zero_matrix
from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.mesh_body import interface
from phloat.bodies.continua.stress_continuum import StressContinuum
from phloat.errors import (
    InputError,
    JointError,
    PortError,
    RedundancyWarning,
    UnfeltMotionWarning,
    mapping,
    unknown,
)
from phloat.fem.overlap import measure
from phloat.joints.ends import GROUND
from phloat.joints.loads import BodyForce, Distributed, Force, Pressure, Torque, Traction
from phloat.joints.tie import Tie
from phloat.linear.form.fields import Fields
from phloat.linear.form.interconnect import append_systems
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.time.gauss import repeated
from phloat.system.connection import body_name, require_recipes, split_name
from phloat.system.port_checks import check_port
from phloat.system.tie_rows import Edge, Twist, require_orientation, rigid_tie_rows, system_columns, with_spring

SAME_SIZE = 1e-6
COMPONENTS = {"v_P": ("v_x", "v_y", "v_z"), "omega": ("ω_x", "ω_y", "ω_z")}
LINEAR = (Tie, BodyForce, Pressure, Traction, Force, Torque)
INSTEAD = "small motions take Tie(…), BodyForce(…), Pressure(…), Traction(…), Force(…) and Torque(…)"


def tie(bodies: Mapping[str, object], ties: Sequence[object] = ()) -> LinearPHDAE:
    """Small motions of bodies on meshes, and of beams and rigid bodies tied to them, as one linear system.

    Parameters
    ----------
    bodies : dict of str to Continuum, StressContinuum or Body
        Bodies by name, as returned by `discretise`. Names have no dot. Sides and ports of bodies with causality="velocity" take
        the motion of what they are tied to, without a multiplier.
    ties : list
        `Tie` between boundaries, ports and the ground; `BodyForce`, `Pressure`, `Traction`, `Force` and `Torque`.

    Returns
    -------
    LinearPHDAE
        Rows are named "plate.v", "rod.v_P" …, multipliers by ties, ports by bodies and by loads.

    Raises
    ------
    InputError
        Names or bodies do not fit; `PortError` for an unknown boundary or port, `JointError` for a tie of missing motions.

    Examples
    --------
    A strip of steel, its left edge tied to the ground; 3.516 h √(E/12ρ) / L² = 26.33 rad/s for a beam.

    >>> steel = ph.Material(E=210e9, rho=7800.0, nu=0.0)
    >>> strip = ph.Plate.rectangle(1.0, 0.1, thickness=0.005, material=steel).discretise((8, 1))
    >>> cantilever = ph.tie({"strip": strip}, [ph.Tie("ground", "strip.left")])
    >>> print(ph.modes(cantilever, 1).omega.round(1))
    [26.3]
    """
    bodies = _opened(mapping("bodies", bodies, "{name: body}"), ties)
    parts = {name: _linear_part(name, part) for name, part in bodies.items()}
    system = append_systems(*(_prefixed_part(name, part) for name, part in parts.items()))
    recipes = require_recipes("ties", ties, LINEAR, [*system.ports, *system.multipliers], lambda _: INSTEAD)
    origins = {}
    for joint in recipes:
        if isinstance(joint, Tie):
            system, origin = _with_tie(system, joint, bodies)
            if GROUND not in joint.stands_at:
                origins[joint.first.partition(".")[0], joint.second.partition(".")[0]] = origin
    system = _without_repetitions(_with_field_positions(system, origins))
    for load in recipes:
        if not isinstance(load, Tie):
            system = _with_load(system, load, bodies)
    springs = [f"{joint.label}.sigma" for joint in recipes if isinstance(joint, Tie) and joint.stiffness is not None]
    small_bodies = {name: part for name, part in bodies.items() if isinstance(part, Body)}
    return _without_unfelt_motions(system, springs, small_bodies)


def _linear_part(name: str, part: object) -> LinearPHDAE:
    body_name(name)
    if isinstance(part, LinearPHDAE):
        linear_only(part)
        return part
    if isinstance(part, Continuum) and part.frame is not None:
        raise InputError(
            f"{name!r} has a frame and many coordinates; reduce it before it is connected: reduced(modes=…), or leave frame= out "
            "for small motions"
        )
    if isinstance(part, Body) and part.needs:
        raise InputError(f"in space, body {name!r} needs {part.needs}")
    if isinstance(part, Body | Continuum | StressContinuum):
        return part.linear()
    raise InputError(
        f"{name!r} is {type(part).__name__}; tie takes what discretise(…) returned; for a split beam, "
        "that of the whole beam"
    )


def _prefixed_part(name: str, part: LinearPHDAE) -> LinearPHDAE:
    """The part with its name as prefix of all names; the field of a body has the name of the body."""
    named = part.prefixed(name)
    return replace(named, fields={key.removesuffix(".body"): value for key, value in named.fields.items()})


# --- rigid and elastic ties ------------------------------------------------------------------------------------------


def _with_tie(system: LinearPHDAE, tie: Tie, bodies: Mapping[str, object]) -> tuple[LinearPHDAE, np.ndarray]:
    """The system with one more tie, and the origin of its second body relative to the first."""
    first, second = _tie_end(tie.first, system, bodies), _tie_end(tie.second, system, bodies)
    if flows := [name for name in tie.stands_at if _takes_flow(name, bodies)]:
        return _with_flow_port(system, tie, flows, first, second, bodies), first.centre - second.centre
    for end, name in ((first, tie.first), (second, tie.second)):
        if isinstance(end, Twist):
            moving = [k for k in tie.motions if k < end.rows.shape[0] and end.rows[[k]].nnz]
            _check_mesh_port(tie.label, name, bodies, np.eye(6)[moving])
    if tie.soft:
        return with_spring(system, tie, first, second), first.centre - second.centre
    rows, origin = rigid_tie_rows(tie, first, second, system.rows.size)
    return replace(
        system,
        G=csr(sp.vstack([system.G, rows])),
        B_lam=csr(sp.vstack([system.B_lam, zero_matrix(rows.shape[0], system.ports.size)])),
        multipliers=joined_layouts([system.multipliers, Layout({tie.label: (rows.shape[0],)})], "multiplier"),
    ), origin


def _takes_flow(port: str, bodies: Mapping[str, object]) -> bool:
    """Whether a port is one of a body whose ports take velocities."""
    return isinstance(bodies.get(port.partition(".")[0]), StressContinuum)


def _with_flow_port(
    system: LinearPHDAE,
    tie: Tie,
    flows: list[str],
    first: Edge | Twist,
    second: Edge | Twist,
    bodies: Mapping[str, object],
) -> LinearPHDAE:
    """The system in which a port that takes a velocity follows the other end, u = T e: J + B T − (B T)ᵀ."""
    if len(flows) > 1:
        raise JointError(
            f"{tie.label}: both ends take a velocity, which neither of them returns; use causality='force' for one"
        )
    if tie.of is not None or tie.soft:
        raise JointError(
            f"{tie.label}: {flows[0]!r} takes the whole velocity of the other end; leave of, stiffness and damping out"
        )
    other = second if tie.first == flows[0] else first
    if isinstance(other, Edge):
        T = _velocities_along(tie, flows[0], other, bodies, system.rows.size)
    else:
        T = require_orientation(tie, other)
    coupling = csr(system.B[:, system.ports[flows[0]]] @ T)
    joined = replace(system, J=csr(system.J + coupling - coupling.T))
    return joined.with_ports(*(port for port in system.ports if port != flows[0]))


def _velocities_along(tie: Tie, port: str, edge: Edge, bodies: Mapping[str, object], size: int) -> Matrix:
    """The velocities of a boundary at the nodes of a side that follows it, per row. Raises JointError if their sizes differ."""
    name, _, side = port.partition(".")
    body = bodies[name]
    assert isinstance(body, StressContinuum)
    if side not in body.fields:
        raise JointError(
            f"{tie.label}: port {port!r} moves rigidly, but {edge.boundary!r} may deform; tie the side instead of its port"
        )
    field, facets = body.sides.field(side), body.mesh.points[body.mesh.boundaries[side]]
    if abs(measure(facets) / measure(edge.body.mesh.points[edge.facets]) - 1.0) > SAME_SIZE:
        raise JointError(f"{tie.label}: {side!r} and {edge.boundary!r} differ in size; tie sides of the same size")
    x = field.x + edge.centre - field.centre
    rows = np.add.outer(3 * np.arange(len(x)), np.arange(body.mesh.dimension)).ravel()
    return system_columns(csr(edge.body.shape.displacement(x)[rows]), edge.columns, size)


def _opened(bodies: Mapping[str, object], ties: Sequence[object]) -> Mapping[str, object]:
    """The bodies; tied sides that take a velocity are inputs: fields against boundaries, twists against ports."""
    out = dict(bodies)
    for joint in (joint for joint in ties if isinstance(joint, Tie)) if isinstance(ties, Sequence) else ():
        for end, other in ((joint.first, joint.second), (joint.second, joint.first)):
            (name, _, side), (neighbour, _, boundary) = end.partition("."), other.partition(".")
            body, against = out.get(name), bodies.get(neighbour)
            if not isinstance(body, StressContinuum) or side in body.ports or side not in body.mesh.boundaries:
                continue
            if isinstance(against, Continuum) and boundary in against.parts:
                out[name] = replace(body, fields=(*body.fields, side))
            else:
                out[name] = replace(body, ports={**body.ports, side: side})
    return out


def _with_field_positions(system: LinearPHDAE, origins: Mapping[tuple[str, str], np.ndarray]) -> LinearPHDAE:
    """The system with the points of all fields in the axes of the first body of each connected group."""
    shifts: dict[str, np.ndarray] = {}
    for name in {name.partition(".")[0]: None for name in system.fields}:
        if name not in shifts:
            shifts[name], group = np.zeros(3), [name]
            for member in group:
                for (first, second), origin in origins.items():
                    neighbour, shift = (second, origin) if first == member else (first, -origin)
                    if member in (first, second) and neighbour not in shifts:
                        shifts[neighbour] = shifts[member] + shift
                        group.append(neighbour)
    fields = {k: replace(f, points=f.points + shifts[k.partition(".")[0]]) for k, f in system.fields.items()}
    return replace(system, fields=fields)


def _tie_end(end: str, system: LinearPHDAE, bodies: Mapping[str, object]) -> Edge | Twist:
    """The boundary, port or ground of this name. Raises PortError if there is none."""
    if end == GROUND:
        return Twist(zero_matrix(6, system.rows.size), np.zeros(3))
    name, _, port = end.partition(".")
    if name not in bodies:
        raise PortError(unknown("body", name, bodies))
    body = bodies[name]
    if isinstance(body, Continuum) and port in body.parts:
        return Edge(body, port, system.rows.indices([f"{name}.v"]))
    if end in system.ports:
        return Twist(csr(system.B[:, system.ports[end]].T), _point(body, port))
    boundaries: list[str] = []
    if isinstance(body, Continuum):
        boundaries = [f"{name}.{b}" for b in body.parts]
    elif isinstance(body, StressContinuum):  # sides that are tied are ports
        boundaries = [f"{name}.{b}" for b in body.mesh.boundaries if b not in (*body.ports, *body.fields)]
    raise PortError(
        unknown("boundary or port", end, [*boundaries, *(p for p in system.ports if p.startswith(f"{name}."))])
    )


def _point(body: object, port: str) -> np.ndarray:
    """The point of a port in body axes; the origin for a linear system, whose ports have no known point."""
    if isinstance(body, Body):
        return body.port(port).x
    if isinstance(body, Continuum):
        return interface(body, port, body.ports[port]).x
    return body.port_centre(port) if isinstance(body, StressContinuum) else np.zeros(3)


def _without_repetitions(system: LinearPHDAE) -> LinearPHDAE:
    """The system without rows of ties that depend on other rows; warns if there are some."""
    dependent = repeated(system.G)
    if not len(dependent):
        return system
    owners = [system.multipliers.owner(int(k)) for k in dependent]
    summary = ", ".join(f"{name!r} ({owners.count(name)})" for name in dict.fromkeys(owners))
    warnings.warn(
        f"{len(dependent)} rows of ties follow from others and are left out: {summary}; the motion is right",
        RedundancyWarning,
        stacklevel=4,
    )
    keep = np.ones(system.multipliers.size, bool)
    keep[dependent] = False
    multipliers = system.multipliers.masked(keep)
    return replace(system, G=csr(system.G[keep]), B_lam=csr(system.B_lam[keep]), multipliers=multipliers)


# --- loads -----------------------------------------------------------------------------------------------------------


def _with_load(system: LinearPHDAE, load: Distributed | Force | Torque, bodies: Mapping[str, object]) -> LinearPHDAE:
    column = np.zeros(system.rows.size)
    if isinstance(load, Distributed):
        name, boundary = split_name(load, bodies)
        column[system.rows[f"{name}.v"]] = _forces_on_mesh(load, _mesh_body(name, load.label, bodies), boundary)
    else:
        wrench = np.zeros(6)
        wrench[slice(0, 3) if load.kind == "force" else slice(3, 6)] = load.direction()
        if _takes_flow(load.port, bodies):
            raise JointError(f"{load.label}: {load.port!r} takes a velocity, not a force; use causality='force'")
        B = system.B[:, system.ports[load.port]]
        if wrench[B.shape[1] :].any():
            raise JointError(f"{load.label} turns {load.port!r}, which is a point mass and has no orientation")
        _check_mesh_port(load.label, load.port, bodies, wrench[None])
        column = B @ wrench[: B.shape[1]]
    if not column.any():
        raise InputError(f"{load.label} pushes on nothing: no motion there feels it")
    return replace(
        system,
        B=csr(sp.hstack([system.B, csr(column[:, None])])),
        B_lam=csr(sp.hstack([system.B_lam, zero_matrix(system.multipliers.size, 1)])),
        ports=joined_layouts([system.ports, Layout({load.label: (1,)})], "port"),
    )


def _forces_on_mesh(load: Distributed, body: Continuum, boundary: str) -> np.ndarray:
    """The forces of a distributed load on the coordinates of a mesh."""
    if isinstance(load, BodyForce) and load.per_mass is not None:
        mass = body.samples.mass @ np.ones(len(body.samples.x))
        return np.asarray(sum(b * (Phi.T @ mass) for Phi, b in zip(body.samples.Phi, load.per_mass, strict=True)))
    if isinstance(load, Pressure):
        surface = body.surface(boundary, load.label)
        u, sign = surface.u, 1.0 if body.is_plate else -1.0
        force = (sign * surface.weight * load.at(surface.x))[:, None] * np.cross(*surface.tangents)
    else:
        trace = body.volume() if isinstance(load, BodyForce) else body.loaded_part(boundary, load.label)
        u, force = trace.u, trace.weight[:, None] * load.at(trace.x)
    return np.asarray(sum(matrix.T @ f for matrix, f in zip(u, force.T, strict=True)))


def _check_mesh_port(label: str, port: str, bodies: Mapping[str, object], wrench: np.ndarray) -> None:
    """Raises JointError if the port is a point of a body on a mesh that does not carry this wrench."""
    body = bodies.get(port.partition(".")[0])
    if isinstance(body, Continuum):
        check_port(label, port, body, wrench)


def _mesh_body(name: str, label: str, bodies: Mapping[str, object]) -> Continuum:
    if name not in bodies:
        raise PortError(unknown("body", name, bodies))
    body = bodies[name]
    if isinstance(body, StressContinuum):
        raise InputError(f"{label} pushes on {name!r}, whose boundary takes velocities; use causality='force'")
    if not isinstance(body, Continuum):
        raise InputError(f"{label} pushes on {name!r}, which is no body on a mesh; use Force(…) at one of its ports")
    return body


# --- uncoupled motions -----------------------------------------------------------------------------------------------


def _without_unfelt_motions(system: LinearPHDAE, springs: Sequence[str], bodies: Mapping[str, Body]) -> LinearPHDAE:
    """The system without motions of bodies that are coupled to no tie, load or other motion; warns if there are some."""
    body_ports = {f"{name}.{port}" for name, body in bodies.items() for port in body.ports}
    input_ports = [name for name in system.ports if name not in body_ports]
    B = system.B[:, system.ports.indices(input_ports)]
    coupled = abs(system.E) + abs(system.J) + abs(system.R) + abs(system.G.T) @ abs(system.G)
    _, group = graph.connected_components(coupled, directed=False)
    affected = np.zeros(group.max() + 1, bool)
    other_rows = [name for name in system.rows if name.partition(".")[0] not in bodies]
    affected[group[system.rows.indices(other_rows)]] = True
    affected[group[np.unique(system.G.indices)]] = True
    affected[group[system.rows.indices([name for name in springs if name in system.rows])]] = True
    affected[group[np.unique(B.tocoo().row)]] = True
    keep = affected[group]
    for name in bodies:  # a body without any coupling is free on purpose
        body_rows = system.rows.indices([row for row in system.rows if row.startswith(f"{name}.")])
        keep[body_rows] |= not keep[body_rows].any()
    if keep.all():
        return system
    names = ", ".join(_row_name(system.rows, int(k)) for k in np.flatnonzero(~keep))
    warnings.warn(f"motions that nothing feels are left out: {names}", UnfeltMotionWarning, stacklevel=4)
    return _restrict(system, keep)


def _row_name(rows: Layout, k: int) -> str:
    block = rows.owner(k)
    body, _, quantity = block.rpartition(".")
    number = k - rows[block].start
    return f"{body}.{COMPONENTS[quantity][number] if quantity in COMPONENTS else f'{quantity}[{number}]'}"


def _restrict(system: LinearPHDAE, keep: np.ndarray) -> LinearPHDAE:
    """The system with only the rows where `keep` is true, and with the port components that move."""
    B: Matrix = csr(system.B[keep])
    nonzero = np.diff(B.tocsc().indptr) > 0
    columns = np.unique(system.B[~keep].tocoo().col)
    ports = np.ones(system.ports.size, bool)
    ports[columns] = nonzero[columns]
    return replace(
        system,
        E=system.E[keep][:, keep],
        J=system.J[keep][:, keep],
        R=system.R[keep][:, keep],
        G=system.G[:, keep],
        B=B[:, ports],
        B_lam=system.B_lam[:, ports],
        rows=system.rows.masked(keep),
        ports=system.ports.masked(ports),
        split=int(keep[: system.split].sum()),
        fields=Fields.in_rows(system.fields, lambda A: A[:, keep]),
    )
