"""Places for the blocks of a diagram: in layers from the ground, layers in lines that turn around like a plough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from phloat.joints.ends import GROUND

LINE = 7  # layers side by side before a line turns around
SWEEPS = 4

Place = tuple[float, float]
Pairs = Sequence[tuple[str, str]]


def places(blocks: Iterable[str], pairs: Pairs) -> dict[str, Place]:
    """Where each block stands, in steps to the right and down: neighbours near each other, the ground first.

    One closed chain of blocks, such as a four-bar, stands in a ring.
    """
    names = list(blocks)
    near = _neighbours(names, pairs)
    if ring := _ring(names, near):
        return ring
    layers = _ordered(_layers(names, near), near)
    out: dict[str, Place] = {}
    top = 0.0
    for line in range(0, len(layers), LINE):
        some = layers[line : line + LINE]
        height = max(map(len, some))
        for k, layer in enumerate(some):
            x = k if (line // LINE) % 2 == 0 else LINE - 1 - k
            for i, name in enumerate(layer):
                out[name] = float(x), top + i + 0.5 * (height - len(layer))
        top += height
    return out


def _neighbours(names: list[str], pairs: Pairs) -> dict[str, list[str]]:
    near: dict[str, list[str]] = {name: [] for name in names}
    for a, b in pairs:
        if a != b:
            near[a] += [b] if b not in near[a] else []
            near[b] += [a] if a not in near[b] else []
    return near


def _ring(names: list[str], near: Mapping[str, list[str]]) -> dict[str, Place]:
    """All blocks of one loop of four to eight: along the sides of a box, or nothing if it is none."""
    if not 4 <= len(names) <= 8 or any(len(others) != 2 for others in near.values()):
        return {}
    way = [names[0], near[names[0]][0]]
    while (after := next(n for n in near[way[-1]] if n != way[-2])) != names[0]:
        way.append(after)
    if len(way) < len(names):
        return {}
    across = (len(way) + 1) // 2
    below = len(way) - across
    out = {name: (float(i), 0.0) for i, name in enumerate(way[:across])}
    step = (across - 1) / max(below - 1, 1)
    return out | {name: (across - 1 - step * i, 1.4) for i, name in enumerate(way[across:])}


def _layers(names: list[str], near: Mapping[str, list[str]]) -> list[list[str]]:
    """By the number of joints from the ground; of parts that hang on nothing, from the block with most neighbours."""
    left, layers = dict.fromkeys(names), []
    while left:
        first = GROUND if GROUND in left else max(left, key=lambda name: len(near[name]))
        layer = [first]
        while layer:
            for name in layer:
                del left[name]
            layers.append(layer)
            layer = [n for n in dict.fromkeys(n for name in layer for n in near[name]) if n in left]
    return layers


def _ordered(layers: list[list[str]], near: Mapping[str, list[str]]) -> list[list[str]]:
    """Within a layer, beside those that each is joined to."""
    out = [list(layer) for layer in layers]
    for sweep in range(SWEEPS):
        for k in range(1, len(out)) if sweep % 2 == 0 else range(len(out) - 2, -1, -1):
            other = out[k - 1] if sweep % 2 == 0 else out[k + 1]
            at = {name: i - 0.5 * (len(other) - 1) for i, name in enumerate(other)}

            def middle(name: str, at: dict[str, float] = at) -> float:
                joined = [at[n] for n in near[name] if n in at]
                return sum(joined) / len(joined) if joined else 0.0

            out[k].sort(key=middle)
    return out
