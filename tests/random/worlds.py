"""The same mechanism in another world: turned and shifted, in other units, in another order, with the ends of joints swapped."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

import phloat as ph
from phloat.algebra.cross import rotation


@dataclass(frozen=True, eq=False)
class World:
    """How a mechanism is written down: x' = Q x + d in inertial axes, numbers in units of which SI has so many."""

    Q: np.ndarray = field(default_factory=lambda: np.eye(3))
    d: np.ndarray = field(default_factory=lambda: np.zeros(3))
    length: float = 1.0  # in mm: 1000
    mass: float = 1.0  # in t: 0.001
    time: float = 1.0
    swapped: bool = False
    shuffled: int | None = None  # the seed of another order of bodies and joints

    def number(self, value, L=0, M=0, T=0):
        """A number in the units of this world."""
        return value * (self.length**L * self.mass**M * self.time**T)

    def place(self, x) -> np.ndarray:
        return self.number(self.Q @ np.asarray(x, float) + self.d, L=1)

    def order(self, things: list) -> list:
        """The things in the order in which they are written down."""
        if self.shuffled is None:
            return things
        return [things[k] for k in np.random.default_rng(self.shuffled).permutation(len(things))]


HERE = World()


def vector(R: np.ndarray) -> tuple[float, ...]:
    """The rotation vector of a rotation."""
    return tuple(Rotation.from_matrix(R).as_rotvec().tolist())


# --- bodies ----------------------------------------------------------------------------------------------------------


def body_in(recipe, world: World):
    """A body in other units."""
    n = world.number
    if isinstance(recipe, ph.RigidBody):
        return ph.RigidBody(
            n(recipe.mass, M=1),
            n(np.asarray(recipe.inertia), M=1, L=2),
            center=tuple(n(np.asarray(recipe.center), L=1)),
            ports={name: tuple(n(np.asarray(x), L=1)) for name, x in recipe.ports.items()},
        )
    if isinstance(recipe, ph.PointMass):
        return ph.PointMass(n(recipe.mass, M=1))
    changes = {"material": material_in(recipe.material, world), "damping": damping_in(recipe.damping, world)}
    if isinstance(recipe, ph.Beam):
        changes |= {"length": n(recipe.length, L=1), "section": section_in(recipe.section, world)}
        changes["masses"] = {s: n(m, M=1) for s, m in recipe.masses.items()}
    return replace(recipe, **changes)


def material_in(material, world: World):
    n = world.number
    return replace(material, E=n(material.E, M=1, L=-1, T=-2), rho=n(material.rho, M=1, L=-3))


def damping_in(damping, world: World):
    n = world.number
    if isinstance(damping, ph.KelvinVoigt):
        return ph.KelvinVoigt(n(damping.time, T=1))
    if isinstance(damping, ph.ModalDamping):
        return damping
    return ph.Rayleigh(mass=n(damping.mass, T=-1), stiffness=n(damping.stiffness, T=1), relative_to=damping.relative_to)


def section_in(section, world: World):
    if callable(section):
        return lambda s: section_in(section(s), world)
    return ph.Rectangle(world.number(section.b, L=1), world.number(section.h, L=1))


# --- joints and forces -----------------------------------------------------------------------------------------------


def joint_in(joint, world: World, swapped: set[str]):
    """A joint, force element or force in another world; `swapped` are those whose ends are written in the other order."""
    joint = unit_in(joint, world, swapped)
    if isinstance(joint, (ph.Force, ph.Load)) and joint.axes == "inertial":
        return replace(joint, along=tuple(world.Q @ joint.along))
    if isinstance(joint, ph.Torque) and joint.axes == "inertial":
        return replace(joint, about=tuple(world.Q @ joint.about))
    if getattr(joint, "first", "") == "ground":
        joint = on_ground(joint, world)
    return ends_swapped(joint) if joint.label in swapped else joint


def on_ground(joint, world: World):
    """The ground turned and shifted: the body keeps its own axes, so only what is said in those of the ground changes."""
    changes = {"at": tuple(world.place(np.asarray(joint.at)))} if not isinstance(joint, ph.Drive) else {}
    if not hasattr(joint, "turned") or isinstance(joint, ph.Drive):
        return replace(joint, **changes)
    R = world.Q @ rotation(np.asarray(joint.turned, float))
    if hasattr(joint, "axis"):
        changes["axis"] = tuple(world.Q @ joint.axis)
    if isinstance(joint, ph.Slide):
        changes["along"] = tuple(world.Q @ joint.along)
    for kind, name in (
        (ph.Universal, "second_axis"),
        (ph.Planar, "along"),
    ):  # by default they do not turn with the axis
        if isinstance(joint, kind):
            changes[name] = tuple(world.Q @ joint.triad()[:, 0])
    turned = np.asarray(joint.turned, float)
    if world.Q[2, 2] == 1.0 and not turned[:2].any():  # about z, where θ counts whole turns and so must this
        return replace(joint, turned=(0.0, 0.0, turned[2] + np.arctan2(world.Q[1, 0], world.Q[0, 0])), **changes)
    return replace(joint, turned=vector(R), **changes)


def swappable(joint, stiff: set[str]) -> bool:
    """Whether its ends can be written in the other order; `stiff` are the ports whose sections do not bend.

    A slide is a line of the first. A cylindrical joint between bodies is told by directions of the first, which are not those of
    the second in the middle of a step: its ends may be swapped to h². The ground is always what motion is seen from, so its axis
    of a universal joint stays the first. The triad of a section bent by ψ is orthonormal to ψ² only, and with it an axis of the
    first is one of the second.
    """
    if isinstance(joint, (ph.Spherical, ph.Spring, ph.Damper)):
        return True
    turning: tuple = (ph.Weld, ph.Revolute, ph.Prismatic)
    turning += (
        (ph.Cylindrical,)
        if "ground" in (getattr(joint, "first", ""), getattr(joint, "second", ""))
        else (ph.Universal,)
    )
    return isinstance(joint, turning) and {joint.first, joint.second} <= stiff


def ends_swapped(joint):
    swapped = replace(joint, first=joint.second, second=joint.first)
    if not hasattr(joint, "turned"):
        return swapped
    R = rotation(np.asarray(joint.turned, float))
    if isinstance(joint, ph.Universal):  # the axes change their parts: D of the new first is that of the old second
        U = R.T @ joint.triad()
        return replace(swapped, axis=tuple(U[:, 0]), second_axis=tuple(U[:, 2]), turned=vector(R.T))
    changes = {"axis": tuple(R.T @ joint.axis)} if hasattr(joint, "axis") else {}
    return replace(swapped, turned=tuple(-x for x in joint.turned), **changes)


def unit_in(joint, world: World, swapped: set[str]):
    """Stiffness and damping in other units; a spring on the axis of a joint that is written the other way round."""
    n = world.number
    if isinstance(joint, ph.Spring):
        if isinstance(joint.stiffness, dict):
            stiffness = {n(x, L=1): n(f, M=1, L=1, T=-2) for x, f in joint.stiffness.items()}
        else:
            stiffness = n(joint.stiffness, M=1, T=-2)
        return replace(joint, stiffness=stiffness, length=n(joint.length, L=1))
    if isinstance(joint, ph.Damper):
        return replace(joint, damping=n(joint.damping, M=1, T=-1))
    if isinstance(joint, ph.Bushing):
        powers = [{"M": 1, "T": -2}] * 3 + [{"M": 1, "L": 2, "T": -2}] * 3
        stiffness = tuple(n(k, **p) for k, p in zip(joint.stiffness, powers, strict=True))
        damping = tuple(n(c, **{**p, "T": -1}) for c, p in zip(joint.damping, powers, strict=True))
        return replace(joint, stiffness=stiffness, damping=damping)
    turns = {"L": 2} if getattr(joint, "axis", None) in ("angle", "angle_2") else {}
    if isinstance(joint, ph.JointSpring):
        rest = joint.rest if turns else n(joint.rest, L=1)
        sign = -1.0 if joint.joint in swapped and joint.name.startswith("inner") else 1.0
        return replace(joint, stiffness=n(joint.stiffness, M=1, T=-2, **turns), rest=sign * rest)
    if isinstance(joint, ph.JointDamper):
        return replace(joint, damping=n(joint.damping, M=1, T=-1, **turns))
    return joint


# --- inputs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Push:
    """An input: value · cos(pulsation · t), with what kind of number it is: a force, a torque, a rate, a velocity."""

    value: np.ndarray
    pulsation: float
    kind: str
    inertial: bool = False

    def signal(self, world: World, t_end: float | None = None, *, flipped: bool = False):
        """In another world; run backwards from t_end where that is given."""
        powers = {
            "force": {"M": 1, "L": 1, "T": -2},
            "torque": {"M": 1, "L": 2, "T": -2},
            "factor": {"M": 1, "T": -2},
            "rate": {"T": -1},
            "velocity": {"L": 1, "T": -1},
        }
        if self.kind == "wrench":
            value = np.concatenate([world.number(self.value[:-3], **powers["force"]), self.value[-3:]])
            value[-3:] = world.number(self.value[-3:], **powers["torque"])
        elif self.kind == "planar wrench":
            value = np.append(
                world.number(self.value[:2], **powers["force"]), world.number(self.value[2], **powers["torque"])
            )
        else:
            value = world.number(self.value, **powers[self.kind])
        if self.inertial:
            value = (world.Q @ np.append(value, np.zeros(3 - len(value))))[: len(value)]
        if flipped:
            value = -value
        back = -1.0 if t_end is not None and self.kind in ("rate", "velocity") else 1.0
        end, pulsation = t_end or 0.0, self.pulsation / world.time
        if value.size == 1:
            value = float(value.ravel()[0])
        return lambda t: back * value * np.cos(pulsation * (end - t if t_end is not None else t))
