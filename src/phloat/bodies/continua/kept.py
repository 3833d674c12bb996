"""The kept fields of a body on a mesh, and what they are anywhere in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import Matrix, block_inverse, csr
from phloat.bodies.body import Shape
from phloat.bodies.continua.meshed import Meshed, Strains
from phloat.errors import InputError


@dataclass(frozen=True, eq=False)
class Fields:
    """Kept fields V (n × r) with their frequencies, the pairs that strain, and whether each of both is even in z.

    `into` (r × pairs) are the parts of the pairs' strains along the fields' own, `left` (rest × pairs) the parts that remain, each
    of even pairs or of odd ones (`even_left`). Where the body is not its own mirror image in z all count as odd: none of its
    motions stays in a plane. Even ones come first.
    """

    V: np.ndarray
    omega: np.ndarray
    even: np.ndarray
    pairs: list[tuple[int, int]]
    into: np.ndarray
    left: np.ndarray
    even_left: np.ndarray


def pair_of(continuum: Meshed, v: np.ndarray, w: np.ndarray) -> np.ndarray:
    assert continuum.strains.pair is not None
    return continuum.strains.pair(v, w)


def stress_of(strains: Strains) -> Callable[[np.ndarray], np.ndarray]:
    """C⁻¹ on columns."""
    inverse = block_inverse(strains.C)
    if inverse is None:
        raise InputError("bodies whose stresses are not local to elements do not stiffen; use the conforming elements")
    return lambda s: inverse @ s


@dataclass(frozen=True, eq=False)
class Kept:
    """The fields of a mesh body in its kept coordinates."""

    continuum: Meshed
    fields: Fields

    @property
    def shape(self) -> Shape:
        return self.continuum.shape

    def places(self) -> np.ndarray:
        return self.shape.places()

    def points(self, s: np.ndarray) -> np.ndarray:
        return self.shape.points(s)

    def displacement(self, s: np.ndarray) -> Matrix:
        return csr(self.shape.displacement(s) @ self.fields.V)

    def rotation(self, s: np.ndarray) -> Matrix:
        return csr(self.shape.rotation(s) @ self.fields.V)

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        return {name: csr(rows @ self.S) for name, rows in self.shape.stress(s).items()}

    def material(self, x: np.ndarray) -> Matrix:
        return self.displacement(x)

    def cauchy(self, x: np.ndarray) -> Matrix:
        return csr(self.shape.cauchy(x) @ self.S)

    def stress_points(self) -> np.ndarray:
        return self.shape.stress_points()

    @cached_property
    def S(self) -> np.ndarray:
        """The stresses of the mesh per kept stress."""
        f, strains = self.fields, self.continuum.strains
        strain = (strains.D @ f.V) / f.omega
        if len(f.left):
            s = np.column_stack([pair_of(self.continuum, f.V[:, i], f.V[:, j]) for i, j in f.pairs])
            strain = np.hstack([strain, (s - strain @ f.into) @ la.pinv(f.left)])
        return stress_of(strains)(strain)
