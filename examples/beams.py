"""How near do Hermite elements come to the exact frequencies of a free-free beam and of a cantilever?

Euler-Bernoulli: ω = λ √(EI / ρA L⁴), with the exact λ of cos √λ cosh √λ = ±1. The error falls with the fourth power of the
element length.
"""

import numpy as np

import phloat as ph

steel = ph.Material(E=210e9, rho=7800.0, nu=0.3)
beam = ph.Beam(length=1.0, section=ph.Rectangle(0.02, 0.01), material=steel)
unit = np.sqrt(steel.E * beam.section.I / (steel.rho * beam.section.A * beam.length**4))  # rad/s for λ = 1

exact_free = np.array([22.3732854481, 61.6728228679, 120.9033917271])
exact_cantilever = np.array([3.5160152685, 22.0344915647, 61.6972144135])


def free(elements: int) -> np.ndarray:
    """λ of the beam that nothing holds, above its three rigid motions in the plane."""
    system = ph.connect({"beam": beam.discretise(elements)}, plane="xy")
    return ph.modes(ph.linearise(system, ph.place(system))).elastic[:3] / unit


def cantilever(elements: int) -> np.ndarray:
    """λ of the beam welded to the ground at P."""
    system = ph.connect({"beam": beam.discretise(elements)}, joints=[ph.Weld("ground", "beam.P")], plane="xy")
    return ph.modes(ph.linearise(system, ph.place(system)))[:3] / unit


meshes = [4, 8, 16]
error_free = np.array([free(n) for n in meshes]) / exact_free - 1
error_cantilever = np.array([cantilever(n) for n in meshes]) / exact_cantilever - 1
rate_free = np.log2(error_free[:-1] / error_free[1:])
rate_cantilever = np.log2(error_cantilever[:-1] / error_cantilever[1:])

if __name__ == "__main__":
    for what, error, rate in (
        ("free-free", error_free, rate_free),
        ("cantilever", error_cantilever, rate_cantilever),
    ):
        print(f"{what}: relative error of the three lowest frequencies")
        for n, row in zip(meshes, error, strict=True):
            print(f"{n:4d} elements  " + "  ".join(f"{e:9.2e}" for e in row))
        print("        order  " + "  ".join(f"{p:9.2f}" for p in rate[-1]))
