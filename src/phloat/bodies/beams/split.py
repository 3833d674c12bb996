"""Beams with large bending: floating pieces welded end to end, each with small deformation in its frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from phloat.bodies.body import Body
from phloat.bodies.construction import Construction
from phloat.bodies.material import ModalDamping, Rayleigh
from phloat.errors import InputError, whole_number


@dataclass(frozen=True, eq=False)
class Assembly:
    """Pieces of one beam, each welded with its end C to the end P of the next; `connect` calls them "beam.1", "beam.2" …

    The ports of the beam keep their names: "beam.P" is that of the first piece, "beam.C" that of the last.
    """

    recipe: Split
    pieces: tuple[Body, ...]

    def piece(self, k: int) -> Body:
        """Piece k, counted from 0."""
        return self.pieces[k]

    def reduced(
        self,
        *,
        modes: int,
        axial: int = 2,
        torsion: int = 2,
        loaded: Sequence[str] = ("P", "C"),
        shortening: str = "coordinates",
    ) -> Assembly:
        """The assembly with every piece reduced; the neighbours of a piece load both its ends."""
        options: dict[str, Any] = {"axial": axial, "torsion": torsion, "loaded": loaded, "shortening": shortening}
        reduced_bodies: dict[int, Body] = {}
        for body in self.pieces:
            if id(body) not in reduced_bodies:
                reduced_bodies[id(body)] = body.reduced(modes=modes, **options)
        return replace(self, pieces=tuple(reduced_bodies[id(body)] for body in self.pieces))

    def __repr__(self) -> str:
        return f"Assembly({len(self.pieces)} pieces: {self.pieces[0]!r}, …)"


@dataclass(frozen=True)
class Split:
    """A beam in `pieces` of equal length with the theory, damping and stiffening of the full beam.

    Every piece has the frame that the beam states, its {s: …} along the piece, or else the frame "chord".
    Damping by stiffness acts on every piece; damping by mass or by modes is relative to a motion of the full beam, which no
    piece knows, and raises InputError.
    """

    beam: Any  # a `Beam`, whose module imports this one
    pieces: int

    def __post_init__(self) -> None:
        whole_number("pieces", self.pieces, 1)
        damping = getattr(self.beam, "damping", None)
        by_mass = isinstance(damping, Rayleigh) and damping.mass > 0.0
        if self.pieces > 1 and (by_mass or isinstance(damping, ModalDamping)):
            raise InputError(
                f"{damping!r} is relative to a motion of the whole beam, which its {self.pieces} pieces do not know; "
                "damp a split beam by stiffness, KelvinVoigt(time), or leave it whole"
            )

    def discretise(self, elements: int | Sequence[float]) -> Assembly:
        """Every piece with this number of elements, or with elements between the given fractions 0 … 1 of its length."""
        distinct: list[tuple[Any, Body]] = []  # equal pieces are one and the same body
        bodies, construction = [], Construction(self).then("discretise", elements)
        for k in range(self.pieces):
            piece = self.beam.piece(k, self.pieces)
            body = next((body for recipe, body in distinct if recipe == piece), None)
            if body is None:
                body = replace(
                    piece.discretise(elements), pieces=int(self.pieces), construction=construction.then("piece", k)
                )
                distinct.append((piece, body))
            bodies.append(body)
        return Assembly(self, tuple(bodies))
