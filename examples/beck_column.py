"""At which load does a column with a follower force begin to flutter? (Beck, 1952: P = 20.05 EI/L².)

A force at the free end of a cantilever that always pushes along the end's own tangent has no potential: the column never buckles,
and below the critical load every pole lies on the imaginary axis. At the critical load two frequencies meet and one pole crosses.
The answer does not depend on the numerical frame of the beam.
"""

import numpy as np

import phloat as ph

one = ph.Material(E=1.0, rho=1.0, nu=0.3)
I = 1e-8  # so slender that the column hardly shortens
tip = {1.0: ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")}
unit = np.sqrt(I)  # rad/s: frequencies in units of sqrt(EI/(ρA L⁴))


def column(frame: object = "cantilever", elements: int = 8) -> ph.System:
    """A cantilever of unit length and area with a follower force at its end."""
    beam = ph.Beam(1.0, ph.Section(A=1.0, I=I), one, frame=frame)
    joints = [ph.Weld("ground", "beam.P"), ph.Force("beam.C", along=(-1, 0, 0), axes="body", name="push")]
    return ph.connect({"beam": beam.discretise(elements)}, joints, plane="xy")


def poles(system: ph.System, load: float) -> np.ndarray:
    """The poles at P = load · EI/L², in units of sqrt(EI/(ρA L⁴))."""
    u = {"push": load * I}
    return ph.poles(ph.linearise(system, ph.equilibrium(system, ph.place(system), u=u), u=u)) / unit


def flutter_load(system: ph.System, below: float = 15.0, above: float = 25.0) -> float:
    """Where the first pole comes to the right of the imaginary axis, by bisection."""
    while above - below > 1e-4:
        middle = 0.5 * (below + above)
        below, above = (below, middle) if poles(system, middle).real.max() > 1e-3 else (middle, above)
    return above


frames = {"cantilever": "cantilever", "pinned": "pinned", "held at the tip": tip}
loads = {name: flutter_load(column(frame)) for name, frame in frames.items()}
first = {name: np.abs(poles(column(frame), 1.0)).min() for name, frame in frames.items()}

if __name__ == "__main__":
    for name, load in loads.items():
        print(
            f"frame {name}: flutter at P = {load:.4f} EI/L² (Beck: 20.05); first frequency at P = 1: {first[name]:.4f} (3.641)"
        )
    import matplotlib.pyplot as plt

    sweep = np.linspace(0.0, 24.0, 49)
    found = [np.sort_complex(p[p.imag > 0]) for p in (poles(column(), load) for load in sweep)]
    figure, axes = plt.subplots()
    for load, p in zip(sweep, found, strict=True):
        low = p[np.argsort(np.abs(p))][:2]
        axes.plot([load] * len(low), low.imag, "k.")
    axes.set(xlabel="P in EI/L²", ylabel="frequency in sqrt(EI/(ρA L⁴))")
    figure.savefig("beck_column.png")
