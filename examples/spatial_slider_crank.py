"""How does a slider move, and its rod bend, when the crank turns in a plane across its path? (Geometry of Haug, 1989, 12.2.)

A rigid crank turns about x at a given rate, 0.1 m beside and 0.12 m above the line of the slider. A ball joint holds the rod on the
crank, a universal joint on the slider. While the rod stays straight, x² = L² − y² − z² of the pin gives the slider.
"""

import numpy as np

import phloat as ph

radius, shaft, rate = 0.08, np.array([0.0, 0.1, 0.12]), 60.0
rod = ph.Beam(0.3, ph.Circle(6e-3), ph.Material(E=0.2e12, rho=7870.0, nu=0.3), frame="pinned")
crank = ph.RigidBody(mass=0.12, inertia=1e-4 * np.eye(3), center=(0, 0, 0.04), ports={"pin": (0, 0, radius)})
slider = ph.RigidBody(mass=0.2, inertia=1e-4 * np.eye(3))


def slider_crank(rod: ph.Body) -> ph.System:
    system = ph.connect(
        {"crank": crank.discretise(), "rod": rod, "slider": slider.discretise()},
        joints=[
            ph.Revolute("ground", "crank.P", at=shaft, axis=(1, 0, 0), name="shaft"),
            ph.Spherical("crank.pin", "rod.P"),
            ph.Universal("slider.P", "rod.C", turned=(0, 0, -np.pi / 2)),  # about z of the slider, then y of the rod
            ph.Prismatic("ground", "slider.P", axis=(1, 0, 0), name="guide"),
        ],
    )
    return ph.drive(system, "shaft")


def pin(angle: np.ndarray) -> np.ndarray:
    """Where the end of the crank is, (angles, 3)."""
    return shaft + radius * np.stack([0 * angle, -np.sin(angle), np.cos(angle)], axis=-1)


def straight(angle: np.ndarray) -> np.ndarray:
    """Where the slider is while the rod is straight."""
    return np.sqrt(rod.length**2 - (pin(angle)[..., 1:] ** 2).sum(axis=-1))


def motion(rod: ph.Body, dt: float = 1e-4, turns: float = 2.0) -> ph.Result:
    system, u = slider_crank(rod), {"shaft": rate}
    state = ph.place(system, {"shaft.angle": 0.0}, near={"slider.r_P": (0.2, 0, 0), "slider.A_IB": np.eye(3)})
    state = ph.set_moving(system, state, u=u)
    return ph.simulate(system, state, t_end=turns * 2 * np.pi / rate, dt=dt, u=u)


result = motion(rod.discretise(4))
angle, slide = rate * result.t, result.position("slider")[:, 0]
offset = slide - straight(angle)  # by stretch and bending of the rod
bending = np.linalg.norm(result.displacement("rod", s=0.5)[:, 1:], axis=1)

if __name__ == "__main__":
    print(f"the slider moves between {slide.min():.4f} and {slide.max():.4f} m")
    print(f"the rod bends by {1e3 * bending.max():.3f} mm and puts the slider off by {1e6 * abs(offset).max():.1f} µm")
