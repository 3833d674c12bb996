"""How much does the bending of the crank-slider's rod scatter when its parts do? (Paper, 6.2 and Fig. 8, with tolerances.)

Stiffness, diameter and slider are those of a drawing, with tolerances. The mean is the published deflection. E with 2 % and the
diameter with 1 % share the scatter, as u ~ ρA/EI ~ 1/(E d²) has it; the slider has no part in it.
"""

from dataclasses import replace

import crank_slider as example

import phloat as ph

rod = replace(example.rod, stiffening=False).discretise(4)  # as in the paper
system = example.crank_slider(rod)
pin = {"crank pin": example.pin}
state = ph.set_moving(system, ph.place(system, {"rod.r_P": (example.radius, 0.0)}), u=pin)
run = {"t_end": 8 / example.rate, "dt": 1e-4, "u": pin}


def largest(result: ph.Result) -> float:
    """The largest mid-span deflection over the length of the rod."""
    return float(example.bending(result).max())


published = largest(ph.simulate(system, state, **run))
runs = ph.ensemble(
    system,
    {
        "rod.material.E": ph.random.normal(0.2e12, 0.004e12),  # 2 %
        "rod.section.diameter": ph.random.truncated(ph.random.normal(6e-3, 0.06e-3), low=5.85e-3, high=6.15e-3),  # 1 %
        "slider.mass": ph.random.uniform(0.0317, 0.0350),  # ± 5 %
    },
    samples=64,
    sampling="sobol",
    start=state,
    **run,
    output=lambda r: {"largest": largest(r), "bending": example.bending(r)},
)
shares = {name: float(x) ** 2 for name, x in runs.sensitivity("regression")["largest"].items()}

if __name__ == "__main__":
    print(runs)
    print(
        f"published {published:.5f}, mean {runs.mean()['largest']:.5f}, 95 % below {runs.quantile(0.95)['largest']:.5f}"
    )
    print("shares of the variance:", {name: round(share, 3) for name, share in shares.items()})
    ph.plot(runs).savefig("uncertain_crank_slider.png")
