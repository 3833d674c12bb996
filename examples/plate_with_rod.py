"""How does a rigid rod, welded to the edge of a cantilever plate, share in the plate's energy? (The paper's slides, last example.)

A pressure acts on the plate for 2 ms. The rod follows the deflection of the edge, w = v_G + ω_G (y − ½), whose adjoint gives it the
total force and torque of the plate. After the load the energy stands still at 145.5 J (198.3 J without the rod), though
plate and rod go on trading it. Conforming elements and mixed ones (moments as unknowns) agree.
"""

import warnings

import numpy as np

import phloat as ph

alu = ph.Material(E=70e9, nu=0.35, rho=2700.0)
rod = ph.RigidBody(mass=50.0, inertia=np.diag([4.16667, 1.0, 4.16667])).discretise()
push = ph.Pressure("plate", lambda x, y: 1e5 * (y + 10 * (y - 0.5) ** 2), name="push")
load = {"push": lambda t: float(t < 2e-3)}


def plate(elements: str, n: int = 16) -> ph.Continuum:
    recipe = ph.Plate.rectangle(1.0, 1.0, thickness=0.05, material=alu, clamped="left", elements=elements)
    return recipe.discretise(n)


def welded(plate: ph.Continuum) -> ph.LinearPHDAE:
    tie = ph.Tie("plate.right", "rod.P", of="w", name="weld")
    with warnings.catch_warnings():  # the edge feels no motion of the rod along the plate, nor its turning about itself
        warnings.simplefilter("ignore", ph.errors.UnfeltMotionWarning)
        return ph.tie({"plate": plate, "rod": rod}, [tie, push])


def motion(system: ph.LinearPHDAE) -> ph.types.LinearResult:
    return ph.simulate(system, t_end=10e-3, dt=2e-5, u=load)


systems = {name: welded(plate(name)) for name in ("bfs", "hhj")} | {"no rod": ph.tie({"plate": plate("bfs")}, [push])}
results = {name: motion(system) for name, system in systems.items()}
omega = {name: ph.modes(system, 3).omega for name, system in systems.items()}
after = results["bfs"].t > 2e-3
energy = {name: result.energy[after].mean() for name, result in results.items()}
drift = {name: np.ptp(result.energy[after]) / energy[name] for name, result in results.items()}
deflection = {name: 1e3 * result.displacement("plate")[..., 2] for name, result in results.items()}  # mm
rod_energy = results["bfs"].energy_of("rod")

if __name__ == "__main__":
    import matplotlib.pyplot as plt

    for name, w in deflection.items():
        said = f"{energy[name]:.2f} J, constant to {drift[name]:.0e}; w in [{w.min():.2f}, {w.max():.2f}] mm"
        print(f"{name}: {np.round(omega[name], 2)} rad/s; {said}")
    print(f"the rod has at most {rod_energy.max():.1f} J, at {1e3 * results['bfs'].t[rod_energy.argmax()]:.2f} ms")
    for part in ("plate", "rod"):
        plt.plot(1e3 * results["bfs"].t, results["bfs"].energy_of(part), label=part)
    plt.plot(1e3 * results["bfs"].t, results["bfs"].energy, "k", label="both")
    plt.gca().set(xlabel="t in ms", ylabel="energy in J")
    plt.legend()
    plt.show()
