"""Bodies of every kind, random states of systems, and velocities that satisfy the joints."""

from dataclasses import replace
from functools import cache

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

import phloat as ph
from phloat.algebra.layout import Layout
from phloat.algebra.sparse import csr
from phloat.bodies.body import Port, ports_at
from phloat.bodies.inertia import six_arrays
from phloat.bodies.strain import Elastic, Quadratic
from phloat.system.state import rest_state

steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
STRIP = ph.Rectangle(0.03, 0.05)


def beam(**options) -> ph.Beam:
    return ph.Beam(**{"length": 1.3, "section": STRIP, "material": steel, **options})


RECIPES = {
    "beam": beam(),
    "pinned beam": beam(frame="pinned"),
    "rayleigh beam": beam(theory="rayleigh"),
    "timoshenko beam": beam(theory="timoshenko"),
    "tapered beam with masses": beam(
        section=lambda s: ph.Rectangle(0.03, 0.05 * (1 - 0.4 * s)), masses={0.0: 0.4, 0.37: 1.1}, ports={"mid": 0.37}
    ),
    "damped beam": beam(damping=ph.Rayleigh(mass=0.3, stiffness=1e-5, relative_to="C")),
    "modally damped beam": beam(frame="pinned", damping=ph.ModalDamping(0.02, "body")),
    "beam without stiffening": beam(stiffening=False, damping=ph.KelvinVoigt(1e-5)),
    "beam in the spaces of the paper": beam(spaces="paper", damping=ph.KelvinVoigt(1e-5)),
}
# beams that can be split into pieces: only with damping in proportion to the stiffness
DIVISIBLE = {name: replace(r, damping=ph.Rayleigh(stiffness=r.damping.stiffness)) for name, r in RECIPES.items()}
LOCAL = [name for name, recipe in RECIPES.items() if recipe.spaces == "local"]


class Cloud:
    """A floating body of point masses with random displacement fields and random strains quadratic in η."""

    def __init__(self, seed: int, masses: int = 14, coordinates: int = 4, strains: int = 5):
        rng = np.random.default_rng(seed)
        self.mass = rng.uniform(0.05, 0.2, masses)
        self.x = rng.normal(size=(masses, 3)) * 0.3
        self.Phi = rng.normal(size=(3, masses, coordinates)) * 0.2
        self.rng, self.strains = rng, strains

    def places(self):
        return np.arange(len(self.mass), dtype=float)

    def points(self, s):
        return self.x[np.asarray(s, int)]

    def displacement(self, s):
        return csr(self.Phi[:, np.asarray(s, int)].transpose(1, 0, 2).reshape(-1, self.Phi.shape[2]))

    def rotation(self, s):
        return csr(np.tile(np.eye(3, self.Phi.shape[2]) * 0.3, (len(s), 1)))

    def stress(self, s):
        return {}

    def discretise(self) -> ph.Body:
        n = self.Phi.shape[2]
        Q = self.rng.normal(size=(self.strains, n, n))
        Q = Q + Q.transpose(0, 2, 1)
        index = np.array([i.ravel() for i in np.indices(Q.shape)])
        root = self.rng.normal(size=(self.strains, self.strains))
        elastic = Elastic(
            csr(root @ root.T + np.eye(self.strains)),
            csr(self.rng.normal(size=(self.strains, n))),
            Quadratic(*index, Q.ravel()),
            csr(sp.diags_array(np.linspace(0.1, 0.5, n))),
            Layout({"N": (self.strains,)}, "stress"),
        )
        return ph.Body(
            recipe=self,
            inertia=six_arrays(self.x, self.mass, [csr(p) for p in self.Phi]),
            elastic=elastic,
            ports=ports_at(self, {"P": 0.0, "C": 1.0}),
            shape=self,
            planar=(np.ones(n, bool), np.ones(self.strains, bool)),
        )


def bodies() -> dict[str, ph.Body]:
    """One body of every kind, by name."""
    out = {name: recipe.discretise(2) for name, recipe in RECIPES.items()}
    out["slaved beam"] = slaved(beam(damping=ph.KelvinVoigt(1e-5)).discretise(4))
    out["pretwisted beam"] = beam(section=lambda s: replace(STRIP, angle=0.3 + s), theory="rayleigh").discretise(2)
    J = np.array([[0.4, 0.05, 0.02], [0.05, 0.5, -0.03], [0.02, -0.03, 0.6]])
    out["rigid body"] = ph.RigidBody(2.5, J, center=(0.1, -0.2, 0.3), ports={"tip": (0.5, 0.2, -0.1)}).discretise()
    out["point mass"] = ph.PointMass(1.7).discretise()
    out["cloud of masses"] = Cloud(3).discretise()
    return out | continua()


def slaved(body: ph.Body) -> ph.Body:
    """A reduced beam whose shortening follows its bending."""
    return body.reduced(modes=2, axial=1, shortening="slaved")


@cache
def continua(material: ph.Material = steel) -> dict[str, ph.Body]:
    """Reduced bodies on meshes with ports P and C: a few modes, and companion shapes for stiffening."""
    ends = {"P": "left", "C": "right"}
    plate = ph.Plate.rectangle(1.3, 0.4, thickness=0.02, material=material, frame="left", ports=ends)
    solid = ph.Solid.box(1.3, 0.05, 0.03, material=material, frame="left", ports=ends)
    mean = {"P": ph.Mean("left"), "C": (1.3, 0.025, 0.015)}
    loose = ph.Solid.box(
        1.3,
        0.05,
        0.03,
        material=material,
        frame="mean axes",
        ports=mean,
        damping=ph.Rayleigh(mass=0.3, stiffness=1e-5, relative_to="C"),
    )
    return {
        "plate": plate.discretise((4, 2)).reduced(modes=3, stiffened=3),
        "solid": solid.discretise((4, 1, 1)).reduced(modes=3, stiffened=3),
        "solid in mean axes": loose.discretise((4, 1, 1)).reduced(modes=4, stiffened=2),
    }


def systems() -> dict[str, ph.System]:
    """Systems of one body each, under gravity, in space and, if the body can move in a plane, in the plane xy."""
    out = {}
    for name, body in bodies().items():
        out[f"{name}, in space"] = ph.connect({"b": body}, gravity=(0.7, -9.81, 1.3))
        if name not in ("cloud of masses", "pretwisted beam", *continua()):
            out[f"{name}, in the plane"] = ph.connect({"b": body}, gravity=(0.7, -9.81, 0.0), plane="xy")
    return out


def random_state(system: ph.System, seed: int, consistent: bool = False) -> ph.State:
    """A random state in which no quantity is zero; η has standard deviation 0.05. `consistent`: velocities satisfy the joints."""
    rng = np.random.default_rng(seed)
    state = rest_state(system.bodies)
    values = {}
    for name in system.layout:
        shape, quantity = system.layout.shape(name), name.rpartition(".")[2]
        scale = {"eta": 0.05, "eta_dot": 0.5, "sigma": 1e3}.get(quantity, 1.0)
        if quantity == "A_IB":
            values[name] = la.expm(np.cross(np.eye(3), rng.normal(size=3)))
        else:
            values[name] = rng.normal(size=shape) * scale
    state = state.with_values(values)
    return with_joints_kept(system, state) if consistent else state


def with_joints_kept(system: ph.System, state: ph.State) -> ph.State:
    """The state with its velocities projected orthogonally onto those that satisfy the joints, G z = 0."""
    G = ph.terms(system, state).G.toarray()
    e = state.e - np.linalg.pinv(G) @ (G @ state.e)
    names = [n for n in system.layout if n.rpartition(".")[2] in ("v_P", "omega", "eta_dot")]
    return state.with_values({n: e[system.layout[n]].reshape(system.layout.shape(n)) for n in names})


def rates(system: ph.System, state: ph.State) -> np.ndarray:
    """ė = E⁻¹(J − R)z of a system without joints and inputs."""
    t = ph.terms(system, state)
    return np.linalg.solve(t.E.toarray(), (t.J - t.R) @ t.z)


__all__ = [
    "Cloud",
    "Port",
    "beam",
    "bodies",
    "continua",
    "random_state",
    "rates",
    "slaved",
    "steel",
    "systems",
    "with_joints_kept",
]
