"""At which pressure does a ring buckle? (Lévy, 1884: 3 EI/R³. If its direction stays constant, 4 EI/R³: Singer and Babcock, 1970.)

A pressure follows the surface that it acts on; a traction keeps its direction. Both press on a free elastic ring. The squared
frequency of the mode that makes an ellipse of it falls in proportion to the load, and is zero where the ring buckles.
"""

import numpy as np

import phloat as ph

R, h, E = 1.0, 0.02, 1e9
EI = E * h**3 / 12  # per width
mesh = ph.shapes.disc(R + h / 2, 1, inner=R - h / 2, around=192, kind="quadrilateral", order=2)
sheet = ph.Sheet(mesh, ph.Material(E=E, rho=1000.0, nu=0.3), frame="mean axes")
ring = sheet.discretise().reduced(modes=8)


def inwards(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half of a load of one per length of the ring's middle line, on each side; directions do not follow the ring."""
    r = np.hypot(x, y)
    return -0.5 * R * x / r**2, -0.5 * R * y / r**2, 0.0 * x


LOADS = {
    "following": [ph.Pressure("ring.rim", name="p")],
    "suction inside": [ph.Pressure("ring.bore", -1.0, name="p")],
    "constant direction": [ph.Traction("ring.rim", inwards, name="p"), ph.Traction("ring.bore", inwards, name="p 2")],
}


def frequency(system: ph.System, load: float) -> float:
    """The lowest frequency of deformation (rad/s) under a load in units of EI/R³."""
    u = dict.fromkeys(system.actuators, load * EI / R**3)
    pressed = ph.settle(system, ph.place(system), u=u)
    poles = ph.poles(ph.linearise(system, pressed, u=u))
    return float(np.min(poles.imag[poles.imag > 1.0]))


def critical_load(loads: list[ph.Pressure | ph.Traction]) -> float:
    """The load in units of EI/R³ at which the squared frequency vanishes."""
    system = ph.connect({"ring": ring}, loads, plane="xy")
    return 1.0 / (1.0 - frequency(system, 1.0) ** 2 / frequency(system, 0.0) ** 2)


critical = {name: critical_load(loads) for name, loads in LOADS.items()}

if __name__ == "__main__":
    for name, load in critical.items():
        print(f"{name:20s} {load:.4f} EI/R³")
