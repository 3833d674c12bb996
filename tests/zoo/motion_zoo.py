"""Systems of two bodies with every joint between them, and random states that satisfy the joints."""

from functools import cache

import numpy as np
from bodies_zoo import beam, slaved

import phloat as ph
from phloat.bodies.bases import members

SOFT = ph.Material(E=2.0e9, rho=1200.0, nu=0.3)
SKEW = {"axis": (0.6, 0.0, 0.8)}
FLAT = {"axis": (0.6, 0.8, 0.0)}
IN_SPACE = {
    "weld": (ph.Weld, {}),
    "revolute": (ph.Revolute, SKEW),
    "prismatic": (ph.Prismatic, FLAT),
    "spherical": (ph.Spherical, {}),
    "slide": (ph.Slide, {"along": (0.6, 0.8, 0.0)}),
    "universal": (ph.Universal, SKEW),
    "cylindrical": (ph.Cylindrical, SKEW),
    "planar": (ph.Planar, SKEW),
}
IN_PLANE = {name: IN_SPACE[name] for name in ("weld", "prismatic", "spherical", "slide")} | {
    "revolute": (ph.Revolute, {})
}
KINDS = ("rigid", "beam")
CASES = [(j, k, p) for p, joints in ((None, IN_SPACE), ("xy", IN_PLANE)) for j in joints for k in KINDS]
PAPER = "beam in the spaces of the paper"  # of two elements: with one its stresses are local
CASES += [("universal", PAPER, None), ("revolute", PAPER, "xy")]
SLAVED = [(j, "slaved beam", p) for p, joints in ((None, IN_SPACE), ("xy", IN_PLANE)) for j in joints]
ON_MESHES = [(j, k, None) for j in IN_SPACE for k in ("plate", "solid")]


@cache
def on_mesh(kind: str) -> ph.Body:
    """A reduced plate or solid, with ports P and C."""
    ends = {"material": SOFT, "frame": "left", "ports": {"P": "left", "C": "right"}}
    if kind == "plate":
        return ph.Plate.rectangle(1.3, 0.4, thickness=0.03, **ends).discretise((4, 2)).reduced(modes=2, stiffened=3)
    return ph.Solid.box(1.3, 0.05, 0.08, **ends).discretise((4, 1, 1)).reduced(modes=2, stiffened=3)


def thing(kind: str, elements: int = 1) -> ph.Body:
    """A body of this kind ("beam", PAPER, "slaved beam", "plate", "solid", else rigid) with ports P and C."""
    if kind == PAPER:
        return beam(material=SOFT, spaces="paper").discretise(elements + 1)
    if kind == "beam":
        return beam(material=SOFT).discretise(elements)
    if kind == "slaved beam":
        return slaved(beam(material=SOFT).discretise(4))
    if kind in ("plate", "solid"):
        return on_mesh(kind)
    J = np.array([[0.4, 0.05, 0.02], [0.05, 0.5, -0.03], [0.02, -0.03, 0.6]])
    return ph.RigidBody(2.5, J, center=(0.1, -0.2, 0.3), ports={"C": (0.5, 0.2, -0.1)}).discretise()


def pair(joint: str, kind: str, plane: str | None, *more, hung: bool = True, gravity: bool = True) -> ph.System:
    """Two equal bodies a and b with joint "j" from a.C to b.P; a spring acts on each slide of it.

    `hung`: a.P is on a ball joint to the ground; `more`: further joints and elements.
    """
    made, options = (IN_PLANE if plane else IN_SPACE)[joint]
    body = thing(kind)
    joints = [made("a.C", "b.P", name="j", turned=(0.0, 0.0, 0.3), **options)]
    labels = {"prismatic": ["slide"], "slide": ["slide"], "cylindrical": ["slide"], "planar": ["slide_x", "slide_y"]}
    joints += [ph.JointSpring("j", stiffness=40.0, axis=label) for label in labels.get(joint, [])]
    if hung:
        joints.append(ph.Spherical("ground", "a.P", name="hook"))
    falling = (0.7, -9.81, 0.0 if plane else 1.3) if gravity else (0.0, 0.0, 0.0)
    return ph.connect({"a": body, "b": body}, [*joints, *more], gravity=falling, plane=plane)


def random_motion(system: ph.System, seed: int, u=None, stressed: float = 0.0, stretched: float = 1.0) -> ph.State:
    """A random state: η of about 1 mm, angular velocities of about 1 rad/s, slides of about 1 m/s.

    `u` are driven rates; `stressed` is the standard deviation of added stresses; `stretched` scales axial coordinates of beams.
    """
    rng = np.random.default_rng(seed)
    shape = system.layout.shape
    eta = {n: 1e-3 * rng.normal(size=shape(n)) for n in system.layout if n.endswith(".eta")}
    for name in eta:  # coordinates of bodies on meshes are modes: their amplitudes decrease with frequency
        body = system.bodies[name.removesuffix(".eta")]
        if isinstance(body.recipe, ph.Beam):
            eta[name][members(body.elastic)["axial"][1]] *= stretched
        if isinstance(body.recipe, (ph.Plate, ph.Solid)):
            omega = body.elastic.D.diagonal()
            eta[name] *= 10.0 * omega[0] / omega
    state = ph.place(system, eta)
    given = {n: 0.02 * rng.normal(size=shape(n)) for n in system.layout if n.endswith(".eta_dot")}
    given["a.omega"] = rng.normal(size=shape("a.omega"))
    for c in system.joints.values():
        if not c.driven and {c.first.body, c.second.body} == {"a", "b"}:
            given |= {f"{c.name}.{row.label}_rate": rng.normal() for row in c.free if row.coordinate}
            if not any(row.is_angle for row in c.free) and type(c.joint) in (ph.Spherical, ph.Slide):
                given["b.omega"] = rng.normal(size=shape("b.omega"))
    if not any(c.first.body == "" for c in system.joints.values()):
        given["a.v_P"] = rng.normal(size=shape("a.v_P"))
    state = ph.set_moving(system, state, given, u=u)
    stress = {n: state[n] + stressed * rng.normal(size=shape(n)) for n in system.layout if n.endswith(".sigma")}
    return state.with_values(stress)
