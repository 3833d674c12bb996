"""An elastic body on a mesh: its mass, its strains and the motion of its boundary, and discs inside a plate, a sheet or a face.

The compliance of a point under a force or a moment may grow without bound as the mesh is refined. A disc of
radius a has a finite compliance, to which meshes with cells smaller than a converge.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.cross import skew
from phloat.algebra.layout import Layout
from phloat.algebra.metadata import describe, optional
from phloat.algebra.sparse import Matrix, csr, weighted
from phloat.algebra.units import in_si
from phloat.bodies.body import Recipe
from phloat.bodies.inertia import Inertia
from phloat.bodies.material import Damping, Rayleigh
from phloat.bodies.shape import Shape, rigid_motions
from phloat.errors import CoarsePatchWarning, InputError, finite, mapping, port_name, positive, unknown

COARSE = 0.5  # of the size of a cell: modes that bend a patch of smaller radius are more than 2 % high
FINE = 4  # points of a disc along the side of a cell: enough to resolve kinks between cells


@dataclass(frozen=True)
class Patch:
    """A port that follows the mean motion of a disc about a point; forces and moments are spread over it.

    `at` is the middle of the disc: a point of a plate or a sheet, or on the surface of a solid. `radius` is about that of the part
    fixed there; cells should not be larger than it.
    """

    at: Sequence[float] = field(metadata=describe("the middle of the disc", "length"))
    radius: float = field(metadata=describe("about that of what is fixed there", "length", above=0.0))

    def __post_init__(self) -> None:
        in_si(self)
        object.__setattr__(self, "at", tuple(finite("at of a Patch", self.at, (3,)).tolist()))
        object.__setattr__(self, "radius", positive("radius of a Patch", self.radius))

    def disc(self, cell: float) -> tuple[np.ndarray, np.ndarray]:
        """Points (points, 2) relative to the middle and weights whose sum is the area, fine compared with cells of size `cell`."""
        if self.radius < COARSE * cell:
            middle = ", ".join(f"{x:g}" for x in self.at)
            warnings.warn(
                f"the patch of radius {self.radius:g} about ({middle}) lies in cells of size {cell:.3g}, which give "
                f"way less than it does; make cells of at most {self.radius / COARSE:.3g} there",
                CoarsePatchWarning,
                stacklevel=3,
            )
        per = FINE * self.radius / cell
        s, weight = np.polynomial.legendre.leggauss(4 + int(np.ceil(per)))
        r, around = 0.5 * self.radius * (1.0 + s), 12 + 2 * int(np.ceil(np.pi * per))
        angle = 2.0 * np.pi * (np.arange(around) + 0.5) / around
        x = r[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        each = np.pi * self.radius * weight * r / around
        return x.reshape(-1, 2), np.repeat(each, around)


def disc_error(patch: Patch, name: str) -> InputError:
    """The error for a disc that reaches beyond the body."""
    x = ", ".join(f"{x:g}" for x in patch.at)
    return InputError(
        f"the disc of radius {patch.radius:g} about ({x}) reaches beyond {name}; take a smaller radius, or move it inwards"
    )


class MassSamples(NamedTuple):
    """The distribution of mass: T = ½ Σ_a (Φ_a q̇)ᵀ mass (Φ_a q̇), with Φ_a (samples × coordinates) for a = x, y, z.

    Samples are quadrature points (mass diagonal) or nodes (mass consistent): x, too, is a field of samples, (samples, 3).
    `weight` is the area or volume of each sample, so that ∫ f = Σ weight f(x).
    """

    x: np.ndarray
    mass: Matrix
    Phi: tuple[Matrix, Matrix, Matrix]
    weight: np.ndarray | None = None


class Strains(NamedTuple):
    """C σ = D q + ½ pair(q, q): compliance, strains tested with stresses, and the quadratic part as a bilinear function.

    `stresses` names the blocks of σ. pair(q, r) is (stresses,), symmetric in its two arguments; None: no quadratic part.
    """

    C: Matrix
    D: Matrix
    stresses: Layout
    pair: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None


class Trace(NamedTuple):
    """A part of a body as quadrature points: x (points, 3), weights, and matrices of displacement and rotation.

    `turn` are the rotations of the material if they are coordinates (plates), weighted by `gyration` = h²/12 relative to
    squares of lengths; None for solids.
    """

    x: np.ndarray
    weight: np.ndarray
    u: tuple[Matrix, Matrix, Matrix]
    turn: tuple[Matrix, Matrix, Matrix] | None = None
    gyration: float = 0.0


class Surface(NamedTuple):
    """A surface as quadrature points with tangents t_1, t_2 (points, 3); the vector of its area is ∫ t_1 × t_2, outwards on solids.

    `u` are matrices of the displacement, `slopes` of the changes of both tangents by it, each for x, y and z.
    """

    x: np.ndarray
    weight: np.ndarray
    tangents: tuple[np.ndarray, np.ndarray]
    u: tuple[Matrix, Matrix, Matrix]
    slopes: tuple[tuple[Matrix, Matrix, Matrix], tuple[Matrix, Matrix, Matrix]]


@dataclass(frozen=True, eq=False, kw_only=True)
class MeshBody:
    """An elastic body on a mesh in n coordinates q, with all that ports and floating bodies need.

    `M` and `K` (None if the stresses are not local to elements) are the classical matrices, `drag` a prescribed damping matrix;
    `strains` computes C and D when they are needed. `rigid` (n × 6) are the coordinates of unit translations and of unit
    rotations about the origin. `kinds` names each coordinate ("u_x", "w", "theta_y"…), `parts` are the coordinates on each
    named boundary, `trace(name)` the boundary as quadrature points ("": the whole body), `make_surface(name)` the surface that a
    pressure acts on. `held` describes what is held to the ground. `frame` and
    `stiffening` are options of the floating body; `stretch(G)` are the coordinates of the field u = G x.
    """

    recipe: Recipe
    samples: MassSamples
    sections: Inertia | None
    M: Matrix
    K: Matrix | None
    make_strains: Callable[[], Strains]
    rigid: np.ndarray
    kinds: np.ndarray
    parts: Mapping[str, np.ndarray]
    make_trace: Callable[[str | Patch], Trace]
    shape: Shape
    damping: Damping
    make_surface: Callable[[str], Surface] | None = None
    drag: Matrix | None = None
    frame: str | None = None
    stretch: Callable[[np.ndarray], np.ndarray] | None = None
    held: str = ""

    @property
    def coordinates(self) -> int:
        return self.M.shape[0]

    @cached_property
    def strains(self) -> Strains:
        """Compliance C, strain matrix D and quadratic strain of C σ = D q + ½ pair(q, q), computed at the first use."""
        return self.make_strains()

    def on(self, boundary: str, kinds: Iterable[str] | None = None) -> np.ndarray:
        """Indices of the coordinates on a named boundary, all or some kinds of them."""
        if boundary not in self.parts:
            raise InputError(unknown("boundary", boundary, self.parts))
        numbers = np.asarray(self.parts[boundary])
        return numbers if kinds is None else numbers[np.isin(self.kinds[numbers], list(kinds))]

    def trace(self, part: str | Patch) -> Trace:
        """A boundary, a region of cells or a disc as quadrature points."""
        return self.make_trace(part)


# --- ports of bodies on meshes ----------------------------------------------------------------------------------------
#
# Ports of bodies on meshes: parts of the boundary, or points, to which joints are attached.
#
#     (v_C, ω_C) = L q̇:   the rigid motion nearest to that of the patch, min ∫ |u − v − ω × (x − x_C)|² (+ h²/12 |θ − ω|² on plates)
#
# A rigid interface forces the patch to move rigidly (a bore with a stiff pin in it); a mean one lets it deform
# and distributes the force that acts there.


UNDETERMINED = 1e-9  # of the largest eigenvalue: below this a rotation of a patch is undetermined
PORTS = "{name: boundary, Mean(boundary), Patch(at, radius) or point}"
THIN = 1e-15  # the same if the rotation of the material is known, as in plates: of (thickness / length)²
UNTIED = (np.zeros(0, dtype=int), np.zeros((0, 6)))  # no coordinates, and their rigid motion
IN_PLANE = [0, 1, 5]  # the components of (v, ω) that a sheet has


@dataclass(frozen=True)
class Mean:
    """A port that follows the mean motion of a boundary or a region, which may deform; forces are spread evenly over it."""

    boundary: str


@dataclass(frozen=True)
class Rigid:
    """A port that makes a boundary rigid."""

    boundary: str


Place: TypeAlias = "str | Rigid | Mean | Patch | tuple[float, float, float]"


# fields that several recipes of bodies on meshes have: default and description
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "clamped": (None, "held: a boundary, several, or all"),
    "symmetric": (None, "free to slide in its own plane: a boundary, several, or all"),
    "held": (dict, "{boundary, edge (left & bottom) or line: axes that are held, such as xz}"),
    "frame": (None, "the boundary that the floating frame follows, or mean axes; none for small motions"),
    "ports": (dict, "{name: boundary, {mean: boundary or region}, {patch: {at, radius}} or point}"),
    "damping": (Rayleigh, "how it loses energy"),
    "stiffening": (True, "whether stress stiffens it"),
    "lines": (dict, "straight lines by name: their two ends"),
}


def option(name: str) -> Any:
    """The field of this name of a recipe, with its default."""
    return optional(*_OPTIONS[name])


@dataclass(frozen=True, eq=False)
class Interface:
    """A port of a body on a mesh: point x, motion r = L q (6 × n), and the coordinates it ties rigidly, q[tied] = rigid r."""

    x: np.ndarray
    L: Matrix
    tied: np.ndarray
    rigid: np.ndarray


def interfaces(continuum: MeshBody, ports: Mapping[str, Place]) -> dict[str, Interface]:
    """The interfaces of the ports of a recipe by name. Raises InputError if rigid ones share nodes."""
    out: dict[str, Interface] = {}
    tied = np.zeros(continuum.coordinates, bool)
    for name, patch in mapping("ports", ports, PORTS).items():
        port_name(name)
        port_interface = interface(continuum, name, patch)
        if tied[port_interface.tied].any():
            shared = [name_before for name_before, o in out.items() if np.intersect1d(o.tied, port_interface.tied).size]
            raise InputError(f"ports {shared[0]!r} and {name!r} share nodes that both make rigid; make one a Mean(…)")
        tied[port_interface.tied] = True
        out[name] = port_interface
    return out


def interface(continuum: MeshBody, name: str, patch: Place) -> Interface:
    """The interface of one port: a boundary (rigid), Mean(boundary or region), Patch(at, radius), or a point."""
    if isinstance(patch, (str, Rigid)):
        boundary = patch if isinstance(patch, str) else patch.boundary
        x, L = mean_motion(continuum.trace(boundary), f"port {name!r} on {boundary!r}")
        tied = continuum.on(boundary)
        rigid = continuum.rigid[tied] @ rigid_shift(x)
        return Interface(x, _by_ties(L, tied, rigid), tied, rigid)
    if isinstance(patch, Mean):
        x, L = mean_motion(continuum.trace(patch.boundary), f"port {name!r} on {patch.boundary!r}")
        return Interface(x, L, *UNTIED)
    if isinstance(patch, Patch):
        middle = np.array(patch.at)
        try:
            x, L = mean_motion(continuum.trace(patch), f"port {name!r}")
        except InputError as error:
            raise InputError(f"port {name!r}: {error}") from None
        return Interface(middle, csr(csr(rigid_shift(x - middle)) @ L), *UNTIED)
    x = finite(f"port {name!r}, which names no boundary,", patch, (3,))
    places = x[None, :]
    L = csr(sp.vstack([continuum.shape.displacement(places), continuum.shape.rotation(places)]))
    return Interface(x, L, *UNTIED)


def _by_ties(L: Matrix, tied: np.ndarray, rigid: np.ndarray) -> Matrix:
    """L by the tied coordinates only: in nonconforming elements other coordinates move the boundary, too."""
    L_tied = csr(L[:, tied])
    entries = csr(la.pinv(L_tied @ rigid) @ L_tied).tocoo()
    return csr(sp.coo_array((entries.data, (entries.row, tied[entries.col])), shape=L.shape))


def rigid_shift(x: np.ndarray) -> np.ndarray:
    """The 6 × 6 matrix from the motion (v_x, ω) of a point x to that of the origin, v = v_x − ω × x."""
    out = np.eye(6)
    out[:3, 3:] = skew(x)
    return out


def mean_motion(trace: Trace, label: str) -> tuple[np.ndarray, Matrix]:
    """The centre of a patch and the matrix L (6 × n) of its mean motion (v_C, ω_C). Raises InputError if that is undetermined."""
    w = trace.weight / trace.weight.sum()
    x_C = w @ trace.x
    arm = trace.x - x_C
    rows = np.ascontiguousarray(
        rigid_motions(arm).transpose(1, 0, 2)
    )  # coefficients of (v, ω) at each point, for x, y, z
    N = np.einsum("g,agi,agj->ij", w, rows, rows)
    right_side = sum((csr(rows[a].T) @ weighted(trace.u[a], w) for a in range(3)), csr((6, trace.u[0].shape[1])))
    if trace.turn is not None:
        has_rotation = np.array([float(t.nnz > 0) for t in trace.turn])  # the rotation about z may not be a coordinate
        N[3:, 3:] += trace.gyration * np.diag(has_rotation)
        rotation = sp.vstack([csr(w[None, :] * trace.gyration) @ t for t in trace.turn])
        right_side = right_side + sp.vstack([csr((3, right_side.shape[1])), rotation])
    sheet = trace.turn is None and not trace.u[2].nnz
    motions = np.array(IN_PLANE) if sheet else np.arange(6)
    size = np.sqrt(max(np.trace(N[3:, 3:]) / 3.0, 1e-300))
    scale = np.array([1.0, 1.0, 1.0, size, size, size])[motions]
    value, vector = la.eigh(N[np.ix_(motions, motions)] / np.outer(scale, scale))
    if value[0] < (UNDETERMINED if trace.turn is None else THIN) * value[-1]:
        raise InputError(
            f"{label} has no rotation of its own: its points lie on a line, or at one; name a face, or a point (x, y, z)"
        )
    inverse = np.zeros((6, 6))
    inverse[np.ix_(motions, motions)] = (vector / value) @ vector.T / np.outer(scale, scale)
    return x_C, csr(csr(inverse) @ right_side)
