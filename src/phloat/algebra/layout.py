"""Names of the blocks of vectors and matrices: one type for states, rows of matrices, ports and multipliers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from phloat.algebra.sparse import Matrix, csr
from phloat.errors import InputError, PortError, unknown

Shape = tuple[int, ...]
AXES = {  # the names of rows and columns of each matrix
    **dict.fromkeys(("E", "J", "R", "nonconservative"), ("rows", "rows")),
    **dict.fromkeys("BP", ("rows", "ports")),
    **dict.fromkeys("SN", ("ports", "ports")),
    "G": ("multipliers", "rows"),
    "B_lam": ("multipliers", "ports"),
}


@dataclass(frozen=True)
class Layout:
    """The named blocks of a vector in order, {name: shape}; `kind` is used in messages, `also` maps other names to blocks."""

    shapes: Mapping[str, Shape]
    kind: str = "entry"
    also: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """The slice of each block."""
        out, start = {}, 0
        for name, shape in self.shapes.items():
            size = prod(shape)
            out[name] = slice(start, start + size)
            start += size
        return out

    @cached_property
    def size(self) -> int:
        """The length of the vector."""
        return sum(prod(shape) for shape in self.shapes.values())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the blocks, without other names."""
        return tuple(self.shapes)

    def __getitem__(self, name: str) -> slice:
        if not isinstance(name, str) or name not in self:
            raise PortError(unknown(self.kind, name, (*self.also, *self.names)))
        return self.slices[self.also.get(name, name)]

    def __contains__(self, name: object) -> bool:
        return name in self.shapes or name in self.also

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    def shape(self, name: str) -> Shape:
        """The shape of a block. Raises PortError if there is none of that name."""
        self[name]
        return self.shapes[self.also.get(name, name)]

    def of(self, vector: np.ndarray, name: str) -> np.ndarray:
        """The block `name` of a vector (or of vectors along the last axis), in its shape."""
        return vector[..., self[name]].reshape(vector.shape[:-1] + self.shape(name))

    def indices(self, names: Iterable[str]) -> np.ndarray:
        """Indices of the named blocks, in the order of the names."""
        blocks = [np.arange(self[name].start, self[name].stop) for name in names]
        return np.concatenate(blocks) if blocks else np.zeros(0, dtype=int)

    def part(self, name: str) -> range:
        """The indices of a block, "name", or of one of its components, "name[i]"."""
        block, _, number = str(name).partition("[")
        if name in self or not number.endswith("]"):
            own = self[name]
            return range(own.start, own.stop)
        own = self[block]
        size, i = own.stop - own.start, int(number[:-1]) if number[:-1].isdigit() else -1
        if not 0 <= i < size:
            raise InputError(f"{self.kind} {block!r} has {size} components, counted from 0; there is no {name!r}")
        return range(own.start + i, own.start + i + 1)

    def group(self, name: str) -> np.ndarray:
        """The indices of a block or component, as in `part`, or of all blocks of a body: "rod" for "rod.v_P", "rod.omega" …"""
        inside = [block for block in self if block.startswith(f"{name}.")]
        return self.indices(inside) if inside and name not in self else np.array(self.part(name), dtype=int)

    def only(self, names: Iterable[str]) -> Layout:
        """The layout of the named blocks alone, in the order of the names."""
        return Layout({name: self.shape(name) for name in names}, self.kind)

    def masked(self, mask: np.ndarray) -> Layout:
        """The layout of the entries where a mask is true, without empty blocks."""
        sizes = {name: int(mask[block].sum()) for name, block in self.slices.items()}
        return Layout({name: (size,) for name, size in sizes.items() if size}, self.kind)

    def owner(self, index: int) -> str:
        """The name of the block that contains `index`."""
        return next(name for name, block in self.slices.items() if block.start <= index < block.stop)

    def prefixed(self, prefix: str) -> Layout:
        """The layout with names "prefix.name"."""
        also = {f"{prefix}.{name}": f"{prefix}.{block}" for name, block in self.also.items()}
        return Layout({f"{prefix}.{name}": shape for name, shape in self.shapes.items()}, self.kind, also)


def joined_layouts(layouts: Iterable[Layout], kind: str) -> Layout:
    """Layouts one after the other. Raises PortError if a name is repeated."""
    shapes: dict[str, Shape] = {}
    also: dict[str, str] = {}
    for layout in layouts:
        also |= layout.also
        for name, shape in layout.shapes.items():
            if name in shapes:
                raise PortError(f"two blocks are called {name!r}; give one of them another name")
            shapes[name] = shape
    return Layout(shapes, kind, also)


class NamedBlocks:
    """Matrices whose rows and columns have names: `rows` those of e, `ports` those of u and y, `multipliers` those of λ."""

    def axes(self, matrix: object) -> tuple[Layout, Layout]:
        """The names of the rows and of the columns of a matrix "E", "J", "R", "B" …"""
        present = [name for name in AXES if hasattr(self, name)]
        if matrix not in present:
            raise InputError(unknown("matrix", matrix, present))
        rows, columns = AXES[str(matrix)]
        return getattr(self, rows), getattr(self, columns)

    def block(self, matrix: str, row: str, column: str) -> Matrix:
        """The block of a matrix by name: block("J", "rod.omega", "rod.eta_dot"), block("B", "rod.v_P", "rod.C[1]").

        Rows and columns are fields ("rod.v_P"), one of their components ("rod.v_P[0]"), or all fields of a body ("rod"); columns
        of B are ports, rows of G joints.
        """
        rows, columns = self.axes(matrix)
        return csr(getattr(self, matrix)[rows.group(row)][:, columns.group(column)])
