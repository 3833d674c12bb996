"""Pieces of split beams among the bodies of a system: "beam.1", "beam.2" … are addressed as one "beam"."""

from __future__ import annotations

from collections.abc import Mapping

from phloat.bodies.beams.fields import fraction
from phloat.bodies.body import Body


def pieces_of(bodies: Mapping[str, Body], name: str) -> tuple[str, ...]:
    """The names of the pieces of a beam, in order; none where it is no split beam."""
    first = bodies.get(f"{name}.1")
    names = tuple(f"{name}.{k + 1}" for k in range(first.pieces)) if first else ()
    return names if all(piece in bodies for piece in names) else ()


def located(bodies: Mapping[str, Body], name: str, s: float) -> tuple[str, float]:
    """The body and the place along it that are the place s of a split beam; of any other body, that body and s."""
    pieces = () if name in bodies else pieces_of(bodies, name)
    if not pieces:
        return name, s
    along = fraction("place", s) * len(pieces)
    k = min(int(along), len(pieces) - 1)
    return pieces[k], along - k


def other_names(bodies: Mapping[str, Body]) -> dict[str, str]:
    """What the ports of split beams are called as well: "beam.P" is "beam.1.P", "beam.C" is the end of the last piece."""
    out: dict[str, str] = {}
    for beam in dict.fromkeys(name.rpartition(".")[0] for name, body in bodies.items() if body.pieces):
        pieces = pieces_of(bodies, beam)
        for piece in pieces:
            inner = {"P"} if piece != pieces[0] else set()
            inner |= {"C"} if piece != pieces[-1] else set()
            out |= {f"{beam}.{port}": f"{piece}.{port}" for port in bodies[piece].ports if port not in inner}
    return out
