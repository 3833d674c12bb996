"""What does a load on a floating plate cost in a time step?"""

from measure import answer, fastest, measured, row

import phloat as ph

NOTE = """
Loads: a plate of 8 × 8 cells, reduced to some modes of its own (coordinates in the name), that floats under one load on all its
1024 quadrature points, beside no load. Steps of 1 ms.
"""
LOADS = {
    "no load": None,
    "a traction in inertial axes": ph.Traction("plate", (0.0, 0.0, 1.0), name="u"),
    "a body force in inertial axes": ph.BodyForce("plate", per_volume=(0.0, 0.0, 1.0), name="u"),
    "a following pressure": ph.Pressure("plate", name="u"),
    "a traction in axes of the material": ph.Traction("plate", (0.0, 0.0, 1.0), axes="body", name="u"),
}


def measure(modes, steps):
    """The number of coordinates, and µs a step of each load."""
    soft = ph.Material(E=2e9, rho=1200.0, nu=0.3)
    plate = ph.Plate.rectangle(1.0, 1.0, thickness=0.01, material=soft, frame="left").discretise(8).reduced(modes=modes)
    out = {"coordinates": plate.coordinates}
    for name, load in LOADS.items():
        system = ph.connect({"plate": plate}, [] if load is None else [load])
        state, u = ph.place(system), {} if load is None else {"u": 1.0}
        time = fastest(lambda s=system, x=state, u=u: ph.simulate(s, x, 1e-3 * steps, dt=1e-3, u=u, output=steps))
        out[name] = 1e6 / steps * time
    return out


def rows(quick=False):
    found = []
    for modes in (4,) if quick else (4, 7, 10):
        one = measured("surface_loads.py", modes=modes, steps=10 if quick else 200)
        size, alone = one.pop("coordinates"), one.pop("no load")
        found += [
            row(f"plate with {size} coordinates: a step with {name}", time, "µs", alone, "no load")
            for name, time in one.items()
        ]
    return found


if __name__ == "__main__":
    answer(measure)
