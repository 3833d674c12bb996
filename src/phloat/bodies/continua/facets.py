"""The mesh behind a body, and the facets that it is drawn by."""

from __future__ import annotations

import numpy as np

from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.reduced_shape import ReducedShape
from phloat.bodies.shape import Shape
from phloat.fem.mesh import Mesh


def mesh_of(body: Body) -> Mesh | None:
    """The mesh of a body that was made on one."""
    found = _continuum(body)
    return found.mesh if found else None


def facets_of(body: Body) -> np.ndarray | None:
    """By which places a body on a mesh is drawn, (facets, corners): the cells of a plate, the outside of a solid."""
    found = _continuum(body)
    return found.facets if found else None


def innermost(shape: Shape) -> Shape:
    """The shape that others select from and combine."""
    while hasattr(shape, "shape"):
        shape = shape.shape
    return shape


def _continuum(body: Body) -> Continuum | None:
    shape = body.shape
    while not isinstance(shape, ReducedShape):
        if not hasattr(shape, "shape"):
            return None
        shape = shape.shape
    return shape.continuum if isinstance(shape.continuum, Continuum) else None
