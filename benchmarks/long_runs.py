"""A million steps each: what drifts, and what grows?

    python benchmarks/long_runs.py [steps]     prints a table and draws docs/pictures/long_runs.png

Double pendulums, rigid and flexible, a flexible four-bar under gravity and a tumbling satellite with flexible panels, all without
damping and left alone: energy, the gaps of joints, the rotations and the memory of the process, at a thousand times of each run.
"""

import multiprocessing
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import phloat as ph

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "long_runs.png"
KEPT = 1000
ALU = ph.Material(E=70e9, rho=2700.0, nu=0.33)


def double_pendulum(link: ph.Body) -> tuple[ph.System, ph.State]:
    """Two links, let go when both lie along x: chaos."""
    system = ph.connect(
        {"upper": link, "lower": link},
        joints=[ph.Revolute("ground", "upper.P"), ph.Revolute("upper.C", "lower.P")],
        gravity=(0, -9.81, 0),
        plane="xy",
    )
    return system, ph.settle(system, ph.place(system))


def rigid_pendulum() -> tuple[ph.System, ph.State]:
    stick = ph.RigidBody(0.054, 1.125e-3 * np.diag([1e-3, 1.0, 1.0]), center=(0.25, 0, 0), ports={"C": (0.5, 0, 0)})
    return double_pendulum(stick.discretise())


def flexible_pendulum() -> tuple[ph.System, ph.State]:
    rod = ph.Beam(length=0.5, section=ph.Rectangle(0.02, 0.002), material=ALU)
    return double_pendulum(rod.discretise(2))


def four_bar() -> tuple[ph.System, ph.State]:
    """The paper's, falling from 30 degrees."""
    alu = ph.Material(E=7.1016e10, rho=2714.4716, nu=0.33)
    thick, thin = ph.Section(A=1.0774172e-4, I=1.61541e-10), ph.Section(A=4.064508e-5, I=8.67410e-12)
    masses = {0.0: 0.041942966}
    system = ph.connect(
        {
            "crank": ph.Beam(0.10795, thick, alu).discretise(1),
            "coupler": ph.Beam(0.2794, thin, alu, masses=masses).discretise(2),
            "follower": ph.Beam(0.27051, thin, alu, masses=masses).discretise(2),
        },
        joints=[
            ph.Revolute("ground", "crank.P"),
            ph.Revolute("crank.C", "coupler.P"),
            ph.Revolute("coupler.C", "follower.P"),
            ph.Revolute("follower.C", "ground", at=(0.254, 0.0, 0.0)),
        ],
        gravity=(0, -9.81, 0),
        plane="xy",
    )
    near = {"coupler.theta": 0.9, "follower.theta": -1.6}
    return system, ph.settle(system, ph.place(system, {"crank.theta": np.pi / 6}, near=near))


def satellite() -> tuple[ph.System, ph.State]:
    """A hub with two panels, thrown so that it tumbles."""
    panel = ph.Beam(length=3.0, section=ph.Rectangle(0.5, 0.01), material=ALU).discretise(8).reduced(modes=2)
    hub = ph.RigidBody(
        500.0, np.diag([200.0, 150.0, 260.0]), ports={"left": (-0.5, 0, 0), "right": (0.5, 0, 0)}
    ).discretise()
    system = ph.connect(
        {"hub": hub, "left": panel, "right": panel},
        joints=[ph.Weld("hub.right", "right.P"), ph.Weld("hub.left", "left.P", turned=(0, 0, np.pi))],
    )
    moving = {"hub.omega": (0.2, 0.05, 0.1), "hub.v_P": (0.01, -0.02, 0.005)}
    return system, ph.set_moving(system, ph.place(system), moving)


CASES = {
    "double pendulum, rigid": (rigid_pendulum, 1e-3),
    "double pendulum, flexible": (flexible_pendulum, 1e-4),
    "four-bar under gravity": (four_bar, 1e-3),
    "tumbling satellite": (satellite, 1e-2),
}


def memory_MB() -> float:
    """The peak of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def long_run(name: str, steps: int) -> dict:
    """What is to stay as it is, over the run: times, and the residuals of energy, joints, rotations and momenta."""
    make, dt = CASES[name]
    system, state = make()
    few = steps // 10
    ph.simulate(system, state, few * dt, dt=dt, output=max(few // KEPT, 1), progress=False)
    before, begun = memory_MB(), time.perf_counter()
    result = ph.simulate(system, state, steps * dt, dt=dt, output=max(steps // KEPT, 1), progress=False)
    seconds, after = time.perf_counter() - begun, memory_MB()
    ledger = ph.energy_ledger(result)
    largest = max(float(np.abs(part).max()) for parts in ledger.parts.values() for part in parts.values())
    gaps = [ph.gaps(system, result.state(k)).values() for k in range(len(result))]
    A = [result[n] for n in system.layout if n.endswith(".A_IB")]
    turned = [np.abs(np.einsum("tki,tkj->tij", a, a) - np.eye(3)).max(axis=(1, 2)) for a in A]
    out = {
        "t": result.t,
        "energy": np.abs(ledger.residual) / largest,
        "closure": np.array([max(float(np.abs(g).max()) for g in some) for some in gaps]),
        "orthonormality": np.max(turned, axis=0) if turned else np.zeros(len(result)),
        "halved": len(result.info["halved"]),
        "seconds": seconds,
        "grown": after - before,
    }
    if not np.any(system.gravity):
        L = result.angular_momentum
        out["angular momentum"] = np.abs(L - L[0]).max(axis=1) / np.abs(L).max()
    return out


QUANTITIES = {
    "energy": "energy, relative",
    "closure": "gaps of joints, m and rad",
    "orthonormality": "rotations, AᵀA − I",
    "angular momentum": "angular momentum, relative",
}


def drawn(found: dict[str, dict], path: Path) -> None:
    """All residuals over the steps."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 6.5), sharex=True, layout="constrained")
    for axis, (quantity, title) in zip(axes.flat, QUANTITIES.items(), strict=True):
        for k, (name, run) in enumerate(found.items()):
            if quantity in run and run[quantity].max() > 0.0:
                steps = run["t"] / run["t"][-1] * run["steps"]
                axis.plot(steps[1:], np.maximum(run[quantity][1:], 1e-18), ".", ms=2, color=f"C{k}", label=name)
        axis.set(yscale="log", title=title, ylim=(1e-18, 1e-6))
        axis.axhline(1e-10 if quantity == "orthonormality" else 1e-9, color="0.6", lw=1, ls="--")
        axis.grid(alpha=0.3)
        axis.legend(markerscale=5, loc="upper left", ncols=2, fontsize=8)
    for axis in axes[1]:
        axis.set_xlabel("steps")
    figure.savefig(path, dpi=110)


def main(steps: int = 1_000_000) -> None:
    found = {}
    print(
        f"{'':28}{'µs/step':>9}{'halved':>8}{'energy':>10}{'closure':>10}{'rotation':>10}{'momentum':>10}{'MB more':>9}"
    )
    for name in CASES:
        with ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn")
        ) as fresh:  # a peak of memory is that of a process
            run = found[name] = {"steps": steps, **fresh.submit(long_run, name, steps).result()}
        worst = [float(np.max(run.get(q, 0.0))) for q in QUANTITIES]
        said = "".join(f"{x:>10.1e}" for x in worst)
        print(f"{name:28}{run['seconds'] / steps * 1e6:>9.1f}{run['halved']:>8}{said}{run['grown']:>9.1f}", flush=True)
    drawn(found, PICTURE)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
