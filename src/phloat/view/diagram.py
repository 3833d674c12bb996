"""Block diagrams of systems: bodies, ports, joints, force elements and open ports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.section import Circle, Rectangle, Tube
from phloat.joints.ends import GROUND
from phloat.system.connection import End
from phloat.system.system import System
from phloat.view.figures import COLOURS, label_text, new_figure
from phloat.view.surfaces import section_outline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEP = np.array([2.5, -1.55])  # inches from block to block, in x and y
HALF = np.array([0.52, 0.26])  # half the width and height of a block, inches
SPACING = np.array([1.15, 0.48])  # inches between labels of parallel lines, horizontally and vertically
JOINT, ELEMENT, INPUT = COLOURS[0], COLOURS[2], COLOURS[1]
MAX_LETTERS = 16  # longer names are cut
SECTION, MAX_SECTIONS = np.array([2.4, 0.4]), 12  # inches for a section in the legend, and how many are drawn


@dataclass(frozen=True)
class Line:
    """A joint or force element between ports of two blocks (bodies or ground); `name` is empty if the user gave none."""

    name: str
    kind: str  # the class of the joint or element
    first: tuple[str, str]  # block and port
    second: tuple[str, str]
    open: str  # causality of its open port, "free" or "driven"; "" without one
    element: bool = False


def plot_diagram(x: System) -> Figure:
    """Block diagram of a system: bodies and ground as blocks, joints and force elements as lines with type and name.

    Arrows mark open ports: inputs of free and driven joints, forces and torques on bodies.
    """
    lines = diagram_lines(x)
    pairs = [(line.first[0], line.second[0]) for line in lines]
    blocks = [*([GROUND] if any(GROUND in pair for pair in pairs) else []), *x.bodies]
    positions = {name: STEP * place for name, place in block_positions(blocks, pairs).items()}
    corners, bends = np.array(list(positions.values())), _with_offsets(lines)
    aside = 0.5 * SPACING * max((abs(bend) for _, bend in bends), default=0.0)  # for lines outside of the blocks
    low, high = corners.min(axis=0) - HALF - (0.75, 0.5) - aside, corners.max(axis=0) + HALF + (0.75, 0.45) + aside
    sections = beam_sections(x)
    columns = max(1, int((high - low)[0] / SECTION[0]))
    under = low[1] - SECTION[1] * -(-len(sections) // columns)
    columns_rows = np.array([(k % columns, -(k // columns) - 0.5) for k in range(len(sections))]).reshape(-1, 2)
    places = low + np.array([0.2, 0.0]) + SECTION * columns_rows
    low[1] = under
    width, height = np.maximum(high - low, (4.0, 2.0))
    figure = new_figure(width, height + 0.5)
    ax = figure.subplots()
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    ax.set_axis_off()
    figure.suptitle(_title_text(x), fontsize=9, x=0.02, ha="left")
    for line, bend in bends:
        _draw_line(ax, line, positions[line.first[0]], positions[line.second[0]], bend)
    for name in blocks:
        _draw_block(ax, x, name, positions[name])
    for name, acting in x.actuators.items():
        corner, look = positions[acting.body] - HALF, {"fontsize": 7, "ha": "center", "va": "top", "zorder": 5}
        _draw_arrow(ax, corner, corner - (0.42, 0.3), "->", 2, _shortened(name), **look)
    for (text, (beam, names)), place in zip(sections.items(), places, strict=True):
        _draw_section(ax, f"{_listed(names)}\n{text}", beam, place)
    _draw_legend(ax, lines, bool(x.actuators))
    return figure


def beam_sections(x: System) -> dict[str, tuple[Beam, list[str]]]:
    """The sections of all beams by their text, with a beam and the names of all that have it; at most MAX_SECTIONS."""
    found: dict[str, tuple[Beam, list[str]]] = {}
    for name, body in x.bodies.items():
        if isinstance(body.recipe, Beam):
            found.setdefault(section_text(body.recipe), (body.recipe, []))[1].append(name)
    return dict(list(found.items())[:MAX_SECTIONS])


def section_text(beam: Beam) -> str:
    """The size of a section: "40 × 20 mm" (width along z, height along y), "⌀ 6 mm", or area and second moments."""
    first, last = beam.sections(np.array([0.0, beam.length]))
    if type(first) is Rectangle:
        text = f"{1e3 * first.b:.4g} × {1e3 * first.h:.4g} mm"
    elif isinstance(first, (Circle, Tube)):
        text = f"⌀ {1e3 * first.diameter:.4g}" + (f" × {1e3 * first.wall:.4g} mm" if isinstance(first, Tube) else " mm")
    else:
        text = f"A = {1e6 * first.A:.4g} mm², I = {1e12 * first.I:.4g} mm⁴"
    return text if first == last else f"{text} at P, varies"


def _draw_section(ax: Axes, text: str, beam: Beam, place: np.ndarray) -> None:
    """Draws the outline of the section at port P of a beam, z to the right and y up, and a text beside it."""
    from matplotlib.patches import Polygon

    outline = section_outline(beam.sections(np.zeros(1))[0])[0][:, ::-1]
    scaled = place + 0.22 * outline / float(np.ptp(outline, axis=0).max())
    ax.add_patch(Polygon(scaled, closed=True, fc="0.85", ec="black", lw=0.8))
    _draw_text(ax, place + np.array([0.2, 0.0]), text, ha="left")


def _listed(names: list[str]) -> str:
    """The first three names, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return _shortened(", ".join(names[:3]), 2 * MAX_LETTERS) + more


def diagram_lines(x: System) -> list[Line]:
    """All joints and force elements of a system as lines of the diagram."""
    out = []
    for name, c in x.joints.items():
        state = "driven" if c.driven else "free" if c.free else ""
        kind = type(c.joint).__name__ + (", locked" if c.locked else "")
        out.append(Line(name if c.joint.name else "", kind, _end_names(c.first), _end_names(c.second), state))
    for name, e in x.elements.items():
        ends = _end_names(e.first), _end_names(e.second)
        out.append(Line(name if e.recipe.name else "", type(e.recipe).__name__, *ends, "", element=True))
    return out


def _end_names(end: End) -> tuple[str, str]:
    """The names of block and port of one end of a joint; the ground has no port."""
    return (end.body, end.port) if end.body else (GROUND, "")


def _title_text(x: System) -> str:
    """The numbers of bodies, velocities and closed rows."""
    moving = sum(len(b.active) + b.coordinates for b in x.bodies.values())
    elastic, rows = sum(b.coordinates for b in x.bodies.values()), sum(len(c.rows) for c in x.joints.values())
    where = f" in the plane {x.plane}" if x.plane else ""
    return f"{len(x.bodies)} bodies{where}\n{moving} velocities ({elastic} of deformation), {rows} rows closed"


def _with_offsets(lines: list[Line]) -> list[tuple[Line, float]]:
    """Each line with its aside offset, in units of SPACING: parallel lines between the same two blocks are drawn apart."""
    lines_between: dict[frozenset[str], list[Line]] = defaultdict(list)
    for line in lines:
        lines_between[frozenset((line.first[0], line.second[0]))].append(line)
    out = []
    for parallel in lines_between.values():
        for k, line in enumerate(parallel):
            bend = k - 0.5 * (len(parallel) - 1)
            out.append((line, bend if line.first[0] == min(parallel[0].first[0], parallel[0].second[0]) else -bend))
    return out


def _draw_line(ax: Axes, line: Line, a: np.ndarray, b: np.ndarray, bend: float) -> None:
    """Draws a line from block centre a to b, bent aside by `bend` spacings, with port names at its ends and its label."""
    colour, style = (ELEMENT, "--") if line.element else (JOINT, "-")
    if line.first[0] == line.second[0]:
        a, b, bend = a - (0.0, HALF[1]), b - (-0.3, HALF[1]), -1.0
    along = b - a
    length = float(np.hypot(*along)) or 1.0
    aside = SPACING * np.array([-along[1], along[0]]) / length * bend
    middle = 0.5 * (a + b) + aside
    bow = 2.0 * middle - 0.5 * (a + b)  # the control point of a quadratic Bézier curve through `middle`
    t = np.linspace(0.0, 1.0, 41)[:, None]
    way = (1 - t) ** 2 * a + 2 * t * (1 - t) * bow + t**2 * b
    ax.plot(*way.T, color=colour, ls=style, lw=1.6, zorder=1)
    for port, ends in ((line.first[1], way), (line.second[1], way[::-1])):
        if port:
            outside = int(np.argmax((np.abs(ends - ends[0]) > HALF + 0.07).any(axis=1)))
            step = ends[outside] - ends[max(outside - 4, 0)]
            normal = np.array([-step[1], step[0]]) / (float(np.hypot(*step)) or 1.0)
            normal = normal if normal[1] > 0.2 or (abs(normal[1]) <= 0.2 and normal[0] > 0) else -normal
            clear = 0.03 * max(len(port) - 1, 0) * abs(step[0]) * step / (float(step @ step) or 1.0)  # of the block
            _draw_text(ax, ends[outside] + 0.12 * normal + clear, _shortened(port), color="0.25")
    _draw_label(ax, line, middle, colour, upright=abs(along[1]) > abs(along[0]))


def _draw_label(ax: Axes, line: Line, middle: np.ndarray, colour: str, *, upright: bool) -> None:
    """Draws type and name of a joint in a box on its line, with an arrow beside an `upright` line or above if it is open."""
    text = line.kind + (f"\n{_shortened(line.name)}" if line.name else "")
    box = {"boxstyle": "round,pad=0.25", "fc": "white", "ec": colour, "lw": 1.2}
    _draw_text(ax, middle, text, bbox=box, zorder=3)
    if line.open:
        wide, high = 0.034 * max(map(len, text.split("\n"))) + 0.07, 0.075 + 0.055 * (1 + bool(line.name))
        side = np.array([wide, 0.0] if upright else [0.0, high])
        tail = middle + side * (1 + 0.3 / float(np.hypot(*side)))
        head = "-|>,head_width=0.3" if line.open == "driven" else "->"
        _draw_arrow(ax, middle + side, tail, head, 0, zorder=3)


def _draw_block(ax: Axes, x: System, name: str, position: np.ndarray) -> None:
    """Draws a body, with its type and number of elastic coordinates, or the ground."""
    from matplotlib.patches import Rectangle

    ground = name == GROUND and name not in x.bodies
    look: dict[str, Any] = {"hatch": "////", "ec": "0.6", "fc": "0.85"} if ground else {"ec": "black", "fc": "white"}
    ax.add_patch(Rectangle(tuple(position - HALF), *(2 * HALF), lw=1.4, zorder=2, **look))
    if ground:
        _draw_text(ax, position, GROUND, fontsize=8, zorder=4, bbox={"fc": "white", "ec": "none", "pad": 1.5})
        return
    body = x.bodies[name]
    kind = type(body.recipe).__name__ + (f", {body.coordinates}" if body.coordinates else "")
    _draw_text(ax, position - (0.0, -0.08), _shortened(name), fontsize=8.5, weight="bold", zorder=4)
    _draw_text(ax, position - (0.0, 0.11), kind, color="0.3", zorder=4)


def _draw_arrow(
    ax: Axes, tip: np.ndarray, tail: np.ndarray, style: str, shrink: float, text: str = "", **look: Any
) -> None:
    """Draws the arrow of an open port, `shrink` points shorter at both ends, with a text at its tail."""
    arrow = {"arrowstyle": style, "color": INPUT, "lw": 1.5, "shrinkA": shrink, "shrinkB": shrink}
    ax.annotate(text, tuple(tip), tuple(tail), color=INPUT, arrowprops=arrow, **look)


def _draw_legend(ax: Axes, lines: list[Line], acting: bool) -> None:
    """Draws a legend of the symbols that occur in the diagram."""
    elements, opens = {line.element for line in lines}, {line.open for line in lines}
    port = {"color": INPUT, "ls": ""}
    entries: list[tuple[bool, str, dict[str, Any]]] = [
        (False in elements, "joint", {"color": JOINT, "lw": 1.6}),
        (True in elements, "force element", {"color": ELEMENT, "lw": 1.6, "ls": "--"}),
        (acting or "free" in opens, "open port: effort in, rate out", port | {"marker": "$↓$", "ms": 9}),
        ("driven" in opens, "driven: rate in, effort out", port | {"marker": "v", "ms": 6}),
    ]
    handles = [ax.plot([], [], label=label, **style)[0] for occurs, label, style in entries if occurs]
    if handles:
        ax.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=len(handles), frameon=False)


def _draw_text(ax: Axes, position: np.ndarray, text: str, **look: Any) -> None:
    """Draws a text centred at a point."""
    centred: dict[str, Any] = {"fontsize": 7, "ha": "center", "va": "center"}
    ax.text(position[0], position[1], text, **centred | look)


def _shortened(name: str, most: int = MAX_LETTERS) -> str:
    """A name as a label of at most so many characters."""
    return label_text(name if len(name) <= most else f"{name[: most - 1]}…")


# --- positions of blocks ---------------------------------------------------------------------------------------------
#
# A layer is a column of blocks with the same number of joints from the ground; rows of layers run right and left in turn.


LAYERS_PER_ROW = 7
SORTINGS = 4  # passes over the layers that bring neighbours near each other

Position = tuple[float, float]
Pairs = Sequence[tuple[str, str]]


def block_positions(blocks: Iterable[str], pairs: Pairs) -> dict[str, Position]:
    """The position of each block, in blocks to the right and down; connected blocks are near each other, the ground is first.

    A single closed loop of four to eight blocks, such as a four-bar, is laid out as a ring.
    """
    names = list(blocks)
    neighbours: dict[str, list[str]] = {name: [] for name in names}
    for pair in dict.fromkeys(pair for a, b in pairs if a != b for pair in ((a, b), (b, a))):
        neighbours[pair[0]].append(pair[1])
    if ring := _ring_positions(names, neighbours):
        return ring
    layers = _layers(names, neighbours)
    _sort_layers(layers, neighbours)
    out: dict[str, Position] = {}
    top = 0.0
    for line in range(0, len(layers), LAYERS_PER_ROW):
        row = layers[line : line + LAYERS_PER_ROW]
        height = max(map(len, row))
        for k, layer in enumerate(row):
            x = k if (line // LAYERS_PER_ROW) % 2 == 0 else LAYERS_PER_ROW - 1 - k
            out |= {name: (float(x), top + i + 0.5 * (height - len(layer))) for i, name in enumerate(layer)}
        top += height
    return out


def _ring_positions(names: list[str], neighbours: Mapping[str, list[str]]) -> dict[str, Position]:
    """Positions of the blocks of a loop in two rows, if they are one loop of four to eight blocks; else empty."""
    if not 4 <= len(names) <= 8 or any(len(adjacent) != 2 for adjacent in neighbours.values()):
        return {}
    way = [names[0], neighbours[names[0]][0]]
    while (after := next(n for n in neighbours[way[-1]] if n != way[-2])) != names[0]:
        way.append(after)
    if len(way) < len(names):
        return {}
    across = (len(way) + 1) // 2
    below = len(way) - across
    out = {name: (float(i), 0.0) for i, name in enumerate(way[:across])}
    step = (across - 1) / max(below - 1, 1)
    return out | {name: (across - 1 - step * i, 1.4) for i, name in enumerate(way[across:])}


def _layers(names: list[str], neighbours: Mapping[str, list[str]]) -> list[list[str]]:
    """The blocks by their number of joints from the ground; in a part without ground, from its block with most neighbours."""
    remaining, layers = dict.fromkeys(names), []
    while remaining:
        first = GROUND if GROUND in remaining else max(remaining, key=lambda name: len(neighbours[name]))
        layer = [first]
        while layer:
            for name in layer:
                del remaining[name]
            layers.append(layer)
            layer = [n for n in dict.fromkeys(n for name in layer for n in neighbours[name]) if n in remaining]
    return layers


def _sort_layers(layers: list[list[str]], neighbours: Mapping[str, list[str]]) -> None:
    """Sorts each layer by the mean position of a block's neighbours in the layer before; then backwards, in the layer after."""
    for sweep in range(SORTINGS):
        after = layers if sweep % 2 == 0 else layers[::-1]
        for other, layer in pairwise(after):
            at = {name: i - 0.5 * (len(other) - 1) for i, name in enumerate(other)}
            middle = {name: [at[n] for n in neighbours[name] if n in at] for name in layer}
            mean = {name: sum(some) / len(some) if some else 0.0 for name, some in middle.items()}
            layer.sort(key=mean.__getitem__)
