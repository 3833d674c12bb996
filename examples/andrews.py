"""How far has Andrews' squeezer turned after 30 ms? (Seven rigid bodies, three loops; test set for initial value problems, Bari.)

A small motor of 0.033 N m drives a seven-body mechanism against a spring, and makes two and a half turns. Bodies K1 … K7, points
and lengths are called as in Hairer and Wanner, "Solving Ordinary Differential Equations II", VII.7.
"""

import numpy as np

import phloat as ph

A, B, C = (-0.06934, -0.00227, 0), (-0.03635, 0.03273, 0), (0.014, 0.072, 0)
d, e, ss, rr, u, zf, zt = 0.028, 0.02, 0.035, 0.007, 0.04, 0.02, 0.04
# mass, inertia, mass centre, further ports; in axes that start where the body hangs
table = {
    "K1": (0.04325, 2.194e-6, (92e-5, 0, 0), {"F": (rr, 0, 0)}),
    "K2": (0.00365, 4.410e-7, (-115e-4, 0, 0), {"E": (-d, 0, 0)}),
    "K3": (0.02373, 5.255e-6, (1043e-5, -1874e-5, 0), {"E": (0, -ss, 0), "D": (0.02, -0.018, 0)}),
    "K4": (0.00706, 5.667e-7, (0, 1421e-5 - e, 0), {"E": (0, -e, 0)}),
    "K5": (0.07050, 1.169e-5, (2308e-5, 916e-5, 0), {"G": (zt, 0, 0)}),
    "K6": (0.00706, 5.667e-7, (zf - 1421e-5, 0, 0), {"E": (zf, 0, 0)}),
    "K7": (0.05498, 1.912e-5, (-449e-5, -1228e-5, 0), {"H": (0, -u, 0)}),
}
bodies = {name: ph.RigidBody(m, I * np.eye(3), x, ports).discretise() for name, (m, I, x, ports) in table.items()}
pins = [("K1.F", "K2.P"), ("K5.G", "K4.P"), ("K7.H", "K6.P"), ("K2.E", "K3.E"), ("K2.E", "K4.E"), ("K2.E", "K6.E")]
squeezer = ph.connect(
    bodies,
    joints=[
        ph.Revolute("ground", "K1.P", name="motor"),
        *(ph.Revolute("ground", f"{name}.P", at=at) for name, at in {"K3": B, "K5": A, "K7": A}.items()),
        *(ph.Revolute(first, second) for first, second in pins),
        ph.Spring("ground", "K3.D", at=C, stiffness=4530.0, length=0.07785),
    ],
    plane="xy",
)
guess = dict(zip(table, (-0.06, -0.06, 0.46, 0.71, 0.49, 1.01, 1.23), strict=True))
start = ph.place(
    squeezer,
    {"K1.theta": -0.0617138900142764496},
    near={f"{name}.theta": angle for name, angle in guess.items()},
)


def angles(state: ph.State) -> np.ndarray:
    """β, Θ, γ, Φ, δ, Ω, ε: each from the body before it."""
    K1, K2, K3, K4, K5, K6, K7 = (state[f"{name}.theta"] for name in table)
    return np.array([K1, K2 - K1, K3, K4 - K5, K5, K6 - K7, K7])


runs = [ph.simulate(squeezer, start, t_end=0.03, dt=0.03 / steps, u={"motor": 0.033}) for steps in (1200, 2400)]
q = [angles(run.state()) for run in runs]
extrapolated = q[1] + (q[1] - q[0]) / 3  # the step is of order 2

if __name__ == "__main__":
    print(*(f"{name} {x:.8f}" for name, x in zip("βΘγΦδΩε", extrapolated, strict=True)))
