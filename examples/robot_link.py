"""What stress does a robot's arm see while it lifts a load? (Links from a mesh file; needs the extra `mesh`.)

Two equal links of aluminium, drilled at both ends (models/link.msh), 36 coordinates each instead of 6489. The arm is held level,
then both joints are driven to new angles in half a second. Level and at rest its middle has the stress of a beam, M c / I; in
motion the largest von Mises stress is at the bore of the shoulder.
"""

from pathlib import Path

import numpy as np

import phloat as ph

alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
length, width, depth, bore, load = 0.4, 0.08, 0.03, 0.02, 5.0  # between the bores; bore: radius; kg
path = Path(__file__).parent / "models" / "link.msh"
recipe = ph.Solid.from_mesh(path, material=alu, frame="bore A", ports={"A": "bore A", "B": "bore B"})
mesh = recipe.discretise(order=2)
link = mesh.reduced(modes=12, stiffened=0)  # so slow and stiff that it does not stiffen
mass = alu.rho * depth * (length * width + np.pi * width**2 / 4 - 2 * np.pi * bore**2)  # of the drawing

hinges = [ph.Revolute("ground", "upper.A", name="shoulder"), ph.Revolute("upper.B", "lower.A", name="elbow")]
bodies = {"upper": link, "lower": link, "load": ph.PointMass(load).discretise()}
free = ph.connect(bodies, joints=[*hinges, ph.Spherical("lower.B", "load.P")], gravity=(0, -9.81, 0))
arm = ph.drive(free, "shoulder", "elbow")


u = {name: ph.prescribed_position(ph.move(angle, over=0.5)) for name, angle in (("shoulder", 1.5), ("elbow", -2.0))}
result = ph.simulate(arm, ph.settle(arm, ph.place(arm), u=u), t_end=0.6, dt=1e-3, u=u)
largest, where = result.von_mises("upper")
worst = int(largest.argmax())
middle = result.stress("upper", at=(length / 2, width / 2, 0.0))["xx"]
areas = length * width / 2, np.pi * width**2 / 8, -np.pi * bore**2  # beyond the middle of a link: bar, half disc, hole
arms = length / 4, length / 2 + 2 * width / 3 / np.pi, length / 2
M = 9.81 * (alu.rho * depth * np.dot(areas, arms) + mass * length + load * 1.5 * length)
of_beam = M * (width / 2) / (depth * width**3 / 12)

held = ph.connect({"link": link}, joints=[ph.Weld("ground", "link.A")])
omega = ph.modes(ph.linearise(held, ph.place(held)))[:4]
of_mesh = ph.Solid(recipe.mesh, alu, clamped="bore A").discretise(order=2).modes(4)[0]

if __name__ == "__main__":
    import matplotlib.pyplot as plt

    print(f"a link weighs {link.inertia.m:.6f} kg, by its drawing {mass:.6f} kg")
    print(f"held at bore A it rings at {omega.round(2)} rad/s, the whole mesh at {of_mesh.round(2)} rad/s")
    print(f"level: {middle[0] / 1e6:.4f} MPa in the middle, M c / I = {of_beam / 1e6:.4f} MPa")
    print(f"largest von Mises stress {largest[worst] / 1e6:.3f} MPa after {result.t[worst]:.3f} s at {where[worst]}")
    ph.plot(arm, result.state(worst), stress=True).savefig("robot_link.png")
    plt.plot(result.t, largest / 1e6, label="largest von Mises stress")
    plt.plot(result.t, middle / 1e6, label="σ_xx, middle of the upper link, top")
    plt.gca().set(xlabel="t in s", ylabel="stress of the upper link in MPa")
    plt.legend()
    plt.show()
