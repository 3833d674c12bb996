"""A solid of 10⁵ tetrahedra: how long its matrices take, how much memory, and how long its lowest modes."""

from importlib.util import find_spec

from measure import answer, measured, peak_MB, row, seconds

COUNT, KEPT, ITERATIONS = 20, 10, 10
NOTE = """
The solid is a free cube of 27 × 27 × 27 blocks of five tetrahedra (98 415), isotropic. Its matrices are K and the consistent M of
the whole body, from a mesh that is there; compiled loops are loaded before. Peak memory is that of the whole process.
Modes are by shift-invert with one factorisation: by phloat's Cholesky factor ordered by METIS, by PARDISO (`phloat[pardiso]`), or
by SciPy's SuperLU with its own order, which for order 2 (440 076 unknowns) would fill the memory of an ordinary machine. Beside
them stands LOBPCG preconditioned by algebraic multigrid of the rigid motions (`pyamg`), which needs no factor. Errors of ω are
differences from Cholesky's.
"""
PACKAGES = {"Cholesky": "pymetis", "PARDISO": "pypardiso", "SuperLU": "", "multigrid": "pyamg"}


def measure(blocks, order, by, reduced=False):
    from phloat.algebra import factors
    from phloat.bodies.material import Material
    from phloat.bodies.solids.solid import Solid

    factors.find_spec = lambda name: True if name == PACKAGES[by] else None
    steel = Material(E=210e9, nu=0.3, rho=7800.0)
    small = Solid.box(1.0, 1.0, 1.0, material=steel, cells="tetrahedron").discretise(6, order=order)
    small_modes(small, by)  # loads what is compiled
    mesh = Solid.box(1.0, 1.0, 1.0, material=steel, cells="tetrahedron").mesh.mesh(blocks, order)
    kept = []
    recipe = Solid(mesh, steel, frame="left", ports={"A": "left", "B": "right"})
    taken = seconds(lambda: kept.append(recipe.discretise(order=order)))
    body = kept[0]
    out = {"cells": len(mesh.cells), "unknowns": body.coordinates, "assembly": taken, "peak": peak_MB()}
    out["modes"] = seconds(lambda: kept.append(by_multigrid(body) if by == "multigrid" else body.modes(COUNT)[0]))
    out["omega"], out["zeros"] = kept[1][6:].tolist(), int((kept[1] == 0).sum())
    out["peak with modes"] = peak_MB()
    if reduced:
        out["reduced"] = seconds(lambda: kept.append(body.reduced(modes=KEPT, stiffened=0)))
        out["kept"], out["peak reduced"] = kept[2].coordinates, peak_MB()
    return out


def small_modes(body, by):
    """Loads the compiled code of a road with a body for which it is not used by itself."""
    from phloat.algebra import factors

    large, factors.LARGE = factors.LARGE, 1
    if by == "multigrid":
        by_multigrid(body)
    else:
        body.modes(8)
    factors.LARGE = large


def by_multigrid(body):
    """ω of `COUNT` modes by LOBPCG on what is orthogonal to the rigid motions."""
    import warnings

    import numpy as np
    import pyamg
    import scipy.sparse as sp
    import scipy.sparse.linalg as spla

    K, M, rigid = body.K, body.M, body.rigid
    shifted = sp.csr_matrix(K + 1e-8 * float((K.diagonal() / M.diagonal()).max()) * M).tobsr((3, 3))
    sweep = ("block_gauss_seidel", {"sweep": "symmetric"})
    strength = ("symmetric", {"theta": 0.0})
    solver = pyamg.smoothed_aggregation_solver(
        shifted,
        B=np.linalg.qr(rigid)[0],
        strength=strength,
        presmoother=sweep,
        postsmoother=sweep,
        improve_candidates=None,
    )
    start = np.random.default_rng(0).normal(
        size=(body.coordinates, COUNT - 6 + 4)
    )  # four more, so that the last converge too
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LOBPCG warns unless residuals are below √eps
        value, _ = spla.lobpcg(K, start, B=M, M=solver.aspreconditioner(), Y=rigid, largest=False, maxiter=ITERATIONS)
    return np.concatenate([np.zeros(6), np.sqrt(np.sort(value)[: COUNT - 6])])


def rows(quick=False):
    blocks, found = 4 if quick else 27, []
    for order in (1, 2):
        roads = ["Cholesky", "PARDISO", *(("SuperLU", "multigrid") if quick or order == 1 else ())]
        roads = [by for by in roads if not PACKAGES[by] or find_spec(PACKAGES[by])]
        first = None
        for by in roads:
            one = measured("solids.py", blocks=blocks, order=order, by=by, reduced=order == 1 and by != "multigrid")
            name = f"solid, {one['cells']} tetrahedra of order {order}"
            if first is None:
                first = one["omega"]
                also = {"MB at most": one["peak"], "unknowns": one["unknowns"]}
                found.append(row(f"{name}: K and M", one["assembly"], "s", also=also))
            error = max(abs(a / b - 1.0) for a, b in zip(one["omega"], first, strict=True))
            also = {"MB at most": one["peak with modes"], "zeros": one["zeros"], "error of ω": error}
            found.append(row(f"{name}: {COUNT} lowest modes, by {by}", one["modes"], "s", also=also))
            if "reduced" in one:
                also = {"MB at most": one["peak reduced"], "coordinates": one["kept"]}
                found.append(
                    row(f"{name}: Craig–Bampton, {KEPT} modes, two ports, by {by}", one["reduced"], "s", also=also)
                )
    return found


if __name__ == "__main__":
    answer(measure)
