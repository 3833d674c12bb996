"""The mixed spaces of a beam and its kinematics: displacements, rotations and strains at any place along it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from phloat.algebra.cross import skew
from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, diagonal, weighted
from phloat.bodies.beams.section import Section
from phloat.bodies.shape import Shape, in_turn, kept
from phloat.errors import InputError, finite, unknown
from phloat.fem.interval import LineSpace, Rows

# of u_x and θ_x; u_x' then follows the pull that grows along a spinning beam, and the shortening ½ w'², to first order: with 10
# elements the flap and lag frequencies at γ = 8 are 1e-4 off, where linear u_x and one N an element miss by 2e-3
AXIAL_DEGREE = 2
SPACES = ("local", "paper")  # of `Beam`
TIMOSHENKO_DEGREE = 3  # of the section rotation; the deflection is one order above, so the shear strain can vanish


@dataclass(frozen=True, eq=False)
class BeamFields:
    """The mixed spaces and the kinematics of a beam: P2, DG1 for stretch and twist; Hermite, DG1 or P4, P3, DG2, DG3 for
    bending. With `continuous` stresses, those of the paper: P1, P1 for stretch and twist; Hermite, Hermite for bending."""

    nodes: np.ndarray
    theory: str
    torsion: bool
    continuous: bool = False

    @property
    def sheared(self) -> bool:
        return self.theory == "timoshenko"

    @cached_property
    def spaces(self) -> dict[str, LineSpace]:
        """The finite element space of each displacement field (u_x, u_y …), in the order of the coordinates."""
        stretch = LineSpace(self.nodes, 1 if self.continuous else AXIAL_DEGREE)
        if self.sheared:
            w, phi = LineSpace(self.nodes, TIMOSHENKO_DEGREE + 1), LineSpace(self.nodes, TIMOSHENKO_DEGREE)
            out = {"u_x": stretch, "u_y": w, "phi_z": phi, "u_z": w, "phi_y": phi}
        else:
            w = LineSpace(self.nodes, 3, continuity=1)
            out = {"u_x": stretch, "u_y": w, "u_z": w}
        return out | ({"theta_x": stretch} if self.torsion else {})

    @cached_property
    def stress_spaces(self) -> dict[str, tuple[LineSpace, bool]]:
        """The spaces of the stress resultants, in the order of σ, and whether they belong to motion in the plane xy."""
        stretch, shear = (LineSpace(self.nodes, degree, -1) for degree in (AXIAL_DEGREE - 1, TIMOSHENKO_DEGREE))
        moment = LineSpace(self.nodes, TIMOSHENKO_DEGREE - 1 if self.sheared else 1, -1)
        if self.continuous:
            stretch, moment = LineSpace(self.nodes, 1), LineSpace(self.nodes, 3, continuity=1)
        out = {"N": (stretch, True)}
        if self.torsion:
            out["T"] = (stretch, False)
        out |= {"M_y": (moment, False), "M_z": (moment, True)}
        if self.sheared:
            out |= {"Q_y": (shear, True), "Q_z": (shear, False)}
        return out

    @cached_property
    def layout(self) -> Layout:
        return Layout({name: (space.size,) for name, space in self.spaces.items()}, "field")

    def planar_masks(self, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which of the coordinates `free`, and which stresses, belong to motion in the plane xy."""
        inside = ("u_x", "u_y", "phi_z")
        coordinates = np.concatenate([np.full(space.size, name in inside) for name, space in self.spaces.items()])
        return coordinates[free], np.concatenate([np.full(s.size, mask) for s, mask in self.stress_spaces.values()])

    @cached_property
    def powers(self) -> np.ndarray:
        """The power of the length by which displacements per coordinate scale: 1 for slopes and rotations, else 0."""
        each = []
        for name, space in self.spaces.items():
            slopes = np.arange(space.size) % 2 == 1 if space.continuity == 1 else name in ("phi_y", "phi_z", "theta_x")
            each.append(np.where(slopes, 1.0, np.zeros(space.size)))
        return np.concatenate(each)

    def field(self, name: str, x: np.ndarray, derivative: int = 0) -> Rows:
        """The matrix that evaluates a field (or a derivative) at points x, (points, coordinates); zero for an absent field."""
        if name not in self.spaces:
            return 0.0 * self.field("u_x", x)
        block, local = self.layout[name], self.spaces[name].evaluate(x, derivative)
        if isinstance(local, np.ndarray):
            out = np.zeros((len(x), self.layout.size))
            out[:, block] = local
            return out
        return sp.csr_array((local.data, local.indices + block.start, local.indptr), shape=(len(x), self.layout.size))

    def displacement(self, x: np.ndarray) -> list[Rows]:
        return [self.field(name, x) for name in ("u_x", "u_y", "u_z")]

    def rotation(self, x: np.ndarray, derivative: int = 0) -> list[Rows]:
        """Matrices of θ_x, θ_y, θ_z of the sections (or a derivative); without shear θ_z = u_y', θ_y = −u_z'."""
        twist = self.field("theta_x", x, derivative)
        if self.sheared:
            return [twist, self.field("phi_y", x, derivative), self.field("phi_z", x, derivative)]
        return [twist, -self.field("u_z", x, derivative + 1), self.field("u_y", x, derivative + 1)]

    def section_rotation(self, x: np.ndarray) -> list[Rows]:
        """Matrices of the rotation ψ that rotary inertia refers to: that of sections, for Euler-Bernoulli only the twist."""
        if self.theory != "euler-bernoulli":
            return self.rotation(x)
        twist = self.field("theta_x", x)
        return [twist, 0.0 * twist, 0.0 * twist]

    def strains(self, x: np.ndarray) -> dict[str, Rows]:
        """Matrices of the strain conjugate to each stress resultant, (points, coordinates)."""
        bend = self.rotation(x, 1)
        out = {"N": self.field("u_x", x, 1), "T": bend[0], "M_y": bend[1], "M_z": bend[2]}
        if self.sheared:
            rotation = self.rotation(x)
            out["Q_y"] = self.field("u_y", x, 1) - rotation[2]
            out["Q_z"] = self.field("u_z", x, 1) + rotation[1]
        return out

    def places(self, name: str) -> np.ndarray:
        """The points x at which u_x … theta_z is a coordinate; empty for a twist that does not exist."""
        name = self._field(name)
        return self.spaces[name].places if name in self.spaces else np.zeros(0)

    def index(self, name: str, place: int) -> int:
        """The index of the coordinate that is u_x … theta_z at `places(name)[place]`."""
        field = self._field(name)
        slope = name in ("theta_y", "theta_z") and not self.sheared
        return self.layout[field].start + self.spaces[field].unknown_at(place, slope)

    def _field(self, name: str) -> str:
        """The name of the field whose values or slopes are u_x … theta_z."""
        turns = {"theta_z": "phi_z", "theta_y": "phi_y"} if self.sheared else {"theta_z": "u_y", "theta_y": "u_z"}
        return turns.get(name, name)


def second_moments(theory: str, points: int) -> np.ndarray:
    """The matrix (4, 3, points) that gives E = ∫ρ(xx, yy, zz, yz) of a section from (ρI, ρI_y, ρI_yz).

    For Euler-Bernoulli beams it is that of the rotary inertia J = diag(ρI_p, 0, 0).
    """
    full = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    unit = [[-0.5, -0.5, 0], [0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0]] if theory == "euler-bernoulli" else full
    return np.repeat(np.array(unit, dtype=float)[:, :, None], points, axis=2)


@dataclass(frozen=True, eq=False)
class BeamShape(Shape):
    """Matrices from the coordinates of a beam to displacements, rotations and stresses at fractions s of its length."""

    length: float
    fields: BeamFields
    keep: np.ndarray  # coordinates of the fields that are free
    sections: Callable[[np.ndarray], list[Section]]  # `Beam.sections`
    torsion_shares: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]  # `Beam.torsion_shares`
    memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    def places(self) -> np.ndarray:
        inner = np.linspace(0.0, 1.0, 5)[:-1]
        s = self.fields.nodes / self.length
        return np.append((s[:-1, None] + np.diff(s)[:, None] * inner).ravel(), 1.0)

    def points(self, s: np.ndarray) -> np.ndarray:
        return np.outer(self._x(s), [1.0, 0.0, 0.0])

    @kept
    def displacement(self, s: np.ndarray) -> Matrix:
        return csr(in_turn(self.fields.displacement(self._x(s)))[:, self.keep])

    @kept
    def rotation(self, s: np.ndarray) -> Matrix:
        return csr(in_turn(self.fields.rotation(self._x(s)))[:, self.keep])

    @kept
    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        return self._resultants(self._x(s))

    def _resultants(self, x: np.ndarray, derivative: int = 0) -> dict[str, Matrix]:
        """Matrices (points, stresses) from σ to each stress resultant (N, T, M_y …), or its derivative, at x (m), by name."""
        spaces = {name: space for name, (space, _) in self.fields.stress_spaces.items()}
        values = diagonal([space.evaluate(x, derivative) for space in spaces.values()])
        return {name: csr(values[i * len(x) : (i + 1) * len(x)]) for i, name in enumerate(spaces)}

    def material(self, x: np.ndarray) -> Matrix:
        """The displacement u + θ × (0, y, z) of material points: sections stay plane."""
        s = x[:, 0] / self.length
        arm = diagonal([-skew(np.array([0.0, y, z])) for _, y, z in x])
        return csr(self.displacement(s) + arm @ self.rotation(s))

    def cauchy(self, x: np.ndarray) -> Matrix:
        """σ_xx = N/A + z κ_y − y κ_z + E (r² − I_p/A) φ₀' T/GJ, and the shear of V_y = −M_z', V_z = M_y' (or Q_y, Q_z) and T.

        κ_y = (I M_y + I_yz M_z)/Δ and κ_z = (I_y M_z + I_yz M_y)/Δ with Δ = I I_y − I_yz². The last term of σ_xx is that of fibres
        that wind around the axis of a pretwisted beam; they carry the part of T that shear does not.
        """
        sections, resultant = self.sections(x[:, 0]), self.stress(x[:, 0] / self.length)
        A, I, I_y, I_yz = np.array([[s.A, *s.moments] for s in sections]).T
        y, z, det = x[:, 1], x[:, 2], I * I_y - I_yz**2
        share = np.zeros((len(x), 6, 6))  # of N, M_y, M_z, V_y, V_z, T in xx … xy
        share[:, 0, :3] = np.column_stack([1.0 / A, (z * I - y * I_yz) / det, (z * I_yz - y * I_y) / det])
        for section in dict.fromkeys(sections):
            rows = [k for k, candidate in enumerate(sections) if candidate is section or candidate == section]
            share[rows, 5, 3:], share[rows, 4, 3:] = section.shear(x[rows, 1], x[rows, 2]).transpose(1, 0, 2)
        by_shear, by_fibres = self.torsion_shares(x[:, 0], self.fields.nodes)
        share[:, :, 5] *= by_shear[:, None]
        share[:, 0, 5] = (y**2 + z**2 - (I + I_y) / A) * by_fibres
        forces = [resultant["N"], resultant["M_y"], resultant["M_z"]]
        if self.fields.sheared:
            forces += [resultant["Q_y"], resultant["Q_z"]]
        else:
            slope = self._resultants(x[:, 0], 1)
            forces += [csr(-slope["M_z"]), slope["M_y"]]
        forces += [resultant["T"]] if "T" in resultant else []
        return in_turn([sum(weighted(f, share[:, c, k]) for k, f in enumerate(forces)) for c in range(6)])

    def cross_sections(self, x: np.ndarray) -> list[Section]:
        return self.sections(x)

    def stress_points(self) -> np.ndarray:
        """Points (x, y, z) on the outlines of sections, on both sides of every node; on the axis for sections without outline."""
        s = self.places()
        s = np.unique(np.concatenate([s, s[4::4] * (1.0 - 1e-9)]))
        rims = [section.rim() for section in self.sections(self.length * s)]
        x = np.repeat(self.length * s, [len(rim) for rim in rims])
        return np.column_stack([x, np.vstack(rims)])

    def _x(self, s: np.ndarray) -> np.ndarray:
        return self.length * np.array([fraction("place", value) for value in s])


def fraction(label: str, s: float) -> float:
    """s as a float. Raises InputError, with the label, unless 0 ≤ s ≤ 1."""
    if not 0.0 <= finite(f"{label} position s", s, ()) <= 1.0:
        raise InputError(f"{label} lies at s = {s:g}; s is the fraction of the length, 0 to 1")
    return float(s)


# --- frames -----------------------------------------------------------------------------------------------------------
#
# Frames of a beam: conditions that remove rigid motion from its deformation (Remark 6).


# {fraction of the length: displacements and rotations that are zero there}
Frame = Mapping[float, Sequence[str]]
FRAMES: dict[str, Frame] = {
    "cantilever": {0.0: ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")},
    "pinned": {0.0: ("u_x", "u_y", "u_z", "theta_x"), 1.0: ("u_y", "u_z")},
    "chord": {0.0: ("u_x", "u_y", "u_z"), 0.5: ("theta_x",), 1.0: ("u_y", "u_z")},
}
OF_WHOLE, OF_PIECE = "cantilever", "chord"  # the frame if none is stated


def conditions(frame: str | Frame | None) -> Frame:
    """The conditions of a frame, {fraction of the length: names held there}; None is the default frame of an unsplit beam."""
    return FRAMES[frame or OF_WHOLE] if frame is None or isinstance(frame, str) else frame


def free_coordinates(fields: BeamFields, frame: str | Frame | None, length: float) -> np.ndarray:
    """Indices of the coordinates that the frame leaves free. Raises InputError unless it removes exactly the rigid motions.

    A named frame removes the coordinate nearest to its place: the middle of a beam need not be a node.
    """
    removed, rigid, exact = [], [], isinstance(frame, Mapping)
    frame = conditions(frame)
    for s, names in frame.items():
        if isinstance(names, str):
            raise InputError(f"the frame holds {names!r} at s = {s:g}; write a tuple of names: ({names!r},)")
        x = length * fraction("frame", s)
        for name in names:
            if name not in _RIGID:
                raise InputError(unknown("frame condition", name, _RIGID))
            rigid.append(_RIGID[name](x))
            if len(places := fields.places(name)):
                nearest = int(np.argmin(np.abs(places - x)))
                if exact and abs(places[nearest] - x) > 1e-9 * length:
                    raise InputError(f"the frame holds s = {s:g}, which is no node of {name}: {places / length}")
                removed.append(fields.index(name, nearest))
    free = 6 - int(np.linalg.matrix_rank(np.array(rigid) / np.array([1, 1, 1, length, length, length]))) if rigid else 6
    if free:
        raise InputError(
            f"the frame {dict(frame)} leaves {free} of 6 rigid motions in the deformation; hold more, or use one of "
            f"{', '.join(FRAMES)}"
        )
    if len(rigid) > 6:
        raise InputError(f"the frame holds {len(rigid)} conditions, but only 6 rigid motions can be taken out")
    return np.setdiff1d(np.arange(fields.layout.size), removed)


# values of each quantity at x on the axis for the rigid motions t_x t_y t_z r_x r_y r_z
_RIGID: dict[str, Callable[[float], list[float]]] = {
    "u_x": lambda x: [1, 0, 0, 0, 0, 0],
    "u_y": lambda x: [0, 1, 0, 0, 0, x],
    "u_z": lambda x: [0, 0, 1, 0, -x, 0],
    "theta_x": lambda x: [0, 0, 0, 1, 0, 0],
    "theta_y": lambda x: [0, 0, 0, 0, 1, 0],
    "theta_z": lambda x: [0, 0, 0, 0, 0, 1],
}
