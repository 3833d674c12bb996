"""Bodies as drawings: points in body axes that move with the body's coordinates, with triangles and lines between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

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
    as_triangles,
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Drawing(TriangleSurface):
    """A surface or line whose points (n, 3) in body axes are moved by `rows` (3n, coordinates) of a body.

    `cauchy` (6n, stresses) gives the stress at the points, xx, yy, zz, yz, xz, xy of each in turn; it has no columns for a rigid
    body. `ports` are the numbers of the points of the ports. `kind` is "beam", "plate", "solid", "rigid", "mass" or "nodes"
    (points without triangles). A `thin` beam has a line along it, so that it is visible from afar.

    A pose may also be a motion, `body_motion`; what is returned then has time as its first axis.
    """

    kind: str
    rows: np.ndarray
    cauchy: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    ports: Mapping[str, int] = field(default_factory=dict)
    thin: bool = False

    def at(self, pose: Pose, magnified: float = 1.0) -> np.ndarray:
        """The points in inertial axes, (n, 3)."""
        y = self.points + magnified * self._moved(pose.eta)
        return np.asarray(pose.r_P[..., None, :] + y @ np.swapaxes(pose.A, -1, -2))

    def velocity(self, pose: Pose) -> np.ndarray:
        """The velocities of the points in body axes, (n, 3)."""
        y = self.points + self._moved(pose.eta)
        return np.asarray(pose.v_P[..., None, :] + np.cross(pose.omega[..., None, :], y) + self._moved(pose.rates))

    def stress(self, sigma: np.ndarray) -> np.ndarray:
        """The von Mises stress at the points, (n,); zero for a rigid body."""
        if not self.cauchy.size:
            return np.zeros((*sigma.shape[:-1], len(self.points)))
        return von_mises((sigma @ self.cauchy.T).reshape(*sigma.shape[:-1], -1, 6))

    def _moved(self, eta: np.ndarray) -> np.ndarray:
        return (eta @ self.rows.T).reshape(*eta.shape[:-1], -1, 3)


def scene(system: System, state: State, size: float | None = None, *, plain: bool = False) -> dict[str, Drawing]:
    """The drawings of all bodies of a system, or plain ones; its size is that in the state by default. Equal bodies share one."""
    size, draw = size or scene_size(system, state), plain_drawing if plain else body_drawing
    known = {key: draw(body, size) for key, body in {id(body): body for body in system.bodies.values()}.items()}
    return {name: known[id(body)] for name, body in system.bodies.items()}


def scene_size(system: System, *states: State) -> float:
    """The diagonal of the box around all bodies, their ports and mass centres, in all of these states."""
    points = []
    for name, body in system.bodies.items():
        ports, centre = [port.x for port in body.ports.values()], body.inertia.s0 / body.inertia.m
        local = np.vstack([body.shape.points(body.shape.places()), *ports, centre])
        points += [pose.r_P + local @ pose.A.T for pose in (state.pose(name) for state in states)]
    return float(np.linalg.norm(np.ptp(np.vstack(points), axis=0))) or 1.0


def body_drawing(body: Body, size: float) -> Drawing:
    """The drawing of a body in a scene of that size."""
    recipe, mesh = body.recipe, mesh_of(body)
    if isinstance(recipe, PointMass):
        return _drawing(body, "mass", ball(recipe, 1.5 * MIN_WIDTH * size, 0.04 * size))
    if isinstance(recipe, RigidBody):
        return _drawing(body, "rigid", block(recipe, MIN_WIDTH * size, 0.6 * size))
    if isinstance(recipe, Beam):
        return _beam(body, recipe, size)
    if mesh is not None:
        return _on_mesh(body, mesh)
    drawn = line_drawing(body)
    return _drawing(body, "nodes", drawn, drawn.rows)


def line_drawing(body: Body) -> Drawing:
    """The places by which a body is drawn, joined by lines, unless they are the nodes of a mesh; without ports."""
    places = body.shape.places()
    x, n = body.shape.points(places), len(places)
    edges = np.zeros((0, 2), dtype=int) if is_cloud(x) else np.column_stack([np.arange(n - 1), np.arange(1, n)])
    rows = body.shape.displacement(places).toarray()
    return Drawing(x, np.zeros((0, 3), dtype=int), edges, kind="nodes", rows=rows)


def plain_drawing(body: Body, size: float) -> Drawing:
    """The drawing of a body in figures: plates, solids and rigid bodies by their surface, others by lines and points."""
    drawn = body_drawing(body, size)
    return drawn if drawn.kind in ("plate", "solid", "rigid") else line_drawing(body)


def field_drawing(part: Field, size: float) -> tuple[Drawing, np.ndarray]:
    """The drawing of a field of a linear system, without rows, and the point of the field that each of its points follows."""
    x, none = part.points, np.zeros((0, 3), dtype=int)
    if part.facets is not None:
        triangles = as_triangles(part.facets)
        kind, surface = "plate", TriangleSurface(x, triangles, sharp_edges(x, triangles))
    elif len(x) == 1:
        kind, surface = "mass", sphere(x[0], 2 * MIN_WIDTH * size)
    elif is_cloud(x):
        kind, surface = "nodes", TriangleSurface(x, none, none[:, :2])
    else:
        bars = [cylinder(a, b, 0.5 * MIN_WIDTH * size) for a, b in pairwise(x) if np.any(a != b)]
        kind, surface = "beam", replace(merge_surfaces(*bars), edges=none[:, :2])
    owner = cKDTree(x).query(surface.points)[1] if kind in ("beam", "mass") else np.arange(len(x))
    return Drawing(**vars(surface), kind=kind, rows=np.zeros((3 * len(owner), 0))), owner


def body_motion(result: Result, name: str, at: np.ndarray) -> Pose:
    """The motion of a body at the output times with these numbers: a pose with time as the first axis of its parts."""
    body, layout, e = result.system.bodies[name], result.system.layout, result.e[at]

    def of(quantity: str) -> np.ndarray:
        key = f"{name}.{quantity}"
        return e[:, layout[key]] if key in layout else np.zeros((len(e), 0))

    def filled(quantity: str, offset: int) -> np.ndarray:
        out = np.zeros((len(e), 3))
        out[:, [i - offset for i in body.active if offset <= i < offset + 3]] = of(quantity)
        return out

    A = np.tile(np.eye(3), (len(e), 1, 1))
    if f"{name}.A_IB" in layout:
        A = of("A_IB").reshape(-1, 3, 3)
    elif f"{name}.theta" in layout:
        A = Rotation.from_euler("z", of("theta")).as_matrix()
    return Pose(filled("r_P", 0), A, of("eta"), filled("v_P", 0), filled("omega", 3), of("eta_dot"), of("sigma"))


def pose_at(motion: Pose, k: int | np.ndarray) -> Pose:
    """The pose at the k-th time of a motion, or the motion at several."""
    return Pose(*(part[k] for part in motion))


def _drawing(
    body: Body,
    kind: str,
    surface: TriangleSurface,
    rows: np.ndarray | None = None,
    cauchy: np.ndarray | None = None,
    *,
    thin: bool = False,
) -> Drawing:
    """The drawing with the ports as further points."""
    x, n = np.array([port.x for port in body.ports.values()]).reshape(-1, 3), len(surface.points)
    rows = np.zeros((3 * n, 0)) if rows is None else rows
    return Drawing(
        np.vstack([surface.points, x]),
        surface.triangles,
        surface.edges,
        None if surface.normals is None else np.vstack([surface.normals, np.tile([0.0, 0.0, 1.0], (len(x), 1))]),
        kind=kind,
        rows=np.vstack([rows, *(port.Phi for port in body.ports.values())]),
        cauchy=np.zeros((0, 0)) if cauchy is None else np.vstack([cauchy, np.zeros((6 * len(x), cauchy.shape[1]))]),
        ports={name: n + k for k, name in enumerate(body.ports)},
        thin=thin,
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
    Phi, Psi = _fields(body.shape, s)
    arm = surface.points * [0.0, 1.0, 1.0]
    rows = Phi[owner] + np.cross(Psi[owner], arm[:, :, None], axis=1)  # θ × (0, y, z)
    true = surface.points * [1.0, 1.0 / thicker, 1.0 / thicker]
    cauchy = body.shape.cauchy(true).toarray() if body.stresses else None
    return _drawing(body, "beam", surface, rows.reshape(3 * len(owner), -1), cauchy, thin=thin)


def _on_mesh(body: Body, mesh: Mesh) -> Drawing:
    """Both faces of a plate, or the surface of the mesh with the nodes on it."""
    places, base = body.shape.places(), innermost(body.shape)
    triangles, edges = mesh_surface(mesh)
    used, numbers = np.unique(triangles, return_inverse=True)
    if not isinstance(base, PlateShape):
        surface = TriangleSurface(places[used], numbers.reshape(triangles.shape), np.searchsorted(used, edges))
        rows = body.shape.displacement(places).toarray().reshape(len(places), 3, -1)[used].reshape(3 * len(used), -1)
        cauchy = _nodal_stress(body.shape, mesh, used).reshape(6 * len(used), -1)
        return _drawing(body, "solid" if mesh.dimension == 3 else "plate", surface, rows, cauchy)
    n, half = len(places), 0.5 * base.section.height(places[:, :2])
    Phi, Psi = _fields(body.shape, places)
    lever = np.cross(Psi, np.column_stack([np.zeros((n, 2)), half])[:, :, None], axis=1)
    cauchy = np.zeros((2 * n, 6, body.stresses))
    for side, first in ((0.5, 0), (-0.5, n)):
        cauchy[first + used] = _nodal_stress(body.shape, mesh, used, base, side)
    rows = np.concatenate([Phi + lever, Phi - lever]).reshape(6 * n, -1)
    return _drawing(body, "plate", plate_surface(places, triangles, half), rows, cauchy.reshape(12 * n, -1))


def _fields(shape: Shape, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Φ and Ψ at places, (places, 3, coordinates)."""
    Phi, Psi = shape.displacement(places).toarray(), shape.rotation(places).toarray()
    return Phi.reshape(len(places), 3, -1), Psi.reshape(len(places), 3, -1)


def _nodal_stress(
    shape: Shape, mesh: Mesh, nodes: np.ndarray, plate: PlateShape | None = None, side: float = 0.0
) -> np.ndarray:
    """The stress at nodes, averaged over the cells that meet there, (nodes, 6, stresses); of a plate at `side` of its height."""
    owner, local = np.nonzero(np.isin(mesh.cells, nodes))
    node = mesh.cells[owner, local]
    x = (1.0 - INSIDE) * mesh.points[node] + INSIDE * mesh.points[mesh.corners].mean(axis=1)[owner]
    if plate is not None:
        x = np.column_stack([x[:, :2], side * plate.section.height(x[:, :2])])
    row = np.searchsorted(nodes, node)
    weight = 1.0 / np.bincount(row)[row]
    mean = sp.csr_array((weight, (row, np.arange(len(node)))), shape=(len(nodes), len(node)))
    return (csr(sp.kron(mean, sp.eye_array(6))) @ shape.cauchy(x)).toarray().reshape(len(nodes), 6, -1)


def is_cloud(points: np.ndarray) -> bool:
    """Whether the points of an undeformed body are many and not on a line: nodes of a mesh without known facets."""
    if len(points) <= FEW:
        return False
    sizes = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(sizes[1] > ON_LINE * sizes[0])


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
    body = box_surface(center, axes, sides)
    for k, a, b in ((0, J[1], J[2]), (2, J[0], J[1])):  # J ascends: the axis of a round bar is the first or the last
        if b - a > 1e-6 * b or abs(J[k] - a) <= 1e-6 * b:
            continue
        half, radius = 0.5 * sides[k] * axes[:, k], shrunk * float(np.sqrt(2.0 * J[k] / recipe.mass))
        body = cylinder(center - half, center + half, max(radius, 0.5 * thin), 32)
    return merge_surfaces(body, *(cylinder(center, center + x, 0.6 * thin, 12) for x in ports[out > 1.02 * shrunk]))
