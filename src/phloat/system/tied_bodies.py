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
from phloat.errors import (
    InputError,
    JointError,
    PortError,
    RedundancyWarning,
    UnfeltMotionWarning,
    mapping,
    unknown,
)
from phloat.joints.ends import GROUND
from phloat.joints.loads import Force, Pressure, Torque, Traction
from phloat.joints.tie import Tie
from phloat.linear.form.interconnect import append_systems
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.time.midpoint import repeated
from phloat.system.connection import body_name, listed_recipes
from phloat.system.port_checks import check_port
from phloat.system.tie_rows import Edge, Twist, tied_rows, with_spring

COMPONENTS = {"v_P": ("v_x", "v_y", "v_z"), "omega": ("ω_x", "ω_y", "ω_z")}
LINEAR = (Tie, Pressure, Traction, Force, Torque)
INSTEAD = "small motions of bodies on meshes take Tie(…), Pressure(…), Traction(…), Force(…) and Torque(…)"


def tie(bodies: Mapping[str, object], ties: Sequence[object] = ()) -> LinearPHDAE:
    """Small motions of bodies on meshes, and of beams and rigid bodies tied to them, as one linear system.

    Parameters
    ----------
    bodies : dict of str to Continuum or Body
        What `discretise` returned, by name. Names hold no dot.
    ties : list
        `Tie` between boundaries, ports and the ground; `Pressure`, `Traction`, `Force` and `Torque`, whose inputs are N or N m.

    Returns
    -------
    LinearPHDAE
        Rows are named "plate.v", "rod.v_P" …, multipliers by their ties, ports by bodies and by what pushes.

    Raises
    ------
    InputError
        Names or bodies do not fit; `PortError` for a boundary or port that is not there, `JointError` for a tie that holds nothing.

    Examples
    --------
    A strip of steel, its left edge tied to the ground; 3.516 h √(E/12ρ) / L² = 26.33 rad/s for a beam.

    >>> steel = ph.Material(E=210e9, rho=7800.0, nu=0.0)
    >>> strip = ph.Plate.rectangle(1.0, 0.1, thickness=0.005, material=steel).discretise((8, 1))
    >>> cantilever = ph.tie({"strip": strip}, [ph.Tie("ground", "strip.left")])
    >>> print(ph.modes(cantilever, 1).omega.round(1))
    [26.3]
    """
    parts = {name: _linear(name, part) for name, part in mapping("bodies", bodies, "{name: body}").items()}
    whole = append_systems(*(_called(name, part) for name, part in parts.items()))
    listed = listed_recipes("ties", ties, LINEAR, [*whole.ports, *whole.multipliers], lambda _: INSTEAD)
    origins = {}
    for joint in listed:
        if isinstance(joint, Tie):
            whole, origin = _with_tie(whole, joint, bodies)
            if GROUND not in joint.stands_at:
                origins[joint.first.partition(".")[0], joint.second.partition(".")[0]] = origin
    whole = _without_repetitions(_placed(whole, origins))
    for push in listed:
        if not isinstance(push, Tie):
            whole = _with_push(whole, push, bodies)
    springs = [f"{joint.label}.sigma" for joint in listed if isinstance(joint, Tie) and joint.stiffness is not None]
    return _felt(whole, springs, {name: part for name, part in bodies.items() if isinstance(part, Body)})


def _linear(name: str, part: object) -> LinearPHDAE:
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
    if isinstance(part, Body | Continuum):
        return part.linear()
    raise InputError(
        f"{name!r} is {type(part).__name__}; tie takes what discretise(…) returned; for a split beam, "
        "that of the whole beam"
    )


def _called(name: str, part: LinearPHDAE) -> LinearPHDAE:
    """The part with its name before all of its own; the motion of a body is called as the body."""
    named = part.prefixed(name)
    return replace(named, fields={key.removesuffix(".body"): value for key, value in named.fields.items()})


# --- ties ------------------------------------------------------------------------------------------------------------


def _with_tie(whole: LinearPHDAE, tie: Tie, bodies: Mapping[str, object]) -> tuple[LinearPHDAE, np.ndarray]:
    """The system with one more tie, and the origin of its second body seen from its first."""
    first, second = _end(tie.first, whole, bodies), _end(tie.second, whole, bodies)
    for end, where in ((first, tie.first), (second, tie.second)):
        if isinstance(end, Twist):
            there = [k for k in tie.motions if k < end.rows.shape[0] and end.rows[[k]].nnz]
            _check(tie.label, where, bodies, np.eye(6)[there])
    if tie.soft:
        return with_spring(whole, tie, first, second), first.centre - second.centre
    rows, origin = tied_rows(tie, first, second, whole.rows.size)
    return replace(
        whole,
        G=csr(sp.vstack([whole.G, rows])),
        B_lam=csr(sp.vstack([whole.B_lam, zero_matrix(rows.shape[0], whole.ports.size)])),
        multipliers=joined_layouts([whole.multipliers, Layout({tie.label: (rows.shape[0],)})], "multiplier"),
    ), origin


def _placed(whole: LinearPHDAE, origins: Mapping[tuple[str, str], np.ndarray]) -> LinearPHDAE:
    """The fields where the ties put their bodies, in the axes of the first of each group that hangs together."""
    at: dict[str, np.ndarray] = {}
    for name in {name.partition(".")[0]: None for name in whole.fields}:
        if name not in at:
            at[name], reached = np.zeros(3), [name]
            for here in reached:
                for (first, second), origin in origins.items():
                    other, way = (second, origin) if first == here else (first, -origin)
                    if here in (first, second) and other not in at:
                        at[other] = at[here] + way
                        reached.append(other)
    fields = {name: replace(f, points=f.points + at[name.partition(".")[0]]) for name, f in whole.fields.items()}
    return replace(whole, fields=fields)


def _end(end: str, whole: LinearPHDAE, bodies: Mapping[str, object]) -> Edge | Twist:
    """What an end names: a boundary, a port, or the ground."""
    if end == GROUND:
        return Twist(zero_matrix(6, whole.rows.size), np.zeros(3))
    name, _, where = end.partition(".")
    if name not in bodies:
        raise PortError(unknown("body", name, bodies))
    body = bodies[name]
    if isinstance(body, Continuum) and where in body.parts:
        return Edge(body, where, whole.rows.indices([f"{name}.v"]))
    if end in whole.ports:
        return Twist(csr(whole.B[:, whole.ports[end]].T), _point(body, where))
    boundaries = [f"{name}.{b}" for b in body.parts] if isinstance(body, Continuum) else []
    raise PortError(
        unknown("boundary or port", end, [*boundaries, *(p for p in whole.ports if p.startswith(f"{name}."))])
    )


def _point(body: object, port: str) -> np.ndarray:
    """Where a port is in its body's axes; that of a nested system is not known."""
    if isinstance(body, Body):
        return body.port(port).x
    if isinstance(body, Continuum):
        return interface(body, port, body.ports[port]).x
    return np.zeros(3)


def _without_repetitions(whole: LinearPHDAE) -> LinearPHDAE:
    """The system without rows of ties that follow from those of others, with a note."""
    again = repeated(whole.G)
    if not len(again):
        return whole
    owners = [whole.multipliers.owner(int(k)) for k in again]
    said = ", ".join(f"{name!r} ({owners.count(name)})" for name in dict.fromkeys(owners))
    warnings.warn(
        f"{len(again)} rows of ties follow from others and are left out: {said}; the motion is right",
        RedundancyWarning,
        stacklevel=4,
    )
    keep = np.ones(whole.multipliers.size, bool)
    keep[again] = False
    return replace(whole, G=csr(whole.G[keep]), B_lam=csr(whole.B_lam[keep]), multipliers=whole.multipliers.kept(keep))


# --- what pushes -----------------------------------------------------------------------------------------------------


def _with_push(
    whole: LinearPHDAE, push: Pressure | Traction | Force | Torque, bodies: Mapping[str, object]
) -> LinearPHDAE:
    column = np.zeros(whole.rows.size)
    if isinstance(push, Pressure):
        body = _meshed(push.body, push.label, bodies)
        samples = body.samples
        if body.mesh.dimension != 2 or samples.weight is None or not samples.Phi[2].nnz:
            raise InputError(f"{push.label} pushes along z on a plate, and {push.body!r} is none; use Traction(…)")
        column[whole.rows[f"{push.body}.v"]] = samples.Phi[2].T @ (samples.weight * push.at(samples.x))
    elif isinstance(push, Traction):
        name, _, boundary = push.boundary.partition(".")
        trace = _meshed(name, push.label, bodies).trace(boundary)
        force = trace.weight[:, None] * push.at(trace.x)
        column[whole.rows[f"{name}.v"]] = sum(u.T @ f for u, f in zip(trace.u, force.T, strict=True))
    else:
        along = np.zeros(6)
        along[slice(0, 3) if push.kind == "force" else slice(3, 6)] = push.direction()
        B = whole.B[:, whole.ports[push.port]]
        if along[B.shape[1] :].any():
            raise JointError(f"{push.label} turns {push.port!r}, which is a point mass and has no orientation")
        _check(push.label, push.port, bodies, along[None])
        column = B @ along[: B.shape[1]]
    if not column.any():
        raise InputError(f"{push.label} pushes on nothing: no motion there feels it")
    return replace(
        whole,
        B=csr(sp.hstack([whole.B, csr(column[:, None])])),
        B_lam=csr(sp.hstack([whole.B_lam, zero_matrix(whole.multipliers.size, 1)])),
        ports=joined_layouts([whole.ports, Layout({push.label: (1,)})], "port"),
    )


def _check(who: str, where: str, bodies: Mapping[str, object], wrench: np.ndarray) -> None:
    """Whether a port carries what is put on it, where it is a point of a body on a mesh."""
    body = bodies.get(where.partition(".")[0])
    if isinstance(body, Continuum):
        check_port(who, where, body, wrench)


def _meshed(name: str, of: str, bodies: Mapping[str, object]) -> Continuum:
    if name not in bodies:
        raise PortError(unknown("body", name, bodies))
    body = bodies[name]
    if not isinstance(body, Continuum):
        raise InputError(f"{of} pushes on {name!r}, which is no body on a mesh; use Force(…) at one of its ports")
    return body


# --- motions that nothing feels --------------------------------------------------------------------------------------


def _felt(whole: LinearPHDAE, springs: Sequence[str], bodies: Mapping[str, Body]) -> LinearPHDAE:
    """The system without motions of bodies that no tie, no force and no other motion feels, with a note."""
    own = {f"{name}.{port}" for name, body in bodies.items() for port in body.ports}
    acted = [name for name in whole.ports if name not in own]
    B = whole.B[:, whole.ports.indices(acted)]
    coupled = abs(whole.E) + abs(whole.J) + abs(whole.R) + abs(whole.G.T) @ abs(whole.G)
    _, group = graph.connected_components(coupled, directed=False)
    felt = np.zeros(group.max() + 1, bool)
    others = [name for name in whole.rows if name.partition(".")[0] not in bodies]
    felt[group[whole.rows.indices(others)]] = True
    felt[group[np.unique(whole.G.indices)]] = True
    felt[group[whole.rows.indices([name for name in springs if name in whole.rows])]] = True
    felt[group[np.unique(B.tocoo().row)]] = True
    keep = felt[group]
    for name in bodies:  # a body that nothing touches at all is free on purpose
        mine = whole.rows.indices([row for row in whole.rows if row.startswith(f"{name}.")])
        keep[mine] |= not keep[mine].any()
    if keep.all():
        return whole
    said = ", ".join(_name(whole.rows, int(k)) for k in np.flatnonzero(~keep))
    warnings.warn(f"motions that nothing feels are left out: {said}", UnfeltMotionWarning, stacklevel=4)
    return _restricted(whole, keep)


def _name(rows: Layout, k: int) -> str:
    block = rows.owner(k)
    body, _, quantity = block.rpartition(".")
    number = k - rows[block].start
    return f"{body}.{COMPONENTS[quantity][number] if quantity in COMPONENTS else f'{quantity}[{number}]'}"


def _restricted(whole: LinearPHDAE, keep: np.ndarray) -> LinearPHDAE:
    B: Matrix = csr(whole.B[keep])
    moving = np.diff(B.tocsc().indptr) > 0
    lost = np.unique(whole.B[~keep].tocoo().col)
    ports = np.ones(whole.ports.size, bool)
    ports[lost] = moving[lost]  # a port has the components that move
    return replace(
        whole,
        E=whole.E[keep][:, keep],
        J=whole.J[keep][:, keep],
        R=whole.R[keep][:, keep],
        G=whole.G[:, keep],
        B=B[:, ports],
        B_lam=whole.B_lam[:, ports],
        rows=whole.rows.kept(keep),
        ports=whole.ports.kept(ports),
        split=int(keep[: whole.split].sum()),
        fields={name: replace(f, motion=csr(f.motion[:, keep])) for name, f in whole.fields.items()},
    )
