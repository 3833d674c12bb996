"""How do the panels of a satellite swing after its hub has been turned?

A free hub with two long panels is first pushed, then turned by a torque pulse. Nothing else acts: linear and angular momentum are
the impulses of the two, for good, while the panels go on swinging at the frequency that linearise predicts.
"""

import numpy as np

import phloat as ph

alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
panel = ph.Beam(length=3.0, section=ph.Rectangle(0.5, 0.01), material=alu, theory="timoshenko")
hub = ph.RigidBody(mass=500.0, inertia=np.diag([200.0] * 3), ports={"left": (-0.5, 0, 0), "right": (0.5, 0, 0)})


def satellite(panel: ph.Body) -> ph.System:
    return ph.connect(
        {"hub": hub.discretise(), "left": panel, "right": panel},
        joints=[
            ph.Weld("hub.right", "right.P"),
            ph.Weld("hub.left", "left.P", turned=(0, 0, np.pi)),
            ph.Force("hub.P", along=(1, 0, 0), name="push"),
            ph.Torque("hub.P", about=(0, 0, 1), name="turn"),
        ],
    )


push = ph.piecewise({0.0: 0.0, 0.1: 200.0, 0.2: 0.0})  # 20 N s
turn = ph.piecewise({0.5: 0.0, 0.6: 50.0, 0.9: 50.0, 1.0: 0.0})  # 20 N m s
system = satellite(panel.discretise(16).reduced(modes=2))
result = ph.simulate(system, ph.place(system), t_end=11.0, dt=2e-3, u={"push": push, "turn": turn})
momentum, angular = result.momentum[-1], result.angular_momentum[-1]

after = result.t >= 1.0
swing = result.displacement("right", s=1.0)[after, 1]
drift = np.abs(result.angular_momentum[after] - angular).max() / np.abs(angular).max()


def frequency(t: np.ndarray, x: np.ndarray) -> float:
    """Pulsation of an oscillation, from the first to the last time that it crosses zero upwards."""
    k = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    crossings = t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k])
    return 2 * np.pi * (len(k) - 1) / (crossings[-1] - crossings[0])


measured = frequency(result.t[after], swing - swing.mean())
predicted = ph.modes(ph.linearise(system, ph.place(system))).elastic

if __name__ == "__main__":
    print(f"momentum {momentum}, angular momentum {angular}, which drifts by {drift:.0e}")
    print(f"the panels swing at {measured:.4f} rad/s; modes of the satellite: {np.round(predicted[:4], 4)}")
