"""What are the lowest frequencies of a spatial frame of beams that are welded to each other and to the ground?

A frame is a list of points and of pairs of them. Where k members meet, k − 1 welds tie them to the first of them; at a foot
all of them are welded to the ground. A weld is told by how much the axes of its members are turned.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import phloat as ph


def axes(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """A_IB of a member: x along it, z as upright as can be (towards +x for a column)."""
    x = (end - start) / np.linalg.norm(end - start)
    up = np.array([0.0, 0.0, 1.0]) if abs(x[2]) < 0.99 else np.array([1.0, 0.0, 0.0])
    y = np.cross(up, x) / np.linalg.norm(np.cross(up, x))
    return np.column_stack([x, y, np.cross(x, y)])


def beams(points: np.ndarray, members: dict, section: ph.Section, material: ph.Material) -> dict[str, ph.Beam]:
    """A beam for every member, {name: (start, end)} by the numbers of its points."""
    length = {name: np.linalg.norm(points[j] - points[i]) for name, (i, j) in members.items()}
    return {name: ph.Beam(length[name], section, material) for name in members}


def welds(points: np.ndarray, members: dict, feet: set) -> list[ph.Weld]:
    """What holds the members together, and to the ground at the feet."""
    joints = []
    standing = {i: ("ground", np.eye(3)) for i in feet}  # what the next member at a point is welded to, and its axes
    for name, (i, j) in members.items():
        A_IB = axes(points[i], points[j])
        for port, k in ((f"{name}.P", i), (f"{name}.C", j)):
            there, A_there = standing.setdefault(k, (port, A_IB))
            if there != port:
                turned = Rotation.from_matrix(A_there.T @ A_IB).as_rotvec()
                joints.append(ph.Weld(there, port, at=points[k] if there == "ground" else (0, 0, 0), turned=turned))
    return joints


steel = ph.Material(E=210e9, rho=7850.0, nu=0.3)
profile = ph.Rectangle(0.10, 0.06)  # stiffer about one axis, so that it matters how a member is turned

corners = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0]])
points = np.vstack([np.column_stack([corners, np.full(4, z)]) for z in (0.0, 3.0, 6.0)])
members = {f"column {i}": (i, i + 4) for i in range(8)}
members |= {f"girder {i}": (i, 4 + (i + 1) % 4 + 4 * (i >= 8)) for i in range(4, 12)}
members |= {"brace": (0, 5)}

feet = {0, 1, 2, 3}

bodies = {name: beam.discretise(4) for name, beam in beams(points, members, profile, steel).items()}
system = ph.connect(bodies, joints=welds(points, members, feet))
modes = ph.modes(ph.linearise(system, ph.place(system)), count=10)
omega = modes.omega

if __name__ == "__main__":
    print(f"{len(members)} members; the lowest frequencies in Hz: " + ", ".join(f"{w / 2 / np.pi:.4f}" for w in omega))
