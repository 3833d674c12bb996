"""How much vibration does an input shaper leave whose frequency is wrong by 10 %?

A servo turns a flexible arm by 20° in a quarter of a second, with the torque that a drive needs as feed-forward, so that the hub
stays on its command. A shaper for the frequency ω_s leaves of a mode at ω the part |cos(πω/2ω_s)| (ZV) or its square (ZVD) of what
the command alone leaves: exact for one undamped mode (Singer and Seering 1990).
"""

import numpy as np

import phloat as ph

alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
beam = ph.Beam(length=0.8, section=ph.Rectangle(0.03, 0.01), material=alu).discretise(4)
hub = ph.RigidBody(mass=1.0, inertia=np.diag([0.01, 0.01, 0.02])).discretise()
tool = ph.PointMass(0.3).discretise()
joints = [
    ph.Revolute("ground", "hub.P", name="motor"),
    ph.Weld("hub.P", "beam.P"),
    ph.Revolute("beam.C", "tool.P", name="flange"),
]
arm = ph.connect({"hub": hub, "beam": beam, "tool": tool}, joints, plane="xy")
start = ph.place(arm)
omega = ph.modes(ph.linearise(ph.lock(arm, "motor"), start)).elastic[0]  # rad/s, with the motor held


def vibration(kind: str = "", wrong: float = 1.0) -> tuple[float, float]:
    """The largest deflection of the tip after the move (m), and the time that the shaper adds (s)."""
    command, added = ph.move(np.pi / 9, over=0.25), 0.0
    if kind:
        command = ph.control.shape_input(command, wrong * omega, kind)
        added = command.added
    motor = ph.servo("motor", command, stiffness=2e3, damping=100.0, feedforward="drive")
    run = ph.simulate(arm, start, t_end=command.t_end + 1.0, dt=1e-3, controller=motor)
    return float(np.abs(run.window(command.t_end).displacement("beam", s=1.0)[:, 1]).max()), added


alone, _ = vibration()
left = {kind: vibration(kind, wrong=1.1)[0] / alone for kind in ("ZV", "ZVD")}
exact = {kind: np.abs(np.cos(np.pi / 2.2)) ** power for kind, power in (("ZV", 1), ("ZVD", 2))}

if __name__ == "__main__":
    print(f"first mode {omega:.2f} rad/s; {1e3 * alone:.2f} mm without a shaper")
    for kind, part in left.items():
        print(f"{kind}: {part:.4f} of it is left, {exact[kind]:.4f} exact; {vibration(kind)[1]:.3f} s longer")
