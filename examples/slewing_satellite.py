"""How much less do the panels of a satellite swing when the torque that turns it is shaped?

A reaction wheel turns a hub with two long panels: full torque one way, then the other. The same command, convolved with the
impulses that cancel the first mode that turns the hub, takes half a period longer and leaves next to no vibration.
"""

import numpy as np

import phloat as ph

alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
panel = ph.Beam(length=3.0, section=ph.Rectangle(0.5, 0.01), material=alu).discretise(8).reduced(modes=2)
hub = ph.RigidBody(mass=500.0, inertia=np.diag([200.0] * 3), ports={"left": (-0.5, 0, 0), "right": (0.5, 0, 0)})
wheel = ph.RigidBody(mass=10.0, inertia=np.diag([0.5, 0.5, 1.0]))
satellite = ph.connect(
    {"hub": hub.discretise(), "wheel": wheel.discretise(), "left": panel, "right": panel},
    joints=[
        ph.Revolute("hub.P", "wheel.P", name="wheel motor"),
        ph.Weld("hub.right", "right.P"),
        ph.Weld("hub.left", "left.P", turned=(0, 0, np.pi)),
    ],
    plane="xy",
)
start = ph.place(satellite)
plant = ph.eliminate(ph.linearise(satellite, start).with_ports("wheel motor"))
modes = ph.modes(plant)
felt = [
    w for k, w in enumerate(modes.omega) if w > 0.0 and abs(modes.shape(k, "wheel motor")[0]) > 1e-6
]  # others stay still

torque = ph.piecewise(
    {0.0: 0.0, 0.01: -20.0, 3.0: -20.0, 3.02: 20.0, 6.01: 20.0, 6.02: 0.0}
)  # on the wheel; the hub gets the rest
commands = {"plain": torque, "shaped": ph.control.shape_input(torque, felt[0])}
runs = {name: ph.simulate(satellite, start, 16.0, dt=5e-3, u={"wheel motor": u}) for name, u in commands.items()}
over = 6.02 + np.pi / felt[0]  # when both have ended
swing = {name: np.ptp(run.displacement("right", s=1.0)[run.t > over, 1]) / 2 for name, run in runs.items()}
suppressed = swing["plain"] / swing["shaped"]
turned = {name: float(run["hub.theta"][-1]) for name, run in runs.items()}

if __name__ == "__main__":
    print(f"modes that the wheel moves: {np.round(felt, 3)} rad/s; the satellite has turned by {turned} rad")
    print(f"the panels swing on by {swing} m: {suppressed:.0f} times less")
