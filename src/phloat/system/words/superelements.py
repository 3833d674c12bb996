"""Superelements as a file says them: matrices as arrays of NumPy, or in the text files of other codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from phloat.bodies.construction import Construction
from phloat.bodies.material import Rayleigh
from phloat.bodies.superelements.superelement import Superelement
from phloat.errors import InputError
from phloat.system.words.beside import File, matrices_in, stored_matrices
from phloat.system.words.bodies import Parts, taken
from phloat.system.words.choices import Case
from phloat.system.words.groups import Field, ListOf, MapOf, OneOf, Record
from phloat.system.words.kinds import NAME, Flag, Pen, Plain, Word
from phloat.system.words.matter import DAMPING
from phloat.system.words.numbers import Count
from phloat.system.words.units import LENGTHS, MASSES, UNITS

UNITS_OF_FILES = Record(
    "units",
    (Field("length", Word(LENGTHS), "of length", "m"), Field("mass", Word(MASSES), "of mass", "kg")),
    lambda length="m", mass="kg": (float(UNITS[length].factor), float(UNITS[mass].factor)),
    says=lambda pair: {},
)


class Matrices:
    """Matrices as arrays in a file."""

    def __init__(self) -> None:
        self.of = File("a file of matrices")
        self.said, self.takes, self.read, self.schema = self.of.said, self.of.takes, self.of.read, self.of.schema

    def write(self, value: Superelement, pen: Pen) -> Plain:
        return stored_matrices(value, pen)


def superelement(interfaces: Mapping[str, Any], **given: Any) -> Superelement:
    """From arrays, or from the text files of other codes."""
    files = {name: given.pop(name, None) for name in ("matrices", "mass", "stiffness", "nodes", "units")}
    if files["matrices"] is not None:
        arrays = matrices_in(files["matrices"])
        M, K, nodes = arrays.pop("M"), arrays.pop("K"), arrays.pop("nodes")
        return Superelement.from_matrices(M, K, nodes, _numbered(interfaces), **arrays, **given)
    if lacking := [name for name in ("mass", "stiffness", "nodes") if files[name] is None]:
        raise InputError(f"give matrices (.npz), or mass, stiffness and nodes of other codes; there is no {lacking[0]}")
    units = files["units"] or (1.0, 1.0)
    return Superelement.from_files(files["mass"], files["stiffness"], files["nodes"], interfaces, units=units, **given)


def _numbered(interfaces: Mapping[str, Any]) -> dict[str, Any]:
    for name, chosen in interfaces.items():
        if isinstance(chosen, str):
            raise InputError(
                f"interface {name!r} is {chosen!r}; with matrices in an .npz file it is a list of node numbers"
            )
    return dict(interfaces)


def _said_superelement(body: Superelement) -> Mapping[str, Any]:
    kept = {name: getattr(body, name) for name in ("damping", "frame", "modes", "mean", "inertial")}
    return kept | {
        "matrices": body,
        "interfaces": {name: np.asarray(at).tolist() for name, at in body.interfaces.items()},
    }


SUPERELEMENT = Record(
    "a superelement",
    (
        Field("matrices", Matrices(), "M, K, nodes (and dofs, R, masses) as arrays of NumPy, .npz", None),
        Field("mass", File("a matrix"), "the mass matrix of CalculiX, Abaqus, Nastran or Matrix Market", None),
        Field("stiffness", File("a matrix"), "the stiffness matrix", None),
        Field("nodes", File("a file of nodes"), "*NODE, GRID or a table", None),
        Field("units", UNITS_OF_FILES, "of these files", None),
        Field(
            "interfaces",
            MapOf(OneOf((ListOf(Count(0), least=1), NAME), lambda v: int(isinstance(v, str))), least=1),
            "{port: node numbers, or a set of the nodes' file}",
        ),
        Field("damping", DAMPING, "how it loses energy", Rayleigh()),
        Field("frame", NAME, "the interface that the frame follows, or mean axes", None),
        Field("modes", Count(0), "with all interfaces held", 10),
        Field("mean", ListOf(NAME, alone=True), "interfaces felt in the mean", ()),
        Field("inertial", Flag(), "with the responses to inertia", True),
    ),
    superelement,
    says=_said_superelement,
)


def made_superelement(body: Superelement) -> Construction:
    return Construction(body).then("discretise", None)


def said_superelement(made: Construction) -> Parts | None:
    if not isinstance(made.recipe, Superelement):
        return None
    modes = taken(made, "discretise")["discretise"].get("0")
    if modes is not None and modes != made.recipe.modes:
        raise InputError(f"discretise({modes}) of a superelement; say modes={modes} in its recipe")
    return made.recipe, {}


SUPERELEMENT_CASE = Case(
    "superelement", SUPERELEMENT, made_superelement, said_superelement, doc="a body from matrices of other codes"
)
