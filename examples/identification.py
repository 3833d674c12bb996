"""How stiff is a beam and how much does it damp, when all that is known is how its tip moved?

A cantilever is struck at its tip, whose deflection is measured for half a second with noise of 2 % of its largest value. Here the
measurement is made by the compiled kernel from known numbers; E and the Kelvin–Voigt time are found from it by least squares with
the gradients of the run, together with how sure they are (the curvature of the sum of squares).
"""

import jax
import jax.numpy as jnp
import numpy as np

import phloat as ph

jax.config.update("jax_enable_x64", True)
true = {"beam.material.E": 69e9, "beam.damping.time": 4e-4}
guess = {"beam.material.E": 62e9, "beam.damping.time": 1e-4}
bounds = {"beam.material.E": (5e10, 9e10), "beam.damping.time": (2e-5, 5e-3)}

alu = ph.Material(E=guess["beam.material.E"], rho=2700.0, nu=0.33)
damping = ph.KelvinVoigt(guess["beam.damping.time"])
beam = ph.Beam(length=0.5, section=ph.Rectangle(0.03, 4e-3), material=alu, damping=damping).discretise(4)
joints = [ph.Weld("ground", "beam.P"), ph.Force("beam.C", along=(0, 1, 0), name="hammer")]
system = ph.connect({"beam": beam}, joints, plane="xy")
start = ph.place(system)
blow = {"hammer": ph.piecewise({0.0: 0.0, 5e-3: 20.0, 0.01: 0.0})}
run = {"t_end": 0.5, "dt": 1e-3, "u": blow}

clean = ph.simulate(ph.with_parameters(system, true), start, **run).displacement("beam", s=1.0)[:, 1]
noise = 0.02 * np.abs(clean).max()
measured = clean + noise * np.random.default_rng(6).standard_normal(len(clean))


def misfit(motion):
    """Sum of squares over the variance of the noise: about the number of measurements where the numbers are right."""
    return jnp.sum(((motion.displacement("tip")[:, 1] - measured) / noise) ** 2)


problem = ph.twin.Problem(system, start, output=misfit, watch={"tip": ("beam", 1.0)}, **run)
fit = ph.twin.optimise(problem, guess, bounds=bounds)


def curvature(names: list[str], step: float = 1e-3) -> np.ndarray:
    """Second derivatives by the logarithms of the numbers, from differences of gradients."""
    rows = []
    for name in names:
        up, down = (problem.gradient(fit.values | {name: fit.values[name] * (1 + s)})[1] for s in (step, -step))
        rows.append([(up[other] - down[other]) * fit.values[other] / (2 * step) for other in names])
    return (np.array(rows) + np.array(rows).T) / 2


names = list(true)
deviation = dict(zip(names, np.sqrt(np.diag(2 * np.linalg.inv(curvature(names)))), strict=True))  # relative
missed = {name: fit.values[name] / true[name] - 1 for name in names}

if __name__ == "__main__":
    print(fit)
    for name in names:
        print(
            f"{name}: {fit.values[name]:.5g} ± {deviation[name]:.2%}, true {true[name]:.5g}, missed by {missed[name]:+.2%}"
        )
