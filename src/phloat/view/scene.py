"""Drawings of bodies: points in body axes with their displacement per coordinate, and triangles and lines between them."""

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
from phloat.bodies.continua.continuum import Continuum, innermost, mesh_of
from phloat.bodies.plates.shape import PlateShape
from phloat.bodies.rigid import PointMass, RigidBody
from phloat.bodies.shape import Shape, second_displacement
from phloat.fem.mesh import Mesh
from phloat.linear.form.fields import Field
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

MIN_WIDTH = 1 / 160  # relative to the size of the scene: thinner sections are drawn with this width
SLENDER = 1 / 50  # relative to the size of the scene: thinner beams have one line along them instead of edges
STOUT = 0.2  # relative to its length: a beam is not thickened beyond this width
MAX_PLACES = 65  # along a beam
INWARDS = 0.02  # the stress of a cell at its node is evaluated at this fraction of the way from the node to the middle
MAX_RIGID_POINTS = 16  # up to so many points are joined by a line though they are not on one: ports of a rigid body
ON_LINE = 1e-6  # tolerance of points on a straight line, relative to its length
ONE_PLACE = 1e-9  # relative to their distance from the origin: points nearer to each other are in one place
BEYOND = 0.03  # relative to the size of the scene: a rail is longer than the travel by this at both ends


@dataclass(frozen=True, eq=False, kw_only=True)
class Drawing(TriangleSurface):
    """A surface or line whose undeformed points (n, 3) in body axes are displaced by rows · η; `rows` is (3n, coordinates).

    Where the displacement is quadratic (slaved shortening), products η_iη_j follow the coordinates (`extended`).

    `cauchy` (6n, stresses) times σ is the stress at the points, xx, yy, zz, yz, xz, xy of each in turn; it is empty for a rigid
    body. `ports` has the index of the point of each port. `kind` is "beam", "plate", "solid", "rigid", "mass" or "nodes"
    (points without triangles). A `thin` beam has edges along its axis, so that it is visible from far away.

    The methods also take a motion (`body_motion`) for a pose; what they return then has time as its first axis.
    """

    kind: str
    rows: np.ndarray
    cauchy: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    ports: Mapping[str, int] = field(default_factory=dict)
    thin: bool = False

    def at(self, pose: Pose, magnified: float = 1.0) -> np.ndarray:
        """The positions of the points in inertial axes (m), (n, 3), with deformation times `magnified`."""
        y = self.points + magnified * self.displacement(pose)
        return np.asarray(pose.r_P[..., None, :] + y @ np.swapaxes(pose.A, -1, -2))

    def velocity(self, pose: Pose) -> np.ndarray:
        """The velocities of the points in body axes (m/s), (n, 3)."""
        y, rates = self.points + self.displacement(pose), self._vectors(self.extended(pose).rates)
        return np.asarray(pose.v_P[..., None, :] + np.cross(pose.omega[..., None, :], y) + rates)

    def displacement(self, pose: Pose) -> np.ndarray:
        """The displacements of the points in body axes (m), (n, 3)."""
        return self._vectors(self.extended(pose).eta)

    def extended(self, pose: Pose) -> Pose:
        """The pose with the products η_iη_j, i ≤ j, after η and their rates after η̇, if the displacement is quadratic."""
        a, b, (i, j) = pose.eta, pose.rates, np.triu_indices(pose.eta.shape[-1])
        if self.rows.shape[1] == a.shape[-1]:
            return pose
        products, by_rates = a[..., i] * a[..., j], a[..., i] * b[..., j] + b[..., i] * a[..., j]
        return pose._replace(eta=np.concatenate([a, products], -1), rates=np.concatenate([b, by_rates], -1))

    def stress(self, sigma: np.ndarray) -> np.ndarray:
        """The von Mises stress at the points (Pa), (n,); zero for a rigid body."""
        if not self.cauchy.size:
            return np.zeros((*sigma.shape[:-1], len(self.points)))
        return von_mises((sigma @ self.cauchy.T).reshape(*sigma.shape[:-1], -1, 6))

    def with_points(self, x: np.ndarray, rows: np.ndarray) -> Drawing:
        """The same drawing with further points x (n, 3), which move by rows · η and have no triangles and no stress."""
        normals = None if self.normals is None else np.vstack([self.normals, np.tile([0.0, 0.0, 1.0], (len(x), 1))])
        stress = np.zeros((6 * len(x) if self.cauchy.size else 0, self.cauchy.shape[1]))
        points, rows = np.vstack([self.points, x]), np.vstack([self.rows, rows])
        return replace(self, points=points, rows=rows, normals=normals, cauchy=np.vstack([self.cauchy, stress]))

    def _vectors(self, eta: np.ndarray) -> np.ndarray:
        """rows · η as vectors, (n, 3), in body axes."""
        return (eta @ self.rows.T).reshape(*eta.shape[:-1], -1, 3)


def scene(system: System, state: State, size: float | None = None, *, plain: bool = False) -> dict[str, Drawing]:
    """The drawings of all bodies, `plain` ones for figures; identical bodies share one. Thin bodies are thickened relative to the
    size of the scene (default: that in the state)."""
    size, draw = size or scene_size(system, state), plain_drawing if plain else body_drawing
    drawings = {key: draw(body, size) for key, body in {id(body): body for body in system.bodies.values()}.items()}
    return {name: drawings[id(body)] for name, body in system.bodies.items()}


def scene_size(system: System, *states: State) -> float:
    """The diagonal (m) of the box around all undeformed bodies, their ports and mass centres, in all of these states."""
    points = []
    for name, body in system.bodies.items():
        ports, centre = [port.x for port in body.ports.values()], body.inertia.s0 / body.inertia.m
        local = np.vstack([body.shape.points(body.shape.places()), *ports, centre])
        points += [pose.r_P + local @ pose.A.T for pose in (state.pose(name) for state in states)]
    size = float(np.linalg.norm(np.ptp(np.vstack(points), axis=0)))
    return size if size > ONE_PLACE * float(np.abs(np.vstack(points)).max(initial=0.0)) else 1.0


def body_drawing(body: Body | Continuum, size: float) -> Drawing:
    """The drawing of a body by its recipe, in a scene of this size (m); without stresses if it has none, or is a continuum."""
    if isinstance(body, Continuum):
        return _mesh_drawing(body, body.mesh)
    recipe, mesh = body.recipe, mesh_of(body)
    if isinstance(recipe, PointMass):
        return _drawing_with_ports(body, "mass", ball(recipe, 1.5 * MIN_WIDTH * size, 0.04 * size))
    if isinstance(recipe, RigidBody):
        return _drawing_with_ports(body, "rigid", block(recipe, MIN_WIDTH * size, size))
    if isinstance(recipe, Beam):
        return _beam_drawing(body, recipe, size)
    if mesh is not None:
        return _mesh_drawing(body, mesh)
    drawn = line_drawing(body)
    return _drawing_with_ports(body, "nodes", drawn, drawn.rows)


def line_drawing(body: Body) -> Drawing:
    """A drawing without triangles and ports: the places of a body's shape, joined by a line unless they are nodes of a mesh."""
    places = body.shape.places()
    x, n = body.shape.points(places), len(places)
    edges = np.zeros((0, 2), dtype=int) if is_cloud(x) else np.column_stack([np.arange(n - 1), np.arange(1, n)])
    rows = _with_products(body.shape.displacement(places).toarray(), second_displacement(body.shape, places))
    return Drawing(x, np.zeros((0, 3), dtype=int), edges, kind="nodes", rows=rows)


def plain_drawing(body: Body, size: float) -> Drawing:
    """The drawing of a body in figures: plates, solids and rigid bodies as surfaces, other bodies as lines or points."""
    drawn = body_drawing(body, size)
    return drawn if drawn.kind in ("plate", "solid", "rigid") else line_drawing(body)


def field_drawing(part: Field, size: float) -> tuple[Drawing, np.ndarray]:
    """The drawing of a field of a linear system, with empty `rows`, and the index of the field point that each point follows."""
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


def rails(system: System, coordinates: Mapping[str, np.ndarray], size: float) -> dict[str, tuple[str, Drawing]]:
    """For each joint with a slide: the body of its first port ("" is the ground), and its rail in the axes of that body: a line of
    two points, from zero over the whole range of the `coordinates`, in a scene of this size (m)."""
    out = {}
    for name, c in system.joints.items():
        if (slide := coordinates.get(f"{name}.slide")) is None:
            continue
        ends = np.array([min(0.0, np.min(slide)) - BEYOND * size, max(0.0, np.max(slide)) + BEYOND * size])
        x, line = ends[:, None] * c.first.triad[:, 2], np.array([[0, 1]])
        rows, start = np.zeros((6, 0)), c.first.at
        if c.first.body:
            port = system.bodies[c.first.body].port(c.first.port)
            turned = [port.Phi + np.cross(port.Psi, arm[:, None], axis=0) for arm in x]
            second = None if port.Phi_2 is None else np.tile(port.Phi_2, (2, 1, 1))
            rows, start = _with_products(np.vstack(turned), second), port.x
        out[name] = c.first.body, Drawing(start + x, np.zeros((0, 3), dtype=int), line, kind="nodes", rows=rows)
    return out


def body_motion(result: Result, name: str, indices: np.ndarray) -> Pose:
    """The motion of a body at the output times with these indices: a pose whose arrays have time as first axis."""
    body, layout, e = result.system.bodies[name], result.system.layout, result.e[indices]

    def get(quantity: str) -> np.ndarray:
        """The quantity of the body over time; without columns if the body has none."""
        key = f"{name}.{quantity}"
        return e[:, layout[key]] if key in layout else np.zeros((len(e), 0))

    def filled(quantity: str, offset: int) -> np.ndarray:
        """A vector over time with all three components, those outside a plane zero; offset 0: linear, 3: angular."""
        out = np.zeros((len(e), 3))
        out[:, [i - offset for i in body.active if offset <= i < offset + 3]] = get(quantity)
        return out

    A = np.tile(np.eye(3), (len(e), 1, 1))
    if f"{name}.A_IB" in layout:
        A = get("A_IB").reshape(-1, 3, 3)
    elif f"{name}.theta" in layout:
        A = Rotation.from_euler("z", get("theta")).as_matrix()
    return Pose(filled("r_P", 0), A, get("eta"), filled("v_P", 0), filled("omega", 3), get("eta_dot"), get("sigma"))


def pose_at(motion: Pose, k: int | np.ndarray) -> Pose:
    """The pose at the k-th time of a motion, or the motion at several times."""
    return Pose(*(part[k] for part in motion))


def _drawing_with_ports(
    body: Body | Continuum,
    kind: str,
    surface: TriangleSurface,
    rows: np.ndarray | None = None,
    cauchy: np.ndarray | None = None,
    *,
    thin: bool = False,
) -> Drawing:
    """The drawing of a surface; the ports of the body become further points of it, without stress."""
    ports = body.ports if isinstance(body, Body) else {}
    x, n = np.array([port.x for port in ports.values()]).reshape(-1, 3), len(surface.points)
    rows = np.zeros((3 * n, 0)) if rows is None else rows
    shape = (surface.points, surface.triangles, surface.edges, surface.normals)
    drawn = Drawing(*shape, kind=kind, rows=rows, cauchy=np.zeros((0, 0)) if cauchy is None else cauchy, thin=thin)
    moved = [np.zeros((0, rows.shape[1])), *(_with_products(port.Phi, port.Phi_2) for port in ports.values())]
    return replace(drawn.with_points(x, np.vstack(moved)), ports={name: n + k for k, name in enumerate(ports)})


# --- beams, plates, solids -------------------------------------------------------------------------------------------


def _beam_drawing(body: Body, beam: Beam, size: float) -> Drawing:
    """The surface of a beam through its section outlines, with the matrix of its motion u_f + θ × (0, y, z) and its stresses.

    A slender beam is drawn thicker than it is.
    """
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
    Phi, Psi = _displacement_and_rotation(body.shape, s)
    arm = surface.points * [0.0, 1.0, 1.0]
    rows = Phi[owner] + np.cross(Psi[owner], arm[:, :, None], axis=1)  # θ × (0, y, z)
    material = surface.points * [1.0, 1.0 / thicker, 1.0 / thicker]
    cauchy = body.shape.cauchy(material).toarray() if body.stresses else None
    second, each = second_displacement(body.shape, s), (3 * owner[:, None] + np.arange(3)).ravel()
    rows = _with_products(rows.reshape(len(each), -1), None if second is None else second[each])
    return _drawing_with_ports(body, "beam", surface, rows, cauchy, thin=thin)


def _mesh_drawing(body: Body | Continuum, mesh: Mesh) -> Drawing:
    """The surface of a body on a mesh: both faces of a plate, the outside of a solid, the cells of a sheet."""
    places, base, stresses = body.shape.places(), innermost(body.shape), body.stresses if isinstance(body, Body) else 0
    triangles, edges = mesh_surface(mesh)
    used, numbers = np.unique(triangles, return_inverse=True)
    if not isinstance(base, PlateShape):
        surface = TriangleSurface(places[used], numbers.reshape(triangles.shape), np.searchsorted(used, edges))
        rows = body.shape.displacement(places).toarray().reshape(len(places), 3, -1)[used].reshape(3 * len(used), -1)
        cauchy = _nodal_stress(body.shape, mesh, used).reshape(6 * len(used), -1) if stresses else np.zeros((0, 0))
        return _drawing_with_ports(body, "solid" if mesh.dimension == 3 else "plate", surface, rows, cauchy)
    n, half = len(places), 0.5 * base.section.height(places[:, :2])
    Phi, Psi = _displacement_and_rotation(body.shape, places)
    lever = np.cross(Psi, np.column_stack([np.zeros((n, 2)), half])[:, :, None], axis=1)
    on_faces = np.zeros((2 * n, 6, stresses))
    for side, first in ((0.5, 0), (-0.5, n)) if stresses else ():
        on_faces[first + used] = _nodal_stress(body.shape, mesh, used, base, side)
    rows = np.concatenate([Phi + lever, Phi - lever]).reshape(6 * n, -1)
    return _drawing_with_ports(
        body, "plate", plate_surface(places, triangles, half), rows, on_faces.reshape(12 * n, -1)
    )


def _with_products(rows: np.ndarray, second: np.ndarray | None) -> np.ndarray:
    """Rows Φ with the columns of Φ₂ for the products η_iη_j, i ≤ j, if there are any: Φη + ½ ηΦ₂η."""
    if second is None:
        return rows
    i, j = np.triu_indices(rows.shape[1])
    return np.hstack([rows, np.where(i == j, 0.5, 1.0) * second[:, i, j]])


def _displacement_and_rotation(shape: Shape, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Displacement Φ and rotation Ψ per coordinate at places, each (places, 3, coordinates)."""
    Phi, Psi = shape.displacement(places).toarray(), shape.rotation(places).toarray()
    return Phi.reshape(len(places), 3, -1), Psi.reshape(len(places), 3, -1)


def _nodal_stress(
    shape: Shape, mesh: Mesh, nodes: np.ndarray, plate: PlateShape | None = None, side: float = 0.0
) -> np.ndarray:
    """The stress per σ at nodes, mean of the cells that meet there, (nodes, 6, stresses); of a plate at z = side · height."""
    owner, local = np.nonzero(np.isin(mesh.cells, nodes))
    node = mesh.cells[owner, local]
    x = (1.0 - INWARDS) * mesh.points[node] + INWARDS * mesh.points[mesh.corners].mean(axis=1)[owner]
    if plate is not None:
        x = np.column_stack([x[:, :2], side * plate.section.height(x[:, :2])])
    row = np.searchsorted(nodes, node)
    weight = 1.0 / np.bincount(row)[row]
    mean = sp.csr_array((weight, (row, np.arange(len(node)))), shape=(len(nodes), len(node)))
    return (csr(sp.kron(mean, sp.eye_array(6))) @ shape.cauchy(x)).toarray().reshape(len(nodes), 6, -1)


def is_cloud(points: np.ndarray) -> bool:
    """Whether more than MAX_RIGID_POINTS points do not lie on a straight line: they are nodes of a mesh and drawn as dots."""
    if len(points) <= MAX_RIGID_POINTS:
        return False
    sizes = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(sizes[1] > ON_LINE * sizes[0])


# --- rigid bodies ----------------------------------------------------------------------------------------------------
#
# Point masses are drawn as spheres, rigid bodies as boxes or cylinders with the same mass and inertia and bars to their ports.


STEEL = 7850.0  # kg/m³


def ball(recipe: PointMass, least: float, most: float) -> TriangleSurface:
    """A sphere of steel with the mass of a point mass, its radius (m) limited to `least` … `most`."""
    radius = (3.0 * recipe.mass / (4.0 * np.pi * STEEL)) ** (1 / 3)
    return sphere(np.zeros(3), float(np.clip(radius, least, most)))


def block(recipe: RigidBody, thin: float, most: float) -> TriangleSurface:
    """The homogeneous box or cylinder with the mass and inertia of a rigid body, and bars to the ports outside of it.

    It is scaled down so that it covers no port and no side is longer than `most`; no side is thinner than `thin` (m).
    """
    center = np.asarray(recipe.center, dtype=float)
    J, axes = np.linalg.eigh(np.asarray(recipe.inertia, dtype=float))
    sides = np.sqrt(np.maximum(6.0 * (J.sum() - 2.0 * J) / recipe.mass, 0.0))
    ports = np.array([np.zeros(3), *(np.asarray(x, dtype=float) for x in recipe.ports.values())]) - center
    out = (np.abs(ports @ axes) / np.maximum(0.5 * sides, 0.5 * thin)).max(axis=1)  # 1 on the faces of the box
    distant = np.linalg.norm(ports, axis=1) > thin
    shrunk = min(1.0, float(out[distant].min(initial=np.inf)), most / max(float(sides.max()), thin))
    sides = np.maximum(shrunk * sides, thin)
    body = box_surface(center, axes, sides)
    for k, a, b in ((0, J[1], J[2]), (2, J[0], J[1])):  # J ascends: the axis of a round bar is the first or the last
        if b - a > 1e-6 * b or abs(J[k] - a) <= 1e-6 * b:
            continue
        half, radius = 0.5 * sides[k] * axes[:, k], shrunk * float(np.sqrt(2.0 * J[k] / recipe.mass))
        body = cylinder(center - half, center + half, max(radius, 0.5 * thin), 32)
    return merge_surfaces(body, *(cylinder(center, center + x, 0.6 * thin, 12) for x in ports[out > 1.02 * shrunk]))
