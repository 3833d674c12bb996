"""Does a flexible double pendulum keep its energy, and does it become the rigid one as it gets stiffer?

Two slender rods fall from the horizontal. The rigid limit is the textbook double pendulum, solved as two equations for two
angles; the flexible one bends, and is compared with itself at half and a quarter of the step.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

import phloat as ph

alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
rod = ph.Beam(length=0.5, section=ph.Rectangle(0.02, 0.002), material=alu)
mass, g = alu.rho * 0.02 * 0.002 * rod.length, 9.81
stick = ph.RigidBody(
    mass=mass,
    inertia=mass * rod.length**2 / 12 * np.diag([1e-3, 1.0, 1.0]),
    center=(rod.length / 2, 0, 0),
    ports={"C": (rod.length, 0, 0)},
)


def motion(link: ph.Body, dt: float, t_end: float = 1.0) -> ph.Result:
    """Two links, let go when both lie along x."""
    pendulum = ph.connect(
        {"upper": link, "lower": link},
        joints=[ph.Revolute("ground", "upper.P"), ph.Revolute("upper.C", "lower.P")],
        gravity=(0, -g, 0),
        plane="xy",
    )
    state = ph.settle(pendulum, ph.place(pendulum))  # bent as it starts to fall, so that nothing rings
    return ph.simulate(pendulum, state, t_end=t_end, dt=dt)


def end(result: ph.Result) -> np.ndarray:
    """Where the lower tip is at last; place 1 of a stick is its second port."""
    return result.position("lower", s=1.0)[-1]


steps = [4e-3, 2e-3, 1e-3]
bent = [motion(rod.discretise(4), dt) for dt in steps]
changes = [np.linalg.norm(end(coarse) - end(fine)) for coarse, fine in pairwise(bent)]
order = np.log2(changes[0] / changes[1])
drift = max(np.ptp(result.energy) for result in bent) / (mass * g * rod.length)
rigid = motion(stick.discretise(), steps[-1])
stiffnesses = alu.E * np.array([1e2, 1e3, 1e4])
stiff = [motion(replace(rod, material=replace(alu, E=E)).discretise(4), steps[-1]) for E in stiffnesses]
distances = [np.linalg.norm(end(result) - end(rigid)) for result in stiff]

if __name__ == "__main__":
    print(f"lower tip after 1 s: flexible {end(bent[-1])}, rigid {end(rigid)}")
    print(f"energy drifts by {drift:.0e} m g l; order in the step {order:.2f}")
    for E, distance in zip(stiffnesses, distances, strict=True):
        print(f"E = {E:.0e}: {distance:.1e} m from the rigid pendulum")
