"""What does spinning do to plates: which stress does a disc get, and how much faster does a blade flap?

A disc is spun up to 500 rad/s: the stress in its middle follows (3 + ν)/8 ρω²R² (Love). A narrow plate on a hub that turns at
γ √(EI/ρAL⁴) is bent by a push at its tip and let go: membrane forces stiffen it, and it flaps as fast as a rotating beam.
"""

import numpy as np

import phloat as ph

steel = ph.Material(E=210e9, rho=7850.0, nu=0.3)
radius, rate, ramp = 0.2, 500.0, 0.05  # m, rad/s, s
plate = ph.Plate.disc(radius, thickness=0.01, material=steel, frame="mean axes", ports={"rim": ph.Mean("rim")})
disc = ph.connect(
    {"disc": plate.discretise(4).reduced(modes=4)}, joints=[ph.Revolute("ground", "disc.rim", name="axle")]
)
u = {"axle": lambda t: rate * np.sin(np.pi / 2 * min(t / ramp, 1.0)) ** 2}
spun = ph.simulate(ph.drive(disc, "axle"), ph.place(disc), t_end=0.06, dt=1e-4, u=u)
middle = spun.stress("disc", at=(0.0, 0.0, 0.0))["xx"]
love = (3 + steel.nu) / 8 * steel.rho * np.array([u["axle"](t) for t in spun.t]) ** 2 * radius**2

length, width, thickness, ends = 0.5, 0.02, 0.002, {"root": "left", "tip": "right"}
strip = ph.Plate.rectangle(length, width, thickness=thickness, material=steel, frame="left", ports=ends)
hinges = [ph.Revolute("ground", "blade.root", name="hub"), ph.Force("blade.tip", along=(0, 0, 1), name="push")]
blade = ph.drive(ph.connect({"blade": strip.discretise((12, 1)).reduced(modes=2)}, joints=hinges), "hub")
unit = np.sqrt(steel.E * thickness**2 / 12 / steel.rho) / length**2
table = {0: 3.516015, 2: 4.137320, 4: 5.585001}  # γ: first flap frequency of a rotating cantilever, in units


def frequency(t: np.ndarray, x: np.ndarray) -> float:
    """Pulsation of an oscillation, from the first to the last time that it crosses zero upwards."""
    k = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    crossings = t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k])
    return 2 * np.pi * (len(k) - 1) / (crossings[-1] - crossings[0])


def flapping(gamma: float) -> ph.Result:
    u = {"hub": gamma * unit}
    bent = ph.settle(blade, ph.set_moving(blade, ph.place(blade), u=u), u=u | {"push": 0.02})
    return ph.simulate(blade, bent, t_end=10 / unit, dt=0.02 / unit, u=u)


results = {gamma: flapping(gamma) for gamma in table}
tip = {gamma: r.displacement("blade", at=(length, width / 2, 0.0))[:, 2] for gamma, r in results.items()}
flap = {gamma: frequency(results[gamma].t, w) / unit for gamma, w in tip.items()}

if __name__ == "__main__":
    import matplotlib.pyplot as plt

    print(f"disc: {middle[-1] / 1e6:.4f} MPa in the middle, by the formula {love[-1] / 1e6:.4f} MPa")
    print("blade:", {gamma: f"{w:.4f}, beam {table[gamma]:.4f}" for gamma, w in flap.items()})
    _, (left, right) = plt.subplots(1, 2, layout="constrained")
    left.plot(spun.t, middle / 1e6, spun.t, love / 1e6, "k--", label=["σ_xx in the middle", "(3 + ν)/8 ρω²R²"])
    left.set(xlabel="t in s", ylabel="stress of the disc in MPa")
    for gamma, w in tip.items():
        right.plot(results[gamma].t * unit, 1e3 * w, label=f"γ = {gamma}")
    right.set(xlabel="t √(EI/ρAL⁴)", ylabel="tip of the blade in mm")
    left.legend()
    right.legend()
    plt.show()
