"""Blocks of matrices by the names of their rows and columns."""

from __future__ import annotations

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr
from phloat.errors import InputError, unknown

AXES = {  # the names of rows and columns of each matrix
    **dict.fromkeys(("E", "J", "R", "nonconservative"), ("rows", "rows")),
    **dict.fromkeys("BP", ("rows", "ports")),
    **dict.fromkeys("SN", ("ports", "ports")),
    "G": ("multipliers", "rows"),
    "B_lam": ("multipliers", "ports"),
}


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
