"""Straight beams: axial, torsion and two bending planes, Euler-Bernoulli, Rayleigh or Timoshenko."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from phloat.algebra.metadata import describe, optional
from phloat.algebra.units import in_si
from phloat.bodies.beams.elasticity import beam_elastic
from phloat.bodies.beams.fields import (
    FRAMES,
    OF_PIECE,
    SPACES,
    BeamFields,
    BeamShape,
    Frame,
    fraction,
    free_coordinates,
    second_moments,
)
from phloat.bodies.beams.section import Section, Taper
from phloat.bodies.beams.split import Split
from phloat.bodies.beams.unit_arrays import UnitArrays
from phloat.bodies.body import Body, Port, ports_at
from phloat.bodies.construction import Construction
from phloat.bodies.damping import with_damping
from phloat.bodies.inertia import Inertia, rigid_sections, six_arrays
from phloat.bodies.material import Damping, Material, Rayleigh, require_damping
from phloat.bodies.strain import Elastic
from phloat.errors import InputError, JumpsWarning, finite_row, mapping, port_name, positive, unknown, whole_number
from phloat.fem.interval import MOST_JUMPS, SAMPLES, cut_elements, gauss, jumps, slope

THEORIES = ("euler-bernoulli", "rayleigh", "timoshenko")
JAGGED = (
    "section or material of a beam of {:g} m jump at more than {} places, where elements are not cut, so that they converge with "
    "order 1 only; give a smooth function of s, or mean values"
)


@dataclass(frozen=True)
class Beam:
    """A straight beam along its x axis, from port P (s = 0) to port C (s = 1).

    s is the fraction of the length. A section whose `angle` φ₀ varies with s makes a pretwisted beam, in which tension and torsion
    are coupled: the strain of N is u_x' + (I_p/A) φ₀' θ_x', and φ₀' adds Eφ₀'² ∫(r² − I_p/A)² dA to GJ. The latter is known
    for `Rectangle` only; of a thin strip of width b and thickness t it is 1 % of GJ where φ₀' b = 0.5 t/b.

    Parameters
    ----------
    length : float
        Length (m).
    section, material : Section and Material, or functions of s that return them
        Cross-section (`Rectangle`, `Circle`, `Tube` or `Section`) and material.
    theory : {"euler-bernoulli", "rayleigh", "timoshenko"}, optional
        "rayleigh" adds rotary inertia of the sections, "timoshenko" also shear deformation.
    frame : str or dict, optional
        Which rigid motion is taken out of the deformation: "cantilever" (default), "pinned", "chord" (default for the pieces of a
        split beam), or {s: names held there}, such as ("u_x", "theta_z"). It is no support: frequencies do not depend on it.
    masses, ports : dict, optional
        Lumped masses, {s: kg}, and further ports, {name: s}.
    damping : Rayleigh, KelvinVoigt or ModalDamping, optional
        How it loses energy; undamped by default.
    stiffening : bool, optional
        Whether axial force stiffens bending (membrane strain).
    spaces : {"local", "paper"}, optional
        Finite element spaces. "local": quadratic u_x and θ_x, cubic deflections; stresses are linear in each element and may jump.
        "paper": linear u_x and θ_x with continuous, linear N and T; cubic deflections with continuous, cubic moments: more
        accurate in bending, but inaccurate where a moment jumps; not for "timoshenko".

    Examples
    --------
    >>> beam = ph.Beam(length=1.0, section=ph.Rectangle(b=0.02, h=0.01), material=ph.Material(E=2.1e11, rho=7800.0))
    >>> cantilever = ph.connect({"beam": beam.discretise(8)}, joints=[ph.Weld("ground", "beam.P")], plane="xy")
    >>> omega = ph.modes(ph.linearise(cantilever, ph.place(cantilever)))[:2]
    >>> (omega / np.sqrt(2.1e11 * 0.01**2 / 12 / 7800.0)).round(2)  # (βL)² of a clamped-free beam of length 1
    array([ 3.52, 22.04])
    """

    length: float = field(metadata=describe("from port P (s = 0) to port C (s = 1), along x", "length", above=0.0))
    section: Section | Callable[[float], Section] = field(metadata=describe("cross-section"))
    material: Material | Callable[[float], Material] = field(metadata=describe("material"))
    theory: str = optional("euler-bernoulli", "how sections rotate and shear", choices=THEORIES)
    frame: str | Frame | None = optional(
        None, "which rigid motion is no deformation; cantilever by default, chord for the pieces of a split beam"
    )
    masses: Mapping[float, float] = optional(dict, "lumped masses, {fraction of the length: mass}", "mass", above=0.0)
    ports: Mapping[str, float] = optional(dict, "further ports, {name: fraction of the length}", least=0.0, most=1.0)
    damping: Damping = optional(Rayleigh(), "how it loses energy")
    stiffening: bool = optional(True, "whether axial force stiffens bending")
    spaces: str = optional("local", "finite element spaces", choices=SPACES)

    def __post_init__(self) -> None:
        in_si(self)
        object.__setattr__(self, "length", positive("length", self.length))
        if self.theory not in THEORIES:
            raise InputError(unknown("theory", self.theory, THEORIES))
        if self.spaces not in SPACES:
            raise InputError(unknown("spaces", self.spaces, SPACES))
        if self.spaces == "paper" and self.theory == "timoshenko":
            raise InputError(
                "spaces is 'paper' and theory is 'timoshenko', for which the paper has no spaces; use spaces='local', or theory "
                "'euler-bernoulli' or 'rayleigh'"
            )
        if isinstance(self.frame, str) and self.frame not in FRAMES:
            raise InputError(unknown("frame", self.frame, FRAMES))
        if self.frame is not None and not isinstance(self.frame, (str, Mapping)):
            raise InputError(f"frame is {self.frame!r}; use one of {', '.join(FRAMES)}, or {{s: names held there}}")
        for s, mass in mapping("masses", self.masses, "{fraction of the length: kg}").items():
            fraction("lumped mass", s)
            positive(f"lumped mass at s = {s:g}", mass)
        for name, s in mapping("ports", self.ports, "{name: fraction of the length}").items():
            port_name(name)
            fraction(f"port {name!r}", s)
            if name in ("P", "C"):
                raise InputError(f"port {name!r} is an end of every beam; give the port at s = {s:g} another name")
        require_damping(self.damping)

    def discretise(self, elements: int | Sequence[float]) -> Body:
        """The body with this number of equal elements, or with elements between the given fractions 0 … 1 of the length.

        Ports, lumped masses, stations of a `Taper` and jumps of a section or material given as a function become nodes: an
        element with a kink of the moment or a jump inside would converge with order 1 instead of 4 (measured).
        """
        fractions = self.cut_fractions(elements)
        nodes = self.length * fractions
        x = gauss(nodes)[0]
        fields = BeamFields(nodes, self.theory, self._has_torsion(x), continuous=self.spaces == "paper")
        number = self.numbers(x)
        if fields.continuous or has_skew_sections(number):
            free, elastic, ports = self._assembled(fields)
            inertia = _inertia(self, fields, free)
            elastic = with_damping(elastic, self.damping, inertia, ports)
        else:
            unit = self.unit_arrays(fractions, fields.torsion)
            free, (inertia, elastic, ports) = unit.columns, self.from_unit(unit, number)
        return Body(
            recipe=self,
            inertia=inertia,
            elastic=elastic,
            ports=ports,
            shape=BeamShape(self.length, fields, free, self.sections, self.torsion_shares),
            planar=fields.planar_masks(free),
            needs="" if fields.torsion else "the torsion constant of its section: Section(…, J=…)",
            skew=self._skew(x) if has_skew_sections(number) else "",
            construction=Construction(self).then("discretise", elements),
        )

    def _assembled(self, fields: BeamFields) -> tuple[np.ndarray, Elastic, dict[str, Port]]:
        """The free coordinates of the fields, and the undamped elasticity and the ports in them."""
        free = free_coordinates(fields, self.frame, self.length)
        shape = BeamShape(self.length, fields, free, self.sections, self.torsion_shares)
        number = self.pretwisted(gauss(fields.nodes)[0], fields.nodes)
        ports = ports_at(shape, {"P": 0.0, "C": 1.0, **self.ports})
        return free, beam_elastic(fields, number, free, self.stiffening), ports

    def cut_fractions(self, elements: int | Sequence[float]) -> np.ndarray:
        """The nodes, as fractions of the length, with ports, lumped masses, stations and jumps among them."""
        fractions = _fractions(elements)
        stated = self.frame if isinstance(self.frame, Mapping) else ()
        return cut_elements(fractions, [*self.ports.values(), *self.masses], stated, self.breaks(fractions))

    def unit_arrays(self, fractions: np.ndarray, torsion: bool) -> UnitArrays:
        """The arrays that all beams with these elements, places, theory, frame and stiffening share."""
        frame = tuple(self.frame.items()) if isinstance(self.frame, Mapping) else self.frame
        places = tuple(self.masses), tuple(self.ports.items())
        return _unit_arrays(self.theory, frame, self.stiffening, torsion, *places, fractions.tobytes())

    def from_unit(
        self, unit: UnitArrays, number: dict[str, np.ndarray], inertia: Inertia | None = None
    ) -> tuple[Inertia, Elastic, dict[str, Port]]:
        """Inertia (unless given), elasticity and ports from unit arrays, with the `numbers` of this beam at their points."""
        if inertia is None:
            lumps = np.array(list(self.masses.values()), dtype=float)
            inertia = unit.inertia(self.theory, self.length, number, lumps)
        ports = unit.ports(self.length)
        return inertia, with_damping(unit.elastic(self.length, number), self.damping, inertia, ports), ports

    def split(self, pieces: int) -> Split:
        """The recipe of this beam in floating pieces of equal length, welded together, for bending beyond small angles."""
        return Split(self, pieces)

    def piece(self, k: int, pieces: int) -> Beam:
        """Piece k (from 0) of equal pieces with its sections, masses and ports, s along the piece.

        Masses and ports at a cut belong to the piece after it.
        """

        def on_piece(s: float) -> bool:
            return k == min(int(s * pieces + 1e-9), pieces - 1)

        def piece_fraction(s: float) -> float:
            return min(max(s * pieces - k, 0.0), 1.0)

        section, material = self.section, self.material
        return replace(
            self,
            length=self.length / pieces,
            section=Stretch(section, k, pieces) if callable(section) else section,
            material=Stretch(material, k, pieces) if callable(material) else material,
            frame=OF_PIECE if self.frame is None else self.frame,
            masses={piece_fraction(s): mass for s, mass in self.masses.items() if on_piece(s)},
            ports={name: piece_fraction(s) for name, s in self.ports.items() if on_piece(s)},
        )

    def _section_and_material(self, s: float) -> tuple[Section, Material]:
        """Section and material at the fraction s. Raises InputError if a function of s returns anything else."""
        section = self.section(s) if callable(self.section) else self.section
        material = self.material(s) if callable(self.material) else self.material
        if not isinstance(section, Section):
            raise InputError(f"the section at s = {s:g} is {section!r}; it must be a Section, such as Circle(…)")
        if not isinstance(material, Material):
            raise InputError(f"the material at s = {s:g} is {material!r}; it must be a Material")
        return section, material

    def _sections_and_materials(self, x: np.ndarray) -> list[tuple[Section, Material]]:
        """Section and material at points x along the beam; a single pair if they do not vary."""
        varies = callable(self.section) or callable(self.material)
        return [self._section_and_material(s) for s in x / self.length] if varies else [self._section_and_material(0.5)]

    def _has_torsion(self, x: np.ndarray) -> bool:
        """Whether the torsion constant is known at all points x."""
        return all(section.J is not None for section, _ in self._sections_and_materials(x))

    def _skew(self, x: np.ndarray) -> str:
        """The reason why bending along y and z, or stretch and twist, are coupled."""
        sections = self.sections(x)
        names = [name for name in ("angle", "I_yz") if any(getattr(section, name) for section in sections)]
        return f"its sections have {' and '.join(names)} other than 0" if names else ""

    def breaks(self, nodes: np.ndarray) -> list[float]:
        """Fractions at which the section or the material has a station or a jump; functions are sampled on these elements too."""
        functions = [f for f in (self.section, self.material) if callable(f)]
        stations_of_functions = [_stations(f) for f in functions]
        places = [s for stations in stations_of_functions for s in stations or ()]
        if any(stations is None for stations in stations_of_functions):
            inside = (np.arange(SAMPLES) + 0.5) / SAMPLES  # not the ends: the section of a wedge may vanish there
            sampled = np.unique(np.concatenate([inside, gauss(nodes)[0]]))
            discontinuities = jumps(lambda s: _monitored(self.numbers(self.length * s)), sampled)
            if discontinuities is None:
                warnings.warn(JumpsWarning(JAGGED.format(self.length, MOST_JUMPS)), stacklevel=4)
            places += [] if discontinuities is None else discontinuities.tolist()
        return places

    def shear_share(self, pieces: int, plane: bool) -> float:
        """3EI/(κGA L²): the relative tip deflection by shear, which this theory neglects, of a cantilever of so many such beams in
        line; 0 for Timoshenko's theory."""
        if self.theory == "timoshenko":
            return 0.0
        number = self.numbers(self.length * (np.arange(SAMPLES) + 0.5) / SAMPLES)
        EI = number["EI"] if plane else np.maximum(number["EI"], number["EI_y"])
        return float(3.0 * EI.mean() / (number["kGA"].mean() * (pieces * self.length) ** 2))

    def sections(self, x: np.ndarray) -> list[Section]:
        """The section at every point along the beam."""
        sections = [section for section, _ in self._sections_and_materials(x)]
        return sections if len(sections) == len(x) else sections * len(x)

    def numbers(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Masses and stiffnesses per length at points along the beam, in its axes; GJ is 0 if J is not given. Also
        EW, the torsional stiffness of wound fibres per square of the pretwist, and the angle of the section."""
        moments = ("A", "I", "I_y", "I_yz")
        names = (*(f"rho{m}" for m in moments), *(f"E{m}" for m in moments), "EW", "GJ", "kGA", "angle")
        rows = []
        for section, material in self._sections_and_materials(x):
            of_area = np.array([section.A, *section.moments])
            shear = material.G * (section.J or 0.0), section.kappa * material.G * section.A
            rows.append(
                [*material.rho * of_area, *material.E * of_area, material.E * section.winding, *shear, section.angle]
            )
        return dict(zip(names, np.broadcast_to(rows, (len(x), len(names))).T, strict=True))

    def pretwisted(self, x: np.ndarray, nodes: np.ndarray) -> dict[str, np.ndarray]:
        """`numbers` with `pretwist` φ₀' (the derivative of the angle, element by element) and GJ including its stiffening."""
        number = self.numbers(x)
        pretwist = slope(self.numbers(gauss(nodes)[0])["angle"], nodes, x)
        return number | {"pretwist": pretwist, "GJ": number["GJ"] + pretwist**2 * number["EW"]}

    def torsion_shares(self, x: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The share of a torque T that shear carries, and Eφ₀'/GJ: axial stress of wound fibres per T and per r² − I_p/A."""
        number, plain = self.pretwisted(x, nodes), self.numbers(x)["GJ"]
        A, GJ = np.array([section.A for section in self.sections(x)]), np.where(plain > 0.0, number["GJ"], np.inf)
        return plain / GJ, number["EA"] / A * number["pretwist"] / GJ


@dataclass(frozen=True)
class Stretch:
    """Piece k of a function of s on equal pieces, as a function of the fraction of that piece."""

    function: Callable[[float], Any]
    k: int
    pieces: int

    def __call__(self, s: float) -> Any:
        return self.function((self.k + s) / self.pieces)


@lru_cache(maxsize=64)
def _unit_arrays(
    theory: str, frame: Any, stiffening: bool, torsion: bool, masses: tuple[float, ...], ports: Any, fractions: bytes
) -> UnitArrays:
    """The arrays of a beam of length one, assembled once in a process."""
    section, material = Section(A=1.0, I=1.0, J=1.0 if torsion else None), Material(E=1.0, rho=1.0)
    frame, lumps = dict(frame) if isinstance(frame, tuple) else frame, dict.fromkeys(masses, 1.0)
    beam = Beam(1.0, section, material, theory, frame, lumps, dict(ports), stiffening=stiffening)
    fields = BeamFields(np.frombuffer(fractions), theory, torsion)
    free, elastic, at = beam._assembled(fields)
    return UnitArrays(fields, free, np.array(masses, dtype=float), elastic, at)


def has_skew_sections(number: dict[str, np.ndarray]) -> bool:
    """Whether a section has an angle or a product of inertia, for which there are no unit arrays."""
    return bool(number["angle"].any() or number["EI_yz"].any())


def _inertia(beam: Beam, fields: BeamFields, keep: np.ndarray) -> Inertia:
    """The inertia of the beam and its lumped masses in the coordinates `keep`."""
    x, w = gauss(fields.nodes)
    number = beam.numbers(x)
    lumps = beam.length * np.array(list(beam.masses), dtype=float)
    points = np.concatenate([x, lumps])
    mass = np.concatenate([w * number["rhoA"], np.array(list(beam.masses.values()), dtype=float)])
    line = np.column_stack([points, np.zeros_like(points), np.zeros_like(points)])
    Phi = [f[:, keep] for f in fields.displacement(points)]
    return six_arrays(line, mass, Phi, _sections(beam, fields, x, w, number, keep))


def _sections(
    beam: Beam, fields: BeamFields, x: np.ndarray, w: np.ndarray, number: dict[str, np.ndarray], keep: np.ndarray
) -> Inertia:
    """Rotary inertia of the sections; Euler-Bernoulli's only ρI_p about x, for spin and twist alike (else M would be singular)."""
    weighted_moments = [w * number[name] for name in ("rhoI", "rhoI_y", "rhoI_yz")]
    *moments, product = np.einsum("asq,sq->aq", second_moments(beam.theory, len(x)), weighted_moments)
    return rigid_sections(moments, [turn[:, keep] for turn in fields.section_rotation(x)], product)


def _monitored(number: dict[str, np.ndarray]) -> np.ndarray:
    """The columns in which jumps are detected, (places, numbers); none of them vanishes, so that relative changes exist."""
    signed = {"rhoI_yz": number["rhoI"] + number["rhoI_y"], "EI_yz": number["EI"] + number["EI_y"]}
    columns = [value + signed.get(name, 0.0) for name, value in number.items() if name != "angle"]
    return np.column_stack([*columns, 2.0 + np.cos(number["angle"]), 2.0 + np.sin(number["angle"])])


def _stations(function: Callable[[float], Any]) -> list[float] | None:
    """The fractions at which a function of s has kinks or jumps; None if they are unknown."""
    if isinstance(function, Taper):
        return list(function.stations)
    if isinstance(function, Stretch):
        inner = _stations(function.function)
        inside = [s * function.pieces - function.k for s in inner or ()]
        return None if inner is None else [s for s in inside if 0.0 <= s <= 1.0]
    return None


def _fractions(elements: int | Sequence[float]) -> np.ndarray:
    """Fractions of the nodes, from 0 to 1. Raises InputError if they do not rise."""
    if np.ndim(elements) == 0:
        return np.linspace(0.0, 1.0, whole_number("elements", elements, 1, ", or node fractions from 0 to 1") + 1)
    s = finite_row("elements (node fractions)", elements)
    if len(s) < 2 or s[0] != 0.0 or s[-1] != 1.0 or not (np.diff(s) > 0).all():
        raise InputError(f"node fractions must rise from 0 to 1; they are {elements!r}")
    return s
