"""Modes as motions of bodies of their true shapes: drawings, amplitudes, positions, and figures.

A rigid body moves by a true rotation. An elastic body in an open chain does so by its mean motion and deforms to first order; its
joint is then put where the other end of the joint is. In loops, and where bodies are tied, elastic bodies move to first order
altogether, so that loops stay closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from phloat.algebra.sparse import csr
from phloat.bodies.body import Body
from phloat.bodies.shape import Combined, rigid_motions
from phloat.bodies.strain import no_elastic
from phloat.errors import InputError
from phloat.linear.analysis.modes import Modes
from phloat.linear.form.fields import Field
from phloat.system.connection import End
from phloat.system.joint_rows import joint_coordinates
from phloat.system.state import Pose, State
from phloat.system.system import System
from phloat.view.figures import MAX_LEGEND, colour_cycle, label_text
from phloat.view.mechanism import RAIL, draw_line, draw_surface, drawn_coordinates, frame_axes, new_axes
from phloat.view.page.pack import compress_motion, principal_shapes
from phloat.view.scene import Drawing, body_drawing, field_drawing, rails, scene_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AMPLITUDE = 0.08  # largest displacement of a mode, relative to the size of the scene
STILL = 1e-3  # relative to the size of the scene: bodies that move less are not drawn at rest, too
GHOST = (0.55, 0.6, 0.65, 0.25)  # colour of bodies at rest
LIGHT = np.array([-0.3, -0.5, 0.8])  # the direction from which figures in space are lit
MOST_LETTERS = 68  # in a line of a title
MOST_COORDINATES = 60  # of a body in a linear run: with more, its motion is that of few shapes
MOST_TURN = 0.5  # rad, largest rotation of a mode: it limits torsion, and bodies small beside the scene


@dataclass(frozen=True, eq=False)
class MovingBody:
    """A body that moves by amplitudes q: the `rows` of its drawing map q to the deformation, `twists` (amplitudes, 6) to (v, ω).

    `pose` is that at rest, `turns` the largest rotation of a section by each amplitude (rad).
    """

    drawn: Drawing
    pose: Pose
    twists: np.ndarray
    turns: np.ndarray

    def at_rest(self) -> np.ndarray:
        """The points at rest, in inertial axes."""
        return np.asarray(self.pose.r_P + self.drawn.points @ self.pose.A.T)

    def displacements(self) -> np.ndarray:
        """The displacement of each point by each amplitude, to first order, in inertial axes, (points, 3, amplitudes)."""
        v, omega = self.twists[:, :3].T, self.twists[:, 3:].T
        turned = np.cross(omega[None], self.drawn.points[:, :, None], axisa=1, axisb=1, axisc=1)
        return np.asarray(self.pose.A @ (v + turned + self.drawn.rows.reshape(-1, 3, len(self.twists))))

    def times(self, scale: np.ndarray) -> MovingBody:
        """The same with amplitudes in other units."""
        drawn = replace(self.drawn, rows=self.drawn.rows * scale)
        return MovingBody(drawn, self.pose, self.twists * scale[:, None], self.turns * scale)


@dataclass(frozen=True, eq=False)
class Hanging:
    """A point of a body that stays at a distance `gap` + `slip` q from a point of another, or of the ground ("", `at`)."""

    point: int
    body: str
    at: Any  # index of the point of the other body, or position
    gap: np.ndarray
    slip: np.ndarray


@dataclass(frozen=True, eq=False)
class ModeShapes:
    """Elastic modes as motions of bodies, scaled for drawings; a complex mode has two amplitudes, cos φ and −sin φ."""

    modes: Modes
    numbers: list[int]
    bodies: dict[str, MovingBody]
    hanging: dict[str, Hanging]  # in the order in which bodies hang on each other
    rails: dict[str, list[tuple[str, Any]]]  # ends by joint: a body and the index of its point, or "" and a position
    size: float

    @property
    def amplitudes(self) -> int:
        """The number of amplitudes."""
        return len(next(iter(self.bodies.values())).twists)

    @property
    def order(self) -> list[str]:
        """The bodies in an order in which none comes before the one on which it hangs."""
        return [*self.hanging, *(name for name in self.bodies if name not in self.hanging)]

    def positions(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """The points of all bodies at amplitudes q, (points, 3)."""
        out: dict[str, np.ndarray] = {}
        for name in self.order:
            one, hangs = self.bodies[name], self.hanging.get(name)
            pose, (v, omega) = one.pose, (one.twists.T @ q).reshape(2, 3)
            A = pose.A @ Rotation.from_rotvec(omega).as_matrix()
            x = pose.r_P + pose.A @ v + (one.drawn.points + (one.drawn.rows @ q).reshape(-1, 3)) @ A.T
            if hangs is not None:
                target = out[hangs.body][hangs.at] if hangs.body else hangs.at
                x += target + hangs.gap + hangs.slip @ q - x[hangs.point]
            out[name] = x
        return out

    @property
    def flat(self) -> bool:
        """Whether all bodies move in the plane xy and are flat beams or masses, so that they are drawn in two dimensions."""
        if self.modes.system.origin is not None:
            return self.modes.system.origin[0].plane is not None
        shown = [one.drawn for one in self.bodies.values()]
        lines = all(part.kind in ("beam", "mass") for part in shown)
        return lines and not any(one.displacements()[:, 2].any() for one in self.bodies.values())

    def at_rest(self) -> dict[str, np.ndarray]:
        """The points of all bodies at rest."""
        return {name: one.at_rest() for name, one in self.bodies.items()}

    def at_phase(self, k: int, phase: float) -> dict[str, np.ndarray]:
        """The points of all bodies in the k-th of these modes at a phase (rad)."""
        q = np.zeros(self.amplitudes)
        q[k :: len(self.numbers)] = (np.cos(phase), -np.sin(phase))[: len(q) // len(self.numbers)]
        return self.positions(q)


def mode_shapes(x: Modes, count: int) -> ModeShapes:
    """The lowest `count` elastic modes, scaled. Raises InputError if there are none or no bodies to draw."""
    system = x.system
    if not system.fields:
        raise InputError("these modes have no bodies to draw")
    if x.rigid >= len(x):
        raise InputError("there is no elastic mode to draw")
    numbers = list(range(x.rigid, len(x)))[:count]
    motions = np.zeros((system.rows.size, len(numbers)), x.vectors.dtype)
    motions[: system.split] = x.vectors[:, numbers]
    size, two = shapes_size(system), np.iscomplexobj(motions)
    motions = np.hstack([motions.real, motions.imag]) if two else motions
    ways = {} if system.origin is None else rails(system.origin[0], _coordinates(*system.origin), size)
    own = {name: [rail for body, rail in ways.values() if body == name] for name in system.fields}
    bodies = {name: moving(part, motions, size, own[name]) for name, part in system.fields.items()}
    chains = _open_chains(system.origin)
    for name in (name for name, part in system.fields.items() if getattr(part.body, "coordinates", 0)):
        bodies[name] = _in_other_axes(bodies[name], name in chains)
    far = np.max([np.linalg.norm(one.displacements(), axis=1).max(axis=0) for one in bodies.values()], axis=0)
    turn = np.max([one.turns for one in bodies.values()], axis=0)
    far, turn = (np.linalg.norm(part.reshape(1 + two, -1), axis=0) for part in (far, turn))
    largest = np.maximum(far / (AMPLITUDE * size), turn / MOST_TURN)
    scale = np.tile(1.0 / np.where(largest > 0.0, largest, 1.0), 1 + two)
    bodies = {name: one.times(scale) for name, one in bodies.items()}
    return ModeShapes(x, numbers, bodies, _hanging(system.origin, bodies), _rail_ends(ways, bodies), size)


def _coordinates(system: System, state: State) -> dict[str, np.ndarray]:
    """The coordinates of all joints at a state."""
    return {name: np.array(value) for name, value in joint_coordinates(system, state).items()}


def _rail_ends(
    ways: Mapping[str, tuple[str, Drawing]], bodies: Mapping[str, MovingBody]
) -> dict[str, list[tuple[str, Any]]]:
    """The ends of the rails of joints: a body and the index of its point, or "" and a position; rails are the last points."""
    out, after = {}, {name: len(one.drawn.points) for name, one in bodies.items()}
    for joint, (body, rail) in reversed(list(ways.items())):
        after[body] = after.get(body, 0) - 2
        out[joint] = [(body, after[body] + k if body else point) for k, point in enumerate(rail.points)]
    return out


def shapes_size(system: Any) -> float:
    """The diagonal of the box (m) around the bodies of a linear system."""
    if system.origin is not None:
        return scene_size(*system.origin)
    points = np.vstack([part.points for part in system.fields.values()])
    return float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0


def moving(part: Field, motions: np.ndarray, size: float, own_rails: Sequence[Drawing] = ()) -> MovingBody:
    """The body of a field, with the ends of its rails, in motions (rows, amplitudes) of its linear system.

    Where the body is not known, the points of the field are joined by bars.
    """
    count = motions.shape[1]
    pose = part.pose or Pose(np.zeros(3), np.eye(3), np.zeros(0), *np.zeros((4, 0)))
    if part.body is None or part.velocities is None:
        drawn, owner = field_drawing(part, size)
        rows = (part.motion @ motions).reshape(-1, 3, count)[owner].reshape(-1, count)
        return MovingBody(replace(drawn, rows=rows), pose, np.zeros((count, 6)), np.zeros(count))
    body, own = part.body, part.velocities @ motions
    axes = list(body.active) if isinstance(body, Body) else []
    eta = pose.eta if part.pose else np.zeros(body.coordinates)
    V = np.column_stack([eta, own[len(axes) :]])  # of coordinates 1, q
    moved: dict[str, Any] = {"shape": Combined(body.shape, csr(V))} if body.coordinates else {}
    if moved and isinstance(body, Body):
        moved |= {"elastic": no_elastic(), "ports": {name: port.projected(V) for name, port in body.ports.items()}}
    drawn = body_drawing(replace(body, **moved), size)
    if not moved:
        drawn = replace(drawn, rows=np.zeros((drawn.rows.shape[0], count + 1)))
    if part.pose is None:
        pose = pose._replace(r_P=part.points[0] - body.shape.points(body.shape.places())[0])
    twists, n = np.zeros((count, 6)), count + 1
    twists[:, axes] = own[: len(axes)].T
    rows, products = drawn.rows[:, :n], drawn.rows[:, n : 2 * n]  # with the first coordinate, of a body bent at rest
    rows = rows + products if products.size else rows
    points = drawn.points + rows[:, 0].reshape(-1, 3)
    drawn = replace(drawn, points=points, rows=rows[:, 1:])
    for rail in own_rails:
        at = pose._replace(eta=np.tile(eta, (count, 1)), rates=V[:, 1:].T)
        drawn = drawn.with_points(rail.points + rail.displacement(pose), (rail.extended(at).rates @ rail.rows.T).T)
    turns = (body.shape.rotation(body.shape.places()) @ V[:, 1:]).reshape(-1, 3, count) + twists[:, 3:].T
    largest = np.linalg.norm(turns, axis=1).max(axis=0, initial=0.0)
    return MovingBody(drawn, pose, twists, largest)


def small_motion_drawing(
    part: Field, ways: np.ndarray, rates: np.ndarray, size: float, within: float
) -> tuple[Drawing, list[np.ndarray]]:
    """The drawing of a field in a linear run, in inertial axes, and the amplitudes of its rows over time and their rates.

    `rates` (times, rows) are the velocities of the system, the first of its rows, and `ways` their integrals.
    """
    velocities, both = ways.shape[1], (ways, rates[:, : ways.shape[1]])
    own, known = [*both], part.body is not None and part.velocities is not None
    if part.velocities is not None and known:
        own = [(part.velocities[:, :velocities] @ x.T).T for x in both]
        part = replace(part, velocities=csr(np.eye(own[0].shape[1])))
    V = np.eye(own[0].shape[1])
    if not known or len(V) > MOST_COORDINATES:  # few shapes of the points, and the coordinates that belong to them
        moved = [(part.motion[:, :velocities] @ x.T).T for x in both]
        amplitudes = principal_shapes(*moved, within=within)[1]
        units = [float(np.abs(x).max()) or 1.0 for x in moved]
        left, right = (np.vstack([x / u for x, u in zip(xs, units, strict=True)]) for xs in (amplitudes, own))
        V, own = np.asarray(np.linalg.lstsq(left, right)[0]).T, amplitudes
    motions = V if known else np.vstack([V, np.zeros((part.motion.shape[1] - velocities, V.shape[1]))])
    one = moving(part, motions, size)
    normals = None if one.drawn.normals is None else one.drawn.normals @ one.pose.A.T
    shapes, own = compress_motion(one.displacements().reshape(-1, V.shape[1]), *own, within=within)
    return replace(one.drawn, points=one.at_rest(), normals=normals, rows=shapes), own


def _in_other_axes(x: MovingBody, follow: bool) -> MovingBody:
    """The same motion to first order, in axes at the middle of the points that follow their mean motion, or do not move."""
    middle = x.drawn.points.mean(axis=0)
    points, motion = x.drawn.points - middle, (x.pose.A.T @ x.displacements()).reshape(-1, len(x.twists))
    rigid = rigid_motions(points).reshape(-1, 6)
    twists = np.linalg.lstsq(rigid, motion)[0] if follow else np.zeros((6, len(x.twists)))
    pose = x.pose._replace(r_P=x.pose.r_P + x.pose.A @ middle)
    return MovingBody(replace(x.drawn, points=points, rows=motion - rigid @ twists), pose, twists.T, x.turns)


def _open_chains(origin: Any) -> set[str]:
    """The bodies that lie in no closed loop of joints, nor between two of them."""
    if origin is None:
        return set()
    system = origin[0]
    ends = [{c.first.body, c.second.body} for c in system.joints.values()]
    while leaves := {name for name in system.bodies if sum(name in pair for pair in ends) == 1}:
        ends = [pair for pair in ends if not pair & leaves]
    return set(system.bodies) - {name for pair in ends for name in pair}


def _hanging(origin: Any, bodies: Mapping[str, MovingBody]) -> dict[str, Hanging]:
    """For every body that joints connect with the ground the joint on which it hangs: the first, by number of joints between."""
    out: dict[str, Hanging] = {}
    joints = list(origin[0].joints.values()) if origin is not None else []
    reached = {""}
    while near := [c for c in joints if (c.first.body in reached) != (c.second.body in reached)]:
        for c in near:
            own, other = (c.second, c.first) if c.first.body in reached else (c.first, c.second)
            if own.body not in out:
                out[own.body] = _hanging_at(own, other, bodies)
        reached |= set(out)
    return out


def _hanging_at(own: End, other: End, bodies: Mapping[str, MovingBody]) -> Hanging:
    """The body of one end of a joint, hanging on the other end."""
    first, at = bodies[own.body], bodies[own.body].drawn.ports[own.port]
    place, slip = first.at_rest()[at], first.displacements()[at]
    if not other.body:
        return Hanging(at, "", np.asarray(other.at), place - other.at, slip)
    second, there = bodies[other.body], bodies[other.body].drawn.ports[other.port]
    return Hanging(at, other.body, there, place - second.at_rest()[there], slip - second.displacements()[there])


# --- figures ---------------------------------------------------------------------------------------------------------


def plot_modes(x: Modes, count: int = 4) -> Figure:
    """The lowest `count` elastic modes at their largest displacement, scaled, over the bodies at rest in grey."""
    shapes = mode_shapes(x, count)
    names, rest, moved = (
        list(shapes.bodies),
        shapes.at_rest(),
        [shapes.at_phase(k, 0.0) for k in range(len(shapes.numbers))],
    )
    everything = np.vstack([part for points in (rest, *moved) for part in points.values()])
    flat, columns = shapes.flat, min(2, len(moved))
    figure, grid = new_axes(-(-len(moved) // columns), columns, flat)
    axes, colours = list(grid.flat[: len(moved)]), dict(zip(names, colour_cycle(len(names)), strict=True))
    for ax, k in zip(axes, shapes.numbers, strict=True):
        ax.set_title("\n".join([f"mode {k}: {x.omega[k]:.5g} rad/s", *wrap(x.kinds[k], MOST_LETTERS)]), fontsize=8)
        frame_axes(ax, everything, flat, above=False)
        ax.xaxis.labelpad = ax.yaxis.labelpad = 2.0 if flat else 10.0  # points, off the labels of ticks in space
    for ax in grid.flat[len(moved) :]:
        ax.set_visible(False)
    if 1 < len(names) <= MAX_LEGEND:
        handles = [axes[0].plot([], [], *([] if flat else [[]]), color=c, lw=3)[0] for c in colours.values()]
        figure.legend(handles, map(label_text, names), loc="outside lower center", ncols=4, fontsize=8)
    for ax, points in zip(axes, moved, strict=True):
        _draw_mode(ax, shapes, rest, points, colours)
    return figure


def _draw_mode(
    ax: Any,
    shapes: ModeShapes,
    rest: Mapping[str, np.ndarray],
    points: Mapping[str, np.ndarray],
    colours: Mapping[str, str],
) -> None:
    """Draws the bodies of a mode at points, over those that move at rest, in space by their edges; and rails."""
    drawn, flat = {name: one.drawn for name, one in shapes.bodies.items()}, shapes.flat
    move = [name for name in drawn if np.abs(points[name] - rest[name]).max() > STILL * shapes.size]
    ghosts = [name for name in move if flat or not len(drawn[name].edges)]
    parts: list[tuple[Drawing, np.ndarray, Any]] = [(drawn[name], rest[name], GHOST) for name in ghosts]
    _draw(ax, parts + [(part, points[name], colours[name]) for name, part in drawn.items()], flat)
    for name in [name for name in move if name not in ghosts]:
        outline = np.insert(rest[name][drawn[name].edges], 2, np.nan, axis=1).reshape(-1, 3)
        draw_line(ax, drawn_coordinates(outline, flat), "0.6", None, cloud=False, lw=1)
    for ends in shapes.rails.values():
        rail = np.array([points[body][at] if body else at for body, at in ends])
        draw_line(ax, drawn_coordinates(rail, flat), RAIL, None, cloud=False, lw=1)


def _draw(ax: Any, parts: list[tuple[Drawing, np.ndarray, Any]], flat: bool) -> None:
    """Draws bodies at points, each in a colour: all triangles in one collection, sorted by depth, or dots where there are none."""
    from matplotlib.colors import to_rgba

    triangles, colours, count = [np.zeros((0, 3), dtype=int)], [np.zeros((0, 4))], 0
    for part, x, colour in parts:
        shade = np.ones((len(part.triangles), 4))
        shade[:, :3] *= 1.0 if flat else _brightness(x[part.triangles])[:, None]
        triangles.append(count + part.triangles)
        colours.append(shade * to_rgba(colour))
        count += len(x)
        if not len(part.triangles):
            draw_line(ax, drawn_coordinates(x, flat), colour, None, cloud=True, lw=2)
    if sum(map(len, triangles)):
        points = drawn_coordinates(np.vstack([x for _, x, _ in parts]), flat)
        surface, _ = draw_surface(ax, np.vstack(triangles), points, np.vstack(colours), "")
        surface.set_edgecolor("face" if flat else "none")


def _brightness(corners: np.ndarray) -> np.ndarray:
    """The brightness of triangles (n, 3, 3) by the angle between their normal and the light."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = np.abs(normals @ LIGHT) / np.maximum(np.linalg.norm(normals, axis=1) * np.linalg.norm(LIGHT), 1e-300)
    return np.asarray(0.55 + 0.45 * facing)
