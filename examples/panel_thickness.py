"""How light can the panels of a satellite be, if its first frequency must stay that of even panels of 10 mm?

Their thickness is given at five stations, at least 4 mm. SLSQP has gradients of the frequency, COBYLA has frequencies only."""

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
    root: float = 10 * mm
    quarter: float = 10 * mm
    half: float = 10 * mm
    three_quarters: float = 10 * mm
    tip: float = 10 * mm

    def __call__(self, s: float) -> ph.Section:
        return ph.Rectangle(width, float(np.interp(s, list(stations.values()), [getattr(self, n) for n in stations])))


hub = ph.RigidBody(mass=500.0, inertia=np.diag([200.0] * 3), ports={"left": (-0.5, 0, 0), "right": (0.5, 0, 0)})
welds = ph.Weld("hub.right", "right.P"), ph.Weld("hub.left", "left.P", turned=(0, 0, np.pi))
panel = ph.Beam(length=length, section=Thinning(), material=alu).discretise(4)
satellite = ph.connect({"hub": hub.discretise(), "left": panel, "right": panel}, joints=welds, plane="xy")
start = ph.place(satellite)
names = [(f"left.section.{n}", f"right.section.{n}") for n in stations]  # both panels alike


@cache
def graded(*h: float) -> ph.types.FrequencyGradients:
    return ph.frequency_gradients(satellite, dict(zip(names, mm * np.array(h), strict=True)), state=start, count=1)


def frequency(h: np.ndarray) -> float:
    now = ph.with_parameters(satellite, dict(zip(names, mm * h, strict=True)))
    return float(ph.modes(ph.linearise(now, start)).elastic[0])


per_mm = 2 * alu.rho * width * length * mm * np.array([1, 2, 2, 2, 1]) / 8  # kg of both panels, station by station
target = frequency(even := np.full(5, 10.0))
task = {"fun": lambda h: per_mm @ h, "x0": even, "bounds": [(4.0, 40.0)] * 5}
stiff = {"type": "ineq", "fun": lambda h: 100 * (frequency(h) / target - 1)}
sure = {"type": "ineq", "fun": lambda h: 100 * (graded(*h).omega[0] / target - 1)}
sure["jac"] = lambda h: 100 * mm * graded(*h).gradient[0] / target
by_gradients = minimize(**task, jac=lambda h: per_mm, constraints=sure, method="SLSQP", options={"ftol": 1e-6})
by_trial = minimize(**task, constraints=stiff, method="COBYLA", options={"tol": 1e-2, "maxiter": 1000})
evaluations = {"SLSQP": graded.cache_info().misses, "COBYLA": int(by_trial.nfev)}
thickness, mass = by_gradients.x, {"even": per_mm @ even, "SLSQP": by_gradients.fun, "COBYLA": by_trial.fun}

if __name__ == "__main__":
    print(f"{mass} kg for {target:.4f} rad/s; thickness {thickness.round(3)} mm; evaluations {evaluations}")
