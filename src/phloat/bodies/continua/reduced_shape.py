"""The reduced coordinates of a body on a mesh and the fields that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import block_inverse
from phloat.bodies.continua.mesh_body import MeshBody, Strains
from phloat.bodies.shape import DerivedShape, Shape
from phloat.errors import InputError


@dataclass(frozen=True, eq=False)
class ReducedFields:
    """Fields V (n × r) with their frequencies, the pairs that strain, and whether each of both is even in z.

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


def quadratic_strain_of(continuum: MeshBody, v: np.ndarray, w: np.ndarray) -> np.ndarray:
    assert continuum.strains.pair is not None
    return continuum.strains.pair(v, w)


def inverse_compliance(strains: Strains) -> Callable[[np.ndarray], np.ndarray]:
    """C⁻¹ on columns."""
    inverse = block_inverse(strains.C)
    if inverse is None:
        raise InputError("bodies whose stresses are not local to elements do not stiffen; use the conforming elements")
    return lambda s: inverse @ s


@dataclass(frozen=True, eq=False)
class ReducedShape(DerivedShape):
    """The shape of a body on a mesh in its reduced coordinates."""

    continuum: MeshBody
    fields: ReducedFields

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        return self.continuum.shape

    @property
    def V_v(self) -> np.ndarray:  # type: ignore[override]
        return self.fields.V

    @cached_property
    def V_sigma(self) -> np.ndarray:  # type: ignore[override]
        """The stresses of the mesh per reduced stress."""
        f, strains = self.fields, self.continuum.strains
        strain = (strains.D @ f.V) / f.omega
        if len(f.left):
            s = np.column_stack([quadratic_strain_of(self.continuum, f.V[:, i], f.V[:, j]) for i, j in f.pairs])
            strain = np.hstack([strain, (s - strain @ f.into) @ la.pinv(f.left)])
        return inverse_compliance(strains)(strain)
