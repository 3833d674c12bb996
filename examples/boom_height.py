"""How thin may a boom be whose tip, after a turn of 1 rad in 1 s, must swing by no more than 2 mm?

The swing falls with the height, but not steadily: it nearly vanishes wherever the turn lasts a whole number of periods. The
answer is the height from which on it stays below the limit. The exact swing of the first mode is set beside it.
"""

import numpy as np

import phloat as ph

length, duration, limit = 1.5, 1.0, 2e-3
alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
boom = ph.Beam(length, ph.Rectangle(0.04, 0.01), alu).discretise(4)
hinge = ph.Revolute("ground", "boom.P", name="motor")
arm = ph.drive(ph.connect({"boom": boom}, [hinge], plane="xy"), "motor")


def angle(t: float) -> float:
    x = min(t / duration, 1.0)
    return x - np.sin(2 * np.pi * x) / (2 * np.pi)


def swing(height: float) -> float:
    """The largest deflection of the tip after the turn (m)."""
    thinner = ph.with_parameters(arm, {"boom.section.h": height})
    turn = {"motor": ph.prescribed_position(angle)}
    run = ph.simulate(thinner, ph.place(thinner), t_end=duration + 0.6, dt=2e-3, u=turn)
    return np.abs(run.displacement("boom", s=1.0)[run.t > duration, 1]).max()


def first_mode(height: np.ndarray) -> np.ndarray:
    """The same of the first mode in closed form: q̈ + ω² q = −2 (L/β²) θ̈, 2q at the tip, ω = (β/L)² h √(E / 12ρ)."""
    beta, push = 1.8751040687, 2 * np.pi / duration
    omega = beta**2 / length**2 * height * np.sqrt(alu.E / (12 * alu.rho))
    force = 2 * push**2 / duration * np.abs(np.sin(omega * duration / 2) / (omega**2 - push**2))
    return 4 * length / beta**2 * force / omega


found = ph.find_smallest(swing, between=(6e-3, 30e-3), below=limit, samples=33, tolerance=1e-6)

if __name__ == "__main__":
    print(found)
    figure = ph.plot(found)
    heights = np.linspace(6e-3, 30e-3, 600)
    figure.axes[0].plot(heights, first_mode(heights), lw=0.6, color="0.5")
    figure.axes[0].set_ylim(2e-5, 0.1)
    figure.savefig("boom_height.png")
