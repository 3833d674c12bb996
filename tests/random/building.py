"""From a plan to a mechanism: bodies, joints, forces and inputs as phloat has them, and a state in which it moves."""

import warnings
from dataclasses import dataclass, field

import numpy as np
from bodies import direction, made, recipe_of
from forces import forces_of, port
from hypothesis import reject
from mechanisms import BEAMS, GROUND, Link, Plan
from worlds import HERE, Push, World, joint_in, swappable, vector

import phloat as ph
from phloat.algebra.cross import rotation
from phloat.motion.initial.saddle import SaddleSystem
from phloat.motion.initial.velocities import mass, velocity_rows, with_velocities
from phloat.motion.inputs.inputs import as_inputs

MADE = {"revolute": ph.Revolute, "prismatic": ph.Prismatic, "universal": ph.Universal, "cylindrical": ph.Cylindrical}
MADE |= {"planar": ph.Planar, "spherical": ph.Spherical, "weld": ph.Weld, "slide": ph.Slide}
SLIDES = {"prismatic": ["slide"], "slide": ["slide"], "cylindrical": ["slide"], "planar": ["slide_x", "slide_y"]}
STIFF = {"rigid": ("P", "C"), **dict.fromkeys({*BEAMS, "split"} - {"pinned"}, ("P",))}  # ports that do not turn with η
TURNS = {"revolute": ["angle"], "cylindrical": ["angle"], "universal": ["angle", "angle_2"], "planar": ["angle"]}


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A plan in SI units, as it is drawn; `system(world)` is it in another world, and `state(world)` the same state there."""

    plan: Plan
    bodies: dict[str, tuple]  # recipe and kind
    joints: list
    gravity: np.ndarray
    pushes: dict[str, Push] = field(default_factory=dict)
    known: dict = field(default_factory=dict)  # systems by world
    cut: dict = field(default_factory=dict)  # bodies by recipe and units

    def system(self, world: World = HERE) -> ph.System:
        key = (id(world), "system")
        if key not in self.known:
            names = world.order(list(self.bodies))
            bodies = {name: self.body(name, world) for name in names}
            falling = world.number(world.Q @ self.gravity, L=1, T=-2)
            if self.plan.plane:
                falling[2] = 0.0
            swapped = self.swapped(world)
            joints = [joint_in(joint, world, swapped) for joint in in_order(self.joints, world)]
            with quiet():
                system = ph.connect(bodies, joints, gravity=tuple(falling), plane=self.plan.plane)
            self.known[key] = world, ph.drive(system, "j0") if self.plan.driven else system
        return self.known[key][1]

    def body(self, name: str, world: World) -> ph.Body:
        recipe, kind = self.bodies[name]
        key = (name, world.length, world.mass, world.time)
        if key not in self.cut:
            self.cut[key] = made(recipe, kind, world)
        return self.cut[key]

    def inputs(self, world: World = HERE, t_end: float | None = None) -> dict:
        inner = {j.label for j in self.joints if "ground" not in (getattr(j, "first", ""), getattr(j, "second", ""))}
        flipped = self.swapped(world) & inner
        return {name: push.signal(world, t_end, flipped=name in flipped) for name, push in self.pushes.items()}

    def swapped(self, world: World) -> set[str]:
        """The joints whose ends are written in the other order."""
        stiff = {"ground", *(f"{name}.{p}" for name, (_, kind) in self.bodies.items() for p in STIFF.get(kind, ()))}
        return {j.label for j in self.joints if world.swapped and swappable(j, stiff)}


def in_order(joints: list, world: World) -> list:
    """Joints as they are written down; what acts on a joint comes after it."""
    acting = [j for j in joints if isinstance(j, (ph.JointSpring, ph.JointDamper))]
    return world.order([j for j in joints if j not in acting]) + world.order(acting)


def quiet():
    """Loose bodies and joints that repeat each other are meant here."""
    caught = warnings.catch_warnings()
    caught.__enter__()
    for kind in (ph.errors.RedundancyWarning, ph.errors.LooseBodyWarning):
        warnings.simplefilter("ignore", kind)
    return _Closing(caught)


class _Closing:
    def __init__(self, caught):
        self.caught = caught

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.caught.__exit__(*error)


# --- joints ----------------------------------------------------------------------------------------------------------


def joint_of(i: int, link: Link, links: tuple[Link, ...], where: str) -> list:
    """The joint that a body hangs by, with springs on what slides."""
    rng, flat = np.random.default_rng(link.seed + 1), where != "space"
    first, name = "ground" if link.parent == GROUND else f"b{link.parent}.C", f"j{i}"
    at = {"at": tuple(rng.normal(size=3) * ([1, 1, 0] if flat else 1))} if link.parent == GROUND else {}
    if link.joint == "none":
        return []
    if link.joint == "drive":
        return [ph.Drive("ground", f"b{i}.P", name=name)]
    turned = (0.0, 0.0, rng.uniform(-1, 1)) if flat else tuple(rng.normal(size=3) * 0.5)
    given = {} if link.kind == "point" else {"turned": turned}
    if link.joint in ("revolute", "universal", "cylindrical", "planar"):
        given["axis"] = (0.0, 0.0, 1.0) if flat else tuple(direction(rng, False))
    if link.joint == "prismatic":
        given["axis"] = tuple(direction(rng, flat))
    if link.joint == "slide":
        given["along"] = tuple(direction(rng, flat))
    out = [MADE[link.joint](first, f"b{i}.P", name=name, **at, **given)]
    k = rng.uniform(50.0, 200.0)
    side = "outer" if link.parent == GROUND else "inner"
    for label in SLIDES.get(link.joint, []):
        out.append(ph.JointSpring(name, axis=label, stiffness=k, name=f"{side} {name} {label}"))
    return out


def given_of(i: int, link: Link, plan: Plan) -> dict[str, object]:
    """Joint coordinates and free attitudes at the start."""
    rng, flat = np.random.default_rng(link.seed + 2), plan.where != "space"
    out = {f"j{i}.{label}": rng.uniform(-1.0, 1.0) for label in TURNS.get(link.joint, [])}
    out |= {f"j{i}.{label}": rng.uniform(-0.3, 0.3) for label in SLIDES.get(link.joint, [])}
    body = f"b{i}.1" if link.kind == "split" else f"b{i}"
    if link.joint in ("spherical", "slide", "drive", "none") and link.kind != "point":
        turned = rng.normal(size=3)
        out |= (
            {f"{body}.theta": turned[2]}
            if plan.plane
            else {f"{body}.A_IB": rotation(turned * ([0, 0, 1] if flat else 1))}
        )
    if link.joint in ("drive", "none"):
        out[f"{body}.r_P"] = rng.normal(size=2 if plan.plane else 3)
    return out


def closed(plan: Plan, tree: ph.System, state: ph.State) -> tuple[dict, list, dict]:
    """Rods and slides that close loops where the tree stands: bodies, joints, and where the rods are."""
    bodies, joints, places = {}, [], {}
    for k, part in enumerate(plan.closings):
        rng, flat = np.random.default_rng(part.seed), plan.where != "space"
        end = placed(tree, state, part.second)
        if part.kind == "slide":
            joints.append(
                ph.Slide(
                    "ground",
                    port(part.second, plan.links),
                    at=tuple(end),
                    along=tuple(direction(rng, flat)),
                    name=f"c{k}",
                )
            )
            continue
        start = end + rng.uniform(0.5, 1.0) * direction(rng, flat)
        if part.kind == "rod":
            start = placed(tree, state, part.first)
        reach = end - start
        if np.linalg.norm(reach) < 0.05:  # the ports coincide: there is nothing to join by a rod
            continue
        name, A = f"r{k}", rotation(rng.normal(size=3) * ([0, 0, 1] if flat else 1))
        rigid = recipe_of("rigid", part.seed, flat)
        bodies[name] = (
            ph.RigidBody(rigid.mass, rigid.inertia, center=tuple(0.5 * A.T @ reach), ports={"C": tuple(A.T @ reach)}),
            "rigid",
        )
        at = {} if part.kind == "rod" else {"at": tuple(start)}
        pin = ph.Revolute if flat else ph.Spherical
        given = {"turned": vector(rotation_at(tree, state, part.first).T @ A)} if flat else {}
        back = {"turned": vector(A.T @ rotation_at(tree, state, part.second))} if flat else {}
        joints += [
            pin(port(part.first, plan.links), f"{name}.P", name=f"c{k}", **at, **given),
            pin(f"{name}.C", port(part.second, plan.links), name=f"d{k}", **back),
        ]
        places[name] = start, A
    return bodies, joints, places


def placed(system: ph.System, state: ph.State, i: int) -> np.ndarray:
    """Where the port of a body is."""
    body = piece(system, i)
    pose, port = state.pose(body), system.bodies[body].port("C" if "C" in system.bodies[body].ports else "P")
    at = port.at(pose.eta)
    return pose.r_P + pose.A @ (at.x + at.Phi @ pose.eta)


def rotation_at(system: ph.System, state: ph.State, i: int) -> np.ndarray:
    """How the body of a port is turned."""
    return np.eye(3) if i == GROUND else state.pose(piece(system, i)).A


def piece(system: ph.System, i: int) -> str:
    """The body, or the last piece of a split beam, that has the port C."""
    return f"b{i}" if f"b{i}" in system.bodies else f"b{i}.2"


# --- the whole -------------------------------------------------------------------------------------------------------


def built(plan: Plan) -> tuple[Mechanism, ph.State]:
    """The mechanism, and a state in which every joint is closed and everything moves."""
    rng, flat = np.random.default_rng(plan.seed), plan.where != "space"
    bodies = {f"b{i}": (recipe_of(link.kind, link.seed, flat), link.kind) for i, link in enumerate(plan.links)}
    joints = [joint for i, link in enumerate(plan.links) for joint in joint_of(i, link, plan.links, plan.where)]
    gravity = 9.81 * direction(rng, flat) if plan.gravity else np.zeros(3)
    given = {key: x for i, link in enumerate(plan.links) for key, x in given_of(i, link, plan).items()}
    bare = Mechanism(plan, bodies, joints, gravity)
    tree = bare.system()
    given |= bent(tree, rng, plan)
    state = ph.place(tree, given)
    rods, closing, places = closed(plan, tree, state)
    extra, pushes = forces_of(plan)
    if plan.driven:
        pushes["j0"] = Push(rng.normal(size=1), 10.0, "rate")
    if plan.links[0].joint == "drive":
        pushes["j0"] = Push(rng.normal(size=2 if plan.plane else 3), 10.0, "velocity", inertial=True)
    for i, link in enumerate(plan.links[1:], 1):
        if link.joint == "drive":
            pushes[f"j{i}"] = Push(rng.normal(size=2 if plan.plane else 3), 7.0, "velocity", inertial=True)
    mechanism = Mechanism(plan, bodies | rods, [*joints, *closing, *extra], gravity, pushes, cut=bare.cut)
    system = mechanism.system()
    values = {name: state[name] for name in tree.layout}
    for name, (r, A) in places.items():
        values |= {f"{name}.r_P": r[: 2 if plan.plane else 3]}
        values |= {f"{name}.theta": vector(A)[2]} if plan.plane else {f"{name}.A_IB": A}
    start = ph.State(system.bodies, system.layout, np.zeros(system.layout.size)).with_values(values)
    return mechanism, moving(system, start, mechanism.inputs(), rng, plan)


def bent(system: ph.System, rng: np.random.Generator, plan: Plan) -> dict[str, np.ndarray]:
    """Deformations by millimetres, as forces and torques at the end C make them: nothing rings at the highest frequencies."""
    shapes = {f"{name}.eta": loaded(body, rng) for name, body in system.bodies.items() if body.coordinates}
    return {name: (plan.where != "flat") * eta for name, eta in shapes.items()}


def loaded(body: ph.Body, rng: np.random.Generator) -> np.ndarray:
    """How a random wrench at its end bends a body, by 2 mm or 5 mrad."""
    at = body.port("C")
    tip = np.vstack([at.Phi, at.Psi])
    eta = np.linalg.solve(body.elastic.K.toarray(), tip.T @ rng.normal(size=6))
    field = body.shape.displacement(body.shape.places()) @ eta
    return eta / max(np.abs(field).max() / 2e-3, np.abs(at.Psi @ eta).max() / 5e-3)


def moving(system: ph.System, state: ph.State, u: dict, rng: np.random.Generator, plan: Plan) -> ph.State:
    """Random velocities, the nearest that joints and drives allow."""
    parts = []
    for body in system.bodies.values():
        rigid = rng.normal(size=len(body.active))
        if plan.where == "flat":
            rigid *= np.isin(body.active, (0, 1, 5))
        parts += [rigid, (plan.where != "flat") * 20.0 * loaded(body, rng) if body.coordinates else np.zeros(0)]
    G, B = velocity_rows(system, state)
    M = mass(system, state)
    driven = B @ as_inputs(system, u).drives_only().at(0.0)
    w, _ = SaddleSystem(M, G).solve(M @ np.concatenate(parts), driven)
    if np.abs(G @ w - driven).max(initial=0.0) > 1e-9:  # a loop may not let its drives move
        reject()
    wanted = with_velocities(system, state, w)
    rates = {n: wanted[n] for n in system.layout if n.rpartition(".")[2] in ("v_P", "omega", "eta_dot")}
    return ph.set_moving(system, state, rates, u=u)
