"""Pictures of matrices with the names of their rows and columns: which blocks there are, and the signs of their entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, skew_defect, stacked, symmetry_defect
from phloat.errors import InputError
from phloat.linear.form.phdae import LinearPHDAE
from phloat.system.terms import Terms
from phloat.view.figures import DIVERGING, label_text, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

POINT = 1.0 / 72.0  # inch
SMALLEST, PER_ROOT = 11.0, 4.0  # points: side of the smallest block, and its growth with the root of the number of rows
WIDEST = 8.5 * 72.0  # points: of one matrix; larger ones are drawn to a smaller scale
CELL = 1.2  # points: rows that are drawn narrower are drawn together, as the largest of them
LIGHTEST, DARKEST = 0.3, 0.8  # of the colours of the smallest and of the largest entries
SIGNS = ((0.5, "positive"), (-0.5, "negative; darker: larger in its block"))
SHADES = 4.0  # orders of magnitude, below the largest entry of a block, from dark to light
LARGEST_FONT, SMALLEST_FONT = 8.0, 4.5  # points; blocks too narrow for these have no names
MARGIN = 140.0  # points, for names and the title
RELATIONS = {"E": (" = Eᵀ", symmetry_defect), "J": (" = −Jᵀ", skew_defect), "R": (" = Rᵀ", symmetry_defect)}


@dataclass(frozen=True)
class BlockScale:
    """The rows or the columns of a drawn matrix: blocks (body, name) with their sides in points, and the cells in each."""

    names: tuple[tuple[str, str], ...]
    sizes: np.ndarray
    sides: np.ndarray

    @classmethod
    def of(cls, layouts: Sequence[Layout], bodies: set[str]) -> BlockScale:
        """The scale of the blocks of layouts one after the other."""
        named = [(name, layout[name].stop - layout[name].start) for layout in layouts for name in layout]
        sizes = np.array([size for _, size in named], dtype=int)
        sides = np.maximum(SMALLEST, PER_ROOT * np.sqrt(sizes))
        split = ((name.rpartition("."), name) for name, _ in named)
        names = tuple((body, last) if body in bodies else ("", name) for (body, _, last), name in split)
        return cls(names, sizes, sides * min(1.0, WIDEST / max(sides.sum(), 1.0)))

    @cached_property
    def edges(self) -> np.ndarray:
        """The edges of the blocks (points)."""
        return np.concatenate([[0.0], np.cumsum(self.sides)])

    @cached_property
    def counts(self) -> np.ndarray:
        """The number of cells of each block: one for each row, unless they are too many to be seen."""
        return np.minimum(self.sizes, np.maximum(self.sides / CELL, 1.0).astype(int))

    @cached_property
    def cells(self) -> np.ndarray:
        """The edges of all cells (points)."""
        blocks = zip(self.edges[:-1], self.edges[1:], self.counts, strict=True)
        return np.concatenate([[0.0], *(np.linspace(a, b, n + 1)[1:] for a, b, n in blocks)])

    @cached_property
    def cell_of(self) -> np.ndarray:
        """The cell of each row."""
        starts = np.cumsum(self.counts) - self.counts
        blocks = zip(starts, self.sizes, self.counts, strict=True)
        return np.concatenate([np.zeros(0, int), *(a + np.arange(n) * k // n for a, n, k in blocks)])

    @cached_property
    def block_of(self) -> np.ndarray:
        """The block of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def groups(self) -> list[tuple[str, float, float]]:
        """Bodies with the first and the last edge of their blocks; neighbours without a body, such as joints, are one group."""
        out: list[tuple[str, float, float]] = []
        for (body, _), start, end in zip(self.names, self.edges[:-1], self.edges[1:], strict=True):
            together = out and out[-1][0] == body
            out[-1:] = [(body, out[-1][1], end)] if together else [*out[-1:], (body, start, end)]
        return out


def plot_matrices(x: Terms | LinearPHDAE, of: object = None) -> Figure:
    """E and J, and R if there is damping, by the names of fields, J with Gᵀ and −G of the joints as in (42); or others."""
    from matplotlib import colormaps
    from matplotlib.patches import Patch

    default = ["E", "J", *(["R"] if x.R.nnz else [])]
    names = default if of is None else [of] if isinstance(of, str) else list(of) if isinstance(of, Sequence) else [of]
    parts = [_with_joints(x) if name == "J" and of is None else _named(x, name) for name in names]
    if empty := [part.title.splitlines()[0] for part in parts if not part.matrix.nnz]:
        raise InputError(f"there is nothing to plot: {', '.join(empty)} has no entries")
    widths = [float(part.columns.edges[-1]) for part in parts]
    heights = [float(part.rows.edges[-1]) for part in parts]
    figure = new_figure((sum(widths) + MARGIN * len(parts)) * POINT, (max(heights) + MARGIN) * POINT)
    axes = figure.subplots(1, len(parts), squeeze=False, width_ratios=widths)[0]
    for ax, part in zip(axes, parts, strict=True):
        draw_matrix(ax, part)
    handles = [Patch(color=colormaps[DIVERGING](0.5 + half * DARKEST), label=sign) for half, sign in SIGNS]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=7, frameon=False)
    return figure


@dataclass(frozen=True)
class Part:
    """A matrix to be drawn."""

    title: str
    matrix: Matrix
    rows: BlockScale
    columns: BlockScale


def _named(x: Terms | LinearPHDAE, name: object) -> Part:
    """One of the matrices of a system."""
    rows, columns = x.axes(name)
    matrix = getattr(x, str(name))
    relation, defect = RELATIONS.get(str(name), ("", None))
    checked = f"{relation} to {defect(matrix):.0e}" if defect else ""
    title = f"{name}{checked}\n{matrix.shape[0]} × {matrix.shape[1]}, {matrix.nnz} entries"
    return Part(title, matrix, BlockScale.of([rows], _bodies(x)), BlockScale.of([columns], _bodies(x)))


def _with_joints(x: Terms | LinearPHDAE) -> Part:
    """J with the joints, [J, Gᵀ; −G, 0], if there are any."""
    part = _named(x, "J")
    if not x.multipliers.size:
        return part
    scale = BlockScale.of([x.rows, x.multipliers], _bodies(x))
    return Part(f"{part.title}, and Gᵀ, −G", stacked([[x.J, x.G.T], [-x.G, None]]), scale, scale)


def _bodies(x: Terms | LinearPHDAE) -> set[str]:
    """The names of the bodies, as in the names of the rows."""
    return {name.rpartition(".")[0] for name in x.rows} - {""}


def draw_matrix(ax: Axes, part: Part) -> None:
    """Draws the signs of the entries, darker where they are larger in their block (and its mirror image), with names and lines."""
    rows, columns = part.rows, part.columns
    image, present = _image(part.matrix, rows, columns)
    style: dict[str, Any] = {"rasterized": True, "vmin": -1.0, "vmax": 1.0}
    ax.pcolormesh(columns.edges, rows.edges, np.where(present, -0.88, np.nan), cmap="Greys", **style)
    ax.pcolormesh(columns.cells, rows.cells, image, cmap=DIVERGING, **style)
    for scale, line in ((rows, ax.axhline), (columns, ax.axvline)):
        for edge in scale.edges if scale.sides.min() > SMALLEST_FONT else ():
            line(edge, color="0.8", lw=0.4)
        for _, _, end in scale.groups[:-1]:
            line(end, color="0.2", lw=0.8)
    ax.set(xlim=(0.0, columns.edges[-1]), ylim=(rows.edges[-1], 0.0), aspect="equal")
    longest = max(len(name) for _, name in columns.names)
    ax.set_title(part.title, fontsize=9, y=1.0, pad=10.0 + 0.65 * LARGEST_FONT * longest)
    _label(ax, rows, columns)


def _image(matrix: Matrix, rows: BlockScale, columns: BlockScale) -> tuple[np.ndarray, np.ndarray]:
    """The shade of each cell, signed, NaN where there is no entry; and the blocks that have entries."""
    entries = matrix.tocoo()
    size = np.abs(entries.data)
    largest = np.zeros((len(rows.sizes), len(columns.sizes)))
    block = rows.block_of[entries.row], columns.block_of[entries.col]
    np.maximum.at(largest, block, size)
    present = largest > 0.0
    if rows.names == columns.names:
        largest = np.maximum(largest, largest.T)
    with np.errstate(divide="ignore"):
        shade = np.clip(1.0 + np.log10(size / largest[block]) / SHADES, 0.0, 1.0)
    order = np.argsort(size, kind="stable")  # of entries in one cell the largest is drawn last
    image = np.full((rows.counts.sum(), columns.counts.sum()), np.nan)
    cell = rows.cell_of[entries.row][order], columns.cell_of[entries.col][order]
    image[cell] = (np.sign(entries.data) * (LIGHTEST + (DARKEST - LIGHTEST) * shade))[order]
    return image, present


def _label(ax: Axes, rows: BlockScale, columns: BlockScale) -> None:
    """Names of fields at the left and on top, of bodies at the right and below."""
    ax.xaxis.tick_top()
    for axis, scale in ((ax.xaxis, columns), (ax.yaxis, rows)):
        fields = zip((name for _, name in scale.names), scale.edges[:-1], scale.edges[1:], strict=True)
        _set_labels(axis, list(fields), 90 if axis is ax.xaxis else 0)
    bodies = [[group for group in scale.groups if group[0]] for scale in (rows, columns)]
    _set_labels(ax.secondary_yaxis("right").yaxis, bodies[0], 0)
    fits = all(0.7 * LARGEST_FONT * len(name) < end - start for name, start, end in bodies[1])
    _set_labels(ax.secondary_xaxis("bottom").xaxis, bodies[1], 0 if fits else 90)


def _set_labels(axis: Axis, labels: list[tuple[str, float, float]], rotation: int) -> None:
    """Names at the middle of their blocks, as large as the smallest block permits; none if that is too small to read."""
    font = min([LARGEST_FONT, *(0.9 * (end - start) for _, start, end in labels)])
    readable = labels if font >= SMALLEST_FONT else []
    axis.set_ticks([0.5 * (start + end) for _, start, end in readable], [label_text(name) for name, _, _ in readable])
    axis.set_tick_params(length=0, labelsize=font, rotation=rotation)
