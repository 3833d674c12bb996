"""Inf-sup constants of pairs of stresses and velocities, in norms that are energies and so have no units:

    β = inf over v of sup over σ of σᵀD v / (√(σᵀC σ) √(vᵀN v)),     β² the smallest eigenvalue of DᵀC⁻¹D v = β² N v

with N = ∫ ε(v) : A ε(v), cell by cell and by a finer rule than that of the stresses; where velocities jump (or their slopes), plus
their jumps, A/h ∫ |[v]|² over the facets, those that are held included.
"""

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import phloat as ph
from phloat.algebra.sparse import csr
from phloat.bodies.continua.continuum import innermost
from phloat.bodies.plates.fields import Bubbled
from phloat.fem.assembly import VOIGT
from phloat.fem.plate_cells import Points
from phloat.fem.plate_space import lagrange_space
from phloat.fem.stress_space import nodes_of

stone = ph.Material(E=2.5, nu=0.25, rho=1.0)


def inf_sup(C, D, N):
    """β of a pair, zero if some velocity has no stress against it."""
    K = D.T @ spla.splu(C.tocsc()).solve(D.toarray())
    low = la.eigh(0.5 * (K + K.T), N.toarray(), subset_by_index=[0, 0], eigvals_only=True)[0]
    return float(np.sqrt(max(low, 0.0)))


# --- sheets and solids -----------------------------------------------------------------------------------------------


def finer_stiffness(body):
    """∫ ε : A ε of a Continuum by the rule of its mass."""
    cells, recipe = body.shape.shape.cells, body.recipe
    A, _, _ = recipe.elasticity(recipe.material)
    xi, _ = cells.reference.mass_rule
    slopes, d = cells._mapped(xi, slopes=True)[1], cells.dim
    B = np.zeros((*slopes.shape[:2], len(VOIGT[d]), slopes.shape[2], d))
    for k, (a, b) in enumerate(VOIGT[d]):
        B[:, :, k, :, a] += slopes[..., b]
        if a != b:
            B[:, :, k, :, b] += slopes[..., a]
    B = B.reshape(*B.shape[:3], -1)
    block = np.einsum("cq,cqiu,ij,cqjv->cuv", cells.mass_weights, B, A, B, optimize=True)
    u = (cells.nodes[:, :, None] * d + np.arange(d)).reshape(len(cells.nodes), -1)
    row, column = np.repeat(u, u.shape[1], axis=1).ravel(), np.tile(u, (1, u.shape[1])).ravel()
    K = csr(sp.coo_array((block.ravel(), (row, column))))
    keep = np.flatnonzero(body.shape.keep)
    return csr(K[keep][:, keep])


def of_forces(body):
    """β of a sheet or solid with displacements in H¹."""
    C, D, *_ = body.strains
    return inf_sup(C, D, finer_stiffness(body))


def continuous_stresses(body):
    """β of a sheet of order 1 with its stresses in the space of its displacements, components continuous: an unstable pair."""
    cells, recipe = body.shape.shape.cells, body.recipe
    S = np.linalg.inv(recipe.elasticity(recipe.material)[0])
    count, corners = cells.nodes.shape
    start = np.arange(0, count * corners + 1, corners)
    means = sp.csr_array(
        (np.full(count * corners, 1.0 / corners), cells.nodes.ravel(), start), shape=(count, len(cells.points))
    )
    D = sp.kron(sp.eye_array(len(S)), means).T @ body.strains.D  # strains are constant in each cell
    return inf_sup(csr(sp.kron(S, cells.mass(1.0))), csr(D), finer_stiffness(body))


def of_velocities(body):
    """β of a sheet or solid with tractions in H(div) and velocities that jump; all its sides are held."""
    space, d = body.sides.space, body.mesh.dimension
    A, _, _ = body.recipe.elasticity(body.recipe.material)
    count, n = len(space.corners), d + 1
    B = np.zeros((count, len(VOIGT[d]), n, d))
    for k, (a, b) in enumerate(VOIGT[d]):
        B[:, k, :, a] += space.slopes[:, :, b]
        if a != b:
            B[:, k, :, b] += space.slopes[:, :, a]
    B = B.reshape(count, len(VOIGT[d]), -1)
    block = np.einsum("c,ciu,ij,cjv->cuv", space.volumes, B, A, B)
    jumps = facet_jumps(space)
    size = space.facet_mass(np.arange(len(space.facets)))
    h = np.repeat(facet_sizes(space), size.shape[0] // len(space.facets))
    C, D = body.C, body.D
    return inf_sup(C, D, csr(sp.block_diag(block) + A[-1, -1] * jumps.T @ sp.diags_array(1.0 / h) @ size @ jumps))


def facet_sizes(space):
    """The longest edge of each facet."""
    x = space.vertices[space.facets]
    return np.max(np.linalg.norm(x[:, :, None] - x[:, None], axis=3), axis=(1, 2))


def facet_jumps(space):
    """The jumps of velocities of degree 1 at the nodes of all facets, (facet unknowns, velocities)."""
    d, nodes, rows = space.dim, nodes_of(space.dim), []
    for c, (corners, facets) in enumerate(zip(space.corners, space._facets[1], strict=True)):
        for j, f in enumerate(facets):
            sign, local = 1.0 if space.first_cell[f] == c else -1.0, [i for i in range(d + 1) if i != j]
            for m, node in enumerate(nodes):
                for i in node:
                    for a in range(d):
                        row, column = (f * len(nodes) + m) * d + a, (c * (d + 1) + local[i]) * d + a
                        rows.append((row, column, sign / len(node)))
        assert len(corners) == d + 1
    row, column, value = np.array(rows).T
    shape = (space.facet_unknowns * len(space.facets), space.corners.size * d)
    return csr(sp.coo_array((value, (row.astype(int), column.astype(int))), shape=shape))


# --- plates ----------------------------------------------------------------------------------------------------------


def of_moments(body):
    """β of a Kirchhoff plate; elements "hhj" with the jumps of slopes."""
    shape = innermost(body.shape)
    fields, D_b = shape.fields, body.recipe.section.through(np.zeros((1, 2))).D[0]
    points = fields.cells.quadrature(6 if fields.elements != "bfs" else 5)
    kappa = fields.strains("M", points)
    N = sum(D_b[i, j] * kappa[i].T @ sp.diags_array(points.weight) @ kappa[j] for i in range(3) for j in range(3))
    if fields.elements == "hhj":
        N = N + D_b[0, 0] * _slope_jumps(fields)
    keep = np.flatnonzero(body.shape.keep)
    C, D, *_ = body.strains
    return inf_sup(C, D, csr(csr(N)[keep][:, keep]))


def _slope_jumps(fields):
    """Σ 1/h ∫ [w_n]² over all edges."""
    cells, edges = fields.cells, np.arange(len(fields.cells.edges))
    points = cells.edge_quadrature(edges, 4)
    n, jump = np.repeat(cells.normals, 4, axis=0), 0.0
    for cell, sign in ((cells.edge_cell, 1.0), (_other_cells(cells), -1.0)):
        there = np.repeat(cell, 4) >= 0
        on = Points(np.maximum(np.repeat(cell, 4), 0), points.x, points.weight)
        slope = [fields.deflection(on, *ij) for ij in ((1, 0), (0, 1))]
        jump = (
            jump + sp.diags_array(sign * there * n[:, 0]) @ slope[0] + sp.diags_array(sign * there * n[:, 1]) @ slope[1]
        )
    h = np.repeat(_lengths(cells), 4)
    return jump.T @ sp.diags_array(points.weight / h) @ jump


def _other_cells(cells):
    """The cell beyond each edge, −1 on the boundary."""
    out = np.full(len(cells.edges), -1)
    for c, edges in enumerate(cells.cell_edges):
        for e in edges:
            if cells.edge_cell[e] != c:
                out[e] = c
    return out


def of_regular_moments(body):
    """β of a clamped plate with velocity inputs: w is linear in each cell, its jumps count with A/h³, those of slopes with A/h."""
    cells, D_b = body.sides.cells, body.recipe.section.through(np.zeros((1, 2))).D[0, 0, 0]
    edges, N = np.arange(len(cells.edges)), 0.0
    points = cells.edge_quadrature(edges, 2)
    h, n = np.repeat(_lengths(cells), 2), np.repeat(cells.normals, 2, axis=0)
    jumps = [0.0, 0.0]
    for cell, sign in ((cells.edge_cell, 1.0), (_other_cells(cells), -1.0)):
        factor, owner = sign * (np.repeat(cell, 2) >= 0), np.maximum(np.repeat(cell, 2), 0)
        xi = cells.local(owner, points.x)
        inverse = np.linalg.inv(cells.jacobians)[owner]
        across = np.einsum("pa,pka->pk", n, np.concatenate([-inverse.sum(axis=1)[:, None], inverse], axis=1))
        for k, rows in enumerate((np.column_stack([1.0 - xi.sum(axis=1), xi]), across)):
            column, start = 3 * owner[:, None] + np.arange(3), np.arange(0, 3 * len(owner) + 1, 3)
            entries = ((factor[:, None] * rows).ravel(), column.ravel(), start)
            jumps[k] = jumps[k] + sp.csr_array(entries, shape=(len(owner), 3 * len(cells.corners)))
    for jump, weight in zip(jumps, (points.weight / h**3, points.weight / h), strict=True):
        N = N + D_b * jump.T @ sp.diags_array(weight) @ jump
    return inf_sup(body.C, body.D, csr(N))


def _lengths(cells):
    """The lengths of all edges."""
    ends = cells.vertices[cells.edges]
    return np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)


def of_shear(cells, *, bubbles=True):
    """β of Mindlin's rotations against the curl of their shear, linear in each cell: ∫ p curl θ, in L² and H¹ (as for Stokes)."""
    space = lagrange_space(cells, 2, "theta")
    theta = Bubbled(space) if bubbles else space
    points = cells.quadrature(4)
    W = sp.diags_array(points.weight)
    slopes = [theta.evaluate(points, d) for d in ((1, 0), (0, 1))]
    H = sum(s.T @ W @ s for s in slopes)
    xi = cells.local(points.cell, points.x)
    lam = np.column_stack([1.0 - xi.sum(axis=1), xi])
    column = 3 * points.cell[:, None] + np.arange(3)
    start = np.arange(0, column.size + 1, 3)
    P = sp.csr_array((lam.ravel(), column.ravel(), start), shape=(len(lam), 3 * len(cells.corners)))
    on_boundary = np.isin(space.edge, cells.outside) | np.isin(space.vertex, np.unique(cells.edges[cells.outside]))
    free = np.setdiff1d(np.arange(theta.size), np.flatnonzero(on_boundary))
    H = csr(csr(H)[free][:, free])
    B = csr(sp.hstack([-(P.T @ W @ slopes[1])[:, free], (P.T @ W @ slopes[0])[:, free]]))
    solve = la.cho_factor(H.toarray())
    half = len(free)
    dense = B.toarray()
    S = sum(dense[:, k : k + half] @ la.cho_solve(solve, dense[:, k : k + half].T) for k in (0, half))
    value = la.eigh(S, (P.T @ W @ P).toarray(), eigvals_only=True)
    return float(np.sqrt(max(value[1], 0.0)))  # the first belongs to constants: ∫ curl θ = 0
