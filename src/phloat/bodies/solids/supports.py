"""Supports, materials by region and the mass check of solids and sheets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.material import Material, Orthotropic
from phloat.errors import InputError, finite, mapping, unknown
from phloat.fem.mesh import Mesh

Sides: TypeAlias = "str | tuple[str, ...] | None"
Elastic: TypeAlias = "Material | Orthotropic"
Line: TypeAlias = "Sequence[Sequence[float]]"  # its two ends
FLAT = 1e-9  # of the body
NEAR = 1e-6  # of the body: how far nodes may lie off a line
WIDE = 2.5  # sizes of a cell: the widest gap between nodes of a line
SLIPS = (  # found mass / expected mass, and what may be behind it
    (1e9, "a mesh in millimetres: unit=1e-3"),
    (1e6, "a mesh in centimetres: unit=1e-2"),
    (39.3701**3, "a mesh in inches: unit=0.0254"),
    (1e-9, "a mesh in metres that was scaled from millimetres: unit=1"),
    (1e3, "a mass in tonnes: mass is in kg"),
    (1e-3, "a density in g/cm³: rho is in kg/m³"),
    (1e-12, "a density in t/mm³: rho is in kg/m³"),
)


def sides(what: str, given: object, mesh: Mesh, lines: Collection[str] = ()) -> tuple[str, ...]:
    """Names of boundaries or lines: one, several, "all" boundaries that have names, or none."""
    if given is None:
        return ()
    if isinstance(given, str) and given == "all" and "all" not in mesh.boundaries:
        return tuple(mesh.boundaries)
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, (tuple, list)):
        raise InputError(f"{what} is {given!r}; it must be the name of a boundary, a tuple of names, or None")
    for name in names:
        for part in (name,) if not isinstance(name, str) or name in lines else name.split(" & "):
            if part not in lines and part not in mesh.boundaries:
                raise InputError(f"{what}: {unknown('boundary', part, [*mesh.boundaries, *lines])}")
    return tuple(names)


def nodes_on(mesh: Mesh, lines: Mapping[str, Line], name: str) -> np.ndarray:
    """The nodes of a boundary, of a line, or of what several boundaries share: "left & bottom" is an edge of a box."""
    if name in lines:
        return _nodes_along(mesh, name, lines[name])
    found = np.arange(len(mesh.points))
    for part in name.split(" & "):
        found = np.intersect1d(found, mesh.node_numbers(part))
    if not len(found):
        raise InputError(f"the boundaries of {name!r} share no node")
    return found


def _nodes_along(mesh: Mesh, name: str, line: Line) -> np.ndarray:
    """The nodes on a straight line; it must run along edges of cells."""
    a, b = finite(f"the ends of line {name!r}", line, (2, 3))
    way = b - a
    length = float(np.linalg.norm(way))
    t = np.clip((mesh.points - a) @ way / max(length**2, 1e-300), 0.0, 1.0)
    on = np.flatnonzero(np.linalg.norm(mesh.points - a - t[:, None] * way, axis=1) <= NEAR * mesh.size)
    gaps = np.diff(np.sort(np.concatenate([[0.0, 1.0], t[on]]))) * length
    if not len(on) or gaps.max() > WIDE * float(np.max(mesh.measure)) ** (1.0 / mesh.dimension):
        raise InputError(
            f"{len(on)} nodes lie on line {name!r}, and the widest gap between them is {gaps.max():.3g} m; a line must run along "
            "edges of cells: choose cells that meet there"
        )
    return on


def with_supports(
    free: Continuum, clamped: Sides, symmetric: Sides, held: Mapping[str, str], lines: Mapping[str, Line] | None = None
) -> Continuum:
    """The body with boundaries clamped, free to slide in their own plane (symmetric), or held along some axes; lines likewise."""
    mesh, axes = free.mesh, "xyz"[: free.mesh.dimension]
    lines = mapping("lines", lines or {}, "{name: (start, end)}")
    wanted = dict.fromkeys(sides("clamped", clamped, mesh, lines), axes)
    words = [f"clamped at {name!r}" for name in wanted]
    for name in sides("symmetric", symmetric, mesh):
        wanted[name] = wanted.get(name, "") + axes[_across(mesh, name)]
        words.append(f"symmetric about {name!r}")
    for name, along in mapping("held", held, '{boundary: axes, as in "xz"}').items():
        sides("held", name, mesh, lines)
        if not isinstance(along, str) or not along or set(along) - set(axes):
            raise InputError(f"held[{name!r}] is {along!r}; it must say axes out of {axes!r}, as in {axes[:2]!r}")
        wanted[name] = wanted.get(name, "") + along
        words.append(f"{name!r} held along {along}")
    if not wanted:
        return free
    coordinates = [
        nodes_on(mesh, lines, name) * len(axes) + axes.index(a) for name, along in wanted.items() for a in set(along)
    ]
    return free.with_supports(np.unique(np.concatenate(coordinates)), ", ".join(words))


def _across(mesh: Mesh, name: str) -> int:
    """The axis across a flat boundary."""
    x = mesh.points[mesh.node_numbers(name)][:, : mesh.dimension]
    flat = np.flatnonzero(np.ptp(x, axis=0) <= FLAT * mesh.size)
    if len(flat) != 1:
        raise InputError(
            f"the boundary {name!r} is not flat across one of the axes, so it cannot be symmetric; "
            f'hold axes of it: held={{{name!r}: "x"}}'
        )
    return int(flat[0])


def cells_by_material(mesh: Mesh, material: object) -> list[tuple[np.ndarray, Elastic]]:
    """Cells and their material: one material for all, or {region: material}."""
    if isinstance(material, (Material, Orthotropic)):
        return [(np.arange(len(mesh.cells)), material)]
    if not isinstance(material, Mapping):
        raise InputError(f"material is {material!r}; it must be Material(…), Orthotropic(…) or {{region: material}}")
    of = np.full(len(mesh.cells), -1)
    for k, (name, one) in enumerate(material.items()):
        if name not in mesh.regions:
            raise InputError(f"material: {unknown('region', name, mesh.regions)}")
        if not isinstance(one, (Material, Orthotropic)):
            raise InputError(f"the material of region {name!r} is {one!r}; it must be Material(…) or Orthotropic(…)")
        if (of[mesh.regions[name]] >= 0).any():
            raise InputError(f"region {name!r} overlaps another region that has a material; give each cell one")
        of[mesh.regions[name]] = k
    if bare := int((of < 0).sum()):
        raise InputError(
            f"{bare} of {len(of)} cells lie in no region with a material; the mesh has regions "
            f"{', '.join(mesh.regions) or 'none'}, materials are given for {', '.join(material) or 'none'}"
        )
    return [(np.flatnonzero(of == k), one) for k, one in enumerate(material.values())]


def require_mass(found: float, expected: float | None) -> None:
    """Raises InputError if the mass of a body differs from the expected one by more than 1 %."""
    if expected is None or abs(found / expected - 1.0) <= 0.01:
        return
    ratio = found / expected
    likely = [why for slip, why in SLIPS if 0.7 < ratio / slip < 1.4]
    hint = f"; likely {' or '.join(likely)}" if likely else "; check the density and the mesh"
    raise InputError(f"this body weighs {found:.4g} kg, {ratio:.3g} times the mass of {expected:.4g} kg given{hint}")
