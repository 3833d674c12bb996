"""How must a satellite with two solar panels be turned, so that the panels are still when it has come to rest?

A torque about y turns hub and panels for a time and brakes them as long: by T t²/J in the end. Where each half lasts whole periods
of the panels they are left quiet; half a period more and they swing on. Without lateral contraction the panels are beams, and
how those swing against a free hub is known.
"""

import numpy as np
from scipy.optimize import brentq

import phloat as ph

length, width, thickness, offset, torque = 3.0, 0.5, 0.01, 0.5, 25.0
EI, line = 70e9 * width * thickness**3 / 12, 2700.0 * width * thickness
J = 200.0 + 2 * line * ((offset + length) ** 3 - offset**3) / 3  # about y
hub = ph.RigidBody(500.0, np.diag([200.0] * 3), ports={"left": (-offset, 0, 0), "right": (offset, 0, 0)}).discretise()


def satellite(nu: float) -> ph.System:
    alu = ph.Material(E=70e9, rho=2700.0, nu=nu)
    plate = ph.Plate.rectangle(length, width, thickness=thickness, material=alu, frame="left", ports={"root": "left"})
    panel = plate.discretise((24, 4)).reduced(modes=4)
    welds = ph.Weld("hub.right", "right.root"), ph.Weld("hub.left", "left.root", turned=(0, 0, np.pi))
    turn = ph.Torque("hub.P", about=(0, 1, 0), name="turn")
    return ph.connect({"hub": hub, "left": panel, "right": panel}, joints=[*welds, turn])


def of_beams(omega: float) -> float:
    """Zero where two beams w = (ch kx, sh kx, cos kx, sin kx) · a swing against the hub: w(0) = offset w'(0), free at the tip."""
    k = (line * omega**2 / EI) ** 0.25
    ch, sh, c, s, r = np.cosh(k * length), np.sinh(k * length), np.cos(k * length), np.sin(k * length), offset * k
    hinge = 2 * EI * k**2 * np.array([1, -r, -1, r]) / 200.0 + omega**2 * k * np.array([0, 1, 0, 1])
    return float(np.linalg.det(np.array([[ch, sh, -c, -s], [sh, ch, s, -c], [1, -r, 1, -r], hinge]) / ch))


system, strips = satellite(0.33), satellite(0.0)
omega, of_strips = (ph.modes(ph.linearise(s, ph.place(s))).elastic[1] for s in (system, strips))
exact, period = brentq(of_beams, 5.0, 15.0), 2 * np.pi / omega


def slew(half: float) -> ph.Result:
    u = {"turn": lambda t: torque * (1.0 if t < half else -1.0 if t < 2 * half else 0.0)}
    return ph.simulate(system, ph.place(system), t_end=16 * period, dt=period / 100, u=u)


results = {n: slew(n * period) for n in (5.0, 5.5)}
tip = {n: r.displacement("right", at=(length, width / 2, 0.0))[:, 2] for n, r in results.items()}
left = {n: np.abs(w[results[n].t > 2 * n * period]).max() for n, w in tip.items()}
angle = {n: np.arctan2(*r["hub.A_IB"][-1, 0, [2, 0]]) for n, r in results.items()}

if __name__ == "__main__":
    import matplotlib.pyplot as plt

    print(f"the panels swing at {omega:.4f} rad/s; without contraction at {of_strips:.7f}, beams at {exact:.7f}")
    for n, w in tip.items():
        print(f"{n} periods: {angle[n]:.6f} rad, T t²/J = {torque * (n * period) ** 2 / J:.6f}; left {left[n]:.1e} m")
        plt.plot(results[n].t, 1e3 * w, label=f"twice {n:g} periods")
    plt.gca().set(xlabel="t in s", ylabel="tip of a panel in mm")
    plt.legend()
    plt.show()
