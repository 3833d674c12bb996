"""Chains of rods and a robot arm on hinges, as one table of links that all codes read."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

import phloat as ph

SIDE, LENGTH, MASS = 0.01, 0.1, 0.1  # of the links of chains: m, m, kg
X, Y, Z = np.eye(3)


@dataclass(frozen=True)
class Link:
    """A link: the place and the turn of its hinge in the frame of the link before it, mass centre, inertia about that."""

    at: tuple[float, ...]
    quaternion: tuple[float, ...]  # (w, x, y, z), of any length
    axis: tuple[float, ...]
    mass: float
    center: tuple[float, ...]
    inertia: tuple[float, ...]  # about the mass centre, along the axes of the link

    @property
    def turn(self):
        return Rotation.from_quat(self.quaternion, scalar_first=True)


@dataclass(frozen=True)
class Mechanism:
    """Links in a row, let go at rest with some angles of the hinges; errors are relative to `size`."""

    links: tuple[Link, ...]
    angles: tuple[float, ...]
    gravity: tuple[float, ...]
    size: float
    t_end: float
    plane: str | None = None


def chain(count, plane):
    """Rods on hinges about z, in space about z and y in turn, let go 0.5 rad from the vertical, in space also out of the plane."""
    thin, long = MASS * SIDE**2 / 6, MASS * (SIDE**2 + LENGTH**2) / 12
    axes = [(Z if plane or k % 2 == 0 else Y) for k in range(count)]
    links = tuple(
        Link(
            (LENGTH if k else 0.0, 0.0, 0.0),
            (1.0, 0.0, 0.0, 0.0),
            tuple(axis),
            MASS,
            (0.5 * LENGTH, 0.0, 0.0),
            (thin, long, long),
        )
        for k, axis in enumerate(axes)
    )
    angles = (0.5 - np.pi / 2, 0.0 if plane else 0.5, *[0.0] * (count - 2))
    return Mechanism(links, angles, (0.0, -9.81, 0.0), count * LENGTH, 2.0, plane)


def arm():
    """A robot arm of seven axes let go: dimensions, masses and inertias that are published of the KUKA LBR iiwa 14."""
    straight, turned, tilted = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 1.0), (1.0, 1.0, 0.0, 0.0)
    table = (
        ((0, 0, 0.36 - 0.2025), straight, 5.76, (0, -0.03, 0.12), (0.0333, 0.033, 0.0123)),
        ((0, 0, 0.2025), turned, 6.35, (0.0003, 0.059, 0.042), (0.0305, 0.0304, 0.011)),
        ((0, 0.2045, 0), turned, 3.5, (0, 0.03, 0.13), (0.025, 0.0238, 0.0076)),
        ((0, 0, 0.2155), tilted, 3.5, (0, 0.067, 0.034), (0.017, 0.0164, 0.006)),
        ((0, 0.1845, 0), turned, 3.5, (0.0001, 0.021, 0.076), (0.01, 0.0087, 0.00449)),
        ((0, 0, 0.2155), tilted, 1.8, (0, 0.0006, 0.0004), (0.0049, 0.0047, 0.0036)),
        ((0, 0.081, 0), turned, 1.2, (0, 0, 0.02), (0.001, 0.001, 0.001)),
    )
    links = tuple(Link(at, turn, tuple(Z), *rest) for at, turn, *rest in table)
    return Mechanism(links, (0.3, 0.8, -0.4, -1.2, 0.5, 0.9, -0.3), (0.0, 0.0, -9.81), 1.3, 1.0)


MECHANISMS = {
    **{f"planar chain of {n}": lambda n=n: chain(n, "xy") for n in (2, 8, 32, 128)},
    **{f"spatial chain of {n}": lambda n=n: chain(n, None) for n in (2, 8, 32, 128)},
    "robot arm of 7 axes": arm,
}


def system_of(mechanism):
    """The mechanism as a phloat system, and its state at the start."""
    links, bodies, joints = mechanism.links, {}, []
    for k, link in enumerate(links):
        ports = {"next": links[k + 1].at} if k + 1 < len(links) else {}
        bodies[f"{k}"] = ph.RigidBody(link.mass, np.diag(link.inertia), link.center, ports).discretise()
        place = {"at": link.at} if k == 0 else {}
        axis, turned = tuple(link.turn.apply(link.axis)), tuple(link.turn.as_rotvec())
        joints.append(
            ph.Revolute(f"{k - 1}.next" if k else "ground", f"{k}.P", axis=axis, turned=turned, name=f"j{k}", **place)
        )
    system = ph.connect(bodies, joints, gravity=mechanism.gravity, plane=mechanism.plane)
    return system, ph.place(system, {f"j{k}.angle": angle for k, angle in enumerate(mechanism.angles)})


def centers(mechanism, result):
    """The mass centres of all links at the end of a phloat run, (links, 3)."""
    out = np.zeros((len(mechanism.links), 3))
    for k, link in enumerate(mechanism.links):
        if mechanism.plane:
            A = Rotation.from_rotvec(float(result[f"{k}.theta"][-1]) * Z).as_matrix()
        else:
            A = result[f"{k}.A_IB"][-1]
        position = result[f"{k}.r_P"][-1]
        out[k, : len(position)] = position
        out[k] += A @ np.array(link.center)
    return out


def urdf(mechanism):
    """The mechanism as URDF, for codes that read it."""
    lines = ['<robot name="mechanism"><link name="base"/>']
    for k, link in enumerate(mechanism.links):
        moments = " ".join(f'{n}="{value!r}"' for n, value in zip(("ixx", "iyy", "izz"), link.inertia, strict=True))
        rpy = " ".join(map(repr, link.turn.as_euler("xyz").tolist()))
        lines += [
            f'<link name="{k}"><inertial><origin xyz="{row(link.center)}"/><mass value="{link.mass!r}"/>',
            f'<inertia {moments} ixy="0" ixz="0" iyz="0"/></inertial></link>',
            f'<joint name="j{k}" type="continuous"><parent link="{k - 1 if k else "base"}"/><child link="{k}"/>',
            f'<origin xyz="{row(link.at)}" rpy="{rpy}"/><axis xyz="{row(link.axis)}"/></joint>',
        ]
    return "\n".join([*lines, "</robot>"])


def row(numbers):
    return " ".join(repr(float(x)) for x in numbers)
