"""How do a linear-quadratic regulator and energy shaping bring a flexible arm to its set point?

A two-link arm is linearised at the target and reduced to ten states. A regulator and its observer are designed there, and the same
controller runs on the reduced, the full linear and the nonlinear arm. Energy shaping needs no model but the target.
"""

import numpy as np

import phloat as ph

alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
link = ph.Beam(length=0.5, section=ph.Rectangle(0.02, 0.002), material=alu, damping=ph.KelvinVoigt(2e-5)).discretise(4)
arm = ph.connect(
    {"upper": link, "lower": link},
    joints=[ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")],
    plane="xy",
)
origin, target = {"shoulder": 0.3, "elbow": 0.6}, {"shoulder": 0.5, "elbow": 0.3}
start = ph.place(arm, {f"{joint}.angle": angle for joint, angle in origin.items()})
there = ph.place(arm, {f"{joint}.angle": angle for joint, angle in target.items()})

full = ph.eliminate(ph.linearise(arm, there).with_ports("shoulder", "elbow"))
rom = ph.reduction.project(full, ph.reduction.modal_basis(full, count=2, static=True))

ones = {"shoulder": 1.0, "elbow": 1.0}
regulator = ph.control.lqr(rom, 10.0, energy=1.0, position=ones)
observer = ph.control.passive_observer(rom, rate={"shoulder": 0.2, "elbow": 0.1}, position=ones)
lqg = ph.control.lqg(regulator, observer, target=target, origin=origin)
loop = ph.control.passivity_certificate(ph.control.closed_loop(full, lqg))  # on the full model, before anything moves

gains = {"stiffness": {"shoulder": 0.5, "elbow": 0.15}, "damping": {"shoulder": 0.25, "elbow": 0.05}}
shaping = ph.control.energy_shaping(arm, target, **gains)
runs = {
    "reduced": ph.simulate(rom, None, 2.5, dt=2e-3, controller=lqg, output=5),
    "full": ph.simulate(full, None, 2.5, dt=2e-3, controller=lqg, output=5),
    "nonlinear": ph.simulate(arm, start, 2.5, dt=2e-3, controller=lqg, output=5),
    "shaped": ph.simulate(arm, start, 2.5, dt=5e-3, controller=shaping),
}


def seen(run: ph.Result | ph.types.LinearResult) -> np.ndarray:
    """Both angles over time; a linear arm starts at the origin and has its way from there."""
    if isinstance(run, ph.Result):
        return np.stack([run[f"{joint}.angle"] for joint in origin])
    return np.array(list(origin.values()))[:, None] + run.system.B[: run.way.shape[1]].T @ run.way.T


angles = {name: seen(run) for name, run in runs.items()}
ledger = ph.control.loop_ledger(runs["shaped"], shaping)  # the energy of arm and controller together

if __name__ == "__main__":
    import matplotlib.pyplot as plt

    print(f"loop: {loop}\nledger of the shaped loop: {np.abs(ledger.residual).max():.1e} of {ledger.energy[0]:.2g} J")
    for (name, angle), line in zip(angles.items(), ("-", "--", ":", "-."), strict=True):
        plt.plot(runs[name].t, angle.T, line, label=[f"{joint}, {name}" for joint in origin])
    plt.xlabel("t in s")
    plt.ylabel("angle in rad")
    plt.legend(loc="center right", ncols=2)
    plt.show()
