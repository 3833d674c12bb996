"""Elastic bodies at rest as linear systems of (v | σ)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, diagonal, stacked, zero_matrix
from phloat.linear.form.fields import Field
from phloat.linear.form.phdae import LinearPHDAE


class ElasticMatrices(NamedTuple):
    """M v̇ = −Dᵀσ − R v + B u,  C σ̇ = D v of one or several bodies."""

    M: Matrix
    C: Matrix
    D: Matrix
    R: Matrix
    B: Matrix

    def system(
        self,
        velocities: Layout,
        ports: Layout,
        stresses: Layout,
        fields: Mapping[str, Field],
        parts: Mapping[str, Layout],
    ) -> LinearPHDAE:
        """The linear system of (v | σ); `fields` are in its rows, `parts` names what is in the blocks of stresses."""
        M, C, D, R, B = self
        count, n = D.shape
        return LinearPHDAE(
            E=diagonal([M, C]),
            J=stacked([[zero_matrix(n, n), -D.T], [D, zero_matrix(count, count)]]),
            R=diagonal([R, zero_matrix(count, count)]),
            B=csr(sp.vstack([B, zero_matrix(count, B.shape[1])])),
            rows=Layout({**velocities.shapes, **stresses.shapes}, "row"),
            ports=ports,
            split=n,
            fields=fields,
            parts=parts,
        )


def on_rows(field: Field, stresses: int) -> Field:
    """The field of velocities as one of rows with stresses behind them."""
    return field.in_rows(lambda A: sp.hstack([A, zero_matrix(A.shape[0], stresses)]))


def elastic_system(
    *,
    M: Matrix,
    C: Matrix,
    D: Matrix,
    R: Matrix,
    B: Matrix,
    velocities: Layout,
    ports: Layout,
    field: Field,
    parts: Layout | None = None,
) -> LinearPHDAE:
    """M v̇ = −Dᵀσ − R v + B u,  C σ̇ = D v as a linear system of (v | σ); `field` maps v to the motion of points, `parts` names σ."""
    stresses, n = D.shape
    field = replace(field, velocities=csr(sp.eye_array(n)))
    return ElasticMatrices(M, C, D, R, B).system(
        velocities,
        ports,
        Layout({"sigma": (stresses,)} if stresses else {}),
        {"body": on_rows(field, stresses)},
        {"sigma": parts} if parts is not None and stresses else {},
    )
