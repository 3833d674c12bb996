"""What is drawn: each body as points in its own axes that its coordinates move, joined by triangles and lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from phloat.algebra.sparse import csr
from phloat.bodies.beams.beam import Beam
from phloat.bodies.body import Body
from phloat.bodies.continua.facets import innermost, mesh_of
from phloat.bodies.plates.shape import PlateShape
from phloat.bodies.rigid import PointMass, RigidBody
from phloat.bodies.shape import Shape
from phloat.fem.mesh import Mesh
from phloat.linear.form.phdae import Field
from phloat.motion.result import Result
from phloat.system.state import Pose, State
from phloat.system.stresses import von_mises
from phloat.system.system import System
from phloat.view.drawn import is_cloud
from phloat.view.surfaces import (
    Surface,
    box,
    cylinder,
    mesh_surface,
    outlines,
    sharp_edges,
    sphere,
    swept,
    thick,
    together,
)

THINNEST = 1 / 160  # of the size of the whole: sections thinner than that are drawn thicker
SLENDER = 1 / 50  # of the size of the whole: the edges of thinner beams would cover them
STOUT = 0.2  # of its length: a beam is not drawn thicker than that unless it is
MOST_PLACES = 65  # along a beam
INSIDE = 0.02  # of the way to the middle of a cell: where its stress near a node is asked for


@dataclass(frozen=True, eq=False)
class Drawn:
    """A body to draw: points (n, 3) in body axes, moved by `rows` (3n, coordinates), joined by triangles and edges.

    `normals` are there where it is round, None where facets are flat. `cauchy` (6n, stresses) is the stress at the points, xx,
    yy, zz, yz, xz, xy of each in turn; no columns where there is none. `ports` says which point is each port. `kind` is "beam",
    "plate", "solid", "rigid", "mass" or "nodes" (points that nothing joins). The one edge of a `thin` beam is a line along it, so
    that it is seen from afar.
    """

    kind: str
    points: np.ndarray
    rows: np.ndarray
    triangles: np.ndarray
    edges: np.ndarray
    normals: np.ndarray | None = None
    cauchy: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    ports: Mapping[str, int] = field(default_factory=dict)
    thin: bool = False

    def at(self, pose: Pose, magnified: float = 1.0) -> np.ndarray:
        """Where the points are, (n, 3) in inertial axes."""
        u = (self.rows @ pose.eta).reshape(-1, 3)
        return np.asarray(pose.r_P + (self.points + magnified * u) @ pose.A.T)

    def speed(self, pose: Pose) -> np.ndarray:
        """How fast the points move, (n,)."""
        x = self.points + (self.rows @ pose.eta).reshape(-1, 3)
        v = pose.v_P + np.cross(pose.omega, x) + (self.rows @ pose.rates).reshape(-1, 3)
        return np.asarray(np.linalg.norm(v, axis=1))

    def stress(self, sigma: np.ndarray) -> np.ndarray:
        """Von Mises' stress at the points, (n,); zero where the body is rigid."""
        if not self.cauchy.size:
            return np.zeros(len(self.points))
        return von_mises((self.cauchy @ sigma).reshape(-1, 6))


class Course(NamedTuple):
    """A body over time, in three dimensions: as `Pose`, with time first."""

    r: np.ndarray
    A: np.ndarray
    eta: np.ndarray
    v: np.ndarray
    omega: np.ndarray
    rates: np.ndarray
    sigma: np.ndarray

    def pose(self, k: int) -> Pose:
        """The body at the k-th time."""
        return Pose(*(part[k] for part in self))


def scene(system: System, state: State, size: float | None = None) -> dict[str, Drawn]:
    """Every body of a system as a drawing; the state says how large the whole is. Equal bodies share one drawing."""
    whole, known = size or size_of(system, state), {}
    for body in system.bodies.values():
        if id(body) not in known:
            known[id(body)] = drawn(body, whole)
    return {name: known[id(body)] for name, body in system.bodies.items()}


def size_of(system: System, *states: State) -> float:
    """The diagonal of the box around all bodies where they stand, their ports and mass centres included."""
    points = []
    for name, body in system.bodies.items():
        own = [
            body.shape.points(body.shape.places()),
            np.array([port.x for port in body.ports.values()]).reshape(-1, 3),
        ]
        own.append(body.inertia.s0[None, :] / body.inertia.m)
        points += [pose.r_P + np.vstack(own) @ pose.A.T for pose in (state.pose(name) for state in states)]
    return float(np.linalg.norm(np.ptp(np.vstack(points), axis=0))) or 1.0


def drawn(body: Body, size: float) -> Drawn:
    """A body as a drawing, in a whole of that size."""
    recipe, base = body.recipe, innermost(body.shape)
    if isinstance(recipe, PointMass):
        return _rigid(body, "mass", ball(recipe, 1.5 * THINNEST * size, 0.04 * size))
    if isinstance(recipe, RigidBody):
        return _rigid(body, "rigid", block(recipe, THINNEST * size, 0.6 * size))
    if isinstance(recipe, Beam):
        return _beam(body, recipe, size)
    mesh = mesh_of(body)
    if mesh is not None and isinstance(base, PlateShape):
        return _plate(body, base, mesh)
    if mesh is not None:
        return _solid(body, mesh)
    return _nodes(body)


def drawn_field(part: Field, size: float) -> tuple[Drawn, np.ndarray]:
    """The points of a field of a linear system where they stand, without rows, and which of them each point drawn follows."""
    x, n, none = part.points, len(part.points), np.zeros((0, 3), dtype=int)
    if part.facets is not None:
        triangles = (
            part.facets if part.facets.shape[1] == 3 else np.vstack([part.facets[:, :3], part.facets[:, [0, 2, 3]]])
        )
        surface, kind, owner = Surface(x, triangles, sharp_edges(x, triangles)), "plate", np.arange(n)
    elif n == 1:
        surface, kind, owner = (
            (ball := sphere(x[0], 2 * THINNEST * size)),
            "mass",
            np.zeros(len(ball.points), dtype=int),
        )
    elif is_cloud(x):
        surface, kind, owner = Surface(x, none, none[:, :2]), "nodes", np.arange(n)
    else:
        bars = [cylinder(a, b, 0.5 * THINNEST * size) for a, b in pairwise(x) if np.any(a != b)]
        surface, kind = together(*bars), "beam"
        owner = cKDTree(x).query(surface.points)[1]
    rows = np.zeros((3 * len(owner), 0))
    return Drawn(
        kind,
        surface.points,
        rows,
        surface.triangles,
        surface.edges[:0] if kind == "beam" else surface.edges,
        surface.normals,
    ), owner


def course(result: Result, name: str, at: np.ndarray) -> Course:
    """A body of a result at the output times with these numbers."""
    system = result.system
    body, layout = system.bodies[name], system.layout

    def of(quantity: str) -> np.ndarray:
        key = f"{name}.{quantity}"
        return result.e[:, layout[key]][at] if key in layout else np.zeros((len(at), 0))

    def filled(quantity: str, offset: int) -> np.ndarray:
        out = np.zeros((len(at), 3))
        out[:, [i - offset for i in body.active if offset <= i < offset + 3]] = of(quantity)
        return out

    A = np.tile(np.eye(3), (len(at), 1, 1))
    if f"{name}.A_IB" in layout:
        A = of("A_IB").reshape(-1, 3, 3)
    elif f"{name}.theta" in layout:
        c, s = np.cos(of("theta")[:, 0]), np.sin(of("theta")[:, 0])
        A[:, 0, 0], A[:, 0, 1], A[:, 1, 0], A[:, 1, 1] = c, -s, s, c
    return Course(filled("r_P", 0), A, of("eta"), filled("v_P", 0), filled("omega", 3), of("eta_dot"), of("sigma"))


def _with_ports(body: Body, kind: str, surface: Surface, rows: np.ndarray, cauchy: np.ndarray | None = None) -> Drawn:
    """The drawing with its ports as points that no triangle uses."""
    names, n = list(body.ports), len(surface.points)
    x = np.array([body.ports[name].x for name in names]).reshape(-1, 3)
    moved = np.vstack([rows, *(body.ports[name].Phi for name in names)])
    normals = None if surface.normals is None else np.vstack([surface.normals, np.tile([0.0, 0.0, 1.0], (len(x), 1))])
    stress = np.zeros((0, 0)) if cauchy is None else np.vstack([cauchy, np.zeros((6 * len(x), cauchy.shape[1]))])
    return Drawn(
        kind,
        np.vstack([surface.points, x]),
        moved,
        surface.triangles,
        surface.edges,
        normals,
        stress,
        {name: n + k for k, name in enumerate(names)},
    )


# --- beams, plates, solids -------------------------------------------------------------------------------------------


def _beam(body: Body, beam: Beam, size: float) -> Drawn:
    s = body.shape.places()
    if len(s) > MOST_PLACES:
        s = s[np.unique(np.linspace(0, len(s) - 1, MOST_PLACES).round().astype(int))]
    rings, is_round = outlines(beam, s)
    width = float(np.ptp(rings, axis=1).max())
    thicker, thin = max(1.0, min(THINNEST * size, STOUT * beam.length) / width), width < SLENDER * size
    surface, owner = swept(beam.length * s, thicker * rings, is_round=is_round)
    if thin:
        line = rings.shape[1] * np.arange(len(s))
        surface = replace(surface, edges=np.column_stack([line[:-1], line[1:]]))
    Phi, Psi = (
        part.toarray().reshape(len(s), 3, -1)[owner] for part in (body.shape.displacement(s), body.shape.rotation(s))
    )
    arm = surface.points * [0.0, 1.0, 1.0]
    rows = Phi + np.cross(Psi, arm[:, :, None], axis=1)  # θ × (0, y, z)
    true = surface.points * [1.0, 1.0 / thicker, 1.0 / thicker]
    cauchy = body.shape.cauchy(true).toarray() if body.stresses else None
    return replace(_with_ports(body, "beam", surface, rows.reshape(3 * len(owner), -1), cauchy), thin=thin)


def _plate(body: Body, shape: PlateShape, mesh: Mesh) -> Drawn:
    places = body.shape.places()
    triangles, _ = mesh_surface(mesh)
    half = 0.5 * shape.section.height(places[:, :2])
    surface = thick(places, triangles, half)
    Phi, Psi = (
        part.toarray().reshape(len(places), 3, -1)
        for part in (body.shape.displacement(places), body.shape.rotation(places))
    )
    lever = np.cross(Psi, np.column_stack([np.zeros((len(places), 2)), half])[:, :, None], axis=1)
    rows = np.concatenate([Phi + lever, Phi - lever])
    used = np.unique(triangles)
    cauchy = np.zeros((2 * len(places), 6, body.stresses))
    for side, first in ((1.0, 0), (-1.0, len(places))):
        node, x = _near(mesh, used)
        x = np.column_stack([x[:, :2], side * 0.5 * shape.section.height(x[:, :2])])
        cauchy[first + used] = _averaged(body.shape, node, x, used)
    return _with_ports(body, "plate", surface, rows.reshape(len(rows) * 3, -1), cauchy.reshape(-1, body.stresses))


def _solid(body: Body, mesh: Mesh) -> Drawn:
    triangles, edges = mesh_surface(mesh)
    used, numbers = np.unique(triangles, return_inverse=True)
    new = np.zeros(len(mesh.points), dtype=int)
    new[used] = np.arange(len(used))
    places = body.shape.places()
    rows = body.shape.displacement(places).toarray().reshape(len(places), 3, -1)[used]
    node, x = _near(mesh, used)
    cauchy = _averaged(body.shape, node, x, used)
    surface = Surface(places[used], numbers.reshape(triangles.shape), new[edges])
    kind = "solid" if mesh.dimension == 3 else "plate"
    return _with_ports(body, kind, surface, rows.reshape(3 * len(used), -1), cauchy.reshape(6 * len(used), -1))


def _near(mesh: Mesh, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points a little inside every cell at every one of these nodes, and whose node each is."""
    middle = mesh.points[mesh.corners].mean(axis=1)
    wanted = np.zeros(len(mesh.points), dtype=bool)
    wanted[nodes] = True
    owner, local = np.nonzero(wanted[mesh.cells])
    node = mesh.cells[owner, local]
    return node, (1.0 - INSIDE) * mesh.points[node] + INSIDE * middle[owner]


def _averaged(shape: Shape, node: np.ndarray, x: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The stress at nodes as the mean over the cells that meet there, (nodes, 6, stresses)."""
    row = np.searchsorted(nodes, node)
    weight = 1.0 / np.bincount(row, minlength=len(nodes))[row]
    mean = sp.csr_array((weight, (row, np.arange(len(node)))), shape=(len(nodes), len(node)))
    return (csr(sp.kron(mean, sp.eye_array(6))) @ shape.cauchy(x)).toarray().reshape(len(nodes), 6, -1)


def _nodes(body: Body) -> Drawn:
    places = body.shape.places()
    x, n = body.shape.points(places), len(places)
    empty, rows = np.zeros((0, 3), dtype=int), body.shape.displacement(places).toarray()
    edges = np.zeros((0, 2), dtype=int) if is_cloud(x) else np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return _with_ports(body, "nodes", Surface(x, empty, edges), rows)


# --- rigid bodies ----------------------------------------------------------------------------------------------------


def _rigid(body: Body, kind: str, surface: Surface) -> Drawn:
    return _with_ports(body, kind, surface, np.zeros((3 * len(surface.points), 0)))


# --- rigid bodies ----------------------------------------------------------------------------------------------------
#
# What rigid bodies look like: balls, boxes and cylinders that weigh and turn as they do, with bars to their ports.


STEEL = 7850.0  # kg/m³


def ball(recipe: PointMass, least: float, most: float) -> Surface:
    """A point mass as a ball of steel, with a radius between the two."""
    radius = (3.0 * recipe.mass / (4.0 * np.pi * STEEL)) ** (1 / 3)
    return sphere(np.zeros(3), float(np.clip(radius, least, most)))


def block(recipe: RigidBody, thin: float, most: float) -> Surface:
    """The box, or round bar, of even density that has the mass and inertia of a rigid body, and bars to ports outside of it.

    It is made smaller where it would cover a port, and no side is thinner or longer than told.
    """
    center = np.asarray(recipe.center, dtype=float)
    J, axes = np.linalg.eigh(np.asarray(recipe.inertia, dtype=float))
    sides = np.sqrt(np.maximum(6.0 * (J.sum() - 2.0 * J) / recipe.mass, 0.0))
    ports = np.array([np.zeros(3), *(np.asarray(x, dtype=float) for x in recipe.ports.values())]) - center
    out = (np.abs(ports @ axes) / np.maximum(0.5 * sides, 0.5 * thin)).max(axis=1)  # 1 on the faces of the box
    apart = np.linalg.norm(ports, axis=1) > thin
    shrunk = min(1.0, float(out[apart].min(initial=np.inf)), most / max(float(sides.max()), thin))
    sides = np.maximum(shrunk * sides, thin)
    k = _axis(J)
    if k is None:
        body = box(center, axes, sides)
    else:
        half, radius = 0.5 * sides[k] * axes[:, k], shrunk * float(np.sqrt(2.0 * J[k] / recipe.mass))
        body = cylinder(center - half, center + half, max(radius, 0.5 * thin), 32)
    bars = [
        cylinder(center, center + x, 0.6 * thin, 12) for x, far in zip(ports, out, strict=True) if far > 1.02 * shrunk
    ]
    return together(body, *bars)


def _axis(J: np.ndarray) -> int | None:
    """The axis about which a body is round: its other two moments are equal, and differ from that one."""
    for k in range(3):
        a, b = (float(value) for value in np.delete(J, k))
        if abs(a - b) <= 1e-6 * b and abs(float(J[k]) - a) > 1e-6 * b:
            return k
    return None
