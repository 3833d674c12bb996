"""How much a file may ask for. Python may ask for more: a file can come from anywhere, and is refused before memory is taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.split import Split
from phloat.bodies.made import Made
from phloat.bodies.plates.outline import Oblong, Round
from phloat.bodies.solids.outlines import Box, Bracket, Rectangle, Tube
from phloat.errors import InputError
from phloat.fem.mesh import Mesh
from phloat.system.parts import Parts
from phloat.system.words.node import Node

ELEMENTS = 2_000  # of a beam, or of a piece of one
CELLS = 200_000  # of all bodies of a file, elements of beams among them


def sizes_or_said(parts: Parts, root: Node | None) -> int:
    """How many elements and cells there will be, or a sentence where they are too many for a file."""
    total = 0
    for name, part in parts.bodies.items():
        node = _child(_child(root, "bodies"), name)
        if isinstance(part, Parts):
            total += sizes_or_said(part, _child(node, "system"))
        else:
            total += _said_of(part, node)
        if total > CELLS:
            _refused(
                node or root,
                f"up to here the bodies have {_much(total)} elements and cells; a file has at most {CELLS}",
            )
    return total


def _said_of(part: Made, node: Node | None) -> int:
    step = next((step for step in part.steps if step.verb == "discretise"), None)
    given = step.given[0] if step is not None and step.given else None
    recipe = part.recipe
    if isinstance(recipe, Beam | Split):
        each = int(given) if isinstance(given, int | np.integer) else max(len(given or ()) - 1, 0)
        pieces = recipe.pieces if isinstance(recipe, Split) else 1
        if each > ELEMENTS or pieces > ELEMENTS:
            most = max(each, pieces)
            _refused(
                node,
                f"{_much(most)} {'elements' if most == each else 'pieces'}; a beam in a file has at most {ELEMENTS}",
            )
        return each * pieces
    shape = getattr(recipe, "outline", getattr(recipe, "mesh", None))
    if shape is None or step is None:
        return 0
    cells = _cells(shape, given) * 2.0 ** (_axes(shape) * min(int(step.options.get("refine") or 0), 100))
    if cells > CELLS:
        _refused(node, f"about {_much(cells)} cells; a file has at most {CELLS}")
    return int(cells)


def _cells(shape: Any, given: Any) -> float:
    """How many cells an outline makes of the number or numbers that it is given."""
    if isinstance(shape, Mesh):
        return float(shape.cells.shape[0])
    counts = [float(n) for n in np.atleast_1d(np.asarray(given, dtype=float))] if given is not None else [0.0]
    n = counts[0]
    if len(counts) > 1:
        return math.prod(counts)
    if isinstance(shape, Bracket):
        t = shape.thickness
        return n**3 * (shape.a + shape.b) / t * max(shape.width / t, 1.0)
    if isinstance(shape, Round):
        return n * max(12.0, n * math.pi * (shape.radius + shape.inner) / (shape.radius - shape.inner))
    return _along(n, _sides(shape))


def _sides(shape: Any) -> Sequence[float]:
    if isinstance(shape, Tube):
        return shape.length, shape.outer - shape.inner, math.pi * (shape.outer + shape.inner)
    return tuple(getattr(shape, side) for side in "abc" if hasattr(shape, side))


def _along(n: float, sides: Sequence[float]) -> float:
    return math.prod(max(1.0, n * side / max(sides)) for side in sides)


def _axes(shape: Any) -> int:
    if isinstance(shape, Mesh):
        return shape.points.shape[1]
    return 3 if isinstance(shape, Box | Tube | Bracket) else 2 if isinstance(shape, Rectangle | Oblong | Round) else 3


def _refused(node: Node | None, message: str) -> None:
    if node is None:
        raise InputError(message)
    node.wrong(message)


def _much(count: float) -> str:
    return f"{int(count)}" if count < 1e6 else f"{count:.1e}"


def _child(node: Node | None, key: str) -> Node | None:
    return node.entries.get(key) if node is not None and node.entries is not None else None
