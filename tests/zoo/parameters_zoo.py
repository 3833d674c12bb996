"""A crank-slider with parameters of many kinds, and the arrays of bodies, to compare bodies."""

from dataclasses import dataclass, replace

import numpy as np
from bodies_zoo import beam, steel

import phloat as ph
from phloat.system.parameters import fast_makers, parameter_table, with_parameter_values


@dataclass(frozen=True)
class Taper:
    """A rectangular section with linear height along the beam: a function of s that has parameters."""

    b: float
    root: float
    tip: float

    def __call__(self, s: float) -> ph.Section:
        return ph.Rectangle(self.b, self.root + (self.tip - self.root) * s)


def remade(system: ph.System, values: dict[str, float]) -> ph.System:
    """The system with other numbers, made as ensembles make it: bodies that have a faster way take it."""
    table = parameter_table(system)
    given = {name: values[key] for name, key in table.resolve(values).items()}
    return with_parameter_values(system, table, given, fast_makers(system, table, given))


def numbers_of(body: ph.Body) -> dict[str, np.ndarray]:
    """All arrays of a body, dense, by name."""
    I, elastic = body.inertia, body.elastic
    out = {
        "m": I.m,
        "s0": I.s0,
        "J0": I.J0,
        "S": I.S,
        "X": I.X,
        "W": I.W,
        "M_ff": I.M_ff.toarray(),
        "dense": I.M_ff_dense,
    }
    out |= {f"W_{a}{b}": I.W_ab[a][b].toarray() for a in range(3) for b in range(3)}
    out |= {name: getattr(elastic, name).toarray() for name in ("C", "C_inverse", "D", "R_d", "K")}
    Q = np.zeros((body.stresses, body.coordinates, body.coordinates))
    np.add.at(Q, (elastic.Q.strain, elastic.Q.row, elastic.Q.column), elastic.Q.value)
    out["Q"] = Q
    for name, port in body.ports.items():
        out |= {f"{name}.x": port.x, f"{name}.Phi": port.Phi, f"{name}.Psi": port.Psi}
    places = body.shape.places()
    out["points"], out["displacement"] = body.shape.points(places), body.shape.displacement(places).toarray()
    return {name: np.asarray(value, dtype=float) for name, value in out.items()}


def assert_same_body(one: ph.Body, other: ph.Body, tolerance: float = 1e-13) -> None:
    """Asserts that all arrays of two bodies agree, relative to the largest entry of each."""
    a, b = numbers_of(one), numbers_of(other)
    for name, value in b.items():
        scale = np.abs(value).max(initial=0.0)
        assert np.abs(a[name] - value).max(initial=0.0) <= tolerance * scale, name


def crank_slider(E: float = 2e11, mass: float = 0.033, length: float = 0.3) -> ph.System:
    """A crank-slider with beam, point mass, springs, damper and load."""
    rod = beam(length=length, section=ph.Circle(6e-3), material=replace(steel, E=E), frame="pinned")
    return ph.connect(
        {"rod": rod.discretise(2), "slider": ph.PointMass(mass).discretise()},
        [
            ph.Revolute("ground", "rod.P", name="hinge", at=(0.1, 0.2, 0.0)),
            ph.Revolute("rod.C", "slider.P", name="pin"),
            ph.Spring("slider.P", "ground", name="spring", stiffness=40.0, length=0.1),
            ph.JointDamper("hinge", damping=0.02, name="friction"),
            ph.Load("rod", along=(0, 1, 0), per_length=3.0, name="wind"),
        ],
        gravity=(0.0, -9.81, 0.0),
        plane="xy",
    )
