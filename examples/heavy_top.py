"""How fast does a simulated heavy top come to the true one? (A benchmark of Lie group integrators: Géradin and Cardona, 2001.)

A top of 15 kg spins at 150 rad/s about an axis that starts horizontal, on a ball joint, and precesses. Its mass centre is known to
eight digits. The default step is of order 2, five of them composed are of order 4, and both keep the energy.
"""

import numpy as np

import phloat as ph

top = ph.RigidBody(mass=15.0, inertia=np.diag([0.234375, 0.46875, 0.234375]), center=(0, 1, 0))
system = ph.connect({"top": top.discretise()}, joints=[ph.Spherical("ground", "top.P")], gravity=(0, 0, -9.81))
state = ph.set_moving(system, ph.place(system), {"top.omega": (0.0, 150.0, -4.61538)})
centre = {0.1: (0.42129666, 0.89457197, -0.14916470), 1.0: (0.17334396, 0.64008859, -0.74849079)}


def motion(steps: int, scheme: object = ph.Midpoint()) -> ph.Result:
    """One second in so many steps."""
    return ph.simulate(system, state, t_end=1.0, dt=1.0 / steps, scheme=scheme)


def error(result: ph.Result) -> float:
    """How far the mass centre is off, at worst, at 0.1 and 1 s."""
    x = result.position("top", at=top.center)
    return max(float(np.abs(x[np.abs(result.t - t).argmin()] - known).max()) for t, known in centre.items())


def rates(errors: list[float]) -> np.ndarray:
    return -np.diff(np.log2(errors))


second = [motion(steps) for steps in (1000, 2000, 4000)]
fourth = [motion(steps, ph.Composition4()) for steps in (250, 500, 1000)]
errors = {"Midpoint": [error(r) for r in second], "Composition4": [error(r) for r in fourth]}
energy = second[0].energy[0]
drift = max(np.ptp(result.energy) for result in second + fourth) / energy

if __name__ == "__main__":
    print(f"energy {energy:.7f} J, kept to {drift:.0e}")
    for name, off in errors.items():
        print(f"{name}: off by " + ", ".join(f"{e:.1e}" for e in off) + f" m, order {rates(off).round(2)}")
