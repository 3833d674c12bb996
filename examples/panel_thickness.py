"""How light can the panels of a satellite be, if its first frequency must stay that of even panels of 10 mm?

Two panels on a free hub; their thickness is given at five stations, linear between, and nowhere below 4 mm. SLSQP with gradients of
the frequency stands beside COBYLA, which asks for frequencies only. The same panel that thins out to nothing is Kirchhoff's wedge
(1879), a cantilever with ω = 5.3151 √(EI/ρA) / L², EI and ρA of its root.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import minimize

import phloat as ph

length, width, mm = 3.0, 0.5, 1e-3
alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
stations = {"root": 0.0, "quarter": 0.25, "half": 0.5, "three_quarters": 0.75, "tip": 1.0}


@dataclass(frozen=True)
class Thinning:
    """The section along a panel; the fields are parameters by their names."""

    root: float = 10 * mm
    quarter: float = 10 * mm
    half: float = 10 * mm
    three_quarters: float = 10 * mm
    tip: float = 10 * mm

    def __call__(self, s: float) -> ph.Section:
        return ph.Rectangle(width, float(np.interp(s, list(stations.values()), [getattr(self, n) for n in stations])))


def panel(section: Thinning) -> ph.Body:
    return ph.Beam(length=length, section=section, material=alu).discretise(4)


hub = ph.RigidBody(mass=500.0, inertia=np.diag([200.0] * 3), ports={"left": (-0.5, 0, 0), "right": (0.5, 0, 0)})
welds = ph.Weld("hub.right", "right.P"), ph.Weld("hub.left", "left.P", turned=(0, 0, np.pi))
plain = panel(Thinning())
satellite = ph.connect({"hub": hub.discretise(), "left": plain, "right": plain}, joints=welds, plane="xy")
start = ph.place(satellite)  # however thick
names = [(f"left.section.{n}", f"right.section.{n}") for n in stations]  # both panels alike


@cache
def graded(*h: float) -> ph.FrequencyGradients:
    """The first frequency with its gradient, for thicknesses in mm."""
    given = {name: mm * x for name, x in zip(names, h, strict=True)}
    return ph.frequency_gradients(satellite, given, state=start, count=1)


def frequency(h: np.ndarray) -> float:
    """The first frequency alone."""
    now = ph.changed(satellite, {name: mm * x for name, x in zip(names, h, strict=True)})
    return float(ph.modes(ph.linearise(now, start)).elastic[0])


per_mm = 2 * alu.rho * width * length * mm * np.array([1, 2, 2, 2, 1]) / 8  # kg of both panels, station by station
even = np.full(5, 10.0)
target = frequency(even)
task = {"fun": lambda h: per_mm @ h, "x0": even, "bounds": [(4.0, 40.0)] * 5}
stiff = {"type": "ineq", "fun": lambda h: 100 * (frequency(h) / target - 1)}
stiff_graded = {
    "type": "ineq",
    "fun": lambda h: 100 * (graded(*h).omega[0] / target - 1),
    "jac": lambda h: 100 * mm * graded(*h).gradient[0] / target,
}
by_gradients = minimize(**task, jac=lambda h: per_mm, constraints=stiff_graded, method="SLSQP", options={"ftol": 1e-6})
by_trial = minimize(**task, constraints=stiff, method="COBYLA", options={"tol": 1e-2, "maxiter": 1000})
evaluations = {"SLSQP": graded.cache_info().misses, "COBYLA": int(by_trial.nfev)}
thickness, mass = by_gradients.x, {"even": per_mm @ even, "SLSQP": by_gradients.fun, "COBYLA": by_trial.fun}

root = ph.Rectangle(width, 10 * mm)
thinned = panel(Thinning(10 * mm, 7.5 * mm, 5 * mm, 2.5 * mm, 1e-6 * mm))
clamped = ph.connect({"panel": thinned}, [ph.Weld("ground", "panel.P")], plane="xy")
wedge = ph.modes(ph.linearise(clamped, ph.place(clamped)))[0] * length**2 / np.sqrt(alu.E * root.I / (alu.rho * root.A))

if __name__ == "__main__":
    import matplotlib.pyplot as plt

    print(f"first frequency {target:.4f} rad/s with {mass['even']:.3f} kg; a wedge has {wedge:.4f}, Kirchhoff 5.3151")
    print(f"as stiff with {thickness.round(3)} mm, {mass['SLSQP']:.4f} kg (COBYLA: {mass['COBYLA']:.4f} kg)")
    print(f"evaluations: {evaluations}, those of SLSQP with a gradient each")
    plt.plot(length * np.array(list(stations.values())), np.transpose([even, thickness]), label=["even", "lightest"])
    plt.gca().set(xlabel="x in m", ylabel="thickness in mm", ylim=(0, None))
    plt.legend()
    plt.savefig("panel_thickness.png")
