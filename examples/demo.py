"""The paper's examples, one after the other: a table of what the paper says and what phloat finds, and figures in results/."""

import csv
import json
import sys
import time
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


EXAMPLES = {"6.1 four-bar": four_bar}


def main() -> None:
    RESULTS.mkdir(exist_ok=True)
    rows: list[Row] = []
    for number, (name, run) in enumerate(EXAMPLES.items(), 1):
        print(f"[{number}/{len(EXAMPLES)}] {name} ... ", end="", flush=True)
        begin = time.perf_counter()
        rows += run()
        print(f"{time.perf_counter() - begin:.1f} s")
    width = max(len(name) for name, *_ in rows)
    print(f"\n{'quantity':<{width}}  {'paper':>10}  {'phloat':>10}  {'difference':>10}")
    for name, paper, ours in rows:
        print(f"{name:<{width}}  {paper:10.3f}  {ours:10.3f}  {100 * (ours / paper - 1):+9.3f}%")
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
