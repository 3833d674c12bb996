"""The paper's examples, one after the other: a table of what the paper says and what phloat finds, and figures in results/."""

import csv
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import phloat as ph

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results"
sys.path.insert(0, str(HERE))

Row = tuple[str, float, float]  # quantity, paper, phloat


def four_bar() -> list[Row]:
    """6.1: eigenfrequencies against crank angle, beside the reference that Fig. 6 compares with."""
    import four_bar as example
    from matplotlib.figure import Figure

    paper = np.loadtxt(HERE.parent / "tests" / "reference" / "fourbar_titop.csv", delimiter=",", comments="#")
    np.savetxt(
        RESULTS / "four_bar.csv",
        np.column_stack([example.degrees, example.omega]),
        delimiter=",",
        header="crank_angle_deg,omega1_rad_s,omega2_rad_s,omega3_rad_s",
    )
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    for k, colour in enumerate(("#0072B2", "#D55E00", "#009E73")):
        ax.plot(example.degrees, example.omega[:, k], color=colour, label=f"phloat, ω{'₁₂₃'[k]}")
        ax.plot(
            paper[:, 0],
            paper[:, k + 1],
            "o",
            color=colour,
            mfc="none",
            ms=4,
            label="reference of Fig. 6" if k == 2 else None,
        )
    ax.set(xlabel="crank angle (°)", ylabel="pulsation (rad/s)", title="Flexible four-bar, crank locked", xlim=(0, 360))
    ax.grid(alpha=0.3)
    figure.legend(fontsize=8, loc="outside lower center", ncols=4)
    figure.savefig(RESULTS / "four_bar.png", dpi=150)
    draw_modes(example)
    rows = [
        (f"four-bar, ω{'₁₂₃'[k]} at {paper[i, 0]:g}° (rad/s)", paper[i, k + 1], example.omega[i, k])
        for i in (0, 10, 25, 40)
        for k in range(3)
    ]
    worst = np.unravel_index(np.abs(example.omega / paper[:, 1:] - 1).argmax(), example.omega.shape)
    rows.append(
        (
            f"four-bar, the worst of 153, ω{'₁₂₃'[worst[1]]} at {paper[worst[0], 0]:g}°",
            paper[:, 1:][worst],
            example.omega[worst],
        )
    )
    return rows


def draw_modes(example: object) -> None:
    system = example.four_bar(3)
    state = ph.place(system, {"crank.theta": np.pi / 6}, near={"coupler.theta": 0.9, "follower.theta": -1.6})
    ph.plot(ph.modes(ph.linearise(ph.lock(system, "motor"), state))).savefig(RESULTS / "four_bar_modes.png", dpi=110)


def crank_slider() -> list[Row]:
    """6.2: mid-span deflection of the rod beside Fig. 8; two elements as there, then eight, and with the membrane strain."""
    import crank_slider as example
    from matplotlib.figure import Figure

    two = example.motion(replace(example.rod, stiffening=False).discretise(2))
    angle, paper = read("crank_slider_bending.csv")
    curves = {
        "phloat, two elements": (example.bending(two), "#0072B2", "-"),
        "phloat, eight elements": (example.bending(example.linear), "#D55E00", "--"),
        "eight elements with stiffening": (example.bending(example.stiffened), "#009E73", "-."),
    }
    table = np.column_stack([example.angle, *(u for u, *_ in curves.values())])
    np.savetxt(RESULTS / "crank_slider.csv", table, delimiter=",", header="crank_angle_rad,two,eight,eight_stiffened")
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    for name, (u, colour, style) in curves.items():
        ax.plot(example.angle / np.pi, u, style, color=colour, label=name)
    ax.plot(angle / np.pi, paper, "o", color="black", mfc="none", ms=3, label="Fig. 8 (two elements)")
    ax.set(xlabel="crank angle (π rad)", ylabel="$u_y/L$ at mid-span", title="Crank-slider at 150 rad/s")
    ax.grid(alpha=0.3)
    figure.legend(fontsize=8, loc="outside lower center", ncols=2)
    figure.savefig(RESULTS / "crank_slider.png", dpi=150)
    u = example.bending(two)
    return [
        ("crank-slider, largest u_y/L", paper.max(), u.max()),
        ("crank-slider, crank angle there (rad)", angle[paper.argmax()], example.angle[u.argmax()]),
        ("crank-slider, smallest u_y/L", paper.min(), u.min()),
    ]


def hinged_beam() -> list[Row]:
    """6.3: energy and vertical angular velocity of the hinged beam beside Fig. 10, two elements as there."""
    import hinged_beam as example
    from matplotlib.figure import Figure

    t, result = example.result.t, example.result
    paper = {"energy": read("hinged_beam_energy.csv"), "ω_z (rad/s)": read("hinged_beam_omega_z.csv")}
    ours = {"energy": result.energy, "ω_z (rad/s)": example.omega_z}
    table = np.column_stack([t, result.energy, example.omega_z, result.angular_momentum[:, 2]])
    np.savetxt(RESULTS / "hinged_beam.csv", table, delimiter=",", header="t_s,energy,omega_z,angular_momentum_z")
    figure = Figure(figsize=(9, 4), layout="constrained")
    for ax, name in zip(figure.subplots(1, 2), ours, strict=True):
        ax.plot(t, ours[name], color="#0072B2", lw=0.8, label="phloat")
        ax.plot(*paper[name], "o", color="black", mfc="none", ms=2.5, mew=0.7, label="Fig. 10")
        ax.set(xlabel="time (s)", ylabel=name, xlim=(0, 50))
        ax.grid(alpha=0.3)
    ax.legend(fontsize=8, loc="upper left")
    figure.suptitle("Hinged beam: a torque up to 10.2 s, a blow at 15 s")
    figure.savefig(RESULTS / "hinged_beam.png", dpi=150)
    rows = []
    for name, part in (("while it turns", (10.2, 15.0)), ("after the blow", (15.43, 50.0))):
        for what in ours:
            (x, y), during = paper[what], (t > part[0]) & (t < part[1])
            rows.append(
                (
                    f"hinged beam, {what}, mean {name}",
                    y[(x > part[0]) & (x < part[1])].mean(),
                    ours[what][during].mean(),
                )
            )
    return [*rows, ("hinged beam, vertical angular momentum (exact)", 2000.0, result.angular_momentum[-1, 2])]


def read(name: str) -> np.ndarray:
    """The columns of a curve read from a figure of the paper."""
    return np.loadtxt(HERE.parent / "tests" / "reference" / name, delimiter=",", skiprows=1).T


EXAMPLES = {"6.1 four-bar": four_bar, "6.2 crank-slider": crank_slider, "6.3 hinged beam": hinged_beam}


def main() -> None:
    RESULTS.mkdir(exist_ok=True)
    rows: list[Row] = []
    for number, (name, run) in enumerate(EXAMPLES.items(), 1):
        print(f"[{number}/{len(EXAMPLES)}] {name} ... ", end="", flush=True)
        begin = time.perf_counter()
        rows += run()
        print(f"{time.perf_counter() - begin:.1f} s")
    width = max(len(name) for name, *_ in rows)
    print(f"\n{'quantity':<{width}}  {'paper':>11}  {'phloat':>11}  {'difference':>10}")
    for name, paper, ours in rows:
        print(f"{name:<{width}}  {paper:11.5g}  {ours:11.5g}  {100 * (ours / paper - 1):+9.3f}%")
    with open(RESULTS / "table.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [("quantity", "paper", "phloat", "relative difference"), *((n, p, o, o / p - 1) for n, p, o in rows)]
        )
    (RESULTS / "table.json").write_text(
        json.dumps(
            [dict(zip(("quantity", "paper", "phloat"), r, strict=True)) for r in rows], indent=1, ensure_ascii=False
        )
    )
    print(
        f"\nfigures and numbers are in {RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS}/"
    )


if __name__ == "__main__":
    main()
