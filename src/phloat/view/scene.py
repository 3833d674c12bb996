"""Bodies as drawings: points in body axes that move with the body's coordinates, with triangles and lines between them."""

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
from phloat.bodies.continua.continuum import innermost, mesh_of
from phloat.bodies.plates.shape import PlateShape
from phloat.bodies.rigid import PointMass, RigidBody
from phloat.bodies.shape import Shape
from phloat.fem.mesh import Mesh
from phloat.linear.form.phdae import Field
from phloat.motion.result import Result
from phloat.system.state import Pose, State
from phloat.system.stresses import von_mises
from phloat.system.system import System
from phloat.view.surfaces import (
    TriangleSurface,
    box_surface,
    cylinder,
    merge_surfaces,
    mesh_surface,
    plate_surface,
    section_outlines,
    sharp_edges,
    sphere,
    sweep_sections,
)

MIN_WIDTH = 1 / 160  # of the size of the scene: thinner sections are drawn thicker
SLENDER = 1 / 50  # of the size of the scene: the edges of thinner beams would cover them
STOUT = 0.2  # of its length: a beam is not drawn thicker than that unless it is thicker
MAX_PLACES = 65  # along a beam
INSIDE = 0.02  # of the way to the middle of a cell: where its stress near a node is evaluated
FEW = 16  # points off a line that are still joined by one: ports of a rigid body
ON_LINE = 1e-6  # of its length: how far points of a line lie off it


@dataclass(frozen=True, eq=False)
class Drawing:
    """A drawing of a body: points (n, 3) in body axes, moved by `rows` (3n, coordinates), with triangles and edges between them.

    `normals` are None if the facets are flat. `cauchy` (6n, stresses) gives the stress at the points, xx, yy, zz, yz, xz, xy of
    each in turn; it has no columns for a rigid body. `ports` are the numbers of the points of the ports. `kind` is "beam",
    "plate", "solid", "rigid", "mass" or "nodes" (points without triangles). A `thin` beam has a line along it, so that it is
    visible from afar.
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
        """The points in inertial axes, (n, 3)."""
        u = (self.rows @ pose.eta).reshape(-1, 3)
        return np.asarray(pose.r_P + (self.points + magnified * u) @ pose.A.T)

    def speed(self, pose: Pose) -> np.ndarray:
        """The speed of the points, (n,)."""
        x = self.points + (self.rows @ pose.eta).reshape(-1, 3)
        v = pose.v_P + np.cross(pose.omega, x) + (self.rows @ pose.rates).reshape(-1, 3)
        return np.asarray(np.linalg.norm(v, axis=1))

    def stress(self, sigma: np.ndarray) -> np.ndarray:
        """The von Mises stress at the points, (n,); zero for a rigid body."""
        if not self.cauchy.size:
            return np.zeros(len(self.points))
        return von_mises((self.cauchy @ sigma).reshape(-1, 6))


class BodyMotion(NamedTuple):
    """The motion of a body in space: the fields of `Pose`, with time as first axis."""

    r: np.ndarray
    A: np.ndarray
    eta: np.ndarray
    v: np.ndarray
    omega: np.ndarray
    rates: np.ndarray
    sigma: np.ndarray

    def pose(self, k: int) -> Pose:
        """The pose at the k-th time."""
        return Pose(*(part[k] for part in self))


def scene(system: System, state: State, size: float | None = None) -> dict[str, Drawing]:
    """The drawings of all bodies of a system; its size is that in the state by default. Equal bodies share one drawing."""
    size, known = size or scene_size(system, state), {}
    for body in system.bodies.values():
        if id(body) not in known:
            known[id(body)] = body_drawing(body, size)
    return {name: known[id(body)] for name, body in system.bodies.items()}


def scene_size(system: System, *states: State) -> float:
    """The diagonal of the box around all bodies, their ports and mass centres, in all of these states."""
    points = []
    for name, body in system.bodies.items():
        local = [
            body.shape.points(body.shape.places()),
            np.array([port.x for port in body.ports.values()]).reshape(-1, 3),
        ]
        local.append(body.inertia.s0[None, :] / body.inertia.m)
        points += [pose.r_P + np.vstack(local) @ pose.A.T for pose in (state.pose(name) for state in states)]
    return float(np.linalg.norm(np.ptp(np.vstack(points), axis=0))) or 1.0


def body_drawing(body: Body, size: float) -> Drawing:
    """The drawing of a body in a scene of that size."""
    recipe, base = body.recipe, innermost(body.shape)
    if isinstance(recipe, PointMass):
        return _rigid(body, "mass", ball(recipe, 1.5 * MIN_WIDTH * size, 0.04 * size))
    if isinstance(recipe, RigidBody):
        return _rigid(body, "rigid", block(recipe, MIN_WIDTH * size, 0.6 * size))
    if isinstance(recipe, Beam):
        return _beam(body, recipe, size)
    mesh = mesh_of(body)
    if mesh is not None and isinstance(base, PlateShape):
        return _plate(body, base, mesh)
    if mesh is not None:
        return _solid(body, mesh)
    return _nodes(body)


def field_drawing(part: Field, size: float) -> tuple[Drawing, np.ndarray]:
    """The drawing of a field of a linear system, without rows, and the point of the field that each of its points follows."""
    x, n, none = part.points, len(part.points), np.zeros((0, 3), dtype=int)
    if part.facets is not None:
        triangles = (
            part.facets if part.facets.shape[1] == 3 else np.vstack([part.facets[:, :3], part.facets[:, [0, 2, 3]]])
        )
        surface, kind, owner = TriangleSurface(x, triangles, sharp_edges(x, triangles)), "plate", np.arange(n)
    elif n == 1:
        surface, kind, owner = (
            (ball := sphere(x[0], 2 * MIN_WIDTH * size)),
            "mass",
            np.zeros(len(ball.points), dtype=int),
        )
    elif is_cloud(x):
        surface, kind, owner = TriangleSurface(x, none, none[:, :2]), "nodes", np.arange(n)
    else:
        bars = [cylinder(a, b, 0.5 * MIN_WIDTH * size) for a, b in pairwise(x) if np.any(a != b)]
        surface, kind = merge_surfaces(*bars), "beam"
        owner = cKDTree(x).query(surface.points)[1]
    rows = np.zeros((3 * len(owner), 0))
    return Drawing(
        kind,
        surface.points,
        rows,
        surface.triangles,
        surface.edges[:0] if kind == "beam" else surface.edges,
        surface.normals,
    ), owner


def body_motion(result: Result, name: str, at: np.ndarray) -> BodyMotion:
    """The motion of a body at the output times with these numbers."""
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
    return BodyMotion(filled("r_P", 0), A, of("eta"), filled("v_P", 0), filled("omega", 3), of("eta_dot"), of("sigma"))


def _with_ports(
    body: Body, kind: str, surface: TriangleSurface, rows: np.ndarray, cauchy: np.ndarray | None = None
) -> Drawing:
    """The drawing with the ports as further points."""
    names, n = list(body.ports), len(surface.points)
    x = np.array([body.ports[name].x for name in names]).reshape(-1, 3)
    moved = np.vstack([rows, *(body.ports[name].Phi for name in names)])
    normals = None if surface.normals is None else np.vstack([surface.normals, np.tile([0.0, 0.0, 1.0], (len(x), 1))])
    stress = np.zeros((0, 0)) if cauchy is None else np.vstack([cauchy, np.zeros((6 * len(x), cauchy.shape[1]))])
    return Drawing(
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


def _beam(body: Body, beam: Beam, size: float) -> Drawing:
    s = body.shape.places()
    if len(s) > MAX_PLACES:
        s = s[np.unique(np.linspace(0, len(s) - 1, MAX_PLACES).round().astype(int))]
    rings, is_round = section_outlines(beam, s)
    width = float(np.ptp(rings, axis=1).max())
    thicker, thin = max(1.0, min(MIN_WIDTH * size, STOUT * beam.length) / width), width < SLENDER * size
    surface, owner = sweep_sections(beam.length * s, thicker * rings, is_round=is_round)
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


def _plate(body: Body, shape: PlateShape, mesh: Mesh) -> Drawing:
    places = body.shape.places()
    triangles, _ = mesh_surface(mesh)
    half = 0.5 * shape.section.height(places[:, :2])
    surface = plate_surface(places, triangles, half)
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


def _solid(body: Body, mesh: Mesh) -> Drawing:
    triangles, edges = mesh_surface(mesh)
    used, numbers = np.unique(triangles, return_inverse=True)
    new = np.zeros(len(mesh.points), dtype=int)
    new[used] = np.arange(len(used))
    places = body.shape.places()
    rows = body.shape.displacement(places).toarray().reshape(len(places), 3, -1)[used]
    node, x = _near(mesh, used)
    cauchy = _averaged(body.shape, node, x, used)
    surface = TriangleSurface(places[used], numbers.reshape(triangles.shape), new[edges])
    kind = "solid" if mesh.dimension == 3 else "plate"
    return _with_ports(body, kind, surface, rows.reshape(3 * len(used), -1), cauchy.reshape(6 * len(used), -1))


def _near(mesh: Mesh, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points slightly inside each cell near each of these nodes, with their nodes."""
    middle = mesh.points[mesh.corners].mean(axis=1)
    wanted = np.zeros(len(mesh.points), dtype=bool)
    wanted[nodes] = True
    owner, local = np.nonzero(wanted[mesh.cells])
    node = mesh.cells[owner, local]
    return node, (1.0 - INSIDE) * mesh.points[node] + INSIDE * middle[owner]


def _averaged(shape: Shape, node: np.ndarray, x: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The stress at nodes, averaged over the cells that meet there, (nodes, 6, stresses)."""
    row = np.searchsorted(nodes, node)
    weight = 1.0 / np.bincount(row, minlength=len(nodes))[row]
    mean = sp.csr_array((weight, (row, np.arange(len(node)))), shape=(len(nodes), len(node)))
    return (csr(sp.kron(mean, sp.eye_array(6))) @ shape.cauchy(x)).toarray().reshape(len(nodes), 6, -1)


def is_cloud(points: np.ndarray) -> bool:
    """Whether the points of an undeformed body are many and not on a line: nodes of a mesh without known facets."""
    if len(points) <= FEW:
        return False
    sizes = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(sizes[1] > ON_LINE * sizes[0])


def _nodes(body: Body) -> Drawing:
    places = body.shape.places()
    x, n = body.shape.points(places), len(places)
    empty, rows = np.zeros((0, 3), dtype=int), body.shape.displacement(places).toarray()
    edges = np.zeros((0, 2), dtype=int) if is_cloud(x) else np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return _with_ports(body, "nodes", TriangleSurface(x, empty, edges), rows)


# --- rigid bodies ----------------------------------------------------------------------------------------------------


def _rigid(body: Body, kind: str, surface: TriangleSurface) -> Drawing:
    return _with_ports(body, kind, surface, np.zeros((3 * len(surface.points), 0)))


# --- rigid bodies ----------------------------------------------------------------------------------------------------
#
# Rigid bodies are drawn as spheres, boxes and cylinders of the same mass and inertia, with bars to their ports.


STEEL = 7850.0  # kg/m³


def ball(recipe: PointMass, least: float, most: float) -> TriangleSurface:
    """A point mass as a sphere of steel, with a radius between `least` and `most`."""
    radius = (3.0 * recipe.mass / (4.0 * np.pi * STEEL)) ** (1 / 3)
    return sphere(np.zeros(3), float(np.clip(radius, least, most)))


def block(recipe: RigidBody, thin: float, most: float) -> TriangleSurface:
    """The homogeneous box or round bar with the mass and inertia of a rigid body, with bars to ports outside of it.

    It is made smaller where it would cover a port; no side is thinner than `thin` or longer than `most`.
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
        body = box_surface(center, axes, sides)
    else:
        half, radius = 0.5 * sides[k] * axes[:, k], shrunk * float(np.sqrt(2.0 * J[k] / recipe.mass))
        body = cylinder(center - half, center + half, max(radius, 0.5 * thin), 32)
    bars = [
        cylinder(center, center + x, 0.6 * thin, 12) for x, far in zip(ports, out, strict=True) if far > 1.02 * shrunk
    ]
    return merge_surfaces(body, *bars)


def _axis(J: np.ndarray) -> int | None:
    """The number of the axis of symmetry: the other two moments are equal and differ from that one; None if there is none."""
    for k in range(3):
        a, b = (float(value) for value in np.delete(J, k))
        if abs(a - b) <= 1e-6 * b and abs(float(J[k]) - a) > 1e-6 * b:
            return k
    return None
