"""A solid of 10⁵ tetrahedra: how long its matrices take, how much memory, and how long its lowest modes."""

from importlib.util import find_spec

from measure import answer, measured, peak_MB, row, seconds

COUNT, KEPT = 20, 10
NOTE = """
The solid is a free cube of 27 × 27 × 27 blocks of five tetrahedra (98 415), isotropic. Its matrices are K and the consistent M of
the whole body, from a mesh that is there; compiled loops are loaded before. Peak memory is that of the whole process.
Modes are by shift-invert with one factorisation: SciPy's, or PARDISO's where `phloat[pardiso]` is installed. For order 2 (440 076
unknowns) SciPy's would fill the memory of an ordinary machine, so that row is there only with PARDISO.
"""


def measure(blocks, order, modes):
    from phloat.bodies.material import Material
    from phloat.bodies.solids.solid import Solid

    steel = Material(E=210e9, nu=0.3, rho=7800.0)
    Solid.box(1.0, 1.0, 1.0, material=steel, cells="tetrahedron").discretise(1, order=order)  # loads what is compiled
    mesh = Solid.box(1.0, 1.0, 1.0, material=steel, cells="tetrahedron").mesh.mesh(blocks, order)
    kept = []
    recipe = Solid(mesh, steel, frame="left", ports={"A": "left", "B": "right"})
    taken = seconds(lambda: kept.append(recipe.discretise(order=order)))
    body, assembled = kept[0], peak_MB()
    out = {"cells": len(mesh.cells), "unknowns": body.coordinates, "assembly": taken, "peak": assembled}
    if modes:
        out["modes"] = seconds(lambda: kept.append(body.modes(COUNT)))
        out["zeros"], out["first"] = int((kept[1][0] == 0).sum()), float(kept[1][0][6])
        out["peak with modes"] = peak_MB()
        out["reduced"] = seconds(lambda: kept.append(body.reduced(modes=KEPT, stiffened=0)))
        out["kept"], out["peak reduced"] = kept[2].coordinates, peak_MB()
    return out


def rows(quick=False):
    blocks, pardiso = 4 if quick else 27, find_spec("pypardiso") is not None
    found = []
    for order in (1, 2):
        with_modes = quick or pardiso or order == 1
        one = measured("solids.py", blocks=blocks, order=order, modes=with_modes)
        name = f"solid, {one['cells']} tetrahedra of order {order}"
        also = {"MB at most": one["peak"], "unknowns": one["unknowns"]}
        found.append(row(f"{name}: K and M", one["assembly"], "s", also=also))
        if with_modes:
            also = {"MB at most": one["peak with modes"], "zeros": one["zeros"], "rad/s, the first": one["first"]}
            by = "PARDISO" if pardiso and one["unknowns"] >= 20_000 else "SciPy"
            found.append(row(f"{name}: {COUNT} lowest modes, by {by}", one["modes"], "s", also=also))
            also = {"MB at most": one["peak reduced"], "coordinates": one["kept"]}
            found.append(row(f"{name}: Craig–Bampton, {KEPT} modes, two ports", one["reduced"], "s", also=also))
    return found


if __name__ == "__main__":
    answer(measure)
